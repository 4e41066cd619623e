"""The rounds of a design in the bottom pane: figures, curves, differences."""

import math
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtGui import QFontMetrics
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QLabel

import bootstrap
from application.design.rounds import DesignRound, DesignRounds
from application.workflow.designing import DesignRequest
from domain.simulation.goals import DesignGoal, GoalVerdict
from domain.simulation.result import Quantity
from presentation.panels.bottom_pane import BottomPane
from presentation.panels.editor.compare_view import CompareView
from presentation.panels.iterations_table import rows_of
from presentation.panels.run_views import ITERATIONS
from presentation.panels.waveforms.trace_chip import TraceChip
from presentation.ui.figure_table import Cell, Column, FigureTable
from presentation.ui.workspace import WindowServices
from presentation.window.panels import Parts
from tests.fakes.scripted_family import ScriptedFamily, rc_deck, use

DECKS = (rc_deck("2k"), rc_deck("1.2k"), rc_deck("1k"))


@pytest.fixture
def built_app(monkeypatch: pytest.MonkeyPatch):
    """The application with a family that needs three rounds."""
    use(monkeypatch, ScriptedFamily(*DECKS))
    return bootstrap.build(environment={**os.environ, "LANG": "en_US.UTF-8"})


@pytest.fixture
async def pane(services, tmp_path: Path, until):
    """The bottom pane of a project whose design took three rounds."""
    root = tmp_path / "designed"
    root.mkdir()

    async def ask(question):
        return question.recommended

    await services.app.design.run(
        DesignRequest(project=root, text="1 kHz"), ask=ask, emit=lambda _event: None
    )
    made = Parts(services, services.app).bottom
    made.resize(900, 420)
    made.show()
    services.workspace.root = root
    services.workspace.project_opened.emit(root)
    await until(lambda: len(made.views.iterations.rounds) == 3)
    yield made
    # What is drawn behind the last step ends before its loop does.
    await until(lambda: not services.app.program.tasks.handles)


def _texts(pane: BottomPane) -> list[list[str]]:
    return [[f"{cell.text}{cell.unit}" for cell in row] for row in pane.views.iterations.table.rows]


async def test_each_round_says_what_it_changed_and_what_it_met(pane):
    rows = _texts(pane)
    assert [row[0] for row in rows] == ["1", "2", "3", ""]
    assert rows[0][1] == "Initial design"
    assert rows[1][1].replace("\u00a0", " ") == "R1 2k → 1.2k"
    assert [row[2] for row in rows[:3]] == ["0.5002", "0.8335↑", "1.000↑"]
    assert [row[-1] for row in rows] == ["0/1", "0/1", "1/1", ""]
    cells = [row[2] for row in pane.views.iterations.table.rows]
    assert [cell.color for cell in cells[:3]] == ["error.text", "error.text", "text.primary"]
    assert cells[1].unit_color == "ok.text"
    assert "Iterations" in [pane.tabs.tabText(index) for index in range(pane.tabs.count())]


async def test_a_round_that_misses_by_a_hair_is_not_shown_as_its_limit(services, tmp_path: Path):
    goal = DesignGoal(metric="cutoff", expression="highcut(v(out))", unit="Hz", minimum=1000.0)
    rounds = tuple(
        DesignRound(
            number=number,
            verdicts=(
                GoalVerdict(goal=goal, measured=Quantity(value=value, unit="Hz"), met=goal.is_met_by(value)),
            ),
            circuit=tmp_path / "rc.cir",
        )
        for number, value in enumerate((909.2, 999.97, 999.97, math.nan), start=1)
    )
    found = DesignRounds(session_id="s", text="", goals=(goal,), rounds=rounds)
    cells = [row[2] for row in rows_of(found, services.language)]
    assert [cell.text.replace("\u00a0", " ") for cell in cells] == [
        "0.9092",
        "0.99997",
        "0.99997",
        "—",
        "≥ 1 kHz",
    ]
    assert [cell.unit for cell in cells[:4]] == ["", "↑", "", ""]
    assert cells[3].tip == "not measured"
    # A round keeps the verdict of its time: the limits that stand below say of which rounds they are.
    former = replace(goal, minimum=800.0)
    judged = replace(rounds[0].verdicts[0], goal=former, met=True)
    changed = replace(found, rounds=(replace(rounds[0], verdicts=(judged,)), *rounds[1:3]))
    *_, before, since = rows_of(changed, services.language)
    assert [cell.text.replace("\u00a0", " ") for cell in (*before, *since)] == [
        *("", "Goal, round 1", "≥ 800 Hz", ""),
        *("", "Goal, rounds 2 to 3", "≥ 1 kHz", ""),
    ]


async def test_rounds_are_drawn_over_each_other_and_hidden_by_their_chips(pane, services, until):
    pane.show_tab(ITERATIONS)
    plot = pane.views.iterations.plot
    await until(lambda: len(plot.curves) == 3 and plot.area is not None)
    assert [trace.color for _, trace in plot.curves] == [0, 1, 2]
    chip = pane.findChild(TraceChip, "iteration:2")
    QTest.mouseClick(chip, Qt.MouseButton.LeftButton)
    drawn = [trace.expression for trace in plot.area.traces]
    assert drawn == ["v(out) #1", "v(out) #3"]
    low, high = plot.area.view_range
    assert low < 3.0 < high < 4.0  # the pass band, not all of the axis
    await until(lambda: not services.app.program.tasks.handles)


