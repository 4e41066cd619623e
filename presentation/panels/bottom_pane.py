"""The pane under the editor: its tabs, and the run under way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PyQt6.QtCore import QSize, Qt, pyqtSignal
from PyQt6.QtGui import QFontMetrics, QMouseEvent, QPainter, QPaintEvent, QShowEvent
from PyQt6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QVBoxLayout, QWidget

from presentation.panels.run_views import MEASUREMENTS, WAVEFORMS, RunViews
from presentation.progress_words import step_text
from presentation.ui.frame import IconButton
from presentation.ui.parts import SpokenName, arrange
from presentation.ui.pause_button import PauseButton
from presentation.ui.styles import mark, mark_area
from presentation.ui.tab_strip import TabStrip
from presentation.ui.tabbed_pages import Page, TabbedPages
from presentation.ui.workspace import WindowServices
from shared.message import Message, msg
from shared.pausing import can_pause

if TYPE_CHECKING:
    from domain.simulation.steps_so_far import StepsSoFar


class _CountedTabs(TabStrip):
    """Tabs whose words are followed by a quiet number."""

    maximise_asked = pyqtSignal()

    def __init__(self, services: WindowServices, titles: Sequence[Message]) -> None:
        self._counts: dict[int, int] = {}
        super().__init__(services, titles, "bottom_tabs")
        SpokenName(services, self, msg("Bottom panels"))

    def count_of(self, index: int) -> int:
        """The number behind a word, 0 for none."""
        return self._counts.get(index, 0)

    def set_count(self, index: int, count: int) -> None:
        """Show how many; nothing for none."""
        self._counts[index] = count
        # The sizes of tabs are asked for again when a text is set.
        self.setTabText(index, self.tabText(index))
        self.setTabToolTip(index, "")
        self.updateGeometry()
        self.fit()
        self.update()

    def tabSizeHint(self, index: int) -> QSize:  # noqa: N802 - Qt's name
        size = super().tabSizeHint(index)
        return QSize(size.width() + self._count_width(index), size.height())

    def paintEvent(self, _event: QPaintEvent | None) -> None:  # noqa: N802 - Qt's name
        theme = self._services.theme.theme
        painter = QPainter(self)
        pad, line = theme.size("space.3"), theme.size("space.half")
        for index in filter(self.isTabVisible, range(self.count())):
            rect = self.tabRect(index)
            is_active = index == self.currentIndex()
            painter.setFont(theme.font("ui", weight=500 if is_active else None))
            painter.setPen(theme.color("text.primary" if is_active else "text.secondary"))
            inner = rect.adjusted(pad, 0, 0, 0)
            painter.drawText(inner, Qt.AlignmentFlag.AlignVCenter, self.tabText(index))
            if self._counts.get(index):
                painter.setPen(theme.color("text.tertiary"))
                painter.setFont(theme.tabular("small"))
                place = rect.adjusted(0, 0, -pad, 0)
                painter.drawText(
                    place,
                    Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight,
                    str(self._counts[index]),
                )
            if is_active:
                below = rect.adjusted(pad, rect.height() - line, -pad, 0)
                painter.fillRect(below, theme.color("accent.base"))
            if is_active and self.hasFocus() and self.property("kbdFocus"):
                painter.setPen(theme.color("focus_ring"))
                painter.drawRect(rect.adjusted(2, 2, -3, -3))

    def mouseDoubleClickEvent(self, event: QMouseEvent | None) -> None:  # noqa: N802 - Qt's name
        """The pane takes all the room, or gives it back."""
        if event is not None and event.button() == Qt.MouseButton.LeftButton:
            self.maximise_asked.emit()

    def _count_width(self, index: int) -> int:
        count = self._counts.get(index)
        if not count:
            return 0
        theme = self._services.theme.theme
        width = QFontMetrics(theme.tabular("small")).horizontalAdvance(str(count))
        return width + theme.size("space.1") + theme.size("space.half")


class BottomPane(QWidget):
    """Tabs over one stack, and how far a run is."""

    maximise_requested = pyqtSignal(bool)
    """True: take the editor's room too; False: give it back"""
    hide_requested = pyqtSignal()

    def __init__(self, services: WindowServices, views: RunViews, pages: Sequence[Page]) -> None:
        super().__init__()
        self._services = services
        self.views = views
        views.setParent(self)
        self.setObjectName("bottom_pane")
        self._is_maximised = False
        self._steps: StepsSoFar | None = None
        """Of a stepped circuit that is simulated."""
        self._build(pages)
        self._connect()
        self.restyle()
        self.retranslate()

    def begin(self) -> None:
        """Make the pages, once the pane has its place: they are styled there, and nowhere before."""
        self._pages.begin()

    def showEvent(self, event: QShowEvent | None) -> None:  # noqa: N802 - Qt's name
        """At the latest now there is something to show."""
        super().showEvent(event)
        self.begin()

    @property
    def shown_tab(self) -> str:
        return self._pages.current_key

    def show_tab(self, key: str) -> None:
        """Bring a tab to the front. Raises ValueError for a key that none has."""
        self._pages.show_page(key)

    def bring_back(self, key: str) -> None:
        """Bring a tab to the front that was there in an earlier start."""
        self._pages.bring_back(key)

    def count_of(self, key: str) -> int:
        """The number that stands beside a tab's word, 0 for none."""
        return self.tabs.count_of(self._pages.index_of(key))

    def set_maximised(self, is_maximised: bool) -> None:
        self._is_maximised = is_maximised
        self._maximise.set_icon(
            "minimize-2" if is_maximised else "maximize-2",
            msg("Restore size") if is_maximised else msg("Maximize"),
        )

    def restyle(self, _theme: object = None) -> None:
        theme = self._services.theme.theme
        arrange(self._head_row, edges=(0, 0, theme.size("space.2"), 0), gap=theme.size("space.1"))
        self._progress.setFixedSize(theme.size("margin_bar.width"), theme.size("space.1"))
        arrange(self._run_row, edges=(0, 0, theme.size("space.2"), 0), gap=theme.size("space.2"))
        self.setMinimumHeight(theme.size("pane.bottom_min"))

    def retranslate(self, _name: object = None) -> None:
        circuit = self.views.controller.circuit
        if circuit is not None:
            is_paused = self.views.controller.is_paused
            paused = msg("{name} is paused", name=circuit.name)
            texts = [paused if is_paused else msg("Simulating {name}", name=circuit.name)]
            if self._steps is not None:
                texts.append(step_text(self._steps))
            self._run_text.setText("   ".join(map(self._services.language, texts)))
            self._pause.show_paused(is_paused=is_paused)

    def _build(self, pages: Sequence[Page]) -> None:
        services = self._services
        self.tabs = _CountedTabs(services, [page.title for page in pages])
        self._pages = TabbedPages(self.tabs, pages)
        self._run_bar = QWidget()
        self._run_bar.setObjectName("run_bar")
        self._run_text = QLabel()
        mark(self._run_text, role="small")
        self._progress = QProgressBar()
        self._progress.setTextVisible(False)
        self._progress.setRange(0, 1000)
        self._stop = IconButton(services, "square", msg("Stop the run"), action="stopRun", name="stop_run")
        self._stop.clicked.connect(self.views.controller.stop)
        self._pause = PauseButton(services, name="pause_run")
        self._pause.clicked.connect(self.views.controller.pause_or_go_on)
        if not can_pause():  # as in the header
            self._pause.hide()
        self._run_row = QHBoxLayout(self._run_bar)
        for widget in (self._run_text, self._progress, self._pause, self._stop):
            self._run_row.addWidget(widget)
        self._run_bar.hide()
        self._maximise = IconButton(services, "maximize-2", msg("Maximize"), name="maximise_bottom")
        self._maximise.clicked.connect(self._on_maximise)
        self._close = IconButton(
            services, "x", msg("Hide this pane"), action="pane.bottom", name="hide_bottom"
        )
        self._close.clicked.connect(self.hide_requested)
        head = QWidget()
        mark_area(head, surface="panel", line="bottom")
        self._head_row = arrange(
            QHBoxLayout(head), (self.tabs, 1), self._run_bar, self._maximise, self._close
        )
        arrange(QVBoxLayout(self), head, (self._pages, 1), edges=0, gap=0)
        mark_area(self, surface="base")

    def _connect(self) -> None:
        workspace = self._services.workspace
        self.tabs.maximise_asked.connect(self._on_maximise)
        self.views.wanted.connect(self.show_tab)
        self.views.curves_wanted.connect(self._show_curves)
        self.views.counted.connect(lambda key, count: self.tabs.set_count(self._pages.index_of(key), count))
        workspace.run_started.connect(lambda _circuit: self._on_started())
        workspace.run_progressed.connect(self._on_progress)
        workspace.run_stepped.connect(self._on_step)
        workspace.run_paused.connect(self.retranslate)
        workspace.run_finished.connect(lambda _outcome: self._run_bar.hide())
        self._services.theme.changed.connect(self.restyle)
        self._services.language.changed.connect(self.retranslate)

    def _on_maximise(self) -> None:
        self.set_maximised(not self._is_maximised)
        self.maximise_requested.emit(self._is_maximised)

    def _on_started(self) -> None:
        self._steps = None
        self._progress.setRange(0, 0)  # no figure yet: an analysis without a time has none
        self.retranslate()
        self._run_bar.show()  # last: a bar that is seen paints at once, and with it all that waits

    def _on_step(self, steps: StepsSoFar) -> None:
        self._steps = steps
        self.retranslate()

    def _on_progress(self, part: float) -> None:
        self._progress.setRange(0, 1000)
        self._progress.setValue(round(1000 * min(max(part, 0.0), 1.0)))

    def _show_curves(self) -> None:
        if self.shown_tab not in (WAVEFORMS, MEASUREMENTS):
            self.show_tab(WAVEFORMS)
