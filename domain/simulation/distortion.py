"""What a spectrum says of a tone: its harmonics, THD, THD+N, SNR, SINAD, ENOB, SFDR.

Definitions of IEEE Std 1241-2010 (terms and test methods for analog-to-digital converters), clause 3.1 and
annexes, with the mean left out everywhere:

    THD     rms of harmonics 2 to 9 over the rms of the fundamental
    THD+N   rms of all else (harmonics, spurs, noise) over the rms of the fundamental
    SINAD   1 / (THD+N), in dB
    SNR     the fundamental over all that is neither it nor one of the harmonics 2 to 9, in dB
    ENOB    (SINAD - 1.76 dB) / 6.02 dB, for a sine that fills the range
    SFDR    the fundamental over the largest other line, harmonics included, in dB

A tone is the root of the sum of squares over its window's main lobe, divided by the noise bandwidth, so that
it does not matter where between two bins it lies. Noise is read from the bins that belong to no tone and
counted for the others, too. A fundamental that nobody gives is the largest line; its frequency is that of the
sine that fits best (four parameters, IEEE Std 1057-2017, annex B).
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from domain.simulation import time_response
from domain.simulation.resampling import resampled
from domain.simulation.signals import Signal, figure
from domain.simulation.spectrum import Spectrum, WindowName, spectrum_of, whole_periods
from domain.simulation.waveform import RealArray
from shared.errors import CircuitError, UserInputError
from shared.message import msg

HARMONICS = 9
"""Highest harmonic counted, as ngspice's .four."""
_NOTHING = 1e-12
"""Of the largest line: below it there is only the arithmetic."""
_FITS = 4
_CLEAN_DB = 300.0
"""More than doubles can tell apart: what stands for no distortion at all."""
_ALIKE = 0.5
_BESIDE_MEAN = 2
"""Bins that a drift fills more than others."""
_PER_PERIOD = 64
_MOST_COMPARED = 4096
"""Periods."""
_ALIKE_PERIODS = 1e-3
"""Of the swing, by which the means and sizes of settled periods differ at most."""
_LEAST_SHARE = 5
"""What is alike in less than a fifth of the periods is so by chance."""
_EVEN_PERIODS = 2e-4
"""Of a period, by which equal ones differ at most."""
_NEAR = 0.02
_STEADY_PERIODS = 10
"""With so many the lobes of mean, fundamental and harmonics lie apart under a Blackman-Harris window."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Harmonic:
    """One line at a multiple of the fundamental."""

    order: int
    frequency_hz: float
    amplitude: float
    """Peak, in the waveform's unit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Distortion:
    """The figures of one tone in one spectrum; ratios are of amplitudes."""

    fundamental: Harmonic
    mean: float
    harmonics: tuple[Harmonic, ...]
    """From the second on, as far as the spectrum goes."""
    thd: float
    """A fraction."""
    thd_n: float
    """A fraction."""
    snr_db: float
    sinad_db: float
    sfdr_db: float
    spur_hz: float
    """Where the largest other line is."""

    @property
    def enob(self) -> float:
        return (self.sinad_db - 10 * math.log10(1.5)) / (20 * math.log10(2))


