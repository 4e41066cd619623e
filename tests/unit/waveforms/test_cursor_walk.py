"""Peaks, valleys and edges as the keys of the cursors find them."""

import numpy as np

from presentation.panels.waveforms.cursor_walk import features, next_feature


def test_peaks_valleys_and_edges_of_a_damped_oscillation() -> None:
    time = np.linspace(0.0, 5.0, 5001)
    values = np.exp(-time / 2) * np.cos(2 * np.pi * time)
    peaks = time[features(values, "peak")]
    assert np.allclose(peaks, [0.987, 1.987, 2.987, 3.987], atol=0.01)
    assert np.allclose(time[features(values, "valley")], [0.487, 1.487, 2.487, 3.487, 4.487], atol=0.01)
    at = next_feature(values, 1500, "peak", forward=True)
    assert at is not None
    assert abs(time[at] - 1.987) < 0.01
    back = next_feature(values, at, "peak", forward=False)
    assert back is not None
    assert abs(time[back] - 0.987) < 0.01
    assert next_feature(values, 5000, "peak", forward=True) is None


def test_noise_level_tops_and_flat_lines() -> None:
    square = np.repeat([0.0, 1.0, 0.0, 1.0, 0.0], 100)
    assert features(square, "peak").tolist() == [149, 349]
    assert features(square, "edge").tolist() == [100, 200, 300, 400]
    noisy = square + 1e-4 * np.sin(np.arange(500))
    assert len(features(noisy, "peak")) == 2
    assert len(features(np.full(50, 3.3), "peak")) == 0
    assert len(features(np.array([np.nan, 1.0, np.nan]), "edge")) == 0
    assert len(features(np.array([1.0]), "valley")) == 0
