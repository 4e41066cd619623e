"""A project's files as tools may see them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Literal, Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderEntry:
    """A file or folder of a project, met while walking through it."""

    name: str
    """Relative to the project, forward slashes; a name that is no text has its bytes escaped."""
    path: Path
    kind: Literal["file", "folder", "link", "special"]
    """link: one that leads out of the project, or to a folder; special: a pipe, socket or device."""
    size: int
    """Bytes; 0 for what is no file."""


class ProjectView(Protocol):
    """A project's files as tools may see them; nothing outside is opened or told about.

    Blocking: called off the loop. Travels to worker processes by pickle.
    """

    @property
    def root(self) -> Path:
        """The project folder, links resolved."""

    @property
    def libraries(self) -> tuple[Path, ...]:
        """Folders (or single files) outside that may be read, never written."""

    def locate(self, text: str) -> Path:
        """The real path of an existing file a tool may read: of the project, or of a library folder.

        Raises UserInputError ("bad_path", "outside_project", "file_not_found", "not_a_file").
        """

    def locate_for_writing(self, text: str, suffixes: tuple[str, ...] = ...) -> Path:
        """The real path of a file a tool may write; it and its folders need not exist.

        `suffixes` are the kinds allowed, in lower case; without them those of texts.

        Raises UserInputError ("bad_path", "outside_project", "not_a_file", "suffix_not_allowed",
        "protected_path").
        """

    def locate_for_moving(self, text: str) -> Path:
        """The place of a file or folder a tool may move or delete, all that is in it included.

        Raises UserInputError as `locate_for_writing`, and "file_not_found", "not_a_file" for a link.
        """

    def locate_for_making(self, text: str, *, is_folder: bool, moved: Path | None = None) -> Path:
        """The real path of a file or folder a tool may make (`moved`: by moving that). It may be there.

        Raises UserInputError as `locate_for_writing`, and "target_exists" for a name that differs from one
        that is there in letter case only.
        """

    def locate_folder(self, text: str) -> Path:
        """The real path of a folder of the project ("" and "." are the project itself).

        Raises UserInputError ("bad_path", "outside_project", "file_not_found", "not_a_folder").
        """

    def locate_result(self, text: str) -> Path | None:
        """The real path of a stored result (its folder, result.json or raw file), None when it names none.

        Raises UserInputError ("bad_path", "outside_project", "file_not_found").
        """

    def newest_result(
        self, circuit: Path | None, *, ours: bool = True, beside: Path | None = None
    ) -> Path | None:
        """The result.json of the newest stored result (of one circuit); None when there is none.

        Those made here, or (`ours` false) those made on another computer or changed by another program.
        `beside`: the one that was made last but for this result.json. Studies, which have no waveforms, do
        not count.
        """

    def numbered_result(self, number: int) -> Path | None:
        """The result.json of the run the list of results counts as `number` (1 = the oldest kept)."""

    def result_number(self, result: Path) -> int | None:
        """The number the list of results gives a result.json; None for one that is not the project's."""

    def for_network(self) -> ProjectView:
        """The view of a model on the network: without what ``.circuitaiignore`` names.

        Its `locate` and `locate_for_writing` raise UserInputError ("ignored") for such a file.
        """

    def open(self, path: Path) -> BufferedReader:
        """A located file, open for reading. Raises OSError when it is no regular file (any more)."""

    def name_of(self, path: Path) -> str:
        """How a tool names `path`: relative to the project with forward slashes, absolute outside."""

    def walk(self, folder: Path) -> Iterator[FolderEntry]:
        """What is in `folder` and below, sorted, folders before what is in them, links not followed.

        Hidden files and folders are left out, and what cannot be read.
        """
