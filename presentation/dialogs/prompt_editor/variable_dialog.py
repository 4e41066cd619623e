"""Adding a variable of one's own to the identity, and removing some."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PyQt6.QtCore import pyqtSignal
from PyQt6.QtWidgets import (
    QCheckBox,
    QDialog,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QWidget,
)

from domain.llm.prompts.fallbacks import IDENTITY_VARIABLES
from domain.llm.prompts.library import IdentityVariable
from presentation.ui.parts import arrange
from presentation.ui.styles import mark
from presentation.ui.workspace import WindowServices
from shared.message import Message, msg


class AddVariableDialog(QDialog):
    """Name and value. `added` carries the IdentityVariable."""

    added = pyqtSignal(object)

    def __init__(
        self,
        services: WindowServices,
        refused: Callable[[str], Message | None],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._say, self._refused = services.language, refused
        self.setObjectName("addVariableDialog")
        self.setWindowTitle(self._say(msg("Add a variable")))
        self.name, self.value = QLineEdit(self), QLineEdit(self)
        self.name.setObjectName("variableName")
        self.value.setObjectName("variableValue")
        self.is_required = QCheckBox(self._say(msg("Warn when it is empty")), self)
        self._why = QLabel(self)
        self._why.setObjectName("variableProblem")
        mark(self._why, role="error")
        paths = ", ".join(f"{{{name}}}" for name in IDENTITY_VARIABLES)
        note = QLabel(
            self._say(
                msg("Text, or a value of the program: {names}; select parts of it with dots.", names=paths)
            ),
            self,
        )
        note.setWordWrap(True)
        mark(note, role="small")
        theme = services.theme.theme
        self.name.setFont(theme.font("mono"))
        form = QFormLayout(self)
        form.setContentsMargins(*(theme.size("space.4"),) * 4)
        form.setSpacing(theme.size("space.2"))
        form.addRow(self._say(msg("Name")), self.name)
        form.addRow("", self._why)
        form.addRow(self._say(msg("Value")), self.value)
        form.addRow("", note)
        form.addRow("", self.is_required)
        self.add = _buttons(form, services, self, self._say(msg("Add")), "confirmAdd")
        self.add.clicked.connect(self._on_add)
        self.name.textChanged.connect(self._on_name)
        self.setMinimumWidth(theme.size("pane.right_default"))
        self._on_name("")

    def _on_name(self, name: str) -> None:
        why = self._refused(name) if name else None
        self._why.setText(self._say(why) if why else "")
        self.add.setEnabled(bool(name) and why is None)

    def _on_add(self) -> None:
        self.added.emit(
            IdentityVariable(
                name=self.name.text(), is_required=self.is_required.isChecked(), value=self.value.text()
            )
        )
        self.accept()


class RemoveVariablesDialog(QDialog):
    """The user's own variables with a tick each. `removed` carries a list of names."""

    removed = pyqtSignal(object)

    def __init__(
        self, services: WindowServices, variables: Sequence[IdentityVariable], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        say, theme = services.language, services.theme.theme
        self.setObjectName("removeVariablesDialog")
        self.setWindowTitle(say(msg("Remove variables")))
        form = QFormLayout(self)
        form.setContentsMargins(*(theme.size("space.4"),) * 4)
        form.setSpacing(theme.size("space.2"))
        form.addRow(QLabel(say(msg("Places in the text that use a removed variable are marked.")), self))
        self.boxes = {
            each.name: QCheckBox(f"{{{each.name}}}", self) for each in variables if each.value is not None
        }
        for name, box in self.boxes.items():
            box.setObjectName(f"remove:{name}")
            box.setFont(theme.font("mono_small"))
            box.toggled.connect(lambda _on: self._on_ticked())
            form.addRow(box)
        self.remove = _buttons(form, services, self, say(msg("Remove")), "confirmRemove")
        self.remove.clicked.connect(self._on_remove)
        self._on_ticked()

    def _on_ticked(self) -> None:
        self.remove.setEnabled(any(box.isChecked() for box in self.boxes.values()))

    def _on_remove(self) -> None:
        self.removed.emit([name for name, box in self.boxes.items() if box.isChecked()])
        self.accept()


def _buttons(
    form: QFormLayout, services: WindowServices, dialog: QDialog, text: str, name: str
) -> QPushButton:
    """Cancel and the primary button, at the right; returns the latter."""
    cancel, primary = QPushButton(services.language(msg("Cancel")), dialog), QPushButton(text, dialog)
    primary.setObjectName(name)
    primary.setDefault(True)
    mark(primary, kind="primary", wide=True)
    mark(cancel, wide=True)
    cancel.clicked.connect(dialog.reject)
    row = arrange(QHBoxLayout(), 1, cancel, primary, gap=services.theme.theme.size("space.2"))
    form.addRow(row)
    return primary
