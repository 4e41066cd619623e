"""A project on the disk: the user's files, written only with a backup first, and our own folder."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import stat
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from infrastructure.persistence import confined
from infrastructure.persistence.authenticity import Authenticity, UserKey
from infrastructure.persistence.confined import (
    TEMPORARY,
    InTheWay,
    NotRegular,
    open_regular_file,
    read_problem,
    read_regular_file,
    remove_leftovers,
    rename_to_free_place,
    write_atomically,
    write_problem,
)
from infrastructure.persistence.object_store import ObjectStore
from infrastructure.persistence.process_locks import LockInUse, ProcessLock
from infrastructure.persistence.stored_results import take_over
from shared import paths
from shared.errors import CircuitAIError, EnvironmentProblem, Stopped, UserInputError
from shared.message import msg
from shared.ulid import new_ulid

if TYPE_CHECKING:
    from application.ports.project import StoredObject
    from infrastructure.persistence.attachment_files import AttachmentFiles
    from infrastructure.persistence.circuit_files import CircuitFiles, GoalFiles
    from infrastructure.persistence.operations import SqliteOperationLog
    from infrastructure.persistence.sessions import SessionFiles

_IGNORE_FILE = ".gitignore"
_PIECE = 1 << 20
_OVERLAP = 64
_HASH = re.compile(rb"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")


class ProjectFolders:
    """Opens projects. Implements application.ports.project.Projects."""

    def __init__(self, key: UserKey | None = None) -> None:
        """`key` signs what is written; None: that of the user's folder as the environment names it."""
        self._key = key or UserKey(paths.user_home())

    def open(self, folder: Path, *, create: bool = False) -> ProjectFolder:
        """The project at `folder`; with `create` it is made (folder and all) where there is none yet.

        Raises UserInputError when `folder` is not, or cannot become, a project; EnvironmentProblem
        when it is read-only.
        """
        if create:
            _make_private_folder(folder)
        elif not paths.is_project(folder):
            raise UserInputError(
                msg("{path} is not a project: it has no folder .circuit_ai.", path=folder),
                advice=msg("Specify a project folder, or start a design there first."),
                file=folder,
                error_type="no_project",
            )
        project = ProjectFolder(folder, self._key)
        ignore = project.private / _IGNORE_FILE
        if create and not confined.is_file(ignore):
            write_atomically(ignore, b"*\n")
        self._key.secret()  # made as early as can be: what came before it is judged by its times
        take_over(project.private, project.authenticity, self._key.home, adopt=project.adopt)
        return project


