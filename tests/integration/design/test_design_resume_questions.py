"""Designs that wait, are stopped or break off: what is kept, what is asked again, what goes on."""

from __future__ import annotations

import asyncio
import json
import math
import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import bootstrap
from application.ports.events import (
    AnswerStreamed,
    DesignEvent,
    Done,
    ErrorOccurred,
    GoalsUnderstood,
    IterationFinished,
    SessionOpened,
    TextWritten,
    ToolStarted,
)
from application.workflow.designing import Answer, DesignRequest, Question, ResumeRequest
from domain.design import catalogue
from infrastructure.persistence.sessions import TranscriptFile
from shared.errors import CircuitError, EnvironmentProblem, NeedsConfirmation, UserInputError
from shared.message import msg
from tests.fakes.scripted_family import ScriptedFamily, only, rc_deck

TEXT = "An RC low-pass at 1 kHz"
Script = Callable[[Question], Answer]


@pytest.fixture(autouse=True)
def own_catalogue(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test sets in its place is gone afterwards."""
    monkeypatch.setattr(catalogue, "FAMILIES", catalogue.FAMILIES)


class Desk:
    """Somebody who designs in one project, several times."""

    def __init__(self, project: Path, *decks: str) -> None:
        self.project = project
        self.family = ScriptedFamily(*(decks or (rc_deck("2k"), rc_deck("1k"))))
        self.simulator: Any = None
        self.events: list[DesignEvent] = []
        self.questions: list[Question] = []

    async def design(self, text: str = TEXT, *, answer: Script | None = None) -> Done:
        return await self._go(DesignRequest(project=self.project, text=text), answer)

    async def resume(self, session_id: str = "", *, answer: Script | None = None, **more: Any) -> Done:
        return await self._go(ResumeRequest(project=self.project, session_id=session_id, **more), answer)

    async def _go(self, request: DesignRequest | ResumeRequest, answer: Script | None) -> Done:
        self.events, self.questions = [], []

        async def ask(question: Question) -> Answer:
            self.questions.append(question)
            if answer is not None:
                return await asyncio.to_thread(answer, question)
            return "continue" if question.kind == "goals" else question.recommended

        catalogue.FAMILIES = only(self.family)
        app = bootstrap.build(environment=os.environ, simulator=self.simulator)
        try:
            return await app.design.run(request, ask=ask, emit=self.events.append)
        finally:
            await app.close()

    @property
    def session_id(self) -> str:
        assert isinstance(self.events[0], SessionOpened)
        return self.events[0].session_id

    @property
    def kinds(self) -> list[str]:
        return [question.kind for question in self.questions]

    def told(self, kind: type) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    def lines(self, session_id: str) -> list[dict[str, Any]]:
        path = self.project / ".circuit_ai" / "conversations" / f"{session_id}.jsonl"
        events = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        return [{name: item for name, item in event.items() if name != "signature"} for event in events]

    def messages(self, session_id: str) -> list[dict[str, Any]]:
        return [line["message"] for line in self.lines(session_id) if "message" in line]


def nobody_at(*kinds: str) -> Script:
    """Nobody there to be asked questions of these kinds."""

    def answer(question: Question) -> Answer:
        if question.kind in kinds:
            raise NeedsConfirmation(msg("Stopped."))
        return "continue" if question.kind == "goals" else question.recommended

    return answer


def sizes_of_steps(project: Path) -> list[int]:
    """The sizes of the checkpoints' rows, in bytes."""
    with sqlite3.connect(project / ".circuit_ai" / "checkpoints.sqlite") as database:
        rows = database.execute("select length(checkpoint) from checkpoints").fetchall()
    database.close()
    return [size for (size,) in rows]


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def assert_every_call_has_one_result(messages: list[dict[str, Any]]) -> None:
    calls = [call["id"] for message in messages for call in message.get("tool_calls", ())]
    assert [message["tool_call_id"] for message in messages if message["type"] == "tool"] == calls


async def test_goals_nobody_confirmed_are_asked_about_again(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    with pytest.raises(NeedsConfirmation):
        await desk.design(answer=nobody_at("goals"))
    session = desk.session_id
    assert desk.lines(session)[-1] == {
        "event": "paused",
        "turn_id": desk.lines(session)[1]["step"],
        "reason": "needs_confirmation",
    }
    done = await desk.resume()
    assert (done.stop_reason, done.rounds) == ("goals_met", 2)
    assert desk.session_id == session
    assert desk.kinds == ["goals", "checkpoint", "checkpoint"]
    assert len(desk.told(GoalsUnderstood)) == 1, "the question comes with the goals it is about"


async def test_a_checkpoint_nobody_answered_is_asked_again_and_no_round_is_repeated(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    with pytest.raises(NeedsConfirmation):
        await desk.design(answer=nobody_at("checkpoint"))
    done = await desk.resume()
    assert (done.stop_reason, done.rounds) == ("goals_met", 2)
    assert desk.kinds == ["checkpoint", "checkpoint"]
    assert [event.number for event in desk.told(IterationFinished)] == [1, 2]
    assert [event.name for event in desk.told(ToolStarted)] == ["rewrite_file", "run_simulation"]
    assert len(list((tmp_path / ".circuit_ai" / "sim_results").iterdir())) == 2
    assert_every_call_has_one_result(desk.messages(desk.session_id))


async def test_steps_on_the_disk_are_small(tmp_path: Path) -> None:
    desk = Desk(tmp_path, *[rc_deck(f"{2000 + number}") + "* much\n" * 4000 for number in range(9)])
    with pytest.raises(NeedsConfirmation):
        await desk.design(
            answer=lambda question: nobody_at("checkpoint" if question.round_number == 2 else "")(question)
        )
    sizes = sizes_of_steps(tmp_path)
    assert len(sizes) == 1, "at a question the steps before it are forgotten"
    assert max(sizes) < 20_000


async def test_an_answer_that_was_lost_does_not_answer_for_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    append = TranscriptFile.append

    def full_at_decisions(self: TranscriptFile, *events: Any) -> None:
        if any(event["event"] == "decision" for event in events):
            raise EnvironmentProblem(msg("Stopped."), error_type="disk_full")
        append(self, *events)

    desk = Desk(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(TranscriptFile, "append", full_at_decisions)
        with pytest.raises(EnvironmentProblem):
            await desk.design()  # "continue" reached LangGraph, but not the transcript
    done = await desk.resume(answer=lambda question: "decline")
    assert (done.stop_reason, done.circuit) == ("declined", None)
    assert names_in(tmp_path) == [".circuit_ai"]


async def test_an_ended_run_cannot_be_gone_on_with(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    await desk.design()
    session = desk.session_id
    before = desk.lines(session)
    for name in ("", session):
        with pytest.raises(UserInputError) as caught:
            await desk.resume(name)
        assert caught.value.error_type == "nothing_to_resume"
        assert caught.value.advice is not None
        assert isinstance(desk.events[-2], ErrorOccurred)
        assert isinstance(desk.events[-1], Done)
    assert desk.lines(session) == before


@pytest.mark.parametrize("name", ["01ARZ3NDEKTSV4RRFFQ69G5FAV", "../elsewhere", "x" * 300])
async def test_a_session_that_is_not_there_is_named(tmp_path: Path, name: str) -> None:
    desk = Desk(tmp_path)
    await desk.design()
    with pytest.raises(UserInputError):
        await desk.resume(name)


async def test_a_folder_without_designs_has_nothing_to_go_on_with(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "missing"):
        with pytest.raises(UserInputError) as caught:
            await Desk(folder).resume()
        assert caught.value.error_type == "nothing_to_resume"
    assert names_in(tmp_path) == []


async def test_a_run_under_way_is_not_gone_on_with_twice(tmp_path: Path) -> None:
    first, second = Desk(tmp_path), Desk(tmp_path)
    asked, go_on = asyncio.Event(), asyncio.Event()

    catalogue.FAMILIES = only(first.family)
    app = bootstrap.build(environment=os.environ)

    async def ask(question: Question) -> Answer:
        asked.set()
        await go_on.wait()
        return "continue" if question.kind == "goals" else question.recommended  # type: ignore[return-value]

    try:
        request = DesignRequest(project=tmp_path, text=TEXT)
        running = asyncio.create_task(app.design.run(request, ask=ask, emit=first.events.append))
        await asked.wait()
        with pytest.raises(UserInputError) as caught:
            await second.resume()
        assert caught.value.error_type == "session_in_use"
        with pytest.raises(UserInputError) as caught:
            await second.design()  # of the same sentence: a project has one design at a time
        assert caught.value.error_type == "design_running"
        go_on.set()
        done = await running
        other = await second.design()
    finally:
        await app.close()
    assert "pending_run" not in second.kinds
    assert (done.circuit, other.circuit) == ("scripted.cir", "scripted_2.cir")
    assert second.session_id != first.session_id


async def test_the_same_sentence_goes_on_and_another_begins_anew(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    with pytest.raises(NeedsConfirmation):
        await desk.design(answer=nobody_at("goals"))
    pending = desk.session_id
    done = await desk.design("Something else")
    assert desk.kinds[0] == "pending_run"
    assert (desk.questions[0].text, desk.questions[0].recommended) == (TEXT, "anew")
    assert done.goals_met
    assert desk.session_id != pending
    assert pending in str(desk.told(TextWritten)[0].text), "it is told how to get back to it"
    await desk.design("A third one")
    assert "pending_run" not in desk.kinds, "nobody is asked about it again"
    done = await desk.design(TEXT)
    assert (desk.kinds[0], desk.questions[0].recommended) == ("pending_run", "resume")
    assert desk.session_id == pending
    assert done.goals_met


async def test_a_run_left_aside_is_gone_on_with_by_name(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    with pytest.raises(NeedsConfirmation):
        await desk.design(answer=nobody_at("goals"))
    pending = desk.session_id
    await desk.design("Something else")
    done = await desk.resume(pending)
    assert done.goals_met
    assert desk.session_id == pending


async def test_a_choice_nobody_can_make_leaves_the_pending_run_alone(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    with pytest.raises(NeedsConfirmation):
        await desk.design(answer=nobody_at("checkpoint"))
    session = desk.session_id
    before = desk.lines(session)
    with pytest.raises(NeedsConfirmation):
        await desk.design("Something else", answer=nobody_at("pending_run"))
    assert desk.lines(session) == before
    assert (await desk.resume()).goals_met


async def test_a_circuit_changed_at_the_checkpoint_is_not_overwritten(tmp_path: Path) -> None:
    desk = Desk(tmp_path)

    circuit, mine = tmp_path / "scripted.cir", rc_deck("3k")
    found: list[str] = []

    def change_and_go_on(question: Question) -> Answer:
        if question.kind == "goals":
            return "continue"
        found.append(circuit.read_text())
        if len(found) > 1:
            return "stop"
        circuit.write_text(mine)
        return "continue"

    done = await desk.design(answer=change_and_go_on)
    assert (found, circuit.read_text()) == ([rc_deck("2k"), mine], mine)
    said = "scripted.cir was changed since the last question."
    assert [str(event.text) for event in desk.told(TextWritten)] == [said]
    rounds = desk.told(IterationFinished)
    assert [event.number for event in rounds] == [1, 2], "what the user wrote is a round of its own"
    assert rounds[1].metrics["cutoff"] == pytest.approx(333, rel=0.01)
    assert (done.stop_reason, done.rounds) == ("goals_not_met", 2)
    assert (await desk.design()).circuit == "scripted_2.cir"


async def test_a_circuit_changed_between_plan_and_write_is_not_overwritten(tmp_path: Path) -> None:
    circuit = tmp_path / "scripted.cir"

    class Slow(ScriptedFamily):
        def revise(self, intent, previous, verdicts, say, tables):
            circuit.write_text("mine\n.end\n")
            return super().revise(intent, previous, verdicts, say, tables)

    desk = Desk(tmp_path)
    desk.family = Slow(rc_deck("2k"), rc_deck("1k"))
    answers = iter(("continue", "continue", "stop"))
    await desk.design(answer=lambda _question: next(answers))
    assert circuit.read_text() == "mine\n.end\n"
    messages = desk.messages(desk.session_id)
    assert_every_call_has_one_result(messages)
    refused = [message for message in messages if message["type"] == "tool" and message["status"] == "error"]
    assert [message["additional_kwargs"]["error_type"] for message in refused] == [
        "file_modified_externally",
        "simulation_failed",
    ]
    assert "modified by another program" in "".join(event.text for event in desk.told(AnswerStreamed))
    told = [str(event.text) for event in desk.told(TextWritten)]
    assert "scripted.cir was changed since the last question." in told
    assert len(sizes_of_steps(tmp_path)) == 1


async def stopped_in_simulation(desk: Desk) -> str:
    """A design that is stopped when its first simulation begins; its conversation."""
    catalogue.FAMILIES = only(desk.family)
    app = bootstrap.build(environment=os.environ)
    simulating = asyncio.Event()

    def emit(event: DesignEvent) -> None:
        desk.events.append(event)
        if isinstance(event, ToolStarted) and event.name == "run_simulation":
            simulating.set()

    async def ask(_question: Question) -> Answer:
        return "continue"

    try:
        request = DesignRequest(project=desk.project, text=TEXT)
        task = asyncio.create_task(app.design.run(request, ask=ask, emit=emit))
        await simulating.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    finally:
        await app.close()
    return desk.session_id


async def test_a_stopped_run_goes_on_where_it_was(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    session = await stopped_in_simulation(desk)
    assert isinstance(desk.events[-1], Done)
    assert desk.events[-1].stop_reason == "stopped"
    assert desk.lines(session)[-1]["reason"] == "stopped"
    done = await desk.resume()
    assert (done.stop_reason, done.rounds) == ("goals_met", 2)
    assert desk.session_id == session
    assert len(list((tmp_path / ".circuit_ai" / "sim_results").iterdir())) == 2
    assert_every_call_has_one_result(desk.messages(session))


async def test_what_is_changed_after_a_stop_is_told_and_simulated_first(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    session = await stopped_in_simulation(desk)
    circuit, mine = tmp_path / "scripted.cir", rc_deck("3k")
    circuit.write_text(mine)
    done = await desk.resume(answer=lambda _question: "stop")
    said = "scripted.cir was changed outside the design: that version is simulated."
    assert said in [str(event.text) for event in desk.told(TextWritten)]
    (judged,) = {event.number: event for event in desk.told(IterationFinished)}.values()
    assert judged.metrics["cutoff"] == pytest.approx(333, rel=0.01)
    assert (done.stop_reason, done.rounds, circuit.read_text()) == ("goals_not_met", 1, mine)
    assert_every_call_has_one_result(desk.messages(session))


async def test_a_circuit_that_is_removed_after_a_stop_is_a_failed_round(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    session = await stopped_in_simulation(desk)
    (tmp_path / "scripted.cir").unlink()
    answers = iter(("fix", "stop"))
    await desk.resume(answer=lambda _question: next(answers))
    assert "scripted.cir is not there any more." in str(desk.lines(session))
    first, second = {event.number: event for event in desk.told(IterationFinished)}.values()
    assert math.isnan(first.metrics["cutoff"])
    assert second.metrics["cutoff"] > 0, "the next round makes it again"
    assert_every_call_has_one_result(desk.messages(session))


async def test_what_was_missing_can_be_mended_before_it_goes_on(tmp_path: Path) -> None:
    class MissingSimulator:
        async def run(self, job, *, on_progress=None, watch=None):
            raise EnvironmentProblem(msg("ngspice is missing"))

        async def version(self):
            raise EnvironmentProblem(msg("ngspice is missing"))

    desk = Desk(tmp_path)
    desk.simulator = MissingSimulator()
    with pytest.raises(EnvironmentProblem):
        await desk.design()
    desk.simulator = None
    done = await desk.resume()
    assert (done.stop_reason, done.rounds) == ("goals_met", 2)
    assert_every_call_has_one_result(desk.messages(desk.session_id))


async def test_a_project_may_be_moved_before_it_goes_on(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "here")
    with pytest.raises(NeedsConfirmation):
        await desk.design(answer=nobody_at("checkpoint"))
    desk.project = (tmp_path / "here").rename(tmp_path / "there")
    done = await desk.resume()
    assert (done.stop_reason, done.project) == ("goals_met", tmp_path / "there")


async def test_the_number_of_rounds_is_that_of_the_beginning_or_a_new_one(tmp_path: Path) -> None:
    decks = [rc_deck(f"{9 - number}k") for number in range(6)]
    desk = Desk(tmp_path, *decks)
    with pytest.raises(NeedsConfirmation):
        await desk.design(answer=nobody_at("checkpoint"))
    done = await desk.resume(max_iterations=2)
    assert (done.stop_reason, done.rounds) == ("goals_not_met", 2)


async def test_a_stop_on_a_full_disk_is_a_stop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    append = TranscriptFile.append

    def full_at_the_end(self: TranscriptFile, *events: Any) -> None:
        if any(event["event"] == "paused" for event in events):
            raise EnvironmentProblem(msg("Stopped."), error_type="disk_full")
        append(self, *events)

    def stop(question: Question) -> Answer:
        raise asyncio.CancelledError

    desk = Desk(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(TranscriptFile, "append", full_at_the_end)
        with pytest.raises(asyncio.CancelledError):
            await desk.design(answer=stop)
    assert (await desk.resume()).goals_met


async def test_a_lost_backup_ends_a_run_for_good(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    with pytest.raises(NeedsConfirmation):
        await desk.design(answer=nobody_at("checkpoint"))
    await asyncio.to_thread(shutil.rmtree, tmp_path / ".circuit_ai" / "objects")
    with pytest.raises(EnvironmentProblem):
        await desk.resume()
    done = await desk.design()
    assert "pending_run" not in desk.kinds
    assert done.goals_met


async def test_a_refused_request_is_kept_with_its_answer(tmp_path: Path) -> None:
    class Unknowing(ScriptedFamily):
        def understand(self, sentence, claim, cards=None):
            raise CircuitError(msg("Stopped."), error_type="unknown_circuit")

    desk = Desk(tmp_path)
    desk.family = Unknowing(rc_deck("1k"))
    with pytest.raises(CircuitError):
        await desk.design("设计一个飞船")
    messages = desk.messages(desk.session_id)
    assert [(message["type"], message["content"]) for message in messages] == [
        ("user", "设计一个飞船"),
        ("assistant", "已停止。"),
    ]
    with pytest.raises(UserInputError):
        await desk.resume()
