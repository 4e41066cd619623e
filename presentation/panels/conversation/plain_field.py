"""The row of the plain view that is written in: a field over the room that its text keeps for it."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from PyQt6.QtCore import QEvent, QObject, QRect, Qt, pyqtSignal
from PyQt6.QtGui import QKeyEvent, QTextCursor, QTextFrame, QTextImageFormat

from presentation.panels.conversation import blocks as b
from presentation.panels.conversation.composer import MessageEdit
from presentation.panels.conversation.plain_document import Browser, links_between
from presentation.panels.conversation.plain_parts import FIELD_ROOM
from presentation.ui.workspace import WindowServices


class RowField(MessageEdit):
    """The text; Enter sends it, Esc leaves it, Tab goes on to the links of its row."""

    left = pyqtSignal()
    went_on = pyqtSignal()
    most_lines = 200
    longest_text = sys.maxsize

    def event(self, event: QEvent | None) -> bool:
        """Esc is the field's, also where the window has it as a shortcut."""
        match event:
            case QKeyEvent() if (event.type(), event.key()) == (
                QEvent.Type.ShortcutOverride,
                Qt.Key.Key_Escape,
            ):
                event.accept()
                return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent | None) -> None:  # noqa: N802 - Qt's name
        if event is not None and event.key() == Qt.Key.Key_Escape and not self.is_composing:
            self.left.emit()
        else:
            super().keyPressEvent(event)

    def focusNextPrevChild(self, is_next: bool) -> bool:  # noqa: N802 - Qt's name
        if is_next:
            self.went_on.emit()
            return True
        return super().focusNextPrevChild(is_next)


class PlainField(QObject):
    """The one field there is, if there is one; what was written outlives the drawing of its row anew."""

    acted = pyqtSignal(str, str, str)
    """Action, item's key, what is written."""

    def __init__(self, services: WindowServices, surface: Browser) -> None:
        super().__init__(surface)
        self._services = services
        self._surface = surface
        self._edit: RowField | None = None
        self._node: b.Field | None = None
        self._key = ""
        self._frame: QTextFrame | None = None
        self._room: QTextCursor | None = None
        """At the picture whose height the row keeps for it; None: its row is not drawn."""
        layout = surface.text_document.documentLayout()
        assert layout is not None
        layout.documentSizeChanged.connect(self._place)
        surface.text_document.contentsChanged.connect(self._place)
        surface.bar.valueChanged.connect(self._place)

    def follow(self, key: str, row: b.Row, frame: QTextFrame) -> None:
        """The row was drawn in the frame; it is written in where it has a field."""
        node = next((each for each in _inside(row.blocks) if isinstance(each, b.Field)), None)
        if node is None:
            if key == self._key:
                self._end()
            return
        if self._edit is None or key != self._key:
            self._end()
            self._edit = self._made(node.text)
        self._key, self._node, self._frame = key, node, frame
        self._room = self._found_room(frame)
        self._edit.setAccessibleName(b.say(node.label, self._services.language))
        self._edit.setFont(self._services.theme.theme.font("prose"))
        self._edit.show()
        self._keep_room()

    def lose_place(self) -> None:
        """What was drawn is gone; `settle` tells whether it came again."""
        self._room = self._frame = None

    def settle(self) -> None:
        """All that is to be drawn now is: without its row the field goes."""
        if self._edit is not None and self._room is None:
            self._end()

    def text_for(self, act: str, key: str) -> str | None:
        """What is written, for the button that does the same as Enter."""
        edit, node = self._edit, self._node
        is_its = edit is not None and node is not None and (act, key) == (node.act, self._key)
        return edit.toPlainText() if edit is not None and is_its else None

    def focus(self) -> None:
        """The keyboard goes to it, the caret behind its text, and it is in sight."""
        if self._edit is not None:
            self._edit.setFocus(Qt.FocusReason.ShortcutFocusReason)
            self._edit.moveCursor(QTextCursor.MoveOperation.End)
            self._show_row()

    def _made(self, text: str) -> RowField:
        made = RowField(self._surface.viewport())
        made.setObjectName("rowField")
        made.setPlainText(text)
        made.textChanged.connect(lambda: self.acted.emit("row_text", self._key, made.toPlainText()))
        made.submitted.connect(lambda: self._act(made.toPlainText()))
        made.left.connect(self._leave)
        made.went_on.connect(self._go_to_links)
        made.height_changed.connect(self._keep_room)
        return made

    def _end(self) -> None:
        edit, self._edit, self._node, self._key = self._edit, None, None, ""
        self.lose_place()
        if edit is not None:
            if edit.hasFocus():
                self._surface.setFocus(Qt.FocusReason.OtherFocusReason)
            edit.hide()
            edit.deleteLater()

    def _act(self, text: str) -> None:
        assert self._node is not None, "it is there"
        self.acted.emit(self._node.act, self._key, text)

    def _leave(self) -> None:
        assert self._node is not None, "it is there"
        self.acted.emit(self._node.leave, self._key, "")

    def _go_to_links(self) -> None:
        """On to the first link of its row behind it."""
        self._surface.setFocus(Qt.FocusReason.TabFocusReason)
        if self._room is not None and self._frame is not None:
            behind = links_between(
                self._surface.text_document, self._room.position(), self._frame.lastPosition()
            )
            for _, place in behind:
                self._surface.setTextCursor(place)
                return

    def _found_room(self, frame: QTextFrame) -> QTextCursor | None:
        """A cursor that stays at the picture, whatever is drawn above it."""
        cursor = frame.firstCursorPosition()
        while cursor.position() < frame.lastPosition():
            cursor.movePosition(QTextCursor.MoveOperation.NextCharacter, QTextCursor.MoveMode.KeepAnchor)
            look = cursor.charFormat()
            if look.isImageFormat() and look.toImageFormat().name() == FIELD_ROOM:
                return cursor
            cursor.setPosition(cursor.position())
        return None

    def _keep_room(self) -> None:
        """The row is as high as what is written."""
        if self._edit is None or self._room is None:
            return
        look = QTextImageFormat(self._room.charFormat().toImageFormat())
        if look.height() != self._edit.height():
            look.setHeight(self._edit.height())
            self._room.setCharFormat(look)
            if self._edit.hasFocus():
                self._show_row()
        self._place()

    def _place(self) -> None:
        """Over its room, wherever that is by now."""
        layout = self._surface.text_document.documentLayout()
        if self._edit is None or self._room is None or self._frame is None or layout is None:
            return
        row, line = layout.frameBoundingRect(self._frame), layout.blockBoundingRect(self._room.block())
        left = round(line.left())
        wide = round(row.right() - self._frame.frameFormat().padding()) - left
        room = QRect(left, round(line.top()) - self._surface.bar.value(), max(wide, 1), self._edit.height())
        if room != self._edit.geometry():
            self._edit.setGeometry(room)  # another width may wrap it anew: `height_changed`

    def _show_row(self) -> None:
        """Scroll no more than it takes to have the row in sight, its end before its beginning."""
        layout = self._surface.text_document.documentLayout()
        if self._frame is None or layout is None:
            return
        row, bar = layout.frameBoundingRect(self._frame), self._surface.bar
        bar.setValue(round(min(max(bar.value(), row.bottom() - bar.pageStep()), row.top())))


def _inside(blocks: b.Blocks) -> Iterator[b.Node]:
    for block in blocks:
        yield block
        if isinstance(block, b.Frame):
            yield from _inside(block.blocks)
