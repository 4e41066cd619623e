"""Families that are only declared, over their whole range: met in plain ngspice at the first or second shot.

The normal run takes a seeded sample; `make torture` forty of each. A refusal counts as a failure here: every
sentence drawn is within what the families promise.
"""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from domain.design.catalogue import FAMILIES as FAMILIES_OF_DESIGNER
from tests.integration.design import bench
from tests.integration.design.conftest import Design
from tests.integration.design.driver import rounds

SAMPLE, WHOLE = 3, 40
SAMPLE_OF_PERIODIC = 1
"""Hundreds of periods take longer than a sweep."""


def _log(draw: random.Random, low: float, high: float) -> float:
    return low * (high / low) ** draw.random()


def inverting_amplifier(draw: random.Random) -> str:
    gain = _log(draw, 0.2, 500)
    bandwidth = _log(draw, 1e3, min(1e7, 6e8 / (1 + gain)))
    text = f"inverting amplifier, gain {gain:.3g}, bandwidth {bandwidth:.3g} Hz"
    if draw.random() < 0.3:
        text = f"反相放大器，增益{20:d}dB，带宽{min(bandwidth, 4e7):.3g}Hz"
    if draw.random() < 0.5:
        ohm = _log(draw, max(1e3, 2e3 / gain), 50e3)
        text += f", input resistance {ohm:.3g} ohm"
    if draw.random() < 0.3:
        text += f", ±{draw.choice([5, 9, 12, 18])} V"
    if draw.random() < 0.3:
        text += f", tolerance {draw.choice([1, 2, 10])}%"
    return text


def non_inverting_amplifier(draw: random.Random) -> str:
    gain = _log(draw, 1.01, 900)
    bandwidth = _log(draw, 1e3, min(1e7, 7e8 / gain))
    text = f"non-inverting amplifier, gain {gain:.4g}, bandwidth {bandwidth:.3g} Hz"
    if draw.random() < 0.2:
        text = f"电压跟随器，带宽{bandwidth:.3g}Hz"
    elif draw.random() < 0.3:
        text = f"同相放大器，放大倍数{gain:.4g}，带宽{bandwidth:.3g}Hz"
    if draw.random() < 0.3:
        text += f", ±{draw.choice([5, 9, 12, 18])} V"
    if draw.random() < 0.3:
        text += f", tolerance {draw.choice([1, 2, 10])}%"
    return text


def schmitt_trigger(draw: random.Random) -> str:
    supply = draw.choice([5, 9, 12, 15])
    middle = draw.choice([0.0, draw.uniform(-0.5, 0.5) * supply])
    half = _log(draw, 0.02, 0.85 * (supply - 1.3) - abs(middle))
    upper, lower = middle + half, middle - half
    texts = (
        f"Schmitt trigger, upper threshold {upper:.3f} V, lower threshold {lower:.3f} V, ±{supply} V",
        f"comparator, threshold {middle:.3f} V, hysteresis {2 * half:.3f} V, supply ±{supply} V",
        f"滞回比较器，上限阈值{upper:.3f}V，下限阈值{lower:.3f}V，电源±{supply}V",
    )
    return draw.choice(texts)


def non_inverting_schmitt(draw: random.Random) -> str:
    text = schmitt_trigger(draw).replace("Schmitt", "non-inverting Schmitt")
    return text.replace("comparator", "non-inverting comparator").replace("滞回", "同相滞回")


def boost(draw: random.Random) -> str:
    vin = draw.choice([3.3, 3.7, 5, 9, 12, 24])
    vout, iout = vin * draw.uniform(1.2, 4), _log(draw, 0.05, 3)
    text = draw.choice(["boost converter {} V to {:.3g} V, {:.3g} A", "{}V转{:.3g}V、{:.3g}A的升压电路"])
    return text.format(vin, vout, iout) + _of_converters(draw)


def buck_boost(draw: random.Random) -> str:
    vin = draw.choice([3.3, 5, 12, 24])
    vout, iout = vin * _log(draw, 0.3, 3), _log(draw, 0.05, 2)
    text = draw.choice(
        ["inverting buck-boost {} V to -{:.3g} V, {:.3g} A", "升降压电路，{}V转-{:.3g}V，{:.3g}A"]
    )
    return text.format(vin, vout, iout) + _of_converters(draw)


def sepic(draw: random.Random) -> str:
    vin = draw.choice([3.3, 5, 12, 24])
    vout, iout = vin * _log(draw, 0.3, 3), _log(draw, 0.05, 2)
    text = draw.choice(["SEPIC converter {} V to {:.3g} V, {:.3g} A", "SEPIC变换器，{}V转{:.3g}V，{:.3g}A"])
    return text.format(vin, vout, iout) + _of_converters(draw, synchronous=False)


def cuk(draw: random.Random) -> str:
    vin = draw.choice([3.3, 5, 12, 24])
    vout, iout = vin * _log(draw, 0.3, 3), _log(draw, 0.05, 2)
    text = draw.choice(["Cuk converter {} V to -{:.3g} V, {:.3g} A", "Cuk变换器，{}V转-{:.3g}V，{:.3g}A"])
    return text.format(vin, vout, iout) + _of_converters(draw, synchronous=False)


def flyback(draw: random.Random) -> str:
    vin, vout, iout = draw.choice([5, 12, 24, 48]), draw.choice([3.3, 5, 9, 12, 24]), _log(draw, 0.1, 4)
    text = draw.choice(["flyback converter {} V to {} V, {:.3g} A", "反激变换器，{}V转{}V，{:.3g}A"])
    return text.format(vin, vout, iout) + _of_converters(draw, synchronous=False)


def forward(draw: random.Random) -> str:
    vin, vout, iout = draw.choice([12, 24, 48]), draw.choice([3.3, 5, 9, 12, 24]), _log(draw, 0.3, 8)
    text = draw.choice(["forward converter {} V to {} V, {:.3g} A", "正激变换器，{}V转{}V，{:.3g}A"])
    return text.format(vin, vout, iout) + _of_converters(draw, synchronous=False)


