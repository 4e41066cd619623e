"""What answers of models cost: published prices times the tokens that their providers count.

A price that is not known is never guessed: such answers are counted, not priced. Amounts stay in the currency
in which the provider publishes its prices; nothing is converted.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, field, replace
from typing import Any, TypeGuard

from domain.llm.chat import Usage
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
