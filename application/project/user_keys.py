"""The keys a user gave to actions of the window, in place of the usual ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from shared.message import Message

MOST_KEYS = 6
"""Of one action."""
LONGEST_KEY = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptKeys:
    """What was chosen."""

    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By the name of the action; () = it has none."""
    warnings: tuple[Message, ...] = ()
    """What of the file is not used."""


class UserKeys(Protocol):
    """Where they are kept. Blocking."""

    def load(self) -> KeptKeys:
        """Those of the file; a damaged file is set aside and told. Never raises."""

    def change(self, changes: Mapping[str, tuple[str, ...] | None]) -> KeptKeys:
        """Give actions other keys (None: the usual ones), and no others; returns what holds then.

        Raises EnvironmentProblem: "busy", a full or read-only disk.
        """
