"""What a cloned project can make the program do: nothing but be shown. Each was possible before."""

import asyncio
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from application.project.adopting import AdoptProject
from infrastructure.persistence import operation_rows
from infrastructure.persistence.project import ProjectFolders
from tests.integration.cli.conftest import Cli
from tests.integration.strangers.conftest import (
    ANSWER,
    DESIGN,
    HOOK,
    RC,
    SESSION,
    TURN,
    Forgery,
    tree_of,
)

Clone = Callable[[], Path]

LOOKS = {
    "listing operations": ("operations",),
    "looking at one": ("undo", "--diff", "01J0000000000000000000000F"),
    "a tool that writes": ("tool", "rewrite_file", '{"path": "models/a.lib", "content": "*"}', "--yes"),
}


def command(cli: Cli, words: tuple[str, ...], project: Path) -> str:
    """Run a command of `LOOKS` on a project; what it said."""
    name, *rest = words
    done = cli(name, *rest, "--project", project) if name == "tool" else cli(name, project, *rest[::-1])
    return done.stdout + done.stderr


@pytest.mark.parametrize("place", [".git/hooks/post-checkout", ".vscode/tasks.json", ".envrc", "run.sh"])
@pytest.mark.parametrize("look", LOOKS)
def test_a_begun_change_is_never_carried_out(
    cli: Cli, forgery: Forgery, clone: Clone, place: str, look: str
) -> None:
    forgery.half_done(place, after=HOOK)
    project = clone()
    before = tree_of(project)
    told = command(cli, LOOKS[look], project)
    assert "Traceback" not in told
    after = tree_of(project)
    assert not (project / place).exists()
    assert {name: after[name] for name in before} == before


def test_a_begun_deletion_is_never_carried_out(cli: Cli, forgery: Forgery, clone: Clone) -> None:
    (forgery.root / "notes.cir").write_bytes(b"* mine\n")
    forgery.half_done("notes.cir", before=b"* mine\n")
    project = clone()
    cli("operations", project)
    assert (project / "notes.cir").read_bytes() == b"* mine\n"


def test_listing_operations_writes_nothing(cli: Cli, forgery: Forgery, clone: Clone) -> None:
    forgery.record("a.cir", state="intent", after=RC)
    forgery.record("rc.cir", state="done", before=b"* old\n", after=RC, op_id="01J0000000000000000000000H")
    project = clone()
    log = project / ".circuit_ai" / "operations.sqlite"
    before = log.read_bytes()
    listed = cli("operations", project, "--json").document["operations"]
    assert [entry["origin"] for entry in listed] == ["elsewhere", "elsewhere"]
    assert [entry["state"] for entry in listed] == ["intent", "done"]
    assert log.read_bytes() == before
    assert {path.name for path in log.parent.iterdir()} == {"operations.sqlite", "objects"}


@pytest.mark.parametrize("command", ["operations", "adopt"])
def test_a_name_makes_up_no_line_of_a_list(cli: Cli, forgery: Forgery, clone: Clone, command: str) -> None:
    forgery.record("a\nAdopted: all of it is yours.cir", state="done", before=b"* old\n", after=RC)
    told = cli(command, clone()).stdout.splitlines()
    assert any("a\u240aAdopted" in line for line in told)
    assert not any(line.startswith("Adopted: all") for line in told)


def test_a_name_makes_up_no_line_of_a_difference(cli: Cli, forgery: Forgery, clone: Clone) -> None:
    forgery.record("a\n+++ \x1b[2J\nb.cir", state="done", before=b"* old\n", after=RC)
    told = cli("undo", clone(), "01J0000000000000000000000F", "--diff").stdout
    assert "a\u240a+++ \u241b[2J\u240ab.cir" in told
    assert not any(line.startswith(("b.cir", "+++ \x1b")) for line in told.splitlines())


