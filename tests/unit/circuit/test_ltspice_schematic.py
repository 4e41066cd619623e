"""LTspice's sheets as netlists: wires, labels, turned symbols, defaults, sheets behind symbols."""

from __future__ import annotations

import pytest

from domain.circuit.ltspice_opamps import ports_of
from domain.circuit.ltspice_schematic import Converted, NoSheet, netlist_of, read_sheet, read_symbol
from domain.circuit.ltspice_symbols import library_symbol
from tests.ground.cases import for_each

RC = r"""Version 4
SHEET 1 880 680
WIRE 160 96 64 96
WIRE 320 96 240 96
WIRE 64 128 64 96
WIRE 320 144 320 96
FLAG 64 208 0
FLAG 320 208 0
FLAG 320 96 out put
SYMBOL voltage 64 112 R0
WINDOW 123 24 124 Left 2
SYMATTR InstName V1
SYMATTR Value SINE(0 1 1k)
SYMATTR Value2 AC 1
SYMBOL res 256 80 R90
SYMATTR InstName R1
SYMATTR Value 1k
SYMBOL cap 304 144 R0
SYMATTR InstName C1
SYMATTR Value 1µ
SYMATTR SpiceLine Rser=10
TEXT 48 256 Left 2 !.ac dec 20 1 1meg\n.param x=3
TEXT 48 300 Left 2 ;a comment
"""


def lines(found: Converted) -> list[str]:
    return found.text.splitlines()


def converted(text: str, **beside: str) -> Converted:
    files = {name.replace("_", "."): content for name, content in beside.items()}
    return netlist_of(read_sheet(text), title="x.asc", find=files.get)


def test_a_sheet_becomes_a_netlist() -> None:
    assert lines(converted(RC)) == [
        "* x.asc",
        "V1 N001 0 SINE(0 1 1k) AC 1",
        "R1 out_put N001 1k",
        "C1 out_put 0 1µ Rser=10",
        ".ac dec 20 1 1meg",
        ".param x=3",
        ".backanno",
        ".end",
    ]


def test_labels_drawn_as_output_ports_are_told() -> None:
    flags = "FLAG 320 96 out put\nIOPIN 320 96 Out\nFLAG 160 96 a\nIOPIN 160 96 In\nIOPIN 999 96 Out\n"
    assert converted(RC.replace("FLAG 320 96 out put\n", flags)).outputs == ("out_put",)
    # What is an input elsewhere on the sheet leads from place to place.
    links = "FLAG 160 96 Vc\nIOPIN 160 96 Out\nFLAG 600 500 vc\nIOPIN 600 500 In\n"
    assert converted(RC.replace("FLAG 320 96 out put\n", links)).outputs == ()


@for_each(
    ("turn", "ends"),
    [
        ("R0", ((16, 16), (16, 96))), ("R90", ((-16, 16), (-96, 16))), ("R180", ((-16, -16), (-16, -96))),
        ("R270", ((16, -16), (96, -16))), ("M0", ((-16, 16), (-16, 96))), ("M90", ((16, 16), (96, 16))),
        ("M180", ((16, -16), (16, -96))), ("M270", ((-16, -16), (-96, -16))),
    ],
)  # fmt: skip
def test_symbols_are_turned_and_mirrored(turn: str, ends: tuple[tuple[int, int], tuple[int, int]]) -> None:
    flags = "".join(f"FLAG {x} {y} {name}\n" for (x, y), name in zip(ends, "ab", strict=True))
    text = f"Version 4\n{flags}SYMBOL res 0 0 {turn}\nSYMATTR InstName R1\nSYMATTR Value 5\n"
    assert "R1 a b 5" in lines(converted(text))


def test_wires_join_where_they_end_on_one_another_and_not_where_they_cross() -> None:
    text = (
        "Version 4\nWIRE 0 0 100 0\nWIRE 50 0 50 50\nWIRE 80 -40 80 40\nFLAG 0 0 a\nFLAG 50 50 t\n"
        "FLAG 80 40 x\n"
        "SYMBOL res 34 34 R0\nSYMATTR InstName R1\nSYMATTR Value 1\n"  # its pins are at 50,50 and 50,130
        "SYMBOL res 64 24 R0\nSYMATTR InstName R2\nSYMATTR Value 2\n"  # 80,40 and 80,120
    )
    found = lines(converted(text))
    assert "R1 a NC_01 1" in found  # the first label given to a node names it
    assert "R2 x NC_02 2" in found


