"""A design by a language model: goals by one call, its own tools in the nodes, every edge of the graph."""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from application.app import Application
from application.design.plain_state import verdict_from_plain, verdict_to_plain
from application.ports.events import (
    ChatEvent,
    ConfirmationGiven,
    ConfirmationNeeded,
    DesignEvent,
    Done,
    GoalsUnderstood,
    IntentRead,
    IterationFinished,
    TextWritten,
    ToolEnded,
)
from application.workflow.design_sessions import reply_of
from application.workflow.designing import Answer, Ask, DesignRequest, Question, Reply, ResumeRequest
from bootstrap import build
from domain.design.checkpoint_intent import read_checkpoint_text
from domain.llm.chat import ProviderChoice, ProviderError
from domain.llm.tools.confirmation import Rule
from domain.llm.tools.confirmation_card import Answers, ConfirmationCard, same_answer
from domain.llm.transcript import messages_of, role_of, text_of
from presentation.goal_words import name_of_judged
from presentation.narration import Narrator
from presentation.translation import Translator
from shared.errors import UserInputError
from shared.paths import SETTINGS_FILE, USER_HOME_VARIABLE
from tests.fakes.designing_model import GOALS, DesigningModel, Request, amplifier, in_turn, says, writes
from tests.fakes.designing_model import Reply as Said
from tests.fakes.llm_protocols import ollama_answer, siliconflow_answer, zhipu_answer
from tests.fakes.llm_responses import responses_answer
from tests.fakes.llm_server import Exchange, FakeLLMServer, OllamaSide, Script, answer, call, error
from tests.integration.design.walks import walks

TEXT = "A common-emitter amplifier with a gain of at least 20 dB at 10 kHz"
WIRES: dict[str, Callable[..., Script]] = {
    "openai-compatible": answer,
    "zhipu": zhipu_answer,
    "siliconflow": siliconflow_answer,
    "ollama": ollama_answer,
    "deepseek": answer,
    "openai": responses_answer,
}
Decide = Callable[[Question], Answer | Reply]


def recommended(question: Question) -> Answer:
    return "continue" if question.kind == "goals" else question.recommended


@dataclass
class Bench:
    """A project, an application and a scripted model."""

    root: Path
    home: Path
    model: DesigningModel = field(default_factory=DesigningModel)
    events: list[DesignEvent | ChatEvent] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    scripts: list[Script] = field(default_factory=list)
    """Answered before the model is asked."""
    settings: dict[str, Any] = field(default_factory=dict)
    """Of the user."""
    ollama: OllamaSide = field(default_factory=OllamaSide)
    base_url: str = ""
    """Of the last server."""
    exchanges: list[Exchange] = field(default_factory=list)
    """With the last server."""

    @contextmanager
    def server(self, provider: str) -> Iterator[FakeLLMServer]:
        def script(body: Any) -> Script:
            if self.scripts:
                return self.scripts.pop(0)
            said = self.model(body)
            calls = [call(name, arguments, id=f"c{n}") for n, (name, arguments) in enumerate(said.calls)]
            return WIRES[provider](said.text, calls=calls)

        with FakeLLMServer(script, models=["m"], ollama=self.ollama) as server:
            self.base_url = server.root_url if provider == "ollama" else server.base_url
            yield server
        self.exchanges = server.exchanges

    def build(self) -> Application:
        if self.settings:
            self.home.mkdir(exist_ok=True)
            (self.home / SETTINGS_FILE).write_text(json.dumps(self.settings))
        keys = {f"CIRCUIT_AI_{name.upper()}_API_KEY": "k" for name in WIRES if "-" not in name}
        return build(environment={**os.environ, **keys, USER_HOME_VARIABLE: str(self.home)})

    async def design(
        self,
        text: str | None = TEXT,
        decide: Decide = recommended,
        *,
        provider: str = "openai-compatible",
        confirm: Any = None,
        max_cost: tuple[float, str] | None = None,
        ask: Ask | None = None,
        main_circuit: Callable[[], str] = str,
        **more: Any,
    ) -> Done:
        async def decided(question: Question) -> Answer | Reply:
            self.questions.append(question)
            return decide(question)

        app = self.build()
        assert not await asyncio.to_thread(lambda: app.program.warnings)
        try:
            with self.server(provider) as server:
                base = server.root_url if provider == "ollama" else server.base_url
                choice = ProviderChoice(provider=provider, model="m", base_url=base)
                request: DesignRequest | ResumeRequest
                if text is None:
                    request = ResumeRequest(project=self.root, choice=choice, max_cost=max_cost)
                else:
                    request = DesignRequest(
                        project=self.root, text=text, choice=choice, max_cost=max_cost, **more
                    )
                run, ask = app.design.run, ask or decided
                return await run(
                    request, ask=ask, emit=self.events.append, confirm=confirm, main_circuit=main_circuit
                )
        finally:
            await app.close()

    def told(self, kind: type) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def words(self) -> list[str]:
        return [str(event.text) for event in self.told(TextWritten)]

    def circuit(self, name: str = "amp.cir") -> str:
        return (self.root / name).read_text("utf-8")

    def lines(self) -> list[dict[str, Any]]:
        (session,) = (self.root / ".circuit_ai" / "conversations").glob("*.jsonl")
        return [json.loads(line) for line in session.read_text("utf-8").splitlines()]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path / "project", tmp_path / "home")


