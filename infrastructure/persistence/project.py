"""A project on the disk: the user's files, written only with a backup first, and our own folder."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import stat
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from infrastructure.persistence.atomic import rename_to_free_place, write_atomically, write_problem
from infrastructure.persistence.object_store import ObjectStore
from infrastructure.persistence.regular import NotRegular, read_regular_file
from shared import paths
from shared.errors import EnvironmentProblem, UserInputError
from shared.message import msg

if TYPE_CHECKING:
    from collections.abc import Sequence

    from application.ports.project import StoredObject
    from infrastructure.persistence.attachment_files import AttachmentFiles
    from infrastructure.persistence.operations import SqliteOperationLog
    from infrastructure.persistence.sessions import SessionFiles

_IGNORE_FILE = ".gitignore"
_TEMPORARY = re.compile(r"\.[0-9A-HJKMNP-TV-Z]{26}\.tmp")
"""As `write_atomically` names them."""
_HASH = re.compile(rb"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")


class ProjectFolders:
    """Opens projects. Implements application.ports.project.Projects."""

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
                advice=msg("Name a project's folder, or start a design there first."),
                file=folder,
                error_type="no_project",
            )
        project = ProjectFolder(folder)
        ignore = project.private / _IGNORE_FILE
        if create and not ignore.exists():
            write_atomically(ignore, b"*\n")
        return project


class ProjectFolder:
    """A folder with a `.circuit_ai/`, as `ProjectFolders.open` gives it.

    Implements application.ports.project.ProjectFiles.
    """

    def __init__(self, root: Path) -> None:
        self.root = Path(os.path.realpath(root))
        """Real path of the project."""
        self.private = self.root / paths.PROJECT_FOLDER
        """Our own folder in it."""
        self.checkpoints_path = self.private / paths.CHECKPOINTS_FILE
        self.traces_path = self.private / paths.TRACES_FILE
        self.design_goals_path = self.private / paths.DESIGN_GOALS_FILE
        self.results_folder = self.private / paths.RESULTS_FOLDER
        self._objects = ObjectStore(self.private / paths.OBJECTS_FOLDER)

    @cached_property
    def sessions(self) -> SessionFiles:
        """The project's conversations."""
        from infrastructure.persistence.sessions import SessionFiles

        return SessionFiles(self.private / paths.CONVERSATIONS_FOLDER)

    @cached_property
    def attachments(self) -> AttachmentFiles:
        """What users attached to messages."""
        from infrastructure.persistence.attachment_files import AttachmentFiles

        return AttachmentFiles(self.private / paths.ATTACHMENTS_FOLDER)

    @cached_property
    def operations(self) -> SqliteOperationLog:
        """The project's log of effects."""
        from infrastructure.persistence.operations import SqliteOperationLog

        return SqliteOperationLog(self.private / paths.OPERATIONS_FILE)

    def close(self) -> None:
        """Close the log, if it was opened."""
        if "operations" in self.__dict__:
            self.operations.close()

    def place_of(self, path: Path) -> str:
        """Where `path` really is: relative to the project, forward slashes, links resolved.

        It need not exist. Raises UserInputError for a place outside or inside `.circuit_ai/`.
        """
        return self._inside(path).relative_to(self.root).as_posix()

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
        target = self._inside(path)
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
                _make_folders(target.parent)
            except (OSError, ValueError) as error:
                raise write_problem(error, path) from error
        write_atomically(target, content, mode=mode)
        return digest

    def remove(self, path: Path) -> None:
        """Delete a file of the user's; one that is gone already is no error.

        Its content has to be in the object store before. Raises UserInputError, EnvironmentProblem.
        """
        target = self._inside(path)
        try:
            target.unlink(missing_ok=True)
            _flush_folder(target.parent)  # a power cut must not bring back what the log says is gone
        except (FileNotFoundError, NotADirectoryError):
            return  # its folder is gone, or no folder any more: so is the file
        except OSError as error:
            raise write_problem(error, path) from error

    def move(self, path: Path, target: Path) -> None:
        """Give a file another place in one step, as it is: mode, times and hard links stay.

        Missing folders are made. Raises UserInputError ("target_exists": what is there is never
        replaced; "file_not_found"), EnvironmentProblem.
        """
        source, place = self._inside(path), self._inside(target)
        try:
            _make_folders(place.parent)
            rename_to_free_place(source, place)
            for folder in {source.parent, place.parent}:
                _flush_folder(folder)
        except FileExistsError as error:
            raise UserInputError(
                msg("There is something at {path} already; nothing was replaced.", path=target),
                advice=msg("Choose another name, or move what is there first."),
                file=target,
                error_type="target_exists",
            ) from error
        except (OSError, ValueError) as error:
            raise write_problem(error, path) from error

    def mode_of(self, path: Path) -> int | None:
        """Permission bits of a file; None when there is no regular file. Raises UserInputError."""
        try:
            found = os.lstat(self._inside(path))
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
        target = self._inside(path)
        try:
            _make_folders(target)
        except (FileExistsError, NotADirectoryError) as error:
            raise UserInputError(
                msg("{path} can't be a folder: a file is in the way.", path=path),
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
        target = self._inside(path)
        try:
            target.rmdir()
            _flush_folder(target.parent)
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as error:
            if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
                return
            raise write_problem(error, path) from error

    def clear_leftovers(self, path: Path) -> None:
        """Remove the temporary files that an interrupted `write` of `path` left beside it.

        Only while nobody else writes there. What cannot be removed stays; it harms nobody.
        """
        folder = self._inside(path).parent
        with contextlib.suppress(OSError):
            for neighbour in folder.iterdir():
                if _TEMPORARY.fullmatch(neighbour.name) and not neighbour.is_symlink():
                    neighbour.unlink()

    def read(self, path: Path) -> bytes:
        """The bytes of a file of the project. Raises UserInputError."""
        try:
            return read_regular_file(self._inside(path))
        except FileNotFoundError as error:
            raise UserInputError(
                msg("There is no file {path}.", path=path),
                advice=msg("Check the name; upper and lower case count."),
                file=path,
                error_type="file_not_found",
            ) from error
        except OSError as error:
            raise _not_a_file(path, error) from error

    def read_design_goals(self) -> bytes | None:
        """The content of design_goals.json, None when there is none. Raises EnvironmentProblem."""
        try:
            return read_regular_file(self.design_goals_path)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _not_a_file(self.design_goals_path, error) from error

    def save_design_goals(self, content: bytes) -> None:
        """Replace design_goals.json atomically. Raises EnvironmentProblem."""
        write_atomically(self.design_goals_path, content)

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
        for folder, folders, files in os.walk(self.private):
            if Path(folder) == self.private:
                folders[:] = [name for name in folders if name not in (paths.OBJECTS_FOLDER, "trash")]
            for name in files:
                path = Path(folder) / name
                if name.endswith((".json", ".jsonl")):
                    try:
                        found.update(match.decode() for match in _HASH.findall(read_regular_file(path)))
                    except FileNotFoundError:
                        continue
                    except OSError as error:
                        raise _not_a_file(path, error) from error
        return frozenset(found)

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
        # Folded, for file systems where upper and lower case are the same.
        if paths.PROJECT_FOLDER in (part.casefold() for part in target.relative_to(self.root).parts):
            raise UserInputError(
                msg("{path} is inside .circuit_ai, which belongs to the program.", path=path),
                advice=msg("Choose a place beside it."),
                file=path,
                error_type="outside_project",
            )
        return target


def _make_folders(folder: Path) -> None:
    """Make `folder` and what it lies in, on the disk when this returns: a file in it is to last."""
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for place in missing:
        _flush_folder(place.parent)


def _flush_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _make_private_folder(root: Path) -> None:
    """Make `root/.circuit_ai`, a real folder."""
    private = root / paths.PROJECT_FOLDER
    try:
        private.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise UserInputError(
            msg("{path} cannot become a project: a file is in the way.", path=root),
            advice=msg("Name a folder, and remove a file called .circuit_ai from it."),
            file=root,
            error_type="bad_path",
        ) from error
    except (OSError, ValueError) as error:
        raise write_problem(error, private) from error
    if private.is_symlink():
        raise UserInputError(
            msg("{path} is a link; a project's own folder has to be a real one.", path=private),
            advice=msg("Remove the link; a folder is then made in its place."),
            file=private,
            error_type="bad_path",
        )


def _not_a_file(path: Path, error: OSError | ValueError) -> UserInputError | EnvironmentProblem:
    if isinstance(error, IsADirectoryError | NotADirectoryError | NotRegular | ValueError):
        return UserInputError(
            msg("{path} is not a regular file.", path=path),
            advice=msg("Name a text file; folders, pipes and devices cannot be used."),
            file=path,
            error_type="not_a_file",
        )
    return EnvironmentProblem(
        msg("{path} cannot be read ({reason}).", path=path, reason=error.strerror),
        file=path,
        error_type="cannot_read",
    )
