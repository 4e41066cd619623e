"""Where the user's settings are kept."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any, Protocol

from domain.settings import UserSettings


class UserSettingsStore(Protocol):
    """The file of the user's settings. Blocking."""

    @property
    def path(self) -> Path: ...

    def load(self) -> UserSettings:
        """As they are now; what is not understood is its default and told in `warnings`. Never raises."""

    def set(self, name: str, value: Any) -> UserSettings:
        """Change one (``agent.rounds``), by its value as JSON has it, and nothing else; what holds then.

        Raises WrongSetting for a value it cannot have; EnvironmentProblem ("damaged", "busy", a full or
        read-only disk).
        """

    def reset(self, names: Collection[str]) -> UserSettings:
        """Take these out of the file: their defaults hold. Raises EnvironmentProblem."""