@pytest.mark.parametrize(
    "provider",
    [pytest.param(name, marks=pytest.mark.torture if name == "deepseek" else ()) for name in WIRES],
)
async def test_every_provider_brings_an_amplifier_from_an_empty_folder_to_its_goals(
    bench: Bench, provider: str
) -> None:
    done = await bench.design(provider=provider)
    assert (done.stop_reason, done.circuit, done.rounds) == ("goals_met", "amp.cir", 2)
    assert bench.model.tasks == ["goals", "design", "analysis", "optimize", "analysis"]
    assert bench.circuit() == amplifier("4.7k")
    first, second = bench.told(IterationFinished)
    assert first.metrics["gain"] < 20 < second.metrics["gain"]
    goals, *steps = bench.model.seen
    assert goals.json_wanted
    assert not goals.tools
    for request in [each for each in steps if each.task != "analysis"]:
        assert {"rewrite_file", "patch_file", "run_simulation"} <= request.tools
        assert "gain of at least 20 dB" in request.system
    assert done.usage["total_tokens"] > 0
    assert (bench.root / ".circuit_ai" / "goals" / "amp.cir.json").exists()


@walks("design_goals → end")
async def test_words_that_ask_for_no_circuit_are_answered_and_design_nothing(bench: Bench) -> None:
    bench.model.acts["goals"] = says(json.dumps({"goals": [], "reply": "Hello! What shall I design?"}))
    done = await bench.design("Hello")
    assert (done.stop_reason, done.circuit) == ("answered", None)
    assert bench.words == ["Hello! What shall I design?"]
    assert not bench.questions
    assert not list(bench.root.glob("*.cir"))


async def test_a_model_without_json_is_asked_once_more_then_the_user_is(bench: Bench) -> None:
    bench.model.acts["goals"] = in_turn(says("Sure, I will!"), says(json.dumps(GOALS)))
    assert (await bench.design()).goals_met
    bench.model.acts["goals"] = says("I cannot do JSON.")
    done = await bench.design("Another amplifier please")
    assert done.stop_reason == "answered"
    assert bench.words[-1] == "I cannot do JSON."


async def test_a_model_that_calls_no_tools_has_its_netlist_written_for_it(bench: Bench) -> None:
    bench.model.acts["design"] = says(f"Here it is:\n```spice\n{amplifier('470')}```\nGood luck.")
    bench.model.acts["optimize"] = says(f"```\n{amplifier('4.7k')}```")
    done = await bench.design()
    assert done.goals_met
    assert done.circuit == "common_emitter_amplifier.cir"
    assert bench.circuit(done.circuit) == amplifier("4.7k")
    assert [event.name for event in bench.told(ToolEnded)] == ["rewrite_file", "run_simulation"] * 2


async def test_what_a_step_expects_is_not_asked_about_before_it_is_simulated(bench: Bench) -> None:
    expected = "IC is 0.93 mA and the gain will be 27.5 dB."
    bench.model.acts["design"] = writes("amp.cir", amplifier("4.7k"), expected)
    done = await bench.design()
    assert (done.goals_met, done.rounds) == (True, 1)
    assert sum(request.task == "design" for request in bench.model.seen) == 2


@walks("initial_design → analysis")
async def test_nonsense_is_a_failed_round_and_three_of_them_end_by_themselves(bench: Bench) -> None:
    bench.model.acts |= {"design": says("I like turtles."), "fix": says("Still turtles.")}
    done = await bench.design()
    assert (done.stop_reason, done.circuit) == ("goals_not_met", None)
    assert [question.has_failed for question in bench.questions[1:]] == [True, True, True]
    assert str(Narrator(Translator("en"))(done)).endswith("; no circuit was written")


async def test_a_model_that_only_talks_is_asked_once_more_before_the_rounds_end(bench: Bench) -> None:
    broken = amplifier("1k").replace(".model qn", ".model qx")
    bench.model.acts |= {
        "design": writes("amp.cir", broken),
        "fix": in_turn(says("I am sorry."), writes("amp.cir", amplifier("300"))),
        "optimize": in_turn(says("Take 4.7k for Rc."), writes("amp.cir", amplifier("4.7k"))),
    }
    done = await bench.design()
    assert (done.goals_met, done.rounds) == (True, 3)
    assert [question.recommended for question in bench.questions[1:]] == [*["continue"] * 4, "accept"]


