"""LangChain messages are the only message format; what is ours lives in `additional_kwargs`.

This module is the one place that knows the keys there. It makes messages, reads and changes their
extra fields by typed functions (a change returns a copy), and turns messages into JSON objects and
back without loss. Keys in use: timestamp, attachments, reasoning_content, operations, usage, cost,
web_search_results, output_items, request, is_partial, stop_reason, provider_ids, call_problems,
finish_reason, provider, model, continuations, is_stuck, doubt, error_type, summary, result, seen_versions.
Readers never fail on a field of a wrong type (a transcript may have been edited by hand): they give its
default.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields
from datetime import UTC, datetime
from typing import Any, TypeVar
from weakref import ref

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from domain.llm.chat import Role, Usage, WebSource
from domain.llm.costs import Cost, RequestFacts, cost_in, facts_in
from domain.llm.tools.result import result_path_in
from shared.message import Message, msg, stored_message
from shared.safe_json import from_plain, join_surrogates, to_plain
from shared.ulid import new_ulid

AnyMessage = TypeVar("AnyMessage", bound=BaseMessage)

_ROLE_OF_TYPE: dict[str, Role] = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "system": "system",
    "tool": "tool",
}
_CLASS_OF_ROLE: dict[Role, type[BaseMessage]] = {
    "user": HumanMessage,
    "assistant": AIMessage,
    "system": SystemMessage,
    "tool": ToolMessage,
}


# --- making messages -------------------------------------------------------------------------------


def create_human_message(
    text: str,
    *,
    message_id: str = "",
    attachments: Sequence[Mapping[str, Any]] = (),
    timestamp: str = "",
) -> HumanMessage:
    """The user's message; `attachments` are objects with type, path, name, mime_type, size (bytes)."""
    extra = _extra(timestamp, attachments=[dict(item) for item in attachments])
    return HumanMessage(content=join_surrogates(text), id=message_id or new_ulid(), additional_kwargs=extra)


def create_program_message(text: str, *, step: str, task: str) -> HumanMessage:
    """What the program tells the model in the user's place: the `task` of the design's `step`.

    A model reads it as the user's; people are not shown it.
    """
    message = create_human_message(text)
    message.additional_kwargs["program"] = {"step": step, "task": task}
    return message


def get_program_step(message: BaseMessage) -> str:
    """The step of a design that the program wrote this message for; "" for one of the user's."""
    told = message.additional_kwargs.get("program")
    return str(told.get("step", "")) if isinstance(told, dict) else ""


def create_ai_message(
    text: str,
    *,
    message_id: str = "",
    reasoning: str = "",
    tool_calls: Sequence[Mapping[str, Any]] = (),
    usage: Usage | None = None,
    is_partial: bool = False,
    stop_reason: str = "",
    operations: Sequence[str] = (),
    timestamp: str = "",
    provider_ids: Mapping[str, str] | None = None,
    finish_reason: str = "",
    provider: str = "",
    model: str = "",
    sources: Sequence[WebSource] = (),
    output_items: Sequence[Mapping[str, Any]] = (),
    cost: Cost | None = None,
) -> AIMessage:
    """A model's answer. `tool_calls` are {"id", "name", "args"} under our own call ids.

    `provider_ids` maps our id to the one the provider sent; `stop_reason` says why a partial answer
    is partial; `output_items` are what its provider wants back as it came (`StreamChunk.output_items`);
    `cost` None: nobody looked at what it cost.
    """
    extra = _extra(
        timestamp,
        reasoning_content=join_surrogates(reasoning),
        operations=list(operations),
        usage=asdict(usage) if usage is not None else None,
        is_partial=is_partial,
        stop_reason=stop_reason,
        provider_ids=dict(provider_ids or {}),
        finish_reason=finish_reason,
        provider=provider,
        model=model,
        web_search_results=[source.to_plain() for source in sources],
        output_items=[dict(item) for item in output_items],
        cost=None if cost is None else cost.to_plain(),
    )
    return AIMessage(
        content=join_surrogates(text),
        id=message_id or new_ulid(),
        tool_calls=[_tool_call(call) for call in tool_calls],
        additional_kwargs=extra,
    )


