"""The raw file of a run that is under way: ngspice writes its points as it goes, and their count at the end.

What is new is read in blocks and kept, of very many points each second, fourth, eighth ...: what it costs
and takes is bounded, however long the run. The file is a stranger's (his commands may have made it): it is
read as any raw file is.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, cast

from application.ports.simulation import Growth
from domain.simulation.reach import reach_of
from infrastructure.waveforms.raw_file import WaveformFile
from shared.errors import UserInputError

if TYPE_CHECKING:
    from domain.simulation.element_signals import Elements
    from domain.simulation.waveform import Array, Plot, PlotOutline
    from domain.simulation.wiring import Wiring

_MOST_POINTS = 100_000
"""Beyond it a screen shows no more."""
_MOST_NUMBERS = 4_000_000
"""Of all signals together (32 MB)."""
_LEAST_POINTS = 1_000
_ENOUGH_POINTS = 2_000
"""Of one run among many that are drawn together, whose points all have to be drawn in one turn."""
_LEAST_OF_MANY = 200
_BLOCK_NUMBERS = 1_000_000
"""Read at a time."""
_WITHOUT_ELEMENTS = ("ac", "noise", "disto", "sp")
"""ngspice knows the current of no device there and leaves zeros, which are told apart after the run only."""


@dataclass(slots=True)
class _Kept:
    """What has been read of one plot."""

    read: int = 0
    """Rows."""
    stride: int = 1
    """Every so-many-th of them is kept."""
    columns: list[Array] = field(default_factory=list)


class GrowingRaw:
    """Implements application.ports.simulation.GrowingData."""

    def __init__(
        self,
        path: Path,
        *,
        ends: Mapping[str, tuple[float, float]],
        wiring: Wiring | None = None,
        beside: int = 1,
        is_closed: bool = False,
    ) -> None:
        """`beside`: so many runs are read together, this one among them; `is_closed`: there is nothing to be
        read before the run is over (`go_on_in`)."""
        self.ends = ends
        self._path = path
        self._most_points = max(_MOST_POINTS // beside, _ENOUGH_POINTS)
        self._most_numbers = _MOST_NUMBERS // beside
        self._least_points = _LEAST_POINTS if beside == 1 else _LEAST_OF_MANY
        self._wiring = wiring
        self._elements: Elements | None = None
        self._lock = threading.Lock()
        self._is_closed = is_closed
        self._kept: list[_Kept] = []
        self._last = Growth(plots=())

    def close(self) -> None:
        """The run is over and its file about to be taken away; waits for a reader."""
        with self._lock:
            self._is_closed = True

    def go_on_in(self, path: Path) -> None:
        """The file has been taken there, whole: what has not been read yet is read from it."""
        self._path = path  # first: a reader that comes in between finds it closed
        self._is_closed = False

    def read(self) -> Growth:
        with self._lock:
            if not self._is_closed:
                try:
                    with WaveformFile(self._path, is_growing=True) as file:
                        self._last = self._grown(file)
                except UserInputError:  # not begun yet, or its head is just being written
                    pass
            return self._last

    def _grown(self, file: WaveformFile) -> Growth:
        plots: list[Plot] = []
        stride, reach = 1, None
        for number, outline in enumerate(file.outlines):
            if number == len(self._kept):
                self._kept.append(_Kept())
            kept = self._kept[number]
            self._take(file, number, outline, kept)
            if kept.read:
                plot = self._plot(outline, kept)
                plots.append(plot)
                stride, reach = kept.stride, None
                if (axis := plot.axis) is not None:
                    reach = reach_of(plot.analysis, float(axis.data[-1].real), axis.unit, self.ends)
        rows = sum(kept.read for kept in self._kept)
        return Growth(plots=tuple(plots), stride=stride, reach=reach, rows=rows)

    def _take(self, file: WaveformFile, number: int, outline: PlotOutline, kept: _Kept) -> None:
        """Add the rows that have come since, thinned like those before."""
        import numpy as np

        names = [signal.name for signal in outline.signals]
        block = max(_BLOCK_NUMBERS // max(len(names), 1), 1)
        most = max(min(self._most_points, self._most_numbers // max(len(names), 1)), self._least_points)
        while kept.read < outline.points:
            rows = range(kept.read, min(kept.read + block, outline.points))
            first = -kept.read % kept.stride
            new: list[Array] = [
                vector.data[first :: kept.stride] for vector in file.traces(names, number, rows)
            ]
            if kept.columns:
                new = [cast("Array", np.concatenate(pair)) for pair in zip(kept.columns, new, strict=True)]
            kept.columns = new
            kept.read = rows.stop
            while len(kept.columns[0]) > most:
                kept.columns = [column[::2].copy() for column in kept.columns]
                kept.stride *= 2

    def _plot(self, outline: PlotOutline, kept: _Kept) -> Plot:
        from domain.simulation.element_signals import Elements, PlotElements
        from domain.simulation.waveform import Plot, Vector

        read = {
            signal.name: Vector(name=signal.name, unit=signal.unit, data=data)
            for signal, data in zip(outline.signals, kept.columns, strict=True)
        }
        wiring = self._wiring
        hidden = frozenset() if wiring is None else frozenset(wiring.hidden)
        elements = None
        if wiring is not None and outline.analysis not in _WITHOUT_ELEMENTS:
            beside = {name: read[name] for name in hidden & read.keys()}
            self._elements = self._elements or Elements(wiring=wiring)
            elements = PlotElements(elements=self._elements, beside=beside)
        return Plot(
            analysis=outline.analysis,
            name=outline.name,
            title=outline.title,
            vectors={name: vector for name, vector in read.items() if name not in hidden},
            axis_name=outline.axis_name,
            elements=elements,
        )
