"""Finds a point that meets bounds on measured figures in few simulations.

Each figure has a surrogate of its own, not their sum: a figure is smooth where the sum of what is missed has
kinks. The next point is where the surrogates together miss least (least squares by K. Levenberg, Quart. Appl.
Math. 2 (1944) 164, from several places), inside a box around the best point that grows while the surrogates
are right and shrinks while they are not (A. Conn, N. Gould, P. Toint, Trust-Region Methods, SIAM 2000). Where
proposals fail, each parameter is moved alone before it goes on: surrogates are wrong mostly for want of
points.
It knows no circuit.

A cheap stand-in for a measured figure, learned from the points that were simulated.

Kriging (J. Sacks et al., Stat. Sci. 4 (1989) 409) whose kernel is a constant, a plane and a Gaussian bump:
with few points it is the plane through them, with more it bends. Figures that live over decades (a
bandwidth, a current) are nearly planes in the logarithms of values and figure: whether the logarithm is
taken, how wide the bump is and how steep the plane may be is chosen by likelihood.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from domain.simulation.waveform import RealArray
from domain.studies.search_space import SearchSpace, Values

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


Figures = tuple[float, ...]
"""What a point measured, one for each aim; NaN for one that could not be had."""

_FIRST_RADIUS = 0.25
_LARGEST_RADIUS = 0.5
_SMALLEST_RADIUS = 0.004
_FIRST_MOVE = 0.08
"""How far each parameter is moved alone, on the cube, to learn the slopes."""
_GROWS, _SHRINKS = 1.6, 0.5
_MOST_MISSES = 2
_LOCAL_POINTS = 70
_CANDIDATES = 400
_STARTS = 6
_STEPS = 25
_SHARE = 0.5
"""The share of a band around its middle that is aimed at: the rest is room for the surrogate's error."""
_ROOM = 0.005
"""The same of a single bound, as a share of it."""
_NEAR_SHARE, _NEAR_ROOM = 0.9, 0.0005
"""With an objective, whose best is mostly on a bound."""
_UNIT = 0.05
"""What counts as 1 of a missed bound, as a share of it."""
_OBJECTIVE = 0.3
_UNKNOWN = 10.0
"""What a figure that cannot be measured counts as missed."""
_KNEE = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Aim:
    """Bounds of one figure, or that it should be small."""

    low: float = -math.inf
    high: float = math.inf
    weight: float = 1.0
    direction: float = 0.0
    """+1: the smaller the better (an objective, without bounds); -1: the larger; 0: bounds."""


