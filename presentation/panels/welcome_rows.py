"""Rows of the welcome page: something to press, an example with its curve, a heading with rows below it."""

from __future__ import annotations

from collections.abc import Sequence

from PyQt6.QtCore import QPoint, QPointF, QRect, QRectF, Qt, pyqtSignal
from PyQt6.QtGui import (
    QFontMetrics,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPolygonF,
)
from PyQt6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from presentation.look import tokens
from presentation.ui.parts import arrange
from presentation.ui.styles import mark
from presentation.ui.workspace import WindowServices
from shared.message import Message, msg


class _Pressable(QWidget):
    """What is pressed as a whole, by the mouse or the keyboard."""

    pressed = pyqtSignal()

    def __init__(self, services: WindowServices) -> None:
        super().__init__()
        self._services = services
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def mouseReleaseEvent(self, event: QMouseEvent | None) -> None:  # noqa: N802 - Qt's name
        if event is not None and self.rect().contains(event.position().toPoint()):
            self.pressed.emit()

    def keyPressEvent(self, event: QKeyEvent | None) -> None:  # noqa: N802 - Qt's name
        if event is not None and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.pressed.emit()
        else:
            super().keyPressEvent(event)


class Row(_Pressable):
    """A line to press: icon, text, and something dimmed at the right."""

    def __init__(
        self,
        services: WindowServices,
        icon: str,
        text: Message,
        *,
        detail: Message | None = None,
        key: str = "",
        color: str = "text.secondary",
    ) -> None:
        super().__init__(services)
        self._color = color
        self._icon, self._text, self._detail, self._key = icon, text, detail, key
        services.theme.changed.connect(self._restyle)
        services.language.changed.connect(self._restyle)
        self._restyle()

    def _restyle(self, _changed: object = None) -> None:
        theme = self._services.theme.theme
        name = "row.list_two_line" if self._detail is not None else "row.list"
        lines = 2 if self._detail is not None else 1
        height = QFontMetrics(theme.font("ui")).height() * lines + theme.size("space.2")
        self.setFixedHeight(max(theme.size(name), height))
        text = self._services.language(self._text)
        self.setAccessibleName(text)
        self.setToolTip(text if self._detail is None else self._services.language(self._detail))
        self.update()

    def paintEvent(self, _event: QPaintEvent | None) -> None:  # noqa: N802 - Qt's name
        theme, language = self._services.theme.theme, self._services.language
        painter = QPainter(self)
        if self.underMouse() or (self.hasFocus() and self.property("kbdFocus")):
            painter.fillRect(self.rect(), theme.color("surface.hover"))
        side, gap = theme.size("icon.default"), theme.size("space.2")
        icon = self._services.icons.get(self._icon, self._color, side)
        icon.paint(painter, 0, (self.height() - side) // 2, side, side)
        rect = self.rect().adjusted(side + gap, 0, 0, 0)
        if self._key:
            painter.setFont(theme.font("caption"))
            painter.setPen(theme.color("text.tertiary"))
            painter.drawText(rect, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, self._key)
            rect.setRight(
                rect.right() - QFontMetrics(theme.font("caption")).horizontalAdvance(self._key) - gap
            )
        parts = [(language(self._text), theme.font("ui"), "text.primary")]
        if self._detail is not None:
            parts.append((language(self._detail), theme.font("small"), "text.secondary"))
        heights = [QFontMetrics(font).height() for _, font, _ in parts]
        top = (self.height() - sum(heights)) // 2
        for (text, font, color), height in zip(parts, heights, strict=True):
            painter.setFont(font)
            painter.setPen(theme.color(color))
            shown = QFontMetrics(font).elidedText(text, Qt.TextElideMode.ElideMiddle, rect.width())
            baseline = top + QFontMetrics(font).ascent()
            painter.drawText(QPoint(rect.left(), baseline), shown)
            top += height


class Part(QWidget):
    """A heading and rows below it, exchanged as a whole."""

    def __init__(
        self,
        services: WindowServices,
        title: Message,
        note: Message | None = None,
        *,
        is_lined: bool = False,
    ) -> None:
        """`is_lined`: a line below the heading."""
        super().__init__()
        self._services = services
        self._title, self._note = title, note
        self._heading, self._side = QLabel(), QLabel()
        mark(self._heading, role="heading")
        mark(self._side, role="small")
        self._head = QWidget()
        self._head.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        if is_lined:
            mark(self._head, line="bottom")
        arrange(QHBoxLayout(self._head), self._heading, 1, self._side)
        self._rows = QVBoxLayout()
        self._rows.setSpacing(0)
        self._column = arrange(QVBoxLayout(self), self._head, self._rows, edges=0)
        services.language.changed.connect(self._retranslate)
        services.theme.changed.connect(self._restyle)
        self._restyle()
        self._retranslate()

    def set_rows(self, rows: Sequence[QWidget]) -> None:
        while (item := self._rows.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.deleteLater()
        for row in rows:
            self._rows.addWidget(row)

    def _restyle(self, _theme: object = None) -> None:
        theme = self._services.theme.theme
        head = self._head.layout()
        if head is not None:
            head.setContentsMargins(0, 0, 0, theme.size("space.1"))
        self._column.setSpacing(theme.size("space.half"))

    def _retranslate(self, _name: str = "") -> None:
        self._heading.setText(self._services.language(self._title))
        self._side.setText("" if self._note is None else self._services.language(self._note))


class ExampleRow(_Pressable):
    """An example to press: a small curve, title and detail, its analyses at the right, a line below."""

    def __init__(
        self, services: WindowServices, title: Message, detail: Message, analyses: str, curve: Sequence[int]
    ) -> None:
        """`curve`: heights at evenly spaced places, 0 to 1000; nothing for none."""
        super().__init__(services)
        self._title, self._detail, self._analyses, self._curve = title, detail, analyses, tuple(curve)
        services.theme.changed.connect(self._restyle)
        services.language.changed.connect(self._restyle)
        self._restyle()

    def _restyle(self, _changed: object = None) -> None:
        theme, language = self._services.theme.theme, self._services.language
        lines = QFontMetrics(theme.font("ui")).height() + QFontMetrics(theme.font("small")).height()
        self.setFixedHeight(max(theme.size("row.example"), lines + theme.size("space.4")))
        self.setAccessibleName(f"{language(self._title)}. {language(self._detail)}")
        self.setToolTip(language(msg("Copy this example into a folder and open it")))
        self.update()

    def paintEvent(self, _event: QPaintEvent | None) -> None:  # noqa: N802 - Qt's name
        theme, language = self._services.theme.theme, self._services.language
        painter = QPainter(self)
        if self.underMouse() or (self.hasFocus() and self.property("kbdFocus")):
            painter.fillRect(self.rect(), theme.color("surface.hover"))
        painter.fillRect(0, self.height() - 1, self.width(), 1, theme.color("border.subtle"))
        edge, gap = theme.size("space.2"), theme.size("space.4")
        frame = QRect(0, edge, (self.height() - 2 * edge) * 5 // 2, self.height() - 2 * edge - 1)
        self._draw_curve(painter, frame)
        small = QFontMetrics(theme.font("small"))
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("text.secondary"))
        rect = self.rect().adjusted(frame.right() + gap, 0, -1, 0)
        flags = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(rect, flags, self._analyses)
        rect.setRight(rect.right() - small.horizontalAdvance(self._analyses) - gap)
        parts = (
            (language(self._title), theme.font("ui", weight=500), "text.primary"),
            (language(self._detail), theme.font("small"), "text.secondary"),
        )
        heights = [QFontMetrics(font).height() for _, font, _ in parts]
        top = (self.height() - sum(heights)) // 2
        for (text, font, color), height in zip(parts, heights, strict=True):
            metrics = QFontMetrics(font)
            painter.setFont(font)
            painter.setPen(theme.color(color))
            shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, rect.width())
            painter.drawText(QPoint(rect.left(), top + metrics.ascent()), shown)
            top += height

    def _draw_curve(self, painter: QPainter, frame: QRect) -> None:
        theme = self._services.theme.theme
        painter.fillRect(frame, theme.color("plot.background"))
        painter.setPen(theme.color("border.default"))
        painter.drawRect(frame.adjusted(0, 0, -1, -1))
        if len(self._curve) < 2:
            return
        inner = QRectF(frame).adjusted(1, theme.size("space.1"), -2, -theme.size("space.1") - 1)
        step = inner.width() / (len(self._curve) - 1)
        line = QPolygonF(
            QPointF(inner.left() + step * i, inner.bottom() - inner.height() * height / 1000)
            for i, height in enumerate(self._curve)
        )
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(theme.color("trace.0"), float(tokens()["plot_style"]["line_width"])))
        painter.drawPolyline(line)
        painter.restore()


class Note(QLabel):
    """A sentence in place of rows."""

    def __init__(self, services: WindowServices, text: Message) -> None:
        super().__init__()
        self._services, self._text = services, text
        self.setWordWrap(True)
        mark(self, role="secondary")
        services.language.changed.connect(self._retranslate)
        self._retranslate()

    def _retranslate(self, _name: str = "") -> None:
        self.setText(self._services.language(self._text))
