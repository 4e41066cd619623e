"""Studies of a circuit: sweep, Monte Carlo, corners, worst case, sensitivity - many runs, one result."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from application.simulation.prepared_circuit import PreparedCircuit, prepare_circuit
from application.studies.documents import rows_csv, stored_document, with_setup
from application.studies.hunting import NOMINAL_LABEL
from application.studies.input import StudyInput
from application.studies.kinds import KINDS
from application.studies.measures import StudyMeasures, study_measures
from application.studies.plan import StudyPlan
from application.studies.runs import StudyRuns
from application.studies.under_way import Glances, KeptSoFar, Watcher, so_far
from domain.circuit.stepping import step_axes, unstepped
from domain.studies.corners import TEMPERATURE
from domain.studies.study import StudyResult, StudyRow
from domain.studies.study_spec import StudyKind, StudyParameter, StudySpec
from shared.errors import UserInputError
from shared.message import Message, msg
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from application.ports.simulation import (
        BatchSimulator,
        ResultStore,
        Simulator,
        SimulatorSettingsStore,
        SourceReaders,
    )
    from application.studies.reading import StoredStudy
    from domain.circuit.simulator_settings import Dialect, SimulatorSettings
    from shared.events import EventBus

_WARNINGS_TOLD = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyRequest:
    """What a caller asks for."""

    circuit: Path
    kind: StudyKind
    spec: StudySpec
    libraries: tuple[Path, ...] = ()
    dialect: Dialect | None = None
    """What the circuit is written in; None = the project's setting, else told by the text."""
    workers: int | None = None
    """None = one a core. The rows do not depend on it."""
    cluster: str | None = None
    """Address of a Dask scheduler; None = this machine. The rows do not depend on it."""
    call_id: str | None = None
    """As in `SimulationRequest`; also the key of the study's progress events."""
    setup: Mapping[str, Any] | None = None
    """What was filled in for it (a `StudySetup` as plain data); it is kept with the result."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RunStudy:
    """The use case; one instance serves any number of studies."""

    batch: Callable[[str | None], BatchSimulator]
    """The batch simulator of a cluster's address, or of this machine."""
    simulator: Simulator
    sources: SourceReaders
    results: ResultStore
    events: EventBus
    settings: SimulatorSettingsStore
    libraries: Callable[[], tuple[Path, ...]] = tuple
    """The user's own, for every circuit."""

    async def __call__(
        self,
        request: StudyRequest,
        *,
        on_stopped: Callable[[StudyResult], None] | None = None,
        watcher: Watcher | None = None,
    ) -> StudyResult:
        """Do the study, publish `StudyProgressed` events, store and return the result.

        Runs that fail are rows that say so. When the call is cancelled, what was done is stored, given to
        `on_stopped`, and CancelledError goes on. A `watcher` sees what came so far. Raises
        UserInputError for a specification that does not fit the circuit, EnvironmentProblem without a
        simulator.
        """
        started = time.monotonic()
        prepared, measures, study, warnings = await off_loop(self._prepare, request)
        version = await self.simulator.version()
        layers = (await self.simulator.confinement()).layers
        result_id, folder = await off_loop(
            self.results.new_result, prepared.circuit, request.call_id, kind=request.kind
        )
        runs = StudyRuns(
            study,
            measures,
            kind=request.kind,
            key=request.call_id or result_id,
            batch=self.batch(request.cluster),
            workers=request.workers,
            events=self.events,
            untold=int(KINDS[request.kind].has_nominal_beside),
            look=lambda: look(),  # noqa: PLW0108 - it is made below
        )

        def found(*, is_stopped: bool) -> StudyResult:
            kind = KINDS[request.kind]
            rows = runs.rows
            findings = kind.judge(study, rows, runs.units)
            beside = {row.run for row in rows if kind.has_nominal_beside and row.label == NOMINAL_LABEL}
            told = tuple(row for row in rows if row.run not in beside)
            return StudyResult(
                kind=request.kind,
                result_id=result_id,
                result_path=folder / "result.json",
                circuit=prepared.circuit,
                netlist_sha256=prepared.sha256,
                created=datetime.now(UTC).isoformat(timespec="milliseconds"),
                is_stopped=is_stopped,
                total=runs.total - kind.has_nominal_beside,
                rows=told,
                units={name: runs.units.get(name, "") for name in measures.names},
                parameters=tuple(parameter.name for parameter in study.plan.parameters),
                scattering=tuple(
                    parameter.name
                    for parameter in study.plan.parameters
                    if parameter.spread is not None and not parameter.spread.is_absolute
                ),
                goals=study.goals,
                seed=request.spec.seed if request.kind == "montecarlo" else None,
                warnings=(*warnings, *run_warnings(told), *unmeasured(told, measures.names)),
                duration_s=time.monotonic() - started,
                simulator_version=version,
                confinement=layers,
                **findings,
            )

        def looked_at() -> StoredStudy:
            result = found(is_stopped=False)
            return so_far(result, result.kind, stored_document(result))

        def finished(*, is_stopped: bool, is_so_far: bool = False) -> StudyResult:
            result = found(is_stopped=is_stopped)
            document = with_setup(stored_document(result), request.setup)
            if not is_so_far:
                self.results.save_study(folder, document, rows_csv(result))
            elif result.rows:
                self.results.save_so_far(folder, document, rows_csv(result))
            return result

        glance = Glances(watcher, looked_at)
        keep = KeptSoFar(lambda: finished(is_stopped=True, is_so_far=True))

        async def look() -> None:
            await glance()
            await keep()

        try:
            await KINDS[request.kind].simulate(study, runs)
            return await off_loop(finished, is_stopped=False)
        except asyncio.CancelledError:
            if runs.rows:
                stopped = await off_loop(finished, is_stopped=True)
                if on_stopped is not None:
                    on_stopped(stopped)
            else:
                await off_loop(self.results.discard, folder)
            raise
        except BaseException:  # nothing half-made stays
            await off_loop(self.results.discard, folder)
            raise

    def _prepare(
        self, request: StudyRequest
    ) -> tuple[PreparedCircuit, StudyMeasures, StudyInput, tuple[Message, ...]]:
        spec = request.spec
        prepared = prepare_for_study(
            self.sources,
            request.circuit,
            spec,
            libraries=request.libraries,
            user_libraries=self.libraries(),
            settings=self.settings.of_circuit(request.circuit),
            dialect=request.dialect,
        )
        prepared, spec, notes = _without_own_steps(request.kind, prepared, spec)
        choice = KINDS[request.kind].choose(spec, prepared)
        measures, goals, warnings = study_measures(spec, prepared)
        plan = StudyPlan(prepared, request.spec, parameters=choice.parameters, corners=choice.corners)
        study = StudyInput(spec=spec, plan=plan, goals=goals, metrics=measures.names)
        return prepared, measures, study, (*notes, *warnings)