async def test_a_circuit_that_fails_is_fixed_with_the_lines_around_its_error(bench: Bench) -> None:
    broken = amplifier("4.7k").replace(".model qn", ".model qx")
    bench.model.acts |= {"design": writes("amp.cir", broken), "fix": writes("amp.cir", amplifier("4.7k"))}
    done = await bench.design()
    assert (done.goals_met, done.rounds) == (True, 2)
    (fix, *_) = [request for request in bench.model.seen if request.task == "fix"]
    assert "Q1 c b e qn" in fix.given
    assert "around line 11" in fix.given


@walks("initial_design → simulation")
async def test_three_failed_fixes_stop_the_automatic_rounds(bench: Bench) -> None:
    def broken(number: int) -> str:
        return amplifier("4.7k").replace(".model qn", f".model q{number}x")

    bench.model.acts["design"] = writes("amp.cir", broken(0))
    bench.model.acts["fix"] = in_turn(*(writes("amp.cir", broken(number)) for number in range(1, 9)))
    done = await bench.design()
    assert not done.goals_met
    assert done.rounds == 3
    assert "No further round by itself: 3 rounds in a row could not be simulated." in bench.words
    assert bench.circuit() == broken(2), "none of them is better than the last"


@walks("conclude → restore", "restore → end")
async def test_rounds_without_progress_stop_by_themselves(bench: Bench) -> None:
    values = iter(("480", "470", "460", "450", "440"))
    bench.model.acts["optimize"] = in_turn(*(writes("amp.cir", amplifier(value)) for value in values))
    done = await bench.design()
    assert (done.goals_met, done.rounds) == (False, 4)
    assert "No further round by itself: 2 rounds in a row came no closer to the goals." in bench.words
    assert bench.circuit() == amplifier("480")  # the best one


def answers(*given: Answer | Reply) -> Decide:
    left = list(given)
    return lambda question: left.pop(0) if left else recommended(question)


@walks("action → user_checkpoint", "action → simulation")
async def test_questions_and_instructions_at_the_checkpoint(bench: Bench) -> None:
    bench.model.acts["instruction"] = in_turn(
        writes("amp.cir", amplifier("100"), "Rc is 100."), writes("amp.cir", amplifier("3.3k"), "Rc is 3.3k.")
    )
    done = await bench.design(
        decide=answers(
            "continue",
            Reply(answer="question", said=("Why so little gain?",), instruction="Why so little gain?"),
            Reply(answer="instruction", said=("Take 100 for Rc",), instruction="Take 100 for Rc"),
            Reply(answer="instruction", said=("Take 3.3k for Rc",), instruction="Take 3.3k for Rc"),
            "accept",
        )
    )
    assert (done.stop_reason, done.rounds) == ("goals_met", 3)
    assert bench.circuit() == amplifier("3.3k")
    told = [str(event.text) for event in bench.events if isinstance(event, TextWritten)]
    (missed,) = [text for text in told if "older goal" in text]
    assert missed.startswith("The instruction misses an older goal: gain = "), "once, by the round it was"
    (question,) = [request for request in bench.model.seen if request.task == "question"]
    assert not question.tools & {"rewrite_file", "patch_file", "run_simulation"}
    asked = [(each.kind, each.round_number) for each in bench.questions]
    assert asked == [("goals", 0), ("checkpoint", 1), ("checkpoint", 1), ("checkpoint", 2), ("checkpoint", 3)]


