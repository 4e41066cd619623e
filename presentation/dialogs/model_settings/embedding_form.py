"""The fields of the server of vectors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from PyQt6.QtCore import pyqtSignal
from PyQt6.QtWidgets import (
    QComboBox,
    QSpinBox,
)

from application.groups.models import Models
from application.ports.credentials import KeyStatus, KeyStores
from domain.llm.chat import ProviderInfo
from domain.search.embedding import EMBEDDING_SERVERS, EmbeddingServer, EmbeddingSettings
from presentation.dialogs.model_settings.settings_form import SettingsForm
from presentation.ui.workspace import WindowServices
from shared.errors import UserInputError
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
