"""Figures an engineer knows at a glance: drawn as such, whatever their elements are called."""

from __future__ import annotations

import itertools

from domain.circuit.schematic.display import Drawing
from domain.circuit.schematic.drawing import FIRST, Effort, draw, moved
from domain.circuit.schematic.finding import find
from domain.circuit.schematic.judging import faults_of
from domain.circuit.schematic.reading_back import differences
from tests.ground.cases import for_each
from tests.unit.schematic.test_schematic_reading_back import circuit_of, wrong_in
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


def test_what_takes_the_signal_of_a_ring_stands_behind_its_stage() -> None:
    """Its supplies may be lines behind resistors, too."""
    nets = ["n3", "n1", "n2", "n3", "buf"]
    stages = "".join(
        f"MN{at} {far} {near} low low n\nMP{at} {far} {near} high high p\n"
        for at, (near, far) in enumerate(itertools.pairwise(nets), start=1)
    )
    text = f"t\nVDD vdd 0 3 PWL(0 0 1n 3)\nR1 vdd high 1\nR2 low 0 1\n{stages}.print tran v(buf)\n{_MODELS}"
    _, roles, place = roles_by_name(text)
    assert roles.ranks["buf"] > roles.ranks["n3"] > roles.ranks["n2"] > roles.ranks["n1"]
    assert not any(roles.flips[place[f"MN{number}"]] for number in range(1, 5))
    page, block = next(circuit_of(text.encode()))
    drawing = draw(page, effort=Effort(starts=1, moves=1_500))
    assert [*differences(block, drawing), *faults_of(drawing)] == []
    at = places(drawing)
    for kind in ("mn", "mp"):
        row = [f"{kind}{number}" for number in range(1, 5)]
        assert columns(at, *row) == sorted(columns(at, *row))
        assert max(rows(at, *row)) - min(rows(at, *row)) <= 4


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


_OPAMP = ".subckt op p n vcc vee out\nE1 out 0 p n 1e5\nR1 p n 1meg\nR2 vcc vee 1meg\n.ends\n"
_SUPPLIES = "VCC vcc 0 15\nVEE vee 0 -15\n"


@for_each(
    ("kinds", "divider"),
    [("RRCC", ""), ("CCRR", ""), ("RRCC", "R9 out n 1k\nR8 n 0 1k\n")],  # low-pass, high-pass, with gain
)
def test_a_filter_stage_has_its_feedback_over_the_amplifier(kinds: str, divider: str) -> None:
    """After Sallen and Key: to the input, over the amplifier, from the input down."""
    first, before, over, shunt = (f"{kind}{number}" for number, kind in enumerate(kinds, start=1))
    minus = "n" if divider else "out"
    text = f"t\n{_SUPPLIES}V1 in 0 AC 1\n{first} in a 1\n{before} a p 1\n{over} out a 1\n{shunt} p 0 1\n"
    at = drawn(f"{text}X1 p {minus} vcc vee out op\n{divider}{_OPAMP}")
    names = [name.lower() for name in (first, before, shunt, "X1")]
    assert columns(at, *names) == sorted(columns(at, *names))
    assert at[over.lower()][1] < at["x1"][1] - 3
    assert at[shunt.lower()][1] > at[before.lower()][1]
    if divider:
        assert at["r9"][1] > at["x1"][1] + 3


def test_the_amplifiers_of_a_state_variable_filter_are_a_row() -> None:
    text = f"""t
{_SUPPLIES}V1 in 0 AC 1
R1 in n1 100k
R2 hp n1 10k
R3 lp n1 10k
R5 out p1 20k
R6 p1 0 1k
X1 p1 n1 vcc vee hp op
R4 hp n2 5.9k
C1 n2 out 27n
X2 0 n2 vcc vee out op
R7 out n3 5.9k
C2 n3 lp 27n
X3 0 n3 vcc vee lp op
{_OPAMP}"""
    at = drawn(text)
    assert columns(at, "v1", "x1", "x2", "x3") == sorted(columns(at, "v1", "x1", "x2", "x3"))
    heights = rows(at, "x1", "x2", "x3")
    assert max(heights) - min(heights) <= 4
    assert at["r3"][1] < min(heights)  # from the last to the first, above all


