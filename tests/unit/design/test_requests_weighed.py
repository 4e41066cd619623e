"""Requests whose words alone do not settle which circuit is meant, weighed against known ones.

`sentences_weighed.txt` holds sentences by authors who saw the families and their quantities only, none of
them among the known requests: sentence | family and what it stated.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from domain.design.catalogue import understand
from infrastructure.persistence.known_texts import (
    FIGURES,
    KINDS,
    LANGUAGES,
    digest,
    learnt_file,
    request_texts,
)
from shared.errors import CircuitError
from tests.ground.cases import for_each
from tests.unit.design.test_sentences_by_others import in_short

_LINES = Path(__file__).with_name("sentences_weighed.txt").read_text(encoding="utf-8").splitlines()


@for_each(("sentence", "meant"), [tuple(line.rsplit(" | ", 1)) for line in _LINES])
def test_a_sentence_is_understood_as_meant(sentence: str, meant: str) -> None:
    assert in_short(sentence, request_texts()) == meant


@for_each(
    ("sentence", "family"),
    [
        ("Amplifier with gain 50", "non_inverting_amplifier"),
        ("Amplifier, gain 100, from 9 V", "non_inverting_amplifier"),
        ("放大器，增益 100，9 V 单电源", "non_inverting_amplifier"),
        ("audio amplifier gain 20 dB for an 8 ohm speaker", "non_inverting_amplifier"),
        ("amplifier with gain 100 and high CMRR for a strain gauge", "instrumentation_amplifier"),
    ],
)
def test_an_amplifier_of_which_little_is_told_is_the_usual_one(sentence: str, family: str) -> None:
    intent = understand(sentence, request_texts())
    assert intent.family == family
    assert any("not named" in str(note) for note in intent.assumptions)


def test_what_a_family_excludes_is_not_taken_for_it_by_what_was_learnt() -> None:
    intent = understand("simple NMOS constant current source, 200 uA, 10 V supply", request_texts())
    assert intent.family == "mos_current_mirror"


@for_each(
    "sentence",
    [
        "The train at 10:45 takes 3 hours and costs 55 euros",
        "My amplifier has 40 dB of gain and 3 MHz of bandwidth, why does it ring?",
        "Half-bridge resonant supply, 400 V to 24 V, 15 A",
        "Please compare a 12 V battery with a 24 V one",
        "our oscillator, the 10 MHz one, draws 5 mA from 5 V, and that is too much",
        "a charger for two lithium cells, 8.4 V and 2 A",
        "class D stage of 100 W into 4 ohm, 400 kHz",
        "这个放大器增益40dB、带宽3MHz，为什么会振铃",
        "明天3点开会，预算5000元，20个人参加",
        "给两节锂电池充电的充电器，8.4V，2A",
        "a 10-bit R-2R ladder converter, reference 2.5 V",
        "D类功放，100W，4欧，开关频率400kHz",
        "把R1从10k改成22k，再仿真1ms",
        "我家客厅有12V的灯带5米，物业说要交3A的电费",
        "半桥谐振电源，400V转24V，15A",
    ],
)
def test_what_asks_for_no_circuit_of_ours_is_refused_all_the_same(sentence: str) -> None:
    assert in_short(sentence, request_texts()) == "unknown_circuit"


@for_each(
    ("sentence", "meant"),
    [
        ("low-pass with cutoff 1 kHz and cutoff 2 kHz, RC", "missing_goal"),
        ("RC低通，截止频率1kHz，截止频率2kHz", "missing_goal"),
        ("Schmitt trigger switching at 1 V and 4 V", "schmitt_trigger lower_v=1 upper_v=4"),
        ("桥式整流，输出12V直流", "rectifier form=bridge vout=12"),
        ("Amplifier, gain 100, from 9 V", "non_inverting_amplifier gain=100 supply_v=9"),
        ("降压电路，5V转12V，1A", "impossible_goal"),
        ("divide 12 by 3.3", "unknown_circuit"),
    ],
)
def test_what_the_rules_know_of_a_sentence_is_not_lost(sentence: str, meant: str) -> None:
    assert in_short(sentence, request_texts()) == meant


@for_each(
    ("sentence", "meant"),
    [
        # which input of a comparator, which terminal of a transistor takes the signal
        ("Schmitt trigger whose sensor goes into the inverting input of an LM393: low above 3.2 V, high "
         "below 2.4 V, 5 V supply", "schmitt_trigger lower_v=2.4 supply_v=5 upper_v=3.2"),
        ("comparator w/ hysteresis, signal comes through a resistor to the + pin. high over 2.7 V, low under "
         "2.3 V, 5 V", "non_inverting_schmitt lower_v=2.3 supply_v=5 upper_v=2.7"),
        ("带回差的比较，输入从正输入端进，门限2V和3V，5V供电",
         "non_inverting_schmitt lower_v=2 supply_v=5 upper_v=3"),
        ("滞回比较，信号接负输入端，门限中心2V，回差0.5V，电源5V",
         "schmitt_trigger hysteresis_v=0.5 lower_v=1.75 supply_v=5 threshold_v=2 upper_v=2.25"),
        ("MOS管栅极交流到地，信号加到源极，漏极输出，放大6倍，电源9V", "common_gate gain=6 supply_v=9"),
        # parts that are spoken of
        ("three op-amp instrumentation amplifier, gain 200; AD620 is too dear",
         "instrumentation_amplifier gain=200"),
        ("仪表放大器，增益200，不想买AD8221", "instrumentation_amplifier gain=200"),
        ("buck 12 V to 5 V, 1 A, the SS34 got too hot last time", "buck iout=1 vin=12 vout=5"),
        # a figure that is taken back, and one that is converted
        ("buck 24 V to 5 V, load current raised from 1 A to 3 A", "buck iout=3 vin=24 vout=5"),
        ("buck 24 V to 5 V, 200 kHz; from 2 A to 4 A is to be raised",
         "buck fsw=200000 iout=4 vin=24 vout=5"),
        ("降压，24V转5V，电流从1A要提高到3A", "buck iout=3 vin=24 vout=5"),
        ("non-inverting amplifier, gain 10, no, make it 20", "non_inverting_amplifier gain=20"),
        ("同相放大器，增益10倍，不对，20倍", "non_inverting_amplifier gain=20"),
        ("升压，从5V升高到12V，1A", "boost iout=1 vin=5 vout=12"),
        ("LED driver, three red LEDs, 20 mA, the van has 11 or 14.5 V, call it 12 V",
         "led_driver color=red current_a=0.02 leds=3 load=led supply_v=12"),
        ("文氏桥，100Hz，供电±12V（总共24V）", "wien_oscillator frequency_hz=100 rails=dual supply_v=12"),
        # a bound that is denied, a common mode that is no supply, figures that are written together
        ("snubber: rings at 90 MHz, 220 pF at the node, 24 V steps, I don't want to burn more than 0.5 W",
         "rc_snubber loss_w=0.5 node_farad=2.2e-10 ring_hz=9e+07 step_v=24"),
        ("difference amplifier, gain 10, common mode up to 17 V, the op amp runs on 5 V",
         "difference_amplifier gain=10 supply_v=5"),
        ("long-tailed pair of two NPN, gain 100, tail 1mA, 12 V, CMRR80dB",
         "bjt_differential_pair gain=100 rejection_db=80 supply_v=12 tail_a=0.001"),
        ("反相放大，Vout=-50×Vin，带宽100kHz", "inverting_amplifier bandwidth_hz=100000 gain=50"),
        # which side of a threshold is high
        ("comparator with hysteresis: output LOW once the input is above 3 V and HIGH again below 2 V, 5 V",
         "schmitt_trigger lower_v=2 supply_v=5 upper_v=3"),
        ("带回差的比较：电压升过3V输出变高，跌到2V以下输出变低，5V供电",
         "non_inverting_schmitt lower_v=2 supply_v=5 upper_v=3"),
        # in traditional characters
        ("帶遲滯的比較器：電壓升過7V時輸出轉低，跌到6V時轉高，12V供電",
         "schmitt_trigger lower_v=6 supply_v=12 upper_v=7"),
        # a type that is a number, and a figure that is replaced
        ("boost from one 18650 (3.7 V) to 9 V, 400 mA", "boost iout=0.4 vin=3.7 vout=9"),
        ("MFB低通，4阶，30kHz，0.1dB，增益-1",
         "multiple_feedback gain=1 kind=lowpass order=4 ripple_db=0.1 stated_hz=30000"),
        ("PNP or NPN, I don't care: a current mirror for 5 mA, 24 V",
         "current_mirror current_a=0.005 supply_v=24"),
        ("CMOS inverter, VDD=3.3V, 50fF is too small, use 200fF, delay 800ps",
         "mos_inverter delay_s=8e-10 form=cmos load_farad=2e-13 supply_v=3.3"),
        # a list, line by line; a sentence that ends between a word and a figure
        ("buck converter\n- in 24 V\n- out 5 V\n- 2 A\n- 1% ripple",
         "buck iout=2 ripple_v=0.05 vin=24 vout=5"),
        ("High-side switch with a PMOS for a +12 V line, driven by a 3.3 V GPIO. 2 A; the gate may see 10 V",
         "high_side_switch control_v=3.3 current_a=2 gate_v=10 supply_v=12"),
        # the same voltage as input and as output
        ("I have +12 V and the old card wants -12 V at 200 mA: one inductor, one switch, one diode, 150 kHz",
         "buck_boost fsw=150000 iout=0.2 rectifier=diode vin=12 vout=12"),
        # which of two figures
        ("PLL loop filter. Icp 2 mA, PFD 2 MHz, VCO 200 MHz w/ 5 MHz/V",
         "pll_loop_filter kvco_hz=5e+06 output_hz=2e+08 pump_a=0.002 reference_hz=2e+06"),
        ("L match, 7 MHz, the amplifier has 5 ohm at its output and the antenna cable is 50 ohm",
         "matching_network frequency_hz=7e+06 load_ohm=50 source_ohm=5"),
        ("Battery pack reads up to 48V, the ESP32 pin can take 3V. Two resistors please, no more than 100 uA "
         "out of the pack", "voltage_divider current_a=0.0001 vin=48 vout=3"),
        ("Node rings at 90 MHz. I hung 220 pF from SW to ground and it went to 50 MHz. Damp it please, node "
         "swings 24V", "rc_snubber added_farad=2.2e-10 ring_hz=9e+07 slower_hz=5e+07 step_v=24"),
    ],
)  # fmt: skip
def test_what_is_said_of_a_figure_or_a_part_counts(sentence: str, meant: str) -> None:
    assert in_short(sentence, request_texts()) == meant


@for_each(
    ("sentence", "note"),
    [
        ("inverting amplifier, gain 10, the old one had an AD797",
         "The model library does not have AD797; it was not used."),
        ("仪表放大器，增益200，不想买AD8221", "AD8221 is not used, as asked."),
        ("inverting amplifier, gain 10; TL072 is too expensive", "TL072 is not used, as asked."),
    ],
)  # fmt: skip
def test_a_part_that_is_not_used_is_told(sentence: str, note: str) -> None:
    assert note in map(str, understand(sentence, request_texts()).assumptions)


@for_each("name", [KINDS, FIGURES])
def test_what_is_learnt_is_of_these_known_requests(name: str) -> None:
    """Else: ``python -m scripts.learn_requests``."""
    for language in LANGUAGES:
        with learnt_file(name, language).open(encoding="utf-8") as learnt:
            assert learnt.readline().strip() == digest()


@for_each(
    ("sentence", "family"),
    [
        ("12V to 5V 2A", "buck"),
        ("need 3.3V 1A from 24V", "buck"),
        ("12伏转5伏3安", "buck"),
        ("9V battery to 5V 50mA", "buck"),
        ("我想把10V降到3.3V给单片机供电 200mA", "buck"),
        ("5V to 12V 0.5A", "boost"),
        ("drop 9 V to 5 V, 100 mA", "ldo_regulator"),
        ("divider 12 V to 5 V, 10 mA", "voltage_divider"),
        ("低通 1kHz", "first_order"),
        ("LED 20mA 12V", "led_driver"),
        ("5 V regulator 1A", "ldo_regulator"),
        ("5V稳压 1A", "ldo_regulator"),
        ("10 kHz oscillator", "wien_oscillator"),
        ("1MHz振荡器", "colpitts_oscillator"),
    ],
)
def test_a_few_words_that_say_everything_are_a_request(sentence: str, family: str) -> None:
    """The known requests are longer."""
    assert understand(sentence, request_texts()).family == family


def test_a_charge_pump_that_was_asked_for_another_output_says_what_it_makes() -> None:
    intent = understand("charge pump doubler, 3.3 V in, 6 V out, 5 mA")

    assert any("asked for 6 V, it makes 6.6 V" in str(note) for note in intent.assumptions)


def test_what_spoke_for_a_circuit_is_told() -> None:
    filtered = understand(
        "A low-pass with a corner at 1 kHz and at least 40 dB down at 10 kHz", request_texts()
    )
    assert any(str(note).endswith("because of: low-pass.") for note in filtered.assumptions)  # not "pass"
    stage = understand("One transistor audio amplifier with a gain of 10", request_texts())
    assert any(
        str(note).endswith("because of: amplifier.") for note in stage.assumptions
    )  # not "amplifier with"
    filtered = understand("Second-order high-pass filter, 300 Hz Butterworth, gain 6 dB", request_texts())
    assert any(str(note).endswith("because of: high-pass, Butterworth.") for note in filtered.assumptions)
    filtered = understand("低通滤波器,截止频率1kHz,10kHz处至少衰减40dB", request_texts())
    assert any("because of: 低通滤波器" in str(note) for note in filtered.assumptions)  # not "低通滤"
    filtered = understand("做个传感器用的低通滤波器,截止频率2kHz,20kHz处至少衰减50dB", request_texts())
    assert any("because of: 低通滤波器" in str(note) for note in filtered.assumptions)
    wien = understand("我想做一个1kHz的正弦波振荡器,±12V供电,输出幅度2V,失真小于1%", request_texts())
    assert any(str(note).endswith("because of: 正弦波振荡器、失真.") for note in wien.assumptions)
    assert [goal.maximum for goal in wien.goals if goal.metric == "distortion"] == [0.01]  # no tolerance
    sentence = "功放偏置那块要用Vbe倍增器,两端要2.4V,流过的电流5mA,工作环境从0度到70度。"
    told = [str(note) for note in understand(sentence, request_texts()).assumptions]
    assert any("is designed because of: " in note and "倍增" in note for note in told)
    with pytest.raises(CircuitError):  # the rules alone know a power amplifier in it
        understand(sentence)
