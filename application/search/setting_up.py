"""Choosing the server of vectors for searches by meaning: what is set, a trial of it, and changing it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from application.ports.events import EmbeddingChanged
from domain.search.embedding import EMBEDDING_SERVERS, EmbeddingSettings

if TYPE_CHECKING:
    from application.ports.credentials import KeyStore
    from application.ports.search import Embedder, EmbeddingStore
    from shared.events import EventBus

_TEXT = "A low-pass filter with a cutoff of 10 kHz."
_FAR_S = 10.0
"""A server on the network has so long for one short text; one on this computer may load its model first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingTrial:
    """What came of a trial that succeeded."""

    dimension: int
    """Numbers of a vector."""
    answered_s: float


class SetUpEmbedding:
    """The use case behind the settings of the search by meaning, and `providers test embeddings`."""

    def __init__(
        self,
        *,
        store: EmbeddingStore,
        connect: Callable[[EmbeddingSettings, str], Embedder],
        is_local: Callable[[EmbeddingSettings], bool],
        events: EventBus,
    ) -> None:
        """`connect` makes a client that asks once, with a key in place of the kept one; it may block."""
        self._store = store
        self._connect = connect
        self._is_local = is_local
        self._events = events

    async def load(self) -> EmbeddingSettings | None:
        """What is set; None when there is no search by meaning."""
        return await asyncio.to_thread(self._store.load)

    def is_local(self, settings: EmbeddingSettings) -> bool:
        """Whether texts stay on this computer. Raises UserInputError for an address that is none."""
        return self._is_local(settings)

    async def try_out(self, settings: EmbeddingSettings, *, key: str = "") -> EmbeddingTrial:
        """Ask for the vector of one short text; nothing of a project is sent.

        Raises UserInputError, ProviderError (also for a vector of another dimension than was asked for);
        cancelling closes the connection.
        """
        if not self.is_local(settings):
            settings = replace(settings, timeout_s=min(settings.timeout_s, _FAR_S))
        embedder = await asyncio.to_thread(self._connect, settings, key)
        clock = asyncio.get_running_loop().time
        try:
            begin = clock()
            vectors = await embedder.embed([_TEXT])
            return EmbeddingTrial(dimension=len(vectors[0]), answered_s=clock() - begin)
        finally:
            await embedder.close()

    async def save(self, settings: EmbeddingSettings | None) -> None:
        """Keep it; searches use it from now on, and indexes are brought up to it in the background.

        Raises UserInputError for an address that is none, EnvironmentProblem.
        """
        if settings is not None:
            self.is_local(settings)
        await asyncio.to_thread(self._store.save, settings)
        self._events.publish(EmbeddingChanged())


_TRIES = 3


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ChosenEmbedder:
    """Makes its clients."""

    store: EmbeddingStore
    keys: KeyStore
    make: Callable[[EmbeddingSettings, str, int], Embedder]
    """From the settings, the key ("" = none) and how often a request is tried."""

    def kept(self) -> Embedder | None:
        """The client of the server that is set; None when there is none. Blocking."""
        settings = self.store.load()
        return None if settings is None else self.make(settings, self._key_of(settings), _TRIES)

    def once(self, settings: EmbeddingSettings, key: str = "") -> Embedder:
        """A client that asks once, with `key` in place of the one that is kept. Blocking."""
        return self.make(settings, key or self._key_of(settings), 1)

    def _key_of(self, settings: EmbeddingSettings) -> str:
        server = EMBEDDING_SERVERS[settings.provider]
        if not server.key_name:
            return ""
        url = settings.base_url or server.base_url
        return self.keys.find(server.key_name, server.key_variable, server=url, usual=(url,))
