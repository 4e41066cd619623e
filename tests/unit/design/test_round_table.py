"""The table of a round: margins, changes, the digits that tell them apart; where the rounds are going."""

from __future__ import annotations

import math
from typing import Any

import pytest

from domain.circuit.figures import beside, told_apart, with_unit
from domain.design.round_table import RoundTable, round_table, trend
from domain.simulation.goals import DesignGoal, GoalVerdict
from domain.simulation.result import Quantity
from tests.ground.cases import for_each

CUTOFF = DesignGoal(
    metric="cutoff",
    expression="bandwidth(v(out))",
    unit="Hz",
    minimum=980.0,
    maximum=1020.0,
    target=1000.0,
)
GAIN = DesignGoal(metric="gain", expression="db(gain(v(out)))", unit="dB", minimum=20.0)
NOISE = DesignGoal(metric="noise", expression="onoise_total", unit="V", maximum=1e-5, weight="wish")


def judged(**values: float) -> list[GoalVerdict]:
    return [verdict(goal, values[goal.metric]) for goal in (CUTOFF, GAIN, NOISE) if goal.metric in values]


def verdict(goal: DesignGoal, value: float) -> GoalVerdict:
    return GoalVerdict(goal=goal, measured=Quantity(value=value, unit=goal.unit), met=goal.is_met_by(value))


def rows(now: dict[str, float], last: dict[str, float], **facts: Any) -> RoundTable:
    return round_table(2, [CUTOFF, GAIN, NOISE], judged(**now), last=judged(**last), **facts)


def test_a_row_holds_value_margin_last_and_change() -> None:
    cutoff, gain, noise = rows(
        {"cutoff": 1050.0, "gain": 24.0, "noise": math.nan},
        {"cutoff": 1200.0, "gain": 25.0},
        best=judged(cutoff=1010.0),
    ).rows
    assert (cutoff.value, cutoff.met, cutoff.last, cutoff.best) == (1050.0, False, 1200.0, 1010.0)
    assert (cutoff.margin, cutoff.change) == (-30.0, -150.0)
    assert cutoff.margin_share == pytest.approx(-1.5)  # of the ±20 Hz
    assert (gain.margin, gain.margin_share, gain.change) == (4.0, pytest.approx(0.2), -1.0)
    assert (cutoff.course, gain.course, noise.course) == ("better", "worse", "new")
    assert math.isnan(noise.value)
    assert (noise.margin, noise.margin_share, noise.change, noise.met) == (None, None, None, False)


@for_each(
    ("now", "last", "course"),
    [
        (19.0, 18.0, "better"),
        (21.0, 20.5, "better"),  # met both times: more room is better
        (20.0, 19.9999999, "better"),  # met now
        (19.9999999, 20.0, "worse"),
        (20.5, 20.5001, "same"),
        (math.nan, 18.0, "worse"),
        (18.0, math.nan, "better"),
        (math.nan, math.nan, "same"),
    ],
)
def test_better_is_judged_by_the_margin(now: float, last: float, course: str) -> None:
    table = round_table(2, [GAIN], [verdict(GAIN, now)], last=[verdict(GAIN, last)])
    assert table.rows[0].course == course


def test_a_value_is_compared_although_its_goal_was_changed_but_not_with_another_quantity() -> None:
    raised = DesignGoal(metric="gain", expression=GAIN.expression, unit="dB", minimum=30.0)
    other = DesignGoal(metric="gain", expression="gain(v(out))", unit="1", minimum=20.0)
    row = round_table(2, [raised], [verdict(raised, 24.0)], last=[verdict(GAIN, 22.0)]).rows[0]
    assert (row.change, row.margin, row.course) == (2.0, -6.0, "better")
    assert round_table(2, [raised], [], last=[verdict(other, 22.0)]).rows[0].course == "new"


