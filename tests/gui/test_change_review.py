"""A model's change in the editor and on its card: each place kept or undone alone, by keys and by clicks."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QLabel, QPushButton

from application.project.editing import version_of
from presentation.panels.conversation.items import OperationCard
from presentation.panels.conversation.panel import ConversationPanel
from presentation.panels.editor.editor_area import EditorArea
from presentation.panels.editor.marked_text import PUT_IN
from presentation.panels.editor.page import EditorPage
from presentation.ui.workspace import WindowServices
from tests.gui.conftest import Until
from tests.gui.test_conversation_panel import of, panel, shown, type_and_send
from tests.gui.test_editor_area import LEFT, Open, area, on_disk, opened, pool_of_qt, put, settled
from tests.gui.test_editor_lines import press

__all__ = ["area", "opened", "panel", "pool_of_qt"]

BEFORE = "t\nV1 in 0 AC 1\nR1 in out 1k\nC1 out 0 100n\n* end of it\n.ac dec 20 10 1meg\n.end\n"
AFTER = BEFORE.replace("1k", "2k").replace("C1 out 0 100n\n", "").replace(".ac", "R9 out 0 9k\n.ac")


async def changed_by_a_model(area: EditorArea, path: Path, old: str, new: str) -> None:
    """As a tool's call does it, and as the conversation tells it."""
    workspace = area._services.workspace
    record = await area._services.app.project.operations.rewrite(
        path.parent, {path: new.encode()}, expected={path: version_of(old.encode())}, tool="patch_file"
    )
    workspace.file_changed.emit(path)
    workspace.change_made.emit(path, record.op_id)


def words(page: EditorPage) -> str:
    return page.review.bar.findChildren(QLabel)[1].text() if page.review.bar.isVisible() else ""


def marked(page: EditorPage) -> list[int]:
    """Lines with the ground of what was put in, from 1."""
    return [n + 1 for n in range(page.editor.lines()) if page.editor.markersAtLine(n) & 1 << PUT_IN]


@settled
async def test_places_are_kept_and_undone_by_keys_and_clicks(
    area: EditorArea, project: Path, opened: Open, until: Until
) -> None:
    path = project / "a.cir"
    await put(path, BEFORE)
    page = await opened(path)
    await changed_by_a_model(area, path, BEFORE, AFTER)
    await until(lambda: page.review.count == 2)
    assert page.editor.text() == AFTER
    assert words(page) == "The conversation changed 2 places here."
    assert marked(page) == [3, 5]
    above = [page.editor.ask(page.editor.SCI_ANNOTATIONGETLINES, line) for line in range(7)]
    assert above == [0, 2, 0, 0, 0, 0, 0]  # R1 and C1 as they were

    area.activateWindow()
    page.editor.go_to(7)
    press(area, "next_change")
    assert page.editor.caret()[0] == 3
    press(area, "previous_change")
    assert page.editor.caret()[0] == 5
    press(area, "take_back_change")
    await until(lambda: page.review.count == 1 and page.editor.text() == AFTER.replace("R9 out 0 9k\n", ""))
    assert (await on_disk(path)).decode() == page.editor.text()
    assert not page.is_dirty
    page.editor.undo()  # one step, like any other
    assert page.editor.text() == AFTER
    await until(lambda: page.review.count == 2)
    page.editor.redo()
    await until(lambda: page.review.count == 1)

    page.editor.go_to(3)
    page.editor.insert("* mine\n")  # beside the place that is left
    await until(lambda: page.review.count == 0)
    page.editor.undo()
    await until(lambda: page.review.count == 1)
    page.editor.go_to(1)
    page.editor.insert("* far away\n")
    page.editor.go_to(7)
    await until(lambda: marked(page) == [4])
    button = page.review.bar.findChild(QPushButton, "notice_take_back")
    assert button is not None
    assert button.toolTip() == area._services.shortcuts.shown("editor.take_back_change")
    QTest.mouseClick(
        button, LEFT
    )  # the only one is meant wherever the caret is; what is unsaved is saved first
    wanted = f"* far away\n{BEFORE}"
    await until(lambda: page.editor.text() == wanted and not page.review.bar.isVisible())
    assert page.editor.hasFocus()
    assert (await on_disk(path)).decode() == wanted