class ProjectFolder:
    """A folder with a `.circuit_ai/`, as `ProjectFolders.open` gives it.

    Implements application.ports.project.ProjectFiles.
    """

    def __init__(self, root: Path, key: UserKey | None = None) -> None:
        self.root = Path(os.path.realpath(root))
        """Real path of the project."""
        self.private = self.root / paths.PROJECT_FOLDER
        """Our own folder in it."""
        self.authenticity = Authenticity(key, self.private) if key else Authenticity.of_user(self.private)
        """Signs what is written into it, and tells what was signed here."""
        self.checkpoints_path = self.private / paths.CHECKPOINTS_FILE
        self.traces_path = self.private / paths.TRACES_FILE
        self.results_folder = self.private / paths.RESULTS_FOLDER
        self._objects = ObjectStore(self.private / paths.OBJECTS_FOLDER)
        self._design: ProcessLock | None = None
        """Held while a design is under way here."""

    @cached_property
    def sessions(self) -> SessionFiles:
        from infrastructure.persistence.sessions import SessionFiles

        return SessionFiles(self.private / paths.CONVERSATIONS_FOLDER, self.authenticity)

    @cached_property
    def goals(self) -> GoalFiles:
        from infrastructure.persistence.circuit_files import GoalFiles

        return GoalFiles(self.private)

    @cached_property
    def setups(self) -> CircuitFiles:
        from infrastructure.persistence.circuit_files import CircuitFiles

        return CircuitFiles(self.private / paths.SETUPS_FOLDER)

    @cached_property
    def attachments(self) -> AttachmentFiles:
        from infrastructure.persistence.attachment_files import AttachmentFiles

        return AttachmentFiles(self.private / paths.ATTACHMENTS_FOLDER)

    @cached_property
    def operations(self) -> SqliteOperationLog:
        from infrastructure.persistence.operations import SqliteOperationLog

        return SqliteOperationLog(self.private / paths.OPERATIONS_FILE, self.authenticity)

    def adopt(self, *, give_up: Callable[[], bool] = lambda: False) -> None:
        """Make what other installations wrote ours; see application.ports.project.ProjectFiles."""
        problems: list[CircuitAIError] = []
        try:
            self.operations.adopt(give_up=give_up)
        except Stopped:
            raise
        except CircuitAIError as error:
            problems.append(error)
        for info in self.sessions.list(give_up=give_up):
            if give_up():
                raise Stopped(msg("Stopped."))
            if not info.is_ours:
                try:
                    self._adopt_session(info.session_id)
                except CircuitAIError as error:
                    problems.append(error)
        if problems:
            raise problems[0]

    def _adopt_session(self, session_id: str) -> None:
        from domain.llm.adoption import closing_events

        transcript = self.sessions.open(session_id, to_adopt=True)
        try:
            if transcript.is_ours:
                return  # another process was quicker
            now = datetime.now(UTC).isoformat(timespec="milliseconds")
            transcript.append(*closing_events(transcript.events, new_id=new_ulid, now=now))
        finally:
            transcript.close()

    def hold_design(self) -> None:
        """Be the one design that a project has at a time; see application.ports.project.ProjectFiles."""
        path = self.private / paths.DESIGN_LOCK_FILE
        try:
            self._design = ProcessLock(path)
        except LockInUse as error:
            holder = error.holder
            where = (
                msg(
                    "Another design is running in this project, in process {pid} on {host}.",
                    pid=holder.pid,
                    host=holder.host,
                )
                if holder
                else msg("Another design is running in this project.")
            )
            advice = msg("Let it finish, or stop it, and send the message again.")
            raise UserInputError(where, advice=advice, error_type="design_running") from error
        except OSError as error:
            raise write_problem(error, path) from error

    def close(self) -> None:
        """Close the log, if it was opened, and leave the place of the design."""
        if "operations" in self.__dict__:
            self.operations.close()
        if self._design is not None:
            self._design.release()

    def place_of(self, path: Path) -> str:
        """Where `path` really is: relative to the project, forward slashes, links resolved.

        It need not exist. Raises UserInputError for a place outside or inside `.circuit_ai/`; of what
        is there only the goals of circuits are changed as the user's files are.
        """
        return self._inside(path).relative_to(self.root).as_posix()

    def is_for_tools(self, place: str, *, is_folder: bool) -> bool:
        """Whether tools may write at a place: nothing hidden, files of the kinds they write."""
        from infrastructure.persistence.path_rules import is_for_tools

        return is_for_tools(place, is_folder=is_folder)

    def is_kept_back(self, place: str) -> bool:
        """Whether ``.circuitaiignore`` keeps a place from models on the network."""
        from infrastructure.persistence.ignore_rules import is_kept_back

        return is_kept_back(self.root, Path(place))

    def write(self, path: Path, content: bytes, *, mode: int | None = None) -> str:
        """Write a file of the user's atomically; what was there first goes to the object store.

        Missing folders are made. `mode`: permission bits of a new file. Returns the SHA-256 of `content`.
        Raises UserInputError for a place
        outside the project or inside `.circuit_ai/`, EnvironmentProblem when it cannot be written.
        """
        target = self._as_named(path)
        digest = hashlib.sha256(content).hexdigest()
        try:
            before: bytes | None = read_regular_file(target)
        except FileNotFoundError:
            before = None
        except (OSError, ValueError) as error:
            raise _not_a_file(path, error) from error
        if before == content:
            return digest
        if before is not None:
            self.keep_object(before)
        else:
            try:
                confined.make_folder(target.parent)
            except (OSError, ValueError) as error:
                raise write_problem(error, path) from error
        write_atomically(target, content, mode=mode, is_resolved=True)
        return digest

    def remove(self, path: Path) -> None:
        """Delete a file of the user's; one that is gone already is no error.

        Its content has to be in the object store before. Raises UserInputError, EnvironmentProblem.
        """
        target = self._as_named(path)
        try:
            with contextlib.suppress(FileNotFoundError):
                confined.unlink(target)
            confined.flush_folder(target.parent)  # a power cut must not bring back what the log says is gone
        except (FileNotFoundError, NotADirectoryError):
            return  # its folder is gone, or no folder any more: so is the file
        except OSError as error:
            raise write_problem(error, path) from error

    def move(self, path: Path, target: Path) -> None:
        """Give a file another place in one step, as it is: mode, times and hard links stay.

        Missing folders are made. Raises UserInputError ("target_exists": what is there is never
        replaced; "file_not_found"), EnvironmentProblem.
        """
        source, place = self._as_named(path), self._as_named(target)
        try:
            confined.make_folder(place.parent)
            rename_to_free_place(source, place)
            for folder in {source.parent, place.parent}:
                confined.flush_folder(folder)
        except FileExistsError as error:
            raise UserInputError(
                msg("There is already something at {path}; nothing was replaced.", path=target),
                advice=msg("Choose another name, or move what is there first."),
                file=target,
                error_type="target_exists",
            ) from error
        except (OSError, ValueError) as error:
            raise write_problem(error, path) from error

    def mode_of(self, path: Path) -> int | None:
        """Permission bits of a file; None when there is no regular file. Raises UserInputError."""
        try:
            found = confined.look(self._inside(path))
        except OSError:
            return None
        return stat.S_IMODE(found.st_mode) if stat.S_ISREG(found.st_mode) else None

    def is_folder(self, path: Path) -> bool:
        """Whether there is a folder. Raises UserInputError for a place that is not the project's."""
        return self._inside(path).is_dir()

    def make_folder(self, path: Path) -> None:
        """Make a folder and those it lies in; one that is there is no error.

        Raises UserInputError ("target_exists" when a file is in the way), EnvironmentProblem.
        """
        target = self._as_named(path)
        try:
            confined.make_folder(target)
        except InTheWay as error:
            if error.kind == "link":
                raise error.problem() from error
            raise UserInputError(
                msg("Cannot create folder {path}: a file with that name exists.", path=path),
                advice=msg("Choose another name."),
                file=path,
                error_type="target_exists",
            ) from error
        except (OSError, ValueError) as error:
            raise write_problem(error, path) from error

    def remove_folder(self, path: Path) -> None:
        """Remove a folder if it is empty; one that is not, or is gone, is left as it is.

        Raises UserInputError, EnvironmentProblem.
        """
        target = self._as_named(path)
        try:
            confined.remove_folder(target)
            confined.flush_folder(target.parent)
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as error:
            if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
                return
            raise write_problem(error, path) from error

    def clear_leftovers(self, path: Path, *, only_old: bool = False) -> None:
        """Remove the temporary files that an interrupted `write` of `path` left beside it.

        Only while nobody else writes there, or `only_old` ones, which nobody does any more. What cannot be
        removed stays; it harms nobody.
        """
        folder = self._inside(path).parent
        with contextlib.suppress(OSError):
            for name, found in confined.entries_in(folder).items():
                written = TEMPORARY.fullmatch(name)
                if written is None or not stat.S_ISREG(found.st_mode):
                    continue
                if not only_old or confined.is_long_ago(written[1]):
                    confined.unlink(folder / name)

    def clear_old_leftovers(self) -> None:
        """Remove what programs that were killed long ago left of what they wrote to our own folder."""
        remove_leftovers(self.private, skipped=(paths.RESULTS_FOLDER,))
        for conversations in (self.sessions, self.sessions.removed):
            conversations.clear_lone_locks()

    def read(self, path: Path) -> bytes:
        """The bytes of a file of the project. Raises UserInputError."""
        try:
            return read_regular_file(self._inside(path))
        except FileNotFoundError as error:
            raise UserInputError(
                msg("File {path} does not exist.", path=path),
                advice=msg("Check the name; it is case-sensitive."),
                file=path,
                error_type="file_not_found",
            ) from error
        except OSError as error:
            raise _not_a_file(path, error) from error

    def keep_object(self, content: bytes) -> str:
        """Keep `content` in the object store; returns its SHA-256. Raises EnvironmentProblem."""
        return self._objects.put(content)

    def read_object(self, sha256: str) -> bytes:
        """The kept content of this hash, verified. Raises EnvironmentProblem when it is damaged."""
        return self._objects.get(sha256)

    def stored_objects(self) -> tuple[StoredObject, ...]:
        """All contents in the store. Raises EnvironmentProblem."""
        return self._objects.objects()

    def remove_objects(self, sha256s: Sequence[str], *, put_before: float) -> int:
        """Remove contents that were last put before a time; the bytes freed. Raises EnvironmentProblem."""
        return self._objects.remove(sha256s, put_before=put_before)

    def named_hashes(self) -> frozenset[str]:
        """What looks like a hash in our own text files: conversations, designs, goals, results' descriptions.

        Checkpoints know nothing that a transcript does not. Raises EnvironmentProblem.
        """
        found: set[str] = set()
        path = self.private
        try:
            for path, _ in confined.walk(self.private, skipped=(paths.OBJECTS_FOLDER, "trash")):
                if path.name.endswith((".json", ".jsonl")):
                    with contextlib.suppress(FileNotFoundError):
                        found.update(_hashes_in(path))
        except OSError as error:
            raise _not_a_file(path, error) from error
        return frozenset(found)

    def _as_named(self, path: Path) -> Path:
        """The place `path` names, to be changed. It has to be a real one, as `place_of` gives it.

        What has become a link since it was looked at leads to another place than the one that was allowed.
        Raises UserInputError.
        """
        target = self._inside(path)
        named = Path(os.path.normpath(self.root / path))
        if target != named and named.is_relative_to(self.root):
            raise UserInputError(
                msg("{path} passes through a link; nothing was changed.", path=path),
                advice=msg("Check where it leads, then specify the target file."),
                file=path,
                error_type="outside_project",
            )
        return target

    def _inside(self, path: Path) -> Path:
        """The real path behind `path` (relative ones count from the project), or UserInputError."""
        try:
            target = Path(os.path.realpath(self.root / path))
        except (OSError, ValueError) as error:
            raise write_problem(error, path) from error
        if target == self.root or not target.is_relative_to(self.root):
            raise UserInputError(
                msg("{path} is outside the project {project}.", path=path, project=self.root),
                advice=msg("Only files inside the project can be used; copy the file there first."),
                file=path,
                error_type="outside_project",
            )
        place = target.relative_to(self.root)
        # Folded, for file systems where upper and lower case are the same.
        if paths.PROJECT_FOLDER in (part.casefold() for part in place.parts) and not paths.is_goals_file(
            place
        ):
            raise UserInputError(
                msg("{path} is inside .circuit_ai, which is reserved for the program.", path=path),
                advice=msg("Choose a place outside .circuit_ai."),
                file=path,
                error_type="outside_project",
            )
        return target


