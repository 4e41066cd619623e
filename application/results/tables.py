"""The tables an export writes: vectors or expressions over one axis, read when they are written."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from domain.simulation.output_names import named_first, outputs_of
from shared.errors import CircuitError, Stopped, UserInputError
from shared.message import msg

if TYPE_CHECKING:
    from application.ports.simulation import WaveformSource
    from domain.simulation.waveform import Array, Plot, PlotOutline, Step

_BLOCK_ROWS = 16_384
_ANALYSES = ("tran", "dc", "ac", "noise")
"""Which of several analyses goes into a file that holds one table, first to last."""
_NOISES = frozenset(("onoise_spectrum", "onoise"))
_INPUTS = frozenset(("v(in)", "v(vin)", "v(input)"))
_MOST_CURVES = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column of a table."""

    name: str
    """The signal or expression as asked for."""
    unit: str
    is_complex: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TablePart:
    """The rows of one run."""

    step: Step | None
    rows: int
    read: Callable[[range, Sequence[int]], Sequence[Array]]
    """The data of some columns (by their place, the axis first) in these rows. Blocking."""

    def whole(self, column: int) -> Array:
        return self.read(range(self.rows), [column])[0]

    def blocks(self, columns: Sequence[int], rows: int = _BLOCK_ROWS) -> Iterable[Sequence[Array]]:
        """The data in pieces, so that a table of any length passes through."""
        for first in range(0, self.rows, rows):
            yield self.read(range(first, min(first + rows, self.rows)), columns)


@dataclass(frozen=True, slots=True)
class _Rows:
    """Data that were read, as a `TablePart.read`; travels between processes."""

    columns: list[Array]

    def __call__(self, rows: range, which: Sequence[int]) -> Sequence[Array]:
        return [self.columns[place][rows.start : rows.stop] for place in which]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Table:
    """Vectors over one axis: one analysis, with all its runs when it is stepped."""

    name: str
    """``tran``, ``ac2`` (the second ac analysis)."""
    analysis: str
    title: str
    """The simulator's name of the plot."""
    axis: Column | None
    """None for an operating point and other single values."""
    columns: tuple[Column, ...]
    """Without the axis."""
    parts: tuple[TablePart, ...]

    @property
    def rows(self) -> int:
        return sum(part.rows for part in self.parts)

    @property
    def all_columns(self) -> tuple[Column, ...]:
        """The axis, if there is one, and the others: in the order of the data."""
        return self.columns if self.axis is None else (self.axis, *self.columns)


def tables_of(file: WaveformSource, signals: Sequence[str] = (), analysis: str | None = None) -> list[Table]:
    """The tables of an open file: of all its signals, or of expressions, grouped by analysis.

    Raises UserInputError when there are no data, no such analysis or no such signal.
    """
    groups = [
        group
        for group in _groups(file.outlines)
        if any(file.outlines[number].points for number in group.numbers)
    ]
    if not groups:
        raise CircuitError(msg("The result has no data: the simulation failed."), error_type="no_data")
    if analysis is not None:
        names = [group.name for group in groups]
        groups = [group for group in groups if group.name == analysis.strip().lower()]
        if not groups:
            raise UserInputError(
                msg("There is no analysis {name} in this result; it has {names}.",
                    name=analysis, names=", ".join(names)),
                error_type="unknown_analysis",
            )  # fmt: skip
    if not signals:
        return [_whole(file, group) for group in groups]
    return _of_expressions(file, groups, signals)


def curves_in(outlines: Sequence[PlotOutline]) -> dict[str, str]:
    """The analyses of a result that have curves, by their names in it ("tran2"), each with its kind."""
    kinds = {group.name: outlines[group.numbers[0]] for group in _groups(outlines)}
    return {name: each.analysis for name, each in kinds.items() if each.axis_name and each.points > 1}


def until(stop: threading.Event, tables: Sequence[Table]) -> list[Table]:
    """The tables, whose reading ends with Stopped when `stop` is set."""

    def watched(part: TablePart) -> TablePart:
        def read(rows: range, columns: Sequence[int]) -> Sequence[Array]:
            if stop.is_set():
                raise Stopped(msg("Stopped."))
            return part.read(rows, columns)

        return replace(part, read=read)

    return [replace(table, parts=tuple(map(watched, table.parts))) for table in tables]


def solid(table: Table) -> Table:
    """The same table with its data read, which no longer needs the file it came from. Blocking."""
    places = range(len(table.all_columns))
    parts = [replace(part, read=_Rows(list(part.read(range(part.rows), places)))) for part in table.parts]
    return replace(table, parts=tuple(parts))


