"""Prompts on the disk: the built-in files, and the user's own in ``prompts/`` of his folder.

    resources/prompts/{task_prompts,output_format_prompts,identity_prompt}.json     built-in, never written
    ~/.circuit_design_ai/prompts/custom/*.json                                      templates of the user
    ~/.circuit_design_ai/prompts/custom/identity_prompt.json                        his identity
    ~/.circuit_design_ai/prompts/preferences.json                                   his preferences

Read anew for every request, so a text that was changed (by the dialog, or by hand) holds from the next one.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

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
from infrastructure.persistence.atomic import write_atomically, write_problem
from infrastructure.persistence.regular import read_regular_file
from shared.bounded_json import read_bounded
from shared.message import Message, msg

BUILTIN = Path(__file__).resolve().parents[2] / "resources" / "prompts"
TEMPLATES_FILE = "user_prompts.json"
IDENTITY_FILE = "identity_prompt.json"
_MAX_BYTES = 8 * 2**20
_MOST_FILES = 50


class _Damaged(ValueError):
    """A file that is no JSON object."""


class PromptFiles:
    """Implements application.conversation.prompting.PromptStore."""

    def __init__(self, *, user_home: Path, builtin: Path = BUILTIN) -> None:
        self._builtin = builtin
        self._home = user_home
        self._custom = user_home / "prompts" / "custom"
        self._preferences = user_home / "prompts" / "preferences.json"
        self._writing = threading.Lock()

    def load(self) -> PromptLibrary:
        """The prompts in force. Never raises: what cannot be read is told in its `warnings`."""
        warnings: list[Message] = []

        def builtin(name: str) -> Document | None:
            return _document(self._builtin / name, warnings, must_exist=True)

        def own(path: Path) -> Document | None:
            return _document(path, warnings, must_exist=False)

        custom = [own(path) for path in self._template_files()]
        documents = PromptDocuments(
            tasks=builtin("task_prompts.json"),
            formats=builtin("output_format_prompts.json"),
            identity=builtin(IDENTITY_FILE),
            custom_tasks=tuple(document for document in custom if document is not None),
            custom_identity=own(self._custom / IDENTITY_FILE),
            preferences=own(self._preferences),
            warnings=tuple(warnings),
        )
        return understand(documents)

    def save(self, changes: PromptChanges) -> None:
        """Write what changed, each file atomically; a damaged one is kept beside its old place first.

        Raises EnvironmentProblem, UserInputError; files written before it stay written.
        """
        with self._writing:
            self._save_templates(changes.templates)
            self._save_identity(changes)
            if changes.my_preferences is not None or changes.about_projects:
                before = _content_to_change(self._preferences)
                document = preferences_document(
                    before, mine=changes.my_preferences, projects=changes.about_projects
                )
                self._write(self._preferences, document)

    def _save_templates(self, changes: Mapping[TaskName, str | None]) -> None:
        if not changes:
            return
        # What is taken back (and what gets a new text) may stand in a file the user put there himself.
        for path in self._template_files():
            if path.name == TEMPLATES_FILE:
                continue
            try:
                content = _object_in(path)
            except (OSError, ValueError):
                continue  # load() tells of it; it overrides nothing
            named: dict[TaskName, str | None] = {
                task: None for task in changes if task in entries_of(content)
            }
            if named:
                self._write(path, with_templates(content, named))
        path = self._custom / TEMPLATES_FILE
        if path.exists() or any(text is not None for text in changes.values()):
            self._write(path, with_templates(_content_to_change(path), changes))

    def _save_identity(self, changes: PromptChanges) -> None:
        path = self._custom / IDENTITY_FILE
        if changes.identity == "default":
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                raise write_problem(error, path) from error
        elif changes.identity is not None:
            text, variables = changes.identity.content, changes.identity.variables
            self._write(path, identity_document(_content_to_change(path), text, variables))

    def _template_files(self) -> list[Path]:
        """The user's files of templates; the one this program writes is the last, so it wins."""
        try:
            names = sorted(
                name
                for name in os.listdir(self._custom)  # noqa: PTH208 - names, not paths, are sorted
                if name.lower().endswith(".json") and not name.startswith(".")
            )
        except OSError:
            return []
        others = [name for name in names if name not in (TEMPLATES_FILE, IDENTITY_FILE)]
        return [self._custom / name for name in [*others[:_MOST_FILES], TEMPLATES_FILE]]

    def _write(self, path: Path, content: Mapping[str, Any]) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise write_problem(error, path) from error
        text = json.dumps(content, ensure_ascii=False, indent=2)
        # A widget may hand over half a surrogate pair; no file can.
        write_atomically(path, (text + "\n").encode("utf-8", "replace"), inside=self._home)


def _object_in(path: Path) -> dict[str, Any]:
    """The JSON object in a file. Raises OSError, _Damaged."""
    data = read_regular_file(Path(os.path.realpath(path)), max_bytes=_MAX_BYTES)
    try:
        content = read_bounded(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise _Damaged(str(error)) from error
    if not isinstance(content, dict):
        raise _Damaged("not a JSON object")
    return content


def _document(path: Path, warnings: list[Message], *, must_exist: bool) -> Document | None:
    try:
        return Document(path=str(path), content=_object_in(path))
    except (FileNotFoundError, NotADirectoryError) as error:
        reason: str | None = error.strerror if must_exist else None
    except OSError as error:
        reason = error.strerror or str(error)
    except _Damaged as error:
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
                "The built-in prompts in {path} cannot be read ({reason}); short ones serve in their place.",
                path=path,
                reason=reason,
            )
        )
    return None


def _content_to_change(path: Path) -> dict[str, Any]:
    """What the file holds now; a damaged one is moved aside and counts as empty."""
    try:
        return _object_in(path)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except _Damaged:
        aside = path.with_name(f"{path.name}.broken-{datetime.now(UTC):%Y%m%dT%H%M%S%f}")
        try:
            path.replace(aside)
        except OSError as error:
            raise write_problem(error, path) from error
        return {}
    except OSError as error:
        raise write_problem(error, path) from error
