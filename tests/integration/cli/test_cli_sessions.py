"""`sessions list|show|export|delete` as scripts and people use it."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from domain.llm import messages as m
from infrastructure.persistence.project import ProjectFolders
from shared.ulid import new_ulid
from tests.integration.cli.test_cli_terminal import terminal

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    ProjectFolders().open(folder, create=True)
    return folder


def new(project, *events, name="Amp"):
    transcript = ProjectFolders().open(project).sessions.create(work_mode="free_work", name=name)
    transcript.append(*events)
    transcript.close()
    return transcript.session_id


def said(message):
    return {"event": "message", "message": m.message_to_dict(message)}


@pytest.fixture
def conversation(project):
    call = {"id": "C1", "name": "read_file", "args": {"path": "amp.cir", "x": float("inf")}}
    return new(
        project,
        said(m.create_human_message("Design an amplifier \ud800")),
        said(m.create_ai_message("I look.", reasoning="why", tool_calls=[call], operations=["Looked"])),
        said(m.create_tool_message("* amp", call_id="C1", name="read_file")),
        {"event": "delta", "message_id": new_ulid(), "text": "It has", "reasoning": ""},
    )


def test_a_conversation_without_a_design_has_no_report_data(cli, project, conversation):
    done = cli("sessions", "export", project, conversation, "--format", "report", "--json")
    assert (done.exit_code, done.document["errors"][0]["error_type"]) == (2, "no_design")


def test_a_project_without_conversations_lists_none(cli, project):
    done = cli("sessions", "list", project, "--json")
    assert (done.exit_code, done.document) == (0, {"ok": True, "sessions": []})
    assert cli("sessions", "list", project).exit_code == 0


def test_the_list(cli, project, conversation):
    [entry] = cli("sessions", "list", project, "--json").document["sessions"]
    assert (entry["id"], entry["name"], entry["message_count"]) == (conversation, "Amp", 3)
    assert entry["has_partial_response"] is True
    assert entry["preview"].startswith("Design an amplifier")
    text = cli("sessions", "list", project).stdout
    assert conversation in text
    assert "Amp" in text


def test_show_as_the_contract_has_it(cli, project, conversation):
    done = cli("sessions", "show", project, conversation, "--json")
    assert done.exit_code == 0
    document = done.document
    assert (document["id"], document["name"]) == (conversation, "Amp")
    user, answer, tool, partial = document["messages"]
    assert (user["role"], user["text"], user["partial"]) == ("user", "Design an amplifier \ud800", False)
    assert answer["tool_calls"] == [
        {"id": "C1", "name": "read_file", "arguments": {"path": "amp.cir", "x": None}, "success": True}
    ]
    assert answer["reasoning"] == "why"
    assert (tool["role"], tool["name"], tool["success"]) == ("tool", "read_file", True)
    assert (partial["text"], partial["partial"], partial["stop_reason"]) == ("It has", True, "interrupted")
    for message in document["messages"]:
        assert {"role", "text", "partial", "stop_reason", "tool_calls"} <= set(message)


def test_show_for_people(cli, project, conversation):
    done = cli("sessions", "show", project, "last")
    assert done.exit_code == 0
    assert "interrupted" in done.stdout
    assert "It has" in done.stdout
    chinese = cli(
        "sessions", "show", project, "last", LANG="zh_CN.UTF-8", LANGUAGE="zh", LC_ALL="zh_CN.UTF-8"
    )
    assert chinese.exit_code == 0


@pytest.mark.parametrize("kind", ["json", "txt", "md"])
def test_exports(cli, project, conversation, tmp_path, kind):
    target = tmp_path / f"out.{kind}"
    done = cli("sessions", "export", project, conversation[:20], "-o", target, "--json")
    assert (done.exit_code, done.document["path"], done.document["format"]) == (0, str(target), kind)
    text = target.read_text("utf-8")
    for word in ("Amp", "I look.", "why", "Looked", "read_file", "It has", "interrupted"):
        assert word in text
    if kind == "json":
        document = json.loads(text)
        assert document["session_id"] == conversation
        assert document["message_count"] == 4
    on_terminal = cli("sessions", "export", project, conversation, "--format", kind)
    assert on_terminal.exit_code == 0
    assert "I look." in on_terminal.stdout
    whole = cli("sessions", "export", project, conversation, "--json", "--format", kind).document
    assert "I look." in (json.dumps(whole) if kind == "json" else whole["text"])


def test_a_page_of_its_own_has_the_rows_and_needs_no_qt(cli, project, conversation, tmp_path):
    """Also with what happened beside the messages, and a version that was replaced."""
    lines = Path(project, ".circuit_ai", "conversations", f"{conversation}.jsonl").read_text("utf-8")
    first = next(json.loads(line)["message"]["id"] for line in lines.splitlines() if '"user"' in line)
    failed = {"error_type": "connection", "message": {"template": "The bridge is <b>out</b>.", "params": {}}}
    better = m.create_human_message("Design a <i>better</i> one")
    turn = {"event": "turn", "turn_id": better.id}
    again = new(
        project,
        *(json.loads(line) for line in lines.splitlines()[1:4]),
        {**turn, "state": "started"},
        {**said(better), "instead_of": first},
        {**turn, "state": "ended", "stop_reason": "error", "failure": failed},
    )
    target = tmp_path / "talk.html"
    code = "import runpy, sys; sys.modules['PyQt6'] = None; runpy.run_path('main.py', run_name='__main__')"
    argv = [sys.executable, "-c", code, "sessions", "export", project, again, "-o", target]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    text = target.read_text("utf-8")
    wanted = ["<h1>Amp</h1>", "I look.", "why", "amp.cir", "Design a &lt;i&gt;better", "is &lt;b&gt;out"]
    assert [words for words in (*wanted, "replaced</span>", "default-src 'none'") if words not in text] == []
    assert [words for words in ("<script", "<button", "@font-face", "src=", "url(") if words in text] == []
    marks = cli("sessions", "export", project, again, "--format", "json", "--json").document["marks"]
    assert marks == [{"after": better.id, "kind": "failure", "text": "Failed: The bridge is <b>out</b>."}]


def test_an_export_has_no_key_that_a_server_repeated(cli, project):
    key = "a-key-of-no-usual-form-5521"
    conversation = new(project, said(m.create_ai_message(f"Your key is {key}.")))
    run = cli("sessions", "export", project, conversation, "--format", "txt", CIRCUIT_AI_OPENAI_API_KEY=key)
    assert "Your key is [key]." in run.stdout
    assert key not in run.stdout


def test_a_branch_has_what_was_said_and_goes_its_own_way(cli, project, conversation):
    done = cli("sessions", "branch", project, conversation, "--json")
    assert (done.exit_code, done.document["errors"][0]["error_type"]) == (2, "open_turn")
    question = m.create_human_message("What is a pole?")
    turn = {"event": "turn", "turn_id": str(question.id)}
    ended = {**turn, "state": "ended", "stop_reason": "completed"}
    old = new(
        project, said(question), {**turn, "state": "started"}, said(m.create_ai_message("A root.")), ended
    )
    done = cli("sessions", "branch", project, old, "--json")
    assert (done.exit_code, done.document["name"], done.document["from"]) == (0, "Amp (branch)", old)
    shown = cli("sessions", "show", project, done.document["id"], "--json").document
    assert [message["text"] for message in shown["messages"]] == ["What is a pole?", "A root."]
    assert cli("sessions", "show", project, old, "--json").document["messages"] == shown["messages"]
    named = cli("sessions", "branch", project, old, "Zeros")
    assert (named.exit_code, named.stdout.strip().endswith(": Zeros")) == (0, True)
    assert {each["name"] for each in cli("sessions", "list", project, "--json").document["sessions"]} == {
        "Amp", "Amp (branch)", "Zeros"
    }  # fmt: skip


def test_a_branch_goes_on_from_the_message_it_is_given(cli, project):
    """Of an answer with it, of a question from before it, by the id that the conversation shows."""
    events = []
    for number, words in enumerate((("Why?", "So."), ("And then?", "Nothing."))):
        question = m.create_human_message(words[0], message_id=f"01K00000000{number}ABCDEFGHJKMNPQ")
        turn = {"event": "turn", "turn_id": str(question.id)}
        reply = m.create_ai_message(words[1], message_id=f"01K00000000{number}BCDEFGHJKMNPQR")
        events += [said(question), {**turn, "state": "started"}, said(reply)]
        events += [{**turn, "state": "ended", "stop_reason": "completed"}]
    old = new(project, *events)
    printed = re.findall("· (01K00000000\\w+) ===", cli("sessions", "show", project, old).stdout)
    shown = cli("sessions", "show", project, old, "--json").document["messages"]
    assert printed == [message["id"] for message in shown]
    for at, letters, texts in ((1, 13, ["Why?", "So."]), (2, 26, ["Why?", "So."])):
        done = cli("sessions", "branch", project, old, "--at", printed[at][:letters], "--json")
        assert (done.exit_code, done.document["at"]) == (0, printed[at])
        shown = cli("sessions", "show", project, done.document["id"], "--json").document["messages"]
        assert [message["text"] for message in shown] == texts
    for wrong in ("01K00000000", "01ZZZZZZ", ""):
        refused = cli("sessions", "branch", project, old, "--at", wrong, "--json")
        assert (refused.exit_code, refused.document["errors"][0]["error_type"]) == (2, "no_message")


def test_nothing_is_deleted_without_a_yes(cli, project, conversation):
    for extra in ((), ("--json",)):
        refused = cli("sessions", "delete", project, conversation, *extra)
        assert refused.exit_code == 1
        if extra:
            assert refused.document["errors"][0]["error_type"] == "needs_confirmation"
    done = cli("sessions", "delete", project, conversation, "--yes", "--json")
    assert (done.exit_code, done.document) == (0, {"ok": True, "id": conversation, "deleted": True})
    assert cli("sessions", "list", project, "--json").document["sessions"] == []


def test_removed_restored_exported_and_imported(cli, project, conversation, tmp_path):
    target = tmp_path / "talk.json"
    assert cli("sessions", "export", project, conversation, "-o", target).exit_code == 0
    assert "30 days" in cli("sessions", "delete", project, conversation, "--yes").stdout
    [row] = cli("sessions", "list", project, "--removed", "--json").document["sessions"]
    assert (row["id"], row["size"] > 0) == (conversation, True)
    assert cli("sessions", "undelete", project, conversation[:10]).exit_code == 0
    assert "1 conversation, " in cli("sessions", "list", project).stdout
    cli("sessions", "delete", project, conversation, "--yes")
    cli("sessions", "delete", project, "last", "--removed", "--yes")
    assert cli("sessions", "list", project, "--removed", "--json").document["sessions"] == []
    assert cli("sessions", "import", project, target, "--json").document["id"] == conversation
    [row] = cli("sessions", "list", project, "--json").document["sessions"]
    assert (row["origin"], row["name"]) == ("elsewhere", "Amp")
    target.write_text("[]")
    done = cli("sessions", "import", project, target, "--json")
    assert (done.exit_code, done.document["errors"][0]["error_type"]) == (2, "bad_import")


@pytest.mark.parametrize(
    ("argv", "kind"),
    [
        (("show",), "bad_usage"),
        (("show", "../../etc/passwd"), "bad_session_id"),
        (("show", ""), "bad_session_id"),
        (("show", "01JEXAMP1E0000000000000000"), "no_session"),
        (("export", "last"), "no_session"),
        (("delete", "01JEXAMP1E", "--yes"), "no_session"),
        (("list", "x"), "bad_usage"),
        (("list", "--format", "md"), "bad_usage"),
        (("explode",), "bad_usage"),
    ],
)
def test_wrong_calls_are_told_and_end_with_2(cli, project, argv, kind):
    done = cli("sessions", argv[0], project, *argv[1:], "--json")
    assert done.exit_code == 2
    assert done.document["ok"] is False
    assert done.document["errors"][0]["error_type"] == kind


def test_a_folder_that_is_no_project(cli, tmp_path):
    done = cli("sessions", "list", tmp_path, "--json")
    assert (done.exit_code, done.document["errors"][0]["error_type"]) == (2, "no_project")


def test_a_damaged_line_is_told_and_the_rest_is_shown(cli, project, conversation):
    path = project / ".circuit_ai" / "conversations" / f"{conversation}.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:2], b"{rubbish\n", *lines[3:]]))
    document = cli("sessions", "show", project, conversation, "--json").document
    assert len(document["messages"]) == 3
    assert "3" in document["problems"][0]


def test_the_command_starts_without_the_heavy_parts(project, conversation):
    program = (
        "import sys; from bootstrap import build; from presentation.cli.entry import main;"
        f"code = main(['sessions', 'show', {str(project)!r}, 'last'], build);"
        "heavy = {'langchain_core', 'langgraph', 'pydantic', 'numpy', 'httpx', 'sqlite3'} & set(sys.modules);"
        "assert not heavy, heavy; sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("answer", "remain"), [("n", 1), ("", 1), ("y", 0)])
def test_on_a_terminal_deleting_is_asked(forked_commands, project, conversation, answer, remain):
    with terminal("sessions", "delete", str(project), conversation, commands=forked_commands) as screen:
        screen.wait_for("[y/N]")
        assert "Amp" in screen.shown
        screen.type(answer + "\n")
        assert screen.finish() == 0
    assert len(ProjectFolders().open(project).sessions.list()) == remain


def test_words_are_found_in_all_conversations(cli, project, conversation):
    other = new(project, said(m.create_human_message("把增益改成 20 dB")), name="Gain stage")
    [row] = cli("sessions", "search", project, "增益", "--json").document["sessions"]
    assert (row["id"], row["hit_count"], row["hits"][0]["role"]) == (other, 1, "user")
    text = cli("sessions", "search", project, "amplifier design").stdout
    assert conversation in text
    assert "Design an amplifier" in text
    assert other not in text
    assert other in cli("sessions", "search", project, "gain stage").stdout  # by its name
    assert (
        cli("sessions", "search", project, "never said").stdout.strip() == "No conversation has these words."
    )
    done = cli("sessions", "search", project, "--json")
    assert (done.exit_code, done.document["errors"][0]["error_type"]) == (2, "bad_usage")
    cli("sessions", "delete", project, other, "--yes")
    assert cli("sessions", "search", project, "增益", "--json").document["sessions"] == []
