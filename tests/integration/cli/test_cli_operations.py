"""`operations` and `undo` as scripts and people use them."""

import asyncio
from pathlib import Path

import pytest

from application.tool_execution.operations import Operations
from infrastructure.persistence.project import ProjectFolders


@pytest.fixture
def folder(tmp_path):
    """A project with two changes of one file, a new file, and a simulation."""
    folder = tmp_path / "amp"
    project = ProjectFolders().open(folder, create=True)
    (folder / "a.cir").write_bytes(b"* t\r\nR1 a b 1k\r\n")
    operations = Operations(log=project.operations, project=project)

    async def work():
        for op_id, path, content in (
            ("01AAA", "a.cir", b"* t\r\nR1 a b 2k\r\n"),
            ("01BBB", "a.cir", b"* t\r\nR1 a b 3k\r\nC1 b 0 1n\r\n"),
            ("01CCC", "b.cir", b"* new\n"),
        ):
            await operations.change_file(
                op_id=op_id, session_id="s1", tool="patch_file", path=Path(path), content=content
            )
        await operations.begin_simulation(op_id="01DDD", session_id="s2", tool="run_simulation")
        await operations.finish("01DDD", {"ok": True})

    asyncio.run(work())
    project.close()
    return folder


def test_the_list(cli, folder):
    document = cli("operations", folder, "--json").document
    assert document["ok"] is True
    rows = document["operations"]
    assert [(row["id"], row["state"], row["added"], row["removed"]) for row in rows] == [
        ("01AAA", "done", 1, 1),
        ("01BBB", "done", 2, 1),
        ("01CCC", "done", 1, 0),
        ("01DDD", "done", None, None),
    ]
    assert rows[0]["path"] == str(folder / "a.cir")
    assert (rows[3]["path"], rows[3]["kind"], rows[3]["session_id"]) == (None, "simulation", "s2")
    assert len(cli("operations", folder, "--session", "s2", "--json").document["operations"]) == 1
    assert [row["id"] for row in cli("operations", folder, "--last", 2, "--json").document["operations"]] == [
        "01CCC",
        "01DDD",
    ]
    text = cli("operations", folder)
    assert text.exit_code == 0
    assert "a.cir" in text.stdout
    assert "+2 -1" in text.stdout
    assert cli("operations", folder, "--last", 0, "--json").exit_code == 2


def test_undo_goes_back_step_by_step_and_redo_forward(cli, folder):
    first = cli("undo", folder, "--json").document
    assert (first["ok"], first["undone"], first["path"]) == (True, "01CCC", str(folder / "b.cir"))
    assert not (folder / "b.cir").exists()
    assert cli("undo", folder).exit_code == 0
    assert (folder / "a.cir").read_bytes() == b"* t\r\nR1 a b 2k\r\n"
    last = cli("undo", folder, "--json").document
    assert last["undone"] == "01AAA"
    assert "-R1 a b 2k" in last["diff"]
    assert (folder / "a.cir").read_bytes() == b"* t\r\nR1 a b 1k\r\n"
    nothing = cli("undo", folder, "--json")
    assert (nothing.exit_code, nothing.document["errors"][0]["error_type"]) == (1, "nothing_to_undo")
    assert cli("undo", folder, last["undo"]).exit_code == 0
    assert (folder / "a.cir").read_bytes() == b"* t\r\nR1 a b 2k\r\n"
    states = {row["id"]: row["state"] for row in cli("operations", folder, "--json").document["operations"]}
    assert (states["01AAA"], states["01BBB"], states[last["undo"]]) == ("done", "undone", "undone")


def test_an_edit_of_the_users_is_not_overwritten(cli, folder):
    (folder / "a.cir").write_bytes(b"mine")
    refused = cli("undo", folder, "01BBB", "--json")
    error = refused.document["errors"][0]
    assert (refused.exit_code, error["error_type"]) == (1, "file_modified_externally")
    assert error["advice"]
    assert (folder / "a.cir").read_bytes() == b"mine"
    later = cli("undo", folder, "01AAA", "--json")
    assert later.exit_code == 1


@pytest.mark.parametrize(
    ("arguments", "exit_code", "error_type"),
    [
        (["nope"], 2, "no_operation"),
        (["01"], 2, "no_operation"),
        (["01DDD"], 1, "not_undoable"),
        (["--session", "s2"], 1, "nothing_to_undo"),
        (["--diff"], 2, "bad_usage"),
        (["nope", "--diff"], 2, "no_operation"),
    ],
)
def test_what_is_refused(cli, folder, arguments, exit_code, error_type):
    refused = cli("undo", folder, *arguments, "--json")
    assert (refused.exit_code, refused.document["errors"][0]["error_type"]) == (exit_code, error_type)
    assert cli("operations", folder, "--json").document["operations"][2]["state"] == "done"


def test_a_short_id_and_the_diff_before_undoing(cli, folder):
    shown = cli("undo", folder, "01b", "--diff", "--json").document
    assert shown["diff"].endswith("-R1 a b 2k\n+R1 a b 3k\n+C1 b 0 1n\n")
    assert cli("undo", folder, "01b", "--diff").stdout.splitlines()[-1] == "+C1 b 0 1n"
    assert "changed no file" in cli("undo", folder, "01D", "--diff").stdout
    assert cli("undo", folder, "01b", "--json").document["undone"] == "01BBB"


def test_a_project_without_operations_stays_untouched(cli, tmp_path):
    (tmp_path / "new/.circuit_ai").mkdir(parents=True)
    assert cli("operations", tmp_path / "new", "--json").document == {"ok": True, "operations": []}
    assert list((tmp_path / "new/.circuit_ai").iterdir()) == []
    assert cli("undo", tmp_path / "new").exit_code == 1
    missing = cli("operations", tmp_path / "gone", "--json")
    assert (missing.exit_code, missing.document["errors"][0]["error_type"]) == (2, "no_project")


def test_a_damaged_log_is_told(cli, folder):
    for suffix in ("", "-wal", "-shm"):
        (folder / f".circuit_ai/operations.sqlite{suffix}").unlink(missing_ok=True)
    (folder / ".circuit_ai/operations.sqlite").write_bytes(b"rubbish" * 1000)
    told = cli("operations", folder, "--json")
    assert (told.exit_code, told.document["errors"][0]["error_type"]) == (3, "damaged")


def test_a_file_changed_since_needs_a_choice(cli, folder):
    path = folder / "a.cir"
    path.write_bytes(b"* by hand\n")
    refused = cli("undo", folder, "01AAA", "--json")
    assert refused.exit_code == 1
    assert refused.document["errors"][0]["error_type"] == "file_modified_externally"
    assert refused.document["choices"] == ["current", "restore"]
    (conflict,) = refused.document["conflicts"]
    assert "+* by hand" in conflict["since_diff"]
    assert "--choose restore" in cli("undo", folder, "01AAA").stderr
    assert cli("undo", folder, "01AAA", "--choose", "merge").exit_code == 1
    assert cli("undo", folder, "01AAA", "--choose", "current").exit_code == 0
    assert path.read_bytes() == b"* by hand\n"
    done = cli("undo", folder, "01AAA", "--choose", "restore", "--json").document
    assert done["ok"] is True
    assert path.read_bytes() != b"* by hand\n"
    assert cli("undo", folder, done["undo"]).exit_code == 0
    assert path.read_bytes() == b"* by hand\n"
