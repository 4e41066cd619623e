"""A server on 127.0.0.1 that speaks OpenAI's chat completions and Responses API, and Ollama's protocol.

    with FakeLLMServer([answer(calls=[call("read_file", {"path": "a.cir"})]), answer("Done.")]) as server:
        ...  # talk to server.base_url, from this process or another
    assert server.requests[1]["messages"][-1]["role"] == "tool"

It runs on a loop in a thread of its own, so synchronous tests, async tests and tests that start the
real command line use it alike. Each request for a completion takes the next script; with none left it
answers HTTP 400 and says so. A callable in place of the scripts (or of one) gets the request's body.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Literal
from urllib.parse import urlsplit

DONE = b"data: [DONE]\n\n"
_COMPLETIONS = ("/chat/completions", "/api/chat", "/responses")
_SHORT_PIECES = 12
PATIENCE_S = 20.0
"""For waiting in tests; only a failing test waits so long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """What the server does with one request."""

    pieces: tuple[bytes, ...] = ()
    """The body, each piece written (and flushed) by itself."""
    status: int = 200
    content_type: str = "text/event-stream"
    headers: Mapping[str, str] = field(default_factory=dict)
    piece_delay_s: float = 0.0
    """Before each piece."""
    headers_delay_s: float = 0.0
    ending: Literal["complete", "unmarked", "drop", "reset", "stall", "silent", "refuse"] = "complete"
    """complete: a right end of the body. unmarked: a body without a length ends by a clean close.
    drop: the connection is closed inside the body; reset: broken there. stall: nothing more comes until
    the client leaves. silent: not even headers come. refuse: closed before any header."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A tool call of a scripted answer."""

    name: str
    arguments: str
    id: str


@dataclass(slots=True, kw_only=True)
class Exchange:
    """One request as it arrived, and what became of it."""

    method: str
    path: str
    headers: dict[str, str]
    """Names in lower case."""
    body: Any
    """Parsed JSON, None without a body."""
    client_left: bool = False
    """The client closed before it had all of the answer."""
    is_over: bool = False


Scripts = Sequence["Script | Callable[[Any], Script]"] | Callable[[Any], Script]


def call(name: str, arguments: Mapping[str, Any] | str, id: str = "call_1") -> Call:  # noqa: A002
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return Call(name=name, arguments=text, id=id)


def frame(payload: Any) -> bytes:
    """One SSE frame."""
    return b"data: " + json.dumps(payload, ensure_ascii=False).encode() + b"\n\n"


def chunk(delta: Mapping[str, Any], finish_reason: str | None = None, **more: Any) -> bytes:
    """One frame with a delta; `more` are further fields of the chunk."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    head = {"id": "x1", "object": "chat.completion.chunk", "created": 1, "model": "fake-model"}
    return frame({**head, "choices": [choice], **more})


USAGE = {"prompt_tokens": 90, "completion_tokens": 7, "total_tokens": 97}


def answer(
    text: str = "",
    *,
    reasoning: str = "",
    calls: Sequence[Call] = (),
    usage: Mapping[str, Any] | None = USAGE,
    finish_reason: str | None = None,
    piece_delay_s: float = 0.0,
    stall: bool = False,
    drop: bool = False,
) -> Script:
    """A well-formed streamed answer in small pieces.

    Far into a text or a call they are long, unless there is a delay to each: a thousand pieces take a third
    of a second of the processor and show nothing new. With `stall` or `drop` reasoning, text and calls are
    sent, but no end: the server then hangs or breaks the connection.
    """
    parts_of = cut if piece_delay_s else cut_coarser
    pieces = [chunk({"role": "assistant", "content": ""})]
    pieces += [chunk({"reasoning_content": part}) for part in parts_of(reasoning)]
    pieces += [chunk({"content": part}) for part in parts_of(text)]
    for index, one in enumerate(calls):
        opening = {"index": index, "id": one.id, "type": "function"}
        pieces.append(chunk({"tool_calls": [{**opening, "function": {"name": one.name, "arguments": ""}}]}))
        pieces += [
            chunk({"tool_calls": [{"index": index, "function": {"arguments": part}}]})
            for part in parts_of(one.arguments, 24)
        ]
    if not (stall or drop):
        pieces.append(chunk({}, finish_reason or ("tool_calls" if calls else "stop")))
        if usage is not None:
            pieces.append(frame({"id": "x1", "model": "fake-model", "choices": [], "usage": usage}))
        pieces.append(DONE)
    ending: Literal["stall", "drop", "complete"] = "stall" if stall else "drop" if drop else "complete"
    return Script(pieces=tuple(pieces), piece_delay_s=piece_delay_s, ending=ending)


def cut(text: str, length: int = 5) -> list[str]:
    return [text[at : at + length] for at in range(0, len(text), length)]


def cut_coarser(text: str, length: int = 5) -> list[str]:
    """The first `_SHORT_PIECES` as `cut` gives them, the rest in pieces thirty times as long."""
    end = length * _SHORT_PIECES
    return [*cut(text[:end], length), *cut(text[end:], length * 30)]


def json_answer(body: Any, status: int = 200, *, headers: Mapping[str, str] | None = None) -> Script:
    """One JSON body: an answer of a server that does not stream, or an error."""
    return Script(
        pieces=(json.dumps(body, ensure_ascii=False).encode(),),
        status=status,
        content_type="application/json",
        headers=headers or {},
    )


def error(
    status: int,
    message: str = "no",
    *,
    code: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> Script:
    """An HTTP error in OpenAI's shape."""
    body = {"error": {"message": message, "type": "error", "param": None, "code": code}}
    return json_answer(body, status, headers=headers)


