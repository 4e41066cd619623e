"""What git carries into ``.circuit_ai``: links, pipes, foreign databases, files of any size and date."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
import sqlite3
import threading
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from application.ports.tracing import KeptSpan
from infrastructure.persistence.attachment_files import AttachmentFiles
from infrastructure.persistence.checkpoints import open_checkpointer
from infrastructure.persistence.confined import remove_tree
from infrastructure.persistence.object_store import ObjectStore
from infrastructure.persistence.operations import SqliteOperationLog
from infrastructure.persistence.project import ProjectFolder, ProjectFolders
from infrastructure.persistence.result_catalogue import ResultList
from infrastructure.persistence.result_retention import ResultFolderShelf
from infrastructure.persistence.results import ResultFolders
from infrastructure.persistence.sessions import SessionFiles
from infrastructure.search.database import UnusableError, opened
from infrastructure.search.indexing import update
from infrastructure.tracing.spans import SpanWriter, SqliteTraces
from shared.errors import CircuitAIError

SESSION = "01HZZZZZZZZZZZZZZZZZZZZZZZ"
RESULT = "20260101T000000000Z-0123ABCD"


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder of the user's that no project may reach."""
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "precious.txt").write_text("mine")
    return folder


@pytest.fixture
def private(tmp_path: Path) -> Path:
    folder = tmp_path / "p" / ".circuit_ai"
    folder.mkdir(parents=True)
    (tmp_path / "p" / "a.cir").write_text("* t\nR1 a 0 1k\n.end\n")
    return folder


