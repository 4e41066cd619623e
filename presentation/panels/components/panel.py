"""The panel: search field, groups, list, and below it the viewer of the chosen component."""

from __future__ import annotations

from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from PyQt6.QtCore import QEvent, QObject, Qt
from PyQt6.QtGui import QDragEnterEvent, QDropEvent, QKeyEvent, QShowEvent
from PyQt6.QtWidgets import QHBoxLayout, QLineEdit, QPushButton, QStackedWidget, QVBoxLayout, QWidget

from application.ports.events import SettingsChanged
from domain.circuit.netlist import LIBRARY_SUFFIXES
from domain.components.component import GROUPS, KINDS, fault_words
from domain.components.titles import SHIPPED_KINDS, origin_of, title_of
from presentation.panels.components.imports import Imports, libraries_in
from presentation.panels.components.library_folders import LibraryFolders
from presentation.panels.components.viewer import ComponentViewer
from presentation.ui.figure_table import Cell, Column, FigureTable
from presentation.ui.flow_layout import FlowLayout
from presentation.ui.frame import LineSplitter
from presentation.ui.parts import arrange, once_after, push_button, text_label
from presentation.ui.styles import mark_area
from shared.message import Message, msg

if TYPE_CHECKING:
    from application.components.importing import ImportedLibrary
    from application.groups.program import Program
    from application.groups.project import Project
    from application.groups.simulation import Simulation
    from application.ports.components import FoundComponents, LibraryState
    from domain.components.component import Component
    from presentation.panels.editor.editor_area import EditorArea
    from presentation.ui.workspace import WindowServices

_PAGE = 200
"""Rows read at once; more when the list is scrolled to its end."""
_PAUSE_MS = 120
_FRESH_S = 2.0
"""A search within this time after the files were looked at does not look again."""


