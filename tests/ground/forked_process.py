"""A command of `ForkedCommands` under way: what `subprocess.Popen` is to a program.

It is a child of the server, not of the test, so its end is asked for there.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import IO, Self

_LOOK_EVERY_S = 0.005


class ForkedProcess:
    """A process that leads a session and process group of its own. Leaving its context ends it."""

    def __init__(
        self,
        pid: int,
        exit_code_of: Callable[[int], int | None],
        *,
        pipes: tuple[int, int, int] | None = None,
    ) -> None:
        """`pipes`: our ends of its standard input, output and errors; None on a terminal."""
        self.pid = pid
        self.returncode: int | None = None
        """Negative: the number of the signal that ended it. None while it runs, as far as it is known."""
        self.stdin: IO[str] | None = None
        self.stdout: IO[str] | None = None
        self.stderr: IO[str] | None = None
        self._exit_code_of = exit_code_of
        self._said: list[_Rest] = []
        if pipes is not None:
            self.stdin = os.fdopen(pipes[0], "w", encoding="utf-8")
            self.stdout, self.stderr = (os.fdopen(pipe, encoding="utf-8") for pipe in pipes[1:])

    def poll(self) -> int | None:
        """The exit code, once it has ended."""
        if self.returncode is None:
            self.returncode = self._exit_code_of(self.pid)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end. Raises subprocess.TimeoutExpired."""
        end = None if timeout is None else time.monotonic() + timeout
        while (code := self.poll()) is None:
            if end is not None and time.monotonic() > end:
                raise subprocess.TimeoutExpired(f"command {self.pid}", timeout or 0.0)
            time.sleep(_LOOK_EVERY_S)
        return code

    def send_signal(self, number: signal.Signals) -> None:
        """Signal the process alone, if it still runs."""
        self._to_a_living(os.kill, number)

    def kill(self) -> None:
        """End the process alone, at once."""
        self.send_signal(signal.SIGKILL)

    def kill_group(self) -> None:
        """End it and all it started that did not leave its group."""
        self._to_a_living(os.killpg, signal.SIGKILL)

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Close its input; what it still said and the errors, up to its end. Raises TimeoutExpired.

        After a TimeoutExpired it may be called again; nothing that was said is lost.
        """
        assert self.stdout is not None
        assert self.stderr is not None
        end = None if timeout is None else time.monotonic() + timeout
        self._close_input()
        if not self._said:
            self._said = [_Rest(self.stdout), _Rest(self.stderr)]
        for rest in self._said:
            rest.join(None if end is None else max(0.0, end - time.monotonic()))
            if rest.is_alive():
                raise subprocess.TimeoutExpired(f"command {self.pid}", timeout or 0.0)
        self.wait(None if end is None else max(0.0, end - time.monotonic()))
        out, err = (rest.text for rest in self._said)
        return out, err

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill_group()
        self._close_input()
        for rest in self._said:
            rest.join()
        for stream in (self.stdout, self.stderr):
            if stream is not None:
                stream.close()
        self.wait()

    def _to_a_living(self, send: Callable[[int, int], None], number: signal.Signals) -> None:
        # Until its end was asked for the number is not given to another process.
        if self.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                send(self.pid, number)

    def _close_input(self) -> None:
        if self.stdin is not None:
            with contextlib.suppress(BrokenPipeError):  # it has ended, or does not listen any more
                self.stdin.close()


class _Rest(threading.Thread):
    """Reads what a stream still has to say."""

    def __init__(self, stream: IO[str]) -> None:
        super().__init__(daemon=True)
        self.text = ""
        self._stream = stream
        self.start()

    def run(self) -> None:
        self.text = self._stream.read()
