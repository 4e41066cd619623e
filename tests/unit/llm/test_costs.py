"""What answers cost: prices times tokens, nothing guessed, nothing converted."""

from __future__ import annotations

import pytest

from domain.llm.chat import Usage
from domain.llm.costs import (
    FREE,
    Cost,
    Price,
    cost_in,
    cost_of,
    price_to_plain,
    read_cost,
    read_money,
    read_price,
    shown_amount,
    shown_cost,
    total,
)
from domain.llm.messages import create_ai_message, get_cost
from tests.ground.cases import for_each

PRICE = Price(input=1.0, cached=0.1, output=10.0)
USAGE = Usage(
    prompt_tokens=1_000_000, completion_tokens=200_000, cached_tokens=400_000, reasoning_tokens=150_000
)


def test_cached_input_is_cheaper_and_reasoning_is_output() -> None:
    assert PRICE.of(USAGE) == pytest.approx(0.6 + 0.04 + 2.0)
    assert Price(input=1.0, output=10.0).of(USAGE) == pytest.approx(1.0 + 2.0)
    odd = Usage(prompt_tokens=10, cached_tokens=500)
    assert Price(input=2.0, cached=1.0, output=1.0).of(odd) == pytest.approx(1e-5)


def test_a_long_prompt_makes_the_whole_request_dearer() -> None:
    price = read_price({"input": 1, "output": 10, "long": {"from": 272_000, "input": 2, "output": 1.5}})
    assert price.of(Usage(prompt_tokens=272_000, completion_tokens=1000)) == pytest.approx(0.272 + 0.01)
    assert price.of(Usage(prompt_tokens=272_001, completion_tokens=1000)) == pytest.approx(0.544002 + 0.015)
    assert read_price(price_to_plain(price)) == price


def test_what_is_not_known_is_counted_and_currencies_stay_apart() -> None:
    yuan = Price(input=5.0, output=5.0, currency="CNY")
    tokens = Usage(prompt_tokens=1_000_000)
    all_of_them = total(
        [cost_of(tokens, PRICE), cost_of(tokens, yuan), cost_of(None, PRICE), cost_of(tokens, None)]
    )
    assert all_of_them == Cost(amounts={"USD": 1.0, "CNY": 5.0}, unknown=2)
    assert shown_cost(all_of_them) == "1.00 USD + 5.00 CNY"
    assert cost_of(None, FREE) == Cost()
    assert cost_of(Usage(), PRICE) == Cost(unknown=1)
    assert Cost().is_free
    assert not cost_of(None, None).is_free


def test_a_message_keeps_what_it_cost() -> None:
    cost = Cost(amounts={"USD": 0.001234}, unknown=1)
    assert get_cost(create_ai_message("a", cost=cost, provider="openai")) == cost
    assert get_cost(create_ai_message("a", cost=Cost(), provider="ollama")) == Cost()
    assert get_cost(create_ai_message("a", provider="openai")) == Cost(unknown=1)
    assert get_cost(create_ai_message("a", provider="builtin")) == Cost()


@pytest.mark.parametrize(
    "damaged",
    [
        None,
        5,
        [],
        {"amounts": 1},
        {"amounts": {"USD": -1}},
        {"amounts": {"USD": float("nan")}, "unknown_answers": -1},
    ],
)
def test_a_damaged_cost_is_never_money(damaged: object) -> None:
    read = read_cost(damaged)
    assert read is None or not read.amounts
    assert not cost_in({"cost": damaged, "provider": "openai"}).amounts


@pytest.mark.parametrize(
    ("text", "money"),
    [("2.5", (2.5, "USD")), ("0.5 usd", (0.5, "USD")), ("3CNY", (3.0, "CNY")), (" .2EUR ", (0.2, "EUR"))],
)
def test_money_as_people_write_it(text: str, money: tuple[float, str]) -> None:
    assert read_money(text) == money


@for_each("text", ["", "0", "-1", "nan", "inf", "1e3", "5 BTC", "$5", "1,5", "1 000", "9999999"])
def test_what_is_no_money(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        read_money(text)


@for_each(
    "row",
    [
        {},
        {"input": 1},
        {"input": -1, "output": 1},
        {"input": "1", "output": 1},
        {"input": True, "output": 1},
        {"input": 1, "output": float("inf")},
        {"input": 1, "output": 1, "currency": "BTC"},
        {"input": 1, "output": 1, "nose": 1},
        {"input": 1, "output": 1, "long": {"from": 5}},
        [],
        None,
    ],
)
def test_a_price_that_is_none_is_told(row: object) -> None:
    with pytest.raises(ValueError, match=r".*"):
        read_price(row)


@pytest.mark.parametrize(
    ("amount", "shown"),
    [(0.0, "0.00 USD"), (12.345, "12.35 USD"), (0.0042, "0.0042 USD"), (0.00000042, "0.00000042 USD")],
)
def test_small_amounts_are_still_seen(amount: float, shown: str) -> None:
    assert shown_amount(amount, "USD") == shown