def _of_converters(draw: random.Random, *, synchronous: bool = True) -> str:
    text = f", {draw.choice([100, 200, 300, 500])} kHz"
    if synchronous and draw.random() < 0.3:
        text += ", synchronous"
    if draw.random() < 0.4:
        text += f", ripple {draw.choice([0.5, 1, 2])}%"
    return text


def common_emitter(draw: random.Random) -> str:
    supply = draw.choice([5, 9, 12, 15, 24])
    gain = _log(draw, 2, 7 * supply)
    text = draw.choice(
        ["common-emitter amplifier, gain {:.3g}, {} V supply", "增益{:.3g}倍的共射放大电路，电源{}V"]
    )
    text = text.format(gain, supply)
    if draw.random() < 0.4:
        text += f", load {draw.choice([4.7, 10, 47])} kohm"
    if draw.random() < 0.4:
        text += f", lower corner {draw.choice([10, 20, 300])} Hz"
    return text


def lc_ladder(draw: random.Random) -> str:
    response = draw.choice(["Butterworth", "Chebyshev"])
    order = draw.randint(2, 9) if response == "Butterworth" else draw.choice([3, 5, 7, 9])
    cutoff = _log(draw, 1e3, 3e8)
    text = f"LC ladder {draw.choice(['low', 'high'])}-pass, {response}, order {order}"
    text += f", {draw.choice([50, 75, 600])} ohm"
    at = "ripple edge" if response == "Chebyshev" and draw.random() < 0.4 else "cut-off"
    text += f", {at} {cutoff:.3g} Hz"
    if response == "Chebyshev":
        text += f", {draw.choice([0.1, 0.2, 0.5, 1, 2])} dB ripple"
    if draw.random() < 0.3:
        text += f", tolerance {draw.choice([2, 10])}%"
    if draw.random() < 0.2:
        text += ", E96"
    return text + (", driven from a voltage source" if draw.random() < 0.2 else "")


def voltage_divider(draw: random.Random) -> str:
    vin = draw.choice([3.3, 5, 12, 24, 48])
    vout = vin * draw.uniform(0.05, 0.95)
    text = draw.choice(["voltage divider {} V to {:.4g} V", "把{}V分压到{:.4g}V"]).format(vin, vout)
    if draw.random() < 0.4:
        text += f", load {_log(draw, 1e3, 1e6):.3g} ohm"
    if draw.random() < 0.3:
        text += f", tolerance {draw.choice([1, 2, 10])}%"
    return text


def summing_amplifier(draw: random.Random) -> str:
    weights = [f"{_log(draw, 0.1, 20):.3g}" for _ in range(draw.randint(2, 5))]
    texts = (
        f"summing amplifier, weights {', '.join(weights[:-1])} and {weights[-1]}",
        f"反相加法器，权重{'、'.join(weights)}",
        f"adder with {len(weights)} inputs, gain {weights[0]}",
    )
    return draw.choice(texts) + draw.choice(["", ", 50 kHz", ", ±9 V", ", tolerance 2%"])


def difference_amplifier(draw: random.Random) -> str:
    gain = _log(draw, 0.2, 500)
    text = draw.choice(["difference amplifier, gain {:.3g}", "差分放大电路，增益{:.3g}倍"]).format(gain)
    return text + f", bandwidth {_log(draw, 1e3, min(1e6, 6e8 / (1 + gain))):.3g} Hz"


def instrumentation_amplifier(draw: random.Random) -> str:
    gain = _log(draw, 1, 900)
    text = draw.choice(["instrumentation amplifier, gain {:.4g}", "仪表放大器，放大倍数{:.4g}"]).format(gain)
    return text + f", bandwidth {_log(draw, 1e3, min(1e6, 5e8 / max(gain, 2))):.3g} Hz"


def transimpedance_amplifier(draw: random.Random) -> str:
    ohm, farad = _log(draw, 1e3, 10e6), _log(draw, 2e-12, 300e-12)
    most = (2e8 / (6.3 * ohm * (farad + 1e-12))) ** 0.5
    text = draw.choice(
        [
            "transimpedance amplifier, {:.3g} ohm, photodiode {:.3g} pF",
            "跨阻放大器，跨阻{:.3g}欧，结电容{:.3g}pF",
        ]
    )
    return (
        text.format(ohm, farad * 1e12)
        + f", bandwidth {_log(draw, most / 300, min(most / 2, 0.3 / (ohm * 1e-12))):.3g} Hz"
    )


def wien_oscillator(draw: random.Random) -> str:
    supply = draw.choice([9, 12, 15])
    text = draw.choice(
        ["Wien-bridge oscillator {:.3g} Hz, amplitude {:.2g} V", "{:.3g}Hz文氏桥振荡器，幅度{:.2g}V"]
    )
    return text.format(_log(draw, 10, 300e3), _log(draw, 1.6, 0.7 * supply)) + f", ±{supply} V"


def relaxation_oscillator(draw: random.Random) -> str:
    text = draw.choice(["op-amp relaxation oscillator {:.3g} Hz", "{:.3g}Hz的运放方波发生器"])
    return text.format(_log(draw, 1, 250e3)) + draw.choice(["", ", ±5 V", ", ±12 V"])


def timer_555(draw: random.Random) -> str:
    text = draw.choice(
        [
            "555 astable, {:.3g} Hz, duty {:.0f} %, {} V supply",
            "555振荡电路，频率{:.3g}Hz，占空比{:.0f}%，电源{}V",
        ]
    )
    return text.format(_log(draw, 0.1, 100e3), draw.uniform(15, 90), draw.choice([5, 9, 12, 15]))


def band_pass(draw: random.Random) -> str:
    quality = _log(draw, 0.6, 14)
    gain = _log(draw, 0.2, min(20, 1.5 * quality**2))
    text = draw.choice(
        [
            "band-pass filter, center {:.3g} Hz, Q {:.3g}, gain {:.3g}",
            "带通滤波器，中心频率{:.3g}Hz，Q值{:.3g}，增益{:.3g}倍",
        ]
    )
    return text.format(_log(draw, 1, 250e3), quality, gain)


