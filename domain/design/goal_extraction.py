"""Design goals out of what a model answers to EXTRACT_DESIGN_GOALS, or gives as the arguments of a tool.

Tolerant in reading: thoughts, prose and code fences around the JSON, small mistakes in it, figures as texts
with units, comparators in words, usual other names of entries. Strict in what is accepted: an expression of
our language that gives one number of the right unit, a finite bound, a name of its own, nothing that
contradicts. What is refused is said in English for the model, which may try once more.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from domain.design.answer_document import LONGEST_NAME, document_in, key_of, looks_like_goal, spoken
from domain.design.goal_figures import (
    HUGE,
    BadFigureError,
    Figure,
    Unit,
    bound_of,
    first_function,
    has_signal,
    is_number,
    read_figure,
    read_unit,
    unit_of_value,
)
from domain.design.sentence import read_sentence
from domain.simulation.expression_syntax import Call, Node, SignalRef, children, parse
from domain.simulation.expressions import compile_expression
from domain.simulation.goals import DesignGoal
from shared.errors import UserInputError
from shared.late_patterns import late_pattern
from shared.message import Message, visible

MOST_GOALS = 40
_LONGEST_ANSWER = 200_000
_LONGEST_EXPRESSION = 300
_LONGEST_WORDS = 160
_LONGEST_REPLY = 4_000
_MOST_QUESTIONS = 8
_MOST_PROBLEMS = 12
_SHOWN = 60
_USUAL_SHARE = 0.05
_USUAL_WIDTHS = {"dB": 0.5, "deg": 5.0, "%": 1.0}
"""How close is close enough to a target that came without a tolerance; else 5 %."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalsRead:
    """What a model's answer says."""

    goals: tuple[DesignGoal, ...] = ()
    """Those that are right, in its order."""
    circuit_type: str = ""
    summary: str = ""
    reply: str | Message = ""
    """What is said back in the conversation: the model's words, or ours when it gave nothing usable."""
    questions: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    """The checker's words on what was not accepted, in English for the model; empty when all of it was."""
    left_out: tuple[str, ...] = ()
    """What those goals are called that were not accepted: the user's words where the model gave them."""


@dataclass(slots=True)
class _Notes:
    """What the checker has to say."""

    problems: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    def add(self, problem: str) -> None:
        text = _writable(problem)[:400]
        if text not in self.problems:
            self.problems.append(text)


def read_answer(text: str) -> GoalsRead:
    """What a model's answer says; never raises, whatever it is.

    An answer without any JSON object has `problems`, and its text is the `reply`: models greet in prose.
    """
    notes = _Notes()
    if len(text) > _LONGEST_ANSWER:
        notes.add(f"The answer has {len(text)} characters; at most {_LONGEST_ANSWER} are read.")
        return GoalsRead(problems=tuple(notes.problems))
    found = document_in(text)
    if isinstance(found, str):
        prose = "" if any(bracket in text for bracket in "{[") else _words(spoken(text), _LONGEST_REPLY)
        return GoalsRead(reply=prose, problems=(found,))
    document = {key_of(name): value for name, value in found.items()}
    goals = _checked(_entries(document.get("goals"), notes), notes)
    reply = _words(document.get("reply"), _LONGEST_REPLY)
    questions = tuple(_questions(document.get("questions")))
    if not goals and not notes.problems and not reply and not questions:
        notes.add('There is neither a goal nor a "reply" nor a question in the answer.')
    if goals and all(goal.weight == "wish" for goal in goals):
        notes.add(
            'Every goal is a wish: at least one has to be a "must", it decides when the design is done.'
        )
    return GoalsRead(
        goals=goals,
        circuit_type=_words(document.get("circuit_type"), _LONGEST_WORDS),
        summary=_words(document.get("summary"), _LONGEST_REPLY),
        reply=reply,
        questions=questions,
        problems=tuple(notes.problems[:_MOST_PROBLEMS]),
        left_out=tuple(notes.left_out),
    )


def read_goals(entries: object) -> tuple[tuple[DesignGoal, ...], tuple[str, ...]]:
    """Goals given as a list of objects (or what stands for one), and what is wrong with the others."""
    notes = _Notes()
    return _checked(_entries(entries, notes), notes), tuple(notes.problems[:_MOST_PROBLEMS])


