"""What an optimisation gave: the best point, proved by a run of its own, and how it was found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from domain.simulation.goals import DesignGoal, GoalVerdict
from domain.studies.conflicts import Conflict
from domain.studies.robustness import Robustness
from domain.studies.scatter import Scatter
from domain.studies.search import SearchEnd
from domain.studies.search_cost import Cost
from domain.studies.search_spec import Objective
from domain.studies.study import StudyRow
from shared.message import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class BestPoint:
    """The best values that were found."""

    parameters: Mapping[str, float]
    """SI, as they were simulated."""
    texts: Mapping[str, str]
    """The same as SPICE writes them: ``4.7k``."""
    metrics: Mapping[str, float]
    """Of the fresh run (with corners: of the worst for each goal); of the batch's when not `is_verified`."""
    verdicts: tuple[GoalVerdict, ...]
    cost: Cost
    is_verified: bool
    """A simulator started for these values alone has given the metrics."""
    run: int
    """The simulation of the search that found it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Improvement:
    """A point that was better than all before it."""

    run: int
    parameters: Mapping[str, float]
    metrics: Mapping[str, float]
    cost: Cost


@dataclass(frozen=True, slots=True, kw_only=True)
class OptimizationResult:
    """A whole optimisation, or what was done of it."""

    result_id: str
    result_path: Path
    circuit: Path
    netlist_sha256: str
    created: str
    """ISO 8601, UTC."""
    end: SearchEnd
    best: BestPoint | None
    """None when nothing simulated."""
    start: StudyRow | None
    """The circuit with the values nearest to those it is written with."""
    history: tuple[Improvement, ...]
    rows: tuple[StudyRow, ...]
    """Every simulation of the search, by number."""
    units: Mapping[str, str]
    parameters: tuple[str, ...]
    goals: tuple[DesignGoal, ...]
    objectives: tuple[Objective, ...]
    measured: Mapping[str, str]
    """What each metric is: its expression, or a `.meas` card."""
    search_key: str
    """What searches of the same circuit have in common; "" = none is like it."""
    seed: int
    budget: int
    generations: int
    restarts: int
    repeated: int
    """Points that came up again and were not simulated twice."""
    recalled: int = 0
    """Points of former searches of this circuit that it could rely on."""
    robustness: tuple[Robustness, ...] = ()
    """Of each goal the best point meets; () when there was no time to look."""
    scatter: Scatter | None = None
    """What parts that scatter do to the best point; None where none was said to."""
    efficiencies: Mapping[str, float] = field(default_factory=dict)
    """gm/Id (1/V) by transistor, of those that were searched by it."""
    conflicts: tuple[Conflict, ...] = ()
    """Where the goals are not met: which of them no simulation met, or none together."""
    at_range_end: tuple[str, ...] = ()
    """Parameters whose best value is the first or last of their range."""
    raw_paths: tuple[Path, ...] = ()
    """Data of the fresh run."""
    output_path: Path | None = None
    """The circuit with the best values, where it was asked for."""
    warnings: tuple[Message, ...] = ()
    duration_s: float = 0.0
    simulator_version: str = ""
    confinement: tuple[str, ...] = ()

    @property
    def is_stopped(self) -> bool:
        return self.end == "stopped"

    @property
    def failed(self) -> int:
        """How many simulations failed."""
        return sum(row.state != "ok" for row in self.rows)

    @property
    def goals_met(self) -> bool | None:
        """Whether the fresh run of the best point meets every must; None without goals."""
        if not self.goals:
            return None
        if self.best is None or not self.best.is_verified:
            return False
        return all(verdict.met for verdict in self.best.verdicts if verdict.goal.weight == "must")

    @property
    def ok(self) -> bool:
        """It ran to its end, the best point is proved and meets the goals, with the yield asked for."""
        is_proved = self.best is not None and self.best.is_verified
        yields = self.scatter is None or self.scatter.reaches_target
        return is_proved and not self.is_stopped and self.goals_met is not False and yields
