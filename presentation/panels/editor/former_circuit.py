"""A circuit as it was when a run was made: its text, read only, what differs from now, and the way back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from PyQt6.QtCore import QObject
from PyQt6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from domain.llm.tools.text_files import diff_files
from presentation.panels.editor.centre_page import CentrePage
from presentation.panels.editor.code_editor import CodeEditor
from presentation.panels.editor.compare_view import CompareView
from presentation.panels.editor.examination import has_title, is_spice
from presentation.panels.editor.text_changes import edits_between
from presentation.ui.parts import arrange, push_button, text_label
from presentation.ui.styles import mark_area
from presentation.ui.workspace import WindowServices
from shared.errors import CircuitAIError
from shared.message import msg

if TYPE_CHECKING:
    from application.groups.simulation import Simulation
    from presentation.panels.editor.opening import Opening


class FormerCircuitPage(CentrePage):
    """One circuit as one run had it."""

    icon = "history"

    def __init__(
        self,
        services: WindowServices,
        circuit: Path,
        run: int,
        text: str,
        *,
        now: str | None,
        restore: Callable[[FormerCircuitPage], object],
    ) -> None:
        """`now`: what the file holds; None where there is none."""
        super().__init__()
        self._services, self.circuit, self.run, self.text = services, circuit, run, text
        self._now = now
        self._words = text_label(name="formerWords", wraps=True, role="secondary")
        self.compare = push_button(name="formerCompare", clicked=self._toggle, kind="secondary")
        self.restore_button = push_button(
            name="formerRestore", clicked=lambda _checked: restore(self), kind="secondary"
        )
        is_same = now == text
        self.compare.setVisible(now is not None and not is_same)
        self.restore_button.setVisible(not is_same)
        head = QWidget()
        mark_area(head, surface="panel", line="bottom")
        self._head = arrange(QHBoxLayout(head), (self._words, 1), self.compare, self.restore_button)
        self.editor = CodeEditor(services, is_spice=is_spice(circuit), has_title=has_title(circuit))
        self.editor.setText(text)
        self.editor.setReadOnly(True)
        self._body = QStackedWidget()
        self._body.addWidget(self.editor)
        self.difference: CompareView | None = None
        if now is not None and not is_same:
            diff = diff_files(text.encode(), now.encode(), path=circuit.name)
            self.difference = CompareView(services, diff)
            self._body.addWidget(self.difference)
        arrange(QVBoxLayout(self), head, (self._body, 1), edges=0, gap=0)
        self.setFocusProxy(self.editor)
        self.restyle()
        self.retranslate()

    @property
    def shows_difference(self) -> bool:
        return self._body.currentWidget() is self.difference

    def tab_title(self) -> str:
        run = msg("{circuit} · Run {number}", circuit=self.circuit.name, number=self.run)
        return self._services.language(run)

    def restyle(self) -> None:
        theme = self._services.theme.theme
        edge, small = theme.size("space.3"), theme.size("space.1")
        arrange(self._head, edges=(edge, small, edge, small), gap=theme.size("space.2"))
        self.editor.restyle()
        if self.difference is not None:
            self.difference.restyle()

    def retranslate(self) -> None:
        language = self._services.language
        told = msg(
            "{circuit} as it was in run {number}, read only.", circuit=self.circuit.name, number=self.run
        )
        if self._now == self.text:
            told = msg(
                "{circuit} as it was in run {number}: it is the same now.",
                circuit=self.circuit.name,
                number=self.run,
            )
        self._words.setText(language(told))
        shown = msg("Show the text") if self.shows_difference else msg("Show what differs now")
        self.compare.setText(language(shown))
        self.restore_button.setText(language(msg("Restore as an edit")))
        self.editor.retranslate()
        if self.difference is not None:
            self.difference.retranslate()

    def _toggle(self, _checked: bool = False) -> None:
        if self.difference is not None:
            self._body.setCurrentWidget(self.editor if self.shows_difference else self.difference)
            self.retranslate()


class Area(Protocol):
    """The editor's tabs, as far as this asks them."""

    def show_page(self, page: CentrePage) -> None: ...


class FormerCircuits(QObject):
    """Opens those pages, and brings a text back into the editor."""

    def __init__(
        self,
        services: WindowServices,
        simulation: Simulation,
        *,
        area: Area,
        opening: Opening,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._services, self._simulation, self._area = services, simulation, area
        self._opening = opening
        services.workspace.former_circuit_wanted.connect(self._on_wanted)

    def _on_wanted(self, result: Path) -> None:
        self._services.start(self._show(result), kind="former circuit", scope="former circuit")

    async def _show(self, result: Path) -> None:
        workspace = self._services.workspace
        figures = await self._simulation.waveforms.figures_of(result)
        data = await self._simulation.waveforms.circuit_text(result)
        if figures is None or data is None:
            workspace.error_occurred.emit(
                CircuitAIError(
                    msg("The text of this run's circuit was not kept."),
                    advice=msg("Runs made from now on keep it, up to 4 MB."),
                )
            )
            return
        circuit = workspace.views.place_of(figures.circuit, figures.created)
        page = await self._opening.page_for(circuit)
        now = None if page is None else page.editor.text()
        former = FormerCircuitPage(
            self._services, circuit, figures.number, _decoded(data), now=now, restore=self._restore
        )
        self._area.show_page(former)

    def _restore(self, former: FormerCircuitPage) -> None:
        self._services.start(self._bring_back(former), kind="restore circuit", scope="former circuit")

    async def _bring_back(self, former: FormerCircuitPage) -> None:
        """Make the file's text in the editor what it was: one step that can be undone, not saved."""
        workspace = self._services.workspace
        page = await self._opening.page_for(former.circuit)
        if page is None:
            return  # why it could not be opened has been told
        if page.editor.isReadOnly():
            workspace.error_occurred.emit(msg("{name} is read-only.", name=former.circuit.name))
            return
        page.editor.apply(edits_between(page.editor.text(), former.text))
        workspace.status_changed.emit(
            msg(
                "{circuit} is as it was in run {number}; Ctrl+Z takes it back.",
                circuit=former.circuit.name,
                number=former.run,
            )
        )


def _decoded(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")
