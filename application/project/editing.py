"""Files of the user's as an editor needs them: read with their encoding, written back with a backup.

The file on the disk is the truth. A file is written only when it still is what the editor read (or what
the user chose to replace), atomically, and what was there is kept: in the project's object store, outside
of a project beside it as ``name~``.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from application.ports.project import ABSENT, ProjectFiles, Projects
from domain.llm.tools.text_files import (
    BinaryFileError,
    Encoding,
    NotEncodableError,
    TextFile,
    decode,
    encode,
)
from shared.errors import CircuitError, UserInputError
from shared.message import msg
from shared.paths import project_root_of

MAX_BYTES = 64_000_000
"""Larger files are not opened for editing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedFile:
    """A text file as it was read."""

    path: Path
    """As it was named, absolute."""
    content: TextFile
    version: str
    """SHA-256 of its bytes."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EditFiles:
    """The use case; one instance serves any number of files at the same time."""

    projects: Projects
    plain_folder: Callable[[Path], ProjectFiles]
    """Makes the project object of a folder that need not be a project; used for reading only."""
    write_file: Callable[[Path, bytes], None]
    """Puts a file on the disk, whole or not at all."""

    async def read(self, path: Path) -> OpenedFile:
        """The text in `path`.

        Raises UserInputError: "file_not_found"; "too_large"; "binary_file"; no regular, readable file.
        """
        return await asyncio.to_thread(self._read, path)

    def _read(self, path: Path) -> OpenedFile:
        real = Path(os.path.realpath(path))
        try:
            is_large = real.stat().st_size > MAX_BYTES
        except OSError:
            is_large = False  # the reader says below what is wrong with it
        if is_large:
            raise UserInputError(
                msg("{path} is larger than 64 MB; it is not opened for editing.", path=path),
                advice=msg("Open it in another program."),
                file=path,
                error_type="too_large",
            )
        data = self.plain_folder(real.parent).read(real)
        try:
            content = decode(data)
        except BinaryFileError as error:
            raise UserInputError(
                msg("{path} is not a text file.", path=path),
                advice=msg("Open it in another program."),
                file=path,
                error_type="binary_file",
            ) from error
        return OpenedFile(path=path, content=content, version=version_of(data))

    def save(self, path: Path, text: str, *, encoding: Encoding, expected: str | None = None) -> OpenedFile:
        """Write `text` in `encoding`; its line ends stay as they are. Blocking: called off the loop.

        `expected` is the version the text was made from (ABSENT for no file): when the file has another
        one by now, nothing is written. None writes whatever is there. Raises UserInputError
        ("not_encodable", with the line), CircuitError ("file_modified_externally"), EnvironmentProblem.
        """
        try:
            data = encode(text, encoding)
        except NotEncodableError as error:
            raise UserInputError(
                msg(
                    "“{character}” on line {line} cannot be saved in {encoding}, the encoding of {path}.",
                    character=error.character,
                    line=error.line,
                    encoding=error.encoding,
                    path=path,
                ),
                advice=msg("Save the file as UTF-8, or remove the character."),
                file=path,
                line=error.line,
                error_type="not_encodable",
            ) from error
        real = Path(os.path.realpath(path))
        root = project_root_of(real)
        if root is None:
            self._write_beside(real, data, expected)
        else:
            self._write_in_project(root, real, data, expected)
        return OpenedFile(path=path, content=TextFile(text=text, encoding=encoding), version=version_of(data))

    def _write_in_project(self, root: Path, path: Path, data: bytes, expected: str | None) -> None:
        project = self.projects.open(root)
        try:
            with project.operations.write_lock():  # not between the steps of an operation on the same file
                _refuse_unless(expected, _current(project, path), path)
                project.write(Path(project.place_of(path)), data)
        finally:
            project.close()

    def _write_beside(self, path: Path, data: bytes, expected: str | None) -> None:
        current = _current(self.plain_folder(path.parent), path)
        _refuse_unless(expected, current, path)
        if current is not None and current != data:
            self.write_file(path.with_name(path.name + "~"), current)
        self.write_file(path, data)


def version_of(data: bytes) -> str:
    """What tells whether a file is the one that was read."""
    return hashlib.sha256(data).hexdigest()


def _current(project: ProjectFiles, path: Path) -> bytes | None:
    try:
        return project.read(path)
    except UserInputError as error:
        if error.error_type != "file_not_found":
            raise
        return None


def _refuse_unless(expected: str | None, current: bytes | None, path: Path) -> None:
    if expected is None:
        return
    found = ABSENT if current is None else version_of(current)
    if found != expected:
        raise CircuitError(
            msg("{path} was modified by another program in the meantime; it was not written.", path=path),
            advice=msg("Compare the two, then keep your version or take theirs."),
            file=path,
            error_type="file_modified_externally",
        )
