"""What operations changed in files: shown on their cards, and taken back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from application.tool_execution.taking_back import UndoChoice, UndoConflictError
from presentation.panels.conversation.items import ItemList, OperationCard, Standing
from presentation.panels.conversation.stored import undoing_operations, with_operation
from presentation.panels.conversation.window import Window
from presentation.panels.conversation.words import unsaved, with_advice
from shared.errors import CircuitAIError

if TYPE_CHECKING:
    from application.groups.project import Project
    from application.ports.project import OperationRecord


class FileChanges:
    """Keeps the cards of one conversation with the log of operations. `tell` when a card is another."""

    def __init__(self, project: Project, items: ItemList, window: Window, tell: Callable[[], None]) -> None:
        self._project = project
        self._items = items
        self._window = window
        self._tell = tell

    def follow(self, root: Path, card: OperationCard) -> None:
        """A call that writes has ended: the file is another, its difference belongs on the card."""
        if card.path:
            self._window.file_changed(root / card.path)
        self._window.start(self._load_difference(root, card.key), kind="operations")

    def follow_undo(self, root: Path, key: str) -> None:
        card = self._items.get(key)
        if isinstance(card, OperationCard):
            self._window.file_changed(root / card.path)
            self._window.start(self._load_standing(root, card), kind="operations")

    def undo(self, root: Path, card: OperationCard, choose: UndoChoice | None = None) -> None:
        """Take the change of a card back, or do it again; `choose` decides about files changed since."""
        self._items.put(replace(card, standing="undoing", problem=None, conflicts=(), ways=(), pieces=None))
        self._window.start(self.take_back(root, card, choose), kind="undo")
        self._tell()

    async def take_back(self, root: Path, card: OperationCard, choose: UndoChoice | None = None) -> None:
        """The same, done when it returns: the card says how it went."""
        card = replace(card, conflicts=(), ways=(), pieces=None)
        try:
            if not await self._window.save_buffers():
                self._items.put(replace(card, problem=unsaved()))
                self._tell()
                return
            undone = await self._project.operations.undo(root, card.tip, choose=choose)
        except UndoConflictError as error:
            told = replace(card, problem=with_advice(error), conflicts=error.conflicts, ways=error.ways)
            self._items.put(told)
        except CircuitAIError as error:
            self._items.put(replace(card, problem=with_advice(error)))
        else:
            if undone.is_kept:
                self._items.put(replace(card, problem=None))
            else:
                standing: Standing = "undone" if card.standing == "stands" else "stands"
                self._items.put(replace(card, standing=standing, tip=undone.record.op_id, problem=None))
                for change in undone.record.changes:
                    self._window.file_changed(root / change.path)
        self._tell()

    async def _load_difference(self, root: Path, key: str) -> None:
        try:
            entry = await self._project.operations.diff(root, key)
        except CircuitAIError:  # the call changed nothing (it failed, or the file was so already)
            return
        card = self._items.get(key)
        if isinstance(card, OperationCard):
            self._items.put(with_operation(card, entry, {}))
            self._tell_of_others(root, card, entry.record)
            self._window.change_made(root / entry.record.path, key)
            self._tell()

    def _tell_of_others(self, root: Path, card: OperationCard, record: OperationRecord) -> None:
        """The files that a change has touched beside the one its card names."""
        for change in record.changes:
            if change.path != card.path:
                self._window.file_changed(root / change.path)

    async def _load_standing(self, root: Path, card: OperationCard) -> None:
        """Whether the change stands, as the log has it; it says which operation to undo next."""
        try:
            entries = await self._project.operations.list(root)
        except CircuitAIError as error:
            self._items.put(replace(card, standing="none", problem=with_advice(error)))
        else:
            undone_by = undoing_operations(entries)
            for entry in entries:
                if entry.record.op_id == card.key:
                    self._items.put(with_operation(card, entry, undone_by))
                    self._tell_of_others(root, card, entry.record)
        self._tell()
