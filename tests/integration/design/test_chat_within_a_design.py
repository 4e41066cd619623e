"""Free work while a design waits at its question: the same conversation, and the design is still there."""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from application.app import Application
from application.conversation.turn_deps import ChatRequest
from application.ports.events import Done, IterationFinished, SessionOpened, TextWritten, ToolEnded
from application.workflow.designing import Answer, DesignRequest, Question, Reply, ResumeRequest
from application.workflow.refining import read_message
from bootstrap import build
from domain.llm.chat import ProviderChoice
from shared.paths import USER_HOME_VARIABLE
from tests.fakes.designing_model import DesigningModel, amplifier, says, writes
from tests.fakes.llm_server import FakeLLMServer, answer, call
from tests.integration.design.walks import walks

TEXT = "A common-emitter amplifier with a gain of at least 20 dB at 10 kHz"


Given = Answer | Reply | Callable[[Question], Answer]


class Left(Exception):
    """Nobody answers any more."""


@dataclass
class Bench:
    app: Application
    root: Path
    choice: ProviderChoice
    model: DesigningModel
    events: list[Any] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)

    async def design(self, request: DesignRequest | ResumeRequest, *given: Given) -> None:
        """Answer so, and stop the run at the question behind."""
        left = list(given)
        task = asyncio.current_task()
        assert task is not None

        async def ask(question: Question) -> Answer | Reply:
            self.questions.append(question)
            if not left:
                raise asyncio.CancelledError
            answer = left.pop(0)
            return await asyncio.to_thread(answer, question) if callable(answer) else answer

        try:
            await self.app.design.run(request, ask=ask, emit=self.events.append)
        except asyncio.CancelledError:
            task.uncancel()

    async def begin(self) -> None:
        request = DesignRequest(project=self.root, text=TEXT, choice=self.choice)
        await self.design(request, "continue")

    async def go_on(self, *given: Given) -> None:
        self.events.clear()
        self.questions.clear()
        await self.design(ResumeRequest(project=self.root, choice=self.choice), *given)

    async def chat(self, text: str | None, session_id: str = "") -> None:
        request = ChatRequest(
            project=self.root, text=text, session_id=session_id or self.session_id, choice=self.choice
        )
        await self.app.conversations.chat(request, emit=lambda _event: None)

    @property
    def session_id(self) -> str:
        return next(event.session_id for event in self.events if isinstance(event, SessionOpened))

    @property
    def rounds(self) -> list[int]:
        return [event.number for event in self.events if isinstance(event, IterationFinished)]

    @property
    def words(self) -> list[str]:
        return [str(event.text) for event in self.events if isinstance(event, TextWritten)]


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    model = DesigningModel()

    def script(body: Any) -> Any:
        said = model(body)
        calls = [call(name, arguments, id=f"c{n}") for n, (name, arguments) in enumerate(said.calls)]
        return answer(said.text, calls=calls)

    app = build(environment={**os.environ, USER_HOME_VARIABLE: str(tmp_path / "home")})
    try:
        with FakeLLMServer(script, models=["m"]) as server:
            choice = ProviderChoice(provider="openai-compatible", model="m", base_url=server.base_url)
            yield Bench(app, tmp_path / "project", choice, model)
    finally:
        await app.close()


async def test_a_chat_in_between_knows_the_design_and_leaves_it_waiting(bench: Bench) -> None:
    await bench.begin()
    session = bench.session_id
    await bench.chat("What is the gain now?")
    told = bench.model.seen[-1].newest
    assert "20 dB" in told
    assert "round 1: gain" in told
    assert "amp.cir" in told

    shown = await bench.app.conversations.sessions.show(bench.root, session)
    assert shown.has_partial_response
    assert (shown.is_chat_newest, shown.is_chat_open) == (True, False)
    open_questions = [step for step in shown.design if step.checkpoint and not step.checkpoint.answer]
    assert [step.checkpoint.number for step in open_questions if step.checkpoint] == [1]
    (info,) = await bench.app.conversations.sessions.list(bench.root)
    assert (info.work_mode, info.has_partial_response) == ("workflow", True)

    await bench.go_on("continue", "accept")
    assert [question.round_number for question in bench.questions] == [1, 2]
    assert bench.rounds == [1, 2]  # the first is told again, not judged again
    assert (bench.root / "amp.cir").read_text("utf-8") == amplifier("4.7k")
    (info,) = await bench.app.conversations.sessions.list(bench.root)
    assert not info.has_partial_response


