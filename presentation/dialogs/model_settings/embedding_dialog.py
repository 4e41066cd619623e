"""Which server gives the vectors of searches by meaning, with a test that tells their dimension."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import ClassVar

from PyQt6.QtCore import pyqtSignal
from PyQt6.QtWidgets import (
    QComboBox,
    QSpinBox,
    QWidget,
)

from application.groups.models import Models
from application.groups.project import Project
from application.ports.credentials import KeyStatus, KeyStores
from domain.llm.chat import ProviderInfo
from domain.search.embedding import EMBEDDING_SERVERS, EmbeddingServer, EmbeddingSettings
from presentation.dialogs.model_settings.settings_form import SettingsForm
from presentation.dialogs.model_settings.tried_settings import TriedSettingsDialog
from presentation.dialogs.model_settings.words import milliseconds
from presentation.ui.workspace import WindowServices
from shared.errors import CircuitAIError, UserInputError
from shared.message import Message, msg
from shared.setting import about, described

OFF = ""
"""Among the providers: no search by meaning."""
_USUAL = EmbeddingSettings(provider="ollama", model="")
"""Its numbers stand in the fields at first."""


class EmbeddingForm(SettingsForm):
    """Edits a copy of the settings; `settings` is what stands in the fields."""

    prefix: ClassVar[str] = "embedding"
    words: ClassVar[Mapping[str, Message]] = {
        "provider": msg("Embedding server"),
        "key": msg("API key"),
        "url": msg("Base URL"),
        "model": msg("Model"),
        "numbers": msg("Requests"),
    }
    provider_changed = pyqtSignal()

    def __init__(self, services: WindowServices, models: Models) -> None:
        super().__init__(services, models)
        self._kept: EmbeddingSettings | None = None
        self._entered: dict[str, tuple[str, str]] = {}
        """Address and model as they were left, by provider."""
        self._shown = OFF
        self._make_fields()
        self.provider.currentIndexChanged.connect(self._on_provider)

    # --- what is in it -------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The provider's name; "" for none."""
        return str(self.provider.currentData() or OFF)

    @property
    def settings(self) -> EmbeddingSettings | None:
        """The fields; None for no search by meaning, or while no model is named."""
        model, url = self.model.currentText().strip(), self.server
        if self.name == OFF or not model:
            return None
        kept = self._kept
        entered = EmbeddingSettings(
            provider=self.name,
            model=model,
            base_url="" if url == self._server.base_url else url,
            dimensions=self.dimension.value() or None,
            batch_size=self.batch.value(),
            timeout_s=float(self.timeout.value()),
            max_characters=_USUAL.max_characters if kept is None else kept.max_characters,
            verified_at="" if kept is None else kept.verified_at,
        )
        # A test tells of what was tested, and of nothing else.
        return entered if entered == kept and not self.has_new_key else _untested(entered)

    @property
    def problem(self) -> UserInputError | None:
        if self.name != OFF and not self.model.currentText().strip():
            return UserInputError(
                msg("No model is specified."),
                advice=msg("Choose one, or enter its name."),
                error_type="bad_usage",
            )
        return None

    @property
    def key_info(self) -> ProviderInfo:
        name = self.name
        return ProviderInfo(
            name=name,
            title=self._server.title,
            needs_key=name in ("zhipu", "siliconflow"),
            has_key=False,
            base_url=self._server.base_url,
            key_variable=self._server.key_variable,
            key_page=self._server.key_page,
        )

    def keep(self, settings: EmbeddingSettings) -> None:
        """These were tested, with the key that stands there."""
        self._kept, self.has_new_key = settings, False

    def show_settings(self, kept: EmbeddingSettings | None) -> None:
        self._kept = kept
        if kept is not None:
            self._entered[kept.provider] = (kept.base_url, kept.model)
            self.dimension.setValue(kept.dimensions or 0)
            self.batch.setValue(kept.batch_size)
            self.timeout.setValue(round(kept.timeout_s))
        self.provider.setCurrentIndex(max(self.provider.findData(OFF if kept is None else kept.provider), 0))
        self._fill()

    def show_key(self, status: KeyStatus, stores: KeyStores) -> None:
        self.key.show_state(status, stores, self.key_info)

    @property
    def _server(self) -> EmbeddingServer:
        return EMBEDDING_SERVERS.get(self.name) or EmbeddingServer(title="")

    # --- parts ---------------------------------------------------------------------------------------

    def _make_fields(self) -> None:
        self.provider = QComboBox()
        self.provider.setObjectName("embeddingProvider")
        self.provider.addItem("", OFF)
        for name, server in EMBEDDING_SERVERS.items():
            self.provider.addItem(server.title, name)
        self.model = self._model_box()
        self.model.setObjectName("embeddingModel")
        self.dimension, self.batch, self.timeout = QSpinBox(), QSpinBox(), QSpinBox()
        for box, name, field in (
            (self.dimension, "embeddingDimension", "dimensions"),
            (self.batch, "embeddingBatch", "batch_size"),
            (self.timeout, "embeddingTimeout", "timeout_s"),
        ):
            lowest, highest = about(described(EmbeddingSettings)[field]).bounds or (0, None)
            box.setObjectName(name)
            box.setRange(0 if field == "dimensions" else int(lowest), int(highest or 0))
        self.batch.setValue(_USUAL.batch_size)
        self.timeout.setValue(round(_USUAL.timeout_s))
        numbers = {
            self.dimension: msg("dimension"), self.batch: msg("texts each"), self.timeout: msg("timeout")
        }  # fmt: skip
        self._add_rows({
            "provider": self.provider,
            "key": self.key,
            "url": self.url,
            "model": self.model,
            "numbers": self._number_row(numbers),
        })  # fmt: skip

    # --- filling -------------------------------------------------------------------------------------

    def _on_provider(self, _index: int) -> None:
        if self._shown != OFF:
            self._entered[self._shown] = (self.server, self.model.currentText().strip())
        self._fill()
        self.provider_changed.emit()

    def _fill(self) -> None:
        server = self._server
        self._shown = self.name
        url, model = self._entered.get(self.name, ("", ""))
        for field in (self.url, self.model):
            field.blockSignals(True)
        self.key.clear()
        self.has_new_key = False
        self.url.setText(url or server.base_url)
        self.model.clear()
        self.model.addItems(list(server.models))
        self.model.setEditText(model or next(iter(server.models), ""))
        for field in (self.url, self.model):
            field.blockSignals(False)
        is_on = self.name != OFF
        self._show_rows(key=bool(server.key_name), url=is_on, model=is_on, numbers=is_on)
        self.retranslate()

    # --- looks ---------------------------------------------------------------------------------------

    def retranslate(self) -> None:
        super().retranslate()
        language = self._services.language
        self.dimension.setSpecialValueText(language(msg("default")))
        self.dimension.setToolTip(language(msg("Default: the model's own")))
        self.timeout.setSuffix(language(msg(" s")))
        self.provider.setItemText(0, language(msg("None: search by text only")))
        self.provider.setAccessibleName(language(self.words["provider"]))
        self.url.setPlaceholderText("http://127.0.0.1:8000/v1")


