"""The editor: every open file in a tab, one of them in front. Implements `workspace.Buffers`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path

from PyQt6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from application.groups.project import Project
from application.groups.simulation import Simulation
from application.project.editing import OpenedFile
from application.project.unsaved_texts import UnsavedText
from domain.llm.tools.text_files import diff_files
from presentation.panels.editor.adding_analysis import AddingAnalysis
from presentation.panels.editor.centre_page import CentrePage
from presentation.panels.editor.commands import TextCommands
from presentation.panels.editor.compare_view import CompareView
from presentation.panels.editor.examination import Examination, Problem, is_spice
from presentation.panels.editor.find_bar import FindBar, GoToLineBar
from presentation.panels.editor.former_circuit import FormerCircuits
from presentation.panels.editor.name_commands import NameCommands
from presentation.panels.editor.newest_point import NewestPoint
from presentation.panels.editor.nothing_open import NothingOpen
from presentation.panels.editor.open_texts import OpenTexts
from presentation.panels.editor.opening import Opening, absolute
from presentation.panels.editor.page import EditorPage
from presentation.panels.editor.tab_titles import refresh_titles
from presentation.panels.editor.to_conversation import ToConversation
from presentation.panels.editor.trace_places import TracePlaces
from presentation.panels.editor.value_commands import ValueCommands
from presentation.panels.editor.value_handles import ValueHandles
from presentation.ui.closable_tabs import ClosableTabs
from presentation.ui.parts import arrange
from presentation.ui.signals import Signal, signal
from presentation.ui.styles import mark_area
from presentation.ui.workspace import Place, Probed, WindowServices
from shared.message import msg


class EditorArea(OpenTexts, QWidget):
    """Tabs, find bar and texts; registers itself as `workspace.buffers`."""

    problems: Signal[tuple[Problem, ...]] = signal(object)
    """What is wrong with the file in front (and in what it includes)"""
    page_shown: Signal[bool] = signal(bool)
    """Whether a page that is no file is in front"""

    def __init__(
        self,
        services: WindowServices,
        project: Project,
        simulation: Simulation,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._services = services
        self._project = project
        self._simulation = simulation
        self.tabs = ClosableTabs(services, "editorTabs", msg("Open files"))
        self.find_bar = FindBar(services)
        self.go_to_line_bar = GoToLineBar(services)
        self._stack = QStackedWidget()
        self._opening = Opening(services, project, self)
        self._empty = NothingOpen(services, self)
        self._has_point_hints = False
        self.newest = NewestPoint(services, project, simulation, self.bytes_to_save)
        services.workspace.newest = self.newest
        """Of the circuits in its tabs."""
        self._adding_analysis = AddingAnalysis(services, self, self._opening, self)
        FormerCircuits(services, simulation, area=self, opening=self._opening, parent=self)
        self._text_commands = TextCommands(services, self)
        self._name_commands = NameCommands(services, project, simulation, self)
        self._traces = TracePlaces(services, project, simulation, self, self._opening)
        self._lay_out()
        self._answers = services.shortcuts.answer(
            self,
            self._acts(),
            lambda: msg("No file is open in the editor.") if self.tabs.count() == 0 else None,
        )
        self._connect()
        self.restyle()
        self.retranslate()
        services.workspace.buffers = self

    def _lay_out(self) -> None:
        self.setObjectName("editorArea")
        self._row = QWidget()
        mark_area(self._row, surface="chrome")
        arrange(QHBoxLayout(self._row), self.tabs, 1, edges=0)
        self._stack.addWidget(self._empty)
        mark_area(self._stack, surface="base")
        arrange(
            QVBoxLayout(self), self._row, self.go_to_line_bar, self.find_bar, (self._stack, 1), edges=0, gap=0
        )

    def _acts(self) -> dict[str, Callable[[], object]]:
        return {
            "save": self.save_current,
            "closeFile": self.close_current,
            "editor.next_tab": lambda: self._step_tab(1),
            "editor.previous_tab": lambda: self._step_tab(-1),
            "editor.find": self.open_find,
            "editor.replace": self.open_replace,
            "editor.find_next": self.find_bar.find_next,
            "editor.find_previous": self.find_bar.find_previous,
            "editor.go_to_line": self.open_go_to_line,
            "editor.add_analysis": self._adding_analysis.ask,
            "editor.point_hints": self.toggle_point_hints,
            **self._text_commands.acts(),
            **self._name_commands.acts(),
            **ValueCommands(self._services, self).acts(),
            **ToConversation(self._services, self).acts(),
        }

    def _connect(self) -> None:
        services, workspace = self._services, self._services.workspace
        self.tabs.currentChanged.connect(self._on_tab_changed)
        self.tabs.close_wanted.connect(self.close_page)
        self.tabs.close_others_wanted.connect(self._close_others)
        workspace.file_activated.connect(self.show_file)
        workspace.file_offered.connect(self._opening.offer)
        workspace.place_probed.connect(self._on_place_probed)
        workspace.file_changed.connect(self._on_file_changed)
        workspace.change_made.connect(self._opening.note_change)
        workspace.file_moved.connect(self._on_file_moved)
        workspace.changes_accepted.connect(self._on_changes_accepted)
        workspace.project_closed.connect(self.close_all)
        services.theme.changed.connect(self.restyle)
        services.language.changed.connect(self.retranslate)

    # ---- Buffers -----------------------------------------------------------------------------

    def show(self, path: Path | None = None, line: int | None = None) -> None:
        """Open a file or bring it to the front, at a line from 1. Without a file: Qt's `show`."""
        if path is None:
            super().show()
        else:
            self.show_file(path, line)

    def show_file(self, path: Path, line: int | None = None, column: int = 1) -> None:
        """Open `path`, or bring it to the front; the caret goes to `line` when one is named."""
        self._opening.show(path, line, column)

    async def opened(self, path: Path, line: int, column: int) -> EditorPage | None:
        """The same, when it is open; None where it cannot be read, which is said."""
        return await self._opening.opened(path, line, column)

    def show_changed(self, path: Path, before: str, line: int | None = None) -> None:
        """The same, with what differs from the text `before` marked as changed."""
        self._opening.show_changed(path, before, line)

    def bring_back(self, kept: UnsavedText, done: Callable[[], object]) -> None:
        """Open a file with the unsaved text of an earlier start; see `workspace.Buffers`."""
        self._opening.bring_back(kept, done)

    async def all_opened(self) -> None:
        await self._opening.all_opened()

    def set_places(self, places: Mapping[Path, Place]) -> None:
        self._opening.set_places(places)

    def close_all(self) -> None:
        """Close every tab without a question."""
        for index in reversed(range(self.tabs.count())):
            self._remove(self.tabs.tabData(index))

    # ---- opening and closing -----------------------------------------------------------------

    def show_page(self, page: CentrePage) -> None:
        """Bring a page to the front; one that has no tab yet gets one beside the tab in front."""
        if self.tabs.index_of(page) < 0:
            self._stack.addWidget(page)
            self.tabs.add(page, self.tabs.currentIndex() + 1)
            refresh_titles(self._services, self.tabs)
            self.tabs.retranslate()
        self.tabs.setCurrentIndex(self.tabs.index_of(page))
        self._on_tab_changed()

    def add(self, opened: OpenedFile) -> EditorPage:
        services, newest = self._services, self.newest
        page = EditorPage(
            services, self._project, self._simulation, opened, open_texts=self.open_texts, newest=newest
        )
        page.point_hints.set_on(is_on=self._has_point_hints and is_spice(page.path) and not page.is_large)
        if is_spice(page.path) and not page.is_large:
            ValueHandles(services, page.editor, self._project, lambda: page.path)
        page.state_changed.connect(lambda: self._on_page_state(page))
        page.examined.connect(self._tell_problems)
        page.saved.connect(lambda: self._services.workspace.file_changed.emit(page.path))
        page.close_requested.connect(lambda: self._remove(page))
        page.compare_requested.connect(lambda theirs, mine: self._compare(page, theirs, mine))
        page.editor.save_requested.connect(self.save_current)
        page.editor.definition_wanted.connect(self._name_commands.go_to_definition)
        page.editor.caret_moved.connect(lambda at, column: self._on_caret_moved(page, at, column))
        self._answers.watch(page.editor)
        self._stack.addWidget(page)
        self.tabs.add(page, self.tabs.currentIndex() + 1)
        refresh_titles(self._services, self.tabs)
        self.tabs.retranslate()
        return page

    def close_page(self, page: QWidget) -> None:
        """Close a tab; unsaved text is asked about in its bar."""
        if isinstance(page, EditorPage) and page.is_dirty:
            self.bring(page)
            page.ask_before_closing()
        else:
            self._remove(page)

    def _remove(self, page: QWidget) -> None:
        index = self.tabs.index_of(page)
        if index < 0:
            return
        if isinstance(page, EditorPage):
            self._opening.keep_place(page.path, page.editor.place())
            page.end()
            self.find_bar.attach(None)
        elif isinstance(page, CentrePage):
            page.end()
        self.tabs.setTabData(index, None)
        self._stack.removeWidget(page)
        self.tabs.removeTab(index)
        page.deleteLater()
        self._on_tab_changed()
        refresh_titles(self._services, self.tabs)

    def _close_others(self, kept: QWidget) -> None:
        for index in reversed(range(self.tabs.count())):
            if self.tabs.tabData(index) is not kept:
                self.close_page(self.tabs.tabData(index))

    def _compare(self, page: EditorPage, theirs: str, mine: str) -> None:
        self.show_difference(page.path.name, theirs, mine, beside=page)

    def show_difference(self, name: str, theirs: str, mine: str, *, beside: QWidget | None = None) -> None:
        """What differs between two texts of a file, in a tab of its own behind that of `beside`."""

        async def compare() -> None:
            diff = await asyncio.to_thread(diff_files, theirs.encode(), mine.encode(), path=name)
            view = CompareView(self._services, diff)
            self._stack.addWidget(view)
            place = self.tabs.currentIndex() if beside is None else self.tabs.index_of(beside)
            self.tabs.add(view, place + 1)
            index = self.tabs.index_of(view)
            self.tabs.setTabText(index, name)
            size = self._services.theme.theme.size("icon.default")
            self.tabs.setTabIcon(index, self._services.icons.get("git-compare", size=size))
            self.tabs.setCurrentIndex(index)

        self._services.start(compare(), kind="compare file")

    # ---- commands ----------------------------------------------------------------------------

    def save_current(self) -> None:
        page = self.current_page()
        if page is not None:
            self._services.start(page.save(), kind="save file")

    def close_current(self) -> None:
        if self.tabs.currentIndex() >= 0:
            self.close_page(self.tabs.tabData(self.tabs.currentIndex()))

    def takes_escape(self, focused: QWidget) -> bool:
        """Whether Escape means something in the text that has the focus."""
        page = self.current_page()
        return page is not None and focused is page.editor and page.takes_escape

    def replace_in_project(self) -> None:
        """Search and replace in all texts of the project, also while none is open."""
        self._name_commands.replace_in_project()

    def open_find(self) -> None:
        self._open_find(replace=False)

    def open_replace(self) -> None:
        self._open_find(replace=True)

    def open_go_to_line(self) -> None:
        page = self.current_page()
        if page is not None:
            self.go_to_line_bar.open_bar(page.editor)

    def toggle_point_hints(self) -> None:
        """Show the operating point behind the lines of every circuit, or no more."""
        self._has_point_hints = not self._has_point_hints
        for page in self.pages():
            page.point_hints.set_on(is_on=self._has_point_hints and is_spice(page.path) and not page.is_large)

    def _on_place_probed(self, path: Path, file: Path, line: int, name: str, what: Probed) -> None:
        page = self.page_of(path)
        if page is not None:
            page.probe_name(file, line, name, what)

    def _open_find(self, *, replace: bool) -> None:
        page = self.current_page()
        if page is not None:
            self.find_bar.open_bar(page.editor, replace=replace)

    def _step_tab(self, step: int) -> None:
        if self.tabs.count():
            self.tabs.setCurrentIndex((self.tabs.currentIndex() + step) % self.tabs.count())

    # ---- pages -------------------------------------------------------------------------------

    def current_page(self) -> EditorPage | None:
        """The page in front, None when there is none or it is no file."""
        index = self.tabs.currentIndex()
        page = self.tabs.tabData(index) if index >= 0 else None
        return page if isinstance(page, EditorPage) else None

    def pages(self) -> tuple[EditorPage, ...]:
        found = (self.tabs.tabData(index) for index in range(self.tabs.count()))
        return tuple(page for page in found if isinstance(page, EditorPage))

    def bring(
        self, page: EditorPage, place: tuple[int, int] | None = None, *, takes_keyboard: bool = True
    ) -> None:
        self.tabs.setCurrentIndex(self.tabs.index_of(page))
        self._on_tab_changed()
        if place is not None:
            page.editor.go_to(*place)
        if takes_keyboard:
            page.editor.setFocus()

    def _on_tab_changed(self, _index: int = -1) -> None:
        index, workspace = self.tabs.currentIndex(), self._services.workspace
        shown = self.tabs.tabData(index) if index >= 0 else None
        self._row.setVisible(self.tabs.count() > 0)
        self._stack.setCurrentWidget(shown if isinstance(shown, QWidget) else self._empty)
        page = self.current_page()
        self.find_bar.attach(page.editor if page is not None else None)
        if page is None:
            self.find_bar.hide()
            self.go_to_line_bar.hide()
        path = page.path if page is not None else None
        if isinstance(shown, CentrePage):
            path = shown.circuit
        self.page_shown.emit(isinstance(shown, CentrePage))
        if path != workspace.shown_file:
            workspace.file_shown.emit(path)
        if page is not None:
            workspace.cursor_moved.emit(*page.editor.caret())
        self._tell_problems()

    def _on_caret_moved(self, page: EditorPage, line: int, column: int) -> None:
        if page is self.current_page():
            self._services.workspace.cursor_moved.emit(line, column)

    def mend(self, problem: Problem) -> None:
        """Carry out the quick fix of a problem of an open file."""
        page = self.page_of(problem.file)
        if page is not None:
            page.apply_fix(problem)

    def _tell_problems(self) -> None:
        page = self.current_page()
        shown = page.examination if page is not None else Examination()
        self.problems.emit(shown.problems)

    def _on_page_state(self, page: EditorPage) -> None:
        index = self.tabs.index_of(page)
        if index >= 0:
            self.tabs.set_unsaved(index, is_unsaved=page.is_dirty)
            refresh_titles(self._services, self.tabs)

    def _on_file_changed(self, path: Path) -> None:
        page = self.page_of(path)
        if page is not None:
            self._services.start(page.reconcile(), kind="read file")
        if is_spice(path):
            for other in self.pages():
                if other is not page:
                    other.check_again()

    def check_all_again(self) -> None:
        """What every text may lean on is another: the library folders."""
        for page in self.pages():
            page.check_again()

    def _on_file_moved(self, old: Path, new: Path) -> None:
        old, new = absolute(old), absolute(new)
        for page in self.pages():
            if page.path == old or page.path.is_relative_to(old):
                page.move_to(new / page.path.relative_to(old) if page.path != old else new)
        current = self.current_page()
        if current is not None and current.path != self._services.workspace.shown_file:
            self._services.workspace.file_shown.emit(current.path)

    def _on_changes_accepted(self) -> None:
        for page in self.pages():
            page.accept_changes()

    # ---- look --------------------------------------------------------------------------------

    def restyle(self) -> None:
        self.tabs.restyle()
        self.find_bar.restyle()
        self.go_to_line_bar.restyle()
        for index in range(self.tabs.count()):
            page = self.tabs.tabData(index)
            if isinstance(page, EditorPage | CompareView | CentrePage):
                page.restyle()
        refresh_titles(self._services, self.tabs)

    def retranslate(self) -> None:
        self.tabs.retranslate()
        self.find_bar.retranslate()
        self.go_to_line_bar.retranslate()
        for index in range(self.tabs.count()):
            page = self.tabs.tabData(index)
            if isinstance(page, EditorPage | CompareView | CentrePage):
                page.retranslate()
        refresh_titles(self._services, self.tabs)
