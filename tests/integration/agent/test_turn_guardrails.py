"""Models that go wrong, through the real loop: each turn ends in a stated result, and the next one works."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from application.app import Application
from application.conversation.turn import TurnPhases
from application.ports.events import AnswerStreamed, ChatEvent, PhaseEntered, ToolEnded, TurnEnd, TurnEnded
from application.tool_execution.definition import Arguments, Tool, ToolContext
from application.tool_execution.executor import ToolExecutor
from bootstrap import build
from domain.llm.agentic_loop.claims import Doubts
from domain.llm.agentic_loop.policy import PHASES, PhaseMachine
from domain.llm.chat import ProviderChoice, ProviderError
from domain.llm.tools.look import unknown_look
from domain.llm.tools.result import EffectClass, ToolCall, ToolResult, failure
from shared.cpu_executor import CpuTaskExecutor, CpuWorkerCrashed
from shared.message import msg
from tests.fakes.llm_server import FakeLLMServer, Script, answer, call
from tests.integration.agent.in_process import messages_of, turn

DECK = "RC low-pass\nVin in 0 DC 0 AC 1\nR1 in out 1k\nC1 out 0 1u\n.ac dec 10 1 100k\n.end\n"
READ = call("read_file", {"path": "rc.cir"})
LIST = call("list_project_files", {})
WRONG = call("patch_file", {"path": "rc.cir", "search": "R9 in out", "replace": "R9 in 0"})
RIGHT = call("patch_file", {"path": "rc.cir", "search": "R1 in out 1k", "replace": "R1 in out 2k"})


@pytest.fixture
async def app() -> AsyncIterator[Application]:
    application = build()
    yield application
    await application.close()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "rc.cir").write_text(DECK)
    return tmp_path


@dataclass(frozen=True)
class Wrong:
    """A model that goes wrong: its answers (the last one for ever), and how its turn has to end."""

    answers: Sequence[Script]
    end: TurnEnd
    asked: int
    note: str = ""
    """A word of what the user is told."""
    told: str = ""
    """A word of what the model is told."""


WRONG_MODELS = {
    "endless loop": Wrong([answer("", calls=[READ])], "loop", 5, "same step", "Repeating them"),
    "A-B-A-B": Wrong(
        [answer("", calls=[one]) for _ in range(8) for one in (READ, LIST)], "loop", 10, "2 steps", "2 steps"
    ),
    "the same error": Wrong([answer("", calls=[WRONG])], "loop", 5, "failed", "has now failed 2 times"),
    "the same error among others": Wrong(
        [answer("", calls=[WRONG, call("list_project_files", {"pattern": f"{n}*"})]) for n in range(9)],
        *("loop", 5, "patch_file failed 5 times", "was not run"),
    ),
    "12 calls in one answer": Wrong(
        [answer("", calls=[call("run_simulation", {"parameters": {"R1": n}}) for n in range(1, 13)]),
         answer("Done.")],
        *("completed", 2, "", "only the first 5 calls"),
    ),
    "the same circuit in other words": Wrong(
        [answer("", calls=[one]) for n in range(9) for one in (
            call("rewrite_file", {"path": "rc.cir", "content": DECK.replace("C1 ", f"* {n}\nC1 {' ' * n}")}),
            call("run_simulation", {"file_path": "rc.cir"}),
        )],
        *("loop", 10, "same netlist", "with the same result"),
    ),
    "an unknown tool": Wrong(
        [answer("", calls=[call("fly_to_moon", {})]), answer("I cannot.")], "completed", 2, "", "unknown_tool"
    ),
    "an unknown tool, for ever": Wrong([answer("", calls=[call("fly", {})])], "loop", 5, "fly failed"),
    "invalid arguments": Wrong(
        [answer("", calls=[call("read_file", {"pfad": 3})]), answer("Sorry.")], "completed", 2, "", "bad_arg"
    ),
    "claims success without doing it": Wrong(
        [answer("I have changed R1 to 2k."), answer("As said, I have changed R1 to 2k.")],
        *("completed", 2, "in no result", "in no result"),
    ),
    "a comparison the figures prove wrong": Wrong(
        [answer("The output is 3 V, above 9 V.")], *("completed", 2, "say otherwise", "other side of it")
    ),
    "cut at its limit, for ever": Wrong(
        [answer(f"part {n} of a long text, ", finish_reason="length") for n in range(9)],
        *("length", 6, "after 5 continuations", "cut off"),
    ),
    "cut, and then repeats itself": Wrong(
        [answer("A text that is cut off here", finish_reason="length")], "length", 2, "output limit"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG_MODELS)
async def test_a_model_that_goes_wrong_ends_in_a_stated_result(
    app: Application, project: Path, name: str
) -> None:
    wrong = WRONG_MODELS[name]
    answers = list(wrong.answers)
    with FakeLLMServer(lambda _body: answers.pop(0) if len(answers) > 1 else answers[0]) as server:
        ended, events = await turn(app, server, project, "Set R1 to 2k.")
        assert (ended.stop_reason, len(server.requests)) == (wrong.end, wrong.asked)
        assert wrong.note in str(ended.note)
        sent = json.dumps([body["messages"] for body in server.requests])
        assert wrong.told in sent
        _check_phases(events)
        # The conversation goes on as if nothing had been, with everything counted anew.
        answers[:] = [answer("", calls=[RIGHT]), answer("Done.")]
        after, _ = await turn(app, server, project, "Set R1.", session_id=_session_id(project))
    assert (after.stop_reason, after.note) == ("completed", None)
    assert "R1 in out 2k" in (project / "rc.cir").read_text()
    assert messages_of(project)[-1]["content"] == "Done."


async def test_an_empty_turn_is_an_error_with_a_name(app: Application, project: Path) -> None:
    events: list[ChatEvent] = []
    with FakeLLMServer([answer(""), answer("")]) as server, pytest.raises(ProviderError) as caught:
        await turn(app, server, project, emit=events.append)
    assert caught.value.error_type == "empty_answer"
    assert isinstance(events[-1], TurnEnded)
    assert events[-1].stop_reason == "error"


async def test_a_model_that_only_thought_is_asked_once(app: Application, project: Path) -> None:
    thought = answer("", reasoning="The user wants R1 at 2k.")
    with FakeLLMServer([thought, answer("Done.")]) as server:
        ended, _ = await turn(app, server, project)
        assert "gave no answer" in str(server.requests[1]["messages"][-1]["content"])
    assert (ended.stop_reason, messages_of(project)[-1]["content"]) == ("completed", "Done.")
    with FakeLLMServer([thought, thought, answer("Done.")]) as server:
        with pytest.raises(ProviderError):
            await turn(app, server, project)
        assert len(server.requests) == 2


@pytest.mark.parametrize("text", ["Done.", "好的。", "42", "v(out)", "The cutoff is", "没有"])
async def test_short_answers_stand_as_they_are(app: Application, project: Path, text: str) -> None:
    with FakeLLMServer([answer(text)]) as server:
        ended, _ = await turn(app, server, project)
        assert len(server.requests) == 1
    assert (ended.stop_reason, ended.note) == ("completed", None)


@pytest.mark.parametrize("ending", ["length", "unmarked"])
async def test_a_cut_answer_is_gone_on_with_in_the_same_message(
    app: Application, project: Path, ending: str
) -> None:
    first = answer("The gain is forty and the band", reasoning="a", finish_reason="length")
    if ending == "unmarked":  # a clean close that says nothing of an end
        first = replace(first, pieces=first.pieces[:-3])
    rest = answer("is forty and the bandwidth is one.", reasoning="b")
    with FakeLLMServer([first, rest]) as server:
        ended, events = await turn(app, server, project)
        again = server.requests[1]["messages"]
    assert (ended.stop_reason, ended.note) == ("completed", None)
    whole = "The gain is forty and the bandwidth is one."
    pieces = [event for event in events if isinstance(event, AnswerStreamed)]
    assert "".join(piece.text for piece in pieces) == whole
    assert len({piece.message_id for piece in pieces}) == 1
    assert [again[-2]["role"], again[-1]["role"]] == ["assistant", "user"]
    shown = (await app.conversations.sessions.show(project, _session_id(project))).messages[-1]
    assert (shown.text, shown.partial, shown.reasoning, list(shown.earlier)) == (whole, False, "ab", [])
    assert ended.usage["total_tokens"] == (97 if ending == "unmarked" else 2 * 97)


@pytest.mark.parametrize(
    ("first", "end", "note"),
    [
        (answer("The first half", finish_reason="length"), "length", "output limit"),
        (answer("I have changed R1 to 2k."), "completed", "in no result"),
    ],
)
async def test_a_provider_that_fails_when_asked_for_more_spoils_nothing(
    app: Application, project: Path, first: Script, end: TurnEnd, note: str
) -> None:
    with FakeLLMServer([first]) as server:  # it has no second answer: HTTP 400
        ended, events = await turn(app, server, project, "Set R1 to 2k.")
        assert len(server.requests) == 2
    assert (ended.stop_reason, note in str(ended.note)) == (end, True)
    pieces = [event.text for event in events if isinstance(event, AnswerStreamed)]
    assert messages_of(project)[-1]["content"] == "".join(pieces)
    _check_phases(events)


async def test_a_call_behind_a_cut_is_run_once(app: Application, project: Path) -> None:
    cut = answer("I lower it: ", finish_reason="length")
    with FakeLLMServer([cut, answer("now.", calls=[RIGHT]), answer("Done.")]) as server:
        ended, _ = await turn(app, server, project)
    assert ended.stop_reason == "completed"
    assert (project / "rc.cir").read_text() == DECK.replace("1k", "2k", 1)
    assert [m["content"] for m in messages_of(project) if m["type"] == "assistant"][-1] == "Done."


async def test_a_false_claim_that_is_made_true_leaves_no_mark(app: Application, project: Path) -> None:
    claim = answer("I have changed R1 to 2k.")
    with FakeLLMServer([claim, answer("", calls=[RIGHT]), claim]) as server:
        ended, _ = await turn(app, server, project, "Set R1 to 2k.")
    assert (ended.stop_reason, ended.note) == ("completed", None)
    assert (project / "rc.cir").read_text() == DECK.replace("1k", "2k", 1)


async def test_a_long_answer_is_judged_in_a_process_of_its_own(
    app: Application, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also when that process ends."""
    claim = answer("It is a low-pass filter. " * 200 + "Simulated, its corner is at 98.7 MHz.")
    judged: list[Doubts] = []
    in_process = CpuTaskExecutor.run

    async def run(self: CpuTaskExecutor, job: Callable[[], Doubts]) -> Doubts:
        judged.append(await in_process(self, job))
        if len(judged) > 1:
            raise CpuWorkerCrashed(msg("It ended."))
        return judged[0]

    monkeypatch.setattr(CpuTaskExecutor, "run", run)
    with FakeLLMServer([claim, claim]) as server:
        ended, _ = await turn(app, server, project, "What is it?")
    assert [list(doubts.figures) for doubts in judged] == [["98.7 MHz"]] * 2  # asked about once
    assert "98.7 MHz" in str(ended.note)


