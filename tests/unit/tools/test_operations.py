"""Effects on files: once, whole or none, told from the log and the file alone, undone byte for byte."""

import asyncio
import hashlib
import threading
from pathlib import Path

import pytest

from application.ports.project import ABSENT, FOLDER, FileChange, OperationRecord
from application.tool_execution.effects import Effects
from application.tool_execution.operations import Operations
from infrastructure.persistence.project import ProjectFolders
from shared.errors import CircuitError, EnvironmentProblem, UserInputError
from shared.ulid import new_ulid

CONTENTS = {
    "lf": b"* t\nR1 a b 1k\n",
    "crlf": b"* t\r\nR1 a b 1k\r\n",
    "bom": b"\xef\xbb\xbf* t\nR1 a b 1k",
    "gbk": "* 放大器\r\nR1 a b 1k\r\n".encode("gbk"),
    "latin-1": "* 10µF\n".encode("latin-1"),
    "binary": bytes(range(256)),
    "empty": b"",
}


@pytest.fixture
def project(tmp_path):
    project = ProjectFolders().open(tmp_path / "amp", create=True)
    yield project
    project.close()


@pytest.fixture
def operations(project):
    return Operations(log=project.operations, project=project)


def sha(content):
    return hashlib.sha256(content).hexdigest()


async def change(operations, content, *, op_id=None, path="a.cir", **options):
    return await operations.change_file(
        op_id=op_id or new_ulid(),
        session_id="s",
        tool="rewrite_file",
        path=Path(path),
        content=content,
        **options,
    )


async def test_a_change_is_logged_and_done(operations, project):
    (project.root / "a.cir").write_bytes(b"old")
    record = await change(operations, b"new", op_id="01", result={"ok": True})
    assert (project.root / "a.cir").read_bytes() == b"new"
    assert (record.state, record.path, record.before_sha256, record.after_sha256) == (
        "done",
        "a.cir",
        sha(b"old"),
        sha(b"new"),
    )
    assert record.result == {"ok": True}
    assert record.created.endswith("+00:00")
    assert await operations.find("01") == record
    assert await operations.list(session_id="s") == (record,)
    assert await operations.list(session_id="other") == ()
    assert await asyncio.to_thread(project.read_object, sha(b"old")) == b"old"
    assert await asyncio.to_thread(project.read_object, sha(b"new")) == b"new"


async def test_a_new_file_has_no_before(operations, project):
    record = await change(operations, b"", path="models/new.lib", expected_sha256=ABSENT)
    assert (record.before_sha256, record.after_sha256) == (ABSENT, sha(b""))
    assert (project.root / "models/new.lib").read_bytes() == b""


async def test_folders_made_for_a_new_file_go_with_its_undo_and_come_with_the_redo(operations, project):
    made = await change(operations, b"x", path="models/deep/new.lib")
    undo = await operations.undo(made.op_id)
    assert not (project.root / "models").exists()
    redo = await operations.undo(undo.op_id)
    assert (project.root / "models/deep/new.lib").read_bytes() == b"x"
    (project.root / "models/mine.txt").write_bytes(b"put there by somebody")
    await operations.undo(redo.op_id)
    assert [path.name for path in (project.root / "models").iterdir()] == ["mine.txt"]


async def test_paths_are_kept_relative_to_the_project_with_links_resolved(operations, project):
    (project.root / "sub").mkdir()
    (project.root / "link").symlink_to("sub")
    for path in ("sub/a.cir", str(project.root / "sub/a.cir"), "sub/../sub/a.cir", "link/a.cir"):
        assert (await change(operations, path.encode(), path=path)).path == "sub/a.cir"


async def test_the_same_id_happens_once_and_two_ids_happen_twice(operations, project):
    first = await change(operations, b"1", op_id="01", result={"n": 1})
    (project.root / "a.cir").write_bytes(b"edited by hand")
    assert await change(operations, b"2", op_id="01", result={"n": 2}) == first
    assert (project.root / "a.cir").read_bytes() == b"edited by hand"
    await change(operations, b"2", op_id="02")
    await change(operations, b"3", op_id="03")
    assert (project.root / "a.cir").read_bytes() == b"3"
    assert [record.op_id for record in await operations.list()] == ["01", "02", "03"]


async def test_an_undone_change_is_not_made_again(operations, project):
    await change(operations, b"1", op_id="01")
    await operations.undo("01", session_id="s")
    assert (await change(operations, b"1", op_id="01")).state == "undone"
    assert not (project.root / "a.cir").exists()


