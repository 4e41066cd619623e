"""The yield beside each goal: estimated in idle time, ended by typing and runs, off by its setting."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from PyQt6.QtGui import QAction
from PyQt6.QtTest import QTest

from application.simulation.simulating import SimulationRequest
from application.studies.idle_yield import CircuitYield
from application.studies.studying import StudyRequest
from domain.simulation.goals import DesignGoal
from domain.studies.setup import SetupRow, StudySetup
from domain.studies.study_spec import read_study_spec
from presentation.panels.studies.tune_work import TuneWork
from presentation.ui.workspace import WindowServices
from presentation.window.panels import Parts
from tests.gui.circuits_with_goals import opened
from tests.gui.conftest import Until

FILTER = "* RC low pass\nV1 in 0 AC 1\nR1 in out 1k\nC1 out 0 100n\n.ac dec 40 10 1meg\n.end\n"
GOAL = DesignGoal(metric="fc", expression="bandwidth(v(out))", unit="Hz", minimum=1540.0, maximum=1640.0)
DC = DesignGoal(metric="dc", expression="mag(at(v(out),10))", unit="V", minimum=0.9)


@pytest.fixture
async def circuit(services: WindowServices, tmp_path: Path) -> Path:
    return await opened(services, tmp_path / "filter", "rc.cir", FILTER, [GOAL, DC])


@pytest.fixture
async def parts(services: WindowServices, circuit: Path, until: Until) -> AsyncIterator[Parts]:
    made = Parts(services, services.app)
    made.editor.resize(1200, 800)
    made.editor.show()
    yield made
    await until(lambda: not services.app.program.tasks.handles)


@pytest.mark.timeout(240)
async def test_the_yield_stands_beside_each_goal_of_the_circuit_in_front(
    parts: Parts, circuit: Path, until: Until
) -> None:
    app, workspace, table = parts.app, parts.services.workspace, parts.runs.measurements.table
    found: list[CircuitYield | None] = []
    workspace.yield_estimated.connect(found.append)
    opened_files: list[Path] = []
    workspace.file_activated.connect(lambda path, _line: opened_files.append(path))
    watch = parts.yield_watch
    watch._timer.setInterval(50)
    result = await app.simulation.run(SimulationRequest(circuit=circuit))
    workspace.result_selected.emit(result.result_path)
    await until(lambda: len(table.rows) == 2)
    assert [row[2].text for row in table.rows] == ["1.54\u00a0kHz … 1.64\u00a0kHz", "≥ 900\u00a0mV"]

    # A circuit that is kept loaded for sliders nobody sees does nothing, and is waited for by nobody.
    tuning = TuneWork(parts.services, app, circuit, parts.editor)
    loaded: list[object] = []
    tuning.begun.connect(lambda *what: loaded.append(what))
    tuning.start({"parameters": [{"name": "R1"}], "measure": {"fc": GOAL.expression}})
    await until(lambda: bool(loaded))
    parts.editor.show_file(circuit, 3, 1)
    await until(lambda: bool(found) and found[-1] is not None)
    assert tuning.is_running
    tuning.stop()
    known = found[-1]
    assert known is not None
    spec = read_study_spec({
        "parameters": [{"name": "R1", "tolerance": "1%"}, {"name": "C1", "tolerance": "5%"}],
        "measure": {"fc": GOAL.expression}, "goals": ["1540 <= fc <= 1640"], "runs": known.runs,
    })  # fmt: skip
    study = await app.simulation.study(StudyRequest(circuit=circuit, kind="montecarlo", spec=spec))
    assert study.total_yield is not None
    share = known.goals[0].share
    assert (share.passed, share.total) == (study.total_yield.passed, study.total_yield.total)
    await until(lambda: [len(row) for row in table.rows] == [4, 4])
    half = max(1, round(50 * (share.interval[1] - share.interval[0])))
    assert table.rows[0][3].text == f"{round(100 * share.value)} % ± {half}"
    assert table.rows[1][3].text.startswith("≥ 9")
    assert "R1: uniform within ±1 %" in table.rows[0][3].tip
    parts.services.language.set("zh")
    assert table.rows[0][3].text.startswith(f"{round(100 * share.value)}% ±")
    parts.services.language.set("en")

    # Its worst run is a circuit like any other.
    table.selectRow(0)
    outlier = table.menu().findChild(QAction, "open_outlier")
    assert outlier is not None
    assert outlier.isEnabled()
    outlier.trigger()
    await until(lambda: bool(opened_files))
    worst = await app.simulation.run(SimulationRequest(circuit=opened_files[0]))
    figures = await app.simulation.measure(worst.result_path, [GOAL.expression])
    assert not GOAL.is_met_by(figures[GOAL.expression].value)

    # Typing takes it away and begins nothing while the text is not saved; other tolerances begin anew.
    parts.editor.show_file(circuit, 3, 1)
    await until(lambda: found[-1] is not None)
    page = parts.editor.page_of(circuit)
    assert page is not None
    QTest.keyClicks(page.editor, "*")
    assert found[-1] is None
    assert [row[2].text for row in table.rows] == ["1.54\u00a0kHz … 1.64\u00a0kHz", "≥ 900\u00a0mV"]
    page.editor.undo()
    assert await page.save() or not page.is_dirty
    await until(lambda: found[-1] is not None)
    rows = (SetupRow(pattern="R1", tolerance="0.1 %"),)
    workspace.views.of(circuit).studies["montecarlo"] = StudySetup(rows=rows)
    workspace.views.tell()
    assert found[-1] is None
    await until(lambda: found[-1] is not None)
    assert found[-1].goals[0].worst is None

    # A run ends what is under way; the setting switches it off.
    await app.program.preferences.set("estimate_yield", value=False)
    assert found[-1] is None
    workspace.run_started.emit(circuit)
    workspace.run_finished.emit(result)
    await until(lambda: not watch._timer.isActive())
    assert not any(each.kind == "yield" for each in app.program.tasks.handles)
