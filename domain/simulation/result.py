"""What a simulation gave."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from domain.circuit.control_blocks import PlottedCurves
from domain.simulation.notes import SimulationNote
from domain.simulation.operating_point import OperatingPoint
from domain.simulation.reach import Reach
from shared.message import Message

RunStatus = Literal["ok", "failed", "timeout", "cancelled"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationIssue:
    """One error or warning of a run, told apart by `code` (the closed list is in docs/simulation.md)."""

    severity: Literal["error", "warning"]
    code: str
    """Stable kebab-case word: singular-matrix, no-convergence, undefined-model, time-limit ..."""
    message: Message
    file: Path | None = None
    line: int | None = None
    element: str | None = None
    node: str | None = None
    advice: Message | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """A number with its SI unit; ``value`` is NaN when it could not be had."""

    value: float
    unit: str
    """"V", "A", "Hz", "s", "deg", "dB", "1" for fractions and ratios, "" when not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationRun:
    """How one run of the simulator ended."""

    status: RunStatus
    raw_paths: tuple[Path, ...]
    """Raw files with data, in `output_dir`; the first is the one of the deck's own analyses."""
    issues: tuple[SimulationIssue, ...]
    log_path: Path
    duration_s: float
    simulator_version: str
    """For example "ngspice-39"."""
    confinement: tuple[str, ...]
    """What held during this run: "bubblewrap", "landlock", "seccomp", "rlimits"."""
    unknown_signals: tuple[str, ...] = ()
    """Of the job's `saved_beside` what the simulator does not know: it has left zeros for them."""
    reach: Reach | None = None
    """How far the analysis came at which the run ended; None when it ran to its end, or it is not known."""

    @property
    def errors(self) -> tuple[SimulationIssue, ...]:
        return tuple(issue for issue in self.issues if issue.severity == "error")


@dataclass(frozen=True, slots=True, kw_only=True)
class StepResult:
    """One run of a stepped circuit."""

    number: int
    """From 1; the raw file's plots are in this order."""
    values: dict[str, float]
    """The stepped quantities by lower-case name, in SI units (``temp`` in degrees Celsius)."""
    status: RunStatus
    metrics: dict[str, Quantity] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationResult:
    """A run with everything computed from it; stored as ``result.json``."""

    result_id: str
    netlist_path: Path
    netlist_sha256: str
    read_beside: dict[str, str] = field(default_factory=dict)
    """SHA-256 of the files the run read beside the circuit's own (includes, numbers), by path."""
    fingerprint: str = ""
    """Of all the run depended on (`prepared_circuit.py`); "" when it cannot stand for another run."""
    is_reused: bool = False
    """It was not run for whoever asks now: it is a stored one."""
    run: SimulationRun
    metrics: dict[str, Quantity] = field(default_factory=dict)
    """Every ``.meas`` of the deck under its lower-case name, and the numbers of its ``.four`` cards; of a
    stepped circuit ``name@1``, ``name@2`` ..."""
    curves: tuple[PlottedCurves, ...] = ()
    """What the circuit's own `plot` commands show, which is shown first."""
    operating_point: OperatingPoint | None = None
    """Of the circuit before any signal, of a stepped one at its first step; None when there is none, or when
    it could not be found in a few seconds."""
    steps: tuple[StepResult, ...] = ()
    """One for each run of a circuit that is stepped (`.step`, several temperatures); () else."""
    dialect: str = "ngspice"
    """What the circuit is written in: ngspice, ltspice, pspice, hspice."""
    notes: tuple[SimulationNote, ...] = ()
    """What was done to the circuit so that ngspice reads it."""
    assigned: tuple[str, ...] = ()
    """Vectors that the circuit's own commands set (`control_blocks.assigned_vectors`): not simulated."""
    issues: tuple[SimulationIssue, ...] = ()
    """Issues of the run and of the metrics."""
    request: dict[str, object] = field(default_factory=dict)
    """What was asked beside the file: analysis, set, timeout_s (plain JSON types)."""
    result_path: Path
    created: str
    """ISO 8601, UTC."""

    @property
    def ok(self) -> bool:
        """The run succeeded and no issue is an error."""
        return self.run.status == "ok" and not any(i.severity == "error" for i in self.issues)
