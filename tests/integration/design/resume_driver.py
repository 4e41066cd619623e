"""Runs designs in processes that can be killed: a server, imported once, that forks one for each order.

An order is a line of JSON: {"project", "decks", "resume", "kill_at"}. The fork counts the borders it
crosses - before and after everything that reaches the disk - and kills itself and its children at the
one named. The answer: {"status", "crossed", "stop_reason", "rounds", "error_type"}.
"""

from __future__ import annotations

import asyncio
import functools
import gc
import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bootstrap
from application.workflow.designing import DesignRequest, Question, ResumeRequest
from domain.design import catalogue
from infrastructure.persistence import circuit_files, operations, project, results, sessions
from shared.errors import CircuitAIError
from shared.paths import USER_HOME_VARIABLE
from tests.fakes.scripted_family import ScriptedFamily, only
from tests.ground.forked_commands import import_everything
from tests.ground.forked_cpu_workers import fork_cpu_workers

SENTENCE = "An RC low-pass at 1 kHz"


class Borders:
    """Counts what goes to the disk, and kills the process group at one of the borders."""

    def __init__(self, kill_at: int | None) -> None:
        self.crossed = 0
        self._kill_at = kill_at

    def cross(self) -> None:
        self.crossed += 1
        if self.crossed == self._kill_at:
            os.killpg(0, signal.SIGKILL)

    def watch(self, owner: type, name: str) -> None:
        method = getattr(owner, name)
        if asyncio.iscoroutinefunction(method):

            @functools.wraps(method)
            async def watched(*args: Any, **kwargs: Any) -> Any:
                self.cross()
                result = await method(*args, **kwargs)
                self.cross()
                return result
        else:

            @functools.wraps(method)
            def watched(*args: Any, **kwargs: Any) -> Any:
                self.cross()
                result = method(*args, **kwargs)
                self.cross()
                return result

        setattr(owner, name, watched)


def watch_everything(borders: Borders) -> None:
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    borders.watch(sessions.SessionFiles, "create")
    borders.watch(sessions.TranscriptFile, "append")
    borders.watch(operations.SqliteOperationLog, "record_intent")
    borders.watch(operations.SqliteOperationLog, "set_state")
    borders.watch(project.ProjectFolder, "write")
    borders.watch(circuit_files.GoalFiles, "save")
    borders.watch(results.ResultFolders, "new_result")
    borders.watch(results.ResultFolders, "save")
    borders.watch(AsyncSqliteSaver, "aput")
    borders.watch(AsyncSqliteSaver, "aput_writes")


async def answer(question: Question) -> Any:
    return "continue" if question.kind == "goals" else question.recommended


async def design(order: dict[str, Any]) -> dict[str, Any]:
    catalogue.FAMILIES = only(ScriptedFamily(*order["decks"]))  # of this fork
    home = {USER_HOME_VARIABLE: order["home"]}  # of the test that asks, not of the one that began the server
    app = bootstrap.build(environment=os.environ | home)
    folder = Path(order["project"])
    request = (
        ResumeRequest(project=folder) if order["resume"] else DesignRequest(project=folder, text=SENTENCE)
    )
    try:
        done = await app.design.run(request, ask=answer, emit=lambda event: None)
    except CircuitAIError as error:
        return {"error_type": error.error_type}
    finally:
        await app.close()
    return {"stop_reason": done.stop_reason, "rounds": done.rounds, "error_type": ""}


def in_fork(work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What `work` gives in a process group of its own; {} when it is killed."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.setsid()
        fork_cpu_workers()
        status = 1
        try:
            os.write(writing, json.dumps(work()).encode())
            status = 0
        finally:
            os._exit(status)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read()
    _, status = os.waitpid(child, 0)
    return {"status": os.waitstatus_to_exitcode(status), **(json.loads(said) if said else {})}


def carry_out(order: dict[str, Any]) -> dict[str, Any]:
    borders = Borders(order["kill_at"])
    watch_everything(borders)
    return {**asyncio.run(design(order)), "crossed": borders.crossed}


def main() -> None:
    import_everything()
    gc.freeze()  # what is shared with the children stays so
    for line in sys.stdin:
        order = json.loads(line)
        print(json.dumps(in_fork(lambda order=order: carry_out(order))), flush=True)


if __name__ == "__main__":
    main()
