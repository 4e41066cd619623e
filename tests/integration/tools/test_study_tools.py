"""The tools of many runs, called as an agent calls them."""

from __future__ import annotations

import pytest

from tests.integration.tools.conftest import Bench

DIVIDER = "divider\nV1 in 0 10\nR1 in out 1k\nR2 out 0 1k\n.op\n.end\n"
VOUT = {"vout": "v(out)"}


async def test_a_sweep_gives_a_table(bench: Bench) -> None:
    bench.write("d.cir", DIVIDER)
    result = await bench.call(
        "run_parametric_sweep",
        sweep_params=[{"name": "R1"}, {"name": "R2", "values": ["1k"]}],
        sweep_range={"min": "1k", "max": "4k", "scale": "log", "points": 3},
        nested_levels=2,
        measure=VOUT,
    )
    assert result.success, result.content
    assert [row["metrics"]["vout"] for row in result.result["rows"]] == pytest.approx([5, 10 / 3, 2])
    assert "R1=4000 R2=1000 -> vout=2" in result.content
    assert str(result.summary) == "Simulated d.cir 3 times, 0 failed."
    assert (bench.root / result.result["rows_path"]).is_file()


async def test_a_monte_carlo_gives_the_yield(bench: Bench) -> None:
    bench.write("d.cir", DIVIDER)
    result = await bench.call(
        "run_monte_carlo",
        variation_config={"R*": {"tolerance": "5%", "distribution": "uniform"}},
        measure=VOUT,
        goals=["vout >= 4.9"],
        runs="40",
        yield_target=0.999,
    )
    assert result.success, result.content
    found = result.result["yield"]
    assert found["n"] == 40
    assert found["value"] < 1
    assert result.result["goals_met"] is False
    assert f"({found['passed']} of 40)" in result.content


async def test_a_map_tells_where_the_goals_are_met(bench: Bench) -> None:
    """Within a factor of 1.5 of each other: a band along the diagonal of a plane that is a factor of 9."""
    bench.write("d.cir", DIVIDER)
    result = await bench.call(
        "run_study", kind="map", parameters=["R1", "R2"], measure=VOUT, goals=["4 <= vout <= 6"]
    )
    assert result.success, result.content
    assert "map of R1 from 333 to 3000 (log), R2 from 333 to 3000 (log): all goals met on " in result.content
    assert "as written: vout=5" in result.content
    assert result.result["map"]["share_met"] == pytest.approx(0.335, abs=0.02)
    best = result.result["map"]["best_run"]
    row = next(row for row in result.result["rows"] if row["run"] == best)
    assert row["metrics"]["vout"] == pytest.approx(5, abs=0.01)


async def test_corners_in_every_form(bench: Bench) -> None:
    bench.write("m.lib", "*\n.lib tt\n.param r=1k\n.endl\n.lib ss\n.param r=3k\n.endl\n")
    bench.write("d.cir", DIVIDER.replace("R1 in out 1k", ".lib m.lib tt\nR1 in out {r}"))
    default = await bench.call("run_pvt_analysis", file_path="d.cir", measure=VOUT, generate_report=True)
    assert default.success, default.content
    assert [row["corner"] for row in default.result["rows"]] == ["TT", "SS"]
    matrix = await bench.call(
        "run_pvt_analysis",
        file_path="d.cir",
        measure=VOUT,
        corners=["TT", "SS"],
        voltages={"V1": [9, 11]},
        temperatures=[0, "70"],
    )
    assert matrix.success, matrix.content
    assert matrix.result["runs"]["done"] == 8
    assert matrix.result["corners"]["vout"]["max_corner"].startswith("TT_V1=11")
    objects = await bench.call(
        "run_pvt_analysis",
        file_path="d.cir",
        measure=VOUT,
        corners=[{"name": "hot", "process": "SS", "temp": 125, "R2": "3k"}],
    )
    assert objects.success, objects.content
    assert objects.result["statistics"]["vout"]["mean"] == pytest.approx(5)


