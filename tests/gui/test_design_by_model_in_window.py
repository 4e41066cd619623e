"""A design by a language model in the whole window, and changing between it and free work at any rest."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PyQt6.QtCore import QItemSelectionModel, Qt
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QPushButton, QTableView

from domain.llm.chat import ProviderChoice
from domain.llm.prompts.catalogue import TASKS
from infrastructure.llm_adapters.timing import RetryPolicy
from presentation.dialogs.goals import GoalsDialog
from presentation.dialogs.prompt_editor.dialog import PromptSettingsDialog
from presentation.panels.conversation.html_view import HtmlItems
from presentation.panels.conversation.items import (
    AnswerText,
    Decision,
    DesignEnd,
    ErrorBlock,
    GoalsCard,
    Interrupted,
    Narration,
    Note,
    OperationCard,
    SimulationCard,
    Understood,
    UserText,
)
from presentation.panels.conversation.panel import ConversationPanel
from presentation.ui.workspace import WindowServices
from presentation.window.main_window import MainWindow
from tests.fakes.designing_model import DesigningModel, Reply, Request, amplifier, in_turn, says, writes
from tests.fakes.llm_server import FakeLLMServer, answer, call
from tests.gui.conftest import Until
from tests.gui.test_design_in_window import UNTIMED, open_dialogs, panel_of
from tests.gui.whole_window import end_window, open_window, without_web_view
from tests.integration.design.test_design_by_model import WIRES

WISH = "A common-emitter amplifier with a gain of at least 20 dB at 10 kHz"


@pytest.fixture
def model() -> DesigningModel:
    return DesigningModel()


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ZHIPU", "SILICONFLOW", "OPENAI_COMPATIBLE"):
        monkeypatch.setenv(f"CIRCUIT_AI_{name}_API_KEY", "k")


@pytest.fixture
def provider(request: pytest.FixtureRequest) -> str:
    return str(getattr(request, "param", "openai-compatible"))


@pytest.fixture
def stalls() -> set[str]:
    """Tasks whose answers stop in the middle, until the client leaves."""
    return set()


@pytest.fixture
def server(model: DesigningModel, stalls: set[str], provider: str) -> Iterator[FakeLLMServer]:
    def script(body: Any) -> Any:
        wire = WIRES[provider]
        said = model(body)
        calls = [call(name, arguments, id=f"c{n}") for n, (name, arguments) in enumerate(said.calls)]
        stalled = answer(said.text, stall=True, piece_delay_s=0.01)
        asked = 100 * len(model.seen)  # each request is another size
        usage = {"prompt_tokens": asked, "completion_tokens": 10, "total_tokens": asked + 10}
        counted = {"usage": usage} if provider == "openai-compatible" else {}
        return stalled if model.seen[-1].task in stalls else wire(said.text, calls=calls, **counted)

    with FakeLLMServer(script, models=["m"]) as made:
        yield made


@pytest.fixture
async def window(
    services: WindowServices,
    tmp_path: Path,
    server: FakeLLMServer,
    provider: str,
    until: Until,
    monkeypatch: pytest.MonkeyPatch,
) -> AsyncIterator[MainWindow]:
    """The program's window on an empty folder, the scripted model chosen."""
    without_web_view(monkeypatch)
    root = tmp_path / "amplifier"
    root.mkdir()
    made = await open_window(services, until, root)
    base_url = server.root_url if provider == "ollama" else server.base_url
    choice = ProviderChoice(provider=provider, model="m", base_url=base_url)
    panel_of(made).model.set_choice(choice)
    yield made
    await end_window(made, services, until)


def type_in(panel: ConversationPanel, text: str) -> None:
    panel.composer.set_text(text)
    QTest.keyClick(panel.composer.edit, Qt.Key.Key_Return)


def question(panel: ConversationPanel) -> Decision | None:
    found = [item for item in panel.model.items if isinstance(item, Decision)]
    return found[-1] if found else None


