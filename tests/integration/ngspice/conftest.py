"""Runners in each mode of the box, and short ways to make jobs."""

from __future__ import annotations

import asyncio
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from domain.circuit.analyses import Analysis
from domain.simulation.request import ResourceLimits, SimulationJob
from infrastructure.ngspice.confined import ConfinedNgspice
from infrastructure.ngspice.runner import NgspiceRunner
from infrastructure.ngspice.sandbox import ALL_LAYERS, Layer
from shared.processes import ProcessManager
from tests.ground.known_boxes import found_here

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


@pytest.fixture(autouse=True)
def box_is_found_here() -> Iterator[None]:
    """What these tests prove is how it is found."""
    with found_here():
        yield


@pytest.fixture
def outside() -> Iterator[Path]:
    """A folder that is not under /tmp, where Landlock alone has its documented hole."""
    folder = Path(tempfile.mkdtemp(prefix="circuit-ai-test-", dir="/var/tmp")).resolve()
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def scratch_root() -> Iterator[Path]:
    """Where all runs of the session have their scratch folders; empty between runs."""
    folder = Path(tempfile.mkdtemp(prefix="circuit-ai-test-", dir="/var/tmp")).resolve()
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def standing_runners(scratch_root: Path) -> dict[str, NgspiceRunner]:
    """A runner for each mode that has found out already what this machine has."""
    runners = {}
    for mode, layers in MODES.items():
        ngspice = ConfinedNgspice(processes=ProcessManager(), scratch_root=scratch_root, layers=layers)
        runner = NgspiceRunner(ngspice)
        asyncio.run(runner.confinement())
        runners[mode] = runner
    return runners


@pytest.fixture(scope="session")
def missing_modes(standing_runners: dict[str, NgspiceRunner]) -> dict[str, str]:
    """Modes this machine cannot have (a container without user namespaces, an old kernel), with why."""
    missing = {}
    for mode, runner in standing_runners.items():
        confinement = asyncio.run(runner.confinement())
        if set(confinement.layers) != MODES[mode]:
            missing[mode] = "; ".join(map(str, confinement.notes))
    return missing


@pytest.fixture
def make_runner(
    scratch_root: Path, standing_runners: dict[str, NgspiceRunner], missing_modes: dict[str, str]
) -> Callable[..., NgspiceRunner]:
    """The runner of a mode (default: the best this machine has), or a new one with other options."""

    def make(mode: str | None = None, **options: Any) -> NgspiceRunner:
        if mode in missing_modes:
            pytest.skip(f"{mode} does not work on this machine: {missing_modes[mode]}")
        if not options:
            return standing_runners[mode or "both"]
        options.setdefault("processes", ProcessManager())
        ngspice = ConfinedNgspice(scratch_root=scratch_root, layers=MODES[mode or "both"], **options)
        return NgspiceRunner(ngspice)

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
