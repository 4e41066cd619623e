"""A goal's condition in words, and the runs in which it has to hold."""

from __future__ import annotations

from domain.simulation.goal_conditions import AS_IT_IS, distinct_settings, is_set_by, runs_of
from domain.simulation.goals import DesignGoal
from tests.ground.cases import for_each


def goal(condition: str) -> DesignGoal:
    return DesignGoal(metric="g", expression="at(db(v(out)), 10k)", unit="dB", condition=condition)


@for_each(
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
        ("SS", [{"corner": "SS"}]),
        ("SS corner", [{"corner": "SS"}]),
        ("at the slow process corner", [{"corner": "SS"}]),
        ("fast-slow corner", [{"corner": "FS"}]),
        ("corner: ff", [{"corner": "FF"}]),
        ("slow and fast corners", [{"corner": "SS"}, {"corner": "FF"}]),
        ("慢角", [{"corner": "SS"}]),
        ("在 SF 工艺角下", [{"corner": "SF"}]),
        ("SS、FF 角", [{"corner": "SS"}, {"corner": "FF"}]),
        ("典型角，85 ℃", [{"corner": "TT", "temp": "85"}]),
        (
            "SS or FF, -40 to 125 degC, Vdd = 1.62 V",
            [
                {"corner": corner, "temp": temp, "Vdd": "1.62"}
                for corner in ("SS", "FF")
                for temp in ("-40", "125")
            ],
        ),
        ("worst case", [{"corner": corner} for corner in ("TT", "FF", "SS", "FS", "SF")]),
        ("over all process corners", [{"corner": corner} for corner in ("TT", "FF", "SS", "FS", "SF")]),
        ("最坏情况", [{"corner": corner} for corner in ("TT", "FF", "SS", "FS", "SF")]),
        ("fs", None),
        ("a slow load", None),
        ("fs = 48k", [{"fs": "48000"}]),
        ("over process and temperature", None),
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
    goals = tuple(map(goal, ("", "85 °C", "at 85 degC", "-40 to 85 °C", "SS corner", "at SS, 85 °C")))
    assert AS_IT_IS not in distinct_settings(goals)
    hot, slow = ("temp", "85"), ("corner", "SS")
    assert distinct_settings(goals) == ((hot,), (("temp", "-40"),), (slow,), (slow, hot))
    assert distinct_settings(goals, lacking={"SS"}) == ((hot,), (("temp", "-40"),))


def test_a_run_is_known_by_its_values() -> None:
    settings = (("corner", "SS"), ("temp", "85"), ("Rl", "1000"))
    assert is_set_by(settings, {"rl": "1k", "TEMP": "85.0", "corner": "slow"})
    assert not is_set_by(settings, {"rl": "1k", "temp": "85", "corner": "FF"})
    assert not is_set_by(settings, {"rl": "1k", "temp": "85"})
