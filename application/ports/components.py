"""What finding components needs from the outside: an index of the libraries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from domain.components.component import Component
from domain.components.query import ComponentQuery

if TYPE_CHECKING:
    from application.ports.project import OperationRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryState:
    """How far the index has come."""

    files: int = 0
    """Of the libraries."""
    pending: int = 0
    """Of these, not read yet."""
    skipped: Mapping[str, int] = field(default_factory=dict)
    """Files and folders left out, by reason: too_many, too_deep."""
    problem: str = ""
    """Why nothing can be kept: "" when it can."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundComponents:
    """What a search gave, the best first."""

    components: tuple[Component, ...] = ()
    total: int = 0
    by_group: Mapping[str, int] = field(default_factory=dict)
    """How many of each of `component.GROUPS` the search finds, whichever group was asked for."""
    unstated: int = 0
    """Those that would be found, but whose library does not state a figure that was asked for."""


class KeepFiles(Protocol):
    """New files of a project, as operations that can be undone."""

    async def add_file(
        self, folder: Path, name: str, content: bytes, *, session_id: str, tool: str
    ) -> OperationRecord:
        """Write a new file of the project at `folder`; where the name is taken, a number goes behind it.

        Raises UserInputError, CircuitError, EnvironmentProblem.
        """

    async def undo(self, folder: Path, op_id: str) -> object:
        """Take it back. Raises CircuitError where the file was changed since."""


class ComponentIndex(Protocol):
    """The components of library folders. Blocking; travels to worker processes by pickle.

    The files are the truth: whatever happens to the index, it is brought up to date or built again.
    """

    def state(self, folders: Sequence[Path]) -> LibraryState:
        """What is new or changed below the folders (or files) is pending; nothing is read."""

    def update(self, folders: Sequence[Path], limit_s: float) -> LibraryState:
        """Read what is new or changed, for about `limit_s` seconds; forget what is gone."""

    def search(
        self, query: ComponentQuery, folders: Sequence[Path], *, group: str = "", most: int, skip: int = 0
    ) -> FoundComponents:
        """Search what lies below the folders. `group` is a key of `component.GROUPS`; "" = all."""

    def holders(self, names: Sequence[str], folders: Sequence[Path]) -> Mapping[str, tuple[str, ...]]:
        """The files below the folders that have a component of these names, by the name in lower case; names
        that none has are left out."""

    def text(self, component: Component) -> str:
        """The lines of its card or block, and the comments above it. Raises UserInputError when gone."""

    def library(self, component: Component) -> str:
        """What has to be in a circuit for it: its file where that is small, else its own lines."""
