"""What it costs that a run saves what tells the current of every element: with those vectors, and without.

Ten circuits, each a run as F5 does it; the note says how the data on the disk grow.
"""

from __future__ import annotations

import asyncio
import dataclasses
import itertools
import tempfile
from collections.abc import Callable
from pathlib import Path

from application.simulation.prepared_circuit import prepare_circuit
from domain.simulation.request import SimulationJob
from infrastructure.ngspice.confined import ConfinedNgspice
from infrastructure.ngspice.runner import NgspiceRunner
from infrastructure.persistence.source_files import SourceReaderFactory
from shared.processes import ProcessManager
from tests.benchmarks.harness import Pair

_EXAMPLES = Path("resources/examples").resolve()
_MODELS = (
    ".model n nmos(level=1 vto=0.5 kp=200u lambda=0.05 cgso=0.3n cgdo=0.3n)\n"
    ".model p pmos(level=1 vto=-0.5 kp=80u lambda=0.05 cgso=0.3n cgdo=0.3n)\n"
    ".model q npn(is=1e-15 bf=200 vaf=80 cje=5p cjc=3p tf=0.4n rb=50)\n"
    ".model d d(is=2n n=1.75 rs=0.8 cjo=4p tt=4n)\n"
)


def _ring(stages: int) -> str:
    cells = [
        f"Mn{n} r{(n + 1) % stages} r{n} 0 0 n w=2u l=0.5u\n"
        f"Mp{n} r{(n + 1) % stages} r{n} vdd vdd p w=5u l=0.5u\n"
        f"C{n} r{n} 0 20f\n"
        for n in range(stages)
    ]
    return f"ring\nVdd vdd 0 1.8\n{''.join(cells)}.ic v(r0)=0\n.tran 20p 60n uic\n"


def _ladder(rungs: int) -> str:
    cells = [f"R{n} n{n} n{n + 1} 100\nC{n} n{n + 1} 0 1n\n" for n in range(rungs)]
    return f"ladder\nV1 n0 0 pulse(0 1 0 10n 10n 5u 10u)\n{''.join(cells)}.tran 20n 400u\n"


def _multiplier(stages: int) -> str:
    cells = [
        f"C{2 * n} a{n} a{n + 1} 1u\nC{2 * n + 1} b{n} b{n + 1} 1u\n"
        f"Da{n} b{n} a{n + 1} d\nDb{n} a{n + 1} b{n + 1} d\n"
        for n in range(stages)
    ]
    return (
        f"multiplier\nV1 a0 0 sin(0 10 1k)\nVg b0 0 0\n{''.join(cells)}R1 b{stages} 0 1meg\n.tran 10u 100m\n"
    )


_DECKS = {
    "ring oscillator, 11 CMOS inverters": _ring(11),
    "RC ladder, 20 sections": _ladder(20),
    "voltage multiplier, 4 stages": _multiplier(4),
    "common-emitter amplifier": (
        "ce\nVcc vcc 0 12\nV1 in 0 sin(0 10m 10k)\nC1 in b 10u\nR1 vcc b 47k\nR2 b 0 10k\nRc vcc c 2.2k\n"
        "Re e 0 470\nCe e 0 100u\nQ1 c b e q\nC2 c out 10u\nRl out 0 10k\n.tran 1u 20m\n"
    ),
    "bipolar differential pair": (
        "pair\nVcc vcc 0 10\nVee vee 0 -10\nV1 a 0 sin(0 20m 100k)\nQ1 c1 a e q\nQ2 c2 0 e q\nR1 vcc c1 5k\n"
        "R2 vcc c2 5k\nQ3 e m vee q\nQ4 m m vee q\nR3 0 m 9.3k\n.tran 50n 1m\n"
    ),
    "bridge rectifier": (
        "rectifier\nV1 a b sin(0 17 50)\nD1 a p d\nD2 b p d\nD3 n a d\nD4 n b d\nC1 p n 470u\nR1 p n 200\n"
        "Rg n 0 1\n.tran 20u 500m\n"
    ),
}
_SHIPPED = (
    "buck-converter/buck.cir",
    "miller-opamp/opamp_step.cir",
    "wien-oscillator/oscillator.cir",
    "bandgap-reference/bandgap.cir",
)


def pairs() -> list[Pair]:
    """A pair for each circuit: at most 1.3 times the wall time and twice the data are asked for."""
    folder = Path(tempfile.mkdtemp())
    circuits = {Path(name).stem: _EXAMPLES / name for name in _SHIPPED}
    for name, text in _DECKS.items():
        circuits[name] = folder / f"{name.split(',')[0].replace(' ', '-')}.cir"
        circuits[name].write_text(f"{text}{_MODELS}.end\n", encoding="utf-8")
    return [_pair(folder, name, circuit) for name, circuit in circuits.items()]


def _pair(folder: Path, name: str, circuit: Path) -> Pair:
    prepared = prepare_circuit(SourceReaderFactory(), circuit)
    job = prepared.job(folder, timeout_s=120)
    assert prepared.wiring is not None
    bare = dataclasses.replace(prepared, text=prepared.text)
    bare.__dict__["wiring"] = dataclasses.replace(prepared.wiring, saved=())
    without = bare.job(folder, timeout_s=120)
    ours, theirs = _run(folder, job), _run(folder, without)
    growth = ours() / theirs()
    return Pair(
        name=name,
        ours=ours,
        theirs=theirs,
        theirs_name="saving nothing besides",
        note=f"{len(job.saved_beside)} vectors more, data x {growth:.2f}",
        rounds=9,
    )


def _run(folder: Path, job: SimulationJob) -> Callable[[], int]:
    runner = NgspiceRunner(ConfinedNgspice(processes=ProcessManager()))
    loop, numbers = asyncio.new_event_loop(), itertools.count()

    def run() -> int:
        output = Path(tempfile.mkdtemp(prefix=f"run-{next(numbers)}-", dir=folder))
        result = loop.run_until_complete(runner.run(dataclasses.replace(job, output_dir=output)))
        assert result.status == "ok", result.issues
        return sum(path.stat().st_size for path in output.rglob("*.raw"))

    return run
