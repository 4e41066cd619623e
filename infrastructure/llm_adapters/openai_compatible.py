"""The client for servers that speak OpenAI's chat completions, over our own reader.

What servers send beside the specification is met in `sse`, `answer_reader`, `tool_call_accumulator` and
`wire_errors`; docs/providers.md lists it. This module has the connection: time-outs, retries, proxies,
and that closing the iterator closes the socket at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import httpx

from domain.llm.chat import ChatRequest, ProviderError, RetryNotice, StreamChunk, Usage
from infrastructure.llm_adapters.addresses import is_loopback
from infrastructure.llm_adapters.answer_reader import NOT_JSON, AnswerReader, parse_json
from infrastructure.llm_adapters.error_texts import Peer
from infrastructure.llm_adapters.openai_request import Dialect, dialects_after, render_request
from infrastructure.llm_adapters.sse import MAX_FRAME_BYTES, BodyReader, Frame, FrameTooLarge
from infrastructure.llm_adapters.timing import Patience, RetryPolicy, Timeouts
from infrastructure.llm_adapters.wire_errors import (
    bad_response,
    error_of_payload,
    error_of_response,
    error_of_transport,
    is_error_payload,
    no_model,
    read_complaint,
    timeout,
    unusable_key,
    unusable_proxy,
)
from shared.message import msg

_logger = logging.getLogger(__name__)

_PARSED_ON_THE_LOOP = 128 * 1024
"""Characters; a larger JSON text is parsed in a thread."""
_EXPLANATION_BYTES = 64 * 1024
"""Of an error's body no more is read."""


