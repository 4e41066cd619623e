"""The lines of a netlist as ngspice sees them, without losing a byte.

A netlist is read through a Latin-1 view (one character is one byte), because everything that gives a
netlist its structure is ASCII; texts for people are decoded with the file's real encoding. Every field
of a statement knows the bytes it came from, also when it lies on a continuation line.

The rules were tried on ngspice 39: the first line is the title, unless it includes a file; `+` goes on with
the last card over blank and comment lines; `*` begins a comment, as does any of
``$ ; = [ ] ? ( ) & % " ! : ,`` in the first column; `;` and `//` end a card anywhere, `$` only after a blank,
tab or comma, unless it begins a net as PSpice and LTspice name it (`$N_0001`, `$G_vdd`), whose circuits
ngspice reads without such comments; a line that ends in ``\\\\`` goes on in the next; text after `.end` is
read like any other.
"""

from __future__ import annotations

import bisect
import codecs
import itertools
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal, NamedTuple

from shared.late_patterns import late_pattern

StatementKind = Literal["title", "element", "directive", "control", "unknown"]
"""Unknown: the line begins with a character no card begins with."""

_COMMENT_STARTS = frozenset('*$;=[]?()&%"!:,\f')
_BRACKETS = frozenset("(),")
_INCLUDED_TITLE = late_pattern(
    r"""\.(?:inc|lib[ \t]+(?:"[^"]*"|'[^']*'|[^\s"']+)[ \t]+[^\s$;])""", re.IGNORECASE | re.ASCII
)
"""A first line that ngspice follows nevertheless: `.include`, or `.lib` with a section, at its very start."""
_FIELD = late_pattern(r"""\{|'|"|[=(),]|[^\s=(),{'"]+|\}""", re.ASCII)
_NET_OF_PSPICE = late_pattern(r"\$[NGD]_\w", re.IGNORECASE | re.ASCII)
BLANKS = " \t\r\n\f\v"
"""What separates words. In the Latin-1 view other \"spaces\" are bytes of letters: 入 is E5 85 A5."""
_ALIASES = {
    "inc": "include",
    "measure": "meas",
    "macro": "subckt",
    "eom": "ends",
    "option": "options",
    "opt": "options",
    "params": "param",
    "parameter": "param",
    "parameters": "param",
    "fourier": "four",
}


class Line(NamedTuple):
    """A physical line: byte offsets of its start, of the end of its text, and of the next line."""

    start: int
    end: int
    next: int


class Chunk(NamedTuple):
    """A piece of a card that lies on one physical line."""

    text_start: int
    """Index of the piece in the joined text."""
    start: int
    """Byte offset of the piece in the file."""
    length: int
    line: int


class Field:
    """One word of a statement: a name, number, ``{expression}``, quoted text or one of ``= ( ) ,``."""

    __slots__ = ("_statement", "end", "start", "text")

    def __init__(self, statement: Statement, text: str, start: int, end: int) -> None:
        self._statement = statement
        self.text = text
        """As written, decoded; lines of a broken field are joined by a blank."""
        self.start = start
        """Where it stands in the statement's joined text."""
        self.end = end

    def __repr__(self) -> str:
        return f"Field({self.text!r}, line {self.line})"

    @property
    def line(self) -> int:
        """1-based line of its first character."""
        return self._statement.place_of(self.start)[0]

    @property
    def column(self) -> int:
        """1-based column of its first character, in characters."""
        return self._statement.place_of(self.start)[1]

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """Its bytes in the file, a span a physical line."""
        return self._statement.span_of(self.start, self.end)

    @property
    def key(self) -> str:
        """The text folded for comparison, as SPICE compares."""
        return self.text.lower()

    @property
    def is_punctuation(self) -> bool:
        """One of ``= ( ) ,``."""
        return len(self.text) == 1 and self.text in "=(),"

    def part(self, text: str) -> Field:
        """A piece of the field, at the place of the whole (a name inside ``[a ~b]``)."""
        return Field(self._statement, text, self.start, self.end)


class Branch(NamedTuple):
    """An arm of an `.if`: which `.if` (by its line) and the how-manieth arm."""

    if_line: int
    arm: int


