"""Limits, refusals and failures inside a design by a model: told in words, gone on from at a checkpoint."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from application.ports.events import AlternativeTaken, CheckpointReached, ConfirmationNeeded, Done, ToolEnded
from application.workflow.designing import Answer, DesignRequest, Question, Reply, ResumeRequest
from domain.llm.chat import ProviderChoice, ProviderError
from shared.errors import NeedsConfirmation, UserInputError
from tests.fakes.designing_model import GOALS, amplifier, in_turn, writes
from tests.fakes.designing_model import Reply as Said
from tests.fakes.llm_server import FakeLLMServer, OllamaSide, Script, answer, call, chunk, error
from tests.integration.design.test_design_by_model import TEXT, Bench, recommended

PRICES = {"openai-compatible m": {"input": 100, "output": 1000}}
ONE_ANSWER = (90 * 100 + 7 * 1000) / 1e6
"""Of the fake server's usage, in USD."""
TOO_LONG = error(400, "This model's maximum context length is 4096 tokens", code="context_length_exceeded")


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path / "project", tmp_path / "home")


def lists_again(_request: Any) -> Said:
    return Said(calls=[("list_project_files", {})])


def lists_something_else(request: Any) -> Said:
    return Said(calls=[("read_file", {"path": f"nothing_{request.answers}.cir"})])


async def test_a_design_ends_its_requests_when_it_has_cost_what_it_may(bench: Bench) -> None:
    bench.settings = {"prices": PRICES}
    done = await bench.design(max_cost=(2.5 * ONE_ANSWER, "USD"))
    # Goals and two answers of the first design; no request for another round.
    assert len(bench.model.seen) == 3
    assert (done.stop_reason, done.rounds) == ("goals_not_met", 1)
    assert any("0.048 USD" in word and "limit" in word for word in bench.words), bench.words
    assert bench.questions[-1].recommended == "stop"
    assert done.cost.amounts == done.session_cost.amounts == {"USD": pytest.approx(3 * ONE_ANSWER)}


@pytest.mark.parametrize("what", ["goals", "comment"])
async def test_an_answer_without_end_is_not_received_to_its_end(bench: Bench, what: str) -> None:
    """The wire takes two million frames: gigabytes were kept of goals and comments nobody could read."""
    endless = Script(pieces=(chunk({"content": "The gain is high. " * 4000}),) * 400, ending="stall")
    bench.scripts = [endless, endless]
    if what == "comment":
        steps = [answer("", calls=[call("rewrite_file", {"path": "a.cir", "content": amplifier("4.7k")})])]
        bench.scripts = [answer(json.dumps(GOALS)), *steps, answer("Done."), endless]
    done = await bench.design()
    assert (done.stop_reason, done.rounds) == (("answered", 0) if what == "goals" else ("goals_met", 1))
    assert sum(each.client_left for each in bench.exchanges) == (2 if what == "goals" else 1)
    assert sum(map(len, bench.words)) < 5_000


async def test_a_price_nobody_knows_lets_no_request_out(bench: Bench) -> None:
    with pytest.raises(NeedsConfirmation) as caught:
        await bench.design(max_cost=(5.0, "USD"))
    assert caught.value.error_type == "limit"
    assert "unknown" in str(caught.value)
    assert caught.value.exit_code == 1  # as a chat that is at its limit
    assert not bench.model.seen
    # The design waits for whoever raises it.
    bench.settings = {"prices": PRICES}
    assert (await bench.design(None)).goals_met


def cut_short(reason: str | None) -> Script:
    """An answer of which no end comes."""
    script = answer("Now I will", finish_reason=reason or "stop")
    return script if reason else replace(script, pieces=script.pieces[:-3])


@pytest.mark.parametrize(
    ("act", "agent", "words"),
    [
        (lists_something_else, {"rounds": 2}, "limit of 2 answers"),
        (lists_again, {}, "repeating itself"),
    ],
    ids=["limit", "loop"],
)
async def test_a_step_that_a_limit_ends_says_so_and_the_checkpoint_goes_on(
    bench: Bench, act: Any, agent: dict[str, Any], words: str
) -> None:
    bench.settings = {"agent": agent}
    bench.model.acts["optimize"] = in_turn(act, writes("amp.cir", amplifier("4.7k")))
    done = await bench.design(decide=lambda question: "accept" if question.goals_met else "continue")
    assert any(words in word for word in bench.words), bench.words
    assert done.goals_met
    stuck = bench.questions[2]
    assert (stuck.round_number, stuck.is_exhausted, stuck.recommended) == (1, True, "stop")
    assert [event.number for event in bench.told(CheckpointReached)] == [1, 1, 2]


