"""A netlist as its author laid it out."""

from __future__ import annotations

from domain.circuit.netlist import Netlist
from domain.circuit.sections import sections_of

DECK = """* Two stages
.include lib/opamp.lib

VCC  vcc 0   DC 5
VIN  in  0   DC 0  AC 1

* Stage 1: f0 = 10.07 kHz, Q = 0.545
R1   in  a   13k
C1   a   0   1n
XU1  a   o1  vcc opamp

* 第二级：f0 = 9.84 kHz，Q = 1.304
R2   o1  b   6.2k
C2   b   0   1n

* Load
RL   b   0   10k
.param gain=2
.model sw1 sw vt=1
.ac dec 10 1 1meg
.meas ac fc when vdb(b)=-3
.end
"""


def sections(text: str, *, has_title: bool = True) -> list[tuple[str, str, str, list[str]]]:
    netlist = Netlist.parse(text.encode(), has_title=has_title)
    return [(s.kind, s.name, s.value, [item.name for item in s.items]) for s in sections_of(netlist)]


def test_headings_make_sections_with_their_last_figure() -> None:
    found = sections(DECK)
    assert ("heading", "Stage 1", "Q 0.545", ["R1", "C1", "XU1"]) in found
    assert ("heading", "第二级", "Q 1.304", ["R2", "C2"]) in found


def test_a_comment_before_one_element_is_no_heading() -> None:
    assert ("elements", "", "", ["RL"]) in sections(DECK)


def test_everything_else_has_a_section_of_its_kind() -> None:
    kinds = [kind for kind, *_ in sections(DECK)]
    assert kinds == [
        *("heading", "heading", "elements", "sources", "nodes", "analyses", "measures"),
        *("parameters", "models", "includes"),
    ]


def test_rows_carry_value_and_line() -> None:
    rows = {
        item.name: (item.value, item.line)
        for section in sections_of(Netlist.parse(DECK.encode()))
        for item in section.items
    }
    assert rows["R1"] == ("13k", 8)
    assert rows["XU1"] == ("opamp", 10)
    assert rows["VIN"] == ("DC 0  AC 1", 5)
    assert rows["ac"] == ("dec 10 1 1meg", 20)
    assert rows["fc"] == ("ac", 21)


def test_comments_between_elements_without_a_blank_line_are_remarks() -> None:
    text = "t\n* first\nR1 a 0 1\nR2 a 0 1\n* remark: x = 1\nR3 a 0 1\nR4 a 0 1\n"
    assert sections(text) == [("elements", "", "", ["R1", "R2", "R3", "R4"]), ("nodes", "", "", ["a"])]


def test_rules_of_dashes_are_no_headings_but_free_the_next_line() -> None:
    text = "t\nR1 a 0 1\n*------\n* Output stage\n*------\nR2 a 0 1\nR3 a 0 1\n"
    assert ("heading", "Output stage", "", ["R2", "R3"]) in sections(text)


def test_elements_of_a_subcircuit_stand_under_it_only() -> None:
    text = ".subckt amp in out\nR1 in out 1k\n.ends\n"
    assert sections(text, has_title=False) == [("subcircuit", "amp", "in out", ["R1"])]


def test_nothing_and_nonsense_have_no_sections() -> None:
    for data in (b"", b"\xff\xfe\x00", b"title only", b"* \n" * 5, "\ufeff* t\nR".encode("utf-16")):
        sections_of(Netlist.parse(data))
    assert sections("") == []


def test_nodes_stand_at_their_first_lines_with_their_terminals() -> None:
    text = "t\nV1 IN gnd 1\nR1 in\n+ out 1k\nC1 out 0 1n\nX1 in out part\n.subckt part a b\nR1 a c 1\n.ends\n"
    (nodes,) = [each for each in sections_of(Netlist.parse(text.encode())) if each.kind == "nodes"]
    assert [(item.name, item.value, item.line) for item in nodes.items] == [("IN", "3", 2), ("out", "3", 4)]
