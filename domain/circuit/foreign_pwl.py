"""LTspice's repeated PWL sources as ngspice's (LTspice help, "V. Voltage Source"; ngspice manual, PWL).

``PWL REPEAT FOREVER (0 0 1u 5 2u 0) ENDREPEAT`` becomes ``PWL(0 0 1u 5 2u 0) r=0``; a number of times is
written out.
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
_MOST_POINTS = 20_000
_STEP = 1e-9
"""Of the period: how far apart the end of one round and the start of the next are where the value jumps."""


def repeated_points(raw: str) -> str:
    """A source with its repetition in ngspice's form; as it is where that cannot be said."""
    match = _REPEAT.search(raw)
    if match is None:
        return raw
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


def _points(text: str) -> list[tuple[float, str]]:
    """Times in seconds, a signed one counted from the one before, and values as written; [] where a time is
    no number or goes back."""
    words = re.split(r"[\s,]+", text.strip())
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
