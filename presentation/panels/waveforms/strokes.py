"""A line that turns often, stroked into an image: its cost depends on the pixels, not on the turns.

Qt joins what it strokes into one outline, of which every pixel row of every turn is an edge: a sine of 400
periods as high as the plot takes 16 ms, here about one. A line that never goes back is, in each column of
pixels, one span from its least to its greatest value, widened by the disc of the pen. Where spans begin and
end is written as differences down the column, in fractions of a pixel, and summed; a column is taken in
`_FINE` parts.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PyQt6.QtGui import QColor, QImage, qPremultiply

from domain.simulation.waveform import RealArray

# PyQt makes all enumerations of a class when one is first asked for: not while the first curve is painted.
_FORM = QImage.Format.Format_ARGB32_Premultiplied
_FINE = 2
_LEVELS = 64
"""Into how many parts a pixel is divided at the ends of a span."""
_MOST_SLOPE = 0.75
"""Pixels by which spans are shortened at most: a pen of one pixel still joins them."""

Pixels = NDArray[np.uint32]
Columns = NDArray[np.bool_]


class Stroke(NamedTuple):
    """A line as an image."""

    image: QImage
    """Premultiplied ARGB."""
    top: int
    """The row where it begins."""
    pixels: Pixels
    """The image's memory, which has to live as long."""


def spans(x: RealArray, y: RealArray, columns: int) -> tuple[RealArray, RealArray]:
    """Least and greatest y, (columns,) each, of a line within each column [k, k + 1); NaN beside the line.

    x ((m,), never falling) and y ((m,)) are its corners.
    """
    borders = np.arange(columns + 1.0)
    at_borders = np.interp(borders, x, y)
    first = np.searchsorted(x, borders)
    has_corners = first[1:] > first[:-1]
    corners = np.append(y, y[-1])  # `reduceat` wants each beginning to be there
    low = np.minimum(at_borders[:-1], at_borders[1:])
    high = np.maximum(at_borders[:-1], at_borders[1:])
    np.minimum(low, np.minimum.reduceat(corners, first[:-1]), out=low, where=has_corners)
    np.maximum(high, np.maximum.reduceat(corners, first[:-1]), out=high, where=has_corners)
    beside = (borders[1:] <= x[0]) | (borders[:-1] > x[-1])
    low[beside] = high[beside] = np.nan
    return low, high


def stroked(
    x: RealArray,
    y: RealArray,
    size: tuple[int, int],
    width: float,
    color: QColor,
    *,
    without: Columns | None = None,
) -> Stroke:
    """The line in an image as wide as `size` (columns, rows) and as high as the line needs.

    x, y: (m,) pixels from the upper left corner, x never falling; `width` in pixels; `without`, (columns,),
    are those that stay empty.
    """
    columns, rows = size
    count = max(round(width * _FINE), 1)  # parts of a column that a steep line fills
    shift = 0.0 if count % 2 else -0.5
    low, high = spans(x * _FINE + shift, y, columns * _FINE)
    low, high = _widened(low, high, count, width / 2)
    is_empty = ~np.isfinite(low)
    if without is not None:
        is_empty |= np.repeat(without, _FINE)
    shown_low, shown_high = low[~is_empty], high[~is_empty]
    top = int(np.clip(np.floor(shown_low.min()), 0, rows)) if len(shown_low) else 0
    bottom = int(np.clip(np.ceil(shown_high.max()), top, rows)) if len(shown_low) else 0
    height = bottom - top
    pixels = np.zeros((height + 2, columns), np.uint32)
    begins, ends = (np.where(is_empty, 0.0, np.clip(each - top, 0, height)) for each in (low, high))
    whole = qPremultiply(color.rgba())
    for part in range(_FINE):
        shades = _shades(whole, part)
        _begin(pixels, begins[part::_FINE], shades)
        _begin(pixels, ends[part::_FINE], -shades)
    above = pixels[0]
    for row in pixels[1:height]:  # `np.add.accumulate` down the columns takes four times as long
        np.add(row, above, out=row)
        above = row
    image = QImage(pixels.data, columns, height, 4 * columns, _FORM)  # type: ignore[call-overload]  # any buffer
    return Stroke(image, top, pixels)


def _widened(low: RealArray, high: RealArray, count: int, radius: float) -> tuple[RealArray, RealArray]:
    """The spans of a line drawn by a round pen, which reaches over `count` columns."""
    # A line that crosses a part of a column in a slope covers it as much as one through the middle of it.
    slope = np.fmin(high - low, _MOST_SLOPE) / 2
    low, high = low + slope, high - slope
    half = count // 2
    nearest = ((count - 1) / 2 % 1) / _FINE
    beside = np.full(half, np.nan)
    low, high = np.concatenate((beside, low, beside)), np.concatenate((beside, high, beside))
    wide_low, wide_high = np.full(len(low) - 2 * half, np.nan), np.full(len(low) - 2 * half, np.nan)
    for number in range(count):
        away = (number - (count - 1) / 2) / _FINE
        reach = np.sqrt(max(radius * radius - away * away + nearest * nearest, 0.0))
        of = slice(number, number + len(wide_low))
        np.fmin(wide_low, low[of] - reach, out=wide_low)
        np.fmax(wide_high, high[of] + reach, out=wide_high)
    return wide_low, wide_high


@lru_cache(256)
def _shades(whole: int, part: int) -> Pixels:
    """(_LEVELS + 1,) what a part of a column adds to a pixel it covers in so many `_LEVELS`.

    All parts together are the whole (premultiplied ARGB), and no channel carries into the next one.
    """
    channels = np.array([whole >> place & 0xFF for place in (24, 16, 8, 0)])
    own = channels * (part + 1) // _FINE - channels * part // _FINE
    levels = own * np.arange(_LEVELS + 1)[:, None] // _LEVELS
    shades: Pixels = (levels @ (1 << np.array([24, 16, 8, 0]))).astype(np.uint32)
    return shades


def _begin(pixels: Pixels, place: RealArray, shades: Pixels) -> None:
    """Write where a span begins in each column: (columns,) rows and fractions of them."""
    row = place.astype(np.intp)
    of_row = shades[_LEVELS - np.rint((place - row) * _LEVELS).astype(np.intp)]
    at = row * pixels.shape[1] + np.arange(len(place))
    flat = pixels.ravel()
    flat[at] += of_row
    flat[at + pixels.shape[1]] += shades[_LEVELS] - of_row