def _untested(settings: EmbeddingSettings) -> EmbeddingSettings:
    return replace(settings, verified_at="")


class EmbeddingDialog(TriedSettingsDialog):
    """What is saved is used by the next search."""

    title: ClassVar[Message] = msg("Search by meaning")
    prefix: ClassVar[str] = "embedding"

    def __init__(
        self, services: WindowServices, models: Models, project: Project, parent: QWidget | None = None
    ) -> None:
        super().__init__(services, models, parent)
        self._project = project
        self._kept: EmbeddingSettings | None = None
        self.is_loaded = False
        self.setObjectName("embeddingSettings")
        self.form = EmbeddingForm(services, models)
        self.form.provider_changed.connect(self._on_provider)
        self.form.changed.connect(self._on_changed)
        self._show_fields(self.form)
        self._start(self._load(), "read embedding settings")

    @property
    def _form(self) -> EmbeddingForm:
        return self.form

    @property
    def _key_name(self) -> str:
        return EMBEDDING_SERVERS[self.form.name].key_name

    async def _load(self) -> None:
        kept = await self._project.embedding.load()
        if self._is_closed:
            return
        self._kept = kept
        self.form.show_settings(kept)
        self.is_loaded = True
        self.save_button.setEnabled(True)
        self._on_provider()
        self.form.provider.setFocus()
        await self._look_for_stores()

    # --- what changes --------------------------------------------------------------------------------

    def _on_provider(self) -> None:
        self._cancel_trial()
        self._show_key()
        self._on_changed()

    def _on_changed(self) -> None:
        """What was verified is not what stands there now."""
        self._say(None)
        settings = self.form.settings
        self.card.setVisible(settings is not None)
        self.test_button.setEnabled(self.is_loaded and settings is not None)
        if self._trial is None:
            self.card.show_untested("" if settings is None else settings.verified_at)
        self._show_notice()
        self._fit()

    def _show_key(self) -> None:
        server = EMBEDDING_SERVERS.get(self.form.name)
        if server is not None and server.key_name:
            variable = self.form.key_info.key_variable
            self.form.show_key(self._models.keys.status(server.key_name, variable), self._stores)
        else:
            self.form.show_key(KeyStatus(), self._stores)
        self._fit()

    def _show_notice(self) -> None:
        """Where texts go, and what a change costs."""
        language, settings, kept = self._services.language, self.form.settings, self._kept
        lines: list[Message] = []
        if settings is not None and not self._stays_here(settings):
            lines.append(
                msg(
                    "The circuits and documents of every project you open are sent to this server, as "
                    "is each question; never data, results, or ignored files."
                )
            )
        if kept is not None and settings is None:
            lines.append(msg("Search by meaning is off; projects are then searched by text only."))
        elif kept is not None and settings is not None and kept.identity != settings.identity:
            lines.append(
                msg(
                    "The model or dimension has changed: all embeddings are rebuilt in the background; "
                    "until then there is no search by meaning."
                )
            )
        self.notice.setText("\n".join(language(line) for line in lines))
        self.notice.setVisible(bool(lines))

    def _stays_here(self, settings: EmbeddingSettings) -> bool:
        try:
            return self._project.embedding.is_local(settings)
        except CircuitAIError:  # half an address yet; saving and testing say what is wrong
            return True

    # --- testing and saving --------------------------------------------------------------------------

    async def _attempt(self) -> Callable[[], None]:
        settings = self.form.settings
        assert settings is not None, "the button works when there is something to test"
        trial = await self._project.embedding.try_out(settings, key=self.form.key.text)

        def show() -> None:
            if self.form.settings != settings:
                return
            self.form.keep(replace(settings, verified_at=datetime.now(UTC).isoformat(timespec="seconds")))
            rows = (
                (msg("Dimension"), msg("{text}", text=str(trial.dimension))),
                (msg("Server responds"), milliseconds(trial.answered_s)),
            )
            title = msg("Embeddings come from {model}", model=settings.model)
            self.card.show_works(title, rows, f"{datetime.now().astimezone():%H:%M}")

        return show

    async def _keep(self) -> None:
        settings = self.form.settings
        if self.form.problem is not None:
            raise self.form.problem
        if settings is not None:
            self._project.embedding.is_local(settings)  # says what is wrong with the address
            keep_key = self._typed_key()
            await self._unlock()
            await keep_key()
        await self._project.embedding.save(settings)

    # --- looks ---------------------------------------------------------------------------------------

    def retranslate(self) -> None:
        super().retranslate()
        self._show_notice()
