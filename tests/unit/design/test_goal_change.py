"""A change of goals in words: what is read, and what is left alone."""

from __future__ import annotations

import pytest

from domain.design.catalogue import understand
from domain.design.goal_change import clauses_not_read, goals_changed_by, is_repeated
from domain.simulation.goals import DesignGoal
from tests.ground.cases import for_each

FILTER = understand("RC low-pass filter with a cutoff of 1 kHz").goals
AMPLIFIER = understand("inverting amplifier, gain 10, bandwidth 100 kHz").goals
BAND = understand("band-pass filter, 1 kHz center, 200 Hz wide, gain 2").goals
BUCK = understand("buck 12 V to 5 V 2 A, 300 kHz, ripple < 1 mV, efficiency > 90 %").goals


def changes(text: str, goals: tuple[DesignGoal, ...]) -> dict[str, tuple[float | None, ...]] | None:
    found = goals_changed_by(text, goals)
    if found is None:
        return None
    return {
        new.metric: tuple(None if x is None else round(x, 9) for x in (new.minimum, new.maximum, new.target))
        for new, old in zip(found, goals, strict=True)
        if new != old
    }


@for_each(
    ("text", "goals", "expected"),
    [
        ("change the cutoff to 12 kHz", FILTER, {"cutoff": (11400.0, 12600.0, 12000.0)}),
        ("12 kHz please", FILTER, {"cutoff": (11400.0, 12600.0, 12000.0)}),
        ("截止频率改为 2kHz", FILTER, {"cutoff": (1900.0, 2100.0, 2000.0)}),
        ("cutoff between 1 and 2 kHz", FILTER, {"cutoff": (1000.0, 2000.0, None)}),
        ("纹波放宽到2mV", BUCK, {"ripple": (None, 0.002, None)}),
        ("relax the ripple to 2 mV, the load makes less noise now", BUCK, {"ripple": (None, 0.002, None)}),
        ("relax the ripple to 2 mV", BUCK, {"ripple": (None, 0.002, None)}),
        ("效率至少 92%", BUCK, {"efficiency": (0.92, None, None)}),
        ("ripple 2 mV, inductor ripple 0.5 A", BUCK, {
            "ripple": (None, 0.002, None), "inductor_ripple": (None, 0.5, None)
        }),
        ("gain 20", AMPLIFIER, {"gain": (-21.0, -19.0, -20.0)}),
        ("增益改为-20", AMPLIFIER, {"gain": (-21.0, -19.0, -20.0)}),
        ("gain to 40 dB", AMPLIFIER, {"gain": (-105.0, -95.0, -100.0)}),
        ("带宽改为200kHz", AMPLIFIER, {"bandwidth": (200e3, None, None)}),
        ("output 3.3 V", BUCK, {"vout": (3.234, 3.366, 3.3)}),
        ("the cutoff should be 12 kHz ± 2 %", FILTER, {"cutoff": (11760.0, 12240.0, 12000.0)}),
        ("make the cutoff 12 kHz within 10 %", FILTER, {"cutoff": (10800.0, 13200.0, 12000.0)}),
        ("cutoff 12kHz +/-50 Hz", FILTER, {"cutoff": (11950.0, 12050.0, 12000.0)}),
        ("截止频率改为12kHz，误差2%", FILTER, {"cutoff": (11760.0, 12240.0, 12000.0)}),
        ("output 3.3 V, tolerance 1 %, ripple 2 mV", BUCK, {
            "vout": (3.267, 3.333, 3.3), "ripple": (None, 0.002, None)
        }),
        ("gain 40 dB ± 1 dB", AMPLIFIER, {"gain": (-112.201845430, -89.125093813, -100.0)}),
        ("make it 300 Hz wide instead", BAND, {"quality": (3.0, 3.666666667, 3.333333333)}),
        ("带宽改成250Hz", BAND, {"quality": (3.6, 4.4, 4.0)}),
        ("at most 250 Hz wide", BAND, {"quality": (4.0, None, None)}),
        ("center at 2 kHz, 500 Hz wide", BAND, {
            "center": (1900.0, 2100.0, 2000.0), "quality": (3.6, 4.4, 4.0)
        }),
        ("center to 300 Hz", BAND, {"center": (285.0, 315.0, 300.0)}),
        ("bandwidth 200 kHz plus or minus 10 %", AMPLIFIER, {"bandwidth": (180e3, 220e3, 200e3)}),
        ("截止频率提高一倍", FILTER, {"cutoff": (1900.0, 2100.0, 2000.0)}),
        ("把截止频率降低一半吧", FILTER, {"cutoff": (475.0, 525.0, 500.0)}),
        ("raise the cutoff by 10 %", FILTER, {"cutoff": (1045.0, 1155.0, 1100.0)}),
        ("can you double the gain?", AMPLIFIER, {"gain": (-21.0, -19.0, -20.0)}),
        ("and half the gain please", AMPLIFIER, {"gain": (-5.25, -4.75, -5.0)}),
        ("带宽提高到3倍", AMPLIFIER, {"bandwidth": (300e3, None, None)}),
        ("输出纹波要减小一半", BUCK, {"ripple": (None, 0.0005, None)}),
        ("输出改成9V，纹波再小一半", BUCK, {"vout": (8.82, 9.18, 9.0), "ripple": (None, 0.0005, None)}),
        ("double the bandwidth, gain 20 dB", AMPLIFIER, {
            "bandwidth": (200e3, None, None)
        }),
        ("gain at 10 kHz below 0.1", BAND, None),
        ("10 kHz 处增益低于 0.1", BAND, None),
        ("center at 3 kHz with gain 4", BAND, {"center": (2850.0, 3150.0, 3000.0), "gain": (3.8, 4.2, 4.0)}),
        ("输出电压提高10%", BUCK, {"vout": (5.39, 5.61, 5.5)}),
    ],
)  # fmt: skip
def test_a_change_is_read(text: str, goals: tuple[DesignGoal, ...], expected: object) -> None:
    assert changes(text, goals) == expected


