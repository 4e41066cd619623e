"""The program in a process of its own: `main.py`, from its first argument to its exit code."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
_PATIENCE_S = 60.0


def start(*argv: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(ROOT / "main.py"), *map(str, argv)],
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen", "LANG": "C.UTF-8"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_until_open(project: Path) -> None:
    """The project's own folder is made when it is opened."""
    end = time.monotonic() + _PATIENCE_S
    while not (project / ".circuit_ai").is_dir():
        assert time.monotonic() < end, "the project was never opened"
        time.sleep(0.02)


@pytest.mark.timeout(120)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_closes_the_program_and_saves_its_state(project, number):
    program = start(project)
    wait_until_open(project)
    program.send_signal(number)
    output, errors = program.communicate(timeout=_PATIENCE_S)
    assert program.returncode == 130, errors
    assert "Traceback" not in errors
    assert "destroyed" not in errors
    assert output == ""
    assert (Path(os.environ["CIRCUIT_DESIGN_AI_HOME"]) / "window.json").exists()


def wait_until_it_listens(program: subprocess.Popen[str]) -> None:
    """Until the process has its own handlers; before that a signal is answered by Python itself."""
    status = Path(f"/proc/{program.pid}/status")
    while program.poll() is None:
        line = next(line for line in status.read_text().splitlines() if line.startswith("SigCgt"))
        if int(line.split()[1], 16) & (1 << (signal.SIGTERM - 1)):  # Python itself listens to SIGINT only
            return
        time.sleep(0.001)


@pytest.mark.timeout(120)
def test_a_signal_during_the_imports_ends_it_as_well(project):
    for delay_s in (0, 0.2, 0.6):
        program = start(project)
        wait_until_it_listens(program)
        time.sleep(delay_s)
        program.send_signal(signal.SIGINT)
        _, errors = program.communicate(timeout=_PATIENCE_S)
        assert program.returncode == 130, errors
        assert "destroyed" not in errors
