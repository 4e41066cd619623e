"""Bars in the editor's margin: what each line does to a goal, by real runs; grey after an edit."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from PyQt6.QtTest import QTest

from domain.simulation.goals import DesignGoal
from presentation.panels.editor.overlay import BARS
from presentation.panels.studies.influence_bars import InfluenceBars
from presentation.ui.workspace import WindowServices
from presentation.window.panels import Parts
from shared.message import Message
from tests.gui.circuits_with_goals import opened
from tests.gui.conftest import Until

FILTER = """* RC low pass with an unloaded divider beside it
V1 in 0 DC 1 AC 1
R1 in out 1k
C1 out 0 100n
R7 in side 10k
R8 side 0 10k
.param gain=2
.ac dec 40 10 1meg
.end
"""
GOALS = (
    DesignGoal(metric="fc", expression="bandwidth(v(out))", unit="Hz", minimum=1500.0, maximum=1700.0),
    DesignGoal(metric="half", expression="mag(at(v(side),1k))", unit="V", minimum=0.4, maximum=0.6),
)


@pytest.fixture
async def circuit(services: WindowServices, tmp_path: Path) -> Path:
    return await opened(services, tmp_path / "filter", "rc.cir", FILTER, GOALS)


@pytest.fixture
async def parts(services: WindowServices, circuit: Path, until: Until) -> AsyncIterator[Parts]:
    made = Parts(services, services.app)
    made.editor.resize(1200, 800)
    made.editor.show()
    yield made
    await until(lambda: not services.app.program.tasks.handles)


@pytest.mark.timeout(180)
async def test_bars_tell_what_each_line_does_to_the_goal_and_are_grey_after_an_edit(
    parts: Parts, circuit: Path, until: Until
) -> None:
    said: list[str] = []
    parts.services.workspace.status_changed.connect(lambda text: said.append(_words(parts, text)))
    parts.editor.show_file(circuit, 3, 1)
    await until(lambda: parts.editor.page_of(circuit) is not None)
    page = parts.editor.page_of(circuit)
    assert page is not None
    editor = page.editor
    bars: InfluenceBars = parts.influence
    assert editor.marginWidth(BARS) == 0

    bars.toggle()
    await until(lambda: bool(editor.bars))
    assert editor.marginWidth(BARS) > 0
    # fc = 1 / (2 pi R1 C1): minus one percent for one percent of either, nothing of any other.
    shares = {line + 1: bar.share for line, bar in editor.bars.items()}
    assert set(shares) == {2, 3, 4, 5, 6, 7}
    assert shares[3] == pytest.approx(-1, abs=0.01)
    assert shares[4] == pytest.approx(-1, abs=0.01)
    assert [shares[line] for line in (5, 6, 7)] == [0, 0, 0]
    assert editor.bars[2].tip.startswith("R1 + 1 %: fc −1.00") or "−1.00" in editor.bars[2].tip
    assert any("13 runs" in text for text in said)

    bars.next_goal()
    await until(lambda: editor.bars[4].share != 0)
    shares = {line + 1: bar.share for line, bar in editor.bars.items()}
    assert (shares[3], shares[4]) == (0, 0)
    assert shares[5] == pytest.approx(-shares[6], abs=0.02)
    assert shares[5] < 0 < shares[6]

    editor.setCursorPosition(2, len("R1 in out 1"))
    QTest.keyClicks(editor, "0")
    assert page.is_dirty
    assert editor.are_bars_stale
    assert await page.save()
    await until(lambda: not editor.are_bars_stale)

    bars.toggle()
    assert editor.marginWidth(BARS) == 0
    assert not editor.bars
    assert _text(circuit) == FILTER.replace("R1 in out 1k", "R1 in out 10k")


@pytest.mark.timeout(120)
async def test_a_run_and_typing_end_it_at_once_and_no_goal_is_said(
    parts: Parts, circuit: Path, until: Until
) -> None:
    said: list[str] = []
    workspace = parts.services.workspace
    workspace.status_changed.connect(lambda text: said.append(_words(parts, text)))
    many = "".join(f"R{number} out n{number} 1k\n" for number in range(10, 400))
    _write(circuit, FILTER.replace(".ac dec 40", f"{many}.ac dec 2000"))
    parts.editor.show_file(circuit, 1, 1)
    await until(lambda: parts.editor.page_of(circuit) is not None)
    page = parts.editor.page_of(circuit)
    assert page is not None
    bars = parts.influence
    tasks = parts.services.app.program.tasks
    bars.toggle()
    await until(lambda: any(each.kind == "influence" for each in tasks.handles))
    workspace.run_started.emit(circuit)
    await until(lambda: not any(each.kind == "influence" for each in tasks.handles))
    assert not page.editor.bars
    bars.toggle()

    other = circuit.with_name("other.cir")
    _write(other, FILTER)
    parts.editor.show_file(other, 1, 1)
    await until(lambda: parts.editor.page_of(other) is not None)
    workspace.run_finished.emit(None)
    bars.toggle()
    await until(lambda: "other.cir has no goal whose influences could be shown." in said)
    bars.toggle()


def _words(parts: Parts, text: Message) -> str:
    return parts.services.language(text)


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")
