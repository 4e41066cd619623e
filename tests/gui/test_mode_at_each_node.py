"""The mode is changed behind each node of a design, both ways, by key, menu and button: nothing is lost."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtTest import QTest

from presentation.panels.conversation.items import (
    AnswerText,
    DesignEnd,
    ErrorBlock,
    Interrupted,
    OperationCard,
)
from presentation.window.main_window import MainWindow
from tests.fakes.designing_model import GOALS, DesigningModel, Reply, Request, amplifier, says
from tests.fakes.llm_server import FakeLLMServer
from tests.gui.conftest import Until
from tests.gui.test_design_by_model_in_window import (  # noqa: F401 - fixtures
    WISH,
    keys,
    model,
    open_dialogs,
    panel_of,
    press,
    provider,
    question,
    reopened,
    server,
    stalls,
    type_in,
    window,
)

HALF = {
    "goals": json.dumps(GOALS)[:80],
    "design": "A stage with 470 ohm first.",
    "analysis": "Less gain than asked.",
    "optimize": "Then 4.7k for",
}
"""What each step has said when it is stopped."""


@pytest.mark.timeout(180)
async def test_the_mode_changes_at_each_node_and_back(
    window: MainWindow,  # noqa: F811
    until: Until,
    model: DesigningModel,  # noqa: F811
    server: FakeLLMServer,  # noqa: F811
    stalls: set[str],  # noqa: F811
) -> None:
    def acts(task: str, netlist: str) -> Any:
        def act(request: Request) -> Reply:
            is_done = request.messages[-1]["role"] == "tool"
            return Reply(
                HALF[task], [] if is_done else [("rewrite_file", {"path": "amp.cir", "content": netlist})]
            )

        return act

    model.acts |= {
        "design": acts("design", amplifier("470")),
        "optimize": acts("optimize", amplifier("4.7k")),
    }
    model.acts["analysis"] = says(HALF["analysis"])
    panel = panel_of(window)
    ways = (
        lambda: QTest.keyClick(window, Qt.Key.Key_F4),
        window.commands.action("switchMode").trigger,
        panel.mode_button.click,
    )
    turn = 0

    async def change(mode: str) -> None:
        nonlocal turn
        window.activateWindow()
        await until(window.isActiveWindow)
        ways[turn % 3]()
        turn += 1
        await until(lambda: panel.mode == mode)

    async def there_and_back(task: str) -> None:
        """Stop the step while it talks, talk in free work, come back, and go on with the step."""
        is_shown_whole = task in ("goals", "analysis")
        await until(lambda: task in model.tasks and (is_shown_whole or HALF[task] in panel.view.text))
        for way in ways:
            way()  # refused while it runs
        assert panel.mode == "workflow"
        QTest.keyClick(panel.composer.edit, Qt.Key.Key_Escape)
        await until(lambda: not panel.is_running)
        await asyncio.to_thread(server.wait_until_left, len(server.completions) - 1)
        stalls.clear()
        session = panel.session_id
        await change("free")
        answers = sum(isinstance(item, AnswerText) for item in panel.model.items)
        type_in(panel, "What do you think?")
        await until(
            lambda: (
                not panel.is_running
                and sum(isinstance(item, AnswerText) for item in panel.model.items) > answers
            )
        )
        assert model.tasks[-1] == "chat"
        await change("workflow")
        assert panel.session_id == session
        if not panel.is_running:
            mark = [item for item in panel.model.items if isinstance(item, Interrupted)][-1]
            assert mark.can_continue, mark
            panel.view.acted.emit("go_on", mark.key, "")
        assert panel.is_running

    stalls.add("goals")
    panel.mode_button.click()
    type_in(panel, WISH)
    await there_and_back("goals")
    await until(open_dialogs)
    stalls.add("design")
    open_dialogs()[0].start_button.click()
    await there_and_back("design")
    stalls.add("analysis")
    await there_and_back("analysis")
    await until(lambda: panel.model.is_asking)
    stalls.add("optimize")
    press(panel, "continue")
    await there_and_back("optimize")
    await until(lambda: panel.model.is_asking and question(panel).number == 2)
    await change("free")
    await until(lambda: not panel.is_running)
    assert question(panel).state == "waits"
    await change("workflow")
    await until(lambda: panel.model.is_asking)
    press(panel, "accept")
    await until(lambda: not panel.is_running)
    end = panel.model.items.last()
    assert isinstance(end, DesignEnd)
    assert (end.done.stop_reason, end.done.rounds) == ("goals_met", 2)
    assert (panel.model.root / "amp.cir").read_text("utf-8") == amplifier("4.7k")
    made = [item for item in panel.model.items if isinstance(item, OperationCard)]
    assert [card.is_new_file for card in made] == [True, False]
    assert not any(isinstance(item, ErrorBlock) for item in panel.model.items)
    await reopened(window, until)
