"""What the general web search asks: the engine, its address and key, and whether it answers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import ClassVar

from PyQt6.QtCore import pyqtSignal
from PyQt6.QtWidgets import QWidget

from application.groups.models import Models
from application.search.web_searching import TRIAL_QUERY
from presentation.dialogs.model_settings.tried_settings import TriedSettingsDialog
from presentation.dialogs.model_settings.web_search_form import WebSearchForm
from presentation.dialogs.model_settings.words import milliseconds
from presentation.ui.workspace import WindowServices
from shared.message import Message, msg


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
        self.form.key.remove_wanted.connect(self.remove_key)
        self.notice = self._label("Notice", role="secondary")
        self._add_form(self.form)
        for part in (self.card, self.notice, self.error):
            self._body.addWidget(part)
        self._body.addStretch(1)
        self.retranslate()
        self.restyle()
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
