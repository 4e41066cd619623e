"""The client for Ollama's native protocol: NDJSON, an explicit context, abilities asked from the server.

The size of the context is chosen for the request, within what the model has; what can't fit is said
before it is sent, and an answer whose prompt was cut all the same (another program may have loaded the
model with less) ends in an error. Source of the body of ``/api/chat``: Ollama's docs/api.md and api/types.go.
Arguments of calls are objects; results name their tool; the size of the context is said in every request,
because Ollama's own default is small and what does not fit is cut off silently.
"""

from __future__ import annotations

import asyncio
import base64
import json
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import quote as url_quote

from domain.llm.chat import ChatRequest, ModelAbilities, ProviderError, StreamChunk, Thinking, WireMessage
from domain.llm.json_repair import Problem, parse_arguments
from domain.llm.tokens import count_tokens, request_tokens
from infrastructure.llm_adapters.answer_reader import AnswerReader
from infrastructure.llm_adapters.dialect import Dialect
from infrastructure.llm_adapters.openai_request import (
    as_body,
    asking_for_json,
    begin_of_turn,
    goes_back,
    plain_schema,
)
from infrastructure.llm_adapters.sse import Frame, NDJSONReader
from infrastructure.llm_adapters.wire_client import WireClient
from infrastructure.llm_adapters.wire_errors import bad_response
from shared.message import Message, msg

_LEVELS_ONLY = re.compile("gpt-oss", re.IGNORECASE)
"""Models that can't be told to think or not, only how much."""
_LEVEL_INSTEAD: dict[Thinking, Thinking] = {"on": "medium", "off": "low"}


def render_ollama(request: ChatRequest, model: str, dialect: Dialect, *, num_ctx: int) -> bytes:
    """The body as JSON in UTF-8; `num_ctx` is the size of the context in tokens."""
    options: dict[str, Any] = {"num_ctx": num_ctx, **dialect.temperature_fields(request, model)}
    if request.max_tokens is not None:
        options[dialect.max_tokens_field] = request.max_tokens
    body: dict[str, Any] = {
        "model": model,
        "messages": _messages(asking_for_json(request), dialect),
        "stream": True,
        "options": options,
        # Rather an error than an answer to half of the conversation.
        "truncate": False,
        "shift": False,
    }
    if request.tools:
        body["tools"] = [plain_schema(tool) if dialect.plain_schemas else tool for tool in request.tools]
    if dialect.sends_thinking:
        body.update(dialect.thinking.fields(_thinking_of(request, model)))
    if request.json_mode:
        body.update(dialect.json_fields)
    return as_body(body)


def _thinking_of(request: ChatRequest, model: str) -> Thinking | None:
    if request.thinking is not None and _LEVELS_ONLY.search(model):
        return _LEVEL_INSTEAD.get(request.thinking, request.thinking)
    return request.thinking


def _messages(messages: Sequence[WireMessage], dialect: Dialect) -> list[dict[str, Any]]:
    begins = begin_of_turn(messages)
    rendered: list[dict[str, Any]] = []
    for place, message in enumerate(messages):
        entry: dict[str, Any] = {"role": message.role, "content": message.text}
        if message.role == "tool":
            entry["tool_name"] = message.name
            if message.tool_call_id:
                entry["tool_call_id"] = message.tool_call_id
        if message.images:
            entry["images"] = [base64.b64encode(image.data).decode("ascii") for image in message.images]
        if message.tool_calls:
            entry["tool_calls"] = [_tool_call(number, call) for number, call in enumerate(message.tool_calls)]
        if message.role == "assistant" and goes_back(message, dialect, is_current=place > begins):
            entry[dialect.reasoning_field] = message.reasoning
        rendered.append(entry)
    return rendered


def _tool_call(number: int, call: Any) -> dict[str, Any]:
    arguments = parse_arguments(call.arguments)
    given = {} if isinstance(arguments, Problem) else json.loads(json.dumps(dict(arguments)))
    entry = {"function": {"index": number, "name": call.name, "arguments": given}}
    return {"id": call.provider_id, **entry} if call.provider_id else entry


DEFAULT_CONTEXT = 32_768
"""Tokens; more is asked for when a conversation needs it."""
_STEPS = (DEFAULT_CONTEXT, 65_536, 131_072, 262_144)
_ROOM_FOR_ANSWER = 4_096
_NEARLY_FULL = 0.8
_SURELY_CUT = 2.0
"""A prompt estimated at this many times the context can't have been read whole."""
_SUFFIX = re.compile(r"/(v1|api|api/chat|v1/chat/completions)$")
_LACKS_MEMORY = re.compile(
    r"more system memory|out of memory|insufficient memory|requires? more .{0,20}memory"
)


