"""The window's process ends in time, also when a thread holds the interpreter."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
STUCK = """
import re, sys, threading
from pathlib import Path
from presentation.window.application import ends_within
with ends_within(0.2, Path(sys.argv[1])):
    {work}
print("went on")
"""


def run(work: str, log: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", STUCK.format(work=work), str(log)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=50)


def test_a_thread_in_a_loop_of_c_does_not_hold_the_end_up(tmp_path: Path) -> None:
    log = tmp_path / "logs" / "window.log"
    work = 'threading.Thread(target=re.match, args=(r"(a+)+$", "a" * 60 + "b")).start()'
    ended = run(work + "\n    threading.Event().wait()", log)
    assert ended.returncode == 1
    assert ended.stdout == ""
    assert "re" in log.read_text()


def test_an_end_in_time_is_left_alone(tmp_path: Path) -> None:
    ended = run("pass", tmp_path / "window.log")
    assert (ended.returncode, ended.stdout) == (0, "went on\n")


def test_no_log_is_no_reason_not_to_end(tmp_path: Path) -> None:
    (tmp_path / "logs").write_text("a file")
    assert run("threading.Event().wait()", tmp_path / "logs" / "window.log").returncode == 1
