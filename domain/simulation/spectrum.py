"""The spectrum of a waveform in time: amplitudes over frequency, by a windowed Fourier transform.

Amplitudes are peak values, as ngspice's `fft` and `.four` give them: a sine of 1 V is 1 V in its bin, the
mean is in bin 0. They are right for a tone (divided by the window's coherent gain); noise stands higher by
the window's noise bandwidth, which `Spectrum.noise_bandwidth` tells.

Uneven steps are brought to equal ones by cubic interpolation: a power of two, at least twice the samples.
What stands at equal steps already is taken as it is.

Windows: F. J. Harris, "On the use of windows for harmonic analysis with the discrete Fourier transform",
Proc. IEEE 66 (1978); the flat top is that of D'Antona and Ferrero, "Digital Signal Processing for Measurement
Systems" (2006), the coefficients of MATLAB's `flattopwin`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from domain.simulation.resampling import resampled
from domain.simulation.signals import Signal, figure
from domain.simulation.waveform import ComplexArray, RealArray
from shared.errors import CircuitError
from shared.message import msg

WindowName = Literal["rectangular", "hann", "blackman-harris", "flat-top"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A sum of cosines over the record, and what it does to a tone."""

    terms: tuple[float, ...]
    half_lobe: int
    """Bins on each side of a tone that belong to it. 0: a tone is one bin, which holds for whole periods."""

    def samples(self, count: int) -> RealArray:
        """(count,) the window over a record that repeats."""
        angle = 2 * np.pi * np.arange(count) / count
        found = np.full(count, self.terms[0])
        for order, term in enumerate(self.terms[1:], 1):
            found += (-1) ** order * term * np.cos(order * angle)
        return found

    @property
    def noise_bandwidth(self) -> float:
        """Of one bin, in bins: mean square over squared mean."""
        return 1 + sum(term**2 for term in self.terms[1:]) / (2 * self.terms[0] ** 2)


WINDOWS: dict[WindowName, Window] = {
    "rectangular": Window(terms=(1.0,), half_lobe=0),
    "hann": Window(terms=(0.5, 0.5), half_lobe=2),
    "blackman-harris": Window(terms=(0.35875, 0.48829, 0.14128, 0.01168), half_lobe=4),
    "flat-top": Window(
        terms=(0.21557895, 0.41663158, 0.277263158, 0.083578947, 0.006947368),
        half_lobe=5,
    ),
}

_NEARLY = 1e-4
"""Of a period, by which a span may be longer than whole periods and be taken for them."""
_LEAST_POINTS = 4096
_MOST_POINTS = 1 << 20
_EQUAL = 1e-6
"""Steps that differ by less, as a part of a step, are equal."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Spectrum:
    """One waveform over one span, by its frequencies."""

    frequencies: RealArray
    """(m,) Hz from 0 to half the sampling rate, in steps of `resolution_hz`."""
    bins: ComplexArray
    """(m,) peak amplitude and phase (of a cosine at the start of the span); the mean in bin 0."""
    unit: str
    window: WindowName
    start: float
    stop: float
    """The span in s."""
    samples: int
    """In the span, as simulated."""
    points: int
    """At equal steps, that were transformed."""
    is_interpolated: bool
    """The steps were uneven."""

    @property
    def amplitudes(self) -> RealArray:
        """(m,) peak amplitudes; the mean's size in bin 0."""
        return np.abs(self.bins)

    @property
    def resolution_hz(self) -> float:
        """From one bin to the next: 1 / span."""
        return 1 / (self.stop - self.start)

    @property
    def half_lobe(self) -> int:
        return WINDOWS[self.window].half_lobe

    @property
    def noise_bandwidth(self) -> float:
        """In bins."""
        return WINDOWS[self.window].noise_bandwidth


