"""The tab "Debug": views that tell how the program is doing. A new one is a line in `VIEWS`.

Tokens, cache, money, times and errors: of the newest conversation, the last day, and each provider.
"""

from __future__ import annotations

import asyncio
import platform
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from PyQt6.QtCore import PYQT_VERSION_STR, QTimer, qVersion
from PyQt6.QtGui import QGuiApplication, QHideEvent, QShowEvent
from PyQt6.QtWidgets import QHBoxLayout, QPlainTextEdit, QStackedWidget, QVBoxLayout, QWidget

from presentation.panels.conversation.stored import title_of
from presentation.panels.debug.tally import OWN_TASK, EventTally
from presentation.panels.debug.trace_view import TraceView
from presentation.ui.facts import Fact, FactGroup, FactSheet
from presentation.ui.frame import IconButton
from presentation.ui.log_file import log_path
from presentation.ui.machine import machine_facts
from presentation.ui.parts import arrange
from presentation.ui.styles import mark
from presentation.ui.tab_strip import TabStrip
from presentation.ui.workspace import WindowServices
from presentation.use_words import seconds_of, spent_lines
from shared.errors import CircuitAIError
from shared.message import Message, msg
from shared.paths import user_home

if TYPE_CHECKING:
    from application.app import Application
    from application.examining import ExaminationReport
    from application.groups.program import Program
    from domain.llm.costs import Spent
    from domain.llm.service import ServiceReport


class UseView(FactSheet):
    """A DebugView."""

    def __init__(self, services: WindowServices, app: Application, _tally: EventTally) -> None:
        super().__init__(services, "debugUse")
        self._app = app
        self._read: object = None
        """Of what state the groups are."""
        self._of_project: tuple[FactGroup, ...] = ()

    async def refresh(self) -> None:
        """Transcripts are read when one of them is another, the providers' counts each time."""
        root, sessions = self._services.workspace.root, self._app.conversations.sessions
        try:
            infos = () if root is None else await sessions.list(root)
            state = root, [(info.session_id, info.size) for info in infos]
            if state != self._read:
                self._of_project = ()
                if root is not None and infos:
                    whole, day = await sessions.spent(root, infos[0].session_id)
                    name = msg("{text}", text=title_of(infos[0].name, infos[0].preview))
                    self._of_project = (
                        _spent(name, whole),
                        _spent(msg("Last 24 hours in this project"), day),
                    )
                self._read = state
        except CircuitAIError as error:
            self._of_project, self._read = (_group(msg("Conversations"), [error.message]),), None
        nothing = _group(msg("Conversations"), [msg("none")])
        providers = map(_service, self._app.models.providers.services())
        self.show_groups((*(self._of_project or (nothing,)), *providers))

    async def examine(self) -> None:
        self._read = None
        await self.refresh()


def _spent(title: Message, spent: Spent) -> FactGroup:
    return _group(title, list(spent_lines(spent)))


def _group(title: Message, lines: list[Message]) -> FactGroup:
    return FactGroup(
        title=title, facts=tuple(Fact(name=msg("{text}", text=""), value=line) for line in lines)
    )


def _service(report: ServiceReport) -> FactGroup:
    """A provider since the program started."""
    said = [
        msg(
            "{calls} {calls:request|requests}, {failures} failed, {retries} {retries:retry|retries}, "
            "{stopped} stopped",
            calls=report.calls,
            failures=report.failures,
            retries=report.retries,
            stopped=report.stopped,
        )
    ]
    if report.mean_first_piece_s is not None:
        said.append(
            msg("First token after {seconds} on average", seconds=seconds_of(report.mean_first_piece_s))
        )
    if report.errors:
        counts = ", ".join(f"{kind} {count}" for kind, count in sorted(report.errors.items()))
        said.append(msg("Errors: {counts}", counts=counts))
    return _group(msg("{provider} since the start", provider=report.provider), said)


_MOST = 12
"""Kinds of events and tasks that are listed, the most frequent."""


