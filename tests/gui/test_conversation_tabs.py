"""Several conversations side by side: clicks and keys on their tabs, with the real use cases."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import AsyncIterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from PyQt6.QtCore import QObject, Qt
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QLabel, QToolButton, QWidget

from application.project.window_state import ConversationTab
from domain.llm.provider_settings import ProviderSettings
from presentation.dialogs.goals import GoalsDialog
from presentation.panels.conversation.items import AnswerText, ErrorBlock, Interrupted, UserText
from presentation.panels.conversation.panel import ConversationPanel
from presentation.panels.conversation.tab_row import TabLook, TabRow
from presentation.ui.questions import SmallDialog
from presentation.ui.workspace import WindowServices
from shared.message import Message
from tests.fakes.llm_server import FakeLLMServer, answer, call
from tests.ground.campaign import Campaign, campaigns
from tests.gui.conftest import Until, flush_deletions
from tests.gui.test_compression_in_window import click_link
from tests.gui.test_conversation_panel import NoWebView, of, shown, top_dialog, type_and_send, use

LEFT, MIDDLE = Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton
CONTROL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
async def panel(services: WindowServices, project: Path, until: Until) -> AsyncIterator[ConversationPanel]:
    made = await opened(services, project)
    yield made
    made.close_panel()
    await until(lambda: not services.app.program.tasks.handles)


async def opened(services: WindowServices, project: Path) -> ConversationPanel:
    services.workspace.root = project
    services.workspace.main_circuit = project / "filter.cir"
    made = ConversationPanel(services, services.app, probe=NoWebView())  # type: ignore[arg-type]
    made.resize(440, 800)
    made.show()
    await asyncio.sleep(0)
    return made


def click_tab(panel: ConversationPanel, index: int, button: Qt.MouseButton = LEFT) -> None:
    tabs = panel.tab_row.tabs
    QTest.mouseClick(tabs, button, pos=tabs.tabRect(index).center())


def new_tab(panel: ConversationPanel) -> None:
    QTest.mouseClick(panel.findChild(QToolButton, "newConversation"), LEFT)


def states(panel: ConversationPanel) -> list[str]:
    return [look.state for look in panel.tab_row.looks]


async def press(panel: ConversationPanel, text: str, until: Until) -> None:
    """The button of this text in the question that is asked."""
    await until(lambda: any(each.isVisible() for each in panel.findChildren(SmallDialog)))
    (dialog,) = (each for each in panel.findChildren(SmallDialog) if each.isVisible())
    QTest.mouseClick(next(each for each in dialog.buttons() if each.text() == text), LEFT)
    await until(lambda: not any(each.isVisible() for each in panel.findChildren(SmallDialog)))
    panel.activateWindow()
    panel.composer.edit.setFocus()
    await until(panel.isActiveWindow)


async def test_two_conversations_stream_side_by_side_and_the_page_shows_the_one_in_front(
    panel: ConversationPanel, until: Until
) -> None:
    long = " ".join(f"The first answer, sentence {number}." for number in range(40))
    with FakeLLMServer([answer(long, stall=True), answer("The second one.")]) as server:
        use(panel, server)
        type_and_send(panel, "first?")
        await until(lambda: "sentence 39" in shown(panel))
        first = panel.model
        new_tab(panel)
        use(panel, server)
        assert states(panel) == ["running", "idle"]
        type_and_send(panel, "second?")
        await until(lambda: not panel.is_running and "The second one." in shown(panel))
        assert "first" not in shown(panel)
        assert first.is_running
        assert panel.tabs.at_work_beside(panel.model) == ("first?",)
        panel.composer.set_text("half a thought")
        click_tab(panel, 0)
        assert panel.model is first
        assert panel.composer.text == ""
        assert "sentence 39" in shown(panel)
        assert "The second one." not in shown(panel)
        type_and_send(panel, "then this")
        panel.stop()
        await until(lambda: not first.is_running)
        assert panel.composer.text == "then this"
        QTest.keyClick(panel.composer.edit, Qt.Key.Key_Tab, CONTROL)
        assert panel.composer.text == "half a thought"
        # What has ended behind is told by the dot until somebody looks.
        server.add(answer("Of the first again."))
        click_tab(panel, 0)
        type_and_send(panel, "once more")
        click_tab(panel, 1)
        await until(lambda: states(panel) == ["ended", "idle"])
        assert panel.tab_row.tabs.accessibleTabName(0).endswith("has ended")
        assert "again" not in shown(panel)
        click_tab(panel, 0)
        assert "Of the first again." in shown(panel)
        assert states(panel) == ["idle", "idle"]


async def test_closing_a_running_tab_asks_once_what_becomes_of_the_run(
    panel: ConversationPanel, services: WindowServices, project: Path, until: Until
) -> None:
    told: list[Message] = []
    services.workspace.status_changed.connect(told.append)
    with FakeLLMServer([answer("It is stable.", stall=True), answer("So far", stall=True)]) as server:
        use(panel, server)
        type_and_send(panel, "stable?")
        await until(lambda: "It is stable." in shown(panel))
        behind = panel.model
        new_tab(panel)
        use(panel, server)
        click_tab(panel, 0, MIDDLE)
        await press(panel, "Cancel", until)
        assert panel.tab_row.tabs.count() == 2
        click_tab(panel, 0, MIDDLE)
        await press(panel, "Continue in the background", until)
        await until(lambda: panel.tab_row.tabs.count() == 1)
        assert behind.is_running
        # The list names it as running, and it comes back when it is opened.
        panel.open_session(behind.session_id)
        assert panel.model is behind
        QTest.keyClick(panel.composer.edit, Qt.Key.Key_W, CONTROL)
        await press(panel, "Stop it", until)
        await until(lambda: panel.tab_row.tabs.count() == 1)
        stored = await services.app.conversations.sessions.show(project, behind.session_id)
        assert stored.messages[-1].text == "It is stable."
        # The last one's place is taken by a new one; what was written into it is there again.
        panel.composer.set_text("not sent yet")
        QTest.keyClick(panel.composer.edit, Qt.Key.Key_W, CONTROL)
        await until(lambda: panel.composer.text == "")
        QTest.keyClick(panel.composer.edit, Qt.Key.Key_T, CONTROL)
        assert panel.composer.text == "not sent yet"


async def test_what_a_closed_tab_could_not_write_is_kept(
    panel: ConversationPanel, project: Path, until: Until
) -> None:
    kept = project / ".circuit_ai" / "conversations"
    kept.parent.mkdir(exist_ok=True)
    kept.write_text("no folder: nothing can be written\n", encoding="utf-8")
    for words in ("first", "second"):  # closed one behind the other, and neither takes the other's place
        panel.composer.set_text(words)
        panel.tabs.remove(panel.model)
    assert panel.tabs.drafts() == {"": "first\nsecond"}
    with FakeLLMServer([answer("It is stable.")]) as server:
        use(panel, server)
        type_and_send(panel, "stable?")
        behind = panel.model
        panel.tabs.remove(behind, goes_on=True)
        assert behind in panel.tabs.behind
        assert panel.tabs.drafts() == {"": "first\nsecond\nstable?"}  # were the program killed now
        await until(lambda: not behind.is_running)
    assert behind in panel.tabs.all  # its error is to be seen
    kept_tabs, _ = panel.tabs.memory()
    assert [tab.draft for tab in kept_tabs] == ["", "stable?"]
    new_tab(panel)
    assert panel.composer.text == "first\nsecond"
    kept.unlink()


async def test_another_conversation_stops_the_run_of_its_tab_and_says_so(
    panel: ConversationPanel, services: WindowServices, project: Path, until: Until
) -> None:
    told: list[Message] = []
    services.workspace.status_changed.connect(told.append)
    with FakeLLMServer([answer("Short."), answer("It rings at", stall=True)]) as server:
        use(panel, server)
        type_and_send(panel, "one")
        await until(lambda: not panel.is_running and panel.session_id)
        one = panel.session_id
        new_tab(panel)
        use(panel, server)
        type_and_send(panel, "two")
        await until(lambda: "It rings at" in shown(panel))
        two = panel.session_id
        panel.open_session(one)  # it is in the other tab: that one is shown, and nothing is stopped
        assert panel.session_id == one
        assert states(panel) == ["idle", "running"]
        QTest.keyClick(panel.composer.edit, Qt.Key.Key_W, CONTROL)
        await until(lambda: panel.tab_row.tabs.count() == 1)
        panel.open_session(one)
        await until(lambda: panel.session_id == one)
        assert any("was stopped and kept" in str(each) for each in told)
        assert panel.tab_row.tabs.count() == 1
        panel.open_session(two)
        await until(lambda: panel.session_id == two)
    assert of(panel, AnswerText)[-1].text == "It rings at"
    assert of(panel, Interrupted)[-1].reason == "session_switch"

    # From the list of conversations it can be opened beside, too.
    panel.show_history()
    dialog = top_dialog("historyDialog")
    await until(lambda: dialog.list.count() == 2)
    (row,) = (row for row in (0, 1) if not dialog.shows(dialog.list.item(row).data(Qt.ItemDataRole.UserRole)))
    dialog.list.setCurrentRow(row)
    QTest.keyClick(dialog.list, Qt.Key.Key_Return, CONTROL)
    await until(lambda: panel.session_id == one)
    assert [tab.session_id for tab in panel.tabs.all] == [two, one]


async def test_a_branch_goes_on_in_a_tab_of_its_own_and_its_conversation_stays(
    panel: ConversationPanel, services: WindowServices, project: Path, until: Until
) -> None:
    def run_branch() -> None:
        edit = panel.composer.edit
        panel.activateWindow()
        edit.setFocus()
        QTest.keyClicks(edit, "/bra")
        QTest.keyClick(edit, Qt.Key.Key_Return)

    run_branch()
    await until(lambda: panel.notice.startswith("This conversation is empty"))
    usage = {"prompt_tokens": 1200, "completion_tokens": 30, "total_tokens": 1230}
    steps = [answer("One.", usage=usage), answer("Behind the branch."), answer("In the first.")]
    with FakeLLMServer(steps) as server:
        use(panel, server)
        type_and_send(panel, "first?")
        await until(lambda: not panel.is_running and panel.session_id)
        old, sessions = panel.session_id, services.app.conversations.sessions
        alone = await sessions.spent(project, old)
        run_branch()
        await until(lambda: panel.session_id not in ("", old) and "One." in shown(panel))
        new = panel.session_id
        assert [tab.session_id for tab in panel.tabs.all] == [old, new]
        assert (panel.model.name, panel.model.choice) == ("first? (branch)", panel.tabs.all[0].choice)
        whole, of_project = await sessions.spent(project, new)
        assert whole.answers.usage == alone[0].answers.usage
        assert of_project == alone[1], "an answer that both have was paid for once"
        type_and_send(panel, "and then?")
        await until(lambda: not panel.is_running and "Behind the branch." in shown(panel))
        told = [message["content"] for message in server.requests[-1]["messages"]]
        assert "One." in told
        click_tab(panel, 0)
        assert "Behind" not in shown(panel)
        type_and_send(panel, "and here?")
        await until(lambda: not panel.is_running and "In the first." in shown(panel))
        assert not any("and then?" in str(each["content"]) for each in server.requests[-1]["messages"])
        # From a message: what stood before one's own, which is written anew; up to an answer with it.
        click_link(panel, "branch")
        await until(lambda: panel.session_id not in ("", old, new))
        assert (panel.composer.text, of(panel, UserText)) == ("first?", [])
        assert len(panel.tabs.all) == 3
        click_tab(panel, 0)
        surface = panel.view.surface
        surface.setFocus()
        wanted = f"act:branch/{of(panel, AnswerText)[0].key}/"
        for _ in range(40):
            QTest.keyClick(surface, Qt.Key.Key_Tab)
            if surface.textCursor().charFormat().anchorHref() == wanted:
                break
        QTest.keyClick(surface, Qt.Key.Key_Return)
        await until(lambda: len(panel.tabs.all) == 4 and "One." in shown(panel))
        assert [item.text for item in panel.model.items] == ["first?", "One."]
        assert panel.composer.text == ""
        assert panel.composer.edit.hasFocus()
    by_id = {info.session_id: info for info in await sessions.list(project)}
    assert [(by_id[key].message_count, by_id[key].is_ours) for key in (old, new)] == [(4, True)] * 2
    found = await services.app.conversations.search(project, "One")
    assert {hit.session_id for hit in found.hits} == {old, new, panel.session_id}


async def test_a_question_waits_until_its_tab_is_in_front(panel: ConversationPanel, until: Until) -> None:
    panel.toggle_mode()
    type_and_send(panel, "Design an RC low-pass filter with a cutoff of 10 kHz")
    new_tab(panel)
    await until(lambda: states(panel) == ["waiting", "idle"], timeout_s=30)
    assert top_dialog("goalsDialog") is None
    assert panel.tab_row.tabs.accessibleTabName(0).endswith("waits for your decision")
    panel.toggle_mode()  # a project has one design at a time
    type_and_send(panel, "Design an RC high-pass filter with a cutoff of 1 kHz")
    await until(lambda: of(panel, ErrorBlock))
    assert of(panel, ErrorBlock)[-1].error_type == "design_running"
    QTest.mouseClick(panel.findChild(QToolButton, "conversationHistory"), LEFT)
    menu = panel.tab_row.findChild(QWidget, "conversationsMenu")
    assert "waits for your decision" in menu.actions()[0].text()
    menu.actions()[0].trigger()
    menu.close()
    await until(lambda: top_dialog("goalsDialog") is not None)
    dialog = top_dialog("goalsDialog")
    assert isinstance(dialog, GoalsDialog)
    told = [label.text() for label in dialog.findChildren(QLabel)]
    assert any(text.startswith("Conversation “Design an RC low-pass") for text in told)
    dialog.reject()
    await until(lambda: not panel.is_running)


async def test_tabs_come_back_as_they_were(
    panel: ConversationPanel, services: WindowServices, project: Path, until: Until
) -> None:
    text = "\n\n".join(f"Paragraph {number}." for number in range(80))
    with FakeLLMServer([answer(text), answer("Fine.")]) as server:
        set_up = ProviderSettings(base_url=server.base_url, model="small")
        change = services.app.models.settings.change
        change_to = partial(replace, providers={"openai-compatible": set_up})
        await asyncio.to_thread(change, change_to)
        use(panel, server)
        for words in ("long, and wider than its share of the row", "short, and wider than its share too"):
            type_and_send(panel, words)
            await until(lambda: not panel.is_running and panel.session_id)
            panel.composer.set_text(f"behind {words[:5].strip(',')}")
            new_tab(panel)
            use(panel, server)
    panel.set_choice(replace(panel.model.choice, model="large", thinking="high", search=False))
    panel.composer.set_text("a new one")
    gone = project / "gone.txt"
    for file in (project / "note.txt", gone):
        file.write_text(f"{file.name}: five volts")
        panel.model.pending.attach_paths([file])
    await until(lambda: not panel.model.pending.is_reading)
    QTest.mouseClick(panel.findChild(QToolButton, "readOnly"), LEFT)
    panel.tab_row.tabs.moveTab(2, 0)
    click_tab(panel, 1)
    bar = panel.view.surface.verticalScrollBar()
    bar.setValue(bar.maximum() // 2)
    place, seen = panel._messages.place, bar.value()
    assert place.key
    click_tab(panel, 2)
    click_tab(panel, 1)
    assert bar.value() == seen, "a tab keeps its place"
    kept, front = panel.tabs.memory()
    drafts = panel.tabs.drafts()
    gone.unlink()
    panel.hide()
    again = ConversationPanel(services, services.app, probe=NoWebView())  # type: ignore[arg-type]
    again.resize(440, 800)
    again.tabs.bring_back(project, kept, front, drafts)
    again.show()
    try:
        await until(lambda: again.tab_row.tabs.count() == 3 and "Paragraph" in shown(again))
        assert [tab.session_id for tab in again.tabs.all] == [each.conversation for each in kept]
        assert [tab.choice for tab in again.tabs.all] == [tab.choice for tab in panel.tabs.all]
        tabs = again.tab_row.tabs
        await until(lambda: tabs.tabRect(2).right() < tabs.width())  # each can be read
        assert all("…" in tabs.tabText(index) for index in (1, 2))
        assert again.composer.text == "behind long"
        assert again._messages.place == place
        click_tab(again, 0)
        assert again.composer.text == "a new one"
        await until(lambda: not again.model.pending.is_reading)
        assert [file.name for file in again.model.pending.files] == ["note.txt"]
        assert again.model.reads_only
        click_tab(again, 2)
        await until(lambda: "Fine." in shown(again))
        assert again.composer.text == "behind short"
        assert not again.model.reads_only
    finally:
        again.close_panel()
        panel.show()


def test_names_without_room_are_cut_so_that_they_are_told_apart(services: WindowServices) -> None:
    row = TabRow(services)
    row.restyle()
    row.resize(330, row.height())
    row.show()
    for names, told in (
        (
            ["Design an RC low-pass filter", "Design an RC high-pass filter", "Design an op-amp", "Noise"],
            ["…lo", "…hi", "…op", "Noise"],
        ),
        (
            ["设计一个低通滤波器，10 kHz", "设计一个高通滤波器，10 kHz", "设计一个高通放大器，增益 10"] * 2,
            ["…低", "…滤", "…放"] * 2,
        ),
        (["The same sentence for all"] * 5, ["T"] * 5),
        (["The same sentence for all", "The same sentence…", "The same se…", "Noise"], ["T", "T", "T", "N"]),
    ):
        row.show_tabs([TabLook(key=f"{n}", name=name, state="idle") for n, name in enumerate(names)], "0")
        shown = [row.tabs.tabText(index) for index in range(row.tabs.count())]
        assert all(text.startswith(start) for text, start in zip(shown, told, strict=True)), shown
        assert [row.tabs.tabToolTip(index) for index in range(len(names))] == names
    row.close()
    row.deleteLater()


async def test_a_workflow_is_shown_as_one_from_its_first_moment(
    services: WindowServices, project: Path, until: Until
) -> None:
    def words() -> str:
        return made.mode_button.text().strip()

    made = ConversationPanel(services, services.app, probe=NoWebView())  # type: ignore[arg-type]
    made.show()
    made.tabs.begins_as = "workflow"  # a sentence of the welcome page opens a folder of its own
    made.tabs.set_project(project / "new")
    assert words() == "Workflow"
    made.tabs.begins_as = "free"
    made.tabs.bring_back(project, (ConversationTab(mode="workflow", draft="A filter"),), 0, {})
    made.tabs.set_project(project)
    assert words() == "Workflow"
    await until(lambda: made.composer.text == "A filter")
    assert words() == "Workflow"
    made.close_panel()
    await until(lambda: not services.app.program.tasks.handles)


async def test_a_conversation_that_only_reads_gives_the_model_reading_tools_only(
    panel: ConversationPanel, services: WindowServices, project: Path, until: Until
) -> None:
    writing = call("rewrite_file", {"path": "new.cir", "content": "* new\n.end\n"})
    said = [answer(calls=[writing]), answer("I can't."), answer(calls=[writing]), answer("Yes.")]
    offered: list[Path] = []
    services.workspace.file_offered.connect(offered.append)
    with FakeLLMServer(said) as server:
        use(panel, server)
        QTest.mouseClick(panel.findChild(QToolButton, "readOnly"), LEFT)
        type_and_send(panel, "write a new file")
        await until(lambda: not panel.is_running and panel.session_id)
        names = {tool["function"]["name"] for tool in server.requests[0]["tools"]}
        executor = services.app.conversations.chat.deps.executor()
        assert names
        assert {executor.effect_of(name) for name in names} == {"read"}
        assert not (project / "new.cir").exists()
        new_tab(panel)  # of this conversation only
        use(panel, server)
        type_and_send(panel, "and here?")
        await until(lambda: not panel.is_running and panel.session_id)
        assert {"rewrite_file"} <= {tool["function"]["name"] for tool in server.requests[-1]["tools"]}
    assert offered == [project / "new.cir"]  # a circuit that was written is looked at next


@campaigns(fast=5, whole=50)
async def test_tabs_opened_and_closed_leave_nothing(
    panel: ConversationPanel, until: Until, campaign: Campaign
) -> None:
    panel.composer.set_text("first")
    before = len(panel.findChildren(QObject))
    left = []
    for number in range(campaign.count):
        QTest.keyClick(panel.composer.edit, Qt.Key.Key_T, CONTROL)
        if number == 0:
            type_and_send(panel, "list the files")
            await until(lambda: not panel.is_running and panel.session_id)
        panel.composer.set_text("a draft")
        left.append(weakref.ref(panel.model))
        QTest.keyClick(panel.composer.edit, Qt.Key.Key_W, CONTROL)
        await until(lambda: panel.tab_row.tabs.count() == 1)
    await until(lambda: not panel._services.app.program.tasks.handles)
    flush_deletions()
    gc.collect()
    assert not [each for each in left if each() is not None]
    assert len(panel.findChildren(QObject)) <= before + 5