async def test_an_element_the_user_locked_is_not_written_in_any_file_until_he_frees_it(bench: Bench) -> None:
    """The model is told which one and why; also of a file that the circuit includes, and of a search."""
    supply = amplifier("470").replace("Vcc vcc 0 12\n", ".include supply.inc\n")

    def designs(request: Request) -> Said:
        files = [("supply.inc", "Vcc vcc 0 12\n"), ("amp.cir", supply)]
        if request.answers < len(files):
            path, content = files[request.answers]
            return Said(calls=[("rewrite_file", {"path": path, "content": content})])
        return Said("Done.")

    search = {"kind": "optimize", "parameters": [{"name": "Rc", "min": "1k", "max": "9k"}], "goals": []}
    tries = [
        ("rewrite_file", {"path": "amp.cir", "content": supply.replace("Rc vcc c 470", "Rc vcc c 4.7k")}),
        ("patch_file", {"path": "amp.cir", "search": "Rc vcc c 470", "replace": "Rc vcc c 4.7k"}),
        ("patch_file", {"path": "supply.inc", "search": "12", "replace": "12.1"}),
        ("run_study", search),
    ]

    def works(request: Request) -> Said:
        return Said("", [tries[request.answers]]) if request.answers < len(tries) else Said("It may not be.")

    bench.model.acts |= {"design": designs, "optimize": in_turn(works, works)}
    bench.model.acts["instruction"] = says("Noted.")

    async def allow(card: ConfirmationCard) -> Answers:
        return same_answer(card, "allow")

    def said(words: str) -> Reply:
        return Reply(answer="instruction", said=(words,), instruction=words)

    done = await bench.design(
        decide=answers(
            "continue",
            said("Go on, but don't touch Rc and Vcc"),
            "continue",
            said("Rc 可以改了; you may change Vcc now"),
            "continue",
            "accept",
        ),
        confirm=allow,
    )
    told = [event for event in bench.events if isinstance(event, ToolEnded)]
    assert [each.error_type for each in told if each.error_type][:4] == ["locked_element"] * 4
    assert "Rc (amp.cir) must stay as it is: the user said so." in str(bench.lines())
    assert (bench.circuit(), done.rounds) == (supply.replace("470", "4.7k", 1), 2)
    assert (bench.root / "supply.inc").read_text() == "Vcc vcc 0 12.1\n"
    optimize = next(request.system for request in bench.model.seen if request.task == "optimize")
    assert "Elements that must not change: Rc\n" in f"{optimize}\n"


async def test_a_locked_element_is_not_made_another_from_elsewhere(bench: Bench) -> None:
    """By a parameter in an included file, another included file, or a copy in which the design goes on."""
    stage = amplifier("{rc}").replace("Rl out", ".include values.inc\nRl out")
    files = [("values.inc", ".param rc={2*half}\n.param half=235\n"), ("amp.cir", stage)]

    def designs(request: Request) -> Said:
        if request.answers < len(files):
            path, content = files[request.answers]
            return Said(calls=[("rewrite_file", {"path": path, "content": content})])
        return Said("Done.")

    tries = [
        ("patch_file", {"path": "values.inc", "search": "half=235", "replace": "half=2350"}),
        ("rewrite_file", {"path": "other.inc", "content": ".param rc=4.7k\n"}),
        ("patch_file", {"path": "amp.cir", "search": "values.inc", "replace": "other.inc"}),
        ("rewrite_file", {"path": "copy.cir", "content": amplifier("4.7k")}),
        ("run_simulation", {"file_path": "copy.cir"}),
    ]

    def works(request: Request) -> Said:
        return Said("", [tries[request.answers]]) if request.answers < len(tries) else Said("Now it is met.")

    bench.model.acts |= {"design": designs, "optimize": works}

    def said(words: str) -> Reply:
        return Reply(answer="continue", said=(words,))

    done = await bench.design(decide=answers("continue", said("Go on, but don't touch Rc"), "accept"))
    told = [event.error_type for event in bench.events if isinstance(event, ToolEnded)]
    assert told[2:].count("locked_element") == 2, " ".join(told)
    assert (done.rounds, done.goals_met, done.circuit) == (1, False, "amp.cir")
    assert bench.circuit() == stage
    assert (bench.root / "values.inc").read_text() == files[0][1]
    (apart,) = [text for text in bench.words if text.startswith("copy.cir does not become the circuit")]
    assert "Rc would not be as in amp.cir" in apart


@walks(
    "design_goals → confirm_goals",
    "confirm_goals → initial_design",
    "analysis → user_checkpoint",
    "user_checkpoint → action",
    "user_checkpoint → conclude",
    "conclude → end",
)
async def test_goals_are_changed_in_the_middle_and_missed_ones_accepted(bench: Bench) -> None:
    bench.model.acts["optimize"] = writes("amp.cir", amplifier("4.7k"))

    def harder(question: Question) -> Reply:
        return Reply(answer="continue", goals=tuple(replace(goal, minimum=60.0) for goal in question.goals))

    given: list[Any] = ["continue", harder, "accept"]

    def decide(question: Question) -> Answer | Reply:
        each = given.pop(0)
        answer: Answer | Reply = each(question) if callable(each) else each
        return answer

    done = await bench.design(decide=decide)
    assert (done.stop_reason, done.rounds, done.round_number) == ("goals_not_met", 2, 2)
    assert done.verdicts[0].goal.minimum == 60
    assert bench.circuit() == amplifier("4.7k")
    with pytest.raises(UserInputError, match="no interrupted design"):
        await bench.design(None)


