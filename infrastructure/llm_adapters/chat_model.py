"""Our chat clients as a LangChain `BaseChatModel`, so that LangGraph's streams carry their answers.

Upwards: pieces of text and of reasoning, merged to one chunk per window and never mixed, then one
closing chunk with tool calls, usage and finish reason. Downwards: LangChain messages under our own
call ids become a request under the provider's ids.

The model's `tool_calls` are LangChain's guess: it completes truncated JSON. Who runs calls reads
`tool_call_chunks` (the text as sent) through `domain.llm.answers`.
"""

from __future__ import annotations

import asyncio
import base64
import json
import time
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from operator import is_
from typing import Any, cast

from langchain_core.callbacks import (
    AsyncCallbackManager,
    AsyncCallbackManagerForLLMRun,
    CallbackManagerForLLMRun,
)
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.messages.ai import UsageMetadata, add_ai_message_chunks
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult, LLMResult
from langchain_core.runnables import Runnable, RunnableConfig, ensure_config
from langchain_core.utils.function_calling import convert_to_openai_tool
from langchain_core.utils.utils import LC_ID_PREFIX
from pydantic import PrivateAttr

from application.ports.conversation import ChatClient
from domain.llm.answers import accept_calls, wire_calls_of
from domain.llm.chat import (
    ChatRequest,
    FinishReason,
    Role,
    StreamChunk,
    Thinking,
    Usage,
    WebSource,
    WireImage,
    WireMessage,
    WireToolCall,
)
from domain.llm.messages import get_output_items, once_each

MERGE_WINDOW_S = 0.04
"""Pieces of one kind that arrive within it travel as one chunk: 25 a second are enough for an eye."""

_TURN_S = 0.005
"""After so long the loop goes on with what else there is."""
_MOST_WAITING = 256
"""Pieces read ahead of a slow consumer; then the connection waits."""

_REQUEST_OPTIONS = frozenset(
    {"tools", "tool_choice", "temperature", "max_tokens", "stream", "thinking", "search", "json_mode"}
)


