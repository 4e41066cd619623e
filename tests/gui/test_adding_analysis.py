"""Alt+A writes an analysis from a form: one step of undo, run when that is wanted, edited where it stands."""

from pathlib import Path

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtTest import QTest

from presentation.dialogs.add_analysis import AddAnalysisDialog
from presentation.window.panels import Parts

BARE = "* bare\nV1 in 0 SIN(0 1 1k)\nR1 in out 1k\nC1 out 0 100n\n.end\n"


@pytest.fixture
async def parts(services, project: Path, until):
    (project / ".circuit_ai").mkdir()
    (project / "bare.cir").write_text(BARE, encoding="utf-8")
    services.workspace.root = project
    made = Parts(services, services.app)
    made.editor.resize(700, 500)
    made.editor.show()
    assert made.runs.controller.circuit is None
    made.editor.show_file(project / "bare.cir")
    await until(lambda: made.editor.current_page() is not None)
    yield made
    await until(lambda: not services.app.program.tasks.handles)


async def _form(parts, until) -> AddAnalysisDialog:
    window = parts.editor.window()
    await until(lambda: [box for box in window.findChildren(AddAnalysisDialog) if box.isVisible()])
    return next(box for box in window.findChildren(AddAnalysisDialog) if box.isVisible())


async def test_a_circuit_without_an_analysis_is_given_one_and_run(parts, services, project, until):
    finished, started = [], []
    services.workspace.run_finished.connect(finished.append)
    services.workspace.run_started.connect(started.append)
    editor = parts.editor.current_page().editor
    QTest.keyClick(editor, Qt.Key.Key_A, Qt.KeyboardModifier.AltModifier)
    form = await _form(parts, until)
    assert form.line.text() == ".tran 20u 10m"
    form.kind.setCurrentIndex(form.kind.findData("ac"))
    assert form.line.text() == ".ac dec 20 1 1meg"
    assert "AC 1 at V1" in form.problem.text()
    form.fields["stop"].setText("0.1")
    assert not form.run.isEnabled()
    assert form.line.text() == ""
    form.kind.setCurrentIndex(form.kind.findData("tran"))
    QTest.keyClicks(form.fields["start"], "1m")
    QTest.mouseClick(form.run, Qt.MouseButton.LeftButton)
    await until(lambda: finished)
    assert started == [project / "bare.cir"]
    assert finished[0].ok
    assert editor.text() == BARE.replace(".end", ".tran 20u 10m 1m\n.end")
    assert (project / "bare.cir").read_text() == editor.text(), "saved by the run"
    editor.undo()
    assert editor.text() == BARE


async def test_the_analysis_at_the_caret_is_edited(parts, project, until):
    editor = parts.editor.current_page().editor
    text = BARE.replace(".end", ".tran 1u 1m\n.ac lin 5 1 2\n.end").replace("\n", "\r\n")
    editor.setText(text)
    editor.setCursorPosition(4, 3)
    QTest.keyClick(editor, Qt.Key.Key_A, Qt.KeyboardModifier.AltModifier)
    form = await _form(parts, until)
    assert {name: field.text() for name, field in form.fields.items()} == {
        "stop": "1m",
        "step": "1u",
        "start": "",
    }
    form.fields["stop"].setText("2m")
    QTest.mouseClick(form.insert, Qt.MouseButton.LeftButton)
    await until(lambda: "2m" in editor.text())
    assert editor.text() == text.replace(".tran 1u 1m", ".tran 1u 2m")
    # What the form could not say whole is left alone: another one is added.
    editor.setCursorPosition(5, 0)
    QTest.keyClick(editor, Qt.Key.Key_A, Qt.KeyboardModifier.AltModifier)
    form = await _form(parts, until)
    assert form.insert.text() == "Add"
    QTest.keyClick(form, Qt.Key.Key_Escape)
    await until(lambda: not form.isVisible())
    assert editor.text() == text.replace(".tran 1u 1m", ".tran 1u 2m")
