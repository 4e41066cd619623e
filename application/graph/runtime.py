"""Runs the graph: one stream of events, questions answered in between, every step on disk.

Durability is "sync": measured, LangGraph's default loses finished steps at a kill -9, sync none.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.types import Command

from application.events import ChatEvent, DesignEvent
from application.graph.builder import CompiledGraph
from application.graph.state import GraphState

STEPS_PER_ROUND = 6
STEPS_AROUND = 12

Decide = Callable[[dict[str, Any], GraphState], Awaitable[dict[str, Any]]]
"""Answers a question: (the interrupt's value, the state) -> the answer."""


class GraphRuntime:
    """One compiled graph; at most one run a thread id at a time."""

    def __init__(self, graph: CompiledGraph) -> None:
        self._graph = graph
        self._locks: dict[str, asyncio.Lock] = {}

    async def run(
        self, thread_id: str, start: GraphState | None, *, decide: Decide, rounds: int
    ) -> AsyncIterator[DesignEvent | ChatEvent]:
        """Run from `start` to the end; `decide` answers each interrupt that is really pending.

        Without `start` the thread goes on from its last finished step, or from its pending question.
        `rounds` bounds the steps: LangGraph's own limit is none in practice.
        """
        config: RunnableConfig = {
            "configurable": {"thread_id": thread_id},
            "recursion_limit": STEPS_AROUND + STEPS_PER_ROUND * rounds,
        }
        async with self._locks.setdefault(thread_id, asyncio.Lock()):
            graph_input: Any = start
            while True:
                if graph_input is not None or not await self._pending_question(config):
                    async for event in self._stream(graph_input, config):
                        yield event
                question = await self._pending_question(config)
                if question is None:
                    return
                answer = await decide(question, await self.state(thread_id))
                graph_input = Command(resume=answer)

    async def state(self, thread_id: str) -> GraphState:
        """The state at the last checkpoint of a thread."""
        snapshot = await self._graph.aget_state({"configurable": {"thread_id": thread_id}})
        return cast("GraphState", snapshot.values)

    async def _stream(self, graph_input: Any, config: RunnableConfig) -> AsyncIterator[DesignEvent | ChatEvent]:
        stream = self._graph.astream(graph_input, config, stream_mode="custom", durability="sync")
        async for event in stream:
            yield cast("DesignEvent | ChatEvent", event)

    async def _pending_question(self, config: RunnableConfig) -> dict[str, Any] | None:
        snapshot = await self._graph.aget_state(config)
        return next((item.value for item in snapshot.interrupts), None)
