"""`design` and `chat --mode workflow` with a language model are one command with the same JSON lines."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.fakes.designing_model import DesigningModel
from tests.fakes.llm_server import FakeLLMServer, Script, answer, call
from tests.integration.cli.conftest import Cli

WISH = "A new common-emitter amplifier with a gain of at least 20 dB at 10 kHz"
FIELDS = {
    "session": {"session_id"},
    "phase": {"phase", "round"},
    "goals": {"goals", "assumptions"},
    "confirm": {"kind", "answer"},
    "tool_start": {"id", "name", "arguments"},
    "tool_end": {"id", "name", "success", "summary"},
    "token": {"text"},
    "answer": {"message_id", "provider", "model", "usage", "cached_share", "cost", "saved", "cache_break"},
    "iteration": {"n", "metrics", "goals"},
    "checkpoint": {"n", "circuit", "goals_met"},
    "done": {"stop_reason", "usage", "cost", "circuit", "goals_met", "goals", "metrics", "rounds"},
}
_CHANGES = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}|[\d.]+ m?s\b|sim_results/[\w-]+")


def test_both_ways_print_the_lines_that_are_documented(cli: Cli, tmp_path: Path) -> None:
    told = []
    for command in (["design"], ["chat", "--mode", "workflow"]):
        model = DesigningModel()

        def script(body: Any, model: DesigningModel = model) -> Script:
            said = model(body)
            calls = [call(name, arguments, id=f"c{n}") for n, (name, arguments) in enumerate(said.calls)]
            return answer(said.text, calls=calls)

        project = tmp_path / command[0]
        with FakeLLMServer(script, models=["m"]) as server:
            options = ("--provider", "openai-compatible", "--model", "m", "--base-url", server.base_url)
            name, *more = command
            run = cli(name, project, WISH, *more, *options, "--yes", "--json")
        assert run.exit_code == 0, run.stdout + run.stderr
        told.append([_plain(event, str(project)) for event in _in_one_piece(run.events)])
        for event in run.events:
            assert FIELDS[event["type"]] <= event.keys(), event
        kinds = [event["type"] for event in run.events]
        assert (kinds[0], kinds[-1], kinds.count("done")) == ("session", "done", 1)
        assert set(kinds) == FIELDS.keys()
    assert told[0] == told[1]


def test_a_lost_connection_is_followed_by_the_way_on(cli: Cli, tmp_path: Path) -> None:
    model = DesigningModel()

    def script(body: Any) -> Script:
        said = model(body)
        calls = [call(name, arguments, id=f"c{n}") for n, (name, arguments) in enumerate(said.calls)]
        return answer(said.text, calls=calls, drop=bool(calls))

    with FakeLLMServer(script, models=["m"]) as server:
        options = ("--provider", "openai-compatible", "--model", "m", "--base-url", server.base_url)
        run = cli("design", tmp_path / "amplifier", WISH, *options, "--yes")
    assert run.exit_code != 0
    assert f"--resume --provider openai-compatible --model m --base-url {server.base_url}" in run.stderr
    assert 'Say "continue"' not in run.stderr


def _in_one_piece(events: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each text as one token: in how many pieces it comes is the network's."""
    joined: list[dict[str, Any]] = []
    for event in events:
        if event["type"] == "token" and joined and joined[-1]["type"] == "token":
            joined[-1] = {**joined[-1], "text": joined[-1]["text"] + event["text"]}
        else:
            joined.append(event)
    return joined


def _plain(event: dict[str, Any], project: str) -> str:
    """Without what differs from run to run: ids, times, durations, places."""
    event = {key: value for key, value in event.items() if key not in ("created", "first_s", "seconds")}
    return _CHANGES.sub("…", json.dumps(event, ensure_ascii=False).replace(project, "…"))
