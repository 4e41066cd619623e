"""Watches the open project for changes by anybody: our own editor, the agent, other programs.

Watchdog tells from a thread of its own; here a path's changes are held back until nothing has happened to
it for 200 ms, and then told once, on the window's thread.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject, QTimer, pyqtSignal

from presentation.ui.signals import Signal, signal
from shared.message import Message, msg
from shared.paths import (
    CONVERSATIONS_FOLDER,
    LOCK_SUFFIX,
    PROJECT_FOLDER,
    RESULT_FILE,
    RESULTS_FOLDER,
    TRANSCRIPT_SUFFIX,
)

if TYPE_CHECKING:
    from watchdog.events import FileSystemEvent
    from watchdog.observers.api import BaseObserver

_logger = logging.getLogger(__name__)

DEBOUNCE_S = 0.2
_TOLD = frozenset({"created", "modified", "deleted", "moved", "closed"})
"""Kinds of events; opening and reading a file are events of watchdog too."""


class FileWatch(QObject):
    """One project at a time. Signals are emitted on the thread that made it."""

    changed: Signal[Path] = signal(object)
    """Made, written or removed"""
    moved: Signal[Path, Path] = signal(object, object)
    """Old, new"""
    result_stored = pyqtSignal()
    """A result was written or removed in the project's own folder"""
    conversation_stored: Signal[str] = signal(str)
    """The transcript of a conversation (its id) was written, or given back by who had it open"""
    failed: Signal[Message] = signal(object)
    """The folder cannot be watched"""

    _arrived = pyqtSignal(str, str, str)
    """kind, path, new path ("" when it was not moved); queued to our thread by Qt"""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.root: Path | None = None
        self._observer: BaseObserver | None = None
        self._due: dict[Path, float] = {}
        """When each path that changed is told, monotonic seconds."""
        self._moves: dict[Path, Path] = {}
        """New place -> old place, told when the new one is due."""
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._tell_due)
        self._arrived.connect(self._on_arrived)

    async def start(self, root: Path) -> None:
        """Watch a folder (a real path) and all below it, in place of the one before."""
        await self.stop()
        self.root = root
        try:
            self._observer = await asyncio.to_thread(_observe, root, self._tell_from_thread)
        except OSError as error:
            _logger.warning("%s is not watched: %s", root, error)
            self.failed.emit(
                msg(
                    "Changes made by other programs are not detected in this folder ({reason}).",
                    reason=error.strerror or error,
                )
            )

    async def stop(self) -> None:
        """Watch nothing; returns when watchdog's threads have ended."""
        observer, self._observer = self._observer, None
        self.root = None
        self._timer.stop()
        self._due.clear()
        self._moves.clear()
        if observer is not None:
            await asyncio.shield(asyncio.to_thread(_end, observer))

    def _tell_from_thread(self, event: FileSystemEvent) -> None:
        """On watchdog's thread."""
        root = self.root
        if (
            root is not None
            and event.event_type in _TOLD
            and not (event.is_directory and event.event_type == "modified")
        ):
            source = _text(event.src_path)
            target = _text(getattr(event, "dest_path", "")) if event.event_type == "moved" else ""
            # A run writes hundreds of files of no interest: they are no work for the window's thread.
            if _concerns(source, root) or _concerns(target, root):
                self._arrived.emit(event.event_type, source, target)

    def _on_arrived(self, kind: str, source: str, target: str) -> None:
        root = self.root
        if root is None:
            return
        old, new = Path(source), Path(target) if target else None
        for path in (old, new):
            if path is not None and _is_result(path, root):
                self.result_stored.emit()
            if path is not None and _is_conversation(path, root):
                self.conversation_stored.emit(path.stem)
        from application.project.browsing import (
            is_ours_or_temporary,  # late: the bare frame is painted without it
        )

        old_counts = not is_ours_or_temporary(old, root) and old.is_relative_to(root)
        new_counts = new is not None and not is_ours_or_temporary(new, root) and new.is_relative_to(root)
        # A temporary file that takes a file's place is a change of that file, not a move.
        if kind == "moved" and old_counts and new_counts and new is not None:
            self._moves[new] = self._moves.pop(old, old)
        # Where a file is at the old place again, the other was set aside, as programs do that keep what was
        # there before they write: who has opened the new one by now is not led away from it.
        there = old if kind == "created" else new
        self._moves = {at: place for at, place in self._moves.items() if place != there}
        for path, counts in ((old, old_counts), (new, new_counts)):
            if path is not None and counts:
                self._due[path] = time.monotonic() + DEBOUNCE_S
        self._arm()

    def _arm(self) -> None:
        if self._due and not self._timer.isActive():
            wait = max(min(self._due.values()) - time.monotonic(), 0.0)
            self._timer.start(int(wait * 1000) + 1)

    def _tell_due(self) -> None:
        now = time.monotonic()
        due = [path for path, when in self._due.items() if when <= now]
        for path in due:
            del self._due[path]
        # A move is told before anything else of its two places: else its tab would count as removed.
        for new, old in [(new, old) for new, old in self._moves.items() if new in due or old in due]:
            del self._moves[new]
            if old != new:
                self.moved.emit(old, new)
        for path in due:
            self.changed.emit(path)
        self._arm()


def _text(path: str | bytes) -> str:
    return path if isinstance(path, str) else path.decode("utf-8", "surrogateescape")


def _concerns(path: str, root: Path) -> bool:
    """Whether anything is told of a path."""
    if not path.startswith(f"{root}{os.sep}{PROJECT_FOLDER}{os.sep}"):
        return bool(path)
    return _is_result(Path(path), root) or _is_conversation(Path(path), root)


def _is_result(path: Path, root: Path) -> bool:
    results = root / PROJECT_FOLDER / RESULTS_FOLDER
    return path.is_relative_to(results) and (path.name == RESULT_FILE or path.parent == results)


def _is_conversation(path: Path, root: Path) -> bool:
    folder = root / PROJECT_FOLDER / CONVERSATIONS_FOLDER
    return path.parent == folder and path.suffix in (TRANSCRIPT_SUFFIX, LOCK_SUFFIX)


def _observe(root: Path, tell: Callable[[FileSystemEvent], None]) -> BaseObserver:
    """Blocking: every folder below gets its watch. Raises OSError (too many folders, no permission)."""
    from watchdog.events import FileSystemEventHandler
    from watchdog.observers import Observer

    class Handler(FileSystemEventHandler):
        def on_any_event(self, event: FileSystemEvent) -> None:
            tell(event)

    # A folder that is not there would be found too late: watchdog has started a thread by then.
    os.scandir(root).close()
    observer = Observer()
    observer.schedule(Handler(), str(root), recursive=True)
    observer.daemon = True
    try:
        observer.start()
    except BaseException:
        for emitter in observer.emitters:
            emitter.stop()
        raise
    return observer


def _end(observer: BaseObserver) -> None:
    """Stop it and wait for its threads.

    An event that is being read just then is dropped, which is right; watchdog logs that as an error.
    """
    logger = logging.getLogger("watchdog.observers.inotify")
    logger.addFilter(_is_worth_telling)
    try:
        observer.stop()
        observer.join()
    finally:
        logger.removeFilter(_is_worth_telling)


def _is_worth_telling(record: logging.LogRecord) -> bool:
    return "called when the thread is inactive" not in record.getMessage()
