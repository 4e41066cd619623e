"""Where names stand in a netlist, and netlists in outline."""

from __future__ import annotations

import pytest

from domain.circuit.netlist import Netlist
from domain.circuit.outline import outline_of
from domain.circuit.symbols import bare_name, uses_of
from tests.ground.cases import for_each

DECK = Netlist.parse(
    b"""bias of out by vb
.param wide=10u half={wide/2}
.func twice(x) {2*x}
.global vdd
.subckt inv in out params: w=1u
M1 out in 0 0 nch w={w*half}
M2 out in vdd vdd pch w={twice(wide)}
R1 out 0 1meg
.ends inv
Vdd vdd 0 1.8
vb in 0 dc 0 ac 1 sin(0 {half} 1k)
X1 in OUT inv w={wide}
R1 out
+ 0 {twice(half)}
B1 x 0 V=v(out,in)*i(Vdd)+@m.x1.m1[id]+wide
F1 y 0 vb 2
K1 L1 L2 0.9
L1 x 0 1u
L2 y 0 1u
.model nch nmos level=1 vto={half}
.model pch pmos level=1
.ic v(out)=0
.save out v(x)
.dc vb 0 1 0.1
.noise v(out) vb dec 10 1 1meg
.meas dc top max v(out)
.end
"""
)


def found(name: str) -> set[tuple[int, str, str]]:
    return {(use.line, use.kind, use.usage) for use in uses_of(DECK, name)}


@for_each(
    ("name", "places"),
    [
        ("OUT", {(5, "node", "definition"), (6, "node", "connection"), (7, "node", "connection"),
                 (8, "node", "connection"), (12, "node", "connection"), (13, "node", "connection"),
                 (15, "node", "read"), (22, "node", "read"), (23, "node", "read"), (25, "node", "read"),
                 (26, "node", "read")}),
        ("vb", {(11, "element", "definition"), (16, "element", "read"), (24, "element", "read"),
                (25, "element", "read")}),
        ("VDD", {(4, "node", "definition"), (7, "node", "connection"), (10, "element", "definition"),
                 (10, "node", "connection"), (15, "element", "read")}),
        ("wide", {(2, "parameter", "definition"), (2, "parameter", "read"), (7, "parameter", "read"),
                  (12, "parameter", "read"), (15, "parameter", "read")}),
        ("half", {(2, "parameter", "definition"), (6, "parameter", "read"), (11, "parameter", "read"),
                  (13, "parameter", "read"), (20, "parameter", "read")}),
        ("w", {(5, "parameter", "definition"), (6, "parameter", "read"), (12, "parameter", "write")}),
        ("twice", {(3, "function", "definition"), (7, "function", "call"), (13, "function", "call")}),
        ("inv", {(5, "subcircuit", "definition"), (9, "subcircuit", "read"), (12, "subcircuit", "call")}),
        ("nch", {(6, "model", "read"), (20, "model", "definition")}),
        ("R1", {(8, "element", "definition"), (13, "element", "definition")}),
        ("l1", {(17, "element", "read"), (18, "element", "definition")}),
        ("m.x1.m1", {(15, "element", "read")}),
        ("bias", set()),
        ("1k", set()),
    ],
)  # fmt: skip
def test_uses(name: str, places: set[tuple[int, str, str]]) -> None:
    assert found(name) == places


def test_scopes_tell_elements_of_one_name_apart() -> None:
    scopes = {use.line: use.scope for use in uses_of(DECK, "R1")}
    assert scopes == {8: ("inv",), 13: ()}
    subcircuit = next(use for use in uses_of(DECK, "inv") if use.usage == "definition")
    assert (subcircuit.line, subcircuit.last_line) == (5, 9)


@pytest.mark.parametrize(
    ("symbol", "name"), [("v(out)", "out"), ("I(Vdd)", "Vdd"), ("@m1[id]", "m1"), (" R1 ", "R1"), ("v", "v")]
)
def test_signals_mean_their_node_or_element(symbol: str, name: str) -> None:
    assert bare_name(symbol) == name


def test_the_outline_names_lines() -> None:
    outline = outline_of(DECK)
    assert outline.title == "bias of out by vb"
    assert [(item.name, item.text, item.line, item.last_line) for item in outline.subcircuits] == [
        ("inv", "in out", 5, 9)
    ]
    assert [(item.name, item.line) for item in outline.models] == [("nch", 20), ("pch", 21)]
    assert [item.name for item in outline.sources] == ["Vdd", "vb"]
    assert [item.text for item in outline.analyses] == ["dc vb 0 1 0.1", "noise v(out) vb dec 10 1 1meg"]
    assert outline.elements["MOSFET"] == 2
    assert "x" in outline.nodes
