"""The client for one server, whatever its protocol: connection, time-outs, and the answer's frames.

What servers send beside their specification is met in `sse`, `answer_reader`, `tool_call_accumulator` and
`wire_errors`; docs/providers.md lists it. A protocol is a subclass that says how a request is written and
which reader takes the answer. Closing the iterator closes the socket at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from typing import Any, ClassVar, Protocol
from urllib.parse import urlsplit

import httpx

from domain.llm.chat import ChatRequest, ModelAbilities, ProviderError, StreamChunk
from domain.llm.service import NetworkSettings
from infrastructure.llm_adapters.addresses import is_loopback, is_plain
from infrastructure.llm_adapters.answer_reader import NOT_JSON, AnswerReader, parse_json
from infrastructure.llm_adapters.connections import Connections, bytes_of, no_socket_left
from infrastructure.llm_adapters.dialect import Dialect, ThinkingSwitch, dialects_after
from infrastructure.llm_adapters.error_texts import Peer
from infrastructure.llm_adapters.images import marked, with_fitting_images, with_pictures
from infrastructure.llm_adapters.prompted_tools import CallsInText, as_prompted
from infrastructure.llm_adapters.sse import MAX_FRAME_BYTES, Frame, FrameTooLarge, portions_of
from infrastructure.llm_adapters.timing import Breath, Patience, Timeouts
from infrastructure.llm_adapters.wire_errors import (
    bad_response,
    error_of_payload,
    error_of_response,
    error_of_transport,
    is_error_payload,
    no_model,
    packed,
    read_complaint,
    timeout,
    too_large,
    unusable_key,
    wordless,
)
from shared.message import msg, one_line

_logger = logging.getLogger(__name__)

_PARSED_ON_THE_LOOP = 128 * 1024
"""Characters; a larger JSON text is parsed in a thread."""
MOST_ANSWER_BYTES = 64 * 2**20
"""Of one answer as it is sent; the frames around its words are ten times as long as these."""
MOST_ANSWER_LINES, MOST_EMPTY_LINES = 2_000_000, 200_000
"""Of one answer, and of those one after the other without a piece of it: comments, line ends and frames that
say nothing take time too, some microseconds each. A keep-alive every 2 ms is the most that anybody needs."""
EXPLANATION_BYTES = 64 * 1024
"""Of an error's body no more is read."""


class FrameReader(Protocol):
    """Cuts a body into frames."""

    is_whole_body: bool

    def feed(self, piece: bytes) -> Iterator[Frame]:
        """Frames completed by `piece`. Raises FrameTooLarge."""

    def end(self) -> Iterator[Frame]: ...


