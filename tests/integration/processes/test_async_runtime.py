"""`async_runtime.run`: values, errors, stop signals, what is left over."""

import asyncio
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from shared import async_runtime

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(autouse=True)
def hangup_as_usual():
    """The suite may have been started by nohup, which children would inherit."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


def run_program(body, signals=()):
    """A child that runs `main` as a sub-command would; sends it `signals`, each after a line it says."""
    program = f"""
import asyncio, logging, sys
logging.basicConfig()
logging.getLogger("asyncio").addFilter(lambda record: "took" not in record.msg)  # a busy machine is no fault
from shared import async_runtime
def say(word): print(word, flush=True)
{body}
try:
    say(async_runtime.run(main))
except asyncio.CancelledError:
    sys.exit(130)
"""
    with subprocess.Popen(
        [sys.executable, "-X", "dev", "-c", program],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as child:
        said = []
        try:
            for number in signals:
                said.append(child.stdout.readline().strip())
                child.send_signal(number)
            out, err = child.communicate(timeout=50)
        finally:
            child.kill()
    return child.returncode, [*said, *out.split()], err


def test_the_value_and_the_exception_come_out():
    async def value():
        return 5

    async def fail():
        raise ZeroDivisionError

    assert async_runtime.run(value) == 5
    with pytest.raises(ZeroDivisionError):
        async_runtime.run(fail)


def test_signal_handlers_are_as_before():
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.getsignal(number) for number in numbers]

    async def during():
        return [signal.getsignal(number) for number in numbers]

    assert all(handler not in before for handler in async_runtime.run(during))
    assert [signal.getsignal(number) for number in numbers] == before


def test_a_hangup_stays_ignored_when_it_was():
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    body = """
async def main():
    say("ready")
    await asyncio.to_thread(sys.stdin.readline)
    return "went-on"
"""
    code, said, err = run_program(body, [signal.SIGHUP])
    assert (code, said, err) == (0, ["ready", "went-on"], "")


def test_it_runs_in_a_thread_too():
    values = []

    async def value():
        return 5

    thread = threading.Thread(target=lambda: values.append(async_runtime.run(value)))
    thread.start()
    thread.join()
    assert values == [5]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_stop_signal_cancels_and_everything_is_closed(number):
    body = """
async def main():
    try:
        say("ready")
        await asyncio.Event().wait()
    finally:
        await asyncio.sleep(0)
        say("closed")
"""
    assert run_program(body, [number]) == (130, ["ready", "closed"], "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_that_came_before_the_loop_is_not_lost(number):
    body = f"""
import os
from shared.stop_signals import StopSignals
signals = StopSignals()
os.kill(os.getpid(), {int(number)})
async def main():
    say("begun")
real_run = async_runtime.run
async_runtime.run = lambda main: real_run(main, signals=signals)
"""
    assert run_program(body) == (130, [], "")


def test_signals_after_the_loop_change_nothing():
    body = """
import os, signal
from shared.stop_signals import StopSignals
signals = StopSignals()
async def main():
    return "main"
say(async_runtime.run(main, signals=signals))
os.kill(os.getpid(), signal.SIGTERM)
signals.ignore()
os.kill(os.getpid(), signal.SIGTERM)
os.kill(os.getpid(), signal.SIGINT)
"""
    assert run_program(body) == (0, ["main", "main"], "")


def test_a_main_that_catches_the_cancellation_decides_what_comes_of_it():
    body = """
async def main():
    try:
        say("ready")
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        return "saved"
"""
    assert run_program(body, [signal.SIGINT]) == (0, ["ready", "saved"], "")


def test_a_signal_ends_a_main_that_hangs_in_its_clean_up_after_some_patience():
    body = """
async def main():
    while True:
        try:
            say("ready")
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            pass
"""
    code, said, _ = run_program(body, [signal.SIGINT] * 4)
    assert code == -signal.SIGINT
    assert said == ["ready"] * 4


def test_left_over_tasks_and_generators_end_without_a_word():
    body = """
async def forever():
    try:
        await asyncio.Event().wait()
    finally:
        say("task")
async def numbers():
    try:
        yield 1
    finally:
        say("generator")
async def main():
    main.task = asyncio.create_task(forever())
    main.numbers = numbers()
    await anext(main.numbers)
    await asyncio.to_thread(str)
    return "main"
"""
    code, said, err = run_program(body)
    assert (code, err) == (0, "")
    assert sorted(said) == ["generator", "main", "task"]


def test_what_nobody_catches_on_the_loop_is_logged():
    body = """
async def main():
    asyncio.get_running_loop().call_soon(lambda: 1 / 0)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    return "main"
"""
    code, said, err = run_program(body)
    assert (code, said) == (0, ["main"])
    assert "ERROR:shared.async_runtime" in err
    assert "ZeroDivisionError" in err


def test_a_program_of_the_process_manager_is_gone_after_the_signal():
    body = """
from shared.processes import ProcessManager
async def main():
    program = ["/bin/sh", "-c", "echo $$; exec sleep 1000"]
    await ProcessManager().run(program, on_line=lambda _, line: say(line))
"""
    code, said, err = run_program(body, [signal.SIGTERM])
    assert (code, err) == (130, "")
    assert not Path(f"/proc/{int(said[0])}").exists()


@pytest.mark.expects_error_log("a slow callback")
async def test_a_loop_error_without_an_exception_is_logged_too(caplog):
    async_runtime.log_loop_error(asyncio.get_running_loop(), {"message": "a slow callback", "handle": 3})
    assert "a slow callback {'handle': 3}" in caplog.text
