"""Monte Carlo of a small AC circuit on warm guests, against processes, spicelib, and the bare library.

The floor is a process that does nothing but `run` and `destroy all` on the loaded circuit, the same number of
times, start included on both sides. Both sides use two workers or one, as they are called. spicelib runs in
the interpreter that SPICELIB_PYTHON names (or in this one when it is installed here).
"""

from __future__ import annotations

import asyncio
import functools
import importlib.util
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from domain.circuit.analyses import Analysis
from domain.circuit.dependencies import resolve_dependencies
from domain.circuit.netlist import Netlist
from domain.simulation.batch import BatchCircuit, BatchRun
from domain.studies.variation import plan_variation
from infrastructure.ngspice.batch.simulator import NgspiceBatch
from infrastructure.ngspice.confined import ConfinedNgspice, _find_library
from infrastructure.persistence.source_files import SourceReaderFactory
from infrastructure.waveforms.raw_file import read_raw
from shared.processes import ProcessManager
from tests.benchmarks import harness
from tests.benchmarks.harness import Pair

RUNS = 1000
_AT_FLOOR = 5000
_NAMES = {"R1": 47e3, "R2": 10e3, "Rc": 2.2e3, "Re": 470.0, "Rl": 10e3}
_DECK = """* common-emitter amplifier
Vcc vcc 0 12
Vin in 0 dc 0 ac 1
R1 vcc b {R1!r}
R2 b 0 {R2!r}
Rc vcc c {Rc!r}
Re e 0 {Re!r}
Ce e 0 100u
C1 in b 10u
C2 c out 10u
Rl out 0 {Rl!r}
Q1 c b e qn
.model qn npn(is=1e-14 bf=200 vaf=100 cje=5p cjc=2p tf=0.3n rb=10)
.ac dec 20 10 100meg
.end
"""
_FLOOR = """
import ctypes, os, sys
library = ctypes.CDLL(sys.argv[1])
kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_void_p)
says = kind(lambda text, number, user: 0)
library.ngSpice_Init(says, None, None, None, None, None, None)
for command in ("set num_threads=1", "source " + sys.argv[2]):
    library.ngSpice_Command(command.encode())
for _ in range(int(sys.argv[3])):
    library.ngSpice_Command(b"run")
    library.ngSpice_Command(b"destroy all")
    library.ngSpice_Command(None)
"""
_SPICELIB = """
import json, logging, os, sys, tempfile
logging.disable(logging.CRITICAL)
from spicelib import RawRead, SimRunner, SpiceEditor
from spicelib.simulators.ngspice_simulator import NGspiceSimulator
deck, rows, workers = sys.argv[1], json.load(open(sys.argv[2])), int(sys.argv[3])
editor = SpiceEditor(deck)
with tempfile.TemporaryDirectory() as folder:
    runner = SimRunner(simulator=NGspiceSimulator, output_folder=folder, parallel_sims=workers)
    for row in rows:
        for name, value in row.items():
            editor[name].value = value
        runner.run(editor)
    runner.wait_completion()
    count = sum(len(RawRead(raw, dialect="ngspice").get_trace("v(out)")) > 0 for raw, _ in runner)
assert count == len(rows), count
"""


def pairs() -> list[Pair]:
    """Each peer against ours with the same number of runs and workers."""
    folder = Path(tempfile.mkdtemp())
    path = folder / "amplifier.cir"
    path.write_text(_DECK.format(**_NAMES))
    engine, loop = NgspiceBatch(ConfinedNgspice(processes=ProcessManager())), asyncio.new_event_loop()
    loop.run_until_complete(engine.confinement())
    ours = functools.partial(_ours, engine, loop, path)
    found = [
        Pair(
            name=f"{RUNS} runs, {workers} worker{'s' * (workers > 1)}",
            ours=ours(RUNS, workers),
            theirs=_processes(folder, RUNS, workers),
            theirs_name="ngspice -b for each",
            rounds=3,
        )
        for workers in (1, 2)
    ]
    floor = functools.partial(_floor, path, _AT_FLOOR)
    for name, way in (
        ("nothing changed", ""),
        ("alter of 5 values", "alter"),
        ("alterparam of 5 values", "alterparam"),
    ):
        found.append(
            Pair(
                name=f"{_AT_FLOOR} runs, {name}",
                ours=ours(_AT_FLOOR, 1, way),
                theirs=floor,
                theirs_name="`run` in a loop",
                rounds=5,
            )
        )
    return [*found, *_with_spicelib(folder, path, ours)]


