"""The signals of a run as a list to be ticked: filtered with wildcards, grouped by kind and subcircuit."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fnmatch import translate

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtGui import QKeyEvent
from PyQt6.QtWidgets import (
    QApplication,
    QFrame,
    QLineEdit,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from presentation.ui.parts import arrange
from presentation.ui.styles import mark
from presentation.ui.workspace import WindowServices
from shared.message import Message, msg

VOLTAGES, CURRENTS, POWERS, OTHERS = msg("Voltages"), msg("Currents"), msg("Powers"), msg("Others")
_INNER = re.compile(r"\w+\((?P<path>x\w+)[.:]", re.IGNORECASE)
_WIDTH, _HEIGHT = 300, 320
_EDGE = 12
_MOST = 2_000
"""Rows that are listed at once; the filter finds the others."""


def matching(names: Sequence[str], wanted: str) -> list[str]:
    """Those a filter lets through: with * or ? as a file's name, else what has the words in it."""
    text = wanted.strip().lower()
    if not text:
        return list(names)
    if any(sign in text for sign in "*?"):
        pattern = re.compile(translate(text if text.endswith(("*", ")")) else f"{text}*"))
        return [name for name in names if pattern.fullmatch(name.lower())]
    return [name for name in names if all(word in name.lower() for word in text.split())]


def grouped(names: Sequence[str]) -> Iterator[tuple[Message | str, list[str]]]:
    """Names by what they are; those inside a subcircuit under its name."""
    kinds: dict[str, list[str]] = {"v": [], "i": [], "p": []}
    inner: dict[str, list[str]] = {}
    others: list[str] = []
    for name in names:
        if (found := _INNER.match(name)) is not None:
            inner.setdefault(found["path"].lower(), []).append(name)
        else:
            (kinds.get(name[:1].lower(), others) if name[1:2] == "(" else others).append(name)
    groups: list[tuple[Message | str, list[str]]] = [
        *zip((VOLTAGES, CURRENTS, POWERS), kinds.values(), strict=True),
        *inner.items(),
        (OTHERS, others),
    ]
    yield from ((title, members) for title, members in groups if members)


class TraceList(QFrame):
    """The list. A tick draws a signal at once; what is typed is a filter, and by Enter an expression."""

    trace_added = pyqtSignal(str)
    trace_removed = pyqtSignal(str)

    def __init__(self, services: WindowServices, parent: QWidget) -> None:
        super().__init__(parent)
        self._services = services
        self._names: Sequence[str] = ()
        self._drawn: frozenset[str] = frozenset()
        self.setObjectName("trace_list")
        mark(self, card=True, surface="raised")
        self.field = QLineEdit()
        self.field.setObjectName("trace_filter")
        mark(self.field, small=True)
        self.field.textEdited.connect(lambda _text: self._fill())
        self.field.returnPressed.connect(self._take)
        self.tree = QTreeWidget()
        self.tree.setObjectName("trace_names")
        self.tree.setHeaderHidden(True)
        self.tree.setIndentation(services.theme.theme.size("space.4"))
        self.tree.itemChanged.connect(self._on_ticked)
        arrange(QVBoxLayout(self), self.field, (self.tree, 1), edges=services.theme.theme.size("space.2"))
        services.language.changed.connect(self.hide)  # its words are made when it opens
        self.hide()
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.connect(self._on_focus)

    def open_list(self, names: Sequence[str], drawn: Sequence[str]) -> None:
        """Show it over the parent, with what is drawn already ticked."""
        language, scale = self._services.language, self._services.theme.theme.scale
        self._names, self._drawn = names, frozenset(drawn)
        self.field.setPlaceholderText(language(msg("Filter as in v(x1.*), or an expression")))
        self.field.setAccessibleName(language(msg("Filter of signals")))
        self.tree.setAccessibleName(language(msg("Signals")))
        self.field.clear()
        room = self.parentWidget()
        height = _HEIGHT * scale if room is None else min(_HEIGHT * scale, room.height() - 2 * _EDGE)
        self.resize(round(_WIDTH * scale), round(max(height, 3 * self.field.height())))
        self.move(_EDGE, _EDGE)
        self._fill()
        self.show()
        self.raise_()
        self.field.setFocus(Qt.FocusReason.PopupFocusReason)

    def show_drawn(self, drawn: Sequence[str]) -> None:
        """Other traces are drawn: the ticks follow."""
        self._drawn = frozenset(drawn)
        if self.isVisible():
            self.tree.blockSignals(True)
            for item in self._items():
                item.setCheckState(0, self._tick(item.text(0)))
            self.tree.blockSignals(False)

    def keyPressEvent(self, event: QKeyEvent | None) -> None:  # noqa: N802 - Qt's name
        """Escape closes, Down goes to the list; nothing reaches the plot behind."""
        if event is None:
            return
        event.accept()
        if event.key() == Qt.Key.Key_Escape:
            self.hide()
            parent = self.parentWidget()
            if parent is not None:
                parent.setFocus()
        elif event.key() == Qt.Key.Key_Down and self.field.hasFocus():
            self.tree.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_focus(self, _old: QWidget | None, now: QWidget | None) -> None:
        """It goes when the keyboard is elsewhere: another plot that is shown then has other signals."""
        if self.isVisible() and now is not None and now is not self and not self.isAncestorOf(now):
            self.hide()

    def _tick(self, name: str) -> Qt.CheckState:
        return Qt.CheckState.Checked if name in self._drawn else Qt.CheckState.Unchecked

    def _items(self) -> Iterator[QTreeWidgetItem]:
        for number in range(self.tree.topLevelItemCount()):
            group = self.tree.topLevelItem(number)
            for row in range(0 if group is None else group.childCount()):
                if group is not None and (item := group.child(row)) is not None:
                    yield item

    def _fill(self) -> None:
        self.tree.blockSignals(True)
        self.tree.clear()
        found = matching(self._names, self.field.text())
        for title, members in grouped(found[:_MOST]):
            words = title if isinstance(title, str) else self._services.language(title)
            group = QTreeWidgetItem([f"{words}  {len(members)}"])
            group.setFlags(Qt.ItemFlag.ItemIsEnabled)
            for name in members:
                item = QTreeWidgetItem([name])
                item.setFlags(
                    Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsUserCheckable
                )
                item.setCheckState(0, self._tick(name))
                group.addChild(item)
            self.tree.addTopLevelItem(group)
            group.setExpanded(True)
        self.tree.blockSignals(False)

    def _on_ticked(self, item: QTreeWidgetItem, _column: int) -> None:
        name = item.text(0)
        if item.checkState(0) == Qt.CheckState.Checked:
            self.trace_added.emit(name)
        else:
            self.trace_removed.emit(name)

    def _take(self) -> None:
        """What is typed: the one signal it means, else an expression."""
        text = self.field.text().strip()
        found = matching(self._names, text) if text else []
        if len(found) == 1:
            self.trace_added.emit(found[0])
        elif text and not any(sign in text for sign in "?"):
            self.trace_added.emit(text)
