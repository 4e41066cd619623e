"""What comparators with hysteresis share: thresholds, their words, the triangle that measures them."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

from domain.design import kit
from domain.design.kit import beyond, left_out, read_quantities, spice
from domain.design.opamp import SUPPLY
from domain.design.supplies import Rails, default_supply_v, is_single, limits
from shared.message import msg

_VOLTS = (-40.0, 40.0)

_PERIOD_S = 0.2
"""Of the slow triangle: the op-amp's own delay moves the thresholds by less than 0.01 % of the swing."""

THRESHOLD = msg("threshold")
_EDGE = 0.02
"""Of a single supply: nearer to its ends no threshold is set."""
NO_SCHMITT = r"oscillat|振荡|window|窗口|(?<![a-z])(?:pwm|adc)(?![a-z])|relaxation|multivibrator"


def _by_input(english: str, chinese: str) -> str:
    """That the signal goes to one of the two inputs, and it is about a comparator."""
    return (
        r"^(?=.*(?:schmitt|hystere|comparator|lm[23]93|lm311|施密特|滞回|迟滞|回差|比较))(?=.*(?:"
        r"(?<![a-z])(?:signal|input|sensor|divider|vin|comes?|goes|going|fed|applied)(?![a-z])"
        r"(?:(?!ref|feedback|threshold)[^,;.]){0,40}?(?<![a-z])(?:in)?to (?:the |its |an? )?"
        rf"[(\"']?(?:{english})[)\"']?[\s-](?:input|pin|terminal|leg)|"
        r"(?:信号|输入|传感器)(?:(?!参考|基准|反馈)[^,;。、]){0,8}[接加送进从到](?:(?!参考|基准|反馈)[^,;。、]){0,4}"
        rf"(?:{chinese})\s?(?:输入)?(?:端|脚)))"
    )


BY_MINUS = _by_input(r"minus|-|negative|inverting", r"负|反相|-")
BY_PLUS = _by_input(r"plus|\+|positive|non[\s-]?inverting", r"正|同相|\+")
"""Where the signal goes: "goes into the minus input"."""
_LEVEL = r"threshold|trip|switch|flip|门限|阈值|翻转|触发电平"
_AND = re.compile(r"\s|\s?(?:/|~|-|–|and|to|和|与|到|至|、)\s?", re.IGNORECASE)
_OF_SUPPLY = re.compile(
    r"[\s-]?(?:supply|rails?|vcc|vdd|power(?:ed)?|single|from|on|电源|供电|单电源|swing|output|输出)\W{0,3}$|"
    r"[\s-]?(?:single |power |dc )?(?:suppl(?:y|ies)|rails?|电源|供电|单电源|swing|outputs?|logic)",
    re.IGNORECASE,
)
_SIDE = r"upper|lower|v_?(?:th|t|ut|lt)[hlpn+-]|[上下]限|[上下]门|[正负]向|[高低](?:门限|阈值|触发)"


QUANTITIES = (
    kit.Quantity(
        name="upper_v", label=msg("upper threshold"), dimensions=("V",), within=_VOLTS, example=3,
        takes_rest=True,
        words=(
            r"(?<![a-z])ris(?:es?|ing)(?: (?:threshold|edge|at|above))*|goes high at|"
            r"going up|on the way up|above|"
            r"上升|升高|变高|高于|超过|"
            r"upper(?: trip| switching)?(?: threshold| point| limit| level| voltage)?|"
            r"(?<![a-z])v_?(?:th|t|ut)(?:h|p|\+)|(?:上限?|高)(?:门限|阈值|触发)(?:电平|电压|值)?|正向阈值(?:电压)?"
        ),
    ),
    kit.Quantity(
        name="lower_v", label=msg("lower threshold"), dimensions=("V",), within=_VOLTS, example=1,
        takes_rest=True,
        words=(
            r"(?<![a-z])fall(?:s|ing)?(?: (?:threshold|edge|at|below))*|goes low at|"
            r"going down|on the way down|below|"
            r"下降|降低|变低|低于|lower(?: trip|"
            r" switching)?(?: threshold| point| limit| level| voltage)?|"
            r"(?<![a-z])v_?(?:th|t|lt)(?:l|n|-)|(?:下限?|低)(?:门限|阈值|触发)(?:电平|电压|值)?|负向阈值(?:电压)?"
        ),
    ),
    kit.Quantity(
        name="threshold_v", label=THRESHOLD, dimensions=("V",), within=_VOLTS, example=2.5,
        words=(r"(?<!upper )(?<!lower )(?:threshold(?!s)|trip|reference)(?: voltage| level| point)?|"
               r"cent(?:er|re)d?|around|(?<![上下高低限向])(?:阈值|门限|参考)(?:电压|电平)?|中心(?:电压)?"),
    ),
    kit.Quantity(
        name="hysteresis_v", label=msg("hysteresis"), dimensions=("V",), within=(1e-3, 60), example=0.1,
        words=r"hysteresis(?: width| band| voltage)?|(?:滞回|迟滞|回差|滞后)(?:电压|宽度)?(?!比较)",
    ),
    SUPPLY,
    kit.TOLERANCE,
)  # fmt: skip


