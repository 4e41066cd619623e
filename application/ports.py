"""What the application needs from the outside, as protocols named by role.

Adapters in infrastructure do not inherit these; bootstrap's annotated fields make mypy check them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:  # quick commands must not pay for numpy because they name a port
    import threading
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence
    from contextlib import AbstractAsyncContextManager, AbstractContextManager
    from pathlib import Path
    from types import TracebackType

    from langchain_core.language_models import BaseChatModel
    from langgraph.checkpoint.base import BaseCheckpointSaver

    from application.stepped_simulation import SteppedRun
    from domain.circuit.dependencies import SourceReader
    from domain.circuit.simulator_settings import SimulatorSettings
    from domain.design.designer import DesignIntent, Proposal
    from domain.design.goals import DesignGoal, GoalVerdict
    from domain.llm.chat import ChatRequest, ProviderChoice, ProviderInfo, StreamChunk
    from domain.simulation.batch import Batch, BatchCircuit, BatchRun, RunOutcome
    from domain.simulation.request import SimulationJob
    from domain.simulation.result import SimulationResult, SimulationRun
    from domain.simulation.waveform import Envelope, Plot, PlotOutline, Vector
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


class BatchSimulator(Protocol):
    """Runs many variations of loaded circuits on confined workers that stay."""

    def run(self, batch: Batch, *, workers: int | None = None) -> AsyncIterator[RunOutcome]:
        """Every run's outcome, as they end (in no order); `workers` at once, None for one a core.

        A worker that dies is replaced; the run it had is tried once more, then marked ("crashed"); one that
        hangs is marked at once. All runs of a circuit that does not load are "failed", with its errors.
        What a run gives does not depend on the workers; a circuit's own random functions are seeded with
        the run's id. Closing the iterator ends the workers. Raises EnvironmentProblem without libngspice
        or confinement.
        """
        ...

    def session(
        self, circuits: Sequence[BatchCircuit], *, workers: int | None = None
    ) -> AbstractAsyncContextManager[BatchSession]:
        """Workers that keep these circuits for several rounds of runs. Raises EnvironmentProblem."""
        ...

    def live(self, circuit: BatchCircuit) -> AbstractAsyncContextManager[LiveCircuit]:
        """A worker that keeps `circuit` loaded for single evaluations.

        Raises as `run`, and CircuitError when the circuit does not load.
        """
        ...


class BatchSession(Protocol):
    """Workers with their circuits, for one round of runs after the other."""

    def run(
        self, runs: Sequence[BatchRun], *, signals: Sequence[str] | None, timeout_s: float
    ) -> AsyncIterator[RunOutcome]:
        """The outcome of every run, as they end; as `BatchSimulator.run`."""
        ...


class LiveCircuit(Protocol):
    """One circuit, loaded and waiting."""

    async def evaluate(
        self, values: Sequence[float], *, signals: Sequence[str] | None = None, timeout_s: float = 10.0
    ) -> RunOutcome:
        """One run with these values of the circuit's `varied`; calls are done one after the other."""
        ...


class WaveformReader(Protocol):
    """Reads raw files."""

    def read(self, path: Path) -> list[Plot]:
        """All plots with all vectors. Raises UserInputError when it is not a raw file."""
        ...

    def open(self, path: Path) -> WaveformSource:
        """The file, its vectors still unread. Raises UserInputError when it is not a raw file."""
        ...


class WaveformSource(Protocol):
    """An open raw file, whose vectors are read when they are asked for. Blocking: used off the loop.

    Vectors that were given out stay valid after closing; use it in a `with`.
    """

    @property
    def outlines(self) -> tuple[PlotOutline, ...]:
        """What the file holds, plot by plot; runs of a `.step` are plots of their own."""
        ...

    @property
    def plots(self) -> list[Plot]:
        """The plots in the same order, each vector read when it is first asked for."""
        ...

    def traces(self, names: Sequence[str], plot: int = 0, rows: range | None = None) -> list[Vector]:
        """Vectors of one plot by canonical name, whole or the samples `rows`. Raises KeyError."""
        ...

    def window(self, name: str, start: float, stop: float, max_points: int, plot: int = 0) -> Envelope:
        """A vector between two places of its axis, as the least and greatest values of at most
        `max_points` stretches; quick for any length when the file has a column file. Raises KeyError."""
        ...

    def close(self) -> None:
        """Close the file."""
        ...

    def __enter__(self) -> WaveformSource:
        """For `with`."""
        ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file."""
        ...


class ColumnBuilder(Protocol):
    """Makes column files beside raw files, from which vectors and plots are quick."""

    def build(self, raw_path: Path, stop: threading.Event) -> bool:
        """Make it, at low priority; whether it is there now. Ends early when `stop` is set. Blocking.

        Raises UserInputError when the raw file can't be read, EnvironmentProblem when the disk is full.
        """
        ...


class RunJoiner(Protocol):
    """Puts the runs of a stepped circuit together."""

    def join(self, runs: Sequence[SteppedRun], folder: Path) -> SimulationRun:
        """One run with the data of all, in `folder`. Raises EnvironmentProblem when the disk is full."""
        ...


class SimulatorSettingsStore(Protocol):
    """Keeps what the user set for the circuits of each project."""

    def of_circuit(self, circuit: Path) -> SimulatorSettings:
        """Those of the nearest folder above `circuit` that has some; plain ones when there is none."""
        ...

    def save(self, folder: Path, settings: SimulatorSettings) -> None:
        """Keep the settings of a project's folder. Raises EnvironmentProblem."""
        ...


