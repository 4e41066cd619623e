"""A turn of another process appears in an open window: all of it, once, and nothing of ours twice."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QApplication, QPushButton

from domain.llm.chat import ProviderChoice
from presentation.panels.conversation.items import AnswerText, Interrupted, UserText, WorkedElsewhere
from presentation.panels.conversation.panel import ConversationPanel
from presentation.ui.workspace import WindowServices
from presentation.window.projects import ProjectDesk
from shared.message import Message
from tests.fakes.llm_server import FakeLLMServer, answer
from tests.ground.forked_commands import ForkedCommands
from tests.gui.conftest import Until
from tests.gui.test_conversation_panel import NoWebView
from tests.integration.conftest import forked_commands

__all__ = ["forked_commands"]

ROOT = Path(__file__).parents[2]


@pytest.fixture
async def panel(services: WindowServices, project: Path, until: Until) -> AsyncIterator[ConversationPanel]:
    desk = ProjectDesk(services, services.app.project, services.app.simulation)
    made = ConversationPanel(services, services.app, probe=NoWebView())  # type: ignore[arg-type]
    desk.conversation_stored.connect(made.note_stored)
    made.show()
    await desk.open(project)
    await until(lambda: not services.app.program.tasks.handles)
    yield made
    await until(lambda: not services.app.program.tasks.handles)
    made.close_panel()
    await desk.close()
    await until(lambda: not services.app.program.tasks.handles)


@pytest.fixture
def chat(forked_commands: ForkedCommands) -> Callable[..., Awaitable[None]]:
    """A turn of a process of its own."""

    async def say(project: Path, *words: str) -> None:
        run = await asyncio.to_thread(forked_commands.run, "chat", project, *words)
        assert run.exit_code == 0, run

    return say


def said(panel: ConversationPanel) -> list[str]:
    return [item.text for item in panel.model.items if isinstance(item, UserText)]


def answers(panel: ConversationPanel) -> int:
    return sum(isinstance(item, AnswerText) for item in panel.model.items)


@pytest.mark.timeout(120)
async def test_a_turn_on_the_command_line_appears(
    panel: ConversationPanel,
    services: WindowServices,
    project: Path,
    until: Until,
    chat: Callable[..., Awaitable[None]],
) -> None:
    def has_ended() -> bool:
        """What appears may have been read before its end, while the other has the conversation open."""
        return all(item.key != "open" for item in panel.model.items)

    told: list[Message] = []
    services.workspace.status_changed.connect(told.append)
    await chat(project, "list the files")  # nothing is shown yet: it is
    await until(lambda: said(panel) == ["list the files"] and answers(panel) == 1)
    await until(has_ended)
    first = panel.model.session_id
    kept = [item.key for item in panel.model.items]
    await chat(project, "check filter.cir", "--session", first)
    await until(lambda: said(panel) == ["list the files", "check filter.cir"] and answers(panel) == 2)
    await until(has_ended)
    assert [item.key for item in panel.model.items][: len(kept)] == kept, "rows that were there stay"
    panel.composer.set_text("list the files")  # ours, behind it
    QTest.keyClick(panel.composer.edit, Qt.Key.Key_Return)
    await until(lambda: not panel.is_running and len(said(panel)) == 3)
    live = [item.key for item in panel.model.items]
    await asyncio.sleep(1)
    assert [item.key for item in panel.model.items] == live, "what we wrote is not read again"
    await chat(project, "list the files")  # another one: what is shown stays, and it is said
    await until(lambda: told)
    assert str(told[-1]) == "“list the files” was continued outside this window."
    assert panel.model.session_id == first
    assert len(panel.model.sessions) == 2


def button(text: str) -> QPushButton | None:
    """One of a question that is open."""
    shown = [widget for widget in QApplication.topLevelWidgets() if widget.isVisible()]
    found = [each for widget in shown for each in widget.findChildren(QPushButton) if each.text() == text]
    return found[0] if found else None


def say(panel: ConversationPanel, text: str) -> None:
    panel.composer.set_text(text)
    QTest.keyClick(panel.composer.edit, Qt.Key.Key_Return)


@pytest.mark.timeout(120)
async def test_a_run_elsewhere_is_followed_and_taken_over_both_ways(
    panel: ConversationPanel, services: WindowServices, project: Path, until: Until
) -> None:
    """The window reads along with a command, takes over, is taken over from, and outlives a killed one."""
    told: list[Message] = []
    services.workspace.error_occurred.connect(told.append)
    script = [answer("One, of the command.", stall=True), answer("Two, of the window.", stall=True),
              answer("Three, of the command.", stall=True)]  # fmt: skip
    with FakeLLMServer(script) as server:
        model = ("--provider", "openai-compatible", "--model", "m", "--base-url", server.base_url)
        command = [sys.executable, str(ROOT / "main.py"), "chat", str(project)]
        first = await asyncio.create_subprocess_exec(*command, "begin", *model, stdout=-3, stderr=-3)
        await until(lambda: isinstance(panel.model.items.last(), WorkedElsewhere) and answers(panel) == 1)
        assert not any(isinstance(item, Interrupted) for item in panel.model.items)
        say(panel, "and then?")
        assert "is working on this conversation" in panel.notice
        panel.view.acted.emit("take_over", "open", "")
        await until(lambda: button("Take over") is not None)
        button("Take over").click()
        await until(lambda: isinstance(panel.model.items.last(), Interrupted))
        assert panel.model.items.last().reason == "taken_over"
        assert panel.notice == ""  # nobody works on it any more
        assert await first.wait() == 130
        panel.model.set_choice(
            ProviderChoice(provider="openai-compatible", model="m", base_url=server.base_url)
        )
        QTest.keyClick(panel.composer.edit, Qt.Key.Key_Return)  # what was refused still stands there
        await until(lambda: panel.is_running and answers(panel) == 2)

        then = ("go on", "--session", panel.session_id, "--take-over", *model)
        second = await asyncio.create_subprocess_exec(*command, *then, stdout=-3, stderr=-3)
        await until(lambda: not panel.is_running and isinstance(panel.model.items.last(), WorkedElsewhere))
        assert "was taken over" in str(told[-1])
        await until(lambda: answers(panel) == 3)
        assert said(panel) == ["begin", "and then?", "go on"]
        second.kill()
        await second.wait()
        await until(lambda: isinstance(panel.model.items.last(), Interrupted))
        assert panel.model.items.last().reason == "interrupted"
