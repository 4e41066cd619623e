"""What sentences mean: family, parameters, goals; and what is refused, with which words."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from application.workflow.goal_readers import understand_built_in
from domain.design.catalogue import FAMILIES, choose_family, understand
from domain.design.designer import Proposal
from domain.design.engine.conversion import is_bare_conversion
from domain.design.sentence import LONGEST_REQUEST, read_sentence
from shared.errors import CircuitError
from tests.ground.cases import for_each


def propose(text: str) -> Proposal:
    intent = understand(text)
    return FAMILIES[intent.family].propose(intent, str)


FIRST, SALLEN, BUCK = "first_order", "sallen_key", "buck"

UNDERSTOOD = [
    # how far the pass band may stand above its level
    ("四阶巴特沃斯低通滤波器，截止频率10kHz，通带峰值小于0.1dB", SALLEN, {"order": 4, "peaking_db": 0.1}),
    ("设计一个10kHz低通滤波器，通带峰值小于0.1dB", SALLEN, {"peaking_db": 0.1, "attenuation_db": None}),
    ("lowpass 10 kHz, peaking below 0.1 dB", SALLEN, {"response": "butterworth", "peaking_db": 0.1}),
    (
        "lowpass 10 kHz, at least 40 dB at 40 kHz, no more than 0.1 dB of peaking",
        SALLEN,
        {"peaking_db": 0.1, "attenuation_db": 40, "attenuation_hz": 40e3},
    ),
    (
        "四阶切比雪夫低通，10kHz，通带峰值小于0.5dB",
        SALLEN,
        {"ripple_db": 0.5, "ripple_is_stated": True, "peaking_db": None},
    ),
    ("四阶巴特沃斯低通，截止频率10kHz，通带纹波小于0.1dB", SALLEN, {"ripple_db": 0.0, "peaking_db": 0.1}),
    ("RC low-pass 1 kHz, peaking below 0.1 dB", FIRST, {"cutoff_hz": 1000}),
    # a Chinese number right behind a unit
    ("10kHz四阶巴特沃斯低通", SALLEN, {"order": 4, "stated_hz": 10e3}),
    # a converter by what it does, not by name
    ("3.3V/1A from a 24 V rail", BUCK, {"vin": 24, "vout": 3.3, "iout": 1}),
    ("24V供电，需要5V/2A", BUCK, {"vin": 24, "vout": 5, "iout": 2}),
    ("把36V的母线电压降到15V，功率30W", BUCK, {"vin": 36, "vout": 15, "iout": 2}),
    ("make a 12-to-5 volt buck converter for 3 amps", BUCK, {"vin": 12, "vout": 5, "iout": 3}),
    (
        "12 V car battery (9 to 16 V), I need 5 V at 2.5 A; buck converter",
        BUCK,
        {"vin": 12, "vin_lowest": 9, "vin_highest": 16, "vout": 5, "iout": 2.5},
    ),
    ("9-36V input buck 5V 3A", BUCK, {"vin_lowest": 9, "vin_highest": 36, "vout": 5, "iout": 3}),
    (
        "a 5V 1A output from 12V input with inductor ripple current of 0.3 A",
        BUCK,
        {"iout": 1, "inductor_ripple_a": 0.3, "vout": 5},
    ),
    ("BUCK，24V转5V，4A，电感电流纹波率0.4", BUCK, {"inductor_ripple_a": 1.6, "iout": 4}),
    ("buck Vin=12 Vout=5 Iout=2 fsw=300k ripple=30m", BUCK, {"ripple_v": 0.03, "ripple_is_stated": True}),
    ("USB charger: 12V to 5V 2.1A buck", BUCK, {"iout": 2.1}),
    # a band is given by its ends
    (
        "低通：通带0~3.4kHz，8kHz以上衰减40dB以上，巴特沃斯",
        SALLEN,
        {"wanted_hz": 3400, "attenuation_hz": 8000},
    ),
    (
        "low-pass, pass band 0-3.4 kHz with less than 0.5 dB ripple, at least 50 dB above 10 kHz",
        SALLEN,
        {"stated_hz": 3400, "is_ripple_edge": True, "response": "chebyshev"},
    ),
    (
        "high-pass, stop band 0-100 Hz at least 40 dB, cutoff 1 kHz",
        SALLEN,
        {"attenuation_hz": 100, "wanted_hz": 1000},
    ),
    ("RC low pass with cutoff between 900 Hz and 1.1 kHz", FIRST, {"cutoff_hz": 1000}),
    ("最大平坦低通，五阶，3.4k", SALLEN, {"order": 5, "wanted_hz": 3400}),
    # the RL of the kind of circuit is no load resistance
    ("RL低通 10欧 1mH", FIRST, {"parts": "rl", "resistor_ohm": 10, "load_ohm": None}),
    ("RL high-pass, 75 ohm, cutoff 1 MHz", FIRST, {"resistor_ohm": 75, "load_ohm": None}),
    ("RL low-pass 1 kHz, RL = 10k", FIRST, {"load_ohm": 10e3, "resistor_ohm": None}),
    # first order
    ("设计一个一阶RC低通滤波器，截止频率1kHz", FIRST, {"kind": "lowpass", "parts": "rc", "cutoff_hz": 1e3}),
    ("帮我做个RC高通，fc=160Hz", FIRST, {"kind": "highpass", "parts": "rc", "cutoff_hz": 160}),
    (
        "请设计RL低通滤波器，截止频率为10 kHz，电阻1kΩ",
        FIRST,
        {"parts": "rl", "cutoff_hz": 1e4, "resistor_ohm": 1e3},
    ),
    ("RL high pass, L = 10 mH, cutoff 5 kHz", FIRST, {"parts": "rl", "reactance": 0.01, "cutoff_hz": 5e3}),
    ("first order low pass, cut-off frequency 2.2 MHz, 50 ohm source", FIRST, {"source_ohm": 50.0}),
    (
        "passive high-pass, corner frequency of 20 Hz driving a 47k load",
        FIRST,
        {"load_ohm": 47e3, "cutoff_hz": 20},
    ),
    (
        "RC low-pass, 1 kHz, source resistance 10.6 ohm, load 10 kohm",
        FIRST,
        {"source_ohm": 10.6, "load_ohm": 1e4},
    ),
    ("simple low-pass filter, fc 100k, C=1nF", FIRST, {"cutoff_hz": 1e5, "reactance": 1e-9}),
    ("时间常数为10毫秒的RC低通电路", FIRST, {"cutoff_hz": pytest.approx(15.9155, rel=1e-4)}),
    (
        "RC高通滤波器，R=1MΩ，C=100nF",
        FIRST,
        {"kind": "highpass", "cutoff_hz": pytest.approx(1.59155, rel=1e-4)},
    ),
    ("一阶低通滤波器，转折频率一千赫兹，电阻四点七千欧", FIRST, {"cutoff_hz": 1e3, "resistor_ohm": 4700}),
    ("RC low-pass filter 1 kHz with resistor between 1k and 5k", FIRST, {"resistor_limits": (1e3, 5e3)}),
    ("RC低通 1kHz 电容不超过10nF", FIRST, {"reactance_limits": (10e-12, 10e-9)}),
    ("用E24电阻做一个RC低通，10kHz", FIRST, {"resistor_series": "E24", "cutoff_hz": 1e4}),
    ("RC lowpass 1kHz no op amp", FIRST, {"cutoff_hz": 1e3}),
    ("10kHz 低通滤波器", FIRST, {"kind": "lowpass", "parts": "rc", "cutoff_hz": 1e4}),
    ("HPF 100 Hz", FIRST, {"kind": "highpass", "cutoff_hz": 100}),
    ("高通滤波器，100Hz处衰减3dB", FIRST, {"kind": "highpass", "cutoff_hz": 100}),
    ("RC low-pass at 10k", FIRST, {"cutoff_hz": 1e4}),
    ("0.1Hz RC low pass", FIRST, {"cutoff_hz": 0.1}),
    ("RC low pass 1.555 kHz", FIRST, {"cutoff_hz": 1555}),
    # Sallen-Key
    (
        "设计一个截止频率为1kHz的二阶巴特沃斯低通滤波器",
        SALLEN,
        {"kind": "lowpass", "response": "butterworth", "order": 2, "cutoff_hz": 1e3, "gain": 1.0},
    ),
    (
        "4th order Sallen-Key high-pass at 250 Hz, Chebyshev 0.5 dB ripple",
        SALLEN,
        {"kind": "highpass", "response": "chebyshev", "order": 4, "ripple_db": 0.5, "wanted_hz": 250},
    ),
    ("三阶贝塞尔低通，截止 20千赫", SALLEN, {"response": "bessel", "order": 3, "cutoff_hz": 2e4}),
    ("五阶巴特沃斯高通，截止频率50Hz，通带增益4倍", SALLEN, {"kind": "highpass", "order": 5, "gain": 4.0}),
    ("截止频率1kHz，增益为20dB的二阶低通", SALLEN, {"gain": pytest.approx(10.0), "order": 2}),
    ("做一个放大倍数为2的二阶低通滤波器，截止频率1kHz", SALLEN, {"gain": 2.0}),
    (
        "unity gain Sallen-Key low pass, 3 kHz, fourth order, op-amp GBW 1 MHz",
        SALLEN,
        {"cutoff_hz": 3e3, "order": 4, "gbw_hz": 1e6, "gain": 1.0},
    ),
    ("二阶有源高通，截止频率300赫兹，增益带宽积3MHz，±12V供电", SALLEN, {"gbw_hz": 3e6, "supply_v": 12}),
    ("anti-aliasing low-pass filter, 8th order, 20 kHz", SALLEN, {"order": 8, "response": "butterworth"}),
    ("low-pass 1kHz, at least 40 dB attenuation at 10 kHz", SALLEN, {"order": 2, "attenuation_hz": 1e4}),
    ("low-pass at 1 kHz, 60 dB at 5 kHz", SALLEN, {"order": 5, "wanted_hz": 1e3, "attenuation_db": 60}),
    ("低通滤波器，截止频率1kHz，10kHz处衰减不少于40dB", SALLEN, {"order": 2, "attenuation_db": 40}),
    ("有源低通，截止频率2kHz，在20kHz处衰减至少60dB", SALLEN, {"order": 3, "attenuation_hz": 2e4}),
    ("high-pass, 1 kHz cutoff, 60 dB at 100 Hz", SALLEN, {"kind": "highpass", "order": 3}),
    (
        "Butterworth lowpass with -3 dB frequency of 4 kHz and more than 50 dB rejection at 16 kHz",
        SALLEN,
        {"wanted_hz": 4e3, "attenuation_db": 50, "attenuation_hz": 16e3, "order": 5},
    ),
    (
        "Design a low pass filter that passes 1 kHz and attenuates 10 kHz by 40 dB",
        SALLEN,
        {"wanted_hz": 1e3, "attenuation_hz": 1e4},
    ),
    ("low-pass 2nd order, Q = 0.9, f0 = 1.5 kHz", SALLEN, {"q": 0.9, "cutoff_hz": 1500, "order": 2}),
    ("二阶高通 Q值为2 截止频率 5kHz", SALLEN, {"q": 2.0, "kind": "highpass"}),
    ("10 kHz second-order low-pass, damping ratio 0.5", SALLEN, {"q": 1.0}),
    ("Bessel 低通，4阶，-3dB带宽 30kHz", SALLEN, {"response": "bessel", "order": 4, "cutoff_hz": 3e4}),
    ("二阶切比雪夫高通 纹波1dB 截止频率 10kHz -3dB", SALLEN, {"wanted_hz": 1e4, "ripple_db": 1.0}),
    (
        "5th order Chebyshev low-pass, passband edge 10 kHz, ripple 1 dB",
        SALLEN,
        {"is_ripple_edge": True, "stated_hz": 1e4, "wanted_hz": pytest.approx(10338, rel=2e-3)},
    ),
    (
        "巴特沃斯低通：通带截止频率1kHz，通带最大衰减1dB，阻带截止频率4kHz，阻带最小衰减40dB",
        SALLEN,
        {"loss_db": 1.0, "attenuation_db": 40.0, "attenuation_hz": 4e3, "order": 4},
    ),
    ("butterworth low-pass fp=1kHz Ap=1dB fs=4kHz As=40dB", SALLEN, {"loss_db": 1.0, "attenuation_db": 40.0}),
    (
        "Design me a low pass. Cutoff = 1,500 Hz. Butterworth. Order = 3.",
        SALLEN,
        {"order": 3, "cutoff_hz": 1500},
    ),
    ("sallen key hpf 2nd order 80hz", SALLEN, {"kind": "highpass", "order": 2, "cutoff_hz": 80}),
    ("2 pole lowpass 1kHz", SALLEN, {"order": 2}),
    ("一个截止频率为 １ｋＨｚ 的二阶低通滤波器", SALLEN, {"order": 2, "cutoff_hz": 1e3}),
    ("24dB/octave lowpass at 1 kHz", SALLEN, {"order": 4, "wanted_hz": 1e3, "attenuation_db": None}),
    ("低通滤波器，截止频率1kHz，每十倍频40dB", SALLEN, {"order": 2, "attenuation_db": None}),
    ("-20 dB/decade low-pass 1 kHz", FIRST, {"cutoff_hz": 1e3}),
    ("12dB/倍频程 高通 80Hz", SALLEN, {"order": 2, "kind": "highpass"}),
    # buck
    ("buck regulator 12V in / 5V out / 2A", BUCK, {"vin": 12, "vout": 5}),
    ("buck: in: 12V, out: 5V, 2A", BUCK, {"vin": 12, "vout": 5}),
    ("降压 24转5 2A", BUCK, {"vin": 24, "vout": 5}),
    (
        "输入电压 12V±10%，输出 5V/2A 的降压电路",
        BUCK,
        {
            "vin": 12,
            "vin_lowest": pytest.approx(10.8),
            "vin_highest": pytest.approx(13.2),
            "tolerance": 0.02,
        },
    ),
    (
        "做一个 12V 转 5V、2A 的降压电路，开关频率 300kHz，纹波小于 30mV",
        BUCK,
        {"vin": 12, "vout": 5, "iout": 2, "fsw": 3e5, "ripple_v": 0.03},
    ),
    (
        "buck: 24 -> 3.3 V @ 3 A, 500kHz, ripple < 1%",
        BUCK,
        {"vin": 24, "vout": 3.3, "ripple_v": pytest.approx(0.033)},
    ),
    ("buck converter, 12 V in, 5 V out, 2 A", BUCK, {"vin": 12, "vout": 5}),
    ("12 V input 5 V output 2 A buck", BUCK, {"vin": 12, "vout": 5}),
    ("buck with output 5V, input 12V, 2A", BUCK, {"vin": 12, "vout": 5}),
    ("降压 5V 1A 输入12V 纹波20毫伏", BUCK, {"vin": 12, "vout": 5, "ripple_v": 0.02}),
    ("12v->5v 2a buck 500khz", BUCK, {"vin": 12, "vout": 5, "iout": 2, "fsw": 5e5}),
    ("把24V降到5V，最大电流1.5A", BUCK, {"vin": 24, "vout": 5, "iout": 1.5}),
    ("12V to 5V 2A", BUCK, {"vin": 12, "vout": 5, "iout": 2}),
    ("buck converter 9-15 V input, 5V output, 1 A", BUCK, {"vin": 12, "vin_lowest": 9, "vin_highest": 15}),
    ("降压电路，输入9V到15V，输出5V，1A", BUCK, {"vin_lowest": 9, "vin_highest": 15, "vout": 5}),
    ("buck 20~30V to 12V 3A 100k", BUCK, {"vin": 25, "vin_highest": 30, "vout": 12}),
    ("step-down 48V to 5V, 10W, 150 kHz, ripple 2%", BUCK, {"iout": 2.0, "ripple_v": pytest.approx(0.1)}),
    ("buck 12V to 5V, load 2.5 ohm", BUCK, {"iout": 2.0}),
    (
        "同步降压 12V转1.8V 10A 500kHz 效率大于90%",
        BUCK,
        {"rectifier": "synchronous", "efficiency": pytest.approx(0.9), "iout": 10},
    ),
    ("DC-DC 5V to 1.2V 3A synchronous 1MHz", BUCK, {"rectifier": "synchronous", "vout": 1.2}),
    (
        "非同步BUCK，Vin=20V，Vout=8V，Iout=0.8A，fs=250kHz，电感电流纹波40%",
        BUCK,
        {"rectifier": "diode", "vin": 20, "fsw": 250e3, "inductor_ripple_a": pytest.approx(0.32)},
    ),
    (
        "I want 3V3 at 500mA from a 5 V supply using a buck regulator",
        BUCK,
        {"vin": 5, "vout": 3.3, "iout": 0.5},
    ),
    ("降压，输入电压12V，输出电压5V±1%，输出电流2A", BUCK, {"tolerance": 0.01}),
    ("Buck: Vin 12V, Vout 5V, Iout 2A, f = 400kHz, ripple = 20mVpp, L = 22uH", BUCK, {"inductance": 22e-6}),
    ("输入12伏，输出5伏，电流500毫安，电感纹波30%的降压变换器", BUCK, {"iout": 0.5, "vin": 12}),
    ("active low-pass, 5 kHz, sampled at 96 kHz", SALLEN, {"cutoff_hz": 5e3}),
    ("有源低通滤波器，20kHz，采样频率96kHz", SALLEN, {"cutoff_hz": 20e3}),
]


@for_each(("text", "family", "expected"), UNDERSTOOD)
def test_sentence_is_understood(text, family, expected):
    intent = understand(text)
    assert intent.family == family
    assert {name: intent.parameters[name] for name in expected} == expected
    assert intent.goals
    assert len({goal.metric for goal in intent.goals}) == len(intent.goals)


UNKNOWN = [
    "design a VCO at 10 MHz",
    "PLL",
    "hello",
    "你好",
    "",
    "switched-capacitor low-pass 1 kHz 2nd order",
    "LC low-pass 1 MHz",
    "RLC 低通 1kHz",
    "third-order elliptic active low-pass 1 kHz",
    "椭圆低通滤波器 1kHz",
    "second-order RC low-pass 1 kHz",
    "无源二阶低通 1kHz",
    "all-pass 1 kHz",
    "Dickson charge pump 5V to 10V",
    "LLC converter 24V to 5V 2A",
    "阻容降压 220V转5V",
    "gyrator low-pass 1kHz",
    "low-pass and high-pass 1kHz",
    "FIR low-pass filter 1 kHz",
    "buck LED driver 12 V to 3 V constant current 1 A",
    "inverse Chebyshev low-pass, order 4, 1 kHz",
    "integrator with RC 1 ms",
]


@for_each("text", UNKNOWN)
def test_unknown_circuits_are_refused_with_what_is_known(text):
    with pytest.raises(CircuitError) as caught:
        understand(text)
    assert caught.value.error_type == "unknown_circuit"
    assert caught.value.exit_code == 1
    advice = str(caught.value.advice)
    assert "Sallen-Key" in advice
    assert all(str(family.name) in advice for family in FAMILIES.values())
    language = read_sentence(text).language
    assert sum(family.examples[language] in advice for family in FAMILIES.values()) == 3


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("二阶低通滤波器", "cut-off"),
        ("RC high-pass", "cut-off"),
        ("anti-aliasing filter for a 48 kHz ADC", "cut-off"),
        ("抗混叠滤波器，采样率48kHz", "cut-off"),
        ("buck converter 5 V output 2 A", "input voltage"),
        ("降压电路，2A", "output voltage"),
        ("low-pass 1 kHz with 40 dB attenuation", "no frequency for it"),
    ],
)
def test_missing_values_are_asked_for_by_name(text, named):
    with pytest.raises(CircuitError, match=named) as caught:
        understand(text)
    assert caught.value.error_type == "missing_goal"
    assert "for example" in str(caught.value.advice)


@for_each(
    "text",
    [
        "buck 5V to 12V 1A",
        "降压电路 5V 转 5V 1A",
        "buck -12 V to 5 V 1 A",
        "buck 12 V to 5 V, 2 A, 1 GHz",
        "buck 12V to 11.9V 2A",
        "buck 48 V to 0.5 V, 1 A, 5 MHz",
        "buck 12V to 5V 2A efficiency 110%",
        "Butterworth low-pass, order 20, 1 kHz",
        "0th-order low-pass 1 kHz, Butterworth",
        "低通滤波器，截止频率-1kHz",
        "low-pass cutoff 0 Hz",
        "Sallen-Key low-pass 50 MHz, op-amp GBW 10 MHz",
        "Sallen-Key low-pass 500 MHz",
        "RC low-pass, cutoff 1 kHz, at least 40 dB attenuation at 10 kHz",
        "RC filter 1 kHz gain 5",
        "一阶低通 R=1k C=1uF 截止频率1kHz",
        "Butterworth low-pass, 1 kHz, order 2, at least 60 dB at 5 kHz",
        "low-pass, cut-off 10 kHz, at least 40 dB at 5 kHz, Butterworth",
        "low-pass 1 kHz, at least 100 dB attenuation at 1.1 kHz",
        "4th-order low-pass, Q = 2, 1 kHz",
        "2nd-order low-pass, Q = 100, 1 kHz",
        "Sallen-Key low-pass 1 kHz gain 0.5",
        "Chebyshev low-pass 1 kHz order 4 ripple 12 dB",
        "Butterworth Chebyshev low-pass 1 kHz",
        "RC low-pass 1 kHz tolerance 200%",
        "RC low-pass, 1 kHz, R = -5 ohm",
    ],
)
def test_impossible_demands_are_refused(text):
    with pytest.raises(CircuitError) as caught:
        propose(text)
    assert caught.value.error_type == "impossible_goal"
    assert str(caught.value)
    assert str(caught.value.advice)


@for_each(
    "text",
    [
        "boost converter 5 V to " + "9" * 400 + " V, 1 A",
        "RC low-pass of order " + "9" * 400 + ", cutoff 1 kHz",
        "common-gate amplifier, gain " + "9" * 400 + " dB, supply 12 V",
        "共栅放大电路，增益5到" + "9" * 400 + "dB，电源12V",
    ],
)
def test_a_number_of_hundreds_of_digits_is_refused(text: str):
    with pytest.raises(CircuitError):
        understand(text)


def test_both_ends_of_a_range_are_read_with_commas_and_powers_of_ten():
    for text in ("between 1,000 and 2,000 kHz", "from 1 x 10^6 to 2 x 10^6 Hz"):
        [band] = read_sentence(text).mentions
        assert (band.value, band.upper) == (1e6, 2e6)


def test_a_text_too_long_to_be_a_request_is_refused_with_what_is_known():
    with pytest.raises(CircuitError) as caught:
        understand("9" * (LONGEST_REQUEST + 1))
    assert caught.value.error_type == "unknown_circuit"
    assert str(LONGEST_REQUEST) in str(caught.value)
    assert "buck" in str(caught.value.advice)


def test_defaults_are_said_and_not_stated():
    intent = understand("10kHz 低通滤波器")
    said = " ".join(map(str, intent.assumptions))
    assert "first-order RC" in said
    assert "5 %" in said
    stated = {goal.metric: goal.stated for goal in understand("buck 12V to 5V 2A").goals}
    assert stated == {"vout": True, "ripple": False, "inductor_ripple": False}


def test_numbers_that_had_no_effect_are_said():
    intent = understand("RC low-pass 1 kHz, 3 W")
    assert any("3 W" in str(note) for note in intent.assumptions)


def test_tolerance_of_the_sentence_bounds_the_goal():
    (goal,) = understand("RC低通 截止频率 5KHZ 误差±1%").goals
    assert (goal.minimum, goal.maximum, goal.target) == (pytest.approx(4950), pytest.approx(5050), 5000)
    (goal,) = understand("RC low-pass 1 kHz ± 20 Hz").goals
    assert (goal.minimum, goal.maximum) == (pytest.approx(980), pytest.approx(1020))


@for_each("text", [t for t, _, _ in UNDERSTOOD])
def test_intent_survives_json(text):
    """The intent is stored between rounds: plain JSON types, and the same circuit comes back out of them."""
    intent = understand(text)
    parameters = json.loads(json.dumps(intent.parameters, allow_nan=False))
    stored = replace(intent, parameters=parameters, assumptions=())
    family = FAMILIES[intent.family]
    first, second = family.propose(intent, str), family.propose(stored, str)
    assert first == second
    assert json.loads(json.dumps(first.tuning)) == first.tuning


@given(st.text(alphabet="RCLVAHzk0123456789.-低通高截止频率阶降压输入出dB% ,QbuckSalenKy", max_size=60))
@example(".0K0")
@example("RC低通 1.5k7Hz 1e3k5")
def test_nonsense_is_refused_or_understood_but_never_a_crash(text):
    error_type = None
    try:
        propose(text)
    except CircuitError as error:
        error_type = error.error_type
    assert error_type in {None, "unknown_circuit", "missing_goal", "impossible_goal"}


@pytest.mark.parametrize("text", [text for text, _, _ in UNDERSTOOD if "peaking" in text or "峰值" in text])
def test_a_stated_peak_is_a_goal_in_the_users_words(text):
    stated = {goal.metric for goal in understand(text).goals if goal.stated}
    assert stated & {"peaking", "ripple"}


def test_no_peak_at_all_is_impossible():
    with pytest.raises(CircuitError, match="0 dB"):
        understand("四阶巴特沃斯低通滤波器，截止频率10kHz，通带峰值0dB")


@for_each(("text", "family"), [
    ("12V转3.3V", BUCK), ("12V降到5V", BUCK), ("帮我做个12V转5V的电路", BUCK), ("convert 12 V to 5 V", BUCK),
    ("5V升到12V", "boost"), ("5V to 12V", "boost"), ("5V转-5V", "buck_boost"),
])  # fmt: skip
def test_a_supply_made_of_another_is_a_converter(text: str, family: str) -> None:
    assert choose_family(read_sentence(text))[0].key == family


@for_each("text", ["220V转12V", "5V ± 5 %", "把0-10V衰减到0-2.5V", "12V 5V"])
def test_two_voltages_alone_are_not_always_one(text: str) -> None:
    assert not is_bare_conversion(read_sentence(text))


@for_each(("before", "answer", "family", "said"), [
    (["反相放大器"], "10倍", "inverting_amplifier", {"gain": 10}),
    (["hello", "an integrator"], "unity gain at 1 kHz", "integrator", {"unity_hz": 1e3}),
    (["光电二极管放大", "带宽 1 MHz"], "100k", "transimpedance_amplifier", {"transimpedance_ohm": 1e5}),
    (["hello"], "1 A", "", {}),
    (["1 kHz low-pass"], "1 A", "", {}),
])  # fmt: skip
def test_an_answer_to_what_a_request_lacks_is_read_with_it(
    before: list[str], answer: str, family: str, said: dict[str, float]
) -> None:
    if not family:
        with pytest.raises(CircuitError):
            understand_built_in(answer, before, None)
        return
    intent = understand_built_in(answer, before, None)
    assert (intent.family, said) == (family, said | {name: intent.parameters[name] for name in said})
