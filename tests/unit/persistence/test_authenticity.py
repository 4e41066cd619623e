"""Signatures of stored records: what is ours, whose key, whose project."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from infrastructure.persistence.authenticity import KEY_FILE, PROJECT_FILE, Authenticity, Part, UserKey


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def private(tmp_path: Path) -> Path:
    folder = tmp_path / "amp" / ".circuit_ai"
    folder.mkdir(parents=True)
    return folder


def test_what_was_signed_here_is_ours_and_nothing_else(home: Path, private: Path) -> None:
    ours = Authenticity(UserKey(home), private)
    signature = ours.sign("operation", "01", 7, None, b"x")
    again = Authenticity(UserKey(home), private)
    assert again.is_ours("operation", signature, "01", 7, None, b"x")
    for kind, parts in (
        ("transcript", ("01", 7, None, b"x")),
        ("operation", ("01", 8, None, b"x")),
        ("operation", ("01", "7", None, b"x")),
        ("operation", ("01", 7, None, "x")),
        ("operation", ("01", 7, None)),
        ("operation", ("01", 7, None, b"x", "")),
    ):
        assert not again.is_ours(kind, signature, *parts)
    for wrong in ("", signature[:-1], signature + "A", signature.swapcase(), "é" * 43, None, 7, b"x"):
        assert not again.is_ours("operation", wrong, "01", 7, None, b"x")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("ab", "c"), ("a", "bc")),
        (("", "ab"), ("ab", "")),
        (("a\0b",), ("a", "b")),
        ((1, 2), (12,)),
        ((None,), ("",)),
        ((None,), (0,)),
        (("s" + "\0" * 7 + "\1a",), ("a",)),
        (("\ud800",), ("\ufffd",)),
    ],
)
def test_lists_of_parts_are_never_alike(
    home: Path, private: Path, one: tuple[Part, ...], other: tuple[Part, ...]
) -> None:
    ours = Authenticity(UserKey(home), private)
    assert ours.sign("k", *one) != ours.sign("k", *other)


def test_project_that_moves_or_is_copied_stays_its_users_and_no_other_is(
    home: Path, private: Path, tmp_path: Path
) -> None:
    key = UserKey(home)
    signature = Authenticity(key, private).sign("k", "x")
    copy = tmp_path / "copy" / ".circuit_ai"
    shutil.copytree(private, copy)
    private.parent.rename(tmp_path / "renamed")
    assert Authenticity(key, copy).is_ours("k", signature, "x")
    assert Authenticity(key, tmp_path / "renamed/.circuit_ai").is_ours("k", signature, "x")

    other = tmp_path / "other" / ".circuit_ai"
    other.mkdir(parents=True)
    assert not Authenticity(key, other).is_ours("k", signature, "x")
    assert list(other.iterdir()) == [], "asking writes nothing"
    Authenticity(key, other).sign("k", "x")
    assert not Authenticity(key, other).is_ours("k", signature, "x")
    assert not Authenticity(UserKey(tmp_path / "strangers home"), copy).is_ours("k", signature, "x")


def test_key_is_private(home: Path, private: Path) -> None:
    old = os.umask(0)
    try:
        secret = UserKey(home).secret()
    finally:
        os.umask(old)
    assert stat.S_IMODE((home / KEY_FILE).stat().st_mode) == 0o600
    assert (home / KEY_FILE).read_bytes() == secret
    assert len(secret) == 32
    (home / KEY_FILE).chmod(0o644)
    assert UserKey(home).secret() == secret
    assert stat.S_IMODE((home / KEY_FILE).stat().st_mode) == 0o600
    assert secret.hex() not in repr(UserKey(home))
    assert {path.name for path in home.iterdir()} == {KEY_FILE, "trust.json"}


_MAKE = """
import sys, time
from pathlib import Path
from infrastructure.persistence.authenticity import Authenticity, UserKey
home, private, start = Path(sys.argv[1]), Path(sys.argv[2]), float(sys.argv[3])
while time.time() < start:
    pass
print(Authenticity(UserKey(home), private).sign("k", "x"))
"""


@pytest.mark.parametrize("is_damaged", [False, True])
def test_processes_that_begin_at_once_agree(home: Path, private: Path, is_damaged: bool) -> None:
    if is_damaged:
        home.mkdir()
        (home / KEY_FILE).write_bytes(b"short")
        (private / PROJECT_FILE).write_bytes(b"\0" * 30)
    start = str(time.time() + 0.7)
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", _MAKE, home, private, start], stdout=subprocess.PIPE, text=True
        )
        for _ in range(5)
    ]
    signatures = {racer.communicate()[0] for racer in racers}
    assert len(signatures) == 1
    assert Authenticity(UserKey(home), private).is_ours("k", signatures.pop().strip(), "x")
    for folder, name in ((home, KEY_FILE), (private, PROJECT_FILE)):
        left = sorted(path.name for path in folder.iterdir() if path.name != "trust.json")
        assert left[0] == name
        assert len(left) == 1 + is_damaged


def test_user_folder_that_cannot_be_written_gives_a_key_for_this_run(tmp_path: Path, private: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    key = UserKey(tmp_path / "file" / "home")
    signature = Authenticity(key, private).sign("k", "x")
    assert Authenticity(key, private).is_ours("k", signature, "x")
    assert not Authenticity(UserKey(tmp_path / "file" / "home"), private).is_ours("k", signature, "x")


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b'{"project_id": 7}', b"[" * 900, b"\0" * 40, None])
def test_damaged_project_file_is_kept_aside_and_made_anew(
    home: Path, private: Path, tmp_path: Path, content: bytes | None
) -> None:
    path = private / PROJECT_FILE
    if content is None:
        (tmp_path / "outside.json").write_text('{"project_id": "01ARZ3NDEKTSV4RRFFQ69G5FAV"}')
        path.symlink_to(tmp_path / "outside.json")
    else:
        path.write_bytes(content)
    ours = Authenticity(UserKey(home), private)
    assert not ours.project_id
    signature = ours.sign("k")
    assert ours.is_ours("k", signature)
    assert json.loads(path.read_bytes())["project_id"] == ours.project_id
    assert not path.is_symlink()
    assert len(list(private.glob("*.damaged"))) == 1
    if content is None:
        assert "01ARZ" in (tmp_path / "outside.json").read_text()
