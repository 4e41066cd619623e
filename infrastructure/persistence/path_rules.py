"""Rules for the paths a tool is given: their text first, then their real place. Nothing is opened here."""

from __future__ import annotations

import os
import re
import stat
import unicodedata
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from shared import paths
from shared.errors import UserInputError
from shared.message import Message, msg
from shared.paths import walk

_LONGEST = 1024
_LONGEST_NAME = 255
_FOREIGN = re.compile(r"~|[A-Za-z]:|[A-Za-z][A-Za-z0-9+.\-]*://|file:|\\\\", re.IGNORECASE)
_LOOK_ALIKE = re.compile("[\u2044\u2215\u2216\u29f5\u29f8\uff0f\uff3c]|^[\uff0e\u2024]")
"""Slashes of other kinds, and a dot at the beginning that would pass for that of a hidden name."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
"""Also those that cannot be seen, or that turn the direction of what is shown."""


WRITABLE_SUFFIXES = (
    ".cir", ".sp", ".spice", ".net", ".ckt", ".inc", ".lib", ".mod", ".sub", ".txt", ".md", ".json", ".csv",
)  # fmt: skip
"""Files of other kinds are never written by a tool, but for pictures, tables and reports of results."""
_EXPORTED_SUFFIXES = (".svg", ".png", ".mat", ".html", ".pdf")


def is_for_tools(place: str, *, is_folder: bool) -> bool:
    """Whether tools may write at a place of the project (relative, forward slashes), judged by its name.

    The goals of circuits are the one hidden place: only `set_goals` gets there, by the circuit's name.
    """
    if paths.is_goals_file(PurePosixPath(place)):
        return not is_folder
    parts = place.split("/")
    if any(part.startswith(".") or not part for part in parts):
        return False
    return is_folder or Path(parts[-1]).suffix.lower() in (*WRITABLE_SUFFIXES, *_EXPORTED_SUFFIXES)


def place_to_move(root: Path, text: str, suffixes: tuple[str, ...]) -> Path:
    """The place of a file or folder that may be moved or deleted, with all that is in it.

    Files are of the kinds `suffixes`; nothing is hidden, a link or a special file. Raises UserInputError.
    """
    check_text(text)
    named = as_stored(root / text.rstrip("/"))
    # A link is no file: what it leads to would go, and the link would stay.
    place = real_place(named.parent, text) / named.name
    if place == root or root == Path(os.path.normpath(root / text)):
        raise bad_path(text, msg("it is the project itself"))
    check_inside(root, place, text)
    check_inside(root, real_place(place, text), text)
    if not exists(place):
        raise UserInputError(
            msg("File or folder {path} does not exist.", path=text),
            advice=msg("Look up the name with list_project_files; names are case-sensitive."),
            error_type="file_not_found",
        )
    _check_movable(root, place, suffixes)
    if place.is_dir():
        for folder, folders, files in walk(place):
            for name in (*folders, *files):
                _check_movable(root, Path(folder) / name, suffixes)
    return place


def _check_movable(root: Path, place: Path, suffixes: tuple[str, ...]) -> None:
    inner = place.relative_to(root)
    name = printable(inner.as_posix())
    if place.is_symlink():
        raise UserInputError(
            msg("{path} is a link; links are not moved or deleted.", path=name),
            advice=msg("Specify the file it points to."),
            error_type="not_a_file",
        )
    if any(part.startswith(".") for part in inner.parts):
        raise hidden(name)
    if place.is_dir():
        if not os.access(place, os.R_OK | os.X_OK):
            raise not_a_file(name)
        return
    checked_file(place, name)
    refuse_names_outside(root, place, name)
    if place.suffix.lower() not in suffixes:
        raise not_written(name, suffixes)


def place_of_folder(root: Path, text: str) -> Path:
    """The real path of a folder that may be made. Raises UserInputError."""
    check_text(text)
    place = real_place(root / text, text)
    if place == root:
        raise bad_path(text, msg("it is the project itself"))
    check_inside(root, place, text)
    if any(part.startswith(".") for part in place.relative_to(root).parts):
        raise hidden(text)
    if exists(place) and not place.is_dir():
        raise UserInputError(
            msg("There is already something at {path}; nothing was replaced.", path=text),
            advice=msg("Choose another name, or move what is there first."),
            error_type="target_exists",
        )
    return place


def refuse_twins(root: Path, place: Path, text: str, moved: Path | None) -> None:
    """Raises UserInputError when a name would differ from one that is there in letter case only.

    `moved` is what gets the new name. A file in place of a folder is refused, too.
    """
    while place != root:  # where upper and lower case are the same, two such names would be one
        try:
            names = os.listdir(place.parent)  # noqa: PTH208 - names alone
        except OSError:
            names = []
        wanted = _folded(place.name)
        twin = next((name for name in names if _folded(name) == wanted), place.name)
        if place.name not in names and twin != place.name and place.with_name(twin) != moved:
            raise UserInputError(
                msg("{path} would differ from the existing {other} only in letter case or accents.",
                    path=printable(place.name), other=printable(twin)),
                advice=msg("Choose another name: not every system can distinguish the two."),
                error_type="target_exists",
            )  # fmt: skip
        place = place.parent
        if exists(place) and not place.is_dir():
            raise not_a_file(text)


def refuse_names_outside(root: Path, place: Path, text: str) -> None:
    """Raises UserInputError when a file has another name (a hard link) that does not lie in the project.

    Such a name leads out as a symbolic link does. All names are counted by a walk through the project,
    which only files with several names pay for.
    """
    try:
        found = os.lstat(place)
    except OSError:
        return  # opening will tell
    if not stat.S_ISREG(found.st_mode) or found.st_nlink == 1 or not place.is_relative_to(root):
        return
    if has_names_outside(place, names_inside(root)):
        raise UserInputError(
            msg("{path} has another name outside the project (a hard link) and is not used.",
                path=printable(text)),
            advice=msg("Replace it with a copy of its own: cp FILE COPY, then mv COPY FILE."),
            error_type="outside_project",
        )  # fmt: skip


def has_names_outside(place: Path, inside: Mapping[tuple[int, int], int]) -> bool:
    """Whether a file has more names than `names_inside` has counted."""
    try:
        found = os.lstat(place)
    except OSError:
        return True
    return inside.get((found.st_dev, found.st_ino), 0) < found.st_nlink


def names_inside(root: Path) -> dict[tuple[int, int], int]:
    """How many names in the project each file with several names has; our own folder and .git count too."""
    counts: dict[tuple[int, int], int] = {}
    for folder, _folders, files in walk(root):
        for name in files:
            try:
                found = os.lstat(os.path.join(folder, name))  # noqa: PTH118 - many names
            except OSError:
                continue
            if found.st_nlink > 1:
                key = (found.st_dev, found.st_ino)
                counts[key] = counts.get(key, 0) + 1
    return counts


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def check_inside(root: Path, real: Path, text: str) -> None:
    """Raises UserInputError unless `real` lies in the project and not in our own folder."""
    if real == root or not real.is_relative_to(root):
        raise not_a_file(text) if real == root else outside(text)
    # Folded, for file systems where upper and lower case are the same.
    if paths.PROJECT_FOLDER in (part.casefold() for part in real.relative_to(root).parts):
        raise UserInputError(
            msg("{path} is inside .circuit_ai, which is reserved for the program.", path=text),
            advice=msg("Choose a place outside .circuit_ai."),
            error_type="outside_project",
        )


def printable(text: str) -> str:
    """`text` with what is no character (bytes of file names, line breaks) escaped."""
    shown = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return _CONTROL.sub(lambda match: _escaped(ord(match.group())), shown)


def _escaped(code: int) -> str:
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def check_text(text: str) -> None:
    """What can be said of a path without looking at the disk."""
    if not text.strip():
        raise bad_path(text, msg("it is empty"))
    if len(text) > _LONGEST:
        raise bad_path(text[:80] + "...", msg("it is too long"))
    if _CONTROL.search(text):
        raise bad_path(text, msg("it contains control characters"))
    if _FOREIGN.match(text):
        raise outside(text)
    parts = PurePosixPath(text).parts
    if ".." in parts or ".." in text.split("\\"):
        raise outside(text)
    if "\\" in text:
        raise bad_path(text, msg("folders are separated by / and not by \\"))
    if _LOOK_ALIKE.search(text) or ".." in unicodedata.normalize("NFKC", text).split("/"):
        raise bad_path(text, msg("it contains characters that look like / or .. but are not"))
    try:
        names = [os.fsencode(part) for part in parts]
    except UnicodeEncodeError as error:
        raise bad_path(text, msg("it contains characters no file name can have")) from error
    if any(len(name) > _LONGEST_NAME for name in names):
        raise bad_path(text, msg("it is too long"))
    # Windows drops them, so that two spellings would mean one file.
    if any(part.endswith((".", " ")) for part in parts):
        raise bad_path(text, msg("a name in it ends in a dot or a space"))


def bad_path(text: str, reason: Message) -> UserInputError:
    """The error for a path that no file can have."""
    return UserInputError(
        msg("The path {path} cannot be used: {reason}.", path=f"“{printable(text)}”", reason=reason),
        advice=msg("Give a path relative to the project, for example {example}.", example="filters/rc.cir"),
        error_type="bad_path",
    )


def outside(text: str) -> UserInputError:
    """The error for a place outside; the same whether something is there or not."""
    return UserInputError(
        msg("{path} is outside the project.", path=printable(text)),
        advice=msg("Only files of the project can be used; paths are relative to its folder, without “..”."),
        error_type="outside_project",
    )


def not_a_file(text: str) -> UserInputError:
    return UserInputError(
        msg("{path} is not a regular file.", path=printable(text)),
        advice=msg("Specify a text file; folders, pipes and devices cannot be used."),
        error_type="not_a_file",
    )


def hidden(text: str) -> UserInputError:
    """The error for a hidden file or folder."""
    return UserInputError(
        msg("{path} is a hidden file or in a hidden folder; such files are not written.", path=text),
        advice=msg("Choose a name that does not begin with a dot."),
        error_type="protected_path",
    )


def not_written(text: str, suffixes: tuple[str, ...]) -> UserInputError:
    """The error for a file of another kind than tools write."""
    return UserInputError(
        msg("Files like {path} are not written by tools.", path=text),
        advice=msg("Use one of these extensions: {suffixes}.", suffixes=" ".join(suffixes)),
        error_type="suffix_not_allowed",
    )


def as_stored(path: Path) -> Path:
    """`path`, its last name spelled as the folder has it.

    One letter has two spellings in Unicode: macOS stores "e" and an accent where models write "é".
    """
    if path.name.isascii() or exists(path):
        return path
    wanted = unicodedata.normalize("NFC", path.name)
    try:
        names = os.listdir(path.parent)  # noqa: PTH208 - names alone
    except (OSError, ValueError):
        return path
    same = [name for name in names if unicodedata.normalize("NFC", name) == wanted]
    return path.with_name(same[0]) if len(same) == 1 else path


def real_place(path: Path, text: str) -> Path:
    """`path` with its links resolved. Raises UserInputError when they lead in a circle."""
    try:
        return Path(os.path.realpath(path))
    except (OSError, ValueError) as error:
        raise bad_path(text, msg("its links form a loop")) from error


def exists(path: Path) -> bool:
    """Whether there is something, be it a broken link."""
    try:
        return os.path.lexists(path)
    except (OSError, ValueError):
        return False


def checked_file(real: Path, text: str) -> Path:
    """`real` when it is a regular file or cannot be looked at (opening will tell)."""
    try:
        mode = os.lstat(real).st_mode
    except OSError:
        return real
    if not stat.S_ISREG(mode):
        raise not_a_file(text)
    return real
