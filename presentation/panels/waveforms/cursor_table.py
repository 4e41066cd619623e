"""What the cursors read: A, B and B-A of every trace, in a table at the right."""

from __future__ import annotations

from collections.abc import Sequence

from presentation.panels.waveforms.figure_table import Cell, Column, FigureTable
from presentation.panels.waveforms.figures import MINUS, column
from presentation.panels.waveforms.traces import Axis, ReadoutRow, Trace, readout
from presentation.window.workspace import WindowServices
from shared.message import msg

_AXIS_SYMBOLS = {"frequency": "f", "time": "t"}


class CursorTable(FigureTable):
    """The table, drawn again with every step of a cursor."""

    def __init__(self, services: WindowServices) -> None:
        super().__init__(services, "cursor_table")
        self._shown: tuple[Axis, Sequence[Trace], int, int] | None = None
        self.retranslate()

    def show_cursors(self, axis: Axis, traces: Sequence[Trace], a: int, b: int) -> None:
        """Read the traces at the samples `a` and `b`."""
        self._shown = axis, traces, a, b
        self.retranslate()

    def retranslate(self) -> None:
        """Heads and rows."""
        language = self._services.language
        self.setAccessibleName(language(msg("Cursors")))
        columns = [
            Column(title=language(msg("Cursors"))),
            *(Column(title=name, is_number=True, is_strong=True) for name in ("A", "B", f"B{MINUS}A")),
        ]
        self.show_rows(columns, [] if self._shown is None else self._cells(*self._shown))

    def _cells(self, axis: Axis, traces: Sequence[Trace], a: int, b: int) -> list[list[Cell]]:
        return [self._row(row) for row in readout(axis, traces, a, b)]

    def _row(self, row: ReadoutRow) -> list[Cell]:
        unit, texts = column([row.a, row.b, row.b - row.a], row.unit, is_place=row.color is None)
        name = _AXIS_SYMBOLS.get(row.name, row.name)
        if row.unit == "deg" and row.color is not None and not row.name.startswith(("ph(", "phase(")):
            name = self._services.language(msg("phase"))
        head = Cell(
            text=name,
            unit=f"/ {unit}" if unit else "",
            style="small",
            swatch="none" if row.color is None else f"trace.{row.color % 8}",
            color="text.secondary" if row.color is None else "text.primary",
            tip=row.name,
        )
        return [head, *(Cell(text=text, style="small") for text in texts)]
