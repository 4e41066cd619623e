"""The prompts of the program: what is in force, changing it, and the system message made of it."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from application.design.circuit_goals import read_goals
from domain.llm.prompts.catalogue import TaskName
from domain.llm.prompts.library import (
    IdentityPrompt,
    IdentityVariable,
    PromptLibrary,
    PromptTemplate,
    TextProblem,
    names_in,
    problems_of,
)
from domain.llm.system_prompt import SystemPromptInjector
from shared.errors import UserInputError
from shared.events import Event, EventBus
from shared.message import Message, msg
from shared.uninterrupted import uninterrupted

if TYPE_CHECKING:
    from langchain_core.messages import SystemMessage

    from application.ports.project import ProjectFiles
    from application.project.browsing import ResultCatalogue

_logger = logging.getLogger(__name__)

_CIRCUITS = (".cir", ".sp", ".spice", ".net", ".ckt")


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentityText:
    """An identity of the user's own."""

    content: str
    variables: tuple[IdentityVariable, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptChanges:
    """What is to be written; what is not named stays."""

    templates: Mapping[TaskName, str | None] = field(default_factory=dict)
    """None: back to the built-in text."""
    identity: IdentityText | Literal["default"] | None = None
    my_preferences: str | None = None
    about_projects: Mapping[str, str] = field(default_factory=dict)
    """By the project's real path; "" = nothing."""


class PromptStore(Protocol):
    """Keeps prompts in the user's own folder. Blocking: called off the loop."""

    def load(self) -> PromptLibrary:
        """The prompts in force; never raises."""

    def save(self, changes: PromptChanges) -> None:
        """Write them. Raises EnvironmentProblem, UserInputError."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptsWarned(Event):
    """A request goes out with another prompt than the user may think: a file is damaged, a value missing."""

    message: Message


class Prompting:
    """The use case: prompts for the dialog, system messages for requests."""

    def __init__(
        self,
        *,
        store: PromptStore,
        results: Callable[[], ResultCatalogue] | None = None,
        events: EventBus | None = None,
    ) -> None:
        self._store = store
        self._results = results
        self._events = events
        self._told: frozenset[str] = frozenset()

    async def load(self) -> PromptLibrary:
        """The prompts as they are on the disk now."""
        return await asyncio.to_thread(self._store.load)

    async def apply(self, changes: PromptChanges) -> PromptLibrary:
        """Write changes and return what is in force then; the next request uses it.

        Raises UserInputError for a text that cannot be used (nothing is written then), EnvironmentProblem.
        """
        library = await self.load()
        _refuse_unusable(changes, library)
        changes = _without_built_in_texts(changes, library)
        await uninterrupted(asyncio.to_thread(self._store.save, changes))
        return await self.load()

    async def system_message(
        self,
        project: ProjectFiles,
        *,
        task: TaskName | None = "FREE_WORK_SYSTEM",
        values: Mapping[str, object] | None = None,
        main_circuit: str = "",
    ) -> SystemMessage:
        """The system message of the next request. A damaged file never stops it; `PromptsWarned` tells.

        `main_circuit`: the one that is meant, relative to the project; "" = the one simulated last.
        """
        given = values or {}
        library, facts = await asyncio.to_thread(self._gather, project, task, given, main_circuit)
        made = SystemPromptInjector(library).inject(
            task=task,
            values={**facts, **given},
            about_project=library.preferences.projects.get(str(project.root), ""),
        )
        self._tell((*library.warnings, *(_no_value(name) for name in made.missing)))
        return made.message()

    def _gather(
        self,
        project: ProjectFiles,
        task: TaskName | None,
        given: Mapping[str, object],
        main_circuit: str,
    ) -> tuple[PromptLibrary, dict[str, object]]:
        """The library, and the facts of the project its texts mention; blocking."""
        library = self._store.load()
        texts = [library.identity.content, *(each.value or "" for each in library.identity.variables)]
        if task is not None:
            texts.append(library.templates[task].content)
        mentioned = frozenset[str]().union(*(names_in(text) for text in texts))
        facts: Mapping[str, Callable[[ProjectFiles], object]] = {
            "project_name": lambda project: project.root.name,
            "circuit_file": lambda project: main_circuit or self._circuit_file(project),
            "design_goals": lambda project: _goals_of(project, main_circuit or self._circuit_file(project)),
            "simulation_status": self._simulation_status,
        }
        found = {
            name: find(project) for name, find in facts.items() if name in mentioned and name not in given
        }
        return library, found

    def _simulation_status(self, project: ProjectFiles) -> str:
        newest = self._results().newest(project.root, 1) if self._results is not None else ()
        return newest[0].status if newest else "not run"

    def _circuit_file(self, project: ProjectFiles) -> str:
        """The circuit that was simulated last, or the only one there is."""
        newest = self._results().newest(project.root, 1) if self._results is not None else ()
        if newest and newest[0].circuit.is_relative_to(project.root):
            return newest[0].circuit.relative_to(project.root).as_posix()
        try:
            names = [name for name in os.listdir(project.root) if name.lower().endswith(_CIRCUITS)]  # noqa: PTH208
        except OSError:
            return ""
        return names[0] if len(names) == 1 else ""

    def _tell(self, warnings: tuple[Message, ...]) -> None:
        """Each warning once, until it is mended and comes again."""
        texts = frozenset(str(warning) for warning in warnings)
        for warning in warnings:
            if str(warning) not in self._told:
                _logger.warning("%s", warning)
                if self._events is not None:
                    self._events.publish(PromptsWarned(message=warning))
        self._told = texts


def template_problems(template: PromptTemplate, text: str) -> list[TextProblem]:
    return problems_of(text, variables=template.variables, required=template.required)


def identity_problems(text: str, variables: tuple[IdentityVariable, ...]) -> list[TextProblem]:
    required = frozenset(each.name for each in variables if each.is_required)
    return problems_of(text, variables=tuple(each.name for each in variables), required=required)


def free_text_problems(text: str) -> list[TextProblem]:
    """What is wrong with preferences: only their length can be; braces in them are plain text."""
    return [each for each in problems_of(text, variables=(), required=frozenset()) if each.is_error and text]


def about_key(project: Path) -> str:
    """Under what the text about a project is kept."""
    return os.path.realpath(project)


def _no_value(name: str) -> Message:
    return msg('The prompt uses "{name}", which has no value yet; it is left empty.', name=name)


def _refuse_unusable(changes: PromptChanges, library: PromptLibrary) -> None:
    problems: list[tuple[str, TextProblem]] = []
    for task, text in changes.templates.items():
        if text is not None:
            problems += [(task, each) for each in template_problems(library.templates[task], text)]
    if isinstance(changes.identity, IdentityText):
        found = identity_problems(changes.identity.content, changes.identity.variables)
        problems += [("identity", each) for each in found]
    for name, text in (("my_preferences", changes.my_preferences or ""), *changes.about_projects.items()):
        if text:
            problems += [(name, each) for each in free_text_problems(text)]
    for name, problem in problems:
        if problem.is_error:
            raise UserInputError(
                msg("{name} cannot be saved: {reason}", name=name, reason=problem.message),
                error_type="bad_prompt",
            )


def _without_built_in_texts(changes: PromptChanges, library: PromptLibrary) -> PromptChanges:
    """A text that is the built-in one again is no longer the user's own: it follows later versions."""
    templates = {
        task: None if text == library.templates[task].default_content else text
        for task, text in changes.templates.items()
    }
    identity = changes.identity
    if isinstance(identity, IdentityText) and _is_default(identity, library.identity):
        identity = "default"
    return PromptChanges(
        templates=templates,
        identity=identity,
        my_preferences=changes.my_preferences,
        about_projects=changes.about_projects,
    )


def _is_default(text: IdentityText, prompt: IdentityPrompt) -> bool:
    return text.content == prompt.default_content and text.variables == prompt.default_variables


def _goals_of(project: ProjectFiles, circuit: str) -> object:
    return list(read_goals(project, circuit).plain) or None
