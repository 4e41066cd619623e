"""One run of a circuit that `.step` and `.temp` cards have simulated several times."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from domain.circuit.stepping import StepPoint
from domain.simulation.result import SimulationIssue, SimulationRun
from shared.message import msg


@dataclass(frozen=True, slots=True, kw_only=True)
class SteppedRun:
    """One step's run."""

    number: int
    """From 1."""
    count: int
    point: StepPoint
    circuit: Path
    run: SimulationRun
    folder: Path
    """Its own, with its raw files and log."""

    @property
    def label(self) -> str:
        """``r1=1k, temp=27``."""
        return self.point.label

    @property
    def mark(self) -> str:
        """The step as Xyce writes it in front of a plot's name."""
        values = " ".join(f"name = {axis.name} value = {value:.15g}" for axis, value in self.point.values)
        return f"Step Analysis: Step {self.number} of {self.count} params: {values}"

    @property
    def issues(self) -> tuple[SimulationIssue, ...]:
        """Those of the run, and which step failed, or was stopped with it."""
        if self.run.status == "ok":
            return self.run.issues
        is_stopped = self.run.status == "cancelled"
        stopped = msg("Step {number} of {count} ({values}) was stopped.",
                      number=self.number, count=self.count, values=self.label)  # fmt: skip
        failed = msg("Step {number} of {count} ({values}) failed to simulate.",
                     number=self.number, count=self.count, values=self.label)  # fmt: skip
        ended = SimulationIssue(
            severity="warning" if is_stopped else "error",
            code="step-stopped" if is_stopped else "step-failed",
            message=stopped if is_stopped else failed,
            file=self.circuit,
            line=self.point.values[0][0].line,
        )
        return (*self.run.issues, ended)
