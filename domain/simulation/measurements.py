"""The table of measurement functions: which data each needs, and what it gives.

A measurement turns one signal (two for `delay`) and some numbers into one number with a unit. The
numeric definitions are in `frequency_response` and `time_response`; those that suit any axis are here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from domain.simulation import distortion as ds
from domain.simulation import frequency_response as fr
from domain.simulation import time_response as tr
from domain.simulation import units
from domain.simulation.signals import Signal, figure
from shared.errors import CircuitError, UserInputError
from shared.message import msg

Domain = Literal["time", "frequency", "noise", "any"]
"""What axis a measurement needs: time, frequency, frequency of a noise density, or whatever."""

UnitRule = Callable[[Signal], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One measurement function of the expression language."""

    domain: Domain
    compute: Callable[..., complex]
    """(signals..., numbers...) -> value; raises CircuitError when the data do not show it."""
    unit: UnitRule
    signals: int = 1
    numbers: tuple[int, ...] = (0,)
    """How many numbers may follow the signals."""
    usage: str = ""
    """How it is called: ``gain(x, f)``."""


def at(signal: Signal, position: float) -> complex:
    """The value at a place on the axis, interpolated; complex for a complex vector."""
    return signal.value_at(position)


def largest(signal: Signal) -> float:
    """The largest value (magnitude of a complex vector)."""
    return float(signal.real.max())


def smallest(signal: Signal) -> float:
    """The smallest value (magnitude of a complex vector)."""
    return float(signal.real.min())


def peak_to_peak(signal: Signal) -> float:
    """Largest minus smallest value."""
    return float(np.ptp(signal.real))


def cross(signal: Signal, level: float, number: float = 1.0) -> float:
    """Place on the axis of the `number`-th passing of `level`, up or down; -1 is the last one."""
    count = round(number)
    if count == 0 or count != number:
        raise UserInputError(
            msg("The third number of cross is a count: 1 for the first crossing, -1 for the last.")
        )
    places = signal.crossings(level)
    if len(places) < abs(count):
        y = signal.real
        raise CircuitError(
            msg("The level {level} is crossed {found} {found:time|times}, not {wanted}, between "
                "{start} and {stop}; the values range from {low} to {high}.",
                level=figure(level, signal.unit), found=len(places), wanted=abs(count),
                start=figure(float(signal.x[0]), signal.axis_unit),
                stop=figure(float(signal.x[-1]), signal.axis_unit),
                low=figure(float(y.min()), signal.unit), high=figure(float(y.max()), signal.unit))
        )  # fmt: skip
    return float(places[count - 1 if count > 0 else count])


def _windowed(compute: Callable[[Signal], float]) -> Callable[..., float]:
    """Let a measurement take an optional window: max(x, from, to); without its end up to the axis' end."""

    def measured(signal: Signal, *window: float) -> float:
        end = window[1] if len(window) > 1 else float(signal.x[-1])
        return compute(signal.window(window[0], end) if window else signal)

    return measured


def _same(signal: Signal) -> str:
    return signal.unit


def _axis(signal: Signal) -> str:
    return signal.axis_unit


def _fixed(unit: str) -> UnitRule:
    return lambda _signal: unit


def _any(compute: Callable[[Signal], float], name: str) -> Measurement:
    """Of the extremes a second argument alone would be the other number: max(a, b)."""
    if name in ("pp", "avg", "rms"):
        return Measurement(
            domain="any",
            compute=_windowed(compute),
            unit=_same,
            numbers=(0, 1, 2),
            usage=f"{name}(x[, from[, to]])",
        )
    return Measurement(
        domain="any", compute=_windowed(compute), unit=_same, numbers=(0, 2), usage=f"{name}(x[, from, to])"
    )


def _frequency(compute: Callable[..., float], unit: UnitRule, usage: str, *numbers: int) -> Measurement:
    return Measurement(domain="frequency", compute=compute, unit=unit, numbers=numbers or (0,), usage=usage)


