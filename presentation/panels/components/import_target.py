"""Where an imported library goes, and in which form."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PyQt6.QtCore import pyqtSignal
from PyQt6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QComboBox,
    QHBoxLayout,
    QRadioButton,
    QVBoxLayout,
    QWidget,
)

from application.components.importing import PROJECT_PLACE, library_name
from domain.circuit.dialects import PROGRAMS
from domain.circuit.netlist import LIBRARY_SUFFIXES
from presentation.ui.new_project import short_path
from presentation.ui.parts import arrange, push_button, text_label
from presentation.ui.questions import choose_folder
from shared.message import Message, msg

if TYPE_CHECKING:
    from application.components.importing import FoundLibrary
    from presentation.panels.components.import_pins import PinPage
    from presentation.ui.workspace import WindowServices


class TargetPage(QWidget):
    """The project, or one of the library folders."""

    changed = pyqtSignal()

    def __init__(
        self, services: WindowServices, folders: Callable[[], tuple[Path, ...]], pins: PinPage
    ) -> None:
        super().__init__()
        self._services, self._library_folders, self._pins = services, folders, pins
        self._found: FoundLibrary | None = None
        self._folders: list[Path] = []
        self.in_project, self.in_folder = QRadioButton(), QRadioButton()
        self.in_project.setObjectName("importIntoProject")
        self.in_folder.setObjectName("importIntoFolder")
        group = QButtonGroup(self)
        for button in (self.in_project, self.in_folder):
            group.addButton(button)
            button.toggled.connect(lambda _on: self._on_changed())
        self.in_project.setChecked(True)
        self.folder = QComboBox()
        self.folder.setObjectName("importFolder")
        self.folder.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.folder.setMinimumContentsLength(10)
        self.folder.activated.connect(lambda _at: self.in_folder.setChecked(True))
        self.other = push_button(name="importOtherFolder", clicked=lambda _on=False: self._choose())
        self.convert = QCheckBox()
        self.convert.setObjectName("importConvert")
        self._notes = text_label(name="importTargetNotes", wraps=True, role="secondary")
        line = QWidget()
        self._line = arrange(QHBoxLayout(line), (self.folder, 1), self.other, 0, edges=0)
        self._column = arrange(
            QVBoxLayout(self), self.in_project, self.in_folder, line, self.convert, self._notes, 1, edges=0
        )

    @property
    def target(self) -> Path | None:
        """The library folder; None: the project."""
        at = self.folder.currentIndex()
        return self._folders[at] if self.in_folder.isChecked() and 0 <= at < len(self._folders) else None

    @property
    def converts(self) -> bool:
        return self.convert.isChecked() and self.convert.isEnabled()

    def refusal(self) -> Message | None:
        """Why nothing can be written yet."""
        return msg("Choose a folder.") if self.in_folder.isChecked() and self.target is None else None

    def show_library(self, found: FoundLibrary) -> None:
        """Begin with another library."""
        self._found = found
        self._folders = [
            path for path in self._library_folders() if path.suffix.lower() not in LIBRARY_SUFFIXES
        ]
        self.convert.setChecked(found.can_convert)
        self.in_project.setChecked(True)
        self.retranslate()

    def _choose(self) -> None:
        self._services.start(self._add_folder(), kind="question")

    async def _add_folder(self) -> None:
        start = next(iter(self._folders), Path.home())
        chosen = await choose_folder(
            self._services, self.window() or self, msg("Choose a library folder"), start
        )
        if chosen is None:
            return
        if chosen not in self._folders:
            self._folders.append(chosen)
        self.retranslate()
        self.folder.setCurrentIndex(self._folders.index(chosen))
        self.in_folder.setChecked(True)
        self._on_changed()

    def _on_changed(self) -> None:
        self._say()
        self.changed.emit()

    def restyle(self) -> None:
        gap = self._services.theme.theme.size("space.2")
        self._column.setSpacing(gap)
        self._line.setSpacing(gap)

    def retranslate(self) -> None:
        language, found = self._services.language, self._found
        at = self.folder.currentIndex()
        self.folder.clear()
        self.folder.addItems([short_path(path) for path in self._folders])
        self.folder.setCurrentIndex(at if 0 <= at < len(self._folders) else min(0, len(self._folders) - 1))
        self.folder.setVisible(bool(self._folders))
        self._line.setStretch(2, 0 if self._folders else 1)
        self.folder.setAccessibleName(language(msg("Library folder")))
        self.other.setText(language(msg("Choose a folder…")))
        name = "" if found is None else library_name(found.source)
        self.in_project.setText(
            language(msg("Into this project: {path}", path=f"{PROJECT_PLACE}/{name}")).replace("&", "&&")
        )
        self.in_folder.setText(language(msg("Into a library folder, for every project")))
        program = "" if found is None else PROGRAMS[found.text.dialect]
        self.convert.setText(language(msg("Convert from {program} syntax to ngspice's", program=program)))
        self.convert.setVisible(found is not None and found.is_foreign)
        self.convert.setEnabled(found is not None and found.can_convert)
        self._say()

    def say_again(self) -> None:
        """Other pins were confirmed."""
        self._say()

    def _say(self) -> None:
        found, notes = self._found, []
        if found is None:
            return
        failing = sum(1 for part in found.parts if part.state == "failed")
        if failing:
            notes.append(
                msg(
                    "{count} {count:part does|parts do} not load in ngspice: {count:it comes|they come} "
                    "along all the same.",
                    count=failing,
                )
            )
        if count := self._pins.unconfirmed():
            notes.append(
                msg(
                    "{count} {count:subcircuit keeps|subcircuits keep} the names of the pins: their order "
                    "was not confirmed.",
                    count=count,
                )
            )
        if self.in_project.isChecked():
            notes.append(msg("The import can be undone."))
        self._notes.setText("\n".join(map(self._services.language, notes)))
