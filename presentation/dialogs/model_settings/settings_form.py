"""The fields of a service on a network: rows with labels, its address and key, and whether a test holds.

The field of a key: it takes one, says where one is kept, and never shows it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from PyQt6.QtCore import Qt, QUrl, pyqtSignal
from PyQt6.QtGui import QDesktopServices
from PyQt6.QtWidgets import (
    QComboBox,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from application.groups.models import Models
from application.ports.credentials import KeyStatus, KeyStores
from domain.llm.chat import ProviderInfo
from presentation.dialogs.model_settings.words import KEEP_IN, KeepIn, key_note, key_placeholder
from presentation.ui.parts import arrange, text_label
from presentation.ui.styles import mark
from presentation.ui.workspace import WindowServices
from shared.message import Message, msg


class KeyField(QWidget):
    """Key, place and, for the encrypted file, its passphrase."""

    edited = pyqtSignal()
    remove_wanted = pyqtSignal()

    def __init__(self, services: WindowServices, models: Models) -> None:
        super().__init__()
        self._services = services
        self._models = models
        self._status = KeyStatus()
        self._stores = KeyStores()
        self._info: ProviderInfo | None = None
        self.edit = _secret_edit("modelKey")
        self.edit.textChanged.connect(self._on_edited)
        self.remove = QPushButton()
        self.remove.setObjectName("modelKeyRemove")
        self.page = QPushButton()
        self.page.setObjectName("modelKeyPage")
        for button in (self.remove, self.page):
            button.setAutoDefault(False)
            mark(button, kind="link")
        self.remove.clicked.connect(self.remove_wanted.emit)
        self.page.clicked.connect(self._open_page)
        self.place = QComboBox()
        self.place.setObjectName("modelKeyPlace")
        self.place.currentIndexChanged.connect(lambda _: self._refresh())
        self.passphrase = _secret_edit("modelPassphrase")
        self.note = text_label(wraps=True, role="small")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        row = arrange(QHBoxLayout(), (self.edit, 1), self.remove, self.page)
        arrange(column, row, self.place, self.passphrase, self.note)
        self.setFocusProxy(self.edit)

    @property
    def text(self) -> str:
        """What was typed; "" leaves the key as it is."""
        return self.edit.text().strip()

    @property
    def keep_in(self) -> KeepIn:
        chosen: KeepIn = self.place.currentData() or "session"
        return chosen

    def clear(self) -> None:
        self.edit.clear()
        self.passphrase.clear()

    def show_state(self, status: KeyStatus, stores: KeyStores, info: ProviderInfo) -> None:
        if stores != self._stores or self.place.count() == 0:
            self._stores = stores
            self.place.clear()
            for place in ("keyring", "file", "session") if stores.keyring else ("file", "session"):
                self.place.addItem("", place)
        self._status, self._info = status, info
        self.retranslate()

    def _on_edited(self) -> None:
        self._refresh()
        self.edited.emit()

    def _refresh(self) -> None:
        status = self._status
        is_typed = bool(self.text)
        from_environment = status.place == "environment"
        self.place.setVisible(is_typed)
        wants_file = is_typed and self.keep_in == "file"
        self.passphrase.setVisible(status.needs_passphrase or (wants_file and not self._is_unlocked))
        self.remove.setVisible(status.place not in (None, "environment") and not is_typed)
        page = self._info.key_page if self._info is not None else ""
        self.page.setVisible(bool(page) and status.place is None and not is_typed)
        self.edit.setEnabled(not from_environment)

    @property
    def _is_unlocked(self) -> bool:
        return self._models.keys.is_unlocked

    def _open_page(self) -> None:
        if self._info is not None and self._info.key_page:
            QDesktopServices.openUrl(QUrl(self._info.key_page))

    def retranslate(self) -> None:
        language = self._services.language
        for index in range(self.place.count()):
            self.place.setItemText(index, language(KEEP_IN[self.place.itemData(index)]))
        self.remove.setText(language(msg("Remove")))
        self.page.setText(language(msg("Get a key")))
        self.edit.setAccessibleName(language(msg("API key")))
        self.place.setAccessibleName(language(msg("Store the key in")))
        new = not self._stores.has_file
        words = msg("Choose a passphrase, at least 8 characters") if new else msg("Passphrase")
        self.passphrase.setPlaceholderText(language(words))
        self.passphrase.setAccessibleName(language(words))
        if self._info is not None:
            self.edit.setPlaceholderText(language(key_placeholder(self._status, self._info)))
            self.note.setText(language(key_note(self._status, self._stores, self._info)))
        self._refresh()


def _secret_edit(name: str) -> QLineEdit:
    edit = QLineEdit()
    edit.setObjectName(name)
    edit.setEchoMode(QLineEdit.EchoMode.Password)
    # Neither an input method's memory nor a drag may carry it away.
    edit.setInputMethodHints(
        Qt.InputMethodHint.ImhHiddenText
        | Qt.InputMethodHint.ImhSensitiveData
        | Qt.InputMethodHint.ImhNoPredictiveText
    )
    edit.setDragEnabled(False)
    return edit


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
