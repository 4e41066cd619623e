"""What a tool answers: to the model, to the user and to scripts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from shared.message import Message

EffectClass = Literal["read", "create", "change", "delete", "simulate", "outside"]
"""The worst a tool can do; read tools may run at the same time, changing ones one after the other."""

RESULT_LIMIT = 5000
"""Characters of a result's content; more is cut to its head and tail."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """The outcome of one call. A failure is a result for the model, never an exception."""

    success: bool
    content: str
    """What the model reads: plain English text or compact JSON, at most `RESULT_LIMIT` characters."""
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


def cut_middle(text: str, limit: int = RESULT_LIMIT) -> str:
    """`text` within `limit` characters: its head (2/3) and tail, with a mark where it was cut."""
    if len(text) <= limit:
        return text
    mark = f"\n... ({len(text) - limit} characters left out) ...\n"
    room = max(limit - len(mark), 0)
    head = room * 2 // 3
    tail = room - head
    return text[:head] + mark + (text[-tail:] if tail else "")
