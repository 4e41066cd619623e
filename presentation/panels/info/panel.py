"""What is known of the project, its results, the shown file and the simulator."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PyQt6.QtGui import QShowEvent
from PyQt6.QtWidgets import QVBoxLayout, QWidget

from presentation.ui.facts import Fact, FactGroup, FactSheet, size_text
from presentation.ui.machine import machine_facts
from presentation.ui.parts import arrange, once_after
from presentation.ui.styles import mark
from presentation.ui.workspace import WindowServices
from shared.local_time import local_time
from shared.message import Message, msg

if TYPE_CHECKING:
    from application.examining import ExaminationReport
    from application.groups.program import Program
    from application.groups.project import Project
    from application.project.browsing import ResultSummary, StoredResults

_SOON_MS = 200


@dataclass(frozen=True, slots=True)
class _FileFacts:
    path: Path
    size: int
    changed: str


class InfoPanel(QWidget):
    """Follows the workspace; reads only while it is seen."""

    def __init__(self, services: WindowServices, project: Project, program: Program) -> None:
        super().__init__()
        self._services = services
        self._project = project
        self._program = program
        self._report: ExaminationReport | None = None
        self.setObjectName("infoPanel")
        self.sheet = FactSheet(services, "infoSheet")
        arrange(QVBoxLayout(self), self.sheet, edges=0)
        mark(self, surface="base")
        self.setFocusProxy(self.sheet)
        self._soon = once_after(self, _SOON_MS, self._read)
        workspace = services.workspace
        for signal in (
            workspace.project_opened, workspace.main_circuit_changed, workspace.file_changed,
            workspace.file_shown, workspace.run_finished, workspace.result_offered, workspace.result_waits,
        ):  # fmt: skip
            signal.connect(self._read_soon)
        workspace.project_closed.connect(self._read_soon)
        services.language.changed.connect(self.retranslate)
        self.retranslate()

    def retranslate(self, _name: object = None) -> None:
        """The name for screen readers; the sheet translates itself."""
        self.sheet.setAccessibleName(self._services.language(msg("Info")))

    def showEvent(self, event: QShowEvent | None) -> None:  # noqa: N802 - Qt's name
        super().showEvent(event)
        self._read()

    def _read_soon(self, _what: object = None) -> None:
        if self.isVisible():
            self._soon.start()

    def _read(self) -> None:
        self._services.start(self._show(), kind="info panel", scope="info panel")

    async def _show(self) -> None:
        services = self._services
        root, shown = services.workspace.root, services.workspace.shown_file
        if self._report is None:
            self.sheet.show_groups((machine_facts(None),))
            self._report = await self._program.examine.simulation()
        groups: list[FactGroup] = []
        if root is not None:
            results = await self._project.browse.results(root)
            stored = await self._project.browse.stored(root)
            groups.append(self._project_facts(root))
            groups.append(_results(results, stored))
        file = None if shown is None else await asyncio.to_thread(_file_facts, shown)
        if file is not None:
            groups.append(_file(file, root))
        if root == services.workspace.root:
            self.sheet.show_groups((*groups, machine_facts(self._report)))

    def _project_facts(self, root: Path) -> FactGroup:
        main = self._services.workspace.main_circuit
        return FactGroup(
            title=msg("Project"),
            facts=(
                Fact(name=msg("Name"), value=msg("{text}", text=root.name)),
                Fact(name=msg("Folder"), value=msg("{text}", text=str(root))),
                Fact(
                    name=msg("Main circuit"),
                    value=msg("not chosen yet") if main is None else _within(main, root),
                    state="plain" if main is not None else "warning",
                ),
            ),
        )


def _results(results: tuple[ResultSummary, ...], stored: StoredResults) -> FactGroup:
    facts = [
        Fact(name=msg("Stored runs"), value=msg("{count}", count=stored.count)),
        Fact(name=msg("Size on disk"), value=msg("{text}", text=size_text(stored.size))),
    ]
    if results:
        newest = results[0]
        when = local_time(newest.created)
        run = msg(
            "Run {number}, {circuit}, {time}",
            number=newest.number,
            circuit=newest.circuit.name,
            time="?" if when is None else f"{when:%Y-%m-%d %H:%M}",
        )
        facts.append(Fact(name=msg("Latest"), value=run, state="ok" if newest.ok else "missing"))
    return FactGroup(title=msg("Results"), facts=tuple(facts))


def _file(file: _FileFacts, root: Path | None) -> FactGroup:
    return FactGroup(
        title=msg("Current file"),
        facts=(
            Fact(name=msg("File"), value=_within(file.path, root)),
            Fact(name=msg("Size on disk"), value=msg("{text}", text=size_text(file.size))),
            Fact(name=msg("Last change"), value=msg("{text}", text=file.changed)),
        ),
    )


def _within(path: Path, root: Path | None) -> Message:
    inner = path.relative_to(root) if root is not None and path.is_relative_to(root) else path
    return msg("{text}", text=inner.as_posix())


def _file_facts(path: Path) -> _FileFacts | None:
    try:
        found = path.stat()
    except OSError:  # removed, or on a drive that is gone: the tab says so
        return None
    changed = local_time(found.st_mtime)
    return _FileFacts(path, found.st_size, "" if changed is None else f"{changed:%Y-%m-%d %H:%M:%S}")
