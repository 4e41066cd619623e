"""Where the user's decisions about calls are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from domain.llm.tools.confirmation import Permissions, Rule


class PermissionStore(Protocol):
    """Rules and protected files of each project, kept in the user's own folder by the project's path.

    Never in the project: a cloned project must not bring its own, and one that was moved asks anew.
    Blocking: called off the loop.
    """

    def of_project(self, root: Path) -> Permissions:
        """What was decided for a project. Raises UserInputError ("damaged") when the file can't be read."""

    def add_rules(self, root: Path, rules: Iterable[Rule]) -> None:
        """Add rules; those that are there stay once. Raises UserInputError, EnvironmentProblem."""

    def remove_rules(self, root: Path, rules: Iterable[Rule]) -> None:
        """Remove rules. Raises UserInputError, EnvironmentProblem."""

    def protect(self, root: Path, path: str, *, is_protected: bool) -> None:
        """Protect a file or folder (relative to the project), or no longer. Raises as above."""

    def consent(self, root: Path, destination: str, *, is_given: bool) -> None:
        """Let a project's contents be sent to a server always, or no longer. Raises as above."""


class UsedAnswers(Protocol):
    """Which answers of the user were acted on, kept in his own folder: an answer counts once.

    An older copy of a conversation that ends behind his "allow" is signed like the newer one. Blocking.
    """

    def is_spent(self, answer_id: str, call_id: str) -> bool:
        """Whether the call was made because of this answer."""

    def spend(self, answer_id: str, call_id: str) -> bool:
        """Note that the call is made because of it; False when it was before."""
