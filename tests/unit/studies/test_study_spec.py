"""Specifications: what is understood, and errors that name the key."""

from __future__ import annotations

import re
from typing import Any

import pytest

from domain.studies.study_spec import read_study_spec
from shared.errors import UserInputError
from tests.ground.cases import for_each

R1 = {"name": "R1"}


def test_the_specification_of_the_contract() -> None:
    spec = read_study_spec({
        "analysis": "ac dec 20 1 1g",
        "parameters": [
            {"name": "R1", "min": "1k", "max": "10k", "scale": "log"},
            {"name": "m1.w", "min": 1e-6, "max": "10u", "tolerance": "2%", "distribution": "normal"},
            {"name": "C1", "min": "1n", "max": "10n", "scale": "E24"},
        ],
        "measure": {"bw": "bandwidth(v(out))"},
        "goals": [{"metric": "bw", ">=": 1e6}],
        "runs": 1000,
        "seed": 1,
        "corners": ["TT", {"name": "hot", "temp": 125}],
    })  # fmt: skip
    assert spec.analyses == ("ac dec 20 1 1g",)
    first, second, _ = spec.parameters
    assert first.range is not None
    assert (first.range.minimum, first.range.maximum, first.range.scale) == (1000, 10_000, "log")
    assert first.spread is None
    assert second.spread is not None
    assert (second.spread.tolerance, second.spread.sigmas, second.spread.truncate) == (0.02, 3, 3)
    assert spec.goals[0].minimum == 1e6
    assert [corner.name for corner in spec.corners.corners] == ["TT", "hot"]


def test_an_empty_specification_is_one() -> None:
    spec = read_study_spec({})
    assert (spec.runs, spec.seed, spec.sampling, spec.measures) == (1000, 1, "random", {})


def test_short_forms() -> None:
    spec = read_study_spec({
        "parameters": [{"name": "R1", "tolerance": 0.01, "distribution": "gauss"}],
        "measure": ["max(v(out))"],
        "goals": ["max(v(out)) <= 1.2", "bw >= 1Meg"],
        "set": {"R2": "2k", "R3": 3000},
        "seed": 0,
        "yield_target": "99%",
    })  # fmt: skip
    assert spec.measures == {"max(v(out))": "max(v(out))"}
    assert [(g.metric, g.minimum, g.maximum) for g in spec.goals] == [
        ("max(v(out))", None, 1.2),
        ("bw", 1e6, None),
    ]
    assert spec.assignments == (("R2", "2k"), ("R3", "3000.0"))
    assert (spec.seed, spec.yield_target) == (0, 0.99)
    bounds = read_study_spec({"goals": {"bw": {">=": "1Meg", "<=": "2Meg"}}}).goals
    assert (bounds[0].metric, bounds[0].minimum, bounds[0].maximum) == ("bw", 1e6, 2e6)
    close = read_study_spec({"goals": [{"metric": "f", "target": "1k", "tolerance": "5%"}]}).goals[0]
    assert (close.minimum, close.maximum) == (950, 1050)


def test_null_counts_as_not_given() -> None:
    assert read_study_spec({"measure": None, "goals": None, "corners": None, "analysis": None}).measures == {}


