"""The document of the plain view: the browser that shows it, and the frames its rows stand in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from PyQt6.QtCore import QPoint, QRect, QRectF, Qt, QUrl, pyqtSignal
from PyQt6.QtGui import (
    QAbstractTextDocumentLayout,
    QContextMenuEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
    QResizeEvent,
    QShowEvent,
    QTextBlock,
    QTextBlockFormat,
    QTextCursor,
    QTextDocument,
    QTextFrame,
    QTextFrameFormat,
)
from PyQt6.QtWidgets import QTextBrowser, QWidget

from presentation.panels.conversation.charts import Chart
from presentation.panels.conversation.plain_parts import (
    FIELD_ROOM,
    ICON_SIDE,
    LINE_MARK,
    NUMBER_GAP,
    bar_picture,
    chart_picture,
)
from presentation.ui.workspace import WindowServices

_NEAR_END = 24
"""Pixels from the end at which the newest counts as in sight."""


class Browser(QTextBrowser):
    """A text whose icons and bars are drawn when they are needed, sharp on its screen."""

    menu_asked = pyqtSignal(QPoint, bool)
    """Where a menu is asked for, within what is seen, and whether by the keyboard."""

    def __init__(
        self, services: WindowServices, parent: QWidget, chart_of: Callable[[str], Chart | None]
    ) -> None:
        super().__init__(parent)
        self._services = services
        self._chart_of = chart_of
        bar, document = self.verticalScrollBar(), self.document()
        assert bar is not None
        assert document is not None
        self.bar, self.text_document = bar, document
        self._keeps_end = False
        bar.rangeChanged.connect(self._on_range)
        bar.actionTriggered.connect(self.let_go)
        self.selectionChanged.connect(self._draw_anew)

    def loadResource(self, kind: int, name: QUrl) -> Any:  # noqa: N802 - Qt's name
        """The picture of an address of our own; nothing is loaded from anywhere else but the text itself."""
        ratio = self.devicePixelRatioF()
        if name.scheme() == "icon":
            return self._services.icons.pixmap(name.path(), name.query(), ICON_SIDE, ratio=ratio)
        if name.scheme() == "chart":
            chart = self._chart_of(name.path())
            return None if chart is None else chart_picture(self._services.theme.theme, chart, ratio)
        if name.toString() == FIELD_ROOM:
            nothing = QPixmap(1, 1)
            nothing.fill(Qt.GlobalColor.transparent)
            return nothing
        if name.scheme() == "bar":
            return bar_picture(self._services.theme.theme, float(name.path()), name.query(), ratio)
        return super().loadResource(kind, name) if name.scheme() == "data" else None

    def resizeEvent(self, event: QResizeEvent | None) -> None:  # noqa: N802 - Qt's name
        """The newest stays in sight where it was: messages that wait, and a higher field, take room."""
        follows = self.is_at_end or self._keeps_end
        super().resizeEvent(event)
        if follows:
            self.bar.setValue(self.bar.maximum())

    @property
    def is_at_end(self) -> bool:
        """Whether the newest is in sight."""
        return self.bar.value() >= self.bar.maximum() - _NEAR_END

    def go_to_end(self) -> None:
        """Have the newest in sight, also what Qt lays out later, until somebody goes elsewhere."""
        self._keeps_end = True
        self.bar.setValue(self.bar.maximum())

    def let_go(self, _action: int = 0) -> None:
        """What is in sight stays where it is, whatever comes below it."""
        self._keeps_end = False

    def _on_range(self, _least: int, most: int) -> None:
        if self._keeps_end:
            self.bar.setValue(most)

    def showEvent(self, event: QShowEvent | None) -> None:  # noqa: N802 - Qt's name
        """Qt goes to the caret then, which nobody sees here."""
        super().showEvent(event)
        self._on_range(0, self.bar.maximum())

    def mousePressEvent(self, event: QMouseEvent | None) -> None:  # noqa: N802 - Qt's name
        self.let_go()
        super().mousePressEvent(event)

    def keyPressEvent(self, event: QKeyEvent | None) -> None:  # noqa: N802 - Qt's name
        self.let_go()
        super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent | None) -> None:  # noqa: N802 - Qt's name
        """The rows have menus of their own."""
        assert event is not None
        by_keys = event.reason() == QContextMenuEvent.Reason.Keyboard
        self.menu_asked.emit(self.cursorRect().bottomLeft() if by_keys else event.pos(), by_keys)

    def focusNextPrevChild(self, is_next: bool) -> bool:  # noqa: N802 - Qt's name
        """Tab goes from link to link."""
        has_moved = super().focusNextPrevChild(is_next)
        self._draw_anew()
        return has_moved

    def _draw_anew(self) -> None:
        """Qt draws no more than the text of the link anew: the ring stands around it."""
        viewport = self.viewport()
        assert viewport is not None
        viewport.update()

    def ringed(self) -> list[QRect]:
        """Where the link is that the keyboard would follow, a line of it each, within what is seen."""
        chosen = self.textCursor()
        if not (self.hasFocus() and chosen.hasSelection()):
            return []
        before, last = QTextCursor(chosen), QTextCursor(chosen)
        before.setPosition(chosen.selectionStart())
        last.setPosition(chosen.selectionEnd())
        link = last.charFormat().anchorHref()
        if not link or (not before.atBlockStart() and before.charFormat().anchorHref() == link):
            return []  # a text that somebody has selected
        lines: dict[int, QRect] = {}
        for position in range(chosen.selectionStart(), chosen.selectionEnd() + 1):
            before.setPosition(position)
            at = self.cursorRect(before)
            lines[at.top()] = lines.get(at.top(), at).united(at)
        return list(lines.values())

    def paintEvent(self, event: QPaintEvent | None) -> None:  # noqa: N802 - Qt's name
        """The text, the numbers of the lines of code before them, and the ring of the keyboard's focus."""
        super().paintEvent(event)
        viewport, layout = self.viewport(), self.text_document.documentLayout()
        assert event is not None
        assert viewport is not None
        assert layout is not None
        theme, top = self._services.theme.theme, self.bar.value()
        at_its_end = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignBottom
        drawn = event.rect()
        first = self.cursorForPosition(QPoint(0, drawn.top())).block()
        with QPainter(viewport) as painter:
            painter.setPen(QPen(theme.color("focus_ring"), 2))
            for ring in self.ringed():
                painter.drawRect(ring.adjusted(-3, -3, 3, 3))  # a gap: a button may have its colour
            painter.translate(0, -top)
            painter.setFont(theme.font("mono_small"))
            painter.setPen(theme.color("text.tertiary"))
            for line in numbered_lines(first, layout, top + drawn.bottom()):
                painter.drawText(line.before, at_its_end, str(line.number))


