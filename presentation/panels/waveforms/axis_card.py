"""A small card at an axis: from, to, and how it goes; Enter takes it, Escape leaves it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from PyQt6.QtCore import QPoint, Qt, pyqtSignal
from PyQt6.QtGui import QKeyEvent
from PyQt6.QtWidgets import QApplication, QFrame, QHBoxLayout, QLineEdit, QPushButton, QVBoxLayout, QWidget

from domain.circuit.numbers import format_number, parse_number
from presentation.panels.waveforms.figures import shown_unit
from presentation.ui.parts import arrange, push_button, text_label
from presentation.ui.styles import mark
from presentation.ui.workspace import WindowServices
from shared.errors import CircuitAIError
from shared.message import Message, msg

SCALES: dict[str, Message] = {"linear": msg("Linear"), "log": msg("Logarithmic"), "dB": msg("dB")}
WAYS: dict[str, Message] = {
    "nyquist": msg("Nyquist plot"),
    "group_delay": msg("Group delay"),
    "against": msg("Trace against trace"),
}
"""Other drawings of the same, which somebody looks for at an axis."""
_FIELD = 88
_DIGITS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisState:
    """What the card shows of an axis."""

    name: Message
    unit: str
    low: float
    high: float
    """SI."""
    scale: str
    scales: Sequence[str]
    """Those it can have; () while there is nothing to choose."""
    ways: Sequence[str] = ()
    """Names of `WAYS` that are offered here."""


class AxisCard(QFrame):
    """One card, used for every axis of a plot."""

    limits_chosen = pyqtSignal(float, float)
    """SI"""
    scale_chosen = pyqtSignal(str)
    fit_chosen = pyqtSignal()
    way_chosen = pyqtSignal(str)
    """a name of `WAYS`"""

    def __init__(self, services: WindowServices, parent: QWidget) -> None:
        super().__init__(parent)
        self._services = services
        self._state: AxisState | None = None
        self.setObjectName("axis_card")
        mark(self, card=True, surface="raised")
        self._title = text_label(role="strong")
        self.low, self.high = QLineEdit(), QLineEdit()
        for name, field in (("axis_low", self.low), ("axis_high", self.high)):
            field.setObjectName(name)
            mark(field, small=True)
            field.setFixedWidth(round(_FIELD * services.theme.theme.scale))
            field.returnPressed.connect(self._take)
            field.textEdited.connect(lambda _text, field=field: mark(field, state=""))
        self._to = text_label("–", role="secondary")
        self._unit = text_label(role="secondary")
        limits = arrange(QHBoxLayout(), self.low, self._to, self.high, self._unit, 1, edges=0)
        self.scales: dict[str, QPushButton] = {}
        row = QHBoxLayout()
        for scale in SCALES:
            button = push_button(name=f"axis_{scale}", small=True)
            button.setCheckable(True)
            button.clicked.connect(lambda _on, scale=scale: self.scale_chosen.emit(scale))
            self.scales[scale] = button
            row.addWidget(button)
        self._fit = push_button(name="axis_fit", kind="link", clicked=lambda _on: self.fit_chosen.emit())
        row.addStretch(1)
        row.addWidget(self._fit)
        self.ways: dict[str, QPushButton] = {}
        below = QHBoxLayout()
        for way in WAYS:
            button = push_button(
                name=f"axis_{way}", kind="link", clicked=lambda _on, way=way: self.way_chosen.emit(way)
            )
            self.ways[way] = button
            below.addWidget(button)
        below.addStretch(1)
        arrange(
            QVBoxLayout(self), self._title, limits, row, below, edges=services.theme.theme.size("space.3")
        )
        services.language.changed.connect(self.hide)  # its words are made when it opens
        self.hide()
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.connect(self._on_focus)

    def show_axis(self, state: AxisState, place: QPoint) -> None:
        """Open at a place of the parent, or show another state where it is open."""
        language = self._services.language
        self._state = state
        self._title.setText(language(state.name))
        self._unit.setText(shown_unit(state.unit))
        self._fit.setText(language(msg("Show everything")))
        self.low.setAccessibleName(language(msg("From")))
        self.high.setAccessibleName(language(msg("To")))
        for field, value in ((self.low, state.low), (self.high, state.high)):
            field.setText(format_number(value, _DIGITS))
            mark(field, state="")
        for scale, button in self.scales.items():
            button.setText(language(SCALES[scale]))
            button.setVisible(scale in state.scales)
            button.setChecked(scale == state.scale)
        for way, button in self.ways.items():
            button.setText(language(WAYS[way]))
            button.setVisible(way in state.ways)
        layout = self.layout()
        if layout is not None:
            layout.activate()  # rows inside it hold the sizes of the axis before
        self.adjustSize()
        room = self.parentWidget()
        if room is not None:
            left = min(max(place.x(), 0), max(room.width() - self.width(), 0))
            self.move(left, min(max(place.y(), 0), max(room.height() - self.height(), 0)))
        self.show()
        self.raise_()
        self.low.selectAll()
        self.low.setFocus(Qt.FocusReason.PopupFocusReason)

    def keyPressEvent(self, event: QKeyEvent | None) -> None:  # noqa: N802 - Qt's name
        """What is left of a key ends here: behind the card is the plot, whose keys are others."""
        if event is None:
            return
        event.accept()
        if event.key() == Qt.Key.Key_Escape:
            self.close_card()

    def close_card(self) -> None:
        """Back to the plot."""
        had_focus = self.isAncestorOf(QApplication.focusWidget()) if QApplication.focusWidget() else False
        self.hide()
        parent = self.parentWidget()
        if had_focus and parent is not None:
            parent.setFocus()

    def _take(self) -> None:
        """Show the typed limits; one that cannot be is marked, and stays to be fixed."""
        state = self._state
        if state is None:
            return
        low, high = _number(self.low.text()), _number(self.high.text())
        is_low = low is not None and not (state.scale == "log" and low <= 0)
        is_high = high is not None and (low is None or high > low)
        mark(self.low, state="" if is_low else "error")
        mark(self.high, state="" if is_high else "error")
        if is_low and is_high and low is not None and high is not None:
            self.close_card()
            self.limits_chosen.emit(low, high)

    def _on_focus(self, _old: QWidget | None, now: QWidget | None) -> None:
        if self.isVisible() and now is not None and now is not self and not self.isAncestorOf(now):
            self.hide()


def _number(text: str) -> float | None:
    try:
        value = parse_number(text.strip().replace("\u2212", "-"))
    except (CircuitAIError, ValueError):
        return None
    return value if math.isfinite(value) else None