def within(tables: Sequence[Table], span: tuple[float, float] | None) -> list[Table]:
    """The rows whose axis lies in `span`, ends included; tables of single values stay as they are.

    Raises UserInputError when no row of any table does.
    """
    if span is None:
        return list(tables)
    narrowed = [
        table
        if table.axis is None
        else replace(table, parts=tuple(_part_within(part, *span) for part in table.parts))
        for table in tables
    ]
    if not any(table.rows for table in narrowed):
        axes = ", ".join(
            f"{table.name}: {low:.6g}..{high:.6g} {table.axis.unit}"
            for table in tables
            if table.axis is not None
            for low, high in [_extent(table)]
        )
        raise UserInputError(
            msg("No data point is between {start} and {stop}; the data cover {axes}.",
                start=f"{span[0]:.6g}", stop=f"{span[1]:.6g}", axes=axes),
            error_type="empty_range",
        )  # fmt: skip
    return [table for table in narrowed if table.axis is None or table.rows]


def _part_within(part: TablePart, start: float, stop: float) -> TablePart:
    import numpy as np

    axis = part.whole(0).real
    slack = 1e-9 * max(abs(start), abs(stop))  # 10 kHz is 9999.9999999 where decades were added up
    places = np.flatnonzero((axis >= start - slack) & (axis <= stop + slack))

    def read(rows: range, columns: Sequence[int]) -> Sequence[Array]:
        chosen = places[rows.start : rows.stop]
        if not len(chosen):
            return part.read(range(0), columns)
        first, last = int(chosen[0]), int(chosen[-1])
        return [data[chosen - first] for data in part.read(range(first, last + 1), columns)]

    return replace(part, rows=len(places), read=read)


def _extent(table: Table) -> tuple[float, float]:
    axes = [part.whole(0).real for part in table.parts if part.rows]
    return min(float(axis.min()) for axis in axes), max(float(axis.max()) for axis in axes)


@dataclass(frozen=True, slots=True)
class _Group:
    """The plots of one analysis: one, or one per run of a `.step`."""

    name: str
    numbers: tuple[int, ...]
    """Into the file's plots."""


def _groups(outlines: Sequence[PlotOutline]) -> list[_Group]:
    found: list[list[int]] = []
    open_ones: dict[object, list[list[int]]] = {}
    for number, outline in enumerate(outlines):
        if outline.step is None:
            found.append([number])
            continue
        alike = open_ones.setdefault((outline.analysis, tuple(signal.name for signal in outline.signals)), [])
        for numbers in alike:
            before = outlines[numbers[-1]].step
            if before is not None and before.number < outline.step.number:
                numbers.append(number)
                break
        else:
            found.append([number])
            alike.append(found[-1])
    counts: dict[str, int] = {}
    groups = []
    for numbers in found:
        kind = outlines[numbers[0]].analysis
        counts[kind] = counts.get(kind, 0) + 1
        groups.append(_Group(kind if counts[kind] == 1 else f"{kind}{counts[kind]}", tuple(numbers)))
    return groups


def one_table(tables: Sequence[Table], signals: Sequence[str]) -> tuple[list[Table], list[Table]]:
    """(the table for a file that holds one, those that have no room in it)."""
    if len(tables) > 1 and signals:
        raise UserInputError(
            msg("These signals belong to different analyses ({names}) and cannot share one table.",
                names=", ".join(table.name for table in tables)),
            advice=msg("Export them one by one with --analysis, or use the format json or mat."),
            error_type="several_analyses",
        )  # fmt: skip
    ranked = sorted(
        tables, key=lambda table: _ANALYSES.index(table.analysis) if table.analysis in _ANALYSES else 99
    )
    return ranked[:1], ranked[1:]


def telling(table: Table) -> Table:
    """The few signals worth a look when none were named: outputs, over time the inputs that move; where none
    is called so no more than a reader can part."""
    names = [column.name for column in table.columns]
    outputs = {*outputs_of(names), *_NOISES.intersection(names)}

    def rank(name: str) -> int:
        if name in outputs:
            return 0
        return 1 if name.startswith("v(") else 2

    known = named_first(name for name in names if table.analysis != "ac" or name not in _INPUTS) or names
    chosen = set(sorted(known, key=rank)[:_MOST_CURVES])
    if chosen & outputs:  # a supply, or a node that switches, would press the output flat
        moving = {name for name in names if name in _INPUTS and name in chosen and _moves(table, name)}
        chosen = (chosen & outputs) | moving
    places = [place for place, name in enumerate(names) if name in chosen]
    shift = 0 if table.axis is None else 1
    originals = [*range(shift), *(place + shift for place in places)]

    def narrowed(part: TablePart) -> TablePart:
        return replace(part, read=lambda rows, which: part.read(rows, [originals[i] for i in which]))

    return replace(
        table,
        columns=tuple(table.columns[place] for place in places),
        parts=tuple(narrowed(part) for part in table.parts),
    )


