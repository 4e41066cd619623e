"""The agent loop's part of the state: ids and counters of the running turn, nothing else.

What was said is in the transcript; so a checkpoint row stays small however long a turn gets.
"""

from __future__ import annotations

from typing import TypedDict


class AgentState(TypedDict, total=False):
    """Shared by name with the parent graph's state."""

    session_id: str
    turn_id: str
    agent_round: int
    """Answers accepted in this turn."""
    agent_steps: list[str]
    """Ids of the turn's messages in the transcript's order, the user's first."""
    agent_pending: list[str]
    """Our ids of the calls of the newest answer that have no result yet."""
    agent_question: str
    """Id of the card the user has to answer before they run; "" when there is none."""
    agent_ended: str
    """How the turn ended (`application.ports.events.TurnEnd`); "" while it goes on."""
    agent_seconds: float
    """Model time used, in seconds."""
    agent_usage: dict[str, int]
    """Tokens used, by the field names of `domain.llm.chat.Usage`."""
