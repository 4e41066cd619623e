"""Runs the tests in several processes that are forks of one which has collected them (`--forks`).

pytest-xdist starts each worker anew, and each imports and collects everything: with eight thousand tests
ten seconds of the processor a worker. A fork has it all. It reports over a socket; who collected hands out
the tests, one ahead of the one that runs, module by module; who has none left is given the second half of
the longest rest. A worker that dies fails the test it was in, and another takes its place.

Workers that stand back (`--forks=4+2`: two beside four) use what the others leave of the processor while
they wait: they run at a lower priority, and take no test that shows a window, which wants its turn soon.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import itertools
import os
import pickle
import select
import signal
import socket
import struct
import sys
import time
import traceback
import warnings
from collections import deque
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from _pytest.tmpdir import TempPathFactory

from tests.ground import warm_python

_AHEAD = 2
"""Tests a worker knows of: the one it runs and the next, which tells it what is still needed of a module."""
_END = -1
_WINDOW = "qapp"
"""The fixture of a test that shows a window."""
_BACK = 3
"""How much nicer those are that stand back: of a core that is wanted by both they get a third."""
_SERVED = frozenset(("forked_commands", "designs"))
"""Fixtures whose processes import the whole program."""
_LENGTH = struct.Struct("!I")
_PATIENCE_S = 30.0
"""For workers to clean up after themselves when a run is stopped."""


def add_option(parser: pytest.Parser) -> None:
    """`--forks`."""
    parser.getgroup("forks").addoption(
        "--forks",
        metavar="N",
        type=_count,
        help="run the tests in N forks of the process that has collected them (N+M: and in M more that "
        "stand back for them); auto: as many as pay",
    )


def _count(text: str) -> str:
    if text != "auto" and not all(part.isdecimal() for part in text.split("+", 1)):
        raise argparse.ArgumentTypeError(f"a number (4, 4+2) or auto is needed, not {text!r}")
    return text


def number_of_forks(config: pytest.Config, auto: tuple[int, int]) -> tuple[int, int]:
    """How many were asked for, and how many that stand back; 0: none, tests run where they are collected."""
    asked = config.getoption("forks")
    if asked == "auto":
        return auto
    count, _, back = (asked or "0").partition("+")
    return int(count), int(back or 0)


def run_in_forks(session: pytest.Session, count: int, back: int = 0) -> None:
    """Run all tests of a session in `count` forks, and `back` that stand back for them.

    Raises as pytest's own loop does when it is to stop early.
    """
    reporter = session.config.pluginmanager.getplugin("terminalreporter")
    reporter.showfspath = False  # tests of several modules end side by side
    served = any(_SERVED.intersection(item.fixturenames) for item in session.items)
    is_wanted = served and not warm_python.is_standing()
    with warm_python.standing() if is_wanted else contextlib.nullcontext():
        handed_out = _HandedOut(session, count, back)
        try:
            handed_out.run()
        finally:
            handed_out.close()
    if session.shouldfail:
        raise session.Failed(session.shouldfail)
    if session.shouldstop:
        raise session.Interrupted(session.shouldstop)


class _HandedOut:
    """The side of the process that has collected: what is still to do, and who does what."""

    def __init__(self, session: pytest.Session, count: int, back: int) -> None:
        self._session = session
        self._hook = session.config.hook
        indices = range(len(session.items))
        by_module = itertools.groupby(indices, key=lambda index: session.items[index].path)
        self._modules = deque(deque(group) for _path, group in by_module)
        self._workers: dict[int, _Worker] = {}
        self._names = itertools.count()
        self._tells = _Tells(session.config)
        session.config.pluginmanager.register(self._tells)
        # Made here: it is what the workers' folders lie in, and what goes at the end.
        self._folder = session.config._tmp_path_factory.getbasetemp()
        for number in range(min(count + back, len(session.items))):
            self._begin(deque(), stands_back=number >= count)

    def run(self) -> None:
        """Until each test has been reported, or those under way when the run is to stop."""
        while self._workers:
            for descriptor in select.select(list(self._workers), [], [])[0]:
                self._hear(self._workers[descriptor])
            if self._session.shouldfail or self._session.shouldstop:
                self._modules.clear()
                for worker in self._workers.values():
                    worker.rest.clear()

    def close(self) -> None:
        """End what still runs, as Ctrl+C does, and in the end without asking."""
        for worker in self._workers.values():
            worker.socket.close()
            worker.signal(signal.SIGINT)
        end = time.monotonic() + _PATIENCE_S
        for worker in self._workers.values():
            worker.end(max(0.0, end - time.monotonic()))
        self._workers.clear()

    def _begin(self, rest: deque[int], *, stands_back: bool) -> None:
        """Start a worker that is to do `rest` before anything else."""
        name = f"gw{next(self._names)}"
        ours, theirs = socket.socketpair()
        sys.stdout.flush()
        sys.stderr.flush()
        # Ctrl+C within a fork would be lost: what Python does around it takes no exceptions.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        pid = os.fork()
        if pid == 0:
            ours.close()
            for other in self._workers.values():
                other.socket.close()
            if stands_back:
                os.nice(_BACK)
            _work(self._session, self._tells, theirs, name, self._folder / name)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        theirs.close()
        worker = _Worker(name, pid, ours, rest, stands_back)
        self._workers[ours.fileno()] = worker
        for _ in range(_AHEAD):
            self._give(worker)

    def _give(self, worker: _Worker) -> None:
        """The next test to do, or the word that there is none, once."""
        if _END in worker.given:
            return
        for module in self._modules if not worker.rest else ():
            if self._may_take(worker, module):
                worker.rest = module
                self._modules.remove(module)
                break
        if not worker.rest:
            others = (each for each in self._workers.values() if self._may_take(worker, each.rest))
            longest = max(others, key=lambda each: len(each.rest), default=worker)
            keeps = len(longest.rest) // 2
            worker.rest = deque(itertools.islice(longest.rest, keeps, None))
            longest.rest = deque(itertools.islice(longest.rest, keeps))
        index = worker.rest.popleft() if worker.rest else _END
        worker.given.append(index)
        worker.say(index)

    def _may_take(self, worker: _Worker, rest: deque[int]) -> bool:
        if not worker.stands_back:
            return True
        return not any(_WINDOW in self._session.items[index].fixturenames for index in rest)

    def _hear(self, worker: _Worker) -> None:
        try:
            kind, told = _receive(worker.socket)
        except (EOFError, ConnectionError):
            self._on_gone(worker)
            return
        if kind == "begins":
            item = self._session.items[told]
            self._hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
            self._give(worker)
        elif kind == "report":
            report = self._hook.pytest_report_from_serializable(config=self._session.config, data=told)
            self._hook.pytest_runtest_logreport(report=report)
        elif kind == "ended":
            worker.given.remove(told)
            item = self._session.items[told]
            self._hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        elif kind == "warning":
            self._hook.pytest_warning_recorded.call_historic(kwargs=told)
        else:
            raise RuntimeError(f"worker {worker.name}:\n{told}")

    def _on_gone(self, worker: _Worker) -> None:
        """It has done all it was given, or died."""
        del self._workers[worker.socket.fileno()]
        worker.socket.close()
        status = worker.end(_PATIENCE_S)
        undone = [index for index in worker.given if index != _END]
        if not undone:
            if status:
                raise RuntimeError(f"worker {worker.name} ended with {status} between two tests")
            return
        died_in, *others = undone
        item = self._session.items[died_in]
        report = pytest.TestReport(
            nodeid=item.nodeid,
            location=item.location,
            keywords={},
            outcome="failed",
            longrepr=f"worker {worker.name} ended with {status} in {item.nodeid}",
            when="call",
        )
        self._hook.pytest_runtest_logreport(report=report)
        self._hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        if not self._session.shouldfail:
            self._begin(deque([*others, *worker.rest]), stands_back=worker.stands_back)


class _Worker:
    """A fork, as seen by who hands out the tests."""

    def __init__(self, name: str, pid: int, ours: socket.socket, rest: deque[int], stands_back: bool) -> None:
        self.name = name
        self.pid = pid
        self.socket = ours
        self.rest = rest
        """What it will be given, unless somebody else has nothing to do."""
        self.stands_back = stands_back
        self.given: deque[int] = deque()
        """What it was given and has not ended: the first is the one it runs."""

    def say(self, index: int) -> None:
        with contextlib.suppress(ConnectionError):  # it died; that is heard by itself
            _send(self.socket, index)

    def signal(self, number: signal.Signals) -> None:
        os.kill(self.pid, number)

    def end(self, patience_s: float) -> int:
        """How it ended, negative: by a signal; it is killed when it does not."""
        end = time.monotonic() + patience_s
        while True:
            ended, status = os.waitpid(self.pid, os.WNOHANG)
            if ended:
                return os.waitstatus_to_exitcode(status)
            if time.monotonic() > end:
                self.signal(signal.SIGKILL)
            time.sleep(0.01)


def _work(session: pytest.Session, tells: _Tells, socket_: socket.socket, name: str, folder: Path) -> None:
    """A worker's whole life. It ends without Python's and Qt's tidying up: nothing in it is needed."""
    code = 1
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        _settle_in(session.config, name, folder)
        tells.to = socket_
        current = _receive(socket_)
        following = _END if current == _END else _receive(socket_)
        while current != _END:
            _send(socket_, ("begins", current))
            item = session.items[current]
            next_item = None if following == _END else session.items[following]
            session.config.hook.pytest_runtest_protocol(item=item, nextitem=next_item)
            _send(socket_, ("ended", current))
            current, following = following, _END if following == _END else _receive(socket_)
        code = 0
    except (KeyboardInterrupt, EOFError, ConnectionError) as error:
        print(f"worker {name}: {error!r}", file=sys.stderr)  # else nobody would know which, and that it was
        with contextlib.suppress(BaseException):  # as much as can be put away, and no more
            session._setupstate.teardown_exact(None)
    except BaseException:  # noqa: BLE001 - told where it is heard
        with contextlib.suppress(OSError):
            _send(socket_, ("broken", traceback.format_exc()))
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _settle_in(config: pytest.Config, name: str, folder: Path) -> None:
    """What a fork must not share: folders, files that catch what is printed, the terminal."""
    gc.freeze()
    os.environ["PYTEST_XDIST_WORKER"] = name  # as it is named elsewhere: somebody else wants the cores
    config.option.basetemp = folder
    config._tmp_path_factory = TempPathFactory.from_config(config, _ispytest=True)
    capture = config.pluginmanager.getplugin("capturemanager")
    capture.stop_global_capturing()
    capture.start_global_capturing()
    capture.suspend_global_capture()
    terminal = config.pluginmanager.getplugin("terminalreporter")
    config.pluginmanager.unregister(terminal)
    # A test that takes too long is told with its stacks on the terminal, by its writer.
    config.pluginmanager.register(SimpleNamespace(_tw=terminal._tw), "terminalreporter")


