"""Which model answers: its provider, key, address and switches, and a test that says what is wrong."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from PyQt6.QtCore import QSize, pyqtSignal
from PyQt6.QtGui import QCloseEvent
from PyQt6.QtWidgets import QDialog, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from application.ports.credentials import KeyStores
from domain.llm.provider_settings import ModelSettings, ProviderSettings
from presentation.dialogs.model_settings.form import ProviderForm
from presentation.dialogs.model_settings.local_section import LocalSection
from presentation.dialogs.model_settings.trial_card import TrialCard
from presentation.window.styles import mark
from presentation.window.workspace import WindowServices
from shared.errors import CircuitAIError
from shared.message import Message, msg
from shared.ulid import new_ulid

if TYPE_CHECKING:
    from domain.llm.chat import ProviderInfo


class ModelSettingsDialog(QDialog):
    """Open it with `open()`; it reads the settings by itself. What was saved is used by the next message."""

    saved = pyqtSignal(object)
    """ProviderChoice: what new messages are to be answered by."""
    loaded = pyqtSignal()
    """The fields are filled."""

    def __init__(
        self, services: WindowServices, *, provider: str = "", parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._services = services
        self._app = services.app
        self._wanted = provider
        self._stores = KeyStores()
        self._trial: asyncio.Task[object] | None = None
        self._is_closed = False
        self._problem: Message | None = None
        self._advice: Message | None = None
        self._scope = f"model-settings-{new_ulid()}"
        self.form: ProviderForm | None = None
        self.setObjectName("modelSettings")
        self.finished.connect(self._on_finished)
        self._make_parts()
        services.theme.changed.connect(self.restyle)
        services.language.changed.connect(self.retranslate)
        self.retranslate()
        self.restyle()
        self._start(self._load(), "read model settings")

    # --- parts ---------------------------------------------------------------------------------------

    def _make_parts(self) -> None:
        self.local = LocalSection(self._services)
        self.card = TrialCard(self._services)
        self.error = QLabel()
        self.error.setObjectName("modelError")
        self.error.setWordWrap(True)
        mark(self.error, role="error")
        self.test_button, self.cancel_button, self.save_button = QPushButton(), QPushButton(), QPushButton()
        for button, name in (
            (self.test_button, "modelTest"),
            (self.cancel_button, "modelCancel"),
            (self.save_button, "modelSave"),
        ):
            button.setObjectName(name)
            button.setAutoDefault(False)
        self.save_button.setDefault(True)
        mark(self.save_button, kind="primary")
        self.test_button.clicked.connect(self.test)
        self.cancel_button.clicked.connect(self.reject)
        self.save_button.clicked.connect(self.save)
        footer = QWidget()
        mark(footer, part="footer")
        self._buttons = QHBoxLayout(footer)
        self._buttons.addWidget(self.test_button)
        self._buttons.addStretch(1)
        self._buttons.addWidget(self.cancel_button)
        self._buttons.addWidget(self.save_button)
        self._body = QVBoxLayout()
        self._body.addWidget(self.local)
        self._body.addWidget(self.card)
        self._body.addWidget(self.error)
        self._body.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addLayout(self._body, 1)
        layout.addWidget(footer)
        self.save_button.setEnabled(False)
        self.test_button.setEnabled(False)

    async def _load(self) -> None:
        kept, infos = await asyncio.to_thread(self._read)
        if self._is_closed:
            return
        self.form = form = ProviderForm(self._services, infos, kept)
        self._body.insertWidget(0, form)
        form.provider_changed.connect(self._on_provider)
        form.changed.connect(self._on_changed)
        form.list_wanted.connect(lambda: self._start(self._list_models(), "list models"))
        form.key.remove_wanted.connect(lambda: self._start(self._remove_key(), "remove key"))
        form.restyle()
        form.show_provider(self._wanted or kept.chosen)
        self._on_provider(form.name)
        self.save_button.setEnabled(True)
        # The form comes after the rest was made: Tab goes through it first.
        QWidget.setTabOrder(form, self.test_button)
        form.provider.setFocus()
        self._fit()
        self.loaded.emit()
        self._start(self._look_for_stores(), "look for a keyring")

    def _read(self) -> tuple[ModelSettings, tuple[ProviderInfo, ...]]:
        kept = self._app.model_settings.load()
        return kept, tuple(self._app.models.list())

    async def _look_for_stores(self) -> None:
        """A keyring may take its time, or ask its user."""
        stores = await asyncio.to_thread(self._app.keys.stores)
        self._stores = stores
        if not self._is_closed:
            self._show_key()
            self._fit()

    # --- what changes --------------------------------------------------------------------------------

    def _on_provider(self, name: str) -> None:
        form = self.form
        if form is None:
            return
        self._cancel_trial()
        self._say(None)
        self._show_key()
        self.card.show_untested(form.settings.verified_at)
        self.card.setVisible(not form.is_builtin)
        self.test_button.setEnabled(not form.is_builtin)
        self.local.setVisible(name == "ollama")
        if name == "ollama":
            self._start(self._look_at_local(), "look for Ollama")
        self._fit()

    def _on_changed(self) -> None:
        """What was verified is not what stands there now."""
        self._say(None)
        if self._trial is None:
            self.card.show_untested("")
        self._fit()

    def _show_key(self) -> None:
        form = self.form
        if form is not None:
            form.show_key(self._app.keys.status(form.name, form.info.key_variable), self._stores)

    async def _look_at_local(self) -> None:
        form = self.form
        if form is None:
            return
        self.local.show_looking()
        try:
            status = await self._app.models.local_server(form.settings.choice(form.name))
        except CircuitAIError as error:
            self._fail(error)
            return
        if self._is_closed or form.name != "ollama" or status is None:
            return
        self.local.show_status(status)
        if status.models:
            form.show_models(tuple(model.name for model in status.models))
        self._fit()

    # --- the test ------------------------------------------------------------------------------------

    @property
    def is_testing(self) -> bool:
        """Whether a test is under way."""
        return self._trial is not None

    def test(self) -> None:
        """Begin a test, or stop the one that is under way."""
        if self._trial is not None:
            self._cancel_trial()
        else:
            self._start(self._try(), "test a model")

    async def _try(self) -> None:
        form = self.form
        if form is None:
            return
        self._trial = asyncio.current_task()
        self._name_test()
        self.card.show_running()
        name, settings = form.name, form.settings
        try:
            await self._unlock()
            trial = await self._app.try_model(settings.choice(name), key=form.key.text)
        except CircuitAIError as error:
            if self._end_trial():
                self.card.show_error(error)
        except asyncio.CancelledError:
            if self._end_trial():
                self.card.show_cancelled()
            raise
        else:
            moment = datetime.now(UTC).isoformat(timespec="seconds")
            is_same = form.name == name and form.settings == settings
            if is_same and not self._is_closed:
                form.keep(replace(settings, verified_at=moment))
                if trial.models:
                    form.show_models(trial.models)
            if self._end_trial():
                self.card.show_trial(trial, f"{datetime.now().astimezone():%H:%M}")
                self._fit()

    def _end_trial(self) -> bool:
        """Whether there still is a dialog to show what came of it."""
        self._trial = None
        if not self._is_closed:
            self._name_test()
        return not self._is_closed

    def _cancel_trial(self) -> None:
        if self._trial is not None:
            self._trial.cancel("user")

    async def _list_models(self) -> None:
        form = self.form
        if form is None:
            return
        try:
            await self._unlock()
            models = await self._app.try_model.list(form.settings.choice(form.name), key=form.key.text)
        except CircuitAIError as error:
            self._fail(error)
            return
        if not self._is_closed:
            form.show_models(models)
            form.model.setFocus()
            form.model.showPopup()

    # --- keys ----------------------------------------------------------------------------------------

    async def _unlock(self) -> None:
        """Open the encrypted file with the passphrase that was typed, if one was."""
        form = self.form
        if form is not None and form.key.passphrase.text() and not self._app.keys.is_unlocked:
            await asyncio.to_thread(self._app.keys.unlock, form.key.passphrase.text())
            form.key.passphrase.clear()
            self._show_key()

    async def _remove_key(self) -> None:
        form = self.form
        if form is None:
            return
        try:
            await self._unlock()
            await asyncio.to_thread(self._app.keys.remove, form.name)
        except CircuitAIError as error:
            self._fail(error)
            return
        self._stores = await asyncio.to_thread(self._app.keys.stores)
        if not self._is_closed:
            self._show_key()
            form.on_other_key()

    # --- saving --------------------------------------------------------------------------------------

    def save(self) -> None:
        """Keep what stands there, and close; what is wrong is said in the dialog."""
        if self.form is not None and self.save_button.isEnabled():
            self.save_button.setEnabled(False)
            self._start(self._save(), "save model settings")

    async def _save(self) -> None:
        form = self.form
        assert form is not None, "the button works when the form is there"
        name, settings, key = form.name, form.settings, form.key.text
        try:
            if not form.is_builtin:
                # Says what is wrong with the address.
                await asyncio.to_thread(self._app.models.destination, settings.choice(name))
            await self._unlock()
            if key:
                await asyncio.to_thread(self._app.keys.set, name, key, place=form.key.keep_in)
            await asyncio.to_thread(self._app.model_settings.change, lambda old: _with(old, name, settings))
        except CircuitAIError as error:
            if not self._is_closed:
                self.save_button.setEnabled(True)
                self._fail(error)
            return
        self.saved.emit(settings.choice(name))
        if not self._is_closed:
            self.accept()

    def _fail(self, error: CircuitAIError) -> None:
        if not self._is_closed:
            self._say(error.message, error.advice)

    def _say(self, problem: Message | None, advice: Message | None = None) -> None:
        self._problem, self._advice = problem, advice
        language = self._services.language
        self.error.setText(" ".join(language(text) for text in (problem, advice) if text is not None))
        self.error.setVisible(problem is not None)

    # --- the end -------------------------------------------------------------------------------------

    def _on_finished(self, _result: int) -> None:
        self._is_closed = True
        self._cancel_trial()
        if self.form is not None:
            self.form.key.clear()
        self.deleteLater()

    def closeEvent(self, event: QCloseEvent | None) -> None:  # noqa: N802 - Qt's name
        """The window's own cross ends the test too."""
        self._cancel_trial()
        super().closeEvent(event)

    def _start(self, coroutine: object, kind: str) -> None:
        self._services.start(coroutine, kind=kind, scope=self._scope)

    # --- looks ---------------------------------------------------------------------------------------

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """As wide as a comfortable form, as high as it needs to be."""
        theme = self._services.theme.theme
        return QSize(theme.size("pane.right_max"), super().sizeHint().height())

    def _fit(self) -> None:
        """Grow with what is shown; never shrink under the hand."""
        wanted = self.sizeHint()
        self.resize(max(self.width(), wanted.width()), max(self.height(), wanted.height()))

    def restyle(self) -> None:
        """Sizes, icons."""
        theme = self._services.theme.theme
        edge, gap = theme.size("space.4"), theme.size("space.3")
        self._body.setContentsMargins(edge, edge, edge, edge)
        self._body.setSpacing(gap)
        self._buttons.setContentsMargins(edge, gap, edge, gap)
        self._buttons.setSpacing(theme.size("space.2"))
        small = theme.size("icon.small")
        self.test_button.setIcon(self._services.icons.get("refresh-cw", "text.secondary", small))
        for part in (self.local, self.card, self.form):
            if part is not None:
                part.restyle()
        self._fit()

    def retranslate(self) -> None:
        """Words."""
        language = self._services.language
        self.setWindowTitle(language(msg("Model settings")))
        self.cancel_button.setText(language(msg("Cancel")))
        self.save_button.setText(language(msg("Save")))
        self._name_test()
        for part in (self.local, self.card, self.form):
            if part is not None:
                part.retranslate()
        self._say(self._problem, self._advice)

    def _name_test(self) -> None:
        words = msg("Stop the test") if self._trial is not None else msg("Test")
        self.test_button.setText(self._services.language(words))


def _with(old: ModelSettings, name: str, settings: ProviderSettings) -> ModelSettings:
    return ModelSettings(chosen=name, providers={**old.providers, name: settings})