# --- goals -------------------------------------------------------------------------------------------

_WISHES = late_pattern(
    r"wish|low|optional|nice|want|should|could|prefer|soft|secondary|期望|可选|希望|尽量|低|次要",
    re.IGNORECASE,
)
_METRIC = late_pattern(r"[^\W\d]\w*")
_COMPARED = late_pattern(
    r"(?P<left>.+?)\s*(?P<sign>>=|<=|=>|=<|≥|≤|⩾|⩽|>|<|==)\s*(?P<right>[^<>=≥≤⩾⩽]+)", re.DOTALL
)
_WITHIN = late_pattern(
    r"(?P<left>[^<>=≥≤⩾⩽]+?)\s*(?P<first>[<>]=?|[≥≤⩾⩽])\s*(?P<of>[^<>=≥≤⩾⩽]+?)\s*(?P<sign>[<>]=?|[≥≤⩾⩽])\s*"
    r"(?P<right>[^<>=≥≤⩾⩽]+)"
)
_LOSS = late_pattern(r"attenuat|\bdown\b|suppress|reject|衰减|抑制", re.IGNORECASE)
_TIMES_100 = late_pattern(r"\b100(?:\.0*)?\s*\*|\*\s*100(?:\.0*)?\b")


class _Refused(ValueError):
    """A goal that is not accepted; the text says why, for the model."""


def _entries(given: object, notes: _Notes) -> list[Mapping[str, Any]]:
    """The objects of a list of goals."""
    items: Sequence[object]
    match given:
        case None:
            return []
        case dict() if looks_like_goal(given):
            items = [given]
        case dict():
            items = [
                {"metric": name, **each} if isinstance(each, dict) else each for name, each in given.items()
            ]
        case list() | tuple():
            items = given
        case str() if (parts := _parted(given)) and all(map(_COMPARED.fullmatch, parts)):
            items = parts
        case _:
            notes.add(
                '"goals" has to be a list of objects, or of comparisons such as "bandwidth(v(out)) >= 10k".'
            )
            return []
    if len(items) > MOST_GOALS:
        notes.add(f"There are {len(items)} goals; at most {MOST_GOALS} are taken.")
    found: list[Mapping[str, Any]] = []
    for item in items[:MOST_GOALS]:
        if isinstance(item, Mapping):
            found.append({key_of(name): value for name, value in item.items()})
        elif isinstance(item, str) and _COMPARED.fullmatch(item):
            found += _comparisons(item)
        elif item is not None:
            notes.add(
                f"Each goal has to be an object, or a comparison such as bandwidth(v(out)) >= 10k; "
                f"{_short(item)} is none."
            )
            notes.left_out.append(_words(item, _SHOWN) or "?")
    return found


def _parted(text: str) -> list[str]:
    """The comparisons of a text, which stand behind commas of no bracket, semicolons or in lines."""
    parts, depth = [""], 0
    for sign in text[:_LONGEST_REPLY]:
        depth += (sign in "([{") - (sign in ")]}")
        if sign in ";；\n" or (sign in ",，" and depth <= 0):
            parts.append("")
        else:
            parts[-1] += sign
    return [part.strip() for part in parts if part.strip()]


def _comparisons(text: str) -> Iterator[Mapping[str, Any]]:
    """The goal of a comparison, the two halves of ``970 <= bandwidth(v(out)) <= 1030``."""
    both = _WITHIN.fullmatch(text)
    halves: tuple[str, ...] = (text,)
    if both is not None:
        turned = both["first"].translate(str.maketrans("<>≤≥⩽⩾", "><≥≤⩾⩽"))
        halves = (f"{both['of']} {turned} {both['left']}", f"{both['of']} {both['sign']} {both['right']}")
    for half in halves:
        name = _METRIC.match(half.strip())  # of a .meas card alone it is the name, too
        is_alone = name is not None and half.strip()[name.end() :].lstrip()[:1] in "<>=≥≤⩾⩽"
        yield {"expression": half, **({"metric": name[0]} if name is not None and is_alone else {})}


