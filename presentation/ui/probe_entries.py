"""What context menus offer to plot of a node or an element."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from PyQt6.QtWidgets import QMenu

from domain.circuit.elements import GROUND, canonical_node
from domain.circuit.probing import WITHOUT_CURRENT
from presentation.ui.workspace import Probed, WindowServices
from shared.message import Message, msg


class Entry(NamedTuple):
    """An entry of a context menu."""

    title: Message
    act: Callable[[], object]


def add_entries(services: WindowServices, menu: QMenu, entries: Sequence[Entry]) -> None:
    """Put them at the end of a menu."""
    for entry in entries:
        action = menu.addAction(services.language(entry.title))
        if action is not None:
            action.triggered.connect(lambda _checked=False, act=entry.act: act())


def of_node(services: WindowServices, node: str, plot: Callable[[Probed], object]) -> list[Entry]:
    """Probed a menu offers of a node."""
    if canonical_node(node) == GROUND:
        return []
    found = [
        Entry(msg("Plot voltage of {node}", node=node), partial(plot, "voltage")),
        Entry(msg("Use {node} as reference node", node=node), partial(plot, "reference")),
    ]
    workspace = services.workspace
    if workspace.reference_node:
        found.append(
            Entry(
                msg("Use ground as reference node again"),
                partial(workspace.set_reference_node, ""),
            )
        )
    return found


def of_element(element: str, plot: Callable[[Probed], object]) -> list[Entry]:
    """Probed a menu offers of an element."""
    letter = element[:1].lower()
    if letter in WITHOUT_CURRENT:
        return []
    power = Entry(msg("Plot power of {element}", element=element), partial(plot, "power"))
    if letter == "x":
        return [power]
    return [Entry(msg("Plot current of {element}", element=element), partial(plot, "current")), power]
