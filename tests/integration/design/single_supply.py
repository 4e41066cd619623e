"""Requests for circuits on a single supply, drawn over the range of each family that can be had on one."""

from __future__ import annotations

import random
from collections.abc import Callable

Draw = Callable[[random.Random], str]


def _log(draw: random.Random, low: float, high: float) -> float:
    return float(low * (high / low) ** draw.random())


def _supply(draw: random.Random) -> str:
    """One supply, as people write it; a bare one only where that is what it means."""
    volts = draw.choice([3.3, 5, 9, 12, 24])
    texts = [f", single supply {volts} V", f", 单电源{volts}V", f", single {volts} V supply"]
    return draw.choice([*texts, f", {volts} V supply"] if volts <= 5 else texts)


def _library(draw: random.Random) -> str:
    """A supply and an op-amp that takes it."""
    return draw.choice(
        [", 5 V, MCP6002", ", 单电源12V, LM358", ", single supply 12 V, TL072", ", 3.3 V, MCP6002"]
    )


def inverting_amplifier(draw: random.Random) -> str:
    gain = _log(draw, 0.3, 300)
    if draw.random() < 0.3:
        return (
            f"inverting amplifier, gain {min(gain, 10):.3g}, bandwidth {_log(draw, 2e3, 3e4):.3g} Hz"
            + _library(draw)
        )
    bandwidth = _log(draw, 2e3, min(1e6, 6e8 / (1 + gain)))
    text = f"inverting amplifier, gain {gain:.3g}, bandwidth {bandwidth:.3g} Hz" + _supply(draw)
    return text + draw.choice(
        ["", ", output 1 Vpp", ", DC-coupled", f", lower corner {bandwidth / 2000:.3g} Hz"]
    )


def non_inverting_amplifier(draw: random.Random) -> str:
    gain = _log(draw, 1.1, 300)
    if draw.random() < 0.3:
        return f"同相放大器，增益{min(gain, 10):.3g}倍，带宽{_log(draw, 2e3, 3e4):.3g}Hz" + _library(draw)
    bandwidth = _log(draw, 2e3, min(1e6, 7e8 / gain))
    text = f"non-inverting amplifier, gain {gain:.3g}, bandwidth {bandwidth:.3g} Hz" + _supply(draw)
    return text + draw.choice(
        ["", ", output 1 Vpp", ", DC-coupled", f", lower corner {bandwidth / 2000:.3g} Hz"]
    )


def follower(draw: random.Random) -> str:
    text = draw.choice(["voltage follower, bandwidth {:.3g} Hz", "电压跟随器，带宽{:.3g}Hz"])
    return text.format(_log(draw, 2e3, 1e6)) + _supply(draw) + draw.choice(["", ", AC-coupled"])


def sallen_key(draw: random.Random) -> str:
    kind, order = draw.choice(["low-pass", "high-pass"]), draw.randint(2, 5)
    response = draw.choice(["Butterworth", "Bessel", "Chebyshev 0.5 dB"])
    most = 5e3 if (is_named := draw.random() < 0.3) else 1e5
    gain = draw.choice(["", "", ", gain 2"])
    text = f"Sallen-Key {kind} filter, {response}, order {order}, cut-off {_log(draw, 20, most):.3g} Hz{gain}"
    return text + (", 5 V, AD8605" if is_named else _supply(draw))


def multiple_feedback(draw: random.Random) -> str:
    kind, order = draw.choice(["low-pass", "high-pass"]), draw.choice([2, 3, 4])
    text = f"multiple-feedback {kind}, Butterworth, order {order}, cut-off {_log(draw, 50, 3e4):.3g} Hz"
    return text + draw.choice(["", ", gain 3"]) + _supply(draw)


def band_pass(draw: random.Random) -> str:
    return f"band-pass filter, center {_log(draw, 50, 3e4):.3g} Hz, Q {draw.uniform(2, 10):.2g}" + _supply(
        draw
    )


def summing_amplifier(draw: random.Random) -> str:
    weights = [f"{_log(draw, 0.2, 10):.3g}" for _ in range(draw.randint(2, 4))]
    text = draw.choice([f"summing amplifier, weights {', '.join(weights[:-1])} and {weights[-1]}",
                        f"反相加法器，权重{'、'.join(weights)}"])  # fmt: skip
    return text + _supply(draw)


def difference_amplifier(draw: random.Random) -> str:
    gain = _log(draw, 0.3, 200)
    text = draw.choice(["difference amplifier, gain {:.3g}", "差分放大电路，增益{:.3g}倍"]).format(gain)
    return text + f", bandwidth {_log(draw, 2e3, min(3e5, 6e8 / (1 + gain))):.3g} Hz" + _supply(draw)