class WireClient(ABC):
    """Implements application.ports.conversation.ChatClient.

    An empty `model` means the first the server lists. `dialect` is where one starts; what a server
    refuses is left out from then on. `abilities`: what is known of the model.
    """

    _chat_path: ClassVar[str]
    _list_path: ClassVar[str]
    _accepts: ClassVar[str] = "text/event-stream, application/json"

    def __init__(
        self,
        *,
        base_url: str,
        model: str = "",
        api_key: str = "",
        provider: str = "openai-compatible",
        dialect: Dialect | None = None,
        abilities: ModelAbilities | None = None,
        timeouts: Timeouts | None = None,
        network: NetworkSettings | None = None,
    ) -> None:
        self._base_url = self._root_of(base_url.strip().rstrip("/"))
        self._key = api_key.strip()
        self._dialect = dialect or Dialect()
        self._abilities = ModelAbilities()
        self._learn_abilities(abilities or ModelAbilities())
        self._timeouts = timeouts or Timeouts()
        self._is_local = is_loopback(self._base_url)
        self._peer = Peer(
            server=urlsplit(self._base_url).netloc.rpartition("@")[2],
            provider=provider,
            model=model.strip(),
            key=self._key,
            is_loopback=self._is_local,
        )
        self._connections = Connections(
            self._peer,
            self._timeouts,
            is_local=self._is_local,
            is_plain=is_plain(self._base_url),
            network=network,
        )

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamChunk, None]:
        """The answer in pieces as they arrive; the last chunk has calls, finish reason, usage and model.

        Raises ProviderError, which says whether anything of the answer had come and what it cost; asking
        again is the service manager's. Closing the iterator ends the request at once.
        """
        answer = self._new_answer(_tool_names(request))
        try:
            async with aclosing(self._attempt(request, answer)) as chunks:
                async for chunk in chunks:
                    yield chunk
        except ProviderError as failure:
            error = await self._explained(failure)
            error.has_begun, error.usage = answer.has_begun, answer.usage
            if error is failure:
                raise
            raise error from failure

    async def models(self) -> tuple[str, ...]:
        """Names of the models the server lists. Raises ProviderError; not retried."""
        try:
            payload = await self._list_models()
        except ProviderError as error:
            raise await self._explained(error) from error
        if is_error_payload(payload):
            raise error_of_payload(self._peer, payload)
        names = _model_names(payload)
        if names is None:
            raise bad_response(self._peer, str(payload))
        return names

    async def close(self) -> None:
        await self._connections.close()

    def _learn_abilities(self, abilities: ModelAbilities) -> None:
        self._abilities = abilities
        if abilities.thinking is False:
            self._dialect = replace(self._dialect, thinking=ThinkingSwitch())
        if most := abilities.output_tokens:
            limits = tuple(
                replace(limit, plain=min(limit.plain, most), thinking=min(limit.thinking, most))
                for limit in self._dialect.output_limits
            )
            self._dialect = replace(self._dialect, output_limits=limits)

    # What a protocol says

    @abstractmethod
    def _root_of(self, base_url: str) -> str:
        """The address that the paths are put behind."""

    @abstractmethod
    def _render(self, request: ChatRequest, model: str) -> bytes:
        """The body of a request. Pure; called in a thread."""

    @abstractmethod
    def _new_answer(self, known_tools: frozenset[str]) -> AnswerReader:
        """What reads one answer."""

    @abstractmethod
    def _new_reader(self, content_type: str) -> FrameReader:
        """What cuts the body of an answer into frames."""

    async def _get_ready(self, request: ChatRequest) -> None:  # noqa: B027 - few need it
        """Called before each attempt, with the model known. Raises ProviderError."""

    async def _check(self, answer: AnswerReader) -> None:  # noqa: B027 - few need it
        """Called when an answer's frames have ended, before its last chunk. Raises ProviderError."""

    async def _explained(self, error: ProviderError) -> ProviderError:
        """The error with what this kind of server knows of it."""
        return error

    # One attempt

    async def _attempt(self, request: ChatRequest, answer: AnswerReader) -> AsyncGenerator[StreamChunk, None]:
        if not self._peer.model:
            self._peer = replace(self._peer, model=await self._first_model())
        answer.peer = self._peer
        await self._get_ready(request)
        self._refuse_unseen(request)
        async with self._response(request) as response:
            in_text = CallsInText(_tool_names(request) if self._writes_calls_as_text else frozenset())
            try:
                async with aclosing(self._read(response, answer, bool(request.tools))) as chunks:
                    async for chunk in chunks:
                        for piece in in_text.take(chunk):
                            yield piece
            except ProviderError:
                if rest := in_text.rest():
                    yield StreamChunk(text=rest)
                raise

    async def _read(
        self, response: httpx.Response, answer: AnswerReader, has_tools: bool
    ) -> AsyncGenerator[StreamChunk, None]:
        async with aclosing(self._frames(response, answer, has_tools)) as frames:
            async for frame, payload, is_torn in frames:
                for chunk in answer.take(frame, payload, is_torn=is_torn):
                    yield chunk
        await self._check(answer)
        for chunk in answer.finish():
            yield chunk

    @property
    def _writes_calls_as_text(self) -> bool:
        return self._dialect.writes_calls_as_text or self._abilities.tools == "prompted"

    def _refuse_unseen(self, request: ChatRequest) -> None:
        """Say that a picture would not be seen, before it is sent."""
        has_images = any(message.images for message in request.messages)
        if has_images and self._abilities.vision is False and not self._dialect.vision_model:
            raise ProviderError(
                msg("The model {model} cannot see pictures.", model=self._peer.model),
                kind="bad_request",
                advice=msg("Choose a model that can see, or send the message without the picture."),
            )

    def _as_sent(self, request: ChatRequest) -> ChatRequest:
        if self._abilities.tools == "no":
            return replace(request, tools=())
        return as_prompted(request) if self._writes_calls_as_text else request

    def _body_of(self, request: ChatRequest) -> bytes:
        """In a thread: pictures are scaled."""
        dialect, model = self._dialect, self._peer.model
        if any(message.images for message in request.messages):
            request = with_fitting_images(request, side=dialect.image_side, most_bytes=dialect.image_bytes)
            if self._abilities.vision is False:
                model = dialect.vision_model
        request, pictures = marked(request)
        return with_pictures(self._render(self._as_sent(request), model), pictures)

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
        body = await asyncio.to_thread(self._body_of, request)
        return await self._send("POST", self._chat_path, self._first_piece_s, body)

    async def _send(self, method: str, path: str, limit_s: float, body: bytes = b"") -> httpx.Response:
        http = await self._connections.opened()
        request = http.build_request(
            method, self._base_url + path, content=body or None, headers=self._headers(bool(body))
        )
        try:
            async with asyncio.timeout(limit_s), no_socket_left(request):
                response = await http.send(request, stream=True)
        except TimeoutError:
            raise self._silence(limit_s) from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise error_of_transport(self._peer, error) from error
        refused = packed(self._peer, response.headers)
        if refused is not None and response.is_success:
            await response.aclose()
            raise refused
        return response

    async def _refusal(self, response: httpx.Response) -> tuple[ProviderError, bytes]:
        """The error of an answer without success, and the part of its body that came in time."""
        body = bytearray()
        # The status has said it already; the body only explains. One that is packed is left unread.
        if packed(self._peer, response.headers) is not None:
            return error_of_response(self._peer, response.status_code, response.headers, b""), b""
        with contextlib.suppress(TimeoutError, httpx.HTTPError):
            async with asyncio.timeout(self._timeouts.listing_s), bytes_of(response) as pieces:
                async for piece in pieces:
                    body += piece
                    if len(body) > EXPLANATION_BYTES:
                        break
        error = error_of_response(self._peer, response.status_code, response.headers, bytes(body))
        return error, bytes(body)

    async def _gives_way(self, request: ChatRequest, error: ProviderError, body: bytes) -> bool:
        """Change the dialect when that changes the request; whether it did."""
        # llama.cpp answers 500 when the model's template cannot write what it was sent.
        if error.error_type not in {"bad_request", "server_error"} or error.status not in {400, 422, 500}:
            return False
        now = self._dialect
        before = await asyncio.to_thread(self._body_of, request)
        for dialect in dialects_after(body.decode(errors="replace"), now):
            self._dialect = dialect
            if await asyncio.to_thread(self._body_of, request) != before:
                _logger.info("%s objects: %s", self._peer.server, error.message)
                return True
        self._dialect = now
        return False

    # Reading

    async def _frames(
        self, response: httpx.Response, answer: AnswerReader, has_tools: bool
    ) -> AsyncGenerator[tuple[Frame, Any, bool], None]:
        """Frames with their parsed data, and whether the stream ended inside them."""
        reader = self._new_reader(response.headers.get("content-type", ""))
        breath = Breath()
        size = lines = lines_at_piece = pieces_so_far = 0
        broken: ProviderError | None = None
        try:
            async with aclosing(self._pieces(response, answer, has_tools)) as pieces:
                async for piece in pieces:
                    size += len(piece)
                    if size > MOST_ANSWER_BYTES:
                        raise too_large(self._peer, msg("more than {size} MB", size=MOST_ANSWER_BYTES >> 20))
                    if answer.pieces != pieces_so_far:
                        lines_at_piece, pieces_so_far = lines, answer.pieces
                    lines += max(piece.count(b"\n"), piece.count(b"\r"))
                    if lines > MOST_ANSWER_LINES:
                        raise too_large(self._peer, msg("more than {count} lines", count=MOST_ANSWER_LINES))
                    if lines - lines_at_piece > MOST_EMPTY_LINES:
                        raise wordless(self._peer, MOST_EMPTY_LINES)
                    for part in portions_of(piece):
                        await breath.take()
                        for frame in reader.feed(part):
                            await breath.take()
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
        async with bytes_of(response) as pieces:
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
            async with asyncio.timeout(limit_s), bytes_of(response) as pieces:
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
            raise no_model(msg("{server} does not list its models.", server=self._peer.server))
        return names[0]

    async def _list_models(self) -> Any:
        return await self._ask("GET", self._list_path)

    async def _ask(self, method: str, path: str, body: bytes = b"") -> Any:
        """The parsed JSON of a short answer. Raises ProviderError."""
        response = await self._send(method, path, self._timeouts.listing_s, body)
        try:
            if not response.is_success:
                raise (await self._refusal(response))[0]
            answer = await self._body(response)
        finally:
            await response.aclose()
        payload = await _parsed(answer.decode(errors="replace"))
        if payload is NOT_JSON:
            raise bad_response(self._peer, read_complaint(answer).text)
        return payload

    # The connection

    def _headers(self, has_body: bool) -> dict[str, str]:
        # Compression would hold pieces back until a block is full.
        headers = {"Accept-Encoding": "identity", "User-Agent": "circuit-design-ai"}
        headers["Accept"] = self._accepts if has_body else "application/json"
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


async def _parsed(text: str) -> Any:
    if len(text) > _PARSED_ON_THE_LOOP:
        return await asyncio.to_thread(parse_json, text)
    return parse_json(text)


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
    # A name with a line end in it, or of thousands of characters, could be neither shown nor given again.
    return tuple(
        name for name in found if isinstance(name, str) and 0 < len(name) <= 300 and name == one_line(name)
    )
