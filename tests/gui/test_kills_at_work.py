"""A kill -9 in the middle of each study, and of all that simulates by itself, loses nothing.

The window is a process of its own (`studying_session.py`), killed at a random moment of its work. At the next
start the circuit is as it was saved, what had ended is there, what was cut off is a stopped study or is said
to be gone, and nothing else is left: no process, no scratch folder, no temporary file, no half result.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import bootstrap
from domain.simulation.goals import DesignGoal
from infrastructure.persistence.confined import TEMPORARY
from infrastructure.persistence.result_retention import RUNNING_FILE
from tests.fakes.llm_server import FakeLLMServer, answer, call
from tests.ground.campaign import Campaign, campaigns
from tests.gui.studying_session import CIRCUIT
from tests.gui.test_starts_and_kills import lines_of, verdict_of, wait_for

ROOT = Path(__file__).resolve().parents[2]
DECK = """* two stages
V1 in 0 DC 0 AC 1 PULSE(0 1 0 1u 1u 50u 100u)
R1 in a 1k
C1 a 0 10n
R2 a out 10k
C2 out 0 1n
RX x 0 1k
VX x 0 1
.ac dec 40 10 1meg
.tran 0.1u 400u
.end
"""
GOALS = (
    DesignGoal(metric="fc", expression="bandwidth(v(out))", unit="Hz", minimum=7e3, maximum=16e3),
    DesignGoal(metric="swing", expression="pp(v(out))", unit="V", minimum=0.5),
)
FEATURES = (
    "montecarlo", "tune", "sweep", "corners", "worst case", "search", "sensitivity", "map", "optimize",
    "apply", "case", "cases", "pull", "influence", "yield", "since when", "fix", "assistant",
)  # fmt: skip
STUDIES = ("montecarlo", "sweep", "corners", "worst case", "search", "sensitivity", "map", "optimize")
MOST_S = 4.0
"""After the work has begun; some studies have ended by then."""


def make_project(project: Path) -> None:
    """The circuit with its goals."""
    project.mkdir(parents=True)
    (project / CIRCUIT).write_text(DECK)

    async def ask() -> None:
        app = bootstrap.build()
        await app.project.browse.open(project)
        await app.project.browse.ask_of(project, project / CIRCUIT, GOALS)
        await app.close()

    asyncio.run(ask())


def start(feature: str, project: Path, told: Path, **more: str) -> subprocess.Popen[str]:
    folder = project.parent
    (folder / "tmp").mkdir(exist_ok=True)
    with told.open("w") as output:
        return subprocess.Popen(
            [sys.executable, "-X", "faulthandler", "-m", "tests.gui.studying_session", feature, str(project)],
            cwd=ROOT,
            env={
                **os.environ,
                **more,
                "QT_QPA_PLATFORM": "offscreen",
                "CIRCUIT_DESIGN_AI_HOME": str(folder / "home"),
                "PYTHONPATH": str(ROOT),
                "TMPDIR": str(folder / "tmp"),
            },
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.PIPE,
            text=True,
        )


def family(root: int) -> set[tuple[int, str]]:
    """What a process and its children have started, with the moment of each start."""
    children: dict[int, list[tuple[int, str]]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            rest = stat.read_text().rpartition(")")[2].split()
            children.setdefault(int(rest[1]), []).append((int(stat.parent.name), rest[19]))
    found, waiting = set[tuple[int, str]](), [root]
    for pid in waiting:
        found.update(children.get(pid, []))
        waiting += [child for child, _ in children.get(pid, [])]
    return found


def living(processes: set[tuple[int, str]]) -> set[tuple[int, str]]:
    found = set()
    for pid, started in processes:
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            rest = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            if rest[19] == started and rest[0] != "Z":
                found.add((pid, started))
    return found


def killed_at_work(feature: str, project: Path, after_s: float, **more: str) -> list[dict[str, Any]]:
    """What was told before the kill; all that the window had started has ended."""
    told = project.parent / "told"
    session = start(feature, project, told, **more)
    try:
        wait_for(lambda: "begins" in told.read_text() or session.poll() is not None, f"{feature} at work")
        time.sleep(after_s)
        assert session.poll() is None, verdict_of(session)
        started = family(session.pid)
    finally:
        session.send_signal(signal.SIGKILL)
        session.communicate()
    wait_for(lambda: not living(started), f"the end of {living(started)}")
    return lines_of(told)


def look(project: Path) -> dict[str, Any]:
    """What the next start shows. Scratch folders, which it gives a minute, and files that were being written,
    which it gives an hour, are made older than they are."""
    for folder in (project.parent / "tmp").glob("circuit-ai-*"):
        os.utime(folder, (time.time() - 3600,) * 2)
    for root in (project, project.parent / "home"):
        for half in [each for each in root.rglob(".*.tmp") if TEMPORARY.fullmatch(each.name)]:
            half.rename(half.with_name(f".01{'0' * 8}{half.name[11:]}"))
    told = project.parent / "seen"
    code, errors = verdict_of(start("look", project, told))
    assert code == 0, errors
    return next(found for found in lines_of(told) if found["what"] == "state")


def leftovers(project: Path) -> list[str]:
    """Of killed processes: what the next start should have taken away or taken up."""
    results = project / ".circuit_ai" / "sim_results"
    folders = [each for each in results.iterdir() if each.is_dir()] if results.is_dir() else []
    found = [str(each) for each in folders if not (each / "result.json").is_file()]
    found += [str(each) for each in results.rglob(RUNNING_FILE)] + [
        str(each) for each in results.rglob("so_far*")
    ]
    found += [str(each) for each in project.rglob(".*.tmp")]
    found += [str(each) for each in (project.parent / "home").rglob(".*.tmp")]
    return found + [str(each) for each in (project.parent / "tmp").iterdir()]


async def undone(project: Path, most: int) -> str:
    """The circuit when the operations that are in force are undone, the newest first.

    By the installation that recorded them: those of another one are history to be read.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CIRCUIT_DESIGN_AI_HOME", str(project.parent / "home"))
        app = bootstrap.build()
        for _ in range(most):
            if (project / CIRCUIT).read_text() == DECK:
                break
            await app.project.operations.undo(project)
        await app.close()
    return (project / CIRCUIT).read_text()


