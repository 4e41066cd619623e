"""Load what a stored result shows: its vectors, to be drawn, and its figures beside those of the last run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from shared.errors import UserInputError

if TYPE_CHECKING:
    from application.ports import ResultStore, WaveformReader
    from domain.simulation.result import Quantity
    from domain.simulation.waveform import Plot
    from shared.cpu_executor import CpuTaskExecutor


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFigures:
    """The `.meas` figures of a stored result."""

    result_path: Path
    """Its result.json."""
    circuit: Path
    netlist_sha256: str
    """Of the circuit's file as it was simulated."""
    number: int
    """Counted from the first result of the project."""
    ok: bool
    metrics: Mapping[str, Quantity]
    """NaN for one that could not be had."""


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


class FigureStore(Protocol):
    """Reads the figures of stored results. Blocking: called off the loop."""

    def read(self, source: Path) -> StoredFigures | None:
        """The figures of a result (its result.json or its folder); None for anything else."""
        ...

    def previous(self, figures: StoredFigures) -> StoredFigures | None:
        """Those of the newest good result of the same circuit that is older."""
        ...


class LoadWaveforms:
    """The use case: a result in, its plots and figures out, read off the loop."""

    def __init__(
        self,
        *,
        results: ResultStore,
        waveforms: WaveformReader,
        figures: FigureStore,
        cpu: CpuTaskExecutor,
    ) -> None:
        self._results = results
        self._waveforms = waveforms
        self._figures = figures
        self._cpu = cpu

    async def __call__(self, source: Path) -> LoadedWaveforms:
        """What `source` (a result.json, a result's folder or a raw file) shows.

        A result without data comes with its `error`. Raises UserInputError when there is no result.
        """
        return await self._cpu.run_in_thread(self._load, source)

    def _load(self, source: Path) -> LoadedWaveforms:
        figures = self._figures.read(source)
        previous = None if figures is None else self._figures.previous(figures)
        plots: tuple[Plot, ...] = ()
        problem: UserInputError | None = None
        try:
            found = self._waveforms.read(self._results.raw_path_of(source))
            plots = tuple(plot for plot in found if plot.points)
        except UserInputError as error:
            if figures is None:
                raise
            problem = error
        return LoadedWaveforms(source=source, plots=plots, figures=figures, previous=previous, error=problem)
