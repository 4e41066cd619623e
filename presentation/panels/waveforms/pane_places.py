"""Where the panes of a plot stand: below each other, frames above each other, right axes behind them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from PyQt6.QtCore import QRectF

from presentation.panels.waveforms.panes import Pane

_ROOM_FOR_FLAGS = 18
_MARGIN = 4
_GAP = 10
_STEP = 8
"""Widths grow in steps, so that panning does not make the frames tremble."""


class PanePlaces:
    """Of one plot."""

    def __init__(self) -> None:
        self._left = 0.0
        self._rights: dict[Pane, float] = {}
        """How wide the labels are: of all left axes, and of each right one."""

    def measure(self, panes: Sequence[Pane]) -> None:
        """Ask the axes how much room their labels need now."""
        self._left = _wide(pane for pane in panes if not pane.is_right)
        self._rights = {pane: _wide([pane]) for pane in panes if pane.is_right}

    def place(self, panes: Sequence[Pane], whole: QRectF, factor: float) -> None:
        """Below each other; a phase gets less height than its gain."""
        rows = [[pane] for pane in panes if not pane.is_right]
        at = -1
        for pane in panes:
            if pane.is_right:
                rows[at].append(pane)
            else:
                at += 1
        if not rows:
            return
        beyond = max(sum(self._rights.get(pane, 0.0) for pane in row[1:]) for row in rows)
        left = self._left + _MARGIN
        right = whole.width() - (beyond + _MARGIN if beyond else 3 * _MARGIN)
        top = _ROOM_FOR_FLAGS * factor + _MARGIN
        bottom = whole.height() - panes[-1].across.label_height() - _MARGIN
        parts = [3 if number and row[0].kind.unit == "deg" else 5 for number, row in enumerate(rows)]
        room = max(bottom - top - _GAP * (len(parts) - 1), 1.0)
        for row, part in zip(rows, parts, strict=True):
            height = max(room * part / sum(parts), 1.0)
            frame = QRectF(left, round(top), max(right - left, 1.0), round(height))
            row[0].place(frame, self._left)
            away = 0.0
            for pane in row[1:]:
                wide = self._rights.get(pane, 0.0)
                pane.place(frame, wide, away)
                away += wide
            top += height + _GAP


def _wide(panes: Iterable[Pane]) -> float:
    return _STEP * math.ceil(max((pane.upward.wanted_width() for pane in panes), default=0.0) / _STEP)