@dataclass(frozen=True, slots=True, kw_only=True)
class OllamaSide:
    """What the server tells of its models when it is spoken to as Ollama."""

    capabilities: Sequence[str] | None = ("completion", "tools", "thinking")
    """None: an older server, which does not tell."""
    context_length: int = 40_960
    """What the models have."""
    loaded_context: int | None = None
    """What they are loaded with; None = as asked for."""
    version: str = "0.12.6"


class FakeLLMServer:
    """The server; start and stop it with `with`.

    `models` are what it lists, in either protocol; `completions` the paths it answers by its scripts.
    """

    def __init__(
        self,
        scripts: Scripts = (),
        *,
        models: Sequence[str] = ("fake-model",),
        models_script: Script | None = None,
        ollama: OllamaSide | None = None,
        completions: Sequence[str] = _COMPLETIONS,
    ) -> None:
        self._scripts: list[Script | Callable[[Any], Script]] = [] if callable(scripts) else list(scripts)
        self._script_for = scripts if callable(scripts) else None
        listed = {"object": "list", "data": [{"id": name, "object": "model"} for name in models]}
        self._models = models_script or json_answer(listed)
        self._names = tuple(models)
        self._ollama = ollama or OllamaSide()
        self._completions = tuple(completions)
        self._changed = threading.Condition()
        self._exchanges: list[Exchange] = []
        self._thread = threading.Thread(target=self._run, name="fake LLM server")
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._handlers: set[asyncio.Task[Any]] = set()
        self._writers: set[asyncio.StreamWriter] = set()
        self.port = 0
        self.connections = 0
        """How many were opened."""

    def __enter__(self) -> FakeLLMServer:
        self._thread.start()
        self.wait_for(lambda: self.port > 0)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._loop is not None
        assert self._stop is not None
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(PATIENCE_S)

    @property
    def root_url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def base_url(self) -> str:
        return f"{self.root_url}/v1"

    @property
    def exchanges(self) -> list[Exchange]:
        """All requests, those for models too, in order of arrival."""
        with self._changed:
            return list(self._exchanges)

    def forget(self) -> None:
        """Keep nothing of what was asked until now."""
        with self._changed:
            self._exchanges.clear()
        self._writers = {each for each in self._writers if not each.is_closing()}

    @property
    def completions(self) -> list[Exchange]:
        """The requests for completions."""
        return [one for one in self.exchanges if one.path.endswith(self._completions)]

    @property
    def requests(self) -> list[Any]:
        """The parsed bodies of the requests for completions."""
        return [one.body for one in self.completions]

    @property
    def open_answers(self) -> int:
        """Requests whose answer has neither ended nor been left."""
        return sum(not one.is_over for one in self.exchanges)

    def add(self, *scripts: Script | Callable[[Any], Script]) -> None:
        """Append scripts for requests to come."""
        with self._changed:
            self._scripts.extend(scripts)

    def wait_for_requests(self, count: int) -> None:
        """Block until `count` requests for completions have arrived (in async tests: `asyncio.to_thread`)."""
        self.wait_for(lambda: len(self.completions) >= count)

    def wait_until_left(self, number: int = 0) -> None:
        """Block until the client has left the completion `number` early."""
        self.wait_for(lambda: len(self.completions) > number and self.completions[number].client_left)

    def wait_for(self, condition: Callable[[], bool]) -> None:
        """Block until `condition` holds; it is looked at whenever something happened here."""
        with self._changed:
            if not self._changed.wait_for(condition, PATIENCE_S):
                raise TimeoutError("the fake server did not see what the test waited for")

    # In the thread of the server

    def _run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        server = await asyncio.start_server(self._on_connection, "127.0.0.1", 0)
        with self._changed:
            self.port = server.sockets[0].getsockname()[1]
            self._changed.notify_all()
        await self._stop.wait()
        server.close()
        for task in self._handlers:
            task.cancel()
        await asyncio.gather(*self._handlers, return_exceptions=True)
        for writer in self._writers:
            with contextlib.suppress(OSError):
                await writer.wait_closed()
        await server.wait_closed()

    async def _on_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._handlers.add(task)
        self.connections += 1
        self._writers.add(writer)
        try:
            await self._converse(_Connection(reader, writer))
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the client is gone, or the test is over
        finally:
            self._handlers.discard(task)
            writer.close()

    async def _converse(self, connection: _Connection) -> None:
        while (exchange := await connection.next_request()) is not None:
            with self._changed:
                self._exchanges.append(exchange)
                script = self._next_script(exchange)
                self._changed.notify_all()
            try:
                is_reusable = await connection.perform(script)
            except ConnectionError:
                is_reusable, connection.client_left = False, True
            finally:
                with self._changed:
                    exchange.is_over = True
                    exchange.client_left = connection.client_left
                    self._changed.notify_all()
            if not is_reusable:
                return

    def _next_script(self, exchange: Exchange) -> Script:
        path = urlsplit(exchange.path).path
        if path.endswith("/models"):
            return self._models
        if path.startswith("/api/") and not path.endswith(self._completions):
            return self._ollama_fact(path, exchange.body)
        if not path.endswith(self._completions):
            return error(404, f"no such path: {path}")
        if self._script_for is not None:
            return self._script_for(exchange.body)
        if not self._scripts:
            return error(400, "the fake server has no script left")
        script = self._scripts.pop(0)
        return script if isinstance(script, Script) else script(exchange.body)

    def _ollama_fact(self, path: str, body: Any) -> Script:
        """What Ollama answers beside chats."""
        side = self._ollama
        match path:
            case "/api/version":
                return json_answer({"version": side.version})
            case "/api/tags":
                details = {"family": "qwen3", "parameter_size": "4.0B", "quantization_level": "Q4_K_M"}
                more = {"size": 2_500_000_000, "digest": "x", "details": details, "modified_at": ""}
                return json_answer(
                    {"models": [{"name": name, "model": name, **more} for name in self._names]}
                )
            case "/api/show" if body.get("model") in self._names:
                info = {"general.architecture": "qwen3", "qwen3.context_length": side.context_length}
                told = {} if side.capabilities is None else {"capabilities": [*side.capabilities]}
                return json_answer({"details": {"family": "qwen3"}, "model_info": info, **told})
            case "/api/show":
                return json_answer({"error": f"model '{body.get('model')}' not found"}, 404)
            case "/api/ps":
                chats = [one.body for one in self._exchanges if one.path.endswith("/api/chat")]
                loaded = [
                    {
                        "name": chat["model"],
                        "model": chat["model"],
                        "size": 3_000_000_000,
                        "size_vram": 3_000_000_000,
                        "context_length": side.loaded_context or chat["options"]["num_ctx"],
                    }
                    for chat in chats[-1:]
                ]
                return json_answer({"models": loaded})
            case _:
                return Script(pieces=(b"404 page not found",), status=404, content_type="text/plain")