def press(panel: ConversationPanel, choice: str) -> None:
    asked = question(panel)
    assert asked is not None
    panel.view.acted.emit("answer", asked.key, choice)


async def design(window: MainWindow, until: Until) -> ConversationPanel:
    """Say the wish, confirm the goals, come to the first checkpoint."""
    panel = panel_of(window)
    panel.mode_button.click()
    type_in(panel, WISH)
    await until(open_dialogs)
    (goals,) = open_dialogs()
    assert isinstance(goals, GoalsDialog)
    circuit = panel.model.window.circuit_at_hand(window.services.workspace.root or Path())
    assert goals.improve.isVisible() == goals.new_circuit.isVisible() == bool(circuit)
    goals.start_button.click()
    await until(lambda: panel.model.is_asking)
    return panel


def kinds(panel: ConversationPanel) -> list[type]:
    return [type(item) for item in panel.model.items]


async def reopened(window: MainWindow, until: Until) -> None:
    panel = panel_of(window)
    before, session = rows(panel), panel.session_id
    panel.model.new_conversation()
    panel.open_session(session)
    await until(lambda: panel.session_id == session and len(panel.model.items) > 0)
    assert rows(panel) == before


def rows(panel: ConversationPanel) -> list[str]:
    """What is read in the rows, without times, and the name that a fake server gives itself."""
    untimed = {AnswerText: {"created": "", "model": ""}, **UNTIMED}
    html = HtmlItems(str)
    items = [item for item in panel.model.items if not isinstance(item, Note)]
    texts = [html(replace(item, key="", **untimed.get(type(item), {}))) for item in items]
    return [" ".join(re.sub(r"<svg.*?</svg>|<[^>]*>", " ", text, flags=re.DOTALL).split()) for text in texts]


async def test_a_model_designs_in_the_window_and_it_reads_the_same_later(
    window: MainWindow, until: Until, model: DesigningModel
) -> None:
    panel = await design(window, until)
    await until(lambda: len(window.parts.bottom.views.iterations.rounds) == 1)
    press(panel, "continue")
    await until(lambda: panel.model.is_asking and question(panel).number == 2)
    assert question(panel).goals_met
    press(panel, "accept")
    await until(lambda: not panel.is_running)
    assert kinds(panel).count(UserText) == 1  # what the program tells the model is not the user's
    for kind, least in ((GoalsCard, 1), (OperationCard, 2), (SimulationCard, 2), (DesignEnd, 1)):
        assert kinds(panel).count(kind) >= least
    assert ErrorBlock not in kinds(panel)
    await until(lambda: [each.goals_met for each in window.parts.bottom.views.iterations.rounds] == [0, 1])
    await reopened(window, until)


async def test_two_clicks_on_a_button_are_one_answer_and_an_old_question_takes_none(
    window: MainWindow, until: Until, model: DesigningModel
) -> None:
    panel = await design(window, until)
    first = question(panel)
    for _ in range(2):
        panel.view.acted.emit("answer", first.key, "continue")
    assert "answered already" in panel._notice.text()
    await until(lambda: panel.model.is_asking and question(panel).number == 2)
    assert model.tasks.count("optimize") == 1
    panel.view.acted.emit("answer", first.key, "stop")
    assert panel.model.is_asking
    assert question(panel).state == "open"
    press(panel, "accept")
    await until(lambda: not panel.is_running)
    refusal = panel.model.design.answer(question(panel).key, "undo")
    assert str(refusal) == "This question has been answered already."
    assert not panel.is_running


async def test_a_greeting_in_workflow_mode_is_answered(
    window: MainWindow, until: Until, model: DesigningModel
) -> None:
    model.acts["goals"] = says(json.dumps({"goals": [], "reply": "Hello! What shall I design?"}))
    panel = panel_of(window)
    panel.mode_button.click()
    type_in(panel, "Hello")
    await until(lambda: not panel.is_running and len(panel.model.items) >= 2)
    assert not open_dialogs()
    assert kinds(panel) == [UserText, Narration]
    await reopened(window, until)


