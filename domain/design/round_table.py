"""A round held against its goals: the table that people and models read, and where the rounds are going.

Pure. Values are SI numbers in the goal's unit. A margin is positive where there is room to the nearer
bound and negative where the goal is missed, whichever side the bound is on.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from domain.circuit.figures import NOT_MEASURED, beside, digits_apart, with_unit
from domain.simulation.goal_conditions import judged_in_words
from domain.simulation.goals import DesignGoal, GoalVerdict, total_shortfall
from domain.simulation.result import Quantity

Course = Literal["better", "worse", "same", "new"]
Direction = Literal["first", "improving", "stagnant", "worse"]

_SAME_SHARE = 1e-3
"""A margin that moved by less than this share of its limit, or of the tolerance, is the same."""
_LEAST_GAIN = 0.01
"""A round is better when what is missing, or the room that is left, changed by this share."""
_DIGITS = 5
_NO_CELL = str.maketrans("|\r\n", "/  ")
"""What would end a cell of a table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRow:
    """One goal: what was asked, what was measured, and how that compares with the rounds before."""

    goal: DesignGoal
    value: float
    """NaN when it was not measured."""
    unit: str
    """Of the value and all that is compared with it."""
    met: bool
    margin: float | None
    """To the nearer bound, in the goal's unit; None when it can't be said."""
    margin_share: float | None
    """Of the bound; of the tolerance where there are two (`DesignGoal.margin`)."""
    last: float | None = None
    """In the round before; None where that round did not have this goal or did not measure it."""
    best: float | None = None
    """In the best round, likewise."""
    earlier: tuple[float, ...] = ()
    """In all rounds before, the first one first; without those that did not measure it."""
    change: float | None = None
    """The value less the last one."""
    judged: str = ""
    """Behind its condition: in which run (`goal_conditions.judged_in_words`)."""
    course: Course = "new"
    """Against the round before, by the margin; "new" where that round did not have this goal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """Where the rounds are going.

    A round stands as far from the goals as `total_shortfall` says (a missed wish counts a tenth); where
    everything is met, the smallest margin says how well. It is a gain when it stands at least 1 % nearer
    than every round before it: what is missing by a value shrank by that share, the last goal was met, or the
    smallest margin grew by that share.

    - improving: the newest round is a gain;
    - worse: it is not, and stands more than 1 % behind the round before it;
    - stagnant: neither. A design stagnates for as many rounds as `without_gain` says.

    Only rounds that were judged by the demands of the newest one are compared.
    """

    direction: Direction
    rounds: int
    """Over how many rounds: gains in a row while improving, else rounds since the last gain; 0 at first."""
    without_gain: int
    """Rounds since the last gain; 0 when the newest one is one."""
    standings: tuple[float, ...]
    """Of the rounds that were compared, the newest last: what is missing, or less the smallest margin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundTable:
    """The rows of a round; `trend` where the rounds before it are known."""

    number: int
    """Of the round, from 0 (an existing circuit) or 1."""
    rows: tuple[TableRow, ...]
    trend: Trend | None = None

    def markdown(self) -> str:
        """The table for a model: compact, English, with the digits that tell value, limit and last apart."""
        lines = [
            f"Round {self.number}. Margin: + room, - missing; in % of the limit, or of half the range.",
            "| goal | asked | value | margin | last | change | state |",
            "|---|---|---|---|---|---|---|",
            *(f"| {' | '.join(_cells(row))} |" for row in self.rows),
        ]
        if self.trend is not None:
            lines.append(f"Trend: {_trend_words(self.trend)}.")
        return "\n".join(lines)


def round_table(
    number: int,
    goals: Sequence[DesignGoal],
    verdicts: Iterable[GoalVerdict],
    *,
    last: Iterable[GoalVerdict] = (),
    best: Iterable[GoalVerdict] = (),
    rounds: Sequence[Sequence[GoalVerdict]] = (),
) -> RoundTable:
    """The table of a round: a row for each goal, whether or not it was measured.

    `last` and `best` are the verdicts of the round before and of the best one so far; `rounds` those of
    all rounds, this one last, for the trend.
    """
    now, before, top = tuple(verdicts), tuple(last), tuple(best)
    return RoundTable(
        number=number,
        rows=tuple(_row(goal, now, before, top, rounds[:-1]) for goal in goals),
        trend=trend(rounds) if rounds else None,
    )


