"""The Colpitts oscillator: one NPN in common base, a tank of L and two capacitors from collector to supply.

f = 1 / (2 pi sqrt(L C)) with C = C1 C2 / (C1 + C2) and what the transistor adds; C1 from collector to
emitter feeds back the share n = C1 / (C1 + C2). It starts where gm times the tank's resistance is more than
1 / n, and swings until the collector current is pulses: V = 2 I (1 - n) Rp, at most the supply.
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
_REACTANCE_OHM = 150.0
_EMITTER_V = 1.5
_STRAY_F = 4e-12
"""Of the collector, at the tank."""
_LEAST_A, _FAST_HZ = 0.3e-3, 5e6
"""Of the current, and from where on more of it keeps the transistor fast."""
_SWING = 0.5
"""Of what the supply leaves."""


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """L of E12 and C2 of E24 whose product with C1 comes nearest, the current by the swing."""
    omega = 2 * math.pi * request["frequency_hz"] * correction["frequency_hz"]
    middle = _REACTANCE_OHM / omega

    def tank(lower: float) -> float:
        upper = nearest(lower * _SHARE / (1 - _SHARE), "E12")
        return upper * lower / (upper + lower) + _STRAY_F

    def needed(inductance: float) -> float:
        return float((1 / (omega * omega * inductance) - _STRAY_F) / _SHARE)

    coil, lower = best_pair(values_between(middle / 2, 2 * middle, "E12"), needed, "E24",
                            lambda one, two: abs(math.log(omega * omega * one * tank(two))))  # fmt: skip
    parallel_ohm = rows.COIL_Q * omega * coil
    swing = _SWING * (request["supply_v"] - _EMITTER_V)
    least = _LEAST_A * (1 + request["frequency_hz"] / _FAST_HZ)
    current = min(max(swing / (2 * (1 - _SHARE) * parallel_ohm), least), 20e-3)
    re = nearest(_EMITTER_V / current, "E24")
    bias = Bias.of(request["supply_v"], current, _EMITTER_V)
    parts = {
        "L1": coil,
        "C1": nearest(lower * _SHARE / (1 - _SHARE), "E12"),
        "C2": lower,
        "RE": re,
        "R1": bias.r1,
        "R2": bias.r2,
        "CB": at_least(30 / (omega * bias.r2), "E6"),
        "RL": omega * coil / rows.COIL_Q,
    }
    note = msg("L = {l}, C1 = {c1}, C2 = {c2}, collector current {current}.", l=with_unit(coil, "H"),
               c1=with_unit(parts["C1"], "F"), c2=with_unit(lower, "F"),
               current=with_unit(current, "A", 3))  # fmt: skip
    return kit.Sized(parts=parts, notes=(note,))


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """Supply, tank, bias and the transistor."""
    parts = {name: spice(value) for name, value in sized.parts.items()}
    deck.part(f"Vcc vcc 0 DC {spice(request['supply_v'])}", msg("supply"))
    deck.part(f"L1 vcc t {parts['L1']}", msg("tank"))
    deck.part(f"RL t out {parts['RL']}", msg("coil losses"))
    deck.part(f"C1 out e {parts['C1']}", msg("tank: feeds back to the emitter"))
    deck.part(f"C2 e vcc {parts['C2']}", msg("tank"))
    deck.part(f"R1 vcc b {parts['R1']}", msg("bias, together with R2"))
    deck.part(f"R2 b 0 {parts['R2']}", msg("bias, together with R1"))
    deck.part(f"CB b vcc {parts['CB']}", msg("AC-grounds the base"))
    deck.part(f"Q1 out b e {npn_of(request)}", msg("transistor"))
    deck.part(f"RE e 0 {parts['RE']}", msg("sets the current"))
    deck.rule()
    deck.part(f".ic v(out)={spice(0.9 * request['supply_v'])}", msg("start-up kick in place of noise"))
    write_npn(deck, request)


FAMILY = kit.Family(
    key="colpitts_oscillator",
    name=msg("Colpitts oscillators"), one=msg("a Colpitts oscillator"),
    examples={"en": "Colpitts oscillator at 1 MHz, 9 V supply", "zh": "1MHz考毕兹振荡器，电源9V"},
    words=kit.Words(
        named=(r"(?:bjt |npn |transistor )?colpitts(?: (?:lc|bjt|npn))*(?: (?:oscillator|circuit))?|"
               r"(?:考[毕比]兹|科[尔皮]?皮[兹茨]|电容三点式)(?:lc)?(?:振荡|震荡)?(?:器|电路)?"),
        plausible=(
            r"(?<![a-z])lc (?:sine |rf )?oscillator|lc(?:正弦波?)?振荡(?:器|电路)|"
            r"(?<![a-z])rf oscillator|高频振荡(?:器|电路)|"
            r"\d ?mhz (?:sine(?:[\s-]?wave)? )?oscillator|oscillator,?(?: (?:at|of|for))? [\d.]+ ?mhz|"
            r"\d\s?mhz的?(?:正弦波?)?振荡(?:器|电路)|振荡(?:器|电路)[,，]?\s?[\d.]+\s?mhz"
        ),
        excludes=(
            r"hartley|哈特莱|电感三点式|clapp|克拉泼|pierce|皮尔斯|crystal|晶体|mos(?!t)|fet|vco|压控|wien|(?<![a-z])rc(?![a-z])|"
            r"block|间歇|gunn|tunnel|隧道|relaxation|弛张|(?<![a-z])ring|环形|555|phase[\s-]?shift|移相|square|方波|quartz|晶振"
        ),
        refuses=(NO_PNP,),
    ),
    quantities=(rows.frequency_row((50e3, 30e6), 1e6), SUPPLY_V, kit.TOLERANCE),
    choices=(TRANSISTOR,),
    goals=(rows.FREQUENCY_GOAL, rows.LC_AMPLITUDE_GOAL),
    title="Colpitts oscillator, {frequency_hz:Hz}",
    remarks=(msg("f = 1 / (2 pi sqrt(L C)), C = C1 C2 / (C1 + C2)."),),
    analyses=lambda request, _sized, _goals: (rows.transient(request, settles=150, points=100),),
    size=size, netlist=netlist,
)  # fmt: skip