@pytest.mark.expects_error_log("could not be checked")
async def test_a_fault_of_the_check_does_not_take_the_answer_along(
    app: Application, project: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_all: object, **_named: object) -> Doubts:
        raise ZeroDivisionError

    monkeypatch.setattr("application.agent.watch.doubts_about", fail)
    with FakeLLMServer([answer("Its corner is at 159 Hz.")]) as server:
        ended, _ = await turn(app, server, project, "What is it?")
    assert ended.stop_reason == "completed"
    assert [m["content"] for m in messages_of(project)][-1] == "Its corner is at 159 Hz."
    assert "could not be checked" in caplog.text


async def test_a_refused_call_runs_again_when_its_file_was_changed(app: Application, project: Path) -> None:
    """By the user in the editor, say."""

    def outside(_body: Any) -> Script:
        (project / "rc.cir").write_text(DECK.replace("R1 in out", "R9 in out"))
        return answer("", calls=[WRONG])

    failing = answer("", calls=[WRONG])
    read = answer("", calls=[READ])
    with FakeLLMServer([read, *[failing] * 3, outside, read, failing, answer("Done.")]) as server:
        _, events = await turn(app, server, project)
    ends = [event.error_type for event in events if isinstance(event, ToolEnded)]
    assert ends == ["", *["search_not_found"] * 2, "repeated_failure", "file_modified_externally", "", ""]
    results = [message for message in messages_of(project) if message["type"] == "tool"]
    assert "has now failed" not in results[4]["content"]  # to read again is no failure that counts
    assert "R9 in 0" in (project / "rc.cir").read_text()