class _Connection:
    """One connection: reads requests, performs scripts, notices that the client leaves."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._ahead = b""
        self.client_left = False
        writer.transport.set_write_buffer_limits(high=0)  # so that `drain` waits until all is sent

    async def next_request(self) -> Exchange | None:
        try:
            head = self._ahead + await self._reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError:
            return None
        self._ahead = b""
        request_line, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
        method, path, _ = request_line.split(" ", 2)
        pairs = (line.partition(":") for line in lines)
        headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
        raw = await self._reader.readexactly(int(headers.get("content-length", "0")))
        return Exchange(method=method, path=path, headers=headers, body=json.loads(raw) if raw else None)

    async def perform(self, script: Script) -> bool:
        """Carry the script out; whether the connection can serve another request."""
        watch = asyncio.ensure_future(self._reader.read(1))
        try:
            return await self._perform(script, watch)
        finally:
            watch.cancel()
            await asyncio.gather(watch, return_exceptions=True)

    async def _perform(self, script: Script, watch: asyncio.Future[bytes]) -> bool:
        if script.ending == "refuse":
            return False
        await self._pause(script.headers_delay_s, watch)
        if script.ending != "silent" and not self.client_left:
            await self._send_head(script)
            await self._send_pieces(script, watch)
        if script.ending in {"stall", "silent"} and not self.client_left:
            await self._pause(None, watch)
        if self.client_left or script.ending != "complete":
            if script.ending == "reset" and not self.client_left:
                self._writer.transport.abort()
            return False
        self._writer.write(b"0\r\n\r\n")
        await self._writer.drain()
        return True

    async def _send_head(self, script: Script) -> None:
        try:
            phrase = HTTPStatus(script.status).phrase
        except ValueError:
            phrase = "Odd"
        lines = [f"HTTP/1.1 {script.status} {phrase}"]
        if script.content_type:
            lines.append(f"Content-Type: {script.content_type}")
        lines.append("Connection: close" if script.ending == "unmarked" else "Transfer-Encoding: chunked")
        lines += [f"{name}: {value}" for name, value in script.headers.items()]
        self._writer.write(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))
        await self._writer.drain()

    async def _send_pieces(self, script: Script, watch: asyncio.Future[bytes]) -> None:
        for piece in script.pieces:
            await self._pause(script.piece_delay_s, watch)
            if self.client_left:
                return
            if script.ending == "unmarked":
                self._writer.write(piece)
            elif piece:
                self._writer.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            await self._writer.drain()

    async def _pause(self, seconds: float | None, watch: asyncio.Future[bytes]) -> None:
        """Wait (None: for ever), but no longer than the client stays."""
        await asyncio.wait({watch}, timeout=seconds)
        if watch.done():
            if watch.exception() is not None or not watch.result():
                self.client_left = True
            else:
                self._ahead = watch.result()
