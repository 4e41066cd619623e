"""The client for servers that speak OpenAI's chat completions, over our own reader.

What servers send beside the specification is met in `sse`, `answer_reader`, `tool_call_accumulator` and
`wire_errors`; docs/providers.md lists it. This module has the connection: time-outs, retries, proxies,
and that closing the iterator closes the socket at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

import httpx

from domain.llm.chat import ChatRequest, ProviderError, RetryNotice, StreamChunk, Usage
from infrastructure.llm_adapters.addresses import is_loopback
from infrastructure.llm_adapters.answer_reader import NOT_JSON, AnswerReader, parse_json
from infrastructure.llm_adapters.error_texts import Peer
from infrastructure.llm_adapters.openai_request import Dialect, dialects_after, render_request
from infrastructure.llm_adapters.sse import MAX_FRAME_BYTES, BodyReader, Frame, FrameTooLarge
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
_LEFT_BEHIND_S = 0.05
"""How long the rest of a finished answer is read so that its connection can serve the next request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """Seconds. There is no limit on a whole answer, only on silence."""

    connect_s: float = 10.0
    first_piece_s: float = 120.0
    """Until the answer's first piece: the server reads the prompt."""
    first_piece_local_s: float = 300.0
    """The same for a server on this computer, which may load the model first."""
    thinking_s: float = 60.0
    """Between two pieces while the model reasons."""
    content_s: float = 30.0
    """Between two pieces of the answer proper."""
    tool_call_s: float = 60.0
    """In place of `content_s` when tools were offered: some servers send a call only when it is whole."""
    keep_alive_s: float = 300.0
    """Without a piece, although comments, blank lines or empty frames come in time."""
    after_finish_s: float = 5.0
    """For the usage after the finish reason; then the answer counts as ended."""
    listing_s: float = 15.0
    """For the list of models."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """When a request that failed before its first piece is sent again, and after how long."""

    tries: int = 3
    shortest_s: float = 1.0
    longest_s: float = 30.0
    longest_asked_s: float = 60.0
    """A server that asks for a longer pause is not asked again: its error says how long."""
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    uniform: Callable[[float, float], float] = random.uniform

    def pause_s(self, attempt: int, error: ProviderError) -> float | None:
        """Seconds until the next try after `attempt` (from 1) failed; None: there is none.

        Exponential with full jitter above `shortest_s`, and never less than the server asks for. An empty
        answer is asked for once more, not oftener.
        """
        is_empty = error.error_type == "empty_answer"
        if attempt >= (min(2, self.tries) if is_empty else self.tries):
            return None
        if not (error.retryable or is_empty):
            return None
        pause_s = self.uniform(self.shortest_s, min(self.shortest_s * 2**attempt, self.longest_s))
        asked_s = error.retry_after_s or 0.0
        return None if asked_s > self.longest_asked_s else max(pause_s, asked_s)


class OpenAICompatibleClient:
    """Implements application.ports.ChatClient.

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
            async with asyncio.timeout(limit_s):
                return await http.send(request, stream=True)
        except TimeoutError:
            raise self._silence(limit_s) from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise error_of_transport(self._peer, error) from error

    async def _refusal(self, response: httpx.Response) -> tuple[ProviderError, bytes]:
        body = await self._body(response, self._timeouts.listing_s, is_error=True)
        return error_of_response(self._peer, response.status_code, response.headers, body), body

    async def _gives_way(self, request: ChatRequest, error: ProviderError, body: bytes) -> bool:
        """Change the dialect when that changes the request; whether it did."""
        if error.error_type != "bad_request" or error.status not in {400, 422}:
            return False
        before = await asyncio.to_thread(render_request, request, "", self._dialect)
        for dialect in dialects_after(body[:_PARSED_ON_THE_LOOP].decode(errors="replace"), self._dialect):
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
        patience = _Patience(self._timeouts, self._first_piece_s, has_tools)
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

    async def _body(self, response: httpx.Response, limit_s: float, *, is_error: bool = False) -> bytes:
        """The whole body. Of an error's body what came in time, as it only explains."""
        body = bytearray()
        try:
            async with asyncio.timeout(limit_s), _bytes_of(response) as pieces:
                async for piece in pieces:
                    body += piece
                    if len(body) > MAX_FRAME_BYTES:
                        raise bad_response(self._peer, str(FrameTooLarge(MAX_FRAME_BYTES)))
        except (TimeoutError, httpx.HTTPError) as error:
            if is_error:
                return bytes(body)
            if isinstance(error, httpx.HTTPError):
                raise error_of_transport(self._peer, error) from error
            raise self._silence(limit_s) from None
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
        limit_s = self._timeouts.listing_s
        response = await self._send("GET", "/models", limit_s)
        try:
            if not response.is_success:
                raise (await self._refusal(response))[0]
            body = await self._body(response, limit_s)
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
        # Redirects are not followed: the key would go to whom the answer names.
        return httpx.AsyncClient(trust_env=not self._is_local, timeout=limits, follow_redirects=False)

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


class _Patience:
    """How long to wait for the next bytes.

    Any bytes show that the server lives and earn another wait; but without a piece of the answer the waits
    end after `keep_alive_s` together. Only the time spent waiting counts, not what the consumer takes.
    """

    def __init__(self, timeouts: Timeouts, first_piece_s: float, has_tools: bool) -> None:
        self._timeouts = timeouts
        self._silence_s = {
            "waiting": first_piece_s,
            "thinking": timeouts.thinking_s,
            "content": timeouts.tool_call_s if has_tools else timeouts.content_s,
        }
        self._stage: object = None
        self._waited_s = 0.0
        self.limit_s = 0.0
        """What the present (or last) wait is allowed, with those before it that brought nothing."""

    async def next_piece(self, pieces: AsyncIterator[bytes], answer: AnswerReader) -> bytes | None:
        """The next bytes, None at the end. Raises TimeoutError when they do not come in time."""
        self._begin_stage((answer.pieces, answer.is_over, answer.is_done))
        if answer.is_over:
            self.limit_s = _LEFT_BEHIND_S if answer.is_done else self._timeouts.after_finish_s
            left_s = self.limit_s - self._waited_s
        else:
            silence_s, left_s = self._silence_s[answer.phase], self._timeouts.keep_alive_s - self._waited_s
            self.limit_s = silence_s if silence_s < left_s else self._timeouts.keep_alive_s
            left_s = min(silence_s, left_s)
        clock = asyncio.get_running_loop().time
        begin = clock()
        async with asyncio.timeout(max(left_s, 0.0)):
            piece = await anext(pieces, None)
        self._waited_s += clock() - begin
        return piece

    def _begin_stage(self, stage: object) -> None:
        if stage != self._stage:
            self._stage, self._waited_s = stage, 0.0


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
