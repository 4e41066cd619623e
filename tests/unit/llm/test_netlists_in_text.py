"""Which code blocks of an answer are complete netlists."""

from __future__ import annotations

import pytest

from domain.llm.netlists_in_text import complete_netlists

DECK = "RC low-pass, 1 kHz\nVin in 0 AC 1\nR1 in out 1k\nC1 out 0 159n\n.ac dec 10 1 1meg\n.end"


def block(text: str, language: str = "spice") -> str:
    return f"Here it is:\n\n```{language}\n{text}\n```\nSay when you want it changed."


def test_a_complete_netlist_is_found_with_its_title_and_a_name_for_its_file() -> None:
    (netlist,) = complete_netlists(block(DECK))
    assert (netlist.text, netlist.title, netlist.elements) == (f"{DECK}\n", "RC low-pass, 1 kHz", 3)
    assert netlist.file_name == "rc_low-pass_1_khz.cir"
    assert [one.title for one in complete_netlists(block(DECK) + block("* 运放\n" + DECK, ""))] == [
        "RC low-pass, 1 kHz",
        "* 运放",
    ]
    assert len(complete_netlists(block(DECK) + block(DECK))) == 1
    assert complete_netlists(block("*/../\x00\n" + DECK))[0].file_name == "circuit.cir"


@pytest.mark.parametrize(
    "text",
    [
        DECK,  # not in a block
        block(DECK, "python"),
        block("R1 in out 2k\nC1 out 0 1u"),  # two lines of a change
        block("title\nR1 in out 1k\n.end"),
        block("title\nR1 a b 1k\nR2 b c 1k\n.end"),  # no ground
        block(".subckt amp in out\nR1 in out 1k\nR2 out 0 1k\n.ends"),
        block('{"R1": "in 0"}', ""),
        f"```spice\n{DECK}",  # still open
        "",
    ],
)
def test_what_is_no_complete_netlist_is_left_alone(text: str) -> None:
    assert complete_netlists(text) == ()


def test_an_empty_block_ends_with_its_own_fence() -> None:
    assert complete_netlists("```\n```\n" + block(DECK)) == complete_netlists(block(DECK))
