"""Runs the real command line many times, without paying for its imports each time, and can kill it.

Started as a process of its own (`python -m tests.ground.forked_commands`): it imports
everything once, then forks a child for each order it reads. A child is a fresh process of the command
line; ordered so, it kills itself (SIGKILL, no clean-up of any kind) right before the nth moment at
which something becomes durable: an fsync, a rename, a removal, a commit of SQLite.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Outcome:
    """How one command ended."""

    exit_code: int
    """Negative: the number of the signal that ended it."""
    stdout: str
    stderr: str
    moments: int
    """Durable moments it had, if it came to its end."""

    @property
    def was_killed(self) -> bool:
        return self.exit_code == -signal.SIGKILL

    @property
    def events(self) -> list[dict[str, Any]]:
        """The whole JSON lines it printed."""
        return [json.loads(line) for line in self.stdout.splitlines(keepends=True) if line.endswith("\n")]


class ForkedCommands:
    """The parent's side. Use as a context manager."""

    def __init__(self, scratch: Path) -> None:
        self._scratch = scratch
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__],
            cwd=ROOT,
            # A killed command cannot remove its scratch folder.
            env={**os.environ, "LANG": "C.UTF-8", "TMPDIR": str(scratch)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> ForkedCommands:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(timeout=30)
        self._process.stdout.close()

    def run(
        self,
        *argv: object,
        kill_at: int | None = None,
        kill_after_s: float | None = None,
        interrupt_after_s: float | None = None,
    ) -> Outcome:
        """Run a command; `kill_at` counts the durable moments from 1."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        out, err, count = (self._scratch / name for name in ("stdout", "stderr", "moments"))
        count.unlink(missing_ok=True)
        order = {
            "argv": [str(part) for part in argv],
            "out": str(out),
            "err": str(err),
            "count": str(count),
            "kill_at": kill_at,
            "kill_after_s": kill_after_s,
            "interrupt_after_s": interrupt_after_s,
        }
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        moments = int(count.read_text()) if count.exists() else 0
        outcome = Outcome(answer["exit_code"], out.read_text(), err.read_text(), moments)
        assert "Traceback" not in outcome.stderr, outcome.stderr
        return outcome


_WARM = (
    "main",
    "bootstrap",
    "application.conversation.chatting",
    "application.design.designing",
    "application.graph.builder",
    "application.graph.runtime",
    "application.tool_execution.registry",
    "infrastructure.llm_adapters.chat_model",
    "infrastructure.llm_adapters.openai_compatible",
    "infrastructure.ngspice.runner",
    "infrastructure.waveforms.raw_file",
    "infrastructure.persistence.operations",
    "infrastructure.persistence.project_view",
    "infrastructure.persistence.sessions",
    "langgraph.checkpoint.sqlite.aio",
)


def _serve() -> None:
    for name in _WARM:
        importlib.import_module(name)
    for line in sys.stdin:
        order = json.loads(line)
        child = os.fork()
        if child == 0:
            _become(order)
        status = _wait(child, order)
        print(json.dumps({"exit_code": status}), flush=True)


def _wait(child: int, order: dict[str, Any]) -> int:
    for after_s, number in (
        (order["kill_after_s"], signal.SIGKILL),
        (order["interrupt_after_s"], signal.SIGINT),
    ):
        if after_s is not None:
            time.sleep(after_s)
            os.kill(child, number)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _become(order: dict[str, Any]) -> None:
    code = 1
    try:
        for number, path in ((1, order["out"]), (2, order["err"])):
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            os.dup2(descriptor, number)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        moments = _count_moments(order["kill_at"])
        from bootstrap import build
        from presentation.cli import entry

        code = entry.main(order["argv"], build)
        sys.stdout.flush()
        Path(order["count"]).write_text(str(moments()))
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    finally:
        os._exit(code)


def _count_moments(kill_at: int | None) -> Callable[[], int]:
    """SIGKILL right before the nth durable moment of this process; returns their number so far."""
    number = 0

    def count() -> None:
        nonlocal number
        number += 1
        if number == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)

    for name in ("fsync", "replace", "unlink", "rename", "remove"):
        setattr(os, name, _counted(getattr(os, name), count))
    real_connect = sqlite3.connect

    class Connection(sqlite3.Connection):
        def commit(self) -> None:
            count()
            super().commit()

    def connect(*args: Any, **kwargs: Any) -> sqlite3.Connection:
        kwargs.setdefault("factory", Connection)
        connection = real_connect(*args, **kwargs)
        # Also the commits that are statements.
        connection.set_trace_callback(lambda sql: count() if sql.strip().upper() == "COMMIT" else None)
        return connection

    sqlite3.connect = connect
    return lambda: number


def _counted(real: Any, count: Any) -> Any:
    def call(*args: Any, **kwargs: Any) -> Any:
        count()
        return real(*args, **kwargs)

    return call


if __name__ == "__main__":
    _serve()
