"""Every task has an owner: the registry holds it, names it, can cancel it, and reports its error once.

Stopping is cancellation: one controller, one way down, a guard for what does not let go, and
what of a turn can be ended by itself.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Coroutine, Hashable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from shared.errors import CircuitAIError, Stopped
from shared.events import Event, EventBus
from shared.message import msg
from shared.processes import ProcessManager, process_owner

_logger = logging.getLogger(__name__)

TaskState = Literal["pending", "running", "done", "failed", "cancelled"]
_ENDED: frozenset[TaskState] = frozenset(("done", "failed", "cancelled"))

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskStateChanged(Event):
    """A task was accepted, started or ended."""

    kind: str
    task_id: str
    scope: Hashable
    state: TaskState


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFailed(Event):
    """A task ended with an exception; published before its state becomes "failed"."""

    kind: str
    task_id: str
    scope: Hashable
    error: BaseException


class TaskHandle(Generic[T]):
    """What the submitter of a task holds."""

    def __init__(self, kind: str, task_id: str, exclusive_key: Hashable, scope: Hashable) -> None:
        self.kind = kind
        self.task_id = task_id
        self.exclusive_key = exclusive_key
        self.scope = scope
        self.state: TaskState = "pending"
        self.cancel_reason: str | None = None
        """Why it was cancelled (also the text of the `CancelledError` inside the task)."""
        self._ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._value: T | None = None
        self._error: BaseException | None = None

    def __repr__(self) -> str:
        return f"<{self.kind} {self.task_id}: {self.state}>"

    @property
    def has_ended(self) -> bool:
        """Done, failed or cancelled."""
        return self.state in _ENDED

    async def wait(self) -> None:
        """Wait for the end, however it ended. Cancelling the wait does not cancel the task."""
        await asyncio.shield(self._ended)

    async def result(self) -> T:
        """The task's value. Raises its exception, or Stopped when it was cancelled.

        `CancelledError` thus always means that the waiting itself was cancelled; the task goes on.
        """
        await self.wait()
        if self._error is not None:
            raise self._error
        if self.state == "cancelled":
            raise Stopped(msg("Stopped."))
        return self._value  # type: ignore[return-value]  # T may be None itself


@dataclass(slots=True, eq=False)
class _Entry:
    handle: TaskHandle[Any]
    coroutine: Coroutine[Any, Any, Any]
    task: asyncio.Task[Any] | None = None


class AsyncTaskRegistry:
    """Runs coroutines as tasks: one at a time for an exclusive key, the next ones queued behind it.

    Everything is called on the loop's thread. State changes are published as `TaskStateChanged`; an
    exception is logged, published as `TaskFailed` and raised by `TaskHandle.result`.
    """

    def __init__(self, events: EventBus) -> None:
        self._events = events
        self._entries: dict[tuple[str, str], _Entry] = {}
        self._waiting: dict[Hashable, deque[_Entry]] = {}
        self._busy: dict[Hashable, _Entry] = {}
        self._is_shut_down = False

    @property
    def handles(self) -> tuple[TaskHandle[Any], ...]:
        """The tasks pending or running, oldest first."""
        return tuple(entry.handle for entry in self._entries.values())

    @property
    def is_shut_down(self) -> bool:
        """Whether `submit` takes nothing any more."""
        return self._is_shut_down

    def submit(
        self,
        kind: str,
        task_id: str,
        coroutine: Coroutine[Any, Any, T],
        *,
        exclusive_key: Hashable = None,
        scope: Hashable = None,
    ) -> TaskHandle[T]:
        """Run `coroutine`, at once or when the tasks before it under `exclusive_key` have ended.

        `scope` says whose work it is (a conversation tab); `cancel(scope=...)` stops it by that.
        Raises ValueError when a task of this kind and id is alive, RuntimeError after `shutdown`.
        """
        name = (kind, task_id)
        if self._is_shut_down or name in self._entries:
            coroutine.close()
            if self._is_shut_down:
                raise RuntimeError(f"{kind} {task_id} came after the shutdown of the task registry")
            raise ValueError(f"{kind} {task_id} is already running or waiting")
        handle: TaskHandle[T] = TaskHandle(kind, task_id, exclusive_key, scope)
        entry = _Entry(handle, coroutine)
        self._entries[name] = entry
        self._publish(handle)
        if handle.has_ended:
            # A listener cancelled it as soon as it heard of it.
            return handle
        if exclusive_key is None:
            self._start(entry)
        elif exclusive_key in self._busy:
            self._waiting.setdefault(exclusive_key, deque()).append(entry)
        else:
            self._busy[exclusive_key] = entry
            self._start(entry)
        return handle

    def cancel(
        self,
        *,
        kind: str | None = None,
        task_id: str | None = None,
        scope: Hashable = None,
        reason: str = "user",
        again: bool = False,
    ) -> tuple[TaskHandle[Any], ...]:
        """Cancel the tasks that fit everything given (nothing given: all of them).

        Returns their handles without waiting; a task that has not started ends at once. One that was
        cancelled before is left to its cleaning up, which a second cancellation would break off;
        `again` does that.
        """
        chosen = [
            entry
            for entry in self._entries.values()
            if (kind is None or entry.handle.kind == kind)
            and (task_id is None or entry.handle.task_id == task_id)
            and (scope is None or entry.handle.scope == scope)
        ]
        # The waiting ones first: none of them may start because the one before it ends.
        for entry in sorted(chosen, key=lambda entry: entry.task is not None):
            entry.handle.cancel_reason = entry.handle.cancel_reason or reason
            if entry.task is None:
                self._end(entry, "cancelled")
            elif again or not entry.task.cancelling():
                entry.task.cancel(reason)
        return tuple(entry.handle for entry in chosen)

    async def wait(
        self, handles: Iterable[TaskHandle[Any]], *, timeout_s: float | None = None
    ) -> tuple[TaskHandle[Any], ...]:
        """Wait until `handles` have ended; returns those that have not in `timeout_s`."""
        handles = tuple(handles)
        endings = [handle._ended for handle in handles if not handle.has_ended]
        if endings:
            await asyncio.wait(endings, timeout=timeout_s)
        return tuple(handle for handle in handles if not handle.has_ended)

    def abandon(self, handles: Iterable[TaskHandle[Any]]) -> None:
        """Give up tasks that do not react to cancellation: they count as cancelled, the next may start."""
        for handle in handles:
            entry = self._entries.get((handle.kind, handle.task_id))
            if entry is not None and entry.handle is handle:
                _logger.error("%r does not end after it was cancelled; it is left alone", handle)
                self._end(entry, "cancelled")

    async def shutdown(self, *, timeout_s: float = 5.0) -> None:
        """Accept nothing more, cancel everything, wait for it; what hangs on is logged and abandoned."""
        self._is_shut_down = True
        self.abandon(await self.wait(self.cancel(reason="app_shutdown"), timeout_s=timeout_s))

    def _start(self, entry: _Entry) -> None:
        handle = entry.handle
        entry.task = asyncio.create_task(
            _owned(handle, entry.coroutine), name=f"{handle.kind}:{handle.task_id}"
        )
        entry.task.add_done_callback(lambda task: self._on_done(entry, task))
        handle.state = "running"
        self._publish(handle)

    def _on_done(self, entry: _Entry, task: asyncio.Task[Any]) -> None:
        # A task cancelled before its first step never awaited its coroutine.
        entry.coroutine.close()
        if task.cancelled():
            self._end(entry, "cancelled")
            return
        error = task.exception()
        handle = entry.handle
        if error is None:
            if not handle.has_ended:
                handle._value = task.result()
            self._end(entry, "done")
            return
        if isinstance(error, CircuitAIError):
            _logger.warning("%s %s failed: %s", handle.kind, handle.task_id, error)
        else:
            _logger.error("%s %s failed", handle.kind, handle.task_id, exc_info=error)
        if not handle.has_ended:
            handle._error = error
        self._events.publish(
            TaskFailed(kind=handle.kind, task_id=handle.task_id, scope=handle.scope, error=error)
        )
        self._end(entry, "failed")

    def _end(self, entry: _Entry, state: TaskState) -> None:
        handle = entry.handle
        if handle.has_ended:
            return
        handle.state = state
        if entry.task is None:
            entry.coroutine.close()
        del self._entries[handle.kind, handle.task_id]
        handle._ended.set_result(None)
        key = handle.exclusive_key
        waiting = self._waiting.get(key)
        if waiting is not None and entry in waiting:
            waiting.remove(entry)
        self._publish(handle)
        if self._busy.get(key) is entry:
            self._start_next(key)

    def _start_next(self, key: Hashable) -> None:
        waiting = self._waiting.get(key)
        if waiting:
            self._busy[key] = waiting.popleft()
            self._start(self._busy[key])
        else:
            del self._busy[key]
            self._waiting.pop(key, None)

    def _publish(self, handle: TaskHandle[Any]) -> None:
        self._events.publish(
            TaskStateChanged(kind=handle.kind, task_id=handle.task_id, scope=handle.scope, state=handle.state)
        )


async def _owned(handle: TaskHandle[T], coroutine: Coroutine[Any, Any, T]) -> T:
    """Run `coroutine` so that the programs it starts are known as this task's."""
    process_owner.set(handle)
    return await coroutine


