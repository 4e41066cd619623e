"""Dialogs that set up a service on a network: a key, a test that can be stopped, saving."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Awaitable, Callable
from typing import ClassVar

from PyQt6.QtCore import QSize
from PyQt6.QtGui import QCloseEvent
from PyQt6.QtWidgets import QDialog, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from application.groups.models import Models
from application.ports.credentials import KeyStores
from presentation.dialogs.model_settings.settings_form import SettingsForm
from presentation.dialogs.model_settings.trial_card import TrialCard
from presentation.ui.fitting import ScrolledParts, fit, height_at
from presentation.ui.parts import arrange, text_label
from presentation.ui.styles import mark, mark_area
from presentation.ui.workspace import WindowServices
from shared.errors import CircuitAIError
from shared.message import Message, msg
from shared.ulid import new_ulid


class TriedSettingsDialog(QDialog):
    """Open it with `open()`. A subclass fills `_body`, for example by `_show_fields`."""

    title: ClassVar[Message]
    prefix: ClassVar[str]
    """The names of its parts begin with it."""

    def __init__(self, services: WindowServices, models: Models, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._services = services
        self._models = models
        self._stores = KeyStores()
        self._trial: asyncio.Task[object] | None = None
        self._is_closed = self._is_filled = False
        self._problem: Message | None = None
        self._advice: Message | None = None
        self._scope = f"{self.prefix}-settings-{new_ulid()}"
        self.finished.connect(self._on_finished)
        self.card = TrialCard(services)
        self.error = self._label("Error", role="error")
        self.error.hide()
        self._body = QVBoxLayout()
        self._scroll = ScrolledParts(self._body)
        self._buttons = QHBoxLayout()
        self._make_buttons()
        services.theme.changed.connect(self.restyle)
        services.language.changed.connect(self.retranslate)

    # --- what a subclass says ------------------------------------------------------------------------

    @property
    @abstractmethod
    def _form(self) -> SettingsForm | None:
        """The fields, once they are there."""

    @property
    @abstractmethod
    def _key_name(self) -> str:
        """Under which the key is kept."""

    @abstractmethod
    def _show_key(self) -> None:
        """Say where the key of the chosen service is."""

    @abstractmethod
    async def _attempt(self) -> Callable[[], None]:
        """Test what stands there; what is called then shows the result. Raises CircuitAIError."""

    @abstractmethod
    async def _keep(self) -> None:
        """Save what stands there. Raises CircuitAIError."""

    def _on_kept(self) -> None:
        """It was saved."""

    # --- parts ---------------------------------------------------------------------------------------

    def _label(self, name: str, *, role: str) -> QLabel:
        return text_label(name=self.prefix + name, wraps=True, role=role)

    def _make_buttons(self) -> None:
        self.test_button, self.cancel_button, self.save_button = QPushButton(), QPushButton(), QPushButton()
        for button, name, clicked in (
            (self.test_button, "Test", self.test),
            (self.cancel_button, "Cancel", self.reject),
            (self.save_button, "Save", self.save),
        ):
            button.setObjectName(self.prefix + name)
            button.setAutoDefault(False)
            button.setEnabled(button is self.cancel_button)
            button.clicked.connect(clicked)
        self.save_button.setDefault(True)
        mark(self.save_button, kind="primary")
        footer = QWidget()
        mark_area(footer, part="footer")
        footer.setLayout(self._buttons)
        arrange(self._buttons, self.test_button, 1, self.cancel_button, self.save_button)
        arrange(QVBoxLayout(self), (self._scroll, 1), footer, edges=0, gap=0)

    def _add_form(self, form: QWidget) -> None:
        """Put the fields on top; Tab goes through them first."""
        self._body.insertWidget(0, form)
        form.show()  # a layout shows it later by itself, and counts it only then
        QWidget.setTabOrder(form, self.test_button)

    def _show_fields(self, form: SettingsForm) -> None:
        """The fields, and below them the card, a notice and what is wrong."""
        form.key.remove_wanted.connect(self.remove_key)
        self.notice = self._label("Notice", role="secondary")
        self._add_form(form)
        for part in (self.card, self.notice, self.error):
            self._body.addWidget(part)
        self._body.addStretch(1)
        self.retranslate()
        self.restyle()

    async def _look_for_stores(self) -> None:
        """Where keys can be kept: a keyring may take its time, or ask its user."""
        stores = await asyncio.to_thread(self._models.keys.stores)
        if not self._is_closed:
            self._stores = stores
            self._show_key()
            self._fit()
            self._is_filled = True

    # --- the test ------------------------------------------------------------------------------------

    @property
    def is_testing(self) -> bool:
        return self._trial is not None

    def test(self) -> None:
        """Begin a test, or stop the one that is under way."""
        if self._trial is not None:
            self._cancel_trial()
        elif self.test_button.isEnabled():
            self._start(self._try(), f"test {self.prefix} settings")

    async def _try(self) -> None:
        self._trial = asyncio.current_task()
        self._name_test()
        self.card.show_running()
        try:
            await self._unlock()
            show = await self._attempt()
        except CircuitAIError as error:
            if self._end_trial():
                self.card.show_error(error)
        except asyncio.CancelledError:
            if self._end_trial():
                self.card.show_cancelled()
            raise
        else:
            if self._end_trial():
                show()
        if not self._is_closed:
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

    # --- keys and saving -----------------------------------------------------------------------------

    async def _unlock(self) -> None:
        """Open the encrypted file with the passphrase that was typed, if one was."""
        form = self._form
        if form is not None and form.key.passphrase.text() and not self._models.keys.is_unlocked:
            await asyncio.to_thread(self._models.keys.unlock, form.key.passphrase.text())
            form.key.passphrase.clear()
            self._show_key()

    def _typed_key(self) -> Callable[[], Awaitable[None]]:
        """What keeps the key that stands there now; the fields may show another service when it is called."""
        form = self._form
        name, key = self._key_name, "" if form is None else form.key.text
        place = None if form is None else form.key.keep_in
        server = "" if form is None else form.server

        async def keep() -> None:
            if key:
                await asyncio.to_thread(self._models.keys.set, name, key, place=place, server=server)

        return keep

    def remove_key(self) -> None:
        self._start(self._remove_key(), "remove key")

    async def _remove_key(self) -> None:
        try:
            await self._unlock()
            await asyncio.to_thread(self._models.keys.remove, self._key_name)
        except CircuitAIError as error:
            self._fail(error)
            return
        await self._look_for_stores()
        if not self._is_closed and self._form is not None:
            self._form.on_other_key()

    def save(self) -> None:
        """Keep what stands there, and close; what is wrong is said in the dialog."""
        if self.save_button.isEnabled():
            self.save_button.setEnabled(False)
            self._start(self._save(), f"save {self.prefix} settings")

    async def _save(self) -> None:
        try:
            await self._keep()
        except CircuitAIError as error:
            if not self._is_closed:
                self.save_button.setEnabled(True)
                self._fail(error)
            return
        self._on_kept()
        if not self._is_closed:
            self.accept()

    def _fail(self, error: CircuitAIError) -> None:
        self._say(error.message, error.advice)

    def _say(self, problem: Message | None, advice: Message | None = None) -> None:
        if self._is_closed:
            return
        self._problem, self._advice = problem, advice
        language = self._services.language
        self.error.setText(" ".join(language(text) for text in (problem, advice) if text is not None))
        self.error.setVisible(problem is not None)
        self._fit()

    # --- the end -------------------------------------------------------------------------------------

    def _on_finished(self, _result: int) -> None:
        self._is_closed = True
        self._cancel_trial()
        if self._form is not None:
            self._form.key.clear()
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
        width = max(self._services.theme.theme.size("pane.right_max"), super().sizeHint().width())
        return QSize(width, height_at(self, width))

    def _fit(self) -> None:
        """Grow with what is shown; never shrink under the hand."""
        wanted = self.sizeHint()
        fit(self, wanted.width(), wanted.height(), may_shrink=not self._is_filled)

    def restyle(self, _theme: object = None) -> None:
        theme = self._services.theme.theme
        edge, gap = theme.size("space.4"), theme.size("space.3")
        arrange(self._body, edges=edge, gap=gap)
        arrange(self._buttons, edges=(edge, gap, edge, gap), gap=theme.size("space.2"))
        small = theme.size("icon.small")
        self.test_button.setIcon(self._services.icons.get("refresh-cw", "text.secondary", small))
        self.test_button.setIconSize(QSize(small, small))
        self.card.restyle()
        if self._form is not None:
            self._form.restyle()
        self._fit()

    def retranslate(self) -> None:
        language = self._services.language
        self.setWindowTitle(language(self.title))
        self.cancel_button.setText(language(msg("Cancel")))
        self.save_button.setText(language(msg("Save")))
        self._name_test()
        self.card.retranslate()
        if self._form is not None:
            self._form.retranslate()
        self._say(self._problem, self._advice)

    def _name_test(self) -> None:
        words = msg("Stop the test") if self._trial is not None else msg("Test")
        self.test_button.setText(self._services.language(words))
