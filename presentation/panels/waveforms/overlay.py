"""What stands over the curves of a plot and keeps its place in their coordinates: levels, labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from PyQt6.QtCore import QPointF
from PyQt6.QtWidgets import QGraphicsView

from presentation.panels.waveforms.panes import Pane
from presentation.panels.waveforms.traces import Axis
from presentation.ui.theme import Theme
from shared.message import Message


class Overlay(Protocol):
    """One kind of them."""

    def use(self, theme: Theme) -> None: ...

    def place(self) -> None:
        """The plot shows another part, or has another size."""


class OverlaidPlot(Protocol):
    """The plot they stand over."""

    @property
    def view(self) -> QGraphicsView: ...

    @property
    def panes(self) -> Sequence[Pane]: ...

    @property
    def axis(self) -> Axis | None: ...

    def say(self, message: Message) -> str:
        """A message in the language in force."""

    def place_of(self, expression: str, sample: int) -> tuple[Pane, QPointF] | None:
        """Pane and place in the scene of a trace's sample; None where it is out of sight."""
