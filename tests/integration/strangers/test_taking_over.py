"""Projects of the version before signatures: the user's own are taken over once, nobody else's ever."""

import json
import os
import shutil
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from infrastructure.persistence import project as project_module
from infrastructure.persistence.project import ProjectFolder, ProjectFolders
from tests.integration.cli.conftest import Cli
from tests.integration.strangers.conftest import CALL, HOOK, RC, SESSION, Forgery, git


@pytest.fixture
def home() -> Path:
    """The user's folder, used by the version before."""
    folder = Path(os.environ["CIRCUIT_DESIGN_AI_HOME"])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "settings.json").write_text("{}")
    return folder


def know(home: Path, *projects: Path) -> None:
    listed = [{"path": str(path)} for path in projects]
    (home / "window.json").write_text(json.dumps({"schema_version": 1, "projects": listed}))


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A project as b7d79b0 left it: a change, one that was cut in the middle, and a turn that waits."""
    forgery = Forgery(tmp_path / "amp")
    forgery.record("old.cir", state="done", before=RC, op_id="01J0000000000000000000000H")
    forgery.half_done(".git/hooks/post-checkout", after=HOOK)
    forgery.ask_to_delete("rc.cir")
    return forgery.root


def origins(cli: Cli, project: Path) -> set[str]:
    listed = cli("operations", project, "--json").document["operations"]
    listed += cli("sessions", "list", project, "--json").document["sessions"]
    return {entry["origin"] for entry in listed}


def test_a_project_the_users_folder_knew_is_taken_over_with_nothing_carried_out(
    cli: Cli, home: Path, old: Path
) -> None:
    know(home, old)
    assert origins(cli, old) == {"here"}
    states = {
        entry["path"]: entry["state"] for entry in cli("operations", old, "--json").document["operations"]
    }
    assert states == {str(old / "old.cir"): "done", str(old / "rc.cir"): "abandoned"}
    assert "nothing_to_resume" in cli("chat", old, "--resume", "--json").stdout
    assert (old / "rc.cir").read_bytes() == RC
    assert not (old / ".git").exists()
    last = cli("sessions", "show", old, SESSION, "--json").document["messages"][-1]
    assert last["role"] == "tool"
    assert cli("undo", old, "--json").exit_code == 0, "what was done before can be undone as ever"
    assert (old / "old.cir").read_bytes() == RC
    assert cli("chat", old, "check rc.cir", "--session", SESSION, "--yes").exit_code == 0


def test_it_is_done_once(cli: Cli, home: Path, old: Path) -> None:
    know(home, old)
    assert origins(cli, old) == {"here"}
    with closing(sqlite3.connect(old / ".circuit_ai/operations.sqlite")) as connection, connection:
        connection.execute("UPDATE operations SET path = 'x.cir', signature = ''")
    assert "elsewhere" in origins(cli, old)


def test_a_clone_made_afterwards_is_not(cli: Cli, home: Path, old: Path, tmp_path: Path) -> None:
    target = tmp_path / "clone"
    know(home, target)  # be it in the place of one that was known
    assert cli("sessions", "list", tmp_path).exit_code == 2
    (tmp_path / "other").mkdir()
    assert cli("chat", tmp_path / "other", "hello").exit_code == 0  # the key is made
    git(old, "init", "-q")
    git(old, "add", "-A", "-f")
    git(old, "commit", "-q", "-m", "all")
    git(tmp_path, "clone", "-q", str(old), str(target))
    assert origins(cli, target) == {"elsewhere"}


@pytest.mark.parametrize("is_known", [True, False])
def test_nothing_is_taken_over_where_the_program_was_never_used(cli: Cli, old: Path, is_known: bool) -> None:
    assert not Path(os.environ["CIRCUIT_DESIGN_AI_HOME"]).exists()
    assert origins(cli, old) == {"elsewhere"}
    if is_known:  # learnt later: too late
        know(Path(os.environ["CIRCUIT_DESIGN_AI_HOME"]), old)
        assert origins(cli, old) == {"elsewhere"}


def test_the_times_of_files_make_nobody_the_owner(cli: Cli, home: Path, tmp_path: Path) -> None:
    """Who forges a project can foresee when it will be cloned."""
    forgery = Forgery(tmp_path / "amp")
    said: dict[str, Any] = {"id": CALL, "type": "user", "content": "Hi"}
    said["additional_kwargs"] = {"timestamp": datetime.now(UTC).isoformat(timespec="milliseconds")}
    forgery.say(
        {"event": "message", "message": said, "step": CALL},
        {"event": "turn", "turn_id": CALL, "state": "started"},
        {"event": "turn", "turn_id": CALL, "state": "ended", "stop_reason": "completed"},
    )
    assert home.is_dir()
    assert origins(cli, forgery.root) == {"elsewhere"}


@pytest.mark.parametrize("is_later", [True, False])
def test_results_put_where_a_known_project_was_are_not(
    cli: Cli, home: Path, tmp_path: Path, is_later: bool
) -> None:
    place = tmp_path / "amp"
    theirs = tmp_path / "theirs"
    know(home, place)
    result = theirs / ".circuit_ai" / "sim_results" / "2024-06-24T10-00-00_rc"
    result.mkdir(parents=True)
    (result / "result.json").write_text(json.dumps({"schema_version": 1, "raw_paths": []}))
    (tmp_path / "other").mkdir()
    if not is_later:
        theirs.rename(place)
    assert cli("chat", tmp_path / "other", "hello").exit_code == 0  # the key is made
    if is_later:
        shutil.copytree(theirs, place)
    assert cli("sessions", "list", place).exit_code == 0
    (kept,) = place.glob(".circuit_ai/sim_results/*/result.json")
    assert ("signature" in json.loads(kept.read_text())) is not is_later


def test_a_take_over_that_was_killed_goes_on(home: Path, old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    know(home, old)

    def killed(self: ProjectFolder) -> None:
        self.operations.adopt()
        raise SystemExit

    with monkeypatch.context() as patched:
        patched.setattr(project_module.ProjectFolder, "adopt", killed)
        with pytest.raises(SystemExit):
            ProjectFolders().open(old)
    project = ProjectFolders().open(old)
    assert {info.is_ours for info in project.sessions.list()} == {True}
    assert {record.is_ours for record in project.operations.list()} == {True}
    project.close()


def test_a_take_over_that_ended_is_not_begun_again_by_an_older_word(
    home: Path, old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    know(home, old)
    adopt, word = project_module.ProjectFolder.adopt, old / ".circuit_ai" / "project.json"
    under_way = []

    def watched(self: ProjectFolder) -> None:
        under_way.append(word.read_bytes())
        adopt(self)

    with monkeypatch.context() as patched:
        patched.setattr(project_module.ProjectFolder, "adopt", watched)
        ProjectFolders().open(old).close()
    word.write_bytes(under_way[0])
    conversation = old / ".circuit_ai" / "conversations" / f"{SESSION}.jsonl"
    with conversation.open("a") as file:
        file.write(json.dumps({"event": "turn", "turn_id": CALL, "state": "started"}) + "\n")
    project = ProjectFolders().open(old)
    assert {info.is_ours for info in project.sessions.list()} == {False}
    project.close()


def test_what_is_damaged_keeps_nothing_else_back_and_the_take_over_from_no_end(home: Path, old: Path) -> None:
    know(home, old)
    (old / ".circuit_ai" / "operations.sqlite").write_bytes(b"no database" * 100)
    (old / ".circuit_ai" / "project.json").write_text("")
    project = ProjectFolders().open(old)
    assert {info.is_ours for info in project.sessions.list()} == {True}
    project.close()
    # Written elsewhere, and come since: nobody has adopted it.
    conversation = old / ".circuit_ai" / "conversations" / f"{SESSION}.jsonl"
    with conversation.open("a") as file:
        file.write(json.dumps({"event": "turn", "turn_id": CALL, "state": "started"}) + "\n")
    project = ProjectFolders().open(old)
    assert {info.is_ours for info in project.sessions.list()} == {False}
    project.close()


def test_a_stranger_cannot_say_that_a_take_over_is_under_way(cli: Cli, home: Path, old: Path) -> None:
    document = {"project_id": "01J0000000000000000000000Z", "taking_over": "A" * 43}
    (old / ".circuit_ai" / "project.json").write_text(json.dumps(document | {"taken_over": "A" * 43}))
    assert home.is_dir()
    assert origins(cli, old) == {"elsewhere"}


def test_a_run_before_the_first_opening_does_not_stand_in_the_way(cli: Cli, home: Path, old: Path) -> None:
    know(home, old)
    assert cli("simulate", old / "rc.cir").exit_code == 0  # signs its result, and gives the project its id
    assert origins(cli, old) == {"here"}