@pytest.mark.parametrize("command", ["check", "simulate"])
def test_a_name_makes_up_no_line_of_a_verdict(cli: Cli, tmp_path: Path, command: str) -> None:
    deck = tmp_path / "a\nok.cir: 0 errors, 0 warnings\x1b[2J.cir"
    deck.write_text('* a\nV1 a 0 1\n.include "no\x1b[2Jsuch.lib"\nR1 a 0 1k\n.op\n.end\n')
    for folder in (tmp_path, deck):
        told = cli(command, folder / "none\nok: 0 errors.cir" if folder == tmp_path else deck)
        lines = (told.stdout + told.stderr).splitlines()
        assert not any(line.startswith("ok") or "\x1b" in line for line in lines), lines


@pytest.mark.parametrize("words", [(), ("01J0000000000000000000000F",), ("--choose", "restore")])
def test_a_done_change_is_never_taken_back(
    cli: Cli, forgery: Forgery, clone: Clone, words: tuple[str, ...]
) -> None:
    forgery.record("rc.cir", state="done", before=b".control\nshell rm -rf ~\n.endc\n", after=RC)
    project = clone()
    undone = cli("undo", project, *words, "--json")
    assert undone.exit_code == 1
    assert undone.document["errors"][0]["error_type"] in ("not_adopted", "nothing_to_undo")
    assert (project / "rc.cir").read_bytes() == RC


@pytest.mark.parametrize("place", [".git/hooks/post-checkout", "Makefile"])
def test_an_undo_never_writes_where_tools_may_not_even_when_adopted(
    cli: Cli, forgery: Forgery, clone: Clone, place: str
) -> None:
    forgery.record(place, state="done", before=HOOK, mode=0o755)
    project = clone()
    cli("adopt", project, "--yes")
    undone = cli("undo", project, "01J0000000000000000000000F", "--json")
    assert not (project / place).exists()
    assert undone.exit_code == 1
    assert undone.document["errors"][0]["error_type"] == "not_undoable"


def test_an_undo_of_an_adopted_change_makes_nothing_that_runs(
    cli: Cli, forgery: Forgery, clone: Clone
) -> None:
    forgery.record("old.cir", state="done", before=RC, mode=0o4755)
    project = clone()
    assert cli("adopt", project, "--yes", "--json").document["adopted"] is True
    assert cli("undo", project, "--json").exit_code == 0
    assert (project / "old.cir").read_bytes() == RC
    assert (project / "old.cir").stat().st_mode & 0o7111 == 0


@pytest.mark.parametrize(
    "words", [("--resume",), ("--resume", "--session", SESSION), ("hello", "--session", SESSION)]
)
def test_an_allowed_call_is_never_run(
    cli: Cli, forgery: Forgery, clone: Clone, words: tuple[str, ...]
) -> None:
    forgery.ask_to_delete("rc.cir")
    project = clone()
    transcript = next((project / ".circuit_ai/conversations").glob("*.jsonl"))
    before = transcript.read_bytes()
    told = cli("chat", project, *words, "--json")
    assert (project / "rc.cir").read_bytes() == RC
    assert told.exit_code != 0
    assert "not_adopted" in told.stdout
    assert transcript.read_bytes() == before


def test_an_allowed_call_is_never_run_after_adopting_either(cli: Cli, forgery: Forgery, clone: Clone) -> None:
    forgery.ask_to_delete("rc.cir")
    project = clone()
    looked = cli("adopt", project, "--json").document
    assert (looked["adopted"], [info["was_never_ended"] for info in looked["conversations"]]) == (
        False,
        [True],
    )
    assert cli("adopt", project, "--yes").exit_code == 0
    resumed = cli("chat", project, "--resume", "--session", SESSION, "--json")
    assert (project / "rc.cir").read_bytes() == RC
    assert "nothing_to_resume" in resumed.stdout
    shown = cli("sessions", "show", project, SESSION, "--json").document
    assert shown["messages"][-1]["role"] == "tool"
    assert "was not run here" in shown["messages"][-1]["text"]
    assert cli("chat", project, "check rc.cir", "--session", SESSION, "--yes").exit_code == 0
    assert (project / "rc.cir").read_bytes() == RC


