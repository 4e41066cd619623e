"""Runs designs by a model in processes that can be killed; orders and answers as in `resume_driver.py`.

An order is a line of JSON: {"project", "base_url", "home", "what", "kill_at", "until"}. What: "chat" leads
one, "design" begins a design in its conversation, "resume" goes on with it, "go_back" puts its round `round`
back when it has ended, "undo" undoes the last change. The fork kills itself right before the nth moment at
which something becomes durable. What is decided follows from the transcript alone: the goals are taken, and
the nth checkpoint gets the nth of `DECISIONS`; behind `until` answers (null: never) nobody answers any more,
and the design waits.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import sys
from pathlib import Path
from typing import Any

import bootstrap
from application.agent import conversation
from application.app import Application
from application.conversation.turn_deps import ChatRequest
from application.workflow.designing import Answer, DesignRequest, Question, Reply, ResumeRequest
from domain.llm.chat import ProviderChoice
from domain.llm.tools.confirmation_card import same_answer
from shared.errors import CircuitAIError, NeedsConfirmation
from shared.message import msg
from shared.paths import USER_HOME_VARIABLE
from tests.ground.forked_commands import count_moments, import_everything
from tests.integration.design.resume_driver import in_fork

SENTENCE = "A new common-emitter amplifier with a gain of at least 20 dB at 10 kHz"
DECISIONS: tuple[Answer | Reply, ...] = (
    "continue",
    "continue",
    "undo",
    Reply(answer="go_back", round_number=1),
    Reply(answer="question", instruction="Why so little gain?"),
    Reply(answer="instruction", instruction="Take 1.5k for Rc"),
    "continue",
    "fix",
    "continue",
    "stop",
)


def decided_in(project: Path) -> int:
    """How many questions were answered."""
    sessions = (project / ".circuit_ai" / "conversations").glob("*.jsonl")
    lines = [line for session in sessions for line in session.read_bytes().splitlines(keepends=True)]
    events = [json.loads(line) for line in lines if line.endswith(b"\n")]
    return sum(event.get("kind") in ("goals", "checkpoint") and "answer" in event for event in events)


async def chat(app: Application, order: dict[str, Any], choice: ProviderChoice) -> dict[str, Any]:
    request = ChatRequest(project=Path(order["project"]), text="Hello", choice=choice)
    ended = await app.conversations.chat(request, emit=lambda _event: None)
    return {"stop_reason": ended.stop_reason, "error_type": ""}


async def work(order: dict[str, Any]) -> dict[str, Any]:
    folder = Path(order["project"])

    async def ask(question: Question) -> Answer | Reply:
        answered = await asyncio.to_thread(decided_in, folder)
        if answered == order["until"]:
            raise NeedsConfirmation(msg("Nobody is there to answer."), error_type="nobody")
        return "continue" if question.kind == "goals" else DECISIONS[answered - 1]

    async def confirm(card: Any) -> Any:
        return same_answer(card, "allow")

    app = bootstrap.build(environment=os.environ | {USER_HOME_VARIABLE: order["home"]})
    choice = ProviderChoice(provider="openai-compatible", model="m", base_url=order["base_url"])
    try:
        if order["what"] == "chat":
            return await chat(app, order, choice)
        (session,) = await app.conversations.sessions.list(folder)
        if order["what"] == "go_back":
            back = await app.design.go_back(folder, order["round"])
            return {"round": back.number, "error_type": ""}
        if order["what"] == "undo":
            await app.project.operations.undo(folder)
            return {"error_type": ""}
        request = (
            ResumeRequest(project=folder, choice=choice)
            if order["what"] == "resume"
            else DesignRequest(project=folder, text=SENTENCE, choice=choice, session_id=session.session_id)
        )
        done = await app.design.run(request, ask=ask, emit=lambda _event: None, confirm=confirm)
    except CircuitAIError as error:
        return {"error_type": error.error_type, "error": str(error)}
    finally:
        await app.close()
    return {"stop_reason": done.stop_reason, "rounds": done.rounds, "error_type": ""}


def carry_out(order: dict[str, Any]) -> dict[str, Any]:
    moments = count_moments(order["kill_at"])
    conversation.DELTA_INTERVAL_S = 0.02  # what streams in is written several times in a short answer
    return {**asyncio.run(work(order)), "moments": moments()}


def main() -> None:
    import_everything()
    gc.freeze()  # what is shared with the children stays so
    for line in sys.stdin:
        order = json.loads(line)
        print(json.dumps(in_fork(lambda order=order: carry_out(order))), flush=True)


if __name__ == "__main__":
    main()
