"""JSON files of the user's own folder: read with bounds, changed by one at a time, never half written.

A disk, a power cut or a hand may leave zeros, half a file, something nested deep or no object at all. What
can be learned or set again is renamed (never removed) and made anew; what decides about the user's safety
(permissions, keys, simulator settings) is not: its stores refuse until it is mended.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Literal

from infrastructure.persistence.confined import NotRegular, TooLarge, read_regular_file
from shared.errors import CircuitAIError, EnvironmentProblem
from shared.message import Message, msg
from shared.safe_json import read_bounded

_log = logging.getLogger(__name__)

DAMAGED = ".damaged"
MODELS_FILE = "models.json"
KEY_PLACES_FILE = "key_places.json"
SERVICE_COUNTS_FILE = "services.json"
FACTORS_FILE = "token_factors.json"
_REPLACEABLE = (MODELS_FILE, KEY_PLACES_FILE, SERVICE_COUNTS_FILE, FACTORS_FILE)
_VERSION = "schema_version"

_DAMAGE = (ValueError, TooLarge, NotRegular, IsADirectoryError)

WhenDamaged = Literal["refuse", "set aside", "forget"]


def cannot_be_changed(path: Path) -> CircuitAIError:
    """The refusal to change a file that can't be read."""
    return EnvironmentProblem(
        msg("{path} cannot be read, so it is not changed.", path=path),
        advice=msg("Fix or delete the file."),
        file=path,
        error_type="damaged",
    )


class JsonFile:
    """One JSON object in a file of the folder `home`. Blocking; a change excludes those of other processes.

    `when_damaged` says what `load` and `change` make of a damaged file: raise `refusal`, set it aside and
    begin with `new`, or begin with `new` and write over it. `new` also stands for a missing file.
    A file of the version `version` says so; what a newer program wrote keeps its own number.
    """

    def __init__(
        self,
        home: Path,
        name: str,
        *,
        when_damaged: WhenDamaged = "refuse",
        refusal: Callable[[Path], CircuitAIError] = cannot_be_changed,
        new: Mapping[str, Any] | None = None,
        version: int = 0,
        max_bytes: int = 2**20,
        mode: int | None = None,
        is_durable: bool = True,
        lone_surrogates: str = "backslashreplace",
    ) -> None:
        self.path = home / name
        self._home = home
        self._when_damaged = when_damaged
        self._refusal = refusal
        self._new = json.dumps(new or {})
        self._version = version
        self._max_bytes = max_bytes
        self._mode = mode
        self._is_durable = is_durable
        self._lone_surrogates = lone_surrogates

    def read(self) -> dict[str, Any]:
        """The object, a link to the file followed.

        Raises ValueError when it holds anything else, or is nested deeper than anything of ours; OSError.
        """
        data = read_regular_file(Path(os.path.realpath(self.path)), max_bytes=self._max_bytes)
        try:
            content = read_bounded(data)
        except UnicodeDecodeError:  # names of files that are no text, as they were written before
            content = read_bounded(data.decode("utf-8", "surrogateescape"))
        if not isinstance(content, dict):
            raise ValueError("it is no object")
        return content

    def load(self) -> dict[str, Any]:
        """The object; `new` where there is no file. What else happens, `when_damaged` says.

        A file that can't be read at the moment (rights, a broken disk) is never set aside, but refused.
        """
        try:
            return self.read()
        except (FileNotFoundError, NotADirectoryError):
            pass
        except (OSError, ValueError) as error:
            if self._when_damaged == "forget":
                _log.warning("%s is not used: %s", self.path, error)
            elif self._when_damaged == "refuse" or not isinstance(error, _DAMAGE):
                raise self._refusal(self.path) from error
            else:
                self.set_aside()
        content: dict[str, Any] = json.loads(self._new)
        return content

    def write(self, content: Mapping[str, Any]) -> None:
        """Replace the file atomically; its folder is made. Raises EnvironmentProblem, UserInputError."""
        from infrastructure.persistence.confined import write_atomically, write_problem

        if self._version:
            found = content.get(_VERSION)
            is_newer = isinstance(found, int) and found > self._version
            content = {**content, _VERSION: found if is_newer else self._version}
        # A lone surrogate (half a name that is no text) becomes what JSON writes for it.
        data = json.dumps(content, ensure_ascii=False, indent=2).encode("utf-8", self._lone_surrogates)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise write_problem(error, self.path) from error
        write_atomically(
            self.path, data + b"\n", inside=self._home, mode=self._mode, is_durable=self._is_durable
        )

    @contextmanager
    def change(self) -> Iterator[dict[str, Any]]:
        """The object as it is now, to be changed in place; written at the end when it is another one.

        Raises EnvironmentProblem ("busy", a full or read-only disk), and what `load` does.
        """
        with self.locked():
            content = self.load()
            before = json.dumps(content)
            yield content
            if json.dumps(content) != before:
                self.write(content)

    def rewrite(self, change: Callable[[dict[str, Any]], Mapping[str, Any]]) -> None:
        """Put what `change` makes of the object in its place. Raises as `change` does."""
        with self.locked():
            self.write(change(self.load()))

    def locked(self) -> AbstractContextManager[None]:
        """Within it nobody else changes the file. Raises EnvironmentProblem ("busy")."""
        from infrastructure.persistence.process_locks import change_lock

        return change_lock(self.path)

    def set_aside(self) -> Path | None:
        """Give a damaged file the name it is kept under; None when it can't be renamed (the log says why)."""
        from datetime import UTC, datetime

        aside = self.path.with_name(f"{self.path.name}.broken-{datetime.now(UTC):%Y%m%dT%H%M%S%f}{DAMAGED}")
        try:
            self.path.rename(aside)
        except OSError as error:
            _log.warning("%s is damaged and can't be renamed: %s", self.path, error)
            return None
        _log.warning("%s is damaged: it is %s now", self.path, aside.name)
        return aside


def set_damaged_aside(home: Path) -> tuple[Message, ...]:
    """Look at the files of the user's folder that can be made anew; what to tell the user.

    A file that can't be read at the moment (rights, a broken disk) stays where it is.
    """
    told = []
    for file in (JsonFile(home, name) for name in _REPLACEABLE):
        try:
            file.read()
        except _DAMAGE:
            path, aside = file.path, file.set_aside()
            if aside is not None:
                told.append(
                    msg(
                        "{path} is damaged and was not used. It is kept as {aside}.",
                        path=path,
                        aside=aside.name,
                    )
                )
            else:
                told.append(msg("{path} is damaged and was not used.", path=path))
        except OSError:
            continue  # none there, or not to be read: its store says so when it is needed
    return tuple(told)
