"""Runs that ended without their end: what is left of a fault, a kill, an orderly end."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from infrastructure.persistence.unclean_ends import FOLDER, UncleanEndFiles

ROOT = Path(__file__).resolve().parents[3]
RUN = """
import faulthandler, os, signal, sys
from pathlib import Path
from infrastructure.persistence.unclean_ends import UncleanEndFiles
run = UncleanEndFiles(user_home=Path(sys.argv[1]))
run.begin("Circuit Design AI 0.1, Qt 6")
def where_it_happens():
    match sys.argv[2]:
        case "fault": faulthandler._sigsegv()
        case "abort": os.abort()
        case "kill": os.kill(os.getpid(), signal.SIGKILL)
        case "ends": run.end()
where_it_happens()
"""


def run(home: Path, how: str) -> int:
    return subprocess.run(
        [sys.executable, "-c", RUN, str(home), how], cwd=ROOT, stderr=subprocess.DEVNULL, check=False
    ).returncode


def names(home: Path) -> list[str]:
    return sorted(path.suffix for path in (home / FOLDER).iterdir())


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "logs" / "window.log"
    path.parent.mkdir()
    lines = [*(f"line {number}" for number in range(500)), "asked with Bearer sk-0123456789abcdef"]
    path.write_text("\n".join(lines))
    return path


@pytest.mark.parametrize(("how", "number"), [("fault", signal.SIGSEGV), ("abort", signal.SIGABRT)])
def test_a_fault_is_told_once_with_the_place_where_it_happened(tmp_path, log, how, number):
    assert run(tmp_path, how) == -number
    ends = UncleanEndFiles(user_home=tmp_path)
    (found,) = ends.untold(log)
    assert "Circuit Design AI 0.1, Qt 6" in found.report
    assert "Fatal Python error" in found.report
    assert "in where_it_happens" in found.report
    assert "line 499" in found.report
    assert "line 400" not in found.report
    assert "sk-0123" not in found.report
    assert found.path.read_text("utf-8") == found.report
    assert ends.untold(log) == ()
    assert names(tmp_path) == [".txt"]
    ends.delete(found)
    ends.delete(found)
    assert names(tmp_path) == []


def test_a_kill_leaves_no_trace_and_is_told_so(tmp_path):
    assert run(tmp_path, "kill") == -signal.SIGKILL
    (found,) = UncleanEndFiles(user_home=tmp_path).untold(tmp_path / "no.log")
    assert "No trace: the process was ended from outside" in found.report
    assert "(none)" in found.report


def test_an_orderly_end_leaves_nothing_and_a_run_under_way_is_none(tmp_path):
    assert run(tmp_path, "ends") == 0
    assert names(tmp_path) == []
    running = UncleanEndFiles(user_home=tmp_path)
    running.begin("x")
    try:
        assert UncleanEndFiles(user_home=tmp_path).untold(tmp_path) == ()
        assert running.untold(tmp_path) == ()
    finally:
        running.end()
    assert names(tmp_path) == []


def test_of_many_the_newest_come_first_and_five_are_kept(tmp_path):
    for _ in range(6):
        run(tmp_path, "kill")
    found = UncleanEndFiles(user_home=tmp_path).untold(tmp_path)
    assert [each.name for each in found] == sorted((each.name for each in found), reverse=True)
    assert len(found) == 6
    assert [each.path.exists() for each in found] == [True] * 5 + [False]


@pytest.mark.parametrize("damage", ["folder", "file"])
def test_what_stands_in_the_way_stops_no_start(tmp_path, damage, caplog):
    if damage == "file":
        (tmp_path / FOLDER).write_text("in the way")
    else:
        (tmp_path / FOLDER / "01J.run").mkdir(parents=True)
    ends = UncleanEndFiles(user_home=tmp_path)
    ends.begin("x")
    assert ends.untold(tmp_path) == ()
    ends.end()
