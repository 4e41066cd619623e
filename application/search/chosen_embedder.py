"""The server of vectors the user has chosen, with its key."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from domain.search.embedding import EMBEDDING_SERVERS

if TYPE_CHECKING:
    from application.ports.credentials import KeyStore
    from application.ports.search import Embedder, EmbeddingStore
    from domain.search.embedding import EmbeddingSettings

_TRIES = 3


class ChosenEmbedder:
    """Makes its clients."""

    def __init__(
        self,
        *,
        store: EmbeddingStore,
        keys: KeyStore,
        make: Callable[[EmbeddingSettings, str, int], Embedder],
    ) -> None:
        """`make` is given the settings, the key ("" = none) and how often a request is tried."""
        self._store = store
        self._keys = keys
        self._make = make

    def kept(self) -> Embedder | None:
        """The client of the server that is set; None when there is none. Blocking."""
        settings = self._store.load()
        return None if settings is None else self._make(settings, self._key_of(settings), _TRIES)

    def once(self, settings: EmbeddingSettings, key: str = "") -> Embedder:
        """A client that asks once, with `key` in place of the one that is kept. Blocking."""
        return self._make(settings, key or self._key_of(settings), 1)

    def _key_of(self, settings: EmbeddingSettings) -> str:
        server = EMBEDDING_SERVERS[settings.provider]
        if not server.key_name:
            return ""
        url = settings.base_url or server.base_url
        return self._keys.find(server.key_name, server.key_variable, server=url, usual=(url,))
