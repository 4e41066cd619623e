"""What a user has set for the providers of models; never a key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from domain.llm.chat import ProviderChoice, Thinking, WebSearchChoice
from domain.llm.web_search import WebSearchSettings

BUILTIN = "builtin"
TIMEOUT_RANGE_S = (1.0, 3600.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderSettings:
    """One provider; what is empty or None is the provider's own."""

    base_url: str = ""
    model: str = ""
    thinking: Thinking | None = None
    search: bool = False
    """Its own web search."""
    web_search: bool = False
    """The general web search; not together with its own."""
    connect_s: float | None = None
    """Seconds until the server has to take the connection."""
    first_piece_s: float | None = None
    """Seconds until the first piece of an answer."""
    silence_s: float | None = None
    """Seconds between two pieces of an answer."""
    verified_at: str = ""
    """When a test last succeeded with these settings: ISO 8601, UTC; "" = not since they were changed."""

    def choice(self, provider: str) -> ProviderChoice:
        """As the choice of a conversation."""
        return ProviderChoice(
            provider=provider,
            model=self.model,
            base_url=self.base_url,
            thinking=self.thinking,
            search=True if self.search else None,
            web_search=WebSearchChoice() if self.web_search and not self.search else None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings:
    """All of them."""

    chosen: str = BUILTIN
    """The provider new conversations begin with."""
    providers: Mapping[str, ProviderSettings] = field(default_factory=dict)
    web_search: WebSearchSettings = field(default_factory=WebSearchSettings)
    """What the general web search asks, whatever provider answers."""

    def of(self, provider: str) -> ProviderSettings:
        """A provider's settings; defaults where nothing was set."""
        return self.providers.get(provider) or ProviderSettings()

    @property
    def choice(self) -> ProviderChoice:
        """What new conversations begin with."""
        return self.of(self.chosen).choice(self.chosen)
