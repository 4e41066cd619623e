"""One text on the screen: QScintilla in the theme's dress, with problems, changes and a note on a line."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from string import ascii_letters, digits

from PyQt6.QtCore import QEvent, QPoint, Qt, pyqtSignal
from PyQt6.QtGui import (
    QContextMenuEvent,
    QDragEnterEvent,
    QDragMoveEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QWheelEvent,
)
from PyQt6.QtWidgets import QMenu, QToolTip

from presentation.panels.editor.editor_look import (
    SYMBOLS,
    dress,
    dress_taken_out,
    fit_numbers,
    set_up,
)
from presentation.panels.editor.editor_menu import add_commands, add_fixes
from presentation.panels.editor.examination import Problem
from presentation.panels.editor.marked_text import MarkedText
from presentation.panels.editor.text_changes import TextEdit
from presentation.ui.workspace import WindowServices
from shared.message import msg

_MOST_BEGUN = 100


class CodeEditor(MarkedText):
    """Shows and edits one text; what it knows of files, encodings and checks it is told."""

    fix_chosen = pyqtSignal(object)
    """problem: Problem; its quick fix was clicked"""
    fix_hovered = pyqtSignal(object)
    """problem: Problem whose quick fix the pointer is on, None: on none any more"""
    save_requested = pyqtSignal()
    edited = pyqtSignal()
    """The text is another (styling does not count)."""
    caret_moved = pyqtSignal(int, int)
    """line, column, from 1"""
    caret_added = pyqtSignal(int)
    """Alt+click: the byte where one caret more is wanted"""
    definition_wanted = pyqtSignal()
    """Ctrl+click: where is defined what stands at the caret?"""
    rested = pyqtSignal(int, QPoint)
    """byte, global place: the pointer rests in the text"""
    menu_opens = pyqtSignal(object, int)
    """menu: QMenu, the byte it is for: entries may be added before it is shown"""
    escaped = pyqtSignal()
    """Esc was pressed in the text."""

    def __init__(
        self, services: WindowServices, *, is_spice: bool, has_title: bool, is_large: bool = False
    ) -> None:
        """`is_large`: it is shown plainly, and changes are told when they are on the screen."""
        super().__init__(services, is_spice=is_spice and not is_large, has_title=has_title)
        self._is_large = is_large
        self._hovered_fix: Problem | None = None
        self._length_told = 0
        """Bytes of the text that was told of last."""
        self._begun: deque[tuple[int, int, bytes]] = deque(maxlen=_MOST_BEGUN)
        """What stood there when the first character was typed over something selected."""
        set_up(self)
        if self._lexer is not None:
            self.setLexer(self._lexer)
            # A double click takes a whole number, as 1.6k.
            self.SendScintilla(self.SCI_SETWORDCHARS, 0, f"{ascii_letters}{digits}_.".encode())
        self.restyle()
        self.retranslate()
        if is_large:
            self.say_nothing()
            self.SCN_UPDATEUI.connect(self._on_shown)
        else:
            self.textChanged.connect(self.edited)
        self.linesChanged.connect(lambda: fit_numbers(self, services.theme.theme))
        self.cursorPositionChanged.connect(self._on_caret_moved)
        self.marginClicked.connect(self._on_margin_clicked)

    def save(self) -> None:
        """Ask for the text to be written: the window's menu calls this on the widget in focus."""
        self.save_requested.emit()

    def restyle(self) -> None:
        dress(self, self._services)
        if self._lexer is not None:
            self._lexer.restyle(self._services.theme.theme)
        dress_taken_out(self, self._services.theme.theme)
        self._overview.restyle()
        self.refresh_note()

    def retranslate(self) -> None:
        self.setAccessibleName(self._services.language(msg("File contents")))
        self.refresh_note()

    def resizeEvent(self, event: QResizeEvent | None) -> None:  # noqa: N802 - Qt's name
        """A view that gets lower keeps the caret's line, if it was seen."""
        if event is None:
            return
        before, height = event.oldSize().height(), event.size().height()
        was_seen = height < before and self.caret_is_within(before)
        super().resizeEvent(event)
        if was_seen and not self.caret_is_within(height):
            self.ask(self.SCI_SCROLLCARET)

    def paintEvent(self, event: QPaintEvent | None) -> None:  # noqa: N802 - Qt's name
        """Scintilla's text, then what it has no way to show."""
        if event is None:
            return
        super().paintEvent(event)
        viewport = self.viewport()
        if viewport is not None:
            painter = QPainter(viewport)
            self._overlay.paint(painter, self._services.theme.theme)
            painter.end()

    # ---- pointer, keys, menu -----------------------------------------------------------------

    def keyPressEvent(self, event: QKeyEvent | None) -> None:  # noqa: N802 - Qt's name
        """A sign with Ctrl is a command, bound or not: Scintilla would write Ctrl++ as "+" into the text."""
        control = Qt.KeyboardModifier.ControlModifier
        held = control | Qt.KeyboardModifier.AltModifier  # both are AltGr, which writes
        if event is None:
            return
        if event.modifiers() & held == control and event.key() in (Qt.Key.Key_Z, Qt.Key.Key_Y):
            # Scintilla would answer these by itself.
            is_back = (
                event.key() == Qt.Key.Key_Z and not event.modifiers() & Qt.KeyboardModifier.ShiftModifier
            )
            (self.undo if is_back else self.redo)()
        elif event.modifiers() & held == control and event.text() > " ":
            event.ignore()
        elif event.key() == Qt.Key.Key_Escape:
            self.escaped.emit()
        else:
            length, replaces = self.byte_length(), event.text() >= " " and self.hasSelectedText()
            super().keyPressEvent(event)
            if replaces:
                self._begun.append(self._here())
            if event.text() or self.byte_length() != length:
                self._tell_edited()

    def wheelEvent(self, event: QWheelEvent | None) -> None:  # noqa: N802 - Qt's name
        """The text alone has no size of its own: View > Zoom is for the whole window."""
        if event is None:
            return
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            event.ignore()
        else:
            super().wheelEvent(event)

    def mousePressEvent(self, event: QMouseEvent | None) -> None:  # noqa: N802 - Qt's name
        """A click on the note carries out its fix, Alt adds a caret, Ctrl asks for the definition."""
        if event is None:
            return
        problem = self._overlay.action_at(event.position())
        if problem is not None:
            self.fix_chosen.emit(problem)
            event.accept()
            return
        modifier, held = Qt.KeyboardModifier, event.modifiers()
        is_left = event.button() == Qt.MouseButton.LeftButton
        if is_left and held in (modifier.AltModifier, modifier.ControlModifier):
            point = event.position().toPoint()
            position = self.ask(self.SCI_POSITIONFROMPOINT, point.x(), point.y())
            if held == modifier.AltModifier:
                self.caret_added.emit(position)
            else:
                self.ask(self.SCI_GOTOPOS, position)
                self.definition_wanted.emit()
            event.accept()
            return
        with self._standing_still():
            super().mousePressEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent | None) -> None:  # noqa: N802 - Qt's name
        if event is not None:
            with self._standing_still():
                super().mouseDoubleClickEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent | None) -> None:  # noqa: N802 - Qt's name
        if event is not None:
            with self._standing_still():
                super().mouseReleaseEvent(event)

    @contextmanager
    def _standing_still(self) -> Iterator[None]:
        """A click leaves the text where it is: Scintilla would scroll a line at the edge into full view, and
        the second click of two would meet another one."""
        row, left = self.ask(self.SCI_GETFIRSTVISIBLELINE), self.ask(self.SCI_GETXOFFSET)
        yield
        if self.ask(self.SCI_GETFIRSTVISIBLELINE) != row:
            self.ask(self.SCI_SETFIRSTVISIBLELINE, row)
        if self.ask(self.SCI_GETXOFFSET) != left:
            self.ask(self.SCI_SETXOFFSET, left)

    def mouseMoveEvent(self, event: QMouseEvent | None) -> None:  # noqa: N802 - Qt's name
        if event is None:
            return
        super().mouseMoveEvent(event)
        viewport, problem = self.viewport(), self._overlay.action_at(event.position())
        if viewport is not None and problem is not None:
            viewport.setCursor(Qt.CursorShape.PointingHandCursor)
        if problem is not self._hovered_fix:
            self._hovered_fix = problem
            self.fix_hovered.emit(problem)

    def viewportEvent(self, event: QEvent | None) -> bool:  # noqa: N802 - Qt's name
        """The pointer rests: over the text others show what stands there, in the margins what is wrong."""
        if event is not None and event.type() == QEvent.Type.Leave and self._hovered_fix is not None:
            self._hovered_fix = None
            self.fix_hovered.emit(None)
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            position = self.ask(self.SCI_POSITIONFROMPOINTCLOSE, event.pos().x(), event.pos().y())
            if event.pos().x() >= self.margins_width() and position >= 0:
                self.rested.emit(position, event.globalPos())
            elif text := self.hover_text(event.pos()):
                QToolTip.showText(event.globalPos(), text, self)
            else:
                QToolTip.hideText()
            return True
        return super().viewportEvent(event)

    def hover_text(self, point: QPoint) -> str:
        """The problems under a point of the viewport; in the margins those of the whole line."""
        left = self.margins_width()
        if point.x() < left:
            line = self.line_of(self.ask(self.SCI_POSITIONFROMPOINT, left + 1, point.y()))
            found = [p.message for p in self._problems if self.line_of(p.start) == line]
        else:
            found = self.problems_at(self.ask(self.SCI_POSITIONFROMPOINTCLOSE, point.x(), point.y()))
        texts = [self._services.language(message) for message in found]
        if point.x() < left and (bar := self.bars.get(line)) is not None:
            texts.append(bar.tip)
        return "\n".join(dict.fromkeys(texts))

    def margins_width(self) -> int:
        """What stands left of the text, in pixels."""
        return sum(self.marginWidth(margin) for margin in range(self.margins()))

    def contextMenuEvent(self, event: QContextMenuEvent | None) -> None:  # noqa: N802 - Qt's name
        """Our own menu: Scintilla's speaks English only."""
        if event is None:
            return
        if event.reason() == QContextMenuEvent.Reason.Mouse:
            self._follow(self.ask(self.SCI_POSITIONFROMPOINT, event.pos().x(), event.pos().y()))
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        add_fixes(menu, self, self._services, self.fix_chosen.emit)
        self.menu_opens.emit(menu, self.caret_byte())
        add_commands(menu, self, self._services, is_spice=self._lexer is not None)
        menu.popup(event.globalPos())

    def _on_shown(self, what: int) -> None:
        """Something is drawn anew: the text, or only marks in it."""
        if what & self.SC_UPDATE_CONTENT and self.byte_length() != self._length_told:
            self._tell_edited()

    def _tell_edited(self) -> None:
        """Of a large text, before anybody can ask whether it was."""
        if self._is_large:
            self._length_told = self.byte_length()
            self.edited.emit()

    def apply(self, edits: Sequence[TextEdit]) -> None:
        super().apply(edits)
        self._tell_edited()

    def undo(self) -> None:
        """Take back a step. A word typed over another is one: Scintilla would stop behind its first letter,
        which is a step together with what it replaced."""
        super().undo()
        if self._here() in self._begun and self.isUndoAvailable():
            super().undo()
        self._tell_edited()

    def redo(self) -> None:
        super().redo()
        if self._here() in self._begun and self.isRedoAvailable():
            super().redo()
        self._tell_edited()

    def _here(self) -> tuple[int, int, bytes]:
        """The caret, the text's length and the caret's line: tells one state of a text from the next."""
        caret = self.ask(self.SCI_GETCURRENTPOS)
        line = self.ask(self.SCI_LINEFROMPOSITION, caret)
        start, end = (
            self.ask(each, line) for each in (self.SCI_POSITIONFROMLINE, self.SCI_GETLINEENDPOSITION)
        )
        return caret, self.byte_length(), self.bytes_between(start, end)

    def paste(self) -> None:
        super().paste()
        self._tell_edited()

    def _follow(self, position: int) -> None:
        """The caret goes where the menu opens, unless that is within what is selected."""
        start, end = self.selected_bytes()
        if not start <= position <= end:
            self.ask(self.SCI_GOTOPOS, position)

    def dragEnterEvent(self, event: QDragEnterEvent | None) -> None:  # noqa: N802 - Qt's name
        if event is not None and not _is_left(event):
            super().dragEnterEvent(event)

    def dragMoveEvent(self, event: QDragMoveEvent | None) -> None:  # noqa: N802 - Qt's name
        if event is not None and not _is_left(event):
            super().dragMoveEvent(event)

    def _on_margin_clicked(self, margin: int, line: int, _state: object) -> None:
        if margin != SYMBOLS:
            return
        self.setCursorPosition(line, self.getCursorPosition()[1] if line == self.caret()[0] - 1 else 0)
        problem = self.problem_at_caret()
        if problem is not None:
            self.select_bytes(problem.start, problem.end)

    def _on_caret_moved(self, line: int, column: int) -> None:
        self.refresh_note()
        self.caret_moved.emit(line + 1, column + 1)


def _is_left(event: QDragMoveEvent) -> bool:
    """Leave files to the window; text is for the editor."""
    data = event.mimeData()
    if data is None or not data.hasUrls():
        return False
    event.ignore()
    return True
