"""Currents and powers of elements, held against bare ngspice with an ammeter in every lead."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from domain.simulation.expressions import evaluate, evaluate_vector
from domain.simulation.waveform import Plot
from infrastructure.waveforms.raw_file import read_raw
from shared.errors import UserInputError
from tests.integration.analyses.conftest import Simulate, plots_of

CORPUS = Path(__file__).parents[2] / "corpus" / "netlists" / "good"

AMPLIFIER = """two stages, a clipper and a switch, all of them with what their leads carry
.model qn npn(bf=120 cje=5p cjc=3p tf=.4n rb=30 vaf=80)
.model qp pnp(bf=90 cje=5p cjc=3p cjs=2p tf=.6n)
.model dm d(is=1e-14 rs=2 cjo=4p)
.model nm nmos(level=1 vto=1 kp=2m cgso=1n cgdo=1n)
.model jn njf(vto=-2 beta=1m cgs=3p cgd=3p)
.model sm sw(vt=2 vh=.5 ron=5)
.param load=2k
VCC vcc 0 DC 9
VIN in 0 DC 0 AC 1 SIN(0 .3 100k)
CIN in <b1> 1u
R1 vcc b1 47k
R2 b1 0 12k
RC vcc c1 2.2k
RE e1 0 680
Q1 <c1> b1 <e1> qn
Q2 <c2> c1 <vcc> qp
RL c2 0 {load}
D1 c2 <k> dm
RD k 0 5k
M1 <d> c2 0 0 nm
RM vcc d 1k
J1 vcc c1 <s> jn
RS s 0 3k
S1 c2 <sw> vcc 0 sm
RSW sw 0 10k
L1 s <lx> 1m
RLX lx 0 1k
"""
CURRENTS = {
    "i(cin)": "-i(vb1)", "ic(q1)": "i(vc1)", "ie(q1)": "i(ve1)", "ic(q2)": "i(vc2)", "ie(q2)": "i(vvcc)",
    "i(d1)": "-i(vk)", "id(m1)": "i(vd)", "is(j1)": "i(vs)", "i(s1)": "-i(vsw)", "i(l1)": "-i(vlx)",
}  # fmt: skip
"""Each current, and the ammeter that shows it."""
UNTOLD = {("ac", "ic(q2)"), ("ac", "ie(q2)")}
"""Where two transistors meet at every node."""
EXACT = ".options reltol=1e-7\n"
"""ngspice leaves quantities of its models a step behind the solution, within the tolerance."""


def plain(deck: str) -> str:
    return re.sub(r"<(\w+)>", r"\1", deck)


def with_ammeters(deck: str) -> str:
    """Every lead in brackets through a source of 0 V, which carries what flows into the element."""
    meters = "".join(f"V{node} {node} a{node} 0\n" for node in re.findall(r"<(\w+)>", deck))
    return re.sub(r"<(\w+)>", r"a\1", deck) + meters


def bare(folder: Path, deck: str, *, saves: str = "") -> list[Plot]:
    (folder / "bare.cir").write_text(f"{deck}\n{saves}\n.end\n")
    command = ["ngspice", "-n", "-b", "-r", "bare.raw", "bare.cir"]
    subprocess.run(command, cwd=folder, capture_output=True, check=True)
    return read_raw(folder / "bare.raw")


async def test_every_lead_carries_what_an_ammeter_shows(simulate: Simulate, tmp_path: Path) -> None:
    """At rest and over frequency on the same points; over time by peak and mean: each run has its steps."""
    cards = f"{EXACT}.op\n.ac dec 3 10 10meg\n.dc vin -.2 .2 .05\n.tran 20n 20u\n.end\n"
    result = await simulate(plain(AMPLIFIER) + cards)
    assert result.ok
    assert not result.issues
    ours = await plots_of(result)
    theirs = await asyncio.to_thread(bare, tmp_path, with_ammeters(AMPLIFIER) + cards)
    for current, ammeter in CURRENTS.items():
        expected = evaluate(_of("op", ammeter), theirs).value
        assert evaluate(f"op.{current}", ours).value == pytest.approx(expected, rel=1e-5, abs=1e-9), current
        for analysis, rough in (("ac", 1e-4), ("dc", 1e-4)):
            if (analysis, current) in UNTOLD:
                with pytest.raises(UserInputError):
                    evaluate_vector(f"{analysis}.{current}", ours)
                continue
            found = evaluate_vector(f"{analysis}.{current}", ours).y
            wanted = evaluate_vector(_of(analysis, ammeter), theirs).y
            largest = np.max(np.abs(wanted))
            assert np.max(np.abs(found - wanted)) <= rough * largest + 1e-9, (current, analysis)
        for measured in ("max", "avg"):
            value = evaluate(f"{measured}(tran.{current})", ours).value
            shown = evaluate(f"{measured}({_of('tran', ammeter)})", theirs).value
            assert value == pytest.approx(shown, rel=2e-2, abs=2e-6), (current, measured)


def _of(analysis: str, ammeter: str) -> str:
    return ammeter.replace("i(", f"{analysis}.i(")


async def test_what_sources_deliver_is_what_parts_take(simulate: Simulate) -> None:
    """Tellegen: the powers of all elements add up to nothing, at each moment."""
    result = await simulate(plain(AMPLIFIER) + ".op\n.tran 20n 20u\n.end\n")
    plots = await plots_of(result)
    wiring = json.loads(await asyncio.to_thread(result.result_path.with_name("wiring.json").read_text))
    parts = [part[0] for part in wiring["parts"]]
    assert parts[0] == "vcc"
    for analysis in ("op", "tran"):
        powers = [_values(f"{analysis}.p({part})", plots) for part in parts]
        taken = np.sum(np.abs(powers), axis=0)
        assert np.all(np.abs(np.sum(powers, axis=0)) <= 1e-6 * taken)
        assert np.all(powers[0] < 0)  # the supply delivers


def _values(expression: str, plots: list[Plot]) -> np.ndarray:
    if expression.startswith("op."):
        return np.array([evaluate(expression, plots).value])
    return evaluate_vector(expression, plots).y


async def test_subcircuits_their_pins_and_what_is_inside(simulate: Simulate, tmp_path: Path) -> None:
    deck = """pins
    .subckt pair in out vcc
    R1 vcc x 1k
    Q1 x in out qn
    R2 in out {bias}
    .ends
    .param bias=10k
    .model qn npn(bf=100)
    .options reltol=1e-7
    V1 vcc 0 5
    V2 a 0 1
    X1 a o vcc pair
    RO o 0 100
    X2 a p vcc pair
    RP p 0 200
    .dc V2 .5 2 .1
    """.replace("    ", "")
    ours = await plots_of(await simulate(f"{deck}.end\n"))
    saves = ".save all @q.x1.q1[ic] @q.x2.q1[ib] @r.x1.r2[i]"
    theirs = await asyncio.to_thread(bare, tmp_path, deck, saves=saves)
    expected = {
        "i(x1,vcc)": "v(vcc)/1k-v(x1.x)/1k", "i(x1,out)": "-v(o)/100", "i(x1,o)": "-v(o)/100",
        "i(x1,2)": "-v(o)/100", "ic(x1.q1)": "@q.x1.q1[ic]", "ib(x2.q1)": "@q.x2.q1[ib]",
        "i(x1.r2)": "@r.x1.r2[i]", "i(r.x1.r2)": "@r.x1.r2[i]",
        "p(x2)": "-v(p)*v(p)/200+v(a)*(v(a)-v(p))/10k+v(a)*@q.x2.q1[ib]+v(vcc)*(v(vcc)-v(x2.x))/1k",
    }  # fmt: skip
    for expression, formula in expected.items():
        found, wanted = evaluate_vector(expression, ours), evaluate_vector(formula, theirs)
        assert np.allclose(found.y, wanted.y, rtol=1e-5, atol=1e-5 * np.max(np.abs(wanted.y))), expression
        assert found.unit == ("W" if expression.startswith("p") else "A")
    with pytest.raises(UserInputError) as error:
        evaluate("max(i(x1))", ours)
    assert "3 pins" in str(error.value.message)
    assert "in, out, vcc" in str(error.value.advice)


async def test_values_that_are_stepped_and_swept_count(simulate: Simulate) -> None:
    deck = "steps\nV1 a 0 DC 2 AC 1\nR1 a b 1k\nR2 b 0 1k\nC1 b 0 1u\n"
    stepped = await plots_of(await simulate(f"{deck}.step R2 list 1k 3k\n.op\n.ac dec 1 1k 10k\n.end\n"))
    assert evaluate("op1.i(r2)", stepped).value == pytest.approx(1e-3)
    assert evaluate("op2.i(r2)", stepped).value == pytest.approx(0.5e-3)
    assert evaluate("op2.p(r2)", stepped).value == pytest.approx(0.75e-3)
    ratio = evaluate("at(mag(ac1.i(c1)/ac1.v(b)),1k)", stepped)
    assert (ratio.value, ratio.unit) == (pytest.approx(2 * np.pi * 1e-3, rel=1e-6), "S")
    swept = await plots_of(await simulate(f"{deck}.dc R2 1k 3k 1k\n.end\n"))
    assert evaluate_vector("i(r2)", swept).y == pytest.approx([1e-3, 2 / 3e3, 0.5e-3])


async def test_the_corpus_resistors_and_capacitors(simulate: Simulate, tmp_path: Path) -> None:
    """Each over time and at rest against ngspice's own quantity; capacitors by the largest of the circuit."""
    compared = 0
    for name in ("suffixes", "separators", "divider_op", "include_plain", "zener_rectifier", "temperature",
                 "subckt_local_params", "models_with_digits", "cccs_bias", "rc_step"):  # fmt: skip
        text = (CORPUS / f"{name}.cir").read_text(encoding="latin-1")
        folder = tmp_path / name
        await asyncio.to_thread(folder.mkdir)
        if name == "include_plain":
            continue
        result = await simulate(text)
        assert result.ok, name
        wiring = json.loads(await asyncio.to_thread(result.result_path.with_name("wiring.json").read_text))
        asked = [part for part in wiring["parts"] if part[2] in "rc"]
        saves = "\n".join(f".save @{part[1]}[i]" for part in asked)
        theirs = await asyncio.to_thread(bare, folder, text, saves=f".save all\n{saves}")
        for ours, other in zip(await plots_of(result), theirs, strict=True):
            if ours.analysis not in ("op", "tran", "dc"):
                continue
            largest = max(float(np.max(np.abs(v.data))) for n, v in other.vectors.items() if n[0] in "@i")
            for part in asked:
                mine = _values(f"{'op.' if ours.axis is None else ''}i({part[0]})", [ours])
                wanted = other.vectors[f"@{part[1]}[i]"].data
                assert np.allclose(mine, wanted, rtol=1e-6, atol=1e-6 * largest), (name, part[0])
                compared += 1
    assert compared >= 25