def wide_band_pass(draw: random.Random) -> str:
    low = _log(draw, 1, 20e3)
    text = draw.choice(
        [
            "band-pass filter from {:.3g} Hz to {:.3g} Hz, gain {:.3g}",
            "{:.3g}Hz到{:.3g}Hz的带通滤波器，增益{:.3g}倍",
            "high-pass at {:.3g} Hz and low-pass at {:.3g} Hz, gain {:.3g}",
        ]
    )
    text = text.format(low, min(low * _log(draw, 6.2, 1000), 150e3), _log(draw, 1, 20))
    return text + draw.choice(["", ", order 8", ", 9 V single supply"])


def notch(draw: random.Random) -> str:
    text = draw.choice(["notch filter at {:.3g} Hz, Q {:.3g}", "{:.3g}Hz陷波器，Q值{:.3g}"])
    return text.format(_log(draw, 1, 200e3), _log(draw, 0.5, 10))


def emitter_follower(draw: random.Random) -> str:
    text = draw.choice(
        ["emitter follower, {} V supply, load {:.3g} ohm", "射极跟随器，电源{}V，负载{:.3g}欧"]
    )
    return text.format(draw.choice([5, 9, 12, 24]), _log(draw, 150, 20e3)) + draw.choice(
        ["", ", 2N3904", ", lower corner 20 Hz"]
    )


def common_base(draw: random.Random) -> str:
    supply = draw.choice([5, 9, 12, 15, 24])
    text = draw.choice(
        ["common-base amplifier, gain {:.3g}, {} V supply", "增益{:.3g}倍的共基放大电路，电源{}V"]
    )
    return text.format(_log(draw, 2, 6 * supply), supply) + draw.choice(
        ["", ", load 4.7 kohm", ", lower corner 1 kHz"]
    )


def cascode(draw: random.Random) -> str:
    supply = draw.choice([9, 12, 15, 24])
    text = draw.choice(
        ["cascode amplifier, gain {:.3g}, {} V supply", "增益{:.3g}倍的共射共基放大电路，电源{}V"]
    )
    return text.format(_log(draw, 2, 5 * supply), supply) + draw.choice(
        ["", ", load 47 kohm", ", bandwidth 2 MHz"]
    )


def common_source(draw: random.Random) -> str:
    supply = draw.choice([5, 9, 12, 15, 24])
    text = draw.choice(
        ["common-source amplifier, gain {:.3g}, {} V supply", "增益{:.3g}倍的共源放大电路，电源{}V"]
    )
    return text.format(_log(draw, 1.6, 3 * supply), supply) + draw.choice(
        ["", ", load 20 kohm", ", lower corner 20 Hz"]
    )


def source_follower(draw: random.Random) -> str:
    text = draw.choice(["source follower, {} V supply, load {:.3g} ohm", "源极跟随器，电源{}V，负载{:.3g}欧"])
    return text.format(draw.choice([5, 9, 12, 24]), _log(draw, 1e3, 200e3))


def attenuator(draw: random.Random) -> str:
    text = draw.choice(["pi attenuator, {:.3g} dB, {} ohm", "T型衰减器，{:.3g}dB，{}欧"])
    return text.format(_log(draw, 1, 40), draw.choice([50, 75, 600]))


def matching_network(draw: random.Random) -> str:
    low = draw.choice([12.5, 50, 75])
    ends = [low, low * _log(draw, 1.3, 38)]
    draw.shuffle(ends)
    text = draw.choice(
        ["L match from {:.4g} ohm to {:.4g} ohm at {:.4g} MHz", "{:.4g}Ω匹配到{:.4g}Ω，{:.4g}MHz"]
    )
    return text.format(*ends, _log(draw, 0.5, 300)) + draw.choice(["", ", high-pass"])


def zener_regulator(draw: random.Random) -> str:
    vout = draw.choice([3.3, 5.1, 6.2, 9.1, 12])
    text = draw.choice(
        ["Zener regulator {:.3g} V to {} V, {:.3g} mA", "{:.3g}V转{}V、{:.3g}mA的稳压管稳压电路"]
    )
    return text.format(vout * draw.uniform(1.3, 3), vout, _log(draw, 1, 40))


def series_regulator(draw: random.Random) -> str:
    vout = draw.choice([3.3, 5, 9, 12, 15])
    text = draw.choice(
        ["series regulator {:.3g} V to {} V, {:.3g} mA", "{:.3g}V转{}V、{:.3g}mA的串联型稳压电路"]
    )
    return text.format(vout + draw.uniform(3, 12), vout, _log(draw, 5, 900))


def adjustable_regulator(draw: random.Random) -> str:
    vout = draw.choice([1.8, 3.3, 5, 9, 12, 15])
    text = draw.choice(
        ["LM317 regulator {:.3g} V to {} V, {:.3g} mA", "用LM317把{:.3g}V稳压到{}V，输出{:.3g}mA"]
    )
    return text.format(vout + draw.uniform(2.5, 12), vout, _log(draw, 10, 900))


def current_mirror(draw: random.Random) -> str:
    text = draw.choice(
        [
            "current mirror, {:.3g} uA, {} V supply",
            "{:.3g}uA的镜像电流源，电源{}V",
            "Wilson current mirror {:.3g} uA, {} V",
        ]
    )
    return text.format(_log(draw, 5, 5000), draw.choice([5, 9, 12, 15]))


def integrator(draw: random.Random) -> str:
    texts = (
        "op-amp integrator, unity gain at {:.3g} Hz",
        "微分电路，增益为1的频率{:.3g}Hz",
        "integrator, {:.3g} Hz",
    )
    return draw.choice(texts).format(_log(draw, 0.5, 80e3))


def common_gate(draw: random.Random) -> str:
    supply = draw.choice([5, 9, 12, 15, 24])
    text = draw.choice(
        ["common-gate amplifier, gain {:.3g}, {} V supply", "增益{:.3g}倍的共栅放大电路，电源{}V"]
    )
    return text.format(_log(draw, 1.6, 3 * supply), supply) + draw.choice(
        ["", ", load 20 kohm", ", lower corner 20 Hz"]
    )


