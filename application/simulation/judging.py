"""Goals held against a stored result: measured one by one where they can't be measured together."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from application.simulation.measuring import MeasureResult
from application.simulation.simulating import RunSimulation
from domain.simulation.goal_conditions import (
    AS_IT_IS,
    Settings,
    as_simulated,
    corner_in,
    corners_named,
    runs_of,
    settings_in_words,
)
from domain.simulation.goals import DesignGoal, GoalVerdict
from domain.simulation.result import Quantity
from shared.errors import CircuitAIError, CircuitError
from shared.message import Message, msg

_NOT_SIMULATED = "not_simulated"


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedGoal:
    """A goal's verdict; what was not measured is missed, with NaN and the reason."""

    verdict: GoalVerdict
    reason: Message | None = None
    is_judged: bool = True
    """False: no run was in the goal's condition, or had its analysis; it is neither met nor missed."""
    is_simulated: bool = True
    """False: a command of the circuit set what it would be measured from."""


async def judge(
    measure: MeasureResult,
    source: Path,
    goals: Sequence[DesignGoal],
    elsewhere: Mapping[Settings, Path | Message] | None = None,
    *,
    lacking: Collection[str] = (),
    own: Settings = AS_IT_IS,
    analysis: str = "",
) -> tuple[JudgedGoal, ...]:
    """The verdict on each goal by the data of `source` (see `MeasureResult`), a run of the circuit as it is,
    or with `own` values: then it judges only goals that have to hold with just these. With an `analysis`
    (a card) in place of the circuit's own it judges only goals that are measured by such an analysis.

    `elsewhere`: for the settings in which a goal has to hold the data of that run, or why there are none. Of
    several runs of a goal the worst counts. Without its run a goal is not judged; where its condition can't
    be simulated it is judged by `source`. `lacking`: corners the circuit does not have; what has to hold
    there is judged without them.
    """
    known: dict[Settings, Path | Message] = {**(elsewhere or {}), own: source}
    runs = {goal: runs_of(goal) or (AS_IT_IS,) for goal in goals}
    wanted: dict[Path, list[str]] = {}
    for goal in goals:
        for settings in runs[goal]:
            place = known.get(as_simulated(settings, lacking))
            if isinstance(place, Path):
                wanted.setdefault(place, []).append(goal.expression)
    found = {place: await _values(measure, place, list(dict.fromkeys(wanted[place]))) for place in wanted}

    def of_run(goal: DesignGoal, settings: Settings) -> JudgedGoal:
        settings = as_simulated(settings, lacking)
        place = known.get(settings)
        if isinstance(place, Path):
            judged = _judged(goal, found[place][goal.expression], analysis if place == source else "")
        else:
            wanted = msg("Not simulated with {settings}.", settings=settings_in_words(settings))
            given = msg("This run had {settings}.", settings=settings_in_words(own))
            missing = Quantity(value=math.nan, unit=goal.unit)
            judged = JudgedGoal(
                verdict=GoalVerdict(goal=goal, measured=missing, met=False),
                reason=place or (wanted if settings else given),
                is_judged=place is not None,
            )
        is_told = judged.reason is None and (len(runs[goal]) > 1 or corner_in(settings))
        told = settings_in_words(settings).removeprefix("corner=") if is_told else ""
        lacks = ", ".join(name for name in corners_named([goal]) if name in lacking)
        return replace(judged, verdict=replace(judged.verdict, judged_at=told, lacking=lacks))

    return tuple(_worst([of_run(goal, settings) for settings in runs[goal]]) for goal in goals)


async def lacking_corners(
    simulate: RunSimulation, circuit: Path, goals: Sequence[DesignGoal]
) -> frozenset[str]:
    """The corners goals have to hold in, that the libraries of `circuit` do not have."""
    wanted = corners_named(goals)
    return frozenset(wanted).difference(await simulate.process_corners(circuit) if wanted else ())


def _worst(judged: Sequence[JudgedGoal]) -> JudgedGoal:
    """The one that was not measured, or is the farthest beyond its bounds."""

    def badness(each: JudgedGoal) -> float:
        value = each.verdict.measured.value
        excess = each.verdict.goal.excess(value)
        return math.inf if math.isnan(value) else -math.inf if math.isnan(excess) else excess

    return max(judged, key=badness)


async def _values(
    measure: MeasureResult, source: Path, expressions: Sequence[str]
) -> dict[str, Quantity | CircuitAIError]:
    try:
        forged = await measure.set_by_commands(source, expressions)
        return {**await measure(source, expressions), **{each: _forged(forged[each]) for each in forged}}
    except CircuitAIError as error:  # a signal that one of them lacks is an error of the whole call
        if len(expressions) <= 1:
            return dict.fromkeys(expressions, error)
    values: dict[str, Quantity | CircuitAIError] = {}
    for text in expressions:
        values |= await _values(measure, source, [text])
    return values


def _forged(signal: str) -> CircuitError:
    """Of a figure that the simulator did not compute."""
    return CircuitError(
        msg(
            "{signal} is set by a command of the circuit (.control), so no analysis computed it.",
            signal=signal,
        ),
        advice=msg("Give what the commands compute a name of its own."),
        error_type=_NOT_SIMULATED,
    )


def _judged(goal: DesignGoal, found: Quantity | CircuitAIError, analysis: str) -> JudgedGoal:
    from domain.simulation.expressions import is_read_from

    if isinstance(found, Quantity) and (not analysis or is_read_from(goal.expression, analysis)):
        return JudgedGoal(verdict=GoalVerdict(goal=goal, measured=found, met=goal.is_met_by(found.value)))
    missing = Quantity(value=math.nan, unit=goal.unit)
    return JudgedGoal(
        verdict=GoalVerdict(goal=goal, measured=missing, met=False),
        reason=msg("This run had only the analysis {analysis}.", analysis=analysis)
        if isinstance(found, Quantity)
        else found.message,
        is_simulated=not (isinstance(found, CircuitAIError) and found.error_type == _NOT_SIMULATED),
        is_judged=not (
            analysis or (isinstance(found, CircuitAIError) and found.error_type == "missing_analysis")
        ),
    )
