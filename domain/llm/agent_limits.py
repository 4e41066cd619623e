"""How far one turn of the agent may go by itself."""

from __future__ import annotations

from dataclasses import dataclass

from domain.llm.costs import CURRENCIES
from shared.message import msg
from shared.setting import setting

MOST_CALLS_OF_ANSWER = 100
"""An answer with more tool calls is no answer of a model: it is refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentLimits:
    """Limits of a turn; at any of them it ends with what is done, and can be continued afresh."""

    # fmt: off
    rounds: int = setting(15, msg("Answers per turn"), bounds=(1, 200),
        help=msg("The most answers the model may give to one message."))
    warn_round: int = setting(10, msg("Warn from answer"), bounds=(1, 200),
        help=msg("From this answer on, the model is asked to finish."))
    calls_per_answer: int = setting(5, msg("Tool calls per answer"), bounds=(1, 50),
        help=msg("Further calls in the same answer are not run."))
    model_seconds: float = setting(300.0, msg("Model time"), bounds=(1, 86_400), unit="s",
        help=msg("In one turn; tools, simulations, questions and pauses before a retry do not count."))
    continuations: int = setting(5, msg("Continuations"), bounds=(0, 20),
        help=msg("How often an answer that was cut off is continued without asking."))
    session_tokens: int = setting(0, msg("Tokens per conversation"), bounds=(0, 10**12), unit="tokens",
        help=msg("All answers together, as the provider counts them; 0 = no limit."))
    session_cost: float = setting(0.0, msg("Cost per conversation"), bounds=(0, 10**6), option="--max-cost",
        help=msg("All answers together, in the currency below; 0 = no limit."))
    currency: str = setting("USD", msg("Currency"), choices=CURRENCIES,
        help=msg("Currency of the cost limit; nothing is converted."))
    calls_per_second: int = setting(10, msg("Tool calls per second"), bounds=(1, 1000),
        help=msg("Counted over three seconds; further calls wait."))
    compress: bool = setting(default=True, title=msg("Summarize long conversations"),
        help=msg("Automatically, at 80 % of the model's context window; otherwise only on request."))
    parallel: int = setting(3, msg("Parallel tool calls"), bounds=(1, 16),
        help=msg("Only calls that do not depend on each other run at the same time."))
    # fmt: on