async def test_an_accepted_round_stays_though_an_earlier_one_was_better(bench: Bench) -> None:
    bench.model.acts["optimize"] = in_turn(*(writes("amp.cir", amplifier(value)) for value in ("1k", "480")))
    done = await bench.design(decide=answers("continue", "continue", "continue", "accept"))
    assert (done.stop_reason, done.rounds, done.round_number) == ("goals_not_met", 3, 3)
    assert bench.circuit() == amplifier("480")
    assert "Round 3 is kept as it was accepted. Round 2 came closer to the goals" in bench.words[-1]
    (session,) = (bench.root / ".circuit_ai" / "conversations").glob("*.jsonl")
    app = bench.build()
    try:
        report: Any = await app.conversations.sessions.design_report(bench.root, session.stem, program="1")
    finally:
        await app.close()
    end = report["designs"][0]["end"]
    assert (end["round"], end["best_round"], end["rounds"]) == (3, 2, 3)


async def test_a_tool_that_a_question_does_not_have_is_not_run(bench: Bench) -> None:
    bench.model.acts["question"] = writes("amp.cir", "gone\n", "I changed it.")
    await bench.design(
        decide=answers("continue", Reply(answer="question", instruction="Why?"), "stop"),
    )
    assert bench.circuit() == amplifier("470")
    assert [event.error_type for event in bench.told(ToolEnded) if not event.success] == ["not_offered"]


@walks(
    "user_checkpoint → undo_round",
    "undo_round → restore",
    "restore → user_checkpoint",
    "user_checkpoint → go_back",
    "go_back → restore",
)
async def test_undo_twice_then_back_to_round_one_of_four(bench: Bench) -> None:
    values = ("480", "490", "500", "510", "520")
    bench.model.acts["optimize"] = in_turn(*(writes("amp.cir", amplifier(value)) for value in values))
    done = await bench.design(
        decide=answers(
            "continue",
            "continue",
            "continue",
            "undo",
            "continue",
            "continue",
            Reply(answer="go_back", round_number=1),
            "stop",
        ),
        max_iterations=20,
    )
    assert [event.number for event in bench.told(IterationFinished)] == [1, 2, 3, 3, 4]
    last = bench.questions[-1]
    assert last.verdicts[0].measured.value == pytest.approx(bench.told(IterationFinished)[0].metrics["gain"])
    assert bench.circuit() == amplifier("470"), "who went back to it keeps it, though others were better"
    assert done.rounds == 4


async def test_the_built_in_designer_goes_on_behind_an_instruction(bench: Bench) -> None:
    name = "rc_low_pass_filter.cir"
    given: list[Answer | Reply] = [
        "continue",
        Reply(answer="instruction", instruction=f"set R1 to 47k in {name}"),
        "continue",
    ]

    async def ask(question: Question) -> Answer | Reply:
        return given.pop(0) if given else recommended(question)

    app = bench.build()
    try:
        done = await app.design.run(
            DesignRequest(project=bench.root, text="A first-order RC low-pass, cutoff 1 kHz"),
            ask=ask,
            emit=bench.events.append,
        )
    finally:
        await app.close()
    assert (done.goals_met, done.circuit, done.rounds) == (True, name, 3)
    first, second, third = bench.told(IterationFinished)
    assert second.metrics["cutoff"] < 500 < first.metrics["cutoff"]
    assert third.metrics["cutoff"] == pytest.approx(1000, rel=0.05)


@walks("confirm_goals → simulation")
async def test_an_existing_circuit_is_round_zero_and_is_improved(bench: Bench) -> None:
    bench.root.mkdir()
    (bench.root / "stage.cir").write_text(amplifier("470"))
    bench.model.acts["optimize"] = writes("stage.cir", amplifier("4.7k"))
    done = await bench.design("stage.cir needs a gain of 20 dB at least; leave Vcc alone")
    assert (done.goals_met, done.circuit) == (True, "stage.cir")
    assert [event.number for event in bench.told(IterationFinished)] == [0, 1]
    assert bench.model.tasks == ["goals", "analysis", "optimize", "analysis"]
    goals, *others = (request.system for request in bench.model.seen)
    assert "Rl out 0 100k" in goals  # they are of its nodes
    assert all("Elements that must not change: Vcc\n" in f"{each}\n" for each in others)
    facts = str(bench.model.seen[2].messages[-1]["content"])
    assert facts.count("- goal ") == 1
    assert "Goals of stage.cir" not in facts  # the design tells them
    # In another conversation its goals stand, and what else is asked comes beside them.
    offset = {"metric": "level", "expression": "avg(v(out))", "unit": "V", "maximum": 12}
    bench.model.acts["goals"] = says(json.dumps({**GOALS, "goals": [offset]}))
    decline = answers("decline")
    await bench.design("the level at the output below 12 V", begins_from="stage.cir", decide=decline)
    assert [goal.metric for goal in bench.questions[-1].goals] == ["gain", "level"]


