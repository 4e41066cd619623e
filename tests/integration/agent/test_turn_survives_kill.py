"""kill -9 at any point of a turn: nothing doubled, nothing lost, and three records that agree."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from langgraph.graph import START, StateGraph

from application.agent.loop import FREE_WORK
from application.graph.state import GraphState
from infrastructure.persistence.checkpoints import open_checkpointer
from tests.fakes.llm_server import FakeLLMServer
from tests.ground.campaign import Campaign, campaigns
from tests.ground.forked_commands import ForkedCommands, Outcome
from tests.integration.agent.scripted_turn import (
    CALLS,
    FAILING,
    FINAL_ANSWER,
    FINAL_DECK,
    FINAL_NOTES,
    NEXT_QUESTION,
    QUESTION,
    answers_so_far,
    is_continuation,
    next_answer,
)

pytestmark = pytest.mark.timeout(600)


@pytest.fixture
def commands(
    tmp_path: Path, forked_commands: ForkedCommands, monkeypatch: pytest.MonkeyPatch
) -> ForkedCommands:
    """A killed command cannot remove its scratch folder."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return forked_commands


@campaigns(fast=2, whole=100)
def test_killed_turn_goes_on_where_it_was(
    campaign: Campaign, tmp_path: Path, commands: ForkedCommands
) -> None:
    moments = _undisturbed(tmp_path / "undisturbed", commands)
    ended = 0
    for number, rng in enumerate(campaign.cases()):
        project = tmp_path / f"p{number}"
        kill_at = rng.randint(1, moments)
        with FakeLLMServer(next_answer) as server:
            killed = _chat(commands, server, project, QUESTION, kill_at=kill_at)
            if not killed.was_killed:
                ended += _has_ended_before(killed, project)
                continue
            sessions = _sessions(project)
            if not sessions:  # killed before the message was on the disk: nothing was done either
                assert not server.requests
                continue
            resumed = _chat(commands, server, project, "--resume")
            repeated = _repeated(server)
        if resumed.exit_code == 2:
            # The user's message had not been written, or the turn had been closed already.
            assert resumed.events[-1]["type"] == "done"
            assert _error_type(resumed) == "nothing_to_resume"
            _check(project, is_whole=_is_closed(sessions[0]))
            continue
        assert resumed.exit_code == 0, resumed
        assert repeated <= 1, f"{repeated} model calls were repeated after a kill at {kill_at}"
        _check(project, is_whole=True)
    assert ended <= 1 + campaign.count / 4


@campaigns(fast=1, whole=50)
def test_next_message_settles_a_killed_turn(
    campaign: Campaign, tmp_path: Path, commands: ForkedCommands
) -> None:
    moments = _undisturbed(tmp_path / "undisturbed", commands)
    ended = 0
    for number, rng in enumerate(campaign.cases()):
        project = tmp_path / f"p{number}"
        kill_at = rng.randint(1, moments)
        with FakeLLMServer(next_answer) as server:
            killed = _chat(commands, server, project, QUESTION, kill_at=kill_at)
            if not killed.was_killed:
                ended += _has_ended_before(killed, project)
                continue
            sessions = _sessions(project)
            if not sessions:
                continue
            asked = len(server.requests)
            after = _chat(commands, server, project, NEXT_QUESTION, "--session", sessions[0].stem)
            assert after.exit_code == 0, after
            # The old question is not asked again.
            assert len(server.requests) == asked + 1
        _check(project, is_whole=False)
    assert ended <= 1 + campaign.count / 4


@campaigns(fast=1, whole=30)
def test_kill_at_any_time(campaign: Campaign, tmp_path: Path, commands: ForkedCommands) -> None:
    for number, rng in enumerate(campaign.cases()):
        project = tmp_path / f"p{number}"
        with FakeLLMServer(next_answer) as server:
            _chat(commands, server, project, QUESTION, kill_after_s=rng.uniform(0.05, 1.5))
            if not _sessions(project):
                continue
            resumed = _chat(commands, server, project, "--resume")
            assert resumed.exit_code in (0, 2), resumed
            assert _repeated(server) <= 1
        _check(project, is_whole=resumed.exit_code == 0)