class TrustRegion:
    """Proposes points and learns what they measured."""

    def __init__(self, space: SearchSpace, aims: Sequence[Aim], start: Sequence[float], seed: int) -> None:
        """`start` is a place on the cube."""
        self._space = space
        self._aims = tuple(aims)
        self._steps = np.array([dimension.step for dimension in space.free])
        self._rng = np.random.default_rng((seed, 7))
        self._known: dict[Values, Figures] = {}
        self._places: dict[Values, RealArray] = {}
        self._merits: dict[Values, _Merit] = {}
        self._scales: list[float] = []
        """What objectives are measured in, to be added: their first values."""
        self._centre: Values | None = None
        self._starts = [space.values_at(list(start))]
        self._radius = _FIRST_RADIUS
        self._waiting: tuple[Values, _Merit] | None = None
        """The last proposal and what it was predicted to be."""
        self._explored_with = 0
        """How many points were known when the slopes were last looked at."""
        self._misses = 0
        """Proposals since then that brought little."""
        self.is_dry = False
        """The box is too small to go on, or there is nothing to learn from."""

    def points(self) -> list[Values]:
        """The next points, none told before. Empty when it is dry."""
        while not self.is_dry:
            if self._centre is None:
                return self._starts
            if not self._explored_with or self._misses >= _MOST_MISSES:
                found = self._moves()
            else:
                found = self._proposal()
            if found:
                return found
        return []

    def learn(self, figures: Mapping[Values, Figures]) -> None:
        """What points measured, whoever asked for them."""
        before = None if self._centre is None else self._merits[self._centre]
        self._measure_objectives(figures)
        for values, found in figures.items():
            self._note(values, found)
        for values in figures:
            if self._centre is None or self._merits[values] < self._merits[self._centre]:
                self._centre = values
        if self._waiting is not None and before is not None and self._waiting[0] in figures:
            self._resize(before, self._merits[self._waiting[0]], self._waiting[1])
            self._waiting = None

    def _measure_objectives(self, figures: Mapping[Values, Figures]) -> None:
        if not self._scales and figures:
            first = next(iter(figures.values()))
            self._scales = [abs(figure) if math.isfinite(figure) and figure else 1.0 for figure in first]

    def _note(self, values: Values, figures: Figures) -> None:
        self._known[values] = figures
        self._places[values] = np.array(
            self._space.places_of(dict(zip(self._space.names, values, strict=True)))
        )
        self._merits[values] = _merit(self._aims, self._scales, figures)

    def recall(self, figures: Mapping[Values, Figures]) -> None:
        """Points that were measured before this search: the surrogates know them, none is gone to."""
        for values, found in figures.items():
            self._note(values, found)

    def restart(self) -> None:
        """Begin anew at the best of some points spread over the cube (a Latin hypercube); what is known stays
        known."""
        self._centre, self._radius = None, _FIRST_RADIUS
        self._explored_with = self._misses = 0
        self._waiting = None
        self.is_dry = False
        size = len(self._steps)
        count = 2 * size
        rows = np.column_stack([self._rng.permutation(count) for _ in range(size)])
        places = (rows + self._rng.random((count, size))) / count
        spread = dict.fromkeys(self._space.values_at(place.tolist()) for place in places)
        self._starts = [values for values in spread if values not in self._known]
        self.is_dry = not self._starts

    def _resize(self, before: _Merit, now: _Merit, predicted: _Merit) -> None:
        """The box after a proposal: larger when it brought what was predicted."""
        if before.missed > 0:
            ratio = (before.missed - now.missed) / max(before.missed - predicted.missed, 1e-12)
        elif now.missed > 0:
            ratio = 0.0
        else:
            ratio = (before.objective - now.objective) / max(before.objective - predicted.objective, 1e-12)
        if ratio > 0.6:
            self._radius = min(self._radius * _GROWS, _LARGEST_RADIUS)
            self._misses = 0
        elif ratio < 0.2:
            self._misses += 1
            self._radius *= _SHRINKS
            self.is_dry = self._radius < _SMALLEST_RADIUS

    def _moves(self) -> list[Values]:
        """Each parameter alone, to either side, not further than the box; the first time none when enough is
        known around."""
        assert self._centre is not None
        centre = self._places[self._centre]
        near = sum(float(np.max(np.abs(place - centre))) < _FIRST_RADIUS for place in self._places.values())
        is_first = not self._explored_with
        self._explored_with, self._misses = len(self._known), 0
        if is_first and near > len(centre):
            return []
        found = []
        for index in range(len(centre)):
            step = max(min(_FIRST_MOVE, self._radius), float(self._steps[index]))
            side = 1.0 if self._rng.random() < 0.5 else -1.0
            if not 0 <= centre[index] + side * step <= 1:
                side = -side
            place = centre.copy()
            place[index] += side * step
            found.append(self._space.values_at(place.tolist()))
        return list(dict.fromkeys(values for values in found if values not in self._known))

    def _proposal(self) -> list[Values]:
        """Where the surrogates miss least inside the box."""
        assert self._centre is not None
        centre = self._places[self._centre]
        model = _Model(self._aims, *self._local(centre), self._known[self._centre])
        while self._radius >= _SMALLEST_RADIUS:
            place = self._best_inside(model, centre)
            values = self._space.values_at(place.tolist())
            if values not in self._known:
                self._waiting = (
                    values,
                    _merit(self._aims, self._scales, tuple(model.figures(place[None])[0].tolist())),
                )
                return [values]
            self._radius *= _SHRINKS
        self.is_dry = True
        return []

    def _best_inside(self, model: _Model, centre: RealArray) -> RealArray:
        low, high = np.maximum(centre - self._radius, 0.0), np.minimum(centre + self._radius, 1.0)
        spread = self._rng.random((_CANDIDATES, len(centre)))
        candidates = np.vstack([centre, low + spread * (high - low)])
        order = np.argsort(model.missed(candidates), kind="stable")
        starts = np.vstack([centre, candidates[order[: _STARTS - 1]]])
        ends = model.descended(starts, low, high)
        if self._steps.any():
            ends = np.array([self._on_grid(model, place) for place in ends])
        best: RealArray = ends[int(np.argmin(model.missed(ends)))]
        return best

    def _on_grid(self, model: _Model, place: RealArray) -> RealArray:
        """The place with the parameters of lists on their values, those that together miss least."""
        grid = self._steps > 0
        place = place.copy()
        place[grid] = np.rint(place[grid] / self._steps[grid]) * self._steps[grid]
        best = float(model.missed(place[None])[0])
        moves = np.vstack([np.diag(self._steps)[grid], -np.diag(self._steps)[grid]])
        for _ in range(_STEPS):
            near = np.clip(place + moves, 0.0, 1.0)
            missed = model.missed(near)
            least = int(np.argmin(missed))
            if missed[least] >= best:
                break
            place, best = near[least], float(missed[least])
        return place

    def _local(self, centre: RealArray) -> tuple[RealArray, RealArray]:
        """The places and figures of the points nearest to the centre."""
        names = list(self._known)
        places = np.array([self._places[name] for name in names])
        nearest = np.argsort(((places - centre) ** 2).sum(axis=1), kind="stable")[:_LOCAL_POINTS]
        return places[nearest], np.array([self._known[names[index]] for index in nearest], dtype=float)


