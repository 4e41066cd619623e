"""Providers of language models, of vectors and of searches, their keys and settings."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from application.ports.conversation import ChatModels
    from application.ports.credentials import KeyStore
    from application.ports.model_settings import ModelSettingsStore, TokenVocabularies, WebSearchEngines
    from application.ports.search import Embedder, EmbeddingStore
    from composition.program import ProgramAdapters
    from domain.llm.agent_limits import AgentLimits
    from domain.llm.chat import ProviderChoice
    from domain.llm.context_block import ContextShares
    from domain.search.embedding import EmbeddingSettings
    from infrastructure.persistence.model_settings import ServiceCountsFile, TokenFactorsFile


class ModelAdapters:
    """Implements application.groups.outside.ModelParts."""

    def __init__(self, program: ProgramAdapters) -> None:
        self._program = program

    @cached_property
    def providers(self) -> ChatModels:
        from infrastructure.llm_adapters.model_facts import abilities_of, price_of
        from infrastructure.llm_adapters.registry import ModelRegistry
        from presentation.translation import Translator

        program = self._program
        return ModelRegistry(
            environment=self._program.environment,
            speaker=Translator,
            keys=lambda: self.keys,
            settings=lambda: self.settings,
            tokens=lambda: self._token_factors,
            network=lambda: program.network,
            counts=lambda: self._service_counts,
            abilities=lambda provider, model: abilities_of(provider, model, added=program.settings.models),
            prices=lambda provider, model, is_own: price_of(
                provider, model, added=program.settings.prices, is_own_address=is_own
            ),
        )

    @cached_property
    def _token_factors(self) -> TokenFactorsFile:
        from infrastructure.persistence.model_settings import TokenFactorsFile

        return TokenFactorsFile(user_home=self._program.home, exact=self.vocabularies.counter)

    @cached_property
    def vocabularies(self) -> TokenVocabularies:
        from infrastructure.llm_adapters.vocabularies import Vocabularies

        return Vocabularies(
            user_home=self._program.home,
            environment=self._program.environment,
            write=self._program.write_file,
            network=lambda: self._program.network,
        )

    @cached_property
    def _service_counts(self) -> ServiceCountsFile:
        from infrastructure.persistence.model_settings import ServiceCountsFile

        return ServiceCountsFile(user_home=self._program.home)

    @cached_property
    def settings(self) -> ModelSettingsStore:
        from infrastructure.persistence.model_settings import ModelSettingsFile

        return ModelSettingsFile(user_home=self._program.home)

    @cached_property
    def keys(self) -> KeyStore:
        from infrastructure.persistence.credentials import Credentials

        return Credentials(user_home=self._program.home, environment=self._program.environment)

    @cached_property
    def engines(self) -> WebSearchEngines:
        from infrastructure.web_search.registry import SearchEngines

        return SearchEngines(
            environment=self._program.environment, keys=self.keys, network=lambda: self._program.network
        )

    @property
    def limits(self) -> AgentLimits | None:
        return self._program.settings.agent

    @property
    def shares(self) -> ContextShares | None:
        return self._program.settings.context

    @property
    def small_model(self) -> ProviderChoice | None:
        return self._program.settings.small_model

    def small_model_of(self, provider: str) -> str:
        from infrastructure.llm_adapters.model_facts import small_model_of

        return small_model_of(provider)

    @property
    def alternatives(self) -> tuple[ProviderChoice, ...]:
        return self._program.settings.alternatives

    @property
    def switches_automatically(self) -> bool:
        return self._program.settings.switch_automatically

    @cached_property
    def embedding(self) -> EmbeddingStore:
        from infrastructure.persistence.settings import EmbeddingSettingsFile

        return EmbeddingSettingsFile(user_home=self._program.home)

    def embedder(self, settings: EmbeddingSettings, key: str, tries: int) -> Embedder:
        from infrastructure.llm_adapters.embeddings import EmbeddingClient
        from infrastructure.llm_adapters.timing import RetryPolicy

        return EmbeddingClient(
            settings,
            environment=self._program.environment,
            key=key,
            retries=RetryPolicy(tries=tries),
            network=self._program.network,
        )

    def stays_here(self, settings: EmbeddingSettings) -> bool:
        from infrastructure.llm_adapters.embeddings import stays_here

        return stays_here(settings)
