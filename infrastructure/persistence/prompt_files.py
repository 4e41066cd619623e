"""Prompts on the disk: the built-in files, and the user's own in ``prompts/`` of his folder.

    resources/prompts/{task_prompts,output_format_prompts,identity_prompt}.json     built-in, never written
    ~/.circuit_design_ai/prompts/custom/*.json                                      templates of the user
    ~/.circuit_design_ai/prompts/custom/identity_prompt.json                        his identity
    ~/.circuit_design_ai/prompts/preferences.json                                   his preferences

Read anew for every request, so a text that was changed (by the dialog, or by hand) holds from the next one.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from application.conversation.prompting import PromptChanges
from domain.llm.prompts.catalogue import TaskName
from domain.llm.prompts.documents import (
    Document,
    PromptDocuments,
    entries_of,
    identity_document,
    preferences_document,
    understand,
    with_templates,
)
from domain.llm.prompts.library import PromptLibrary
from infrastructure.persistence.confined import write_problem
from infrastructure.persistence.user_json import JsonFile
from shared.message import Message, msg

BUILTIN = Path(__file__).resolve().parents[2] / "resources" / "prompts"
TEMPLATES_FILE = "user_prompts.json"
IDENTITY_FILE = "identity_prompt.json"
_CUSTOM = Path("prompts", "custom")
_MAX_BYTES = 8 * 2**20
_MOST_FILES = 50


class PromptFiles:
    """Implements application.conversation.prompting.PromptStore."""

    def __init__(self, *, user_home: Path, builtin: Path = BUILTIN) -> None:
        self._builtin = builtin
        self._home = user_home
        self._preferences = self._file(Path("prompts", "preferences.json"))
        self._writing = threading.Lock()
        self._understood: tuple[PromptDocuments, PromptLibrary] | None = None
        """What was read last, with what it came to: the files hardly ever change between two requests."""
        self._builtin_read: dict[str, Document] = {}
        """The program's own files, which do not change while it runs."""

    def _file(self, name: Path) -> JsonFile:
        # A widget may hand over half a surrogate pair; no request can.
        return JsonFile(
            self._home, str(name), when_damaged="set aside", max_bytes=_MAX_BYTES, lone_surrogates="replace"
        )

    def _custom(self, name: str) -> JsonFile:
        return self._file(_CUSTOM / name)

    def load(self) -> PromptLibrary:
        """The prompts in force. Never raises: what cannot be read is told in its `warnings`."""
        warnings: list[Message] = []

        def builtin(name: str) -> Document | None:
            if (known := self._builtin_read.get(name)) is not None:
                return known
            file = JsonFile(self._builtin, name, max_bytes=_MAX_BYTES)
            if (found := _document(file, warnings, must_exist=True)) is not None:
                self._builtin_read[name] = found
            return found

        def own(file: JsonFile) -> Document | None:
            return _document(file, warnings, must_exist=False)

        custom = [own(file) for file in self._template_files()]
        documents = PromptDocuments(
            tasks=builtin("task_prompts.json"),
            formats=builtin("output_format_prompts.json"),
            identity=builtin(IDENTITY_FILE),
            custom_tasks=tuple(document for document in custom if document is not None),
            custom_identity=own(self._custom(IDENTITY_FILE)),
            preferences=own(self._preferences),
            warnings=tuple(warnings),
        )
        known = self._understood
        if known is None or known[0] != documents:
            self._understood = known = documents, understand(documents)
        return known[1]

    def save(self, changes: PromptChanges) -> None:
        """Write what changed, each file atomically; a damaged one is kept beside its old place first.

        Raises EnvironmentProblem, UserInputError; files written before it stay written.
        """
        with self._writing:
            self._save_templates(changes.templates)
            self._save_identity(changes)
            if changes.my_preferences is not None or changes.about_projects:
                mine, projects = changes.my_preferences, changes.about_projects
                self._preferences.rewrite(partial(preferences_document, mine=mine, projects=projects))

    def _save_templates(self, changes: Mapping[TaskName, str | None]) -> None:
        if not changes:
            return
        # What is taken back (and what gets a new text) may stand in a file the user put there himself.
        for file in self._template_files():
            if file.path.name == TEMPLATES_FILE:
                continue
            try:
                entries = entries_of(file.read())
            except (OSError, ValueError):
                continue  # load() tells of it; it overrides nothing
            named: dict[TaskName, str | None] = {task: None for task in changes if task in entries}
            if named:
                file.rewrite(partial(with_templates, changes=named))
        file = self._custom(TEMPLATES_FILE)
        if file.path.exists() or any(text is not None for text in changes.values()):
            file.rewrite(partial(with_templates, changes=changes))

    def _save_identity(self, changes: PromptChanges) -> None:
        file = self._custom(IDENTITY_FILE)
        if changes.identity == "default":
            try:
                file.path.unlink(missing_ok=True)
            except OSError as error:
                raise write_problem(error, file.path) from error
        elif changes.identity is not None:
            text, variables = changes.identity.content, changes.identity.variables
            file.rewrite(partial(identity_document, text=text, variables=variables))

    def _template_files(self) -> list[JsonFile]:
        """The user's files of templates; the one this program writes is the last, so it wins."""
        try:
            names = sorted(
                name
                for name in os.listdir(self._home / _CUSTOM)  # noqa: PTH208 - names, not paths, are sorted
                if name.lower().endswith(".json") and not name.startswith(".")
            )
        except OSError:
            return []
        others = [name for name in names if name not in (TEMPLATES_FILE, IDENTITY_FILE)]
        return [self._custom(name) for name in [*others[:_MOST_FILES], TEMPLATES_FILE]]


def _document(file: JsonFile, warnings: list[Message], *, must_exist: bool) -> Document | None:
    path = file.path
    try:
        return Document(path=str(path), content=file.read())
    except (FileNotFoundError, NotADirectoryError) as error:
        reason: str | None = error.strerror if must_exist else None
    except OSError as error:
        reason = error.strerror or str(error)
    except ValueError as error:
        reason = str(error)
    if reason is not None:
        warnings.append(
            msg(
                "The prompts in {path} cannot be read ({reason}); the built-in ones are used.",
                path=path,
                reason=reason,
            )
            if not must_exist
            else msg(
                "The built-in prompts in {path} cannot be read ({reason}); short ones are used instead.",
                path=path,
                reason=reason,
            )
        )
    return None
