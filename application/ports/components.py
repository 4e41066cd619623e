"""What finding components needs from the outside: an index of the libraries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from domain.components.component import Component
from domain.components.query import ComponentQuery


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

    def text(self, component: Component) -> str:
        """The lines of its card or block, and the comments above it. Raises UserInputError when gone."""

    def library(self, component: Component) -> str:
        """What has to be in a circuit for it: its file where that is small, else its own lines."""