async def test_free_work_at_a_checkpoint_and_back(
    window: MainWindow, services: WindowServices, until: Until, model: DesigningModel
) -> None:
    """There by keys, back by the menu; the button does both in the mission."""
    panel = await design(window, until)
    session = panel.session_id
    window.activateWindow()
    await until(window.isActiveWindow)
    QTest.keyClick(window, Qt.Key.Key_F4)
    await until(lambda: not panel.is_running)
    assert panel.mode == "free"
    assert question(panel).state == "waits"
    model.acts["chat"] = writes("amp.cir", amplifier("4.7k"), "Rc is 4.7k now.")
    type_in(panel, "Take 4.7k for Rc")
    await until(lambda: not panel.is_running and isinstance(panel.model.items.last(), AnswerText))
    assert panel.session_id == session
    assert question(panel).state == "waits"
    assert "round 1: gain" in model.seen[-1].newest
    await reopened(window, until)
    assert panel.mode == "free"
    window.commands.action("switchMode").trigger()
    await until(lambda: panel.model.is_asking)
    assert panel.mode == "workflow"
    assert question(panel).goals_met  # simulated again before it was asked
    assert [item.state for item in panel.model.items if isinstance(item, Decision)] == ["open"]
    said = [str(item.text) for item in panel.model.items if isinstance(item, Narration)]
    assert any("amp.cir was changed since" in text for text in said)
    press(panel, "accept")
    await until(lambda: not panel.is_running)
    assert isinstance(panel.model.items.last(), DesignEnd)
    assert (panel.model.root / "amp.cir").read_text("utf-8") == amplifier("4.7k")
    await reopened(window, until)


async def test_a_waiting_question_is_answered_where_it_stands(window: MainWindow, until: Until) -> None:
    panel = await design(window, until)
    panel.stop()
    await until(lambda: not panel.is_running)
    assert question(panel).state == "waits"
    assert Interrupted not in kinds(panel)
    await reopened(window, until)
    press(panel, "continue")
    await until(lambda: panel.model.is_asking and question(panel).number == 2)
    press(panel, "stop")
    await until(lambda: not panel.is_running)


async def test_accepting_what_misses_its_goals_is_asked_about(window: MainWindow, until: Until) -> None:
    panel = await design(window, until)
    press(panel, "accept")
    await until(open_dialogs)
    (asked,) = open_dialogs()
    QTest.keyClick(asked, Qt.Key.Key_Escape)
    await until(lambda: panel.model.is_asking)
    assert question(panel).state == "open"
    press(panel, "accept")
    await until(open_dialogs)
    (asked,) = open_dialogs()
    accept = next(button for button in asked.findChildren(QPushButton) if "Accept" in button.text())
    QTest.mouseClick(accept, Qt.MouseButton.LeftButton)
    await until(lambda: not panel.is_running)
    end = panel.model.items.last()
    assert isinstance(end, DesignEnd)
    assert end.done.stop_reason == "goals_not_met"
    await reopened(window, until)


async def test_run_until_asks_only_when_it_is_met_or_stuck(
    window: MainWindow, until: Until, model: DesigningModel
) -> None:
    steps = ("475", "480", "485", "4.7k")
    model.acts["optimize"] = in_turn(*(writes("amp.cir", amplifier(value)) for value in steps))
    panel = await design(window, until)
    press(panel, "until")
    await until(lambda: panel.model.is_asking and question(panel).number > 1)
    assert (question(panel).number, question(panel).goals_met) == (5, True)
    answers = [item.chosen for item in decisions(panel)]
    assert answers == ["continue"] * 4 + [""]
    press(panel, "accept")
    await until(lambda: not panel.is_running)
    await reopened(window, until)


