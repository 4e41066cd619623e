"""Evaluations of an op-amp that is sized (op and ac, four figures): on a warm worker, or a process for each.

The processes are given one thread (`.spiceinit`): ngspice's usual two take several times the CPU with BSIM4.
"""

from __future__ import annotations

import asyncio
import random
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from application.studies.measures import StudyMeasures, study_measures
from application.studies.plan import Point, StudyPlan
from application.studies.studying import prepare_for_study
from domain.circuit.simulator_settings import SimulatorSettings
from domain.simulation.waveform import Plot
from infrastructure.ngspice.batch.simulator import NgspiceBatch
from infrastructure.ngspice.confined import ConfinedNgspice
from infrastructure.persistence.source_files import SourceReaderFactory
from infrastructure.waveforms.raw_file import read_raw
from shared.processes import ProcessManager
from tests.benchmarks import harness
from tests.benchmarks.harness import Pair
from tests.sizing.problems import AMPLIFIERS, MODELS

_OURS, _THEIRS = 1500, 30
_CASE = AMPLIFIERS["two-stage"]


def pairs() -> list[Pair]:
    """`theirs` does a fiftieth of the evaluations, so a ratio of 5 is one of 1 / 10 for each."""
    engine, loop = NgspiceBatch(ConfinedNgspice(processes=ProcessManager())), asyncio.new_event_loop()
    loop.run_until_complete(engine.confinement())
    return [_pair(engine, loop, models) for models in MODELS]


def _pair(engine: NgspiceBatch, loop: asyncio.AbstractEventLoop, models: str) -> Pair:
    folder = Path(tempfile.mkdtemp())
    path = folder / "amplifier.cir"
    path.write_text(_CASE.deck(models))
    prepared = prepare_for_study(
        SourceReaderFactory(), path, _CASE.spec, libraries=(), user_libraries=(),
        settings=SimulatorSettings(), dialect=None,
    )  # fmt: skip
    plan = StudyPlan(prepared, _CASE.spec, parameters=_CASE.spec.parameters, corners=())
    measures, _, _ = study_measures(_CASE.spec, prepared)
    rng = random.Random(1)
    points = [
        {name: low * (high / low) ** rng.uniform(0.3, 0.7) for name, (low, high) in _CASE.ranges.items()}
        for _ in range(_OURS)
    ]

    async def on_worker() -> None:
        async with engine.session(plan.circuits, workers=1) as session:
            runs = tuple(plan.run(number, Point(values=values)) for number, values in enumerate(points))
            async for outcome in session.run(runs, signals=measures.signals, timeout_s=60.0):
                _measured(measures, outcome.plots)
            harness.count_grandchildren()

    return Pair(
        name=f"{models}: {_OURS} evaluations against {_THEIRS}",
        ours=lambda: loop.run_until_complete(on_worker()),
        theirs=_processes(folder, path.read_text(), points[:_THEIRS], measures),
        theirs_name="ngspice -b for each",
        rounds=3,
        most_cpu=_OURS / _THEIRS / 10,
    )


def _measured(measures: StudyMeasures, plots: Sequence[Plot]) -> None:
    assert len(measures.of(plots, {}).values) == len(measures.names)


def _processes(
    folder: Path, deck: str, points: Sequence[dict[str, float]], measures: StudyMeasures
) -> Callable[[], object]:
    def run() -> None:
        for values in points:
            place = folder / "run"
            place.mkdir()
            card = ".param " + " ".join(f"{name}={value!r}" for name, value in values.items())
            (place / "deck.cir").write_text(re.sub(r"^\.param .*$", card, deck, count=1, flags=re.MULTILINE))
            (place / ".spiceinit").write_text("set num_threads=1\n")
            argv = ["ngspice", "-b", "-r", "out.raw", "deck.cir"]
            subprocess.run(argv, cwd=place, stdin=subprocess.DEVNULL, capture_output=True, check=True)
            _measured(measures, read_raw(place / "out.raw", signals=measures.signals))
            shutil.rmtree(place)

    return run
