"""Text files as tools see them: bytes to text and back without changing a byte that was not meant.

An encoding counts as a file's own only when writing the text back gives the same bytes. Line ends stay in
the text as they are; lines are counted as ngspice counts them: ended by LF, and by CR only in a file
without any LF.
"""

from __future__ import annotations

import codecs
import hashlib
import re
from dataclasses import dataclass
from typing import Literal

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
    return TextFile(text=data[len(_BOMS.get(encoding, b"")) :].decode(_codec(encoding)), encoding=encoding)


def encode(text: str, encoding: Encoding) -> bytes:
    """`text` as the bytes of a file. Raises NotEncodableError."""
    try:
        return _BOMS.get(encoding, b"") + text.encode(_codec(encoding))
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        raise NotEncodableError(text[error.start], line, encoding) from error


def encoding_of(data: bytes) -> Encoding:
    """The encoding in which `data` is a text that can be written back unchanged. Raises BinaryFileError."""
    for encoding in ("utf-16-le", "utf-16-be"):
        if data.startswith(_BOMS[encoding]):
            if not _survives(data[2:], encoding) or "\0" in data[2:].decode(encoding):
                raise BinaryFileError
            return encoding
    if b"\0" in data or len(_CONTROLS.findall(data)) > _MOST_CONTROLS * len(data):
        raise BinaryFileError
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
    trails = [pair[1] for pair in _PAIR.findall(data)]
    is_western = sum(trail < 0x80 for trail in trails) * 2 > len(trails)
    if not is_western:
        if _survives(data, "gbk"):
            return "gbk"
        if _survives(data, "gb18030"):
            return "gb18030"
    return "latin-1"


def _survives(data: bytes, encoding: Encoding) -> bool:
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