def test_cascodes_stand_in_twin_columns_beside_the_pair_they_take_the_currents_of() -> None:
    text = """t
VDD vdd 0 3
VIN in 0 AC 1
VREF ref 0 1.5
VB1 b1 0 1
VB2 b2 0 2
VB3 b3 0 2.2
IT t 0 20u
M1 x in t 0 n
M2 y ref t 0 n
M3 x b3 vdd vdd p
M4 y b3 vdd vdd p
M5 m b2 x vdd p
M6 out b2 y vdd p
M7 m b1 u 0 n
M8 out b1 v 0 n
M9 u m 0 0 n
M10 v m 0 0 n
CL out 0 1p
"""
    _, roles, place = roles_by_name(text + _MODELS)
    twins = [("M3", "M4"), ("M5", "M6"), ("M7", "M8"), ("M9", "M10")]
    assert {*roles.loads} == {(place[one], place[other]) for one, other in twins}
    page, block = next(circuit_of((text + _MODELS).encode()))
    drawing = draw(page, effort=Effort(starts=1, moves=1_500))
    assert [*differences(block, drawing), *faults_of(drawing)] == []
    at = places(drawing)
    for one, other in (("m1", "m2"), ("m3", "m4"), ("m5", "m6"), ("m7", "m8"), ("m9", "m10")):
        assert at[one][1] == at[other][1]
        assert at[one][0] < at[other][0]
    for column in (("m3", "m5", "m7", "m9"), ("m4", "m6", "m8", "m10")):
        assert len({*columns(at, *column)}) == 1
        assert rows(at, *column) == sorted(rows(at, *column))
    assert at["m2"][0] < at["m3"][0]
    assert drawing.places["m5"].flip  # gates face to face
    assert not drawing.places["m6"].flip


def test_two_that_drive_each_other_stand_at_one_height() -> None:
    text = "t\nVDD vdd 0 3\nVIN in 0 PULSE(0 3 1n)\nM1 x in 0 0 n\nM2 y nin 0 0 n\nM3 x y vdd vdd p\n"
    text += f"M4 y x vdd vdd p\nM5 nin in 0 0 n\nM6 nin in vdd vdd p\nCL y 0 1p\n{_MODELS}"
    page, _ = next(circuit_of(text.encode()))
    at = draw(page, effort=Effort(starts=1, moves=1_500)).places
    assert at["m3"].y == at["m4"].y


@for_each(
    ("text", "rails"),
    [
        ("VB 1 0 DC 0 SINE(0 1 1k)\nC1 1 b 1u\nQ1 c b 0 q\nRC v c 1k\nRB v b 1meg\nVV v 0 9\n", {"0", "v"}),
        ("VCC 1 0 5 PWL(0 0 1u 5)\nR1 1 c 1k\nQ1 c b 0 q\nR2 c b 1meg\n", {"0", "1"}),  # switched on
        ("VIN 1 0 5 PWL(0 0 1u 5)\nR1 1 c 1k\nQ1 c b 0 q\nR2 c b 1meg\n", {"0"}),
        (
            "VCC vcc 0 9\nR1 vcc b 47k\nR2 b 0 10k\nQ1 c b e q\nL1 c 0 1u\nC1 c e 1n\nRE e 0 1k\n",
            {"0", "vcc"},
        ),
    ],
)
def test_what_is_a_supply_and_what_a_signal(text: str, rails: set[str]) -> None:
    page, roles, _ = roles_by_name(f"t\n{text}.model q npn\n")
    assert {*roles.rails.signs} == rails
    assert wrong_in(f"t\n{text}.model q npn\n".encode()) == []
    assert [part.name for part in page.parts if part.style == "sin"] == (["VB"] if "SINE" in text else [])


def test_a_substrate_at_the_collector_is_told_not_drawn() -> None:
    text = "t\nVCC vcc 0 5\nQ1 c b 0 c q\nRC vcc c 1k\nRB c b 100k\nCB b 0 1n\n.model q npn\n"
    drawing = drawing_of(text)
    assert "B = C: Q1" in {each.text for each in drawing.texts}
    transistor = next(each for each in drawing.symbols if each.element == "Q1")
    at = {pin.terminal: pin.at for pin in transistor.pins}
    assert at[3] == at[0]


def test_a_code_model_that_amplifies_a_difference_is_drawn_as_an_amplifier() -> None:
    text = "t\nV1 p 0 AC 1\nR1 n out 100k\nR2 n 0 1k\nA1 %vd(p n) out amp\nA2 %v(p) x amp\nR3 x 0 1k\n"
    text += ".model amp gain(gain=1e5)\n"
    page, roles, at = roles_by_name(text)
    assert [page.parts[at[name]].kind for name in ("A1", "A2")] == ["amp", "box"]
    place = drawn(text)
    assert place["r1"][1] < place["a1"][1]  # the feedback around it
    assert roles.turns[at["R1"]] == 1  # its end at the output on the right