@walks("user_checkpoint → simulation")
async def test_what_the_chat_changed_is_told_and_simulated_before_the_question(bench: Bench) -> None:
    await bench.begin()
    bench.model.acts["chat"] = writes("amp.cir", amplifier("4.7k"), "Rc is 4.7k.")
    await bench.chat("Take 4.7k for Rc")
    await bench.go_on("accept")
    assert "amp.cir was changed since the last question." in bench.words
    assert [question.goals_met for question in bench.questions] == [True]
    assert [question.round_number for question in bench.questions] == bench.rounds == [2], "told once"
    assert bench.model.tasks[-2:] == ["chat", "analysis"]  # nobody designs because of it
    assert [event.name for event in bench.events if isinstance(event, ToolEnded)] == ["run_simulation"]


@walks("conclude → user_checkpoint")
async def test_what_was_changed_by_hand_is_simulated_before_it_is_accepted(bench: Bench) -> None:
    await bench.begin()

    def meddles(_question: Question) -> Answer:
        (bench.root / "amp.cir").write_text(amplifier("4.7k"), encoding="utf-8")
        return "accept"

    await bench.go_on(meddles, "accept")
    assert "amp.cir was changed since the last question." in bench.words
    assert [(question.round_number, question.goals_met) for question in bench.questions] == [
        (1, False),
        (2, True),
    ]
    assert (bench.root / "amp.cir").read_text("utf-8") == amplifier("4.7k")
    done = bench.events[-1]
    assert isinstance(done, Done)
    assert (done.stop_reason, done.round_number) == ("goals_met", 2)


async def test_a_result_that_is_gone_is_made_again_and_counts_no_round(bench: Bench) -> None:
    await bench.begin()
    for path in (bench.root / ".circuit_ai").rglob("result.json"):
        path.unlink()
    await bench.go_on("stop")
    assert [question.round_number for question in bench.questions] == [1]
    assert any("simulated again" in text for text in bench.words)


@walks("user_checkpoint → analysis")
async def test_a_circuit_that_is_gone_is_a_failed_round_and_loses_nothing(bench: Bench) -> None:
    await bench.begin()
    (bench.root / "amp.cir").unlink()
    await bench.go_on(Reply(answer="go_back", round_number=1), "stop")
    assert "amp.cir is not there any more." in bench.words
    assert bench.questions[0].has_failed
    assert (bench.root / "amp.cir").read_text("utf-8") == amplifier("470")


async def test_a_chat_killed_in_its_turn_keeps_both(bench: Bench) -> None:
    await bench.begin()
    session = bench.session_id
    await bench.chat("What is the gain now?")
    (path,) = (bench.root / ".circuit_ai" / "conversations").glob("*.jsonl")
    lines = path.read_bytes().splitlines(keepends=True)
    at = max(n for n, line in enumerate(lines) if json.loads(line).get("state") == "started")
    path.write_bytes(b"".join(lines[: at + 1]))  # killed behind the message

    shown = await bench.app.conversations.sessions.show(bench.root, session)
    assert (shown.is_chat_open, shown.has_partial_response) == (True, True)
    bench.model.acts["chat"] = says("About 13 dB.")
    await bench.chat(None, session)
    shown = await bench.app.conversations.sessions.show(bench.root, session)
    assert not shown.is_chat_open
    assert shown.messages[-1].text == "About 13 dB."
    await bench.go_on("stop")
    assert [question.round_number for question in bench.questions] == [1]


async def test_the_next_wish_refines_also_behind_a_chat(bench: Bench) -> None:
    await bench.begin()
    session = bench.session_id
    await bench.go_on("continue", "accept")
    await bench.chat("Thank you", session)
    read = await bench.app.design.run.read_message(
        bench.root, session, "gain at least 22 dB", bench.choice.provider
    )
    assert read.kind == "refines"


async def test_goals_without_a_circuit_are_told_where_to_go() -> None:
    """For the built-in designer: it designs what is named, and improves what is open."""
    read = await read_message(None, "mid-band gain 40 dB, upper cutoff above 15 MHz", is_by_rules=True)
    assert read.kind == "unclear"
    assert "open it and give its figures" in str(read.problem)
    read = await read_message(None, "gain 40 dB", is_by_rules=True, circuit="amp.cir")
    assert read.kind == "begins", "of the circuit at hand"
    assert (await read_message(None, "hello", is_by_rules=True, circuit="amp.cir")).kind == "unclear"


