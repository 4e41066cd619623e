"""Reading and writing the user's files for an editor, on real folders."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from application.ports.project import ABSENT
from application.project.editing import MAX_BYTES, EditFiles, OpenedFile, version_of
from infrastructure.persistence.confined import write_atomically
from infrastructure.persistence.project import ProjectFolder, ProjectFolders
from shared.errors import CircuitAIError


@pytest.fixture
def edit() -> EditFiles:
    return EditFiles(projects=ProjectFolders(), plain_folder=ProjectFolder, write_file=write_atomically)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "p" / ".circuit_ai").mkdir(parents=True)
    return tmp_path / "p"


def read(edit: EditFiles, path: Path) -> OpenedFile:
    return asyncio.run(edit.read(path))


CONTENTS = [
    b"* plain\nR1 a 0 1k\n",
    b"* dos\r\nR1 a 0 1k\r\n",
    b"* old mac\rR1 a 0 1k\r",
    b"* mixed\r\nR1 a 0 1k\nC1 a 0 1n",
    "* 电路\n".encode("gbk"),
    b"\xef\xbb\xbf" + "* 电路\n".encode(),
    b"\xff\xfe" + "* 电路\r\n".encode("utf-16-le"),
    b"* 10\xb5F caf\xe9\n",
    b"",
]


@pytest.mark.parametrize("content", CONTENTS)
def test_what_is_read_and_saved_again_has_the_same_bytes(
    edit: EditFiles, project: Path, content: bytes
) -> None:
    path = project / "a.cir"
    path.write_bytes(content)
    opened = read(edit, path)
    assert opened.version == version_of(content)
    saved = edit.save(path, opened.content.text, encoding=opened.content.encoding, expected=opened.version)
    assert path.read_bytes() == content
    assert saved.version == opened.version


def test_what_was_there_is_kept_and_an_edit_keeps_the_encoding(edit: EditFiles, project: Path) -> None:
    path = project / "a.cir"
    path.write_bytes("* 电路\r\n".encode("gbk"))
    opened = read(edit, path)
    edit.save(path, opened.content.text + "R1 a 0 1k ; 阻\r\n", encoding="gbk", expected=opened.version)
    assert path.read_bytes() == "* 电路\r\nR1 a 0 1k ; 阻\r\n".encode("gbk")
    assert ProjectFolder(project).read_object(opened.version) == "* 电路\r\n".encode("gbk")


def test_outside_a_project_the_old_content_stays_beside(edit: EditFiles, tmp_path: Path) -> None:
    path = tmp_path / "lone.cir"
    path.write_bytes(b"old")
    edit.save(path, "new", encoding="utf-8")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["lone.cir", "lone.cir~"]
    assert (path.read_bytes(), path.with_name("lone.cir~").read_bytes()) == (b"new", b"old")


@pytest.mark.parametrize("is_project", [True, False])
def test_somebody_elses_text_is_not_overwritten(
    edit: EditFiles, project: Path, tmp_path: Path, is_project: bool
) -> None:
    path = (project if is_project else tmp_path) / "a.cir"
    path.write_bytes(b"theirs")
    with pytest.raises(CircuitAIError) as caught:
        edit.save(path, "mine", encoding="utf-8", expected=version_of(b"as it was"))
    assert caught.value.error_type == "file_modified_externally"
    assert path.read_bytes() == b"theirs"
    edit.save(path, "mine", encoding="utf-8", expected=version_of(b"theirs"))
    assert path.read_bytes() == b"mine"


@pytest.mark.parametrize("is_project", [True, False])
def test_a_deleted_file_is_written_again_only_when_that_is_known(
    edit: EditFiles, project: Path, tmp_path: Path, is_project: bool
) -> None:
    path = (project if is_project else tmp_path) / "a.cir"
    with pytest.raises(CircuitAIError) as caught:
        edit.save(path, "mine", encoding="utf-8", expected=version_of(b"as it was"))
    assert caught.value.error_type == "file_modified_externally"
    edit.save(path, "mine", encoding="utf-8", expected=ABSENT)
    assert path.read_bytes() == b"mine"


def test_a_character_without_place_in_the_encoding_is_said_with_its_line(
    edit: EditFiles, project: Path
) -> None:
    path = project / "a.cir"
    path.write_bytes(b"* caf\xe9\n")
    with pytest.raises(CircuitAIError) as caught:
        edit.save(path, "* café\n* 电路\n", encoding="latin-1")
    assert (caught.value.error_type, caught.value.line) == ("not_encodable", 2)
    assert path.read_bytes() == b"* caf\xe9\n"


def test_what_is_no_text_or_too_much_of_it_is_refused(edit: EditFiles, project: Path) -> None:
    binary, large, pipe = project / "a.raw", project / "b.cir", project / "c.cir"
    binary.write_bytes(bytes(range(256)) * 8)
    with large.open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    os.mkfifo(pipe)
    for path, error_type in (
        (binary, "binary_file"),
        (large, "too_large"),
        (project / "no", "file_not_found"),
    ):
        with pytest.raises(CircuitAIError) as caught:
            read(edit, path)
        assert caught.value.error_type == error_type
    with pytest.raises(CircuitAIError):
        read(edit, pipe)


def test_our_own_folder_is_not_written(edit: EditFiles, project: Path) -> None:
    with pytest.raises(CircuitAIError):
        edit.save(project / ".circuit_ai" / "x.json", "{}", encoding="utf-8")
