"""A file cut into the parts that are indexed, each with its place: lines, heading or subcircuit, page.

Netlists are cut at subcircuits, texts at headings, PDFs at pages; no part has more than about 1500
characters or 40 lines, so that a part means one thing and fits into an embedding model's window.
"""

from __future__ import annotations

import io
import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Literal

from domain.circuit.netlist import LIBRARY_SUFFIXES, Netlist
from domain.llm.tools.text_files import BinaryFileError, decode
from domain.search.symbols import Symbol, symbols_of

if TYPE_CHECKING:
    from pypdf import PdfReader

FileScope = Literal["code", "docs", "other"]

NETLIST_SUFFIXES = frozenset(
    {".cir", ".sp", ".spice", ".net", ".ckt", ".inc", ".lib", ".mod", ".sub", ".model", ".mdl"}
)
CODE_SUFFIXES = NETLIST_SUFFIXES | {".va", ".py"}
DOCUMENT_SUFFIXES = frozenset({".md", ".txt", ".rst", ".tex", ".html", ".htm", ".csv", ".pdf"})
PDF = ".pdf"
LARGEST_FILE = 5_000_000
LARGEST_PDF = 30_000_000
"""Data sheets are larger than texts."""

_MOST_LINES = 40
_MOST_CHARACTERS = 1500
_PARSED_BYTES = 400_000
"""Larger libraries are read by line: parsing takes about a second for a megabyte."""
_MOST_PAGES = 2000
_LONGEST_SECTION = 120
_HEADING = re.compile(r"(#{1,6})\s+(.+?)\s*#*")
_UNDERLINE = re.compile(r"=+|-{3,}")
_SUBCIRCUIT = re.compile(r"\s*\.(subckt|ends)\b\s*(\S*)", re.IGNORECASE)
_DEFINITION = re.compile(r"\s*\.(subckt|model|param|func)\s+([^\s=(]+)", re.IGNORECASE)
_KINDS: Mapping[str, Literal["subcircuit", "model", "parameter", "function"]] = {
    "subckt": "subcircuit",
    "model": "model",
    "param": "parameter",
    "func": "function",
}
_NO_MEANING = frozenset({".csv", ".json", ".log", ".xml", ".svg"})
"""Data, not words: found by their text, not by their meaning."""

_logger = logging.getLogger(__name__)
# pypdf tells about every oddity of a file; what it could not read is told by our own counts.
logging.getLogger("pypdf").setLevel(logging.CRITICAL)


class NoTextError(ValueError):
    """The file has nothing to index; the text is the reason: binary, unreadable, no_text."""


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a file's text."""

    line: int
    """Its first line, from 1; in a PDF within the page."""
    text: str
    page: int | None = None
    section: str = ""


@dataclass(frozen=True, slots=True)
class FileParts:
    """What a file gives to the index."""

    parts: tuple[Part, ...]
    symbols: tuple[Symbol, ...] = ()


def suffix_of(path: str) -> str:
    return PurePosixPath(path).suffix.lower()


def scope_of(path: str) -> FileScope:
    suffix = suffix_of(path)
    return "code" if suffix in CODE_SUFFIXES else "docs" if suffix in DOCUMENT_SUFFIXES else "other"


def has_meaning(path: str) -> bool:
    return scope_of(path) != "other" and suffix_of(path) not in _NO_MEANING


def largest(path: str) -> int:
    """Bytes up to which such a file is looked into."""
    return LARGEST_PDF if suffix_of(path) == PDF else LARGEST_FILE


def parts_of(path: str, data: bytes) -> FileParts:
    """The parts and symbols of a file. Raises NoTextError."""
    suffix = suffix_of(path)
    if suffix == PDF:
        return FileParts(tuple(_pdf_parts(data)))
    lines = lines_of(data)
    if suffix in NETLIST_SUFFIXES:
        return FileParts(
            tuple(_cut(lines, _circuit_places(lines))), tuple(netlist_symbols(path, data, lines))
        )
    if suffix in CODE_SUFFIXES:
        return FileParts(tuple(_cut(lines, [""] * len(lines))))
    return FileParts(tuple(_cut(lines, _headings(lines))))


def lines_of(data: bytes) -> tuple[str, ...]:
    """The lines of a text file. Raises NoTextError."""
    try:
        return decode(data).lines
    except BinaryFileError:
        raise NoTextError("binary") from None


