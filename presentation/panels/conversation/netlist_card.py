"""A complete netlist that stands in an answer, offered to be kept: nothing is written by itself."""

from __future__ import annotations

import asyncio
import html
from collections.abc import Callable
from pathlib import Path

from PyQt6.QtWidgets import QWidget

from domain.llm.netlists_in_text import complete_netlists
from presentation.panels.conversation.items import NetlistCard
from presentation.ui.questions import choose_target
from presentation.ui.workspace import WindowServices
from shared.errors import CircuitAIError, UserInputError
from shared.message import Message, msg

Translate = Callable[[Message], str]
Link = Callable[[str, str], str]

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


class NetlistKeeper:
    """Saves the netlist of a card where the person says, and runs it when that is wanted."""

    def __init__(
        self,
        services: WindowServices,
        parent: QWidget,
        put: Callable[[NetlistCard], None],
        say: Callable[[Message | None], None],
    ) -> None:
        self._services = services
        self._parent = parent
        self._put = put
        self._say = say

    def keep(self, card: NetlistCard, root: Path | None, *, run: bool) -> Message | None:
        """Begin; a reason when that can't be."""
        if root is None:
            return msg("No project is open.")
        self._services.start(self._keep(card, root, run=run), kind="netlist", scope=card.key)
        return None

    async def _keep(self, card: NetlistCard, root: Path, *, run: bool) -> None:
        title = msg("Save the netlist as")
        target = await choose_target(self._services, self._parent, title, root / card.file_name)
        if target is None:
            return
        try:
            await asyncio.to_thread(_write_new, self._services, target, card.text)
        except CircuitAIError as error:
            self._say(error.message)
            return
        workspace = self._services.workspace
        self._put(card.saved_as(target.relative_to(root).as_posix() if target.is_relative_to(root) else ""))
        self._say(None)
        workspace.file_changed.emit(target)
        workspace.file_activated.emit(target, None)
        if run:
            workspace.main_circuit_chosen.emit(target)
            workspace.circuit_run_requested.emit(target)


def _write_new(services: WindowServices, path: Path, text: str) -> None:
    """Write a file that is not there yet; blocking. Raises CircuitAIError."""
    if path.exists():
        raise UserInputError(
            msg("There is a file {name} already.", name=path.name), advice=msg("Choose another name.")
        )
    services.app.edit.save(path, text, encoding="utf-8")


def card_html(card: NetlistCard, translate: Translate, icon: Callable[[str], str]) -> str:
    """The inside of the card's element on the page."""
    title, about = _head(card)
    buttons = "".join(
        f'<button data-act="{act}">{html.escape(translate(label))}</button>' for act, label in _ways(card)
    )
    return (
        f'<div class="card netlist"><div class="head" title="{html.escape(card.title)}">{icon("file-code")}'
        f"<b>{html.escape(translate(title))}</b>"
        f'<span class="dim">{html.escape(translate(about))}</span></div>'
        f'<div class="buttons foot">{buttons}</div></div>'
    )


def card_plain(card: NetlistCard, translate: Translate, icon: str, link: Link) -> str:
    """The card in the plain view; `link` makes one of an action and its words."""
    title, about = _head(card)
    head = f"{icon} &nbsp;<b>{html.escape(translate(title))}</b> <code>{html.escape(card.title)}</code>"
    links = " &nbsp;".join(link(act, html.escape(translate(label))) for act, label in _ways(card))
    return f"<p>{head} &nbsp; {html.escape(translate(about))}</p><p>{links}</p>"


def _head(card: NetlistCard) -> tuple[Message, Message]:
    about = msg("{count} elements", count=card.elements)
    if card.path:
        about = msg("saved as {path}", path=card.path)
    return msg("Netlist in this answer"), about


def _ways(card: NetlistCard) -> tuple[tuple[str, Message], ...]:
    if card.path:
        return (("open", msg("Show in the editor")),)
    return (("save_netlist", msg("Save as…")), ("run_netlist", msg("Save and simulate…")))