async def test_the_same_content_writes_nothing(operations, project):
    path = project.root / "a.cir"
    path.write_bytes(b"same")
    before = path.stat().st_ino
    record = await change(operations, b"same")
    assert (record.state, record.before_sha256) == ("done", record.after_sha256)
    assert path.stat().st_ino == before


@pytest.mark.parametrize("expected", [ABSENT, sha(b"what the tool read")])
async def test_a_file_changed_meanwhile_is_not_written(operations, project, expected):
    (project.root / "a.cir").write_bytes(b"the user's own")
    with pytest.raises(CircuitError) as caught:
        await change(operations, b"new", expected_sha256=expected)
    assert caught.value.error_type == "file_modified_externally"
    assert caught.value.advice is not None
    assert (project.root / "a.cir").read_bytes() == b"the user's own"
    assert await operations.list() == ()


async def test_a_file_deleted_meanwhile_is_not_written(operations, project):
    with pytest.raises(CircuitError):
        await change(operations, b"new", expected_sha256=sha(b"old"))
    assert not (project.root / "a.cir").exists()


@pytest.mark.parametrize(
    "path", ["../x.cir", "/etc/x.cir", ".circuit_ai/operations.sqlite", "folder", "nul\0"]
)
async def test_places_that_are_not_the_projects(operations, project, path):
    (project.root / "folder").mkdir()
    with pytest.raises(UserInputError):
        await change(operations, b"x", path=path)
    assert await operations.list() == ()


async def test_a_write_that_fails_leaves_an_abandoned_record(operations, project, monkeypatch):
    (project.root / "a.cir").write_bytes(b"old")

    def full(*_args, **_options):
        from shared.message import msg

        raise EnvironmentProblem(msg("full"), error_type="disk_full")

    with monkeypatch.context() as patch:
        patch.setattr(type(project), "write", full)
        with pytest.raises(EnvironmentProblem):
            await change(operations, b"new", op_id="01")
    assert (await operations.find("01")).state == "abandoned"
    assert (project.root / "a.cir").read_bytes() == b"old"
    assert (await change(operations, b"new", op_id="01")).state == "done"
    assert (project.root / "a.cir").read_bytes() == b"new"


# What an interruption leaves


async def left_by_a_kill(project, **what):
    """The log and the file as a killed program leaves them between intent and done."""
    await asyncio.to_thread(_leave, project, **what)


def _leave(project, *, before, after, now, kind="file", undoes="", op_id="01"):
    for content in (before, after):
        if content is not None:
            project.keep_object(content)
    project.operations.record_intent(
        OperationRecord(
            op_id=op_id,
            session_id="s",
            tool="rewrite_file",
            kind=kind,
            state="intent",
            path="a.cir",
            before_sha256=ABSENT if before is None else sha(before),
            after_sha256=ABSENT if after is None else sha(after),
            undoes=undoes,
            result={"ok": True},
        )
    )
    if now is None:
        (project.root / "a.cir").unlink(missing_ok=True)
    else:
        (project.root / "a.cir").write_bytes(now)


@pytest.mark.parametrize(
    ("before", "now", "state"),
    [
        (b"old", b"new", "done"),
        (b"old", b"old", "abandoned"),
        (b"old", b"edited", "abandoned"),
        (b"old", None, "abandoned"),
        (None, None, "abandoned"),
        (None, b"new", "done"),
        (b"new", b"new", "done"),
    ],
)
@pytest.mark.parametrize("way", ["settle", "repair", "other change"])
async def test_an_interrupted_change_is_told_from_the_file(operations, project, before, now, state, way):
    await left_by_a_kill(project, before=before, after=b"new", now=now)
    if way == "settle":
        assert (await operations.settle("01")).state == state
    elif way == "repair":
        assert [record.state for record in await operations.repair()] == [state]
        assert await operations.repair() == ()
    else:  # the next effect on the same file must not hide what happened
        await change(operations, b"later", op_id="02")
        if now is None:
            now = b"later"
    assert (await operations.find("01")).state == state
    content = (project.root / "a.cir").read_bytes() if (project.root / "a.cir").exists() else None
    assert content == (b"later" if way == "other change" else now)


def test_a_folder_alone_does_not_bring_back_a_file_that_was_deleted_after_the_kill(project):
    content = b"new"
    project.keep_object(content)
    effects = Effects(project)
    changes = (
        FileChange(path="m", before=ABSENT, after=FOLDER),
        FileChange(path="m/y.lib", before=ABSENT, after=sha(content)),
    )
    (project.root / "m").mkdir()  # ours; the file came, and somebody deleted it
    assert effects.settle(changes) == "undone"
    assert sorted(path.name for path in project.root.iterdir()) == [".circuit_ai"]


