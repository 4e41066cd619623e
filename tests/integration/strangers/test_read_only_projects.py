"""A project nobody can write to, on a read-only medium say, still shows what it holds."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from application.ports.project import OperationRecord
from infrastructure.persistence.project import ProjectFolder, ProjectFolders

ROOT = Path(__file__).resolve().parents[3]
LOOK = """
import json, sys
from pathlib import Path
from infrastructure.persistence.project import ProjectFolders
from infrastructure.tracing.spans import SqliteTraces
from shared.errors import CircuitAIError
project = ProjectFolders().open(Path(sys.argv[1]))
said = {"operations": [record.op_id for record in project.operations.list()],
        "conversations": [info.name for info in project.sessions.list()],
        "traces": len(SqliteTraces().turns(project.traces_path))}
try:
    with project.operations.write_lock():
        pass
except CircuitAIError as error:
    said["error"] = error.error_type
print(json.dumps(said))
"""


@pytest.fixture
def project(tmp_path: Path) -> ProjectFolder:
    project = ProjectFolders().open(tmp_path / "p", create=True)
    project.operations.record_intent(record("01AAA"))
    project.operations.set_state("01AAA", "done")
    transcript = project.sessions.create(work_mode="free_work", name="Chat")
    transcript.close()
    return project


def record(op_id: str) -> OperationRecord:
    return OperationRecord(
        op_id=op_id, session_id="s", tool="rewrite_file", kind="file", state="intent", path="a.cir",
        before_sha256="absent", after_sha256="0" * 64, undoes="", created="2026-01-01T00:00:00.000+00:00",
    )  # fmt: skip


def look_read_only(folder: Path) -> Any:
    """What a process sees to which the folder is mounted read-only (root may write whatever a mode says)."""
    confined = ["bwrap", "--dev-bind", "/", "/", "--ro-bind", str(folder), str(folder), "--chdir", str(ROOT)]
    done = subprocess.run(
        [*confined, sys.executable, "-c", LOOK, str(folder)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_what_is_there_is_shown_and_writing_says_why_not(project):
    project.close()
    said = look_read_only(project.root)
    assert said == {"operations": ["01AAA"], "conversations": ["Chat"], "traces": 0, "error": "read_only"}


def test_what_a_killed_program_left_in_its_log_is_shown_too(project, tmp_path):
    project.operations.record_intent(record("01BBB"))  # in the write-ahead log, the file does not know it
    copy = tmp_path / "medium"
    shutil.copytree(project.root, copy, ignore=shutil.ignore_patterns("*-shm"))
    project.close()
    assert (copy / ".circuit_ai" / "operations.sqlite-wal").stat().st_size
    assert look_read_only(copy)["operations"] == ["01AAA", "01BBB"]
