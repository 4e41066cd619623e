"""The left pane: tree, results, outline."""

from __future__ import annotations

import json
from pathlib import Path

from PyQt6.QtCore import QModelIndex, QPoint, Qt
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QApplication, QMenu

from application.project.browsing import Entry, ResultSummary
from application.simulation.simulating import SimulationRequest
from presentation.panels.conversation.taking_in import TakenIn, take_in
from presentation.panels.editor.editor_area import EditorArea
from presentation.panels.project.outline import OutlinePane
from presentation.panels.project.results import ResultsList
from presentation.panels.project.tree import ProjectTree
from presentation.panels.project.tree_model import MOST_ROWS, Marks, ProjectModel
from presentation.ui.rows import Role, RowLook
from presentation.ui.workspace import WindowServices
from tests.gui.conftest import Until


def names(model: ProjectModel, parent: QModelIndex) -> list[str]:
    return [
        str(model.index(row, 0, parent).data(Qt.ItemDataRole.DisplayRole))
        for row in range(model.rowCount(parent))
    ]


def entries(root: Path, *found: str) -> list[Entry]:
    return [
        Entry(
            name=name.rstrip("/"), path=root / name.rstrip("/"), kind="folder" if name[-1] == "/" else "file"
        )
        for name in found
    ]


async def test_folders_are_read_when_they_are_opened(services: WindowServices, tmp_path: Path) -> None:
    model = ProjectModel(services)
    asked: list[Path] = []
    model.wanted.connect(asked.append)
    model.set_root(tmp_path)
    assert asked == [tmp_path]
    model.set_entries(tmp_path, entries(tmp_path, "lib/", "a.cir"))
    root = model.index_of(tmp_path)
    assert names(model, root) == ["lib", "a.cir"]
    assert model.hasChildren(model.index_of(tmp_path / "lib"))
    assert not model.hasChildren(model.index_of(tmp_path / "a.cir"))
    dragged = model.mimeData([model.index_of(tmp_path / "a.cir")])  # into a conversation
    assert take_in(dragged) == TakenIn(paths=(tmp_path / "a.cir",))
    assert not model.flags(model.index_of(tmp_path / "lib")) & Qt.ItemFlag.ItemIsDragEnabled
    model.fetchMore(model.index_of(tmp_path / "lib"))
    model.fetchMore(model.index_of(tmp_path / "lib"))
    assert asked == [tmp_path, tmp_path / "lib"]
    model.set_entries(tmp_path / "lib", ())
    assert not model.hasChildren(model.index_of(tmp_path / "lib"))


async def test_a_refresh_keeps_rows_that_stay(services: WindowServices, tmp_path: Path) -> None:
    model = ProjectModel(services)
    model.set_root(tmp_path)
    model.set_entries(tmp_path, entries(tmp_path, "lib/", "a.cir", "c.cir"))
    model.set_entries(tmp_path / "lib", entries(tmp_path / "lib", "x.lib"))
    kept = model.index_of(tmp_path / "c.cir")
    removed = model.index_of(tmp_path / "a.cir")
    model.set_entries(tmp_path, entries(tmp_path, "lib/", "b.cir", "c.cir", "d.cir"))
    assert names(model, model.index_of(tmp_path)) == ["lib", "b.cir", "c.cir", "d.cir"]
    assert model.entry_at(kept) == entries(tmp_path, "c.cir")[0]
    assert names(model, model.index_of(tmp_path / "lib")) == ["x.lib"]
    assert model.entry_at(removed) is None  # an index that is out of date finds nothing
    model.set_entries(tmp_path, entries(tmp_path, "c.cir"))
    assert not model.index_of(tmp_path / "lib" / "x.lib").isValid()


async def test_a_file_that_became_a_folder_is_one(services: WindowServices, tmp_path: Path) -> None:
    model = ProjectModel(services)
    model.set_root(tmp_path)
    model.set_entries(tmp_path, entries(tmp_path, "a"))
    model.set_entries(tmp_path, entries(tmp_path, "a/"))
    assert names(model, model.index_of(tmp_path)) == ["a"]
    assert model.canFetchMore(model.index_of(tmp_path / "a"))


async def test_main_circuit_is_bold_and_marks_are_shown(services: WindowServices, tmp_path: Path) -> None:
    model = ProjectModel(services)
    model.set_root(tmp_path)
    model.set_entries(tmp_path, entries(tmp_path, "a.cir", "b.cir"))
    a, b = tmp_path / "a.cir", tmp_path / "b.cir"
    model.set_main(a)
    model.set_marks(Marks(changed=frozenset({b}), problems={b: (1, 2)}))

    def look(path: Path) -> RowLook:
        found = model.index_of(path).data(Role.LOOK)
        assert isinstance(found, RowLook)
        return found

    assert (look(a).weight, look(b).weight) == (600, 400)
    assert look(b).values == ("1", "M")
    assert look(b).color == "error.text"
    services.language.set("zh")
    assert "主电路" in str(model.index_of(a).data(Qt.ItemDataRole.ToolTipRole))


