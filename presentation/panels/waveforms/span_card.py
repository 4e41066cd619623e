"""A card with the values of the shown part of a trace; each is kept as a measurement by one click."""

from __future__ import annotations

from collections.abc import Sequence

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtGui import QKeyEvent
from PyQt6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from presentation.panels.waveforms.figures import joined, quantity
from presentation.panels.waveforms.span_figures import SpanFigure
from presentation.ui.frame import IconButton
from presentation.ui.parts import arrange, copy_text, push_button, text_label
from presentation.ui.styles import mark
from presentation.ui.workspace import WindowServices
from shared.message import msg

_EDGE = 12


class SpanCard(QFrame):
    """Stands over the plot until it is closed, or another trace is asked."""

    kept = pyqtSignal(str)
    """the expression of a measurement, with "{x}" for the trace"""
    asked = pyqtSignal(str)
    """the same: it is to be a goal"""

    def __init__(self, services: WindowServices, parent: QWidget) -> None:
        super().__init__(parent)
        self._services = services
        self._rows: list[tuple[str, str]] = []
        self.setObjectName("span_card")
        mark(self, card=True, surface="raised")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._title = text_label(name="span_title", role="strong")
        self._span = text_label(name="span_limits", role="secondary")
        close = IconButton(services, "x", msg("Close"), name="close_span_card")
        close.clicked.connect(self.close_card)
        copy = IconButton(services, "copy", msg("Copy values"), name="copy_span_card")
        copy.clicked.connect(lambda: copy_text(self.text))
        head = arrange(QHBoxLayout(), (self._title, 1), copy, close, edges=0)
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(services.theme.theme.size("space.3"))
        self._grid.setVerticalSpacing(services.theme.theme.size("space.half"))
        edge = services.theme.theme.size("space.3")
        arrange(QVBoxLayout(self), head, self._span, self._grid, edges=edge, gap=edge // 3)
        services.language.changed.connect(self.hide)  # its words are made when it opens
        self.hide()

    @property
    def text(self) -> str:
        """Names and values, a tab between them."""
        return "\n".join("\t".join(row) for row in [(self._title.text(), self._span.text()), *self._rows])

    def show_figures(self, title: str, span: str, figures: Sequence[SpanFigure]) -> None:
        """Show the values of one trace."""
        language = self._services.language
        self._title.setText(title)
        self._span.setText(span)
        while (item := self._grid.takeAt(0)) is not None:
            if (old := item.widget()) is not None:
                old.hide()
                old.deleteLater()
        self._rows = []
        for row, figure in enumerate(figures):
            name, value = language(figure.name), language.figure(joined(*quantity(figure.value, figure.unit)))
            self._rows.append((name, value))
            self._grid.addWidget(text_label(name, role="secondary"), row, 0)
            number = text_label(value)
            number.setFont(self._services.theme.theme.tabular("ui"))
            self._grid.addWidget(number, row, 1, Qt.AlignmentFlag.AlignRight)
            if figure.expression:
                keep = push_button(
                    language(msg("Keep as measurement")),
                    name=f"keep:{figure.expression.partition('(')[0]}",
                    kind="link",
                    clicked=lambda _on, text=figure.expression: self.kept.emit(text),
                )
                self._grid.addWidget(keep, row, 2)
                ask = push_button(
                    language(msg("Make it a goal")),
                    name=f"goal:{figure.expression.partition('(')[0]}",
                    kind="link",
                    clicked=lambda _on, text=figure.expression: self.asked.emit(text),
                )
                self._grid.addWidget(ask, row, 3)
        self.adjustSize()
        room = self.parentWidget()
        if room is not None:
            self.move(max(room.width() - self.width() - _EDGE, 0), _EDGE)
        self.show()
        self.raise_()
        self.setFocus(Qt.FocusReason.PopupFocusReason)

    def keyPressEvent(self, event: QKeyEvent | None) -> None:  # noqa: N802 - Qt's name
        if event is not None and event.key() == Qt.Key.Key_Escape:
            self.close_card()
        else:
            super().keyPressEvent(event)

    def close_card(self) -> None:
        self.hide()
        parent = self.parentWidget()
        if parent is not None:
            parent.setFocus()
