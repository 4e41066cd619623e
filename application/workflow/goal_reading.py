"""Goals by one structured call: the model is asked once for JSON, and once more with the checker's words."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from domain.design.goal_extraction import GoalsRead, read_answer
from domain.llm.context_block import fence_data
from shared.message import Message, msg

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

AskOnce = Callable[[Sequence["BaseMessage"]], Awaitable[str]]
"""Asks the model once, with JSON wanted (`json_mode`); gives the text of its answer."""

_SHOWN_AGAIN = 12_000
"""Characters of a refused answer that the model sees again."""


async def read_goals(ask: AskOnce, *, system: str, text: str) -> GoalsRead:
    """What a model makes of a user's `text`, told its task by `system` (EXTRACT_DESIGN_GOALS, filled).

    An answer that is not accepted is given back once with what is wrong. However that ends there is something
    to go on with: goals, questions or a `reply`; `problems` and `left_out` tell what was not understood even
    then. Nothing a model answers raises; what `ask` raises goes through.
    """
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

    asked: list[BaseMessage] = [SystemMessage(system), HumanMessage(text)]
    answer = await ask(asked)
    first = read_answer(answer)
    if not first.problems:
        return first
    asked += [AIMessage(answer[:_SHOWN_AGAIN].strip() or "(nothing)"), HumanMessage(_correction(first))]
    second = read_answer(await ask(asked))
    return _with_reply(_better(first, second))


def _correction(refused: GoalsRead) -> str:
    lines = "\n".join(f"- {problem}" for problem in refused.problems)
    return (
        f"This answer cannot be used as it is:\n{fence_data('problems', lines)}\nSend the whole JSON object "
        "again, with this put right and everything else as it was. Nothing but the object."
    )


def _better(first: GoalsRead, second: GoalsRead) -> GoalsRead:
    """The second answer, unless it lost goals of the first one; a goal that it dropped is left out."""
    if second.problems and len(second.goals) < len(first.goals):
        return first
    if second.problems or len(second.goals) >= len(first.goals) + len(first.left_out):
        return second
    said = {word for goal in second.goals for word in (goal.words, goal.metric)}
    dropped = tuple(name for name in first.left_out if name not in said)
    return replace(second, left_out=dropped)


def _with_reply(found: GoalsRead) -> GoalsRead:
    """With our own words to the user where the model has none for what was not understood."""
    if found.reply:
        return found
    reply: str | Message = ""
    if found.goals and found.left_out:
        reply = msg(
            "These requirements could not be turned into figures that a simulation measures: {names}. Say "
            "them differently, or continue without them.",
            names="; ".join(found.left_out),
        )
    elif not found.goals and not found.questions:
        reply = msg(
            "No goals could be read from the model's answer. What must the circuit do? Give figures with "
            "units, for example “low-pass, cutoff 10 kHz, ripple below 0.1 dB”."
        )
    return replace(found, reply=reply)