async def test_a_file_whose_place_was_taken_counts_as_changed(operations, project):
    await left_by_a_kill(project, before=b"old", after=b"new", now=None)
    (project.root / "a.cir").mkdir()
    assert (await operations.settle("01")).state == "abandoned"


async def test_an_interrupted_call_goes_on(operations, project):
    await left_by_a_kill(project, before=b"old", after=b"new", now=b"old")
    assert (await change(operations, b"new", op_id="01", expected_sha256=sha(b"old"))).state == "done"
    assert (project.root / "a.cir").read_bytes() == b"new"


async def test_an_interrupted_call_that_had_its_effect_does_not_repeat_it(operations, project):
    await left_by_a_kill(project, before=b"old", after=b"new", now=b"new")
    record = await change(operations, b"newer, computed from new", op_id="01", expected_sha256=sha(b"new"))
    assert (record.state, record.after_sha256, record.result) == ("done", sha(b"new"), {"ok": True})
    assert (project.root / "a.cir").read_bytes() == b"new"


@pytest.mark.parametrize("settled_before", [True, False])
async def test_an_interrupted_call_never_runs_over_an_edit(operations, project, settled_before):
    await left_by_a_kill(project, before=b"old", after=b"new", now=b"new and edited")
    if settled_before:
        await operations.repair()
    for _ in range(2):
        with pytest.raises(CircuitError) as caught:
            await change(operations, b"again", op_id="01", expected_sha256=sha(b"new and edited"))
        assert caught.value.error_type == "file_modified_externally"
    assert (project.root / "a.cir").read_bytes() == b"new and edited"


async def test_repair_of_one_session_leaves_the_others(operations, project):
    await left_by_a_kill(project, before=b"old", after=b"new", now=b"new")
    assert await operations.repair(session_id="t") == ()
    assert (await operations.find("01")).state == "intent"
    assert len(await operations.repair(session_id="s")) == 1


async def test_settling_what_is_unknown_or_done_changes_nothing(operations):
    assert await operations.settle("01") is None
    record = await change(operations, b"x", op_id="01")
    assert await operations.settle("01") == record


# Simulations


async def test_a_simulation_begins_and_ends(operations):
    begun = await operations.begin_simulation(op_id="01", session_id="s", tool="run_simulation")
    assert (begun.state, begun.kind, begun.path) == ("intent", "simulation", "")
    assert (
        await operations.begin_simulation(op_id="01", session_id="s", tool="run_simulation")
    ).state == "intent"
    done = await operations.finish("01", {"ok": True})
    assert (done.state, done.result) == ("done", {"ok": True})
    assert await operations.finish("01", {"ok": False}) == done
    assert await operations.begin_simulation(op_id="01", session_id="s", tool="run_simulation") == done
    assert await operations.settle("01") == done


async def test_an_interrupted_simulation_is_abandoned_and_may_run_again(operations):
    await operations.begin_simulation(op_id="01", session_id="s", tool="run_simulation")
    assert await operations.repair() == ()  # its process, this one, lives
    assert (await operations.settle("01")).state == "abandoned"
    assert (
        await operations.begin_simulation(op_id="01", session_id="s", tool="run_simulation")
    ).state == "intent"
    assert (await operations.finish("01", {"n": 1})).state == "done"
    with pytest.raises(ValueError, match="no operation"):
        await operations.finish("02", {})
    await change(operations, b"x", op_id="03")
    with pytest.raises(ValueError, match="no simulation"):
        await operations.begin_simulation(op_id="03", session_id="s", tool="run_simulation")
    with pytest.raises(ValueError, match="no change of a file"):
        await change(operations, b"x", op_id="01")


# Undo


@pytest.mark.parametrize("name", CONTENTS)
async def test_undo_and_redo_restore_every_byte(operations, project, name):
    path = project.root / "a.cir"
    path.write_bytes(CONTENTS[name])
    path.chmod(0o640)
    done = await change(operations, b"something else")
    undone = await operations.undo(done.op_id, session_id="s2")
    assert path.read_bytes() == CONTENTS[name]
    assert path.stat().st_mode & 0o777 == 0o640
    assert (undone.kind, undone.state, undone.undoes, undone.session_id) == ("undo", "done", done.op_id, "s2")
    assert (await operations.find(done.op_id)).state == "undone"
    redone = await operations.undo(undone.op_id)
    assert path.read_bytes() == b"something else"
    assert path.stat().st_mode & 0o777 == 0o640
    assert redone.session_id == "s2"
    assert [record.state for record in await operations.list()] == ["done", "undone", "done"]
    await operations.undo(done.op_id)
    assert path.read_bytes() == CONTENTS[name]


