"""A complete netlist that stands in an answer, offered to be kept: nothing is written by itself."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from PyQt6.QtWidgets import QWidget

from application.groups.project import Project
from domain.llm.netlists_in_text import complete_netlists
from presentation.panels.conversation.items import NetlistCard
from presentation.ui.questions import choose_target
from presentation.ui.workspace import WindowServices
from shared.errors import CircuitAIError, UserInputError
from shared.message import Message, msg

_LONGEST_TITLE = 60


def cards_of(key: str, text: str) -> tuple[NetlistCard, ...]:
    """The cards of an answer; their keys begin with the answer's."""
    return tuple(
        NetlistCard(
            key=f"{key}-netlist-{number}",
            title=netlist.title[:_LONGEST_TITLE],
            file_name=netlist.file_name,
            text=netlist.text,
            elements=netlist.elements,
        )
        for number, netlist in enumerate(complete_netlists(text))
    )


@dataclass(frozen=True, slots=True, eq=False)
class NetlistKeeper:
    """Saves the netlist of a card where the person says, and runs it when that is wanted."""

    services: WindowServices
    project: Project
    parent: QWidget
    put: Callable[[NetlistCard], None]
    say: Callable[[Message | None], None]

    def keep(self, card: NetlistCard, root: Path | None, *, run: bool) -> Message | None:
        """Begin; a reason when that can't be."""
        if root is None:
            return msg("No project is open.")
        self.services.start(self._keep(card, root, run=run), kind="netlist", scope=card.key)
        return None

    async def _keep(self, card: NetlistCard, root: Path, *, run: bool) -> None:
        title = msg("Save the netlist as")
        target = await choose_target(self.services, self.parent, title, root / card.file_name)
        if target is None:
            return
        try:
            await asyncio.to_thread(_write_new, self.project, target, card.text)
        except CircuitAIError as error:
            self.say(error.message)
            return
        workspace = self.services.workspace
        self.put(card.saved_as(target.relative_to(root).as_posix() if target.is_relative_to(root) else ""))
        self.say(None)
        workspace.file_changed.emit(target)
        workspace.file_activated.emit(target, None)
        if run:
            workspace.main_circuit_chosen.emit(target)
            workspace.circuit_run_requested.emit(target)


def _write_new(project: Project, path: Path, text: str) -> None:
    """Write a file that is not there yet; blocking. Raises CircuitAIError."""
    if path.exists():
        raise UserInputError(
            msg("The file {name} already exists.", name=path.name), advice=msg("Choose another name.")
        )
    project.edit.save(path, text, encoding="utf-8")
