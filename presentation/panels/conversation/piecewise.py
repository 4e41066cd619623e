"""A change of a file piece by piece, on its card: what became of each piece, and one taken back alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from presentation.panels.conversation.items import ItemList, OperationCard
from presentation.panels.conversation.window import Window
from presentation.panels.conversation.words import unsaved, with_advice
from shared.errors import CircuitAIError
from shared.message import msg

if TYPE_CHECKING:
    from application.groups.project import Project


class Piecewise:
    """Of the cards of one conversation. `tell` when a card is another."""

    def __init__(self, project: Project, items: ItemList, window: Window, tell: Callable[[], None]) -> None:
        self._project = project
        self._items = items
        self._window = window
        self._tell = tell

    def look(self, root: Path, key: str) -> None:
        """Show the pieces of a card's change, with what can be done about each."""
        self._window.start(self._look(root, key), kind="operations")

    def turn(self, root: Path, key: str, number: int) -> None:
        """Take a piece (from 0) back, or put it back."""
        self._window.start(self._turn(root, key, number), kind="undo")

    async def _turn(self, root: Path, key: str, number: int) -> None:
        card = self._items.get(key)
        if not isinstance(card, OperationCard):
            return
        problem = None
        try:
            if await self._window.save_buffers():
                record = await self._project.pieces.turn(root, key, number)
                self._window.file_changed(root / record.path)
            else:
                problem = unsaved()
        except CircuitAIError as error:
            problem = with_advice(error)
        await self._look(root, key)
        self._put(key, lambda now: replace(now, problem=problem))

    async def _look(self, root: Path, key: str) -> None:
        try:
            found = await self._project.pieces.of(root, key)
        except CircuitAIError as error:
            problem = with_advice(error)
            self._put(key, lambda now: replace(now, problem=problem))
            return
        if found is None:
            problem = msg("This change can only be undone as a whole.")
            self._put(key, lambda now: replace(now, problem=problem))
        else:
            self._put(key, lambda now: replace(now, pieces=found.pieces, problem=None))

    def _put(self, key: str, changed: Callable[[OperationCard], OperationCard]) -> None:
        card = self._items.get(key)
        if isinstance(card, OperationCard):
            self._items.put(changed(card))
            self._tell()
