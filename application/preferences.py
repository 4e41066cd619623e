"""The user's settings as a window changes them: one at a time, in force at once, kept."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import Field, dataclass
from pathlib import Path
from typing import Any

from application.ports.events import EmbeddingChanged, SettingsChanged
from application.ports.preferences import UserSettingsStore
from domain.settings import SettingsGroup, UserSettings, groups
from shared.events import EventBus
from shared.message import Message
from shared.setting import about, default_of
from shared.uninterrupted import off_loop


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownSettings:
    """All settings as they hold now."""

    groups: tuple[SettingsGroup, ...]
    warnings: tuple[Message, ...] = ()
    """What of the file is not used."""

    def differing(self) -> tuple[str, ...]:
        """The names of those that are not as they are by default."""
        return tuple(
            one.name for group in self.groups for one in group.settings if one.value != default_of(one.field)
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Preferences:
    """The use case."""

    store: UserSettingsStore
    environment: Mapping[str, str]
    apply: Callable[[UserSettings], None]
    """Have the program use them from now on."""
    events: EventBus

    @property
    def path(self) -> Path:
        """The file."""
        return self.store.path

    def variables_of(self, one: Field[Any]) -> tuple[str, ...]:
        """The variables of the environment that say something of a setting."""
        return tuple(name for name in about(one).variables if self.environment.get(name))

    async def load(self) -> ShownSettings:
        """As the file has them now: another window may have changed it. They hold from now on here, too."""
        return self._held(await off_loop(self.store.load))

    async def set(self, name: str, value: Any) -> ShownSettings:
        """Change one, by its value as JSON has it. Raises WrongSetting, EnvironmentProblem."""
        return self._held(await off_loop(self.store.set, name, value), (name,))

    async def reset(self, names: Collection[str]) -> ShownSettings:
        """Give these their defaults again. Raises EnvironmentProblem."""
        return self._held(await off_loop(self.store.reset, names), names)

    def _held(self, settings: UserSettings, changed: Collection[str] = ()) -> ShownSettings:
        self.apply(settings)
        if changed:
            self.events.publish(SettingsChanged(names=tuple(changed)))
        if any(name.startswith("embedding.") for name in changed):
            self.events.publish(EmbeddingChanged())
        return ShownSettings(groups=groups(settings, self.environment), warnings=settings.warnings)
