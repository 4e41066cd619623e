"""The body of a chat completions request in OpenAI's form, as a server's `Dialect` wants it.

Every call of the history has a unique id on the wire, whatever providers sent: a missing or repeated id
is replaced by one made from the call's place, the same in every later request so that caches of
prompts hit, and the message that answers the call gets it too.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from domain.llm.chat import ChatRequest, WireImage, WireMessage, WireToolCall
from infrastructure.llm_adapters.dialect import Dialect
from infrastructure.llm_adapters.tool_call_accumulator import is_json_object

_JSON_WANTED = "Answer with one JSON object and nothing else."


def render_request(request: ChatRequest, model: str, dialect: Dialect) -> bytes:
    """The body as JSON in UTF-8."""
    messages: Sequence[WireMessage] = asking_for_json(request)
    if dialect.alternates_roles:
        messages = alternating(messages)
    body: dict[str, Any] = {
        "model": model,
        "messages": _messages(messages, dialect),
        "stream": True,
    }
    if dialect.asks_for_usage:
        body["stream_options"] = {"include_usage": True}
    body.update(_tool_fields(request, model, dialect))
    if dialect.sends_thinking:
        body.update(dialect.thinking.fields(request.thinking))
    body.update(dialect.temperature_fields(request, model))
    if (most := dialect.max_tokens_of(request, model)) is not None:
        body[dialect.max_tokens_field] = most
    if request.json_mode:
        body.update(dialect.json_fields)
    return as_body(body)


def as_body(body: Mapping[str, Any]) -> bytes:
    """JSON in UTF-8; half characters become "?"."""
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")


def _tool_fields(request: ChatRequest, model: str, dialect: Dialect) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    tools = [plain_schema(tool) if dialect.plain_schemas else tool for tool in request.tools]
    if tools and dialect.tool_fields_models.search(model):
        fields.update(dialect.tool_fields)
    if request.search:
        fields.update(dialect.search_fields)
        if dialect.search_tool:
            tools.append(dialect.search_tool)
    if tools:
        fields["tools"] = tools
    if request.tools and dialect.names_tool_choice:
        fields["tool_choice"] = "auto"
    return fields


def asking_for_json(request: ChatRequest) -> tuple[WireMessage, ...]:
    """The messages, which in JSON mode have to name the word: OpenAI and DeepSeek refuse them otherwise."""
    messages = request.messages
    if not request.json_mode or any("json" in message.text.lower() for message in messages):
        return messages
    if messages and messages[0].role == "system":
        first = replace(messages[0], text=f"{messages[0].text}\n\n{_JSON_WANTED}".strip())
        return (first, *messages[1:])
    return (WireMessage(role="system", text=_JSON_WANTED), *messages)


def alternating(messages: Sequence[WireMessage]) -> list[WireMessage]:
    """Messages in which user and assistant take turns: neighbours joined, missing answers put in."""
    turns: list[WireMessage] = []
    for message in messages:
        before = turns[-1] if turns else None
        if before is not None and message.role == "user" and before.role == "tool":
            turns.append(WireMessage(role="assistant", text="(No answer was given here.)"))
        is_neighbour = before is not None and before.role == message.role in {"user", "assistant"}
        if before is not None and is_neighbour and not before.tool_calls:
            text = f"{before.text}\n\n{message.text}".strip()
            turns[-1] = replace(message, text=text, images=before.images + message.images)
        else:
            turns.append(message)
    return turns


def _messages(messages: Sequence[WireMessage], dialect: Dialect) -> list[dict[str, Any]]:
    rendered: list[dict[str, Any]] = []
    begins = begin_of_turn(messages)
    for place, (message, wire_ids) in enumerate(with_unique_ids(messages)):
        if message.role == "tool":
            rendered.append({"role": "tool", "tool_call_id": wire_ids[0], "content": message.text})
            continue
        entry: dict[str, Any] = {"role": message.role, "content": _content(message, dialect)}
        if message.role == "assistant":
            if message.tool_calls:
                entry["content"] = message.text or None
                entry["tool_calls"] = list(map(_tool_call, wire_ids, message.tool_calls))
            if goes_back(message, dialect, is_current=place > begins):
                entry[dialect.reasoning_field] = message.reasoning
        rendered.append(entry)
    return rendered


def _content(message: WireMessage, dialect: Dialect) -> str | list[dict[str, Any]]:
    if not message.images:
        return message.text
    images = [{"type": "image_url", "image_url": {"url": data_url(image)}} for image in message.images]
    text = [{"type": "text", "text": message.text}] if message.text else []
    return [*images, *text] if dialect.images_first else [*text, *images]


def with_unique_ids(messages: Sequence[WireMessage]) -> Iterator[tuple[WireMessage, Sequence[str]]]:
    """Each message with its ids on the wire: those of its calls, or the one of the call it answers."""
    taken = {call.provider_id for message in messages for call in message.tool_calls}
    used: set[str] = set()
    waiting: list[tuple[str, WireToolCall]] = []
    for place, message in enumerate(messages):
        if message.role == "tool":
            yield message, [_answered(waiting, message) or message.tool_call_id]
        elif message.role == "assistant" and message.tool_calls:
            waiting = [
                (_unique_id(call.provider_id, f"call_{place}_{number}", taken, used), call)
                for number, call in enumerate(message.tool_calls)
            ]
            yield message, [wire_id for wire_id, _ in waiting]
        else:
            yield message, ()


def data_url(image: WireImage) -> str:
    return f"data:{image.mime};base64,{base64.b64encode(image.data).decode('ascii')}"


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


def begin_of_turn(messages: Sequence[WireMessage]) -> int:
    """The place of the user's last message, -1 without one."""
    places = (place for place in reversed(range(len(messages))) if messages[place].role == "user")
    return next(places, -1)


def goes_back(message: WireMessage, dialect: Dialect, *, is_current: bool) -> bool:
    """Whether the reasoning of this answer is sent back; `is_current`: it answers the last question."""
    if not message.reasoning and not dialect.names_missing_reasoning:
        return False
    match dialect.reasoning_back:
        case "never":
            return False
        case "always":
            return bool(message.reasoning or message.tool_calls)
        case "current_turn":
            return bool(message.tool_calls) and is_current
        case "tool_turns":
            return bool(message.tool_calls)


_EXTRAS = frozenset({"strict", "additionalProperties", "$schema", "title", "default"})


def plain_schema(schema: Any, *, are_names: bool = False) -> Any:
    """A schema without what only some servers take; the names of properties are left alone."""
    if isinstance(schema, Mapping):
        return {
            key: plain_schema(part, are_names=key == "properties" and not are_names)
            for key, part in schema.items()
            if are_names or key not in _EXTRAS
        }
    if isinstance(schema, list):
        return [plain_schema(part) for part in schema]
    return schema
