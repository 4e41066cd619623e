"""The log of effects: order, durability, several users at once, and files that are not ours."""

import contextlib
import fcntl
import os
import sqlite3
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from application.ports.project import ABSENT, FileChange, OperationRecord
from infrastructure.persistence.authenticity import Authenticity, UserKey
from infrastructure.persistence.operations import SqliteOperationLog
from shared.errors import EnvironmentProblem, Stopped

ROOT = Path(__file__).resolve().parents[3]


def record(op_id, **fields):
    defaults = {"session_id": "s1", "tool": "patch_file", "kind": "file", "state": "intent", "path": "a.cir"}
    return OperationRecord(op_id=op_id, **{**defaults, **fields})


@pytest.fixture
def path(tmp_path):
    return tmp_path / "operations.sqlite"


@pytest.fixture
def log(path):
    log = SqliteOperationLog(path)
    yield log
    log.close()


def test_a_record_comes_back_as_it_was(log):
    full = record(
        "01A",
        before_sha256="ab",
        after_sha256="cd",
        undoes="01",
        created="2026-01-01T00:00:00.000+00:00",
        result={"text": "电阻 \udcff", "list": [1, None, 2.5], "nested": {"ok": True}},
    )
    log.record_intent(full)
    assert log.find("01A") == full
    assert log.find("01B") is None
    log.set_state("01A", "done")
    assert log.find("01A") == replace(full, state="done")
    log.set_state("01A", "undone", result={"n": 1})
    assert log.find("01A") == replace(full, state="undone", result={"n": 1})


def test_what_is_recorded_is_in_the_file(log, path):
    log.record_intent(record("01A"))
    other = SqliteOperationLog(path)
    assert other.find("01A") == record("01A")
    other.close()
    assert other.find("01A") == record("01A")  # opened anew
    other.close()


def test_the_list_is_in_the_order_of_recording(log):
    for op_id, session in (("3", "s1"), ("1", "s2"), ("2", "s1")):
        log.record_intent(record(op_id, session_id=session))
    assert [item.op_id for item in log.list()] == ["3", "1", "2"]
    assert [item.op_id for item in log.list(session_id="s1")] == ["3", "2"]
    assert log.list(session_id="s3") == ()


def test_an_id_is_taken_once_unless_it_was_abandoned(log):
    log.record_intent(record("1"))
    with pytest.raises(ValueError, match="already"):
        log.record_intent(record("1", path="b.cir"))
    log.set_state("1", "abandoned")
    log.record_intent(record("2"))
    log.record_intent(record("1", path="b.cir"))
    assert [(item.op_id, item.path) for item in log.list()] == [("2", "a.cir"), ("1", "b.cir")]
    with pytest.raises(ValueError, match="no operation"):
        log.set_state("9", "done")


def test_a_file_name_that_is_no_text(log):
    name = os.fsdecode(b"\xff\xfe.cir")
    log.record_intent(record("1", path=name))
    assert log.find("1").path == name


def test_reading_makes_no_file(log, path):
    assert log.list() == ()
    assert log.find("1") is None
    assert log.interrupted() == ()
    assert not path.exists()


def test_a_simulation_is_interrupted_only_when_its_process_is_gone(log, path):
    log.record_intent(record("mine", kind="simulation", path=""))
    program = (
        "import sys; from pathlib import Path; from application.ports.project import OperationRecord;"
        "from infrastructure.persistence.operations import SqliteOperationLog;"
        "SqliteOperationLog(Path(sys.argv[1])).record_intent(OperationRecord("
        "op_id='theirs', session_id='s', tool='run_simulation', kind='simulation', state='intent'))"
    )
    subprocess.run([sys.executable, "-c", program, path], cwd=ROOT, check=True)
    log.record_intent(record("file"))
    assert [item.op_id for item in log.interrupted()] == ["theirs", "file"]


def test_threads_of_one_process_share_it(log):
    def work(name):
        for number in range(20):
            log.record_intent(record(f"{name}{number}"))
            log.set_state(f"{name}{number}", "done")

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(log.list()) == 80
    assert {item.state for item in log.list()} == {"done"}


