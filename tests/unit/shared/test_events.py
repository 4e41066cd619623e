"""The event bus: order, threads, throttling, handlers that fail."""

import asyncio
import threading
from dataclasses import dataclass

import pytest

from shared.events import Event, EventBus


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured(Event):
    value: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished(Event):
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredTwice(Measured):
    pass


async def test_a_handler_gets_its_class_and_those_derived_from_it():
    bus = EventBus()
    heard: list[Event] = []
    everything: list[Event] = []
    bus.subscribe(Measured, heard.append)
    bus.subscribe(Event, everything.append)
    events = [Measured(value=1), Finished(), MeasuredTwice(value=2)]
    for event in events:
        bus.publish(event)
    assert heard == [events[0], events[2]]
    assert everything == events


async def test_unsubscribing_ends_it_also_in_the_middle_of_a_delivery():
    bus = EventBus()
    heard: list[str] = []

    def first(event: Event) -> None:
        heard.append("first")
        end_second()

    bus.subscribe(Event, first)
    end_second = bus.subscribe(Event, lambda event: heard.append("second"))
    bus.publish(Finished())
    end_second()
    assert heard == ["first"]


async def test_what_a_handler_publishes_comes_after_the_present_event_for_everyone():
    bus = EventBus()
    first: list[int] = []
    second: list[int] = []

    def answer(event: Measured) -> None:
        first.append(event.value)
        if event.value < 3:
            bus.publish(Measured(value=event.value + 1))

    bus.subscribe(Measured, answer)
    bus.subscribe(Measured, lambda event: second.append(event.value))
    bus.publish(Measured(value=1))
    assert first == second == [1, 2, 3]


@pytest.mark.expects_error_log("broken.*Measured\\(value=7\\)")
async def test_a_failing_handler_is_logged_with_the_event_and_stops_nobody():
    bus = EventBus()
    heard: list[Measured] = []

    def broken(event: Measured) -> None:
        raise ZeroDivisionError

    bus.subscribe(Measured, broken)
    bus.subscribe(Measured, heard.append)
    bus.publish(Measured(value=7))
    assert heard == [Measured(value=7)]


async def test_events_of_a_thread_arrive_on_the_loop_in_order():
    bus = EventBus()
    heard: list[tuple[int, int]] = []
    done = asyncio.Event()
    bus.subscribe(Measured, lambda event: heard.append((event.value, threading.get_ident())))
    bus.subscribe(Finished, lambda event: done.set())

    def work() -> None:
        for value in range(1000):
            bus.publish(Measured(value=value))
        bus.publish(Finished())

    await asyncio.to_thread(work)
    await done.wait()
    assert heard == [(value, threading.get_ident()) for value in range(1000)]


async def test_throttling_gives_the_first_and_the_last_and_few_between():
    bus = EventBus()
    heard: list[int] = []
    last = asyncio.Event()

    def hear(event: Measured) -> None:
        heard.append(event.value)
        if event.value == 999:
            last.set()

    bus.subscribe(Measured, hear)
    for value in range(1000):
        bus.publish_throttled(Measured(value=value), interval_s=0.01)
    await last.wait()
    assert heard == [0, 999]


async def test_throttling_from_a_thread_loses_neither_the_last_nor_the_order():
    bus = EventBus()
    heard: list[int] = []
    last = asyncio.Event()

    def hear(event: Measured) -> None:
        heard.append(event.value)
        if event.value == 19_999:
            last.set()

    bus.subscribe(Measured, hear)

    def work() -> None:
        for value in range(20_000):
            bus.publish_throttled(Measured(value=value), interval_s=0.001)

    await asyncio.to_thread(work)
    await last.wait()
    assert heard == sorted(set(heard))
    assert len(heard) < 20_000


async def test_keys_and_classes_are_throttled_apart():
    bus = EventBus()
    heard: list[Event] = []
    bus.subscribe(Event, heard.append)
    events = [Measured(value=1), Measured(value=2), MeasuredTwice(value=3)]
    bus.publish_throttled(events[0], key="a", interval_s=60)
    bus.publish_throttled(events[1], key="b", interval_s=60)
    bus.publish_throttled(events[2], key="a", interval_s=60)
    assert heard == events
    bus.flush_throttled("a")
    bus.flush_throttled("b")


async def test_flushing_delivers_what_is_held_back_before_the_end():
    bus = EventBus()
    heard: list[Event] = []
    bus.subscribe(Event, heard.append)
    for value in (1, 2, 3):
        bus.publish_throttled(Measured(value=value), key="run", interval_s=60)
    bus.flush_throttled("run")
    bus.publish(Finished())
    bus.flush_throttled("run")
    assert heard == [Measured(value=1), Measured(value=3), Finished()]


async def test_after_a_quiet_interval_the_next_event_goes_out_at_once():
    bus = EventBus()
    heard: list[int] = []
    bus.subscribe(Measured, lambda event: heard.append(event.value))
    bus.publish_throttled(Measured(value=1), interval_s=0.0)
    await asyncio.sleep(0.001)  # its timer, due at once, comes before this one
    bus.publish_throttled(Measured(value=2), interval_s=60)
    assert heard == [1, 2]
    bus.flush_throttled()


async def test_a_coroutine_function_is_no_handler():
    async def handler(event: Event) -> None: ...

    with pytest.raises(TypeError, match="coroutine"):
        EventBus().subscribe(Event, handler)


def test_a_bus_made_before_the_loop_is_bound_by_the_first_event_on_one():
    bus = EventBus()
    heard: list[Event] = []
    bus.subscribe(Event, heard.append)
    with pytest.raises(RuntimeError, match="not bound"):
        bus.publish(Finished())

    async def main() -> None:
        bus.publish(Finished())

    asyncio.run(main())
    asyncio.run(main())
    assert heard == [Finished(), Finished()]


def test_a_thread_that_outlives_the_loop_is_told_in_the_log_only(caplog):
    async def main() -> EventBus:
        return EventBus()

    bus = asyncio.run(main())
    thread = threading.Thread(target=bus.publish, args=(Finished(),))
    thread.start()
    thread.join()
    assert "loop is closed" in caplog.text
