"""A cheap stand-in for a measured figure, learned from the points that were simulated.

Kriging (J. Sacks et al., Stat. Sci. 4 (1989) 409) whose kernel is a constant, a plane and a Gaussian bump:
with few points it is the plane through them, with more it bends. Figures that live over decades (a
bandwidth, a current) are nearly planes in the logarithms of values and figure: whether the logarithm is
taken, how wide the bump is and how steep the plane may be is chosen by likelihood.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from domain.simulation.waveform import RealArray

_WIDTHS = (0.4, 0.8, 1.6, 3.2)
_STEEPNESSES = (0.3, 3.0, 30.0)
_CONSTANT = 100.0
_NUGGET = 1e-7


class _Fit(NamedTuple):
    likelihood: float
    width: float
    steepness: float
    weights: RealArray
    mean: float
    scale: float
    is_log: bool


class Surrogate:
    """One figure over the unit cube."""

    def __init__(self, places: RealArray, figures: RealArray) -> None:
        """`places` (n, d), `figures` (n,), finite."""
        self._places = places
        self._squares = _distances(places, places)
        self._products = places @ places.T
        fits = [self._fitted(figures, is_log=False)]
        sign = math.copysign(1.0, figures[0])
        if np.all(figures * sign > 0):
            fits.append(self._fitted(figures * sign, is_log=True))
        self._fit = max(fits, key=lambda fit: fit.likelihood)
        self._sign = sign

    def at(self, places: RealArray) -> tuple[RealArray, RealArray]:
        """The figure at (k, d) places, and its slopes (k, d)."""
        fit = self._fit
        bump = np.exp(_distances(places, self._places) * (-0.5 / fit.width**2))
        weighted = bump * fit.weights
        plane = fit.steepness * (fit.weights @ self._places)
        values = places @ plane + weighted.sum(axis=1) + _CONSTANT * fit.weights.sum()
        slopes = plane + (weighted @ self._places - weighted.sum(axis=1)[:, None] * places) / fit.width**2
        numbers, slopes = fit.mean + fit.scale * values, fit.scale * slopes
        if not fit.is_log:
            return numbers, slopes
        figures = self._sign * np.exp(np.clip(numbers, -600.0, 600.0))
        return figures, figures[:, None] * slopes

    def _fitted(self, figures: RealArray, *, is_log: bool) -> _Fit:
        """The likeliest width and steepness, all scales being estimated."""
        numbers = np.log(figures) if is_log else figures
        mean, scale = float(numbers.mean()), float(numbers.std()) or 1.0
        wanted, count = (numbers - mean) / scale, len(numbers)
        best: _Fit | None = None
        for width in _WIDTHS:
            bump = np.exp(self._squares * (-0.5 / width**2))
            for steepness in _STEEPNESSES:
                kernel = bump + steepness * self._products + _CONSTANT
                kernel[np.diag_indices(count)] += _NUGGET * (1 + steepness)
                try:
                    root = np.linalg.cholesky(kernel)
                except np.linalg.LinAlgError:
                    continue
                half = np.linalg.solve(root, wanted)
                variance = max(float(half @ half) / count, 1e-12)
                likelihood = -0.5 * count * math.log(variance * scale**2) - float(np.log(np.diag(root)).sum())
                if is_log:
                    likelihood -= float(numbers.sum())
                if best is None or likelihood > best.likelihood:
                    weights = np.linalg.solve(root.T, half)
                    best = _Fit(likelihood, width, steepness, weights, mean, scale, is_log)
        return best or _Fit(-math.inf, 1.0, 1.0, np.zeros(count), mean, scale, is_log)


def _distances(left: RealArray, right: RealArray) -> RealArray:
    """Squared distances (k, n)."""
    found: RealArray = (left**2).sum(axis=1)[:, None] + (right**2).sum(axis=1)[None, :] - 2 * left @ right.T
    found[found < 0] = 0.0
    return found
