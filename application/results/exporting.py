"""Export the vectors of a result, or expressions of them, as tables and as pictures."""

from __future__ import annotations

import asyncio
import io
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, Protocol

from application.results.tables import Table, one_table, solid, tables_of, telling, until, within
from shared.errors import Stopped, UserInputError
from shared.message import msg

if TYPE_CHECKING:
    from application.ports.simulation import ResultStore, WaveformReader, WaveformSource
    from shared.cpu_executor import CpuTaskExecutor

TableFormat = Literal["csv", "tsv", "json", "mat"]
PictureFormat = Literal["svg", "png", "pdf"]
ComplexForm = Literal["re-im", "mag-ph", "db-ph"]
"""The two real columns a complex one becomes; phases in degrees, unwrapped along the axis."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportRequest:
    """What to write, and where."""

    source: Path
    """A raw file, a result.json or a result's folder."""
    target: Path | BinaryIO | None
    """None for the standard output; an open binary file gets the content and stays open."""
    signals: tuple[str, ...] = ()
    """Expressions that are vectors (or single values of an operating point); empty = all signals."""
    analysis: str | None = None
    """Only this one: ``ac``, ``tran2``."""
    analyses: tuple[str, ...] = ()
    """Of a picture: each of these below the other, in place of `analysis`."""
    span: tuple[float, float] | None = None
    """Only the rows whose axis lies between these two, SI units."""
    most_values: int | None = None
    """Of a table: more numbers than that are refused."""
    overwrite: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TableOptions:
    """How tables are written."""

    format: TableFormat
    complex_form: ComplexForm = "re-im"
    with_units: bool = False
    """Units in the heads of csv and tsv: ``v(out) [V]``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """What was written."""

    path: Path | None
    """None for the standard output and for an open file."""
    tables: tuple[Table, ...]
    left_out: tuple[str, ...] = ()
    """Names of the tables that a file of one table has no room for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureOptions:
    """How a picture is drawn."""

    format: PictureFormat
    width_mm: float = 180.0
    height_mm: float = 110.0
    title: str = ""
    words: Mapping[str, str] = field(default_factory=dict)
    """The few words in the picture, in the reader's language: time, frequency, magnitude, phase, step."""


class TableWriter(Protocol):
    """Writes tables as files. Blocking."""

    def write(self, tables: Sequence[Table], request: ExportRequest, options: TableOptions) -> None:
        """Write to the request's target, whole or not at all.

        Raises UserInputError when the target exists and is not to be overwritten or can be no file,
        EnvironmentProblem when it can't be written or a library is missing.
        """


