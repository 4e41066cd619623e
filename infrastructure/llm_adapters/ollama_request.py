"""The body of a request to Ollama's native ``/api/chat``.

Source: Ollama's docs/api.md and api/types.go. Arguments of calls are objects; results name their tool;
the size of the context is said in every request, because Ollama's own default is small and what does
not fit is cut off silently.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Sequence
from typing import Any

from domain.llm.chat import ChatRequest, Thinking, WireMessage
from domain.llm.json_repair import Problem, parse_arguments
from infrastructure.llm_adapters.dialect import Dialect
from infrastructure.llm_adapters.openai_request import (
    as_body,
    asking_for_json,
    begin_of_turn,
    goes_back,
    plain_schema,
)

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
