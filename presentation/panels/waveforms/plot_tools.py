"""The bar above the plot: which analysis, the traces as chips, cursors, older runs, expressions, export."""

from __future__ import annotations

from collections.abc import Sequence

from PyQt6.QtCore import QEvent, QPoint, Qt, QTimer, pyqtSignal
from PyQt6.QtGui import QAction, QFontMetrics, QResizeEvent
from PyQt6.QtWidgets import QComboBox, QHBoxLayout, QMenu, QSizePolicy, QWidget

from presentation.panels.waveforms.chips import ChipRow
from presentation.window.frame import IconButton
from presentation.window.styles import mark
from presentation.window.workspace import WindowServices
from shared.message import msg

EXPORTS = {
    "csv": msg("Values as CSV ..."),
    "png": msg("Picture as PNG ..."),
    "svg": msg("Drawing as SVG ..."),
    "conversation": msg("Attach to the message in the conversation"),
}
"""Formats a plot is exported in, by their suffix; and the conversation."""


class PlotTools(QWidget):
    """The bar. What is pressed is told; whoever owns it does it."""

    export_asked = pyqtSignal(str)
    """one of EXPORTS"""

    def __init__(self, services: WindowServices) -> None:
        super().__init__()
        self._services = services
        self.plot_choice = QComboBox()
        self.plot_choice.setObjectName("plot_choice")
        self.plot_choice.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.plot_choice.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        mark(self.plot_choice, small=True)
        self.chips = ChipRow(services)
        self.cursors = IconButton(services, "crosshair", msg("Cursors A and B"), name="toggle_cursors")
        self.cursors.setCheckable(True)
        self.cursors.setChecked(True)
        self.fit = IconButton(services, "scan", msg("Show everything"), key="F", name="fit_plot")
        self.overlay = IconButton(services, "layers", msg("Draw older runs behind"), name="overlay_runs")
        self.overlay.setCheckable(True)
        self.expression = IconButton(services, "sigma", msg("Draw an expression"), name="draw_expression")
        self.expression.clicked.connect(self.chips.begin_expression)
        self.export = IconButton(services, "download", msg("Export the plot"), name="export_plot")
        self.export.clicked.connect(self._show_exports)
        mark(self, surface="base", line="bottom")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._row = QHBoxLayout(self)
        self._is_drawing = True
        self._polished = QTimer(self)
        self._polished.setSingleShot(True)
        self._polished.timeout.connect(self._fit_choice)
        self._row.addWidget(self.plot_choice)
        self._row.addWidget(self.chips, 1)
        self._buttons = (self.cursors, self.fit, self.overlay, self.expression, self.export)
        for button in self._buttons:
            self._row.addWidget(button)
        self.menu = QMenu(self)
        """The formats of the export."""
        self.restyle()
        self.retranslate()

    def show_choice(self, names: Sequence[str], index: int) -> None:
        """The analyses there are; the box is as wide as the chosen name, its list as wide as the longest."""
        choice = self.plot_choice
        choice.clear()
        choice.addItems(list(names))
        choice.setCurrentIndex(index)
        self._fit_choice()

    def _fit_choice(self) -> None:
        choice = self.plot_choice
        names = [choice.itemText(index) for index in range(choice.count())]
        if names:
            choice.ensurePolished()
            metrics = QFontMetrics(choice.font())
            widest = max(map(metrics.horizontalAdvance, names))
            rest = choice.sizeHint().width() - widest
            choice.setFixedWidth(rest + metrics.horizontalAdvance(choice.currentText()))
            view = choice.view()
            if view is not None:
                view.setMinimumWidth(rest + widest)

    def set_drawing(self, *, is_shown: bool) -> None:
        """Offer only what suits: a table of values has no traces."""
        self._is_drawing = is_shown
        for widget in (self.chips, *self._buttons):
            widget.setVisible(is_shown)
        self._make_room()

    def resizeEvent(self, event: QResizeEvent | None) -> None:  # noqa: N802 - Qt's name
        """Another room."""
        super().resizeEvent(event)
        self._make_room()

    def event(self, event: QEvent | None) -> bool:
        """Other chips, or another name of the run."""
        if event is not None and event.type() == QEvent.Type.LayoutRequest:
            self._make_room()
        return super().event(event)

    def _make_room(self) -> None:
        """In a narrow pane the traces come first; what is left out has another way (the plus, a key)."""
        if not self._is_drawing:
            return
        step = self.export.width() + self._row.spacing()
        fixed = self.plot_choice.width() + self.chips.wanted_width + self.export.width() * len(self._buttons)
        room = self.contentsRect().width() - fixed - self._row.spacing() * (len(self._buttons) + 3)
        for button in (self.expression, self.fit):
            button.setVisible(room >= 0)
            room += step

    def restyle(self) -> None:
        """Sizes and colours."""
        theme = self._services.theme.theme
        self._row.setContentsMargins(theme.size("space.3"), 0, theme.size("space.2"), 0)
        self._row.setSpacing(theme.size("space.1"))
        self.setFixedHeight(theme.size("row.toolbar") + 1)
        self.chips.restyle()
        # With another type the box has another width; it knows its type when the style sheet is on.
        self._polished.start()

    def retranslate(self) -> None:
        """Texts."""
        language = self._services.language
        self.plot_choice.setAccessibleName(language(msg("Analysis")))
        self.chips.retranslate()
        self.menu.clear()
        for suffix, text in EXPORTS.items():
            action = QAction(language(text), self.menu)
            action.setObjectName(f"export_{suffix}")
            action.triggered.connect(lambda _checked, suffix=suffix: self.export_asked.emit(suffix))
            self.menu.addAction(action)

    def _show_exports(self) -> None:
        self.menu.popup(self.export.mapToGlobal(QPoint(0, self.export.height())))
