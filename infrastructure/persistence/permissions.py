"""What the user decided about calls, project by project, in ``permissions.json`` of his own folder.

Kept by the project's real path and never inside the project: a cloned project must not bring its own
permissions, and one that was moved is asked about anew.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from domain.llm.tools.confirmation import Permissions, Rule, rule_from_plain, rule_to_plain
from infrastructure.persistence.user_json import JsonFile
from shared.errors import UserInputError
from shared.message import msg

FILE = "permissions.json"
SCHEMA_VERSION = 1

_Change = Callable[[Permissions], Permissions]


class PermissionFile:
    """Implements application.ports.permissions.PermissionStore."""

    def __init__(self, *, user_home: Path) -> None:
        self._file = JsonFile(
            user_home,
            FILE,
            refusal=_damaged,
            new={"schema_version": SCHEMA_VERSION, "projects": {}},
            version=SCHEMA_VERSION,
            max_bytes=4 * 2**20,
            mode=0o600,
        )

    def of_project(self, root: Path) -> Permissions:
        """What was decided for a project. Raises UserInputError ("damaged") when the file can't be read.

        A file that can't be understood counts never as one without rules: it may hold one that denies.
        """
        return self._of(self._file.load(), root)

    def add_rules(self, root: Path, rules: Iterable[Rule]) -> None:
        new = tuple(rules)
        self._change(
            root,
            lambda old: replace(old, rules=tuple(dict.fromkeys((*old.rules, *new)))),
        )

    def remove_rules(self, root: Path, rules: Iterable[Rule]) -> None:
        gone = frozenset(rules)
        self._change(
            root,
            lambda old: replace(old, rules=tuple(rule for rule in old.rules if rule not in gone)),
        )

    def protect(self, root: Path, path: str, *, is_protected: bool) -> None:
        """Protect a file or folder, or no longer. Raises UserInputError, EnvironmentProblem."""

        def changed(old: Permissions) -> Permissions:
            others = tuple(name for name in old.protected if name != path)
            return replace(old, protected=(*others, path) if is_protected else others)

        self._change(root, changed)

    def consent(self, root: Path, destination: str, *, is_given: bool) -> None:
        """Let a project's contents be sent to a server always, or no longer. Raises as `protect` does."""

        def changed(old: Permissions) -> Permissions:
            others = tuple(name for name in old.consents if name != destination)
            return replace(old, consents=(*others, destination) if is_given else others)

        self._change(root, changed)

    def _change(self, root: Path, change: _Change) -> None:
        with self._file.change() as content:
            before = self._of(content, root)
            after = change(before)
            if after != before:
                content["projects"].setdefault(os.path.realpath(root), {}).update(
                    rules=[rule_to_plain(rule) for rule in after.rules],
                    protected=list(after.protected),
                    consents=list(after.consents),
                )

    def _of(self, content: dict[str, Any], root: Path) -> Permissions:
        version = content.get("schema_version")
        try:
            if not isinstance(version, int) or version > SCHEMA_VERSION:
                raise ValueError("another version")
            entry = content["projects"].get(os.path.realpath(root), {})
            protected, consents = entry.get("protected", []), entry.get("consents", [])
            if not all(isinstance(name, str) and name for name in (*protected, *consents)):
                raise TypeError("protected files and servers have to be texts")
            return Permissions(
                rules=tuple(rule_from_plain(rule) for rule in entry.get("rules", [])),
                protected=tuple(protected),
                consents=tuple(consents),
            )
        except (TypeError, ValueError, KeyError, AttributeError) as error:
            raise _damaged(self._file.path) from error


def _damaged(path: Path) -> UserInputError:
    return UserInputError(
        msg("The permissions file {path} cannot be read: it is damaged or from a newer version.", path=path),
        advice=msg("Fix or delete the file; until then no tool is run."),
        file=path,
        error_type="damaged",
    )
