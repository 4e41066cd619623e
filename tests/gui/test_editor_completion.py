"""Completion as hands meet it: the list while typing, never in the way, templates word by word."""

from __future__ import annotations

import asyncio
from pathlib import Path

from PyQt6.QtCore import Qt
from PyQt6.QtGui import QInputMethodEvent
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QApplication

from presentation.panels.editor.completing import Completer
from presentation.panels.editor.editor_area import EditorArea
from presentation.panels.editor.page import EditorPage
from tests.benchmarks.bench_editor import large_netlist
from tests.gui.conftest import Until
from tests.gui.loop_watchdog import LoopWatchdog
from tests.gui.test_editor_area import Open, area, checked, opened, pool_of_qt, put, settled

__all__ = ["area", "opened", "pool_of_qt"]

TEXT = "divider\n.include part.lib\n.param rval=1k\nV1 in 0 5\nR1 in output {rval}\n\n.op\n.end\n"
PART = ".subckt amp inp inn outp gain=10\nE1 outp 0 inp inn {gain}\n.ends\n"
Key = Qt.Key


async def at_line(project: Path, opened: Open, line: int = 6) -> tuple[EditorPage, Completer]:
    await put(project / "part.lib", PART)
    await put(project / "divider.cir", TEXT)
    page: EditorPage = await opened(project / "divider.cir", line)
    page.editor.setFocus()
    assert page.completer is not None
    return page, page.completer


async def typed(page: EditorPage, text: str, until: Until) -> list[str]:
    """What is offered behind a text that was typed, each key in a turn of the loop as from a hand."""
    for key in text:
        if key == "\n":
            QTest.keyClick(page.editor, Key.Key_Return)
        else:
            QTest.keyClicks(page.editor, key)
        await asyncio.sleep(0)
    assert page.completer is not None
    await until(lambda: not page.completer._later.isActive())
    return [candidate.text for candidate in page.completer.shown]


def line_of(page: EditorPage, line: int = 6) -> str:
    return page.editor.text().split("\n")[line - 1]


@settled
async def test_a_line_is_written_with_the_list(
    area: EditorArea, project: Path, opened: Open, until: Until
) -> None:
    page, completer = await at_line(project, opened)
    assert await typed(page, "R", until) == ["R2"]
    QTest.keyClick(page.editor, Key.Key_Tab)  # the template, its first word chosen
    assert line_of(page) == "R2 n1 n2 1k"
    assert page.editor.selectedText() == "n1"
    assert await typed(page, "o", until) == ["output"]
    QTest.keyClick(page.editor, Key.Key_Tab)
    QTest.keyClick(page.editor, Key.Key_Tab)
    assert page.editor.selectedText() == "n2"
    assert await typed(page, "0", until) == []
    QTest.keyClick(page.editor, Key.Key_Tab)
    assert page.editor.selectedText() == "1k"
    area._services.shortcuts.trigger("editor.complete")  # in the place of what is selected
    assert [each.text for each in completer.shown] == ["rval"]
    QTest.keyClick(page.editor, Key.Key_Escape)
    assert await typed(page, "rv", until) == ["rval"]
    QTest.keyClick(page.editor, Key.Key_Tab)
    assert line_of(page) == "R2 output 0 {rval}"
    await checked(page, until)
    assert await typed(page, "\nX1 in 0 output ", until) == []  # a blank asks for nothing
    area._services.shortcuts.trigger("editor.complete")
    assert [each.text for each in completer.shown[:2]] == ["amp", "OPAMP_1POLE"]  # of three pins
    QTest.keyClick(page.editor, Key.Key_Return)  # the list was asked for
    assert line_of(page, 7) == "X1 in 0 output amp"
    assert await typed(page, " g", until) == ["gain="]
    QTest.keyClick(page.editor, Key.Key_Tab)
    assert line_of(page, 7) == "X1 in 0 output amp gain=10"
    page.editor.undo()
    assert line_of(page, 7) == "X1 in 0 output amp g"


