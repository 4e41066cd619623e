"""Which words tell a dialect, and which don't."""

from __future__ import annotations

from pathlib import Path

import pytest

from domain.circuit.dialects import (
    QSPICE_TITLE,
    compatibility_mode,
    evidence_in,
    is_device_of_qspice,
    plain_text,
    refuse_schematic,
)
from domain.circuit.laplace import NotRational, transfer_of
from domain.circuit.netlist import Netlist
from domain.circuit.simulator_settings import Dialect, with_variables
from domain.circuit.translation import translate
from shared.errors import UserInputError
from tests.ground.cases import for_each

GOOD = Path(__file__).parents[2] / "corpus" / "netlists" / "good"


def _dialect(text: str) -> str:
    found = evidence_in(Netlist.parse(f"title\n{text}\n.end\n".encode()))
    return found[0].dialect if found else "ngspice"


@for_each(
    ("text", "dialect"),
    [
        (".backanno", "ltspice"),
        ("C1 a 0 1u Rser=10m", "ltspice"),
        ("B1 a 0 V=uplim(V(b),1,0.1)", "ltspice"),
        (".tran 10m", "ltspice"),
        (".tran 0 10m 0 1u", "ltspice"),
        ("R1 a b 10\N{GREEK SMALL LETTER MU}", "ltspice"),
        ("R1 a b 10\N{MICRO SIGN}", "ngspice"),
        (".model D1 D(Ron=1 mfg=Me)\n.step param r 1 2 1", "ltspice"),
        (".model D1 D(Ron=1 mfg=Me)", "ltspice"),
        (".model m vdmos(vds=100 mfg=Me)", "ngspice"),
        (".model q NPN(vceo=40)", "ngspice"),
        (".model dl sidiode(Ron=1 Roff=1meg RevIlimit=7)\n.model m vdmos(vds=100 mfg=Me)", "ngspice"),
        (".func buf(x) {x>0.5}\nB1 a 0 V=buf(V(b))", "ngspice"),
        ("B1 a 0 V=buf(V(b))", "ltspice"),
        (".subckt buf (in out)\n.ends", "ngspice"),
        (".meas t1 find v(a) at=1m", "ltspice"),
        ("E1 a 0 VALUE {V(b)*2}", "pspice"),
        (".model s1 VSWITCH(ron=1)", "pspice"),
        ("R1 a $N_0001 1k", "pspice"),
        ("E1 a 0 VALUE {V(b)}\nA1 a b 0 0 0 0 c 0 OTA g=1m\nR1 a 0 1k noiseless", "ltspice"),
        ("A1 [a b] c d e f g h i j and", "ngspice"),
        ("R1 a b 1k $N is no net", "ngspice"),
        (".model q2 ako:q1 NPN(bf=2)\n.model q1 NPN(mfg=Me)", "pspice"),
        ("X1 a b f PARAMS: r=1\n.probe", "pspice"),
        (".model d1 d(is=1e-14 dev/gauss=5%)\n.probe", "pspice"),
        (".model d1 d(is=1e-14 dev/gauss=5%)", "ngspice"),
        (".LIB MODELS\\UA741.LIB\n.PROBE", "pspice"),
        (".step param r 1 2 1\n.lib my.lib", "ltspice"),
        (".lib my.lib\n.lib other.lib", "ngspice"),
        (".lib my.lib tt\n.probe", "ngspice"),
        (".option post=2\n.protect\n.unprotect", "hspice"),
        (".option post=2", "ngspice"),
        (".option post=2 accurate", "hspice"),
        (".alter case2", "hspice"),
        (".tran 1n 10n sweep r 1 2 1", "hspice"),
        (".tran 1n 10n START=1n", "hspice"),
        ("X1 a b f PARAMS: r=1", "ngspice"),
        (".step param r 1 2 1", "ngspice"),
        ("R1 a b 1k ; comment", "ngspice"),
        (".tran 1u 10m uic", "ngspice"),
        (".meas tran t1 find v(a) at=1m", "ngspice"),
        (".options reltol=1e-4", "ngspice"),
        ("* a comment with .backanno and Rser=1", "ngspice"),
    ],
)
def test_words(text: str, dialect: str) -> None:
    assert _dialect(text) == dialect