@settled
async def test_what_is_kept_stays_and_what_is_told_before_opening_is_shown(
    area: EditorArea, project: Path, opened: Open, until: Until
) -> None:
    path = project / "b.cir"
    await put(path, BEFORE)
    await changed_by_a_model(area, path, BEFORE, AFTER)
    page = await opened(path)
    await until(lambda: page.review.count == 2)
    area.activateWindow()
    page.editor.go_to(3)
    press(area, "keep_change")
    assert (page.review.count, marked(page), page.editor.caret()[0]) == (1, [5], 5)
    await changed_by_a_model(area, path, AFTER, AFTER.replace("R9 out 0 9k", "R9 out 0 8k"))
    await until(lambda: "1 other was changed again since" in words(page))  # by the model's own next change
    area._services.language.set("zh")
    assert words(page).startswith("对话在此修改了 1 处")
    area._services.workspace.changes_accepted.emit()
    assert (page.review.count, marked(page), page.editor.text()) == (0, [], AFTER.replace("9k", "8k"))


@settled
async def test_trials_of_one_value_are_one_place_and_undo_all_goes_back_before_the_first(
    area: EditorArea, project: Path, opened: Open, until: Until
) -> None:
    path = project / "c.cir"
    await put(path, BEFORE)
    page = await opened(path)
    texts = [BEFORE, *(BEFORE.replace("100n", each) for each in ("120n", "110n"))]
    texts.append(texts[-1].replace("dec 20", "dec 30"))
    for old, new in pairwise(texts):
        await changed_by_a_model(area, path, old, new)
    await until(lambda: page.review.count == 2 and page.editor.text() == texts[-1])
    assert words(page) == "The conversation changed 2 places here."
    assert [each.piece.hunk.removed for each in page.review._found.standing] == [
        ("C1 out 0 100n",), (".ac dec 20 10 1meg",)
    ]  # fmt: skip
    page.review.take_all_back()
    await until(lambda: page.editor.text() == BEFORE and not page.review.bar.isVisible())
    page.editor.undo()
    await until(lambda: page.editor.text() == texts[-1] and page.review.count == 2)

    page.editor.go_to(6)
    page.review.keep()
    again = texts[-1].replace("110n", "90n")
    await page.save()
    await changed_by_a_model(area, path, texts[-1], again)
    await until(lambda: "1 place here" in words(page) and "changed again since" in words(page))
    page.review.take_all_back()
    await until(lambda: page.editor.text() == BEFORE.replace("dec 20", "dec 30"))


@settled
async def test_a_trial_that_was_undone_by_itself_leaves_the_one_before_it(
    area: EditorArea, project: Path, opened: Open, until: Until
) -> None:
    path = project / "d.cir"
    await put(path, BEFORE)
    page = await opened(path)
    texts = [BEFORE, *(BEFORE.replace("100n", each) for each in ("120n", "110n"))]
    for old, new in pairwise(texts):
        await changed_by_a_model(area, path, old, new)
        await until(lambda wanted=new: page.editor.text() == wanted)  # type: ignore[misc]
    page.editor.undo()
    await until(lambda: page.editor.text() == texts[1] and page.review.count == 1)
    assert words(page) == "The conversation changed 1 place here."
    page.review.take_all_back()
    await until(lambda: page.editor.text() == BEFORE and not page.review.bar.isVisible())


async def test_single_changes_are_undone_on_the_card(
    panel: ConversationPanel, project: Path, until: Until, services: WindowServices
) -> None:
    told: list[tuple[Path, str]] = []
    services.workspace.change_made.connect(lambda path, op_id: told.append((path, op_id)))
    type_and_send(panel, "set R1 to 2k in filter.cir")
    await until(lambda: not panel.is_running and of(panel, OperationCard)[-1].standing == "stands")
    circuit, key = project / "filter.cir", of(panel, OperationCard)[-1].key
    after = circuit.read_text()
    assert told == [(circuit, key)]

    panel.view.acted.emit("pieces", key, "")
    await until(lambda: panel.model.items.get(key).pieces)
    assert "Undo this one" in shown(panel)
    panel.view.acted.emit("turn_piece", key, "0")
    await until(lambda: panel.model.items.get(key).pieces[0].standing == "taken_back")
    assert circuit.read_text() == after.replace("2k", "1k")
    panel.view.acted.emit("turn_piece", key, "0")
    await until(lambda: panel.model.items.get(key).pieces[0].standing == "stands")
    assert circuit.read_text() == after
    services.workspace.piece_turned.emit(key)  # in the editor: the card looks again
    await until(lambda: not services.app.program.tasks.handles)
    circuit.write_text(after.replace("2k", "3k"))
    panel.view.acted.emit("turn_piece", key, "0")
    await until(lambda: panel.model.items.get(key).problem is not None)
    assert "cannot be undone by itself" in shown(panel)
    assert circuit.read_text() == after.replace("2k", "3k")
