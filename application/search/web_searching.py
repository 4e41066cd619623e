"""The general web search: which engine a conversation asks, and asking it."""

from __future__ import annotations

from dataclasses import replace

from application.ports.events import WebSearchCompleted, WebSearchFailed, WebSearchStarted
from application.ports.model_settings import ModelSettingsStore, WebSearchEngines
from domain.llm.chat import ProviderChoice, WebSearchChoice
from domain.llm.provider_settings import settled_search
from domain.llm.web_search import (
    SearchAnswer,
    WebSearchSettings,
    clean_query,
)
from shared.errors import CircuitAIError, UserInputError
from shared.events import EventBus
from shared.message import msg
from shared.redaction import redact

TRIAL_QUERY = "ngspice"


class SearchWeb:
    """The use case; tells the bus when a search starts, has answered, or has failed."""

    def __init__(
        self, *, engines: WebSearchEngines, settings: ModelSettingsStore, events: EventBus | None = None
    ) -> None:
        self.engines = engines
        self._settings = settings
        self._events = events

    def of_choice(self, choice: ProviderChoice) -> WebSearchSettings | None:
        """What a conversation with this model asks; None when the general search is off. Blocking.

        Raises UserInputError as `WebSearchEngines.server` does.
        """
        kept = self._settings.load()
        _, general = settled_search(choice, kept.of(choice.provider))
        return None if general is None else self.engines.checked(kept.web_search.changed_by(general))

    def as_set(self, choice: WebSearchChoice | None = None) -> WebSearchSettings:
        """What was set up, with what `choice` says. Blocking. Raises UserInputError as above."""
        return self.engines.checked(self._settings.load().web_search.changed_by(choice or WebSearchChoice()))

    async def __call__(
        self, query: str, settings: WebSearchSettings, *, count: int = 0, key: str = ""
    ) -> SearchAnswer:
        """Ask the engine once; `count` = 0: as many pages as were set. `key` replaces the one that is kept.

        Raises UserInputError ("bad_query", and as above), WebSearchError, EnvironmentProblem ("keys_locked").
        """
        query = clean_query(query)
        _refuse_bad_query(query)
        server = self.engines.server(settings)
        self._tell(WebSearchStarted(query=query, server=server))
        try:
            answer = await self.engines.search(query, settings, count=count or settings.results, key=key)
        except CircuitAIError as error:
            self._tell(
                WebSearchFailed(
                    query=query, server=server, error_type=error.error_type, message=error.message
                )
            )
            raise
        self._tell(WebSearchCompleted(query=query, server=server, count=len(answer.sources)))
        return answer

    def _tell(self, event: WebSearchStarted | WebSearchCompleted | WebSearchFailed) -> None:
        if self._events is not None:
            self._events.publish(event)


def with_search_of(asked: ProviderChoice, other: ProviderChoice, *, is_general: bool) -> ProviderChoice:
    """Another model in place of the one that was asked: a general search that is on stays on."""
    if not is_general:
        return other
    return replace(other, search=False, web_search=asked.web_search or WebSearchChoice())


def _refuse_bad_query(query: str) -> None:
    if not query:
        raise UserInputError(
            msg("The query is empty."), advice=msg("Give a text to search for."), error_type="bad_query"
        )
    if redact(query) != query:
        raise UserInputError(
            msg("The query contains a key, or what looks like one; it was not sent."),
            advice=msg("Search without it."),
            error_type="bad_query",
        )
