"""Text files as tools see them: bytes to text and back without changing a byte that was not meant.

An encoding counts as a file's own only when writing the text back gives the same bytes. Line ends stay in
the text as they are; lines are counted as ngspice counts them: ended by LF, and by CR only in a file
without any LF.

What changed between two versions, for cards, results and the command line: counts are those of a valid line
diff. Where a rewritten part is so large that the shortest diff would take seconds, it counts as removed and
added as a whole.
"""

from __future__ import annotations

import codecs
import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from shared.message import one_line

Encoding = Literal["utf-8", "utf-8-sig", "utf-16-le", "utf-16-be", "gbk", "gb18030", "latin-1"]
"""How a file is encoded; utf-8-sig and the utf-16 ones begin with a byte order mark."""

LineEnds = Literal["lf", "crlf", "cr", "mixed", "none"]

_BOMS: dict[Encoding, bytes] = {
    "utf-8-sig": codecs.BOM_UTF8,
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
}
_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_MOST_CONTROLS = 0.02
"""Share of control characters above which bytes are no text."""
_PAIR = re.compile(rb"[\x81-\xfe][\x40-\x7e\x80-\xfe]")
_DOUBLED_MICRO = re.compile(rb"(?<=[\d.])\xb5\xb5")
"""``1.86uu`` as LTspice stores it; in GBK a letter."""


class BinaryFileError(ValueError):
    """The bytes are no text."""


class NotEncodableError(ValueError):
    """A text has a character its file's encoding cannot hold."""

    def __init__(self, character: str, line: int, encoding: Encoding) -> None:
        super().__init__(f"U+{ord(character):04X} on line {line} has no place in {encoding}")
        self.character = character
        self.line = line
        """1-based."""
        self.encoding = encoding


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFile:
    """A file's text and what is needed to write it back."""

    text: str
    """Without the byte order mark, with the line ends of the file."""
    encoding: Encoding

    @property
    def line_ends(self) -> LineEnds:
        crlf = self.text.count("\r\n")
        lf = self.text.count("\n") - crlf
        cr = self.text.count("\r") - crlf
        if sum(map(bool, (crlf, lf, cr))) > 1:
            return "mixed"
        return "crlf" if crlf else "lf" if lf else "cr" if cr else "none"

    @property
    def line_end(self) -> str:
        r"""The line end most of its lines have; "\n" when it has none."""
        crlf = self.text.count("\r\n")
        lf = self.text.count("\n") - crlf
        cr = self.text.count("\r") - crlf
        count, end = max((lf, "\n"), (crlf, "\r\n"), (cr, "\r"), key=lambda pair: pair[0])
        return end if count else "\n"

    @property
    def lines(self) -> tuple[str, ...]:
        """Its lines without their ends; a last line end begins no further line."""
        return split_lines(self.text)

    def with_text(self, text: str) -> TextFile:
        """`text` in the same encoding, with the line ends most of this file's lines have."""
        return TextFile(text=with_line_ends(text, self.line_end), encoding=self.encoding)

    def to_bytes(self) -> bytes:
        """The file's bytes. Raises NotEncodableError."""
        return encode(self.text, self.encoding)


def decode(data: bytes) -> TextFile:
    """The text in `data`. Raises BinaryFileError."""
    encoding = encoding_of(data)
    text = decoded(data[len(_BOMS.get(encoding, b"")) :], _codec(encoding))
    return TextFile(text=text, encoding=encoding)


def decoded(data: bytes, codec: str = "utf-8") -> str:
    """The text in `data`, in pieces between which other threads go on. Raises UnicodeDecodeError."""
    decoder = codecs.getincrementaldecoder(codec)()
    pieces = [decoder.decode(data[at : at + _AT_ONCE]) for at in range(0, len(data), _AT_ONCE)]
    return "".join([*pieces, decoder.decode(b"", final=True)])


def encode(text: str, encoding: Encoding) -> bytes:
    """`text` as the bytes of a file. Raises NotEncodableError."""
    try:
        codec = _codec(encoding)
        starts = range(0, len(text), _AT_ONCE)
        return b"".join(
            [_BOMS.get(encoding, b""), *(text[at : at + _AT_ONCE].encode(codec) for at in starts)]
        )
    except UnicodeEncodeError as error:
        sign = error.object[error.start]
        line = text.count("\n", 0, text.index(sign)) + 1
        raise NotEncodableError(sign, line, encoding) from error


_AT_ONCE = 1_000_000
"""Bytes looked at in one go: no other thread of Python goes on meanwhile."""


