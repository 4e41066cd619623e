"""Stopping is cancellation: one controller, one way down, and a guard for what does not let go."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Literal

from shared.events import Event, EventBus
from shared.processes import ProcessManager
from shared.tasks import AsyncTaskRegistry, TaskHandle, TaskStateChanged

_logger = logging.getLogger(__name__)

StopState = Literal["idle", "running", "stop_requested", "stopping", "stopped"]
StopReason = Literal["user", "timeout", "error", "session_switch", "app_shutdown"]

_FORCED_S = 1.0
"""How long a task may take to end once its programs are killed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StopStateChanged(Event):
    """A scope began to run, is being stopped, or is idle again."""

    scope: Hashable
    state: StopState
    reason: StopReason | None
    """Why it is being stopped; None for idle and running."""


@dataclass(slots=True, eq=False)
class _Stop:
    """One stop under way."""

    reason: StopReason
    task: asyncio.Task[None]


class StopController:
    """Stops the work of one scope (a conversation tab), or of all.

    A scope is "running" while the registry has a task of it. `stop` leads it through stop_requested,
    stopping and stopped to idle; a task that does not end within `guard_s` loses its programs, and if
    that does not help is given up, so that new work can start.
    """

    def __init__(
        self,
        *,
        registry: AsyncTaskRegistry,
        processes: ProcessManager,
        events: EventBus,
        guard_s: float = 5.0,
    ) -> None:
        self._registry = registry
        self._processes = processes
        self._events = events
        self._guard_s = guard_s
        self._states: dict[Hashable, StopState] = {}
        self._stops: dict[Hashable, _Stop] = {}
        self._unsubscribe = events.subscribe(TaskStateChanged, self._on_task)

    def close(self) -> None:
        """Listen to the registry no more."""
        self._unsubscribe()

    def state(self, scope: Hashable) -> StopState:
        """What the scope is doing."""
        return self._states.get(scope, "idle")

    def reason(self, scope: Hashable) -> StopReason | None:
        """Why the scope is being stopped, or None."""
        stop = self._stops.get(scope)
        return None if stop is None else stop.reason

    async def stop(self, reason: StopReason, *, scope: Hashable) -> bool:
        """Stop the scope's work and wait until it is idle; False when there was nothing to stop.

        A second call while it is being stopped waits with the first. Cancelling the call does not
        call the stop off.
        """
        stop = self._stops.get(scope)
        if stop is None:
            handles = [handle for handle in self._registry.handles if handle.scope == scope]
            if not handles:
                return False
            self._enter(scope, "stop_requested", reason)
            task = asyncio.create_task(self._bring_down(scope, reason), name=f"stop:{scope}")
            stop = self._stops[scope] = _Stop(reason, task)
        await asyncio.shield(stop.task)
        return True

    async def stop_all(self, reason: StopReason = "app_shutdown") -> None:
        """Stop every scope, at once, and wait until all are idle."""
        scopes = {handle.scope for handle in self._registry.handles} | set(self._stops)
        if scopes:
            await asyncio.gather(*(self.stop(reason, scope=scope) for scope in scopes))

    async def _bring_down(self, scope: Hashable, reason: StopReason) -> None:
        try:
            handles = [handle for handle in self._registry.handles if handle.scope == scope]
            self._enter(scope, "stopping", reason)
            for handle in reversed(handles):
                self._registry.cancel(kind=handle.kind, task_id=handle.task_id, reason=reason)
            left = await self._registry.wait(handles, timeout_s=self._guard_s)
            if left:
                await self._force(left)
            self._enter(scope, "stopped", reason)
        finally:
            del self._stops[scope]
            has_new_work = any(handle.scope == scope for handle in self._registry.handles)
            self._enter(scope, "running" if has_new_work else "idle", None)

    async def _force(self, handles: tuple[TaskHandle[object], ...]) -> None:
        for handle in handles:
            _logger.warning("%r did not stop within %g s; its programs are killed", handle, self._guard_s)
            await self._processes.kill_owned_by(handle)
            self._registry.cancel(kind=handle.kind, task_id=handle.task_id, again=True)
        self._registry.abandon(await self._registry.wait(handles, timeout_s=_FORCED_S))

    def _on_task(self, event: TaskStateChanged) -> None:
        if event.scope in self._stops:
            return
        is_busy = any(handle.scope == event.scope for handle in self._registry.handles)
        self._enter(event.scope, "running" if is_busy else "idle", None)

    def _enter(self, scope: Hashable, state: StopState, reason: StopReason | None) -> None:
        if self.state(scope) == state:
            return
        if state == "idle":
            self._states.pop(scope, None)
        else:
            self._states[scope] = state
        self._events.publish(StopStateChanged(scope=scope, state=state, reason=reason))