class Statement:
    """One card with its continuation lines, comments taken away."""

    __slots__ = (
        "_fields",
        "_source",
        "branches",
        "chunks",
        "keyword",
        "kind",
        "last_line",
        "line",
        "raw",
        "scope",
        "section",
    )

    def __init__(self, source: Source, kind: StatementKind, chunks: tuple[Chunk, ...], raw: str) -> None:
        self._source = source
        self._fields: tuple[Field, ...] | None = None
        self.kind = kind
        self.chunks = chunks
        self.raw = raw
        """The joined card in the Latin-1 view; blanks stand for the line ends and `+` signs."""
        self.line = chunks[0].line
        self.last_line = chunks[-1].line
        self.keyword = _keyword(kind, raw)
        """Lower case: the element's letter, or the directive without its dot (inc -> include and so on)."""
        self.scope: tuple[str, ...] = ()
        """Names of the enclosing subcircuits, outermost first, lower case."""
        self.section: str | None = None
        """Lower-case name of the enclosing library section (`.lib name` ... `.endl`)."""
        self.branches: tuple[Branch, ...] = ()
        """The `.if` arms around it, outermost first."""

    def __repr__(self) -> str:
        return f"Statement({self.kind}, line {self.line}, {self.raw!r})"

    @property
    def text(self) -> str:
        return self._source.decode(self.raw)

    @property
    def source(self) -> Source:
        """The file it stands in."""
        return self._source

    @property
    def column(self) -> int:
        """1-based column of its first character."""
        return self._source.column(self.chunks[0].line, self.chunks[0].start)

    @property
    def comment(self) -> str:
        """What its first line has behind the card, in the Latin-1 view: "" or from `$`, `;` or `//` on."""
        line = self._source.line_text(self.line)
        return line[comment_start(line) :] if self.kind in ("element", "directive") else ""

    @property
    def fields(self) -> tuple[Field, ...]:
        """Its words in order; the first is the element's name or the directive with its dot."""
        if self._fields is None:
            self._fields = tuple(self._split())
        return self._fields

    @property
    def words(self) -> tuple[Field, ...]:
        """The fields without ``( ) ,``."""
        return tuple(field for field in self.fields if field.text not in _BRACKETS)

    def span_of(self, start: int, end: int) -> tuple[tuple[int, int], ...]:
        """The bytes of `raw[start:end]` in the file, a span a physical line."""
        spans = []
        begin = bisect.bisect_right(self.chunks, start, key=lambda chunk: chunk.text_start)
        for index in range(max(begin - 1, 0), len(self.chunks)):
            chunk = self.chunks[index]
            if chunk.text_start >= end:
                break
            first = max(start, chunk.text_start)
            last = min(end, chunk.text_start + chunk.length)
            if first < last:
                offset = chunk.start - chunk.text_start
                spans.append((first + offset, last + offset))
        return tuple(spans)

    def place_of(self, index: int) -> tuple[int, int]:
        """Line and column (1-based) of a character of `raw`."""
        found = bisect.bisect_right(self.chunks, index, key=lambda chunk: chunk.text_start)
        chunk = self.chunks[max(found - 1, 0)]
        at = chunk.start + min(max(index - chunk.text_start, 0), chunk.length)
        return chunk.line, self._source.column(chunk.line, at)

    def field(self, start: int, end: int) -> Field:
        """The piece `raw[start:end]` as one field (an expression that runs over several words)."""
        return Field(self, self._source.decode(self.raw[start:end]), start, end)

    def head(self, count: int) -> tuple[Field, ...]:
        """The first `count` words without ``( ) ,``; cheap for long cards."""
        words = (field for field in self._fields or self._split() if field.text not in _BRACKETS)
        return tuple(itertools.islice(words, count))

    def _split(self) -> list[Field]:
        raw = self.raw
        if raw.isascii():  # nearly every card: nothing has to be decoded
            return [Field(self, raw[start:end], start, end) for start, end in _words_of(raw)]
        return [self.field(start, end) for start, end in _words_of(raw)]


