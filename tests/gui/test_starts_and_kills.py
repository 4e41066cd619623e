"""The window never loses its user: starts and ends on a busy machine, and a kill at any moment of typing.

The program is a process of its own in each of them. What was typed more than two seconds before a kill -9
is there again at the next start; so are tabs, carets, the layout, the theme, the message under way.
"""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pytest

from tests.ground.campaign import Campaign, campaigns
from tests.gui.x_server import environment_for, virtual_screen

ROOT = Path(__file__).resolve().parents[2]
CIRCUIT = "* RC low-pass\nV1 in 0 AC 1\nR1 in out 1k\nC1 out 0 100n\n.ac dec 20 10 1meg\n.end\n"
FILES = ("filter.cir", "notes.md")
KEPT_AFTER_S = 2.0
_PATIENCE_S = 90.0
_CRASH = (
    "Fatal Python error",
    "Segmentation fault",
    "Traceback (most recent call last)",
    "QThread: Destroyed",
)


@contextmanager
def busy(campaign: Campaign) -> Iterator[None]:
    """Other programs want the cores too: the other tests, those that do already, else two of ours."""
    is_alone = campaign.count > 1 or "PYTEST_XDIST_WORKER" not in os.environ
    is_idle = is_alone and os.getloadavg()[0] < 1.5 * (os.cpu_count() or 1)
    burning = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * is_idle)]
    try:
        yield
    finally:
        for each in burning:
            each.kill()
            each.wait()


def make_project(folder: Path) -> Path:
    project = folder / "project"
    project.mkdir(parents=True)
    (project / "filter.cir").write_text(CIRCUIT)
    (project / "notes.md").write_text("# Notes\n")
    return project


def wait_for(condition: Any, what: str) -> None:
    end = time.monotonic() + _PATIENCE_S
    while not condition():
        assert time.monotonic() < end, f"never seen: {what}"
        time.sleep(0.05)


def verdict_of(program: subprocess.Popen[str]) -> tuple[int, str]:
    """Exit code and what it said; the process is ended the hard way when it does not end."""
    try:
        _, errors = program.communicate(timeout=_PATIENCE_S)
    except subprocess.TimeoutExpired:
        program.send_signal(signal.SIGABRT)  # faulthandler tells where it stands
        _, errors = program.communicate()
        return program.returncode, f"did not end\n{errors}"
    return program.returncode, errors