@for_each("deck", sorted(GOOD.rglob("*.cir")))
def test_no_good_circuit_for_ngspice_is_taken_for_another(deck: Path) -> None:
    """What ngspice reads by itself is given to it as it stands."""
    data = deck.read_bytes()
    netlist = Netlist.parse(plain_text(data))
    assert plain_text(data) == data
    assert evidence_in(netlist) == ()
    assert translate(netlist, "ngspice").netlist is netlist


@pytest.mark.parametrize(
    "text", ["R1 a b 1k", "* nothing", ".param x=1\n.op", "V1 a 0 SIN(0 1 1k)\n.tran 1u 1m"]
)
@pytest.mark.parametrize("dialect", ["ltspice", "pspice", "hspice"])
def test_what_needs_no_rewriting_is_not_touched(text: str, dialect) -> None:
    netlist = Netlist.parse(f"t\r\n{text}\r\n.end\r\n".encode())
    assert translate(netlist, dialect).netlist is netlist


def test_lines_stay_in_place() -> None:
    before = "t\nV1 a 0 1 Rser=2\nL1 a b 1m\n+ Rser=3\n.tran\n+ 0 1m\nR1 b 0 4k7\n.end\n"
    after = translate(Netlist.parse(before.encode()), "ltspice").netlist.to_bytes().decode().splitlines()
    assert after[6].split()[-1] == "4.7k"
    assert after[4].startswith(".tran")
    assert after[5].startswith("*")
    assert after[7] == ".end"
    assert sorted(line.split()[-1] for line in after[8:]) == ["2", "3"]


@pytest.mark.parametrize(
    ("dialect", "card", "read"),
    [
        ("pspice", "# a remark", "* # a remark"),
        ("ltspice", ".four 1k 10 -1 V(out)", ".four 1k V(out)"),
        ("ltspice", ".ic I(L1) -1", "* .ic I(L1) -1"),
        (
            "ltspice",
            ".meas t param Max/2\nM1 max g 0 0 n l={max} w=min\n.step param min 1 2 1\n.param MAX=1",
            ".meas tran t param Max/2\nM1 max g 0 0 n l={max_} w=min_\n.step param min_ 1 2 1\n.param MAX_=1",
        ),
    ],
)
def test_a_card_of_another_program(dialect: Dialect, card: str, read: str) -> None:
    done = translate(Netlist.parse(card.encode(), has_title=False), dialect)
    assert done.netlist.to_bytes().decode() == read


def test_modes() -> None:
    assert compatibility_mode("ngspice", frozenset({"ngspice"})) is None
    assert compatibility_mode("ngspice", frozenset({"pspice"})) == "ps"
    assert compatibility_mode("ngspice", frozenset({"pspice", "ltspice"})) == "ltps"
    assert compatibility_mode("ltspice", frozenset()) == "ltpsa"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_read_with_and_without_its_mark(encoding: str) -> None:
    text = "* title\nR1 a b 10\N{MICRO SIGN}\n.op\n"
    assert plain_text(text.encode(encoding)).decode() == text


def test_variables_of_include_paths() -> None:
    text = b'.lib "$PDK_ROOT/a.lib" tt\n.include ${PDK}/b\n.inc ~/c\n.param x=$PDK_ROOT\n.lib $OTHER/d tt\n'
    found = with_variables(text, {"PDK_ROOT": "/p", "PDK": "/q", "HOME": "/h"}).decode()
    assert found == '.lib "/p/a.lib" tt\n.include /q/b\n.inc /h/c\n.param x=$PDK_ROOT\n.lib $OTHER/d tt\n'