def test_a_driver_with_a_floating_supply_is_a_box() -> None:
    """What its output stage hangs on moves with both inputs; its output is the port that is called so."""
    text = "t\nV1 c 0 1\nX1 c vdd vss 0 g driver\nV2 vdd vss 12\nR1 vss 0 1k\nR2 g vss 1k\n"
    text += (
        ".subckt driver c vdd vss vssin out\nM2 out gate vss vss N\nM1 out gate vdd vdd P\n"
        "B1 gate vss V=v(d)-v(vss)>2.5 ? 0 : v(vdd)-v(vss)\nE1 i vss c vssin 1\nR1 i d 100\nC1 d vss 1n\n"
        ".model N NMOS(VTO=2)\n.model P PMOS(VTO=-2)\n.ends\n"
    )
    page, _, at = roles_by_name(text)
    assert page.parts[at["X1"]].kind == "box"


_PACKAGE = """t
VCC vcc 0 15
VEE vee 0 -15
V1 in 0 AC 1
X1 o1 n1 in vee m n2 out vcc dual
R1 n1 o1 10k
R2 n1 0 10k
R3 o1 m 10k
C1 m 0 1n
R4 n2 out 10k
R5 n2 0 10k
.subckt dual 1out 1in- 1in+ v- 2in+ 2in- 2out v+
XA 1in+ 1in- v+ v- 1out one
XB 2in+ 2in- v+ v- 2out one
.ends
"""
_ONE = ".subckt one p n vcc vee out\nE1 out 0 p n 1e5\nR1 vcc vee 1meg\nR2 p n 1meg\n.ends\n"


@for_each(
    "inside", [_ONE, "", ".subckt one a b c d e\nR1 a b 1\n.ends\n"]
)  # by its ways, or by its ports' names
def test_the_amplifiers_of_a_package_are_drawn_one_by_one(inside: str) -> None:
    page, block = next(circuit_of((_PACKAGE + inside).encode()))
    drawing = draw(page, effort=FIRST)
    assert [*differences(block, drawing), *faults_of(drawing)] == []
    halves = [each for each in drawing.symbols if each.element == "X1"]
    assert [(each.kind, each.key) for each in halves] == [("amp", "x1·a"), ("amp", "x1·b")]
    assert {"X1A", "X1B"} <= {each.text for each in drawing.texts if each.element == "X1"}
    assert [sum(pin.terminal in (3, 7) for pin in each.pins) for each in halves] == [2, 0]  # supplies once
    at = places(drawing)
    assert drawing.elements.count("X1") == 1
    assert [each.element for each in find(drawing, "X1")] == ["X1"]
    apart = moved(page, drawing, "X1", (0, 40))  # both are moved
    assert apart.places["x1·b"].y - at["x1·b"][1] == apart.places["x1·a"].y - at["x1·a"][1] == 40


def test_a_subcircuit_of_other_things_is_no_package() -> None:
    """An amplifier beside a resistor, one alone, and two of which an output is no port."""
    for inner in (
        "XA 1in+ 1in- v+ v- 1out one\nR9 2in+ 2out 1k\nR8 2in- 2out 1k\n",
        "XA 1in+ 1in- v+ v- 1out one\n",
        "XA 1in+ 1in- v+ v- x one\nXB 2in+ 2in- v+ v- 2out one\n",
    ):
        before, behind = _PACKAGE.split("XA ")
        text = before + inner + behind[behind.index(".ends") :] + _ONE
        page, _, at = roles_by_name(text)
        assert page.parts[at["X1"]].kind == "box"


def test_a_flip_flop_of_switched_pairs_has_each_latch_beside_the_pair_that_feeds_it() -> None:
    def half(first: int, d: tuple[str, str], q: tuple[str, str], clocks: tuple[str, str]) -> str:
        names = [f"Q{number}" for number in range(first, first + 6)]
        rows = (
            (q[0], d[0], f"a{first}"), (q[1], d[1], f"a{first}"),
            (q[0], q[1], f"h{first}"), (q[1], q[0], f"h{first}"),
            (f"a{first}", clocks[0], f"t{first}"), (f"h{first}", clocks[1], f"t{first}"),
        )  # fmt: skip
        cards = [f"{name} {' '.join(nets)} n" for name, nets in zip(names, rows, strict=True)]
        return "\n".join(
            [*cards, f"I{first} t{first} vee 1m", f"R{first} 0 {q[0]} 1k", f"S{first} 0 {q[1]} 1k", ""]
        )

    text = "t\nVEE vee 0 -5\nVD d 0 PULSE(0 -1 1n)\nVN dn 0 -0.5\nVC c 0 PULSE(-1 -2 1n)\nVK cn 0 -1.5\n"
    text += half(1, ("d", "dn"), ("m", "mn"), ("c", "cn")) + half(11, ("m", "mn"), ("q", "qn"), ("cn", "c"))
    text = text.replace("S1 0", "RS1 0").replace("S11 0", "RS11 0") + ".model n npn\n"
    _, roles, _ = roles_by_name(text)
    assert [(quad.is_latch, len(quad.loads)) for quad in roles.quads] == [(True, 2), (True, 2)]
    drawing = drawing_of(text)
    at = places(drawing)
    for first in (1, 11):
        pair, latch, lower = ([f"q{first + number}" for number in at] for at in ((0, 1), (2, 3), (4, 5)))
        assert len({*rows(at, *pair, *latch)}) == len({*rows(at, *lower)}) == 1
        assert max(columns(at, *pair)) < min(columns(at, *latch))
        assert min(columns(at, *pair)) < at[lower[0]][0] < max(columns(at, *pair))
        assert min(columns(at, *latch)) < at[lower[1]][0] < max(columns(at, *latch))
        assert at[f"r{first}"][1] < at[pair[0]][1] < at[lower[0]][1]
        left, right = sorted(latch, key=lambda name: at[name][0])
        assert (drawing.places[left].flip, drawing.places[right].flip) == (True, False)