def start_program(
    project: Path, environment: dict[str, str], *, watched: Path | None = None
) -> subprocess.Popen[str]:
    """In the project's parent, where a fault leaves its core.

    `watched`: a file for what is done to Qt on the wrong thread.
    """
    program = [str(ROOT / "main.py")] if watched is None else ["-m", "tests.ground.qt_imports", str(watched)]
    return subprocess.Popen(
        [sys.executable, "-X", "faulthandler", *program, str(project)],
        cwd=project.parent,
        env={**environment, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


@contextmanager
def faults_leave_cores() -> Iterator[None]:
    """What is started within it writes its memory down at a fault, as far as this user may ask for it."""
    before, most = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (most, most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_CORE, (before, most))


def native_stacks(folder: Path) -> str:
    """Where every thread stood, those without Python too; of a fault that is what tells its cause."""
    debugger = shutil.which("gdb")
    cores = sorted(folder.glob("core*"))
    if debugger is None or not cores:
        return f"no native stack: gdb is {debugger}, cores are {[core.name for core in cores]}"
    command = [debugger, "-batch", "-ex", "bt 60", "-ex", "thread apply all bt 25", sys.executable]
    told = subprocess.run([*command, str(cores[0])], capture_output=True, text=True, check=False, timeout=300)
    return told.stdout[-200_000:]


def check_end(program: subprocess.Popen[str], folder: Path) -> None:
    """It ended by the signal in good order, and nothing of a fault was said."""
    code, errors = verdict_of(program)
    if code != 130 or any(word in errors for word in _CRASH):
        log = folder / "home/logs/window.log"
        said = log.read_text("utf-8")[-20_000:] if log.is_file() else "no log"
        pytest.fail(f"exit code {code}\n{errors}\n{said}\n{native_stacks(folder)}", pytrace=False)


def is_web_view_shown(home: Path) -> bool:
    try:
        return json.loads((home / "webview.json").read_text("utf-8")).get("state") == "works"
    except (OSError, ValueError):
        return False


def test_a_fault_is_told_with_its_native_stack(tmp_path: Path) -> None:
    pattern = Path("/proc/sys/kernel/core_pattern")
    may_leave_one = resource.getrlimit(resource.RLIMIT_CORE)[1] != 0
    if not (shutil.which("gdb") and may_leave_one and pattern.is_file() and pattern.read_text() == "core\n"):
        pytest.skip("needs gdb, and a system that leaves cores where the program was")
    with faults_leave_cores():
        died = subprocess.run(
            [sys.executable, "-c", "import ctypes; ctypes.string_at(0)"], cwd=tmp_path, check=False
        )
    assert died.returncode == -signal.SIGSEGV
    assert "#1 " in native_stacks(tmp_path)


@pytest.mark.timeout(7200)  # of the whole; each wait has an end of its own
@campaigns(fast=1, whole=300, parts=6)
def test_every_start_and_every_end_on_a_busy_machine(campaign: Campaign, tmp_path: Path) -> None:
    known = tmp_path / "first" / "home"
    with virtual_screen() as display, busy(campaign), faults_leave_cores():
        surroundings = environment_for(display, HOME=str(tmp_path), LANG="C.UTF-8")
        imports = tmp_path / "imports"
        first = start_program(
            make_project(tmp_path / "first"),
            {**surroundings, "CIRCUIT_DESIGN_AI_HOME": str(known)},
            watched=imports,
        )
        wait_for(lambda: is_web_view_shown(known), "the first web view")
        first.send_signal(signal.SIGTERM)
        check_end(first, tmp_path / "first")
        assert imports.read_text("utf-8") == ""
        for rng in campaign.cases():
            folder = tmp_path / f"case-{campaign.case}"
            project, home = make_project(folder), folder / "home"
            home.mkdir()
            shutil.copy(known / "webview.json", home)  # else each start would ask a child first
            program = start_program(project, {**surroundings, "CIRCUIT_DESIGN_AI_HOME": str(home)})
            wait_for((project / ".circuit_ai").is_dir, "the project")
            time.sleep(rng.choice((0.0, 0.1, 0.5, 1.5, 3.0)) * rng.random())
            program.send_signal(rng.choice((signal.SIGTERM, signal.SIGINT, signal.SIGHUP)))
            check_end(program, folder)
            shutil.rmtree(folder)


def start_session(told: Path, what: str, project: Path, home: Path, *more: str) -> subprocess.Popen[str]:
    """What it tells goes to the file `told`, so that it never waits for a reader."""
    (home.parent / "tmp").mkdir(exist_ok=True)  # a killed one leaves its scratch folder there
    with told.open("w") as output:
        return _started(output, what, project, home, *more)


def _started(output: IO[str], what: str, project: Path, home: Path, *more: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-X", "faulthandler", "-m", "tests.gui.editing_session", what, str(project), *more],
        cwd=ROOT,
        env={
            **os.environ,
            "QT_QPA_PLATFORM": "offscreen",
            "CIRCUIT_DESIGN_AI_HOME": str(home),
            "PYTHONPATH": str(ROOT),
            "TMPDIR": str(home.parent / "tmp"),
        },
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.PIPE,
        text=True,
    )


def killed_while_typing(
    told: Path, project: Path, home: Path, rng: random.Random
) -> tuple[list[dict[str, Any]], float]:
    """What was done before the kill, and when that was."""
    session = start_session(told, "type", project, home, str(rng.random()))
    try:
        wait_for(lambda: "begins" in told.read_text() or session.poll() is not None, "the first word")
        time.sleep(rng.uniform(0.2, 5.0))
        assert session.poll() is None, verdict_of(session)
    finally:
        killed = time.monotonic()
        session.kill()
        _, errors = session.communicate()
    assert not [word for word in _CRASH if word in errors], errors
    return lines_of(told), killed


def lines_of(told: Path) -> list[dict[str, Any]]:
    """But for a last one that was cut off."""
    return [json.loads(line) for line in told.read_text().splitlines(keepends=True) if line.endswith("\n")]


def what_came_back(project: Path, home: Path) -> dict[str, Any]:
    told = project.parent / "seen"
    code, errors = verdict_of(start_session(told, "look", project, home))
    assert code == 0, errors
    assert not [word for word in _CRASH if word in errors], errors
    return next(found for found in lines_of(told) if found["what"] == "state")


def words(done: list[dict[str, Any]], what: str, before: float, **where: str) -> list[str]:
    """What was typed somewhere before a moment, in order."""
    wanted = {"what": what, **where}
    return [each["text"] for each in done if each["at"] < before and wanted.items() <= each.items()]


@pytest.mark.timeout(7200)  # of the whole; each wait has an end of its own
@campaigns(fast=1, whole=10, parts=2)
def test_a_kill_while_somebody_types_loses_no_more_than_two_seconds(
    campaign: Campaign, tmp_path: Path
) -> None:
    """Each case is one project whose window is killed again and again, ten times in the whole campaign."""
    with busy(campaign):
        for rng in campaign.cases():
            folder = tmp_path / f"case-{campaign.case}"
            project, home = make_project(folder), folder / "home"
            before: dict[str, Any] = {"texts": {}, "draft": "", "theme": "system"}
            before["texts"] = {name: (project / name).read_text("utf-8") for name in FILES}
            last: list[dict[str, Any]] = []
            killed_last = 0.0
            for number in range(10 if campaign.count > 1 else 1):
                done, killed = killed_while_typing(folder / f"told-{number}", project, home, rng)
                if number:
                    assert_kept(before, last, killed_last, done[0], project)
                    before = {**done[0], "texts": {**before["texts"], **done[0]["texts"]}}
                last, killed_last = done[1:], killed
            found = what_came_back(project, home)
            assert_kept(before, last, killed_last, found, project)
            on_disk = {name: (project / name).read_text("utf-8") for name in FILES}
            different = {name for name, text in found["texts"].items() if text != on_disk[name]}
            assert set(found["unsaved"]) == different
            shutil.rmtree(folder)


def assert_kept(
    before: dict[str, Any], done: list[dict[str, Any]], killed: float, found: dict[str, Any], project: Path
) -> None:
    """What was there before, what was done until the kill, and what the next start has found."""
    old = killed - KEPT_AFTER_S
    for name in FILES:
        text = found["texts"].get(name, before["texts"][name])
        certain = before["texts"][name] + "".join(words(done, "word", old, file=name))
        all_typed = before["texts"][name] + "".join(words(done, "word", killed, file=name))
        assert text.startswith(certain), f"lost: {certain[len(text) - 20 :]!r}; there: {text[-80:]!r}"
        # The last word may be there without its line of the report; nothing else may.
        assert text.startswith(all_typed) or all_typed.startswith(text), text[-200:]
    draft = f"{before['draft']}{''.join(words(done, 'message', old))}"
    assert found["draft"].startswith(draft.strip()), (draft, found["draft"])
    themes = [before["theme"], *words(done, "theme", old)][-1:]
    assert found["theme"] in themes + words(done, "theme", killed), (themes, found["theme"])
    if done and done[0]["at"] < old:
        assert found["recent"] == [str(project)]
