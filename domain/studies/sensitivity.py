"""How much each parameter moves a metric: slopes, normalised sensitivities, shares of the tolerances.

The slope is the central difference (M(p + h) - M(p - h)) / 2h; the normalised sensitivity (dM/M) / (dp/p) is
what one percent of the parameter makes in percent of the metric.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from domain.studies.spec_reader import spec_error
from domain.studies.study_spec import StudyParameter
from shared.message import msg


@dataclass(frozen=True, slots=True, kw_only=True)
class Sensitivity:
    """One metric and one parameter; NaN for what could not be had."""

    parameter: str
    slope: float
    """dM/dp, unit of the metric over unit of the parameter."""
    normalised: float
    """(dM/M) / (dp/p), without unit; NaN where the metric or the parameter is 0."""
    per_tolerance: float
    """What one tolerance of the parameter does to the metric, in its unit; NaN without a tolerance."""

    @property
    def weight(self) -> float:
        """What a ranking goes by: the part of the tolerance, else the normalised sensitivity, in size."""
        for value in (self.per_tolerance, self.normalised, self.slope):
            if math.isfinite(value):
                return abs(value)
        return 0.0


def sensitivity_of(
    parameter: str,
    nominal: float,
    ends: tuple[tuple[float, float], tuple[float, float]],
    *,
    metric: float,
    tolerance: float | None,
) -> Sensitivity:
    """From the metric at a parameter's two moved values: `ends` are (parameter, metric) low and high.

    `metric` is its nominal value, `tolerance` how far the parameter may be off, in its unit.
    """
    (low, metric_low), (high, metric_high) = ends
    slope = (metric_high - metric_low) / (high - low) if high != low else math.nan
    return Sensitivity(
        parameter=parameter,
        slope=slope,
        normalised=slope * nominal / metric + 0.0 if metric and nominal else math.nan,
        per_tolerance=math.nan if tolerance is None else slope * tolerance,
    )


def ranked(found: Iterable[Sensitivity]) -> tuple[Sensitivity, ...]:
    """The one that weighs most first, as a tornado chart shows them."""
    return tuple(sorted(found, key=lambda item: (-item.weight, item.parameter)))


def moved_values(parameter: StudyParameter, nominal: float, share: float) -> tuple[float, float]:
    """The two values a sensitivity looks at: `share` of the nominal value below and above it.

    Raises UserInputError for a parameter that is 0 and does not say how far it scatters.
    """
    step = abs(nominal) * share
    if step == 0:
        spread = tolerance_of(parameter, nominal)
        step = share * spread if spread else 0.0
    if step == 0:
        raise spec_error(
            parameter.name,
            msg("is 0 in the circuit, so a percentage of it has no meaning"),
            advice=msg('Give it a tolerance with "absolute": true, or omit it.'),
        )
    return nominal - step, nominal + step


def tolerance_of(parameter: StudyParameter, nominal: float) -> float | None:
    """How far a parameter may be off, in its unit; None when it has no tolerance."""
    spread = parameter.spread
    if spread is None:
        return None
    total = spread.reach
    return total if spread.is_absolute else total * abs(nominal)


def gradient_signs(names: Sequence[str], ends: Mapping[str, tuple[float, float]]) -> dict[str, int]:
    """Whether a metric rises (1) or falls (-1) with each parameter, from its values at the two ends."""
    return {name: 1 if ends[name][1] >= ends[name][0] else -1 for name in names}