async def test_rounds_go_back_are_kept_as_copies_and_compared(
    window: MainWindow, until: Until, model: DesigningModel
) -> None:
    values = ("475", "480", "485")
    model.acts["optimize"] = in_turn(*(writes("amp.cir", amplifier(value)) for value in values))
    panel = await design(window, until)
    view = window.parts.bottom.views.iterations
    root = panel.model.root
    await until(lambda: window.services.workspace.main_circuit == root / "amp.cir")
    for number in (2, 3):
        press(panel, "continue")
        await until(lambda number=number: panel.model.is_asking and question(panel).number == number)
    await until(lambda: len(view.rounds) == 3)

    view.table.selectRow(0)
    QTest.mouseClick(view.copy_button, Qt.MouseButton.LeftButton)
    copy = root / "amp_round_1.cir"
    await until(copy.is_file)
    assert copy.read_text("utf-8") == amplifier("470")
    await until(lambda: view.copy_button.toolTip() == "Undo the copy of round 1")
    view.copy_button.click()
    await until(lambda: not copy.exists())

    select(view.table, 0, 2)
    assert view.compare_button.text() == "Compare 1 and 3"

    panel.mode_button.click()  # the question waits
    await until(lambda: not panel.is_running)
    await until(view.back_button.isEnabled)
    view.table.selectRow(0)
    assert view.back_button.toolTip() == "Go back to round 1"
    view.back_button.click()
    await until(lambda: panel.model.is_asking)
    assert (root / "amp.cir").read_text("utf-8") == amplifier("470")
    assert panel.mode == "workflow"
    press(panel, "stop")
    await until(lambda: not panel.is_running)
    assert (root / "amp.cir").read_text("utf-8") == amplifier("470")  # the one gone back to

    # The design has ended: a round is gone back to all the same, and so is the main circuit of then.
    await until(lambda: len(view.rounds) == 3)
    workspace = window.services.workspace
    (root / "other.cir").write_text("* other\nR1 a 0 1k\nV1 a 0 1\n.op\n", "utf-8")
    workspace.main_circuit_chosen.emit(root / "other.cir")
    view.table.selectRow(1)
    view.back_button.click()
    await until(lambda: (root / "amp.cir").read_text("utf-8") == amplifier("475"))
    await until(lambda: any("Back to round 2." in str(item) for item in panel.model.items))
    assert not panel.is_running
    await until(lambda: workspace.main_circuit == root / "amp.cir")


def select(table: QTableView, *rows: int) -> None:
    """As clicks with Ctrl do."""
    chosen = table.selectionModel()
    assert chosen is not None
    chosen.clearSelection()
    for row in rows:
        flags = QItemSelectionModel.SelectionFlag.Select | QItemSelectionModel.SelectionFlag.Rows
        chosen.select(table.model().index(row, 0), flags)


async def test_a_design_goes_on_in_the_conversation_of_a_chat(
    window: MainWindow, until: Until, model: DesigningModel
) -> None:
    panel = panel_of(window)
    type_in(panel, "Which stage has gain?")
    await until(lambda: not panel.is_running and isinstance(panel.model.items.last(), AnswerText))
    session, of_chat = panel.session_id, panel.model.context_tokens
    await design(window, until)
    assert panel.session_id == session
    used = panel.model.context_tokens
    assert (of_chat, used) == (110, 100 * len(model.seen) + 10)  # while it asks, too
    press(panel, "stop")
    await until(lambda: not panel.is_running)
    assert panel.model.context_tokens == used
    said = [item.text for item in panel.model.items if isinstance(item, UserText)]
    assert said == ["Which stage has gain?", WISH]
    await reopened(window, until)
    assert panel.mode == "workflow"


