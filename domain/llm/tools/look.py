"""How people see a tool at work: the words, the icon and the card of its calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from shared.message import Message, msg

CardKind = Literal["read", "change", "delete", "simulate", "study", "plain"]
"""read: one line, nothing of the project is another after it; change and delete: a card with what they did to
files and the way back; simulate: a run with its goals; study: a card that also says what came of it;
plain: one with its words and its end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolLook:
    """What a row of the conversation says about a call, before the name of its file."""

    running: Message
    """While it runs: "Reading"."""
    done: Message
    """Afterwards: "Read"."""
    icon: str
    """A file of resources/icons, without its suffix."""
    card: CardKind

    @property
    def writes(self) -> bool:
        """Whether its calls change files, so that there may be a difference to show and to undo."""
        return self.card in ("change", "delete")


def unknown_look(name: str) -> ToolLook:
    """Of a tool that does not exist (any more): stored conversations keep the calls of earlier versions."""
    return ToolLook(
        running=msg("Running {tool}", tool=name),
        done=msg("Ran {tool}", tool=name),
        icon="wrench",
        card="plain",
    )


def server_look(name: str) -> ToolLook:
    """Of a tool of one of the user's servers, also of one that is gone."""
    return ToolLook(
        running=msg("Asking {tool}", tool=name),
        done=msg("Asked {tool}", tool=name),
        icon="external-link",
        card="plain",
    )