class _Tells:
    """The plugin that passes on what happens in a worker.

    It is registered before there is one: a new plugin is told all warnings that were heard before.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self.to: socket.socket | None = None
        """None in the process that hears it."""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if self.to is None:
            return
        hook = self._config.hook
        data = hook.pytest_report_to_serializable(config=self._config, report=report)
        _send(self.to, ("report", data))

    def pytest_warning_recorded(
        self, warning_message: warnings.WarningMessage, when: str, nodeid: str, location: Any
    ) -> None:
        if self.to is None:
            return
        told = warnings.WarningMessage(
            message=str(warning_message.message),  # type: ignore[arg-type]
            category=UserWarning,
            filename=warning_message.filename,
            lineno=warning_message.lineno,
        )
        said = {"warning_message": told, "when": when, "nodeid": nodeid, "location": location}
        _send(self.to, ("warning", said))


def _send(socket_: socket.socket, told: Any) -> None:
    text = pickle.dumps(told)
    socket_.sendall(_LENGTH.pack(len(text)) + text)


def _receive(socket_: socket.socket) -> Any:
    """Raises EOFError when the other side has ended."""
    (length,) = _LENGTH.unpack(_exactly(socket_, _LENGTH.size))
    return pickle.loads(_exactly(socket_, length))


def _exactly(socket_: socket.socket, count: int) -> bytes:
    parts: list[bytes] = []
    while count:
        part = socket_.recv(min(count, 1 << 20))
        if not part:
            raise EOFError
        parts.append(part)
        count -= len(part)
    return b"".join(parts)