def test_processes_that_make_it_at_the_same_time(path):
    program = (
        "import sys; from pathlib import Path; from application.ports.project import OperationRecord;"
        "from infrastructure.persistence.operations import SqliteOperationLog;"
        "sys.stdin.read();"
        "log = SqliteOperationLog(Path(sys.argv[1]));"
        "[log.record_intent(OperationRecord(op_id=sys.argv[2] + str(k), session_id='s', tool='t',"
        " kind='file', state='intent')) for k in range(10)]"
    )
    children = [
        subprocess.Popen([sys.executable, "-c", program, path, name], cwd=ROOT, stdin=subprocess.PIPE)
        for name in "abc"
    ]
    for child in children:
        child.stdin.close()
    assert [child.wait() for child in children] == [0, 0, 0]
    log = SqliteOperationLog(path)
    assert len(log.list()) == 30
    log.close()


def test_the_write_lock_excludes_threads_and_is_given_back(log):
    inside = 0
    most = 0

    def work():
        nonlocal inside, most
        for _ in range(10):
            with log.write_lock():
                inside += 1
                most = max(most, inside)
                inside -= 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1
    with pytest.raises(RuntimeError), log.write_lock():
        raise RuntimeError
    with log.write_lock():
        pass


def test_waiting_for_the_write_lock_can_be_given_up(log, path):
    asked = []

    def give_up():
        asked.append(1)
        return len(asked) > 2

    with log.write_lock(), pytest.raises(Stopped), log.write_lock(give_up=give_up):
        pytest.fail("two hold the lock")
    assert len(asked) == 3


def test_a_lock_that_is_held_for_ever_is_told(log, path, monkeypatch):
    monkeypatch.setattr("infrastructure.persistence.operations._LOCK_S", 0.0)
    with path.with_suffix(".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(EnvironmentProblem, match=r"operations\.lock") as caught, log.write_lock():
            pytest.fail("two hold the lock")
    assert (caught.value.error_type, caught.value.advice is not None) == ("busy", True)


@pytest.mark.parametrize(
    "content", [b"no database at all, but long enough to be one" * 50, b"SQLite format 3\0" + b"x" * 8000]
)
def test_a_damaged_file_is_told_and_left(log, path, content):
    path.write_bytes(content)
    for use in (log.list, lambda: log.record_intent(record("1"))):
        with pytest.raises(EnvironmentProblem) as caught:
            use()
        assert caught.value.error_type == "damaged"
        assert caught.value.advice is not None
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    "change",
    [
        "state = 'done'",
        "path = '.git/hooks/post-checkout'",
        "mode = 493",
        "op_id = '2'",
        'further = \'[["x.cir", "absent", "y", null]]\'',
        "result = '{}'",
        "owner = ''",
        "signature = ''",
        "signature = NULL, created = 7",
    ],
)
def test_a_row_that_was_changed_is_told_as_another_installations(log, path, change):
    log.record_intent(record("1", session_id="s"))
    assert [item.is_ours for item in log.interrupted()] == [True]
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_master SET sql = replace(sql, 'NOT NULL', '') WHERE type = 'table'")
    log.close()
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"UPDATE operations SET {change}")
    assert [item.is_ours for item in log.list()] in ([False], [])
    assert log.interrupted() == ()
    with pytest.raises(ValueError, match="this installation"):
        log.set_state("1", "abandoned")


def test_a_row_of_another_installation_that_makes_no_sense_is_left_out(log, path):
    log.record_intent(record("1"))
    log.record_intent(record("2"))
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE operations SET state = 'maybe' WHERE op_id = '1'")
    assert [item.op_id for item in log.list()] == ["2"]
    assert log.adopt() == 0


def test_a_row_is_signed_with_every_change_of_its_state(log):
    log.record_intent(record("1"))
    for state in ("done", "undone", "done"):
        log.set_state("1", state, result={"state": state})
        assert log.find("1") == record("1", state=state, result={"state": state})


def test_adopting_takes_the_powers_from_records(log, path, tmp_path):
    further = (FileChange(path="b.sh", before=ABSENT, after="z", mode=0o755),)
    log.record_intent(record("1", mode=0o4755, further=further))
    log.record_intent(record("2", before_sha256="x", after_sha256="y"))
    log.set_state("2", "done")
    log.close()
    other = Authenticity(UserKey(tmp_path / "another"), tmp_path)
    theirs = SqliteOperationLog(path, other)
    assert [item.is_ours for item in theirs.list()] == [False, False]
    assert theirs.adopt() == 2
    assert theirs.adopt() == 0
    first, second = theirs.list()
    assert (first.is_ours, first.state) == (True, "abandoned")
    assert (first.mode, first.further[0].mode) == (0o644, 0o644)
    assert (second.is_ours, second.state) == (True, "done")
    theirs.close()


