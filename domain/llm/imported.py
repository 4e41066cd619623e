"""A conversation that was exported as JSON, as lines of a transcript again.

The file may come from anybody: only what an export holds is taken over, and nothing in it that a program
would act on (versions of seen files, results, costs, answers to questions).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from domain.llm.compression import Compression, compression_event, compression_of, restored_event
from domain.llm.transcript import Branches, Json, utc
from shared.message import msg
from shared.safe_json import read_bounded, to_plain
from shared.ulid import new_ulid

MOST_BYTES = 64 << 20
_MOST_MESSAGES = 100_000
_LONGEST_NAME = 1_000
_LONGEST_ID = 200
_LONGEST_MARK = 10_000
_ROLES = ("user", "assistant", "system", "tool", "program")
_MODES = ("free_work", "workflow")


def imported_events(data: bytes) -> tuple[str, list[Json]]:
    """The conversation's id as the file has it, and its lines.

    Raises ValueError, with a Message where there is more to say than that it is no JSON.
    """
    document = read_bounded(data)
    if not isinstance(document, dict) or not isinstance(document.get("messages"), list):
        raise ValueError(msg("it has no list of messages"))
    messages = document["messages"]
    if len(messages) > _MOST_MESSAGES:
        raise ValueError(msg("it has more than {most} messages", most=_MOST_MESSAGES))
    name, mode = document.get("session_name", ""), document.get("work_mode", "free_work")
    if not isinstance(name, str) or len(name) > _LONGEST_NAME or mode not in _MODES:
        raise ValueError(msg("its name or mode cannot be read"))
    created, updated = (_time(document, key) for key in ("created_at", "updated_at"))
    header = {"event": "session", "schema_version": 1, "name": name, "work_mode": mode}
    events: list[Json] = [header | ({"created_at": created} if created else {})]
    summaries: dict[str, list[Json]] = {}
    for after, line in _compressions(document.get("compressions")):
        summaries.setdefault(after, []).append(line)
    events += summaries.get("", ())
    known: set[str] = set()
    for number, message in enumerate(messages, 1):
        try:
            lines = list(_lines_of(message, known))
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(msg("message {number} cannot be read", number=number)) from error
        events += lines
        if len(events) > 2 * _MOST_MESSAGES:  # earlier versions are lines of their own
            raise ValueError(msg("it has more than {most} messages", most=_MOST_MESSAGES))
        if message_id := message.get("id"):
            events += summaries.get(message_id, ())
    marks = _marks(document.get("marks"))
    if updated or marks:
        events.append({"event": "imported", **_filled(timestamp=updated, marks=marks)})
    _check_versions(messages, events)
    session_id = document.get("session_id")
    return session_id if isinstance(session_id, str) else "", events


def _time(document: Mapping[str, Any], key: str) -> str:
    said = document.get(key) or ""
    if said and not utc(said):
        raise ValueError(msg("its times cannot be read"))
    return str(said)


def _lines_of(message: Any, known: set[str]) -> Iterator[Json]:
    role, message_id = message["role"], _text(message, "id")
    if role not in _ROLES or len(message_id) > _LONGEST_ID or message_id in known:
        raise ValueError(role)
    if message_id:
        known.add(message_id)
    timestamp = _time(message, "timestamp")
    extra: dict[str, Any] = {"timestamp": timestamp} if timestamp else {}
    plain: dict[str, Any] = {"type": role, "content": _text(message, "content"), "additional_kwargs": extra}
    plain |= {"id": message_id} if message_id else {}
    match role:
        case "user":
            extra |= _filled(attachments=_objects(message, "attachments"))
        case "program":
            plain["type"] = "user"
            extra["program"] = {"step": "", "task": ""}
        case "assistant":
            for text in _list(message, "earlier_versions"):  # nothing but the text: it is there once each
                yield {"event": "message", "message": {**plain, "content": _checked(text)}}
            usage = message.get("usage")
            plain["additional_kwargs"] = extra | _filled(
                reasoning_content=_text(message, "reasoning_content"),
                operations=[str(each) for each in _list(message, "operations")],
                is_partial=message.get("is_partial") is True,
                stop_reason=_text(message, "stop_reason"),
                web_search_results=_objects(message, "web_search_results"),
                usage=to_plain(usage) if isinstance(usage, dict) else None,
                model=_text(message, "model"),
            )
            plain |= _filled(tool_calls=[_call(call) for call in _list(message, "tool_calls")])
        case "tool":
            extra |= _filled(error_type=_text(message, "error_type"))
            plain |= _filled(name=_text(message, "name"))
            plain["tool_call_id"] = _text(message, "tool_call_id")
            plain["status"] = "error" if message.get("success") is False else "success"
    old = _text(message, "instead_of")
    yield {"event": "message", "message": plain} | ({"instead_of": old} if old else {})


def _call(call: Any) -> dict[str, Any]:
    if not isinstance(call, dict):
        raise TypeError(call)
    return {"id": _text(call, "id"), "name": _text(call, "name"), "args": to_plain(call.get("arguments"))}


def _compressions(told: object) -> list[tuple[str, Json]]:
    """The lines of compressions, each with the message they stand behind."""
    found: list[tuple[str, Json]] = []
    for each in told if isinstance(told, list) else []:
        try:
            one = Compression(
                compression_id=new_ulid(),
                until=_text(each, "until"),
                text=_text(each, "text"),
                summary=_text(each, "summary"),
                messages=each["messages"],
                tokens_before=each["tokens_before"],
                tokens_after=each["tokens_after"],
                by="" if each.get("by") == "rules" else _text(each, "by"),
                is_automatic=each.get("automatic") is True,
                created=_time(each, "timestamp"),
            )
            line, after = compression_event(one), _text(each, "after")
            if compression_of(line) is None:
                raise ValueError(one)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise ValueError(msg("a summary in it cannot be read")) from error
        found.append((after, line))
        if each.get("in_force") is False:
            found.append((after, restored_event(one.compression_id, "")))
    return found


def _marks(told: object) -> list[dict[str, str]]:
    """What happened beside the messages, as lines to be read."""
    marks = told if isinstance(told, list) else []
    try:
        found = [{key: _text(each, key) for key in ("after", "kind", "text")} for each in marks]
    except (AttributeError, TypeError) as error:
        raise ValueError(msg("a mark in it cannot be read")) from error
    longest = max((len(text) for each in found for text in each.values()), default=0)
    if len(found) > _MOST_MESSAGES or longest > _LONGEST_MARK:
        raise ValueError(msg("a mark in it cannot be read"))
    return found


def _check_versions(messages: Sequence[Any], events: Sequence[Json]) -> None:
    """What is marked as replaced is what its messages replace."""
    branches = Branches.of(events)
    for message in messages:
        message_id = message.get("id", "")
        is_right = (message_id in branches.gone) is (message.get("replaced") is True)
        if not is_right or branches.replaced.get(message_id, "") != message.get("instead_of", ""):
            raise ValueError(msg("its versions contradict each other"))


def _filled(**values: Any) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value}


def _text(told: Mapping[str, Any], key: str) -> str:
    value = told.get(key)
    return "" if value is None else _checked(value)


def _checked(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def _list(told: Mapping[str, Any], key: str) -> list[Any]:
    value = told.get(key)
    if value is not None and not isinstance(value, list):
        raise TypeError(key)
    return value or []


def _objects(told: Mapping[str, Any], key: str) -> list[Any]:
    return [to_plain(each) for each in _list(told, key) if isinstance(each, dict)]