def instrumentation_amplifier(draw: random.Random) -> str:
    gain = _log(draw, 2, 500)
    return f"instrumentation amplifier, gain {gain:.3g}, bandwidth {_log(draw, 2e3, 1e5):.3g} Hz" + _supply(
        draw
    )


def transimpedance_amplifier(draw: random.Random) -> str:
    ohm, farad = _log(draw, 5e3, 5e6), _log(draw, 5e-12, 200e-12)
    most = min(1e6, (1e8 / (6.3 * ohm * farad)) ** 0.5)
    text = f"transimpedance amplifier {ohm:.3g} ohm, photodiode {farad * 1e12:.3g} pF"
    return text + f", bandwidth {_log(draw, min(1e3, most / 3), most):.3g} Hz" + _supply(draw)


def integrator(draw: random.Random) -> str:
    kind = draw.choice(["integrator", "differentiator"])
    return f"op-amp {kind}, time constant {_log(draw, 2e-5, 1e-2):.3g} s" + _supply(draw)


def state_variable(draw: random.Random) -> str:
    return f"KHN filter, f0 {_log(draw, 50, 1e4):.3g} Hz, Q {draw.uniform(1, 10):.2g}" + _supply(draw)


def notch(draw: random.Random) -> str:
    return f"notch filter {_log(draw, 40, 5e3):.3g} Hz, Q {draw.uniform(1, 8):.2g}" + _supply(draw)


def _thresholds(draw: random.Random) -> str:
    volts = draw.choice([3.3, 5, 12])
    lower = draw.uniform(0.1, 0.6) * volts
    upper = lower + draw.uniform(0.05, 0.3) * volts
    supply = f"{volts} V supply" if volts <= 5 else f"single supply {volts} V"
    return f"upper threshold {upper:.3f} V, lower threshold {lower:.3f} V, {supply}"


def schmitt_trigger(draw: random.Random) -> str:
    return f"Schmitt trigger, {_thresholds(draw)}"


def non_inverting_schmitt(draw: random.Random) -> str:
    return f"non-inverting Schmitt trigger, {_thresholds(draw)}"


def relaxation_oscillator(draw: random.Random) -> str:
    text = draw.choice(["op-amp relaxation oscillator {:.3g} Hz", "{:.3g}Hz的运放方波发生器"])
    hertz = _log(draw, 1, 2e4)
    return text.format(hertz) + (", 5 V, LM358" if hertz < 500 and draw.random() < 0.5 else _supply(draw))


def wien_oscillator(draw: random.Random) -> str:
    supply, part = draw.choice([(5, ""), (9, ""), (12, ""), (24, ""), (9, ", TL072"), (5, ", AD8605")])
    amplitude = _log(draw, 0.9, 0.3 * supply if part else 0.42 * supply)
    text = draw.choice(
        ["Wien-bridge oscillator {:.3g} Hz, amplitude {:.2g} V", "{:.3g}Hz文氏桥振荡器，幅度{:.2g}V"]
    )
    text = text.format(_log(draw, 10, 10e3 if part else 200e3), amplitude)
    return text + draw.choice([f", single supply {supply} V", f", 单电源{supply}V"]) + part


def phase_shift_oscillator(draw: random.Random) -> str:
    supply, part = draw.choice([(5, ""), (9, ""), (12, ""), (24, ""), (9, ", TL072"), (5, ", AD8605")])
    amplitude = _log(draw, 0.9, 0.3 * supply if part else 0.42 * supply)
    text = draw.choice(
        ["phase-shift oscillator {:.3g} Hz, amplitude {:.2g} V", "{:.3g}Hz移相振荡器，幅度{:.2g}V"]
    )
    text = text.format(_log(draw, 5, 200 if part else 20e3), amplitude)
    return text + draw.choice([f", single supply {supply} V", f", 单电源{supply}V"]) + part


DRAWS: dict[str, Draw] = {
    draw.__name__: draw
    for draw in (
        inverting_amplifier, non_inverting_amplifier, follower, sallen_key, multiple_feedback, band_pass,
        summing_amplifier, difference_amplifier, instrumentation_amplifier, transimpedance_amplifier,
        integrator, state_variable, notch, schmitt_trigger, non_inverting_schmitt, relaxation_oscillator,
        wien_oscillator, phase_shift_oscillator,
    )
}  # fmt: skip
"""By family; the follower, which is one of the non-inverting amplifiers, by itself."""
