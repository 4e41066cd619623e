"""Runs the graph: one stream of events, questions answered in between, every step on disk.

Durability is "sync": measured, LangGraph's default loses finished steps at a kill -9, sync none.

A graph takes 2 (the agent's) to 10 ms (a design's) to be compiled, so it is compiled once a process and is
the same for every run: its nodes find what they work with in the configuration of their run (`carried`).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.config import get_stream_writer
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command, StateSnapshot

from application.graph.state import GraphState
from application.ports.events import ChatEvent, DesignEvent
from shared.events import Event

STEPS_PER_ROUND = 9
"""Of a design: at most six. Of the agent: an answer, review and question, five calls, and those beyond."""
STEPS_AROUND = 12

CompiledGraph = CompiledStateGraph[GraphState, None, GraphState, GraphState]

Decide = Callable[[dict[str, Any], GraphState], Awaitable[dict[str, Any]]]
"""Answers a question: (the interrupt's value, the state) -> the answer."""


def tell(event: Event) -> None:
    """Put an event into the running graph's own stream, which the window and the command line follow."""
    get_stream_writer()(event)


class GraphRuntime:
    """One compiled graph; at most one run a thread id at a time."""

    def __init__(
        self, graph: CompiledGraph, checkpointer: BaseCheckpointSaver[str], carried: Mapping[str, object]
    ) -> None:
        """`carried` is in the configuration of each run, never in a checkpoint: its keys begin with "__"."""
        self._graph = graph.copy({"checkpointer": checkpointer})
        self._carried = carried
        self._locks: dict[str, asyncio.Lock] = {}

    async def run(
        self, thread_id: str, start: GraphState | None, *, decide: Decide, rounds: int
    ) -> AsyncGenerator[DesignEvent | ChatEvent, None]:
        """Run from `start` to the end; `decide` answers each interrupt that is really pending.

        Without `start` the thread goes on from its last finished step, or from its pending question.
        `rounds` bounds the steps: LangGraph's own limit is none in practice.
        """
        config: RunnableConfig = {
            **self._config(thread_id),
            "recursion_limit": STEPS_AROUND + STEPS_PER_ROUND * rounds,
        }
        async with self._locks.setdefault(thread_id, asyncio.Lock()):
            graph_input: Any = start
            while True:
                if graph_input is not None or not _pending_question(await self._graph.aget_state(config)):
                    async with aclosing(self._stream(graph_input, config)) as events:
                        async for event in events:
                            yield event
                snapshot = await self._graph.aget_state(config)
                question = _pending_question(snapshot)
                if question is None:
                    return
                answer = await decide(question, cast("GraphState", snapshot.values))
                graph_input = Command(resume=answer)

    async def go_back(self, thread_id: str, is_sound: Callable[[GraphState], bool]) -> bool:
        """Make the newest step whose state `is_sound` the thread's last; False, and none kept, without one.

        What was half under way behind it is dropped: a question is asked anew, where LangGraph would
        use an answer that was given before a kill (measured: it ignores the new one).
        """
        config = self._config(thread_id)
        # Listed first: the saver holds its lock while its list is walked through.
        history = [snapshot async for snapshot in self._graph.aget_state_history(config)]
        for snapshot in history:
            if is_sound(cast("GraphState", snapshot.values)):
                await self._graph.aupdate_state(snapshot.config, None, as_node="__copy__")
                return True
        if history:  # else what is started anew would begin with what is left of them
            await cast("BaseCheckpointSaver[str]", self._graph.checkpointer).adelete_thread(thread_id)
        return False

    async def write_final_checkpoint(self, thread_id: str, state: GraphState, *, node: str) -> None:
        """Write the state of a run that was broken off in `node` as the thread's last; nothing waits then."""
        await self._graph.aupdate_state(self._config(thread_id), state, as_node=node)

    async def state(self, thread_id: str) -> GraphState:
        """The state at the last checkpoint of a thread."""
        snapshot = await self._graph.aget_state(self._config(thread_id))
        return cast("GraphState", snapshot.values)

    def _config(self, thread_id: str) -> RunnableConfig:
        return {"configurable": {"thread_id": thread_id, **self._carried}}

    async def _stream(
        self, graph_input: Any, config: RunnableConfig
    ) -> AsyncGenerator[DesignEvent | ChatEvent, None]:
        stream = self._graph.astream(
            graph_input, config, stream_mode="custom", subgraphs=True, durability="sync"
        )
        # Closed here and now, not when the garbage collector comes by.
        async with aclosing(cast("AsyncGenerator[Any, None]", stream)) as events:
            async for _namespace, event in events:
                yield cast("DesignEvent | ChatEvent", event)


def carried(config: RunnableConfig, key: str) -> Any:
    """What the run of `config` carries for its nodes."""
    return config["configurable"][key]


def _pending_question(snapshot: StateSnapshot) -> dict[str, Any] | None:
    return next((item.value for item in snapshot.interrupts), None)
