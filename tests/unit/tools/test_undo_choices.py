"""Undo of files that were changed since: nothing without a choice, and nothing lost with one."""

import asyncio
import os
from pathlib import Path

import pytest

from application.ports.events import FileOperationDone, FileOperationUndone
from application.ports.project import ABSENT, FileChange
from application.project.undo_retention import TidyUndoData
from application.tool_execution.effects import hash_of
from application.tool_execution.operations import Operations, undone_note
from application.tool_execution.taking_back import UndoConflictError
from domain.llm.tools.three_way import merge_files, merge_texts
from infrastructure.persistence import operation_rows
from infrastructure.persistence.project import ProjectFolders
from shared.events import Event, EventBus
from shared.ulid import new_ulid
from tests.ground.campaign import campaigns

BASE = "".join(f"R{number} a b 1k\r\n" for number in range(9))
DONE = BASE.replace("R2 a b 1k", "R2 a b 2k")
FAR = DONE.replace("R6 a b 1k", "R6 a b 6k")
NEAR = DONE.replace("R3 a b 1k", "R3 a b 3k")


@pytest.fixture
def project(tmp_path):
    project = ProjectFolders().open(tmp_path / "amp", create=True)
    (project.root / "a.cir").write_bytes(BASE.encode())
    yield project
    project.close()


async def changed(project, text, *, events=None):
    operations = Operations(log=project.operations, project=project, events=events)
    record = await operations.change_file(
        op_id=new_ulid(), session_id="s", tool="patch_file", path=Path("a.cir"), content=DONE.encode()
    )
    (project.root / "a.cir").write_bytes(text.encode())
    return operations, record


@pytest.mark.parametrize(("text", "ways"), [(FAR, 3), (NEAR, 2), ("all new\n", 2)])
async def test_without_a_choice_both_differences_are_told(project, text, ways):
    operations, record = await changed(project, text)
    with pytest.raises(UndoConflictError) as caught:
        await operations.undo(record.op_id)
    assert len(caught.value.ways) == ways
    (conflict,) = caught.value.conflicts
    assert (conflict.undo.added, conflict.undo.removed) == (1, 1)
    assert conflict.since.hunks
    assert (project.root / "a.cir").read_bytes() == text.encode()
    if ways == 2:
        with pytest.raises(UndoConflictError):
            await operations.undo(record.op_id, choose="merge")
    assert (await operations.undo(record.op_id, choose="current")) == record
    assert (project.root / "a.cir").read_bytes() == text.encode()
    assert len(await operations.list()) == 1


@pytest.mark.parametrize(("choose", "text"), [("restore", FAR), ("restore", NEAR), ("merge", FAR)])
async def test_a_choice_is_an_operation_that_gives_the_edit_back(project, choose, text):
    events: list[Event] = []
    bus = EventBus()
    bus.subscribe(Event, events.append)
    operations, record = await changed(project, text, events=bus)
    assert await operations.list(session_id="s", undoing=True) == ()
    undo = await operations.undo(record.op_id, choose=choose)
    listed = await operations.list(session_id="s", undoing=True)
    assert [(each.op_id, each.state) for each in listed] == [(record.op_id, "undone"), (undo.op_id, "done")]
    assert await operations.list(among=[undo.op_id], last=1) == listed[1:]
    assert await operations.list(among=[]) == ()
    wanted = BASE if choose == "restore" else BASE.replace("R6 a b 1k", "R6 a b 6k")
    assert (project.root / "a.cir").read_bytes() == wanted.encode()
    await operations.undo(undo.op_id)
    assert (project.root / "a.cir").read_bytes() == text.encode()
    await asyncio.sleep(0)
    assert [(type(event), event.op_id) for event in events] == [
        (FileOperationDone, record.op_id),
        (FileOperationUndone, record.op_id),
        (FileOperationUndone, undo.op_id),
    ]
    note = undone_note(await operations.list(), since="")
    assert "then done again" in note
    await operations.undo(record.op_id, choose="restore")
    note = undone_note(await operations.list(), since="")
    assert "taken back" in note
    assert "patch_file of a.cir" in note
    assert "since your last answer" in note
    assert "since" not in undone_note(await operations.list(), since="9999")