def create_tool_message(
    content: str,
    *,
    call_id: str,
    name: str,
    message_id: str = "",
    success: bool = True,
    error_type: str = "",
    summary: Mapping[str, Any] | None = None,
    result: Mapping[str, Any] | None = None,
    seen_versions: Mapping[str, str] | None = None,
    seconds: float = 0.0,
    timestamp: str = "",
) -> ToolMessage:
    """What a tool answered to the call `call_id` (our own id).

    `summary` is the line for the user as {"template", "params"}, `result` the structured outcome in
    JSON types, `seen_versions` relative path -> version hash of what the model has now seen,
    `seconds` how long the call took.
    """
    extra = _extra(
        timestamp,
        error_type=error_type,
        summary=dict(summary or {}),
        result=dict(result) if result is not None else None,
        seen_versions=dict(seen_versions or {}),
        seconds=round(seconds, 3),
    )
    return ToolMessage(
        content=join_surrogates(content),
        tool_call_id=call_id,
        name=name,
        id=message_id or new_ulid(),
        status="success" if success else "error",
        additional_kwargs=extra,
    )


def _extra(timestamp: str, **values: Any) -> dict[str, Any]:
    """`additional_kwargs` with what is set; "", False, None and empty collections are left out."""
    kept = {key: value for key, value in values.items() if value or (key == "result" and value == {})}
    return {"timestamp": timestamp or now(), **kept}


def now() -> str:
    """The present time as messages carry it: ISO 8601, UTC, milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


# --- kinds -----------------------------------------------------------------------------------------


def get_role(message: BaseMessage) -> Role:
    """Who speaks. Raises ValueError for a kind of message we do not use."""
    for role, kind in _CLASS_OF_ROLE.items():
        if isinstance(message, kind):
            return role
    raise ValueError(f"a message of type {message.type!r} has no role here")


# --- reading ---------------------------------------------------------------------------------------


def get_text(message: BaseMessage) -> str:
    """The message's text; of a content in parts, its text parts joined."""
    if isinstance(message.content, str):
        return message.content
    return "".join(_text_of_part(part) for part in message.content)


def _text_of_part(part: str | dict[Any, Any]) -> str:
    if isinstance(part, str):
        return part
    text = part.get("text")
    return text if part.get("type", "text") == "text" and isinstance(text, str) else ""


def get_timestamp(message: BaseMessage) -> str:
    """When it was made, ISO 8601; "" when unknown."""
    return _text(message, "timestamp")


def get_attachments(message: BaseMessage) -> list[dict[str, Any]]:
    return [item for item in _list(message, "attachments") if isinstance(item, dict)]


def get_reasoning_content(message: BaseMessage) -> str:
    return _text(message, "reasoning_content")


def get_operations(message: BaseMessage) -> list[str]:
    """What the answer did, a line each."""
    return [item for item in _list(message, "operations") if isinstance(item, str)]


def get_sources(message: BaseMessage) -> list[WebSource]:
    """What a web search of the provider found for the answer."""
    names = tuple(field.name for field in fields(WebSource))
    return [
        WebSource(**{name: str(item.get(name) or "") for name in names})
        for item in _list(message, "web_search_results")
        if isinstance(item, dict)
    ]


def get_output_items(message: BaseMessage) -> tuple[dict[str, Any], ...]:
    """What the answer's provider wants back with it (`StreamChunk.output_items`)."""
    return tuple(item for item in _list(message, "output_items") if isinstance(item, dict))


def get_cost(message: BaseMessage) -> Cost:
    """What an answer cost; unknown for one of a provider on which nobody looked."""
    return cost_in(message.additional_kwargs)


def get_usage(message: BaseMessage) -> Usage | None:
    """Tokens of the call, None when the provider told nothing."""
    usage = message.additional_kwargs.get("usage")
    if not isinstance(usage, dict):
        return None
    names = (field.name for field in fields(Usage))
    return Usage(**{name: usage[name] for name in names if _is_count(usage.get(name))})


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def is_partial_response(message: BaseMessage) -> bool:
    """Whether the answer was interrupted."""
    return message.additional_kwargs.get("is_partial") is True


def get_stop_reason(message: BaseMessage) -> str:
    """Why a partial answer is partial: stopped, interrupted, connection_lost ..."""
    return _text(message, "stop_reason")


