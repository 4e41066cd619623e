"""The drawing on the screen: painted from the display list, moved and zoomed, its parts and nets picked."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PyQt6.QtCore import QEvent, QPoint, QPointF, QRectF, Qt
from PyQt6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPolygonF,
    QResizeEvent,
    QWheelEvent,
)
from PyQt6.QtWidgets import QWidget

from domain.circuit.schematic.finding import place_of_net
from domain.circuit.schematic.judging import spans_of
from presentation.panels.schematic.hit import Hit
from presentation.panels.schematic.lifting import Lifting
from presentation.panels.schematic.pointing import Pointing
from presentation.ui.signals import Signal, signal

if TYPE_CHECKING:
    from domain.circuit.schematic.display import Drawing, Symbol, Text
    from domain.circuit.schematic.symbols import Stroke
    from presentation.ui.workspace import WindowServices

UNIT = 16.0
"""Pixels of a grid unit at 100 %."""
_LEAST, _MOST = 0.05, 6.0
_STEP = 1.2
_MARGIN = 24
_WIDER = 1.3
"""How much wider than reckoned a text may be: short ones of wide letters are, and have room."""
_LETTER = 0.6
"""Of the type's size: the width of a letter."""
_NEAR = 0.5
"""Grid units within which a wire is meant."""
_WIRE, _SYMBOL, _BAR, _DOT = 1.5, 1.75, 2.5, 3.0
_EDGE = 0.1
"""Around what is selected, in units of the grid: the texts beside a part are not to be covered."""
_COLORS = {
    "name": "text.primary", "value": "syntax.value", "net": "syntax.element", "flag": "syntax.element",
    "rail": "syntax.element", "title": "text.primary", "figure": "running.text",
}  # fmt: skip


