"""sessions.json is a cache: whatever becomes of it, the list shows what the transcripts hold."""

import json
import os
import shutil

import pytest

from infrastructure.persistence import session_index
from infrastructure.persistence.sessions import SessionFiles
from infrastructure.persistence.transcript_lines import write_line
from shared.ulid import new_ulid
from tests.ground.campaign import campaigns

DAY = "2025-01-{:02d}T00:00:00.000+00:00"


@pytest.fixture
def store(tmp_path):
    return SessionFiles(tmp_path / "conversations")


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "conversations"


@pytest.fixture
def index(folder):
    return folder / "sessions.json"


def said(text, day=1, role="user", message_id=None):
    extra = {"timestamp": DAY.format(day)}
    message = {"id": message_id or new_ulid(), "type": role, "content": text, "additional_kwargs": extra}
    return {"event": "message", "message": message}


def new(store, *events, name="N"):
    transcript = store.create(work_mode="free_work", name=name)
    transcript.append(*events)
    transcript.close()
    return transcript.session_id


def go_on(store, session_id, *events):
    transcript = store.open(session_id)
    transcript.append(*events)
    transcript.close()


def counts(store):
    return {info.session_id: info.message_count for info in store.list()}


@pytest.fixture
def reads(monkeypatch):
    """Lines that were read for the list."""
    lines = []
    real = session_index.read_line

    def read_line(line):
        lines.append(line)
        return real(line)

    monkeypatch.setattr(session_index, "read_line", read_line)
    return lines


def test_the_last_changed_comes_first(store):
    a, b, c = new(store, said("x", 2)), new(store, said("x", 3)), new(store, said("x", 1))
    assert [info.session_id for info in store.list()] == [b, a, c]
    go_on(store, c, said("y", 9))
    assert [info.session_id for info in store.list()] == [c, b, a]


def test_nothing_is_listed_and_nothing_written_where_nothing_is(store, tmp_path):
    assert store.list() == ()
    assert list(tmp_path.iterdir()) == []


def test_the_index_is_used_while_it_is_right_and_written_only_when_changed(store, index, reads):
    new(store, said("a")), new(store, said("b"))
    before = store.list()
    written = index.stat()
    reads.clear()
    assert SessionFiles(index.parent).list() == before
    assert reads == []
    now = index.stat()
    assert (now.st_ino, now.st_mtime_ns) == (written.st_ino, written.st_mtime_ns)


def test_of_a_transcript_that_grew_only_the_tail_is_read(store, reads):
    session_id = new(store, *(said(f"{n}") for n in range(50)))
    assert counts(store) == {session_id: 50}
    reads.clear()
    go_on(store, session_id, said("51", role="assistant"), {"event": "renamed", "name": "M", "by": "user"})
    [info] = store.list()
    assert (info.message_count, info.name) == (51, "M")
    assert len(reads) == 2


def test_a_message_that_is_older_than_others_has_the_whole_read(store, reads):
    first = new_ulid()
    session_id = new(store, said("a"), said("b", role="assistant"))
    counts(store)
    go_on(store, session_id, said("again", message_id=first), said("again", message_id=first))
    assert counts(store) == {session_id: 3}


def test_a_transcript_that_was_exchanged_for_a_longer_one_is_read_anew(store, folder):
    session_id = new(store, said("a"), said("b"))
    counts(store)
    path = folder / f"{session_id}.jsonl"
    path.write_bytes(b"".join(write_line(said("x" * 200)) for _ in range(5)))
    assert counts(store) == {session_id: 5}


def test_a_transcript_changed_without_changing_its_size_is_read_anew(store, folder):
    session_id = new(store, said("abc"))
    store.list()
    path = folder / f"{session_id}.jsonl"
    path.write_bytes(path.read_bytes().replace(b"abc", b"xyz"))
    os.utime(path, ns=(1, 1))
    assert store.list()[0].preview == "xyz"


def test_a_transcript_that_shrank_is_read_anew(store, folder):
    session_id = new(store, said("a"), said("b"))
    counts(store)
    path = folder / f"{session_id}.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
    assert counts(store) == {session_id: 1}


def test_a_torn_tail_is_not_counted_until_it_is_whole(store, folder):
    session_id = new(store, said("a"))
    line = write_line(said("b"))
    path = folder / f"{session_id}.jsonl"
    with path.open("ab") as file:
        file.write(line[:30])
    assert counts(store) == {session_id: 1}
    with path.open("ab") as file:
        file.write(line[30:])
    assert counts(store) == {session_id: 2}


