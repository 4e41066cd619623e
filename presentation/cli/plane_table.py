"""A map of two values for people: the plane in letters, and where its goals have the most margin."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from application.studies.mapping import node_of
from domain.circuit.numbers import format_number
from domain.studies.study import MapFindings, StudyResult
from domain.studies.value_map import CELLS, FINER, MapAxis, Samples, deciding, excess
from presentation.json_output import Output
from shared.message import msg

_ACROSS, _UP = 4, 8
"""Cells of the plane for a letter."""
_MET, _MISSED, _PRESENT = "#", ".", "O"


def print_plane(result: StudyResult, found: MapFindings, out: Output) -> None:
    """The plane with the second value upward, its share, the best run."""
    for line in _letters(result, found):
        out.row(line)
    x, y = found.axes
    out.say(msg("Across: {name} from {low} to {high}; upward: {other} from {bottom} to {top}.",
                name=x.name, low=format_number(x.low, 4), high=format_number(x.high, 4),
                other=y.name, bottom=format_number(y.low, 4), top=format_number(y.high, 4)))  # fmt: skip
    out.say(msg("{met} all goals are met, {missed} some are missed, {present} the circuit as written.",
                met=_MET, missed=_MISSED, present=_PRESENT))  # fmt: skip
    if result.goals and result.rows:
        out.say(msg("All goals are met on {share} of the map.", share=f"{100 * found.share_met:.1f} %"))
    best = next((row for row in result.rows if row.run == found.best_run), None)
    if best is not None:
        values = ", ".join(f"{name} = {format_number(value, 6)}" for name, value in best.parameters.items())
        out.say(msg("The largest margin is at {values} (run {number}).", values=values, number=best.run))
    out.line()


def _letters(result: StudyResult, found: MapFindings) -> Iterator[str]:
    samples = Samples(result.units)
    for row in result.rows:
        node = node_of(found.axes, row.parameters)
        if node is not None:
            samples.add(node, row.metrics)
    good = excess(samples, deciding(result.goals))[:: _UP * FINER, :: _ACROSS * FINER] <= 0
    letters = np.where(good, _MET, _MISSED)
    nominal = {} if result.nominal is None else result.nominal.parameters
    across, up = (_place(axis, nominal.get(axis.name)) for axis in found.axes)
    if across is not None and up is not None:
        letters[round(up / _UP), round(across / _ACROSS)] = _PRESENT
    yield from ("".join(line) for line in letters[::-1])


def _place(axis: MapAxis, value: float | None) -> float | None:
    """Cells from the low end; None beside the plane."""
    share = None if value is None else axis.share(value)
    return share * CELLS if share is not None and 0 <= share <= 1 else None
