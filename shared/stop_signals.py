"""Stop signals, heard from a program's first moment to its last.

Until somebody listens Python answers SIGINT by a traceback and SIGTERM by sudden death; and asyncio, when
it stops listening, puts that state back. So one listener serves the whole life of the program: before
the loop it remembers, on the loop it cancels, and after it the program is ending anyway.
"""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable, Iterator
from typing import Any

_NUMBERS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
_PATIENCE = 3
"""So many stop signals are heard; the next one ends the process the hard way."""


class StopSignals:
    """Listens to SIGINT, SIGTERM and SIGHUP from its making on. Made on the main thread."""

    def __init__(self) -> None:
        self._arrived = 0
        self._on_stop: Callable[[], None] | None = None
        self._before: dict[signal.Signals, Any] = {}
        for number in _NUMBERS:
            handler = signal.getsignal(number)
            if number == getattr(signal, "SIGHUP", None) and handler is signal.SIG_IGN:
                continue  # started by nohup
            self._before[number] = handler
            signal.signal(number, self._take)

    def _take(self, *_: object) -> None:
        self._arrived += 1
        if self._arrived == _PATIENCE:
            self._set_all(signal.SIG_DFL)
        if self._on_stop is not None:
            self._on_stop()

    @contextlib.contextmanager
    def answered_by(self, on_stop: Callable[[], None]) -> Iterator[None]:
        """Within it a stop signal calls `on_stop`, at once when one has come already.

        It is called between any two steps of the main thread, so it may do no more than pass the word, or
        raise what ends work that holds nothing.
        """
        self._on_stop = on_stop
        try:
            if self._arrived:
                on_stop()
            yield
        finally:
            self._on_stop = None

    def release(self) -> None:
        """Leave the signals to whoever had them before."""
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def ignore(self) -> None:
        """Hear nothing any more, for a program that has done its work and takes itself apart."""
        self._set_all(signal.SIG_IGN)

    def _set_all(self, handler: signal.Handlers) -> None:
        for number in self._before:
            signal.signal(number, handler)
