"""Load what a stored result shows: its vectors, to be drawn, and its figures beside those of the last run."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from shared.errors import CircuitAIError, UserInputError
from shared.uninterrupted import off_loop, uninterrupted

if TYPE_CHECKING:
    from application.ports.simulation import (
        ColumnBuilder,
        Growth,
        ResultStore,
        WaveformReader,
        WaveformSource,
    )
    from domain.simulation.notes import SimulationNote
    from domain.simulation.operating_point import OperatingPoint
    from domain.simulation.reach import Reach
    from domain.simulation.result import Quantity, SimulationIssue
    from domain.simulation.verdict import Verdict
    from domain.simulation.waveform import Plot
    from shared.tasks import AsyncTaskRegistry

_log = logging.getLogger(__name__)

WORTH_COLUMNS_BYTES = 32 * 2**20
"""Raw files from this size on get a column file when they are shown: below it, reading all is as quick."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFigures:
    """The `.meas` figures of a stored result."""

    result_path: Path
    """Its result.json."""
    circuit: Path
    netlist_sha256: str
    """Of the circuit's file as it was simulated."""
    read_beside: Mapping[Path, str] = field(default_factory=dict)
    """The same of files of the project that it included or read numbers from, by their paths."""
    number: int
    """Counted from the first result of the project."""
    ok: bool
    status: str = "ok"
    """As `SimulationRun.status`."""
    verdict: Verdict = "complete"
    reach: Reach | None = None
    """How far a run came that ended early."""
    created: str
    """ISO 8601, UTC."""
    is_ours: bool = True
    """False: it came with the project from elsewhere, and nobody has run it here."""
    metrics: Mapping[str, Quantity]
    """NaN for one that could not be had."""
    curves: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """What the circuit's own `plot` commands show: kind of analysis ("" = any) and expressions."""
    operating_point: OperatingPoint | None = None
    """None when the run has none; of a stepped circuit that of its first step."""
    is_stepped: bool = False
    settings: Mapping[str, str] = field(default_factory=dict)
    """Values that the run had, other than the circuit's own."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LoadedWaveforms:
    """What one result shows."""

    source: Path
    """What was asked for: a result.json, its folder or a raw file."""
    plots: tuple[Plot, ...]
    """The analyses that have data, in the order of the file."""
    figures: StoredFigures | None = None
    """None for a bare raw file."""
    previous: StoredFigures | None = None
    """Of the last good run of the same circuit before this one."""
    error: UserInputError | None = None
    """Why there are no plots: the run has left no data, or its raw file is gone."""
    is_truncated: bool = False
    """The data end before what their header promises: the run, or a copy, broke off."""
    growth: Growth | None = None
    """Of a run that is under way: nothing of it is stored yet."""


class FigureStore(Protocol):
    """Reads the figures of stored results. Blocking: called off the loop."""

    def read(self, source: Path) -> StoredFigures | None:
        """The figures of a result (its result.json or its folder); None for anything else."""

    def said(self, result: Path) -> tuple[tuple[SimulationIssue, ...], tuple[SimulationNote, ...]]:
        """The issues and notes of a result.json; none where it can't be read."""

    def previous(self, figures: StoredFigures) -> StoredFigures | None:
        """Those of the newest good result of the same circuit that is older."""

    def log_tail(self, log: Path, most_bytes: int) -> str:
        """The end of a run's log; "" without a regular file."""

    def digest_of(self, circuit: Path) -> str | None:
        """SHA-256 of a circuit's file; None without a regular file."""

    def circuit_text(self, result: Path) -> bytes | None:
        """The circuit's file as it was run for a result; None where it was not kept, or is another by now."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LoadWaveforms:
    """The use case: a result in, its plots and figures out, read off the loop."""

    results: ResultStore
    waveforms: WaveformReader
    figures: FigureStore
    columns: ColumnBuilder
    tasks: AsyncTaskRegistry

    async def __call__(self, source: Path) -> LoadedWaveforms:
        """What `source` (a result.json, a result's folder or a raw file) shows.

        A result without data comes with its `error`. Raises UserInputError when there is no result.
        """
        loaded = await off_loop(self._load, source)
        if loaded.figures is not None and loaded.plots:
            self._prepare_behind(source)
        return loaded

    async def open(self, source: Path) -> WaveformSource:
        """The raw file of `source`, its vectors still unread; it is used off the loop, and closed there.

        For what is too long to be loaded: `window` gives what a plot can show of a vector. Raises
        UserInputError when there is no result.
        """
        return await off_loop(lambda: self.waveforms.open(self.results.raw_path_of(source)))

    async def figures_of(self, result: Path) -> StoredFigures | None:
        """The figures of a result without its vectors; None where there is none that can be read."""
        return await off_loop(self.figures.read, result)

    async def said(self, result: Path) -> tuple[tuple[SimulationIssue, ...], tuple[SimulationNote, ...]]:
        """The issues and notes of a result.json; none where it can't be read."""
        return await off_loop(self.figures.said, result)

    async def circuit_text(self, result: Path) -> bytes | None:
        """The circuit's file as it was run for a result; None where it was not kept, or is another by now."""
        return await off_loop(self.figures.circuit_text, result)

    async def study(self, result: Path) -> Mapping[str, Any]:
        """What a study's result.json says. Raises UserInputError when it can't be read."""
        return await off_loop(self.results.study_document, result)

    async def log_tail(self, log: Path, most_bytes: int) -> str:
        """The end of a run's log; "" where there is no regular file: a stranger may have put a pipe."""
        return await off_loop(self.figures.log_tail, log, most_bytes)

    async def digest_of(self, circuit: Path) -> str | None:
        """SHA-256 of a circuit's file, as results name it; None where there is no regular file."""
        return await off_loop(self.figures.digest_of, circuit)

    async def prepare(self, source: Path) -> bool:
        """Make the column file of a stored result that is large enough to be worth it; at low priority.

        Returns whether it is there. Raises UserInputError when there is no result, EnvironmentProblem when
        the disk is full. A cancellation ends it soon.
        """
        stop = threading.Event()
        return await uninterrupted(asyncio.to_thread(self._prepare, source, stop), on_cancel=stop.set)

    def _prepare(self, source: Path, stop: threading.Event) -> bool:
        raw_path = self.results.raw_path_of(source)
        if raw_path.stat().st_size < WORTH_COLUMNS_BYTES:
            return False
        return self.columns.build(raw_path, stop)

    def _prepare_behind(self, source: Path) -> None:
        task_id = str(source)
        running = [handle for handle in self.tasks.handles if handle.kind == "column-file"]
        if all(handle.task_id != task_id for handle in running):
            # One after the other: two would only disturb each other on the disk.
            self.tasks.submit(
                "column-file", task_id, self._prepare_quietly(source), exclusive_key="column-file"
            )

    async def _prepare_quietly(self, source: Path) -> None:
        """Nobody waits for it and everything goes on without it: a full disk is told where it hurts."""
        try:
            await self.prepare(source)
        except (CircuitAIError, OSError) as error:
            _log.info("no column file for %s: %s", source, error)

    def _load(self, source: Path) -> LoadedWaveforms:
        figures = self.figures.read(source)
        previous = None if figures is None else self.figures.previous(figures)
        plots: tuple[Plot, ...] = ()
        problem: UserInputError | None = None
        is_truncated = False
        try:
            raw_path = self.results.raw_path_of(source)
            plots = tuple(plot for plot in self.waveforms.read(raw_path) if plot.points)
            with self.waveforms.open(raw_path) as file:
                is_truncated = any(outline.is_truncated for outline in file.outlines)
        except UserInputError as error:
            if figures is None:
                raise
            problem = error
        return LoadedWaveforms(
            source=source,
            plots=plots,
            figures=figures,
            previous=previous,
            error=problem,
            is_truncated=is_truncated,
        )
