"""Measurements of a frequency response: gain, -3 dB points, margins, Q, noise.

A response is a `Signal` over frequency: complex (taken by magnitude), real, or in dB. All return
floats in SI units and raise CircuitError, with figures, when the simulated range does not show what
is asked.

Kinds of response. The low end counts as flat (low-pass like) unless it rises with more than
15 dB/decade, or the peak is so wide for its height that no resonance explains it: for the resonant
second-order low-pass (peak / low end) * (-3 dB width / peak frequency) is between 1 and 1.5, for a
band-pass it is the ratio of peak to start frequency. The high end is judged the same way. So a
Sallen-Key low-pass with Q = 5 stays a low-pass and is measured against its gain at the lowest
frequency, and a band-pass is measured against its maximum.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from domain.simulation.signals import Signal, figure
from domain.simulation.waveform import RealArray
from shared.errors import CircuitError, UserInputError
from shared.message import Message, msg

HALF_POWER_DB = 10 * math.log10(2)
"""3.0103 dB: half the power."""

_STEEP_DB_PER_DECADE = 15.0
_FLAT_DB_PER_DECADE = 2.0
_WIDE_PEAK = 5.0
_ON_CURVE = 1e-3
"""How near to a resonance's curve its samples lie; their -3 dB points are then as near."""

