"""What was done in a plot, step by step: zooms, traces, panes and cursors, each is undone by itself. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Literal

Part = Literal["zoom", "traces", "panes", "cursors"]
_MOST = 200
"""Steps that are kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlotState:
    """How a plot is looked at."""

    zoom: Mapping[str, tuple[float, float]]
    """As `PlotArea.zoom`; {} shows everything."""
    traces: tuple[str, ...]
    """Expressions."""
    panes: Mapping[str, int | str]
    """Of expressions that do not stand where they usually do: the number of their pane, or the name of the
    one at whose right axis they stand."""
    cursors: tuple[float, float] | None
    """Places of A and B on the axis, SI; None while they are hidden."""


@dataclass(frozen=True, slots=True)
class Step:
    """One part of the state that became another."""

    part: Part
    before: PlotState
    after: PlotState


class PlotHistory:
    """Notes what is another since it last looked; gives the steps back one by one."""

    def __init__(self) -> None:
        self._known: PlotState | None = None
        self._done: list[Step] = []
        self._undone: list[Step] = []

    def begin(self, now: PlotState | None) -> None:
        """Another plot: what was done in the one before is not undone in it."""
        self._known = now
        self._done.clear()
        self._undone.clear()

    def look(self, now: PlotState) -> set[Part]:
        """Note what has changed since the last look as a step for each part; returns which parts have."""
        known, self._known = self._known, now
        changed: set[Part] = set()
        if known is None:
            return changed
        for part in _PARTS:
            if not _is_same(part, known, now):
                self._done.append(Step(part, known, now))
                self._undone.clear()
                changed.add(part)
        del self._done[:-_MOST]
        return changed

    def take(self, now: PlotState) -> None:
        """The same plot with other data: what is another by itself is no step."""
        self._known = now

    def undo(self, part: Part | None = None) -> Step | None:
        """The last step (of one part), which is undone from now on; None when there is none."""
        return self._moved(self._done, self._undone, part)

    def redo(self) -> Step | None:
        """The step that was undone last."""
        return self._moved(self._undone, self._done, None)

    def can_undo(self, part: Part | None = None) -> bool:
        return any(part in (None, step.part) for step in self._done)

    def _moved(self, source: list[Step], target: list[Step], part: Part | None) -> Step | None:
        for number in range(len(source) - 1, -1, -1):
            if part in (None, source[number].part):
                step = source.pop(number)
                target.append(step)
                return step
        return None


_PARTS: tuple[Part, ...] = ("traces", "panes", "zoom", "cursors")
assert {each.name for each in fields(PlotState)} == set(_PARTS)


_EXACTNESS = 1e-6
"""Of a range: what drawing it again may move it by."""


def _is_same(part: Part, one: PlotState, other: PlotState) -> bool:
    if part == "panes":  # a trace that came or went is a step of the traces
        both = {*one.traces} & {*other.traces}
        return all(one.panes.get(each) == other.panes.get(each) for each in both)
    if part != "zoom":
        return bool(getattr(one, part) == getattr(other, part))
    keys = one.zoom.keys() & other.zoom.keys()
    # A pane that came or went with its traces is no zoom.
    if (one.traces, one.panes) == (other.traces, other.panes) and keys != one.zoom.keys() | other.zoom.keys():
        return False
    return all(_is_close(one.zoom[key], other.zoom[key]) for key in keys)


def _is_close(one: tuple[float, float], other: tuple[float, float]) -> bool:
    least = _EXACTNESS * max(one[1] - one[0], other[1] - other[0])
    return all(abs(each - its) <= least for each, its in zip(one, other, strict=True))
