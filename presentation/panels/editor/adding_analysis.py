"""Alt+A, and F5 on a circuit that asks for nothing: an analysis from a form becomes a line of its text."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from PyQt6.QtCore import QObject
from PyQt6.QtWidgets import QWidget

from domain.circuit.analysis_proposals import Kind, read_card
from domain.circuit.netlist import Netlist
from presentation.panels.editor.examination import is_spice
from presentation.panels.editor.quick_fixes import before_end
from presentation.panels.editor.text_changes import edits_between
from presentation.ui.workspace import WindowServices
from shared.message import Message, msg

if TYPE_CHECKING:
    from presentation.panels.editor.opening import Opening
    from presentation.panels.editor.page import EditorPage

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")

_NO_CIRCUIT = msg("No circuit is in front: open one to add an analysis.")


class Area(Protocol):
    """The editor's tabs, as far as this asks them."""

    def window(self) -> QWidget | None: ...
    def current_page(self) -> EditorPage | None: ...


class AddingAnalysis(QObject):
    """Asks for an analysis of the circuit in front, writes its line, and runs it when that is wanted."""

    def __init__(self, services: WindowServices, area: Area, opening: Opening, parent: QObject) -> None:
        super().__init__(parent)
        self._services, self._area, self._opening = services, area, opening
        services.workspace.analysis_missing.connect(self._on_missing)

    def ask(self) -> None:
        """A form for one more analysis of the circuit in front, or for that at the caret."""
        self._services.start(self._ask(None), kind="question", scope="add analysis")

    def _on_missing(self, circuit: Path) -> None:
        self._services.start(self._ask(circuit), kind="question", scope="add analysis")

    async def _ask(self, missing: Path | None) -> None:
        """`missing`: it was to be run and asks for no analysis."""
        from presentation.dialogs.add_analysis import AddAnalysisDialog

        workspace = self._services.workspace
        page = self._area.current_page() if missing is None else await self._opening.page_for(missing)
        refusal = _refusal(page)
        if page is None or refusal is not None:
            workspace.error_occurred.emit(refusal or _NO_CIRCUIT)
            return
        netlist = await asyncio.to_thread(Netlist.parse, page.editor.text().encode(), path=page.path)
        at = page.editor.caret()[0] if missing is None else 0
        edited = _edited(netlist, at, page.editor.text())
        main = workspace.main_circuit if missing is not None and workspace.main_circuit != missing else None
        title = msg("{circuit} contains no analysis", circuit=page.path.name) if missing is not None else None
        dialog = AddAnalysisDialog(
            self._services,
            netlist,
            page.path,
            self._area.window(),
            edited=edited,
            title=title,
            main=main,
        )
        answer = await dialog.ask()
        if answer is None or page.is_closed:
            return
        if answer.then == "main":
            workspace.run_main_for.add(page.path)
            workspace.main_run_requested.emit()
            return
        _write(page, answer.card, at if edited is not None else 0)
        page.editor.setFocus()
        if answer.then == "run":
            workspace.circuit_run_requested.emit(page.path)


def _edited(netlist: Netlist, line: int, text: str) -> tuple[Kind, dict[str, str]] | None:
    """The analysis at a line (from 1), when it is one line that the form can say."""
    there = next((each for each in netlist.analyses if each.line == line), None)
    behind = _LINE.findall(text)[line : line + 1]
    if there is None or (behind and behind[0].lstrip().startswith("+")):
        return None
    return read_card(there.text)


def _refusal(page: EditorPage | None) -> Message | None:
    if page is None or not is_spice(page.path):
        return _NO_CIRCUIT
    if page.editor.isReadOnly():
        return msg("{name} is read-only.", name=page.path.name)
    return None


def _write(page: EditorPage, card: str, line: int) -> None:
    """The card in place of that at a line (from 1), or before `.end` (0), as one step of undo."""
    old = page.editor.text()
    lines = _LINE.findall(old)
    end = next((text[len(text.rstrip("\r\n")) :] for text in lines if text.endswith(("\n", "\r"))), "\n")
    if line:
        lines[line - 1] = card + (lines[line - 1][len(lines[line - 1].rstrip("\r\n")) :])
    else:
        place = before_end([text.rstrip("\r\n") for text in lines])
        if place == len(lines) and lines and not lines[-1].endswith(("\n", "\r")):
            lines[-1] += end
        lines.insert(place, card + end)
        line = place + 1
    page.editor.apply(edits_between(old, "".join(lines)))
    page.editor.setCursorPosition(line - 1, 0)
