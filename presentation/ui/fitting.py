"""How large a dialog is: as high as what it shows needs at its width, and never below the screen's edge."""

from __future__ import annotations

from PyQt6.QtCore import QSize, Qt
from PyQt6.QtWidgets import QDialog, QFrame, QLayout, QScrollArea, QWidget

from presentation.ui.styles import mark


class ScrolledParts(QScrollArea):
    """The parts of a dialog above its buttons; they scroll where the screen is too low for all of them."""

    def __init__(self, parts: QLayout) -> None:
        super().__init__()
        self._parts = parts
        content = QWidget()
        content.setLayout(parts)
        mark(content, surface="raised")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setWidget(content)

    def hasHeightForWidth(self) -> bool:  # noqa: N802 - Qt's name
        return True

    def heightForWidth(self, width: int) -> int:  # noqa: N802 - Qt's name
        """What all parts need: a scroll area of Qt's asks for a part of it."""
        self._parts.invalidate()
        found = self._parts.totalHeightForWidth(width) if self._parts.hasHeightForWidth() else -1
        return max(found, self._parts.totalMinimumSize().height())

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        width = self._parts.totalSizeHint().width()
        return QSize(width, self.heightForWidth(width))

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Wide enough for every part beside a scroll bar."""
        bar = self.verticalScrollBar()
        beside = 0 if bar is None else bar.sizeHint().width()
        return QSize(self._parts.totalMinimumSize().width() + beside, super().minimumSizeHint().height())


def height_at(dialog: QDialog, width: int) -> int:
    """Pixels that all of its parts need at this width, with what they show now."""
    layout = dialog.layout()
    assert layout is not None, "it has its parts"
    for part in dialog.findChildren(QWidget):
        part.updateGeometry()  # Qt tells layouts of layouts later, and this is asked now
    layout.invalidate()
    return (
        layout.totalHeightForWidth(width) if layout.hasHeightForWidth() else layout.totalSizeHint().height()
    )


def fit(dialog: QDialog, width: int, height: int, *, may_shrink: bool = False) -> None:
    """Grow to this size, upwards where the screen ends; it gets smaller only when `may_shrink`."""
    if not may_shrink:
        width, height = max(width, dialog.width()), max(height, dialog.height())
    screen = dialog.screen()
    if screen is None:
        dialog.resize(width, height)
        return
    room, frame = screen.availableGeometry(), dialog.frameGeometry()
    width = min(width, room.width() - (frame.width() - dialog.width()))
    height = min(height, room.height() - (frame.height() - dialog.height()))
    if not dialog.isVisible():
        dialog.resize(width, height)
        return
    right, bottom = frame.right() + width - dialog.width(), frame.bottom() + height - dialog.height()
    left = max(min(frame.left(), frame.left() + room.right() - right), room.left())
    top = max(min(frame.top(), frame.top() + room.bottom() - bottom), room.top())
    if (left, top) != (frame.left(), frame.top()):
        dialog.move(left, top)
    dialog.resize(width, height)
