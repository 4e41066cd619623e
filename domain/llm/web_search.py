"""Searching the web for a model: what is set up, what was found, what can go wrong.

Two kinds exclude each other: a provider's own search, which happens inside its answer
(`ProviderChoice.search`), and the general one, a tool that every model can call (`.web_search`).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from domain.llm.chat import WebSearchChoice, WebSource
from shared.errors import EnvironmentProblem
from shared.message import Message
from shared.setting import setting

WEB_SEARCH = "web_search"
"""Name of the tool."""
DEFAULT_ENGINE = "searxng"
MOST_RESULTS = 10
LONGEST_QUERY = 400
"""Characters; of an engine that takes fewer the rest is cut off, and the model told."""

SearchErrorKind = Literal[
    "no_key",
    "auth",
    "forbidden",
    "quota",
    "rate_limited",
    "bad_request",
    "moved",
    "unreachable",
    "timeout",
    "connection_lost",
    "server_error",
    "bad_response",
    "too_large",
]


class WebSearchError(EnvironmentProblem):
    """A search engine refused, failed, or sent what can't be read. It never ends a turn."""

    def __init__(self, message: Message, *, kind: SearchErrorKind, advice: Message) -> None:
        super().__init__(message, advice=advice, error_type=f"web_search_{kind}")
        self.kind: SearchErrorKind = kind


@dataclass(frozen=True, slots=True, kw_only=True)
class WebSearchSettings:
    """Which engine the general search asks; never a key."""

    engine: str = setting(DEFAULT_ENGINE)
    base_url: str = ""
    """Of a server of one's own, or in place of the engine's; "" = the engine's own."""
    engine_id: str = ""
    """Google's id of a search engine (cx)."""
    results: int = setting(5, bounds=(1, MOST_RESULTS))
    """Pages a search gives at most."""
    verified_at: str = ""
    """When a test last succeeded with these settings: ISO 8601, UTC; "" = not since they were changed."""

    def changed_by(self, choice: WebSearchChoice) -> WebSearchSettings:
        """With what a choice says; of another engine nothing that was set for this one."""
        if choice.engine not in ("", self.engine):
            return WebSearchSettings(
                engine=choice.engine,
                base_url=choice.base_url,
                engine_id=choice.engine_id,
                results=self.results,
            )
        return WebSearchSettings(
            engine=self.engine,
            base_url=choice.base_url or self.base_url,
            engine_id=choice.engine_id or self.engine_id,
            results=self.results,
        )


def clean_query(text: str) -> str:
    """A query as it is shown to the user and sent: one line, nothing in it that nobody sees.

    Characters without a shape could carry something out of the computer that the user does not notice.
    """
    seen = "".join(char for char in text if char.isspace() or not unicodedata.category(char).startswith("C"))
    return " ".join(seen.split())[:LONGEST_QUERY]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchEngineInfo:
    """One engine as people choose it."""

    name: str
    title: str
    needs_key: bool
    needs_url: bool
    needs_id: bool
    base_url: str
    """"" = it has to be named."""
    key_name: str
    """Under which its key is kept; a provider of models may have the same."""
    key_variable: str
    url_variable: str
    key_page: str
    note: Message | None
    source: str
    """Where its facts were read."""
    checked: str
    """When: ISO 8601 date."""
    has_key: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchAnswer:
    """What a search found."""

    query: str
    """As it was sent."""
    server: str
    """Host and port that were asked."""
    sources: tuple[WebSource, ...]
    """At most as many as were asked for, each with an address that can be opened; no markup."""
    took_s: float = 0.0
    """From the request to the end of the answer."""
    silent: tuple[str, ...] = ()
    """Of a server that asks other engines: those that did not answer."""


def sources_of_result(result: object) -> tuple[WebSource, ...]:
    """The pages that a stored result of the tool names; () for anything else."""
    items = result.get("sources") if isinstance(result, Mapping) else None
    names = tuple(WebSource.__dataclass_fields__)
    return tuple(
        WebSource(**{name: str(item.get(name) or "") for name in names})
        for item in (items if isinstance(items, list) else ())
        if isinstance(item, Mapping)
    )
