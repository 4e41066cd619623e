"""The field of a key: it takes one, says where one is kept, and never shows it."""

from __future__ import annotations

from PyQt6.QtCore import Qt, QUrl, pyqtSignal
from PyQt6.QtGui import QDesktopServices
from PyQt6.QtWidgets import QComboBox, QHBoxLayout, QLineEdit, QPushButton, QVBoxLayout, QWidget

from application.groups.models import Models
from application.ports.credentials import KeyStatus, KeyStores
from domain.llm.chat import ProviderInfo
from presentation.dialogs.model_settings.words import KEEP_IN, KeepIn, key_note, key_placeholder
from presentation.ui.parts import arrange, text_label
from presentation.ui.styles import mark
from presentation.ui.workspace import WindowServices
from shared.message import msg


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
