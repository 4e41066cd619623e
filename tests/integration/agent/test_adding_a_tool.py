"""What the recipe of docs/tools.md says: one definition and one row make a tool, whole."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from application.app import Application
from application.tool_execution import registry
from application.tool_execution.definition import Arguments, Tool, ToolContext
from bootstrap import build
from domain.llm.tools.look import ToolLook
from domain.llm.tools.result import ToolCall, ToolResult
from presentation.panels.conversation.feed import RunFeed
from presentation.panels.conversation.items import ItemList, OperationCard
from presentation.panels.conversation.stored import items_of
from presentation.panels.conversation.words import doing, icon_of, verb_of
from shared.message import msg
from tests.fakes.llm_server import FakeLLMServer, answer, call
from tests.integration.agent.in_process import turn

# --- the file of the tool -------------------------------------------------------------------------------


class CountArguments(Arguments):
    path: str


async def count_lines(arguments: CountArguments, context: ToolContext, _call: ToolCall) -> ToolResult:
    text = await asyncio.to_thread(context.view.locate(arguments.path).read_text)
    lines = len(text.splitlines())
    return ToolResult(success=True, content=f"{lines} lines", summary=msg("{count} lines", count=lines))


COUNT_LINES = Tool(
    name="count_lines",
    title=msg("Count lines"),
    look=ToolLook(running=msg("Counting the lines of"), done=msg("Counted"), icon="hash", card="read"),
    description='How many lines a file has. Example: {"path": "rc.cir"}',
    category="file",
    effect="read",
    arguments=CountArguments,
    run=count_lines,
)

# --- the row in the registry, and what follows from both ------------------------------------------------


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "rc.cir").write_text("RC\nR1 in out 1k\nC1 out 0 1n\n.end\n")
    return tmp_path


@pytest.fixture
async def app() -> AsyncIterator[Application]:
    application = build()
    yield application
    await application.close()


async def test_a_definition_and_a_row_make_a_tool(
    app: Application, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    items = ItemList()
    feed, seen = RunFeed(items, model="m"), []

    def follow(event: object) -> None:
        feed(event)  # type: ignore[arg-type]
        seen.extend(str(doing(item)) for item in items if isinstance(item, OperationCard))

    with monkeypatch.context() as patched:
        patched.setattr(registry, "TOOLS", (*registry.TOOLS, COUNT_LINES))
        script = [answer("", calls=[call("count_lines", {"path": "rc.cir"})]), answer("Four.")]
        with FakeLLMServer(script) as server:
            ended, _ = await turn(app, server, project, emit=follow)
        offered = {tool["function"]["name"] for tool in server.requests[0]["tools"]}
        assert "count_lines" in offered
        assert server.requests[1]["messages"][-1]["content"] == "4 lines"
        assert ended.stop_reason == "completed"
        assert "Counting the lines of rc.cir" in seen
        (card,) = (item for item in items if isinstance(item, OperationCard))
        assert (str(verb_of(card)), icon_of(card), card.look.card) == ("Counted", "hash", "read")

    # Another version of the program does not have it: what was said and done is there all the same.
    (info,) = await app.conversations.sessions.list(project)
    session = await app.conversations.sessions.show(project, info.session_id)
    (card,) = (item for item in items_of(session, ()) if isinstance(item, OperationCard))
    assert (str(verb_of(card)), card.path, card.state) == ("Ran count_lines", "rc.cir", "done")
    assert str(card.summary) == "4 lines"
    assert icon_of(card) == "wrench"
