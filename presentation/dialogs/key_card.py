"""The card of keys: all actions with their keys, searched, and other keys given to them by pressing them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PyQt6.QtCore import QEvent, pyqtSignal
from PyQt6.QtGui import QKeyEvent
from PyQt6.QtWidgets import QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from application.project.user_keys import MOST_KEYS, UserKeys
from presentation.actions.action import MENUS, SCOPES, Action, Scope
from presentation.actions.gestures import GESTURES, MOUSE
from presentation.actions.shortcuts import names_of, unusable
from presentation.ui.figure_table import Cell, Column, FigureTable
from presentation.ui.parts import SpokenName, arrange, push_button, text_label
from presentation.ui.small_dialog import SmallDialog
from presentation.ui.styles import mark
from presentation.ui.workspace import WindowServices
from shared.errors import CircuitAIError
from shared.message import Message, msg
from shared.uninterrupted import off_loop

_ROWS = 13
"""Seen at once."""
_WIDTH = 500
"""Pixels at the scale 1."""


class KeyField(QLineEdit):
    """Shows the key that is pressed in it. Tab leaves it, Escape closes the dialog."""

    pressed = pyqtSignal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setReadOnly(True)
        self.setObjectName("newKey")

    def event(self, event: QEvent | None) -> bool:
        """Take every key before a shortcut or the dialog does."""
        if isinstance(event, QKeyEvent) and event.type() in (
            QEvent.Type.ShortcutOverride,
            QEvent.Type.KeyPress,
        ):
            names = names_of(event)
            if names and names[-1] not in ("Tab", "Shift+Tab", "Esc"):
                event.accept()
                if event.type() == QEvent.Type.KeyPress:
                    self.setText(names[-1])
                    self.pressed.emit(names[-1])
                return True
        return super().event(event)


class KeyCard(SmallDialog):
    """Search, table, and what is done with the chosen row."""

    def __init__(
        self, services: WindowServices, kept: UserKeys, parent: QWidget | None, scope: Scope | None = None
    ) -> None:
        """`scope`: show the keys of one place only, with what the mouse does there."""
        super().__init__(services, parent, "keyCard", title=msg("Keyboard shortcuts"))
        self._kept, self._scope = kept, scope
        self._rows: Sequence[Action | None] = ()
        self.search = QLineEdit()
        self.search.setObjectName("keySearch")
        self.search.setClearButtonEnabled(True)
        self.search.setPlaceholderText(services.language(msg("Words or a key: run, zoom, Ctrl+F")))
        SpokenName(services, self.search, msg("Search the actions"))
        self.search.textChanged.connect(lambda _text: self.refresh())
        self.table = FigureTable(services, "keyTable")
        SpokenName(services, self.table, msg("Keyboard shortcuts"))
        self.table.setSelectionMode(FigureTable.SelectionMode.SingleSelection)
        self.table.setFixedHeight(self.table.wanted_height(_ROWS))
        self.table.setMinimumWidth(round(_WIDTH * services.theme.theme.scale))
        self.new_key = KeyField()
        SpokenName(services, self.new_key, msg("New key"))
        self.new_key.pressed.connect(lambda _key: self._judge())
        language = services.language
        self.set_button = push_button(language(msg("Set")), name="setKey", clicked=self._set, small=True)
        self.add_key_button = push_button(
            language(msg("Add as well")), name="addKey", clicked=self._add, small=True
        )
        self.none_button = push_button(language(msg("No key")), name="noKey", clicked=self._none, small=True)
        self.usual_button = push_button(
            language(msg("Reset")), name="usualKey", clicked=self._usual, small=True
        )
        self.told = text_label(name="keyNote", wraps=True, role="secondary")
        self.told.setMinimumHeight(2 * self.told.fontMetrics().lineSpacing())
        self._add_parts()
        self.all_button = self.add_button(msg("Reset all"), act=self._usual_all, is_left=True)
        self.add_button(msg("Close"), kind="primary")
        selection = self.table.selectionModel()
        assert selection is not None
        selection.selectionChanged.connect(lambda _new, _old: self._choose())
        services.shortcuts.changed.connect(self.refresh)
        self.refresh()
        self.search.setFocus()
        services.start(self._load(), kind="load keys")

    def _add_parts(self) -> None:
        row = QWidget()
        mark(row, surface="raised")
        buttons = (self.set_button, self.add_key_button, self.none_button, self.usual_button)
        gap = self._services.theme.theme.size("space.2")
        arrange(QHBoxLayout(row), (self.new_key, 1), *buttons, edges=0, gap=gap)
        whole = QWidget()
        mark(whole, surface="raised")
        arrange(QVBoxLayout(whole), row, self.told, edges=0, gap=gap)
        for widget in (self.search, self.table, whole):
            self.add(widget)

    def refresh(self) -> None:
        """The rows that have what is searched; the chosen one stays chosen."""
        chosen, language = self.chosen_action, self._services.language
        found: list[tuple[Action | None, list[Cell]]] = []
        for action in self._services.shortcuts.actions:
            if self._scope in (None, action.scope) and self._matches(action):
                found.append((action, self._cells(action)))
        if self._scope is not None:
            found += [(None, cells) for cells in self._gestures(self._scope)]
        self._rows = [action for action, _ in found]
        heads = (msg("Action"), msg("Where"), msg("Shortcut"))
        self.table.show_rows([Column(title=language(head)) for head in heads], [row for _, row in found])
        number = self._rows.index(chosen) if chosen in self._rows and chosen is not None else 0
        if self._rows:
            self.table.selectRow(number)
        self.all_button.setEnabled(bool(self._services.shortcuts.changes))
        self._choose()

    @property
    def chosen_action(self) -> Action | None:
        rows = self.table.selected_rows()
        return self._rows[rows[0]] if rows and rows[0] < len(self._rows) else None

    def _cells(self, action: Action) -> list[Cell]:
        language, shortcuts = self._services.language, self._services.shortcuts
        keys = ", ".join(shortcuts.all_keys_of(action.name))
        is_own = action.name in shortcuts.changes
        title = language(action.title).rstrip("…")
        places = [MENUS[action.menu]] if action.menu is not None else []
        places += [action.submenu] if action.submenu is not None else []
        tip = " > ".join([*map(language, places), title])
        return [
            Cell(text=title, tip=tip),
            Cell(text=language(SCOPES[action.scope]), color="text.secondary", style="small"),
            Cell(text=keys, style="mono_small", color="accent.text" if is_own else "text.primary"),
        ]

    def _gestures(self, scope: Scope) -> list[list[Cell]]:
        language = self._services.language
        found = []
        for done, text in GESTURES.get(scope, ()):
            words = "+".join(language(MOUSE[part]) if part in MOUSE else part for part in done)
            if self._has(words, language(text), str(text)):
                found.append([Cell(text=language(text)), Cell(text=""), Cell(text=words, style="small")])
        return found

    def _matches(self, action: Action) -> bool:
        keys = self._services.shortcuts.all_keys_of(action.name)
        return self._has(self._services.language(action.title), str(action.title), *keys)

    def _has(self, *texts: str) -> bool:
        wanted = self.search.text().strip().casefold()
        return all(any(word in text.casefold() for text in texts) for word in wanted.split())

    # ---- the chosen row ------------------------------------------------------------------------

    def _choose(self) -> None:
        action = self.chosen_action
        self.new_key.clear()
        is_open = action is not None and not action.is_fixed
        self.new_key.setEnabled(is_open)
        place = msg("Press the new key here") if is_open else msg("The keys of this row cannot be changed")
        self.new_key.setPlaceholderText(self._services.language(place))
        shortcuts = self._services.shortcuts
        self.none_button.setEnabled(is_open and action is not None and bool(shortcuts.keys_of(action.name)))
        self.usual_button.setEnabled(action is not None and action.name in shortcuts.changes)
        self._judge()

    def _judge(self) -> None:
        """Say what the pressed key would mean."""
        action, key, shortcuts = self.chosen_action, self.new_key.text(), self._services.shortcuts
        told: Message | None = None
        is_possible = action is not None and bool(key)
        if action is not None and key:
            told = unusable(action, key)
            owner, hidden = shortcuts.owner_of(key, action), shortcuts.hidden_by(key, action)
            if told is not None:
                is_possible = False
            elif owner is not None and (owner.is_fixed or key in owner.fixed_keys):
                told = msg("{key} belongs to “{action}” and stays there.", key=key, action=owner.title)
                is_possible = False
            elif owner is not None:
                told = msg("{key} is the key of “{action}”, which loses it.", key=key, action=owner.title)
            elif hidden is not None:
                told = msg(
                    "In one place ({place}) {key} stays the key of “{action}”.",
                    place=SCOPES[hidden.scope],
                    key=key,
                    action=hidden.title,
                )
        self.told.setText("" if told is None else self._services.language(told))
        self.set_button.setEnabled(is_possible)
        has_room = action is not None and len(shortcuts.keys_of(action.name)) < MOST_KEYS
        self.add_key_button.setEnabled(is_possible and has_room)

    def _set(self) -> None:
        self._give((self.new_key.text(),))

    def _add(self) -> None:
        action = self.chosen_action
        if action is not None:
            self._give((*self._services.shortcuts.keys_of(action.name), self.new_key.text()))

    def _none(self) -> None:
        self._give(())

    def _give(self, keys: tuple[str, ...]) -> None:
        """Give the chosen action these keys; another one that had the new key loses it."""
        action, shortcuts = self.chosen_action, self._services.shortcuts
        if action is None:
            return
        keys = tuple(dict.fromkeys(keys))
        changes: dict[str, tuple[str, ...] | None] = {action.name: _unless_usual(action, keys)}
        for key in keys:
            owner = shortcuts.owner_of(key, action)
            if owner is not None:
                left = tuple(each for each in shortcuts.keys_of(owner.name) if each != key)
                changes[owner.name] = _unless_usual(owner, left)
        self._services.start(self._keep(changes), kind="keep keys")

    def _usual(self) -> None:
        action = self.chosen_action
        if action is not None:
            self._services.start(self._keep({action.name: None}), kind="keep keys")

    def _usual_all(self) -> None:
        changes = dict.fromkeys(self._services.shortcuts.changes)
        self._services.start(self._keep(changes), kind="keep keys")

    async def _load(self) -> None:
        """Another window may have changed some."""
        kept = await off_loop(self._kept.load)
        self._say((*kept.warnings, *self._services.shortcuts.set_changes(kept.keys)))

    async def _keep(self, changes: Mapping[str, tuple[str, ...] | None]) -> None:
        try:
            kept = await off_loop(self._kept.change, changes)
        except CircuitAIError as error:
            self._say((error.message,))
            return
        self._say((*kept.warnings, *self._services.shortcuts.set_changes(kept.keys)))

    def _say(self, messages: Sequence[Message]) -> None:
        if messages:
            self.told.setText("\n".join(map(self._services.language, messages)))


def _unless_usual(action: Action, keys: tuple[str, ...]) -> tuple[str, ...] | None:
    return None if keys == action.usual_keys else keys
