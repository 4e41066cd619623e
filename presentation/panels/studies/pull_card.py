"""A small card that asks where a measured quantity is wanted, and which values may follow."""

from __future__ import annotations

import math
from collections.abc import Sequence

from PyQt6.QtCore import QPoint, Qt, pyqtSignal
from PyQt6.QtGui import QKeyEvent
from PyQt6.QtWidgets import QApplication, QFrame, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from domain.circuit.numbers import format_number, parse_number
from domain.studies.influence import PlacedValue
from presentation.panels.studies.result_parts import MetricBox
from presentation.panels.waveforms.figures import shown_unit
from presentation.ui.parts import arrange, push_button, text_label
from presentation.ui.styles import mark
from presentation.ui.workspace import WindowServices
from shared.errors import CircuitAIError
from shared.message import Message, msg

SERIES = ("E6", "E12", "E24", "E48", "E96")
_DIGITS = 5
_MOST_CHOICES = 3
_FIELD = 96


class PullCard(QFrame):
    """One card for a plot. Enter takes it, Escape leaves it."""

    wanted = pyqtSignal(float)
    """where the quantity is to be; what may follow is in `chosen` and `series`"""

    def __init__(self, services: WindowServices, parent: QWidget) -> None:
        super().__init__(parent)
        self._services = services
        self.setObjectName("pull_card")
        mark(self, card=True, surface="raised")
        self._title = text_label(role="strong")
        self.field = QLineEdit()
        self.field.setObjectName("pull_target")
        self.field.setFixedWidth(round(_FIELD * services.theme.theme.scale))
        mark(self.field, small=True)
        self.field.returnPressed.connect(self._take)
        self.field.textEdited.connect(lambda _text: mark(self.field, state=""))
        self._unit = text_label(role="secondary")
        self._following, self._of_series = text_label(role="secondary"), text_label(role="secondary")
        self.values = [MetricBox(f"pull_value_{number}") for number in range(_MOST_CHOICES)]
        self.series_box = MetricBox("pull_series")
        self._go = push_button(name="pull_go", kind="primary", small=True, clicked=lambda _on: self._take())
        edge = services.theme.theme.size("space.3")
        arrange(
            QVBoxLayout(self),
            self._title,
            arrange(QHBoxLayout(), self.field, self._unit, 1, self._go, edges=0),
            arrange(QHBoxLayout(), self._following, *self.values, 1, edges=0),
            arrange(QHBoxLayout(), self._of_series, self.series_box, 1, edges=0),
            edges=edge,
        )
        services.language.changed.connect(lambda _name: self.hide())  # its words are made when it opens
        self.hide()

    @property
    def chosen(self) -> tuple[str, ...]:
        """The values that are to follow; () = the most influential ones."""
        return tuple(dict.fromkeys(box.chosen for box in self.values if box.chosen))

    @property
    def series(self) -> str:
        """Of the values in the end; "" for none."""
        return self.series_box.chosen

    def show_quantity(
        self, name: str, value: float, unit: str, values: Sequence[PlacedValue], place: QPoint
    ) -> None:
        """Open at a place of the parent; `values` are those that may follow."""
        language = self._services.language
        self._title.setText(language(msg("Move {name} to", name=name)))
        self._unit.setText(shown_unit(unit))
        self.field.setText(format_number(value, _DIGITS))
        self.field.setAccessibleName(self._title.text())
        mark(self.field, state="")
        self._following.setText(language(msg("Values that follow")))
        self._of_series.setText(language(msg("Values of")))
        labels = {
            each.name: language(msg("{name} (load)", name=each.name)) for each in values if each.is_given
        }
        nobody = ("–", language(msg("the most influential")))
        for number, box in enumerate(self.values):
            box.offer(["", *(each.name for each in values)], {**labels, "": nobody[number == 0]})
            box.setAccessibleName(self._following.text())
            box.setVisible(number < len(values))
        self.series_box.offer(["", *SERIES], {"": language(msg("no series"))})
        self.series_box.setAccessibleName(self._of_series.text())
        self._go.setText(language(msg("Move")))
        self.adjustSize()
        room = self.parentWidget()
        if room is not None:
            left = min(max(place.x(), 0), max(room.width() - self.width(), 0))
            self.move(left, min(max(place.y(), 0), max(room.height() - self.height(), 0)))
        self.show()
        self.raise_()
        self.field.selectAll()
        self.field.setFocus(Qt.FocusReason.PopupFocusReason)

    def keyPressEvent(self, event: QKeyEvent | None) -> None:  # noqa: N802 - Qt's name
        """What is left of a key ends here: behind the card is the plot, whose keys are others."""
        if event is None:
            return
        event.accept()
        if event.key() == Qt.Key.Key_Escape:
            self.close_card()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._take()

    def close_card(self) -> None:
        """Back to the plot."""
        focused, parent = QApplication.focusWidget(), self.parentWidget()
        had_focus = focused is not None and self.isAncestorOf(focused)
        self.hide()
        if had_focus and parent is not None:
            parent.setFocus()

    def say(self, problem: Message) -> None:
        """What is typed cannot be."""
        mark(self.field, state="error")
        self._services.workspace.status_changed.emit(problem)

    def _take(self) -> None:
        try:
            value = parse_number(self.field.text().strip().replace("\u2212", "-"))
        except (CircuitAIError, ValueError):
            value = math.nan
        if not math.isfinite(value):
            self.say(msg("A number is needed, such as 4.7k."))
            return
        self.close_card()
        self.wanted.emit(value)
