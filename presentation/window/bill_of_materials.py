"""Circuit > Bill of materials: the parts of the circuit, to be read, copied and saved as CSV or Markdown."""

from __future__ import annotations

import asyncio
from pathlib import Path

from PyQt6.QtWidgets import QWidget

from application.app import Application
from domain.components.bill import KINDS, Bill, series_words
from presentation.ui.figure_table import Cell, Column, FigureTable
from presentation.ui.parts import copy_text, text_label
from presentation.ui.questions import choose_target
from presentation.ui.small_dialog import SmallDialog
from presentation.ui.workspace import WindowServices
from shared.message import Message, msg

_ROWS = 14
"""Seen at once."""
_WIDTH = 620
"""Pixels at the scale 1."""


def show_bill(services: WindowServices, app: Application, window: QWidget) -> None:
    """The bill of the circuit that F5 runs."""
    circuit = services.workspace.run_target
    if circuit is not None:
        services.start(_show(services, app, window, circuit), kind="question")


async def _show(services: WindowServices, app: Application, window: QWidget, circuit: Path) -> None:
    workspace = services.workspace
    if workspace.buffers is not None:  # the bill is of what stands in the editor
        await workspace.buffers.save_unsaved()
    bill = await app.simulation.bill(circuit)
    dialog = BillDialog(services, bill, circuit, window)
    if not await dialog.ask():
        return
    start = circuit.with_name(f"{circuit.stem}-bom.csv")
    target = await choose_target(
        services, window, msg("Bill of materials of {name} (.csv or .md)", name=circuit.name), start
    )
    if target is not None:
        await app.simulation.bill.write(bill, target, title=circuit.name, overwrite=True)
        workspace.status_changed.emit(msg("The bill of materials was written to {path}.", path=target.name))


class BillDialog(SmallDialog):
    """The table, what is not in it, and what to do with it."""

    def __init__(self, services: WindowServices, bill: Bill, circuit: Path, parent: QWidget | None) -> None:
        super().__init__(
            services, parent, "billOfMaterials", title=msg("Bill of materials of {name}", name=circuit.name)
        )
        language = services.language
        self.table = FigureTable(services, "billTable", wide_column=4)
        self.table.setAccessibleName(language(msg("Bill of materials")))
        heads = (msg("Count"), msg("Kind"), msg("Value"), msg("E-series"), msg("References"))
        self.table.show_rows(
            [Column(title=language(head)) for head in heads],
            [
                [
                    Cell(text=str(line.count)),
                    Cell(text=language(KINDS[line.kind])),
                    Cell(text=f"{line.value} {line.size}".strip(), style="mono_small"),
                    self._series_cell(language(series_words(line)), is_off=bool(line.nearest)),
                    Cell(text=", ".join(line.references), tip=", ".join(line.references)),
                ]
                for line in bill.lines
            ],
        )
        self.table.setFixedHeight(self.table.wanted_height(min(max(len(bill.lines), 3), _ROWS)))
        self.table.setMinimumWidth(round(_WIDTH * services.theme.theme.scale))
        self.add(self.table)
        for note in _notes(bill):
            self.add(text_label(language(note), wraps=True, role="secondary"))
        self.add_button(msg("Close"), is_left=True)
        self.copy_button = self.add_button(msg("Copy"), act=lambda: copy_text(self.table.as_text()))
        self.save_button = self.add_button(msg("Save…"), value=True, kind="primary")
        self.save_button.setEnabled(bool(bill.lines))

    @staticmethod
    def _series_cell(text: str, *, is_off: bool) -> Cell:
        return Cell(text=text, tip=text, color="warn.text" if is_off else "text.primary")

    async def ask(self) -> bool:
        """Show it until it is over; whether it is to be saved."""
        over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.finished.connect(lambda _result: None if over.done() else over.set_result(None))
        self.open()
        await over
        return self.chosen is True


def _notes(bill: Bill) -> list[Message]:
    notes = [
        msg(
            "{count} {count:part|parts} in {lines} {lines:line|lines}.",
            count=bill.count,
            lines=len(bill.lines),
        )
    ]
    if bill.left_out:
        shown = ", ".join(bill.left_out[:40])
        notes.append(msg("Not parts: {names}.", names=shown if len(bill.left_out) <= 40 else f"{shown} …"))
    if bill.is_cut:
        notes.append(msg("More parts than are counted: only the first {count}.", count=bill.count))
    return notes