@for_each(
    ("document", "words"),
    [
        ([], "The specification must be an object"),
        ({"paramters": []}, "paramters is unknown.*parameters"),
        ({"parameters": {}}, "parameters must be a list"),
        ({"parameters": [{}]}, r"parameters\[0\].name is missing"),
        ({"parameters": [{**R1, "minn": 1}]}, r"parameters\[0\].minn is unknown.*min"),
        ({"parameters": [{**R1, "min": "1x,5", "max": 2}]}, "min must be a number, not 1x,5"),
        ({"parameters": [{**R1, "min": True, "max": 2}]}, r"parameters\[0\].min must be a number"),
        ({"parameters": [{**R1, "min": float("nan"), "max": 2}]}, r"parameters\[0\].min must be a number"),
        ({"parameters": [{**R1, "min": 10**400, "max": 2}]}, r"parameters\[0\].min must be a number"),
        ({"parameters": [{**R1, "min": 1}]}, r"parameters\[0\].max is missing"),
        ({"parameters": [{**R1, "min": 2, "max": 1}]}, r"parameters\[0\].max is less than min"),
        ({"parameters": [{**R1, "min": 0, "max": 1, "scale": "log"}]}, "greater than 0 with the scale log"),
        ({"parameters": [{**R1, "min": 1, "max": 2, "scale": "E25"}]}, "one of lin, log, E3.*E24"),
        ({"parameters": [{**R1, "min": 1, "max": 2, "step": 0}]}, "step must be greater than 0"),
        ({"parameters": [{**R1, "min": 1, "max": 2, "step": 1, "points": 3}]}, "more than one of points"),
        ({"parameters": [{**R1, "min": 1, "max": 2, "points": 2.5}]}, "points must be a whole number"),
        ({"parameters": [{**R1, "values": []}]}, "values is an empty list"),
        ({"parameters": [{**R1, "values": ["1k", "a"]}]}, r"values\[1\] must be a number, not a"),
        ({"parameters": [{**R1, "tolerance": 5}]}, "tolerance is 5.0 times the value.*5 % as 0.05"),
        ({"parameters": [{**R1, "tolerance": "-1%"}]}, "tolerance must not be negative"),
        ({"parameters": [{**R1, "tolerance": 0.1, "sigma": 0.1}]}, "is the same as tolerance"),
        ({"parameters": [{**R1, "tolerance": 0.1, "distribution": "nomal"}]}, "one of normal.*not nomal"),
        ({"parameters": [{**R1, "distribution": "normal"}]}, "tolerance is missing"),
        ({"parameters": [{**R1, "tolerance": 0.1, "distribution": "uniform", "truncate": 3}]}, "no meaning"),
        ({"parameters": [{**R1, "mismatch": {"w": 1}}]}, r"mismatch.a is missing"),
        ({"parameters": [R1, {"name": "r1"}]}, r"parameters\[1\].name names r1 again"),
        ({"parameters": [{**R1, "values": [1], "min": 1}]}, r"\[0\].min is the same as values"),
        ({"measure": {" ": "v(out)"}}, "measure has an entry without a name"),
        ({"yield_target": 0.9}, "yield_target is the share of runs that meet the goals"),
        ({"measure": {"bw": 3}}, "measure.bw must be an expression"),
        ({"goals": [{"metric": "bw"}]}, r"goals\[0\] has no bound"),
        ({"goals": [{"metric": "bw", ">=": 2, "<=": 1}]}, "never be met"),
        ({"goals": ["bw"]}, "goal such as bw >= 1Meg"),
        ({"goals": [{"metric": "bw", "target": 1}]}, "tolerance is missing"),
        ({"runs": 0}, "runs must be a whole number from 1"),
        ({"runs": 1e9}, "runs must be a whole number from 1 to 1000000"),
        ({"seed": -1}, "seed must be a whole number from 0"),
        ({"sampling": "sobol"}, "one of random, lhs"),
        ({"method": "mc"}, "one of eva, rss, both"),
        ({"yield_target": 1.5}, "yield_target must be greater than 0 and at most 1.0"),
        ({"at_corners": "yes"}, "at_corners must be true or false"),
        ({"corners": 5}, "corners must be a list of corners"),
        ({"corners": []}, "corners is an empty list"),
        ({"corners": [5]}, r"corners\[0\] must be an object"),
        ({"corners": [{"temp": "hot"}]}, r"corners\[0\].temp must be a number, not hot"),
        ({"corners": {"temp": []}}, "corners.temp is an empty list"),
        ({"corners": {"voltage": {"vdd": ["10%"]}}}, "must have a sign"),
        ({"corners": [{"lib": "a.lib"}]}, "section is missing"),
        ({"processes": {"FF": 3}}, "processes.FF must be an object"),
    ],
)  # fmt: skip
def test_errors_name_the_key_and_what_is_allowed(document: Any, words: str) -> None:
    with pytest.raises(UserInputError) as error:
        read_study_spec(document)
    text = f"{error.value.message} {error.value.advice or ''}"
    assert re.search(words, text), text
    assert error.value.error_type == "bad_spec"


def test_a_range_that_scatters_evenly_needs_no_tolerance() -> None:
    spread = read_study_spec(
        {"parameters": [{**R1, "min": 1, "max": 3, "distribution": "uniform"}]}
    ).parameters[0].spread  # fmt: skip
    assert spread is not None
    assert (spread.centre, spread.tolerance, spread.is_absolute) == (2, 1, True)
