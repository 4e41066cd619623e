"""A run in forks says of each test what a run in one process says, also when a worker dies in the middle."""

from __future__ import annotations

import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
pytestmark = pytest.mark.timeout(200)  # whole sessions of tests run inside

TESTS = """
import os, signal, warnings
from pathlib import Path
import pytest

HERE = Path(__file__).parent

@pytest.fixture(autouse=True)
def written_down(request):
    with open(HERE / "ran", "a") as file:
        file.write(f"{request.node.nodeid}\\n")

@pytest.fixture(scope="module")
def worker():
    with open(HERE / "workers", "a") as file:
        file.write(f"{os.getpid()}\\n")
    yield os.getpid()
    with open(HERE / "ended", "a") as file:
        file.write(f"{os.getpid()}\\n")

@pytest.mark.parametrize("n", range(40))
def test_passes(worker, n, tmp_path):
    assert worker == os.getpid() != os.getppid()
    assert os.environ["PYTEST_XDIST_WORKER"] in str(tmp_path)
    print("nobody wants to know")
"""
FAULTS = """
def test_fails():
    print("said before")
    assert 1 + 1 == 3

def test_is_skipped():
    pytest.skip("not here")

@pytest.mark.filterwarnings("default")
def test_warns():
    warnings.warn("look at this")

def test_takes_the_worker_along():
    os._exit(3)

def test_takes_the_worker_along_by_a_signal():
    os.kill(os.getpid(), signal.SIGKILL)
"""
SHOWN = """
import os, time
from pathlib import Path
import pytest

@pytest.fixture(scope="session")
def qapp():
    return None

def note(name):
    time.sleep(0.01)
    with open(Path(__file__).parent / name, "a") as file:
        file.write(f"{os.nice(0)}\\n")

@pytest.mark.parametrize("n", range(8))
def test_shows_a_window(qapp, n):
    note("ran")
"""
UNSHOWN = SHOWN.replace("(qapp, n)", "(n)").replace('"ran"', '"workers"')
CONFIGURATION = """
[pytest]
asyncio_default_fixture_loop_scope = function
filterwarnings = error
timeout = 60
"""


def run_in_forks(folder: Path, *options: str, forks: str = "3") -> subprocess.CompletedProcess[str]:
    (folder / "pytest.ini").write_text(CONFIGURATION)
    for name in ("ran", "workers", "ended"):  # there before: none is left behind by a test
        (folder / name).touch()
    return subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-p", "tests.ground.plugin", "-p", "no:randomly"),
            f"--forks={forks}",
            *(f"--basetemp={folder / 'tmp'}", "--junit-xml=report.xml", *options),
        ],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=150,
        check=False,
    )


def lines(path: Path) -> Counter[str]:
    return Counter(path.read_text().splitlines())


def test_each_test_runs_once_and_is_told(tmp_path: Path) -> None:
    for module in ("test_one", "test_two"):
        (tmp_path / f"{module}.py").write_text(TESTS)
    (tmp_path / "test_faults.py").write_text(TESTS + FAULTS)
    ended = run_in_forks(tmp_path, "-rs")
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert "3 failed, 121 passed, 1 skipped, 1 warning in" in ended.stdout
    assert "nobody wants to know" not in ended.stdout
    for told in ("said before", "assert (1 + 1) == 3", "not here", "look at this"):
        assert told in ended.stdout
    ran = lines(tmp_path / "ran")
    assert len(ran) == 125
    assert set(ran.values()) == {1}
    cases = list(ElementTree.parse(tmp_path / "report.xml").iter("testcase"))
    assert len(cases) == 125
    failures = {
        case.get("name"): case.find("failure").get("message")
        for case in cases
        if len(case) and case[0].tag == "failure"
    }
    assert set(failures) == {
        "test_fails",
        "test_takes_the_worker_along",
        "test_takes_the_worker_along_by_a_signal",
    }
    assert "ended with 3 in" in failures["test_takes_the_worker_along"]
    assert "ended with -9 in" in failures["test_takes_the_worker_along_by_a_signal"]
    assert len(lines(tmp_path / "workers")) > 1
    # What a module's fixture began ends in its worker, unless the worker died of a test.
    assert sum((lines(tmp_path / "workers") - lines(tmp_path / "ended")).values()) <= 2


def test_it_stops_at_the_first_failure(tmp_path: Path) -> None:
    (tmp_path / "test_first.py").write_text("def test_fails(): assert False\n")
    (tmp_path / "test_later.py").write_text(TESTS.replace("range(40)", "range(2000)"))
    ended = run_in_forks(tmp_path, "-x")
    assert ended.returncode == 1
    assert "stopping after 1 failures" in ended.stdout
    assert len(lines(tmp_path / "ran")) < 2000
    assert lines(tmp_path / "workers") == lines(tmp_path / "ended")


def test_those_that_stand_back_take_no_test_of_the_window(tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"test_shown_{number}.py").write_text(SHOWN)
        (tmp_path / f"test_unshown_{number}.py").write_text(UNSHOWN)
    ended = run_in_forks(tmp_path, forks="1+2")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    shown, unshown = (lines(tmp_path / name) for name in ("ran", "workers"))
    (usual,) = shown
    assert (shown.total(), unshown.total()) == (24, 24)
    assert int(usual) < max(map(int, unshown))