def test_nodes_without_a_label_have_ltspices_numbers() -> None:
    """In the order of its wires; P001 where pins meet without one, NC_01 for an open pin."""
    text = (
        "Version 4\nWIRE 16 296 16 400\nWIRE 16 96 16 80\nSYMBOL res 0 0 R0\nSYMATTR InstName R1\n"
        "SYMBOL res 0 200 R0\nSYMATTR InstName R2\nSYMBOL cap 0 400 R0\nSYMATTR InstName C1\n"
        "SYMBOL cap 0 464 R0\nSYMATTR InstName C2\n"
    )
    found = [line.split()[:3] for line in lines(converted(text))[1:5]]
    assert found == [["R1", "NC_01", "N002"], ["R2", "NC_02", "N001"], ["C1", "N001", "P001"],
                     ["C2", "P001", "NC_03"]]  # fmt: skip


def test_transistors_diodes_and_devices_get_what_ltspice_writes() -> None:
    text = (
        "Version 4\nSYMBOL npn 0 0 R0\nSYMATTR InstName Q1\nSYMBOL nmos 200 0 R0\nSYMATTR InstName T1\n"
        "SYMATTR Value BSS123\nSYMBOL diode 400 0 R0\nSYMATTR InstName D1\nSYMATTR Value 1N4148\n"
        "SYMBOL Digital\\\\inv 600 0 R0\nSYMATTR InstName A1\nFLAG 600 64 in\nFLAG 664 64 out\n"
        "SYMBOL Opamps\\LT1001 800 0 R0\nSYMATTR InstName U1\nSYMBOL Misc\\\\jumper 1000 0 R0\n"
        "SYMATTR InstName X9\nFLAG 968 64 p\nFLAG 1032 64 q\n"
    )
    found = converted(text)
    assert not found.missing
    assert [line.split()[0] for line in lines(found)[1:6]] == ["Q1", "MT1", "D1", "A1", "XU1"]
    q1, t1, d1, a1, u1 = (line.split() for line in lines(found)[1:6])
    assert q1[-2:] == ["0", "NPN"]
    assert t1[3] == t1[4]
    assert t1[-1] == "BSS123"
    assert d1[-1] == "1N4148"
    assert a1 == ["A1", "in", "0", "0", "0", "0", "out", "0", "0", "BUF"]
    assert (len(u1), u1[-1]) == (7, "LT1001")
    for card in (
        ".model NPN NPN",
        ".lib standard.bjt",
        ".lib standard.mos",
        ".lib standard.dio",
        ".lib LTC.lib",
    ):
        assert card in lines(found)


def test_op_amps_have_outlines_of_their_own_and_one_that_does_not_fit_is_missing() -> None:
    """LT1818 has its output before its supplies; of one that is not known the one drawn outline is taken."""
    flags = "".join(
        f"FLAG {x} {y} {name}\n"
        for x, y, name in ((-32, 16, "p"), (-32, -16, "n"), (32, 0, "o"), (0, -32, "vp"), (0, 32, "vn"))
    )
    text = f"Version 4\n{flags}SYMBOL Opamps\\\\NAME 0 0 R0\nSYMATTR InstName U1\n"
    assert "XU1 p n o vp vn LT1818" in lines(converted(text.replace("NAME", "lt1818")))
    assert "XU1 p n vp vn o LT9999" in lines(
        converted(text.replace("NAME", "LT9999"))
    )  # its stand-in's order
    assert ports_of("lt1818") == ("inp", "inn", "out", "vcc", "vee")
    assert ports_of("LT1001") == ports_of("LT9999") == ("inp", "inn", "vcc", "vee", "out")
    assert ports_of("LT1784") is None  # it can be shut down


def test_a_symbol_of_a_transistor_may_stand_for_a_subcircuit() -> None:
    flags = "FLAG 48 0 d\nFLAG 0 80 g\nFLAG 48 96 s\n"
    text = f"Version 4\n{flags}SYMBOL nmos 0 0 R0\nSYMATTR InstName M1\nSYMATTR Value BS170\n"
    assert "M1 d g s s BS170" in lines(converted(text))
    assert "XM1 d g s BS170" in lines(converted(f"{text}SYMATTR Prefix X\n"))
    assert "XM1 d g s BS170" in lines(converted(f"{text}SYMATTR Prefix X\nSYMATTR Value2 BS170\n"))


def test_a_backslash_of_a_text_is_no_line_end() -> None:
    found = lines(converted("Version 4\nTEXT 0 0 Left 2 !.inc ..\\\\models\\\\nmos.inc\\n.op\n"))
    assert found[1:3] == [".inc ..\\models\\nmos.inc", ".op"]


