"""From what a model answered to calls that can be run: own ids, read arguments, calls hidden in text.

Nothing here raises for what a model wrote: what cannot be read becomes a `problem`, an English text
for the model that says what is wrong, where, and that the call has to be sent again.

Read as well are the forms that models were trained on and that leak into their text when a server's parser
fails: GLM's and Qwen's XML, tags named as the tool, ReAct's Action, DeepSeek's marks, a call as in a program.
Each names a known tool in a form nobody writes for a person, so it counts whatever stands around it.
"""

from __future__ import annotations

import ast
import json
import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from domain.llm.agent_limits import MOST_CALLS_OF_ANSWER
from domain.llm.chat import WireToolCall
from domain.llm.json_repair import Problem, end_of_value, parse_arguments, read_json
from shared.late_patterns import late_pattern

if TYPE_CHECKING:
    from langchain_core.messages import AIMessageChunk

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
_OBSERVATION = late_pattern(r"\s*(?:`{3}\s*)?Observation:")
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
    end = end_of_value(text, at)
    return len(text) if end is None else end


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
    made_up = _OBSERVATION.match(text, end)  # with what the model goes on to say as if it had seen it
    yield WrittenCall(found["name"], text[at:end], found.start(), len(text) if made_up else end)


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


_LEAD_IN_LIMIT = 200
"""Characters of a line that may stand before a call written as text."""
_LEAD_IN_SENTENCES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedCall:
    """A call under our own id."""

    call_id: str
    provider_id: str
    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """Empty when there is a problem."""
    problem: str = ""
    """Why it cannot be run, for the model; "" when it can."""
    text: str = ""
    """The arguments as sent."""


def accept_calls(wire_calls: Iterable[WireToolCall], new_id: Callable[[], str]) -> list[AcceptedCall]:
    """Each call of an answer under an id of our own, in order; the provider's may repeat or be empty."""
    return [_accept(call, new_id()) for call in wire_calls]


def _accept(call: WireToolCall, call_id: str) -> AcceptedCall:
    arguments = parse_arguments(call.arguments)
    problem = arguments.text if isinstance(arguments, Problem) else ""
    if not call.name.strip():
        problem = "The call names no tool. Send it again with the name of one of the tools."
    return AcceptedCall(
        call_id=call_id,
        provider_id=call.provider_id,
        name=call.name.strip(),
        arguments={} if problem or isinstance(arguments, Problem) else arguments,
        problem=problem,
        text=call.arguments,
    )


def wire_calls_of(message: AIMessageChunk) -> tuple[WireToolCall, ...]:
    """The calls of a streamed answer with their arguments exactly as sent.

    LangChain's `tool_calls` of the same message are a guess: it completes truncated JSON.
    """
    return tuple(
        WireToolCall(provider_id=chunk["id"] or "", name=chunk["name"] or "", arguments=chunk["args"] or "")
        for chunk in message.tool_call_chunks
    )


# --- calls written as text --------------------------------------------------------------------------

_THINKING = re.compile(r"\s*<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL)
_BLOCK_BEGIN = re.compile(
    r"(?:^|(?<=\n))[ \t]*+(?P<fence>`{3,}+|~{3,}+)[ \t]*+(?P<language>[\w-]*+)[ \t]*+\r?\n"
    r"|<(?P<tag>tool_call|function_call|tool_use|tools)>"
)
_BARE = re.compile(r"(?:^|[:：])[ \t]*(?=[{\[])", re.MULTILINE)
_CALL_LANGUAGES = frozenset(
    {"", "json", "json5", "tool_call", "tool_calls", "tool", "tool_code", "function_call"}
)
_EXPLICIT = frozenset({"tool_call", "tool_calls", "function_call"})
_BARE_MARKS = ("[TOOL_CALLS]", "<|python_tag|>", "<tool_call>")
_EXAMPLE = re.compile(
    r"example|\be\.g\.|for instance|looks? like|例如|比如|譬如|示例|例子|举例|样例|形如|格式[如为是]",
    re.IGNORECASE,
)
"""What follows is shown, not meant."""
_HYPOTHETICAL = re.compile(
    r"would|could|might|such as|\bformat|syntax|don't|do not|\bways?\b|\boptions?\b"
    r"|格式|可以这样|如下所示|不要|不会|两种|方案",
    re.IGNORECASE,
)
"""What follows may be shown only; decides where nothing marks it as a call."""
_OURS = re.compile(r"\b(?:I|we|let me|let['’]s|wait(?:ing)?)\b|我|等待|稍等|接下来", re.IGNORECASE)
"""Words of who makes the call, not of who explains one."""
_SENTENCE_END = re.compile(r"[.!?](?=\s)|[。！？]")
_NAME_KEYS = ("tool", "name", "function", "tool_name", "function_name", "action")
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "input", "action_input")
_BEGINS_AS_CALL = re.compile(
    r"""\s*\{\s*["'](?:tool|name|function)["']\s*:\s*["'][\w.]+["']\s*,"""
    r"""\s*["'](?:arguments|parameters|args)["']\s*:\s*[{"]"""
)
"""Nobody writes this for a person to read: a call, whatever is wrong with the rest of it."""
_NAME_OF_TOOL = re.compile(r"[\w.-]{1,60}", re.ASCII)
_BETWEEN_VALUES = re.compile(r"[ \t\r\n,]*")
_SIDE_KEYS = frozenset({"type", "id", "call_id", "tool_call_id", "index"})


