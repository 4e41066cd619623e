"""Older states of one's own signed records, put back by whoever shares the project."""

from __future__ import annotations

import asyncio
import shutil
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
