"""What simulation needs from the outside: engines, waveforms, stored results, settings of a project."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:  # quick commands must not pay for numpy because they name a port
    import asyncio
    import threading
    from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path
    from types import TracebackType

    from domain.circuit.dependencies import SourceReader
    from domain.circuit.model_library import LibraryModel
    from domain.circuit.simulator_settings import SimulatorSettings
    from domain.simulation.batch import Batch, BatchCircuit, BatchRun, RunOutcome
    from domain.simulation.reach import Reach
    from domain.simulation.request import SimulationJob
    from domain.simulation.result import SimulationResult, SimulationRun
    from domain.simulation.retention import Origin
    from domain.simulation.stepped_run import SteppedRun
    from domain.simulation.steps_so_far import StepsSoFar
    from domain.simulation.waveform import Envelope, Plot, PlotOutline, Vector
    from domain.simulation.wiring import Wiring
    from shared.message import Message
    from shared.pausing import Pause


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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Growth:
    """What a run that is under way has computed so far."""

    plots: tuple[Plot, ...]
    """Those that have points; the last one grows."""
    stride: int = 1
    """Of the last one each so-many-th point is there: so much was computed that not all of it is shown."""
    reach: Reach | None = None
    """How far the last one came; None when it is through, or has no axis."""
    rows: int = 0
    """Points that were read, of all plots together, those that are not there included."""
    steps: StepsSoFar | None = None
    """Of a stepped circuit."""


class GrowingData(Protocol):
    """The data of a run that is under way."""

    @property
    def ends(self) -> Mapping[str, tuple[float, float]]:
        """Where the axis of an analysis begins and ends, by its kind, as far as that is known."""

    def read(self) -> Growth:
        """What has come so far; once the run has ended what had come last. Blocking: used off the loop."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RunWatch:
    """Who follows a run while it is under way."""

    halt: asyncio.Event | None = None
    """Once set the run is ended, and what it has computed until then is its result (status "cancelled")."""
    pause: Pause | None = None
    """While it holds the run stands still, and its time limit does not count."""
    on_growing: Callable[[GrowingData], None] | None = None
    """Called once, when there may be something to read; not of a run whose data come at its end only
    (commands of the circuit's own)."""
    on_silent: Callable[[], None] | None = None
    """Called once in its place, of a run whose data come at its end only."""
    on_step: Callable[[StepsSoFar], None] | None = None
    """Of a stepped circuit: called as each step begins or ends."""
    wiring: Wiring | None = None
    """What tells the currents of its elements."""
    beside: int = 1
    """So many runs are followed together: each keeps that part of what one alone may."""


class Simulator(Protocol):
    """Runs one deck, confined. Cancelling the call kills the whole run."""

    async def run(
        self,
        job: SimulationJob,
        *,
        on_progress: Callable[[float], None] | None = None,
        watch: RunWatch | None = None,
    ) -> SimulationRun:
        """Run `job`; `on_progress` gets fractions 0..1. Raises EnvironmentProblem without ngspice,
        NeedsConfirmation when nothing confines a deck that brings commands or files.
        """

    async def version(self) -> str:
        """The simulator's name and version. Raises EnvironmentProblem when it is missing."""

    async def confinement(self) -> Confinement:
        """What holds, found by trying (cached)."""


class BatchSimulator(Protocol):
    """Runs many variations of loaded circuits on confined workers that stay."""

    def run(self, batch: Batch, *, workers: int | None = None) -> AsyncIterator[RunOutcome]:
        """Every run's outcome, as they end (in no order); `workers` at once, None for one a core.

        A worker that dies is replaced; the run it had is tried once more, then marked ("crashed"); one that
        hangs is marked at once. All runs of a circuit that does not load are "failed", with its errors.
        What a run gives does not depend on the workers; a circuit's own random functions are seeded with
        the run's id. Closing the iterator ends the workers. Raises EnvironmentProblem without libngspice,
        NeedsConfirmation when nothing confines circuits that bring commands or files.
        """

    def session(
        self, circuits: Sequence[BatchCircuit], *, workers: int | None = None
    ) -> AbstractAsyncContextManager[BatchSession]:
        """Workers that keep these circuits for several rounds of runs. Raises as `run`."""

    def live(self, circuit: BatchCircuit) -> AbstractAsyncContextManager[LiveCircuit]:
        """A worker that keeps `circuit` loaded for single evaluations.

        Raises as `run`, and CircuitError when the circuit does not load.
        """


class BatchSession(Protocol):
    """Workers with their circuits, for one round of runs after the other."""

    def run(
        self, runs: Sequence[BatchRun], *, signals: Sequence[str] | None, timeout_s: float
    ) -> AsyncIterator[RunOutcome]:
        """The outcome of every run, as they end; as `BatchSimulator.run`."""


class LiveCircuit(Protocol):
    """One circuit, loaded and waiting."""

    async def evaluate(
        self, values: Sequence[float], *, signals: Sequence[str] | None = None, timeout_s: float = 10.0
    ) -> RunOutcome:
        """One run with these values of the circuit's `varied`; calls are done one after the other."""


