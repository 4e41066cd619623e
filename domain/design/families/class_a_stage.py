"""The class A output stage: an emitter follower on a current sink, between two supplies.

The sink takes IQ, more than the peak of the load current: -Vp is reached while the follower still carries
IQ - Ip. Its distortion is that of VBE = VT ln((IQ + i)/IS), the sink's RE keep 0.3 V; the reference carries a
tenth: R3 = (VT ln 10 + IQ R2)/(IQ/10). Efficiency Vp^2/(4 RL Vcc IQ), at most 25 %. Source: Sedra, Smith,
"Microelectronic Circuits", 7th ed., section 12.2.
"""

from __future__ import annotations

import math
from dataclasses import replace

from domain.design import kit
from domain.design.families import class_ab_stage as class_ab
from domain.design.kit import at_least, beyond, nearest, spice, with_unit
from domain.design.opamp import write_supplies
from domain.design.transistor import THERMAL_V
from shared.message import msg

_SENSE_V, _SHARE = 0.3, 0.1
_ROOM_V = 0.6
"""Across a transistor at the peaks."""
_MOST_SWING, _LEAST_SWING = 0.9, 0.2
"""Of the load's peak current over IQ: near 1 the follower is about to go off."""
_AIMED = 0.8
"""Of the distortion that is allowed."""


def _distortion(request: kit.Request, swing: float) -> float:
    """Harmonics 2 to 9 of VBE over the output's amplitude, by its current's `swing` about IQ."""
    angles = [2 * math.pi * (step + 0.5) / 128 for step in range(128)]
    drop = [THERMAL_V * math.log1p(swing * math.sin(angle)) for angle in angles]
    squares = 0.0
    for order in range(2, 10):
        squares += sum(v * math.sin(order * a) for v, a in zip(drop, angles, strict=True)) ** 2
        squares += sum(v * math.cos(order * a) for v, a in zip(drop, angles, strict=True)) ** 2
    return math.sqrt(squares) / 64 / float(request["amplitude_v"])


def _peak_a(request: kit.Request) -> float:
    return float(request["amplitude_v"] / request["load_ohm"])


def _quiet(request: kit.Request) -> float:
    """The least of E24 that has the peaks and the distortion."""
    swing = _MOST_SWING
    while swing > _LEAST_SWING and _distortion(request, swing) > _AIMED * request["distortion"]:
        swing *= 0.97
    return at_least(_peak_a(request) / swing, "E24")


def _quantity(row: kit.Quantity) -> kit.Quantity:
    if row.name == "quiet_a":
        return replace(row, default=_quiet, within=(0.1e-3, 20))
    return replace(row, within=(10e-6, 100)) if row.name == "power_w" else row


