"""Goals in the forms people and models write them."""

from __future__ import annotations

import pytest

from domain.studies.study_spec import read_study_spec
from shared.errors import UserInputError
from tests.ground.cases import for_each


def bounds(goals: object) -> list[tuple[str, float | None, float | None]]:
    spec = read_study_spec({"goals": goals})
    return [(goal.metric, goal.minimum, goal.maximum) for goal in spec.goals]


@for_each(
    ("text", "expected"),
    [
        ("970 <= fc <= 1030", ("fc", 970, 1030)),
        ("1.03k >= fc > 970", ("fc", 970, 1030)),
        ("1Meg < bw", ("bw", 1e6, None)),
        ("bw ≥ 1 MHz", ("bw", 1e6, None)),
        ("bw => 1k", ("bw", 1e3, None)),
        ("peak < -3 dB", ("peak", None, -3)),
        ("overshoot <= 5%", ("overshoot", None, 0.05)),
        ("fc in [970, 1030]", ("fc", 970, 1030)),
        ("fc ∈ [970, 1030]", ("fc", 970, 1030)),
        ("fc between 970 and 1.03k", ("fc", 970, 1030)),
        ("fc from 970 Hz to 1030 Hz", ("fc", 970, 1030)),
        ("fc: 970..1030", ("fc", 970, 1030)),
        ("fc = 970-1030", ("fc", 970, 1030)),
        ("vos = -1m..1m", ("vos", -1e-3, 1e-3)),
        ("fc = 1k ± 30", ("fc", 970, 1030)),
        ("fc == 1k +/- 3%", ("fc", 970, 1030)),
        ("max(v(out))-min(v(out)) <= 1.2", ("max(v(out))-min(v(out))", None, 1.2)),
        ("at(v(out),1m) >= 2", ("at(v(out),1m)", 2, None)),
    ],
)
def test_a_text(text: str, expected: tuple[str, float | None, float | None]) -> None:
    (found,) = bounds([text])
    assert found[0] == expected[0]
    assert found[1:] == pytest.approx(expected[1:])
    assert bounds(text) == [found]


@for_each(
    "goals",
    [
        {"fc": [970, 1030]},
        {"fc": {"min": 970, "max": 1030}},
        {"fc": {">=": 970, "<=": 1030}},
        {"fc": {"range": ["970", "1.03k"]}},
        {"fc": "970..1030"},
        {"fc": "1k +- 3%"},
        {"metric": "fc", ">=": 970, "<=": 1030},
        [{"name": "fc", "between": [970, 1030]}],
        [{"metric": "fc", "minimum": 970, "maximum": 1030}],
    ],
)
def test_an_object(goals: object) -> None:
    assert bounds(goals) == [("fc", pytest.approx(970), pytest.approx(1030))]


@for_each(
    "text", ["fc", "a <= b", "fc = 1000", "5 <= x >= 3", "1030 <= fc <= 970", "a < 3 < b < 4", "<= 3", ""]
)
def test_what_is_no_goal_is_refused_by_its_place(text: str) -> None:
    with pytest.raises(UserInputError, match=r"goals\[0\]"):
        bounds([text])


@pytest.mark.parametrize("goals", [{"fc": 3}, {"fc": [1, 2, 3]}, [{"metric": "fc", "range": [1]}], 7])
def test_objects_without_bounds_are_refused(goals: object) -> None:
    with pytest.raises(UserInputError, match="goals"):
        bounds(goals)


@pytest.mark.parametrize(
    "text", ["fc > 970 and fc < 1.03k", "fc ≥ 970 Hz；fc ≤ 1030 Hz", "fc>970 && fc<1030", "fc>970，fc<1030"]
)
def test_comparisons_that_are_joined_are_a_goal_each(text: str) -> None:
    assert bounds([text, "bw >= 1k"]) == [
        ("fc", 970, None),
        ("fc", None, pytest.approx(1030)),
        ("bw", 1e3, None),
    ]
    assert bounds({"fc": "970..1030"}) == [("fc", 970, 1030)]


@pytest.mark.parametrize("keys", [("low", "high"), ("lower", "upper"), ("from", "to"), ("start", "end")])
def test_the_ends_of_a_range_under_other_names(keys: tuple[str, str]) -> None:
    spec = read_study_spec({"parameters": [{"name": "R1", keys[0]: "1k", keys[1]: "2k"}]})
    found = spec.parameters[0].range
    assert found is not None
    assert (found.minimum, found.maximum) == (1e3, 2e3)


def test_an_unknown_key_is_answered_by_its_neighbours_as_a_guess() -> None:
    with pytest.raises(UserInputError) as caught:
        read_study_spec({"parameters": [{"name": "R1", "tolerence": "1%"}]})
    assert "Did you mean" in str(caught.value.advice)
    assert "tolerance" in str(caught.value.advice)