def _moves(table: Table, name: str) -> bool:
    place = [column.name for column in table.all_columns].index(name)
    values = (part.whole(place).real for part in table.parts if part.rows)
    return any(bool(each.max() > each.min()) for each in values)


def _whole(file: WaveformSource, group: _Group) -> Table:
    """All signals, read as they are needed."""
    outlines = [file.outlines[number] for number in group.numbers]
    first = outlines[0]
    axis = None if first.axis_name is None else first.signal(first.axis_name)
    others = [
        signal for signal in first.signals if signal.name != first.axis_name and signal.points == first.points
    ]
    names = [signal.name for signal in ([axis] if axis is not None else []) + others]

    def reader(number: int) -> Callable[[range, Sequence[int]], Sequence[Array]]:
        return lambda rows, columns: [
            vector.data for vector in file.traces([names[column] for column in columns], number, rows)
        ]

    return Table(
        name=group.name,
        analysis=first.analysis,
        title=first.name,
        axis=None if axis is None else Column(name=axis.name, unit=axis.unit, is_complex=False),
        columns=tuple(
            Column(name=signal.name, unit=signal.unit, is_complex=signal.is_complex) for signal in others
        ),
        parts=tuple(
            TablePart(step=outline.step, rows=outline.points, read=reader(number))
            for number, outline in zip(group.numbers, outlines, strict=True)
        ),
    )


def _of_expressions(file: WaveformSource, groups: Sequence[_Group], signals: Sequence[str]) -> list[Table]:
    """The expressions, each over the axis of the analysis it belongs to."""
    plots = file.plots
    runs = max(len(group.numbers) for group in groups)
    tables: list[Table] = []
    parts: dict[str, list[tuple[TablePart, tuple[Column, ...], Column | None]]] = {}
    for run in range(runs):
        present = {group.name: plots[group.numbers[run]] for group in groups if run < len(group.numbers)}
        for name, texts in _homes(present, signals).items():
            step = next((plot.step for plot in present.values() if plot.step is not None), None)
            part = _evaluated(step, texts)
            parts.setdefault(name, []).append(part)
    for name, found in parts.items():
        plot = next((plots[group.numbers[0]] for group in groups if group.name == name), None)
        tables.append(
            Table(
                name=name,
                analysis=plot.analysis if plot is not None else "op",
                title=plot.name if plot is not None else "",
                axis=found[0][2],
                columns=found[0][1],
                parts=tuple(part for part, columns, _ in found if len(columns) == len(found[0][1])),
            )
        )
    return tables


def _homes(present: Mapping[str, Plot], signals: Sequence[str]) -> dict[str, dict[str, object]]:
    """{table: {signal: its vector or number}}; all in one table where one analysis has them all."""
    found: dict[str, dict[str, object]] = {}
    for text in signals:
        home, value = _evaluate(present, text)
        found.setdefault(home, {})[text] = value
    if len(found) > 1:
        for home in sorted(found, key=lambda name: name not in ("ac", "ac2")):
            if home not in present:
                continue
            try:
                values = {text: _evaluate({home: present[home]}, text) for text in signals}
            except (UserInputError, CircuitError):
                continue  # this one has not all of them
            if all(place == home for place, _ in values.values()):
                return {home: {text: value for text, (_, value) in values.items()}}
    return found


def _evaluate(present: Mapping[str, Plot], text: str) -> tuple[str, object]:
    """(name of the table, value) of one expression."""
    import numpy as np

    from domain.simulation.expressions import evaluate, evaluate_vector

    plots = list(present.values())
    try:
        signal = evaluate_vector(text, plots)
    except UserInputError as error:
        if error.error_type != "bad_expression":
            raise
        return "op", evaluate(text, plots)  # raises the same for what cannot be read
    for name, plot in present.items():
        if plot.axis is not None and np.shares_memory(plot.axis.data, signal.x):
            return name, signal
    return next(iter(present)), signal


def _evaluated(
    step: Step | None, values: Mapping[str, object]
) -> tuple[TablePart, tuple[Column, ...], Column | None]:
    import numpy as np

    from domain.simulation.result import Quantity
    from domain.simulation.signals import Signal

    columns: list[Column] = []
    data: list[Array] = []
    axis: Column | None = None
    for text, value in values.items():
        if isinstance(value, Signal):
            if axis is None:
                axis = Column(name=value.axis_name, unit=value.axis_unit, is_complex=False)
                data.insert(0, value.x)
            columns.append(Column(name=text, unit=value.unit, is_complex=bool(np.iscomplexobj(value.y))))
            data.append(value.y)
        else:
            assert isinstance(value, Quantity)
            columns.append(Column(name=text, unit=value.unit, is_complex=False))
            data.append(np.array([value.value]))
    part = TablePart(
        step=step,
        rows=len(data[0]),
        read=lambda rows, which: [data[place][rows.start : rows.stop] for place in which],
    )
    return part, tuple(columns), axis
