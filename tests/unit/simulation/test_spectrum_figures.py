"""Spectra and their figures against signals whose figures are known from how they were made."""

from __future__ import annotations

import math

import numpy as np
import pytest

from domain.simulation.distortion import distortion_of, fundamental_of, settled_start, steady_distortion
from domain.simulation.expressions import evaluate
from domain.simulation.signals import Signal
from domain.simulation.spectrum import WINDOWS, WindowName, spectrum_of, whole_periods
from domain.simulation.time_response import thd
from shared.errors import CircuitError, UserInputError
from tests.ground.cases import for_each
from tests.unit.simulation.plots import transient

LOSSES = {
    "rectangular": (3.92, -13.26),
    "hann": (1.42, -31.47),
    "blackman-harris": (0.83, -92.01),
    "flat-top": (0.01, -93.03),
}
"""dB a tone between two bins stands too low at most, and the highest side lobe, as published."""


def _signal(x: np.ndarray, y: np.ndarray) -> Signal:
    return Signal(x=x, y=y, unit="V", axis_name="time", axis_unit="s")


def _uneven(stop: float, count: int, seed: int = 3) -> np.ndarray:
    """Times with steps that differ by up to three tenths to each side."""
    x = np.linspace(0, stop, count + 1)
    x[1:-1] += np.random.default_rng(seed).uniform(-0.3, 0.3, count - 1) * stop / count
    return x


def _two_tones(x: np.ndarray, f0: float = 1e3) -> np.ndarray:
    """1 V at f0 on 0.5 V, 10 mV at its double, 3 mV at its triple."""
    angle = 2 * math.pi * f0 * x
    return 0.5 + np.sin(angle) + 0.01 * np.sin(2 * angle + 1) + 0.003 * np.cos(3 * angle)


@for_each(("window", "periods"), [(name, count) for name in WINDOWS for count in (20.0, 20.37)])
def test_a_tone_has_its_amplitude_whatever_window_and_steps(window: WindowName, periods: float):
    f0 = 1e3
    x = _uneven(periods / f0, 6000)
    spectrum = spectrum_of(_signal(x, _two_tones(x)), window=window)
    assert spectrum.is_interpolated
    assert (spectrum.samples, spectrum.points) == (6001, 16384)
    assert spectrum.resolution_hz == pytest.approx(f0 / periods)
    bin_at = round(periods)
    lost = -20 * math.log10(spectrum.amplitudes[bin_at])
    if periods == 20:
        assert abs(lost) < 1e-3
        assert spectrum.bins[0].real == pytest.approx(0.5, abs=1e-4)
        assert spectrum.amplitudes[40] == pytest.approx(0.01, abs=1e-4)
    else:
        assert -1e-3 < lost < LOSSES[window][0] + 1e-3
    if window != "rectangular":  # the lobe's sum does not depend on where between two bins it lies
        found = distortion_of(spectrum)
        assert found.fundamental.amplitude == pytest.approx(1, abs=3e-4)
        assert found.fundamental.frequency_hz == pytest.approx(f0, rel=1e-4)


@for_each("window", list(WINDOWS))
def test_a_window_is_what_its_numbers_say(window: WindowName):
    shape, count = WINDOWS[window], 1 << 12
    weights = shape.samples(count)
    assert shape.noise_bandwidth == pytest.approx(count * (weights**2).sum() / weights.sum() ** 2)
    fine = np.abs(np.fft.rfft(weights, 64 * count)) / weights.sum()
    assert -20 * math.log10(fine[32]) == pytest.approx(LOSSES[window][0], abs=0.01)
    beyond = fine[64 * max(shape.half_lobe, 1) :]
    assert 20 * math.log10(beyond.max()) == pytest.approx(LOSSES[window][1], abs=0.1)


def test_figures_of_a_tone_with_two_harmonics():
    x = _uneven(20e-3, 20_000)
    found = steady_distortion(_signal(x, _two_tones(x, 1013.37)))
    assert found.fundamental.frequency_hz == pytest.approx(1013.37, rel=1e-4)
    assert found.mean == pytest.approx(0.5, abs=1e-5)
    assert found.thd == pytest.approx(math.hypot(0.01, 0.003), rel=1e-5)
    assert found.sfdr_db == pytest.approx(40, abs=1e-3)
    assert found.spur_hz == pytest.approx(2026.74, rel=1e-4)
    assert found.snr_db > 120
    assert found.enob == pytest.approx((found.sinad_db - 1.7609) / 6.0206, abs=1e-4)


