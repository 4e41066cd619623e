"""E-series against IEC 60063, and choosing from them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.circuit.figures import with_unit
from domain.circuit.preferred_values import (
    at_least,
    at_most,
    best_pair,
    is_preferred,
    nearest,
    neighbours,
    series,
    values_between,
)

# IEC 60063, tables as printed.
E12 = [1.0, 1.2, 1.5, 1.8, 2.2, 2.7, 3.3, 3.9, 4.7, 5.6, 6.8, 8.2]
E48 = [
    1.00, 1.05, 1.10, 1.15, 1.21, 1.27, 1.33, 1.40, 1.47, 1.54, 1.62, 1.69, 1.78, 1.87, 1.96, 2.05,
    2.15, 2.26, 2.37, 2.49, 2.61, 2.74, 2.87, 3.01, 3.16, 3.32, 3.48, 3.65, 3.83, 4.02, 4.22, 4.42,
    4.64, 4.87, 5.11, 5.36, 5.62, 5.90, 6.19, 6.49, 6.81, 7.15, 7.50, 7.87, 8.25, 8.66, 9.09, 9.53,
]  # fmt: skip
POSITIVE = st.floats(min_value=1e-12, max_value=1e9)
SERIES = st.sampled_from(["E3", "E6", "E12", "E24", "E48", "E96", "E192"])


def test_series_are_those_of_the_standard():
    assert list(series("E6")) == [1.0, 1.5, 2.2, 3.3, 4.7, 6.8]
    assert list(series("E12")) == E12
    assert list(series("E48")) == E48
    assert 9.20 in series("E192")
    assert 9.19 not in series("E192")
    assert [len(series(n)) for n in ("E3", "E24", "E96", "E192")] == [3, 24, 96, 192]


def test_smaller_series_are_part_of_the_larger():
    assert set(series("E12")) < set(series("E24"))
    assert set(series("E48")) < set(series("E96")) < set(series("E192"))


@given(value=POSITIVE, name=SERIES)
def test_neighbours_enclose_a_value_and_are_preferred(value, name):
    below, above = neighbours(value, name)
    assert below <= value * (1 + 1e-9)
    assert above >= value * (1 - 1e-9)
    assert above / below < 2.21
    assert is_preferred(below, name)
    assert is_preferred(above, name)
    assert at_most(value, name) == below
    assert at_least(value, name) == above
    assert nearest(value, name) in (below, above)


@given(mantissa=st.sampled_from(E12), decade=st.integers(-12, 8))
def test_preferred_value_is_its_own_neighbour(mantissa, decade):
    value = float(f"{mantissa}e{decade}")
    assert neighbours(value, "E12") == (value, value)


def test_nearest_is_by_ratio():
    # Between 1.0 and 1.5 the middle is sqrt(1.5) = 1.2247, not 1.25.
    assert nearest(1.22, "E6") == 1.0
    assert nearest(1.23, "E6") == 1.5


def test_range_includes_its_ends_over_decades():
    assert values_between(4.7e-9, 15e-9, "E6") == (4.7e-9, 6.8e-9, 10e-9, 15e-9)
    assert values_between(1.1, 1.4, "E6") == ()


def test_pair_with_least_error_is_found():
    # R C = 1e-4 exactly: 10 k and 10 n.
    first, second = best_pair(
        values_between(1e-9, 100e-9, "E6"), lambda c: 1e-4 / c, "E24", lambda c, r: abs(r * c - 1e-4)
    )
    assert first * second == pytest.approx(1e-4, rel=1e-9)


def test_pair_without_a_second_is_an_error():
    with pytest.raises(ValueError, match="empty"):
        best_pair([1.0], lambda _: -1.0, "E24", lambda a, b: a + b)


@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), float("inf")])
def test_impossible_values_are_refused(value):
    with pytest.raises(ValueError, match="positive"):
        nearest(value, "E24")


def test_numbers_for_people():
    assert with_unit(15900, "Hz") == "15.9 kHz"
    assert with_unit(1e6, "Hz") == "1 MHz"
    assert with_unit(0.03, "V") == "30 mV"
    assert with_unit(999.99, "Hz", 3) == "1 kHz"
    assert with_unit(530.2e6, "Hz", 2) == "530 MHz"
    assert with_unit(0, "V") == "0 V"
    assert with_unit(-0.256744, "dB", 3) == "-0.257 dB"
