"""Goals confirmed and changed by clicks and keys, checkpoints answered by their buttons."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtTest import QTest

from domain.design.catalogue import understand
from presentation.dialogs.goals import GoalsDialog
from presentation.panels.conversation.items import (
    Decision,
    DesignEnd,
    ErrorBlock,
    GoalsCard,
    Note,
    OperationCard,
    SimulationCard,
    Understood,
)
from presentation.panels.conversation.panel import ConversationPanel
from presentation.panels.conversation.plain_view import PlainConversation
from presentation.ui.workspace import AgentStatus, WindowServices
from tests.gui.conftest import Until
from tests.gui.test_conversation_panel import NoWebView, of, shown, top_dialog, type_and_send
from tests.gui.test_plain_view import follow as follow_link
from tests.gui.test_plain_view import links
from tests.unit.design.test_checkpoint_intent import HELD_OUT

SENTENCE = "2nd-order Butterworth low-pass filter, cut-off 10 kHz"


@pytest.fixture
async def panel(services: WindowServices, project: Path, until: Until) -> AsyncIterator[ConversationPanel]:
    services.workspace.root = project
    made = ConversationPanel(services, services.app, probe=NoWebView())  # type: ignore[arg-type]
    made.resize(440, 800)
    made.show()
    made.toggle_mode()
    yield made
    made.close_panel()
    await until(
        lambda: not services.app.program.tasks.handles
    )  # lists and previews that are still being read


def follow(panel: ConversationPanel, link: str) -> None:
    """Click on a link of the messages."""
    assert isinstance(panel.view, PlainConversation)
    follow_link(panel.view, link)


def acts(panel: ConversationPanel) -> set[str]:
    """What can be clicked on in the newest chip."""
    assert isinstance(panel.view, PlainConversation)
    start = f"intent/{of(panel, Understood)[-1].key}/"
    return {link.removeprefix(start) for link in links(panel.view) if link.startswith(start)}


async def goals_dialog(until: Until) -> GoalsDialog:
    await until(lambda: top_dialog("goalsDialog") is not None, timeout_s=30)
    found = top_dialog("goalsDialog")
    assert isinstance(found, GoalsDialog)
    return found


def write(edit: object, text: str) -> None:
    edit.selectAll()  # type: ignore[attr-defined]
    QTest.keyClicks(edit, text)  # type: ignore[arg-type]


async def checkpoint(panel: ConversationPanel, until: Until, number: int) -> Decision:
    def is_there() -> bool:
        found = of(panel, Decision)
        return bool(found) and found[-1].state == "open" and found[-1].number == number

    await until(is_there, timeout_s=30)
    return of(panel, Decision)[-1]


async def test_what_is_written_into_the_rows_is_what_is_designed(
    panel: ConversationPanel, project: Path, until: Until
) -> None:
    type_and_send(panel, SENTENCE)
    dialog = await goals_dialog(until)
    rows = {row.current.metric: row for row in dialog.table.rows}
    assert [rows[name].metric.text() for name in ("cutoff", "peaking")] == ["Corner, −3 dB", "Peaking"]
    assert rows["cutoff"].metric.toolTip() == "cutoff"
    assert rows["cutoff"].words.text() == "“cut-off 10 kHz”"
    assert rows["peaking"].words.text() == "not given, my proposal"
    assert rows["peaking"].words.minimumWidth() >= rows["peaking"].words.sizeHint().width()  # none is cut
    write(rows["cutoff"].limit, "25 kHz")
    assert "changed by you" in rows["cutoff"].words.text()
    QTest.mouseClick(rows["attenuation"].remove, Qt.MouseButton.LeftButton)
    rows["peaking"].wanted.click()
    QTest.mouseClick(dialog.start_button, Qt.MouseButton.LeftButton)
    decision = await checkpoint(panel, until, 1)
    card = of(panel, SimulationCard)[-1]
    assert [verdict.goal.metric for verdict in card.verdicts] == ["cutoff", "passband_gain"]
    assert abs(card.verdicts[0].measured.value / 25e3 - 1) < 0.05
    assert decision.goals_met
    assert len(of(panel, GoalsCard)) == 2  # as read, as confirmed
    panel.view.acted.emit("answer", decision.key, "accept")
    await until(lambda: not panel.is_running, timeout_s=30)
    stored = json.loads(next((project / ".circuit_ai" / "goals").iterdir()).read_text())
    assert [goal["metric"] for goal in stored["goals"]] == ["cutoff", "passband_gain"]


async def test_a_mistake_is_said_at_its_row_and_nothing_can_be_started(
    services: WindowServices, until: Until
) -> None:
    from application.ports.events import GoalsUnderstood

    intent = understand(SENTENCE)
    dialog = GoalsDialog(services, GoalsUnderstood(goals=intent.goals, assumptions=intent.assumptions))
    dialog.show()
    assert dialog.goals == intent.goals
    write(dialog.table.rows[0].limit, "fast")
    assert not dialog.start_button.isEnabled()
    assert dialog.table.rows[0].limit.property("state") == "error"
    assert "Row 1" in dialog._error.text()
    QTest.keyClick(dialog.table.rows[0].limit, Qt.Key.Key_Return)
    assert dialog.isVisible()  # Enter does not start it either
    write(dialog.table.rows[0].limit, "12 kHz")
    assert dialog.start_button.isEnabled()
    for row in dialog.table.rows:
        row.weight.setCurrentIndex(1)
        row.weight.activated.emit(1)
    assert "must be a “must”" in dialog._error.text()
    dialog.table.rows[0].weight.setCurrentIndex(0)
    dialog.table.rows[0].weight.activated.emit(0)
    dialog.add_button.click()
    added = dialog.table.rows[-1]
    assert not dialog.start_button.isEnabled()
    for edit, text in ((added.metric, "swing"), (added.expression, "max(v(out))"), (added.limit, "2 V")):
        write(edit, text)
    assert [goal.metric for goal in dialog.goals][-1] == "swing"
    write(dialog.table.rows[1].metric, "my own name")
    services.language.set("zh")
    assert dialog.start_button.text() == "开始设计"
    assert [row.metric.text() for row in dialog.table.rows[:2]] == ["−3 dB 截止频率", "my own name"]
    assert [goal.metric for goal in dialog.goals][:2] == ["cutoff", "my own name"]
    dialog.reject()


async def test_the_goals_as_text_and_back(services: WindowServices) -> None:
    from application.ports.events import GoalsUnderstood

    intent = understand(SENTENCE)
    dialog = GoalsDialog(services, GoalsUnderstood(goals=intent.goals, assumptions=()))
    dialog.show()
    dialog.text_button.click()
    text = dialog.text.toPlainText()
    dialog.text.setPlainText(text.replace("10 kHz", "15 volts"))
    assert "Line 2" in dialog._error.text()
    assert not dialog.text_button.isEnabled()
    dialog.text.setPlainText(text.replace("10 kHz", "15 kHz"))
    dialog.text_button.click()
    assert dialog.table.rows[0].limit.text() == "15 kHz"
    assert dialog.goals[0].target == 15e3
    assert dialog.goals[1:] == intent.goals[1:]
    dialog.reject()


async def test_goals_changed_at_a_checkpoint_then_taken_back(
    panel: ConversationPanel, project: Path, until: Until, services: WindowServices
) -> None:
    accepted: list[bool] = []
    told: list[AgentStatus] = []
    services.workspace.changes_accepted.connect(lambda: accepted.append(True))
    services.workspace.agent_status_changed.connect(told.append)
    type_and_send(panel, SENTENCE)
    (await goals_dialog(until)).start_button.click()
    first = await checkpoint(panel, until, 1)
    assert first.choices == ("accept", "continue", "goals", "undo", "stop")
    assert (told[-1].state, told[-1].round_number, told[-1].most_rounds) == ("waiting", 1, 8)
    circuit = project / of(panel, SimulationCard)[-1].path
    before = circuit.read_text()

    panel.view.acted.emit("answer", first.key, "goals")
    dialog = await goals_dialog(until)
    QTest.keyClick(dialog, Qt.Key.Key_Escape)  # thought better of it: the question is open still
    await until(lambda: top_dialog("goalsDialog") is None and panel.model.is_asking)
    assert panel.model.items.get(first.key).state == "open"
    panel.view.acted.emit("answer", first.key, "goals")
    dialog = await goals_dialog(until)
    write(dialog.table.rows[0].limit, "20 kHz")
    dialog.start_button.click()
    second = await checkpoint(panel, until, 2)
    assert panel.model.items.get(first.key).answer == "goals"
    assert second.goals_met
    assert circuit.read_text() != before

    panel.view.acted.emit("answer", second.key, "undo")
    again = await checkpoint(panel, until, 1)
    assert circuit.read_text() == before
    await until(lambda: of(panel, OperationCard)[-1].standing == "undone")
    assert "Reverted round 2" in shown(panel)
    assert not accepted
    panel.view.acted.emit("answer", again.key, "accept")
    await until(lambda: not panel.is_running, timeout_s=30)
    assert of(panel, DesignEnd)[-1].done.goals_met
    assert accepted == [True]
    assert told[-1].state == "idle"
    asked = panel.model.session_id
    panel.model.new_conversation()
    panel.model.transcript.open(asked)
    await until(lambda: "Reverted round 2" in shown(panel))
    words = next(n for n, item in enumerate(panel.model.items) if "Reverted round 2" in str(item))
    assert isinstance(list(panel.model.items)[words - 1], GoalsCard)  # as it stood there live


@pytest.mark.parametrize("text", ["change the cutoff to 12 kHz", "截止频率改为 12 kHz", "12 kHz please"])
async def test_a_change_of_goals_said_at_a_checkpoint_begins_the_next_round(
    panel: ConversationPanel, until: Until, text: str
) -> None:
    type_and_send(panel, SENTENCE)
    (await goals_dialog(until)).start_button.click()
    first = await checkpoint(panel, until, 1)
    session = panel.model.session_id
    type_and_send(panel, text)
    second = await checkpoint(panel, until, 2)
    assert panel.model.items.get(first.key).answer == "goals"
    assert panel.model.session_id == session
    cutoff = of(panel, SimulationCard)[-1].verdicts[0]
    assert cutoff.goal.target == 12e3
    assert abs(cutoff.measured.value / 12e3 - 1) < 0.05
    assert panel.composer.text == panel.model.draft == ""
    panel.view.acted.emit("answer", second.key, "accept")
    await until(lambda: not panel.is_running, timeout_s=30)
    panel.model.new_conversation()
    panel.model.transcript.open(session)
    await until(lambda: text in shown(panel))  # said in the conversation, so kept in it


async def test_questions_and_instructions_leave_the_design_at_its_checkpoint(
    panel: ConversationPanel, project: Path, until: Until
) -> None:
    type_and_send(panel, SENTENCE)
    (await goals_dialog(until)).start_button.click()
    first = await checkpoint(panel, until, 1)
    session, circuit = panel.model.session_id, project / of(panel, SimulationCard)[-1].path
    type_and_send(panel, "why is that?")
    assert "Understood: a question" in shown(panel)
    await until(lambda: len(of(panel, Decision)) == 2)
    assert of(panel, Decision)[-1].number == first.number  # it was answered, and no round was made of it
    type_and_send(panel, "hm, nice weather")
    assert "No change of the goals was found" in shown(panel)
    assert len(of(panel, Decision)) == 2
    type_and_send(panel, "把 R1a 改成 4k")
    await checkpoint(panel, until, 2)
    assert "R1a in a1 4k" in circuit.read_text()
    type_and_send(panel, "回到第一轮")
    assert "R1a in a1 4k" in circuit.read_text()  # by words alone nothing is taken back
    follow(panel, f"intent/{of(panel, Understood)[-1].key}/go_back")
    await until(lambda: len(of(panel, Decision)) == 4)
    assert "R1a in a1 3.4k" in circuit.read_text()
    type_and_send(panel, "accept")
    follow(panel, f"intent/{of(panel, Understood)[-1].key}/accept")
    await until(lambda: not panel.is_running, timeout_s=30)
    assert of(panel, DesignEnd)[-1].done.goals_met
    panel.model.new_conversation()
    panel.model.transcript.open(session)
    for text in ("why is that?", "hm, nice weather", "把 R1a 改成 4k", "回到第一轮"):
        await until(lambda said=text: shown(panel).count(said) == 1)


@pytest.mark.timeout(180)
@pytest.mark.parametrize("texts", [HELD_OUT[::4], pytest.param(HELD_OUT, marks=pytest.mark.torture)])
async def test_texts_at_a_checkpoint_lose_neither_design_nor_text(
    panel: ConversationPanel, project: Path, until: Until, texts: list[tuple[str, str, str]]
) -> None:
    type_and_send(panel, SENTENCE)
    (await goals_dialog(until)).start_button.click()
    await checkpoint(panel, until, 1)
    session, first = panel.model.session_id, [item.key for item in panel.model.items]
    circuit = project / of(panel, SimulationCard)[-1].path
    behind: list[str] = []  # the last answer: a choice among them says nothing when the design is left
    for text, _, _ in texts:
        asked = len(of(panel, Decision))
        type_and_send(panel, text)
        chip = of(panel, Understood)[-1]
        assert chip.intent.text == text
        if chip.intent.kind == "goals" and not (chip.changed or chip.intent.told):
            (await goals_dialog(until)).reject()
        elif chip.state == "taken" and chip.intent.kind != "unclear":
            await until(lambda known=asked: len(of(panel, Decision)) > known, timeout_s=30)
            behind = []
        else:
            assert len(of(panel, Decision)) == asked
            behind.append(text)
        await until(lambda: panel.model.is_asking)
        assert of(panel, Decision)[-1].state == "open"
        assert panel.composer.text == ""
    assert not of(panel, ErrorBlock)
    assert not of(panel, DesignEnd)
    assert panel.model.session_id == session
    assert circuit.is_file()
    assert all(panel.model.items.get(key) is not None for key in first)
    type_and_send(panel, "hmm, well")
    type_and_send(panel, "stop here")  # it says no more than a button would
    left = [text for text in panel.model.asking.unsaid.split("\n") if text]
    assert left[-1] == "hmm, well"
    assert panel.stop()  # what nothing has taken along is the user's again
    await until(lambda: not panel.is_running)
    assert panel.composer.text == "\n".join(left)
    assert not acts(panel)
    panel.model.new_conversation()
    panel.model.transcript.open(session)
    said = {text for text, _, _ in texts}.difference(left, behind)
    assert len(said) > len(texts) * 3 // 4
    await until(lambda: all(text in shown(panel) for text in said))


async def test_what_ends_a_design_waits_for_a_click_and_can_be_corrected(
    panel: ConversationPanel, project: Path, until: Until, services: WindowServices
) -> None:
    accepted: list[bool] = []
    services.workspace.changes_accepted.connect(lambda: accepted.append(True))
    type_and_send(panel, SENTENCE)
    (await goals_dialog(until)).start_button.click()
    first = await checkpoint(panel, until, 1)
    type_and_send(panel, "stop here")
    assert "Understood: stop here" in shown(panel)
    assert "nothing is done before you answer" in shown(panel)
    assert acts(panel) == {"stop"}
    follow(panel, f"fold/{of(panel, Understood)[-1].key}/others")
    assert {"continue", "optimize", "goals", "accept", "undo", "stop"} <= acts(panel)
    assert panel.model.is_asking
    type_and_send(panel, "next round")  # another text: the chip of before is history, this one goes at once
    await until(lambda: len(of(panel, Decision)) == 2)  # with nothing to gain it is asked again
    second = of(panel, Decision)[-1]
    assert panel.model.items.get(first.key).answer == "continue"
    assert [chip.state for chip in of(panel, Understood)] == ["dropped", "taken"]
    assert "Understood: stop here (not done)" in shown(panel)
    assert "Understood: another round" in shown(panel)
    services.language.set("zh")
    follow(panel, f"fold/{of(panel, Understood)[-1].key}/others")
    assert "已理解：再做一轮" in shown(panel)
    assert "接受设计" in shown(panel)
    services.language.set("en")
    follow(panel, f"intent/{of(panel, Understood)[-1].key}/accept")  # it was not another round that was meant
    await until(lambda: not panel.is_running, timeout_s=30)
    assert panel.model.items.get(second.key).answer == "accept"
    assert of(panel, DesignEnd)[-1].done.stop_reason == "goals_met"
    assert accepted == [True]
    assert of(panel, Understood)[-1].state == "closed"


async def test_a_correction_while_the_round_runs_answers_the_next_checkpoint(
    panel: ConversationPanel, until: Until
) -> None:
    type_and_send(panel, SENTENCE)
    (await goals_dialog(until)).start_button.click()
    await checkpoint(panel, until, 1)
    type_and_send(panel, "cutoff 12 kHz")
    chip = of(panel, Understood)[-1]
    assert [goal.target for goal in chip.changed] == [12e3]
    assert "Understood: change the goals: Corner, −3 dB 12 kHz" in shown(panel)
    panel.view.acted.emit("intent", chip.key, "undo")
    assert "(at the next checkpoint)" in shown(panel)
    again = await checkpoint(panel, until, 1)
    cutoff = of(panel, GoalsCard)[-1].goals[0]
    assert cutoff.target == 10e3
    panel.view.acted.emit("answer", again.key, "accept")
    await until(lambda: not panel.is_running, timeout_s=30)
    assert panel.composer.text == ""


async def test_a_design_stopped_at_its_checkpoint_takes_the_next_message(
    panel: ConversationPanel, until: Until
) -> None:
    type_and_send(panel, SENTENCE)
    (await goals_dialog(until)).start_button.click()
    first = await checkpoint(panel, until, 1)
    session = panel.model.session_id
    assert panel.stop()
    await until(lambda: not panel.is_running)
    assert panel.model.items.get(first.key).state == "waits"
    assert "the design waits here" in shown(panel)
    type_and_send(panel, "cutoff 20 kHz")
    second = await checkpoint(panel, until, 2)
    assert panel.model.session_id == session
    assert of(panel, SimulationCard)[-1].verdicts[0].goal.target == 20e3
    panel.view.acted.emit("answer", second.key, "accept")
    await until(lambda: not panel.is_running, timeout_s=30)


def circuits_in(project: Path) -> list[Path]:
    return sorted(project.glob("*.cir"))


async def test_a_message_behind_an_accepted_design_refines_it(
    panel: ConversationPanel, project: Path, until: Until
) -> None:
    type_and_send(panel, SENTENCE)
    (await goals_dialog(until)).start_button.click()
    first = await checkpoint(panel, until, 1)
    panel.view.acted.emit("answer", first.key, "accept")
    await until(lambda: not panel.is_running, timeout_s=30)
    session, circuit = panel.model.session_id, project / of(panel, SimulationCard)[-1].path
    before, files = circuit.read_text(), circuits_in(project)

    type_and_send(panel, "make it nicer")  # neither a circuit nor a change: it is the user's again
    await until(lambda: "Neither a circuit nor" in shown(panel))
    assert panel.composer.text == "make it nicer"
    assert not panel.is_running

    panel.model.new_conversation()
    panel.model.transcript.open(session)  # and also when the conversation comes from the disk
    await until(lambda: panel.model.session_id == session)
    type_and_send(panel, "change the cutoff to 12 kHz")
    again = await checkpoint(panel, until, 1)
    assert panel.model.session_id == session
    assert top_dialog("goalsDialog") is None
    assert of(panel, SimulationCard)[-1].verdicts[0].goal.target == 12e3
    assert of(panel, SimulationCard)[-1].verdicts[0].met
    assert circuit.read_text() != before
    assert circuits_in(project) == files
    goals = json.loads((project / ".circuit_ai" / "goals" / f"{circuit.name}.json").read_text())
    assert goals["goals"][0]["target"] == 12e3
    panel.view.acted.emit("answer", again.key, "undo")
    await until(lambda: not panel.is_running, timeout_s=30)
    assert circuit.read_text() == before
    goals = json.loads((project / ".circuit_ai" / "goals" / f"{circuit.name}.json").read_text())
    assert goals["goals"][0]["target"] == 10e3
    # A sentence of its own begins another design, in a conversation of its own.
    type_and_send(panel, "RC low-pass filter with a cutoff of 3 kHz")
    dialog = await goals_dialog(until)
    assert panel.model.session_id != session
    assert first.key not in [item.key for item in panel.model.items]
    dialog.reject()  # nothing was designed there: what is said next is of the design there is
    await until(lambda: not panel.is_running and panel.model.session_id == session, timeout_s=30)
    await until(lambda: "change the cutoff to 12 kHz" in shown(panel))
    # In free work the same is answered as there, and one click gives it to the design.
    panel.toggle_mode()
    type_and_send(panel, "use E12 resistors")
    await until(lambda: any(note.change for note in of(panel, Note)), timeout_s=30)
    follow(panel, f"change_design/{of(panel, Note)[-1].key}")
    await checkpoint(panel, until, 1)
    assert panel.model.session_id == session
    assert not any(note.change for note in of(panel, Note))
    assert circuit.read_text() != before


async def test_stopping_closes_the_goals_dialog(panel: ConversationPanel, until: Until) -> None:
    type_and_send(panel, SENTENCE)
    await goals_dialog(until)
    assert panel.stop()
    await until(lambda: not panel.is_running)
    await until(lambda: top_dialog("goalsDialog") is None)
