"""The set-ups of one circuit's studies that have a name: saved, chosen again, taken away."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtGui import QAction
from PyQt6.QtWidgets import QMenu

from domain.studies.setup import SetupKind, StudySetup
from presentation.study_words import TITLES
from presentation.ui.frame import IconButton
from presentation.ui.workspace import WindowServices
from shared.errors import CircuitAIError
from shared.message import Message, msg

if TYPE_CHECKING:
    from application.groups.project import Project
    from application.project.saved_setups import SavedSetup


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupsInFront:
    """What the menu speaks of, asked when it opens."""

    kind: SetupKind
    filled_in: StudySetup
    shown: StudySetup | None
    """Of the study whose results are shown; None where that is not known."""
    can_run: bool


class SetupMenu(IconButton):
    """A button whose menu lists them."""

    chosen = pyqtSignal(str, object)
    """kind, StudySetup: to be shown"""
    run_wanted = pyqtSignal(str, object)
    """kind, StudySetup: to be shown and run"""

    def __init__(
        self,
        services: WindowServices,
        project: Project,
        circuit: Path,
        in_front: Callable[[], SetupsInFront | None],
    ) -> None:
        super().__init__(services, "list", msg("Set-ups of this study"), name="study_setups")
        self._project = project
        self._circuit = circuit
        self._in_front = in_front
        self.clicked.connect(lambda _checked=False: self._open())

    def _open(self) -> None:
        self._services.start(self._show(), kind="read set-ups", scope=f"setups {id(self)}")

    async def _show(self) -> None:
        root, front = self._services.workspace.root, self._in_front()
        if root is None or front is None:
            return
        found = await self._project.setups.of(root, self._circuit)
        own = [each for each in found if each.kind == front.kind]
        menu = self._menu(front, own)
        menu.popup(self.mapToGlobal(self.rect().bottomLeft()))

    def _menu(self, front: SetupsInFront, own: list[SavedSetup]) -> QMenu:
        language, menu = self._services.language, QMenu(self)
        menu.setObjectName("setups_menu")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.setToolTipsVisible(True)
        names = [each.name for each in own]
        save = self._add(menu, "save_setup", msg("Save set-up…"), lambda: self._save(front, names))
        save.setEnabled(front.kind != "tune" or bool(front.filled_in.rows))
        menu.addSeparator()
        for each in own:
            action = menu.addAction(each.name.replace("&", "&&"))
            assert action is not None
            action.setObjectName(f"setup:{each.name}")
            action.setCheckable(True)
            action.setChecked(each.setup == front.filled_in)
            action.triggered.connect(partial(self._choose, each))
        if not own:
            self._add(menu, "no_setups", msg("No set-up has a name yet"), lambda: None).setEnabled(False)
        menu.addSeparator()
        shown = front.shown
        for name, text, act in (
            ("setup_of_study", msg("Set-up of the shown study"), self.chosen),
            ("run_study_again", msg("Run the shown study again"), self.run_wanted),
        ):
            action = self._add(menu, name, text, partial(act.emit, front.kind, shown))
            action.setEnabled(shown is not None and (act is self.chosen or front.can_run))
            if shown is None:
                action.setToolTip(language(msg("No study is shown whose set-up was filled in on this page.")))
        if own:
            removal = QMenu(language(msg("Delete set-up")), menu)
            removal.setObjectName("delete_setup")
            for each in own:
                action = removal.addAction(each.name.replace("&", "&&"))
                assert action is not None
                action.setObjectName(f"delete:{each.name}")
                action.triggered.connect(partial(self._remove, each))
            menu.addMenu(removal)
        return menu

    def _add(self, menu: QMenu, name: str, text: Message, act: Callable[[], object]) -> QAction:
        action = QAction(self._services.language(text), menu)
        action.setObjectName(name)
        action.triggered.connect(lambda _checked=False: act())
        menu.addAction(action)
        return action

    def _choose(self, saved: SavedSetup, _checked: bool = False) -> None:
        self.chosen.emit(saved.kind, saved.setup)

    def _save(self, front: SetupsInFront, names: list[str]) -> None:
        self._services.start(self._ask_and_save(front, names), kind="question")

    def _remove(self, saved: SavedSetup, _checked: bool = False) -> None:
        self._services.start(self._take_away(saved), kind="delete set-up")

    async def _ask_and_save(self, front: SetupsInFront, names: list[str]) -> None:
        from application.project.saved_setups import SavedSetup
        from presentation.ui.questions import ask_text

        workspace, language = self._services.workspace, self._services.language
        usual = language(TITLES[front.kind])
        free = (usual if not number else f"{usual} {number + 1}" for number in range(len(names) + 1))
        name = await ask_text(
            self._services,
            self.window() or self,
            title=msg("Save set-up"),
            label=msg("Name; a set-up of the same name is replaced"),
            text=next(each for each in free if each not in names),
        )
        if name is None or workspace.root is None:
            return
        saved = SavedSetup(name=name, kind=front.kind, setup=front.filled_in)
        try:
            await self._project.setups.save(workspace.root, self._circuit, saved)
        except CircuitAIError as error:
            workspace.error_occurred.emit(error)
            return
        workspace.status_changed.emit(msg("Set-up {name} saved", name=" ".join(name.split())))

    async def _take_away(self, saved: SavedSetup) -> None:
        workspace = self._services.workspace
        if workspace.root is None:
            return
        try:
            await self._project.setups.remove(workspace.root, self._circuit, saved)
        except CircuitAIError as error:
            workspace.error_occurred.emit(error)
            return
        workspace.status_changed.emit(msg("Set-up {name} deleted", name=saved.name))
