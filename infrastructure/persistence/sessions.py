"""Conversations as append-only files of a project's ``.circuit_ai/conversations/``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from application.ports import SessionInfo


class TranscriptFile:
    """One conversation, open for writing. Implements application.ports.Transcript."""

    @property
    def session_id(self) -> str:
        """The session's id."""
        raise NotImplementedError

    @property
    def events(self) -> Sequence[Mapping[str, Any]]:
        """Everything read at opening and appended since."""
        raise NotImplementedError

    def append(self, *events: Mapping[str, Any]) -> None:
        """Write the events, flush and fsync."""
        raise NotImplementedError

    def close(self) -> None:
        """Give the lock back."""
        raise NotImplementedError


class SessionFiles:
    """The conversations under `folder`. Implements application.ports.SessionStore."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def create(
        self, *, work_mode: Literal["free_work", "workflow"], name: str = "", session_id: str = ""
    ) -> TranscriptFile:
        """A new conversation."""
        raise NotImplementedError

    def open(self, session_id: str) -> TranscriptFile:
        """An existing one, for writing."""
        raise NotImplementedError

    def list(self) -> tuple[SessionInfo, ...]:
        """All, the last changed first."""
        raise NotImplementedError

    def read(self, session_id: str) -> Sequence[Mapping[str, Any]]:
        """The events of one."""
        raise NotImplementedError

    def delete(self, session_id: str) -> None:
        """Remove one."""
        raise NotImplementedError
