"""Answers in the protocols of single providers, and what those servers refuse.

`zhipu_answer`, `siliconflow_answer` and `ollama_answer` are the counterparts of `llm_server.answer`. `strict`
makes of a script one that first looks at the request as the real server would, and answers HTTP 400 in the
server's own words to what it does not take.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.fakes.llm_responses import refuses_responses
from tests.fakes.llm_server import DONE, Call, Script, chunk, cut, json_answer

OLLAMA_TIMES = {"total_duration": 9, "load_duration": 1, "prompt_eval_duration": 2, "eval_duration": 3}
ZHIPU_USAGE = {
    "prompt_tokens": 120,
    "completion_tokens": 30,
    "total_tokens": 150,
    "prompt_tokens_details": {"cached_tokens": 96},
    "completion_tokens_details": {"reasoning_tokens": 12},
}
SOURCES = [
    {
        "title": "Op amps",
        "link": "https://example.org/opa",
        "content": "A text.",
        "media": "Example",
        "icon": "",
        "refer": "ref_1",
    }
]


def zhipu_answer(
    text: str = "",
    *,
    reasoning: str = "",
    calls: Sequence[Call] = (),
    sources: Sequence[Mapping[str, str]] = (),
    finish_reason: str | None = None,
) -> Script:
    """GLM: usage in the chunk with the finish reason, each call whole in one delta, sources in the first."""
    more = {"web_search": [*sources]} if sources else {}
    pieces = [chunk({"role": "assistant", "content": ""}, **more)]
    pieces += [chunk({"role": "assistant", "reasoning_content": part}) for part in cut(reasoning)]
    pieces += [chunk({"role": "assistant", "content": part}) for part in cut(text)]
    entries = [
        {"index": place, "id": one.id, "type": "function", "function": _function(one)}
        for place, one in enumerate(calls)
    ]
    pieces += [chunk({"role": "assistant", "tool_calls": [entry]}) for entry in entries]
    reason = finish_reason or ("tool_calls" if calls else "stop")
    pieces.append(chunk({"role": "assistant", "content": ""}, reason, usage=ZHIPU_USAGE))
    return Script(pieces=(*pieces, DONE))


def zhipu_error(code: str, message: str, status: int = 429) -> Script:
    """The code is a text, whatever the status is."""
    return json_answer({"error": {"code": code, "message": message}}, status)


def siliconflow_answer(text: str = "", *, reasoning: str = "", calls: Sequence[Call] = ()) -> Script:
    """Text and reasoning in every delta, one of them null; usage so far in every chunk; no [DONE]."""
    deltas: list[dict[str, Any]] = [
        *({"content": None, "reasoning_content": part, "role": "assistant"} for part in cut(reasoning)),
        *({"content": part, "reasoning_content": None} for part in cut(text)),
    ]
    for place, one in enumerate(calls):
        opening = {"index": place, "id": one.id, "type": "function"}
        function = {"name": one.name, "arguments": ""}
        deltas.append({"content": None, "tool_calls": [{**opening, "function": function}]})
        deltas += [
            {"content": None, "tool_calls": [{"index": place, "id": "", "function": {"arguments": part}}]}
            for part in cut(one.arguments, 9)
        ]
    deltas.append({"content": "", "reasoning_content": None})
    reasons = [None] * (len(deltas) - 1) + ["tool_calls" if calls else "stop"]
    pieces = []
    for number, (delta, reason) in enumerate(zip(deltas, reasons, strict=True), 1):
        usage = {"prompt_tokens": 40, "completion_tokens": number, "total_tokens": 40 + number}
        pieces.append(chunk(delta, reason, usage=usage))
    return Script(pieces=tuple(pieces))


def line(payload: Any) -> bytes:
    """One line of NDJSON."""
    return json.dumps(payload, ensure_ascii=False).encode() + b"\n"


def ollama_chunk(**message: Any) -> bytes:
    """A line with a part of the answer."""
    return line({**_OLLAMA, "message": {"role": "assistant", "content": "", **message}, "done": False})


def ollama_end(reason: str = "stop", *, read: int | None = 26, written: int = 9) -> bytes:
    """The last line."""
    counts = {"eval_count": written} if read is None else {"prompt_eval_count": read, "eval_count": written}
    message = {"role": "assistant", "content": ""}
    return line(
        {**_OLLAMA, "message": message, "done": True, "done_reason": reason, **OLLAMA_TIMES, **counts}
    )


_OLLAMA = {"model": "qwen3:4b", "created_at": "2026-01-01T00:00:00Z"}


def ollama_answer(
    text: str = "",
    *,
    thinking: str = "",
    calls: Sequence[Call] = (),
    reason: str = "stop",
    read: int | None = 26,
    written: int = 9,
) -> Script:
    """Each call whole in a line of its own, its arguments an object; the reason is "stop" in any case."""
    pieces = [ollama_chunk(thinking=part) for part in cut(thinking)]
    pieces += [ollama_chunk(content=part) for part in cut(text)]
    for place, one in enumerate(calls):
        function = {"index": place, "name": one.name, "arguments": json.loads(one.arguments)}
        entry = {"function": function, **({"id": one.id} if one.id else {})}
        pieces.append(ollama_chunk(tool_calls=[entry]))
    pieces.append(ollama_end(reason, read=read, written=written))
    return Script(pieces=tuple(pieces), content_type="application/x-ndjson")


def ollama_error(status: int, message: str) -> Script:
    """The error is a text, no object."""
    return json_answer({"error": message}, status)


def _function(one: Call) -> dict[str, str]:
    return {"name": one.name, "arguments": one.arguments}


# What servers refuse


def strict(provider: str, script: Script) -> Callable[[Any], Script]:
    """The script, performed only for a request that this provider's server takes."""

    def performed(body: Any) -> Script:
        complaint = _COMPLAINTS[provider](body)
        if complaint is None:
            return script
        if provider == "ollama":
            return ollama_error(400, complaint)
        if provider == "zhipu":
            return zhipu_error("1210", complaint, 400)
        if provider == "siliconflow":
            return json_answer({"code": 20015, "message": complaint, "data": None}, 400)
        return openai_error(complaint)

    return performed


