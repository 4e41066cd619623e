"""The workflow's rounds: real graph, real checkpoints, real ngspice; only the circuits are scripted."""

import asyncio
import dataclasses
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest

import bootstrap
from application.ports.events import (
    DesignEvent,
    Done,
    ErrorOccurred,
    IterationFinished,
    PhaseEntered,
    TextWritten,
    ToolEnded,
)
from application.workflow.designing import DesignRequest, Question, Reply
from domain.design import catalogue
from domain.llm.agentic_loop.policy import PHASES
from domain.llm.chat import ProviderChoice
from shared.errors import EnvironmentProblem, UserInputError
from shared.message import msg
from tests.fakes.scripted_family import ScriptedFamily, only, rc_deck

Answer = Literal["continue", "accept", "stop", "decline"]


@pytest.fixture(autouse=True)
def own_catalogue(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test sets in its place is gone afterwards."""
    monkeypatch.setattr(catalogue, "FAMILIES", catalogue.FAMILIES)


class Run:
    def __init__(self, project: Path, family: ScriptedFamily, *, rounds: int = 8, simulator=None) -> None:
        self._simulator = simulator
        self.project = project
        self.family = family
        self.events: list[DesignEvent] = []
        self.questions: list[Question] = []
        self._request = DesignRequest(project=project, text="anything", max_iterations=rounds)

    async def go(self, *answers: Answer | Callable[[], Answer | Reply]) -> Done:
        """Answer the first questions with `answers`, the others as recommended."""
        given = iter(answers)

        async def ask(question: Question) -> Answer | Reply:
            self.questions.append(question)
            fallback: Answer = "continue" if question.kind == "goals" else question.recommended
            answer = next(given, fallback)
            return await asyncio.to_thread(answer) if callable(answer) else answer

        catalogue.FAMILIES = only(self.family)
        app = bootstrap.build(environment=os.environ, simulator=self._simulator)
        try:
            return await app.design.run(self._request, ask=ask, emit=self.events.append)
        finally:
            await app.close()

    @property
    def phases(self) -> list[str]:
        """The nodes that ran, without the phases of the model's loop in them."""
        phases = [event.phase for event in self.events if isinstance(event, PhaseEntered)]
        return [phase for phase in phases if phase not in PHASES]

    @property
    def words(self) -> list[str]:
        return [str(event.text) for event in self.events if isinstance(event, TextWritten)]

    @property
    def circuit(self) -> str:
        return (self.project / "scripted.cir").read_text()


async def test_a_miss_is_resized_until_it_is_met(tmp_path: Path) -> None:
    run = Run(tmp_path, ScriptedFamily(rc_deck("2k"), rc_deck("1.2k"), rc_deck("1k"), rc_deck("5k")))
    done = await run.go()
    assert (done.stop_reason, done.rounds, done.circuit) == ("goals_met", 3, "scripted.cir")
    assert run.circuit == rc_deck("1k")
    assert run.phases == [
        *("design_goals", "initial_design", "simulation", "analysis"),
        *("action", "simulation", "analysis", "action", "simulation", "analysis", "conclude"),
    ]
    assert [netlist for netlist, _ in run.family.seen] == [rc_deck("2k"), rc_deck("1.2k")]
    assert math.isclose(run.family.seen[0][1][0], 500, rel_tol=0.01)
    cutoffs = [event.metrics["cutoff"] for event in run.events if isinstance(event, IterationFinished)]
    assert cutoffs == pytest.approx([500, 833, 1000], rel=0.01)


async def test_the_best_round_is_put_back_when_later_ones_are_worse(tmp_path: Path) -> None:
    run = Run(
        tmp_path,
        ScriptedFamily(rc_deck("2k"), rc_deck("1.2k"), rc_deck("3k"), rc_deck("4k"), rc_deck("1k")),
    )
    done = await run.go()
    assert done.stop_reason == "goals_not_met"
    assert done.rounds == 4, "two rounds without progress are enough"
    assert run.circuit == rc_deck("1.2k")
    assert math.isclose(done.metrics["cutoff"], 833, rel_tol=0.01)
    assert not done.goals_met


async def test_a_designer_with_nothing_left_ends_the_run(tmp_path: Path) -> None:
    run = Run(tmp_path, ScriptedFamily(rc_deck("2k")))
    done = await run.go()
    assert (done.stop_reason, done.rounds) == ("goals_not_met", 1)
    assert run.circuit == rc_deck("2k")


async def test_each_round_is_sized_on_from_its_own_circuit(tmp_path: Path) -> None:
    """Behind a round gone back to, an instruction, and values that somebody typed."""
    decks = [rc_deck(value) for value in ("5k", "4k", "3k", "2k", "1k")]
    run = Run(tmp_path, ScriptedFamily(*decks))
    path = tmp_path / "scripted.cir"
    held: list[str] = []

    def look(answer: Answer | Reply) -> Callable[[], Answer | Reply]:
        def looked() -> Answer | Reply:
            held.append(path.read_text())
            return answer

        return looked

    def typed() -> Answer:
        held.append(path.read_text())
        path.write_text(rc_deck("700"))
        return "continue"

    done = await run.go(
        lambda: "continue",
        look("continue"),
        look("continue"),
        look(Reply(answer="go_back", round_number=1)),
        look("continue"),
        look(Reply(answer="instruction", instruction="set R1 to 6k in scripted.cir")),
        look("continue"),
        typed,
        look("continue"),
        look("stop"),
    )
    values = ["5k", "4k", "3k", "5k", "4k", "6k", "5k", "700", "5k"]
    assert held == [rc_deck(value) for value in values]
    assert not done.goals_met


async def test_the_number_of_rounds_is_kept(tmp_path: Path) -> None:
    run = Run(tmp_path, ScriptedFamily(rc_deck("4k"), rc_deck("3k"), rc_deck("2k"), rc_deck("1k")), rounds=2)
    done = await run.go()
    assert (done.stop_reason, done.rounds) == ("goals_not_met", 2)
    assert [question.recommended for question in run.questions if question.kind == "checkpoint"] == [
        "continue",
        "stop",
    ]
    assert run.words[-1] == "No further round by itself: all 2 rounds used."


async def test_declined_goals_leave_no_circuit(tmp_path: Path) -> None:
    run = Run(tmp_path, ScriptedFamily(rc_deck("1k")))
    done = await run.go("decline")
    assert (done.stop_reason, done.circuit) == ("declined", None)
    assert _names_under(tmp_path) == [".circuit_ai"]
    assert not (tmp_path / ".circuit_ai" / "goals").exists()


async def test_a_user_may_stop_at_a_checkpoint(tmp_path: Path) -> None:
    run = Run(tmp_path, ScriptedFamily(rc_deck("2k"), rc_deck("1k")))
    done = await run.go("continue", "stop")
    assert (done.stop_reason, done.rounds) == ("goals_not_met", 1)
    assert not any("by itself" in words for words in run.words)
    assert run.circuit == rc_deck("2k")


async def test_a_circuit_that_does_not_simulate_is_given_up_after_three_fixes(tmp_path: Path) -> None:
    broken = rc_deck("1k").replace("C1 out 0 159.155n", "C1 out 0 159.155n\nD1 out 0 nomodel")
    run = Run(tmp_path, ScriptedFamily(*[broken + f"* {number}\n" for number in range(9)]))
    done = await run.go()
    assert done.stop_reason == "goals_not_met"
    assert done.rounds <= 3
    failed = [
        event for event in run.events if isinstance(event, ToolEnded) and event.name == "run_simulation"
    ]
    assert not any(event.success for event in failed)
    assert "nomodel" in str(failed[0].summary)


async def test_a_name_that_is_taken_by_anything_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "scripted.cir").mkdir()
    (tmp_path / "scripted_2.cir").symlink_to(tmp_path.parent / "elsewhere.cir")
    (tmp_path / "scripted_3.cir").write_text("mine\n")
    done = await Run(tmp_path, ScriptedFamily(rc_deck("1k"))).go()
    assert done.circuit == "scripted_4.cir"
    assert (tmp_path / "scripted_3.cir").read_text() == "mine\n"
    assert not (tmp_path.parent / "elsewhere.cir").exists()


