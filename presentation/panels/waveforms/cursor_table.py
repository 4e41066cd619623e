"""What the cursors read: A, B and B-A of every trace, in a table at the right."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from PyQt6.QtCore import Qt, pyqtSignal

from presentation.panels.waveforms.figures import MINUS, SPACE, column, quantity, shown_unit
from presentation.panels.waveforms.traces import Axis, ReadoutRow, Trace, readout, slope_rows
from presentation.ui.figure_table import Cell, Column, FigureTable
from presentation.ui.workspace import WindowServices
from shared.message import msg

_AXIS_SYMBOLS = {
    "frequency": "f", "time": "t", "temp-sweep": "T", "res-sweep": "R", "v-sweep": "V", "i-sweep": "I"
}  # fmt: skip
DELTA = "Δ"
_TOO_FAR = 1e3
_TOO_FAR_ALONG = 20.0
"""Numbers so far apart have prefixes of their own; places along the axis sooner: 10 k, 1 M."""
_DECADE = msg("dec")
_NARROW_SPACE = "\u202f"
"""Three columns stand beside the names: every pixel counts."""
_COLUMN = 100
"""Pixels of a column of the strip."""


class CursorTable(FigureTable):
    """The table, drawn again with every step of a cursor.

    A name that has no room beside its figures stands on a line of its own above them.
    """

    reshaped = pyqtSignal()
    """it has more lines, or fewer, than before"""

    def __init__(self, services: WindowServices) -> None:
        super().__init__(services, "cursor_table")
        self._apart: set[int] = set()
        """Rows whose names stand above them; they stay so while a cursor moves and figures get shorter."""
        self._apart_in: tuple[object, ...] = ()
        """For which names, in which width."""
        self._shown: tuple[Axis, Sequence[Trace], int, int] | None = None
        self._chosen: str | None = None
        self._run = ""
        self.retranslate()

    def show_cursors(
        self, axis: Axis, traces: Sequence[Trace], a: int, b: int, *, chosen: str | None = None, run: str = ""
    ) -> None:
        """Read the traces at the samples `a` and `b`; the slope is that of the trace `chosen`.

        `run`: of several that are drawn the one they are read in.
        """
        self._shown, self._chosen, self._run = (axis, traces, a, b), chosen, run
        self.retranslate()

    def retranslate(self) -> None:
        language = self._services.language
        self.setAccessibleName(language(msg("Cursors")))
        columns = [
            Column(title=_heading(self._services, self._run)),
            *(Column(title=name, is_number=True, is_strong=True) for name in ("A", "B", f"B{MINUS}A")),
        ]
        rows = [] if self._shown is None else self._cells(*self._shown)
        viewport = self.viewport()
        place = (*(row[0].text for row in rows), 0 if viewport is None else viewport.width())
        if place != self._apart_in:
            self._apart_in = place
            self._apart.clear()
        self._show_lines(columns, rows)
        lines = [number for number, row in enumerate(rows) for _ in range(1 + (number in self._apart))]
        cut = {lines[at] for at in self.cut_rows() if self.columnSpan(at, 0) == 1}
        if cut:
            self._apart |= cut
            self._show_lines(columns, rows)

    def _show_lines(self, columns: Sequence[Column], rows: Sequence[Sequence[Cell]]) -> None:
        lines: list[Sequence[Cell]] = []
        for number, row in enumerate(rows):
            head, *figures = row
            if number not in self._apart:
                lines.append(row)
                continue
            lines.append([replace(head, unit=""), *[_NO_FIGURE] * len(figures)])
            lines.append([replace(head, text="", swatch="none"), *figures])
        self.clearSpans()
        self.show_rows(columns, lines)
        for at, cells in enumerate(lines):
            if cells[1] is _EMPTY:  # only the difference has a value: the name has the room of A and B
                self.setSpan(at, 0, 1, 3)
            elif cells[1] is _NO_FIGURE:
                self.setSpan(at, 0, 1, len(cells))

    def resizeEvent(self, event: object) -> None:  # noqa: N802 - Qt's name
        """In another width other names have no room."""
        super().resizeEvent(event)
        before = len(self.rows)
        self.retranslate()
        if len(self.rows) != before:
            self.reshaped.emit()

    def _cells(self, axis: Axis, traces: Sequence[Trace], a: int, b: int) -> list[list[Cell]]:
        rows = readout(axis, traces, a, b)
        words = {"rate": f"1/{DELTA}{_AXIS_SYMBOLS.get(axis.name, axis.name)}", "slope": self._slope_word()}
        found = [self._row(row) for row in rows]
        for kind, value, unit, color in slope_rows(rows, self._chosen):
            cell = _rate_cell(self._services, value, unit)
            is_one_of_many = color is not None and len(traces) > 1
            head = Cell(
                text=words[kind],
                unit=cell.unit,
                style="small",
                swatch=f"trace.{color % 8}" if is_one_of_many and color is not None else "none",
                color="text.secondary",
            )
            found.append([head, _EMPTY, _EMPTY, replace(cell, unit="")])
        return found

    def _slope_word(self) -> str:
        return self._services.language(msg("Slope"))

    def _row(self, row: ReadoutRow) -> list[Cell]:
        known = [abs(each) for each in (row.a, row.b) if each and math.isfinite(each)]
        head = Cell(
            text=name_of(self._services, row),
            style="small",
            swatch="none" if row.color is None else f"trace.{row.color % 8}",
            color="text.secondary" if row.color is None else "text.primary",
            tip=row.name,
        )
        too_far = _TOO_FAR_ALONG if row.color is None else _TOO_FAR
        if len(known) == 2 and max(known) > too_far * min(known) and row.unit not in ("dB", "deg"):
            # Each with a prefix of its own, as along the axis: nobody reads 0.0000006428 mV.
            name = shown_unit(row.unit)
            cells = [_cell(each, row.unit) for each in (row.a, row.b, row.difference)]
            return [
                replace(head, unit=f"/ {name}" if name else ""),
                # Not as units of the cells: those have a column of their own, and the names lose it.
                *(Cell(text=_with_prefix(cell, name), style="small") for cell in cells),
            ]
        unit, texts = column([row.a, row.b, row.difference], row.unit, is_place=row.color is None)
        return [
            replace(head, unit=f"/ {unit}" if unit else ""),
            *(Cell(text=text, style="small") for text in texts),
        ]


class CursorStrip(FigureTable):
    """The same under the plot, where there is no room beside it: rows A, B and B-A, a unit in each cell."""

    def __init__(self, services: WindowServices) -> None:
        super().__init__(services, "cursor_strip")
        self._shown: tuple[Axis, Sequence[Trace], int, int] | None = None
        self._chosen: str | None = None
        self._run = ""
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def show_cursors(
        self, axis: Axis, traces: Sequence[Trace], a: int, b: int, *, chosen: str | None = None, run: str = ""
    ) -> None:
        """Read the traces at the samples `a` and `b`; the slope is that of the trace `chosen`.

        `run`: of several that are drawn the one they are read in.
        """
        self._shown, self._chosen, self._run = (axis, traces, a, b), chosen, run
        self.retranslate()

    def resizeEvent(self, event: object) -> None:  # noqa: N802 - Qt's name
        """Columns that have no room go, the phases first, then from the right."""
        super().resizeEvent(event)
        self.retranslate()

    def retranslate(self) -> None:
        language = self._services.language
        self.setAccessibleName(language(msg("Cursors")))
        if self._shown is None:
            return
        axis_row, *curves = readout(*self._shown)
        theme = self._services.theme.theme
        most = max(self.width() // round(_COLUMN * theme.scale) - 1, 2)
        kept = [axis_row, *curves]
        while len(kept) > most:
            phases = [row for row in kept if row.unit == "deg"]
            kept.remove(phases[-1] if phases else kept[-1])
        self.show_rows(
            [
                Column(title=_heading(self._services, self._run)),
                *(
                    Column(
                        title=name_of(self._services, row),
                        is_number=True,
                        swatch="" if row.color is None else f"trace.{row.color % 8}",
                    )
                    for row in kept
                ),
            ],
            [
                [Cell(text="A", style="small"), *(_cell(row.a, row.unit) for row in kept)],
                [Cell(text="B", style="small"), *(_cell(row.b, row.unit) for row in kept)],
                [Cell(text=f"B{MINUS}A", style="small"), *(_cell(row.difference, row.unit) for row in kept)],
            ],
        )

    def _set_widths(self) -> None:
        """Columns of one width: the numbers stand apart, and don't wander with their lengths."""
        head, viewport = self.horizontalHeader(), self.viewport()
        count = len(self._model.columns)
        if head is None or viewport is None or count == 0:
            return
        each = viewport.width() * 2 // (2 * count - 1)
        if self._run and count > 1:  # the value of a step is nowhere else
            wanted = min(self._delegate.column_width(0), viewport.width() // 3)
            each = min(each, (viewport.width() - wanted) // (count - 1))
        for number in range(1, count):
            head.resizeSection(number, each)
        head.resizeSection(0, viewport.width() - (count - 1) * each)

    def slope_text(self) -> str:
        """What both cursors say together, in words."""
        if self._shown is None:
            return ""
        rows = readout(*self._shown)
        axis = _AXIS_SYMBOLS.get(rows[0].name, rows[0].name)
        words = {"rate": f"1/{DELTA}{axis}", "slope": self._services.language(msg("Slope"))}
        if self._chosen is not None and any(row.name == self._chosen for row in rows):
            words["slope"] = f"{words['slope']} {self._chosen}"
        told = slope_rows(rows, self._chosen)
        cells = [(words[kind], _rate_cell(self._services, value, unit)) for kind, value, unit, _ in told]
        return "   ".join(f"{word} {cell.text}{SPACE}{cell.unit}" for word, cell in cells)


def _heading(services: WindowServices, run: str) -> str:
    """The value of the step they are read in, which is nowhere else; it has no room beside another word."""
    return run or services.language(msg("Cursors"))


def name_of(services: WindowServices, row: ReadoutRow) -> str:
    """What a row of the cursors is called: the axis by its symbol, a phase as such."""
    if row.unit == "deg" and row.color is not None and not row.name.startswith(("ph(", "phase(")):
        return services.language(msg("phase"))
    if row.color is None and row.name == "v-sweep":
        return services.language(msg("Sweep"))  # "V / V" would be a ratio
    return row.shown if row.color is not None and row.shown else _AXIS_SYMBOLS.get(row.name, row.name)


def _cell(value: float, unit: str) -> Cell:
    if not math.isfinite(value):
        return Cell(text="—", style="small")
    text, shown = quantity(value, unit)
    return Cell(text=text, unit=shown, style="small")


def _with_prefix(cell: Cell, unit: str) -> str:
    """The number with the letter before its unit: ``10.00 k``."""
    return f"{cell.text}{_NARROW_SPACE}{cell.unit.removesuffix(unit)}".rstrip()


def _rate_cell(services: WindowServices, value: float, unit: str) -> Cell:
    """A quantity by another: the prefix belongs to the first (``mV/s``), never to the second."""
    first, slash, second = unit.partition("/")
    cell = _cell(value, first)
    second = services.language(_DECADE) if second == "dec" else shown_unit(second)
    return replace(cell, unit=cell.unit + slash + second)


_EMPTY = Cell(text="", style="small")
_NO_FIGURE = Cell(text="", style="small", color="text.tertiary")
"""On the line of a name alone."""
