"""Older messages replaced, in what is sent, by a summary: the record of it in the transcript.

The messages stay where they are; a record only says what is sent for them from now on, and another one takes
that back. What it is made of is in `summaries.py`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from domain.llm.costs import Cost, is_count, read_cost
from shared.message import msg

_log = logging.getLogger(__name__)

HINT_SHARE, AUTOMATIC_SHARE = 0.6, 0.8
"""Of the model's window: from here on compressing is offered, and done by itself."""
ACCEPTED_SHARE = 0.5
"""Of the window: where a request is larger even behind a compression, a new conversation is the way on."""


RESTORED = msg(
    "The older messages are sent again as far as they fit. Nothing is summarized automatically in this "
    "conversation until you compress it again."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Compression:
    """Up to a message the conversation is sent as `text`, byte for byte, until the next compression."""

    compression_id: str
    until: str
    """Id of the last message that is in it; "" = it comes from another conversation and stands before all."""
    text: str
    """What is sent in their place."""
    summary: str
    messages: int
    """Of user and assistant."""
    tokens_before: int
    tokens_after: int
    by: str = ""
    """The model that wrote the summary; "" = the rules."""
    is_automatic: bool = False
    pinned: tuple[str, ...] = ()
    """Ids of messages the user wanted to be kept whole."""
    created: str = ""
    tokens: int = 0
    """Those the summary took, as its provider counted them."""
    cost: Cost = field(default_factory=Cost)
    origin: str = ""
    """The conversation it comes from, where `until` is ""."""


def compression_event(one: Compression) -> dict[str, Any]:
    """Its line of the transcript."""
    return {
        "event": "compressed",
        "compression_id": one.compression_id,
        "until": one.until,
        "text": one.text,
        "summary": one.summary,
        "messages": one.messages,
        "tokens_before": one.tokens_before,
        "tokens_after": one.tokens_after,
        "by": one.by,
        "automatic": one.is_automatic,
        "pinned": list(one.pinned),
        "timestamp": one.created,
        "tokens": one.tokens,
        "cost": one.cost.to_plain(),
        "origin": one.origin,
    }


def restored_event(compression_id: str, timestamp: str) -> dict[str, Any]:
    """The line that takes one back."""
    return {"event": "compression_restored", "compression_id": compression_id, "timestamp": timestamp}


def compression_of(event: Mapping[str, Any]) -> Compression | None:
    """Read from its line; None for one that says less than it must."""
    texts = [event.get(name) for name in ("compression_id", "until", "text", "summary")]
    counts = [event.get(name) for name in ("messages", "tokens_before", "tokens_after")]
    if not all(isinstance(text, str) for text in texts) or not all(map(is_count, counts)):
        return None
    if not event["compression_id"] or not event["text"].strip():
        return None
    pinned = event.get("pinned")
    tokens = event.get("tokens")
    return Compression(
        compression_id=event["compression_id"],
        until=event["until"],
        text=event["text"],
        summary=event["summary"],
        messages=event["messages"],
        tokens_before=event["tokens_before"],
        tokens_after=event["tokens_after"],
        by=_text(event, "by"),
        is_automatic=event.get("automatic") is True,
        pinned=tuple(each for each in pinned if isinstance(each, str)) if isinstance(pinned, list) else (),
        created=_text(event, "timestamp"),
        tokens=tokens if is_count(tokens) else 0,
        cost=read_cost(event.get("cost")) or Cost(),
        origin=_text(event, "origin"),
    )


def _text(event: Mapping[str, Any], name: str) -> str:
    value = event.get(name)
    return value if isinstance(value, str) else ""


class Compressions:
    """Those of one conversation, followed line by line."""

    def __init__(self) -> None:
        self._standing: list[Compression] = []
        self.is_paused = False
        """The user took one back: nothing is compressed by itself until he compresses himself."""
        self.tokens = 0
        """Those all summaries took, also of compressions that were taken back; likewise `cost`."""
        self.cost = Cost()

    @property
    def standing(self) -> tuple[Compression, ...]:
        """Those that were not taken back, the newest last."""
        return tuple(self._standing)

    def in_force(self, ids: Iterable[str]) -> tuple[Compression, ...]:
        """What is sent before messages with these ids: what comes from another conversation, and the newest
        whose messages are all among them. No more ids are asked for than it takes: the last come first."""
        left, known = iter(ids), set[str]()

        def is_there(until: str) -> bool:
            while until not in known and (each := next(left, None)) is not None:
                known.add(each)
            return until in known

        newest = next((one for one in reversed(self._standing) if one.until and is_there(one.until)), None)
        carried = [one for one in self._standing if not one.until]
        return (*carried, newest) if newest is not None else (*carried,)

    def take(self, event: Mapping[str, Any]) -> None:
        """The transcript's next line."""
        kind = event.get("event")
        if kind == "adopted":  # what another installation let stand for its messages counts for nothing here
            self._standing.clear()
        elif kind == "compression_restored":
            left = [one for one in self._standing if one.compression_id != event.get("compression_id")]
            self.is_paused = self.is_paused or len(left) < len(self._standing)
            self._standing = left
        elif kind != "compressed":
            return
        elif (one := compression_of(event)) is None:
            _log.warning("A line about a compression is not used: it lacks what it must say")
        else:
            self._standing.append(one)
            self.is_paused = self.is_paused and one.is_automatic
            self.tokens += one.tokens
            self.cost += one.cost
