"""How large a dialog is: as high as what it shows needs at its width, and never below the screen's edge."""

from __future__ import annotations

from PyQt6.QtWidgets import QDialog, QWidget


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
    if screen is None or not dialog.isVisible():
        dialog.resize(width, height)
        return
    room, frame = screen.availableGeometry(), dialog.frameGeometry()
    right, bottom = frame.right() + width - dialog.width(), frame.bottom() + height - dialog.height()
    left = max(min(frame.left(), frame.left() + room.right() - right), room.left())
    top = max(min(frame.top(), frame.top() + room.bottom() - bottom), room.top())
    if (left, top) != (frame.left(), frame.top()):
        dialog.move(left, top)
    dialog.resize(width, height)