def get_finish_reason(message: BaseMessage) -> str:
    """Why the model ended its answer (`domain.llm.chat.FinishReason`); "" of one that never ended."""
    return _text(message, "finish_reason")


def get_continuations(message: BaseMessage) -> tuple[int, bool]:
    """How often a cut answer was gone on with, and whether the last time brought nothing new."""
    count = message.additional_kwargs.get("continuations")
    is_stuck = message.additional_kwargs.get("is_stuck") is True
    return (count if _is_count(count) and isinstance(count, int) else 0), is_stuck


def get_doubts(message: BaseMessage) -> dict[str, str]:
    """The words of an answer that nothing stands behind, by the kind of doubt; {} when there are none."""
    figures = _text(message, "doubt")  # as it was kept before there were kinds
    return {"figures": figures} if figures else _text_map(message, "doubts")


def get_provider_ids(message: BaseMessage) -> dict[str, str]:
    """Our call id -> the provider's, for the wire only."""
    return _text_map(message, "provider_ids")


def get_call_problems(message: BaseMessage) -> dict[str, str]:
    """Our call id -> why its arguments could not be read."""
    return _text_map(message, "call_problems")


def get_tool_success(message: ToolMessage) -> bool:
    """Whether the tool did what it was asked."""
    return message.status == "success"


def get_result_path(message: ToolMessage) -> str:
    """Where the result of a simulation is, relative to the project; "" of another call."""
    return result_path_in(message.additional_kwargs.get("result"))


def get_tool_error_type(message: ToolMessage) -> str:
    """The stable word of a failure, "" for a success."""
    return _text(message, "error_type")


def get_tool_result(message: ToolMessage) -> dict[str, Any] | None:
    result = message.additional_kwargs.get("result")
    return result if isinstance(result, dict) else None


def get_tool_summary(message: ToolMessage) -> dict[str, Any]:
    """The line for the user, {"template", "params"}; {} when there is none."""
    summary = message.additional_kwargs.get("summary")
    return summary if isinstance(summary, dict) else {}


def get_summary_message(message: BaseMessage) -> Message:
    """The line for the user as a message; a plain word where what is stored is not one of ours."""
    summary = get_tool_summary(message) if isinstance(message, ToolMessage) else {}
    stored = stored_message(summary.get("template"), summary.get("params"))
    return msg("Already done.") if stored is None else stored


def get_seen_versions(message: BaseMessage) -> dict[str, str]:
    """Relative path -> version hash of the files the model saw by this answer of a tool."""
    return _text_map(message, "seen_versions")


def _text(message: BaseMessage, key: str) -> str:
    value = message.additional_kwargs.get(key)
    return value if isinstance(value, str) else ""


def _list(message: BaseMessage, key: str) -> list[Any]:
    value = message.additional_kwargs.get(key)
    return value if isinstance(value, list) else []


def _text_map(message: BaseMessage, key: str) -> dict[str, str]:
    value = message.additional_kwargs.get(key)
    if not isinstance(value, dict):
        return {}
    return {str(name): text for name, text in value.items() if isinstance(text, str)}


# --- changed copies --------------------------------------------------------------------------------


def mark_as_partial(message: AIMessage, stop_reason: str) -> AIMessage:
    """A copy that says the answer was interrupted, and why."""
    return _with(message, is_partial=True, stop_reason=stop_reason)


def as_cut(message: AIMessage) -> AIMessage:
    """A copy, still partial, that counts as cut off just now, however often it was gone on with."""
    return _with(message, finish_reason="cut", continuations=None, is_stuck=None)


def as_whole(message: AIMessage) -> AIMessage:
    """A copy of an interrupted answer that had come to its end."""
    return _with(message, finish_reason="stop", is_partial=None, stop_reason=None)


def extended(message: AIMessage, *, text: str, reasoning: str = "") -> AIMessage:
    """A copy of an answer that goes on with this text (and reasoning), joined as they are."""
    longer = message.model_copy(update={"content": join_surrogates(get_text(message) + text)})
    return set_reasoning_content(longer, get_reasoning_content(message) + reasoning)


def set_reasoning_content(message: AIMessage, reasoning: str) -> AIMessage:
    return _with(message, reasoning_content=join_surrogates(reasoning) or None)


def set_call_problems(message: AIMessage, problems: Mapping[str, str]) -> AIMessage:
    """A copy that knows why the arguments of these calls (by our id) could not be read."""
    return _with(message, call_problems=dict(problems) or None)


