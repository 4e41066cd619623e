"""What is written in a conversation and not sent stands where its writer sees it, whatever is opened."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtTest import QTest

from application.project.window_state import ProjectMemory, WindowState
from presentation.panels.conversation.panel import ConversationPanel
from presentation.panels.conversation.shelf import Shelf, StoredConversation
from presentation.ui.workspace import WindowServices
from tests.fakes.llm_server import FakeLLMServer, answer
from tests.gui.conftest import Until
from tests.gui.test_conversation_panel import NoWebView, type_and_send, use

CONTROL = Qt.KeyboardModifier.ControlModifier


class Desk:
    """One panel after the other, as the program is started again."""

    def __init__(self, services: WindowServices, until: Until) -> None:
        self.services = services
        self._until = until
        self.panel = self.start()

    def start(self) -> ConversationPanel:
        self.panel = ConversationPanel(self.services, self.services.app, probe=NoWebView())  # type: ignore[arg-type]
        self.panel.show()
        return self.panel

    async def settled(self) -> None:
        await self._until(lambda: not self.services.app.program.tasks.handles)

    async def end(self) -> None:
        self.panel.close_panel()
        await self.settled()


@pytest.fixture
async def desk(services: WindowServices, until: Until) -> AsyncIterator[Desk]:
    made = Desk(services, until)
    yield made
    await made.end()


async def said(desk: Desk, project: Path, text: str) -> str:
    """A stored conversation of one question, which is in front; its id."""
    desk.panel.tabs.set_project(project)
    with FakeLLMServer([answer("So it is.")]) as server:
        use(desk.panel, server)
        type_and_send(desk.panel, text)
        await desk.settled()
    return desk.panel.session_id


def press(panel: ConversationPanel, key: Qt.Key) -> None:
    QTest.keyClick(panel.composer.edit, key, CONTROL)


async def test_what_stood_in_a_new_tab_stands_in_the_next_new_one(desk: Desk, project: Path) -> None:
    """Also behind a restart: another conversation was opened where it had been written."""
    stored = await said(desk, project, "why?")
    press(desk.panel, Qt.Key.Key_W)  # closed: it is opened in the tab in front from now on
    await desk.settled()
    QTest.keyClicks(desk.panel.composer.edit, "half a thought")
    desk.panel.open_session(stored)
    await desk.settled()
    assert (desk.panel.session_id, desk.panel.composer.text) == (stored, "")
    memory, drafts = desk.panel.tabs.memory(), desk.panel.tabs.drafts()
    press(desk.panel, Qt.Key.Key_T)
    assert desk.panel.composer.text == "half a thought"
    await desk.end()
    again = desk.start()
    again.tabs.bring_back(project, *memory, drafts)
    again.tabs.set_project(project)
    await desk.settled()
    assert (again.session_id, again.composer.text) == (stored, "")
    press(again, Qt.Key.Key_T)
    assert again.composer.text == "half a thought"


async def test_what_is_written_while_a_conversation_is_read_stays_before_its_writer(
    desk: Desk, project: Path, monkeypatch: pytest.MonkeyPatch, until: Until
) -> None:
    """The newest one is shown at the start, and one that others begin: unless something is begun here."""
    stored = await said(desk, project, "why?")
    await desk.end()
    read, is_read, may_go = Shelf.read, asyncio.Event(), asyncio.Event()

    async def slow(shelf: Shelf, *order: Any, **more: Any) -> StoredConversation:
        found = await read(shelf, *order, **more)
        is_read.set()
        await may_go.wait()
        return found

    monkeypatch.setattr(Shelf, "read", slow)
    panel = desk.start()
    panel.tabs.set_project(project)
    await is_read.wait()
    QTest.keyClicks(panel.composer.edit, "first of all")
    may_go.set()
    await desk.settled()
    assert (panel.session_id, panel.composer.text) == ("", "first of all")
    panel.open_session(stored)  # asked for, it is shown
    await desk.settled()
    assert panel.session_id == stored


async def test_each_draft_comes_back_with_its_tab_when_the_project_does(
    desk: Desk, project: Path, tmp_path: Path
) -> None:
    """Left for another project in the same window; the one in front was empty, and does not come back."""
    stored = await said(desk, project, "why?")
    QTest.keyClicks(desk.panel.composer.edit, "behind it")
    press(desk.panel, Qt.Key.Key_T)
    QTest.keyClicks(desk.panel.composer.edit, "a new one")
    desk.panel.model.reads_only = True
    press(desk.panel, Qt.Key.Key_T)
    saved = desk.panel.tabs.memory(), desk.panel.tabs.drafts()
    desk.panel.tabs.set_project(tmp_path / "other")
    await desk.settled()
    assert desk.panel.composer.text == ""
    desk.panel.tabs.bring_back(project, *saved[0], saved[1])
    desk.panel.tabs.set_project(project)
    tabs = desk.panel.tabs
    assert tabs.is_bringing_back
    assert (tabs.memory(), tabs.drafts()) == saved  # what is kept now is what was left
    await desk.settled()
    assert [(tab.session_id, tab.unsent) for tab in tabs.all] == [(stored, "behind it"), ("", "a new one")]
    assert tabs.front is tabs.all[1]
    assert [tab.reads_only for tab in tabs.all] == [False, True]
    assert tabs.drafts() == {stored: "behind it"}  # of the new one it is kept with its tab
    assert [tab.draft for tab in tabs.memory()[0]] == ["", "a new one"]


async def test_what_is_still_to_be_filled_in_comes_back_with_its_draft(
    desk: Desk, project: Path, until: Until
) -> None:
    """Behind a restart: of a conversation and of a new tab, in the middle of what was filled in."""
    desk.services.workspace.shown_file = project / "filter.cir"
    await said(desk, project, "why?")
    edit = desk.panel.composer.edit
    desk.panel.activateWindow()
    edit.setFocus()
    await until(edit.hasFocus)
    QTest.keyClicks(edit, "/sw")
    QTest.keyClick(edit, Qt.Key.Key_Return)
    QTest.keyClicks(edit, "R1")
    press(desk.panel, Qt.Key.Key_T)
    QTest.keyClicks(edit, "/monte")
    QTest.keyClick(edit, Qt.Key.Key_Return)
    tabs = desk.panel.tabs
    memory = ProjectMemory(conversations=tabs.memory()[0], drafts=tabs.drafts(), gaps=tabs.gaps())
    states = desk.services.app.program.window_state
    await asyncio.to_thread(states.save, WindowState().with_memory(project, memory))
    await desk.end()
    again, kept = desk.start(), (await asyncio.to_thread(states.load)).memory_of(project)
    again.tabs.bring_back(project, kept.conversations, 0, kept.drafts, kept.gaps)
    again.tabs.set_project(project)
    await desk.settled()

    def marked() -> list[str]:
        return [each.cursor.selectedText() for each in again.composer.edit.extraSelections()]

    assert marked() == ["R1", "<first value>", "<last value>", "E6 values", "what it does to the goals"]
    QTest.keyClick(again.composer.edit, Qt.Key.Key_Return)
    assert again.notice == "Fill in: first value"
    again.tabs.step(1)
    assert marked() == ["1 %", "5 %"]
