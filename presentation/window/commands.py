"""The window's commands: the table of actions with what each does here; menus and the command box read it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from string import ascii_uppercase, digits

from PyQt6.QtCore import QObject
from PyQt6.QtGui import QAction, QActionGroup, QFontMetrics, QKeySequence
from PyQt6.QtWidgets import QApplication, QMenu, QMenuBar, QWidget

from presentation.actions.action import MENUS, Action, MenuName
from presentation.ui.workspace import WindowServices
from shared.message import Message, msg

_QT_GAP = 12
"""Pixels between words and keys of a menu, in Qt's own styles."""


@dataclass(frozen=True, slots=True)
class Command:
    """An action of the table, and what it does in this window."""

    action: Action
    act: Callable[[], object]
    refusal: Callable[[], Message | None] = lambda: None
    """Why it cannot be done now, None when it can."""

    @property
    def owns_key(self) -> bool:
        """False: the key is shown, and answered by the panel or the widget in focus."""
        return self.action.scope == "window"


class Commands(QObject):
    """Makes the actions, fills the menus, keeps their texts in the window's language."""

    def __init__(self, services: WindowServices, window: QWidget, commands: Sequence[Command]) -> None:
        super().__init__(window)
        self._services = services
        self._window = window
        self.all = tuple(commands)
        self._actions: dict[str, QAction] = {}
        self._groups: dict[str, QActionGroup] = {}
        self._menus: list[tuple[QMenu, Message]] = []
        self._letters: dict[str, str] = {}
        """By a command's name or a submenu's English title."""
        for command in self.all:
            self._actions[command.action.name] = self._action_of(command)
        services.shortcuts.changed.connect(self._set_keys)
        self._set_keys()
        services.language.changed.connect(self.retranslate)
        services.theme.changed.connect(lambda _theme=None: self.retranslate())

    def action(self, name: str) -> QAction:
        return self._actions[name]

    def fill(self, bar: QMenuBar) -> None:
        """The menus, in place of what the bar has shown till now."""
        bar.clear()
        for name, title in MENUS.items():
            menu = QMenu(bar)
            menu.setObjectName(f"menu.{name}")
            menu.setToolTipsVisible(True)
            entries: list[tuple[str, Message, str]] = []
            menu.aboutToShow.connect(partial(self._refuse, name))
            # Keys are answered in words at any time: only an open menu shows what cannot be done.
            menu.aboutToHide.connect(partial(self._allow, name))
            self._menus.append((menu, title))
            bar.addMenu(menu)
            submenus: dict[str, QMenu] = {}
            rows = [command.action for command in self.all if command.action.menu == name]
            for row in rows:
                target = menu
                if row.submenu is not None:
                    key = row.submenu.template
                    if key not in submenus:
                        if row.begins_part:
                            menu.addSeparator()
                        submenus[key] = QMenu(menu)
                        submenus[key].setObjectName(f"menu.{key}")
                        submenus[key].setToolTipsVisible(True)
                        self._menus.append((submenus[key], row.submenu))
                        menu.addMenu(submenus[key])
                        entries.append((key, row.submenu, ""))
                    elif row.begins_part:
                        submenus[key].addSeparator()
                    target = submenus[key]
                else:
                    if row.begins_part:
                        menu.addSeparator()
                    entries.append((row.name, row.title, row.letter))
                target.addAction(self._actions[row.name])
            if name == "file":
                self._add_recent(menu)
                entries.append(("Open recent", msg("Open recent"), "R"))
            self._letters |= mnemonics(entries)
            for key in submenus:
                inner = [row for row in rows if row.submenu is not None and row.submenu.template == key]
                self._letters |= mnemonics([(row.name, row.title, row.letter) for row in inner])
        self._letters |= _MENU_LETTERS
        self.retranslate()

    def _refuse(self, menu: MenuName) -> None:
        for command in self.all:
            if command.action.menu == menu:
                action, reason = self._actions[command.action.name], command.refusal()
                action.setEnabled(reason is None)
                action.setToolTip("" if reason is None else self._services.language(reason))

    def _allow(self, menu: MenuName) -> None:
        for command in self.all:
            if command.action.menu == menu:
                self._actions[command.action.name].setEnabled(True)

    def _add_recent(self, menu: QMenu) -> None:
        """A submenu whose owner fills it when it opens."""
        recent = QMenu(menu)
        recent.setObjectName("menu.recent")
        self._menus.append((recent, msg("Open recent")))
        menu.insertMenu(self._actions["newCircuit"], recent)

    def submenu(self, template: str) -> QMenu | None:
        return next((menu for menu, title in self._menus if title.template == template), None)

    def retranslate(self, _language: str = "") -> None:
        for menu, title in self._menus:
            menu.setTitle(with_letter(self._services.language(title), self._letters.get(title.template, "")))
        for command in self.all:
            row, action = command.action, self._actions[command.action.name]
            text = with_letter(self._services.language(row.title), self._letters.get(row.name, ""))
            key = self._services.shortcuts.shown(row.name)
            if key:
                text += self._gap()
            # Shown behind the text by hand where another widget answers the key.
            is_by_hand = key and action.shortcut().isEmpty()
            action.setText(f"{text}\t{key}" if is_by_hand else text)

    def _set_keys(self) -> None:
        taken: set[str] = set()  # Qt carries out neither of two actions with one key
        for command in self.all:
            if command.owns_key:
                keys = [k for k in self._services.shortcuts.keys_of(command.action.name) if k not in taken]
                taken.update(keys)
                self._actions[command.action.name].setShortcuts([QKeySequence(key) for key in keys])
        self.retranslate()

    def _gap(self) -> str:
        """Blanks between words and keys: what Qt leaves there does not grow with the type."""
        theme = self._services.theme.theme
        blank = QFontMetrics(theme.font("ui")).horizontalAdvance(" ")
        return " " * max(round((theme.size("space.6") - _QT_GAP) / max(blank, 1)), 0)

    def _action_of(self, command: Command) -> QAction:
        row = command.action
        action = QAction(self)
        action.setObjectName(row.name)
        action.triggered.connect(lambda _checked=False: command.act())
        if command.owns_key:
            self._window.addAction(action)
        if row.group:
            if row.group not in self._groups:
                self._groups[row.group] = QActionGroup(self)
            action.setCheckable(True)
            self._groups[row.group].addAction(action)
        return action


