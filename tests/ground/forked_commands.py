"""Runs the real command line many times, without paying for its imports each time, and can kill it.

Started as a process of its own (`python -m tests.ground.forked_commands`): it imports
everything once, then forks a child for each order it reads. A child is a fresh process of the command
line; ordered so, it kills itself (SIGKILL, no clean-up of any kind) right before the nth moment at
which something becomes durable: an fsync, a rename, a removal, a commit of SQLite.

`run` waits for the end of a command; `start` gives a command under way, in a session of its own, to signal,
to write to and to read from, on pipes or on a terminal.
"""

from __future__ import annotations

import contextlib
import fcntl
import gc
import importlib
import json
import os
import pkgutil
import signal
import socket
import sqlite3
import sys
import termios
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shared.late_patterns import _LatePattern
from tests.ground import warm_python
from tests.ground.forked_cpu_workers import fork_cpu_workers
from tests.ground.forked_process import ForkedProcess
from tests.ground.known_boxes import find_beforehand

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Outcome:
    """How one command ended."""

    exit_code: int
    """Negative: the number of the signal that ended it."""
    stdout: str
    stderr: str
    moments: int
    """Durable moments it had, if it came to its end."""

    @property
    def was_killed(self) -> bool:
        return self.exit_code == -signal.SIGKILL

    @property
    def events(self) -> list[dict[str, Any]]:
        """The whole JSON lines it printed."""
        return [json.loads(line) for line in self.stdout.splitlines(keepends=True) if line.endswith("\n")]


class ForkedCommands:
    """The parent's side; `close` ends the server."""

    def __init__(self, scratch: Path, *, also_import: Sequence[str] = ()) -> None:
        """`also_import`: modules beside those that most commands need."""
        self._scratch = scratch
        self._also_import = also_import
        self._server, self._files = _start(also_import)

    def close(self) -> None:
        """End the server; all its commands have ended."""
        self._server.end()
        self._files.close()

    def run(
        self,
        *argv: object,
        cwd: Path | None = None,
        environment: Mapping[str, str] | None = None,
        count_moments: bool = False,
        kill_at: int | None = None,
        kill_after_s: float | None = None,
        interrupt_after_s: float | None = None,
    ) -> Outcome:
        """Run a command in the present environment and more; `kill_at` counts the durable moments from 1."""
        out, err, count = (self._scratch / name for name in ("stdout", "stderr", "moments"))
        count.unlink(missing_ok=True)
        answer = self._ask(
            {
                "order": "run",
                **_command(argv, cwd, environment),
                "out": str(out),
                "err": str(err),
                "count": str(count) if count_moments else None,
                "kill_at": kill_at,
                "kill_after_s": kill_after_s,
                "interrupt_after_s": interrupt_after_s,
            }
        )
        moments = int(count.read_text()) if count.exists() else 0
        # A killed command may have torn a character in two.
        texts = [path.read_bytes().decode(errors="backslashreplace") for path in (out, err)]
        outcome = Outcome(answer["exit_code"], texts[0], texts[1], moments)
        assert "Traceback" not in outcome.stderr, outcome.stderr
        return outcome

    def start(
        self,
        *argv: object,
        cwd: Path | None = None,
        environment: Mapping[str, str] | None = None,
        terminal: int | None = None,
    ) -> ForkedProcess:
        """A command under way, on pipes, or on the terminal that is open at the descriptor `terminal`.

        The terminal becomes its session's own, so that Ctrl+C is a signal.
        """
        order = {
            "order": "start",
            **_command(argv, cwd, environment),
            "owns_terminal": terminal is not None,
        }
        if terminal is not None:
            return ForkedProcess(self._ask(order, [terminal] * 3)["pid"], self._exit_code_of)
        (read_in, write_in), (read_out, write_out), (read_err, write_err) = (os.pipe() for _ in range(3))
        theirs = [read_in, write_out, write_err]
        try:
            pid = self._ask(order, theirs)["pid"]
        finally:
            for descriptor in theirs:
                os.close(descriptor)
        return ForkedProcess(pid, self._exit_code_of, pipes=(write_in, read_out, read_err))

    def _exit_code_of(self, pid: int) -> int | None:
        code: int | None = self._ask({"order": "poll", "pid": pid})["exit_code"]
        return code

    def _ask(self, order: dict[str, Any], descriptors: Sequence[int] = ()) -> dict[str, Any]:
        try:
            self._server.stdin.write(json.dumps(order) + "\n")
            self._server.stdin.flush()
            if descriptors:
                socket.send_fds(self._files, [b"."], descriptors)
            answer: dict[str, Any] = json.loads(self._server.stdout.readline())
        except BaseException:  # the test's time is over: this command's answer is not for the next one
            self._server.kill()
            self.close()
            self._server, self._files = _start(self._also_import)
            raise
        return answer


