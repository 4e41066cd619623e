"""HTTP connections that leave no socket behind, whenever a request is cancelled or an answer abandoned."""

from __future__ import annotations

import asyncio
import contextlib
import http.cookiejar
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import httpx

from domain.llm.service import NetworkSettings
from infrastructure.llm_adapters import interim
from infrastructure.llm_adapters.error_texts import Peer
from infrastructure.llm_adapters.timing import Timeouts
from infrastructure.llm_adapters.wire_errors import unusable_proxy
from shared.errors import UserInputError
from shared.message import msg


def new_connections(
    timeouts: Timeouts, *, is_local: bool, is_plain: bool = False, network: NetworkSettings | None = None
) -> httpx.AsyncClient:
    """Connections to one server. Blocking: it reads the certificates from the disk.

    A plain server's address begins with http: no certificate is read, which takes 20 ms, and none trusted.
    Redirects are not followed: the key would go to whom the answer names. Cookies are not kept: a server
    would know its user by them, and have us carry what it likes. Certificates hold for a server on this
    computer too, proxies do not. Raises ValueError, ImportError or httpx.InvalidURL for a proxy that can't
    be used, UserInputError ("bad_certificates").
    """
    network = network or NetworkSettings()
    trusted = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if is_plain else httpx.create_ssl_context()
    if network.certificates is not None and not is_plain:
        _trust(trusted, network.certificates)
    return httpx.AsyncClient(
        verify=trusted,
        trust_env=not is_local,
        proxy=network.proxy if network.proxy and not is_local else None,
        timeout=httpx.Timeout(None, connect=timeouts.connect_s, pool=timeouts.connect_s),
        follow_redirects=False,
        cookies=http.cookiejar.CookieJar(http.cookiejar.DefaultCookiePolicy(allowed_domains=())),
    )


class Connections:
    """Connections to one server, made at their first use; see `new_connections`."""

    def __init__(
        self,
        peer: Peer,
        timeouts: Timeouts,
        *,
        is_local: bool,
        is_plain: bool = False,
        network: NetworkSettings | None,
    ) -> None:
        self._peer = peer
        self._make = partial(new_connections, timeouts, is_local=is_local, is_plain=is_plain, network=network)
        self._http: httpx.AsyncClient | None = None
        self._making = asyncio.Lock()

    async def opened(self) -> httpx.AsyncClient:
        """Made in a thread: certificates may be read from the disk. Raises ProviderError for the proxy."""
        async with self._making:
            if self._http is None:
                try:
                    self._http = await asyncio.to_thread(self._make)
                except (ValueError, ImportError, httpx.InvalidURL) as error:
                    raise unusable_proxy(self._peer, error) from error
            return self._http

    async def close(self) -> None:
        http, self._http = self._http, None
        if http is not None:
            await http.aclose()


def _trust(context: ssl.SSLContext, place: Path) -> None:
    try:
        files = [*place.glob("*.pem"), *place.glob("*.crt")] if place.is_dir() else [place]
        for file in files:
            context.load_verify_locations(cafile=file)
        if not files:
            raise FileNotFoundError(2, "no .pem or .crt in it", str(place))
    except OSError as error:  # ssl.SSLError is one
        raise UserInputError(
            msg(
                "The certificates {path} cannot be used: {reason}.",
                path=place,
                reason=error.strerror or error,
            ),
            advice=msg("Set network.certificates to a PEM file of certificates, or remove the setting."),
            file=place,
            error_type="bad_certificates",
        ) from error


async def bound_interim(event: str, info: Mapping[str, Any]) -> None:
    """For httpcore's extension "trace" of a request: its interim answers are bounded."""
    if event.endswith((".connect_tcp.complete", ".start_tls.complete")):
        interim.bound(info["return_value"])


@asynccontextmanager
async def no_socket_left(request: httpx.Request) -> AsyncIterator[None]:
    """Close what was opened for `request` when sending it fails or is cancelled; bound its interim answers.

    httpcore 1.0 does so itself but for a cancelled TLS handshake and a refused SOCKS one: these sockets
    would stay open.
    """
    opened: list[Any] = []

    async def trace(event: str, info: Mapping[str, Any]) -> None:
        if event.endswith(".connect_tcp.complete"):  # of a connection, or of one to a SOCKS proxy
            opened.append(info["return_value"])
        await bound_interim(event, info)

    request.extensions["trace"] = trace
    try:
        yield
    except BaseException:
        for stream in opened:
            await stream.aclose()
        raise


def bytes_of(response: httpx.Response) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
    """The body in pieces as they came, packed or not; at the end the response is closed."""
    return run_out(response.aiter_raw(), response.aclose)


@asynccontextmanager
async def run_out(
    pieces: AsyncIterator[bytes], close: Callable[[], Awaitable[None]]
) -> AsyncIterator[AsyncIterator[bytes]]:
    """The pieces of a body; at the end it is closed, and its generators come to theirs."""
    try:
        yield pieces
    finally:
        await close()
        # The generators inside httpx run out on a closed connection. Left suspended they would be
        # finished by tasks of the loop's own that nobody waits for.
        with contextlib.suppress(httpx.HTTPError, httpx.StreamError):
            async for _ in pieces:
                pass