def spectrum_of(
    signal: Signal,
    *,
    start: float | None = None,
    stop: float | None = None,
    window: WindowName = "blackman-harris",
) -> Spectrum:
    """The spectrum of a waveform over a span of its time axis (None: its ends).

    A span that is a whole number of periods long has each harmonic in the middle of a bin. Where the steps
    are equal it is moved to the nearest samples (not for the rectangular window, which lives on whole
    periods). Raises
    CircuitError for a span with fewer than three samples, for one that is not on the axis, and for values
    that are not finite.
    """
    goes_on = bool((np.diff(signal.x) >= 0).all()) and (len(signal.x) < 3 or signal.x[-1] > signal.x[0])
    if not (signal.is_finite() and goes_on):
        raise CircuitError(
            msg("No spectrum can be made of a waveform with values that are not finite, or whose time does "
                "not only rise.")
        )  # fmt: skip
    first, last = float(signal.x[0]), float(signal.x[-1])
    start = first if start is None else max(start, first)
    stop = last if stop is None else min(stop, last)
    inside = slice(int(np.searchsorted(signal.x, start)), int(np.searchsorted(signal.x, stop, "right")))
    samples = inside.stop - inside.start
    if samples < 3:
        raise CircuitError(
            msg("Between {start} and {stop} there are {count} {count:sample|samples}, too few for a "
                "spectrum.",
                start=figure(start, signal.axis_unit), stop=figure(stop, signal.axis_unit),
                count=max(samples, 0))
        )  # fmt: skip
    x = signal.x[inside]
    is_equal = _are_equal(x)
    if is_equal and window != "rectangular":
        start, stop = float(x[0]), float(x[-1])
    values, is_interpolated = _at_equal_steps(signal, inside, start, stop, is_equal=is_equal)
    shape = WINDOWS[window]
    weights = shape.samples(len(values))
    mean = float(values @ weights / weights.sum())
    # The mean goes first: it may be a thousand times what is looked for, and its side lobes with it.
    bins = np.fft.rfft((values - mean) * weights) * (2 / weights.sum())
    bins[0] = mean
    if len(values) % 2 == 0:
        bins[-1] /= 2  # half the sampling rate has one line, not two
    return Spectrum(
        frequencies=np.arange(len(bins)) / (stop - start),
        bins=bins,
        unit=signal.unit,
        window=window,
        start=start,
        stop=stop,
        samples=samples,
        points=len(values),
        is_interpolated=is_interpolated,
    )


def _are_equal(x: RealArray) -> bool:
    step = float(x[-1] - x[0]) / (len(x) - 1)
    return float(np.abs(np.diff(x) - step).max()) <= _EQUAL * step


def _at_equal_steps(
    signal: Signal, inside: slice, start: float, stop: float, *, is_equal: bool
) -> tuple[RealArray, bool]:
    """The span's values at equal steps, its end left out (where the record repeats), and whether they
    had to be interpolated."""
    x = signal.x[inside]
    reach = _EQUAL * float(x[-1] - x[0]) / (len(x) - 1)
    if is_equal and abs(x[0] - start) <= reach and abs(x[-1] - stop) <= reach:
        return np.asarray(signal.real[inside][:-1]), False
    count = min(max(1 << math.ceil(math.log2(2 * len(x))), _LEAST_POINTS), _MOST_POINTS)
    grid = start + (stop - start) * (np.arange(count) / count)
    # Samples that share a place (an edge without width) have no slope.
    around = slice(max(inside.start - 3, 0), inside.stop + 3)
    is_new = np.concatenate(([True], np.diff(signal.x[around]) > 0))
    return resampled(signal.x[around][is_new], signal.real[around][is_new], grid), True


def periods_for(window: WindowName) -> int:
    """How many periods of a tone a span has at least, so that a window tells it from the mean."""
    return 2 * WINDOWS[window].half_lobe + 1


def whole_periods(start: float, stop: float, fundamental_hz: float) -> tuple[float, float, int]:
    """The longest end of a span that is a whole number of periods: (start, stop, periods); the span itself
    and 0 where it is shorter than one, and the span itself where it is nearly whole: a frequency that was
    measured is not exact."""
    periods = math.floor((stop - start) * fundamental_hz * (1 + 1e-9) + 1e-6)
    if periods < 1:
        return start, stop, 0
    begin = stop - periods / fundamental_hz
    return (start if begin - start < _NEARLY / fundamental_hz else begin), stop, periods
