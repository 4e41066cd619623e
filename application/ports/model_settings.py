"""Where the settings of providers are kept, and what is known of a model server on this computer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from domain.llm.provider_settings import ModelSettings


class ModelSettingsStore(Protocol):
    """Blocking, `latest` excepted: called off the loop."""

    @property
    def latest(self) -> ModelSettings:
        """What was loaded or set last in this run of the program; the first time it is read."""
        ...

    def load(self) -> ModelSettings:
        """What was set; what can't be understood counts as not set."""
        ...

    def change(self, change: Callable[[ModelSettings], ModelSettings]) -> ModelSettings:
        """Change what is kept; returns it. Raises EnvironmentProblem."""
        ...