def set_continued(message: AIMessage, count: int, *, is_stuck: bool) -> AIMessage:
    """A copy that says how often it was gone on with."""
    return _with(message, continuations=count or None, is_stuck=is_stuck or None)


def set_request(message: AIMessage, facts: RequestFacts) -> AIMessage:
    """A copy that says what its request took."""
    return _with(message, request=facts.to_plain())


def get_request(message: BaseMessage) -> RequestFacts | None:
    """What an answer's request took; None of one that nobody timed."""
    return facts_in(message.additional_kwargs)


def set_doubts(message: AIMessage, words: Mapping[str, str]) -> AIMessage:
    """A copy that says of which of its words there is what doubt."""
    return _with(message, doubts=dict(words) or None)


def _with(message: AnyMessage, **changes: Any) -> AnyMessage:
    """A copy with these extra fields; None takes a field away."""
    extra = {**message.additional_kwargs, **changes}
    kept = {key: value for key, value in extra.items() if key not in changes or value is not None}
    return message.model_copy(update={"additional_kwargs": kept})


# --- JSON ------------------------------------------------------------------------------------------

_ALWAYS_READ = ("id", "type", "role", "content", "additional_kwargs", "name", "response_metadata")
_KNOWN_KEYS: dict[Role, frozenset[str]] = {
    "user": frozenset(_ALWAYS_READ),
    "system": frozenset(_ALWAYS_READ),
    "assistant": frozenset({*_ALWAYS_READ, "tool_calls", "invalid_tool_calls", "usage_metadata"}),
    "tool": frozenset({*_ALWAYS_READ, "tool_call_id", "status", "artifact"}),
}


def message_to_dict(message: BaseMessage) -> dict[str, Any]:
    """The message as a JSON object; `dict_to_message` gives an equal message back.

    Fields that do not apply or are empty are left out. Raises TypeError when a field holds something
    without a JSON form, ValueError for a kind of message we do not use.
    """
    role = get_role(message)
    data: dict[str, Any] = {
        "id": message.id,
        "type": role,
        "content": to_plain(message.content),
        "additional_kwargs": {key: to_plain(item) for key, item in message.additional_kwargs.items()},
        "name": message.name,
        "response_metadata": {key: to_plain(item) for key, item in message.response_metadata.items()},
    }
    if isinstance(message, AIMessage):
        data["tool_calls"] = [
            {"id": call["id"], "name": call["name"], "args": _object(call["args"])}
            for call in message.tool_calls
        ]
        data["invalid_tool_calls"] = [to_plain(dict(call)) for call in message.invalid_tool_calls]
        data["usage_metadata"] = to_plain(message.usage_metadata)
    if isinstance(message, ToolMessage):
        data["tool_call_id"] = message.tool_call_id
        data["status"] = message.status
        if message.artifact is not None:
            data["artifact"] = to_plain(message.artifact)
    kept = {key: item for key, item in data.items() if key in _ALWAYS_WRITTEN or not _is_empty(item)}
    unknown = message.model_extra or {}
    return kept | {key: to_plain(item) for key, item in unknown.items() if key not in _KNOWN_KEYS[role]}


_ALWAYS_WRITTEN = frozenset(
    {"id", "type", "content", "additional_kwargs", "tool_call_id", "status", "artifact"}
)


def _is_empty(item: object) -> bool:
    return item is None or item in ([], {})


def _object(value: Mapping[str, Any]) -> dict[str, Any]:
    """The members of an object that is known to be one, so that it needs no mark of its own."""
    return {str(key): to_plain(item) for key, item in value.items()}


