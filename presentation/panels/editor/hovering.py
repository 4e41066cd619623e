"""What happens when the pointer rests in a text: its card is computed off the loop and shown."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from PyQt6.QtCore import QEvent, QObject, QPoint
from PyQt6.QtGui import QMouseEvent

from domain.circuit.completion import Facts
from domain.circuit.probing import Meant, probe_of
from domain.simulation.description import Amount, Description, Row, describe
from presentation.panels.editor.code_editor import CodeEditor
from presentation.panels.editor.hover_card import HoverCard
from presentation.panels.editor.newest_point import NewestPoint
from presentation.ui.workspace import WindowServices
from shared.message import msg

_LEAVING = frozenset(
    {QEvent.Type.KeyPress, QEvent.Type.Wheel, QEvent.Type.FocusOut, QEvent.Type.Leave, QEvent.Type.Hide}
)
_OF_SPAN = frozenset({"Minimum", "Maximum", "RMS"})
"""Of the figures of a span those that a card has room for."""


class Hovering(QObject):
    """The cards of one editor."""

    def __init__(
        self,
        services: WindowServices,
        editor: CodeEditor,
        file: Callable[[], Path],
        facts: Callable[[], Facts | None],
        newest: NewestPoint,
    ) -> None:
        """`facts`: what is known of the circuit; None while it is of another text."""
        super().__init__(editor)
        self._services = services
        self._editor = editor
        self._file = file
        self._facts = facts
        self._newest = newest
        self._card: HoverCard | None = None
        self._request = 0
        editor.rested.connect(self._on_rested)
        editor.installEventFilter(self)
        viewport = editor.viewport()
        if viewport is not None:
            viewport.installEventFilter(self)

    @property
    def shown(self) -> str:
        """The words of the card that is shown, "" without one."""
        return self._card.text if self._card is not None and self._card.isVisible() else ""

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:  # noqa: N802 - Qt's name
        """The card goes with the next key, and when the pointer goes away."""
        if event is not None and event.type() in _LEAVING:
            self._leave(None)
        elif isinstance(event, QMouseEvent):
            is_move = event.type() == QEvent.Type.MouseMove
            self._leave(event.globalPosition().toPoint() if is_move else None)
        return super().eventFilter(watched, event)

    def _leave(self, place: QPoint | None) -> None:
        if place is None:
            self._request += 1
        if self._card is not None:
            self._card.leave(place)

    def _on_rested(self, position: int, place: QPoint) -> None:
        self._request += 1
        place = QPoint(place.x(), max(place.y(), self._bottom_of(position)))  # what is right below stays seen
        self._services.start(self._show(position, place, self._request), kind="look up name")

    def _bottom_of(self, position: int) -> int:
        """The lower end of the line of a byte on the screen, without the last quarter."""
        editor = self._editor
        line = editor.line_of(position)
        y = editor.ask(editor.SCI_POINTYFROMPOSITION, 0, position)
        viewport = editor.viewport() or editor
        return viewport.mapToGlobal(QPoint(0, y + editor.ask(editor.SCI_TEXTHEIGHT, line) * 3 // 4)).y()

    async def _show(self, position: int, place: QPoint, request: int) -> None:
        facts, editor = self._facts(), self._editor
        card = None
        if facts is not None and facts.names is not None:
            observed = await self._newest.of(self._file())
            card = await asyncio.to_thread(describe, facts, position, observed)
            card = None if card is None else await self._with_span(card, facts, position)
        problems = editor.problems_at(position)
        window = editor.window()
        if request != self._request or window is None or not (card or problems):
            return
        if self._card is None:
            self._card = HoverCard(self._services, window)
            self.destroyed.connect(self._card.deleteLater)
        self._card.show_at(place, problems, card)

    async def _with_span(self, card: Description, facts: Facts, position: int) -> Description:
        """The card of what can be plotted, with what it comes to in the part of the plot that is seen."""
        seen = self._services.workspace.seen
        expression = None if seen is None else await asyncio.to_thread(_expression, facts, position)
        if seen is None or expression is None:
            return card
        rows = [
            Row(msg("{figure} of the shown span", figure=figure.name), "", Amount(figure.value, figure.unit))
            for figure in await seen.figures(self._file(), expression)
            if figure.name.template in _OF_SPAN
        ]
        return card._replace(rows=(*card.rows, *rows))


def _expression(facts: Facts, position: int) -> str | None:
    """What plots the node or element that stands at a byte."""
    names = facts.names
    place = None if names is None else names.at(facts.file, position)
    if names is None or place is None or place.name.kind not in ("node", "element"):
        return None
    probe = probe_of(names, Meant(place.owner, place.name.text, place.name.kind == "node"))
    return None if probe is None else probe.usual
