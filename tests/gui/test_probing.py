"""Probing without a drawing: Alt+P in the text, menus of the text and the outline, a reference node."""

from __future__ import annotations

import pytest
from PyQt6.QtCore import QPoint, Qt
from PyQt6.QtGui import QContextMenuEvent
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QApplication, QMenu

from tests.gui.test_which_circuit import Bench, bench

__all__ = ["bench"]

STAGE = """* one stage
.model qn npn(bf=100)
VCC vcc 0 9
VIN in 0 DC 0 SIN(0 5m 1k)
X1 in c vcc stage
RL c 0 100k
.tran 10u 2m
.subckt stage a k s
CIN a b 1u
R1 s b 47k
R2 b 0 12k
RC s k 2.2k
RE e 0 680
Q1 k b e qn
.ends
.end
"""


@pytest.fixture
async def stage(bench: Bench) -> Bench:
    path = bench.root / "stage.cir"
    path.write_text(STAGE)
    bench.services.workspace.file_changed.emit(path)
    await bench.front("stage.cir")
    page = bench.window.parts.editor.current_page()
    assert page is not None
    assert page.completer is not None
    await bench.until(lambda: page.completer.facts.names is not None)
    return bench


def drawn(bench: Bench) -> list[str]:
    return [trace.expression for trace in bench.window.parts.runs.waveforms.traces]


async def put_caret(bench: Bench, line: int, word: str) -> None:
    page = bench.window.parts.editor.current_page()
    text = page.editor.text().split("\n")[line - 1]
    page.editor.go_to(line, text.index(word) + 1)
    page.editor.setFocus()


async def test_what_is_at_the_caret_is_plotted(stage: Bench) -> None:
    page = stage.window.parts.editor.current_page()
    told: list[str] = []
    stage.services.workspace.status_changed.connect(lambda message: told.append(str(message)))
    await put_caret(stage, 6, "100k")
    QTest.keyClick(page.editor, Qt.Key.Key_P, Qt.KeyboardModifier.AltModifier)
    await stage.until(lambda: any("has no result yet: F5 runs it and plots i(rl)" in each for each in told))
    stage.services.workspace.run_requested.emit()
    await stage.until(lambda: "i(rl)" in drawn(stage))
    for line, word, expression in (
        (3, "vcc", "v(vcc)"), (9, "b", "v(x1.b)"), (9, "a", "v(in)"), (14, "Q1", "ic(x1.q1)"),
        (12, "2.2k", "i(x1.rc)"), (5, "X1", "p(x1)"), (4, "SIN", "i(vin)"),
    ):  # fmt: skip
        await put_caret(stage, line, word)
        QTest.keyClick(page.editor, Qt.Key.Key_P, Qt.KeyboardModifier.AltModifier)
        await stage.until(lambda wanted=expression: wanted in drawn(stage))
    traces = {trace.expression: trace for trace in stage.window.parts.runs.waveforms.traces}
    assert {curve.pane.unit for curve in traces["p(x1)"].curves} == {"W"}
    assert {curve.pane.unit for curve in traces["ic(x1.q1)"].curves} == {"A"}
    await put_caret(stage, 2, "model")
    QTest.keyClick(page.editor, Qt.Key.Key_P, Qt.KeyboardModifier.AltModifier)
    await stage.until(lambda: any("no node or element here" in each for each in told))


async def test_menus_of_text_and_outline_plot(stage: Bench) -> None:
    stage.services.workspace.run_requested.emit()
    await stage.until(lambda: drawn(stage))
    page = stage.window.parts.editor.current_page()
    await put_caret(stage, 6, "RL")
    menu = await opened_menu(stage, lambda: ask_for_menu(page.editor))
    assert [action.text() for action in menu.actions()][:2] == ["Plot current of RL", "Plot power of RL"]
    menu.actions()[1].trigger()
    await stage.until(lambda: "p(rl)" in drawn(stage))
    menu.close()

    await put_caret(stage, 6, "c")
    menu = await opened_menu(stage, lambda: ask_for_menu(page.editor))
    action = next(each for each in menu.actions() if each.text() == "Use c as reference node")
    action.trigger()
    await stage.until(lambda: stage.services.workspace.reference_node == "c")
    menu.close()
    await put_caret(stage, 3, "vcc")
    QTest.keyClick(page.editor, Qt.Key.Key_P, Qt.KeyboardModifier.AltModifier)
    await stage.until(lambda: "v(vcc,c)" in drawn(stage))
    menu = await opened_menu(stage, lambda: ask_for_menu(page.editor))
    action = next(each for each in menu.actions() if each.text() == "Use ground as reference node again")
    action.trigger()
    assert stage.services.workspace.reference_node == ""
    menu.close()

    outline = stage.window.parts.outline
    await stage.until(lambda: "RL" in outline.names)
    outline.view.expandAll()
    index = row_of(outline, "vcc")
    outline.view.scrollTo(index)
    place = outline.view.visualRect(index).center()
    QTest.mouseClick(outline.view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    QTest.keyClick(stage.window.focusWidget(), Qt.Key.Key_Space)  # not into the text
    await stage.until(lambda: "v(vcc)" in drawn(stage))
    index = row_of(outline, "Q1")
    outline.view.setCurrentIndex(index)
    outline.view.setFocus()
    QTest.keyClick(outline.view, Qt.Key.Key_Space)
    await stage.until(lambda: "ic(x1.q1)" in drawn(stage))
    place = outline.view.visualRect(index).center()
    menu = await opened_menu(stage, lambda: outline.view.customContextMenuRequested.emit(QPoint(place)))
    assert [each.text() for each in menu.actions()] == [
        "Go to line",
        "Plot current of Q1",
        "Plot power of Q1",
    ]
    menu.actions()[2].trigger()
    await stage.until(lambda: "p(x1.q1)" in drawn(stage))
    menu.close()


def ask_for_menu(editor) -> None:
    """As its key does."""
    place = QPoint(20, 20)
    event = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, place, editor.mapToGlobal(place))
    QApplication.sendEvent(editor, event)