async def test_a_file_that_took_the_place_of_a_deleted_one_comes_back_with_its_own_mode(project):
    path = project.root / "a.cir"
    path.chmod(0o640)
    operations = Operations(log=project.operations, project=project)
    gone = await operations.change_files(
        op_id=new_ulid(),
        session_id="s",
        tool="delete_file",
        changes=[FileChange(path="a.cir", before=hash_of(BASE.encode()), after=ABSENT, mode=0o640)],
    )
    path.write_bytes(b"another\n")
    path.chmod(0o600)
    undo = await operations.undo(gone.op_id, choose="restore")
    path.unlink()
    await operations.undo(undo.op_id, choose="restore")
    assert path.read_bytes() == b"another\n"
    assert path.stat().st_mode & 0o777 == 0o600


async def test_a_merged_file_that_was_deleted_comes_back_with_the_mode_it_had(project):
    operations, record = await changed(project, FAR)
    path = project.root / "a.cir"
    path.chmod(0o755)
    undo = await operations.undo(record.op_id, choose="merge")
    path.unlink()
    await operations.undo(undo.op_id, choose="restore")
    assert path.read_bytes() == FAR.encode()
    assert path.stat().st_mode & 0o777 == 0o755


@campaigns(fast=300, whole=20_000)
def test_a_merge_holds_both_changes_or_is_none(campaign):
    """Against places counted by hand: all lines differ, each side replaces, drops or adds after some."""
    for rng in campaign.cases():
        base = [f"{number}\n" for number in range(rng.randrange(1, 14))]
        kinds = ("new", "drop", "add")
        one, other = (
            {place: rng.choice(kinds) for place in range(len(base)) if rng.random() < 0.15} for _ in "xy"
        )
        texts = ["".join(base), edited(base, {"x": one}), edited(base, {"y": other})]
        found = merge_texts(*texts)
        assert found == merge_texts(texts[0], texts[2], texts[1])
        if not touched(one) & touched(other):
            assert found == edited(base, {"x": one, "y": other})
        elif any(one.get(place) == other.get(place) == "new" for place in one):
            assert found is None


def touched(edits):
    """Places of the text between and on which something happens."""
    return {k for place in edits for k in (place, place + 1)}


def edited(base, by):
    lines = []
    for place, line in enumerate(base):
        name, kind = next(((name, edits[place]) for name, edits in by.items() if place in edits), ("", ""))
        new = {"": [line], "new": [f"{name}{place}\n"], "drop": [], "add": [line, f"{name}+\n"]}
        lines += new[kind]
    return "".join(lines)


def test_what_is_no_text_is_not_merged():
    assert merge_files(b"\0a\n" * 9, b"\0a\n" * 8, b"\0a\n" * 9) is None
    gbk = [text.encode("gbk") for text in ("一\n二\n三\n四\n", "一1\n二\n三\n四\n", "一\n二\n三\n四4\n")]
    assert merge_files(*gbk) == "一1\n二\n三\n四4\n".encode("gbk")


async def test_what_is_old_goes_and_what_is_needed_stays(project):
    operations, record = await changed(project, DONE)
    old = await asyncio.to_thread(project.keep_object, b"kept by an editor, long ago")
    named = await asyncio.to_thread(project.keep_object, b"named by a conversation")
    session = await asyncio.to_thread(project.sessions.create, work_mode="free_work")
    await asyncio.to_thread(session.append, {"event": "x", "sha256": named})
    await asyncio.to_thread(session.close)
    tidy = TidyUndoData(projects=ProjectFolders())
    assert (await tidy(project.root)).operations == 0

    def age():
        with project.operations._transaction() as connection:
            for row in connection.execute(operation_rows.selection(connection)).fetchall():
                old = {"created": "2020-01-01T00:00:00.000+00:00"}
                aged = operation_rows.changed(row, project.authenticity, **old)
                operation_rows.replace_rows(connection, [(aged, row[-1])])
        for path in (project.private / "objects").rglob("*"):
            if path.is_file():
                os.utime(path, (1, 1))

    await asyncio.to_thread(age)
    assert (await tidy(project.root, open_sessions=["s"])).operations == 0
    await operations.undo(record.op_id)  # still there
    await asyncio.to_thread(age)
    young = await asyncio.to_thread(project.keep_object, b"put again today")
    assert (await tidy(project.root, dry_run=True)).operations == 2
    report = await tidy(project.root)
    assert report.operations == 2
    assert report.freed_bytes > 0
    objects = {item.sha256 for item in await asyncio.to_thread(project.stored_objects)}
    assert named in objects
    assert old not in objects
    assert young in objects
    assert await operations.list() == ()
    assert (project.root / "a.cir").read_bytes() == BASE.encode()
