"""How a text typed at a checkpoint was taken, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from shared.message import Message, msg

if TYPE_CHECKING:
    from domain.design.checkpoint_intent import IntentKind

_UNDERSTOOD: Mapping[IntentKind, Message] = {
    "continue": msg("Understood: another round"),
    "optimize": msg("Understood: optimize further"),
    "fix": msg("Understood: fix the error"),
    "accept": msg("Understood: accept the design"),
    "stop": msg("Understood: stop here"),
    "undo": msg("Understood: undo this round"),
    "goals": msg("Understood: change the goals"),
    "instruction": msg("Understood: another round with this instruction"),
    "question": msg("Understood: a question"),
    "unclear": msg("Not understood"),
}
_LABELS: Mapping[IntentKind, Message] = {
    "continue": msg("Another round"),
    "optimize": msg("Optimize further"),
    "fix": msg("Fix error"),
    "accept": msg("Accept design"),
    "stop": msg("Stop"),
    "undo": msg("Undo"),
    "goals": msg("Change goals"),
    "instruction": msg("Another round with this instruction"),
    "question": msg("Answer it as a question"),
}


def understood_text(kind: IntentKind, round_number: int = 0, *, changes_design: bool = False) -> Message:
    """What was understood; `round_number` is that of "go_back", `changes_design`: not the goals alone."""
    if changes_design:
        return msg("Understood: change the design")
    if kind == "go_back":
        return msg("Understood: go back to round {number}", number=round_number)
    return _UNDERSTOOD[kind]


def label_of(kind: IntentKind, round_number: int = 0) -> Message:
    """What the button says that carries it out; none is for "unclear"."""
    return msg("Go back to round {number}", number=round_number) if kind == "go_back" else _LABELS[kind]
