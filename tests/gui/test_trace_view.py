"""The traces in the tab Debug: turns, their steps when they are opened, what failed."""

from __future__ import annotations

import asyncio
from pathlib import Path

from application.workflow.design_sessions import Answer, DesignRequest, Question
from infrastructure.tracing.spans import TurnSpans
from presentation.panels.debug.tally import EventTally
from presentation.panels.debug.trace_view import TraceView
from presentation.ui.workspace import WindowServices
from shared.ulid import new_ulid
from tests.gui.conftest import Until


async def a_failed_turn(database: Path) -> None:
    async with TurnSpans().turn(database, turn_id=new_ulid(), session_id="s", name="turn") as turn:
        turn.note(outcome="loop")
        with turn.child("agent_loop") as loop, loop.child("tool patch_file") as tool:
            tool.fail("no_match")


async def test_turns_open_into_their_steps(services: WindowServices, project: Path, until: Until) -> None:
    view = TraceView(services, services.app.program, EventTally(services.app.program.events))
    opened = await services.app.project.browse.open(project)
    services.workspace.root = opened.root
    await view.refresh()
    assert view.currentWidget() is not view.tree, "nothing was traced yet, and that is said"

    async def yes(question: Question) -> Answer:
        return "accept" if question.kind == "checkpoint" else "continue"

    sentence = "a first order low-pass filter with a cutoff of 1 kHz"
    await services.app.design.run(
        DesignRequest(project=project, text=sentence), ask=yes, emit=lambda _event: None
    )
    await a_failed_turn(project / ".circuit_ai" / "traces.sqlite")
    await view.refresh()
    model = view.tree.model()
    assert model is not None
    assert model.rowCount() == 2
    assert "turn" in str(model.index(0, 0).data()), "the newest first"
    assert "simulation" not in view.plain_text, "what is not open is not read"

    for row in range(2):
        view.tree.expand(view.tree.model().index(row, 0))  # type: ignore[union-attr]
    await until(lambda: "simulation" in view.plain_text and "tool patch_file" in view.plain_text)
    assert "failed: no_match" in view.plain_text
    assert "repeating the same steps" in view.plain_text
    assert view.tree.isExpanded(view.tree.model().index(1, 0))  # type: ignore[union-attr]

    services.language.set("zh")
    assert "失败：no_match" in view.plain_text
    shown = view.tree.model().index(0, 0).model().index(0, 0, view.tree.model().index(0, 0))  # type: ignore[union-attr]
    assert "agent_loop" in str(shown.data())
    services.workspace.project_closed.emit()
    assert view.plain_text == ""
    await until(lambda: not services.app.program.tasks.handles)
    await asyncio.sleep(0)
