"""Changes of several files at once: open texts as one step of undo each, others on the disk as one operation.

All of it, or nothing: a file that is another by now than the changes were made for is found before anything
is written.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from application.groups.project import Project
from application.project.editing import version_of
from presentation.panels.editor.page import EditorPage
from presentation.panels.editor.text_changes import TextEdit
from presentation.ui.workspace import WindowServices
from shared.errors import CircuitError, UserInputError
from shared.message import msg


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What happens to one file."""

    before: bytes
    """What the edits were made for: UTF-8 of an open text, the file's bytes of another."""
    edits: tuple[TextEdit, ...]
    """Descending."""

    @property
    def after(self) -> bytes:
        data = self.before
        for edit in self.edits:
            data = data[: edit.start] + edit.text + data[edit.end :]
        return data


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What was changed, to be taken back."""

    op_id: str
    """Of the operation on the disk; "" for none."""
    files: tuple[Path, ...]
    """On the disk."""
    pages: tuple[tuple[EditorPage, str], ...]
    """With the text each had then."""


class FileEdits:
    """Carries them out, and takes them back."""

    def __init__(
        self, services: WindowServices, project: Project, pages: Callable[[], Sequence[EditorPage]]
    ) -> None:
        self._services = services
        self._project = project
        self._pages = pages

    async def apply(self, changes: Mapping[Path, Change], *, tool: str) -> Done:
        """Change these files (by real path). Raises CircuitError ("file_modified_externally"),
        UserInputError ("outside_project"), EnvironmentProblem; nothing was changed then."""
        pages = {_real(page.path): page for page in self._pages()}
        open_changes = [(pages[path], change) for path, change in changes.items() if path in pages]
        _refuse_changed(open_changes)
        on_disk = {path: change for path, change in changes.items() if path not in pages}
        op_id = await self._write(on_disk, tool)
        try:
            _refuse_changed(open_changes)  # somebody may have typed meanwhile
        except CircuitError:
            await self.take_back(Done(op_id=op_id, files=tuple(on_disk), pages=()))
            raise
        for page, change in open_changes:
            page.editor.apply(change.edits)
        texts = tuple((page, page.editor.text()) for page, _ in open_changes)
        return Done(op_id=op_id, files=tuple(on_disk), pages=texts)

    async def take_back(self, done: Done) -> None:
        """Undo it: in texts that are still as they were made, and on the disk. Raises as an undo does."""
        root = self._services.workspace.root
        if done.op_id and root is not None:
            await self._project.operations.undo(root, done.op_id)
            for path in done.files:
                self._services.workspace.file_changed.emit(path)
        for page, text in done.pages:
            if not page.is_closed and page.editor.text() == text:
                page.editor.undo()

    async def _write(self, changes: Mapping[Path, Change], tool: str) -> str:
        if not changes:
            return ""
        root = self._services.workspace.root
        home = None if root is None else _real(root)
        outside = [path for path in changes if home is None or not path.is_relative_to(home)]
        if root is None or outside:
            raise UserInputError(
                msg("{name} is not in the project and would have to be changed too.", name=outside[0].name),
                advice=msg("Open the file and change it yourself, or copy it into the project."),
                file=outside[0],
                error_type="outside_project",
            )
        contents = await asyncio.to_thread(lambda: {path: change.after for path, change in changes.items()})
        expected = {path: version_of(change.before) for path, change in changes.items()}
        record = await self._project.operations.rewrite(root, contents, expected=expected, tool=tool)
        for path in changes:
            self._services.workspace.file_changed.emit(path)
        return record.op_id


def _refuse_changed(changes: Sequence[tuple[EditorPage, Change]]) -> None:
    for page, change in changes:
        if page.editor.isReadOnly() or page.editor.text().encode("utf-8", "replace") != change.before:
            raise CircuitError(
                msg("{name} was changed in the meantime; nothing was written.", name=page.path.name),
                advice=msg("Try again."),
                file=page.path,
                error_type="file_modified_externally",
            )


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))