async def test_worst_case_and_sensitivity(bench: Bench) -> None:
    bench.write("d.cir", DIVIDER)
    worst = await bench.call(
        "run_worst_case",
        tolerance_config={"R1": "10%", "R2": "10%"},
        method="EVA",
        target_metrics=["vout=v(out)"],
    )
    assert worst.success, worst.content
    assert worst.result["statistics"]["vout"]["max"] == pytest.approx(5.5)
    assert "rss" not in worst.result["statistics"]["vout"]
    broken = await bench.call(
        "run_study", kind="worst_case", parameters=[{"name": "R*", "tolerance": "10%"}],
        measure={"vout": "v(out)"}, goals=["vout >= 4.5"], corners={"voltage": {"V1": [9, 10]}},
    )  # fmt: skip
    assert broken.result["statistics"]["vout"]["min"] == pytest.approx(4.05), broken.content
    assert "vout" in broken.content
    felt = await bench.call(
        "run_sensitivity", parameters=["R1", "V1"], target_metrics=["v(out)"], perturbation_ratio=0.001
    )
    assert felt.success, felt.content
    found = {
        item["parameter"]: item["normalized"] for item in felt.result["statistics"]["v(out)"]["sensitivities"]
    }
    assert found == pytest.approx({"V1": 1, "R1": -0.5}, rel=1e-3)


@pytest.mark.parametrize(
    ("name", "arguments", "error_type", "words"),
    [
        ("run_parametric_sweep", {"sweep_params": [{"name": "R1"}], "measure": VOUT}, "bad_spec", "sweep"),
        ("run_study", {"kind": "sweeep", "parameters": [{"name": "R1"}]}, "bad_arguments", "'sweep'"),
        ("run_monte_carlo", {"variation_config": [{"name": "R7", "tolerance": 0.1}], "measure": VOUT},
         "bad_spec", "R7"),
        ("run_monte_carlo", {"variation_config": []}, "bad_arguments", "parameters is missing"),
        ("run_pvt_analysis", {"measure": VOUT}, "bad_spec", "corners"),
        ("run_worst_case", {"tolerance_config": {"R1": "a lot"}, "target_metrics": ["v(out)"]}, "bad_spec",
         "tolerance"),
        ("run_sensitivity", {"parameters": ["R1"], "target_metrics": ["v(nowhere)"]}, "unknown_signal",
         "nowhere"),
    ],
)  # fmt: skip
async def test_what_cannot_be_meant_is_told(
    bench: Bench, name: str, arguments: dict[str, object], error_type: str, words: str
) -> None:
    bench.write("d.cir", DIVIDER)
    result = await bench.call(name, **arguments)
    assert not result.success
    assert (result.error_type, words in result.content) == (error_type, True), result.content


async def test_a_circuit_that_never_runs_is_a_failure_with_its_reason(bench: Bench) -> None:
    bench.write("d.cir", DIVIDER.replace("R2 out 0 1k", "D1 out 0 nomodel"))
    result = await bench.call(
        "run_parametric_sweep", sweep_params={"R1": {"values": ["1k", "2k"]}}, measure={"v": "v(out)"}
    )
    assert (result.success, result.error_type) == (False, "simulation_failed")
    assert "nomodel" in result.content
    assert result.result["errors"][0]["line"] == 4


async def test_a_search_tells_the_yield_of_what_it_found_and_that_it_is_on_the_edge(bench: Bench) -> None:
    bench.write("d.cir", "d\nV1 in 0 10\nR1 in out 20k\nR2 out 0 10k\n.op\n.end\n")
    result = await bench.call(
        "run_study",
        kind="optimize",
        parameters=[{"name": "R1", "min": "1k", "max": "100k", "tolerance": "5%"},
                    {"name": "R2", "tolerance": "5%"}],
        measure={"out": "v(out)"},
        goals=["4.9 <= out <= 5"],
    )  # fmt: skip
    assert result.success, result.content
    passed = result.result["scatter"]["yield"]["passed"]
    assert 0 < passed < 60
    assert f"ON THE EDGE: yield {passed} % ({passed} of 100 runs, 95 % confidence" in result.content
    assert "sigma of out: 0.1" in result.content
    assert "assumed: R1, R2: uniform within ±5 %" in result.content
    assert str(result.summary).endswith(f"yield {passed} % of 100 runs: marginal")


@pytest.mark.parametrize("goals", [{}, {"goals": ["half >= 4.9", "half <= 5"]}])
async def test_a_search_is_for_the_goals_the_circuit_has(bench: Bench, goals: dict[str, list[str]]) -> None:
    """Named without what they measure, or not named at all."""
    bench.write("d.cir", "d\nV1 in 0 10\nR1 in out 20k\nR2 out 0 10k\n.op\n.end\n")
    half = {"metric": "half", "expression": "v(out)", "unit": "V", "minimum": 4.9, "maximum": 5}
    assert (await bench.call("set_goals", goals=[half])).success
    parameters = [{"name": "R1", "min": "9k", "max": "30k"}]
    result = await bench.call("run_study", kind="optimize", parameters=parameters, runs=40, **goals)
    assert result.success, result.content
    assert "ended: goals_met" in result.content
    assert result.content.count("met (must): half = ") == 1 + bool(goals)
