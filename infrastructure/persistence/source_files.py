"""How our parser sees a circuit's files: confined to the circuit's project and the listed libraries.

A netlist may have been written by a stranger. What it includes is looked up where ngspice would, but
handed out only when its real path lies inside the allowed folders; everything else is told by its
path and the reason, never by its content.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from domain.circuit.defined_elsewhere import DefinedAt, definitions_in
from domain.circuit.dependencies import Definer, RefusalReason, SourceFile, SourceRefusal
from domain.circuit.dialects import plain_text
from domain.circuit.netlist import LIBRARY_SUFFIXES, NETLIST_SUFFIXES
from infrastructure.persistence.confined import Moved, NotRegular, TooLarge, read_regular_file
from shared import paths
from shared.late_patterns import late_pattern

MAX_SOURCE_BYTES = 20_000_000

_OF_WINDOWS = late_pattern(r"[A-Za-z]:[\\/]")
_FOREIGN = late_pattern(r"[A-Za-z][A-Za-z0-9+.\-]+://|//|\\\\")


class SourceReaderFactory:
    """Makes readers for circuits. Implements application.ports.simulation.SourceReaders.

    `env` is where HOME is looked up for references that begin with `~/` (None = the process's own).
    """

    def __init__(self, *, env: Mapping[str, str] | None = None, max_bytes: int = MAX_SOURCE_BYTES) -> None:
        self._env = os.environ if env is None else env
        self._max_bytes = max_bytes

    def for_circuit(self, circuit: Path, libraries: Sequence[Path]) -> ConfinedSourceReader:
        """The libraries listed come before the program's own models."""
        home = self._env.get("HOME")
        libraries = (*libraries, paths.MODEL_LIBRARY)
        return ConfinedSourceReader(
            circuit, libraries, home=Path(home) if home else None, max_bytes=self._max_bytes
        )


class ConfinedSourceReader:
    """Reads the files of one circuit. Implements domain.circuit.dependencies.SourceReader.

    Allowed are regular files of at most `max_bytes` whose real path is inside the project (the nearest
    folder with a `.circuit_ai/`, that one excepted) or inside one of `libraries` (folders or single
    files), and the circuit itself. A circuit without a project may use its own folder, but nothing
    hidden in it: it may stand in somebody's home, beside `.ssh` and `.netrc`.
    """

    def __init__(
        self,
        circuit: Path,
        libraries: Sequence[Path] = (),
        *,
        home: Path | None = None,
        max_bytes: int = MAX_SOURCE_BYTES,
    ) -> None:
        self._folder = Path(os.path.abspath(circuit)).parent  # noqa: PTH100 - ngspice does not resolve it either
        self._circuit = Path(os.path.realpath(circuit))
        project = paths.project_root_of(circuit)
        self._is_project = project is not None
        self._root = Path(os.path.realpath(project or self._folder))
        self._libraries = tuple(Path(os.path.realpath(library)) for library in libraries)
        self._home = home
        self._max_bytes = max_bytes
        self._by_name: dict[str, Path] | None = None

    @property
    def roots(self) -> tuple[Path, ...]:
        """The folders files may come from, real paths; the circuit's own first."""
        return (self._root, *self._libraries)

    def read(self, reference: str, *, including_file: Path) -> SourceFile | SourceRefusal:
        """The file a directive in `including_file` names.

        Looked for beside that file, then beside the circuit, then in the libraries, then from the folders
        above the circuit up to the project's: ngspice looks in the folder it is started in, and many
        circuits are written for one of those. The first that exists decides. Never raises, whatever the
        reference.
        """
        name = reference.strip().strip("\"'").strip()
        if _FOREIGN.match(name):
            return _refusal(Path(name), "url")
        refused: SourceRefusal | None = None
        if _OF_WINDOWS.match(name):  # a path of the machine the circuit was drawn on
            by_name = self.find(re.split(r"[\\/]", name)[-1])
            return _refusal(Path(name), "missing") if by_name is None else self._read_candidate(by_name)
        for candidate in self._candidates(name, including_file):
            found = self._read_candidate(candidate)
            if isinstance(found, SourceFile) or found.reason not in ("missing", "outside"):
                return found
            if found.reason == "outside" and os.path.lexists(candidate):
                return found
            if refused is None or found.reason == "missing" != refused.reason:
                refused = found
        refused = refused or _refusal(Path(name), "missing" if not name.startswith("~") else "outside")
        otherwise = self._written_otherwise(name, including_file) or self._shipped(name)
        if otherwise is not None:
            return self._read_candidate(otherwise)
        is_missing = refused.reason == "missing"
        return refused._replace(near=self._near(name, including_file) if is_missing else "")

    def find(self, name: str) -> Path | None:
        """A file of this name: in the circuit's folder, below the project's or below a listed library.

        Letter case does not count, nor do hidden folders; the fewer folders deep, the better. At most
        20,000 names are looked at.
        """
        if self._by_name is None:
            self._by_name = {}
            for path in self._library_names():
                self._by_name.setdefault(path.name.lower(), path)
        return self._by_name.get(name.lower())

    def defining(self, name: str, *, including_file: Path) -> Definer | None:
        """Of the project before the listed libraries, the fewer folders deep, the better. At most 20 MB are
        read for it, once; a file that cannot be read is passed over."""
        second = None
        for path, definitions in self._searched:
            at = definitions.get(name.lower())
            if at is None:
                continue
            written = self._as_written(path, including_file)
            if not _can_be_named(written) or not _can_be_named(at.section):
                continue
            definer = Definer(path, written, at)
            if at.is_alone:
                return definer
            second = second or definer
        return second

    @cached_property
    def _searched(self) -> Sequence[tuple[Path, Mapping[str, DefinedAt]]]:
        """The netlists and libraries that may define what a circuit lacks, with their definitions."""
        held: dict[Path, Mapping[str, DefinedAt]] = {}
        left = _MOST_SEARCHED
        for path in self._library_names(of_program=False):
            if left <= 0:
                break
            if path.suffix.lower() in NETLIST_SUFFIXES and path != self._circuit and path not in held:
                found = self._read_candidate(path)
                if isinstance(found, SourceFile):
                    has_title = path.suffix.lower() not in LIBRARY_SUFFIXES
                    text = plain_text(found.data).decode(errors="replace")
                    held[found.path] = definitions_in(text, has_title=has_title)
                    left -= len(found.data)
        return tuple(held.items())

    def _as_written(self, path: Path, including_file: Path) -> str:
        """How a directive in `including_file` names a file of the project or of a library."""
        if path.is_relative_to(self._root):
            here = Path(os.path.realpath(including_file.parent))
            return Path(os.path.relpath(path, here)).as_posix()
        folder = next((each for each in self._libraries if path != each and path.is_relative_to(each)), None)
        return str(path) if folder is None else path.relative_to(folder).as_posix()

    def _near(self, name: str, including_file: Path) -> str:
        """A file of the project that may be meant by a name no file has: called so elsewhere, or nearly so.

        As it is written in `including_file`; "" without one, and for one that would need quotes.
        """
        wanted = re.split(r"[\\/]", name)[-1].lower()
        found = self.find(wanted) if wanted else None
        if found is None and wanted:
            likely = [
                each for each in self._by_name or {} if abs(len(each) - len(wanted)) <= _MOST_LETTERS_OFF
            ]
            import difflib

            close = difflib.get_close_matches(wanted, likely, n=3, cutoff=_LIKENESS)
            alike = (self.find(each) for each in close)
            found = next((each for each in alike if each is not None and each != self._circuit), None)
        if found is None or not found.is_relative_to(self._root):
            return ""
        written = self._as_written(found, including_file)
        return "" if re.search(r"\s", written) else written

    def _shipped(self, name: str) -> Path | None:
        """The program's own model of this name, in whatever letter case."""
        if "/" in name or paths.MODEL_LIBRARY not in self._libraries:
            return None
        wanted = name.casefold()
        return next((each for each in _files_in(paths.MODEL_LIBRARY) if each.name.casefold() == wanted), None)

    def _library_names(self, *, of_program: bool = True) -> Iterator[Path]:
        libraries = [each for each in self._libraries if of_program or each != paths.MODEL_LIBRARY]
        below = (self._root, *libraries) if self._is_project else libraries
        yield from sorted(_files_in(self._folder))
        left = _MAX_NAMES
        for folder in below:
            waiting = [folder]
            while waiting and left > 0:  # level by level
                inner: list[Path] = []
                for current in waiting:
                    files = sorted(_files_in(current))
                    left -= len(files)
                    yield from files
                    inner += _folders_in(current)
                waiting = sorted(inner)

    def _folders_above(self) -> Iterator[Path]:
        if self._is_project:
            yield from (above for above in self._circuit.parent.parents if above.is_relative_to(self._root))

    def _candidates(self, name: str, including_file: Path) -> Iterator[Path]:
        if not name or "\0" in name or not _is_encodable(name):
            return
        if name.startswith("~"):
            # Only one's own home is looked up: another user's name would be looked up in the system.
            if self._home is not None and name.startswith("~/"):
                yield self._home / name[2:]
            return
        for folder in dict.fromkeys(
            (including_file.parent, self._folder, *self._libraries, *self._folders_above())
        ):
            yield Path(os.path.abspath(folder)) / name  # noqa: PTH100
            if name.startswith("/"):
                return

    def _written_otherwise(self, name: str, including_file: Path) -> Path | None:
        """The file that Windows would find by this name: in whatever letter case, with its slashes."""
        for candidate in self._candidates(name.replace("\\", "/"), including_file):
            found = _in_any_case(candidate, self.roots)
            if found is not None:
                return found
        return None

    def _read_candidate(self, candidate: Path) -> SourceFile | SourceRefusal:
        try:
            real = Path(os.path.realpath(candidate))
            if not self._allows(real):
                return _refusal(candidate, "outside")
            return SourceFile(path=real, data=read_regular_file(real, max_bytes=self._max_bytes))
        except (OSError, ValueError) as error:
            return _refusal(candidate, _reason_of(error))

    def _allows(self, real: Path) -> bool:
        if real == self._circuit or any(real.is_relative_to(library) for library in self._libraries):
            return True
        if not real.is_relative_to(self._root):
            return False
        parts = real.relative_to(self._root).parts
        if self._is_project:
            return paths.PROJECT_FOLDER not in parts
        return not any(part.startswith(".") for part in parts)


_MAX_NAMES = 20_000
_MOST_SEARCHED = 20_000_000
"""Bytes that are read to find a definition."""
_MOST_LETTERS_OFF = 4
_LIKENESS = 0.75
"""How near a name has to be to one that no file has, 0 to 1."""


def _files_in(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return [Path(entry.path) for entry in entries if entry.is_file(follow_symlinks=False)]
    except OSError:  # not readable, or gone: what is not seen is not found
        return []


def _folders_in(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return [
                Path(entry.path)
                for entry in entries
                if entry.is_dir(follow_symlinks=False) and not entry.name.startswith(".")
            ]
    except OSError:
        return []


def _can_be_named(written: str) -> bool:
    """Whether a directive can name it: nothing in it ends a line or quotes, or begins a comment."""
    return written.isprintable() and not re.search(r"[\"';$]", written)


def _reason_of(error: OSError | ValueError) -> RefusalReason:
    match error:
        case IsADirectoryError():
            return "folder"
        case NotRegular():
            return "not-regular"
        case TooLarge():
            return "too-large"
        case Moved():
            return "outside"
        case FileNotFoundError() | NotADirectoryError():
            return "missing"
        case _:
            return "unreadable"


def _is_encodable(name: str) -> bool:
    try:
        os.fsencode(name)
    except UnicodeEncodeError:
        return False
    return True


def _refusal(path: Path, reason: RefusalReason) -> SourceRefusal:
    """A refusal whose path can be printed, whatever the netlist said."""
    shown = str(path).encode("utf-8", "backslashreplace").decode("utf-8").replace("\0", "\\x00")
    return SourceRefusal(path=Path(shown), reason=reason)


def _in_any_case(path: Path, roots: Sequence[Path]) -> Path | None:
    """What is at `path`, letter case aside; None where nothing is, or where two are. Only folders below
    `roots` are looked into."""
    wanted: list[str] = []
    place = path
    try:
        while not place.exists():
            wanted.append(place.name.casefold())
            place = place.parent
        if not any(Path(os.path.realpath(place)).is_relative_to(root) for root in roots):
            return None
        for name in reversed(wanted):
            (place,) = (each for each in place.iterdir() if each.name.casefold() == name)
    except (OSError, ValueError):  # not to be read, or not one
        return None
    return place