def dict_to_message(data: Mapping[str, Any]) -> BaseMessage:
    """The message of a JSON object; what is missing or of a wrong type gets its default.

    Unknown keys are kept for the next writing. Raises ValueError without a known "type" (or "role").
    """
    kind = data.get("type", data.get("role"))
    role = _ROLE_OF_TYPE.get(kind) if isinstance(kind, str) else None
    if role is None:
        raise ValueError(f"{kind!r} is no type of a message")
    values: dict[str, Any] = {
        "content": _content_from(data.get("content")),
        "id": data["id"] if isinstance(data.get("id"), str) else None,
        "name": data["name"] if isinstance(data.get("name"), str) else None,
        "additional_kwargs": _members(data.get("additional_kwargs")),
        "response_metadata": _members(data.get("response_metadata")),
    }
    if role == "assistant":
        values |= _answer_fields(data)
    elif role == "tool":
        call_id = data.get("tool_call_id")
        values["tool_call_id"] = call_id if isinstance(call_id, str) else ""
        values["status"] = "error" if data.get("status") == "error" else "success"
        values["artifact"] = from_plain(data.get("artifact"))
    message = _CLASS_OF_ROLE[role](**values)
    unknown = {key: from_plain(item) for key, item in data.items() if key not in _KNOWN_KEYS[role]}
    if unknown and message.model_extra is not None:
        # Not through the constructor: some names mean something to it.
        message.model_extra.update(unknown)
    return message


def _answer_fields(data: Mapping[str, Any]) -> dict[str, Any]:
    """What only an assistant's message has."""
    calls = [call for call in _items(data.get("tool_calls")) if isinstance(call, dict)]
    readable = [_tool_call(call) for call in calls if isinstance(call.get("args"), dict)]
    unreadable = [_unreadable_call(call) for call in calls if not isinstance(call.get("args"), dict)]
    invalid = [
        call for call in map(from_plain, _items(data.get("invalid_tool_calls"))) if isinstance(call, dict)
    ]
    return {
        "tool_calls": [{**call, "args": _members(call["args"])} for call in readable],
        "invalid_tool_calls": [_invalid_call(call) for call in (*invalid, *unreadable)],
        "usage_metadata": _usage_metadata(from_plain(data.get("usage_metadata"))),
    }


def _usage_metadata(usage: object) -> dict[str, Any] | None:
    """LangChain's own count of tokens, if it is one."""
    needed = ("input_tokens", "output_tokens", "total_tokens")
    if not isinstance(usage, dict) or not all(_is_count(usage.get(name)) for name in needed):
        return None
    details = ("input_token_details", "output_token_details")
    return {key: item for key, item in usage.items() if key not in details or _are_counts(item)}


def _are_counts(details: object) -> bool:
    return isinstance(details, dict) and all(_is_count(item) for item in details.values())


def _tool_call(call: Mapping[str, Any]) -> dict[str, Any]:
    """A call as LangChain wants it."""
    call_id, name = call.get("id"), call.get("name")
    return {
        "id": call_id if isinstance(call_id, str) else None,
        "name": name if isinstance(name, str) else "",
        "args": dict(call["args"]),
        "type": "tool_call",
    }


def _unreadable_call(call: Mapping[str, Any]) -> dict[str, Any]:
    """A stored call whose arguments are no object: kept, but as one that cannot be run."""
    arguments = call.get("args")
    text = arguments if isinstance(arguments, str) or arguments is None else json.dumps(arguments)
    return {"id": call.get("id"), "name": call.get("name"), "args": text, "error": "arguments are no object"}


def _invalid_call(call: Mapping[str, Any]) -> dict[str, Any]:
    texts = {key: call.get(key) for key in ("id", "name", "args", "error")}
    known = {key: value if isinstance(value, str) else None for key, value in texts.items()}
    return {**known, "type": "invalid_tool_call"}


def _content_from(content: object) -> str | list[str | dict[str, Any]]:
    if not isinstance(content, list):
        return content if isinstance(content, str) else ""
    # An object may be the mark of something else: infinity, say.
    return [part for part in map(from_plain, content) if isinstance(part, str | dict)]


def _members(value: object) -> dict[str, Any]:
    return {key: from_plain(item) for key, item in value.items()} if isinstance(value, dict) else {}


def _items(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


Thing = TypeVar("Thing")
Value = TypeVar("Value")


def once_each(make: Callable[[Thing], Value]) -> Callable[[Thing], Value]:
    """`make`, remembered by the object's identity: also of one that has no hash. For any thread."""
    known: dict[int, tuple[ref[Thing], Value]] = {}

    def made(thing: Thing) -> Value:
        place = id(thing)
        found = known.get(place)
        if found is not None and found[0]() is thing:
            return found[1]
        value = make(thing)
        known[place] = (ref(thing, lambda _gone: known.pop(place, None)), value)
        return value

    return made
