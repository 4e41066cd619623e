"""The task registry: queues, cancellation, failures, shutdown."""

import asyncio

import pytest

from shared.errors import CircuitError, Stopped
from shared.events import EventBus
from shared.message import msg
from shared.tasks import AsyncTaskRegistry, TaskFailed, TaskStateChanged


@pytest.fixture
def bus():
    return EventBus()


@pytest.fixture
async def registry(bus):
    made = AsyncTaskRegistry(bus)
    yield made
    await made.shutdown(timeout_s=1)


def states_of(bus):
    states: list[tuple[str, str]] = []
    bus.subscribe(TaskStateChanged, lambda event: states.append((event.task_id, event.state)))
    return states


async def value_of(value):
    return value


async def never():
    await asyncio.Event().wait()


async def test_a_task_gives_its_value_and_its_states(bus, registry):
    states = states_of(bus)
    handle = registry.submit("sum", "a", value_of(5))
    assert await handle.result() == 5
    assert handle.state == "done"
    assert states == [("a", "pending"), ("a", "running"), ("a", "done")]
    assert registry.handles == ()


async def test_one_runs_under_an_exclusive_key_the_next_waits_its_turn(bus, registry):
    order: list[str] = []
    gate = asyncio.Event()

    async def work(name):
        order.append(f"{name} begins")
        await gate.wait()
        order.append(f"{name} ends")

    handles = [registry.submit("run", name, work(name), exclusive_key="tab 1") for name in "abc"]
    other = registry.submit("run", "other", work("x"), exclusive_key="tab 2")
    await asyncio.sleep(0)
    assert [handle.state for handle in handles] == ["running", "pending", "pending"]
    assert other.state == "running"
    gate.set()
    await registry.wait([*handles, other])
    assert [line for line in order if not line.startswith("x")] == [
        f"{name} {what}" for name in "abc" for what in ("begins", "ends")
    ]


@pytest.mark.expects_error_log("failed")
async def test_the_next_one_starts_also_after_a_failure_or_a_cancellation(bus, registry):
    begun = asyncio.Event()
    runs = ("stopped", "running")
    bus.subscribe(
        TaskStateChanged, lambda event: begun.set() if (event.task_id, event.state) == runs else None
    )

    async def fail():
        raise ZeroDivisionError

    registry.submit("run", "fails", fail(), exclusive_key="k")
    registry.submit("run", "stopped", never(), exclusive_key="k")
    last = registry.submit("run", "last", value_of(3), exclusive_key="k")
    await begun.wait()
    registry.cancel(task_id="stopped")
    assert await last.result() == 3


@pytest.mark.expects_error_log("failed")
async def test_an_exception_is_logged_published_and_raised(bus, registry):
    failures: list[TaskFailed] = []
    bus.subscribe(TaskFailed, failures.append)
    error = ZeroDivisionError("by nought")

    async def fail():
        raise error

    handle = registry.submit("run", "a", fail(), scope="tab")
    with pytest.raises(ZeroDivisionError):
        await handle.result()
    assert failures == [TaskFailed(kind="run", task_id="a", scope="tab", error=error)]
    assert handle.state == "failed"


async def test_an_error_with_a_text_for_people_is_a_warning_in_the_log(registry, caplog):
    async def fail():
        raise CircuitError(msg("There is no crossing."))

    with pytest.raises(CircuitError):
        await registry.submit("run", "a", fail()).result()
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert "There is no crossing." in record.getMessage()


@pytest.mark.parametrize(
    ("choice", "cancelled"),
    [
        ({"kind": "chat", "task_id": "1"}, {"1"}),
        ({"kind": "chat"}, {"1", "2"}),
        ({"scope": "left"}, {"1", "3"}),
        ({}, {"1", "2", "3"}),
        ({"kind": "nothing"}, set()),
    ],
)
async def test_cancel_by_id_by_kind_by_scope_or_all(registry, choice, cancelled):
    handles = [
        registry.submit("chat", "1", never(), scope="left"),
        registry.submit("chat", "2", never(), scope="right"),
        registry.submit("simulate", "3", never(), scope="left"),
    ]
    await asyncio.sleep(0)
    chosen = registry.cancel(**choice)
    await registry.wait(chosen)
    assert {handle.task_id for handle in chosen} == cancelled
    assert {handle.task_id for handle in handles if handle.state == "cancelled"} == cancelled