def mos_cascode(draw: random.Random) -> str:
    supply = draw.choice([5, 9, 12, 15, 24])
    text = draw.choice(
        ["MOS cascode amplifier, gain {:.3g}, {} V supply", "增益{:.3g}倍的共源共栅放大电路，电源{}V"]
    )
    return text.format(_log(draw, 2, 3 * (supply - 2)), supply) + draw.choice(
        ["", ", load 20 kohm", ", lower corner 20 Hz"]
    )


def active_load_stage(draw: random.Random) -> str:
    supply = draw.choice([5, 9, 12])
    more = draw.choice(["", f", {supply} V supply", ", lower corner 20 Hz", ", drain current 50 uA"])
    if draw.random() < 0.5:
        text = draw.choice(
            [
                "common-source amplifier with diode-connected load, gain {:.3g}",
                "二极管负载共源放大器，增益{:.3g}",
            ]
        )
        return text.format(_log(draw, 2, 8)) + more
    text = draw.choice(
        ["common-source amplifier with current-source load, gain {:.3g}", "有源负载共源放大器，增益{:.3g}"]
    )
    return text.format(_log(draw, 30, 250)) + more


def mos_current_mirror(draw: random.Random) -> str:
    text = draw.choice(["NMOS current mirror {:.3g} uA, {} V supply", "{:.3g}uA的MOS电流镜，电源{}V"])
    current = _log(draw, 2, 5000)
    text = text.format(current, draw.choice([5, 9, 12]))
    return text + draw.choice(
        ["", ", cascode", f", output resistance at least {_log(draw, 5, 900) / current:.3g} Mohm"]
    )


def differential_pair(draw: random.Random) -> str:
    supply = draw.choice([3.3, 5, 9])
    more = f", bandwidth {_log(draw, 2e3, 500e3):.3g} Hz, ±{supply} V" + draw.choice(["", ", load 5 pF"])
    if draw.random() < 0.4:
        return f"differential pair with resistor load, gain {_log(draw, 3, 6 * supply):.3g}{more}"
    text = draw.choice(["differential pair with mirror load, gain {:.3g}", "电流镜负载差分对，增益{:.3g}"])
    return text.format(_log(draw, 60, 300)) + more


def _op_amp(
    draw: random.Random, texts: list[str], most_db: float, hz: tuple[float, float], margin: int
) -> str:
    text = draw.choice(texts).format(draw.uniform(60, most_db), _log(draw, *hz))
    more = draw.choice(["", f", phase margin {margin}", ", load 20 pF", ", load 3 pF"])
    return text + more + draw.choice(["", ", ±2.5 V"])


def two_stage_opamp(draw: random.Random) -> str:
    texts = ["two-stage Miller op-amp, gain {:.3g} dB, GBW {:.3g} Hz", "两级运放，增益{:.3g}dB，带宽{:.3g}Hz"]
    return _op_amp(draw, texts, 92, (50e3, 6e6), 65)


def telescopic_opamp(draw: random.Random) -> str:
    texts = [
        "telescopic cascode op-amp, gain {:.3g} dB, GBW {:.3g} Hz",
        "套筒式运放，增益{:.3g}dB，带宽{:.3g}Hz",
    ]
    return _op_amp(draw, texts, 98, (200e3, 30e6), 70)


def folded_cascode(draw: random.Random) -> str:
    texts = ["folded cascode op-amp, gain {:.3g} dB, GBW {:.3g} Hz", "折叠式运放，增益{:.3g}dB，带宽{:.3g}Hz"]
    return _op_amp(draw, texts, 92, (200e3, 30e6), 70)


def mos_inverter(draw: random.Random) -> str:
    text = draw.choice(["CMOS inverter", "NMOS inverter with resistive load", "CMOS反相器"])
    delay, load = _log(draw, 2, 900), draw.choice([0.5, 1, 5])
    return f"{text}, {delay:.3g} ns, {load} pF, {draw.choice([3.3, 5, 9])} V"


def cmos_gate(draw: random.Random) -> str:
    texts = ("{0}-input CMOS NAND gate", "NOR gate with {0} inputs", "{0}输入与非门", "{0}输入CMOS或非门")
    delay, load = _log(draw, 3, 900), draw.choice([0.5, 1, 5])
    text = draw.choice(texts).format(draw.choice([2, 3, 4]))
    return f"{text}, {delay:.3g} ns, {load} pF, {draw.choice([3.3, 5, 9])} V"


def level_shifter(draw: random.Random) -> str:
    low, high = draw.choice([(1.8, 3.3), (1.8, 5), (3.3, 5), (2.5, 9), (1.2, 1.8), (1.2, 3.3), (5, 15)])
    text = draw.choice(
        ["level shifter {} V to {} V, delay {:.3g} ns", "{}V转{}V的电平转换电路，延迟{:.3g}ns"]
    )
    return text.format(low, high, _log(draw, 8, 900)) + draw.choice(["", ", load 0.5 pF", ", load 5 pF"])


def ring_oscillator(draw: random.Random) -> str:
    stages, supply = draw.choice([3, 5, 7, 11]), draw.choice([3.3, 5, 9])
    text = draw.choice(["{}-stage ring oscillator, {:.3g} Hz, {} V", "{}级环形振荡器，频率{:.3g}Hz，电源{}V"])
    return text.format(stages, _log(draw, 10e3, 300e6 / stages), supply)


def phase_shift_oscillator(draw: random.Random) -> str:
    supply = draw.choice([9, 12, 15])
    text = draw.choice(
        ["phase-shift oscillator {:.3g} Hz, amplitude {:.2g} V", "{:.3g}Hz移相振荡器，幅度{:.2g}V"]
    )
    return text.format(_log(draw, 5, 25e3), _log(draw, 1.6, 0.7 * supply)) + f", ±{supply} V"


def colpitts_oscillator(draw: random.Random) -> str:
    text = draw.choice(["Colpitts oscillator {:.3g} Hz, {} V supply", "{:.3g}Hz考毕兹振荡器，电源{}V"])
    return text.format(_log(draw, 60e3, 28e6), draw.choice([5, 9, 12]))


