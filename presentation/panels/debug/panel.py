"""The tab "Debug": views that tell how the program is doing. A new one is a line in `VIEWS`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from PyQt6.QtCore import QTimer
from PyQt6.QtGui import QGuiApplication, QHideEvent, QShowEvent
from PyQt6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from presentation.panels.debug.log_view import LogView
from presentation.panels.debug.state_view import StateView
from presentation.panels.debug.tally import OWN_TASK, EventTally
from presentation.panels.debug.trace_view import TraceView
from presentation.ui.frame import IconButton
from presentation.ui.parts import arrange
from presentation.ui.styles import mark
from presentation.ui.tab_strip import TabStrip
from presentation.ui.workspace import WindowServices
from shared.message import Message, msg

if TYPE_CHECKING:
    from application.groups.program import Program

_EVERY_MS = 2_000


class DebugView(Protocol):
    """What a view of the tab offers; it is a QWidget besides."""

    @property
    def plain_text(self) -> str: ...

    async def refresh(self) -> None:
        """Show what there is now; called every two seconds while the view is seen."""
        ...

    async def examine(self) -> None: ...


VIEWS: tuple[tuple[Message, Callable[[WindowServices, Program, EventTally], DebugView]], ...] = (
    (msg("State"), StateView),
    (msg("Log"), LogView),
    (msg("Traces"), TraceView),
)


class DebugPanel(QWidget):
    """One view at a time, and the buttons they share."""

    def __init__(self, services: WindowServices, program: Program, tally: EventTally) -> None:
        super().__init__()
        self._services = services
        self.setObjectName("debugPanel")
        self.views = [make(services, program, tally) for _, make in VIEWS]
        self.tabs = TabStrip(services, [title for title, _ in VIEWS], "debugTabs")
        self._pages = QStackedWidget()
        for view in self.views:
            assert isinstance(view, QWidget)
            self._pages.addWidget(view)
        self.anew = IconButton(services, "refresh-cw", msg("Check system"), name="debugAnew")
        self.anew.clicked.connect(lambda: self._start(self.current.examine()))
        self.copy_button = IconButton(services, "copy", msg("Copy all"), name="debugCopy")
        self.copy_button.clicked.connect(self.copy)
        head = QWidget()
        self._row = arrange(QHBoxLayout(head), (self.tabs, 1), self.anew, self.copy_button)
        arrange(QVBoxLayout(self), head, (self._pages, 1), edges=0, gap=0)
        mark(self, surface="base")
        self.tabs.currentChanged.connect(self._on_chosen)
        self._timer = QTimer(self)
        self._timer.setInterval(_EVERY_MS)
        self._timer.timeout.connect(self.refresh)
        services.theme.changed.connect(self.restyle)
        self.restyle()

    @property
    def current(self) -> DebugView:
        return self.views[self.tabs.currentIndex()]

    def copy(self) -> None:
        clipboard = QGuiApplication.clipboard()
        assert clipboard is not None
        clipboard.setText(self.current.plain_text)
        self._services.workspace.status_changed.emit(msg("Copied"))

    def refresh(self) -> None:
        self._start(self.current.refresh())

    def restyle(self) -> None:
        theme = self._services.theme.theme
        arrange(self._row, edges=(0, 0, theme.size("space.2"), 0), gap=theme.size("space.1"))

    def showEvent(self, event: QShowEvent | None) -> None:  # noqa: N802 - Qt's name
        """It is only kept up to date while it is seen."""
        super().showEvent(event)
        self._timer.start()
        self.refresh()

    def hideEvent(self, event: QHideEvent | None) -> None:  # noqa: N802 - Qt's name
        """Nobody looks any more."""
        super().hideEvent(event)
        self._timer.stop()

    def _on_chosen(self, index: int) -> None:
        self._pages.setCurrentIndex(index)
        self.refresh()

    def _start(self, work: object) -> None:
        self._services.start(work, kind=OWN_TASK, scope=OWN_TASK)
