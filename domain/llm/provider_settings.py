"""What a user has set for the providers of models; never a key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from domain.llm.chat import THINKING_LEVELS, ProviderChoice, Thinking, WebSearchChoice
from domain.llm.web_search import WebSearchSettings
from shared.message import msg
from shared.setting import setting

BUILTIN = "builtin"
WAYS_ON = msg("Choose a language model (`providers` lists them), or ask “what can you design?”.")
"""Ends a refusal of the built-in model; where there are buttons, these say it."""
_TIMEOUT_RANGE_S = (1.0, 3600.0)


def _arguments(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError(value)
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderSettings:
    """One provider; what is empty or None is the provider's own."""

    base_url: str = ""
    model: str = ""
    thinking: Thinking | None = setting(None, choices=THINKING_LEVELS)
    search: bool = False
    """Its own web search."""
    web_search: bool = False
    """The general web search; not together with its own."""
    connect_s: float | None = setting(None, bounds=_TIMEOUT_RANGE_S)
    """Seconds until the server has to take the connection."""
    first_piece_s: float | None = setting(None, bounds=_TIMEOUT_RANGE_S)
    """Seconds until the first piece of an answer."""
    silence_s: float | None = setting(None, bounds=_TIMEOUT_RANGE_S)
    """Seconds between two pieces of an answer."""
    model_class: str = ""
    """Of the provider "langchain": module and class, as langchain_openai:ChatOpenAI. Only here, in the user's
    own folder, never in a conversation or project: it is imported, so it can do anything."""
    arguments: Mapping[str, Any] = setting(dict, read=_arguments)
    """What the class is given beside model, address and key: a JSON object."""
    verified_at: str = ""
    """When a test last succeeded with these settings: ISO 8601, UTC; "" = not since they were changed."""

    def choice(self, provider: str) -> ProviderChoice:
        return ProviderChoice(
            provider=provider,
            model=self.model,
            base_url=self.base_url,
            thinking=self.thinking,
            search=True if self.search else None,
            web_search=WebSearchChoice() if self.web_search and not self.search else None,
        )


def settled_search(choice: ProviderChoice, kept: ProviderSettings) -> tuple[bool, WebSearchChoice | None]:
    """Whether the provider's own search is used, and else how the general one; never both.

    What a choice leaves open is as it was set for its provider.
    """
    general = choice.web_search
    is_general = general is not None and general.is_on
    own = (kept.search and not is_general) if choice.search is None else choice.search
    if general is None and kept.web_search and not own:
        general = WebSearchChoice()
    return own, general if general is not None and general.is_on and not own else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings:
    """All of them."""

    chosen: str = setting(BUILTIN)
    """The provider new conversations begin with."""
    providers: Mapping[str, ProviderSettings] = setting(dict, parts=lambda: ProviderSettings)
    web_search: WebSearchSettings = setting(WebSearchSettings, parts=lambda: WebSearchSettings)
    """What the general web search asks, whatever provider answers."""

    def of(self, provider: str) -> ProviderSettings:
        """A provider's settings; defaults where nothing was set."""
        return self.providers.get(provider) or ProviderSettings()

    @property
    def choice(self) -> ProviderChoice:
        """What new conversations begin with."""
        return self.of(self.chosen).choice(self.chosen)
