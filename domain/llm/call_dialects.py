"""Calls in the forms that models were trained on and that leak into their text when a server's parser fails.

GLM's and Qwen's XML, tags named as the tool, ReAct's Action, DeepSeek's marks, a call as in a program. Each
names a known tool in a form nobody writes for a person, so it counts whatever stands around it.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

from shared.late_patterns import late_pattern

_GLM = late_pattern(
    r"<tool_call>\s*(?P<name>[\w.-]{1,60})\s*(?P<body>(?:<arg_key>.*?)?)</tool_call>", re.DOTALL
)
_GLM_ARGUMENT = late_pattern(r"<arg_key>(.*?)</arg_key>\s*<arg_value>(.*?)</arg_value>", re.DOTALL)
_QWEN = late_pattern(
    r"(?:<tool_call>\s*)?<function=(?P<name>[\w.-]{1,60})>(?P<body>.*?)</function>(?:\s*</tool_call>)?",
    re.DOTALL,
)
_QWEN_ARGUMENT = late_pattern(r"<parameter=([\w.-]{1,60})>\n?(.*?)\n?</parameter>", re.DOTALL)
_TAGGED_ARGUMENT = late_pattern(r"<(?P<key>[a-z_]{1,40})>\n?(?P<value>.*?)\n?</(?P=key)>", re.DOTALL)
_REACT = late_pattern(
    r"^[ \t]*Action:[ \t]*(?P<name>[\w.-]{1,60})[ \t]*\n"
    r"[ \t]*Action Input:\s*(?:`{3}(?:json)?\s*)?(?P<body>\{.*\})",
    re.DOTALL | re.MULTILINE,
)
_DEEPSEEK = late_pattern(
    r"<｜tool▁call▁begin｜>(?:function<｜tool▁sep｜>)?(?P<name>[\w.-]{1,60})(?:<｜tool▁sep｜>)?\s*(?:```json)?\s*"
    r"(?P<body>\{.*?\})\s*(?:```)?\s*<｜tool▁call▁end｜>",
    re.DOTALL,
)
_INVOKE = late_pattern(
    r"(?:<function_calls>\s*)?<invoke name=\"(?P<name>[\w.-]{1,60})\">(?P<body>.*?)</invoke>"
    r"(?:\s*</function_calls>)?",
    re.DOTALL,
)
_INVOKE_ARGUMENT = late_pattern(
    r"<parameter name=\"([\w.-]{1,60})\"[^>]{0,40}>\n?(.*?)\n?</parameter>", re.DOTALL
)
_CHANNEL = late_pattern(
    r"(?:<\|tool_calls_section_begin\|>\s*)?(?:<\|tool_call_begin\|>\s*|<\|channel\|>\w*\s*|to=)?"
    r"functions\.(?P<name>[\w-]{1,60})(?::\d+)?\s*(?:<\|[^{}\n]{0,60}\|>)?\s*(?P<body>\{)"
)
_AS_PROGRAM = late_pattern(
    r"^[ \t]*(?:print\(|\[)?(?P<name>[a-z_]{3,40})\((?P<body>[^\n]{0,2000})\)\]?[ \t]*$", re.MULTILINE
)
_MARKS = late_pattern(
    r"</?tool_call>|<\|tool_calls?_(?:section_)?(?:begin|end)\|>|<｜tool▁calls▁(?:begin|end)｜>"
)
_LONGEST = 200_000


class WrittenCall(NamedTuple):
    """A call found in a text."""

    name: str
    arguments: str
    """JSON, or what stands in its place."""
    start: int
    end: int


def written_calls(text: str, known: Collection[str]) -> tuple[WrittenCall, ...]:
    """The calls of known tools in these forms, in order."""
    if len(text) > _LONGEST:
        return ()
    for find in (_glm, _qwen, _invoke, _deepseek, _channel, _tagged, _react, _program):
        found = tuple(call for call in find(text, known) if call.name in known)
        if found:
            return found
    return ()


def without_calls(text: str, calls: Collection[WrittenCall]) -> str:
    """The text around the calls."""
    kept, at = [], 0
    for call in calls:
        kept.append(text[at : call.start])
        at = call.end
    return _MARKS.sub("", "".join([*kept, text[at:]])).strip()


def _value(text: str) -> Any:
    """A value as JSON where it is an object, list or number of it; else the text."""
    bare = text.strip()
    if bare[:1] in ("{", "[") or bare in ("true", "false", "null"):
        try:
            return json.loads(bare)
        except (ValueError, RecursionError):
            return text
    return text


def _call(found: re.Match[str], name: str, arguments: dict[str, Any]) -> WrittenCall:
    return WrittenCall(name, json.dumps(arguments, ensure_ascii=False), found.start(), found.end())


def _glm(text: str, _known: Collection[str]) -> Iterator[WrittenCall]:
    for found in _GLM.finditer(text):
        pairs = {key.strip(): _value(value) for key, value in _GLM_ARGUMENT.findall(found["body"])}
        yield _call(found, found["name"], pairs)


def _qwen(text: str, _known: Collection[str]) -> Iterator[WrittenCall]:
    for found in _QWEN.finditer(text):
        pairs = {key: _value(value) for key, value in _QWEN_ARGUMENT.findall(found["body"])}
        yield _call(found, found["name"], pairs)


def _invoke(text: str, _known: Collection[str]) -> Iterator[WrittenCall]:
    for found in _INVOKE.finditer(text):
        pairs = {key: _value(value) for key, value in _INVOKE_ARGUMENT.findall(found["body"])}
        yield _call(found, found["name"], pairs)


def _channel(text: str, _known: Collection[str]) -> Iterator[WrittenCall]:
    """``functions.read_file:0{...}``, with or without the marks of Kimi or of OpenAI's open models."""
    for found in _CHANNEL.finditer(text):
        at = found.start("body")
        end = _object_end(text, at)
        yield WrittenCall(found["name"], text[at:end], found.start(), end)


