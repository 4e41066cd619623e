"""Workers of `CpuTaskExecutor` that are forks of the process that has imported everything (`warm_python`).

A forked command would start each as a fresh Python, and have it import what its job needs: an eighth of a
second, a whole one for a picture. Only where that process stands; the real start is what the tests of the
executor and of real processes have.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tests.ground import warm_python


def fork_cpu_workers() -> None:
    """From now on, in this process."""
    from shared import cpu_executor

    if warm_python.is_standing():
        own = {name: getattr(subprocess, name) for name in ("PIPE", "TimeoutExpired")}
        cpu_executor.subprocess = SimpleNamespace(Popen=_Forked, **own)  # type: ignore[attr-defined]


class _Forked:
    """What the executor uses of `subprocess.Popen`. It ends when its input does; how, nobody here knows."""

    def __init__(self, _argv: list[str], **_streams: Any) -> None:
        place = {"environment": dict(os.environ), "folder": str(Path.cwd())}
        self._server = warm_python.start(__name__, json.dumps(place))
        self.pid = self._server.pid
        self.stdin, self.stdout = self._server.stdin.buffer, self._server.stdout.buffer
        self.returncode: int | None = None
        self._end = os.pidfd_open(self.pid)

    def wait(self, timeout: float | None = None) -> int:
        """Raises subprocess.TimeoutExpired."""
        if self.returncode is None:
            if not select.select([self._end], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("worker", timeout or 0.0)
            os.close(self._end)
            self.returncode = 0
        return self.returncode


def main() -> None:
    """The worker's whole life, in the environment and the folder of who asked for it."""
    from shared import cpu_worker

    place = json.loads(sys.argv[1])
    os.environ.clear()
    os.environ.update(place["environment"])
    os.chdir(place["folder"])
    tempfile.tempdir = None
    sys.argv = [str(cpu_worker.__file__)]
    cpu_worker.main()
