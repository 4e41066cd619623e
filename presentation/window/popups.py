"""The window's menus that are not in its bar: of the project pane, of the settings, of recent projects."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QMenu, QWidget

from shared.message import msg

if TYPE_CHECKING:
    from presentation.panels.project.tree import ProjectTree
    from presentation.ui.language import LanguageManager
    from presentation.window.commands import Commands
    from presentation.window.project_switch import ProjectSwitch


def show_project_menu(
    button: QWidget, tree: ProjectTree, commands: Commands, language: LanguageManager
) -> None:
    menu = QMenu(button.window())
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    menu.addAction(language(msg("Collapse all folders")), tree.collapse_all)
    menu.addAction(language(msg("Reload")), tree.reload)
    menu.addSeparator()
    for name in ("chooseMain", "acceptChanges", "openFolder", "closeProject"):
        menu.addAction(commands.action(name))
    menu.popup(button.mapToGlobal(button.rect().bottomLeft()))


def show_settings_menu(button: QWidget, commands: Commands) -> None:
    menu = QMenu(button.window())
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    for names in (("language.en", "language.zh"), ("theme.light", "theme.dark", "theme.system")):
        for name in names:
            menu.addAction(commands.action(name))
        menu.addSeparator()
    for name in ("modelSettings", "prompts", "permissions"):
        menu.addAction(commands.action(name))
    menu.popup(button.mapToGlobal(button.rect().bottomLeft()))


def fill_recent(menu: QMenu, projects: ProjectSwitch) -> None:
    menu.clear()
    for path in projects.state.recent:
        menu.addAction(str(path), partial(projects.open, path))
