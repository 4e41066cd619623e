"""Runs of a simulator started for them alone: what a study found, proved without its workers."""

from __future__ import annotations

import math
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from application.simulation.prepared_circuit import PreparedCircuit
from application.simulation.second_try import run_patiently
from application.studies.measures import StudyMeasures
from application.studies.plan import NOMINAL, Point, StudyPlan
from domain.circuit.numbers import format_number
from domain.simulation.batch import RunState
from domain.simulation.result import SimulationRun
from domain.studies.corners import with_process
from domain.studies.study import StudyRow
from domain.studies.variation import with_values
from shared.message import Message
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from application.ports.simulation import Simulator, WaveformReader
    from domain.simulation.request import SimulationJob
    from domain.simulation.wiring import Wiring

FOLDER = "best"
"""In a result's folder: the data of the fresh runs, a folder each."""
_DIGITS = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class FreshRun:
    """One such run."""

    row: StudyRow
    units: Mapping[str, str]
    raw_paths: tuple[Path, ...]


@dataclass(frozen=True, kw_only=True)
class FreshRuns:
    """Simulates points one by one, as `simulate` would: values written into a copy of the deck."""

    simulator: Simulator
    waveforms: WaveformReader

    async def __call__(
        self,
        prepared: PreparedCircuit,
        plan: StudyPlan,
        measures: StudyMeasures,
        points: Sequence[Point],
        folder: Path,
        *,
        timeout_s: float,
    ) -> list[FreshRun]:
        """The runs of `points`; their data go to `folder` in place of those of an earlier call.

        A point that does not simulate is a row that says so. Raises EnvironmentProblem.
        """
        await off_loop(shutil.rmtree, folder / FOLDER, ignore_errors=True)
        found = []
        for number, point in enumerate(points):
            place = folder / FOLDER / str(number)
            wiring, job = await off_loop(_job, prepared, plan, point, place, timeout_s)
            run = await run_patiently(self.simulator, job)
            of_it = measures.of_one_run(wiring)
            found.append(await off_loop(self._measured, run, plan, of_it, point, number))
        return found

    def _measured(
        self, run: SimulationRun, plan: StudyPlan, measures: StudyMeasures, point: Point, number: int
    ) -> FreshRun:
        changed = plan.changed(point)
        metrics: Mapping[str, float] = dict.fromkeys(measures.names, math.nan)
        units: Mapping[str, str] = {}
        problems: Mapping[str, Message] = {}
        if run.status == "ok":
            plots = [plot for path in run.raw_paths for plot in self.waveforms.read(path)]
            measured = measures.of(plots, changed)
            metrics, units, problems = measured.values, measured.units, measured.problems
        states: dict[str, RunState] = {"ok": "ok", "timeout": "timeout", "cancelled": "cancelled"}
        row = StudyRow(
            run=number,
            label=point.label,
            corner=None if point.corner is NOMINAL else point.corner.name,
            parameters=changed,
            metrics=metrics,
            state=states.get(run.status, "failed"),
            problems=problems,
            issues=run.issues,
        )
        return FreshRun(row=row, units=units, raw_paths=run.raw_paths)


def circuit_at(
    prepared: PreparedCircuit, plan: StudyPlan, point: Point, texts: Mapping[str, str] | None = None
) -> PreparedCircuit:
    """The circuit as it is at a point of a study, its corner too; `texts` are spellings of its values."""
    process = point.corner.process
    if process is not None and process.sections:
        prepared = prepared.edited(*with_process(prepared.tree, process))
    written = {name: format_number(value, _DIGITS) for name, value in plan.settings(point).items()}
    tree = with_values(prepared.tree, {**written, **(texts or {})})
    return replace(prepared, netlist=tree.root, tree=tree)


def _job(
    prepared: PreparedCircuit, plan: StudyPlan, point: Point, place: Path, timeout_s: float
) -> tuple[Wiring | None, SimulationJob]:
    """What its elements are connected to, and the run."""
    place.mkdir(parents=True)
    circuit = circuit_at(prepared, plan, point)
    return circuit.wiring, circuit.job(place, timeout_s=timeout_s)