@lru_cache(maxsize=20_000)
def _words_of(raw: str) -> tuple[tuple[int, int], ...]:
    """Where each word of a card begins and ends. Kept: a netlist is read again at each keystroke, and nearly
    all of its cards are those of the last time."""
    if not _has_opener(raw):
        return tuple(word.span() for word in _FIELD.finditer(raw))
    found: list[tuple[int, int]] = []
    position = 0
    while match := _FIELD.search(raw, position):
        start, opener = match.start(), match.group()
        if opener == "{":
            position = closing_brace(raw, start)
        elif opener in {"'", '"'}:
            closing = raw.find(opener, start + 1)
            position = len(raw.rstrip(BLANKS)) if closing < 0 else closing + 1
        else:
            position = match.end()
        found.append((start, position))
    return tuple(found)


def _has_opener(raw: str) -> bool:
    return "{" in raw or "'" in raw or '"' in raw


def closing_brace(text: str, start: int) -> int:
    """Index after the brace that closes the one at `start`; the end of the text when none does."""
    depth = 0
    for index in range(start, len(text)):
        if text[index] == "{":
            depth += 1
        elif text[index] == "}":
            depth -= 1
            if depth == 0:
                return index + 1
    return len(text.rstrip(BLANKS))


def _keyword(kind: StatementKind, raw: str) -> str:
    if kind == "element":
        return raw[0].lower()
    if kind != "directive":
        return ""
    word = re.split(r"[\s=(,]", raw[1:], maxsplit=1, flags=re.ASCII)[0].lower()
    for prefix, name in (("inc", "include"), ("opt", "options"), ("para", "param")):
        if word.startswith(prefix):  # ngspice compares only the beginning of these
            return name
    return _ALIASES.get(word, word)


class Source:
    """A file's bytes, its encoding, and its physical lines."""

    __slots__ = ("_starts", "data", "encoding", "lines", "view")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.encoding = _encoding_of(data)
        self.view = data.decode("latin-1")
        self.lines = _physical_lines(data)

    def decode(self, raw: str) -> str:
        """A piece of the Latin-1 view as people read it."""
        if raw.isascii():
            return raw
        encoding = "utf-8" if self.encoding == "utf-8-sig" else self.encoding
        return raw.encode("latin-1").decode(encoding, errors="replace")

    def column(self, line: int, offset: int) -> int:
        """1-based column, in characters, of a byte offset on a 1-based line."""
        start = self.lines[line - 1].start
        return len(self.decode(self.view[start:offset])) + 1

    def line_text(self, line: int) -> str:
        """A physical line without its end, in the Latin-1 view."""
        found = self.lines[line - 1]
        return self.view[found.start : found.end]


def _encoding_of(data: bytes) -> str:
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if data.startswith(codecs.BOM_UTF8):
        return "utf-8-sig"
    for encoding in ("utf-8", "gbk"):
        try:
            data.decode(encoding)
        except UnicodeDecodeError:
            continue
        return encoding
    return "latin-1"


def _physical_lines(data: bytes) -> tuple[Line, ...]:
    """Lines as ngspice counts them: ended by LF; by CR only in a file that has no LF at all."""
    end_mark = b"\r" if b"\n" not in data and b"\r" in data else b"\n"
    lines, start = [], 3 if data.startswith(codecs.BOM_UTF8) else 0
    while start < len(data):
        found = data.find(end_mark, start)
        next_start = len(data) if found < 0 else found + 1
        end = len(data) if found < 0 else found
        if end > start and data[end - 1 : end] == b"\r":
            end -= 1
        lines.append(Line(start, end, next_start))
        start = next_start
    return tuple(lines)


def comment_start(text: str) -> int:
    """Index where an inline comment begins in a card's line, or its length."""
    if ";" not in text and "$" not in text and "//" not in text:
        return len(text)
    is_library = text[:4].lower() == ".lib"  # ngspice opens libraries before it takes comments away
    for index, character in enumerate(text):
        if character == ";" or (character == "/" and not is_library and text.startswith("//", index)):
            return index
        if character != "$" or index == 0 or text[index - 1] not in " \t,":
            continue
        if _NET_OF_PSPICE.match(text, index) is None:
            return index
    return len(text)


DEEPEST = 100
"""Levels of `.subckt` (and of `.if`) inside each other that are told apart; what lies deeper counts as of the
last one. No circuit has ten."""


