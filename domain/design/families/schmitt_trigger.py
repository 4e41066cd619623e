"""The comparator with hysteresis (Schmitt trigger): an inverting one, an op-amp between two supplies.

The input goes to the - input, the output moves the + input: `domain.design.hysteresis`.
"""

from __future__ import annotations

from domain.circuit.figures import told_apart, with_unit
from domain.design.deck import Deck, spice
from domain.design.engine.declaration import (
    TOLERANCE,
    Bounds,
    Correction,
    Family,
    GoalRow,
    Quantity,
    Request,
    Said,
    Sized,
    Words,
    around,
)
from domain.design.engine.wording import unreachable
from domain.design.hysteresis import ways
from domain.design.opamp import (
    LIMIT_V,
    OPAMP,
    SINGLE_SUPPLY,
    SUPPLY,
    write_opamp,
    write_supplies,
)
from domain.design.understanding import impossible
from shared.message import msg

_VOLTS = (-40.0, 40.0)

_PERIOD_S = 0.2
"""Of the slow triangle: the op-amp's own delay moves the thresholds by less than 0.01 % of the swing."""

_THRESHOLD = msg("threshold")


def complete(request: Request) -> Said:
    """Both thresholds from what was said of them: the higher one is the upper one."""
    upper, lower = request["upper_v"], request["lower_v"]
    if upper is not None and lower is not None:
        upper, lower = max(upper, lower), min(upper, lower)
    middle, half = request["threshold_v"], (request["hysteresis_v"] or 0.1) / 2
    if middle is None:
        middle = 0.0 if upper is None else upper - half
        middle = middle if lower is None else lower + half if upper is None else (upper + lower) / 2
    upper = middle + half if upper is None else upper
    lower = 2 * middle - upper if lower is None else lower
    values = {"upper_v": upper, "lower_v": lower, "hysteresis_v": upper - lower}
    said = any(request.states(name) for name in (*values, "threshold_v"))
    return Said(values=values, stated=frozenset({"upper_v", "lower_v"} if said else ()))


def size(request: Request, correction: Correction) -> Sized:
    """The resistors of E96 (R3: E24) whose thresholds come nearest."""
    supply = request["supply_v"]
    reach = 0.9 * (supply - LIMIT_V)
    outer = max(abs(request["upper_v"]), abs(request["lower_v"]))
    if outer >= reach:
        asked, limit = told_apart("V", outer, reach)
        advice = msg("Raise the supply: the thresholds must lie inside the output swing.")
        raise unreachable(_THRESHOLD, asked, limit, advice)
    upper, lower = (request[name] * correction[name] for name in ("upper_v", "lower_v"))
    more = (correction["hysteresis_v"] - 1) * (upper - lower) / 2
    found = min(
        ways(upper + more, lower - more, supply, supply - LIMIT_V), key=lambda way: way[0], default=None
    )
    if found is None:
        width = with_unit(request["hysteresis_v"], "V")
        raise impossible(
            msg("No resistors give a hysteresis of {width} there.", width=width),
            msg("Move the thresholds further apart or nearer to the middle of the supplies."),
        )
    return Sized(parts=found[1])


def netlist(deck: Deck, request: Request, sized: Sized) -> None:
    """A slow triangle over both thresholds, the resistors and the op-amp."""
    middle = (request["upper_v"] + request["lower_v"]) / 2
    reach = max(request["hysteresis_v"], 0.02 * request["supply_v"])
    low, high = spice(middle - reach), spice(middle + reach)
    ramp = f"PWL(0 {low} {spice(_PERIOD_S / 2)} {high} {spice(_PERIOD_S)} {low})"
    deck.part(f"Vin in 0 DC {low} AC 1 {ramp}", msg("input: a slow triangle over both thresholds"))
    write_supplies(deck, request["supply_v"])
    parts = sized.parts
    deck.part(f"R1 p 0 {spice(parts['R1'])}", msg("to ground: sets the hysteresis together with R3"))
    if "R2" in parts:
        rail = "vcc" if request["upper_v"] + request["lower_v"] > 0 else "vee"
        deck.part(f"R2 p {rail} {spice(parts['R2'])}", msg("sets the middle of the thresholds"))
    deck.part(f"R3 out p {spice(parts['R3'])}", msg("positive feedback: sets the hysteresis"))
    deck.part(f"X1 p in vcc vee out {request['opamp']}", msg("op-amp as comparator"))
    deck.cards(f".nodeset v(out)={spice(request['supply_v'] - LIMIT_V)}")  # of the two states the first
    write_opamp(deck, request, gbw_hz=10e6)


def _crossing(passing: int) -> str:
    """The triangle rises first: the output falls at the upper threshold, and rises at the lower one."""
    return f"at(v(in),cross(v(out),0,{passing}))"


