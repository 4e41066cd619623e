"""Keys of providers: environment, system keyring, encrypted file, this run - never in clear on a disk.

``key_places.json`` says which provider's key is where, so that a list of providers needs neither the
keyring nor a passphrase; it holds no key.

The system's keyring by the library `keyring`: Secret Service, KWallet, macOS, Windows.

A session without one is normal (a server, a container). A back-end that writes keys in clear counts as
none. A keyring that asks its user, or hangs, must not hold the program for ever: every call has an end.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from application.ports.credentials import KeyPlace, KeyStatus, KeyStores
from infrastructure.persistence.key_file import SHORTEST_PASSPHRASE, KeyFile, OpenKeyFile
from infrastructure.persistence.user_json import DAMAGED, KEY_PLACES_FILE, JsonFile
from shared.errors import EnvironmentProblem, UserInputError
from shared.message import Message, msg
from shared.origin import origin_of
from shared.redaction import register_environment, register_secret

SERVICE = "circuit-design-ai"
_QUICK_S = 10.0
_ASKING_S = 60.0
"""For what may make the keyring ask its user for a password."""
_NO_KEYRINGS = ("keyring.backends.fail", "keyring.backends.null")
_CLEAR_TEXT = "keyrings.alt"

T = TypeVar("T")


class KeyringUnusable(Exception):
    """There is no keyring, or it does not answer; `reason` is for people."""

    def __init__(self, reason: Message) -> None:
        super().__init__(str(reason))
        self.reason = reason


class SystemKeyring:
    """Keys by provider name. Blocking; every method raises KeyringUnusable."""

    def name(self) -> str:
        """The keyring's own name, as "SecretService Keyring"."""
        return str(_within(_QUICK_S, lambda: _backend().name))

    def get(self, name: str) -> str:
        """A key, "" when there is none."""
        return _within(_ASKING_S, lambda: _backend().get_password(SERVICE, name)) or ""

    def set(self, name: str, key: str) -> None:
        """Keep a key; read back, because some keyrings take what they then don't have."""

        def put() -> bool:
            backend = _backend()
            backend.set_password(SERVICE, name, key)
            return bool(backend.get_password(SERVICE, name) == key)

        if not _within(_ASKING_S, put):
            raise KeyringUnusable(msg("it did not store the key"))

    def remove(self, name: str) -> bool:
        """Forget a key; whether there was one."""

        def drop() -> bool:
            backend = _backend()
            if backend.get_password(SERVICE, name) is None:
                return False
            backend.delete_password(SERVICE, name)
            return True

        return _within(_ASKING_S, drop)


def _backend() -> Any:
    """The keyring that is used: the user's choice, or the best there is."""
    import keyring

    chosen = keyring.get_keyring()
    # A chain tries one after the other, also those that write in clear.
    candidates = (
        getattr(chosen, "backends", None) if type(chosen).__module__.endswith(".chainer") else [chosen]
    )
    for backend in candidates or ():
        module = type(backend).__module__
        if module.startswith(_CLEAR_TEXT) or module in _NO_KEYRINGS:
            continue
        return backend
    raise KeyringUnusable(msg("this session has no keyring"))


def _within(seconds: float, work: Callable[[], T]) -> T:
    """What `work` gives, in a thread that is left behind when the keyring does not answer."""
    done: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            done.append(work())
        except BaseException as error:  # noqa: BLE001 - handed on below
            failed.append(error)

    thread = threading.Thread(target=run, name="keyring", daemon=True)
    thread.start()
    thread.join(seconds)
    if done:
        return done[0]
    if failed and isinstance(failed[0], KeyringUnusable):
        raise failed[0]
    if failed:
        # Its text may be anything, a key too: the type says enough.
        raise KeyringUnusable(msg("{reason}", reason=type(failed[0]).__name__)) from None
    raise KeyringUnusable(msg("it did not respond within {seconds} s", seconds=f"{seconds:g}"))


PLACES_FILE = KEY_PLACES_FILE
_log = logging.getLogger(__name__)
PASSPHRASE_VARIABLE = "CIRCUIT_AI_KEYS_PASSPHRASE"  # noqa: S105 - the name of a variable
_LONGEST_KEY = 4096


