"""Checkpoints that were not written here, for this thread, are as if lost."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from infrastructure.persistence.authenticity import Authenticity, UserKey
from infrastructure.persistence.checkpoints import open_checkpointer
from tests.integration.processes.test_checkpoints import STEPS, counting_graph, thread


async def steps_of(path: Path, name: str, signer: Authenticity | None = None) -> int | None:
    """How far a thread has come, as its checkpoint says."""
    async with open_checkpointer(path, name, signer=signer) as saver:
        values = (await counting_graph(saver).aget_state(thread(name))).values
    return values.get("done")


async def written(path: Path) -> None:
    async with open_checkpointer(path, "t") as saver:
        await counting_graph(saver).ainvoke({"done": 0}, thread("t"), durability="sync")


def change(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement)


async def test_a_checkpoint_of_another_installation_is_as_if_lost(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"
    await written(path)
    assert await steps_of(path, "t") == STEPS
    other = Authenticity(UserKey(tmp_path / "another home"), tmp_path)
    assert await steps_of(path, "t", other) is None


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE checkpoints SET checkpoint = checkpoint || x'00'",
        "UPDATE checkpoints SET checkpoint = substr(checkpoint, 44), type = 'msgpack'",
        "UPDATE checkpoints SET checkpoint = substr(checkpoint, 44)",
        "UPDATE checkpoints SET checkpoint = 7, type = NULL",
    ],
)
async def test_a_changed_checkpoint_is_as_if_lost(tmp_path: Path, statement: str) -> None:
    path = tmp_path / "c.sqlite"
    await written(path)
    await asyncio.to_thread(change, path, statement)
    assert await steps_of(path, "t") is None


async def test_a_checkpoint_of_another_thread_is_as_if_lost(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"
    await written(path)
    await asyncio.to_thread(change, path, "UPDATE checkpoints SET thread_id = 'u'")
    assert await steps_of(path, "u") is None
