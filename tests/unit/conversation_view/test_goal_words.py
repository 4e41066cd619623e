"""Goals are called by words; names that are none of ours stay."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from domain.simulation.goals import DesignGoal
from presentation.goal_words import limit_words, name_of
from presentation.translation import Translator

FAMILIES = Path(__file__).parents[3] / "domain" / "design" / "families"


def named(metric: str, expression: str = "v(out)", language: str = "en", **bounds: float) -> str:
    goal = DesignGoal(metric=metric, expression=expression, unit="dB", **bounds)
    return Translator(language)(name_of(goal)).replace("\u00a0", " ")


def test_every_goal_of_the_built_in_designer_has_words() -> None:
    source = "\n".join(path.read_text("utf-8") for path in FAMILIES.glob("*.py"))
    metrics = set(re.findall(r'metric="(\w+)"', source))
    assert {"cutoff", "peaking", "efficiency"} <= metrics
    for metric in metrics:
        assert named(metric) != metric
        assert named(metric, language="zh") != named(metric)


@pytest.mark.parametrize(
    ("expression", "bounds", "name"),
    [
        ("db(gain(v(out),40k)/dcgain(v(out)))", {"maximum": -40.0}, "Rel. gain at 40 kHz"),
        ("db(gain(v(out),1.5meg)/peak(v(out)))", {"maximum": -40.0}, "Rel. gain at 1.5 MHz"),
        ("-db(gain(v(out),40k))", {"minimum": 46.0}, "Attenuation at 40 kHz"),
        ("db(gain(v(out),{f}))", {"maximum": -3.0}, "Attenuation"),
        ("v(out)", {"maximum": -3.0}, "Attenuation"),
    ],
)
def test_a_frequency_is_part_of_the_name(expression: str, bounds: dict[str, float], name: str) -> None:
    assert named("attenuation", expression, **bounds) == name


def test_other_names_stay() -> None:
    assert named("swing") == named("swing", language="zh") == "swing"
    assert named("{braces} 100 %") == "{braces} 100 %"


def test_a_limit_is_told_with_its_goal() -> None:
    goal = DesignGoal(
        metric="cutoff", expression="highcut(v(out))", unit="Hz", minimum=9.8e3, maximum=10.2e3, target=1e4
    )
    assert limit_words(Translator("zh"), goal).replace("\u00a0", " ") == "−3 dB 截止频率 10 kHz ±2 %"


def test_a_models_name_in_snake_case_is_shown_as_words_and_symbols_stay():
    def shown(metric: str) -> str:
        return str(name_of(DesignGoal(metric=metric, expression="v(out)", minimum=1.0, unit="V")))

    assert shown("lower_corner_frequency") == "Lower corner frequency"
    for symbol in ("f_c", "v_out", "gain_10k", "vin_min", "Vout", "A_v"):
        assert shown(symbol) == symbol
