"""Transcripts under kill -9, full and read-only disks, and several processes."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from infrastructure.persistence.sessions import SessionFiles
from shared.errors import UserInputError
from tests.ground.campaign import campaigns

ROOT = Path(__file__).resolve().parents[3]

WRITER = """
import sys
from pathlib import Path
from infrastructure.persistence.sessions import SessionFiles
from shared.ulid import new_ulid

store = SessionFiles(Path(sys.argv[1]))
ids = [info.session_id for info in store.list()]
transcript = store.open(ids[0]) if ids else store.create(work_mode="free_work")
done = sum(event["event"] == "message" for event in transcript.events)
for number in range(done, 1_000_000):
    extra = {"text": "x" * (number * 7919 % 9000)}
    message = {"id": new_ulid(), "type": "user", "content": str(number), "additional_kwargs": extra}
    transcript.append({"event": "message", "message": message})
    print(number, flush=True)
"""


def start(program, folder):
    return subprocess.Popen(
        [sys.executable, "-c", program, str(folder)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )


def numbers(events):
    return [int(event["message"]["content"]) for event in events if event["event"] == "message"]


@campaigns(fast=3, whole=100)
@pytest.mark.timeout(600)
def test_a_killed_writer_loses_nothing_it_had_finished(campaign, tmp_path):
    store = SessionFiles(tmp_path / "conversations")
    for rng in campaign.cases():
        writer = start(WRITER, tmp_path / "conversations")
        assert writer.stdout is not None
        finished = [int(writer.stdout.readline()) for _ in range(rng.randrange(1, 60))]
        writer.kill()
        finished += [int(line) for line in writer.stdout.read().split("\n")[:-1]]
        assert writer.wait() == -signal.SIGKILL
        writer.stdout.close()
        [info] = store.list()
        events = store.read(info.session_id).events
        found = numbers(events)
        assert found == list(range(len(found)))  # none lost, none twice, in order
        assert finished[-1] in (len(found) - 1, len(found) - 2)  # the line under way may be there or not
        assert not any(event["event"] == "damaged" for event in events)
        assert info.message_count == len(found)


HOLDER = """
import sys
from pathlib import Path
from infrastructure.persistence.sessions import SessionFiles

transcript = SessionFiles(Path(sys.argv[1])).create(work_mode="free_work")
print(transcript.session_id, flush=True)
sys.stdin.read()
"""


def test_another_process_finds_a_conversation_in_use_until_its_writer_is_gone(tmp_path):
    store = SessionFiles(tmp_path / "conversations")
    writer = start(HOLDER, tmp_path / "conversations")
    assert writer.stdout is not None
    session_id = writer.stdout.readline().strip()
    for action in (store.open, store.delete):
        with pytest.raises(UserInputError) as raised:
            action(session_id)
        assert raised.value.error_type == "session_in_use"
        assert raised.value.message.params["pid"] == writer.pid
    assert [event["event"] for event in store.read(session_id).events] == ["session"]
    writer.kill()
    writer.wait()
    writer.stdout.close()
    store.open(session_id).close()
    store.delete(session_id)
    assert list((tmp_path / "conversations").glob("0*")) == []


ON_DISK = """
import os, pathlib, subprocess, sys
from infrastructure.persistence.sessions import SessionFiles
from shared.errors import CircuitAIError

disk = pathlib.Path(sys.argv[1])
store = SessionFiles(disk / ".circuit_ai" / "conversations")
(disk / ".circuit_ai").mkdir()

def error_type(action, *args, **kwargs):
    try:
        action(*args, **kwargs)
    except CircuitAIError as error:
        return error.error_type
    return "done"

def said(text):
    from shared.ulid import new_ulid
    message = {"id": new_ulid(), "type": "user", "content": text, "additional_kwargs": {}}
    return {"event": "message", "message": message}

def lengths(session_id):
    return [len(e["message"]["content"]) for e in store.read(session_id).events if e["event"] == "message"]

def fill():
    with open(disk / "filler", "wb", buffering=0) as file:
        try:
            while file.write(b"x" * 1000): pass
        except OSError: pass
