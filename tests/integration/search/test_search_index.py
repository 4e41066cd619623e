"""The index against a plain look at all files, through changes, ignore rules, kills and damage."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from domain.search.query import SearchQuery, fold
from infrastructure.search import parts
from infrastructure.search.database import path_of
from infrastructure.search.project_index import SqliteProjectIndex
from infrastructure.search.walking import walk
from tests.ground.campaign import Campaign, campaigns

WORDS = ("gain", "相位", "裕度", "10µF", "µ", "R1", "x", "out", "Opamp", "é", "_", "%", '"', "噪", "é", "ß")
QUERIES = (
    *WORDS,
    "相位裕度",
    "gain out",
    "R1 out",
    "pam",
    "nothing",
    "in 1",
    "GAIN",
    "ut",
    "%_",
    "位",
    "10Μf",
)
SUFFIXES = (".cir", ".md", ".txt", ".lib", ".csv")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "project" / ".circuit_ai").mkdir(parents=True)
    return tmp_path / "project"


def forked_indexer(root: Path) -> int:
    """A process that brings the index up to date: its id."""
    child = os.fork()
    if child:
        return child
    try:
        SqliteProjectIndex(root).update(60)
    finally:
        os._exit(0)


def is_running(child: int) -> bool:
    """Whether it has not ended (it is not reaped)."""
    return os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None


def line(rng: random.Random) -> str:
    return " ".join(rng.choices(WORDS, k=rng.randrange(6)))


def content(rng: random.Random) -> bytes:
    text = "\n".join(line(rng) for _ in range(rng.choice((0, 1, 3, 12)))) + rng.choice(("", "\n"))
    if rng.random() < 0.2:
        text = text.replace("\n", "\r\n")
    return rng.choice((b"", b"", b"", b"\xef\xbb\xbf")) + text.encode()


def change(rng: random.Random, root: Path) -> None:
    """Write, overwrite in place with the old times, remove or move a file or a folder."""
    files = [path for path in root.rglob("*") if path.is_file() and ".circuit_ai" not in path.parts]
    act = rng.choice(("write", "write", "write", "secretly", "remove", "move", "folder", "ignore"))
    if act == "write" or not files:
        path = (
            root
            / rng.choice(("", "a", "a/b", "build", ".hidden"))
            / (f"f{rng.randrange(8)}{rng.choice(SUFFIXES)}")
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content(rng))
        return
    path = rng.choice(files)
    if act == "secretly":  # same size, same times of content
        times = path.stat()
        data = bytearray(path.read_bytes())
        if data:
            data[rng.randrange(len(data))] = ord("z")
        path.write_bytes(data)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    elif act == "remove":
        path.unlink()
    elif act == "move":
        path.rename(path.with_name(f"m{rng.randrange(4)}{rng.choice(SUFFIXES)}"))
    elif act == "folder" and (root / "a").exists():
        shutil.rmtree(root / "a")
    elif act == "ignore":
        rules = rng.choice(("*.txt\n", "build/\n", "*.md\n!f1.md\n", "", "/f2.cir\n", "f3.*\n"))
        (root / rng.choice((".gitignore", ".circuitaiignore"))).write_text(rules)


def expected(root: Path, query: SearchQuery) -> set[tuple[str, int]]:
    """Every line of every file that may be searched, looked at."""
    found = set()
    for name in walk(root).files:
        text = (root / name).read_bytes().decode("utf-8-sig", "surrogateescape")
        if b"\xef\xbf" in text.encode("utf-8", "surrogateescape") or not _is_utf8(root / name):
            continue
        lines = text.split("\n")
        found |= {(name, n) for n, row in enumerate(lines, 1) if query.wanted in fold(row.removesuffix("\r"))}
    return found


def _is_utf8(path: Path) -> bool:
    try:
        path.read_bytes().decode()
    except UnicodeDecodeError:
        return False
    return True


def answer(index: SqliteProjectIndex, query: SearchQuery, limit_s: float = 60) -> set[tuple[str, int]]:
    state = index.update(limit_s)
    found = index.find(query, state.pending, 60)
    assert found.waiting == 0
    return {(match.source, match.line) for match in found.matches if match.kind == "exact"}


def check(root: Path, limit_s: float = 60, queries: tuple[str, ...] = QUERIES) -> None:
    index = SqliteProjectIndex(root)
    for text in queries:
        query = SearchQuery(text=text, kind="content", most=10_000)
        wanted = expected(root, query)
        assert {place for place in answer(index, query, limit_s) if _is_utf8(root / place[0])} == wanted, text


@pytest.mark.timeout(3600)
@campaigns(fast=3, whole=400)
def test_answers_are_those_of_a_plain_look_after_any_change(campaign: Campaign, tmp_path: Path) -> None:
    for number, rng in enumerate(campaign.cases()):
        root = tmp_path / f"p{number}"
        (root / ".circuit_ai").mkdir(parents=True)
        for _ in range(8):
            for _ in range(rng.randrange(1, 8)):
                change(rng, root)
            # without any time for the index the files themselves are read
            check(root, limit_s=rng.choice((60, 60, 0)), queries=tuple(rng.sample(QUERIES, 4)))
        shutil.rmtree(root)


@pytest.mark.timeout(3600)
@campaigns(fast=1, whole=150)
def test_a_killed_indexer_leaves_no_wrong_answer(campaign: Campaign, tmp_path: Path) -> None:
    for number, rng in enumerate(campaign.cases()):
        root = tmp_path / f"p{number}"
        (root / ".circuit_ai").mkdir(parents=True)
        for file in range(250):
            (root / f"n{file}{rng.choice(SUFFIXES)}").write_bytes(content(rng))
        for _ in range(3):
            # Two at a time; one is killed when the database has grown to some size, so at any step.
            indexers = [forked_indexer(root) for _ in range(2)]
            enough, end = rng.randrange(400_000), time.monotonic() + 20
            while _size(root) < enough and time.monotonic() < end and is_running(indexers[0]):
                pass
            os.kill(indexers[0], signal.SIGKILL)
            if rng.random() < 0.5:
                os.kill(indexers[1], signal.SIGKILL)
            for indexer in indexers:
                os.waitpid(indexer, 0)
            for _ in range(5):
                change(rng, root)
            check(root, queries=tuple(rng.sample(QUERIES, 3)))
        shutil.rmtree(root)


def _size(root: Path) -> int:
    place, size = path_of(root), 0
    for end in ("", "-wal"):
        with contextlib.suppress(FileNotFoundError):
            size += place.with_name(place.name + end).stat().st_size
    return size


def test_a_file_that_ends_its_reader_is_left_alone_until_it_changes(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    evil = root / "evil.pdf"
    evil.write_bytes(b"%PDF-1.4 kills whoever reads it")
    (root / "good.md").write_text("gain\n")
    real = parts.parts_of

    def deadly(path: str, data: bytes) -> parts.FileParts:
        if b"kills" in data:
            os._exit(9)
        return real(path, data)

    monkeypatch.setattr(parts, "parts_of", deadly)
    deaths = 0
    while os.waitstatus_to_exitcode(os.waitpid(forked_indexer(root), 0)[1]) != 0:
        deaths += 1
        assert deaths < 5
        check(root, limit_s=0, queries=("gain",))
    assert deaths == 2
    state = SqliteProjectIndex(root).update(60)
    assert (state.pending, state.skipped) == ((), {"unreadable": 1})
    evil.write_bytes(b"%PDF-1.4 is harmless now, but no PDF")
    assert SqliteProjectIndex(root).update(60).skipped == {"unreadable": 1}
    check(root, queries=("gain",))


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(b"no database at all"),
        lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
        lambda path: path.write_bytes(_scrambled(path.read_bytes())),
        lambda path: _sql(path, "DROP TABLE parts"),
        lambda path: _sql(path, "PRAGMA user_version = 99"),
        lambda path: _moved(path),  # noqa: PLW0108 - defined below
    ],
    ids=["not a database", "cut off", "scrambled", "a table less", "newer", "brought along"],
)
def test_a_damaged_or_foreign_index_is_made_anew(root: Path, damage: Callable[[Path], object]) -> None:
    for number in range(60):
        (root / f"f{number}.cir").write_text(f"t\nR1 gain out {number}k\n" * 6)
    SqliteProjectIndex(root).update(60)
    damage(path_of(root))
    check(root, queries=("gain", "R1 gain out 7k"))
    check(root, queries=("gain", "R1 gain out 7k"))


def _scrambled(data: bytes) -> bytes:
    rng = random.Random(3)
    return data[:4096] + bytes(rng.randrange(256) for _ in range(len(data) - 4096))


def _sql(path: Path, statement: str) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(statement)
    connection.close()


def _moved(path: Path) -> None:
    """A copy of the index, that says of a file what it does not say."""
    _sql(path, "UPDATE parts SET text = 'a lie'")
    copy = path.with_suffix(".copy")
    shutil.copy(path, copy)
    copy.replace(path)


@pytest.mark.parametrize("name", ["search.sqlite", "search.sqlite-wal"])
def test_nothing_is_written_through_a_link(root: Path, tmp_path: Path, name: str) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_text("precious")
    (root / ".circuit_ai" / name).symlink_to(outside)
    (root / "a.cir").write_text("t\nR1 gain 0 1\n")
    check(root, queries=("gain",))
    assert outside.read_text() == "precious"


def test_a_folder_that_is_no_project_is_searched_and_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "a.cir").write_text("t\n.subckt amp in out\nR1 in out 1k\n.ends\n")
    index = SqliteProjectIndex(tmp_path)
    found = index.find(SearchQuery(text="amp"), index.update(60).pending, 60)
    assert [(match.kind, match.line) for match in found.matches] == [("symbol", 2)]
    assert [path.name for path in tmp_path.iterdir()] == ["a.cir"]


def test_ignored_is_what_git_ignores(root: Path) -> None:
    rules = {
        ".gitignore": "*.log\n!keep.log\n/only_here.cir\nbuild/\n**/deep/*.md\n# comment\n\\#odd\n!\n*.b?k\n"
        "docs/**/x.txt\n",
        "sub/.gitignore": "!wanted.log\n*.cir\n!main.cir\n",
        "sub/lower/.gitignore": "*\n!*.sp\n",
        "build/.gitignore": "!*\n",
    }
    names = [
        "a.log", "keep.log", "only_here.cir", "sub/only_here.cir", "sub/main.cir", "sub/wanted.log", "#odd",
        "build/x.cir", "sub/build/y.md", "x/deep/a.md", "x/deep/y/a.md", "sub/lower/a.sp", "sub/lower/a.md",
        "f.bak", "docs/a/b/x.txt", "docs/x.txt", "sub/lower/q/z.sp", "Build/x.cir", "space .cir",
    ]  # fmt: skip
    for name, text in {**dict.fromkeys(names, "gain"), **rules}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    git = ["git", "-c", "core.excludesFile=/dev/null", "-C", str(root)]
    subprocess.run([*git, "init", "-q"], check=True)
    (root / ".git" / "info" / "exclude").write_text("f.bak\n")
    listed = subprocess.run(
        [*git, "ls-files", "-z", "--others", "--exclude-standard"], check=True, capture_output=True
    ).stdout
    theirs = {name for name in os.fsdecode(listed).split("\0") if name and not _is_hidden(name)}
    assert set(walk(root).files) == theirs
    (root / ".circuitaiignore").write_text("keep.log\n!only_here.cir\n")
    assert set(walk(root).files) == theirs - {"keep.log"} | {"only_here.cir"}


def _is_hidden(name: str) -> bool:
    return any(part.startswith(".") for part in name.split("/"))