OWN = """Version 4
SymbolType BLOCK
PIN 0 0 LEFT 8
PINATTR PinName b
PINATTR SpiceOrder 2
PIN 0 64 LEFT 8
PINATTR PinName a
PINATTR SpiceOrder 1
"""
INNER = "Version 4\nFLAG 16 16 a\nFLAG 16 96 b\nSYMBOL res 0 0 R0\nSYMATTR InstName R1\nSYMATTR Value {r}\n"


def test_a_sheet_behind_a_symbol_is_a_subcircuit() -> None:
    text = (
        "Version 4\nFLAG 0 64 in\nFLAG 0 0 out\nSYMBOL half 0 0 R0\nSYMATTR InstName X1\n"
        "SYMATTR Value a half\nSYMATTR Value2 c=1 d=2\nSYMATTR SpiceLine r=2k\nTEXT 0 0 Left 2 !.op\n"
    )
    found = lines(converted(text, half_asy=OWN, half_asc=INNER))
    assert "XX1 in out half c=1 d=2 r=2k" in found
    at = found.index(".subckt half a b")
    assert found[at : at + 3] == [".subckt half a b", "R1 a b {r}", ".ends half"]
    # What that sheet runs for itself is none of the circuit's analyses; what else it says is.
    runs = INNER + "TEXT 0 0 Left 2 !.tran 1m\nTEXT 0 0 Left 2 !.ac dec 10\\n+ 1 1k\\n.param r=1k\n"
    found = lines(converted(text, half_asy=OWN, half_asc=runs))
    assert found[at : at + 4] == [".subckt half a b", "R1 a b {r}", ".param r=1k", ".ends half"]
    without = converted(text, half_asy=OWN)
    assert "half.asc" in str(without.missing[0])
    within = converted(text, half_asy=OWN, half_asc=text)  # a sheet that holds itself comes to an end
    assert within.text.count(".subckt half") == 1


def test_what_is_missing_is_told_and_leaves_a_comment() -> None:
    found = converted(
        "Version 4\nSYMBOL Mine\\thing 0 0 R0\nSYMATTR InstName U7\nFLAG 8 8 d[0:7]\nBUSTAP 0 0 16 16\n"
    )
    assert [str(each)[:2] for each in found.missing] == ["Bu", "U7"]
    assert "* U7: symbol Mine\\thing is missing" in lines(found)


@pytest.mark.parametrize("text", ["", "R1 a 0 1k\n.end\n", "\x00\x01"])
def test_what_is_no_sheet(text: str) -> None:
    with pytest.raises(NoSheet):
        read_sheet(text)


def test_damaged_records_are_passed_over() -> None:
    sheet = read_sheet(
        "Version 4\nWIRE 1 2\nWIRE a b c d\nFLAG\nSYMBOL res x y R0\nSYMBOL res 0 0 R45\nSYMATTR\nTEXT\n"
    )
    assert (sheet.wires, sheet.labels, sheet.parts, sheet.directives) == ((), (), (), ())
    assert read_symbol("Version 4\nPIN\nPINATTR SpiceOrder x\n") is None
    assert read_symbol(f"Version 4\nPIN 0 0 LEFT 8\nPINATTR SpiceOrder {'9' * 5_000}\n") is not None


def test_no_symbol_has_two_pins_at_one_place() -> None:
    for name in (
        "res",
        "npn",
        "NMOS4",
        "opamps/universalopamp2",
        "digital\\dflop",
        "specialfunctions\\sample",
    ):
        symbol = library_symbol(name)
        assert symbol is not None
        places = [pin for pin in symbol.pins if pin is not None]
        assert len(set(places)) == len(places)
    assert library_symbol("nothing") is None


def test_a_sheet_of_a_stranger_is_read_in_linear_time() -> None:
    wires = "".join(f"WIRE 0 0 {x} 0\n" for x in range(16, 320_000, 16))  # each lies on all before it
    slanting = "".join(f"WIRE 0 0 {x} 7\n" for x in range(1, 5_000))
    attributes = "".join(f"SYMATTR a{number} x\n" for number in range(20_000))
    text = f"Version 4\n{wires}{slanting}SYMBOL res -16 -16 R0\nSYMATTR InstName R1\n{attributes}"
    assert any(line.startswith("R1 ") for line in lines(converted(text)))


