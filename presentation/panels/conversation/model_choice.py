"""Which model answers: a menu at the input; what is not set up yet is set up in the model settings."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

from PyQt6.QtGui import QAction, QActionGroup
from PyQt6.QtWidgets import QMenu, QWidget

from application.groups.models import Models
from domain.llm.chat import ProviderChoice, ProviderInfo
from domain.llm.provider_settings import BUILTIN, ModelSettings
from presentation.provider_words import provider_title
from presentation.ui.workspace import WindowServices
from shared.message import msg


class ModelMenu(QMenu):
    """Lists the providers when it is opened; tells `chosen` of a choice."""

    def __init__(
        self,
        services: WindowServices,
        models: Models,
        current: Callable[[], ProviderChoice],
        chosen: Callable[[ProviderChoice], None],
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._services = services
        self._models = models
        self._current = current
        self._chosen = chosen
        self.setObjectName("modelMenu")
        self.aboutToShow.connect(self._fill)

    def _fill(self) -> None:
        self.clear()
        settings = self._models.settings.latest
        group = QActionGroup(self)
        for info in self._models.providers.list():
            action = QAction(self._title(info, settings), self)
            action.setObjectName(f"model-{info.name}")
            action.setCheckable(True)
            action.setChecked(info.name == self._current().provider)
            action.triggered.connect(lambda _checked, info=info: self._choose(info, settings))
            group.addAction(action)
            self.addAction(action)
        self.addSeparator()
        more = QAction(self._services.language(msg("Model settings…")), self)
        more.setObjectName("model-settings")
        more.triggered.connect(lambda: self.open_settings(self._current().provider))
        self.addAction(more)

    def _title(self, info: ProviderInfo, settings: ModelSettings) -> str:
        if info.name == BUILTIN:
            return self._services.language(msg("Built-in designer (offline)"))
        title = self._services.language(provider_title(info.name, info.title))
        if not is_set_up(info, settings):
            return f"{title}…"
        model = settings.of(info.name).model
        return f"{title} · {model}" if model else title

    def _choose(self, info: ProviderInfo, settings: ModelSettings) -> None:
        if info.name == BUILTIN:
            self._chosen(ProviderChoice())
        elif is_set_up(info, settings):
            self._chosen(self._with_search(settings.of(info.name).choice(info.name)))
        else:
            self.open_settings(info.name)
            return
        self._services.start(self._keep(info.name), kind="keep the chosen model")

    async def _keep(self, provider: str) -> None:
        """The next start begins with what was chosen last."""
        change = self._models.settings.change
        await asyncio.to_thread(change, lambda old: replace(old, chosen=provider))

    def _with_search(self, choice: ProviderChoice) -> ProviderChoice:
        """The general web search of a conversation stays on when another model answers."""
        general = self._current().web_search
        is_kept = general is not None and general.is_on and choice.search is None
        return replace(choice, web_search=general) if is_kept else choice

    def open_settings(self, provider: str) -> None:
        """The dialog, on a provider; what is saved there is chosen."""
        from presentation.dialogs.model_settings.dialog import ModelSettingsDialog

        dialog = ModelSettingsDialog(
            self._services, self._models, provider=provider, parent=self.parentWidget()
        )
        dialog.saved.connect(self._chosen)
        dialog.open()


def is_set_up(info: ProviderInfo, settings: ModelSettings) -> bool:
    return info.name in settings.providers and (info.has_key or not info.needs_key)