class OpenAICompatibleClient:
    """Implements application.ports.conversation.ChatClient.

    `base_url` goes up to, not including, ``/chat/completions``. An empty `model` means the first the
    server lists. `dialect` is where one starts; what a server refuses is left out from then on.
    """

    def __init__(
        self,
        *,
        base_url: str,
        model: str = "",
        api_key: str = "",
        provider: str = "openai-compatible",
        dialect: Dialect | None = None,
        timeouts: Timeouts | None = None,
        retries: RetryPolicy | None = None,
    ) -> None:
        self._base_url = _without_endpoint(base_url)
        self._key = api_key.strip()
        self._dialect = dialect or Dialect()
        self._timeouts = timeouts or Timeouts()
        self._retries = retries or RetryPolicy()
        self._is_local = is_loopback(self._base_url)
        self._peer = Peer(
            server=urlsplit(self._base_url).netloc.rpartition("@")[2],
            provider=provider,
            model=model.strip(),
            key=self._key,
            is_loopback=self._is_local,
        )
        self._http: httpx.AsyncClient | None = None
        self._making_http = asyncio.Lock()

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamChunk, None]:
        """The answer in pieces as they arrive; the last chunk has calls, finish reason, usage and model.

        Raises ProviderError. It is tried again only while nothing of the answer has come; each time a
        chunk with a `RetryNotice` tells. Closing the iterator ends the request at once. The usage
        includes that of discarded attempts.
        """
        discarded = Usage()
        attempt = 0
        while True:
            attempt += 1
            answer = AnswerReader(self._peer, _tool_names(request))
            try:
                async with aclosing(self._attempt(request, answer)) as chunks:
                    async for chunk in chunks:
                        yield _with_discarded(chunk, discarded)
                return
            except ProviderError as error:
                pause_s = None if answer.has_begun else self._retries.pause_s(attempt, error)
                if pause_s is None:
                    raise
                reason = error.message
            discarded += answer.usage or Usage()
            yield StreamChunk(retry=RetryNotice(attempt=attempt, wait_s=pause_s, reason=reason))
            await self._retries.sleep(pause_s)

    async def models(self) -> tuple[str, ...]:
        """Names of the models the server lists. Raises ProviderError; not retried."""
        payload = await self._list_models()
        if is_error_payload(payload):
            raise error_of_payload(self._peer, payload)
        names = _model_names(payload)
        if names is None:
            raise bad_response(self._peer, str(payload))
        return names

    async def close(self) -> None:
        """Close all connections."""
        http, self._http = self._http, None
        if http is not None:
            await http.aclose()

    # One attempt

    async def _attempt(self, request: ChatRequest, answer: AnswerReader) -> AsyncGenerator[StreamChunk, None]:
        if not self._peer.model:
            self._peer = replace(self._peer, model=await self._first_model())
        answer.peer = self._peer
        async with (
            self._response(request) as response,
            aclosing(self._frames(response, answer, bool(request.tools))) as frames,
        ):
            async for frame, payload, is_torn in frames:
                for chunk in answer.take(frame, payload, is_torn=is_torn):
                    yield chunk
        for chunk in answer.finish():
            yield chunk

    @asynccontextmanager
    async def _response(self, request: ChatRequest) -> AsyncIterator[httpx.Response]:
        """The server's answer with a status of success; closed at the end.

        A server that objects to something we can leave out is asked again without it, and from then on.
        """
        while True:
            response = await self._post(request)
            try:
                if response.is_success:
                    yield response
                    return
                error = await self._refusal(response)
            finally:
                await response.aclose()
            if not await self._gives_way(request, *error):
                raise error[0]

    async def _post(self, request: ChatRequest) -> httpx.Response:
        model, dialect = self._peer.model, self._dialect
        body = await asyncio.to_thread(render_request, request, model, dialect)
        return await self._send("POST", "/chat/completions", self._first_piece_s, body)

    async def _send(self, method: str, path: str, limit_s: float, body: bytes = b"") -> httpx.Response:
        http = await self._connected()
        request = http.build_request(
            method, self._base_url + path, content=body or None, headers=self._headers(bool(body))
        )
        try:
            async with asyncio.timeout(limit_s), _no_socket_left(request):
                return await http.send(request, stream=True)
        except TimeoutError:
            raise self._silence(limit_s) from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise error_of_transport(self._peer, error) from error

    async def _refusal(self, response: httpx.Response) -> tuple[ProviderError, bytes]:
        """The error of an answer without success, and the part of its body that came in time."""
        body = bytearray()
        # The status has said it already; the body only explains.
        with contextlib.suppress(TimeoutError, httpx.HTTPError):
            async with asyncio.timeout(self._timeouts.listing_s), _bytes_of(response) as pieces:
                async for piece in pieces:
                    body += piece
                    if len(body) > _EXPLANATION_BYTES:
                        break
        error = error_of_response(self._peer, response.status_code, response.headers, bytes(body))
        return error, bytes(body)

    async def _gives_way(self, request: ChatRequest, error: ProviderError, body: bytes) -> bool:
        """Change the dialect when that changes the request; whether it did."""
        # llama.cpp answers 500 when the model's template cannot write what it was sent.
        if error.error_type not in {"bad_request", "server_error"} or error.status not in {400, 422, 500}:
            return False
        before = await asyncio.to_thread(render_request, request, "", self._dialect)
        for dialect in dialects_after(body.decode(errors="replace"), self._dialect):
            if await asyncio.to_thread(render_request, request, "", dialect) != before:
                _logger.info("%s objects: %s", self._peer.server, error.message)
                self._dialect = dialect
                return True
        return False

    # Reading

    async def _frames(
        self, response: httpx.Response, answer: AnswerReader, has_tools: bool
    ) -> AsyncGenerator[tuple[Frame, Any, bool], None]:
        """Frames with their parsed data, and whether the stream ended inside them."""
        reader = BodyReader(response.headers.get("content-type", ""))
        broken: ProviderError | None = None
        try:
            async with aclosing(self._pieces(response, answer, has_tools)) as pieces:
                async for piece in pieces:
                    for frame in reader.feed(piece):
                        yield frame, await _parsed(frame.data), False
        except FrameTooLarge as error:
            raise bad_response(self._peer, str(error)) from error
        except ProviderError as error:
            broken = error
        # What had come whole counts, though the line that closes it did not come.
        for frame in reader.end():
            yield frame, await _parsed(frame.data), not reader.is_whole_body or broken is not None
        if broken is not None and not answer.is_over:
            raise broken

    async def _pieces(
        self, response: httpx.Response, answer: AnswerReader, has_tools: bool
    ) -> AsyncGenerator[bytes, None]:
        """The bytes of the body as they come, as long as the answer makes progress."""
        patience = Patience(self._timeouts, self._first_piece_s, has_tools)
        async with _bytes_of(response) as pieces:
            try:
                while (piece := await patience.next_piece(pieces, answer)) is not None:
                    yield piece
            except TimeoutError:
                if not answer.is_over:
                    raise self._silence(patience.limit_s) from None
            except httpx.HTTPError as error:
                if not answer.is_over:
                    raise error_of_transport(self._peer, error) from error

    async def _body(self, response: httpx.Response) -> bytes:
        """The whole body of an answer. Raises ProviderError."""
        limit_s = self._timeouts.listing_s
        body = bytearray()
        try:
            async with asyncio.timeout(limit_s), _bytes_of(response) as pieces:
                async for piece in pieces:
                    body += piece
                    if len(body) > MAX_FRAME_BYTES:
                        raise bad_response(self._peer, str(FrameTooLarge(MAX_FRAME_BYTES)))
        except TimeoutError:
            raise self._silence(limit_s) from None
        except httpx.HTTPError as error:
            raise error_of_transport(self._peer, error) from error
        return bytes(body)

    # Models

    async def _first_model(self) -> str:
        try:
            names = await self.models()
        except ProviderError as error:
            if error.status not in {404, 405, 501}:
                raise
            names = ()
        if not names:
            raise no_model(msg("{server} does not say which models it has.", server=self._peer.server))
        return names[0]

    async def _list_models(self) -> Any:
        response = await self._send("GET", "/models", self._timeouts.listing_s)
        try:
            if not response.is_success:
                raise (await self._refusal(response))[0]
            body = await self._body(response)
        finally:
            await response.aclose()
        payload = await _parsed(body.decode(errors="replace"))
        if payload is NOT_JSON:
            raise bad_response(self._peer, read_complaint(body).text)
        return payload

    # The connection

    async def _connected(self) -> httpx.AsyncClient:
        async with self._making_http:
            if self._http is None:
                try:
                    self._http = await asyncio.to_thread(self._make_http)
                except (ValueError, ImportError, httpx.InvalidURL) as error:
                    raise unusable_proxy(self._peer, error) from error
            return self._http

    def _make_http(self) -> httpx.AsyncClient:
        """In a thread: it reads the certificates from the disk."""
        limits = httpx.Timeout(None, connect=self._timeouts.connect_s, pool=self._timeouts.connect_s)
        # Redirects are not followed: the key would go to whom the answer names. Certificates that the
        # environment names hold for a server on this computer too, proxies do not.
        return httpx.AsyncClient(
            verify=httpx.create_ssl_context(),
            trust_env=not self._is_local,
            timeout=limits,
            follow_redirects=False,
        )

    def _headers(self, has_body: bool) -> dict[str, str]:
        # Compression would hold pieces back until a block is full.
        headers = {"Accept-Encoding": "identity", "User-Agent": "circuit-design-ai"}
        headers["Accept"] = "text/event-stream, application/json" if has_body else "application/json"
        if has_body:
            headers["Content-Type"] = "application/json"
        if self._key:
            if not (self._key.isascii() and self._key.isprintable()):
                raise unusable_key(self._peer)
            headers["Authorization"] = f"Bearer {self._key}"
        return headers

    @property
    def _first_piece_s(self) -> float:
        return self._timeouts.first_piece_local_s if self._is_local else self._timeouts.first_piece_s

    def _silence(self, seconds: float) -> ProviderError:
        return timeout(self._peer, msg("no answer for {seconds} s", seconds=f"{seconds:g}"))