class ComponentsPanel(QWidget):
    """Follows what is typed, the library folders, and the files in them.

    Files are looked at when the panel or its window comes to the front, when somebody searches, and when a
    library of the project changes.
    """

    def __init__(
        self,
        services: WindowServices,
        editor: EditorArea,
        *,
        simulation: Simulation,
        project: Project,
        program: Program,
    ) -> None:
        super().__init__()
        self._services = services
        self._find = simulation.components
        self._is_updating = self._is_stale = False
        self._looked_at = float("-inf")
        self.found: list[Component] = []
        self._answer: FoundComponents | None = None
        self._state: LibraryState | None = None
        self._group = ""
        self._request = 0
        self._is_loading = False
        self.setObjectName("components")
        self.search = QLineEdit()
        self.search.setObjectName("componentSearch")
        self.search.setClearButtonEnabled(True)
        self.search.installEventFilter(self)
        self.table = FigureTable(services, "componentList", wide_column=1)
        self.table.setSelectionMode(FigureTable.SelectionMode.SingleSelection)
        self.viewer = ComponentViewer(services, simulation, editor)
        self.folders = LibraryFolders(
            services,
            program.preferences,
            simulation.components.libraries,
            beside=self,
            imports=self.choose_library,
        )
        self._stack = QStackedWidget()
        self.imports = Imports(services, project, program, self._stack, is_over=self._on_import_over)
        self._chips: dict[str, QPushButton] = {key: self._chip(key) for key in ("", *GROUPS)}
        self._build()
        self._timer = once_after(self, _PAUSE_MS, self._on_typed)
        self.search.textChanged.connect(lambda _text: self._timer.start())
        self._pause = once_after(self, _PAUSE_MS, self.refresh)
        selection = self.table.selectionModel()
        assert selection is not None
        selection.selectionChanged.connect(lambda _new, _old: self._show_chosen())
        bar = self.table.verticalScrollBar()
        assert bar is not None
        bar.valueChanged.connect(lambda at: self._more() if at >= bar.maximum() - 40 else None)
        self.table.doubleClicked.connect(lambda _index: self.viewer.insert())
        services.workspace.project_opened.connect(lambda *_: self.refresh())
        services.workspace.file_changed.connect(self._on_file)
        end = program.events.subscribe(SettingsChanged, self._on_settings)
        self.destroyed.connect(lambda _object: end())
        services.dress(self)

    def _chip(self, key: str) -> QPushButton:
        chip = push_button(
            name=f"components_{key or 'all'}",
            clicked=lambda _on=False: self._choose(key),
            chip=True,
            small=True,
        )
        chip.setCheckable(True)
        return chip

    def _build(self) -> None:
        chips = QWidget()
        self._flow = FlowLayout(chips, gap=self._services.theme.theme.size("space.1"))
        for chip in self._chips.values():
            self._flow.addWidget(chip)
        self._chips[""].setChecked(True)
        self._note = text_label(name="components_note", wraps=True, role="tertiary")
        top, head = QWidget(), QWidget()
        self._head = arrange(QHBoxLayout(head), (self.search, 1), self.folders.button, edges=0)
        self._top = arrange(QVBoxLayout(top), head, chips, (self.table, 1), self._note)
        self._split = LineSplitter(Qt.Orientation.Vertical, self._services, "componentsSplit")
        self._split.addWidget(top)
        self._split.addWidget(self.viewer)
        self._split.setStretchFactor(0, 2)
        self._split.setStretchFactor(1, 3)
        self._split.setChildrenCollapsible(False)
        self._top.insertWidget(2, self.imports)
        self._stack.addWidget(self._split)
        arrange(QVBoxLayout(self), (self._stack, 1), edges=0, gap=0)
        self.search.setAcceptDrops(False)  # a file is for the panel
        self.setAcceptDrops(True)
        self.setFocusProxy(self.search)
        mark_area(self, surface="base")

    def restyle(self, _theme: object = None) -> None:
        theme = self._services.theme.theme
        edge, gap = theme.size("space.3"), theme.size("space.2")
        arrange(self._top, edges=(edge, gap, edge, gap), gap=gap)
        arrange(self._head, gap=gap)
        self.imports.restyle()
        self.folders.restyle()

    def retranslate(self, _name: object = None) -> None:
        language = self._services.language
        self.search.setPlaceholderText(language(msg("Name, kind or data: npn 40 V 200 mA")))
        self.search.setAccessibleName(language(msg("Search the components")))
        self.table.setAccessibleName(language(msg("Components")))
        self.folders.retranslate()
        self.imports.retranslate()
        self._show_rows()
        self._show_counts()

    def showEvent(self, event: QShowEvent | None) -> None:  # noqa: N802 - Qt's name
        super().showEvent(event)
        self.refresh()

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:  # noqa: N802 - Qt's name
        """Up and down choose in the list while the keyboard is in the field; Enter inserts."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            key = Qt.Key(event.key())
            step = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}.get(key)
            if step is not None and self.found:
                row = next(iter(self.table.selected_rows()), -step)
                self.table.selectRow(min(max(row + step, 0), len(self.found) - 1))
                return True
            if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self.viewer.insert()
                return True
        return super().eventFilter(watched, event)

    # ---- files that come in

    def choose_library(self) -> None:
        """Ask for a library file, and import it."""
        self.imports.choose()

    def _on_import_over(self, done: ImportedLibrary | None) -> None:
        """Show what was imported, or the list as it was."""
        if done is not None:
            self.search.setText(done.path.name)
            self._choose("")
        self.search.setFocus()
        self.refresh()

    def dragEnterEvent(self, event: QDragEnterEvent | None) -> None:  # noqa: N802 - Qt's name
        if event is not None and libraries_in(event):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent | None) -> None:  # noqa: N802 - Qt's name
        """Library files are imported."""
        files = [] if event is None else libraries_in(event)
        if event is not None and files:
            event.acceptProposedAction()
            self.imports.begin(files)

    # ---- searching

    def refresh(self) -> None:
        """Search at once, and again when what is new in the libraries has been read."""
        if self.isVisible():
            self._look()
            self._services.start(self._update(), kind="read libraries")

    async def _update(self) -> None:
        if self._is_updating:
            self._is_stale = True
            return
        self._is_updating = True
        try:
            root = self._root()
            state = await self._find.refresh(root, goes_on=self._goes_on, told=self._show_state)
            self._looked_at = monotonic()
            if root == self._root():
                self._show_state(state)
        finally:
            self._is_updating = False
        if self._is_stale:
            self._is_stale = False
            self.refresh()

    def _goes_on(self) -> bool:
        """Whether the libraries are read on: they are wanted, and still the same."""
        return self.isVisible() and not self._is_stale

    def _show_state(self, state: LibraryState) -> None:
        self._state = state
        self._look()

    def _on_typed(self) -> None:
        if monotonic() - self._looked_at > _FRESH_S:
            self.refresh()
        else:
            self._look()

    def _on_file(self, path: Path) -> None:
        if path.suffix.lower() in LIBRARY_SUFFIXES and self.isVisible():
            self._pause.start()

    def _on_settings(self, event: SettingsChanged) -> None:
        if "libraries" in event.names:
            self.refresh()

    def changeEvent(self, event: QEvent | None) -> None:  # noqa: N802 - Qt's name
        """Back in the window: its libraries may have been changed by others."""
        super().changeEvent(event)
        if event is not None and event.type() == QEvent.Type.ActivationChange and self.isActiveWindow():
            self._pause.start()

    def _root(self) -> Path | None:
        return self._services.workspace.root

    def _choose(self, group: str) -> None:
        self._group = group
        for key, chip in self._chips.items():
            chip.setChecked(key == group)
        self._look()

    def _look(self) -> None:
        self._request += 1
        self._services.start(self._search(self._request, 0), kind="search components")

    def _more(self) -> None:
        if self._answer is not None and not self._is_loading and len(self.found) < self._answer.total:
            self._is_loading = True
            self._services.start(self._search(self._request, len(self.found)), kind="search components")

    async def _search(self, request: int, skip: int) -> None:
        try:
            found = await self._find.search(
                self._query(), root=self._root(), group=self._group, most=_PAGE, skip=skip
            )
        finally:
            self._is_loading = False
        if request != self._request:
            return
        before = self._chosen()
        self._answer = found
        self.found = [*self.found[:skip], *found.components]
        self._show_rows()
        self._show_counts()
        if not skip:
            at = self.found.index(before) if before in self.found else 0
            if self.found:
                self.table.selectRow(at)
            self._show_chosen()

    def _query(self) -> str:
        """What is searched for; titles of the program's models, which the list shows translated, in the words
        of their files."""
        language, text = self._services.language, self.search.text()
        shown = {language(words): english for english, words in SHIPPED_KINDS.items()}
        for told in sorted(shown, key=len, reverse=True):
            text = text.replace(told, f" {shown[told]} ")
        return text

    def _chosen(self) -> Component | None:
        rows = self.table.selected_rows()
        return self.found[rows[0]] if rows and rows[0] < len(self.found) else None

    def _show_chosen(self) -> None:
        self.viewer.show_component(self._chosen())

    # ---- what is shown

    def _show_rows(self) -> None:
        language = self._services.language
        columns = [Column(title=language(each)) for each in (msg("Name"), msg("What it is"), msg("Library"))]
        rows = []
        for each in self.found:
            fault = fault_words(each)
            told = language(title_of(each) if fault is None else fault[0]) or language(KINDS[each.kind])
            origin = language(origin_of(each, is_short=True))
            rows.append([
                Cell(text=each.name, style="mono_small"),
                Cell(text=told, tip=told, color="text.primary" if fault is None else "error.text"),
                Cell(text=origin, tip=each.file or origin, color="text.secondary"),
            ])  # fmt: skip
        self.table.show_rows(columns, rows)

    def _show_counts(self) -> None:
        language, answer = self._services.language, self._answer
        counts = {} if answer is None else answer.by_group
        for key, chip in self._chips.items():
            title = msg("All") if not key else GROUPS[key][0]
            count = sum(counts.values()) if not key else counts.get(key, 0)
            chip.setText(f"{language(title)} {count}" if answer is not None else language(title))
            chip.setEnabled(not key or count > 0 or key == self._group)
        notes = [language(each) for each in self._notes()]
        self._note.setText(" ".join(notes))
        self._note.setVisible(bool(notes))

    def _notes(self) -> list[Message]:
        notes = []
        answer, state = self._answer, self._state
        if answer is not None and not answer.total:
            notes.append(msg("The libraries have nothing like “{query}”.", query=self.search.text()))
        if answer is not None and answer.unstated:
            notes.append(
                msg(
                    "{count} more {count:does|do} not state the figures that were asked for.",
                    count=answer.unstated,
                )
            )
        if state is not None and state.pending:
            notes.append(msg("Reading the libraries: {count} {count:file|files} left.", count=state.pending))
        return notes