def test_names_from_ltspices_own_folder_and_without_a_folder() -> None:
    flags = ("0 96 0", "0 16 a", "200 80 a", "200 48 q", "232 32 0", "232 96 p", "264 64 q")
    symbols = (("lib\\\\sym\\\\Misc\\\\battery 0 0", "V1"), ("LT1001 232 0", "U1"), ("xtal 400 0", "C1"))
    sheet = "".join(
        [
            "Version 4\n",
            *(f"FLAG {flag}\n" for flag in flags),
            *(f"SYMBOL {symbol} R0\nSYMATTR InstName {name}\n" for symbol, name in symbols),
        ]
    )
    found = converted(sheet)
    assert "V1 a 0" in lines(found)
    assert "XU1 a q 0 p q LT1001" in lines(found)
    # What nothing is connected to may as well be another's of that name.
    assert [each.params["symbol"] for each in found.missing] == ["xtal"]


def test_a_pair_of_quotes_is_no_model_and_no_parameter() -> None:
    symbol = "Version 4\nPIN 0 0 LEFT 8\nPINATTR PinName in\nPINATTR SpiceOrder 1\n"
    sheet = (
        'Version 4\nFLAG 0 0 a\nSYMBOL amp 0 0 R0\nSYMATTR InstName U1\nSYMATTR SpiceModel ""\n'
        "SYMATTR Value AMPSIMP\nSYMATTR SpiceLine POLE=30\nSYMBOL half 0 0 R0\nSYMATTR InstName X1\n"
        'SYMATTR SpiceLine ""\n'
    )
    found = converted(
        sheet,
        amp_asy=symbol + "SYMATTR Prefix X\n",
        half_asy=symbol,
        half_asc="Version 4\nFLAG 0 0 in\n",
    )
    assert "XU1 a AMPSIMP POLE=30" in lines(found)
    assert "XX1 a half" in lines(found)


def test_an_op_amp_that_is_not_known_has_the_outline_that_is_drawn() -> None:
    """Input +, input -, supplies, output: the order its stand-in has, whatever the outline's own is."""
    flags = "FLAG -32 16 p\nFLAG -32 -16 n\nFLAG 0 -32 vcc\nFLAG 0 32 vee\nFLAG 32 0 out\n"
    part = "SYMBOL OpAmps\\\\ADA9999-2 0 0 R0\nSYMATTR InstName U1\n"
    assert "XU1 p n vcc vee out ADA9999-2" in lines(converted(f"Version 4\n{flags}{part}"))
    assert converted(f"Version 4\n{part}").missing
    # A package of two is drawn as the single one, without the pin that switches that off.
    near = flags.replace("FLAG 0 -32", "FLAG -16 -32").replace("FLAG 0 32", "FLAG -16 32")
    assert "XU1 p n vcc vee out ADA9999-2" in lines(converted(f"Version 4\n{near}{part}"))
    assert "XU1 p n vcc vee out off ADA9999-2" in lines(converted(f"Version 4\n{near}FLAG 16 32 off\n{part}"))


@for_each(
    ("symbol", "at", "line"),
    [
        (r"mine\\TL081", "-32,16 p -32,-16 n 0,-32 vcc 0,32 vee 32,0 o", "XP1 p n vcc vee o TL081"),
        (r"ZZZ\\Comparator\\lm393", "-32,80 p -32,48 n 0,32 vcc 0,96 vee 32,64 o", "XP1 p n vcc vee o lm393"),
        (r"AutoGenerated\\PA1", "-64,-16 a -64,16 b 64,-32 c 64,0 d 64,32 e", "XP1 a b c d e PA1"),
        (r"AutoGenerated\\PA1", "-32,0 a 32,-16 b 32,16 c 96,-16 further 96,16 on", "XP1 a b c PA1"),
        (r"AutoGenerated\\PA1", "-32,0 a 32,-16 b", None),
        (r"AutoGenerated\\PA1", "-48,0 a 64,-16 b 64,16 c", "XP1 a b c PA1"),
        ("LM7805", "-32,-16 i 32,-16 o 0,48 g", "XP1 i g o LM7805"),
        (
            r"ZZZ\\TIMER\\555",
            "-112,-96 a -112,-32 b -112,32 c -112,96 d 112,96 e 112,32 f 112,-32 g 112,-96 h",
            "XP1 a b c d e f g h NE555",
        ),
        (r"Mine\\irf540n", "32,-48 d -48,0 g 32,48 s", "MP1 d g s s irf540n"),
        (r"cktsym\\nmos4", "0,-64 d -64,0 g 0,64 s 0,0 b", "MP1 d g s b NMOS"),
        (r"cktsym\\resistor", "0,-64 a 0,64 b", "RP1 a b R"),
        ("BS170", "48,0 d 0,48 g 48,96 s", "MP1 d g s s BS170"),
        ("IRF9540", "48,0 d 0,48 g 48,96 s", None),  # on another's symbol the source may be above
        ("Unheard", "48,0 d 0,80 g 48,96 s", None),
    ],
)
def test_a_symbol_nobody_published_is_what_its_name_and_its_wires_tell(
    symbol: str, at: str, line: str | None
) -> None:
    words = at.split()
    flags = "".join(
        f"FLAG {place.replace(',', ' ')} {name}\n"
        for place, name in zip(words[::2], words[1::2], strict=True)
    )
    found = converted(f"Version 4\n{flags}SYMBOL {symbol} 0 0 R0\nSYMATTR InstName P1\n")
    if line is None:
        assert found.missing
    else:
        assert line in lines(found)
        assert "P1" in str(found.notes) or "555" in symbol


