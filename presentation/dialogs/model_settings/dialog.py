"""Which model answers: its provider, key, address and switches, and a test that says what is wrong.

How the tokens of the model in the field are counted, and getting what counts them exactly.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, ClassVar

from PyQt6 import sip
from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import QFrame, QLabel, QVBoxLayout, QWidget

from application.groups.models import Models
from domain.llm.chat import ProviderChoice, ProviderInfo
from domain.llm.provider_settings import ModelSettings, ProviderSettings
from presentation.dialogs.model_settings.form import ProviderForm
from presentation.dialogs.model_settings.trial_card import LocalSection
from presentation.dialogs.model_settings.tried_settings import TriedSettingsDialog
from presentation.ui.parts import arrange, once_after, push_button
from presentation.ui.questions import choose
from presentation.ui.signals import Signal, signal
from presentation.ui.styles import mark
from presentation.ui.workspace import WindowServices
from shared.errors import CircuitAIError
from shared.message import Message, msg

if TYPE_CHECKING:
    from application.ports.model_settings import TokenVocabularies, VocabularyState


class CountingSection(QFrame):
    """Shown for models whose vocabulary is published (OpenAI's)."""

    fetch_wanted = pyqtSignal()

    def __init__(self, services: WindowServices, vocabularies: TokenVocabularies) -> None:
        super().__init__()
        self._services = services
        self._vocabularies = vocabularies
        self._found: VocabularyState | None = None
        self._is_installed = self._is_fetching = False
        self._problem: CircuitAIError | None = None
        self.setObjectName("modelCounting")
        mark(self, card=True)
        self.state, self.advice = QLabel(), QLabel()
        for label, role in ((self.state, "strong"), (self.advice, "small")):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
            mark(label, role=role)
        self.button = push_button(name="modelVocabulary", clicked=self.fetch_wanted.emit, kind="quiet")
        self._column = arrange(QVBoxLayout(self), self.state, self.advice, self.button)
        self.hide()

    async def look(self, model: str) -> None:
        """Say how the tokens of a model are counted."""
        self._is_installed = self._vocabularies.is_installed
        found = await asyncio.to_thread(self._vocabularies.state_of, model)
        if sip.isdeleted(self):  # the dialog was closed meanwhile
            return
        self._found, self._problem = found, None
        self.retranslate()

    async def fetch(self) -> None:
        """Ask whether the vocabulary may be fetched, and fetch it."""
        found = self._found
        if found is None or self._is_fetching:
            return
        language = self._services.language
        answer = await choose(
            self._services,
            self,
            title=msg("Download the vocabulary {name}?", name=found.name),
            text=msg(
                "A file of a few MB is downloaded from {host} and kept for all projects. Nothing of yours "
                "is sent.",
                host=found.host,
            ),
            options=(("yes", msg("Download"), "primary"), ("no", msg("Cancel"), "")),
            cancelled="no",
        )
        if answer != "yes":
            return
        self._is_fetching, self._problem = True, None
        self.retranslate()
        try:
            await self._vocabularies.fetch(found.name)
        except CircuitAIError as error:
            self._problem = error
        finally:
            self._is_fetching = False
        if self._problem is None:
            self._found = await asyncio.to_thread(self._vocabularies.state_of, found.model)
        if sip.isdeleted(self):
            return
        self.retranslate()
        self.setAccessibleDescription(language(self._words()))

    def restyle(self) -> None:
        theme = self._services.theme.theme
        edge, gap = theme.size("space.3"), theme.size("space.2")
        self._column.setContentsMargins(edge, gap, edge, gap)

    def retranslate(self) -> None:
        language, found = self._services.language, self._found
        self.setVisible(found is not None)
        if found is None:
            return
        is_missing = self._is_installed and not found.is_here
        self.state.setText(language(self._words()))
        advice = self._problem.advice if self._problem is not None else None
        if self._problem is None and not self._is_installed:
            advice = msg("Exact counts need the optional package tiktoken.")
        self.advice.setText("" if advice is None else language(advice))
        self.advice.setVisible(advice is not None)
        self.button.setText(language(msg("Download the vocabulary…")))
        self.button.setVisible(is_missing)
        self.button.setEnabled(not self._is_fetching)

    def _words(self) -> Message:
        found = self._found
        if self._problem is not None:
            return self._problem.message
        if found is None or not (found.is_here and self._is_installed):
            estimated = msg("Tokens are estimated, within 8 %.")
            return msg("Downloading the vocabulary…") if self._is_fetching else estimated
        return msg("Tokens are counted exactly ({name}).", name=found.name)


_AFTER_TYPING_MS = 300


class ModelSettingsDialog(TriedSettingsDialog):
    """It reads the settings by itself. What was saved is used by the next message."""

    title: ClassVar[Message] = msg("Model settings")
    prefix: ClassVar[str] = "model"

    saved: Signal[ProviderChoice] = signal(object)
    """What new messages are to be answered by."""
    loaded = pyqtSignal()
    """The fields are filled."""

    def __init__(
        self, services: WindowServices, models: Models, *, provider: str = "", parent: QWidget | None = None
    ) -> None:
        super().__init__(services, models, parent)
        self._wanted = provider
        self.form: ProviderForm | None = None
        self._saved: ProviderChoice | None = None
        self._typing = once_after(
            self, _AFTER_TYPING_MS, lambda: self._start(self._learn_abilities(), "model abilities")
        )
        self.setObjectName("modelSettings")
        self.local = LocalSection(services)
        self.counting = CountingSection(services, models.vocabularies)
        self.counting.fetch_wanted.connect(lambda: self._start(self.counting.fetch(), "fetch a vocabulary"))
        for part in (self.local, self.counting, self.card, self.error):
            self._body.addWidget(part)
        self._body.addStretch(1)
        self.retranslate()
        self.restyle()
        self._start(self._load(), "read model settings")

    @property
    def _form(self) -> ProviderForm | None:
        return self.form

    @property
    def _key_name(self) -> str:
        return "" if self.form is None else self.form.name

    async def _load(self) -> None:
        kept, infos = await asyncio.to_thread(self._read)
        if self._is_closed:
            return
        self.form = form = ProviderForm(self._services, self._models, infos, kept)
        self._add_form(form)
        form.provider_changed.connect(self._on_provider)
        form.changed.connect(self._on_changed)
        form.list_wanted.connect(lambda: self._start(self._list_models(), "list models"))
        form.key.remove_wanted.connect(self.remove_key)
        form.restyle()
        form.show_provider(self._wanted or kept.chosen)
        self._on_provider(form.name)
        self.save_button.setEnabled(True)
        form.provider.setFocus()
        self._fit()
        self.loaded.emit()
        self._start(self._look_for_stores(), "look for a keyring")

    def _read(self) -> tuple[ModelSettings, tuple[ProviderInfo, ...]]:
        kept = self._models.settings.load()
        return kept, tuple(self._models.providers.list())

    # --- what changes --------------------------------------------------------------------------------

    def _on_provider(self, name: str) -> None:
        form = self.form
        if form is None:
            return
        self._cancel_trial()
        self._say(None)
        self._show_key()
        form.show_abilities(None)
        self._typing.start()
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
        self._typing.start()
        if self._trial is None:
            self.card.show_untested("")
        self._fit()

    def _show_key(self) -> None:
        form = self.form
        if form is not None:
            form.show_key(self._models.keys.status(form.name, form.info.key_variable), self._stores)

    async def _learn_abilities(self) -> None:
        """Of the model in the field; a server of Ollama is asked."""
        form = self.form
        if form is None or self._is_closed:
            return
        choice = form.settings.choice(form.name)
        try:
            found = None if form.is_builtin else await self._models.providers.abilities(choice)
        except CircuitAIError:  # half an address yet; saving and testing say what is wrong
            found = None
        if not self._is_closed and form.settings.choice(form.name) == choice:
            form.show_abilities(found)
            await self.counting.look("" if form.is_builtin else choice.model)
            if not self._is_closed:
                self._fit()

    async def _look_at_local(self) -> None:
        form = self.form
        if form is None:
            return
        self.local.show_looking()
        try:
            status = await self._models.providers.local_server(form.settings.choice(form.name))
        except CircuitAIError as error:
            self._fail(error)
            return
        if self._is_closed or form.name != "ollama" or status is None:
            return
        self.local.show_status(status)
        if status.models:
            form.show_models(tuple(model.name for model in status.models))
        self._fit()

    # --- testing and saving --------------------------------------------------------------------------

    async def _attempt(self) -> Callable[[], None]:
        form = self.form
        assert form is not None, "the button works when the form is there"
        form.check()
        name, settings = form.name, form.settings
        trial = await self._models.try_out(settings.choice(name), key=form.key.text, settings=settings)

        def show() -> None:
            if form.name == name and form.settings == settings:
                form.keep(replace(settings, verified_at=datetime.now(UTC).isoformat(timespec="seconds")))
                if trial.models:
                    form.show_models(trial.models)
            self.card.show_trial(trial, f"{datetime.now().astimezone():%H:%M}")

        return show

    async def _list_models(self) -> None:
        form = self.form
        if form is None:
            return
        settings = form.settings
        try:
            await self._unlock()
            models = await self._models.try_out.list(
                settings.choice(form.name), key=form.key.text, settings=settings
            )
        except CircuitAIError as error:
            self._fail(error)
            return
        if not self._is_closed:
            form.show_models(models)
            form.model.setFocus()
            form.model.showPopup()

    async def _keep(self) -> None:
        form = self.form
        assert form is not None, "the button works when the form is there"
        form.check()
        name, settings, keep_key = form.name, form.settings, self._typed_key()
        if not form.is_builtin:
            # Says what is wrong with the address.
            await asyncio.to_thread(self._models.providers.destination, settings.choice(name), settings)
        await self._unlock()
        await keep_key()
        await asyncio.to_thread(self._models.settings.change, lambda old: _with(old, name, settings))
        self._saved = settings.choice(name)

    def _on_kept(self) -> None:
        if self._saved is not None:
            self.saved.emit(self._saved)

    # --- looks ---------------------------------------------------------------------------------------

    def restyle(self, _theme: object = None) -> None:
        self.local.restyle()
        self.counting.restyle()
        super().restyle()

    def retranslate(self) -> None:
        self.local.retranslate()
        self.counting.retranslate()
        super().retranslate()


def _with(old: ModelSettings, name: str, settings: ProviderSettings) -> ModelSettings:
    return replace(old, chosen=name, providers={**old.providers, name: settings})
