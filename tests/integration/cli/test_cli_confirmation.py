"""Permissions from the command line: a question on a terminal, `--yes`, `permissions`, and `tool` by hand."""

from __future__ import annotations

from pathlib import Path

from tests.fakes.llm_server import FakeLLMServer, answer, call
from tests.ground.forked_commands import ForkedCommands
from tests.integration.cli.conftest import Cli
from tests.integration.cli.test_cli_terminal import terminal

OLD = "one\ntwo\n"
CALLS = [call("delete_file", {"path": name}) for name in ("a.cir", "b.cir", "c.cir")]


def _project(folder: Path) -> Path:
    for name in ("a.cir", "b.cir", "c.cir"):
        (folder / name).write_text(OLD)
    return folder


def _files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("*.cir"))


def test_each_call_is_asked_about_on_the_terminal(forked_commands: ForkedCommands, tmp_path: Path) -> None:
    project = _project(tmp_path)
    with FakeLLMServer([answer("", calls=CALLS), answer("Ready.")]) as server:
        model = ("--provider", "openai-compatible", "--model", "m", "--base-url", server.base_url)
        with terminal("chat", str(project), "Tidy up.", *model, commands=forked_commands) as screen:
            for name, reply in (("a.cir", "y\n"), ("b.cir", "\n"), ("c.cir", "still needed\n")):
                screen.wait_for(f"Delete {name}")
                screen.shown = screen.shown.partition(f"Delete {name}")[2]
                screen.wait_for("[y/N/a]")
                screen.type(reply)
            assert screen.finish() == 0
        told = [m["content"] for m in server.requests[-1]["messages"] if m["role"] == "tool"]
    assert _files(project) == ["b.cir", "c.cir"]
    assert told[0].startswith("Deleted")
    assert "refused_by_user" in told[1]
    assert "still needed" in told[2]


def test_deleting_by_hand_and_the_rules_of_a_project(cli: Cli, tmp_path: Path) -> None:
    project = _project(tmp_path)

    def tool(name: str, arguments: str, *more: str) -> str | None:
        error: str | None = cli("tool", name, arguments, "--project", project, *more).document["error_type"]
        return error

    assert tool("delete_file", '{"path": "a.cir"}') == "needs_confirmation"
    assert _files(project) == ["a.cir", "b.cir", "c.cir"]
    assert tool("delete_file", '{"path": "a.cir"}', "--yes") is None
    assert _files(project) == ["b.cir", "c.cir"]
    rule = ("--decision", "deny", "--path", "c.*")
    cli("permissions", "add", project, *rule)
    assert tool("delete_file", '{"path": "c.cir"}', "--yes") == "forbidden_by_rule"
    cli("permissions", "protect", project, "b.cir")
    shown = cli("permissions", "remove", project, *rule, "--json").document
    assert shown == {"ok": True, "rules": [], "protected": ["b.cir"], "consents": []}
    assert cli("permissions", "protect", project, "../x").exit_code == 2


def test_a_rule_that_could_never_hold_is_refused(cli: Cli, tmp_path: Path) -> None:
    project = _project(tmp_path)
    deny = ("permissions", "add", project, "--decision", "deny")
    for slip in (
        ("--tool", "delete_fil"),
        ("--tool", "other_tool"),
        ("--path", ""),
        ("--path", "../a.cir"),
        ("--path", "/etc/a.cir"),
    ):
        refused = cli(*deny, *slip)
        assert refused.exit_code == 2, slip
        assert refused.stderr.strip()
    assert cli("permissions", "list", project, "--json").document["rules"] == []
    kept = cli(*deny, "--tool", "delete_*", "--path", project / "a.cir", "--json").document["rules"]
    assert [(rule["tool"], rule["path"]) for rule in kept] == [("delete_*", "a.cir")]
    refused = cli("tool", "delete_file", '{"path": "a.cir"}', "--project", project, "--yes")
    assert refused.document["error_type"] == "forbidden_by_rule"
    gone = cli(
        "permissions",
        "remove",
        project,
        "--decision",
        "deny",
        "--tool",
        "delete_*",
        "--path",
        project / "a.cir",
    )
    assert gone.exit_code == 0
    assert cli("permissions", "list", project, "--json").document["rules"] == []


def test_a_rule_holds_for_the_path_behind_the_project_only(cli: Cli, tmp_path: Path) -> None:
    project = _project(tmp_path)
    add = ("permissions", "add", project, "lib/**", "--decision", "allow")
    assert cli(*add, "--path", "a.cir").exit_code == 2
    (rule,) = cli(*add, "--json").document["rules"]
    assert (rule["decision"], rule["path"]) == ("allow", "lib/**")


def test_rules_hold_for_a_circuit_that_a_call_leaves_out(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "main.cir").write_text("t\nV1 a 0 1\nR1 a 0 1k\n.op\n.end\n")
    cli("permissions", "add", tmp_path, "--decision", "deny", "--path", "main.cir")
    for name in ("run_simulation", "analyze_convergence"):
        refused = cli("tool", name, "{}", "--project", tmp_path, "--yes")
        assert refused.document["error_type"] == "forbidden_by_rule", name
