"""Rows of results: a note typed in place, a pin, a comparison, the circuit as it was."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from PyQt6.QtCore import QObject, Qt
from PyQt6.QtGui import QDesktopServices
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QLineEdit

from application.studies.studying import StudyRequest
from domain.studies.study_spec import read_study_spec
from presentation.panels.editor.former_circuit import FormerCircuitPage
from presentation.panels.project.results import _show_folder
from presentation.ui.workspace import PlotViews
from presentation.window.panels import Parts

FIRST = """* rc
V1 in 0 AC 1
R1 in out 1k
C1 out 0 100n
.ac dec 20 10 1meg
.meas ac fc WHEN vdb(out)=-3.0103
.end
"""
SECOND = FIRST.replace("1k", "2k")


@pytest.fixture
async def parts(services, project: Path, until):
    """Two runs of a circuit, which was changed between them."""
    (project / ".circuit_ai").mkdir()
    circuit = project / "rc.cir"
    services.workspace.root, services.workspace.main_circuit = project, circuit
    made = Parts(services, services.app)
    made.results.resize(260, 300)
    for widget in (made.results, made.bottom, made.editor):
        widget.show()
    made.results.comparison_wanted.connect(made.runs.compare_with)
    for number, text in enumerate((FIRST, SECOND), 1):
        circuit.write_text(text, encoding="utf-8")
        services.workspace.main_run_requested.emit()
        await until(lambda number=number: len(made.results.model.results) == number)
        await until(lambda: not services.app.program.tasks.handles)
    yield made
    await until(lambda: not services.app.program.tasks.handles)


def _do(parts, row: int, name: str) -> None:
    menu = parts.results.menu_for(parts.results.model.results[row])
    action = next(each for each in menu.actions() if each.objectName() == name)
    assert action.isEnabled()
    action.trigger()


async def test_a_note_is_typed_in_the_row_and_a_pin_outlives_a_clean_up(parts, services, project, until):
    results = parts.results
    results.view.setFocus()
    results.view.setCurrentIndex(results.model.index(1))
    QTest.keyClick(results.view, Qt.Key.Key_F2)
    field = results.view.findChild(QLineEdit)
    QTest.keyClicks(field, "before the fix")
    QTest.keyClick(field, Qt.Key.Key_Return)
    await until(lambda: results.model.results[1].note == "before the fix")
    assert results.model.data(results.model.index(1)) == "Run 1 · rc.cir · before the fix"
    _do(parts, 1, "pin_result")
    await until(lambda: results.model.results[1].is_pinned)
    assert "Pinned" in results.model.data(results.model.index(1), Qt.ItemDataRole.ToolTipRole)
    from application.project.cleaning import CleanRequest
    from domain.simulation.retention import RetentionPolicy

    report = await services.app.project.clean(CleanRequest(project=project, policy=RetentionPolicy(keep=0)))
    assert [each.result_id for each in report.kept] == [results.model.results[1].path.parent.name]
    results.reload()
    await until(lambda: len(results.model.results) == 1)
    _do(parts, 0, "pin_result")
    await until(lambda: not results.model.results[0].is_pinned)
    await services.app.project.browse.write_note(results.model.results[0].path, " \n ")
    results.reload()
    await until(lambda: results.model.results[0].note == "")
    assert not results.model.results[0].path.with_name(".note").exists()


async def test_two_runs_are_compared_by_curves_and_figures(parts, services, until):
    shown = parts.runs.shown
    first = parts.results.model.results[1]
    assert shown.previous_number == 1
    services.workspace.result_selected.emit(first.path)
    await until(lambda: shown.loaded.source == first.path and not shown.is_loading)
    await until(lambda: not services.app.program.tasks.handles)
    assert shown.previous_number is None
    newest = parts.results.model.results[0]
    _do(parts, 0, "compare_result")
    await until(lambda: shown.previous_number == 2)
    (corner,) = [each for each in shown.measurements if each.name == "fc"]
    assert corner.value.value == pytest.approx(2 * corner.previous.value, rel=1e-3)
    assert parts.runs.waveforms.overlay.chosen == (newest.path,)


async def test_shift_enter_draws_the_chosen_run_behind(parts, until):
    results, overlay = parts.results, parts.runs.waveforms.overlay
    results.overlay_wanted.connect(parts.runs.draw_behind)
    await until(lambda: parts.runs.waveforms.traces)
    results.view.setFocus()
    results.view.setCurrentIndex(results.model.index(1))
    for chosen in ((results.model.results[1].path,), ()):
        QTest.keyClick(results.view, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
        await until(lambda chosen=chosen: overlay.chosen == chosen)


async def test_the_circuit_as_it_was_is_read_compared_and_restored(parts, services, project, until):
    _do(parts, 1, "open_former_circuit")
    area = parts.editor
    await until(lambda: area.findChildren(FormerCircuitPage))
    (page,) = area.findChildren(FormerCircuitPage)
    assert (page.editor.text(), page.editor.isReadOnly()) == (FIRST, True)
    assert page.tab_title() == "rc.cir · Run 1"
    await until(page.compare.isVisible)
    QTest.mouseClick(page.compare, Qt.MouseButton.LeftButton)
    assert page.shows_difference
    assert "+R1 in out 2k" in page.difference.text.toPlainText()
    services.theme.set_mode("dark")
    services.language.set("zh")
    assert "只读" in page._words.text()
    QTest.mouseClick(page.restore_button, Qt.MouseButton.LeftButton)
    await until(lambda: area.current_page() is not None and area.current_page().editor.text() == FIRST)
    assert (project / "rc.cir").read_text() == SECOND, "an edit, not saved"
    area.current_page().editor.undo()
    assert area.current_page().editor.text() == SECOND


async def test_a_text_that_was_changed_or_not_kept_is_not_shown(parts, services, until):
    told = []
    services.workspace.error_occurred.connect(told.append)
    kept = parts.results.model.results[1].path.with_name("circuit.txt")
    kept.write_text("* somebody else's\n")
    _do(parts, 1, "open_former_circuit")
    await until(lambda: told)
    assert "not kept" in str(told[0].message)
    assert not parts.editor.findChildren(FormerCircuitPage)


@pytest.mark.timeout(60)
async def test_what_has_just_come_is_seen_though_an_older_run_is_shown(parts, services, project, until):
    results, app = parts.results, services.app
    results.resize(260, 90)
    services.workspace.result_selected.emit(results.model.results[1].path)
    spec = read_study_spec({"parameters": [{"name": "R1", "values": [1e3, 2e3]}], "measure": {"fc": "fc"}})
    for count in (3, 4, 5):
        await app.simulation.study(StudyRequest(circuit=project / "rc.cir", kind="sweep", spec=spec))
        results.note_stored()
        await until(lambda count=count: len(results.model.results) == count)
    newest = results.model.index(0)
    assert results.view.viewport().rect().contains(results.view.visualRect(newest))
    assert results.view.currentIndex().row() == 4


def test_a_folder_that_a_desktop_would_run_is_not_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    """The name of a result's folder came with a project: macOS runs what is called so."""
    opened: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toLocalFile()))
    for name in ("20261129T203502167Z-GK8DCAS7", "Run.app"):
        _show_folder(SimpleNamespace(path=Path("/p/sim_results", name, "result.json")))  # type: ignore[arg-type]
    assert opened == ["/p/sim_results/20261129T203502167Z-GK8DCAS7", "/p/sim_results"]


@pytest.mark.usefixtures("qapp")
@pytest.mark.parametrize(
    "created", ["2026-01-01T00:00:00+00:00", "2026-01-01T00:00:00", "soon", "", "0001-01-01"]
)
def test_a_result_of_any_time_follows_its_circuit(created: str) -> None:
    """A time that a project brought, without a zone or none at all, ended every list after a move."""
    views = PlotViews(QObject())
    views.follow(Path("/p/a.cir"), Path("/p/b.cir"))
    assert views.place_of(Path("/p/a.cir"), created) == Path("/p/b.cir")
    assert views.place_of(Path("/p/a.cir"), "9000-01-01T00:00:00+00:00") == Path("/p/a.cir")