class Credentials:
    """Implements application.ports.credentials.KeyStore; one for a run of the program."""

    def __init__(self, *, user_home: Path, environment: Mapping[str, str]) -> None:
        self._home = user_home
        self._environment = environment
        self._keyring = SystemKeyring()
        self._file = KeyFile(user_home)
        self._index = JsonFile(user_home, PLACES_FILE, max_bytes=2**16, mode=0o600)
        self._opened: OpenKeyFile | None = None
        self._session: dict[str, str] = {}
        self._servers: dict[str, str] = {}
        """Origin a key was saved for, where it is known; of kept keys as the index was read last."""
        self._noted: dict[str, KeyPlace] | None = None
        """The index as it was read last; `status` is asked on the loop."""
        self._is_index_lost: bool | None = False
        """None: there is no index; whether a damaged one was set aside is looked up when a key is wanted."""
        self._lock = threading.RLock()
        register_environment(environment)

    @property
    def is_unlocked(self) -> bool:
        return not self._is_locked()

    def find(self, name: str, variable: str = "", *, server: str = "", usual: Sequence[str] = ()) -> str:
        from_environment = self._environment.get(variable, "").strip() if variable else ""
        if from_environment:
            register_secret(from_environment)
            return from_environment
        with self._lock:
            key = self._stored(name)
            saved_for = self._servers.get(name, "")
        register_secret(key)
        if key and server:
            allowed = [saved_for] if saved_for else [origin for url in usual if (origin := origin_of(url))]
            if allowed and origin_of(server) not in allowed:
                raise _for_other_server(name, allowed, server)
        return key

    def status(self, name: str, variable: str = "") -> KeyStatus:
        if variable and self._environment.get(variable, "").strip():
            return KeyStatus(place="environment")
        if name in self._session:
            return KeyStatus(place="session")
        noted = self._noted
        place = (self._places() if noted is None else noted).get(name)
        return KeyStatus(place=place, needs_passphrase=place == "file" and self._is_locked())

    def stores(self) -> KeyStores:
        self._places()
        try:
            return KeyStores(keyring=self._keyring.name(), has_file=self._file.exists())
        except KeyringUnusable as error:
            return KeyStores(no_keyring=error.reason, has_file=self._file.exists())

    def set(self, name: str, key: str, *, place: KeyPlace | None = None, server: str = "") -> KeyPlace:
        key = key.strip()
        register_secret(key)
        _check(key)
        with self._lock:
            new = self._keep(name, key, place)
            for old in {"keyring", "file", "session"} - {new}:
                with contextlib.suppress(KeyringUnusable, EnvironmentProblem):
                    self._drop(name, old)
            self._note_place(name, new, origin_of(server))
            if new == "session" and server:
                self._servers[name] = origin_of(server)
        return new

    def remove(self, name: str) -> tuple[KeyPlace, ...]:
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
        register_secret(passphrase)
        with self._lock:
            self._opened = self._file.open(passphrase)

    # --- one place each ------------------------------------------------------------------------------

    def _stored(self, name: str) -> str:
        if name in self._session:
            return self._session[name]
        noted = self._places().get(name)
        if noted is None and self._index_is_lost():
            return self._wherever(name)
        if noted == "file":
            return self._file.read(self._opened_file()).get(name, "")
        if noted != "keyring":
            return ""
        try:
            return self._keyring.get(name)
        except KeyringUnusable as error:
            raise _no_keyring(error) from error

    def _wherever(self, name: str) -> str:
        with contextlib.suppress(KeyringUnusable):
            if key := self._keyring.get(name):
                return key
        return self._file.read(self._opened_file()).get(name, "") if self._file.exists() else ""

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
            self._require_passphrase()
            with self._file.locked():
                opened = self._opened_file()
                self._file.write(opened, {**self._file.read(opened), name: key})
            return "file"
        self._session[name] = key
        return "session"

    def _require_passphrase(self) -> None:
        """The encrypted file is made with a passphrase that somebody chose."""
        if self._is_locked() and not self._file.exists():
            raise EnvironmentProblem(
                msg("The key is to be stored in an encrypted file, but no passphrase was chosen."),
                advice=msg("Choose one of at least {count} characters: you will be asked for it at each "
                           "start. Or keep the key for this session only.", count=SHORTEST_PASSPHRASE),
                error_type="no_passphrase",
            )  # fmt: skip

    def _drop(self, name: str, place: str) -> bool:
        """Forget a key in one place; whether it was there."""
        if place == "session":
            return self._session.pop(name, None) is not None
        if place == "keyring":
            return self._keyring.remove(name)
        if self._places().get(name) != "file" or not self._file.exists():
            return False
        with self._file.locked():
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
                    advice=msg("Enter its passphrase: on a terminal, in the model settings of the "
                               "window, or in {variable}.", variable=PASSPHRASE_VARIABLE),
                    error_type="keys_locked",
                )  # fmt: skip
            self._opened = self._file.open(passphrase)
        return self._opened

    # --- which key is where --------------------------------------------------------------------------

    def _places(self) -> dict[str, KeyPlace]:
        """What the index says; one that is damaged is set aside, and said in the log.

        Where no index says it, both places are asked for a key: none is lost with it.
        """
        with self._lock:
            noted, servers = self._read_index()
            session = {name: self._servers[name] for name in self._session if name in self._servers}
            # Each put in place whole: `status` looks at them without waiting.
            self._servers = {**servers, **session}
            self._noted = noted
            return dict(noted)

    def _read_index(self) -> tuple[dict[str, KeyPlace], dict[str, str]]:
        """Places, and the origins of the keys that are kept."""
        noted: dict[str, KeyPlace] = {}
        servers: dict[str, str] = {}
        try:
            content = self._index.read()
        except FileNotFoundError:
            self._is_index_lost = None
            return {}, {}
        except OSError as error:
            _log.warning("The list of keys %s can't be read: %s", self._index.path, error)
            return {}, {}
        except ValueError:
            self._is_index_lost = True
            self._index.set_aside()
            return {}, {}
        for name, row in content.items():
            place, server = (row.get("place"), row.get("server")) if isinstance(row, dict) else (row, "")
            if place in ("keyring", "file"):
                noted[str(name)] = place
                if isinstance(server, str) and server and name not in self._session:
                    servers[str(name)] = server
        return noted, servers

    def _index_is_lost(self) -> bool:
        if self._is_index_lost is None:
            self._is_index_lost = any(self._home.glob(f"{PLACES_FILE}.*{DAMAGED}"))
        return self._is_index_lost

    def _note_place(self, name: str, place: KeyPlace | None, server: str = "") -> None:
        noted = place if place in ("keyring", "file") else None
        server = server if noted else ""
        before = self._places()
        if before.get(name) == noted and self._servers.get(name, "") == server:
            return
        with self._index.locked():
            places = self._places()
            places.pop(name, None)
            self._servers.pop(name, None)
            if noted is not None:
                places[name] = noted
                if server:
                    self._servers[name] = server
            self._index.write(
                {
                    each: {"place": where, "server": self._servers[each]} if each in self._servers else where
                    for each, where in places.items()
                }
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
            msg("The key contains invalid characters."),
            advice=msg("Copy the key again, without spaces, line breaks or quotes around it."),
            error_type="bad_key",
        )


def _for_other_server(name: str, allowed: Sequence[str], server: str) -> EnvironmentProblem:
    return EnvironmentProblem(
        msg("The key of {name} was saved for {saved}; it is not sent to {server}.", name=name,
            saved=", ".join(dict.fromkeys(allowed)) or "?", server=origin_of(server)),
        advice=msg("Enter the key that belongs to this address, or use the address it was saved for."),
        error_type="key_for_other_server",
    )  # fmt: skip


def _no_keyring(error: KeyringUnusable) -> EnvironmentProblem:
    return EnvironmentProblem(
        msg("The system keyring cannot be used: {reason}.", reason=error.reason),
        advice=msg("Unlock it, or set the key in the environment; `doctor` shows what works here."),
        error_type="no_keyring",
    )
