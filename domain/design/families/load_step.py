"""A load step of a converter with one inductor: what is asked, the capacitor it needs, how it is tried.

With a fixed duty the output impedance is that of the filter: a step I of the load current moves it by that of
(Rs + s L) beside C with its ESR; an inductor that feeds the output in the off-time only is seen larger by
1 / (1 - D)**2. In the end it stands I Rs off, which no capacitor changes.
Source: Erickson, Maksimovic, "Fundamentals of Power Electronics", 2nd ed., sections 8.3 and 8.5.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Any

from domain.circuit.preferred_values import at_least
from domain.design import kit
from domain.design.buck_power_stage import PowerStage
from domain.design.engine.other_quantities import CLAUSE_END, EVENT
from domain.design.kit import impossible, number, spice, with_unit
from shared.message import Message, msg

_MOVES = (
    r"(?:over|under)[\s-]?shoots?|(?<![a-z])(?:dips?|droops?|sags?)(?![a-z])|"
    r"(?:load[\s-])?(?:step|transient) (?:deviation|response)|过冲|超调|下冲|跌落"
)
AT_START = r"start[\s-]?up|turn[\s-]?on|power[\s-]?up|inrush|启动|上电|开机"
_SHARE, _USUAL_SHARE, _HALF = "deviation_v_share", 0.05, 0.5
_TO = re.compile(r"(?<![a-z])to\s*$|[到至]\s*$", re.IGNORECASE)
_MARGIN = 0.85
_LITTLE = 0.15
_LARGEST_F = 0.1
_SAMPLES, _TIMES = 2000, 20.0
"""Points, and radians of the resonance, over which the response is looked at."""

_AMPERE = kit.Quantity(
    name="step_from_a", label=msg("load current before the step"), dimensions=("A",), words="(?!)",
    within=(0, 200), example=0.5, is_told=False, takes_bare=False,
)  # fmt: skip
QUANTITIES = (
    _AMPERE,
    replace(_AMPERE, name="step_to_a", label=msg("load current after the step"), example=2),
    kit.Quantity(
        name="deviation_v", label=msg("deviation at a load step"), dimensions=("V", "%"), words=_MOVES,
        within=(1e-6, 1e3), example=0.1, limit="at_most",
    ),
)  # fmt: skip


def says(sentence: kit.Sentence) -> tuple[kit.Sentence, dict[str, Any]]:
    """A sentence without its load step, and what it says of it; the share of a figure in percent apart."""
    event = EVENT.search(sentence.text)
    if event is None:
        return sentence, {}
    start, end = _clause(sentence.text, event)
    inside = [each for each in sentence.mentions if start <= each.start < end]
    taken = [each for each in inside if each.dimension == "A"]
    values: dict[str, Any] = {}
    if len(taken) == 1 and taken[0].upper is None:
        is_end = _TO.search(sentence.text[: taken[0].start]) is not None
        values["step_to_a" if is_end else "step_a"] = abs(taken[0].value)
    elif taken:
        ends = [each for mention in taken for each in (mention.value, mention.upper) if each is not None]
        values["step_from_a"], values["step_to_a"] = ends[0], ends[-1]
    for each in inside:
        if each.dimension == "%" and not sentence.text[each.end : event.start()].strip(" -的a"):
            values["step_share"] = abs(each.value)
            taken.append(each)
    moves = [each for each in inside if each.dimension in ("V", "%") and each not in taken]
    named = _beside(sentence) or (moves[0] if moves else None)
    if named is not None:
        taken.append(named)
        name = _SHARE if named.dimension == "%" else "deviation_v"
        values[name] = number(QUANTITIES[-1], named)
    values["is_stepped"] = True
    left = tuple(each for each in sentence.mentions if each not in taken)
    return replace(sentence, mentions=left, links=()), values


def _clause(text: str, event: re.Match[str]) -> tuple[int, int]:
    start = max((each.end() for each in CLAUSE_END.finditer(text, 0, event.start())), default=0)
    following = CLAUSE_END.search(text, event.end())
    return start, len(text) if following is None else following.start()


def _beside(sentence: kit.Sentence) -> kit.Mention | None:
    """The figure that stands beside an overshoot or a dip."""
    for moved in re.finditer(_MOVES, sentence.text, re.IGNORECASE):
        for each in sentence.mentions:
            between = sentence.text[min(each.end, moved.end()) : max(each.start, moved.start())]
            if each.dimension in ("V", "%") and len(between) < 24 and not re.search(r"[\d,;]", between):
                return each
    return None


def complete(values: dict[str, Any], request: kit.Request) -> list[Message]:
    """Add to `values` from and to what the load goes and how far the output may move; what has to be told."""
    iout, vout = values["iout"], request["vout"]
    share, deviation = request.get(_SHARE), request["deviation_v"]
    if not (request.get("is_stepped") or deviation is not None or share is not None):
        return []
    told = []
    if deviation is None:
        if share is None:
            told.append(kit.assumed(QUANTITIES[-1].label, with_unit(_USUAL_SHARE * vout, "V")))
        deviation = (_USUAL_SHARE if share is None else share) * vout
    low, high = request["step_from_a"], request["step_to_a"]
    if high is not None and low is None:  # from the load that was said
        low, high = sorted((iout, high))
        told.append(_stepping(low, high))
    if high is None:
        share = request.get("step_share") or _HALF
        size = min(request.get("step_a") or share * iout, iout)
        low, high = iout - size, iout
        told.append(_stepping(low, high))
    values |= {"iout": max(iout, low, high), "step_from_a": low, "step_to_a": high, "deviation_v": deviation}
    return told


def _stepping(low: float, high: float) -> Message:
    return msg("The load steps between {low} and {high}.", low=with_unit(low, "A"), high=with_unit(high, "A"))


def is_asked(request: kit.Request) -> bool:
    return request.get("deviation_v") is not None and request.get("step_to_a") is not None


def is_to_little(request: kit.Request) -> bool:
    """Whether the load goes down to less than half of a usual inductor ripple, as far as it is said."""
    iout, ends = request.get("iout"), [request.get("step_from_a"), request.get("step_to_a")]
    said = [each for each in ends if each is not None]
    most = max([*said, *([] if iout is None else [iout])], default=0.0)
    least = min(said) if said else most - min(request.get("step_a") or 0.0, most)
    return least < _LITTLE * most


def step_a(request: kit.Request) -> float:
    """How much load current goes away and comes back."""
    return abs(float(request["step_to_a"]) - float(request["step_from_a"]))


def held(
    stage: PowerStage, request: kit.Request, correction: kit.Correction, *, feeds_always: bool
) -> PowerStage:
    """The power stage with an output capacitor that is large enough for the load step that is asked for.

    `feeds_always`: the inductor feeds the output in the on-time too. Raises CircuitError where none is.
    """
    if not is_asked(request) or request["capacitance"] is not None:
        return stage
    losses, duty = stage.losses, stage.duty
    seen = 1.0 if feeds_always else 1 / (1 - duty) ** 2
    series = seen * (losses.winding_ohm + losses.switch_ohm * duty + losses.rectifier_ohm * (1 - duty))
    allowed = _MARGIN * request["deviation_v"] * correction["deviation_v"]
    step, farad = step_a(request), stage.capacitance
    while farad <= _LARGEST_F:
        if deviation(seen * stage.inductance, series, stage.esr, farad, step) <= allowed:
            return replace(stage, capacitance=farad)
        farad = at_least(1.1 * farad, "E6")
    raise impossible(
        msg(
            "No output capacitor keeps the output within {deviation} at a load step of {step}: at a fixed "
            "duty cycle the resistance of switch and inductor alone moves it by {static}.",
            deviation=with_unit(request["deviation_v"], "V"),
            step=with_unit(step, "A"),
            static=with_unit(step * series, "V", 3),
        ),
        msg("Allow more, make the step smaller, or give a lower on-resistance and winding resistance."),
    )


def deviation(inductance: float, series_ohm: float, esr: float, farad: float, step: float) -> float:
    """How far the output moves (V) when the load current changes by `step` (A), without a controller."""
    natural = 1 / math.sqrt(inductance * farad)
    time = _TIMES / natural / _SAMPLES
    voltage = current = most = 0.0  # of the capacitor, and what the inductor gives less
    for _ in range(_SAMPLES):
        output = voltage + esr * (step - current)
        most = max(most, output)
        current += time * (output - series_ohm * current) / inductance
        voltage += time * (step - current) / farad
    return most


def goals(sign: int = 1) -> tuple[kit.GoalRow, ...]:
    """How far the output rises and falls at the step, which is in the second `.tran`."""
    rise, fall = "max(tran2.v(out))-avg(v(out))", "avg(v(out))-min(tran2.v(out))"

    def row(metric: str, label: Message, expression: str) -> kit.GoalRow:
        return kit.GoalRow(
            metric=metric, label=label, unit="V", quantity="deviation_v", expression=expression, when=is_asked
        )

    return (
        row("load_step_rise", msg("Overshoot at the load step"), rise if sign > 0 else fall),
        row("load_step_dip", msg("Dip at the load step"), fall if sign > 0 else rise),
    )


def write(deck: kit.Deck, request: kit.Request, begins: float, lasts: float, sign: int) -> None:
    """The current that is taken off the load and put back."""
    step, edge = step_a(request), 1 / (20 * request["fsw"])
    times = " ".join(spice(each) for each in (begins, edge, edge, lasts, 10 * (begins + lasts)))
    nodes = "0 out" if sign > 0 else "out 0"
    deck.part(
        f"Istep {nodes} DC 0 PULSE(0 {spice(step)} {times})",
        msg("load step: takes {step} off the load for a while", step=with_unit(step, "A")),
    )