class StateView(FactSheet):
    """A DebugView."""

    def __init__(self, services: WindowServices, program: Program, tally: EventTally) -> None:
        super().__init__(services, "debugState")
        self._program = program
        self._tally = tally
        self._report: ExaminationReport | None = None
        self._examining = asyncio.Lock()

    async def refresh(self) -> None:
        """Counters now; the machine is examined once."""
        self._show()
        async with self._examining:
            if self._report is None:
                self._report = await self._program.examine.simulation()
                self._show()

    async def examine(self) -> None:
        """All that `doctor` examines; it takes some seconds."""
        workspace = self._services.workspace
        workspace.status_changed.emit(msg("Checking system"))
        async with self._examining:
            self._report = await self._program.examine()
        self._show()
        workspace.status_changed.emit(msg("System check finished"))

    def _show(self) -> None:
        running = Counter(handle.kind for handle in self._program.tasks.handles)
        del running[OWN_TASK]
        groups = [
            machine_facts(self._report),
            _program(),
            _counted(msg("Running tasks"), running),
            _counted(msg("Finished tasks"), self._tally.tasks),
        ]
        if self._tally.failures:
            groups.append(_counted(msg("Failed tasks"), self._tally.failures))
        self.show_groups((*groups, _counted(msg("Events"), self._tally.events)))


def _program() -> FactGroup:
    python = msg("{text}", text=platform.python_version())
    qt = msg(
        "{qt}, PyQt {pyqt}, display platform {platform}",
        qt=qVersion() or "",
        pyqt=PYQT_VERSION_STR,
        platform=QGuiApplication.platformName(),
    )
    facts = (
        Fact(name=msg("{text}", text="Python"), value=python),
        Fact(name=msg("{text}", text="Qt"), value=qt),
    )
    return FactGroup(title=msg("Program"), facts=facts)


def _counted(title: Message, counts: Counter[str]) -> FactGroup:
    facts = tuple(
        Fact(name=msg("{text}", text=name), value=msg("{count}", count=count))
        for name, count in counts.most_common(_MOST)
    )
    nothing = Fact(name=msg("none"), value=msg("{text}", text=""), state="plain")
    return FactGroup(title=title, facts=facts or (nothing,))


_MOST_BYTES = 64 * 1024


class LogView(QPlainTextEdit):
    """A DebugView."""

    def __init__(self, services: WindowServices, _program: Program, _tally: EventTally) -> None:
        super().__init__()
        self._services = services
        self._path = log_path(user_home())
        self._shown = ""
        self.setObjectName("debugLog")
        self.setReadOnly(True)
        self.setUndoRedoEnabled(False)
        mark(self, plain=True)
        services.dress(self)

    @property
    def plain_text(self) -> str:
        """The path, then the lines that are shown."""
        return f"{self._path}\n{self._shown}"

    async def refresh(self) -> None:
        """Read the file's end; somebody who reads further up is left there."""
        text = await asyncio.to_thread(_tail, self._path)
        if text == self._shown:
            return
        self._shown = text
        bar = self.verticalScrollBar()
        assert bar is not None
        place, follows = bar.value(), bar.value() >= bar.maximum()
        self.setPlainText(text)
        bar.setValue(bar.maximum() if follows else place)

    async def examine(self) -> None:
        await self.refresh()

    def restyle(self) -> None:
        self.setFont(self._services.theme.theme.font("mono_small"))

    def retranslate(self) -> None:
        """What stands there while nothing was logged."""
        language = self._services.language
        self.setAccessibleName(language(msg("Log")))
        self.setPlaceholderText(
            language(
                msg(
                    "Warnings and errors of the program appear here and in {file}.",
                    file=self._path,
                )
            )
        )


def _tail(path: Path) -> str:
    """The last lines of a file, whole ones; "" without one."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(size - _MOST_BYTES, 0))
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return ""
    return (text.partition("\n")[2] if size > _MOST_BYTES else text).rstrip()


_EVERY_MS = 2_000


class DebugView(Protocol):
    """What a view of the tab offers; it is a QWidget besides."""

    @property
    def plain_text(self) -> str: ...

    async def refresh(self) -> None:
        """Show what there is now; called every two seconds while the view is seen."""

    async def examine(self) -> None: ...


VIEWS: tuple[tuple[Message, Callable[[WindowServices, Application, EventTally], DebugView]], ...] = (
    (msg("State"), lambda services, app, tally: StateView(services, app.program, tally)),
    (msg("Log"), lambda services, app, tally: LogView(services, app.program, tally)),
    (msg("Traces"), lambda services, app, tally: TraceView(services, app.program, tally)),
    (msg("Tokens"), UseView),
)


class DebugPanel(QWidget):
    """One view at a time, and the buttons they share."""

    def __init__(self, services: WindowServices, app: Application, tally: EventTally) -> None:
        super().__init__()
        self._services = services
        self.setObjectName("debugPanel")
        self.views = [make(services, app, tally) for _, make in VIEWS]
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
