"""Search and replace over a project: preview, lines left out, open texts and files, all of it back."""

from __future__ import annotations

from PyQt6.QtCore import Qt
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QCheckBox, QPushButton

from presentation.panels.editor.replace_dialog import ReplaceDialog
from tests.gui.test_which_circuit import DECKS, Bench, bench

__all__ = ["bench"]
LEFT = Qt.MouseButton.LeftButton


async def dialog_of(bench: Bench) -> ReplaceDialog:
    action = bench.window.commands.action("editor.replace_in_project")  # from anywhere in the window
    assert (action.shortcut().toString(), action.isEnabled()) == ("Ctrl+Shift+H", True)
    action.trigger()
    await bench.until(lambda: bench.window.findChild(ReplaceDialog))
    dialog: ReplaceDialog = bench.window.findChild(ReplaceDialog)
    await bench.until(dialog.isVisible)
    return dialog


def rows(dialog: ReplaceDialog) -> list[tuple[str, str]]:
    return [(cells[0].text, cells[1].text) for cells in dialog.table.rows]


async def test_replace_with_preview_and_all_of_it_back(bench: Bench) -> None:
    (bench.root / "notes.txt").write_bytes("R1 in: 电阻\r\nr1 IN\r\n".encode("gbk"))
    await bench.front("rc.cir")
    page = bench.window.parts.editor.current_page()
    assert page is not None
    page.editor.insert("* R1 in front, not saved\n")
    dialog = await dialog_of(bench)
    assert not dialog.replace_button.isEnabled()
    QTest.keyClicks(dialog.find_field, "R1 in")
    QTest.keyClicks(dialog.replace_field, "Rx in")
    await bench.until(lambda: len(rows(dialog)) == 5)
    assert sorted(rows(dialog)) == [
        ("notes.txt:1", "Rx in: 电阻"), ("notes.txt:2", "Rx in"), ("rc.cir:1", "* Rx in front, not saved"),
        ("rc.cir:4", "Rx in out 1k"), ("sub/opamp.cir:4", "Rx in inv 1k"),
    ]  # fmt: skip
    for name in ("case", "word"):
        dialog.findChild(QCheckBox, f"project_{name}").click()
    await bench.until(lambda: len(rows(dialog)) == 4)  # not "r1 IN"
    at = [place for place, _ in rows(dialog)].index("rc.cir:1")
    dialog.table.selectRow(at)
    QTest.mouseClick(dialog.findChild(QPushButton, "leaveOut"), LEFT)
    assert ("rc.cir:1", "* Rx in front, not saved") not in rows(dialog)
    assert dialog._told.text() == "3 places in 3 files"
    QTest.mouseClick(dialog.replace_button, LEFT)
    await bench.until(lambda: page.notices.notice is not None)
    await bench.settled()
    assert page.editor.text() == "* R1 in front, not saved\n" + DECKS["rc.cir"].replace("R1 in", "Rx in")
    assert (bench.root / "rc.cir").read_text() == DECKS["rc.cir"]
    assert (bench.root / "notes.txt").read_bytes() == "Rx in: 电阻\r\nr1 IN\r\n".encode("gbk")
    assert (bench.root / "sub/opamp.cir").read_text() == DECKS["sub/opamp.cir"].replace("R1 in ", "Rx in ")
    QTest.mouseClick(page.notices.findChild(QPushButton, "notice_undo"), LEFT)
    await bench.until(lambda: "电阻" in (bench.root / "notes.txt").read_bytes().decode("gbk")
                      and (bench.root / "notes.txt").read_bytes().startswith(b"R1"))  # fmt: skip
    await bench.until(lambda: page.editor.text() == "* R1 in front, not saved\n" + DECKS["rc.cir"])
    assert (bench.root / "sub/opamp.cir").read_text() == DECKS["sub/opamp.cir"]
    await bench.settled()


async def test_what_cannot_be_searched_or_saved_changes_nothing(bench: Bench) -> None:
    (bench.root / "notes.txt").write_bytes("电阻 R7\n".encode("gbk"))
    await bench.front("rc.cir")
    errors: list[Exception] = []
    bench.services.workspace.error_occurred.connect(errors.append)
    dialog = await dialog_of(bench)
    dialog.findChild(QCheckBox, "project_regex").click()
    QTest.keyClicks(dialog.find_field, "R(7")
    await bench.until(lambda: "not complete" in dialog._told.text())
    assert not dialog.replace_button.isEnabled()
    dialog.find_field.setText(r"R(7)$")
    dialog.replace_field.setText("\N{GRINNING FACE}$1")
    await bench.until(lambda: rows(dialog) == [("notes.txt:1", "电阻 \N{GRINNING FACE}7")])
    QTest.mouseClick(dialog.replace_button, LEFT)
    await bench.until(lambda: errors)
    assert getattr(errors[0], "error_type", "") == "not_encodable"
    assert (bench.root / "notes.txt").read_bytes() == "电阻 R7\n".encode("gbk")
    await bench.settled()


async def test_without_an_open_file_the_first_changed_one_opens_with_the_way_back(bench: Bench) -> None:
    await bench.settled()
    area = bench.window.parts.editor
    area.close_all()
    dialog = await dialog_of(bench)
    QTest.keyClicks(dialog.find_field, "sw1 sw(")
    QTest.keyClicks(dialog.replace_field, "sw2 sw(")
    await bench.until(lambda: len(rows(dialog)) == 1)
    QTest.mouseClick(dialog.replace_button, LEFT)
    await bench.until(lambda: area.front() is not None and area.front()[:2] == (bench.root / "buck.cir", 9))
    page = area.current_page()
    await bench.until(page.notices.isVisible)
    assert (bench.root / "buck.cir").read_text() == DECKS["buck.cir"].replace("sw1 sw(", "sw2 sw(")
    QTest.mouseClick(page.notices.findChild(QPushButton, "notice_undo"), LEFT)
    await bench.until(lambda: page.editor.text() == DECKS["buck.cir"])
    assert (bench.root / "buck.cir").read_text() == DECKS["buck.cir"]
    await bench.settled()


async def test_a_double_click_goes_to_the_line(bench: Bench) -> None:
    await bench.front("rc.cir")
    dialog = await dialog_of(bench)
    QTest.keyClicks(dialog.find_field, "sw1 sw(")
    await bench.until(lambda: [place for place, _ in rows(dialog)] == ["buck.cir:9"])
    viewport = dialog.table.viewport()
    place = dialog.table.visualRect(dialog.table.model().index(0, 1)).center()
    QTest.mouseClick(viewport, LEFT, pos=place)
    QTest.mouseDClick(viewport, LEFT, pos=place)
    area = bench.window.parts.editor
    await bench.until(lambda: area.front() is not None and area.front()[:2] == (bench.root / "buck.cir", 9))
    await bench.settled()