def openai_error(complaint: str, status: int = 400) -> Script:
    """How OpenAI says no."""
    fields = {"message": complaint, "type": "invalid_request_error", "param": None, "code": None}
    return json_answer({"error": fields}, status)


def _common(body: Any) -> str | None:
    """What every server with OpenAI's form looks at: each result has its call, arguments are JSON."""
    open_ids: set[str] = set()
    for message in body["messages"]:
        for call in message.get("tool_calls") or ():
            if not isinstance(call["function"]["arguments"], str):
                return "function.arguments: Input should be a valid string"
            json.loads(call["function"]["arguments"])
            open_ids.add(call["id"])
        if message["role"] == "tool":
            if message.get("tool_call_id") not in open_ids:
                return "messages with role 'tool' must be a response to a preceding message with 'tool_calls'"
            open_ids.discard(message["tool_call_id"])
    return f"no tool message for {open_ids}" if open_ids else None


def _zhipu(body: Any) -> str | None:
    if body.get("temperature") == 0:
        return "temperature 参数非法"
    if "max_completion_tokens" in body or "stream_options" in body:
        return "未知参数"
    for message in body["messages"]:
        if isinstance(message["content"], list) and message["content"][0]["type"] != "image_url":
            return "图片应在文本之前"
    if isinstance(body.get("thinking", {}), str):
        return "thinking 参数非法"
    return _common(body)


def _siliconflow(body: Any) -> str | None:
    budget = body.get("thinking_budget", 128)
    if not 128 <= budget <= 32768:
        return "thinking_budget must be between 128 and 32768"
    return "Unknown field: thinking" if "thinking" in body else _common(body)


def _deepseek(body: Any) -> str | None:
    thinks = body.get("thinking", {"type": "enabled"})["type"] == "enabled"
    for message in body["messages"]:
        if thinks and message.get("tool_calls") and "reasoning_content" not in message:
            return "The `reasoning_content` in the thinking mode must be passed back to the API."
        if isinstance(message["content"], list):
            return "Failed to deserialize the JSON body: messages: unknown variant image_url"
    return _common(body)


def _ollama(body: Any) -> str | None:
    if "num_ctx" not in body.get("options", {}):
        return "the context would be 4096 tokens, and the prompt cut"
    for message in body["messages"]:
        if not isinstance(message["content"], str):
            return "json: cannot unmarshal array into Go struct field ChatRequest.messages.content"
        for call in message.get("tool_calls") or ():
            if not isinstance(call["function"]["arguments"], Mapping):
                return "json: cannot unmarshal string into Go struct field .function.arguments"
        if message["role"] == "tool" and not message.get("tool_name"):
            return "tool messages need a tool_name"
        for image in message.get("images", ()):
            try:
                base64.b64decode(image, validate=True)
            except binascii.Error:
                return "illegal base64 data at input byte 4"
    return None


_COMPLAINTS: Mapping[str, Callable[[Any], str | None]] = {
    "zhipu": _zhipu,
    "siliconflow": _siliconflow,
    "deepseek": _deepseek,
    "openai": refuses_responses,
    "ollama": _ollama,
}
