"""Transcripts on the disk: every finished line survives whatever happens to the file."""

import errno
import json
import os
import threading
from pathlib import Path

import pytest

from infrastructure.persistence import sessions as sessions_module
from infrastructure.persistence.sessions import SessionFiles
from infrastructure.persistence.transcript_lines import read_lines, write_line
from shared.errors import EnvironmentProblem, UserInputError
from shared.ulid import new_ulid
from tests.ground.campaign import campaigns


@pytest.fixture
def store(tmp_path):
    return SessionFiles(tmp_path / "conversations")


@pytest.fixture
def transcript(store):
    transcript = store.create(work_mode="free_work")
    yield transcript
    transcript.close()


def said(text, message_id=None, role="user"):
    message = {"id": message_id or new_ulid(), "type": role, "content": text, "additional_kwargs": {}}
    return {"event": "message", "message": message, "step": ""}


def texts(events):
    return [event["message"].get("content") for event in events if event["event"] == "message"]


def path_of(store, session_id, suffix=".jsonl"):
    return store._given_folder / (session_id + suffix)


def error_type(action, *args, kind=UserInputError, **kwargs):
    with pytest.raises(kind) as raised:
        action(*args, **kwargs)
    return raised.value.error_type


def test_a_new_conversation_has_a_header_and_comes_back(store):
    transcript = store.create(work_mode="workflow", name="  Amplifier ")
    transcript.append(said("one"), said("two"))
    transcript.close()
    header, *rest = store.read(transcript.session_id).events
    assert {**header, "created_at": ""} == {
        "event": "session",
        "schema_version": 1,
        "session_id": transcript.session_id,
        "name": "Amplifier",
        "work_mode": "workflow",
        "created_at": "",
    }
    assert texts(rest) == ["one", "two"]
    assert [path.name for path in store._given_folder.iterdir()] == [transcript.session_id + ".jsonl"]


def test_without_a_name_it_is_called_after_the_time(store, monkeypatch):
    store.create(work_mode="free_work", name=" ").close()
    [info] = store.list()
    assert info.name[:7] == "Chat 20"
    assert len(info.name) == len("Chat 2024-12-20 14:30")


def test_opened_again_it_has_all_events_and_takes_more(store, transcript):
    transcript.append(said("one"))
    transcript.close()
    again = store.open(transcript.session_id.lower())
    again.append(said("two"))
    assert texts(again.events) == ["one", "two"] == texts(store.read(transcript.session_id).events)
    again.close()
    again.close()
    with pytest.raises(ValueError, match="closed"):
        again.append(said("three"))


def test_texts_that_break_lines_or_utf8_stay_one_line_each(store, transcript):
    odd = ["a\nb\r\nc", "\u2028\u2029\x85\x0c", "\x00\x1b", "\ud800", "\U0001f600 设计", '"\\', ""]
    transcript.append(*(said(text) for text in odd))
    data = path_of(store, transcript.session_id).read_bytes()
    assert len(data.split(b"\n")) == len(odd) + 2
    data.decode("utf-8", "strict")
    assert texts(store.read(transcript.session_id).events) == odd == texts(transcript.events)


def test_what_json_cannot_hold_is_refused_and_nothing_is_written(store, transcript):
    before = path_of(store, transcript.session_id).read_bytes()
    with pytest.raises(ValueError, match="JSON"):
        transcript.append(said("fine"), {"event": "x", "value": float("nan")})
    with pytest.raises(TypeError):
        transcript.append({"event": "x", "value": object()})
    assert path_of(store, transcript.session_id).read_bytes() == before
    assert len(transcript.events) == 1


def test_a_torn_last_line_is_dropped_at_every_byte_and_cut_off_before_the_next(store):
    transcript = store.create(work_mode="free_work")
    transcript.append(said("kept"))
    path = path_of(store, transcript.session_id)
    whole = path.read_bytes()
    transcript.append(said("torn 设计 \ud800"))
    line = path.read_bytes()[len(whole) :]
    transcript.close()
    for length in range(len(line)):
        path.write_bytes(whole + line[:length])
        assert texts(store.read(transcript.session_id).events) == ["kept"]
        assert store.list()[0].message_count == 1
        again = store.open(transcript.session_id)
        assert texts(again.events) == ["kept"]
        assert again.problems == ()
        again.append(said("next"))
        again.close()
        assert texts(store.read(transcript.session_id).events) == ["kept", "next"]
        assert path.read_bytes().startswith(whole)


