"""A design that is killed anywhere ends, when it is gone on with, as if nothing had happened."""

from __future__ import annotations

import json
import os
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from infrastructure.persistence.operations import SqliteOperationLog
from shared.paths import USER_HOME_VARIABLE
from tests.fakes.scripted_family import rc_deck
from tests.fakes.signed_transcript import sign_lines
from tests.ground import warm_python
from tests.ground.campaign import campaigns

WORSE_AND_WORSE = (rc_deck("2k"), rc_deck("3k"))
"""Two rounds, nothing left to try, and the first round's circuit put back."""


class Designs:
    """Orders designs from the server that forks them."""

    def __init__(self, driver: warm_python.Server) -> None:
        self._driver = driver

    def run(self, project: Path, *, resume: bool = False, kill_at: int | None = None) -> dict[str, Any]:
        order = {"project": str(project), "decks": WORSE_AND_WORSE, "resume": resume, "kill_at": kill_at}
        order["home"] = os.environ.get(USER_HOME_VARIABLE, str(project.parent / "home"))
        answer = json.loads(self._driver.ask(json.dumps(order)))
        assert isinstance(answer, dict)
        return answer


@pytest.fixture(scope="module")
def designs() -> Iterator[Designs]:
    driver = warm_python.start("tests.integration.design.resume_driver")
    yield Designs(driver)
    driver.end()


def lines_of(project: Path) -> list[dict[str, Any]]:
    """The transcript's events of the project's only conversation with a run in it."""
    found = []
    for path in (project / ".circuit_ai" / "conversations").glob("*.jsonl"):
        events = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        if any(event["event"] == "turn" for event in events):
            found.append(events)
    assert len(found) == 1
    return found[0]


def told(project: Path) -> list[Any]:
    """The transcript without what differs from run to run: ids, times, durations, places."""
    events = lines_of(project)
    calls: dict[str, int] = {}
    story: list[Any] = []
    for event in events:
        message = event.get("message")
        if message is None:
            kept = ("event", "kind", "answer", "state", "stop_reason", "reason")
            story.append({key: event[key] for key in kept if key in event})
            continue
        for call in message.get("tool_calls", ()):
            calls[call["id"]] = len(calls)
        text = re.sub(r"[\d.]+ s\b|sim_results/[\w-]+", "…", message["content"])
        # Killed between the result and what is told of it, the step takes that result.
        text = text.replace("These files were simulated before: that result is used.", "Simulated in ….")
        story.append(
            (
                message["type"],
                text.replace(str(project), "…"),
                [(calls[call["id"]], call["name"], call["args"]) for call in message.get("tool_calls", ())],
                calls.get(message.get("tool_call_id", "")),
                message.get("status"),
            )
        )
    return story


def effects(project: Path) -> list[Any]:
    """The operations: what was done in which order to what, and that each was done once."""
    log = SqliteOperationLog(project / ".circuit_ai" / "operations.sqlite")
    try:
        records = log.list()
    finally:
        log.close()
    calls = [
        call["id"] for event in lines_of(project) for call in event.get("message", {}).get("tool_calls", ())
    ]
    assert [record.op_id for record in records] == calls, "every call has its operation, in order"
    return [
        (record.tool, record.kind, record.state, record.path, record.before_sha256, record.after_sha256)
        for record in records
    ]


def assert_whole(project: Path) -> None:
    """Every call has one result, every result its file, and no step waits."""
    private = project / ".circuit_ai"
    messages = [event["message"] for event in lines_of(project) if "message" in event]
    calls = [call["id"] for message in messages for call in message.get("tool_calls", ())]
    answered = [message["tool_call_id"] for message in messages if message["type"] == "tool"]
    assert sorted(answered) == sorted(calls)
    simulated = [message for message in messages if message.get("name") == "run_simulation"]
    kept = {path.name for path in (private / "sim_results").iterdir()}
    named = {Path(message["additional_kwargs"]["result"]["result_path"]).parent.name for message in simulated}
    assert kept == named, "no result without its call, none lost"
    assert all((private / "sim_results" / name / "result.json").is_file() for name in kept)
    with sqlite3.connect(private / "checkpoints.sqlite") as database:
        (count,) = database.execute("select count(*) from checkpoints").fetchone()
        (waiting,) = database.execute("select count(*) from writes").fetchone()
    database.close()
    assert (count, waiting) == (1, 0), "the ended run's steps are pruned"
    assert sorted(path.name for path in project.iterdir()) == [".circuit_ai", "scripted.cir"]