ResponseKind = Literal["low-pass", "high-pass", "band-pass", "band-stop"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Band:
    """A maximum (or minimum) and the two places where the response is `drop` away from it."""

    low_hz: float
    high_hz: float
    centre_hz: float


def gain(signal: Signal, frequency_hz: float) -> float:
    """The (magnitude of the) response at a frequency, in the unit of the response."""
    value = signal.value_at(frequency_hz)
    return abs(value) if np.iscomplexobj(signal.y) else value.real


def dcgain(signal: Signal) -> float:
    """The (magnitude of the) response at the lowest simulated frequency."""
    return float(signal.real[int(np.argmin(signal.x))])


def bandwidth(signal: Signal, drop_db: float = HALF_POWER_DB) -> float:
    """Bandwidth in Hz: of a low-pass, where it is `drop_db` under its gain at the lowest frequency;
    of a band-pass, the width between the points `drop_db` under its maximum; of a band-stop, the
    width between the points `drop_db` under its gain at the lowest frequency."""
    response = _linear(signal)
    drop = _ratio(drop_db)
    kind = kind_of(response)
    if kind == "band-pass":
        band = _around_peak(response, drop)
        return band.high_hz - band.low_hz
    if kind == "band-stop":
        band = _stop_band(response, drop)
        return band.high_hz - band.low_hz
    return _first(response, dcgain(response) / drop, "falling")


def highcut(signal: Signal) -> float:
    """Upper -3.0103 dB frequency in Hz: under the maximum of a band-pass, else under dcgain."""
    response = _linear(signal)
    kind = kind_of(response)
    if kind == "band-pass":
        return _around_peak(response, _ratio(HALF_POWER_DB)).high_hz
    if kind == "band-stop":
        return _stop_band(response, _ratio(HALF_POWER_DB)).low_hz
    return _first(response, dcgain(response) / _ratio(HALF_POWER_DB), "falling")


def lowcut(signal: Signal) -> float:
    """Lower -3.0103 dB frequency in Hz: under the maximum of a band-pass, else under the gain at
    the highest simulated frequency (of a high-pass, or the upper pass band of a band-stop)."""
    response = _linear(signal)
    drop = _ratio(HALF_POWER_DB)
    kind = kind_of(response)
    if kind == "band-pass":
        return _around_peak(response, drop).low_hz
    top = float(response.real[int(np.argmax(response.x))])
    if kind == "band-stop" and math.isclose(top, dcgain(response), rel_tol=0.01):
        return _stop_band(response, drop).high_hz
    rising = response.crossings(top / drop, "rising")
    if not len(rising):
        raise _no_crossing(response, top / drop)
    return float(rising[-1])


def ugf(signal: Signal) -> float:
    """Unity-gain frequency in Hz: the first place where the response falls through 1 (0 dB)."""
    return _first(_linear(signal), 1.0, "falling")


def quality(signal: Signal) -> float:
    """Q: peak frequency / width between the -3.0103 dB points around the maximum; of a band-stop,
    frequency of the minimum / its -3.0103 dB width."""
    response = _linear(signal)
    if kind_of(response) == "band-stop":
        band = _stop_band(response, _ratio(HALF_POWER_DB))
        return band.centre_hz / (band.high_hz - band.low_hz)
    band = _around_peak(response, _ratio(HALF_POWER_DB))
    return band.centre_hz / (band.high_hz - band.low_hz)


def phase_margin(signal: Signal) -> float:
    """Phase margin in degrees of a loop gain: 180 + phase where the magnitude passes 1.

    The phase is unwrapped from the low end, where a flat negative gain (an inverting probe point)
    counts as 0 degrees. With several crossings the margin nearest to 0 is given, as MATLAB's `margin`.
    """
    return phase_margin_place(signal)[1]


def phase_margin_place(signal: Signal) -> tuple[float, float]:
    """The frequency in Hz the phase margin is taken at, and the margin in degrees."""
    phase = _loop_phase(signal)
    magnitude = _linear(signal)
    places = magnitude.crossings(1.0)
    if not len(places):
        raise _no_crossing(magnitude, 1.0)
    margins = [
        (float(place), _less_than_a_turn(180.0 + phase.value_at(float(place)).real)) for place in places
    ]
    return min(margins, key=lambda margin: abs(margin[1]))


def _less_than_a_turn(margin_deg: float) -> float:
    """A loop whose phase begins above 0 has a turn too much; one far below -180 degrees stays there."""
    return margin_deg if margin_deg <= 180 else 180 - (180 - margin_deg) % 360


def gain_margin(signal: Signal) -> float:
    """Gain margin in dB of a loop gain: minus its dB where the phase passes -180 degrees (or an odd
    multiple of it). With several crossings the one nearest to 0 dB is given, as MATLAB's `margin`."""
    return gain_margin_place(signal)[1]


def gain_margin_place(signal: Signal) -> tuple[float, float]:
    """The frequency in Hz the gain margin is taken at, and the margin in dB."""
    phase = _loop_phase(signal)
    magnitude = _linear(signal)
    lowest, highest = float(phase.real.min()), float(phase.real.max())
    turns = range(math.floor((lowest - 180) / 360), math.ceil((highest + 180) / 360) + 1)
    places = [float(x) for turn in turns for x in phase.crossings(180.0 + 360.0 * turn)]
    if not places:
        raise CircuitError(
            msg("The phase does not cross -180 deg within {start} - {stop}: it ends at {phase}, so "
                "there is no gain margin.", **_range(signal), phase=figure(float(phase.real[-1]), "deg")),
            advice=msg("Simulate up to a higher frequency if the loop has more poles there."),
        )  # fmt: skip
    margins = [(place, -20 * math.log10(max(gain(magnitude, place), 1e-300))) for place in places]
    return min(margins, key=lambda margin: abs(margin[1]))


def phase_deg(values: RealArray | np.ndarray) -> RealArray:
    """(n,) complex -> (n,) phase in degrees, unwrapped."""
    angles = np.angle(values)
    # Most responses turn less than half a turn from a sample to the next.
    wraps = (np.abs(angles[1:] - angles[:-1]) > np.pi).any()
    return np.degrees(np.unwrap(angles) if wraps else angles)


def group_delay(signal: Signal) -> RealArray:
    """(n,) group delay -dphi/domega in s."""
    if len(signal.x) < 2:
        raise CircuitError(msg("A group delay needs at least two frequencies."))
    phase = np.unwrap(np.angle(signal.y))
    return np.asarray(-np.gradient(phase, 2 * np.pi * signal.x))


def noise_total(signal: Signal, start_hz: float | None = None, stop_hz: float | None = None) -> float:
    """Integrated noise, rms, of a density (V/sqrt(Hz), or V^2/Hz) over the band.

    Between samples the power density is taken as a power of f, as ngspice does (Nintegrate in
    its noise code), which is exact for white and 1/f noise.
    """
    if start_hz is not None and stop_hz is not None:
        signal = signal.window(start_hz, stop_hz)
    density = signal.real if signal.unit.endswith("^2/Hz") else signal.real**2
    f0, f1, s0, s1 = signal.x[:-1], signal.x[1:], density[:-1], density[1:]
    power = 0.5 * (s0 + s1) * (f1 - f0)
    smooth = (f0 > 0) & (f1 > f0) & (s0 > 0) & (s1 > 0)
    f0, f1, s0, s1 = f0[smooth], f1[smooth], s0[smooth], s1[smooth]
    octave = np.log(f1 / f0)
    exponent = np.log(s1 / s0) / octave + 1
    # The integral of s0 (f/f0)^n over the step is s0 f0 (e^u - 1)/(n + 1), with u = (n + 1) ln(f1/f0).
    growth = exponent * octave
    is_flat = np.abs(growth) < 1e-9
    safe = np.where(is_flat, 1.0, growth)
    power[smooth] = s0 * f0 * octave * np.where(is_flat, 1.0, np.expm1(safe) / safe)
    return math.sqrt(float(power.sum()))


def kind_of(response: Signal) -> ResponseKind:
    """What a linear magnitude response is; the rule is in the module's docstring."""
    values = response.real
    drop = _ratio(HALF_POWER_DB)
    peak = int(np.argmax(values))
    top, left, right = float(values[peak]), float(values[0]), float(values[-1])
    if left < top / drop and right < top / drop:
        width = _peak_width(response, peak, top / drop)
        is_low_end_flat = _is_flat(response, slice(0, 2), left, top, width)
        is_high_end_flat = _is_flat(response, slice(-2, None), right, top, width)
        if not is_low_end_flat and not is_high_end_flat:
            return "band-pass"
        return "low-pass" if is_low_end_flat else "high-pass"
    lowest = float(values.min())
    if right >= left / drop and left >= right / drop and lowest < min(left, right) / drop:
        return "band-stop"
    return "low-pass" if right < left else "high-pass"


def ends_flat(response: Signal) -> bool:
    """Whether the gain stands still at the highest frequency: there is what a high-pass lets through."""
    order = np.argsort(response.x)[-2:]
    (f0, f1), (y0, y1) = response.x[order], np.abs(response.y[order])
    if not 0 < f0 < f1 or y0 <= 0 or y1 <= 0:
        return False
    slope = abs(20 * math.log10(y1 / y0) / math.log10(f1 / f0))
    return slope <= _FLAT_DB_PER_DECADE


def _is_flat(response: Signal, end: slice, level: float, top: float, relative_width: float) -> bool:
    """Whether one end of a peaked response goes on flat rather than falling away."""
    f0, f1 = response.x[end]
    y0, y1 = response.real[end]
    if level <= 0 or not 0 < f0 < f1 or y0 <= 0 or y1 <= 0:
        return level > 0 and abs(y1 - y0) <= 0.1 * max(y0, y1)
    slope = abs(20 * (math.log10(y1) - math.log10(y0)) / (math.log10(f1) - math.log10(f0)))
    return slope <= _STEEP_DB_PER_DECADE and top / level * relative_width <= _WIDE_PEAK


def _peak_width(response: Signal, peak: int, level: float) -> float:
    """Width at `level` around the peak, relative to its frequency."""
    low, high = _either_side(response, float(response.x[peak]), level)
    if low is None or high is None:
        return math.inf
    return (high - low) / float(response.x[peak])


def _either_side(response: Signal, centre_hz: float, level: float) -> tuple[float | None, float | None]:
    rising = response.crossings(level, "rising")
    falling = response.crossings(level, "falling")
    below, above = rising[rising <= centre_hz], falling[falling >= centre_hz]
    return (float(below[-1]) if len(below) else None, float(above[0]) if len(above) else None)


def _around_peak(response: Signal, drop: float) -> _Band:
    peak = int(np.argmax(response.real))
    centre, top, sharpness = _resonance(response, peak)
    if band := _resonant_band(response, (centre, top, sharpness), drop):
        return band
    low, high = _either_side(response, float(response.x[peak]), top / drop)
    if low is None or high is None:
        raise _no_crossing(response, top / drop)
    return _Band(low_hz=low, high_hz=high, centre_hz=centre)


def _resonant_band(response: Signal, resonance: tuple[float, float, float], drop: float) -> _Band | None:
    """The band of a peak that is, as far as the samples show, that of a second-order resonance.

    A peak is taken as one when it is sharper than the sampling, its edges within two steps of the top, or
    when all samples of the band lie on the curve; other peaks are read off the samples.
    """
    centre, top, sharpness = resonance
    if sharpness <= 0:
        return None
    reach = math.asinh(math.sqrt((drop**2 - 1) / sharpness))
    distance = np.log(response.x / centre, where=response.x > 0, out=np.full(len(response.x), np.inf))
    peak = int(np.argmin(np.abs(distance)))
    step = float(np.diff(distance[max(peak - 1, 0) : peak + 2]).min())
    near = np.abs(distance) <= reach + step
    curve = top / np.sqrt(1 + sharpness * np.sinh(distance[near]) ** 2)
    if reach >= 2 * step and np.abs(response.real[near] / curve - 1).max() > _ON_CURVE:
        return None
    edge = math.exp(reach)
    return _Band(low_hz=centre / edge, high_hz=centre * edge, centre_hz=centre)


def _resonance(response: Signal, index: int) -> tuple[float, float, float]:
    """(frequency, magnitude, sharpness) of the extreme at a sample, which seldom falls on it.

    At a second-order resonance |H0/H|^2 = 1 + sharpness sinh^2(u), u = ln(f/f0), sharpness = 4 Q^2 (from
    H = H0 / (1 + j Q (f/f0 - f0/f))), which is a sum of 1, cosh 2u and sinh 2u: the one through the sample
    and its neighbours is exact. Without one the sample itself, sharpness 0.
    """
    x, y = response.x, response.real
    here = (float(x[index]), float(y[index]), 0.0)
    around = slice(index - 1, index + 2)
    if index == 0 or index == len(x) - 1 or min(x[around]) <= 0 or min(y[around]) <= 0:
        return here
    left, _, right = 2 * np.log(x[around] / x[index])
    rise_left, _, rise_right = (y[index] / y[around]) ** 2 - 1
    matrix = [[math.cosh(left) - 1, math.sinh(left)], [math.cosh(right) - 1, math.sinh(right)]]
    even, odd = (float(part) for part in np.linalg.solve(matrix, [rise_left, rise_right]))
    if abs(odd) >= abs(even):
        return here
    best = min(max(math.atanh(-odd / even) / 2, left / 2), right / 2)
    swing = math.copysign(math.sqrt(even**2 - odd**2), even)
    base = 1 - even + swing
    if base <= 0:
        return here
    return here[0] * math.exp(best), here[1] / math.sqrt(base), 2 * swing / base


def _stop_band(response: Signal, drop: float) -> _Band:
    """Where the response is `drop` under its gain at the lowest frequency on both sides of its minimum.

    What a second-order notch takes away from the power, 1 - |H/H0|^2, is a resonance, whatever its depth;
    so a notch is measured as a peak is, also one that is sharper than the sampling.
    """
    bottom = int(np.argmin(response.real))
    power = 1 - (response.real / dcgain(response)) ** 2
    taken = replace(response, y=np.sqrt(np.clip(power, 1e-18, None)))
    level = math.sqrt(1 - 1 / drop**2)
    centre, top, sharpness = _resonance(taken, bottom)
    if top > level and (band := _resonant_band(taken, (centre, top, sharpness), top / level)):
        return band
    low, high = _either_side(taken, float(response.x[bottom]), level)
    if low is None or high is None:
        raise _no_crossing(response, dcgain(response) / drop)
    return _Band(low_hz=low, high_hz=high, centre_hz=centre)


def _first(response: Signal, level: float, direction: Literal["rising", "falling"]) -> float:
    places = response.crossings(level, direction)
    if not len(places):
        raise _no_crossing(response, level)
    return float(places[0])


def _no_crossing(response: Signal, level: float) -> CircuitError:
    values = response.real
    return CircuitError(
        msg("The response does not cross {level} within {start} - {stop}: it begins at {first}, ends at "
            "{last} and has its largest value, {largest}, at {place}.",
            level=_decibels(level), **_range(response), first=_decibels(float(values[0])),
            last=_decibels(float(values[-1])), largest=_decibels(float(values.max())),
            place=figure(float(response.x[int(np.argmax(values))]), "Hz")),
        advice=msg("Simulate a wider frequency range, or check the circuit's response."),
    )  # fmt: skip


def _range(signal: Signal) -> dict[str, str]:
    return {
        "start": figure(float(signal.x.min()), "Hz"),
        "stop": figure(float(signal.x.max()), "Hz"),
    }


def _decibels(value: float) -> str:
    return figure(20 * math.log10(value), "dB") if value > 0 else "0"


def _ratio(drop_db: float) -> float:
    if drop_db == 0 or not math.isfinite(drop_db):
        raise UserInputError(msg("The drop must be a number of dB other than 0, such as 3."))
    return float(10 ** (abs(drop_db) / 20))


def _linear(signal: Signal) -> Signal:
    """The magnitude over ascending frequencies, dB turned back."""
    y = 10 ** (signal.real / 20) if signal.unit == "dB" else np.abs(signal.y)
    if signal.ascends or (signal.x[1:] >= signal.x[:-1]).all():
        return signal.with_data(y, "1")
    order = np.argsort(signal.x, kind="stable")
    return replace(signal, x=signal.x[order], y=y[order], unit="1")


def _loop_phase(signal: Signal) -> Signal:
    if not np.iscomplexobj(signal.y):
        raise UserInputError(_needs_complex())
    degrees = phase_deg(signal.y)
    magnitude = np.abs(signal.y)
    slope = 0.0
    if len(magnitude) > 1 and magnitude[0] > 0 and magnitude[1] > 0 and 0 < signal.x[0] < signal.x[1]:
        steps = math.log10(magnitude[1]) - math.log10(magnitude[0])
        slope = 20 * steps / (math.log10(signal.x[1]) - math.log10(signal.x[0]))
    start = float(degrees[0])
    if abs(abs(start) - 180) < 45 and abs(slope) < 10:
        degrees = degrees - math.copysign(180.0, start)
    elif start > 135:
        degrees = degrees - 360.0
    return signal.with_data(degrees, "deg")


def _needs_complex() -> Message:
    return msg(
        "A margin needs magnitude and phase of the loop gain: use the complex vector, such as v(out), "
        "not its dB value or magnitude."
    )
