"""The same turn through the built-in model and a server runs the same tools and leaves the same files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.llm_server import FakeLLMServer, Script, answer, call
from tests.integration.cli.conftest import Cli

DECK = "RC low-pass\nVin in 0 DC 0 AC 1\nR1 in out 1k\nC1 out 0 1u\n.ac dec 10 1 100k\n.end\n"

SENTENCES = (
    "design a first order low-pass filter with a cutoff of 1 kHz",
    "把 rc.cir 的 R1 改成 2k，然后仿真",
    "simulate rc.cir",
    "change C1 to 220n in rc.cir",
)


@pytest.mark.parametrize("text", SENTENCES)
def test_same_tools_and_files(cli: Cli, tmp_path: Path, text: str) -> None:
    first, second = tmp_path / "one", tmp_path / "two"
    for project in (first, second):
        project.mkdir()
        (project / "rc.cir").write_text(DECK)
    ours = cli("chat", first, text, "--json")
    assert ours.exit_code == 0, ours.stdout
    with FakeLLMServer(_replay(first)) as server:
        options = ("--provider", "openai-compatible", "--model", "m", "--base-url", server.base_url)
        theirs = cli("chat", second, text, *options, "--json")
    assert theirs.exit_code == 0, theirs.stdout
    assert _tools(ours.events) == _tools(theirs.events)
    assert any(name in ("rewrite_file", "patch_file", "run_simulation") for name, _, _ in _tools(ours.events))
    assert all(success for _, _, success in _tools(ours.events))
    assert _files(first) == _files(second)
    assert _answers(ours.events) == _answers(theirs.events)


def _replay(project: Path) -> list[Script]:
    """The answers of a recorded turn, as a server would send them."""
    (session,) = (project / ".circuit_ai" / "conversations").glob("*.jsonl")
    events = [json.loads(line) for line in session.read_text().splitlines()]
    messages = [event["message"] for event in events if event["event"] == "message"]
    return [
        answer(
            message["content"],
            calls=[call(one["name"], one["args"], id="call_1") for one in message.get("tool_calls") or ()],
        )
        for message in messages
        if message["type"] == "assistant"
    ]


def _tools(events: list[dict[str, Any]]) -> list[tuple[str, str, bool]]:
    ends = {event["id"]: event["success"] for event in events if event["type"] == "tool_end"}
    return [
        (event["name"], json.dumps(event["arguments"], sort_keys=True), ends[event["id"]])
        for event in events
        if event["type"] == "tool_start"
    ]


def _answers(events: list[dict[str, Any]]) -> str:
    return "".join(event["text"] for event in events if event["type"] == "token")


def _files(project: Path) -> dict[str, bytes]:
    return {
        path.relative_to(project).as_posix(): path.read_bytes()
        for path in project.rglob("*")
        if path.is_file() and ".circuit_ai" not in path.parts
    }
