"""What is written at the end of a conversation of another installation before it becomes the user's.

What it had under way ends there: calls without a result get one that says that they were not run, the open
turn is ended, and an event ``adopted`` stands behind. Answers to questions, streamed pieces and pending
designs before that event count for nothing; what was said can be read and talked about.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from domain.llm.tools.result import failure
from domain.llm.transcript import Json, branch_of, has_open_turn, messages_of, role_of
from shared.message import msg

ADOPTED = "adopted"
"""The event, and the reason for which a turn that it found open has ended."""


def closing_events(
    events: Iterable[Json], *, new_id: Callable[[], str], now: str
) -> tuple[Mapping[str, Any], ...]:
    """The lines to be added, the event ``adopted`` last; `now` is ISO 8601, UTC."""
    events = tuple(events)
    messages = messages_of(branch_of(events))
    closing: list[Mapping[str, Any]] = []
    for call_id, name in _open_calls(messages):
        result = failure(
            "not_run",
            msg("{tool} was requested on another computer and was not run here.", tool=name),
            suggestions=(msg("Request it again if it is still needed."),),
        )
        message = {
            "id": new_id(),
            "type": "tool",
            "content": result.content,
            "additional_kwargs": {
                "timestamp": now,
                "error_type": result.error_type,
                "summary": {"template": result.summary.template, "params": {"tool": name}},
            },
            "name": name,
            "tool_call_id": call_id,
            "status": "error",
        }
        closing.append({"event": "message", "message": message, "step": call_id})
    if has_open_turn(events):
        closing.append(
            {"event": "turn", "turn_id": _turn_of(events), "state": "ended", "stop_reason": ADOPTED}
        )
    closing.append({"event": ADOPTED, "timestamp": now})
    return tuple(closing)


def _open_calls(messages: list[Json]) -> Iterator[tuple[str, str]]:
    """Ids and tools of the newest turn's calls that have no result."""
    newest = max((n for n, message in enumerate(messages) if role_of(message) == "user"), default=0)
    answered = {message.get("tool_call_id") for message in messages if role_of(message) == "tool"}
    for message in messages[newest:]:
        calls = message.get("tool_calls")
        for call in calls if role_of(message) == "assistant" and isinstance(calls, list) else ():
            call_id, name = (call.get("id"), call.get("name")) if isinstance(call, dict) else (None, None)
            if isinstance(call_id, str) and isinstance(name, str) and call_id not in answered:
                answered.add(call_id)
                yield call_id, name


def _turn_of(events: Iterable[Json]) -> str:
    """The id of the turn that was begun last."""
    turn = ""
    for event in events:
        if event.get("event") == "turn" and event.get("state") == "started":
            turn = str(event.get("turn_id", ""))
        elif event.get("event") == "message" and role_of(event.get("message") or {}) == "user":
            turn = str(event["message"].get("id", ""))
    return turn
