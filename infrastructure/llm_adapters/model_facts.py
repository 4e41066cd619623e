"""What is known of models without asking: ``resources/models.json``, and what the user adds to it.

Rows are data with a source and a date. A model that is in none of them has no known limits and abilities;
what is not known is tried, and learned from what its server says.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import UTC, date, datetime
from functools import cache
from pathlib import Path
from typing import Any

from domain.llm.chat import ModelAbilities
from domain.llm.costs import Price, read_price

FILE = Path(__file__).resolve().parents[2] / "resources" / "models.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedPrice:
    """What a model costs at one provider."""

    provider: str
    price: Price
    until: date | None
    """The last day it is said for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFacts:
    """One row of the file."""

    names: re.Pattern[str]
    abilities: ModelAbilities
    price: PublishedPrice | None
    as_of: str
    """ISO date."""
    basis: str
    """"read": compared with the provider's own page then; "quoted": with others; "known": not yet."""
    source: str


@cache
def rows() -> tuple[ModelFacts, ...]:
    """All rows, in their order. Blocking at the first call: it reads the file."""
    return tuple(_row(row) for row in _content()["rows"])


def facts_of(model: str) -> ModelFacts | None:
    """The first row that fits a model's name (``organisation/`` before it does not count)."""
    name = model.rpartition("/")[2].strip()
    return next((row for row in rows() if row.names.fullmatch(name)), None)


def abilities_of(
    provider: str, model: str, *, added: Mapping[str, ModelAbilities] | None = None
) -> ModelAbilities:
    """What a model can do, as far as it is known. Blocking at the first call.

    `added` are the user's own rows, by ``"model"`` or ``"provider model"``; they come before the file's.
    """
    facts = facts_of(model)
    known = ModelAbilities() if facts is None else facts.abilities
    for name in (model, f"{provider} {model}"):
        own = (added or {}).get(name)
        if own is not None:
            told = {one.name: getattr(own, one.name) for one in fields(own)}
            known = replace(known, **{name: value for name, value in told.items() if value is not None})
    return known


def price_of(
    provider: str,
    model: str,
    *,
    added: Mapping[str, Price] | None = None,
    is_own_address: bool = True,
    today: date | None = None,
) -> Price | None:
    """What a model costs at a provider, None when that is not known. Blocking at the first call.

    `added` are the user's own prices, by ``"model"`` or ``"provider model"``; `is_own_address`: it is asked
    at the address that the published prices are for.
    """
    for name in (f"{provider} {model}", model):
        if own := (added or {}).get(name):
            return own
    facts = facts_of(model)
    told = None if facts is None else facts.price
    if told is None or told.provider != provider or not is_own_address:
        return None
    is_past = told.until is not None and (today or datetime.now(UTC).date()) > told.until
    return None if is_past else told.price


def small_model_of(provider: str) -> str:
    """A cheap, quick model of a provider for titles and summaries; "" when none is known. Blocking."""
    return str(_content()["small_models"].get(provider, ""))


@cache
def _content() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(FILE.read_text("utf-8"))
    return content


def _row(row: Mapping[str, Any]) -> ModelFacts:
    return ModelFacts(
        names=re.compile(row["models"], re.IGNORECASE),
        abilities=ModelAbilities(
            tools=row.get("tools"),
            vision=row.get("vision"),
            thinking=row.get("thinking"),
            context_tokens=row.get("context"),
            output_tokens=row.get("output"),
        ),
        price=_price(row.get("price")),
        as_of=row["as_of"],
        basis=row["basis"],
        source=row["source"],
    )


def _price(row: Mapping[str, Any] | None) -> PublishedPrice | None:
    if row is None:
        return None
    of_file = {"provider", "until", "remark"}
    until = row.get("until")
    return PublishedPrice(
        provider=row["provider"],
        price=read_price({name: value for name, value in row.items() if name not in of_file}),
        until=None if until is None else date.fromisoformat(until),
    )
