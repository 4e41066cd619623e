"""`design --resume` as users and scripts see it: after a kill, a stop, or a question nobody answered."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.ground.campaign import campaigns
from tests.ground.forked_commands import ForkedCommands
from tests.ground.forked_process import ForkedProcess
from tests.integration.cli.conftest import ROOT, Cli
from tests.integration.cli.test_cli_terminal import terminal

FILTER = "Design a second-order Butterworth low-pass filter with a cutoff of 1 kHz"
OTHER = "Design a second-order Butterworth low-pass filter with a cutoff of 2 kHz"


def start(commands: ForkedCommands, project: Path) -> ForkedProcess:
    """A design under way."""
    scratch = {"TMPDIR": str(project.parent)}  # a killed one cannot remove its scratch folder
    return commands.start("design", project, FILTER, "--yes", "--json", environment=scratch)


def from_nothing(project: Path) -> subprocess.Popen[str]:
    """The same, as users start it."""
    argv = ("design", str(project), FILTER, "--yes", "--json")
    return subprocess.Popen(
        [sys.executable, str(ROOT / "main.py"), *argv],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def kill_at(commands: ForkedCommands, project: Path, wanted: str) -> bool:
    """Kill a design and all it started when the line of an event is on the screen.

    False when it was faster than the eye, and the design over by then.
    """
    with start(commands, project) as process:
        assert process.stdout is not None
        assert any(wanted in line for line in process.stdout)
        process.kill_group()
    return turn_states(project) == ["started"]


def transcript(project: Path) -> list[dict[str, object]]:
    (path,) = (project / ".circuit_ai" / "conversations").glob("*.jsonl")
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def turn_states(project: Path) -> list[object]:
    return [line["state"] for line in transcript(project) if line["event"] == "turn"]


def test_a_killed_design_goes_on(cli: Cli, forked_commands: ForkedCommands, tmp_path: Path) -> None:
    for number, event in enumerate(("goals", "tool_start", '"iteration"')):
        places = (tmp_path / f"{number}-{attempt}" for attempt in range(10))
        project = next(place for place in places if kill_at(forked_commands, place, event))
        run = cli("design", project, "--resume", "--yes", "--json")
        assert run.exit_code == 0, run.stdout + run.stderr
        kinds = [line["type"] for line in run.events]
        assert (kinds[0], kinds[-1], kinds.count("done")) == ("session", "done", 1)
        done = run.events[-1]
        assert (done["stop_reason"], done["rounds"]) == ("goals_met", 1)
        assert (project / done["circuit"]).is_file()
        assert len(list(project.glob("*.cir"))) == 1
        assert len(list((project / ".circuit_ai" / "sim_results").iterdir())) == 1
        assert turn_states(project) == ["started", "ended"]


@pytest.mark.timeout(1800)  # the whole campaign; the sample takes seconds
@campaigns(fast=1, whole=40)
def test_a_design_killed_at_any_moment_goes_on(
    campaign, cli: Cli, forked_commands: ForkedCommands, tmp_path: Path
) -> None:
    for number, rng in enumerate(campaign.cases()):
        project = tmp_path / str(number)
        with start(forked_commands, project) as process, contextlib.suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=rng.uniform(0.02, 0.8))
        run = cli("design", project, FILTER, "--yes", "--json")  # the same sentence goes on, or begins
        assert run.exit_code == 0, run.stdout + run.stderr
        assert run.events[-1]["goals_met"]
        circuits = [path.read_bytes() for path in project.glob("*.cir")]
        assert len(circuits) == 1


def test_a_stopped_design_goes_on(cli: Cli, forked_commands: ForkedCommands, tmp_path: Path) -> None:
    for sent, event in ((signal.SIGINT, "session"), (signal.SIGTERM, "tool_start")):
        project = tmp_path / event
        # What is started from nothing reads its modules after the first event, and is stopped in that.
        with from_nothing(project) if event == "session" else start(forked_commands, project) as process:
            assert process.stdout is not None
            line = next(line for line in process.stdout if event in line)
            assert json.loads(line)["type"] == event
            process.send_signal(sent)
            rest, stderr = process.communicate(timeout=30)
        assert (process.returncode, stderr) == (130, "")
        assert json.loads(rest.splitlines()[-1])["stop_reason"] == "stopped"
        conversations = list((project / ".circuit_ai" / "conversations").glob("*.jsonl"))
        assert len(conversations) == (event == "tool_start"), "none that nothing was said in"
        run = cli("design", project, FILTER, "--yes", "--json")
        assert run.exit_code == 0, run.stdout
        assert run.events[-1]["goals_met"]
        assert len(list(project.glob("*.cir"))) == 1


def test_a_question_waits_for_its_answer(cli: Cli, tmp_path: Path) -> None:
    asked = cli("design", tmp_path, FILTER, "--json")
    assert asked.exit_code == 1
    again = cli("design", tmp_path, "--resume", "--json")
    assert (again.exit_code, again.events[-2]["error_type"]) == (1, "needs_confirmation")
    anew = cli("design", tmp_path, OTHER, "--json")
    assert (anew.exit_code, anew.events[-2]["error_type"]) == (1, "needs_confirmation")
    assert [event["type"] for event in anew.events] == ["session", "error", "done"]
    answered = cli("design", tmp_path, "--resume", "--yes", "--json")
    assert answered.exit_code == 0
    assert answered.events[0] == asked.events[0] == again.events[0]
    assert [event["kind"] for event in answered.events if event["type"] == "confirm"] == [
        "goals",
        "checkpoint",
    ]
    ended = cli("design", tmp_path, "--resume", "--yes", "--json")
    assert (ended.exit_code, ended.events[-2]["error_type"]) == (2, "nothing_to_resume")
    assert ended.events[-2]["advice"]


def test_another_sentence_begins_anew_and_says_so(cli: Cli, tmp_path: Path) -> None:
    pending = cli("design", tmp_path, FILTER, "--json").events[0]["session_id"]
    run = cli("design", tmp_path, OTHER, "--yes", "--json")
    assert run.exit_code == 0
    assert run.events[0]["session_id"] != pending
    assert run.events[1] == {"type": "confirm", "kind": "pending_run", "answer": "anew"}
    assert pending in run.events[2]["text"]
    named = cli("design", tmp_path, "--resume", "--session", pending, "--yes", "--json")
    assert (named.exit_code, named.events[0]["session_id"]) == (0, pending)


@pytest.mark.parametrize(
    "arguments",
    [
        ("--resume", "a sentence"),
        (),
        ("--resume", "--max-iterations", "0"),
    ],
)
def test_bad_usage_is_one_object_and_leaves_nothing(
    cli: Cli, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    run = cli("design", tmp_path, *arguments, "--json")
    assert run.exit_code == 2
    assert run.document["errors"][0]["error_type"] == "bad_usage"
    assert run.document["errors"][0]["advice"]
    assert list(tmp_path.iterdir()) == []


def test_a_model_that_does_not_answer_leaves_a_design_to_go_on_with(cli: Cli, tmp_path: Path) -> None:
    choice = ("--provider", "openai-compatible", "--model", "m", "--base-url", "http://127.0.0.1:9/v1")
    run = cli("design", tmp_path, FILTER, *choice, "--yes", "--json")
    assert run.exit_code == 3
    assert [event["type"] for event in run.events] == ["session", "phase", "error", "done"]
    assert "127.0.0.1:9" in run.events[-2]["message"]
    # Whoever answers instead goes on from where it broke off.
    again = cli("design", tmp_path, "--resume", "--yes", "--json")
    assert (again.exit_code, again.events[-1]["stop_reason"]) == (0, "goals_met")


def test_the_conversation_holds_what_the_user_read(cli: Cli, tmp_path: Path) -> None:
    sentence = "设计一个截止频率为2kHz的一阶RC低通滤波器"
    run = cli("design", tmp_path, sentence, "--yes")
    assert run.exit_code == 0, run.stderr
    lines = [str(line["message"]["content"]) for line in transcript(tmp_path) if "message" in line]  # type: ignore[index]
    assert lines[0] == sentence
    assert lines[1].startswith("目标：\n")
    assert lines[-1] in run.stdout
    for text in lines[1], lines[-1]:
        assert text in run.stdout


def test_on_a_terminal_it_is_asked_whether_to_go_on(forked_commands: ForkedCommands, tmp_path: Path) -> None:
    with terminal("design", str(tmp_path), FILTER, commands=forked_commands) as screen:
        screen.wait_for("Design to these goals?")
        screen.type("\x03")
        assert screen.finish() == 130
    with terminal("design", str(tmp_path), OTHER, commands=forked_commands) as screen:
        screen.wait_for("Continue it instead of starting a new design?")
        screen.type("\n")
        screen.wait_for("Design to these goals?")
        assert f"Continuing: {FILTER}" in screen.shown
        assert "cutoff" in screen.shown, "the goals are shown again"
        screen.type("y\n")
        screen.wait_for("Accept this circuit?")
        screen.type("y\n")
        assert screen.finish() == 0
    assert len(list(tmp_path.glob("*.cir"))) == 1


def test_on_a_terminal_a_new_design_may_be_begun(forked_commands: ForkedCommands, tmp_path: Path) -> None:
    with terminal("design", str(tmp_path), FILTER, commands=forked_commands) as screen:
        screen.wait_for("Design to these goals?")
        screen.type("\x03")
        assert screen.finish() == 130
    with terminal("design", str(tmp_path), OTHER, commands=forked_commands) as screen:
        screen.wait_for("Continue it instead of starting a new design?")
        screen.type("n\n")
        screen.wait_for("Design to these goals?")
        assert "--resume --session" in screen.shown
        screen.type("n\n")
        assert screen.finish() == 1


def test_a_design_that_waits_in_another_process_is_in_use(
    cli: Cli, forked_commands: ForkedCommands, tmp_path: Path
) -> None:
    with terminal("design", str(tmp_path), FILTER, commands=forked_commands) as screen:
        screen.wait_for("Design to these goals?")
        refused = cli("design", tmp_path, "--resume", "--yes", "--json")
        assert (refused.exit_code, refused.events[-2]["error_type"]) == (2, "session_in_use")
        screen.type("n\n")
        assert screen.finish() == 1