def read_statements(source: Source, *, has_title: bool) -> tuple[Statement, ...]:
    """All cards of a file in order, with scopes, sections and `.if` arms filled in."""
    statements = list(_cards(source, has_title=has_title))
    _place(statements)
    return tuple(statements)


class _Pending:
    """A card being put together."""

    def __init__(self, kind: StatementKind) -> None:
        self.kind = kind
        self.chunks: list[Chunk] = []
        self._parts: list[str] = []
        self._length = 0

    def add(self, text: str, start: int, line: int) -> None:
        self.chunks.append(Chunk(self._length, start, len(text), line))
        self._parts.append(text)
        self._length += len(text) + 1  # a blank stands between them

    @property
    def raw(self) -> str:
        return " ".join(self._parts)


def _cards(source: Source, *, has_title: bool) -> Iterator[Statement]:
    pending: _Pending | None = None
    in_control = goes_on = False
    for number, line in enumerate(source.lines, start=1):
        text = source.view[line.start : line.end]
        body = text.lstrip(" \t\r\f\v\0")
        offset = line.start + len(text) - len(body)
        if number == 1 and has_title and not _INCLUDED_TITLE.match(text):
            yield _single(source, "title", text, line.start, number)
            continue
        lowered = body[:9].lower()
        in_control = in_control or lowered.startswith(".control")
        if in_control or body.startswith("*#"):
            yield from _finished(source, pending)
            pending = None
            if body and (not body.startswith("*") or body.startswith("*#")):
                yield _single(source, "control", body.rstrip(BLANKS), offset, number)
            in_control = in_control and not lowered.startswith(".endc")
            continue
        if not body or (body[0] in _COMMENT_STARTS and not goes_on) or body.startswith("//"):
            continue
        continues = goes_on or body[0] == "+"
        if body[0] == "+":
            body, offset = body[1:], offset + 1
        card = body[: comment_start(body)].rstrip(" \t\r\0")
        goes_on = card.endswith("\\\\")
        card = card[:-2].rstrip(" \t") if goes_on else card
        if continues and pending is not None:
            pending.add(card, offset, number)
        elif not continues:
            yield from _finished(source, pending)
            pending = _Pending(_kind_of(card))
            pending.add(card, offset, number)
    yield from _finished(source, pending)


def _single(source: Source, kind: StatementKind, text: str, start: int, line: int) -> Statement:
    return Statement(source, kind, (Chunk(0, start, len(text), line),), text)


def _finished(source: Source, pending: _Pending | None) -> Iterator[Statement]:
    if pending is not None:
        yield Statement(source, pending.kind, tuple(pending.chunks), pending.raw)


def _kind_of(card: str) -> StatementKind:
    if card.startswith("."):
        return "directive"
    return "element" if card[:1].isascii() and card[:1].isalpha() else "unknown"


def _place(statements: list[Statement]) -> None:
    """Fill in scope, section and branches. `.subckt` and `.ends` stand in the scope around them."""
    scope: tuple[str, ...] = ()
    section: str | None = None
    branches: tuple[Branch, ...] = ()
    too_deep = {"subckt": 0, "if": 0}
    for statement in statements:
        keyword = statement.keyword if statement.kind == "directive" else ""
        if opened := {"ends": "subckt", "endif": "if"}.get(keyword):
            if too_deep[opened]:
                too_deep[opened] -= 1
            elif opened == "subckt":
                scope = scope[:-1]
            else:
                branches = branches[:-1]
        elif keyword in {"else", "elseif"} and branches:
            branches = (*branches[:-1], Branch(branches[-1].if_line, branches[-1].arm + 1))
        statement.scope, statement.section, statement.branches = scope, section, branches
        if len(scope if keyword == "subckt" else branches) >= DEEPEST and keyword in too_deep:
            too_deep[keyword] += 1
        elif keyword == "subckt":
            name = statement.head(2)[1].key if len(statement.head(2)) > 1 else ""
            scope = (*scope, name)
        elif keyword == "if":
            branches = (*branches, Branch(statement.line, 0))
        elif keyword == "lib" and len(statement.words) == 2:
            section = unquoted(statement.words[1].text).lower()
        elif keyword == "endl":
            section = None


def unquoted(text: str) -> str:
    """A field without the quotes around it."""
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]
    return text.strip("'\"") if text[:1] in {"'", '"'} else text
