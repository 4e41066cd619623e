"""Goals while a person writes them: the texts of a row, and the same as a text of several lines.

What is not touched keeps its exact value, whatever the rounded figure on the screen says.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from domain.simulation.expression_syntax import parse
from domain.simulation.goals import DesignGoal
from presentation.figures import number
from presentation.goal_margins import is_share, limit_parts, typeset
from shared.errors import CircuitAIError
from shared.message import Message, msg

Operator = Literal["=", "≤", "≥", "…"]
OPERATORS: tuple[Operator, ...] = ("=", "≤", "≥", "…")
"""Equal within the tolerance, at most, at least, between two."""
Weight = Literal["must", "wish"]
Cell = Literal["metric", "expression", "limit", "tolerance"]

_TYPED: Mapping[str, Operator] = {"<=": "≤", ">=": "≥", "<": "≤", ">": "≥", "==": "=", "between": "…"}
_PREFIXES = {
    "f": 1e-15, "p": 1e-12, "n": 1e-9, "u": 1e-6, "µ": 1e-6, "μ": 1e-6, "m": 1e-3,
    "k": 1e3, "K": 1e3, "M": 1e6, "Meg": 1e6, "meg": 1e6, "MEG": 1e6, "G": 1e9, "T": 1e12,
}  # fmt: skip
_UNITS = {
    **{unit: unit for unit in ("Hz", "V", "A", "F", "H", "s", "dB", "deg", "W", "Ω", "V/s")},
    "°": "deg", "Ohm": "Ω", "ohm": "Ω", "hz": "Hz", "db": "dB",
}  # fmt: skip
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")
_TOLERANCE_IN_UNIT = 0.05
"""Of a goal "=" without a tolerance: 5 %."""


class BadGoal(Exception):
    """What can't be taken as a goal: which cell, and what to do."""

    def __init__(self, cell: Cell, message: Message) -> None:
        super().__init__(str(message))
        self.cell = cell
        self.message = message


class BadText(Exception):
    """A text that is no list of goals: the line (from 1), and what to do."""

    def __init__(self, line: int, message: Message) -> None:
        super().__init__(f"line {line}: {message}")
        self.line = line
        self.message = message


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalDraft:
    """One goal as texts."""

    metric: str = ""
    expression: str = ""
    operator: Operator = "≤"
    limit: str = ""
    tolerance: str = ""
    weight: Weight = "must"
    is_wanted: bool = True
    original: DesignGoal | None = None
    """What it was made from; None for one that was added."""
    unit: str = ""
    """Of what is measured, where that is known of an added one."""

    @classmethod
    def of(cls, goal: DesignGoal) -> GoalDraft:
        relation, limit, tolerance = limit_parts(goal)
        operator: Operator = {"=": "=", "≤": "≤", "≥": "≥"}.get(relation, "…")  # type: ignore[assignment]
        return cls(
            metric=goal.metric,
            expression=goal.expression,
            operator=operator,
            limit=limit,
            tolerance=tolerance,
            weight=goal.weight,
            original=goal,
        )

    @property
    def is_changed(self) -> bool:
        """Whether it asks for something else than what it was made from."""
        return self.original is None or replace(self, is_wanted=True) != replace(
            GoalDraft.of(self.original), weight=self.weight
        )

    def goal(self) -> DesignGoal:
        metric, expression = self.metric.strip(), self.expression.strip()
        if not metric:
            raise BadGoal("metric", msg("Give the goal a short name, for example cutoff."))
        _check_expression(expression)
        if self.original is not None and not self.is_changed:
            return replace(self.original, weight=self.weight)
        unit, low, high, target = self._bounds()
        return DesignGoal(
            metric=metric,
            expression=expression,
            unit=unit,
            minimum=low,
            maximum=high,
            target=target,
            weight=self.weight,
            words=self.original.words if self.original is not None else "",
            condition=self.original.condition if self.original is not None else "",
        )

    def _bounds(self) -> tuple[str, float | None, float | None, float | None]:
        known = self.original.unit if self.original is not None else self.unit or None
        if self.operator == "…":
            low_text, separator, high_text = re.sub(r"\.\.\.|~", "…", self.limit).partition("…")
            if not separator:
                raise BadGoal(
                    "limit", msg("Write two limits with … between them, for example 4.9 V … 5.1 V.")
                )
            high, unit = read_figure(high_text, known)
            low, _ = read_figure(low_text, unit)
            if low >= high:
                raise BadGoal("limit", msg("The first limit must be the smaller one."))
            return unit, low, high, None
        value, unit = read_figure(self.limit, known)
        if value > 1 and "%" not in self.limit and self.original is not None and is_share(self.original):
            value /= 100  # it was shown in percent
        if self.operator == "≤":
            return unit, None, value, None
        if self.operator == "≥":
            return unit, value, None, None
        width = _width(self.tolerance, value, unit)
        return unit, value - width, value + width, value


