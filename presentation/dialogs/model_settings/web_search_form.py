"""The fields of the general web search: engine, address, key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from PyQt6.QtCore import pyqtSignal
from PyQt6.QtWidgets import QComboBox, QLineEdit, QSpinBox, QWidget

from application.groups.models import Models
from domain.llm.chat import ProviderInfo
from domain.llm.web_search import MOST_RESULTS, SearchEngineInfo, WebSearchSettings
from presentation.dialogs.model_settings.settings_form import SettingsForm
from presentation.ui.parts import text_label
from presentation.ui.workspace import WindowServices
from shared.message import Message, msg


class WebSearchForm(SettingsForm):
    """Edits a copy of the settings; `settings` is what stands in the fields."""

    prefix: ClassVar[str] = "search"
    words: ClassVar[Mapping[str, Message]] = {
        "engine": msg("Search engine"),
        "url": msg("Address"),
        "key": msg("API key"),
        "id": msg("Search engine id (cx)"),
        "results": msg("Pages per search"),
    }
    engine_changed = pyqtSignal()

    def __init__(
        self, services: WindowServices, models: Models, engines: tuple[SearchEngineInfo, ...]
    ) -> None:
        super().__init__(services, models)
        self._infos = {info.name: info for info in engines}
        self._kept = WebSearchSettings()
        self._entered: dict[str, str] = {}
        """Addresses by engine, for whoever looks at another one and comes back."""
        self._shown = ""
        self.engine, self.engine_id, self.results = QComboBox(), QLineEdit(), QSpinBox()
        for field, name in ((self.engine, "Engine"), (self.engine_id, "Id"), (self.results, "Results")):
            field.setObjectName(self.prefix + name)
        for info in engines:
            self.engine.addItem(info.title, info.name)
        self.results.setRange(1, MOST_RESULTS)
        self.results.setButtonSymbols(QSpinBox.ButtonSymbols.NoButtons)
        self.note = text_label(wraps=True, role="small")
        self._fields: dict[str, QWidget] = {
            "engine": self.engine,
            "url": self.url,
            "key": self.key,
            "id": self.engine_id,
            "results": self.results,
        }
        self._add_rows(self._fields, self.note)
        self.engine.currentIndexChanged.connect(self._on_engine)
        self.engine_id.textChanged.connect(self._tell)
        self.results.valueChanged.connect(self._tell)

    @property
    def info(self) -> SearchEngineInfo:
        return self._infos[str(self.engine.currentData())]

    @property
    def settings(self) -> WebSearchSettings:
        entered = WebSearchSettings(
            engine=self.info.name,
            base_url="" if self.server == self.info.base_url else self.server,
            engine_id=self.engine_id.text().strip() if self.info.needs_id else "",
            results=self.results.value(),
            verified_at=self._kept.verified_at,
        )
        # A test tells of what was tested, and of nothing else.
        return entered if entered == self._kept and not self.has_new_key else replace(entered, verified_at="")

    @property
    def key_info(self) -> ProviderInfo:
        info = self.info
        return ProviderInfo(
            name=info.key_name,
            title=info.title,
            needs_key=info.needs_key,
            has_key=info.has_key,
            base_url=info.base_url,
            key_variable=info.key_variable,
            key_page=info.key_page,
        )

    def keep(self, settings: WebSearchSettings) -> None:
        """These were tested, with the key that stands there."""
        self._kept, self.has_new_key = settings, False

    def show_settings(self, kept: WebSearchSettings) -> None:
        self._kept = kept
        self._entered[kept.engine] = kept.base_url
        self.results.setValue(kept.results)
        self.engine_id.setText(kept.engine_id)
        self.engine.setCurrentIndex(max(self.engine.findData(kept.engine), 0))
        self._fill()

    def _on_engine(self, _index: int) -> None:
        if self._shown:
            self._entered[self._shown] = self.server
        self._fill()
        self.engine_changed.emit()

    def _fill(self) -> None:
        info = self.info
        self._shown = info.name
        self.key.clear()
        self.has_new_key = False
        self.url.setText(self._entered.get(info.name) or info.base_url)
        self._show_rows(key=info.needs_key, id=info.needs_id)
        self.retranslate()

    def retranslate(self) -> None:
        super().retranslate()
        language = self._services.language
        for name, field in self._fields.items():
            if name != "key":  # it names its parts
                field.setAccessibleName(language(self.words[name]))
        self.url.setPlaceholderText("http://127.0.0.1:8888")
        self.note.setText("" if self.info.note is None else language(self.info.note))
        self.note.setVisible(self.info.note is not None)