def distortion_of(
    spectrum: Spectrum, fundamental_hz: float | None = None, harmonics: int = HARMONICS
) -> Distortion:
    """The figures of a spectrum. Raises CircuitError where there is no tone, or too few periods of it to
    tell it from the mean with this window."""
    half, power = spectrum.half_lobe, spectrum.amplitudes**2
    mean = float(spectrum.bins[0].real)
    power[0] = 0.0
    is_free = np.ones(len(power), dtype=bool)
    _take(is_free, 0, half)
    if not is_free.any() or not float(power[is_free].max()) > (_NOTHING * abs(mean)) ** 2:
        raise _no_tone(spectrum)
    if fundamental_hz is None:
        fundamental_hz = _line_at(spectrum, int(np.argmax(np.where(is_free, power, 0.0))))
    at = _bin(spectrum, fundamental_hz)
    if at <= 2 * half or at >= len(power):
        raise _too_few_periods(spectrum, fundamental_hz, at)
    fundamental = _tone(spectrum, power, is_free, at)
    if fundamental**2 <= _NOTHING**2 * float(power.max()):
        raise CircuitError(
            msg("The waveform has no component at {frequency}.", frequency=figure(fundamental_hz, "Hz"))
        )
    spur_at, spur = _largest(power, is_free)
    found: list[Harmonic] = []
    for order in range(2, harmonics + 1):
        place = _bin(spectrum, order * fundamental_hz)
        if place + half >= len(power):
            break
        amplitude = _tone(spectrum, power, is_free, place)
        found.append(Harmonic(order=order, frequency_hz=order * fundamental_hz, amplitude=amplitude))
    distortion = math.sqrt(sum(line.amplitude**2 for line in found))
    noise = _noise(spectrum, power, is_free)
    rest = math.hypot(distortion, noise)
    largest = max(found, key=lambda line: line.amplitude, default=None)
    spur_hz = float(spectrum.frequencies[spur_at])
    if largest is not None and largest.amplitude >= spur:
        spur, spur_hz = largest.amplitude, largest.frequency_hz
    return Distortion(
        fundamental=Harmonic(order=1, frequency_hz=fundamental_hz, amplitude=fundamental),
        mean=mean,
        harmonics=tuple(found),
        thd=distortion / fundamental,
        thd_n=rest / fundamental,
        snr_db=_ratio_db(fundamental, noise),
        sinad_db=_ratio_db(fundamental, rest),
        sfdr_db=_ratio_db(fundamental, spur),
        spur_hz=spur_hz,
    )


def fundamental_of(signal: Signal, start: float | None = None, stop: float | None = None) -> float:
    """The frequency in Hz of the strongest tone of a waveform over a span; a drift is none.

    Raises CircuitError where there is none.
    """
    spectrum = spectrum_of(signal, start=start, stop=stop, window="hann")
    at = _strongest(spectrum)
    part = signal.window(spectrum.start, spectrum.stop)
    if at <= _BESIDE_MEAN:  # a tone of one or two periods, or what settles while a ripple stands on it
        level = _without_slope(part)
        flat = spectrum_of(level, window="hann")
        with suppress(CircuitError):
            if (place := _strongest(flat)) > _BESIDE_MEAN:
                part, spectrum, at = level, flat, place
    nearly = _line_at(spectrum, at)
    if nearly * (spectrum.stop - spectrum.start) < _STEADY_PERIODS:
        # Of few periods a fit is led astray by what is no sine; they repeat exactly.
        with suppress(CircuitError):
            counted = time_response.frequency(part)
            if abs(counted / nearly - 1) < _ALIKE:
                return counted
    fitted = _fitted(part, nearly)
    counted = _counted(part)
    # Harmonics pull at the fit; equal periods are believed before it.
    is_led_astray = abs(counted / fitted - 1) > _EVEN_PERIODS and abs(counted / nearly - 1) < _NEAR
    return counted if is_led_astray else fitted


def _counted(part: Signal) -> float:
    """The frequency of periods that are all equally long; not a number for any others."""
    try:
        lengths = np.diff(time_response.period_starts(part))
    except CircuitError:
        return math.nan
    return 1 / float(lengths.mean()) if np.ptp(lengths) < _EVEN_PERIODS * lengths.mean() else math.nan


def settled_start(signal: Signal, frequency_hz: float, start: float, stop: float) -> float:
    """Where the periods begin that are alike, in mean and size, up to `stop`: what is before them is a
    start-up. `start` where all are alike, and where so few are that the span holds no steady state."""
    count = min(int((stop - start) * frequency_hz * (1 + 1e-9)), _MOST_COMPARED)
    if count < 2:
        return start
    begin = stop - count / frequency_hz
    grid = begin + np.arange(count * _PER_PERIOD) / (_PER_PERIOD * frequency_hz)
    is_new = np.concatenate(([True], np.diff(signal.x) > 0))  # an edge without width has no slope
    periods = resampled(signal.x[is_new], signal.real[is_new], grid).reshape(count, _PER_PERIOD)
    means, sizes = periods.mean(axis=1), periods.std(axis=1)
    away = np.maximum(np.abs(means - means[-1]), np.abs(sizes - sizes[-1]))
    other = np.flatnonzero(away > _ALIKE_PERIODS * float(np.ptp(periods[-1])))
    if not len(other):
        return start
    alike = count - 1 - int(other[-1])
    return start if alike < max(2, count / _LEAST_SHARE) else stop - alike / frequency_hz