@pytest.mark.parametrize("tail", [b"\0" * 512 + b"\n", b"\0" * 512, b'{"event": "mess\n', b"\xff\xfe\n"])
def test_a_last_line_of_rubbish_is_cut_off(store, transcript, tail):
    transcript.append(said("kept"))
    transcript.close()
    path = path_of(store, transcript.session_id)
    whole = path.read_bytes()
    path.write_bytes(whole + tail)
    again = store.open(transcript.session_id)
    again.append(said("next"))
    again.close()
    assert path.read_bytes().startswith(whole + write_line(again.events[-1])[:-2])
    assert len(path.read_bytes().splitlines()) == len(whole.splitlines()) + 1


@pytest.mark.parametrize(
    "line", [b'{"event": 3}\n', b"[1]\n", b'{"event":"message","message":{"type":"x"}}\n']
)
def test_a_last_line_that_somebody_finished_is_not_cut_off(store, transcript, line):
    transcript.close()
    path = path_of(store, transcript.session_id)
    path.write_bytes(path.read_bytes() + line)
    assert error_type(store.open, transcript.session_id) == "not_adopted"
    again = store.open(transcript.session_id, to_adopt=True)
    again.append(said("next"))
    again.close()
    assert line in path.read_bytes()
    assert texts(store.read(transcript.session_id).events) == ["next"]


@pytest.mark.parametrize(
    "damage",
    [
        b"{",
        b"\0\0\0",
        b"\xff\xfe",
        b"[" * 100_000,
        b"[]",
        b'{"event":"delta"}',
        b'{"event":"message","message":3}',
        b'{"n":1' + b"0" * 9000 + b"}",
        b'{"event":"renamed","name":7}',
    ],
)
def test_a_damaged_line_in_the_middle_costs_nothing_else(store, transcript, damage, caplog):
    transcript.append(said("one"), said("two"))
    transcript.close()
    path = path_of(store, transcript.session_id)
    header, one, two = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(header + one + damage + b"\n" + two)
    events = store.read(transcript.session_id).events
    assert texts(events) == ["one", "two"]
    assert {"event": "damaged", "line": 3} in events
    assert "line 3" in caplog.text
    assert error_type(store.open, transcript.session_id) == "not_adopted"  # nobody knows what stood there
    again = store.open(transcript.session_id, to_adopt=True)
    assert [problem.params["line"] for problem in again.problems] == [3]
    again.append({"event": "adopted"})
    again.close()
    again = store.open(transcript.session_id)
    again.append(said("three"))
    again.close()
    assert texts(store.read(transcript.session_id).events) == ["one", "two", "three"]
    assert store.list()[0].message_count == 3


@campaigns(fast=150, whole=20_000)
def test_damage_anywhere_loses_only_the_lines_it_hits(campaign):
    lines = [write_line(said(f"text {number} 设计")) for number in range(8)]
    data = b"".join(lines)
    for rng in campaign.cases():
        start = rng.randrange(len(data))
        length = rng.randrange(1, 60)
        noise = bytes(rng.choice((0, 0xFF, 0x7B, 0x22)) for _ in range(length))
        damaged = data[:start] + noise + data[start + length :]
        hit = [
            number
            for number in range(8)
            if start < len(b"".join(lines[: number + 1])) and start + length > len(b"".join(lines[:number]))
        ]
        found = texts(read_lines(damaged, name="x").events)
        # A newline that was hit costs the line behind it too.
        certain = [n for n in range(8) if n not in hit and n - 1 not in hit]
        for number in certain:
            assert f"text {number} 设计" in found


def test_an_editor_that_writes_crlf_and_a_byte_order_mark_costs_nothing(store, transcript):
    transcript.append(said("one"))
    transcript.close()
    path = path_of(store, transcript.session_id)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n") + b"\n\r\n")
    events = store.read(transcript.session_id).events
    assert events[0]["event"] == "session"
    assert texts(events) == ["one"]


def test_without_its_header_a_conversation_has_defaults(store, transcript):
    transcript.append(said("one"))
    transcript.close()
    path = path_of(store, transcript.session_id)
    path.write_bytes(path.read_bytes().split(b"\n", 1)[1])
    [info] = store.list()
    assert (info.message_count, info.work_mode, info.name[:7]) == (1, "free_work", "Chat 20")
    path.write_bytes(b"")
    assert store.list()[0].message_count == 0
    again = store.open(transcript.session_id)
    again.append(said("two"))
    again.close()
    assert texts(store.read(transcript.session_id).events) == ["two"]


