"""What is taken from a scratch folder and how it is removed, whatever a hostile run left there."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from infrastructure.ngspice.scratch import folder_bytes, make_scratch, remove_scratch, take_outputs

RAW = b"Title: t\nPlotname: x\n"


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    return make_scratch(tmp_path)


@pytest.fixture
def output(tmp_path: Path) -> Path:
    folder = tmp_path / "output"
    folder.mkdir()
    return folder


def take(scratch: Path, output: Path, largest: int = 1000) -> tuple[list[str], list[str], list[str]]:
    taken = take_outputs(
        scratch, output, largest=largest, without=frozenset(("deck.cir",)), first="ngspice.raw"
    )
    return [p.name for p in taken.raw], [p.name for p in taken.other], list(taken.ignored)


def test_only_we_can_enter(scratch: Path) -> None:
    assert scratch.stat().st_mode & 0o777 == 0o700


def test_a_flood_of_files_does_not_crowd_out_the_first(scratch: Path, output: Path) -> None:
    for number in range(1100):
        (scratch / f"f{number}.txt").write_bytes(b"x")
    (scratch / "ngspice.raw").write_bytes(RAW)
    raw, other, ignored = take(scratch, output)
    assert raw == ["ngspice.raw"]
    assert len(other) == 999
    assert len(ignored) == 101


def test_raw_files_and_others_are_told_apart(scratch: Path, output: Path) -> None:
    (scratch / "b.raw").write_bytes(RAW)
    (scratch / "a.txt").write_bytes(RAW)
    (scratch / "numbers.raw").write_bytes(b"1 2 3")
    (scratch / "deck.cir").write_bytes(b"t")
    assert take(scratch, output) == (["a.txt", "b.raw"], ["numbers.raw"], [])
    assert (output / "b.raw").read_bytes() == RAW
    assert (output / "files/numbers.raw").read_bytes() == b"1 2 3"


def test_nothing_but_plain_files_is_taken(tmp_path: Path, scratch: Path, output: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(RAW)
    (scratch / "link.raw").symlink_to(secret)
    (scratch / "folder").mkdir()
    (scratch / "hard.raw").hardlink_to(secret)
    os.mkfifo(scratch / "fifo.raw")
    with socket.socket(socket.AF_UNIX) as server:
        here = Path.cwd()
        os.chdir(scratch)
        server.bind("socket.raw")
        os.chdir(here)
    (scratch / "large.raw").write_bytes(RAW * 100)
    assert take(scratch, output) == (
        [],
        [],
        ["fifo.raw", "folder", "hard.raw", "large.raw", "link.raw", "socket.raw"],
    )
    assert list(output.iterdir()) == []


@pytest.mark.parametrize("name", [".hidden", "-rf", "a\nb.raw", "bell\x07", "x" * 200])
def test_odd_names_are_left_behind(name: str, scratch: Path, output: Path) -> None:
    (scratch / name).write_bytes(RAW)
    assert take(scratch, output) == ([], [], [name])


@pytest.mark.parametrize("name", ["result.json", "ngspice.log"])
def test_our_own_names_are_kept_for_us(name: str, scratch: Path, output: Path) -> None:
    (scratch / name).write_bytes(RAW)
    assert take(scratch, output) == ([], [name], [])
    assert not (output / name).exists()


def test_rights_of_taken_files_are_ordinary(scratch: Path, output: Path) -> None:
    (scratch / "a.raw").write_bytes(RAW)
    (scratch / "a.raw").chmod(0o4755)
    take(scratch, output)
    assert (output / "a.raw").stat().st_mode & 0o7777 == 0o644


def test_the_size_of_a_folder_counts_its_files(scratch: Path) -> None:
    (scratch / "a").write_bytes(b"x" * 10)
    (scratch / "b").write_bytes(b"x" * 32)
    assert folder_bytes(scratch) == 42
    assert folder_bytes(scratch / "gone") == 0


def test_removing_follows_no_link_and_minds_no_rights(tmp_path: Path, scratch: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").write_text("mine")
    (scratch / "link").symlink_to(kept)
    inner = scratch / "closed/inner"
    inner.mkdir(parents=True)
    (inner / "file").write_text("x")
    (inner / "out").symlink_to(kept)
    inner.chmod(0)
    (scratch / "closed").chmod(0)
    remove_scratch(scratch)
    assert not scratch.exists()
    assert (kept / "file").read_text() == "mine"


def test_removing_a_tree_deeper_than_any_path(scratch: Path) -> None:
    here = os.open(scratch, os.O_RDONLY)
    for _ in range(1200):
        os.mkdir("deep", dir_fd=here)
        deeper = os.open("deep", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = deeper
    os.close(here)
    remove_scratch(scratch)
    assert not scratch.exists()