@walks("confirm_goals → initial_design")
async def test_a_new_circuit_is_designed_beside_the_one_at_hand_where_that_is_chosen(bench: Bench) -> None:
    bench.root.mkdir()
    (bench.root / "stage.cir").write_text(amplifier("470"))
    new = answers(Reply(answer="continue", is_new_circuit=True))
    done = await bench.design("A gain of 20 dB at least", decide=new, begins_from="stage.cir")
    assert bench.questions[0].circuit == "stage.cir"
    assert (done.goals_met, done.circuit, done.rounds) == (True, "amp.cir", 2)
    assert (bench.root / "stage.cir").read_text() == amplifier("470")
    assert bench.model.tasks[:2] == ["goals", "design"]
    assert "stage.cir" not in bench.model.seen[1].system


@walks("analysis → action")
async def test_a_wish_behind_an_accepted_design_changes_the_same_circuit(bench: Bench) -> None:
    await bench.design()
    session = next(event.session_id for event in bench.events if hasattr(event, "session_id"))
    bench.model.acts["instruction"] = writes("amp.cir", amplifier("3.9k"), "3.9k now.")
    done = await bench.design("Use 3.9k for the collector resistor", session_id=session)
    assert (done.goals_met, done.circuit, done.rounds) == (True, "amp.cir", 1)
    assert bench.circuit() == amplifier("3.9k")
    # What was there is round 0, with the figures of its result: nothing has to be simulated twice.
    assert [event.number for event in bench.told(IterationFinished)] == [1, 2, 0, 1]
    assert "These files were simulated before" in str(bench.told(ToolEnded)[-3].summary)
    bench.model.acts["instruction"] = says("There is nothing to do.")
    done = await bench.design("Leave all as it is", session_id=session)
    last = bench.questions[-1]
    assert (last.round_number, len(last.verdicts), done.stop_reason) == (0, 1, "goals_met")


async def test_a_wish_behind_a_design_that_changed_nothing_is_of_the_same_circuit(bench: Bench) -> None:
    bench.root.mkdir()
    (bench.root / "stage.cir").write_text(amplifier("470"))
    bench.model.acts["optimize"] = says("I have no idea.")
    done = await bench.design("stage.cir needs a gain of 20 dB at least")
    assert (done.stop_reason, done.rounds) == ("goals_not_met", 0)
    session = next(event.session_id for event in bench.events if hasattr(event, "session_id"))
    bench.model.acts["instruction"] = writes("stage.cir", amplifier("4.7k"))
    done = await bench.design("Go on with the next round", session_id=session)
    assert (done.goals_met, done.circuit) == (True, "stage.cir")


@walks("confirm_goals → conclude")
async def test_goals_that_are_declined_design_nothing(bench: Bench) -> None:
    done = await bench.design(decide=answers("decline"))
    assert (done.stop_reason, done.circuit) == ("declined", None)
    assert not list(bench.root.glob("*.cir"))


@walks("confirm_goals → action")
async def test_a_wish_behind_a_design_whose_circuit_is_gone_is_carried_out_at_once(bench: Bench) -> None:
    await bench.design()
    session = next(event.session_id for event in bench.events if hasattr(event, "session_id"))
    (bench.root / "amp.cir").unlink()
    bench.model.acts["instruction"] = writes("amp.cir", amplifier("3.9k"), "Here it is again.")
    done = await bench.design("Write the file again, with 3.9k", session_id=session)
    assert (done.goals_met, done.circuit, bench.circuit()) == (True, "amp.cir", amplifier("3.9k"))


async def test_a_network_that_fails_in_the_middle_leaves_a_design_that_goes_on(bench: Bench) -> None:
    acts = bench.model.acts
    acts["optimize"] = in_turn(writes("amp.cir", amplifier("4.7k")))
    bench.scripts = []

    def cut_then_go(question: Question) -> Answer:
        if question.kind == "checkpoint":
            bench.scripts = [error(401, "Invalid API key")]
        return recommended(question)

    with pytest.raises(ProviderError):
        await bench.design(decide=cut_then_go)
    assert bench.told(Done)[-1].stop_reason == "error"
    bench.scripts = []
    done = await bench.design(None)
    assert (done.goals_met, done.rounds) == (True, 2)
    assert bench.model.tasks == ["goals", "design", "analysis", "optimize", "analysis"]