def netlist_symbols(path: str, data: bytes, lines: Sequence[str]) -> Iterator[Symbol]:
    if len(data) > _PARSED_BYTES:
        yield from _symbols_by_line(lines)
        return
    has_title = suffix_of(path) not in LIBRARY_SUFFIXES
    yield from symbols_of(Netlist.parse(data, path=Path(path), has_title=has_title))


def _symbols_by_line(lines: Sequence[str]) -> Iterator[Symbol]:
    for number, line in enumerate(lines, start=1):
        if match := _DEFINITION.match(line):
            yield Symbol(match[2], _KINDS[match[1].lower()], number, "", line)


def _circuit_places(lines: Sequence[str]) -> list[str]:
    """The subcircuits each line is in; comments right above one tell of its pins and belong to it."""
    places: list[str] = []
    inside: list[str] = []
    for line in lines:
        match = _SUBCIRCUIT.match(line)
        if match and match[1].lower() == "subckt":
            inside.append(match[2])
            above = len(places)
            while len(inside) == 1 and above and lines[above - 1].lstrip().startswith(("*", ";")):
                above -= 1
            places[above:] = [match[2][:_LONGEST_SECTION]] * (len(places) - above)
        places.append(".".join(inside)[:_LONGEST_SECTION])
        if match and match[1].lower() == "ends" and inside:
            inside.pop()
    return places


def _headings(lines: Sequence[str]) -> list[str]:
    """The headings each line stands under, the outermost first."""
    places: list[str] = []
    path: list[tuple[int, str]] = []
    is_fenced = False
    for position, line in enumerate(lines):
        is_fenced ^= line.lstrip().startswith("```")
        following = lines[position + 1] if position + 1 < len(lines) else ""
        level, text = 0, line.strip()
        if is_fenced:
            pass
        elif match := _HEADING.fullmatch(line):
            level, text = len(match[1]), match[2]
        elif text and _UNDERLINE.fullmatch(following.rstrip()) and not _UNDERLINE.fullmatch(text):
            level = 1 if following.startswith("=") else 2
        if level:
            path = [*(item for item in path if item[0] < level), (level, text)]
        places.append(" > ".join(item[1] for item in path)[:_LONGEST_SECTION])
    return places


def _cut(lines: Sequence[str], places: Sequence[str], page: int | None = None) -> Iterator[Part]:
    """Parts of neighbouring lines with one place each."""
    start, size = 0, 0
    for position, line in enumerate(lines):
        is_full = position - start >= _MOST_LINES or size + len(line) > _MOST_CHARACTERS
        if position > start and (is_full or places[position] != places[start]):
            yield Part(start + 1, "\n".join(lines[start:position]), page, places[start])
            start, size = position, 0
        size += len(line) + 1
    if start < len(lines):
        yield Part(start + 1, "\n".join(lines[start:]), page, places[start])


def _pdf_parts(data: bytes) -> Iterator[Part]:
    """The text of each page; its section is the last bookmark that leads to it or a page before."""
    from pypdf import PdfReader

    # pypdf meets broken and hostile files with exceptions of every kind, of Python's own too.
    try:
        reader = PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise NoTextError("unreadable")
        count = min(len(reader.pages), _MOST_PAGES)
    except NoTextError:
        raise
    except Exception as error:
        raise NoTextError("unreadable") from error
    sections = _bookmarks(reader)
    section, has_text = "", False
    for number in range(1, count + 1):
        section = sections.get(number, section)
        try:
            text = reader.pages[number - 1].extract_text()
        except Exception:
            _logger.info("page %d of a PDF cannot be read", number, exc_info=True)
            continue
        lines = [line.rstrip() for line in text.splitlines()]
        has_text = has_text or any(lines)
        yield from _cut(lines, [section] * len(lines), number)
    if not has_text:
        raise NoTextError("no_text")


def _bookmarks(reader: PdfReader) -> dict[int, str]:
    found: dict[int, str] = {}

    def take(items: Sequence[object], depth: int) -> None:
        for item in items:
            if isinstance(item, list):
                if depth < 8:
                    take(item, depth + 1)
                continue
            page = reader.get_destination_page_number(item)  # type: ignore[arg-type]
            title = getattr(item, "title", None)
            if page is not None and page >= 0 and title:
                found[page + 1] = str(title)[:_LONGEST_SECTION]

    try:
        take(reader.outline, 0)
    except Exception:
        _logger.info("the bookmarks of a PDF cannot be read", exc_info=True)
    return found
