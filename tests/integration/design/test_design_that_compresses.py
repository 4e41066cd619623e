"""A long design with a small window is compressed between steps and loses no goal, lock or prohibition."""

from __future__ import annotations

from pathlib import Path

from application.ports.events import ConversationCompressed, ToolEnded
from application.workflow.designing import Answer, Question
from domain.llm.tokens import count_tokens
from tests.fakes.designing_model import Reply, Request, amplifier, text_of
from tests.integration.design.test_design_by_model import Bench

WISH = (
    "A common-emitter amplifier with a gain of at least 20 dB at 10 kHz. Never use an inductor. "
    "Don't touch Rl: it is the cable. Call me Dr. Li."
)
TALK = "The stage is loaded by its follower, and the follower by the line that it drives. " * 75
ROUNDS = 3


async def test_a_long_design_at_8k_keeps_goals_locks_and_prohibitions(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "project", tmp_path / "home")
    bench.settings = {"models": {"m": {"context_tokens": 8_192}}}
    value = 200

    def designs(request: Request) -> Reply:
        content = {"path": "amp.cir", "content": amplifier("200")}
        return Reply(TALK) if request.answers else Reply("", [("rewrite_file", content)])

    def improves(request: Request) -> Reply:
        nonlocal value
        if request.answers == 1:  # after the compression, too, it is not written
            lock = {"path": "amp.cir", "search": "Rl out 0 100k", "replace": "Rl out 0 10k"}
            return Reply("", [("patch_file", lock)])
        if request.answers:
            return Reply(TALK)
        before, value = value, value + 1
        change = {"path": "amp.cir", "search": f"Rc vcc c {before}", "replace": f"Rc vcc c {value}"}
        return Reply("", [("patch_file", change)])

    bench.model.acts |= {"design": designs, "optimize": improves}

    def decide(question: Question) -> Answer:
        return "continue" if question.round_number < ROUNDS else "stop"

    done = await bench.design(WISH, decide, max_iterations=ROUNDS)
    assert done.rounds == ROUNDS
    compressed = bench.told(ConversationCompressed)
    assert compressed, "nothing was compressed"
    rows = [line for line in bench.lines() if line["event"] == "compressed"]
    assert [row["compression_id"] for row in rows] == [each.compression.compression_id for each in compressed]
    refused = [event.error_type for event in bench.told(ToolEnded) if event.error_type]
    assert refused == ["locked_element"] * (ROUNDS - 1)
    steps = [request for request in bench.model.seen if request.task == "optimize"]
    assert len(steps) >= 2 * (ROUNDS - 1)
    for request in steps:
        everything = "\n".join(text_of(message) for message in request.messages)
        assert "gain of at least 20 dB" in request.system, "the goals"
        assert "Elements that must not change: Rl" in request.system
        assert "Never use an inductor." in everything
        assert "Call me Dr. Li." in everything
        assert sum(count_tokens(text_of(message)) for message in request.messages) < 8_192
    newest = "\n".join(text_of(message) for message in steps[-1].messages)
    assert newest.count(TALK) < ROUNDS - 1, "the oldest rounds stand there in short"
