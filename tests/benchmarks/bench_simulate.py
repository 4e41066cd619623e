"""One run of ngspice: in each form of the box against bare `ngspice -b`."""

from __future__ import annotations

import asyncio
import itertools
import os
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from domain.circuit.analyses import Analysis
from domain.simulation.request import SimulationJob
from infrastructure.ngspice.confined import ConfinedNgspice
from infrastructure.ngspice.runner import NgspiceRunner
from infrastructure.ngspice.sandbox import ALL_LAYERS, Layer
from shared.processes import ProcessManager
from tests.benchmarks.harness import Pair

_RC = b"rc\nV1 a 0 AC 1\nR1 a b 1k\nC1 b 0 1u\n.ac dec 20 1 100k\n.end\n"
_ANALYSES = (Analysis(kind="ac", text="ac dec 20 1 100k", line=5),)
_LONG = b"rc\nV1 a 0 sin(0 1 1k)\nR1 a b 1k\nC1 b 0 1u\n.tran 1u 200m 0 1u\n.end\n"
_LONG_ANALYSES = (Analysis(kind="tran", text="tran 1u 200m 0 1u", line=5),)

_FORMS: dict[str, frozenset[Layer]] = {
    "launcher with limits only": frozenset(("rlimits",)),
    "bubblewrap alone": frozenset(("bubblewrap", "rlimits")),
    "Landlock and seccomp alone": frozenset(("landlock", "seccomp", "rlimits")),
    "the whole box": ALL_LAYERS,
}


def pairs() -> list[Pair]:
    """Each form for a tiny circuit, the whole box also for one that computes for a while."""
    folder = Path(tempfile.mkdtemp())
    found = [
        Pair(
            name=f"RC .ac, {name}",
            ours=_ours(folder, layers, _RC, _ANALYSES),
            theirs=_bare(folder, _RC),
            theirs_name="ngspice -b",
        )
        for name, layers in _FORMS.items()
    ]
    long_run = Pair(
        name="RC .tran, 200,000 points, the whole box",
        ours=_ours(folder, ALL_LAYERS, _LONG, _LONG_ANALYSES),
        theirs=_bare(folder, _LONG),
        theirs_name="ngspice -b",
        rounds=5,
    )
    return [*found, long_run]


def _ours(
    folder: Path, layers: frozenset[Layer], deck: bytes, analyses: tuple[Analysis, ...]
) -> Callable[[], object]:
    runner = NgspiceRunner(ConfinedNgspice(processes=ProcessManager(), layers=layers))
    numbers = itertools.count()
    loop = asyncio.new_event_loop()

    def run() -> object:
        output = Path(tempfile.mkdtemp(prefix=f"run-{next(numbers)}-", dir=folder))
        job = SimulationJob(deck=deck, deck_path=folder / "rc.cir", analyses=analyses, output_dir=output)
        result = loop.run_until_complete(runner.run(job))
        assert result.status == "ok", result.issues
        return result

    return run


def _bare(folder: Path, deck: bytes) -> Callable[[], object]:
    path = Path(tempfile.mkdtemp(dir=folder)) / "rc.cir"
    path.write_bytes(deck)
    argv = ["ngspice", "-n", "-b", "-r", "rc.raw", path.name]

    def run() -> object:
        return subprocess.run(
            argv, cwd=path.parent, stdin=subprocess.DEVNULL, capture_output=True, check=True, env=os.environ
        )

    return run
