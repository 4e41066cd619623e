"""Keys in a file that nobody can read without its passphrase.

scrypt (RFC 7914) makes a key of 256 bit from the passphrase, AES-GCM (NIST SP 800-38D) seals all keys in
one piece with the header as associated data, so neither a key nor a parameter can be exchanged unseen.
`cryptography` is imported when the file is touched.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infrastructure.persistence.user_json import JsonFile
from shared.errors import EnvironmentProblem, UserInputError
from shared.message import msg

FILE = "keys.encrypted"
SCHEMA_VERSION = 1
SHORTEST_PASSPHRASE = 8
_N, _R, _P = 2**17, 8, 1
"""OWASP's figures for scrypt: 128 MB and some 0.3 s a guess."""
_MOST = (2**20, 16, 4)
"""Of a file that somebody else wrote: no more than 2 GB and some seconds."""


@dataclass(frozen=True, slots=True)
class OpenKeyFile:
    """What a passphrase has opened: the derived key and the header it belongs to."""

    secret: bytes
    header: Mapping[str, Any]

    def __repr__(self) -> str:
        return "OpenKeyFile()"


class KeyFile:
    """The encrypted file in the user's own folder. Blocking."""

    def __init__(self, home: Path) -> None:
        self._file = JsonFile(home, FILE, mode=0o600)
        self.path = self._file.path

    def locked(self) -> AbstractContextManager[None]:
        """Within it nobody else changes the file. Raises EnvironmentProblem ("busy")."""
        return self._file.locked()

    def exists(self) -> bool:
        return os.path.lexists(self.path)

    def open(self, passphrase: str) -> OpenKeyFile:
        """Derive the key, and try it on the file; a new file is made by the first `write`.

        Raises UserInputError ("wrong_passphrase", "bad_passphrase"), EnvironmentProblem ("damaged").
        """
        if not self.exists():
            if len(passphrase) < SHORTEST_PASSPHRASE:
                raise UserInputError(
                    msg("The passphrase is too short."),
                    advice=msg("Choose one of at least {count} characters.", count=SHORTEST_PASSPHRASE),
                    error_type="bad_passphrase",
                )
            header = {
                "schema_version": SCHEMA_VERSION,
                "kdf": {"name": "scrypt", "n": _N, "r": _R, "p": _P, "salt": _text(os.urandom(16))},
                "cipher": "AES-256-GCM",
            }
            return OpenKeyFile(_derive(passphrase, header), header)
        header = self._load()[0]
        opened = OpenKeyFile(self._derived(passphrase, header), header)
        self.read(opened)
        return opened

    def read(self, opened: OpenKeyFile) -> dict[str, str]:
        """Keys by provider name. Raises as `open` does, "wrong_passphrase" when it has another one now."""
        if not self.exists():
            return {}
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        header, nonce, sealed = self._load()
        try:
            data = AESGCM(opened.secret).decrypt(nonce, sealed, _bytes_of(header))
            keys = json.loads(data)
        except InvalidTag as error:
            raise UserInputError(
                msg("The passphrase is wrong, or {path} was modified.", path=self.path),
                advice=msg("Try again. Without the passphrase nobody can read the keys: delete the "
                           "file and enter them again."),
                error_type="wrong_passphrase",
            ) from error  # fmt: skip
        except ValueError as error:
            raise self._damaged() from error
        if not isinstance(keys, dict) or not all(isinstance(key, str) for key in keys.values()):
            raise self._damaged()
        return keys

    def write(self, opened: OpenKeyFile, keys: Mapping[str, str]) -> None:
        """Seal `keys`; the file's readers need the same passphrase. Raises EnvironmentProblem."""
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        nonce = os.urandom(12)  # a new one for every seal, or AES-GCM is broken
        sealed = AESGCM(opened.secret).encrypt(
            nonce, json.dumps(dict(keys)).encode(), _bytes_of(opened.header)
        )
        self._file.write({**opened.header, "nonce": _text(nonce), "keys": _text(sealed)})

    def _load(self) -> tuple[dict[str, Any], bytes, bytes]:
        try:
            header = self._file.read()
            nonce = base64.b64decode(header.pop("nonce"), validate=True)
            sealed = base64.b64decode(header.pop("keys"), validate=True)
            if header["schema_version"] != SCHEMA_VERSION or header["kdf"]["name"] != "scrypt":
                raise ValueError("another version")
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise self._damaged() from error
        return header, nonce, sealed

    def _derived(self, passphrase: str, header: Mapping[str, Any]) -> bytes:
        try:
            kdf = header["kdf"]
            sizes = (kdf["n"], kdf["r"], kdf["p"])
            fits = all(
                type(size) is int and 0 < size <= most for size, most in zip(sizes, _MOST, strict=True)
            )
            if not fits or sizes[0] & (sizes[0] - 1):
                raise ValueError(sizes)
            return _derive(passphrase, header)
        except (ValueError, TypeError, KeyError, binascii.Error) as error:
            raise self._damaged() from error

    def _damaged(self) -> EnvironmentProblem:
        return EnvironmentProblem(
            msg("The encrypted key file {path} cannot be read: it is damaged or from a newer version.",
                path=self.path),
            advice=msg("Delete the file and enter the keys again, or set them in the environment."),
            file=self.path,
            error_type="damaged",
        )  # fmt: skip


def _derive(passphrase: str, header: Mapping[str, Any]) -> bytes:
    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

    kdf = header["kdf"]
    salt = base64.b64decode(kdf["salt"], validate=True)
    scrypt = Scrypt(salt=salt, length=32, n=kdf["n"], r=kdf["r"], p=kdf["p"])
    return scrypt.derive(passphrase.encode("utf-8", "surrogatepass"))


def _bytes_of(header: Mapping[str, Any]) -> bytes:
    return json.dumps(header, sort_keys=True, separators=(",", ":")).encode()


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()
