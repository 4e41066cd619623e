"""The window's menus that are not in its bar: of the project pane, of the settings, of recent projects."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QMenu

from presentation.ui.frame import IconButton
from shared.message import msg

if TYPE_CHECKING:
    from presentation.window.main_window import MainWindow


def show_project_menu(window: MainWindow) -> None:
    """Below the project pane's three dots."""
    menu = QMenu(window)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    language = window.services.language
    menu.addAction(language(msg("Fold all folders")), window.panes.tree.collapse_all)
    menu.addAction(language(msg("Read again")), window.panes.tree.reload)
    menu.addSeparator()
    for name in ("chooseMain", "acceptChanges", "openFolder", "closeProject"):
        menu.addAction(window.commands.action(name))
    button = window.findChild(IconButton, "projectMenu")
    if button is not None:
        menu.popup(button.mapToGlobal(button.rect().bottomLeft()))


def show_settings_menu(window: MainWindow) -> None:
    """Below the header's wheel."""
    menu = QMenu(window)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    for names in (("language.en", "language.zh"), ("theme.light", "theme.dark", "theme.system")):
        for name in names:
            menu.addAction(window.commands.action(name))
        menu.addSeparator()
    for name in ("modelSettings", "prompts", "permissions"):
        menu.addAction(window.commands.action(name))
    button = window.header.settings
    menu.popup(button.mapToGlobal(button.rect().bottomLeft()))


def fill_recent(window: MainWindow, menu: QMenu) -> None:
    """The projects opened last."""
    menu.clear()
    for path in window.projects.state.recent:
        menu.addAction(str(path), partial(window.projects.open, path))
