"""The write-ahead log of effects: ``operations.sqlite``."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from application.ports import OperationRecord, OperationState


class SqliteOperationLog:
    """Implements application.ports.OperationLog."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def record_intent(self, record: OperationRecord) -> None:
        """Add a record in state "intent"."""
        raise NotImplementedError

    def set_state(
        self, op_id: str, state: OperationState, *, result: Mapping[str, Any] | None = None
    ) -> None:
        """Change a record's state."""
        raise NotImplementedError

    def find(self, op_id: str) -> OperationRecord | None:
        """One record."""
        raise NotImplementedError

    def list(self, *, session_id: str = "") -> tuple[OperationRecord, ...]:
        """All records, oldest first."""
        raise NotImplementedError

    def write_lock(self) -> AbstractContextManager[None]:
        """The project-wide lock."""
        raise NotImplementedError

    def close(self) -> None:
        """Close the database."""
        raise NotImplementedError