def says(sentence: kit.Sentence) -> kit.Said:
    """By their words; one level beside a hysteresis that no word calls upper or lower is the middle, and one
    beside another the second of two thresholds; `±2 V thresholds` are both, and so is "2 V 3 V"."""
    pair = _pair(sentence)
    mirrored = [each for each in sentence.of("V") if each.is_tolerance and _is_threshold(sentence.text, each)]
    alone = _alone(sentence)
    rest = tuple(each for each in sentence.mentions if each not in (*mirrored, *pair, *alone))
    values, unused = read_quantities(QUANTITIES, replace(sentence, mentions=rest, links=()))
    if alone:
        values["threshold_v"] = alone[0].value
    if len(mirrored) == 1:
        values |= {"upper_v": abs(mirrored[0].value), "lower_v": -abs(mirrored[0].value)}
    if pair:
        levels = [level for each in pair for level in (each.value, each.upper) if level is not None]
        values |= {"upper_v": max(levels), "lower_v": min(levels)}
    if "hysteresis_v" not in values and "threshold_v" in values and not sentence.has(_SIDE):
        free = [name for name in ("upper_v", "lower_v") if name not in values]
        if len(free) == 1:
            values[free[0]] = values.pop("threshold_v")
    sides = [name for name in ("upper_v", "lower_v") if name in values]
    if len(sides) == 1 and {"hysteresis_v"} <= set(values) and not sentence.has(_SIDE):
        values.setdefault("threshold_v", values.pop(sides[0]))
    return kit.Said(values=values, stated=frozenset(values), notes=left_out(unused))


def _alone(sentence: kit.Sentence) -> tuple[kit.Mention, ...]:
    """The only voltage of a sentence, where its word stands right beside it: no supply is told then."""
    volts = sentence.of("V")
    is_told = len(volts) == 1 and not volts[0].is_tolerance and volts[0].upper is None
    return volts if is_told and _is_threshold(sentence.text, volts[0]) and not sentence.has(_SIDE) else ()


def _pair(sentence: kit.Sentence) -> tuple[kit.Mention, ...]:
    """Two voltages one behind the other, or from one to the other, of which no word says more: thresholds."""
    volts = sorted(sentence.of("V"), key=lambda each: each.start)
    text = sentence.text
    pairs: list[tuple[kit.Mention, ...]] = [
        (each,) for each in volts if each.upper is not None and not _is_supply(text, each, each)
    ]
    pairs = pairs or [pair for pair in pairwise(volts) if _is_pair(text, *pair)]
    return pairs[0] if len(pairs) == 1 and not sentence.has(_SIDE) else ()


def _is_pair(text: str, first: kit.Mention, second: kit.Mention) -> bool:
    return (
        first.value != second.value
        and not (first.is_tolerance or second.is_tolerance)
        and _AND.fullmatch(text[first.end : second.start]) is not None
        and not _is_supply(text, first, second)
    )


def _is_supply(text: str, first: kit.Mention, second: kit.Mention) -> bool:
    before, behind = _OF_SUPPLY.search(text[: first.start]), _OF_SUPPLY.match(text[second.end :])
    return before is not None or behind is not None


def _is_threshold(text: str, level: kit.Mention) -> bool:
    return (
        re.search(rf"(?:{_LEVEL})[^\d,;。]{{0,8}}$", text[: level.start], re.IGNORECASE) is not None
        or re.match(rf"\s?(?:{_LEVEL})", text[level.end :], re.IGNORECASE) is not None
    )


