"""HTTP connections that leave no socket behind, whenever a request is cancelled or an answer abandoned."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx

from infrastructure.llm_adapters.timing import Timeouts


def new_connections(timeouts: Timeouts, *, is_local: bool) -> httpx.AsyncClient:
    """Connections to one server. Blocking: it reads the certificates from the disk.

    Redirects are not followed: the key would go to whom the answer names. Certificates that the
    environment names hold for a server on this computer too, proxies do not. Raises ValueError,
    ImportError or httpx.InvalidURL for a proxy that can't be used.
    """
    return httpx.AsyncClient(
        verify=httpx.create_ssl_context(),
        trust_env=not is_local,
        timeout=httpx.Timeout(None, connect=timeouts.connect_s, pool=timeouts.connect_s),
        follow_redirects=False,
    )


@asynccontextmanager
async def no_socket_left(request: httpx.Request) -> AsyncIterator[None]:
    """Close what was opened for `request` when sending it fails or is cancelled.

    httpcore 1.0 does so itself but for a cancelled TLS handshake: that socket would stay open.
    """
    opened: list[Any] = []

    async def trace(event: str, info: Mapping[str, Any]) -> None:
        if event == "connection.connect_tcp.complete":
            opened.append(info["return_value"])

    request.extensions["trace"] = trace
    try:
        yield
    except BaseException:
        for stream in opened:
            await stream.aclose()
        raise


@asynccontextmanager
async def bytes_of(response: httpx.Response) -> AsyncIterator[AsyncIterator[bytes]]:
    """The body in pieces; at the end the response is closed, read out or not."""
    pieces = response.aiter_bytes()
    try:
        yield pieces
    finally:
        await response.aclose()
        # The generators inside httpx run out on a closed connection. Left suspended they would be
        # finished by tasks of the loop's own that nobody waits for.
        with contextlib.suppress(httpx.HTTPError, httpx.StreamError):
            async for _ in pieces:
                pass