class Breaking:
    """Within it the running task can be broken off from outside and then goes on behind it.

    What a stop does is done: `finally` runs, programs end. A stop of the task that comes as well wins.
    """

    def __init__(self, reason: str) -> None:
        """`reason` is the text of the `CancelledError` inside."""
        self._reason = reason
        self._task: asyncio.Task[Any] | None = None
        self._cancelled_before = 0
        self._was_asked = False
        self.is_broken = False
        """Whether it was broken off, once it is over."""

    def __call__(self) -> bool:
        """Break it off; False when it is over, or was broken off before."""
        if self._task is None or self._was_asked:
            return False
        self._was_asked = True
        self._task.cancel(self._reason)
        return True

    def __enter__(self) -> Breaking:
        self._task = asyncio.current_task()
        assert self._task is not None
        self._cancelled_before = self._task.cancelling()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        task, self._task = self._task, None
        assert task is not None
        is_own = self._was_asked and task.uncancel() <= self._cancelled_before
        self.is_broken = is_own and kind is not None and issubclass(kind, asyncio.CancelledError)
        return self.is_broken


StopState = Literal["idle", "running", "stop_requested", "stopping", "stopped"]
StopReason = Literal["user", "timeout", "error", "session_switch", "app_shutdown", "taken_over"]

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


class RunningCalls:
    """What of a turn under way can be ended by itself: tool calls by their id, and by a conversation's id the
    pause before its model is asked again."""

    def __init__(self) -> None:
        self._ends: dict[str, Callable[[], bool]] = {}

    @contextmanager
    def known(self, key: str, end: Callable[[], bool]) -> Iterator[None]:
        """Within it `end(key)` calls this, which says whether it could be ended."""
        self._ends[key] = end
        try:
            yield
        finally:
            del self._ends[key]

    def end(self, key: str) -> bool:
        """End one at once; False when there is none (any more), or it has nothing to be ended."""
        return key in self._ends and self._ends[key]()
