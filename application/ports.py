"""What the application needs from the outside, as protocols named by role.

Adapters in infrastructure do not inherit these; bootstrap's annotated fields make mypy check them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # quick commands must not pay for numpy because they name a port
    from collections.abc import Callable, Sequence
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from langgraph.checkpoint.base import BaseCheckpointSaver

    from domain.circuit.dependencies import SourceReader
    from domain.design.designer import DesignIntent, Proposal
    from domain.design.goals import GoalVerdict
    from domain.simulation.request import SimulationJob
    from domain.simulation.result import SimulationResult, SimulationRun
    from domain.simulation.waveform import Plot
    from shared.message import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Confinement:
    """What holds when ngspice runs here, found by trying it."""

    bubblewrap: bool
    landlock_abi: int
    """0 when the kernel has none."""
    seccomp: bool
    rlimits: bool
    notes: tuple[Message, ...] = ()
    """What does not hold, why, and what that leaves open."""

    @property
    def layers(self) -> tuple[str, ...]:
        """Names of the layers in force, outermost first."""
        found = (
            ("bubblewrap", self.bubblewrap),
            ("landlock", self.landlock_abi > 0),
            ("seccomp", self.seccomp),
            ("rlimits", self.rlimits),
        )
        return tuple(name for name, holds in found if holds)


class Simulator(Protocol):
    """Runs one deck, confined. Cancelling the call kills the whole run."""

    async def run(
        self, job: SimulationJob, *, on_progress: Callable[[float], None] | None = None
    ) -> SimulationRun:
        """Run `job`; `on_progress` gets fractions 0..1. Raises EnvironmentProblem without ngspice."""
        ...

    async def version(self) -> str:
        """The simulator's name and version. Raises EnvironmentProblem when it is missing."""
        ...

    async def confinement(self) -> Confinement:
        """What holds, found by trying (cached)."""
        ...


class WaveformReader(Protocol):
    """Reads raw files."""

    def read(self, path: Path) -> list[Plot]:
        """All plots with all vectors. Raises UserInputError when it is not a raw file."""
        ...


class SourceReaders(Protocol):
    """Makes the reader through which our parser sees the files of one circuit."""

    def for_circuit(self, circuit: Path, libraries: Sequence[Path]) -> SourceReader:
        """A reader confined to the circuit's project (or folder) and the listed libraries."""
        ...


class ResultStore(Protocol):
    """Keeps results of one project (or of lone files)."""

    def new_result(self, circuit: Path) -> tuple[str, Path]:
        """A fresh result id and its existing empty folder."""
        ...

    def discard(self, folder: Path) -> None:
        """Remove the folder of a result that was never saved."""
        ...

    def save(self, result: SimulationResult) -> None:
        """Write result.json atomically."""
        ...

    def raw_path_of(self, path: Path) -> Path:
        """The raw file a result.json (or a raw file itself) points to."""
        ...


class ProjectFiles(Protocol):
    """One open project folder; files are written only atomically, with a backup of what was there."""

    @property
    def root(self) -> Path:
        """The project folder, links resolved."""
        ...

    @property
    def checkpoints_path(self) -> Path:
        """The database of the graph's checkpoints."""
        ...

    @property
    def design_goals_path(self) -> Path:
        """Where the goals of the current design are kept."""
        ...

    def write(self, path: Path, content: bytes) -> str:
        """Write atomically; the old content goes to the object store. Returns the new SHA-256."""
        ...

    def read(self, path: Path) -> bytes:
        """The file's bytes. Raises UserInputError."""
        ...

    def save_design_goals(self, content: bytes) -> None:
        """Replace design_goals.json atomically."""
        ...

    def keep_object(self, content: bytes) -> str:
        """Put bytes into the content-addressed store; returns their SHA-256."""
        ...

    def read_object(self, sha256: str) -> bytes:
        """Bytes from the content-addressed store, verified. Raises CircuitAIError when damaged."""
        ...


class Projects(Protocol):
    """Opens project folders."""

    def open(self, folder: Path, *, create: bool = False) -> ProjectFiles:
        """Open (and with `create` make) a project. Raises UserInputError, EnvironmentProblem."""
        ...


class Checkpointers(Protocol):
    """Opens the database in which LangGraph keeps its checkpoints."""

    def __call__(self, path: Path) -> AbstractAsyncContextManager[BaseCheckpointSaver[str]]:
        """A saver that is closed when the context ends."""
        ...


class Designer(Protocol):
    """A provider that turns a sentence into a circuit (the built-in one: from families)."""

    async def understand(self, text: str) -> DesignIntent:
        """Goals and family. Raises CircuitError with the list of what is known otherwise."""
        ...

    async def propose(self, intent: DesignIntent) -> Proposal:
        """The first shot, by design equations."""
        ...

    async def revise(
        self, intent: DesignIntent, previous: Proposal, verdicts: Sequence[GoalVerdict]
    ) -> Proposal | None:
        """A re-sized circuit after a miss, or None when nothing is left to try."""
        ...
