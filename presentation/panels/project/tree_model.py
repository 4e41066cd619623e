"""The rows of the project tree: folders read when they are opened, what is marked at the right."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PyQt6.QtCore import QAbstractItemModel, QMimeData, QModelIndex, Qt, QUrl, pyqtSignal

from presentation.ui.rows import Role, RowLook, joined
from presentation.ui.workspace import WindowServices
from shared.message import msg

if TYPE_CHECKING:
    from application.project.browsing import Entry

CIRCUITS = frozenset({".cir", ".sp", ".spice", ".net", ".ckt"})
_NETLISTS = CIRCUITS | {".lib", ".inc", ".mod", ".sub", ".model", ".mdl"}


MOST_ROWS = 500
"""Rows of one folder shown at once: laying out many thousands would hold the window."""
_REST = "\0rest"
"""Name of the row that stands for the rest of a folder; no file can have it."""


@dataclass(slots=True, eq=False)
class _Node:
    """A row; its children are None until they were read once."""

    entry: Entry
    parent: _Node | None
    number: int
    """Its name in indexes of Qt: an index that is out of date finds nothing, and no freed object."""
    children: list[_Node] | None = None
    is_loading: bool = False
    row: int = 0
    most: int = MOST_ROWS
    """Children shown at most; the person can ask for more."""
    hidden: int = 0
    """Of a row that stands for the rest of its folder: how many files that are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """What the tree says of files."""

    changed: frozenset[Path] = field(default_factory=frozenset)
    """Changed since the last accepted state."""
    problems: Mapping[Path, tuple[int, int]] = field(default_factory=dict)
    """Errors and warnings of a file."""


