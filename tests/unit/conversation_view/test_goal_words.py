"""Goals are called by words; names that are none of ours stay."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from domain.simulation.goals import DesignGoal
from presentation.goal_words import limit_words, name_of
from presentation.translation import Translator
from tests.ground.cases import for_each

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
    assert named("wobble") == "wobble"
    odd = "at(mag(v(in)/i(vin)),1k)"  # it has no short name
    assert named("wobble", odd) == named("wobble", odd, language="zh") == "wobble"
    assert named("f_c", "highcut(v(out))", language="zh") == "f_c", "a symbol"
    assert named("{braces} 100 %") == "{braces} 100 %"


@for_each(
    ("expression", "english", "chinese"),
    [
        ("pp(v(out))", "Peak-to-peak value of v(out)", "v(out) 的峰峰值"),
        ("phase_margin(v(out))", "Phase margin of v(out)", "v(out) 的相位裕度"),
        ("gain(db(v(out)), 1k)", "Gain at 1 kHz", "1 kHz 处的增益"),
        ("at(db(v(out)), 20)", "Gain at 20 Hz", "20 Hz 处的增益"),
        ("db(gain(v(out),10meg))", "Gain at 10 MHz", "10 MHz 处的增益"),
        ("rise_time(v(out))", "Rise time of v(out)", "v(out) 的上升时间"),
        ("ripple(v(out), 1m, 2m)", "Ripple of v(out)", "v(out) 的纹波"),
        ("noise_total(onoise)", "Total noise", "总噪声"),
        ("max(i(L1))", "Maximum of i(L1)", "i(L1) 的最大值"),
        ("v(out)", "Voltage at out", "节点 out 电压"),
    ],
)
def test_a_name_of_the_other_language_is_that_of_what_is_measured(
    expression: str, english: str, chinese: str
) -> None:
    assert named("midband level", expression, language="zh") == chinese
    assert named("midband level", expression) == "midband level"
    assert named("中频电平", expression) == english
    assert named("中频电平", expression, language="zh") == "中频电平"


def test_a_limit_is_told_with_its_goal() -> None:
    goal = DesignGoal(
        metric="cutoff", expression="highcut(v(out))", unit="Hz", minimum=9.8e3, maximum=10.2e3, target=1e4
    )
    assert limit_words(Translator("zh"), goal).replace("\u00a0", " ") == "−3 dB 截止频率 10 kHz ±2%"


def test_a_models_name_in_snake_case_is_shown_as_words_and_symbols_stay():
    def shown(metric: str) -> str:
        return str(name_of(DesignGoal(metric=metric, expression="v(out)", minimum=1.0, unit="V")))

    assert shown("lower_corner_frequency") == "Lower corner frequency"
    assert (shown("start_up_overshoot"), shown("DC_gain")) == ("Start up overshoot", "DC gain")
    for symbol in ("f_c", "v_out", "gain_10k", "vin_min", "Vout", "A_v"):
        assert shown(symbol) == symbol
