"""What a round of a design by a model costs besides the model and the simulation.

A round is a decision at the checkpoint, two answers with one change of the netlist, a run and its judgement;
all of it is on the disk before the next step begins. The model answers at once.
"""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, TypedDict
from unittest import mock

from langchain_core.language_models import BaseChatModel
from langgraph.graph import END, START, StateGraph

from application.conversation.turn_deps import FindAccess
from application.workflow.designing import Answer, DesignRequest, Question
from bootstrap import build
from domain.llm.chat import (
    ChatRequest,
    ModelAbilities,
    ProviderChoice,
    ProviderInfo,
    StreamChunk,
    WireToolCall,
)
from domain.llm.costs import FREE, PriceList
from infrastructure.llm_adapters.chat_model import ClientChatModel
from infrastructure.persistence.checkpoints import open_checkpointer
from tests.benchmarks.harness import Pair
from tests.fakes.designing_model import GOALS, amplifier

ROUNDS = int(os.environ.get("BENCH_ROUNDS", "200"))
FEW = 10
Seconds = tuple[float, float, float]
"""Of the wall, of the CPU, and in waiting for the disk."""
_PROVIDER = "at-once"


class _Client:
    """A model that changes a resistor by an ohm in each round."""

    def __init__(self) -> None:
        self._value = 199
        self._writes = True

    async def stream(self, request: ChatRequest) -> AsyncIterator[StreamChunk]:
        if not request.tools:
            yield StreamChunk(text=json.dumps(GOALS), finish_reason="stop")
            return
        self._writes = not self._writes
        if self._writes:
            yield StreamChunk(text="A little more.", finish_reason="stop")
            return
        self._value += 1
        arguments: dict[str, str] = {"path": "amp.cir", "content": amplifier(str(self._value))}
        call = WireToolCall(provider_id="c", name="rewrite_file", arguments=json.dumps(arguments))
        yield StreamChunk(tool_calls=(call,), finish_reason="tool_calls")

    async def models(self) -> tuple[str, ...]:
        return ("m",)

    async def close(self) -> None:
        pass


class _Models:
    """Implements application.ports.conversation.ChatModels."""

    @asynccontextmanager
    async def open(self, _choice: ProviderChoice) -> AsyncIterator[BaseChatModel]:
        yield ClientChatModel(client=_Client(), provider=_PROVIDER, model="m")

    def list(self) -> list[ProviderInfo]:
        return [ProviderInfo(name=_PROVIDER, title="b", needs_key=False, has_key=False, base_url="")]

    async def abilities(self, _choice: ProviderChoice) -> ModelAbilities:
        return ModelAbilities()

    def destination(self, _choice: ProviderChoice) -> str:
        return ""

    def prices(self, _choice: ProviderChoice) -> PriceList:
        return lambda _model: FREE


class _Disk:
    """Seconds in which threads waited for the disk: in fsync, and in SQLite's commits beside the CPU."""

    def __init__(self) -> None:
        self.waited = 0.0

    @contextmanager
    def timed(self) -> Iterator[None]:
        wall, cpu = time.perf_counter(), time.thread_time()
        try:
            yield
        finally:
            self.waited += max(time.perf_counter() - wall - (time.thread_time() - cpu), 0.0)

    @contextmanager
    def watched(self) -> Iterator[None]:
        disk, flush, connect = self, os.fsync, sqlite3.connect

        class Connection(sqlite3.Connection):
            def commit(self) -> None:
                with disk.timed():
                    super().commit()

            def __exit__(self, *error: Any) -> Literal[False]:
                with disk.timed():
                    return super().__exit__(*error)

        def fsync(descriptor: int) -> None:
            with disk.timed():
                flush(descriptor)

        with (
            mock.patch.object(os, "fsync", fsync),
            mock.patch.object(sqlite3, "connect", partial(connect, factory=Connection)),
        ):
            yield


class _Clock:
    """Seconds that are not spent in a use case: of the wall, of the CPU, and in waiting for the disk."""

    def __init__(self, use_case: Any, disk: _Disk) -> None:
        self._use_case = use_case
        self._disk = disk
        self._inside = (0.0, 0.0, 0.0)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._use_case, name)

    def read(self) -> Seconds:
        wall, cpu, disk = self._inside
        return time.perf_counter() - wall, time.process_time() - cpu, self._disk.waited - disk

    async def __call__(self, *args: Any, **kwargs: Any) -> Any:
        began = self.read()
        try:
            return await self._use_case(*args, **kwargs)
        finally:
            ended = self.read()
            self._inside = tuple(  # type: ignore[assignment]
                inside + end - begin for inside, begin, end in zip(self._inside, began, ended, strict=True)
            )


