"""Finding and replacing in one text: plain words or regular expressions, in bytes as the editor counts.

Qt's engine (PCRE2) is used, because it gives up on a pattern that would run for ever.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from PyQt6.QtCore import QRegularExpression, QRegularExpressionMatch

from shared.message import Message, msg

MOST_MATCHES = 20_000
"""More are not listed; the count then says "more than"."""


_ALL_LINE_ENDS = "(*ANYCRLF)"
"""Tells PCRE2 that CR and CR LF end a line too: ``k$`` finds the k before either."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What to look for."""

    text: str
    match_case: bool = False
    whole_word: bool = False
    is_regex: bool = False


@dataclass(frozen=True, slots=True)
class Match:
    """One place, in bytes of the UTF-8 text, with what stands there."""

    start: int
    end: int
    groups: tuple[str, ...]
    """The whole match, then what its parentheses caught."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The outcome of a search."""

    matches: tuple[Match, ...] = ()
    problem: Message | None = None
    """Why the expression cannot be used."""

    @property
    def is_cut(self) -> bool:
        return len(self.matches) >= MOST_MATCHES


def find_all(text: str, query: Query) -> Found:
    """All places of `query` in `text`, in order, without those of no length."""
    if not query.text:
        return Found()
    expression = _expression(query)
    if not expression.isValid():
        return Found(
            problem=msg(
                "The expression is not complete: {reason} (character {place}).",
                reason=expression.errorString(),
                place=max(expression.patternErrorOffset() - expression.pattern().index(query.text), 0) + 1,
            )
        )
    return Found(matches=tuple(_matches(text, expression)))


def replacement_of(match: Match, replacement: str, query: Query) -> str:
    r"""What to put in the place of `match`: in expressions ``\1`` or ``$1`` are its groups, ``\n`` a line."""
    if not query.is_regex:
        return replacement

    def expanded(found: re.Match[str]) -> str:
        token = found.group()
        if token[1].isdigit():
            number = int(token[1])
            return match.groups[number] if number < len(match.groups) else ""
        return {"n": "\n", "t": "\t", "\\": "\\", "$": "$"}[token[1]]

    return re.sub(r"\\[0-9nt\\$]|\$[0-9]", expanded, replacement)


def _expression(query: Query) -> QRegularExpression:
    pattern = query.text if query.is_regex else QRegularExpression.escape(query.text)
    if query.whole_word:
        pattern = rf"(?<!\w)(?:{pattern})(?!\w)"
    options = QRegularExpression.PatternOption.MultilineOption
    if not query.match_case:
        options |= QRegularExpression.PatternOption.CaseInsensitiveOption
    return QRegularExpression(_ALL_LINE_ENDS + pattern, options)


def _matches(text: str, expression: QRegularExpression) -> Iterator[Match]:
    found = _raw_matches(text, expression)
    if text.isascii():
        for item in found:
            yield Match(item.capturedStart(), item.capturedEnd(), tuple(item.capturedTexts()))
        return
    units = text.encode("utf-16-le", "surrogatepass")
    at_unit = at_byte = 0
    for item in found:
        start = at_byte + _utf8_size(units, at_unit, item.capturedStart())
        end = start + _utf8_size(units, item.capturedStart(), item.capturedEnd())
        at_unit, at_byte = item.capturedEnd(), end
        yield Match(start, end, tuple(item.capturedTexts()))


def _raw_matches(text: str, expression: QRegularExpression) -> Iterator[QRegularExpressionMatch]:
    iterator, count = expression.globalMatch(text), 0
    while iterator.hasNext() and count < MOST_MATCHES:
        item = iterator.next()
        if item.capturedLength() > 0:
            count += 1
            yield item


def _utf8_size(units: bytes, start: int, end: int) -> int:
    return len(units[2 * start : 2 * end].decode("utf-16-le", "replace").encode())


_PIECE = 250_000
"""Bytes searched at once: some milliseconds."""
_OVERLAP = 20_000
"""Bytes a match may go on behind its piece."""


def find_in_pieces(data: bytes, query: Query) -> Iterator[Found]:
    """The matches of one piece of a UTF-8 text after the other, each once.

    One that goes on for more than `_OVERLAP` behind its piece may be missed.
    """
    at = done = 0
    while at < len(data):
        end = _line_end(data, at + _PIECE)
        found = find_all(data[at : _line_end(data, end + _OVERLAP)].decode("utf-8", "replace"), query)
        matches = tuple(
            Match(each.start + at, each.end + at, each.groups)
            for each in found.matches
            if done <= each.start + at < end
        )
        done = matches[-1].end if matches else done
        yield Found(matches=matches, problem=found.problem)
        at = end


def _line_end(data: bytes, at: int) -> int:
    """The beginning of the next line behind a byte."""
    if at >= len(data):
        return len(data)
    found = data.find(b"\n", at)
    return len(data) if found < 0 else found + 1