class SourceReaders(Protocol):
    """Makes the reader through which our parser sees the files of one circuit."""

    def for_circuit(self, circuit: Path, libraries: Sequence[Path]) -> SourceReader:
        """A reader confined to the circuit's project (or folder) and the listed libraries."""
        ...


class ResultStore(Protocol):
    """Keeps results of one project (or of lone files)."""

    def new_result(self, circuit: Path, ulid: str | None = None) -> tuple[str, Path]:
        """A result id made from `ulid` (None = a fresh one) and its existing empty folder."""
        ...

    def discard(self, folder: Path) -> None:
        """Remove the folder of a result that was never saved."""
        ...

    def forget(self, project: Path, ulid: str) -> None:
        """Remove what an interrupted run of this id left in a project, if anything."""
        ...

    def save(self, result: SimulationResult) -> None:
        """Write result.json atomically."""
        ...

    def save_study(self, folder: Path, document: Mapping[str, Any], rows: bytes) -> None:
        """Write a study's table and its result.json (NaN becomes null) into the folder of a new result."""
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
    def sessions(self) -> SessionStore:
        """The project's conversations."""
        ...

    @property
    def operations(self) -> OperationLog:
        """The project's log of effects, opened at its first use."""
        ...

    @property
    def design_goals_path(self) -> Path:
        """Where the goals of the current design are kept."""
        ...

    def place_of(self, path: Path) -> str:
        """Where `path` really is: relative to the project, forward slashes, links resolved.

        It need not exist. Raises UserInputError ("outside_project").
        """
        ...

    def write(self, path: Path, content: bytes) -> str:
        """Write atomically; the old content goes to the object store. Returns the new SHA-256."""
        ...

    def read(self, path: Path) -> bytes:
        """The file's bytes. Raises UserInputError."""
        ...

    def remove(self, path: Path) -> None:
        """Delete a file of the user's (its content has to be in the object store before)."""
        ...

    def clear_leftovers(self, path: Path) -> None:
        """Remove what an interrupted write of `path` left beside it; nobody may be writing there."""
        ...

    def close(self) -> None:
        """Release what was opened."""
        ...

    def read_design_goals(self) -> bytes | None:
        """The content of design_goals.json, None when there is none."""
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

    async def prune(self, saver: BaseCheckpointSaver[str], thread_id: str) -> None:
        """Forget the steps of a thread that nothing needs any more: all but the newest."""
        ...


class Designer(Protocol):
    """A provider that turns a sentence into a circuit (the built-in one: from families)."""

    async def understand(self, text: str) -> DesignIntent:
        """Goals and family. Raises CircuitError with the list of what is known otherwise."""
        ...

    async def follow(self, intent: DesignIntent, goals: Sequence[DesignGoal]) -> DesignIntent:
        """The intent with the goals a person confirmed, and what it is sized for changed with them."""
        ...

    async def propose(self, intent: DesignIntent) -> Proposal:
        """The first shot, by design equations."""
        ...

    async def revise(
        self, intent: DesignIntent, previous: Proposal, verdicts: Sequence[GoalVerdict]
    ) -> Proposal | None:
        """A re-sized circuit after a miss, or None when nothing is left to try."""
        ...


class ChatClient(Protocol):
    """A language model behind one provider's protocol."""

    def stream(self, request: ChatRequest) -> AsyncIterator[StreamChunk]:
        """The answer in pieces; the last chunk has the finish reason. Closing the iterator ends the call.

        Raises ProviderError; what was yielded before it stays valid. Retries only before the first
        piece of text, reasoning or tool call.
        """
        ...

    async def models(self) -> tuple[str, ...]:
        """Names of the models it offers. Raises ProviderError."""
        ...

    async def close(self) -> None:
        """Close connections."""
        ...


