"""Text that was typed and not saved, kept beside the files so that no end of the program loses it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from domain.llm.tools.text_files import Encoding

MOST_BYTES = 40_000_000
"""Of one text, in UTF-8; twice what a file may have that is opened for editing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnsavedText:
    """What a buffer holds that its file does not."""

    path: Path
    """Of the file, absolute; it need not be there."""
    text: str
    encoding: Encoding
    version: str
    """SHA-256 of the file the text was made from, ABSENT for none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptTexts:
    """What was found when a project's texts were claimed."""

    is_owner: bool
    """False: another window has the project open, and keeps them."""
    texts: tuple[UnsavedText, ...] = ()
    damaged: tuple[Path, ...] = ()
    """Could not be read and were set aside, here."""


class UnsavedTexts(Protocol):
    """Keeps them in the user's own folder; one window at a time owns those of a project. Blocking."""

    def claim(self, project: Path) -> KeptTexts:
        """Own the texts of a project until `release`, and get those an end of the program has left.

        Raises EnvironmentProblem or UserInputError when the user's folder can't be written to.
        """

    def keep(self, project: Path, text: UnsavedText) -> None:
        """Put a text on the disk in place of the one of its file.

        Raises UserInputError "too_large"; EnvironmentProblem when it can't be written.
        """

    def drop(self, project: Path, path: Path) -> None:
        """Keep nothing of this file any more. Raises EnvironmentProblem."""

    def release(self, project: Path) -> None:
        """Own them no more; what is kept stays for the next start. Never raises."""
