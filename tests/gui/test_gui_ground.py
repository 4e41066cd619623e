"""The ground itself: coroutine tests run on the fused loop, and a held loop is seen."""

from __future__ import annotations

import asyncio
import gc
import sys
import time
from collections.abc import Iterator

import pytest
from PyQt6.QtCore import Qt, QTimer
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QPushButton

from shared.errors import UserInputError
from shared.message import msg
from tests.gui.loop_watchdog import Hold, LoopWatchdog


@pytest.fixture(scope="module", autouse=True)
def python_collects_nothing_around_these_tests() -> Iterator[None]:
    """Neither before the collector of the first nor behind that of the last: other threads run there, too."""
    assert not gc.isenabled()
    yield
    assert not gc.isenabled()


async def test_the_loop_is_asyncios_and_qts(qapp, until):
    heard = []
    QTimer.singleShot(1, lambda: heard.append("qt"))
    asyncio.get_running_loop().call_later(0.001, heard.append, "asyncio")
    await until(lambda: len(heard) == 2)
    assert sorted(heard) == ["asyncio", "qt"]


async def test_a_cancelled_timer_is_gone_at_once(qapp):
    """Else a stream of a minute would leave a hundred thousand of them to Qt."""
    loop = asyncio.get_running_loop()
    before = len(loop._timer._SimpleTimer__callbacks)
    for _ in range(50):
        async with asyncio.timeout(3600):
            await asyncio.sleep(0)
    assert len(loop._timer._SimpleTimer__callbacks) <= before + 2
    heard = []
    kept, cancelled = (loop.call_later(0.002, heard.append, name) for name in ("kept", "cancelled"))
    cancelled.cancel()
    cancelled.cancel()
    await asyncio.sleep(0.02)
    after = [loop.call_later(0.002, heard.append, number) for number in range(5)]
    kept.cancel()  # too late: its timer's number belongs to another by now
    await asyncio.sleep(0.02)
    assert heard == ["kept", *range(5)]
    assert not any(one.cancelled() for one in after)


async def test_programs_and_threads_serve_the_fused_loop(qapp):
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", "print(6 * 7)", stdout=asyncio.subprocess.PIPE
    )
    output, _ = await process.communicate()
    assert (output.strip(), process.returncode) == (b"42", 0)
    assert await asyncio.to_thread(lambda: "thread") == "thread"


async def test_services_run_coroutines_as_tasks_and_show_their_errors(services, until):
    shown = []
    services.workspace.status_changed.connect(lambda message: shown.append(str(message)))

    async def fail():
        raise UserInputError(msg("No such node: {name}.", name="outt"))

    handle = services.start(fail(), kind="test")
    await handle.wait()
    assert handle.state == "failed"
    assert shown == ["No such node: outt."]


def hold(seconds: float) -> None:
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


async def hold_while_watched(watchdog: LoopWatchdog) -> None:
    async with watchdog.watching():
        asyncio.get_running_loop().call_soon(hold, 0.6)
        await asyncio.sleep(0.02)


async def test_the_watchdog_sees_a_held_loop(qapp):
    with pytest.raises(pytest.fail.Exception, match=r"held 1 times(.|\n)*in hold"):
        await hold_while_watched(LoopWatchdog())


@pytest.mark.parametrize(("computed", "queued", "spare", "beside", "blamed"), [
    (0.0, 0.0, 0.3, 0.0, True),  # asleep while a core was free
    (0.0, 0.0, 0.0, 0.25, True),  # another thread of ours computed and may have held a lock
    (0.0, 0.05, 0.01, 0.02, False),  # nobody had a core: whatever was waited for hadn't either
    (0.2, 0.1, 0.0, 0.0, True),  # computed, however crowded it was
])  # fmt: skip
def test_the_watchdog_blames_a_wait_for_what_can_be_ours(computed, queued, spare, beside, blamed):
    one = Hold(wall_s=0.3, computed_s=computed, queued_s=queued, spare_s=spare, beside_s=beside)
    assert one.is_over(0.05) is blamed


async def test_the_watchdog_lets_short_steps_pass(qapp, loop_watchdog):
    async with loop_watchdog.watching():
        for _ in range(20):
            hold(0.005)
            await asyncio.sleep(0)


async def test_a_click_is_real(services, qtbot):
    button = QPushButton("Run")
    qtbot.addWidget(button)
    clicked = asyncio.get_running_loop().create_future()
    button.clicked.connect(lambda: clicked.set_result(True))
    button.show()
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert await asyncio.wait_for(clicked, 50)


async def test_nothing_begins_once_the_end_has_begun(services):
    """A slot that starts something then would take the whole program down."""
    await services.app.program.tasks.shutdown()
    begun = []

    async def work():
        begun.append(True)

    assert services.start(work(), kind="late") is None
    await asyncio.sleep(0)
    assert not begun
