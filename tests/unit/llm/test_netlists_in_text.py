"""Which code blocks of an answer are complete netlists."""

from __future__ import annotations

import pytest

from domain.llm.netlists_in_text import complete_netlists, file_text, proposed_name, what_is_missing
from tests.ground.cases import for_each

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


@for_each(
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


@pytest.mark.parametrize(
    ("block", "missing"),
    [
        ("RC low-pass\nV1 in 0 AC 1\nR1 in out 1k\nC1 out 0 1n\n.ac dec 10 1 1meg\n.end\n", ""),
        ("V1 in 0 AC 1\nR1 in 0 1k\n.op", ""),
        ("* x\nV1 in 0 1\nR1 in 0 1k\n.control\nop\n.endc\n.end", ""),
        ("V1 in 0 AC 1\nR1 in 0 1k", "no analysis"),
        (".subckt amp in out\nE1 out 0 in 0 10\n.ends amp", "not a complete circuit"),
        ("* x\nR1 a b 1k\nR2 a b 2k\n.op", "ground"),
        ("", "not a complete circuit"),
    ],
)
def test_a_block_that_can_not_be_run_says_what_is_missing(block: str, missing: str) -> None:
    told = what_is_missing(block)
    assert (told is None) if not missing else (missing in str(told))


def test_the_file_of_a_block_has_a_title_and_a_name() -> None:
    assert file_text("V1 in 0 1\nR1 in 0 1k\n", ".cir") == "* circuit\nV1 in 0 1\nR1 in 0 1k\n"
    assert file_text("RC low-pass of order 2\r\nV1 in 0 1\n", ".cir") == "RC low-pass of order 2\nV1 in 0 1\n"
    assert file_text(".model D1 D\n", ".lib") == ".model D1 D\n"
    assert proposed_name("RC low-pass\nV1 a 0 1\n.op") == "rc_low-pass.cir"
    assert proposed_name("V1 a 0 1\n.op") == "circuit.cir"
    assert proposed_name(".subckt Amp in out\nE1 out 0 in 0 10\n.ends") == "amp.lib"
    assert proposed_name(".subckt ../../x in out\n.ends") == "circuit.cir"
