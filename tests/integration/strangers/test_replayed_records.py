"""Older states of one's own signed records, put back by whoever shares the project."""

from __future__ import annotations

import asyncio
import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from application.ports.project import ABSENT, FileChange
from application.tool_execution.effects import hash_of
from application.tool_execution.operations import Operations
from infrastructure.persistence.project import ProjectFolder, ProjectFolders
from tests.integration.cli.conftest import Cli
from tests.integration.strangers.conftest import RC, git

NAMES = ("a.cir", "b.cir", "c.cir")


def copied_half_way(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Delete three files as one operation; a copy of the private folder, taken when one of them was gone."""
    copy = project.parent / "half way"
    remove = ProjectFolder.remove

    def remove_and_copy(self: ProjectFolder, path: Path) -> None:
        remove(self, path)
        if not copy.exists():
            shutil.copytree(project / ".circuit_ai", copy)

    monkeypatch.setattr(ProjectFolder, "remove", remove_and_copy)
    folder = ProjectFolders().open(project, create=True)
    operations = Operations(log=folder.operations, project=folder)
    changes = [FileChange(path=name, before=hash_of(RC), after=ABSENT) for name in NAMES]
    asyncio.run(operations.change_files(op_id="gone", session_id="s", tool="delete_file", changes=changes))
    folder.close()
    return copy


def test_a_begun_deletion_that_came_to_its_end_is_not_carried_out_again(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, theirs = tmp_path / "mine", tmp_path / "theirs"
    mine.mkdir()
    git(mine, "init", "-q")
    for name in NAMES:
        (mine / name).write_bytes(RC)
    half_way = copied_half_way(mine, monkeypatch)
    assert not list(mine.glob("*.cir"))
    assert cli("undo", mine).exit_code == 0
    git(mine, "add", "-A", "-f")
    git(mine, "commit", "-q", "-m", "Mine")
    git(tmp_path, "clone", "-q", str(mine), str(theirs))
    shutil.rmtree(theirs / ".circuit_ai")
    shutil.copytree(half_way, theirs / ".circuit_ai")
    (theirs / "a.cir").unlink()
    git(theirs, "add", "-A", "-f")
    git(theirs, "commit", "-q", "-m", "Better values")
    git(mine, "pull", "-q", "--ff-only", str(theirs), "main")
    made = cli("tool", "rewrite_file", '{"path": "d.cir", "content": "* d"}', "--project", mine)
    assert made.exit_code == 0, made.stdout
    assert sorted(path.name for path in mine.glob("*.cir")) == ["b.cir", "c.cir", "d.cir"]


def test_a_conversation_that_was_cut_off_is_told_until_and_after_it_is_gone_on_with(
    cli: Cli, tmp_path: Path
) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "rc.cir").write_bytes(RC)
    for text in ("What is in rc.cir?", "What is a resistor?"):
        assert cli("chat", mine, text).exit_code == 0
    listed = cli("sessions", "list", mine, "--json").document["sessions"]
    assert [each["is_cut"] for each in listed] == [False, False]
    emptied, cut = (mine / f".circuit_ai/conversations/{each['id']}.jsonl" for each in listed)
    elsewhere = tmp_path / "elsewhere"
    whole = cut.read_bytes().splitlines(keepends=True)
    cut.write_bytes(b"".join(whole[:-1]))
    emptied.write_bytes(b"")
    listed = cli("sessions", "list", mine, "--json").document["sessions"]
    assert [each["is_cut"] for each in listed] == [True, True]
    assert cli("sessions", "list", mine).stdout.count("its end is missing") == 2
    for told in (
        cli("sessions", "show", mine, cut.stem),
        cli("chat", mine, "Go on", "--session", cut.stem),
        cli("sessions", "show", mine, cut.stem),  # also when the file has grown since
        cli("sessions", "show", mine, emptied.stem),
    ):
        assert "The end of this conversation is missing" in told.stdout + told.stderr
    cut.write_bytes(cut.read_bytes().splitlines(keepends=True)[0] + b"\n" * 99)
    shutil.copytree(mine, elsewhere)  # of a copy elsewhere nobody knows
    for place, is_told in ((mine, True), (elsewhere, False)):
        listed = cli("sessions", "list", place, "--json").document["sessions"]
        assert [each["is_cut"] for each in listed if each["id"] == cut.stem] == [is_told]


def test_changes_put_in_another_order_are_not_ours(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / ".circuit_ai").mkdir()
    for name in NAMES:
        call = json.dumps({"path": name, "content": "* by the user"})
        assert cli("tool", "rewrite_file", call, "--project", tmp_path).exit_code == 0
    log = tmp_path / ".circuit_ai/operations.sqlite"
    with closing(sqlite3.connect(log)) as connection, connection:
        for old, new in ((1, 9), (3, 1), (9, 3)):
            connection.execute("UPDATE operations SET number = ? WHERE number = ?", (new, old))
    told = cli("operations", tmp_path, "--json").document["operations"]
    assert sorted((Path(each["path"]).name, each["origin"]) for each in told) == [
        ("a.cir", "elsewhere"),
        ("b.cir", "here"),
        ("c.cir", "elsewhere"),
    ]
    assert cli("undo", tmp_path).exit_code == 0
    assert [path.name for path in sorted(tmp_path.glob("*.cir"))] == ["a.cir", "c.cir"]
    with closing(sqlite3.connect(log)) as connection, connection:
        connection.execute("UPDATE operations SET number = ? WHERE number = 3", (2**63 - 1,))
    full = cli("tool", "rewrite_file", '{"path": "d.cir", "content": "* d"}', "--project", tmp_path)
    assert full.exit_code != 0
    assert "damaged" in full.stdout + full.stderr
    assert not (tmp_path / "d.cir").exists()