class ClientChatModel(BaseChatModel):
    """A chat client of ours where LangChain and LangGraph expect a model.

    Call options: `tools` (OpenAI function schemas), `temperature`, `max_tokens`, `json_mode`, and
    `thinking` and `search` in place of the model's own settings. Only asynchronous; nothing is
    cached. The client is a private attribute: neither it nor a key in it shows in repr, dumps or traces.
    """

    provider: str = ""
    model: str = ""
    """"" = the provider's default."""
    thinking: Thinking | None = None
    search: bool = False
    merge_window_s: float = MERGE_WINDOW_S

    _client: Any = PrivateAttr()

    def __init__(self, *, client: ChatClient, **settings: Any) -> None:
        # A cache set globally by someone else would replay answers as if tools had not run since.
        super().__init__(**{"cache": False, **settings})
        self._client = client

    @property
    def _llm_type(self) -> str:
        return "circuit-design-ai"

    @property
    def _identifying_params(self) -> Mapping[str, Any]:
        return {"provider": self.provider, "model": self.model}

    def bind_tools(
        self, tools: Sequence[Any], *, tool_choice: str | None = None, **kwargs: Any
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """This model with tools: OpenAI schemas, or anything LangChain can turn into one.

        `tool_choice` may only be None or "auto": several servers hang or fail on anything else.
        """
        _check_tool_choice(tool_choice)
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **kwargs)

    async def astream(
        self,
        input: LanguageModelInput,  # noqa: A002 - LangChain's name
        config: RunnableConfig | None = None,
        *,
        stop: list[str] | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[AIMessageChunk]:
        """The answer in chunks. Closing it ends the client's call before the close returns.

        In place of LangChain's own, which keeps every chunk (2 kB each) to join them all at the end, also
        when it is stopped, and leaves the inner generator to the garbage collector.
        """
        config = ensure_config(config)
        is_made = isinstance(input, list) and _MESSAGES.issuperset(map(type, input))
        messages = cast("list[BaseMessage]", input) if is_made else self._convert_input(input).to_messages()
        manager = AsyncCallbackManager.configure(
            config.get("callbacks"),
            self.callbacks,
            self.verbose,
            config.get("tags"),
            self.tags,
            config.get("metadata"),
            self.metadata,
        )
        (run,) = await manager.on_chat_model_start(
            self._serialized, [messages], name=config.get("run_name"), run_id=config.pop("run_id", None)
        )
        text: list[str] = []
        closing: AIMessageChunk | None = None
        try:
            async with aclosing(self._chunks(self._request(messages, stop, kwargs))) as chunks:
                async for chunk in chunks:
                    closing = cast("AIMessageChunk", chunk.message)
                    closing.id = f"{LC_ID_PREFIX}-{run.run_id}"
                    text.append(str(closing.content))
                    await run.on_llm_new_token(text[-1], chunk=chunk)
                    yield closing
        except BaseException as error:
            await run.on_llm_error(error, response=LLMResult(generations=[]))
            raise
        assert closing is not None
        whole = closing.model_copy(update={"content": "".join(text)})
        await run.on_llm_end(LLMResult(generations=[[ChatGenerationChunk(message=whole)]]))

    def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,  # noqa: ARG002 - the caller calls back
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        return self._chunks(self._request(messages, stop, kwargs))

    async def _chunks(self, request: ChatRequest) -> AsyncGenerator[ChatGenerationChunk, None]:
        """The answer as LangChain's chunks; what was held back comes before an error."""
        held = _Held(self.merge_window_s)
        closing = _Closing(self.model)
        async with aclosing(_ReadAhead(lambda: self._client.stream(request))) as source:
            while True:
                if not await source.has_news(until=held.due):
                    yield held.take()
                    continue
                try:
                    chunk = source.take()
                except Exception:
                    if held.kind:
                        yield held.take()
                    raise
                if chunk is None:
                    break
                for kind, text in (("reasoning", chunk.reasoning), ("text", chunk.text)):
                    if text and held.kind not in ("", kind):
                        yield held.take()
                    held.add(kind, text)
                if held.kind and (held.is_due or chunk.finish_reason is not None):
                    yield held.take()
                if chunk.retry is not None:
                    yield _generation(response_metadata={"retry": _Latest(notice=chunk.retry)})
                if chunk.place is not None:
                    yield _generation(response_metadata={"place": _Latest(notice=chunk.place)})
                closing.note(chunk)
        if held.kind:
            yield held.take()
        yield closing.chunk()

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,  # noqa: ARG002 - nothing is streamed
        **kwargs: Any,
    ) -> ChatResult:
        async with aclosing(self._chunks(self._request(messages, stop, kwargs))) as stream:
            first, *further = [chunk.message async for chunk in stream]
        assert isinstance(first, AIMessageChunk)
        answer = add_ai_message_chunks(first, *(m for m in further if isinstance(m, AIMessageChunk)))
        return ChatResult(generations=[ChatGeneration(message=_whole(answer))])

    def _request(
        self, messages: Sequence[BaseMessage], stop: Sequence[str] | None, options: Mapping[str, Any]
    ) -> ChatRequest:
        if stop:
            raise ValueError("stop sequences are not supported")
        if unknown := options.keys() - _REQUEST_OPTIONS:
            raise TypeError(f"unknown options of a model call: {', '.join(sorted(unknown))}")
        _check_tool_choice(options.get("tool_choice"))
        return ChatRequest(
            messages=wire_messages(messages),
            tools=tuple(options.get("tools") or ()),
            temperature=options.get("temperature"),
            max_tokens=options.get("max_tokens"),
            thinking=options.get("thinking", self.thinking),
            search=bool(options.get("search", self.search)),
            json_mode=bool(options.get("json_mode")),
        )

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        raise NotImplementedError("this model only works asynchronously: use astream or ainvoke")


