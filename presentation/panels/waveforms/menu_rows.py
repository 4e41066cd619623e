"""Rows of the context menus around a plot: words, and the key that does the same beside them."""

from __future__ import annotations

from collections.abc import Callable

from PyQt6.QtCore import Qt
from PyQt6.QtGui import QAction
from PyQt6.QtWidgets import QMenu, QWidget

from presentation.ui.workspace import WindowServices
from shared.message import Message


class MenuRows:
    """Fills one menu in the language in force; the menu goes when it is closed."""

    def __init__(self, services: WindowServices, owner: QWidget, name: str) -> None:
        self._services = services
        self.menu = QMenu(owner)
        self.menu.setObjectName(name)
        self.menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)

    def add(
        self,
        name: str,
        text: Message | str,
        act: Callable[[], object],
        *,
        action: str = "",
        is_checked: bool | None = None,
        into: QMenu | None = None,
    ) -> QAction:
        """One row; `action` names the row of the table of actions that does the same."""
        words = self.words(text)
        key = self._services.shortcuts.shown(action) if action else ""
        target = self.menu if into is None else into
        row = QAction(f"{words}\t{key}" if key else words, target)
        row.setObjectName(name)
        if is_checked is not None:
            row.setCheckable(True)
            row.setChecked(is_checked)
        row.triggered.connect(lambda _checked: act())
        target.addAction(row)
        return row

    def words(self, text: Message | str) -> str:
        return text if isinstance(text, str) else self._services.language(text)

    def line(self) -> None:
        self.menu.addSeparator()

    def submenu(self, name: str, text: Message) -> QMenu:
        made = QMenu(self._services.language(text), self.menu)
        made.setObjectName(name)
        self.menu.addMenu(made)
        return made
