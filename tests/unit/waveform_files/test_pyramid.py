"""Envelopes of vectors against the samples they stand for."""

from __future__ import annotations

import numpy as np
import pytest

from infrastructure.waveforms.pyramid import envelope, is_monotonic, level_sizes, pyramid_of
from tests.ground.campaign import Campaign, campaigns


def test_levels():
    assert level_sizes(0) == level_sizes(64) == []
    assert level_sizes(65) == [2]
    assert level_sizes(10**7) == [156_250, 19_532, 2_442, 306, 39]
    values = np.sin(np.arange(100_000.0))
    found = pyramid_of(values)
    assert [len(low) for low in found.low] == level_sizes(100_000)
    for low, high in zip(found.low, found.high, strict=True):
        assert (low.min(), high.max()) == (values.min(), values.max())


def test_a_glitch_of_one_sample_is_seen_at_any_zoom():
    values = np.zeros(1_000_000)
    values[654_321] = 5
    values[123_456] = -7
    axis = np.arange(1_000_000.0)
    levels = pyramid_of(values)
    for low, high in ((0, 1e6), (1e5, 7e5), (654_000, 655_000), (123_450, 654_322)):
        found = envelope(axis, values, levels, start=low, stop=high, max_points=300)
        assert found.high.max() == 5
    assert envelope(axis, values, levels, start=0, stop=1e6, max_points=300).low.min() == -7


def test_the_ends_reach_one_sample_beyond_the_window():
    axis = np.arange(10.0)
    found = envelope(axis, axis * 2, None, start=3.5, stop=5.5, max_points=100)
    assert found.is_exact
    assert found.x.tolist() == [3, 4, 5, 6]
    assert found.low.tolist() == found.high.tolist() == [6, 8, 10, 12]


def test_a_falling_axis_a_missing_one_and_a_complex_vector():
    axis = np.arange(10.0)[::-1]
    found = envelope(axis, np.arange(10.0), None, start=3.5, stop=5.5, max_points=100)
    assert found.x.tolist() == [6, 5, 4, 3]
    found = envelope(None, np.arange(10.0), None, start=3, stop=4, max_points=100)
    assert found.x.tolist() == [3, 4, 5]
    found = envelope(np.arange(2.0), np.array([3 + 4j, 1]), None, start=0, stop=1, max_points=100)
    assert found.low.tolist() == [5, 1]


def test_monotonic():
    assert is_monotonic(np.array([1.0, 1.0, 2.0]))
    assert is_monotonic(np.array([3.0, 2.0, 2.0]))
    assert not is_monotonic(np.array([0.0, 1.0, 0.0, 1.0]))


@campaigns(fast=300, whole=40_000)
def test_every_stretch_has_the_least_and_the_greatest_of_its_samples(campaign: Campaign):
    for rng in campaign.cases():
        random = np.random.default_rng(rng.randrange(2**32))
        count = rng.choice((1, 2, 63, 64, 65, 4097, rng.randrange(1, 60_000)))
        axis = np.cumsum(random.random(count))
        values = random.normal(size=count)
        if rng.random() < 0.3:
            values[random.random(count) < 0.5] = np.nan
        falls = rng.random() < 0.3
        if falls:
            axis = axis[::-1].copy()
        levels = pyramid_of(values) if rng.random() < 0.8 else None
        start, stop = sorted(random.uniform(-1, axis.max() + 1, 2))
        most = rng.choice((2, 3, 10, 100, 1000))
        found = envelope(axis, values, levels, start=start, stop=stop, max_points=most)
        assert 1 <= len(found.x) <= max(most, 2)
        first = int(np.flatnonzero(axis == found.x[0])[0])
        begins = np.searchsorted(-axis if falls else axis, -found.x if falls else found.x)
        inside = np.flatnonzero((axis >= start) & (axis <= stop))
        last = min((int(inside[-1]) if len(inside) else first) + 2, count)
        for place, begin in enumerate(begins):
            end = int(begins[place + 1]) if place + 1 < len(begins) else None
            piece = values[begin:end] if end else values[begin : max(last, begin + 1)]
            low, high = found.low[place], found.high[place]
            if end is None and not len(inside):
                continue  # between two samples: what lies beyond is not told apart here
            expected = (np.nan, np.nan) if np.isnan(piece).all() else (np.nanmin(piece), np.nanmax(piece))
            assert (low, high) == pytest.approx(expected, nan_ok=True, rel=0, abs=0)
