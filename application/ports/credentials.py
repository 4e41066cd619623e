"""Where the keys of providers are kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from shared.message import Message

KeyPlace = Literal["environment", "keyring", "file", "session"]
"""In the order they are looked at: a variable of the environment, the system's keyring, the encrypted
file, this run of the program."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyStatus:
    """What is known of one provider's key without reading it."""

    place: KeyPlace | None = None
    """Where it is; None = there is none."""
    needs_passphrase: bool = False
    """It is in the encrypted file, which is still locked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyStores:
    """Which of the places work on this machine."""

    keyring: str = ""
    """Name of the system's keyring; "" when there is none."""
    no_keyring: Message | None = None
    """Why there is none."""
    has_file: bool = False
    """The encrypted file is there."""


class KeyStore(Protocol):
    """Keys by provider name. Blocking (a keyring may ask its user): called off the loop, `status` excepted.

    A key never enters an error, a log or a listing: every one that is read or set is registered with
    shared.redaction first.
    """

    @property
    def is_unlocked(self) -> bool:
        """Whether the encrypted file can be used in this run: a passphrase was given."""

    def find(self, name: str, variable: str = "", *, server: str = "", usual: Sequence[str] = ()) -> str:
        """A provider's key, "" when there is none; `variable` names its environment variable.

        `server` is the address it is to be sent to: a key that is kept goes only where it was saved for; one
        that was saved without an address only to the `usual` ones (the provider's own, and those of the
        user's settings; where there is none, where he says). A variable of the environment is the user's
        word for this run, and goes where he says.
        Raises EnvironmentProblem: "key_for_other_server"; "keys_locked" when it is in the encrypted file and
        nobody has given the passphrase; "damaged" when that file can't be read.
        """

    def status(self, name: str, variable: str = "") -> KeyStatus:
        """Where a key is, as far as that can be told without asking the keyring. Quick."""

    def stores(self) -> KeyStores:
        """What works here; asks the keyring."""

    def set(self, name: str, key: str, *, place: KeyPlace | None = None, server: str = "") -> KeyPlace:
        """Keep a key for the address `server` ("" = the provider's usual ones), in `place` or the best
        that works: keyring, encrypted file (when a passphrase was
        given), this run. Others' copies under that name are removed. Returns where it is.

        Raises UserInputError ("bad_key"), EnvironmentProblem ("no_keyring", "keys_locked",
        "no_passphrase" when the encrypted file is still to be made, a full disk).
        """

    def remove(self, name: str) -> tuple[KeyPlace, ...]:
        """Forget a key everywhere but in the environment; where it was. Raises as `set` does."""

    def unlock(self, passphrase: str) -> None:
        """Open the encrypted file for this run, or choose the passphrase of a new one.

        Raises UserInputError ("wrong_passphrase", "bad_passphrase"), EnvironmentProblem ("damaged").
        """
