"""A failed run names the cause with its line, also where ngspice stops at a consequence."""

from __future__ import annotations

import pytest

from tests.integration.analyses.conftest import Simulate, plots_of

DECKS = {
    # ngspice: "unimplemented control card" at R1's line
    "misspelt directive": ("t\nV1 a 0 1\nR1 a 0 1k\n.opx\n.op\n.end\n", "unknown-directive", 4),
    # ngspice: the model is not defined, at the diode
    "misspelt .model": (
        "t\nV1 a 0 1\nR1 a b 1k\nD1 b 0 dm\n.mxodel dm d(is=1f)\n.op\n.end\n", "unknown-directive", 5),
    # ngspice names the instance, but no line
    "a length below zero": (
        "t\nV1 a 0 1\nX1 a s\n.subckt s 1\nM1 1 1 0 0 n l=1u w=1u\n.ends\n"
        ".model n nmos(level=3 ld=1u)\n.op\n.end\n", "analysis-failed", 5),
    # ngspice: "mal formed E line"; vol= wants its expression in quotes
    "vol= without quotes": (
        "t\nV1 b 0 1\nR1 b 0 1k\nE1 a 0 vol=5v*sqrt(v(b,0))\nR2 a 0 1k\n.op\n.end\n", "bad-line", 4),
    # ngspice: "Undefined parameter [v]"
    "a parameter of a voltage": (
        "t\nV1 a 0 1\nR1 a 0 1k\n.param p={v(a)*2}\n.op\n.end\n", "bad-expression", 4),
    # ngspice: "Undefined parameter [mc]"
    "a function of another SPICE": (
        "t\nV1 a 0 1\nR1 a 0 {mc(1k,0.1)}\n.op\n.end\n", "undefined-function", 3),
    "commands without an analysis": (
        "t\nV1 a 0 1\nR1 a 0 1k\n.control\nlet b=1\n.endc\n.end\n", "no-data", 4),
    "a missing file, then a block without an end": (
        "t\n.include gone.lib\nV1 a 0 1\nR1 a 0 1k\n.control\nop\n.end\n", "missing-include", 2),
    # ngspice: a singular matrix; with other parts it computes without a ground
    "no ground": ("t\nV1 a b 1\nD1 a b dd\n.model dd d\n.tran 1u 1m\n.end\n", "no-ground", 2),
    "verilog-a": ("t\nV1 a 0 1\nN1 a 0 m\n.model m resva(r=1)\n.op\n.end\n", "osdi-missing", 3),
    # ngspice: "Undefined parameter [v]"
    "a .sens of Xyce": ("t\nV1 a 0 1\nR1 a 0 1k\n.sens objfunc={v(a)} param=R1:R\n.end\n", "foreign-form", 4),
    # ngspice: "could not find a valid modelname", at the device
    "a level ngspice lacks": (
        "t\nV1 a 0 1\nQ1 a a 0 t\n.model t npn\n+ level=6\n.op\n.end\n", "model-level", 4),
    "a command among the elements": (
        "t\nV1 a 0 1\npre_osdi m.osdi\nN1 a 0 m\n.model m resva(r=1)\n.op\n.end\n", "unknown-element", 3),
    # ngspice: "unable to find definition of model"
    "a code model ngspice lacks": (
        "t\nA1 [a] %v b m\n.model m d_cosim(simulation=x)\nR1 b 0 1k\n.op\n.end\n", "model-type", 3),
    # ngspice: the number of another line, or "TSTOP is invalid"
    "a parameter without braces in an analysis": (
        "t\n.param top=3\nV1 a 0 1\nR1 a 0 1k\n.dc V1 0 top 0.1\n.end\n", "bad-analysis", 5),
    # ngspice: "Effective channel length <= 0", at the model and the device, without a line
    "an element named at the end": (
        "t\nV1 a 0 1\nM1 a a 0 0 n l=10n w=1u\n.model n nmos(level=8 version=3.1 lint=40n)\n.op\n.end\n",
        "analysis-failed", 3),
    # ngspice quotes the card rewritten
    "an initial condition of HSPICE": (
        "t\n.param v0=1\nV1 a 0 1\nR1 a 0 1k\n.ic a=v0\n.op\n.end\n", "bad-analysis", 5),
    "plots that were destroyed": (
        "t\nV1 a 0 1\nR1 a 0 1k\n.control\nop\ndestroy all\n.endc\n.end\n", "no-data", 6),
    "a template": ("t\n.param vdd=${VDD}\nV1 a 0 {vdd}\nR1 a 0 1k\n.op\n.end\n", "foreign-form", 2),
    "a source of ahkab": ("t\nV1 a 0 type=vdc vdc=1\nR1 a 0 1k\n.op\n.end\n", "foreign-form", 2),
    "a missing file on the first line": (
        ".include gone.lib\nV1 a 0 1\nR1 a 0 1k\n.op\n.end\n", "missing-include", 1),
    "a sweep against its step": (
        "t\nV1 a 0 1\nR1 a 0 1k\n.op\n.dc V1 2 0 0.1\n.end\n", "bad-analysis", 5),
    "a cause in a stepped run": (
        "t\nV1 a 0 wavefile=x.wav\nR1 a 0 {r}\n.step param r list 1k 2k\n.op\n.end\n", "foreign-form", 2),
    "a subcircuit's transfer function with parameters": (
        "t\nV1 a 0 AC 1\nX1 a b s w=1k\nR1 b 0 1k\n.subckt s i o w=1\n"
        "E1 o 0 i 0 laplace=1/(1+s/w)\n.ends\n.ac dec 10 1 1k\n.end\n", "foreign-form", 6),
}  # fmt: skip


