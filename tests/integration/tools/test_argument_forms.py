"""Arguments of the study tools in the forms models write them, and studies that measure nothing."""

from __future__ import annotations

import pytest

from tests.integration.tools.conftest import Bench

DIVIDER = "divider\nV1 in 0 10\nR1 in out 1k\nR2 out 0 1k\n.op\n.end\n"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("run_parametric_sweep", {"sweep_params": {"R1": ["1k", "2k"]}}),
        ("run_monte_carlo", {"variation_config": {"R1": "5%"}, "runs": 4}),
        ("run_pvt_analysis", {"temperatures": [0, 70]}),
        ("run_sensitivity", {"parameters": ["R1"]}),
    ],
)
async def test_a_study_that_measures_nothing_says_so(
    bench: Bench, tool: str, arguments: dict[str, object]
) -> None:
    bench.write("d.cir", DIVIDER.replace("0 10", "0 10 ac 1").replace(".op", ".ac dec 5 1 1k"))
    metrics = {"target_metrics": ["x=bandwidth(v(out))"]} if tool == "run_sensitivity" else {
        "measure": {"x": "bandwidth(v(out))"}
    }  # fmt: skip
    result = await bench.call(tool, **arguments, **metrics)
    assert "errors" in result.result, result.content
    assert result.result["errors"][0]["code"] == "nothing-measured"
    assert "error: No run produced a value of any metric" in result.content


@pytest.mark.parametrize(
    "parameters",
    [
        {"R1": ["1k", "100k"]},
        {"R1": [1000, 1e5]},
        [{"name": "R1", "range": ["1k", "100k"]}],
        [{"name": "R1", "bounds": "1k..100k", "scale": "log"}],
        '{"R1": "1k to 100k"}',
    ],
)
async def test_two_numbers_are_the_ends_of_a_range(bench: Bench, parameters: object) -> None:
    bench.write("d.cir", DIVIDER)
    result = await bench.call(
        "optimize_parameters",
        parameters=parameters,
        measure={"vout": "v(out)"},
        goals=["1.95 <= vout <= 2.05"],
    )
    assert result.success, result.content
    (goal,) = result.result["goals"]
    assert (goal[">="], goal["<="]) == (1.95, 2.05)
    best = float(result.result["best"]["parameters"]["R1"])
    assert 1950 <= 10 / (1 + best / 1000) * 1000 <= 2050


async def test_a_value_that_is_varied_can_be_made_small(bench: Bench) -> None:
    bench.write("d.cir", DIVIDER)
    result = await bench.call(
        "run_study",
        kind="optimize",
        parameters=[{"name": "R1", "min": "1k", "max": "10k", "scale": "E6"}],
        measure={"vout": "v(out)"},
        goals=["vout <= 3.5"],
        minimize=["r1"],
    )
    assert result.success, result.content
    assert result.result["best"]["parameters"]["R1"] == 2200


async def test_what_is_missing_and_what_is_unknown_are_told_together(bench: Bench) -> None:
    bench.write("d.cir", DIVIDER)
    wrong = await bench.call("run_study", kind="sweep", ranges={"R1": ["1k", "2k"]})
    assert "parameters is missing; ranges is not an argument of run_study" in wrong.content
    renamed = await bench.call("run_study", kind="worst_case", tolerances={"R1": "1%"}, measure=["v(out)"])
    assert renamed.success, renamed.content
    tried = await bench.call("run_simulation", path="d.cir", parameters="R1=2k, R2=3k")
    assert tried.success, tried.content
    nothing = await bench.call("run_study", kind="since_when")
    assert (nothing.error_type, str(nothing.error_message)) == ("no_goal", "d.cir has no goals.")


async def test_goals_by_metric(bench: Bench) -> None:
    bench.write("d.cir", DIVIDER)
    result = await bench.call(
        "run_parametric_sweep",
        sweep_params={"R1": ["1k", "4k"]},
        measure={"vout": "v(out)"},
        goals={"vout": [4.9, 5.1]},
    )
    assert [row["goals_met"] for row in result.result["rows"]] == [True, False]
