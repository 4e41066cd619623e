"""The lines of a netlist with their columns aligned, and nothing that ngspice reads changed.

In each run of element lines of a kind (blank lines, comments and other cards end it) names, nodes and what
follows stand below each other. Only blanks between words become more or fewer, and those at a line's end go:
titles, comments, directives, quoted texts, expressions, `+` lines and `.control` blocks stay as they are. The
whole is kept as it was where it would be read otherwise (`same_cards`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from domain.circuit.elements import SHAPES
from domain.circuit.netlist import Netlist
from domain.circuit.statements import Statement, comment_start
from shared.late_patterns import late_pattern

_WIDEST = 24
"""Characters of a column beyond which a run is not aligned there: one long name would tear it."""
_ALIKE = dict.fromkeys("rclvid", "two nodes and a value")
"""Lines that are aligned with each other though their letters differ."""
_PIECE = late_pattern(r"""\{[^{}]*\}|'[^']*'|"[^"]*"|[^\s{'"]+|[{'"]""")


def formatted(text: str, *, has_title: bool) -> str:
    """The text with its columns aligned; as it is when that would change how it is read."""
    end = "\n" if "\n" in text or "\r" not in text else "\r"
    ends = [line[len(line.rstrip("\r")) :] if end == "\n" else "" for line in text.split(end)]
    lines = [line[: len(line) - len(tail)] for line, tail in zip(text.split(end), ends, strict=True)]
    netlist = Netlist.parse(text.encode("utf-8", "replace"), has_title=has_title)
    for cards in _runs(netlist):
        aligned = _aligned([lines[card.line - 1] for card in cards])
        for card, line in zip(cards, aligned, strict=True):
            lines[card.line - 1] = line
    first = int(has_title)
    lines[first:] = [line.rstrip(" \t") if not _is_held_over(line) else line for line in lines[first:]]
    new = end.join(line + tail for line, tail in zip(lines, ends, strict=True))
    return (
        new
        if same_cards(netlist, Netlist.parse(new.encode("utf-8", "replace"), has_title=has_title))
        else text
    )


def same_cards(one: Netlist, other: Netlist) -> bool:
    """Whether ngspice reads both alike: the same cards of the same words on the same lines."""
    if len(one.statements) != len(other.statements):
        return False
    return all(_read(a) == _read(b) for a, b in zip(one.statements, other.statements, strict=True))


def _read(card: Statement) -> tuple[object, ...]:
    words = [(field.text, _has_gap(card, index)) for index, field in enumerate(card.fields)]
    is_free = card.kind in ("element", "directive")
    return card.kind, card.line, card.last_line, card.scope, words if is_free else card.raw.rstrip()


def _has_gap(card: Statement, index: int) -> bool:
    """Whether blanks stand before a word of a card."""
    fields = card.fields
    return index > 0 and fields[index].start > fields[index - 1].end


def _is_held_over(line: str) -> bool:
    return line.rstrip().endswith("\\\\")


def _runs(netlist: Netlist) -> Iterator[list[Statement]]:
    """Neighbouring element lines of one letter; one alone needs no column, but single blanks."""
    numbered = list(netlist.statements)

    def key(pair: tuple[int, Statement]) -> tuple[object, ...]:
        place, card = pair
        return (_ALIKE.get(card.keyword, card.keyword), card.kind, card.line - place, card.scope)

    for (_, kind, *_rest), group in groupby(enumerate(numbered), key=key):
        cards = [card for _, card in group]
        if kind == "element" and cards[0].keyword in SHAPES:
            yield cards


def _aligned(lines: Sequence[str]) -> list[str]:
    """The first lines of cards with their words below each other."""
    split = [_split(line) for line in lines]
    columns = max(len(words) for words, _ in split)
    widths = [max((len(w[at]) for w, _ in split if at < len(w)), default=0) for at in range(columns)]
    count = min((len(words) for words, _ in split), default=0)
    indent = lines[0][: len(lines[0]) - len(lines[0].lstrip())]
    made = []
    for words, comment in split:
        padded = [
            word.ljust(widths[at]) if at < count - 1 and widths[at] <= _WIDEST else word
            for at, word in enumerate(words)
        ]
        made.append(indent + " ".join(padded).rstrip() + comment)
    return made


def _split(line: str) -> tuple[list[str], str]:
    """The words of a card's line with what touches them, and its comment with the blanks before it."""
    start = comment_start(line.lstrip()) + len(line) - len(line.lstrip())
    body = line[:start].rstrip()
    words: list[str] = []
    for match in _PIECE.finditer(body):
        touches = match.start() > 0 and not body[match.start() - 1].isspace()
        if touches and words:
            words[-1] += match[0]
        else:
            words.append(match[0])
    comment = line[len(body) :].rstrip()
    return _joined(words), re.sub(r"^[ \t]*(?=[$;/])", "  ", comment)


def _joined(words: Sequence[str]) -> list[str]:
    """Words that belong together as one: ``a = b``, and what stands within parentheses."""
    found: list[str] = []
    depth = 0
    for word in words:
        is_glued = bool(found) and (
            depth > 0 or word.startswith(("=", ")", ",")) or found[-1].endswith(("=", ",", "("))
        )
        if is_glued:
            found[-1] += " " + word
        else:
            found.append(word)
        depth += word.count("(") - word.count(")")
    return found
