"""What work on a project's files needs from the outside: the files, and the log of operations."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:  # quick commands must not pay for what a port names
    from collections.abc import Callable, Collection, Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from application.ports.attachments import AttachmentStore
    from application.ports.conversation import SessionStore


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredObject:
    """A content in the store."""

    sha256: str
    size: int
    """Bytes on the disk."""
    put_at: float
    """When it was put last, seconds since the epoch."""


class CircuitStore(Protocol):
    """A document for each circuit of a project, by its place in the project.

    Blocking. All raise EnvironmentProblem when a file is not what it should be, or the disk refuses.
    """

    def path_of(self, circuit: str) -> Path:
        """Where a circuit's document is, or would be."""

    def read(self, circuit: str) -> bytes | None:
        """A circuit's document; None when it has none."""

    def save(self, circuit: str, content: bytes) -> None:
        """Replace a circuit's document atomically."""

    def remove(self, circuit: str) -> None:
        """Take a circuit's document away; none is no error."""

    def contents(self) -> tuple[bytes, ...]:
        """All documents that can be read; never raises."""


class GoalStore(CircuitStore, Protocol):
    """What is asked of a project's circuits."""

    def former(self) -> bytes | None:
        """The one document of an earlier version of the program; None when there is none."""

    def retire_former(self) -> None:
        """Take it away."""


class ProjectFiles(Protocol):
    """One open project folder; files are written only atomically, with a backup of what was there."""

    @property
    def root(self) -> Path:
        """The project folder, links resolved."""

    @property
    def checkpoints_path(self) -> Path:
        """The database of the graph's checkpoints."""

    @property
    def traces_path(self) -> Path:
        """The database of what turns did; nothing depends on it."""

    @property
    def sessions(self) -> SessionStore:
        """The project's conversations."""

    @property
    def attachments(self) -> AttachmentStore:
        """What users attached to messages."""

    @property
    def operations(self) -> OperationLog:
        """The project's log of effects, opened at its first use."""

    @property
    def goals(self) -> GoalStore:
        """What is asked of the project's circuits."""

    @property
    def setups(self) -> CircuitStore:
        """Set-ups of studies that have a name."""

    def adopt(self, *, give_up: Callable[[], bool] = ...) -> None:
        """Make what other installations wrote ours, as history: what it had under way is ended, not run.

        `give_up` is asked all along; yes is answered by Stopped. Raises UserInputError ("session_in_use"),
        EnvironmentProblem for what can't be; all else is adopted.
        """

    def place_of(self, path: Path) -> str:
        """Where `path` really is: relative to the project, forward slashes, links resolved.

        It need not exist. Raises UserInputError ("outside_project").
        """

    def is_for_tools(self, place: str, *, is_folder: bool) -> bool:
        """Whether tools may write at a place (as `place_of` gives it): nothing hidden, their kinds."""

    def is_kept_back(self, place: str) -> bool:
        """Whether ``.circuitaiignore`` keeps a place (as `place_of` gives it) from models on the network."""

    def write(self, path: Path, content: bytes, *, mode: int | None = None) -> str:
        """Write atomically; the old content goes to the object store. Returns the new SHA-256.

        `mode` are the permission bits of a file that is not there yet (None: the usual ones); one that is
        keeps its own.
        """

    def read(self, path: Path) -> bytes:
        """The file's bytes. Raises UserInputError."""

    def remove(self, path: Path) -> None:
        """Delete a file of the user's (its content has to be in the object store before)."""

    def move(self, path: Path, target: Path) -> None:
        """Give a file another place, as it is; missing folders are made.

        Raises UserInputError ("target_exists" when something is there; it stays), EnvironmentProblem.
        """

    def mode_of(self, path: Path) -> int | None:
        """Permission bits of a file; None when there is no regular file."""

    def is_folder(self, path: Path) -> bool:
        """Whether there is a folder."""

    def make_folder(self, path: Path) -> None:
        """Make a folder; one that is there already is no error. Raises UserInputError, EnvironmentProblem."""

    def remove_folder(self, path: Path) -> None:
        """Remove a folder if it is empty; one that is not, or is gone, is left. Raises EnvironmentProblem."""

    def clear_leftovers(self, path: Path, *, only_old: bool = False) -> None:
        """Remove what an interrupted write of `path` left beside it; nobody may be writing there, unless
        `only_old`: what was begun so long ago that nobody writes it any more."""

    def hold_design(self) -> None:
        """Be the one design that the project has at a time, among all processes, until `close`.

        Raises UserInputError ("design_running"), EnvironmentProblem.
        """

    def close(self) -> None:
        """Release what was opened."""

    def keep_object(self, content: bytes) -> str:
        """Put bytes into the content-addressed store; returns their SHA-256."""

    def read_object(self, sha256: str) -> bytes:
        """Bytes from the content-addressed store, verified. Raises CircuitAIError when damaged."""

    def clear_old_leftovers(self) -> None:
        """Remove what programs that were killed long ago left of what they wrote to our own folder."""

    def stored_objects(self) -> tuple[StoredObject, ...]:
        """All contents in the store."""

    def named_hashes(self) -> frozenset[str]:
        """Hashes that conversations, designs and their state name; whoever names one needs its content."""

    def remove_objects(self, sha256s: Sequence[str], *, put_before: float) -> int:
        """Remove contents, but none that was put (again) since; the bytes freed.

        Raises EnvironmentProblem.
        """


