"""JSON files of the user's own folder: read with bounds, and set aside with a word when they are damaged.

A disk, a power cut or a hand may leave zeros, half a file, something nested deep or no object at all. What
can be learned or set again is renamed (never removed) and made anew; what decides about the user's safety
(permissions, keys, simulator settings) is not: its stores refuse until it is mended.
"""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Any

from infrastructure.persistence.regular import NotRegular, TooLarge, read_regular_file
from shared.bounded_json import read_bounded
from shared.message import Message, msg
from shared.ulid import new_ulid

_log = logging.getLogger(__name__)

DAMAGED = ".damaged"
MODELS_FILE = "models.json"
KEY_PLACES_FILE = "key_places.json"
SERVICE_COUNTS_FILE = "services.json"
FACTORS_FILE = "token_factors.json"
_REPLACEABLE = (MODELS_FILE, KEY_PLACES_FILE, SERVICE_COUNTS_FILE, FACTORS_FILE)
_MAX_BYTES = 2**20


def read_object(path: Path, *, max_bytes: int = _MAX_BYTES) -> dict[str, Any]:
    """The JSON object in a file, a link to one followed.

    Raises ValueError when it holds anything else, or is nested deeper than anything of ours; OSError.
    """
    content = read_bounded(read_regular_file(Path(os.path.realpath(path)), max_bytes=max_bytes))
    if not isinstance(content, dict):
        raise ValueError("it is no object")
    return content


def set_aside(path: Path) -> Path | None:
    """Give a damaged file the name it is kept under; None when it can't be renamed (the log says why)."""
    aside = path.with_name(f"{path.name}.{new_ulid()}{DAMAGED}")
    try:
        path.rename(aside)
    except OSError as error:
        _log.warning("%s is damaged and can't be renamed: %s", path, error)
        return None
    _log.warning("%s is damaged: it is %s now", path, aside.name)
    return aside


def set_damaged_aside(home: Path) -> tuple[Message, ...]:
    """Look at the files of the user's folder that can be made anew; what to tell the user.

    A file that can't be read at the moment (rights, a broken disk) stays where it is.
    """
    told = []
    for name in _REPLACEABLE:
        path = home / name
        try:
            read_object(path)
        except (ValueError, TooLarge, NotRegular, IsADirectoryError):
            aside = set_aside(path)
            if aside is not None:
                told.append(
                    msg("{path} is damaged and not used. It is kept as {aside}.", path=path, aside=aside.name)
                )
            else:
                told.append(msg("{path} is damaged and not used.", path=path))
        except OSError:
            continue  # none there, or not to be read: its store says so when it is needed
    return tuple(told)
