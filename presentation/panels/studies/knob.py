"""One tuned value: name, ends, a slider over the values it may have, a field for any other."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence

from PyQt6.QtCore import QPointF, QRectF, QSize, Qt, pyqtSignal
from PyQt6.QtGui import QPainter, QPaintEvent, QPen
from PyQt6.QtWidgets import QHBoxLayout, QLineEdit, QSlider, QWidget

from domain.circuit.numbers import format_number, parse_number
from domain.studies.setup import number
from presentation.ui.parts import arrange, text_label
from presentation.ui.styles import mark
from presentation.ui.workspace import WindowServices

_KNOB = 14
DIGITS = 6
"""Of a value as it is shown and written."""


class StepSlider(QSlider):
    """A slider whose places are values; a tick stands at the file's, the way from there is in the accent."""

    def __init__(self, services: WindowServices, steps: Sequence[float], written: float) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self._services = services
        self._steps = steps
        self._written = written
        self.setRange(0, max(len(steps) - 1, 0))
        self.setSingleStep(1)
        self.setPageStep(10)
        services.theme.changed.connect(self._on_theme)  # a method: the connection ends with the widget

    def _on_theme(self, _theme: object) -> None:
        self.update()

    def nearest(self, value: float) -> int:
        """The place next to a value."""
        at = bisect_left(self._steps, value)
        near = [place for place in (at - 1, at) if 0 <= place < len(self._steps)]
        return min(near, key=lambda place: abs(self._steps[place] - value), default=0)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        return QSize(160, 24)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        return QSize(60, 24)

    def _x_of(self, place: float) -> float:
        room = self.width() - _KNOB - 2
        return 1 + _KNOB / 2 + (place / max(self.maximum(), 1)) * room

    def _place_at(self, x: float) -> int:
        room = max(self.width() - _KNOB - 2, 1)
        return round(min(max((x - 1 - _KNOB / 2) / room, 0.0), 1.0) * self.maximum())

    def mousePressEvent(self, event: object) -> None:  # noqa: N802 - Qt's name
        """The knob jumps to the pointer and follows it."""
        if event is not None and event.button() == Qt.MouseButton.LeftButton:  # type: ignore[attr-defined]
            self.setSliderDown(True)
            self.setSliderPosition(self._place_at(event.position().x()))  # type: ignore[attr-defined]
            self.setFocus(Qt.FocusReason.MouseFocusReason)

    def mouseMoveEvent(self, event: object) -> None:  # noqa: N802 - Qt's name
        if event is not None and self.isSliderDown():
            self.setSliderPosition(self._place_at(event.position().x()))  # type: ignore[attr-defined]

    def mouseReleaseEvent(self, event: object) -> None:  # noqa: N802 - Qt's name
        if event is not None and self.isSliderDown():
            self.setSliderDown(False)

    def paintEvent(self, _event: QPaintEvent | None) -> None:  # noqa: N802 - Qt's name
        """Track, the way from the file's value, its tick, the knob."""
        painter, theme = QPainter(self), self._services.theme.theme
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        middle = self.height() / 2
        left, right = self._x_of(0), self._x_of(self.maximum())
        painter.fillRect(QRectF(left, middle - 1, right - left, 2), theme.color("border.default"))
        is_on = self.isEnabled()
        here = self._x_of(self.value())
        if not math.isnan(self._written):
            written = self._x_of(self.nearest(self._written))
            first, last = sorted((written, here))
            color = theme.color("accent.base" if is_on else "text.disabled")
            painter.fillRect(QRectF(first, middle - 1, last - first, 2), color)
            painter.fillRect(QRectF(written, middle - 6, 1, 12), theme.color("text.secondary"))
        ring = theme.color("focus_ring" if self.hasFocus() else "accent.base")
        painter.setPen(QPen(ring if is_on else theme.color("text.disabled"), 2))
        painter.setBrush(theme.color("surface.base"))
        painter.drawEllipse(QPointF(here, middle), _KNOB / 2 - 1, _KNOB / 2 - 1)
        if self.hasFocus() and self.property("kbdFocus"):
            painter.drawEllipse(QPointF(here, middle), _KNOB / 2 - 4, _KNOB / 2 - 4)


class Knob(QWidget):
    """The row. `moved` comes with each change, True while the slider is still held."""

    moved = pyqtSignal(bool)

    def __init__(
        self, services: WindowServices, name: str, steps: Sequence[float], written: float, value: float
    ) -> None:
        super().__init__()
        self._services = services
        self.name = name
        self.written = written
        self.steps = steps
        self._value = value
        self.setObjectName(f"knob:{name}")
        self._name = text_label(name, role="mono")
        low, high = (format_number(each, 3) for each in (steps[0], steps[-1])) if steps else ("", "")
        self._low, self._high = text_label(low, role="tertiary"), text_label(high, role="tertiary")
        self.slider = StepSlider(services, steps, written)
        self.slider.setObjectName(f"slider:{name}")
        self.slider.setAccessibleName(name)
        self.slider.setValue(self.slider.nearest(value))
        self.field = QLineEdit(format_number(value, DIGITS))
        self.field.setObjectName(f"value:{name}")
        self.field.setAccessibleName(name)
        mark(self.field, small=True)
        self.slider.valueChanged.connect(self._on_slider)
        self.slider.sliderReleased.connect(lambda: self.moved.emit(False))
        self.field.editingFinished.connect(self._on_field)
        self._row = arrange(
            QHBoxLayout(self), self._name, self._low, (self.slider, 1), self._high, self.field
        )
        services.theme.changed.connect(self.restyle)
        self.restyle()

    @property
    def value(self) -> float:
        return self._value

    @property
    def text(self) -> str:
        """As it would be written."""
        return format_number(self._value, DIGITS)

    @property
    def is_changed(self) -> bool:
        """Whether writing it would make a difference."""
        same = (self._value, parse_number(self.text))
        return not any(math.isclose(each, self.written, rel_tol=1e-9) for each in same)

    def set_value(self, value: float) -> None:
        """Without a word to others."""
        self._value = value
        self.slider.blockSignals(True)
        self.slider.setValue(self.slider.nearest(value))
        self.slider.blockSignals(False)
        self.slider.update()
        self.field.setText(self.text)
        mark(self.field, state="")

    def hold(self, place: float) -> None:
        """A hand that is elsewhere moves the slider to a place."""
        self.slider.setSliderDown(True)
        self.slider.setSliderPosition(round(place))

    def let_go(self, value: float | None = None) -> None:
        """That hand is gone; with a `value` it has given up and that one comes back."""
        if value is not None:
            self.set_value(value)
        self.slider.setSliderDown(False)

    def restyle(self, _theme: object = None) -> None:
        theme = self._services.theme.theme
        arrange(self._row, edges=0, gap=theme.size("space.2"))
        self.setFixedHeight(theme.size("control.height_small") + 2)
        self._name.setMinimumWidth(round(44 * theme.scale))
        self.field.setFixedWidth(round(72 * theme.scale))
        self.field.setFont(theme.font("mono_small"))
        for label in (self._low, self._high):
            label.setFont(theme.font("mono_small"))
            label.setMinimumWidth(round(38 * theme.scale))
        self._low.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)

    def _on_slider(self, place: int) -> None:
        self._value = self.steps[place]
        self.field.setText(self.text)
        mark(self.field, state="")
        self.moved.emit(self.slider.isSliderDown())

    def _on_field(self) -> None:
        value = number(self.field.text())
        mark(self.field, state="error" if value is None else "")
        if value is not None and not math.isclose(value, self._value, rel_tol=1e-12):
            self.set_value(value)
            self.moved.emit(False)
