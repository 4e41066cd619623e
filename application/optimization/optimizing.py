"""Optimise values of a circuit: a search over many simulations, and a fresh run that proves the best."""

from __future__ import annotations

import asyncio
import contextlib
import math
import os.path
import shutil
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from application.optimization.archive import archive_key, archived_rows, measured_texts
from application.optimization.documents import optimization_csv, stored_optimization
from application.optimization.gm_id import Inversion, inversions_of
from application.optimization.job import OptimizationJob
from application.optimization.scattering import Scattering, scattering_of
from application.ports.events import OptimizationProgressed
from application.simulation.prepared_circuit import PreparedCircuit
from application.studies.documents import with_setup
from application.studies.fresh_runs import FreshRun, FreshRuns, circuit_at
from application.studies.input import StudyInput
from application.studies.kinds import corners_too
from application.studies.measures import study_measures
from application.studies.plan import NOMINAL, Point, StudyPlan
from application.studies.runs import StudyRuns
from application.studies.studying import prepare_for_study, run_warnings, without_own_steps
from application.studies.under_way import Glances, KeptSoFar, Watcher, so_far
from domain.simulation.batch import Batch, RunOutcome
from domain.studies.corners import TEMPERATURE
from domain.studies.optimization import BestPoint, OptimizationResult
from domain.studies.robustness import MOVED, Robustness, robustness_of
from domain.studies.scatter import Scatter, guarded, scattering
from domain.studies.search import Search, SearchEnd
from domain.studies.search_cost import CostFunction
from domain.studies.search_space import Values, search_space
from domain.studies.spec_reader import spec_error
from domain.studies.study_spec import StudySpec
from domain.studies.variation import with_values
from shared.errors import CircuitAIError, UserInputError
from shared.message import Message, msg
from shared.paths import RESULT_FILE
from shared.uninterrupted import off_loop, uninterrupted

if TYPE_CHECKING:
    from application.ports.simulation import (
        BatchSession,
        BatchSimulator,
        ResultStore,
        Simulator,
        SimulatorSettingsStore,
        SourceReaders,
        WaveformReader,
    )
    from application.simulation.device_tables import DeviceTables
    from application.studies.reading import StoredStudy
    from domain.circuit.simulator_settings import Dialect
    from shared.events import EventBus

_MOST_PROOFS = 5
"""Points that are simulated afresh when the best does not hold what its run in the batch promised."""
_MOST_MOVED = 12
_MOST_GUARDS = 3
"""Searches with guard bands, each with those of the point the last one found."""
_LEAST_LOOK_S = 10.0
"""How long looking around the best point may take, or a fifth of the search."""
_LAST_PROOF_S = 10.0
"""How long a stopped search may take to prove its best."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OptimizeRequest:
    """What a caller asks for."""

    circuit: Path
    spec: StudySpec
    libraries: tuple[Path, ...] = ()
    dialect: Dialect | None = None
    """What the circuit is written in; None = the project's setting, else told by the text."""
    workers: int | None = None
    """None = one a core. What is found does not depend on it."""
    cluster: str | None = None
    """Address of a Dask scheduler; None = this machine."""
    output: Path | None = None
    """Where the circuit with the best values is written."""
    call_id: str | None = None
    """As in `SimulationRequest`; also the key of the progress events."""
    setup: Mapping[str, Any] | None = None
    """As in `StudyRequest`."""


