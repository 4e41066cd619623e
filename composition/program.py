"""The kernel, the user's settings, and what is kept of the program itself."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from shared.paths import user_home

if TYPE_CHECKING:
    from pathlib import Path

    from application.ports.preferences import UserSettingsStore
    from application.ports.tracing import TraceStore, TurnTracer
    from application.project.unclean_ends import UncleanEnds
    from application.project.user_keys import UserKeys
    from application.project.window_state import WindowStates
    from application.reports.making import ReportPages
    from domain.llm.service import NetworkSettings
    from domain.settings import UserSettings
    from infrastructure.persistence.authenticity import UserKey
    from infrastructure.persistence.stored_results import ResultSeals
    from shared.cpu_executor import CpuTaskExecutor
    from shared.events import EventBus
    from shared.message import Message
    from shared.processes import ProcessManager
    from shared.tasks import AsyncTaskRegistry, StopController


class ProgramAdapters:
    """Implements application.groups.outside.ProgramParts."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.environment = environment
        self.home: Path = user_home(environment)

    @cached_property
    def settings(self) -> UserSettings:
        from infrastructure.persistence.settings import load_settings

        return load_settings(self.home)

    @cached_property
    def settings_file(self) -> UserSettingsStore:
        from infrastructure.persistence.settings import UserSettingsFile

        return UserSettingsFile(user_home=self.home)

    @property
    def watches_goals(self) -> bool:
        return self.settings.watch_goals

    @property
    def runs_cases(self) -> bool:
        return self.settings.run_cases

    @property
    def estimates_yield(self) -> bool:
        return self.settings.estimate_yield

    @property
    def previews_changes(self) -> bool:
        return self.settings.preview_changes

    def is_on_battery(self) -> bool:
        from infrastructure.power import is_on_battery

        return is_on_battery()

    def apply_settings(self, settings: UserSettings) -> None:
        """What is begun from now on uses these."""
        self.settings = settings

    @property
    def language(self) -> str:
        from presentation.translation import language_in

        return language_in(self.settings.language, self.environment)

    @cached_property
    def warnings(self) -> tuple[Message, ...]:
        from infrastructure.persistence.user_json import set_damaged_aside

        return (*self.settings.warnings, *set_damaged_aside(self.home))

    @property
    def libraries(self) -> tuple[Path, ...]:
        return self.settings.libraries

    @property
    def network(self) -> NetworkSettings:
        from domain.llm.service import NetworkSettings

        return self.settings.network or NetworkSettings()

    @cached_property
    def events(self) -> EventBus:
        from shared.events import EventBus

        return EventBus()

    @property
    def tasks(self) -> AsyncTaskRegistry:
        return self._work[0]

    @property
    def stop(self) -> StopController:
        return self._work[1]

    @cached_property
    def _work(self) -> tuple[AsyncTaskRegistry, StopController]:
        """Made together: the controller follows the registry from its first task on."""
        from shared.tasks import AsyncTaskRegistry, StopController

        tasks = AsyncTaskRegistry(self.events)
        return tasks, StopController(registry=tasks, processes=self.processes, events=self.events)

    @cached_property
    def processes(self) -> ProcessManager:
        from shared.processes import ProcessManager

        return ProcessManager()

    @cached_property
    def cpu(self) -> CpuTaskExecutor:
        from shared.cpu_executor import CpuTaskExecutor

        return CpuTaskExecutor()

    @cached_property
    def user_key(self) -> UserKey:
        from infrastructure.persistence.authenticity import UserKey

        return UserKey(self.home)

    @cached_property
    def window_state(self) -> WindowStates:
        from infrastructure.persistence.window_state import WindowStateFile

        return WindowStateFile(user_home=self.home)

    @cached_property
    def user_keys(self) -> UserKeys:
        from infrastructure.persistence.user_keys import UserKeysFile

        return UserKeysFile(user_home=self.home)

    @cached_property
    def unclean_ends(self) -> UncleanEnds:
        from infrastructure.persistence.unclean_ends import UncleanEndFiles

        return UncleanEndFiles(user_home=self.home)

    @property
    def report_pages(self) -> ReportPages:
        from presentation.report.making import TranslatedPages
        from presentation.translation import Translator

        return TranslatedPages(Translator(self.language))

    @cached_property
    def seals(self) -> ResultSeals:
        from infrastructure.persistence.stored_results import ResultSeals

        return ResultSeals(self.user_key)

    @cached_property
    def traces(self) -> TraceStore:
        from infrastructure.tracing.spans import SqliteTraces

        return SqliteTraces()

    @cached_property
    def tracer(self) -> TurnTracer:
        from infrastructure.tracing.spans import TurnSpans

        return TurnSpans()

    def read_file(self, path: Path, most: int) -> bytes | None:
        from infrastructure.persistence.confined import TooLarge
        from infrastructure.persistence.given_files import read_given

        try:
            return read_given(path, most)
        except TooLarge:
            return None

    def write_file(self, path: Path, content: bytes) -> None:
        from infrastructure.persistence.confined import write_atomically

        write_atomically(path, content)