def _row(
    goal: DesignGoal,
    now: Sequence[GoalVerdict],
    before: Sequence[GoalVerdict],
    best: Sequence[GoalVerdict],
    rounds: Sequence[Sequence[GoalVerdict]],
) -> TableRow:
    found = _of(now, goal)
    value = math.nan if found is None else found.measured.value
    unit = goal.unit if found is None else found.measured.unit or goal.unit
    earlier, top = _of(before, goal), _of(best, goal)
    last = None if earlier is None else _known(earlier.measured.value)
    excess = goal.excess(value)
    return TableRow(
        goal=goal,
        value=value,
        unit=unit,
        met=goal.is_met_by(value),
        judged=judged_in_words(goal, found),
        margin=-excess if math.isfinite(excess) else None,
        margin_share=goal.margin(value),
        last=last,
        best=None if top is None else _known(top.measured.value),
        earlier=tuple(
            found.measured.value
            for verdicts in rounds
            if (found := _of(verdicts, goal)) is not None and math.isfinite(found.measured.value)
        ),
        change=value - last if last is not None and math.isfinite(value) else None,
        course="new" if earlier is None else _course(goal, value, last),
    )


def _of(verdicts: Iterable[GoalVerdict], goal: DesignGoal) -> GoalVerdict | None:
    """What a round measured of a goal; its bounds may have been others then, its quantity not."""
    mine = (goal.metric, goal.expression, goal.unit)
    return next(
        (each for each in verdicts if (each.goal.metric, each.goal.expression, each.goal.unit) == mine), None
    )


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _course(goal: DesignGoal, value: float, last: float | None) -> Course:
    if last is None or not math.isfinite(value):
        if last is None and not math.isfinite(value):
            return "same"
        return "better" if last is None else "worse"
    if goal.is_met_by(value) != goal.is_met_by(last):
        return "better" if goal.is_met_by(value) else "worse"
    gained = goal.excess(last) - goal.excess(value)
    share, earlier = goal.margin(value), goal.margin(last)
    if share is not None and earlier is not None:
        is_same = abs(share - earlier) < _SAME_SHARE
    else:
        is_same = abs(value - last) <= _SAME_SHARE * max(abs(value), abs(last))
    if is_same or math.isnan(gained):  # a goal without bounds cannot get better
        return "same"
    return "better" if gained > 0 else "worse"


def trend(rounds: Sequence[Sequence[GoalVerdict]]) -> Trend:
    """Where the rounds (their verdicts, the newest last) are going. Raises ValueError without any."""
    if not rounds:
        raise ValueError("there is no round yet")
    compared = _comparable(rounds)
    standings = tuple(_standing(verdicts) for verdicts in compared)
    steps = [_step(*pair) for pair in zip(compared, standings, strict=True)]
    gains = []
    for place in range(1, len(standings)):
        best = min(range(place), key=standings.__getitem__)
        gains.append(standings[place] < standings[best] - steps[best])
    without = next((count for count, is_gain in enumerate(reversed(gains)) if is_gain), len(gains))
    direction: Direction
    if not gains:
        direction, count = "first", 0
    elif gains[-1]:
        direction = "improving"
        count = next((count for count, is_gain in enumerate(reversed(gains)) if not is_gain), len(gains))
    else:
        before = standings[-2]
        direction, count = ("worse" if standings[-1] > before + steps[-2] else "stagnant"), without
    return Trend(direction=direction, rounds=count, without_gain=without, standings=standings)


