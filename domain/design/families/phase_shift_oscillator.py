"""The phase-shift oscillator: an inverting op-amp and three equal RC sections, two diodes hold the amplitude.

f = 1 / (2 pi sqrt(6) R C) at a gain of -29; the third R is the one into the virtual ground. R3 parallel to
two diodes stands in the feedback, as in the Wien-bridge oscillator (`wien_oscillator`).
Sources: Sedra, Smith, "Microelectronic Circuits", 7th ed., section 18.2.2; Mancini, Palmer, "Sine-Wave
Oscillator", Texas Instruments, SLOA060.
"""

from __future__ import annotations

import math

from domain.design import kit, opamp
from domain.design.families import oscillator_rows as rows
from domain.design.kit import at_most, best_pair, nearest, spice, unreachable, values_between, with_unit
from domain.design.supplies import RAILS, judged, rails_of, write_rails
from shared.message import msg

_OHM = (1.5e3, 6.8e3)
_GAIN, _SECTIONS = 29.0, math.sqrt(6)
_EXCESS = 1.0
"""Gain beyond 29: how surely it starts."""
_FASTER = 10_000.0


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """C of E12, R of E24, the feedback of E96 by the amplitude."""
    most = rails_of(request, "buffer").room_v
    if request["amplitude_v"] > most:
        raise unreachable(
            msg("amplitude"),
            with_unit(request["amplitude_v"], "V", 3),
            with_unit(most, "V", 3),
            msg("Raise the supply or lower the amplitude."),
        )
    aim = request["amplitude_v"] * correction["amplitude_v"]
    product = 1 / (2 * math.pi * _SECTIONS * request["frequency_hz"] * correction["frequency_hz"])
    r, c = best_pair(values_between(*_OHM, "E24"), lambda each: product / each, "E12",
                     lambda one, two: abs(math.log(one * two / product)))  # fmt: skip
    # of R: the mean of R3 and the diodes
    share = _over_wien(aim) * rows.diode_drop(aim / (_GAIN * r)) / aim * _GAIN
    parts = {
        "R": r,
        "C": c,
        "R2": at_most((_GAIN - share) * r, "E24"),
        "R3": nearest((share + min(max(_EXCESS, 0.3 * share), 0.6 * share)) * r, "E96"),
    }
    parts["R4"] = nearest(max((_GAIN - share) * r - parts["R2"], 1e-3 * r), "E96")
    note = msg("R = {r}, C = {c}.", r=with_unit(r, "Ω"), c=with_unit(c, "F"))
    gbw = opamp.enough_gbw_hz(request, _FASTER * request["frequency_hz"])
    return kit.Sized(parts=parts, figures={"gbw_hz": gbw}, notes=(note,))


def _over_wien(amplitude: float) -> float:
    """Drop at the diodes over that in a Wien bridge, whose output has more harmonics: by measurement."""
    return max(0.96, 0.97 + 0.055 * math.log2(amplitude / 1.7))


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """Supplies, three RC sections, the feedback with its diodes, the op-amp."""
    parts = {name: spice(value) for name, value in sized.parts.items()}
    rails = write_rails(deck, request, "buffer")
    for number, (left, right, foot) in enumerate(
        (("out", "a", rails.ground), ("a", "b", rails.ground), ("b", "c", "n")), 1
    ):
        deck.part(f"C{number} {left} {right} {parts['C']}", msg("section {number}", number=number))
        deck.part(f"Rs{number} {right} {foot} {parts['R']}", msg("section {number}", number=number))
    deck.part(f"R2 n z {parts['R2']}", msg("feedback: a gain of 29 together with R4 and R3"))
    deck.part(f"R4 z y {parts['R4']}", msg("feedback: makes up what R2 lacks"))
    deck.part(f"R3 y out {parts['R3']}", msg("feedback: more than enough gain to start"))
    deck.part("D1 out y dswitch", msg("holds the amplitude"))
    deck.part("D2 y out dswitch", msg("holds the amplitude"))
    deck.part(f"X1 {rails.ground} n vcc {rails.low} out {request['opamp']}", rails.op_amp_at_ground)
    deck.rule()
    deck.cards(rows.switch_model())
    kick = rails.middle_v + request["amplitude_v"] / 3
    deck.part(f".ic v(a)={spice(kick)}", msg("start-up kick in place of noise"))
    opamp.write_opamp(deck, request, sized.figures["gbw_hz"])


FAMILY = kit.Family(
    key="phase_shift_oscillator",
    name=msg("RC phase-shift oscillators"), one=msg("a phase-shift oscillator"),
    examples={"en": "phase-shift oscillator 1 kHz, amplitude 5 V",
              "zh": "1kHz的RC移相振荡器，幅度5V"},
    words=kit.Words(
        named=(r"(?:rc )?phase[\s-]?shift(?: rc)?(?: (?:sine(?:[\s-]?wave)?|op[\s-]?amp))*(?: (?:oscillator|"
               r"generator))|"
               r"(?:rc)?(?:相移|移相)(?:式)?(?:正弦波?)?(?:振荡|震荡)(?:器|电路)"),
        excludes=r"bjt|transistor|晶体管|三极管|colpitts|hartley|wien|文氏|quadrature|正交|bubba",
    ),
    quantities=(rows.frequency_row((1, 30e3), 1e3), rows.AMPLITUDE, rows.DISTORTION, opamp.SUPPLY, opamp.GBW,
                kit.TOLERANCE),
    choices=(opamp.OPAMP, RAILS),
    judge=judged("buffer"),
    goals=(rows.FREQUENCY_GOAL, rows.AMPLITUDE_GOAL, rows.DISTORTION_GOAL),
    title="Phase-shift oscillator, {frequency_hz:Hz}",
    remarks=(msg("f = 1 / (2 pi sqrt(6) R C) at a gain of -29, which the diodes hold."),),
    analyses=lambda request, _sized, _goals: (rows.transient(request, settles=60),),
    size=size, netlist=netlist,
    complete=rows.third_of_supply,
)  # fmt: skip
