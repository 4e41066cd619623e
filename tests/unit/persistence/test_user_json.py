"""One class for the JSON files of the user's folder: what it makes of damage, newer versions, odd names."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from infrastructure.persistence.user_json import JsonFile
from shared.errors import EnvironmentProblem

DAMAGES = ["", "{", "[]", "7", "\x00" * 20, "[" * 100_000]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_refused_and_stays(tmp_path: Path, damage: str) -> None:
    file = JsonFile(tmp_path, "a.json")
    file.path.write_text(damage)
    with pytest.raises(EnvironmentProblem) as caught:
        file.load()
    with pytest.raises(EnvironmentProblem), file.change():
        pass
    assert caught.value.error_type == "damaged"
    assert file.path.read_text() == damage


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_kept_beside_its_place(tmp_path: Path, damage: str) -> None:
    file = JsonFile(tmp_path, "a.json", when_damaged="set aside", new={"projects": {}})
    file.path.write_text(damage)
    with file.change() as content:
        content["projects"]["/p"] = 1
    assert file.read() == {"projects": {"/p": 1}}
    (aside,) = tmp_path.glob("a.json.broken-*.damaged")
    assert aside.read_text() == damage


def test_what_cannot_be_opened_now_is_no_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: object, **__: object) -> bytes:
        raise PermissionError(13, "Permission denied")

    file = JsonFile(tmp_path, "a.json", when_damaged="set aside")
    file.write({"a": 1})
    with monkeypatch.context() as patched:
        patched.setattr("infrastructure.persistence.user_json.read_regular_file", denied)
        with pytest.raises(EnvironmentProblem):
            file.load()
    assert file.read() == {"a": 1}


def test_only_a_change_is_written(tmp_path: Path) -> None:
    file = JsonFile(tmp_path, "deep/a.json", version=1)
    with file.change():
        pass
    assert not file.path.exists()
    with file.change() as content:
        content["a"] = 1
    before = file.path.stat().st_ino
    with file.change() as content:
        content["a"] = 1
    assert file.path.stat().st_ino == before
    assert file.read() == {"a": 1, "schema_version": 1}


def test_a_change_that_fails_changes_nothing(tmp_path: Path) -> None:
    file = JsonFile(tmp_path, "a.json")
    with pytest.raises(ZeroDivisionError), file.change() as content:
        content["a"] = 1 / 0
    assert file.load() == {}


@pytest.mark.parametrize(("found", "kept"), [(0, 2), (2, 2), (3, 3), ("new", 2)])
def test_a_newer_program_keeps_its_version_and_its_entries(tmp_path: Path, found: object, kept: int) -> None:
    file = JsonFile(tmp_path, "a.json", version=2)
    file.path.write_text(json.dumps({"schema_version": found, "theirs": [1]}))
    with file.change() as content:
        content["mine"] = True
    assert file.read() == {"schema_version": kept, "theirs": [1], "mine": True}


@pytest.mark.parametrize("how", ["surrogateescape", "surrogatepass", "backslashreplace"])
def test_names_that_are_no_text_are_read_however_they_were_written(tmp_path: Path, how: str) -> None:
    content = {"/projects/\udcff": "电路"}
    file = JsonFile(tmp_path, "a.json")
    file.path.write_bytes(json.dumps(content, ensure_ascii=False).encode("utf-8", how))
    assert file.read() == content
    file.write(file.read())
    assert json.loads(file.path.read_bytes().decode("utf-8")) == content
