"""What a file of another program becomes, shown before anything is written."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from PyQt6.QtWidgets import QPlainTextEdit, QWidget

from presentation.ui.new_project import short_path
from presentation.ui.parts import text_label
from presentation.ui.small_dialog import SmallDialog
from presentation.ui.styles import mark
from presentation.ui.workspace import WindowServices
from shared.message import Message, msg

if TYPE_CHECKING:
    from application.project.importing import FoundImport

_WIDTH, _LINES = 500, 12
"""Pixels at the scale 1, and lines of the netlist seen at once."""
_MOST_SHOWN = 100_000
"""Characters of a netlist."""
_MOST_NAMED = 12
"""Lines of one kind that are told; the others are counted."""


class ImportDialog(SmallDialog):
    """The netlist as it will be written, where it goes, what comes along and what is missing."""

    def __init__(
        self, services: WindowServices, found: FoundImport, target: str, parent: QWidget | None
    ) -> None:
        """`target`: the path as it is told."""
        super().__init__(services, parent, "importFile", title=msg("Import {name}", name=found.source.name))
        language = services.language
        is_netlist = not target.endswith(".raw")
        into = (
            msg("Becomes the netlist {path}. {name} stays as it is.", path=target, name=found.source.name)
            if is_netlist
            else msg("Becomes curves: {path}. {name} stays as it is.", path=target, name=found.source.name)
        )
        self.add(text_label(language(into), wraps=True))
        if is_netlist:
            self.netlist = QPlainTextEdit(found.data[:_MOST_SHOWN].decode("utf-8", errors="replace"))
            self.netlist.setObjectName("importedNetlist")
            self.netlist.setAccessibleName(language(msg("Netlist")))
            self.netlist.setReadOnly(True)
            self.netlist.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
            self.netlist.setTabChangesFocus(True)
            self.netlist.setFont(services.theme.theme.font("mono"))
            self.netlist.setFixedHeight(self.netlist.fontMetrics().lineSpacing() * _LINES)
            self.netlist.setMinimumWidth(round(_WIDTH * services.theme.theme.scale))
            self.add(self.netlist)
        for told, role in _told(found):
            label = text_label(language(told), wraps=True)
            mark(label, role=role)
            self.add(label)
        self.add_button(msg("Cancel"), is_left=True)
        button = self.add_button(msg("Import"), value=True, kind="primary")
        button.setObjectName("importNow")
        button.setFocus()

    async def ask(self) -> bool:
        """Show it until it is over; whether it is to be imported."""
        over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.finished.connect(lambda _result: None if over.done() else over.set_result(None))
        self.open()
        await over
        return self.chosen is True


def told_path(target: Path, root: Path | None) -> str:
    """Relative to the project, else as a person writes it."""
    inside = root is not None and target.is_relative_to(root)
    return target.relative_to(root).as_posix() if inside and root is not None else short_path(target)


def _told(found: FoundImport) -> list[tuple[Message, str]]:
    """What is missing first: each with its role in the look."""
    lines = [(each, "warn") for each in found.missing[:_MOST_NAMED]]
    if (more := len(found.missing) - _MOST_NAMED) > 0:
        lines.append((msg("{count} more {count:part is|parts are} missing.", count=more), "warn"))
    if found.elsewhere:
        names = ", ".join(found.elsewhere[:_MOST_NAMED])
        told = msg("Not beside it: {names}. A simulation looks in the library folders.", names=names)
        lines.append((told, "warn"))
    if found.libraries:
        names = ", ".join(found.libraries[:_MOST_NAMED])
        lines.append((msg("These files come along: {names}", names=names), "secondary"))
    if found.plots:
        traces = [trace for plot in found.plots for trace in plot.traces]
        names = ", ".join([*traces[:_MOST_NAMED], *["…"] * (len(traces) > _MOST_NAMED)])
        lines.append((msg("Its plots come along as the view “LTspice”: {names}", names=names), "secondary"))
    lines += [(each, "secondary") for each in found.notes[:_MOST_NAMED]]
    if not found.missing and not found.elsewhere and not found.notes:
        lines.append((msg("Nothing is missing."), "secondary"))
    return lines
