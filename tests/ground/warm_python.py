"""A process that has imported the whole program: modules that would import it anew run in forks of it.

Servers that fork commands, designs and the like import everything first: two seconds of the processor, in
each worker of a run. Where the tests are forks themselves (`forked_workers.py`) one such process stands
beside them; elsewhere each server is a Python of its own.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

ROOT = Path(__file__).resolve().parents[2]
_PLACE = "TESTS_WARM_PYTHON"
"""The variable that names the socket at which it is asked."""
_ENDS_WITHIN_S = 30.0


class Server:
    """A module's `main()` under way in a session of its own: orders go to its input, answers come back."""

    def __init__(self, pid: int, stdin: IO[str], stdout: IO[str]) -> None:
        self.pid = pid
        self.stdin = stdin
        self.stdout = stdout

    def ask(self, line: str) -> str:
        """Its answer, "" when it has ended."""
        self.stdin.write(line + "\n")
        self.stdin.flush()
        return self.stdout.readline()

    def end(self) -> None:
        """Close its input and wait for its end; it is killed when that does not come."""
        with contextlib.suppress(BrokenPipeError):
            self.stdin.close()
        if not select.select([self.stdout], [], [], _ENDS_WITHIN_S)[0]:
            self.kill()
        self.stdout.close()

    def kill(self) -> None:
        """End it and what it started at once."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)


class _OwnPython(Server):
    """One that is a child of the test's process."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        super().__init__(process.pid, process.stdin, process.stdout)
        self._process = process

    def end(self) -> None:
        super().end()
        self._process.wait(_ENDS_WITHIN_S)


def is_standing() -> bool:
    """Whether `start` forks."""
    return _PLACE in os.environ


def start(module: str, *argv: str, hand: socket.socket | None = None) -> Server:
    """Run `module.main()` with these arguments, behind the number of the socket it is handed."""
    place = os.environ.get(_PLACE)
    environment = {**os.environ, "LANG": "C.UTF-8"}
    if place is None:
        numbers = [] if hand is None else [hand.fileno()]
        own = subprocess.Popen(
            [sys.executable, "-m", module, *map(str, numbers), *argv],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
            pass_fds=numbers,
        )
        return _OwnPython(own)
    (read_in, write_in), (read_out, write_out) = os.pipe(), os.pipe()
    theirs = [read_in, write_out, *([] if hand is None else [hand.fileno()])]
    order = {"module": module, "argv": argv, "environment": environment}
    with socket.socket(socket.AF_UNIX) as line, line.makefile("rw") as text:
        line.connect(f"\0{place}")
        socket.send_fds(line, [b"."], theirs)
        text.write(json.dumps(order) + "\n")
        text.flush()
        pid = int(text.readline())
    os.close(read_in)
    os.close(write_out)
    return Server(pid, os.fdopen(write_in, "w"), os.fdopen(read_out))


@contextlib.contextmanager
def standing() -> Iterator[None]:
    """One stands ready within it, for this process and its forks; nobody waits here for what it imports."""
    place = f"tests-warm-python-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(f"\0{place}")
        listening.listen(64)
        process = subprocess.Popen(
            [sys.executable, "-m", __name__, str(listening.fileno())],
            cwd=ROOT,
            env={**os.environ, "LANG": "C.UTF-8"},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            pass_fds=[listening.fileno()],
            start_new_session=True,
        )
    os.environ[_PLACE] = place
    try:
        yield
    finally:
        del os.environ[_PLACE]
        assert process.stdin is not None
        process.stdin.close()
        process.wait()


def _serve(listening: socket.socket) -> None:
    from tests.ground.forked_commands import import_everything

    import_everything()
    gc.freeze()  # what is shared with the children stays so
    while True:
        is_last = 0 in select.select([0, listening], [], [])[0]  # whoever started it is through
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, 0 if is_last else os.WNOHANG)[0]:
                pass
        if is_last:
            return
        line, _ = listening.accept()
        with line:
            descriptors = socket.recv_fds(line, 1, 3)[1]
            with line.makefile() as text:
                asked = text.readline()
            if not asked:  # whoever wanted to ask was ended
                continue
            order = json.loads(asked)
            reader, writer = os.pipe()
            pid = os.fork()
            if pid == 0:
                listening.close()
                os.close(reader)
                os.setsid()
                os.close(writer)
                line.close()
                _become(order, descriptors)
            for descriptor in (*descriptors, writer):
                os.close(descriptor)
            os.read(reader, 1)  # it leads its group from now on, and can be killed with all it starts
            os.close(reader)
            # Who asked may have been ended meanwhile: what was asked for then ends, too, for nobody orders.
            with contextlib.suppress(ConnectionError):
                line.sendall(f"{pid}\n".encode())


def _become(order: dict[str, object], descriptors: Sequence[int]) -> None:
    code = 1
    try:
        read_in, write_out, *handed = descriptors
        for number, descriptor in ((0, read_in), (1, write_out)):
            os.dup2(descriptor, number)
            os.close(descriptor)
        sys.stdin = open(0, closefd=False)  # noqa: SIM115 - for the life of the process
        sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
        os.environ.clear()
        os.environ.update(order["environment"])  # type: ignore[call-overload]
        sys.argv = [str(order["module"]), *map(str, handed), *order["argv"]]  # type: ignore[misc]
        importlib.import_module(str(order["module"])).main()
        code = 0
    except BaseException:  # noqa: BLE001 - as the interpreter would
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
