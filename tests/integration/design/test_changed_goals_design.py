"""Goals that were changed by the user, before a design and in the middle of it, and a round taken back.

Everything is real: the built-in designer, ngspice, the graph with its checkpoints, the log of operations.
"""

import asyncio
import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import bootstrap
from application.ports.events import (
    AnswerStreamed,
    CheckpointReached,
    DesignEvent,
    Done,
    GoalsUnderstood,
    IterationFinished,
    TextWritten,
)
from application.workflow.designing import Answer, DesignRequest, Question, Reply
from domain.simulation.goals import DesignGoal

SENTENCE = "2nd-order Butterworth low-pass filter, cut-off 10 kHz"
Decide = Callable[[Question], Answer | Reply]


def with_corner(goals: tuple[DesignGoal, ...], hertz: float) -> tuple[DesignGoal, ...]:
    return tuple(
        replace(goal, minimum=0.97 * hertz, maximum=1.03 * hertz, target=hertz)
        if goal.metric == "cutoff"
        else goal
        for goal in goals
    )


class Design:
    def __init__(self, project: Path) -> None:
        self.project = project
        self.events: list[DesignEvent] = []
        self.questions: list[Question] = []

    async def run(self, *answers: Decide) -> Done:
        given = iter(answers)

        async def ask(question: Question) -> Answer | Reply:
            self.questions.append(question)
            return await asyncio.to_thread(next(given), question)

        app = bootstrap.build(environment=os.environ)
        try:
            request = DesignRequest(project=self.project, text=SENTENCE)
            return await app.design.run(request, ask=ask, emit=self.events.append)
        finally:
            await app.close()

    @property
    def corners(self) -> list[float]:
        return [event.metrics["cutoff"] for event in self.events if isinstance(event, IterationFinished)]

    def document(self) -> dict[str, DesignGoal]:
        stored = json.loads(next((self.project / ".circuit_ai" / "goals").iterdir()).read_text())
        return {goal["metric"]: goal for goal in stored["goals"]}

    def circuits(self) -> dict[str, str]:
        return {path.name: path.read_text() for path in self.project.glob("*.cir")}


def confirm(question: Question) -> Answer:
    return "continue"


def accept(question: Question) -> Answer:
    return "accept"


def undo(question: Question) -> Answer:
    return "undo"


def go_on(question: Question) -> Answer:
    return "continue"


async def test_what_is_confirmed_is_what_is_designed(tmp_path: Path) -> None:
    design = Design(tmp_path)
    done = await design.run(
        lambda question: Reply(answer="continue", goals=with_corner(question.goals, 33e3)), accept
    )
    assert done.goals_met
    assert abs(done.metrics["cutoff"] / 33e3 - 1) < 0.03
    assert {verdict.goal.metric: verdict.goal.target for verdict in done.verdicts}["cutoff"] == 33e3
    assert design.document()["cutoff"]["target"] == 33e3
    told = [event for event in design.events if isinstance(event, GoalsUnderstood)]
    assert len(told) == 2  # as read, and as changed


async def test_a_goal_that_is_left_out_is_not_judged(tmp_path: Path) -> None:
    design = Design(tmp_path)
    done = await design.run(
        lambda question: Reply(
            answer="continue", goals=tuple(goal for goal in question.goals if goal.metric == "cutoff")
        ),
        accept,
    )
    assert done.goals_met
    assert [verdict.goal.metric for verdict in done.verdicts] == ["cutoff"]


async def test_goals_changed_at_a_checkpoint_hold_for_the_next_round(tmp_path: Path) -> None:
    design = Design(tmp_path)
    done = await design.run(
        confirm,
        lambda question: Reply(answer="continue", goals=with_corner(question.goals, 20e3)),
        accept,
    )
    assert done.goals_met
    assert done.rounds == 2
    assert [round(corner, -3) for corner in design.corners] == [10e3, 20e3]
    assert design.questions[2].goals_met
    assert design.document()["cutoff"]["target"] == 20e3
    assert len(design.circuits()) == 1


