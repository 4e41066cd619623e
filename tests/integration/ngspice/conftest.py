"""Runners in each mode of the box, and short ways to make jobs."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from domain.simulation.request import Analysis, ResourceLimits, SimulationJob
from infrastructure.ngspice.runner import NgspiceRunner
from infrastructure.ngspice.sandbox import ALL_LAYERS, Layer
from shared.processes import ProcessManager

MODES: dict[str, frozenset[Layer]] = {
    "both": ALL_LAYERS,
    "bubblewrap": frozenset(("bubblewrap", "rlimits")),
    "landlock": frozenset(("landlock", "seccomp", "rlimits")),
}
_ANALYSIS = re.compile(r"\.(op|dc|ac|tran|noise|tf|sens|pz|disto)\b", re.IGNORECASE)


def analyses_of(deck: str) -> tuple[Analysis, ...]:
    """The analysis cards outside control blocks."""
    found, in_control = [], False
    for number, line in enumerate(deck.splitlines(), start=1):
        text = line.strip().lower()
        if text.startswith((".control", ".endc")):
            in_control = text.startswith(".control")
        if number > 1 and not in_control and (match := _ANALYSIS.match(text)):
            found.append(Analysis(kind=match[1], text=text[1:], line=number))
    return tuple(found)


@pytest.fixture
def outside() -> Iterator[Path]:
    """A folder that is not under /tmp, where Landlock alone has its documented hole."""
    folder = Path(tempfile.mkdtemp(prefix="circuit-ai-test-", dir="/var/tmp")).resolve()
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def make_runner(outside: Path) -> Callable[..., NgspiceRunner]:
    """A runner with the layers of a mode; its scratch folders are in outside/scratch."""

    def make(mode: str = "both", **options: Any) -> NgspiceRunner:
        root = outside / "scratch"
        root.mkdir(exist_ok=True)
        options.setdefault("processes", ProcessManager())
        return NgspiceRunner(scratch_root=root, layers=MODES[mode], **options)

    return make


@pytest.fixture
def make_job(outside: Path) -> Callable[..., SimulationJob]:
    """A job for a deck given as text; its circuit is outside/project/circuit.cir."""
    project = outside / "project"
    project.mkdir()
    count = 0

    def make(deck: str | bytes, **fields: Any) -> SimulationJob:
        nonlocal count
        count += 1
        output = outside / f"result-{count}"
        output.mkdir()
        text = deck if isinstance(deck, str) else deck.decode("latin-1")
        fields.setdefault("deck_path", project / "circuit.cir")
        fields.setdefault("analyses", analyses_of(text))
        fields.setdefault("has_control_block", ".control" in text.lower() or "*#" in text)
        fields.setdefault("limits", ResourceLimits(wall_s=20.0))
        data = deck if isinstance(deck, bytes) else deck.encode()
        return SimulationJob(deck=data, output_dir=output, **fields)

    return make
