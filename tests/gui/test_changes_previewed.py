"""What a change would do, beside the button that accepts it and dashed in the plot: real widgets and runs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtGui import QAction
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QMenu, QPushButton

from application.project.editing import version_of
from application.simulation.simulating import SimulationRequest
from domain.simulation.goals import DesignGoal
from presentation.panels.conversation.items import Confirmation
from presentation.panels.conversation.panel import ConversationPanel
from presentation.panels.editor.text_changes import TextEdit
from presentation.panels.preview_strip import PreviewStrip
from presentation.panels.waveforms.traces import Trace
from presentation.ui.workspace import WindowServices
from presentation.window.panels import Parts
from tests.fakes.llm_server import FakeLLMServer, answer, call
from tests.gui.circuits_with_goals import opened
from tests.gui.conftest import Until
from tests.gui.test_conversation_panel import NoWebView, of, shown, type_and_send, use

FILTER = "* RC low pass\nV1 in 0 AC 1\nR1 in out 1k\nC1 out 0 100n\n.ac dec 40 10 1meg\n.end\n"
GOAL = DesignGoal(metric="fc", expression="bandwidth(v(out))", unit="Hz", minimum=1500.0, maximum=1700.0)
DC = DesignGoal(metric="dc", expression="db(dcgain(v(out)))", unit="dB", minimum=-1.0)


@pytest.fixture
async def circuit(services: WindowServices, tmp_path: Path) -> Path:
    return await opened(services, tmp_path / "filter", "rc.cir", FILTER, [GOAL, DC])


@pytest.fixture
async def parts(services: WindowServices, circuit: Path, until: Until) -> AsyncIterator[Parts]:
    """The editor with the circuit in front, and its run in the plot."""
    made = Parts(services, services.app)
    made.editor.resize(1200, 700)
    made.editor.show()
    made.runs.waveforms.resize(900, 400)
    made.runs.waveforms.show()
    made.previews._timer.setInterval(20)
    made.editor.show_file(circuit, 3, 1)
    result = await services.app.simulation.run(SimulationRequest(circuit=circuit))
    services.workspace.result_selected.emit(result.result_path)
    await until(lambda: bool(made.runs.waveforms.traces))
    await until(lambda: made.editor.page_of(circuit) is not None)
    yield made
    await until(lambda: not services.app.program.tasks.handles)


def dashed(parts: Parts) -> list[Trace]:
    """What the plot draws of a change."""
    area = parts.runs.waveforms.area
    drawn = [] if area is None else [trace for pane in area.panes for trace, _, _ in pane.lines]
    return list(dict.fromkeys(trace for trace in drawn if trace.is_preview))


def all_in(root: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in root.rglob("*.cir")}


@pytest.fixture
async def panel(parts: Parts, until: Until) -> AsyncIterator[ConversationPanel]:
    made = ConversationPanel(parts.services, parts.app, probe=NoWebView())  # type: ignore[arg-type]
    made.resize(440, 800)
    made.show()
    yield made
    made.close_panel()
    await until(lambda: not parts.app.program.tasks.handles)


@pytest.mark.timeout(240)
async def test_a_card_says_what_its_calls_would_do_and_the_plot_draws_it(
    parts: Parts, panel: ConversationPanel, circuit: Path, until: Until
) -> None:
    def rewritten(r1: str) -> list[dict[str, object]]:
        text = FILTER.replace("out 1k", f"out {r1}")
        return [call("rewrite_file", {"path": "rc.cir", "content": text})]

    def card(state: str) -> Confirmation | None:
        return next((each for each in of(panel, Confirmation) if each.state == state), None)

    def preview_state() -> str:
        item = card("open")
        return "" if item is None or item.preview is None else item.preview.state

    program, files = parts.app.program, all_in(circuit.parent)
    answers = [
        answer("", calls=rewritten("2k")),
        answer("Well."),
        answer("", calls=rewritten("{oops}")),
        answer("", calls=[call("delete_file", {"path": "part.inc"})]),
        answer("", calls=rewritten("1.05k")),
        answer("Done."),
    ]
    with FakeLLMServer(answers) as server:
        use(panel, server)
        type_and_send(panel, "Lower it.")
        await until(lambda: preview_state() == "done", timeout_s=60)
        text = shown(panel).replace("\N{NO-BREAK SPACE}", " ")
        assert "With this change:" in text
        assert "fc 1.592 kHz → 795.9 Hz ✗ lost (1.5 kHz … 1.7 kHz)" in text
        assert "dc 0.000 dB → −0.001 dB ✓" in text
        await until(lambda: bool(dashed(parts)), timeout_s=60)
        (trace,) = dashed(parts)
        assert trace.expression == "v(out)"
        assert "Dashed" in parts.runs.waveforms._note.text
        parts.services.language.set("zh")
        assert "不再达标" in shown(panel)
        parts.services.language.set("en")

        # Refused it is gone without a trace.
        open_card = card("open")
        assert open_card is not None
        panel.view.acted.emit("confirm", open_card.key, "refuse")
        await until(lambda: not panel.is_running and not dashed(parts), timeout_s=60)
        assert parts.runs.waveforms._note.isHidden()
        assert "With this change:" not in shown(panel)
        assert all_in(circuit.parent) == files

        # What would not simulate any more says why.
        type_and_send(panel, "Break it.")
        await until(lambda: preview_state() == "done", timeout_s=60)
        assert "does not simulate any more:" in shown(panel)
        assert not dashed(parts)
        panel.model.stop()
        await until(lambda: not panel.is_running, timeout_s=60)

        # Who reads a file that is to go is named, also a circuit that nobody looks at.
        (circuit.parent / "part.inc").write_text("C1 out 0 100n\n")
        other = FILTER.replace("C1 out 0 100n", ".include part.inc")
        (circuit.parent / "other.cir").write_text(other)
        type_and_send(panel, "Tidy up.")
        await until(lambda: preview_state() == "done", timeout_s=60)
        assert "other.cir:" in shown(panel)
        assert "does not simulate any more:" in shown(panel).rpartition("other.cir:")[2]
        panel.model.stop()
        await until(lambda: not panel.is_running, timeout_s=60)

        # Where it is not to be done unasked there is a button; then it is done all the same.
        await program.preferences.set("preview_changes", value=False)
        type_and_send(panel, "A little.")
        await until(lambda: preview_state() == "asks", timeout_s=60)
        assert "Preview" in shown(panel)
        assert not dashed(parts)
        open_card = card("open")
        assert open_card is not None
        panel.view.acted.emit("preview", open_card.key, "")
        await until(lambda: preview_state() == "done" and bool(dashed(parts)), timeout_s=60)
        assert "→ 1.516 kHz ✓" in shown(panel).replace("\N{NO-BREAK SPACE}", " ")
        panel.view.acted.emit("confirm", open_card.key, "allow")
        await until(lambda: not panel.is_running and not dashed(parts), timeout_s=60)
        assert b"1.05k" in all_in(circuit.parent)[circuit]


def words(strip: PreviewStrip) -> str:
    """What a strip says, without its markup."""
    return strip.words.accessibleName().replace("\N{NO-BREAK SPACE}", " ") if strip.isVisible() else ""


@pytest.mark.timeout(240)
async def test_nearby_values_and_quick_fixes_are_tried_out_before_they_are_taken(
    parts: Parts, circuit: Path, until: Until
) -> None:
    page = parts.editor.page_of(circuit)
    assert page is not None
    editor, trying = page.editor, page.trying
    strip = trying.strip

    def opened_menu() -> tuple[QMenu, dict[str, QAction]]:
        menu = QMenu(editor)
        editor.menu_opens.emit(menu, FILTER.index("1k"))
        return menu, {action.text(): action for action in menu.actions()}

    # Pointed at in the menu: its row and its curve; pointed away: nothing of it.
    menu, rows = opened_menu()
    up, down = rows["Next E24 value up: 1.1k"], rows["Next E24 value down: 910"]
    menu.setActiveAction(up)
    menu.hovered.emit(up)
    await until(lambda: "fc" in words(strip) and bool(dashed(parts)), timeout_s=60)
    assert words(strip).startswith("fc 1.592 kHz → 1.447 kHz ✗ lost (1.5 kHz … 1.7 kHz), dc")
    assert "1.1k" in strip.accessibleName()
    assert "1.447" in up.text()
    menu.hovered.emit(down)
    assert not dashed(parts) or not strip.isVisible()
    await until(lambda: "1.749 kHz" in words(strip), timeout_s=60)
    menu.aboutToHide.emit()
    await until(lambda: not strip.isVisible() and not dashed(parts))
    assert editor.text() == FILTER
    assert not page.is_dirty
    up.trigger()
    assert editor.text() == FILTER.replace("1k", "1.1k")
    editor.undo()
    assert editor.data() == FILTER.encode()
    assert not page.is_dirty

    # Somebody types: it goes.
    menu, rows = opened_menu()
    menu.hovered.emit(rows["Next E24 value up: 1.1k"])
    await until(lambda: "fc" in words(strip), timeout_s=60)
    QTest.keyClicks(editor, "*")
    assert not strip.isVisible()
    assert trying.choice is None
    editor.undo()

    # What is not done unasked is offered in the menu, and stays below the text when the menu is gone.
    await parts.app.program.preferences.set("preview_changes", value=False)
    menu, rows = opened_menu()
    up = rows["Next E24 value up: 1.1k"]
    menu.setActiveAction(up)
    menu.hovered.emit(up)
    name = f"preview:{FILTER.index('1k')}:1.1k"
    await until(lambda: menu.findChild(QAction, name) is not None, timeout_s=60)
    row = menu.findChild(QAction, name)
    assert row is not None
    row.trigger()
    menu.aboutToHide.emit()
    await until(lambda: "1.447 kHz" in words(strip), timeout_s=60)
    QTest.keyClick(strip, Qt.Key.Key_Escape)
    assert not strip.isVisible()
    await parts.app.program.preferences.set("preview_changes", value=True)

    # The fix behind a line: with it the goals are what they were.
    editor.apply((TextEdit(FILTER.index("1k"), FILTER.index("1k") + 2, b"{rr}"),))
    await until(lambda: any(each.fix is not None for each in page.examination.problems), timeout_s=60)
    problem = next(each for each in page.examination.problems if each.fix is not None)
    editor.fix_hovered.emit(problem)
    await until(lambda: words(strip).startswith("simulates again"), timeout_s=60)
    button = strip.findChild(QPushButton, "tryingOut_apply")
    assert button is not None
    button.click()
    assert ".param rr=1" in editor.text()
    assert not strip.isVisible()
    editor.undo()
    editor.undo()
    assert editor.data() == FILTER.encode()
    assert all_in(circuit.parent) == {circuit: FILTER.encode()}


@pytest.mark.timeout(240)
async def test_a_change_of_a_model_says_what_undoing_it_would_do(
    parts: Parts, circuit: Path, until: Until
) -> None:
    page = parts.editor.page_of(circuit)
    assert page is not None
    strip = page.review.preview.strip
    changed = FILTER.replace("1k", "2k").replace("C1", "* a note\nC1")
    record = await parts.app.project.operations.rewrite(
        circuit.parent, {circuit: changed.encode()}, expected={circuit: version_of(FILTER.encode())},
        tool="patch_file",
    )  # fmt: skip
    workspace = parts.services.workspace
    workspace.file_changed.emit(circuit)
    workspace.change_made.emit(circuit, record.op_id)
    await until(lambda: "fc" in words(strip), timeout_s=60)
    assert "fc 795.9 Hz → 1.592 kHz ✓ now met" in words(strip)
    assert "Undo" in strip.accessibleName()
    await until(lambda: bool(dashed(parts)), timeout_s=60)
    assert "Dashed: if undone." in parts.runs.waveforms._note.text
    page.review.keep_all()
    await until(lambda: not strip.isVisible() and not dashed(parts))
