"""Worst case of tolerances: the extreme values (EVA) and the root of the sum of squares (RSS).

EVA: every parameter at the end of its tolerance that makes the metric smallest (largest). Up to
`MOST_EXHAUSTIVE` parameters all combinations of ends are simulated; with more the sign of each parameter's
own effect chooses the end, which is exact where the metric is monotonic in every parameter. RSS: the
parameters' own effects added as independent deviations, nominal +- sqrt(sum of squares).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from domain.studies.sensitivity import gradient_signs
from domain.studies.spec_reader import spec_error
from domain.studies.study_spec import StudyParameter
from shared.message import msg

MOST_EXHAUSTIVE = 6
"""2**6 = 64 runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extreme:
    """The smallest or largest value of a metric that was found, and where."""

    value: float
    run: int | None
    parameters: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorstCase:
    """One metric; NaN for what could not be had."""

    unit: str
    nominal: float
    minimum: Extreme | None
    """By EVA; None when only RSS was asked for."""
    maximum: Extreme | None
    rss: tuple[float, float]
    """Lowest and highest value by RSS; NaN when only EVA was asked for."""
    effects: Mapping[str, float]
    """Half of what each parameter alone does to the metric between its ends, the strongest first."""
    not_monotonic: tuple[str, ...]
    """Parameters whose both ends move the metric the same way: its extreme may lie between the ends."""


def bounds_of(parameter: StudyParameter, nominal: float) -> tuple[float, float]:
    """The ends of a parameter's tolerance, or of its range when it has no tolerance.

    Raises UserInputError when it has neither.
    """
    spread = parameter.spread
    if spread is not None:
        total = spread.reach
        if spread.is_absolute:
            centre = nominal if spread.centre is None else spread.centre
            return centre - total, centre + total
        if spread.distribution == "lognormal":
            return nominal * math.exp(-total), nominal * math.exp(total)
        return nominal * (1 - total), nominal * (1 + total)
    if parameter.range is not None:
        return parameter.range.minimum, parameter.range.maximum
    if parameter.values:
        return min(parameter.values), max(parameter.values)
    raise spec_error(parameter.name, msg("has neither a tolerance nor a range"))


def extreme_points(
    bounds: Mapping[str, tuple[float, float]], ends_by_metric: Mapping[str, Mapping[str, tuple[float, float]]]
) -> list[dict[str, float]]:
    """The combinations of ends that EVA has to simulate, each once.

    `ends_by_metric` are the values of each metric with one parameter at its low and high end.
    """
    names = list(bounds)
    if len(names) <= MOST_EXHAUSTIVE:
        return [dict(zip(names, ends, strict=True)) for ends in itertools.product(*bounds.values())]
    points: dict[tuple[float, ...], None] = {}
    for ends in ends_by_metric.values():
        signs = gradient_signs(names, ends)
        for side in (0, 1):
            points[tuple(bounds[name][side if signs[name] > 0 else 1 - side] for name in names)] = None
    return [dict(zip(names, point, strict=True)) for point in points]


def worst_case_of(
    *,
    unit: str,
    nominal: float,
    ends: Mapping[str, tuple[float, float]],
    candidates: Sequence[Extreme] | None,
) -> WorstCase:
    """Put together one metric: its values with one parameter at either end, and at the candidates of EVA."""
    effects = {name: (high - low) / 2 for name, (low, high) in ends.items()}
    half = math.sqrt(sum(effect * effect for effect in effects.values()))
    found = [item for item in candidates or () if math.isfinite(item.value)]
    return WorstCase(
        unit=unit,
        nominal=nominal,
        minimum=min(found, key=lambda item: item.value) if found else None,
        maximum=max(found, key=lambda item: item.value) if found else None,
        rss=(nominal - half, nominal + half),
        effects=dict(sorted(effects.items(), key=lambda item: -abs(item[1]))),
        not_monotonic=tuple(
            name for name, (low, high) in ends.items() if (low - nominal) * (high - nominal) > 0
        ),
    )
