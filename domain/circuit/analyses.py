"""Analysis cards: which there are, what each needs, and which sweeps are empty."""

from __future__ import annotations

import re
from typing import NamedTuple

from domain.circuit.elements import is_value
from domain.circuit.numbers import parse_number, with_ascii_micro
from shared.errors import UserInputError
from shared.message import msg

ANALYSIS_KINDS = frozenset({"op", "dc", "ac", "tran", "noise", "tf", "sens", "pz", "disto", "sp", "pss"})

_ANALYSIS_SHAPES: dict[str, tuple[str, str]] = {
    "op": (r"op", "op"),
    "dc": (r"dc(\s+\S+){4}((\s+\S+){4})*", "dc V1 0 5 0.1"),
    "ac": (r"ac\s+(dec|oct|lin)(\s+\S+){3}", "ac dec 20 1 10meg"),
    "tran": (r"tran(\s+\S+){2,4}(\s+uic)?", "tran 1u 10m"),
    "noise": (r"noise\s+v\s*\([^)]*\)\s*\S+\s+(dec|oct|lin)(\s+\S+){3,4}", "noise v(out) V1 dec 10 1 1meg"),
    "tf": (r"tf\s+[vi]\s*\([^)]*\)\s*\S+", "tf v(out) V1"),
    "sens": (r"sens\s+[vi]\s*\([^)]*\)(\s+ac\s+(dec|oct|lin)(\s+\S+){3}|\s+dc)?", "sens v(out)"),
    "pz": (r"pz(\s+\S+){4}\s+(cur|vol)\s+(pol|zer|pz)", "pz in 0 out 0 vol pz"),
    "disto": (r"disto\s+(dec|oct|lin)(\s+\S+){3,4}", "disto dec 10 1k 1meg"),
    "sp": (r"sp\s+(dec|oct|lin)(\s+\S+){3}(\s+\S+)?", "sp dec 10 1meg 1g"),
    "pss": (r"pss(\s+\S+){6,8}(\s+uic)?", "pss 1meg 1u out 1024 10 50 5m"),
}
_NUMERIC_FIELDS = {"ac": (2, 5), "tran": (1, 3), "disto": (2, 5), "sp": (2, 5), "dc": (2, 5)}


class Analysis(NamedTuple):
    """One analysis card of a deck."""

    kind: str
    """Lower case without the dot: op, dc, ac, tran, noise, tf, sens, pz, four, disto ..."""
    text: str
    """The card without its dot, as written: ``ac dec 20 1 10meg``."""
    line: int
    """1-based line of the card in its file; 0 when it came from a request instead of a file."""


_SWEEPS = frozenset({"dec", "oct", "lin"})


def _fields(text: str) -> list[str]:
    """The card's words; expressions count as one word, commas outside parentheses as blanks."""
    text = re.sub(r"\{[^{}]*\}|'[^']*'", "{}", text)
    return re.sub(r",(?![^(]*\))", " ", text).split()


def analysis_problem(text: str) -> str | None:
    """None when an analysis card (without its dot) has the right shape, else an example of a right one."""
    fields = _fields(text)
    kind = fields[0].lower()
    pattern, example = _ANALYSIS_SHAPES[kind]
    if not re.fullmatch(pattern, " ".join(fields), re.IGNORECASE):
        return example
    first, last = _NUMERIC_FIELDS.get(kind, (0, 0))
    return None if all(is_value(word) for word in fields[first:last]) else example


def _number(text: str) -> float | None:
    try:
        return parse_number(text)
    except ValueError:
        return None  # an expression: nothing is known of it here


def frequency_range(text: str) -> tuple[str, float | None, float | None] | None:
    """Kind of sweep (dec, oct, lin), start and stop frequency (Hz) of an analysis card that has them."""
    fields = _fields(text)
    for index, word in enumerate(fields[:-3]):
        if word.lower() in _SWEEPS:
            return word.lower(), _number(fields[index + 2]), _number(fields[index + 3])
    return None


def has_empty_frequency_range(text: str) -> bool:
    """A sweep ngspice 39 refuses or ends without a point: falling, from 0 Hz, or of one point in dec."""
    found = frequency_range(text)
    if found is None:
        return False
    sweep, start, stop = found
    if start is None or stop is None:
        return False
    return stop < start or (sweep != "lin" and (start <= 0 or start == stop))


def has_empty_sweep(text: str) -> bool:
    """A `.tran` without time or step, or a `.dc` whose step leads nowhere (ngspice 39 hangs on step 0)."""
    fields = _fields(text)
    kind = fields[0].lower()
    if kind == "tran":
        step, stop = _number(fields[1]), _number(fields[2])
        start = _number(fields[3]) if len(fields) > 3 else None
        no_time = stop is not None and (stop <= 0 or (start is not None and start >= stop))
        return no_time or (step is not None and step <= 0)
    if kind == "dc":
        first, second = fields[2:5], fields[6:9]
        return _leads_nowhere(first) or (bool(second) and _number(second[2]) == 0)
    return False


def has_idle_sweep(text: str) -> bool:
    """A second sweep of `.dc` whose step leads away from its stop: ngspice 39 makes its first point only."""
    fields = _fields(text)
    second = fields[6:9] if fields[0].lower() == "dc" else []
    return len(second) == 3 and _number(second[2]) != 0 and _leads_nowhere(second)


def _leads_nowhere(sweep: list[str]) -> bool:
    start, stop, step = (_number(word) for word in sweep)
    if step == 0:
        return True
    return None not in (start, stop, step) and (stop - start) * step < 0  # type: ignore[operator]


def checked_analysis(card: str) -> str:
    """The card with its dot. Raises UserInputError for what is no complete, sensible analysis."""
    text = with_ascii_micro(card).strip().removeprefix(".").strip()
    kind = text.split(None, 1)[0].lower() if text else ""
    if kind not in ANALYSIS_KINDS or "\n" in text or "\r" in text:
        raise UserInputError(
            msg("“{text}” is not an analysis ngspice knows.", text=card.strip()),
            advice=msg("Write one such as {examples}.", examples="op, ac dec 20 1 10meg, tran 1u 10m"),
        )
    example = analysis_problem(text)
    if example is not None:
        raise UserInputError(
            msg("“{text}” is not a complete {kind} analysis.", text=text, kind=kind),
            advice=msg("Write it like {example}.", example=example),
        )
    if has_empty_sweep(text) or has_empty_frequency_range(text):
        raise UserInputError(
            msg("The sweep of “{text}” has no points.", text=text),
            advice=msg("Check its start, stop and step; note that M is milli and Meg is mega."),
        )
    return "." + text
