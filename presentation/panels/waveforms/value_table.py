"""An analysis without an axis as a table: operating point, noise totals, transfer function."""

from __future__ import annotations

from domain.simulation.waveform import Plot
from presentation.panels.waveforms.figures import quantity
from presentation.ui.figure_table import Cell, Column, FigureTable
from presentation.ui.workspace import WindowServices
from shared.message import msg


class ValueTable(FigureTable):
    """Name and value of every vector."""

    def __init__(self, services: WindowServices) -> None:
        super().__init__(services, "value_table")

    def show_plot(self, plot: Plot) -> None:
        """Show one; its vectors have a single value each."""
        from presentation.panels.waveforms.traces import table_of

        language = self._services.language
        columns = [Column(title=language(msg("Name"))), Column(title=language(msg("Value")), is_number=True)]
        rows = []
        for name, value, unit in table_of(plot):
            text, shown_unit = quantity(abs(value) if value.imag else value.real, unit)
            rows.append([Cell(text=name, style="mono_small", tip=name), Cell(text=text, unit=shown_unit)])
        self.show_rows(columns, rows)
