"""The grammar of element lines, letter by letter."""

import pytest

from domain.circuit.elements import SHAPES, Element, canonical_node, parse_element
from domain.circuit.netlist import Netlist
from tests.ground.cases import for_each

MODELS = frozenset({"dm", "qn", "nm", "rm", "sw1", "2n3904", "1n4148", "adc"})


def element(line: str) -> Element:
    (statement,) = Netlist.parse(line.encode(), has_title=False).statements
    return parse_element(statement, MODELS)


def summary(line: str) -> tuple[str, str, str, str]:
    """Nodes, control nodes and controls, model, value."""
    found = element(line)
    return (
        " ".join(n.text for n in found.nodes),
        " ".join(n.text for n in (*found.control_nodes, *found.controls)),
        found.model.text if found.model else "",
        found.value.text if found.value else "",
    )


@for_each(
    ("line", "expected"),
    [
        ("R1 a b 1k", ("a b", "", "", "1k")),
        ("R1 a b {r*2} tc1=1", ("a b", "", "", "{r*2}")),
        ("R1 a b r='v(c)*2'", ("a b", "", "", "'v(c)*2'")),
        ("R1 a b rm 2k", ("a b", "", "rm", "2k")),
        ("R1 a b 2k rm", ("a b", "", "rm", "2k")),
        ("R1 a b rm l=1u w=2u", ("a b", "", "rm", "")),
        ("R1 a b rval", ("a b", "", "", "rval")),
        ("C1 a b 1n ic=0", ("a b", "", "", "1n")),
        ("L1 a b l = 1u", ("a b", "", "", "1u")),
        ("V1 a b 5", ("a b", "", "", "5")),
        ("V1 a b DC 5 AC 1 90", ("a b", "", "", "5")),
        ("V1 a b AC 1", ("a b", "", "", "")),
        ("V1 a b AC 1 DC 5", ("a b", "", "", "5")),
        ("V1 a b dc=5 ac=1", ("a b", "", "", "5")),
        ("V1 a b SIN(1 2 1k)", ("a b", "", "", "")),
        ("I1 a b {i0} PULSE(0 1)", ("a b", "", "", "{i0}")),
        ("E1 a b c d 10", ("a b", "c d", "", "10")),
        ("G1 (a b) (c,d) {gm}", ("a b", "c d", "", "{gm}")),
        ("E1 a b POLY(2) c d e f 0 1 1", ("a b", "c d e f", "", "")),
        ("F1 a b V1 2", ("a b", "V1", "", "2")),
        ("H1 a b V1 2k", ("a b", "V1", "", "2k")),
        ("F1 a b POLY(2) V1 V2 0 1 1", ("a b", "V1 V2", "", "")),
        ("D1 a b dm", ("a b", "", "dm", "")),
        ("D1 a b 1N4148", ("a b", "", "1N4148", "")),
        ("D1 a b UNKNOWN off", ("a b", "", "UNKNOWN", "")),
        ("Q1 c b e qn", ("c b e", "", "qn", "")),
        ("Q1 c b e s qn 2", ("c b e s", "", "qn", "")),
        ("Q1 c b e 2N3904 2", ("c b e", "", "2N3904", "")),
        ("Q1 c b e s UNKNOWN", ("c b e s", "", "UNKNOWN", "")),
        ("Q1 c b e UNKNOWN off", ("c b e", "", "UNKNOWN", "")),
        ("D1 on off UNKNOWN off", ("on off", "", "UNKNOWN", "")),
        ("D1 on 0 dm", ("on 0", "", "dm", "")),
        ("Q1 c on off UNKNOWN on", ("c on off", "", "UNKNOWN", "")),
        ("S1 on 0 c off sw1 on", ("on 0", "c off", "sw1", "")),
        ("S1 on 0 c off UNKNOWN off", ("on 0", "c off", "UNKNOWN", "")),
        ("M1 on g off 0 UNKNOWN off", ("on g off 0", "", "UNKNOWN", "")),
        ("X1 on off sub", ("on off", "", "sub", "")),
        ("J1 d g s dm", ("d g s", "", "dm", "")),
        ("M1 d g s b nm w=1u", ("d g s b", "", "nm", "")),
        ("M1 d g s nm", ("d g s", "", "nm", "")),
        ("M1 d g s b e nm", ("d g s b e", "", "nm", "")),
        ("M1 d g s b UNKNOWN w=1u", ("d g s b", "", "UNKNOWN", "")),
        ("S1 a b c d sw1 ON", ("a b", "c d", "sw1", "")),
        ("W1 a b V1 sw1", ("a b", "V1", "sw1", "")),
        ("T1 a b c d z0=50 td=1n", ("a b c d", "", "", "")),
        ("O1 a 0 b 0 lossy", ("a 0 b 0", "", "lossy", "")),
        ("U1 a b c urc1 l=1u", ("a b c", "", "urc1", "")),
        ("K1 L1 L2 0.9", ("", "L1 L2", "", "0.9")),
        ("X1 a b c amp gain=2", ("a b c", "", "amp", "")),
        ("X1 a b c amp params: gain={g} r = 1k", ("a b c", "", "amp", "")),
        ("X1 741", ("", "", "741", "")),
        ("A1 in out gain1", ("in out", "", "gain1", "")),
        ("A1 [a ~b] %vd(c,d) out adc", ("a b c d out", "", "adc", "")),
        ("A1 [in] [dig] adc", ("in dig", "", "adc", "")),
        ("A1 null [x] %vnam v1 adc", ("x", "v1", "adc", "")),
        ("N1 d g s osdi1", ("d g s", "", "osdi1", "")),
        ("P1 a b 0 c d 0 cpl1 length=2", ("a b 0 c d 0", "", "cpl1", "")),
    ],
)
def test_reads_nodes_controls_model_and_value(line: str, expected: tuple[str, str, str, str]) -> None:
    assert summary(line) == expected
    assert element(line).missing is None


