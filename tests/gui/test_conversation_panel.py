"""The conversation panel with the real use cases: keys and clicks, a design, an undo, a stop."""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from PyQt6.QtCore import QPoint, QPointF, Qt, QUrl
from PyQt6.QtGui import QEnterEvent, QInputMethodEvent
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import (
    QApplication,
    QDialog,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QToolButton,
    QWidget,
)

from application.simulation.simulating import SimulationRequest
from domain.llm.chat import ProviderChoice
from domain.llm.costs import Cost
from domain.llm.provider_settings import ProviderSettings
from presentation.panels.conversation.items import (
    AnswerText,
    Decision,
    DesignEnd,
    ErrorBlock,
    Interrupted,
    OperationCard,
    Retry,
    SimulationCard,
    Understood,
    UserText,
)
from presentation.panels.conversation.panel import ConversationPanel
from presentation.panels.conversation.plain_document import links_between
from presentation.panels.conversation.plain_view import PlainConversation
from presentation.panels.conversation.queue_panel import QueuePanel
from presentation.panels.conversation.status_line import StatusLine, color_of
from presentation.panels.conversation.tab_words import status_of
from presentation.panels.conversation.words import error_ways
from presentation.panels.editor.newest_point import NewestPoint
from presentation.ui import questions
from presentation.ui.hit_list import HitList
from presentation.ui.rows import Role, RowTree
from presentation.ui.workspace import WindowServices
from shared.message import msg
from tests.fakes.llm_server import FakeLLMServer, answer, error
from tests.gui.conftest import Until


class NoWebView:
    """As where WebEngine can't be had."""

    async def works(self) -> bool:
        return False

    async def confirm(self) -> None:
        raise AssertionError("there is no web view to confirm")


@pytest.fixture
async def panel(services: WindowServices, project: Path, until: Until) -> AsyncIterator[ConversationPanel]:
    services.workspace.root = project
    services.workspace.main_circuit = project / "filter.cir"
    made = ConversationPanel(services, services.app, probe=NoWebView())  # type: ignore[arg-type]
    made.resize(440, 800)
    made.show()
    yield made
    made.close_panel()
    await until(
        lambda: not services.app.program.tasks.handles
    )  # lists and previews that are still being read


def type_and_send(panel: ConversationPanel, text: str) -> None:
    panel.composer.set_text(text)
    QTest.keyClick(panel.composer.edit, Qt.Key.Key_Return)


def of(panel: ConversationPanel, kind: type) -> list:
    return [item for item in panel.model.items if isinstance(item, kind)]


def shown(panel: ConversationPanel) -> str:
    assert isinstance(panel.view, PlainConversation)
    return panel.view.text


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def top_dialog(name: str) -> QDialog | None:
    found = [
        widget
        for widget in QApplication.topLevelWidgets()
        if isinstance(widget, QDialog) and widget.objectName() == name and widget.isVisible()
    ]
    return found[0] if found else None


