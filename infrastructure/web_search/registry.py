"""The engines a user can choose from, and how they are asked: keys and addresses read anew each time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from domain.llm.web_search import SearchAnswer, SearchEngineInfo, WebSearchError, WebSearchSettings
from infrastructure.llm_adapters.addresses import checked_base_url, is_loopback
from infrastructure.web_search.engines import ENGINES, RETIRED, SearchEngine
from shared.errors import UserInputError
from shared.message import msg

if TYPE_CHECKING:
    from application.ports.credentials import KeyStore
    from domain.llm.service import NetworkSettings


class SearchEngines:
    """Implements application.ports.model_settings.WebSearchEngines over the table of engines."""

    def __init__(
        self,
        *,
        environment: Mapping[str, str],
        keys: KeyStore,
        network: Callable[[], NetworkSettings | None] = lambda: None,
    ) -> None:
        self._environment = environment
        self._keys = keys
        self._network = network
        self._pauses: dict[str, float] = {}

    def list(self) -> tuple[SearchEngineInfo, ...]:
        return tuple(self._info(engine) for engine in ENGINES.values())

    def checked(self, settings: WebSearchSettings) -> WebSearchSettings:
        self.server(settings)
        engine = _engine(settings.engine)
        named = settings.base_url.strip()
        return replace(
            settings, engine=engine.name, base_url=self._base_url(engine, settings) if named else ""
        )

    def server(self, settings: WebSearchSettings) -> str:
        engine = _engine(settings.engine)
        if engine.id_field and not settings.engine_id.strip():
            raise UserInputError(
                msg("{name} needs the id of a search engine (cx).", name=engine.title),
                advice=msg("Specify it with --search-id, or in the web search settings."),
                error_type="no_search_engine_id",
            )
        parts = urlsplit(self._base_url(engine, settings))
        return f"{parts.scheme.lower()}://{parts.netloc.lower()}"

    async def search(
        self, query: str, settings: WebSearchSettings, *, count: int, key: str = ""
    ) -> SearchAnswer:
        self.server(settings)
        engine = _engine(settings.engine)
        base_url = self._base_url(engine, settings)
        key = key or await asyncio.to_thread(self._key, engine, base_url)
        await asyncio.to_thread(_import_client)
        from infrastructure.web_search.client import SearchClient

        client = SearchClient(
            engine,
            base_url=base_url,
            key=key,
            engine_id=settings.engine_id.strip(),
            network=self._network(),
            pauses=self._pauses,
        )
        return await client.search(query, count=count)

    def _base_url(self, engine: SearchEngine, settings: WebSearchSettings) -> str:
        named = settings.base_url.strip() or self._environment.get(engine.url_variable, "").strip()
        if not named and not engine.base_url:
            raise UserInputError(
                msg("No search engine is set up for the web search."),
                advice=msg(
                    "Specify the address of a SearXNG server with --search-url, in {variable}, or in "
                    "the web search settings; or choose an engine you have a key for with "
                    "--search-engine: {names}.",
                    variable=engine.url_variable,
                    names=", ".join(row.name for row in ENGINES.values() if row.key_header),
                ),
                error_type="no_search_engine",
            )
        if not named:
            return engine.base_url
        # People copy the address from their browser.
        named = named.partition("?")[0].rstrip("/").removesuffix(engine.path).rstrip("/")
        try:
            return checked_base_url(named)
        except UserInputError as error:
            raise UserInputError(
                error.message,
                advice=msg("Write the address of the search engine as https://HOST or http://HOST:PORT."),
                error_type=error.error_type,
            ) from error

    def _key(self, engine: SearchEngine, base_url: str) -> str:
        """Blocking. Raises WebSearchError ("no_key")."""
        if not engine.key_header:
            return ""
        usual = (engine.base_url, base_url)  # the address is the user's own: his settings or his command
        key = self._keys.find(engine.key_place, engine.key_variable, server=base_url, usual=usual)
        if not key and not is_loopback(base_url):
            raise WebSearchError(
                msg("There is no key for the search engine {name}.", name=engine.title),
                kind="no_key",
                advice=msg(
                    "Get one at {page}; then run providers key set {name}, or set {variable}.",
                    page=engine.key_page,
                    name=engine.key_place,
                    variable=engine.key_variable,
                ),
            )
        if not (key.isascii() and key.isprintable()) or " " in key:
            raise WebSearchError(
                msg("The key of {name} contains invalid characters.", name=engine.key_place),
                kind="auth",
                advice=msg("Copy the key again, without spaces, line breaks or quotes around it."),
            )
        return key

    def _info(self, engine: SearchEngine) -> SearchEngineInfo:
        place = self._keys.status(engine.key_place, engine.key_variable).place if engine.key_header else None
        return SearchEngineInfo(
            name=engine.name,
            title=engine.title,
            needs_key=bool(engine.key_header),
            needs_url=not engine.base_url,
            needs_id=bool(engine.id_field),
            base_url=self._environment.get(engine.url_variable, "").strip() or engine.base_url,
            key_name=engine.key_place,
            key_variable=engine.key_variable,
            url_variable=engine.url_variable,
            key_page=engine.key_page,
            note=engine.note,
            source=engine.source,
            checked=engine.checked,
            has_key=place is not None,
        )


def _engine(name: str) -> SearchEngine:
    found = ENGINES.get(name.strip().lower())
    if found is None:
        raise UserInputError(
            RETIRED.get(name.strip().lower()) or msg("Unknown search engine {name}.", name=name),
            advice=msg("Available search engines: {names}.", names=", ".join(ENGINES)),
            error_type="unknown_search_engine",
        )
    return found


def _import_client() -> None:
    import infrastructure.web_search.client  # noqa: F401 - loaded for those who use it