class PictureWriter(Protocol):
    """Draws tables as pictures. Blocking."""

    def draw(self, tables: Sequence[Table], request: ExportRequest, options: PictureOptions) -> None:
        """Draw into the request's target, whole or not at all; errors as of `TableWriter.write`."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ExportResult:
    """The use cases behind `export` and `plot`."""

    results: ResultStore
    waveforms: WaveformReader
    tables: TableWriter
    pictures: PictureWriter
    cpu: CpuTaskExecutor

    async def table(self, request: ExportRequest, options: TableOptions) -> Exported:
        """Write a result's vectors as a table.

        Raises UserInputError for a source, signal or target that cannot be, CircuitError when the data
        do not hold a signal, EnvironmentProblem when the file can't be written.
        """
        return await self._stoppable(self._write_table, request, options)

    async def picture(self, request: ExportRequest, options: PictureOptions) -> Exported:
        """Draw a result's vectors; errors as of `table`.

        Into an open file it is drawn in a worker process: the program may have a window, which would wait.
        """
        target = request.target
        if target is None or isinstance(target, Path):
            return await self._stoppable(self._draw, request, options)
        exported = await self._stoppable(self._tables_of_picture, request, options)
        target.write(await self.cpu.run(_drawn, self.pictures, exported.tables, options))
        return exported

    async def _stoppable(
        self,
        work: Callable[[ExportRequest, Any, threading.Event], Exported],
        request: ExportRequest,
        options: Any,
    ) -> Exported:
        """`work` in a thread, which ends at its next block of rows when the call is cancelled."""
        stop = threading.Event()

        def ended() -> Exported | None:
            try:
                return work(request, options, stop)
            except Stopped:
                if stop.is_set():
                    return None  # nobody waits for it any more
                raise

        try:
            done = await asyncio.to_thread(ended)
        finally:
            stop.set()
        assert done is not None, "only who cancels stops it"
        return done

    def _raw_path(self, request: ExportRequest) -> Path:
        """The data's file. Raises UserInputError when the target would replace it."""
        raw = self.results.raw_path_of(request.source)
        target = request.target
        if (
            isinstance(target, Path)
            and target.exists()
            and any(path.exists() and target.samefile(path) for path in (raw, request.source))
        ):
            raise UserInputError(
                msg("{path} is the file being exported; it is not overwritten.", path=target),
                advice=msg("Choose another name."),
                file=target,
                error_type="bad_path",
            )
        return raw

    def _write_table(self, request: ExportRequest, options: TableOptions, stop: threading.Event) -> Exported:
        with self.waveforms.open(self._raw_path(request)) as file:
            tables = within(until(stop, tables_of(file, request.signals, request.analysis)), request.span)
            left_out: Sequence[Table] = ()
            if options.format in ("csv", "tsv"):
                tables, left_out = one_table(tables, request.signals)
            _refuse_too_much(tables, request.most_values)
            self.tables.write(tables, request, options)
        return _exported(request, tables, left_out)

    def _draw(self, request: ExportRequest, options: PictureOptions, stop: threading.Event) -> Exported:
        with self.waveforms.open(self._raw_path(request)) as file:
            tables, left_out = self._chosen(file, request, stop)
            self.pictures.draw(tables, request, options)
        return _exported(request, tables, left_out)

    def _tables_of_picture(
        self, request: ExportRequest, _: PictureOptions, stop: threading.Event
    ) -> Exported:
        with self.waveforms.open(self._raw_path(request)) as file:
            tables, left_out = self._chosen(file, request, stop)
            return _exported(request, [solid(table) for table in tables], left_out)

    @staticmethod
    def _chosen(
        file: WaveformSource, request: ExportRequest, stop: threading.Event
    ) -> tuple[list[Table], Sequence[Table]]:
        """(what is drawn, what has no room in the picture)."""
        tables = [
            table
            for name in request.analyses or (request.analysis,)
            for table in within(until(stop, tables_of(file, request.signals, name)), request.span)
            if table.axis is not None and any(part.rows > 1 for part in table.parts)
        ]
        if not tables:
            raise UserInputError(
                msg("There is nothing to plot: the result has single values only."),
                advice=msg("Add an analysis over time, frequency or a sweep, or use measure."),
                error_type="nothing_to_plot",
            )
        left_out: Sequence[Table] = ()
        if not request.signals:
            if not request.analyses:
                tables, left_out = one_table(tables, ())
            tables = [telling(table) for table in tables]
        return tables, left_out


def _drawn(pictures: PictureWriter, tables: Sequence[Table], options: PictureOptions) -> bytes:
    """The picture; runs in a worker process."""
    out = io.BytesIO()
    pictures.draw(tables, ExportRequest(source=Path(), target=out), options)
    return out.getvalue()


def _exported(request: ExportRequest, tables: Sequence[Table], left_out: Sequence[Table]) -> Exported:
    return Exported(
        path=request.target if isinstance(request.target, Path) else None,
        tables=tuple(tables),
        left_out=tuple(table.name for table in left_out),
    )


def _refuse_too_much(tables: Sequence[Table], most: int | None) -> None:
    values = sum(
        table.rows * sum(2 if column.is_complex else 1 for column in table.all_columns) for table in tables
    )
    if most is not None and values > most:
        raise UserInputError(
            msg("That would be {values} numbers; at most {most} are exported at once.",
                values=values, most=most),
            advice=msg("Select fewer signals or a range; the command export writes data of any size."),
            error_type="export_too_large",
        )  # fmt: skip
