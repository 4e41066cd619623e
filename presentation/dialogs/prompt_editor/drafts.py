"""The texts of the prompt settings while they are edited: plain data, nothing is written before Apply."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from application.conversation.prompting import (
    IdentityText,
    PromptChanges,
    about_key,
    free_text_problems,
    identity_problems,
    template_problems,
)
from domain.llm.prompts.catalogue import TASKS, TaskName, node_of, title_of
from domain.llm.prompts.library import (
    IdentityVariable,
    PromptLibrary,
    PromptTemplate,
    TextProblem,
    is_variable_name,
)
from shared.message import Message, msg

PageName = Literal["workflow", "identity"]
IDENTITY = "identity"
PREFERENCES = "my_preferences"
ABOUT_PROJECT = "about_project"


@dataclass(slots=True, kw_only=True)
class Draft:
    """One text under edit."""

    key: str
    page: PageName
    title: Message
    origin: Message
    """What it is based on and where it is used."""
    text: str
    saved_text: str
    default_text: str
    variables: tuple[IdentityVariable, ...] = ()
    saved_variables: tuple[IdentityVariable, ...] = ()
    default_variables: tuple[IdentityVariable, ...] = ()
    template: PromptTemplate | None = None
    """None: the identity, or free text."""
    hint: Message | None = None
    """Stands in the empty editor."""

    @property
    def task(self) -> TaskName | None:
        """The template's; None for the identity and free text."""
        return None if self.template is None else self.template.task

    @property
    def is_modified(self) -> bool:
        """Whether it differs from what is on the disk."""
        return self.text != self.saved_text or self.variables != self.saved_variables

    @property
    def is_custom(self) -> bool:
        """Whether it differs from the built-in text."""
        return self.text != self.default_text or self.variables != self.default_variables

    @property
    def has_variables(self) -> bool:
        """Free text has none: braces in it are plain text."""
        return self.key not in (PREFERENCES, ABOUT_PROJECT)

    @property
    def may_change_variables(self) -> bool:
        """A template gets its values from the graph; only the identity has variables of the user's."""
        return self.key == IDENTITY

    def problems(self) -> list[TextProblem]:
        if self.template is not None:
            return template_problems(self.template, self.text)
        if self.key == IDENTITY:
            return identity_problems(self.text, self.variables)
        return free_text_problems(self.text)