async def test_what_is_not_told_says_why(simulate: Simulate) -> None:
    deck = "t\nV1 a 0 DC 5 AC 1\nR1 a b 1k\nD1 b c dm\nD2 b c dm\nR2 c 0 1k\n.model dm d\n"
    plots = await plots_of(await simulate(f"{deck}.save v(a)\n.op\n.ac dec 1 1 10\n.end\n"))
    everything = await plots_of(await simulate(f"{deck}{EXACT}.op\n.ac dec 1 1 10\n.end\n"))
    commands = await plots_of(await simulate(f"{deck}.control\nop\n.endc\n.end\n"))
    told = [
        (plots, "op.i(r1)", "do not contain the current of r1", ".save all @r1[i]"),
        (everything, "max(mag(ac.i(d1)))", "does not determine the current of d1", "0 V in series"),
        (everything, "max(ac.p(r1))", "power of r1 is not defined in an ac analysis", ".tran"),
        (everything, "op.i(r7)", "no element r7", "r1"),
        (everything, "op.ic(r1)", "no terminal as in op.ic(r1)", "1, 2"),
        (commands, "p(r1)", "were not saved", "save all @r1[i]"),
    ]
    for given, expression, problem, advice in told:
        with pytest.raises(UserInputError) as error:
            evaluate(expression, given)
        assert problem in str(error.value.message), expression
        assert advice in str(error.value.advice), expression
    assert evaluate("op.i(d1)", everything).value == pytest.approx(evaluate("op.i(d2)", everything).value)


async def test_no_more_is_saved_than_the_circuit_saves_itself(simulate: Simulate) -> None:
    """Twenty diodes in parallel need nineteen currents more; the circuit has a handful of vectors."""
    diodes = "".join(f"D{number} b 0 dm area={number}\n" for number in range(1, 21))
    result = await simulate(f"t\nV1 a 0 5\nR1 a b 1k\n{diodes}.model dm d\n.tran 1u 10u\n.end\n")
    plots = await plots_of(result)
    assert evaluate("max(i(d3))", plots).value == pytest.approx(
        3 / 210 * evaluate("max(i(r1))", plots).value, rel=1e-3
    )
    with pytest.raises(UserInputError) as error:
        evaluate("max(i(d20))", plots)
    assert "more than twice as large" in str(error.value.message)
    assert ".save all @d20[id]" in str(error.value.advice)
    assert list(plots[0].vectors) == ["time", "v(a)", "v(b)", "i(v1)"]
