"""Live re-evaluation: a circuit stays loaded, values change under a slider, metrics and curves follow."""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from application.studies.measures import StudyMeasures, study_measures
from application.studies.plan import Point, StudyPlan
from application.studies.studying import prepare_for_study, without_own_steps
from domain.simulation.batch import RunState
from domain.simulation.result import SimulationIssue
from domain.simulation.waveform import Plot
from domain.studies.corners import section_corner
from domain.studies.spec_reader import spec_error
from domain.studies.study_spec import StudySpec
from shared.errors import UserInputError
from shared.message import Message, msg
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from application.ports.simulation import (
        BatchSimulator,
        LiveCircuit,
        SimulatorSettingsStore,
        SourceReaders,
    )
    from domain.circuit.simulator_settings import Dialect


@dataclass(frozen=True, slots=True, kw_only=True)
class TuneRequest:
    """What a caller asks for."""

    circuit: Path
    spec: StudySpec
    """Its parameters are what can be changed, its measurements what is told (the `.meas` cards without;
    the curves are told also where nothing is measured)."""
    at: Mapping[str, float] = field(default_factory=dict)
    """Of some parameters another value than the written one, in every run that does not say its own."""
    corner: str = ""
    """The process corner (`SS`) its devices have in every run; "" = as the circuit is written."""
    libraries: tuple[Path, ...] = ()
    dialect: Dialect | None = None
    """What the circuit is written in; None = the project's setting, else told by the text."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TunedPoint:
    """The circuit at some values."""

    values: Mapping[str, float]
    """Of every parameter, SI."""
    state: RunState
    metrics: Mapping[str, float]
    """NaN for one that could not be had."""
    units: Mapping[str, str]
    problems: Mapping[str, Message]
    """Why a metric could not be had."""
    plots: tuple[Plot, ...]
    """All vectors, for redrawing; empty unless `state` is ok."""
    issues: tuple[SimulationIssue, ...]


class LiveTuning:
    """A loaded circuit. Of requests that wait only the newest is done: a slider never lags behind."""

    def __init__(
        self,
        live: LiveCircuit,
        plan: StudyPlan,
        measures: StudyMeasures,
        timeout_s: float,
        at: Mapping[str, float],
    ) -> None:
        self._live = live
        self._plan = plan
        self._measures = measures
        self._timeout_s = timeout_s
        self._at = at
        self._newest = 0
        self._turn = asyncio.Lock()

    @property
    def nominals(self) -> Mapping[str, float]:
        """The values the circuit is written with; NaN for one it does not tell."""
        names = {parameter.name.lower(): parameter.name for parameter in self._plan.parameters}
        varied = self._plan.circuits[0].varied
        return {names[item.name.lower()]: item.nominal for item in varied if item.name.lower() in names}

    async def evaluate(self, values: Mapping[str, float]) -> TunedPoint | None:
        """Simulate with these values, those left out as written (or as the request has them); None when a
        newer request came first.

        A run that fails is a point that says so, and the next one is tried afresh. Raises UserInputError
        for a name that is no parameter and a value that is no number.
        """
        values = self._checked({**self._at, **values})
        run = self._plan.run(0, Point(values=values, corner=self._plan.corners[0]))
        self._newest += 1
        mine = self._newest
        async with self._turn:
            if mine != self._newest:
                return None
            outcome = await self._live.evaluate(run.values, timeout_s=self._timeout_s)
        metrics: Mapping[str, float] = dict.fromkeys(self._measures.names, math.nan)
        units: Mapping[str, str] = {}
        problems: Mapping[str, Message] = {}
        if outcome.state == "ok":
            found = await off_loop(self._measures.of, outcome.plots, dict(values))
            metrics, units, problems = found.values, found.units, found.problems
        return TunedPoint(
            values={**self.nominals, **values},
            state=outcome.state,
            metrics=metrics,
            units=units,
            problems=problems,
            plots=outcome.plots,
            issues=outcome.issues,
        )

    def _checked(self, values: Mapping[str, float]) -> Mapping[str, float]:
        names = [parameter.name for parameter in self._plan.parameters]
        for name, value in values.items():
            if name not in names:
                raise UserInputError(
                    msg("{name} is not one of the tuned values.", name=name),
                    advice=msg("Tuned values: {names}.", names=", ".join(names)),
                )
            if not math.isfinite(value):
                raise UserInputError(msg("{name} needs a number, not {value}.", name=name, value=value))
        return values


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TuneCircuit:
    """The use case; each call has a worker of its own."""

    batch: BatchSimulator
    sources: SourceReaders
    settings: SimulatorSettingsStore
    libraries: Callable[[], tuple[Path, ...]] = tuple

    @contextlib.asynccontextmanager
    async def __call__(self, request: TuneRequest) -> AsyncIterator[LiveTuning]:
        """Load the circuit and keep it until the context ends.

        Raises UserInputError for parameters and a corner the circuit does not have, CircuitError when it does
        not load,
        EnvironmentProblem without a simulator.
        """
        plan, measures = await off_loop(self._prepare, request)
        async with self.batch.live(plan.circuits[0]) as live:
            yield LiveTuning(live, plan, measures, request.spec.timeout_s, request.at)

    def _prepare(self, request: TuneRequest) -> tuple[StudyPlan, StudyMeasures]:
        spec = request.spec
        asked = prepare_for_study(
            self.sources,
            request.circuit,
            spec,
            libraries=request.libraries,
            user_libraries=self.libraries(),
            settings=self.settings.of_circuit(request.circuit),
            dialect=request.dialect,
        )
        prepared, _ = without_own_steps(asked)
        if not spec.parameters:
            raise spec_error("parameters", msg("contain nothing to tune"))
        measures, _, _ = study_measures(spec, prepared, may_be_none=True)
        corners = (section_corner(request.corner),) if request.corner else ()
        return StudyPlan(prepared, spec, parameters=spec.parameters, corners=corners), measures
