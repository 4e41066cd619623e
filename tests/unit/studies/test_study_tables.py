"""Tables of the terminal, and the short forms of specifications."""

from __future__ import annotations

import argparse
from typing import Any

import pytest

from domain.studies.study_spec import StudySpec
from presentation.cli.study_options import add_study_arguments, study_spec
from presentation.cli.tables import table
from shared.errors import UserInputError


def test_columns_are_aligned_also_in_chinese() -> None:
    lines = list(table([["名称", "值", "x"], ["a", "12.5 V", ""], ["long name", "1", "7"]]))
    assert lines == [
        "名称           值  x",
        "a          12.5 V",
        "long name       1  7",
    ]
    assert list(table([])) == []


async def spec(*options: str) -> StudySpec:
    parser = argparse.ArgumentParser()
    add_study_arguments(parser, "montecarlo")
    return await study_spec(parser.parse_args(["deck.cir", *options]))


async def test_parameters_in_short() -> None:
    found = (await spec(
        "--param", "R1=1k:10k:log:20", "--param", "R2=1k:2k", "--param", "R3=1k,2k",
        "--param", "R4=5%:uniform", "--param", "C1=1n:10n:E24", "--param", "L1", "--param", "temp=-40",
    )).parameters  # fmt: skip
    spans = [parameter.range for parameter in found]
    assert spans[0] is not None
    assert (spans[0].minimum, spans[0].maximum, spans[0].scale, spans[0].points) == (1000, 10_000, "log", 20)
    assert spans[1] is not None
    assert (spans[1].scale, spans[1].points) == ("lin", None)
    assert found[2].values == (1000, 2000)
    assert found[3].spread is not None
    assert (found[3].spread.tolerance, found[3].spread.distribution) == (0.05, "uniform")
    assert spans[4] is not None
    assert spans[4].scale == "E24"
    assert (found[5].name, found[5].range, found[5].spread) == ("L1", None, None)
    assert found[6].values == (-40,)


async def test_the_other_options() -> None:
    found = await spec(
        "--measure", "bw=bandwidth(v(out))", "--measure", "max(v(out))", "--goal", "bw>=1Meg",
        "--set", "R9=2k", "--analysis", "op", "--runs", "50", "--seed", "0", "--timeout", "2",
    )  # fmt: skip
    assert found.measures == {"bw": "bandwidth(v(out))", "max(v(out))": "max(v(out))"}
    assert (found.goals[0].metric, found.goals[0].minimum) == ("bw", 1e6)
    assert (found.assignments, found.analyses) == ((("R9", "2k"),), ("op",))
    assert (found.runs, found.seed, found.timeout_s) == (50, 0, 2)


@pytest.mark.parametrize("text", ["=1k", "R1=", "R1=1:2:lin:3:4"])
async def test_what_is_no_parameter_is_refused(text: str) -> None:
    with pytest.raises(UserInputError, match="param"):
        await spec("--param", text)


async def test_options_win_over_the_file(tmp_path: Any) -> None:
    path = tmp_path / "spec.json"
    path.write_text(
        '{"parameters": [{"name": "R1", "tolerance": 0.5}, {"name": "R2", "tolerance": 0.1}], "runs": 7,'
        ' "measure": {"a": "v(a)", "b": "v(b)"}, "goals": ["a >= 1"], "set": {"x": 1}}'
    )
    found = await spec(
        "--spec", str(path), "--param", "r1=1%", "--measure", "b=v(c)", "--goal", "b<=2", "--set", "y=2"
    )
    assert {p.name: p.spread.tolerance for p in found.parameters if p.spread} == {"R2": 0.1, "r1": 0.01}
    assert found.measures == {"a": "v(a)", "b": "v(c)"}
    assert [goal.metric for goal in found.goals] == ["a", "b"]
    assert dict(found.assignments) == {"x": "1.0", "y": "2"}
    assert found.runs == 7