async def test_reading_is_tried_again_by_itself_and_a_change_never(app: Application, project: Path) -> None:
    tried: list[str] = []

    def tool(name: str, effect: EffectClass) -> Tool[Any]:
        async def run(_arguments: Arguments, _context: ToolContext, _call: ToolCall) -> ToolResult:
            tried.append(name)
            if len(tried) == 3:
                return ToolResult(success=True, content="there", summary=msg("Already done."))
            return failure("timeout", msg("Already done."))

        return Tool(
            name=name,
            title=msg("Already done."),
            look=unknown_look(name),
            description="Fails at first.",
            category="file",
            effect=effect,
            arguments=Arguments,
            run=run,
        )

    executor = ToolExecutor([tool("look", "read"), tool("shift", "create")])
    app.conversations.chat.deps = replace(app.conversations.chat.deps, executor=lambda: executor)
    calls = [call("look", {}, id="a"), call("shift", {}, id="b")]
    with FakeLLMServer([answer("", calls=calls), answer("Done.")]) as server:
        _, events = await turn(app, server, project)
    assert tried == ["look", "look", "look", "shift"]
    assert [event.success for event in events if isinstance(event, ToolEnded)] == [True, False]


def test_a_phase_that_cannot_be_is_refused_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    phases = TurnPhases()
    assert phases.enter("preparing") is not None
    with caplog.at_level("CRITICAL", "application.conversation.turn"):
        assert phases.follow(PhaseEntered(phase="aggregating", round_number=1), tokens=0) is None
        assert phases.follow(PhaseEntered(phase="flying", round_number=1), tokens=0) is None
    assert phases.phase == "preparing"
    assert phases.follow(PhaseEntered(phase="calling", round_number=1), tokens=7) == PhaseEntered(
        phase="calling", round_number=1, tokens=7
    )
    assert phases.follow(PhaseEntered(phase="calling", round_number=1), tokens=7) is None