async def test_figures_of_another_circuit_in_front_are_no_matter_of_the_finished_one() -> None:
    done = {"circuit_file_path": "lp.cir", "design_intent": {"goals": []}}
    for circuit, kind in (("amp.cir", "apart"), ("lp.cir", "unclear"), ("", "unclear")):
        read = await read_message(done, "gain 40 dB", is_by_rules=True, circuit=circuit)
        assert read.kind == kind, circuit


async def test_a_chat_killed_in_its_turn_is_ended_when_the_design_goes_on(bench: Bench) -> None:
    await bench.begin()
    session = bench.session_id
    await bench.chat("What is the gain now?")
    (path,) = (bench.root / ".circuit_ai" / "conversations").glob("*.jsonl")
    lines = path.read_bytes().splitlines(keepends=True)
    at = max(n for n, line in enumerate(lines) if json.loads(line).get("state") == "started")
    path.write_bytes(b"".join(lines[: at + 1]))
    await bench.go_on("continue")
    assert [question.round_number for question in bench.questions] == [1, 2]
    events = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    ends = [event["stop_reason"] for event in events if event.get("state") == "ended"]
    assert ends == ["interrupted"]
    shown = await bench.app.conversations.sessions.show(bench.root, session)
    assert (shown.is_chat_newest, shown.has_partial_response) == (False, True)


async def test_what_a_step_did_before_a_stop_and_a_chat_counts_for_its_round(bench: Bench) -> None:
    def stop_after_writing(request: Any) -> Any:
        if request.answers == 0:
            return writes("amp.cir", amplifier("4.7k"))(request)
        task.cancel()
        return says("Nearly")(request)

    task = asyncio.current_task()
    assert task is not None
    bench.model.acts["optimize"] = stop_after_writing
    request = DesignRequest(project=bench.root, text=TEXT, choice=bench.choice)
    await bench.design(request, "continue", "continue")
    session = bench.session_id
    await bench.chat("Where are we?", session)
    shown = await bench.app.conversations.sessions.show(bench.root, session)
    assert [step.left for step in shown.design if step.left] == ["stopped"]

    bench.model.acts["optimize"] = says("It was written already.")
    await bench.go_on("accept")
    assert [(question.round_number, question.goals_met) for question in bench.questions] == [(2, True)]
    assert (bench.root / "amp.cir").read_text("utf-8") == amplifier("4.7k")


async def test_what_was_changed_by_hand_in_the_middle_of_a_step_is_simulated_first(bench: Bench) -> None:
    def stop_after_writing(request: Any) -> Any:
        if request.answers == 0:
            return writes("amp.cir", deck)(request)
        task.cancel()
        return says("Nearly")(request)

    task = asyncio.current_task()
    assert task is not None
    model = re.search(r"(?m)^\.model.*$", amplifier("470"))
    assert model is not None
    bench.root.mkdir(exist_ok=True)
    included = bench.root / "models.inc"
    included.write_text(f"* ours\n{model[0]}\n")
    begun, deck = (amplifier(value).replace(model[0], ".include models.inc") for value in ("470", "4.7k"))
    bench.model.acts |= {"design": writes("amp.cir", begun), "optimize": stop_after_writing}
    request = DesignRequest(project=bench.root, text=TEXT, choice=bench.choice)
    await bench.design(request, "continue", "continue")
    included.write_text(f"* mine\n{model[0]}\n")
    seen = len(bench.model.tasks)
    await bench.go_on("accept")
    assert "models.inc was changed since the last question." in bench.words
    assert bench.model.tasks[seen:] == ["analysis"], "judged before the model goes on"
    assert [(question.round_number, question.goals_met) for question in bench.questions] == [(2, True)]
    assert (bench.root / "amp.cir").read_text("utf-8") == deck
    assert "* mine" in included.read_text()
    (path,) = (bench.root / ".circuit_ai" / "conversations").glob("*.jsonl")
    messages = [json.loads(line).get("message") or {} for line in path.read_text("utf-8").splitlines()]
    calls = [each["id"] for message in messages for each in message.get("tool_calls") or ()]
    results = [message["tool_call_id"] for message in messages if message.get("tool_call_id")]
    assert sorted(results) == sorted(set(calls))


