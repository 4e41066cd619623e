"""Runs of the window that did not end as they should: marked while they run, told at the next start."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class UncleanEnd:
    """A run that ended without its end."""

    name: str
    report: str
    """What is known of it; keys are blacked out."""
    path: Path
    """Where the report lies."""


class UncleanEnds(Protocol):
    """Knows the windows that run on this machine and those that ended by a fault. Blocking."""

    def begin(self, facts: str) -> None:
        """This window runs: mark it, and have the interpreter write down where it stands when it faults.

        `facts`: lines for a report (versions). Never raises; what can't be written is told in the log.
        """

    def end(self) -> None: ...

    def untold(self, log: Path) -> tuple[UncleanEnd, ...]:
        """Those of earlier runs that nobody was told of, the newest first; each is told once.

        A report has the end of `log` too.
        """

    def delete(self, found: UncleanEnd) -> None:
        """Remove its report. Raises EnvironmentProblem."""
