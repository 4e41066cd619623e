"""Pull the curve: what is measured goes where the hand is, and the most influential values follow.

The circuit stays loaded on a worker. Two runs for each free value tell which ones move the quantity; then
each step is one run. Nothing is written, stored or kept here.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from application.goal_checks.goal_now import GoalNow, measured_as
from application.optimization.influencing import influences_on, not_measured
from application.optimization.tuning import TuneRequest
from application.simulation.circuit_files import load_circuit
from application.simulation.other_texts import WithTexts
from domain.circuit.dependencies import resolve_dependencies
from domain.circuit.numbers import format_number, parse_number
from domain.circuit.preferred_values import SeriesName
from domain.studies.free_values import free_values, loads_of
from domain.studies.influence import NEGLIGIBLE, Influences, PlacedValue
from domain.studies.study_spec import read_study_spec
from domain.studies.value_solver import ValueSolver
from shared.errors import UserInputError
from shared.message import Message, msg
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from application.optimization.tuning import LiveTuning, TuneCircuit, TunedPoint
    from domain.simulation.goals import DesignGoal

MOST_FOLLOWING = 2
"""So many values follow, unless somebody has chosen which."""
BUDGET_S = 20.0
"""How long finding the influences may take."""
DIGITS = 5
"""Significant digits of a value that follows: what is simulated is what is written."""
_ROUNDED = 1e-4
"""What the digits that are written let a quantity be off."""
LIVE_TOLERANCE = 1e-3
"""While the hand moves a pixel is more than this share."""
TOLERANCE = 2e-5
_MOST_PREFERRED = 9
"""Combinations of preferred values that are simulated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PullRequest:
    """What a caller asks for."""

    circuit: Path
    expression: str
    """What is measured, as the quantity that is pulled; a `.meas` card of the circuit by its name."""
    unit: str
    values: Sequence[PlacedValue]
    """Those that may follow."""
    at: Mapping[str, float] = field(default_factory=dict)
    """What is otherwise than in the file while it is measured: the values of one step, a temperature. Such
    values do not follow."""
    corner: str = ""
    """The process corner at which it is measured, else the circuit's own devices."""
    chosen: tuple[str, ...] = ()
    """Just these follow; () = the most influential ones of those that are not given."""
    goals: Sequence[DesignGoal] = ()
    """What else is asked of the circuit as it is."""
    texts: Mapping[Path, bytes] = field(default_factory=dict)
    """What stands in place of files on the disk."""
    budget_s: float = BUDGET_S


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PulledPoint:
    """Where a pull has come to."""

    values: Mapping[str, float]
    """Of those that follow."""
    target: float
    measured: float
    point: TunedPoint
    """The circuit there."""
    goals: tuple[GoalNow, ...]
    is_met: bool
    """The quantity is where it is wanted."""
    is_at_rest: bool
    """No further step comes nearer."""
    is_at_border: bool = False
    """A value went as far as it may."""