class OptimizeCircuit:
    """The use case; one instance serves any number of optimisations."""

    def __init__(
        self,
        *,
        batch: Callable[[str | None], BatchSimulator],
        simulator: Simulator,
        waveforms: WaveformReader,
        sources: SourceReaders,
        results: ResultStore,
        events: EventBus,
        settings: SimulatorSettingsStore,
        write_file: Callable[[Path, bytes], None],
        tables: DeviceTables,
        libraries: Callable[[], tuple[Path, ...]] = tuple,
    ) -> None:
        self._batch = batch
        """The batch simulator of a cluster's address, or of this machine."""
        self._simulator = simulator
        self._fresh = FreshRuns(simulator=simulator, waveforms=waveforms)
        self._sources = sources
        self._results = results
        self._events = events
        self._settings = settings
        self._write_file = write_file
        self._tables = tables
        self._libraries = libraries

    async def __call__(
        self,
        request: OptimizeRequest,
        *,
        on_stopped: Callable[[OptimizationResult], None] | None = None,
        watcher: Watcher | None = None,
    ) -> OptimizationResult:
        """Search, prove the best point by a run of its own, store and return the result.

        Publishes `OptimizationProgressed` events. Simulations that fail count as bad points. When the call
        is cancelled, the best so far is proved (if that is quick), stored and given to `on_stopped`, and
        CancelledError goes on. A `watcher` sees what came so far. Raises UserInputError for a specification
        that does not fit the circuit, EnvironmentProblem without a simulator.
        """
        version = await self._simulator.version()
        request, inversions = await self._with_widths(request)
        job = await off_loop(self._prepare, request, version)
        job.inversions = inversions
        result_id, folder = await off_loop(
            self._results.new_result, job.prepared.circuit, request.call_id, kind="optimize"
        )
        key = request.call_id or result_id
        place = (result_id, folder)
        runs: StudyRuns | None = None

        def looked_at() -> StoredStudy:
            assert runs is not None
            found = _found(job, runs, place, best=job.unproved(runs), end="stopped")
            return so_far(found, "optimize", stored_optimization(found))

        def kept_so_far() -> None:
            assert runs is not None
            found = _found(job, runs, place, best=job.unproved(runs), end="stopped")
            document = with_setup(stored_optimization(found), request.setup)
            self._results.save_so_far(folder, document, optimization_csv(found))

        glance, keep = Glances(watcher, looked_at), KeptSoFar(kept_so_far)

        async def look() -> None:
            await glance()
            await keep()

        try:
            async with self._batch(request.cluster).session(
                job.study.plan.circuits, workers=request.workers
            ) as session:
                runs = StudyRuns(
                    job.study,
                    job.measures,
                    kind="optimize",
                    key=key,
                    batch=_InSession(session),
                    workers=request.workers,
                    events=self._events,
                    on_rows=lambda: self._tell(job, runs, key),
                    look=look,
                )
                await self._search(request, job, runs)
            self._tell(job, runs, key)
            self._events.flush_throttled(key)
            return await self._keep(request, job, runs, place)
        except asyncio.CancelledError:
            if runs is None or not runs.done:
                await off_loop(self._results.discard, folder)
                raise
            job.search.finish("stopped")
            partial = await _within(self._keep(request, job, runs, place), _LAST_PROOF_S)
            if partial is None:
                partial = await self._keep(request, job, runs, place, with_proof=False)
            if on_stopped is not None:
                on_stopped(partial)
            raise
        except BaseException:  # nothing half-made stays
            await off_loop(self._results.discard, folder)
            raise

    # ---- making ready ----------------------------------------------------------------------------

    def _prepared(self, request: OptimizeRequest, *, with_analyses: bool = True) -> PreparedCircuit:
        """The circuit with what holds for all runs (and, `with_analyses`, the analyses they have)."""
        spec = request.spec if with_analyses else replace(request.spec, analyses=())
        return prepare_for_study(
            self._sources,
            request.circuit,
            spec,
            libraries=request.libraries,
            user_libraries=self._libraries(),
            settings=self._settings.of_circuit(request.circuit),
            dialect=request.dialect,
            needs_analysis=with_analyses,
        )

    async def _with_widths(self, request: OptimizeRequest) -> tuple[OptimizeRequest, tuple[Inversion, ...]]:
        """The request with the width in the place of each gm/Id that is to be searched."""
        if not any(parameter.bias for parameter in request.spec.parameters):
            return request, ()
        prepared = await off_loop(self._prepared, request)
        parameters, found = await inversions_of(
            request.spec.parameters, prepared, request.libraries, self._tables
        )
        return replace(request, spec=replace(request.spec, parameters=parameters)), found

    def _prepare(self, request: OptimizeRequest, version: str) -> OptimizationJob:
        spec = request.spec
        chosen = [parameter for parameter in spec.parameters if parameter.is_swept]
        if not chosen:
            raise spec_error(
                "parameters",
                msg("contain nothing to choose"),
                advice=msg("Add {example}.",
                           example='{"name": "R1", "min": "1k", "max": "10k", "scale": "E24"}'),
            )  # fmt: skip
        objectives = spec.search.objectives
        if not spec.goals and not objectives:
            raise spec_error(
                "goals",
                msg("are missing: they say what to reach"),
                advice=msg("Add {example}.", example='"goals": ["bw >= 1Meg"], "minimize": "power"'),
            )
        prepared, notes = without_own_steps(self._prepared(request))
        if request.output is not None:
            _refuse_input_as_output(request.output, prepared)
        named = replace(spec, goals=(*spec.goals, *(objective.as_goal for objective in objectives)))
        measures, goals, warnings = study_measures(named, prepared)
        bound = goals[len(spec.goals) :]
        goals = goals[: len(spec.goals)]
        objectives = tuple(
            replace(objective, metric=goal.metric) for objective, goal in zip(objectives, bound, strict=True)
        )
        plan = StudyPlan(prepared, spec, parameters=chosen, corners=corners_too(spec, prepared))
        space = search_space(plan.parameters)
        written = {item.name.lower(): item.nominal for item in plan.circuits[0].varied}
        start = {
            parameter.name: written.get(parameter.name.lower(), math.nan)
            if parameter.nominal is None
            else parameter.nominal
            for parameter in plan.parameters
        }
        cost = CostFunction(goals=goals, objectives=objectives)
        key = archive_key(prepared, space, spec, plan.corners, version)
        former = self._results.former_searches(prepared.circuit, key if spec.search.with_archive else "")
        corners = ["" if corner is NOMINAL else corner.name for corner in plan.corners]
        archive = archived_rows(former, space, measures, corners)
        # With an objective the first search goes on to its end: guard bands need what is left.
        share = 2 if objectives and goals and scattering(spec.parameters) else 1
        search = Search(
            space,
            seed=spec.seed,
            budget=max(1, spec.search.budget // len(plan.corners) // share),
            start=start,
            aims=cost.aims(len(plan.corners)),
            archive={
                values: cost.figures(archive[values])
                for values in sorted(archive, key=lambda values: cost(archive[values]))
            },
        )
        return OptimizationJob(
            prepared=prepared,
            measures=measures,
            study=StudyInput(spec=spec, plan=plan, goals=goals, metrics=measures.names),
            objectives=objectives,
            space=space,
            search=search,
            started_at=search.starting_point,
            key=key,
            warnings=(*notes, *warnings),
            cost=cost,
        )

    # ---- searching -------------------------------------------------------------------------------

    async def _search(self, request: OptimizeRequest, job: OptimizationJob, runs: StudyRuns) -> None:
        limit_s = job.study.spec.search.time_limit_s
        try:
            async with asyncio.timeout(limit_s) as clock:
                await self._to_its_end(job, runs)
                for _ in range(_MOST_GUARDS if scattering_of(job) else 0):
                    if not await self._aims_inside(request, job, runs):
                        break
                    await self._to_its_end(job, runs)
        except TimeoutError:
            if not clock.expired():
                raise
            job.search.finish("time")

    async def _to_its_end(self, job: OptimizationJob, runs: StudyRuns) -> None:
        while points := await off_loop(job.search.ask):
            await self._generation(job, runs, points)

    async def _aims_inside(self, request: OptimizeRequest, job: OptimizationJob, runs: StudyRuns) -> bool:
        """Whether a search with guard bands for parts that scatter, as the best point shows them, goes on."""
        best = next(iter(job.ranked(runs)), None)
        if best is None or not job.meets_goals(best, runs):
            return False
        sigmas = await self._scattering(request).sigmas(job, best)
        return await off_loop(job.aim_inside, guarded(job.study.goals, sigmas), runs)

    def _scattering(self, request: OptimizeRequest) -> Scattering:
        return Scattering(
            batch=lambda: self._batch(request.cluster),
            events=self._events,
            workers=request.workers,
        )

    async def _generation(self, job: OptimizationJob, runs: StudyRuns, points: Sequence[Values]) -> None:
        job.number(points, runs.total)
        try:
            await runs.do([point for values in points for point in job.points_of(values)])
        finally:  # also what was done of a generation that is stopped counts
            job.judge(points, runs)

    def _tell(self, job: OptimizationJob, runs: StudyRuns | None, key: str) -> None:
        if runs is None:
            return
        elapsed = time.monotonic() - job.started
        rate = runs.done / elapsed if elapsed > 0 else 0.0
        budget = job.study.spec.search.budget
        best = job.history[-1] if job.history else None
        self._events.publish_throttled(
            OptimizationProgressed(
                key=key,
                done=runs.done,
                budget=budget,
                failed=runs.failed,
                rate_hz=rate,
                remaining_s=(budget - runs.done) / rate if rate > 0 else None,
                restarts=job.search.restarts,
                best_run=None if best is None else best.run,
                best_parameters={} if best is None else best.parameters,
                best_metrics={} if best is None else best.metrics,
                violation=None if best is None else best.cost.violation,
                objective=None if best is None or not job.objectives else best.cost.rest,
            ),
            key=key,
        )

    # ---- the end ---------------------------------------------------------------------------------

    async def _prove(
        self, job: OptimizationJob, runs: StudyRuns, folder: Path
    ) -> tuple[BestPoint | None, FreshRun | None]:
        """The best point that holds in runs of its own, and its data (of the first corner).

        When the best misses in them what it met in the search, the next best that met it is tried.
        """
        first: tuple[BestPoint, FreshRun] | None = None
        for values in job.ranked(runs)[:_MOST_PROOFS]:
            if job.search.cost_of(values).failed:
                break
            is_promised = job.meets_goals(values, runs)
            fresh = await self._fresh(
                job.prepared,
                job.study.plan,
                job.measures,
                job.points_of(values),
                folder,
                timeout_s=job.study.spec.timeout_s,
            )
            rows = [run.row for run in fresh]
            cost = job.cost(rows)
            best = job.best_point(values, rows, fresh[0].units, cost=cost, is_verified=True)
            if cost.failed == 0 and cost.meets_goals >= is_promised:
                return best, fresh[0]
            first = first or (best, fresh[0])
        return first or (job.unproved(runs), None)

    async def _robustness(
        self, job: OptimizationJob, best: BestPoint | None, fresh: FreshRun | None, folder: Path
    ) -> tuple[tuple[Robustness, ...], tuple[Message, ...]]:
        """What each parameter a little off does to the goals the best point meets, and why it is not known:
        there are many parameters, or that takes too long. Neither where no point was proved."""
        movable = [] if best is None else [name for name, value in best.parameters.items() if value]
        if best is None or fresh is None or not job.study.goals or job.search.end == "stopped":
            return (), ()
        if len(movable) > _MOST_MOVED:
            many = msg(
                "With {count} parameters, robustness was not tested (at most {most}); run a worst-case or "
                "Monte Carlo study.",
                count=len(movable),
                most=_MOST_MOVED,
            )
            return (), (many,)
        corner = job.study.plan.corners[0]
        points = [
            Point(values={**best.parameters, name: best.parameters[name] * (1 + share)}, corner=corner)
            for name in movable
            for share in (-MOVED, MOVED)
        ]
        around = folder / "around"
        patience_s = max(_LEAST_LOOK_S, 0.2 * (time.monotonic() - job.started))
        try:
            async with asyncio.timeout(patience_s):
                runs = await self._fresh(
                    job.prepared, job.study.plan, job.measures, points, around,
                    timeout_s=job.study.spec.timeout_s,
                )  # fmt: skip
        except TimeoutError:
            slow = msg("Robustness was not tested: the runs take too long. Run a worst-case study.")
            return (), (slow,)
        finally:
            await uninterrupted(off_loop(shutil.rmtree, around, ignore_errors=True))
        metrics = [run.row.metrics for run in runs]
        moved = {name: metrics[2 * place : 2 * place + 2] for place, name in enumerate(movable)}
        return robustness_of(job.study.goals, fresh.row.metrics, moved), ()

    async def _scatter(
        self, request: OptimizeRequest, job: OptimizationJob, best: BestPoint | None
    ) -> Scatter | None:
        """How many circuits are good with the parts as the specification says they scatter; None where it
        says nothing, or where no point was proved."""
        is_proved = best is not None and best.is_verified and job.search.end != "stopped"
        if best is None or not is_proved or not scattering_of(job):
            return None
        around, values = self._scattering(request), tuple(best.parameters.values())
        return await around.sample(job, values, await around.sigmas(job, values))

    async def _keep(
        self,
        request: OptimizeRequest,
        job: OptimizationJob,
        runs: StudyRuns,
        place: tuple[str, Path],
        *,
        with_proof: bool = True,
    ) -> OptimizationResult:
        """Prove, write and store what was found."""
        _, folder = place
        best, fresh = await self._prove(job, runs, folder) if with_proof else (job.unproved(runs), None)
        robustness, unknown = await self._robustness(job, best, fresh, folder) if with_proof else ((), ())
        scatter = await self._scatter(request, job, best) if with_proof else None
        version = await self._simulator.version()
        layers = (await self._simulator.confinement()).layers

        def stored() -> OptimizationResult:
            output, notes = self._write_best(request, job, best)
            assert job.search.end is not None
            result = replace(
                _found(job, runs, place, best=best, end=job.search.end),
                robustness=robustness,
                scatter=scatter,
                raw_paths=() if fresh is None else fresh.raw_paths,
                output_path=output,
                warnings=(*job.warnings, *run_warnings(runs.rows), *notes, *unknown),
                simulator_version=version,
                confinement=layers,
            )
            document = with_setup(stored_optimization(result), request.setup)
            self._results.save_study(folder, document, optimization_csv(result))
            return result

        return await off_loop(stored)

    def _write_best(
        self, request: OptimizeRequest, job: OptimizationJob, best: BestPoint | None
    ) -> tuple[Path | None, tuple[Message, ...]]:
        """Write the circuit with the best values, those set for all runs, and the corner where there is one.

        What of it stands in included files is written as copies beside it; notes on it. Blocking.
        """
        if request.output is None or best is None:
            return None, ()
        prepared, plan = self._prepared(request, with_analyses=False), job.study.plan
        notes: list[Message] = []
        if len(plan.corners) == 1:
            point = Point(values=best.parameters, corner=plan.corners[0])
            tree = circuit_at(prepared, plan, point, best.texts).tree
        else:
            temperature = {
                name: text for name, text in request.spec.assignments if name.lower() == TEMPERATURE
            }
            tree = with_values(prepared.tree, {**temperature, **best.texts})
            notes.append(
                msg(
                    "The figures are the worst of {count} corners; the circuit was written without a corner.",
                    count=len(plan.corners),
                )
            )
        output = request.output.absolute()
        before = output.read_bytes() if output.is_file() else b""

        def is_free(name: str) -> bool:
            place = output.parent / name
            is_own = name.encode() in before and place.resolve() not in tree.files
            return is_own or not os.path.lexists(place)

        root, copies = tree.kept_in(output.parent, output.stem, is_free)
        for name, content in copies.items():
            self._write_file(output.parent / name, content)
        self._write_file(output, root.to_bytes())
        if copies:
            notes.append(
                msg(
                    "{path} includes changed copies, which belong beside it: {names}.",
                    path=output,
                    names=", ".join(copies),
                )
            )
        return output, tuple(notes)


def _found(
    job: OptimizationJob,
    runs: StudyRuns,
    place: tuple[str, Path],
    *,
    best: BestPoint | None,
    end: SearchEnd,
) -> OptimizationResult:
    """What the search has, before its best point is looked at closer."""
    result_id, folder = place
    return OptimizationResult(
        result_id=result_id,
        result_path=folder / RESULT_FILE,
        circuit=job.prepared.circuit,
        netlist_sha256=job.prepared.sha256,
        created=datetime.now(UTC).isoformat(timespec="milliseconds"),
        end=end,
        best=best,
        start=job.starting_row(runs),
        history=tuple(job.history),
        rows=runs.rows,
        units={name: runs.units.get(name, "") for name in job.measures.names},
        parameters=job.space.names,
        goals=job.study.goals,
        objectives=job.objectives,
        measured=measured_texts(job.measures),
        search_key=job.key,
        seed=job.study.spec.seed,
        budget=job.study.spec.search.budget,
        generations=job.search.generations,
        restarts=job.search.restarts,
        repeated=job.search.repeated,
        recalled=job.search.recalled,
        efficiencies={} if best is None else job.efficiencies(best.parameters),
        conflicts=() if best is not None and best.cost.meets_goals else job.conflicts(runs),
        at_range_end=() if best is None else job.at_range_end(best.parameters),
        duration_s=time.monotonic() - job.started,
    )


class _InSession:
    """A session that takes whole batches. Implements application.studies.runs.RunsBatches."""

    def __init__(self, session: BatchSession) -> None:
        self._session = session

    def run(self, batch: Batch, *, workers: int | None = None) -> AsyncIterator[RunOutcome]:  # noqa: ARG002
        """The outcomes; the session's circuits are the batch's, and its workers are there already."""
        return self._session.run(batch.runs, signals=batch.signals, timeout_s=batch.timeout_s)


async def _within(work: Coroutine[Any, Any, OptimizationResult], seconds: float) -> OptimizationResult | None:
    """The result of `work`; None when it takes too long or cannot be had."""
    with contextlib.suppress(TimeoutError, CircuitAIError):
        return await asyncio.wait_for(work, seconds)
    return None


def _refuse_input_as_output(output: Path, prepared: PreparedCircuit) -> None:
    if output.absolute().resolve() in {prepared.circuit.resolve(), *prepared.tree.files}:
        raise UserInputError(
            msg("{path} belongs to the circuit itself, which an optimization never changes.", path=output),
            advice=msg("Specify another file with -o."),
            file=output,
            error_type="bad_usage",
        )