def _command(
    argv: Sequence[object], cwd: Path | None, environment: Mapping[str, str] | None
) -> dict[str, Any]:
    return {
        "argv": [str(part) for part in argv],
        "cwd": str(cwd or Path.cwd()),
        "environment": {**os.environ, "LANG": "C.UTF-8", **(environment or {})},
    }


def _start(also_import: Sequence[str]) -> tuple[warm_python.Server, socket.socket]:
    """The server, and the socket over which it is handed open files."""
    ours, theirs = socket.socketpair()
    with theirs:
        return warm_python.start(__name__, *also_import, hand=theirs), ours


_LEFT_COLD = (
    "presentation.ui",
    "presentation.panels",
    "presentation.window",
    "presentation.dialogs",
    "infrastructure.cluster",
)
"""Programs that show no window and ask for no cluster never load these."""


_AT_FIRST_USE = (
    "langgraph.checkpoint.sqlite.aio", "httpcore", "anyio._backends._asyncio", "numpy.ma",
    "encodings.ascii", "encodings.latin_1", "encodings.utf_8_sig", "matplotlib.figure",
    "matplotlib.backends.backend_agg", "matplotlib.backends.backend_pdf", "matplotlib.backends.backend_svg",
)  # fmt: skip
"""Of others, imported by what they are imported by when it is first called."""


_imported: list[bool] = []


def import_everything(also_import: Sequence[str] = ()) -> None:
    """Import what commands import: all of the program, and what it loads at its first use.

    The box that ngspice runs in is found, too. What `warm_python` had imported is not looked at again.
    """
    for name in also_import:
        importlib.import_module(name)
    if _imported:
        return
    _imported.append(True)
    with _fonts_listed_apart():
        _import_program()
    compile_late_patterns()
    describe_tools()
    find_beforehand()


def _import_program() -> None:
    for package in ("shared", "domain", "application", "infrastructure", "presentation", "composition"):
        found = importlib.import_module(package)
        for module in pkgutil.walk_packages(found.__path__, f"{package}."):
            if not module.name.startswith(_LEFT_COLD) and not module.name.endswith("__main__"):
                with contextlib.suppress(ImportError):
                    importlib.import_module(module.name)
    for name in ("main", "bootstrap", *_AT_FIRST_USE):
        importlib.import_module(name)


@contextlib.contextmanager
def _fonts_listed_apart() -> Iterator[None]:
    """matplotlib writes a list of the fonts into the home folder where it is not told another.

    The list is made once a checkout: it takes a second.
    """
    place = Path(__file__).parents[2] / ".pytest_cache" / "fonts"
    place.mkdir(parents=True, exist_ok=True)
    told = os.environ.get("MPLCONFIGDIR")
    os.environ["MPLCONFIGDIR"] = str(place)
    try:
        yield
    finally:
        del os.environ["MPLCONFIGDIR"]
        if told is not None:
            os.environ["MPLCONFIGDIR"] = told


def compile_late_patterns() -> None:
    """Each fork would compile anew those that it uses."""
    for each in gc.get_objects():
        if isinstance(each, _LatePattern):
            assert each.pattern


def describe_tools() -> None:
    """Each fork that asks a model would make their schemas anew."""
    from application.tool_execution.registry import TOOLS

    for tool in TOOLS:
        assert tool.schema


