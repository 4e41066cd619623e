"""Figures proposed for an analysis fit the circuit; a form and its card say the same."""

import pytest

from domain.circuit.analysis_proposals import (
    KINDS,
    card_of,
    kinds_for,
    missing_ac,
    number_word,
    proposed,
    read_card,
)
from domain.circuit.netlist import Netlist
from shared.errors import UserInputError
from tests.ground.cases import for_each


def _deck(*lines: str) -> Netlist:
    return Netlist.parse("\n".join(("* title", *lines, ".end", "")).encode())


RC = ("R1 in out 1k", "C1 out 0 100n")


@for_each(
    ("lines", "kind", "card"),
    [
        (("V1 in 0 SIN(0 1 1k)", *RC), "tran", ".tran 20u 10m"),
        (("V1 in 0 SIN(0 1 1k)", *RC), "ac", ".ac dec 20 1 1meg"),
        (("V1 in 0 PULSE(0 5 1u 10n 10n 2u 5u)", *RC), "tran", ".tran 10n 50u"),
        (("V1 in 0 PULSE(0 5 0 1n 1n 1u)", *RC), "tran", ".tran 1n 5u"),
        (("V1 in 0 5", *RC), "tran", ".tran 2u 1m"),
        (("V1 in 0 SIN(0 1 {f})", "R1 in 0 {r}"), "tran", ".tran 20u 10m"),
        (("V1 in 0 AC 1", "L1 in out 10u", "C1 out 0 1n"), "ac", ".ac dec 20 1k 1g"),
        (("V1 in 0 12", *RC), "dc", ".dc V1 0 12 120m"),
        (("V1 in 0 AC 1", *RC), "noise", ".noise v(out) V1 dec 20 1 1meg"),
        ((), "op", ".op"),
    ],
)
def test_what_is_proposed_fits(lines, kind, card):
    assert card_of(kind, proposed(_deck(*lines), kind)) == card


def test_what_the_sources_are_made_for_comes_first():
    assert kinds_for(_deck("V1 in 0 SIN(0 1 1k)", *RC))[0] == "tran"
    assert kinds_for(_deck("V1 in 0 AC 1", *RC))[0] == "ac"
    assert kinds_for(_deck("V1 in 0 5", "R1 in 0 1k"))[0] == "op"
    assert missing_ac(_deck("V1 in 0 5", *RC)) == "V1"
    assert missing_ac(_deck("V1 in 0 DC 5 AC 1", *RC)) == ""


@for_each("lines", [(), ("R1 a 0 1e300", "C1 a 0 1e300"), ("V1 a 0 sin(0 1 -1)",), ("V1 a 0 pulse(",)])
def test_no_circuit_is_too_strange(lines):
    deck = _deck(*lines)
    for kind in KINDS:
        values = proposed(deck, kind)
        if all(values.get(name) for name in values if name != "start"):
            assert read_card(card_of(kind, values))[0] == kind


@for_each(
    "card",
    [
        ".tran 1u 1m",
        ".tran 1u 1m 2u",
        ".ac dec 10 1 1k",
        ".dc V1 0 5 0.1",
        ".op",
        ".noise v(o) V1 dec 5 1 1k",
    ],
)
def test_a_card_goes_through_the_form_unchanged(card):
    kind, values = read_card(card)
    assert card_of(kind, values) == card


@for_each("card", [".tran 1u 1m 0 1u uic", ".ac lin 10 1 1k", ".dc V1 0 5 1 V2 0 1 1", ".tf v(o) V1", ""])
def test_a_card_the_form_would_lose_something_of_is_left_alone(card):
    assert read_card(card) is None


@for_each(
    ("kind", "values", "told"),
    [
        ("tran", {"stop": "", "step": "1u"}, "Stop time is missing"),
        ("tran", {"stop": "1m", "step": "2m"}, "no longer than"),
        ("tran", {"stop": "1m", "step": "1u", "start": "2m"}, "after the start"),
        ("ac", {"points": "10", "start": "1k", "stop": "1"}, "lower one first"),
        ("ac", {"points": "10", "start": "0", "stop": "1"}, "more than 0"),
        ("dc", {"source": "V1", "start": "5", "stop": "0", "step": "1"}, "lead from"),
        ("tran", {"stop": "fünf", "step": "1u"}, "not a complete"),
        ("ac", {"points": "10\n.op", "start": "1", "stop": "2"}, "not an analysis"),
    ],
)
def test_what_cannot_be_is_refused_in_words(kind, values, told):
    with pytest.raises(UserInputError, match=told):
        card_of(kind, values)


@for_each(("value", "word"), [(2e6, "2meg"), (1e-3, "1m"), (5e-7, "500n"), (0, "0"), (1e15, "1e+03t")])
def test_numbers_are_those_of_netlists(value, word):
    assert number_word(value) == word