async def test_calls_that_need_a_yes_are_asked_about_within_the_design(bench: Bench) -> None:
    bench.root.mkdir()
    (bench.root / "notes.md").write_text("mine\n")
    app = bench.build()
    rule = Rule(decision="ask", tool="rewrite_file", path="notes.md")
    await asyncio.to_thread(app.conversations.permissions.add_rules, bench.root, [rule])
    await app.close()

    def both(request: Request) -> Said:
        if request.answers == 0:
            return Said(calls=[("rewrite_file", {"path": "notes.md", "content": "theirs\n"})])
        return writes("amp.cir", amplifier("4.7k"))(replace(request, answers=request.answers - 1))

    bench.model.acts["design"] = both
    asked: list[ConfirmationCard] = []

    async def refuse(card: ConfirmationCard) -> Answers:
        asked.append(card)
        return same_answer(card, "refuse")

    done = await bench.design(confirm=refuse)
    assert done.goals_met
    ((card,), (needed,), (given,)) = asked, bench.told(ConfirmationNeeded), bench.told(ConfirmationGiven)
    assert (needed.card, given.card_id) == (card, card.card_id)
    assert (bench.root / "notes.md").read_text() == "mine\n"
    assert [event.error_type for event in bench.told(ToolEnded) if not event.success] == ["refused_by_user"]


async def test_a_file_that_is_written_as_it_was_is_no_round(bench: Bench) -> None:
    bench.model.acts["optimize"] = writes("amp.cir", amplifier("470"), "It is better now.")
    done = await bench.design()
    assert (done.goals_met, done.rounds) == (False, 1)
    assert "No file was changed, so there is no new round." in bench.words


async def test_people_are_not_shown_what_the_program_tells_the_model(bench: Bench) -> None:
    await bench.design()
    shown = [text_of(message) for message in messages_of(bench.lines()) if role_of(message) == "user"]
    assert shown == [TEXT]


async def test_the_model_explains_each_round_and_a_wrong_figure_of_its_is_marked(bench: Bench) -> None:
    long = says("The gain is 20.94 dB now.\n" * 30)
    bench.model.acts["analysis"] = in_turn(says("The gain is 31 dB."), long)
    await bench.design()
    table = next(request.given for request in bench.model.seen if request.task == "analysis")
    (row,) = [line for line in table.splitlines() if line.startswith("| gain")]
    assert "19.036 dB" in row
    assert "MISSED" in row
    first, second = bench.words
    assert first == "The gain is 31 dB (?)."
    assert second.count("\n") == 9
    assert "?" not in second


async def test_words_the_rules_are_not_sure_of_are_read_by_the_model(bench: Bench) -> None:
    bench.model.acts["intent"] = says('{"intent": "question", "confidence": 0.9}')
    typed = "hmm, the collector"
    read: list[str] = []

    async def ask(question: Question) -> Answer | Reply:
        if question.kind == "goals" or read:
            return recommended(question)
        at = {"goals_met": False, "has_failed": False, "can_undo": True, "rounds": 1}
        rules = read_checkpoint_text(typed, goals=question.goals, **at)
        assert not rules.is_sure
        assert question.reread is not None
        intent = await question.reread(rules)
        read.append(intent.kind)
        reply = reply_of(intent)
        assert reply is not None
        return replace(reply, said=(typed,))

    await bench.design(ask=ask)
    assert read == ["question"]
    assert [(event.kind, event.text) for event in bench.told(IntentRead)] == [("question", typed)]
    assert "question" in bench.model.tasks


async def test_a_supply_is_judged_at_the_operating_point_where_a_response_is_simulated_too(
    bench: Bench,
) -> None:
    supply = {"metric": "supply", "expression": "avg(v(vcc))", "analysis": "op", "minimum": 11.9}
    bench.model.acts["goals"] = says(json.dumps({**GOALS, "goals": [*GOALS["goals"], supply]}))
    netlist = amplifier("4.7k").replace(".ac", ".op\n.ac")
    bench.model.acts["design"] = writes("amp.cir", netlist)
    done = await bench.design()
    assert (done.stop_reason, done.rounds) == ("goals_met", 1)
    assert bench.told(IterationFinished)[0].metrics["supply"] == 12


async def test_a_goal_is_judged_in_its_condition_or_it_is_said_that_it_is_not(bench: Bench) -> None:
    (gain,) = GOALS["goals"]
    at = {
        "hot": "-40 to 85 degC",
        "low": "Vcc = 9 V",
        "slow": "SS corner",
        "full": "full load",
        "else": "Rx = 1 kOhm",
    }
    more = [{**gain, "metric": name, "condition": condition} for name, condition in at.items()]
    bench.model.acts["goals"] = says(json.dumps({**GOALS, "goals": [gain, *more]}))
    bench.model.acts["design"] = writes("amp.cir", amplifier("4.7k"))
    done = await bench.design(decide=lambda question: "continue" if question.kind == "goals" else "stop")
    full, slow = (str(note) for note in bench.told(GoalsUnderstood)[0].assumptions)
    assert full.startswith("The condition “full load” of full cannot be simulated: it is judged without it.")
    assert slow.startswith("The process corners SS are simulated when the circuit uses a model library")
    figures = done.metrics
    assert figures["slow"] == figures["full"] == figures["gain"]
    assert abs(figures["low"] - figures["gain"]) > 1
    assert abs(figures["hot"] - figures["gain"]) > 0.005
    assert any("else was not measured in its condition, Rx = 1 kOhm" in words for words in bench.words)
    table = next(request.given for request in bench.model.seen if request.task == "analysis")
    rows = {line.split("|")[1].strip(): line for line in table.splitlines() if line.startswith("| ")}
    assert "Vcc = 9 V |" in rows["low"]
    assert "SS corner (not simulated so: the circuit has no corner SS)" in rows["slow"]
    assert "full load (not simulated so)" in rows["full"]
    assert "-40 to 85 degC (judged at temp=" in rows["hot"]
    assert "not measured" in rows["else"]
    # The circuit's own run is its newest result, not that of a condition.
    newest = max(path.name for path in (bench.root / ".circuit_ai" / "sim_results").iterdir())
    results = [
        line["update"]["sim_result_path"]
        for line in bench.lines()
        if "sim_result_path" in line.get("update", {})
    ]
    assert newest in results[-1]


