"""Calls in the forms that models were trained on and that leak into their text when a server's parser fails.

GLM's and Qwen's XML, tags named as the tool, ReAct's Action, DeepSeek's marks, a call as in a program. Each
names a known tool in a form nobody writes for a person, so it counts whatever stands around it.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Collection, Iterator
from itertools import islice
from typing import Any, NamedTuple

from domain.llm.agent_limits import MOST_CALLS_OF_ANSWER
from shared.late_patterns import late_pattern

_GLM = late_pattern(r"<tool_call>\s*+(?P<name>[\w.-]{1,60})\s*+(?=<arg_key>|</tool_call>)")
_GLM_KEY, _GLM_VALUE = late_pattern(r"<arg_key>"), late_pattern(r"\s*+<arg_value>")
_QWEN = late_pattern(r"(?:<tool_call>\s*+)?<function=(?P<name>[\w.-]{1,60})>")
_QWEN_ARGUMENT = late_pattern(r"<parameter=(?P<name>[\w.-]{1,60})>")
_TAGGED_ARGUMENT = late_pattern(r"<(?P<name>[a-z_]{1,40})>")
_REACT = late_pattern(
    r"^[ \t]*Action:[ \t]*(?P<name>[\w.-]{1,60})[ \t]*\n"
    r"[ \t]*Action Input:\s*(?:`{3}(?:json)?\s*)?(?P<body>\{.*\})",
    re.DOTALL | re.MULTILINE,
)
_DEEPSEEK = late_pattern(
    r"<｜tool▁call▁begin｜>(?:function<｜tool▁sep｜>)?(?P<name>[\w.-]{1,60})(?:<｜tool▁sep｜>)?"
    r"\s*+(?:```json)?\s*+(?=\{)"
)
_INVOKE = late_pattern(r"(?:<function_calls>\s*+)?<invoke name=\"(?P<name>[\w.-]{1,60})\">")
_INVOKE_ARGUMENT = late_pattern(r"<parameter name=\"(?P<name>[\w.-]{1,60})\"[^>]{0,40}>")
_CHANNEL = late_pattern(
    r"(?:<\|tool_calls_section_begin\|>\s*+)?(?:<\|tool_call_begin\|>\s*+|<\|channel\|>\w*+\s*+|to=)?"
    r"functions\.(?P<name>[\w-]{1,60})(?::\d+)?\s*+(?:<\|[^{}\n]{0,60}\|>)?\s*+(?P<body>\{)"
)
_AS_PROGRAM = late_pattern(
    r"^[ \t]*(?:print\(|\[)?(?P<name>[a-z_]{3,40})\((?P<body>[^\n]{0,2000})\)\]?[ \t]*$", re.MULTILINE
)
_MARKS = late_pattern(
    r"</?tool_call>|<\|tool_calls?_(?:section_)?(?:begin|end)\|>|<｜tool▁calls▁(?:begin|end)｜>"
)
_BLANK = late_pattern(r"\s*+")
_LONGEST = 200_000
_MOST_CALLS = MOST_CALLS_OF_ANSWER + 1
"""One more than counts: whoever asks sees that there are too many."""
_MOST_TAGS = 100
"""Tags of a call that are looked at: few tools have ten arguments."""


class WrittenCall(NamedTuple):
    """A call found in a text."""

    name: str
    arguments: str
    """JSON, or what stands in its place."""
    start: int
    end: int


def written_calls(text: str, known: Collection[str]) -> tuple[WrittenCall, ...]:
    """The calls of known tools in these forms, in order; of too many the first."""
    if len(text) > _LONGEST:
        return ()
    for find in (_glm, _qwen, _invoke, _deepseek, _channel, _tagged, _react, _program):
        calls = (call for call in find(text, known) if call.name in known)
        found = tuple(islice(calls, _MOST_CALLS))
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


def _enclosed(
    text: str, begin: re.Pattern[str], end: str, also: str = ""
) -> Iterator[tuple[re.Match[str], str, int]]:
    """What stands between `begin` and the next `end`, and where that is over, `also` behind it included.

    A tag that is never closed is looked for once, not again from each that opens.
    """
    at = 0
    while (opening := begin.search(text, at)) is not None:
        close = text.find(end, opening.end())
        if close < 0:
            return
        at = close + len(end)
        if also and (rest := _BLANK.match(text, at)) is not None and text.startswith(also, rest.end()):
            at = rest.end() + len(also)
        yield opening, text[opening.end() : close], at


def _arguments(body: str, begin: re.Pattern[str], end: str) -> dict[str, Any]:
    """Named tags of a call with their values."""
    found = islice(_enclosed(body, begin, end), _MOST_TAGS)
    return {tag["name"]: _value(_inner(value)) for tag, value, _ in found}


def _inner(value: str) -> str:
    """Without the line ends that a tag puts around it."""
    return value.removeprefix("\n").removesuffix("\n")


def _made(name: str, arguments: dict[str, Any], start: int, end: int) -> WrittenCall:
    return WrittenCall(name, json.dumps(arguments, ensure_ascii=False), start, end)


def _glm(text: str, _known: Collection[str]) -> Iterator[WrittenCall]:
    for opening, body, end in _enclosed(text, _GLM, "</tool_call>"):
        pairs: dict[str, Any] = {}
        for _, key, at in islice(_enclosed(body, _GLM_KEY, "</arg_key>"), _MOST_TAGS):
            value = _GLM_VALUE.match(body, at)
            close = body.find("</arg_value>", at)
            if value is not None and close >= value.end():
                pairs[key.strip()] = _value(body[value.end() : close])
        yield _made(opening["name"], pairs, opening.start(), end)


def _qwen(text: str, _known: Collection[str]) -> Iterator[WrittenCall]:
    for opening, body, end in _enclosed(text, _QWEN, "</function>", "</tool_call>"):
        pairs = _arguments(body, _QWEN_ARGUMENT, "</parameter>")
        yield _made(opening["name"], pairs, opening.start(), end)


def _invoke(text: str, _known: Collection[str]) -> Iterator[WrittenCall]:
    for opening, body, end in _enclosed(text, _INVOKE, "</invoke>", "</function_calls>"):
        pairs = _arguments(body, _INVOKE_ARGUMENT, "</parameter>")
        yield _made(opening["name"], pairs, opening.start(), end)


def _channel(text: str, known: Collection[str]) -> Iterator[WrittenCall]:
    """``functions.read_file:0{...}``, with or without the marks of Kimi or of OpenAI's open models."""
    for found in _CHANNEL.finditer(text):
        if found["name"] not in known:
            continue
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
    for opening, body, end in _enclosed(text, _DEEPSEEK, "<｜tool▁call▁end｜>"):
        given = body.strip().removesuffix("```").rstrip()
        if given.endswith("}"):
            yield WrittenCall(opening["name"], given, opening.start(), end)


def _tagged(text: str, known: Collection[str]) -> Iterator[WrittenCall]:
    names = "|".join(re.escape(name) for name in known if f"<{name}>" in text and f"</{name}>" in text)
    at = 0
    while names and (opening := re.compile(f"<(?P<name>{names})>").search(text, at)) is not None:
        end = f"</{opening['name']}>"
        close = text.find(end, opening.end())
        at = opening.end() if close < 0 else close + len(end)
        body = text[opening.end() : max(close, 0)]
        pairs = _tagged_arguments(body)
        if close >= 0 and (pairs or not body.strip()):
            yield _made(opening["name"], pairs, opening.start(), at)


def _tagged_arguments(body: str) -> dict[str, Any]:
    pairs: dict[str, Any] = {}
    at = 0
    for _ in range(_MOST_TAGS):
        if (tag := _TAGGED_ARGUMENT.search(body, at)) is None:
            break
        end = f"</{tag['name']}>"
        close = body.find(end, tag.end())
        at = tag.end() if close < 0 else close + len(end)
        if close >= 0:
            pairs[tag["name"]] = _value(_inner(body[tag.end() : close]))
    return pairs


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
            yield _made(found["name"], pairs, found.start(), found.end())
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            continue