class _Merit(NamedTuple):
    """How good a point is; the smaller the better, bounds before objectives."""

    missed: float
    objective: float


def _merit(aims: Sequence[Aim], scales: Sequence[float], figures: Figures) -> _Merit:
    missed = objective = 0.0
    for aim, scale, figure in zip(aims, scales, figures, strict=True):
        if math.isnan(figure):
            missed += _UNKNOWN**2
        elif aim.direction:
            objective += aim.weight * aim.direction * figure / scale
        else:
            residual, _ = _beyond(aim, np.array([figure]), share=1.0, room=0.0)
            missed += float(residual[0]) ** 2
    return _Merit(missed, objective)


class _Model:
    """The surrogates of all figures around the centre."""

    def __init__(self, aims: Sequence[Aim], places: RealArray, figures: RealArray, centre: Figures) -> None:
        share, room = (_SHARE, _ROOM) if not any(aim.direction for aim in aims) else (_NEAR_SHARE, _NEAR_ROOM)
        self._share, self._room = share, room
        self._parts: list[tuple[Aim, Surrogate | None, float]] = []
        for index, aim in enumerate(aims):
            known = np.isfinite(figures[:, index])
            surrogate = Surrogate(places[known], figures[known, index]) if known.sum() > 1 else None
            self._parts.append((aim, surrogate, centre[index]))

    def figures(self, places: RealArray) -> RealArray:
        """What is predicted at (k, d) places: (k, aims)."""
        return np.column_stack([
            np.full(len(places), middle) if surrogate is None else surrogate.at(places)[0]
            for _, surrogate, middle in self._parts
        ])  # fmt: skip

    def missed(self, places: RealArray) -> RealArray:
        """Sums of squares at (k, d) places."""
        found: RealArray = (self._residuals(places)[0] ** 2).sum(axis=1)
        return found

    def _residuals(self, places: RealArray) -> tuple[RealArray, RealArray]:
        """Residuals (k, aims) and their slopes (k, aims, d)."""
        residuals, slopes = [], []
        for aim, surrogate, middle in self._parts:
            if surrogate is None:
                continue
            figures, gradients = surrogate.at(places)
            if aim.direction:
                residual, slope = _drawn(aim, figures, middle)
            else:
                residual, slope = _beyond(aim, figures, share=self._share, room=self._room)
            residuals.append(residual)
            slopes.append(slope[:, None] * gradients)
        if not residuals:
            return np.zeros((len(places), 1)), np.zeros((len(places), 1, places.shape[1]))
        return np.stack(residuals, axis=1), np.stack(slopes, axis=1)

    def descended(self, places: RealArray, low: RealArray, high: RealArray) -> RealArray:
        """Levenberg-Marquardt from each of (k, d) places inside a box."""
        count, size = places.shape
        damping = np.full(count, 1e-2)
        residuals, slopes = self._residuals(places)
        missed = (residuals**2).sum(axis=1)
        for _ in range(_STEPS):
            gradient = np.einsum("kmd,km->kd", slopes, residuals)
            # What would leave the box stays on its side.
            held = ((places <= low) & (gradient > 0)) | ((places >= high) & (gradient < 0))
            free = ~held
            normal = np.einsum("kmd,kme->kde", slopes, slopes) * (free[:, :, None] & free[:, None, :])
            scale = np.maximum(np.trace(normal, axis1=1, axis2=2) / size, 1e-12)
            normal[:, range(size), range(size)] += (damping * scale)[:, None]
            step = np.linalg.solve(normal, (gradient * free)[:, :, None])[:, :, 0]
            moved = np.clip(places - step, low, high)
            new_residuals, new_slopes = self._residuals(moved)
            new_missed = (new_residuals**2).sum(axis=1)
            is_better = new_missed < missed
            places = np.where(is_better[:, None], moved, places)
            residuals = np.where(is_better[:, None], new_residuals, residuals)
            slopes = np.where(is_better[:, None, None], new_slopes, slopes)
            missed = np.where(is_better, new_missed, missed)
            damping = np.clip(np.where(is_better, damping / 4, damping * 6), 1e-8, 1e8)
        return places


