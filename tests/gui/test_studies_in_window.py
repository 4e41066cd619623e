"""The page of studies by real clicks: set-up, run, results, cancel, values applied and undone."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Literal

import pytest
from PyQt6.QtCore import QEvent, QPoint, QPointF, Qt
from PyQt6.QtGui import QAction, QMouseEvent
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QLabel,
    QLineEdit,
    QMenu,
    QPushButton,
    QWidget,
)

from application.studies.reading import ReadStudy, StoredStudy
from domain.circuit.numbers import format_number, parse_number
from domain.simulation.goals import DesignGoal
from domain.studies.setup import document_of
from domain.studies.study_spec import Range, StudyParameter
from presentation.panels.editor.code_editor import CodeEditor
from presentation.panels.editor.compare_view import CompareView
from presentation.panels.editor.value_handles import ValueHandle
from presentation.panels.project.results import ResultsList
from presentation.panels.studies.extremes_view import CornersView, SensitivityView, WorstCaseView
from presentation.panels.studies.knob import Knob
from presentation.panels.studies.page import StudiesPage
from presentation.panels.studies.scatter_view import ScatterView
from presentation.panels.studies.search_view import SearchView
from presentation.panels.studies.setup_pane import SetupPane
from presentation.panels.studies.sweep_view import SweepView
from presentation.panels.studies.tune_view import TuneView, steps_of
from presentation.ui.workspace import WindowServices
from presentation.window.main_window import MainWindow
from presentation.window.panels import Parts
from tests.gui.circuits_with_goals import opened
from tests.gui.conftest import Until
from tests.gui.loop_watchdog import LoopWatchdog

DIVIDER = """* Divider of 10 V with a filter behind it
V1 in 0 DC 10 AC 1
R1 in out 10k
R2 out 0 10k
C1 out 0 10n
.ac dec 20 10 1meg
.op
.meas ac low find vm(out) at=10
.end
"""
GOALS = (
    DesignGoal(metric="fc", expression="bandwidth(v(out))", unit="Hz", minimum=3000.0, maximum=3400.0),
    DesignGoal(metric="vout", expression="v(out)", unit="V", minimum=4.9, maximum=5.1),
)


@pytest.fixture
async def circuit(services: WindowServices, tmp_path: Path) -> Path:
    """A circuit of a project, with two goals."""
    return await opened(services, tmp_path / "divider", "divider.cir", DIVIDER, GOALS)


@pytest.fixture
async def parts(services: WindowServices, circuit: Path, until: Until) -> AsyncIterator[Parts]:
    """Editor, results and studies as the window joins them."""
    made = Parts(services, services.app)
    made.studies.listen()
    made.editor.resize(1200, 800)
    made.editor.show()
    yield made
    await until(lambda: not services.app.program.tasks.handles)


async def _page(parts: Parts, circuit: Path, kind: str, until: Until) -> tuple[StudiesPage, SetupPane]:
    parts.services.workspace.studies_wanted.emit(circuit, kind, "")
    page = parts.studies.page_of(circuit)
    await until(lambda: page.view is not None and page.isVisible())
    assert page.view is not None
    return page, page.view.setup_pane


def _text(path: Path) -> str:
    return path.read_bytes().decode()


def _click(widget: QPushButton | QCheckBox) -> None:
    QTest.mouseClick(widget, Qt.MouseButton.LeftButton)


def _enter(field: QLineEdit | None, text: str) -> None:
    assert field is not None
    field.selectAll()
    QTest.keyClicks(field, text)


def _field(pane: SetupPane, name: str) -> QLineEdit:
    found = pane.findChild(QLineEdit, name)
    assert found is not None, name
    return found


async def _ended(page: StudiesPage, until: Until) -> None:
    await until(lambda: page.work.running is None)
    await until(
        lambda: page.view is not None and page.view.study is not None and not page.view.study.is_under_way
    )


@pytest.mark.timeout(180)
async def test_a_monte_carlo_gives_what_the_same_specification_gives_elsewhere(
    parts: Parts, circuit: Path, until: Until, tmp_path: Path
) -> None:
    page, pane = await _page(parts, circuit, "montecarlo", until)
    assert [row.row.pattern for row in pane.rows] == ["R*", "C*"]
    assert [box.text() for box in pane.rows[0].parts] == ["R1  10k", "R2  10k"]
    assert [box.text() for box in pane.metrics.values()] == ["fc", "Output voltage", "low"]
    _enter(pane.rows[0].tolerance, "2")
    pane.rows[0].tolerance.editingFinished.emit()
    assert pane.rows[0].tolerance.text() == "2 %"
    _enter(_field(pane, "setup_runs"), "40")
    _click(pane.metrics["low"])
    assert pane.run_button.text() == "Run Monte Carlo"
    assert pane.run_button.isEnabled()
    _click(pane.run_button)
    await until(lambda: page.work.running == "montecarlo" or page.view.study is not None)
    await _ended(page, until)

    study = page.view.study
    assert study is not None
    assert page.offer is not None
    document = document_of("montecarlo", pane.setup, page.offer)
    from application.studies.documents import study_document
    from application.studies.studying import StudyRequest
    from domain.studies.study_spec import read_study_spec

    spec = read_study_spec(json.loads(json.dumps(document)))
    plain = await parts.app.simulation.study(StudyRequest(circuit=circuit, kind="montecarlo", spec=spec))
    elsewhere = study_document(plain)
    assert len(study.rows) == 40
    for row, other in zip(study.rows, elsewhere["rows"], strict=True):
        assert dict(row.parameters) == other["parameters"]
        assert dict(row.metrics) == other["metrics"]
    assert study.part("yield")["passed"] == elsewhere["yield"]["passed"]
    assert study.figure("statistics", "fc", "mean") == elsewhere["statistics"]["fc"]["mean"]
    assert study.figure("yield", "low") == elsewhere["yield"]["low"]

    view = page.view.result
    assert isinstance(view, ScatterView)
    assert [caption for caption, _ in view.head.texts][:2] == ["Yield, 2 goals", "95 % interval"]
    assert sum(view.histogram.content.counts) == 40
    assert [limit.text for limit in view.histogram.content.limits] == ["3\u00a0kHz", "3.4\u00a0kHz"]
    assert {bar.name for bar in view.shares.bars} == {"R1", "R2", "C1"}
    margins = [study.margin(row) for row in study.rows]
    assert view.table.runs[0] == min(study.rows, key=lambda row: margins[row.run] or 0).run
    assert view.table.rows[0][0].text == f"Run {view.table.runs[0]}"

    # A run as a circuit of its own: the same values, and a plain run gives the same figures.
    worst = view.table.runs[0]
    view.table.selectRow(0)
    QTest.keyClick(view.table, Qt.Key.Key_Return)
    kept = circuit.with_name(f"divider_run_{worst}.cir")
    await until(lambda: parts.editor.page_of(kept) is not None)
    opened = parts.editor.page_of(kept)
    assert opened is not None
    assert f"Run {worst} of Monte Carlo of divider.cir" in opened.editor.text()
    assert _text(circuit) == DIVIDER
    from application.simulation.simulating import SimulationRequest

    run = await parts.app.simulation.run(SimulationRequest(circuit=kept))
    found = await parts.app.simulation.measure(run.result_path, ["bandwidth(v(out))"])
    row = study.row(worst)
    assert row is not None
    (value,) = (quantity.value for quantity in found.values())
    assert value == pytest.approx(row.metrics["fc"], rel=1e-9)
    await until(lambda: opened.editor.markersAtLine(2) != 0 or opened.editor.markersAtLine(1) != 0)


@pytest.mark.timeout(180)
async def test_a_sweep_draws_a_line_for_each_value_of_the_other_parameter(
    parts: Parts, circuit: Path, until: Until
) -> None:
    page, pane = await _page(parts, circuit, "sweep", until)
    row = pane.rows[0]
    assert row.row.pattern == "R1"
    _enter(row.low, "5k")
    _enter(row.high, "20k")
    _enter(row.points, "4")
    button = pane.findChild(QPushButton, "add_parameter")
    assert button is not None
    _click(button)
    _enter(pane.rows[1].pattern, "C1")
    scale = pane.rows[1].findChild(QComboBox, "parameter_scale")
    assert scale is not None
    scale.setCurrentIndex(scale.findData("list"))
    scale.activated.emit(scale.currentIndex())
    _enter(pane.rows[1].values, "4.7n, 10n")
    _click(pane.run_button)
    await _ended(page, until)
    study, view = page.view.study, page.view.result
    assert study is not None
    assert isinstance(view, SweepView)
    assert len(study.rows) == 8
    assert view.chart.content is not None
    assert [line.name for line in view.chart.content.lines] == ["C1 = 4.7n", "C1 = 10n"]
    first = view.chart.content.lines[0].points
    assert [round(x) for x, _ in first] == [5000, 7937, 12599, 20000]
    assert first[0][1] == next(
        r.metrics["fc"] for r in study.rows if r.parameters == {"R1": 5000.0, "C1": 4.7e-9}
    )
    view.axis.setCurrentIndex(1)
    view.axis.activated.emit(1)
    assert len(view.chart.content.lines) == 4


@pytest.mark.timeout(240)
async def test_found_values_are_one_change_that_can_be_undone(
    parts: Parts, circuit: Path, until: Until
) -> None:
    parts.editor.show_file(circuit)
    await until(lambda: parts.editor.page_of(circuit) is not None)
    page, pane = await _page(parts, circuit, "optimize", until)
    _click(pane.metrics["vout"])
    _click(pane.run_button)
    await _ended(page, until)
    view, study = page.view.result, page.view.study
    assert isinstance(view, SearchView)
    assert study is not None
    begun = study.part("start", "parameters")
    for moved, has_figure in ((1.0, True), (1.02, False)):  # figures of now are of the values of now
        view.show_study(study, {name: value * moved for name, value in begun.items()})
        assert [bool(row[1].text) for row in view.table.rows if row[0].text == "low"] == [has_figure]
    assert view.findChild(QLabel, "search_verdict").text() == "1 of 1 goal met"  # type: ignore[union-attr]
    assert dict(view.values) == study.part("best")["values"]
    assert [row[2].text for row in view.table.rows[:3]] == list(view.values.values())
    assert view.goals.texts()[0].startswith("fc ")

    _click(view.diff_button)
    await until(lambda: any(isinstance(parts.editor.tabs.tabData(i), CompareView) for i in range(3)))
    assert _text(circuit) == DIVIDER
    parts.services.workspace.studies_wanted.emit(circuit, "optimize", "")
    _click(view.apply_button)
    await until(lambda: view.apply_button.text() == "Undo the change")
    written = _text(circuit)
    for name, text in view.values.items():
        assert any(line.startswith(f"{name} ") and line.endswith(f" {text}") for line in written.splitlines())
    editor = parts.editor.page_of(circuit)
    assert editor is not None
    await until(lambda: editor.editor.text() == written)
    _click(view.apply_button)
    await until(lambda: view.apply_button.text() == "Apply as one undoable change")
    assert _text(circuit) == DIVIDER


@pytest.mark.timeout(180)
async def test_rows_and_chart_fill_while_it_runs_and_stopping_keeps_what_came(
    parts: Parts, circuit: Path, until: Until
) -> None:
    page, pane = await _page(parts, circuit, "montecarlo", until)
    assert page.view is not None
    view = page.view.result
    assert isinstance(view, ScatterView)
    seen: list[StoredStudy] = []
    page.work.seen.connect(lambda _kind, study: seen.append(study))
    said: list[str] = []
    parts.services.workspace.status_changed.connect(lambda text: said.append(parts.services.language(text)))
    _enter(_field(pane, "setup_runs"), "100000")
    for stop in ("Escape", "button"):
        seen.clear()
        _click(pane.run_button)
        await until(lambda: page.bar.isVisible() and page.bar.value() > 0 and len(seen) > 1)
        assert pane.run_button.text() == "Stop"
        assert " of 100000 runs" in page.progress.text()
        assert any(" of 100000 runs, " in text and text.endswith(" left") for text in said)
        assert len(seen[0].rows) < len(seen[1].rows)
        assert sum(view.histogram.content.counts) == len(seen[-1].rows)
        assert seen[-1].figure("statistics", "fc", "n") == len(seen[-1].rows)
        assert "so far" in page.findChild(QLabel, "last_run").text()
        view.file_wanted.emit()
        assert page.error.text() == "The table can be exported when the study is over or stopped."
        if stop == "Escape":
            assert page.isAncestorOf(QApplication.focusWidget())
            QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Escape)
        else:
            _click(pane.run_button)
        await until(lambda: page.work.running is None)
        await until(lambda: page.view.study is not None and not page.view.study.is_under_way)
        study = page.view.study
        assert study.is_stopped
        assert len(seen[-1].rows) <= len(study.rows) < 100_000
        kept = {row.run: row for row in study.rows}
        assert all(kept[row.run] == row for row in seen[0].rows)
    assert pane.run_button.text() == "Run Monte Carlo"
    results = ResultsList(parts.services, parts.app.project)
    results.reload()
    await until(lambda: results.model.results)
    assert results.model.results[0].study == "montecarlo"
    assert results.model.results[0].path == study.path


async def test_what_does_not_fit_is_said_in_its_row_and_cannot_be_run(
    parts: Parts, circuit: Path, until: Until
) -> None:
    _, pane = await _page(parts, circuit, "montecarlo", until)
    row = pane.rows[0]
    problem = row.findChild(QLabel, "parameter_problem")
    assert problem is not None
    for field, wrong, right, said in (
        (row.pattern, "R9*", "R*", "No part matches R9*."),
        (row.tolerance, "much", "1", "Enter the tolerance in percent, such as 5 %."),
    ):
        _enter(field, wrong)
        assert problem.text() == said
        assert not pane.run_button.isEnabled()
        _enter(field, right)
        assert problem.isHidden()
        assert pane.run_button.isEnabled()
    _enter(_field(pane, "setup_runs"), "many")
    assert pane.problem.text() == "Enter a whole number of runs."
    assert not pane.run_button.isEnabled()
    _enter(_field(pane, "setup_runs"), "10")
    limit = pane.limits["low"]
    _enter(limit, "above 3")
    assert not pane.run_button.isEnabled()
    _enter(limit, ">= 0.4")
    assert pane.run_button.isEnabled()
    added = _field(pane, "added_measurement")
    _enter(added, "bandwidth(")
    QTest.keyClick(added, Qt.Key.Key_Return)
    assert pane.problem.text()
    _enter(added, "max(v(out)) 1..2")
    QTest.keyClick(added, Qt.Key.Key_Return)
    assert "max(v(out))" in pane.metrics
    assert pane.limits["max(v(out))"].text() == "1..2"


async def test_a_set_up_is_kept_with_its_circuit_and_speaks_the_window_s_language(
    parts: Parts, circuit: Path, until: Until
) -> None:
    page, pane = await _page(parts, circuit, "worst-case", until)
    _enter(pane.rows[0].tolerance, "7 %")
    kept = parts.services.workspace.views.of(circuit)
    assert kept.study == "worst-case"
    assert kept.studies["worst-case"].rows[0].tolerance == "7 %"
    parts.services.language.set("zh")
    assert pane.run_button.text() == "运行最坏情况"
    assert page.tabs.tabText(1) == "蒙特卡洛"
    parts.services.language.set("en")
    parts.editor.close_page(page)
    again, other = await _page(parts, circuit, "worst-case", until)
    assert again is not page
    assert other.rows[0].row.tolerance == "7 %"


@pytest.mark.timeout(180)
async def test_a_set_up_has_a_name_and_that_of_a_stored_study_is_run_again(
    parts: Parts, circuit: Path, until: Until
) -> None:
    page, pane = await _page(parts, circuit, "montecarlo", until)
    _enter(_field(pane, "setup_runs"), "30")
    _enter(pane.rows[0].tolerance, "2 %")
    first = pane.setup

    async def chosen(name: str) -> None:
        def shown() -> QMenu | None:
            menus = page.setups.findChildren(QMenu, "setups_menu")
            return next((menu for menu in menus if menu.isVisible()), None)

        _click(page.setups)
        await until(lambda: shown() is not None)
        menu = shown()
        assert menu is not None
        action = menu.findChild(QAction, name)
        assert action is not None, name
        assert action.isEnabled(), name
        action.trigger()
        menu.close()

    await chosen("save_setup")
    answer = await _dialog_field(until)
    assert answer.text() == "Monte Carlo"
    answer.setText("two percent 二")
    QTest.keyClick(answer, Qt.Key.Key_Return)
    root = circuit.parent
    setups = parts.app.project.setups
    kept = root / ".circuit_ai" / "study_setups" / "divider.cir.json"
    await until(kept.is_file)
    assert [each.name for each in await setups.of(root, circuit)] == ["two percent 二"]

    _click(pane.run_button)
    await _ended(page, until)
    study = page.view.study
    _enter(_field(pane, "setup_runs"), "7")
    _enter(pane.rows[0].pattern, "C1")
    await chosen("setup:two percent 二")
    assert page.view.setup_pane is not pane
    assert page.view.setup_pane.setup == first
    assert parts.services.workspace.views.of(circuit).studies["montecarlo"] == first

    _enter(_field(page.view.setup_pane, "setup_runs"), "7")
    await chosen("run_study_again")
    assert page.view.setup_pane.setup == first
    await _ended(page, until)
    await until(lambda: page.view.study.path != study.path and not page.view.study.is_under_way)
    assert page.view.study.rows == study.rows

    await parts.app.project.browse.follow_move(root, circuit, circuit.with_name("other.cir"))
    assert not kept.exists()
    (moved,) = await setups.of(root, circuit.with_name("other.cir"))
    assert moved.setup == first
    await parts.app.project.browse.follow_move(root, circuit.with_name("other.cir"), circuit)
    await chosen("delete:two percent 二")
    await until(lambda: not kept.exists())


async def _dialog_field(until: Until) -> QLineEdit:
    """The line of a question that is open."""

    def found() -> QLineEdit | None:
        windows = (each for each in QApplication.topLevelWidgets() if each.objectName() == "textQuestion")
        fields = (each.findChild(QLineEdit, "answer") for each in windows if each.isVisible())
        return next((each for each in fields if each is not None), None)

    await until(lambda: found() is not None)
    field = found()
    assert field is not None
    return field


def _path_of(page: StudiesPage) -> Path | None:
    """Of the study that is shown and over."""
    study = None if page.view is None else page.view.study
    return None if study is None or study.is_under_way else study.path


@pytest.mark.timeout(180)
async def test_two_studies_are_compared_figure_by_figure(parts: Parts, circuit: Path, until: Until) -> None:
    page, pane = await _page(parts, circuit, "montecarlo", until)
    studies: list[StoredStudy] = []
    for tolerance in ("1", "4"):
        for row in pane.rows:
            _enter(row.tolerance, tolerance)
            row.tolerance.editingFinished.emit()
        _enter(_field(pane, "setup_runs"), "30")
        _click(pane.run_button)
        kept = [each.path for each in studies]
        await until(lambda kept=kept: page.work.running is None and _path_of(page) not in [None, *kept])
        assert page.view is not None
        assert page.view.study is not None
        studies.append(page.view.study)
    comparison = page.view.comparison
    assert not comparison.isVisible()

    # From the list of results, while the newer one is shown: both figures and how far they moved.
    parts.results.reload()
    await until(lambda: len(parts.results.model.results) == 2)
    older = next(each for each in parts.results.model.results if each.path == studies[0].path)
    menu = parts.results.menu_for(older)
    action = menu.findChild(QAction, "compare_result")
    assert action is not None
    assert action.text() == "Compare with the shown study"
    action.trigger()
    await until(comparison.isVisible)
    rows = {row[0].text: [cell.text for cell in row[1:]] for row in comparison.table.rows}
    assert rows["Runs"] == ["30", "30", "="]
    shares = [100 * study.part("yield")["passed"] / 30 for study in studies]
    assert rows["Yield"][:2] == [f"{share:.4g}\u00a0%" for share in shares]
    assert rows["Yield"][2] == f"{shares[1] - shares[0]:+.3g} points".replace("-", "−")
    sigmas = [study.figure("statistics", "fc", "sigma") for study in studies]
    assert rows["fc σ"][2] == f"+{100 * (sigmas[1] / sigmas[0] - 1):.3g} %"
    assert sigmas[1] > 2 * sigmas[0]

    # The menu of the page ends it; a study is not compared with itself.
    (entry,) = page.compare.menu_of([older]).findChildren(QAction, f"compare:{older.path.parent.name}")
    page.compare.menu_of([older]).actions()[-1].trigger()
    await until(lambda: not comparison.isVisible())
    entry.trigger()
    await until(comparison.isVisible)
    parts.services.workspace.study_comparison_wanted.emit(studies[1].path)
    await until(page.error.isVisible)
    assert "another study" in page.error.text()


def test_menu_names_every_kind(services: WindowServices) -> None:
    window = MainWindow(services, services.app)
    names = [each.action.name for each in window.commands.all if each.action.name.startswith("study.")]
    assert names[:2] == ["study.sweep", "study.montecarlo"]
    assert "study.optimize" in names


@pytest.mark.timeout(180)
async def test_sliders_move_curve_and_figures_and_write_nothing_before_it_is_asked(
    parts: Parts, circuit: Path, until: Until
) -> None:
    page, pane = await _page(parts, circuit, "tune", until)
    assert [row.row.pattern for row in pane.rows] == ["R1", "R2", "C1"]
    _click(pane.run_button)
    view = page.view.result
    assert isinstance(view, TuneView)
    await until(lambda: len(view.knobs) == 3 and view.area is not None)
    assert pane.run_button.text() == "Stop tuning"
    before = [verdict.measured.value for verdict in view.goals.verdicts]
    knob = view.knobs[0]
    assert knob.value == 10e3
    assert not view.apply_button.isEnabled()
    knob.slider.setFocus()
    for _ in range(3):
        QTest.keyClick(knob.slider, Qt.Key.Key_Right)
    assert knob.field.text() == "13k"  # E24: 11k, 12k, 13k
    await until(lambda: [verdict.measured.value for verdict in view.goals.verdicts] != before)
    await until(lambda: view.goals.verdicts[1].measured.value == pytest.approx(100 / 23, rel=1e-6))
    assert not view.goals.verdicts[1].met
    _enter(knob.field, "15k")
    QTest.keyClick(knob.field, Qt.Key.Key_Return)
    await until(lambda: view.goals.verdicts[1].measured.value == pytest.approx(4.0, rel=1e-6))
    await until(lambda: bool(view.traces) and view.area is not None and len(view.area.traces) == 1)
    _enter(knob.field, "fast")
    QTest.keyClick(knob.field, Qt.Key.Key_Return)
    assert knob.value == 15e3
    assert view.count.text() == "1 of 3 changed"
    assert _text(circuit) == DIVIDER

    _click(view.apply_button)
    await until(lambda: "R1 in out 15k\n" in _text(circuit))
    await until(lambda: view.apply_button.text() == "Undo the change" and view.apply_button.isEnabled())
    assert view.knobs[0].written == 15e3
    _click(view.apply_button)
    await until(lambda: _text(circuit) == DIVIDER)
    await until(lambda: view.knobs[0].written == 10e3)
    _click(pane.run_button)
    await until(lambda: not page.tuning.is_running)
    assert pane.run_button.text() == "Start tuning"
    assert view.head.text().startswith("Stopped.")

    # A slider that is moved begins it again; stopped once more, what it has is applied and taken back.
    held = view.knobs[0]
    held.slider.setFocus()
    QTest.keyClick(held.slider, Qt.Key.Key_Right)
    await until(lambda: view.goals.verdicts[1].measured.value == pytest.approx(100 / 21, rel=1e-6))
    assert view.head.text().startswith("live")
    assert view.knobs[0] is held, "it may be under the hand that began it again"
    _click(pane.run_button)
    await until(lambda: not page.tuning.is_running)
    _click(view.apply_button)
    await until(lambda: "R1 in out 11k\n" in _text(circuit))
    await until(lambda: view.apply_button.text() == "Undo the change" and view.apply_button.isEnabled())
    _click(view.apply_button)
    await until(lambda: _text(circuit) == DIVIDER)
    await until(lambda: view.knobs[0].written == 10e3)
    page.tuning.stop()
    await until(lambda: not page.tuning.is_running)

    # Who comes from a value of the text moves it by the arrow keys.
    page.show_kind("tune", view.knobs[1].name)
    await until(lambda: page.tuning.is_running and page.window().focusWidget() is view.knobs[1].slider)
    page.tuning.stop()
    await until(lambda: not page.tuning.is_running)


@pytest.mark.timeout(180)
async def test_corners_worst_case_and_sensitivity_mark_what_is_worst(
    parts: Parts, circuit: Path, until: Until
) -> None:
    page, pane = await _page(parts, circuit, "corners", until)
    _enter(_field(pane, "setup_temperatures"), "27")
    _enter(_field(pane, "setup_voltages"), "9, 10, 11.5")
    assert _field(pane, "setup_supply").text() == "V1"
    _click(pane.run_button)
    await _ended(page, until)
    corners = page.view.result
    assert isinstance(corners, CornersView)
    rows = {row[0].text: row for row in corners.spans.rows}
    assert rows["vout"][5].text == "V1=11.5_27C"
    assert corners.verdict.text() == "Goals are missed"
    assert corners.table.rows[0][0].text == "V1=11.5_27C"

    page, pane = await _page(parts, circuit, "worst-case", until)
    _enter(pane.rows[0].tolerance, "10 %")
    _enter(_field(pane, "added_measurement"), "p(R2)")
    QTest.keyClick(_field(pane, "added_measurement"), Qt.Key.Key_Return)
    _click(pane.run_button)
    await _ended(page, until)
    worst = page.view.result
    assert isinstance(worst, WorstCaseView)
    vout = next(row for row in worst.spans.rows if row[0].text == "vout")
    assert [cell.text for cell in vout[1:4]] == ["5\u00a0V", "4.5\u00a0V", "5.5\u00a0V"]
    worst.metric_box.setCurrentIndex(worst.metric_box.findData("vout"))
    worst.metric_box.activated.emit(0)
    assert {bar.name for bar in worst.chart.bars[:2]} == {"R1", "R2"}
    assert worst.chart.bars[0].low == -worst.chart.bars[0].high
    assert worst.bends.text() == ""
    worst.metric_box.setCurrentIndex(worst.metric_box.findData("p(R2)"))  # most where R1 = R2
    worst.metric_box.activated.emit(0)
    assert "not monotonic in R2" in worst.bends.text()
    margins = [kept for run in worst.table.runs if (kept := page.view.study.margin(page.view.study.row(run)))]
    assert margins == sorted(margins)
    assert "R1, R2: at both tolerance limits, ±10 %" in worst.note.text()

    page, pane = await _page(parts, circuit, "sensitivity", until)
    _click(pane.run_button)
    await _ended(page, until)
    found = page.view.result
    assert isinstance(found, SensitivityView)
    found.metric_box.setCurrentIndex(found.metric_box.findData("vout"))
    found.metric_box.activated.emit(0)
    by_name = {bar.name: bar for bar in found.chart.bars}
    assert by_name["R1"].low < 0 < by_name["R2"].high
    english = found.note.text()
    parts.services.language.set("zh")
    assert found.note.text() != english
    assert "±10" in found.note.text()
    parts.services.language.set("en")


class _Many:
    """A store with a study of 30,000 runs."""

    def study_document(self, _result: Path) -> dict[str, object]:
        return {
            "kind": "study", "study": "montecarlo", "netlist": {"path": "/p/a.cir", "sha256": ""},
            "parameters": ["R1", "R2"], "units": {"fc": "Hz"},
            "goals": [{"metric": "fc", ">=": 900.0, "<=": 1100.0}],
            "statistics": {"fc": {"mean": 1e3, "sigma": 50.0}},
        }  # fmt: skip

    def study_rows(self, _result: Path) -> bytes:
        lines = (f"{run},{run % 100},{run // 100},{800 + run / 75},True,ok," for run in range(30_000))
        return ("run,R1,R2,fc [Hz],goals_met,state,reason\n" + "\n".join(lines)).encode()

    def origin_of(self, _path: Path) -> str:
        return "here"


async def test_thirty_thousand_runs_are_shown_without_holding_the_loop(
    services: WindowServices, loop_watchdog: LoopWatchdog, until: Until
) -> None:
    scatter, sweep = ScatterView(services), SweepView(services)
    views = (scatter, sweep)
    for view in views:
        view.resize(1000, 700)
        view.show()
    read = ReadStudy(results=_Many())  # type: ignore[arg-type]
    async with loop_watchdog.watching():
        study = await read(Path("/p/result.json"))
        for view in views:
            view.show_study(study, {"R1": 50.0})
            await asyncio.sleep(0)
        await until(lambda: sweep.chart.content is not None)
    assert scatter.table.runs[0] in (0, 29_999)
    assert sweep.note.text() == "276 more lines are in the table"
    await until(lambda: not services.app.program.tasks.handles)


def test_a_slider_goes_through_values_that_can_be_written_as_they_are(services: WindowServices) -> None:
    spans: list[tuple[float, float, Literal["lin", "log"], int]] = [
        (1.1, 9.9, "log", 4),
        (0.0, 10.0, "lin", 3),
        (0.9, 1.1, "lin", 4),
        (-5.0, 5.0, "lin", 3),
    ]
    for low, high, scale, digits in spans:
        steps = steps_of(StudyParameter(name="vsup", range=Range(minimum=low, maximum=high, scale=scale)))
        assert (len(set(steps)), steps[0], steps[-1]) == (201, low, high)
        assert all(float(f"{value:.{digits - 1}e}") == value for value in steps)
    # What was written counts as the file's from then on, also of a value that somebody typed.
    knob = Knob(services, "vsup", (1.0, 2.0), parse_number(format_number(1.23456789)), 1.23456789)
    assert (knob.text, knob.is_changed) == ("1.23457", False)
    assert Knob(services, "vsup", (1.0, 2.0), 1.2346, 1.23456789).is_changed


def _place_of(editor: CodeEditor, text: str) -> QPoint:
    """The beginning of a piece of the text in the viewport."""
    at = editor.data().index(text.encode())
    x, y = (
        editor.ask(asked, 0, at) for asked in (editor.SCI_POINTXFROMPOSITION, editor.SCI_POINTYFROMPOSITION)
    )
    return QPoint(x + 5, y + editor.ask(editor.SCI_TEXTHEIGHT, 0) // 2)


def _move(widget: QWidget | None, place: QPoint, held: Qt.MouseButton = Qt.MouseButton.NoButton) -> None:
    """The pointer is there; `QTest.mouseMove` would let other tasks run inside this one."""
    assert widget is not None
    where, none = QPointF(place), Qt.MouseButton.NoButton
    everywhere, keys = QPointF(widget.mapToGlobal(place)), Qt.KeyboardModifier.NoModifier
    QApplication.sendEvent(widget, QMouseEvent(QEvent.Type.MouseMove, where, everywhere, none, held, keys))


async def _handle_at(editor: CodeEditor, text: str, until: Until) -> ValueHandle:
    """The bar that comes where the pointer rests."""
    _move(editor.viewport(), _place_of(editor, text))
    await until(lambda: any(each.isVisible() for each in editor.window().findChildren(ValueHandle)))
    return next(each for each in editor.window().findChildren(ValueHandle) if each.isVisible())


@pytest.mark.timeout(180)
async def test_a_value_is_dragged_in_the_text(parts: Parts, circuit: Path, until: Until) -> None:
    parts.editor.show_file(circuit)
    await until(lambda: parts.editor.page_of(circuit) is not None)
    shown = parts.editor.page_of(circuit)
    assert shown is not None
    editor, left = shown.editor, Qt.MouseButton.LeftButton
    await until(editor.isVisible)
    handle = await _handle_at(editor, "10k", until)
    assert handle.toolTip() == "Drag to tune; Alt+T"

    # A click is the text's: the caret goes there, and nothing is tuned.
    before = editor.data().index(b"10k")
    QTest.mouseClick(handle, left, pos=QPoint(1, 1))
    assert (editor.caret_byte(), editor.selected_bytes()) == (before, (before, before))
    assert handle.isHidden()
    assert editor.isVisible()
    assert parts.editor.current_page() is shown
    # Across it a drag is a selection of text.
    assert await _handle_at(editor, "10k", until) is handle
    QTest.mousePress(handle, left, pos=QPoint(1, 1))
    for y in (-10, -30):
        _move(handle, QPoint(1, y), left)
    QTest.mouseRelease(handle, left, pos=QPoint(1, -30))
    assert editor.selected_bytes() == (editor.data().index(b"10 AC") - 1, before)
    assert parts.editor.current_page() is shown
    # A button that was let go unseen holds nothing.
    editor.select_bytes(0, 0)
    assert await _handle_at(editor, "10k", until) is handle
    QTest.mousePress(handle, left, pos=QPoint(1, 1))
    _move(handle, QPoint(30, 1))
    assert (handle.is_held, handle.isHidden(), parts.editor.current_page() is shown) == (False, True, True)
    # No bar while something is selected, at a name, nor with the next key.
    editor.select_bytes(0, 3)
    _move(editor.viewport(), _place_of(editor, "10n"))
    await asyncio.sleep(0.5)
    assert handle.isHidden()
    editor.select_bytes(0, 0)
    _move(editor.viewport(), _place_of(editor, "out"))
    await asyncio.sleep(0.5)
    assert handle.isHidden()
    assert await _handle_at(editor, "10n", until) is handle
    QTest.keyClick(editor, Qt.Key.Key_Down)
    assert handle.isHidden()

    async def drag(by: int, text: str = "10k") -> StudiesPage:
        held = await _handle_at(editor, text, until)
        QTest.mousePress(held, left, pos=QPoint(3, 1))
        for x in (by // 4, by // 2, by):
            _move(held, QPoint(3 + x, 1), left)
        return parts.studies.page_of(circuit)

    def shown_knob(name: str) -> Knob | None:
        view = page.view.result if page.view is not None else None
        knobs = view.knobs if isinstance(view, TuneView) and page.isVisible() else []
        return next((each for each in knobs if each.name == name), None)

    # The moves come before its slider is there: the last one holds.
    page = await drag(60)
    await until(lambda: shown_knob("R1") is not None)
    view, knob = page.view.result if page.view is not None else None, shown_knob("R1")
    assert isinstance(view, TuneView)
    assert knob is not None
    places, start = knob.slider.maximum(), knob.slider.nearest(10e3)
    await until(lambda: knob.slider.value() == start + round(60 * places / 200))
    assert knob.slider.isSliderDown()
    _move(handle, QPoint(3 + 20, 1), left)
    await until(lambda: knob.slider.value() == start + round(20 * places / 200))
    assert knob.value in knob.steps
    await until(
        lambda: view.goals.verdicts[1].measured.value == pytest.approx(1e5 / (knob.value + 1e4), rel=1e-6)
    )
    QTest.mouseRelease(handle, left, pos=QPoint(3 + 20, 1))
    assert not knob.slider.isSliderDown()
    assert handle.isHidden()
    value = format_number(knob.value)
    assert _text(circuit) == DIVIDER
    _click(view.apply_button)
    await until(lambda: f"R1 in out {value}\n" in _text(circuit))
    assert await page.acts.write({"R1": value}), "a second click, before the circuit is loaded again"
    await until(lambda: view.apply_button.text() == "Undo the change" and view.apply_button.isEnabled())
    _click(view.apply_button)
    await until(lambda: _text(circuit) == DIVIDER)

    # Esc in the middle of it: the value is what the file has, though the circuit is still being loaded with
    # it, the text is in front, and later moves of the hand count no more.
    parts.editor.show_file(circuit)
    await until(lambda: editor.isVisible() and editor.text() == DIVIDER)
    await drag(-40)
    await until(lambda: (knob := shown_knob("R1")) is not None and knob.slider.isSliderDown())
    QTest.keyClick(handle, Qt.Key.Key_Escape)
    knob = view.knobs[0]
    assert (knob.value, knob.slider.isSliderDown()) == (knob.written, False)
    assert parts.editor.current_page() is shown
    _move(handle, QPoint(50, 1), left)
    QTest.mouseRelease(handle, left, pos=QPoint(50, 1))
    await until(lambda: view.knobs[0].written == 10e3)
    assert view.values == {}

    # A value without a row: Esc takes the row out again that came for it. Once it is let go, Esc gives back
    # what was moved, and leads to the text too.
    rows = _patterns(page)
    await drag(40, "10 AC")
    await until(lambda: (knob := shown_knob("V1")) is not None and knob.value > 10)
    QTest.keyClick(handle, Qt.Key.Key_Escape)
    QTest.mouseRelease(handle, left, pos=QPoint(43, 1))
    assert _patterns(page) == rows
    await until(lambda: [each.name for each in view.knobs] == rows)
    await drag(40, "10 AC")
    await until(lambda: (knob := shown_knob("V1")) is not None and knob.value > 10)
    QTest.mouseRelease(handle, left, pos=QPoint(43, 1))
    assert list(view.values) == ["V1"]
    knob = shown_knob("V1")
    assert knob is not None
    knob.field.setFocus()
    QTest.keyClick(knob.field, Qt.Key.Key_Escape)
    assert list(view.values) == ["V1"], "in a field it means what is typed there"
    knob.slider.setFocus()
    QTest.keyClick(knob.slider, Qt.Key.Key_Escape)
    assert view.values == {}
    assert parts.editor.current_page() is shown

    # What cannot be tuned is said, and leaves no row behind that would hold up all others.
    rows = _patterns(page)
    workspace = parts.services.workspace
    workspace.value_dragged.emit(circuit, "R9", 0.0, "taken")
    workspace.studies_wanted.emit(circuit, "tune", "R9")
    await until(page.error.isVisible)
    workspace.value_dragged.emit(circuit, "R9", 0.2, "held")
    workspace.value_dragged.emit(circuit, "R9", 0.2, "let go")
    assert page.error.text() == "No part matches R9."
    assert _patterns(page) == rows
    assert page.view.setup_pane.refusal is None
    assert page.hasFocus()
    assert (page.tuning.is_running, view.values) == (True, {})
    page.tuning.stop()
    await until(lambda: not page.tuning.is_running)

    # Esc at once, while files are still being saved: the circuit is not loaded behind it.
    parts.editor.show_file(circuit)
    await until(editor.isVisible)
    await drag(40)
    QTest.keyClick(handle, Qt.Key.Key_Escape)
    QTest.mouseRelease(handle, left, pos=QPoint(43, 1))
    await until(lambda: not parts.services.app.program.tasks.handles)
    assert (page.tuning.is_running, _patterns(page)) == (False, rows)
    assert _text(circuit) == DIVIDER


@pytest.mark.timeout(120)
async def test_a_value_in_the_text_is_tuned_and_swept_from_there(
    parts: Parts, circuit: Path, until: Until
) -> None:
    source = DesignGoal(metric="source", expression="mag(at(v(in),1k))", unit="V", minimum=0.9)
    await parts.services.app.project.browse.ask_of(circuit.parent, circuit, [source])
    written = DIVIDER.replace(".op", "V2 ref 0 0\nR3 ref 0 1k\n.op")
    await asyncio.to_thread(circuit.write_bytes, written.encode())
    parts.editor.show_file(circuit, 5, 10)
    await until(lambda: parts.editor.page_of(circuit) is not None)
    editor = parts.editor.page_of(circuit)
    assert editor is not None
    parts.editor.activateWindow()
    editor.editor.setFocus()
    await until(editor.editor.hasFocus)
    QTest.keyClick(editor.editor, Qt.Key.Key_T, Qt.KeyboardModifier.AltModifier)
    page = parts.studies.page_of(circuit)
    await until(lambda: page.isVisible() and page.tuning.is_running and page.view is not None)
    view = page.view.result
    assert isinstance(view, TuneView)
    await until(lambda: "C1" in [knob.name for knob in view.knobs])
    assert view.subject.chosen == "ac\nv(in)", "what the goals look at is drawn"
    page.tuning.stop()
    await until(lambda: not page.tuning.is_running)
    parts.editor.show_file(circuit, 4, 1)
    parts.services.shortcuts.trigger("editor.sweep")
    await until(lambda: page.isVisible() and page.kind == "sweep")
    await until(lambda: page.view is not None and "R2" in [r.row.pattern for r in page.view.setup_pane.rows])
    # A value of 0 has no usual range: its row stays and asks for one.
    parts.editor.show_file(circuit, 7, 10)
    parts.services.shortcuts.trigger("editor.tune")
    await until(lambda: page.isVisible() and page.kind == "tune" and "V2" in _patterns(page))
    await until(lambda: not any(each.kind == "begin study" for each in parts.app.program.tasks.handles))
    assert "V2" in _patterns(page)
    assert page.view.setup_pane.rows[-1].problem is not None
    assert not page.error.isVisible()


def _patterns(page: StudiesPage) -> list[str]:
    return [] if page.view is None else [each.row.pattern for each in page.view.setup_pane.rows]