HOSTILE_IDS = ["", "../x", "/etc/passwd", "a/b", "..", ".", "x", "01" * 14, "\0", "0" * 25 + "\n", "设" * 26]


@pytest.mark.parametrize("session_id", HOSTILE_IDS)
def test_an_id_never_becomes_another_path(store, session_id, tmp_path):
    for action in (store.open, store.read, store.delete):
        assert error_type(action, session_id) == "bad_session_id"
    if session_id:
        assert error_type(store.create, work_mode="free_work", session_id=session_id) == "bad_session_id"
    assert list(tmp_path.iterdir()) == []


def test_what_is_not_there_is_said_so(store, transcript):
    for action in (store.open, store.read, store.delete):
        assert error_type(action, new_ulid()) == "no_session"
    transcript.close()
    store.delete(transcript.session_id)
    assert error_type(store.read, transcript.session_id) == "no_session"
    assert store.list() == ()


def test_an_id_is_taken_once(store, transcript):
    transcript.append(said("one"))
    transcript.close()
    kind = error_type(store.create, work_mode="free_work", session_id=transcript.session_id)
    assert kind == "session_exists"
    assert texts(store.read(transcript.session_id).events) == ["one"]
    store.open(transcript.session_id).close()


def test_one_writer_at_a_time_also_within_a_process(store, transcript):
    for action in (store.open, store.delete):
        assert error_type(action, transcript.session_id) == "session_in_use"
    assert len(store.read(transcript.session_id).events) == 1
    assert len(store.list()) == 1
    transcript.close()
    store.open(transcript.session_id).close()
    store.delete(transcript.session_id)


def _link(path, target):
    path.symlink_to(target)


def _fifo(path, _target):
    os.mkfifo(path)


def _folder(path, _target):
    path.mkdir()


@pytest.mark.parametrize("put", [_link, _fifo, _folder])
@pytest.mark.parametrize("suffix", [".jsonl", ".lock"])
def test_what_is_no_plain_file_is_refused_and_never_waited_for(store, transcript, put, suffix, tmp_path):
    transcript.close()
    target = tmp_path / "secret"
    secret = write_line(said("secret"))
    target.write_bytes(secret)
    session_id = transcript.session_id if suffix == ".lock" else new_ulid()
    put(path_of(store, session_id, suffix), target)
    actions = [store.open, store.delete] + ([store.read] if suffix == ".jsonl" else [])
    for action in actions:
        with pytest.raises((UserInputError, EnvironmentProblem)):
            action(session_id)
    assert [info.session_id for info in store.list()] == [transcript.session_id]
    assert target.read_bytes() == secret
    assert os.path.lexists(path_of(store, session_id, suffix))


def test_a_linked_folder_is_refused(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "conversations").symlink_to(tmp_path / "elsewhere")
    store = SessionFiles(tmp_path / "conversations")
    for use in (lambda: store.create(work_mode="free_work"), store.list):
        with pytest.raises(EnvironmentProblem, match="conversations is a link") as caught:
            use()
        assert caught.value.error_type == "bad_path"
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_project_folder_reached_through_a_link_is_fine(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    store = SessionFiles(tmp_path / "link" / ".circuit_ai" / "conversations")
    transcript = store.create(work_mode="free_work")
    transcript.append(said("one"))
    transcript.close()
    assert texts(store.read(transcript.session_id).events) == ["one"]
    assert store.list()[0].message_count == 1


@pytest.mark.parametrize("written", [0, 1, 40])
def test_a_write_that_fails_in_the_middle_is_taken_back(store, transcript, monkeypatch, written):
    transcript.append(said("one"))
    path = path_of(store, transcript.session_id)
    before = path.read_bytes()
    real = os.write

    def full(descriptor, data):
        real(descriptor, bytes(data)[:written])
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(os, "write", full)
    assert error_type(transcript.append, said("two"), kind=EnvironmentProblem) == "disk_full"
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert texts(transcript.events) == ["one"]
    transcript.append(said("three"))
    assert texts(store.read(transcript.session_id).events) == ["one", "three"]


def test_a_piece_that_could_not_be_taken_back_at_once_is_cut_off_by_the_next_append(
    store, transcript, monkeypatch
):
    real = os.write

    def full(descriptor, data):
        real(descriptor, bytes(data)[:20])
        raise OSError(errno.EIO, "broken")

    def no(*_):
        raise OSError(errno.EIO, "broken")

    monkeypatch.setattr(os, "write", full)
    monkeypatch.setattr(os, "ftruncate", no)
    assert error_type(transcript.append, said("two"), kind=EnvironmentProblem) == "cannot_write"
    monkeypatch.undo()
    assert not path_of(store, transcript.session_id).read_bytes().endswith(b"\n")
    transcript.append(said("three"))
    assert texts(store.read(transcript.session_id).events) == ["three"]
    assert b'"two"' not in path_of(store, transcript.session_id).read_bytes()


def test_an_interruption_in_the_middle_leaves_no_half_line(store, transcript, monkeypatch):
    real = os.write

    def interrupted(descriptor, data):
        real(descriptor, bytes(data)[:20])
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "write", interrupted)
    with pytest.raises(KeyboardInterrupt):
        transcript.append(said("two"))
    monkeypatch.undo()
    transcript.append(said("three"))
    assert texts(store.read(transcript.session_id).events) == ["three"]


