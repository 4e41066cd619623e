"""A circuit kept on a warm worker while somebody moves something: only the newest wish is simulated."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, TypeVar

from PyQt6.QtCore import QObject, pyqtSignal

from presentation.ui.workspace import WindowServices
from shared.errors import CircuitAIError

if TYPE_CHECKING:
    from application.app import Application

_T = TypeVar("_T")


class LiveWork(QObject):
    """One loaded circuit. Whoever inherits says what is loaded, and what is done with a wish."""

    evaluated = pyqtSignal(object)
    """what the newest wish gives"""
    ended = pyqtSignal()
    failed = pyqtSignal(object)
    """CircuitAIError"""

    def __init__(self, services: WindowServices, app: Application, parent: QObject, *, kind: str) -> None:
        """`kind`: of the task, by which others know that the machine is busy."""
        super().__init__(parent)
        self._services = services
        self._app = app
        self._kind = kind
        self._scope = f"{kind} {id(self)}"
        self._wanted: Any = None
        self._is_wanted = asyncio.Event()
        self._next: Any = None
        """What to begin with when the present work has ended."""
        self.is_running = False
        self.run_s = 0.0
        """What the last simulation took, from the wish to its figures."""

    def start(self, order: Any) -> None:
        """Load the circuit; what was loaded before is given up."""
        if self.is_running:
            self.stop()
            self._next = order
            return
        self.is_running = True
        self._services.start(self._run(order), kind=self._kind, scope=self._scope)

    def stop(self) -> None:
        """End it, and begin nothing that was to follow."""
        self._next = None
        if self.is_running:
            stop = self._app.program.stop.stop("user", scope=self._scope)
            self._services.start(stop, kind=f"stop {self._kind}", scope=f"stop {self._scope}")

    def want(self, wish: Any) -> None:
        """Simulate this next; a wish that waits is forgotten."""
        self._wanted = wish
        self._is_wanted.set()

    @property
    def has_newer_wish(self) -> bool:
        return self._is_wanted.is_set()

    async def loading(self, order: Any) -> AbstractAsyncContextManager[Any]:
        """What an order loads."""
        raise NotImplementedError

    async def begin(self, live: Any) -> None:
        """It is loaded."""
        raise NotImplementedError

    async def fulfil(self, live: Any, wish: Any) -> None:
        """Do what is wished, and tell it by `evaluated`."""
        raise NotImplementedError

    async def timed(self, run: Awaitable[_T]) -> _T:
        """One simulation; `run_s` is its time."""
        started = time.monotonic()
        found = await run
        self.run_s = time.monotonic() - started
        return found

    async def _run(self, order: Any) -> None:
        error: CircuitAIError | None = None
        try:
            async with await self.loading(order) as live:
                await self.begin(live)
                while True:
                    await self._is_wanted.wait()
                    self._is_wanted.clear()
                    await self.fulfil(live, self._wanted)
        except CircuitAIError as problem:
            error = problem
        finally:
            self.is_running = False
            again, self._next = self._next, None
            self._wanted = None
            self._is_wanted.clear()
            if again is not None:
                self.start(again)
            elif error is not None:
                self.failed.emit(error)
            else:
                self.ended.emit()
