"""Where tools put a new file that is made of results: never over another."""

from __future__ import annotations

import re
from pathlib import Path

from application.ports.project_view import ProjectView
from shared.errors import UserInputError
from shared.message import msg

_MOST_NAMES = 1000
_LONGEST_STEM = 60


def plain_stem(name: str) -> str:
    """Only what is harmless in a file's name; "" where nothing is."""
    return re.sub(r"[^\w+-]+", "_", name).strip("_")[:_LONGEST_STEM]


def vacant(view: ProjectView, text: str, suffixes: tuple[str, ...]) -> Path:
    """The place of a new file that was named. Raises UserInputError when something is there."""
    path = view.locate_for_writing(text, suffixes)
    if path.exists():
        raise UserInputError(
            msg("{path} already exists; it was not replaced.", path=view.name_of(path)),
            advice=msg("Choose another name, or omit `to` for a new one."),
            error_type="file_exists",
        )
    return path


def free_name(
    view: ProjectView, stem: str, suffix: str, suffixes: tuple[str, ...], *, beside: str = ""
) -> Path:
    """A name nothing has: ``stem.svg``, ``stem-2.svg`` ...; `beside`: what files beside it are called after
    its stem, of which there is none either."""
    for number in range(1, _MOST_NAMES):
        path = view.locate_for_writing(f"{stem}{'' if number == 1 else f'-{number}'}{suffix}", suffixes)
        if not path.exists() and not (beside and path.with_name(f"{path.stem}{beside}").exists()):
            return path
    raise UserInputError(
        msg("There are too many files with names like {path}.", path=f"{stem}{suffix}"),
        advice=msg("Give a name with `to`."),
        error_type="file_exists",
    )