@asynccontextmanager
async def _no_socket_left(request: httpx.Request) -> AsyncIterator[None]:
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
async def _bytes_of(response: httpx.Response) -> AsyncIterator[AsyncIterator[bytes]]:
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


async def _parsed(text: str) -> Any:
    if len(text) > _PARSED_ON_THE_LOOP:
        return await asyncio.to_thread(parse_json, text)
    return parse_json(text)


def _with_discarded(chunk: StreamChunk, discarded: Usage) -> StreamChunk:
    if chunk.finish_reason is None or discarded == Usage():
        return chunk
    return replace(chunk, usage=discarded + (chunk.usage or Usage()))


def _tool_names(request: ChatRequest) -> frozenset[str]:
    functions = (tool.get("function") for tool in request.tools)
    names = (function.get("name") for function in functions if isinstance(function, Mapping))
    return frozenset(name for name in names if isinstance(name, str))


def _model_names(payload: Any) -> tuple[str, ...] | None:
    """Names in a list of models, None when it is none: OpenAI's form, Ollama's, or a bare list."""
    entries = payload
    if isinstance(payload, Mapping):
        entries = payload.get("data", payload.get("models"))
    if not isinstance(entries, list):
        return None
    found = (
        next((entry[key] for key in ("id", "name", "model") if entry.get(key)), None)
        if isinstance(entry, Mapping)
        else entry
        for entry in entries
    )
    return tuple(name for name in found if isinstance(name, str) and name)


def _without_endpoint(base_url: str) -> str:
    return base_url.strip().rstrip("/").removesuffix("/chat/completions").rstrip("/")
