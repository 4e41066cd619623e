"""A server at an address ("streamable HTTP"), with the user's way to the network and bounded answers."""

from __future__ import annotations

import http.cookiejar
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import httpx2

from domain.llm.service import NetworkSettings
from infrastructure.llm_adapters.addresses import is_loopback
from infrastructure.tool_servers.stdio import LARGEST_MESSAGE

_CONNECT_S = 10.0


class AnswerTooLarge(httpx2.TransportError):
    """The body of an answer is larger than a message may be."""


class _Bounded(httpx2.AsyncByteStream):
    """A body that ends with an error where it is too large."""

    def __init__(self, body: Any, limit: BodyLimit) -> None:
        self._body, self._limit = body, limit

    async def __aiter__(self) -> AsyncIterator[bytes]:
        count = 0
        async for piece in self._body:
            count += len(piece)
            if count > LARGEST_MESSAGE:
                self._limit.was_passed = True
                raise AnswerTooLarge("the answer is larger than a message may be")
            yield piece

    async def aclose(self) -> None:
        await self._body.aclose()


class BodyLimit:
    """Bounds the bodies of answers to posts; of the server's own stream each event is bounded elsewhere."""

    def __init__(self) -> None:
        self.was_passed = False

    async def __call__(self, response: httpx2.Response) -> None:
        """For the client's hook "response"."""
        if response.request.method == "POST":
            response.stream = _Bounded(response.stream, self)


def new_client(
    url: str, *, token: str, network: NetworkSettings, limit: BodyLimit, timeout_s: float
) -> httpx2.AsyncClient:
    """Blocking: it reads certificates. Raises ValueError, OSError for a proxy or certificates of no use.

    No redirect leaves the server, no cookie is kept, nothing is unpacked (a packed answer has no bound).
    """
    is_local = is_loopback(url)
    trusted = httpx2.create_ssl_context()
    if network.certificates is not None:
        _trust(trusted, network.certificates)
    headers: Mapping[str, str] = {"Accept-Encoding": "identity"} | (
        {"Authorization": f"Bearer {token}"} if token else {}
    )
    return httpx2.AsyncClient(
        headers=headers,
        verify=trusted,
        trust_env=not is_local,
        proxy=network.proxy if network.proxy and not is_local else None,
        timeout=httpx2.Timeout(_CONNECT_S, read=timeout_s),
        follow_redirects=False,
        cookies=http.cookiejar.CookieJar(http.cookiejar.DefaultCookiePolicy(allowed_domains=())),
        event_hooks={"response": [limit]},
    )


def _trust(context: Any, place: Path) -> None:
    for file in [*place.glob("*.pem"), *place.glob("*.crt")] if place.is_dir() else [place]:
        context.load_verify_locations(cafile=file)
