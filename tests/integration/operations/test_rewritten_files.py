"""Several files rewritten as one operation: all or none, and undone together."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from application.project.undoing import ProjectOperations
from infrastructure.persistence.project import ProjectFolders
from shared.errors import CircuitError

BEFORE = {"a.cir": b"* a\r\nR1 in out 1k\r\n", "sub/b.lib": b"* \xb5\nR1 in out 2k\n"}
AFTER = {name: data.replace(b"out", b"vo") for name, data in BEFORE.items()}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, data in BEFORE.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
    (tmp_path / ".circuit_ai").mkdir()
    return tmp_path


def on_disk(root: Path) -> dict[str, bytes]:
    return {name: (root / name).read_bytes() for name in BEFORE}


def asked(root: Path) -> tuple[dict[Path, bytes], dict[Path, str]]:
    contents = {root / name: data for name, data in AFTER.items()}
    return contents, {root / name: hashlib.sha256(data).hexdigest() for name, data in BEFORE.items()}


async def test_all_are_written_and_undone_together(root: Path) -> None:
    operations = ProjectOperations(projects=ProjectFolders())
    contents, expected = asked(root)
    record = await operations.rewrite(root, contents, expected=expected, tool="rename_name")
    assert on_disk(root) == AFTER
    assert [change.path for change in record.changes] == list(AFTER)
    (entry,) = await operations.list(root)
    assert (entry.record.tool, entry.record.state) == ("rename_name", "done")
    await operations.undo(root, record.op_id)
    assert on_disk(root) == BEFORE


async def test_one_that_was_changed_meanwhile_keeps_all_as_they_are(root: Path) -> None:
    operations = ProjectOperations(projects=ProjectFolders())
    contents, expected = asked(root)
    (root / "sub/b.lib").write_bytes(b"somebody else's\n")
    with pytest.raises(CircuitError) as raised:
        await operations.rewrite(root, contents, expected=expected, tool="rename_name")
    assert raised.value.error_type == "file_modified_externally"
    assert on_disk(root) == {"a.cir": BEFORE["a.cir"], "sub/b.lib": b"somebody else's\n"}
    assert await operations.list(root) == ()
