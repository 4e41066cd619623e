"""Checkpoints with real LangGraph and real SQLite: kills, strictness, pruning, broken files."""

import asyncio
import random
import sqlite3
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

import pytest

from infrastructure.persistence.checkpoints import open_checkpointer, prune
from shared.errors import EnvironmentProblem
from tests.ground.campaign import campaigns

ROOT = Path(__file__).resolve().parents[3]
STEPS = 6


class Steps(TypedDict, total=False):
    done: int
    note: object


def counting_graph(saver, *, before_step=lambda number: None, steps=STEPS):
    """A chain of `steps` nodes, each counting one up."""
    from langgraph.graph import START, StateGraph

    def node(number):
        async def step(state: Steps) -> Steps:
            before_step(number)
            return {"done": state.get("done", 0) + 1}

        return step

    builder = StateGraph(Steps)
    names = [f"step{number}" for number in range(steps)]
    for number, name in enumerate(names):
        builder.add_node(name, node(number))
        builder.add_edge(names[number - 1] if number else START, name)
    return builder.compile(checkpointer=saver)


def thread(name):
    return {"configurable": {"thread_id": name}}


async def run_in_child(path):
    """The child of the kill test: says each step before it takes it, and waits for leave."""

    def ask_leave(number):
        print(number, flush=True)
        sys.stdin.readline()

    async with open_checkpointer(path, "t") as saver:
        graph = counting_graph(saver, before_step=ask_leave)
        begun = await saver.aget_tuple(thread("t")) is not None
        await graph.ainvoke(None if begun else {"done": 0}, thread("t"), durability="sync")


def start_child(path):
    program = (
        "import asyncio, pathlib\n"
        "from tests.integration.processes.test_checkpoints import run_in_child\n"
        f"asyncio.run(run_in_child(pathlib.Path({str(path)!r})))\n"
    )
    return subprocess.Popen(
        [sys.executable, "-c", program], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def take_steps(child, count):
    """Let the child take `count` steps; the numbers it said, with that of the step it waits before."""
    said = []
    for _ in range(count):
        said.append(int(child.stdout.readline()))
        child.stdin.write("go\n")
        child.stdin.flush()
    said.append(int(child.stdout.readline()))
    return said


@campaigns(fast=1, whole=30)
def test_a_kill_in_a_step_loses_no_step_before_it(campaign, tmp_path):
    """The steps before the one in hand are not taken again, and none is left out."""
    for rng in campaign.cases():
        path = tmp_path / f"{campaign.case}.sqlite"
        taken = rng.randrange(STEPS)
        with start_child(path) as child:
            assert take_steps(child, taken) == list(range(taken + 1))
            child.kill()
        with start_child(path) as child:
            out, _ = child.communicate("go\n" * STEPS)
        assert [int(word) for word in out.split()] == list(range(taken, STEPS))
        assert child.returncode == 0


async def test_the_database_is_set_up_for_several_users_and_leaves_power_cuts_to_the_transcript(tmp_path):
    async with open_checkpointer(tmp_path / "c.sqlite", "t") as saver:
        found = {}
        for name in ("journal_mode", "auto_vacuum", "synchronous", "busy_timeout"):
            ((found[name],),) = await saver.conn.execute_fetchall(f"PRAGMA {name}")
    assert found == {"journal_mode": "wal", "auto_vacuum": 2, "synchronous": 1, "busy_timeout": 5000}


async def test_state_survives_closing(tmp_path):
    async with open_checkpointer(tmp_path / "c.sqlite", "t") as saver:
        await counting_graph(saver).ainvoke({"done": 0}, thread("t"), durability="sync")
    async with open_checkpointer(tmp_path / "c.sqlite", "t") as saver:
        assert (await counting_graph(saver).aget_state(thread("t"))).values == {"done": STEPS}


async def test_it_is_closed_whatever_happens_inside(tmp_path):
    """The ground would find the connection's thread and its open files."""
    with pytest.raises(ZeroDivisionError):
        async with open_checkpointer(tmp_path / "c.sqlite", "t"):
            raise ZeroDivisionError

    async def hold(opened):
        async with open_checkpointer(tmp_path / "c.sqlite", "t"):
            opened.set()
            await asyncio.Event().wait()

    opened = asyncio.Event()
    task = asyncio.create_task(hold(opened))
    await opened.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_cancelling_while_it_opens(tmp_path):
    for turns in range(12):
        task = asyncio.create_task(open_and_close(tmp_path / "c.sqlite"))
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])


async def open_and_close(path):
    async with open_checkpointer(path, "t") as saver:
        await saver.aget_tuple(thread("t"))


async def test_a_new_database_opened_by_several_at_once(tmp_path):
    for number in range(5):
        path = tmp_path / f"{number}.sqlite"
        await asyncio.gather(*(open_and_close(path) for _ in range(4)))


@dataclass
class Planted:
    """Stands for any class a strange checkpoint might name."""

    value: int


@dataclass
class Ours:
    value: int