def _checked(entries: Iterable[Mapping[str, Any]], notes: _Notes) -> tuple[DesignGoal, ...]:
    goals: list[DesignGoal] = []
    for entry in entries:
        name = _words(entry.get("metric"), LONGEST_NAME) or _short(entry.get("expression"))
        try:
            goal = _goal(entry)
            _add(goals, goal)
        except (_Refused, BadFigureError, UserInputError) as error:
            notes.add(f"Goal {name!r}: {str(error).removesuffix('.')}.")
            notes.left_out.append(_words(entry.get("words"), _SHOWN) or name)
    return tuple(goals)


def _add(goals: list[DesignGoal], goal: DesignGoal) -> None:
    """Put a goal to the others: joined with its other half, under a name of its own.

    Raises _Refused for one that contradicts another.
    """
    for place, other in enumerate(goals):
        if _plain(other.expression) != _plain(goal.expression) or other.condition != goal.condition:
            continue
        low, high = _larger(other.minimum, goal.minimum), _smaller(other.maximum, goal.maximum)
        if low is not None and high is not None and low >= high:
            raise _Refused(
                f"it contradicts goal {other.metric!r}: no value is both {_demand(other)} and {_demand(goal)}"
            )
        if other.is_same_demand(replace(goal, metric=other.metric)):
            return
        is_other_half = (other.minimum is None) == (goal.maximum is None) and (other.maximum is None) == (
            goal.minimum is None
        )
        if other.metric == goal.metric and is_other_half and None in (other.minimum, other.maximum):
            words = "; ".join(filter(None, (other.words, goal.words)))[:_LONGEST_WORDS]
            goals[place] = replace(other, minimum=low, maximum=high, words=words)
            return
    taken = {other.metric.lower() for other in goals}
    if goal.metric.lower() in taken and not any(
        other.metric.lower() == goal.metric.lower() and _plain(other.expression) == _plain(goal.expression)
        for other in goals
    ):
        raise _Refused("two goals have this metric; give each a name of its own")
    metric, number = goal.metric, 2
    while metric.lower() in taken:
        metric, number = f"{goal.metric}_{number}", number + 1
    goals.append(replace(goal, metric=metric))


def _goal(entry: Mapping[str, Any]) -> DesignGoal:
    """One goal. Raises _Refused, BadFigureError, UserInputError."""
    expression, extra = _expression(entry)
    kind = re.sub(r"[^a-z].*", "", str(entry.get("analysis") or "").strip().lower().lstrip("."))
    tree = _tree(expression, kind)
    expression = _of_analysis(expression, tree, kind)
    words = _words(entry.get("words"), _LONGEST_WORDS)
    said = {name: _figure(entry, name) for name in ("target", "minimum", "maximum", "range")}
    figures = _Figures(
        said={**said, **extra},
        unit=_unit(entry, expression, tree, [*said.values(), *extra.values()]),
        words=words,
        is_stated=not _is_false(entry.get("stated")),
    )
    low, high, target = _bounds(entry, figures)
    is_loss = _LOSS.search(f"{entry.get('metric')} {words}") is not None
    if (
        is_loss
        and figures.unit.name == "dB"
        and max(low or 0.0, target or 0.0) > 0
        and {"-", "/"}.isdisjoint(expression)
    ):
        raise _Refused(
            f"it is asked as an attenuation, and {expression} is a gain, which is below 0 dB then: "
            f"write -({expression}), or a maximum below zero"
        )
    return DesignGoal(
        metric=_metric(entry.get("metric"), tree),
        expression=expression,
        unit=figures.unit.name,
        minimum=low,
        maximum=high,
        target=target,
        stated=figures.is_stated,
        weight=_weight_of(entry.get("priority")),
        words=words,
        condition=_condition(entry.get("condition")),
    )


def _expression(entry: Mapping[str, Any]) -> tuple[str, dict[str, Figure | None]]:
    """The expression, and the bound that was written into it (``bandwidth(v(out)) >= 10k``)."""
    given = entry.get("expression")
    if not isinstance(given, str) or not given.strip():
        raise _Refused("it has no expression that says what is measured, such as bandwidth(v(out))")
    text = given.strip().strip("`").strip()
    if len(text) > _LONGEST_EXPRESSION:
        raise _Refused(f"its expression has more than {_LONGEST_EXPRESSION} characters")
    if text != _writable(text):
        raise _Refused("its expression has characters that no name in a circuit has")
    compared = _COMPARED.fullmatch(text)
    if compared is None:
        return text, {}
    bound = bound_of(compared["sign"])
    figure = read_figure(compared["right"])
    name = {"at_least": "minimum", "at_most": "maximum"}.get(str(bound), "target")
    return compared["left"].strip(), {name: figure}


