"""The user's own keys: what is kept, what is not understood, and two windows that change different ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from infrastructure.persistence.user_keys import FILE, UserKeysFile


def test_each_change_is_kept_beside_those_of_another_window(tmp_path: Path) -> None:
    one, other = UserKeysFile(user_home=tmp_path), UserKeysFile(user_home=tmp_path)
    assert one.load().keys == {}
    one.change({"run": ("F9", "Ctrl+R")})
    assert other.change({"plot.fit": ()}).keys == {"run": ("F9", "Ctrl+R"), "plot.fit": ()}
    one.change({"run": None, "other.version": ("F2",)})
    assert other.load().keys == {"plot.fit": (), "other.version": ("F2",)}


@pytest.mark.parametrize("damage", ["", "{", "[1]", '{"keys": ', "\0\0"])
def test_a_damaged_file_is_set_aside_with_a_word(tmp_path: Path, damage: str) -> None:
    place = tmp_path / FILE
    place.write_text(damage)
    kept = UserKeysFile(user_home=tmp_path).load()
    assert kept.keys == {}
    (told,) = kept.warnings
    (aside,) = tmp_path.glob(f"{FILE}.broken-*")
    assert aside.name in str(told)
    assert aside.read_text() == damage


def test_what_is_no_list_of_keys_is_told_and_the_rest_is_used(tmp_path: Path) -> None:
    keys = {"run": ["F9"], "save": "Ctrl+S", "quit": [7], "find": [""], "zoomIn": ["F2"] * 7}
    (tmp_path / FILE).write_text(json.dumps({"keys": keys}))
    kept = UserKeysFile(user_home=tmp_path).load()
    assert kept.keys == {"run": ("F9",)}
    assert [str(told).split()[3] for told in kept.warnings] == ["save", "quit", "find", "zoomIn"]
    (tmp_path / FILE).write_text('{"keys": []}')
    file = UserKeysFile(user_home=tmp_path)
    assert file.load().keys == {}
    assert file.change({"run": ("F9",)}).keys == {"run": ("F9",)}
