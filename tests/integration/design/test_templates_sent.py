"""Every template is sent by its node, as the user edited it, and the program knows when and for what."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from application.conversation.prompting import PromptChanges, SentPrompt
from application.conversation.turn_deps import ChatRequest
from application.workflow.design_sessions import reply_of
from application.workflow.designing import Answer, DesignRequest, Question, Reply
from domain.design.checkpoint_intent import read_checkpoint_text
from domain.llm.chat import ProviderChoice
from domain.llm.prompts.catalogue import TASKS, TaskName
from tests.fakes.designing_model import DesigningModel, amplifier, says, writes
from tests.integration.design.test_design_by_model import TEXT, Bench, recommended

STEPS: tuple[tuple[str, TaskName], ...] = (
    ("goals", "EXTRACT_DESIGN_GOALS"),
    ("design", "INITIAL_DESIGN"),
    ("fix", "FIX_ERROR"),
    ("analysis", "ANALYZE_SIMULATION"),
    ("question", "GENERAL_CONVERSATION"),
    ("intent", "INTENT_ANALYSIS"),
    ("instruction", "EXECUTE_INSTRUCTION"),
    ("analysis", "ANALYZE_SIMULATION"),
    ("optimize", "OPTIMIZE_PARAMETERS"),
    ("analysis", "ANALYZE_SIMULATION"),
    ("chat", "FREE_WORK_SYSTEM"),
)
"""The requests of the run below in their order, each by its node, with the template it has to hold."""


def own(task: TaskName) -> str:
    return f"Our house rule for {task}: 1 % resistors."


@dataclass
class Ran:
    model: DesigningModel
    sent: dict[TaskName, SentPrompt | None]
    identity: SentPrompt | None
    root: Path
    began: datetime


class Person:
    """Asks, instructs, then lets the design go on until its goals are met."""

    def __init__(self) -> None:
        self._asked = self._told = False

    async def __call__(self, question: Question) -> Answer | Reply:
        if question.kind == "goals" or question.has_failed:
            return recommended(question)
        if not self._asked:
            self._asked = True
            return Reply(answer="question", said=("Why?",), instruction="Why so little gain?")
        if not self._told:
            self._told = True
            typed = "hmm, the collector"
            at = {"goals_met": False, "has_failed": False, "can_undo": True, "rounds": 1}
            assert question.reread is not None
            intent = await question.reread(read_checkpoint_text(typed, goals=question.goals, **at))
            reply = reply_of(intent)
            assert reply is not None
            return replace(reply, said=(typed,))
        return recommended(question)


@pytest.fixture
async def ran(tmp_path: Path) -> Ran:
    """A design through every node and a turn of free work; each template holds a sentence of the user's."""
    bench = Bench(tmp_path / "project", tmp_path / "home")
    broken = amplifier("470").replace(".model qn", ".model qx")
    bench.model.acts |= {
        "design": writes("amp.cir", broken),
        "fix": writes("amp.cir", amplifier("470")),
        "intent": says('{"intent": "instruction", "confidence": 0.9, "instruction": "Take 680 for Rc"}'),
        "instruction": writes("amp.cir", amplifier("480"), "480 now."),
    }
    app, began = bench.build(), datetime.now(UTC)
    prompts = app.conversations.prompts
    try:
        texts = (await prompts.load()).templates
        edited = {task: f"{texts[task].content}\n\n{own(task)}" for task in TASKS}
        await prompts.apply(PromptChanges(templates=edited))
        with bench.server("openai-compatible") as server:
            choice = ProviderChoice(provider="openai-compatible", model="m", base_url=server.base_url)
            done = await app.design.run(
                DesignRequest(project=bench.root, text=TEXT, choice=choice),
                ask=Person(),
                emit=bench.events.append,
            )
            assert done.goals_met
            request = ChatRequest(project=bench.root, text="Thanks.", choice=choice, main_circuit="amp.cir")
            await app.conversations.chat(request, emit=bench.events.append)
            await app.conversations.inspect_context(bench.root, session_id="", choice=choice)
        sent = {task: prompts.last_sent(task) for task in TASKS}
        return Ran(bench.model, sent, prompts.last_sent(None), bench.root, began)
    finally:
        await app.close()


async def test_every_template_is_sent_by_its_node_as_the_user_edited_it(ran: Ran) -> None:
    # One run for all of it: it takes a dozen requests and four simulations.
    assert tuple(ran.model.tasks) == tuple(node for node, _ in STEPS)
    template_of = dict(STEPS)
    for request in ran.model.seen:
        held = {task for task in TASKS if own(task) in request.system}
        assert held == {template_of[request.task]}
    comments = [request.given for request in ran.model.seen if request.task == "analysis"]
    assert all("DC operating point:" in system and "VCE" in system for system in comments)
    read = {task for task in TASKS if any(own(task) in request.system for request in ran.model.seen)}
    apart = {"SUMMARIZE_CONVERSATION"}  # of no node: sent where a conversation is compressed
    assert set(TASKS) - read == apart

    assert {task for task, sent in ran.sent.items() if sent is None} == apart
    for task, sent in ran.sent.items():
        if sent is None:
            continue
        (last,) = [request for request in ran.model.seen if own(task) in request.system][-1:]
        told, *values = sent.text.split("\n\n<data", 1)
        assert told in last.system
        assert all(f"<data{each}" in last.given for each in values)
        assert (sent.task, sent.project) == (task, ran.root.resolve())
        assert sent.circuit == ("" if task in ("EXTRACT_DESIGN_GOALS", "INITIAL_DESIGN") else "amp.cir")
        assert ran.began <= sent.at <= ran.began + timedelta(hours=1)
    ids = {task: sent.session_id for task, sent in ran.sent.items() if sent is not None}
    assert all(ids.values())
    assert len({session for task, session in ids.items() if task != "FREE_WORK_SYSTEM"}) == 1
    assert ids["FREE_WORK_SYSTEM"] != ids["INITIAL_DESIGN"]
    assert ran.identity is not None
    assert ran.identity.task == "FREE_WORK_SYSTEM"
    assert ran.identity.text in ran.model.seen[-1].system
