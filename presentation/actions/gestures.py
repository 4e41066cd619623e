"""What the mouse does where: for the card of keys and docs/keys-and-gestures.md."""

from __future__ import annotations

from collections.abc import Mapping

from presentation.actions import conversation_rows, editor_rows, plot_rows, schematic_rows
from presentation.actions.action import Scope
from shared.message import Message, msg

Gesture = tuple[tuple[str, ...], Message]
"""Keys that are held and the word of the mouse (`MOUSE`); what it does."""

GESTURES: Mapping[Scope, tuple[Gesture, ...]] = {
    "editor": editor_rows.GESTURES,
    "plot": plot_rows.GESTURES,
    "schematic": schematic_rows.GESTURES,
    "conversation": conversation_rows.GESTURES,
}

MOUSE = {
    "wheel": msg("wheel"),
    "drag": msg("drag"),
    "click": msg("click"),
    "double_click": msg("double click"),
    "right_click": msg("right click"),
}
