"""A project's files as tools (and so a language model, or a stranger's text) may see them.

Every path a tool is given goes through here: rules for its text first, then its real place, links
resolved. What lies outside is refused with the same words whether it exists or not.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from io import BufferedReader
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from application.ports.project_view import FolderEntry
from infrastructure.persistence import confined
from infrastructure.persistence.confined import open_regular_file, read_regular_file
from infrastructure.persistence.ignore_rules import is_kept_back
from infrastructure.persistence.path_rules import (
    WRITABLE_SUFFIXES,
    as_stored,
    check_inside,
    check_text,
    checked_file,
    exists,
    has_names_outside,
    hidden,
    names_inside,
    not_a_file,
    not_written,
    outside,
    place_of_folder,
    place_to_move,
    printable,
    real_place,
    refuse_names_outside,
    refuse_twins,
)
from infrastructure.persistence.result_circuit import circuit_of
from infrastructure.persistence.stored_results import ResultSeals, newest_first
from shared import paths
from shared.errors import UserInputError
from shared.message import msg
from shared.safe_json import read_bounded

_READABLE_HIDDEN = ".spiceinit"
_DEEPEST = 32
_RESULTS_LOOKED_AT = 500
_MAX_RESULT_BYTES = 4 * 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderView:
    """Implements application.ports.project_view.ProjectView.

    Readable are the regular files of the project, its own folder `.circuit_ai/` excepted, and of the
    `libraries` (folders or single files). Hidden files stay unread, ngspice's `.spiceinit` excepted: keys
    and passwords lie in such (`.env`, `.git/config`, `.ssh` where the folder is somebody's home).
    """

    root: Path
    libraries: tuple[Path, ...] = field(default=())
    seals: ResultSeals = field(default_factory=ResultSeals, compare=False)
    """What tells results of this user from those that came with the project."""
    keeps_back: bool = False
    """What ``.circuitaiignore`` names is not there for whoever looks."""

    def for_network(self) -> FolderView:
        return replace(self, keeps_back=True)

    def locate(self, text: str) -> Path:
        """The real path of an existing readable file."""
        check_text(text)
        candidates = [self.root / text]
        if not text.startswith("/"):
            candidates += [Path(os.path.realpath(library)) / text for library in self.libraries]
        for candidate in candidates:
            real = self._readable(as_stored(candidate), text)
            if exists(real):
                refuse_names_outside(self.root, real, text)
                self._refuse_kept_back(real, text)
                return checked_file(real, text)
        raise UserInputError(
            msg("File {path} does not exist.", path=text),
            advice=msg("Look up the name with list_project_files; names are case-sensitive."),
            error_type="file_not_found",
        )

    def locate_for_writing(self, text: str, suffixes: tuple[str, ...] = WRITABLE_SUFFIXES) -> Path:
        """The real path of a file that may be written; its kind has to be one of `suffixes`."""
        check_text(text)
        real = real_place(as_stored(self.root / text), text)
        check_inside(self.root, real, text)
        if text.endswith("/"):
            raise not_a_file(text)
        inner = real.relative_to(self.root)
        if any(part.startswith(".") for part in inner.parts):
            raise hidden(text)
        # The link's own name and the file behind it: either could be something that is run.
        if any(Path(name).suffix.lower() not in suffixes for name in (text, real.name)):
            raise not_written(text, suffixes)
        self._refuse_kept_back(real, text)
        if exists(real):
            refuse_names_outside(self.root, real, text)
            return checked_file(real, text)
        for folder in real.parents:
            if folder == self.root:
                break
            if exists(folder) and not folder.is_dir():
                raise not_a_file(text)
        return real

    def locate_for_moving(self, text: str) -> Path:
        """The place of a file or folder that may be moved or deleted with all that is in it."""
        return place_to_move(self.root, text, WRITABLE_SUFFIXES)

    def locate_for_making(self, text: str, *, is_folder: bool, moved: Path | None = None) -> Path:
        """The real path of a file or folder that may be made; it may be there already."""
        real = place_of_folder(self.root, text) if is_folder else self.locate_for_writing(text)
        refuse_twins(self.root, real, text, moved)
        return real

    def locate_folder(self, text: str) -> Path:
        """The real path of a folder of the project."""
        if text.strip() in ("", "."):
            return self.root
        check_text(text)
        real = real_place(self.root / text, text)
        if real != self.root:
            check_inside(self.root, real, text)
        if not exists(real):
            raise UserInputError(
                msg("There is no folder {path}.", path=text),
                advice=msg("Call list_project_files without a path to see all folders."),
                error_type="file_not_found",
            )
        if not real.is_dir():
            raise UserInputError(
                msg("{path} is a file, not a folder.", path=text),
                advice=msg("Read it with read_file, or specify the folder it is in."),
                error_type="not_a_folder",
            )
        return real

    def locate_result(self, text: str) -> Path | None:
        """The real path of a stored result, None when `text` names something else."""
        check_text(text)
        results = self.root / paths.PROJECT_FOLDER / paths.RESULTS_FOLDER
        named = Path(os.path.normpath(self.root / text))
        if named == results or not named.is_relative_to(results):
            return None
        real = real_place(named, text)
        # Somebody else's project may have a link among its results.
        if not real.is_relative_to(results):
            raise outside(text)
        if not exists(real):
            raise UserInputError(
                msg("There is no simulation result {path}.", path=text),
                advice=msg("Run the circuit with run_simulation first."),
                error_type="file_not_found",
            )
        return real

    def newest_result(
        self, circuit: Path | None, *, ours: bool = True, beside: Path | None = None
    ) -> Path | None:
        """The result.json of the newest stored result (of one circuit): made here, or made elsewhere."""
        results = self.root / paths.PROJECT_FOLDER / paths.RESULTS_FOLDER
        names = newest_first(results)
        if beside is not None:  # by when they were made, as their ids sort, and not used
            names = sorted((name for name in names if name != beside.parent.name), reverse=True)
        for name in names[:_RESULTS_LOOKED_AT]:
            path = results / name / paths.RESULT_FILE
            content = _result_content(path)
            if content is None or content.get("kind") == "study":  # it has no waveforms
                continue
            if self.seals.is_ours(content, path.parent) is not ours:
                continue
            if circuit is None or _is_of(content, path.parent, circuit, is_exact=ours):
                return path
        return None

    def numbered_result(self, number: int) -> Path | None:
        """The result.json of the run the list of results counts as `number`, from 1 = the oldest kept."""
        return next(islice(self._results(), number - 1, None), None) if number > 0 else None

    def result_number(self, result: Path) -> int | None:
        """The reverse."""
        return next((number for number, path in enumerate(self._results(), 1) if path == result), None)

    def _results(self) -> Iterator[Path]:
        results = self.root / paths.PROJECT_FOLDER / paths.RESULTS_FOLDER
        try:
            names = sorted(confined.names_in(results))  # ids sort by their time
        except OSError:
            return iter(())
        stored = (results / name / paths.RESULT_FILE for name in names)
        return (path for path in stored if confined.is_file(path))

    def open(self, path: Path) -> BufferedReader:
        return open_regular_file(path)

    def name_of(self, path: Path) -> str:
        """How a tool names `path`."""
        is_inside = path.is_relative_to(self.root)
        return printable(path.relative_to(self.root).as_posix() if is_inside else str(path))

    def walk(self, folder: Path) -> Iterator[FolderEntry]:
        """What is in `folder` and below."""
        inside: dict[tuple[int, int], int] | None = None
        for item in self._walk(folder, 0):
            if item.kind == "link" and item.size:  # a file with several names
                if inside is None:
                    inside = names_inside(self.root)
                if not has_names_outside(item.path, inside):
                    item = replace(item, kind="file")  # noqa: PLW2901 - the same, known better
            yield item

    def _walk(self, folder: Path, depth: int) -> Iterator[FolderEntry]:
        try:
            with os.scandir(folder) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError:
            return
        for entry in entries:
            if entry.name.startswith("."):
                continue
            item = self._entry(entry)
            if item is None or self._is_kept_back(item.path):
                continue
            yield item
            if item.kind == "folder" and depth < _DEEPEST:
                yield from self._walk(item.path, depth + 1)

    def _entry(self, entry: os.DirEntry[str]) -> FolderEntry | None:
        path = Path(entry.path)
        try:
            if entry.is_symlink():
                return self._link(path)
            status = entry.stat(follow_symlinks=False)
        except OSError:
            return None
        return _entry_of(self.name_of(path), path, status)

    def _link(self, path: Path) -> FolderEntry:
        """A link to a file of the project counts as a file; any other is only named."""
        real = Path(os.path.realpath(path))
        if real.is_relative_to(self.root) and paths.PROJECT_FOLDER not in real.relative_to(self.root).parts:
            try:
                status = os.lstat(real)
            except OSError:
                status = None
            if status is not None and stat.S_ISREG(status.st_mode):
                return _entry_of(self.name_of(path), real, status)
        return FolderEntry(name=self.name_of(path), path=path, kind="link", size=0)

    def _is_kept_back(self, path: Path) -> bool:
        if not self.keeps_back or not path.is_relative_to(self.root):
            return False
        return is_kept_back(self.root, path.relative_to(self.root))

    def _refuse_kept_back(self, real: Path, text: str) -> None:
        if self._is_kept_back(real):
            raise UserInputError(
                msg("{path} was not sent: it is listed in .circuitaiignore, and the model is on the network.",
                    path=text),
                advice=msg("Continue without this file; the user can remove it from .circuitaiignore, "
                           "or use a model on this computer."),
                error_type="ignored",
            )  # fmt: skip

    def _readable(self, candidate: Path, text: str) -> Path:
        real = real_place(candidate, text)
        for library in self.libraries:
            if real.is_relative_to(os.path.realpath(library)):
                return real
        check_inside(self.root, real, text)
        inner = real.relative_to(self.root)
        if any(part.startswith(".") for part in inner.parts) and inner.name != _READABLE_HIDDEN:
            raise UserInputError(
                msg("{path} is hidden or in a hidden folder; such files are not read.", path=text),
                advice=msg("Specify a file that is not hidden."),
                error_type="protected_path",
            )
        return real


def _entry_of(name: str, path: Path, status: os.stat_result) -> FolderEntry:
    if stat.S_ISDIR(status.st_mode):
        return FolderEntry(name=name, path=path, kind="folder", size=0)
    if stat.S_ISREG(status.st_mode):
        # Of several names some may lie outside; `walk` finds out.
        kind: Literal["file", "link"] = "file" if status.st_nlink == 1 else "link"
        return FolderEntry(name=name, path=path, kind=kind, size=status.st_size)
    return FolderEntry(name=name, path=path, kind="special", size=0)


def _result_content(path: Path) -> dict[str, Any] | None:
    try:
        content = read_bounded(read_regular_file(path, max_bytes=_MAX_RESULT_BYTES))
    except (OSError, ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def _is_of(content: dict[str, Any], folder: Path, circuit: Path, *, is_exact: bool) -> bool:
    """Of the circuit at this place; of what was made elsewhere the name is enough."""
    try:
        found = circuit_of(content, folder)
    except (KeyError, TypeError, AttributeError):
        return False
    return found == circuit or (not is_exact and found.name == circuit.name)
