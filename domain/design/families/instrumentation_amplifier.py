"""The instrumentation amplifier of three op-amps: two followers with gain, a difference amplifier behind.

Vout = (1 + 2 R1 / RG) (Vp - Vn); RG sets the gain, without it the gain is 1. The first stage's bandwidth is
GBW over that gain, the second's GBW / 2.
Sources: Sedra, Smith, "Microelectronic Circuits", 7th ed., section 2.4.2; Kitchin, Counts, "A Designer's
Guide to Instrumentation Amplifiers", Analog Devices, 3rd ed., chapter 2.
"""

from __future__ import annotations

import math

from domain.design import kit, supplies
from domain.design.families import amplifier_rows as rows
from domain.design.kit import best_pair, spice, values_between, with_unit
from domain.design.opamp import (
    BANDWIDTH,
    BANDWIDTH_GOAL,
    GBW,
    OPAMP,
    OPEN_LOOP_GAIN,
    SUPPLY,
    fast_enough,
    sweep,
    write_opamp,
)
from shared.message import msg

_OUTER_OHM, _SECOND_OHM = 20e3, 10e3
_TWO_STAGES = 1.4
"""By how much two stages of like bandwidth are slower than one, with some room."""
_WITHOUT_BELOW = 1.005


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """R1 of E24 and RG of E96 whose ratio comes nearest, and the slowest op-amps that are fast enough."""
    gain = request["gain"] * correction["gain"]
    first = gain * (1 + 2 / OPEN_LOOP_GAIN) / (1 - gain / OPEN_LOOP_GAIN)
    parts = {"R1": _OUTER_OHM, "R2": _SECOND_OHM}
    if first >= _WITHOUT_BELOW:
        outer, between = best_pair(values_between(0.7 * _OUTER_OHM, 1.5 * _OUTER_OHM, "E24"),
                                   lambda each: 2 * each / (first - 1), "E96",
                                   lambda one, two: abs(math.log((1 + 2 * one / two) / first)))  # fmt: skip
        parts |= {"R1": outer, "RG": between}
    gbw = fast_enough(request, correction, _TWO_STAGES * max(first, 2.0))
    notes = [msg("Op-amps with a gain-bandwidth product of {gbw}.", gbw=with_unit(gbw, "Hz"))]
    if "RG" in parts:
        notes.insert(0, msg("Gain resistor {rg}.", rg=with_unit(parts["RG"], "Ω")))
    return kit.Sized(parts=parts, figures={"gbw_hz": gbw}, notes=tuple(notes))


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """Two sources, supplies, the input pair and the difference amplifier."""
    parts = {name: spice(value) for name, value in sized.parts.items()}
    amplitude = supplies.amplitude_v(request, request["gain"], share=0.25)
    rows.write_inputs(deck, amplitude, rows.low_hz(request), supplies.ground_of(request))
    rails = supplies.write_rails(deck, request, "buffer")
    opamp = request["opamp"]
    deck.part(f"X1 inp a vcc {rails.low} op {opamp}", msg("input op-amp"))
    deck.part(f"X2 inn b vcc {rails.low} on {opamp}", msg("input op-amp"))
    deck.part(f"R1 op a {parts['R1']}", msg("feedback of X1"))
    deck.part(f"R1b on b {parts['R1']}", msg("feedback of X2"))
    if "RG" in parts:
        deck.part(f"RG a b {parts['RG']}", msg("sets the gain"))
    deck.part(f"R2 on n {parts['R2']}", msg("difference stage"))
    deck.part(f"R2b out n {parts['R2']}", msg("difference stage, feedback"))
    deck.part(f"R2c op p {parts['R2']}", msg("difference stage"))
    deck.part(f"R2d p {rails.ground} {parts['R2']}", msg("difference stage, to ground (the reference)"))
    deck.part(f"X3 p n vcc {rails.low} out {opamp}", msg("op-amp of the difference stage"))
    write_opamp(deck, request, sized.figures["gbw_hz"])


FAMILY = kit.Family(
    key="instrumentation_amplifier",
    name=msg("instrumentation amplifiers with three op-amps"), one=msg("an instrumentation amplifier"),
    examples={"en": "instrumentation amplifier, gain 100, bandwidth 10 kHz",
              "zh": "增益100倍、带宽10kHz的仪表放大器"},
    words=kit.Words(
        named=(r"(?:(?:three|3)[\s-]?op[\s-]?amps? )?instrumentation (?:op[\s-]?amps?|amplifier|amp)|"
               r"(?<![a-z])in-?amp(?![a-z])|(?:三运放)?仪[表用](?:差分)?放大(?:器|电路)"),
        excludes=rows.NEITHER_MORE,
    ),
    quantities=(rows.gain_row((1, 1000), 100), BANDWIDTH, SUPPLY, GBW, kit.TOLERANCE),
    choices=(OPAMP, supplies.RAILS),
    judge=supplies.judged("buffer"),
    goals=(*rows.differential_goals(), BANDWIDTH_GOAL),
    title="Instrumentation amplifier, gain {gain:.4g}, {bandwidth_hz:Hz}",
    remarks=rows.two_input_remarks(msg("Vout = (1 + 2 R1 / RG) (Vp - Vn).")),
    analyses=lambda request, sized, _goals: (sweep(request, sized.figures["gbw_hz"]),),
    size=size, netlist=netlist,
)  # fmt: skip