async def test_how_words_were_read_is_shown_later_and_can_still_be_corrected(
    window: MainWindow, until: Until, model: DesigningModel
) -> None:
    panel = await design(window, until)
    type_in(panel, "Why is the gain so small?")
    await until(lambda: panel.model.is_asking and len(decisions(panel)) == 2)
    assert decisions(panel)[0].chosen == ""  # it was answered in words
    panel.stop()
    await until(lambda: not panel.is_running)
    await reopened(window, until)
    (chip,) = [item for item in panel.model.items if isinstance(item, Understood)]
    assert (chip.intent.kind, chip.state) == ("question", "taken")
    model.acts["instruction"] = writes("amp.cir", amplifier("4.7k"), "4.7k now.")
    panel.view.acted.emit("intent", chip.key, "instruction")  # it was a wish
    await until(lambda: panel.model.is_asking and question(panel).number == 2)
    assert "instruction" in model.tasks
    assert "Why is the gain so small?" in model.seen[-2].newest
    type_in(panel, "stop")
    assert question(panel).is_behind_chip
    panel.mode_button.click()
    await until(lambda: not panel.is_running)
    assert (panel.model.draft, question(panel).is_behind_chip) == ("", False)


async def test_what_was_typed_and_not_done_is_there_later_as_it_was(
    window: MainWindow, until: Until, model: DesigningModel
) -> None:
    def chips() -> list[tuple[str, str]]:
        return [(item.intent.kind, item.state) for item in panel.model.items if isinstance(item, Understood)]

    panel = await design(window, until)
    type_in(panel, "stop")
    await until(lambda: chips() == [("stop", "asks")])
    type_in(panel, "Why is the gain so small?")  # something else is said, and done at once
    await until(lambda: panel.model.is_asking and len(decisions(panel)) == 2)
    type_in(panel, "accept it")
    await until(lambda: question(panel).is_behind_chip)
    press(panel, "continue")  # something else is chosen
    await until(lambda: panel.model.is_asking and question(panel).number == 2)
    panel.stop()
    await until(lambda: not panel.is_running)
    assert chips() == [("stop", "dropped"), ("question", "closed"), ("accept", "dropped")]
    await reopened(window, until)
    assert chips() == [("stop", "dropped"), ("question", "closed"), ("accept", "dropped")]
    assert str(rows(panel)).count("(not done)") == 2
    said = [item.text for item in panel.model.items if isinstance(item, UserText)]
    assert said == [WISH, "stop", "Why is the gain so small?", "accept it"]
    assert any("stop\\nWhy is the gain so small?" in str(request.messages) for request in model.seen)


async def test_a_failed_run_offers_its_fix_and_no_improvement(
    window: MainWindow, until: Until, model: DesigningModel
) -> None:
    model.acts["design"] = writes("amp.cir", amplifier("470").replace(".model qn", ".model qx"))
    model.acts["fix"] = in_turn(says("I see."), writes("amp.cir", amplifier("4.7k"), "qn it is."))
    panel = await design(window, until)
    assert question(panel).choices == ("fix", "until", "goals", "undo", "stop")
    press(panel, "fix")
    await until(lambda: panel.model.is_asking and len(decisions(panel)) == 2)  # it changed nothing
    assert decisions(panel)[0].chosen == "fix"
    press(panel, "fix")
    await until(lambda: panel.model.is_asking and question(panel).number == 2)
    assert question(panel).choices[:2] == ("accept", "continue")
    press(panel, "accept")
    await until(lambda: not panel.is_running)
    await reopened(window, until)


def decisions(panel: ConversationPanel) -> list[Decision]:
    return [item for item in panel.model.items if isinstance(item, Decision)]


