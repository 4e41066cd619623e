"""Circuits of LTspice, PSpice and HSPICE, as these programs write them, simulated in ngspice."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from domain.simulation.expressions import evaluate
from shared.errors import UserInputError
from tests.integration.analyses.conftest import Simulate, plots_of

TWO_PI = 2 * math.pi
LTSPICE_RC = (
    "* C:\\users\\me\\Draft1.asc\nV1 in 0 AC 1 Rser=50\nR1 in out 1k\nC1 out 0 1\N{MICRO SIGN}F Rser=10\n"
    ".ac dec 20 1 1Meg\n.backanno\n.end\n"
)

LTSPICE: dict[str, tuple[str, dict[str, float]]] = {
    # out = (1 + s 10 C) / (1 + s (1050 + 10) C)
    "parasitics and micro": (LTSPICE_RC, {"at(mag(v(out)), 1Meg)": 10 / 1060, "dcgain(v(out))": 1.0}),
    "one time on .tran": (
        "* x.asc\nV1 in 0 PULSE(0 1 0 1n 1n 1 2)\nR1 in out 1k\nC1 out 0 1u\n.tran 10m\n.end\n",
        {"rise_time(v(out))": 1e-3 * math.log(9)},
    ),
    "modifiers and step 0": (
        "* x.asc\nV1 in 0 SINE(0 1 1k)\nR1 in 0 1k\n.tran 0 5m 0 1u startup\n.end\n",
        {"frequency(v(in))": 1e3},
    ),
    "functions": (
        "* x.asc\nV1 in 0 2\nB1 a 0 V=if(V(in)>1,3,4)\nB2 b 0 V=buf(V(in))\nB3 c 0 V=limit(V(in),-1,1)\n"
        "B4 d 0 V=table(V(in),0,0,1,10,4,40)\nR1 a 0 1\nR2 b 0 1\nR3 c 0 1\nR4 d 0 1\n.op\n.backanno\n.end\n",
        {"v(a)": 3, "v(b)": 1, "v(c)": 1, "v(d)": 20},
    ),
    "a limit of three": (
        "t\nV1 in 0 2\nB3 c 0 V=limit(V(in),-1,V(in)-0.5)\nR3 c 0 1\n.op\n.end\n",
        {"v(c)": 1.5},
    ),
    "laplace": (
        "* x.asc\nV1 in 0 AC 1\nE1 out 0 in 0 Laplace=1/(1+s/6283.185307)\nR1 out 0 1k\n"
        ".ac dec 20 1 1Meg\n.end\n",
        {"bandwidth(v(out))": 1e3},
    ),
    "laplace at DC and from there on": (
        "* x.asc\nV1 in 0 PULSE(2 3 1m 1n 1n 1 2)\nE1 out 0 in 0 Laplace=5*(1+s/1e6)/((1+s*1m)*(1+s/1e7))\n"
        "G1 0 flat in 0 Laplace=3\nR1 flat 0 1\n.op\n.tran 10u 3m\n.backanno\n.end\n",
        {"op.v(out)": 10.0, "at(tran.v(out), 0.5m)": 10.0, "op.v(flat)": 6.0,
         "at(tran.v(out), 2m)": 15 - 5 / math.e},
    ),
    "a laplace notch": (
        "* x.asc\nV1 in 0 AC 1\nE1 out 0 in 0 Laplace=(s^2+1e10)/(s^2+1e4*s+1e10)\nR1 out 0 1k\n"
        ".ac lin 3 15k 16k\n.end\n",
        {"at(mag(v(out)), 15k)": abs(1 / (1 + 0.1j * (x := 0.3 * math.pi) / (1 - x**2)))},
    ),
    "values with the point as a letter": (
        "* x.asc\nV1 in 0 1\nR1 in out 4k7\nR2 out 0 4.7k\n.op\n.backanno\n.end\n",
        {"v(out)": 0.5},
    ),
    "an ideal diode": (
        "* x.asc\nV1 in 0 5\nR1 in d 1k\nD1 d 0 DI\n.model DI D(Ron=1 Roff=1G Vfwd=0.6)\n"
        ".op\n.backanno\n.end\n",
        {"v(d)": 0.6044},
    ),
    "a parasitic inside a subcircuit": (
        "* x.asc\nV1 in 0 AC 1\nX1 in out cell\nRL out 0 1k\n.subckt cell a b\nL1 a b 1n Rser=1k\n.ends\n"
        ".ac dec 5 1 100\n.end\n",
        {"dcgain(v(out))": 0.5},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LTSPICE)
@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "utf-16", "utf-16-le"])
async def test_ltspice(name: str, encoding: str, simulate: Simulate) -> None:
    deck, expected = LTSPICE[name]
    result = await simulate(deck.encode(encoding))
    plots = await plots_of(result)
    assert result.dialect == "ltspice"
    for expression, value in expected.items():
        assert evaluate(expression, plots).value == pytest.approx(value, rel=0.01), expression


async def test_pspice(simulate: Simulate) -> None:
    result = await simulate(
        "pspice\n.PARAM RVAL = 1k\nV1 in 0 DC 0.5 AC 1\nE1 o1 0 VALUE {V(in)*2}\n"
        "E2 o2 0 TABLE {V(in)} = (-1,-3) (1,3)\nE3 o3 0 LAPLACE {V(in)} {1/(1+s*1e-3)}\nR1 o1 0 {RVAL}\n"
        "R2 o2 0 1k\nR3 o3 0 1k\nX1 in o4 RD PARAMS: R=3k\nS1 o4 0 in 0 SX\n"
        ".MODEL SX VSWITCH(RON=1k ROFF=1T VON=0.1 VOFF=0)\n.SUBCKT RD a b PARAMS: R=1k\nR1 a b {R}\n.ENDS\n"
        ".AC DEC 20 0.1 1MEG\n.OP\n.PROBE\n.END\n"
    )
    plots = await plots_of(result)
    assert result.dialect == "pspice"
    assert evaluate("op.v(o1)", plots).value == pytest.approx(1.0)
    assert evaluate("op.v(o2)", plots).value == pytest.approx(1.5)
    assert evaluate("bandwidth(v(o3))", plots).value == pytest.approx(1e3 / TWO_PI, rel=0.01)
    assert evaluate("op.v(o4)", plots).value == pytest.approx(0.125, rel=0.01)


async def test_hspice(simulate: Simulate) -> None:
    result = await simulate(
        "* hspice\n.option post=2 accurate\n.protect\n.param r1v='2*1k'\n.unprotect\nv1 in 0 dc 1\n"
        "r1 in out r='r1v'\nr2 out 0 '2k'\n.op\n.probe v(out)\n.alter\nr2 out 0 1\n.end\n"
    )
    assert result.dialect == "hspice"
    assert evaluate("v(out)", await plots_of(result)).value == pytest.approx(0.5)
    assert any(note.line == 11 for note in result.notes)


async def test_a_vendor_library_in_another_dialect(simulate: Simulate, tmp_path) -> None:
    """The circuit is ngspice's own, the model a vendor's for PSpice: only the library is translated."""
    (tmp_path / "vendor.lib").write_text(
        "* vendor\n.SUBCKT AMP in out PARAMS: G=10\nE1 out 0 VALUE {V(in)*G}\n.ENDS\n"
        ".MODEL SX VSWITCH(RON=1)\n"
    )
    result = await simulate(
        "own\n.include vendor.lib\nV1 in 0 1\nX1 in out AMP PARAMS: G=4\nR1 out 0 1k\n.op\n.end\n"
    )
    assert result.dialect == "ngspice"
    assert evaluate("v(out)", await plots_of(result)).value == pytest.approx(4)


async def test_plain_ngspice_is_left_alone(simulate: Simulate) -> None:
    result = await simulate("rc\nV1 in 0 AC 1\nR1 in out 1k ; a comment\nC1 out 0 1u\n.ac dec 5 1 1k\n.end\n")
    assert (result.dialect, result.notes, result.steps) == ("ngspice", (), ())


async def test_the_dialect_asked_for_wins(simulate: Simulate) -> None:
    result = await simulate("x\nV1 in 0 1\nR1 in 0 1k\n.op\n.end\n", dialect="hspice")
    assert result.ok
    assert result.dialect == "hspice"


@pytest.mark.parametrize(
    ("text", "program"),
    [
        ("* LTspice Encrypted File\n*\n* Begin:\n  1A 2B 3C\n* End\n", "LTspice"),
        ("* lib\n$CDNENCSTART\nf2a9b7d0\n$CDNENCFINISH\n", "PSpice"),
        (".prot FREELIB\nabcdef\n.unprot\n", "HSPICE"),
        ("\r\n<Binary File>\r\n\r\n\x1a(2\x8a\xb3", "LTspice"),
    ],
)
async def test_encrypted_libraries_are_refused_with_words(
    text: str, program: str, simulate: Simulate, tmp_path
) -> None:
    (tmp_path / "secret.lib").write_text(text)
    with pytest.raises(UserInputError, match=program):
        await simulate("x\n.include secret.lib\nV1 a 0 1\nR1 a 0 1\n.op\n.end\n")


@pytest.mark.parametrize(
    ("deck", "line", "words"),
    [
        (b"t\nV1 a 0 PWL(" + b"1 " * 2_100_000 + b")\n.op\n.end\n", 2, "a card of more than 4 MB"),
        (b"t\nV1 a 0 1\n.op\nR1 a 0\n" + b"+ 1 1 1 1\n" * 450_000 + b".end\n", 4, "a card of more than 4 MB"),
        (b"t\n" + b"*\n" * 2_100_000 + b".end\n", None, "more than 2000000 lines"),
    ],
)
async def test_a_netlist_of_one_endless_card_is_refused_at_once(
    deck: bytes, line: int | None, words: str, simulate: Simulate
) -> None:
    with pytest.raises(UserInputError, match=words) as raised:
        await simulate(deck)
    assert raised.value.line == line


async def test_every_step_is_a_plot_and_has_its_measurements(simulate: Simulate) -> None:
    result = await simulate(
        "* x.asc\nV1 in 0 AC 1\nR1 in out {R} tc1=10m\nC1 out 0 100n\n.param R=1k\n.step param R list 1k 2k\n"
        ".step temp 27 127 100\n.ac dec 20 1 1Meg\n.meas fc when vdb(out)=-3.0103\n.end\n"
    )
    plots = await plots_of(result)
    corners = [1 / (TWO_PI * r * 100e-9) for r in (1e3, 2e3, 2e3, 4e3)]
    points = [(step.values["r"], step.values["temp"]) for step in result.steps]
    assert points == [(1e3, 27.0), (2e3, 27.0), (1e3, 127.0), (2e3, 127.0)]
    for number, corner in enumerate(corners, start=1):
        assert result.metrics[f"fc@{number}"].value == pytest.approx(corner, rel=0.01)
        assert evaluate(f"bandwidth(ac{number}.v(out))", plots).value == pytest.approx(corner, rel=0.01)
        step = plots[number - 1].step
        assert step is not None
        assert (step.number, dict(step.values)) == (number, result.steps[number - 1].values)


async def test_several_temperatures(simulate: Simulate) -> None:
    result = await simulate("tc\nV1 in 0 1\nR1 in out 1k tc1=10m\nR2 out 0 1k\n.temp 27 127\n.op\n.end\n")
    plots = await plots_of(result)
    assert [evaluate(f"op{n}.v(out)", plots).value for n in (1, 2)] == pytest.approx([0.5, 1 / 3])


async def test_a_models_parameter_is_stepped_in_the_file_it_stands_in(
    simulate: Simulate, tmp_path: Path
) -> None:
    (tmp_path / "r.lib").write_text(".model RX R(R=1k)\n")
    result = await simulate(
        "* x.asc\nV1 in 0 3\nR1 in out 1k tol=1\nR2 out 0 RX\n.inc r.lib\n.step R RX(R) list 1k 2k\n.op\n"
        ".backanno\n.end\n"
    )
    assert [step.values for step in result.steps] == [{"rx.r": 1e3}, {"rx.r": 2e3}]
    plots = await plots_of(result)
    assert [evaluate("v(out)", [plot]).value for plot in plots] == pytest.approx([1.5, 2.0])


async def test_a_step_that_fails_is_named_and_the_others_are_kept(simulate: Simulate) -> None:
    result = await simulate(
        "x\nV1 a 0 1\nB1 b 0 V={k}*v(b)*v(b)+1\nR1 a b 1k\n.param k=0\n.step param k list 0 5\n.op\n.end\n"
    )
    assert not result.ok
    assert [step.status for step in result.steps] == ["ok", "failed"]
    assert "step-failed" in {issue.code for issue in result.issues}
    assert len(result.run.raw_paths) == 1


async def test_steps_share_their_time_and_the_one_it_ran_out_at_says_so(simulate: Simulate) -> None:
    result = await simulate(
        "x\nV1 a 0 SIN(0 1 1meg)\nR1 a b {r}\nC1 b 0 1n\n.step param r list 1k 2k 3k\n.param r=1\n"
        ".tran 1n 100\n.meas tran peak max v(nowhere)\n.meas tran t when v(b)='2*peak'\n.end\n",
        timeout_s=0.5,
    )
    told = [str(issue.message) for issue in result.issues]
    assert "The time limit of 0.5 s for all steps ran out at step 1 of 3." in told
    assert len(told) == len(set(told))


async def test_analyses_of_hspice_with_names_and_parameters(simulate: Simulate) -> None:
    result = await simulate(
        "x\n.option post\n.param vdd=1 n=2\nV1 a 0 1\nV2 b 0 1\nR1 a b 1k\nC1 b 0 1n\n"
        ".dc V1 0 vdd 0.5 sweep V2 0 vdd '0.25*n'\n.tran 1n 1u START=0.5u\n.meas dc x find i(V1) at=0.5\n"
        ".meas tran t min time\n.end\n"
    )
    assert result.ok, [str(issue.message) for issue in result.issues]
    at_the_middle = [result.metrics[f"x@{step}"].value for step in (1, 2, 3)]
    assert at_the_middle == pytest.approx([-0.5e-3, 0, 0.5e-3], abs=1e-9)
    plots = [plot for plot in await plots_of(result) if plot.analysis == "tran"]
    assert plots
    assert plots[0].axis.data[0] == pytest.approx(0.5e-6, abs=2e-9)


async def test_measurements_of_ltspice_without_equals_signs(simulate: Simulate) -> None:
    result = await simulate(
        "* x.asc\nV1 in 0 PWL(0 0 1n 1)\nR1 in out 1k\nC1 out 0 1u\n.tran 5m\n"
        ".meas TRAN at1 FIND V(out) AT 1m\n.meas last FIND V(out) AT 5m\n"
        ".meas t TRIG V(out) VAL=0.1 RISE 1 TARG V(out) VAL=0.9 RISE 1\n"
        ".param t0=4m\n.meas end AVG (V(in)-V(out)) FROM {t0} TO 5m\n"
        ".meas lost MAX V(in)-V(out) from t0 to 5m\n"
        ".backanno\n.end\n"
    )
    found = {name: metric.value for name, metric in result.metrics.items()}
    want = {"at1": 1 - math.exp(-1), "last": 1 - math.exp(-5), "t": 1e-3 * math.log(9)}
    want |= {"end": math.exp(-4) - math.exp(-5), "lost": math.exp(-4)}
    assert {name: found[name] for name in want} == pytest.approx(want, rel=4e-3)


async def test_starts_and_charges_of_ltspice(simulate: Simulate) -> None:
    """A start without its sign, a current at the start; a capacitor by its charge: C dv/dt = -v/R with
    C = 1 uF (1 + x), so ln(v) + v falls by t/RC. A line of dots decorates a library."""
    result = await simulate(
        "* x.asc\nC1 a 0 1u\nR1 a 0 1k\nL1 b 0 1m\nR2 b 0 1\nC2 c 0 Q=1u*x*(1+x/2)\nR3 c 0 1k\n"
        ".ic V(a) 1 I(L1) -1 v(c)=1\n.tran 0 1m\n.......\n"
        ".meas va FIND V(a) AT 0.5m\n.meas vc FIND V(c) AT 0.5m\n.backanno\n.end\n"
    )
    assert result.ok, [str(issue.message) for issue in result.issues]
    found = {name: metric.value for name, metric in result.metrics.items()}
    assert found["va"] == pytest.approx(math.exp(-0.5), rel=2e-3)
    assert math.log(found["vc"]) + found["vc"] == pytest.approx(1 - 0.5, abs=5e-3)
