"""LTspice's PWL and PULSE sources as ngspice's (LTspice help, "V. Voltage Source"; ngspice manual, both).

``PWL REPEAT FOREVER (0 0 1u 5 2u 0) ENDREPEAT`` becomes ``PWL(0 0 1u 5 2u 0) r=0``; a number of times is
written out. ``PWL file=points.txt`` gets the points of the file, ``wavefile=voice.wav`` its samples. Edges
and widths of 0 s in a PULSE, which ngspice takes for a time step and for the whole run, get what LTspice
makes of them; so does a width that an expression may bring to 0 s.
"""

from __future__ import annotations

import io
import re
from bisect import bisect_left
from operator import itemgetter

from domain.circuit.numbers import read_number
from domain.circuit.parameters import ExpressionError, parse_expression
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
_WAVE = late_pattern(
    r"\bwavefile\s*=\s*(?:\"(?P<quoted>[^\"]+)\"|'(?P<single>[^']+)'|(?P<bare>[^\s()]+))", re.IGNORECASE
)
_CHANNEL = late_pattern(r"(?<!\s)\s++chan\s*=\s*(?P<number>\d{1,5})(?=\s|$)", re.IGNORECASE)
_PULSE = late_pattern(
    r"\bpulse\s*+\(?\s*+(?P<values>(?:\{[^{}]*\}|[-+.\d][^\s,(){}=]*)"
    r"(?:(?:\s*,\s*|\s+|(?=\{))(?:\{[^{}]*\}|[-+.\d][^\s,(){}=]*))*)",
    re.IGNORECASE,
)
_NODES = late_pattern(r"\s*(?:\S+\s+){0,3}")
"""A source's name and nodes."""
_NUMBERS = late_pattern(r"\{[^{}]*\}|[^\s,{}]+")
_EDGE, _LEAST = 0.1, 1e-6
"""What LTspice makes of an edge of 0 s: of the shorter of pulse and pause, and where there is none of them of
the period or, without a period, of the stop time (measured on its results for published sheets)."""
_MOST_POINTS, _MOST_OF_FILE = 20_000, 200_000
MOST_BYTES_OF_POINTS = 4_000_000
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
    match = _FILE.search(raw) or _WAVE.search(raw)
    return None if match is None else (match["quoted"] or match["single"] or match["bare"]).replace("\\", "/")


def with_points(raw: str, text: str, stop: float | None) -> str | None:
    """The source with the points of its file, times and values in turn, or the samples of a wave file, full
    scale as 1 V, both up to the stop time (s); None where these are no points or too many."""
    if (match := _WAVE.search(raw)) is not None:
        channel = _CHANNEL.search(raw)
        samples = _samples(text.encode("latin-1"), int(channel["number"]) if channel is not None else 0, stop)
        rest = _CHANNEL.sub("", raw[match.end() :])
        return f"{raw[: match.start()]}PWL({samples}){rest}" if samples else None
    match = _FILE.search(raw)
    points = _points(_COMMENT.sub("", text))
    if stop is not None:  # and the first one behind it
        points = points[: 1 + bisect_left(points, stop, key=itemgetter(0))]
    if match is None or not points or len(points) > _MOST_OF_FILE:
        return None
    if any(read_number(value) is None for _, value in points):
        return None
    return f"{raw[: match.start()]}PWL({_written(points)}){raw[match.end() :]}"


def has_points(text: str) -> bool:
    """Whether it is a table of points that a source can get."""
    return with_points("V1 a 0 PWL file=points", text, None) is not None


def _samples(data: bytes, channel: int, stop: float | None) -> str:
    """Times and values of one channel of a wave file of whole numbers; "" where it cannot be read."""
    import wave  # few circuits play one

    try:
        with wave.open(io.BytesIO(data)) as file:
            rate, width, channels = file.getframerate(), file.getsampwidth(), file.getnchannels()
            count = file.getnframes() if stop is None else min(file.getnframes(), int(stop * rate) + 2)
            if rate <= 0 or channel >= channels or count > _MOST_OF_FILE:
                return ""
            frames = file.readframes(count)
    except (wave.Error, EOFError, OverflowError):
        return ""
    full = 1 << 8 * width - 1
    found = []
    for start in range(channel * width, len(frames) - width + 1, channels * width):
        sample = int.from_bytes(frames[start : start + width], "little", signed=width > 1)
        found.append((sample if width > 1 else sample - full) / full)
    return " ".join(f"{place / rate:.10g} {value:.9g}" for place, value in enumerate(found))


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


def with_edges(raw: str, stop: float | None) -> str:
    """A PULSE source whose edges and width of 0 s last as long as LTspice's; `stop` is the stop time (s)."""
    head = _NODES.match(raw)
    match = None if head is None else _PULSE.search(raw, head.end())  # a node may be called Pulse1
    values = _NUMBERS.findall(match["values"]) if match is not None else []
    if match is None or len(values) < 2:
        return raw
    words = [*values, "0", "0", "0"] if len(values) < 5 else values[:]
    rise, fall, width, period = [*words[3:7], "0", "0"][:4]
    if _is_zero(period):
        least = "" if stop is None else f"{stop * _LEAST:.6g}"
    else:
        least = _computed(f"{_LEAST}*({_bare(period)})")
    may_be_zero = width.startswith("{") and not _is_zero(period)
    if not least or not (may_be_zero or any(map(_is_zero, (rise, fall, *words[5:6])))):
        return raw
    for place, other in ((3, fall), (4, rise)):
        if _is_zero(words[place]):
            pause = f"({_bare(period)})-({_bare(width)})-({_bare(other)})"
            shorter = f"{_EDGE}*min({_bare(width)},{pause})"
            words[place] = least if _is_zero(period) else _computed(f"max({shorter},{_bare(least)})")
    if _is_zero(width) and not _is_zero(period):  # without a period it stays up, as it does in ngspice
        words[5] = least
    elif may_be_zero:
        words[5] = f"{{(({_bare(width)})>0?({_bare(width)}):{_bare(least)})}}"
    words = words[: max(len(values), 5)]
    return f"{raw[: match.start('values')]}{' '.join(words)}{raw[match.end('values') :]}"


def _is_zero(word: str) -> bool:
    number = None if word.startswith("{") else read_number(word)
    return number is not None and number.value == 0


def _bare(word: str) -> str:
    return word[1:-1] if word.startswith("{") else word


def _computed(expression: str) -> str:
    """Its value, or in braces where that is only known later."""
    try:
        return f"{parse_expression(expression).evaluate({}):.6g}"
    except ExpressionError:
        return f"{{{expression}}}"
