"""The comparator with hysteresis (Schmitt trigger): an inverting one, an op-amp between two supplies.

The input goes to the - input, the output moves the + input: `domain.design.hysteresis`.
"""

from __future__ import annotations

from domain.design import kit, supplies
from domain.design.families import threshold_rows as rows
from domain.design.hysteresis import ways
from domain.design.kit import impossible, spice, with_unit
from domain.design.opamp import OPAMP, write_opamp
from shared.message import msg


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """The resistors of E96 (R3: E24) whose thresholds come nearest."""
    rails = supplies.rails_of(request, "none")
    rows.refuse_beyond_swing(request, rails)
    upper, lower = (request[name] * correction[name] for name in ("upper_v", "lower_v"))
    more = (correction["hysteresis_v"] - 1) * (upper - lower) / 2
    found = min(
        ways(upper + more, lower - more, rails.supply_v, (rails.lowest_v, rails.highest_v)),
        key=lambda way: way[0], default=None,
    )  # fmt: skip
    if found is None:
        width = with_unit(request["hysteresis_v"], "V")
        raise impossible(
            msg("No resistors give a hysteresis of {width} there.", width=width),
            msg("Move the thresholds further apart or nearer to the middle of the supplies."),
        )
    return kit.Sized(parts=found[1])


def _pulls_up(request: kit.Request, rails: supplies.Rails) -> bool:
    """Whether R2 goes to the upper supply: towards the middle of the thresholds, or the only one there is."""
    return rails.is_single or request["upper_v"] + request["lower_v"] > 0


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """A slow triangle over both thresholds, the resistors and the op-amp."""
    rows.write_triangle(deck, request)
    rails = supplies.write_rails(deck, request, "none")
    parts = sized.parts
    deck.part(f"R1 p 0 {spice(parts['R1'])}", msg("to ground: sets the hysteresis together with R3"))
    if "R2" in parts:
        rail = "vcc" if _pulls_up(request, rails) else rails.low
        deck.part(f"R2 p {rail} {spice(parts['R2'])}", msg("sets the middle of the thresholds"))
    deck.part(f"R3 out p {spice(parts['R3'])}", msg("positive feedback: sets the hysteresis"))
    deck.part(f"X1 p in vcc {rails.low} out {request['opamp']}", msg("op-amp as comparator"))
    deck.cards(f".nodeset v(out)={spice(rails.highest_v)}")  # of the two states the first
    write_opamp(deck, request, gbw_hz=10e6)


FAMILY = kit.Family(
    key="schmitt_trigger",
    name=msg("comparators with hysteresis (inverting Schmitt triggers)"),
    one=msg("a comparator with hysteresis"),
    examples={"en": "Schmitt trigger, upper threshold 3 V, lower threshold 1 V, ±12 V",
              "zh": "施密特触发器，上限阈值3V，下限阈值1V，电源±12V"},
    words=kit.Words(
        named=(r"(?:inverting )?schmitt[\s-]?(?:trigger|comparator)?|(?:反相)?施密特(?:触发器|比较器)?|"
               r"(?:inverting |hysteresis )?comparators?(?: circuit| with hysteresis)?|"
               rf"(?:反相)?(?:滞回|迟滞|回差|滞后|电压)?比较(?:器|电路)|{rows.BY_MINUS}"),
        excludes=rf"non[\s-]?inverting|同相|{rows.NO_SCHMITT}|{rows.BY_PLUS}",
    ),
    quantities=rows.QUANTITIES,
    choices=(OPAMP, supplies.RAILS),
    judge=supplies.judged("none"),
    goals=rows.GOALS,
    title=rows.title_of,
    remarks=(
        msg("The output is low while the input is above the upper threshold, high below the lower one."),
    ),
    analyses=lambda _request, _sized, _goals: rows.ANALYSES,
    size=size, netlist=netlist,
    says=rows.says,
    complete=rows.complete,
)  # fmt: skip
