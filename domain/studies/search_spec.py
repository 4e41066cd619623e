"""What a search is asked for beside parameters and goals: what to minimise, and how long to go on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from domain.simulation.goals import DesignGoal
from domain.studies.spec_reader import SpecReader, spec_error
from shared.message import msg

DEFAULT_BUDGET = 1000
SAMPLES = 100
MOST_SIMULATIONS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Objective:
    """A metric that is to be as small (or as large) as the goals allow."""

    metric: str
    maximize: bool = False
    weight: float = 1.0

    @property
    def as_goal(self) -> DesignGoal:
        """A goal without bounds: it only names what has to be measured."""
        return DesignGoal(metric=self.metric, expression="", unit="", weight="wish")


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """How to search."""

    objectives: tuple[Objective, ...] = ()
    """Empty = the search ends when all goals are met."""
    budget: int = DEFAULT_BUDGET
    """Simulations at most."""
    time_limit_s: float | None = None
    """Wall time at most; None = no limit. A search that ends by it is not repeated exactly."""
    samples: int = SAMPLES
    """Circuits whose parts scatter that the best point is judged by at the end."""
    with_archive: bool = True
    """Begin with what former searches of the circuit measured."""


def read_search(reader: SpecReader) -> SearchOptions:
    """``minimize``, ``maximize``, ``budget``, ``time_limit`` of a specification. Raises UserInputError."""
    return SearchOptions(
        objectives=(
            *_objectives(reader, ("minimize", "minimise"), maximize=False),
            *_objectives(reader, ("maximize", "maximise"), maximize=True),
        ),
        budget=reader.whole("budget", "max_simulations", least=1, most=MOST_SIMULATIONS) or DEFAULT_BUDGET,
        time_limit_s=reader.positive("time_limit", "time_limit_s"),
        samples=reader.whole("runs", least=1, most=MOST_SIMULATIONS) or SAMPLES,
        with_archive=reader.flag("archive") if reader.has("archive") else True,
    )


def _objectives(reader: SpecReader, keys: tuple[str, ...], *, maximize: bool) -> tuple[Objective, ...]:
    """A name or expression, a list of them, or an object of weights by name."""
    key, node = reader.take(*keys)
    if node is None:
        return ()
    place = reader.at(key)
    items: list[tuple[Any, Any]]
    if isinstance(node, dict):
        items = list(node.items())
    else:
        items = [(item, 1.0) for item in (node if isinstance(node, list) else [node])]
    found = []
    for metric, weight in items:
        if not isinstance(metric, str) or not metric.strip():
            raise spec_error(place, msg("should name a measurement or be an expression"))
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 < weight < 1e12:
            raise spec_error(f"{place}.{metric}", msg("should be a weight above 0"))
        found.append(Objective(metric=metric.strip(), maximize=maximize, weight=float(weight)))
    return tuple(found)