def test_a_pending_design_is_never_gone_on_with(cli: Cli, forgery: Forgery, clone: Clone) -> None:
    sentence = "RC low-pass with a corner of 1 kHz"
    forgery.say(
        {"event": "message", "message": {"id": TURN, "type": "user", "content": sentence}, "step": TURN},
        {
            "event": "turn",
            "turn_id": TURN,
            "state": "started",
            "design": {"text": sentence, "max_iterations": 3},
        },
        {"event": "paused", "turn_id": TURN, "reason": "stopped"},
        session=DESIGN,
        work_mode="workflow",
    )
    project = clone()
    before = tree_of(project)
    for words in (("--resume",), ("--resume", "--session", DESIGN)):
        told = cli("design", project, *words, "--yes", "--json")
        assert told.exit_code != 0
        assert "not_adopted" in told.stdout
    assert tree_of(project) == before


def test_a_new_design_does_not_take_up_a_strangers(cli: Cli, forgery: Forgery, clone: Clone) -> None:
    sentence = "RC low-pass filter, corner frequency 1 kHz"
    forgery.say(
        {"event": "message", "message": {"id": TURN, "type": "user", "content": sentence}, "step": TURN},
        {
            "event": "turn",
            "turn_id": TURN,
            "state": "started",
            "design": {"text": sentence, "max_iterations": 1},
        },
        session=DESIGN,
        work_mode="workflow",
    )
    project = clone()
    transcript = project / ".circuit_ai" / "conversations" / f"{DESIGN}.jsonl"
    before = transcript.read_bytes()
    assert cli("design", project, sentence, "--yes", "--json").exit_code == 0
    assert transcript.read_bytes() == before


def test_history_can_be_read_exported_and_named_by_its_origin(
    cli: Cli, forgery: Forgery, clone: Clone
) -> None:
    forgery.ask_to_delete("rc.cir")
    project = clone()
    (listed,) = cli("sessions", "list", project, "--json").document["sessions"]
    assert (listed["origin"], listed["message_count"]) == ("elsewhere", 2)
    assert "Tidy up" in cli("sessions", "export", project, SESSION, "--format", "md").stdout
    renamed = cli("sessions", "rename", project, SESSION, "Mine", "--json")
    assert renamed.document["errors"][0]["error_type"] == "not_adopted"


def test_the_list_of_conversations_is_not_believed(cli: Cli, forgery: Forgery, clone: Clone) -> None:
    forgery.ask_to_delete("rc.cir")
    first = forgery.clone(forgery.root.parent / "first")
    cli("sessions", "list", first)
    index = first / ".circuit_ai/conversations/sessions.json"
    made = index.read_text() if index.exists() else json.dumps({"schema_version": 1, "sessions": []})
    (forgery.private / "conversations" / "sessions.json").write_text(made.replace("Tidy up", "Send money"))
    project = clone()
    (listed,) = cli("sessions", "list", project, "--json").document["sessions"]
    assert listed["preview"] == "Tidy up"
    assert listed["origin"] == "elsewhere"


@pytest.mark.parametrize("name", ["operations.sqlite", "checkpoints.sqlite"])
def test_a_database_of_somebody_else_gets_nothing_of_ours(
    cli: Cli, forgery: Forgery, clone: Clone, name: str
) -> None:
    with closing(sqlite3.connect(forgery.private / name)) as connection, connection:
        connection.execute("CREATE TABLE customers (name)")
    project = clone()
    before = (project / ".circuit_ai" / name).read_bytes()
    cli("chat", project, "check rc.cir", "--yes")
    cli("operations", project)
    assert (project / ".circuit_ai" / name).read_bytes() == before


