"""Which model answers: a menu at the input, and a small dialog for a server's address."""

from __future__ import annotations

from collections.abc import Callable

from PyQt6.QtGui import QAction, QActionGroup
from PyQt6.QtWidgets import (
    QDialog,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QMenu,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from domain.llm.chat import ProviderChoice, ProviderInfo
from presentation.window.styles import mark
from presentation.window.workspace import WindowServices
from shared.message import msg

BUILTIN = "builtin"


class ModelMenu(QMenu):
    """Lists the providers when it is opened; tells `chosen` of a choice."""

    def __init__(
        self,
        services: WindowServices,
        current: Callable[[], ProviderChoice],
        chosen: Callable[[ProviderChoice], None],
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._services = services
        self._current = current
        self._chosen = chosen
        self._dialog: ServerDialog | None = None
        self.setObjectName("modelMenu")
        self.aboutToShow.connect(self._fill)

    def _fill(self) -> None:
        self.clear()
        group = QActionGroup(self)
        for info in self._services.app.models.list():
            action = QAction(self._title(info), self)
            action.setObjectName(f"model-{info.name}")
            action.setCheckable(True)
            action.setChecked(info.name == self._current().provider)
            action.triggered.connect(lambda _checked, info=info: self._choose(info))
            group.addAction(action)
            self.addAction(action)

    def _title(self, info: ProviderInfo) -> str:
        language = self._services.language
        if info.name == BUILTIN:
            return language(msg("Built-in designer (offline)"))
        return f"{info.title}…"

    def _choose(self, info: ProviderInfo) -> None:
        if info.name == BUILTIN:
            self._chosen(ProviderChoice())
            return
        self.ask(info)

    def ask(self, info: ProviderInfo) -> ServerDialog:
        """Ask for a server's address and model."""
        now = self._current()
        known = now if now.provider == info.name else ProviderChoice(provider=info.name)
        dialog = ServerDialog(self._services, info, known, self.parentWidget())
        dialog.accepted.connect(lambda: self._chosen(dialog.choice))
        dialog.open()
        self._dialog = dialog
        return dialog


class ServerDialog(QDialog):
    """Base URL and model of one provider, for this conversation."""

    def __init__(
        self, services: WindowServices, info: ProviderInfo, known: ProviderChoice, parent: QWidget | None
    ) -> None:
        super().__init__(parent)
        self._services = services
        self._info = info
        self.setObjectName("serverDialog")
        self.setWindowTitle(info.title)
        self.url = QLineEdit(known.base_url or info.base_url)
        self.url.setObjectName("serverUrl")
        self.url.setPlaceholderText("http://127.0.0.1:8000/v1")
        self.model = QLineEdit(known.model)
        self.model.setObjectName("serverModel")
        self._url_label, self._model_label = QLabel(), QLabel()
        self._note = QLabel()
        self._note.setWordWrap(True)
        mark(self._note, role="small")
        self._form = QFormLayout()
        self._form.addRow(self._url_label, self.url)
        self._form.addRow(self._model_label, self.model)
        self._cancel, self._use = QPushButton(), QPushButton()
        self._use.setObjectName("serverUse")
        self._use.setDefault(True)
        mark(self._use, kind="primary")
        self._cancel.clicked.connect(self.reject)
        self._use.clicked.connect(self.accept)
        self.url.textChanged.connect(self._check)
        footer = QWidget()
        mark(footer, part="footer")
        self._buttons = QHBoxLayout(footer)
        self._buttons.addStretch(1)
        self._buttons.addWidget(self._cancel)
        self._buttons.addWidget(self._use)
        self._body = QVBoxLayout()
        self._body.addLayout(self._form)
        self._body.addWidget(self._note)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addLayout(self._body)
        layout.addWidget(footer)
        services.theme.changed.connect(self.restyle)
        services.language.changed.connect(self.retranslate)
        self.restyle()
        self.retranslate()
        self._check()

    @property
    def choice(self) -> ProviderChoice:
        """What was entered."""
        return ProviderChoice(
            provider=self._info.name, model=self.model.text().strip(), base_url=self.url.text().strip()
        )

    def restyle(self) -> None:
        """Sizes."""
        theme = self._services.theme.theme
        edge, gap = theme.size("space.4"), theme.size("space.2")
        self._body.setContentsMargins(edge, edge, edge, edge)
        self._body.setSpacing(gap)
        self._form.setSpacing(gap)
        self._buttons.setContentsMargins(edge, gap, edge, gap)
        self.setMinimumWidth(theme.size("pane.right_default"))

    def retranslate(self) -> None:
        """Words."""
        language = self._services.language
        self._url_label.setText(language(msg("Base URL")))
        self._model_label.setText(language(msg("Model")))
        self.model.setPlaceholderText(language(msg("empty: the first one the server lists")))
        self._cancel.setText(language(msg("Cancel")))
        self._use.setText(language(msg("Use it")))
        notes = [language(msg("Kept for this conversation only."))]
        if self._info.needs_key and not self._info.has_key:
            name = f"CIRCUIT_AI_{self._info.name.upper().replace('-', '_')}_API_KEY"
            notes.append(language(msg("A key is taken from the environment variable {name}.", name=name)))
        notes.append(language(msg("Your messages and the circuits of the project are sent to this server.")))
        self._note.setText(" ".join(notes))

    def _check(self) -> None:
        self._use.setEnabled(bool(self.url.text().strip()) or bool(self._info.base_url))
