"""A study as somebody fills it in: rows of parameters as texts, and the specification they stand for.

The specification is that of the command line (docs/studies.md), read by the same reader: what a page runs
gives the rows that the same document gives there.
"""

from __future__ import annotations

import contextlib
import fnmatch
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

from domain.circuit.numbers import format_number, parse_number
from domain.simulation.goals import DesignGoal
from shared.errors import CircuitAIError, UserInputError
from shared.message import Message, msg
from shared.setting import setting

SetupKind = Literal["sweep", "montecarlo", "corners", "worst-case", "sensitivity", "map", "optimize", "tune"]
SETUP_KINDS: tuple[SetupKind, ...] = get_args(SetupKind)
SCATTERED: frozenset[SetupKind] = frozenset({"montecarlo", "worst-case", "sensitivity"})
"""Whose rows have a tolerance; those of the others but the corners have a range."""
Meaning = Literal["bound", "sigma"]
RowDistribution = Literal["uniform", "normal", "lognormal"]
RowScale = Literal["lin", "log", "list", "E3", "E6", "E12", "E24", "E48", "E96", "E192"]
"""Of a range; "list": the values themselves."""
MAP_SCALES: tuple[RowScale, ...] = ("lin", "log")
"""Those of a map's axes."""
Sampling = Literal["random", "lhs"]
Method = Literal["both", "eva", "rss", "search"]
_PATTERN_SIGNS = "*?"
_PATTERN_LETTERS = "rclvi"
"""Elements that a pattern stands for, as in `StudyPlan`."""
_USUAL_FACTOR = 3.0
"""A range that nobody has given: from a third of the value to three times it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Adjustable:
    """A quantity of a circuit that a study can change."""

    name: str
    """As a specification takes it: ``R1``, ``m1.w``, a `.param`, ``temp``."""
    text: str
    """Its value as it is written."""
    value: float
    """SI; NaN where the circuit does not tell it."""
    letter: str = ""
    """Of an element's own value; "" for a parameter."""
    is_load: bool = False
    """It stands for what the circuit feeds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupRow:
    """Parameters that are changed alike, as texts."""

    pattern: str = ""
    """``R*`` for elements, else one name."""
    without: tuple[str, ...] = ()
    """Elements that fit and are left out."""
    tolerance: str = "5 %"
    meaning: Meaning = setting("bound", choices=get_args(Meaning))
    distribution: RowDistribution = setting("uniform", choices=get_args(RowDistribution))
    low: str = ""
    high: str = ""
    scale: RowScale = setting("log", choices=get_args(RowScale))
    points: str = ""
    """How many; "" = what the scale has by itself."""
    values: str = ""
    """Of the scale "list"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StudySetup:
    """One kind of study on one circuit, as it was filled in last."""

    rows: tuple[SetupRow, ...] = setting(tuple, parts=lambda: SetupRow)
    without: tuple[str, ...] = ()
    """Goals and measurements that are left out, by their metric."""
    added: tuple[str, ...] = ()
    """Expressions that are measured besides."""
    limits: Mapping[str, str] = field(default_factory=dict)
    """What is asked of metrics that no goal of the circuit has: ``>= 46``, ``9.7k..10.3k``."""
    runs: str = "500"
    seed: str = "1"
    sampling: Sampling = setting("random", choices=get_args(Sampling))
    at_corners: bool = False
    processes: str = ""
    """``TT, FF, SS``"""
    supply: str = ""
    """Name of the source or `.param`; "" = the circuit's one supply."""
    voltages: str = ""
    temperatures: str = ""
    method: Method = setting("both", choices=get_args(Method))
    objective: str = ""
    """A metric, "" = none."""
    maximizes: bool = False
    budget: str = "300"
    refine_s: str = "10"
    """How long borders of a map are made finer."""

    def with_corners_of(self, other: StudySetup) -> StudySetup:
        """The same at the corners of another one."""
        return replace(
            self,
            processes=other.processes,
            supply=other.supply,
            voltages=other.voltages,
            temperatures=other.temperatures,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """What a circuit can be measured by: a goal, or a `.meas` card."""

    name: str
    expression: str
    """"" for a `.meas` card."""
    goals: tuple[DesignGoal, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CircuitOffer:
    """What the studies of a circuit can be made of."""

    adjustables: tuple[Adjustable, ...] = ()
    metrics: tuple[Metric, ...] = ()
    sections: tuple[str, ...] = ()
    """Process sections of the libraries the circuit takes one of."""
    supplies: tuple[str, ...] = ()
    has_analysis: bool = True
    sha256: str = ""
    """Of the file that was looked at."""


def with_measurements(offer: CircuitOffer, expressions: Sequence[str]) -> CircuitOffer:
    """The same with expressions that somebody measures the circuit by besides."""
    known = {text for item in offer.metrics for text in (item.name, item.expression)}
    more = (Metric(name=text, expression=text) for text in dict.fromkeys(expressions) if text not in known)
    return replace(offer, metrics=(*offer.metrics, *more))


def fitting(pattern: str, offer: CircuitOffer) -> tuple[Adjustable, ...]:
    """What a row's pattern stands for: elements of the top level, or the one quantity it names."""
    wanted = pattern.strip().lower()
    if not any(sign in wanted for sign in _PATTERN_SIGNS):
        return tuple(item for item in offer.adjustables if item.name.lower() == wanted)[:1]
    return tuple(
        item
        for item in offer.adjustables
        if item.letter and item.letter in _PATTERN_LETTERS and fnmatch.fnmatchcase(item.name.lower(), wanted)
    )


def chosen(row: SetupRow, offer: CircuitOffer) -> tuple[Adjustable, ...]:
    """What of it is changed."""
    left_out = {name.lower() for name in row.without}
    return tuple(item for item in fitting(row.pattern, offer) if item.name.lower() not in left_out)


def percent(text: str) -> float | None:
    """The share a tolerance stands for: ``5 %`` is 0.05, a bare number is in percent; None for no number."""
    plain = text.replace("％", "%").strip().removesuffix("%").strip()
    try:
        value = float(plain.replace(",", "."))
    except ValueError:
        return None
    return value / 100 if 0 < value < 1000 else None


def number(text: str) -> float | None:
    """A value as SPICE writes it; None for anything else."""
    try:
        return parse_number("".join(text.split()))
    except ValueError:
        return None


def row_problem(kind: SetupKind, row: SetupRow, offer: CircuitOffer) -> Message | None:
    """Why nothing can be run with a row."""
    picked = chosen(row, offer)
    if not row.pattern.strip():
        return msg("Enter a name or a pattern such as R*.")
    if not fitting(row.pattern, offer):
        return msg("No part matches {pattern}.", pattern=row.pattern.strip())
    if not picked:
        return msg("No part is selected.")
    return _spread_problem(row, picked) if kind in SCATTERED else _range_problem(kind, row, picked)


def _spread_problem(row: SetupRow, picked: Sequence[Adjustable]) -> Message | None:
    unknown = next((item.name for item in picked if math.isnan(item.value)), None)
    if percent(row.tolerance) is None:
        return msg("Enter the tolerance in percent, such as 5 %.")
    if unknown is not None:
        return msg("{name} does not have a plain value in the circuit.", name=unknown)
    return None


def _range_problem(kind: SetupKind, row: SetupRow, picked: Sequence[Adjustable]) -> Message | None:
    if row.scale == "list":
        values = [number(text) for text in _listed(row.values)]
        is_list = bool(values) and None not in values
        return None if is_list else msg("Enter values separated by commas, such as 1k, 2.2k, 4.7k.")
    low, high = _ends(row, picked[0])
    if low is None or high is None:
        return msg("Enter the lower and the upper value, such as 1k and 10k.")
    if not low < high:
        return msg("The lower value must be less than the upper one.")
    if low <= 0 and row.scale != "lin":
        return msg("A {scale} scale needs values greater than 0.", scale=row.scale)
    if kind == "sweep" and row.points.strip() and _whole(row.points) is None:
        return msg("Enter a whole number of points.")
    return None


def _ends(row: SetupRow, item: Adjustable) -> tuple[float | None, float | None]:
    low, high = usual_ends(item)
    return number(row.low or low), number(row.high or high)


def usual_ends(item: Adjustable) -> tuple[str, str]:
    """A range around a value that nobody has given one; "" where the value is not known or 0."""
    if math.isnan(item.value) or not item.value:
        return "", ""
    ends = sorted((item.value / _USUAL_FACTOR, item.value * _USUAL_FACTOR))
    low, high = (format_number(value, 2) for value in ends)
    return low, high


def usual_scale(item: Adjustable) -> RowScale:
    """In which steps a quantity is chosen: from a series where it is a part that is bought."""
    if item.value <= 0 or math.isnan(item.value):
        return "lin"
    return {"r": "E24", "c": "E12", "l": "E12"}.get(item.letter, "log")  # type: ignore[return-value]


def setup_problem(kind: SetupKind, setup: StudySetup, offer: CircuitOffer) -> Message | None:
    """Why the study as a whole cannot be run; its rows have their own problems."""
    if not offer.has_analysis:
        return msg("The circuit does not have an analysis; add one such as .ac or .tran.")
    measured = _measured(setup, offer)
    if not measured and kind != "tune":  # whose curves are seen
        return msg("Nothing is measured: select a goal or a measurement, or add an expression.")
    limits = (limit_problem(setup.limits.get(metric, "")) for metric in measured)
    problem = next((each for each in limits if each is not None), None) or _figure_problem(kind, setup)
    if problem is not None:
        return problem
    if kind == "optimize" and not goal_entries(setup, offer) and not setup.objective:
        return msg("Nothing is asked for: select a goal, enter a limit, or choose what to minimize.")
    return _choice_problem(kind, setup, offer)


def _choice_problem(kind: SetupKind, setup: StudySetup, offer: CircuitOffer) -> Message | None:
    """What is missing of the quantities that are changed."""
    if kind == "corners":
        return _corner_problem(setup)
    if kind == "map":
        return _map_problem(setup, offer)
    return msg("Add a parameter.") if not setup.rows and kind != "sensitivity" else None


def _figure_problem(kind: SetupKind, setup: StudySetup) -> Message | None:
    """What is wrong with the whole numbers a kind needs."""
    if kind == "montecarlo" and _whole(setup.runs) is None:
        return msg("Enter a whole number of runs.")
    if kind in ("montecarlo", "optimize") and _whole(setup.seed, least=0) is None:
        return msg("The seed must be a whole number.")
    if kind == "optimize" and _whole(setup.budget) is None:
        return msg("Enter how many simulations may be run.")
    if kind == "map" and not (number(setup.refine_s) or 0) > 0:
        return msg("Enter the time for refinement in seconds.")
    return None


def _map_problem(setup: StudySetup, offer: CircuitOffer) -> Message | None:
    names = {item.name.lower() for row in setup.rows for item in chosen(row, offer)}
    if len(names) != 2:
        return msg("A map needs exactly two parameters; selected: {count}.", count=len(names))
    if not goal_entries(setup, offer):
        return msg("Nothing is asked for: select a goal or enter a limit.")
    return None


def _corner_problem(setup: StudySetup) -> Message | None:
    if not (setup.processes.strip() or setup.voltages.strip() or setup.temperatures.strip()):
        return msg("Enter processes, supply voltages or temperatures.")
    for text in (*_listed(setup.voltages), *_listed(setup.temperatures)):
        if number(text.removesuffix("%")) is None:
            return msg("{value} is not a number.", value=text)
    return None


def document_of(kind: SetupKind, setup: StudySetup, offer: CircuitOffer) -> dict[str, Any]:
    """The specification the filled-in page stands for, as the command line reads it from a file.

    Rows without a problem only (`row_problem`, `setup_problem`).
    """
    document: dict[str, Any] = {}
    if kind != "corners":
        parameters = [item for row in setup.rows for item in _parameters(kind, row, offer)]
        if parameters:
            document["parameters"] = list({each["name"].lower(): each for each in parameters}.values())
    measured = _measured(setup, offer)
    if measured:
        document["measure"] = measured
    goals = goal_entries(setup, offer)
    if goals:
        document["goals"] = goals
    if kind == "montecarlo":
        document |= {"runs": _whole(setup.runs), "sampling": setup.sampling}
    if kind in ("montecarlo", "optimize"):
        document["seed"] = _whole(setup.seed, least=0)
    if kind == "worst-case":
        document["method"] = setup.method
    if kind == "map":
        document["time_limit"] = number(setup.refine_s)
    if kind == "optimize":
        document["budget"] = _whole(setup.budget)
        if setup.objective:
            document["maximize" if setup.maximizes else "minimize"] = setup.objective
    has_corners = _corner_problem(setup) is None
    takes_corners = kind in ("sweep", "montecarlo", "optimize") or (
        kind == "worst-case" and setup.method == "search"
    )
    if kind == "corners" or (setup.at_corners and has_corners and takes_corners):
        document["corners"] = _corners(setup)
        if kind != "corners":
            document["at_corners"] = True
    return document


def _parameters(kind: SetupKind, row: SetupRow, offer: CircuitOffer) -> Iterator[dict[str, Any]]:
    for item in chosen(row, offer):
        if kind in SCATTERED:
            key = "sigma" if row.meaning == "sigma" else "tolerance"
            yield {"name": item.name, key: percent(row.tolerance), "distribution": row.distribution}
        elif row.scale == "list":
            yield {"name": item.name, "values": ["".join(text.split()) for text in _listed(row.values)]}
        else:
            low, high = usual_ends(item)
            found: dict[str, Any] = {
                "name": item.name,
                "min": "".join((row.low or low).split()),
                "max": "".join((row.high or high).split()),
                "scale": row.scale,
            }
            if kind == "sweep" and row.points.strip():
                found["points"] = _whole(row.points)
            yield found


def _measured(setup: StudySetup, offer: CircuitOffer) -> dict[str, str]:
    """Expression by metric; a `.meas` card stands for itself."""
    left_out = set(setup.without)
    found = {item.name: item.expression or item.name for item in offer.metrics if item.name not in left_out}
    return found | {text.strip(): text.strip() for text in setup.added if text.strip()}


def metrics_of(setup: StudySetup, offer: CircuitOffer) -> tuple[str, ...]:
    """The names of what is measured."""
    return tuple(_measured(setup, offer))


def goal_entries(setup: StudySetup, offer: CircuitOffer) -> list[dict[str, Any] | str]:
    """What is asked for, as a specification has it: goals of the circuit, then limits entered on the page."""
    chosen_goals = [goal for item in offer.metrics if item.name not in setup.without for goal in item.goals]
    asked = {goal.metric for goal in chosen_goals}
    limits = [
        _limit(metric, text)
        for metric in _measured(setup, offer)
        if metric not in asked and (text := setup.limits.get(metric, "").strip())
    ]
    return [*map(_goal, chosen_goals), *limits]


def _limit(metric: str, text: str) -> str:
    return f"{metric} {text}" if text[0] in "<>=≥≤" else f"{metric} = {text}"


def measured_and_limit(text: str) -> tuple[str, str]:
    """An expression and the limit that stands behind it: ``bandwidth(v(out)) 9.7k..10.3k``; "" for none.

    Raises CircuitAIError where it is neither.
    """
    from domain.simulation.expressions import compile_expression

    plain = text.strip()
    with contextlib.suppress(CircuitAIError):
        compile_expression(plain)
        return plain, ""
    for place in re.finditer(r"\s*(?=[<>=≥≤])|\s+", plain):
        expression, limit = plain[: place.start()], plain[place.end() :]
        with contextlib.suppress(CircuitAIError):
            if limit_problem(limit) is None:
                compile_expression(expression)
                return expression, limit
    compile_expression(plain)  # says what is amiss
    raise AssertionError(plain)


def limit_problem(text: str) -> Message | None:
    """Why a limit cannot be read; None for one that can, and for none."""
    from domain.studies.study_goals import read_goal

    if not text.strip():
        return None
    try:
        read_goal(_limit("x", text.strip()), "x")
    except UserInputError:
        return msg("Enter a limit such as >= 46, 9.7k..10.3k or 10k +- 300, not {value}.", value=text.strip())
    return None


def _goal(goal: DesignGoal) -> dict[str, Any]:
    bounds = {">=": goal.minimum, "<=": goal.maximum, "target": goal.target}
    given = {key: value for key, value in bounds.items() if value is not None}
    return {"metric": goal.metric, **given, "weight": goal.weight, "unit": goal.unit}


def _corners(setup: StudySetup) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if setup.processes.strip():
        found["process"] = list(_listed(setup.processes))
    if setup.voltages.strip():
        found["voltage"] = {setup.supply.strip(): list(_listed(setup.voltages))}
    if setup.temperatures.strip():
        found["temp"] = [number(text) for text in _listed(setup.temperatures)]
    return found


def _listed(text: str) -> tuple[str, ...]:
    pieces = text.replace("，", ",").replace(";", ",").replace("、", ",").split(",")
    return tuple(plain for piece in pieces if (plain := "".join(piece.split())))


def _whole(text: str, *, least: int = 1) -> int | None:
    plain = text.strip()
    return int(plain) if plain.isascii() and plain.isdigit() and least <= int(plain) <= 1_000_000 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class UsualSetups:
    """What a page begins with for a circuit nobody has studied yet."""

    offer: CircuitOffer
    former: Mapping[str, StudySetup] = field(default_factory=dict)
    """Set-ups of other kinds: what they measure is measured, with their limits (those of the same sort come
    first), and the parameters of one of the same sort are taken."""

    def of(self, kind: SetupKind) -> StudySetup:
        like = next(
            (each for name, each in self.former.items() if self._is_like(kind, name) and each.rows), None
        )
        others = [*self.former.values(), *([like] if like is not None else [])]
        setup = StudySetup(
            without=self._conditional(),
            added=tuple(dict.fromkeys(text for each in others for text in each.added)),
            limits={name: text for each in others for name, text in each.limits.items()},
        )
        if like is not None:
            return replace(setup, rows=like.rows, without=like.without)
        if kind in SCATTERED:
            letters = [item.letter for item in self.offer.adjustables]
            rows = [
                SetupRow(pattern=f"{letter.upper()}*", tolerance=tolerance)
                for letter, tolerance in (("r", "1 %"), ("c", "5 %"), ("l", "10 %"))
                if letter in letters
            ]
            return replace(setup, rows=tuple(rows or self._first(kind)))
        if kind == "corners":
            return replace(
                setup,
                processes=", ".join(self.offer.sections),
                supply=self.offer.supplies[0] if self.offer.supplies else "",
                voltages="-10 %, +0 %, +10 %" if self.offer.supplies else "",
                temperatures="-40, 27, 125",
            )
        return replace(setup, rows=tuple(self._first(kind)))

    def _is_like(self, kind: SetupKind, other: str) -> bool:
        ranged = {"optimize", "tune"}
        return (kind in SCATTERED and other in SCATTERED) or (kind in ranged and other in ranged)

    def _conditional(self) -> tuple[str, ...]:
        """Goals that hold at settings of their own: a study has others."""
        return tuple(
            item.name
            for item in self.offer.metrics
            if item.goals and all(goal.condition for goal in item.goals)
        )

    def _first(self, kind: SetupKind) -> list[SetupRow]:
        parts = [item for item in self.offer.adjustables if item.letter in ("r", "c", "l") and item.value > 0]
        parts = [item for item in parts if not item.is_load] or parts
        parts = parts or [
            item for item in self.offer.adjustables if not math.isnan(item.value) and item.value
        ]
        count = {"sweep": 1, "map": 2}.get(kind, 3)
        return [row_for(item, kind) for item in parts[:count]]


def row_for(item: Adjustable, kind: SetupKind) -> SetupRow:
    """A row for one quantity, with a range around its value."""
    low, high = usual_ends(item)
    scale = usual_scale(item)
    if kind in ("sweep", "map") and item.value > 0:
        scale = "log"
    points = "11" if kind == "sweep" else ""
    return SetupRow(pattern=item.name, low=low, high=high, scale=scale, points=points)
