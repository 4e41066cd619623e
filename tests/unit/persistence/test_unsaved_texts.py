"""Unsaved text on the disk: as it was typed, for the user alone, one owner, nothing lost by damage."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from application.project.unsaved_texts import KeptTexts, UnsavedText
from infrastructure.persistence import unsaved_texts
from infrastructure.persistence.unsaved_texts import DAMAGED, UnsavedTextFiles
from shared.errors import CircuitAIError, UserInputError

PROJECT = Path("/projects/filter")
TEXT = UnsavedText(path=PROJECT / "电路.cir", text="* π\r\nR1 1 0 1k\n\n", encoding="gbk", version="ab" * 32)


_MADE: list[UnsavedTextFiles] = []


def store(home: Path) -> UnsavedTextFiles:
    made = UnsavedTextFiles(user_home=home)
    _MADE.append(made)
    return made


@pytest.fixture(autouse=True)
def every_window_ends() -> Iterator[None]:
    yield
    while _MADE:
        made = _MADE.pop()
        for project in (PROJECT, Path("/projects/other")):
            made.release(project)


def left_behind(home: Path, *texts: UnsavedText) -> Path:
    """What a window leaves that is ended with these; its folder."""
    first = store(home)
    assert first.claim(PROJECT) == KeptTexts(is_owner=True)
    for text in texts:
        first.keep(PROJECT, text)
    first.release(PROJECT)
    return first.folder_of(PROJECT)


@pytest.mark.parametrize("text", ["", "\n", "{", "a" * 100_000, "\ud800 alone", "\0"])
def test_what_was_kept_comes_back_as_it_was(tmp_path: Path, text: str) -> None:
    kept = replace(TEXT, text=text)
    left_behind(tmp_path, kept)
    assert store(tmp_path).claim(PROJECT).texts == (kept,)


def test_a_text_is_replaced_and_dropped(tmp_path: Path) -> None:
    files = store(tmp_path)
    files.claim(PROJECT)
    second = replace(TEXT, path=PROJECT / "b.cir", text="b")
    for text in (TEXT, replace(TEXT, text="newer"), second):
        files.keep(PROJECT, text)
    files.drop(PROJECT, second.path)
    files.drop(PROJECT, second.path)
    files.release(PROJECT)
    assert [text.text for text in store(tmp_path).claim(PROJECT).texts] == ["newer"]


def test_only_the_user_reads_it_and_nothing_is_left_of_nothing(tmp_path: Path) -> None:
    folder = left_behind(tmp_path, TEXT)
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (folder, *folder.iterdir())]
    assert modes == [0o700, 0o600]
    assert left_behind(tmp_path / "other").exists() is False


def test_another_window_gets_nothing_until_the_first_has_ended(tmp_path: Path) -> None:
    first, second = store(tmp_path), store(tmp_path)
    first.claim(PROJECT)
    first.keep(PROJECT, TEXT)
    assert second.claim(PROJECT) == KeptTexts(is_owner=False)
    assert second.claim(Path("/projects/other")).is_owner
    first.release(PROJECT)
    assert second.claim(PROJECT).texts == (TEXT,)


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[:-1],
        lambda data: data.replace(b"R1", b"R2"),
        lambda data: b"\0" * len(data),
        lambda data: b"[" * 100_000,
        lambda data: data.replace(b'"gbk"', b'"rot13"'),
        lambda data: data.replace(b"/projects", b"projects"),
        lambda data: b"[1]\n",
    ],
)
def test_a_damaged_text_is_set_aside_and_the_others_come(tmp_path: Path, damage) -> None:
    whole = replace(TEXT, path=PROJECT / "b.cir")
    folder = left_behind(tmp_path, TEXT, whole)
    files = store(tmp_path)
    place = files._place_of(PROJECT, TEXT.path)
    data = damage(place.read_bytes())
    place.write_bytes(data)
    found = files.claim(PROJECT)
    assert found.texts == (whole,)
    (aside,) = found.damaged
    assert aside.parent == folder
    assert DAMAGED in aside.name
    assert aside.read_bytes() == data
    assert files.claim(PROJECT).damaged == ()


def test_something_else_in_its_place_blocks_nobody(tmp_path: Path) -> None:
    folder = left_behind(tmp_path, TEXT)
    os.mkfifo(folder / "a.text")
    (folder / "b.text").mkdir()
    (folder / "c.text").symlink_to("/dev/zero")
    found = store(tmp_path).claim(PROJECT)
    assert (found.texts, len(found.damaged)) == ((TEXT,), 3)


def test_a_text_that_is_too_large_is_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unsaved_texts, "MOST_BYTES", 10)
    files = store(tmp_path)
    files.claim(PROJECT)
    with pytest.raises(UserInputError, match=r"电路\.cir is too large") as caught:
        files.keep(PROJECT, TEXT)
    assert caught.value.error_type == "too_large"


def test_a_folder_that_cannot_be_had_is_told(tmp_path: Path) -> None:
    (tmp_path / "unsaved").write_text("in the way")
    with pytest.raises(CircuitAIError):
        store(tmp_path).claim(PROJECT)