class ChatModels(Protocol):
    """Opens language models by provider name."""

    def open(self, choice: ProviderChoice) -> AbstractAsyncContextManager[BaseChatModel]:
        """A model that is closed when the context ends.

        Raises UserInputError for an unknown provider or a missing URL, ProviderError ("no_key").
        """
        ...

    def list(self) -> tuple[ProviderInfo, ...]:
        """Every provider, with what is set up."""
        ...

    async def examine(self, choice: ProviderChoice) -> tuple[str, ...]:
        """Talk to the provider; returns its models. Raises UserInputError, ProviderError with advice."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionInfo:
    """One conversation as a list shows it."""

    session_id: str
    name: str
    work_mode: Literal["free_work", "workflow"]
    created_at: str
    """ISO 8601, UTC."""
    updated_at: str
    message_count: int
    """Messages of the user and the assistant."""
    preview: str
    """The first 50 characters of the user's first message."""
    has_partial_response: bool
    """Its last turn was interrupted."""


class Transcript(Protocol):
    """One conversation's file, open for writing; this process holds its lock.

    Events are plain JSON objects with an ``"event"`` word; the first is the header. An append is on
    the disk when it returns. Blocking: called off the loop.
    """

    @property
    def session_id(self) -> str:
        """The session's id (also the thread id of its checkpoints)."""
        ...

    @property
    def events(self) -> Sequence[Mapping[str, Any]]:
        """Everything read at opening and appended since, in order."""
        ...

    def append(self, *events: Mapping[str, Any]) -> None:
        """Write the events, flush and fsync. Raises EnvironmentProblem (disk full, read-only)."""
        ...

    def close(self) -> None:
        """Give the lock back."""
        ...


class SessionStore(Protocol):
    """The conversations of one project. Blocking: called off the loop."""

    def create(
        self, *, work_mode: Literal["free_work", "workflow"], name: str = "", session_id: str = ""
    ) -> Transcript:
        """A new conversation; an empty name becomes "Chat <date and time>"."""
        ...

    def open(self, session_id: str) -> Transcript:
        """An existing one, for writing. Raises UserInputError ("no_session", "session_in_use")."""
        ...

    def list(self) -> tuple[SessionInfo, ...]:
        """All, the last changed first; heals its index from the files."""
        ...

    def read(self, session_id: str) -> Sequence[Mapping[str, Any]]:
        """The events of one, without its lock. Raises UserInputError ("no_session")."""
        ...

    def delete(self, session_id: str) -> None:
        """Remove one. Raises UserInputError ("no_session", "session_in_use")."""
        ...


OperationKind = Literal["file", "simulation", "undo"]

OperationState = Literal["intent", "done", "undone", "abandoned"]
"""abandoned: settled after an interruption without any effect."""

ABSENT = "absent"
"""In place of a content hash: there is no file. Never inferred from a missing backup."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationRecord:
    """One effect of one call."""

    op_id: str
    """ULID; for a tool's call equal to the call's own id."""
    session_id: str
    tool: str
    kind: OperationKind
    state: OperationState
    path: str = ""
    """Relative to the project, forward slashes; "" for a simulation."""
    before_sha256: str = ABSENT
    after_sha256: str = ABSENT
    undoes: str = ""
    """The operation this one undid."""
    created: str = ""
    """ISO 8601, UTC."""
    result: Mapping[str, Any] | None = None
    """The call's stored outcome, plain JSON types; for a file known already at the intent."""


class OperationLog(Protocol):
    """The write-ahead log of effects in a project's operations.sqlite. Blocking: called off the loop.

    Every method is one short transaction, on the disk when it returns; several processes may work
    on it. Raises EnvironmentProblem when the database cannot be used.
    """

    def record_intent(self, record: OperationRecord) -> None:
        """Add a record in state "intent"; one of the same id that was abandoned gives way to it.

        Raises ValueError when the id is taken otherwise.
        """
        ...

    def set_state(
        self, op_id: str, state: OperationState, *, result: Mapping[str, Any] | None = None
    ) -> None:
        """Change a record's state (and its result, when given)."""
        ...

    def find(self, op_id: str) -> OperationRecord | None:
        """One record."""
        ...

    def list(self, *, session_id: str = "") -> tuple[OperationRecord, ...]:
        """All records (of one session), oldest first."""
        ...

    def interrupted(self) -> tuple[OperationRecord, ...]:
        """Records in state "intent" nobody works on any more, oldest first.

        An effect on a file is among them also while it is under way: ask under the write lock.
        """
        ...

    def write_lock(self, *, give_up: Callable[[], bool] = ...) -> AbstractContextManager[None]:
        """The project-wide lock around intent, file and done; waits for other processes.

        While it waits `give_up` is asked; yes is answered by Stopped. Raises EnvironmentProblem "busy".
        """
        ...

    def close(self) -> None:
        """Close the database."""
        ...
