"""The document of the plain view: the browser that shows it, and the frames its rows stand in."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

from PyQt6.QtCore import QUrl
from PyQt6.QtGui import QTextBlock, QTextBlockFormat, QTextCursor, QTextFrame, QTextFrameFormat
from PyQt6.QtWidgets import QTextBrowser, QWidget

from presentation.panels.conversation.charts import Chart
from presentation.panels.conversation.plain_parts import ICON_SIDE, bar_picture, chart_picture
from presentation.ui.workspace import WindowServices


class Browser(QTextBrowser):
    """A text whose icons and bars are drawn when they are needed, sharp on its screen."""

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

    def loadResource(self, kind: int, name: QUrl) -> Any:  # noqa: N802 - Qt's name
        """The picture of an address of our own; nothing is loaded from anywhere else but the text itself."""
        ratio = self.devicePixelRatioF()
        if name.scheme() == "icon":
            return self._services.icons.pixmap(name.path(), name.query(), ICON_SIDE, ratio=ratio)
        if name.scheme() == "chart":
            chart = self._chart_of(name.path())
            return None if chart is None else chart_picture(self._services.theme.theme, chart, ratio)
        if name.scheme() == "bar":
            return bar_picture(self._services.theme.theme, float(name.path()), name.query(), ratio)
        return super().loadResource(kind, name) if name.scheme() == "data" else None


@dataclass(slots=True)
class Part:
    """A further frame of a row."""

    frame: QTextFrame
    what: object = None
    """What stands in it (`Piece`), where it does not stand as it comes."""
    kind: Literal["prose", "thought", "tail", "gone"] = "prose"


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
    """The blocks of a frame itself, without those in its tables."""
    place, found = frame.begin(), []
    while not place.atEnd():
        if place.currentFrame() is None:
            found.append(place.currentBlock())
        place += 1
    return found


def flatten(block: QTextBlock) -> None:
    """Take the height from an empty block that Qt needs and nobody wants to see."""
    if block.text():
        return
    look = QTextBlockFormat()
    look.setLineHeight(1, QTextBlockFormat.LineHeightTypes.FixedHeight.value)  # type: ignore[arg-type]
    QTextCursor(block).setBlockFormat(look)
