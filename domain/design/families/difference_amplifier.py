"""The difference amplifier: one op-amp, four resistors, two equal pairs.

Vout = (R2 / R1) (Vp - Vn) with R3 = R1 and R4 = R2, lessened by the finite open-loop gain; bandwidth
GBW / (1 + R2 / R1).
Sources: Sedra, Smith, "Microelectronic Circuits", 7th ed., section 2.4.1; Texas Instruments, "Op Amps for
Everyone", SLOD006B, chapter 3.
"""

from __future__ import annotations

import math

from domain.design import kit, opamp, quantity_words, supplies
from domain.design.families import amplifier_rows as rows
from domain.design.kit import best_pair, spice, values_between, with_unit
from shared.message import msg

_ROOM = 0.12
"""How far R1 may leave the input resistance for a better ratio."""


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """R1 and R2 of E96, each twice, and the slowest op-amp that is fast enough."""
    gain = request["gain"] * correction["gain"]
    ratio = gain * (1 + 1 / opamp.OPEN_LOOP_GAIN) / (1 - gain / opamp.OPEN_LOOP_GAIN)
    wanted = min(max(request["input_ohm"], 500 / ratio), 20e6 / ratio)
    r1, r2 = best_pair(
        values_between(wanted * (1 - _ROOM), wanted * (1 + _ROOM), "E96"),
        lambda each: ratio * each,
        "E96",
        lambda one, two: abs(math.log(two / one / ratio)) + 1e-3 * abs(math.log(one / wanted)),
    )
    gbw = opamp.fast_enough(request, correction, 1 + ratio)
    note = msg("R1 = {r1}, R2 = {r2}, an op-amp with a gain-bandwidth product of {gbw}.",
               r1=with_unit(r1, "Ω"), r2=with_unit(r2, "Ω"), gbw=with_unit(gbw, "Hz"))  # fmt: skip
    return kit.Sized(parts={"R1": r1, "R2": r2, "R3": r1, "R4": r2}, figures={"gbw_hz": gbw}, notes=(note,))


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """Two sources, supplies, four resistors and the op-amp."""
    parts = {name: spice(value) for name, value in sized.parts.items()}
    amplitude = supplies.amplitude_v(request, request["gain"], share=0.25)
    rows.write_inputs(deck, amplitude, rows.low_hz(request), supplies.ground_of(request))
    rails = supplies.write_rails(deck, request, "buffer")
    deck.part(f"R1 inn n {parts['R1']}", msg("from the inverting input"))
    deck.part(f"R2 out n {parts['R2']}", msg("feedback: sets the gain together with R1"))
    deck.part(f"R3 inp p {parts['R3']}", msg("equals R1"))
    deck.part(f"R4 p {rails.ground} {parts['R4']}", msg("equals R2"))
    deck.part(f"X1 p n vcc {rails.low} out {request['opamp']}", msg("op-amp"))
    opamp.write_opamp(deck, request, sized.figures["gbw_hz"])


FAMILY = kit.Family(
    key="difference_amplifier",
    name=msg("difference amplifiers with one op-amp"), one=msg("a difference amplifier"),
    examples={"en": "difference amplifier, gain 10, bandwidth 50 kHz",
              "zh": "增益10倍、带宽50kHz的差分放大器（减法器）"},
    words=kit.Words(
        named=(
            r"(?:op[\s-]?amps? )?differen(?:ce|tial) (?:op[\s-]?amps?|amplifier|amp|stage)(?: circuit)?|"
            r"subtract(?:or|ing)(?: amplifier| circuit)?|运放.{0,4}(?:差分|差动)|(?:差分|"
            r"差动)放大(?=\s?\d|$)|(?:运放)?(?:差分|差动|减法)(?:运算|比例)?(?:放大)?"
            r"(?:器|电路)"
        ),
        plausible=r"subtract\w*",
        excludes=rf"instrument|仪表|仪用|{rows.NEITHER_MORE}|pair|差分对|bjt|npn|bipolar|discrete|bc ?5\d\d|"
                 rf"2n\d{{4}}|双极|恒流|集电极|射极|emitter|collector|tail|尾电流|fully|全差分|ota|mos(?!t)|mirror|电流镜|有源",
    ),
    quantities=(
        rows.gain_row((0.1, 1000), 10, default=1.0),
        opamp.BANDWIDTH,
        kit.Quantity(
            name="input_ohm", label=msg("input resistance"), dimensions=("Ohm",), takes_rest=True,
            words=rf"{quantity_words.INPUT_OHM}|(?<![a-z])r1(?!\d)",
            within=(500, 1e6), example=10e3, is_told=False,
            default=lambda request: 10e3 if request["gain"] <= 100 else 2e3,
        ),
        opamp.SUPPLY,
        opamp.GBW,
        kit.TOLERANCE,
    ),
    choices=(opamp.OPAMP, supplies.RAILS),
    judge=supplies.judged("buffer"),
    goals=(*rows.differential_goals(), opamp.BANDWIDTH_GOAL),
    title="Difference amplifier, gain {gain:.4g}, {bandwidth_hz:Hz}",
    remarks=rows.two_input_remarks(msg("Vout = (R2 / R1) (Vp - Vn), with R3 = R1 and R4 = R2.")),
    analyses=lambda request, sized, _goals: (opamp.sweep(request, sized.figures["gbw_hz"]),),
    size=size, netlist=netlist,
)  # fmt: skip
