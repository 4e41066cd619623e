"""The fields of a service on a network: rows with labels, its address and key, and whether a test holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import (
    QComboBox,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from application.groups.models import Models
from presentation.dialogs.model_settings.key_field import KeyField
from presentation.ui.parts import arrange, text_label
from presentation.ui.workspace import WindowServices
from shared.message import Message


class SettingsForm(QWidget):
    """Edits a copy of the settings; a subclass has `settings`, which is what stands in the fields."""

    changed = pyqtSignal()
    """Something that a test would depend on."""
    words: ClassVar[Mapping[str, Message]]
    """The labels of the rows by their names."""
    prefix: ClassVar[str]
    """The names of the fields begin with it."""

    def __init__(self, services: WindowServices, models: Models) -> None:
        super().__init__()
        self._services = services
        self._models = models
        self.has_new_key = False
        """Another key than at the last test: one was typed, or the kept one removed."""
        self.setObjectName(f"{self.prefix}Form")
        self.key = KeyField(services, models)
        self.key.edited.connect(self.on_other_key)
        self.url = QLineEdit()
        self.url.setObjectName(f"{self.prefix}Url")
        self.url.textChanged.connect(self._tell)
        self._labels: dict[str, QLabel] = {}
        self._numbers: list[tuple[QLabel, QSpinBox, Message]] = []
        self._form = QFormLayout()
        self._form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self._form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)

    @property
    def server(self) -> str:
        return self.url.text().strip()

    def on_other_key(self) -> None:
        """The key is not the one that was tested."""
        self.has_new_key = True
        self.changed.emit()

    def _tell(self, *_value: object) -> None:
        self.changed.emit()

    # --- parts ---------------------------------------------------------------------------------------

    def _model_box(self) -> QComboBox:
        """A field for a model's name that also offers those that are known."""
        box = QComboBox()
        box.setEditable(True)
        box.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        box.editTextChanged.connect(self._tell)
        return box

    def _number_row(self, boxes: Mapping[QSpinBox, Message]) -> QWidget:
        """Fields of numbers side by side, each behind its small label."""
        whole = QWidget()
        row = arrange(QHBoxLayout(whole), edges=0)
        for box, words in boxes.items():
            box.setButtonSymbols(QSpinBox.ButtonSymbols.NoButtons)
            box.valueChanged.connect(self._tell)
            label = text_label(role="small")
            arrange(row, label, (box, 1))
            self._numbers.append((label, box, words))
        return whole

    def _add_rows(self, rows: Mapping[str, QWidget], *below: QWidget, **buddies: QWidget) -> None:
        """Lay out the fields by the rows' names; `buddies` get the keyboard where a row is several parts."""
        for name, field in rows.items():
            self._labels[name] = label = QLabel()
            label.setBuddy(buddies.get(name, field))
            self._form.addRow(label, field)
        arrange(QVBoxLayout(self), self._form, *below, edges=0)

    def _show_rows(self, **shown: bool) -> None:
        """Show or hide the rows that are named."""
        for row, name in enumerate(self._labels):
            if name in shown:
                self._form.setRowVisible(row, shown[name])

    # --- looks ---------------------------------------------------------------------------------------

    def restyle(self) -> None:
        theme = self._services.theme.theme
        self._form.setHorizontalSpacing(theme.size("space.4"))
        self._form.setVerticalSpacing(theme.size("space.3"))

    def retranslate(self) -> None:
        language = self._services.language
        for name, label in self._labels.items():
            label.setText(language(self.words[name]))
        for small, box, words in self._numbers:
            small.setText(language(words))
            box.setAccessibleName(language(words))
        self.key.retranslate()
