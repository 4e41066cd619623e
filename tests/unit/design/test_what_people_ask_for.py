"""Requests as people put them who were shown no examples: what they say of figures, and what they imply."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from itertools import product

import pytest

from domain.design.catalogue import propose, understand
from shared.errors import CircuitError
from tests.ground.cases import for_each


@for_each(
    ("text", "family", "figures"),
    [
        # a gain by two voltages, a transimpedance by a current and a voltage
        ("Would you flip and amplify a 100mV signal to 2V for me? Bandwidth at least 20kHz, ±15V rails.",
         "inverting_amplifier", {"gain": 20, "bandwidth_hz": 20e3, "supply_v": 15}),
        ("0-50 mV from a shunt and my MCU wants 0 to 3.3V, non-inverting stage",
         "non_inverting_amplifier", {"gain": 66}),
        ("three op-amp in-amp for a load cell: 20mV full scale should become 4V, bridge is fed from 5V",
         "instrumentation_amplifier", {"gain": 200}),
        ("仪表放大器，称重传感器满量程10mV，要放大到3V，共模抑制比100dB以上",
         "instrumentation_amplifier", {"gain": 300}),
        ("photodiode amp. 10uA max gives 2.5V out, diode capacitance 50pF, need min. 100kHz bandwidth",
         "transimpedance_amplifier", {"transimpedance_ohm": 250e3, "bandwidth_hz": 100e3}),
        ("采样电阻10毫欧，电流最大5A，两端的压差用差分放大电路放大40倍",
         "difference_amplifier", {"gain": 40}),
        # voltages of supplies
        ("Car battery 8-16V in, steady 12 V 1 A out, a SEPIC I guess? 300k switching",
         "sepic", {"vin_lowest": 8, "vin_highest": 16, "vout": 12, "fsw": 300e3}),
        ("汽车电瓶电压6~16V波动，输出固定12V不反相，1.5A",
         "sepic", {"vin_lowest": 6, "vout": 12}),
        ("车载12V（9-16V）给USB供电，5V 2.4A",
         "buck", {"vin_highest": 16, "vout": 5, "iout": 2.4}),
        ("单节锂电（3~4.2V）升到5V 1A，做个小充电宝",
         "boost", {"vin_lowest": 3, "vout": 5, "iout": 1}),
        ("正5V变负5V，300mA，用带电感的那种",
         "buck_boost", {"vin": 5, "vout": 5}),
        ("I've only got a +12V wall wart and want -12V at 150 mA. Inverting switcher",
         "buck_boost", {"vin": 12, "vout": 12}),
        ("反激电源，市电整流后大概310V直流进，隔离输出12V/1.5A，开关频率65k",
         "flyback", {"vin": 310, "vout": 12}),
        ("isolated power supply 24 V to 5 V, 1 A",
         "flyback", {"vin": 24, "vout": 5}),
        ("12VAC 50Hz transformer. Need a bridge rectifier and smoothing cap, 500mA load, ripple below 1.5V",
         "rectifier", {}),
        # what is not to be exceeded
        ("bring 24V down to 3.3V with two resistors for an ADC pin, must not draw more than 1mA",
         "voltage_divider", {"vin": 24, "vout": 3.3}),
        # two frequencies of ringing tell the capacitance of a node
        ("The switch node rings at 120MHz; with 330pF added to ground it drops to 60 MHz. What RC snubber?",
         "rc_snubber", {"node_farad": 110e-12, "ring_hz": 120e6}),
        ("开关节点振铃约80MHz，并上470pF后降到40MHz，RC吸收",
         "rc_snubber", {"node_farad": 470e-12 / 3}),
        # described, not named
        ("Long tailed pair with npn's, ±12V, tail 2 mA",
         "bjt_differential_pair", {"tail_a": 2e-3}),
        ("translate I2C between 3.3V and 5V, both directions, 400kHz",
         "bidirectional_level_shifter", {"low_v": 3.3, "high_v": 5, "clock_hz": 400e3}),
        ("Mix three line inputs into one output",
         "summing_amplifier", {}),
        ("NMOS common-source amplifier, 1.8V supply, gain 5",
         "common_source", {"supply_v": 1.8}),
        ("L match from 50 ohms to 200 ohms at 14.2MHz, I don't mind if it's low pass or high pass",
         "matching_network", {}),
    ],
)  # fmt: skip
def test_a_request_is_taken_as_it_was_meant(text: str, family: str, figures: Mapping[str, float]) -> None:
    intent = understand(text)

    assert intent.family == family
    for name, value in figures.items():
        assert intent.parameters[name] == pytest.approx(value, rel=1e-3), name


@for_each(
    ("text", "reason"),
    [
        ("PMOS电流镜，参考电流20uA，VDD=3.3V", "NMOS"),
        ("220V AC mains to 5 V, 1 A", "mains"),
        ("手机充电器，5V 2A", "charger"),
    ],
)
def test_what_cannot_be_designed_is_refused_by_its_name(text: str, reason: str) -> None:
    with pytest.raises(CircuitError) as refused:
        understand(text)
    assert reason in str(refused.value.message)


@pytest.mark.parametrize(
    "kind", ["common-source amplifier", "common-gate amplifier", "MOS cascode amplifier"]
)
def test_any_gain_on_a_low_supply_is_designed_or_refused(kind: str) -> None:
    designed = 0
    for supply, gain, load in product((1.8, 2.5, 3.3), (1.5, 2, 5, 12, 40), ("", ", load 1 kohm")):
        with contextlib.suppress(CircuitError):
            designed += bool(
                propose(understand(f"{kind}, gain {gain}, {supply} V supply{load}"), str).netlist
            )
    assert designed >= 8
