"""How far many runs, or one long one, are: on stderr, beside what a command prints."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from presentation.json_output import Output
from presentation.progress_words import PROGRESSED, Progressed, progress_text
from shared.events import EventBus

_TOLD_EVERY_S = 2.0
E = TypeVar("E")


class Progress:
    """One line that is written over on a terminal, else a line now and then."""

    def __init__(self, out: Output) -> None:
        self._out = out
        self._told_at = time.monotonic()
        self._key = ""
        self._is_shown = False

    def show(self, event: Progressed) -> None:
        if event.key != self._key:
            self._key, self._told_at = event.key, time.monotonic()
        is_due = time.monotonic() - self._told_at >= _TOLD_EVERY_S
        if not getattr(event, "done", 1) or not (self._out.is_watched or is_due):
            return
        self._told_at = time.monotonic()
        self._is_shown = True
        self._out.status(progress_text(event))

    def wipe(self) -> None:
        """Before something else is printed."""
        if self._is_shown:
            self._is_shown = False
            self._out.status(None)


@contextmanager
def progress_shown(events: EventBus, out: Output) -> Iterator[Progress]:
    """Within it what the program tells of runs is shown."""
    progress = Progress(out)
    ends = [events.subscribe(kind, progress.show) for kind in PROGRESSED]
    try:
        yield progress
    finally:
        for end in ends:
            end()
        progress.wipe()


@contextmanager
def told_with_progress(
    events: EventBus, out: Output, tell: Callable[[E], None]
) -> Iterator[Callable[[E], None]]:
    """`tell`, before whose words the line of the progress goes; none is shown beside JSON lines."""
    if out.as_json:
        yield tell
        return
    with progress_shown(events, out) as progress:

        def wiped(event: E) -> None:
            progress.wipe()
            tell(event)

        yield wiped
