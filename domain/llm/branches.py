"""Versions of a conversation in its linear transcript: which lines stand now, and which were replaced.

A user's ``message`` with ``instead_of``, the id of an earlier one, takes that one's place: it and all that
was said behind it is a version of before, and what is sent goes on behind the new one. Nothing is removed
from the file. Works on the plain JSON events.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

from domain.llm.transcript import Json, message_id_of, replaced_by, role_of

_OF_THE_WHOLE = frozenset({"session", "renamed", "adopted", "compressed", "compression_restored", "damaged"})
"""Lines that count in every version. A summary stands for messages before it: whether these are all there
is asked where it is sent."""


class Branches:
    """A transcript, followed line by line."""

    def __init__(self, events: Iterable[Json] = ()) -> None:
        self.events: list[Json] = []
        """The lines that stand now."""
        self.paths: list[tuple[Json, ...]] = []
        """The lines that stood before each replacement, the oldest first."""
        self.gone: set[str] = set()
        """Ids of messages that were replaced, or stood behind one that was."""
        self.replaced: dict[str, str] = {}
        """For messages of the user that took the place of another: that one's id."""
        self._places: dict[str, list[str]] = {}
        self._starts: dict[str, int] = {}
        """Where in `events` each message of the user stands, in order."""
        for event in events:
            self.take(event)

    @classmethod
    def of(cls, events: Iterable[Json]) -> Self:
        return cls(events)

    def take(self, event: Json) -> bool:
        """Follow the next line; whether earlier ones do not stand any more because of it.

        What does not name a message of the user's that stands replaces nothing.
        """
        message_id = message_id_of(event)
        if message_id in self.gone:
            return False  # what comes late of an answer that was replaced
        is_users = event.get("event") == "message" and role_of(event["message"]) == "user"
        is_new = is_users and bool(message_id) and message_id not in self._starts
        start = self._starts.get(replaced_by(event)) if is_new else None
        if start is not None:
            self._cut(start, replaced_by(event), message_id)
        if is_new:
            self._starts[message_id] = len(self.events)
        self.events.append(event)
        return start is not None

    def _cut(self, start: int, old: str, new: str) -> None:
        self.paths.append(tuple(self.events))
        left = self.events[start:]
        del self.events[start:]
        self.events += [event for event in left if event.get("event") in _OF_THE_WHOLE]
        self.gone.update(filter(None, map(message_id_of, left)))
        self._starts = {key: at for key, at in self._starts.items() if at < start}
        place = self._places.setdefault(old, [old])
        place.append(new)
        self.replaced[new] = old
        self._places[new] = place

    def start_of(self, message_id: str) -> int | None:
        """Where in `events` a message of the user stands; None for one that does not."""
        return self._starts.get(message_id)

    def versions_of(self, message_id: str) -> tuple[str, ...]:
        """The ids of all versions of the user's message at its place, the oldest first."""
        return tuple(self._places.get(message_id, (message_id,)))

    def path_with(self, message_id: str) -> tuple[Json, ...]:
        """The lines that stood when the conversation last had this message; what stands now if nobody
        knows it."""
        if message_id in self.gone:
            for path in reversed(self.paths):
                if any(message_id_of(event) == message_id for event in path):
                    return path
        return tuple(self.events)


def branch_of(events: Iterable[Json]) -> list[Json]:
    """The lines of a transcript that stand now."""
    return Branches.of(events).events
