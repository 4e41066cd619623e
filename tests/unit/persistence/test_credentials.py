"""Keys: where they go, in which order they are looked at, and that no file ever holds one in clear."""

from __future__ import annotations

import contextlib
import json
import random
from pathlib import Path
from typing import Any

import keyring
import pytest
from keyring.backend import KeyringBackend

from infrastructure.persistence import key_file
from infrastructure.persistence.credentials import Credentials
from shared.errors import CircuitAIError

KEY, PASSPHRASE, VARIABLE = "sk-canary-98765", "correct horse battery", "CIRCUIT_AI_ZHIPU_API_KEY"


class MemoryKeyring(KeyringBackend):
    """A keyring of the system, as far as the library's interface goes."""

    priority = 5  # type: ignore[assignment]

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.kept[service, username]


@pytest.fixture(autouse=True)
def quick_scrypt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(key_file, "_N", 2**10)


@pytest.fixture(autouse=True)
def no_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    from keyring.backends.fail import Keyring

    monkeypatch.setattr(keyring, "get_keyring", Keyring)


@pytest.fixture
def system(monkeypatch: pytest.MonkeyPatch) -> MemoryKeyring:
    made = MemoryKeyring()
    monkeypatch.setattr(keyring, "get_keyring", lambda: made)
    return made


def store(home: Path, **environment: str) -> Credentials:
    return Credentials(user_home=home, environment=environment)


def error_type(act: Any) -> str:
    with pytest.raises(CircuitAIError) as caught:
        act()
    assert KEY not in f"{caught.value.message}{caught.value.advice}{caught.value.__cause__}"
    return caught.value.error_type


def in_files(home: Path) -> bytes:
    return b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())


def test_environment_then_keyring_then_file_then_session(tmp_path: Path, system: MemoryKeyring) -> None:
    keys = store(tmp_path)
    assert (keys.find("zhipu", VARIABLE), keys.status("zhipu", VARIABLE).place) == ("", None)
    assert keys.set("zhipu", KEY) == "keyring"
    assert store(tmp_path).find("zhipu", VARIABLE) == KEY
    with_variable = store(tmp_path, **{VARIABLE: "sk-other-1"})
    assert (with_variable.find("zhipu", VARIABLE), with_variable.status("zhipu", VARIABLE).place) == (
        "sk-other-1",
        "environment",
    )
    assert keys.remove("zhipu") == ("keyring",)
    assert (system.kept, store(tmp_path).find("zhipu")) == ({}, "")
    assert KEY.encode() not in in_files(tmp_path)


def test_without_a_keyring_the_encrypted_file(tmp_path: Path) -> None:
    keys = store(tmp_path)
    assert keys.stores().no_keyring is not None
    assert keys.set("openai", KEY) == "session"
    assert store(tmp_path).find("openai") == ""
    keys.unlock(PASSPHRASE)
    assert keys.set("openai", KEY) == "file"
    assert keys.set("zhipu", "sk-second-key") == "file"
    other = store(tmp_path)
    assert other.status("openai").needs_passphrase
    assert error_type(lambda: other.find("openai")) == "keys_locked"
    assert error_type(lambda: other.unlock("wrong passphrase")) == "wrong_passphrase"
    other.unlock(PASSPHRASE)
    assert (other.find("openai"), other.find("zhipu")) == (KEY, "sk-second-key")
    by_variable = store(tmp_path, CIRCUIT_AI_KEYS_PASSPHRASE=PASSPHRASE)
    assert by_variable.find("openai") == KEY
    assert other.remove("openai") == ("file",)
    assert (store(tmp_path).find("openai"), by_variable.find("zhipu")) == ("", "sk-second-key")
    assert KEY.encode() not in in_files(tmp_path)
    assert {path.stat().st_mode & 0o077 for path in tmp_path.iterdir() if path.suffix != ".lock"} == {0}


def test_a_keyring_that_writes_in_clear_counts_as_none(tmp_path: Path, system: MemoryKeyring) -> None:
    type(system).__module__, before = "keyrings.alt.file", type(system).__module__
    try:
        assert store(tmp_path).set("zhipu", KEY) == "session"
    finally:
        type(system).__module__ = before
    assert system.kept == {}


def test_a_keyring_that_fails_tells_no_key(tmp_path: Path, system: MemoryKeyring, monkeypatch: Any) -> None:
    def fail(*_: str) -> None:
        raise RuntimeError(f"could not keep {KEY}")

    monkeypatch.setattr(system, "set_password", fail)
    assert error_type(lambda: store(tmp_path).set("zhipu", KEY, place="keyring")) == "no_keyring"
    assert store(tmp_path).set("zhipu", KEY) == "session"


def test_no_changed_byte_of_the_file_goes_unseen(tmp_path: Path) -> None:
    keys = store(tmp_path)
    keys.unlock(PASSPHRASE)
    keys.set("zhipu", KEY)
    path = tmp_path / key_file.FILE
    whole = path.read_bytes()
    rng = random.Random(3)
    for _ in range(60):
        at = rng.randrange(len(whole))
        changed = bytearray(whole)
        changed[at] ^= 1 << rng.randrange(7)
        path.write_bytes(bytes(changed))
        fresh = store(tmp_path)
        found = ""
        with contextlib.suppress(CircuitAIError):
            fresh.unlock(PASSPHRASE)
            found = fresh.find("zhipu")
        blank = chr(whole[at]).isspace()
        assert found == "" or (blank and found == KEY), at
    document = json.loads(whole)
    for kdf in ({"n": 2**40}, {"n": 3}, {"n": True}, {"r": 10**9}, {"salt": 5}):
        path.write_text(json.dumps(document | {"kdf": document["kdf"] | kdf}))
        assert error_type(lambda: store(tmp_path).unlock(PASSPHRASE)) == "damaged"


@pytest.mark.parametrize("key", ["", "  ", "a b", "sk-ü", "sk\nX: y", "x" * 5000])
def test_what_is_no_key_is_refused(tmp_path: Path, key: str) -> None:
    assert error_type(lambda: store(tmp_path).set("zhipu", key)) == "bad_key"
