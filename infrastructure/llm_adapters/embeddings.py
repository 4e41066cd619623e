"""The client for servers that give texts their vectors in OpenAI's form: ``POST {base_url}/embeddings``.

Zhipu, SiliconFlow, Ollama and most others speak it. Errors, advice and retries are those of the chat client;
an answer counts only whole: a vector for every text, all of one length, of finite numbers.
"""

from __future__ import annotations

import asyncio
import json
import math
from array import array
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import httpx

from domain.llm.chat import ProviderError
from domain.llm.service import NetworkSettings
from domain.search.embedding import EMBEDDING_SERVERS, EmbeddingSettings
from infrastructure.llm_adapters.addresses import checked_base_url, is_loopback, is_plain
from infrastructure.llm_adapters.connections import Connections, bytes_of
from infrastructure.llm_adapters.error_texts import Peer, key_variable
from infrastructure.llm_adapters.service_manager import ServiceManager
from infrastructure.llm_adapters.timing import RetryPolicy, Timeouts
from infrastructure.llm_adapters.wire_errors import (
    bad_response,
    error_of_payload,
    error_of_response,
    error_of_transport,
    is_error_payload,
    packed,
    timeout,
    unusable_key,
)
from shared.errors import UserInputError
from shared.message import msg

_CONNECT_S = 10.0
_LARGEST_ANSWER = 64 * 2**20
_LARGEST_VECTOR = 512 * 2**10
"""As JSON, with what stands around it: 16,384 numbers of 32 characters."""


def stays_here(settings: EmbeddingSettings) -> bool:
    """Whether the server is on this computer. Raises UserInputError for an address that is none."""
    return is_loopback(_address(settings))


def _address(settings: EmbeddingSettings) -> str:
    named = settings.base_url.strip() or EMBEDDING_SERVERS[settings.provider].base_url
    if not named:
        raise UserInputError(
            msg("The embedding settings specify no server."),
            advice=msg("Set a base_url for the setting embedding, for example http://HOST:PORT/v1."),
            error_type="no_base_url",
        )
    return checked_base_url(named).removesuffix("/embeddings").rstrip("/")