def multiple_feedback(draw: random.Random) -> str:
    response = draw.choice(["Butterworth", "Bessel", "Chebyshev"])
    order, kind = draw.randint(1, 8), draw.choice(["low", "high"])
    text = f"multiple-feedback {kind}-pass, order {order}, {response}, cutoff {_log(draw, 1, 3e5):.4g} Hz"
    if draw.random() < 0.3:
        named = "低通" if kind == "low" else "高通"
        text = f"多重反馈{named}滤波器，{order}阶{response}，截止频率{_log(draw, 5, 1e5):.4g}Hz"
    if response == "Chebyshev":
        text += f", ripple {draw.choice([0.25, 0.5, 1, 2])} dB"
    if draw.random() < 0.5:
        text += f", gain {draw.choice([0.5, 2, 3, 5, 10])}"
    return text


def hartley_oscillator(draw: random.Random) -> str:
    text = draw.choice(["Hartley oscillator {:.3g} Hz, {} V supply", "{:.3g}Hz电感三点式振荡器，电源{}V"])
    return text.format(_log(draw, 60e3, 28e6), draw.choice([5, 9, 12]))


def clapp_oscillator(draw: random.Random) -> str:
    text = draw.choice(["Clapp oscillator {:.3g} Hz, {} V supply", "{:.3g}Hz克拉泼振荡器，电源{}V"])
    return text.format(_log(draw, 60e3, 28e6), draw.choice([5, 9, 12]))


def ldo_regulator(draw: random.Random) -> str:
    vout = draw.choice([1.2, 1.8, 2.5, 3.3, 5, 9, 12])
    text = draw.choice(["LDO {:.3g} V to {} V, {:.3g} mA", "{:.3g}V转{}V、{:.3g}mA的低压差稳压器"])
    text = text.format(vout + _log(draw, 0.3, 6), vout, _log(draw, 2, 800))
    text += draw.choice(["", ", phase margin 60", ", phase margin at least 35"])
    text += draw.choice(["", ", dropout below 0.12 V", ", output capacitor 10 uF, ESR 100 mohm"])
    return text + draw.choice(["", ", tolerance 1%"])


def lc_band_ladder(draw: random.Random) -> str:
    response, kind = draw.choice(["Butterworth", "Chebyshev"]), draw.choice(["pass", "stop"])
    order = draw.randint(1, 6) if response == "Butterworth" else draw.choice([3, 5, 7])
    center, ohm = _log(draw, 10e3, 200e6), draw.choice([50, 75, 600])
    width = center / _log(draw, 1, 15)
    text = (
        f"LC band-{kind} filter, order {order}, {response}, center {center:.4g} Hz, bandwidth {width:.3g} Hz"
    )
    if draw.random() < 0.4:
        named = "带通" if kind == "pass" else "带阻"
        text = f"LC{named}滤波器，{order}阶{response}，中心频率{center:.4g}Hz，带宽{width:.3g}Hz"
    text += f", {ohm} ohm"
    if response == "Chebyshev":
        text += f", {draw.choice([0.2, 0.5, 1])} dB ripple"
    return text + (", singly terminated" if draw.random() < 0.3 else "")


def rectifier(draw: random.Random) -> str:
    form, rms = draw.choice(["bridge", "half-wave", "centre-tapped full-wave"]), _log(draw, 6, 60)
    named = {"bridge": "桥式", "half-wave": "半波", "centre-tapped full-wave": "中心抽头全波"}[form]
    load, ripple = _log(draw, 1, 2000), draw.choice([2, 5, 10])
    texts = (
        f"{form} rectifier, {rms:.3g} V rms, {draw.choice([50, 400])} Hz, {load:.3g} mA, {ripple}% ripple",
        f"{named}整流滤波电路，交流{rms:.3g}V，负载{load:.3g}mA，纹波{ripple}%",
        f"{form} rectifier, output {rms:.3g} V DC, load {load:.3g} mA, ripple below {rms / 20:.2g} V",
    )
    return draw.choice(texts)


def current_source(draw: random.Random) -> str:
    supply = draw.choice([9, 12, 15, 24])
    if draw.random() < 0.5:
        text = draw.choice(
            ["JFET current source, {:.3g} uA, {} V supply", "{:.3g}uA的结型场效应管恒流源，电源{}V"]
        )
        return text.format(_log(draw, 60, 8000), supply)
    text = draw.choice(
        ["{:.3g} mA current sink, LED as the reference, {} V", "用LED做基准的恒流源，{:.3g}mA，电源{}V"]
    )
    return text.format(_log(draw, 0.1, 60), supply)


def bandgap_reference(draw: random.Random) -> str:
    volts = draw.choice([1.2, 1.21, 1.25, 2.5, 5, _log(draw, 1.25, 10)])
    text = draw.choice(["bandgap reference {:.3g} V, {:.3g} V supply", "{:.3g}V带隙基准，电源{:.3g}V"])
    text = text.format(volts, volts + _log(draw, 0.4, 12))
    text += draw.choice(["", ", drift below 20 ppm/°C", ", drift below 25 ppm/°C from 0 to 70 °C"])
    text += f", supply current below {_log(draw, 5, 1000):.3g} uA"
    return text + draw.choice(["", ", tolerance 1.5%"])


def vbe_multiplier(draw: random.Random) -> str:
    text = draw.choice(["VBE multiplier {:.3g} V, {:.3g} mA", "{:.3g}V的VBE倍增电路，电流{:.3g}mA"])
    text = text.format(_log(draw, 1, 6), _log(draw, 0.1, 50))
    return text + draw.choice(["", ", 0 to 85 °C", ", tolerance 2%", ", 2N3904", ", -20到70度"])


def charge_pump(draw: random.Random) -> str:
    vin, form = draw.choice([1.8, 3.3, 5, 9, 12]), draw.choice(["inverter", "doubler"])
    vout = -vin if form == "inverter" else 2 * vin
    texts = (
        f"charge pump {vin} V to {vout:g} V, {_log(draw, 0.1, 80):.3g} mA",
        f"{vin}V转{vout:g}V的电荷泵，{_log(draw, 0.1, 80):.3g}mA",
        f"charge-pump voltage {form}, {vin} V, load {abs(vout) / _log(draw, 1e-4, 0.08):.3g} ohm",
    )
    text = draw.choice(texts) + f", {draw.choice([20, 50, 100, 500, 1000])} kHz"
    return text + draw.choice(["", ", ripple below 1%", ", ripple 20 mV", ", drop 3%"])


