"""`design` on a real terminal: questions, answers, and Ctrl+C at a question."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.ground.forked_commands import ForkedCommands
from tests.ground.forked_process import ForkedProcess
from tests.integration.cli.conftest import ROOT

FILTER = "Design a second-order Butterworth low-pass filter with a cutoff of 1 kHz"

# The terminal has to be the session's own for Ctrl+C to become a signal.
_ON_OWN_TERMINAL = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""


class Terminal:
    def __init__(self, process: subprocess.Popen[bytes] | ForkedProcess, fd: int) -> None:
        self.process = process
        self._fd = fd
        self.shown = ""

    def wait_for(self, text: str) -> None:
        while text not in self.shown:
            self.shown += self._read()

    def type(self, text: str) -> None:
        os.write(self._fd, text.encode())

    def finish(self) -> int:
        while True:
            try:
                self.shown += self._read()
            except (OSError, EOFError):
                return self.process.wait(timeout=30)

    def _read(self) -> str:
        data = os.read(self._fd, 4096)
        if not data:
            raise EOFError(self.shown)
        return data.decode("utf-8", "replace")


@contextmanager
def terminal(*argv: str, commands: ForkedCommands | None = None) -> Iterator[Terminal]:
    """A command on a terminal of its own; without `commands` one that is started from nothing."""
    ours, theirs = pty.openpty()
    process: subprocess.Popen[bytes] | ForkedProcess
    if commands is not None:
        process = commands.start(*argv, terminal=theirs)
    else:
        process = subprocess.Popen(
            [sys.executable, "-c", _ON_OWN_TERMINAL, sys.executable, str(ROOT / "main.py"), *argv],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
    os.close(theirs)
    try:
        yield Terminal(process, ours)
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def test_goals_and_circuit_are_confirmed_by_hand(forked_commands: ForkedCommands, tmp_path: Path) -> None:
    with terminal("design", str(tmp_path), FILTER, commands=forked_commands) as screen:
        screen.wait_for("Design to these goals?")
        screen.type("\n")
        screen.wait_for("Accept this circuit?")
        screen.type("new spec: THD below 1 %\n")  # of no goal there is
        screen.wait_for("Name a goal of this design with its new value")
        screen.type("y\n")
        assert screen.finish() == 0
        assert "Goals met; the circuit is that of round 1" in screen.shown


def test_a_no_designs_nothing(forked_commands: ForkedCommands, tmp_path: Path) -> None:
    with terminal("design", str(tmp_path), FILTER, commands=forked_commands) as screen:
        screen.wait_for("Design to these goals?")
        screen.type("n\n")
        assert screen.finish() == 1
    assert list(tmp_path.glob("*.cir")) == []


def test_ctrl_c_at_a_question_stops_at_once(tmp_path: Path) -> None:
    with terminal("design", str(tmp_path), FILTER) as screen:
        screen.wait_for("Design to these goals?")
        screen.type("\x03")
        assert screen.finish() == 130
        assert "Traceback" not in screen.shown
    assert list(tmp_path.glob("*.cir")) == []


def test_the_end_of_the_input_is_no_answer_and_the_design_waits(
    forked_commands: ForkedCommands, tmp_path: Path
) -> None:
    for how, asked in (((FILTER,), "Design to these goals?"), (("--resume",), "Goals met. Accept")):
        with terminal("design", str(tmp_path), *how, commands=forked_commands) as screen:
            if how != (FILTER,):
                screen.wait_for("Design to these goals?")
                assert not list(tmp_path.glob("*.cir"))
                screen.type("y\n")
            screen.wait_for(asked)
            screen.type("\x04")
            assert screen.finish() == 1
        assert "The design waits at this question." in screen.shown
        assert f"Continue it with: design {tmp_path} --resume" in screen.shown
    with terminal("design", str(tmp_path), "--resume", commands=forked_commands) as screen:
        screen.wait_for("Goals met. Accept")
        screen.type("y\n")
        assert screen.finish() == 0
