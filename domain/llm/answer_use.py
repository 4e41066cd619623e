"""What the answers of a conversation took: tokens, cache, time and money, by what their messages say."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from typing import Any, Literal

from domain.llm.chat import Usage
from domain.llm.costs import Cost, cost_in, is_count, read_cost, total
from domain.llm.provider_settings import BUILTIN
from domain.llm.transcript import Json, extra_of, role_of, time_of_ulid, utc

CacheBreak = Literal["", "model", "tools", "system", "history", "pause", "context"]
"""Why a provider had to read again what it had read: another model, other tools, another system message,
earlier turns that were left out or summarized, a pause after which providers forget, other data before the
newest message."""

_LEAST_KEPT = 0.5
"""Of what was sent before; less is a break."""
_FORGOTTEN_S = 300.0
"""Providers keep what they have read for about five minutes (Anthropic, OpenAI; others say "some hours")."""
_LONGEST_S = 366 * 86400.0
_NO_FAILURE = ("stopped", "interrupted")


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestFacts:
    """What is noted of a request beside its tokens."""

    first_s: float | None = None
    """Until the first piece of the answer came; None when none came."""
    seconds: float = 0.0
    """Of the whole request, pauses before retries among them."""
    retries: int = 0
    saved: Cost = field(default_factory=Cost)
    """What the tokens read from the provider's cache would have cost beside what they did cost."""
    system: str = ""
    tools: str = ""
    history: str = ""
    """Short digests of the system message, the tools, and the first earlier message that was sent."""

    def to_plain(self) -> dict[str, Any]:
        plain: dict[str, Any] = {"seconds": round(self.seconds, 3)}
        if self.first_s is not None:
            plain["first_s"] = round(self.first_s, 3)
        if self.saved.amounts:
            plain["saved"] = self.saved.to_plain()
        named = {name: getattr(self, name) for name in ("retries", "system", "tools", "history")}
        return plain | {name: value for name, value in named.items() if value}

    def __add__(self, later: RequestFacts) -> RequestFacts:
        """Of an answer that was gone on with: what its second request takes comes on top."""
        return RequestFacts(
            first_s=self.first_s,
            seconds=self.seconds + later.seconds,
            retries=self.retries + later.retries,
            saved=self.saved + later.saved,
            system=later.system,
            tools=later.tools,
            history=later.history,
        )


def facts_in(extra: Mapping[str, Any]) -> RequestFacts | None:
    """`RequestFacts.to_plain` of a message's extra fields; None where there is none."""
    plain = extra.get("request")
    if not isinstance(plain, dict) or (seconds := _seconds(plain.get("seconds"))) is None:
        return None
    retries = plain.get("retries")
    digests = {
        name: value
        for name in ("system", "tools", "history")
        if isinstance(value := plain.get(name), str) and len(value) < 40
    }
    return RequestFacts(
        seconds=seconds,
        first_s=_seconds(plain.get("first_s")),
        retries=retries if is_count(retries) and retries < 1000 else 0,
        saved=read_cost(plain.get("saved")) or Cost(),
        **digests,
    )


def _seconds(value: object) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and 0 <= value < _LONGEST_S else None  # type: ignore[arg-type, operator]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerUse:
    """One answer of a model."""

    message_id: str
    created: str
    """ISO 8601, UTC; "" when nobody knows."""
    provider: str
    model: str
    usage: Usage
    """Zeros: its provider counted nothing."""
    cost: Cost
    facts: RequestFacts | None = None
    """None: of an earlier version of the program."""
    cache_break: CacheBreak = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class UseTotal:
    """Several answers together."""

    answers: int
    usage: Usage
    cost: Cost
    saved: Cost
    seconds: float
    """Of those that were timed."""
    retries: int
    recovered: int
    """Answers that came after a retry."""
    first_s: float | None
    """Until the first words of an answer, on average; None where nobody knows."""

    def to_plain(self) -> dict[str, Any]:
        named = {
            name: getattr(self, name) for name in ("answers", "seconds", "retries", "recovered", "first_s")
        }
        money = {"cost": self.cost.to_plain(), "saved": self.saved.to_plain()}
        return named | self.usage.to_plain() | money | {"cached_share": cached_share(self.usage)}


def cached_share(usage: Usage) -> float | None:
    """The share of the sent tokens that the provider had read before, 0 to 1; None when nothing was sent."""
    return min(usage.cached_tokens / usage.prompt_tokens, 1.0) if usage.prompt_tokens else None


