"""From a measured miss to another aim: secant steps in the logarithms, one for each quantity.

The first step takes the response for proportional; later ones use the slope between the last two rounds
(Nocedal, Wright, "Numerical Optimization", section 11.2, with one unknown for each equation).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from domain.simulation.goals import GoalVerdict

MOST_STEPS = 5
_SLOPES = (0.3, 3.0)
_FACTORS = (0.5, 2.0)
_MORE = 2.0
"""Times what helps where no aim can be corrected."""
_INSIDE = 0.02
"""How far inside a one-sided limit is aimed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """The aims of a round and what they led to before."""

    factors: Mapping[str, float]
    tried: Sequence[Mapping[str, tuple[float, float]]] = ()
    """Earlier rounds: by quantity, the factor and what was measured."""

    @classmethod
    def restored(cls, plain: Mapping[str, Any], first: str) -> Tuning:
        """From what `plain` gave. An older design has one scale: it is that of `first`."""
        if "scale" in plain:
            return cls(factors={first: float(plain["scale"])})
        tried = tuple(
            {name: (float(factor), float(value)) for name, (factor, value) in each.items()}
            for each in plain.get("tried", ())
        )
        return cls(factors={k: float(v) for k, v in plain.get("factors", {}).items()}, tried=tried)

    def plain(self) -> dict[str, Any]:
        tried = [{name: list(pair) for name, pair in each.items()} for each in self.tried]
        return {"factors": dict(self.factors), "tried": tried}


def corrected(
    tuning: Tuning,
    verdicts: Sequence[GoalVerdict],
    quantities: Mapping[str, str],
    push: float = 1.0,
    *,
    helps: Mapping[str, str] = MappingProxyType({}),
) -> Tuning | None:
    """The next aims after misses; None when no goal that was missed can be corrected, or all is tried.

    `quantities` names the quantity of each metric that may be corrected; `push` lengthens the step, for
    values that would round to the same parts. `helps` names what is enlarged for a metric that has no aim.
    """
    if len(tuning.tried) >= MOST_STEPS:
        return None
    factors = dict(tuning.factors)
    measured = {}
    for verdict in verdicts:
        metric, value = verdict.goal.metric, verdict.measured.value
        quantity = quantities.get(metric)
        if quantity is None and metric in helps and not verdict.met:
            factors[helps[metric]] = tuning.factors.get(helps[metric], 1.0) * _MORE**push
        if quantity is None or not math.isfinite(value):
            continue
        factor = factors.get(quantity, 1.0)
        measured[quantity] = (factor, value)
        wanted = _wanted(verdict)
        if verdict.met or wanted is None or not wanted * value > 0:
            continue
        step = math.log(wanted / value) / _slope(tuning, quantity, factor, value)
        factors[quantity] = factor * math.exp(push * step)
        if not _FACTORS[0] <= factors[quantity] <= _FACTORS[1]:
            return None
    if factors == dict(tuning.factors):
        return None
    return Tuning(factors=factors, tried=(*tuning.tried, measured))


def _wanted(verdict: GoalVerdict) -> float | None:
    goal = verdict.goal
    is_limit = (goal.minimum is None) != (goal.maximum is None)
    if goal.target and not is_limit:
        return goal.target
    if goal.minimum is not None and goal.maximum is not None:
        return (goal.minimum + goal.maximum) / 2
    if goal.minimum is not None:
        return goal.minimum + _INSIDE * abs(goal.minimum)
    return None if goal.maximum is None else goal.maximum - _INSIDE * abs(goal.maximum)


def _slope(tuning: Tuning, quantity: str, factor: float, value: float) -> float:
    """d log(measured) / d log(factor) between this round and the last with another factor."""
    for earlier in reversed(tuning.tried):
        before, then = earlier.get(quantity, (factor, value))
        if before != factor and then * value > 0 and then != value:
            slope = math.log(value / then) / math.log(factor / before)
            return min(max(slope, _SLOPES[0]), _SLOPES[1])
    return 1.0
