"""Every kind of study on circuits whose answer is a formula."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from application.app import Application
from domain.studies.study import StudyResult
from shared.errors import UserInputError
from tests.integration.studies.conftest import Study

DIVIDER = "divider\nV1 in 0 10\nR1 in out 1k\nR2 out 0 1k\n.op\n.end\n"
VOUT = {"vout": "v(out)"}
BOTH = [{"name": name, "sigma": 0.01} for name in ("R1", "R2")]
SIGMA = 10 / 4 * math.sqrt(2) * 0.01
"""dV = V/4 (dR2/R - dR1/R); the next term of the series is 1e-4 of it."""
RC = """low-pass
.param rl=1k half={rl/2}
Vin in 0 DC 1 AC 1
R1 in out {rl}
C1 out 0 159.154943n
.ac dec 20 10 100k
.meas ac g1k find vdb(out) at=1k
.meas ac doubled param='4*half'
.end
"""
BW = {"bw": "bandwidth(v(out))"}


def column(result: StudyResult, metric: str) -> list[float]:
    return [row.metrics[metric] for row in result.rows]


def assert_is_theory(result: StudyResult) -> None:
    found = result.statistics["vout"]
    assert (found.unit, found.failed, found.count) == ("V", 0, len(result.rows))
    assert found.mean_interval[0] < 5 < found.mean_interval[1]
    assert found.sigma_interval[0] < SIGMA < found.sigma_interval[1]
    assert found.correlations["R2"] == pytest.approx(math.sqrt(0.5), abs=0.1)


async def test_a_divider_has_the_mean_and_sigma_of_theory_with_1_and_2_workers(study: Study) -> None:
    """The small form of the 2,000 runs below."""
    one, two = [
        await study("montecarlo", DIVIDER, workers, parameters=BOTH, measure=VOUT, runs=200, seed=4)
        for workers in (1, 2)
    ]
    assert_is_theory(one)
    assert one.rows == two.rows
    assert one.nominal is not None
    assert one.nominal.metrics["vout"] == pytest.approx(5)


@pytest.mark.torture
@pytest.mark.timeout(600)
async def test_2000_runs_of_a_divider(study: Study) -> None:
    """Of 20 seeds' intervals of 95 % at most 4 may miss (chance 0.3 %); rows never differ."""
    missed = 0
    for seed in range(20):
        one, two = [
            await study("montecarlo", DIVIDER, workers, parameters=BOTH, measure=VOUT, runs=2000, seed=seed)
            for workers in (1, 2)
        ]
        assert one.rows == two.rows
        found = one.statistics["vout"]
        missed += not found.mean_interval[0] < 5 < found.mean_interval[1]
        missed += not found.sigma_interval[0] < SIGMA < found.sigma_interval[1]
    assert missed <= 6


async def test_yield_is_that_of_the_normal_distribution(study: Study) -> None:
    """The goal stands at one sigma: 84.1 % are above it."""
    bound = 5 - SIGMA
    result = await study(
        "montecarlo",
        DIVIDER,
        parameters=BOTH,
        measure=VOUT,
        runs=400,
        goals=[{"metric": "vout", ">=": bound}],
        yield_target=0.9,
    )
    assert result.total_yield is not None
    low, high = result.total_yield.interval
    assert low < 0.8413 < high
    assert result.total_yield == next(iter(result.yields.values()))
    assert result.goals_met is False
    assert not result.ok


async def test_a_nested_sweep_goes_through_every_combination(study: Study) -> None:
    result = await study(
        "sweep",
        RC,
        measure=BW,
        parameters=[
            {"name": "rl", "min": "500", "max": "2k", "scale": "log", "points": 3},
            {"name": "C1", "values": ["100n", "200n"]},
        ],
    )
    pairs = [(row.parameters["rl"], row.parameters["C1"]) for row in result.rows]
    assert pairs == [(r, c) for r in (500, 1000, 2000) for c in (1e-7, 2e-7)]
    for (r, c), bw in zip(pairs, column(result, "bw"), strict=True):
        assert bw == pytest.approx(1 / (2 * math.pi * r * c), rel=0.005)


