"""Twin columns: branches side by side whose transistors share their gates row by row, as of cascodes."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence

from domain.circuit.schematic.parts import TRANSISTORS, Part

Row = tuple[int, int]
"""Left and right transistor."""
_MOST = 6
"""Transistors on one gate line of which couples are sought: more are a bank of sources."""


def twin_rows(
    parts: Sequence[Part],
    drawn: Iterable[int],
    known: Sequence[Row],
    signs: Mapping[str, int],
    reach: Callable[[str], float],
) -> tuple[Row, ...]:
    """Couples of one kind on one gate or base line, each in series with such a couple or with a known row.

    What is above or below a known row stands on the same side; else what leads further stands right.
    """
    lines: dict[tuple[str, str, int], list[int]] = {}
    taken = {at for row in known for at in row}
    for at in drawn:
        part = parts[at]
        if part.kind in TRANSISTORS and part.net("in") not in signs and at not in taken:
            lines.setdefault((part.net("in"), part.kind, part.polarity), []).append(at)
    couples = [
        couple for members in lines.values() if len(members) <= _MOST
        for couple in itertools.combinations(members, 2) if not _meet(*couple, parts, signs)
    ]  # fmt: skip
    found: list[Row] = []
    waiting = list(known)
    seen: set[int] = set()

    def stand_at(row: Row) -> None:
        """All that is above or below a row, and above or below that."""
        for couple in couples:
            if not {*couple} & (seen | {*row}):
                for left, right in (couple, couple[::-1]):
                    if _meet(row[0], left, parts, signs) and _meet(row[1], right, parts, signs):
                        found.append((left, right))
                        seen.update(couple)
                        waiting.append((left, right))
                        break

    def rank(at: int) -> tuple[bool, float, int]:
        """What others copy stands left, what leads further right."""
        is_copied = parts[at].net("in") == parts[at].net("out")
        return not is_copied, reach(parts[at].net("out")), at

    while waiting:
        stand_at(waiting.pop(0))
    for couple in couples:
        first, second = sorted(couple, key=rank)
        if not {*couple} & seen:
            stand_at((first, second))
            if waiting:
                found.append((first, second))
                seen.update(couple)
        while waiting:
            stand_at(waiting.pop(0))
    return tuple(found)


def _meet(one: int, other: int, parts: Sequence[Part], signs: Mapping[str, int]) -> bool:
    """Whether their channels are in series, at a net that is no rail."""
    nets = [{parts[at].net("out"), parts[at].net("com")} - signs.keys() for at in (one, other)]
    return bool(nets[0] & nets[1])
