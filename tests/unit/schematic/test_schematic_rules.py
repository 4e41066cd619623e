"""The rules by which a drawing reads: supplies, which way parts stand, pairs, the signal's way, changes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from domain.circuit.dependencies import resolve_dependencies
from domain.circuit.hierarchy import read_circuit
from domain.circuit.netlist import Netlist
from domain.circuit.schematic.display import Drawing
from domain.circuit.schematic.drawing import FIRST, Effort, _each_alone, draw
from domain.circuit.schematic.items import items_of
from domain.circuit.schematic.judging import faults_of
from domain.circuit.schematic.parts import Page
from domain.circuit.schematic.reading_back import differences
from domain.circuit.schematic.roles import Roles, roles_of
from domain.circuit.schematic.symbols import UP, Box, shape_of, union
from domain.circuit.stand_ins import stand_ins_for
from domain.circuit.translation import translate
from tests.fakes.schematic_circuits import GOLDEN
from tests.ground.cases import for_each
from tests.unit.schematic.test_schematic_reading_back import Beside, circuit_of, wrong_in

ROOT = Path(__file__).parents[3]
SEARCH = Effort(starts=2, moves=1_500)


def page_of_text(text: str) -> Page:
    return next(circuit_of(text.encode()))[0]


def roles_by_name(text: str) -> tuple[Page, Roles, dict[str, int]]:
    page = page_of_text(text)
    return page, roles_of(page), {part.name: at for at, part in enumerate(page.parts)}


def places(drawing: Drawing) -> dict[str, tuple[int, int]]:
    return {name: (place.x, place.y) for name, place in drawing.places.items()}


@for_each(
    ("circuit", "rails"),
    [
        ("rc_low_pass", {"0"}),
        ("common_emitter", {"0", "vcc"}),
        ("differential_pair", {"0", "vdd"}),  # the sources of the inputs feed gates only
        ("bridge_rectifier", {"0"}),
        ("r_2r_ladder", {"0"}),  # no device is fed
        ("audio_amplifier", {"0", "vp", "vn"}),
        ("folded_cascode", {"0", "vdd"}),  # vb1, vb2 are biases
        ("boost", {"0"}),
    ],
)
def test_supplies_are_found(circuit: str, rails: set[str]) -> None:
    _, roles, _ = roles_by_name(GOLDEN[circuit])
    assert set(roles.rails.signs) == rails
    assert roles.rails.signs.get("vn", -1) == -1
    assert all(source.name.startswith("V") for source in roles.rails.sources)


@for_each(
    ("circuit", "standing", "lying"),
    [
        ("rc_low_pass", "C1 V1", "R1"),
        ("common_emitter", "R1 R2 RC RE CE RL Q1", "C1 C2"),
        ("two_transistors", "RC1 RE1 RC2 RE2 CE2", "RB RF CIN CO"),  # feedback is no load, whatever its value
        ("bridge_rectifier", "D1 D2 D3 D4 VAC", "RZ"),
        ("boost", "S1 C1 RL VIN", "L1 D1"),
        ("audio_amplifier", "RD RE6 RE7 RZ CZ RG CG", "RF CFB LO RO CC"),
        ("r_2r_ladder", "R0 RA1 RA2 RA3", "RA0 RB0 RB1 RB2"),
        ("instrumentation_amplifier", "RG R4", "RF1 RF2 R1 R2 R3"),
        ("dickson_pump", "C1 C2 C3 CO RL", "D1 D2 D3 D4"),
    ],
)
def test_parts_stand_or_lie_as_in_textbooks(circuit: str, standing: str, lying: str) -> None:
    _, roles, at = roles_by_name(GOLDEN[circuit])
    assert [name for name in standing.split() if not roles.upright[at[name]]] == []
    assert [name for name in lying.split() if roles.upright[at[name]]] == []


def test_the_end_at_the_supply_is_above_and_the_end_at_ground_below() -> None:
    page, roles, at = roles_by_name(
        "t\nVCC vcc 0 5\nRC c vcc 1k\nRE 0 e 1k\nQ1 c b e n\nRB vcc b 1k\n.model n npn\n"
    )
    for name, top in (("RC", "vcc"), ("RE", "e"), ("RB", "vcc")):
        part = page.parts[at[name]]
        shape = shape_of(part, roles.turns[at[name]], flip=False, sides=roles.sides[at[name]])
        assert part.net(next(pin.role for pin in shape.pins if pin.side == UP)) == top


def test_pairs_and_their_loads_face_each_other_and_stand_on_one_height() -> None:
    page = page_of_text(GOLDEN["differential_pair"])
    drawing = draw(page, effort=SEARCH)
    at = drawing.places
    assert at["m1"].y == at["m2"].y
    assert at["m3"].y == at["m4"].y
    assert (at["m1"].flip, at["m2"].flip) == (False, True)  # gates outward
    assert (at["m3"].flip, at["m4"].flip) == (True, False)  # and of the mirror inward
    assert at["m1"].x == at["m3"].x < at["m2"].x == at["m4"].x
    assert at["m1"].x < at["ib"].x < at["m2"].x


def test_the_signal_goes_from_left_to_right() -> None:
    drawing = draw(page_of_text(GOLDEN["audio_amplifier"]), effort=FIRST)
    xs = [drawing.places[name].x for name in ("vin", "cin", "q1", "q3", "q6", "rl")]
    assert xs == sorted(xs)


def test_what_is_parallel_stands_side_by_side() -> None:
    page, roles, at = roles_by_name(GOLDEN["common_emitter"])
    item = next(item for item in items_of(page, roles).items if at["RE"] in item.parts)
    assert at["CE"] in item.parts
    drawing = draw(page, effort=FIRST)
    assert drawing.places["re"].y == drawing.places["ce"].y


def test_coupled_inductors_stand_side_by_side_as_a_transformer() -> None:
    text = """t