async def test_undoing_a_new_file_deletes_it_and_redo_brings_it_back(operations, project):
    done = await change(operations, b"new", path="sub/a.cir")
    undone = await operations.undo(done.op_id)
    assert not (project.root / "sub/a.cir").exists()
    assert undone.after_sha256 == ABSENT
    await operations.undo(undone.op_id)
    assert (project.root / "sub/a.cir").read_bytes() == b"new"


async def test_undo_of_an_undone_redo_and_so_on(operations, project):
    path = project.root / "a.cir"
    path.write_bytes(b"0")
    first = await change(operations, b"1")
    last = first
    for expected in (b"0", b"1", b"0", b"1"):
        last = await operations.undo(last.op_id)
        assert path.read_bytes() == expected
        assert (await operations.find(first.op_id)).state == ("done" if expected == b"1" else "undone")


async def test_undo_in_sequence_and_out_of_it(operations, project):
    (project.root / "a.cir").write_bytes(b"0")
    first, second = await change(operations, b"1"), await change(operations, b"2")
    with pytest.raises(CircuitError) as caught:
        await operations.undo(first.op_id)
    assert caught.value.error_type == "file_modified_externally"
    assert second.op_id in str(caught.value.advice)
    await operations.undo(second.op_id)
    await operations.undo(first.op_id)
    assert (project.root / "a.cir").read_bytes() == b"0"


@pytest.mark.parametrize("edit", [b"edited", None])
async def test_undo_never_runs_over_an_edit(operations, project, edit):
    path = project.root / "a.cir"
    path.write_bytes(b"0")
    done = await change(operations, b"1")
    path.unlink() if edit is None else path.write_bytes(edit)
    with pytest.raises(CircuitError) as caught:
        await operations.undo(done.op_id)
    assert caught.value.error_type == "file_modified_externally"
    assert (path.read_bytes() if path.exists() else None) == edit
    assert (await operations.find(done.op_id)).state == "done"
    assert len(await operations.list()) == 1


async def test_what_cannot_be_undone(operations, project):
    await operations.begin_simulation(op_id="sim", session_id="s", tool="run_simulation")
    await left_by_a_kill(project, before=b"old", after=b"new", now=b"old", op_id="cut")
    done = await change(operations, b"x", path="b.cir")
    await operations.undo(done.op_id)
    for op_id, error_type in (
        ("sim", "not_undoable"),
        ("cut", "not_undoable"),
        (done.op_id, "already_undone"),
    ):
        with pytest.raises(CircuitError) as caught:
            await operations.undo(op_id)
        assert (caught.value.error_type, caught.value.advice is not None) == (error_type, True)
    with pytest.raises(UserInputError) as unknown:
        await operations.undo("none")
    assert unknown.value.error_type == "no_operation"


async def test_without_its_backup_nothing_is_undone(operations, project):
    (project.root / "a.cir").write_bytes(b"old")
    done = await change(operations, b"new")
    digest = done.before_sha256
    (project.root / ".circuit_ai/objects" / digest[:2] / digest[2:]).unlink()
    with pytest.raises(EnvironmentProblem) as caught:
        await operations.undo(done.op_id)
    assert caught.value.error_type == "object_missing"
    assert (project.root / "a.cir").read_bytes() == b"new"


@pytest.mark.parametrize("now", ["before", "after"])
async def test_an_interrupted_undo_is_settled_too(operations, project, now):
    path = project.root / "a.cir"
    path.write_bytes(b"old")
    done = await change(operations, b"new", op_id="00")
    await left_by_a_kill(
        project,
        before=b"new",
        after=b"old",
        now=b"new" if now == "before" else b"old",
        kind="undo",
        undoes="00",
    )
    await operations.repair()
    states = [(await operations.find(op_id)).state for op_id in (done.op_id, "01")]
    assert states == (["done", "abandoned"] if now == "before" else ["undone", "done"])


# Diff


async def test_the_diff_comes_from_the_object_store(operations, project):
    (project.root / "a.cir").write_bytes(b"* t\r\nR1 a b 1k\r\n")
    done = await change(operations, b"* t\r\nR1 a b 2k\r\nC1 b 0 1n\r\n")
    (project.root / "a.cir").write_bytes(b"by hand")
    diff = await operations.diff(done.op_id)
    assert (diff.added, diff.removed) == (2, 1)
    assert (
        diff.text == "--- a/a.cir\n+++ b/a.cir\n@@ -1,2 +1,3 @@\n * t\n-R1 a b 1k\n+R1 a b 2k\n+C1 b 0 1n\n"
    )
    created = await operations.diff((await change(operations, b"x\n", path="n.cir")).op_id)
    assert created.text == "--- /dev/null\n+++ b/n.cir\n@@ -0,0 +1 @@\n+x\n"
    binary = await operations.diff((await change(operations, b"\0\1", path="b.cir")).op_id)
    assert binary.is_binary
    await operations.begin_simulation(op_id="sim", session_id="s", tool="run_simulation")
    assert (await operations.diff("sim")).text == ""
    with pytest.raises(UserInputError):
        await operations.diff("none")


