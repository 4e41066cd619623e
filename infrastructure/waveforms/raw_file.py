"""Opens raw files of ngspice, LTspice, QSPICE and Xyce: headers at once, vectors when they are asked for.

Hides the formats and their traps, and the column file beside a raw file, which gives a vector without
reading the rest. `WaveformFile` is for who wants some of a file, `read_raw` for who wants all of it.
numpy is imported only where data are read: commands that could read some, and don't, start without it.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, BinaryIO, Self

from infrastructure.waveforms.element_data import elements_beside
from infrastructure.waveforms.raw_header import opened
from infrastructure.waveforms.raw_layout import RawHeader, walk
from shared.errors import UserInputError
from shared.message import msg

if TYPE_CHECKING:
    from domain.simulation.element_signals import PlotElements
    from domain.simulation.waveform import Array, Envelope, Plot, PlotOutline, RealArray, Step, Vector
    from infrastructure.persistence.authenticity import UserKey
    from infrastructure.waveforms.column_file import Checked, ColumnFile
    from infrastructure.waveforms.pyramid import Pyramid

_log = logging.getLogger(__name__)

MAX_DATA_BYTES = 4 * 2**30
"""Most data taken into memory from one file."""
_MOST_KEPT = 32
"""Vectors a plot shows at a time; those of older plots are read again."""


class RawFileReader:
    """The WaveformReader port: reads raw files, up to a memory cap."""

    def __init__(self, max_bytes: int = MAX_DATA_BYTES, *, key: UserKey | None = None) -> None:
        """`key`: of the user whose column files are believed; None is the one of the environment."""
        self._max_bytes = max_bytes
        self._key = key
        self._checked: Checked = {}

    def read(self, path: Path) -> list[Plot]:
        with self.open(path) as file:
            return file.read()

    def open(self, path: Path) -> WaveformFile:
        return WaveformFile(path, max_bytes=self._max_bytes, key=self._key, checked=self._checked)


def read_headers(path: Path) -> list[RawHeader]:
    """The headers of all plots, without their data (binary data are jumped over).

    Raises UserInputError when the file is missing, no regular file or no raw file.
    """
    with opened(path) as file:
        return [header for header, _ in walk(file, path)]


def read_raw(
    path: Path, *, signals: Collection[str] | None = None, max_bytes: int = MAX_DATA_BYTES
) -> list[Plot]:
    """All plots of a raw file with their vectors, or only the axes and the canonical names in `signals`.

    Plots without points are kept, with empty vectors; those without variables are left out. Raises
    UserInputError when it is no raw file or holds more than `max_bytes` of data.
    """
    with WaveformFile(path, max_bytes=max_bytes) as file:
        return file.read(signals)


@dataclass(frozen=True, slots=True)
class _Part:
    """One plot as it is given out: a plot of the file, or the rows of one run in a stepped one."""

    plot: int
    rows: range | None
    step: Step | None


class WaveformFile:
    """An open raw file. May be used by several threads; close it, or use it in a `with`.

    Vectors that were given out stay valid after closing. A column file beside it is used when it belongs to
    it as it is now. Raises UserInputError when the file is missing or no raw file.
    """

    def __init__(
        self,
        path: Path,
        *,
        max_bytes: int = MAX_DATA_BYTES,
        key: UserKey | None = None,
        checked: Checked | None = None,
        is_growing: bool = False,
    ) -> None:
        """`is_growing`: it is just being written."""
        from infrastructure.waveforms.column_file import ColumnFile

        self.path = path
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._opening = opened(path)
        self._file: BinaryIO = self._opening.__enter__()
        try:
            found = [
                (header, end)
                for header, end in walk(self._file, path, is_growing=is_growing)
                if header.variables
            ]
            self._headers = [header for header, _ in found]
            self._ends = [end for _, end in found]
            self._columns: ColumnFile | None = ColumnFile.beside(path, self._headers, key, checked)
            self._parsed: dict[int, list[Array]] = {}
            self._named: dict[int, list[tuple[int, str]]] = {}
            self._kept: dict[tuple[str, int], tuple[RealArray | None, Array, Pyramid | None]] = {}
            self._elements = elements_beside(path)
            saved = () if self._elements is None else self._elements.wiring.hidden
            self._beside = frozenset(saved)
            self._parts = [part for number in range(len(found)) for part in self._parts_of(number)]
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; what has not been read can't be any more."""
        self._opening.__exit__(None, None, None)

    @property
    def has_columns(self) -> bool:
        return self._columns is not None

    @cached_property
    def outlines(self) -> tuple[PlotOutline, ...]:
        """What the file holds; plots without variables are left out, runs of a `.step` are apart."""
        return tuple(self._outline(part) for part in self._parts)

    @property
    def plots(self) -> list[Plot]:
        """The plots, each vector read when it is first asked for (and then kept)."""
        from domain.simulation.waveform import Plot

        return [
            Plot(
                analysis=self._headers[part.plot].analysis,
                name=self._headers[part.plot].plot_name,
                title=self._headers[part.plot].title,
                vectors=_LazyVectors(self, number, [name for _, name in self._own_names(part.plot)]),
                axis_name=self._axis_name(part.plot),
                step=part.step,
                elements=self._elements_with(_LazyVectors(self, number, self._beside_names(part.plot))),
            )
            for number, part in enumerate(self._parts)
        ]

    def read(self, signals: Collection[str] | None = None) -> list[Plot]:
        """All plots with their vectors, or only the axes and the canonical names in `signals`.

        Raises UserInputError when that is more than the memory cap.
        """
        from domain.simulation.waveform import Plot, Vector

        chosen = [self._chosen(number, signals) for number in range(len(self._headers))]
        self._check_size(chosen)
        columns = [self._read(number, [i for i, _ in which]) for number, which in enumerate(chosen)]
        plots = []
        for part in self._parts:
            header, which = self._headers[part.plot], chosen[part.plot]
            read = {
                name: Vector(name=name, unit=self._unit(part.plot, index, name), data=_cut(data, part.rows))
                for (index, name), data in zip(which, columns[part.plot], strict=True)
            }
            plots.append(
                Plot(
                    analysis=header.analysis,
                    name=header.plot_name,
                    title=header.title,
                    vectors={name: vector for name, vector in read.items() if name not in self._beside},
                    axis_name=self._axis_name(part.plot),
                    step=part.step,
                    elements=self._elements_with({name: read[name] for name in self._beside & read.keys()}),
                )
            )
        return plots

    def trace(self, name: str, plot: int = 0) -> Vector:
        """One vector of a plot by its canonical name. Raises KeyError when there is none."""
        return self.traces([name], plot)[0]

    def traces(self, names: Sequence[str], plot: int = 0, rows: range | None = None) -> list[Vector]:
        """Several vectors in one pass over the file, whole or the samples `rows` (of step 1)."""
        from domain.simulation.waveform import Vector

        part = self._parts[plot]
        index_of = {name: index for index, name in self._names(part.plot)}
        indices = [index_of[name] for name in names]
        wanted = part.rows
        if rows is not None:
            base = 0 if part.rows is None else part.rows.start
            wanted = range(base + rows.start, base + rows.stop)
        if rows is None:
            self._check_size([[(index, "") for index in indices]], [part.plot])
        return [
            Vector(name=name, unit=self._unit(part.plot, index, name), data=data)
            for name, index, data in zip(names, indices, self._read(part.plot, indices, wanted), strict=True)
        ]

    def window(self, name: str, start: float, stop: float, max_points: int, plot: int = 0) -> Envelope:
        """A real vector between two places of its axis, as at most `max_points` stretches.

        A complex vector is taken by magnitude. An axis that does not only rise or only fall (a nested
        sweep) is replaced by the number of the sample. Raises KeyError when there is no such vector.
        """
        from infrastructure.waveforms.pyramid import envelope

        axis, vector, levels = self._shown(name, plot)
        return envelope(axis, vector, levels, start=start, stop=stop, max_points=max_points)

    def _shown(self, name: str, plot: int) -> tuple[RealArray | None, Array, Pyramid | None]:
        """(axis, vector, pyramid) of what is plotted; kept, because a plot is moved again and again."""
        import numpy as np

        from infrastructure.waveforms.pyramid import is_monotonic, pyramid_of

        if (known := self._kept.get((name, plot))) is not None:
            return known
        part = self._parts[plot]
        columns = self._columns if part.rows is None else None
        whole = range(self.outlines[plot].points)  # mapped, but not read at once
        vector = self.traces([name], plot, whole)[0].data
        axis_name = self._axis_name(part.plot)
        axis: RealArray | None = None
        if axis_name is not None:
            kept = list(self._kept.items())
            axis = next((shown[0] for (_, number), shown in kept if number == plot), None)
            if axis is None:
                axis = self.traces([axis_name], plot, whole)[0].data.real
                is_in_order = columns.is_monotonic(part.plot) if columns else is_monotonic(axis)
                if not is_in_order:
                    axis = np.arange(len(axis), dtype=np.float64)
        levels: Pyramid | None = None
        if columns is not None and columns is self._columns:  # else it was dropped meanwhile
            index_of = {written: index for index, written in self._names(part.plot)}
            with self._dropped_when_changed():
                levels = columns.pyramid(part.plot, index_of[name])
        if levels is None:
            vector = np.abs(vector) if np.iscomplexobj(vector) else vector
            levels = pyramid_of(vector.real)
        with self._lock:
            while len(self._kept) >= _MOST_KEPT:
                self._kept.pop(next(iter(self._kept)))
            self._kept[name, plot] = axis, vector, levels
        return axis, vector, levels

    def _parts_of(self, number: int) -> Iterator[_Part]:
        from domain.simulation.waveform import Step

        header = self._headers[number]
        if header.step:
            step = Step(number=header.step, count=max(header.steps, header.step), values=header.step_values)
            yield _Part(number, None, step)
            return
        bounds = self._step_bounds(number) if header.is_stepped and header.points else None
        if bounds is None:
            yield _Part(number, None, None)
            return
        values = self._step_values(len(bounds))
        for place, rows in enumerate(bounds):
            yield _Part(number, rows, Step(number=place + 1, count=len(bounds), values=values[place]))

    def _step_bounds(self, number: int) -> list[range]:
        from infrastructure.waveforms.steps import MAX_STEPS, step_starts

        header = self._headers[number]
        if not header.has_axis:
            starts = list(range(header.points))
        else:
            axis = self._read(number, [0])[0]
            assert not isinstance(axis, complex)
            starts = step_starts(axis.real)
        if len(starts) > MAX_STEPS:
            raise UserInputError(
                msg("{file} has more than {limit} steps.", file=self.path, limit=MAX_STEPS),
                file=self.path,
                error_type="too_large",
            )
        return [range(a, b) for a, b in zip(starts, [*starts[1:], header.points], strict=True)]

    def _step_values(self, count: int) -> Sequence[Mapping[str, float]]:
        from infrastructure.waveforms.steps import step_values

        found = step_values(self.path)
        return found if len(found) == count else [{}] * count

    def _outline(self, part: _Part) -> PlotOutline:
        from domain.simulation.waveform import PlotOutline, SignalOutline
        from infrastructure.waveforms.raw_data import is_real

        header = self._headers[part.plot]
        return PlotOutline(
            analysis=header.analysis,
            name=header.plot_name,
            title=header.title,
            points=header.points if part.rows is None else len(part.rows),
            axis_name=self._axis_name(part.plot),
            signals=tuple(
                SignalOutline(
                    name=name,
                    unit=self._unit(part.plot, index, name),
                    is_complex=not is_real(header, index),
                    points=header.lengths[index] if part.rows is None else len(part.rows),
                )
                for index, name in self._own_names(part.plot)
            ),
            is_truncated=header.is_truncated,
            step=part.step,
        )

    def _names(self, number: int) -> list[tuple[int, str]]:
        """(index, canonical name) of all variables; names that come twice get #2 ..."""
        from domain.simulation.waveform import canonical_name

        if (known := self._named.get(number)) is not None:
            return known
        header = self._headers[number]
        named: list[tuple[int, str]] = []
        seen: dict[str, int] = {}
        for index, (written, kind) in enumerate(header.variables):
            name = canonical_name(written, kind, header.analysis)
            seen[name] = seen.get(name, 0) + 1
            named.append((index, name if seen[name] == 1 else f"{name}#{seen[name]}"))
        self._named[number] = named
        return named

    def _own_names(self, number: int) -> list[tuple[int, str]]:
        """The same without what was saved for the currents of elements alone."""
        names = self._names(number)
        return [each for each in names if each[1] not in self._beside] if self._beside else names

    def _beside_names(self, number: int) -> list[str]:
        """What was saved for the currents of elements alone."""
        return [name for _, name in self._names(number) if name in self._beside]

    def _elements_with(self, beside: Mapping[str, Vector]) -> PlotElements | None:
        if self._elements is None:
            return None
        from domain.simulation.element_signals import PlotElements

        return PlotElements(elements=self._elements, beside=beside)

    def _chosen(self, number: int, signals: Collection[str] | None) -> list[tuple[int, str]]:
        has_axis = self._headers[number].has_axis
        return [
            (index, name)
            for index, name in self._names(number)
            if signals is None or name in signals or (has_axis and index == 0)
        ]

    def _axis_name(self, number: int) -> str | None:
        return self._names(number)[0][1] if self._headers[number].has_axis else None

    def _unit(self, number: int, index: int, name: str) -> str:
        from domain.simulation.waveform import unit_of

        header = self._headers[number]
        return unit_of(name, header.variables[index][1], header.analysis)

    def _check_size(
        self, chosen: Sequence[Sequence[tuple[int, str]]], plots: Sequence[int] | None = None
    ) -> None:
        if self._columns is not None:
            return  # mapped, not taken into memory
        needed = 0
        for number, which in zip(plots or range(len(chosen)), chosen, strict=True):
            header = self._headers[number]
            needed += (16 if header.is_complex else 8) * sum(header.lengths[index] for index, _ in which)
        if needed > self._max_bytes:
            raise UserInputError(
                msg("{file} contains {size} MB of data, more than the {limit} MB that can be read at once.",
                    file=self.path, size=needed // 2**20, limit=self._max_bytes // 2**20),
                advice=msg("Save fewer signals with .save, or use a larger time step."),
                file=self.path,
                error_type="too_large",
            )  # fmt: skip

    def _read(self, number: int, indices: Sequence[int], rows: range | None = None) -> list[Array]:
        if (columns := self._columns) is not None:
            is_whole = rows is None
            with self._dropped_when_changed():
                return [_cut(columns.column(number, index, is_whole=is_whole), rows) for index in indices]
            if is_whole:
                self._check_size([[(index, "") for index in indices]], [number])
        from infrastructure.waveforms.raw_data import Rows, read_columns

        header = self._headers[number]
        source = Rows(self._file, self.path, header, self._ends[number])
        try:
            with self._lock:
                if header.is_binary:
                    return read_columns(source, indices, rows)
                if number not in self._parsed:  # text is read once: one column takes as long as all
                    self._parsed[number] = read_columns(source, range(len(header.variables)))
                return [_cut(self._parsed[number][index], rows) for index in indices]
        except MemoryError as error:
            raise UserInputError(
                msg("{file} does not fit into the memory of this machine.", file=self.path),
                advice=msg("Save fewer signals with .save, or use a larger time step."),
                file=self.path,
                error_type="too_large",
            ) from error

    @contextmanager
    def _dropped_when_changed(self) -> Iterator[None]:
        """A column file that somebody changed is used no more: the raw file has it all."""
        from infrastructure.waveforms.column_file import ChangedColumns

        try:
            yield
        except ChangedColumns:
            _log.warning("the column file beside %s was changed: the raw file is read instead", self.path)
            self._columns = None


class _LazyVectors(Mapping[str, "Vector"]):
    """The vectors of one plot, each read when it is first asked for."""

    def __init__(self, file: WaveformFile, number: int, names: Sequence[str]) -> None:
        self._file = file
        self._number = number
        self._names = dict.fromkeys(names)
        self._known: dict[str, Vector] = {}

    def __getitem__(self, name: str) -> Vector:
        if name not in self._names:
            raise KeyError(name)
        if name not in self._known:
            self._known[name] = self._file.trace(name, self._number)
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names


def _cut(data: Array, rows: range | None) -> Array:
    return data if rows is None else data[rows.start : rows.stop]