def _strongest(spectrum: Spectrum) -> int:
    """The bin of the highest line. Raises CircuitError where there is none."""
    power = spectrum.amplitudes**2
    # A record of one or two periods has its tone beside the mean.
    power[0] = 0.0
    at = int(np.argmax(power))
    if not power[at] > (_NOTHING * abs(spectrum.bins[0].real)) ** 2 or at + 1 >= len(power):
        raise _no_tone(spectrum)
    return at


def _without_slope(signal: Signal) -> Signal:
    """The same less the straight line through it, each sample counted by the time it stands for."""
    weights = np.sqrt(np.maximum(np.gradient(signal.x), 0.0))
    middle = signal.x - signal.x.mean()
    slope = float(np.polyfit(middle, signal.real, 1, w=weights)[0])
    return signal.with_data(signal.real - slope * middle, signal.unit)


def steady_distortion(
    signal: Signal, fundamental_hz: float | None = None, harmonics: int = HARMONICS
) -> Distortion:
    """The figures of the steady state: of the whole periods in the second half of the record, as `thd`.

    With ten periods or more through a Blackman-Harris window, so that what is not harmonic stays where it
    is; with fewer of them as they are. Raises as `distortion_of`.
    """
    if fundamental_hz is not None and not fundamental_hz > 0:
        raise UserInputError(msg("The fundamental frequency must be greater than 0."))
    first, last = float(signal.x[0]), float(signal.x[-1])
    middle = (first + last) / 2
    if fundamental_hz is None:
        fundamental_hz = fundamental_of(signal, middle)
        if (last - middle) * fundamental_hz < _STEADY_PERIODS:  # all of the record tells more of so few
            fundamental_hz = fundamental_of(signal)
    if (last - first) * fundamental_hz < 1 - 1e-6:
        raise CircuitError(
            msg("The record of {length} is shorter than one period of {frequency}.",
                length=figure(last - first, "s"), frequency=figure(fundamental_hz, "Hz"))
        )  # fmt: skip
    start, stop, periods = whole_periods(middle, last, fundamental_hz)
    if not periods:
        start, stop, periods = last - 1 / fundamental_hz, last, 1
    window: WindowName = "blackman-harris" if periods >= _STEADY_PERIODS else "rectangular"
    spectrum = spectrum_of(signal, start=max(start, first), stop=stop, window=window)
    return distortion_of(spectrum, fundamental_hz, harmonics)


def thd(signal: Signal, fundamental_hz: float | None = None, harmonics: float = HARMONICS) -> float:
    """Harmonics over the fundamental, a fraction, as `time_response.thd`; the fundamental may be left out."""
    if fundamental_hz is None:
        fundamental_hz = steady_distortion(signal).fundamental.frequency_hz
    return time_response.thd(signal, fundamental_hz, harmonics)


def thd_n(signal: Signal, fundamental_hz: float | None = None) -> float:
    """Distortion and noise over the fundamental, a fraction."""
    return steady_distortion(signal, fundamental_hz).thd_n


def snr(signal: Signal, fundamental_hz: float | None = None) -> float:
    """Fundamental over noise, in dB."""
    return steady_distortion(signal, fundamental_hz).snr_db


def sinad(signal: Signal, fundamental_hz: float | None = None) -> float:
    """Fundamental over all else, in dB."""
    return steady_distortion(signal, fundamental_hz).sinad_db


def enob(signal: Signal, fundamental_hz: float | None = None) -> float:
    """Effective number of bits."""
    return steady_distortion(signal, fundamental_hz).enob


def sfdr(signal: Signal, fundamental_hz: float | None = None) -> float:
    """Fundamental over the largest other line, in dB."""
    return steady_distortion(signal, fundamental_hz).sfdr_db


def harmonic(signal: Signal, order: float, fundamental_hz: float | None = None) -> float:
    """Peak amplitude of a harmonic, the fundamental being the first."""
    count = round(order)
    if count != order or not 1 <= count <= 100:
        raise UserInputError(msg("The order of a harmonic is a whole number from 1 to 100."))
    found = steady_distortion(signal, fundamental_hz, max(count, 2))
    if count == 1:
        return found.fundamental.amplitude
    for line in found.harmonics:
        if line.order == count:
            return line.amplitude
    raise CircuitError(
        msg("Harmonic {order} of {frequency} is beyond what the time steps resolve.",
            order=count, frequency=figure(found.fundamental.frequency_hz, "Hz")),
        advice=msg("Simulate with a smaller maximum time step."),
    )  # fmt: skip