def _check_expression(expression: str) -> None:
    if not expression:
        raise BadGoal("expression", msg("Specify what is measured, for example max(db(v(out)))."))
    try:
        parse(expression)
    except CircuitAIError as error:
        raise BadGoal("expression", error.message) from error


def read_figure(text: str, unit: str | None = None) -> tuple[float, str]:
    """``10 kHz`` as (10000.0, "Hz"). With `unit` given a bare number has that one, and no other is taken.

    SI prefixes: m is milli, M mega. Raises BadGoal.
    """
    plain = text.replace("\u00a0", " ").replace("−", "-").replace(",", ".").strip()
    found = _NUMBER.match(plain)
    if found is None or not math.isfinite(float(found[0])):
        raise BadGoal("limit", msg("Enter a number with its unit, for example 10 kHz or 0.1 dB."))
    value, rest = float(found[0]), plain[found.end() :].strip()
    if unit == "1" and rest == "%":
        return value / 100, unit
    wanted = ("", unit) if unit is not None else ("", *_UNITS)
    for prefix, factor in (("", 1.0), *_PREFIXES.items()):
        named = rest.removeprefix(prefix)
        if (rest.startswith(prefix)) and (
            named in wanted or _UNITS.get(named, "") == (_UNITS.get(unit, unit) if unit else ())
        ):
            if unit in ("dB", "deg", "%") and prefix:
                continue
            return value * factor, unit if unit is not None else _UNITS.get(named, "1")
    if unit is not None:
        example = "0.5" if unit == "1" else f"0.5 {_UNITS.get(unit, unit)}"
        raise BadGoal("limit", msg("“{text}” is not a unit of this goal; write it as {example}.", text=rest,
                                   example=example))  # fmt: skip
    raise BadGoal("limit", msg("Unknown unit “{text}”. Use Hz, V, A, s, dB, deg, Ω or none.", text=rest))


def _width(text: str, value: float, unit: str) -> float:
    plain = text.replace("\u00a0", " ").strip().lstrip("±").removeprefix("+/-").removeprefix("+-").strip()
    if not plain:
        share = _TOLERANCE_IN_UNIT
        width = abs(value) * share
    elif plain.endswith("%") and unit != "%":
        try:
            width = abs(value) * float(plain[:-1].replace(",", ".")) / 100
        except ValueError:
            raise BadGoal("tolerance", msg("Write the tolerance as ±2 % or in the goal's unit.")) from None
    else:
        try:
            width, _ = read_figure(plain, unit)
        except BadGoal:
            raise BadGoal("tolerance", msg("Write the tolerance as ±2 % or in the goal's unit.")) from None
    if not width > 0:
        raise BadGoal("tolerance", msg("The tolerance must be greater than zero: no value is met exactly."))
    return width