def rc_snubber(draw: random.Random) -> str:
    ring, farad, volts = _log(draw, 1e6, 3e8), _log(draw, 20e-12, 5e-9), _log(draw, 3, 600)
    henry = 1 / ((2 * np.pi * ring) ** 2 * farad)
    over, switching = _log(draw, 10, 75), _log(draw, 1e3, 1e6)
    texts = (
        f"RC snubber, ringing at {ring:.4g} Hz, {farad:.4g} F, {volts:.3g} V, overshoot below {over:.3g} %",
        f"RC吸收电路，振铃频率{ring:.4g}Hz，寄生电容{farad:.4g}F，电压{volts:.3g}V，过冲小于{over:.3g}%",
        f"snubber, stray inductance {henry:.4g} H, {farad:.4g} F, {volts:.3g} V, {over:.3g} % overshoot",
    )
    return draw.choice(texts) + draw.choice(["", f", switching frequency {switching:.3g} Hz"])


def led_driver(draw: random.Random) -> str:
    supply, count = draw.choice([9, 12, 15, 24]), draw.randint(1, 2)
    form = draw.choice(["op-amp", "two-transistor", "resistor"])
    over = supply - 2 * count
    current = _log(draw, 1.5, 950 * min(15 / over, 3) if form == "op-amp" else min(95, 450 / over))
    if form == "resistor":
        text = draw.choice(
            [
                "series resistor for {n} red LEDs, {i:.3g} mA, {v} V",
                "LED限流电阻，{n}只红光LED串联，{i:.3g}mA，电源{v}V",
            ]
        )
    elif form == "op-amp":
        text = draw.choice(
            [
                "LED driver, {n} LEDs, {i:.3g} mA, {v} V supply",
                "运放恒流驱动{n}个LED，{i:.3g}mA，电源{v}V",
                "constant-current sink with op-amp and MOSFET, {k:.3g} mA, {v} V",
            ]
        )
    else:
        text = draw.choice(
            [
                "two-transistor LED driver, {n} LEDs, {i:.3g} mA, {v} V supply",
                "双三极管LED恒流驱动，{n}只LED，{i:.3g}mA，电源{v}V",
            ]
        )
    return text.format(n=count, i=current, v=supply, k=min(current, 900 * 15 / (supply / 1.5)))


def class_ab_stage(draw: random.Random) -> str:
    load, volts = draw.choice([4, 8, 16, 32, 100, 600]), _log(draw, 2, 30)
    texts = (
        f"class AB output stage, {volts**2 / 2 / load:.3g} W into {load} ohm",
        f"甲乙类互补输出级，{load}Ω负载输出{volts**2 / 2 / load:.3g}W",
        f"push-pull emitter follower, amplitude {volts:.3g} V, load {load} ohm, ±{1.2 * volts + 3:.3g} V",
    )
    text = draw.choice(texts) + draw.choice(["", ", distortion below 1%", ", 10 kHz"])
    return text + draw.choice(["", f", quiescent current {_log(draw, 30, 80) * volts / load:.3g} mA"])


def class_a_stage(draw: random.Random) -> str:
    load, volts = draw.choice([8, 16, 32, 100, 600, 2000]), _log(draw, 0.8, 20)
    texts = (
        f"class A output stage, amplitude {volts:.3g} V into {load} ohm",
        f"甲类射极跟随输出级，负载{load}Ω，输出功率{volts**2 / 2 / load:.3g}W",
        f"class A emitter follower, {volts:.3g} V amplitude, load {load} ohm, ±{1.15 * volts + 2:.3g} V",
    )
    text = draw.choice(texts) + draw.choice(["", ", distortion below 0.5%", ", 10 kHz"])
    return text + draw.choice(["", f", quiescent current {_log(draw, 1300, 2500) * volts / load:.3g} mA"])


def pll_loop_filter(draw: random.Random) -> str:
    reference, ratio = draw.choice([25e3, 200e3, 1e6, 10e6]), draw.randint(20, 3000)
    bandwidth = reference / _log(draw, 11, 200)
    gain = _log(draw, max(1e6, bandwidth * ratio / 20), 2e8)
    # what sets R2: bandwidth times N over the gain and the current
    pump = min(max(1e6 * bandwidth * ratio / gain / _log(draw, 300, 8e3), 2), 15e3)
    texts = (
        f"PLL loop filter, bandwidth {bandwidth:.4g} Hz, {gain:.3g} Hz/V, Icp {pump:.3g} uA, N = {ratio}",
        f"锁相环环路滤波器，环路带宽{bandwidth:.4g}Hz，压控灵敏度{gain:.3g}Hz/V，电荷泵电流{pump:.3g}uA，分频比{ratio}",
        f"charge-pump PLL, {reference:.4g} Hz reference, {ratio * reference:.6g} Hz output, loop bandwidth "
        f"{bandwidth:.4g} Hz, Kvco {gain:.3g} Hz/V, charge pump current {pump:.3g} uA",
    )
    return draw.choice(texts) + draw.choice(["", ", phase margin 45", ", phase margin 60"])


def load_switch(draw: random.Random) -> str:
    supply, control, amps = draw.choice([5, 12, 24]), draw.choice([3.3, 5]), _log(draw, 2e-3, 5)
    texts = (
        f"relay driver, {supply} V relay, {1e3 * amps:.3g} mA, switched by a {control} V GPIO",
        f"单片机{control}V控制{supply}V电磁阀的驱动电路，线圈{supply / amps:.3g}欧",
        f"low-side switch for a {supply} V, {supply * amps:.3g} W lamp, {control} V logic",
        f"MOSFET to drive a {supply} V solenoid, {amps:.3g} A, inductance {_log(draw, 1e-4, 1) / amps:.3g} H",
    )
    kind = draw.randrange(4)
    most = _log(draw, 0.6, 15) if kind == 3 else max(2, 150 * amps) if amps < 0.1 else 15
    text = texts[kind] + draw.choice(["", f", GPIO at most {most:.3g} mA"])
    if kind < 2:
        text += draw.choice(["", f", release within {2 * _log(draw, 0.8, 2):.3g} ms"])
    return text


