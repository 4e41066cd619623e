"""How often each kind of event was told since the window was made."""

from __future__ import annotations

from collections import Counter

from shared.events import Event, EventBus
from shared.tasks import TaskFailed, TaskStateChanged

OWN_TASK = "debug panel"
"""Kind of the panel's own tasks: what looks must not change what it sees."""


class EventTally:
    """Counts; of tasks, those that ended and those that failed, by their kind."""

    def __init__(self, bus: EventBus) -> None:
        self.events: Counter[str] = Counter()
        self.tasks: Counter[str] = Counter()
        """Ended ones by kind."""
        self.failures: Counter[str] = Counter()
        bus.subscribe(Event, self._count)

    def _count(self, event: Event) -> None:
        match event:
            case TaskStateChanged():
                if event.kind != OWN_TASK and event.state in ("done", "failed", "cancelled"):
                    self.tasks[event.kind] += 1
            case TaskFailed():
                self.failures[event.kind] += 1
            case _:
                self.events[type(event).__name__] += 1