async def test_simulations_without_progress_are_told_with_their_figures(
    app: Application, project: Path
) -> None:
    (project / "rc.cir").write_text(DECK.replace(".end", ".meas ac gain max vdb(in)\n.end"))
    run = call("run_simulation", {"file_path": "rc.cir"}, id="s")
    steps = [
        answer(
            "", calls=[call("patch_file", {"path": "rc.cir", "search": f"{n}u", "replace": f"{n + 1}u"}), run]
        )
        for n in range(1, 4)
    ]
    with FakeLLMServer([*steps, answer("It does not depend on C1.")]) as server:
        ended, _ = await turn(app, server, project)
        last = server.requests[-1]["messages"][-1]["content"]
        assert "no progress" not in json.dumps([body["messages"] for body in server.requests[:-1]])
    assert ended.stop_reason == "completed"
    assert "3 simulations of rc.cir brought no progress" in last
    assert "- gain: " in last


def _check_phases(events: list[ChatEvent]) -> None:
    """The phases are in an order the machine allows, and count the rounds."""
    machine = PhaseMachine()
    phases = [event for event in events if isinstance(event, PhaseEntered)]
    for event in phases:
        machine.enter(next(phase for phase in PHASES if phase == event.phase))
    assert machine.phase == "complete"
    rounds = [event.round_number for event in phases if event.phase == "calling"]
    assert rounds == list(range(1, len(rounds) + 1))
    assert phases[-1].tokens > 0


def _session_id(project: Path) -> str:
    (session,) = (project / ".circuit_ai" / "conversations").glob("*.jsonl")
    return session.stem


async def test_a_small_model_names_the_conversation(app: Application, project: Path) -> None:
    with (
        FakeLLMServer([answer("It is a low-pass.")]) as server,
        FakeLLMServer([answer("<think>hm</think>\n“RC low-pass explained.”\nMore")]) as small,
    ):
        model = ProviderChoice(provider="openai-compatible", model="small", base_url=small.base_url)
        app.conversations.chat.deps = replace(app.conversations.chat.deps, small_model=model)
        await turn(app, server, project, "What is this?")
        assert "It is a low-pass." in json.dumps(small.requests[0]["messages"])
    assert (
        await app.conversations.sessions.show(project, _session_id(project))
    ).name == "RC low-pass explained"


async def test_a_small_model_that_fails_or_is_not_wanted_changes_nothing(
    app: Application, project: Path
) -> None:
    with FakeLLMServer([answer("x", drop=True), answer("Fine.")]) as server, FakeLLMServer([]) as small:
        model = ProviderChoice(provider="openai-compatible", model="small", base_url=small.base_url)
        app.conversations.chat.deps = replace(app.conversations.chat.deps, small_model=model)
        with pytest.raises(ProviderError):
            await turn(app, server, project, "What is this?")
        assert small.requests == []  # the turn failed: no title
        ended, _ = await turn(app, server, project, "And now?", session_id=_session_id(project))
        assert len(small.requests) == 1
    assert ended.stop_reason == "completed"
    assert (await app.conversations.sessions.show(project, _session_id(project))).name == "What is this?"


async def test_runs_are_judged_by_the_goals_of_their_own_circuit(app: Application, project: Path) -> None:
    """Also when a study of another circuit, which has goals of its own, came last."""
    deck = DECK.replace(".end", ".meas ac gain max vdb(in)\n.end")
    goals = project / ".circuit_ai" / "goals"
    goals.mkdir(parents=True)
    for name, least in (("rc.cir", 11), ("other.cir", 22)):
        (project / name).write_text(deck)
        goal = {"metric": "gain", "expression": "max(db(v(in)))", "unit": "dB", "minimum": least}
        (goals / f"{name}.json").write_text(
            json.dumps({"schema_version": 2, "circuit": name, "goals": [goal]})
        )
    study = call(
        "run_parametric_sweep", {"file_path": "other.cir", "sweep_params": {"C1": ["1u", "2u"]}}, id="o"
    )
    steps = [
        answer(
            "", calls=[call("run_simulation", {"file_path": "rc.cir", "parameters": {"C1": f"{n}u"}}), study]
        )
        for n in range(1, 4)
    ]
    with FakeLLMServer([*steps, answer("It does not depend on C1.")]) as server:
        await turn(app, server, project)
        last = server.requests[-1]["messages"][-1]["content"]
    assert "3 simulations of rc.cir brought no progress towards the goals" in last
    assert "(goal >= 11 dB)" in last
    assert "22" not in last