def draft_of_measurement(
    name: str, expression: str, value: float, unit: str, taken: Collection[str]
) -> GoalDraft:
    """A goal that a measured value (SI) just meets, to be written on; `taken`: names of other goals.

    A `.meas` has no expression: what it measures has to be said.
    """
    functions = [word for word in _FUNCTION.findall(expression) if word not in _NO_NAMES]
    metric = functions[0] if functions else name if _PLAIN_NAME.fullmatch(name) else ""
    number_of = 2
    wanted = metric
    while metric in taken:
        metric, number_of = f"{wanted}_{number_of}", number_of + 1
    one_sided = _better_side(functions[0]) if functions else None
    if one_sided is not None and value:
        return GoalDraft(
            metric=metric,
            expression=expression,
            operator=one_sided,
            limit=typeset(number(_just_met(value, upwards=one_sided == "≤"), unit)),
            tolerance="",
            unit=unit,
        )
    width = _USUAL_WIDTHS.get(unit)
    if width is not None:  # of these zero is a value like any other
        value = round(value, 2) + 0.0
    # Nothing is within a share of zero.
    is_around = width is not None or value != 0
    tolerance = "±5\u00a0%" if width is None else f"±{typeset(number(width, unit))}"
    return GoalDraft(
        metric=metric,
        expression=expression,
        operator="=" if is_around else "≤",
        limit=typeset(number(value, unit)),
        tolerance=tolerance if is_around else "",
        unit=unit,
    )


def _just_met(value: float, *, upwards: bool) -> float:
    """The nearest round limit (two digits) on the side that the value meets."""
    step = 10.0 ** (math.floor(math.log10(abs(value))) - 1)
    steps = value / step
    return float(f"{(math.ceil(steps - 1e-9) if upwards else math.floor(steps + 1e-9)) * step:.2g}")


_AT_LEAST = frozenset((
    "bandwidth", "phase_margin", "gain_margin", "snr", "sinad", "enob", "sfdr", "ugf", "slew_rate"
))  # fmt: skip
_AT_MOST = frozenset((
    "thd", "thdn", "overshoot", "undershoot", "settling_time", "rise_time", "fall_time", "ripple",
    "noise_total", "peaking"
))  # fmt: skip


def _better_side(function: str) -> Operator | None:
    """Which limit a measurement has of which more, or less, is simply better."""
    if function in _AT_LEAST:
        return "≥"
    return "≤" if function in _AT_MOST else None


_USUAL_WIDTHS = {"dB": 0.5, "deg": 5.0, "%": 1.0}


_FUNCTION = re.compile(r"([a-z_]\w*)\(")
_PLAIN_NAME = re.compile(r"[A-Za-z_]\w*")
_NO_NAMES = frozenset({"v", "i", "vdb", "vp", "vm", "db", "mag", "ph", "tran", "abs"})
"""Functions that say how something is told, not what is measured."""


def goals_of(drafts: Sequence[GoalDraft], *, needs_must: bool = True) -> tuple[DesignGoal, ...]:
    """The goals that are wanted. Raises BadGoal: one that is wrong, names twice, no must left."""
    goals: list[DesignGoal] = []
    for draft in drafts:
        if not draft.is_wanted:
            continue
        goal = draft.goal()
        if any(goal.metric == other.metric for other in goals):
            raise BadGoal("metric", msg("Two goals are called {name}; rename one.", name=goal.metric))
        goals.append(goal)
    if needs_must and not any(goal.weight == "must" for goal in goals):
        raise BadGoal(
            "metric", msg("At least one goal must be a “must”: it decides when the design is finished.")
        )
    return tuple(goals)


# --- as text ----------------------------------------------------------------------------------------


def text_of(drafts: Sequence[GoalDraft]) -> str:
    rows = [
        json.dumps(
            {
                "goal": draft.metric,
                "measure": draft.expression,
                "limit": f"{draft.operator} {draft.limit}".replace("\u00a0", " "),
                "tolerance": draft.tolerance.replace("\u00a0", " "),
                "weight": draft.weight,
            },
            ensure_ascii=False,
        )
        for draft in drafts
        if draft.is_wanted
    ]
    return "[\n  " + ",\n  ".join(rows) + "\n]\n"


