"""One trace above the plot: a sample of its line and its name, clicked, dragged, edited, taken away."""

from __future__ import annotations

from PyQt6.QtCore import QEvent, QPoint, QPointF, QRect, QRectF, QSize, Qt, pyqtSignal
from PyQt6.QtGui import (
    QContextMenuEvent,
    QEnterEvent,
    QFontMetrics,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
)
from PyQt6.QtWidgets import QAbstractButton

from presentation.ui.figure_table import is_delete
from presentation.ui.workspace import WindowServices
from shared.message import Message, msg

_COLORS = 8
_MOST_SOLID = 4
_WIDEST = 220
_SAMPLE = 12


class TraceChip(QAbstractButton):
    """One trace. A click draws it stronger, a double click edits it, Delete or the cross takes it away."""

    touched = pyqtSignal()
    """a button of the mouse was pressed on it"""
    removed = pyqtSignal()
    edit_wanted = pyqtSignal()
    place_wanted = pyqtSignal()
    """Alt or Shift and a click: where does it stand in the circuit?"""
    dropped = pyqtSignal(QPoint)
    """It was dragged to a place on the screen"""
    pulled = pyqtSignal(QPoint)
    """It is being dragged there"""
    menu_wanted = pyqtSignal(QPoint)
    """on the screen"""
    figures_wanted = pyqtSignal()

    def __init__(
        self,
        services: WindowServices,
        expression: str,
        color: int,
        error: Message | None = None,
        *,
        can_be_removed: bool = True,
    ) -> None:
        super().__init__()
        self._can_be_removed = can_be_removed
        self._hint: Message | None = None
        self._name = self._line = ""
        self._is_right = False
        self._services = services
        self._color = color
        self._error = error
        self._has_mouse = False
        self.setText(expression)
        self.setCheckable(True)
        self.setObjectName(f"trace:{expression}")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setMouseTracking(True)
        self.retranslate()

    @property
    def trace(self) -> tuple[str, int, Message | None]:
        """Expression, colour and error it was made of."""
        return self.text(), self._color, self._error

    @property
    def shown_text(self) -> str:
        """What the user calls it, else its expression."""
        return self._name or self.text()

    def set_look(self, name: str, line: str, is_right: bool = False) -> None:
        """`name` and `line` ("solid", "dashed", "dotted") that were chosen; "" for what is usual.

        `is_right`: it is read at a right axis, which an arrow says.
        """
        if (name, line, is_right) != (self._name, self._line, self._is_right):
            self._name, self._line, self._is_right = name, line, is_right
            self.setAccessibleName(self.shown_text)
            self.updateGeometry()
            self.update()

    @property
    def _painted_text(self) -> str:
        return f"{self.shown_text} \N{RIGHTWARDS ARROW}" if self._is_right else self.shown_text

    def set_hint(self, hint: Message) -> None:
        self._hint = hint
        self.retranslate()

    def retranslate(self) -> None:
        told = self._hint if self._error is None else self._error
        if told is not None:
            self.setToolTip(self._services.language(told))
        else:
            self.setToolTip(
                self._services.language(
                    msg("{expression}: click to highlight, Delete removes it", expression=self.text())
                )
            )
        self.setAccessibleName(self.shown_text)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        theme = self._services.theme.theme
        width = QFontMetrics(theme.font("ui")).horizontalAdvance(self._painted_text)
        sample = round(_SAMPLE * theme.scale) + theme.size("space.1") + theme.size("space.half")
        most = round(_WIDEST * theme.scale)
        width = min(width, most) + sample + 2 * theme.size("space.2") + self._cross_room
        return QSize(width, theme.size("control.height_small") - 4)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Chips don't shrink; the row wraps."""
        return self.sizeHint()

    def paintEvent(self, _event: QPaintEvent | None) -> None:  # noqa: N802 - Qt's name
        """Frame, line sample, text; the cross over its end while the mouse is here."""
        theme = self._services.theme.theme
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        frame = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        is_pressed = self.isChecked() and self._can_be_removed
        # One that shows and hides its line is quiet while the line is there.
        is_off = self._error is not None or not (self._can_be_removed or self.isChecked())
        surface = "surface.pressed" if is_pressed else "surface.hover" if self._has_mouse else "surface.base"
        has_ring = self.hasFocus() and bool(self.property("kbdFocus"))
        painter.setPen(theme.color("focus_ring" if has_ring else "border.default"))
        painter.setBrush(theme.color(surface))
        radius = theme.size("radius.control")
        painter.drawRoundedRect(frame, radius, radius)
        left = theme.size("space.2")
        sample = round(_SAMPLE * theme.scale)
        middle = self.rect().center().y() + 0.5
        pen = QPen(theme.color("text.disabled" if is_off else f"trace.{self._color % _COLORS}"), 2)
        if self._line in ("dashed", "dotted"):
            pen.setDashPattern([2.0, 1.0] if self._line == "dashed" else [1.0, 1.0])
        elif self._color >= _MOST_SOLID and not self._line:
            pen.setDashPattern([2.0, 1.0] if self._color < _COLORS else [1.0, 1.0])
        painter.setPen(pen)
        painter.drawLine(QPointF(left, middle), QPointF(left + sample, middle))
        painter.setFont(theme.font("ui"))
        painter.setPen(theme.color("text.tertiary" if is_off else "text.primary"))
        start = left + sample + theme.size("space.1") + theme.size("space.half")
        room = self.width() - start - theme.size("space.2") - self._cross_room
        text = painter.fontMetrics().elidedText(self._painted_text, Qt.TextElideMode.ElideMiddle, room + 1)
        painter.drawText(QRect(start, 0, room + 2, self.height()), Qt.AlignmentFlag.AlignVCenter, text)
        if self._has_mouse and self._can_be_removed:
            cross = self._cross()
            side = theme.size("icon.small")
            icon = self._services.icons.get("x", "text.secondary", side)
            icon.paint(painter, cross)

    def mouseMoveEvent(self, event: QMouseEvent | None) -> None:  # noqa: N802 - Qt's name
        """A chip that is pulled out of its place can be laid on another one, or on a pane."""
        if event is not None and self._can_be_removed and event.buttons() & Qt.MouseButton.LeftButton:
            is_inside = self.rect().contains(event.position().toPoint())
            self.setCursor(Qt.CursorShape.ArrowCursor if is_inside else Qt.CursorShape.ClosedHandCursor)
            self.pulled.emit(event.globalPosition().toPoint())
        super().mouseMoveEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent | None) -> None:  # noqa: N802 - Qt's name
        if event is not None and self._can_be_removed:
            self.unsetCursor()
            is_inside = self.rect().contains(event.position().toPoint())
            is_left = event.button() == Qt.MouseButton.LeftButton
            held = Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.ShiftModifier
            if is_left and (not is_inside or event.modifiers() & held):
                self.setDown(False)
                if is_inside:
                    self.place_wanted.emit()
                else:
                    self.dropped.emit(event.globalPosition().toPoint())
                return
            is_cross = event.button() == Qt.MouseButton.LeftButton and self._cross().contains(
                event.position().toPoint()
            )
            if is_inside and (is_cross or event.button() == Qt.MouseButton.MiddleButton):
                self.setDown(False)
                self.removed.emit()
                return
        super().mouseReleaseEvent(event)

    def mousePressEvent(self, event: QMouseEvent | None) -> None:  # noqa: N802 - Qt's name
        """With Ctrl: the figures of the shown span."""
        self.touched.emit()
        is_asked = event is not None and bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        if is_asked and self._can_be_removed:
            self.figures_wanted.emit()
        else:
            super().mousePressEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent | None) -> None:  # noqa: N802 - Qt's name
        if event is not None and event.button() == Qt.MouseButton.LeftButton and self._can_be_removed:
            self.edit_wanted.emit()
        else:
            super().mouseDoubleClickEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent | None) -> None:  # noqa: N802 - Qt's name
        if event is not None and self._can_be_removed:
            self.menu_wanted.emit(event.globalPos())

    def keyPressEvent(self, event: QKeyEvent | None) -> None:  # noqa: N802 - Qt's name
        """Delete removes it; F2 edits it."""
        if self._can_be_removed and event is not None and event.key() == Qt.Key.Key_F2:
            self.edit_wanted.emit()
        elif self._can_be_removed and is_delete(event):
            self.removed.emit()
        else:
            super().keyPressEvent(event)

    def enterEvent(self, event: QEnterEvent | None) -> None:  # noqa: N802 - Qt's name
        self._has_mouse = True
        self.update()
        super().enterEvent(event)

    def leaveEvent(self, event: QEvent | None) -> None:  # noqa: N802 - Qt's name
        self._has_mouse = False
        self.update()
        super().leaveEvent(event)

    @property
    def _cross_room(self) -> int:
        """The cross never covers the name."""
        return self._services.theme.theme.size("icon.small") if self._can_be_removed else 0

    def _cross(self) -> QRect:
        side = self._services.theme.theme.size("icon.default") + self._services.theme.theme.size("space.1")
        return QRect(self.width() - side, 0, side, self.height())