@settled
async def test_the_list_is_never_in_the_way(
    area: EditorArea, project: Path, opened: Open, until: Until
) -> None:
    page, completer = await at_line(project, opened)
    assert await typed(page, "R2 in out", until) == ["output"]
    QTest.keyClick(page.editor, Key.Key_Return)  # nobody chose a row
    assert (line_of(page), completer.is_open) == ("R2 in out", False)
    assert await typed(page, "R3 in o", until) == ["output"]
    QTest.keyClick(page.editor, Key.Key_Escape)
    assert not completer.is_open
    assert await typed(page, "ut", until) == ["output"]
    QTest.keyClick(page.editor, Key.Key_Down)
    QTest.keyClick(page.editor, Key.Key_Return)
    assert line_of(page, 7) == "R3 in output"
    assert await typed(page, " 4.7k $ out", until) == []  # a comment
    assert await typed(page, "\n* R out", until) == []
    assert await typed(page, "\nC1 in o", until) == ["output"]
    QTest.keyClick(page.editor, Key.Key_Home)
    await until(lambda: not completer.is_open)
    page.editor.go_to(1)
    assert await typed(page, "R1 o", until) == []  # the title


@settled
async def test_what_an_input_method_writes_is_completed_and_several_carets_are_left_alone(
    area: EditorArea, project: Path, opened: Open, until: Until
) -> None:
    page, completer = await at_line(project, opened)
    composing = QInputMethodEvent("ou", [])
    QApplication.sendEvent(page.editor, composing)
    assert not completer.is_open
    commit = QInputMethodEvent()
    commit.setCommitString(".tra")
    QApplication.sendEvent(page.editor, commit)
    await until(lambda: completer.is_open)
    assert [each.text for each in completer.shown] == [".tran"]
    completer.close()
    page.editor.setSelection(4, 6, 4, 12)
    area._services.shortcuts.trigger("editor.next_occurrence")
    page.editor.ask(page.editor.SCI_ADDSELECTION, 0, 0)
    assert await typed(page, "o", until) == []


@settled
async def test_a_library_model_brings_its_include_in_one_step(
    area: EditorArea, project: Path, opened: Open, until: Until
) -> None:
    page, _ = await at_line(project, opened)
    assert "2N3904" in await typed(page, "Q1 in output 0 2n39", until)
    QTest.keyClick(page.editor, Key.Key_Tab)
    assert line_of(page, 2) == ".include 2N3904.lib"
    assert line_of(page, 7) == "Q1 in output 0 2N3904"
    assert page.editor.caret() == (7, 22)
    page.editor.undo()
    assert line_of(page) == "Q1 in output 0 2n39"
    assert "2N3904.lib" not in page.editor.text()


@settled
async def test_an_included_text_that_is_not_saved_counts(
    area: EditorArea, project: Path, opened: Open, until: Until
) -> None:
    page, _ = await at_line(project, opened)
    part: EditorPage = await opened(project / "part.lib", 1)
    part.editor.insert(".subckt ampli a b\nR1 a b 1k\n.ends\n")
    area.show(project / "divider.cir", 6)
    await until(lambda: area.current_page() is page)
    assert (await typed(page, "X1 in 0 am", until))[0] == "amp"
    await checked(page, until)
    page.completer.ask()
    assert [each.text for each in page.completer.shown[:2]] == ["ampli", "amp"]


@settled
async def test_typing_in_a_large_circuit_does_not_hold_the_loop(
    area: EditorArea, project: Path, opened: Open, until: Until, loop_watchdog: LoopWatchdog
) -> None:
    await put(project / "large.cir", large_netlist())
    page: EditorPage = await opened(project / "large.cir", 100)
    page.editor.setFocus()
    async with loop_watchdog.watching():
        for word in ("\nR99 n1", "2 n", "3 {rl", "\nQ88 vc", "c n1 n2 fa"):
            await typed(page, word, until)
            await asyncio.sleep(0.05)
        await checked(page, until)
