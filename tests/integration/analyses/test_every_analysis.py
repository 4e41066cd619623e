"""Each analysis of ngspice through the application, against a formula."""

from __future__ import annotations

import math

import pytest

from domain.simulation.expressions import evaluate
from tests.integration.analyses.conftest import Simulate, plots_of

TWO_PI = 2 * math.pi
THERMAL_VOLTAGE = 1.380649e-23 * 300.15 / 1.602176634e-19
DIODE_CURRENT = 1e-14 * math.exp(0.6 / THERMAL_VOLTAGE)
DIVIDER = "divider\nV1 in 0 DC 10 AC 1\nR1 in out 1k\nR2 out 0 3k\n"
LOW_PASS = "low pass\nV1 in 0 DC 0 AC 1\nR1 in out 1k\nC1 out 0 1u\n"
CORNER = 1 / (TWO_PI * 1e3 * 1e-6)
DIODE = "diode\nV1 in 0 DC 0.6 AC 1 DISTOF1 1m\nR1 in d 1m\nD1 d 0 dm\n.model dm d(is=1e-14)\n"

CASES: dict[str, tuple[str, dict[str, float]]] = {
    "op": (DIVIDER + ".op\n", {"v(out)": 7.5, "i(v1)": -2.5e-3}),
    "dc": (DIVIDER + ".dc V1 0 8 1\n", {"max(v(out))": 6.0, "cross(v(out), 3)": 4.0}),
    "dc nested": (
        "two sources\nV1 a 0 1\nV2 b 0 1\nR1 a out 1k\nR2 out b 1k\n.dc V1 0 1 0.5 V2 0 2 1\n",
        {"max(v(out))": 1.5, "avg(v(out))": 0.75},
    ),
    "dc temperature": (
        "tc\nV1 in 0 1\nR1 in out 1k tc1=10m\nR2 out 0 1k\n.dc temp 27 127 50\n",
        {"min(v(out))": 1 / 3, "max(v(out))": 0.5},
    ),
    "ac": (LOW_PASS + ".ac dec 20 1 100k\n", {"bandwidth(v(out))": CORNER}),
    "tran": (
        LOW_PASS.replace("DC 0", "PULSE(0 1 0 1n 1n 1 2)") + ".tran 10u 10m\n",
        {"rise_time(v(out))": 1e-3 * math.log(9)},
    ),
    "tran uic": (
        "discharge\nR1 out 0 1k\nC1 out 0 1u ic=2\n.tran 10u 5m uic\n",
        {"at(v(out), 1m)": 2 / math.e},
    ),
    "noise": (
        LOW_PASS + ".noise v(out) V1 dec 20 1m 1g\n",
        {"onoise_total": math.sqrt(1.380649e-23 * 300.15 / 1e-6),
         "at(onoise, 1)": math.sqrt(4 * 1.380649e-23 * 300.15 * 1e3)},
    ),
    "tf": (
        DIVIDER + ".tf v(out) V1\n",
        {"transfer_function": 0.75, '"output_impedance_at_v(out)"': 750.0, "v1#input_impedance": 4e3},
    ),
    "sens": (DIVIDER + ".sens v(out)\n", {"sens.r1": -10 * 3e3 / 4e3**2, "sens.r2": 10 * 1e3 / 4e3**2}),
    "sens ac": (
        # d/dR 1/(1 + jwRC) = -jwC/(1 + jwRC)^2
        LOW_PASS + ".sens v(out) ac lin 1 100 100\n",
        {"max(mag(sens.r1))": TWO_PI * 100 * 1e-6 / (1 + (100 / CORNER) ** 2)},
    ),
    "pz": (LOW_PASS + ".pz in 0 out 0 vol pz\n", {'"pole(1)"': -1e3}),
    "disto": (
        DIODE + ".disto dec 1 1k 10k\n",
        # I = Is exp(V/Vt): a signal v has the second harmonic I (v/Vt)^2/4
        {"-at(i(v1), 1k)": DIODE_CURRENT * (1e-3 / THERMAL_VOLTAGE) ** 2 / 4},
    ),
    "sp": (
        "attenuator\nV1 in 0 dc 0 ac 1 portnum 1 z0 50\nR1 in out 50\nV2 out 0 dc 0 portnum 2 z0 50\n"
        ".sp lin 3 1meg 3meg\n",
        {'at("s_1_1", 2meg)': 1 / 3, 'at("s_2_1", 2meg)': 2 / 3},
    ),
    "several": (
        LOW_PASS + ".op\n.ac dec 10 1 10k\n.ac lin 11 100 200\n.tran 10u 1m\n",
        # ngspice runs the cards of one kind from the last to the first
        {"max(ac.v(out))": 1 / math.hypot(1, 100 / CORNER), "dcgain(ac2.v(out))": 1.0, "max(tran.v(in))": 0},
    ),
    "save": (
        LOW_PASS.replace("DC 0", "DC 3") + ".save v(out) @r1[i]\n.tran 10u 1m uic\n",
        {"max(i(r1))": 3e-3, "at(v(out), 1m)": 3 * (1 - 1 / math.e)},
    ),
    "initial conditions": (
        "ic\nR1 out 0 1k\nC1 out 0 1u\n.ic v(out)=4\n.tran 10u 1m\n",
        {"at(v(out), 1m)": 4 / math.e},
    ),
    "options and temp": (
        "tc\nV1 in 0 1\nR1 in out 1k tc1=10m\nR2 out 0 1k\n.temp 127\n.op\n",
        {"v(out)": 1 / 3},
    ),
    "nodeset": (
        "two states\nB1 a 0 V=5*tanh(3*v(a))+1m*v(b)\nV1 b 0 1\n.nodeset v(a)=-5\n.op\n",
        {"v(b)": 1.0},
    ),
    "control block": (
        DIVIDER + ".control\nop\nalter R2=1k\nac lin 3 1 3\nwrite picked.raw v(out)\n.endc\n",
        {"dcgain(v(out))": 0.5},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
async def test_against_its_formula(name: str, simulate: Simulate) -> None:
    deck, expected = CASES[name]
    plots = await plots_of(await simulate(deck + ".end\n"))
    for expression, value in expected.items():
        found = evaluate(expression, plots).value
        assert found == pytest.approx(value, rel=0.01, abs=1e-12), expression


async def test_fourier_cards_are_metrics(simulate: Simulate) -> None:
    """cos 2x = 2 cos^2 x - 1: v + 0.1 v^2 has a mean of 0.05 and a second harmonic of 0.05."""
    result = await simulate(
        "square law\nV1 in 0 SIN(0 1 1k)\nB1 out 0 V=v(in)+0.1*v(in)*v(in)\nR1 out 0 1k\n"
        ".tran 1u 5m 0 1u\n.four 1k v(out) v(in)\n.four 1k 3 v(out)\n.end\n"
    )
    assert result.ok
    found = {name: quantity.value for name, quantity in result.metrics.items()}
    assert found["four_v(out)_thd"] == pytest.approx(0.05, rel=1e-3)
    assert found["four_v(out)_dc"] == pytest.approx(0.05, rel=1e-3)
    assert found["four_v(out)_h1"] == pytest.approx(1, rel=1e-3)
    assert found["four_v(out)_h2"] == pytest.approx(0.05, rel=1e-3)
    assert found["four_v(in)_thd"] < 1e-6
    assert "four2_v(out)_h3" in found
    assert "four2_v(out)_h4" not in found
    assert result.metrics["four_v(out)_h2"].unit == "V"


async def test_a_fourier_card_without_its_signal_is_told(simulate: Simulate) -> None:
    result = await simulate("x\nV1 in 0 SIN(0 1 1k)\nR1 in 0 1k\n.tran 1u 5m\n.four 1k v(nothing)\n.end\n")
    assert [(issue.code, issue.line) for issue in result.issues] == [("measurement-failed", 5)]


async def test_sensitivities_ngspice_leaves_out_are_told(simulate: Simulate) -> None:
    """ngspice 39 computes them at the first frequency and writes zeros for the others."""
    result = await simulate(LOW_PASS + ".sens v(out) ac dec 5 1 1k\n.end\n")
    assert result.ok
    assert [(issue.code, issue.line) for issue in result.issues] == [("first-frequency-only", 5)]
