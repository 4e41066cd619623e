"""What is told of the element or net under a resting pointer: the card the editor shows of the same name."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from PyQt6.QtCore import QEvent, QObject, QPoint
from PyQt6.QtGui import QMouseEvent
from PyQt6.QtWidgets import QToolTip

from domain.circuit.circuit_names import Meaning
from domain.circuit.elements import canonical_node
from domain.simulation.description import Description, describe_named
from presentation.panels.editor.hover_card import HoverCard
from presentation.panels.schematic.hit import Hit

if TYPE_CHECKING:
    from pathlib import Path

    from presentation.panels.editor.editor_area import EditorArea
    from presentation.panels.schematic.canvas import SchematicCanvas
    from presentation.ui.workspace import WindowServices

_LEAVING = frozenset(
    {
        QEvent.Type.KeyPress, QEvent.Type.Wheel, QEvent.Type.FocusOut, QEvent.Type.Leave, QEvent.Type.Hide,
        QEvent.Type.MouseButtonPress,
    }
)  # fmt: skip


class SchematicHovering(QObject):
    """The cards of one drawing."""

    def __init__(
        self,
        services: WindowServices,
        canvas: SchematicCanvas,
        editor: EditorArea,
        circuit: Callable[[], Path | None],
    ) -> None:
        super().__init__(canvas)
        self._services, self._canvas, self._editor = services, canvas, editor
        self._circuit = circuit
        self._card: HoverCard | None = None
        self._request = 0
        canvas.rested.connect(self._on_rested)
        canvas.installEventFilter(self)

    @property
    def shown(self) -> str:
        """The words of the card that is shown, "" without one."""
        return self._card.text if self._card is not None and self._card.isVisible() else ""

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:  # noqa: N802 - Qt's name
        if event is not None and event.type() in _LEAVING:
            self._request += 1
            self._leave(None)
        elif isinstance(event, QMouseEvent):
            self._leave(event.globalPosition().toPoint())
        return super().eventFilter(watched, event)

    def _leave(self, place: QPoint | None) -> None:
        if self._card is not None:
            self._card.leave(place)

    def _on_rested(self, element: str, net: str, place: QPoint) -> None:
        self._request += 1
        self._services.start(self._show(Hit(element, net), place, self._request), kind="look up name")

    async def _show(self, hit: Hit, place: QPoint, request: int) -> None:
        circuit = self._circuit()
        card = None if circuit is None else await self._described(hit, circuit)
        window = self._canvas.window()
        if request != self._request or window is None:
            return
        if card is None:
            symbol = self._canvas.symbol_of(hit.element)
            QToolTip.showText(place, symbol.hint if symbol is not None else hit.net, self._canvas)
            return
        if self._card is None:
            self._card = HoverCard(self._services, window)
            self.destroyed.connect(self._card.deleteLater)
        self._card.show_at(place, (), card)

    async def _described(self, hit: Hit, circuit: Path) -> Description | None:
        """What the circuit's text tells; while it is being read, and of a file that is not open, the line
        alone is told."""
        page, drawing = self._editor.page_of(circuit), self._canvas.drawing
        names = None if page is None or page.facts is None else page.facts.names
        if names is None or drawing is None:
            return None
        symbol = self._canvas.symbol_of(hit.element) or next(
            (each for each in drawing.symbols if each.line), None
        )
        if symbol is None:
            return None
        scope = names.scope_at(symbol.file or circuit, symbol.line)
        meaning = (
            Meaning("element", hit.element.lower(), scope)
            if hit.element
            else Meaning("node", canonical_node(hit.net), scope)
        )
        observed = await self._editor.newest.of(circuit)
        return await asyncio.to_thread(describe_named, names, meaning, observed)