@pytest.mark.parametrize(
    ("text", "above", "below"),
    [
        ("1/(1+s/1k)", (1e3,), (1, 1e3)),
        ("10*s/(s^2+2*s+100)", (10, 0), (1, 2, 100)),
        ("{1/((1+s)*(1+2*s))}", (0.5,), (1, 1.5, 0.5)),
        ("(s+1)^-1", (1,), (1, 1)),
    ],
)
def test_transfer_functions(text: str, above, below) -> None:
    assert transfer_of(text)[0] == pytest.approx(above)
    assert transfer_of(text)[1] == pytest.approx(below)


@pytest.mark.parametrize("text", ["exp(-s)", "sqrt(s)", "s", "1/(1+s*tau)", "1/0", "(1+s", "s^0.5/(1+s)"])
def test_what_is_no_transfer_function_for_ngspice(text: str) -> None:
    with pytest.raises(NotRational):
        transfer_of(text)


def test_a_weak_word_counts_once_however_often_it_stands_there() -> None:
    assert _dialect("V1 a 0 SINE(0 1 1k)\nV2 b 0 sine(0 1 1k)\nV3 c 0 sine(0 2 1k)") == "ngspice"


@pytest.mark.parametrize(
    ("data", "program"),
    [
        (b"Version 4\nSHEET 1 880 680\nWIRE 0 0 1 1\n", "LTspice"),
        ("Version 4\r\nSHEET 1 880 680\r\n".encode("utf-16"), "LTspice"),
        (b"(kicad_sch (version 20230121) (generator eeschema)\n", "KiCad"),
        (b"\xff\xd8\xff\xdb\xabschematic\n \xabcomponent (0,0) 0 0\n", "QSPICE"),
        (
            b"Warning: option lvlcod is obsolete.\n\nNo. of Data Rows : 31\n\nCircuit: amp\n",
            "ngspice output",
        ),
        (b"v {xschem version=3.0.0 file_version=1.2}\n", "xschem"),
    ],
)
def test_a_drawing_says_the_way_to_its_netlist(data: bytes, program: str) -> None:
    with pytest.raises(UserInputError, match=program):
        refuse_schematic(data, Path("x.asc"))
    refuse_schematic(b"Version 4 of my filter\nR1 a 0 1\n", Path("x.cir"))


@pytest.mark.parametrize(
    ("data", "program"),
    [
        (b"\r\n**** 11/24/13 01:12:08 *********** Evaluation PSpice (Nov 1999) ****\r\n", "PSpice"),
        (b" ****** HSPICE -- G-2012.06 32-BIT (May 27 2012) ******\n******\n", "HSPICE"),
        (b'# Qucs 0.0.16  /home/x/rc.sch\n\nVac:V1 in gnd U="1 V"\n', "Qucs"),
    ],
)
def test_listings_of_other_programs_are_told(data: bytes, program: str) -> None:
    with pytest.raises(UserInputError) as told:
        refuse_schematic(data, Path("x.cir"))
    assert told.value.message.params["program"] == program
    assert told.value.line == 1


def test_a_netlist_of_qspice_is_read_as_ltspices_and_its_own_devices_are_named() -> None:
    text = b"* C:\\x.qsch\nV1 a 0 1\n\xc3\x86U1 a 0 b \xa5 \xa5 RRopAmp\n\xd8X1 a b dll\n.tran 1m\n.end\n"
    netlist = Netlist.parse(text)
    (first, *_) = evidence_in(netlist)
    assert (first.dialect, first.word, first.line) == ("ltspice", QSPICE_TITLE, 1)
    own = [s for s in netlist.statements if s.kind == "unknown" and is_device_of_qspice(s, netlist)]
    assert [statement.line for statement in own] == [3, 4]
    other = Netlist.parse("* x\n\u00c9cole de Paris\n.op\n".encode())
    assert not any(is_device_of_qspice(statement, other) for statement in other.statements)