def test_a_model_reads_digits_that_tell_value_limit_and_last_apart() -> None:
    text = rows(
        {"cutoff": 1020.0003, "gain": 19.99998, "noise": math.nan}, {"cutoff": 1020.9, "gain": 19.99998}
    ).markdown()
    lines = text.splitlines()
    assert (
        lines[3]
        == "| cutoff | 980 Hz … 1.02 kHz, aim 1 kHz | 1.0200003 kHz | -300 uHz (-0.0015 %) | 1.0209 kHz | "
        "-899.7 mHz | MISSED, better |"
    )
    assert (
        lines[4] == "| gain | ≥ 20 dB | 19.99998 dB | -2e-05 dB (-0.0001 %) | 20 dB | 0 dB | MISSED, same |"
    )
    assert lines[5] == "| noise (wish) | ≤ 10 uV | not measured | - | - | - | MISSED, new |"
    assert len(text) < 600


def test_a_name_cannot_break_the_table() -> None:
    goal = DesignGoal(metric="a|b\nc", expression="v(out)", unit="V", minimum=1.0, condition="at 85|degC")
    assert (
        round_table(1, [goal], [])
        .markdown()
        .splitlines()[3]
        .startswith("| a/b c | ≥ 1 V at 85/degC (not simulated so) |")
    )


def going(*gains: float) -> tuple[str, int, int]:
    found = trend([judged(gain=gain) for gain in gains])
    return found.direction, found.rounds, found.without_gain


@for_each(
    ("gains", "expected"),
    [
        ((10,), ("first", 0, 0)),
        ((10, 12, 15), ("improving", 2, 0)),
        ((10, 15, 15.01), ("stagnant", 1, 1)),  # less than 1 % of what is missing
        ((10, 15, 12), ("worse", 1, 1)),
        ((10, 15, 12, 14), ("stagnant", 2, 2)),  # better than the round before, but no gain on the best
        ((10, 15, 12, 14, 16), ("improving", 1, 0)),
        ((19.99, 20), ("improving", 1, 0)),  # the limit itself is met
        ((20, 25), ("improving", 1, 0)),  # everything is met: the smallest margin tells
        ((25, 25.01), ("stagnant", 1, 1)),
        ((15, math.nan), ("worse", 1, 1)),
        ((math.nan, math.nan, math.nan), ("stagnant", 2, 2)),
    ],
)
def test_trend(gains: tuple[float, ...], expected: tuple[str, int, int]) -> None:
    assert going(*gains) == expected


def test_a_goal_without_a_value_does_not_hide_that_the_others_come_nearer() -> None:
    rounds = [judged(cutoff=math.nan, gain=gain) for gain in (12.0, 15.0, 15.01, 20.0)]
    assert [trend(rounds[:count]).direction for count in (2, 3, 4)] == ["improving", "stagnant", "improving"]


def test_changed_demands_begin_a_trend_of_their_own() -> None:
    raised = DesignGoal(metric="gain", expression=GAIN.expression, unit="dB", minimum=30.0)
    found = trend([judged(gain=10), judged(gain=15), [verdict(raised, 15)], [verdict(raised, 22)]])
    assert (found.direction, found.rounds, len(found.standings)) == ("improving", 1, 2)
    with pytest.raises(ValueError, match="no round"):
        trend([])


def test_a_missed_wish_weighs_a_tenth_of_a_must() -> None:
    found = trend([judged(gain=18, noise=2e-5), judged(gain=18, noise=1.5e-5)])
    assert found.standings == (pytest.approx(0.2), pytest.approx(0.15))


def test_figures_that_are_compared_are_told_apart() -> None:
    assert told_apart("Hz", 999.97, 1000.0) == ("999.97 Hz", "1 kHz")
    assert told_apart("Hz", 1e3, 1e3) == ("1 kHz", "1 kHz")
    assert told_apart("Hz", 1.0, 1.0 + 1e-13) == ("1 Hz", "1 Hz")
    # Other prefixes make other texts, but the same figure.
    texts = {999.97: ("1000 Hz", "999.97 Hz"), 1e3: ("1.000 kHz", "1.0000 kHz")}
    assert beside(999.97, [1e3], lambda value, digits: texts[value][digits > 4]) == ("999.97 Hz", 5)
    assert beside(1e3, [None, math.nan], lambda value, digits: with_unit(value, "Hz", digits)) == ("1 kHz", 4)
    assert with_unit(1234567.891, "Hz", 10) == "1.234567891 MHz"
    assert with_unit(2.5e12, "Ohm") == "2.5 TOhm"
    assert with_unit(0.5, "1") == "0.5"