class ProjectModel(QAbstractItemModel):
    """The folders of one project. Reading is asked for by `wanted` and answered by `set_entries`."""

    wanted = pyqtSignal(object)
    """folder: Path"""

    def __init__(self, services: WindowServices) -> None:
        super().__init__()
        self._services = services
        self._root: _Node | None = None
        self._nodes: dict[Path, _Node] = {}
        self._by_number: dict[int, _Node] = {}
        self._numbers = itertools.count(1)
        self._main: Path | None = None
        self._marks = Marks()
        self._protected: frozenset[Path] = frozenset()
        self._expanded: set[Path] = set()

    # ---- what is shown -------------------------------------------------------------------------

    def set_root(self, root: Path | None) -> None:
        """Another project, or none; its folder is asked for."""
        self.beginResetModel()
        self._nodes.clear()
        self._by_number.clear()
        self._root = None
        self._main, self._marks, self._protected = None, Marks(), frozenset()
        self._expanded.clear()
        if root is not None:
            from application.project.browsing import Entry  # late: the bare frame is painted without it

            entry = Entry(name=root.name or str(root), path=root, kind="folder")
            self._root = self._add(entry, None)
        self.endResetModel()
        if self._root is not None:
            self.fetchMore(self.index_of(self._root.entry.path))

    def most_of(self, folder: Path) -> int:
        node = self._nodes.get(folder)
        return MOST_ROWS if node is None else node.most

    def set_entries(self, folder: Path, entries: Sequence[Entry], hidden: int = 0) -> None:
        """What is in a folder now, `hidden` more behind it.

        Rows that stay keep their place, their children and their selection.
        """
        node = self._nodes.get(folder)
        if node is None or node.entry.kind != "folder":
            return
        node.is_loading = False
        if hidden:
            entries = [*entries, replace(entries[0], name=_REST, path=folder / _REST, kind="file")]
        if node.children is None:
            self._fill(node, entries)
        else:
            self._change(node, entries)
        if hidden:
            self._nodes[folder / _REST].hidden = hidden
            self._repaint([folder / _REST])

    def show_more(self, index: QModelIndex) -> Path | None:
        """When the row stands for the rest of a folder: show more of it; returns the folder to be read."""
        node = self._node(index)
        if node is None or node.parent is None or not node.hidden:
            return None
        node.parent.most += 4 * MOST_ROWS
        return node.parent.entry.path

    def _change(self, node: _Node, entries: Sequence[Entry]) -> None:
        assert node.children is not None
        keys = {(entry.path, entry.kind) for entry in entries}
        for row in range(len(node.children) - 1, -1, -1):
            child = node.children[row]
            if (child.entry.path, child.entry.kind) not in keys:
                self.beginRemoveRows(self._index(node), row, row)
                self._forget(node.children.pop(row))
                _number(node.children, row)
                self.endRemoveRows()
        known = {child.entry.path for child in node.children}
        for row, entry in enumerate(entries):
            if entry.path not in known:
                self.beginInsertRows(self._index(node), row, row)
                node.children.insert(row, self._add(entry, node))
                _number(node.children, row)
                self.endInsertRows()

    def set_main(self, main: Path | None) -> None:
        before, self._main = self._main, main
        self._repaint(path for path in (before, main) if path is not None)

    def set_marks(self, marks: Marks) -> None:
        before, self._marks = self._marks, marks
        self._repaint({*before.changed, *before.problems, *marks.changed, *marks.problems})

    def set_protected(self, paths: frozenset[Path]) -> None:
        """Mark the files and folders that a model changes only after a question."""
        before, self._protected = self._protected, paths
        self._repaint(before ^ paths)

    def is_protected(self, path: Path) -> bool:
        return path in self._protected

    def set_expanded(self, path: Path, *, is_expanded: bool) -> None:
        (self._expanded.add if is_expanded else self._expanded.discard)(path)
        self._repaint([path])

    @property
    def loaded_folders(self) -> tuple[Path, ...]:
        return tuple(path for path, node in self._nodes.items() if node.children is not None)

    def index_of(self, path: Path) -> QModelIndex:
        """The row of a path, invalid when it is not (yet) known."""
        node = self._nodes.get(path)
        return QModelIndex() if node is None else self._index(node)

    def entry_at(self, index: QModelIndex) -> Entry | None:
        """The file or folder of a row."""
        node = self._node(index)
        return None if node is None or node.hidden else node.entry

    # ---- QAbstractItemModel --------------------------------------------------------------------

    def index(self, row: int, column: int, parent: QModelIndex | None = None) -> QModelIndex:
        above = self._node(parent)
        rows = ([self._root] if self._root else []) if above is None else above.children or []
        if column != 0 or not 0 <= row < len(rows):
            return QModelIndex()
        return self.createIndex(row, 0, rows[row].number)

    def parent(self, index: QModelIndex | None = None) -> Any:
        """The index of the folder around a row."""
        node = self._node(index)
        return QModelIndex() if node is None or node.parent is None else self._index(node.parent)

    def rowCount(self, parent: QModelIndex | None = None) -> int:  # noqa: N802 - Qt's name
        node = self._node(parent)
        if node is None:
            return 0 if self._root is None or (parent is not None and parent.isValid()) else 1
        return len(node.children or ())

    def columnCount(self, _parent: QModelIndex | None = None) -> int:  # noqa: N802 - Qt's name
        return 1

    def hasChildren(self, parent: QModelIndex | None = None) -> bool:  # noqa: N802 - Qt's name
        """A folder is one that can be opened until it is known to be empty."""
        node = self._node(parent)
        if node is None:
            return self.rowCount(parent) > 0
        return node.entry.kind == "folder" and node.children != []

    def canFetchMore(self, parent: QModelIndex) -> bool:  # noqa: N802 - Qt's name
        """Whether a folder has not been read."""
        node = self._node(parent)
        return node is not None and node.entry.kind == "folder" and node.children is None

    def fetchMore(self, parent: QModelIndex) -> None:  # noqa: N802 - Qt's name
        """Ask for a folder's content; the answer comes later."""
        node = self._node(parent)
        if node is not None and node.children is None and not node.is_loading:
            node.is_loading = True
            self.wanted.emit(node.entry.path)

    def flags(self, index: QModelIndex) -> Qt.ItemFlag:
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        flags, entry = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable, self.entry_at(index)
        return flags | Qt.ItemFlag.ItemIsDragEnabled if entry is not None and entry.kind == "file" else flags

    def mimeData(self, indexes: Iterable[QModelIndex]) -> QMimeData:  # noqa: N802 - Qt's name
        """The files of these rows, as a file manager offers them."""
        entries = [entry for index in indexes if (entry := self.entry_at(index)) is not None]
        mime = QMimeData()
        mime.setUrls([QUrl.fromLocalFile(str(entry.path)) for entry in entries])
        return mime

    def data(self, index: QModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        node = self._node(index)
        if node is None:
            return None
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            if node.hidden:
                return self._services.language(msg("{count} more…", count=node.hidden))
            return node.entry.name
        if role == Role.LOOK:
            return RowLook(icon="ellipsis", color="text.link") if node.hidden else self._look(node)
        if role == Qt.ItemDataRole.ToolTipRole:
            return self._tooltip(node)
        return None

    # ---- inside --------------------------------------------------------------------------------

    def _look(self, node: _Node) -> RowLook:
        path = node.entry.path
        if node.entry.kind == "folder":
            icon = "folder-open" if path in self._expanded else "folder"
            icon = "lock" if path in self._protected else icon
            return RowLook(icon=icon, weight=600 if node.parent is None else 400)
        errors, warnings = self._marks.problems.get(path, (0, 0))
        icon = "file-code" if path.suffix.lower() in _NETLISTS else "file-text"
        return RowLook(
            icon="lock" if path in self._protected else icon,
            weight=600 if path == self._main else 400,
            color="error.text" if errors else "text.primary",
            values=tuple(
                text
                for text in (
                    str(errors or warnings) if errors or warnings else "",
                    "M" if path in self._marks.changed else "",
                )
                if text
            ),
            widths=("M",),
            value_style="small",
            value_color="error.text" if errors else "warn.text" if warnings else "text.secondary",
        )

    def _tooltip(self, node: _Node) -> str:
        path, language = node.entry.path, self._services.language
        errors, warnings = self._marks.problems.get(path, (0, 0))
        return joined(
            [
                str(path),
                language(msg("Main circuit: Ctrl+F5 runs it")) if path == self._main else "",
                language(msg("Protected: a model must ask before changing this"))
                if path in self._protected
                else "",
                language(msg("M: changed since the last accepted state"))
                if path in self._marks.changed
                else "",
                language(
                    msg(
                        "{errors} {errors:error|errors}, {warnings} {warnings:warning|warnings}",
                        errors=errors,
                        warnings=warnings,
                    )
                )
                if errors or warnings
                else "",
            ]
        )

    def _node(self, index: QModelIndex | None) -> _Node | None:
        if index is None or not index.isValid():
            return None
        return self._by_number.get(int(index.internalId()))

    def _index(self, node: _Node) -> QModelIndex:
        return self.createIndex(node.row, 0, node.number)

    def _fill(self, node: _Node, entries: Sequence[Entry]) -> None:
        if entries:
            self.beginInsertRows(self._index(node), 0, len(entries) - 1)
            node.children = [self._add(entry, node) for entry in entries]
            _number(node.children, 0)
            self.endInsertRows()
        else:
            node.children = []
            self._repaint([node.entry.path])

    def _add(self, entry: Entry, parent: _Node | None) -> _Node:
        node = _Node(entry=entry, parent=parent, number=next(self._numbers))
        self._nodes[entry.path] = self._by_number[node.number] = node
        return node

    def _forget(self, node: _Node) -> None:
        for child in node.children or ():
            self._forget(child)
        self._by_number.pop(node.number, None)
        if self._nodes.get(node.entry.path) is node:
            del self._nodes[node.entry.path]

    def _repaint(self, paths: Iterable[Path]) -> None:
        for path in paths:
            index = self.index_of(path)
            if index.isValid():
                self.dataChanged.emit(index, index)


def _number(children: list[_Node], start: int) -> None:
    for row in range(start, len(children)):
        children[row].row = row
