"""Workers of `CpuTaskExecutor` serve one test after another, as in the program one job after another.

To start one, and to have it import what its first job needs, is an eighth of a second of the processor for
each application that a test makes. One that is through with its test is parked, and given the environment
and the folder of the test that takes it next; one that was killed, or is at work, ends as ever. The tests
of the executor itself start theirs (`started_here`).
"""

from __future__ import annotations

import contextlib
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

_MODULE = "shared.cpu_executor"
_MOST = 2
_parked: list[subprocess.Popen[bytes]] = []


def park_workers() -> None:
    """From now on, where the module is loaded."""
    module = sys.modules.get(_MODULE)
    if module is None or hasattr(module._Worker, "_own_part"):
        return
    module._Worker._own_part, module._Worker._own_pipes = module._Worker.part, module._Worker._pipes
    module._Worker.part, module._Worker._pipes = _part, _pipes


@contextlib.contextmanager
def started_here() -> Iterator[None]:
    """Within it each starts its own, and ends it."""
    from shared.cpu_executor import _Worker

    worker: Any = _Worker
    parts, pipes = worker.part, worker._pipes
    worker.part = getattr(worker, "_own_part", parts)
    worker._pipes = getattr(worker, "_own_pipes", pipes)
    try:
        yield
    finally:
        worker.part, worker._pipes = parts, pipes


def parked_pids() -> set[int]:
    """The processes that wait for a test."""
    return {process.pid for process in _parked}


def parked_files() -> set[int]:
    """Our ends of their pipes."""
    pipes = (pipe for process in _parked for pipe in (process.stdin, process.stdout))
    return {pipe.fileno() for pipe in pipes if pipe is not None}


def take_place(environment: dict[str, str], folder: str) -> None:
    """In the worker: be where the next test is."""
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    tempfile.tempdir = None


def _part(worker: Any) -> None:
    process = worker._process
    if process is None or not worker.is_usable or process.poll() is not None or len(_parked) >= _MOST:
        worker._own_part()
    else:
        worker._process = None
        _parked.append(process)


def _pipes(worker: Any) -> tuple[IO[bytes], IO[bytes]]:
    with worker._starting:
        if not worker.is_usable:
            raise EOFError
        if worker._process is None:
            worker._process = _taken() or _started()
        requests, answers = worker._process.stdin, worker._process.stdout
    return requests, answers


def _started() -> subprocess.Popen[bytes]:
    """One that outlives the thread that starts it: it ends when its input does."""
    program = str(sys.modules[_MODULE]._WORKER_PROGRAM)
    process = subprocess.Popen(
        [sys.executable, "-I", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdin is not None
    pickle.dump(sys.path, process.stdin)
    return process


def _taken() -> subprocess.Popen[bytes] | None:
    while _parked:
        process = _parked.pop()
        assert process.stdin is not None
        assert process.stdout is not None
        job = pickle.dumps((take_place, (dict(os.environ), str(Path.cwd())), {}))
        with contextlib.suppress(EOFError, OSError, pickle.UnpicklingError):
            pickle.dump(job, process.stdin)
            process.stdin.flush()
            if pickle.loads(pickle.load(process.stdout))[0] == "value":
                return process
        process.kill()  # somebody ended it meanwhile
        process.wait()
        for pipe in (process.stdin, process.stdout):
            with contextlib.suppress(BrokenPipeError):
                pipe.close()
    return None