async def test_two_rounds_are_compared_line_by_line(pane, until):
    pane.show_tab(ITERATIONS)
    view = pane.views.iterations
    view.table.selectRow(1)
    assert view.compare_button.text() == "Compare 1 and 2"
    QTest.mouseClick(view.compare_button, Qt.MouseButton.LeftButton)
    difference = view.findChild(CompareView)
    text = difference.text.toPlainText()
    assert "-R1 in out 2k" in text
    assert "+R1 in out 1.2k" in text
    view.table.selectRow(0)
    assert not view.compare_button.isEnabled()


async def test_enter_shows_the_result_of_a_round(pane, services, until):
    heard = []
    services.workspace.result_selected.connect(heard.append)
    pane.show_tab(ITERATIONS)
    pane.views.iterations.table.selectRow(0)
    pane.views.iterations.table.activated.emit(pane.views.iterations.table.model().index(0, 0))
    assert heard == [pane.views.iterations.rounds[0].result_path]
    await until(lambda: pane.views.waveforms.traces)
    await until(lambda: not services.app.program.tasks.handles)


async def test_rounds_without_results_keep_their_figures(pane, services, until):
    shutil.rmtree(services.workspace.root / ".circuit_ai" / "sim_results")
    pane.show_tab(ITERATIONS)
    await until(lambda: not services.app.program.tasks.handles)
    assert pane.views.iterations.plot.curves == []
    assert len(_texts(pane)) == 4


async def test_language_and_theme_are_switched_live(pane, services, until):
    pane.show_tab(ITERATIONS)
    await until(lambda: pane.views.iterations.plot.curves)
    services.language.set("zh")
    services.theme.set_mode("dark")
    assert _texts(pane)[0][1] == "初始设计"
    assert pane.views.iterations.plot._chips[0].text() == "第 1 轮"
    background = pane.views.iterations.plot.area.backgroundBrush().color()
    assert background == services.theme.theme.color("plot.background")


async def test_a_project_without_a_design_says_what_appears_here(services, project, until):
    made = Parts(services, services.app).bottom
    made.resize(900, 420)
    made.show()
    made.show_tab(ITERATIONS)
    services.workspace.root = project
    services.workspace.project_opened.emit(project)
    await until(lambda: not services.app.program.tasks.handles)
    note = made.findChild(QLabel, "iterations_empty")
    assert note.isVisible()
    assert "Each round" in note.text()


async def test_closing_the_project_empties_it(pane, services, until):
    pane.show_tab(ITERATIONS)
    await until(lambda: pane.views.iterations.plot.curves)
    services.workspace.root = None
    services.workspace.project_closed.emit()
    assert pane.views.iterations.rounds == ()
    assert list(pane.views.iterations.plot.curves) == []
    assert pane.findChild(QLabel, "iterations_empty").isVisible()


async def test_rounds_come_one_by_one_while_somebody_looks_at_them(services, tmp_path: Path, until):
    root = tmp_path / "designed"
    root.mkdir()
    pane = Parts(services, services.app).bottom
    pane.resize(900, 420)
    pane.show()
    services.workspace.root = root
    services.workspace.project_opened.emit(root)
    pane.show_tab(ITERATIONS)
    plot, chosen = pane.views.iterations.plot, []

    async def ask(question):
        if question.kind == "checkpoint":
            pane.views.iterations.note_changed()
            await until(lambda: len(plot.curves) == question.round_number and plot.area is not None)
            chosen.append(list(pane.views.iterations.table.selected_rows()))
        return question.recommended

    await services.app.design.run(
        DesignRequest(project=root, text="1 kHz"), ask=ask, emit=lambda _event: None
    )
    assert chosen == [[0], [1], [2]]
    await until(lambda: not services.app.program.tasks.handles)


async def test_long_names_of_goals_push_no_figure_out_of_sight(services: WindowServices) -> None:
    heads = [Column(title=f"Lower corner frequency {n} / Hz", is_number=True) for n in range(5)]
    columns = [Column(title="#"), Column(title="Change"), *heads, Column(title="Met", is_number=True)]
    table = FigureTable(services, "t", wide_column=1)
    table.resize(600, 200)
    table.show()
    table.show_rows(
        columns, [[Cell(text="1"), Cell(text="Rc 470 → 4.7k"), *[Cell(text="123.4")] * 5, Cell(text="0/5")]]
    )
    head = table.horizontalHeader()
    assert head is not None
    assert sum(head.sectionSize(n) for n in range(head.count())) <= table.viewport().width()


async def test_units_of_a_narrow_table_stand_on_a_line_of_their_own(services: WindowServices) -> None:
    columns = [Column(title="Runs"), *(Column(title=f"Cout{n} / %", is_number=True) for n in range(6))]
    table = FigureTable(services, "t")
    table.show_rows(columns, [[Cell(text="Run 1"), *[Cell(text="+1.0")] * 6]])
    head = table.horizontalHeader()
    assert head is not None
    metrics = QFontMetrics(services.theme.theme.font("small"))
    for width, longest in ((600, "Cout5 / %"), (360, "Cout5")):
        table.resize(width, 200)
        table.show()
        assert head.sectionSize(6) >= metrics.horizontalAdvance(longest)
        assert (head.height() > table.verticalHeader().defaultSectionSize()) == (width == 360)  # type: ignore[union-attr]