def test_a_symbol_ltspice_made_has_the_ports_of_the_library_that_is_called_like_it() -> None:
    """Also with open ones, and beside a file of its name that is another symbol."""
    library = "* a library\n.subckt other a\n.ends\n.SUBCKT pa1 a b c\n+ d e f g h\nR1 a b 1\n.ends\n"
    places = [(x, y) for x in (-64, 64) for y in (-48, -16, 16, 48)]
    flags = [f"FLAG {x} {y} n{number}\n" for number, (x, y) in enumerate(places)]
    part = "SYMBOL AutoGenerated\\PA1 0 0 R0\nSYMATTR InstName U1\n"
    small = "Version 4\nSymbolType BLOCK\nPIN 0 -16 NONE 8\nPINATTR PinName a\nPINATTR SpiceOrder 1\n"
    found = converted(f"Version 4\n{''.join(flags[:-1])}{part}", PA1_lib=library, PA1_asy=small)
    assert "XU1 n0 n1 n2 n3 n4 n5 n6 NC_01 PA1" in lines(found)
    assert ".lib PA1.lib" in lines(found)
    assert "PA1.lib" in " ".join(map(str, found.notes))
    named = converted(f"Version 4\n{''.join(flags)}{part}TEXT 0 0 Left 2 !.inc PA1.lib\n", PA1_lib=library)
    assert ".lib PA1.lib" not in lines(named)
    left = "FLAG -32 -16 p\nFLAG -32 16 n\nFLAG 32 0 out\n"
    three = converted(f"Version 4\n{left}{part}", PA1_sub=".subckt PA1 p n o\n.ends\n")
    assert "XU1 p n out PA1" in lines(three)


def test_a_block_without_a_sheet_is_the_subcircuit_of_a_library_called_like_it() -> None:
    block = "Version 4\nSymbolType BLOCK\nPIN 0 0 NONE 8\nPINATTR PinName a\nPINATTR SpiceOrder 1\n"
    part = "Version 4\nFLAG 0 0 in\nSYMBOL two 0 0 R0\nSYMATTR InstName U1\n"
    found = converted(part, two_asy=block, two_lib=".subckt two a\nR1 a 0 1\n.ends\n")
    assert "XU1 in two" in lines(found)
    assert ".lib two.lib" in lines(found)
    assert converted(part, two_asy=block, two_lib=".subckt two a b\n.ends\n").missing


def test_a_tap_of_a_bus_means_something_only_beside_a_label_of_several_lines() -> None:
    text = f"{RC}BUSTAP 0 0 16 0\n"
    assert converted(text).missing == ()
    assert converted(f"{text}FLAG 64 128 d[0:3]\n").missing


def test_the_op_amp_without_supplies_brings_its_library() -> None:
    part = "SYMBOL Opamps\\\\opamp 0 0 R0\nSYMATTR InstName U1\n"
    assert ".lib opamp.sub" in lines(converted(f"Version 4\n{part}"))
    own = lines(converted(f"Version 4\n{part}TEXT 0 0 Left 2 !.include mine.txt\n"))
    assert ".lib opamp.sub" not in own
    others = f"Version 4\n{part}TEXT 0 0 Left 2 !.incl tl081.lib\n"
    assert ".lib opamp.sub" in lines(converted(others, tl081_lib=".subckt TL081 1 2 3 4 5\n.ends\n"))
    assert ".lib opamp.sub" not in lines(converted(others, tl081_lib=".SUBCKT opamp 1 2 3\n.ends\n"))
    assert ".lib opamp.sub" not in lines(converted(others))  # nobody knows what it has


