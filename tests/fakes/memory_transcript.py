"""A transcript in memory that goes through JSON as the file does.

Fake of application.ports.conversation.Transcript.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any


class MemoryTranscript:
    def __init__(self, events: Sequence[Mapping[str, Any]] = (), *, session_id: str = "S1") -> None:
        self.session_id = session_id
        self.events: list[Mapping[str, Any]] = list(events) or [
            {"event": "session", "schema_version": 1, "session_id": session_id, "name": "Chat"}
        ]
        self.is_closed = self.is_wanted = False
        self.appended = asyncio.Event()
        self._loop = asyncio.get_running_loop()

    def append(self, *events: Mapping[str, Any]) -> None:
        self.events.extend(json.loads(json.dumps(event)) for event in events)
        self._loop.call_soon_threadsafe(self.appended.set)

    def close(self) -> None:
        self.is_closed = True

    def of(self, word: str) -> list[Mapping[str, Any]]:
        return [event for event in self.events if event["event"] == word]
