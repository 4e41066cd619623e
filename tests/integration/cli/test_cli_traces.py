"""`traces`: turns of chats and designs, as a tree, as JSON, for other tools."""

from __future__ import annotations

import json
from pathlib import Path

from tests.integration.cli.conftest import Cli

DECK = "rc\nV1 in 0 dc 1 ac 1\nR1 in out 1k\nC1 out 0 100n\n.ac dec 10 1 1meg\n.end\n"


def test_what_a_turn_did_can_be_seen_and_handed_on(cli: Cli, tmp_path: Path) -> None:
    project = tmp_path / "p"
    project.mkdir()
    (project / "rc.cir").write_text(DECK)
    assert cli("chat", project, "simulate rc.cir").exit_code == 0
    assert cli("design", project, "a first order low-pass with a cutoff of 1 kHz", "--yes").exit_code == 0

    design, turn = cli("traces", "list", project, "--json").document["traces"]
    assert (turn["name"], design["name"]) == ("turn", "design")
    assert turn["attributes"]["outcome"] == "completed"
    assert design["attributes"]["outcome"] == "goals_met"

    spans = cli("traces", "show", project, turn["trace_id"][:32], "--json").document["spans"]
    names = [span["name"] for span in spans]
    assert names[:3] == ["turn", "free_work", "agent_loop"]
    assert {"llm_call 1", "tool run_simulation"} <= set(names)
    loop = spans[2]["span_id"]
    assert all(span["parent_id"] == loop for span in spans[3:])
    tool = next(span for span in spans if span["name"] == "tool run_simulation")
    assert tool["attributes"]["gen_ai.tool.name"] == "run_simulation"
    assert tool["status"] == "ok"
    told = json.dumps(spans)
    assert "simulate rc.cir" not in told, "a trace has no texts"
    assert "rc.cir" not in told

    tree = cli("traces", "show", project).stdout
    assert tree.startswith("design  "), "without a name the newest is meant"
    assert "\n  simulation  " in tree
    out = tmp_path / "trace.json"
    assert cli("traces", "export", project, turn["trace_id"], "-o", out).exit_code == 0
    exported = json.loads(out.read_text())["resourceSpans"][0]["scopeSpans"][0]["spans"]
    assert [span["name"] for span in exported] == names


def test_what_is_not_there_is_said(cli: Cli, tmp_path: Path) -> None:
    missing = cli("traces", "list", tmp_path)
    assert (missing.exit_code, "is not a project" in missing.stderr) == (2, True)
    (tmp_path / ".circuit_ai").mkdir()
    assert "No turn" in cli("traces", "list", tmp_path).stdout
    assert "There is no trace" in cli("traces", "show", tmp_path).stderr
    wrong = cli("traces", "show", tmp_path, "--format", "json")
    assert (wrong.exit_code, "--format and -o are only used" in wrong.stderr) == (2, True)
