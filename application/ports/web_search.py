"""The engines that search the web."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from domain.llm.web_search import SearchAnswer, SearchEngineInfo, WebSearchSettings


class WebSearchEngines(Protocol):
    """Engines as rows of data, behind one way to ask them."""

    def list(self) -> tuple[SearchEngineInfo, ...]:
        """All of them; talks to nobody."""
        ...

    def checked(self, settings: WebSearchSettings) -> WebSearchSettings:
        """The settings with their address as it is asked. Raises UserInputError as `server` does."""
        ...

    def server(self, settings: WebSearchSettings) -> str:
        """Scheme, host and port that queries go to.

        Raises UserInputError: "unknown_search_engine", "no_search_engine" (an address is needed), "bad_url",
        "no_search_engine_id".
        """
        ...

    async def search(
        self, query: str, settings: WebSearchSettings, *, count: int, key: str = ""
    ) -> SearchAnswer:
        """Ask once, within ten seconds. `key` in place of the one that is kept.

        Raises as `server` does, and WebSearchError. Cancelling closes the connection.
        """
        ...