class OllamaClient(WireClient):
    """`base_url` is the server's root; an address ending in /v1 or /api means the same server."""

    _chat_path = "/api/chat"
    _list_path = "/api/tags"
    _accepts = "application/x-ndjson, application/json"

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self._shown_model = ""
        """The model whose abilities are known."""
        self._num_ctx = 0
        """The context asked for, in tokens."""
        self._needed = 0
        """What the prompt takes of it, estimated."""
        self._loaded: int | None = None
        """The context the server loaded the model with, as it said when `_asked_at` was asked for."""
        self._asked_at = 0

    def _root_of(self, base_url: str) -> str:
        return _SUFFIX.sub("", base_url).rstrip("/")

    def _render(self, request: ChatRequest, model: str) -> bytes:
        return render_ollama(request, model, self._dialect, num_ctx=self._num_ctx)

    def _new_answer(self, known_tools: frozenset[str]) -> AnswerReader:
        return OllamaAnswer(self._peer, known_tools)

    def _new_reader(self, content_type: str) -> NDJSONReader:  # noqa: ARG002 - it is always NDJSON
        return NDJSONReader()

    async def facts(self) -> tuple[Sequence[Mapping[str, Any]], str, Sequence[Mapping[str, Any]]]:
        """The installed models, the version, and the models in memory, as the server tells them.

        Raises ProviderError when it does not list its models.
        """
        try:
            listed = await self._list_models()
        except ProviderError as error:
            raise await self._explained(error) from error
        models = _models_in(listed)
        if models is None:
            raise bad_response(self._peer, str(listed))
        version = await self._told("/api/version")
        named = version.get("version") if isinstance(version, Mapping) else ""
        return models, str(named or ""), _models_in(await self._told("/api/ps")) or ()

    async def abilities_of_model(self) -> ModelAbilities:
        """What is known of the model, the server asked; with how large a context it is loaded now.

        Raises ProviderError.
        """
        told = _known_better(await self._show(), self._abilities)
        return replace(told, loaded_tokens=await self._loaded_context())

    async def _told(self, path: str) -> Any:
        """What it says there; None when it does not: older servers lack some of it."""
        try:
            return await self._ask("GET", path)
        except ProviderError:
            return None

    async def _get_ready(self, request: ChatRequest) -> None:
        if self._shown_model != self._peer.model:
            self._learn_abilities(_known_better(await self._show(), self._abilities))
            self._shown_model = self._peer.model
        self._needed = await asyncio.to_thread(_tokens_of, request)
        most = self._abilities.context_tokens
        if most is not None and self._needed > most:
            raise self._too_long(self._needed, most)
        wanted = self._needed + (request.max_tokens or _ROOM_FOR_ANSWER)
        fitting = next((step for step in _STEPS if step >= wanted), wanted)
        # It never shrinks: Ollama loads the model anew for every other size.
        self._num_ctx = max(self._num_ctx, fitting if most is None else min(fitting, most))

    async def _show(self) -> ModelAbilities:
        """What the server says of the model. Raises ProviderError for a model it does not have."""
        try:
            payload = await self._ask("POST", "/api/show", as_body({"model": self._peer.model}))
        except ProviderError as error:
            if error.kind == "bad_request" and error.status in {404, 405, 501}:
                return ModelAbilities()  # something else that speaks the protocol
            raise
        return read_abilities(payload)

    async def _check(self, answer: AnswerReader) -> None:
        usage = answer.usage
        if usage is None:
            return
        if self._asked_at != self._num_ctx:
            self._loaded, self._asked_at = await self._loaded_context(), self._num_ctx
        context = min(self._loaded or self._num_ctx, self._num_ctx)
        if usage.total_tokens >= context and isinstance(answer, OllamaAnswer):
            answer.end_at_limit()
        # The count of tokens read is small too when most came from the server's cache.
        is_full = usage.prompt_tokens >= context * _NEARLY_FULL
        if self._needed > context * (1 if is_full else _SURELY_CUT):
            raise self._too_long(self._needed, context)

    async def _loaded_context(self) -> int | None:
        """With how large a context the model is loaded; None when the server does not tell."""
        for entry in _models_in(await self._told("/api/ps")) or ():
            if self._peer.model in (entry.get("name"), entry.get("model")):
                length = entry.get("context_length")
                return length if isinstance(length, int) and length > 0 else None
        return None

    def _too_long(self, needed: int, most: int) -> ProviderError:
        return ProviderError(
            msg(
                "The conversation is too long for {model}: about {needed} tokens; its context window "
                "is {most}.",
                model=self._peer.model,
                needed=needed,
                most=most,
            ),
            kind="context_too_long",
            advice=msg(
                "Start a new conversation, or choose a model with a larger context. The server's own "
                "limit is set by OLLAMA_CONTEXT_LENGTH."
            ),
        )

    async def _explained(self, error: ProviderError) -> ProviderError:
        advice = await asyncio.to_thread(ollama_advice, error, self._peer.model, is_here=self._is_local)
        return error if advice is None else with_advice(error, advice)


