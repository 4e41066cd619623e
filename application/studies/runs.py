"""The runs of one study: handed to the batch simulator, measured off the loop as they come back."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol, cast

from application.ports.events import StudyProgressed
from application.studies.input import StudyInput
from application.studies.measures import StudyMeasures
from application.studies.plan import NOMINAL, Point
from domain.simulation.batch import Batch, RunOutcome
from domain.simulation.goals import DesignGoal
from domain.studies.study import StudyRow
from shared.cpu_executor import usable_cores
from shared.errors import UserInputError
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from shared.events import EventBus

_MEASURED_AT_ONCE = 64
_MEASURED_EVERY_S = 0.1


class RunsBatches(Protocol):
    """The part of application.ports.simulation.BatchSimulator that is used here."""

    def run(self, batch: Batch, *, workers: int | None = None) -> AsyncIterator[RunOutcome]:
        """Every run's outcome, as they end."""


class StudyRuns:
    """Does points and keeps their rows. Implements application.studies.input.Runs."""

    def __init__(
        self,
        study: StudyInput,
        measures: StudyMeasures,
        *,
        kind: str,
        key: str,
        batch: RunsBatches,
        workers: int | None,
        events: EventBus,
        untold: int = 0,
        on_rows: Callable[[], None] | None = None,
        look: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._study = study
        self._measures = measures
        self._kind = kind
        self._key = key
        self._batch = batch
        self._workers = workers
        self._events = events
        self._untold = untold
        """Runs that progress does not count: they are none of the study's rows."""
        self._on_rows = on_rows
        """Told in place of the bus, when rows have come."""
        self._look = look
        """Called after rows have come; none come until it has returned."""
        self._points: list[Point] = []
        self._rows: dict[int, StudyRow] = {}
        self._best: tuple[float, StudyRow] | None = None
        self._first_at: float | None = None
        self._failed = 0
        self._busy_s = 0.0
        """Of all runs together, in their workers."""
        self._are_signals_known = False
        self.units: dict[str, str] = {}
        """Of the metrics that some run had."""

    @property
    def total(self) -> int:
        return len(self._points)

    @property
    def done(self) -> int:
        return len(self._rows)

    @property
    def failed(self) -> int:
        """Runs that did not simulate."""
        return self._failed

    def row(self, number: int) -> StudyRow | None:
        """One run, None when it has not been done."""
        return self._rows.get(number)

    @property
    def rows(self) -> tuple[StudyRow, ...]:
        """Of all runs that were done, by number."""
        return tuple(self._rows[number] for number in sorted(self._rows))

    async def do(self, points: Sequence[Point]) -> list[StudyRow]:
        """The rows of the points, in their order. What is done of them is kept when it is cancelled."""
        first = len(self._points)
        self._points += points
        batch = await off_loop(self._batch_of, range(first, len(self._points)), self._measures.signals)
        self._tell()
        waiting: list[RunOutcome] = []
        measured_at = time.monotonic()
        outcomes = cast("AsyncGenerator[RunOutcome, None]", self._batch.run(batch, workers=self._workers))
        try:
            async with aclosing(outcomes):
                async for outcome in outcomes:
                    waiting.append(outcome)
                    self._first_at = self._first_at or time.monotonic()
                    is_due = time.monotonic() - measured_at > _MEASURED_EVERY_S
                    if is_due or len(waiting) >= _MEASURED_AT_ONCE:
                        ready, waiting = waiting, []
                        await self._measure(ready)
                        if self._look is not None:
                            await self._look()
                        measured_at = time.monotonic()
        finally:
            await self._measure(waiting)
            self._events.flush_throttled(self._key)
        return [self._rows[number] for number in range(first, len(self._points))]

    def _batch_of(self, numbers: range, signals: tuple[str, ...] | None) -> Batch:
        plan, seed = self._study.plan, self._study.spec.seed
        return Batch(
            circuits=tuple(replace(circuit, random_seed=seed) for circuit in plan.circuits),
            runs=tuple(plan.run(number, self._points[number]) for number in numbers),
            signals=signals,
            timeout_s=self._study.spec.timeout_s,
        )

    async def _measure(self, outcomes: Sequence[RunOutcome]) -> None:
        if not outcomes:
            return
        await self._refuse_unknown_signals(outcomes)
        await off_loop(self._add_rows, outcomes)
        self._tell()

    async def _refuse_unknown_signals(self, outcomes: Sequence[RunOutcome]) -> None:
        """Raise UserInputError when the runs lack a signal that the circuit does not have.

        Runs give only what is measured, so the names it does have are found by one run that gives all.
        """
        if self._are_signals_known or self._measures.signals is None:
            return
        for outcome in outcomes:
            if outcome.state == "ok":
                self._are_signals_known = await off_loop(self._answers, outcome)
            if self._are_signals_known:
                return
            if outcome.state == "ok" or any(issue.code == "no-data" for issue in outcome.issues):
                self._are_signals_known = True  # or it is told now
                for whole in await self._with_all_signals(outcome.run_id):
                    await off_loop(self._row, whole)

    async def _with_all_signals(self, number: int) -> list[RunOutcome]:
        """A run once more, with every signal; empty when it fails."""
        batch = await off_loop(self._batch_of, range(number, number + 1), None)
        outcomes = cast("AsyncGenerator[RunOutcome, None]", self._batch.run(batch, workers=1))
        async with aclosing(outcomes):
            return [outcome async for outcome in outcomes if outcome.state == "ok"]

    def _answers(self, outcome: RunOutcome) -> bool:
        """Whether the metrics' names are all there."""
        try:
            self._row(outcome)
        except UserInputError:
            return False
        return True

    def _add_rows(self, outcomes: Sequence[RunOutcome]) -> None:
        for outcome in outcomes:
            row = self._row(outcome)
            self._rows[row.run] = row
            self._failed += row.state != "ok"
            self._busy_s += outcome.duration_s
            if self._study.goals and row.state == "ok":
                distance = sum(goal.shortfall(row.metrics[goal.metric]) for goal in self._study.goals)
                if self._best is None or distance < self._best[0]:
                    self._best = (distance, row)

    def _row(self, outcome: RunOutcome) -> StudyRow:
        point = self._points[outcome.run_id]
        changed = self._study.plan.changed(point)
        metrics: Mapping[str, float] = dict.fromkeys(self._measures.names, float("nan"))
        problems = {}
        if outcome.state == "ok":
            found = self._measures.of(outcome.plots, changed)
            metrics, problems = found.values, dict(found.problems)
            for name, unit in found.units.items():
                self.units.setdefault(name, unit)
        return StudyRow(
            run=outcome.run_id,
            label=point.label,
            corner=None if point.corner is NOMINAL else point.corner.name,
            parameters=changed,
            metrics=metrics,
            state=outcome.state,
            problems=problems,
            issues=outcome.issues,
            goals_met=_are_met(self._study.goals, metrics),
        )

    def _tell(self) -> None:
        if self._on_rows is not None:
            self._on_rows()
            return
        total = self.total - self._untold
        done = min(len(self._rows), total)
        elapsed = 0.0 if self._first_at is None else time.monotonic() - self._first_at
        # Loading the circuit comes before the first run, which so tells nothing about the rate.
        rate = (done - 1) / elapsed if done > 1 and elapsed > 0 else 0.0
        if not rate and self._busy_s:  # what one run took, on as many workers as there are
            rate = (self._workers or usable_cores()) * len(self._rows) / self._busy_s
        self._events.publish_throttled(
            StudyProgressed(
                key=self._key,
                kind=self._kind,
                done=done,
                total=total,
                failed=self._failed,
                rate_hz=rate,
                remaining_s=(total - done) / rate if rate > 0 else None,
                best=dict(self._best[1].metrics) if self._best is not None else None,
                best_run=self._best[1].run if self._best is not None else None,
            ),
            key=self._key,
        )


def _are_met(goals: Sequence[DesignGoal], metrics: Mapping[str, float]) -> bool | None:
    """Whether a run meets all goals that are no mere wishes; None when there are none."""
    musts = [goal for goal in goals if goal.weight == "must"]
    return all(goal.is_met_by(metrics[goal.metric]) for goal in musts) if musts else None