def test_reading_brings_no_log_up_to_date(path):
    make_first_version(path)
    before = path.read_bytes()
    log = SqliteOperationLog(path)
    assert [(item.op_id, item.is_ours) for item in log.list()] == [("01", False)]
    assert log.interrupted() == ()
    assert path.read_bytes() == before
    assert sorted(item.name for item in path.parent.iterdir()) == [path.name]


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE other (x)",
        "CREATE VIEW operations AS SELECT 1",
        "CREATE TRIGGER t AFTER INSERT ON operations BEGIN DELETE FROM operations; END",
    ],
)
@pytest.mark.parametrize("writes", [False, True])
def test_a_database_with_other_things_gets_nothing_of_ours(log, path, statement, writes):
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        if "TRIGGER" in statement:
            log.record_intent(record("1"))
            log.close()
        connection.execute(statement)
    before = path.read_bytes()
    with pytest.raises(EnvironmentProblem) as caught:
        log.record_intent(record("2")) if writes else log.list()
    assert caught.value.error_type == "foreign_database"
    assert path.read_bytes() == before


def test_a_foreign_database_is_damage(log, path):
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE operations (x)")
    connection.close()
    with pytest.raises(EnvironmentProblem) as caught:
        log.record_intent(record("1"))
    assert caught.value.error_type == "damaged"


def test_a_newer_version_is_refused(log, path):
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(EnvironmentProblem, match="newer") as caught:
        log.list()
    assert caught.value.error_type == "newer_version"


@pytest.mark.parametrize("name", ["operations.sqlite", "operations.sqlite-wal", "operations.sqlite-shm"])
@pytest.mark.parametrize("kind", ["link", "dangling", "fifo", "folder"])
def test_what_is_no_regular_file_is_refused(log, tmp_path, name, kind):
    _put(tmp_path / name, kind, tmp_path / "elsewhere")
    with pytest.raises(EnvironmentProblem, match=r"regular|is a link|a file where"):
        log.record_intent(record("1"))
    assert not (tmp_path / "elsewhere").exists() or (tmp_path / "elsewhere").read_bytes() == b""


@pytest.mark.parametrize("kind", ["link", "dangling", "fifo", "folder"])
def test_a_lock_that_is_no_regular_file_is_refused(log, tmp_path, kind):
    _put(tmp_path / "operations.lock", kind, tmp_path / "elsewhere")
    with pytest.raises(EnvironmentProblem, match=r"regular|is a link"), log.write_lock():
        pytest.fail("locked")


def _put(place, kind, target):
    if kind == "link":
        target.write_bytes(b"")
    if kind in ("link", "dangling"):
        place.symlink_to(target)
    elif kind == "fifo":
        os.mkfifo(place)
    else:
        place.mkdir()


def test_a_folder_that_is_gone_is_told(tmp_path):
    log = SqliteOperationLog(tmp_path / "gone" / "operations.sqlite")
    with pytest.raises(EnvironmentProblem) as caught:
        log.record_intent(record("1", before_sha256=ABSENT))
    assert caught.value.advice is not None
    with pytest.raises(EnvironmentProblem), log.write_lock():
        pytest.fail("locked")


def make_first_version(path):
    """Of one path a record, without modes and signatures."""
    with contextlib.closing(sqlite3.connect(path)) as old:
        old.executescript("""
            CREATE TABLE operations (number INTEGER PRIMARY KEY AUTOINCREMENT, op_id TEXT NOT NULL UNIQUE,
                session_id TEXT NOT NULL, tool TEXT NOT NULL, kind TEXT NOT NULL, state TEXT NOT NULL,
                path TEXT NOT NULL, before_sha256 TEXT NOT NULL, after_sha256 TEXT NOT NULL,
                undoes TEXT NOT NULL, created TEXT NOT NULL, result TEXT, owner TEXT NOT NULL);
            INSERT INTO operations VALUES (1, '01', 's', 'patch_file', 'file', 'done', 'a.cir', 'x', 'y', '',
                '2026-01-01', NULL, '');
            PRAGMA user_version = 1;
        """)


def test_a_log_of_the_first_version_is_added_to(path):
    """What it has stays and can be read."""
    make_first_version(path)
    log = SqliteOperationLog(path)
    log.record_intent(record("02", further=(FileChange(path="b", before=ABSENT, after="z", mode=0o600),)))
    log.forget(["02"])  # under way: it stays
    first, second = log.list()
    assert (first.op_id, first.changes) == ("01", (FileChange(path="a.cir", before="x", after="y"),))
    assert second.further[0].mode == 0o600
    log.forget(["01"])
    assert [item.op_id for item in log.list()] == ["02"]
    log.close()