class OllamaAnswer(AnswerReader):
    """Reads Ollama's lines as the chunks they would be in OpenAI's form."""

    _calls_seen = 0

    def _take(self, frame: Frame, payload: Any, *, is_torn: bool) -> Iterator[StreamChunk]:
        is_end = isinstance(payload, Mapping) and payload.get("done") is True and not payload.get("error")
        yield from super()._take(frame, self._as_chunk(payload), is_torn=is_torn)
        self.is_done = self.is_done or is_end

    def end_at_limit(self) -> None:
        """The context was full: whatever the server says, the answer may be incomplete."""
        self._finish = "length"

    def _as_chunk(self, payload: Any) -> Any:
        if not isinstance(payload, Mapping) or payload.get("error") or "choices" in payload:
            return payload
        message = payload.get("message")
        if not isinstance(message, Mapping):
            if payload.get("done") is not True:
                return payload
            message = {}
        delta = {"content": message.get("content"), "thinking": message.get("thinking")}
        if isinstance(calls := message.get("tool_calls"), list) and calls:
            delta["tool_calls"] = [self._numbered(call) for call in calls if isinstance(call, Mapping)]
        is_end = payload.get("done") is True
        reason = (payload.get("done_reason") or "stop") if is_end else None
        chunk: dict[str, Any] = {
            "model": payload.get("model"),
            "choices": [{"index": 0, "delta": delta, "finish_reason": reason}],
        }
        if is_end:
            read, written = payload.get("prompt_eval_count"), payload.get("eval_count")
            chunk["usage"] = {"prompt_tokens": read or 0, "completion_tokens": written or 0}
        return chunk

    def _numbered(self, call: Mapping[str, Any]) -> dict[str, Any]:
        """Every entry is a whole call, whatever index it has: older servers count none."""
        self._calls_seen += 1
        return {**call, "index": self._calls_seen - 1}


def _models_in(payload: Any) -> Sequence[Mapping[str, Any]] | None:
    models = payload.get("models") if isinstance(payload, Mapping) else None
    if not isinstance(models, list):
        return None
    return [entry for entry in models if isinstance(entry, Mapping)]


def read_abilities(payload: Any) -> ModelAbilities:
    """What ``/api/show`` tells; older servers tell no capabilities."""
    if not isinstance(payload, Mapping):
        return ModelAbilities()
    facts = payload.get("model_info")
    lengths = [
        value
        for name, value in (facts.items() if isinstance(facts, Mapping) else ())
        if str(name).endswith(".context_length") and isinstance(value, int) and value > 0
    ]
    context = lengths[0] if lengths else None
    told = payload.get("capabilities")
    if not isinstance(told, list) or not told:
        return ModelAbilities(context_tokens=context)
    return ModelAbilities(
        tools="yes" if "tools" in told else "prompted",
        vision="vision" in told or "image" in told,
        thinking="thinking" in told,
        context_tokens=context,
    )


def _known_better(told: ModelAbilities, before: ModelAbilities) -> ModelAbilities:
    """What the server tells, and where it tells nothing what was known before."""
    names = ("tools", "vision", "thinking", "context_tokens", "output_tokens")
    found = {name: getattr(told, name) for name in names}
    return ModelAbilities(
        **{name: getattr(before, name) if value is None else value for name, value in found.items()}
    )


def _tokens_of(request: ChatRequest) -> int:
    """About how many tokens the prompt has; Ollama is sent the reasoning of earlier answers too."""
    return request_tokens(request) + sum(count_tokens(message.reasoning) for message in request.messages)


def ollama_advice(error: ProviderError, model: str, *, is_here: bool) -> Message | None:
    """What to do about an error of an Ollama server; None when the general advice is as good.

    Blocking: it looks for the program.
    """
    if error.kind == "unknown_model":
        return pull_advice(model)
    if error.kind == "unreachable" and is_here:
        return start_advice()
    if error.kind == "bad_request" and error.status in {404, 405}:
        return msg(
            "Check the base URL: it must be the root of the server, for example http://127.0.0.1:11434."
        )
    if _LACKS_MEMORY.search(str(error)):
        return msg("Choose a smaller model, or close other programs: it does not fit into memory.")
    return None


def pull_advice(model: str) -> Message:
    if not model:
        return msg("No model is installed. Get one, for example with: ollama pull qwen3:8b")
    return msg("Get it with: ollama pull {model}", model=url_quote(model, safe=":/-_."))


def start_advice() -> Message:
    """How to get a server on this computer to run. Looks for the program on the disk."""
    if shutil.which("ollama") is None:
        return msg(
            "Ollama is not installed on this computer: get it from https://ollama.com/download, "
            "then run: ollama serve"
        )
    return msg("Ollama is not running. Start it with: ollama serve")


def with_advice(error: ProviderError, advice: Message) -> ProviderError:
    return ProviderError(
        error.message,
        kind=error.kind,
        advice=advice,
        retryable=error.retryable,
        retry_after_s=error.retry_after_s,
        status=error.status,
        provider_code=error.provider_code,
    )
