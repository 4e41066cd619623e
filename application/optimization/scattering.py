"""Parts that scatter, around a point of a search: what moves its metrics, and how many circuits are good."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from application.optimization.job import OptimizationJob
from application.studies.fresh_runs import circuit_at
from application.studies.input import StudyInput
from application.studies.kinds import KINDS, corners_too
from application.studies.plan import Point, StudyPlan
from application.studies.runs import StudyRuns
from domain.studies.scatter import Scatter, moves, scattering, sigma_of
from domain.studies.search_space import Values
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from application.ports.simulation import BatchSimulator
    from domain.studies.study_spec import StudyParameter
    from shared.events import EventBus


@dataclass(frozen=True, kw_only=True)
class Scattering:
    """Simulates circuits around a point, on warm workers of their own: the point's values are written into
    the circuit, so that what is computed from them (a width, and by it a mismatch) follows."""

    batch: Callable[[], BatchSimulator]
    events: EventBus
    workers: int | None

    async def sigmas(self, job: OptimizationJob, values: Values) -> Mapping[str, float]:
        """The standard deviation of each metric with a goal, at the corner where it is largest."""
        study = await off_loop(_study_at, job, values)
        points, ends = await off_loop(_moved, study)
        rows = await self._runs(job, study).do(points)
        metrics = [row.metrics for row in rows]
        parameters = study.plan.parameters
        found = {}
        for metric in {goal.metric for goal in job.study.goals}:
            of_corners = [
                sigma_of(parameters, {name: (metrics[low][metric], metrics[high][metric])
                                      for name, (low, high) in places.items()})
                for places in ends
            ]  # fmt: skip
            found[metric] = max(of_corners)
        return found

    async def sample(self, job: OptimizationJob, values: Values, sigmas: Mapping[str, float]) -> Scatter:
        """A Monte Carlo at every corner of the search."""
        study = await off_loop(_study_at, job, values)
        runs = self._runs(job, study)
        kind = KINDS["montecarlo"]
        await kind.simulate(study, runs)
        found = await off_loop(kind.judge, study, runs.rows, runs.units)
        return Scatter(
            total=found["total_yield"],
            yields=found["yields"],
            sigmas=sigmas,
            assumed=found["assumed"],
            target=job.study.spec.yield_target,
        )

    def _runs(self, job: OptimizationJob, study: StudyInput) -> StudyRuns:
        return StudyRuns(
            study, job.measures, kind="montecarlo", key="", batch=self.batch(), workers=self.workers,
            events=self.events, on_rows=lambda: None,
        )  # fmt: skip


def scattering_of(job: OptimizationJob) -> tuple[StudyParameter, ...]:
    return scattering(job.study.spec.parameters) if job.study.goals else ()


def _study_at(job: OptimizationJob, values: Values) -> StudyInput:
    """The circuit with these values, its parts that scatter in the place of those searched. Blocking."""
    written = circuit_at(job.prepared, job.study.plan, Point(values=job.named(values)))
    # Read anew: what stands in the circuit is what nominal values and sizes follow from.
    changed = {path: written.tree.files[path].to_bytes() for path in written.tree.changed}
    here = written.edited(written.netlist, changed)
    parameters = scattering_of(job)
    spec = replace(job.study.spec, parameters=parameters, runs=job.study.spec.search.samples)
    plan = StudyPlan(here, spec, parameters=parameters, corners=corners_too(spec, here))
    return replace(job.study, spec=spec, plan=plan)


def _moved(study: StudyInput) -> tuple[list[Point], list[dict[str, tuple[int, int]]]]:
    """Points with one part moved, and where of each corner the two of each part are."""
    points: list[Point] = []
    ends: list[dict[str, tuple[int, int]]] = []
    for corner in study.plan.corners:
        nominals = study.plan.nominals(corner)
        places = {}
        for name, step in moves(study.plan.parameters, nominals).items():
            places[name] = (len(points), len(points) + 1)
            points += [Point(values={name: nominals[name] + sign * step}, corner=corner) for sign in (-1, 1)]
        ends.append(places)
    return points, ends