V1 in 0 SIN(0 10 50)
L1 in 0 1
RP in 0 1k
R1 s out 1
L2 s 0 10m
K1 L1 L2 0.99
RL out 0 8
"""
    page = page_of_text(text)
    drawing = draw(page, effort=Effort(starts=1, moves=400))
    first, second = drawing.places["l1"], drawing.places["l2"]
    assert (first.y, second.x - first.x) == (second.y, 4)
    assert "K1: L1 L2 0.99" in {each.text for each in drawing.texts}
    assert "K1" in drawing.elements
    assert faults_of(drawing) == []


def test_a_change_of_values_moves_nothing() -> None:
    text = GOLDEN["two_transistors"]
    before = draw(page_of_text(text), effort=FIRST)
    changed = page_of_text(text.replace("RC2 vcc c2 4.7k", "RC2 vcc c2 5600000"))
    after = draw(changed, effort=FIRST, previous=before)
    assert places(after) == places(before)
    assert after.wires == before.wires
    assert [each.text for each in after.texts if each.element == "RC2"] == ["RC2", "5600000"]
    assert faults_of(after) == []


def test_a_long_value_in_a_narrow_place_stays_with_its_element() -> None:
    text = """tone control
.param b=0.5
V1 in 0 ac 1
R1 in n1 10k
RB1 n1 n2 {100k*b+1}
RB2 n2 n3 {100k*(1-b)+1}
R2 n3 o 10k
C1 n1 n2 47n
C2 n2 n3 47n
R3 n2 m 10k
E1 o 0 0 m 1e5
"""
    drawing = draw(page_of_text(text), effort=Effort(starts=1, moves=400))
    bodies = {symbol.element: symbol.body for symbol in drawing.symbols}

    def apart(one: Box, other: Box) -> float:
        gaps = (one[0] - other[2], other[0] - one[2], one[1] - other[3], other[1] - one[3])
        return max(*gaps, 0.0)

    names = [each for each in drawing.texts if each.role == "name" and each.element[0] in "RC"]
    assert len(names) == 7
    for name in names:
        box = union([each.box for each in drawing.texts if each.element == name.element])
        nearest = min(bodies, key=lambda element, box=box: apart(box, bodies[element]))
        assert nearest == name.element
    assert faults_of(drawing) == []


@for_each(
    ("source", "texts"),
    [
        ("V1 in 0 DC 0 AC -0.5", ["AC -0.5"]),
        ("V1 in 0 AC 1 180", ["AC 1 180°"]),
        ("V1 in 0 DC 2 AC SIN(0 1 1k)", ["2", "AC 1", "SIN(0 1 1k)"]),
        ("V1 in 0 AC {level}", ["AC {level}"]),
        ("V1 in 0 sin(0 1 50) ac 2", ["AC 2", "sin(0 1 50)"]),
    ],
)
def test_a_source_tells_what_it_gives(source: str, texts: list[str]) -> None:
    drawing = draw(
        page_of_text(f"t\n.param level=1\n{source}\nR1 in 0 1k\n.ac dec 1 1 10\n.end\n"), effort=FIRST
    )
    assert [each.text for each in drawing.texts if each.element == "V1"] == ["V1", *texts]


def test_what_is_added_leaves_the_others_in_place() -> None:
    text = GOLDEN["common_emitter"]
    before = draw(page_of_text(text), effort=FIRST)
    page, block = next(circuit_of((text + "RX out 0 1k\nCX b 0 1n\n").encode()))
    after = draw(page, effort=FIRST, previous=before)
    assert {name: at for name, at in places(after).items() if name in before.places} == places(before)
    assert {"rx", "cx"} <= after.places.keys()
    assert differences(block, after) == []
    shorter = draw(page_of_text(text.replace("CE e 0 100u\n", "")), effort=FIRST, previous=before)
    assert "ce" not in shorter.places
    assert faults_of(shorter) == []


def test_elements_of_subcircuits_are_boxes_and_have_a_page_of_their_own() -> None:
    pages = {page.scope: page for page, _ in circuit_of(GOLDEN["instrumentation_amplifier"].encode())}
    assert set(pages) == {"", "op"}
    top = draw(pages[""], effort=FIRST)
    assert {symbol.kind for symbol in top.symbols if symbol.element.startswith("XU")} == {"amp"}
    assert {symbol.inside for symbol in top.symbols if symbol.element.startswith("XU")} == {"op"}
    inner = draw(pages["op"], effort=FIRST)
    flags = {symbol.element for symbol in inner.symbols if symbol.kind == "port"}
    assert {"p", "n", "out"} <= flags


def test_the_halves_of_an_instrumentation_amplifier_stand_one_above_the_other() -> None:
    at = places(draw(page_of_text(GOLDEN["instrumentation_amplifier"]), effort=SEARCH))
    assert at["xu2"][1] < at["rg"][1] < at["xu1"][1]  # the one that leads to XU3's inverting input above
    assert abs(at["xu1"][0] - at["xu2"][0]) < abs(at["xu3"][0] - at["xu2"][0])


def test_a_charge_pump_is_a_chain_above_the_lines_of_its_clocks() -> None:
    at = places(draw(page_of_text(GOLDEN["dickson_pump"]), effort=SEARCH))
    chain = [at[name][0] for name in ("vdd", "d1", "d2", "d3", "d4", "co")]
    assert chain == sorted(chain)
    assert max(at[name][1] for name in ("d1", "d2", "d3")) < min(at[name][1] for name in ("vclk1", "vclk2"))
    # Without a supply the generator is the signal: a multiplier is drawn from it.
    doubler = "t\nV1 a 0 SIN(0 5 1k)\nC1 a b 1u\nD1 0 b d\nD2 b out d\nC2 out 0 1u\n.tran 1u 1m\n"
    _, roles, names = roles_by_name(doubler)
    assert not roles.upright[names["C1"]]


ASTABLE = """t
VCC vcc 0 9
R1 vcc c1 1k
R4 vcc c2 1k
R2 vcc b1 15k
R3 vcc b2 15k
C1 c1 b2 10u
C2 c2 b1 10u
Q1 c1 b1 0 n
Q2 c2 b2 0 n
.model n npn
"""
LATCH = """t
VDD vdd 0 1.2
MP1 a b vdd vdd p
MP2 b a vdd vdd p
MN1 a b tail 0 n
MN2 b a tail 0 n
IT tail 0 1m
L1 a b 1n
.model n nmos
.model p pmos
"""


def test_an_astable_multivibrator_is_mirrored_with_its_capacitors_between() -> None:
    drawing = draw(page_of_text(ASTABLE), effort=SEARCH)
    at = drawing.places
    left, right = sorted(("q1", "q2"), key=lambda name: at[name].x)
    assert at[left].y == at[right].y
    assert (at[left].flip, at[right].flip) == (True, False)  # bases inward
    assert at["c1"].y == at["c2"].y < at[left].y
    assert at[left].x < at["c1"].x < at[right].x
    loads = [at[name] for name in ("r1", "r2", "r3", "r4")]
    assert len({each.y for each in loads}) == 1
    assert drawing.score.crossings == 1


def test_a_latch_faces_inward_and_two_of_them_stand_above_each_other() -> None:
    at = draw(page_of_text(LATCH), effort=SEARCH).places
    for one, other in (("mn1", "mn2"), ("mp1", "mp2")):
        left, right = sorted((one, other), key=lambda name: at[name].x)
        assert at[one].y == at[other].y
        assert (at[left].flip, at[right].flip) == (True, False)
    assert (at["mp1"].x, at["mp2"].x) == (at["mn1"].x, at["mn2"].x)


@for_each(("tie", "held"), [("VG m 0 0", {"0"}), ("RG m 0 1", {"0"}), ("", {"0"})])
def test_a_bridge_is_two_legs_with_its_source_left_and_its_load_right(tie: str, held: set[str]) -> None:
    minus = "m" if tie else "0"
    text = (
        f"t\nVAC a b SIN(0 10 60)\nD1 a p d\nD2 b p d\nD3 {minus} a d\nD4 {minus} b d\n"
        f"RL p {minus} 1k\n{tie}\n.model d d\n"
    )
    page, roles, _ = roles_by_name(text)
    assert set(roles.rails.signs) == held
    at = draw(page, effort=SEARCH).places
    assert at["d1"].y == at["d2"].y < at["d3"].y == at["d4"].y
    assert (at["d1"].x, at["d2"].x) == (at["d3"].x, at["d4"].x)
    assert at["vac"].x < min(at["d1"].x, at["d2"].x) < max(at["d1"].x, at["d2"].x) < at["rl"].x
    assert at["rl"].upright


def test_ground_is_the_rail_above_where_all_supplies_are_negative() -> None:
    text = "t\nVEE e 0 -5\nV1 in 0 SIN(0 1 1k)\nRC 0 c 1k\nRE x e 1k\nQ1 c in x n\nQ2 0 c out n\n"
    page = page_of_text(text + "RO out e 1k\nCL out 0 1p\nCD 0 e 1u\n.model n npn\n")
    drawing = draw(page, effort=FIRST)
    above = {mark.at for mark in drawing.marks if mark.net == "0" and mark.box[1] < mark.at[1] - 1}
    tops = {each.element: min(pin.at[1] for pin in each.pins) for each in drawing.symbols}
    of = {each.element: {pin.at for pin in each.pins} for each in drawing.symbols}
    assert {name for name in ("RC", "Q2", "CD", "CL", "V1") if of[name] & above} == {"RC", "Q2", "CD"}
    assert all(min(place[1] for place in of[name] & above) == tops[name] for name in ("RC", "Q2", "CD"))
    assert faults_of(drawing) == []


def test_a_ladder_between_two_ports_is_one_row() -> None:
    text = """t
