"""Filter prototypes against published tables."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.design.prototypes import attenuation_db, frequency_of, magnitude, prototype, ripple_edge
from tests.ground.cases import for_each

# (frequency, Q) by section, real pole first, -3 dB at 1: the filter tables of Texas Instruments SLOD006B,
# chapter 16 (f = 1 / sqrt(b), Q = sqrt(b) / a), and of Zverev.
TABLES = {
    ("butterworth", 2, 0.0): [(1.0, 0.7071)],
    ("butterworth", 3, 0.0): [(1.0, None), (1.0, 1.0)],
    ("butterworth", 4, 0.0): [(1.0, 0.5412), (1.0, 1.3066)],
    ("butterworth", 5, 0.0): [(1.0, None), (1.0, 0.6180), (1.0, 1.6180)],
    ("butterworth", 6, 0.0): [(1.0, 0.5176), (1.0, 0.7071), (1.0, 1.9319)],
    ("butterworth", 8, 0.0): [(1.0, 0.5098), (1.0, 0.6013), (1.0, 0.9000), (1.0, 2.5629)],
    ("bessel", 2, 0.0): [(1.2720, 0.5773)],
    ("bessel", 3, 0.0): [(1.3226, None), (1.4476, 0.6910)],
    ("bessel", 4, 0.0): [(1.4302, 0.5219), (1.6034, 0.8055)],
    ("bessel", 5, 0.0): [(1.5023, None), (1.5563, 0.5635), (1.7545, 0.9165)],
}
# Chebyshev relative to the ripple edge (tables of Zverev and Van Valkenburg): pole parts (real, imaginary).
CHEBYSHEV_POLES = {
    (2, 0.5): [(0.7128, 1.0040)],
    (3, 0.5): [(0.6265, 0.0), (0.3132, 1.0219)],
    (4, 0.5): [(0.4233, 0.4210), (0.1754, 1.0163)],
    (3, 1.0): [(0.4942, 0.0), (0.2471, 0.9660)],
    (5, 1.0): [(0.2895, 0.0), (0.2342, 0.6119), (0.0895, 0.9901)],
}


@for_each("key", TABLES)
def test_sections_are_those_of_the_tables(key):
    found = prototype(*key)
    assert len(found) == len(TABLES[key])
    for section, (frequency, q) in zip(found, TABLES[key], strict=True):
        assert section.frequency == pytest.approx(frequency, rel=2e-3)
        assert section.q == (None if q is None else pytest.approx(q, rel=2e-3))


@pytest.mark.parametrize("key", CHEBYSHEV_POLES)
def test_chebyshev_poles_are_those_of_the_tables(key):
    order, ripple = key
    edge = ripple_edge(order, ripple)
    poles = [
        complex(s.frequency, 0)
        if s.q is None
        else complex(s.frequency / (2 * s.q), s.frequency * math.sqrt(1 - 1 / (4 * s.q**2)))
        for s in prototype("chebyshev", order, ripple)
    ]
    found = sorted((p.real / edge, abs(p.imag) / edge) for p in poles)
    assert found == [pytest.approx(pole, abs=6e-4) for pole in sorted(CHEBYSHEV_POLES[key])]


@pytest.mark.parametrize("order", range(1, 11))
@pytest.mark.parametrize("response", ["butterworth", "bessel", "chebyshev"])
def test_every_prototype_is_half_power_at_one(response, order):
    sections = prototype(response, order, 0.5)
    assert sum(1 if s.q is None else 2 for s in sections) == order
    assert magnitude(sections, 1.0) == pytest.approx(1 / math.sqrt(2), rel=1e-9)


@given(order=st.integers(1, 10), frequency=st.floats(0.01, 100))
def test_butterworth_follows_its_closed_form(order, frequency):
    expected = 10 * math.log10(1 + frequency ** (2 * order))
    assert attenuation_db(prototype("butterworth", order), frequency) == pytest.approx(expected, abs=1e-6)


@given(order=st.integers(2, 10), ripple=st.sampled_from([0.1, 0.5, 1.0, 3.0]), share=st.floats(0.0, 1.0))
def test_chebyshev_stays_inside_its_ripple_up_to_the_edge(order, ripple, share):
    sections = prototype("chebyshev", order, ripple)
    level = -attenuation_db(sections, share * ripple_edge(order, ripple))
    low, high = (0.0, ripple) if order % 2 == 0 else (-ripple, 0.0)
    assert low - 1e-6 <= level <= high + 1e-6


@given(order=st.integers(1, 10), decibels=st.floats(0.1, 80))
def test_frequency_of_an_attenuation(order, decibels):
    sections = prototype("butterworth", order)
    expected = (10 ** (decibels / 10) - 1) ** (1 / (2 * order))
    assert frequency_of(sections, decibels) == pytest.approx(expected, rel=1e-6)
