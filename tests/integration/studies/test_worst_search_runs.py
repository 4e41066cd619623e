"""The case that fails: found in fewer runs, as bad as what corners and 2,000 Monte Carlo runs find."""

from __future__ import annotations

import math

import pytest

from domain.studies.worst_search import most_runs
from tests.ground.campaign import Campaign, campaigns
from tests.integration.studies.conftest import Study

HOT = {"name": "temp", "min": -40, "max": 125}
DECKS: dict[str, tuple[str, str, list[str | dict[str, object]]]] = {
    "divider": ("V1 in 0 10\nR1 in out 1k\nR2 out 0 2k\n.op\n", "v(out)", ["R*=5%"]),
    "bridge": ("V1 t 0 5\nR1 t a 1k\nR2 a 0 1k\nR3 t b 1k\nR4 b 0 1k\n.op\n", "v(a,b)", ["R*=5%"]),
    "resonance": ("V1 in 0 AC 1\nL1 in a 1m\nR1 a out 10\nC1 out 0 1u\n.ac lin 1 5.1k 5.1k\n",
                  "mag(at(v(out),5.1k))", ["L1=5%", "R1=5%", "C1=5%"]),
    "twin-T": ("V1 in 0 AC 1\nR1 in a 33k\nR2 a out 33k\nC3 a 0 194n\nC1 in b 97n\nC2 b out 97n\n"
               "R3 b 0 16k\nRL out 0 10meg\n.ac lin 1 50 50\n", "db(gain(v(out),50))", ["R*=2%", "C*=5%"]),
    "bias": ("VCC c 0 12\nRB1 c b 47k\nRB2 b 0 10k\nRC c o 2.2k\nRE e 0 470\nQ1 o b e QN\n"
             ".model QN NPN(BF=150 IS=1e-15 VAF=80)\n.op\n", "v(o)",
             ["R*=5%", "VCC=10%", {"name": "qn.bf", "min": 80, "max": 300}, HOT]),
    "amplifier": ("V1 in 0 1\nR1 in n 1k\nR2 n out 10k\nE1 out 0 0 n 1e7\n.op\n", "v(out)", ["R*=1%"]),
    "clamp": ("V1 in 0 5\nR1 in a 1k\nD1 a k DX\nRK k 0 100\n.model DX D(IS=1e-14)\n.op\n", "v(a)",
              ["R*=5%", "V1=5%", HOT]),
    "difference": ("VA a 0 1.05\nVB b 0 0.95\nR1 a n 10k\nR2 n out 100k\nR3 b p 10k\nR4 p 0 100k\n"
                   "E1 out 0 p n 1e6\n.op\n", "v(out)", ["R*=1%"]),
    "inverter": ("VDD d 0 1.8\nVIN g 0 0.9\nM1 o g 0 0 NM W=2u L=1u\nM2 o g d d PM W=5u L=1u\nRL o 0 1meg\n"
                 ".model NM NMOS(VTO=0.45 KP=200u LAMBDA=0.1)\n"
                 ".model PM PMOS(VTO=-0.45 KP=80u LAMBDA=0.1)\n.op\n",
                 "v(o)", ["VDD=5%", "nm.vto=10%", "pm.vto=10%"]),
    "low-pass": ("V1 in 0 AC 1\nR1 in out 1k\nC1 out 0 159n\nRL out 0 20k\n.ac dec 40 10 100k\n",
                 "bandwidth(v(out))", ["R*=5%", "C1=10%"]),
}  # fmt: skip
DRAWS = 2000


@pytest.mark.timeout(600)
@campaigns(fast=2, whole=len(DECKS))
async def test_it_finds_what_corners_and_draws_find(study: Study, campaign: Campaign) -> None:
    names = sorted(DECKS)
    for draw in campaign.cases():
        name = (
            names[(campaign.case or 0) % len(names)] if campaign.count == len(names) else draw.choice(names)
        )
        cards, metric, parts = DECKS[name]
        deck, measure = f"* {name}\n{cards}.end\n", {"x": metric}
        parameters = [_read(each) for each in parts]
        worst = await study("worst-case", deck, parameters=parameters, measure=measure, method="search")
        ends = await study("worst-case", deck, parameters=parameters, measure=measure, method="eva")
        drawn = await study("montecarlo", deck, parameters=[_drawn(each) for each in parameters],
                            measure=measure, runs=DRAWS)  # fmt: skip
        case, eva, spread = worst.worst_cases["x"], ends.worst_cases["x"], drawn.statistics["x"]
        assert case.minimum is not None
        assert case.maximum is not None
        assert eva.minimum is not None
        assert eva.maximum is not None
        slack = 2e-3 * (spread.maximum - spread.minimum)
        assert case.minimum.value <= min(eva.minimum.value, spread.minimum) + slack, name
        assert case.maximum.value >= max(eva.maximum.value, spread.maximum) - slack, name
        assert len(worst.rows) < DRAWS / 2, name


async def test_a_goal_is_broken_at_a_corner_and_the_case_is_told(study: Study) -> None:
    deck = "* pull-up\nVdd vdd 0 5\nR1 vdd out 1k\nR2 out 0 1k\n.op\n.end\n"
    corners = [{"name": "low", "voltage": {"vdd": 4.5}}, {"name": "high", "voltage": {"vdd": 5.5}}]
    goals = [{"metric": "x", ">=": 2.2}]
    given = {
        "parameters": [_read("R1=5%"), _read("R2=5%")],
        "measure": {"x": "v(out)"},
        "goals": goals,
        "corners": corners,
    }
    found = await study("worst-case", deck, method="search", at_corners=True, **given)
    extreme = found.worst_cases["x"].minimum
    assert extreme is not None
    assert math.isclose(extreme.value, 4.5 * 950 / (1050 + 950), rel_tol=1e-6)
    row = next(each for each in found.rows if each.run == extreme.run)
    assert (row.corner, row.goals_met, found.goals_met, found.ok) == ("low", False, False, False)
    assert len(found.rows) <= most_runs(2, 2)
    # One goal alone is searched for on its own side.
    assert found.worst_cases["x"].effects["R1"] < 0
    met = await study("worst-case", deck, method="search", **{**given, "goals": [{"metric": "x", ">=": 1.0}]})
    assert (met.goals_met, met.ok) == (True, True)


def _read(part: str | dict[str, object]) -> dict[str, object]:
    """``R*=5%`` as a specification has it."""
    if isinstance(part, str):
        name, _, tolerance = part.partition("=")
        return {"name": name, "tolerance": tolerance}
    return part


def _drawn(part: dict[str, object]) -> dict[str, object]:
    """A range is drawn evenly."""
    return {**part, "distribution": "uniform"} if "min" in part else part
