"""What is known of a server for language models on the user's computer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from shared.message import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalModel:
    """An installed model."""

    name: str
    size: int = 0
    """Bytes on the disk."""
    parameters: str = ""
    """As "4.0B"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalServerStatus:
    """Whether the server runs, and which models it has."""

    state: Literal["running", "not_running", "not_installed", "error"]
    version: str = ""
    models: tuple[LocalModel, ...] = ()
    running: tuple[str, ...] = ()
    """Names of the models in memory."""
    message: Message | None = None
    """What is wrong, None when nothing is."""
    advice: Message | None = None
    """What to do next, None when nothing is needed."""