async def test_enter_sends_and_shift_enter_makes_a_line(panel: ConversationPanel, until: Until) -> None:
    edit = panel.composer.edit
    QTest.keyClicks(edit, "list the files")
    QTest.keyClick(edit, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert edit.toPlainText() == "list the files\n"
    assert not of(panel, UserText)
    QTest.keyClick(edit, Qt.Key.Key_Return)
    assert edit.toPlainText() == ""
    assert [item.text for item in of(panel, UserText)] == ["list the files"]
    await until(lambda: not panel.is_running)
    (card,) = of(panel, OperationCard)
    assert card.tool == "list_project_files"
    assert card.state == "done"
    assert "filter.cir" in of(panel, AnswerText)[-1].text
    assert "filter.cir" in shown(panel)


async def test_what_a_message_names_is_not_named_again(
    panel: ConversationPanel, services: WindowServices
) -> None:
    edit, offer = panel.composer.edit, services.workspace.words_offered
    for words in ("@study:corners-7M ", "@study:corners-7M ", "@study:corners ", "Why? "):
        offer.emit(words)
    assert edit.toPlainText() == "@study:corners-7M @study:corners Why? "
    edit.clear()


async def test_an_enter_that_commits_a_composition_never_sends(
    panel: ConversationPanel, until: Until
) -> None:
    edit = panel.composer.edit
    QApplication.sendEvent(edit, QInputMethodEvent("ni hao", []))
    assert edit.is_composing
    QTest.keyClick(edit, Qt.Key.Key_Return)
    assert not of(panel, UserText)
    committed = QInputMethodEvent("", [])
    committed.setCommitString("你好")
    QApplication.sendEvent(edit, committed)
    assert edit.toPlainText() == "你好"
    QTest.keyClick(edit, Qt.Key.Key_Return)
    assert [item.text for item in of(panel, UserText)] == ["你好"]
    await until(lambda: not panel.is_running)


async def test_a_click_between_the_buttons_is_meant_for_the_text(
    panel: ConversationPanel, until: Until
) -> None:
    composer = panel.composer
    composer.model_button.setFocus()
    await until(lambda: not composer.edit.hasFocus())
    between = QPoint(composer.width() // 2, composer.send_button.geometry().center().y())
    assert composer.childAt(between) is None
    QTest.mouseClick(composer, Qt.MouseButton.LeftButton, pos=between)
    await until(composer.edit.hasFocus)


async def test_the_input_grows_to_eight_lines(panel: ConversationPanel) -> None:
    edit = panel.composer.edit
    one = edit.height()
    panel.composer.set_text("\n".join("abcdefgh"))
    eight = edit.height()
    line = edit.fontMetrics().lineSpacing()
    assert eight - one == 7 * line
    panel.composer.set_text("\n".join("abcdefghijkl"))
    assert edit.height() == eight
    panel.composer.set_text("word " * 60)  # wrapped lines count
    assert one + line <= edit.height() <= eight


async def test_a_change_is_shown_with_its_diff_undone_and_done_again(
    panel: ConversationPanel, project: Path, until: Until, services: WindowServices
) -> None:
    before = (project / "filter.cir").read_text()
    changed: list[Path] = []
    services.workspace.file_changed.connect(changed.append)
    type_and_send(panel, "set R1 to 2k in filter.cir")
    await until(lambda: not panel.is_running and of(panel, OperationCard)[-1].standing == "stands")
    after = (project / "filter.cir").read_text()
    assert "2k" in after
    card = of(panel, OperationCard)[-1]
    assert (card.diff.added, card.diff.removed) == (1, 1)
    assert changed == [project / "filter.cir"]

    panel.view.acted.emit("undo", card.key, "")
    await until(lambda: panel.model.items.get(card.key).standing == "undone")
    assert (project / "filter.cir").read_text() == before
    assert "undone" in shown(panel)
    panel.view.acted.emit("undo", card.key, "")
    await until(lambda: panel.model.items.get(card.key).standing == "stands")
    assert (project / "filter.cir").read_text() == after
    assert len(changed) == 3


async def test_an_undo_that_would_lose_an_edit_is_refused_with_words(
    panel: ConversationPanel, project: Path, until: Until
) -> None:
    type_and_send(panel, "set R1 to 2k in filter.cir")
    await until(lambda: not panel.is_running and of(panel, OperationCard)[-1].standing == "stands")
    card = of(panel, OperationCard)[-1]
    (project / "filter.cir").write_text("* by hand\n")
    panel.view.acted.emit("undo", card.key, "")
    await until(lambda: panel.model.items.get(card.key).problem is not None)
    assert (project / "filter.cir").read_text() == "* by hand\n"
    assert panel.model.items.get(card.key).standing == "stands"
    assert "modified since" in shown(panel)
    assert panel.model.items.get(card.key).ways == ("current", "restore")
    assert "Restore the old content" in shown(panel)

    panel.view.acted.emit("undo", card.key, "current")
    await until(lambda: panel.model.items.get(card.key).standing == "stands")
    assert panel.model.items.get(card.key).problem is None
    assert (project / "filter.cir").read_text() == "* by hand\n"
    panel.view.acted.emit("undo", card.key, "")
    await until(lambda: panel.model.items.get(card.key).ways)
    panel.view.acted.emit("undo", card.key, "restore")
    await until(lambda: panel.model.items.get(card.key).standing == "undone")
    assert "R1 in out 1k" in (project / "filter.cir").read_text()
    assert not panel.model.items.get(card.key).ways
    panel.view.acted.emit("undo", card.key, "")  # the edit by hand comes back
    await until(lambda: panel.model.items.get(card.key).standing == "stands")
    assert (project / "filter.cir").read_text() == "* by hand\n"


async def test_a_design_asks_for_its_goals_and_stops_at_the_checkpoint(
    panel: ConversationPanel, project: Path, until: Until
) -> None:
    panel.mode_button.click()
    assert panel.mode == "workflow"
    type_and_send(panel, "设计一个截止频率 10 kHz 的 RC 低通滤波器")
    await until(lambda: top_dialog("goalsDialog") is not None, timeout_s=30)
    dialog = top_dialog("goalsDialog")
    assert "10\u00a0kHz" in dialog.limits
    assert status_of(panel.model, None).state == "waiting"
    assert panel.model.is_waiting
    type_and_send(panel, "and what does it cost?")
    assert "it waits for your decision" in head(panel)
    panel.model.queue.take_all()
    panel.toggle_mode()
    assert panel.mode == "workflow"  # refused while it runs, with words
    assert panel.notice
    QTest.mouseClick(dialog.start_button, Qt.MouseButton.LeftButton)
    await until(lambda: any(item.state == "open" for item in of(panel, Decision)), timeout_s=30)
    (decision,) = of(panel, Decision)
    assert decision.goals_met
    assert decision.choices[0] == "accept"
    simulation = of(panel, SimulationCard)[-1]
    assert simulation.state == "done"
    assert all(verdict.met for verdict in simulation.verdicts)
    panel.view.acted.emit("answer", decision.key, "accept")
    await until(lambda: not panel.is_running, timeout_s=30)
    assert panel.model.items.get(decision.key).state == "chosen"
    (end,) = of(panel, DesignEnd)
    assert end.done.goals_met
    assert (project / end.done.circuit).is_file()


async def test_an_empty_conversation_speaks_of_the_mode_it_is_in(panel: ConversationPanel) -> None:
    assert "Ask about the circuit" in shown(panel)
    panel.toggle_mode()
    assert "Say what filter.cir has to reach, or describe a new circuit." in shown(panel)
    assert panel.composer.edit.placeholderText() == "Describe a circuit, or change a goal"
    panel.toggle_mode()
    assert "Ask about the circuit" in shown(panel)
    assert panel.composer.edit.placeholderText() == "Ask about the circuit, or describe a change"


async def test_a_mode_chosen_for_the_next_message_outlasts_what_others_write(
    panel: ConversationPanel, services: WindowServices, project: Path, until: Until
) -> None:
    type_and_send(panel, "list the files")
    await until(lambda: panel.session_id != "" and not services.app.program.tasks.handles)
    panel.mode_button.click()
    await services.app.conversations.sessions.rename(project, panel.session_id, "Renamed elsewhere")
    panel.tabs.follow({panel.session_id})
    await until(lambda: panel.model.name == "Renamed elsewhere")
    assert panel.mode == "workflow"


async def test_declined_goals_design_nothing(panel: ConversationPanel, project: Path, until: Until) -> None:
    panel.toggle_mode()
    type_and_send(panel, "Design an RC low-pass filter with a cutoff of 10 kHz")
    await until(lambda: top_dialog("goalsDialog") is not None, timeout_s=30)
    QTest.keyClick(top_dialog("goalsDialog"), Qt.Key.Key_Escape)
    await until(lambda: not panel.is_running)
    assert of(panel, DesignEnd)[-1].done.stop_reason == "declined"
    assert names_in(project) == [".circuit_ai", "filter.cir"]


async def test_typing_at_a_checkpoint_answers_it(panel: ConversationPanel, until: Until) -> None:
    panel.toggle_mode()
    type_and_send(panel, "Design an RC low-pass filter with a cutoff of 10 kHz")
    await until(lambda: top_dialog("goalsDialog") is not None, timeout_s=30)
    top_dialog("goalsDialog").start_button.click()
    await until(lambda: panel.model.is_asking, timeout_s=30)
    type_and_send(panel, "接受")
    (chip,) = of(panel, Understood)
    assert (chip.intent.kind, chip.state) == ("accept", "asks")  # words alone end nothing
    panel.model.asking.correct(chip.key, "accept")
    await until(lambda: not panel.is_running, timeout_s=30)
    (decision,) = of(panel, Decision)
    assert (decision.state, decision.answer) == ("chosen", "accept")
    assert of(panel, DesignEnd)[-1].done.goals_met


def use(panel: ConversationPanel, server: FakeLLMServer) -> None:
    panel.model.set_choice(
        ProviderChoice(provider="openai-compatible", model="fake", base_url=server.base_url)
    )


async def test_escape_stops_in_mid_stream_and_what_came_is_kept(
    panel: ConversationPanel, until: Until
) -> None:
    with FakeLLMServer([answer("The corner falls with the gain", stall=True)]) as server:
        use(panel, server)
        type_and_send(panel, "why?")
        await until(lambda: "with the gain" in shown(panel))
        assert panel.model.run_state == "running"
        type_and_send(panel, "and then?")
        assert panel.model.queue.text == "and then?"
        panel.composer.set_text("half a thought")
        QTest.keyClick(panel.composer.edit, Qt.Key.Key_Escape)
        await until(lambda: not panel.is_running)
        server.wait_until_left()
        # Nothing is sent and nothing lost: it is in the input again.
        assert not panel.model.queue.entries
        assert panel.composer.text == "and then?\nhalf a thought"
        assert len(server.requests) == 1
    assert of(panel, AnswerText)[-1].text == "The corner falls with the gain"
    mark = of(panel, Interrupted)[-1]
    assert (mark.reason, mark.characters) == ("stopped", len("The corner falls with the gain"))
    assert panel.model.root is not None
    stored = await panel.model.shelf.read(panel.model.root, panel.session_id)
    assert [row.model for row in stored.items if isinstance(row, AnswerText)] == ["fake"]  # also when read
    assert "Stopped by you" in shown(panel)


async def test_a_text_typed_while_it_runs_is_sent_when_it_ends(
    panel: ConversationPanel, until: Until
) -> None:
    with FakeLLMServer([answer("One.", piece_delay_s=0.05), answer("Two.")]) as server:
        use(panel, server)
        type_and_send(panel, "first")
        await until(lambda: panel.model.run_state == "running")
        type_and_send(panel, "second")
        await until(lambda: len(of(panel, AnswerText)) == 2 and not panel.is_running)
        assert [item.text for item in of(panel, UserText)] == ["first", "second"]
        assert [item.text for item in of(panel, AnswerText)] == ["One.", "Two."]
        assert server.requests[1]["messages"][-1]["content"].endswith("second")


async def test_what_is_in_front_goes_with_the_message(
    panel: ConversationPanel, services: WindowServices, project: Path, until: Until
) -> None:
    class Editor:
        async def save_unsaved(self) -> bool:
            return True

        def is_dirty(self, path: Path) -> bool:
            return False

        def front(self) -> tuple[Path, int, int, str]:
            return project / "filter.cir", 3, 5, "the selected words"

    services.workspace.buffers = Editor()
    with FakeLLMServer([answer("I see.")]) as server:
        use(panel, server)
        type_and_send(panel, "what is this?")
        await until(lambda: of(panel, AnswerText) and not panel.is_running)
        told = server.requests[0]["messages"][-1]["content"]
    assert "In front of the user: filter.cir, cursor in line 3, column 5" in told
    assert "the selected words\n</data>" in told


async def test_a_failed_answer_offers_ways_out_and_can_be_tried_again(
    panel: ConversationPanel, until: Until
) -> None:
    with FakeLLMServer([error(401, "bad key"), answer("Now it works.")]) as server:
        use(panel, server)
        type_and_send(panel, "hello model")
        await until(lambda: not panel.is_running and of(panel, ErrorBlock))
        (block,) = of(panel, ErrorBlock)
        panel.view.acted.emit("retry", block.key, "")
        await until(lambda: not panel.is_running and of(panel, AnswerText))
        assert of(panel, AnswerText)[-1].text == "Now it works."
        assert panel.model.items.get(block.key).is_spent


async def test_it_is_found_again_after_a_restart_with_cards_and_undo(
    panel: ConversationPanel, services: WindowServices, project: Path, until: Until
) -> None:
    type_and_send(panel, "set R1 to 2k in filter.cir")
    await until(lambda: not panel.is_running and of(panel, OperationCard)[-1].standing == "stands")
    key, session = of(panel, OperationCard)[-1].key, panel.session_id
    assert session
    panel.composer.set_text("half a thought")
    again = ConversationPanel(services, services.app, probe=NoWebView())  # type: ignore[arg-type]
    again.show()
    await until(lambda: again.session_id == session)
    card = again.model.items.get(key)
    assert (card.standing, card.diff.added, card.path) == ("stands", 1, "filter.cir")
    assert of(again, UserText)[0].text == "set R1 to 2k in filter.cir"
    again.view.acted.emit("undo", key, "")
    await until(lambda: again.model.items.get(key).standing == "undone")
    assert "R1 in out 1k" in (project / "filter.cir").read_text()
    again.close_panel()


async def test_a_draft_belongs_to_its_conversation(panel: ConversationPanel, until: Until) -> None:
    type_and_send(panel, "list the files")
    await until(lambda: not panel.is_running and panel.session_id)
    first = panel.session_id
    panel.composer.set_text("about the first")
    panel.new_conversation()
    assert panel.composer.text == ""
    panel.composer.set_text("about the second")
    panel.open_session(first)
    await until(lambda: panel.session_id == first)
    assert panel.composer.text == "about the first"
    QTest.keyClick(panel.composer.edit, Qt.Key.Key_Tab, Qt.KeyboardModifier.ControlModifier)
    assert panel.composer.text == "about the second"


def size_of(dialog: QDialog) -> str:
    label = dialog.findChild(QLabel, "historySize")
    assert label is not None
    return label.text()


async def test_the_list_of_conversations_opens_and_deletes_after_a_question(
    panel: ConversationPanel, until: Until
) -> None:
    for text in ("list the files", "show filter.cir"):
        panel.new_conversation()
        type_and_send(panel, text)
        await until(lambda: not panel.is_running and panel.session_id)
    last = panel.session_id
    panel.show_history()
    dialog = top_dialog("historyDialog")
    await until(lambda: dialog.list.count() == 2)
    dialog.list.setCurrentRow(0)
    delete = dialog.findChild(QPushButton, "historyDelete")
    delete.click()
    await until(lambda: top_dialog("question"))
    QTest.keyClick(top_dialog("question"), Qt.Key.Key_Escape)
    await until(lambda: top_dialog("question") is None)
    assert dialog.list.count() == 2
    delete.click()
    await until(lambda: top_dialog("question"))
    next(
        button for button in top_dialog("question").findChildren(QPushButton) if button.text() == "Delete"
    ).click()
    await until(lambda: panel.session_id != last and len(panel.model.sessions) == 1)
    await until(lambda: dialog.list.count() == 1)
    assert not panel.model.items.last()
    assert dialog.findChild(QLabel, "historySize").text().startswith("1 conversation, ")
    removed = dialog.findChild(QPushButton, "historyRemoved")
    removed.click()
    await until(lambda: dialog.list.count() == 1 and "kept for 30 days" in size_of(dialog))
    restore = dialog.findChild(QPushButton, "historyOpen")
    assert restore.text() == "Restore"
    restore.click()
    await until(lambda: dialog.list.count() == 0)
    removed.click()
    await until(lambda: dialog.list.count() == 2)
    assert last in [info.session_id for info in panel.model.sessions]
    dialog.reject()


async def test_a_conversation_is_imported_and_can_be_read(
    panel: ConversationPanel, until: Until, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "talk.json"

    async def choose(*_: object, **__: object) -> tuple[Path, ...]:
        return (file,)  # Qt's own dialog would write into the home folder

    monkeypatch.setattr(questions, "choose_files", choose)
    file.write_text(
        '{"session_name": "From afar", "messages": [{"id": "A", "role": "user", "content": "hi"}]}'
    )
    panel.show_history()
    dialog = top_dialog("historyDialog")
    dialog.findChild(QPushButton, "historyImport").click()
    await until(lambda: dialog.list.count() == 1 and "hi" in dialog.preview.text)
    dialog.findChild(QPushButton, "historyOpen").click()
    await until(lambda: of(panel, UserText))
    assert not of(panel, UserText)[0].can_edit


async def test_language_and_theme_change_everything_at_once(
    panel: ConversationPanel, services: WindowServices, until: Until
) -> None:
    assert "Ask about the circuit" in panel.composer.edit.placeholderText()
    type_and_send(panel, "set R1 to 2k in filter.cir")
    await until(lambda: not panel.is_running and of(panel, OperationCard)[-1].standing == "stands")
    assert "Changed" in shown(panel)
    services.language.set("zh")
    assert "修改" in shown(panel)
    assert "询问电路" in panel.composer.edit.placeholderText()
    assert panel.mode_button.text().strip() == "自由工作"
    services.theme.set_mode("dark")
    assert "修改" in shown(panel)


async def test_without_a_project_nothing_is_sent_and_it_says_what_to_do(
    services: WindowServices, until: Until
) -> None:
    panel = ConversationPanel(services, services.app, probe=NoWebView())  # type: ignore[arg-type]
    panel.show()
    assert not panel.composer.isEnabled()
    assert "Open a project" in shown(panel)
    assert panel.model.send("hello") is not None
    panel.close_panel()


async def test_unsaved_files_that_cannot_be_saved_hold_a_run_back(
    panel: ConversationPanel, services: WindowServices, until: Until
) -> None:
    class ReadOnlyBuffers:
        async def save_unsaved(self) -> bool:
            return False

        def is_dirty(self, path: Path) -> bool:
            return True

        def show(self, path: Path, line: int | None = None) -> None:
            pass

        def front(self) -> None:
            return None

    services.workspace.buffers = ReadOnlyBuffers()
    type_and_send(panel, "list the files")
    await until(lambda: of(panel, ErrorBlock))
    await until(lambda: not panel.is_running)
    (problem,) = of(panel, ErrorBlock)
    assert "could not be saved" in shown(panel)
    assert not of(panel, OperationCard)
    services.workspace.buffers = None
    panel.view.acted.emit("retry", problem.key, "")
    await until(lambda: of(panel, AnswerText) and not panel.is_running)
    # Nothing of the first attempt was written: what was said stands once, and the problem is over.
    assert [item.text for item in of(panel, UserText)] == ["list the files"]
    assert not of(panel, ErrorBlock)
    assert [card.tool for card in of(panel, OperationCard)] == ["list_project_files"]


async def test_another_project_ends_the_run_and_shows_nothing_of_the_one_before(
    panel: ConversationPanel, services: WindowServices, tmp_path: Path, until: Until
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    with FakeLLMServer([answer("Of the first project.", stall=True)]) as server:
        use(panel, server)
        type_and_send(panel, "why?")
        await until(lambda: "first project" in shown(panel))
        services.workspace.root = other
        services.workspace.project_opened.emit(other)
        assert "first project" not in shown(panel)
        tasks = services.app.program.tasks
        await until(lambda: all(handle.kind != "conversation" for handle in tasks.handles))
        server.wait_until_left()
    assert not len(panel.model.items)
    assert panel.session_id == ""


async def test_a_design_stopped_at_its_checkpoint_goes_on_there(
    panel: ConversationPanel, until: Until
) -> None:
    panel.toggle_mode()
    type_and_send(panel, "Design an RC low-pass filter with a cutoff of 10 kHz")
    await until(lambda: top_dialog("goalsDialog") is not None, timeout_s=30)
    top_dialog("goalsDialog").start_button.click()
    await until(lambda: panel.model.is_asking, timeout_s=30)
    first = of(panel, Decision)[-1]
    QTest.keyClick(panel.composer.edit, Qt.Key.Key_Escape)
    await until(lambda: not panel.is_running)
    assert panel.model.items.get(first.key).state == "waits"
    assert not of(panel, Interrupted)
    panel.view.acted.emit("answer", first.key, "accept")
    await until(lambda: not panel.is_running, timeout_s=30)
    (again,) = of(panel, Decision)
    assert (again.state, again.met, again.total) == ("chosen", first.met, first.total)
    assert of(panel, DesignEnd)[-1].done.goals_met


async def test_the_title_is_renamed_in_place_and_stays_so(
    panel: ConversationPanel, services: WindowServices, project: Path, until: Until
) -> None:
    type_and_send(panel, "list the files")
    await until(lambda: not panel.is_running and panel.model.sessions)
    row = panel.tab_row
    QTest.mouseDClick(row.tabs, Qt.MouseButton.LeftButton, pos=row.tabs.tabRect(0).center())
    assert row.is_renaming
    QTest.keyClicks(row.name_field, "Not this")
    QTest.keyClick(row.name_field, Qt.Key.Key_Escape)
    assert not row.is_renaming
    assert panel.model.name != "Not this"
    QTest.keyClick(row.tabs, Qt.Key.Key_F2)
    QTest.keyClicks(row.name_field, "Files of the filter")
    QTest.keyClick(row.name_field, Qt.Key.Key_Return)
    await until(lambda: panel.model.sessions[0].name == panel.model.name == "Files of the filter")
    (stored,) = await services.app.conversations.sessions.list(project)
    assert stored.name == "Files of the filter"


async def test_words_of_any_message_are_found_and_shown_where_they_stand(
    panel: ConversationPanel, until: Until
) -> None:
    chats = [answer("It has a phase margin of 61 degrees."), answer("Nothing of the kind.")]
    with FakeLLMServer(chats) as server:
        use(panel, server)
        for text in ("Is it stable?", "What is missing?"):
            panel.new_conversation()
            type_and_send(panel, text)
            await until(lambda: not panel.is_running and panel.session_id)
        panel.show_history()
        dialog = top_dialog("historyDialog")
        await until(lambda: dialog.list.count() == 2)
        QTest.keyClicks(dialog.search, "margin phase")
        await until(lambda: dialog.list.count() == 1)
        await until(lambda: "61 degrees" in dialog.preview.text)
        assert "61 degrees" in dialog.list.item(0).data(Qt.ItemDataRole.UserRole + 1)[0].sentence
        dialog.search.setText("nobody said this")
        await until(lambda: dialog.findChild(QLabel, "historyEmpty").text().startswith("No conversation"))
        assert dialog.list.count() == 0
        dialog.search.setText("")
        assert dialog.list.count() == 2
        dialog.search.setText("margin")
        await until(lambda: dialog.list.count() == 1 and "61 degrees" in dialog.preview.text)
        found = dialog.list.item(0).data(Qt.ItemDataRole.UserRole + 1)[0].message_id
        QTest.keyClick(dialog.search, Qt.Key.Key_Return)
        await until(lambda: panel.model.items.get(found) is not None)
        assert panel.view._marked == found


async def test_the_list_shows_a_preview_renames_and_exports(
    panel: ConversationPanel, tmp_path: Path, until: Until
) -> None:
    type_and_send(panel, "set R1 to 2k in filter.cir")
    await until(lambda: not panel.is_running and panel.model.sessions)
    panel.show_history()
    dialog = top_dialog("historyDialog")
    await until(lambda: "set R1 to 2k" in dialog.preview.text)
    # What is only looked at is copied, and nothing else is offered there.
    document = dialog.preview.surface.text_document
    links = dict(links_between(document, 0, document.characterCount()))
    assert {QUrl(link).path().partition("/")[0] for link in links} <= {"fold", "copy", "copy_code"}
    (copy,) = (link for link in links if QUrl(link).path().startswith("copy/"))
    dialog.preview.surface.anchorClicked.emit(QUrl(copy))
    assert QApplication.clipboard().text() == of(panel, AnswerText)[-1].text
    assert dialog._model.text() == "Built-in designer"
    dialog.search.setText("no equivalent")
    assert dialog.list.count() == 0
    dialog.search.setText("R1")
    await until(lambda: dialog.list.count() == 1)
    dialog.renamed.emit(panel.session_id, "Twice the resistance")
    await until(lambda: panel.model.name == "Twice the resistance")
    await until(lambda: (row := dialog.list.item(0)) is not None and row.text() == "Twice the resistance")
    for kind, sign in (("json", '"session_name": "Twice the resistance"'), ("md", "# "), ("txt", "R1")):
        target = tmp_path / f"exported.{kind}"
        dialog.exported.emit(panel.session_id, kind, target)
        await until(target.exists)
        await until(lambda target=target, sign=sign: sign in target.read_text())
    dialog.reject()
    await until(lambda: not top_dialog("historyDialog"))


async def test_an_interrupted_answer_is_regenerated(panel: ConversationPanel, until: Until) -> None:
    with FakeLLMServer([answer("The first half", stall=True), answer("A whole answer.")]) as server:
        use(panel, server)
        type_and_send(panel, "why?")
        await until(lambda: "first half" in shown(panel))
        await until(lambda: panel.status_line.text)
        panel.stop()
        await until(lambda: not panel.is_running)
        server.wait_until_left()
        mark = of(panel, Interrupted)[-1]
        panel.view.acted.emit("regenerate", mark.key, "")
        await until(lambda: not panel.is_running and of(panel, AnswerText)[-1].text == "A whole answer.")
        (said,) = of(panel, UserText)
        assert (said.text, len(said.versions)) == ("why?", 2)  # the first half is a version of before
        assert panel.model.items.get(mark.key) is None
        assert server.requests[1]["messages"][-1]["content"].endswith("why?")
    # What the last answer filled of the window is known, how large that is is not.
    assert panel.model.context_tokens == 97
    assert "97 tokens" in panel.status_line.meter.text  # how large the window is is not known
    assert "cost unknown" in panel.status_line.pace
    panel.resize(460, 700)  # the figures of both are whole; what is not known of the window is in the tooltip
    pace = panel.status_line.findChild(QLabel, "conversationPace")
    assert pace is not None
    assert pace.width() >= pace.sizeHint().width()
    assert panel.status_line.meter.text == "Context 97 tokens"
    assert "not known" in panel.status_line.meter.toolTip()
    panel.model.cost = Cost(amounts={"USD": 0.0042}, unknown=1)
    panel._refresh_line()
    assert "conversation: 0.0042 USD" in panel.status_line.pace


async def test_a_retry_counts_and_can_be_stopped(panel: ConversationPanel, until: Until) -> None:
    with FakeLLMServer(lambda body: error(429, "slow down")) as server:
        use(panel, server)
        type_and_send(panel, "hello model")
        await until(lambda: of(panel, Retry))
        assert "Retrying in" in shown(panel)
        QTest.keyClick(panel.composer.edit, Qt.Key.Key_Escape)
        await until(lambda: not panel.is_running)
    assert not of(panel, Retry)
    assert of(panel, Interrupted)


async def test_an_error_can_be_left_to_the_builtin_designer(panel: ConversationPanel, until: Until) -> None:
    with FakeLLMServer([error(401, "bad key")]) as server:
        use(panel, server)
        type_and_send(panel, "list the files")
        await until(lambda: not panel.is_running and of(panel, ErrorBlock))
        (block,) = of(panel, ErrorBlock)
        panel.view.acted.emit("offline", block.key, "")
        await until(lambda: not panel.is_running and of(panel, OperationCard))
    assert panel.model.model_name == ""
    assert "filter.cir" in of(panel, AnswerText)[-1].text


async def test_a_message_without_an_answer_can_be_asked_again_later(
    panel: ConversationPanel, until: Until
) -> None:
    with FakeLLMServer([error(401, "bad key"), answer("Here I am.")]) as server:
        use(panel, server)
        type_and_send(panel, "are you there?")
        await until(lambda: not panel.is_running and of(panel, ErrorBlock))
        session = panel.model.session_id
        panel.model.new_conversation()
        panel.open_session(session)
        await until(lambda: of(panel, ErrorBlock))
        assert "requires a key" in shown(panel)
        assert "Continue" not in shown(panel), "there is nothing to go on from"
        panel.view.acted.emit("retry", of(panel, ErrorBlock)[-1].key, "")
        await until(lambda: not panel.is_running and of(panel, AnswerText))
    assert server.requests[-1]["messages"][-1]["content"].endswith("are you there?")


async def test_an_offered_model_is_asked_with_a_click_also_after_reopening(
    panel: ConversationPanel, services: WindowServices, until: Until
) -> None:
    with FakeLLMServer([error(402, "no money")] * 2) as poor, FakeLLMServer([answer("Here.")]) as rich:
        tested = ProviderSettings(base_url=rich.base_url, model="rich", verified_at="2026-01-01T00:00:00Z")
        await asyncio.to_thread(
            services.app.models.settings.change, lambda old: replace(old, providers={"vllm": tested})
        )
        use(panel, poor)
        type_and_send(panel, "are you there?")
        await until(lambda: not panel.is_running and of(panel, ErrorBlock))
        assert "Ask rich instead" in shown(panel)
        session = panel.model.session_id
        panel.model.new_conversation()
        panel.open_session(session)
        await until(lambda: of(panel, ErrorBlock))
        (block,) = of(panel, ErrorBlock)
        assert "Ask rich instead" in shown(panel)
        services.language.set("zh")
        assert "改问 rich" in shown(panel)
        services.language.set("en")
        panel.view.acted.emit("switch", block.key, "0")
        await until(lambda: not panel.is_running and of(panel, AnswerText))
        assert panel.model.choice.provider == "vllm"
        assert (len(poor.requests), len(rich.requests)) == (1, 1)
        assert rich.requests[0]["messages"][-1]["content"].endswith("are you there?")
        # The ways out of what is past lead nowhere any more.
        panel.open_session(session)
        await until(lambda: of(panel, AnswerText) and of(panel, ErrorBlock)[-1].is_spent)
        assert "Ask rich instead" not in shown(panel)


async def test_icons_grow_with_the_scale(panel: ConversationPanel, services: WindowServices) -> None:
    services.theme.set_mode("light", scale=2.0)
    theme = services.theme.theme
    assert panel.mode_button.iconSize().width() == theme.size("icon.small") == 28
    assert panel.composer.model_button.iconSize().width() == theme.size("icon.default") == 32
    assert panel.composer.send_button.iconSize().width() == 32
    assert panel.composer.send_button.width() == theme.size("control.send") == 48
    services.theme.set_mode("light", scale=1.0)


async def test_too_long_a_conversation_is_left_for_a_new_one(panel: ConversationPanel, until: Until) -> None:
    too_long = error(
        400, "This model's maximum context length is 4096 tokens", code="context_length_exceeded"
    )
    with FakeLLMServer([answer("One."), too_long, answer("Two.")]) as server:
        use(panel, server)
        type_and_send(panel, "first")
        await until(lambda: not panel.is_running)
        first = panel.model.session_id
        type_and_send(panel, "second")
        await until(lambda: not panel.is_running and of(panel, ErrorBlock))
        assert "Ask in a new conversation" in shown(panel)
        panel.view.acted.emit("anew", of(panel, ErrorBlock)[-1].key, "")
        await until(
            lambda: (
                panel.model.session_id != first
                and not panel.is_running
                and [item.text for item in of(panel, AnswerText)] == ["Two."]
            )
        )
    assert [item.text for item in of(panel, UserText)] == ["second"]
    assert panel.model.choice.base_url == server.base_url, "the same model is asked"
    _, begins, question = server.requests[-1]["messages"]
    assert "goes on from an earlier one" in begins["content"]
    assert "- first" in begins["content"]
    assert question["content"].endswith("second")


async def test_the_meter_has_the_window_of_the_model_and_says_what_fills_it(
    panel: ConversationPanel, services: WindowServices, until: Until
) -> None:
    usage = {"prompt_tokens": 12_000, "completion_tokens": 384, "total_tokens": 12_384}
    meter = panel.status_line.meter
    with FakeLLMServer([answer("Here.", usage=usage)] * 2) as server:
        panel.model.set_choice(
            ProviderChoice(provider="openai-compatible", model="glm-4.6", base_url=server.base_url)
        )
        type_and_send(panel, "hello")
        await until(lambda: not panel.is_running and panel.use.abilities)
        assert meter.text == "Context 12.4k of 200k"
        assert "6 %" in meter.toolTip()
        assert meter.accessibleName() == meter.text
        QApplication.sendEvent(meter, QEnterEvent(QPointF(), QPointF(), QPointF()))
        await until(lambda: "Tools: " in meter.toolTip())
        report = panel.use.report
        assert report is not None
        assert report.of("system") > 300 < report.of("tools")
        assert report.of("history") > 0 == report.of("pictures")
        assert report.tokens == sum(part.tokens for part in report.parts)
        services.language.set("zh")
        assert "系统消息" in meter.toolTip()
        services.language.set("en")
        # Of a model nobody knows that is said where there is room, with how it is told.
        panel.resize(900, 700)
        panel.model.set_choice(
            ProviderChoice(provider="openai-compatible", model="own-model", base_url=server.base_url)
        )
        await until(lambda: "unknown" in meter.text)
        assert meter.text == "Context 12.4k tokens, context window unknown"
        assert "context_tokens" in meter.toolTip()


def test_the_meter_is_green_orange_and_red() -> None:
    assert [color_of(share) for share in (0.1, 0.59, 0.6, 0.79, 0.8, 1.2)] == [
        *("ok.icon", "ok.icon", "warn.icon", "warn.icon", "error.icon", "error.icon")
    ]


# --- messages that wait --------------------------------------------------------------------------------


def row(panel: ConversationPanel, number: int) -> QWidget:
    rows = [row for row in panel.findChildren(QWidget, f"queued{number}") if row.isVisible()]
    assert len(rows) == 1
    return rows[0]


def press(panel: ConversationPanel, number: int, icon: str) -> None:
    button = row(panel, number).findChild(QToolButton, icon)
    assert button is not None
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def texts(panel: ConversationPanel) -> list[str]:
    return [entry.text for entry in panel.model.queue.entries]


def head(panel: ConversationPanel) -> str:
    queue = panel.findChild(QueuePanel)
    assert queue is not None
    labels = (queue.findChild(QLabel, name) for name in ("queueCount", "queueHow"))
    return " ".join(label.toolTip() or label.text() for label in labels if label is not None)


async def test_each_is_a_row_of_its_own_that_can_be_changed(panel: ConversationPanel, until: Until) -> None:
    with FakeLLMServer([answer("One.", stall=True), *(answer(f"To {n}.") for n in range(4))]) as server:
        use(panel, server)
        type_and_send(panel, "first")
        await until(lambda: "One." in shown(panel))
        for text in ("a", "b\nin two lines", "c", "d"):
            type_and_send(panel, text)
        assert "4 waiting" in head(panel)
        type_and_send(panel, "c")
        assert "waiting already" in panel.notice
        assert panel.composer.text == "c"
        type_and_send(panel, "first")
        assert "being answered" in panel.notice
        panel.composer.set_text("")
        press(panel, 3, "arrow-up")
        assert panel.notice == ""  # it may be no more so
        assert texts(panel) == ["a", "c", "b\nin two lines", "d"]
        press(panel, 4, "x")
        grip = row(panel, 1).findChildren(QLabel)[0]
        height = row(panel, 1).height()
        QTest.mousePress(grip, Qt.MouseButton.LeftButton, pos=QPoint(4, 4))
        QTest.mouseRelease(grip, Qt.MouseButton.LeftButton, pos=QPoint(4, 4 + 2 * height))
        assert texts(panel) == ["c", "b\nin two lines", "a"]
        press(panel, 2, "pencil")
        edit = row(panel, 2).findChild(QPlainTextEdit, "queuedEdit")
        assert edit is not None
        assert edit.toPlainText() == "b\nin two lines"
        QTest.keyClick(edit, Qt.Key.Key_Escape)
        assert texts(panel)[1] == "b\nin two lines"
        press(panel, 2, "pencil")
        edit = row(panel, 2).findChild(QPlainTextEdit, "queuedEdit")
        assert edit is not None
        edit.setPlainText("b")
        assert "nothing is sent" in head(panel)
        QTest.keyClick(edit, Qt.Key.Key_Return)
        assert texts(panel) == ["c", "b", "a"]
        now = panel.findChild(QPushButton, "queueSendNow")
        assert now is not None
        assert now.text() == "Send first now"
        now.click()
        await until(lambda: not panel.model.queue.entries and not panel.is_running)
        assert [item.text for item in of(panel, UserText)] == ["first", "c", "b", "a"]
        assert [item.text for item in of(panel, AnswerText)] == ["One.", "To 0.", "To 1.", "To 2."]


async def test_behind_an_error_it_waits_and_says_so(panel: ConversationPanel, until: Until) -> None:
    refused = replace(error(401, "no such key"), headers_delay_s=0.3)
    scripts = [refused, answer("Two."), answer("Three.")]
    with FakeLLMServer(scripts) as server:
        use(panel, server)
        type_and_send(panel, "first")
        for text in ("second", "third"):
            type_and_send(panel, text)
        await until(lambda: not panel.is_running and "error" in head(panel))
        assert texts(panel) == ["second", "third"]
        now = panel.findChild(QPushButton, "queueSendNow")
        assert now is not None
        assert now.text() == "Send now"
        now.click()
        await until(lambda: len(of(panel, AnswerText)) == 2 and not panel.is_running)
        assert [item.text for item in of(panel, UserText)] == ["first", "second", "third"]


async def test_what_is_edited_when_the_answer_ends_is_sent_behind_the_edit(
    panel: ConversationPanel, until: Until
) -> None:
    with FakeLLMServer([answer("One.", piece_delay_s=0.05), answer("Two.")]) as server:
        use(panel, server)
        type_and_send(panel, "first")
        await until(lambda: panel.model.run_state == "running")
        type_and_send(panel, "second")
        press(panel, 1, "pencil")
        await until(lambda: not panel.is_running)
        assert len(server.requests) == 1
        edit = row(panel, 1).findChild(QPlainTextEdit, "queuedEdit")
        assert edit is not None
        edit.setPlainText("second, better")
        keep = row(panel, 1).findChild(QPushButton, "queueKeep")
        assert keep is not None
        keep.click()
        await until(lambda: len(of(panel, AnswerText)) == 2 and not panel.is_running)
        assert server.requests[1]["messages"][-1]["content"].endswith("second, better")


# --- what is offered while one writes -------------------------------------------------------------------


def offered(panel: ConversationPanel) -> list[str]:
    found = panel.findChild(HitList, "messageCompletion")
    assert found is not None
    rows = found.findChild(RowTree, "commandRows").model()
    return [rows.index(row, 0).data() for row in range(rows.rowCount())] if found.isVisible() else []


def details(panel: ConversationPanel) -> dict[str, str]:
    """What stands at the right of each offered line."""
    found = panel.findChild(HitList, "messageCompletion")
    assert found is not None
    rows = found.findChild(RowTree, "commandRows").model()
    looks = {
        rows.index(row, 0).data(): rows.index(row, 0).data(int(Role.LOOK)) for row in range(rows.rowCount())
    }
    return {name: look.values[0] for name, look in looks.items() if look.values}


def keys(panel: ConversationPanel, *pressed: Qt.Key) -> None:
    for key in pressed:
        QTest.keyClick(panel.composer.edit, key)


async def test_names_of_the_project_are_offered_behind_an_at(
    panel: ConversationPanel,
    services: WindowServices,
    project: Path,
    until: Until,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (project / "my notes.md").write_text("Corner at 1 kHz.")
    for strange in ('a"b.cir', "two\nlines.cir", "turned\u202eric.cir", "\x1b[31mred.cir"):
        (project / strange).write_text("no message can name it")
    services.workspace.shown_file = project / "filter.cir"
    edit = panel.composer.edit
    panel.activateWindow()
    edit.setFocus()
    await until(edit.hasFocus)
    QTest.keyClicks(edit, "Compare")
    QTest.mouseClick(panel.composer.mention_button, Qt.MouseButton.LeftButton)
    assert panel.composer.text == "Compare @"
    await until(lambda: "filter.cir" in offered(panel))
    assert offered(panel)[0] == "Files"
    assert "Nodes of filter.cir" in offered(panel)
    assert offered(panel)[-1].startswith("Tab: ")
    keys(panel, Qt.Key.Key_Tab)
    assert not [name for name in offered(panel) if set(name) & {*'"\n\u202e\x1b'}]
    assert "filter.cir" in offered(panel)
    QTest.keyClicks(edit, "notes")
    assert offered(panel) == ["Files", "my notes.md"]
    keys(panel, Qt.Key.Key_Return)
    assert panel.composer.text == 'Compare @"my notes.md" '
    assert not panel.is_running
    QTest.keyClicks(edit, "with @")
    await until(lambda: offered(panel))
    keys(panel, Qt.Key.Key_Tab, Qt.Key.Key_Tab)
    assert offered(panel)[0] == "Nodes of filter.cir"
    node = offered(panel)[2]
    keys(panel, Qt.Key.Key_Down, Qt.Key.Key_Return)
    assert panel.composer.text == f'Compare @"my notes.md" with @node:{node} '
    QTest.keyClicks(edit, "and @fil")
    await until(lambda: offered(panel))
    keys(panel, Qt.Key.Key_Escape)
    assert offered(panel) == []
    QTest.keyClicks(edit, "t")
    assert offered(panel) == []
    assert panel.composer.text.endswith("and @filt")
    QTest.keyClicks(edit, " me@home.org ")
    assert offered(panel) == []
    selected = SimpleNamespace(selected_lines=lambda: (project / "filter.cir", 2, 3))
    with monkeypatch.context() as patch:
        patch.setattr(services.workspace, "buffers", selected)
        QTest.keyClicks(edit, "why @")
        await until(lambda: offered(panel)[:2] == ["Selection", "filter.cir:2-3"])
    keys(panel, Qt.Key.Key_Return)
    assert panel.composer.text.endswith("why @filter.cir:2-3 ")


async def test_nodes_are_offered_with_their_voltages_and_whether_these_are_of_the_text(
    panel: ConversationPanel, services: WindowServices, project: Path, until: Until
) -> None:
    circuit, workspace = project / "divider.cir", services.workspace
    circuit.write_text("* divider\nV1 in 0 10.04\nR1 in out 1k\nR2 out 0 1k\n.op\n.end\n")
    workspace.shown_file = circuit
    app = services.app
    await app.project.browse.open(project)
    workspace.newest = NewestPoint(services, app.project, app.simulation, lambda _path: None)
    await app.simulation.run(SimulationRequest(circuit=circuit))
    edit = panel.composer.edit
    panel.activateWindow()
    edit.setFocus()
    await until(edit.hasFocus)
    QTest.keyClicks(edit, "@out")
    await until(lambda: details(panel).get("out") == "5.02 V")
    circuit.write_text(circuit.read_text().replace("R2 out 0 1k", "R2 out 0 2k"))
    edit.clear()
    QTest.keyClicks(edit, "@out")
    await until(lambda: details(panel).get("out") == "5.02 V, older text")


async def test_a_slash_at_the_beginning_offers_ready_sentences(
    panel: ConversationPanel, services: WindowServices, project: Path, until: Until
) -> None:
    services.workspace.shown_file = project / "filter.cir"
    edit = panel.composer.edit
    panel.activateWindow()
    edit.setFocus()
    await until(edit.hasFocus)
    QTest.keyClicks(edit, "/")
    assert {"/fix", "/optimize", "/explain", "/report", "/simulate", "/new"} <= set(offered(panel))
    QTest.keyClicks(edit, "ex")
    assert offered(panel) == ["/explain"]
    keys(panel, Qt.Key.Key_Return)
    assert panel.composer.text.startswith("Explain how @filter.cir works")
    assert edit.textCursor().atEnd()
    edit.clear()
    runs: list[bool] = []
    services.workspace.run_requested.connect(lambda: runs.append(True))
    QTest.keyClicks(edit, "/sim")
    keys(panel, Qt.Key.Key_Return)
    assert (runs, panel.composer.text) == ([True], "")
    QTest.keyClicks(edit, "1/2 of R1 /fix")
    assert offered(panel) == []


async def test_up_brings_back_what_was_said_and_long_texts_tell_their_tokens(
    panel: ConversationPanel, until: Until
) -> None:
    with FakeLLMServer([answer("One."), answer("Two.")]) as server:
        use(panel, server)
        for text in ("first", "second\nin two lines"):
            type_and_send(panel, text)
            await until(lambda: not panel.is_running and panel.session_id)
    edit = panel.composer.edit
    keys(panel, Qt.Key.Key_Up)
    assert panel.composer.text == "second\nin two lines"
    keys(panel, Qt.Key.Key_Up, Qt.Key.Key_Up)
    assert panel.composer.text == "first"
    keys(panel, Qt.Key.Key_Down)
    assert panel.composer.text == "second\nin two lines"
    QTest.keyClicks(edit, ", changed")
    keys(panel, Qt.Key.Key_Up, Qt.Key.Key_Up)
    assert panel.composer.text == "second\nin two lines, changed", "a changed text is not thrown away"
    tokens = panel.findChild(QLabel, "messageTokens")
    assert tokens is not None
    assert tokens.text() == ""
    panel.composer.set_text("R1 in out 10k\n" * 100)
    await until(lambda: tokens.text().endswith("tokens"))
    panel.composer.set_text("")
    await until(lambda: tokens.text() == "")


async def test_a_message_on_a_full_disk_says_why_and_comes_back_into_the_input(
    panel: ConversationPanel, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.write

    def full(descriptor: int, data: bytes) -> int:
        if Path(f"/proc/self/fd/{descriptor}").readlink().suffix == ".jsonl":
            raise OSError(errno.ENOSPC, "full")
        return real(descriptor, data)

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        type_and_send(panel, "what is a pole?")
        await until(lambda: of(panel, ErrorBlock) and not panel.is_running)
    (block,) = of(panel, ErrorBlock)
    assert block.error_type == "disk_full"
    assert [way.act for way in error_ways(block)] == ["retry"]
    assert ".jsonl was not written" in shown(panel)
    panel.view.acted.emit("give_up", block.key, "")
    assert panel.composer.text == "what is a pole?"
    assert not of(panel, ErrorBlock)


async def test_what_a_run_does_is_told_whole_before_its_pace(services: WindowServices) -> None:
    line = StatusLine(services)
    line.restyle()
    line.meter.show_use(97, None)
    doing, pace = msg("Answering"), msg("{count} {count:token|tokens}", count=123_456_789_012_345)
    line.resize(230, 30)
    line.show()
    line.show_run(doing, color="text.primary", is_busy=True, pace=pace)
    layout = line.layout()
    assert layout is not None
    layout.activate()
    assert line._text.width() >= line._text.sizeHint().width()
    assert line._pace.width() < line._pace.sizeHint().width()
    line.resize(600, 30)
    layout.activate()
    assert line._pace.width() == line._pace.sizeHint().width()
    line.show_run(None, color="text.primary", is_busy=False, pace=pace)
    layout.activate()
    assert line._pace.width() == line._pace.sizeHint().width()
    line.close()
    line.deleteLater()
