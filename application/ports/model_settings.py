"""Where the settings of providers are kept, and what is known of a model server on this computer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from domain.llm.provider_settings import ModelSettings
    from domain.llm.web_search import SearchAnswer, SearchEngineInfo, WebSearchSettings


class ModelSettingsStore(Protocol):
    """Blocking, `latest` excepted: called off the loop."""

    @property
    def latest(self) -> ModelSettings:
        """What was loaded or set last in this run of the program; the first time it is read."""

    def load(self) -> ModelSettings:
        """What was set; what can't be understood counts as not set."""

    def change(self, change: Callable[[ModelSettings], ModelSettings]) -> ModelSettings:
        """Change what is kept; returns it. Raises EnvironmentProblem."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VocabularyState:
    """The vocabulary that counts the tokens of a model."""

    model: str
    name: str
    host: str
    """Where it can be fetched."""
    is_here: bool


class TokenVocabularies(Protocol):
    """The vocabularies with which tokens are counted exactly. Blocking but for `fetch`."""

    @property
    def is_installed(self) -> bool:
        """Whether there is what counts with them."""

    def names(self) -> tuple[str, ...]:
        """Those on this machine, whole and right."""

    def state_of(self, model: str) -> VocabularyState | None:
        """The vocabulary of a model; None where none is known."""

    def counter(self, model: str) -> Callable[[str], int] | None:
        """What counts the tokens of a text exactly for a model; None where that is not possible here."""

    async def fetch(self, name: str) -> Path:
        """Get one from the network, where the user asked for it; where it lies then.

        Raises UserInputError (an unknown name), EnvironmentProblem.
        """


class WebSearchEngines(Protocol):
    """Engines as rows of data, behind one way to ask them."""

    def list(self) -> tuple[SearchEngineInfo, ...]:
        """All of them; talks to nobody."""

    def checked(self, settings: WebSearchSettings) -> WebSearchSettings:
        """The settings with their address as it is asked. Raises UserInputError as `server` does."""

    def server(self, settings: WebSearchSettings) -> str:
        """Scheme, host and port that queries go to.

        Raises UserInputError: "unknown_search_engine", "no_search_engine" (an address is needed), "bad_url",
        "no_search_engine_id".
        """

    async def search(
        self, query: str, settings: WebSearchSettings, *, count: int, key: str = ""
    ) -> SearchAnswer:
        """Ask once, within ten seconds. `key` in place of the one that is kept.

        Raises as `server` does, and WebSearchError. Cancelling closes the connection.
        """
