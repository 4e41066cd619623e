"""The file an export goes to: there whole, or not at all, and never over another by accident."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from infrastructure.persistence.confined import opened_folder, write_problem
from shared.errors import EnvironmentProblem, Stopped, UserInputError
from shared.message import msg
from shared.ulid import new_ulid


@contextmanager
def new_file(target: Path | BinaryIO | None, *, overwrite: bool) -> Iterator[BinaryIO]:
    """Where to write; put into place when the block ends well. None is the standard output.

    A file that is open already is written to as it is.

    Raises UserInputError when the file is there and not to be overwritten, or can be none;
    EnvironmentProblem when it can't be written.
    """
    if target is None:
        yield from _standard_output()
        return
    if not isinstance(target, Path):
        yield target
        return
    try:
        place = Path(os.path.realpath(target))
        if place.is_dir():
            raise IsADirectoryError(21, "a folder")
        if not overwrite and place.exists():
            raise _exists(target)
        temporary = f".{new_ulid()}.tmp"
        # The folder that was meant, also when somebody puts a link in its place meanwhile.
        with opened_folder(place.parent) as folder:
            try:
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
                with os.fdopen(os.open(temporary, flags, 0o666, dir_fd=folder), "wb") as file:
                    yield file
                    file.flush()
                    os.fsync(file.fileno())
                if overwrite:
                    os.replace(temporary, place.name, src_dir_fd=folder, dst_dir_fd=folder)
                else:  # fails when somebody was quicker
                    os.link(temporary, place.name, src_dir_fd=folder, dst_dir_fd=folder)
            finally:
                with suppress(FileNotFoundError):
                    os.unlink(temporary, dir_fd=folder)
    except FileExistsError as error:
        raise _exists(target) from error
    except (OSError, ValueError) as error:
        raise write_problem(error, target) from error


def _standard_output() -> Iterator[BinaryIO]:
    try:
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        # Whoever read us has gone (`| head`): nobody wants the rest.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise Stopped(msg("Stopped.")) from None


def _exists(target: Path) -> UserInputError:
    return UserInputError(
        msg("{path} already exists.", path=target),
        advice=msg("Choose another name, or use --force to overwrite it."),
        file=target,
        error_type="file_exists",
    )


def missing_library(name: str, error: ImportError) -> EnvironmentProblem:
    """The error when a library of an export is not installed."""
    return EnvironmentProblem(
        msg("{name}, which this needs, cannot be loaded ({reason}).", name=name, reason=error),
        advice=msg("Run make setup, which installs it."),
        error_type="missing_library",
    )
