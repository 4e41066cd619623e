"""A project's files as tools (and so a language model, or a stranger's text) may see them.

Every path a tool is given goes through here: rules for its text first, then its real place, links
resolved. What lies outside is refused with the same words whether it exists or not.
"""

from __future__ import annotations

import json
import os
import re
import stat
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BufferedReader
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any

from application.tool_execution.context import FolderEntry
from infrastructure.persistence.regular import open_regular_file, read_regular_file
from shared import paths
from shared.errors import UserInputError
from shared.message import Message, msg

WRITABLE_SUFFIXES = (
    ".cir", ".sp", ".spice", ".net", ".ckt", ".inc", ".lib", ".mod", ".sub", ".txt", ".md", ".json", ".csv",
)  # fmt: skip
"""Files of other kinds are never written by a tool."""

_READABLE_HIDDEN = ".spiceinit"
_LONGEST = 1024
_LONGEST_NAME = 255
_DEEPEST = 32
_FOREIGN = re.compile(r"~|[A-Za-z]:|[A-Za-z][A-Za-z0-9+.\-]*://|file:|\\\\", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
"""Also those that cannot be seen, or that turn the direction of what is shown."""
_RESULTS_LOOKED_AT = 500
_MAX_RESULT_BYTES = 4 * 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderView:
    """Implements application.tool_execution.context.ProjectView.

    Readable are the regular files of the project, its own folder `.circuit_ai/` excepted, and of the
    `libraries` (folders or single files). Hidden files stay unread, ngspice's `.spiceinit` excepted: keys
    and passwords lie in such (`.env`, `.git/config`, `.ssh` where the folder is somebody's home).
    """

    root: Path
    libraries: tuple[Path, ...] = field(default=())

    def locate(self, text: str) -> Path:
        """The real path of an existing readable file."""
        _check_text(text)
        candidates = [self.root / text]
        if not text.startswith("/"):
            candidates += [Path(os.path.realpath(library)) / text for library in self.libraries]
        for candidate in candidates:
            real = self._readable(_as_stored(candidate), text)
            if _exists(real):
                return _checked_file(real, text)
        raise UserInputError(
            msg("There is no file {path}.", path=text),
            advice=msg("Look up the name with list_project_files; upper and lower case count."),
            error_type="file_not_found",
        )

    def locate_for_writing(self, text: str) -> Path:
        """The real path of a file that may be written."""
        _check_text(text)
        real = _real(_as_stored(self.root / text), text)
        self._check_inside(real, text)
        if text.endswith("/"):
            raise _not_a_file(text)
        inner = real.relative_to(self.root)
        if any(part.startswith(".") for part in inner.parts):
            raise UserInputError(
                msg(
                    "{path} is a hidden file or lies in a hidden folder; such files are not written.",
                    path=text,
                ),
                advice=msg("Choose a name that does not begin with a dot."),
                error_type="protected_path",
            )
        # The link's own name and the file behind it: either could be something that is run.
        if any(Path(name).suffix.lower() not in WRITABLE_SUFFIXES for name in (text, real.name)):
            raise UserInputError(
                msg("Files like {path} are not written by tools.", path=text),
                advice=msg("Use one of these endings: {suffixes}.", suffixes=" ".join(WRITABLE_SUFFIXES)),
                error_type="suffix_not_allowed",
            )
        if _exists(real):
            return _checked_file(real, text)
        for folder in real.parents:
            if folder == self.root:
                break
            if _exists(folder) and not folder.is_dir():
                raise _not_a_file(text)
        return real

    def locate_folder(self, text: str) -> Path:
        """The real path of a folder of the project."""
        if text.strip() in ("", "."):
            return self.root
        _check_text(text)
        real = _real(self.root / text, text)
        if real != self.root:
            self._check_inside(real, text)
        if not _exists(real):
            raise UserInputError(
                msg("There is no folder {path}.", path=text),
                advice=msg("Call list_project_files without a path to see all folders."),
                error_type="file_not_found",
            )
        if not real.is_dir():
            raise UserInputError(
                msg("{path} is a file, not a folder.", path=text),
                advice=msg("Read it with read_file, or name the folder it is in."),
                error_type="not_a_folder",
            )
        return real

    def locate_result(self, text: str) -> Path | None:
        """The real path of a stored result, None when `text` names something else."""
        _check_text(text)
        results = self.root / paths.PROJECT_FOLDER / paths.RESULTS_FOLDER
        named = Path(os.path.normpath(self.root / text))
        if named == results or not named.is_relative_to(results):
            return None
        real = _real(named, text)
        # Somebody else's project may have a link among its results.
        if not real.is_relative_to(results):
            raise _outside(text)
        if not _exists(real):
            raise UserInputError(
                msg("There is no simulation result {path}.", path=text),
                advice=msg("Run the circuit with run_simulation first."),
                error_type="file_not_found",
            )
        return real

    def newest_result(self, circuit: Path | None) -> Path | None:
        """The result.json of the newest stored result (of one circuit)."""
        results = self.root / paths.PROJECT_FOLDER / paths.RESULTS_FOLDER
        try:
            names = sorted(os.listdir(results), reverse=True)  # noqa: PTH208 - ids sort by their time
        except OSError:
            return None
        for name in islice(names, _RESULTS_LOOKED_AT):
            path = results / name / paths.RESULT_FILE
            content = _result_content(path)
            if content is None or content.get("kind") == "study":  # it has no waveforms
                continue
            if circuit is None or _is_of(content, circuit):
                return path
        return None

    def open(self, path: Path) -> BufferedReader:
        """A located file, open for reading."""
        return open_regular_file(path)

    def name_of(self, path: Path) -> str:
        """How a tool names `path`."""
        is_inside = path.is_relative_to(self.root)
        return printable(path.relative_to(self.root).as_posix() if is_inside else str(path))

    def walk(self, folder: Path) -> Iterator[FolderEntry]:
        """What is in `folder` and below."""
        yield from self._walk(folder, 0)

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
            if item is None:
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

    def _readable(self, candidate: Path, text: str) -> Path:
        real = _real(candidate, text)
        for library in self.libraries:
            if real.is_relative_to(os.path.realpath(library)):
                return real
        self._check_inside(real, text)
        inner = real.relative_to(self.root)
        if any(part.startswith(".") for part in inner.parts) and inner.name != _READABLE_HIDDEN:
            raise UserInputError(
                msg("{path} is hidden or lies in a hidden folder; such files are not read.", path=text),
                advice=msg("Name a file that is not hidden."),
                error_type="protected_path",
            )
        return real

    def _check_inside(self, real: Path, text: str) -> None:
        if real == self.root or not real.is_relative_to(self.root):
            raise _not_a_file(text) if real == self.root else _outside(text)
        # Folded, for file systems where upper and lower case are the same.
        if paths.PROJECT_FOLDER in (part.casefold() for part in real.relative_to(self.root).parts):
            raise UserInputError(
                msg("{path} is inside .circuit_ai, which belongs to the program.", path=text),
                advice=msg("Choose a place beside it."),
                error_type="outside_project",
            )


def printable(text: str) -> str:
    """`text` with what is no character (bytes of file names, line breaks) escaped."""
    shown = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return _CONTROL.sub(lambda match: _escaped(ord(match.group())), shown)


def _escaped(code: int) -> str:
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def _check_text(text: str) -> None:
    """What can be said of a path without looking at the disk."""
    if not text.strip():
        raise _bad_path(text, msg("it is empty"))
    if len(text) > _LONGEST:
        raise _bad_path(text[:80] + "...", msg("it is too long"))
    if _CONTROL.search(text):
        raise _bad_path(text, msg("it has control characters"))
    if _FOREIGN.match(text):
        raise _outside(text)
    parts = PurePosixPath(text).parts
    if ".." in parts or ".." in text.split("\\"):
        raise _outside(text)
    if "\\" in text:
        raise _bad_path(text, msg("folders are separated by / and not by \\"))
    try:
        names = [os.fsencode(part) for part in parts]
    except UnicodeEncodeError as error:
        raise _bad_path(text, msg("it has characters no file name can have")) from error
    if any(len(name) > _LONGEST_NAME for name in names):
        raise _bad_path(text, msg("it is too long"))
    # Windows drops them, so that two spellings would mean one file.
    if any(part.endswith((".", " ")) for part in parts):
        raise _bad_path(text, msg("a name in it ends in a dot or a blank"))


def _bad_path(text: str, reason: Message) -> UserInputError:
    return UserInputError(
        msg("The path {path} can't be used: {reason}.", path=f"“{printable(text)}”", reason=reason),
        advice=msg("Give a path relative to the project, for example {example}.", example="filters/rc.cir"),
        error_type="bad_path",
    )


def _outside(text: str) -> UserInputError:
    return UserInputError(
        msg("{path} lies outside the project.", path=printable(text)),
        advice=msg("Only files of the project can be used; paths count from its folder, without “..”."),
        error_type="outside_project",
    )


def _not_a_file(text: str) -> UserInputError:
    return UserInputError(
        msg("{path} is not a regular file.", path=printable(text)),
        advice=msg("Name a text file; folders, pipes and devices cannot be used."),
        error_type="not_a_file",
    )


def _as_stored(path: Path) -> Path:
    """`path`, its last name spelled as the folder has it.

    One letter has two spellings in Unicode: macOS stores "e" and an accent where models write "é".
    """
    if path.name.isascii() or _exists(path):
        return path
    wanted = unicodedata.normalize("NFC", path.name)
    try:
        names = os.listdir(path.parent)  # noqa: PTH208 - names alone
    except (OSError, ValueError):
        return path
    same = [name for name in names if unicodedata.normalize("NFC", name) == wanted]
    return path.with_name(same[0]) if len(same) == 1 else path


def _real(path: Path, text: str) -> Path:
    try:
        return Path(os.path.realpath(path))
    except (OSError, ValueError) as error:
        raise _bad_path(text, msg("its links lead in a circle")) from error


def _exists(path: Path) -> bool:
    try:
        return os.path.lexists(path)
    except (OSError, ValueError):
        return False


def _checked_file(real: Path, text: str) -> Path:
    """`real` when it is a regular file or cannot be looked at (opening will tell)."""
    try:
        mode = os.lstat(real).st_mode
    except OSError:
        return real
    if not stat.S_ISREG(mode):
        raise _not_a_file(text)
    return real


def _entry_of(name: str, path: Path, status: os.stat_result) -> FolderEntry:
    if stat.S_ISDIR(status.st_mode):
        return FolderEntry(name=name, path=path, kind="folder", size=0)
    if stat.S_ISREG(status.st_mode):
        return FolderEntry(name=name, path=path, kind="file", size=status.st_size)
    return FolderEntry(name=name, path=path, kind="special", size=0)


def _result_content(path: Path) -> dict[str, Any] | None:
    try:
        content = json.loads(read_regular_file(path, max_bytes=_MAX_RESULT_BYTES))
    except (OSError, ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def _is_of(content: dict[str, Any], circuit: Path) -> bool:
    netlist = content.get("netlist")
    return isinstance(netlist, dict) and netlist.get("path") == str(circuit)