class Pull:
    """A loaded circuit whose values follow one quantity."""

    def __init__(
        self,
        tuning: LiveTuning,
        request: PullRequest,
        solver: ValueSolver,
        *,
        written: Mapping[str, float],
        start: TunedPoint,
        influences: Influences,
        run_s: float,
    ) -> None:
        self._tuning = tuning
        self._request = request
        self._solver = solver
        self.written = written
        """The values that follow, as they are written."""
        self.influences = influences
        self._best = start
        self.start = start
        self.run_s = run_s
        """What one run took."""

    @property
    def here(self) -> PulledPoint:
        """The best point so far."""
        return self._reached(self._best, is_at_rest=False)

    def aim(self, target: float) -> bool:
        """Say where the quantity is wanted; False for what no values can give."""
        return self._solver.aim(target)

    async def step(self, tolerance: float = LIVE_TOLERANCE) -> PulledPoint:
        """One run, with values that bring the quantity nearer; none where it is met or does not move."""
        wanted = self._solver.wanted(tolerance)
        if wanted is None:
            return self._reached(self._best, is_at_rest=True, tolerance=tolerance)
        point = await self._at(wanted)
        if self._solver.take(self._figure(point)):
            self._best = point
        return self._reached(self._best, is_at_rest=False, tolerance=tolerance)

    async def settle(self, series: SeriesName | None = None) -> PulledPoint:
        """All steps there are; with a `series` resistors, inductors and capacitors then have values of it."""
        found = await self.step(TOLERANCE)
        while not found.is_at_rest:
            found = await self.step(TOLERANCE)
        bought = {each.name: series for each in self._request.values if series and each.is_part}
        bought = {name: series for name, series in bought.items() if name in self.written}
        if not bought:
            return found
        tried = []
        for values in self._solver.preferred(bought, _MOST_PREFERRED):
            tried.append(await self._at(values))
        best = min(tried, key=lambda point: self._solver.error(self._figure(point)))
        if not math.isfinite(self._solver.error(self._figure(best))):
            return found
        return self._reached(best, is_at_rest=True, tolerance=TOLERANCE)

    async def _at(self, values: Mapping[str, float]) -> TunedPoint:
        written = {name: parse_number(format_number(value, DIGITS)) for name, value in values.items()}
        point = await self._tuning.evaluate(written)
        assert point is not None  # nobody else asks this tuning
        return point

    def _figure(self, point: TunedPoint) -> float:
        return _figure(point, self._request.expression)

    def _reached(
        self, point: TunedPoint, *, is_at_rest: bool, tolerance: float = LIVE_TOLERANCE
    ) -> PulledPoint:
        measured = self._figure(point)
        is_met = self._solver.error(measured) <= max(tolerance, _ROUNDED)
        goals = []
        for goal in self._request.goals:
            value = _figure(point, measured_as(goal))
            goals.append(GoalNow(goal=goal, value=value, is_met=goal.is_met_by(value)))
        return PulledPoint(
            values={name: point.values[name] for name in self.written},
            target=self._solver.target,
            measured=measured,
            point=point,
            goals=tuple(goals),
            is_met=is_met,
            is_at_rest=is_at_rest,
            is_at_border=not is_met and self._solver.is_at_border,
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PullCurve:
    """The use case; each call has a worker of its own."""

    tune: TuneCircuit

    async def values_of(
        self, circuit: Path, texts: Mapping[Path, bytes]
    ) -> tuple[bytes, tuple[PlacedValue, ...]]:
        """The circuit as it is being written, and the values in it that may follow. Raises UserInputError."""
        return await off_loop(self._values_of, circuit, texts)

    def _values_of(self, circuit: Path, texts: Mapping[Path, bytes]) -> tuple[bytes, tuple[PlacedValue, ...]]:
        folders = (*self.tune.libraries(), *self.tune.settings.of_circuit(circuit).readable)
        netlist, reader = load_circuit(WithTexts(self.tune.sources, texts), circuit, folders)
        data = netlist.to_bytes()
        return data, free_values(data, loads=loads_of(resolve_dependencies(netlist, reader)))

    @contextlib.asynccontextmanager
    async def __call__(self, request: PullRequest) -> AsyncIterator[Pull]:
        """Load the circuit and find what moves the quantity; kept until the context ends.

        Raises UserInputError where nothing can follow or the quantity cannot be measured, else as
        `TuneCircuit`.
        """
        chosen = {name.lower() for name in request.chosen}
        held = {name.lower() for name in request.at}
        values = [
            each
            for each in request.values
            if each.name.lower() not in held
            and (each.name.lower() in chosen if chosen else not each.is_given)
        ]
        if not values:
            raise UserInputError(
                msg("{circuit} has no part whose value may follow.", circuit=request.circuit.name),
                advice=_advice(request),
                file=request.circuit,
            )
        tune = self.tune
        if request.texts:
            tune = replace(tune, sources=WithTexts(tune.sources, request.texts))
        spec = await off_loop(read_study_spec, _document(request, values))
        asked = TuneRequest(circuit=request.circuit, spec=spec, at=request.at, corner=request.corner)
        async with tune(asked) as tuning:
            yield await _begun(tuning, request, values)


def _document(request: PullRequest, values: Sequence[PlacedValue]) -> dict[str, object]:
    measured = {measured_as(goal): measured_as(goal) for goal in request.goals}
    names = (*(each.name for each in values), *request.at)
    return {
        "parameters": [{"name": name} for name in names],
        "measure": {**measured, request.expression: request.expression},
    }


def _advice(request: PullRequest) -> Message | None:
    """What may follow only where it is chosen."""
    loads = [each.name for each in request.values if each.is_given and not request.chosen]
    if not loads:
        return None
    return msg("What loads the circuit follows only when it is chosen ({names}): D in the plot.",
               names=", ".join(loads))  # fmt: skip


def _figure(point: TunedPoint, name: str) -> float:
    return point.metrics.get(name, point.metrics.get(name.lower(), math.nan))


async def _begun(tuning: LiveTuning, request: PullRequest, values: Sequence[PlacedValue]) -> Pull:
    started = time.monotonic()
    start = await tuning.evaluate({})
    assert start is not None  # nobody else asks this tuning
    run_s = time.monotonic() - started
    measured = _figure(start, request.expression)
    if not math.isfinite(measured):
        raise not_measured(request.expression, request.circuit)
    found = await influences_on(
        tuning, request.expression, values, at_rest=measured, started=started, budget_s=request.budget_s
    )
    known = [each for each in found.found if math.isfinite(each.slope) and each.slope]
    strongest = max((abs(each.slope) for each in known), default=0.0)
    followers = [each for each in known if abs(each.slope) >= NEGLIGIBLE * strongest]
    if not request.chosen:
        followers = sorted(followers, key=lambda each: -abs(each.slope))[:MOST_FOLLOWING]
    if not followers:
        raise UserInputError(
            msg("No value of {circuit} that may follow moves {metric}.",
                circuit=request.circuit.name, metric=request.expression),
            advice=_advice(request),
            file=request.circuit,
        )  # fmt: skip
    written = {each.name: each.value for each in values}
    following = {each.name: written[each.name] for each in followers}
    slopes = {each.name: each.slope for each in followers}
    solver = ValueSolver(following, slopes, measured=measured, unit=request.unit)
    return Pull(tuning, request, solver, written=following, start=start, influences=found, run_s=run_s)
