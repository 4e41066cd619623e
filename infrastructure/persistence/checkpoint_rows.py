"""The rows of a conversation in ``checkpoints.sqlite``, without importing LangGraph."""

from __future__ import annotations

import logging
from contextlib import closing
from pathlib import Path

from shared.errors import EnvironmentProblem

_logger = logging.getLogger(__name__)

_BUSY_S = 5.0


def forget_thread(path: Path, thread_id: str) -> None:
    """Remove all that a database of checkpoints has of a thread; blocking.

    What stands in the way is logged: rows of a conversation that is gone harm nobody.
    """
    import sqlite3  # listing conversations does without

    from infrastructure.persistence.databases import CHECKPOINTS, check_files, check_kind

    try:
        if not check_files(path):
            return
        with closing(sqlite3.connect(path, timeout=_BUSY_S)) as connection, connection:
            check_kind(connection, path, CHECKPOINTS)
            tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
            for table in sorted({"writes", "checkpoints"} & tables):
                connection.execute(f"DELETE FROM {table} WHERE thread_id = ?", (thread_id,))  # noqa: S608
    except (sqlite3.Error, OSError, EnvironmentProblem) as error:
        _logger.warning("Checkpoints of the conversation %s could not be removed: %s", thread_id, error)
