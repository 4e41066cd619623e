"""A change that somebody may accept, and what is known of it: what panels and `Previews` exchange."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from application.goal_checks.previewing import ChangePreview
    from domain.llm.tools.confirmation_card import CallOnCard
    from shared.message import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A change."""

    contents: Mapping[Path, bytes | None] = field(default_factory=dict)
    """What its files would hold; None: the file is gone."""
    calls: Sequence[CallOnCard] = ()
    """In place of that: calls of a model, which would change the files on the disk."""
    circuit: Path | None = None
    """The circuit it is about first, whether or not it has goals."""
    is_seen: Callable[[], bool] = lambda: True
    """Nothing is simulated for one that nobody sees."""
    is_undo: bool = False
    """It takes a change back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What is known of a proposal. Nothing is said of one that concerns no circuit."""

    state: Literal["working", "asks", "done"]
    """asks: it is simulated when somebody wants it."""
    change: ChangePreview | None = None
    reason: Message | None = None
    """asks: why it was not done; done without `change`: why it could not be."""


Told = Callable[[Preview | None], None]
"""None: the proposal concerns no circuit."""


class Previews(Protocol):
    """Simulates proposals, the newest first; the curves of the one that was asked for last are drawn."""

    def ask(self, key: str, proposal: Proposal, told: Told) -> None:
        """Say what it would do, now and whenever the texts are others, until it is forgotten."""

    def want(self, key: str) -> None:
        """Simulate it, however long it takes."""

    def forget(self, key: str) -> None:
        """It was accepted, refused or left: nothing of it is shown any more."""

    def look_again(self) -> None:
        """Something may be seen by now."""
