"""Kept cases in the window: kept from the worst run, told after every run on a line of their own, deleted."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtGui import QAction
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QApplication, QLineEdit

from application.studies.studying import StudyRequest
from domain.simulation.goals import DesignGoal
from domain.studies.study_spec import read_study_spec
from presentation.panels.project.results import ResultsList
from presentation.panels.studies.extremes_view import WorstCaseView
from presentation.ui.workspace import WindowServices
from presentation.window.panels import Parts
from shared.paths import study_name
from tests.gui.circuits_with_goals import opened
from tests.gui.conftest import Until

FILTER = "* RC low pass\nV1 in 0 AC 1\nR1 in out 1k\nC1 out 0 100n\n.ac dec 40 10 1meg\n.end\n"
GOAL = DesignGoal(metric="fc", expression="bandwidth(v(out))", unit="Hz", minimum=1400.0, maximum=1700.0)
SPEC = {
    "parameters": [{"name": "R1", "tolerance": "5%"}, {"name": "C1", "tolerance": "10%"}],
    "method": "search",
    "measure": {"fc": "bandwidth(v(out))"},
    "goals": ["1400 <= fc <= 1700"],
}


@pytest.fixture
async def circuit(services: WindowServices, tmp_path: Path) -> Path:
    return await opened(services, tmp_path / "filter", "rc.cir", FILTER, [GOAL])


@pytest.fixture
async def parts(services: WindowServices, circuit: Path, until: Until) -> AsyncIterator[Parts]:
    made = Parts(services, services.app)
    made.studies.listen()
    made.editor.resize(1200, 800)
    made.editor.show()
    yield made
    await until(lambda: not services.app.program.tasks.handles)


@pytest.mark.timeout(240)
async def test_a_case_is_kept_from_the_worst_run_and_told_after_every_run(
    parts: Parts, circuit: Path, until: Until
) -> None:
    app, workspace, runs = parts.app, parts.services.workspace, parts.runs
    said: list[str] = []
    for signal in (workspace.status_changed, workspace.error_occurred):
        signal.connect(lambda text: said.append(parts.services.language(text)))
    spec = read_study_spec(SPEC)
    study = await app.simulation.study(StudyRequest(circuit=circuit, kind="worst-case", spec=spec))
    workspace.study_wanted.emit(study.result_path)
    page = parts.studies.page_of(circuit)
    await until(lambda: page.view is not None and page.view.study is not None)
    assert page.view is not None
    view = page.view.result
    assert isinstance(view, WorstCaseView)
    head = view.spans.model()
    assert head is not None
    titles = [head.headerData(place, Qt.Orientation.Horizontal) for place in range(head.columnCount())]
    assert titles == ["Measurement", "Nominal", "Worst-case minimum", "Worst-case maximum"]
    names = [row[0].text for row in view.table.rows]
    assert {"Nominal", "R1 −", "C1 +", "Combination"} <= set(names)
    parts.services.language.set("zh")
    assert {"标称值", "组合"} <= {row[0].text for row in view.table.rows}
    parts.services.language.set("en")

    # The study is named in the message that is being written: its figures go with it.
    offered: list[str] = []
    workspace.words_offered.connect(offered.append)
    QTest.mouseClick(page.attach, Qt.MouseButton.LeftButton)
    results = ResultsList(parts.services, app.project)
    (summary,) = await app.project.browse.results(circuit.parent, with_studies=True)
    attach = results.menu_for(summary).findChild(QAction, "attach_result")
    assert attach is not None
    attach.trigger()
    assert offered == [f"@study:{study_name(study.result_path, 'worst-case')} "] * 2

    QTest.mouseClick(view.keep_button, Qt.MouseButton.LeftButton)

    def field() -> QLineEdit | None:
        asked = [each for each in QApplication.topLevelWidgets() if each.objectName() == "textQuestion"]
        return next((each.findChild(QLineEdit, "answer") for each in asked if each.isVisible()), None)

    await until(lambda: field() is not None)
    answer = field()
    assert answer is not None
    assert answer.text() == "Worst case"
    answer.setText("fast")
    QTest.keyClick(answer, Qt.Key.Key_Return)
    await until(lambda: "Case fast kept: R1 −5 %, C1 −10 %" in said)

    workspace.circuit_run_requested.emit(circuit)
    line = "Case fast: 1 of 1 goal missed: fc 1.862 kHz (1.4 kHz … 1.7 kHz)"
    await until(lambda: runs.measurements.cases.texts == [line])
    assert line in runs.console.toPlainText()
    assert "Goals missed in 1 of 1 case: fast" in said
    parts.services.language.set("zh")
    assert runs.measurements.cases.texts == [
        "工况 fast：1 个目标中 1 个未达标：fc 1.862 kHz（1.4 kHz … 1.7 kHz）"
    ]
    parts.services.language.set("en")

    # Switched off in the menu, then deleted there; undo brings it back.
    found = await app.project.cases.of(circuit.parent, circuit)
    menu = page.cases.menu_of(found)
    assert menu.actions()[0].text() == "fast\tR1 −5 %, C1 −10 %"
    switch = menu.findChild(QAction, "run_cases")
    delete = menu.findChild(QAction, "delete_case")
    assert switch is not None
    assert delete is not None
    assert switch.isChecked()
    switch.trigger()
    await until(lambda: not app.program.runs_cases)
    workspace.circuit_run_requested.emit(circuit)
    await until(lambda: runs.shown.loaded is not None and runs.shown.loaded.source != runs.shown.cases[0])
    await until(lambda: not app.program.tasks.handles)
    assert runs.measurements.cases.texts == []
    delete.trigger()
    await until(lambda: "Case fast deleted" in said)
    assert await app.project.cases.of(circuit.parent, circuit) == ()
    await app.project.operations.undo(circuit.parent)
    assert await app.project.cases.of(circuit.parent, circuit) == found
