"""Python work off the loop: worker processes for pure Python, threads for what lets go of the GIL.

The workers are fresh interpreters of our own, not those of `multiprocessing`: a job can be stopped by
ending its worker, a worker that crashes takes only its own job along, and nothing is left behind
after `shutdown` (multiprocessing's fork server and resource tracker stay until the program ends).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any, TypeVar

from shared.errors import EnvironmentProblem
from shared.message import msg
from shared.uninterrupted import uninterrupted

T = TypeVar("T")

_WORKER_PROGRAM = Path(__file__).with_name("cpu_worker.py")
_GOODBYE_S = 2.0


class CpuWorkerCrashed(EnvironmentProblem):
    """The process that ran a job ended before it gave an answer (killed, out of memory, a crash)."""

    error_type = "worker_crashed"


class CpuTaskExecutor:
    """Runs functions in worker processes and in threads; both are started when first needed.

    `max_workers` bounds the worker processes (default: one per usable core). Functions, arguments and
    results travel by pickle, so a function must be importable by its module's name.
    """

    def __init__(self, *, max_workers: int | None = None) -> None:
        self._max_workers = max_workers or usable_cores()
        self._free_slots = asyncio.Semaphore(self._max_workers)
        self._idle: list[_Worker] = []
        self._busy: set[_Worker] = set()
        self._spent: list[_Worker] = []
        """Ended behind their answer, by a cancellation that came as late; to be reaped."""
        self._jobs: set[asyncio.Future[Any]] = set()
        self._pipe_pool: ThreadPoolExecutor | None = None
        self._is_shut_down = False

    @property
    def worker_pids(self) -> tuple[int, ...]:
        """Process ids of the living workers."""
        return tuple(worker.pid for worker in (*self._idle, *self._busy) if worker.pid is not None)

    async def run(self, function: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        """Call `function` in a worker process and return its value.

        Its exception is raised here, with the worker's traceback as a note. Raises CpuWorkerCrashed
        when the worker died. Cancelling ends the worker, and with it the function, at once.
        """
        async with self._free_slots:
            self._refuse_after_shutdown()
            if self._pipe_pool is None:
                self._pipe_pool = ThreadPoolExecutor(self._max_workers, "cpu-worker-pipe")
            worker = self._idle.pop() if self._idle else _Worker()
            self._busy.add(worker)
            self._reap(self._spent)
            try:
                job = self._pipe_pool.submit(worker.ask, function, args, kwargs)
                answer = await uninterrupted(self._known(job), on_cancel=worker.kill)
            finally:
                self._busy.discard(worker)
                (self._idle if worker.is_usable else self._spent).append(worker)
        if answer[0] == "value":
            value: T = answer[1]
            return value
        _, error, traceback_text = answer
        error.add_note(f"In the worker process:\n{traceback_text}")
        raise error

    async def shutdown(self) -> None:
        """Accept nothing more, end all workers and wait until every process and thread is gone."""
        self._is_shut_down = True
        for worker in self._busy:
            worker.kill()
        while self._jobs:
            await asyncio.wait(self._jobs)
        idle, self._idle = self._idle, []
        if self._pipe_pool is not None:
            partings = [self._known(self._pipe_pool.submit(worker.part)) for worker in idle]
            self._reap([*self._busy, *self._spent])
            await asyncio.gather(*partings, *self._jobs)
            await asyncio.to_thread(self._pipe_pool.shutdown)

    def _reap(self, ended: list[_Worker]) -> None:
        """Have killed workers waited for, so that none stays as a zombie; empties the list."""
        while ended and self._pipe_pool is not None:
            self._known(self._pipe_pool.submit(ended.pop().bury))

    def _known(self, job: Future[T]) -> asyncio.Future[T]:
        """The job as a future of the loop, which `shutdown` waits for."""
        future = asyncio.wrap_future(job)
        self._jobs.add(future)
        future.add_done_callback(self._jobs.discard)
        return future

    def _refuse_after_shutdown(self) -> None:
        if self._is_shut_down:
            raise RuntimeError("the executor was shut down")


class _Worker:
    """One worker process and the pipes to it; `ask` and `part` block and belong in a thread.

    The process dies with the thread that started it, so that has to be one that lives as long: of the pool.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._starting = threading.Lock()
        self.is_usable = True
        """It lives, or has not been started yet, and is in step."""

    @property
    def pid(self) -> int | None:
        """Process id; None before its first job."""
        return None if self._process is None else self._process.pid

    def ask(self, function: Callable[..., Any], args: Any, kwargs: Any) -> tuple[Any, ...]:
        """Have `function` called; the answer as in shared.cpu_worker. Raises CpuWorkerCrashed."""
        job = pickle.dumps((function, args, kwargs), pickle.HIGHEST_PROTOCOL)
        try:
            requests, answers = self._pipes()
            pickle.dump(job, requests)
            requests.flush()
            answer = pickle.load(answers)  # noqa: S301 - our own child
        except (EOFError, OSError, pickle.UnpicklingError) as error:
            raise CpuWorkerCrashed(
                msg("A calculation stopped because its process ended unexpectedly ({how}).", how=self.bury()),
                advice=msg("Try it again; if it happens again, the computer may be short of memory."),
            ) from error
        found: tuple[Any, ...] = pickle.loads(answer)  # noqa: S301 - our own child
        return found

    def kill(self) -> None:
        """End the process and what it started, at once; one that is only being started never lives."""
        self.is_usable = False
        with self._starting:
            if self._process is not None and self._process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(self._process.pid, signal.SIGKILL)

    def part(self) -> None:
        """End an idle process in good order."""
        if self._process is not None:
            assert self._process.stdin is not None
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_GOODBYE_S)
            self.bury()

    def _pipes(self) -> tuple[IO[bytes], IO[bytes]]:
        with self._starting:
            if not self.is_usable:
                raise EOFError
            is_new = self._process is None
            if self._process is None:
                self._process = subprocess.Popen(
                    [sys.executable, "-I", str(_WORKER_PROGRAM), str(os.getpid())],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    start_new_session=True,
                )
            requests, answers = self._process.stdin, self._process.stdout
        assert requests is not None
        assert answers is not None
        if is_new:
            pickle.dump(sys.path, requests)
        return requests, answers

    def bury(self) -> str:
        """Kill and reap the process, close its pipes; says how it ended."""
        self.kill()
        if self._process is None:
            return "killed"
        code = self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(BrokenPipeError):
                assert pipe is not None
                pipe.close()
        return signal.Signals(-code).name if code < 0 else f"exit code {code}"


def usable_cores() -> int:
    """Of the machine, those this program may run on."""
    if sys.platform.startswith("linux"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
