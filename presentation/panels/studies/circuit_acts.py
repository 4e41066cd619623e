"""What results of studies do with the circuit: values written and undone, runs as circuits, goals."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject, pyqtSignal
from PyQt6.QtWidgets import QWidget

from application.groups.project import Project
from application.groups.simulation import Simulation
from application.project.undoing import VALUES_TOOL
from application.studies.reading import StoredRow, StoredStudy
from presentation.ui.workspace import WindowServices
from shared.errors import CircuitAIError
from shared.message import msg

if TYPE_CHECKING:
    from application.project.named_cases import FoundCase


class CircuitActs(QObject):
    """The acts of one page."""

    changed = pyqtSignal()
    """values were written into the circuit, or taken out"""
    difference_wanted = pyqtSignal(str, str, str)
    """name, text before, text after"""
    run_opened = pyqtSignal(object, str, int)
    """path, what its changes are counted from, line"""

    def __init__(
        self,
        services: WindowServices,
        project: Project,
        simulation: Simulation,
        circuit: Path,
        page: QWidget,
    ) -> None:
        super().__init__(page)
        self._services = services
        self._project = project
        self._simulation = simulation
        self._circuit = circuit
        self._page = page
        self._op_id = ""
        """Of the values that were written last; "" = none that could be taken out."""
        self._changing = asyncio.Lock()
        """A change that is behind another sees what that has written, and which of them can be taken out."""

    @property
    def is_applied(self) -> bool:
        """Whether values stand in the circuit that can be taken out again."""
        return bool(self._op_id)

    def forget(self) -> None:
        """Other results are shown: what was written stays."""
        self._op_id = ""
        self.changed.emit()

    def apply(self, values: Mapping[str, str]) -> None:
        """Write values into the circuit as one change."""
        self._services.start(self.write(values), kind="set values", scope="set values")

    def undo(self) -> None:
        """Take the values out again that were written last."""
        if self._op_id:
            self._services.start(self._take_out(), kind="set values", scope="set values")

    def show_difference(self, values: Mapping[str, str]) -> None:
        """Show what would be written."""
        self._services.start(self._differ(values), kind="set values", scope="set values")

    def open_run(self, study: StoredStudy, row: StoredRow, title: str) -> None:
        """Keep the circuit of a run in a file of its own, and open it with its values marked."""
        self._services.start(self._open_run(study, row, title), kind="open run", scope="open run")

    def keep_case(self, found: FoundCase) -> None:
        """Ask for a name, and keep a run as a case that every run of the circuit simulates too."""
        self._services.start(self._keep_case(found), kind="question")

    def export(self, study: StoredStudy, parent: QWidget) -> None:
        """Ask where the table of all runs is to go, and write it."""
        self._services.start(self._export(study, parent), kind="export")

    def edit_goals(self) -> None:
        """Show the goals of the circuit."""
        self._services.start(self._ask_for_goals(), kind="question")

    async def write(self, values: Mapping[str, str]) -> bool:
        """The same; whether they stand in the circuit now."""
        async with self._changing:
            return await self._write(values)

    async def _write(self, values: Mapping[str, str]) -> bool:
        workspace, root = self._services.workspace, self._services.workspace.root
        if root is None or not await self._saved():
            return False
        try:
            change = await self._simulation.write_values(self._circuit, values)
            if self._op_id and change.after == change.before:  # what can be undone stays so
                return True
            record = await self._project.operations.rewrite(
                root,
                {change.path: change.after},
                expected={change.path: change.before_sha256},
                tool=VALUES_TOOL,
            )
        except CircuitAIError as error:
            workspace.error_occurred.emit(error)
            return False
        self._op_id = record.op_id
        workspace.file_changed.emit(self._circuit)
        count = len(values)
        workspace.status_changed.emit(
            msg("{count} {count:value|values} written into {name}", count=count, name=self._circuit.name)
        )
        self.changed.emit()
        return True

    async def _take_out(self) -> None:
        async with self._changing:
            if self._op_id:
                await self._undo()

    async def _undo(self) -> None:
        workspace, root = self._services.workspace, self._services.workspace.root
        if root is None or not await self._saved():
            return
        try:
            await self._project.operations.undo(root, self._op_id)
        except CircuitAIError as error:
            workspace.error_occurred.emit(error)
            return
        self._op_id = ""
        workspace.file_changed.emit(self._circuit)
        workspace.status_changed.emit(msg("{name} has its former values again", name=self._circuit.name))
        self.changed.emit()

    async def _saved(self) -> bool:
        buffers = self._services.workspace.buffers
        return buffers is None or await buffers.save_unsaved()

    async def _differ(self, values: Mapping[str, str]) -> None:
        try:
            change = await self._simulation.write_values(self._circuit, values)
        except CircuitAIError as error:
            self._services.workspace.error_occurred.emit(error)
            return
        before, after = (text.decode("utf-8", errors="replace") for text in (change.before, change.after))
        self.difference_wanted.emit(self._circuit.name, before, after)

    async def _open_run(self, study: StoredStudy, row: StoredRow, title: str) -> None:
        workspace, root = self._services.workspace, self._services.workspace.root
        if root is None or not await self._saved():
            return
        label = f"corner_{row.corner}" if row.corner and study.kind == "corners" else f"run_{row.run}"
        heading = self._services.language(
            msg("Run {number} of {study} of {name}", number=row.run, study=title, name=self._circuit.name)
        )
        try:
            made = await self._project.circuit_of_run(
                root, self._circuit, row.parameters, corner=row.corner, label=label, title=heading
            )
        except CircuitAIError as error:
            workspace.error_occurred.emit(error)
            return
        workspace.file_changed.emit(made.path)
        self.run_opened.emit(made.path, made.before, made.line)

    async def _keep_case(self, found: FoundCase) -> None:
        from presentation.ui.questions import ask_text

        workspace, language = self._services.workspace, self._services.language
        root = workspace.root
        if root is None:
            return
        taken = {each.name for each in await self._project.cases.of(root, self._circuit)}
        usual = found.row.corner or language(msg("Worst case"))
        free = (usual if not number else f"{usual} {number + 1}" for number in range(len(taken) + 1))
        name = await ask_text(
            self._services,
            self._page.window() or self._page,
            title=msg("Keep as a case"),
            label=msg("Name; a case of the same name is replaced"),
            text=next(each for each in free if each not in taken),
        )
        if name is None:
            return
        try:
            case = await self._project.cases.keep(root, self._circuit, name, found)
        except CircuitAIError as error:
            workspace.error_occurred.emit(error)
            return
        told = msg("Case {name} kept: {conditions}", name=case.name, conditions=case.conditions)
        if not await self._project.browse.goals(root, self._circuit):
            told = msg("Case {name} kept. It has nothing to judge until {circuit} has goals.",
                       name=case.name, circuit=self._circuit.name)  # fmt: skip
        workspace.status_changed.emit(told)

    async def _export(self, study: StoredStudy, parent: QWidget) -> None:
        from presentation.ui.questions import choose_target
        from presentation.ui.whole_file import write

        workspace = self._services.workspace
        start = self._circuit.with_name(f"{self._circuit.stem}_{study.kind}.csv")
        target = await choose_target(self._services, parent, msg("Export the table"), start)
        if target is None:
            return
        content = await self._simulation.read_study.table(study.path)
        await asyncio.to_thread(write, target, content)
        workspace.status_changed.emit(msg("Exported {name}", name=target.name))

    async def _ask_for_goals(self) -> None:
        from application.ports.events import GoalsUnderstood
        from presentation.dialogs.goals import GoalsDialog

        workspace, root = self._services.workspace, self._services.workspace.root
        if root is None:
            return
        browse = self._project.browse
        told = GoalsUnderstood(goals=await browse.goals(root, self._circuit), assumptions=())
        dialog = GoalsDialog(self._services, told, self._page.window(), circuit=self._circuit.name)
        wanted = await dialog.ask()
        if wanted is None:
            return
        try:
            await browse.ask_of(root, self._circuit, wanted)
        except CircuitAIError as error:
            workspace.error_occurred.emit(error)
            return
        workspace.goals_changed.emit(self._circuit)