def test_damaged_checkpoints_leave_the_turn_to_be_resumed(tmp_path: Path, commands: ForkedCommands) -> None:
    checkpoints = tmp_path / ".circuit_ai" / "checkpoints.sqlite"
    with FakeLLMServer(next_answer) as server:
        assert _chat(commands, server, tmp_path, QUESTION, kill_at=60).was_killed
        for path in checkpoints.parent.glob("checkpoints.sqlite*"):
            path.unlink()
        checkpoints.write_bytes(b"not a database, certainly not one of ours" * 50)
        refused = _chat(commands, server, tmp_path, "--resume")
        assert (refused.exit_code, _error_type(refused)) == (3, "damaged")
        checkpoints.unlink()  # as the advice says
        assert _chat(commands, server, tmp_path, "--resume").exit_code == 0
        assert _repeated(server) <= 1
    _check(tmp_path, is_whole=True)


def test_a_damaged_log_leaves_the_turn_to_be_resumed(tmp_path: Path, commands: ForkedCommands) -> None:
    log = tmp_path / ".circuit_ai" / "operations.sqlite"
    with FakeLLMServer(next_answer) as server:
        assert _chat(commands, server, tmp_path, QUESTION, kill_at=70).was_killed
        kept = {path: path.read_bytes() for path in log.parent.glob("operations.sqlite*")}
        assert log in kept
        for path in kept:
            path.unlink()
        log.write_bytes(b"not a database, certainly not one of ours" * 50)
        refused = _chat(commands, server, tmp_path, "--resume")
        assert (refused.exit_code, _error_type(refused), refused.events[-1]["type"]) == (3, "damaged", "done")
        for path, content in kept.items():
            path.write_bytes(content)
        assert _chat(commands, server, tmp_path, "--resume").exit_code == 0
    _check(tmp_path, is_whole=True)


def _undisturbed(project: Path, commands: ForkedCommands) -> int:
    """The number of durable moments of the whole turn."""
    with FakeLLMServer(next_answer) as server:
        whole = _chat(commands, server, project, QUESTION, count_moments=True)
    assert whole.exit_code == 0, whole
    _check(project, is_whole=True)
    assert whole.moments > 50
    return whole.moments


def _has_ended_before(outcome: Outcome, project: Path) -> bool:
    """Of a turn that reached its end before the moment of its kill.

    What streams is put on the disk by the clock: a quicker turn has a few moments less than the one counted.
    """
    assert outcome.exit_code == 0, outcome
    _check(project, is_whole=True)
    return True


def _chat(commands: ForkedCommands, server: FakeLLMServer, project: Path, *text: str, **kill: Any) -> Outcome:
    options = ("--provider", "openai-compatible", "--model", "m", "--base-url", server.base_url, "--json")
    return commands.run("chat", project, *text, *options, **kill)


def _repeated(server: FakeLLMServer) -> int:
    """How many of the turn's model calls were made more than once."""
    counts = Counter((answers_so_far(body), is_continuation(body)) for body in server.requests)
    return sum(count - 1 for count in counts.values())


def _error_type(outcome: Outcome) -> str:
    return next(event["error_type"] for event in outcome.events if event["type"] == "error")


def _sessions(project: Path) -> list[Path]:
    """The conversations in which something was said."""
    files = sorted((project / ".circuit_ai" / "conversations").glob("*.jsonl"))
    return [path for path in files if any(line["event"] == "message" for line in _lines(path))]


