"""A call under way in the conversation: how far it is, ended by its own button; a pause that is given up."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtTest import QTest

from domain.llm.chat import ProviderChoice
from presentation.panels.conversation.items import AnswerText, ErrorBlock, OperationCard, Retry
from presentation.panels.conversation.panel import ConversationPanel
from presentation.panels.conversation.plain_view import PlainConversation
from presentation.panels.conversation.use_popup import UsePopup
from presentation.panels.debug.panel import UseView
from presentation.panels.debug.tally import EventTally
from presentation.ui.workspace import WindowServices
from tests.fakes.llm_server import FakeLLMServer, answer, call, error
from tests.gui.conftest import Until
from tests.integration.agent.test_ending_one_call import RC, STUDY


class NoWebView:
    """As where WebEngine can't be had."""

    async def works(self) -> bool:
        return False


@pytest.fixture
async def panel(services: WindowServices, project: Path, until: Until) -> AsyncIterator[ConversationPanel]:
    services.workspace.root = project
    made = ConversationPanel(services, services.app, probe=NoWebView())  # type: ignore[arg-type]
    made.resize(440, 800)
    made.show()
    yield made
    made.close_panel()
    await until(lambda: not services.app.program.tasks.handles)


def only(panel: ConversationPanel, kind: type) -> Any:
    (item,) = [item for item in panel.model.items if isinstance(item, kind)]
    return item


def say(panel: ConversationPanel, text: str) -> None:
    panel.composer.set_text(text)
    QTest.keyClick(panel.composer.edit, Qt.Key.Key_Return)


async def test_a_study_tells_how_far_it_is_and_ends_by_its_button(
    panel: ConversationPanel, services: WindowServices, project: Path, until: Until
) -> None:
    await asyncio.to_thread((project / "rc.cir").write_text, RC)
    script = [
        answer("", calls=[call("run_study", STUDY)]),
        answer("Stopped, then."),
        error(429, "slow down", headers={"Retry-After": "50"}),
    ]
    view = panel.view
    assert isinstance(view, PlainConversation)
    with FakeLLMServer(script) as server:
        panel.model.set_choice(
            ProviderChoice(provider="openai-compatible", model="m", base_url=server.base_url)
        )
        say(panel, "yield?")
        await until(lambda: re.search(r"[1-9]\d* of 5000 runs", view.surface.toPlainText()) is not None)
        card = only(panel, OperationCard)
        await until(lambda: "/5000 runs" in panel.status_line.text)
        view.surface.setFocus()
        at_link = lambda: view.surface.textCursor().charFormat().anchorHref()  # noqa: E731
        while "end_call" not in at_link():
            QTest.keyClick(view.surface, Qt.Key.Key_Tab)
        drawn = only(panel, OperationCard).progress
        await until(
            lambda: only(panel, OperationCard).progress != drawn
        )  # the row is another, the place is not
        assert "end_call" in at_link()
        QTest.keyClick(view.surface, Qt.Key.Key_Return)
        await until(lambda: not panel.is_running)
        card = only(panel, OperationCard)
        assert (card.state, card.progress) == ("done", None)
        assert str(card.summary).startswith("Stopped by you. Simulated rc.cir")
        assert only(panel, AnswerText).text == "Stopped, then."
        say(panel, "and now?")
        await until(lambda: panel.status_line.text.startswith("Retrying in"))
        assert "Stop retrying" in view.surface.toPlainText()
        view.acted.emit("skip_wait", only(panel, Retry).key, "")
        await until(lambda: not panel.is_running)
        assert only(panel, ErrorBlock).error_type == "rate_limited"
        assert len(server.completions) == 3
        QTest.mouseClick(panel.status_line.meter, Qt.MouseButton.LeftButton)
        await until(lambda: panel.findChild(UsePopup) is not None)
        told = panel.findChild(UsePopup).text
        QTest.keyClick(panel.findChild(UsePopup), Qt.Key.Key_Escape)
        await until(lambda: panel.findChild(UsePopup) is None)
    assert "Last answer\n90 tokens sent, 7 received" in told
    assert "This conversation\n2 answers in" in told
    assert "1 tool call in" in told
    assert "1 of 2 turns ended with an error" in told
    debug = UseView(services, services.app, EventTally(services.app.program.events))
    await debug.refresh()
    assert "Errors: rate_limited 1" in debug.toPlainText()
    assert "2 answers in" in debug.toPlainText()
