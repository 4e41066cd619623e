"""A netlist of 50 MB in the editor: opened, written in, searched and saved, the loop never held."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QApplication, QLabel, QLineEdit

from domain.llm.tools.text_files import decode
from presentation.panels.editor.editor_area import EditorArea
from presentation.panels.editor.page import EditorPage
from presentation.panels.editor.searching import Query, find_all, find_in_pieces
from tests.gui.conftest import Until
from tests.gui.loop_watchdog import LoopWatchdog
from tests.gui.test_editor_area import Open, area, opened, pool_of_qt, put, settled

__all__ = ["area", "opened", "pool_of_qt"]

LINE = b"R1234567 node1234567 node1234568 4.7k\n"
HELD_S = 0.25
"""A thread puts the 50 MB together in one piece: 30 ms in which no other part of Python goes on, more where
the suite has all cores."""
CONTROL = Qt.KeyboardModifier.ControlModifier


def told(page: EditorPage | None) -> str:
    assert page is not None
    return page.notices.findChildren(QLabel)[1].text() if page.notices.isVisible() else ""


@pytest.mark.parametrize("count", [250_000, pytest.param(1_300_000, marks=pytest.mark.torture)])
@settled
async def test_a_large_netlist_is_opened_written_searched_and_saved(
    area: EditorArea, project: Path, until: Until, loop_watchdog: LoopWatchdog, count: int
) -> None:
    path = project / "large.cir"
    data = b"large\n" + LINE * count + b"Rlast a 0 1k\n.end\n"
    await put(path, data)
    async with loop_watchdog.watching(limit_s=HELD_S):
        area.show(path)
        await until(lambda: area.page_of(path) is not None and "MB" in told(area.page_of(path)))
    page = area.page_of(path)
    assert page is not None
    assert area.current_page() is page
    editor = page.editor
    assert (editor.lines(), page.is_dirty) == (count + 4, False)
    assert f"{len(data) // 1_000_000} MB" in told(page)
    assert "not checked, colored" in told(page)

    async with loop_watchdog.watching():
        QTest.keyClick(editor, Qt.Key.Key_End, CONTROL)
        await asyncio.sleep(0)
        QTest.keyClicks(editor, "Rnew b 0 2k")
        await until(lambda: page.is_dirty)
        QTest.keyClick(editor, Qt.Key.Key_Home, CONTROL)
        QTest.keyClicks(editor, "the ")
    assert editor.text(0) == "the large\n"

    area.open_find()
    field = area.find_bar.findChild(QLineEdit, "findText")
    said = area.find_bar.findChild(QLabel, "findCount")
    async with loop_watchdog.watching():
        QTest.keyClicks(field, "rnew b")
        await until(lambda: said.text() == "1 found")
        QTest.keyClick(field, Qt.Key.Key_Return)
        assert said.text() == "1 of 1"
    assert editor.caret()[0] == count + 4
    async with loop_watchdog.watching(limit_s=HELD_S):
        saving = asyncio.ensure_future(page.save())
        assert await saving
    assert not page.is_dirty
    assert await asyncio.to_thread(path.read_bytes) == b"the " + data + b"Rnew b 0 2k"
    editor.undo()
    editor.undo()
    await until(lambda: editor.data() == data)
    assert page.is_dirty


@settled
async def test_a_tab_closed_while_its_text_is_put_in_is_gone(
    area: EditorArea, project: Path, until: Until
) -> None:
    path = project / "large.cir"
    await put(path, b"large\n" + LINE * 200_000)
    area.show(path)
    await until(lambda: area.page_of(path) is not None)
    area.close_all()
    await until(lambda: not area._services.app.program.tasks.handles)
    assert area.open_files() == ()
    assert QApplication.activeModalWidget() is None


@settled
async def test_a_text_whose_names_are_not_read_says_so(
    area: EditorArea, project: Path, opened: Open, until: Until
) -> None:
    path = project / "middle.txt"
    await put(path, LINE * 60_000)
    page = await opened(path)
    assert told(page) == ""  # no circuit: nothing is missing
    await put(project / "middle.inc", b"* comment\n" * 230_000)
    page = await opened(project / "middle.inc")
    assert "Names are not read in texts over 2 MB" in told(page)


def test_pieces_find_what_the_whole_text_has() -> None:
    text = ("* 电阻\n" + "R1 a b 1k\n" * 40_000 + "end\n") * 3
    for query in (
        Query(text="电阻"),
        Query(text=r"^end\n\*", is_regex=True),
        Query(text="R1 a", whole_word=True),
    ):
        data = text.encode()
        found = [match for piece in find_in_pieces(data, query) for match in piece.matches]
        whole = find_all(text, query).matches
        assert found[: len(whole)] == list(whole)
        assert len(found) >= len(whole) > 0
    assert decode(b"a" * 3_000_000).encoding == "utf-8"