def calls_in_text(text: str, known_names: Collection[str]) -> tuple[tuple[WireToolCall, ...], str]:
    """Tool calls that a model wrote into its text, and the text without them.

    The rule, which keeps examples from being run: behind an optional ``<think>`` part and at most one
    short lead-in line (three sentences, `_LEAD_IN_LIMIT` characters, no word like "example", "format" or
    "would"; several lines when it speaks of what "I" do) the answer consists of calls alone - plain JSON,
    code blocks, ``<tool_call>`` tags, one or several. What stands between and behind blocks has to be such
    words of the caller, too. Every call has to name a known tool, unless it is marked as a call, and to
    have no keys but name, arguments and ids. Tags (and blocks marked ``tool_call``) are meant as calls: they
    may follow any text but a line that announces an example. One of them whose JSON is broken still counts
    when its name can be read, so that the model is told; so does plain JSON that begins with a known
    tool's name and its arguments. Otherwise: no calls, and the text as it was.
    """
    thinking = _THINKING.match(text)
    start = thinking.end() if thinking else 0
    if written := written_calls(text[start:], known_names):
        if len(written) > MOST_CALLS_OF_ANSWER or _EXAMPLE.search(text[start : start + written[0].start]):
            return (), text
        calls_written = tuple(
            WireToolCall(provider_id="", name=call.name, arguments=call.arguments) for call in written
        )
        return calls_written, f"{text[:start]}{without_calls(text[start:], written)}".strip()
    lead_in, pieces, is_explicit, others = _split(text, start)
    if not pieces or not _may_lead_in(lead_in, is_explicit=is_explicit):
        return (), text
    is_clear = "`" not in text and all(map(_BEGINS_AS_CALL.match, pieces))
    if not all(_may_stand_beside(other, is_explicit=is_explicit, is_clear=is_clear) for other in others):
        return (), text
    calls: list[WireToolCall] = []
    for piece in pieces:
        is_meant = is_explicit or ("`" not in lead_in and bool(_BEGINS_AS_CALL.match(piece)))
        found = _calls_in_piece(piece, known_names, is_meant=is_meant) or (
            _of_unknown_tool(piece) if is_explicit else []
        )
        calls += found
        if not found or len(calls) > MOST_CALLS_OF_ANSWER:
            return (), text
    return tuple(calls), "\n\n".join([(text[:start] + lead_in).strip(), *others]).strip()


def _split(text: str, start: int) -> tuple[str, list[str], bool, list[str]]:
    """Lead-in, the pieces that may be calls, whether they are marked so, the text between and behind them."""
    blocks = list(closed_blocks(text, _BLOCK_BEGIN, start))
    while blocks and not _is_call_block(blocks[0]):
        blocks.pop(0)  # a netlist in a block of its own, shown before the call
    if not blocks:
        return _split_bare(text, start)
    begin = end = blocks[0].begin.start()
    others = []
    for block in blocks:
        if not _is_call_block(block):
            return "", [], False, []
        others.append(text[end : block.begin.start()].strip())
        end = block.end
    others.append(text[end:].strip())
    pieces = [block.content for block in blocks]
    is_explicit = all(block.begin["tag"] or block.begin["language"].lower() in _EXPLICIT for block in blocks)
    return text[start:begin], pieces, is_explicit, [other for other in others if other]


