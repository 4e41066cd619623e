"""The bar above the plot: which analysis, the traces as chips, cursors, older runs, expressions, export."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from PyQt6.QtCore import QPoint, Qt, QTimer, pyqtSignal
from PyQt6.QtGui import QAction, QFontMetrics, QPaintEvent, QResizeEvent
from PyQt6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QMenu,
    QSizePolicy,
    QStyle,
    QStyleOptionComboBox,
    QStylePainter,
    QWidget,
)

from presentation.panels.waveforms.chips import ChipRow
from presentation.ui.frame import IconButton
from presentation.ui.name_cut import middle_cut
from presentation.ui.parts import beside_its_name
from presentation.ui.styles import mark, mark_area
from presentation.ui.workspace import WindowServices
from shared.message import msg

EXPORTS = {
    "csv": msg("Values as CSV…"),
    "even.csv": msg("Values at equal steps as CSV…"),
    "png": msg("Picture as PNG…"),
    "svg": msg("Drawing as SVG…"),
    "conversation": msg("Attach to the message in the conversation"),
}
"""Formats a plot is exported in, by their suffix; and the conversation."""


_CHOICE_SHARE = 0.37
"""Of the bar's width; the rest is the traces', as far as they need it."""
_ALL, _FEW = 6, 3
"""Buttons of the bar where there is room, and where there is little."""
_ALL_IN_ONE_ROW = (0, 1)
"""Chips without room, and rows of the others."""


_DOT = " · "


def _shortest(circuit: str) -> str:
    """Of a circuit's name; with less room the end goes too."""
    return f"{circuit[:1]}…{circuit[-1:]}"


class _Choice(QComboBox):
    """Where its name has no room, the circuit's loses its middle; the run and the analysis stay."""

    def paintEvent(self, _event: QPaintEvent | None) -> None:  # noqa: N802 - Qt's name
        """The box, and the name in what is left of the arrow."""
        painter = QStylePainter(self)
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        room = self.width() - self.rest_width()
        option.currentText = self.shortened(room)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)

    def shortened(self, room: int) -> str:
        """The chosen name in `room` pixels."""
        metrics = self.fontMetrics()
        if metrics.horizontalAdvance(self.currentText()) <= room:  # its parts, each rounded, may be wider
            return self.currentText()
        circuit, dot, rest = self.currentText().partition(_DOT)
        least = min(map(metrics.horizontalAdvance, (_shortest(circuit), circuit)))
        if not dot:
            return middle_cut(metrics, circuit, room)
        left = max(room - metrics.horizontalAdvance(dot + rest), least)
        name = middle_cut(metrics, circuit, left)
        while left > least and metrics.horizontalAdvance(name + dot + rest) > room:
            left -= 1  # the parts, each rounded, were less wide than the whole
            name = middle_cut(metrics, circuit, left)
        if metrics.horizontalAdvance(name + dot + rest) <= room:
            return name + dot + rest
        behind = room - metrics.horizontalAdvance(name + dot)
        return f"{name}{dot}{metrics.elidedText(rest, Qt.TextElideMode.ElideRight, behind)}"

    def shortest_width(self) -> int:
        """With only the ends of the circuit's name, and all of the run's."""
        circuit, dot, rest = self.currentText().partition(_DOT)
        metrics = self.fontMetrics()
        name = min(circuit, _shortest(circuit), key=metrics.horizontalAdvance)
        return self.rest_width() + metrics.horizontalAdvance(f"{name}{dot}{rest}")

    def rest_width(self) -> int:
        return beside_its_name(self)


