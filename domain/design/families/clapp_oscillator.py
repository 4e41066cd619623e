"""The Clapp oscillator: one NPN in common collector, a coil in series with a small capacitor.

f = 1 / (2 pi sqrt(L C)) with C of C1, C2 and C3 in series: C3 is the smallest, so that the transistor moves
the frequency little. It starts where gm X1 X2 is more than the coil's resistance Rs, and swings until the
emitter current is pulses: V = 2 I X2 X2 / Rs at the emitter.
Sources: Clapp, "An inductance-capacitance oscillator of unusual frequency stability", Proc. IRE 36 (1948),
356; Lee, "The Design of CMOS Radio-Frequency Integrated Circuits", 2nd ed., section 17.4.
"""

from __future__ import annotations

import math

from domain.design import kit, transistor
from domain.design.families import oscillator_rows as rows
from domain.design.families.transistor_rows import SUPPLY_V
from domain.design.kit import best_pair, nearest, spice, values_between, with_unit
from shared.message import msg

_DIVIDER_OHM, _COIL_OHM = 60.0, 320.0
"""Reactances of C1 and C2 each, and of the coil."""
_EMITTER_SHARE, _SWING = 0.45, 0.22
"""Of the supply."""
_LEAST_A, _FAST_HZ = 0.5e-3, 10e6
"""Of the current, and from where on more of it keeps the transistor fast."""
_STRAY_F, _TRANSIT_S = 6e-12, 0.4e-9
"""Of base and emitter."""
_START_V = 0.02


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """C1 and C2 of E12, L of E12 and C3 of E24 whose series comes nearest, the current by the swing."""
    omega = 2 * math.pi * request["frequency_hz"] * correction["frequency_hz"]
    half = nearest(1 / (omega * _DIVIDER_OHM), "E12")
    reactance = 1 / (omega * half)
    loss = _COIL_OHM / rows.COIL_Q
    emitter_v = _EMITTER_SHARE * request["supply_v"]
    least = _LEAST_A * (1 + request["frequency_hz"] / _FAST_HZ)
    current = max(_SWING * request["supply_v"] * loss / (2 * reactance**2), least)
    for _ in range(4):  # the resistors at base and emitter take part of it
        bias = transistor.Bias.of(request["supply_v"], current, emitter_v)
        drawn = 4 * reactance**2 / transistor.parallel(bias.r1, bias.r2) + reactance**2 * current / emitter_v
        current = max(_SWING * request["supply_v"] * (loss + drawn) / (2 * reactance**2), least)
    across = half + _STRAY_F + _TRANSIT_S / transistor.emitter_ohm(current) / 4

    def total(tuning: float) -> float:
        return 1 / (1 / half + 1 / across + 1 / tuning)

    def needed(coil: float) -> float:
        left = omega * omega * coil - 1 / half - 1 / across
        return 1 / left if left > 0 else -1.0

    middle = _COIL_OHM / omega
    coil, tuning = best_pair(values_between(middle / 1.5, 1.5 * middle, "E12"), needed, "E24",
                             lambda one, two: abs(math.log(omega * omega * one * total(two))))  # fmt: skip
    bias = transistor.Bias.of(request["supply_v"], current, emitter_v)
    parts = {
        "L1": coil, "C1": half, "C2": half, "C3": tuning, "RE": nearest(emitter_v / current, "E24"),
        "R1": bias.r1, "R2": bias.r2, "RL": omega * coil / rows.COIL_Q,
    }  # fmt: skip
    note = msg("L = {l}, C1 = C2 = {c1}, C3 = {c3}, collector current {current}.", l=with_unit(coil, "H"),
               c1=with_unit(half, "F"), c3=with_unit(tuning, "F"),
               current=with_unit(current, "A", 3))  # fmt: skip
    return kit.Sized(parts=parts, notes=(note,))


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """Supply, tank, bias and the transistor."""
    parts = {name: spice(value) for name, value in sized.parts.items()}
    start = _EMITTER_SHARE * request["supply_v"] + transistor.BASE_EMITTER_V - _START_V
    deck.part(f"Vcc vcc 0 DC {spice(request['supply_v'])}", msg("supply"))
    deck.part(f"RL b y {parts['RL']}", msg("coil losses"))
    deck.part(f"L1 y x {parts['L1']}", msg("tank"))
    deck.part(f"C3 x 0 {parts['C3']}", msg("tank: tunes it"))
    deck.part(f"C1 b out {parts['C1']}", msg("tank: feeds back to the emitter"))
    deck.part(f"C2 out 0 {parts['C2']}", msg("tank"))
    deck.part(f"R1 vcc b {parts['R1']}", msg("bias, together with R2"))
    deck.part(f"R2 b 0 {parts['R2']}", msg("bias, together with R1"))
    deck.part(f"Q1 vcc b out {transistor.npn_of(request)}", msg("transistor"))
    deck.part(f"RE out 0 {parts['RE']}", msg("sets the current"))
    deck.rule()
    deck.part(f".ic v(x)={spice(start)}", msg("start-up kick in place of noise"))
    transistor.write_npn(deck, request)


FAMILY = kit.Family(
    key="clapp_oscillator",
    name=msg("Clapp oscillators"), one=msg("a Clapp oscillator"),
    examples={"en": "Clapp oscillator at 5 MHz, 9 V supply", "zh": "5MHz克拉泼振荡器，电源9V"},
    words=kit.Words(
        named=(r"(?:bjt |npn |transistor )?clapp(?:[\s-]gouriet)?(?: (?:lc|bjt|npn))*"
               r"(?: (?:oscillator|circuit))?|"
               r"(?:改进型?的?)?(?:电容三点式\s?[(（]?)?(?:克拉[泼普波]|clapp)[)）]?(?:lc)?(?:正弦波?)?"
               r"(?:振荡|震荡)?(?:器|电路)?"),
        excludes=r"hartley|哈特莱|电感三点式|pierce|crystal|晶振|石英|mos(?!t)|fet|vco|压控",
        refuses=(transistor.NO_PNP,),
    ),
    quantities=(rows.frequency_row((50e3, 30e6), 5e6), SUPPLY_V, kit.TOLERANCE),
    choices=(transistor.TRANSISTOR,),
    goals=(rows.FREQUENCY_GOAL, rows.LC_AMPLITUDE_GOAL),
    title="Clapp oscillator, {frequency_hz:Hz}",
    remarks=(msg("f = 1 / (2 pi sqrt(L C)), C of C1, C2 and C3 in series."),),
    analyses=lambda request, _sized, _goals: (rows.transient(request, settles=200, points=100),),
    size=size, netlist=netlist,
)  # fmt: skip
