"""What each value of a circuit does to one goal: two runs for each, on a circuit that stays loaded."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from application.optimization.tuning import TuneRequest
from domain.simulation.goals import DesignGoal
from domain.studies.influence import SHARE, Influence, Influences, PlacedValue
from domain.studies.sensitivity import sensitivity_of
from domain.studies.study_spec import read_study_spec
from shared.errors import UserInputError
from shared.message import msg
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from application.optimization.tuning import LiveTuning, TuneCircuit

BUDGET_S = 5.0
"""How long all runs together may take; values that do not fit are left out, and counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InfluenceRequest:
    """What a caller asks for."""

    circuit: Path
    goal: DesignGoal
    values: Sequence[PlacedValue]
    """The numbers that are moved, each alone."""
    budget_s: float = BUDGET_S


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FindInfluence:
    """The use case. Cancelled it ends its worker at once."""

    tune: TuneCircuit

    async def __call__(self, request: InfluenceRequest) -> Influences:
        """Measure the goal with each value a little lower and a little higher.

        One run first tells how many fit into the budget. Raises UserInputError for a goal that cannot be
        measured on the circuit as it is, else as `TuneCircuit`.
        """
        if not request.values:
            return Influences(found=(), runs=0)
        goal = request.goal
        document = {
            "parameters": [{"name": each.name} for each in request.values],
            "measure": {goal.metric: goal.expression or goal.metric},
        }
        spec = await off_loop(read_study_spec, document)
        async with self.tune(TuneRequest(circuit=request.circuit, spec=spec)) as tuning:
            return await _found(tuning, request)


async def _found(tuning: LiveTuning, request: InfluenceRequest) -> Influences:
    started = time.monotonic()
    at_rest = await _measured(tuning, request.goal.metric, {})
    if not math.isfinite(at_rest):
        raise not_measured(request.goal.metric, request.circuit)
    if not at_rest:
        raise UserInputError(
            msg("{metric} is 0 on the circuit as it is: a percentage of it has no meaning.",
                metric=request.goal.metric),
            file=request.circuit,
        )  # fmt: skip
    return await influences_on(
        tuning,
        request.goal.metric,
        request.values,
        at_rest=at_rest,
        started=started,
        budget_s=request.budget_s,
    )


async def influences_on(
    tuning: LiveTuning,
    metric: str,
    values: Sequence[PlacedValue],
    *,
    at_rest: float,
    started: float,
    budget_s: float,
) -> Influences:
    """What each value does to a measurement of a loaded circuit, as far as the time since `started`
    (`time.monotonic`, before the one run that measured `at_rest`) suffices."""
    run_s = time.monotonic() - started
    found: list[Influence] = []
    for each in values:
        if time.monotonic() - started + 2 * run_s > budget_s:
            break
        ends = tuple([
            (moved, await _measured(tuning, metric, {each.name: moved}))
            for moved in (each.value * (1 - SHARE), each.value * (1 + SHARE))
        ])  # fmt: skip
        item = sensitivity_of(each.name, each.value, (ends[0], ends[1]), metric=at_rest, tolerance=None)
        found.append(
            Influence(name=each.name, line=each.line, percent=item.normalised, slope=item.slope * each.value)
        )
    return Influences(found=tuple(found), runs=1 + 2 * len(found), left_out=len(values) - len(found))


def not_measured(metric: str, circuit: Path) -> UserInputError:
    """The circuit has no such figure."""
    return UserInputError(
        msg("{metric} could not be measured on the circuit as it is.", metric=metric), file=circuit
    )


async def _measured(tuning: LiveTuning, metric: str, values: dict[str, float]) -> float:
    point = await tuning.evaluate(values)
    return math.nan if point is None else point.metrics.get(metric, math.nan)
