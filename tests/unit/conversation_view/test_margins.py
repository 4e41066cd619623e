"""Goal rows: margins in words and the fill of the bar."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from domain.simulation.goals import DesignGoal, GoalVerdict
from domain.simulation.result import Quantity
from presentation.dialogs.goal_drafts import GoalDraft
from presentation.goal_margins import NOT_MEASURED, limit_text, row_of, typeset, value_and_limit
from presentation.goal_words import name_of
from presentation.translation import Translator
from tests.ground.cases import for_each


def row(value: float, unit: str = "Hz", **bounds: float):
    goal = DesignGoal(metric="m", expression="v(out)", unit=unit, **bounds)
    return row_of(
        GoalVerdict(goal=goal, measured=Quantity(value=value, unit=unit), met=goal.is_met_by(value))
    )


@for_each(
    ("value", "bounds", "margin", "fill"),
    [
        (48.4, {"minimum": 46.0}, "+5 %", 0.1043),
        (23.0, {"minimum": 46.0}, "−50 %", -1.0),
        (4.85, {"maximum": 6.0}, "+19 %", 0.3833),
        (6.0, {"maximum": 6.0}, "+0 %", 0.0),
        (10_000.0, {"minimum": 9_800.0, "maximum": 10_200.0, "target": 10_000.0}, "+100 %", 1.0),
        (10_200.0, {"minimum": 9_800.0, "maximum": 10_200.0, "target": 10_000.0}, "+0 %", 0.0),
        (10_438.0, {"minimum": 9_800.0, "maximum": 10_200.0, "target": 10_000.0}, "< −100 %", -1.0),
        (-19.0, {"maximum": -17.0}, "+12 %", 0.2353),
        (math.nan, {"minimum": 1.0}, "—", 0.0),
        (1.0, {"minimum": 0.0}, "—", 0.0),
    ],
)
def test_margin_and_fill(value: float, bounds: dict[str, float], margin: str, fill: float) -> None:
    found = row(value, "dB", **bounds)
    assert found.margin_text == margin
    assert found.fill == pytest.approx(fill, abs=1e-3)


def test_a_miss_by_a_hair_is_a_miss_in_words() -> None:
    assert row(1.0 + 1e-9, "V", maximum=1.0).margin_text == "−<0.001 %"
    assert row(1.0 + 1e-9, "V", maximum=1.0).value == "1.000000001\u00a0V"


@for_each(
    ("value", "unit", "text"),
    [
        (22.31464, "dB", "22.31 dB"),  # rounded twice it would be 22.32
        (-40.27951, "dB", "−40.28 dB"),
        (0.00074, "dB", "0.001 dB"),
        (0.0002, "dB", "0.000 dB"),
        (6e-22, "V", "0 V"),
        (-3e-19, "A", "0 A"),
        (-1.4e-18, "V", "0 V"),
        (6e-22, "V^2/Hz", "6e−22 V^2/Hz"),
    ],
)
def test_a_value_is_rounded_once_and_nothing_is_nothing(value: float, unit: str, text: str) -> None:
    assert row(value, unit, minimum=-1e3).value == text.replace(" ", "\u00a0")


def test_limits_are_typeset() -> None:
    def limit(unit: str, **bounds: float) -> str:
        return limit_text(DesignGoal(metric="m", expression="x", unit=unit, **bounds)).replace("\u00a0", " ")

    assert limit("Hz", minimum=9_800.0, maximum=10_200.0, target=10_000.0) == "10 kHz ±2 %"
    assert limit("V", minimum=4.9, maximum=5.3) == "4.9 V … 5.3 V"
    assert limit("dB", maximum=-17.0) == "≤ −17 dB"
    assert limit("V", maximum=6e-6) == "≤ 6 µV"
    assert limit("Hz", minimum=1e6) == "≥ 1 MHz"


def test_a_share_is_written_in_percent_and_read_so() -> None:
    goal = DesignGoal(metric="distortion", expression="thd(v(out),1k)", unit="1", maximum=0.05)
    found = row_of(GoalVerdict(goal=goal, measured=Quantity(value=0.01242, unit="1"), met=True))
    told = (found.value, found.limit, found.margin_text)
    assert told == ("1.242\u00a0%", "≤ 5\u00a0%", "+75 %")
    duty = DesignGoal(
        metric="d", expression="duty(v(out))", unit="1", minimum=0.475, maximum=0.525, target=0.5
    )
    assert limit_text(duty).replace("\u00a0", " ") == "50 % ±5 %"
    judged = GoalVerdict(goal=duty, measured=Quantity(value=0.51, unit="1"), met=True)
    assert row_of(judged).limit.replace("\u00a0", " ") == "50 % ±5 %"  # as it was agreed, no "±2.5 %"
    gain = DesignGoal(metric="gain", expression="gain(v(out),1k)", unit="1", minimum=0.9)
    assert limit_text(gain) == "≥ 0.9"
    for text, maximum in (("3 %", 0.03), ("3", 0.03), ("0.02", 0.02)):
        assert replace(GoalDraft.of(goal), limit=text).goal().maximum == pytest.approx(maximum)
    assert GoalDraft.of(duty).goal() == duty
    assert replace(GoalDraft.of(duty), limit="40 %").goal().minimum == pytest.approx(0.38)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.001194, "0.001 dB"),
        (1e-5, "0.000 dB"),
        (0.0, "0 dB"),
        (-41.8123, "−41.81 dB"),
        (0.0871, "0.087 dB"),
    ],
)
def test_decibels_have_no_more_than_three_decimals(value: float, shown: str) -> None:
    assert row(value, "dB", maximum=0.5).value.replace("\u00a0", " ") == shown


@for_each(
    ("unit", "bounds", "value", "shown", "limit"),
    [
        ("Hz", {"minimum": 1e3}, 999.97, "999.97 Hz", "≥ 1 kHz"),
        ("Hz", {"minimum": 1e4}, 9999.97, "9.99997 kHz", "≥ 10 kHz"),
        ("Hz", {"minimum": 1e4}, 10000.001, "10.000001 kHz", "≥ 10 kHz"),
        ("Hz", {"minimum": 999.97}, 1000.0, "1 kHz", "≥ 999.97 Hz"),
        ("Hz", {"minimum": 1e4}, 1e4, "10 kHz", "≥ 10 kHz"),
        ("Hz", {"minimum": 1e4}, 1e4 * (1 - 1e-13), "<10 kHz", "≥ 10 kHz"),
        ("V", {"maximum": 5.0}, 5.0 + 2e-15, ">5 V", "≤ 5 V"),
        ("dB", {"maximum": 0.1}, 0.100004, "0.100004 dB", "≤ 0.1 dB"),
        ("dB", {"minimum": 0.0}, -0.00004, "−4e−05 dB", "≥ 0 dB"),
        ("V", {"minimum": 4.9, "maximum": 5.1}, 5.1000004, "5.1000004 V", "4.9 V … 5.1 V"),
        ("V", {"minimum": 4.9, "maximum": 5.3}, 5.1, "5.1 V", "4.9 V … 5.3 V"),
        ("deg", {"minimum": 60.0}, 59.9996, "59.9996°", "≥ 60°"),
    ],
)
def test_value_and_limit_have_the_digits_that_tell_them_apart(
    unit: str, bounds: dict[str, float], value: float, shown: str, limit: str
) -> None:
    found = row(value, unit, **bounds)
    assert str(found.value).replace("\u00a0", " ") == shown
    assert found.limit.replace("\u00a0", " ") == limit
    goal = DesignGoal(metric="m", expression="x", unit=unit, **bounds)
    verdict = GoalVerdict(goal=goal, measured=Quantity(value=value, unit=unit), met=goal.is_met_by(value))
    assert typeset(str(value_and_limit(verdict)[0])).replace("\u00a0", " ") == shown


def test_what_was_not_measured_is_said() -> None:
    assert row(math.nan, minimum=1.0).value == NOT_MEASURED


def test_a_condition_stands_beside_the_name_wherever_a_goal_is_shown() -> None:
    goal = DesignGoal(metric="vout", expression="avg(v(out))", unit="V", minimum=4.9, condition="at 85 °C")
    plain = DesignGoal(metric="vout", expression="avg(v(out))", unit="V", minimum=4.9)
    english, chinese = str(name_of(goal)), Translator("zh")(name_of(goal))
    assert english == f"{name_of(plain)} (at 85 °C)"
    assert chinese == f"{Translator('zh')(name_of(plain))}（at 85 °C）"
    long = DesignGoal(metric="a", expression="v(a)", unit="V", minimum=1, condition="x" * 160)
    assert len(str(name_of(long))) < 65
