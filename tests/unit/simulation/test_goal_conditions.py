"""A goal's condition in words, and the runs in which it has to hold."""

from __future__ import annotations

import pytest

from domain.simulation.goal_conditions import AS_IT_IS, distinct_settings, runs_of
from domain.simulation.goals import DesignGoal


def goal(condition: str) -> DesignGoal:
    return DesignGoal(metric="g", expression="at(db(v(out)), 10k)", unit="dB", condition=condition)


@pytest.mark.parametrize(
    ("condition", "runs"),
    [
        ("", [{}]),
        ("nominal, at room temperature", [{}]),
        ("at 10 kHz", [{}]),  # its expression says so
        ("at 85 degC", [{"temp": "85"}]),
        ("T = -40 °C", [{"temp": "-40"}]),
        ("–40 °C … 85 °C", [{"temp": "-40"}, {"temp": "85"}]),
        ("在 -40～85℃ 范围内", [{"temp": "-40"}, {"temp": "85"}]),
        ("环境温度 85 ℃，电源 Vcc = 4.5 V", [{"temp": "85", "Vcc": "4.5"}]),
        ("with a load RL = 1 kOhm", [{"RL": "1000"}]),
        ("Rl=1M, Cl=100p", [{"Rl": "1000000", "Cl": "1e-10"}]),
        ("at 1 kHz", None),
        ("SS corner", None),
        ("at full load", None),
        ("with a load of 1 kOhm", None),
        ("at 4.5 V supply", None),
        ("x" * 5000, None),
    ],
)
def test_words_are_read_into_settings_or_not_at_all(
    condition: str, runs: list[dict[str, str]] | None
) -> None:
    found = runs_of(goal(condition))
    assert found == (None if runs is None else tuple(tuple(run.items()) for run in runs))


def test_each_settings_are_simulated_once() -> None:
    goals = tuple(map(goal, ("", "85 °C", "at 85 degC", "-40 to 85 °C", "SS corner")))
    assert AS_IT_IS not in distinct_settings(goals)
    assert distinct_settings(goals) == ((("temp", "85"),), (("temp", "-40"),))