async def test_measurement_cards_are_the_metrics_and_follow_swept_parameters(study: Study) -> None:
    result = await study("sweep", RC, parameters=[{"name": "rl", "values": [1000, 3000]}])
    assert list(result.units) == ["g1k", "doubled"]
    assert column(result, "doubled") == pytest.approx([2000, 6000])
    assert column(result, "g1k") == pytest.approx([-10 * math.log10(2), -10 * math.log10(10)], rel=1e-3)


async def test_temperature_and_model_parameters_are_swept(study: Study) -> None:
    deck = "d\nI1 0 a 1m\nD1 a 0 dm\n.model dm d is=1e-14 n=1\n.op\n.end\n"
    cold, warm = column(
        await study("sweep", deck, measure={"v": "v(a)"}, parameters=[{"name": "temp", "values": [0, 100]}]),
        "v",
    )
    assert 1.5e-3 < (cold - warm) / 100 < 2.2e-3  # a silicon diode: about -2 mV/K
    small, large = column(
        await study(
            "sweep", deck, measure={"v": "v(a)"}, parameters=[{"name": "dm.is", "values": [1e-14, 1e-13]}]
        ),
        "v",
    )
    assert small - large == pytest.approx(0.025852 * math.log(10), rel=0.01)


LIBRARY = """* sections
.lib tt
.param rs=1k
.endl
.lib ff
.param rs=800
.endl
.lib ss
.param rs=1.25k
.endl
"""
PVT = """pvt
.param vdd=1.8
.lib models.lib tt
V1 in 0 {vdd}
R1 in out {rs} tc=1m
R2 out 0 1k
.op
.end
"""


async def test_corners_by_library_section_voltage_and_temperature(study: Study, tmp_path: Path) -> None:
    (tmp_path / "models.lib").write_text(LIBRARY)
    result = await study(
        "corners",
        PVT,
        measure=VOUT,
        goals=["vout <= 1.05"],
        corners={"process": ["TT", "FF", "SS"], "voltage": {"vdd": ["-10%", "+10%"]}, "temp": [-40, 27]},
    )
    assert len(result.rows) == 12
    rs = {"TT": 1000, "FF": 800, "SS": 1250}
    for row in result.rows:
        assert row.corner is not None
        r1 = rs[row.corner.split("_")[0]] * (1 + 1e-3 * (row.parameters["temp"] - 27))
        assert row.metrics["vout"] == pytest.approx(row.parameters["vdd"] * 1000 / (1000 + r1), rel=1e-4)
    span = result.corners["vout"]
    assert span is not None
    assert (span.minimum_corner, span.maximum_corner) == ("SS_vdd-10%_27C", "FF_vdd+10%_-40C")
    assert span.worst_corner == "FF_vdd+10%_-40C"
    assert result.goals_met is False
    assert not result.ok


async def test_without_corners_the_usual_sections_are_taken(study: Study, tmp_path: Path) -> None:
    (tmp_path / "models.lib").write_text(LIBRARY)
    result = await study("corners", PVT, measure=VOUT)
    assert [row.corner for row in result.rows] == ["TT", "FF", "SS"]
    assert column(result, "vout") == pytest.approx([0.9, 1.0, 0.8])


async def test_a_monte_carlo_at_corners(study: Study, tmp_path: Path) -> None:
    (tmp_path / "models.lib").write_text(LIBRARY)
    result = await study(
        "montecarlo", PVT, measure=VOUT, runs=30, at_corners=True, parameters=[{"name": "R2", "sigma": 0.01}]
    )
    assert len(result.rows) == 90
    means = {corner: found["vout"].mean for corner, found in result.statistics_by_corner.items()}
    assert means == pytest.approx({"TT": 0.9, "FF": 1.0, "SS": 0.8}, rel=0.005)
    draws = [[row.parameters["R2"] for row in result.rows if row.corner == name] for name in means]
    assert draws[0] == draws[1] == draws[2]


