"""Goals watched like tests: the status bar tells how they stand after a pause in typing, and leads there."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QMenu

from domain.simulation.goals import DesignGoal
from presentation.panels.studies.goals_watch import GoalsWatch
from presentation.ui.workspace import AgentStatus, WindowServices
from presentation.window.panels import Parts
from presentation.window.status_bar import StatusBar
from tests.gui.circuits_with_goals import opened
from tests.gui.conftest import Until

BOARD = "* board\nV1 in 0 AC 1\nR1 in out 1k\n.include part.inc\n.ac dec 30 10 100k\n.end\n"
PART = "* shared\nC1 out 0 100n\n"
GOAL = DesignGoal(metric="fc", expression="bandwidth(v(out))", unit="Hz", minimum=1400.0, maximum=1800.0)
GAIN = DesignGoal(metric="dc", expression="mag(at(v(out),10))", unit="V", minimum=0.9)


@pytest.fixture
async def circuit(services: WindowServices, tmp_path: Path) -> Path:
    path = await opened(services, tmp_path / "boards", "a.cir", BOARD, [GOAL, GAIN])
    _write(path.with_name("part.inc"), PART)
    _write(path.with_name("b.cir"), BOARD)
    await services.app.project.browse.ask_of(path.parent, path.with_name("b.cir"), [GOAL])
    return path


@pytest.fixture
async def parts(services: WindowServices, circuit: Path, until: Until) -> AsyncIterator[Parts]:
    made = Parts(services, services.app)
    made.editor.resize(1200, 800)
    made.editor.show()
    yield made
    await until(lambda: not services.app.program.tasks.handles)


@pytest.mark.timeout(180)
async def test_an_edit_of_a_shared_part_is_told_and_leads_to_its_line(
    parts: Parts, circuit: Path, until: Until
) -> None:
    workspace = parts.services.workspace
    bar = StatusBar(parts.services)
    shown: list[tuple[Path, int | None]] = []
    workspace.file_activated.connect(lambda path, line: shown.append((path, line)))
    watch: GoalsWatch = parts.goals_watch
    parts.editor.show_file(circuit, 1, 1)
    await until(lambda: bar.goals.text == "2 goals met")

    part = circuit.with_name("part.inc")
    parts.editor.show_file(part, 1, 1)
    await until(lambda: bar.goals.text == "3 goals met")  # of the other board, too
    page = parts.editor.page_of(part)
    assert page is not None
    page.editor.setCursorPosition(1, len("C1 out 0 100"))
    QTest.keyClicks(page.editor, "0")
    await until(lambda: "lost" in bar.goals.text)
    assert page.is_dirty  # as it is being written
    assert _text(part) == PART
    assert bar.goals.text == "1 met, 2 lost by line 2"
    assert "a.cir: fc 159.8 Hz (1.4 kHz … 1.8 kHz), lost by line 2 of part.inc" in (
        bar.goals.toolTip().replace("\xa0", " ")
    )
    assert bar.goals.toolTip().count("part.inc") == 2

    workspace.file_shown.emit(circuit)
    assert bar.goals.text == "1 met, 2 lost by line 2 of part.inc"
    workspace.file_shown.emit(part)

    watch.show_missed()
    menu = next(each for each in parts.editor.window().findChildren(QMenu)
                if each.objectName() == "missed_goals")  # fmt: skip
    menu.actions()[0].trigger()
    menu.close()
    assert shown[-1] == (part.resolve(), 2)

    # Work that was asked for comes first; then typed back, the goals are met again.
    workspace.agent_status_changed.emit(AgentStatus(state="running"))
    page.editor.undo()
    await until(lambda: watch._timer.isActive() or part in watch._touched)
    await until(lambda: not watch._timer.isActive())
    assert bar.goals.text == "1 met, 2 lost by line 2"
    workspace.agent_status_changed.emit(AgentStatus(state="idle"))
    await until(lambda: bar.goals.text == "3 goals met")
    parts.services.language.set("zh")
    assert bar.goals.text == "3 个目标达标"
    parts.services.language.set("en")

    # What is typed and thrown away with its tab is measured no more.
    QTest.keyClicks(page.editor, "0")
    await until(lambda: "lost" in bar.goals.text)
    parts.editor.close_all()
    await until(lambda: bar.goals.text == "3 goals met")

    await parts.app.program.preferences.set("watch_goals", value=False)
    await until(lambda: not bar.goals.text)
    parts.editor.show_file(circuit, 1, 1)
    workspace.file_changed.emit(circuit.with_name("b.cir"))
    assert not watch._touched
    watch.show_missed()  # asked for, they are measured all the same
    await until(lambda: bar.goals.text == "3 goals met")


@pytest.mark.timeout(120)
async def test_typing_and_runs_end_it_and_without_goals_nothing_is_said(
    parts: Parts, circuit: Path, until: Until
) -> None:
    bar = StatusBar(parts.services)
    tasks = parts.app.program.tasks
    workspace = parts.services.workspace
    assert parts.goals_watch.standing is None
    _write(circuit, BOARD.replace(".ac dec 30", ".ac dec 400000"))
    parts.editor.show_file(circuit, 1, 1)
    await until(lambda: any(each.kind == "goals watch" for each in tasks.handles))
    page = parts.editor.page_of(circuit)
    assert page is not None
    QTest.keyClicks(page.editor, "*")
    await until(lambda: not any(each.kind == "goals watch" for each in tasks.handles))
    workspace.run_started.emit(circuit)
    page.editor.undo()
    assert bar.goals.text == ""

    for each in (circuit, circuit.with_name("b.cir")):
        await parts.app.project.browse.ask_of(circuit.parent, each, [])
    workspace.run_finished.emit(None)
    await until(lambda: parts.goals_watch.standing is not None)
    assert bar.goals.text == ""
    assert not bar.goals.isVisibleTo(bar)


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")