def _comparable(rounds: Sequence[Sequence[GoalVerdict]]) -> list[Sequence[GoalVerdict]]:
    """Those at the end that were held against the same demands as the newest."""
    asked = [verdict.goal for verdict in rounds[-1]]
    found: list[Sequence[GoalVerdict]] = []
    for verdicts in reversed(rounds):
        goals = [verdict.goal for verdict in verdicts]
        same = len(goals) == len(asked) and all(
            one.is_same_demand(other) and one.weight == other.weight
            for one, other in zip(goals, asked, strict=True)
        )
        if not same:
            break
        found.append(verdicts)
    return found[::-1]


def _standing(verdicts: Sequence[GoalVerdict]) -> float:
    """How far a round is from its goals; the smaller, the better."""
    missing = total_shortfall(verdicts)
    if missing > 0:
        return missing
    margins = (verdict.goal.margin(verdict.measured.value) for verdict in verdicts)
    return -min((margin for margin in margins if margin is not None), default=0.0)


def _step(verdicts: Sequence[GoalVerdict], standing: float) -> float:
    """What is a gain on a round: a share of what it misses by values; a goal without one hides none."""
    missing = total_shortfall(each for each in verdicts if not math.isnan(each.measured.value))
    return _LEAST_GAIN * abs(missing if missing > 0 else standing) + 1e-12


def _cells(row: TableRow) -> tuple[str, ...]:
    goal = row.goal
    value, digits = value_beside_limit(goal, Quantity(value=row.value, unit=row.unit), _DIGITS)
    wish = " (wish)" if goal.weight == "wish" else ""
    last = "-" if row.course == "new" else NOT_MEASURED
    if row.last is not None:
        others = () if row.course == "same" else (row.value,)
        many = digits_apart(row.last, others, lambda each, count: with_unit(each, row.unit, count), _DIGITS)
        last = with_unit(row.last, row.unit, many)
    margin = "-" if row.margin is None else signed(row.margin, row.unit)
    if row.margin is not None and row.margin_share is not None:
        margin += f" ({signed(100 * row.margin_share, '%', 3)})"
    change = "-" if row.change is None else signed(row.change, row.unit)
    state = "met" if row.met else "MISSED"
    condition = f" {goal.condition.translate(_NO_CELL)}{row.judged}" if goal.condition else ""
    return (
        f"{goal.metric.translate(_NO_CELL)}{wish}",
        asked(goal, digits, row.unit) + condition,
        value,
        margin,
        last,
        change,
        f"{state}, {row.course}",
    )


def value_beside_limit(goal: DesignGoal, measured: Quantity, digits: int = 4) -> tuple[str, int]:
    """A value in plain text, and the digits to show its limits with (`beside`); "not measured" for NaN."""
    if math.isnan(measured.value):
        return NOT_MEASURED, digits
    unit = measured.unit or goal.unit
    return beside(
        measured.value, (goal.minimum, goal.maximum), lambda each, count: with_unit(each, unit, count), digits
    )


def asked(goal: DesignGoal, digits: int = 4, unit: str = "") -> str:
    """What a goal asks for in plain text: ``980 Hz … 1.02 kHz, aim 1 kHz``, ``≥ 40 dB``."""
    unit = unit or goal.unit
    low, high = (
        "" if bound is None else with_unit(bound, unit, digits) for bound in (goal.minimum, goal.maximum)
    )
    text = f"{low} … {high}" if low and high else f"≥ {low}" if low else f"≤ {high}" if high else "-"
    if low and high and goal.target is not None:
        text += f", aim {with_unit(goal.target, unit, digits)}"
    return text


def signed(value: float, unit: str, digits: int = 4) -> str:
    """``+30 Hz``, ``-2.9 %``."""
    return f"{'+' if value > 0 else ''}{with_unit(value, unit, digits)}"


def _trend_words(found: Trend) -> str:
    over = f"{found.rounds} round{'' if found.rounds == 1 else 's'}"
    match found.direction:
        case "first":
            return "first round with these goals"
        case "improving":
            return f"improving over {over}"
        case "worse":
            return f"worse than the round before, no gain for {over}"
        case _:
            return f"stagnant, no gain for {over}"
