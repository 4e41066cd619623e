"""Awkward frequency responses."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.simulation import interpolation
from domain.simulation.expressions import evaluate
from domain.simulation.frequency_response import kind_of
from domain.simulation.signals import Signal
from shared.errors import CircuitError
from tests.ground.cases import for_each
from tests.unit.simulation.plots import plot, response

W0 = 2 * math.pi * 1e3


def _kind(transfer, **sweep) -> str:
    ac = response(transfer, **sweep)
    f, y = ac.vectors["frequency"].data, np.abs(ac.vectors["v(out)"].data)
    return kind_of(Signal(x=f.real, y=y, unit="1", axis_name="frequency", axis_unit="Hz"))


def _resonant(quality):
    return lambda s: 1 / (1 + s / (W0 * quality) + (s / W0) ** 2)


@for_each(
    ("transfer", "kind"),
    [
        (lambda s: 1 / (1 + s / W0), "low-pass"),
        (_resonant(1.5), "low-pass"),
        (_resonant(5), "low-pass"),
        (_resonant(50), "low-pass"),
        (lambda s: (s / W0) ** 2 * _resonant(5)(s), "high-pass"),
        (lambda s: (s / W0) ** 2 * _resonant(50)(s), "high-pass"),
        (lambda s: s / (s + W0), "high-pass"),
        (lambda s: s / W0 * _resonant(0.5)(s), "band-pass"),
        (lambda s: s / W0 * _resonant(30)(s), "band-pass"),
        (lambda s: (s / W0 * _resonant(3)(s)) ** 3, "band-pass"),
        (lambda s: (1 + (s / W0) ** 2) * _resonant(0.5)(s), "band-stop"),
        (
            lambda s: (1 + s / 60) / (1 + s / 6000) / (1 + s / 6e5),
            "band-pass",
        ),  # unity at DC, 40 dB in the middle
        (lambda s: 0 * s + 1, "high-pass"),
    ],
)
def test_kinds_of_response(transfer, kind):
    assert _kind(transfer) == kind


def test_a_low_pass_starting_near_its_resonance_stays_one():
    assert _kind(_resonant(5), start=400, stop=1e5) == "low-pass"


def test_a_shelving_amplifier_is_measured_around_its_maximum():
    ac = response(lambda s: (1 + s / 60) / (1 + s / 6000) / (1 + s / 6e5))
    assert evaluate("highcut(v(out))", [ac]).value == pytest.approx(6e5 / (2 * math.pi), rel=0.03)
    assert evaluate("lowcut(v(out))", [ac]).value == pytest.approx(6e3 / (2 * math.pi), rel=0.05)


def test_the_first_fall_counts_for_a_rippled_low_pass():
    def chebyshev(s):  # 1 dB, order 3
        x = np.abs(s) / W0
        return 1 / np.sqrt(1 + 0.2589 * (4 * x**3 - 3 * x) ** 2) + 0j

    ac = response(chebyshev)
    edge = math.cosh(math.acosh(math.sqrt((10**0.30103 - 1) / 0.2589)) / 3) * 1e3
    assert evaluate("bandwidth(v(out))", [ac]).value == pytest.approx(edge, rel=1e-3)


def test_interpolation_is_in_db_over_log_f():
    f = np.array([1e3, 1e5])
    two = plot("ac", ("frequency", f, "Hz"), {"v(out)": (np.array([1 + 0j, -1e-4j]), "V")})
    assert evaluate("gain(v(out), 10k)", [two]).value == pytest.approx(1e-2)
    assert evaluate("at(db(v(out)), 10k)", [two]).value == pytest.approx(-40)
    assert evaluate("at(ph(v(out)), 10k)", [two]).value == pytest.approx(-45)
    assert evaluate("ph(at(v(out), 10k))", [two]).value == pytest.approx(-45)
    assert evaluate("cross(v(out), 1m)", [two]).value == pytest.approx(1e3 * 10**1.5)
    assert evaluate("bandwidth(v(out))", [two]).value == pytest.approx(1e3 * 10 ** (3.0103 / 40), rel=1e-5)


def test_zeros_and_a_zero_frequency_do_not_break_it():
    f = np.array([0.0, 10.0, 20.0, 30.0])
    ac = plot("ac", ("frequency", f, "Hz"), {"v(out)": (np.array([0, 1, 0, 1], complex), "V")})
    assert evaluate("gain(v(out), 5)", [ac]).value == pytest.approx(0.5)
    assert evaluate("gain(v(out), 15)", [ac]).value == pytest.approx(1 - math.log2(1.5), rel=1e-9)
    assert evaluate("cross(v(out), 0.5)", [ac]).value == pytest.approx(5)
    with pytest.raises(CircuitError, match="0"):
        evaluate("bandwidth(v(out))", [ac])


def test_the_phase_of_margins_is_unwrapped():
    """A six-pole loop passes -180 and -540 degrees."""
    ac = response(lambda s: 3 / (1 + s / W0) ** 6)
    x = math.sqrt(3 ** (2 / 6) - 1)
    assert evaluate("phase_margin(v(out))", [ac]).value == pytest.approx(
        180 - 6 * math.degrees(math.atan(x)), rel=1e-2
    )
    at_180 = math.tan(math.radians(30))
    assert evaluate("gain_margin(v(out))", [ac]).value == pytest.approx(
        -20 * math.log10(3 / (1 + at_180**2) ** 3), rel=1e-2
    )
    assert evaluate("min(ph(v(out)))", [ac]).value == pytest.approx(-540, abs=3)


def test_a_loop_whose_phase_begins_above_zero_has_a_margin_of_less_than_a_turn():
    """An inverted band-pass begins at -90 or, unwrapped, +270 degrees."""
    ac = response(lambda s: 100 * (s / W0) / (1 + s / W0) ** 2 / (1 + s / W0 / 300))
    assert -180 < evaluate("phase_margin(-v(out))", [ac]).value <= 180


def test_a_high_pass_has_no_bandwidth_and_says_so():
    with pytest.raises(CircuitError, match="largest value"):
        evaluate("bandwidth(v(out))", [response(lambda s: s / (s + W0))])
    assert evaluate("lowcut(v(out))", [response(lambda s: s / (s + W0))]).value == pytest.approx(
        1e3, rel=1e-3
    )


def test_a_real_noise_response_and_its_band():
    f = np.logspace(0, 6, 301)
    density = 1e-9 / np.sqrt(1 + (f / 1e3) ** 2)
    noise = plot("noise", ("frequency", f, "Hz"), {"onoise_spectrum": (density, "V/sqrt(Hz)")})
    assert evaluate("bandwidth(onoise)", [noise]).value == pytest.approx(1e3, rel=1e-3)
    assert evaluate("noise_total(onoise)", [noise]).value == pytest.approx(
        1e-9 * math.sqrt(1e3 * (math.atan(1e3) - math.atan(1e-3))), rel=1e-4
    )
    squared = plot("noise", ("frequency", f, "Hz"), {"onoise_spectrum": (density**2, "V^2/Hz")})
    found = evaluate("noise_total(onoise)", [squared])
    assert (found.value, found.unit) == (
        pytest.approx(1e-9 * math.sqrt(1e3 * (math.pi / 2 - 2e-3)), rel=1e-3),
        "V",
    )


@pytest.mark.parametrize("exponent", [-2.0, -1.0, -0.5, 0.0, 1.0])
def test_power_law_noise_is_integrated_exactly(exponent):
    f = np.array([1.0, 10.0, 1e4])
    noise = plot("noise", ("frequency", f, "Hz"), {"onoise_spectrum": (f ** (exponent / 2), "V/sqrt(Hz)")})
    area = math.log(1e4) if exponent == -1 else (1e4 ** (exponent + 1) - 1) / (exponent + 1)
    assert evaluate("noise_total(onoise)", [noise]).value == pytest.approx(math.sqrt(area), rel=1e-9)


def test_an_axis_is_known_again_only_while_nobody_can_change_it() -> None:
    axis = np.array([1.0, 10.0, 100.0])
    signal = Signal(x=axis, y=np.array([3.0, 2.0, 1.0]), unit="V", axis_name="frequency", axis_unit="Hz")
    assert signal.ascends
    assert signal.is_finite()
    axis[1] = 1000.0
    assert not signal.ascends
    axis[1] = np.inf
    assert not signal.is_finite()
    axis[1] = 10.0
    axis.setflags(write=False)
    assert [signal.ascends, replace(signal, x=axis[::-1]).ascends, signal.ascends] == [True, False, True]


@given(st.floats(-5, 5), st.floats(-5, 5), st.floats(-3, 3), st.floats(-3, 3), st.floats(0.01, 0.99))
def test_a_cubic_passes_a_level_where_it_was_found(
    low: float, high: float, rise0: float, rise1: float, part: float
) -> None:
    step = high - low
    slopes = abs(rise0) * step, abs(rise1) * step  # of its own direction: it only rises or only falls
    level = interpolation.between(part, low, high, *slopes)
    found = interpolation.passing(level, low, high, *slopes)
    assert interpolation.between(found, low, high, *slopes) == pytest.approx(level, abs=1e-12)
