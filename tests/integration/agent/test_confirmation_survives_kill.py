"""kill -9 around a question: it is asked again, answered once, and no effect comes without its answer."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.llm_server import FakeLLMServer, Script, answer, call
from tests.ground.campaign import Campaign, campaigns
from tests.ground.forked_commands import ForkedCommands, Outcome
from tests.integration.agent.scripted_turn import answers_so_far

pytestmark = pytest.mark.timeout(600)

OLD = "old one\nold two\n"
NEW = "new\n"
CALLS = [
    call("rewrite_file", {"path": "a.cir", "content": NEW}),
    call("rewrite_file", {"path": "b.cir", "content": NEW}),
]


@pytest.fixture
def commands(
    tmp_path: Path, forked_commands: ForkedCommands, monkeypatch: pytest.MonkeyPatch
) -> ForkedCommands:
    """A killed command cannot remove its scratch folder."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return forked_commands


def _script(body: dict[str, Any]) -> Script:
    said = str(next(m for m in reversed(body["messages"]) if m["role"] == "user")["content"])
    if "NEXT" in said or answers_so_far(body):
        return answer("Done.")
    return answer("Both at once.", calls=CALLS)


def _project(folder: Path) -> Path:
    folder.mkdir()
    for name in ("a.cir", "b.cir"):
        (folder / name).write_text(OLD)
    return folder


def _chat(
    commands: ForkedCommands, server: FakeLLMServer, project: Path, *more: object, **how: Any
) -> Outcome:
    model = ("--provider", "openai-compatible", "--model", "m", "--base-url", server.base_url)
    return commands.run("chat", project, *more, *model, "--json", **how)


def _lines(project: Path) -> list[dict[str, Any]]:
    files = sorted((project / ".circuit_ai" / "conversations").glob("*.jsonl"))
    return [
        json.loads(line)
        for file in files
        for line in file.read_text().splitlines(keepends=True)
        if line.endswith("\n")
    ]


_MADE_ONCE = 10
"""Moments at most that only the first command on a new user's folder has."""


_ENOUGH = 15
"""Killed behind the answer so often, their shares say something: two of three are a matter of luck."""


def _confirmations(project: Path) -> list[str]:
    return [line["state"] for line in _lines(project) if line["event"] == "confirmation"]


def _results(project: Path) -> list[str]:
    messages = [line["message"] for line in _lines(project) if line["event"] == "message"]
    return [message["content"] for message in messages if message["type"] == "tool"]


def _killed_while_it_waits(tmp_path: Path, commands: ForkedCommands, moments: int) -> Path:
    """A project whose command was killed between the question and its answer; found by halving."""
    low, high = 1, moments
    while low <= high:
        middle = (low + high) // 2
        project = _project(tmp_path / f"waits{middle}")
        with FakeLLMServer(_script) as server:
            assert _chat(commands, server, project, "Go.", "--yes", kill_at=middle).was_killed
        match _confirmations(project):
            case ["asked"]:
                return project
            case []:
                low = middle + 1
            case _:
                high = middle - 1
    raise AssertionError("the question was never on the disk before its answer")


def _moments(folder: Path, commands: ForkedCommands) -> int:
    with FakeLLMServer(_script) as server:
        outcome = _chat(commands, server, _project(folder), "Go.", "--yes", count_moments=True)
    assert outcome.exit_code == 0, outcome
    kinds = [event["state"] for event in outcome.events if event["type"] == "confirm"]
    assert kinds == ["asked", "answered"]
    assert (folder / "a.cir").read_text() == (folder / "b.cir").read_text() == NEW
    return outcome.moments


def test_open_question_is_asked_again_or_refused_by_the_next_message(
    tmp_path: Path, commands: ForkedCommands
) -> None:
    project = _killed_while_it_waits(tmp_path, commands, _moments(tmp_path / "whole", commands))
    assert (project / "a.cir").read_text() == (project / "b.cir").read_text() == OLD
    (asked,) = (line["card"]["card_id"] for line in _lines(project) if line["event"] == "confirmation")
    copied = tmp_path / "copied"
    shutil.copytree(project, copied)

    with FakeLLMServer(_script) as server:
        resumed = _chat(commands, server, project, "--resume", "--yes")
        assert len(server.requests) == 1  # only the answer behind the calls
    assert resumed.exit_code == 0, resumed
    (again,) = (e["id"] for e in resumed.events if e["type"] == "confirm" and e["state"] == "asked")
    assert again == asked
    assert _confirmations(project) == ["asked", "answered"]
    assert (project / "a.cir").read_text() == (project / "b.cir").read_text() == NEW

    with FakeLLMServer(_script) as server:
        after = _chat(commands, server, copied, "NEXT: something else.", "--session", "last", "--yes")
    assert after.exit_code == 0, after
    assert not [event for event in after.events if event["type"] == "confirm"]
    assert ["refused_by_user" in result for result in _results(copied)] == [True] * len(CALLS)
    assert (copied / "a.cir").read_text() == (copied / "b.cir").read_text() == OLD


@campaigns(fast=1, whole=60)
def test_no_effect_without_its_answer_wherever_it_is_killed(
    campaign: Campaign, tmp_path: Path, commands: ForkedCommands
) -> None:
    moments = _moments(tmp_path / "whole", commands)
    done = asked_again = 0
    for number, rng in enumerate(campaign.cases()):
        project = _project(tmp_path / f"p{number}")
        kill_at = rng.randint(1, moments)
        with FakeLLMServer(_script) as server:
            begun = _chat(commands, server, project, "Go.", "--yes", kill_at=kill_at)
            if not begun.was_killed:  # the first command of all also made files of the user's folder
                assert kill_at > moments - _MADE_ONCE, kill_at
                assert begun.exit_code == 0, begun
                continue
            states = _confirmations(project) if (project / ".circuit_ai" / "conversations").is_dir() else []
            written = [(project / name).read_text() == NEW for name in ("a.cir", "b.cir")]
            assert "answered" in states or not any(written), kill_at
            # Nobody is there to be asked now: what was allowed before is done, nothing else.
            resumed = _chat(commands, server, project, "--resume")
        if resumed.exit_code != 0:
            assert resumed.exit_code == 2, resumed  # there was no turn yet, or none any more
            continue
        texts = [(project / name).read_text() for name in ("a.cir", "b.cir")]
        assert set(texts) <= {OLD, NEW}, kill_at  # nothing by halves
        told = _results(project)
        assert len(told) == len(CALLS), kill_at
        assert ["needs_confirmation" in result for result in told] == [text == OLD for text in texts], kill_at
        if "answered" not in states:
            assert NEW not in texts, kill_at
        elif OLD in texts:
            # Killed between the note that the answer is used and the record of the call: only this one is
            # asked again.
            assert texts.count(OLD) == 1, kill_at
            assert _confirmations(project)[len(states) :].count("asked") == 1, kill_at
            asked_again += 1
        else:
            done += 1
    if done + asked_again >= _ENOUGH:
        assert done >= asked_again, "the moment between the two is short"
