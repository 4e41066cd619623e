"""The text header of a raw file: what it says, in any of its dialects, with caps on everything.

The header is hostile input (a deck can write any file): lines, headers and counts are capped, and
whatever is wrong becomes a UserInputError that says what and where.

Sources: ngspice 39, src/frontend/rawfile.c and outitf.c; Xyce's reference guide ("Rawfile Format") and its
N_IO_Outputter*Raw.C; for LTspice and QSPICE the description in spicelib's raw_read.py and Ltsputil's help.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal

from infrastructure.persistence.confined import is_private, open_file
from shared.errors import UserInputError
from shared.message import Message, msg

Dialect = Literal["spice3", "ltspice", "qspice", "xyce"]
Encoding = Literal["utf-8", "utf-16-le"]

MAX_LINE = 64 * 1024
_MAX_HEADER = 32 * 2**20
_MAX_DIGITS = 18
_UTF_16_STARTS = (b"T\0i\0", b"\xff\xfeT\0")
_HEADER_KEYS = frozenset(
    ("title", "date", "plotname", "flags", "no. variables", "no. points", "dimensions", "command", "option",
     "offset", "backannotation", "output", "variables", "values", "binary", "version")
)  # fmt: skip
_OFTEN = frozenset(("option", "backannotation"))
_XYCE_TABLE = re.compile(r"(?:index\s*,\s*)?(?:time|freq|frequency|temp)\w*\s*,", re.IGNORECASE)
"""What Xyce writes behind its raw data for `.sens`: a table with commas under a line of names."""


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """A regular file; a FIFO or device left in a scratch folder must neither block nor be read."""
    try:
        if is_private(path):  # it may be a stranger's: no link on the way
            descriptor = open_file(path, os.O_RDONLY)
        else:
            flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
            descriptor = os.open(path, flags)
    except FileNotFoundError as error:
        raise UserInputError(
            msg("File {file} does not exist.", file=path), file=path, error_type="file_not_found"
        ) from error
    except (OSError, ValueError) as error:
        raise UserInputError(
            msg("{file} cannot be opened: {reason}", file=path, reason=error), file=path
        ) from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise UserInputError(msg("{file} is not a regular file.", file=path), file=path)
    with os.fdopen(descriptor, "rb") as file:
        yield file


def bad_raw(path: Path, reason: Message, offset: int) -> UserInputError:
    """The error for a file that is no raw file, or a broken one."""
    return UserInputError(
        msg("{file} is not a readable raw file: {reason} (at byte {offset})",
            file=path, reason=reason, offset=offset),
        advice=msg("Specify the .raw file of a simulation, or run the simulation again."),
        file=path,
        error_type="bad_raw_file",
    )  # fmt: skip


def shown(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:60] + "...")


@dataclass(frozen=True, slots=True)
class Variable:
    """One line of the list of variables."""

    name: str
    """As written."""
    kind: str
    """The type word ("voltage"), lower case; "notype" where there is none."""
    dims: tuple[int, ...]
    """Of ngspice's `dims=`; empty when not given."""


class Lines:
    """The lines of a text, in one of the two encodings raw files have."""

    def __init__(self, file: BinaryIO, encoding: Encoding) -> None:
        self._file = file
        self.encoding = encoding

    @property
    def offset(self) -> int:
        return self._file.tell()

    def next(self) -> bytes:
        """The next line with its newline, at most MAX_LINE bytes, in ASCII or UTF-8; b"" at the end."""
        if self.encoding == "utf-8":
            return self._file.readline(MAX_LINE)
        start = self._file.tell()
        raw = bytearray()
        while len(raw) < 2 * MAX_LINE:
            piece = self._file.readline(2 * MAX_LINE - len(raw))
            raw += piece
            if not piece.endswith(b"\n"):
                break
            if len(raw) % 2:  # the newline's first byte, if its second is 0
                raw += self._file.read(1)
                if raw.endswith(b"\n\0"):
                    break
        self._file.seek(start + len(raw))
        return raw.decode("utf-16-le", "replace").encode("utf-8", "replace")


