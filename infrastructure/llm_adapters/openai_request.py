"""The body of a chat completions request in OpenAI's form, and what to leave out for servers that refuse it.

Every call of the history has a unique id on the wire, whatever providers sent: a missing or repeated id
is replaced by one made from the call's place, the same in every later request so that caches of
prompts hit, and the message that answers the call gets it too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from domain.llm.chat import ChatRequest, WireMessage, WireToolCall
from infrastructure.llm_adapters.tool_call_accumulator import is_json_object


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """How one server wants to be spoken to."""

    reasoning_back: Literal["never", "tool_turns", "always"] = "never"
    """Of which answers the reasoning is sent back; "tool_turns": of those that called tools (DeepSeek)."""
    reasoning_field: str = "reasoning_content"
    asks_for_usage: bool = True
    names_tool_choice: bool = True
    plain_schemas: bool = False
    """Tool schemas without `strict`, `additionalProperties` and the like."""
    sends_temperature: bool = True
    max_tokens_field: str = "max_tokens"
    alternates_roles: bool = False
    """Questions and answers have to take turns: the templates of several models demand it."""


@dataclass(frozen=True, slots=True)
class _Objection:
    """A server's complaint about one thing, and the dialect without it."""

    words: re.Pattern[str]
    yields: Callable[[Dialect], Dialect]


_OBJECTIONS = (
    _Objection(re.compile("stream_options|include_usage"), lambda now: replace(now, asks_for_usage=False)),
    _Objection(re.compile("tool_choice"), lambda now: replace(now, names_tool_choice=False)),
    _Objection(
        re.compile(r"additionalproperties|\bstrict\b|\$schema", re.IGNORECASE),
        lambda now: replace(now, plain_schemas=True),
    ),
    # OpenAI's reasoning models
    _Objection(
        re.compile("max_completion_tokens"),
        lambda now: replace(now, max_tokens_field="max_completion_tokens"),
    ),
    _Objection(re.compile("temperature"), lambda now: replace(now, sends_temperature=False)),
    # DeepSeek wants it back after tool calls
    _Objection(
        re.compile("reasoning_content"),
        lambda now: now if now.reasoning_back != "never" else replace(now, reasoning_back="tool_turns"),
    ),
    # Templates of Mistral, Gemma and others; the words are passed on by llama.cpp, LM Studio and vLLM
    _Objection(
        re.compile(r"roles must alternate|must alternate between user", re.IGNORECASE),
        lambda now: replace(now, alternates_roles=True),
    ),
)


def dialects_after(complaint: str, dialect: Dialect) -> Iterator[Dialect]:
    """Dialects that meet what a server complained of, one for each thing it names."""
    for objection in _OBJECTIONS:
        if objection.words.search(complaint):
            yield objection.yields(dialect)


def render_request(request: ChatRequest, model: str, dialect: Dialect) -> bytes:
    """The body as JSON in UTF-8."""
    messages = _alternating(request.messages) if dialect.alternates_roles else request.messages
    body: dict[str, Any] = {
        "model": model,
        "messages": _messages(messages, dialect),
        "stream": True,
    }
    if dialect.asks_for_usage:
        body["stream_options"] = {"include_usage": True}
    if request.tools:
        body["tools"] = [_plain(tool) if dialect.plain_schemas else tool for tool in request.tools]
        if dialect.names_tool_choice:
            body["tool_choice"] = "auto"
    if request.temperature is not None and dialect.sends_temperature:
        body["temperature"] = request.temperature
    if request.max_tokens is not None:
        body[dialect.max_tokens_field] = request.max_tokens
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")


def _alternating(messages: Sequence[WireMessage]) -> list[WireMessage]:
    """Messages in which user and assistant take turns: neighbours are joined, a missing answer is put in."""
    turns: list[WireMessage] = []
    for message in messages:
        before = turns[-1] if turns else None
        if before is not None and message.role == "user" and before.role == "tool":
            turns.append(WireMessage(role="assistant", text="(No answer was given here.)"))
        is_neighbour = before is not None and before.role == message.role in {"user", "assistant"}
        if before is not None and is_neighbour and not before.tool_calls:
            turns[-1] = replace(message, text=f"{before.text}\n\n{message.text}".strip())
        else:
            turns.append(message)
    return turns


def _messages(messages: Sequence[WireMessage], dialect: Dialect) -> list[dict[str, Any]]:
    taken = {call.provider_id for message in messages for call in message.tool_calls}
    used: set[str] = set()
    waiting: list[tuple[str, WireToolCall]] = []
    rendered: list[dict[str, Any]] = []
    for place, message in enumerate(messages):
        if message.role == "tool":
            wire_id = _answered(waiting, message) or message.tool_call_id
            rendered.append({"role": "tool", "tool_call_id": wire_id, "content": message.text})
            continue
        entry: dict[str, Any] = {"role": message.role, "content": message.text}
        if message.role == "assistant":
            if message.tool_calls:
                waiting = [
                    (_unique_id(call.provider_id, f"call_{place}_{number}", taken, used), call)
                    for number, call in enumerate(message.tool_calls)
                ]
                entry["content"] = message.text or None
                entry["tool_calls"] = [_tool_call(wire_id, call) for wire_id, call in waiting]
            if message.reasoning and _goes_back(message, dialect):
                entry[dialect.reasoning_field] = message.reasoning
        rendered.append(entry)
    return rendered


def _unique_id(provider_id: str, from_place: str, taken: set[str], used: set[str]) -> str:
    wire_id = provider_id
    if not wire_id or wire_id in used:
        wire_id = from_place
        while wire_id in taken or wire_id in used:
            wire_id += "x"
    used.add(wire_id)
    return wire_id


def _answered(waiting: list[tuple[str, WireToolCall]], message: WireMessage) -> str:
    """The wire id of the call this message answers: the first open one that fits best; it is then closed."""
    fits: tuple[Callable[[WireToolCall], bool], ...] = (
        lambda call: call.provider_id == message.tool_call_id and call.name == message.name,
        lambda call: call.provider_id == message.tool_call_id,
    )
    for does_fit in fits:
        for number, (wire_id, call) in enumerate(waiting):
            if does_fit(call):
                del waiting[number]
                return wire_id
    return ""


def _tool_call(wire_id: str, call: WireToolCall) -> dict[str, Any]:
    # Servers that render the history with a template parse the arguments and fail on anything but an
    # object; the tool's answer tells the model what was wrong with them.
    arguments = call.arguments if is_json_object(call.arguments) else "{}"
    return {"id": wire_id, "type": "function", "function": {"name": call.name, "arguments": arguments}}


def _goes_back(message: WireMessage, dialect: Dialect) -> bool:
    if dialect.reasoning_back == "tool_turns":
        return bool(message.tool_calls)
    return dialect.reasoning_back == "always"


_EXTRAS = frozenset({"strict", "additionalProperties", "$schema", "title", "default"})


def _plain(schema: Any, *, are_names: bool = False) -> Any:
    """A schema without what only some servers take; the names of properties are left alone."""
    if isinstance(schema, Mapping):
        return {
            key: _plain(part, are_names=key == "properties" and not are_names)
            for key, part in schema.items()
            if are_names or key not in _EXTRAS
        }
    if isinstance(schema, list):
        return [_plain(part) for part in schema]
    return schema
