"""What an answer took, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from domain.llm.chat import Usage
from domain.llm.costs import AnswerUse, CacheBreak, Spent, cached_share, shown_cost
from presentation.figures import short_count
from shared.message import Message, msg

CACHE_BREAKS: Mapping[CacheBreak, Message] = {
    "model": msg("Nothing came from the cache: another model answered."),
    "tools": msg("Nothing came from the cache: other tools were offered."),
    "system": msg("Nothing came from the cache: the system message had changed."),
    "history": msg("Not from the cache: earlier turns were left out or summarized."),
    "pause": msg("Not from the cache: providers keep a request for a few minutes only."),
    "context": msg(
        "Not from the cache, from the project data on: what is sent with the message had changed."
    ),
}
"""Why a provider did not find in its cache what it had read before."""


def seconds_of(seconds: float) -> str:
    """``0.8 s``, ``12 s``, ``3 min``."""
    if seconds < 119.5:
        return f"{seconds:.1f} s" if seconds < 9.95 else f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min"


def token_line(usage: Usage) -> Message:
    """What was sent and answered."""
    share = cached_share(usage)
    if not usage.cached_tokens or share is None:
        return msg("{sent} tokens sent, {answered} received", sent=short_count(usage.prompt_tokens),
                   answered=short_count(usage.completion_tokens))  # fmt: skip
    return msg("{sent} tokens sent ({share} from the cache), {answered} received",
               sent=short_count(usage.prompt_tokens), share=f"{share:.0%}",
               answered=short_count(usage.completion_tokens))  # fmt: skip


def use_lines(use: AnswerUse) -> Iterator[Message]:
    """Everything that is known of one answer, a line each."""
    if use.usage.prompt_tokens or use.usage.completion_tokens:
        yield token_line(use.usage)
    facts = use.facts
    if facts is not None:
        if facts.first_s is not None:
            yield msg("{seconds}, first token after {first}", seconds=seconds_of(facts.seconds),
                      first=seconds_of(facts.first_s))  # fmt: skip
        if facts.retries:
            yield msg("{count} {count:retry|retries}", count=facts.retries)
    if spent := shown_cost(use.cost):
        saved = shown_cost(facts.saved) if facts is not None else ""
        yield (
            msg("{spent}; the cache saved {saved}", spent=spent, saved=saved)
            if saved
            else msg("{spent} at list prices", spent=spent)
        )
    if use.cache_break:
        yield CACHE_BREAKS[use.cache_break]


def spent_lines(spent: Spent) -> Iterator[Message]:
    """What several answers took together, and what was done beside them, a line each."""
    answers, work = spent.answers, spent.work
    if not answers.answers:
        yield msg("No model was asked; the built-in designer uses no tokens.")
    else:
        yield msg("{count} {count:answer|answers} in {seconds}, {tokens}", count=answers.answers,
                  seconds=seconds_of(answers.seconds), tokens=token_line(answers.usage))  # fmt: skip
        if cost := shown_cost(answers.cost):
            saved = shown_cost(answers.saved) or "0"
            yield msg("{spent}; the cache saved {saved}", spent=cost, saved=saved)
        if answers.cost.unknown:
            yield msg("Cost of {count} {count:answer|answers} unknown", count=answers.cost.unknown)
        if answers.first_s is not None:
            yield msg("First token after {seconds} on average", seconds=seconds_of(answers.first_s))
    if work.calls:
        yield msg("{count} tool {count:call|calls} in {seconds}, {failed} failed", count=work.calls,
                  seconds=seconds_of(work.call_s), failed=work.failed_calls)  # fmt: skip
    if answers.retries:
        yield msg("{count} {count:retry|retries}, {recovered} {recovered:answer|answers} recovered",
                  count=answers.retries, recovered=answers.recovered)  # fmt: skip
    if work.failed_turns:
        yield msg("{failed} of {turns} {turns:turn|turns} ended with an error",
                  failed=work.failed_turns, turns=work.turns)  # fmt: skip


def use_document(use: AnswerUse) -> dict[str, Any]:
    """One answer for scripts."""
    facts = use.facts
    return {
        "message_id": use.message_id,
        "created": use.created,
        "provider": use.provider,
        "model": use.model,
        "usage": use.usage.to_plain(),
        "cached_share": cached_share(use.usage),
        "cost": use.cost.to_plain(),
        "saved": facts.saved.to_plain() if facts is not None else None,
        "first_s": facts.first_s if facts is not None else None,
        "seconds": facts.seconds if facts is not None else None,
        "retries": facts.retries if facts is not None else None,
        "cache_break": use.cache_break,
    }