@for_each(
    ("text", "expected"),
    [
        ("谢谢，截止频率改到 2kHz，1kHz 以内波动不超过 0.1dB", ("1kHz 以内波动不超过 0.1dB",)),
        ("cutoff to 2 kHz, ripple below 0.1 dB", ("ripple below 0.1 dB",)),
        ("截止频率改成 2kHz，噪声低一点", ("噪声低一点",)),
        ("cutoff to 2 kHz, and less noise", ("and less noise",)),
        ("ripple below 0.1 dB", ()),
    ],
)
def test_the_clause_that_is_not_understood_is_told(text: str, expected: tuple[str, ...]) -> None:
    assert goals_changed_by(text, FILTER) is None
    assert clauses_not_read(text, FILTER) == expected


def test_a_quality_is_not_quoted_by_decibels_of_the_same_size() -> None:
    goals = understand("band-pass filter, 40 kHz center, 4 kHz wide, gain 20 dB").goals
    assert all("20 dB" not in goal.words or "gain" in goal.metric for goal in goals)


@for_each(("text", "words"), [
    ("3.4kHz的二阶巴特沃斯低通滤波器，单电源5V", "3.4kHz的二阶巴特沃斯低通滤波器"),
    ("請做一個１ｋＨｚ的濾波器，一階RC低通", "請做一個１ｋＨｚ的濾波器"),
    ("A low-pass, cut-off  1 kHz", "cut-off 1 kHz"),
    ("a 555 that blinks an LED twice a second from a 9 V battery", "an LED twice a second"),
])  # fmt: skip
def test_words_are_quoted_as_they_were_written(text: str, words: str) -> None:
    assert understand(text).goals[0].words == words


def test_what_the_goals_say_already_is_known() -> None:
    assert is_repeated("cutoff 1 kHz", FILTER)
    assert not is_repeated("cutoff 2 kHz", FILTER)
    assert not is_repeated("thanks", FILTER)
    assert not is_repeated("delete rc.cir", FILTER)


@for_each("text", [
    "", "thanks", "why?", "what is the cutoff at 12 kHz", "效率是多少？", "make it faster", "delete rc.cir",
    "cutoff 1 kHz", "翻倍", "the attenuation twice as high", "为什么截止频率翻倍",
    "截止频率提高一倍，噪声减半",
])  # fmt: skip
def test_what_changes_nothing_is_not_read_as_a_change(text: str) -> None:
    assert changes(text, FILTER) is None