def test_white_noise_counts_for_all_bins():
    count, sigma = 1 << 16, 1e-3
    x = np.linspace(0, 1, count + 1)
    y = np.sin(2 * math.pi * 997 * x) + np.random.default_rng(1).normal(0, sigma, count + 1)
    expected = 20 * math.log10(1 / math.sqrt(2) / sigma)
    for window in WINDOWS:
        found = distortion_of(spectrum_of(_signal(x, y), window=window))
        assert found.snr_db == pytest.approx(expected, abs=0.1), window
    assert steady_distortion(_signal(x, y)).snr_db == pytest.approx(expected, abs=0.15)


@for_each("bits", [8, 10, 12])
def test_a_quantised_sine_has_its_bits(bits: int):
    x = np.linspace(0, 1, (1 << 15) + 1)
    step = 2 / 2**bits
    y = np.round(np.sin(2 * math.pi * 997 * x) / step) * step
    assert steady_distortion(_signal(x, y), 997).enob == pytest.approx(bits, abs=0.05)


@for_each("periods", [1, 2, 5, 13])
def test_a_square_wave_of_few_periods(periods: int):
    x = np.linspace(0, periods * 1e-3, periods * 2000 + 1)
    wave = _signal(x, np.where((x * 1e3 + 1e-9) % 1 < 0.5, 1.0, -1.0))
    expected = math.sqrt(sum(1 / order**2 for order in (3, 5, 7, 9)))
    given = steady_distortion(wave, 1e3)
    assert given.thd == pytest.approx(expected, rel=2e-3)
    assert given.thd == pytest.approx(thd(wave, 1e3), rel=2e-3)
    if periods > 1:
        assert fundamental_of(wave) == pytest.approx(1e3, rel=1e-3)


def test_a_spur_that_is_no_harmonic_is_told_from_noise():
    x = np.linspace(0, 50e-3, 20_001)
    y = np.sin(2 * math.pi * 1e3 * x) + 1e-3 * np.sin(2 * math.pi * 3517 * x)
    found = steady_distortion(_signal(x, y))
    assert found.spur_hz == pytest.approx(3517, abs=45)
    assert found.sfdr_db == pytest.approx(60, abs=0.9)
    assert found.thd < 1e-6
    assert found.sinad_db == pytest.approx(60, abs=0.1)


def test_the_functions_of_the_language():
    wave = transient(lambda t: _two_tones(t, 20e3), points=8001)
    for text, value, unit in (
        ("thd(v(out))", 0.010440, "1"),
        ("thd(v(out), 20k, 2)", 0.01, "1"),
        ("thdn(v(out), 20k)", 0.010440, "1"),
        ("sfdr(v(out))", 40.0, "dB"),
        ("sinad(v(out))", 39.6257, "dB"),
        ("enob(v(out), 20k)", 6.2899, "1"),
        ("harmonic(v(out), 3)", 0.003, "V"),
        ("harmonic(v(out), 1, 20k)", 1.0, "V"),
    ):
        measured = evaluate(text, [wave])
        assert measured.value == pytest.approx(value, rel=1e-3), text
        assert measured.unit == unit, text
    assert evaluate("snr(v(out))", [wave]).value > 100


def test_a_span_is_cut_to_whole_periods_from_its_end():
    start, stop, periods = whole_periods(0.0, 10.4e-3, 1e3)
    assert (start, stop, periods) == (pytest.approx(0.4e-3), 10.4e-3, 10)
    assert whole_periods(0.0, 10e-3, 1e3)[2] == 10
    assert whole_periods(0.0, 0.5e-3, 1e3) == (0.0, 0.5e-3, 0)
    assert whole_periods(0.0, 5e-3, 1000.002) == (0.0, 5e-3, 5)  # as measured


def test_an_edge_without_width_is_no_harm():
    x = np.concatenate((np.linspace(0, 1e-3, 100), np.linspace(1e-3, 2e-3, 100)))
    y = np.concatenate((np.zeros(100), np.ones(100)))
    spectrum = spectrum_of(_signal(x, y), window="rectangular")
    assert np.isfinite(spectrum.bins).all()
    assert spectrum.bins[0].real == pytest.approx(0.5, abs=0.01)
    assert spectrum.amplitudes[1] == pytest.approx(2 / math.pi, rel=0.02)


