"""The executor: worker processes that can be stopped, crash and end; threads."""

import asyncio
import math
import operator
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import pytest

from shared import cpu_worker
from shared.cpu_executor import CpuTaskExecutor, CpuWorkerCrashed
from tests.ground.parked_workers import started_here


@pytest.fixture(autouse=True)
def workers_are_started_here():
    """What these tests prove is how one lives and ends."""
    with started_here():
        yield


@pytest.fixture
async def executor():
    made = CpuTaskExecutor(max_workers=2)
    yield made
    await made.shutdown()


class Unpicklable(Exception):
    """An exception that pickles but does not come back: it wants two arguments."""

    def __init__(self, first, second):
        super().__init__(f"{first} and {second}")


def raise_unpicklable():
    raise Unpicklable(1, 2)


def is_reaped(pid):
    try:
        os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        return True
    return False


def sleep_long():
    time.sleep(1000)


def speak():
    print("hello", flush=True)
    os.write(1, b"raw\n")
    return "spoken"


def raise_value_error():
    raise ValueError("not this")


def tell_and_sleep(fifo):
    """Write the process id to the FIFO, so that the test knows that the job runs, and never come back."""
    fifo.write_text(str(os.getpid()))
    while True:
        time.sleep(1000)


@pytest.fixture
def fifo(tmp_path):
    """A FIFO for `tell_and_sleep`."""
    os.mkfifo(tmp_path / "pid")
    return tmp_path / "pid"


async def pid_from(fifo):
    return int(await asyncio.to_thread(fifo.read_text))


async def test_a_job_runs_in_another_process_and_gives_its_value(executor):
    assert await executor.run(math.sqrt, 2.0) == math.sqrt(2.0)
    pid = await executor.run(os.getpid)
    assert pid in executor.worker_pids
    assert pid != os.getpid()


async def test_keyword_arguments_and_large_values(executor):
    assert await executor.run(sorted, [3, 1, 2], reverse=True) == [3, 2, 1]
    data = os.urandom(20_000_000)
    assert await executor.run(operator.add, data, b"end") == data + b"end"


async def test_workers_are_started_only_when_needed_and_used_again(executor):
    assert executor.worker_pids == ()
    first = await executor.run(os.getpid)
    assert await executor.run(os.getpid) == first
    assert executor.worker_pids == (first,)


async def test_no_more_workers_than_allowed(executor):
    pids = await asyncio.gather(*(executor.run(os.getpid) for _ in range(20)))
    assert len(set(pids)) <= 2


async def test_an_exception_comes_with_the_workers_traceback(executor):
    with pytest.raises(ValueError, match="not this") as caught:
        await executor.run(raise_value_error)
    assert "raise_value_error" in caught.value.__notes__[0]
    assert await executor.run(abs, -1) == 1


async def test_an_exception_that_does_not_come_back_is_told_by_its_text(executor):
    with pytest.raises(RuntimeError, match="Unpicklable: 1 and 2"):
        await executor.run(raise_unpicklable)


async def test_a_job_that_exits_does_not_end_the_program(executor):
    with pytest.raises(RuntimeError, match="SystemExit: 3"):
        await executor.run(sys.exit, 3)


async def test_what_cannot_be_pickled_is_refused_and_the_worker_stays_in_step(executor):
    pid = await executor.run(os.getpid)
    with pytest.raises((AttributeError, TypeError), match="pickle"):
        await executor.run(lambda: 1)
    with pytest.raises(TypeError, match="pickle"):
        await executor.run(threading.Lock)
    assert await executor.run(os.getpid) == pid


async def test_what_a_job_prints_does_not_get_among_the_answers(executor, capfd):
    assert await executor.run(speak) == "spoken"
    assert capfd.readouterr().err == "hello\nraw\n"


@pytest.mark.parametrize(
    ("crash", "how"),
    [((os._exit, 3), "exit code 3"), ((os.kill, 0, signal.SIGKILL), "SIGKILL"), ((os.abort,), "SIGABRT")],
)
async def test_a_crash_is_told_and_the_executor_goes_on(executor, crash, how):
    with pytest.raises(CpuWorkerCrashed, match=how) as caught:
        await executor.run(*crash)
    assert caught.value.exit_code == 3
    assert executor.worker_pids == ()
    assert await executor.run(abs, -1) == 1


async def test_a_crash_takes_only_its_own_job_along(executor):
    crash = executor.run(os._exit, 1)
    results = await asyncio.gather(
        crash, *(executor.run(abs, -number) for number in range(10)), return_exceptions=True
    )
    assert isinstance(results[0], CpuWorkerCrashed)
    assert results[1:] == list(range(10))


