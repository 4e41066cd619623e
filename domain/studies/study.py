"""What a study gave: a row for every run, and what was computed from all of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from domain.simulation.batch import RunState
from domain.simulation.goals import DesignGoal
from domain.simulation.result import SimulationIssue
from domain.studies.sensitivity import Sensitivity
from domain.studies.statistics import MetricStatistics, Yield
from domain.studies.study_spec import StudyKind
from domain.studies.value_map import MapAxis
from domain.studies.worst_case import WorstCase
from shared.message import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyRow:
    """One run."""

    run: int
    """From 0, in the order of the study whatever the order in which runs ended."""
    label: str = ""
    """What the run is for, where that does not follow from its values: ``nominal``, ``R1 -``."""
    corner: str | None = None
    parameters: Mapping[str, float]
    """What was changed, SI."""
    metrics: Mapping[str, float]
    """NaN for a metric that could not be had."""
    state: RunState
    problems: Mapping[str, Message] = field(default_factory=dict)
    """Why a metric could not be had, by its name."""
    issues: tuple[SimulationIssue, ...] = ()
    """Errors and warnings of the simulator."""
    goals_met: bool | None = None
    """None without goals."""

    @property
    def reason(self) -> Message | None:
        """Why the run or one of its metrics failed; None for a good run."""
        errors = [issue.message for issue in self.issues if issue.severity == "error"]
        if self.state != "ok" and errors:
            return errors[0]
        return next(iter(self.problems.values()), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class CornerSpan:
    """Where one metric is lowest and highest over the corners."""

    unit: str
    minimum: float
    minimum_corner: str
    maximum: float
    maximum_corner: str
    worst_corner: str | None
    """The corner furthest from (or least inside of) the metric's goal; None without a goal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MapFindings:
    """What a map of two values says as a whole."""

    axes: tuple[MapAxis, MapAxis]
    nodes: int
    """Of an axis of the finest grid that some of is simulated."""
    share_met: float
    """Of the plane, where all goals are met; between runs it is interpolated."""
    best_run: int | None
    """The run whose least margin is largest; None where none has them all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyResult:
    """A whole study, or what was done of it."""

    kind: StudyKind
    result_id: str
    result_path: Path
    circuit: Path
    netlist_sha256: str
    created: str
    """ISO 8601, UTC."""
    is_stopped: bool
    total: int
    """Runs that were planned (so far)."""
    rows: tuple[StudyRow, ...]
    """The runs that were done, by number; that of the circuit as written only where it is one of them."""
    units: Mapping[str, str]
    """Of every metric, in the order of the study."""
    parameters: tuple[str, ...]
    scattering: tuple[str, ...] = ()
    """Those of them whose deviation is a share of their value."""
    goals: tuple[DesignGoal, ...]
    seed: int | None
    """Of a Monte Carlo."""
    statistics: Mapping[str, MetricStatistics] = field(default_factory=dict)
    statistics_by_corner: Mapping[str, Mapping[str, MetricStatistics]] = field(default_factory=dict)
    """Of a sweep or Monte Carlo at corners."""
    yields: Mapping[str, Yield] = field(default_factory=dict)
    """By goal: ``bw >= 1e+06``."""
    total_yield: Yield | None = None
    """Of all goals together; None without goals."""
    nominal: StudyRow | None = None
    """The circuit as written; of a Monte Carlo not among its rows."""
    corners: Mapping[str, CornerSpan | None] = field(default_factory=dict)
    worst_cases: Mapping[str, WorstCase] = field(default_factory=dict)
    sensitivities: Mapping[str, tuple[Sensitivity, ...]] = field(default_factory=dict)
    """By metric, the parameter that weighs most first."""
    plane: MapFindings | None = None
    """Of a map."""
    goals_met: bool | None = None
    """None when there are no goals, or the study has no say in them."""
    assumed: tuple[Message, ...] = ()
    """How the parts scatter, and which those are."""
    warnings: tuple[Message, ...] = ()
    duration_s: float = 0.0
    simulator_version: str = ""
    confinement: tuple[str, ...] = ()

    @property
    def failed(self) -> int:
        """How many runs did not simulate."""
        return sum(row.state != "ok" for row in self.rows)

    @property
    def has_values(self) -> bool:
        """Whether any metric could be had in any run."""
        return any(math.isfinite(value) for row in self.rows for value in row.metrics.values())

    @property
    def ok(self) -> bool:
        """It ran to its end, something came out, and goals it has to meet are met.

        A study of many points bears a few that fail; where every run counts (corners, worst case,
        sensitivity) none may.
        """
        if self.is_stopped or not self.rows or self.failed == len(self.rows) or not self.has_values:
            return False
        if self.kind in ("corners", "worst-case", "sensitivity") and self.failed:
            return False
        return self.goals_met is not False
