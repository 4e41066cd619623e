"""The value somebody came to tune, by its key or by dragging its number in the text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from presentation.panels.studies.knob import Knob
from presentation.panels.studies.parameter_row import ParameterRow
from presentation.ui.workspace import DragPhase


@dataclass(slots=True)
class _Drag:
    """A number that a hand moves in the text."""

    quantity: str
    share: float = 0.0
    """Of its slider's length, from where it was."""
    is_held: bool = True
    is_over: bool = False
    """What is still moved counts no more."""
    is_met: bool = False
    """Its slider was there."""
    before: float | None = None
    """What the value was; None where it was the file's, which may be read anew meanwhile."""


@dataclass(frozen=True, slots=True)
class _Visit:
    """What was done for somebody who came for a value."""

    quantity: str
    row: ParameterRow | None
    """Put into the set-up for it."""
    was_live: bool


class ValueAtHand:
    """Leads to its slider, which follows the hand; what was put in for it is taken out where nothing comes
    of it."""

    def __init__(
        self,
        knob: Callable[[str], Knob | None],
        take_out: Callable[[ParameterRow | None, bool], object],
    ) -> None:
        """`knob`: the slider of a quantity in lower case, None where there is none; `take_out`: a row of the
        set-up that is not wanted, and whether the circuit was loaded before."""
        self._knob = knob
        self._take_out = take_out
        self._visit: _Visit | None = None
        self._drag: _Drag | None = None

    @property
    def row(self) -> ParameterRow | None:
        """What was put in for a value whose slider is not there yet."""
        return None if self._visit is None else self._visit.row

    def come(self, quantity: str, row: ParameterRow | None, *, was_live: bool) -> None:
        """Somebody wants the slider of a quantity; `row` was put into the set-up for it."""
        self._visit = _Visit(quantity.lower(), row, was_live)

    def meet(self) -> None:
        """The circuit is loaded: where its slider is there, arrow keys move it, and it goes where the hand
        is."""
        visit, drag = self._visit, self._drag
        knob = None if visit is None else self._knob(visit.quantity)
        if visit is None or knob is None:
            return
        knob.slider.setFocus()
        if drag is None or drag.is_over or drag.quantity != visit.quantity:
            self._visit = None
        else:
            if not drag.is_met:
                drag.is_met, drag.before = True, knob.value if knob.is_changed else None
            self._move(drag, knob)
            if not drag.is_held:
                self._let_go()

    def follow(self, quantity: str, share: float, phase: DragPhase) -> None:
        """The hand has moved the number by a share of the slider's length, let it go or given it up. Until
        the slider is there the last move is remembered."""
        drag = self._drag
        if phase == "taken":
            drag = self._drag = _Drag(quantity.lower())
        if drag is None:
            return
        drag.share, drag.is_held = share, phase in ("taken", "held")
        knob = self._knob(drag.quantity) if drag.is_met and not drag.is_over else None
        if phase == "given up":
            self._give_up(drag, knob)
        elif knob is not None:
            self._move(drag, knob)
        if not drag.is_held and (drag.is_met or drag.is_over):
            self._let_go()

    def refuse(self, *, keeps_row: bool = False) -> None:
        """Its slider does not come: nothing is waited for any more."""
        visit, drag, self._visit = self._visit, self._drag, None
        if drag is not None:
            drag.is_over = True
            if not drag.is_held:
                self._drag = None
        if visit is not None and not keeps_row and not (drag is not None and drag.is_met):
            self._take_out(visit.row, visit.was_live)

    def _move(self, drag: _Drag, knob: Knob) -> None:
        start = knob.written if drag.before is None else drag.before
        knob.hold(knob.slider.nearest(start) + drag.share * knob.slider.maximum())

    def _let_go(self) -> None:
        drag, self._drag, self._visit = self._drag, None, None
        knob = None if drag is None or drag.is_over else self._knob(drag.quantity)
        if knob is not None:
            knob.let_go()

    def _give_up(self, drag: _Drag, knob: Knob | None) -> None:
        """The value is what it was before the hand came."""
        visit, self._visit, drag.is_over = self._visit, None, True
        if knob is not None:
            knob.let_go(knob.written if drag.before is None else drag.before)
        if visit is not None and drag.before is None:
            self._take_out(visit.row, visit.was_live)
