"""Find and replace, and going to a line: a bar below the tabs that never takes the text's place."""

from __future__ import annotations

import asyncio
import bisect

from PyQt6.QtCore import QEvent, QObject, Qt, QTimer, pyqtSignal
from PyQt6.QtGui import QKeyEvent
from PyQt6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QLineEdit, QPushButton, QToolButton, QWidget

from presentation.panels.editor.code_editor import CodeEditor
from presentation.panels.editor.searching import (
    MOST_MATCHES,
    Found,
    Match,
    Query,
    find_all,
    find_in_pieces,
    replacement_of,
)
from presentation.panels.editor.text_changes import TextEdit
from presentation.ui.parts import arrange
from presentation.ui.styles import mark, mark_area
from presentation.ui.workspace import WindowServices
from shared.message import Message, msg

_LARGE = 200_000
"""Bytes of a text from which on typing is let go on before it is searched."""
_PAUSE_MS = 150
_MOST_MARKED = 2_000
_IN_PIECES = 2_000_000
"""Bytes of a text from which on it is searched in pieces."""


class FindBar(QWidget):
    """Works on whichever editor it is given."""

    closed = pyqtSignal()

    def __init__(self, services: WindowServices) -> None:
        super().__init__()
        self._services = services
        self._editor: CodeEditor | None = None
        self._found = Found()
        self._starts: list[int] = []
        self._is_stale = True
        self._request = 0
        """The search under way: an earlier one is of no use."""
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._search)
        self._find, self._replace = QLineEdit(), QLineEdit()
        self._count = QLabel()
        self._toggles = {name: QToolButton() for name in ("case", "word", "regex")}
        self._previous, self._next, self._close = QToolButton(), QToolButton(), QToolButton()
        self._one, self._all = QPushButton(), QPushButton()
        self._lay_out()
        self._connect()
        self.restyle()
        self.retranslate()
        self.hide()

    def _lay_out(self) -> None:
        self.setObjectName("findBar")
        mark_area(self, surface="panel", line="bottom")
        names = {
            "findText": self._find,
            "replaceText": self._replace,
            "findCount": self._count,
            "findPrevious": self._previous,
            "findNext": self._next,
            "findClose": self._close,
            "replaceOne": self._one,
            "replaceAll": self._all,
            **{f"find_{name}": button for name, button in self._toggles.items()},
        }
        for name, widget in names.items():
            widget.setObjectName(name)
        for field in (self._find, self._replace):
            mark(field, small=True)
        mark(self._one, small=True)
        mark(self._all, small=True)
        mark(self._count, role="small")
        self._grid = QGridLayout(self)
        right = QHBoxLayout()
        for button in self._toggles.values():
            button.setCheckable(True)
            right.addWidget(button)
        arrange(right, self._previous, self._next, self._count, 1, self._close)
        self._tools = right
        self._second = arrange(QHBoxLayout(), self._one, self._all, 1)
        self._grid.addWidget(self._find, 0, 0)
        self._grid.addLayout(right, 0, 1)
        self._grid.addWidget(self._replace, 1, 0)
        self._grid.addLayout(self._second, 1, 1)
        self._grid.setColumnStretch(0, 2)
        self._grid.setColumnStretch(1, 3)

    def _connect(self) -> None:
        self._find.textEdited.connect(self._on_query_changed)
        for button in self._toggles.values():
            button.toggled.connect(self._on_query_changed)
        self._next.clicked.connect(self.find_next)
        self._previous.clicked.connect(self.find_previous)
        self._close.clicked.connect(self.close_bar)
        self._one.clicked.connect(self.replace_one)
        self._all.clicked.connect(self.replace_all)
        for field in (self._find, self._replace):
            field.installEventFilter(self)

    # ---- for the area ------------------------------------------------------------------------

    def open_bar(self, editor: CodeEditor, *, replace: bool) -> None:
        """Show it for an editor; a selection within a line becomes what is looked for."""
        self.attach(editor)
        selected = editor.selectedText()
        if selected and "\n" not in selected and "\r" not in selected:
            self._find.setText(selected)
        for widget in (self._replace, self._one, self._all):
            widget.setVisible(replace and not editor.isReadOnly())
        self.show()
        self._find.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._find.selectAll()
        self._search()

    def attach(self, editor: CodeEditor | None) -> None:
        if editor is self._editor:
            return
        if self._editor is not None:
            self._editor.edited.disconnect(self._on_text_changed)
            self._editor.show_matches(())
        self._editor = editor
        self._is_stale = True
        if editor is not None:
            editor.edited.connect(self._on_text_changed)
            if self.isVisible():
                self._search()

    def close_bar(self) -> None:
        """Hide it and give the keys back to the text."""
        self.hide()
        self._timer.stop()
        self._request += 1
        if self._editor is not None:
            self._editor.show_matches(())
            self._editor.setFocus()
        self.closed.emit()

    @property
    def query(self) -> Query:
        return Query(
            text=self._find.text(),
            match_case=self._toggles["case"].isChecked(),
            whole_word=self._toggles["word"].isChecked(),
            is_regex=self._toggles["regex"].isChecked(),
        )

    def find_next(self) -> None:
        """Select the next place, from the beginning again behind the last."""
        self._step(forward=True)

    def find_previous(self) -> None:
        """Select the place before."""
        self._step(forward=False)

    def replace_one(self) -> None:
        """Replace the selected place and go to the next; first press selects one."""
        editor = self._editor
        self._refresh()
        if editor is None or editor.isReadOnly() or self._is_stale:
            return
        chosen = next((m for m in self._found.matches if (m.start, m.end) == editor.selected_bytes()), None)
        if chosen is None:
            self.find_next()
            return
        text = replacement_of(chosen, self._replace.text(), self.query).encode()
        editor.apply((TextEdit(chosen.start, chosen.end, text),))
        editor.select_bytes(chosen.start + len(text), chosen.start + len(text))
        self.find_next()

    def replace_all(self) -> None:
        """Replace every place as one step of undo."""
        self._refresh()
        if self._editor is None or self._editor.isReadOnly() or self._is_stale:
            return
        query, replacement = self.query, self._replace.text()
        edits = [
            TextEdit(m.start, m.end, replacement_of(m, replacement, query).encode())
            for m in reversed(self._found.matches)
        ]
        self._editor.apply(edits)
        self._search()
        self._say(msg("{count} replaced", count=len(edits)))

    # ---- searching ---------------------------------------------------------------------------

    def _on_query_changed(self) -> None:
        self._is_stale = True
        if self._editor is not None and self._editor.byte_length() > _LARGE:
            self._timer.start(_PAUSE_MS)
        else:
            self._search(jump=True)

    def _on_text_changed(self) -> None:
        self._is_stale = True
        if self.isVisible():
            self._timer.start(_PAUSE_MS)

    def _refresh(self, *, jump: bool = False) -> None:
        if self._is_stale:
            is_large = self._editor is not None and self._editor.byte_length() > _IN_PIECES
            self._search(jump=jump and is_large)

    def _search(self, *, jump: bool = False) -> None:
        editor = self._editor
        if editor is None:
            return
        self._timer.stop()
        self._request += 1
        if editor.byte_length() > _IN_PIECES and self.query.text:
            self._say(msg("Searching…"))
            self._services.start(self._search_in_pieces(editor, self._request, jump=jump), kind="find")
            return
        self._take(editor, find_all(editor.text(), self.query))
        if jump and self._found.matches:
            start = editor.selected_bytes()[0]
            self._select(bisect.bisect_left(self._starts, start) % len(self._starts))
        self._show_count()

    async def _search_in_pieces(self, editor: CodeEditor, request: int, *, jump: bool) -> None:
        """The same without holding the loop; the first place behind the caret is shown once it is found."""
        start, matches, problem = editor.selected_bytes()[0], list[Match](), None
        for found in find_in_pieces(editor.data(), self.query):
            matches += found.matches
            problem = found.problem
            if jump and matches and matches[-1].start >= start:
                first = next(match for match in matches if match.start >= start)
                editor.select_bytes(first.start, first.end)
                jump = False
            if problem is not None or len(matches) >= MOST_MATCHES:
                break
            await asyncio.sleep(0)
            if request != self._request or editor is not self._editor:
                return
        self._take(editor, Found(matches=tuple(matches[:MOST_MATCHES]), problem=problem))
        if jump and matches:
            self._select(0)
        self._show_count()

    def _take(self, editor: CodeEditor, found: Found) -> None:
        self._found, self._is_stale = found, False
        self._starts = [match.start for match in found.matches]
        editor.show_matches([(m.start, m.end) for m in found.matches[:_MOST_MARKED]])

    def _step(self, *, forward: bool) -> None:
        was_stale = self._is_stale
        self._refresh(jump=was_stale and forward)
        if self._is_stale or self._editor is None or not self._found.matches:
            return  # of a large text the search is under way
        start, end = self._editor.selected_bytes()
        if forward:
            index = bisect.bisect_left(self._starts, end if end > start else start)
        else:
            index = bisect.bisect_left(self._starts, start) - 1
        self._select(index % len(self._starts))
        self._show_count()

    def _select(self, index: int) -> None:
        match = self._found.matches[index]
        if self._editor is not None:
            self._editor.select_bytes(match.start, match.end)

    def _show_count(self) -> None:
        mark(self._find, state="error" if self._found.problem is not None else "")
        matches = self._found.matches
        if self._found.problem is not None:
            self._say(self._found.problem)
        elif not self._find.text():
            self._say(None)
        elif not matches:
            self._say(msg("Not found"))
        else:
            self._say(self._position_text(len(matches)))

    def _position_text(self, count: int) -> Message:
        assert self._editor is not None
        selected = self._editor.selected_bytes()
        index = bisect.bisect_left(self._starts, selected[0])
        at = index < count and (self._found.matches[index].start, self._found.matches[index].end) == selected
        if self._found.is_cut:
            return msg("more than {count}", count=count)
        return (
            msg("{index} of {count}", index=index + 1, count=count)
            if at
            else msg("{count} found", count=count)
        )

    def _say(self, text: Message | None) -> None:
        self._count.setText(self._services.language(text) if text is not None else "")

    # ---- keys, look --------------------------------------------------------------------------

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:  # noqa: N802 - Qt's name
        """Enter, Shift+Enter and Escape in the two fields."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() == Qt.Key.Key_Escape:
                self.close_bar()
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
                    self.find_previous()
                elif watched is self._replace:
                    self.replace_one()
                else:
                    self.find_next()
                return True
        return False

    def restyle(self) -> None:
        theme, icons = self._services.theme.theme, self._services.icons
        edge, gap = theme.size("space.3"), theme.size("space.1")
        self._grid.setContentsMargins(edge, gap, theme.size("space.1"), gap)
        self._grid.setHorizontalSpacing(theme.size("space.2"))
        self._grid.setVerticalSpacing(gap)
        self._tools.setSpacing(gap)
        self._second.setSpacing(gap)
        pictures = (
            (self._toggles["case"], "case-sensitive"),
            (self._toggles["word"], "whole-word"),
            (self._toggles["regex"], "regex"),
            (self._previous, "arrow-up"),
            (self._next, "arrow-down"),
            (self._close, "x"),
        )
        for button, name in pictures:
            button.setIcon(icons.get(name, "text.secondary", theme.size("icon.default")))

    def retranslate(self) -> None:
        language = self._services.language
        self._find.setPlaceholderText(language(msg("Find")))
        self._replace.setPlaceholderText(language(msg("Replace with")))
        self._one.setText(language(msg("Replace")))
        self._all.setText(language(msg("Replace all")))
        tips = (
            (self._toggles["case"], msg("Match case"), ""),
            (self._toggles["word"], msg("Whole words"), ""),
            (self._toggles["regex"], msg("Regular expression"), ""),
            (self._previous, msg("Previous match"), "Shift+F3"),
            (self._next, msg("Next match"), "F3"),
            (self._close, msg("Close"), "Esc"),
        )
        for button, text, key in tips:
            button.setAccessibleName(language(text))
            button.setToolTip(f"{language(text)} {key}".strip())
        if self._editor is not None and not self._is_stale:
            self._show_count()


class GoToLineBar(QWidget):
    """Asks for a line, or ``line:column``."""

    def __init__(self, services: WindowServices) -> None:
        super().__init__()
        self._services = services
        self._editor: CodeEditor | None = None
        self._field, self._label = QLineEdit(), QLabel()
        self._field.setObjectName("goToLine")
        mark(self._field, small=True)
        mark(self._label, role="small")
        self.setObjectName("goToLineBar")
        mark_area(self, surface="panel", line="bottom")
        self._row = arrange(QHBoxLayout(self), (self._field, 2), (self._label, 3))
        self._field.installEventFilter(self)
        self.restyle()
        self.retranslate()
        self.hide()

    def open_bar(self, editor: CodeEditor) -> None:
        self._editor = editor
        self.retranslate()
        self.show()
        self._field.setText(str(editor.caret()[0]))
        self._field.selectAll()
        self._field.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:  # noqa: N802, ARG002 - Qt's
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
            if is_enter or event.key() == Qt.Key.Key_Escape:
                if is_enter:
                    self._go()
                self.hide()
                if self._editor is not None:
                    self._editor.setFocus()
                return True
        return False

    def _go(self) -> None:
        line, _, column = self._field.text().strip().partition(":")
        if self._editor is not None and line.isdecimal():
            self._editor.go_to(int(line), int(column) if column.isdecimal() else 1)

    def restyle(self) -> None:
        theme = self._services.theme.theme
        edge, gap = theme.size("space.3"), theme.size("space.1")
        arrange(self._row, edges=(edge, gap, edge, gap), gap=theme.size("space.2"))

    def retranslate(self) -> None:
        count = self._editor.lines() if self._editor is not None else 1
        self._label.setText(self._services.language(msg("Line 1 to {count}, or line:column", count=count)))
        self._field.setAccessibleName(self._services.language(msg("Go to line")))
