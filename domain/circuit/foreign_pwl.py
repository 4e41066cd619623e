"""LTspice's repeated PWL sources as ngspice's (LTspice help, "V. Voltage Source"; ngspice manual, PWL).

``PWL REPEAT FOREVER (0 0 1u 5 2u 0) ENDREPEAT`` becomes ``PWL(0 0 1u 5 2u 0) r=0``; a number of times is
written out. ``PWL file=points.txt`` gets the points of the file.
"""

from __future__ import annotations

import re

from domain.circuit.numbers import read_number
from shared.late_patterns import late_pattern

_REPEAT = late_pattern(
    r"\bpwl\s*\(?\s*repeat\s+(?:(?P<forever>forever)|for\s+(?P<times>\d{1,4}))\s*\((?P<points>[^()]*)\)\s*"
    r"endrepeat(?:\s*\))?",
    re.IGNORECASE,
)
_FILE = late_pattern(
    r"\bpwl\s*\(?\s*file\s*=\s*(?:\"(?P<quoted>[^\"]+)\"|'(?P<single>[^']+)'|(?P<bare>[^\s()]+))(?:\s*\))?",
    re.IGNORECASE,
)
_NUMBERS = late_pattern(r"\{[^{}]*\}|[^\s,{}]+")
_MOST_POINTS, _MOST_OF_FILE = 20_000, 100_000
_STEP = 1e-9
"""Of the period: how far apart the end of one round and the start of the next are where the value jumps."""


def repeated_points(raw: str) -> str:
    """A source with its repetition in ngspice's form; as it is where that cannot be said."""
    match = _REPEAT.search(raw)
    if match is None:
        return raw
    words = _NUMBERS.findall(match["points"])
    has_expressions = any(word.startswith("{") for word in words[::2])
    if has_expressions and match["forever"] and len(words) % 2 == 0 and words[0] == "0":
        return f"{raw[: match.start()]}PWL({' '.join(words)}) r=0{raw[match.end() :]}"
    points = _points(match["points"])
    if not points or points[0][0] != 0 or points[-1][0] <= 0:
        return raw
    if match["forever"]:
        new = f"PWL({_written(points)}) r=0"
    else:
        rounds = int(match["times"])
        if rounds < 1 or rounds * len(points) > _MOST_POINTS:
            return raw
        new = f"PWL({_written(_rounds(points, rounds))})"
    return f"{raw[: match.start()]}{new}{raw[match.end() :]}"


def file_of_points(raw: str) -> str | None:
    """The file that a source takes its points from, with slashes; None for a source without one."""
    match = _FILE.search(raw)
    return None if match is None else (match["quoted"] or match["single"] or match["bare"]).replace("\\", "/")


def with_points(raw: str, text: str) -> str | None:
    """The source with the points of its file, times and values in turn; None where these are no points."""
    match = _FILE.search(raw)
    points = _points(_COMMENT.sub("", text))
    if match is None or not points or len(points) > _MOST_OF_FILE:
        return None
    if any(read_number(value) is None for _, value in points):
        return None
    return f"{raw[: match.start()]}PWL({_written(points)}){raw[match.end() :]}"


_COMMENT = late_pattern(r"(?m)^[ \t]*[*;#].*$")


def _points(text: str) -> list[tuple[float, str]]:
    """Times in seconds, a signed one counted from the one before, and values as written; [] where a time is
    no number or goes back."""
    words = _NUMBERS.findall(text)
    if len(words) % 2:
        return []
    found: list[tuple[float, str]] = []
    now = 0.0
    for word, value in zip(words[::2], words[1::2], strict=True):
        number = read_number(word)
        if number is None or word.startswith("{"):
            return []
        time = now + number.value if word.startswith("+") else number.value
        if found and time <= now:
            return []
        now = time
        found.append((now, value))
    return found


def _rounds(points: list[tuple[float, str]], rounds: int) -> list[tuple[float, str]]:
    period = points[-1][0]
    found = list(points)
    for number in range(1, rounds):
        start = number * period
        first = [] if points[0][1] == points[-1][1] else [(start + _STEP * period, points[0][1])]
        found += [*first, *((start + time, value) for time, value in points[1:])]
    return found


def _written(points: list[tuple[float, str]]) -> str:
    return " ".join(f"{time:.15g} {value}" for time, value in points)