async def test_the_existing_circuit_is_round_zero_and_can_be_gone_back_to(
    window: MainWindow, until: Until, model: DesigningModel
) -> None:
    panel = panel_of(window)
    circuit = panel.model.root / "amp.cir"
    circuit.write_text(amplifier("470"), "utf-8")
    other = circuit.with_name("other.cir")
    other.write_text(amplifier("100"), "utf-8")
    window.services.workspace.main_circuit = other
    window.services.workspace.file_offered.emit(circuit)
    await until(lambda: window.services.workspace.run_target == circuit)  # what is in front is meant
    panel = await design(window, until)
    assert (question(panel).number, question(panel).choices[-1]) == (0, "stop")
    shown = window.parts.bottom.views.shown
    await until(lambda: shown.loaded is not None and not shown.is_loading)
    first = shown.loaded.source
    window.services.workspace.result_selected.emit(first)  # also where the user has chosen what is shown
    press(panel, "continue")
    await until(lambda: panel.model.is_asking and question(panel).number == 1)
    await until(lambda: shown.loaded.source != first)
    view = window.parts.bottom.views.iterations
    await until(lambda: [each.number for each in view.rounds] == [0, 1])
    assert [change.after for change in view.rounds[1].changes] == ["4.7k"]
    view.table.selectRow(0)
    QTest.mouseClick(view.back_button, Qt.MouseButton.LeftButton)
    await until(lambda: panel.model.is_asking and len(decisions(panel)) == 3)
    assert circuit.read_text("utf-8") == amplifier("470")
    assert "went back" in str(rows(panel))
    press(panel, "stop")
    await until(lambda: not panel.is_running)
    assert circuit.read_text("utf-8") == amplifier("470")  # the one gone back to stays
    await reopened(window, until)


async def test_a_stop_within_any_step_leaves_one_way_on_and_nothing_is_asked_twice(
    window: MainWindow, until: Until, model: DesigningModel, server: FakeLLMServer, stalls: set[str]
) -> None:
    async def stop_in(task: str, words: str) -> None:
        await until(lambda: task in model.tasks and words in panel.view.text)
        QTest.keyClick(panel.composer.edit, Qt.Key.Key_Escape)
        await until(lambda: not panel.is_running)
        await asyncio.to_thread(server.wait_until_left, len(server.completions) - 1)
        stalls.clear()
        (mark,) = [item for item in panel.model.items if isinstance(item, Interrupted)]
        assert (mark.reason, mark.can_continue) == ("stopped", True)
        panel.view.acted.emit("go_on", mark.key, "")
        assert panel.is_running

    def acts(path: str, netlist: str, words: str) -> Any:
        def act(request: Request) -> Reply:
            has_result = request.messages[-1]["role"] == "tool"
            return Reply(words, [] if has_result else [("rewrite_file", {"path": path, "content": netlist})])

        return act

    first, second = "First a stage with 470 ohm, from published equations.", "Then 4.7k for more gain."
    model.acts["design"] = acts("amp.cir", amplifier("470"), first)
    model.acts["optimize"] = acts("amp.cir", amplifier("4.7k"), second)
    panel = panel_of(window)
    panel.mode_button.click()
    stalls.add("goals")
    type_in(panel, WISH)
    await stop_in("goals", "")
    await until(open_dialogs)
    stalls.add("design")
    open_dialogs()[0].start_button.click()
    await stop_in("design", "published equations")
    await until(lambda: panel.model.is_asking)
    stalls.add("optimize")
    press(panel, "continue")
    await stop_in("optimize", "more gain")
    await until(lambda: panel.model.is_asking and question(panel).number == 2)
    assert [question.chosen for question in decisions(panel)] == ["continue", ""]
    made = [item for item in panel.model.items if isinstance(item, OperationCard)]
    assert [card.is_new_file for card in made] == [True, False]
    assert model.tasks == ["goals", "design", "analysis", "optimize", "analysis"]
    press(panel, "accept")
    await until(lambda: not panel.is_running)
    await reopened(window, until)


