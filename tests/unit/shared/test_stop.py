"""The stop controller: its states, its scopes, its guard."""

import asyncio

import pytest

from shared.events import EventBus
from shared.processes import ProcessManager
from shared.tasks import AsyncTaskRegistry, StopController, StopStateChanged


class Desk:
    """A registry and a controller, with everything the controller says."""

    def __init__(self, guard_s: float) -> None:
        self.bus = EventBus()
        self.registry = AsyncTaskRegistry(self.bus)
        self.processes = ProcessManager()
        self.stop = StopController(
            registry=self.registry, processes=self.processes, events=self.bus, guard_s=guard_s
        )
        self.said: list[tuple[object, str, str | None]] = []
        self.bus.subscribe(
            StopStateChanged, lambda event: self.said.append((event.scope, event.state, event.reason))
        )

    def work(self, task_id, scope, coroutine=None):
        return self.registry.submit("run", task_id, coroutine or asyncio.Event().wait(), scope=scope)


@pytest.fixture
async def desk():
    made = Desk(guard_s=0.05)
    yield made
    await made.registry.shutdown(timeout_s=1)
    made.stop.close()


async def test_a_stop_passes_through_all_states_and_ends_idle(desk):
    handle = desk.work("1", "tab")
    assert desk.stop.state("tab") == "running"
    assert await desk.stop.stop("user", scope="tab") is True
    assert handle.state == "cancelled"
    assert desk.stop.state("tab") == "idle"
    assert desk.said == [
        ("tab", "running", None),
        ("tab", "stop_requested", "user"),
        ("tab", "stopping", "user"),
        ("tab", "stopped", "user"),
        ("tab", "idle", None),
    ]


async def test_work_that_ends_by_itself_leaves_its_scope_idle(desk):
    async def quick():
        return 1

    await desk.work("1", "tab", quick()).result()
    assert desk.said == [("tab", "running", None), ("tab", "idle", None)]
    assert await desk.stop.stop("user", scope="tab") is False


async def test_a_second_click_is_harmless(desk):
    desk.work("1", "tab")
    answers = await asyncio.gather(*(desk.stop.stop("user", scope="tab") for _ in range(3)))
    assert answers == [True, True, True]
    assert [state for _, state, _ in desk.said].count("stop_requested") == 1


async def test_a_stop_ends_its_own_scope_only_and_new_work_starts_at_once(desk):
    desk.work("1", "left")
    right = desk.work("2", "right")
    await desk.stop.stop("user", scope="left")
    again = desk.work("1", "left")
    assert right.state == again.state == "running"
    assert desk.stop.state("left") == "running"


async def test_what_waits_in_the_queue_of_the_scope_is_stopped_too(desk):
    first = desk.registry.submit("run", "1", asyncio.Event().wait(), scope="tab", exclusive_key="k")
    second = desk.registry.submit("run", "2", asyncio.Event().wait(), scope="tab", exclusive_key="k")
    states: list[str] = []
    await asyncio.sleep(0)
    assert second.state == "pending"
    await desk.stop.stop("user", scope="tab")
    states = [first.state, second.state]
    assert states == ["cancelled", "cancelled"]


async def test_shutdown_stops_every_scope(desk):
    handles = [desk.work(str(number), f"tab {number}") for number in range(3)]
    await desk.stop.stop_all("app_shutdown")
    assert {handle.state for handle in handles} == {"cancelled"}
    assert {handle.cancel_reason for handle in handles} == {"app_shutdown"}


async def test_the_reason_is_known_while_it_is_being_stopped(desk):
    seen: list[object] = []

    async def work():
        try:
            await asyncio.Event().wait()
        finally:
            seen.extend([desk.stop.state("tab"), desk.stop.reason("tab")])

    desk.work("1", "tab", work())
    await asyncio.sleep(0)
    await desk.stop.stop("timeout", scope="tab")
    assert seen == ["stopping", "timeout"]
    assert desk.stop.reason("tab") is None


async def test_a_task_may_stop_its_own_scope(desk):
    async def work():
        await desk.stop.stop("error", scope="tab")

    handle = desk.work("1", "tab", work())
    await handle.wait()
    assert handle.state == "cancelled"
    await desk.stop.stop("user", scope="tab")
    assert desk.stop.state("tab") == "idle"


async def test_cancelling_the_call_does_not_call_the_stop_off(desk):
    handle = desk.work("1", "tab")
    call = asyncio.create_task(desk.stop.stop("user", scope="tab"))
    await asyncio.sleep(0)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await handle.wait()
    assert handle.state == "cancelled"
    await desk.stop.stop("user", scope="tab")
    assert desk.stop.state("tab") == "idle"


@pytest.mark.expects_error_log("does not end")
async def test_work_that_does_not_let_go_is_given_up_after_the_guard(desk):
    release = asyncio.Event()

    async def stubborn():
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue

    desk.stop._guard_s = 0.01
    handle = desk.work("1", "tab", stubborn())
    await asyncio.sleep(0)
    await desk.stop.stop("user", scope="tab")
    assert handle.state == "cancelled"
    assert desk.stop.state("tab") == "idle"
    release.set()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
