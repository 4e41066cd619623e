"""Designs of the built-in designer as earlier versions left them, when it had nodes of its own.

The transcript was written by such a version; its checkpoints are lost, so that each step is followed.
"""

from __future__ import annotations

import asyncio
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import bootstrap
from application.design.plain_state import goal_from_plain
from application.ports.events import AnswerStreamed, IterationFinished
from application.workflow.designing import Answer, Question, Reply, ResumeRequest
from infrastructure.persistence.project import ProjectFolders
from shared.errors import CircuitError, UserInputError
from tests.fakes.signed_transcript import sign_lines
from tests.integration.design.walks import walks

LINES = Path(__file__).with_name("former_design.jsonl").read_bytes().splitlines()
EVENTS: list[dict[str, Any]] = [json.loads(line) for line in LINES]
PLANNED = next(at for at, event in enumerate(EVENTS) if event.get("update", {}).get("planned_change"))
CALL = EVENTS[PLANNED]["message"]["tool_calls"][0]
CIRCUIT = CALL["args"]["path"]


def stored(project: Path, lines: list[bytes]) -> None:
    """A project with this transcript, and the circuit it is about."""
    opened = ProjectFolders().open(project, create=True)
    content = CALL["args"]["content"].encode()
    assert opened.keep_object(content) == EVENTS[PLANNED]["update"]["planned_change"]["sha256"]
    opened.close()
    if len(lines) > PLANNED + 1:
        (project / CIRCUIT).write_bytes(content)
    conversations = project / ".circuit_ai" / "conversations"
    conversations.mkdir(exist_ok=True)
    sign_lines(conversations / f"{EVENTS[0]['session_id']}.jsonl", lines)


def circuits(project: Path) -> list[str]:
    return [path.name for path in project.glob("*.cir")]


async def resume(project: Path, *answers: Answer | Reply) -> tuple[list[Any], list[Question]]:
    events: list[Any] = []
    questions: list[Question] = []
    given = iter(answers)

    async def ask(question: Question) -> Answer | Reply:
        questions.append(question)
        return next(given)

    app = bootstrap.build(environment=os.environ)
    try:
        await app.design.run(ResumeRequest(project=project), ask=ask, emit=events.append)
    finally:
        await app.close()
    return events, questions


async def test_one_that_waits_goes_on_with_its_figures_and_its_circuit(tmp_path: Path) -> None:
    await asyncio.to_thread(stored, tmp_path, LINES)
    (cutoff,) = (
        goal_from_plain(each["goal"])
        for each in EVENTS[-2]["update"]["last_verdicts"]
        if each["goal"]["metric"] == "cutoff"
    )
    higher = (replace(cutoff, minimum=1.94e3, maximum=2.06e3, target=2e3),)
    events, questions = await resume(tmp_path, "continue", Reply(answer="continue", goals=higher), "accept")
    told = "".join(event.text for event in events if isinstance(event, AnswerStreamed))
    assert told.startswith("No remaining change would bring the goals closer."), "it knows its own circuit"
    judged = [event for event in events if isinstance(event, IterationFinished)]
    assert judged[-1].metrics["cutoff"] == pytest.approx(2e3, rel=0.03)
    assert [question.goals_met for question in questions] == [True, True, True]
    assert circuits(tmp_path) == [CIRCUIT]


def _planned_again() -> list[bytes]:
    """The design went on behind its first round, and was interrupted while it wrote the second."""
    turn = str(EVENTS[PLANNED]["step"]).partition("/")[0]
    update = {
        "step": f"{turn}/7",
        "step_number": 7,
        "current_node": "user_checkpoint",
        "user_intent": "continue",
    }
    decided = {"event": "decision", "kind": "checkpoint", "answer": "continue"}
    planned = json.loads(LINES[PLANNED].replace(CALL["id"].encode(), b"01J00000000000000000000000"))
    planned["message"]["id"] = "01J00000000000000000000001"
    planned |= {"step": f"{turn}/8"}
    planned["update"] |= {"step": f"{turn}/8", "step_number": 8, "current_node": "action"}
    added = [{**decided, "step": update["step"], "update": update}, planned]
    return [*LINES[:-1], *(json.dumps(each).encode() for each in added)]


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param(LINES[: PLANNED + 1], marks=walks("initial_design → write_circuit"), id="first"),
        pytest.param(_planned_again(), marks=walks("action → write_circuit"), id="second"),
    ],
)
async def test_one_that_was_interrupted_while_it_wrote_says_so_and_is_over(
    lines: list[bytes], tmp_path: Path
) -> None:
    await asyncio.to_thread(stored, tmp_path, lines)
    there = circuits(tmp_path)
    with pytest.raises(CircuitError) as caught:
        await resume(tmp_path)
    assert caught.value.error_type == "former_version"
    assert caught.value.advice is not None
    assert circuits(tmp_path) == there
    with pytest.raises(UserInputError) as over:
        await resume(tmp_path)
    assert over.value.error_type == "nothing_to_resume"
