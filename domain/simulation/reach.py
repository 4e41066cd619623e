"""How far an analysis came that ended before its end, in words too: "stopped at 3.2 ms of 10 ms"."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from domain.circuit.analyses import Analysis, frequency_range
from domain.circuit.figures import with_unit
from domain.circuit.numbers import parse_number
from shared.message import Message, msg

_NEARLY = 1 - 1e-6
"""ngspice's last point may miss the end by rounding."""
_OVER_FREQUENCY = ("ac", "noise", "disto", "sp")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """The last place of an analysis's axis that has a point."""

    analysis: str
    """tran, ac, dc ..."""
    at: float
    """s, Hz, V, A or degC, by `unit`."""
    of: float | None
    """Where it was to end; None when that is not known (an expression, two cards of the kind)."""
    unit: str

    @property
    def share(self) -> float | None:
        """0..1 of a course in time; None where it is not known. Of a sweep in decades it says little."""
        return self.at / self.of if self.analysis == "tran" and self.of else None

    @property
    def figures(self) -> tuple[str, str]:
        """As people write them: ``("3.2 ms", "10 ms")``; the second "" when the end is not known."""
        return with_unit(self.at, self.unit), "" if self.of is None else with_unit(self.of, self.unit)


def ends_of(analyses: Sequence[Analysis]) -> dict[str, tuple[float, float]]:
    """Where the axis of each kind of analysis begins and ends, as far as its card says it in numbers.

    A kind with several cards, and a nested sweep, have no one end and are left out.
    """
    kinds = [analysis.kind for analysis in analyses]
    found: dict[str, tuple[float, float]] = {}
    for analysis in analyses:
        ends = _ends(analysis)
        if ends is not None and kinds.count(analysis.kind) == 1:
            found[analysis.kind] = ends
    return found


def _ends(analysis: Analysis) -> tuple[float, float] | None:
    if analysis.kind in _OVER_FREQUENCY:
        swept = frequency_range(analysis.text)
        if swept is None or swept[1] is None or swept[2] is None:
            return None
        return swept[1], swept[2]
    words = analysis.text.lower().replace(",", " ").split()
    try:
        if analysis.kind == "tran" and len(words) > 2:
            start = parse_number(words[3]) if len(words) > 3 and words[3] != "uic" else 0.0
            return start, parse_number(words[2])
        if analysis.kind == "dc" and len(words) == 5:
            return parse_number(words[2]), parse_number(words[3])
    except ValueError:  # an expression
        pass
    return None


def reach_of(analysis: str, at: float, unit: str, ends: Mapping[str, tuple[float, float]]) -> Reach | None:
    """How far an analysis came whose last point is at `at`; None when that is its end."""
    if not math.isfinite(at):
        return None
    known = ends.get(analysis)
    if known is None:
        return Reach(analysis=analysis, at=at, of=None, unit=unit)
    start, stop = known
    if stop == start or (at - start) / (stop - start) >= _NEARLY:
        return None
    return Reach(analysis=analysis, at=at, of=stop, unit=unit)


def reach_words(reach: Reach, status: str) -> Message:
    """Where a run of this status ended: ``stopped at 3.2 ms of 10 ms``."""
    at, of = reach.figures
    if status == "cancelled":
        if not of:
            return msg("stopped at {at}", at=at)
        return msg("stopped at {at} of {of}", at=at, of=of)
    if status == "timeout":
        if not of:
            return msg("timed out at {at}", at=at)
        return msg("timed out at {at} of {of}", at=at, of=of)
    if not of:
        return msg("ended at {at}", at=at)
    return msg("ended at {at} of {of}", at=at, of=of)


def reach_to_plain(reach: Reach | None) -> dict[str, Any] | None:
    """For JSON."""
    if reach is None:
        return None
    return {"analysis": reach.analysis, "at": reach.at, "of": reach.of, "unit": reach.unit}


def reach_from_plain(plain: object) -> Reach | None:
    """What `reach_to_plain` made; None for anything else."""
    if not isinstance(plain, dict):
        return None
    at, of = plain.get("at"), plain.get("of")
    if not isinstance(at, int | float) or not isinstance(of, int | float | None):
        return None
    return Reach(
        analysis=str(plain.get("analysis", "")),
        at=float(at),
        of=None if of is None else float(of),
        unit=str(plain.get("unit", "")),
    )
