"""Batch engines in each mode of the box, and short ways to make circuits."""

from __future__ import annotations

import asyncio
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from domain.circuit.analyses import Analysis
from domain.circuit.dependencies import resolve_dependencies
from domain.circuit.netlist import Netlist
from domain.simulation.batch import Batch, BatchCircuit, BatchRun, RunOutcome
from domain.simulation.request import TAKEN_NAMES
from domain.studies.variation import plan_variation
from infrastructure.ngspice.batch.simulator import NgspiceBatch
from infrastructure.ngspice.confined import ConfinedNgspice
from infrastructure.ngspice.runner import NgspiceRunner
from infrastructure.ngspice.sandbox import ALL_LAYERS, Layer
from infrastructure.persistence.source_files import SourceReaderFactory
from shared.processes import ProcessManager
from tests.ground.known_boxes import found_here

MODES: dict[str, frozenset[Layer]] = {
    "both": ALL_LAYERS,
    "bubblewrap": frozenset(("bubblewrap", "rlimits")),
    "landlock": frozenset(("landlock", "seccomp", "rlimits")),
}
_ANALYSIS = re.compile(r"\.(op|dc|ac|tran|noise|tf|sens|pz|disto)\b", re.IGNORECASE)

MakeCircuit = Callable[..., BatchCircuit]
MakeBatch = Callable[..., NgspiceBatch]


def analyses_of(deck: str) -> tuple[Analysis, ...]:
    """The analysis cards of a deck without control blocks."""
    return tuple(
        Analysis(kind=match[1].lower(), text=line.strip()[1:], line=number)
        for number, line in enumerate(deck.splitlines(), start=1)
        if number > 1 and (match := _ANALYSIS.match(line.strip()))
    )


def batch_of(
    circuit: BatchCircuit | Sequence[BatchCircuit],
    rows: Sequence[Sequence[float] | tuple[int, Sequence[float]]],
    **fields: object,
) -> Batch:
    """Runs with these values (or (circuit, values)) in order."""
    circuits = (circuit,) if isinstance(circuit, BatchCircuit) else tuple(circuit)
    runs = []
    for number, row in enumerate(rows):
        index, values = row if row and isinstance(row[0], int) and len(row) == 2 else (0, row)
        assert isinstance(index, int)
        runs.append(BatchRun(run_id=number, circuit=index, values=tuple(values)))  # type: ignore[arg-type]
    return Batch(circuits=circuits, runs=tuple(runs), **fields)  # type: ignore[arg-type]


async def outcomes_of(engine: NgspiceBatch, batch: Batch, *, workers: int | None = None) -> list[RunOutcome]:
    """All outcomes in the order of the runs; each run has exactly one."""
    found = [outcome async for outcome in engine.run(batch, workers=workers)]
    assert sorted(outcome.run_id for outcome in found) == [run.run_id for run in batch.runs]
    return sorted(found, key=lambda outcome: outcome.run_id)


@pytest.fixture(autouse=True)
def box_is_found_here() -> Iterator[None]:
    """What these tests prove is how it is found."""
    with found_here():
        yield


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that is not under /tmp, where Landlock alone has its documented hole."""
    made = Path(tempfile.mkdtemp(prefix="circuit-ai-test-", dir="/var/tmp")).resolve()
    yield made
    shutil.rmtree(made)


@pytest.fixture(scope="session")
def batch_scratch() -> Iterator[Path]:
    """Where all guests of the session have their scratch folders; empty between batches."""
    made = Path(tempfile.mkdtemp(prefix="circuit-ai-test-", dir="/var/tmp")).resolve()
    yield made
    shutil.rmtree(made)


@pytest.fixture(scope="session")
def standing_engines(batch_scratch: Path) -> dict[str, NgspiceBatch]:
    """An engine for each mode that has found out already what this machine has."""
    engines = {}
    for mode, layers in MODES.items():
        ngspice = ConfinedNgspice(processes=ProcessManager(), scratch_root=batch_scratch, layers=layers)
        engine = NgspiceBatch(ngspice)
        asyncio.run(engine.confinement())
        engines[mode] = engine
    return engines


@pytest.fixture(scope="session")
def missing_modes(standing_engines: dict[str, NgspiceBatch]) -> dict[str, str]:
    """Modes this machine cannot have, with why."""
    missing = {}
    for mode, engine in standing_engines.items():
        confinement = asyncio.run(engine.confinement())
        if set(confinement.layers) != MODES[mode]:
            missing[mode] = "; ".join(map(str, confinement.notes))
    return missing


@pytest.fixture
def make_batch(
    standing_engines: dict[str, NgspiceBatch], missing_modes: dict[str, str], batch_scratch: Path
) -> Iterator[MakeBatch]:
    """The engine of a mode; afterwards nothing of its guests may be left."""

    def make(mode: str = "both") -> NgspiceBatch:
        if mode in missing_modes:
            pytest.skip(f"{mode} does not work on this machine: {missing_modes[mode]}")
        return standing_engines[mode]

    yield make
    assert list(batch_scratch.iterdir()) == []


@pytest.fixture
def single_runner(batch_scratch: Path) -> NgspiceRunner:
    """Single runs, each a fresh process."""
    return NgspiceRunner(ConfinedNgspice(processes=ProcessManager(), scratch_root=batch_scratch))


@pytest.fixture
def make_circuit(folder: Path) -> MakeCircuit:
    """A circuit with varied names from a deck given as text, and files beside it."""

    def make(
        deck: str, names: Sequence[str] = (), *, files: Mapping[str, str] | None = None, **fields: object
    ) -> BatchCircuit:
        path = folder / "circuit.cir"
        for name, text in (files or {}).items():
            (folder / name).parent.mkdir(exist_ok=True, parents=True)
            (folder / name).write_text(text)
        netlist = Netlist.parse(deck.encode(), path=path)
        tree = resolve_dependencies(netlist, SourceReaderFactory().for_circuit(path, ()))
        tree, varied = plan_variation(tree, names)
        root, companions = tree.portable(TAKEN_NAMES)
        fields.setdefault("analyses", analyses_of(deck))
        fields.setdefault("included_files", tuple(tree.files))
        return BatchCircuit(
            deck=root.to_bytes(), deck_path=path, varied=varied, companions=companions, **fields
        )  # type: ignore[arg-type]

    return make
