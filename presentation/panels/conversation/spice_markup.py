"""Netlists in an answer, with the colours of the editor."""

from __future__ import annotations

import html
import re

_COMMENT = re.compile(r"(?<!\S)[;$](?=\s|$).*$|(?<=\s);.*$")
_WORD = re.compile(r"\{[^}]*\}|'[^']*'|\"[^\"]*\"|[^\s,=()]+|[\s,=()]+")
_VALUE = re.compile(r"^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?[a-zµ%]*$", re.I)
_KEYWORDS = frozenset(("dc", "ac", "pulse", "sin", "sine", "pwl", "exp", "sffm", "am", "dec", "oct", "lin"))


def highlighted(netlist: str) -> str:
    """A netlist as HTML with ``<span class="s-...">`` for its parts; the text is escaped."""
    return "\n".join(_line(line) for line in netlist.split("\n"))


def _line(line: str) -> str:
    stripped = line.lstrip()
    if stripped.startswith("*"):
        return _span("comment", line)
    found = _COMMENT.search(line)
    code, comment = (line[: found.start()], line[found.start() :]) if found else (line, "")
    is_directive = stripped.startswith(".")
    parts: list[str] = []
    position = 0
    for word in _WORD.findall(code):
        if word.isspace() or word in ",=()":
            parts.append(html.escape(word))
            continue
        parts.append(_word(word, position, is_directive=is_directive))
        position += 1
    return "".join(parts) + (_span("comment", comment) if comment else "")


def _word(word: str, position: int, *, is_directive: bool) -> str:
    if position == 0:
        kind = "directive" if is_directive else "plain" if word.startswith("+") else "element"
    elif word[0] in "'\"":
        kind = "string"
    elif word[0] == "{":
        kind = "param"
    elif word.lower() in _KEYWORDS:
        kind = "directive"
    elif _VALUE.match(word) and (is_directive or position > 2):
        kind = "value"
    else:
        kind = "node"
    return _span(kind, word)


def _span(kind: str, text: str) -> str:
    return f'<span class="s-{kind}">{html.escape(text)}</span>'