class NumberedLine(NamedTuple):
    """A line of code."""

    number: int
    block: QTextBlock
    before: QRectF
    """Where its number stands, in the document."""


def numbered_lines(
    block: QTextBlock, layout: QAbstractTextDocumentLayout, bottom: float
) -> Iterator[NumberedLine]:
    """Those from a block down to a place in the document.

    The layout looks for the place of a block from the outermost frame on: it is asked once for each code.
    """
    while block.isValid() and layout.blockBoundingRect(block).top() <= bottom:
        cursor = QTextCursor(block)
        table = cursor.currentTable()
        if table is None:
            block = block.next()
            continue
        cell = table.cellAt(cursor)
        behind = cell.lastCursorPosition().block()  # Qt's own, behind the last line
        number = _number_of(block, cell.firstCursorPosition().block(), behind)
        place, within = layout.blockBoundingRect(block), block.layout()
        above = place.top() - (0.0 if within is None else within.position().y())
        while number and block != behind and within is not None and within.lineCount():
            top = above + within.position().y()
            if top > bottom:
                return
            before = QRectF(0, top, place.left() - NUMBER_GAP, within.lineAt(0).height())
            yield NumberedLine(number, block, before)
            number, block = number + 1, block.next()
            within = block.layout()
        block = behind.next()


def _number_of(block: QTextBlock, first: QTextBlock, behind: QTextBlock) -> int:
    """The number of a line of the code between two blocks; 0 where it has none."""
    marked = first
    while marked != behind and not marked.text():
        marked = marked.next()
    names = marked.begin().fragment().charFormat().anchorNames() if marked.text() else []
    if not names or not names[0].startswith(LINE_MARK):
        return 0
    return int(names[0].removeprefix(LINE_MARK)) + block.blockNumber() - marked.blockNumber()


@dataclass(slots=True)
class Part:
    """A further frame of a row."""

    frame: QTextFrame
    what: object = None
    """What stands in it (`Piece`), where it does not stand as it comes."""
    kind: Literal["prose", "thought", "tail", "gone"] = "prose"
    is_away: bool = False
    """What stood in it was taken out of the document, and is drawn anew when somebody comes near."""


def new_frame(cursor: QTextCursor) -> QTextFrame:
    frame = cursor.insertFrame(QTextFrameFormat())
    assert frame is not None
    return frame


def take_out(parts: Iterable[Part]) -> None:
    for part in parts:
        part.kind, frame = "gone", part.frame
        cursor = frame.firstCursorPosition()
        cursor.setPosition(frame.firstPosition() - 1)
        cursor.setPosition(frame.lastPosition() + 1, QTextCursor.MoveMode.KeepAnchor)
        cursor.removeSelectedText()


def blocks_of(frame: QTextFrame) -> list[QTextBlock]:
    """The blocks of a frame itself, and of tables that were written within the same edit."""
    place, found = frame.begin(), []
    while not place.atEnd():
        if place.currentFrame() is None:
            found.append(place.currentBlock())
        place += 1
    return found


def links_between(document: QTextDocument, first: int, last: int) -> Iterator[tuple[str, QTextCursor]]:
    """Each link between two positions: its address, and a cursor that has it chosen."""
    block = document.findBlock(first)
    while block.isValid() and block.position() <= last:
        place = block.begin()
        while not place.atEnd():
            piece = place.fragment()
            if (address := piece.charFormat().anchorHref()) and piece.position() >= first:
                cursor = QTextCursor(document)
                cursor.setPosition(piece.position())
                cursor.setPosition(piece.position() + piece.length(), QTextCursor.MoveMode.KeepAnchor)
                yield address, cursor
            place += 1
        block = block.next()


def is_line_of_code(block: QTextBlock) -> bool:
    """Whether its line is seen: of code also an empty one, but the one that Qt puts behind the last."""
    after = block.next()  # code alone has a font of its own
    return bool(block.charFormat().fontFamilies() and after.isValid() and after.charFormat().fontFamilies())


def flatten(block: QTextBlock) -> None:
    """Take the height from an empty block that Qt needs and nobody wants to see."""
    if block.text():
        return
    look = QTextBlockFormat()
    look.setLineHeight(1, QTextBlockFormat.LineHeightTypes.FixedHeight.value)  # type: ignore[arg-type]
    QTextCursor(block).setBlockFormat(look)
