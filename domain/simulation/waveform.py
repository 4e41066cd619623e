"""Simulation data: vectors over an axis, grouped in plots."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

RealArray = NDArray[np.float64]
ComplexArray = NDArray[np.complex128]
Array = RealArray | ComplexArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Vector:
    """One named vector of a plot."""

    name: str
    """Lower case, in canonical form: ``v(out)``, ``i(v1)``, ``@m1[id]``, ``frequency``, ``time``."""
    unit: str
    """SI unit: "V", "A", "Hz", "s", "deg", "1", "" when not known."""
    data: Array
    """(n,) float64 or complex128."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Plot:
    """The vectors of one analysis."""

    analysis: str
    """op, dc, ac, tran, noise (spectrum), noise_integrated, tf, sens, pz, disto, or "other"."""
    name: str
    """The simulator's own plot name ("AC Analysis")."""
    title: str
    vectors: dict[str, Vector] = field(default_factory=dict)
    """By canonical name, in file order, the axis included."""
    axis_name: str | None = None
    """Name of the axis vector (frequency, time, the swept source); None for op."""

    @property
    def axis(self) -> Vector | None:
        """The independent vector (real), or None when the plot has none."""
        return None if self.axis_name is None else self.vectors[self.axis_name]

    @property
    def points(self) -> int:
        """Number of points."""
        return 0 if not self.vectors else len(next(iter(self.vectors.values())).data)
