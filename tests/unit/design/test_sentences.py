"""Quantities found in what people write."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.design.sentence import read_sentence
from tests.ground.cases import for_each


def found(text: str) -> list[tuple[float, str]]:
    return [(pytest.approx(m.value, rel=1e-9), m.dimension) for m in read_sentence(text).mentions]


@for_each(
    ("text", "value", "dimension"),
    [
        ("1kHz", 1e3, "Hz"),
        ("1 KHZ", 1e3, "Hz"),
        ("1 k Hz", 1e3, "Hz"),
        ("2.2 MHz", 2.2e6, "Hz"),
        ("1mhz", 1e6, "Hz"),
        ("5 mHz", 5e-3, "Hz"),
        ("１００ｋＨｚ", 1e5, "Hz"),
        ("20千赫", 20e3, "Hz"),
        ("2兆赫兹", 2e6, "Hz"),
        ("1万赫兹", 1e4, "Hz"),
        ("一百赫兹", 100, "Hz"),
        ("一点五千赫", 1500, "Hz"),
        ("五百千赫兹", 5e5, "Hz"),
        ("一万二千赫", 12e3, "Hz"),
        ("二十千赫", 20e3, "Hz"),
        ("六十五千赫", 65e3, "Hz"),
        ("ten kilohertz", 1e4, "Hz"),
        ("hundred kilohertz", 1e5, "Hz"),
        ("80 kc", 80e3, "Hz"),
        ("half a percent", 0.005, "%"),
        ("误差一成", 0.1, "%"),
        ("效率八成五", 0.85, "%"),
        ("half a dB", 0.5, "dB"),
        ("minus two times", -2, "x"),
        ("20 megs", 20e6, "none"),
        ("gain of around eighteen", 18, "none"),
        ("PM七十", 70, "none"),
        ("GBW4M", 4e6, "none"),
        ("seven-element ladder", 7, "none"),
        ("one point five volts", 1.5, "V"),
        ("十分之一伏", 0.1, "V"),
        ("1.5Vp", 1.5, "V"),
        ("twenty-five volts", 25, "V"),
        ("一安半", 1.5, "A"),
        ("半毫安", 0.5e-3, "A"),
        ("five mA", 5e-3, "A"),
        ("three picofarads", 3e-12, "F"),
        ("one hundred hertz", 100, "Hz"),
        ("1,500 Hz", 1500, "Hz"),
        ("1.5e3 Hz", 1500, "Hz"),
        ("1.5×10^3 Hz", 1500, "Hz"),
        ("6283.185307179586 rad/s", 1000, "Hz"),
        ("12V", 12, "V"),
        ("十二伏", 12, "V"),
        ("3V3", 3.3, "V"),
        ("30 mV", 0.03, "V"),
        ("30MV", 0.03, "V"),
        ("20mVpp", 0.02, "V"),
        ("12-volt", 12, "V"),
        ("五百毫安", 0.5, "A"),
        ("500MA", 0.5, "A"),
        ("两安", 2, "A"),
        ("50 ohm", 50, "Ohm"),
        ("4k7Ω", 4700, "Ohm"),
        ("1MΩ", 1e6, "Ohm"),
        ("10 mΩ", 0.01, "Ohm"),
        ("4.7千欧", 4700, "Ohm"),
        ("50R", 50, "Ohm"),
        ("100nF", 100e-9, "F"),
        ("4.7µF", 4.7e-6, "F"),
        ("10微法", 10e-6, "F"),
        ("22 uH", 22e-6, "H"),
        ("十毫亨", 10e-3, "H"),
        ("1 ms", 1e-3, "s"),
        ("0.5分贝", 0.5, "dB"),
        ("-40 dB", -40, "dB"),
        ("1%", 0.01, "%"),
        ("百分之五", 0.05, "%"),
        ("2 倍", 2, "x"),
        ("10W", 10, "W"),
        ("cutoff 100k", 1e5, "none"),
        ("R = 4k7", 4700, "none"),
        ("R = 1M", 1e6, "none"),
        ("Q=0.707", 0.707, "none"),
        ("截止频率-1kHz", -1e3, "Hz"),
    ],
)
def test_one_quantity(text, value, dimension):
    assert found(text) == [(value, dimension)]


@for_each(
    "text",
    ["R1 and C2 of E96", "TL072", "4th order", "二阶", "2阶", "三极点", "2nd-order", "一个", "IEC60063"],
)
def test_what_is_no_quantity(text):
    assert found(text) == []


def test_every_mention_is_where_it_says():
    sentence = read_sentence("Vin12V 到 Vout5V，2A，fsw=300kHz，纹波<1%")
    assert [sentence.text[m.start : m.end] for m in sentence.mentions] == ["12V", "5V", "2A", "300kHz", "1%"]


@for_each(
    ("text", "bound"),
    [
        ("at least 40 dB", "at_least"),
        ("no less than 40 dB", "at_least"),
        ("衰减不少于40dB", "at_least"),
        ("衰减大于40dB", "at_least"),
        ("40dB以上", "at_least"),
        (">= 40 dB", "at_least"),
        ("less than 30 mV", "at_most"),
        ("no more than 30 mV", "at_most"),
        ("不超过30mV", "at_most"),
        ("不大于30mV", "at_most"),
        ("30mV以内", "at_most"),
        ("< 30mV", "at_most"),
        ("12V -> 5V", None),
        ("30 mV", None),
    ],
)
def test_bounds(text, bound):
    assert read_sentence(text).mentions[-1].bound == bound


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("9-15 V input", 9, 15),
        ("9~15V输入", 9, 15),
        ("输入9V到15V", 9, 15),
        ("input from 9 to 15 V", 9, 15),
        ("between 1k and 5k", 1e3, 5e3),
        ("1-2 kHz", 1e3, 2e3),
    ],
)
def test_ranges(text, low, high):
    (mention,) = read_sentence(text).mentions
    assert (mention.value, mention.upper) == (low, high)


@for_each(
    ("text", "left", "right"),
    [
        ("12V转5V", 12, 5),
        ("24 -> 3.3 V", 24, 3.3),
        ("12V to 5V", 12, 5),
        ("12V降到5V", 12, 5),
        ("12-5V", 12, 5),
        ("5V to 12V", 5, 12),
        ("12Vin to 5Vout", 12, 5),
        ("把24V转换成5V", 24, 5),
        ("from 12 V down to 5 V", 12, 5),
    ],
)
def test_conversions_are_linked(text, left, right):
    sentence = read_sentence(text)
    assert [m.value for m in sentence.mentions] == [left, right]
    assert [index for index, _ in sentence.links] == [0]
    assert {m.dimension for m in sentence.mentions} == {"V"}


def test_tolerance_and_language():
    sentence = read_sentence("误差±2%")
    assert sentence.mentions[0].is_tolerance
    assert sentence.language == "zh"
    assert read_sentence("RC low-pass").language == "en"


@given(st.text(max_size=200))
def test_any_text_can_be_read(text):
    sentence = read_sentence(text)
    assert all(0 <= m.start < m.end <= len(sentence.text) for m in sentence.mentions)


@given(
    value=st.integers(1, 999),
    prefix=st.sampled_from([("", 1), ("k", 1e3), ("M", 1e6), ("千", 1e3), ("兆", 1e6)]),
    unit=st.sampled_from(["Hz", "hz", "HZ", "赫兹", "赫"]),
    gap=st.sampled_from(["", " ", "  "]),
)
def test_spelling_of_frequencies_does_not_matter(value, prefix, unit, gap):
    sign, factor = prefix
    assert found(f"截止频率为{value}{gap}{sign}{unit}的滤波器") == [(value * factor, "Hz")]