def row_of(outline, name):
    model = outline.model
    for row in range(model.rowCount()):
        top = model.item(row)
        for child in range(top.rowCount()):
            if top.child(child).text() == name:
                return top.child(child).index()
    raise AssertionError(name)


async def opened_menu(bench: Bench, act) -> QMenu:
    act()
    await bench.until(shown_menu)
    menu = shown_menu()
    assert menu is not None
    return menu


def shown_menu() -> QMenu | None:
    return next(
        (each for each in QApplication.topLevelWidgets() if isinstance(each, QMenu) and each.isVisible()),
        None,
    )


def test_a_reference_is_for_plain_voltages_only() -> None:
    from presentation.panels.run_views import against

    assert against("v(out)", "ref") == "v(out,ref)"
    assert against("v(ref)", "ref") == "v(ref)"
    assert against("v(a,b)", "ref") == "v(a,b)"
    assert against("i(r1)", "ref") == "i(r1)"
    assert against("v(out)", "") == "v(out)"


async def test_the_operating_point_stands_behind_the_lines(stage: Bench) -> None:
    page = stage.window.parts.editor.current_page()
    page.editor.setFocus()
    alt = Qt.KeyboardModifier.AltModifier
    QTest.keyClick(page.editor, Qt.Key.Key_O, alt)
    await stage.until(lambda: 0 in page.editor.hints)
    assert page.editor.hints[0].text == "No operating point yet: F5 simulates the circuit."
    stage.services.workspace.run_requested.emit()
    await stage.until(lambda: len(page.editor.hints) > 5)
    words = {line + 1: hint.text.replace("\u00a0", " ") for line, hint in page.editor.hints.items()}
    assert words[1] == "Operating point of run 1"
    workspace = stage.services.workspace
    assert await workspace.newest.of(workspace.run_target.with_name("other.cir")) is None, "not another's"
    assert words[3].startswith("9.00 V  −")  # the supply delivers
    assert words[3].endswith("mW")
    assert words[6].endswith("W")
    assert words[14].startswith("x1:  IC ")
    assert "VBE 782 mV" in words[14]
    assert "active" in words[14]
    assert words[9].startswith("x1:  −")  # of a capacitor its voltage alone
    assert words[9].endswith("V")
    assert not page.editor.are_hints_stale
    for mode in ("dark", "light"):
        stage.services.theme.set_mode(mode)
        assert not page.editor.grab().isNull()
    page.editor.go_to(2, 1)
    QTest.keyClicks(page.editor, "*")
    assert page.editor.are_hints_stale
    await stage.until(lambda: "older text" in page.editor.hints[0].text)
    assert page.editor.are_hints_stale
    assert 2 in page.editor.hints  # all else stays, and follows its lines
    QTest.keyClick(page.editor, Qt.Key.Key_O, alt)
    assert not page.editor.hints
    page.editor.undo()
    page.point_hints.set_on(is_on=True)
    told: list[object] = []
    workspace.error_occurred.connect(told.append)
    stage.window.parts.editor.close_page(page)
    runs = len(stage.results)
    workspace.circuit_run_requested.emit(page.path)
    await stage.until(lambda: len(stage.results) > runs)
    await stage.settled()
    assert not told, "the editor is gone, and its figures with it"


async def test_traces_are_found_in_the_text_and_laid_on_each_other(stage: Bench) -> None:
    stage.services.workspace.run_requested.emit()
    await stage.until(lambda: drawn(stage))
    panel = stage.window.parts.runs.waveforms
    page = stage.window.parts.editor.current_page()
    for expression in ("v(in)", "ic(x1.q1)", "v(x1.b)"):
        panel.add_trace(expression)
        await stage.until(lambda wanted=expression: wanted in drawn(stage))

    def chip(expression):
        return next(each for each in panel.chips.chips if each.text() == expression)

    for expression, modifier, line in (
        ("ic(x1.q1)", Qt.KeyboardModifier.ShiftModifier, 14),
        ("v(x1.b)", Qt.KeyboardModifier.AltModifier, 9),
        ("v(in)", Qt.KeyboardModifier.ShiftModifier, 4),
    ):
        QTest.mouseClick(chip(expression), Qt.MouseButton.LeftButton, modifier, QPoint(6, 6))
        await stage.until(lambda wanted=line: page.editor.caret()[0] == wanted)
        assert not chip(expression).isChecked()
    menu = await opened_menu(stage, lambda: panel.chips.menu_wanted.emit("v(x1.b)", QPoint(50, 50)))
    next(each for each in menu.actions() if each.text() == "Where it is in the circuit").trigger()
    await stage.until(lambda: page.editor.caret()[0] == 9)
    menu.close()
    line = page.editor.text().split("\n")[8]
    start = page.editor.positionFromLineIndex(8, line.index(" b ") + 1)
    await stage.until(lambda: page.editor.ask(page.editor.SCI_INDICATORVALUEAT, 13, start) == 1)
    await stage.until(lambda: page.editor.ask(page.editor.SCI_INDICATORVALUEAT, 13, start) == 0)

    one, other = chip("v(c)"), chip("v(in)")
    target = one.mapFromGlobal(other.mapToGlobal(other.rect().center()))
    QTest.mousePress(one, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, QPoint(6, 6))
    QTest.mouseMove(one, target)
    QTest.mouseRelease(one, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, target)
    await stage.until(lambda: "v(c)-v(in)" in drawn(stage))