async def test_a_looser_limit_alone_is_judged_anew_without_another_circuit(tmp_path: Path) -> None:
    design = Design(tmp_path)
    before: dict[str, str] = {}

    def loosen(question: Question) -> Reply:
        before.update(design.circuits())
        goals = tuple(
            replace(goal, maximum=1.0) if goal.metric == "peaking" else goal for goal in question.goals
        )
        return Reply(answer="continue", goals=goals)

    done = await design.run(confirm, loosen, accept)
    assert done.goals_met
    assert design.circuits() == before
    assert {verdict.goal.metric: verdict.goal.maximum for verdict in done.verdicts}["peaking"] == 1.0


async def test_a_round_taken_back_leaves_file_figures_and_goals_of_the_one_before(tmp_path: Path) -> None:
    design = Design(tmp_path)
    files: list[dict[str, str]] = []

    def change(question: Question) -> Reply:
        files.append(design.circuits())
        return Reply(answer="continue", goals=with_corner(question.goals, 20e3))

    done = await design.run(confirm, change, undo, accept)
    assert design.circuits() == files[0]
    again = design.questions[3]
    assert (again.round_number, again.goals_met) == (1, True)
    assert {goal.metric: goal.target for goal in again.goals}["cutoff"] == 10e3
    assert done.goals_met
    assert round(done.metrics["cutoff"], -3) == 10e3
    assert design.document()["cutoff"]["target"] == 10e3


async def test_the_first_round_taken_back_leaves_nothing(tmp_path: Path) -> None:
    design = Design(tmp_path)
    done = await design.run(confirm, undo)
    assert (done.stop_reason, done.circuit, done.goals_met) == ("undone", None, False)
    assert design.circuits() == {}


async def test_what_somebody_made_of_a_file_that_is_taken_back_is_kept_aside(tmp_path: Path) -> None:
    design = Design(tmp_path)
    names: list[str] = []

    def meddle(question: Question) -> Answer:
        (path,) = tmp_path.glob("*.cir")
        names.append(f"{path.stem}_kept.cir")
        path.write_text("* mine\n")
        return "undo"

    done = await design.run(confirm, meddle)
    assert done.stop_reason == "undone"
    assert design.circuits() == {names[0]: "* mine\n"}


async def test_a_round_with_nothing_to_gain_leads_back_to_the_same_checkpoint(tmp_path: Path) -> None:
    design = Design(tmp_path)
    done = await design.run(confirm, go_on, go_on, accept)
    first, second, third = (question for question in design.questions if question.kind == "checkpoint")
    assert [question.is_exhausted for question in (first, second, third)] == [False, True, True]
    assert replace(second, is_exhausted=False) == first
    answered = "".join(event.text for event in design.events if isinstance(event, AnswerStreamed))
    assert answered.count("No remaining change would bring the goals closer.") == 2
    told = [str(event.text) for event in design.events if isinstance(event, TextWritten)]
    assert not told, "the designer has said why nothing changed"
    assert (done.stop_reason, done.rounds, len(design.circuits())) == ("goals_met", 1, 1)
    reached = [event for event in design.events if isinstance(event, CheckpointReached)]
    assert [event.number for event in reached] == [1, 1, 1]


async def test_after_a_round_with_nothing_to_gain_goals_may_be_changed_and_the_round_taken_back(
    tmp_path: Path,
) -> None:
    design = Design(tmp_path)
    done = await design.run(
        confirm,
        go_on,
        lambda question: Reply(answer="continue", goals=with_corner(question.goals, 33e3)),
        undo,
        undo,
    )
    exhausted = [question.is_exhausted for question in design.questions if question.kind == "checkpoint"]
    assert exhausted == [False, True, False, False]
    assert (done.stop_reason, design.circuits()) == ("undone", {})