def _threshold(request: Request, name: str) -> Bounds:
    room = request["tolerance"] * max(abs(request[name]), request["hysteresis_v"])
    return Bounds(minimum=request[name] - room, maximum=request[name] + room, target=request[name])


FAMILY = Family(
    key="schmitt_trigger",
    name=msg("comparators with hysteresis (inverting Schmitt triggers)"),
    one=msg("a comparator with hysteresis"),
    examples={
        "en": "Schmitt trigger, upper threshold 3 V, lower threshold 1 V, ±12 V",
        "zh": "施密特触发器，上限阈值3V，下限阈值1V，电源±12V",
    },
    words=Words(
        named=(
            r"(?:inverting )?schmitt[\s-]?(?:trigger|comparator)?|(?:反相)?施密特(?:触发器|比较器)?|"
            r"(?:inverting |hysteresis )?comparators?(?: circuit| with hysteresis)?|"
            r"(?:反相)?(?:滞回|迟滞|回差|滞后|电压)?比较(?:器|电路)"
        ),
        excludes=r"oscillat|振荡|window|窗口|(?<![a-z])(?:pwm|adc)(?![a-z])|relaxation|multivibrator",
        refuses=(
            SINGLE_SUPPLY,
            (
                r"non[\s-]?inverting|同相",
                msg("Only inverting comparators can be designed yet."),
                msg("Ask for an inverting one, or follow it with an inverter."),
            ),
        ),
    ),
    quantities=(
        Quantity(
            name="upper_v", label=msg("upper threshold"), dimensions=("V",), within=_VOLTS, example=3,
            takes_rest=True,
            words=(
                r"upper(?: trip| switching)?(?: threshold| point| limit| level| voltage)?|"
                r"(?<![a-z])v_?(?:th|t|ut)(?:h|p|\+)|(?:上限?|高)(?:门限|阈值|触发)(?:电平|电压|值)?|正向阈值(?:电压)?"
            ),
        ),
        Quantity(
            name="lower_v", label=msg("lower threshold"), dimensions=("V",), within=_VOLTS, example=1,
            takes_rest=True,
            words=(
                r"lower(?: trip| switching)?(?: threshold| point| limit| level| voltage)?|"
                r"(?<![a-z])v_?(?:th|t|lt)(?:l|n|-)|(?:下限?|低)(?:门限|阈值|触发)(?:电平|电压|值)?|负向阈值(?:电压)?"
            ),
        ),
        Quantity(
            name="threshold_v", label=_THRESHOLD, dimensions=("V",), within=_VOLTS, example=2.5,
            words=(
                r"(?<!upper )(?<!lower )(?:threshold(?!s)|trip|reference)(?: voltage| level| point)?|"
                r"cent(?:er|re)d?|around|(?<![上下高低限向])(?:阈值|门限|参考)(?:电压|电平)?|中心(?:电压)?"
            ),
        ),
        Quantity(
            name="hysteresis_v", label=msg("hysteresis"), dimensions=("V",), within=(1e-3, 60), example=0.1,
            words=r"hysteresis(?: width| band| voltage)?|(?:滞回|迟滞|回差|滞后)(?:电压|宽度)?(?!比较)",
        ),
        SUPPLY,
            TOLERANCE,
    ),
    choices=(OPAMP,),
    goals=(
        GoalRow(
            metric="upper_threshold", label=msg("Upper threshold"), unit="V", quantity="upper_v",
            expression=lambda _request: _crossing(1), bounds=lambda request: _threshold(request, "upper_v"),
        ),
        GoalRow(
            metric="lower_threshold", label=msg("Lower threshold"), unit="V", quantity="lower_v",
            expression=lambda _request: _crossing(2), bounds=lambda request: _threshold(request, "lower_v"),
        ),
        GoalRow(
            metric="hysteresis", label=msg("Hysteresis"), unit="V", quantity="hysteresis_v",
            expression=lambda _request: f"{_crossing(1)}-{_crossing(2)}",
            bounds=lambda request: around(request["hysteresis_v"], request["tolerance"]),
        ),
    ),
    title=lambda request: f"Schmitt trigger, {request['upper_v']:.4g} V and {request['lower_v']:.4g} V",
    stem=lambda request: "schmitt_trigger_" + "_".join(
        f"{request[name]:.4g}V".replace("-", "minus").replace(".", "p") for name in ("upper_v", "lower_v")
    ),
    remarks=lambda _request: (
        msg("The output is low while the input lies above the upper threshold, high below the lower one."),
    ),
    analyses=lambda _request, _sized, _goals: (f".tran {spice(_PERIOD_S / 2000)} {spice(_PERIOD_S)}",),
    size=size,
    netlist=netlist,
    complete=complete,
)  # fmt: skip