def _beyond(aim: Aim, figures: RealArray, *, share: float, room: float) -> tuple[RealArray, RealArray]:
    """How far figures are outside the bounds, in units of `_UNIT` of them, and the slopes of that."""
    low, high = aim.low, aim.high
    scale = max(abs(bound) for bound in (low, high) if math.isfinite(bound)) or 1.0
    if math.isfinite(low) and math.isfinite(high):
        middle, half = (low + high) / 2, (high - low) / 2 * share
        low, high = middle - half, middle + half
    else:
        low, high = low + room * scale, high - room * scale
    residuals, slopes = np.zeros_like(figures), np.zeros_like(figures)
    for bound, side in ((low, -1.0), (high, 1.0)):
        if not math.isfinite(bound):
            continue
        size = abs(bound) if abs(bound) > 1e-3 * scale else 0.0
        ratio, slope = _ratio(figures / bound) if size else ((figures - bound) / scale, 1.0)
        sign = math.copysign(1.0, bound) if size else 1.0
        beyond = side * sign * ratio
        is_out = beyond > 0
        residuals = np.where(is_out, beyond, residuals)
        slopes = np.where(is_out, side * np.asarray(slope) / (size or scale), slopes)
    factor = math.sqrt(aim.weight) / _UNIT
    return residuals * factor, slopes * factor


def _ratio(ratio: RealArray) -> tuple[RealArray, RealArray]:
    """The logarithm of a ratio, going on as a straight line where the ratio is small or negative."""
    safe = np.maximum(ratio, _KNEE)
    is_low = ratio < _KNEE
    return (
        np.where(is_low, math.log(_KNEE) + (ratio - _KNEE) / _KNEE, np.log(safe)),
        np.where(is_low, 1 / _KNEE, 1 / safe),
    )


def _drawn(aim: Aim, figures: RealArray, middle: float) -> tuple[RealArray, RealArray]:
    """An objective as a residual: 1 at the centre, less the better."""
    scale = abs(middle) if math.isfinite(middle) and middle else 1.0
    offset = middle if math.isfinite(middle) else 0.0
    better = aim.direction * (figures - offset) / scale
    factor = _OBJECTIVE * math.sqrt(aim.weight)
    slopes: RealArray = np.where(better > -1, factor * aim.direction / scale, 0.0)
    return factor * np.maximum(1 + better, 0.0), slopes