async def test_a_measurement_costs_itself_only(simulate: Simulate) -> None:
    """Bare ngspice runs nothing for the sake of the last four cards."""
    result = await simulate(
        "t\nV1 a 0 SIN(0 1 1k)\nR1 a 0 1k\n.tran 10u 1m\n.meas tran high max v(a)\n"
        ".meas tran half when v(a)='high/2' rise=1\n.meas tran bad find v(a) at='undefined_name'\n"
        ".meas tran worse find v(a) at={1/}\n.meas tran none find v(nosuch) at=0.1m\n.end\n"
    )
    assert result.ok, result.issues
    assert result.metrics["high"].value == pytest.approx(1, rel=1e-3)
    assert result.metrics["half"].value == pytest.approx(1e-3 / 12, rel=1e-2)
    told = {issue.line: issue.severity for issue in result.issues}
    assert told == {7: "warning", 8: "warning", 9: "warning"}


@pytest.mark.parametrize(("deck", "code", "line"), DECKS.values(), ids=DECKS.keys())
async def test_the_first_error_is_the_cause(deck: str, code: str, line: int, simulate: Simulate) -> None:
    result = await simulate(deck)
    errors = [issue for issue in result.issues if issue.severity == "error"]
    assert not result.ok
    assert (errors[0].code, errors[0].line) == (code, line), [(e.code, e.line) for e in errors]


HARMLESS = {
    # ngspice: "Fatal error: ... assumed zero"
    "a lossy line without C": (
        "t\nV1 a 0 1\nO1 a 0 b 0 rg\nR1 b 0 50\n.model rg ltra(r=1 g=1m len=1)\n.tran 1n 10n\n.end\n",
        "value-adjusted"),
    # ngspice: "doAnalyses: Pause requested"
    "a run that stops where it is told": (
        "t\nV1 a 0 pulse(0 1 0 1n 1n 1u 2u)\nR1 a b 1k\nC1 b 0 1n\n.control\nstop when time > 1u\n"
        "tran 10n 5u\nresume\n.endc\n.end\n", None),
    # ngspice: "Undefined parameter" at the second card
    "a measurement of one that found nothing": (
        "t\nV1 a 0 1\nR1 a 0 1k\n.dc v1 0 1 0.1\n.meas dc low find i(r9) at=0\n"
        ".meas dc twice param='2*low'\n.control\nrun\n.endc\n.end\n", "measurement-failed"),
}  # fmt: skip


@pytest.mark.parametrize(("deck", "code"), HARMLESS.values(), ids=HARMLESS.keys())
async def test_what_undoes_no_curve_is_no_error(deck: str, code: str | None, simulate: Simulate) -> None:
    result = await simulate(deck)
    assert await plots_of(result)
    assert [issue.code for issue in result.issues if issue.severity == "error"] == []
    assert code is None or code in {issue.code for issue in result.issues}
