"""The outline of the netlist in the editor's front tab; a click goes to the line."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PyQt6.QtCore import QModelIndex, QPoint, Qt
from PyQt6.QtGui import QStandardItem, QStandardItemModel
from PyQt6.QtWidgets import QMenu, QStackedLayout, QWidget

from domain.circuit.netlist import NETLIST_SUFFIXES
from presentation.ui.empty_state import EmptyNote
from presentation.ui.parts import SpokenName, once_after
from presentation.ui.probe_entries import Entry, add_entries, of_element, of_node
from presentation.ui.rows import Role, RowLook, RowTree, joined
from presentation.ui.workspace import Probed, WindowServices
from shared.errors import UserInputError
from shared.message import Message, msg

if TYPE_CHECKING:
    from application.groups.project import Project
    from domain.circuit.sections import Item, Section, SectionKind

_NAMES: dict[SectionKind, Message] = {
    "elements": msg("Elements"),
    "sources": msg("Sources (V, I)"),
    "nodes": msg("Nodes"),
    "analyses": msg("Analyses"),
    "measures": msg("Measurements"),
    "models": msg("Models"),
    "parameters": msg("Parameters"),
    "includes": msg("Included files"),
}
_OPEN_AT_FIRST = frozenset({"heading", "elements", "subcircuit"})
_COUNTED = frozenset(_NAMES) - {"elements"}
_LINE = int(Role.LOOK) + 1
_KEY = int(Role.LOOK) + 2
_NAME = int(Role.LOOK) + 3
"""Of a row that can be plotted: a node or an element."""
_IS_NODE = int(Role.LOOK) + 4
_OF_ELEMENTS = frozenset({"heading", "elements", "sources", "subcircuit"})
_MOST_ROWS = 5000


class OutlinePane(QWidget):
    """Follows the shown file: what the editor has of it, or what is on the disk while nothing is unsaved."""

    def __init__(self, services: WindowServices, project: Project, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._services = services
        self._project = project
        self._file: Path | None = None
        self._sections: tuple[Section, ...] = ()
        self._unsaved: dict[Path, str] = {}
        """What the editor had of the files with unsaved changes when it last looked."""
        self._request = 0
        self.model = QStandardItemModel(self)
        self.view = RowTree(services, "outline")
        SpokenName(services, self.view, msg("Outline"))
        self.view.setModel(self.model)
        self._closed: set[str] = set()
        """Sections the person has closed, by name; the next file's are alike."""
        self._opened: set[str] = set()
        self._read_file: Path | None = None
        """Whose sections are shown."""
        self._empty = EmptyNote(services, _NOTHING)
        self._stack = QStackedLayout(self)
        self._stack.addWidget(self._empty)
        self._stack.addWidget(self.view)
        self._timer = once_after(self, 100, self._read)
        self.view.clicked.connect(self._on_clicked)
        self.view.activated.connect(self._go)
        self.view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.view.customContextMenuRequested.connect(self._show_menu)
        services.shortcuts.answer(self.view, {"list.plot": self._plot_chosen})
        self.view.expanded.connect(lambda index: self._on_folded(index, is_open=True))
        self.view.collapsed.connect(lambda index: self._on_folded(index, is_open=False))
        workspace = services.workspace
        workspace.file_shown.connect(self._on_shown)
        workspace.file_changed.connect(self._on_changed)
        workspace.text_checked.connect(self._on_text)
        workspace.project_closed.connect(self._unsaved.clear)
        workspace.project_closed.connect(lambda: self._on_shown(None))
        services.language.changed.connect(lambda _name: self._show())

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(item.name for section in self._sections for item in section.items)

    def line_of(self, name: str) -> int | None:
        return next(
            (item.line for section in self._sections for item in section.items if item.name == name), None
        )

    def set_sections(self, sections: Sequence[Section]) -> None:
        if tuple(sections) != self._sections:
            self._sections = tuple(sections)
            self._show()
        self._stack.setCurrentWidget(self.view if self._sections else self._empty)

    def toggle_all(self) -> None:
        """Fold everything, or unfold it when all is folded."""
        tops = [self.model.index(row, 0) for row in range(self.model.rowCount())]
        if any(self.view.isExpanded(index) for index in tops):
            self.view.collapseAll()
        else:
            self.view.expandAll()

    def _on_shown(self, path: Path | None) -> None:
        self._file = path
        self._read_file = self._read_file if path == self._read_file else None
        if path is None or path.suffix.lower() not in NETLIST_SUFFIXES:
            self._timer.stop()
            self._empty.set_text(_NOTHING if path is None else _NO_NETLIST)
            self.set_sections(())
        else:
            self._read()

    def _on_changed(self, path: Path) -> None:
        if path == self._file and path.suffix.lower() in NETLIST_SUFFIXES:
            self._timer.start()

    def _on_text(self, path: Path, text: str) -> None:
        buffers = self._services.workspace.buffers
        if buffers is not None and buffers.is_dirty(path):
            self._unsaved[path] = text
        elif self._unsaved.pop(path, None) is None:
            return  # as on the disk, before and now
        if path == self._file and path.suffix.lower() in NETLIST_SUFFIXES:
            self._read()

    def _read(self) -> None:
        if self._file is not None:
            self._request += 1
            self._services.start(self._load(self._file, self._request), kind="read outline")

    async def _load(self, file: Path, request: int) -> None:
        buffers = self._services.workspace.buffers
        is_dirty = buffers is not None and buffers.is_dirty(file)
        try:
            text = self._unsaved.get(file) if is_dirty else None
            sections = await self._project.browse.sections(file, text=text)
            why_empty = _NO_ELEMENTS
        except UserInputError as error:  # removed meanwhile, or too large
            if self._read_file == file:
                return  # the editor still has the text of which this is the outline
            sections, why_empty = (), error.message
        if file == self._file and request == self._request:
            self._read_file = file if sections else None
            self._empty.set_text(why_empty)
            self.set_sections(sections)

    def _show(self) -> None:
        scroll = self.view.verticalScrollBar()
        place = 0 if scroll is None else scroll.value()
        self.model.clear()
        root = self.model.invisibleRootItem()
        rows = 0
        for section in self._sections:
            if root is None or rows > _MOST_ROWS:
                break
            top = self._section_row(section)
            top.appendRows([_item_row(section, item) for item in section.items[: _MOST_ROWS - rows]])
            rows += len(section.items) + 1
            root.appendRow(top)
            key = str(top.data(_KEY))
            is_open = section.kind in _OPEN_AT_FIRST if key not in self._opened else True
            self.view.setExpanded(self.model.indexFromItem(top), is_open and key not in self._closed)
        if scroll is not None:
            scroll.setValue(place)

    def _section_row(self, section: Section) -> QStandardItem:
        name = section.name
        if section.kind in _NAMES:
            name = self._services.language(_NAMES[section.kind])
        value = str(len(section.items)) if section.kind in _COUNTED else section.value
        row = QStandardItem(name)
        row.setData(RowLook(values=(value,) if value else ()), int(Role.LOOK))
        row.setData(section.line, _LINE)
        row.setData(f"{section.kind}:{section.name}", _KEY)
        row.setToolTip(joined([name, section.value]))
        return row

    def _on_folded(self, index: QModelIndex, *, is_open: bool) -> None:
        key = str(index.data(_KEY))
        (self._closed.discard if is_open else self._closed.add)(key)
        (self._opened.add if is_open else self._opened.discard)(key)

    def _on_clicked(self, index: QModelIndex) -> None:
        """The line is shown; the keyboard stays here, where Space plots: in the text it would be written."""
        self._go(index)
        self.view.setFocus(Qt.FocusReason.MouseFocusReason)

    def _go(self, index: QModelIndex) -> None:
        line = index.data(_LINE)
        if self._file is not None and isinstance(line, int) and line > 0:
            self._services.workspace.file_activated.emit(self._file, line)

    def _plot_chosen(self) -> None:
        """Plot the row the keyboard is on."""
        index = self.view.currentIndex()
        self._plot(index, "voltage" if index.data(_IS_NODE) is True else "usual")

    def _plot(self, index: QModelIndex, what: Probed) -> None:
        line, name = index.data(_LINE), index.data(_NAME)
        if self._file is not None and isinstance(name, str) and isinstance(line, int):
            self._services.workspace.place_probed.emit(self._file, self._file, line, name, what)

    def _show_menu(self, point: QPoint) -> None:
        index = self.view.indexAt(point)
        viewport = self.view.viewport()
        if not index.isValid() or viewport is None:
            return
        menu = QMenu(self.view)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        entries = [Entry(msg("Go to line"), partial(self._go, index))]
        name, plot = index.data(_NAME), partial(self._plot, index)
        if isinstance(name, str):
            is_node = index.data(_IS_NODE) is True
            entries += of_node(self._services, name, plot) if is_node else of_element(name, plot)
        add_entries(self._services, menu, entries)
        menu.popup(viewport.mapToGlobal(point))


_NOTHING = msg("The outline of the netlist in the editor appears here.")
_NO_NETLIST = msg("This file is not a netlist and has no outline.")
_NO_ELEMENTS = msg("This netlist has no elements yet.")


def _item_row(section: Section, item: Item) -> QStandardItem:
    row = QStandardItem(item.name)
    row.setData(RowLook(values=(item.value,) if item.value else ()), int(Role.LOOK))
    row.setData(item.line, _LINE)
    row.setData(f"{section.kind}:{section.name}:{item.name}", _KEY)
    row.setToolTip(joined([f"{item.name} {item.value}".strip()]))
    if section.kind in _OF_ELEMENTS or section.kind == "nodes":
        row.setData(item.name, _NAME)
        row.setData(section.kind == "nodes", _IS_NODE)
    return row