def _rows(count: int) -> list[dict[str, float]]:
    rng = random.Random(1)
    return [{name: value * rng.gauss(1, 0.02) for name, value in _NAMES.items()} for _ in range(count)]


def _circuit(path: Path, way: str) -> BatchCircuit:
    """The circuit with its five resistors changed by `way`, or with nothing changed."""
    text = path.read_text()
    if way == "alterparam":
        for name, value in _NAMES.items():
            text = re.sub(
                rf"^({name} .*) \S+$",
                rf"\1 {{1*p{name}}}\n.param p{name}={value!r}",
                text,
                flags=re.MULTILINE,
            )
    names = {"": [], "alter": list(_NAMES), "alterparam": [f"p{name}" for name in _NAMES]}[way]
    reader = SourceReaderFactory().for_circuit(path, ())
    tree, varied = plan_variation(
        resolve_dependencies(Netlist.parse(text.encode(), path=path), reader), names
    )
    assert all(one.way == way for one in varied)
    analysis = Analysis(kind="ac", text="ac dec 20 10 100meg", line=14)
    return BatchCircuit(deck=tree.root.to_bytes(), deck_path=path, varied=varied, analyses=(analysis,))


def _ours(
    engine: NgspiceBatch,
    loop: asyncio.AbstractEventLoop,
    path: Path,
    count: int,
    workers: int,
    way: str = "alter",
) -> Callable[[], object]:
    circuit = _circuit(path, way)
    rows = [tuple(row.values()) if way else () for row in _rows(count)]
    runs = tuple(BatchRun(run_id=number, circuit=0, values=row) for number, row in enumerate(rows))

    async def all_of_it() -> None:
        async with engine.session((circuit,), workers=workers) as session:
            outcomes = session.run(runs, signals=("v(out)",), timeout_s=60.0)
            assert [outcome.state async for outcome in outcomes] == ["ok"] * count
            harness.count_grandchildren()

    return lambda: loop.run_until_complete(all_of_it())


def _processes(folder: Path, count: int, workers: int) -> Callable[[], object]:
    rows = _rows(count)

    def one(number: int) -> None:
        place = folder / f"run{number % workers}-{number}"
        place.mkdir()
        (place / "deck.cir").write_text(_DECK.format(**rows[number]))
        argv = ["ngspice", "-n", "-b", "-r", "out.raw", "deck.cir"]
        subprocess.run(argv, cwd=place, stdin=subprocess.DEVNULL, capture_output=True, check=True)
        (plot,) = read_raw(place / "out.raw", signals=("v(out)",))
        assert plot.points == 141
        shutil.rmtree(place)

    def run() -> None:
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(one, range(count)))

    return run


def _floor(path: Path, count: int) -> None:
    ngspice = shutil.which("ngspice")
    library = _find_library(Path(ngspice).resolve()) if ngspice else None
    argv = [sys.executable, "-I", "-S", "-c", _FLOOR, str(library), str(path), str(count)]
    subprocess.run(argv, check=True, stdin=subprocess.DEVNULL, capture_output=True)


def _with_spicelib(folder: Path, path: Path, ours: Callable[..., Callable[[], object]]) -> list[Pair]:
    python = os.environ.get("SPICELIB_PYTHON", "")
    if not python and importlib.util.find_spec("spicelib") is not None:
        python = sys.executable
    if not python:
        print("spicelib is not installed: SPICELIB_PYTHON can name an interpreter that has it")
        return []
    rows = folder / "rows.json"
    rows.write_text(json.dumps(_rows(RUNS)))

    def theirs(workers: int) -> None:
        argv = [python, "-c", _SPICELIB, str(path), str(rows), str(workers)]
        subprocess.run(argv, check=True, stdin=subprocess.DEVNULL, capture_output=True, cwd=folder)

    return [
        Pair(
            name=f"{RUNS} runs, {workers} worker{'s' * (workers > 1)}",
            ours=ours(RUNS, workers),
            theirs=functools.partial(theirs, workers),
            theirs_name="spicelib SimRunner",
            rounds=1,
            is_long=True,
        )
        for workers in (1, 2)
    ]
