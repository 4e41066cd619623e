"""What answers of models took and cost: tokens, cache, time, and published prices times the tokens.

A price that is not known is never guessed: such answers are counted, not priced. Amounts stay in the currency
in which the provider publishes its prices; nothing is converted.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from datetime import datetime
from typing import Any, Literal, TypeGuard

from domain.llm.chat import Usage
from domain.llm.provider_settings import BUILTIN
from domain.llm.transcript import Json, extra_of, role_of, time_of_ulid, utc
from shared.setting import read_fields, setting

CURRENCIES = ("USD", "CNY", "EUR")
_MILLION = 1_000_000
_MOST_PER_MILLION = 1_000_000
_MOST = 1e12
"""Of money; sums of it stay finite."""
_MONEY = r"\s*([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*([A-Za-z]{3})?\s*"


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """Money for a million tokens. Where a provider has several (times of day, service levels) the highest."""

    input: float = setting(MISSING, bounds=(0, _MOST_PER_MILLION))
    output: float = setting(MISSING, bounds=(0, _MOST_PER_MILLION))
    cached: float | None = setting(None, bounds=(0, _MOST_PER_MILLION))
    """Of input that the provider had cached; None = as other input."""
    currency: str = setting("USD", choices=CURRENCIES)
    long_from: int | None = None
    """Prompts of more tokens are `long_input` and `long_output` times as expensive, the whole request."""
    long_input: float = 1.0
    long_output: float = 1.0

    def of(self, usage: Usage) -> float:
        """The price of a request's tokens; reasoning counts as output, as providers bill it."""
        is_long = self.long_from is not None and usage.prompt_tokens > self.long_from
        cached = min(usage.cached_tokens, usage.prompt_tokens)
        cached_price = self.input if self.cached is None else self.cached
        read = (usage.prompt_tokens - cached) * self.input + cached * cached_price
        written = usage.completion_tokens * self.output
        if is_long:
            read, written = read * self.long_input, written * self.long_output
        return (read + written) / _MILLION


PriceList = Callable[[str], Price | None]
"""A model's name ("" = the chosen one) -> its price, None when that is not known."""

FREE = Price(input=0.0, output=0.0)
"""Of the built-in model, and of models that run on the user's own computer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What some answers cost together."""

    amounts: Mapping[str, float] = field(default_factory=dict)
    """Currency -> amount."""
    unknown: int = 0
    """Answers of which nobody knows what they cost: no price, or no count of tokens."""

    def __add__(self, other: Cost) -> Cost:
        amounts = {
            currency: self.amounts.get(currency, 0.0) + other.amounts.get(currency, 0.0)
            for currency in {**self.amounts, **other.amounts}
        }
        return Cost(amounts=amounts, unknown=self.unknown + other.unknown)

    @property
    def is_free(self) -> bool:
        """Whether it certainly cost nothing."""
        return not self.unknown and not any(self.amounts.values())

    def to_plain(self) -> dict[str, Any]:
        """As JSON takes it; amounts to a millionth."""
        amounts = {currency: round(amount, 6) for currency, amount in self.amounts.items() if amount}
        return {"amounts": amounts, "unknown_answers": self.unknown}


def cost_of(usage: Usage | None, price: Price | None) -> Cost:
    """What one answer cost; `usage` None (or nothing but zeros): its provider told no tokens."""
    if price == FREE:
        return Cost()
    if price is None or usage is None or not (usage.prompt_tokens or usage.completion_tokens):
        return Cost(unknown=1)
    return Cost(amounts={price.currency: price.of(usage)})


def saved_of(usage: Usage | None, price: Price | None) -> Cost:
    """What an answer would have cost more, had its provider had nothing of the request in its cache."""
    if price is None or usage is None or not usage.cached_tokens:
        return Cost()
    return Cost(amounts={price.currency: price.of(replace(usage, cached_tokens=0)) - price.of(usage)})


def total(costs: Iterable[Cost]) -> Cost:
    return sum(costs, Cost())


def read_cost(value: object) -> Cost | None:
    """`Cost.to_plain` read back; None where it is none."""
    if not isinstance(value, dict) or not isinstance(value.get("amounts"), dict):
        return None
    unknown = value.get("unknown_answers", 0)
    told = {currency: value["amounts"].get(currency) for currency in CURRENCIES}
    amounts = {currency: float(amount) for currency, amount in told.items() if is_amount(amount)}
    return Cost(amounts=amounts, unknown=unknown if is_count(unknown) else 1)


def cost_in(extra: Mapping[str, Any]) -> Cost:
    """What an answer cost, by the extra fields of its message; its provider's, when nobody looked."""
    told = read_cost(extra.get("cost"))
    if told is not None:
        return told
    return Cost() if extra.get("provider") in (None, "", "builtin") else Cost(unknown=1)


def is_count(value: object) -> TypeGuard[int]:
    """Whether a transcript's number can be one of tokens, messages or answers; sums of them can be shown."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 53


def is_amount(value: object) -> bool:
    """Whether it is a number that money can be: finite, not below 0."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and 0 <= value <= _MOST  # type: ignore[operator]


def read_money(text: str) -> tuple[float, str]:
    """Amount and currency of "2.5", "0.5 USD" or "3cny"; USD where none is named.

    Raises ValueError for anything else, and for nothing.
    """
    found = re.fullmatch(_MONEY, text)
    if found is None:
        raise ValueError(text)
    amount, currency = float(found[1]), (found[2] or "USD").upper()
    if not 0 < amount < _MOST_PER_MILLION or currency not in CURRENCIES:
        raise ValueError(text)
    return amount, currency


def read_price(row: object) -> Price:
    """A price as data files write it: ``{"input": 1, "cached": 0.1, "output": 4, "currency": "USD"}``.

    `cached` and `currency` may be missing; further ``"long": {"from": 272000, "input": 2, "output": 1.5}``.
    Raises ValueError.
    """
    if not isinstance(row, Mapping):
        raise ValueError(row)
    content, long = dict(row), row.get("long")
    content.pop("long", None)
    price = read_fields(Price, content, only=("input", "output", "cached", "currency"))
    if long is None:
        return price
    if not isinstance(long, Mapping) or not all(map(is_amount, map(long.get, ("from", "input", "output")))):
        raise ValueError(row)
    return replace(price, long_from=int(long["from"]), long_input=float(long["input"]),
                   long_output=float(long["output"]))  # fmt: skip


def price_to_plain(price: Price) -> dict[str, Any]:
    """`read_price` backwards."""
    plain: dict[str, Any] = {"input": price.input, "output": price.output, "currency": price.currency}
    if price.cached is not None:
        plain["cached"] = price.cached
    if price.long_from is not None:
        plain["long"] = {"from": price.long_from, "input": price.long_input, "output": price.long_output}
    return plain


def shown_amount(amount: float, currency: str) -> str:
    """An amount for people: two places from 1 on, else two that say something ("0.0042 USD")."""
    if amount >= 1 or amount == 0:
        return f"{amount:.2f} {currency}"
    places = min(2 + max(0, -math.floor(math.log10(amount)) - 1), 8)
    return f"{amount:.{places}f} {currency}"


def shown_cost(cost: Cost) -> str:
    """All amounts for people, "0.0042 USD + 0.10 CNY"; "" when there is none."""
    return " + ".join(shown_amount(amount, currency) for currency, amount in cost.amounts.items() if amount)


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
