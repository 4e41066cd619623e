"""Running from the window: saved first, one at a time, stopped, and errors shown at their place."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from PyQt6.QtCore import QRect, Qt
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QProgressBar, QWidget

from application.simulation.simulating import SimulationRequest
from presentation.panels.problems_view import ProblemRow
from presentation.panels.run_views import CONSOLE, PROBLEMS, WAVEFORMS
from presentation.window.panels import Parts
from shared.errors import UserInputError
from shared.message import msg


class Buffers:
    """The editor, as far as a run asks it."""

    def __init__(self, *, can_save: bool = True, texts: Mapping[Path, str] | None = None) -> None:
        self.can_save = can_save
        self.saves = 0
        self._texts = dict(texts or {})

    async def save_unsaved(self) -> bool:
        self.saves += 1
        return self.can_save

    def is_dirty(self, path: Path) -> bool:
        return False

    def open_texts(self) -> dict[Path, str]:
        return self._texts

    def show(self, path: Path, line: int | None = None) -> None:
        raise AssertionError("a run shows nothing in the editor by itself")


@pytest.fixture
def heard(services):
    """What the workspace told, in order."""
    events = []
    workspace = services.workspace
    for name in ("run_started", "run_finished", "error_occurred", "status_changed", "file_activated"):
        getattr(workspace, name).connect(lambda *values, name=name: events.append((name, *values)))
    return events


def _of(heard, name):
    return [event[1:] for event in heard if event[0] == name]


@pytest.fixture
async def pane(services, project, heard):
    (project / ".circuit_ai").mkdir()
    services.workspace.root = project
    services.workspace.main_circuit = project / "filter.cir"
    made = Parts(services, services.app).bottom
    made.resize(820, 420)
    made.show()
    return made


async def test_a_run_saves_simulates_and_shows_its_curves(pane, services, heard, until, project):
    services.workspace.buffers = buffers = Buffers()
    pane.show_tab(CONSOLE)
    services.workspace.run_requested.emit()
    await until(lambda: buffers.saves == 1)
    await until(lambda: _of(heard, "run_finished"))
    ((result,),) = _of(heard, "run_finished")
    assert result.ok
    assert _of(heard, "run_started") == [(project / "filter.cir",)]
    await until(lambda: pane.views.waveforms.traces)
    assert pane.shown_tab == WAVEFORMS
    await until(lambda: "Simulated in" in pane.views.console.toPlainText())
    text = pane.views.console.toPlainText()
    assert "filter.cir" in text
    services.theme.set_mode("dark")
    services.language.set("zh")
    assert pane.views.console.toPlainText() == text
    end = pane.views.console.document().lastBlock().begin().fragment().charFormat()
    assert end.foreground().color() == services.theme.theme.color("ok.text")
    await until(lambda: not services.app.program.tasks.handles)


async def test_a_second_run_is_refused_in_words_while_the_first_goes_on(pane, services, heard, until):
    services.workspace.run_requested.emit()
    services.workspace.run_requested.emit()
    ((refusal,),) = _of(heard, "error_occurred")
    assert "filter.cir" in str(refusal.message)
    await until(lambda: _of(heard, "run_finished"))
    assert len(_of(heard, "run_finished")) == 1
    services.workspace.run_requested.emit()
    await until(lambda: len(_of(heard, "run_finished")) == 2)
    await until(lambda: not services.app.program.tasks.handles)


async def test_nothing_runs_when_a_buffer_cannot_be_saved(pane, services, heard, until):
    services.workspace.buffers = Buffers(can_save=False)
    services.workspace.run_requested.emit()
    await until(lambda: _of(heard, "error_occurred"))
    ((refusal,),) = _of(heard, "error_occurred")
    assert isinstance(refusal, UserInputError)
    assert not _of(heard, "run_started")
    assert pane.views.controller.circuit is None


async def test_without_a_project_the_way_out_is_said(pane, services, heard):
    services.workspace.root = None
    services.workspace.run_requested.emit()
    ((refusal,),) = _of(heard, "error_occurred")
    assert refusal.advice is not None
    assert not _of(heard, "run_started")


async def test_without_a_main_circuit_it_is_asked_for(pane, services, heard):
    asked = []
    services.workspace.main_circuit_needed.connect(lambda: asked.append(True))
    services.workspace.main_circuit = None
    services.workspace.run_requested.emit()
    assert asked == [True]
    assert not _of(heard, "run_started")


async def test_the_main_circuit_without_an_analysis_is_asked_for_one(pane, services, heard, until, project):
    asked = []
    services.workspace.analysis_missing.connect(asked.append)
    bare = project / "bare.cir"
    bare.write_text("* bare\nV1 in 0 1\nR1 in 0 1k\n.end\n", encoding="utf-8")
    services.workspace.main_circuit = bare
    services.workspace.main_run_requested.emit()
    await until(lambda: asked)
    assert asked == [bare]
    assert not _of(heard, "run_started")
    # One that is misspelt is no reason to write another: the run tells.
    bare.write_text("* bare\nV1 in 0 1\nR1 in 0 1k\n.trans 1u 1m\n.end\n", encoding="utf-8")
    services.workspace.main_run_requested.emit()
    await until(lambda: _of(heard, "run_finished"))
    assert asked == [bare]
    assert [row.line for row in pane.views.problems.rows if row.severity == "error"] == [4]
    await until(lambda: not services.app.program.tasks.handles)


async def test_an_error_of_a_run_is_a_link_to_its_line(pane, services, heard, until, project):
    circuit = project / "filter.cir"
    circuit.write_text("* broken\nV1 in 0 1\nX1 in 0 nosuch\n.op\n.end\n", encoding="utf-8")
    services.workspace.run_requested.emit()
    await until(lambda: _of(heard, "run_finished"))
    assert pane.shown_tab == PROBLEMS
    first = pane.views.problems.rows[0]
    assert (first.severity, first.file, first.line) == ("error", circuit, 3)
    rows = pane.views.problems.list
    place = rows.visualRect(rows.model().index(0, 0)).center()
    QTest.mouseClick(rows.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert _of(heard, "file_activated") == [(circuit, 3)]
    await until(lambda: "nosuch" in pane.views.console.toPlainText())
    assert "filter.cir:3" in pane.views.console.toPlainText()
    assert _of(heard, "error_occurred")[-1][0].params == {"name": "filter.cir"}
    services.workspace.text_checked.emit(circuit, circuit.read_text())
    services.workspace.text_checked.emit(circuit, "* mended")
    assert "F5 runs it again" in str(_of(heard, "status_changed")[-1][0])
    assert not pane.views.problems.rows
    assert "changed since the last run" in str(pane.views.problems.refusal())
    await until(lambda: not services.app.program.tasks.handles)


async def test_a_missing_file_is_an_error_not_a_crash(pane, services, heard, until, project):
    (project / "filter.cir").unlink()
    services.workspace.run_requested.emit()
    await until(lambda: _of(heard, "run_finished"))
    ((error,),) = _of(heard, "run_finished")
    assert isinstance(error, UserInputError)
    assert pane.views.problems.rows[0].severity == "error"
    assert pane.views.controller.circuit is None
    await until(lambda: not services.app.program.tasks.handles)


async def test_a_long_run_shows_its_progress_and_is_stopped(pane, services, heard, until, project):
    (project / "filter.cir").write_text(
        "* long\nV1 in 0 SIN(0 1 1meg)\nR1 in out 1k\nC1 out 0 1n\n.tran 10n 10\n.end\n", encoding="utf-8"
    )
    services.workspace.run_requested.emit()
    bar = pane.findChild(QWidget, "run_bar")
    progress = bar.findChild(QProgressBar)
    await until(lambda: bar.isVisible() and progress.maximum() == 1000)
    stop = pane.findChild(QWidget, "stop_run")
    QTest.mouseClick(stop, Qt.MouseButton.LeftButton)
    await until(lambda: _of(heard, "run_finished"))
    ((outcome,),) = _of(heard, "run_finished")
    assert outcome.run.status == "cancelled", "what came is kept: test_growing_run"
    assert not bar.isVisible()
    assert pane.views.controller.circuit is None
    ((told,),) = [event for event in _of(heard, "status_changed") if "partial" in str(event[0])]
    assert str(told).startswith("filter.cir: partial, stopped at ")
    assert str(told).endswith(" of 10 s")
    await until(lambda: not services.app.program.tasks.handles)


async def test_the_chosen_analysis_alone_is_run(pane, services, heard, until, project):
    services.workspace.analysis = "op"
    services.workspace.run_requested.emit()
    await until(lambda: _of(heard, "run_finished"))
    ((result,),) = _of(heard, "run_finished")
    assert result.request["analysis"] == "op"
    await until(lambda: pane.views.shown.loaded is not None)
    assert [plot.analysis for plot in pane.views.shown.loaded.plots] == ["op"]
    await until(lambda: not services.app.program.tasks.handles)


async def test_problems_of_editor_and_run_stand_together_without_repeating(pane, services, project):
    circuit = project / "filter.cir"
    same = ProblemRow(severity="warning", message=msg("Stopped."), file=circuit, line=2)
    worse = ProblemRow(severity="error", message=msg("Stopped."), file=circuit, line=9)
    pane.views.show_problems([same, worse])
    pane.views.problems.show_of_run([same])
    assert [(row.severity, row.line) for row in pane.views.problems.rows] == [("error", 9), ("warning", 2)]
    pane.views.show_problems([ProblemRow(severity="info", message=msg("Stopped."), file=circuit, line=9)])
    pane.views.problems.show_of_run([worse])
    assert [(row.severity, row.line) for row in pane.views.problems.rows] == [("error", 9)], "said once"


async def test_an_error_of_checker_and_run_is_listed_once_and_a_runs_goes_with_its_text(
    pane, services, project
):
    circuit, other = project / "filter.cir", project / "other.cir"
    checked = ProblemRow(severity="error", message=msg("Stopped."), file=circuit, line=7)
    of_run = [
        ProblemRow(severity="error", message=msg("Not simulated"), file=circuit, line=7),
        ProblemRow(severity="error", message=msg("Not simulated"), file=circuit, line=3),
        ProblemRow(severity="error", message=msg("Simulation failed"), file=None, line=None),
    ]
    workspace = services.workspace
    workspace.text_checked.emit(circuit, "R1 a b 1")
    pane.views.show_problems([checked])
    pane.views.problems.show_of_run(of_run, circuit)
    shown = [(row.line, row.message.template) for row in pane.views.problems.rows]
    assert shown == [(None, "Simulation failed"), (3, "Not simulated"), (7, "Stopped.")]
    workspace.text_checked.emit(circuit, "R1 a b 1")  # looked at again, not edited
    workspace.text_checked.emit(other, "another file, seen for the first time")
    assert len(pane.views.problems.rows) == 3
    workspace.text_checked.emit(circuit, "R1 a b 2")
    assert [row.line for row in pane.views.problems.rows] == [7]


async def test_what_a_run_said_stays_when_the_editor_looks_at_that_very_text_later(pane, services, project):
    circuit, text = project / "filter.cir", "R1 a b oops"
    services.workspace.text_checked.emit(circuit, "R1 a b 1")
    services.workspace.buffers = Buffers(texts={circuit: text})
    services.workspace.run_started.emit(circuit)  # F5 right behind the last letter
    row = ProblemRow(severity="error", message=msg("Not simulated"), file=circuit, line=1)
    pane.views.problems.show_of_run([row], circuit)
    services.workspace.text_checked.emit(circuit, text)
    assert [row.line for row in pane.views.problems.rows] == [1]
    services.workspace.text_checked.emit(circuit, "R1 a b 2")
    assert not pane.views.problems.rows
    many = [replace(row, severity="info", line=line) for line in range(1, 99)]
    pane.views.problems.show_of_run(many, circuit)
    bar = pane.views.problems.list.verticalScrollBar()
    pane.views.problems.list.doItemsLayout()
    bar.setValue(bar.maximum())
    assert bar.value()
    pane.views.problems.show_of_run([*many, row], circuit)  # the next run's, from its error on
    assert not bar.value()
    services.workspace.project_closed.emit()  # another project has problems of its own
    assert not pane.views.problems.rows


async def test_a_problem_breaks_between_words_and_a_path_where_it_must(pane):
    view = pane.views.problems
    said = "Our generic small-signal NPN transistor is used in its place."
    path = "/a/very/long/path" * 30
    for text, is_broken in ((said, False), (path, True)):
        row = ProblemRow(severity="info", message=msg("{said}", said=text), file=None, line=None)
        for width in range(180, 260, 7):
            [(shown, _, _, place)] = view.list.itemDelegate()._places(row, QRect(0, 0, width, 20))
            assert (shown != text) == is_broken
            assert place.right() <= width


async def test_a_double_click_on_a_tab_takes_all_the_room_and_gives_it_back(pane):
    asked = []
    pane.maximise_requested.connect(asked.append)
    place = pane.tabs.tabRect(0).center()
    QTest.mouseDClick(pane.tabs, Qt.MouseButton.LeftButton, pos=place)
    QTest.mouseDClick(pane.tabs, Qt.MouseButton.LeftButton, pos=place)
    assert asked == [True, False]


async def test_a_run_holds_the_loop_never(pane, services, heard, until, loop_watchdog):
    services.workspace.run_requested.emit()
    await until(lambda: pane.views.waveforms.area is not None)  # pyqtgraph is imported now
    await asyncio.sleep(0)
    await until(lambda: pane.views.waveforms.traces and _of(heard, "run_finished"))
    async with loop_watchdog.watching():
        services.workspace.run_requested.emit()
        await until(lambda: len(_of(heard, "run_finished")) == 2)
        await until(lambda: not pane.views.shown.is_loading and not services.app.program.tasks.handles)


@pytest.mark.parametrize("is_changed", [False, True])
async def test_an_opened_project_lists_what_its_last_run_said_of_what_is_as_it_was(
    pane, services, until, project, is_changed
):
    circuit = project / "filter.cir"
    circuit.write_text(circuit.read_text().replace(".end", ".meas tran late find v(out) at=1k\n.end"))
    result = await services.app.simulation.run(SimulationRequest(circuit=circuit))
    assert result.issues
    if is_changed:
        circuit.write_text(circuit.read_text() + "* another day\n")
    shown = pane.shown_tab
    services.workspace.project_opened.emit(project)
    await until(lambda: not services.app.program.tasks.handles)
    said = {str(row.message) for row in pane.views.problems.rows}
    assert said == (set() if is_changed else {str(issue.message) for issue in result.issues})
    assert pane.shown_tab == shown


async def test_what_a_run_of_the_conversation_said_is_told_too(pane, services, until, project):
    circuit, workspace = project / "filter.cir", services.workspace
    before = circuit.read_text()
    workspace.text_checked.emit(circuit, before)
    workspace.buffers = Buffers(texts={circuit: before})
    text = before.replace(".end", ".meas tran late find v(out) at=1k\n.end")
    assert text != before
    circuit.write_text(text)
    result = await services.app.simulation.run(SimulationRequest(circuit=circuit))
    assert result.issues
    workspace.run_reported.emit(result.result_path)
    await until(lambda: pane.views.problems.rows)
    said = {str(row.message) for row in pane.views.problems.rows}
    assert said >= {str(issue.message) for issue in result.issues}
    workspace.text_checked.emit(circuit, text)  # the editor has read it only now
    assert {str(row.message) for row in pane.views.problems.rows} == said
    workspace.text_checked.emit(circuit, before)
    assert len(pane.views.problems.rows) < len(said)
    await until(lambda: not services.app.program.tasks.handles)
