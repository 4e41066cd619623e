"""Which key does what: the keys of the table with the user's changes, and the panels that answer them.

A panel's keys come before the window's: the panel takes the key at Qt's `ShortcutOverride`, so that the same
key may mean something else in the plot and in the rest of the window.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from weakref import ref

from PyQt6 import sip
from PyQt6.QtCore import QEvent, QKeyCombination, QObject, Qt, pyqtSignal
from PyQt6.QtGui import QKeyEvent, QKeySequence
from PyQt6.QtWidgets import QApplication, QWidget

from presentation.actions.action import Action
from presentation.actions.table import all_actions
from shared.message import Message, msg

Act = Callable[[], object]
Refusal = Callable[[], Message | None]


class Shortcuts(QObject):
    """The map in force."""

    changed = pyqtSignal()
    """some action has other keys"""

    def __init__(self) -> None:
        super().__init__()
        self._actions: dict[str, Action] = {}
        self._changes: dict[str, tuple[str, ...]] = {}
        self._answers: list[ref[Answers]] = []
        """Each lives as long as its widget."""
        self.set_panels(())

    def set_panels(self, panels: Sequence[Action]) -> None:
        """The actions of the window's panels, which are known later than the others."""
        self._actions = {action.name: action for action in all_actions(panels)}

    @property
    def actions(self) -> tuple[Action, ...]:
        """All of them, in the order of the table."""
        return tuple(self._actions.values())

    def keys_of(self, name: str) -> tuple[str, ...]:
        """The keys of an action that can be changed, the one to be shown first. Raises KeyError."""
        action = self._actions[name]
        return action.usual_keys if action.is_fixed else self._changes.get(name, action.usual_keys)

    def shown(self, name: str) -> str:
        """The key that stands beside an action's words, "" where it has none. Raises KeyError."""
        return next(iter(self.all_keys_of(name)), "")

    def all_keys_of(self, name: str) -> tuple[str, ...]:
        """With those that cannot be changed. Raises KeyError."""
        return (*self.keys_of(name), *self._actions[name].fixed_keys)

    @property
    def changes(self) -> Mapping[str, tuple[str, ...]]:
        """The user's own keys, by action."""
        return dict(self._changes)

    def set_changes(self, changes: Mapping[str, tuple[str, ...]]) -> tuple[Message, ...]:
        """The user's own keys, in place of those of the table; returns what of them cannot be used.

        Of two actions with one key in the same place the first of the table has it.
        """
        told: list[Message] = []
        usable: dict[str, tuple[str, ...]] = {}
        for name, keys in changes.items():
            action = self._actions.get(name)
            if action is None:
                continue  # of another version's
            reasons = [reason for key in keys if (reason := unusable(action, key)) is not None]
            if reasons:
                told += reasons
            else:
                usable[name] = tuple(map(written, keys))
        if usable != self._changes:
            self._changes = usable
            self.changed.emit()
        return (*told, *self._clashes())

    def owner_of(self, key: str, action: Action) -> Action | None:
        """Another action that has a key where this one would be answered by it."""
        return next(
            (
                each
                for each in self._actions.values()
                if each is not action
                and _place(each) == _place(action)
                and key in self.all_keys_of(each.name)
            ),
            None,
        )

    def hidden_by(self, key: str, action: Action) -> Action | None:
        """An action of a panel that has the key of one of the window's: in that panel it comes first."""
        panels = [each for each in self._actions.values() if _place(each) != "window"]
        is_windows = _place(action) == "window"
        return next((each for each in panels if is_windows and key in self.all_keys_of(each.name)), None)

    def _clashes(self) -> Iterator[Message]:
        seen: dict[tuple[str, str], Action] = {}
        for action in self._actions.values():
            for key in self.all_keys_of(action.name):
                before = seen.setdefault((_place(action), key), action)
                if before is not action:
                    yield msg(
                        "{key} is set for two actions: {first}, {second}. The first one has it.",
                        key=key,
                        first=before.title,
                        second=action.title,
                    )

    def answer(self, widget: QWidget, acts: Mapping[str, Act], refusal: Refusal = lambda: None) -> Answers:
        """Have a widget and what is in it answer these actions, by their keys and from the menus.

        `refusal` says why none of them can be done now. Raises KeyError for a name the table does not have.
        """
        for name in acts:
            self.keys_of(name)
        found = Answers(self, widget, acts, refusal)
        self._answers = [ref(each) for each in (*self._living(), found)]
        return found

    def trigger(self, name: str) -> None:
        """Do it where the focus is, else where it was answered for last; nothing where nobody answers."""
        found = self._answerer(name)
        if found is not None:
            found.acts[name]()

    def refusal(self, name: str) -> Message | None:
        """Why an action of a panel cannot be done now."""
        found = self._answerer(name)
        return msg("Nothing is open that this could be done with.") if found is None else found.refusal()

    def _living(self) -> Iterator[Answers]:
        for found in (each() for each in self._answers):
            if found is not None and not sip.isdeleted(found):
                yield found

    def _answerer(self, name: str) -> Answers | None:
        found = [each for each in self._living() if name in each.acts]
        focused = QApplication.focusWidget()
        near = [each for each in found if focused is not None and each.has(focused)]
        seen = [each for each in found if each.is_seen]
        return next((group[-1] for group in (near, seen, found) if group), None)