def _tree(expression: str, kind: str) -> Node:
    """The expression's tree, checked: one number that depends on the simulation."""
    compile_expression(expression)
    tree = parse(expression)
    if not has_signal(tree):
        raise _Refused(f"its expression {expression} measures no signal of the circuit")
    if kind in ("ac", "tran", "noise", "dc") and not is_number(tree):
        raise _Refused(
            f"its expression {expression} is a whole curve of the {kind} analysis, not one number; take a "
            f"figure of it, such as max({expression}) or at({expression}, 1k)"
        )
    return tree


_ANY_AXIS = frozenset({"avg", "rms", "max", "min", "pp", "peak"})
"""Measurements that take their signals from the first analysis that has them."""


def _of_analysis(expression: str, tree: Node, kind: str) -> str:
    """The expression with the operating point named where it is meant.

    Without it ``avg(v(vcc))`` is taken from the frequency response where there is one, and a supply is 0 V.
    """
    if kind not in ("op", "operating"):
        return expression
    for place in sorted(_free_signals(tree), reverse=True):
        expression = f"{expression[:place]}op.{expression[place:]}"
    return expression


def _free_signals(node: Node, *, is_measured: bool = False) -> Iterator[int]:
    """Where signals begin in a measurement on any axis that say no analysis."""
    match node:
        case SignalRef() if is_measured and node.analysis is None and node.kind in ("v", "i"):
            yield node.position
        case Call() if node.function in _ANY_AXIS:
            for child in children(node):
                yield from _free_signals(child, is_measured=True)
        case _:
            for child in children(node):
                yield from _free_signals(child, is_measured=is_measured)


def _figure(entry: Mapping[str, Any], name: str) -> Figure | None:
    try:
        return read_figure(entry.get(name))
    except BadFigureError as error:
        raise BadFigureError(f'its "{name}" ({_short(entry.get(name))}) {error}') from None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Figures:
    """The figures of a goal on their way to its unit."""

    said: Mapping[str, Figure | None]
    unit: Unit
    """The goal's unit, and what bare figures have to be multiplied with."""
    words: str
    is_stated: bool

    def value(self, name: str) -> float | None:
        figure = self.said.get(name)
        return None if figure is None else self.in_si(figure.value, figure.unit, name)

    def upper(self, name: str) -> float | None:
        figure = self.said.get(name)
        if figure is None or figure.upper is None:
            return None
        return self.in_si(figure.upper, figure.unit, name)

    def bound(self, name: str) -> str | None:
        figure = self.said.get(name)
        return None if figure is None else figure.bound

    def in_si(self, value: float, unit: str | None, name: str) -> float:
        """A figure in the goal's unit. Raises _Refused for one in another, or a thousandfold of the words."""
        if unit == "%":
            if self.unit.name not in ("1", "%"):
                raise _Refused(f'its "{name}" is in percent, but the goal is in {self.unit.name}')
            return value * 100 if self.unit.name == "%" else value
        if unit is not None:
            if not _is_alike(unit, self.unit.name):
                raise _Refused(f'its "{name}" is in {unit}, but the goal is in {self.unit.name}')
            return value
        converted = _rounded(value * self.unit.factor)
        if not self.is_stated or not self.words:
            return converted
        mentions = read_sentence(self.words).mentions
        mentioned = [
            abs(each)
            for mention in mentions
            if mention.dimension == self.unit.name and not mention.is_tolerance
            for each in (mention.value, mention.middle, mention.upper)
            if each
        ]
        if any(math.isclose(abs(converted), each, rel_tol=1e-6) for each in mentioned):
            return converted
        if any(math.isclose(abs(value), each, rel_tol=1e-6) for each in mentioned):
            return value  # in SI already, whatever the unit beside it says: 10000 and "kHz" for "10 kHz"
        # A figure that was worked out (a product of gain and bandwidth) need not be among them.
        is_the_one = len(mentions) == 1 or any(_written_as(mention.text, value) for mention in mentions)
        for each in mentioned if is_the_one and converted else ():
            times = abs(math.log10(each / abs(converted)))
            if times > 2.5 and abs(times / 3 - round(times / 3)) < 1e-9:
                raise _Refused(
                    f'its "{name}" is {converted:g} {self.unit.name}, but the words say {each:g}: '
                    "give figures in SI units"
                )
        return converted