def test_a_supply_whose_current_is_measured_is_a_supply() -> None:
    """Behind a source of 0 V the net is a rail, too, where nothing but sources is before it."""
    text = "t\nVDD top 0 3\nVM top vdd 0\nVIN in 0 PULSE(0 3 1n)\nM1 out in vdd vdd p\nM2 out in low low n\n"
    text += f"VSS s 0 0\nVB s low 0\nVL s 6 0\nCL out 6 1p\n{_MODELS}"
    _, roles, _ = roles_by_name(text)
    assert roles.rails.signs == {"0": 0, "top": 1, "vdd": 1, "s": -1, "low": -1}
    assert {part.name for part in roles.rails.sources} == {"VDD", "VM", "VSS", "VB"}
    assert wrong_in(text.encode()) == []
    _, roles, _ = roles_by_name(text.replace("VIN in", "R1 top in 1k\nVIN in"))
    assert "vdd" not in roles.rails.signs  # here it measures one current of some


def test_thermal_terminals_are_told_by_name() -> None:
    text = "t\nVCC vcc 0 36\nVIN in 0 AC 1\nM1 vcc in out tj tc power thermal\nRL out 0 8\nR1 tj 0 1g\n"
    text += "R2 tc ta 0.2\nC2 ta 0 0.3\nVA ta 0 25\n.model power vdmos(nchan)\n"
    page, roles, _ = roles_by_name(text)
    assert roles.labelled == {"tj", "tc"}
    drawing = drawing_of(text)
    assert {wire.net for wire in drawing.wires} & {"tj", "tc"} == set()
    assert page.parts[2].net("x4") == "tc"


def test_boxes_of_one_make_have_their_outputs_on_the_same_side() -> None:
    """Where one leads to the output, the others lead to outputs, too: the way of the signal is theirs."""
    stages = "".join(
        f"X{at} in f{at} o{at} thing\nL{at} o{at} f{at} 1g\nC{at} f{at} t 1\nR{at} o{at} 0 22\n"
        for at in "abc"
    )
    text = f"t\nVIN in 0 5\nVT t 0 AC 1\n{stages}.subckt thing in fb out\nR1 in out 1\n"
    _, roles, at = roles_by_name(text + "R2 fb out 1\n.ends\n")
    for name in "abc":
        assert roles.ranks[f"o{name}"] > roles.ranks[f"f{name}"]
        assert roles.sides[at[f"X{name}"]].right == ("out",)


def test_meters_stand_in_the_lead_they_measure() -> None:
    """Along the signal's way they lie; at one collector they stay, be all of the supply's current in it."""
    text = "t\nVCC vcc 0 9\nVEE vee 0 -9\nVM vcc c 0\nVIN in 0 SIN(0 1 1k)\nQ1 c in out q\nR2 out vee 10\n"
    text += "VO out x 0\nVL x y 0\nRL y 0 50\n.model q npn\n"
    _, roles, at = roles_by_name(text)
    assert {part.name for part in roles.rails.sources} == {"VCC", "VEE"}
    assert [roles.upright[at[name]] for name in ("VM", "VIN", "VO", "VL", "RL")] == [
        True,
        True,
        True,
        False,
        True,
    ]
    assert wrong_in(text.encode()) == []


def test_what_is_parallel_to_a_coupling_of_two_transistors_is_above_it() -> None:
    text = "t\nVCC vcc 0 9\nR1 vcc a 1k\nR2 vcc b 1k\nR3 a y 10k\nC3 y a 1n\nR4 b x 10k\nC4 b x 1n\n"
    at = drawn(f"{text}Q1 a x 0 n\nQ2 b y 0 n\n.model n npn\n")
    assert columns(at, "c3", "c4") == columns(at, "r3", "r4")
    assert [high - low for high, low in zip(rows(at, "c3", "c4"), rows(at, "r3", "r4"), strict=True)] == [
        -3,
        -3,
    ]
    assert len({*rows(at, "q1", "q2")}) == len({*rows(at, "r1", "r2")}) == 1
