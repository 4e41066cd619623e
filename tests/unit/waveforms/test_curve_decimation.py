"""Long curves on few pixels: no peak is lost, no point is invented."""

import numpy as np
import pytest

from presentation.panels.waveforms.curve_item import without_straight
from presentation.panels.waveforms.traces import Stretch
from tests.ground.campaign import campaigns


def test_a_short_curve_is_drawn_as_it_is():
    x = np.linspace(0, 1, 100)
    shown, _ = Stretch(x, x**2).visible(0.0, 1.0, 80)
    assert np.array_equal(shown, x)


def test_only_what_is_in_sight_is_drawn_with_one_point_beyond_each_end():
    x = np.arange(1000.0)
    shown, _ = Stretch(x, x).visible(100.5, 110.5, 800)
    assert list(shown) == list(range(100, 112))


def test_a_single_spike_in_a_million_samples_is_seen():
    x = np.linspace(0, 1, 1_000_000)
    y = np.zeros_like(x)
    y[654_321] = 5.0
    shown_x, shown_y = Stretch(x, y).visible(0.0, 1.0, 800)
    assert len(shown_x) <= 3 * 800 + 8
    assert shown_y.max() == 5.0
    assert abs(shown_x[shown_y.argmax()] - x[654_321]) < 1 / 800


def test_gaps_are_kept_and_do_not_spread():
    x = np.linspace(0, 1, 100_000)
    y = np.sin(x)
    y[50_000:60_000] = np.nan
    shown_x, shown_y = Stretch(x, y).visible(0.0, 1.0, 500)
    missing = shown_x[np.isnan(shown_y)]
    assert len(missing) > 0
    assert 0.49 < missing.min() < missing.max() < 0.61
    assert np.nanmax(shown_y) == pytest.approx(np.sin(1.0))


def test_a_dense_burst_beside_long_silence_keeps_its_shape():
    """Adaptive time steps: nearly all samples in a thousandth of the axis."""
    x = np.concatenate((np.linspace(0, 0.5, 50), np.linspace(0.5, 0.501, 200_000), np.linspace(0.501, 1, 50)))
    x = np.unique(x)
    y = np.where((x > 0.5) & (x < 0.501), np.sin(1e6 * x), 0.0)
    shown_x, shown_y = Stretch(x, y).visible(0.0, 1.0, 800)
    quiet = (shown_x < 0.4985) | (shown_x > 0.5025)
    assert np.all(shown_y[quiet] == 0)
    assert shown_y.max() > 0.99


@campaigns(fast=60, whole=6_000)
def test_extremes_of_every_view_are_those_of_the_samples_in_it(campaign):
    for rng in campaign.cases():
        random = np.random.default_rng(rng.getrandbits(32))
        size = rng.choice((1, 2, 5, 63, 64, 65, 1000, 5000, 40_000))
        x = np.sort(random.random(size) ** rng.choice((1, 3)))
        y = random.normal(size=size)
        low, high = sorted((rng.uniform(-0.1, 1.1), rng.uniform(-0.1, 1.1)))
        columns = rng.choice((1, 2, 7, 100, 900))
        shown_x, shown_y = Stretch(x, y).visible(low, high, columns)
        assert len(shown_x) == len(shown_y) <= 3 * columns + 8
        assert np.all(np.diff(shown_x) >= -1e-12)
        inside = (x >= low) & (x <= high)
        if inside.any():
            first, last = max(np.flatnonzero(inside)[0] - 1, 0), np.flatnonzero(inside)[-1] + 2
            assert shown_y.max() >= y[inside].max()
            assert shown_y.min() <= y[inside].min()
            assert set(shown_y) <= set(y[first:last])


@pytest.mark.parametrize("size", [3_000, 20_000, 1_000_000])
def test_a_smooth_curve_stays_on_itself_however_many_samples_it_has(size):
    """What is drawn of a steep slope has no steps: every point lies where the curve is."""
    x = np.linspace(0, 1, size)
    y = 300 * np.log1p(50 * x)
    shown_x, shown_y = Stretch(x, y).visible(0.0, 1.0, 425)
    assert np.abs(shown_y - np.interp(shown_x, x, y)).max() < 1e-9


def test_points_on_a_straight_line_are_not_stroked():
    x = np.linspace(0, 900, 1690)
    for y in (0.5 * x, 20 * np.sin(x / 20), np.where(x < 450, 0.0, 300.0), np.full_like(x, 7.0)):
        thin_x, thin_y = without_straight(x, y)
        assert (thin_x[0], thin_x[-1]) == (x[0], x[-1])
        assert len(thin_x) < len(x) / 2
        assert np.abs(np.interp(x, thin_x, thin_y) - y).max() <= 0.3 * np.sqrt(2)  # slopes up to 1
    assert [len(part) for part in without_straight(np.arange(3.0), np.array([0.0, 9.0, 0.0]))] == [3, 3]
    there_and_back = without_straight(np.array([0.0, 5.0, 1.0]), np.zeros(3))
    assert len(there_and_back[0]) == 3
    assert len(without_straight(np.zeros(1), np.zeros(1))[0]) == 1


def test_no_spike_is_lost_where_columns_are_looked_up_in_coarse_levels() -> None:
    # Per column 6,000 and 40,000 samples: borders of buckets of 64 and of 4,096.
    for count in (600_000, 4_000_000):
        x, y = np.linspace(0.0, 1.0, count), np.zeros(count)
        places = np.random.default_rng(count).integers(0, count, 40)
        y[places] = np.linspace(1.0, 2.0, 40)
        stretch = Stretch(x, y)
        for low, high in ((0.0, 1.0), (0.1237, 0.9871)):
            shown_x, shown_y = stretch.visible(low, high, 100)
            assert len(shown_x) <= 3 * 100 + 8
            assert (np.diff(shown_x) >= 0).all()
            column = (high - low) / 100
            seen = [place for place in places.tolist() if low + column < x[place] < high - column]
            for place in seen:
                near = np.abs(shown_x - x[place]) <= 1.25 * column
                assert shown_y[near].max() >= y[place], (count, place)