async def test_a_name_outside_the_project_is_refused(tmp_path: Path) -> None:
    class Escaping(ScriptedFamily):
        def propose(self, intent, say, tables):
            return dataclasses.replace(super().propose(intent, say, tables), file_stem="../outside")

    run = Run(tmp_path / "project", Escaping(rc_deck("1k")))
    done = await run.go()
    assert (done.stop_reason, done.circuit) == ("goals_not_met", None)
    refused = [event for event in run.events if isinstance(event, ToolEnded)]
    assert refused
    assert not any(event.success for event in refused)
    assert _names_under(tmp_path) == ["project"]


async def test_an_effect_that_fails_says_why(tmp_path: Path) -> None:
    class MissingSimulator:
        async def run(self, job, *, on_progress=None, watch=None):
            raise EnvironmentProblem(msg("ngspice is missing"))

        async def version(self):
            return "ngspice-0"

        async def confinement(self):
            raise AssertionError

    run = Run(tmp_path, ScriptedFamily(rc_deck("1k")), simulator=MissingSimulator())
    with pytest.raises(EnvironmentProblem):
        await run.go()
    ended = [event for event in run.events if isinstance(event, ToolEnded)]
    assert (ended[-1].name, ended[-1].success) == ("run_simulation", False)
    assert str(ended[-1].summary) == "ngspice is missing"


async def test_an_unknown_provider_ends_with_error_and_done(tmp_path: Path) -> None:
    events: list[DesignEvent] = []

    async def never(question: Question) -> Answer:
        raise AssertionError(question)

    app = bootstrap.build(environment=os.environ)
    try:
        request = DesignRequest(project=tmp_path, text="x", choice=ProviderChoice(provider="nobody"))
        with pytest.raises(UserInputError):
            await app.design.run(request, ask=never, emit=events.append)
    finally:
        await app.close()
    assert isinstance(events[-2], ErrorOccurred)
    assert isinstance(events[-1], Done)


async def test_cancelling_ends_with_done_and_leaves_nothing_running(tmp_path: Path) -> None:
    run = Run(tmp_path, ScriptedFamily(rc_deck("1k")))
    catalogue.FAMILIES = only(run.family)
    started = asyncio.Event()
    append = run.events.append

    def emit(event: DesignEvent) -> None:
        append(event)
        if isinstance(event, PhaseEntered) and event.phase == "simulation":
            started.set()

    async def ask(question: Question) -> Answer:
        return "continue"

    app = bootstrap.build(environment=os.environ)
    try:
        task = asyncio.create_task(
            app.design.run(DesignRequest(project=tmp_path, text="x"), ask=ask, emit=emit)
        )
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    finally:
        await app.close()
    last = run.events[-1]
    assert isinstance(last, Done)
    assert last.stop_reason == "stopped"
    assert _names_under(tmp_path / ".circuit_ai" / "sim_results") == []


def _names_under(folder: Path) -> list[str]:
    return [path.name for path in folder.glob("*")]
