"""Tools for models without native tool calling: described in the system message, called as JSON in the text.

The requests have no `tools`; calls and results of the history are written as text. In the answer a part
that may be a call is held back until it is known whether it is one (`domain.llm.answers` decides), so
that nobody is shown the JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

from domain.llm.answers import calls_in_text
from domain.llm.chat import ChatRequest, StreamChunk, WireMessage, WireToolCall
from domain.llm.context_block import fence_data
from domain.llm.json_repair import Problem, parse_arguments

_EXPLANATION = """\
You have tools. To use them, answer with nothing but one JSON object for each call, in this form, and stop:
{"tool": "NAME", "arguments": {"PARAMETER": VALUE}}
Several calls at once: a JSON list of such objects. You are then sent the results, and go on. Use a tool
whenever you need a fact about the project or have to change it; never make up a result. Your final answer
to the user is plain text without such JSON. The tools, ? behind an argument that may be left out:"""

_CALL_BLOCK = re.compile(r"(?:`{3,}|~{3,})[ \t]*(?:json5?|tool_calls?|tool|tool_code|function_call)?[ \t]*$")
_FENCE = re.compile(r"`{3,}|~{3,}")
_OPENINGS = ("{", "[", "`", "~")
_MARKS = ("<tool_call>", "<function_call>", "<tool_use>", "[TOOL_CALLS]", "<|python_tag|>")
_MARK_BEGIN = re.compile(r"[<\[:：>]")
"""A call may begin here, or behind it: after a colon, or after ``</think>``."""


_BLANKS = re.compile(r"[ \t]*")


def as_prompted(request: ChatRequest) -> ChatRequest:
    """The same request without native tools."""
    messages: list[WireMessage] = []
    for message in request.messages:
        before = messages[-1] if messages else None
        if message.role == "tool":
            text = f"Result of {message.name or 'the tool'}:\n{fence_data('result', message.text)}"
            if before is not None and before.role == "user" and before.text.startswith("Result of "):
                messages[-1] = replace(before, text=f"{before.text}\n\n{text}")
            else:
                messages.append(WireMessage(role="user", text=text))
        elif message.tool_calls:
            written = "\n".join([message.text, *map(_written, message.tool_calls)]).strip()
            messages.append(replace(message, text=written, tool_calls=()))
        else:
            messages.append(message)
    return replace(request, messages=_with_tools(messages, request.tools), tools=())


def _written(call: WireToolCall) -> str:
    arguments = parse_arguments(call.arguments)
    given = {} if isinstance(arguments, Problem) else arguments
    return json.dumps({"tool": call.name, "arguments": given}, ensure_ascii=False)


def _signature(function: Mapping[str, Any]) -> str:
    """``read_file(path, start_line?: integer)``: optional arguments have a mark, texts no type."""
    parameters = function.get("parameters", {})
    required = parameters.get("required", ())
    told = []
    for name, schema in parameters.get("properties", {}).items():
        words = "|".join(map(str, schema["enum"])) if "enum" in schema else schema.get("type", "string")
        kind = "" if words == "string" else f": {words}"
        told.append(f"{name}{'' if name in required else '?'}{kind}")
    return f"{function.get('name', '')}({', '.join(told)})"


def _with_tools(messages: list[WireMessage], tools: Collection[Mapping[str, Any]]) -> tuple[WireMessage, ...]:
    if not tools:
        return tuple(messages)
    lines = [_EXPLANATION]
    for tool in tools:
        function = tool.get("function", tool)
        lines.append(f"- {_signature(function)}: {function.get('description', '')}")
    described = "\n".join(lines)
    if messages and messages[0].role == "system":
        first = replace(messages[0], text=f"{messages[0].text}\n\n{described}".strip())
        return (first, *messages[1:])
    return (WireMessage(role="system", text=described), *messages)


class CallsInText:
    """Takes the calls out of an answer's text as it streams. Without `known` names all passes as it is."""

    def __init__(self, known: frozenset[str]) -> None:
        self._known = known
        self._text = ""
        self._shown = 0
        self._line = 0
        """Where the line begins that is looked at ..."""
        self._looked_at = 0
        """... and how much of it is no call for certain."""
        self._fence = ""
        """Of a block that is no call, when inside one."""
        self._is_held = False

    def take(self, chunk: StreamChunk) -> Iterator[StreamChunk]:
        """The chunks to pass on for one that came."""
        if not self._known:
            yield chunk
            return
        if chunk.text:
            self._text += chunk.text
            if text := self._free():
                yield replace(chunk, text=text, finish_reason=None)
            chunk = replace(chunk, text="")
        if chunk.finish_reason is not None:
            yield from self._finish(chunk)
        elif chunk != StreamChunk():
            yield chunk

    def rest(self) -> str:
        """What is still held back, when the answer broke off."""
        begin, self._shown = self._shown, len(self._text)
        return self._text[begin:]

    def _free(self) -> str:
        while not self._is_held:
            end = self._text.find("\n", self._line + self._looked_at)
            if end < 0 or not self._judge(self._text[self._line : end].lstrip()):
                break
            self._line, self._looked_at = end + 1, 0
        begin, self._shown = self._shown, max(self._shown, self._known_free())
        return self._text[begin : self._shown]

    def _judge(self, line: str) -> bool:
        """Look at a whole line; whether to go on with the next."""
        if self._fence:
            self._fence = "" if line.rstrip() == self._fence else self._fence
        elif _CALL_BLOCK.match(line) or line.startswith(("{", "[")) or _call_at(line, is_whole=True) >= 0:
            self._is_held = True
        elif fence := _FENCE.match(line):
            self._fence = fence[0]
        return not self._is_held

    def _known_free(self) -> int:
        """Up to where the text is no call for certain."""
        last = self._text[self._line :]
        begin = last.lstrip()
        if self._fence:
            return len(self._text)
        if self._is_held or not begin or begin.startswith(_OPENINGS):
            return self._line
        at = _call_at(last, is_whole=False, start=self._looked_at)
        self._looked_at = len(last) if at < 0 else at
        return self._line + self._looked_at

    def _finish(self, chunk: StreamChunk) -> Iterator[StreamChunk]:
        calls: tuple[WireToolCall, ...] = ()
        rest = self._text[self._shown :]
        if not chunk.tool_calls and chunk.finish_reason in {"stop", "tool_calls"}:
            calls, kept = calls_in_text(self._text, self._known)
            if calls:
                rest = _behind(self._text[: self._shown].lstrip(), kept)
        if rest:
            yield StreamChunk(text=rest)
        if calls:
            chunk = replace(chunk, tool_calls=calls, finish_reason="tool_calls")
        yield chunk


def _behind(shown: str, kept: str) -> str:
    """What is left to show of the text around the calls; its blanks are other ones than were shown."""
    seen = shown.rstrip()
    rest = kept[len(seen) :] if kept.startswith(seen) else kept[len(shown) :]
    if shown == seen:
        return rest
    text = rest.lstrip()
    lines = rest[: len(rest) - len(text)].count("\n") - shown[len(seen) :].count("\n")
    return "\n" * lines + text if text else ""


def _call_at(line: str, *, is_whole: bool, start: int = 0) -> int:
    """Where in a line (or in what has come of it), from `start` on, a call may begin; -1 when it can't."""
    for found in _MARK_BEGIN.finditer(line, start):
        at = found.start()
        if found[0] in ":：>":
            after = _BLANKS.match(line, at + 1)
            end = after.end() if after else at + 1
            if line.startswith(("{", "["), end) or (end == len(line) and not is_whole):
                return at
        elif any(mark.startswith(line[at : at + len(mark)]) for mark in _MARKS):
            return at
    return -1
