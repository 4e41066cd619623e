"""The button “Add library”: import of a file, and the folders that are searched besides the project."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PyQt6.QtWidgets import QMenu, QWidget

from presentation.ui.new_project import short_path
from presentation.ui.parts import push_button
from presentation.ui.questions import choose_folder
from shared.errors import CircuitAIError
from shared.message import msg

if TYPE_CHECKING:
    from application.preferences import Preferences
    from presentation.ui.workspace import WindowServices

_SETTING = "libraries"


class LibraryFolders:
    """The button with its menu; what is chosen there holds at once, in every circuit, and is kept."""

    def __init__(
        self,
        services: WindowServices,
        preferences: Preferences,
        folders: Callable[[], tuple[Path, ...]],
        beside: QWidget,
        imports: Callable[[], object],
    ) -> None:
        """`folders` are those of the setting; `beside`: what questions are asked in front of; `imports` asks
        for a file."""
        self._services, self._preferences, self._folders = services, preferences, folders
        self._beside, self._imports = beside, imports
        self.button = push_button(name="addLibrary", clicked=lambda _on=False: self.open_menu())
        self.menu: QMenu | None = None
        """The one that was opened last."""

    def open_menu(self) -> None:
        """Offer what can be done with libraries."""
        language = self._services.language
        menu = self.menu = QMenu(self._beside)
        menu.aboutToHide.connect(menu.deleteLater)
        menu.addAction(language(msg("Import a model library…")), self._imports)
        menu.addAction(language(msg("Add a library folder…")), self._add)
        folders = self._folders()
        if folders:
            menu.addSection(language(msg("Library folders")))
        for folder in folders:
            title = language(msg("Remove {path}", path=short_path(folder)))
            menu.addAction(title.replace("&", "&&"), partial(self._start_set, without=folder))
        menu.popup(self.button.mapToGlobal(self.button.rect().bottomLeft()))

    def _add(self) -> None:
        self._services.start(self._choose(), kind="question")

    async def _choose(self) -> None:
        start = next(iter(self._folders()), Path.home())
        found = await choose_folder(
            self._services, self._beside.window() or self._beside, msg("Add a library folder"), start
        )
        if found is not None:
            await self.set(found)

    def _start_set(self, *, without: Path) -> None:
        self._services.start(self.set(None, without=without), kind="settings")

    async def set(self, more: Path | None, *, without: Path | None = None) -> None:
        """Search one more folder, or one less; the files in it stay as they are."""
        kept = [path for path in self._folders() if path != without]
        if more is not None and more not in kept:
            kept.append(more)
        workspace = self._services.workspace
        try:
            await self._preferences.set(_SETTING, [str(path) for path in kept])
        except CircuitAIError as error:
            workspace.error_occurred.emit(error)
            return
        if more is not None:
            workspace.status_changed.emit(msg("Library folder added: {path}", path=short_path(more)))
        elif without is not None:
            workspace.status_changed.emit(
                msg("Library folder removed: {path}. Its files stay as they are.", path=short_path(without))
            )

    def retranslate(self) -> None:
        language = self._services.language
        self.button.setText(language(msg("Add library")))
        self.button.setToolTip(language(msg("Import a model library, add or remove a library folder")))

    def restyle(self) -> None:
        theme = self._services.theme.theme
        self.button.setIcon(self._services.icons.get("plus", "text.primary", theme.size("icon.small")))
