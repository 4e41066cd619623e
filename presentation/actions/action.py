"""A row of the table of actions."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Literal

from shared.message import Message, msg

MenuName = Literal["file", "edit", "view", "circuit", "simulate", "design", "help"]
MENUS: dict[MenuName, Message] = {
    "file": msg("File"),
    "edit": msg("Edit"),
    "view": msg("View"),
    "circuit": msg("Circuit"),
    "simulate": msg("Simulate"),
    "design": msg("Design"),
    "help": msg("Help"),
}

Scope = Literal["window", "focus", "editor", "plot", "schematic", "list", "conversation"]
"""Where a key is answered: anywhere in the window; by whatever has the focus (copy, undo); in one kind of
panel only. A panel's own key comes before the window's."""
SCOPES: dict[Scope, Message] = {
    "window": msg("Everywhere"),
    "focus": msg("Where one writes"),
    "editor": msg("Editor"),
    "plot": msg("Plot"),
    "schematic": msg("Schematic"),
    "list": msg("Lists"),
    "conversation": msg("Conversation"),
}


@dataclass(frozen=True, slots=True)
class Action:
    """Something a person can do; what it does is said by the widget that answers, by `name`."""

    name: str
    """Known to the user's own keys, and the object name of the menu's entry: it stays."""
    title: Message
    _: KW_ONLY
    scope: Scope = "window"
    keys: str = ""
    """As Qt writes them ("Ctrl+Shift+M"), blanks between; the first is shown, the others do the same."""
    also: str = ""
    """Further keys that are answered where they are needed and cannot be changed."""
    menu: MenuName | None = None
    submenu: Message | None = None
    group: str = ""
    """Entries of one group exclude each other and carry a check mark."""
    begins_part: bool = False
    """A line before it."""
    letter: str = ""
    """The letter that chooses it in its menu, where custom has one; "" = the first that is free."""
    in_box: bool = True
    """Offered by the command box too."""
    icon: str = "terminal"
    """In the command box."""
    is_fixed: bool = False
    """Its keys are those of every program (or of a widget of Qt's) and cannot be changed."""

    @property
    def usual_keys(self) -> tuple[str, ...]:
        return tuple(self.keys.split())

    @property
    def fixed_keys(self) -> tuple[str, ...]:
        return tuple(self.also.split())
