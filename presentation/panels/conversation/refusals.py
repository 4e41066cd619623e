"""Why something can't be done now, in words."""

from __future__ import annotations

from shared.errors import CircuitAIError
from shared.message import Message, msg


def with_advice(error: CircuitAIError) -> Message:
    """What went wrong, and what to do about it."""
    if error.advice is None:
        return error.message
    return msg("{problem} {advice}", problem=error.message, advice=error.advice)


def busy() -> Message:
    """A run is under way."""
    return msg("A run is under way in this conversation. Stop it first.")


def unsaved() -> Message:
    """A buffer could not be written."""
    return msg("An open file could not be saved, so nothing was started.")