@pytest.fixture(scope="module")
def undisturbed(designs: Designs, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    """A run nobody disturbs, and how many borders it crosses."""
    project = tmp_path_factory.mktemp("undisturbed")
    outcome = designs.run(project)
    assert (outcome["stop_reason"], outcome["rounds"]) == ("goals_not_met", 2)
    assert_whole(project)
    return project, outcome["crossed"]


def finish(designs: Designs, project: Path) -> None:
    """Go on with what is left of a run; where none was begun yet, begin it."""
    outcome = designs.run(project, resume=True)
    if outcome["error_type"] == "nothing_to_resume":
        assert not is_ended(project)
        assert not list(project.glob("*.cir")), "nothing happened before the run was begun"
        outcome = designs.run(project)
    assert outcome["status"] == 0
    assert (outcome["stop_reason"], outcome["rounds"]) == ("goals_not_met", 2)


def is_ended(project: Path) -> bool:
    return any(
        '"state":"ended"' in path.read_text("utf-8")
        for path in (project / ".circuit_ai" / "conversations").glob("*.jsonl")
    )


def assert_as_undisturbed(project: Path, undisturbed: Path) -> None:
    assert_whole(project)
    assert (project / "scripted.cir").read_bytes() == (undisturbed / "scripted.cir").read_bytes()
    assert told(project) == told(undisturbed)
    assert effects(project) == effects(undisturbed)


@pytest.mark.timeout(1800)  # the whole campaign; the sample takes seconds
@campaigns(fast=2, whole=300)
def test_killed_at_any_border_it_ends_as_if_undisturbed(
    campaign, designs: Designs, undisturbed: tuple[Path, int], tmp_path: Path
) -> None:
    reference, borders = undisturbed
    for number, rng in enumerate(campaign.cases()):
        project = tmp_path / str(number)
        assert designs.run(project, kill_at=rng.randint(1, borders))["status"] == -9
        while rng.random() < 0.3:  # killed again while it goes on
            designs.run(project, resume=True, kill_at=rng.randint(1, borders))
        if not is_ended(project):
            finish(designs, project)
        assert_as_undisturbed(project, reference)
        assert designs.run(project, resume=True)["error_type"] == "nothing_to_resume"


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("first", [40, pytest.param(1, marks=pytest.mark.torture)])
def test_killed_at_each_border_in_turn(
    first: int, designs: Designs, undisturbed: tuple[Path, int], tmp_path: Path
) -> None:
    reference, borders = undisturbed
    for kill_at in range(first, first + 2 if first > 1 else borders + 1):
        project = tmp_path / str(kill_at)
        assert designs.run(project, kill_at=kill_at)["status"] == -9
        if not is_ended(project):
            finish(designs, project)
        assert_as_undisturbed(project, reference)


def test_without_its_checkpoints_a_run_is_followed_by_its_transcript(
    designs: Designs, undisturbed: tuple[Path, int], tmp_path: Path
) -> None:
    reference, borders = undisturbed
    for kill_at in (borders // 2, borders - 8):
        project = tmp_path / str(kill_at)
        designs.run(project, kill_at=kill_at)
        for path in (project / ".circuit_ai").glob("checkpoints.sqlite*"):
            path.unlink()
        finish(designs, project)
        assert_as_undisturbed(project, reference)


def test_a_checkpoint_that_is_ahead_of_the_transcript_is_cut_back(
    designs: Designs, undisturbed: tuple[Path, int], tmp_path: Path
) -> None:
    """A power cut may take the transcript's last lines: what they told is done anew, and told again."""
    reference, borders = undisturbed
    designs.run(tmp_path, kill_at=borders - 10)
    path = next((tmp_path / ".circuit_ai" / "conversations").glob("*.jsonl"))
    lines = path.read_bytes().splitlines(keepends=True)
    assert "update" in json.loads(lines[-1])
    path.write_bytes(b"".join(lines[:-3]))
    finish(designs, tmp_path)
    assert (tmp_path / "scripted.cir").read_bytes() == (reference / "scripted.cir").read_bytes()
    said = told(tmp_path)
    said.remove({"event": "shortened"})  # that they were missing is told for good
    assert said == told(reference)


def test_without_its_transcript_there_is_nothing_to_go_on_with(
    designs: Designs, undisturbed: tuple[Path, int], tmp_path: Path
) -> None:
    _, borders = undisturbed
    designs.run(tmp_path, kill_at=borders // 2)
    for path in (tmp_path / ".circuit_ai" / "conversations").iterdir():
        path.unlink()
    assert designs.run(tmp_path, resume=True)["error_type"] == "nothing_to_resume"


@pytest.mark.parametrize("has_checkpoints", [True, False])
def test_a_hole_in_the_transcript_of_a_run_is_told_where_it_matters(
    has_checkpoints: bool, designs: Designs, undisturbed: tuple[Path, int], tmp_path: Path
) -> None:
    reference, borders = undisturbed
    designs.run(tmp_path, kill_at=borders // 2)
    if not has_checkpoints:
        (tmp_path / ".circuit_ai" / "checkpoints.sqlite").unlink()
    path = next((tmp_path / ".circuit_ai" / "conversations").glob("*.jsonl"))
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:4] + lines[5:]))
    assert designs.run(tmp_path, resume=True)["error_type"] == "not_adopted"
    sign_lines(path, lines[:4] + lines[5:])  # as a disk may lose them
    outcome = designs.run(tmp_path, resume=True)
    if has_checkpoints:
        assert (outcome["stop_reason"], outcome["rounds"]) == ("goals_not_met", 2)
        assert (tmp_path / "scripted.cir").read_bytes() == (reference / "scripted.cir").read_bytes()
    else:
        assert outcome["error_type"] == "session_damaged"
        assert designs.run(tmp_path, resume=True)["error_type"] == "nothing_to_resume", "it is over"