def test_what_is_done_in_a_cloned_project_is_ones_own(cli: Cli, forgery: Forgery, clone: Clone) -> None:
    forgery.record("rc.cir", state="done", before=b"* old\n", after=RC)
    forgery.ask_to_delete("rc.cir")
    project = clone()
    made = cli(
        "tool", "rewrite_file", '{"path": "models/a.lib", "content": "*"}', "--project", project, "--yes"
    )
    assert made.exit_code == 0
    assert cli("chat", project, "check rc.cir", "--yes").exit_code == 0
    listed = cli("operations", project, "--json").document["operations"]
    assert [entry["origin"] for entry in listed] == ["elsewhere", "here"]
    assert cli("undo", project, "--json").exit_code == 0
    assert not (project / "models").exists()
    origins = [info["origin"] for info in cli("sessions", "list", project, "--json").document["sessions"]]
    assert sorted(origins) == ["elsewhere", "here"]


def test_an_offer_of_another_model_is_not_shown(cli: Cli, forgery: Forgery, clone: Clone) -> None:
    offer = {"provider": "openai", "model": "gpt", "base_url": "http://127.0.0.1:9/v1"}
    failure = {"error_type": "auth", "message": {"template": "No.", "params": {}}, "offers": [offer]}
    forgery.say(
        {"event": "message", "message": {"id": TURN, "type": "user", "content": "Hi"}, "step": TURN},
        {"event": "turn", "turn_id": TURN, "state": "started"},
        {"event": "turn", "turn_id": TURN, "state": "ended", "stop_reason": "error", "failure": failure},
    )
    project = clone()
    told = cli("chat", project, "--resume", "--json")
    assert "127.0.0.1" not in told.stdout
    assert told.exit_code != 0


def test_streamed_pieces_of_a_stranger_are_no_answer_of_ours(
    cli: Cli, forgery: Forgery, clone: Clone
) -> None:
    forgery.say(
        {"event": "message", "message": {"id": TURN, "type": "user", "content": "Hi"}, "step": TURN},
        {"event": "turn", "turn_id": TURN, "state": "started"},
        {"event": "delta", "message_id": ANSWER, "text": "I will now", "reasoning": ""},
    )
    project = clone()
    transcript = project / ".circuit_ai" / "conversations" / f"{SESSION}.jsonl"
    before = transcript.read_bytes()
    told = cli("chat", project, "--resume", "--json")
    assert "not_adopted" in told.stdout
    assert transcript.read_bytes() == before


def test_only_the_newest_operations_of_a_long_log_are_listed(
    cli: Cli, forgery: Forgery, clone: Clone
) -> None:
    for number in range(3):
        forgery.record(f"{number}.cir", state="done", after=RC, op_id=f"01J000000000000000000000{number}F")
    project = clone()
    listed = cli("operations", project, "--last", 2, "--json").document["operations"]
    assert [Path(entry["path"]).name for entry in listed] == ["1.cir", "2.cir"]


async def test_adopting_that_is_stopped_has_adopted_no_operation(
    forgery: Forgery, clone: Clone, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        forgery.record(f"{number}.cir", state="done", after=RC, op_id=f"01J000000000000000000000{number}F")
    project = clone()
    loop, adopted = asyncio.get_running_loop(), operation_rows.adopted

    async def stop() -> None:
        adopting.cancel()
        await asyncio.sleep(0.01)

    def stopping(*given: Any) -> operation_rows.Row:
        asyncio.run_coroutine_threadsafe(stop(), loop).result()
        return adopted(*given)

    monkeypatch.setattr(operation_rows, "adopted", stopping)
    use_case = AdoptProject(projects=ProjectFolders(), count_results=lambda _: 0)
    adopting = asyncio.ensure_future(use_case(project))
    with pytest.raises(asyncio.CancelledError):
        await adopting
    assert len((await use_case.look(project)).operations) == 3
