"""What is done in idle time for hours, on circuits that change: nothing is kept of it.

    BACKGROUND_MINUTES=180 python -m pytest -s -m torture tests/gui/test_background_work.py

Influence in the margin, yield and watched goals of three circuits, with the program's own pauses. A round is
an edit (typed, saved, taken back, or by another program), what comes of it, every third time two runs; then
the next circuit is in front.
"""

from __future__ import annotations

import asyncio
import gc
import os
import statistics
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import NamedTuple

import pytest
from PyQt6.QtTest import QTest

from application.simulation.simulating import SimulationRequest
from application.studies.idle_yield import CircuitYield
from domain.simulation.goals import DesignGoal
from presentation.panels.editor.page import EditorPage
from presentation.ui.workspace import WindowServices
from presentation.window.panels import Parts
from presentation.window.status_bar import StatusBar
from tests.gui.circuits_with_goals import opened
from tests.gui.conftest import Until, flush_deletions

MINUTES = float(os.environ.get("BACKGROUND_MINUTES", "3"))
WARM_ROUNDS = 12
"""Each circuit four times: the caches are full."""
MOST_RESIDENT_KB = 40
"""A round. What the heaps cannot give back grows ever more slowly: over hours it is far less."""
MOST_OBJECTS = 10
"""A round, of Python's, all kinds together."""
FILTER = """* filter
V1 in 0 AC 1
R1 in a 1k
C1 a 0 100n
R2 a out 10k
C2 out 0 1n
.ac dec 40 10 1meg
.end
"""
STAGE = """* stage
VCC vcc 0 12
V1 in 0 DC 0 AC 1
C1 in b 10u
R1 vcc b 47k
R2 b 0 10k
RC vcc out 3.3k
RE e 0 1k
CE e 0 100u
Q1 out b e QN
.model QN NPN(BF=200 VAF=100 CJC=4p)
.ac dec 20 10 10meg
.end
"""
STEP = """* step
V1 in 0 PULSE(0 1 0 1n 1n 1m 2m)
R1 in out 1k
C1 out 0 10n
.tran 1u 200u
.end
"""
CORNER = DesignGoal(metric="fc", expression="bandwidth(v(out))", unit="Hz", minimum=1300.0, maximum=1600.0)
GAIN = DesignGoal(metric="gain", expression="db(gain(v(out),10k))", unit="dB", minimum=40.0, maximum=47.0)
RISE = DesignGoal(metric="rise", expression="rise_time(v(out))", unit="s", maximum=30e-6)
CIRCUITS = {"filter.cir": (FILTER, CORNER), "stage.cir": (STAGE, GAIN), "step.cir": (STEP, RISE)}


class Sample(NamedTuple):
    """What the program has at the end of a round, everything done."""

    resident_kb: int
    """Of all its processes."""
    processes: int
    files: int
    """In the folder for temporary ones."""
    objects: int


def sample() -> Sample:
    flush_deletions()
    gc.collect()
    family = _family(os.getpid())
    page_kb = os.sysconf("SC_PAGESIZE") // 1024
    resident = sum(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * page_kb for pid in family)
    files = sum(len(names) + len(folders) for _, folders, names in os.walk(tempfile.gettempdir()))
    return Sample(resident, len(family), files, len(gc.get_objects()))


def _family(root: int) -> list[int]:
    """This process and all that it and its children have started."""
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            rest = stat.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue  # it ended as it was looked at
        children.setdefault(int(rest[1]), []).append(int(stat.parent.name))
    found = [root]
    for pid in found:
        found += children.get(pid, [])
    return found


@pytest.fixture
async def parts(services: WindowServices, tmp_path: Path, until: Until) -> AsyncIterator[Parts]:
    root = tmp_path / "board"
    (first, (text, goal)), *others = CIRCUITS.items()
    await opened(services, root, first, text, [goal])
    for name, (text, goal) in others:
        (root / name).write_text(text, encoding="utf-8")
        await services.app.project.browse.ask_of(root, root / name, [goal])
    made = Parts(services, services.app)
    made.editor.resize(1200, 800)
    made.editor.show()
    yield made
    await until(lambda: not services.app.program.tasks.handles)


