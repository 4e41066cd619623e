"""The Hartley oscillator: one NPN in common base, a tank of two coils in series and a capacitor.

f = 1 / (2 pi sqrt((L1 + L2) C)) and what the transistor adds to C; the tap of the coils feeds the share
n = L2 / (L1 + L2) back to the emitter. It starts where gm times the tank's resistance is more than 1 / n,
and swings until the collector current is pulses: V = 2 I (1 - n) Rp, at most the supply.
Sources: Sedra, Smith, "Microelectronic Circuits", 7th ed., section 18.3.1; Lee, "The Design of CMOS
Radio-Frequency Integrated Circuits", 2nd ed., section 17.4 (describing function).
"""

from __future__ import annotations

import math

from domain.design import kit
from domain.design.families import oscillator_rows as rows
from domain.design.families.transistor_rows import SUPPLY_V
from domain.design.kit import at_least, best_pair, nearest, spice, values_between, with_unit
from domain.design.transistor import NO_PNP, TRANSISTOR, Bias, npn_of, write_npn
from shared.message import msg

_SHARE = 0.2
"""Of the tank's voltage, at the emitter."""
_REACTANCE_OHM = 200.0
_EMITTER_V = 1.5
_STRAY_F = 4e-12
"""Of the collector, at the tank."""
_LEAST_A, _FAST_HZ = 0.3e-3, 5e6
"""Of the current, and from where on more of it keeps the transistor fast."""
_SWING = 0.5
"""Of what the supply leaves."""
_START = 0.01
"""Of the supply: the swing it begins with."""


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """L1 and L2 of E12 and C of E24 whose product comes nearest, the current by the swing."""
    omega = 2 * math.pi * request["frequency_hz"] * correction["frequency_hz"]
    middle = _REACTANCE_OHM / omega

    def coil(upper: float) -> float:
        return upper + nearest(upper * _SHARE / (1 - _SHARE), "E12")

    upper, tuning = best_pair(
        values_between(middle / 2, 2 * middle, "E12"),
        lambda one: 1 / (omega * omega * coil(one)) - _STRAY_F,
        "E24",
        lambda one, two: abs(math.log(omega * omega * coil(one) * (two + _STRAY_F))),
    )
    whole = coil(upper)
    swing = _SWING * (request["supply_v"] - _EMITTER_V)
    least = _LEAST_A * (1 + request["frequency_hz"] / _FAST_HZ)
    current = min(max(swing / (2 * (1 - _SHARE) * rows.COIL_Q * omega * whole), least), 20e-3)
    bias = Bias.of(request["supply_v"], current, _EMITTER_V)
    parts = {
        "L1": upper,
        "L2": whole - upper,
        "C1": tuning,
        "CE": at_least(10 / (_SHARE * omega * omega * whole), "E6"),
        "RE": nearest(_EMITTER_V / current, "E24"),
        "R1": bias.r1,
        "R2": bias.r2,
        "CB": at_least(30 / (omega * bias.r2), "E6"),
        "RL": omega * whole / rows.COIL_Q,
    }
    note = msg("L1 = {l1}, L2 = {l2}, C = {c}, collector current {current}.", l1=with_unit(parts["L1"], "H"),
               l2=with_unit(parts["L2"], "H"), c=with_unit(tuning, "F"),
               current=with_unit(current, "A", 3))  # fmt: skip
    return kit.Sized(parts=parts, notes=(note,))


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """Supply, tank, bias and the transistor."""
    parts = {name: spice(value) for name, value in sized.parts.items()}
    supply = request["supply_v"]
    deck.part(f"Vcc vcc 0 DC {spice(supply)}", msg("supply"))
    deck.part(f"L1 tap x {parts['L1']}", msg("tank"))
    deck.part(f"L2 vcc tap {parts['L2']}", msg("tank: feeds back to the emitter"))
    deck.part(f"RL x out {parts['RL']}", msg("coil losses"))
    deck.part(f"C1 out vcc {parts['C1']}", msg("tank"))
    deck.part(f"CE tap e {parts['CE']}", msg("couples the tap to the emitter"))
    deck.part(f"R1 vcc b {parts['R1']}", msg("bias, together with R2"))
    deck.part(f"R2 b 0 {parts['R2']}", msg("bias, together with R1"))
    deck.part(f"CB b vcc {parts['CB']}", msg("AC-grounds the base"))
    deck.part(f"Q1 out b e {npn_of(request)}", msg("transistor"))
    deck.part(f"RE e 0 {parts['RE']}", msg("sets the current"))
    deck.rule()
    # held there by its coils' resistance: a current, Q times as large at the tank
    deck.part(
        f".ic v(out)={spice(supply * (1 - _START / rows.COIL_Q))}", msg("start-up kick in place of noise")
    )
    write_npn(deck, request)


FAMILY = kit.Family(
    key="hartley_oscillator",
    name=msg("Hartley oscillators"), one=msg("a Hartley oscillator"),
    examples={"en": "Hartley oscillator at 1 MHz, 9 V supply", "zh": "1MHz哈特莱振荡器，电源9V"},
    words=kit.Words(
        named=(r"(?:bjt |npn |transistor |tapped[\s-](?:coil|inductor) )*hartley"
               r"(?: (?:lc|bjt|npn))*(?: (?:oscillator|circuit))?|tapped[\s-](?:coil|inductor) oscillator|"
               r"(?:哈特[莱利来雷]|哈脱莱|电感三点式)(?:lc)?(?:正弦波?)?(?:振荡|震荡)?(?:器|电路)?"),
        excludes=r"colpitts|考[毕比]兹|电容三点式|clapp|pierce|crystal|晶振|石英|mos(?!t)|fet|vco|压控",
        refuses=(NO_PNP,),
    ),
    quantities=(rows.frequency_row((50e3, 30e6), 1e6), SUPPLY_V, kit.TOLERANCE),
    choices=(TRANSISTOR,),
    goals=(rows.FREQUENCY_GOAL, rows.LC_AMPLITUDE_GOAL),
    title="Hartley oscillator, {frequency_hz:Hz}",
    remarks=(msg("f = 1 / (2 pi sqrt((L1 + L2) C))."),),
    analyses=lambda request, _sized, _goals: (rows.transient(request, settles=200, points=100),),
    size=size, netlist=netlist,
)  # fmt: skip
