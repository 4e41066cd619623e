"""Edits touch the bytes they must, and nothing else moves."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.circuit.dependencies import resolve_dependencies
from domain.circuit.netlist import Netlist
from shared.errors import UserInputError
from tests.fakes.memory_sources import FOLDER, MemorySources
from tests.ground.cases import for_each

DECK = """amplifier
V1 in 0 DC 5 AC 1   $ supply
V2 x 0 SIN(0 1 1k)
V3 y 0
R1  in\tout  10k ; load
C1 out 0
* here
+ 100nF
M1 d g 0 0 nm w=1u  l={lx}
X1 a b amp params: gain=10
X2 a b twice
X3 c d twice
B1 q 0 V=v(out)
.param c=1n lx = {c * 2}
.param c=2n
.subckt amp i o gain=2 rout=50
R2 i o {rout}
.ends
.subckt twice i o
R3 i o 1k
.ends
.model nm nmos
.ac dec 10 1
+ 1meg
.op
.end
"""


def deck() -> Netlist:
    return Netlist.parse(DECK.encode(), path=FOLDER / "d.cir")


@for_each(
    ("name", "value", "before", "after"),
    [
        ("R1", "22k", "out  10k ;", "out  22k ;"),
        ("r1", "{2*c}", "out  10k ;", "out  {2*c} ;"),
        ("V1", "6", "DC 5 AC", "DC 6 AC"),
        ("V2", "1", "x 0 SIN", "x 0 DC 1 SIN"),
        ("V2.amplitude", "0.5", "SIN(0 1 1k)", "SIN(0 0.5 1k)"),
        ("v2.frequency", "2k", "SIN(0 1 1k)", "SIN(0 1 2k)"),
        ("V3", "1", "V3 y 0\n", "V3 y 0 1\n"),
        ("V1.ac", "0", "AC 1  ", "AC 0  "),
        ("V3.ac", "1", "V3 y 0\n", "V3 y 0 AC 1\n"),
        ("C1", "1u", "+ 100nF", "+ 1u"),
        ("m1.w", "5u", "w=1u  l", "w=5u  l"),
        ("M1.L", "2u", "l={lx}", "l=2u"),
        ("m1.ad", "1p", "l={lx}\n", "l={lx} ad=1p\n"),
        ("x1.gain", "3", "gain=10", "gain=3"),
        ("x1.rout", "75", "gain=10\n", "gain=10 rout=75\n"),
        ("X1.R2", "99", "o {rout}", "o 99"),
        ("lx", "1u", "lx = {c * 2}", "lx = 1u"),
        ("lx", "'c+1'", "{c * 2}", "'c+1'"),
    ],
)
def test_sets_one_value(name: str, value: str, before: str, after: str) -> None:
    assert DECK.count(before) == 1
    assert deck().with_value(name, value).to_bytes().decode() == DECK.replace(before, after)


def test_the_last_parameter_of_a_name_counts() -> None:
    netlist = Netlist.parse(b"t\n.param x=1\n.param x=2\n")
    assert netlist.with_value("x", "5").to_bytes() == b"t\n.param x=1\n.param x=5\n"


def test_an_element_that_takes_its_value_from_a_parameter_of_its_name() -> None:
    netlist = Netlist.parse(b"t\n.param R1=1k\nR1 a b {R1}\n")
    assert netlist.with_value("R1", "2k").to_bytes() == b"t\n.param R1=2k\nR1 a b {R1}\n"


def test_a_broken_expression_is_replaced_whole_and_no_line_moves() -> None:
    netlist = Netlist.parse(b"t\nR1 a b {x +\n+ y} tc1=1\nR2 a b 1\n")
    assert netlist.with_value("R1", "1k").to_bytes() == b"t\nR1 a b 1k\n+ tc1=1\nR2 a b 1\n"


@pytest.mark.parametrize("encoding", ["utf-8", "gbk", "utf-8-sig"])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_keeps_encoding_and_line_ends(encoding: str, ending: str) -> None:
    text = ending.join(["放大器", "* 电阻", "R1 a 0 1k $ 负载", ".op", ""])
    edited = Netlist.parse(text.encode(encoding)).with_value("R1", "2k").with_analyses(["tran 1u 1m"])
    expected = text.replace("1k", "2k").replace(".op", "*.op") + ".tran 1u 1m" + ending
    assert edited.to_bytes() == expected.encode(encoding)


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("R9", "R1"),
        ("m1.ww", "M1.w"),
        ("x1.gian", "X1.gain"),
        ("nope.w", None),
        ("lz", "lx"),
        ("x1.nothing", None),
        ("", None),
    ],
)
def test_unknown_names_list_near_ones(name: str, near: str | None) -> None:
    with pytest.raises(UserInputError) as caught:
        deck().with_value(name, "1")
    assert name in str(caught.value.message)
    assert near is None or near in str(caught.value.advice)


def test_names_without_one_value_are_refused() -> None:
    with pytest.raises(UserInputError, match="M1 has no single value") as caught:
        deck().with_value("M1", "1")
    assert "M1.w" in str(caught.value.advice)
    with pytest.raises(UserInputError, match="used more than once"):
        deck().with_value("x2.r3", "1")


@for_each(
    "value",
    [
        "",
        "abc",
        "2K2",
        "1k\n.control",
        "{1}\n.control",
        "1 2",
        "{",
        "{}",
        "1k; c",
        "{1} 2 {3}",
        "'1' x '2'",
        "{1;2}",
    ],
)
def test_values_that_are_none_are_refused(value: str) -> None:
    with pytest.raises(UserInputError):
        deck().with_value("R1", value)


def test_analyses_are_replaced_without_moving_a_line() -> None:
    edited = deck().with_analyses([".tran 1u 1m uic", "op"])
    lines, old = edited.to_bytes().decode().splitlines(), DECK.splitlines()
    assert [(a.kind, a.text) for a in edited.analyses] == [("tran", "tran 1u 1m uic"), ("op", "op")]
    assert lines[: len(old)] == [
        {".ac dec 10 1": "*.ac dec 10 1", "+ 1meg": "*+ 1meg", ".op": "*.op"}.get(x, x) for x in old
    ]
    assert lines[len(old) :] == [".tran 1u 1m uic", ".op"]


def test_analyses_of_a_deck_without_final_newline() -> None:
    edited = Netlist.parse(b"t\nR1 a 0 1\n.op").with_analyses(["op"])
    assert edited.to_bytes() == b"t\nR1 a 0 1\n*.op\n.op\n"
    assert Netlist.parse(b"t\rR1 a 0 1\r.op").with_analyses(["op"]).to_bytes() == b"t\rR1 a 0 1\r*.op\r.op\r"


@for_each(
    "card",
    [
        "op",
        "dc V1 0 5 0.1",
        "dc V1 0 5 0.1 V2 0 1 1",
        "ac dec 20 1 10meg",
        "AC LIN 100 1k {fmax}",
        "tran 1u 10m",
        "tran 1u 10m 0 1u uic",
        "noise v(out) V1 dec 10 1 1meg",
        "noise v(a,b) V1 lin 10 1 1meg 1",
        "tf v(out) V1",
        "tf i(Vx) V1",
        "sens v(out)",
        "sens v(a) ac dec 3 1 1k",
        "pz in 0 out 0 vol pz",
        "disto dec 10 1k 1meg",
        "sp lin 10 1meg 1g",
        "ac dec 10,1,1k",
        "tran {2 * t} {te}",
        "dc V1 5 0 -1",
        "ac lin 1 1k 1k",
    ],
)
def test_takes_every_analysis(card: str) -> None:
    assert deck().with_analyses([card]).analyses[0].text == card


@for_each(
    "card",
    [
        "",
        ".",
        "foo",
        "ac",
        "ac dec 20 1",
        "ac log 20 1 1k",
        "ac dec x 1 1k",
        "tran 1u",
        "tran",
        "dc V1 0 5",
        "dc V1 0 5 0",
        "op\n.control\nshell ls",
        "tran 1u 1m\n.include /etc/passwd",
        "noise out V1 dec 1 1 1",
        "shell ls",
        ".control",
        "four 1k v(a)",
        "tran a b",
        "tran 0 1m",
        "tran 1u 1m 2m",
        "dc V1 0 5 -1",
        "ac dec 10 1k 1",
        "ac dec 10 0 1k",
        "ac dec 10 1 1",
        "ac dec 10 1 10M",
        "noise v(out) V1 dec 10 1k 1",
    ],
)
def test_refuses_nonsense(card: str) -> None:
    with pytest.raises(UserInputError):
        deck().with_analyses([card])


def test_include_paths_become_absolute_in_place() -> None:
    text = "t\n.include  sub/a.inc $ models\n.LIB 'm.lib' TT\n.include gone.inc\n"
    netlist = Netlist.parse(text.encode(), path=FOLDER / "d.cir")
    sources = MemorySources({"sub/a.inc": "R1 a 0 1\n", "m.lib": ".lib tt\nR2 a 0 1\n.endl\n"})
    edited = resolve_dependencies(netlist, sources).with_absolute_paths(netlist)
    assert edited.to_bytes().decode() == (
        f't\n.include  "{FOLDER}/sub/a.inc" $ models\n.LIB "{FOLDER}/m.lib" TT\n.include gone.inc\n'
    )


VALUES = st.sampled_from(["1", "4.7k", "10Meg", "{a}", "1e-9"])


@given(
    st.lists(
        st.sampled_from([line for line in DECK.splitlines()[1:22] if line[0] in "RVC*+"]),
        min_size=1,
        max_size=8,
    ),
    VALUES,
)
def test_only_the_target_changes(lines: list[str], value: str) -> None:
    data = "\n".join(["t", *lines, "Rt n1 n2 47 $ target"]).encode()
    edited = Netlist.parse(data).with_value("rt", value).to_bytes()
    assert edited == data.replace(b" 47 ", f" {value} ".encode())


@given(st.binary(max_size=200))
def test_with_analyses_never_moves_a_line(data: bytes) -> None:
    netlist = Netlist.parse(data)
    if netlist.encoding == "utf-16":
        return
    edited = netlist.with_analyses(["op"])
    before, after = netlist.source.lines, edited.source.lines
    kept = [netlist.source.line_text(i) for i in range(1, len(before) + 1)]
    shown = [edited.source.line_text(i) for i in range(1, len(before) + 1)]
    assert len(after) == (len(before) + 1 if before else 2)
    assert all(a == b or a.replace("*", "", 1) == b for a, b in zip(shown, kept, strict=True))


def test_path_and_title_role_survive_an_edit() -> None:
    netlist = Netlist.parse(b"R1 a 0 1\n", path=Path("x.inc"), has_title=False).with_value("R1", "2")
    assert (netlist.path, netlist.to_bytes()) == (Path("x.inc"), b"R1 a 0 2\n")


def test_a_card_never_becomes_the_title() -> None:
    edited = Netlist.parse(b"").with_analyses(["op"])
    assert (edited.to_bytes(), [a.kind for a in edited.analyses]) == (b"\n.op\n", ["op"])


def test_instance_parameters_that_stand_in_param_cards_or_other_files() -> None:
    text = "t\nX1 a b s\nX2 a b elsewhere\n.subckt s p q\n.param k=1\nR1 p q {k}\n.ends\n"
    edited = (
        Netlist.parse(text.encode()).with_value("x1.k", "2").with_value("X2.gain", "3").to_bytes().decode()
    )
    assert edited == text.replace("b s\n", "b s k=2\n").replace("elsewhere\n", "elsewhere gain=3\n")


@pytest.mark.parametrize("sign", ["µ", "μ"])
def test_micro_signs_are_written_as_u(sign: str) -> None:
    netlist = Netlist.parse("t\nC1 a 0 1n ; Größe\n".encode("latin-1"))
    assert netlist.with_value("c1", f"4.7{sign}F").to_bytes() == "t\nC1 a 0 4.7uF ; Größe\n".encode("latin-1")
    assert netlist.with_analyses([f"tran 1{sign} 1m"]).to_bytes().endswith(b"\n.tran 1u 1m\n")