C1 in 0 33p
L1 in 2 99n
C2 2 0 57p
L2 2 out 99n
C3 out 0 33p
V1 in 0 dc 0 ac 1 portnum 1 z0 50
V2 out 0 dc 0 ac 0 portnum 2 z0 50
.sp lin 100 2.5meg 250meg
"""
    drawing = draw(page_of_text(text), effort=SEARCH)
    at = drawing.places
    order = [at[name].x for name in ("v1", "c1", "l1", "c2", "l2", "c3", "v2")]
    assert order == sorted(order)
    assert at["l1"].y == at["l2"].y
    assert (drawing.score.crossings, len({at[name].y for name in ("v1", "c1", "c2", "c3", "v2")})) == (0, 1)


@for_each(
    ("deck", "title"),
    [
        ("* ======\n* Pierce *\n* ====\nR1 a 0 1\n", "Pierce"),
        ("======\n\n* ---\nR1 a 0 1\n* later\n", ""),
        (".title A filter\nR1 a 0 1\n", "A filter"),
        ("* RC low-pass\nR1 a 0 1\n", "RC low-pass"),
        ("*\n; 低通\nR1 a 0 1\n", "低通"),
    ],
)
def test_a_title_has_words(deck: str, title: str) -> None:
    assert page_of_text(deck).title == title


def test_a_long_chain_is_brought_into_rows() -> None:
    stages = "".join(
        f"MP{at} n{at + 1} n{at} vdd vdd p\nMN{at} n{at + 1} n{at} 0 0 n\nC{at} n{at + 1} 0 1p\n"
        for at in range(17)
    )
    text = f"t\nVDD vdd 0 1.8\nVIN n0 0 PULSE(0 1.8 1n)\n{stages}.model n nmos\n.model p pmos\n"
    page, block = next(circuit_of(text.encode()))
    drawing = draw(page, effort=FIRST)
    left, top, right, bottom = drawing.bounds
    assert right - left < 3 * (bottom - top)
    at = drawing.places
    assert at["mn16"].y > at["mn0"].y
    assert at["mn0"].x < at["mn1"].x < at["mn2"].x
    assert [*differences(block, drawing), *faults_of(drawing)] == []


def test_a_mirror_stands_at_one_height() -> None:
    text = "t\nVCC vcc 0 12\nR1 vcc r 12k\nQ1 r r 0 n\nQ2 out r 0 n\nVO out 0 6\n.model n npn\n"
    at = draw(page_of_text(text), effort=SEARCH).places
    assert at["q1"].y == at["q2"].y
    assert at["q1"].x < at["q2"].x  # bases face to face


def test_a_subcircuit_that_is_one_transistor_is_drawn_as_one() -> None:
    text = """t
