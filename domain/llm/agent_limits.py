"""How far one turn of the agent may go by itself."""

from __future__ import annotations

from dataclasses import dataclass

MOST_CALLS_OF_ANSWER = 100
"""An answer with more tool calls is no answer of a model: it is refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentLimits:
    """Limits of a turn; at any of them it ends with what is done, and can be continued afresh."""

    rounds: int = 15
    """Answers of the model."""
    warn_round: int = 10
    """From this answer on the model is told to come to an end."""
    calls_per_answer: int = 5
    """Tool calls of one answer that are run; the others come back as not run."""
    model_seconds: float = 300.0
    """Time of the model alone: tools, simulations, questions and pauses before a retry don't count."""
    continuations: int = 5
    """How often an answer that was cut off, or left something out, is gone on with by itself."""
    session_tokens: int = 0
    """Tokens of all answers of a conversation, as the provider counts them; 0 = no limit."""
    session_cost: float = 0.0
    """What the answers of a conversation may cost, in `currency`; 0 = no limit."""
    currency: str = "USD"
    """One of `domain.llm.costs.CURRENCIES`."""
    calls_per_second: int = 10
    """Tool calls that begin a second, over any three seconds; the next ones wait."""
    parallel: int = 3
    """Independent calls at the same time."""