# Cancelling


class _Slow:
    """A project whose write waits at a gate, in the worker thread."""

    def __init__(self, project):
        self._project = project
        self.reached = threading.Event()
        self.gate = threading.Event()

    def __getattr__(self, name):
        return getattr(self._project, name)

    def write(self, path, content, **options):
        self.reached.set()
        assert self.gate.wait(50)
        return self._project.write(path, content, **options)


async def test_an_effect_under_way_ends_before_its_cancellation_goes_on(project):
    slow = _Slow(project)
    operations = Operations(log=project.operations, project=slow)
    task = asyncio.create_task(change(operations, b"new", op_id="01"))
    await asyncio.to_thread(slow.reached.wait)
    for _ in range(3):
        task.cancel()
        await asyncio.sleep(0)
        assert not task.done()
    slow.gate.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await operations.find("01")).state == "done"
    assert (project.root / "a.cir").read_bytes() == b"new"


class _Watched:
    """Calls `moment` before and after each call of one of `names`."""

    def __init__(self, inner, names, moment):
        self._inner, self._names, self._moment = inner, names, moment

    def __getattr__(self, name):
        found = getattr(self._inner, name)
        if name not in self._names:
            return found

        def call(*args, **kwargs):
            self._moment()
            result = found(*args, **kwargs)
            self._moment()
            return result

        return call


@pytest.mark.parametrize("way", ["change", "undo"])
async def test_cancelled_at_any_step_an_effect_is_whole_or_none(project, way):
    path = project.root / "a.cir"
    loop = asyncio.get_running_loop()
    outcomes = []
    for number in range(1, 40):
        path.write_bytes(b"old")
        plain = Operations(log=project.operations, project=project)
        first = await change(plain, b"new") if way == "undo" else None
        before = path.read_bytes()
        passed = 0
        tasks = []

        def moment(number=number, tasks=tasks):
            nonlocal passed
            passed += 1
            if passed == number:
                loop.call_soon_threadsafe(tasks[0].cancel)

        operations = Operations(
            log=_Watched(project.operations, ("find", "interrupted", "record_intent", "set_state"), moment),
            project=_Watched(project, ("keep_object", "read", "write", "place_of"), moment),
        )
        op_id = new_ulid()
        work = operations.undo(first.op_id) if first else change(operations, b"new", op_id=op_id)
        tasks.append(asyncio.create_task(work))
        await asyncio.wait(tasks)
        if not tasks[0].cancelled():
            break
        records = [
            record
            for record in await plain.list()
            if (record.undoes == first.op_id if first else record.op_id == op_id)
        ]
        outcomes.append(bool(records))
        assert [record.state for record in records] in ([], ["done"])
        assert path.read_bytes() == ((b"old" if first else b"new") if records else before)
        assert await plain.repair() == ()
    else:
        pytest.fail("it never came to its end")
    assert outcomes[-1]  # cancelled at its last step it is whole
    assert len(outcomes) >= 10


async def test_an_effect_that_waits_its_turn_is_given_up(operations, project):
    entered, leave = threading.Event(), threading.Event()

    def hold():
        with project.operations.write_lock():
            entered.set()
            leave.wait(50)

    holder = asyncio.create_task(asyncio.to_thread(hold))
    await asyncio.to_thread(entered.wait)
    task = asyncio.create_task(change(operations, b"new", op_id="01"))
    await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    leave.set()
    await holder
    assert await operations.find("01") is None
    assert not (project.root / "a.cir").exists()


async def test_many_changes_at_the_same_time_all_happen(operations, project):
    names = [f"f{number % 3}.cir" for number in range(12)]
    records = await asyncio.gather(
        *(change(operations, str(number).encode(), path=name) for number, name in enumerate(names))
    )
    assert {record.state for record in records} == {"done"}
    for name in set(names):
        chain = [record for record in await operations.list() if record.path == name]
        assert [record.before_sha256 for record in chain[1:]] == [
            record.after_sha256 for record in chain[:-1]
        ]
        assert sha((project.root / name).read_bytes()) == chain[-1].after_sha256