async def test_worst_case_of_a_divider(study: Study) -> None:
    tolerances = [{"name": "R1", "tolerance": "10%"}, {"name": "R2", "tolerance": "5%"}]
    result = await study("worst-case", DIVIDER, measure=VOUT, parameters=tolerances)
    case = result.worst_cases["vout"]
    assert case.minimum is not None
    assert case.maximum is not None
    assert case.nominal == pytest.approx(5)
    assert case.minimum.value == pytest.approx(10 * 0.95 / (0.95 + 1.1))
    assert case.minimum.parameters == {"R1": pytest.approx(1100), "R2": pytest.approx(950)}
    assert case.maximum.value == pytest.approx(10 * 1.05 / (1.05 + 0.9))
    alone = [(10 / 1.9 - 10 / 2.1) / 2, (10.5 / 2.05 - 9.5 / 1.95) / 2]
    assert case.rss == pytest.approx((5 - math.hypot(*alone), 5 + math.hypot(*alone)))
    assert list(case.effects) == ["R1", "R2"]
    assert case.not_monotonic == ()


async def test_worst_case_of_many_parameters_goes_by_the_signs(study: Study) -> None:
    """Seven resistors: 3 to the supply, 4 to ground, which would be 128 combinations."""
    up = "".join(f"RU{n} in out 3k\n" for n in range(3))
    down = "".join(f"RD{n} out 0 4k\n" for n in range(4))
    deck = f"ladder\nV1 in 0 10\n{up}{down}.op\n.end\n"
    result = await study("worst-case", deck, measure=VOUT, parameters=[{"name": "R*", "tolerance": 0.1}])
    case = result.worst_cases["vout"]
    assert len(result.rows) == 1 + 2 * 7 + 2
    assert case.minimum is not None
    assert case.maximum is not None
    assert case.minimum.value == pytest.approx(10 * 0.9 / (0.9 + 1.1))
    assert case.maximum.value == pytest.approx(10 * 1.1 / (0.9 + 1.1))


async def test_a_metric_with_its_extreme_inside_is_called_not_monotonic(study: Study) -> None:
    deck = "match\nV1 in 0 2\nR1 in out 1k\nR2 out 0 1k\n.op\n.end\n"
    power = {"p": "v(out)*(v(in)-v(out))"}
    result = await study("worst-case", deck, measure=power, parameters=[{"name": "R2", "tolerance": "20%"}])
    assert result.worst_cases["p"].not_monotonic == ("R2",)


async def test_sensitivities_of_a_divider(study: Study) -> None:
    deck = DIVIDER.replace("R2 out 0 1k", "R2 out 0 3k")
    result = await study(
        "sensitivity",
        deck,
        measure=VOUT,
        parameters=[{"name": "R1"}, {"name": "R2", "tolerance": "2%"}, {"name": "V1"}],
    )
    found = {item.parameter: item for item in result.sensitivities["vout"]}
    assert found["V1"].normalised == pytest.approx(1, rel=1e-4)
    assert found["R1"].normalised == pytest.approx(-0.25, rel=1e-3)
    assert found["R2"].normalised == pytest.approx(0.25, rel=1e-3)
    assert found["R2"].slope == pytest.approx(10 * 1000 / 4000**2, rel=1e-3)
    assert found["R2"].per_tolerance == pytest.approx(60 * 10 * 1000 / 4000**2, rel=1e-3)


async def test_a_sensitivity_without_parameters_takes_every_plain_value(study: Study) -> None:
    result = await study("sensitivity", RC, measure=BW)
    assert {item.parameter for item in result.sensitivities["bw"]} == {"Vin", "C1", "rl"}
    assert result.sensitivities["bw"][0].normalised == pytest.approx(-1, rel=0.01)
    assert result.sensitivities["bw"][-1].parameter == "Vin"


async def test_runs_and_metrics_that_fail_are_rows_that_say_why(study: Study) -> None:
    deck = "title\n.param x=1\nV1 in 0 {1/x}\nR1 in 0 1k\n.tran 1u 10u\n.end\n"
    result = await study(
        "sweep",
        deck,
        measure={"v": "max(v(in))", "t": "cross(v(in), 99)"},
        parameters=[{"name": "x", "values": [1, 0, 2]}],
    )
    good, bad, other = result.rows
    assert (good.state, bad.state, other.state) == ("ok", "failed", "ok")
    assert (good.metrics["v"], other.metrics["v"]) == (pytest.approx(1), pytest.approx(0.5))
    assert math.isnan(bad.metrics["v"])
    assert bad.reason is not None
    assert math.isnan(good.metrics["t"])
    assert "99" in str(good.problems["t"])
    assert result.statistics["v"].failed == 1
    assert result.ok


