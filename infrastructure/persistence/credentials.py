"""Keys of providers: environment, system keyring, encrypted file, this run - never in clear on a disk.

``key_places.json`` says which provider's key is where, so that a list of providers needs neither the
keyring nor a passphrase; it holds no key.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
from collections.abc import Mapping
from pathlib import Path

from application.ports.credentials import KeyPlace, KeyStatus, KeyStores
from infrastructure.persistence.atomic import write_atomically
from infrastructure.persistence.change_lock import change_lock
from infrastructure.persistence.key_file import KeyFile, OpenKeyFile
from infrastructure.persistence.regular import read_regular_file
from infrastructure.persistence.system_keyring import KeyringUnusable, SystemKeyring
from shared.errors import EnvironmentProblem, UserInputError
from shared.message import msg
from shared.redaction import register_environment, register_secret

PLACES_FILE = "key_places.json"
PASSPHRASE_VARIABLE = "CIRCUIT_AI_KEYS_PASSPHRASE"  # noqa: S105 - the name of a variable
_MAX_BYTES = 2**16
_LONGEST_KEY = 4096


class Credentials:
    """Implements application.ports.credentials.KeyStore; one for a run of the program."""

    def __init__(self, *, user_home: Path, environment: Mapping[str, str]) -> None:
        self._home = user_home
        self._environment = environment
        self._keyring = SystemKeyring()
        self._file = KeyFile(user_home)
        self._opened: OpenKeyFile | None = None
        self._session: dict[str, str] = {}
        self._noted: dict[str, KeyPlace] | None = None
        """The index as it was read last; `status` is asked on the loop."""
        self._lock = threading.RLock()
        register_environment(environment)

    @property
    def is_unlocked(self) -> bool:
        """See the port."""
        return not self._is_locked()

    def find(self, name: str, variable: str = "") -> str:
        """See the port."""
        from_environment = self._environment.get(variable, "").strip() if variable else ""
        if from_environment:
            register_secret(from_environment)
            return from_environment
        with self._lock:
            key = self._stored(name)
        register_secret(key)
        return key

    def status(self, name: str, variable: str = "") -> KeyStatus:
        """See the port."""
        if variable and self._environment.get(variable, "").strip():
            return KeyStatus(place="environment")
        if name in self._session:
            return KeyStatus(place="session")
        place = (self._places() if self._noted is None else self._noted).get(name)
        return KeyStatus(place=place, needs_passphrase=place == "file" and self._is_locked())

    def stores(self) -> KeyStores:
        """See the port."""
        self._places()
        try:
            return KeyStores(keyring=self._keyring.name(), has_file=self._file.exists())
        except KeyringUnusable as error:
            return KeyStores(no_keyring=error.reason, has_file=self._file.exists())

    def set(self, name: str, key: str, *, place: KeyPlace | None = None) -> KeyPlace:
        """See the port."""
        key = key.strip()
        register_secret(key)
        _check(key)
        with self._lock:
            new = self._keep(name, key, place)
            for old in {"keyring", "file", "session"} - {new}:
                with contextlib.suppress(KeyringUnusable, EnvironmentProblem):
                    self._drop(name, old)
            self._note_place(name, new)
        return new

    def remove(self, name: str) -> tuple[KeyPlace, ...]:
        """See the port."""
        with self._lock:
            noted = self._places().get(name)
            gone: list[KeyPlace] = []
            for place in ("session", "keyring", "file"):
                try:
                    if self._drop(name, place):
                        gone.append(place)
                except KeyringUnusable as error:
                    if noted == "keyring":
                        raise _no_keyring(error) from error
            self._note_place(name, None)
        return tuple(gone)

    def unlock(self, passphrase: str) -> None:
        """See the port."""
        register_secret(passphrase)
        with self._lock:
            self._opened = self._file.open(passphrase)

    # --- one place each ------------------------------------------------------------------------------

    def _stored(self, name: str) -> str:
        if name in self._session:
            return self._session[name]
        noted = self._places().get(name)
        if noted == "file":
            return self._file.read(self._opened_file()).get(name, "")
        if noted != "keyring":
            return ""
        try:
            return self._keyring.get(name)
        except KeyringUnusable as error:
            raise _no_keyring(error) from error

    def _keep(self, name: str, key: str, place: KeyPlace | None) -> KeyPlace:
        if place == "environment":
            raise ValueError("a variable of the environment is not set by the program")
        if place in (None, "keyring"):
            try:
                self._keyring.set(name, key)
            except KeyringUnusable as error:
                if place == "keyring":
                    raise _no_keyring(error) from error
            else:
                return "keyring"
        if place == "file" or (place is None and not self._is_locked()):
            with change_lock(self._file.path):
                opened = self._opened_file()
                self._file.write(opened, {**self._file.read(opened), name: key})
            return "file"
        self._session[name] = key
        return "session"

    def _drop(self, name: str, place: str) -> bool:
        """Forget a key in one place; whether it was there."""
        if place == "session":
            return self._session.pop(name, None) is not None
        if place == "keyring":
            return self._keyring.remove(name)
        if self._places().get(name) != "file" or not self._file.exists():
            return False
        with change_lock(self._file.path):
            opened = self._opened_file()
            keys = self._file.read(opened)
            was_there = keys.pop(name, None) is not None
            self._file.write(opened, keys)
        return was_there

    def _is_locked(self) -> bool:
        return self._opened is None and not self._environment.get(PASSPHRASE_VARIABLE)

    def _opened_file(self) -> OpenKeyFile:
        if self._opened is None:
            passphrase = self._environment.get(PASSPHRASE_VARIABLE, "")
            if not passphrase:
                raise EnvironmentProblem(
                    msg("The key is in the encrypted file, which is locked."),
                    advice=msg("Give its passphrase: on a terminal, in the model settings of the window, "
                               "or in {variable}.", variable=PASSPHRASE_VARIABLE),
                    error_type="keys_locked",
                )  # fmt: skip
            self._opened = self._file.open(passphrase)
        return self._opened

    # --- which key is where --------------------------------------------------------------------------

    def _places(self) -> dict[str, KeyPlace]:
        """What the index says; one that can't be read says nothing, and the next `set` mends it."""
        self._noted = {}
        with contextlib.suppress(OSError, ValueError, RecursionError):
            path = Path(os.path.realpath(self._home / PLACES_FILE))
            content = json.loads(read_regular_file(path, max_bytes=_MAX_BYTES))
            if isinstance(content, dict):
                self._noted = {
                    str(name): word for name, word in content.items() if word in ("keyring", "file")
                }
        return dict(self._noted)

    def _note_place(self, name: str, place: KeyPlace | None) -> None:
        path = self._home / PLACES_FILE
        before = self._places()
        if before.get(name) == (place if place in ("keyring", "file") else None):
            return
        with change_lock(path):
            places = self._places()
            places.pop(name, None)
            if place in ("keyring", "file"):
                places[name] = place
            write_atomically(
                path, (json.dumps(places, indent=1) + "\n").encode(), inside=self._home, mode=0o600
            )
        self._noted = places


def _check(key: str) -> None:
    if not key:
        raise UserInputError(
            msg("The key is empty."),
            advice=msg("Copy the key from the provider's page."),
            error_type="bad_key",
        )
    if not key.isascii() or not key.isprintable() or " " in key or len(key) > _LONGEST_KEY:
        raise UserInputError(
            msg("The key holds characters that no key has."),
            advice=msg("Copy the key again, without spaces, line breaks or quotes around it."),
            error_type="bad_key",
        )


def _no_keyring(error: KeyringUnusable) -> EnvironmentProblem:
    return EnvironmentProblem(
        msg("The system's keyring can't be used: {reason}.", reason=error.reason),
        advice=msg("Unlock it, or set the key in the environment; `doctor` tells what works here."),
        error_type="no_keyring",
    )