async def test_a_folder_of_ten_thousand_files_does_not_hold_the_loop(
    services: WindowServices, tmp_path: Path, loop_watchdog, until: Until
) -> None:
    for number in range(10_000):
        (tmp_path / f"f{number}.cir").touch()
    tree = ProjectTree(services, services.app.project, services.app.conversations)
    tree.resize(240, 400)
    tree.show()
    tree.grab()  # fonts and icons are loaded at the first paint; that is not what is looked at here
    services.workspace.root = tmp_path
    async with loop_watchdog.watching():
        services.workspace.project_opened.emit(tmp_path)
        await until(lambda: tree.model.rowCount(tree.model.index_of(tmp_path)) == MOST_ROWS + 1)
        rest = tree.model.index(MOST_ROWS, 0, tree.model.index_of(tmp_path))
        assert rest.data() == f"{10_000 - MOST_ROWS} more…"
        assert tree.model.entry_at(rest) is None
    tree.view.scrollTo(rest)
    QTest.mouseClick(tree.view.viewport(), Qt.MouseButton.LeftButton, pos=tree.view.visualRect(rest).center())
    await until(lambda: tree.model.rowCount(tree.model.index_of(tmp_path)) == 5 * MOST_ROWS + 1)
    rest = tree.model.index(5 * MOST_ROWS, 0, tree.model.index_of(tmp_path))
    assert rest.data() == f"{10_000 - 5 * MOST_ROWS} more…"


async def test_a_click_opens_a_file_and_the_menu_sets_the_main_circuit(
    services: WindowServices, project: Path, until: Until
) -> None:
    tree = ProjectTree(services, services.app.project, services.app.conversations)
    tree.resize(240, 300)
    tree.show()
    opened: list[Path] = []
    services.workspace.file_activated.connect(lambda path, _line: opened.append(path))
    services.workspace.root = project
    services.workspace.project_opened.emit(project)
    file = project / "filter.cir"
    await until(
        lambda: tree.model.index_of(file).isValid() and tree.view.isExpanded(tree.model.index_of(project))
    )
    index = tree.model.index_of(file)
    QTest.mouseClick(
        tree.view.viewport(), Qt.MouseButton.LeftButton, pos=tree.view.visualRect(index).center()
    )
    assert opened == [file]
    wanted: list[Path] = []
    tree.main_wanted.connect(wanted.append)
    menu = tree.context_menu(index)
    action = next(a for a in menu.actions() if a.text() == "Set as main circuit")
    action.trigger()
    assert wanted == [file]
    menu.deleteLater()


async def test_the_tree_follows_the_disk(services: WindowServices, project: Path, until: Until) -> None:
    tree = ProjectTree(services, services.app.project, services.app.conversations)
    services.workspace.root = project
    services.workspace.project_opened.emit(project)
    await until(lambda: tree.model.index_of(project / "filter.cir").isValid())
    (project / "new.cir").write_text("x")
    (project / "filter.cir").unlink()
    services.workspace.file_changed.emit(project / "new.cir")
    services.workspace.file_changed.emit(project / "filter.cir")
    await until(lambda: names(tree.model, tree.model.index_of(project)) == ["new.cir"])


def summary(number: int, **changes: object) -> ResultSummary:
    values: dict[str, object] = {
        "path": Path(f"/r/{number}/result.json"),
        "number": number,
        "created": "2026-01-02T03:04:05.000+00:00",
        "ok": True,
        "status": "ok",
        "verdict": "complete",
        "circuit": Path("/p/a.cir"),
        "netlist_sha256": "",
    }
    return ResultSummary(**{**values, **changes})  # type: ignore[arg-type]


async def test_results_say_what_they_met(services: WindowServices) -> None:
    pane = ResultsList(services, services.app.project)
    pane.model.set_results([summary(3), summary(2, ok=False, status="timeout", verdict="failed"), summary(1)])
    pane.model.set_goals({Path("/r/3/result.json"): (5, 5), Path("/r/1/result.json"): (3, 5)})
    looks = [pane.model.index(row).data(Role.LOOK) for row in range(3)]
    assert [look.icon for look in looks] == ["circle-check", "circle-x", "circle-dashed"]
    assert [look.values[0] for look in looks] == ["5/5", "failed", "3/5"]
    assert pane.model.index(0).data().startswith("Run 3 · ")
    told = pane.model.index(1).data(Qt.ItemDataRole.ToolTipRole)
    assert "timed out" in told
    services.language.set("zh")
    assert pane.model.index(0).data().startswith("仿真 #3 · ")
    # The goals of a result that stays are kept while the list is read again.
    pane.model.set_results([summary(4), summary(3)])
    assert pane.model.index(1).data(Role.LOOK).values[0] == "5/5"