def _lines(session: Path) -> list[dict[str, Any]]:
    whole = [line for line in session.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")]
    return [json.loads(line) for line in whole]


def _messages(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages as they stand at the end."""
    found = [event["message"] for event in events if event["event"] in ("message", "replaced")]
    return list({message["id"]: message for message in found}.values())


def _is_closed(session: Path) -> bool:
    return any(line.get("event") == "turn" and line["state"] == "ended" for line in _lines(session))


def _check(project: Path, *, is_whole: bool) -> None:
    """Files, operation log, transcript and checkpoint say the same."""
    (session,) = _sessions(project)
    events = _lines(session)
    messages = _messages(events)
    calls = [call for message in messages for call in message.get("tool_calls") or ()]
    results = {message["tool_call_id"]: message for message in messages if message["type"] == "tool"}
    assert len({call["id"] for call in calls}) == len(calls), "call ids of our own repeat"
    assert sorted(results) == sorted(call["id"] for call in calls), "a call has no result, or has two"
    assert len(results) == sum(message["type"] == "tool" for message in messages)
    operations = _operations(project)
    changed = {op_id: state for op_id, kind, state in operations if kind == "file"}
    for call in calls:
        if call["name"] in ("rewrite_file", "patch_file"):
            is_success = results[call["id"]]["status"] == "success"
            assert changed.pop(call["id"], "abandoned") == ("done" if is_success else "abandoned"), call
    assert not changed, "the log knows effects the transcript does not"
    _check_files(project, calls, results)
    _check_results(project, calls, results)
    _check_checkpoint(project, session.stem, messages)
    if is_whole:
        assert len(calls) == CALLS
        assert (project / "notes.md").read_text() == FINAL_NOTES
        assert (project / "rc.cir").read_text() == FINAL_DECK
        failed = [message for message in results.values() if message["status"] != "success"]
        assert len(failed) == FAILING
        assert ["has now failed 2 times" in message["content"] for message in failed] == [False, True]
        assert messages[-1]["content"] == FINAL_ANSWER


def _check_files(project: Path, calls: list[dict[str, Any]], results: dict[str, Any]) -> None:
    """Each file is what the calls that say they succeeded make of it, applied once, in order."""
    files: dict[str, str] = {}
    for call in calls:
        if results[call["id"]]["status"] != "success":
            continue
        arguments = call["args"]
        if call["name"] == "rewrite_file":
            files[arguments["path"]] = arguments["content"]
        elif call["name"] == "patch_file":
            assert files[arguments["path"]].count(arguments["search"]) == 1
            files[arguments["path"]] = files[arguments["path"]].replace(
                arguments["search"], arguments["replace"]
            )
    found = {
        path.name: path.read_text() for path in project.iterdir() if path.is_file() and path.name[0] != "."
    }
    assert found == files
    assert not list(project.glob(".*.tmp")), "a temporary file is left"


def _check_results(project: Path, calls: list[dict[str, Any]], results: dict[str, Any]) -> None:
    """One stored simulation for the call that succeeded, none for one that did not."""
    stored = list((project / ".circuit_ai" / "sim_results").glob("*"))
    simulated = [call for call in calls if call["name"] == "run_simulation"]
    done = [call for call in simulated if results[call["id"]]["status"] == "success"]
    assert len(stored) == len(done), stored
    assert all((folder / "result.json").is_file() for folder in stored)


def _operations(project: Path) -> list[tuple[str, str, str]]:
    path = project / ".circuit_ai" / "operations.sqlite"
    if not path.exists():
        return []
    with sqlite3.connect(path) as database:
        # Killed while the log was made, and not needed since: the next operation makes the table.
        is_made = database.execute("SELECT 1 FROM sqlite_master WHERE name = 'operations'").fetchone()
        rows = database.execute("SELECT op_id, kind, state FROM operations").fetchall() if is_made else []
    database.close()
    return rows


def _check_checkpoint(project: Path, session_id: str, messages: list[dict[str, Any]]) -> None:
    """The newest checkpoint is idle and knows the newest turn's messages, no more and no less."""
    state, waiting = asyncio.run(_newest_state(project, session_id))
    start = max(place for place, message in enumerate(messages) if message["type"] == "user")
    assert not waiting
    assert state["agent_steps"] == [message["id"] for message in messages[start:]]


async def _newest_state(project: Path, session_id: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    # The graph's shape is enough to tell what would come next.
    shape = StateGraph(GraphState)
    shape.add_node(FREE_WORK, _nothing)
    shape.add_edge(START, FREE_WORK)
    async with open_checkpointer(project / ".circuit_ai" / "checkpoints.sqlite", session_id) as saver:
        graph = shape.compile(checkpointer=saver)
        snapshot = await graph.aget_state({"configurable": {"thread_id": session_id}})
    return dict(snapshot.values), snapshot.next


def _nothing(_state: GraphState) -> GraphState:
    return {}