def test_comparators_references_and_other_blocks_have_the_pins_of_their_symbols() -> None:
    flags = "FLAG 32 64 out\nFLAG 0 96 0\nFLAG -32 80 p\nFLAG -32 48 n\nFLAG 0 32 vcc\n"
    part = "SYMBOL Comparators\\LTC1441 0 0 R0\nSYMATTR InstName U1\n"
    found = lines(converted(f"Version 4\n{flags}{part}"))
    assert "XU1 out 0 p n vcc LTC1441" in found
    assert ".lib LTC.lib" in found
    opto = "SYMBOL PC817B 0 0 R0\nSYMATTR InstName U2\n"  # newer versions write no folder
    flags = "FLAG -96 -48 a\nFLAG -96 48 k\nFLAG 96 -48 c\nFLAG 96 48 e\n"
    found = lines(converted(f"Version 4\n{flags}{opto}"))
    assert "XU2 a k c e PC817 Igain=1.5m" in found
    assert ".lib PC817.sub" in found


def test_an_element_named_without_its_letter_is_still_meant_by_its_name() -> None:
    """LTspice calls a source Ix in the results, whatever letter its line begins with."""
    text = RC.replace("InstName V1", "InstName Ix").replace(
        ".param x=3", r".meas ac i find I(Ix) at 1k\n.tf V(out) Ix\nH1 a  0 ix 10\nB1 b 0 V=V(ix)*i(Ix)"
    )
    found = lines(converted(text))
    assert "VIx N001 0 SINE(0 1 1k) AC 1" in found
    wanted = [".meas ac i find I(VIx) at 1k", ".tf V(out) VIx", "H1 a  0 VIx 10", "B1 b 0 V=V(ix)*i(VIx)"]
    assert [line for line in wanted if line not in found] == []
    twice = RC.replace("InstName R1", "InstName RB") + "SYMBOL res 400 80 R0\nSYMATTR InstName B\n"
    assert [line.split()[0] for line in lines(converted(twice)) if line[:1] == "R"] == ["RB", "R_B"]


@for_each(
    ("symbol", "value", "behind"),
    [
        ("pmos", "FDS6670", "FDS6670 ; drawn as pmos"),  # the name is an N-channel MOSFET's
        ("pmos", "FDS6675", "FDS6675"),
        ("nmos", "PartOfMine", "PartOfMine ; drawn as nmos"),
        ("pnp", "2N3906", "2N3906"),
        ("pnp", "PNP", "PNP"),
        ("schottky", "STPS20", "STPS20 ; drawn as schottky"),
        ("nmos", "CMOSN\nSYMATTR Value2 l=0.18u w=1u", "CMOSN l=0.18u w=1u"),  # of a process
        ("zener", "HouseZener", "HouseZener"),  # a symbol tells no voltage
    ],
)
def test_a_symbol_says_what_a_name_does_not(symbol: str, value: str, behind: str) -> None:
    text = f"Version 4\nSHEET 1 0 0\nSYMBOL {symbol} 0 0 R0\nSYMATTR InstName P1\nSYMATTR Value {value}\n"
    assert lines(converted(text))[1].endswith(f" {behind}")


def test_a_symbol_in_a_folder_of_another_name_is_ltspices_where_its_pins_are_connected() -> None:
    """A copy of LTspice's symbols in a folder of one's own, or its folders in another language."""
    text = RC.replace("SYMBOL voltage", r"SYMBOL Overige\ componenten\\voltage")
    assert lines(converted(text))[1] == "V1 N001 0 SINE(0 1 1k) AC 1"
    beside = text.replace("WIRE 64 128 64 96", "WIRE 80 128 80 96")
    assert "V1" in str(converted(beside).missing)


def test_a_value_is_one_line_and_a_prefix_an_element() -> None:
    """A lone carriage return made a directive of a value; a prefix `*` let the part go without a word."""
    cr = RC.replace("SYMATTR Value 1k", "SYMATTR Value 1k\r.include secrets.inc")
    assert "R1 out_put N001 1k" in lines(converted(cr))
    assert not any("secrets" in line for line in lines(converted(cr)))
    hidden = converted(RC.replace("InstName R1", "InstName R1\nSYMATTR Prefix *"))
    assert "R1" in str(hidden.missing)
    assert "* R1: no element *" in lines(hidden)
