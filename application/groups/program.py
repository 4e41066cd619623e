"""What is the program's own: events, tasks, stopping, language, this machine, what the window remembers."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from application.examining import ExamineEnvironment
    from application.groups.outside import Outside
    from application.preferences import Preferences
    from application.project.unclean_ends import UncleanEnds
    from application.project.user_keys import UserKeys
    from application.project.window_state import WindowStates
    from application.tracing import ReadTraces
    from shared.events import EventBus
    from shared.message import Message
    from shared.tasks import AsyncTaskRegistry, StopController


class Program:
    """The program itself."""

    def __init__(self, outside: Outside) -> None:
        self._outside = outside
        self._parts = outside.program

    @property
    def language(self) -> str:
        """Language of texts for people: "en" or "zh"."""
        return self._parts.language

    @property
    def warnings(self) -> tuple[Message, ...]:
        """What was wrong with the user's settings, if anything."""
        return self._parts.warnings

    @property
    def events(self) -> EventBus:
        return self._parts.events

    @property
    def tasks(self) -> AsyncTaskRegistry:
        return self._parts.tasks

    @property
    def stop(self) -> StopController:
        """Stops the work of one scope or of all."""
        return self._parts.stop

    def write_file(self, path: Path, content: bytes) -> None:
        """Put a file on the disk, whole or not at all. Blocking."""
        self._parts.write_file(path, content)

    @property
    def window_state(self) -> WindowStates:
        """What the window remembers between two starts."""
        return self._parts.window_state

    @property
    def user_keys(self) -> UserKeys:
        """The keys the user gave to actions of the window."""
        return self._parts.user_keys

    @property
    def unclean_ends(self) -> UncleanEnds:
        """Runs of the window that ended by a fault."""
        return self._parts.unclean_ends

    @property
    def watches_goals(self) -> bool:
        """Whether the user wants goals measured in idle time; it may change at any time."""
        return self._parts.watches_goals

    @property
    def runs_cases(self) -> bool:
        """Whether the user wants the kept cases of a circuit simulated with every run of it."""
        return self._parts.runs_cases

    @property
    def estimates_yield(self) -> bool:
        """Whether the user wants yields estimated in idle time."""
        return self._parts.estimates_yield

    @property
    def previews_changes(self) -> bool:
        """Whether the user wants proposed changes simulated without asking for it."""
        return self._parts.previews_changes

    def is_on_battery(self) -> bool:
        """Whether work that nobody asked for would empty a battery. Blocking, for less than a millisecond."""
        return self._parts.is_on_battery()

    @cached_property
    def preferences(self) -> Preferences:
        """The user's settings, changed one at a time."""
        from application.preferences import Preferences

        return Preferences(
            store=self._parts.settings_file,
            environment=self._parts.environment,
            apply=self._parts.apply_settings,
            events=self._parts.events,
        )

    @cached_property
    def traces(self) -> ReadTraces:
        """What turns did, how long it took, and what failed in them."""
        from application.tracing import ReadTraces

        return ReadTraces(self._parts.traces)

    @cached_property
    def examine(self) -> ExamineEnvironment:
        from application.examining import ExamineEnvironment

        simulation = self._outside.simulation
        return ExamineEnvironment(
            simulator=simulation.simulator,
            library=simulation.library,
            processes=self._parts.processes,
            environment=self._parts.environment,
            keys=self._outside.models.keys,
            vocabularies=self._outside.models.vocabularies,
        )