def state_of(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def in_time(act: Callable[[], Any], seconds: float = 10.0) -> Any:
    """What `act` gives or raises; a thread that waits for ever fails the test instead of the suite."""
    outcome: list[Any] = []

    def work() -> None:
        try:
            outcome.append(act())
        except BaseException as error:  # noqa: BLE001 - handed on
            outcome.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(seconds)
    assert outcome, "it waits for ever"
    return outcome[0]


def new_result(private: Path, home: Path) -> object:
    return ResultFolders(user_home=home).new_result(private.parent / "a.cir")


def test_results_behind_a_link_are_neither_written_nor_removed(private, outside, tmp_path):
    (outside / RESULT).mkdir()
    (outside / RESULT / "result.json").write_text("{}")
    before = state_of(outside)
    (private / "sim_results").symlink_to(outside)
    error = in_time(lambda: new_result(private, tmp_path / "home"))
    assert isinstance(error, CircuitAIError)
    assert "sim_results" in str(error)
    assert "link" in str(error)
    shelf = ResultFolderShelf(private / "sim_results", private=private)
    for act in (shelf.results, lambda: shelf.remove(RESULT), lambda: shelf.pin(RESULT, is_pinned=True)):
        assert isinstance(in_time(act), CircuitAIError)
    assert ResultList().newest(private.parent, 10) == ()
    assert state_of(outside) == before
    assert SessionFiles(private / "conversations").list() == ()  # the rest goes on


def test_a_result_that_is_a_link_is_not_emptied(private, outside):
    (private / "sim_results").mkdir()
    (private / "sim_results" / RESULT).symlink_to(outside)
    before = state_of(outside)
    shelf = ResultFolderShelf(private / "sim_results", private=private)
    assert shelf.results() == ()
    error = in_time(
        lambda: ResultFolders(user_home=outside / "x").raw_path_of(private / "sim_results" / RESULT)
    )
    assert isinstance(error, CircuitAIError)
    assert state_of(outside) == before


def test_trash_behind_a_link_is_not_emptied(private, outside):
    (outside / "old").mkdir()
    (outside / "old" / "x").write_text("x")
    before = state_of(outside)
    (private / "trash").symlink_to(outside)
    in_time(lambda: ResultFolderShelf(private / "sim_results", private=private).clear_trash())
    assert state_of(outside) == before


def test_objects_behind_a_link_are_neither_put_nor_removed(private, outside):
    digest = hashlib.sha256(b"x").hexdigest()
    (outside / digest[:2]).mkdir()
    (outside / digest[:2] / digest[2:]).write_bytes(zlib.compress(b"x"))
    before = state_of(outside)
    (private / "objects").symlink_to(outside)
    store = ObjectStore(private / "objects")
    for act in (
        lambda: store.put(b"y"),
        lambda: store.remove([digest], put_before=2e10),
        lambda: store.get(digest),
    ):
        assert isinstance(in_time(act), CircuitAIError)
    assert state_of(outside) == before


@pytest.mark.parametrize("kind", ["fifo", "link", "sparse", "bomb"])
def test_an_object_that_is_none_takes_neither_time_nor_memory(private, kind, tmp_path):
    import resource

    digest = hashlib.sha256(b"x").hexdigest()
    place = private / "objects" / digest[:2] / digest[2:]
    place.parent.mkdir(parents=True)
    if kind == "fifo":
        os.mkfifo(place)
    elif kind == "link":
        (tmp_path / "big").touch()
        os.truncate(tmp_path / "big", 300 << 20)
        place.symlink_to(tmp_path / "big")
    elif kind == "sparse":
        place.touch()
        os.truncate(place, 300 << 20)
    else:
        place.write_bytes(zlib.compress(bytes(100 << 20)))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert isinstance(in_time(lambda: ObjectStore(private / "objects").get(digest)), CircuitAIError)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 60 << 10  # kB


@pytest.mark.parametrize("name", ["conversations", "attachments"])
def test_what_is_written_for_a_conversation_stays_in_the_project(private, outside, name):
    before = state_of(outside)
    (private / name).symlink_to(outside)
    content = b"hello"
    attached = hashlib.sha256(content).hexdigest() + ".txt"
    acts: tuple[Callable[[], Any], ...] = (
        (
            lambda: SessionFiles(private / name).create(work_mode="free_work"),
            SessionFiles(private / name).list,
        )
        if name == "conversations"
        else (
            lambda: AttachmentFiles(private / name).keep(attached, content),
            lambda: AttachmentFiles(private / name).sweep(frozenset),
        )
    )
    for act in acts:
        error = in_time(act)
        assert isinstance(error, CircuitAIError)
        assert name in str(error)
    assert state_of(outside) == before


@pytest.mark.parametrize(
    "name", [f"conversations/{SESSION}.jsonl", f"conversations/{SESSION}.lock", "operations.lock"]
)
def test_a_pipe_is_not_waited_for(private, name):
    place = private / name
    place.parent.mkdir(exist_ok=True)
    os.mkfifo(place)
    if name.endswith(".lock") and "conversations" in name:
        place.with_suffix(".jsonl").write_text("")
    sessions = SessionFiles(private / "conversations")

    def lock() -> None:
        with SqliteOperationLog(private / "operations.sqlite").write_lock():
            pass

    act = lock if name.startswith("operations") else lambda: sessions.open(SESSION)
    assert isinstance(in_time(act), CircuitAIError)


@pytest.mark.parametrize("kind", ["fifo", "zero"])
def test_a_result_that_is_a_pipe_or_a_device_is_not_waited_for(private, kind, tmp_path):
    folder = private / "sim_results" / RESULT
    folder.mkdir(parents=True)
    for name in ("result.json", ".running", ".used", "ngspice.log"):
        if kind == "fifo":
            os.mkfifo(folder / name)
        else:
            (folder / name).symlink_to("/dev/zero")
    results = ResultFolders(user_home=tmp_path / "home")
    assert isinstance(in_time(lambda: results.raw_path_of(folder)), CircuitAIError)
    assert in_time(lambda: results.reusable(private.parent / "a.cir", "f" * 64)) is None
    assert in_time(lambda: ResultList().newest(private.parent, 5)) == ()
    stored = in_time(lambda: ResultFolderShelf(private / "sim_results", private=private).results())
    assert [item.is_finished for item in stored] == [False]


def use_checkpoints(path: Path) -> None:
    async def work() -> None:
        async with open_checkpointer(path, "a conversation"):
            pass

    asyncio.run(work())


def use_traces(path: Path) -> None:
    writer = SpanWriter(path)
    writer.write(
        KeptSpan(trace_id="1" * 32, span_id="2" * 16, parent_id="", session_id="s", name="n", started_ns=1,
                 ended_ns=2, status="ok", error_type="", attributes={})
    )  # fmt: skip
    writer.close()
    SqliteTraces().turns(path)


def use_operations(path: Path) -> None:
    log = SqliteOperationLog(path)
    try:
        with log.write_lock():
            log.forget(["1"])
    finally:
        log.close()


USES = {
    "checkpoints.sqlite": use_checkpoints,
    "traces.sqlite": use_traces,
    "operations.sqlite": use_operations,
}
FOREIGN = {
    "table": "CREATE TABLE bookmarks (url TEXT)",
    "view": "CREATE VIEW spans AS SELECT 1 AS one",
    "trigger": "CREATE TABLE t (x); CREATE TRIGGER g AFTER INSERT ON t BEGIN DELETE FROM t; END",
    "virtual": "CREATE VIRTUAL TABLE writes USING fts5 (text)",
    "application": "PRAGMA application_id = 252006673; CREATE TABLE checkpoints (x)",
}


ENDLESS = "(WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c)"
COMPUTING = {
    # Written into the schema as bytes of the file are: SQLite itself refuses to make such a name.
    "trigger": "PRAGMA writable_schema = ON; INSERT INTO sqlite_master (type, name, tbl_name, rootpage, sql)"
    " VALUES ('trigger', 'sqlite_autoindex_{table}_9', '{table}', 0,"
    f" 'CREATE TRIGGER sqlite_autoindex_{{table}}_9 AFTER INSERT ON {{table}} BEGIN SELECT {ENDLESS}; END')",
    "check": "ALTER TABLE {table} ADD COLUMN y CHECK (hex(zeroblob(900)) NOT LIKE '%0%0%0%0%0%0%1')",
    "check between comments": "ALTER TABLE {table} ADD COLUMN y /* ' */ CHECK (hex(y) NOT LIKE '%1') /* ' */",
    "check behind a name": 'ALTER TABLE {table} ADD COLUMN "y--" CHECK (hex("y--") > 1)',
    "generated": "ALTER TABLE {table} ADD COLUMN y GENERATED ALWAYS AS (hex(zeroblob(400000000)))",
    "index": "DROP INDEX IF EXISTS turns; DROP INDEX IF EXISTS operations_begun;"
    " CREATE INDEX {index} ON {table} (hex('x'))",
}


@pytest.mark.parametrize("what", COMPUTING)
@pytest.mark.parametrize("name", ["operations.sqlite", "traces.sqlite", "checkpoints.sqlite"])
def test_a_database_of_ours_that_works_by_itself_is_refused(private, name, what):
    place = private / name
    USES[name](place)
    table = {"operations.sqlite": "operations", "traces.sqlite": "spans"}.get(name, "writes")
    index = {"operations": "operations_begun", "spans": "turns"}.get(table, "i")
    before = foreign(place, COMPUTING[what].format(table=table, index=index))
    error = in_time(lambda: USES[name](place))
    assert isinstance(error, CircuitAIError)
    assert place.read_bytes() == before


def make_deep(folder: Path, levels: int) -> None:
    """A folder in a folder in a folder ..., with a file in the last one."""
    here = os.open(folder, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir("a", dir_fd=here)
        inner = os.open("a", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(os.open("x", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(here)


@pytest.fixture
def deep(private: Path) -> Iterator[Path]:
    """A private folder with a result and an attachment of 1,500 levels; git carries 2,000."""
    for folder in (private / "sim_results" / RESULT, private / "attachments"):
        folder.mkdir(parents=True)
        make_deep(folder, 1500)
    yield private
    remove_tree(private)  # pytest could not


def test_folders_deeper_than_the_stack_are_looked_at_and_removed(deep, tmp_path):
    """The folders of results are measured after every 16th run."""
    folder = deep / "sim_results" / RESULT
    (folder / "result.json").write_text("{}")
    shelf = ResultFolders(user_home=tmp_path / "home").shelf(deep.parent)
    (found,) = in_time(shelf.results)
    assert found.size == 2
    assert ResultList().stored(deep.parent).size == 2
    assert ProjectFolders().open(deep.parent).named_hashes() == frozenset()
    assert in_time(lambda: shelf.remove(RESULT)) is None
    assert not folder.exists()
    assert not (deep / "trash").exists()


def foreign(path: Path, statements: str) -> bytes:
    connection = sqlite3.connect(path)
    connection.executescript(statements)
    connection.close()
    return path.read_bytes()


@pytest.mark.parametrize("what", FOREIGN)
@pytest.mark.parametrize("name", USES)
def test_a_foreign_database_gets_nothing_of_ours(private, name, what):
    before = foreign(private / name, FOREIGN[what])
    error = in_time(lambda: USES[name](private / name))
    assert isinstance(error, CircuitAIError)
    assert (private / name).read_bytes() == before


@pytest.mark.parametrize("way", ["link", "hard link", "folder link", "wal link"])
@pytest.mark.parametrize("name", USES)
def test_a_database_elsewhere_gets_nothing_of_ours(private, outside, name, way):
    place = private / name
    target = outside / "firefox.sqlite"
    foreign(target, "VACUUM")  # empty: nothing tells it from one that is to be filled
    if way == "link":
        place.symlink_to(target)
    elif way == "hard link":
        place.hardlink_to(target)
    elif way == "wal link":
        target.write_bytes(b"")
        (private / f"{name}-wal").symlink_to(target)
    else:
        private.rename(outside / "theirs")
        private.symlink_to(outside / "theirs")
    before = state_of(outside)
    error = in_time(lambda: USES[name](place))
    assert isinstance(error, CircuitAIError)
    assert "link" in str(error)
    assert state_of(outside) == before


@pytest.mark.parametrize("suffix", ["", "-wal", "-journal"])
def test_the_index_for_searches_is_no_way_out(private, outside, suffix):
    target = outside / "x.sqlite"
    target.write_bytes(b"")
    (private / f"search.sqlite{suffix}").symlink_to(target)
    with pytest.raises(UnusableError), opened(private.parent):
        pass
    assert target.read_bytes() == b""


def test_a_log_of_nonsense_beside_a_database_harms_nothing(private):
    use_operations(private / "operations.sqlite")
    (private / "operations.sqlite-wal").write_bytes(os.urandom(4096))
    use_operations(private / "operations.sqlite")
    assert SqliteOperationLog(private / "operations.sqlite").list() == ()


@pytest.mark.parametrize("kind", ["link", "file"])
def test_a_private_folder_that_is_none(tmp_path, outside, kind):
    root = tmp_path / "q"
    root.mkdir()
    if kind == "link":
        (root / ".circuit_ai").symlink_to(outside)
    else:
        (root / ".circuit_ai").write_text("x")
    before = state_of(outside)
    for create in (False, True):
        assert isinstance(
            in_time(lambda create=create: ProjectFolders().open(root, create=create)), CircuitAIError
        )
    assert state_of(outside) == before


def test_a_lock_with_another_name_is_not_written_into(private, outside):
    (private / "conversations").mkdir()
    (private / "conversations" / f"{SESSION}.jsonl").write_text("")
    (private / "conversations" / f"{SESSION}.lock").hardlink_to(outside / "precious.txt")
    assert isinstance(in_time(lambda: SessionFiles(private / "conversations").open(SESSION)), CircuitAIError)
    assert (outside / "precious.txt").read_text() == "mine"


def test_a_transcript_with_another_name_is_not_appended_to(private, outside):
    header = {"event": "session", "schema_version": 1, "session_id": SESSION, "name": "n",
              "work_mode": "free_work", "created_at": "2026-01-01T00:00:00.000+00:00"}  # fmt: skip
    target = outside / "notes.jsonl"
    target.write_text(json.dumps(header) + "\n")
    (private / "conversations").mkdir()
    (private / "conversations" / f"{SESSION}.jsonl").hardlink_to(target)
    assert isinstance(in_time(lambda: SessionFiles(private / "conversations").open(SESSION)), CircuitAIError)


def test_a_transcript_of_zeros_is_told_and_kept(private):
    place = private / "conversations" / f"{SESSION}.jsonl"
    place.parent.mkdir()
    place.write_bytes(bytes(5000))
    sessions = SessionFiles(place.parent)
    for act in (lambda: sessions.read(SESSION), lambda: sessions.open(SESSION)):
        error = in_time(act)
        assert isinstance(error, CircuitAIError)
        assert error.error_type == "session_damaged"
    assert place.read_bytes() == bytes(5000)


def test_an_event_nested_deeply_is_one_damaged_line(private):
    place = private / "conversations" / f"{SESSION}.jsonl"
    place.parent.mkdir()
    header = {"event": "session", "schema_version": 1, "session_id": SESSION, "name": "n",
              "work_mode": "free_work", "created_at": "2026-01-01T00:00:00.000+00:00"}  # fmt: skip
    deep = '{"event": "x", "of": ' + "[" * 900 + "]" * 900 + "}"
    place.write_text(json.dumps(header) + "\n" + deep + "\n" + json.dumps({"event": "note"}) + "\n")
    events = SessionFiles(place.parent).read(SESSION)
    assert [event["event"] for event in getattr(events, "events", events)] == ["session", "damaged", "note"]


def test_a_date_after_2262_does_not_switch_the_search_off(private):
    os.utime(private.parent / "a.cir", ns=(2**63 + 10**18, 2**63 + 10**18))
    update(private.parent, 5.0)
    with opened(private.parent) as connection:
        rows = connection.execute("SELECT name FROM files WHERE status = ''").fetchall()
    assert ("a.cir",) in rows


def test_a_link_put_in_place_while_files_are_written_leads_nowhere(private, outside):
    """A folder is exchanged for a link over and over while a tool writes, moves and deletes in it."""
    root = private.parent
    inner, aside = root / "sub", root / "aside"
    inner.mkdir()
    before = state_of(outside)
    project = ProjectFolder(root)
    is_over = threading.Event()

    def swap() -> None:
        while not is_over.is_set():
            with contextlib.suppress(OSError):  # who writes makes a folder that is missing
                inner.rename(aside)
                inner.symlink_to(outside)
            with contextlib.suppress(OSError):
                inner.unlink()
            with contextlib.suppress(OSError):
                aside.rename(inner)

    swapper = threading.Thread(target=swap)
    swapper.start()
    done = 0
    try:
        for number in range(200):
            for act in (
                lambda number=number: project.write(Path("sub/a.cir"), str(number).encode()),
                lambda: project.move(Path("sub/a.cir"), Path("sub/b.cir")),
                lambda: project.remove(Path("sub/b.cir")),
                lambda: project.make_folder(Path("sub/deep/er")),
                lambda: project.remove_folder(Path("sub/deep/er")),
            ):
                try:
                    act()
                    done += 1
                except CircuitAIError:
                    continue
    finally:
        is_over.set()
        swapper.join()
    assert done
    assert state_of(outside) == before
    assert {path.name for path in outside.iterdir()} == {"precious.txt"}
