"""Several processes at one conversation: one works on it, others follow, and take over after asking."""

from __future__ import annotations

import json
import os
import pty
from pathlib import Path

from tests.fakes.llm_server import FakeLLMServer, answer, call
from tests.ground.forked_commands import ForkedCommands
from tests.ground.forked_process import ForkedProcess
from tests.integration.cli.conftest import Cli

SLOW_DECK = "slow\nV1 a 0 SIN(0 1 1k)\nR1 a b 1k\nC1 b 0 1u\n.tran 1u 100\n.end\n"


def through(server: FakeLLMServer) -> tuple[str, ...]:
    return ("--provider", "openai-compatible", "--model", "m", "--base-url", server.base_url)


def read_until(process: ForkedProcess, wanted: str) -> str:
    assert process.stdout is not None
    for line in process.stdout:
        if wanted in line:
            return line
    raise AssertionError(f"it ended without {wanted}")


def session_of(process: ForkedProcess) -> str:
    return str(json.loads(read_until(process, '"session_id"'))["session_id"])


def test_a_run_is_followed_and_taken_over(forked_commands: ForkedCommands, cli: Cli, tmp_path: Path) -> None:
    """The first is told and its run stopped and saved; the follower sees all of it up to its end."""
    (tmp_path / "slow.cir").write_text(SLOW_DECK)
    script = [
        answer("I simulate\nthe circuit.\n", calls=[call("run_simulation", {"file_path": "slow.cir"})]),
        answer("Here I am."),
    ]
    with FakeLLMServer(script) as server:
        start = ("chat", tmp_path, "Simulate it", *through(server), "--json")
        then = ("--take-over", *through(server), "--json")
        with forked_commands.start(*start) as first:
            session_id = session_of(first)
            read_until(first, '"tool_start"')
            follow = ("sessions", "show", tmp_path, session_id, "--follow")
            with forked_commands.start(*follow) as follower:
                read_until(follower, "the circuit.")
                refused = cli("chat", tmp_path, "and?", "--session", session_id, *through(server), "--json")
                assert (refused.exit_code, refused.events[0]["error_type"]) == (2, "session_in_use")
                second = cli("chat", tmp_path, "and?", "--session", session_id, *then)
                assert (second.exit_code, second.events[-1]["stop_reason"]) == (0, "completed")
                out, _ = first.communicate(timeout=60)
                events = [json.loads(line) for line in out.splitlines()]
                assert first.returncode == 130
                assert [event["error_type"] for event in events if event["type"] == "error"] == ["taken_over"]
                assert (events[-1]["type"], events[-1]["stop_reason"]) == ("done", "stopped")
                followed, _ = follower.communicate(timeout=60)
    for told in ("I simulate", "and?", "Here I am."):
        assert (f"{told}\n" in followed) is (told != "I simulate"), (
            followed
        )  # the first lines were read before
    messages = cli("sessions", "show", tmp_path, session_id, "--json").document["messages"]
    assert [each["text"] for each in messages if each["role"] == "user"] == ["Simulate it", "and?"]
    assert [each["error_type"] for each in messages if each["role"] == "tool"] == ["stopped"]
    assert messages[-1]["text"] == "Here I am."
    assert not [*(tmp_path / ".circuit_ai" / "conversations").glob("*.wanted")]


def test_a_yes_on_the_terminal_takes_over_a_design_that_waits(
    forked_commands: ForkedCommands, cli: Cli, tmp_path: Path
) -> None:
    """A design asks at its checkpoint on one terminal; on another one its question is taken over.

    Until then no other design may begin in its project.
    """
    near, far = pty.openpty()
    with forked_commands.start("design", tmp_path, "RC low-pass, cutoff 1 kHz", terminal=far) as first:
        os.close(far)
        seen = ""
        while "[y/" not in seen and "?" not in seen[-80:]:
            seen += os.read(near, 4096).decode(errors="replace")
        second = cli("design", tmp_path, "RC high-pass, cutoff 1 kHz", "--yes", "--json")
        (why,) = (event for event in second.events if event["type"] == "error")
        assert (second.exit_code, why["error_type"]) == (2, "design_running")
        assert f"in process {first.pid} on " in why["message"]
        [info] = cli("sessions", "list", tmp_path, "--json").document["sessions"]
        done = cli("design", tmp_path, "--resume", "--session", info["id"], "--take-over", "--yes", "--json")
        assert (done.exit_code, done.events[-1]["goals_met"]) == (0, True)
        assert first.wait(timeout=60) == 130
    os.close(near)


def test_a_killed_owner_frees_the_conversation(
    forked_commands: ForkedCommands, cli: Cli, tmp_path: Path
) -> None:
    with FakeLLMServer([answer("Half", stall=True), answer("Here.")]) as server:
        with forked_commands.start("chat", tmp_path, "hi", *through(server), "--json") as first:
            session_id = session_of(first)
            read_until(first, '"token"')
            first.kill()
            first.wait(timeout=60)
        done = cli("chat", tmp_path, "go", "--session", session_id, *through(server), "--json")
        assert (done.exit_code, done.events[-1]["stop_reason"]) == (0, "completed")