def _without_own_steps(
    kind: StudyKind, prepared: PreparedCircuit, spec: StudySpec
) -> tuple[PreparedCircuit, StudySpec, tuple[Message, ...]]:
    """The circuit simulated once at each point.

    Its own `.step` cards are the outer axes of a sweep (all there is when it names nothing to sweep); a sweep
    of the same quantity takes the place of one. The other studies leave them out and say so.
    """
    axes = step_axes(prepared.netlist)
    prepared, notes = without_own_steps(prepared)
    if kind != "sweep" or not axes:
        return prepared, spec, notes
    swept = {parameter.name.lower() for parameter in spec.parameters if parameter.is_swept}
    # The first axis of a deck changes fastest, of a study the last.
    own = [
        StudyParameter(name=axis.name, values=axis.values)
        for axis in reversed(axes)
        if axis.name not in swept
    ]
    others = [item for item in spec.parameters if item.name.lower() not in {axis.name for axis in own}]
    notes = (
        msg("The circuit's own .step is swept too: {names}.", names=", ".join(axis.name for axis in own)),
    )
    return prepared, replace(spec, parameters=(*own, *others)), notes if swept and own else ()


def without_own_steps(prepared: PreparedCircuit) -> tuple[PreparedCircuit, tuple[Message, ...]]:
    """The circuit simulated once, and what to say when it asks for steps. Blocking. Raises UserInputError."""
    axes = step_axes(prepared.netlist)
    if not axes:
        return prepared, ()
    plain = prepared.edited(unstepped(prepared.netlist, axes))
    return plain, (msg("The circuit's own .step was ignored."),)


def prepare_for_study(
    sources: SourceReaders,
    circuit: Path,
    spec: StudySpec,
    *,
    libraries: Sequence[Path],
    user_libraries: Sequence[Path],
    settings: SimulatorSettings,
    dialect: Dialect | None,
    needs_analysis: bool = True,
) -> PreparedCircuit:
    """The circuit with what a specification says of all runs. Blocking. Raises UserInputError."""
    prepared = prepare_circuit(
        sources,
        circuit,
        libraries=libraries,
        user_libraries=user_libraries,
        assignments=[item for item in spec.assignments if item[0].lower() != TEMPERATURE],
        analyses=spec.analyses or None,
        settings=settings,
        dialect=dialect,
    )
    if needs_analysis and not prepared.analyses():
        if prepared.has_control_block:
            raise UserInputError(
                msg("The circuit's analyses are in its .control block, whose commands a study does not run."),
                advice=msg(
                    "Give the analysis as a card of its own, such as {example}, and the measured "
                    "quantities as expressions.",
                    example="ac dec 20 1 10meg",
                ),
                file=prepared.circuit,
            )
        raise UserInputError(
            msg("The netlist contains no analysis."),
            advice=msg("Add one such as .op or .ac, or give one with --analysis."),
            file=prepared.circuit,
        )
    return prepared


def run_warnings(rows: Sequence[StudyRow]) -> tuple[Message, ...]:
    """What the simulator warned of, each text once, with how many runs it concerns."""
    counts: dict[str, tuple[Message, int]] = {}
    for row in rows:
        for text, message in {
            str(i.message): i.message for i in row.issues if i.severity == "warning"
        }.items():
            counts[text] = (message, counts.get(text, (message, 0))[1] + 1)
    often = sorted(counts.values(), key=lambda item: -item[1])[:_WARNINGS_TOLD]
    return tuple(
        msg(
            "{warning} (in {count} of {total} {total:run|runs})",
            warning=message,
            count=count,
            total=len(rows),
        )
        for message, count in often
    )


def unmeasured(rows: Sequence[StudyRow], metrics: Sequence[str]) -> Iterator[Message]:
    """The metrics that runs without failure did not have, with the reason of the first."""
    for metric in metrics:
        lacking = [row for row in rows if row.state == "ok" and metric in row.problems]
        if lacking:
            yield msg(
                "{metric} could not be measured in {count} of {total} {total:run|runs}; "
                "in run {run}: {reason}",
                metric=metric, count=len(lacking), total=len(rows), run=lacking[0].run,
                reason=lacking[0].problems[metric],
            )  # fmt: skip
