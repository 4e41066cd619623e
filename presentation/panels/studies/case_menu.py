"""The cases that are kept with one circuit: what they are, opened as circuits, deleted, not run any more."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import QMenu

from presentation.ui.frame import IconButton
from presentation.ui.workspace import WindowServices
from shared.errors import CircuitAIError
from shared.message import msg

if TYPE_CHECKING:
    from application.app import Application
    from domain.studies.named_case import NamedCase

SETTING = "run_cases"


class CaseMenu(IconButton):
    """A button whose menu lists them."""

    run_opened = pyqtSignal(object, str, int)
    """path, what its changes are counted from, line: a circuit was made of a case"""

    def __init__(self, services: WindowServices, app: Application, circuit: Path) -> None:
        super().__init__(services, "flag", msg("Cases that every run checks"), name="cases")
        self._app = app
        self._circuit = circuit
        self.clicked.connect(
            lambda _checked=False: services.start(self._show(), kind="read cases", scope=f"cases {id(self)}")
        )

    async def _show(self) -> None:
        root = self._services.workspace.root
        if root is not None:
            found = await self._app.project.cases.of(root, self._circuit)
            self.menu_of(found).popup(self.mapToGlobal(self.rect().bottomLeft()))

    def menu_of(self, cases: tuple[NamedCase, ...]) -> QMenu:
        """A part for each, with what is different in it."""
        language, menu = self._services.language, QMenu(self)
        menu.setObjectName("cases_menu")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for case in cases:
            part = QMenu(f"{case.name}\t{case.conditions}".replace("&", "&&"), menu)
            part.setObjectName(f"case:{case.name}")
            for name, text, act in (
                ("open_case", msg("Open as a circuit"), self._open_case),
                ("delete_case", msg("Delete the case"), self._delete),
            ):
                action = part.addAction(language(text))
                assert action is not None
                action.setObjectName(name)
                action.triggered.connect(partial(act, case))
            menu.addMenu(part)
        if not cases:
            none = menu.addAction(language(msg("No case is kept yet: the menu of a run keeps it as one")))
            assert none is not None
            none.setEnabled(False)
        menu.addSeparator()
        every = menu.addAction(language(msg("Simulate the kept cases with every run")))
        assert every is not None
        every.setObjectName("run_cases")
        every.setCheckable(True)
        every.setChecked(self._app.program.runs_cases)
        every.toggled.connect(self._set)
        return menu

    def _set(self, is_on: bool) -> None:
        kept = self._app.program.preferences.set(SETTING, value=is_on)
        self._services.start(kept, kind="set")

    def _delete(self, case: NamedCase, _checked: bool = False) -> None:
        self._services.start(self._take_away(case), kind="delete case")

    def _open_case(self, case: NamedCase, _checked: bool = False) -> None:
        self._services.start(self._open(case), kind="open run", scope="open run")

    async def _take_away(self, case: NamedCase) -> None:
        workspace = self._services.workspace
        if workspace.root is None:
            return
        try:
            await self._app.project.cases.delete(workspace.root, self._circuit, case.name)
        except CircuitAIError as error:
            workspace.error_occurred.emit(error)
            return
        workspace.status_changed.emit(msg("Case {name} deleted", name=case.name))

    async def _open(self, case: NamedCase) -> None:
        """The circuit as the case has it, in a file of its own."""
        workspace, buffers = self._services.workspace, self._services.workspace.buffers
        root = workspace.root
        if root is None or (buffers is not None and not await buffers.save_unsaved()):
            return
        title = self._services.language(msg("Case {case} of {name}", case=case.name, name=self._circuit.name))
        try:
            values = await self._app.project.run_cases.values_of(self._circuit, case)
            made = await self._app.project.circuit_of_run(
                root, self._circuit, values, corner=case.section, label=case.name, title=title
            )
        except CircuitAIError as error:
            workspace.error_occurred.emit(error)
            return
        workspace.file_changed.emit(made.path)
        self.run_opened.emit(made.path, made.before, made.line)