def _object_end(text: str, at: int) -> int:
    """Where the JSON value that begins at a place ends; the end of the text when it doesn't."""
    try:
        return json.JSONDecoder().raw_decode(text, at)[1]
    except (ValueError, RecursionError):
        return len(text)


def _deepseek(text: str, _known: Collection[str]) -> Iterator[WrittenCall]:
    for found in _DEEPSEEK.finditer(text):
        yield WrittenCall(found["name"], found["body"], found.start(), found.end())


def _tagged(text: str, known: Collection[str]) -> Iterator[WrittenCall]:
    names = "|".join(re.escape(name) for name in known if f"<{name}>" in text)
    if not names:
        return
    for found in re.finditer(rf"<(?P<name>{names})>(?P<body>.*?)</(?P=name)>", text, re.DOTALL):
        pairs = {each["key"]: _value(each["value"]) for each in _TAGGED_ARGUMENT.finditer(found["body"])}
        if pairs or not found["body"].strip():
            yield _call(found, found["name"], pairs)


def _react(text: str, _known: Collection[str]) -> Iterator[WrittenCall]:
    found = _REACT.search(text)
    if found is None:
        return
    at = found.start("body")
    end = _object_end(text, at)
    yield WrittenCall(found["name"], text[at:end], found.start(), end)


def _program(text: str, known: Collection[str]) -> Iterator[WrittenCall]:
    """``read_file(path="amp.cir")`` on a line of its own, with literals as arguments."""
    for found in _AS_PROGRAM.finditer(text):
        if found["name"] not in known:
            continue
        body = found["body"].removesuffix(")") if found[0].lstrip().startswith("print(") else found["body"]
        try:
            tree = ast.parse(f"f({body})", mode="eval").body
            if not isinstance(tree, ast.Call) or tree.args:
                continue
            pairs = {each.arg: ast.literal_eval(each.value) for each in tree.keywords if each.arg}
            if len(pairs) < len(tree.keywords):  # f(**{...})
                continue
            yield _call(found, found["name"], pairs)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            continue
