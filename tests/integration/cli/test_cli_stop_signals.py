"""Signals for a command: in its first moments (the real thing), twice in a row, while it waits; kill -9."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.llm_server import FakeLLMServer, answer, call
from tests.ground.campaign import Campaign, campaigns
from tests.ground.forked_commands import ForkedCommands
from tests.ground.forked_process import ForkedProcess
from tests.integration.agent.scripted_turn import NEXT_QUESTION
from tests.integration.agent.stopping import ON_THE_WIRE, Peer, peer_for, session_of
from tests.integration.cli.conftest import Cli

ROOT = Path(__file__).resolve().parents[3]
SLOW_DECK = "slow\nV1 a 0 SIN(0 1 1k)\nR1 a b 1k\nC1 b 0 1u\n.tran 1u 100\n.end\n"
STOPS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def command(*argv: object) -> Iterator[subprocess.Popen[str]]:
    """A command that is started from nothing; its standard input stays open."""
    with subprocess.Popen(
        [sys.executable, str(ROOT / "main.py"), *map(str, argv)],
        env={**os.environ, "LANG": "C.UTF-8"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def chat(server: FakeLLMServer | Peer, project: Path, *text: str) -> tuple[object, ...]:
    model = ("--provider", "openai-compatible", "--model", "m", "--base-url", server.base_url)
    return ("chat", project, *text, *model, "--json")


def closed(process: subprocess.Popen[str] | ForkedProcess) -> list[dict[str, Any]]:
    """The rest of the events of a command that was stopped; it ended as a stopped one has to."""
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err == ""
    events = [json.loads(line) for line in out.splitlines()]
    assert [event["type"] for event in events].count("done") == 1
    assert (events[-1]["type"], events[-1]["stop_reason"]) == ("done", "stopped")
    return events


def wait_until_it_listens(process: subprocess.Popen[str]) -> None:
    """Until the process has its own handlers: long before it has read its modules."""
    status = Path(f"/proc/{process.pid}/status")
    while process.poll() is None:
        line = next(line for line in status.read_text().splitlines() if line.startswith("SigCgt"))
        if int(line.split()[1], 16) & (1 << (signal.SIGTERM - 1)):  # Python itself only listens to SIGINT
            return
        time.sleep(0.001)


def read_until(process: ForkedProcess, wanted: Callable[[dict[str, Any]], bool]) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        if wanted(json.loads(line)):
            return
    raise AssertionError("it ended before")


@pytest.mark.parametrize("number", STOPS)
@pytest.mark.parametrize("what", ["chat", "design"])
def test_a_stop_while_it_starts(what: str, number: signal.Signals, tmp_path: Path) -> None:
    with FakeLLMServer() as server:
        argv = chat(server, tmp_path, "Hello") if what == "chat" else ("design", tmp_path, "RC", "--json")
        with command(*argv) as process:
            wait_until_it_listens(process)
            process.send_signal(number)
            assert [event["type"] for event in closed(process)] == ["done"]
        assert not server.requests


def test_a_stop_of_a_command_with_one_document_while_it_starts(tmp_path: Path) -> None:
    with command("sessions", "list", tmp_path, "--json") as process:
        wait_until_it_listens(process)
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, "")
    assert json.loads(out)["ok"] is False


@pytest.mark.parametrize("first", STOPS)
@pytest.mark.parametrize("second", STOPS)
def test_two_stops_in_a_row_are_one(
    first: signal.Signals, second: signal.Signals, forked_commands: ForkedCommands, tmp_path: Path
) -> None:
    (tmp_path / "slow.cir").write_text(SLOW_DECK)
    script = answer("I try it.", calls=[call("run_simulation", {"file_path": "slow.cir"})])
    with (
        FakeLLMServer([script]) as server,
        forked_commands.start(*chat(server, tmp_path, "Simulate")) as process,
    ):
        read_until(process, lambda event: event["type"] == "tool_start")
        process.send_signal(first)
        process.send_signal(second)
        told = [event["type"] for event in closed(process) if event["type"] != "phase"]
        assert told == ["tool_end", "done"]
    assert results_per_call(tmp_path) == [1]
    assert not list((tmp_path / ".circuit_ai" / "sim_results").glob("*"))


@pytest.mark.timeout(600)
@campaigns(fast=1, whole=140)
def test_a_stop_at_random_moments_of_a_request(
    campaign: Campaign, forked_commands: ForkedCommands, cli: Cli, tmp_path: Path
) -> None:
    """The sample is a server whose queue of connections is full; the others are stopped in `agent/` too."""
    moments = sorted(ON_THE_WIRE, key=lambda moment: moment != "connect")
    seconds: dict[str, list[float]] = {}
    for number, rng in enumerate(campaign.cases()):
        moment = moments[number % len(moments)]
        project = tmp_path / f"p{number}"
        project.mkdir()
        with peer_for(moment) as peer, forked_commands.start(*chat(peer, project, "Hello")) as process:
            if peer.has_come is not None:
                peer.has_come()
            else:
                first = {"retry": "retry", "thinking": "reasoning"}.get(moment, "token")
                read_until(process, lambda event, first=first: event["type"] == first)
            time.sleep(rng.uniform(0, 0.2))  # at an instant that nothing marks
            began = time.monotonic()
            process.send_signal(signal.SIGINT)
            peer.wait_until_left()
            closed(process)
            seconds.setdefault(moment, []).append((time.monotonic() - began) * 1000)
        with FakeLLMServer([answer("Nothing else.")]) as server:
            after = cli(*chat(server, project, NEXT_QUESTION), "--session", session_of(project).stem)
        assert after.exit_code == 0, after.stderr
    for moment, took in seconds.items():
        median, longest = sorted(took)[len(took) // 2], max(took)
        print(f"{moment}: {len(took)} stops, the command had ended after {median:.0f} / {longest:.0f} ms")


@pytest.mark.parametrize("number", STOPS)
def test_a_stopped_run_keeps_what_it_has_computed(
    number: signal.Signals, forked_commands: ForkedCommands, tmp_path: Path
) -> None:
    (tmp_path / ".circuit_ai").mkdir()
    circuit = tmp_path / "slow.cir"
    circuit.write_text(SLOW_DECK)
    with forked_commands.start("simulate", circuit, "--json") as process:
        while process.poll() is None and not any(
            raw.stat().st_size > 100_000 for raw in (tmp_path / ".circuit_ai").rglob("*.raw")
        ):
            time.sleep(0.01)
        process.send_signal(number)
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    told = json.loads(out)
    assert (told["status"], told["verdict"], told["ok"]) == ("cancelled", "partial", False)
    assert [error["error_type"] for error in told["errors"]] == ["stopped"]
    assert 0 < told["reach"]["at"] < 100
    assert Path(told["raw_path"]).stat().st_size > 100_000
    assert Path(told["result_path"]).is_file()


def test_half_a_simulation_goes_even_if_it_cannot_be_repeated(
    forked_commands: ForkedCommands, tmp_path: Path
) -> None:
    results = tmp_path / ".circuit_ai" / "sim_results"
    circuit = tmp_path / "slow.cir"
    circuit.write_text(SLOW_DECK)
    script = answer("I try it.", calls=[call("run_simulation", {"file_path": "slow.cir"})])
    with FakeLLMServer([script, answer("The circuit is gone.")]) as server:
        with forked_commands.start(*chat(server, tmp_path, "Simulate")) as process:
            read_until(process, lambda event: event["type"] == "tool_start")
            while process.poll() is None and not list(results.glob("*/*")):
                time.sleep(0.001)
            process.kill()
        assert list(results.glob("*/*"))
        circuit.unlink()
        assert forked_commands.run(*chat(server, tmp_path, "--resume")).exit_code == 0
    assert not list(results.iterdir())


def results_per_call(project: Path) -> list[int]:
    (session,) = (project / ".circuit_ai" / "conversations").glob("*.jsonl")
    events = [json.loads(line) for line in session.read_bytes().splitlines()]
    messages = [event["message"] for event in events if event["event"] == "message"]
    return list(Counter(m["tool_call_id"] for m in messages if m["type"] == "tool").values())


@pytest.mark.parametrize("what", ["chat", "tool"])
def test_a_stop_while_standard_input_is_awaited(
    what: str, forked_commands: ForkedCommands, tmp_path: Path
) -> None:
    with FakeLLMServer() as server:
        tool = ("tool", "read_file", "-", "--project", tmp_path)
        with forked_commands.start(*(chat(server, tmp_path, "-") if what == "chat" else tool)) as process:
            assert process.stdin is not None
            process.stdin.write("x" * 500_000)  # more than a pipe holds: when it is written, it is being read
            process.stdin.flush()
            process.send_signal(signal.SIGINT)
            process.wait(timeout=60)
    assert process.returncode == 130