@pytest.mark.torture
@pytest.mark.timeout(60 * MINUTES + 1200)
async def test_hours_of_work_in_idle_time_leave_nothing(parts: Parts, until: Until) -> None:
    services, root = parts.services, parts.services.workspace.root
    assert root is not None
    bar, watched = StatusBar(services), list[str]()
    estimates: list[CircuitYield | None] = []
    services.workspace.yield_estimated.connect(estimates.append)
    assert parts.yield_watch is not None
    assert parts.goals_watch is not None
    parts.influence.toggle()
    samples: list[Sample] = []
    alone, beside = list[float](), list[float]()
    began, number = time.monotonic(), 0
    while time.monotonic() < began + 60 * MINUTES or number < 3 * WARM_ROUNDS:
        path = root / list(CIRCUITS)[number % len(CIRCUITS)]
        parts.editor.show_file(path, 1, 1)
        await until(lambda path=path: parts.editor.page_of(path) is not None)
        page = parts.editor.page_of(path)
        assert page is not None
        await _all_done(parts, page, estimates, until)
        await _change(services, page, number, until)
        if number % 3 == 2:  # in the middle of the work, and with none beside
            await asyncio.sleep(1.5)
            beside.append(await _run(services, path))
        await _all_done(parts, page, estimates, until)
        watched.append(bar.goals.text)
        if number % 3 == 2:
            alone.append(await _run(services, path))
            await _all_done(parts, page, estimates, until)
        if number >= WARM_ROUNDS:
            estimates.clear()
            samples.append(sample())
        number += 1
    middle = len(samples) // 2
    print(f"{number} rounds in {(time.monotonic() - began) / 60:.1f} min; first, middle and last:")
    print(*(samples[at] for at in (0, middle, -1)), sep="\n")
    ratio = statistics.median(beside) / statistics.median(alone)
    print(f"a run beside the work takes {ratio:.3f} of one alone ({len(alone)} of each)")
    assert len(set(watched)) > 1
    rounds = len(samples) - 1 - middle
    first, last = samples[middle], samples[-1]
    assert max(each.processes for each in samples[middle:]) <= max(
        each.processes for each in samples[:middle]
    )
    assert max(each.files for each in samples[middle:]) <= max(each.files for each in samples[:middle]) + 5
    assert last.resident_kb - first.resident_kb < MOST_RESIDENT_KB * rounds + 4_000
    assert last.objects - first.objects < MOST_OBJECTS * rounds + 1_000


async def _change(services: WindowServices, page: EditorPage, number: int, until: Until) -> None:
    """A digit more, typed, saved, taken back and saved; every other time by another program."""
    text = page.editor.text()
    line = next(at for at, row in enumerate(text.split("\n")) if row.startswith("R1 "))
    row = text.split("\n")[line]
    if number % 2:
        for written in (text.replace(row, row.replace("k", ".1k")), text):
            page.path.write_text(written, encoding="utf-8")
            services.workspace.file_changed.emit(page.path)
            await until(lambda written=written: page.editor.text() == written)
        return
    page.editor.setCursorPosition(line, len(row) - 1)
    QTest.keyClicks(page.editor, "0")
    await asyncio.sleep(1.0)
    assert await page.save()
    page.editor.undo()
    assert page.editor.text() == text
    assert await page.save()


async def _all_done(
    parts: Parts, page: EditorPage, estimates: list[CircuitYield | None], until: Until
) -> None:
    """The margin, the goals and the yield are those of the text, and nothing is under way."""
    tasks = parts.services.app.program.tasks
    await until(lambda: bool(page.editor.bars) and not page.editor.are_bars_stale)
    await until(lambda: bool(estimates) and estimates[-1] is not None)
    await until(lambda: not tasks.handles)


async def _run(services: WindowServices, path: Path) -> float:
    """Wall time of a run, in seconds."""
    began = time.monotonic()
    services.workspace.run_started.emit(path)
    result = await services.app.simulation.run(SimulationRequest(circuit=path))
    taken = time.monotonic() - began
    services.workspace.run_finished.emit(result)
    assert result.ok
    return taken
