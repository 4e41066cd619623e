"""The map of two values by real clicks: set-up, run, a point chosen, taken, undone and opened."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtTest import QTest

from domain.simulation.goals import DesignGoal
from presentation.panels.studies.map_view import MapView
from presentation.ui.workspace import WindowServices
from presentation.window.panels import Parts
from tests.gui.circuits_with_goals import opened
from tests.gui.conftest import Until

RC = "* low-pass\nV1 in 0 AC 1\nR1 in out 1k\nC1 out 0 100n\nR9 out 0 1meg\n.ac dec 20 10 1meg\n.end\n"
GOALS = (DesignGoal(metric="fc", expression="bandwidth(v(out))", unit="Hz", minimum=2000.0, maximum=4000.0),)


@pytest.fixture
async def circuit(services: WindowServices, tmp_path: Path) -> Path:
    return await opened(services, tmp_path / "rc", "rc.cir", RC, GOALS)


@pytest.fixture
async def parts(services: WindowServices, circuit: Path, until: Until) -> AsyncIterator[Parts]:
    made = Parts(services, services.app)
    made.studies.listen()
    made.editor.resize(1200, 800)
    made.editor.show()
    yield made
    await until(lambda: not services.app.program.tasks.handles)


def _text(path: Path) -> str:
    return path.read_text()


@pytest.mark.timeout(180)
async def test_a_point_of_the_map_is_taken_as_one_change_undone_and_opened_as_a_circuit(
    parts: Parts, circuit: Path, until: Until
) -> None:
    parts.services.workspace.studies_wanted.emit(circuit, "map", "")
    page = parts.studies.page_of(circuit)
    await until(lambda: page.view is not None and page.isVisible())
    assert page.view is not None
    pane, view = page.view.setup_pane, page.view.result
    assert isinstance(view, MapView)
    assert [row.row.pattern for row in pane.rows] == ["R1", "C1"]
    assert [pane.rows[0].scale.itemData(place) for place in range(2)] == ["lin", "log"]
    # The value at the caret takes the place of the first one, and the other stays.
    page.show_kind("map", "R9")
    assert [row.row.pattern for row in pane.rows] == ["C1", "R9"]
    pane.rows[1].pattern.selectAll()
    QTest.keyClicks(pane.rows[1].pattern, "R*")
    assert pane.problem.text() == "A map needs exactly two parameters; selected: 3."
    assert not pane.run_button.isEnabled()
    page.show_kind("map", "R1")
    page.show_kind("map", "C1")
    assert [row.row.pattern for row in pane.rows] == ["R1", "C1"]
    QTest.keyClick(pane.metrics["fc"], Qt.Key.Key_Space)
    assert not pane.run_button.isEnabled()
    QTest.keyClick(pane.metrics["fc"], Qt.Key.Key_Space)
    QTest.mouseClick(pane.run_button, Qt.MouseButton.LeftButton)
    await until(lambda: page.work.running == "map" or page.view.study is not None)
    await until(lambda: page.work.running is None and page.view.study is not None)
    await until(lambda: not page.view.study.is_under_way and view.chart.content is not None)
    study = page.view.study
    await until(lambda: len(view.chart.content.runs) == len(study.rows))
    assert view.chart.content.borders
    assert view.chart.content.present is not None
    assert view.verdict.text().startswith("All goals are met on ")
    assert view.table.rows[0][2].text.startswith("1.59")
    assert not view.take_button.isEnabled()

    view.chart.grab()  # places are those that were painted
    wanted = next(each for each in view.chart.content.runs if each.is_met)
    spot = view.chart.at(wanted.place).toPoint()
    QTest.mouseClick(view.chart, Qt.MouseButton.LeftButton, pos=spot)
    row = study.row(wanted.run)
    assert row is not None
    assert view.chart.chosen == wanted.run
    assert "✓ fc = " in view.chart._tell(wanted.run)
    assert f"Run {wanted.run}: " in view.place.text()

    QTest.mouseClick(view.take_button, Qt.MouseButton.LeftButton)
    await until(lambda: view.take_button.text() == "Undo the change")
    written = _text(circuit)
    for name, text in view.values.items():
        assert any(line.startswith(f"{name} ") and line.endswith(f" {text}") for line in written.splitlines())
    place = view.chart.content.present
    await until(lambda: view.chart.content.present not in (None, place))
    assert view.chart.content.present == pytest.approx(wanted.place, abs=2e-3)
    QTest.mouseClick(view.take_button, Qt.MouseButton.LeftButton)
    await until(lambda: view.take_button.text() == "Take these values")
    assert _text(circuit) == RC

    QTest.mouseDClick(view.chart, Qt.MouseButton.LeftButton, pos=spot)
    kept = circuit.with_name(f"rc_run_{wanted.run}.cir")
    await until(lambda: parts.editor.page_of(kept) is not None)
    from application.simulation.simulating import SimulationRequest

    run = await parts.app.simulation.run(SimulationRequest(circuit=kept))
    found = await parts.app.simulation.measure(run.result_path, ["bandwidth(v(out))"])
    (value,) = (quantity.value for quantity in found.values())
    assert value == pytest.approx(row.metrics["fc"], rel=1e-9)

    # Arrow keys go to neighbors, the link to the run that is furthest from all borders.
    QTest.mouseClick(view.best_button, Qt.MouseButton.LeftButton)
    best = view.chart.chosen
    assert best == study.figure("map", "best_run")
    QTest.keyClick(view.chart, Qt.Key.Key_Right)
    right, middle = study.row(view.chart.chosen), study.row(best)
    assert right is not None
    assert middle is not None
    assert right.parameters["R1"] > middle.parameters["R1"]