async def test_an_instruction_is_carried_out_behind_what_was_changed_by_hand(bench: Bench) -> None:
    """Typed before a stop: what somebody changed is simulated and judged, then it is done, and once."""

    def stops(request: Any) -> Any:
        task.cancel()
        return says("Nearly")(request)

    def carries_out(request: Any) -> Any:
        before.append((bench.root / "amp.cir").read_text("utf-8"))
        return writes("amp.cir", amplifier("4.7k"))(request)

    task = asyncio.current_task()
    assert task is not None
    before: list[str] = []
    request = DesignRequest(project=bench.root, text=TEXT, choice=bench.choice)
    bench.model.acts["instruction"] = stops
    await bench.design(request, "continue", Reply(answer="instruction", instruction="Take 4.7k for Rc"))
    assert bench.rounds == [1]
    by_hand = amplifier("470").replace("Ce f 0 100u", "Ce f 0 220u")
    (bench.root / "amp.cir").write_text(by_hand)

    seen = len(bench.model.tasks)
    await bench.go_on()  # stopped once more, behind the round of what was changed
    assert "amp.cir was changed since the last question." in bench.words
    assert (bench.rounds, bench.questions) == ([2], [])
    bench.model.acts["instruction"] = carries_out
    await bench.go_on("accept")
    done = [event.name for event in bench.events if isinstance(event, ToolEnded)]
    assert done == ["rewrite_file", "run_simulation"], "what was judged is not simulated again"
    assert set(bench.rounds) == {3}
    assert bench.model.tasks[seen:] == ["analysis"], "of the last round alone"
    assert before[0] == by_hand
    assert [(question.round_number, question.goals_met) for question in bench.questions] == [(3, True)]
    steps = [each.newest for each in bench.model.seen[-3:] if each.task == "instruction"]
    assert all("somebody changed the circuit meanwhile" in text for text in steps)
    assert all("Take 4.7k for Rc" in text for text in steps)


async def test_a_design_begun_behind_chats_goes_on_in_their_conversation(bench: Bench) -> None:
    chat = ChatRequest(project=bench.root, text="Which stage has gain?", choice=bench.choice)
    await bench.app.conversations.chat(chat, emit=bench.events.append)
    session = bench.session_id
    bench.model.acts["goals"] = says(json.dumps({"goals": [], "reply": "What gain?"}))
    for text in ("Hello", TEXT):  # one that is only answered leaves nothing that could be in the way
        request = DesignRequest(project=bench.root, text=text, choice=bench.choice, session_id=session)
        await bench.design(request, "continue")
        bench.model.acts.pop("goals", None)
    assert {event.session_id for event in bench.events if isinstance(event, SessionOpened)} == {session}
    assert [question.kind for question in bench.questions] == ["goals", "checkpoint"]
    asked = next(seen for seen in bench.model.seen if seen.task == "design")
    assert any("Which stage" in str(each.get("content")) for each in asked.messages)
    (info,) = await bench.app.conversations.sessions.list(bench.root)
    assert (info.work_mode, info.has_partial_response) == ("workflow", True)

    await bench.chat("What is the gain now?", session)  # its checkpoints are not those of the design
    await bench.go_on("continue", "accept")
    assert [question.round_number for question in bench.questions] == [1, 2]
    read = bench.app.design.run.read_message
    assert (await read(bench.root, session, "gain at least 22 dB", "openai-compatible")).kind == "refines"
    assert (await read(bench.root, session, "Design a new filter", "openai-compatible")).kind == "apart"
    shown = await bench.app.conversations.sessions.show(bench.root, session)
    said = [message.text for message in shown.messages if message.role == "user"]
    assert said == ["Which stage has gain?", "Hello", TEXT, "What is the gain now?"]


@pytest.mark.parametrize("provider", ["openai-compatible", "builtin"])
@pytest.mark.parametrize(
    ("text", "wish"),
    [
        ("I want an RC low-pass, cutoff 2 kHz. Nice weather.", "Design it with the figures we talked about"),
        ("我想要一个 RC 低通，截止频率 2 kHz", "按刚才说的指标设计这个电路"),
    ],
)
async def test_goals_are_read_from_the_conversation_before(
    bench: Bench, text: str, wish: str, provider: str
) -> None:
    """By the rules where the request has no figures itself; a model is told the user's own words."""
    chat = ChatRequest(project=bench.root, text=text, choice=bench.choice)
    await bench.app.conversations.chat(chat, emit=bench.events.append)
    session = bench.session_id
    await bench.chat("Thanks.", session)
    choice = bench.choice if provider != "builtin" else ProviderChoice(provider=provider, model="")
    assert (await bench.app.design.run.read_message(bench.root, session, wish, provider)).kind == "begins"
    await bench.design(DesignRequest(project=bench.root, text=wish, choice=choice, session_id=session))
    (question,) = bench.questions
    if provider == "builtin":
        (goal,) = question.goals
        assert goal.target == 2000
    else:
        asked = next(seen for seen in bench.model.seen if seen.task == "goals")
        assert "2 kHz" in asked.system
        assert asked.newest == wish