def rcd_clamp(draw: random.Random) -> str:
    vin, hertz, peak = _log(draw, 12, 400), _log(draw, 30e3, 400e3), _log(draw, 0.2, 10)
    reflected = vin * _log(draw, 0.25, 0.9)
    clamp, share = reflected * _log(draw, 1.4, 3), _log(draw, 0.003, 0.04)
    # of the whole primary inductance, at nine tenths of the duty of the boundary
    leakage = share * 0.9 * reflected * vin / (vin + reflected) / hertz / peak
    said = (
        f"{vin:.3g} V input, reflected voltage {reflected:.3g} V, leakage {leakage:.3g} H, {peak:.3g} A peak"
    )
    zh = f"输入{vin:.3g}V，反射电压{reflected:.3g}V，漏感{leakage:.3g}H，峰值电流{peak:.3g}A"
    text = draw.choice(
        [f"RCD clamp for a flyback, {said}, {hertz:.3g} Hz", f"反激RCD钳位电路，{zh}，{hertz:.3g}Hz"]
    )
    text += draw.choice(["", f", drain below {vin + 1.05 * clamp + 3:.4g} V"])
    return text + draw.choice(["", ", ripple 3%", ", ripple 10%"])


def monostable(draw: random.Random) -> str:
    text = draw.choice(
        ["555 monostable, {:.3g} s pulse, {} V supply", "555单稳态电路，脉宽{:.3g}秒，电源{}V"]
    )
    text = text.format(_log(draw, 10e-6, 300), draw.choice([5, 9, 12, 15]))
    return text + draw.choice(["", "", ", tolerance 3%"])


def bidirectional_level_shifter(draw: random.Random) -> str:
    low, high = draw.choice([(1.8, 3.3), (1.8, 5), (2.5, 5), (3.3, 5), (3.3, 12), (5, 12)])
    hertz = draw.choice([10e3, 50e3, 100e3, 400e3, 1e6])
    # both pull-ups flow into the driver: what it may sink bounds the capacitance
    sink = 3e-3 if hertz <= 100e3 else 6e-3 if hertz <= 400e3 else 20e-3
    most = (0.1 if hertz <= 100e3 else 0.12) / hertz * sink / (low + high)
    text = draw.choice(
        ["bidirectional level shifter, {} V and {} V, {:.3g} Hz, {:.3g} F on each line",
         "双向电平转换电路，{}V和{}V，{:.3g}Hz，线路电容{:.3g}F"]
    ).format(low, high, hertz, _log(draw, 10e-12, max(min(400e-12, 0.8 * most - 25e-12),
                                                      12e-12)))  # fmt: skip
    return text + (", BSS138" if low >= 1.8 and draw.random() < 0.3 else "")


def high_side_switch(draw: random.Random) -> str:
    supply, control, amps = draw.choice([5, 9, 12, 24, 48]), draw.choice([1.8, 3.3, 5]), _log(draw, 5e-3, 6)
    texts = (
        f"high-side switch, {supply} V supply, {amps:.3g} A load, P-channel MOSFET, driven by a {control} "
        f"V GPIO",
        f"PMOS高边开关，{supply}V电源，负载{amps:.3g}A，单片机{control}V控制",
        f"high-side switch for a {supply} V solenoid, {amps:.3g} A, switched by a {control} V pin",
    )
    text = draw.choice(texts)
    if control > 2:
        text += draw.choice(["", "", ", NMOS driver", "，NPN三极管驱动"])
    if amps < 3:
        text += draw.choice(["", "", ", turn-on within 100 us", ", drop below 0.1 V"])
    return text


def reverse_protection(draw: random.Random) -> str:
    supply, amps = draw.choice([3.3, 5, 9, 12, 24, 48]), _log(draw, 0.02, 10)
    texts = (
        f"reverse polarity protection with a P-channel MOSFET, {supply} V, {amps:.3g} A",
        f"PMOS防反接电路，{supply}V，{amps:.3g}A",
        f"protect my {supply} V circuit against a reversed battery, {amps:.3g} A",
    )
    text = draw.choice(texts)
    if amps < 5:
        text += draw.choice(["", f", drop below {max(20, 15 * amps):.3g} mV"])
    elif supply in (12, 24):
        text = f"reverse polarity protection, {0.8 * supply:.3g}-{1.3 * supply:.3g} V supply, {amps:.3g} A"
    return text


def bjt_differential_pair(draw: random.Random) -> str:
    supply, tail = draw.choice([9, 12, 15]), _log(draw, 100e-6, 4e-3)
    is_mirror = draw.random() < 0.4
    gain = _log(draw, 150, 900) if is_mirror else _log(draw, 5, 12 * supply)
    text = draw.choice(["BJT differential pair, gain {:.3g}, tail current {:.3g} A, ±{} V",
                        "三极管差分放大电路，增益{:.3g}倍，尾电流{:.3g}A，电源±{}V"])  # fmt: skip
    text = text.format(gain, tail, supply) + (", mirror load" if is_mirror else "")
    text += draw.choice(["", "", ", 2N3904", ", BC547"])
    return text + draw.choice(["", "", ", CMRR at least 60 dB", "" if is_mirror else ", bandwidth 100 kHz"])


def state_variable(draw: random.Random) -> str:
    quality, output = _log(draw, 0.55, 45), draw.choice(["low-pass", "band-pass", "high-pass"])
    center, gain = _log(draw, 1, 80e3), _log(draw, 0.15, 30)
    named = {"low-pass": "低通", "band-pass": "带通", "high-pass": "高通"}[output]
    texts = [
        f"state-variable filter, f0 {center:.3g} Hz, Q {quality:.3g}, {output} output, gain {gain:.3g}",
        f"状态变量滤波器，{named}输出，中心频率{center:.3g}Hz，Q值{quality:.3g}，增益{gain:.3g}倍",
    ]
    if output != "high-pass":
        texts.append(f"Tow-Thomas biquad, {output}, {center:.3g} Hz, Q {quality:.3g}")
    return draw.choice(texts)