class Answers(QObject):
    """What one widget answers."""

    def __init__(
        self, shortcuts: Shortcuts, widget: QWidget, acts: Mapping[str, Act], refusal: Refusal
    ) -> None:
        super().__init__(widget)
        self._shortcuts = shortcuts
        self._widget = widget
        self.acts = dict(acts)
        self.refusal = refusal
        self._by_key: dict[str, str] = {}
        self._read_keys()
        shortcuts.changed.connect(self._read_keys)
        widget.installEventFilter(self)

    def watch(self, inner: QWidget) -> None:
        """Come before a widget within that would keep some of the keys to itself."""
        inner.installEventFilter(self)

    def has(self, widget: QWidget) -> bool:
        return widget is self._widget or self._widget.isAncestorOf(widget)

    @property
    def is_seen(self) -> bool:
        return self._widget.isVisible()

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:  # noqa: N802 - Qt's name
        """Claim a key of ours before a shortcut of the window does, then do what it is for."""
        if isinstance(event, QKeyEvent) and event.type() in (
            QEvent.Type.ShortcutOverride,
            QEvent.Type.KeyPress,
        ):
            name = next((self._by_key[key] for key in names_of(event) if key in self._by_key), None)
            if name is not None:
                event.accept()
                if event.type() == QEvent.Type.KeyPress:
                    self.acts[name]()
                return True
        return super().eventFilter(watched, event)

    def _read_keys(self) -> None:
        self._by_key = {}
        for action in self._shortcuts.actions:
            for key in self._shortcuts.keys_of(action.name) if action.name in self.acts else ():
                self._by_key.setdefault(key, action.name)


def _place(action: Action) -> str:
    """Actions of one place cannot share a key; what every field answers is the whole window's."""
    return "window" if action.scope == "focus" else action.scope


def written(key: str) -> str:
    """A key as Qt writes it: ``ctrl+shift+m`` is ``Ctrl+Shift+M``; "" for what is none."""
    sequence = QKeySequence(key)
    return sequence.toString(QKeySequence.SequenceFormat.PortableText) if sequence.count() == 1 else ""


def unusable(action: Action, key: str) -> Message | None:
    """Why an action cannot have this key, None when it can."""
    name = written(key)
    if not name:
        return msg("“{key}” is not a key.", key=key)
    *held, last = name.split("+") if not name.endswith("+") else [*name[:-1].rstrip("+").split("+"), "+"]
    held = [each for each in held if each]
    if len(last) == 1 and set(held) == {"Ctrl", "Alt"}:
        return msg("{key} writes a sign on many keyboards (AltGr).", key=name)
    if (
        action.scope not in _WITHOUT_WRITING
        and (len(last) == 1 or last == "Space")
        and not {"Ctrl", "Alt", "Meta"} & set(held)
    ):
        return msg("{key} is typed into texts: hold Ctrl or Alt with it.", key=name)
    if (
        last in _NEEDED_TO_WRITE
        and not {"Ctrl", "Alt", "Meta"} & set(held)
        and (action.scope not in _WITHOUT_WRITING)
    ):
        return msg("{key} is needed to write and to move about.", key=name)
    return None


_WITHOUT_WRITING = ("plot", "schematic")
"""Places where nobody types: single letters are keys there."""
_NEEDED_TO_WRITE = (
    "Return",
    "Backspace",
    "Del",
    "Tab",
    "Backtab",
    "Esc",
    "Left",
    "Right",
    "Up",
    "Down",
    "Home",
    "End",
)
_ALONE = (Qt.Key.Key_Shift, Qt.Key.Key_Control, Qt.Key.Key_Alt, Qt.Key.Key_Meta, Qt.Key.Key_AltGr)
_SAME = {Qt.Key.Key_Enter: Qt.Key.Key_Return, Qt.Key.Key_Backtab: Qt.Key.Key_Tab}


def names_of(event: QKeyEvent) -> tuple[str, ...]:
    """What the pressed keys are called in the table; () for a key that is only held, or that has no name.

    A sign that needs Shift on one keyboard and none on another ("?", "+") has its name with and without.
    """
    try:
        key = Qt.Key(event.key())
    except ValueError:
        return ()
    if key in _ALONE or key == Qt.Key.Key_unknown:
        return ()
    modifier = Qt.KeyboardModifier
    held = event.modifiers() & ~(modifier.KeypadModifier | modifier.GroupSwitchModifier)
    key = _SAME.get(key, key)
    names = [_name(held, key)]
    is_sign = ord(" ") < key.value < 127 and not chr(key.value).isalnum()
    if held & modifier.ShiftModifier and is_sign:
        names.append(_name(held & ~modifier.ShiftModifier, key))
    return tuple(names)


def _name(held: Qt.KeyboardModifier, key: Qt.Key) -> str:
    sequence = QKeySequence(QKeyCombination(held, key))
    return sequence.toString(QKeySequence.SequenceFormat.PortableText)
