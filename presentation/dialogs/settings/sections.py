"""The categories of the settings: their order, icons, and the dialogs that belong to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from domain.settings import SettingsGroup, ShownSetting
from shared.message import Message, msg


class Section(NamedTuple):
    """One category."""

    title: Message
    help: Message | None
    icon: str
    settings: tuple[ShownSetting, ...] = ()
    commands: tuple[tuple[str, Message, Message], ...] = ()
    """Dialogs of its own: name of the action, title, what it is for."""
    is_appearance: bool = False
    has_storage: bool = False
    has_servers: bool = False


_ICONS = {
    "General": "settings",
    "Models": "cpu",
    "Tools of other programs": "external-link",
    "Assistant limits": "gauge",
    "Data of a message": "layers",
    "Network": "globe",
    "Search by meaning": "search",
    "Results": "history",
}
_DIALOGS: dict[str, tuple[tuple[str, Message, Message], ...]] = {
    "Models": (
        ("modelSettings", msg("Model settings…"), msg("Provider, key, model, thinking and web search.")),
        ("prompts", msg("Prompts…"), msg("The texts models are instructed with.")),
        (
            "permissions",
            msg("Confirmation rules…"),
            msg("What the assistant does in this project without asking."),
        ),
    ),
    "Search by meaning": (
        ("embedding", msg("Search by meaning…"), msg("Server, key and model, with a test of them.")),
    ),
}
_KEYBOARD = ("keys", msg("Keyboard shortcuts…"), msg("The keys of all actions, and other ones for them."))


def sections_of(groups: Sequence[SettingsGroup]) -> list[Section]:
    """All categories, top to bottom."""
    found = [Section(msg("Appearance"), None, "monitor", is_appearance=True)]
    for group in groups:
        name = group.title.template
        found.append(
            Section(
                group.title,
                group.help,
                _ICONS.get(name, "sliders-horizontal"),
                group.settings,
                _DIALOGS.get(name, ()),
                has_storage=name == "Results",
                has_servers=name == "Tools of other programs",
            )
        )
    found.append(Section(msg("Keyboard"), None, "keyboard", commands=(_KEYBOARD,)))
    return found