def _time(compute: Callable[..., float], unit: UnitRule, usage: str, *numbers: int) -> Measurement:
    return Measurement(domain="time", compute=compute, unit=unit, numbers=numbers or (0,), usage=usage)


def _slew_unit(signal: Signal) -> str:
    return units.quotient(signal.unit, signal.axis_unit)


MEASUREMENTS: dict[str, Measurement] = {
    "at": Measurement(domain="any", compute=at, unit=_same, numbers=(1,), usage="at(x, position)"),
    "max": _any(largest, "max"),
    "min": _any(smallest, "min"),
    "pp": _any(peak_to_peak, "pp"),
    "avg": _any(tr.average, "avg"),
    "rms": _any(tr.rms, "rms"),
    "peak": _any(largest, "peak"),
    "cross": Measurement(
        domain="any", compute=cross, unit=_axis, numbers=(1, 2), usage="cross(x, level[, n])"
    ),
    "dcgain": _frequency(fr.dcgain, _same, "dcgain(x)"),
    "gain": _frequency(fr.gain, _same, "gain(x, f)", 1),
    "bandwidth": _frequency(fr.bandwidth, _fixed("Hz"), "bandwidth(x[, drop_db])", 0, 1),
    "lowcut": _frequency(fr.lowcut, _fixed("Hz"), "lowcut(x)"),
    "highcut": _frequency(fr.highcut, _fixed("Hz"), "highcut(x)"),
    "ugf": _frequency(fr.ugf, _fixed("Hz"), "ugf(x)"),
    "phase_margin": _frequency(fr.phase_margin, _fixed("deg"), "phase_margin(x)"),
    "gain_margin": _frequency(fr.gain_margin, _fixed("dB"), "gain_margin(x)"),
    "q": _frequency(fr.quality, _fixed("1"), "q(x)"),
    "noise_total": Measurement(
        domain="noise",
        compute=fr.noise_total,
        unit=lambda signal: units.integrated_density(signal.unit),
        numbers=(0, 2),
        usage="noise_total(x[, from, to])",
    ),
    "rise_time": _time(tr.rise_time, _axis, "rise_time(x)"),
    "fall_time": _time(tr.fall_time, _axis, "fall_time(x)"),
    "overshoot": _time(tr.overshoot, _fixed("1"), "overshoot(x)"),
    "settling_time": _time(tr.settling_time, _axis, "settling_time(x[, tol])", 0, 1),
    "slew_rate": _time(tr.slew_rate, _slew_unit, "slew_rate(x)"),
    "frequency": _time(tr.frequency, _fixed("Hz"), "frequency(x)"),
    "period": _time(tr.period, _axis, "period(x)"),
    "duty": _time(tr.duty, _fixed("1"), "duty(x)"),
    "delay": Measurement(domain="time", compute=tr.delay, unit=_axis, signals=2, usage="delay(x, y)"),
    "thd": _time(ds.thd, _fixed("1"), "thd(x[, f0[, n]])", 0, 1, 2),
    "thdn": _time(ds.thd_n, _fixed("1"), "thdn(x[, f0])", 0, 1),
    "snr": _time(ds.snr, _fixed("dB"), "snr(x[, f0])", 0, 1),
    "sinad": _time(ds.sinad, _fixed("dB"), "sinad(x[, f0])", 0, 1),
    "enob": _time(ds.enob, _fixed("1"), "enob(x[, f0])", 0, 1),
    "sfdr": _time(ds.sfdr, _fixed("dB"), "sfdr(x[, f0])", 0, 1),
    "harmonic": _time(ds.harmonic, _same, "harmonic(x, n[, f0])", 1, 2),
    "ripple": Measurement(
        domain="time",
        compute=lambda signal, *window: (
            tr.ripple(signal) if not window else peak_to_peak(signal.window(*window))
        ),
        unit=_same,
        numbers=(0, 2),
        usage="ripple(x[, from, to])",
    ),
}
"""Every measurement function by its name."""