def test_a_disk_that_writes_a_few_bytes_at_a_time_gets_the_whole_line(store, transcript, monkeypatch):
    real = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: real(descriptor, bytes(data)[:7]))
    transcript.append(said("one"), said("two"))
    monkeypatch.undo()
    assert texts(store.read(transcript.session_id).events) == ["one", "two"]


def test_what_is_returned_from_is_flushed_file_first_then_folder(store, monkeypatch):
    flushed = []
    real = os.fsync

    def fsync(descriptor):
        flushed.append(Path(f"/proc/self/fd/{descriptor}").readlink().name)
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    transcript = store.create(work_mode="free_work")
    name = transcript.session_id + ".jsonl"
    assert [each for each in flushed if each in (name, "conversations")][-2:] == [name, "conversations"]
    transcript.append(said("one"))
    assert flushed[-1] == name
    transcript.close()


@pytest.mark.parametrize("change", ["removed", "exchanged", "grown", "shrunk"])
def test_a_file_somebody_else_changed_gets_no_words_that_would_be_lost(store, transcript, change):
    transcript.append(said("one"))
    path = path_of(store, transcript.session_id)
    data = path.read_bytes()
    match change:
        case "removed":
            path.unlink()
        case "exchanged":
            path.with_suffix(".new").write_bytes(data)
            path.with_suffix(".new").replace(path)
        case "grown":
            path.write_bytes(data + b'{"event":"x"}\n')
        case "shrunk":
            path.write_bytes(data[:-1])
    assert error_type(transcript.append, said("two"), kind=EnvironmentProblem) == "session_lost"
    transcript.close()


def test_a_transcript_too_large_is_neither_written_nor_read_but_listed(store, transcript, monkeypatch):
    transcript.append(said("one"))
    size = path_of(store, transcript.session_id).stat().st_size
    monkeypatch.setattr(sessions_module, "MAX_TRANSCRIPT_BYTES", size)
    assert error_type(transcript.append, said("two")) == "session_too_large"
    transcript.close()
    monkeypatch.setattr(sessions_module, "MAX_TRANSCRIPT_BYTES", size - 1)
    assert error_type(store.read, transcript.session_id) == "session_too_large"
    assert error_type(store.open, transcript.session_id) == "session_too_large"
    assert store.list()[0].message_count == 1