def _unit(entry: Mapping[str, Any], expression: str, tree: Node, figures: Iterable[Figure | None]) -> Unit:
    """The goal's unit. Raises _Refused when the expression gives another."""
    given = entry.get("unit")
    of_value = unit_of_value(tree)
    written = [figure.unit for figure in figures if figure is not None and figure.unit is not None]
    if isinstance(given, str) and given.strip():
        unit = read_unit(given)
    elif written:
        unit = read_unit(written[0])
        unit = Unit(name=unit.name, factor=unit.factor if unit.name == "%" else 1.0)
    else:
        unit = Unit(name=of_value or "", factor=1.0)
    if unit.name == "%":  # our expressions give shares, unless this one says otherwise
        return Unit(name="%", factor=1.0) if _TIMES_100.search(expression) else Unit(name="1", factor=0.01)
    if of_value is not None and unit.name and not _is_alike(unit.name, of_value):
        hint = (
            f"; for decibels write db( ) around the signal: max(db({_signal(tree)}))"
            if unit.name == "dB"
            else ""
        )
        raise _Refused(f"its expression {expression} gives {of_value}, but the goal is in {unit.name}{hint}")
    return unit


def _bounds(entry: Mapping[str, Any], figures: _Figures) -> tuple[float | None, float | None, float | None]:
    """Minimum, maximum and target, in the goal's unit. Raises _Refused."""
    low, high, target = figures.value("minimum"), figures.value("maximum"), figures.value("target")
    for name in ("range", "target", "minimum", "maximum"):
        if (upper := figures.upper(name)) is not None:
            low, high, target = figures.value(name), upper, None
    comparator = entry.get("comparator")
    meant = bound_of(comparator) if isinstance(comparator, str) else None
    if isinstance(comparator, str) and comparator.strip() and meant is None:
        raise _Refused(f"its comparator {_short(comparator)} is none of >=, <= and =")
    side = meant if meant in ("at_least", "at_most") else figures.bound("target") or figures.bound("range")
    if target is not None and side is not None and (low is None if side == "at_least" else high is None):
        low, high = (target, high) if side == "at_least" else (low, target)
        target = None if low is None or high is None else target
        if target in (low, high):
            target = None
    if target is not None and low is None and high is None:
        width = _width(entry, figures, target)
        low, high = _rounded(target - width), _rounded(target + width)
    _refuse_impossible(low, high, target)
    return low, high, target


def _refuse_impossible(low: float | None, high: float | None, target: float | None) -> None:
    if low is None and high is None:
        raise _Refused('it has no bound; give "minimum", "maximum", or a "target" with its "tolerance"')
    for bound in (low, high):
        if bound is not None and not abs(bound) < HUGE:
            raise _Refused("a bound is no finite number")
    if low is not None and high is not None and low >= high:
        raise _Refused(
            f"it can never be met: its minimum {low:g} is not below its maximum {high:g}"
            if low > high
            else f"no value is exactly {low:g}; give a range"
        )
    if target is not None and ((low is not None and target < low) or (high is not None and target > high)):
        raise _Refused(f"its target {target:g} lies outside its own bounds")


def _width(entry: Mapping[str, Any], figures: _Figures, target: float) -> float:
    """Half of the range around a target. Raises _Refused, BadFigureError."""
    tolerance = _figure(entry, "tolerance")
    name = figures.unit.name
    if tolerance is None or tolerance.value == 0:
        width = _USUAL_WIDTHS.get(name, abs(target) * _USUAL_SHARE)
        if not width:
            raise _Refused('nothing is within a share of a target of 0; give "minimum" and "maximum"')
        return width
    size = abs(tolerance.value)
    if tolerance.unit == "%":
        width = size * abs(target) if name != "%" else size * 100
    elif tolerance.unit is not None:
        if not _is_alike(tolerance.unit, name):
            raise _Refused(f'its "tolerance" is in {tolerance.unit}, but the goal is in {name}')
        width = size
    elif name in _USUAL_WIDTHS:
        width = size  # a share of decibels or degrees means nothing
    elif size < 1:
        width = size * abs(target)
    elif re.search(rf"(?<![\d.]){size:g}\s*(?:%|percent|％)|百分之{size:g}", figures.words):
        width = size / 100 * abs(target)
    else:
        raise _Refused(
            f'its "tolerance" {size:g} is no share such as 0.05 for 5 %; for one in {name or "its unit"} '
            'give "minimum" and "maximum"'
        )
    if not width > 0:
        raise _Refused('nothing is within a share of a target of 0; give "minimum" and "maximum"')
    return width