class HeaderText:
    """The lines of one header."""

    def __init__(self, file: BinaryIO, path: Path, start: int, encoding: Encoding | None = None) -> None:
        """`encoding`: None for that of the file's first header, found by its first bytes."""
        self._file = file
        self._path = path
        self.start = start
        self.fields: dict[str, str] = {}
        self.variables: list[Variable] = []
        self.is_binary = False
        self.data_offset = start
        file.seek(start)
        begin = file.read(4)
        self.encoding: Encoding = encoding or ("utf-16-le" if begin in _UTF_16_STARTS else "utf-8")
        file.seek(start + (2 if begin[:2] == b"\xff\xfe" else 0))
        self._lines = Lines(file, self.encoding)

    @property
    def dialect(self) -> Dialect:
        command = self.fields.get("command", "").lower()
        if "qspice" in command:
            return "qspice"
        if "ltspice" in command or "linear technology" in command or self.encoding == "utf-16-le":
            return "ltspice"
        is_xyce = "xyce" in command or "xyce" in self.fields.get("version", "").lower()
        return "xyce" if is_xyce or self.fields.get("plotname", "").startswith("Step Analysis:") else "spice3"

    def read(self) -> bool:
        """Read up to the data. False when the file ends first; raises when it is no header."""
        while (line := self._line()) is not None:
            key, colon, rest = line.partition(":")
            key = " ".join(key.split()).lower()
            if not line.strip():
                continue
            if line.startswith((".param", ".alias")):  # QSPICE's, between the other lines
                continue
            if self.start > 0 and not self.fields and _XYCE_TABLE.match(line):
                return False  # no header, but the table Xyce leaves behind its data
            if not colon or key not in _HEADER_KEYS:
                raise self._wrong(msg("a header line is expected, not {text}", text=shown(line)))
            if key == "variables":
                if not self._read_variables(rest):
                    return False
            elif key in ("binary", "values"):
                self._check_complete()
                self.is_binary = key == "binary"
                self.data_offset = self._file.tell()
                return True
            elif key not in _OFTEN:
                self.fields[key] = rest.strip()
        return False

    def count(self, key: str) -> int:
        """A whole number of the header; 0 for one that was left blank to be filled in later."""
        text = self.fields.get(key)
        if text is None:
            raise self._wrong(msg("the header has no line {key}", key=shown(key)))
        if not text and key == "no. points":
            return 0
        if not (text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS):
            raise self._wrong(
                msg("{key} in the header is not a count: {text}", key=shown(key), text=shown(text))
            )
        return int(text)

    def number(self, key: str) -> float:
        """A number of the header; 0 when it is not there or none."""
        try:
            value = float(self.fields.get(key, "0"))
        except ValueError:
            return 0.0
        return value if abs(value) < float("inf") else 0.0

    def _wrong(self, reason: Message) -> UserInputError:
        return bad_raw(self._path, reason, self._file.tell())

    def _line(self) -> str | None:
        """The next line, or None when the file ends before its newline."""
        raw = self._lines.next()
        if not raw.endswith(b"\n"):
            if len(raw) >= MAX_LINE:
                raise self._wrong(msg("a header line is longer than {limit} bytes", limit=MAX_LINE))
            if self.start == 0 and not _may_be_header(raw):
                raise self._wrong(msg("it has no text header"))
            return None
        if b"\0" in raw:
            raise self._wrong(msg("it has no text header"))
        if self._file.tell() - self.start > _MAX_HEADER:
            raise self._wrong(msg("the header is longer than {limit} bytes", limit=_MAX_HEADER))
        return raw.decode("utf-8", "replace").rstrip("\r\n")

    def _read_variables(self, rest: str) -> bool:
        wanted = self.count("no. variables")
        if wanted == 0:
            return True
        line: str | None = rest if rest.strip() else self._line()
        while True:
            if line is None:
                return False
            if not self.variables and line.startswith("Title:") and self.count("no. points") == 0:
                # ngspice leaves the head of an analysis without a point unfinished: the next one's begins.
                self.fields = {"title": line.partition(":")[2].strip()}
                return True
            self._add_variable(line)
            if len(self.variables) >= wanted:
                return True
            line = self._line()

    def _add_variable(self, line: str) -> None:
        number = len(self.variables)
        # Names may have blanks ({V(1) - V(2)} of Xyce); then tabs part the words.
        words = re.split(r"\s*\t\s*", line.strip()) if line.strip().count("\t") > 1 else line.split()
        if len(words) < 2 or words[0] != str(number) or not words[1]:
            raise self._wrong(
                msg("variable {number} is expected, not {text}", number=number, text=shown(line))
            )
        types = " ".join(words[2:]).lower().split()
        self.variables.append(Variable(words[1], types[0] if types else "notype", _dims(types[1:])))

    def _check_complete(self) -> None:
        if not self.variables and self.count("no. variables") > 0:
            raise self._wrong(msg("the header names no variables"))
        self.count("no. points")
        if "flags" not in self.fields:
            raise self._wrong(msg("the header has no line {key}", key=shown("flags")))


def _dims(words: list[str]) -> tuple[int, ...]:
    for word in words:
        if word.startswith("dims="):
            parts = word.removeprefix("dims=").split(",")
            if all(part.isascii() and part.isdigit() and len(part) <= _MAX_DIGITS for part in parts):
                return tuple(map(int, parts))
    return ()


def _may_be_header(raw: bytes) -> bool:
    key = raw.partition(b":")[0].decode("utf-8", "replace").strip().lower()
    return any(known.startswith(key) for known in _HEADER_KEYS)
