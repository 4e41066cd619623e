"""Effects on files: logged before they happen, atomic, idempotent by call, undoable one by one.

The order is the design's: operation log (intent, both hashes) -> user file (atomic) -> operation log
(done). A later start can tell what happened from the log and the file alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from application.ports import OperationLog, OperationRecord, ProjectFiles


class Operations:
    """The effects of one project. Every method may be cancelled: an effect is then whole or none."""

    def __init__(self, *, log: OperationLog, project: ProjectFiles) -> None:
        self._log = log
        self._project = project

    async def change_file(
        self,
        *,
        op_id: str,
        session_id: str,
        tool: str,
        path: Path,
        content: bytes,
        expected_sha256: str | None = None,
        result: Mapping[str, Any] | None = None,
    ) -> OperationRecord:
        """Put `content` at `path` (absolute or relative to the project) and return the done record.

        Idempotent by `op_id`: a done one is returned as it is; an intent is finished when the file
        has the before-hash, marked done when it has the after-hash. `expected_sha256` (ABSENT for no
        file) refuses to write when the file has another content by now: CircuitError
        "file_modified_externally". `result` is stored with the intent. Raises UserInputError,
        EnvironmentProblem.
        """
        raise NotImplementedError

    async def begin_simulation(self, *, op_id: str, session_id: str, tool: str) -> OperationRecord:
        """Record that a run begins (or find that it had begun, or is done)."""
        raise NotImplementedError

    async def finish(self, op_id: str, result: Mapping[str, Any]) -> OperationRecord:
        """Record a run's outcome."""
        raise NotImplementedError

    async def find(self, op_id: str) -> OperationRecord | None:
        """The record of a call, if it had an effect."""
        raise NotImplementedError

    async def settle(self, op_id: str) -> OperationRecord | None:
        """What became of a call that was interrupted: repairs its record, repeats nothing.

        done -> as it is; intent and the file has the after-hash -> done; intent and the file has the
        before-hash (or something else by now) -> abandoned; no record -> None.
        """
        raise NotImplementedError

    async def undo(self, op_id: str, *, session_id: str) -> OperationRecord:
        """Put back what was there before an operation; the undo is an operation too.

        Raises UserInputError ("no_operation"), CircuitError ("not_undoable", "already_undone",
        "file_modified_externally" when the file changed since).
        """
        raise NotImplementedError

    async def list(self, *, session_id: str = "") -> tuple[OperationRecord, ...]:
        """All records (of one session), oldest first."""
        raise NotImplementedError
