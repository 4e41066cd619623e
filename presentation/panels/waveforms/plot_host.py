"""What hands and menus of a plot need of the panel around it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, Protocol

from PyQt6.QtWidgets import QWidget

from application.project.window_state import CircuitView
from domain.simulation.waveform import Plot
from presentation.panels.waveforms.beside.pair import CurvesAndBeside
from presentation.panels.waveforms.chips import ChipRow
from presentation.panels.waveforms.plot_tools import PlotTools
from presentation.ui.frame import IconButton

if TYPE_CHECKING:
    from presentation.panels.waveforms.beside.drawing import BesideKind
    from presentation.panels.waveforms.plot_area import PlotArea
    from presentation.panels.waveforms.pull_quantities import PullQuantities
    from presentation.panels.waveforms.traces import Axis, Trace


class PlotHost(Protocol):
    """The panel."""

    tools: PlotTools
    chips: ChipRow
    cursor_button: IconButton
    beside: CurvesAndBeside
    pulls: PullQuantities

    @property
    def widget(self) -> QWidget:
        """The panel itself, over which menus stand."""

    @property
    def area(self) -> PlotArea | None:
        """The drawing; None until the first result is there."""

    @property
    def traces(self) -> Sequence[Trace]: ...

    @property
    def has_drawing(self) -> bool:
        """Whether curves are shown, and not a table or words."""

    @property
    def axis(self) -> Axis | None:
        """Of the drawing; None while there is none."""

    @property
    def axis_unit(self) -> str: ...

    @property
    def selected(self) -> str | None:
        """The expression of the trace that is drawn stronger."""

    def make_goal(self, expression: str) -> None:
        """Offer what an expression measures as a goal of the shown circuit."""

    @property
    def view(self) -> CircuitView:
        """How the shown circuit is looked at, to be changed in place."""

    @property
    def analysis(self) -> str:
        """The kind that is shown; "" while there is none."""

    @property
    def plot(self) -> Plot | None: ...

    def plots_of(self, expression: str) -> Sequence[Plot]:
        """What an expression is evaluated on: the shown plot, and the runs it may name."""

    def choose_trace(self, expression: str) -> None:
        """Draw a trace stronger than the others."""

    def draw(self, *, keep_view: bool) -> None:
        """Draw the traces as they are now; with `keep_view` a range that somebody chose stays."""

    def show_chips(self) -> None:
        """Those of the traces."""

    def draw_again(self) -> None:
        """The look of the plot is another."""

    def draw_as_kept(self) -> None:
        """How the circuit is looked at was changed as a whole: draw it so."""

    def add_trace(self, expression: str) -> None: ...

    def show_in_text(self, expression: str) -> None:
        """Show where what it plots stands in the circuit."""

    def remove_trace(self, expression: str) -> None: ...

    def replace_trace(self, old: str, new: str) -> None: ...

    def keep_traces(self, expressions: Sequence[str]) -> None:
        """Remove all others."""

    def draw_expressions(self, expressions: Sequence[str]) -> None:
        """Draw just these, in this order."""

    def put_cursor(self, name: Literal["a", "b"], place: float) -> None:
        """Show a cursor at a place of the axis (its coordinate)."""

    def named_with_analysis(self, expression: str) -> str:
        """An expression as it is measured."""

    def measure(self, expression: str) -> None: ...

    def draw_beside(self, kind: BesideKind, expression: str) -> None:
        """Choose a trace, and draw this of it beside the curves."""

    def copy_plot(self) -> None: ...

    def copy_values(self, expression: str) -> None: ...