async def test_cancelling_really_ends_the_job(executor, fifo):
    job = asyncio.create_task(executor.run(tell_and_sleep, fifo))
    pid = await pid_from(fifo)
    job.cancel()
    with pytest.raises(asyncio.CancelledError):
        await job
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert await executor.run(abs, -1) == 1


async def test_cancelling_before_the_worker_lives(executor):
    for turns in range(12):
        job = asyncio.create_task(executor.run(sleep_long))
        for _ in range(turns):
            await asyncio.sleep(0)
        job.cancel()
        with pytest.raises(asyncio.CancelledError):
            await job
    assert executor.worker_pids == ()


async def test_cancelling_who_waits_for_a_free_worker(executor, tmp_path):
    fifos = [tmp_path / "first", tmp_path / "second"]
    for fifo in fifos:
        os.mkfifo(fifo)
    busy = [asyncio.create_task(executor.run(tell_and_sleep, fifo)) for fifo in fifos]
    for fifo in fifos:
        await pid_from(fifo)
    waiting = asyncio.create_task(executor.run(abs, -1))
    await asyncio.sleep(0)
    for job in (waiting, *busy):
        job.cancel()
        with pytest.raises(asyncio.CancelledError):
            await job
    assert await executor.run(abs, -5) == 5


async def test_shutdown_leaves_no_process_and_no_thread():
    executor = CpuTaskExecutor(max_workers=2)
    pids = set(await asyncio.gather(*(executor.run(os.getpid) for _ in range(4))))
    await executor.shutdown()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("cpu")]
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
    with pytest.raises(RuntimeError, match="shut down"):
        await executor.run(abs, -1)


async def test_shutdown_ends_a_job_that_runs(fifo):
    executor = CpuTaskExecutor(max_workers=1)
    job = asyncio.create_task(executor.run(tell_and_sleep, fifo))
    await pid_from(fifo)
    await executor.shutdown()
    with pytest.raises(CpuWorkerCrashed):
        await job


@pytest.mark.parametrize("works_on", [False, True])
async def test_a_worker_ended_behind_its_answer_is_reaped(monkeypatch, works_on):
    executor = CpuTaskExecutor(max_workers=1)
    await executor.run(math.sqrt, 4)
    (pid,) = executor.worker_pids
    (worker,) = executor._idle
    ask = worker.ask

    def answer_and_end(*given):
        answer = ask(*given)
        worker.kill()  # a cancellation that comes as late
        return answer

    monkeypatch.setattr(worker, "ask", answer_and_end)
    assert await executor.run(math.sqrt, 9) == 3
    if works_on:
        assert await executor.run(math.sqrt, 16) == 4
    await executor.shutdown()
    assert is_reaped(pid)


async def test_shutdown_without_any_work():
    await CpuTaskExecutor().shutdown()


async def test_a_worker_ends_when_its_parent_is_killed(fifo):
    program = (
        "import asyncio, pathlib, sys\n"
        f"sys.path[:] = {sys.path!r}\n"
        "from shared.cpu_executor import CpuTaskExecutor\n"
        "from tests.integration.processes.test_cpu_executor import tell_and_sleep\n"
        f"asyncio.run(CpuTaskExecutor().run(tell_and_sleep, pathlib.Path({str(fifo)!r})))\n"
    )
    parent = await asyncio.create_subprocess_exec(sys.executable, "-c", program)
    pid = await pid_from(fifo)
    descriptor = os.pidfd_open(pid)
    try:
        parent.kill()
        await parent.wait()
        ended = asyncio.Event()
        asyncio.get_running_loop().add_reader(descriptor, ended.set)
        await ended.wait()
        asyncio.get_running_loop().remove_reader(descriptor)
    finally:
        os.close(descriptor)


def pickled_job(function, *args):
    return pickle.dumps(pickle.dumps((function, args, {})))


@pytest.mark.parametrize(
    ("words", "is_heard"),
    [
        pytest.param([], True, id="before its first word"),
        pytest.param([pickle.dumps(sys.path)[:-9]], True, id="in its first word"),
        pytest.param([pickle.dumps(sys.path), pickled_job(len, "x" * 100_000)[:-9]], True, id="in a job"),
        pytest.param([pickle.dumps(sys.path), pickled_job(len, "x")], False, id="before the answer"),
    ],
)
def test_a_worker_whose_parent_dies_ends_without_a_word(words, is_heard):
    """`is_heard`: the parent's end for orders is closed; else the one for answers."""
    worker = subprocess.Popen(
        [sys.executable, cpu_worker.__file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    if not is_heard:
        worker.stdout.close()
    worker.stdin.write(b"".join(words))
    worker.stdin.flush()
    if is_heard:
        worker.stdin.close()
    assert worker.wait(timeout=30) == 0
    assert worker.stderr.read() == b""
    for stream in (worker.stdin, worker.stdout, worker.stderr):
        stream.close()
