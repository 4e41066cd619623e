"""Netlists in the code blocks of an answer: kept as files and run only when somebody says so."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from PyQt6.QtWidgets import QWidget

from application.groups.project import Project
from application.project.undoing import INSERT_TOOL, OperationEntry
from domain.llm.netlists_in_text import file_text, proposed_name, what_is_missing
from presentation.panels.conversation.items import OperationCard
from presentation.panels.conversation.stored import card_of_inserted
from presentation.panels.conversation.words import with_advice
from presentation.ui.questions import choose_target
from presentation.ui.workspace import WindowServices
from shared.errors import CircuitAIError, UserInputError
from shared.message import Message, msg


@dataclass(frozen=True, slots=True, eq=False)
class CodeKeeper:
    """Saves a block where the person says, and runs it when that is wanted; `put` shows what was written."""

    services: WindowServices
    project: Project
    parent: QWidget
    put: Callable[[OperationCard], None]
    say: Callable[[Message | None], None]

    async def keep(self, text: str, root: Path, *, session_id: str, answer: str, run: bool) -> None:
        """`answer` is the key of the row the block stands in."""
        if run and (missing := await asyncio.to_thread(what_is_missing, text)) is not None:
            self.say(missing)
            return
        start, is_kept = await asyncio.to_thread(_place_for, root, text)
        if run and is_kept:  # it was inserted before
            self._run(start)
            return
        target = await choose_target(
            self.services, self.parent, msg("Insert as a file"), start, is_export=False
        )
        if target is None:
            return
        try:
            entry = await self._write(root, target, file_text(text, target.suffix), session_id, answer)
        except CircuitAIError as error:
            self.say(with_advice(error))
            return
        workspace = self.services.workspace
        self.put(card_of_inserted(entry, {}))
        self.say(None)
        workspace.file_changed.emit(target)
        workspace.file_activated.emit(target, None)
        if run:
            self._run(target)

    def _run(self, circuit: Path) -> None:
        self.say(None)
        self.services.workspace.main_circuit_chosen.emit(circuit)
        self.services.workspace.circuit_run_requested.emit(circuit)

    async def _write(
        self, root: Path, target: Path, text: str, session_id: str, answer: str
    ) -> OperationEntry:
        """A file that is not there yet, as an operation that can be undone. Raises CircuitAIError."""
        if not target.is_relative_to(root):
            raise UserInputError(
                msg("A file of this project is needed: choose a place in {root}.", root=root)
            )
        if await asyncio.to_thread(target.exists):
            raise UserInputError(
                msg("The file {name} already exists.", name=target.name), advice=msg("Choose another name.")
            )
        operations = self.project.operations
        record = await operations.add_file(
            root,
            target.relative_to(root).as_posix(),
            text.encode(),
            session_id=session_id,
            tool=INSERT_TOOL,
            result={"answer": answer},
        )
        return await operations.diff(root, record.op_id)


def _place_for(root: Path, text: str) -> tuple[Path, bool]:
    """The file that has this very netlist, and that it has; else a name that is free. Blocking."""
    named = root / proposed_name(text)
    wanted = file_text(text, named.suffix).encode()
    place, numbers = named, itertools.count(2)
    while place.exists():
        if place.is_file() and place.stat().st_size == len(wanted) and place.read_bytes() == wanted:
            return place, True
        place = named.with_stem(f"{named.stem}-{next(numbers)}")
    return place, False