def encoding_of(data: bytes) -> Encoding:
    """The encoding in which `data` is a text that can be written back unchanged. Raises BinaryFileError."""
    for encoding in ("utf-16-le", "utf-16-be"):
        if data.startswith(_BOMS[encoding]):
            if not _survives(data[2:], encoding) or "\0" in data[2:].decode(encoding):
                raise BinaryFileError
            return encoding
    controls = sum(len(_CONTROLS.findall(data, at, at + _AT_ONCE)) for at in range(0, len(data), _AT_ONCE))
    if b"\0" in data or controls > _MOST_CONTROLS * len(data):
        raise BinaryFileError
    if data.isascii():
        return "utf-8"
    if data.startswith(codecs.BOM_UTF8) and _survives(data[3:], "utf-8"):
        return "utf-8-sig"
    if _survives(data, "utf-8"):
        return "utf-8"
    return _legacy_encoding(data)


def _legacy_encoding(data: bytes) -> Encoding:
    """Chinese or western, for bytes that are no UTF-8.

    ``10µF`` in Latin-1 is a valid GBK pair too, so pairs decide whose second byte is no ASCII character:
    in Chinese text they are the rule, in western text the exception.
    """
    trails = [pair[1] for pair in _PAIR.findall(_DOUBLED_MICRO.sub(b"", data))]
    is_western = not trails or sum(trail < 0x80 for trail in trails) * 2 > len(trails)
    if not is_western:
        if _survives(data, "gbk"):
            return "gbk"
        if _survives(data, "gb18030"):
            return "gb18030"
    return "latin-1"


def _survives(data: bytes, encoding: Encoding) -> bool:
    if encoding == "utf-8" and len(data) > _AT_ONCE:  # what is UTF-8 is the only spelling of its text
        decoder = codecs.getincrementaldecoder("utf-8")()
        try:
            for at in range(0, len(data), _AT_ONCE):
                decoder.decode(data[at : at + _AT_ONCE])
            decoder.decode(b"", final=True)
        except UnicodeError:
            return False
        return True
    try:
        return data.decode(encoding).encode(encoding) == data
    except UnicodeError:
        return False


def _codec(encoding: Encoding) -> str:
    return "utf-8" if encoding == "utf-8-sig" else encoding


def split_lines(text: str) -> tuple[str, ...]:
    """The lines of `text` without their ends."""
    is_old_mac = "\n" not in text and "\r" in text
    pieces = text.split("\r" if is_old_mac else "\n")
    if pieces[-1] == "":
        pieces.pop()
    return tuple(piece.removesuffix("\r") for piece in pieces)


def with_line_ends(text: str, end: str) -> str:
    """`text` with all its line ends (LF, CR LF or CR) written as `end`."""
    unified = text.replace("\r\n", "\n").replace("\r", "\n")
    return unified if end == "\n" else unified.replace("\n", end)


def version_hash(data: bytes) -> str:
    """What tells whether a file was changed since it was read; the kind of its line ends does not count."""
    return hashlib.sha256(data.replace(b"\r\n", b"\n")).hexdigest()


class VersionHash:
    """`version_hash` of bytes that come in pieces."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()
        self._held = b""

    def update(self, piece: bytes) -> None:
        """Take the next piece; a CR at its end waits for what follows."""
        piece = self._held + piece
        self._held = b"\r" if piece.endswith(b"\r") else b""
        self._hash.update(piece[: len(piece) - len(self._held)].replace(b"\r\n", b"\n"))

    def hexdigest(self) -> str:
        whole = self._hash.copy()
        whole.update(self._held)
        return whole.hexdigest()


TEXT_LIMIT = 20_000
"""Characters of a diff's text, unless told otherwise."""
_LONGEST_LINE = 400
_LARGEST_COMPARISON = 4_000_000
"""Lines of one side times lines of the other: about a second of difflib at worst."""
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")

