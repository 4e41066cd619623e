"""What a step of the agent costs besides the model and the tool, against LangGraph's own loop.

A step is one answer with one call and its result: two nodes, two lines of the transcript, two or more
checkpoints, all of it on the disk. The model answers at once, the tool does nothing.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypedDict

from langchain_core.language_models import BaseChatModel
from langgraph.graph import END, START, StateGraph

from application.conversation.turn_deps import ChatRequest
from application.tool_execution.definition import Arguments, Tool, ToolContext
from application.tool_execution.executor import ToolExecutor
from bootstrap import build
from domain.llm.chat import ChatRequest as ModelRequest
from domain.llm.chat import ModelAbilities, ProviderChoice, ProviderInfo, StreamChunk, WireToolCall
from domain.llm.costs import FREE, PriceList
from domain.llm.tools.look import unknown_look
from domain.llm.tools.result import ToolCall, ToolResult
from infrastructure.llm_adapters.chat_model import ClientChatModel
from infrastructure.persistence.checkpoints import open_checkpointer
from shared.message import msg
from tests.benchmarks.harness import Pair

STEPS = 14
"""One less than the answers a turn may have."""


class _Client:
    """A model that calls the tool until it has done so often enough."""

    def __init__(self, steps: int) -> None:
        self._steps = steps

    async def stream(self, request: ModelRequest) -> AsyncIterator[StreamChunk]:
        done = sum(message.role == "tool" for message in request.messages)
        if done >= self._steps:
            yield StreamChunk(text="Done.", finish_reason="stop")
            return
        call = WireToolCall(provider_id=f"c{done}", name="nothing", arguments=f'{{"number": {done}}}')
        yield StreamChunk(text="Next. ", tool_calls=(call,), finish_reason="tool_calls")

    async def models(self) -> tuple[str, ...]:
        return ("m",)

    async def close(self) -> None:
        pass


class _Models:
    """Implements application.ports.conversation.ChatModels."""

    def __init__(self, steps: int) -> None:
        self._steps = steps

    @asynccontextmanager
    async def open(self, _choice: ProviderChoice) -> AsyncIterator[BaseChatModel]:
        yield ClientChatModel(client=_Client(self._steps), provider="builtin", model="m")

    def list(self) -> list[ProviderInfo]:
        return [ProviderInfo(name="builtin", title="b", needs_key=False, has_key=False, base_url="")]

    def destination(self, _choice: ProviderChoice) -> str:
        return ""

    async def abilities(self, _choice: ProviderChoice) -> ModelAbilities:
        return ModelAbilities()

    def prices(self, _choice: ProviderChoice) -> PriceList:
        return lambda _model: FREE


class _Number(Arguments):
    number: int


async def _nothing(_arguments: _Number, _context: ToolContext, _call: ToolCall) -> ToolResult:
    return ToolResult(success=True, content="ok", summary=msg("Already done."))


def pairs() -> list[Pair]:
    """A turn of 14 steps against the bare loop with the same checkpoints; and what a turn costs without."""
    folder = Path(tempfile.mkdtemp(prefix="bench-agent-"))
    _seconds(folder, 1)  # what is imported late is there from now on
    runs = [_seconds(folder, steps) for _ in range(7) for steps in (STEPS, 0)]
    wall, cpu = (
        (
            statistics.median(one[kind] for one in runs[0::2])
            - statistics.median(one[kind] for one in runs[1::2])
        )
        / STEPS
        for kind in (0, 1)
    )
    return [
        Pair(
            name=f"turn of {STEPS} steps",
            ours=lambda: _seconds(folder, STEPS),
            theirs=lambda: asyncio.run(_bare_loop(folder)),
            theirs_name="two bare nodes, same saver",
            note=f"a step costs {wall * 1000:.1f} ms, {cpu * 1000:.1f} ms of it CPU time (such a turn less "
            "one without a step); the aim is under 15 ms",
        )
    ]


def _seconds(folder: Path, steps: int) -> tuple[float, float]:
    """One whole turn in a new project: wall and CPU time."""
    return asyncio.run(_turn(Path(tempfile.mkdtemp(dir=folder)), steps))


async def _turn(project: Path, steps: int) -> tuple[float, float]:
    app: Any = build()
    tool = Tool(
        name="nothing",
        title=msg("Already done."),
        look=unknown_look("nothing"),
        description="Does nothing.",
        category=next(iter(app.conversations.run_tool.executor.tools)).category,
        effect="read",
        arguments=_Number,
        run=_nothing,
    )
    executor = ToolExecutor([tool])
    app.conversations.chat.deps = replace(
        app.conversations.chat.deps, models=_Models(steps), executor=lambda: executor
    )
    request = ChatRequest(project=project, text="Go.", choice=ProviderChoice())
    try:
        began = time.perf_counter(), time.process_time()
        await app.conversations.chat(request, emit=_ignore)
        return time.perf_counter() - began[0], time.process_time() - began[1]
    finally:
        await app.close()


def _ignore(_event: object) -> None:
    pass


class _State(TypedDict):
    number: int


async def _bare_loop(folder: Path) -> None:
    """As many steps of two nodes that count, each checkpointed before the next."""

    async def count(state: _State) -> _State:
        return {"number": state["number"] + 1}

    graph = StateGraph(_State)
    graph.add_node("model", count)
    graph.add_node("tools", count)
    graph.add_edge(START, "model")
    graph.add_edge("tools", "model")
    graph.add_conditional_edges(
        "model", lambda state: END if state["number"] > 2 * STEPS else "tools", ["tools", END]
    )
    place = Path(tempfile.mkdtemp(dir=folder))
    async with open_checkpointer(place / "checkpoints.sqlite", "1") as saver:
        compiled = graph.compile(checkpointer=saver)
        config: Any = {"configurable": {"thread_id": "1"}, "recursion_limit": 100}
        await compiled.ainvoke({"number": 0}, config, durability="sync")