def test_threads_that_append_at_once_mix_no_lines(store, transcript):
    def write(name):
        for number in range(20):
            transcript.append(said(f"{name}{number}"))

    threads = [threading.Thread(target=write, args=(name,)) for name in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = texts(store.read(transcript.session_id).events)
    assert found == texts(transcript.events)
    assert sorted(found) == sorted(f"{name}{number}" for name in "abc" for number in range(20))
    assert [text for text in found if text[0] == "a"] == [f"a{number}" for number in range(20)]


def test_events_in_memory_do_not_change_with_the_callers_objects(transcript):
    event = said("one")
    transcript.append(event)
    event["message"]["content"] = "changed"
    assert texts(transcript.events) == ["one"]


def test_a_header_that_cannot_be_written_leaves_nothing(store, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "full")

    (tmp_path / "conversations").mkdir()
    monkeypatch.setattr(os, "write", full)
    assert error_type(store.create, work_mode="free_work", kind=EnvironmentProblem) == "disk_full"
    assert list((tmp_path / "conversations").iterdir()) == []


def test_the_lines_are_json_for_any_reader(store, transcript):
    transcript.append(said("设计"))
    for line in path_of(store, transcript.session_id).read_text("utf-8").splitlines():
        assert isinstance(json.loads(line), dict)


def edited(transcript, store, change):
    """The lines of a finished transcript of three messages, changed."""
    transcript.append(said("one"), said("two"))
    transcript.append(said("three"))
    transcript.close()
    path = path_of(store, transcript.session_id)
    path.write_bytes(b"".join(change(path.read_bytes().splitlines(keepends=True))))


@pytest.mark.parametrize(
    "change",
    [
        lambda lines: lines[1:],
        lambda lines: [lines[0], *lines[2:]],
        lambda lines: [lines[0], lines[2], lines[1], lines[3]],
        lambda lines: [*lines, lines[-1]],
        lambda lines: [*lines[:-1], lines[-1].replace(b"three", b"threE")],
        lambda lines: [*lines, write_line(said("unsigned"))],
        lambda lines: [*lines, write_line({"event": "adopted"})],
        lambda lines: [*lines, write_line({"event": "adopted", "signature": "A" * 43})],
        lambda lines: [line.replace(b'"signature":"', b'"signature":"A') for line in lines],
    ],
)
def test_a_line_that_was_not_written_here_makes_it_history(store, transcript, change):
    edited(transcript, store, change)
    assert [info.is_ours for info in store.list()] == [False]
    assert [info.is_ours for info in store.list()] == [False], "also out of the index"
    assert not store.read(transcript.session_id).is_ours
    before = path_of(store, transcript.session_id).read_bytes()
    assert error_type(store.open, transcript.session_id) == "not_adopted"
    assert path_of(store, transcript.session_id).read_bytes() == before


@pytest.mark.parametrize("tail", [b"\n", b"\0\0\n", b'{"event": "mess'])
def test_what_a_power_cut_leaves_at_the_end_makes_no_history_of_it(store, transcript, tail):
    edited(transcript, store, lambda lines: [*lines, tail])
    assert [info.is_ours for info in store.list()] == [True]
    assert store.read(transcript.session_id).is_ours
    store.open(transcript.session_id).close()


def test_a_transcript_can_lose_its_end_but_nothing_else(store, transcript):
    """What docs/security.md says: an old copy of one's own is one's own."""
    edited(transcript, store, lambda lines: lines[:-1])
    assert store.read(transcript.session_id).is_ours


def test_a_transcript_under_another_conversations_name_is_history(store, transcript):
    transcript.append(said("one"))
    transcript.close()
    path = path_of(store, transcript.session_id)
    other = path.with_name("01ARZ3NDEKTSV4RRFFQ69G5FAV.jsonl")
    other.write_bytes(path.read_bytes())
    assert {info.session_id: info.is_ours for info in store.list()} == {
        transcript.session_id: True,
        other.stem: False,
    }


def test_adopting_covers_all_that_stood_there_and_nothing_that_comes_before_it_later(store, transcript):
    edited(transcript, store, lambda lines: [*lines[:2], write_line(said("a stranger's")), *lines[2:]])
    again = store.open(transcript.session_id, to_adopt=True)
    again.append({"event": "adopted"})
    assert again.is_ours
    again.append(said("more"))
    again.close()
    assert [info.is_ours for info in store.list()] == [True]
    assert store.read(transcript.session_id).is_ours
    path = path_of(store, transcript.session_id)
    path.write_bytes(path.read_bytes().replace(b"a stranger's", b"A stranger's"))
    assert not store.read(transcript.session_id).is_ours
    assert [info.is_ours for info in store.list()] == [False]


def test_an_index_that_another_installation_wrote_says_nothing(store, transcript):
    transcript.append(said("one"))
    transcript.close()
    store.list()
    index = path_of(store, transcript.session_id).with_name("sessions.json")
    index.write_bytes(index.read_bytes().replace(b'"preview": "one"', b'"preview": "pay me"'))
    assert [info.preview for info in store.list()] == ["one"]


def test_what_is_signed_is_not_in_the_events(store, transcript):
    transcript.append(said("one"))
    assert all("signature" not in event for event in transcript.events)
    assert all("signature" not in event for event in store.read(transcript.session_id).events)
    assert path_of(store, transcript.session_id).read_bytes().count(b'"signature":"') == 2
