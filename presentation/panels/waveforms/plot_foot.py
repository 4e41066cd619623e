"""The line under a plot that has no room beside it: the slope between the cursors, the first measurements."""

from __future__ import annotations

import math

from PyQt6.QtCore import pyqtSignal
from PyQt6.QtGui import QResizeEvent
from PyQt6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QWidget

from presentation.goal_words import name_of
from presentation.panels.waveforms.figures import beside_goal, joined, quantity, spread
from presentation.panels.waveforms.shown_result import Measured, ShownResult
from presentation.ui.parts import arrange, push_button
from presentation.ui.styles import mark
from presentation.ui.workspace import WindowServices
from shared.message import msg


class PlotFoot(QWidget):
    """As many measurements as there is room for, none cut; a link leads to all of them."""

    all_wanted = pyqtSignal()

    def __init__(self, services: WindowServices, shown: ShownResult) -> None:
        super().__init__()
        self._services = services
        self._shown = shown
        self._slope = ""
        self.setObjectName("plot_foot")
        mark(self, surface="base", line="top")
        self.words = QLabel()
        mark(self.words, role="small")
        # Its words never make the window wider.
        self.words.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.all = push_button(
            name="all_measurements", clicked=lambda _checked: self.all_wanted.emit(), kind="link"
        )
        self._row = arrange(QHBoxLayout(self), (self.words, 1), self.all)
        shown.measured.connect(self.retranslate)
        services.theme.changed.connect(self.restyle)
        self.restyle()

    def show_slope(self, text: str) -> None:
        if text != self._slope:
            self._slope = text
            self.retranslate()

    def resizeEvent(self, event: QResizeEvent | None) -> None:  # noqa: N802 - Qt's name
        """Another room, more or fewer of them."""
        super().resizeEvent(event)
        self.retranslate()

    def restyle(self, _theme: object = None) -> None:
        theme = self._services.theme.theme
        self.setFixedHeight(theme.size("row.table") + 1)
        self._row.setContentsMargins(theme.size("space.3"), 0, theme.size("space.3"), 0)
        self.retranslate()

    def retranslate(self) -> None:
        measured = [item for item in self._shown.measurements if item.value is not None]
        parts = [self._slope] if self._slope else []
        room = self.width() - self.all.sizeHint().width() - 3 * self._services.theme.theme.size("space.3")
        for item in measured:
            text = self._text(item)
            if self.words.fontMetrics().horizontalAdvance(_GAP.join([*parts, text])) > room:
                break
            parts.append(text)
        self.words.setText(_GAP.join(parts))
        count = len(self._shown.measurements)
        is_seen = len(parts) > bool(self._slope)
        self.all.setVisible(count > 1 or (count == 1 and not is_seen))  # one that stands here is all
        self.all.setText(
            self._services.language(msg("All {count} {count:measurement|measurements}", count=count))
        )

    def _text(self, item: Measured) -> str:
        assert item.value is not None
        if item.steps:
            known = [item.as_shown(step.value) for step in item.steps if step.value is not None]
            finite = [value for value, _ in known if math.isfinite(value)]
            text = joined(*spread(finite, known[0][1])) if finite else "—"
            return f"{item.shown_name} {self._services.language.figure(text)}"
        if item.goal is None:
            name = f"{item.shown_name} ({item.step})" if item.step else item.name
            return f"{name} {self._services.language.figure(joined(*quantity(*item.as_shown(item.value))))}"
        number, unit = beside_goal(item.goal, item.value)[0].split("\t")
        name = self._services.language(name_of(item.goal, is_simulated=item.is_judged))
        return f"{name} {self._services.language.figure(joined(number, unit))}"


_GAP = "     "
