"""The prompts of the program: what is in force, changing it, and the system message made of it."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from application.design.circuit_goals import read_goals
from domain.llm.context_block import SystemPrompt, SystemPromptInjector
from domain.llm.prompts.catalogue import TaskName, Wording
from domain.llm.prompts.library import (
    Filled,
    IdentityPrompt,
    IdentityVariable,
    PromptLibrary,
    PromptTemplate,
    TextProblem,
    as_text,
    names_in,
    problems_of,
)
from shared.errors import CircuitAIError, UserInputError
from shared.events import Event, EventBus
from shared.message import Message, msg
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from langchain_core.messages import SystemMessage

    from application.ports.project import ProjectFiles
    from application.project.browsing import ResultCatalogue

_logger = logging.getLogger(__name__)

_MOST_OF_GOALS = 20_000
"""Characters: a clone's file of goals may have a megabyte."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class SentPrompt:
    """A template as it was sent last."""

    text: str
    """Filled, with the form of the answer, and the values that went into the newest message."""
    task: TaskName
    at: datetime
    project: Path
    """Its real path."""
    session_id: str
    """The conversation."""
    circuit: str
    """Relative to the project; "" when the request was about none."""


class Prompting:
    """The use case: prompts for the dialog, system messages for requests."""

    def __init__(
        self,
        *,
        store: PromptStore,
        results: Callable[[], ResultCatalogue] | None = None,
        events: EventBus | None = None,
        plain_folder: Callable[[Path], ProjectFiles] | None = None,
    ) -> None:
        self._store = store
        self._results = results
        self._events = events
        self._plain_folder = plain_folder
        self._told: frozenset[str] = frozenset()
        self._sent: dict[TaskName | None, SentPrompt] = {}
        """The last of each template, None: the identity. Never written: it holds texts of projects."""

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
        await off_loop(self._store.save, changes)
        return await self.load()

    async def system_message(
        self,
        project: ProjectFiles,
        *,
        task: TaskName | None = "FREE_WORK_SYSTEM",
        values: Mapping[str, object] | None = None,
        main_circuit: str = "",
        session_id: str = "",
        wording: Wording = "full",
    ) -> SystemMessage:
        """The system message of the next request. A damaged file never stops it; `PromptsWarned` tells.

        `main_circuit`: the one that is meant, relative to the project; "" = the one simulated last.
        `session_id`: the conversation it is sent in, which `last_sent` then tells; "" = it is only looked at.
        `wording`: that of the model it goes to.
        """
        made = await self._made(
            project,
            task,
            values or {},
            main_circuit=main_circuit,
            session_id=session_id,
            wording=wording,
            is_lasting=False,
        )
        return made.message()

    async def step_prompt(
        self,
        project: ProjectFiles,
        *,
        task: TaskName,
        values: Mapping[str, object],
        main_circuit: str = "",
        session_id: str = "",
        wording: Wording = "full",
    ) -> SystemPrompt:
        """The same of a step of a design: what changes from step to step is in `given`."""
        return await self._made(
            project,
            task,
            values,
            main_circuit=main_circuit,
            session_id=session_id,
            wording=wording,
            is_lasting=True,
        )

    async def _made(
        self,
        project: ProjectFiles,
        task: TaskName | None,
        given: Mapping[str, object],
        *,
        main_circuit: str,
        session_id: str,
        wording: Wording,
        is_lasting: bool,
    ) -> SystemPrompt:
        library = await self.load()
        facts = await asyncio.to_thread(self._facts, project, task, given, main_circuit, library)
        made = SystemPromptInjector(library).inject(
            task=task,
            values={**facts, **given},
            about_project=library.preferences.projects.get(str(project.root), ""),
            wording=wording,
            is_lasting=is_lasting,
        )
        self._tell((*library.warnings, *(_no_value(name) for name in made.missing)))
        if session_id and task is not None and made.task is not None:
            sent = SentPrompt(
                text="\n\n".join(filter(None, [made.task, made.given])),
                task=task,
                at=datetime.now(UTC),
                project=project.root,
                session_id=session_id,
                circuit=main_circuit or str(given.get("circuit_file") or facts.get("circuit_file") or ""),
            )
            self._sent |= {task: sent, None: replace(sent, text=made.identity)}
        return made

    def last_sent(self, task: TaskName | None) -> SentPrompt | None:
        """A template (None: the identity) as it was sent last; None when not since the program started."""
        return self._sent.get(task)

    async def preview(
        self,
        root: Path | None,
        task: TaskName | None,
        *,
        text: str,
        variables: tuple[IdentityVariable, ...] = (),
        main_circuit: str = "",
    ) -> Filled:
        """A text as it would be sent from the project at `root` now, with the values that exist now.

        `task` None: `text` and `variables` are those of the identity. What has no value yet stays in its
        braces and is named in `missing`. A project that cannot be read has no values. `main_circuit` as in
        `system_message`.
        """
        library = await self.load()
        if task is None:
            identity = replace(library.identity, content=text, variables=variables)
            library = replace(library, identity=identity)
        else:
            template = replace(library.templates[task], content=text)
            library = replace(library, templates={**library.templates, task: template})
        facts: dict[str, object] = {}
        if root is not None:
            facts = await asyncio.to_thread(self._facts_of_folder, root, task, library, main_circuit)
        about = "" if root is None else library.preferences.projects.get(about_key(root), "")
        made = SystemPromptInjector(library).inject(
            task=task, values=facts, about_project=about, keeps_missing=True
        )
        missing = tuple(name for name in made.missing if name in names_in(text))
        return Filled(text=made.identity if task is None else made.task or "", missing=missing)

    def _facts_of_folder(
        self, root: Path, task: TaskName | None, library: PromptLibrary, main_circuit: str
    ) -> dict[str, object]:
        """The facts of a folder, and the netlist a step would be given; blocking."""
        if self._plain_folder is None:
            return {}
        project: ProjectFiles | None = None
        try:
            project = self._plain_folder(root)
            circuit = main_circuit or self._circuit_file(project)
            facts = self._facts(project, task, {}, circuit, library)
            if circuit:
                facts["netlist"] = project.read(project.root / circuit).decode("utf-8", "replace")
        except CircuitAIError as error:
            _logger.warning("No values of the project for a prompt: %s", error)
            return {}
        finally:
            if project is not None:
                project.close()
        return facts

    def _facts(
        self,
        project: ProjectFiles,
        task: TaskName | None,
        given: Mapping[str, object],
        main_circuit: str,
        library: PromptLibrary,
    ) -> dict[str, object]:
        """The facts of the project that the texts mention; blocking."""
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
        return {
            name: find(project) for name, find in facts.items() if name in mentioned and name not in given
        }

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
    """The goals of a circuit as they are stored, as many as there is room for in each request."""
    found, room = [], _MOST_OF_GOALS
    for plain in read_goals(project, circuit).plain:
        room -= len(as_text(plain))
        if room < 0:
            break
        found.append(plain)
    return found or None
