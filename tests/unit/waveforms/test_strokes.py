"""Lines as images: each column is covered where the line is, no more and no less."""

from __future__ import annotations

import numpy as np
import pytest
from PyQt6.QtCore import QPointF, QRectF
from PyQt6.QtGui import QColor, QImage, QPainter, QPen, QPolygonF, QTransform

from presentation.panels.waveforms.curve_item import Line
from presentation.panels.waveforms.strokes import Stroke, spans, stroked
from tests.ground.cases import for_each

BLACK = QColor(0, 0, 0)


def coverage(stroke: Stroke, size: tuple[int, int]) -> np.ndarray:
    """(rows, columns) 0 to 1 of a line that was stroked in black."""
    columns, rows = size
    found = np.zeros((rows, columns))
    drawn = stroke.pixels[: stroke.image.height()] >> 24
    found[stroke.top : stroke.top + len(drawn)] = drawn / 255
    return found


def by_qt(x: np.ndarray, y: np.ndarray, size: tuple[int, int], width: float) -> np.ndarray:
    """The same by Qt's outline."""
    image = QImage(*size, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(0)
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(BLACK, width))
    painter.drawPolyline(QPolygonF([QPointF(*place) for place in zip(x, y, strict=True)]))
    painter.end()
    memory = image.constBits()
    assert memory is not None
    memory.setsize(image.sizeInBytes())
    return np.frombuffer(memory, np.uint32).reshape(size[1], size[0]).copy() / (255 << 24)


@for_each(
    ("periods", "width"), [(periods, width) for periods in (0.5, 4, 12, 40) for width in (1.5, 2.0, 3.0)]
)
def test_a_line_covers_what_qts_outline_covers(periods: float, width: float) -> None:
    size = (200, 120)
    x = np.linspace(0.0, 200.0, 2_000)
    y = 60 + 40 * np.sin(2 * np.pi * periods * x / 200)
    ours, theirs = coverage(stroked(x, y, size, width, BLACK), size), by_qt(x, y, size, width)
    apart = np.abs(ours - theirs)[:, 3:-3]  # but for the ends, which Qt cuts off
    assert ours.sum() == pytest.approx(theirs.sum(), rel=0.05)
    assert apart.sum() < 0.15 * theirs.sum()
    assert apart.max() <= 0.6  # half of a pixel at a steep edge


def test_a_dashed_line_that_oscillates_has_no_pauses() -> None:
    """A fifth trace, 1 kHz over 100 ms, looked like bursts of it."""
    pen = QPen(BLACK, 1.5)
    pen.setDashPattern([6.0, 3.0])
    image = QImage(200, 120, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(0)
    x = np.linspace(0.0, 200.0, 4_000)
    painter = QPainter(image)
    Line.of(x, 60 + 40 * np.sin(2 * np.pi * x / 4), pen).draw(painter, QTransform(), QRectF(0, 0, 200, 120))
    painter.end()
    memory = image.constBits()
    assert memory is not None
    memory.setsize(image.sizeInBytes())
    drawn = np.frombuffer(memory, np.uint32).reshape(120, 200) >> 24
    assert (drawn.max(axis=0)[2:-2] > 0).all()


def test_a_span_is_from_the_least_to_the_greatest_of_its_column() -> None:
    low, high = spans(np.array([1.5, 2.25, 2.5, 2.75, 4.0]), np.array([0.0, 3.0, -9.0, 8.0, 3.0]), 6)
    assert np.isnan(low[[0, 5]]).all()
    assert low[1:5] == pytest.approx([0, -9, 3, 3])
    assert high[1:5] == pytest.approx([2, 8, 7, 3])


def test_a_color_that_is_half_transparent_stays_so_and_gaps_are_empty() -> None:
    x, y = np.array([0.0, 50.0, 50.0, 100.0]), np.array([20.0, 20.0, -1e6, 1e6])
    gaps = np.arange(100) % 16 >= 8
    stroke = stroked(x, y, (100, 40), 2.0, QColor(200, 100, 50, 128), without=gaps)
    shown = stroke.image.pixelColor(30 // 16 * 16 + 3, 20 - stroke.top)
    assert shown.alpha() == 128
    assert (shown.red(), shown.green()) == (pytest.approx(200, abs=2), pytest.approx(100, abs=2))
    assert not stroke.pixels[:, gaps].any()


def test_what_lies_beside_the_image_draws_nothing() -> None:
    x = np.linspace(0.0, 30.0, 50)
    for away in (-500.0, 500.0):
        stroke = stroked(x, np.full(50, away), (30, 20), 1.5, BLACK)
        assert not coverage(stroke, (30, 20)).any()
    assert not coverage(stroked(x - 100, x, (30, 20), 1.5, BLACK), (30, 20)).any()


def test_noise_far_below_a_pixel_is_no_turn() -> None:
    """It made an area with gaps of a dashed curve that rises and falls once."""
    x = np.linspace(0.0, 1.0, 6_000)
    wave = np.clip(np.sin(2 * np.pi * x), 0.0, 1.0)
    noise = 1e-5 * (-1.0) ** np.arange(len(x))
    dense = np.sin(2 * np.pi * 500 * np.linspace(0.0, 1.0, 200_000))
    assert Line.of(x, wave + noise, QPen()).turns <= 3
    assert Line.of(np.linspace(0.0, 1.0, 200_000), dense, QPen()).turns == 1000
    assert Line.of(x, np.full(len(x), 1.7e308), QPen()).turns == 0