def test_transcripts_that_come_and_go_are_found(store, folder, index):
    gone, kept = new(store, said("a")), new(store, said("b"))
    counts(store)
    (folder / f"{gone}.jsonl").unlink()
    copy = new_ulid()
    shutil.copy(folder / f"{kept}.jsonl", folder / f"{copy}.jsonl")
    assert counts(store) == {kept: 1, copy: 1}
    assert {row[0] for row in json.loads(index.read_bytes())["sessions"]} == {kept, copy}


def test_other_files_in_the_folder_do_not_matter(store, folder):
    session_id = new(store, said("a"))
    for name in ("notes.txt", "x.jsonl", f"{new_ulid()} (copy).jsonl", f"{new_ulid()}.lock", ".x.tmp"):
        (folder / name).write_bytes(b"{}")
    assert counts(store) == {session_id: 1}


FOREIGN = [
    b"",
    b"{",
    b"\xff\x00",
    b"[]",
    b"3",
    b"[" * 100_000,
    b'{"schema_version": 1}',
    b'{"schema_version": 1, "sessions": {}}',
    b'{"schema_version": 1, "sessions": [3, {}, null, {"session_id": "../x"}]}',
    b'{"schema_version": 99, "sessions": []}',
    b'{"current_session_id": "x", "sessions": [{"session_id": "20241220_143022", "name": "x"}]}',
]


@pytest.mark.parametrize("content", FOREIGN)
def test_an_index_of_rubbish_is_made_anew(store, index, content):
    session_id = new(store, said("a"))
    store.list()
    right = index.read_bytes()
    index.write_bytes(content)
    assert counts(store) == {session_id: 1}
    assert index.read_bytes() == right


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [(b'"N"', b"7"), (b'"N"', b'"M"'), (b"version", b"Version"), (b'{"', b'{ "'), (b"]", b"")],
)
def test_an_index_that_somebody_changed_is_made_anew(store, index, ours, theirs):
    new(store, said("a")), new(store, said("b"))
    before, right = store.list(), index.read_bytes()
    assert ours in right
    index.write_bytes(right.replace(ours, theirs, 1))
    assert store.list() == before
    assert index.read_bytes() == right


@pytest.mark.parametrize("what", ["folder", "link", "fifo"])
def test_an_index_that_is_no_file_stops_nothing(store, index, what, tmp_path):
    session_id = new(store, said("a"))
    match what:
        case "folder":
            index.mkdir()
        case "link":
            (tmp_path / "other").write_text("kept")
            index.symlink_to(tmp_path / "other")
        case "fifo":
            os.mkfifo(index)
    assert counts(store) == {session_id: 1}
    if what == "link":
        assert (tmp_path / "other").read_text() == "kept"


@campaigns(fast=25, whole=800)
def test_the_list_is_always_that_of_a_store_without_an_index(campaign, tmp_path):
    for number, rng in enumerate(campaign.cases()):
        folder = tmp_path / f"case{number}"
        store = SessionFiles(folder)
        ids = [new(store, said("first", rng.randrange(1, 29))) for _ in range(3)]
        for _ in range(rng.randrange(1, 8)):
            session_id = rng.choice(ids)
            path = folder / f"{session_id}.jsonl"
            match rng.randrange(6):
                case 0:
                    go_on(store, session_id, said("more", rng.randrange(1, 29)))
                case 1:
                    partial = {"event": "delta", "message_id": new_ulid(), "text": "x", "reasoning": ""}
                    go_on(store, session_id, {"event": "turn", "state": "started"}, partial)
                case 2:
                    data = path.read_bytes()
                    path.write_bytes(data[: rng.randrange(len(data) + 1)])
                case 3:
                    (folder / "sessions.json").write_bytes(rng.choice(FOREIGN))
                case 4:
                    path.write_bytes(path.read_bytes() + b"\0" * rng.randrange(9))
                case 5:
                    store.list()
        anew = folder.with_suffix(".copy")
        shutil.copytree(folder, anew, ignore=shutil.ignore_patterns("sessions.json"))
        assert store.list() == SessionFiles(anew, store._signer).list()
        shutil.rmtree(folder), shutil.rmtree(anew)
