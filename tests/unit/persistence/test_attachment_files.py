"""Attached contents on the disk: by their hash, verified, removed when nobody names them."""

from __future__ import annotations

import hashlib
import threading
from pathlib import Path

import pytest

from infrastructure.persistence.attachment_files import AttachmentFiles
from shared.errors import EnvironmentProblem


def name_of(content: bytes, suffix: str = ".png") -> str:
    return hashlib.sha256(content).hexdigest() + suffix


@pytest.fixture
def store(tmp_path: Path) -> AttachmentFiles:
    (tmp_path / ".circuit_ai").mkdir()
    return AttachmentFiles(tmp_path / ".circuit_ai" / "attachments")


def test_contents_are_kept_once_and_verified(store: AttachmentFiles, tmp_path: Path) -> None:
    name = name_of(b"one")
    store.keep(name, b"one")
    path = tmp_path / ".circuit_ai" / "attachments" / name
    before = path.stat().st_mtime_ns
    store.keep(name, b"one")
    assert path.stat().st_mtime_ns == before
    assert store.read(name) == b"one"
    path.write_bytes(b"two")
    for bad in (name, name_of(b"never"), "../../secret", f"{'0' * 64}/x", ""):
        with pytest.raises(EnvironmentProblem) as caught:
            store.read(bad)
        assert caught.value.error_type == "attachment_missing"
    store.keep(name, b"one")  # a damaged one is put anew
    assert store.read(name) == b"one"
    with pytest.raises(ValueError, match="not what its name says"):
        store.keep(name, b"two")


def test_a_link_in_place_of_the_folder_is_refused(store: AttachmentFiles, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / ".circuit_ai" / "attachments").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(EnvironmentProblem, match="attachments is a link"):
        store.keep(name_of(b"one"), b"one")
    assert not list((tmp_path / "elsewhere").iterdir())


def test_sweeping_waits_for_who_is_about_to_name_something(store: AttachmentFiles, tmp_path: Path) -> None:
    old, new = name_of(b"old"), name_of(b"new")
    store.keep(old, b"old")
    other = tmp_path / ".circuit_ai" / "attachments" / "notes.txt"
    other.write_text("not ours")
    named: set[str] = set()
    asked = threading.Event()

    def names() -> frozenset[str]:
        asked.set()
        return frozenset(named)

    sweeper = threading.Thread(target=store.sweep, args=(names,))
    with store.holding():
        store.keep(new, b"new")
        sweeper.start()
        assert not asked.wait(0.05)  # nobody is asked before the message is written
        named.add(new.partition(".")[0])
    sweeper.join()
    assert asked.is_set()
    assert {path.name for path in other.parent.iterdir()} == {new, "notes.txt"}