def pierce_oscillator(draw: random.Random) -> str:
    text = draw.choice(["Pierce crystal oscillator {:.6g} Hz, {} V supply", "{:.6g}Hz晶体振荡器，电源{}V"])
    text = text.format(_log(draw, 2.1e6, 24e6), draw.choice([3.3, 5]))
    return text + draw.choice(["", ", load capacitance 12 pF", ", load capacitance 20 pF"])


FAMILIES = pytest.mark.parametrize(
    "sentence",
    [
        inverting_amplifier,
        non_inverting_amplifier,
        schmitt_trigger,
        non_inverting_schmitt,
        boost,
        buck_boost,
        sepic,
        cuk,
        flyback,
        forward,
        common_emitter,
        lc_ladder,
        voltage_divider,
        summing_amplifier,
        difference_amplifier,
        instrumentation_amplifier,
        transimpedance_amplifier,
        wien_oscillator,
        relaxation_oscillator,
        timer_555,
        band_pass,
        wide_band_pass,
        notch,
        emitter_follower,
        common_base,
        cascode,
        common_source,
        source_follower,
        attenuator,
        matching_network,
        zener_regulator,
        series_regulator,
        adjustable_regulator,
        current_mirror,
        integrator,
        common_gate,
        mos_cascode,
        active_load_stage,
        mos_current_mirror,
        differential_pair,
        two_stage_opamp,
        telescopic_opamp,
        folded_cascode,
        mos_inverter,
        cmos_gate,
        level_shifter,
        ring_oscillator,
        phase_shift_oscillator,
        colpitts_oscillator,
        multiple_feedback,
        hartley_oscillator,
        clapp_oscillator,
        pierce_oscillator,
        state_variable,
        ldo_regulator,
        lc_band_ladder,
        rectifier,
        current_source,
        bandgap_reference,
        vbe_multiplier,
        charge_pump,
        rc_snubber,
        led_driver,
        class_ab_stage,
        class_a_stage,
        pll_loop_filter,
        load_switch,
        rcd_clamp,
        monostable,
        bidirectional_level_shifter,
        high_side_switch,
        reverse_protection,
        bjt_differential_pair,
    ],
    ids=lambda f: f.__name__,
)


async def _campaign(sentence, count: int, folder: Path) -> list[tuple[bool, str]]:
    """What was not met at the first or second shot: whether it was at a later one, and what it is."""
    draw = random.Random(8)
    missed = []
    for _ in range(count):
        text = sentence(draw)
        intent, proposal, judged, used = await rounds(text, folder)
        assert intent.family == sentence.__name__
        assert not any("not understood" in str(note) for note in intent.assumptions), text
        unmet = [(v.goal.metric, v.measured.value) for v in judged if not v.met]
        if unmet or used > 2:
            missed.append((not unmet, f"{text}: {unmet} after {used} rounds, {proposal.values}"))
    return missed


@FAMILIES
async def test_a_sample_of_requests_is_met_by_the_second_shot(sentence, tmp_path: Path):
    is_slow = sentence in (
        wien_oscillator,
        relaxation_oscillator,
        timer_555,
        phase_shift_oscillator,
        colpitts_oscillator,
        hartley_oscillator,
        clapp_oscillator,
        pierce_oscillator,
        ring_oscillator,
        boost,
        buck_boost,
        sepic,
        cuk,
        flyback,
        forward,
        charge_pump,
        rcd_clamp,
    )
    assert not await _campaign(sentence, SAMPLE_OF_PERIODIC if is_slow else SAMPLE, tmp_path)


@pytest.mark.torture
@pytest.mark.timeout(600)
@FAMILIES
async def test_forty_requests_are_met_by_the_second_shot(sentence, tmp_path: Path):
    """All of the first two declared families; of another two of forty may come later, and one not at all."""
    missed = await _campaign(sentence, WHOLE, tmp_path)
    assert len(missed) <= (0 if sentence in (inverting_amplifier, lc_ladder) else 2), missed
    assert sum(not is_met for is_met, _ in missed) <= 1, missed


def test_the_page_has_a_rate_for_each_family():
    from tests.integration.design import rates

    assert list(rates.stored()) == list(FAMILIES_OF_DESIGNER)


@pytest.mark.torture
@pytest.mark.timeout(900)
@pytest.mark.parametrize("key", FAMILIES_OF_DESIGNER)
async def test_the_rates_on_the_page_are_measured(key: str, tmp_path: Path):
    from tests.integration.design import rates

    assert f"| `{key}` {rates.stored()[key]}" == rates.row(key, *await rates.rate(key, tmp_path))


@pytest.mark.parametrize(
    ("text", "frequency", "gain"),
    [
        ("反相放大器，增益20dB，带宽100kHz，输入电阻4.7kΩ", 1e3, 10.0),
        # matched: half of the source, and 3 dB less at the cut-off
        ("LC ladder high-pass, Chebyshev 0.5 dB, order 5, 75 ohm, -3 dB at 10 MHz", 10e6, 0.5 / 2**0.5),
    ],
)
async def test_a_sentence_becomes_a_circuit_that_is_right_under_every_analysis(
    text: str, frequency: float, gain: float, design: Design, tmp_path: Path
):
    deck = (await design(text)).netlist
    assert abs(bench.gain_at(bench.run(deck, tmp_path), frequency) / gain - 1) < 0.12
    assert len(bench.run(bench.with_analysis(deck, ".op"), tmp_path, "op").axis) == 1
    bench.run(bench.with_analysis(deck, ".dc Vin 0 1 0.5"), tmp_path, "dc")
    card = f".tran {0.02 / frequency:.4g} {10 / frequency:.4g}"
    sine = bench.run(bench.with_analysis(deck, card), tmp_path, "tran")
    late = sine.axis > 6 / frequency
    seen, drive = (np.ptp(sine[name][late]) for name in ("v(out)", "v(in)"))
    assert abs(seen / drive / gain - 1) < 0.15
    assert all(" ; " in line for line in deck.splitlines()[1:] if line[0].isalpha())