def _is_call_block(block: ClosedBlock) -> bool:
    return block.begin["tag"] is not None or block.begin["language"].lower() in _CALL_LANGUAGES


def _split_bare(text: str, start: int) -> tuple[str, list[str], bool, list[str]]:
    """JSON without any mark begins a line (or follows a colon) and reaches to the end of the text.

    Behind one that nobody writes to be read (`_BEGINS_AS_CALL`) there may be words.
    """
    for mark in _BARE_MARKS:
        before, found, rest = text[start:].partition(mark)
        if found:
            return before, [rest], True, []
    opening = _BARE.search(text[start:])
    if opening is None:
        return "", [], False, []
    lead_in, piece = text[start : start + opening.end()], text[start + opening.end() :]
    if (
        _BEGINS_AS_CALL.match(piece)
        and (end := _end_of_first(piece))
        and (behind := piece[end:].strip(" \n\t,"))
    ):
        return lead_in, [piece[:end]], False, [behind]
    return lead_in, [piece], False, []


def _end_of_first(text: str) -> int:
    """Where the JSON values end that a text begins with; 0 where it begins with none."""
    end, decoder = 0, json.JSONDecoder()
    while (opening := _BETWEEN_VALUES.match(text, end)) is not None and text[opening.end() :][:1] in {
        "{",
        "[",
    }:
        try:
            _, end = decoder.raw_decode(text, opening.end())
        except (ValueError, RecursionError):
            break
    return end


def _may_lead_in(lead_in: str, *, is_explicit: bool) -> bool:
    lead_in = lead_in.strip()
    if is_explicit:
        return not lead_in.endswith("`") and not _EXAMPLE.search(lead_in.rpartition("\n")[2])
    sentences = len(_SENTENCE_END.findall(lead_in + " "))
    return (
        len(lead_in) <= _LEAD_IN_LIMIT
        and ("\n" not in lead_in or _OURS.search(lead_in) is not None)
        and sentences <= _LEAD_IN_SENTENCES
        and not _EXAMPLE.search(lead_in)
        and not _HYPOTHETICAL.search(lead_in)
    )


def _may_stand_beside(text: str, *, is_explicit: bool, is_clear: bool) -> bool:
    """Whether a text between or behind calls is of their caller; `is_clear`: nobody shows such calls."""
    if is_explicit:
        return not _EXAMPLE.search(text)
    if is_clear:
        return _may_lead_in(text.replace("\n", " "), is_explicit=False)
    return _OURS.search(text) is not None and _may_lead_in(text, is_explicit=False)


def unrun_call(text: str, known: Collection[str]) -> str:
    """The tool that an answer shows a call of, outside of an example; "" for none."""
    for found in _CALL_SHAPED.finditer(text):
        name = next(filter(None, found.groups()), "").removeprefix("functions.")
        before = text[max(0, found.start() - _LEAD_IN_LIMIT) : found.start()]
        if name in known and "`" not in before.rpartition("\n")[2] and not _EXAMPLE.search(before):
            return name
    return ""


_CALL_SHAPED = re.compile(
    r"""["'](?:tool|name|function|tool_name|action)["']\s*:\s*["']([\w.]{1,60})["']"""
    r"""|<(?:function=|invoke name="|)([a-z_]{3,40})"?>|^[ \t]*([a-z_]{3,40})\([^\n]*\)[ \t]*$""",
    re.MULTILINE,
)


def _calls_in_piece(text: str, known: Collection[str], *, is_meant: bool) -> list[WireToolCall]:
    value = read_json(text)
    if isinstance(value, Problem):
        value = _one_after_the_other(text)
    if value is None:
        return _broken_call(text, known) if is_meant else []
    if isinstance(value, dict) and set(value) == {"tool_calls"}:
        value = value["tool_calls"]
    entries = value if isinstance(value, list) else [value]
    calls = [_call_of(entry, known) for entry in entries]
    return [call for call in calls if call is not None] if None not in calls else []


def _one_after_the_other(text: str) -> list[Any] | None:
    """Several JSON values with nothing but white space or commas between them; None for anything else."""
    decoder, values, at = json.JSONDecoder(), [], 0
    while at < len(text):
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            return None
        values.append(value)
        between = _BETWEEN_VALUES.match(text, at)
        at = between.end() if between else at
    return values or None