@pytest.mark.parametrize("text", [
    "can you set the cutoff to 12 kHz", "Could you please move the cutoff to 12 kHz?",
    "能把截止频率改到 12 kHz 吗？", "可以帮我把截止频率调到12kHz吗",
])  # fmt: skip
def test_a_wish_put_as_a_question_is_a_wish(text: str) -> None:
    changed = changes(text, FILTER)
    assert changed is not None
    assert list(changed) == ["cutoff"]


@pytest.mark.parametrize("text", [
    "can you set the cutoff to 12 kHz, and what would it cost?", "can the cutoff be 12 kHz?",
    "can it do 12 kHz", "截止频率能到 12 kHz 吗",
])  # fmt: skip
def test_a_question_about_a_figure_stays_one(text: str) -> None:
    assert changes(text, FILTER) is None


@pytest.mark.parametrize(
    ("by", "to"),
    [
        ("increase the cutoff by 200 Hz", "increase the cutoff to 200 Hz"),
        ("cutoff 2 kHz higher", "cutoff 2 kHz or higher"),
        ("move the cutoff up 500 Hz", "move the cutoff up to 500 Hz"),
        ("截止频率提高 2 kHz", "截止频率提高到 2 kHz"),
        ("截止频率再高200Hz", "截止频率再高到200Hz"),
        ("把截止频率降低五百赫兹", "把截止频率降低到五百赫兹"),
    ],
)
def test_a_figure_by_which_something_changes_is_not_the_goal(by: str, to: str) -> None:
    assert changes(by, FILTER) is None
    assert changes(to, FILTER)


@pytest.mark.parametrize("text", ["input 24 V", "buck 24 V to 5 V 2 A", "ripple 2 mV at 1 MHz", "2 V"])
def test_half_of_a_sentence_is_not_carried_out(text: str) -> None:
    assert changes(text, BUCK) is None


def test_a_loss_below_zero_keeps_its_sign() -> None:
    loss = DesignGoal(metric="attenuation", expression="x", unit="dB", maximum=-40.0)
    assert changes("attenuation 60 dB", (loss,)) == {"attenuation": (None, -60.0, None)}
    assert changes("attenuation at least 50 dB", (loss,)) == {"attenuation": (None, -50.0, None)}


@pytest.mark.parametrize(
    ("asked", "text", "expected"),
    [
        ((-1.0, 1.0, 0.0), "gain 6 dB", (5.0, 7.0, 6.0)),
        ((-1.0, 1.0, None), "gain 6 dB", (5.0, 7.0, None)),
        ((19.0, 21.0, 20.0), "gain -6 dB", (-7.0, -5.0, -6.0)),
        ((19.0, 21.0, 20.0), "gain 40 dB", (39.0, 41.0, 40.0)),
    ],
)
def test_a_gain_in_decibels_keeps_its_width_around_any_figure(
    asked: tuple[float | None, ...], text: str, expected: tuple[float | None, ...]
) -> None:
    minimum, maximum, target = asked
    gain = DesignGoal(
        metric="passband_gain", expression="x", unit="dB", minimum=minimum, maximum=maximum, target=target
    )
    assert changes(text, (gain,)) == {"passband_gain": expected}


def test_a_gain_that_is_judged_in_decibels_is_changed_in_decibels() -> None:
    gain = DesignGoal(
        metric="gain", expression="gain(db(v(out)), 1k)", unit="dB", minimum=39, maximum=41, target=40
    )
    assert changes("make the gain 26 dB", (gain,)) == {"gain": (25.0, 27.0, 26.0)}


@pytest.mark.parametrize(
    ("request_text", "text", "decibels"),
    [
        ("Active low-pass at 120 Hz, 24 dB/octave", "lower it to 80 Hz and give it a gain of 2", 6.0206),
        ("Active low-pass at 120 Hz, 24 dB/octave, gain 2", "gain of 4", 12.0412),
        ("Active low-pass at 120 Hz, 24 dB/octave, gain 6 dB", "make the gain 3", 3.0),
    ],
)
def test_a_gain_without_a_unit_is_a_factor(request_text: str, text: str, decibels: float) -> None:
    changed = goals_changed_by(text, understand(request_text).goals)
    assert changed is not None
    gain = next(each for each in changed if each.metric == "passband_gain")
    assert gain.target == pytest.approx(decibels, abs=1e-3)