_ALL = ascii_uppercase + digits


def mnemonics(entries: Sequence[tuple[str, Message, str]]) -> dict[str, str]:
    """A letter for each entry (key, text, wanted letter) of one menu, no two the same.

    It is of the English text, of the beginning of a word where one is free: in Chinese it stands in brackets
    behind the words, and so the hand that knows one language knows the other. A menu that is so long that its
    words have no letter left lends others; "" where there is none at all.
    """
    letters: dict[str, list[str]] = {}
    for key, text, wanted in entries:
        words = str(text).split()
        found = wanted or "".join([word[0] for word in words] + [word[1:] for word in words])
        letters[key] = [each.upper() for each in found if each.isascii() and each.isalnum()]
    owners: dict[str, str] = {}

    def settle(key: str, tried: set[str]) -> bool:
        """Take a free letter, or one whose owner can take another (Kuhn's matching)."""
        own = [each for each in letters[key] if each not in tried]
        for each in own:
            if each not in owners:
                owners[each] = key
                return True
        for each in own:
            tried.add(each)
            if settle(owners[each], tried):
                owners[each] = key
                return True
        return False

    for key, _, _ in sorted(entries, key=lambda entry: not entry[2]):
        settle(key, set())
    lent = iter([each for each in _ALL if each not in owners])
    own = {key: letter for letter, key in owners.items()}
    return {key: own.get(key) or next(lent, "") for key in letters}


def with_letter(text: str, letter: str) -> str:
    """A menu's text with its letter marked as Qt wants it: ``&File``, ``文件(&F)``, ``新建电路(&C)...``."""
    text = text.replace("&", "&&")
    if not letter:
        return text
    starts = [at for at in range(len(text)) if text[at].upper() == letter]
    if starts and text[0].isascii():
        at = next((at for at in starts if at == 0 or not text[at - 1].isalnum()), starts[0])
        return f"{text[:at]}&{text[at:]}"
    words = text.rstrip(".…")
    return f"{words}(&{letter}){text[len(words) :]}"


_MENU_LETTERS = mnemonics([(title.template, title, "") for title in MENUS.values()])


def menu_titles(services: WindowServices) -> list[str]:
    """The titles of the menu bar, each with its letter."""
    return [with_letter(services.language(title), _MENU_LETTERS[title.template]) for title in MENUS.values()]


def to_focused(method: str) -> Callable[[], object]:
    """A command of the Edit menu: it is the focused widget's own (editor, input, table)."""

    def act() -> None:
        widget = QApplication.focusWidget()
        found = getattr(widget, method, None)
        if callable(found):
            found()

    return act
