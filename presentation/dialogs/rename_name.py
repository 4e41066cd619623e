"""Another name for something of a circuit: asked for, with the lines as they would be."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from PyQt6.QtWidgets import QLineEdit, QWidget

from presentation.ui.figure_table import Cell, Column, FigureTable
from presentation.ui.parts import text_label
from presentation.ui.small_dialog import SmallDialog
from presentation.ui.workspace import WindowServices
from shared.message import Message, msg

if TYPE_CHECKING:
    from application.simulation.finding_places import NamePlaces

_ROWS, _WIDTH = 9, 500
_MOST = 500
"""Lines that are listed."""


class RenameDialog(SmallDialog):
    """A field, the lines that would change, and why a name cannot be taken."""

    def __init__(self, services: WindowServices, found: NamePlaces, parent: QWidget | None) -> None:
        super().__init__(services, parent, "renameName", title=_title(found.meaning.kind, found.name))
        self._found = found
        self._lines = list({(each.file, each.line): each for each in found.places}.values())
        self.field = QLineEdit(found.name)
        self.field.setObjectName("newName")
        self.field.setAccessibleName(services.language(msg("New name")))
        self.field.selectAll()
        self.field.textChanged.connect(self._refresh)
        self.table = FigureTable(services, "renamedLines", wide_column=1)
        self.table.setAccessibleName(services.language(msg("Lines that change")))
        self.table.setFixedHeight(self.table.wanted_height(_ROWS))
        self.table.setMinimumWidth(round(_WIDTH * services.theme.theme.scale))
        self._told = text_label(name="renameTold", wraps=True, role="secondary")
        for widget in (self.field, self.table, self._told):
            self.add(widget)
        self.add_button(msg("Cancel"), is_left=True)
        self.rename_button = self.add_button(msg("Rename"), kind="primary", act=self._rename)
        self.rename_button.setObjectName("renameButton")
        self._refresh()
        self.field.setFocus()

    async def ask(self) -> str | None:
        """Show it until it is over; the new name, None for none."""
        over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.finished.connect(lambda _result: None if over.done() else over.set_result(None))
        self.open()
        await over
        return self.chosen if isinstance(self.chosen, str) else None

    def _refresh(self, _text: str = "") -> None:
        language, new = self._services.language, self.field.text().strip()
        refusal = self._found.refusal(new)
        files = len({each.file for each in self._lines})
        shown = new if refusal is None else self._found.name
        self.table.show_rows(
            [Column(title=language(msg("Line"))), Column(title=language(msg("Text")))],
            [
                [Cell(text=f"{each.file.name}:{each.line}", style="mono_small"),
                 Cell(text=text, style="mono_small", tip=text)]
                for each in self._lines[:_MOST]
                for text in [self._found.renamed_line(each, shown).strip()]
            ],
        )  # fmt: skip
        count = msg(
            "{count} {count:place|places} in {files} {files:file|files}",
            count=len(self._found.places),
            files=files,
        )
        self._told.setText(language(refusal if refusal is not None else count))
        self.rename_button.setEnabled(refusal is None and new != self._found.name)

    def _rename(self) -> None:
        new = self.field.text().strip()
        if self._found.refusal(new) is None:
            self._close_with(new)


def _title(kind: str, name: str) -> Message:
    return {
        "node": msg("Rename the node {name}", name=name),
        "element": msg("Rename the element {name}", name=name),
        "model": msg("Rename the model {name}", name=name),
        "subcircuit": msg("Rename the subcircuit {name}", name=name),
        "parameter": msg("Rename the parameter {name}", name=name),
        "function": msg("Rename the function {name}", name=name),
    }[kind]
