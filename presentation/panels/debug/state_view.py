"""What runs, what was told, what confines the simulator: the state of the program as facts."""

from __future__ import annotations

import asyncio
import platform
from collections import Counter
from typing import TYPE_CHECKING

from PyQt6.QtCore import PYQT_VERSION_STR, qVersion
from PyQt6.QtGui import QGuiApplication

from presentation.panels.debug.tally import OWN_TASK, EventTally
from presentation.ui.facts import Fact, FactGroup, FactSheet
from presentation.ui.machine import machine_facts
from presentation.ui.workspace import WindowServices
from shared.message import Message, msg

if TYPE_CHECKING:
    from application.examining import ExaminationReport
    from application.groups.program import Program

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
