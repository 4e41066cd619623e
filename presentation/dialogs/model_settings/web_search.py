"""What the general web search asks: the engine, its address and key, and whether it answers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import ClassVar

from PyQt6.QtCore import pyqtSignal
from PyQt6.QtWidgets import QComboBox, QLineEdit, QSpinBox, QWidget

from application.groups.models import Models
from application.search.web_searching import TRIAL_QUERY
from domain.llm.chat import ProviderInfo
from domain.llm.web_search import MOST_RESULTS, SearchEngineInfo, WebSearchSettings
from presentation.dialogs.model_settings.settings_form import SettingsForm
from presentation.dialogs.model_settings.tried_settings import TriedSettingsDialog
from presentation.dialogs.model_settings.words import milliseconds
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


class WebSearchDialog(TriedSettingsDialog):
    """What is saved is used by the next search."""

    title: ClassVar[Message] = msg("Web search")
    prefix: ClassVar[str] = "search"

    saved = pyqtSignal()
    loaded = pyqtSignal()

    def __init__(self, services: WindowServices, models: Models, parent: QWidget | None = None) -> None:
        super().__init__(services, models, parent)
        self.setObjectName("webSearchSettings")
        self.form = WebSearchForm(services, models, self._models.search_web.engines.list())
        self.form.changed.connect(self._on_changed)
        self.form.engine_changed.connect(self._on_engine)
        self._show_fields(self.form)
        self._start(self._load(), "read web search settings")

    @property
    def _form(self) -> WebSearchForm:
        return self.form

    @property
    def _key_name(self) -> str:
        return self.form.key_info.name

    async def _load(self) -> None:
        kept = await asyncio.to_thread(self._models.settings.load)
        if self._is_closed:
            return
        self.form.show_settings(kept.web_search)
        self._on_engine()
        self.save_button.setEnabled(True)
        self.test_button.setEnabled(True)
        self.form.engine.setFocus()
        self.loaded.emit()
        await self._look_for_stores()

    # --- what changes --------------------------------------------------------------------------------

    def _on_engine(self) -> None:
        self._cancel_trial()
        self._show_key()
        self._on_changed()

    def _on_changed(self) -> None:
        """What was verified is not what stands there now."""
        self._say(None)
        if self._trial is None:
            self.card.show_untested(self.form.settings.verified_at)
        self._fit()

    def _show_key(self) -> None:
        info = self.form.key_info
        self.form.key.show_state(self._models.keys.status(info.name, info.key_variable), self._stores, info)

    # --- testing and saving --------------------------------------------------------------------------

    async def _attempt(self) -> Callable[[], None]:
        settings = self.form.settings
        answer = await self._models.search_web(TRIAL_QUERY, settings, key=self.form.key.text)

        def show() -> None:
            if self.form.settings != settings:
                return
            self.form.keep(replace(settings, verified_at=datetime.now(UTC).isoformat(timespec="seconds")))
            rows = (
                (msg("Server responds"), milliseconds(answer.took_s)),
                (msg("Pages found"), msg("{text}", text=str(len(answer.sources)))),
            )
            title = msg("Connection works: {model}", model=answer.server)
            self.card.show_works(title, rows, f"{datetime.now().astimezone():%H:%M}")

        return show

    async def _keep(self) -> None:
        settings, keep_key = (
            self._models.search_web.engines.checked(self.form.settings),
            self._typed_key(),
        )
        await self._unlock()
        await keep_key()
        await asyncio.to_thread(self._models.settings.change, lambda old: replace(old, web_search=settings))

    def _on_kept(self) -> None:
        self.saved.emit()

    # --- looks ---------------------------------------------------------------------------------------

    def retranslate(self) -> None:
        self.notice.setText(
            self._services.language(
                msg(
                    "A model writes the queries. You are asked before one leaves this computer, unless "
                    "you have always allowed it. When the general search is on, the provider's own is "
                    "off."
                )
            )
        )
        super().retranslate()