"""


def on_a_small_disk(folder, program):
    """Run `program` in a mount namespace where `folder` is a file system of 256 KiB."""
    script = 'mount -t tmpfs -o size=256k tmpfs "$1" && exec "$2" -c "$3" "$1"'
    inside = ["sh", "-c", script, "sh", str(folder), sys.executable, ON_DISK + program]
    own = ["unshare", "--user", "--map-root-user", "--mount"]
    if subprocess.run([*own, "true"], check=False, capture_output=True).returncode != 0:
        pytest.skip("this system forbids user namespaces")
    done = subprocess.run([*own, *inside], cwd=ROOT, check=False, capture_output=True, text=True, timeout=50)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_a_full_disk_costs_only_the_line_that_did_not_fit(tmp_path):
    program = """
transcript = store.create(work_mode="free_work")
session_id = transcript.session_id
transcript.append(said("a" * 1000))
print(error_type(transcript.append, said("b" * 400_000)))
transcript.append(said("c" * 2000))
print(*lengths(session_id))
fill()
print(error_type(transcript.append, said("d" * 8000)))
print(*lengths(session_id))
print(error_type(store.create, work_mode="free_work"), len(store.list()))
transcript.close()
print(error_type(store.open(session_id).close))
(disk / "filler").unlink()
transcript = store.open(session_id)
transcript.append(said("e" * 8000))
transcript.close()
print(*lengths(session_id), store.list()[0].message_count)
fill()
print(error_type(store.delete, session_id), len(store.list()), len(os.listdir(store._given_folder)))
"""
    assert on_a_small_disk(tmp_path, program) == [
        "disk_full",
        *("1000", "2000"),
        "disk_full",
        *("1000", "2000"),
        *("disk_full", "1"),
        "done",
        *("1000", "2000", "8000", "3"),
        *("done", "0", "1"),
    ]


def test_a_read_only_project_can_be_listed_and_read(tmp_path):
    program = """
transcript = store.create(work_mode="free_work")
session_id = transcript.session_id
transcript.append(said("one"))
transcript.close()
subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
print(store.list()[0].message_count, *lengths(session_id))
print(error_type(store.open, session_id), error_type(store.create, work_mode="free_work"))
print(error_type(store.delete, session_id), len(store.list()))
"""
    assert on_a_small_disk(tmp_path, program) == ["1", "3", "read_only", "read_only", "read_only", "1"]


def test_a_transcript_of_ten_megabytes(tmp_path):
    store = SessionFiles(tmp_path / "conversations")
    transcript = store.create(work_mode="free_work")

    def message(number):
        said = {"id": f"{number:026}", "type": "user", "content": f"{number}" + "x" * 5000}
        return {"event": "message", "message": {**said, "additional_kwargs": {}}}

    for batch in range(20):
        transcript.append(*(message(number) for number in range(batch * 100, batch * 100 + 100)))
    transcript.close()
    assert (tmp_path / "conversations" / f"{transcript.session_id}.jsonl").stat().st_size > 10_000_000
    assert store.list()[0].message_count == 2000
    assert len(store.read(transcript.session_id).events) == 2001
    again = store.open(transcript.session_id)
    again.append(message(2000))
    again.close()
    assert store.list()[0].message_count == 2001


def test_the_list_of_a_thousand_is_the_same_from_the_index_and_from_the_files(tmp_path):
    folder = tmp_path / "conversations"
    store = SessionFiles(folder)
    store.create(work_mode="free_work").close()
    line = {"id": "0" * 26, "type": "user", "content": "hello", "additional_kwargs": {}}
    for number in range(999):
        events = ({"event": "session", "name": f"S{number}"}, {"event": "message", "message": line})
        path = folder / f"01JEXAMP1E{number:016}.jsonl"
        path.write_text("".join(json.dumps(event) + "\n" for event in events))
    anew = store.list()
    assert len(anew) == 1000
    index = (folder / "sessions.json").stat()
    assert store.list() == anew
    now = (folder / "sessions.json").stat()
    assert (now.st_ino, now.st_mtime_ns) == (index.st_ino, index.st_mtime_ns)
