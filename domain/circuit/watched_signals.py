"""What the cards of a circuit show (`.print`, `.plot`, `.probe`), and what they ask of (`.four`, `.meas`)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from domain.circuit.cards import Measure
from domain.circuit.control_blocks import PlottedCurves
from domain.circuit.statements import Statement
from shared.late_patterns import late_pattern

SHOWING = ("print", "plot", "probe")
_MOST, _LONGEST = 64, 200
"""Signals of an analysis, and characters of one; a plot has room for a few."""
_ANALYSES = frozenset(("tran", "ac", "dc", "noise", "disto", "sp"))
_SIGNAL = late_pattern(r"(?<!\w)(?P<function>[a-z]\w*)\s*(?P<given>\([^()]+\))", re.IGNORECASE)
_NOISE = late_pattern(r"(?<![\w(])([io]noise)\b(?:\s*\([^()]*\))?", re.IGNORECASE)
_PART_OF = late_pattern(r"([vi])(?:m|p|r|i|db)?", re.IGNORECASE)
"""SPICE2's parts of a phasor: ``vm(3)``, ``vdb(3)``, ``ip(v1)``."""
_TERMINAL = late_pattern(r"i[a-z]{1,2}", re.IGNORECASE)


def shown_curves(cards: Sequence[Statement]) -> tuple[PlottedCurves, ...]:
    """What `.print`, `.plot` and `.probe` cards name, all of an analysis together."""
    found: dict[str, list[str]] = {}
    for card in cards:
        _, *words = card.text.split(maxsplit=1)
        text = words[0] if words else ""
        kind, _, rest = text.partition(" ")
        analysis = kind.lower() if kind.lower() in _ANALYSES else ""
        if not analysis and card.keyword != "probe":
            continue
        found.setdefault(analysis, []).extend(_signals(rest if analysis else text, analysis))
    return _curves(found)


def asked_curves(fouriers: Sequence[Statement], measures: Sequence[Measure]) -> tuple[PlottedCurves, ...]:
    """What `.four` and `.meas` cards are about, all of an analysis together."""
    found: dict[str, list[str]] = {}
    for card in fouriers:
        found.setdefault("tran", []).extend(_signals(card.text, "tran"))
    for measure in measures:
        found.setdefault(measure.analysis, []).extend(_signals(measure.text, measure.analysis))
    return _curves(found)


def _signals(text: str, analysis: str) -> Iterator[str]:
    if analysis == "noise":
        yield from (f"{name.lower()}_spectrum" for name in _NOISE.findall(text))
        return
    for match in _SIGNAL.finditer(text):
        function, given = match["function"].lower(), "".join(match["given"].split())
        if len(given) > _LONGEST:
            continue
        if part := _PART_OF.fullmatch(function):
            yield part[1].lower() + given
        elif _TERMINAL.fullmatch(function):
            yield function + given


def _curves(found: dict[str, list[str]]) -> tuple[PlottedCurves, ...]:
    return tuple(
        PlottedCurves(analysis=analysis, expressions=tuple(dict.fromkeys(expressions))[:_MOST])
        for analysis, expressions in found.items()
        if expressions
    )
