"""The project tree: its clicks, keys and menu, and when its folders are read again."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable
from pathlib import Path

from PyQt6.QtCore import QModelIndex, QPoint, Qt, pyqtSignal
from PyQt6.QtGui import QKeyEvent
from PyQt6.QtWidgets import QMenu, QStackedLayout, QWidget

from application.groups.conversations import Conversations
from application.groups.project import Project
from presentation.panels.project.tree_model import CIRCUITS, Marks, ProjectModel
from presentation.ui.empty_state import EmptyNote
from presentation.ui.parts import SpokenName, copy_text, once_after
from presentation.ui.rows import RowTree
from presentation.ui.signals import Signal, signal
from presentation.ui.workspace import WindowServices
from shared.message import msg

_NO_FOLDER = msg("The files of the project appear here. Open a folder to start.")


class ProjectTree(QWidget):
    """The tree with its context menu. Emits what the person wants; the window does it."""

    main_wanted: Signal[Path] = signal(object)
    """Make it the main circuit"""
    accept_wanted = pyqtSignal()
    """Take the files as they stand for the accepted state"""

    def __init__(
        self,
        services: WindowServices,
        project: Project,
        conversations: Conversations,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._services = services
        self._project = project
        self._conversations = conversations
        self.model = ProjectModel(services)
        self.view = RowTree(services, "projectTree")
        SpokenName(services, self.view, msg("Project"))
        self.view.setModel(self.model)
        self.view.setDragEnabled(True)  # a file into a conversation
        self.view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self._empty = EmptyNote(services, _NO_FOLDER)
        services.workspace.opening_changed.connect(self._on_opening)
        self._on_opening()
        self._wanted_open: set[Path] = set()
        """Folders to open as soon as their rows are there."""
        self._stack = QStackedLayout(self)
        self._stack.addWidget(self._empty)
        self._stack.addWidget(self.view)
        # Many files at once (a checkout, a build) are one reading of their folders.
        self._stale: set[Path] = set()
        self._refresh = once_after(self, 50, self._read_stale)
        self._connect()

    def _connect(self) -> None:
        self.model.wanted.connect(self._read)
        self.view.expanded.connect(lambda index: self._on_expanded(index, is_expanded=True))
        self.view.collapsed.connect(lambda index: self._on_expanded(index, is_expanded=False))
        self.view.clicked.connect(self._on_clicked)
        self.view.activated.connect(self._on_clicked)
        self.view.customContextMenuRequested.connect(self._show_menu)
        workspace = self._services.workspace
        workspace.project_opened.connect(self._on_opened)
        workspace.project_closed.connect(lambda: self._on_opened(None))
        workspace.main_circuit_changed.connect(self.model.set_main)
        workspace.file_changed.connect(self._on_file_changed)
        workspace.file_moved.connect(self._on_file_moved)
        workspace.file_shown.connect(self._reveal)

    def _on_opening(self) -> None:
        opening = self._services.workspace.opening
        self._empty.set_text(_NO_FOLDER if opening is None else msg("Opening {name}…", name=opening.name))

    @property
    def expanded_folders(self) -> tuple[Path, ...]:
        root = self._services.workspace.root
        return tuple(
            path
            for path in self.model.loaded_folders
            if path != root and self.view.isExpanded(self.model.index_of(path))
        )

    def expand(self, folders: Iterable[Path]) -> None:
        """Open these folders, as soon as they are read."""
        self._wanted_open.update(folders)
        self._open_wanted()

    def set_marks(self, marks: Marks) -> None:
        """See `ProjectModel.set_marks`."""
        self.model.set_marks(marks)

    def collapse_all(self) -> None:
        self.view.collapseAll()
        root = self._services.workspace.root
        if root is not None:
            self.view.expand(self.model.index_of(root))

    def reload(self) -> None:
        for folder in self.model.loaded_folders:
            self._read(folder)

    def context_menu(self, index: QModelIndex) -> QMenu:
        menu = QMenu(self)
        language, entry = self._services.language, self.model.entry_at(index)
        if entry is not None and entry.kind == "file":
            menu.addAction(language(msg("Open")), lambda: self._activate(entry.path))
            if entry.path.suffix.lower() in CIRCUITS:
                action = menu.addAction(
                    language(msg("Set as main circuit")), lambda: self.main_wanted.emit(entry.path)
                )
                if action is not None:
                    action.setEnabled(entry.path != self._services.workspace.main_circuit)
            menu.addSeparator()
        if entry is not None and entry.path != self._services.workspace.root:
            self._add_protection(menu, entry.path)
        if entry is not None:
            menu.addAction(language(msg("Copy path")), lambda: copy_text(str(entry.path)))
        menu.addAction(language(msg("Accept all changes")), self.accept_wanted.emit)
        menu.addAction(language(msg("Reload")), self.reload)
        return menu

    def _add_protection(self, menu: QMenu, path: Path) -> None:
        action = menu.addAction(self._services.language(msg("Always ask before a model changes it")))
        if action is not None:
            action.setCheckable(True)
            action.setChecked(self.model.is_protected(path))
            action.toggled.connect(
                lambda checked: self._services.start(self._protect(path, checked), kind="permissions")
            )

    async def _protect(self, path: Path, is_protected: bool) -> None:
        root, store = self._services.workspace.root, self._conversations.permissions
        # Rules judge the file itself, whatever links lead to it.
        real = Path(await asyncio.to_thread(os.path.realpath, path))
        if root is None or not real.is_relative_to(root) or real == root:
            return
        name = real.relative_to(root).as_posix()
        await asyncio.to_thread(store.protect, root, name, is_protected=is_protected)
        await self._load_protected(root)

    async def _load_protected(self, root: Path) -> None:
        found = await asyncio.to_thread(self._conversations.permissions.of_project, root)
        if root == self._services.workspace.root:
            self.model.set_protected(frozenset(root / name for name in found.protected))

    def _show_menu(self, position: QPoint) -> None:
        menu = self.context_menu(self.view.indexAt(position))
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        viewport = self.view.viewport()
        if viewport is not None:
            menu.popup(viewport.mapToGlobal(position))

    def _on_opened(self, root: Path | None) -> None:
        self._wanted_open = set() if root is None else {root}
        self.model.set_root(root)
        self._stack.setCurrentWidget(self._empty if root is None else self.view)
        self.model.set_main(self._services.workspace.main_circuit)
        self._open_wanted()
        if root is not None:
            self._services.start(self._load_protected(root), kind="permissions")

    def _read(self, folder: Path) -> None:
        self._services.start(self._load(folder), kind="read folder")

    async def _load(self, folder: Path) -> None:
        found = await self._project.browse.folder(folder, self.model.most_of(folder))
        self.model.set_entries(folder, found.entries, found.hidden)
        self._open_wanted()
        self._select(self._services.workspace.shown_file)

    def _open_wanted(self) -> None:
        for folder in sorted(self._wanted_open):
            index = self.model.index_of(folder)
            if index.isValid():
                self._wanted_open.discard(folder)
                self.view.expand(index)

    def _on_expanded(self, index: QModelIndex, *, is_expanded: bool) -> None:
        entry = self.model.entry_at(index)
        if entry is not None:
            self.model.set_expanded(entry.path, is_expanded=is_expanded)
        if is_expanded:
            self.model.fetchMore(index)  # a view with a layout under way does not ask by itself

    def _on_clicked(self, index: QModelIndex) -> None:
        folder = self.model.show_more(index)
        if folder is not None:
            self._read(folder)
        entry = self.model.entry_at(index)
        if entry is not None and entry.kind == "file":
            self._activate(entry.path)

    def _activate(self, path: Path) -> None:
        self._services.workspace.file_activated.emit(path, None)

    def _on_file_changed(self, path: Path) -> None:
        self._stale.add(path.parent)
        if self.model.index_of(path).isValid() and path in self.model.loaded_folders:
            self._stale.add(path)
        self._refresh.start()

    def _on_file_moved(self, old: Path, new: Path) -> None:
        self._on_file_changed(old)
        self._on_file_changed(new)

    def _read_stale(self) -> None:
        stale, self._stale = self._stale, set()
        for folder in stale.intersection(self.model.loaded_folders):
            self._read(folder)

    def _reveal(self, path: Path | None) -> None:
        """Choose the file in front; its folders are opened when they were never read."""
        root = self._services.workspace.root
        if path is not None and root in path.parents and not self.model.index_of(path).isValid():
            self.expand(folder for folder in path.parents if root in folder.parents)
        self._select(path)

    def _select(self, path: Path | None) -> None:
        index = QModelIndex() if path is None else self.model.index_of(path)
        if index.isValid():
            self.view.setCurrentIndex(index)

    def keyPressEvent(self, event: QKeyEvent | None) -> None:  # noqa: N802 - Qt's name
        if event is not None and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._on_clicked(self.view.currentIndex())
        else:
            super().keyPressEvent(event)