Opcode = tuple[Literal["replace", "delete", "insert", "equal"], int, int, int, int]
"""As difflib gives it: what to do with ``old[i1:i2]`` and ``new[j1:j2]``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hunk:
    """One changed place; lines without their ends."""

    old_line: int
    """First line of it in the old version, from 1; for an insertion the line it stands before."""
    new_line: int
    """The same in the new version."""
    removed: tuple[str, ...]
    added: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LineDiff:
    """The difference of two versions of a file."""

    added: int
    """Lines only the new version has."""
    removed: int
    """Lines only the old version has."""
    hunks: tuple[Hunk, ...] = ()
    text: str = ""
    """Unified diff, cut to a limit; "" when nothing changed."""
    is_cut: bool = False
    """`text` does not show everything."""
    is_binary: bool = False
    """One version is no text: nothing is counted or shown."""


def lines_of(text: str) -> list[str]:
    """The lines of a text with their ends."""
    return _LINE.findall(text)


def diff_files(
    before: bytes | None, after: bytes | None, *, path: str, context: int = 3, limit: int = TEXT_LIMIT
) -> LineDiff:
    """The difference of two contents of `path`; None = there is no file."""
    try:
        old, new = (decode(content or b"").text for content in (before, after))
    except BinaryFileError:
        return LineDiff(added=0, removed=0, text=f"Binary file {path} changed\n", is_binary=True)
    names = (
        f"a/{path}" if before is not None else "/dev/null",
        f"b/{path}" if after is not None else "/dev/null",
    )
    return _diff(old, new, names=names, context=context, limit=limit)


def diff_texts(before: str, after: str, *, path: str, context: int = 3, limit: int = TEXT_LIMIT) -> LineDiff:
    """The difference of two texts of a file `path`."""
    return _diff(before, after, names=(f"a/{path}", f"b/{path}"), context=context, limit=limit)


def _diff(before: str, after: str, *, names: tuple[str, str], context: int, limit: int) -> LineDiff:
    old, new = lines_of(before), lines_of(after)
    opcodes = line_opcodes(old, new)
    changes = [opcode for opcode in opcodes if opcode[0] != "equal"]
    lines = list(_unified(old, new, opcodes, names=names, context=context)) if changes else []
    text, is_cut = _cut(lines, limit)
    return LineDiff(
        added=sum(j2 - j1 for _, _, _, j1, j2 in changes),
        removed=sum(i2 - i1 for _, i1, i2, _, _ in changes),
        hunks=tuple(
            Hunk(
                old_line=i1 + 1,
                new_line=j1 + 1,
                removed=tuple(line.rstrip("\r\n") for line in old[i1:i2]),
                added=tuple(line.rstrip("\r\n") for line in new[j1:j2]),
            )
            for _, i1, i2, j1, j2 in changes
        ),
        text=text,
        is_cut=is_cut,
    )


def line_opcodes(old: Sequence[str], new: Sequence[str]) -> list[Opcode]:
    """difflib's opcodes, found in the part between the common head and tail."""
    shorter = min(len(old), len(new))
    head = next((k for k in range(shorter) if old[k] != new[k]), shorter)
    tail = next((k for k in range(shorter - head) if old[-1 - k] != new[-1 - k]), shorter - head)
    i_end, j_end = len(old) - tail, len(new) - tail
    opcodes: list[Opcode] = [("equal", 0, head, 0, head)] if head else []
    for tag, i1, i2, j1, j2 in _middle_opcodes(old[head:i_end], new[head:j_end]):
        opcodes.append((tag, i1 + head, i2 + head, j1 + head, j2 + head))
    if tail:
        opcodes.append(("equal", i_end, len(old), j_end, len(new)))
    return opcodes


def _middle_opcodes(old: Sequence[str], new: Sequence[str]) -> Sequence[Opcode]:
    if not old and not new:
        return []
    if len(old) * len(new) > _LARGEST_COMPARISON:
        return [("replace", 0, len(old), 0, len(new))]
    return SequenceMatcher(None, old, new, autojunk=False).get_opcodes()


class _Grouping(SequenceMatcher[str]):
    """difflib's grouping of changes with their context, for opcodes that are known."""

    def __init__(self, opcodes: list[Opcode]) -> None:
        super().__init__(None, "", "")
        self._known = opcodes

    def get_opcodes(self) -> list[Opcode]:
        return list(self._known)


def _unified(
    old: Sequence[str], new: Sequence[str], opcodes: list[Opcode], *, names: tuple[str, str], context: int
) -> Iterator[str]:
    ends_differ = _ends(old) != _ends(new)
    yield f"--- {one_line(names[0])}"
    yield f"+++ {one_line(names[1])}"
    for group in _Grouping(opcodes).get_grouped_opcodes(context):
        (_, i1, _, j1, _), (_, _, i2, _, j2) = group[0], group[-1]
        yield f"@@ -{_range(i1, i2)} +{_range(j1, j2)} @@"
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                yield from _shown(" ", old[i1:i2], ends_differ)
            else:
                yield from _shown("-", old[i1:i2], ends_differ)
                yield from _shown("+", new[j1:j2], ends_differ)


def _ends(lines: Sequence[str]) -> set[str]:
    return {line[len(line.rstrip("\r\n")) :] for line in lines} - {""}


def _range(start: int, stop: int) -> str:
    """As diff(1) writes it: an empty range names the line before it."""
    length = stop - start
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"


def _shown(mark: str, lines: Sequence[str], ends_differ: bool) -> Iterator[str]:
    for line in lines:
        body = line.rstrip("\r\n")
        end = line[len(body) :]
        if len(body) > _LONGEST_LINE:
            body = f"{body[:_LONGEST_LINE]}... ({len(body)} characters)"
        yield mark + body + ("␍" if ends_differ and "\r" in end else "")
        if not end:
            yield "\\ No newline at end of file"


def _cut(lines: Sequence[str], limit: int) -> tuple[str, bool]:
    room = limit
    for number, line in enumerate(lines):
        room -= len(line) + 1
        if room < 0:
            return "\n".join([*lines[:number], f"... ({len(lines) - number} more lines)"]) + "\n", True
    return "".join(f"{line}\n" for line in lines), False