class PromptDrafts:
    """All texts of the dialog. `on_changed` is called with a draft's key whenever it changes."""

    def __init__(self, library: PromptLibrary, *, project: Path | None) -> None:
        self._project = None if project is None else about_key(project)
        self.on_changed: Callable[[str], None] = lambda _key: None
        self.warnings = library.warnings
        self._drafts = {draft.key: draft for draft in self._made_from(library)}

    def __getitem__(self, key: str) -> Draft:
        return self._drafts[key]

    def of(self, page: PageName) -> list[Draft]:
        """The texts of one tab, in the order of its list."""
        return [draft for draft in self._drafts.values() if draft.page == page]

    def modified(self, page: PageName | None = None) -> list[Draft]:
        """Texts that are not written yet."""
        return [each for each in self._drafts.values() if each.is_modified and page in (None, each.page)]

    def first_refused(self) -> Draft | None:
        """A changed text that cannot be saved as it is."""
        for draft in self.modified():
            if any(problem.is_error for problem in draft.problems()):
                return draft
        return None

    def edit(self, key: str, text: str) -> None:
        draft = self._drafts[key]
        if text != draft.text:
            draft.text = text
            self.on_changed(key)

    def reset(self, key: str) -> None:
        """Back to the built-in text and variables; written with the next Apply."""
        draft = self._drafts[key]
        draft.text, draft.variables = draft.default_text, draft.default_variables
        self.on_changed(key)

    def add_variable(self, variable: IdentityVariable) -> None:
        """Add a variable to the identity, or replace the one of its name."""
        draft = self._drafts[IDENTITY]
        names = [each.name for each in draft.variables]
        if variable.name in names:
            draft.variables = tuple(
                variable if each.name == variable.name else each for each in draft.variables
            )
        else:
            draft.variables = (*draft.variables, variable)
        self.on_changed(IDENTITY)

    def remove_variable(self, name: str) -> None:
        """Take a variable out of the identity; places in the text that name it are marked then."""
        draft = self._drafts[IDENTITY]
        draft.variables = tuple(each for each in draft.variables if each.name != name)
        self.on_changed(IDENTITY)

    def refused_name(self, name: str) -> Message | None:
        """Why a new variable cannot be called so; None when it can."""
        if not is_variable_name(name):
            return msg("A name consists of letters, digits and _ and does not start with a digit.")
        if name in {each.name for each in self._drafts[IDENTITY].variables}:
            return msg('There is already a variable "{name}".', name=name)
        if name in {each.name for each in self._drafts[IDENTITY].default_variables}:
            return msg('"{name}" is a variable of the program.', name=name)
        return None

    def changes(self) -> PromptChanges:
        templates: dict[TaskName, str | None] = {}
        for draft in self.modified():
            if draft.template is not None:
                templates[draft.template.task] = draft.text if draft.is_custom else None
        identity, mine = self._drafts[IDENTITY], self._drafts[PREFERENCES]
        about = self._drafts.get(ABOUT_PROJECT)
        text = IdentityText(content=identity.text, variables=identity.variables)
        return PromptChanges(
            templates=templates,
            identity=(text if identity.is_custom else "default") if identity.is_modified else None,
            my_preferences=mine.text if mine.is_modified else None,
            about_projects=(
                {self._project: about.text} if about and about.is_modified and self._project else {}
            ),
        )

    def written(self, library: PromptLibrary, changes: PromptChanges) -> None:
        """Take up what is on the disk after `changes` were written; what was typed meanwhile stays."""
        self.warnings = library.warnings
        for fresh in self._made_from(library):
            draft = self._drafts[fresh.key]
            if not self._is_in(draft, changes) and draft.is_modified:
                continue
            draft.saved_text, draft.saved_variables = fresh.text, fresh.variables
            draft.template, draft.origin = fresh.template, fresh.origin
        for key in self._drafts:
            self.on_changed(key)

    @staticmethod
    def _is_in(draft: Draft, changes: PromptChanges) -> bool:
        if draft.template is not None:
            return draft.template.task in changes.templates
        return {
            IDENTITY: changes.identity is not None,
            PREFERENCES: changes.my_preferences is not None,
            ABOUT_PROJECT: bool(changes.about_projects),
        }[draft.key]

    def _made_from(self, library: PromptLibrary) -> Iterator[Draft]:
        for task in TASKS:
            yield _of_template(library.templates[task])
        identity = library.identity
        yield Draft(
            key=IDENTITY,
            page="identity",
            title=msg("Identity"),
            origin=msg("based on built-in {version}, first part of every request", version=identity.version),
            text=identity.content,
            saved_text=identity.content,
            default_text=identity.default_content,
            variables=identity.variables,
            saved_variables=identity.variables,
            default_variables=identity.default_variables,
        )
        yield _free_text(
            PREFERENCES,
            msg("My preferences"),
            msg("sent with every request, in all projects"),
            library.preferences.mine,
            msg("For example: E24 values only. Prefer parts that can be bought in SOT-23."),
        )
        if self._project is not None:
            yield _free_text(
                ABOUT_PROJECT,
                msg("About this project"),
                msg(
                    "sent with every request in this project; stored in your own folder, not in the project's"
                ),
                library.preferences.projects.get(self._project, ""),
                msg("For example: 3.3 V supply, the load is 600 Ω, the board has two layers."),
            )


def _of_template(template: PromptTemplate) -> Draft:
    variables = tuple(
        IdentityVariable(name=name, is_required=name in template.required) for name in template.variables
    )
    return Draft(
        key=template.task,
        page="workflow",
        title=title_of(template.task),
        origin=msg(
            'based on built-in {version}, used in step "{node}"',
            version=template.version,
            node=node_of(template.task),
        ),
        text=template.content,
        saved_text=template.content,
        default_text=template.default_content,
        variables=variables,
        saved_variables=variables,
        default_variables=variables,
        template=template,
    )


def _free_text(key: str, title: Message, origin: Message, text: str, hint: Message) -> Draft:
    return Draft(
        key=key,
        page="identity",
        title=title,
        origin=origin,
        text=text,
        saved_text=text,
        default_text="",
        hint=hint,
    )