async def test_only_plain_types_and_allowed_ones_come_back(tmp_path, caplog):
    path = tmp_path / "c.sqlite"
    async with open_checkpointer(path, "t", allowed_types=[Planted, Ours]) as saver:
        graph = counting_graph(saver)
        await graph.ainvoke({"note": [Planted(1), Ours(2), {"a": b"1"}]}, thread("t"), durability="sync")
    async with open_checkpointer(path, "t", allowed_types=[Ours]) as saver:
        note = (await counting_graph(saver).aget_state(thread("t"))).values["note"]
    assert note == [{"value": 1}, Ours(2), {"a": b"1"}]
    assert "Blocked deserialization" in caplog.text


async def test_pruning_keeps_the_newest_and_gives_the_space_back(tmp_path):
    path = tmp_path / "c.sqlite"
    async with open_checkpointer(path, "t") as saver:
        graph = counting_graph(saver)
        for name in ("pruned", "other"):
            await graph.ainvoke(
                {"note": name + random.Random(1).randbytes(100_000).hex()}, thread(name), durability="sync"
            )
        before = [item.values async for item in graph.aget_state_history(thread("pruned"))]
        others = [item.values async for item in graph.aget_state_history(thread("other"))]
        pages = await page_count(saver)
        assert await prune(saver, "pruned", keep=2) == len(before) - 2
        assert [item.values async for item in graph.aget_state_history(thread("pruned"))] == before[:2]
        assert [item.values async for item in graph.aget_state_history(thread("other"))] == others
        assert await page_count(saver) < pages * 0.7
        assert await prune(saver, "pruned", keep=2) == 0
        assert await prune(saver, "unknown", keep=1) == 0
        assert await saver.conn.execute_fetchall("PRAGMA integrity_check") == [("ok",)]
    with sqlite3.connect(path) as database:
        orphans = database.execute(
            "SELECT count(*) FROM writes WHERE (thread_id, checkpoint_ns, checkpoint_id) NOT IN "
            "(SELECT thread_id, checkpoint_ns, checkpoint_id FROM checkpoints)"
        ).fetchone()
    database.close()
    assert orphans == (0,)


async def page_count(saver):
    ((pages,),) = await saver.conn.execute_fetchall("PRAGMA page_count")
    return pages


async def test_a_question_that_is_pending_survives_pruning_also_in_a_sub_graph(tmp_path):
    from langgraph.graph import START, StateGraph
    from langgraph.types import Command, interrupt

    async def count(state: Steps) -> Steps:
        return {"done": state.get("done", 0) + 1}

    async def ask(state: Steps) -> Steps:
        return {"note": interrupt("go on?")}

    inner = StateGraph(Steps)
    inner.add_node("count", count)
    inner.add_node("ask", ask)
    inner.add_edge(START, "count")
    inner.add_edge("count", "ask")
    outer = StateGraph(Steps)
    outer.add_node("first", inner.compile())
    outer.add_node("second", inner.compile())
    outer.add_edge(START, "first")
    outer.add_edge("first", "second")
    path = tmp_path / "c.sqlite"
    async with open_checkpointer(path, "t") as saver:
        graph = outer.compile(checkpointer=saver)
        await graph.ainvoke({"done": 0}, thread("t"), durability="sync")
        await graph.ainvoke(Command(resume="yes"), thread("t"), durability="sync")
        await prune(saver, "t", keep=1)
        rows = await saver.conn.execute_fetchall("SELECT DISTINCT checkpoint_ns FROM checkpoints")
        assert sorted(name.split(":")[0] for (name,) in rows) == ["", "second"]
    async with open_checkpointer(path, "t") as saver:
        graph = outer.compile(checkpointer=saver)
        state = await graph.aget_state(thread("t"))
        assert [item.value for item in state.interrupts] == ["go on?"]
        result = await graph.ainvoke(Command(resume="again"), thread("t"), durability="sync")
        assert result == {"done": 2, "note": "again"}


async def test_the_newest_checkpoint_always_stays(tmp_path):
    async with open_checkpointer(tmp_path / "c.sqlite", "t") as saver:
        with pytest.raises(ValueError, match="at least 1"):
            await prune(saver, "t", keep=0)


async def test_a_broken_database_is_told(tmp_path):
    path = tmp_path / "c.sqlite"
    path.write_bytes(b"this is no database" * 1000)
    with pytest.raises(EnvironmentProblem, match="damaged") as caught:
        await open_and_close(path)
    assert caught.value.error_type == "damaged"
    assert path.read_bytes().startswith(b"this is no database")


async def test_a_place_that_cannot_be_written_is_told(tmp_path):
    with pytest.raises(EnvironmentProblem) as caught:
        await open_and_close(tmp_path / "missing/c.sqlite")
    assert caught.value.error_type == "read_only"


async def test_importing_the_adapter_does_not_import_langgraph():
    program = (
        "import sys, infrastructure.persistence.checkpoints\n"
        "print([name for name in sys.modules if name.split('.')[0] in ('langgraph', 'langchain_core')])"
    )
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, cwd=ROOT, stdout=asyncio.subprocess.PIPE
    )
    out, _ = await child.communicate()
    assert out.decode().strip() == "[]"