@for_each(
    ("text", "words"),
    [
        ("sfdr(v(out))", "constant at 2V"),
        ("thd(v(out))", "constant at 2V"),
        ("snr(v(out), 100)", "shorter than one period of 100Hz"),
    ],
)
def test_what_has_no_tone_says_so(text: str, words: str):
    with pytest.raises(CircuitError) as caught:
        evaluate(text, [transient(lambda t: np.full_like(t, 2.0))])
    assert words in str(caught.value)


def test_bad_arguments_are_refused():
    wave = transient(lambda t: _two_tones(t, 20e3))
    for text in ("sfdr(v(out), -1)", "snr(v(out), 0)", "harmonic(v(out), 1.5)", "harmonic(v(out), 0)"):
        with pytest.raises(UserInputError):
            evaluate(text, [wave])
    with pytest.raises(CircuitError, match="beyond"):
        evaluate("harmonic(v(out), 90, 20k)", [transient(lambda t: _two_tones(t, 20e3), points=400)])
    x = np.linspace(0, 3e-3, 3001)
    with pytest.raises(CircuitError, match="3 periods"):
        distortion_of(spectrum_of(_signal(x, _two_tones(x))))
    with pytest.raises(CircuitError, match="too few"):
        spectrum_of(_signal(x, _two_tones(x)), start=1e-3, stop=1.0005e-3)


def test_what_settles_under_a_ripple_is_no_tone() -> None:
    x = _uneven(3e-3, 6000)
    ripple = 0.25 * np.abs((x * 20e3) % 1 - 0.5)  # a triangle of 20 kHz
    settling = _signal(x, 5 * (1 - np.exp(-x / 1.5e-3)) + ripple)
    assert fundamental_of(settling, 2.1e-3, 3e-3) == pytest.approx(20e3, rel=2e-3)
    assert fundamental_of(_signal(x, 5 * (x / 3e-3) + ripple)) == pytest.approx(20e3, rel=1e-3)
    one = _signal(x, np.sin(2 * np.pi * 400 * x))
    assert fundamental_of(one) == pytest.approx(400, rel=0.01)


@pytest.mark.parametrize(
    ("size", "time_constant", "expected"), [(0.0, 1.0, 0.0), (0.5, 3e-4, 2e-3), (0.5, 5e-3, 0.0)]
)
def test_a_start_up_ends_where_the_periods_are_alike(
    size: float, time_constant: float, expected: float
) -> None:
    x = np.linspace(0, 10e-3, 4001)
    wave = _signal(x, np.sin(2e3 * np.pi * x) + size * np.exp(-x / time_constant))
    start = settled_start(wave, 1e3, 0.0, 10e-3)
    assert start == pytest.approx(expected, abs=1e-9), "0: all is alike, or nothing has settled"
    if start:
        assert distortion_of(spectrum_of(wave, start=start, window="rectangular"), 1e3).thd < 1e-3


def test_harmonics_do_not_pull_at_the_frequency_of_periods_that_are_equal() -> None:
    x = np.linspace(0, 10e-3, 2011)
    for start_up in (0.0, 0.3):
        wave = np.tanh(4 * np.sin(2e3 * np.pi * x)) + start_up * np.exp(-x / 2e-4)
        assert fundamental_of(_signal(x, wave)) == pytest.approx(1e3, rel=5e-5)


HELD = np.repeat(np.linspace(0, 1e-3, 100), 2)
"""Times of samples that are held: each edge without width."""


@for_each(
    ("x", "y"),
    [
        (np.linspace(0, 1, 50), np.where(np.arange(50) == 20, np.nan, 1.0)),
        (np.full(50, np.nan), np.sin(np.arange(50))),
        (np.append(np.arange(49.0), np.inf), np.sin(np.arange(50))),
        (np.tile(np.arange(25.0), 2), np.sin(np.arange(50))),
        (np.zeros(50), np.sin(np.arange(50))),
    ],
)
def test_of_a_damaged_record_there_is_no_spectrum(x: np.ndarray, y: np.ndarray) -> None:
    for of in (spectrum_of, fundamental_of):
        with pytest.raises(CircuitError, match="No spectrum"):
            of(_signal(x, y))


def test_samples_that_are_held_are_read_between_their_edges() -> None:
    held = _signal(HELD, np.concatenate(([0.0], np.repeat(np.sin(2e4 * np.pi * HELD[1::2]), 2)[:-1])))
    assert abs(held.value_at(0.5e-3) - math.sin(2e4 * math.pi * HELD[98])) < 1e-9
    assert fundamental_of(held) == pytest.approx(1e4, rel=0.02)