async def test_a_study_is_stored_apart_from_runs(study: Study, app: Application, tmp_path: Path) -> None:
    (tmp_path / ".circuit_ai").mkdir()
    result = await study("sweep", RC, parameters=[{"name": "rl", "values": [1000, 3000]}])
    stored = json.loads(result.result_path.read_text())
    assert (stored["kind"], stored["study"], stored["ok"]) == ("study", "sweep", True)
    assert "rows" not in stored
    table = (result.result_path.parent / stored["rows_path"]).read_text().splitlines()
    assert table[0] == "run,rl,g1k [dB],doubled,state,reason"
    assert len(table) == 3
    assert result.result_path.is_relative_to(tmp_path)
    assert (await app.project.browse.results(tmp_path)) == ()


STEPPED = "title\nV1 in 0 1\nR1 in out {r}\nR2 out 0 {q}\n.param r=1k q=1k\n" \
    ".step param r list 1k 2k\n.step param q list 1k 3k\n.op\n.end\n"  # fmt: skip


async def test_a_sweep_of_a_stepped_circuit_does_its_steps(study: Study) -> None:
    result = await study("sweep", STEPPED, measure=VOUT)
    points = [(row.parameters["r"], row.parameters["q"]) for row in result.rows]
    assert points == [(1000, 1000), (2000, 1000), (1000, 3000), (2000, 3000)]
    assert column(result, "vout") == pytest.approx([q / (r + q) for r, q in points])


async def test_other_studies_leave_the_steps_out_and_say_so(study: Study) -> None:
    result = await study("corners", STEPPED, measure=VOUT, corners=[{"name": "big", "set": {"R2": "4k"}}])
    assert column(result, "vout") == pytest.approx([0.8])
    assert [str(warning) for warning in result.warnings] == ["The circuit's own .step was ignored."]


WITH_STEPS = (
    "t\nV1 in 0 1\nR1 in out 1k\nR2 out 0 RX\nR3 out 0 {rl}\n.model RX R(R=1k)\n.step R RX(R) list 1k 3k\n"
    ".step param rl list 1g 2g\n.op\n.meas op vo find v(out)\n.end\n"
)


async def test_a_decks_own_steps_are_the_outer_axes_of_a_sweep(study: Study) -> None:
    result = await study("sweep", WITH_STEPS, parameters=[{"name": "R1", "values": [1e3, 2e3]}])
    assert result.parameters == ("rl", "rx.r", "R1")
    rows = [(row.parameters["rx.r"], row.parameters["R1"], row.metrics["vo"]) for row in result.rows]
    assert [row[:2] for row in rows] == [(1e3, 1e3), (1e3, 2e3), (3e3, 1e3), (3e3, 2e3)] * 2
    assert [row[2] for row in rows[:4]] == pytest.approx([1 / 2, 1 / 3, 3 / 4, 3 / 5], rel=1e-5)
    assert "swept too" in str(result.warnings[0])
    (alone,) = (await study("corners", WITH_STEPS, corners=[{"name": "hot", "temp": 100}])).rows
    assert alone.metrics["vo"] == pytest.approx(0.5, rel=1e-5)


async def test_a_misspelt_name_is_told_with_its_place_and_what_there_is(study: Study) -> None:
    for name, near in (("R9", "R1"), ("ry.r", "RX.r"), ("rll", "rl")):
        with pytest.raises(UserInputError, match=r"parameters\[1\]\.name") as caught:
            await study(
                "sweep", WITH_STEPS, parameters=[{"name": "R1", "values": [1]}, {"name": name, "values": [1]}]
            )
        assert near in str(caught.value.advice)
        assert "V1, R1, R2, R3" in str(caught.value.advice)
