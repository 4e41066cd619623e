"""The window's log: warnings and errors in ``logs/window.log`` of the user's own folder.

Written by a thread of its own: whoever logs on the loop waits for no disk.
"""

from __future__ import annotations

import logging
import queue
from collections.abc import Iterator
from contextlib import contextmanager
from logging.handlers import QueueHandler, QueueListener, RotatingFileHandler
from pathlib import Path

_MAX_BYTES = 1_000_000
_KEPT = 3


def log_path(home: Path) -> Path:
    return home / "logs" / "window.log"


@contextmanager
def log_to_file(home: Path) -> Iterator[None]:
    """Within it warnings and errors of the whole program are written down.

    A folder that cannot be written to costs the log, not the program.
    """
    root = logging.getLogger()
    try:
        log_path(home).parent.mkdir(parents=True, exist_ok=True)
        file = RotatingFileHandler(log_path(home), maxBytes=_MAX_BYTES, backupCount=_KEPT, encoding="utf-8")
    except OSError as error:
        root.warning("no log is kept in %s: %s", home, error)
        yield
        return
    file.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    waiting: queue.SimpleQueue[logging.LogRecord] = queue.SimpleQueue()
    handler = QueueHandler(waiting)
    handler.setLevel(logging.WARNING)
    listener = QueueListener(waiting, file)
    listener.start()
    with _heard_from(root, logging.WARNING):
        root.addHandler(handler)
        try:
            yield
        finally:
            root.removeHandler(handler)
            listener.stop()
            file.close()


@contextmanager
def _heard_from(root: logging.Logger, level: int) -> Iterator[None]:
    """Within it the root lets `level` pass, and its other handlers show what they showed before."""
    before = root.level
    quiet = [handler for handler in root.handlers if handler.level < before]
    levels = [handler.level for handler in quiet]
    for handler in quiet:
        handler.setLevel(before)
    root.setLevel(min(before, level))
    try:
        yield
    finally:
        root.setLevel(before)
        for handler, kept in zip(quiet, levels, strict=True):
            handler.setLevel(kept)
