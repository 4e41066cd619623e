"""Language models and searches of the web: which there are, their keys and settings, and trying them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from application.conversation.trying import TryModel
    from application.groups.outside import ModelParts, ProgramParts
    from application.ports.conversation import ChatModels
    from application.ports.credentials import KeyStore
    from application.ports.model_settings import ModelSettingsStore, TokenVocabularies
    from application.search.web_searching import SearchWeb


class Models:
    """Providers of models and of searches."""

    def __init__(self, parts: ModelParts, program: ProgramParts) -> None:
        self._parts = parts
        self._program = program

    @property
    def providers(self) -> ChatModels:
        return self._parts.providers

    @property
    def settings(self) -> ModelSettingsStore:
        return self._parts.settings

    @property
    def vocabularies(self) -> TokenVocabularies:
        """With which tokens are counted exactly."""
        return self._parts.vocabularies

    @property
    def keys(self) -> KeyStore:
        return self._parts.keys

    @cached_property
    def try_out(self) -> TryModel:
        """Whether a model answers, how fast, and whether it calls tools."""
        from application.conversation.trying import TryModel

        return TryModel(self._parts.providers)

    @cached_property
    def search_web(self) -> SearchWeb:
        """The general web search: its engines, and asking one."""
        from application.search.web_searching import SearchWeb

        return SearchWeb(
            engines=self._parts.engines, settings=self._parts.settings, events=self._program.events
        )