class EmbeddingClient:
    """Implements application.ports.search.Embedder."""

    def __init__(
        self,
        settings: EmbeddingSettings,
        *,
        environment: Mapping[str, str],
        key: str = "",
        retries: RetryPolicy | None = None,
        network: NetworkSettings | None = None,
    ) -> None:
        """`key` comes before the one in the environment.

        Raises UserInputError for an address that is none, ProviderError ("no_key") without a key.
        """
        self._base_url = _address(settings)
        self._settings = settings
        self._is_local = is_loopback(self._base_url)
        variable = key_variable(settings.provider)
        self._peer = Peer(
            server=urlsplit(self._base_url).netloc,
            provider=settings.provider,
            model=settings.model,
            key=key or environment.get(variable, "").strip(),
            is_loopback=self._is_local,
        )
        # Of its own: a server that gives vectors and one that answers may fail apart.
        self._service = ServiceManager(retries=retries).service(
            f"{settings.provider}-embedding", self._peer.server, is_local=self._is_local
        )
        if not self._peer.key and not self._is_local:
            raise ProviderError(
                msg("There is no key for {name} at {url}.", name=settings.provider, url=self._base_url),
                kind="no_key",
                advice=msg(
                    "Enter it in the settings for search by meaning, or set the environment variable "
                    "{variable} to it.",
                    variable=variable,
                ),
            )
        if not (self._peer.key.isascii() and self._peer.key.isprintable()):
            raise unusable_key(self._peer)
        self._connections = Connections(
            self._peer,
            Timeouts(connect_s=_CONNECT_S),
            is_local=self._is_local,
            is_plain=is_plain(self._base_url),
            network=network,
        )

    @property
    def model(self) -> str:
        return f"{self._base_url} {self._settings.model} {self._settings.dimensions or ''}".strip()

    @property
    def batch_size(self) -> int:
        return self._settings.batch_size

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """A vector for each text, in their order. Raises ProviderError after the retries."""
        return await self._service.call(lambda: self._in_time(texts))

    async def _in_time(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        try:
            async with asyncio.timeout(self._settings.timeout_s):
                return await self._attempt(texts)
        except TimeoutError:
            seconds = f"{self._settings.timeout_s:g}"
            raise timeout(self._peer, msg("no answer for {seconds} s", seconds=seconds)) from None

    async def close(self) -> None:
        await self._connections.close()

    async def _attempt(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        most = self._settings.max_characters
        request: dict[str, Any] = {
            "model": self._settings.model,
            "input": [text[:most] for text in texts],
            "encoding_format": "float",
        }
        if self._settings.dimensions is not None:
            request["dimensions"] = self._settings.dimensions
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json",
            "Accept-Encoding": "identity",
        }
        if self._peer.key:
            headers["Authorization"] = f"Bearer {self._peer.key}"
        http = await self._connections.opened()
        body = json.dumps(request, ensure_ascii=False).encode("utf-8", "replace")
        try:
            async with http.stream(
                "POST", f"{self._base_url}/embeddings", content=body, headers=headers
            ) as response:
                data = await self._body(response, min(_LARGEST_ANSWER, _LARGEST_VECTOR * len(texts)))
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise error_of_transport(self._peer, error) from error
        if not response.is_success:
            raise error_of_response(self._peer, response.status_code, response.headers, data)
        # A batch of long vectors is a megabyte of JSON.
        return await asyncio.to_thread(self._read, data, len(texts))

    async def _body(self, response: httpx.Response, most: int) -> bytes:
        """The body of an answer; of one that is packed nothing is read."""
        if (refused := packed(self._peer, response.headers)) is not None:
            if response.is_success:
                raise refused
            return b""
        data = bytearray()
        async with bytes_of(response) as pieces:
            async for piece in pieces:
                data += piece
                if len(data) > most:
                    raise bad_response(self._peer, f"more than {most} bytes")
        return bytes(data)

    def _read(self, data: bytes, count: int) -> list[array[float]]:
        try:
            payload = json.loads(data)
        except (ValueError, RecursionError):
            raise bad_response(self._peer, data[:300].decode(errors="replace")) from None
        items = payload.get("data") if isinstance(payload, dict) else None
        if not isinstance(items, list):
            if is_error_payload(payload):
                raise error_of_payload(self._peer, payload)
            raise bad_response(self._peer, data[:300].decode(errors="replace"))
        if len(items) != count:
            raise bad_response(self._peer, f"{len(items)} vectors for {count} texts")
        vectors: dict[int, array[float]] = {}
        for position, item in enumerate(items):
            index = item.get("index", position) if isinstance(item, dict) else position
            vectors[index if isinstance(index, int) else position] = self._vector(item)
        lengths = {len(vector) for vector in vectors.values()}
        wanted = self._settings.dimensions
        if len(lengths) != 1 or (wanted is not None and lengths != {wanted}):
            said = ", ".join(map(str, sorted(lengths)))
            raise bad_response(
                self._peer, f"vectors of {said} numbers" + (f", not {wanted}" if wanted else "")
            )
        if vectors.keys() != set(range(count)):
            raise bad_response(self._peer, "the vectors are not numbered like the texts")
        return [vectors[position] for position in range(count)]

    def _vector(self, item: object) -> array[float]:
        numbers = item.get("embedding") if isinstance(item, dict) else None
        try:
            vector = array("d", numbers if isinstance(numbers, list) else ())
        except (TypeError, ValueError, OverflowError):
            vector = array("d")
        length = math.hypot(*vector) if vector else 0.0
        if not (math.isfinite(length) and length > 0):
            raise bad_response(self._peer, "a vector without direction")
        return vector