async def test_a_process_corner_is_simulated_where_the_library_has_it(bench: Bench) -> None:
    (gain,) = GOALS["goals"]
    at = {"slow": "慢角", "worst": "worst case", "warm": "SS, 85 degC"}
    more = [{**gain, "metric": name, "condition": condition} for name, condition in at.items()]
    bench.model.acts["goals"] = says(json.dumps({**GOALS, "goals": [gain, *more]}))
    models = "\n".join(
        f".lib mos_{name}\n.model qn npn(bf={beta} is=1e-14)\n.endl mos_{name}"
        for name, beta in (("tt", 30), ("ss", 8), ("ff", 25))
    )
    bench.root.mkdir()
    (bench.root / "models.lib").write_text(f"* models\n{models}\n", encoding="utf-8")
    netlist = re.sub(r"(?m)^\.model.*$", ".lib models.lib mos_tt", amplifier("4.7k"))
    bench.model.acts["design"] = writes("amp.cir", netlist)
    done = await bench.design(decide=lambda question: "continue" if question.kind == "goals" else "stop")
    (round_one,) = bench.told(IterationFinished)
    verdicts = {each.goal.metric: each for each in round_one.verdicts}
    figures = done.metrics
    assert figures["slow"] < figures["gain"] - 0.1
    assert figures["worst"] == figures["slow"] != figures["warm"]
    assert [verdicts[name].judged_at for name in ("gain", *at)] == ["", "SS", "SS", "SS, temp=85"]
    assert [verdicts[name].lacking for name in ("gain", *at)] == ["", "", "FS, SF", ""]
    said = [str(name_of_judged(verdicts[name])) for name in at]
    assert said == [
        "slow (慢角: judged at SS)",
        "worst (worst case: judged at SS, without FS, SF)",
        "warm (SS, 85 degC: judged at SS, temp=85)",
    ]
    again = [verdict_from_plain(verdict_to_plain(each)) for each in verdicts.values()]
    assert again == [*verdicts.values()]


async def test_what_comments_and_changes_has_the_netlist_its_traps_and_figures_with_units(
    bench: Bench,
) -> None:
    trap = amplifier("4.7k").replace("R1 vcc b 47k", "R1 vcc b 0.047M")
    bench.model.acts["design"] = writes("amp.cir", trap)
    await bench.design()
    for request in [each for each in bench.model.seen if each.task in ("analysis", "optimize")][:2]:
        assert "R1 vcc b 0.047M" in request.given
        assert "line 5: 0.047M is 47u: M is milli" in request.given
        assert " dB" in request.newest.split('"metrics"', 1)[1].split("</data>", 1)[0]
        assert not [line for line in request.system.split("\n") if line.endswith(": ")]
    change = next(each for each in bench.model.seen if each.task == "optimize")
    assert change.newest.endswith("Answer in English.")

    assert re.search(r"DC operating point:\nQ1 npn SATURATION: IC .*, VBE .*, VCE .*\nnodes: ", change.given)


async def test_an_invented_tool_is_answered_with_those_of_the_step(bench: Bench) -> None:
    def invent(request: Any) -> Said:
        return Said(calls=[("plot_bode_diagram", {})]) if request.answers == 0 else writes_it(request)

    def writes_it(request: Any) -> Said:
        if request.answers == 1:
            return Said(calls=[("rewrite_file", {"path": "amp.cir", "content": amplifier("4.7k")})])
        return Said("Done.")

    bench.model.acts["design"] = invent
    await bench.design()
    (refusal,) = {
        str(each.get("content"))
        for request in bench.model.seen
        for each in request.messages
        if each["role"] == "tool" and "plot_bode_diagram" in str(each.get("content"))
    }
    assert "rewrite_file" in refusal
    assert not {"delete_file", "set_goals", "check_goals"} & set(refusal.replace(",", " ").split())
