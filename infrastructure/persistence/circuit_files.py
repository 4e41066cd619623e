"""Documents of a project's circuits: one file for each, named by the circuit's place. Blocking."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from infrastructure.persistence import confined
from infrastructure.persistence.confined import InTheWay, read_regular_file, write_atomically, write_problem
from shared import paths
from shared.errors import EnvironmentProblem
from shared.message import msg

_SUFFIX = ".json"
_MAX_BYTES = 2**20
_MOST_FILES = 2000


class CircuitFiles:
    """Implements application.ports.project.CircuitStore."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def path_of(self, circuit: str) -> Path:
        """Where the document of the circuit at this place is, or would be."""
        return self._folder / paths.goals_file_name(circuit)

    def read(self, circuit: str) -> bytes | None:
        """The document of a circuit, None when it has none. Raises EnvironmentProblem."""
        return _content(self.path_of(circuit))

    def save(self, circuit: str, content: bytes) -> None:
        """Replace the document of a circuit atomically. Raises EnvironmentProblem."""
        self._require_folder()
        write_atomically(self.path_of(circuit), content)

    def remove(self, circuit: str) -> None:
        """Take the document of a circuit away; none is no error. Raises EnvironmentProblem."""
        _unlink(self.path_of(circuit))

    def contents(self) -> tuple[bytes, ...]:
        """What every file holds; one that cannot be read is left out. Never raises."""
        return tuple(self._contents())

    def _contents(self) -> Iterator[bytes]:
        try:
            names = sorted(confined.names_in(self._folder))
        except OSError:
            return
        for name in names[:_MOST_FILES]:
            if name.endswith(_SUFFIX):
                try:
                    content = _content(self._folder / name)
                except EnvironmentProblem:
                    continue
                if content is not None:
                    yield content

    def _require_folder(self) -> None:
        """A real folder of ours: a link of this name would let us write elsewhere."""
        try:
            confined.make_folder(self._folder)
        except InTheWay as error:
            raise _unusable(error.place) from error
        except OSError as error:
            raise write_problem(error, self._folder) from error


class GoalFiles(CircuitFiles):
    """Implements application.ports.project.GoalStore."""

    def __init__(self, private: Path) -> None:
        super().__init__(private / paths.GOALS_FOLDER)
        self._former = private / paths.FORMER_GOALS_FILE

    def former(self) -> bytes | None:
        """The file of goals a project had before each circuit had its own. Raises EnvironmentProblem."""
        return _content(self._former)

    def retire_former(self) -> None:
        """Take that file away; none is no error. Raises EnvironmentProblem."""
        _unlink(self._former)


def _content(path: Path) -> bytes | None:
    try:
        return read_regular_file(path, max_bytes=_MAX_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _unusable(path) from error


def _unlink(path: Path) -> None:
    try:
        confined.unlink(path)
    except (FileNotFoundError, InTheWay):
        return  # behind a link there are no goals of ours
    except OSError as error:
        raise write_problem(error, path) from error


def _unusable(path: Path) -> EnvironmentProblem:
    return EnvironmentProblem(
        msg(
            "{path} cannot hold what belongs to a circuit: it is a link, too large, or not a regular file.",
            path=path,
        ),
        advice=msg("Move it elsewhere; it is written again when it is needed."),
        file=path,
        error_type="bad_goals",
    )