def uses_of(messages: Iterable[Json]) -> tuple[AnswerUse, ...]:
    """The answers of a conversation, in order."""
    uses: list[AnswerUse] = []
    caching: set[str] = set()
    """Providers that have told of a cache: of the others nothing can be said."""
    before: AnswerUse | None = None
    for message in messages:
        if role_of(message) != "assistant":
            continue
        use = _use_of(message)
        if use.usage.cached_tokens:
            caching.add(use.provider)
        if before is not None and use.usage.prompt_tokens and use.provider in caching:
            use = _judged(use, before)
        uses.append(use)
        before = use if use.usage.prompt_tokens else before
    return tuple(uses)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkTotal:
    """Turns and the calls of tools in them."""

    turns: int = 0
    failed_turns: int = 0
    """Ended by an error."""
    calls: int = 0
    failed_calls: int = 0
    """Those that were stopped are none."""
    call_s: float = 0.0
    """Of the calls that were timed; some may have run beside each other."""

    def __add__(self, other: WorkTotal) -> WorkTotal:
        return WorkTotal(
            **{each.name: getattr(self, each.name) + getattr(other, each.name) for each in fields(self)}
        )

    def to_plain(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(self)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What answers took, and what else was done beside them."""

    answers: UseTotal
    work: WorkTotal

    def to_plain(self) -> dict[str, Any]:
        return self.answers.to_plain() | self.work.to_plain()


def work_of(events: Sequence[Json], messages: Iterable[Json], since: str = "") -> WorkTotal:
    """Of a transcript's events and its messages as they stand, from `since` (ISO 8601, UTC) on."""
    calls = [message for message in messages if role_of(message) == "tool" and _created(message) >= since]
    failed = [
        call
        for call in calls
        if call.get("status") == "error" and extra_of(call).get("error_type") not in _NO_FAILURE
    ]
    ended = [
        event
        for event in events
        if event.get("event") == "turn"
        and event.get("state") == "ended"
        and time_of_ulid(str(event.get("turn_id"))) >= since
    ]
    return WorkTotal(
        turns=len(ended),
        failed_turns=sum(event.get("stop_reason") == "error" for event in ended),
        calls=len(calls),
        failed_calls=len(failed),
        call_s=round(math.fsum(_seconds(extra_of(call).get("seconds")) or 0.0 for call in calls), 3),
    )


def total_of(uses: Sequence[AnswerUse]) -> UseTotal:
    """Of those that a model gave: the built-in designer takes nothing."""
    uses = [use for use in uses if use.provider != BUILTIN]
    facts = [use.facts for use in uses if use.facts is not None]
    first = [fact.first_s for fact in facts if fact.first_s is not None]
    return UseTotal(
        recovered=sum(fact.retries > 0 for fact in facts),
        first_s=round(math.fsum(first) / len(first), 3) if first else None,
        answers=len(uses),
        usage=sum((use.usage for use in uses), Usage()),
        cost=total(use.cost for use in uses),
        saved=total(fact.saved for fact in facts),
        seconds=round(math.fsum(fact.seconds for fact in facts), 3),
        retries=sum(fact.retries for fact in facts),
    )


def _use_of(message: Json) -> AnswerUse:
    extra = extra_of(message)
    told = extra.get("usage")
    counts = {
        item.name: count
        for item in fields(Usage)
        if isinstance(told, dict) and is_count(count := told.get(item.name))
    }
    message_id = message.get("id")
    return AnswerUse(
        message_id=message_id if isinstance(message_id, str) else "",
        created=_created(message),
        provider=_text(extra.get("provider")),
        model=_text(extra.get("model")),
        usage=Usage(**counts),
        cost=cost_in(extra),
        facts=facts_in(extra),
    )


def _created(message: Json) -> str:
    return utc(extra_of(message).get("timestamp")) or time_of_ulid(str(message.get("id")))


def _judged(use: AnswerUse, before: AnswerUse) -> AnswerUse:
    """The answer, with the reason where its provider had to read again what it had read."""
    expected = min(use.usage.prompt_tokens, before.usage.prompt_tokens)
    if use.usage.cached_tokens >= _LEAST_KEPT * expected:
        return use
    reason: CacheBreak = "context"
    now, then = use.facts, before.facts
    if (use.provider, use.model) != (before.provider, before.model):
        reason = "model"
    elif now is not None and then is not None and now.tools != then.tools:
        reason = "tools"
    elif now is not None and then is not None and now.system != then.system:
        reason = "system"
    elif now is not None and then is not None and then.history and now.history != then.history:
        reason = "history"
    elif _apart_s(before.created, use.created) > _FORGOTTEN_S:
        reason = "pause"
    return replace(use, cache_break=reason)


def _apart_s(first: str, second: str) -> float:
    try:
        return (datetime.fromisoformat(second) - datetime.fromisoformat(first)).total_seconds()
    except (ValueError, TypeError):  # nobody knows when
        return 0.0


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
