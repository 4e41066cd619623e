"""One change of a user's file at a time: several windows and commands may write it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from infrastructure.persistence.atomic import write_problem
from infrastructure.persistence.process_locks import LockInUse, ProcessLock
from shared.errors import EnvironmentProblem
from shared.message import msg

_WAIT_S = 5.0
_PAUSE_S = 0.02


@contextmanager
def change_lock(path: Path) -> Iterator[None]:
    """Within it nobody else changes `path`; its folder is made. Blocking, up to 5 s.

    Raises EnvironmentProblem: "busy", or what a folder that can't be written to says.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = _taken(path)
    except OSError as error:
        raise write_problem(error, path) from error
    try:
        yield
    finally:
        lock.release()


def _taken(path: Path) -> ProcessLock:
    last = time.monotonic() + _WAIT_S
    while True:
        try:
            return ProcessLock(Path(os.path.realpath(path.parent), f"{path.name}.lock"))
        except LockInUse as error:
            if time.monotonic() > last:
                raise EnvironmentProblem(
                    msg("{path} is being modified by another program.", path=path),
                    advice=msg("Try again in a moment."),
                    error_type="busy",
                ) from error
            time.sleep(_PAUSE_S)