def pairs() -> list[Pair]:
    """A design of ten rounds against the bare graph; and what a round costs in one of two hundred."""
    folder = Path(tempfile.mkdtemp(prefix="bench-design-"))
    _seconds(folder, 1)  # what is imported late is there from now on
    each = _seconds(folder, ROUNDS)
    part = max(len(each) // 10, 1)
    whole, first, last = map(_median, (each, each[:part], each[-part:]))
    growth = statistics.median(cpu for _, cpu, _ in each[-part:]) / statistics.median(
        cpu for _, cpu, _ in each[:part]
    )
    share = statistics.median(disk / wall for wall, _, disk in each)
    return [
        Pair(
            name=f"design of {FEW} rounds, without its simulations",
            ours=lambda: _seconds(folder, FEW),
            theirs=lambda: asyncio.run(_bare_loop(folder)),
            theirs_name="six bare nodes a round, same saver",
            rounds=5,
            note=f"of {len(each)} rounds one costs {whole} besides model and simulation: {first} among the "
            f"first {part}, {last} among the last ({growth:.2f} times the CPU); the aim is under 100 ms. "
            f"{share:.0%} of the time it waits for the disk (fsync and commits)",
            is_long=True,
        )
    ]


def _median(rounds: list[Seconds]) -> str:
    wall, cpu, disk = (1000 * statistics.median(kind) for kind in zip(*rounds, strict=True))
    return f"{wall:.0f} ms ({cpu:.0f} ms CPU, {disk:.0f} ms for the disk)"


def _seconds(folder: Path, rounds: int) -> list[Seconds]:
    """A whole design in a new project: what each round takes, without its simulation."""
    disk = _Disk()
    with disk.watched():
        return asyncio.run(_design(Path(tempfile.mkdtemp(dir=folder)), rounds, disk))


async def _design(project: Path, rounds: int, disk: _Disk) -> list[Seconds]:
    app: Any = build()
    chat, design = app.conversations.chat, app.design.run
    chat.deps = replace(chat.deps, models=_Models())
    chat.find_access = FindAccess(chat.deps, chat.find_access._search_web)
    clock = design._simulate = _Clock(design._simulate, disk)
    marks: list[Seconds] = []

    async def ask(question: Question) -> Answer:
        if question.kind == "checkpoint":
            marks.append(clock.read())
        return "continue" if question.round_number < rounds else "stop"

    request = DesignRequest(
        project=project,
        text="A new amplifier",
        choice=ProviderChoice(provider=_PROVIDER, model="m"),
        max_iterations=rounds,
    )
    marks.append(clock.read())
    try:
        done = await design(request, ask=ask, emit=_ignore)
        assert done.rounds == rounds
    finally:
        await app.close()
    spent = [
        (after[0] - before[0], after[1] - before[1], after[2] - before[2])
        for before, after in pairwise(marks)
    ]
    return spent[1:] or spent  # the first one has the goals, too


def _ignore(_event: object) -> None:
    pass


class _State(TypedDict):
    number: int


async def _bare_loop(folder: Path) -> None:
    """As many steps of nodes that count, each checkpointed before the next."""

    async def count(state: _State) -> _State:
        return {"number": state["number"] + 1}

    names = ["user_checkpoint", "model", "tools", "answer", "simulation", "analysis"]
    graph = StateGraph(_State)
    for name in names:
        graph.add_node(name, count)
    graph.add_edge(START, names[0])
    for before, after in pairwise(names):
        graph.add_edge(before, after)
    graph.add_conditional_edges(
        names[-1], lambda state: END if state["number"] >= FEW * len(names) else names[0], [names[0], END]
    )
    place = Path(tempfile.mkdtemp(dir=folder))
    async with open_checkpointer(place / "checkpoints.sqlite", "1") as saver:
        compiled = graph.compile(checkpointer=saver)
        config: Any = {"configurable": {"thread_id": "1"}, "recursion_limit": 100}
        await compiled.ainvoke({"number": 0}, config, durability="sync")
