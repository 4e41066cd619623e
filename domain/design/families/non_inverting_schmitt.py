"""The non-inverting comparator with hysteresis: the input through R1 to the + input, R2 back from the output.

With r = R1 / R2 and a reference Vr at the - input the thresholds are Vr (1 + r) +- r Vs, where the output
swings to +-Vs. Sources: Sedra, Smith, "Microelectronic Circuits", 7th ed., section 18.4.4; Texas Instruments,
"Op Amps for Everyone", SLOD006B, appendix A.
"""

from __future__ import annotations

import math

from domain.design import kit, supplies
from domain.design.families import threshold_rows as rows
from domain.design.kit import best_pair, impossible, nearest, spice, values_between, with_unit
from domain.design.opamp import OPAMP, write_opamp
from shared.message import msg

_FEEDBACK_OHM = (22e3, 2.2e6)
_LEAST_OHM = 470.0
_DIVIDER_OHM = (4.7e3, 47e3)


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """R1 and R2 of E96 and E24 by the hysteresis, R3 and R4 of E96 by the middle."""
    rails = supplies.rails_of(request, "none")
    rows.refuse_beyond_swing(request, rails)
    upper, lower = (request[name] * correction[name] for name in ("upper_v", "lower_v"))
    ratio = (upper - lower) * correction["hysteresis_v"] / (rails.highest_v - rails.lowest_v)
    feedback = [each for each in values_between(*_FEEDBACK_OHM, "E24") if ratio * each >= _LEAST_OHM]
    if not feedback:
        width = with_unit(request["hysteresis_v"], "V")
        raise impossible(
            msg("No resistors give a hysteresis of {width} there.", width=width),
            msg("Move the thresholds further apart or nearer to the middle of the supplies."),
        )
    r2 = min(feedback, key=lambda each: abs(math.log(ratio * each / nearest(ratio * each, "E96"))))
    r1 = nearest(ratio * r2, "E96")
    parts = {"R1": r1, "R2": r2}
    rest = (rails.highest_v + rails.lowest_v) / 2
    reference = ((upper + lower) / 2 + rest * r1 / r2) / (1 + r1 / r2)
    if reference:
        share = abs(reference) / rails.supply_v
        parts["R3"], parts["R4"] = best_pair(
            values_between(*_DIVIDER_OHM, "E96"),
            lambda low: low * (1 / share - 1),
            "E96",
            lambda low, high: abs(low / (low + high) - share),
        )
    return kit.Sized(parts=parts)


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """A slow triangle over both thresholds, the resistors and the op-amp."""
    rows.write_triangle(deck, request)
    rails = supplies.write_rails(deck, request, "none")
    parts, minus = sized.parts, "0"
    deck.part(f"R1 in p {spice(parts['R1'])}", msg("input: sets the hysteresis together with R2"))
    deck.part(f"R2 out p {spice(parts['R2'])}", msg("positive feedback: sets the hysteresis"))
    if "R3" in parts:
        minus = "n"
        is_up = rails.is_single or request["upper_v"] + request["lower_v"] > 0
        rail = "vcc" if is_up else rails.low
        deck.part(f"R3 n 0 {spice(parts['R3'])}", msg("to ground: sets the middle of the thresholds"))
        deck.part(f"R4 n {rail} {spice(parts['R4'])}", msg("sets the middle of the thresholds"))
    deck.part(f"X1 p {minus} vcc {rails.low} out {request['opamp']}", msg("op-amp as comparator"))
    deck.cards(f".nodeset v(out)={spice(rails.lowest_v)}")  # of the two states the first
    write_opamp(deck, request, gbw_hz=10e6)


FAMILY = kit.Family(
    key="non_inverting_schmitt",
    name=msg("non-inverting comparators with hysteresis"),
    one=msg("a non-inverting comparator with hysteresis"),
    examples={"en": "non-inverting Schmitt trigger, upper threshold 2 V, lower threshold -2 V, ±15 V",
              "zh": "同相施密特触发器，上限阈值2V，下限阈值-2V，电源±15V"},
    words=kit.Words(
        named=(r"non[\s-]?inverting (?:op[\s-]?amp )?(?:schmitt|hysteresis|comparator)"
               r"(?:[\s-](?:trigger|comparator|circuit))*|"
               r"同相(?:输入)?(?:运放)?(?:施密特|滞回|迟滞|回差|滞后|电压)?(?:触发器|比较(?:器|电路))|"
               f"{rows.BY_PLUS}"),
        excludes=rf"{rows.NO_SCHMITT}|{rows.BY_MINUS}",
    ),
    quantities=rows.QUANTITIES,
    choices=(OPAMP, supplies.RAILS),
    judge=supplies.judged("none"),
    goals=rows.GOALS,
    title=lambda request: f"Non-inverting {rows.title_of(request)}",
    remarks=(
        msg("The output is high while the input is above the upper threshold, low below the lower one."),
    ),
    analyses=lambda _request, _sized, _goals: rows.ANALYSES,
    size=size, netlist=netlist,
    says=rows.says,
    complete=rows.complete,
)  # fmt: skip
