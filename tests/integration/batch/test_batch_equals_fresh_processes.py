# ruff: noqa: E501 - decks are read better whole
"""What a warm guest gives for changed values is what a fresh ngspice gives for the edited deck.

Each deck is a template: its fields are the varied values, so that the reference does not pass through
our own editing. The rows come back to earlier values, so that nothing may be left of the runs between.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from domain.simulation.batch import ChangeWay
from domain.simulation.request import SimulationJob
from domain.simulation.waveform import Plot
from infrastructure.ngspice.runner import NgspiceRunner
from infrastructure.waveforms.raw_file import read_raw
from tests.integration.batch.conftest import MakeBatch, MakeCircuit, analyses_of, batch_of, outcomes_of


@dataclass(frozen=True, kw_only=True)
class Case:
    deck: str
    """Fields {0}, {1} ... are the values of `names`."""
    names: tuple[str, ...]
    rows: tuple[tuple[float, ...], ...]
    """The first is the circuit as written."""
    ways: tuple[ChangeWay, ...]
    files: Mapping[str, str] = field(default_factory=dict)
    """Included files, with the same fields."""


def doubled(*rows: tuple[float, ...]) -> tuple[tuple[float, ...], ...]:
    return (*rows, *reversed(rows))


CASES = {
    "plain values": Case(
        deck="t\nV1 a 0 dc {0} ac 1\nR1 a b {1}\nL1 b c {2}\nC1 c 0 {3}\nI1 c 0 {4}\nRl c 0 10k\n"
        ".op\n.ac dec 5 1k 1meg\n.tran 1u 20u\n.dc I1 0 1m 0.2m\n.end\n",
        names=("V1", "R1", "L1", "C1"),
        rows=doubled((1.0, 1e3, 1e-3, 1e-9, 1e-3), (-1.5, 2.7e3, 2.2e-3, 3.3e-9, 1e-3)),
        ways=("alter", "alter", "alter", "alter"),
    ),
    "values in expressions": Case(
        deck="t\n.param rl={0} k='rl/500'\nV1 a 0 dc 2 ac {{k}}\nR1 a b {{rl*2}}\nC1 b 0 {{k*1n}}\n"
        ".op\n.ac dec 5 1k 1meg\n.end\n",
        names=("rl",),
        rows=doubled((5e3,), (123.4,), (9.87e5,)),
        ways=("alterparam",),
    ),
    "coupled inductors": Case(
        deck="t\nV1 a 0 dc 0 ac 1\nR1 a b 50\nL1 b 0 {0}\nL2 c 0 1m\nK1 L1 L2 {1}\nR2 c 0 {2}\n"
        ".ac dec 10 1k 1meg\n.tran 1u 20u\n.end\n",
        names=("L1", "K1", "R2"),
        rows=doubled((1e-3, 0.99, 50.0), (4.7e-3, 0.8, 75.0)),
        ways=("alterparam", "alterparam", "alter"),
    ),
    "resistor with temperature coefficient, and temperature": Case(
        deck="t\nV1 a 0 10\nR1 a b {0} tc1=2e-3 tc2=1e-5\nR2 b 0 1k\nD1 b 0 dd\n.model dd d(is=1e-14 xti=3)\n"
        ".options temp={1} reltol=1e-4\n.op\n.dc V1 0 5 1\n.end\n",
        names=("R1", "temp"),
        rows=doubled((1e3, 27.0), (2e3, -40.0), (1e3, 125.0)),
        ways=("alterparam", "alterparam"),
    ),
    "temperature by .temp": Case(
        deck="t\nV1 a 0 10\nR1 a b 1k tc1=2e-3\nD1 b 0 dd\n.model dd d\n.temp {0}\n.op\n.end\n",
        names=("temp",),
        rows=doubled((27.0,), (85.0,)),
        ways=("alterparam",),
    ),
    "level-1 transistor": Case(
        deck="t\nVdd d 0 3\nVg g 0 {2}\nM1 d g 0 0 n1 w={0} l={1} ad=1p as=1p\nM2 e g 0 0 n1 w=5u l=2u\nR1 d e 10k\n"
        ".model n1 nmos level=1 vto={3} kp=50u lambda=0.02 gamma=0.4 phi=0.6 tox=20n\n"
        ".op\n.dc Vg 0 3 0.25\n.end\n",
        names=("m1.w", "m1.l", "Vg", "n1.vto"),
        rows=doubled((10e-6, 1e-6, 1.2, 0.7), (23e-6, 2e-6, 1.5, 0.45), (3.3e-6, 0.6e-6, 1.0, 0.9)),
        ways=("alter", "alter", "alterparam", "alterparam"),
    ),
    "sizes of all transistors by parameters": Case(
        deck="t\n.param w1={0} l1={1} Ib={2}\nVdd d 0 1.8\nVg g 0 dc 0.9 ac 1\nIb d o {{Ib}}\n"
        + "".join(
            f"M{n} o{n} g 0 0 n{n} w={{{{w1}}}} l='l1'\nR{n} d o{n} 5k\n.model n{n} nmos level={level}\n"
            for n, level in enumerate((2, 3, 6, 8, 14, 49, 54), start=1)
        )
        + "Ro o 0 1k\n.op\n.ac dec 2 1k 10g\n.end\n",
        names=("w1", "l1", "Ib"),
        rows=doubled((10e-6, 1e-6, 1e-5), (33e-6, 0.5e-6, 2e-5), (3e-6, 2e-6, 1e-6)),
        ways=("alter", "alter", "alter"),
    ),
    "sizes that choose the model": Case(
        deck="t\nVdd d 0 1.8\nVg g 0 0.9\nM1 o g 0 0 nb w={0} l=1u\nR1 d o 5k\n"
        ".model nb.1 nmos level=14 wmin=1u wmax=10u lmin=0.1u lmax=10u vth0=0.4\n"
        ".model nb.2 nmos level=14 wmin=10u wmax=100u lmin=0.1u lmax=10u vth0=0.6\n.op\n.end\n",
        names=("m1.w",),
        rows=doubled((5e-6,), (50e-6,)),
        ways=("alterparam",),
    ),
    "BSIM4 transistor": Case(
        deck="t\nVdd d 0 1.2\nVg g 0 dc {1} ac 1\nRd d o 10k\nM1 o g 0 0 n4 w={0} l=90n\nC1 o 0 {2}\n"
        ".model n4 nmos level=14 version=4.8.1 vth0={3} toxe=2n u0=0.03\n.op\n.ac dec 4 1k 1g\n.tran 1n 20n\n.end\n",
        names=("m1.w", "Vg", "C1", "n4.vth0"),
        rows=doubled((1e-6, 0.6, 1e-14, 0.4), (2.5e-6, 0.55, 3e-14, 0.38)),
        ways=("alter", "alter", "alter", "alterparam"),
    ),
    "bipolar amplifier": Case(
        deck="t\nVcc vcc 0 12\nVin in 0 dc 0 ac {3} sin(0 10m 1k)\nR1 vcc b {0}\nR2 b 0 10k\nRc vcc c 2.2k\n"
        "Re e 0 470\nCe e 0 100u\nC1 in b 10u\nQ1 c b e q1 area={4}\n"
        ".model q1 npn(is=1e-14 bf={1} vaf={2}\n+ cje=5p rb=10)\n.op\n.ac dec 5 10 10meg\n.tran 10u 2m\n.noise v(c) Vin dec 3 10 1meg\n.end\n",
        names=("R1", "q1.bf", "q1.vaf"),
        rows=doubled((47e3, 200.0, 100.0, 1.0, 1.0), (56e3, 120.0, 60.0, 1.0, 1.0)),
        ways=("alter", "alterparam", "alterparam"),
    ),
    "pulse source by parameters": Case(
        deck="t\n.param vh={0} tr={1} mag={2}\nV1 a 0 dc 0 ac {{mag}} pulse(0 {{vh}} 1u {{tr}} {{tr}} 5u 20u)\n"
        "R1 a b 1k\nC1 b 0 {3}\n.tran 0.1u 40u\n.ac dec 5 1k 1meg\n.end\n",
        names=("vh", "tr", "mag", "C1"),
        rows=doubled((5.0, 1e-9, 1.0, 1e-9), (3.3, 4e-7, 2.5, 2e-9)),
        ways=("alterparam", "alterparam", "alterparam", "alter"),
    ),
    "source with a waveform": Case(
        deck="t\nV1 a 0 dc {0} sin(1 1 100k)\nR1 a b 1k\nD1 b 0 dd\n.model dd d\n.op\n.tran 0.1u 20u\n.end\n",
        names=("V1",),
        rows=doubled((1.0,), (0.3,)),
        ways=("alterparam",),
    ),
    "subcircuit": Case(
        deck="t\nV1 a 0 dc 1 ac 1\nX1 a b rc r1={0}\nX2 b c low\n.subckt rc p q r1=2k c1=1n\nR1 p q {{r1}}\nC1 q 0 {{c1}}\n.ends\n"
        ".subckt low p q\nR2 p q {1}\nC2 q 0 {2} ic=0\n.ends\n.ac dec 5 1k 1meg\n.tran 1u 10u\n.end\n",
        names=("x1.r1", "x2.r2", "x2.c2"),
        rows=doubled((1e3, 5e3, 2e-9), (330.0, 6.8e3, 1e-10)),
        ways=("alterparam", "alterparam", "alterparam"),
    ),
    "library of models": Case(
        deck="t\n.lib lib/models.lib tt\n.include params.inc\nV1 a 0 {{vdd}}\nR1 a b 1k\nD1 b 0 dx\nX1 b rload\n.op\n.end\n",
        files={
            "lib/models.lib": ".lib tt\n.model dx d is={0} n=1.2\n.endl\n.lib ff\n.model dx d is=1e-12\n.endl\n",
            "params.inc": ".param vdd={1}\n.subckt rload p\nRx p 0 {2}\n.ends\n*# shell touch never\n",
        },
        names=("dx.is", "vdd", "x1.rx"),
        rows=doubled((1e-14, 3.3, 1e4), (5e-13, 5.0, 2e3)),
        ways=("alterparam", "alter", "alterparam"),
    ),
    "control block and other analyses": Case(
        deck="t\n.control\nrun\nalter r1=3\nquit 1\n.endc\n*# alter r1=5\nV1 a 0 dc 1 ac 1\nR1 a b {0}\nC1 b 0 1n\nR2 b 0 {1}\n"
        ".tf v(b) V1\n.sens v(b)\n.pz a 0 b 0 vol pol\n.ac dec 3 1k 1meg\n.ac lin 3 1 10\n.dc V1 0 1 0.5\n.end\n",
        names=("R1", "R2"),
        rows=doubled((1e3, 1e3), (2e3, 5e3)),
        ways=("alter", "alter"),
    ),
    "transmission line, switch and initial conditions": Case(
        deck="t\nV1 a 0 pulse(0 1 0 1n 1n 10n 40n)\nR1 a b {0}\nT1 b 0 c 0 z0=50 td={1}\nR2 c 0 {2}\nS1 c d b 0 sw\nRd d 0 1k\n"
        "C1 d 0 1p ic=0.5\n.model sw sw vt=0.3 vh=0.05 ron=10 roff=1meg\n.tran 0.2n 60n uic\n.end\n",
        names=("R1", "t1.td", "R2"),
        rows=doubled((50.0, 5e-9, 50.0), (25.0, 8e-9, 100.0)),
        ways=("alter", "alterparam", "alter"),
    ),
    "code model and digital parts": Case(
        deck="t\nV1 a 0 pulse(0 {0} 1u 1n 1n 4u 10u)\na1 [a] [da] adc\na2 da db inv\na3 [db] [o] dac\nR1 o 0 {1}\nC1 o 0 10p\n"
        ".model adc adc_bridge(in_low=1 in_high=2)\n.model inv d_inverter(rise_delay=1e-8 fall_delay=1e-8)\n"
        ".model dac dac_bridge(out_low=0 out_high={2})\n.tran 50n 20u\n.end\n",
        names=("R1", "dac.out_high"),
        rows=doubled((5.0, 1e3, 3.0), (5.0, 2e3, 1.8)),
        ways=("alter", "alterparam"),
    ),
    "if block": Case(
        deck="t\n.param mode={0}\nV1 a 0 2\nR1 a b 1k\n.if (mode==1)\nR2 b 0 1k\n.else\nR2 b c 3k\nR3 c 0 1k\n.endif\n.op\n.end\n",
        names=("mode",),
        rows=doubled((1.0,), (2.0,)),
        ways=("alterparam",),
    ),
}  # fmt: skip


def text_with(template: str, case: Case, row: Sequence[float]) -> str:
    return template.format(*(repr(value) for value in row))


def varied_values(case: Case, row: Sequence[float]) -> tuple[float, ...]:
    """The values of the fields that are varied: those of the others stay."""
    fields = _FIELDS.get(case_name(case), tuple(range(len(case.names))))
    return tuple(row[index] for index in fields)


_FIELDS = {
    "bipolar amplifier": (0, 1, 2),
    "code model and digital parts": (1, 2),
}


def case_name(case: Case) -> str:
    return next(name for name, other in CASES.items() if other is case)


async def fresh(
    runner: NgspiceRunner, case: Case, row: Sequence[float], folder: Path, number: int
) -> list[Plot]:
    """The plots of a fresh ngspice that reads the deck with these values written in it."""
    place, output = folder / f"fresh-{number}", folder / f"result-{number}"
    place.mkdir()
    output.mkdir()
    for name, text in case.files.items():
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).write_text(text_with(text, case, row))
    deck = "".join(
        line
        for line in text_with(case.deck, case, row).splitlines(keepends=True)
        if not line.startswith((".control", "run", "alter", "quit", ".endc", "*#"))
    )
    job = SimulationJob(
        deck=deck.encode(),
        deck_path=place / "circuit.cir",
        included_files=tuple((place / name).resolve() for name in case.files),
        analyses=analyses_of(deck),
        output_dir=output,
    )
    run = await runner.run(job)
    assert run.status == "ok", run.issues
    return await asyncio.to_thread(read_raw, run.raw_paths[0])


def assert_same(ours: Sequence[Plot], theirs: Sequence[Plot]) -> None:
    by_kind: dict[str, list[Plot]] = {}
    for plot in theirs:
        by_kind.setdefault(plot.analysis, []).append(plot)
    assert sorted(plot.analysis for plot in ours) == sorted(plot.analysis for plot in theirs)
    for plot in ours:
        other = by_kind[plot.analysis].pop(0)
        assert plot.axis_name == other.axis_name
        assert set(plot.vectors) == set(other.vectors)
        for name, vector in plot.vectors.items():
            assert vector.unit == other.vectors[name].unit, name
            expected = other.vectors[name].data
            assert vector.data.dtype == expected.dtype, name
            scale = float(np.abs(expected).max()) if len(expected) else 0.0
            # Below the solver's own rounding, currents of 1e-18 A are nothing but that.
            atol = max(1e-9 * scale, 1e-15)
            np.testing.assert_allclose(vector.data, expected, rtol=1e-9, atol=atol, err_msg=name)


@pytest.mark.parametrize("name", CASES)
async def test_changed_values_give_what_a_fresh_process_gives(
    name: str,
    folder: Path,
    make_circuit: MakeCircuit,
    make_batch: MakeBatch,
    single_runner: NgspiceRunner,
) -> None:
    case = CASES[name]
    first = case.rows[0]
    files = {path: text_with(text, case, first) for path, text in case.files.items()}
    circuit = await asyncio.to_thread(
        make_circuit, text_with(case.deck, case, first), case.names, files=files
    )
    values = [varied_values(case, row) for row in case.rows]
    assert tuple(varied.way for varied in circuit.varied) == case.ways
    assert [varied.nominal for varied in circuit.varied] == pytest.approx(values[0])

    found = await outcomes_of(make_batch(), batch_of(circuit, values), workers=1)

    for outcome in found:
        assert outcome.state == "ok", outcome.issues
    half = len(found) // 2
    for there, back in zip(found[:half], reversed(found[half:]), strict=True):
        for one, other in zip(there.plots, back.plots, strict=True):
            for key, vector in one.vectors.items():
                assert vector.data.tobytes() == other.vectors[key].data.tobytes(), "history shows"
    for number, row in enumerate(case.rows[:half]):
        assert_same(found[number].plots, await fresh(single_runner, case, row, folder, number))
