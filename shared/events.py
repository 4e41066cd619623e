"""Facts and who wants to hear of them: a typed event bus on the loop's thread.

An event is a frozen dataclass derived from `Event`, named in the past tense. Handlers are plain
functions, called on the loop's thread in the order of their subscription, one event after the other:
an event published by a handler is delivered when the present one is through.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import threading
from collections import deque
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, TypeVar

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Base of all events; subscribing to it gets every event."""


EventT = TypeVar("EventT", bound=Event)
Unsubscribe = Callable[[], None]
_ThrottleKey = tuple[type[Event], Hashable]


@dataclass(slots=True, eq=False)
class _Subscription:
    event_type: type[Event]
    handler: Callable[[Any], object]
    is_active: bool = True


@dataclass(slots=True, eq=False)
class _Throttled:
    """What is known of one throttled stream while its interval lasts."""

    interval_s: float
    latest: Event | None = None
    timer: asyncio.TimerHandle | None = field(default=None)


class EventBus:
    """Delivers events to subscribers, on one loop.

    `loop` defaults to the loop running at construction; a bus made before there is one is bound by
    the first `publish` on a loop, or by `bind`. When its loop has been closed, it can be bound anew.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop | None = None) -> None:
        self._subscriptions: list[_Subscription] = []
        self._queue: deque[Event] = deque()
        self._is_delivering = False
        self._lock = threading.Lock()
        self._throttled: dict[_ThrottleKey, _Throttled] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: int | None = None
        if loop is not None or has_running_loop():
            self.bind(loop)

    def bind(self, loop: asyncio.AbstractEventLoop | None = None) -> None:
        """Deliver on `loop` (default: the running one). To be called on the loop's thread."""
        self._loop = loop or asyncio.get_running_loop()
        self._thread = threading.get_ident()

    def subscribe(self, event_type: type[EventT], handler: Callable[[EventT], None]) -> Unsubscribe:
        """Call `handler` with every event of `event_type` or a class derived from it.

        Returns the function that ends the subscription; calling it twice is harmless. Raises
        TypeError for a coroutine function: a handler that has to wait submits a task.
        """
        if inspect.iscoroutinefunction(handler):
            raise TypeError(f"{handler!r} is a coroutine function; handlers are plain functions")
        subscription = _Subscription(event_type, handler)
        self._subscriptions = [*self._subscriptions, subscription]

        def unsubscribe() -> None:
            subscription.is_active = False
            self._subscriptions = [kept for kept in self._subscriptions if kept is not subscription]

        return unsubscribe

    def publish(self, event: Event) -> None:
        """Tell everyone, from any thread; on the loop's thread before it returns (see the module)."""
        if self._is_on_loop():
            self._deliver(event)
        else:
            self._cross(self._deliver, event)

    def publish_throttled(self, event: Event, *, key: Hashable = None, interval_s: float = 0.05) -> None:
        """Tell everyone at most once per `interval_s` for each event class and `key`, from any thread.

        The first event goes out at once; of those that follow within the interval the latest goes
        out at its end, so the last one always arrives.
        """
        slot = (type(event), key)
        with self._lock:
            throttled = self._throttled.get(slot)
            if throttled is not None:
                throttled.latest = event
                throttled.interval_s = interval_s
                return
            self._throttled[slot] = _Throttled(interval_s, event)
        if self._is_on_loop():
            self._release(slot)
        else:
            self._cross(self._release, slot)

    def flush_throttled(self, key: Hashable = None) -> None:
        """Deliver now what `publish_throttled` holds back under `key`; on the loop's thread.

        For a publisher about to publish the end of the stream: nothing of it comes after.
        """
        with self._lock:
            slots = [slot for slot in self._throttled if slot[1] == key]
            held = [self._throttled.pop(slot) for slot in slots]
        for throttled in held:
            if throttled.timer is not None:
                throttled.timer.cancel()
            if throttled.latest is not None:
                self._deliver(throttled.latest)

    def _is_on_loop(self) -> bool:
        """Whether this is the loop's thread; binds a bus that has no loop (any more)."""
        if (self._loop is None or self._loop.is_closed()) and has_running_loop():
            self.bind()
        return threading.get_ident() == self._thread

    def _release(self, slot: _ThrottleKey) -> None:
        """Deliver the latest event of a throttled stream and start its next interval, or forget it."""
        with self._lock:
            throttled = self._throttled.get(slot)
            if throttled is None:
                return
            event, throttled.latest = throttled.latest, None
            if event is None:
                del self._throttled[slot]
                return
        assert self._loop is not None
        if not self._loop.is_closed():
            throttled.timer = self._loop.call_later(throttled.interval_s, self._release, slot)
        self._deliver(event)

    def _deliver(self, event: Event) -> None:
        self._queue.append(event)
        if self._is_delivering:
            return
        self._is_delivering = True
        try:
            while self._queue:
                self._call_handlers(self._queue.popleft())
        finally:
            self._is_delivering = False

    def _call_handlers(self, event: Event) -> None:
        for subscription in self._subscriptions:
            if not subscription.is_active or not isinstance(event, subscription.event_type):
                continue
            try:
                subscription.handler(event)
            except Exception:
                _logger.exception("The handler %r failed on %r", subscription.handler, event)

    def _cross(self, deliver: Callable[..., None], argument: object) -> None:
        if self._loop is None:
            raise RuntimeError("the event bus is not bound to a loop yet")
        try:
            self._loop.call_soon_threadsafe(deliver, argument)
        except RuntimeError:
            # Only a closed loop refuses; a thread that outlives it has nobody left to tell.
            _logger.warning("Nobody hears %r: the loop is closed", argument)


def has_running_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
