"""Runs a fixed series of effects in a process that dies at a chosen moment, then repairs and goes on.

``steps FOLDER FIRST STRIDE``: dies right before or right after a step that reaches the disk, at every
STRIDE-th such moment in its turn; ``times FOLDER SEED COUNT``: is killed from outside at random times.
Prints two JSON lines per case. Everything is imported once; each life is a fork.
"""

from __future__ import annotations

import asyncio
import faulthandler
import hashlib
import json
import os
import random
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from application.ports.project import ABSENT
from application.tool_execution.operations import Operations
from infrastructure.persistence.operations import SqliteOperationLog
from infrastructure.persistence.project import ProjectFolder, ProjectFolders

# (id, path, content); content None = undo the operation whose id stands in the place of the path
SERIES: tuple[tuple[str, str, bytes | None], ...] = (
    ("op1", "a.cir", b"* one\r\nR1 a b 1k\r\n"),
    ("op2", "sub/b.cir", b"* two\n"),
    ("op3", "a.cir", b"* three\r\n" * 50),
    ("undo of op3", "op3", None),
    ("op4", "a.cir", b""),
    ("undo of op2", "op2", None),
    ("op5", "sub/b.cir", b"\xff\xfe five"),
)
FIRST = {"a.cir": b"* user's own\r\n"}


def versions() -> list[dict[str, bytes]]:
    """The files before the series and after each of its effects."""
    files, befores, found = dict(FIRST), {}, [dict(FIRST)]
    for name, path, content in SERIES:
        if content is None:
            changed, before = befores[path]
            files.pop(changed)
            if before is not None:
                files[changed] = before
        else:
            befores[name] = (path, files.get(path))
            files[path] = content
        found.append(dict(files))
    return found


async def carry_out(folder: Path) -> None:
    """The series; what is done already happens no second time."""
    project = await asyncio.to_thread(ProjectFolders().open, folder)
    operations = Operations(log=project.operations, project=project)
    try:
        await operations.repair()
        for name, path, content in SERIES:
            if content is not None:
                await operations.change_file(
                    op_id=name, session_id="s", tool="rewrite_file", path=Path(path), content=content
                )
            elif not any(r.undoes == path and r.state == "done" for r in await operations.list()):
                await operations.undo(path, session_id="s")
    finally:
        await asyncio.to_thread(project.close)


def die_at(number: int) -> None:
    """Make this process kill itself at the n-th moment before or after something reaches the disk."""
    passed = 0

    def moment() -> None:
        nonlocal passed
        passed += 1
        if passed == number:
            os.kill(os.getpid(), signal.SIGKILL)

    def watched(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            moment()
            result = function(*args, **kwargs)
            moment()
            return result

        return call

    for owner, name in (
        (os, "fsync"),
        (os, "replace"),
        (os, "unlink"),
        (SqliteOperationLog, "record_intent"),
        (SqliteOperationLog, "set_state"),
        (ProjectFolder, "move"),
        (ProjectFolder, "make_folder"),
        (ProjectFolder, "remove_folder"),
    ):
        setattr(owner, name, watched(getattr(owner, name)))


_TASKS = Path("/proc/self/task")


def _beside_python() -> int:
    """How many threads there are that Python does not count: those of libraries, and those just ending."""
    return len(list(_TASKS.iterdir())) - threading.active_count() if _TASKS.is_dir() else 0


_OF_LIBRARIES = _beside_python()


def life(work: Callable[[], object], *, kill_after_s: float | None = None) -> bool:
    """Run `work` in a fork; whether it came to its end."""
    # A joined thread may still be leaving OpenSSL, with its lock: the fork would wait for that forever.
    while _beside_python() > _OF_LIBRARIES:
        time.sleep(0.001)
    child = os.fork()
    if child == 0:
        faulthandler.dump_traceback_later(120, exit=True)  # one that hangs says where
        try:
            work()
        except BaseException:  # noqa: BLE001 - a fork must never return
            sys.excepthook(*sys.exc_info())
            os._exit(1)
        os._exit(0)
    if kill_after_s is not None:
        time.sleep(kill_after_s)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status) != 0:
        raise SystemExit("a life ended with an error")
    return os.WIFEXITED(status)


def look(folder: Path) -> None:
    """Repair, and print what is there."""

    async def found() -> dict[str, Any]:
        project = await asyncio.to_thread(ProjectFolders().open, folder)
        operations = Operations(log=project.operations, project=project)
        await operations.repair()
        records = await operations.list()
        await asyncio.to_thread(project.close)
        return {
            "records": [
                (r.op_id, r.undoes, r.state, r.path, r.before_sha256, r.after_sha256) for r in records
            ]
        }

    document = asyncio.run(found())
    document["files"] = {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file() and ".circuit_ai" not in path.parts
    }
    print(json.dumps(document), flush=True)


def fresh(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, content in FIRST.items():
        (folder / name).write_bytes(content)
    ProjectFolders().open(folder, create=True)


def one_case(folder: Path, doomed: Callable[[], object], kill_after_s: float | None = None) -> bool:
    """A life that is cut, a look, a whole life, a look."""
    fresh(folder)
    ended = life(doomed, kill_after_s=kill_after_s)
    life(lambda: look(folder))
    life(lambda: asyncio.run(carry_out(folder)))
    life(lambda: look(folder))
    return ended


def main() -> None:
    how, folder = sys.argv[1], Path(sys.argv[2]) / "project"
    if how == "steps":
        number, stride = int(sys.argv[3]), int(sys.argv[4])

        def doomed() -> None:
            die_at(number)
            asyncio.run(carry_out(folder))

        while not one_case(folder, doomed):
            number += stride
    else:
        rng = random.Random(sys.argv[3])
        for _ in range(int(sys.argv[4])):
            one_case(folder, lambda: asyncio.run(carry_out(folder)), rng.uniform(0, 0.15))


EXPECTED = [
    {path: hashlib.sha256(content).hexdigest() for path, content in version.items()} for version in versions()
]
"""Hashes of all files before the series and after each effect."""

__all__ = ["ABSENT", "EXPECTED", "SERIES"]

if __name__ == "__main__":
    main()
