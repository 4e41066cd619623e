"""A text with what is said of it: problems, changes, places of a search, figures behind its lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from presentation.panels.editor.byte_text import ByteText
from presentation.panels.editor.examination import Problem
from presentation.panels.editor.overlay import BARS, SQUIGGLES, LineBar, LineHint, Note, Overlay, OverviewBar
from presentation.panels.editor.spice_lexer import SpiceLexer
from presentation.ui.parts import once_after
from presentation.ui.workspace import WindowServices
from shared.message import Message

ERROR, WARNING, BULB, CHANGED, PUT_IN = range(5)
"""Markers."""
SIGNS = {
    ERROR: ("circle-x", "error.icon"),
    WARNING: ("triangle-alert", "warn.icon"),
    BULB: ("lightbulb", "warn.icon"),
}
"""Icon and color of those that are a sign beside a line."""
MATCH = 11
"""Indicator of the places of a search."""
GLOW = 13
"""Indicator of what somebody pointed at elsewhere."""
_GLOW_MS = 2000
TAKEN_OUT = 60
"""Style of lines that are no longer there; those of the languages lie below."""
_MOST_REMOVED = 20
"""Of them that are shown at one place."""


class ChangedPlace(NamedTuple):
    """Lines a model has put into the text, and those that stood there before."""

    line: int
    """The first one, from 1; of removed lines alone the one they stood before."""
    added: tuple[str, ...]
    removed: tuple[str, ...]


class MarkedText(ByteText):
    """Shows what it is told; what the marks look like is `editor_look`."""

    def __init__(self, services: WindowServices, *, is_spice: bool, has_title: bool) -> None:
        super().__init__()
        self._services = services
        self._problems: tuple[Problem, ...] = ()
        self._overlay = Overlay(self)
        self._overview = OverviewBar(services)
        self._lexer = SpiceLexer(self, has_title=has_title) if is_spice else None
        self.replaceVerticalScrollBar(self._overview)
        self._glowing = once_after(self, _GLOW_MS, lambda: self.glow(()))

    def show_problems(self, problems: Sequence[Problem], models: frozenset[str]) -> None:
        """Squiggles, margin, overview and hover for the problems of this text."""
        self._problems = tuple(problem for problem in problems if problem.end > problem.start)
        if self._lexer is not None:
            self._lexer.set_models(models)
        for indicator in SQUIGGLES.values():
            self.ask(self.SCI_SETINDICATORCURRENT, indicator)
            self.ask(self.SCI_INDICATORCLEARRANGE, 0, self.byte_length())
        for marker in SIGNS:
            self.markerDeleteAll(marker)
        for problem in self._problems:
            self.ask(self.SCI_SETINDICATORCURRENT, SQUIGGLES[problem.severity])
            self.ask(self.SCI_INDICATORFILLRANGE, problem.start, problem.end - problem.start)
        for line, marker in self._margin_symbols().items():
            self.markerAdd(line, marker)
        self._refresh_overview()
        self.refresh_note()

    def show_changes(self, changed: Sequence[tuple[int, int]]) -> None:
        """The bar beside changed lines (first and last from 1)."""
        self.markerDeleteAll(CHANGED)
        for first, last in changed:
            for line in range(first - 1, min(last, self.lines())):
                self.markerAdd(line, CHANGED)
        self._overview.set_changes(changed, self.lines())

    def show_places(self, places: Sequence[ChangedPlace]) -> None:
        """What models changed: lines put in have a ground, those taken out stand above their place."""
        self.markerDeleteAll(PUT_IN)
        self.ask(self.SCI_ANNOTATIONCLEARALL)
        for place in places:
            for line in range(place.line - 1, min(place.line - 1 + len(place.added), self.lines())):
                self.markerAdd(line, PUT_IN)
            if place.removed:
                shown = "\n".join(f"- {text}" for text in place.removed[:_MOST_REMOVED])
                shown += "\n- …" if len(place.removed) > _MOST_REMOVED else ""
                above = max(place.line - 2, 0)
                self.SendScintilla(self.SCI_ANNOTATIONSETTEXT, above, shown.encode())
                self.ask(self.SCI_ANNOTATIONSETSTYLE, above, TAKEN_OUT)
        self.ask(
            self.SCI_ANNOTATIONSETVISIBLE, self.ANNOTATION_STANDARD if places else self.ANNOTATION_HIDDEN
        )

    def show_matches(self, matches: Sequence[tuple[int, int]]) -> None:
        """Mark the places of a search, in bytes."""
        self.ask(self.SCI_SETINDICATORCURRENT, MATCH)
        self.ask(self.SCI_INDICATORCLEARRANGE, 0, self.byte_length())
        for start, end in matches:
            self.ask(self.SCI_INDICATORFILLRANGE, start, end - start)

    def problem_at_caret(self) -> Problem | None:
        """The problem of the caret's line: one with a fix first, then the worst."""
        return next(iter(self.problems_of_line()), None)

    def problems_of_line(self) -> list[Problem]:
        """Those of the caret's line: with a fix first, then the worst."""
        line = self.getCursorPosition()[0]
        here = [p for p in self._problems if self.line_of(p.start) == line]
        order = {"error": 0, "warning": 1, "info": 2}
        return sorted(here, key=lambda p: (p.fix is None, order[p.severity], p.start))

    def problems_at(self, position: int) -> list[Message]:
        """What is wrong at a byte."""
        return [problem.message for problem in self._problems if problem.start <= position < problem.end]

    def _margin_symbols(self) -> dict[int, int]:
        symbols: dict[int, int] = {}
        for problem in self._problems:
            line = self.line_of(problem.start)
            wanted = ERROR if problem.severity == "error" else BULB if problem.fix else WARNING
            if problem.severity != "info" or problem.fix is not None:
                symbols[line] = min(symbols.get(line, wanted), wanted, key=(ERROR, BULB, WARNING).index)
        return symbols

    def _refresh_overview(self) -> None:
        marks = [(self.line_of(p.start) + 1, p.severity) for p in self._problems if p.severity != "info"]
        self._overview.set_problems(marks, self.lines())

    def refresh_note(self) -> None:
        problem, language = self.problem_at_caret(), self._services.language
        self._overlay.note = None
        if problem is not None and problem.fix is not None:
            self._overlay.note = Note(problem, language(problem.fix.reason), language(problem.fix.title))
        viewport = self.viewport()
        if viewport is not None:
            viewport.update()

    def show_hints(self, hints: Mapping[int, LineHint], *, is_stale: bool = False) -> None:
        """Figures behind lines (from 0)."""
        if hints or self._overlay.hints:
            self._overlay.hints, self._overlay.are_hints_stale = hints, is_stale
            self.update_view()

    def show_bars(self, bars: Mapping[int, LineBar], *, width: int) -> None:
        """What lines (from 0) do to a goal, in a margin so wide; none takes the margin away."""
        self._overlay.bars, self._overlay.are_bars_stale = bars, False
        self.setMarginWidth(BARS, width if bars else 0)
        self.update_view()

    def mark_bars(self) -> None:
        """The bars are of an older text."""
        if self._overlay.bars and not self._overlay.are_bars_stale:
            self._overlay.are_bars_stale = True
            self.update_view()

    @property
    def bars(self) -> Mapping[int, LineBar]:
        """What stands in that margin."""
        return self._overlay.bars

    @property
    def are_bars_stale(self) -> bool:
        """Whether that is of an older text."""
        return self._overlay.are_bars_stale

    def mark_hints(self) -> None:
        """The figures behind the lines are of an older text."""
        self._overlay.are_hints_stale = True
        self.update_view()

    @property
    def hints(self) -> Mapping[int, LineHint]:
        """What stands behind the lines."""
        return self._overlay.hints

    @property
    def are_hints_stale(self) -> bool:
        """Whether that is of an older text."""
        return self._overlay.are_hints_stale

    def glow(self, places: Sequence[tuple[int, int]]) -> None:
        """Have some pieces of the text (bytes) stand out for two seconds."""
        self.ask(self.SCI_SETINDICATORCURRENT, GLOW)
        self.ask(self.SCI_INDICATORCLEARRANGE, 0, self.length())
        for start, end in places:
            self.ask(self.SCI_INDICATORFILLRANGE, start, end - start)
        if places:
            self._glowing.start()

    def update_view(self) -> None:
        viewport = self.viewport()
        if viewport is not None:
            viewport.update()