@pytest.mark.torture  # on the command line: tests/integration/cli
@pytest.mark.timeout(300)
@pytest.mark.parametrize("provider", list(WIRES), indirect=True)
async def test_the_mission_with_each_provider(
    window: MainWindow, until: Until, model: DesigningModel
) -> None:
    """Launched on a folder; modes switched both ways in the middle; every template edited and sent."""
    await edit_every_template(window, until)
    model.acts["design"] = writes("amp.cir", amplifier("470").replace(".model qn", ".model qx"))
    model.acts["fix"] = writes("amp.cir", amplifier("470"))
    model.acts["instruction"] = writes("amp.cir", amplifier("480"))
    model.acts["intent"] = says('{"intent": "instruction", "confidence": 0.9}')
    panel = await design(window, until)

    async def asks_again(rounds: int) -> None:
        await until(lambda: panel.model.is_asking and question(panel).number == rounds)

    press(panel, "fix")
    await asks_again(2)
    type_in(panel, "Why so little gain?")
    await until(lambda: panel.model.is_asking and len(decisions(panel)) == 3)
    panel.mode_button.click()  # free work in the middle
    await until(lambda: not panel.is_running)
    session = panel.session_id
    type_in(panel, "What do you think?")
    await until(lambda: not panel.is_running and "Hello." in panel.view.text)
    panel.mode_button.click()  # and back
    await asks_again(2)
    assert panel.session_id == session
    type_in(panel, "hmm, the collector")  # of which the rules are not sure
    await asks_again(3)
    press(panel, "continue")
    await asks_again(4)
    press(panel, "accept")
    await until(lambda: not panel.is_running)
    assert (panel.model.root / "amp.cir").read_text("utf-8") == amplifier("4.7k")

    sent = {task for task in TASKS for request in model.seen if own(task) in request.system}
    assert set(TASKS) - sent == {"SUMMARIZE_CONVERSATION"}  # sent where a conversation is compressed
    for request in model.seen:
        held = [task for task in TASKS if own(task) in request.system]
        assert held == [TEMPLATE_OF[request.task]]


TEMPLATE_OF = {
    "goals": "EXTRACT_DESIGN_GOALS",
    "design": "INITIAL_DESIGN",
    "fix": "FIX_ERROR",
    "analysis": "ANALYZE_SIMULATION",
    "question": "GENERAL_CONVERSATION",
    "intent": "INTENT_ANALYSIS",
    "instruction": "EXECUTE_INSTRUCTION",
    "optimize": "OPTIMIZE_PARAMETERS",
    "chat": "FREE_WORK_SYSTEM",
}


def own(task: str) -> str:
    return f"House rule for {task}: parts of 1 percent."


async def edit_every_template(window: MainWindow, until: Until) -> None:
    """A line more in each text of the prompt dialog, by keys."""
    window.commands.action("prompts").trigger()
    await until(open_dialogs)
    (dialog,) = open_dialogs()
    assert isinstance(dialog, PromptSettingsDialog)
    await until(lambda: dialog.drafts is not None)
    page = dialog.pages["workflow"]
    edited = set()
    for row in range(page.list.count()):
        page.list.setCurrentRow(row)
        if page.key not in TASKS:
            continue
        QTest.keyClick(page.editor, Qt.Key.Key_End, Qt.KeyboardModifier.ControlModifier)
        QTest.keyClick(page.editor, Qt.Key.Key_Return)
        begin, rest = own(page.key)[:5], own(page.key)[5:]
        QTest.keyClicks(page.editor, begin)
        page.editor.textCursor().insertText(rest)
        edited.add(page.key)
    assert edited == set(TASKS)
    QTest.mouseClick(dialog.ok, Qt.MouseButton.LeftButton)
    await until(lambda: not open_dialogs())