VCC vcc 0 5
X1 d in 0 0 nch
X2 d in vcc vcc pch
X3 vcc d out power
X4 d in 0 two
R1 out 0 1k
V1 in 0 SIN(0 1 1k)
.subckt nch D G S B
M1 D G S B n1
R1 D S 1g
.ends
.subckt pch drain gate source bulk
M1 drain gate source bulk p1
.ends
.subckt power c b e
Q1 c b e q1
.ends
.subckt two d g s
M1 d g s s n1
M2 d g s s p1
.ends
.model n1 nmos
.model p1 pmos
.model q1 npn
"""
    page, _, at = roles_by_name(text)
    kinds = {name: (page.parts[at[name]].kind, page.parts[at[name]].polarity) for name in ("X1", "X2", "X3")}
    assert kinds == {"X1": ("m", 1), "X2": ("m", -1), "X3": ("q", 1)}
    assert page.parts[at["X4"]].kind == "box"
    assert {page.parts[at["X3"]].net(role) for role in ("out", "in", "com")} == {"vcc", "d", "out"}
    assert page.inside["X1"] == "nch"
    assert wrong_in(text.encode()) == []


def test_two_amplifiers_in_one_box_have_inputs_left_and_outputs_right() -> None:
    text = "t\nX1 o1 n1 p1 vee p2 o1 o2 vcc dual\nVCC vcc 0 5\nVEE vee 0 -5\nV1 p1 0 AC 1\nR1 n1 o1 1k\n"
    text += "R2 n1 0 1k\nR3 o2 p2 1k\nR4 o1 p2 1k\n.subckt dual 1out 1in- 1in+ vcc- 2in+ 2in- 2out vcc+\n"
    text += "R1 1out vcc- 1\nR2 2out vcc+ 1\nR3 1in- 1in+ 1\nR4 2in- 2in+ 1\n.ends\n"
    _, roles, at = roles_by_name(text)
    sides = roles.sides[at["X1"]]
    assert ({*sides.left}, {*sides.right}) == ({"1in-", "1in+", "2in+", "2in-"}, {"1out", "2out"})
    assert (sides.top, sides.bottom) == (("vcc+",), ("vcc-",))


def test_a_mixer_has_two_pairs_side_by_side_above_the_third() -> None:
    text = """t
