"""The system's keyring by the library `keyring`: Secret Service, KWallet, macOS, Windows.

A session without one is normal (a server, a container). A back-end that writes keys in clear counts as
none. A keyring that asks its user, or hangs, must not hold the program for ever: every call has an end.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

from shared.message import Message, msg

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
