"""What attachments need from the outside: reading what a user points at, and a place to keep it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path

    from domain.llm.attachments import PreparedAttachment


class AttachmentStore(Protocol):
    """A project's ``.circuit_ai/attachments/``: contents by their hash. Blocking: called off the loop."""

    def holding(self) -> AbstractContextManager[None]:
        """While contents are put and not yet named by a message: nobody removes anything.

        Raises EnvironmentProblem.
        """

    def keep(self, name: str, content: bytes) -> None:
        """Put a content under its `Attachment.stored_name`; it is on the disk when this returns.

        Raises EnvironmentProblem (disk full, read-only).
        """

    def read(self, name: str) -> bytes:
        """A content, verified. Raises EnvironmentProblem ("attachment_missing")."""

    def sweep(self, named: Callable[[], frozenset[str]]) -> int:
        """Remove contents of which `named` does not know the hash; how many. Raises EnvironmentProblem.

        `named` is asked while nobody holds the store.
        """


class AttachmentReader(Protocol):
    """Looks at files and bytes, and says what they are by their content. Blocking: called off the loop."""

    def read_file(self, path: Path) -> bytes:
        """The bytes of a file. Raises UserInputError (no file, no regular one, too large)."""

    def examine(self, name: str, content: bytes) -> PreparedAttachment | None:
        """A picture or a text, ready to be sent; None for a PDF, whose text has to be found first.

        Raises UserInputError: empty, too large, a picture that is broken or claims too many pixels, and
        whatever is neither a picture nor a text.
        """

    def preview(self, content: bytes, side: int) -> bytes:
        """A picture as PNG or JPEG, at most `side` pixels long. Raises UserInputError when it is none."""

    def document_text(self, content: bytes) -> str:
        """The text of a PDF, page by page. Up to seconds of Python: called in a worker process.

        Raises ValueError: "unreadable", "no_text" (pages that are pictures).
        """