def _bin(spectrum: Spectrum, frequency_hz: float) -> int:
    return round(frequency_hz / spectrum.resolution_hz)


def _take(is_free: NDArray[np.bool_], at: int, half: int) -> None:
    is_free[max(at - half, 0) : at + half + 1] = False


def _tone(spectrum: Spectrum, power: RealArray, is_free: NDArray[np.bool_], at: int) -> float:
    """Peak amplitude of the tone around a bin, from what belongs to no other; it is taken then."""
    half = spectrum.half_lobe
    lobe = slice(max(at - half, 0), at + half + 1)
    found = math.sqrt(float(power[lobe][is_free[lobe]].sum()) / spectrum.noise_bandwidth)
    _take(is_free, at, half)
    return found


def _line_at(spectrum: Spectrum, at: int) -> float:
    """The frequency of the tone whose largest bin this is: the middle of its lobe by power."""
    half = spectrum.half_lobe
    lobe = slice(max(at - half, 1), at + half + 1)
    weights = spectrum.amplitudes[lobe] ** 2
    return float((spectrum.frequencies[lobe] * weights).sum() / weights.sum())


def _largest(power: RealArray, is_free: NDArray[np.bool_]) -> tuple[int, float]:
    """The largest line that nothing has taken: its bin and amplitude."""
    left = np.where(is_free, power, 0.0)
    at = int(np.argmax(left))
    return at, math.sqrt(float(left[at]))


def _noise(spectrum: Spectrum, power: RealArray, is_free: NDArray[np.bool_]) -> float:
    """Peak amplitude of a sine as strong as all that is in no tone, the bins of the tones filled up."""
    count = int(np.count_nonzero(is_free))
    if not count:
        return 0.0
    density = float(power[is_free].sum()) / count
    return math.sqrt(density * (len(power) - 1) / spectrum.noise_bandwidth)


def _ratio_db(tone: float, rest: float) -> float:
    return _CLEAN_DB if rest <= tone * 10 ** (-_CLEAN_DB / 20) else 20 * math.log10(tone / rest)


def _fitted(part: Signal, frequency_hz: float) -> float:
    """The frequency of the sine that fits best, from a first guess within half a bin."""
    x, y = part.x, part.real
    span = float(x[-1] - x[0])
    time = x - (x[0] + x[-1]) / 2
    steps = np.diff(x)
    weight = np.sqrt(np.concatenate(([steps[0]], steps[1:] + steps[:-1], [steps[-1]])) / 2)
    found = frequency_hz
    for _ in range(_FITS):
        angle = 2 * np.pi * found * time
        cosine, sine, one = np.cos(angle), np.sin(angle), np.ones_like(time)
        columns = np.stack((cosine, sine, one), axis=1) * weight[:, None]
        a, b, _c = np.linalg.lstsq(columns, y * weight, rcond=None)[0]
        slope = 2 * np.pi * time * (b * cosine - a * sine) * span
        wider = np.column_stack((columns, slope * weight))
        change = float(np.linalg.lstsq(wider, y * weight, rcond=None)[0][3]) * span
        if not math.isfinite(change):
            break
        found += min(max(change, -0.25 / span), 0.25 / span)
    # A tone that the fit leaves is no sine that stands through the span: the lobe's middle is its place.
    return found if abs(found - frequency_hz) * span <= 0.75 else frequency_hz


def _no_tone(spectrum: Spectrum) -> CircuitError:
    return CircuitError(
        msg("The waveform is constant at {value}.", value=figure(float(spectrum.bins[0].real), spectrum.unit))
    )


def _too_few_periods(spectrum: Spectrum, frequency_hz: float, at: int) -> CircuitError:
    if at >= len(spectrum.frequencies):
        return CircuitError(
            msg("{frequency} is beyond what the time steps resolve.", frequency=figure(frequency_hz, "Hz")),
            advice=msg("Simulate with a smaller maximum time step."),
        )
    return CircuitError(
        msg("The span of {length} has {periods} periods of {frequency}; with this window it needs at least "
            "{needed}.",
            length=figure(spectrum.stop - spectrum.start, "s"), periods=f"{at}",
            frequency=figure(frequency_hz, "Hz"), needed=2 * spectrum.half_lobe + 1),
        advice=msg("Show a longer span, or choose the rectangular window over whole periods."),
    )  # fmt: skip
