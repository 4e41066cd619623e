"""Atomic writing: whole or not at all, modes, links, errors."""

import errno
import os
import stat
import threading

import pytest

from infrastructure.persistence.confined import write_atomically
from shared.errors import EnvironmentProblem, UserInputError


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_new_file_gets_the_content_and_the_usual_mode(tmp_path):
    before = os.umask(0o027)
    try:
        write_atomically(tmp_path / "a.cir", b"title\n")
    finally:
        os.umask(before)
    assert (tmp_path / "a.cir").read_bytes() == b"title\n"
    assert stat.S_IMODE((tmp_path / "a.cir").stat().st_mode) == 0o640
    assert names(tmp_path) == ["a.cir"]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o755, 0o444])
def test_an_existing_file_keeps_its_mode(tmp_path, mode):
    path = tmp_path / "a.cir"
    path.write_bytes(b"old")
    path.chmod(mode)
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_a_private_file_is_private_at_every_moment(tmp_path, monkeypatch):
    path = tmp_path / "a.cir"
    path.write_bytes(b"old")
    path.chmod(0o600)
    modes = []
    fsync = os.fsync

    def look(descriptor):
        modes.extend(stat.S_IMODE(entry.stat().st_mode) for entry in tmp_path.iterdir())
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", look)
    write_atomically(path, b"new")
    assert modes
    assert set(modes) == {0o600}


def test_a_relative_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    from pathlib import Path

    write_atomically(Path("a.cir"), b"x")
    assert (tmp_path / "a.cir").read_bytes() == b"x"


def test_an_open_reader_keeps_the_old_content(tmp_path):
    path = tmp_path / "a.cir"
    path.write_bytes(b"old content")
    with path.open("rb") as reader:
        write_atomically(path, b"new")
        assert reader.read() == b"old content"


def test_a_reader_never_meets_a_half_written_file(tmp_path):
    path = tmp_path / "a.cir"
    contents = [bytes([letter]) * 300_000 for letter in b"ab"]
    write_atomically(path, contents[0])
    done = threading.Event()
    met = set()

    def read():
        while not done.is_set():
            met.add(path.read_bytes())

    reader = threading.Thread(target=read)
    reader.start()
    for number in range(60):
        write_atomically(path, contents[number % 2])
    done.set()
    reader.join()
    assert met <= set(contents)


def test_a_link_is_written_through_inside_the_project(tmp_path):
    (tmp_path / "models").mkdir()
    (tmp_path / "models/real.lib").write_bytes(b"old")
    (tmp_path / "link.lib").symlink_to("models/real.lib")
    write_atomically(tmp_path / "link.lib", b"new", inside=tmp_path)
    assert (tmp_path / "link.lib").is_symlink()
    assert (tmp_path / "models/real.lib").read_bytes() == b"new"


@pytest.mark.parametrize("with_project", [True, False])
def test_a_link_that_leads_out_is_refused(tmp_path, with_project):
    (tmp_path / "project").mkdir()
    (tmp_path / "secret").write_bytes(b"old")
    (tmp_path / "project/link").symlink_to("../secret")
    with pytest.raises(UserInputError) as caught:
        write_atomically(
            tmp_path / "project/link", b"new", inside=tmp_path / "project" if with_project else None
        )
    assert caught.value.error_type == "outside_project"
    assert (tmp_path / "secret").read_bytes() == b"old"


@pytest.mark.parametrize("name", ["missing/a.cir", "x" * 300, "file/a.cir", "nul\0", "folder", "fifo"])
def test_places_that_cannot_be_a_file(tmp_path, name):
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "fifo")
    before = names(tmp_path)
    with pytest.raises(UserInputError):
        write_atomically(tmp_path / name, b"x")
    assert names(tmp_path) == before


def failing(number):
    def fail(*_args, **_kwargs):
        raise OSError(number, os.strerror(number))

    return fail


@pytest.mark.parametrize("call", ["fsync", "replace", "fchmod"])
@pytest.mark.parametrize(
    ("number", "error_type"),
    [
        (errno.ENOSPC, "disk_full"),
        (errno.EDQUOT, "disk_full"),
        (errno.EROFS, "read_only"),
        (errno.EACCES, "read_only"),
        (errno.EIO, "cannot_write"),
    ],
)
def test_what_goes_wrong_on_the_disk_leaves_the_old_file_and_no_other(
    tmp_path, monkeypatch, call, number, error_type
):
    path = tmp_path / "a.cir"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, call, failing(number))
    with pytest.raises(EnvironmentProblem) as caught:
        write_atomically(path, b"new")
    monkeypatch.undo()
    assert caught.value.error_type == error_type
    assert str(path) in str(caught.value)
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["a.cir"]


def test_an_interruption_leaves_no_temporary_file(tmp_path, monkeypatch):
    def interrupt(descriptor):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(tmp_path / "a.cir", b"new")
    monkeypatch.undo()
    assert names(tmp_path) == []


def test_the_data_and_the_folder_are_flushed_and_in_this_order(tmp_path, monkeypatch):
    flushed = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(
        os,
        "fsync",
        lambda fd: (flushed.append("folder" if stat.S_ISDIR(os.fstat(fd).st_mode) else "data"), fsync(fd)),
    )
    monkeypatch.setattr(
        os, "replace", lambda *args, **kwargs: (flushed.append("rename"), replace(*args, **kwargs))
    )
    write_atomically(tmp_path / "a.cir", b"x")
    assert flushed == ["data", "rename", "folder"]
