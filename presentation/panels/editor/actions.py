"""The editor's commands: their words, keys and QActions. What they do is said by who makes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from PyQt6.QtCore import Qt
from PyQt6.QtGui import QAction, QKeySequence
from PyQt6.QtWidgets import QWidget

from presentation.ui.language import LanguageManager
from shared.message import Message, msg


class Row(NamedTuple):
    """One command."""

    text: Message
    key: str = ""
    twin: str = ""
    """A key that does the same, where a desktop or an input method may take the other."""


ROWS: dict[str, Row] = {
    "save": Row(msg("Save"), "Ctrl+S"),
    "close": Row(msg("Close"), "Ctrl+W"),
    "next_tab": Row(msg("Next file"), "Ctrl+Tab"),
    "previous_tab": Row(msg("Previous file"), "Ctrl+Shift+Tab"),
    "find": Row(msg("Find"), "Ctrl+F"),
    "replace": Row(msg("Replace"), "Ctrl+H"),
    "find_next": Row(msg("Next match"), "F3"),
    "find_previous": Row(msg("Previous match"), "Shift+F3"),
    "go_to_line": Row(msg("Go to line"), "Ctrl+G"),
    "quick_fix": Row(msg("Quick fix"), "Ctrl+.", "Alt+Return"),
    "next_problem": Row(msg("Next problem"), "F8"),
    "previous_problem": Row(msg("Previous problem"), "Shift+F8"),
    "comment": Row(msg("Toggle comment"), "Ctrl+/"),
    "move_up": Row(msg("Move line up"), "Alt+Up"),
    "move_down": Row(msg("Move line down"), "Alt+Down"),
    "copy_up": Row(msg("Copy line up"), "Shift+Alt+Up"),
    "copy_down": Row(msg("Copy line down"), "Shift+Alt+Down"),
    "delete_line": Row(msg("Delete line"), "Ctrl+Shift+K"),
    "next_occurrence": Row(msg("Select next occurrence"), "Ctrl+D"),
}


class EditorActions:
    """The commands as actions of one widget: their keys work while the keyboard is in it."""

    def __init__(self, widget: QWidget, acts: Mapping[str, Callable[[], object]]) -> None:
        self._actions: dict[str, QAction] = {}
        for name, act in acts.items():
            row, action = ROWS[name], QAction(widget)
            action.setObjectName(f"editor.{name}")
            action.setShortcuts([QKeySequence(key) for key in (row.key, row.twin) if key])
            action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            action.triggered.connect(lambda _checked=False, act=act: act())
            widget.addAction(action)
            self._actions[name] = action

    def __getitem__(self, name: str) -> QAction:
        return self._actions[name]

    def retranslate(self, language: LanguageManager) -> None:
        for name, action in self._actions.items():
            action.setText(language(ROWS[name].text))