def drafts_of(text: str, before: Sequence[GoalDraft], *, needs_must: bool = True) -> tuple[GoalDraft, ...]:
    """The goals a text names; one that was there `before` keeps where it came from. Raises BadText."""
    known = {(draft.metric, draft.expression): draft for draft in before}
    found: list[GoalDraft] = []
    for line, entry in _entries(text):
        draft = _draft_of(line, entry, known)
        try:
            draft.goal()
        except BadGoal as error:
            raise BadText(line, error.message) from error
        found.append(draft)
    try:
        goals_of(found, needs_must=needs_must)
    except BadGoal as error:
        raise BadText(1, error.message) from error
    return tuple(found)


def _entries(text: str) -> list[tuple[int, Any]]:
    """Each entry of the list with the line it begins in."""
    decoder = json.JSONDecoder()
    place = _skip(text, 0)
    if text[place : place + 1] != "[":
        raise BadText(_line(text, place), msg("The text must begin with [ and hold one goal per line."))
    found: list[tuple[int, Any]] = []
    place = _skip(text, place + 1)
    while text[place : place + 1] != "]":
        try:
            entry, end = decoder.raw_decode(text, place)
        except json.JSONDecodeError as error:
            raise BadText(error.lineno, _json_advice(error)) from error
        found.append((_line(text, place), entry))
        place = _skip(text, end)
        if text[place : place + 1] == ",":
            place = _skip(text, place + 1)
        elif text[place : place + 1] != "]":
            raise BadText(_line(text, place), msg("A comma is missing between two goals, or a ] at the end."))
    rest = _skip(text, place + 1)
    if rest < len(text):
        raise BadText(_line(text, rest), msg("Nothing may follow the closing ]."))
    return found


def _json_advice(error: json.JSONDecodeError) -> Message:
    if "quotes" in error.msg:
        return msg('A name must be in double quotes, for example "goal".')
    if "delimiter" in error.msg:
        return msg("A comma or a colon is missing before column {column}.", column=error.colno)
    return msg(
        "Not valid JSON from column {column} on; check for a missing quote or brace.", column=error.colno
    )


def _draft_of(line: int, entry: Any, known: Mapping[tuple[str, str], GoalDraft]) -> GoalDraft:
    names = ("goal", "measure", "limit", "tolerance", "weight")
    if not isinstance(entry, dict):
        raise BadText(line, _shape())
    unknown = next((name for name in entry if name not in names), None)
    if unknown is not None:
        raise BadText(line, msg("Unknown name “{name}”; use {names}.", name=unknown, names=", ".join(names)))
    wrong = next((name for name, value in entry.items() if not isinstance(value, str)), None)
    if wrong is not None:
        raise BadText(line, msg("“{name}” must be text in quotes.", name=wrong))
    weight = entry.get("weight", "must")
    if weight not in ("must", "wish"):
        raise BadText(line, msg("The weight is must or wish, not “{text}”.", text=weight))
    operator, limit = _split_limit(line, entry.get("limit", ""))
    before = known.get((entry.get("goal", ""), entry.get("measure", "")))
    if before is not None:
        same = (before.operator, *(text.replace("\u00a0", " ") for text in (before.limit, before.tolerance)))
        if same == (operator, limit, entry.get("tolerance", "")):
            return replace(before, weight=weight, is_wanted=True)
    return GoalDraft(
        metric=entry.get("goal", ""),
        expression=entry.get("measure", ""),
        operator=operator,
        limit=limit,
        tolerance=entry.get("tolerance", ""),
        weight=weight,
        original=None if before is None else before.original,
        unit="" if before is None else before.unit,
    )


def _shape() -> Message:
    return msg("Each goal is an object in braces with the keys goal, measure, limit, tolerance and weight.")


def _split_limit(line: int, text: str) -> tuple[Operator, str]:
    plain = text.strip()
    for sign in (*OPERATORS, *_TYPED):
        if plain.startswith(sign):
            typed = _TYPED.get(sign)
            return typed if typed is not None else sign, plain[len(sign) :].strip()  # type: ignore[return-value]
    raise BadText(line, msg("A limit begins with =, <=, >= or …, for example “<= 0.1 dB”."))


def _skip(text: str, place: int) -> int:
    while place < len(text) and text[place].isspace():
        place += 1
    return place


def _line(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1
