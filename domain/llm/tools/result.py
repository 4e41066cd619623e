"""What a tool answers: to the model, to the user and to scripts."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from domain.llm.chat import RESULT_LIMIT, RESULT_TOKENS
from domain.llm.tokens import count_tokens
from shared.errors import CircuitAIError, EnvironmentProblem
from shared.message import Message

EffectClass = Literal["read", "create", "change", "delete", "simulate", "outside"]
"""The worst a tool can do; read tools may run at the same time, changing ones one after the other."""
ToolGroup = Literal["move", "study", "single_run", "goals", "verdict"]
"""move: a file gets another place; study: many runs of a circuit; single_run:
one run, whose result says which netlist it had and what was measured; goals: what is asked of a circuit
is changed; verdict: it is measured."""

_SHORT_TEXT = 200
_LONGEST_S = 366 * 86400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A call as accepted from a model (or the command line), under our own id."""

    call_id: str
    """Our own ULID: the key of its operation, its result and its place in the transcript."""
    name: str
    arguments: Mapping[str, object]
    provider_id: str = ""
    problem: str = ""
    """Why the arguments could not be read (English, for the model); "" when they could."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """The outcome of one call. A failure is a result for the model, never an exception."""

    success: bool
    content: str
    """What the model reads: plain English text or compact JSON, within `RESULT_LIMIT` and `RESULT_TOKENS`."""
    summary: Message
    """One line for the user: "Changed amp.cir (+3, -1 lines)."."""
    error_type: str = ""
    """Stable word: search_not_found, outside_project, bad_arguments, unknown_tool ..."""
    error_message: Message | None = None
    suggestions: tuple[Message, ...] = ()
    result: Mapping[str, Any] = field(default_factory=dict)
    """Structured, plain JSON types; what `content` is made from."""
    seen_versions: Mapping[str, str] = field(default_factory=dict)
    """Relative path -> version hash of the files whose content the model has now seen or written.

    The stale-read guard compares against it; it is kept in the transcript.
    """
    is_environment: bool = False
    """It failed because of something outside the program (ngspice missing): other arguments won't help."""


def result_path_in(result: object, name: str = "result_path") -> str:
    """Where a simulation's result is, in what is kept of a call's result (a stranger's too); "" of others.

    With `name` "file_path": which file the call was about.
    """
    path = result.get(name) if isinstance(result, Mapping) else None
    return path if isinstance(path, str) else ""


def duration_in(result: object) -> float | None:
    """How long a simulation ran, in seconds, in what is kept of a call's result (a stranger's too)."""
    said = result.get("duration_s") if isinstance(result, Mapping) else None
    if isinstance(said, bool) or not isinstance(said, int | float):
        return None
    return float(said) if 0 <= said < _LONGEST_S else None


def failure(
    error_type: str,
    message: Message,
    *,
    suggestions: tuple[Message, ...] = (),
    detail: str = "",
    result: Mapping[str, Any] | None = None,
    is_environment: bool = False,
    told: Message | None = None,
) -> ToolResult:
    """A failed call; `detail` is more for the model: the nearest text, the lines that match.

    `told` is what its user reads, where `message` speaks of that user or names the tool.
    """
    said = [f"Error ({error_type}): {message}", detail, *map(str, suggestions)]
    return ToolResult(
        success=False,
        content="\n".join(part for part in said if part),
        summary=told or message,
        error_type=error_type,
        error_message=message,
        suggestions=suggestions,
        result=result or {},
        is_environment=is_environment,
    )


def failure_of(error: CircuitAIError) -> ToolResult:
    """The failed call an error of a use case makes."""
    place: dict[str, Any] = {} if error.line is None else {"line": error.line}
    return failure(
        error.error_type,
        error.message,
        suggestions=() if error.advice is None else (error.advice,),
        detail="" if error.line is None else f"(line {error.line})",
        result=place,
        is_environment=isinstance(error, EnvironmentProblem),
    )


def cut_middle(text: str, limit: int = RESULT_LIMIT, tokens: int = RESULT_TOKENS) -> str:
    """`text` within `limit` characters and `tokens`: head (2/3) and tail, with a mark where it was cut."""
    shortened = _cut_to(text, limit)
    if len(shortened) <= tokens or count_tokens(shortened) <= tokens:  # no token is shorter than a character
        return shortened
    low, high = 0, min(limit, len(text))  # a text of any script: the most characters that still fit
    while low < high:
        middle = (low + high + 1) // 2
        if count_tokens(_cut_to(text, middle)) <= tokens:
            low = middle
        else:
            high = middle - 1
    return _cut_to(text, low)