def _hashes_in(path: Path) -> set[str]:
    """What looks like a hash in a file, which may be of any size."""
    found: set[str] = set()
    with open_regular_file(path) as file:
        tail = b""
        while block := file.read(_PIECE):
            text = tail + block
            found.update(match.decode() for match in _HASH.findall(text))
            tail = text[-_OVERLAP:]
    return found


def _make_private_folder(root: Path) -> None:
    """Make `root/.circuit_ai`, a real folder."""
    private = root / paths.PROJECT_FOLDER
    try:
        private.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise UserInputError(
            msg("{path} cannot become a project: a file with that name exists.", path=root),
            advice=msg("Specify a folder, and remove a file called .circuit_ai from it."),
            file=root,
            error_type="bad_path",
        ) from error
    except (OSError, ValueError) as error:
        raise write_problem(error, private) from error
    if private.is_symlink():
        raise UserInputError(
            msg("{path} is a link; a project's own folder must be a real one.", path=private),
            advice=msg("Remove the link; a folder is then created in its place."),
            file=private,
            error_type="bad_path",
        )


def _not_a_file(path: Path, error: OSError | ValueError) -> UserInputError | EnvironmentProblem:
    if isinstance(error, InTheWay) and error.kind not in ("special", "folder"):
        return error.problem()
    if isinstance(error, IsADirectoryError | NotADirectoryError | NotRegular | ValueError):
        return UserInputError(
            msg("{path} is not a regular file.", path=path),
            advice=msg("Specify a text file; folders, pipes and devices cannot be used."),
            file=path,
            error_type="not_a_file",
        )
    return read_problem(error, path)