VCC vcc 0 12
VR rp 0 SIN(2 50m 1meg)
VL lp 0 SIN(4 200m 100)
VB1 rn 0 2
VB2 ln 0 4
IT t 0 2m
Q1 c1 rp t n
Q2 c2 rn t n
RD1 c1 e1 100
RD2 c2 e2 100
Q3 op lp e1 n
Q4 on ln e1 n
Q5 on lp e2 n
Q6 op ln e2 n
RL1 vcc op 1k
RL2 vcc on 1k
.model n npn
"""
    at = draw(page_of_text(text), effort=FIRST).places
    assert len({at[name].y for name in ("q3", "q4", "q5", "q6")}) == 1
    assert [at[name].y for name in ("q3", "rd1", "q1")] == sorted(at[name].y for name in ("q3", "rd1", "q1"))
    assert at["q1"].y == at["q2"].y
    row = sorted(("q3", "q4", "q5", "q6"), key=lambda name: at[name].x)
    assert {*row[1:3]} in ({"q4", "q6"}, {"q3", "q5"})  # the inner two share an input
    assert [at[name].flip for name in row] == [False, True, False, True]


def test_nothing_lies_over_anything_whatever_supplies_are_called() -> None:
    """Names wider than the pins are apart, side by side at a box and at an amplifier."""
    ports = "vcc_positive_one vcc_two_quite_long gnd_of_this gnd_of_that"
    text = f"t\nX1 {ports} out thing\nX2 in out out {ports} op\nR1 in 0 1k\nR2 out 0 1k\nV1 in 0 AC 1\n"
    text += "".join(f"V{at} {net} 0 {at - 4}\n" for at, net in enumerate(ports.split(), start=5))
    text += "VA gnd_of_all 0 0\nX3 vcc_two_quite_long gnd_of_all out b\n"
    text += ".subckt thing vdd vcc gnd vss out\nR1 vdd vss 1\nR2 vcc out 1\nR3 out gnd 1\n.ends\n"
    text += ".subckt b vcc gnd out\nR1 vcc out 1\nR2 gnd out 1\n.ends\n"
    text += ".subckt op p n out a b c d\nE1 out 0 p n 1e5\nR1 a b 1\nR2 c d 1\nR3 b c 1\n.ends\n"
    page, roles, _ = roles_by_name(text)
    assert len(roles.rails.signs) == 6
    assert roles.rails.signs["gnd_of_all"] == -1
    assert faults_of(draw(page, effort=FIRST)) == []
    apart = _each_alone(page, roles, "iec")
    assert faults_of(apart) == []
    assert {each.element for each in apart.symbols} == {page.parts[at].name for at in roles.drawn}


def test_the_circle_of_a_transistor_belongs_to_its_body_so_that_no_text_lies_in_it() -> None:
    for name in ("two_transistors", "audio_amplifier"):
        drawing = draw(page_of_text(GOLDEN[name]), symbols="us", effort=FIRST)
        transistors = [symbol for symbol in drawing.symbols if symbol.kind == "q"]
        for symbol in transistors:
            ring = max(symbol.strokes, key=lambda stroke: len(stroke.points))
            left, top, right, bottom = symbol.body
            assert len(ring.points) > 20
            assert all(left <= x <= right and top <= y <= bottom for x, y in ring.points)
        assert len(transistors) > 1
        assert not faults_of(drawing)


def test_what_cannot_be_drawn_is_said_and_the_rest_is_drawn() -> None:
    page = page_of_text("t\nR1 a\nR2 a b 1k\nX1 a b nowhere\nR2 b 0 1k\nC1 b 0 1n\n")
    drawing = draw(page, effort=FIRST)
    assert set(drawing.elements) == {"R2", "X1", "C1"}
    assert [each.line for each in drawing.undrawn] == [2, 4, 5]
    assert "nowhere" in str(drawing.undrawn[1].message)


@pytest.mark.timeout(120)
def test_the_same_circuit_gives_the_same_drawing_in_every_process() -> None:
    code = (
        "from tests.unit.schematic.test_schematic_rules import *\n"
        "import hashlib\n"
        "drawing = draw(page_of_text(GOLDEN['folded_cascode']), effort=Effort(1, 200))\n"
        "print(hashlib.sha256(repr((drawing.wires, drawing.texts, drawing.marks)).encode()).hexdigest())\n"
    )
    told = {
        subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True, text=True, check=True,
        ).stdout
        for seed in ("1", "77")
    }  # fmt: skip
    assert len(told) == 1
    assert next(iter(told)).strip()


def test_losses_of_a_part_are_not_drawn_as_parts() -> None:
    """As `C1 out 0 10u Rser=20m Lser=1n Rpar=1Meg` of LTspice is read; others of such a name stay."""
    page = page_of_text(
        "losses\nV1 in 0 1\nR1 in out 1k\nC1 C1#lser 0 10u\nr_rser_C1 out C1#rser 20m\n"
        "l_lser_C1 C1#rser C1#lser 1n\nr_rpar_C1 out 0 1Meg\nr_rser_L9 out 0 1k\n.op\n.end\n"
    )
    assert {part.name: part.nets for part in page.parts} == {
        "V1": ("in", "0"), "R1": ("in", "out"), "C1": ("out", "0"), "r_rser_L9": ("out", "0"),
    }  # fmt: skip


def test_a_supply_with_its_plus_at_ground_is_told_by_its_other_end() -> None:
    deck = (
        "Supplies\nVCC +VCC 0 15V\nVEE 0 -VEE 15V\nVN 0 Vneg -2\nQ1 +VCC in out QN\nQ2 out in -VEE QN\n"
        "R1 in 0 1k\nQ3 +VCC in Vneg QN\n.model QN NPN\n.end"
    )
    told = [entry.text for entry in draw(page_of_text(deck), effort=FIRST).legend]
    assert told == ["VCC: +VCC = 15V", "VEE: -VEE = -15V", "VN: Vneg = 2"]


def test_what_only_the_run_needs_is_not_drawn() -> None:
    """As a circuit of LTspice with `startup`, capacitors with an IC and a sensed current is read."""
    page = page_of_text(
        "startup\nV1 in V1#risen 0\nL1 L1#rser a 10u\nC1 C1#rser 0 1u ic=20\nR1 R1#sensed 0 1k\n"
        "F1 0 x v_sensed_R1 2\nV9 x 0 24 PWL(0 0 20u 24)\nR2 x 0 1k\nb_start_C9 x 0 i=1m\n"
        "v_startup startup#rise 0 PWL(0 0 20u 1)\nv_startup_V1 V1#whole 0 PULSE(0 5 0 1n 1n 1m 2m)\n"
        "b_startup_V1 V1#risen 0 V=v(V1#whole)*v(startup#rise)\nr_rser_L1 in L1#rser 20m\n"
        "r_rser_C1 a C1#rser 5m\nb_start_C1 C1#rser 0 i=(time>0?0:1k*(v(C1#rser,0)-(20)))\n"
        "v_sensed_R1 a R1#sensed 0\n.tran 1u 1m\n.end\n"
    )
    assert {part.name: part.nets for part in page.parts} == {
        "V1": ("in", "0"), "L1": ("in", "a"), "C1": ("a", "0"), "R1": ("a", "0"), "F1": ("0", "x"),
        "R2": ("x", "0"), "b_start_C9": ("x", "0"), "V9": ("x", "0"),
    }  # fmt: skip
    source = page.parts[0]
    assert source.full == "V1 in 0 PULSE(0 5 0 1n 1n 1m 2m)"
    assert (source.style, source.values[0][:5]) == ("pulse", "PULSE")
    plain = next(part for part in page.parts if part.name == "V9")
    assert (plain.style, plain.values, plain.full) == ("dc", ("24",), "V9 x 0 24")
    assert next(part.values for part in page.parts if part.name == "F1") == ("2·i(R1)",)
    assert not any("#" in net for part in page.parts for net in part.controls)


def test_what_realises_a_transfer_function_or_an_integral_is_not_drawn() -> None:
    """The source is, with what it follows; a part whose name only looks so stays."""
    deck = (
        "transfer\nV1 in 0 AC 1\nE1 out 0 in 0 Laplace=1/(1+s/6283)**2\nG2 0 o2 in mid Laplace=1/(1+s)\n"
        "B3 b3 0 V=V(in)*2 Laplace=1/s\nB4 b4 0 V=delay(V(in)+idt(V(out),0.5),1m)+V(b3)\n"
        "B5 b5 0 V=idtmod(V(in),0,6.28)\nr_idt_9_B9 in mid 1k\n.tran 1u 1m\n.end\n"
    )
    read = translate(Netlist.parse(deck.encode()), "ltspice").netlist.to_bytes().decode()
    assert "c_laplace_1_E1_2" in read
    parts = {part.name: part for part in page_of_text(read).parts}
    assert {name: part.nets for name, part in parts.items()} == {
        "V1": ("in", "0"), "E1": ("in", "0", "out", "0"), "G2": ("0", "o2"), "b3": ("b3", "0"),
        "B4": ("b4", "0"), "B5": ("b5", "0"), "r_idt_9_B9": ("in", "mid"),
    }  # fmt: skip
    assert parts["E1"].values == ("×H(s)",)
    assert (parts["G2"].values, parts["G2"].controls) == (("H(s)·V(in,mid)",), ("in", "mid"))
    assert parts["b3"].full == "b3 b3 0 H(s)·(V(in)*2)"
    assert parts["B4"].full == "B4 b4 0 delay(V(in)+idt(V(out)),1m)+V(b3)"
    assert parts["B4"].controls == ("b3", "in", "out")
    assert parts["B5"].values == ("idtmod(V(in))",)


def test_the_op_amps_that_stand_in_for_those_of_a_library_are_drawn_as_amplifiers() -> None:
    deck = "* a.asc\nXU1 a b v 0 o level_2 Avol=1Meg vos=0\nXU2 a b v 0 o2 AD823\nR1 a 0 1k\n.op\n"
    netlist = Netlist.parse(f"{deck}.end\n".encode(), path=ROOT / "circuit.cir")
    circuit = read_circuit(resolve_dependencies(netlist, Beside()))
    cards = [card for item in stand_ins_for(circuit) for card in item.cards]
    page = page_of_text("\n".join([deck, *cards, ".end\n"]))
    amplifiers = {part.name: part for part in page.parts if part.kind == "amp"}
    outputs = {name: [pin.net for pin in part.pins if pin.role == "out"] for name, part in amplifiers.items()}
    assert outputs == {"XU1": ["o"], "XU2": ["o2"]}
