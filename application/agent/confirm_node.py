"""The two steps between an answer and its tool calls: review what they would do, ask the user about it.

Asking is a step of its own without any effect before its interrupt: LangGraph runs such a node again from
its start when the answer comes. One interrupt stands for all calls of the answer, because a plain resume
cannot tell parallel ones apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from langgraph.types import interrupt

from application.agent.state import AgentState
from application.agent.stream import tell
from application.ports.events import PhaseEntered
from domain.llm.tools.confirmation_card import answers_from_plain

if TYPE_CHECKING:
    from application.agent.turn_confirmation import TurnConfirmation
    from application.tool_execution.context import ToolContext

CONFIRM = "confirm"
"""Kind of the interrupt's value, beside ``card_id``."""


class ReviewNode:
    """Judges the pending calls and writes the question, if there is one, to the transcript."""

    def __init__(self, *, confirmation: TurnConfirmation, context: ToolContext) -> None:
        self._confirmation = confirmation
        self._context = context

    async def __call__(self, state: AgentState) -> AgentState:
        """Set the card that has to be answered. Raises UserInputError for unreadable permissions."""
        card_id = await self._confirmation.review(state["agent_pending"], self._context)
        if card_id:
            tell(PhaseEntered(phase="waiting", round_number=state["agent_round"]))
        return {"agent_question": card_id}

    async def is_needed(self, state: AgentState) -> bool:
        """Whether the calls might have to be asked about; else this step is saved."""
        return await self._confirmation.needs_review(state["agent_pending"], self._context)


class ConfirmNode:
    """Waits for the answers and writes them to the transcript."""

    def __init__(self, *, confirmation: TurnConfirmation, context: ToolContext) -> None:
        self._confirmation = confirmation
        self._context = context

    async def __call__(self, state: AgentState) -> AgentState:
        """One interrupt; its answer is on the disk before the calls run."""
        given = interrupt({"kind": CONFIRM, "card_id": state["agent_question"]})
        await self._confirmation.record(state["agent_question"], answers_from_plain(given), self._context)
        return {"agent_question": ""}
