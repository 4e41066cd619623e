"""A Dask scheduler and two worker processes on the loopback."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.ground.forked_commands import ForkedCommands

if importlib.util.find_spec("distributed") is None:  # to import it takes a second
    pytest.skip("the optional package distributed is not installed", allow_module_level=True)

ROOT = Path(__file__).resolve().parents[3]
_WAIT_S = 60.0


@dataclass
class Cluster:
    """Processes that were started here, and end here."""

    folder: Path
    address: str = ""
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def temporary(self) -> Path:
        """Where its processes put temporary files."""
        return self.folder / "tmp"

    def start(self, stack: contextlib.ExitStack, *argv: object) -> subprocess.Popen[bytes]:
        log = stack.enter_context((self.folder / f"log{time.monotonic_ns()}").open("wb"))
        process = subprocess.Popen(
            [sys.executable, "-m", *map(str, argv)],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(self.temporary)},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
        stack.callback(_end, process)
        return process

    def add_worker(self, stack: contextlib.ExitStack) -> None:
        self.workers.append(
            self.start(
                stack, "distributed.cli.dask_worker", self.address, "--nthreads", 1, "--no-nanny",
                "--no-dashboard", "--local-directory", self.folder / f"worker{len(self.workers)}",
                "--death-timeout", 60,
            )
        )  # fmt: skip

    def logs(self) -> str:
        return "\n".join(path.read_text("utf-8", "replace") for path in sorted(self.folder.glob("log*")))


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ForkedCommands]:
    """The command line without the time its imports take, those of a cluster's client included."""
    made = ForkedCommands(tmp_path_factory.mktemp("commands"), also_import=("distributed",))
    yield made
    made.close()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    found = Cluster(folder=tmp_path_factory.mktemp("cluster"))
    found.temporary.mkdir()
    with contextlib.ExitStack() as stack:
        says = found.folder / "scheduler.json"
        scheduler = found.start(
            stack, "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", 0, "--no-dashboard",
            "--scheduler-file", says,
        )  # fmt: skip
        deadline = time.monotonic() + _WAIT_S
        while not (says.exists() and says.read_text().rstrip().endswith("}")):
            assert scheduler.poll() is None, found.logs()
            assert time.monotonic() < deadline, found.logs()
            time.sleep(0.05)
        found.address = json.loads(says.read_text())["address"]
        for _ in range(2):
            found.add_worker(stack)
        while found.logs().count("Registered to:") < len(found.workers):
            assert time.monotonic() < deadline, found.logs()
            time.sleep(0.05)
        yield found