async def test_a_cancelled_task_sees_the_reason_and_its_result_says_stopped(registry):
    seen: list[object] = []

    async def work():
        try:
            await never()
        except asyncio.CancelledError as error:
            seen.extend(error.args)
            raise

    handle = registry.submit("run", "a", work())
    await asyncio.sleep(0)
    registry.cancel(reason="session_switch")
    with pytest.raises(Stopped):
        await handle.result()
    assert seen == ["session_switch"]
    assert handle.cancel_reason == "session_switch"


async def test_a_second_cancellation_leaves_the_clean_up_alone(registry):
    cleaning, may_end = asyncio.Event(), asyncio.Event()
    said = []

    async def work():
        try:
            await asyncio.Event().wait()
        finally:
            cleaning.set()
            await may_end.wait()
            said.append("clean")

    handle = registry.submit("work", "a", work())
    await asyncio.sleep(0)
    registry.cancel()
    await cleaning.wait()
    registry.cancel(reason="app_shutdown")
    may_end.set()
    await handle.wait()
    assert said == ["clean"]
    assert (handle.state, handle.cancel_reason) == ("cancelled", "user")


async def test_a_clean_up_that_hangs_can_be_cancelled_again(registry):
    cleaning = asyncio.Event()

    async def work():
        try:
            await asyncio.Event().wait()
        finally:
            cleaning.set()
            await asyncio.Event().wait()

    handle = registry.submit("work", "a", work())
    await asyncio.sleep(0)
    registry.cancel()
    await cleaning.wait()
    registry.cancel(again=True)
    await handle.wait()
    assert handle.state == "cancelled"


async def test_a_task_cancelled_before_its_first_step_leaves_no_warning(registry):
    running = registry.submit("run", "at once", value_of(1))
    waiting = [registry.submit("run", name, never(), exclusive_key="k") for name in "ab"]
    registry.cancel()
    await registry.wait([running, *waiting])
    assert {handle.state for handle in (running, *waiting)} == {"cancelled"}


async def test_cancelling_who_waits_does_not_cancel_the_task(registry):
    gate = asyncio.Event()
    handle = registry.submit("run", "a", gate.wait())
    waiter = asyncio.create_task(handle.result())
    await asyncio.sleep(0)
    waiter.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiter
    assert handle.state == "running"
    gate.set()
    assert await handle.result() is True


async def test_the_same_kind_and_id_twice_is_refused(registry):
    registry.submit("run", "a", never())
    with pytest.raises(ValueError, match="already"):
        registry.submit("run", "a", never())
    registry.cancel()


async def test_after_the_shutdown_nothing_is_accepted(bus):
    registry = AsyncTaskRegistry(bus)
    handle = registry.submit("run", "a", never())
    await registry.shutdown()
    assert handle.state == "cancelled"
    with pytest.raises(RuntimeError, match="shutdown"):
        registry.submit("run", "b", never())


@pytest.mark.expects_error_log("does not end")
async def test_a_task_that_does_not_let_go_is_given_up_and_the_next_may_start(registry):
    release = asyncio.Event()

    async def stubborn():
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue
        return "late"

    handle = registry.submit("run", "a", stubborn(), exclusive_key="k")
    following = registry.submit("run", "b", value_of("next"), exclusive_key="k")
    await asyncio.sleep(0)
    registry.cancel(task_id="a")
    left = await registry.wait([handle], timeout_s=0.01)
    assert left == (handle,)
    registry.abandon(left)
    assert await following.result() == "next"
    with pytest.raises(Stopped):
        await handle.result()
    release.set()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert handle.state == "cancelled"


async def test_a_listener_may_cancel_a_task_as_soon_as_it_hears_of_it(bus, registry):
    bus.subscribe(
        TaskStateChanged,
        lambda event: registry.cancel(task_id=event.task_id) if event.state == "pending" else None,
    )
    handle = registry.submit("run", "a", never())
    assert handle.state == "cancelled"
    assert registry.handles == ()