@pytest.mark.parametrize(
    ("script", "words"),
    [
        (cut_short("length"), "output limit"),
        (cut_short(None), "cut off"),
        (cut_short("content_filter"), "content rules"),
    ],
    ids=["length", "cut", "content_filter"],
)
async def test_an_answer_without_an_end_says_so_and_the_checkpoint_goes_on(
    bench: Bench, script: Script, words: str
) -> None:
    bench.settings = {"agent": {"continuations": 0}}

    def decide(question: Question) -> Answer:
        if question.kind == "checkpoint" and len(bench.questions) == 2:
            bench.scripts = [script]
        return "accept" if question.goals_met else "continue"

    done = await bench.design(decide=decide)
    assert any(words in word for word in bench.words), bench.words
    assert done.goals_met
    assert [question.round_number for question in bench.questions] == [0, 1, 1, 2]


async def test_time_that_is_used_up_ends_the_step_in_words(bench: Bench) -> None:
    bench.settings = {"agent": {"model_seconds": 1}}

    def decide(question: Question) -> Answer:
        if question.kind == "checkpoint" and len(bench.questions) == 2:
            bench.scripts = [answer("Let me think about it for long.", piece_delay_s=0.4)]
        return "accept" if question.goals_met else "continue"

    done = await bench.design(decide=decide)
    assert any("1 s of model time" in word for word in bench.words), bench.words
    assert done.goals_met


async def test_a_design_without_a_first_circuit_is_asked_for_one_again(bench: Bench) -> None:
    bench.settings = {"agent": {"rounds": 2}}
    bench.model.acts["design"] = in_turn(lists_something_else, writes("amp.cir", amplifier("4.7k")))
    done = await bench.design()
    assert (done.goals_met, done.rounds) == (True, 2)
    assert bench.model.tasks == ["goals", "design", "analysis"]


def failing_at(kind: str, number: int, bench: Bench, script: Script) -> Callable[[Question], Answer | Reply]:
    """As recommended, with a failure of the provider behind one question."""

    def decide(question: Question) -> Answer | Reply:
        same = [one for one in bench.questions if one.kind == question.kind]
        if question.kind == kind and len(same) == number:
            bench.scripts = [script]
            if kind == "checkpoint" and number == 2:
                return Reply(answer="question", instruction="Why?")
        return recommended(question)

    return decide


@pytest.mark.parametrize(
    ("kind", "number", "extra"),
    [("", 0, {}), ("goals", 1, {}), ("checkpoint", 1, {}), ("checkpoint", 2, {"question": 1})],
    ids=["goals", "design", "optimize", "question"],
)
async def test_a_provider_that_fails_in_any_step_leaves_a_design_that_goes_on(
    bench: Bench, kind: str, number: int, extra: dict[str, int]
) -> None:
    refused = error(401, "Invalid API key")
    if not kind:
        bench.scripts = [refused]
    with pytest.raises(ProviderError):
        await bench.design(decide=failing_at(kind, number, bench, refused))
    assert bench.told(Done)[-1].stop_reason == "error"
    done = await bench.design(None)
    assert (done.goals_met, done.rounds) == (True, 2)
    given = Counter(request.task for request in bench.model.seen)
    assert given == {"goals": 1, "design": 2, "analysis": 2, "optimize": 2} | extra


async def test_a_provider_that_fails_in_the_analysis_costs_its_comment_only(bench: Bench) -> None:
    def designs(request: Any) -> Said:
        if request.answers:
            bench.scripts = [error(401, "Invalid API key")]
        return writes("amp.cir", amplifier("4.7k"))(request)

    bench.model.acts["design"] = designs
    done = await bench.design()
    assert (done.goals_met, done.rounds) == (True, 1)
    assert [word for word in bench.words if word.startswith("No comment on this round: ")]


