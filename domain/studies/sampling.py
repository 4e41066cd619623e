"""Which values the runs of a study take: the points of a sweep, the draws of a Monte Carlo.

A draw depends on nothing but the seed, the parameter's name and the number of the run: a keyed Philox
generator (Salmon et al., SC11, 2011) gives one uniform number per run, which the inverse of the
distribution turns into a deviation. So rows are the same whatever other parameters there are, on any number
of workers, and more runs begin with the same rows (not so with Latin hypercube, which divides by their
number).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from hashlib import sha256

import numpy as np

from domain.circuit.preferred_values import values_between
from domain.simulation.waveform import RealArray
from domain.studies.spec_reader import spec_error
from domain.studies.statistics import normal_probability, normal_quantile
from domain.studies.study_spec import MOST_RUNS, Mismatch, Range, Sampling, Spread, StudyParameter
from shared.message import msg

_POINTS = 11
"""Of a linear sweep that does not say how many."""
_PER_DECADE = 10.0
_UNIT_BITS = 53


def sweep_values(parameter: StudyParameter) -> tuple[float, ...]:
    """The values a sweep gives one parameter, in order. Raises UserInputError when there are none."""
    if parameter.values or parameter.range is None:
        return parameter.values
    found = _values_of(parameter.range)
    if not found:
        raise spec_error(
            parameter.name,
            msg("has no value of {scale} between {low} and {high}",
                scale=parameter.range.scale, low=parameter.range.minimum, high=parameter.range.maximum),
        )  # fmt: skip
    return found


def _values_of(span: Range) -> tuple[float, ...]:
    low, high = span.minimum, span.maximum
    if span.scale != "lin" and span.scale != "log":  # noqa: PLR1714 - mypy narrows this form only
        found = values_between(low, high, span.scale)
        return found if span.points is None else _thinned(found, span.points)
    if low == high or span.points == 1:
        return (low,)
    if span.step is not None:
        steps = min((high - low) / span.step * (1 + 1e-12) + 1e-9, float(MOST_RUNS))
        return tuple(low + index * span.step for index in range(math.floor(steps) + 1))
    if span.scale == "lin":
        points = np.linspace(low, high, span.points or _POINTS)
    else:
        decades = math.log10(high) - math.log10(low)
        count = span.points or max(2, round(decades * (span.per_decade or _PER_DECADE)) + 1)
        points = np.geomspace(low, high, count)
    return tuple(float(f"{value:.12g}") for value in points)


def _thinned(values: tuple[float, ...], count: int) -> tuple[float, ...]:
    """At most `count` of them, evenly picked, the ends included."""
    if count >= len(values):
        return values
    places = np.linspace(0, len(values) - 1, count).round().astype(int)
    return tuple(values[place] for place in places)


def sweep_grid(parameters: Sequence[StudyParameter]) -> list[tuple[float, ...]]:
    """Every combination of the parameters' values; the last parameter changes fastest.

    Raises UserInputError when there are more than a million.
    """
    axes = [sweep_values(parameter) for parameter in parameters]
    count = math.prod(len(axis) for axis in axes)
    if count > MOST_RUNS:
        raise spec_error(
            "parameters", msg("make {count} runs; the limit is {limit}", count=count, limit=MOST_RUNS)
        )
    return list(itertools.product(*axes))


def draw(
    parameters: Sequence[StudyParameter],
    nominals: Mapping[str, float],
    *,
    runs: int,
    seed: int,
    sampling: Sampling = "random",
) -> dict[str, RealArray]:
    """The value of each parameter in each run, by name.

    `nominals` are the values in the middle, by name. Every parameter needs a spread without mismatch left
    to be looked up (width and length are known).
    """
    drawn: dict[str, RealArray] = {}
    for parameter in parameters:
        assert parameter.spread is not None, "only parameters that scatter are drawn"
        drawn[parameter.name] = _drawn(
            parameter, parameter.spread, nominals[parameter.name], runs=runs, seed=seed, sampling=sampling
        )
    return drawn


def _drawn(
    parameter: StudyParameter, spread: Spread, nominal: float, *, runs: int, seed: int, sampling: Sampling
) -> RealArray:
    name = parameter.name.lower()
    group = spread.lot_group.lower() or name[:1]
    centre = nominal if spread.centre is None else spread.centre
    deviation = np.zeros(runs)
    for size, key in ((spread.tolerance, f"device:{name}"), (spread.lot_tolerance, f"lot:{group}")):
        if size:
            deviation += size * _deviates(_uniform(f"{seed}:{key}", runs, sampling), spread)
    if spread.mismatch is not None:
        uniform = _uniform(f"{seed}:mismatch:{name}", runs, sampling)
        deviation += mismatch_sigma(spread.mismatch) * _normal(uniform, spread.truncate)
    if spread.is_absolute:
        return centre + deviation
    if spread.distribution == "lognormal":
        return np.asarray(centre * np.exp(deviation))
    return np.asarray(centre * (1 + deviation))


def mismatch_sigma(mismatch: Mismatch) -> float:
    """The standard deviation of one device by Pelgrom's law."""
    assert mismatch.width is not None, "the device's width has been looked up"
    assert mismatch.length is not None, "the device's length has been looked up"
    return mismatch.constant / math.sqrt(2 * mismatch.width * mismatch.length)


def _deviates(uniform: RealArray, spread: Spread) -> RealArray:
    """Deviations of size 1 tolerance from numbers between 0 and 1."""
    if spread.distribution == "uniform":
        return 2 * uniform - 1
    return _normal(uniform, spread.truncate) / spread.sigmas


def _normal(uniform: RealArray, truncate: float | None) -> RealArray:
    """Standard normal deviates, cut off at +-`truncate` standard deviations."""
    if truncate is not None:
        tail = normal_probability(-truncate)
        uniform = tail + uniform * (1 - 2 * tail)
    return np.array([normal_quantile(p) for p in uniform.tolist()])


def _uniform(key: str, runs: int, sampling: Sampling) -> RealArray:
    """One number inside (0, 1) for each run."""
    digest = sha256(key.encode()).digest()
    generator = np.random.Generator(np.random.Philox(key=int.from_bytes(digest[:16], "little")))
    # Half a step away from the ends, whose quantile is infinite.
    uniform = generator.random(runs) * (1 - 2.0**-_UNIT_BITS) + 2.0 ** -(_UNIT_BITS + 1)
    if sampling == "random":
        return uniform
    return (generator.permutation(runs) + uniform) / runs
