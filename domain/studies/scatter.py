"""What parts that scatter do to goals: guard bands for a search, and the yield of the point it found.

A metric's standard deviation is taken by straight lines through points with one part moved alone; parts of
one lot move together, matched ones as `Mismatch` says. Goals that are aimed at three of them inside their
bounds hold for nearly all circuits (guard bands; H. Graeb, "Analog Design Centering and Sizing", Springer,
2007). The yield itself is counted, in a Monte Carlo.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from domain.simulation.goals import DesignGoal
from domain.studies.sampling import mismatch_sigma
from domain.studies.statistics import Yield
from domain.studies.study_spec import Spread, StudyParameter
from shared.message import Message

SIGMAS = 3.0
EDGE_YIELD = 0.9
"""Below, the point is on the edge."""
_LEAST_BAND = 0.1
"""Of a band between two bounds, what is left to aim at where the guard bands would take all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scatter:
    """What a Monte Carlo around the best point found."""

    total: Yield
    """Runs that meet every goal that must be met."""
    yields: Mapping[str, Yield]
    """Of each goal: ``gain >= 60``."""
    sigmas: Mapping[str, float]
    """Standard deviation of each metric that has a goal, by the straight lines."""
    assumed: tuple[Message, ...]
    target: float | None = None
    """The share of good runs that was asked for."""

    @property
    def on_edge(self) -> bool:
        return self.total.value < (EDGE_YIELD if self.target is None else self.target)

    @property
    def reaches_target(self) -> bool:
        return self.target is None or self.total.value >= self.target


def scattering(parameters: Sequence[StudyParameter]) -> tuple[StudyParameter, ...]:
    """Those that scatter, around the value they have; a spread over a range is a search's, not a part's."""
    return tuple(
        replace(parameter, values=(), range=None, nominal=None)
        for parameter in parameters
        if parameter.spread is not None and parameter.spread.centre is None
    )


def moves(parameters: Sequence[StudyParameter], nominals: Mapping[str, float]) -> dict[str, float]:
    """By how much each part is moved: its standard deviation, of its own and of its lot, in its unit."""
    found = {}
    for parameter in parameters:
        assert parameter.spread is not None, "only parts that scatter are moved"
        own, lot = _own_and_lot(parameter.spread)
        scale = 1.0 if parameter.spread.is_absolute else abs(nominals[parameter.name])
        found[parameter.name] = math.hypot(own, lot) * scale
    return found


def sigma_of(parameters: Sequence[StudyParameter], ends: Mapping[str, tuple[float, float]]) -> float:
    """The standard deviation of a metric from its values with each part one `moves` lower and higher; NaN
    where one of them is not known."""
    total, lots = 0.0, defaultdict[str, float](float)
    for parameter in parameters:
        assert parameter.spread is not None, "only parts that scatter are moved"
        own, lot = _own_and_lot(parameter.spread)
        both = math.hypot(own, lot)
        if not both:
            continue
        low, high = ends[parameter.name]
        effect = (high - low) / 2
        total += (effect * own / both) ** 2
        lots[parameter.spread.lot_group.lower() or parameter.name[:1].lower()] += effect * lot / both
    return math.sqrt(total + sum(each**2 for each in lots.values()))


def guarded(goals: Sequence[DesignGoal], sigmas: Mapping[str, float]) -> tuple[DesignGoal, ...]:
    """The goals with their bounds `SIGMAS` standard deviations further in, never past one another: those on
    one metric are one band."""
    bands: dict[tuple[str, str], list[DesignGoal]] = defaultdict(list)
    for goal in goals:
        bands[goal.metric, goal.weight].append(goal)
    return tuple(_guarded(same, SIGMAS * sigmas.get(same[0].metric, 0.0)) for same in bands.values())


def _guarded(goals: Sequence[DesignGoal], band: float) -> DesignGoal:
    low = max((goal.minimum for goal in goals if goal.minimum is not None), default=None)
    high = min((goal.maximum for goal in goals if goal.maximum is not None), default=None)
    band = band if math.isfinite(band) else 0.0
    if low is not None and high is not None:
        band = max(min(band, (1 - _LEAST_BAND) * (high - low) / 2), 0.0)
    return replace(
        goals[0],
        minimum=None if low is None else low + band,
        maximum=None if high is None else high - band,
        target=None,
    )


def _own_and_lot(spread: Spread) -> tuple[float, float]:
    """Standard deviations of a device alone (mismatch with it) and of its lot."""
    share = 1 / math.sqrt(3) if spread.distribution == "uniform" else 1 / spread.sigmas
    own = spread.tolerance * share
    if spread.mismatch is not None:
        own = math.hypot(own, mismatch_sigma(spread.mismatch))
    return own, spread.lot_tolerance * share