def _metric(given: object, tree: Node) -> str:
    """A short name: the given one where it can be one, else what is measured."""
    plain = re.sub(r"[\s./-]+", "_", _words(given, LONGEST_NAME)).strip("_")
    if _METRIC.fullmatch(plain):
        return plain
    return first_function(tree) or "goal"


def _weight_of(given: object) -> Literal["must", "wish"]:
    return "wish" if isinstance(given, str) and _WISHES.search(given[:_SHOWN]) else "must"


def _condition(given: object) -> str:
    if isinstance(given, dict):
        return "; ".join(
            f"{_words(name, 40)}: {_words(value, 60)}" for name, value in list(given.items())[:5]
        )
    if isinstance(given, list | tuple):
        return "; ".join(filter(None, (_words(each, 60) for each in given[:5])))[:_LONGEST_WORDS]
    return _words(given, _LONGEST_WORDS)


def _questions(given: object) -> Iterator[str]:
    items: Sequence[object] = given if isinstance(given, list | tuple) else [given]
    for item in items[:_MOST_QUESTIONS]:
        text = item.get("question", item.get("text")) if isinstance(item, Mapping) else item
        if question := _words(text, 500):
            yield question


# --- small parts -------------------------------------------------------------------------------------


def _writable(text: str) -> str:
    """Without half characters and control characters."""
    return visible(text.encode("utf-8", "replace").decode("utf-8"))


def _words(given: object, limit: int) -> str:
    """A text for people, in plain characters and within a length; "" for what is no text or number."""
    if isinstance(given, bool) or not isinstance(given, str | int | float):
        return ""
    text = str(given) if isinstance(given, str) else f"{given:g}" if abs(given) < HUGE else ""
    text = _writable(text[: 4 * limit])
    text = "\n".join(" ".join(line.split()) for line in text.splitlines()).strip()
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def _short(given: object) -> str:
    match given:
        case str():
            text = " ".join(given[: 2 * _SHOWN].split())
        case dict() | list():
            return "an object" if isinstance(given, dict) else "a list"
        case int() if not isinstance(given, bool) and abs(given) >= 10**18:
            return "a huge number"
        case None:
            return "?"
        case _:
            text = str(given)
    text = _writable(text)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."


def _is_false(given: object) -> bool:
    return given is False or (isinstance(given, str) and given.strip().lower() in ("false", "no", "否"))


def _is_alike(first: str, second: str) -> bool:
    """Whether both are one unit; a ratio is what V is where the source has an amplitude of 1."""
    ratios = ("1", "V", "")
    return first == second or (first in ratios and second in ratios) or "" in (first, second)


def _plain(expression: str) -> str:
    return "".join(expression.lower().split())


def _signal(tree: Node) -> str:
    if isinstance(tree, SignalRef):
        return tree.text
    return next((found for child in children(tree) if (found := _signal(child))), "")


def _larger(first: float | None, second: float | None) -> float | None:
    known = [each for each in (first, second) if each is not None]
    return max(known, default=None)


def _smaller(first: float | None, second: float | None) -> float | None:
    known = [each for each in (first, second) if each is not None]
    return min(known, default=None)


def _demand(goal: DesignGoal) -> str:
    bounds = (("at least", goal.minimum), ("at most", goal.maximum))
    return " and ".join(
        f"{word} {bound:g} {goal.unit}".rstrip() for word, bound in bounds if bound is not None
    )


def _written_as(text: str, value: float) -> bool:
    """Whether the figure in a text is this number, whatever unit follows: ``10 kHz`` and 10."""
    number = re.match(r"[-+]?[\d.]+", text)
    return number is not None and number[0].count(".") < 2 and float(number[0]) == abs(value)


def _rounded(value: float) -> float:
    """Without the noise that scaling leaves in the last digits."""
    return float(f"{value:.12g}")