class WaveformReader(Protocol):
    """Reads raw files."""

    def read(self, path: Path) -> list[Plot]:
        """All plots with all vectors. Raises UserInputError when it is not a raw file."""

    def open(self, path: Path) -> WaveformSource:
        """The file, its vectors still unread. Raises UserInputError when it is not a raw file."""


class WaveformSource(Protocol):
    """An open raw file, whose vectors are read when they are asked for. Blocking: used off the loop.

    Vectors that were given out stay valid after closing; use it in a `with`.
    """

    @property
    def outlines(self) -> tuple[PlotOutline, ...]:
        """What the file holds, plot by plot; runs of a `.step` are plots of their own."""

    @property
    def plots(self) -> list[Plot]:
        """The plots in the same order, each vector read when it is first asked for."""

    def traces(self, names: Sequence[str], plot: int = 0, rows: range | None = None) -> list[Vector]:
        """Vectors of one plot by canonical name, whole or the samples `rows`. Raises KeyError."""

    def window(self, name: str, start: float, stop: float, max_points: int, plot: int = 0) -> Envelope:
        """A vector between two places of its axis, as the least and greatest values of at most
        `max_points` stretches; quick for any length when the file has a column file. Raises KeyError."""

    def close(self) -> None:
        """Close the file."""

    def __enter__(self) -> WaveformSource:
        """For `with`."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file."""


class ColumnBuilder(Protocol):
    """Makes column files beside raw files, from which vectors and plots are quick."""

    def build(self, raw_path: Path, stop: threading.Event) -> bool:
        """Make it, at low priority; whether it is there now. Ends early when `stop` is set. Blocking.

        Raises UserInputError when the raw file can't be read, EnvironmentProblem when the disk is full.
        """


class RunJoiner(Protocol):
    """Puts the runs of a stepped circuit together."""

    def join(self, runs: Sequence[SteppedRun], folder: Path) -> SimulationRun:
        """One run with the data of all, in `folder`. Raises EnvironmentProblem when the disk is full."""


class ModelLibrary(Protocol):
    """The models that come with the program."""

    @property
    def models(self) -> tuple[LibraryModel, ...]:
        """Every model, by name. Blocking at its first use."""


class SimulatorSettingsStore(Protocol):
    """Keeps what the user set for the circuits of each project."""

    def of_circuit(self, circuit: Path) -> SimulatorSettings:
        """Those of the nearest folder above `circuit` that has some; plain ones when there is none."""

    def save(self, folder: Path, settings: SimulatorSettings) -> None:
        """Keep the settings of a project's folder. Raises EnvironmentProblem."""


class SourceReaders(Protocol):
    """Makes the reader through which our parser sees the files of one circuit."""

    def for_circuit(self, circuit: Path, libraries: Sequence[Path]) -> SourceReader:
        """A reader confined to the circuit's project (or folder) and the listed libraries."""


class ResultStore(Protocol):
    """Keeps results of one project (or of lone files)."""

    def new_result(self, circuit: Path, ulid: str | None = None, *, kind: str = "") -> tuple[str, Path]:
        """A result id made from `ulid` (None = a fresh one) and its existing empty folder.

        `kind`: of study, "" for one run.
        """

    def discard(self, folder: Path) -> None:
        """Remove the folder of a result that was never saved."""

    def forget(self, project: Path, ulid: str) -> None:
        """Remove what an interrupted run of this id left in a project, if anything."""

    def keep_wiring(self, folder: Path, wiring: Wiring) -> None:
        """Put beside the data of a result what its elements are connected to, before it is saved."""

    def keep_circuit(self, folder: Path, text: bytes) -> None:
        """Put beside the data of a result its circuit's file as it was run, before it is saved."""

    def save(self, result: SimulationResult) -> None:
        """Write result.json atomically."""

    def reusable(self, circuit: Path, fingerprint: str) -> SimulationResult | None:
        """The newest whole, successful result of `circuit` with this fingerprint, marked as just used."""

    def save_study(self, folder: Path, document: Mapping[str, Any], rows: bytes) -> None:
        """Write a study's table and its result.json (NaN becomes null) into the folder of a new result."""

    def save_so_far(self, folder: Path, document: Mapping[str, Any], rows: bytes) -> None:
        """Keep what a study that goes on has by now: killed, it is a stopped one after the next start."""

    def study_document(self, result: Path) -> Mapping[str, Any]:
        """What `save_study` wrote into a result.json, or somebody else did. Blocking.

        Raises UserInputError when there is none that can be read.
        """

    def study_rows(self, result: Path) -> bytes:
        """The table beside the result.json of a study. Blocking. Raises UserInputError when it is gone."""

    def former_searches(self, circuit: Path, key: str) -> Iterator[tuple[Mapping[str, Any], bytes]]:
        """Optimisations saved here under this `search_key`, the newest first: document and table, as written.

        What somebody else wrote, or anybody changed, is left out. Blocking.
        """

    def assigned_in(self, path: Path) -> tuple[str, ...]:
        """The vectors of a result's data that the circuit's own commands set. Blocking."""

    def raw_path_of(self, path: Path) -> Path:
        """The raw file a result.json (or a raw file itself) points to."""

    def origin_of(self, path: Path) -> Origin:
        """Who computed the data of a result.json, a result's folder or a raw file; never raises. Blocking."""