async def test_a_click_shows_a_result(services: WindowServices, project: Path, until: Until) -> None:
    folder = project / ".circuit_ai" / "sim_results" / "20260101T000000000Z-A"
    folder.mkdir(parents=True)
    (folder / "result.json").write_text(
        json.dumps(
            {
                "created": "2026-01-02T03:04:05+00:00",
                "ok": True,
                "status": "ok",
                "netlist": {"path": "x", "sha256": "y"},
            }
        )
    )
    pane = ResultsList(services, services.app.project)
    pane.resize(240, 200)
    pane.show()
    chosen: list[Path] = []
    services.workspace.result_selected.connect(chosen.append)
    services.workspace.root = project
    services.workspace.project_opened.emit(project)
    await until(lambda: pane.model.results)
    place = pane.view.visualRect(pane.model.index(0)).center()
    QTest.mouseClick(pane.view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert chosen == [folder / "result.json"]
    services.workspace.project_closed.emit()
    assert pane.model.results == ()


async def test_the_outline_follows_the_file_and_goes_to_the_line(
    services: WindowServices, project: Path, until: Until
) -> None:
    pane = OutlinePane(services, services.app.project)
    pane.resize(240, 300)
    pane.show()
    gone: list[tuple[Path, int | None]] = []
    services.workspace.file_activated.connect(lambda path, line: gone.append((path, line)))
    file = project / "filter.cir"
    services.workspace.file_shown.emit(file)
    await until(lambda: "R1" in pane.names)
    first = pane.model.index(0, 0)
    assert pane.view.isExpanded(first)
    row = pane.model.index(0, 0, first)
    assert (row.data(), row.data(Role.LOOK).values) == ("R1", ("1k",))
    QTest.mouseClick(pane.view.viewport(), Qt.MouseButton.LeftButton, pos=pane.view.visualRect(row).center())
    assert gone == [(file, 3)]
    file.write_text(file.read_text().replace("R1 in out 1k", "R9 in out 2k"))
    services.workspace.file_changed.emit(file)
    await until(lambda: "R9" in pane.names)
    file.unlink()
    before = pane._request
    services.workspace.file_changed.emit(file)
    await until(lambda: pane._request > before and not services.app.program.tasks.handles)
    assert "R9" in pane.names, "the editor still has the text"
    services.workspace.file_shown.emit(None)
    assert pane.names == ()


async def test_the_outline_follows_what_is_being_written_and_not_the_disk(
    services: WindowServices, project: Path, until: Until
) -> None:
    area = EditorArea(services, services.app.project, services.app.simulation)
    pane = OutlinePane(services, services.app.project)
    area.show()
    pane.show()
    file = project / "filter.cir"
    services.workspace.file_activated.emit(file, None)
    await until(lambda: "R1" in pane.names)
    page = area.current_page()
    assert page is not None
    page.editor.insertAt("R9 out 0 4k7\n", 2, 0)
    await until(lambda: "R9" in pane.names)
    assert "R9" not in file.read_text()
    await until(lambda: not services.app.program.tasks.handles)
    services.workspace.file_changed.emit(file)  # somebody touched the file: the editor's text counts
    await until(lambda: not services.app.program.tasks.handles)
    assert "R9" in pane.names
    page.editor.undo()
    await until(lambda: "R9" not in pane.names)
    await until(lambda: not services.app.program.tasks.handles)


async def test_a_section_that_was_closed_stays_closed(
    services: WindowServices, project: Path, until: Until
) -> None:
    pane = OutlinePane(services, services.app.project)
    services.workspace.file_shown.emit(project / "filter.cir")
    await until(lambda: pane.names)
    pane.view.collapse(pane.model.index(0, 0))
    services.language.set("zh")
    assert pane.model.index(0, 0).data() == "元件"
    assert not pane.view.isExpanded(pane.model.index(0, 0))


async def test_files_that_are_no_netlists_say_so(services: WindowServices, project: Path) -> None:
    pane = OutlinePane(services, services.app.project)
    services.workspace.file_shown.emit(project / "notes.md")
    assert pane.names == ()
    assert pane.view.indexAt(QPoint(5, 5)) == QModelIndex()


BROKEN = "* broken\nV1 in 0 1\nX1 in 0 nosuch\n.op\n.end\n"


async def test_a_results_menu_does_what_it_says_and_a_failure_is_told_in_the_users_language(
    services: WindowServices, project: Path, until: Until
) -> None:
    (project / "broken.cir").write_text(BROKEN, encoding="utf-8")
    (project / ".circuit_ai").mkdir()
    good = await services.app.simulation.run(SimulationRequest(circuit=project / "filter.cir"))
    bad = await services.app.simulation.run(SimulationRequest(circuit=project / "broken.cir"))
    workspace = services.workspace
    results = ResultsList(services, services.app.project)
    results.resize(240, 300)
    results.show()
    workspace.root = project
    workspace.project_opened.emit(project)
    await until(lambda: len(results.model.results) == 2)
    assert [item.path for item in results.model.results] == [bad.result_path, good.result_path]
    failed = results.model.index(0)
    assert "Subcircuit nosuch is not defined" in failed.data(Qt.ItemDataRole.ToolTipRole)
    services.language.set("zh")
    assert "子电路 nosuch 未定义" in failed.data(Qt.ItemDataRole.ToolTipRole)
    services.language.set("en")

    shown: list[Path] = []
    opened: list[Path] = []
    behind: list[Path] = []
    workspace.result_selected.connect(shown.append)
    workspace.file_activated.connect(lambda path, _line: opened.append(path))
    results.overlay_wanted.connect(behind.append)
    menu = results.menu_for(results.model.results[0])
    actions = {action.objectName(): action for action in menu.actions()}
    assert not actions["overlay_result"].isEnabled()  # it has no curves
    menu.deleteLater()

    results.view.customContextMenuRequested.emit(results.view.visualRect(results.model.index(1)).center())
    await until(lambda: QApplication.activePopupWidget() is not None)
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    for name in ("show_result", "overlay_result", "open_result_circuit"):
        next(action for action in menu.actions() if action.objectName() == name).trigger()
    assert (shown, behind, opened) == ([good.result_path], [good.result_path], [project / "filter.cir"])
    assert results.view.currentIndex().row() == 1
    menu.close()


async def test_a_result_that_is_offered_is_chosen_once_it_is_read(
    services: WindowServices, project: Path, until: Until
) -> None:
    (project / ".circuit_ai").mkdir()
    first = await services.app.simulation.run(SimulationRequest(circuit=project / "filter.cir"))
    results = ResultsList(services, services.app.project)
    results.show()
    services.workspace.root = project
    services.workspace.project_opened.emit(project)
    await until(lambda: len(results.model.results) == 1)
    second = await services.app.simulation.run(SimulationRequest(circuit=project / "filter.cir"))
    services.workspace.result_offered.emit(second.result_path)
    results.note_stored()
    await until(lambda: len(results.model.results) == 2)
    assert results.model.results[results.view.currentIndex().row()].path == second.result_path
    services.workspace.result_selected.emit(first.result_path)
    assert results.model.results[results.view.currentIndex().row()].path == first.result_path
    await until(lambda: not services.app.program.tasks.handles)


async def test_an_opened_project_shows_what_was_computed_last(
    services: WindowServices, project: Path, until: Until
) -> None:
    (project / ".circuit_ai").mkdir()
    circuit = project / "filter.cir"
    await services.app.simulation.run(SimulationRequest(circuit=circuit))
    second = await services.app.simulation.run(SimulationRequest(circuit=circuit))
    offered: list[Path] = []
    services.workspace.result_offered.connect(offered.append)
    results = ResultsList(services, services.app.project)
    services.workspace.root = project
    services.workspace.project_opened.emit(project)
    await until(lambda: len(results.model.results) == 2)
    assert offered == [second.result_path]

    results.note_stored()  # read again: whoever looks at another result by now is left there
    services.workspace.result_selected.emit(results.model.results[-1].path)
    await until(lambda: not services.app.program.tasks.handles)
    assert offered == [second.result_path]


async def test_the_file_in_front_is_found_in_the_tree_however_deep(
    services: WindowServices, project: Path, until: Until
) -> None:
    deep = project / "power stages" / "buck" / "buck.cir"
    deep.parent.mkdir(parents=True)
    deep.write_text("* b\nV1 a 0 1\n.op\n.end\n")
    tree = ProjectTree(services, services.app.project, services.app.conversations)
    tree.show()
    services.workspace.root = project
    services.workspace.project_opened.emit(project)
    await until(lambda: tree.model.index_of(project / "filter.cir").isValid())
    services.workspace.shown_file = deep
    services.workspace.file_shown.emit(deep)
    await until(lambda: tree.view.currentIndex() == tree.model.index_of(deep) != QModelIndex())
    tree.view.collapse(tree.model.index_of(project / "power stages"))
    services.workspace.file_shown.emit(project / "filter.cir")
    assert tree.view.currentIndex() == tree.model.index_of(project / "filter.cir")
    assert not tree.view.isExpanded(tree.model.index_of(project / "power stages"))
    await until(lambda: not services.app.program.tasks.handles)
