"""Figures an engineer knows at a glance: drawn as such, whatever their elements are called."""

from __future__ import annotations

import itertools

from domain.circuit.schematic.display import Drawing
from domain.circuit.schematic.drawing import FIRST, draw
from domain.circuit.schematic.judging import faults_of
from domain.circuit.schematic.reading_back import differences
from tests.ground.cases import for_each
from tests.unit.schematic.test_schematic_reading_back import circuit_of
from tests.unit.schematic.test_schematic_rules import places, roles_by_name

Places = dict[str, tuple[int, int]]
_MODELS = ".model n nmos\n.model p pmos\n"


def drawing_of(text: str) -> Drawing:
    """The first drawing, which has no fault."""
    page, block = next(circuit_of(text.encode()))
    drawing = draw(page, effort=FIRST)
    assert [*differences(block, drawing), *faults_of(drawing)] == []
    return drawing


def drawn(text: str) -> Places:
    return places(drawing_of(text))


def columns(at: Places, *names: str) -> list[int]:
    return [at[name][0] for name in names]


def rows(at: Places, *names: str) -> list[int]:
    return [at[name][1] for name in names]


def gate(text: str) -> str:
    """Inputs a, b, c; output y."""
    sources = "".join(f"V{name} {name} 0 PULSE(0 5 0 1n)\n" for name in "abc" if f" {name} " in text)
    return f"t\nVDD vdd 0 5\n{sources}{text}CL y 0 1p\n{_MODELS}"


_NAND = "M1 y a x 0 n\nM2 x b 0 0 n\nM3 y a vdd vdd p\nM4 y b vdd vdd p\n"
_NOR = "M1 y a 0 0 n\nM2 y b 0 0 n\nM3 y b z vdd p\nM4 z a vdd vdd p\n"
_COMPLEX = "M1 y a x 0 n\nM2 x b 0 0 n\nM3 y c 0 0 n\nM4 z a vdd vdd p\nM5 z b vdd vdd p\nM6 y c z vdd p\n"


@for_each(
    ("text", "one_above_another", "side_by_side"),
    [
        (_NAND, ("m3", "m1", "m2"), [("m4", "m3")]),
        (_NOR, ("m4", "m3", "m2"), [("m1", "m2")]),
        (_COMPLEX, ("m4", "m6", "m3"), [("m5", "m4"), ("m1", "m3")]),
    ],
)
def test_a_gate_is_drawn_as_its_function_is(
    text: str, one_above_another: tuple[str, ...], side_by_side: list[tuple[str, str]]
) -> None:
    """Series transistors one above the other, parallel ones side by side; the output is at the last."""
    at = drawn(gate(text))
    assert len({*columns(at, *one_above_another)}) == 1
    assert rows(at, *one_above_another) == sorted(rows(at, *one_above_another))
    for pair in side_by_side:
        assert len({*rows(at, *pair)}) == 1
        assert columns(at, *pair) == sorted(columns(at, *pair))


@for_each(
    "text",
    [
        _NAND.replace("M4 y b", "M4 y c"),  # the two networks have different inputs
        _NAND + "R1 x 0 1k\n",  # a node within leads elsewhere
        _NAND.replace("M2 x b 0 0 n", "M2 0 b x 0 n"),  # a transistor the other way round
    ],
)
def test_what_only_resembles_a_gate_is_none(text: str) -> None:
    _, roles, _ = roles_by_name(gate(text))
    assert roles.gates == ()


def test_the_stages_of_a_ring_are_a_row_that_ends_at_the_output() -> None:
    nets = ["out", "n1", "n2", "n3", "n4", "out"]
    stages = "".join(
        f"MN{at} {far} {near} 0 0 n\nMP{at} {far} {near} vdd vdd p\nC{at} {far} 0 1p\n"
        for at, (near, far) in enumerate(itertools.pairwise(nets), start=1)
    )
    text = f"t\nVDD vdd 0 3.3\n{stages}{_MODELS}"
    at = drawn(text)
    for kind in ("mn", "mp"):
        row = [f"{kind}{number}" for number in range(1, 6)]
        assert len({*rows(at, *row)}) == 1
        assert columns(at, *row) == sorted(columns(at, *row))
    assert at["c5"][0] > at["mn5"][0]
    _, roles, place = roles_by_name(text)
    assert roles.led_back == {place["MN1"], place["MP1"]}
    assert not any(roles.flips[place[f"MN{number}"]] for number in range(1, 6))


_TWIN = "V1 in 0 AC 1\nR1 in a 10k\nR2 out a 10k\nC1 b in 10n\nC2 b out 10n\nRL out 0 1meg\n"


@for_each(
    ("legs", "are_face_to_face"),
    [
        ("C3 a 0 20n\nR3 0 b 5k\n", False),
        ("C3 a foot 10n\nC4 foot a 10n\nR3 b foot 5k\nE1 foot 0 out 0 0.9\n", True),
    ],
)
def test_a_twin_t_is_two_ts_one_above_the_other(legs: str, are_face_to_face: bool) -> None:
    at = drawn(f"t\n{_TWIN}{legs}")
    assert columns(at, "r1", "r2") == columns(at, "c1", "c2") == sorted(columns(at, "r1", "r2"))
    assert [len({*rows(at, *pair)}) for pair in (("r1", "r2"), ("c1", "c2"))] == [1, 1]
    assert at["r1"][0] < at["c3"][0] == at["r3"][0] < at["r2"][0]
    assert at["r1"][1] < at["c3"][1] < at["c1"][1]
    assert (at["r3"][1] < at["c1"][1]) == are_face_to_face
    assert at["v1"][0] < at["r1"][0]


def test_a_converter_has_its_switch_below_the_primary_and_the_rest_right_of_the_secondary() -> None:
    text = """t
VIN in 0 48
VG g 0 PULSE(0 1 0 1n 1n 1u 5u)
LP in p 470u
RP p sw 0.1
S1 sw 0 g 0 s
LR 0 r 470u
D3 r in d
LS s 0 87u
K1 LP LS 1
K2 LP LR 1
D1 s f d
D2 0 f d
L1 f out 22u
C1 out 0 68u
RL out 0 1
.model s sw
.model d d
"""
    drawing = drawing_of(text)
    at = places(drawing)
    assert len({*columns(at, "lp", "rp", "s1")}) == 1
    assert rows(at, "lp", "rp", "s1") == sorted(rows(at, "lp", "rp", "s1"))
    assert at["lp"][1] == at["ls"][1]
    assert columns(at, "vin", "lp", "ls", "d1", "l1", "c1") == sorted(
        columns(at, "vin", "lp", "ls", "d1", "l1", "c1")
    )
    dots = {each.element: sum(stroke.is_filled for stroke in each.strokes) for each in drawing.symbols}
    assert (dots["LP"], dots["LS"], dots["LR"], dots["L1"]) == (1, 1, 1, 0)