def _cut_to(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    mark = f"\n... ({len(text) - limit} characters left out) ...\n"
    room = max(limit - len(mark), 0)
    head = room * 2 // 3
    tail = room - head
    return text[:head] + mark + (text[-tail:] if tail else "")


def fitted(plain: dict[str, Any], tokens: int = RESULT_TOKENS) -> dict[str, Any]:
    """A structured result within `tokens` as JSON: the longest lists, objects and texts are halved.

    ``"shortened"`` then names the keys of which something is missing; of a list its beginning stays.
    """
    shortened: set[str] = set()
    while count_tokens(json.dumps(plain, ensure_ascii=False)) > tokens:
        longest = max(_halvable(plain, ()), default=None, key=lambda item: item[0])
        if longest is None:
            return {"shortened": ["everything"]}
        _, place, half = longest
        plain = _with(plain, place, half)
        shortened.add(str(place[0]))
        plain["shortened"] = sorted(shortened)
    return plain


_Place = tuple[str | int, ...]


def _halvable(value: Any, place: _Place) -> Iterator[tuple[int, _Place, Any]]:
    """(length as JSON, where, its half) of what could be shorter; the whole result itself is never halved."""
    if place == ("shortened",):
        return
    if isinstance(value, str) and len(value) > _SHORT_TEXT:
        yield len(value), place, _cut_to(value, len(value) // 2)
    elif isinstance(value, list | dict):
        items = list(value.items() if isinstance(value, dict) else enumerate(value))
        if place and len(items) > 1:
            half = items[: len(items) // 2]
            shorter = dict(half) if isinstance(value, dict) else [item for _, item in half]
            yield len(json.dumps(value, ensure_ascii=False)), place, shorter
        for key, item in items:
            yield from _halvable(item, (*place, key))


def _with(value: Any, place: _Place, new: Any) -> Any:
    if not place:
        return new
    key, rest = place[0], place[1:]
    copy: Any = dict(value) if isinstance(value, dict) else list(value)
    copy[key] = _with(value[key], rest, new)
    return copy


def result_to_plain(result: ToolResult) -> dict[str, Any]:
    """A result as plain JSON types, messages as template and parameters; NaN and infinity become None."""
    return {
        "success": result.success,
        "content": result.content,
        "summary": _plain_message(result.summary),
        "error_type": result.error_type,
        "error_message": None if result.error_message is None else _plain_message(result.error_message),
        "suggestions": [_plain_message(item) for item in result.suggestions],
        "result": _plain(result.result),
        "seen_versions": dict(result.seen_versions),
        "is_environment": result.is_environment,
    }


def result_from_plain(plain: Mapping[str, Any]) -> ToolResult:
    error_message = plain.get("error_message")
    return ToolResult(
        success=plain["success"],
        content=plain["content"],
        summary=_message(plain["summary"]),
        error_type=plain.get("error_type", ""),
        error_message=None if error_message is None else _message(error_message),
        suggestions=tuple(_message(item) for item in plain.get("suggestions", ())),
        result=plain.get("result", {}),
        seen_versions=plain.get("seen_versions", {}),
        is_environment=plain.get("is_environment", False),
    )


def plain_result(result: ToolResult) -> dict[str, Any]:
    """`ToolResult.result` in plain JSON types."""
    plain: dict[str, Any] = _plain(result.result)
    return plain


def _plain_message(message: Message) -> dict[str, Any]:
    return {"template": message.template, "params": _plain(message.params)}


def _message(plain: Mapping[str, Any]) -> Message:
    params = {key: _message(value) if _is_message(value) else value for key, value in plain["params"].items()}
    return Message(plain["template"], params)


def _is_message(value: object) -> bool:
    return isinstance(value, Mapping) and value.keys() == {"template", "params"}


def _plain(value: object) -> Any:
    match value:
        case float():
            return value if math.isfinite(value) else None
        case None | bool() | int() | str():
            return value
        case Message():
            return _plain_message(value)
        case Mapping():
            return {str(key): _plain(item) for key, item in value.items()}
        case list() | tuple():
            return [_plain(item) for item in value]
        case _:
            return str(value)