class Projects(Protocol):
    """Opens project folders."""

    def open(self, folder: Path, *, create: bool = False) -> ProjectFiles:
        """Open (and with `create` make) a project. Raises UserInputError, EnvironmentProblem."""


OperationKind = Literal["file", "simulation", "undo"]


OperationState = Literal["intent", "done", "undone", "abandoned"]
"""abandoned: settled after an interruption without any effect."""


ABSENT = "absent"
"""In place of a content hash: there is no file. Never inferred from a missing backup."""

FOLDER = "folder"
"""In place of a content hash: a folder. What is in it has changes of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """What an operation does at one path."""

    path: str
    """Relative to the project, forward slashes."""
    before: str
    """SHA-256 of the content, ABSENT or FOLDER."""
    after: str
    """The same, afterwards."""
    mode: int | None = None
    """Permission bits for a file that is made here (None: the usual ones)."""

    @property
    def reverse(self) -> FileChange:
        return replace(self, before=self.after, after=self.before)

    @property
    def is_folder(self) -> bool:
        """Whether it makes or removes a folder."""
        return FOLDER in (self.before, self.after)


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
    """Relative to the project, forward slashes; "" for a simulation. Of several the main one."""
    before_sha256: str = ABSENT
    after_sha256: str = ABSENT
    mode: int | None = None
    """See FileChange."""
    further: tuple[FileChange, ...] = ()
    """What is changed beside `path`: a move has two places, a folder all that lies in it."""
    undoes: str = ""
    """The operation this one undid; of several (a round of a design) their ids with spaces between them."""
    created: str = ""
    """ISO 8601, UTC."""
    result: Mapping[str, Any] | None = None
    """The call's stored outcome, plain JSON types; for a file known already at the intent."""
    is_ours: bool = True
    """This installation wrote it; nothing is ever done because of one that another wrote."""
    is_under_way: bool = True
    """Of an intent: the user's own folder says too that it did not come to its end, so that it may be gone on
    with. An older state of the log says so of changes that ended long ago."""

    @property
    def undone_ids(self) -> tuple[str, ...]:
        return tuple(self.undoes.split())

    @property
    def changes(self) -> tuple[FileChange, ...]:
        """All it changes, the main path first; none for a simulation."""
        if not self.path:
            return ()
        main = FileChange(path=self.path, before=self.before_sha256, after=self.after_sha256, mode=self.mode)
        return (main, *self.further)

    def with_changes(self, changes: tuple[FileChange, ...]) -> OperationRecord:
        """This record with other changes (at least one), the main path first."""
        main, *further = changes
        return replace(
            self,
            path=main.path,
            before_sha256=main.before,
            after_sha256=main.after,
            mode=main.mode,
            further=tuple(further),
        )


class OperationLog(Protocol):
    """The write-ahead log of effects in a project's operations.sqlite. Blocking: called off the loop.

    Every method is one short transaction, on the disk when it returns; several processes may work
    on it. Raises EnvironmentProblem when the database cannot be used.
    """

    def record_intent(self, record: OperationRecord) -> None:
        """Add a record in state "intent"; one of the same id that was abandoned gives way to it.

        Raises ValueError when the id is taken otherwise.
        """

    def set_state(
        self, op_id: str, state: OperationState, *, result: Mapping[str, Any] | None = None
    ) -> None:
        """Change the state (and the result, when given) of a record of ours."""

    def adopt(self, *, give_up: Callable[[], bool] = ...) -> int:
        """Make other installations' records ours: what they had under way is abandoned. How many it were.

        `give_up` is asked all along; yes is answered by Stopped, and nothing was changed.
        """

    def find(self, op_id: str) -> OperationRecord | None:
        """One record."""

    def list(
        self,
        *,
        session_id: str = "",
        last: int | None = None,
        among: Collection[str] | None = None,
        undoing: bool = False,
    ) -> tuple[OperationRecord, ...]:
        """All records (of one session; only the newest), oldest first. Writes nothing.

        `among`: only those of these ids; `undoing`: only undos and what is taken back now.
        """

    def forget(self, op_ids: Sequence[str]) -> None:
        """Remove records, those in state "intent" excepted; what they did can't be undone any more."""

    def interrupted(self) -> tuple[OperationRecord, ...]:
        """Records of ours in state "intent" nobody works on any more, oldest first. Writes nothing.

        An effect on a file is among them also while it is under way: ask under the write lock.
        """

    def write_lock(self, *, give_up: Callable[[], bool] = ...) -> AbstractContextManager[None]:
        """The project-wide lock around intent, file and done; waits for other processes.

        While it waits `give_up` is asked; yes is answered by Stopped. Raises EnvironmentProblem "busy".
        """

    def close(self) -> None:
        """Close the database."""