def _serve(files: socket.socket, also_import: Sequence[str]) -> None:
    orders, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    import_everything(also_import)
    gc.freeze()  # what is shared with the children stays so
    for line in orders:
        order = json.loads(line)
        if order["order"] == "poll":
            answer = {"exit_code": _exit_code(order["pid"])}
        elif order["order"] == "start":
            streams = socket.recv_fds(files, 1, 3)[1]
            reader, writer = os.pipe()
            child = os.fork()
            if child == 0:
                files.close()
                os.close(reader)
                os.setsid()
                os.close(writer)
                _take_streams(streams, order["owns_terminal"])
                _become(order)
            for descriptor in (*streams, writer):
                os.close(descriptor)
            os.read(reader, 1)  # it leads its group from now on, and can be signalled as such
            os.close(reader)
            answer = {"pid": child}
        else:
            child = os.fork()
            if child == 0:
                files.close()
                _become(order)
            answer = {"exit_code": _wait(child, order)}
        print(json.dumps(answer), file=answers, flush=True)


def _exit_code(child: int) -> int | None:
    try:
        ended, status = os.waitpid(child, os.WNOHANG)
    except ChildProcessError:  # of a server that was ended before
        return -signal.SIGKILL
    return os.waitstatus_to_exitcode(status) if ended else None


def _take_streams(streams: Sequence[int], owns_terminal: bool) -> None:
    """Have these standard streams, as the interpreter sets them up."""
    for number, descriptor in enumerate(streams):
        os.dup2(descriptor, number)
        os.close(descriptor)
    if owns_terminal:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115 - for the life of the process
    sys.stdout = open(1, "w", buffering=1 if owns_terminal else -1, closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115


def _wait(child: int, order: dict[str, Any]) -> int:
    for after_s, number in (
        (order["kill_after_s"], signal.SIGKILL),
        (order["interrupt_after_s"], signal.SIGINT),
    ):
        if after_s is not None:
            time.sleep(after_s)
            os.kill(child, number)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _become(order: dict[str, Any]) -> None:
    code = 1
    try:
        if order["order"] == "run":
            for number, path in ((1, order["out"]), (2, order["err"])):
                os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), number)
        os.environ.clear()
        os.environ.update(order["environment"])
        os.chdir(order["cwd"])
        sys.argv = ["main.py", *order["argv"]]
        fork_cpu_workers()
        moments = None
        if order.get("count") or order.get("kill_at"):
            moments = count_moments(order["kill_at"])
        import main

        code = main.main()
        if moments is not None and order["count"]:
            Path(order["count"]).write_text(str(moments()))
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # noqa: BLE001 - as the interpreter would
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def count_moments(kill_at: int | None) -> Callable[[], int]:
    """SIGKILL right before the nth durable moment of this process; returns their number so far."""
    number = 0

    def count() -> None:
        nonlocal number
        number += 1
        if number == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)

    watch_moments(count)
    return lambda: number


def watch_moments(count: Callable[[], None]) -> None:
    """Call `count` right before each moment at which something of this process becomes durable."""
    for name in ("fsync", "replace", "unlink", "rename", "remove"):
        setattr(os, name, _counted(getattr(os, name), count))
    real_connect = sqlite3.connect

    class Connection(sqlite3.Connection):
        def commit(self) -> None:
            count()
            super().commit()

    def connect(*args: Any, **kwargs: Any) -> sqlite3.Connection:
        kwargs.setdefault("factory", Connection)
        connection = real_connect(*args, **kwargs)
        # Also the commits that are statements.
        connection.set_trace_callback(lambda sql: count() if sql.strip().upper() == "COMMIT" else None)
        return connection

    sqlite3.connect = connect


def _counted(real: Any, count: Any) -> Any:
    def call(*args: Any, **kwargs: Any) -> Any:
        count()
        return real(*args, **kwargs)

    return call


def main() -> None:
    """The server's whole life: the number of a socket, and what is to be imported beside."""
    _serve(socket.socket(fileno=int(sys.argv[1])), sys.argv[2:])


if __name__ == "__main__":
    main()
