"""The tab Context beside a conversation with a real server on the loopback."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtTest import QTest

from domain.llm.chat import ProviderChoice
from presentation.panels.context_inspector.panel import ContextPanel, export_text
from presentation.panels.conversation.panel import ConversationPanel
from presentation.ui.workspace import WindowServices
from tests.fakes.llm_server import FakeLLMServer, answer, call
from tests.gui.conftest import Until


class NoWebView:
    """As where WebEngine can't be had."""

    async def works(self) -> bool:
        return False


@pytest.fixture
async def panel(services: WindowServices, project: Path, until: Until) -> AsyncIterator[ConversationPanel]:
    services.workspace.root = project
    services.workspace.main_circuit = project / "filter.cir"
    made = ConversationPanel(services, services.app, probe=NoWebView())  # type: ignore[arg-type]
    made.show()
    yield made
    made.close_panel()
    await until(lambda: not services.app.program.tasks.handles)


async def test_it_shows_what_is_really_sent_and_follows(
    panel: ConversationPanel, services: WindowServices, until: Until, tmp_path: Path
) -> None:
    tab = ContextPanel(services, services.app.conversations, lambda: panel.use)
    tab.resize(400, 700)
    reading = answer("", calls=[call("read_file", {"path": "filter.cir"})])
    with FakeLLMServer([reading, answer("It is a low-pass."), answer("Yes.")]) as server:
        panel.model.set_choice(
            ProviderChoice(provider="openai-compatible", model="glm-4.6", base_url=server.base_url)
        )
        tab.show()
        await until(lambda: [name for name, _ in tab.rows] == ["System message", "Tools", "Project"])
        assert tab.total.text().endswith("of 200k")
        tab.tree.setCurrentIndex(tab.tree.model().index(2, 0))
        assert "filter.cir" in tab.text.toPlainText()

        panel.model.set_mode("workflow")
        await until(lambda: [name for name, _ in tab.rows] == ["System message"])
        tab.tree.setCurrentIndex(tab.tree.model().index(0, 0))
        assert "You turn an engineer's request" in tab.text.toPlainText()
        panel.model.set_mode("free")
        await until(lambda: [name for name, _ in tab.rows] == ["System message", "Tools", "Project"])
        tab.tree.setCurrentIndex(tab.tree.model().index(2, 0))

        panel.model.send("What is in it?")
        await until(lambda: not panel.is_running)
        await until(lambda: tab.tree.model().rowCount(tab.tree.model().index(3, 0)) == 4)
        assert "filter.cir" in tab.text.toPlainText(), "what was chosen stays chosen"
        history = tab.tree.model().index(3, 0)
        said = [tab.tree.model().index(row, 0, history).data() for row in range(4)]
        assert said == ["You", "Answer", "Result of read_file", "Answer"]

        # Every text of the report is a text of the next request.
        await until(lambda: panel.use.report is not None)  # naming the conversation makes it stale once more
        report = panel.use.report
        assert report is not None
        panel.model.send("Really?")
        await until(lambda: not panel.is_running)
        body = server.requests[-1]
    sent = [message["content"] for message in body["messages"]]
    system, tools, project, conversation = (part.entries for part in report.parts)
    assert system[0].text == sent[0]
    assert [json.loads(entry.text) for entry in tools] == body["tools"]
    assert sent[-1].startswith(project[0].text)
    assert conversation[0].text == sent[1]
    assert [entry.text for entry in conversation[2:]] == sent[3:5]

    await until(lambda: panel.use.report is not None and panel.use.report is not report)
    exported = json.loads(export_text(report, "json", services.language))
    assert [part["kind"] for part in exported["parts"]] == ["system", "tools", "project", "history"]
    assert exported["window_tokens"] == 200_000
    assert project[0].text in export_text(report, "txt", services.language)
    for language, word in (("zh", "系统消息"), ("en", "System message")):
        services.language.set(language)
        assert tab.rows[0][0] == word
        for theme in ("light", "dark"):
            services.theme.set_mode(theme)
            assert tab.grab().save(str(tmp_path / f"{language}-{theme}.png"))
    QTest.mouseClick(tab.refresh_button, Qt.MouseButton.LeftButton)
    before = panel.use.report
    await until(lambda: panel.use.report is not before)
    services.workspace.project_closed.emit()
    assert tab.rows == []
    assert not tab.text.toPlainText()
    tab.close()
