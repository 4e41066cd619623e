"""Several circuits in one project: which one runs, and that nothing of one is shown at another."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QLabel, QListWidget, QPushButton

from domain.simulation.result import SimulationResult
from presentation.ui.small_dialog import SmallDialog
from presentation.ui.workspace import WindowServices
from presentation.window import design_report
from presentation.window.design_report import ReportNotice
from presentation.window.main_window import MainWindow
from tests.gui.conftest import Until
from tests.gui.whole_window import end_window, open_window, without_web_view

DECKS = {
    "rc.cir": "* RC low-pass\nV1 in 0 AC 1\nR1 in out 1k\nC1 out 0 100n\n.ac dec 20 10 1meg\n.end\n",
    "buck.cir": (
        "* switched stage\nV1 vin 0 12\nV2 g 0 PULSE(0 1 0 10n 10n 1.6u 4u)\nS1 vin sw g 0 sw1\n"
        "D1 0 sw d1\nL1 sw vout 22u\nC1 vout 0 47u\nR1 vout 0 2.5\n.model sw1 sw(vt=0.5 ron=10m roff=1meg)\n"
        ".model d1 d\n.tran 100n 100u\n.end\n"
    ),
    "sub/opamp.cir": (
        "* inverting amplifier\n.include ../opamp.inc\nV1 in 0 AC 1\nR1 in inv 1k\nR2 inv out 10k\n"
        "X1 0 inv out op\n.ac dec 10 1 10meg\n.end\n"
    ),
    "opamp.inc": ".subckt op p n o\nE1 o 0 p n 1e5\n.ends\n",
    "part.cir": "* a part\nR7 a b 1k\nR8 b 0 1k\n",
    "bench.cir": "* bench\n.include part.cir\nV1 a 0 1\n.op\n.end\n",
    "bare.cir": "* no analysis\nV1 a 0 5\nR1 a 0 1k\n.end\n",
    "notes.txt": "not a circuit\n",
}


class Bench:
    """A window on the folder, and what ran in it."""

    def __init__(self, services: WindowServices, root: Path, window: MainWindow, until: Until) -> None:
        self.services, self.root, self.window, self.until = services, root, window, until
        self.ran: list[str] = []
        self.results: list[Any] = []
        services.workspace.run_started.connect(lambda path: self.ran.append(path.name))
        services.workspace.run_finished.connect(self.results.append)

    async def settled(self) -> None:
        await self.until(lambda: not self.services.app.program.tasks.handles)

    async def front(self, name: str) -> None:
        path = self.root / name
        errors: list[Exception] = []
        self.services.workspace.error_occurred.connect(errors.append)
        self.services.workspace.file_activated.emit(path, None)
        await self.until(lambda: self.services.workspace.shown_file == path or errors)
        assert not errors, errors
        await self.settled()

    def key(self, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        name = "run" if modifier == Qt.KeyboardModifier.NoModifier else "runMain"
        action = self.window.commands.action(name)
        assert action.shortcut().toString() == ("F5" if name == "run" else "Ctrl+F5")
        action.trigger()

    async def run(self, name: str) -> SimulationResult:
        """Run a file as F5 does and wait until its curves are drawn."""
        await self.front(name)
        before = len(self.ran)
        self.key()
        await self.until(lambda: len(self.ran) > before)  # it begins a moment after the key
        return await self.finished()

    async def finished(self) -> SimulationResult:
        count = len(self.ran)
        await self.until(lambda: len(self.results) >= max(count, 1) and len(self.results) == len(self.ran))
        await self.until(lambda: not self.window.parts.runs.shown.is_loading)
        await self.settled()
        result = self.results[-1]
        assert isinstance(result, SimulationResult), result
        return result

    @property
    def button(self) -> str:
        return self.window.header.run_group.run.text()

    @property
    def panel(self) -> Any:
        return self.window.parts.runs.waveforms


@pytest.fixture
async def bench(
    services: WindowServices, tmp_path: Path, until: Until, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Bench]:
    without_web_view(monkeypatch)
    root = tmp_path / "several"
    for name, text in DECKS.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    window = await open_window(services, until, root)
    made = Bench(services, root, window, until)
    services.workspace.main_circuit_chosen.emit(root / "rc.cir")
    await made.settled()
    yield made
    await end_window(window, services, until)


def question(window: MainWindow) -> SmallDialog | None:
    return next((box for box in window.findChildren(SmallDialog) if box.isVisible()), None)


def press(box: SmallDialog, text: str) -> None:
    button = next(each for each in box.findChildren(QPushButton) if each.text() == text)
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


FRONTS = (
    ("buck.cir", "Run buck.cir", "All: tran"),
    ("sub/opamp.cir", "Run opamp.cir", "All: ac"),
    ("rc.cir", "Run rc.cir", "All: ac"),
    ("opamp.inc", "Run rc.cir (main)", "All: ac"),
    ("part.cir", "Run rc.cir (main)", "All: ac"),
    ("notes.txt", "Run rc.cir (main)", "All: ac"),
)


async def test_what_a_run_has_put_in_place_of_a_part_is_said_in_problems_and_console(bench: Bench) -> None:
    """Whoever comes from LTspice sees that its parts are generic here, with the line of each."""
    deck = "* C:\\amp.asc\nV1 a 0 5\nR1 a b 1k\nD1 b 0 1N4148\n.lib standard.dio\n.op\n.backanno\n.end\n"
    (bench.root / "amp.net").write_text(deck)
    await bench.run("amp.net")
    await bench.settled()
    views = bench.window.parts.runs
    [told] = [row for row in views.problems.rows if "is used in its place" in str(row.message)]
    assert (told.severity, told.line) == ("info", 4)
    assert str(told.message).startswith("1N4148 is not defined here")
    assert "Our generic silicon switching diode is used in its place" in views.console.toPlainText()


async def test_f5_runs_the_circuit_in_front_and_the_button_names_it(bench: Bench) -> None:
    for front, button, choice in FRONTS:
        await bench.front(front)
        assert (bench.button, bench.window.header.run_group.choice.text()) == (button, choice)
    for front, runs in (("sub/opamp.cir", "opamp.cir"), ("part.cir", "rc.cir"), ("notes.txt", "rc.cir")):
        result = await bench.run(front)
        assert (bench.ran[-1], result.netlist_path.name, result.ok) == (runs, runs, True)
    await bench.front("buck.cir")
    bench.key(Qt.KeyboardModifier.ControlModifier)  # the main one, whatever is in front
    await bench.finished()
    assert (bench.ran[-1], bench.button) == ("rc.cir", "Run buck.cir")


async def test_a_study_of_a_value_in_a_part_is_one_of_the_circuit_that_includes_it(bench: Bench) -> None:
    workspace, studies = bench.services.workspace, bench.window.parts.studies
    part, answers = bench.root / "part.cir", list[Any]()
    workspace.studies_wanted.emit(part, "sweep", "R7")
    page = studies.page_of(bench.root / "bench.cir")
    await bench.until(lambda: page.isVisible() and page.view is not None)
    assert [row.row.pattern for row in page.view.setup_pane.rows][-1] == "R7"
    assert page.view.setup_pane.rows[-1].findChild(QLabel, "parameter_problem").isHidden()
    # Of two that include it one is asked for.
    (bench.root / "second.cir").write_text(DECKS["bench.cir"].replace("* bench", "* second"))
    workspace.studies_wanted.emit(part, "sweep", "R8")
    await bench.until(lambda: question(bench.window) is not None)
    box = question(bench.window)
    assert box is not None
    assert [box.findChild(QListWidget).item(at).text() for at in range(2)] == ["bench.cir", "second.cir"]
    box.findChild(QListWidget).setCurrentRow(1)
    box.accept()
    other = studies.page_of(bench.root / "second.cir")
    await bench.until(other.isVisible)
    # One that nothing includes says so.
    workspace.status_changed.connect(lambda text: answers.append(str(text)))
    (bench.root / "lonely.inc").write_text("R1 a b 1k\n")
    workspace.studies_wanted.emit(bench.root / "lonely.inc", "sweep", "R1")
    await bench.until(lambda: any("no circuit of the project includes it" in each for each in answers))


async def test_an_analysis_is_chosen_for_one_circuit_only(bench: Bench) -> None:
    await bench.front("buck.cir")
    bench.services.workspace.analysis = "tran 100n 100u"
    await bench.front("rc.cir")
    assert bench.window.header.run_group.choice.text() == "All: ac"
    await bench.front("buck.cir")
    assert bench.window.header.run_group.choice.text() == "tran 100n 100u"
    result = await bench.run("buck.cir")
    assert result.request["analysis"] == "tran 100n 100u"
    bench.key(Qt.KeyboardModifier.ControlModifier)
    result = await bench.finished()
    assert (result.netlist_path.name, result.request["analysis"]) == ("rc.cir", None)
    workspace = bench.services.workspace
    workspace.file_moved.emit(bench.root / "buck.cir", bench.root / "power" / "step-down.cir")
    assert workspace.analysis_of(bench.root / "power" / "step-down.cir") == "tran 100n 100u"
    assert workspace.analysis_of(bench.root / "buck.cir") is None


async def test_nothing_of_one_circuit_is_shown_at_another(bench: Bench) -> None:
    views = bench.services.workspace.views
    rc = await bench.run("rc.cir")
    await bench.until(lambda: bench.panel.traces)
    bench.panel.add_trace("v(in)")
    await bench.settled()
    shown = bench.window.parts.runs.shown
    shown.add_measurement("mag(v(out))")
    bench.panel.area.show_range((2.0, 3.0))
    bench.panel.area._zoom(0.5)
    zoom = bench.panel.area.view_range
    first = await bench.run("buck.cir")
    await bench.until(lambda: "v(vout)" in [trace.expression for trace in bench.panel.traces])
    assert bench.panel.plot_choice.currentText() == "buck.cir · Run 2 · tran"
    assert shown.expressions == ()
    low, high = bench.panel.area.view_range
    assert (low, high) == pytest.approx((0.0, 100e-6), abs=1e-6)
    # A run behind the buck's is not behind the filter's.
    await bench.run("buck.cir")
    bench.window.parts.runs.draw_behind(first.result_path)
    await bench.until(lambda: bench.panel._now.ghosts)
    assert bench.panel.overlay.foreign == bench.panel.overlay.strange == ()
    # A run that was computed elsewhere says so.
    chosen = bench.panel.overlay._chosen
    (path, loaded), *_ = chosen.items()
    chosen[path] = replace(loaded, figures=replace(loaded.figures, is_ours=False))
    assert bench.panel.overlay.strange == ("Run 2 of buck.cir",)
    assert bench.panel.overlay.names == ("Run 2, computed elsewhere",)
    bench.panel._show_note()
    note = bench.panel.findChild(QLabel, "waveforms_note")
    assert note.text() == "Overlaid, computed elsewhere: Run 2 of buck.cir"
    bench.services.workspace.result_selected.emit(rc.result_path)
    await bench.until(lambda: shown.circuit == bench.root / "rc.cir")
    await bench.settled()
    assert bench.panel.plot_choice.currentText() == "rc.cir · Run 1 · ac"
    assert [trace.expression for trace in bench.panel.traces] == ["v(out)", "v(in)"]
    assert shown.expressions == ("mag(v(out))",)
    assert bench.panel.area.view_range == pytest.approx(zoom)
    assert (bench.panel.overlay.chosen, bench.panel._now.ghosts) == ((), ())
    # Of another circuit only by that very wish, and then by name.
    opamp = await bench.run("sub/opamp.cir")
    bench.services.workspace.result_selected.emit(rc.result_path)
    await bench.until(lambda: shown.circuit == bench.root / "rc.cir")
    await bench.settled()
    row = bench.window.parts.results.model.row_of(opamp.result_path)
    menu = bench.window.parts.results.menu_for(bench.window.parts.results.model.results[row])
    action = next(each for each in menu.actions() if each.objectName() == "overlay_result")
    assert action.text().partition("\t")[0] == "Overlay on rc.cir, another circuit"
    action.trigger()
    menu.deleteLater()
    await bench.until(lambda: bench.panel._now.ghosts)
    await bench.settled()
    menu = bench.window.parts.results.menu_for(bench.window.parts.results.model.results[row])
    action = next(each for each in menu.actions() if each.objectName() == "overlay_result")
    assert action.text().partition("\t")[0] == "Remove overlay"
    menu.deleteLater()
    note = bench.panel.findChild(QLabel, "waveforms_note")
    assert note.text() == "Overlaid from another circuit: Run 4 of opamp.cir"
    names = [bench.window.parts.results.model.index(row).data() for row in range(4)]
    assert names == ["Run 4 · opamp.cir", "Run 3 · buck.cir", "Run 2 · buck.cir", "Run 1 · rc.cir"]
    # It survives a restart, each circuit for itself.
    kept = views.kept(bench.root)
    assert kept["rc.cir"].traces == {"ac": ["v(out)", "v(in)"]}
    assert kept["rc.cir"].zooms["ac"][""] == pytest.approx(zoom)
    assert set(kept) == {"rc.cir"}


async def test_a_renamed_circuit_keeps_its_view_and_the_runs_behind_it(bench: Bench) -> None:
    old, new = bench.root / "rc.cir", bench.root / "low_pass.cir"
    first = await bench.run("rc.cir")
    await bench.run("rc.cir")
    await bench.until(lambda: bench.panel.traces)
    bench.panel.add_trace("v(in)")
    bench.window.parts.runs.draw_behind(first.result_path)
    await bench.until(lambda: bench.panel._now.ghosts)
    overlay, shown = bench.panel.overlay, bench.window.parts.runs.shown
    old.rename(new)
    bench.services.workspace.file_moved.emit(old, new)
    assert (shown.circuit, overlay.names, overlay.foreign) == (new, ("Run 1",), ())
    assert overlay._button.isChecked()
    assert bench.panel.view.traces == {"ac": ["v(out)", "v(in)"]}
    await bench.run("low_pass.cir")
    await bench.until(lambda: bench.panel._now.ghosts)
    await bench.settled()
    assert [trace.expression for trace in bench.panel.traces] == ["v(out)", "v(in)"]
    assert (overlay.names, overlay.foreign) == (("Run 1",), ())
    overlay._button.click()
    await bench.until(overlay.menu.isVisible)
    texts = [action.text() for action in overlay.menu.actions() if action.text()]
    overlay.menu.close()
    assert texts == ["Run 2", "Run 1", "No overlay"]
    # Another circuit that takes the old name is another circuit; what is behind it can always go.
    old.write_text(DECKS["rc.cir"])
    await bench.run("rc.cir")
    bench.window.parts.runs.draw_behind(first.result_path)
    assert overlay.chosen == (first.result_path,)
    overlay._button.click()
    await bench.until(overlay.menu.isVisible)
    texts = [action.text() for action in overlay.menu.actions() if action.text()]
    overlay.menu.close()
    assert texts == ["No earlier run of this circuit", "No overlay"]


async def test_a_file_written_at_the_old_place_of_a_moved_one_stays_itself_when_the_move_is_told_late(
    bench: Bench,
) -> None:
    workspace = bench.services.workspace
    old, new = bench.root / "buck.cir", bench.root / "buck-1.cir"
    told: list[Path] = []
    workspace.file_changed.connect(told.append)
    old.rename(new)
    old.write_text(DECKS["buck.cir"].replace("22u", "47u"))
    await bench.front("buck.cir")  # opened before the watch, which holds back what it sees, tells of the move
    await bench.until(lambda: {old, new} <= set(told))
    await bench.settled()
    assert workspace.shown_file == old
    assert workspace.buffers.open_files().count(new) == 0
    assert (workspace.main_circuit, bench.button) == (bench.root / "rc.cir", "Run buck.cir")


async def test_signals_a_run_does_not_have_are_named_and_not_drawn(bench: Bench) -> None:
    await bench.run("rc.cir")
    await bench.until(lambda: bench.panel.traces)
    bench.panel.add_trace("v(in)")
    await bench.settled()
    path = bench.root / "rc.cir"
    path.write_text(DECKS["rc.cir"].replace("in", "inp"))
    await bench.run("rc.cir")
    assert [trace.expression for trace in bench.panel.traces] == ["v(out)"]
    note = bench.panel.findChild(QLabel, "waveforms_note")
    assert note.text() == "Not in this run and not drawn: v(in)"
    path.write_text(DECKS["rc.cir"].replace("in", "inp").replace("1k", "2k"))
    bench.services.workspace.file_changed.emit(path)
    await bench.until(lambda: note.text().startswith("The circuit has changed since this run."))
    assert note.text().endswith("Not in this run and not drawn: v(in)")  # neither hides the other
    path.write_text(DECKS["rc.cir"].replace("in", "a").replace("out", "b"))
    await bench.run("rc.cir")
    assert [trace.expression for trace in bench.panel.traces] == ["v(a)", "v(b)"]  # never an empty plot
    path.write_text(DECKS["rc.cir"])
    await bench.run("rc.cir")
    assert [trace.expression for trace in bench.panel.traces] == ["v(out)", "v(in)"]
    assert not note.isVisible()


async def test_text_that_becomes_a_circuit_is_one_when_it_is_run(bench: Bench) -> None:
    path = bench.root / "part.cir"
    await bench.front("part.cir")
    path.write_text(DECKS["part.cir"] + "V1 a 0 1\n.op\n.end\n")
    result = await bench.run("part.cir")
    assert result.netlist_path == path


@pytest.mark.parametrize(("answer", "first", "second"), [
    ("Add and run", ["bare.cir"], ["bare.cir"]),
    ("Run rc.cir", ["rc.cir"], ["rc.cir"]),
    ("Cancel", [], None),
])  # fmt: skip
async def test_a_circuit_without_an_analysis_is_asked_about_once(
    bench: Bench, answer: str, first: list[str], second: list[str] | None
) -> None:
    await bench.front("bare.cir")
    assert bench.button == "Run bare.cir"
    bench.key()
    await bench.until(lambda: question(bench.window))
    box = question(bench.window)
    assert box is not None
    assert "bare.cir" in box.head.text()
    press(box, answer)
    await bench.until(lambda: question(bench.window) is None)
    await bench.settled()
    assert bench.ran == first
    bench.key()
    if second is None:
        await bench.until(lambda: question(bench.window))
        again = question(bench.window)
        assert again is not None
        press(again, "Cancel")
        await bench.until(lambda: question(bench.window) is None)
    await bench.settled()
    assert bench.ran == [*first, *(second or [])]
    (bench.root / "bare.cir").write_text(DECKS["bare.cir"].replace(".end", ".dc v1 0 5 1\n.end"))
    bench.services.workspace.choose_analysis(bench.root / "bare.cir", None)
    bench.key()
    await bench.finished()
    assert bench.ran[-1] == "bare.cir"


async def test_the_design_report_is_of_the_circuit_in_front(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "buck-report.html"

    async def choose_target(
        _services: object, _parent: object, _title: object, start: Path, *, kinds: Mapping[str, str]
    ) -> Path:
        assert start == bench.root / "buck-report.pdf"
        assert {start.suffix, target.suffix} < kinds.keys()
        return target

    monkeypatch.setattr(design_report, "choose_target", choose_target)
    await bench.front("buck.cir")
    bench.window.commands.action("designReport").trigger()
    editor = bench.window.focusWidget()
    await bench.until(lambda: bench.window.findChildren(ReportNotice))
    assert question(bench.window) is None, "it asks nothing of who works on"
    assert bench.window.focusWidget() is editor
    (notice,) = bench.window.findChildren(ReportNotice)
    assert str(target) in notice.label.text()
    notice.close_button.setFocus()
    notice.close_button.click()
    assert not notice.isVisible()
    assert bench.window.focusWidget() is editor, "the keys go back, not to the button that runs a circuit"
    await bench.settled()
    page = target.read_text("utf-8")
    assert "<h1>buck.cir</h1>" in page
    assert "<h2>Transient response</h2>" in page
    notice.show()
    bench.window.projects.close_project()
    await bench.until(lambda: not notice.isVisible())