def _call_of(value: Any, known: Collection[str]) -> WireToolCall | None:
    """``{"tool": name, "arguments": {...}}`` in any of its spellings, or None."""
    if not isinstance(value, dict):
        return None
    value = _with_arguments(value, known)
    inner = value.get("function")
    if isinstance(inner, dict):  # OpenAI's own form
        return _call_of(inner, known) if set(value) - _SIDE_KEYS == {"function"} else None
    names = [key for key in _NAME_KEYS if key in value]
    arguments = [key for key in _ARGUMENT_KEYS if key in value]
    if len(names) != 1 or len(arguments) > 1 or set(value) - {*names, *arguments} - _SIDE_KEYS:
        return None
    name = value[names[0]]
    given = value[arguments[0]] if arguments else {}
    if not isinstance(name, str) or not isinstance(given, dict | str | None):
        return None
    name = name.removeprefix("functions.")
    if name not in known:
        return None
    text = given if isinstance(given, str) else json.dumps(given or {}, ensure_ascii=False)
    return WireToolCall(provider_id="", name=name, arguments=text)


def _with_arguments(value: dict[str, Any], known: Collection[str]) -> dict[str, Any]:
    """``{"tool": name, "path": ...}`` and ``{name: {"path": ...}}`` as the usual form."""
    if len(value) == 1 and (name := next(iter(value))) in known and isinstance(value[name], dict):
        return {"tool": name, "arguments": value[name]}
    if "tool" not in value or {*_NAME_KEYS, *_ARGUMENT_KEYS} & value.keys() - {"tool"}:
        return value
    flat = {key: item for key, item in value.items() if key != "tool" and key not in _SIDE_KEYS}
    return {"tool": value["tool"], "arguments": flat}


def _of_unknown_tool(text: str) -> list[WireToolCall]:
    """A call under a name no tool has, where it is marked as one: it is answered with the names there are."""
    value = read_json(text)
    if not isinstance(value, dict) or len(set(value) - _SIDE_KEYS) != 2:
        return []
    names = [value[key] for key in _NAME_KEYS if isinstance(value.get(key), str)]
    given = [value[key] for key in _ARGUMENT_KEYS if isinstance(value.get(key), dict)]
    if not names or not given or not _NAME_OF_TOOL.fullmatch(names[0]):
        return []
    arguments = json.dumps(given[0], ensure_ascii=False)
    return [WireToolCall(provider_id="", name=names[0], arguments=arguments)]


def _broken_call(text: str, known: Collection[str]) -> list[WireToolCall]:
    """A call whose JSON cannot be read: its text as arguments, so that their problem is fed back."""
    named = re.search(r"""["'](?:tool|name|function)["']\s*:\s*["']([\w.]+)["']""", text)
    name = named[1].removeprefix("functions.") if named else ""
    return [WireToolCall(provider_id="", name=name, arguments=text)] if name in known else []


_FENCE_END = re.compile(r"\n[ \t]*+(?P<fence>`{3,}+|~{3,}+)[ \t]*+(?=\n|\Z)")
_TAG_END = re.compile(r"</(?P<tag>\w+)>")


class ClosedBlock(NamedTuple):
    """A block and where its end is."""

    begin: re.Match[str]
    content: str
    end: int


def closed_blocks(text: str, begin: re.Pattern[str], at: int = 0) -> Iterator[ClosedBlock]:
    """The blocks from `at` on that `begin` opens: with a group "fence" (that closes them too) or "tag".

    A model that is stuck opens the same block again and again, or each with a longer fence. One expression
    for a block would look for each one's end to the end of the text; all ends are looked for once.
    """
    ends: dict[str, list[tuple[int, int]]] | None = None
    while (opening := begin.search(text, at)) is not None:
        at = opening.start() + 1
        if ends is None:
            ends = _ends(text, opening.end() - 1)
        known = ends.get(opening.groupdict().get("tag") or opening["fence"], [])
        place = bisect_left(known, (opening.end() - 1, 0))  # an empty block's end has its line feed
        if place < len(known):
            start, at = known[place]
            yield ClosedBlock(opening, text[opening.end() : start], at)


def _ends(text: str, at: int) -> dict[str, list[tuple[int, int]]]:
    """Where what closes a block begins and ends, from `at` on, by the fence or the tag's name."""
    ends: dict[str, list[tuple[int, int]]] = {}
    for pattern in (_FENCE_END, _TAG_END):
        for found in pattern.finditer(text, at):
            ends.setdefault(found[1], []).append(found.span())
    return ends
