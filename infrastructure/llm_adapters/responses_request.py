"""The body of a request to OpenAI's Responses API, as a server's `Dialect` wants it.

Nothing is kept at the server (``store: false``), so every request carries the conversation, and the
model's reasoning goes back with it in the only form that is taken: whole items with their encrypted
content, each before the part of the answer that it led to. Source: the API's reference (`POST /v1/responses`,
"Reasoning models", "Function calling").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from domain.llm.chat import ChatRequest, WireMessage
from infrastructure.llm_adapters.dialect import Dialect
from infrastructure.llm_adapters.openai_request import (
    alternating,
    as_body,
    asking_for_json,
    data_url,
    plain_schema,
    with_unique_ids,
)
from infrastructure.llm_adapters.tool_call_accumulator import is_json_object

ENCRYPTED_REASONING = "reasoning.encrypted_content"
_SEARCH_SOURCES = "web_search_call.action.sources"


def render_responses(request: ChatRequest, model: str, dialect: Dialect) -> bytes:
    """The body as JSON in UTF-8."""
    messages: Sequence[WireMessage] = asking_for_json(request)
    if dialect.alternates_roles:
        messages = alternating(messages)
    body: dict[str, Any] = {
        "model": model,
        "input": _input(messages, dialect),
        "stream": True,
        "store": False,
    }
    body.update(_tool_fields(request, dialect))
    if dialect.sends_thinking:
        body.update(dialect.thinking.fields(request.thinking))
    if include := _include(request, dialect):
        body["include"] = include
    body.update(dialect.temperature_fields(request, model))
    if (most := dialect.max_tokens_of(request, model)) is not None:
        body[dialect.max_tokens_field] = most
    if request.json_mode:
        body.update(dialect.json_fields)
    return as_body(body)


def _keeps_reasoning(dialect: Dialect) -> bool:
    """The API refuses the items, and asking for them, for models that do not reason."""
    return dialect.keeps_reasoning_items and dialect.thinking.is_there


def _include(request: ChatRequest, dialect: Dialect) -> list[str]:
    fields = [ENCRYPTED_REASONING] if _keeps_reasoning(dialect) else []
    return [*fields, _SEARCH_SOURCES] if request.search and dialect.search_tool else fields


def _tool_fields(request: ChatRequest, dialect: Dialect) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    tools = [_tool(plain_schema(tool) if dialect.plain_schemas else tool) for tool in request.tools]
    if request.search and dialect.search_tool:
        tools.append(dict(dialect.search_tool))
    if tools:
        fields["tools"] = tools
    if request.tools and dialect.names_tool_choice:
        fields["tool_choice"] = "auto"
    return fields


def _tool(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Flat here. Without `strict` the server takes true, and refuses schemas with optional arguments."""
    function = dict(schema.get("function") or {})
    strict = bool(function.pop("strict", False))
    return {"type": "function", **function, "strict": strict}


def _input(messages: Sequence[WireMessage], dialect: Dialect) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    for message, wire_ids in with_unique_ids(messages):
        match message.role:
            case "tool":
                items.append({"type": "function_call_output", "call_id": wire_ids[0], "output": message.text})
            case "assistant":
                items += _answer(message, wire_ids, dialect)
            case role:
                items.append({"role": role, "content": _content(message, dialect)})
    return items


def _content(message: WireMessage, dialect: Dialect) -> str | list[dict[str, Any]]:
    if not message.images:
        return message.text
    images = [{"type": "input_image", "image_url": data_url(image)} for image in message.images]
    text = [{"type": "input_text", "text": message.text}] if message.text else []
    return [*images, *text] if dialect.images_first else [*text, *images]


def _answer(message: WireMessage, wire_ids: Sequence[str], dialect: Dialect) -> list[dict[str, Any]]:
    """An answer's items in the order in which they came, as far as that is known."""
    text = [{"role": "assistant", "content": message.text}] if message.text else []
    calls = [
        {
            "type": "function_call",
            "call_id": wire_id,
            "name": call.name,
            # The API refuses a text that is no JSON; the tool's answer tells the model what was wrong.
            "arguments": call.arguments if is_json_object(call.arguments) else "{}",
        }
        for wire_id, call in zip(wire_ids, message.tool_calls, strict=True)
    ]
    items: list[dict[str, Any]] = []
    for item in message.output_items:
        match item.get("type"):
            case "reasoning" if _keeps_reasoning(dialect) and item.get("encrypted_content"):
                items.append(dict(item))
            case "message" if text:
                phase = {"phase": item["phase"]} if item.get("phase") else {}
                items.append({**text.pop(), **phase})
            case "function_call" if calls:
                items.append(calls.pop(0))
    items += [*text, *calls]
    while items and items[-1].get("type") == "reasoning":
        items.pop()  # "provided without its required following item"
    return items