def complete(request: kit.Request) -> kit.Said:
    """Both thresholds from what was said of them: the higher one is the upper one."""
    upper, lower = request["upper_v"], request["lower_v"]
    if upper is not None and lower is not None:
        upper, lower = max(upper, lower), min(upper, lower)
    middle, half = request["threshold_v"], (request["hysteresis_v"] or 0.1) / 2
    if middle is None:
        middle = _usual_middle(request) if upper is None else upper - half
        middle = middle if lower is None else lower + half if upper is None else (upper + lower) / 2
    upper = middle + half if upper is None else upper
    lower = 2 * middle - upper if lower is None else lower
    values = {"upper_v": upper, "lower_v": lower, "hysteresis_v": upper - lower}
    said = any(request.states(name) for name in (*values, "threshold_v"))
    return kit.Said(values=values, stated=frozenset({"upper_v", "lower_v"} if said else ()))


def _usual_middle(request: kit.Request) -> float:
    """Of thresholds that nobody said: midway between the supplies."""
    supply: float = request["supply_v"] or default_supply_v(request)
    return supply / 2 if is_single(request) else 0.0


def _crossing(request: kit.Request, passing: int) -> str:
    """The triangle rises first: the output falls at the upper threshold, and rises at the lower one."""
    level = spice(request["supply_v"] / 2) if is_single(request) else "0"
    return f"at(v(in),cross(v(out),{level},{passing}))"


def _threshold(request: kit.Request, name: str) -> kit.Bounds:
    room = request["tolerance"] * max(abs(request[name]), request["hysteresis_v"])
    return kit.Bounds(minimum=request[name] - room, maximum=request[name] + room, target=request[name])


GOALS = (
    kit.GoalRow(
        metric="upper_threshold", label=msg("Upper threshold"), unit="V", quantity="upper_v",
        expression=lambda request: _crossing(request, 1),
        bounds=lambda request: _threshold(request, "upper_v"),
    ),
    kit.GoalRow(
        metric="lower_threshold", label=msg("Lower threshold"), unit="V", quantity="lower_v",
        expression=lambda request: _crossing(request, 2),
        bounds=lambda request: _threshold(request, "lower_v"),
    ),
    kit.GoalRow(metric="hysteresis", label=msg("Hysteresis"), unit="V", quantity="hysteresis_v",
                expression=lambda request: f"{_crossing(request, 1)}-{_crossing(request, 2)}"),
)  # fmt: skip


def write_triangle(deck: kit.Deck, request: kit.Request) -> None:
    """The input: once up and down over both thresholds."""
    middle = (request["upper_v"] + request["lower_v"]) / 2
    reach = max(request["hysteresis_v"], 0.02 * request["supply_v"])
    low, high = spice(middle - reach), spice(middle + reach)
    ramp = f"PWL(0 {low} {spice(_PERIOD_S / 2)} {high} {spice(_PERIOD_S)} {low})"
    deck.part(f"Vin in 0 DC {low} AC 1 {ramp}", msg("input: a slow triangle over both thresholds"))


def title_of(request: kit.Request) -> str:
    return f"Schmitt trigger, {request['upper_v']:.4g} V and {request['lower_v']:.4g} V"


ANALYSES = (f".tran {spice(_PERIOD_S / 2000)} {spice(_PERIOD_S)}",)


def refuse_beyond_swing(request: kit.Request, rails: Rails) -> None:
    """Raises CircuitError for thresholds that the output cannot hold, or the inputs not see."""
    advice = msg("Raise the supply: the thresholds must lie inside the output swing.")
    if rails.is_single:
        part = limits(request)
        low = max(part.input_low_v, _EDGE * rails.supply_v)
        high = min(rails.supply_v - part.input_high_v, rails.highest_v, (1 - _EDGE) * rails.supply_v)
        if request["upper_v"] > high:
            raise beyond(THRESHOLD, "V", request["upper_v"], high, advice, digits=4)
        if request["lower_v"] < low:
            asks = msg("Choose thresholds inside the supply, or ask for two supplies, for example ±5 V.")
            raise beyond(THRESHOLD, "V", request["lower_v"], low, asks, digits=4)
        return
    reach = 0.9 * rails.highest_v
    outer = max(abs(request["upper_v"]), abs(request["lower_v"]))
    if outer >= reach:
        raise beyond(THRESHOLD, "V", outer, reach, advice, digits=4)