async def test_a_design_goes_on_in_one_place_and_not_behind_its_end(bench: Bench) -> None:
    refused: list[str] = []

    async def never(_question: Question) -> Answer:
        raise AssertionError("nobody is asked twice")

    async def resume_elsewhere() -> None:
        choice = ProviderChoice(provider="openai-compatible", model="m", base_url="http://127.0.0.1:9/v1")
        app = bench.build()
        request = ResumeRequest(project=bench.root, choice=choice)
        with pytest.raises(UserInputError) as caught:
            await app.design.run(request, ask=never, emit=lambda _event: None)
        await app.close()
        assert str(caught.value)
        refused.append(caught.value.error_type)

    async def ask(question: Question) -> Answer | Reply:
        if question.kind == "checkpoint":
            await resume_elsewhere()
        return recommended(question)

    done = await bench.design(ask=ask)
    assert (done.goals_met, done.rounds, refused) == (True, 2, ["session_in_use"] * 2)
    lines = bench.lines()
    await resume_elsewhere()
    assert refused[-1] == "nothing_to_resume"
    assert bench.lines() == lines


async def test_another_model_takes_over_in_the_middle(bench: Bench) -> None:
    def other(body: Any) -> Script:
        said = bench.model(body)
        calls = [call(name, arguments, id=f"o{n}") for n, (name, arguments) in enumerate(said.calls)]
        return answer(said.text, calls=calls)

    with FakeLLMServer(other, models=["other"]) as second:
        choice = {"provider": "openai-compatible", "model": "other", "base_url": second.base_url}
        bench.settings = {"alternatives": [choice], "switch_automatically": True}
        no_money = error(402, "Insufficient Balance")
        done = await bench.design(decide=failing_at("goals", 1, bench, no_money))
        assert len(second.completions) == 6, "it stays with the one that answers"
    assert done.goals_met
    assert [(event.kind, event.model) for event in bench.told(AlternativeTaken)] == [("model", "other")]


async def test_a_window_that_is_too_small_gets_less_then_is_told(bench: Bench) -> None:
    done = await bench.design(decide=failing_at("checkpoint", 1, bench, TOO_LONG))
    assert done.goals_met
    assert [event.kind for event in bench.told(AlternativeTaken)] == ["context"]

    bench.scripts = [TOO_LONG] * 4
    with pytest.raises(ProviderError) as caught:
        await bench.design("Another new amplifier, please")
    assert caught.value.error_type == "context_too_long"


async def test_a_model_without_tool_calls_gets_them_in_words(bench: Bench) -> None:
    bench.ollama = OllamaSide(capabilities=("completion",))
    plain = bench.model

    def prompted(body: Any) -> Said:
        said = plain(body)
        assert not body.get("tools")
        lines = [json.dumps({"tool": name, "arguments": arguments}) for name, arguments in said.calls]
        return Said("\n".join([said.text, *lines]).strip())

    bench.model = type("Prompted", (), {"__call__": lambda _self, body: prompted(body)})()  # type: ignore[assignment]
    done = await bench.design(provider="ollama")
    assert (done.goals_met, done.rounds) == (True, 2)
    assert [event.name for event in bench.told(ToolEnded)] == ["rewrite_file", "run_simulation"] * 2


async def test_a_no_to_sending_the_project_sends_nothing(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CIRCUIT_AI_OPENAI_COMPATIBLE_API_KEY", "k")
    with FakeLLMServer([answer(json.dumps(GOALS))]) as server:
        for name in ("HTTP_PROXY", "http_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{server.port}")
        choice = ProviderChoice(provider="openai-compatible", model="m", base_url="http://models.example/v1")
        app = bench.build()

        async def no(_question: Any) -> Any:
            return "no"

        async def ask(question: Question) -> Answer:
            return "continue"

        request = DesignRequest(project=bench.root, text=TEXT, choice=choice)
        for person in (no, None):
            with pytest.raises(NeedsConfirmation):
                await app.design.run(request, ask=ask, emit=bench.events.append, ask_consent=person)
        await app.close()
        assert not server.requests
    assert not list((bench.root / ".circuit_ai").glob("conversations/*.jsonl"))


async def test_nobody_is_asked_about_a_call_that_is_not_run_here(bench: Bench) -> None:
    bench.root.mkdir()
    (bench.root / "old.cir").write_text("old\n")

    def deletes(request: Any) -> Said:
        if request.answers == 0:
            return Said(calls=[("delete_file", {"path": "old.cir"})])
        return (
            Said("I may not.")
            if request.answers > 1
            else Said(calls=[("rewrite_file", {"path": "amp.cir", "content": amplifier("4.7k")})])
        )

    bench.model.acts["design"] = deletes
    assert (await bench.design("A new amplifier with a gain of 20 dB")).goals_met
    assert not bench.told(ConfirmationNeeded)
    assert [event.error_type for event in bench.told(ToolEnded) if not event.success] == ["not_offered"]