class SchematicCanvas(QWidget):
    """Shows one drawing."""

    picked: Signal[str, str] = signal(str, str)
    """element, net: a click; both "" beside everything"""
    opened: Signal[str] = signal(str)
    """an element: a double click"""
    rested: Signal[str, str, QPoint] = signal(str, str, QPoint)
    """element, net, global place: the pointer stands still over it"""
    zoomed: Signal[[]] = signal()

    def __init__(self, services: WindowServices) -> None:
        super().__init__()
        self._services = services
        self.setObjectName("schematic_canvas")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.drawing: Drawing | None = None
        self.selected = Hit()
        self.zoom = 1.0
        self._origin = QPointF(0, 0)
        """Pixel of the grid's (0, 0)."""
        self._is_fitted = True
        """The whole is shown, also when the widget gets another size."""
        self._extra: tuple[Text, ...] = ()
        self._grip: QPointF | None = None
        self._moved = False
        self._is_pressed = False
        self.pointing = Pointing(services, self)
        self.lifting = Lifting(services, self)

    @property
    def widget(self) -> QWidget:
        return self

    def set_drawing(self, drawing: Drawing | None) -> None:
        """Another drawing; who has moved or zoomed stays where he is while it is the same page."""
        before, self.drawing = self.drawing, drawing
        self._extra = ()
        self.pointing.drop()
        self.lifting.drop()
        is_same = before is not None and drawing is not None and before.scope == drawing.scope
        if not is_same or before is None or drawing is None or before.title != drawing.title:
            self._is_fitted = True
            self.selected = Hit()  # an R2 of another circuit is another part
        if self._is_fitted:
            self.fit()
        self.update()

    def set_figures(self, texts: tuple[Text, ...]) -> None:
        """What was found about nets and elements, placed already."""
        self._extra = texts
        self.update()

    def select(self, hit: Hit) -> None:
        if hit != self.selected:
            self.selected = hit
            self.update()

    # ---- zoom and place

    def fit(self) -> None:
        """Show the whole drawing, at most at 150 %."""
        self._is_fitted = True
        if self.drawing is not None:
            left, top, right, bottom = self.drawing.bounds
            wide, high = max(right - left, 1.0) * UNIT, max(bottom - top, 1.0) * UNIT
            room_w, room_h = max(self.width() - 2 * _MARGIN, 40), max(self.height() - 2 * _MARGIN, 40)
            self.zoom = min(max(min(room_w / wide, room_h / high), _LEAST), 1.5)
            scale = UNIT * self.zoom
            self._origin = QPointF(
                (self.width() - (left + right) * scale) / 2, (self.height() - (top + bottom) * scale) / 2
            )
        self.zoomed.emit()
        self.update()

    def zoom_by(self, factor: float, at: QPointF | None = None) -> None:
        """Larger or smaller; the point `at` stays where it is."""
        at = at or QPointF(self.width() / 2, self.height() / 2)
        wanted = min(max(self.zoom * factor, _LEAST), _MOST)
        factor, self.zoom = wanted / self.zoom, wanted
        self._origin = at + (self._origin - at) * factor
        self._is_fitted = False
        self.zoomed.emit()
        self.update()

    def zoom_in(self) -> None:
        self.zoom_by(_STEP)

    def zoom_out(self) -> None:
        self.zoom_by(1 / _STEP)

    def reset_zoom(self) -> None:
        self.zoom_by(1 / self.zoom)

    def _pixel(self, x: float, y: float) -> QPointF:
        scale = UNIT * self.zoom
        return QPointF(self._origin.x() + x * scale, self._origin.y() + y * scale)

    def _grid(self, at: QPointF) -> tuple[float, float]:
        scale = UNIT * self.zoom
        return (at.x() - self._origin.x()) / scale, (at.y() - self._origin.y()) / scale

    # ---- what is where

    def hit(self, at: QPointF) -> Hit:
        """The element or net at a pixel."""
        if self.drawing is None:
            return Hit()
        x, y = self._grid(at)
        for symbol in self.drawing.symbols:
            left, top, right, bottom = symbol.body
            if left - 0.3 <= x <= right + 0.3 and top - 0.3 <= y <= bottom + 0.3:
                return Hit("" if symbol.kind == "port" else symbol.element, self._port_net(symbol))
        for text in (*self.drawing.texts, *self._extra):
            left, top, right, bottom = text.box
            if left <= x <= right and top <= y <= bottom and (text.element or text.net):
                return Hit(text.element, "" if text.element else text.net)
        for net, (x1, y1, x2, y2) in spans_of(self.drawing.wires):
            if x1 - _NEAR <= x <= x2 + _NEAR and y1 - _NEAR <= y <= y2 + _NEAR:
                return Hit("", net)
        for mark in self.drawing.marks:
            left, top, right, bottom = mark.box
            if left <= x <= right and top <= y <= bottom:
                return Hit("", mark.net)
        return Hit()

    def _port_net(self, symbol: Symbol) -> str:
        return symbol.element.lower() if symbol.kind == "port" else ""

    def symbol_of(self, element: str) -> Symbol | None:
        if self.drawing is None:
            return None
        return next((each for each in self.drawing.symbols if each.element == element), None)

    def is_subcircuit(self, element: str) -> bool:
        symbol = self.symbol_of(element)
        return symbol is not None and bool(symbol.inside)

    def center_of(self, element: str) -> QPointF | None:
        """The pixel of an element's middle."""
        symbol = self.symbol_of(element)
        if symbol is None:
            return None
        left, top, right, bottom = symbol.body
        return self._pixel((left + right) / 2, (top + bottom) / 2)

    def body_of(self, element: str, by: tuple[int, int] = (0, 0)) -> QRectF:
        """The pixels of an element, that many columns and rows from where it stands."""
        symbol = self.symbol_of(element)
        if symbol is None:
            return QRectF()
        left, top, right, bottom = symbol.body
        dx, dy = by
        return QRectF(
            self._pixel(left - _EDGE + dx, top - _EDGE + dy),
            self._pixel(right + _EDGE + dx, bottom + _EDGE + dy),
        )

    def reveal(self, element: str, net: str = "") -> None:
        """Bring an element or a net into view, where it is not seen."""
        at = self.center_of(element)
        if at is None and net and self.drawing is not None:
            place = place_of_net(self.drawing, net)
            at = None if place is None else self._pixel(*place)
        if at is not None and not self.rect().toRectF().contains(at):
            self._move(QPointF(self.width() / 2, self.height() / 2) - at)

    # ---- events

    def resizeEvent(self, event: QResizeEvent | None) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        if self._is_fitted:
            self.fit()

    def wheelEvent(self, event: QWheelEvent | None) -> None:  # noqa: N802 - Qt's name
        if event is None:
            return
        turn = event.angleDelta()
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.zoom_by(_STEP ** (turn.y() / 120), event.position())
        else:
            is_aside = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            dx, dy = (turn.y(), 0) if is_aside else (turn.x(), turn.y())
            self._move(QPointF(dx / 2, dy / 2))
        event.accept()

    def _move(self, by: QPointF) -> None:
        self._origin += by
        self._is_fitted = False
        self.update()

    def mousePressEvent(self, event: QMouseEvent | None) -> None:  # noqa: N802 - Qt's name
        if event is None or event.button() not in (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton):
            return
        self._moved, self._is_pressed = False, True
        at, is_left = event.position(), event.button() == Qt.MouseButton.LeftButton
        if is_left and (self.pointing.press(at) or self.lifting.press(self.hit(at).element, at)):
            return
        self._grip = at

    def mouseMoveEvent(self, event: QMouseEvent | None) -> None:  # noqa: N802 - Qt's name
        if event is None:
            return
        if self._grip is not None:
            by = event.position() - self._grip
            if self._moved or by.manhattanLength() > 5:
                self._moved = True
                self._grip = event.position()
                self.setCursor(Qt.CursorShape.ClosedHandCursor)
                self._move(by)
            return
        if self.lifting.move(event.position(), UNIT * self.zoom):
            return
        self.pointing.move(event.position())
        self.setCursor(self.pointing.cursor(self.hit(event.position()), event.modifiers()))

    def mouseReleaseEvent(self, event: QMouseEvent | None) -> None:  # noqa: N802 - Qt's name
        if event is None or not self._is_pressed:  # the second release of a double click
            return
        self._is_pressed = False
        hit, is_left = self.hit(event.position()), event.button() == Qt.MouseButton.LeftButton
        if self.pointing.start and is_left and hit.net != self.pointing.start:
            self.pointing.release(event.position())
            return
        self.pointing.drop()
        if self.lifting.release():
            self._moved, self._is_fitted = True, False  # what was put somewhere stays under the pointer
        self._grip = None
        self.setCursor(self.pointing.cursor(hit, event.modifiers()))
        if not self._moved and is_left:
            self.select(hit)
            self.picked.emit(hit.element, hit.net)
            self.pointing.click(hit, event.modifiers())

    def mouseDoubleClickEvent(self, event: QMouseEvent | None) -> None:  # noqa: N802 - Qt's name
        if event is None:
            return
        hit = self.hit(event.position())
        if self.pointing.click_twice(hit):
            return
        if hit.element:
            self.opened.emit(hit.element)
        elif not hit.net:
            self.fit()

    def keyPressEvent(self, event: QKeyEvent | None) -> None:  # noqa: N802 - Qt's name
        if event is None:
            return
        acts: dict[Qt.Key, Callable[[], object]] = {
            Qt.Key.Key_Plus: self.zoom_in, Qt.Key.Key_Equal: self.zoom_in, Qt.Key.Key_Minus: self.zoom_out,
            Qt.Key.Key_0: self.reset_zoom,
            Qt.Key.Key_Left: lambda: self._move(QPointF(40, 0)),
            Qt.Key.Key_Right: lambda: self._move(QPointF(-40, 0)),
            Qt.Key.Key_Up: lambda: self._move(QPointF(0, 40)),
            Qt.Key.Key_Down: lambda: self._move(QPointF(0, -40)),
            **(self._nudges() if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else {}),
            Qt.Key.Key_N: lambda: self._step(1), Qt.Key.Key_P: lambda: self._step(-1),
        }  # fmt: skip
        act = acts.get(Qt.Key(event.key()))
        if act is None or event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            super().keyPressEvent(event)
        else:
            act()

    def _nudges(self) -> dict[Qt.Key, Callable[[], object]]:
        """Steps of the selected element by key."""
        element = self.selected.element
        steps = ((-1, 0), (1, 0), (0, -1), (0, 1))
        arrows = (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_Down)
        keys = dict(zip(arrows, steps, strict=True))
        return {key: partial(self.lifting.dropped.emit, element, *by) for key, by in keys.items() if element}

    def _step(self, way: int) -> None:
        """Select the next element, or the one before, from left to right."""
        if self.drawing is None:
            return
        names = [each.element for each in sorted(self.drawing.symbols, key=lambda each: each.body[:2])
                 if each.kind != "port"]  # fmt: skip
        if names:
            at = names.index(self.selected.element) + way if self.selected.element in names else 0
            hit = Hit(names[at % len(names)])
            self.select(hit)
            self.picked.emit(hit.element, "")

    def event(self, event: QEvent | None) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            hit = self.hit(QPointF(event.pos()))
            if hit.element or hit.net:
                self.rested.emit(hit.element, hit.net, event.globalPos())
            return True
        return super().event(event)

    # ---- painting

    def paintEvent(self, _event: QPaintEvent | None) -> None:  # noqa: N802 - Qt's name
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        theme = self._services.theme.theme
        painter.fillRect(self.rect(), theme.color("surface.base"))
        if self.drawing is None:
            return
        self._paint_grid(painter, theme.color("plot.grid_major"))
        self._paint_selection(painter)
        self._paint_wires(painter)
        self._paint_symbols(painter)
        for text in (*self.drawing.texts, *self._extra):
            self._paint_text(painter, text)
        self.lifting.paint(painter)
        if self.pointing.line is not None:
            painter.setPen(QPen(theme.color("accent.base"), 1.5, Qt.PenStyle.DashLine))
            painter.drawLine(*self.pointing.line)

    def _paint_grid(self, painter: QPainter, color: QColor) -> None:
        step = UNIT * self.zoom
        if step < 10:
            return
        painter.setPen(QPen(color, 1.5))
        x0, y0 = self._origin.x() % step, self._origin.y() % step
        columns, rows = int(self.width() / step) + 2, int(self.height() / step) + 2
        painter.drawPoints(
            QPolygonF(
                [QPointF(x0 + at * step, y0 + row * step) for at in range(columns) for row in range(rows)]
            )
        )

    def _paint_selection(self, painter: QPainter) -> None:
        box = self.body_of(self.selected.element)
        if box.isEmpty():
            return
        theme = self._services.theme.theme
        painter.setPen(QPen(theme.color("accent.base"), 1.5))
        painter.setBrush(theme.color("accent.subtle"))
        painter.drawRoundedRect(box, 3, 3)

    def _paint_wires(self, painter: QPainter) -> None:
        assert self.drawing is not None
        theme = self._services.theme.theme
        plain = QPen(theme.color("text.primary"), max(_WIRE * self.zoom, 1.0))
        chosen = QPen(theme.color("accent.base"), max(2.25 * self.zoom, 1.5))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for wire in self.drawing.wires:
            painter.setPen(chosen if wire.net == self.selected.net and wire.net else plain)
            painter.drawPolyline(QPolygonF([self._pixel(x, y) for x, y in wire.points]))
        for dot in self.drawing.dots:
            is_chosen = dot.net == self.selected.net and bool(dot.net)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("accent.base" if is_chosen else "text.primary"))
            radius = _DOT * self.zoom
            painter.drawEllipse(self._pixel(*dot.at), radius, radius)

    def _paint_symbols(self, painter: QPainter) -> None:
        assert self.drawing is not None
        theme = self._services.theme.theme
        plain, accent = theme.color("text.primary"), theme.color("accent.base")
        for symbol in self.drawing.symbols:
            color = accent if symbol.element == self.selected.element else plain
            self._paint_strokes(painter, symbol.strokes, color)
        for mark in self.drawing.marks:
            self._paint_strokes(painter, mark.strokes, accent if mark.net == self.selected.net else plain)

    def _paint_strokes(self, painter: QPainter, strokes: tuple[Stroke, ...], color: QColor) -> None:
        for stroke in strokes:
            points = QPolygonF([self._pixel(x, y) for x, y in stroke.points])
            if stroke.is_filled:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(color)
                painter.drawPolygon(points)
            else:
                width = (_BAR if stroke.is_bar else _SYMBOL) * self.zoom
                pen = QPen(color, max(width, 1.0))
                pen.setCapStyle(Qt.PenCapStyle.RoundCap)
                pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
                painter.setPen(pen)
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawPolyline(points)

    def _paint_text(self, painter: QPainter, text: Text) -> None:
        font = self._font(text)
        if font.pixelSize() < 5:
            return
        theme = self._services.theme.theme
        metrics = QFontMetricsF(font)
        at = self._pixel(*text.at)
        width = metrics.horizontalAdvance(text.text)
        room = (text.box[2] - text.box[0]) * UNIT * self.zoom
        lacking = width - room  # half a letter is seen nowhere: a name of two, "Cm", stays as large as others
        if width > _WIDER * room > 0 and lacking > _LETTER * font.pixelSize():  # a wider face than reckoned
            font.setPixelSize(max(round(font.pixelSize() * room / width), 1))
            metrics = QFontMetricsF(font)
            width = metrics.horizontalAdvance(text.text)
        left = at.x() - {"start": 0.0, "middle": width / 2, "end": width}[text.anchor]
        baseline = at.y() + (metrics.ascent() - metrics.descent()) / 2
        is_chosen = bool(text.net) and text.net == self.selected.net and not text.element
        color = "accent.text" if is_chosen else _COLORS.get(text.role, "text.secondary")
        painter.setFont(font)
        painter.setPen(theme.color(color))
        painter.drawText(QPointF(left, baseline), text.text)

    def _font(self, text: Text) -> QFont:
        theme = self._services.theme.theme
        is_mono = text.role in ("value", "net", "flag", "rail", "figure")
        font = theme.font("mono_small" if is_mono else "ui")
        if text.role in ("name", "title"):
            font.setWeight(QFont.Weight.DemiBold)
        font.setPixelSize(max(round((11 if is_mono else 12) * self.zoom), 1))
        return font
