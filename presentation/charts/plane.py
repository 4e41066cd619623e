"""What a chart of a plane shows: a ground, borders on it, and the places that were simulated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from presentation.charts.scales import Scale

Place = tuple[float, float]
"""Shares of the two axes, from the left and from below."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Border:
    """Where one bound of a goal is passed."""

    name: str
    color: str
    lines: Sequence[Sequence[Place]]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceOfRun:
    """One simulated circuit."""

    run: int
    place: Place
    is_met: bool
    """It meets all goals."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaneContent:
    """A plane of two values."""

    x: Callable[[int], Scale]
    """With about so many figures."""
    y: Callable[[int], Scale]
    x_name: str
    y_name: str
    good: Sequence[Sequence[Sequence[Place]]] = ()
    """Areas where all goals are met: of each its outline, then its holes."""
    borders: Sequence[Border] = ()
    runs: Sequence[PlaceOfRun] = ()
    present: Place | None = None
    """The circuit as it is; None where it is beside the plane."""