def check_circuit(feature: str, project: Path, done: list[dict[str, Any]]) -> None:
    """As it was saved, byte for byte: the last state that was written, or the one under way."""
    text = (project / CIRCUIT).read_text()
    states = [DECK, *(each["text"] for each in done if each["what"] in ("written", "undone"))]
    if feature in ("apply", "since when", "pull"):
        assert text.startswith("* two stages\n")
        assert text.endswith(".end\n")
        assert len(text.splitlines()) == len(DECK.splitlines())
        if feature == "apply":
            written = [each["text"] for each in done if each["what"] == "written"]
            assert text in (DECK, *written) or not written
        elif feature == "since when":
            assert text == states[-1] or text not in states
        assert asyncio.run(undone(project, 25)) == DECK
    else:
        assert text == DECK


def check_studies(done: list[dict[str, Any]], found: dict[str, Any], *, was_running: bool) -> None:
    """What had ended is there; what was cut off is a stopped study, or said to be gone."""
    there = {each["path"]: each for each in found["studies"]}
    kept = [each["path"] for each in done if each["what"] == "kept"]
    for path in kept:
        assert not there[path]["is_stopped"]
        assert there[path]["rows"] > 0
    cut_off = [each for path, each in there.items() if path not in kept]
    assert all(each["rows"] > 0 for each in cut_off)
    was_kept = [each for each in cut_off if each["is_stopped"]]
    if was_running:
        told = "The runs until then are kept." if was_kept else "Nothing of it is kept."
        assert f"{CIRCUIT} was cut off when the program ended." in found["notices"], found
        assert told in found["notices"], found
    assert found["unsaved"] == []


def is_under_way(project: Path) -> bool:
    """Whether a killed process has left a study: it had begun, and was not stored yet."""
    marks = (project / ".circuit_ai" / "sim_results").glob(f"*/{RUNNING_FILE}")
    return any(not mark.with_name("result.json").is_file() for mark in marks)


def change(_request: Any) -> Any:
    return answer("", calls=[call("rewrite_file", {"path": CIRCUIT, "content": DECK.replace("10k", "9.1k")})])


@pytest.mark.timeout(7200)  # of the whole; each wait has an end of its own
@campaigns(fast=1, whole=4 * len(FEATURES), parts=4)
def test_a_kill_in_the_middle_of_a_study_loses_nothing(campaign: Campaign, tmp_path: Path) -> None:
    for rng in campaign.cases():
        feature = FEATURES[campaign.case % len(FEATURES)]
        project = tmp_path / f"case-{campaign.case}" / "project"
        make_project(project)
        with FakeLLMServer(change) as server:
            after_s = rng.uniform(0.0, MOST_S if campaign.count > 1 else 1.0)
            done = killed_at_work(feature, project, after_s, STUDY_SESSION_MODEL=server.base_url)
        was_running = feature in STUDIES and is_under_way(project)
        found = look(project)
        check_circuit(feature, project, done)
        check_studies(done, found, was_running=was_running)
        assert leftovers(project) == []
        shutil.rmtree(project.parent)