_QUANTITIES = tuple(sorted(map(_quantity, class_ab.QUANTITIES), key=lambda row: row.name == "quiet_a"))


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """Emitter resistors of E24, reference of E96. Raises CircuitError for what is out of reach."""
    peak, supply, peak_a = request["amplitude_v"], request["supply_v"], _peak_a(request)
    room = supply - peak - _ROOM_V - _SENSE_V
    if room < 0:
        advice = msg("Raise the supply or lower the amplitude.")
        raise beyond(class_ab.AMPLITUDE, "V", peak, peak + room, advice)
    if request["quiet_a"] < peak_a / 0.97:
        advice = msg("Raise the quiescent current, or ask for a class AB output stage.")
        raise beyond(msg("quiescent current"), "A", request["quiet_a"], peak_a / 0.97, advice)
    least = _distortion(request, peak_a / request["quiet_a"])
    if least > 0.95 * request["distortion"]:
        advice = msg("Raise the quiescent current or the load resistance.")
        raise beyond(msg("distortion"), "%", 100 * request["distortion"], 100 * least, advice, digits=2)
    quiet = request["quiet_a"] * correction["quiet_a"]
    sense = nearest(_SENSE_V / quiet, "E24")
    foot_v, base_v = quiet * sense, THERMAL_V * math.log(quiet / class_ab.SATURATION_A)
    reference = _SHARE * quiet
    parts = {
        "R1": nearest((supply - base_v - foot_v) / (reference + quiet / class_ab.GAIN), "E96"),
        "R2": sense,
        "R3": nearest((foot_v - THERMAL_V * math.log(_SHARE)) / reference, "E96"),
        "Rload": request["load_ohm"],
    }
    efficiency = 100 * peak * peak_a / (4 * supply * quiet)
    note = msg("Each transistor takes {power} at rest; efficiency {share} % at full output.",
               power=with_unit(supply * quiet, "W", 2), share=f"{efficiency:.2g}")  # fmt: skip
    gain = 1 - THERMAL_V / (quiet * request["load_ohm"])
    figures = {"drive_v": peak * correction["amplitude_v"] / gain, "base_v": base_v}
    return kit.Sized(parts=parts, figures=figures, notes=(note,))


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """Supplies, the follower, its current sink, the load."""
    parts, figures = {name: spice(value) for name, value in sized.parts.items()}, sized.figures
    write_supplies(deck, request["supply_v"])
    wave = f"SIN({spice(figures['base_v'])} {spice(figures['drive_v'])} {spice(request['frequency_hz'])})"
    deck.part(f"Vin in 0 DC {spice(figures['base_v'])} AC 1 {wave}", msg("input, a VBE above the output"))
    deck.part("Q1 c1 in out npn", msg("output transistor"))
    deck.part("Vmeter1 c1 vcc DC 0", msg("measures the current of the output transistor"))
    deck.part("Q2 out b e2 npn", msg("current sink"))
    deck.part(f"R2 e2 vee {parts['R2']}", msg("emitter resistor"))
    deck.part("Q3 b b e3 npn", msg("reference of the current sink"))
    deck.part(f"R3 e3 vee {parts['R3']}", msg("emitter resistor"))
    deck.part(f"R1 0 b {parts['R1']}", msg("sets the quiescent current"))
    deck.part(f"Rload out 0 {parts['Rload']}", msg("load"))
    deck.rule()
    deck.note(msg("Generic power transistor."))
    deck.cards(f".model npn NPN{class_ab.CARD}")


FAMILY = kit.Family(
    key="class_a_stage",
    name=msg("class A output stages (emitter follower on a current sink)"), one=msg("a class A output stage"),
    examples={"en": "class A output stage, amplitude 4 V into 50 ohm, ±9 V",
              "zh": "甲类射极跟随输出级，负载50Ω，输出幅度4V，电源±9V"},
    words=kit.Words(
        named=(
            r"class[\s-]?a(?![a-z/])(?: (?:bjt|single[\s-]ended|emitter|output|power|audio|headphone))*"
            r"(?: (?:stage|amplifier|amp|buffer|follower))?|"
            r"(?:甲类|(?<![a-z])a类)(?:单端|射极|跟随|功率|耳机|音频)*(?:输出级?|放大|功放)?(?:器|级|电路)?"
        ),
        excludes=(
            r"common[\s-]?(?:emitter|source|base)|共[射源基]|mos(?!t)|converter|变换器|transformer|变压器|choke|扼流|"
            r"class[\s-]?a/?[bd]|甲乙|ab类|push[\s-]pull|推挽|互补|single[\s-]supply|单电源|tube|valve|电子管|胆机"
        ),
    ),
    quantities=_QUANTITIES,
    goals=class_ab.GOALS,
    title="Class A output stage, {power_w:W3}, {load_ohm:.3g} ohm",
    remarks=(msg("IQ above Vp / RL; the sink carries IQ = VE2 / R2, its reference a tenth."),),
    analyses=lambda request, _sized, _goals: (class_ab.record(request),),
    size=size, netlist=netlist, complete=class_ab.complete,
)  # fmt: skip