class _Held:
    """Text of one kind that waits for more of it, at most `window_s`."""

    def __init__(self, window_s: float) -> None:
        self.kind = ""
        self.due: float | None = None
        """Loop time at which it has to go out."""
        self._window_s = window_s
        self._pieces: list[str] = []

    @property
    def is_due(self) -> bool:
        """Also true while pieces keep coming without a pause."""
        return self.due is not None and asyncio.get_running_loop().time() >= self.due

    def add(self, kind: str, text: str) -> None:
        if text:
            if self.due is None:
                self.kind, self.due = kind, asyncio.get_running_loop().time() + self._window_s
            self._pieces.append(text)

    def take(self) -> ChatGenerationChunk:
        text, kind = "".join(self._pieces), self.kind
        self.kind, self.due = "", None
        self._pieces.clear()
        if kind == "reasoning":
            return _generation(additional_kwargs={"reasoning_content": text})
        return _generation(content=text)


class _Closing:
    """What only the last chunk says: LangChain would add usages up and join repeated names."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._calls: tuple[WireToolCall, ...] = ()
        self._finish_reason: FinishReason = "cut"
        self._usage: Usage | None = None
        self._sources: tuple[WebSource, ...] = ()
        self._output_items: tuple[Mapping[str, Any], ...] = ()

    def note(self, chunk: StreamChunk) -> None:
        self._model = chunk.model or self._model
        self._usage = chunk.usage or self._usage
        self._calls += chunk.tool_calls
        self._sources += chunk.sources
        self._output_items += chunk.output_items
        self._finish_reason = chunk.finish_reason or self._finish_reason

    def chunk(self) -> ChatGenerationChunk:
        return _generation(
            tool_call_chunks=[
                tool_call_chunk(name=call.name, args=call.arguments, id=call.provider_id or None, index=index)
                for index, call in enumerate(self._calls)
            ],
            usage_metadata=_usage_metadata(self._usage),
            response_metadata={
                "finish_reason": self._finish_reason,
                "model_name": self._model,
                **({"sources": [source.to_plain() for source in self._sources]} if self._sources else {}),
                **({"output_items": [*self._output_items]} if self._output_items else {}),
            },
            chunk_position="last",
        )


class _ReadAhead:
    """Reads a client's stream in one task of its own, so that waiting can end without ending the call.

    One task opens, reads and closes the stream: time-outs and connections belong to the task they
    were made in.
    """

    def __init__(self, open_stream: Callable[[], AsyncIterator[StreamChunk]]) -> None:
        self._open_stream = open_stream
        self._chunks: deque[StreamChunk] = deque()
        self._news = asyncio.Event()
        self._room = asyncio.Event()
        self._task = asyncio.create_task(self._read(), name="model stream")
        self._task.add_done_callback(lambda _: self._news.set())

    async def has_news(self, *, until: float | None) -> bool:
        """Wait for a chunk or the end; False when neither came until that loop time (None = for ever)."""
        while not self._chunks and not self._task.done():
            self._news.clear()
            try:
                async with asyncio.timeout_at(until):
                    await self._news.wait()
            except TimeoutError:
                return False
        return True

    def take(self) -> StreamChunk | None:
        """The next chunk, None at the end; after the last one raises what the client raised."""
        if self._chunks:
            self._room.set()
            return self._chunks.popleft()
        self._task.result()
        return None

    async def aclose(self) -> None:
        """End the call; returns when the client has closed everything."""
        self._task.cancel()
        await asyncio.wait({self._task})
        if not self._task.cancelled():
            self._task.exception()  # raised by `take` already, or of a call that nobody wants any more

    async def _read(self) -> None:
        stream = self._open_stream()
        until = time.monotonic() + _TURN_S
        try:
            async for chunk in stream:
                self._chunks.append(chunk)
                self._news.set()
                if time.monotonic() > until:  # one reading of the connection may hold hundreds
                    await asyncio.sleep(0)
                    until = time.monotonic() + _TURN_S
                while len(self._chunks) >= _MOST_WAITING:
                    self._room.clear()
                    await self._room.wait()
        finally:
            if isinstance(stream, AsyncGenerator):
                await stream.aclose()


class _Latest(dict[str, Any]):
    """A notice of which, when chunks are added, the later one stays.

    LangChain merges equal keys: it joins texts, adds whole numbers and raises for others. It begins
    with a copy of the left dict; ours is empty.
    """

    def copy(self) -> _Latest:
        return _Latest()


def _generation(*, content: str = "", **fields: Any) -> ChatGenerationChunk:
    return ChatGenerationChunk(message=AIMessageChunk(content=content, **fields))


def _usage_metadata(usage: Usage | None) -> UsageMetadata | None:
    if usage is None:
        return None
    return {
        "input_tokens": usage.prompt_tokens,
        "output_tokens": usage.completion_tokens,
        "total_tokens": usage.total_tokens,
        "input_token_details": {"cache_read": usage.cached_tokens},
        "output_token_details": {"reasoning": usage.reasoning_tokens},
    }


def _whole(answer: AIMessageChunk) -> AIMessage:
    """A complete answer; only arguments that are whole JSON become `tool_calls`, under provider ids."""
    calls = accept_calls(wire_calls_of(answer), lambda: "")
    return AIMessage(
        content=answer.content,
        additional_kwargs=answer.additional_kwargs,
        response_metadata=answer.response_metadata,
        usage_metadata=answer.usage_metadata,
        tool_calls=[
            {"type": "tool_call", "name": call.name, "args": dict(call.arguments), "id": call.provider_id}
            for call in calls
            if not call.problem
        ],
        invalid_tool_calls=[
            {
                "type": "invalid_tool_call",
                "name": call.name,
                "args": call.text,
                "id": call.provider_id,
                "error": call.problem,
            }
            for call in calls
            if call.problem
        ],
    )


def _check_tool_choice(choice: object) -> None:
    if choice not in (None, "auto"):
        raise ValueError(f"tool_choice {choice!r} is not supported; servers agree only on 'auto'")


_ROLES: Mapping[str, Role] = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool"}
_MESSAGES = frozenset({HumanMessage, AIMessage, SystemMessage, ToolMessage})
"""What is sent as it is, without being looked at for what else LangChain takes for a message."""
_IMAGE_PARTS = frozenset({"image_url", "image"})


def wire_messages(messages: Sequence[BaseMessage]) -> tuple[WireMessage, ...]:
    """LangChain messages as a request's.

    A call goes out under the provider's id, as long as that is unique in the request; else (several
    servers number calls anew in every answer) under our own. Answers with nothing in them are left
    out: servers refuse them.
    """
    wire: list[WireMessage] = []
    wire_id_of: dict[str, str] = {}
    taken: set[str] = set()
    for message in messages:
        # pictures are decoded for one request; they are not kept beside the message
        made = _wired(message) if isinstance(message.content, str) else _as_wire(message)
        if made is None:
            continue
        if made.tool_calls:
            made = _with_free_ids(made, message, wire_id_of, taken)
        elif made.tool_call_id in wire_id_of:
            call_id = wire_id_of[made.tool_call_id]
            made = WireMessage(role=made.role, text=made.text, tool_call_id=call_id, name=made.name)
        wire.append(made)
    return tuple(wire)


def _as_wire(message: BaseMessage) -> WireMessage | None:
    """As it is sent when nothing else is; None for an answer with nothing in it."""
    role = _ROLES.get(message.type.removesuffix("MessageChunk").lower())
    if role is None:
        raise TypeError(f"a {message.type} message cannot be sent to a model")
    text = _text_of(message)
    if isinstance(message, ToolMessage):
        return WireMessage(role=role, text=text, tool_call_id=message.tool_call_id, name=message.name or "")
    if not isinstance(message, AIMessage):
        return WireMessage(role=role, text=text, images=_images_of(message))
    ids: Mapping[str, str] = message.additional_kwargs.get("provider_ids") or {}
    calls = tuple(
        WireToolCall(
            provider_id=ids.get(call["id"] or "") or call["id"] or "",
            name=call["name"],
            arguments=json.dumps(call["args"], ensure_ascii=False),
        )
        for call in message.tool_calls
    )
    if not text and not calls:
        return None
    reasoning = str(message.additional_kwargs.get("reasoning_content") or "")
    items = get_output_items(message)
    return WireMessage(role=role, text=text, reasoning=reasoning, tool_calls=calls, output_items=items)


_wired = once_each(_as_wire)


def _with_free_ids(
    made: WireMessage, message: BaseMessage, wire_id_of: dict[str, str], taken: set[str]
) -> WireMessage:
    """An answer whose calls keep their ids where no other of the request has them."""
    assert isinstance(message, AIMessage)
    own = _with_own_ids(message)
    calls = []
    for call, wired, renamed in zip(message.tool_calls, made.tool_calls, own.tool_calls, strict=True):
        calls.append(wired if wired.provider_id not in taken else renamed)
        taken.add(calls[-1].provider_id)
        wire_id_of[call["id"] or ""] = calls[-1].provider_id
    whole = next((each for each in (made, own) if all(map(is_, calls, each.tool_calls))), None)
    return whole or replace(made, tool_calls=tuple(calls))


@once_each
def _with_own_ids(message: AIMessage) -> WireMessage:
    """A message that has calls, these under our ids."""
    made = _wired(message)
    assert made is not None
    calls = zip(message.tool_calls, made.tool_calls, strict=True)
    return replace(
        made, tool_calls=tuple(replace(wired, provider_id=call["id"] or "") for call, wired in calls)
    )


def _text_of(message: BaseMessage) -> str:
    """The text of a message, its parts joined. Raises TypeError for parts that are not text."""
    if isinstance(message.content, str):
        return message.content
    parts = []
    for part in message.content:
        if isinstance(part, str):
            parts.append(part)
        elif part.get("type") == "text":
            parts.append(str(part.get("text", "")))
        elif message.type == "human" and part.get("type") in _IMAGE_PARTS:
            continue
        else:
            raise TypeError(f"a part of type {part.get('type')!r} cannot be sent to this model")
    return "".join(parts)


def _images_of(message: BaseMessage) -> tuple[WireImage, ...]:
    """The pictures of a message: bytes, data URLs in OpenAI's form, or LangChain's own blocks.

    Raises TypeError for an address: what is sent has to be at hand.
    """
    if isinstance(message.content, str):
        return ()
    return tuple(
        _image(part)
        for part in message.content
        if isinstance(part, Mapping) and part.get("type") in _IMAGE_PARTS
    )


def _image(part: Mapping[str, Any]) -> WireImage:
    if part.get("type") == "image":
        mime, encoded = str(part.get("mime_type") or "image/png"), part.get("base64") or part.get("data")
        if isinstance(encoded, bytes):  # as this program itself puts them: encoded where they are sent
            return WireImage(data=encoded, mime=mime)
    else:
        address = part.get("image_url")
        url = str(address.get("url") if isinstance(address, Mapping) else address)
        head, found, encoded = url.partition(";base64,")
        mime = head.removeprefix("data:")
        if not found or not url.startswith("data:"):
            encoded = None
    if not isinstance(encoded, str):
        raise TypeError("a picture has to be given as data")
    try:
        return WireImage(data=base64.b64decode(encoded, validate=True), mime=mime)
    except ValueError as error:
        raise TypeError(f"a picture's data can't be read: {error}") from error