async def test_what_goes_to_the_network_is_asked_about_and_a_no_loses_nothing(
    window: MainWindow,
    until: Until,
    model: DesigningModel,
    server: FakeLLMServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def answer_with(words: str) -> None:
        await until(open_dialogs)
        (asked,) = open_dialogs()
        (button,) = [each for each in asked.findChildren(QPushButton) if each.text() == words]
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)

    for name in ("HTTP_PROXY", "http_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{server.port}")
    panel = panel_of(window)
    here = panel.model.choice
    panel.model.set_choice(replace(here, base_url="http://models.example/v1"))
    panel.mode_button.click()
    type_in(panel, WISH)
    await answer_with("Do not send")
    await until(lambda: not panel.is_running)
    assert not server.requests
    (block,) = [item for item in panel.model.items if isinstance(item, ErrorBlock)]
    panel.view.acted.emit("retry", block.key, "")
    await answer_with("For this conversation")
    await until(lambda: model.seen and open_dialogs())
    open_dialogs()[0].start_button.click()
    await until(lambda: panel.model.is_asking)
    assert kinds(panel).count(UserText) == 1

    panel.stop()
    await until(lambda: not panel.is_running)
    asked = len(server.requests)
    panel.model.set_choice(replace(here, base_url="http://other.example/v1"))
    press(panel, "continue")
    await answer_with("Do not send")
    await until(lambda: not panel.is_running and question(panel) is not None)
    assert (question(panel).state, len(server.requests)) == ("waits", asked)
    panel.model.set_choice(here)  # nothing leaves this computer
    press(panel, "continue")
    await until(lambda: panel.model.is_asking and question(panel).number == 2)
    press(panel, "accept")
    await until(lambda: not panel.is_running)


async def test_an_error_of_the_model_in_the_middle_is_tried_again_from_there(
    window: MainWindow,
    until: Until,
    model: DesigningModel,
    server: FakeLLMServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(RetryPolicy, "pause_s", lambda _self, attempt, _error: None if attempt > 2 else 0.01)
    panel = await design(window, until)
    here = panel.model.choice
    panel.stop()
    await until(lambda: not panel.is_running)
    panel.model.set_choice(replace(here, base_url="http://127.0.0.1:9/v1"))
    press(panel, "continue")
    await until(lambda: not panel.is_running)
    (block,) = [item for item in panel.model.items if isinstance(item, ErrorBlock)]
    assert block.can_retry
    await until(lambda: panel.model.design.is_open)
    await reopened(window, until)  # and it is there again, with its ways on
    assert panel.model.design.is_open
    (block,) = [item for item in panel.model.items if isinstance(item, ErrorBlock)]
    panel.model.set_choice(here)
    panel.view.acted.emit("retry", block.key, "")
    await until(lambda: panel.model.is_asking and question(panel).number == 2)
    assert model.tasks == ["goals", "design", "analysis", "optimize", "analysis"]
    press(panel, "accept")
    await until(lambda: not panel.is_running)
    assert kinds(panel).count(ErrorBlock) == 1  # as history
    await reopened(window, until)


async def test_a_stop_while_ngspice_runs_leaves_its_card_and_one_way_on(
    window: MainWindow, until: Until, model: DesigningModel
) -> None:
    endless = amplifier("470").replace(".ac dec", ".tran 1n 100\n.ac dec")
    model.acts["design"] = writes("amp.cir", endless)
    panel = panel_of(window)
    panel.mode_button.click()
    type_in(panel, WISH)
    await until(open_dialogs)
    open_dialogs()[0].start_button.click()

    def runs() -> list[str]:
        return [item.state for item in panel.model.items if isinstance(item, SimulationCard)]

    await until(lambda: runs() == ["running"])
    QTest.mouseClick(
        panel.composer.send_button, Qt.MouseButton.LeftButton
    )  # it stops while a run is under way
    await until(lambda: not panel.is_running)
    assert runs() == ["stopped"]
    (mark,) = [item for item in panel.model.items if isinstance(item, Interrupted)]
    assert (mark.reason, mark.can_continue, ErrorBlock in kinds(panel)) == ("stopped", True, False)
    panel.view.acted.emit("go_on", mark.key, "")
    await until(lambda: "running" in runs())  # the same run begins anew; the model is not asked again
    QTest.mouseClick(panel.composer.send_button, Qt.MouseButton.LeftButton)
    await until(lambda: not panel.is_running)
    assert (runs()[-1], model.tasks.count("design")) == ("stopped", 1)