class PlotTools(QWidget):
    """The bar. What is pressed is told; whoever owns it does it."""

    export_asked = pyqtSignal(str)
    """one of EXPORTS"""

    def __init__(self, services: WindowServices) -> None:
        super().__init__()
        self._services = services
        self.plot_choice = _Choice()
        self.plot_choice.setObjectName("plot_choice")
        self.plot_choice.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.plot_choice.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        mark(self.plot_choice, small=True)
        self.chips = ChipRow(services)
        self.cursors = IconButton(services, "crosshair", msg("Cursors A and B"), name="toggle_cursors")
        self.cursors.setCheckable(True)
        self.cursors.setChecked(True)
        self.fit = IconButton(services, "scan", msg("Fit"), action="plot.fit", name="fit_plot")
        self.overlay = IconButton(services, "layers", msg("Overlay earlier runs"), name="overlay_runs")
        self.overlay.setCheckable(True)
        self.expression = IconButton(services, "sigma", msg("Plot an expression"), name="draw_expression")
        self.expression.clicked.connect(self.chips.begin_expression)
        self.beside = IconButton(
            services,
            "audio-waveform",
            msg("Spectrum and other views"),
            action="plot.spectrum",
            name="draw_beside",
        )
        self.export = IconButton(services, "download", msg("Export the plot"), name="export_plot")
        self.export.clicked.connect(self._show_exports)
        mark_area(self, surface="base", line="bottom")
        self._row = QHBoxLayout(self)
        self._is_drawing = True
        self._polished = QTimer(self)
        self._polished.setSingleShot(True)
        self._polished.timeout.connect(self._fit_choice)
        top = Qt.AlignmentFlag.AlignTop
        self._places = QHBoxLayout(), QHBoxLayout()
        """What stays in the first row when the chips have two: the choice, the buttons."""
        self._places[0].addWidget(self.plot_choice, 0, Qt.AlignmentFlag.AlignVCenter)
        self._row.addLayout(self._places[0])
        self._row.setAlignment(self._places[0], top)
        self._row.addWidget(self.chips, 1, top)
        self.rest = IconButton(services, "ellipsis", msg("More"), name="more_plot_tools")
        self.rest.clicked.connect(self._show_rest)
        self._folded = (self.beside, self.overlay, self.expression, self.export)
        """Those that go behind one button where there is little room."""
        self._buttons = (self.cursors, self.fit, *self._folded, self.rest)
        for button in self._buttons:
            self._places[1].addWidget(button, 0, Qt.AlignmentFlag.AlignVCenter)
        self._row.addLayout(self._places[1])
        self._row.setAlignment(self._places[1], top)
        # Not at once: in the middle of a layout it would begin another one, whose places the first undoes.
        queued = Qt.ConnectionType.QueuedConnection
        self.chips.rows_changed.connect(self._fit_rows, queued)  # type: ignore[call-arg] # not in the stubs
        self.chips.chips_changed.connect(self._fit_choice)
        self.menu = QMenu(self)
        """The formats of the export."""
        self.restyle()
        self.retranslate()

    def show_choice(self, names: Sequence[str], index: int) -> None:
        """The analyses there are; the box is as wide as the chosen name, its list as wide as the longest."""
        choice = self.plot_choice
        if list(names) != [choice.itemText(at) for at in range(choice.count())]:
            choice.clear()
            choice.addItems(list(names))
            choice.setCurrentIndex(index)
            self._fit_choice()
        elif index != choice.currentIndex():
            choice.setCurrentIndex(index)
            self._fit_choice()

    def _fit_choice(self) -> None:
        choice = self.plot_choice
        names = [choice.itemText(index) for index in range(choice.count())]
        if names:
            choice.ensurePolished()
            metrics = QFontMetrics(choice.font())
            widest = max(map(metrics.horizontalAdvance, names))
            rest = choice.rest_width()
            wanted = rest + metrics.horizontalAdvance(choice.currentText())
            choice.setFixedWidth(min(wanted, max(round(self.width() * _CHOICE_SHARE), rest)))
            lacking = wanted - choice.width()
            if lacking > 0 and self.chips.needed(self._chip_room(_ALL) - lacking) == _ALL_IN_ONE_ROW:
                choice.setFixedWidth(wanted)
            lacking = choice.shortest_width() - choice.width()  # of the run and what is shown of it
            if lacking > 0 and self.chips.needed(self._chip_room(_FEW) - lacking) == _ALL_IN_ONE_ROW:
                choice.setFixedWidth(choice.width() + lacking)
            self._widen(wanted)
            choice.setToolTip(choice.currentText())
            view = choice.view()
            if view is not None:
                view.setMinimumWidth(rest + widest)
            self._make_room()
            self._widen(wanted)  # it gave all it could, where less was needed
        self._make_room()

    def _widen(self, wanted: int) -> None:
        """What the traces and the buttons leave of their rows is the name's, as far as it needs it."""
        buttons = _FEW if self._is_narrow() else _ALL
        room, lacking = self._chip_room(buttons), range(max(wanted - self.plot_choice.width(), 0) + 1)
        now = self.chips.needed(room)
        fits = bisect_left(lacking, 1, key=lambda more: self.chips.needed(room - more) != now)
        if fits > 1:
            self.plot_choice.setFixedWidth(self.plot_choice.width() + fits - 1)

    def set_drawing(self, *, is_shown: bool) -> None:
        """Offer only what suits: a table of values has no traces."""
        self._is_drawing = is_shown
        for widget in (self.chips, *self._buttons):
            widget.setVisible(is_shown and widget is not self.rest)
        self._make_room()

    def resizeEvent(self, event: QResizeEvent | None) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        self._fit_choice()

    def _make_room(self) -> None:
        """In a narrow pane older runs, expressions and export go behind one button; cursors and fit stay.

        So they do where the traces have one row less then. Where a trace would still have no room, the name
        of the circuit gives way.
        """
        if not self._is_drawing:
            return
        is_narrow, folded = self._is_narrow(), self.chips.needed(self._chip_room(_FEW))
        for button in self._folded:
            button.setVisible(not is_narrow)
        shortest = self.plot_choice.shortest_width()
        gained = self.plot_choice.width() - shortest
        if folded[0] and gained > 0 and self.chips.needed(self._chip_room(_FEW) + gained) < folded:
            self.plot_choice.setFixedWidth(shortest)
        has_changed = self.rest.isHidden() == is_narrow
        self.rest.setVisible(is_narrow)
        if has_changed:  # the row would keep the room of buttons that went while it was hidden itself
            self._places[1].invalidate()
            self._row.invalidate()
            self._row.activate()

    def _is_narrow(self) -> bool:
        """Whether some buttons go behind one."""
        full, folded = (self.chips.needed(self._chip_room(count)) for count in (_ALL, _FEW))
        is_low_on_room = self._chip_room(_ALL) < self._services.theme.theme.size("space.12") * 4
        return folded < full or (full != _ALL_IN_ONE_ROW and is_low_on_room)

    def _chip_room(self, buttons: int) -> int:
        """Pixels the chips have beside the choice and so many buttons."""
        edges, gap = self._row.contentsMargins(), self._row.spacing()
        inner = self.contentsRect().width() - edges.left() - edges.right()
        between = buttons * self.export.width() + (buttons - 1) * self._places[1].spacing()
        return inner - self.plot_choice.width() - between - 2 * gap

    def _fit_rows(self) -> None:
        self.setFixedHeight(self.chips.height() + 1)

    def restyle(self) -> None:
        theme = self._services.theme.theme
        self._row.setContentsMargins(theme.size("space.3"), 0, theme.size("space.2"), 0)
        self._row.setSpacing(theme.size("space.2"))
        for place in self._places:
            place.setSpacing(theme.size("space.1"))
            # As high as a row of chips, so that they stand in one line.
            edge = max(theme.size("row.toolbar") - self.export.height(), 0) // 2
            place.setContentsMargins(0, edge, 0, 0)
        self.chips.restyle()
        self._fit_rows()
        # With another type the box has another width; it knows its type when the style sheet is on.
        self._polished.start()

    def retranslate(self) -> None:
        language = self._services.language
        self.plot_choice.setAccessibleName(language(msg("Analysis")))
        self.chips.retranslate()
        self.menu.clear()
        for suffix, text in EXPORTS.items():
            action = QAction(language(text), self.menu)
            action.setObjectName(f"export_{suffix}")
            action.triggered.connect(lambda _checked, suffix=suffix: self.export_asked.emit(suffix))
            self.menu.addAction(action)

    def _show_rest(self) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for button in self._folded[:-1]:
            menu.addAction(button.toolTip(), button.click)
        menu.addSeparator()
        menu.addActions(self.menu.actions())
        menu.popup(self.rest.mapToGlobal(self.rest.rect().bottomLeft()))

    def _show_exports(self) -> None:
        self.menu.popup(self.export.mapToGlobal(QPoint(0, self.export.height())))
