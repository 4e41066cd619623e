"""Design reports as tools ask for them: of which circuit, as what, and what is in one that was made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from shared.message import Message

if TYPE_CHECKING:
    from domain.circuit.schematic.placing import Place

ReportFormat = Literal["pdf", "html", "md"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportRequest:
    """Of which circuit."""

    project: Path
    circuit: Path | None = None
    """In the project; None for its only one."""
    studies: Sequence[str] | None = None
    """Those it tells: kinds (the newest of each), numbers of runs, or "none" alone. None: the newest of each
    kind that was run here."""
    places: Mapping[str, Mapping[str, Place]] = field(default_factory=dict)
    """Where parts of the schematic stand that were moved by hand, by page (a subcircuit's path, "" for the
    top level) and name in lower case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyInReport:
    """A study that a report tells."""

    run: int
    kind: str
    """As the command line calls it."""
    runs: int
    """Its simulations."""
    is_of_this_file: bool
    """False: the circuit's file was changed since."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportContent:
    """What is in a report, in few words and figures."""

    circuit: str
    """Its place in the project, forward slashes."""
    is_simulated: bool
    goals: int
    goals_judged: int
    goals_met: int
    elements: int
    """In its schematic."""
    no_schematic: Message | None
    """Why there is none."""
    analyses: tuple[str, ...]
    """Those with curves."""
    has_operating_point: bool
    studies: tuple[StudyInReport, ...]
    rounds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeReport:
    """A report as files."""

    files: Mapping[str, bytes]
    """By name, the document first; pictures beside it."""
    content: ReportContent


class ReportMaker(Protocol):
    """Makes reports without writing them, in the language of the program."""

    async def made(self, request: ReportRequest, form: ReportFormat, stem: str) -> MadeReport:
        """The document is called `stem` with its ending.

        Raises UserInputError (no such circuit, several of them, no such study), EnvironmentProblem (ngspice
        or what prints pages is missing).
        """