@for_each(
    ("line", "missing"),
    [
        ("R1", "nodes"),
        ("R1 a", "nodes"),
        ("R1 a b", "value"),
        ("C1 a b ic=0", "value"),
        ("V1 a", "nodes"),
        ("V1 a b", None),
        ("E1 a b c", "nodes"),
        ("E1 a b c d", "value"),
        ("F1 a b", "nodes"),
        ("F1 a b V1", "value"),
        ("B1 a b", "value"),
        ("B1 a", "nodes"),
        ("B1 a b V=", "value"),
        ("D1 a b", "model"),
        ("D1 a", "nodes"),
        ("Q1 c b e", "model"),
        ("M1 d g s", "model"),
        ("K1 L1", "nodes"),
        ("K1 L1 L2", "value"),
        ("X1", "model"),
        ("A1", "nodes"),
        ("A1 m", "nodes"),
        ("S1 a b c sw1", "nodes"),
        ("T1 a b c", "nodes"),
    ],
)
def test_says_what_is_missing(line: str, missing: str | None) -> None:
    assert element(line).missing == missing


@pytest.mark.parametrize(
    ("line", "expression", "output"),
    [
        ("B1 a 0 V=v(b)*2 + sin(time)", "v(b)*2 + sin(time)", "voltage"),
        ("B1 a 0 i = {v(b) >= 1 ? 1 : 0}", "{v(b) >= 1 ? 1 : 0}", "current"),
        ("B1 a 0 V=v(b) tc1=1m", "v(b)", "voltage"),
        ("E1 a 0 VALUE={v(b)}", "{v(b)}", "voltage"),
        ("E1 a 0 VALUE = {v(b)}", "{v(b)}", "voltage"),
        ("G1 a 0 cur='v(b)*1m'", "'v(b)*1m'", "current"),
        ("E1 a 0 TABLE {v(b)} = (0,0) (1,5)", "{v(b)} = (0,0) (1,5)", "voltage"),
    ],
)
def test_behavioural_expressions(line: str, expression: str, output: str) -> None:
    found = element(line)
    assert [e.text for e in found.expressions] == [expression]
    assert found.output == output
    assert found.missing is None


def test_instance_parameters_keep_their_expressions() -> None:
    found = element("X1 a b amp gain={g * 2} r='a + b' c=1n d = max(1,2)")
    assert {name: value.text for name, value in found.params.items()} == {
        "gain": "{g * 2}",
        "r": "'a + b'",
        "c": "1n",
        "d": "max(1,2)",
    }


def test_every_letter_has_a_shape_but_none_other() -> None:
    assert sorted(SHAPES) == sorted("abcdefghijklmnopqrstuvwxyz")


@pytest.mark.parametrize(
    ("name", "folded"),
    [("0", "0"), ("gnd", "0"), ("GND", "0"), ("Out", "out"), ("gnd!", "gnd!"), ("00", "00")],
)
def test_ground_has_two_names(name: str, folded: str) -> None:
    assert canonical_node(name) == folded
