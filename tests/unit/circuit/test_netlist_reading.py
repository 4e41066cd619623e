"""Reading a netlist: nothing is lost, and the cards are those ngspice sees."""

from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from domain.circuit.netlist import Netlist
from tests.ground.cases import for_each

CORPUS = Path(__file__).resolve().parents[2] / "corpus" / "netlists"
FILES = sorted(path for path in CORPUS.rglob("*") if path.suffix in {".cir", ".inc", ".lib", ".mod"})


def parsed(text: str | bytes, **kwargs: bool) -> Netlist:
    return Netlist.parse(text if isinstance(text, bytes) else text.encode(), **kwargs)


def look_at_everything(netlist: Netlist) -> None:
    for statement in netlist.statements:
        assert statement.text is not None
        for field in statement.fields:
            assert field.line >= 1
            assert field.column >= 1
            assert b"".join(netlist.to_bytes()[a:b] for a, b in field.spans)
    _ = netlist.title, netlist.elements, netlist.analyses, netlist.measures, netlist.subcircuits
    _ = netlist.models, netlist.parameters, netlist.includes, netlist.has_control_block, netlist.end_line


@given(st.binary(max_size=400))
@example(b"")
@example(b"\n")
@example(b"\r")
@example(b"\xef\xbb\xbf")
@example(b"\xff\xfet\x00")
@example(b"t\nR1\n+\n+ \\\\\n{'\"(\n.subckt\n.ends\n.lib\n.param =\n.meas\n.model")
@example(b"t\n.param x={")
@example(b"t\nR1 a b r=")
@example(b"t\n.\nE1 a b value=\nE2 poly(\nB1\nK1\nX1\nA1 [%v")
def test_any_bytes_come_back(data: bytes) -> None:
    for has_title in (True, False):
        netlist = Netlist.parse(data, has_title=has_title)
        look_at_everything(netlist)
        assert netlist.to_bytes() == data


WORDS = st.sampled_from(
    [
        "R1",
        "x2",
        "a",
        "0",
        "1k",
        "{a*2}",
        "'b'",
        '"c"',
        "=",
        "(",
        ")",
        ",",
        "+",
        "*",
        "$ c",
        ";c",
        ".param",
        ".subckt",
        ".ends",
        ".model",
        ".include",
        ".lib",
        "V=",
        "poly(2)",
        "节点",
        "\\\\",
        "//",
        ".control",
        ".endc",
        ".if",
        ".endif",
        "*#",
        ".meas",
    ]
)
LINES = st.lists(WORDS, max_size=6).map(" ".join)


@given(
    st.lists(LINES, max_size=12),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.sampled_from(["utf-8", "gbk", "utf-8-sig"]),
)
def test_decks_come_back(lines: list[str], ending: str, encoding: str) -> None:
    data = ending.join(lines).encode(encoding)
    netlist = Netlist.parse(data)
    look_at_everything(netlist)
    assert netlist.to_bytes() == data


@for_each("path", FILES)
def test_the_corpus_comes_back(path: Path) -> None:
    netlist = Netlist.parse(path.read_bytes(), path=path)
    look_at_everything(netlist)
    assert netlist.to_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (b"t\n", "utf-8"),
        ("电\n".encode(), "utf-8"),
        ("电\n".encode("gbk"), "gbk"),
        (b"\xef\xbb\xbft\n", "utf-8-sig"),
        ("t\n".encode("utf-16"), "utf-16"),
        ("C1 a 0 1µ\n".encode("latin-1"), "latin-1"),
    ],
)
def test_recognises_the_encoding(data: bytes, encoding: str) -> None:
    assert parsed(data).encoding == encoding


def test_texts_are_decoded_and_columns_count_characters() -> None:
    netlist = parsed("标题\nR1 节点 b 1k\n".encode("gbk"))
    assert netlist.title == "标题"
    (element,) = netlist.elements
    assert [node.text for node in element.nodes] == ["节点", "b"]
    assert element.nodes[1].column == 7
    assert element.value is not None
    assert (element.value.text, element.value.column) == ("1k", 9)


def test_the_first_line_is_always_the_title() -> None:
    assert parsed("R1 a b 1k\nR2 a b 2k\n").elements[0].name == "R2"
    assert parsed("R1 a b 1k\n", has_title=False).elements[0].name == "R1"
    assert parsed("first\n.title second one\n").title == "second one"
    assert parsed("").title == ""


def test_continuation_runs_over_comments_and_blank_lines() -> None:
    deck = "t\nV1 in 0\n* comment\n\n  $ another\n+ DC 5 ; five\n + AC 1\nR1 a b 1\n"
    first, second = parsed(deck).elements
    assert (first.line, first.statement.last_line) == (2, 7)
    assert first.value is not None
    assert (first.value.text, first.value.line, first.value.column) == ("5", 6, 6)
    assert second.line == 8


def test_shell_like_continuation() -> None:
    (element,) = parsed("t\nR1 a b \\\\\n1k\n").elements
    assert element.value is not None
    assert (element.value.text, element.value.line, element.value.column) == ("1k", 3, 1)


@for_each(
    "line",
    [
        "R1 a b 1k $ c",
        "R1 a b 1k\t$c",
        "R1 a b 1k,$ c",
        "R1 a b 1k;c",
        "R1 a b 1k // c",
        "  R1 a b 1k",
        "\tR1 (a b) 1k",
        "R1 a,b 1k",
        "R1 a b r = 1k",
        "r1 a b 1k",
    ],
)
def test_ways_to_write_one_resistor(line: str) -> None:
    (element,) = parsed(f"t\n{line}\n").elements
    assert [node.text for node in element.nodes] == ["a", "b"]
    assert element.value is not None
    assert element.value.text == "1k"
    assert element.missing is None


def test_nets_that_pspice_named_are_no_comments() -> None:
    line = "E1 $N_0001 b VALUE {V($N_0002, $D_HI)} $N is no net"
    (element,) = parsed(f"t\n{line}\n").elements
    assert [node.text for node in element.nodes][:2] == ["$N_0001", "b"]
    assert element.statement.text.endswith("$D_HI)}")


@for_each("line", ["* R1 a b 1", "$ R1", ";R1", "//R1", "  * R1", "?R1", "(R1)", ""])
def test_comment_lines_hold_no_card(line: str) -> None:
    assert parsed(f"t\n{line}\n").statements[1:] == ()


def test_a_dollar_inside_a_name_is_no_comment() -> None:
    assert [n.text for n in parsed("t\nR1 a$x b 1\n").elements[0].nodes] == ["a$x", "b"]


@pytest.mark.parametrize(
    "deck",
    [
        "t\n.control\nrun\n.endc\n",
        "t\n  .CONTROL\nop\n",
        "t\n.controlxyz\n",
        "t\n*# shell ls\n",
        "t\n  *#echo\n",
        "t\n.end\n.control\n",
    ],
)
def test_sees_commands(deck: str) -> None:
    assert parsed(deck).has_control_block


@pytest.mark.parametrize(
    "deck",
    [
        "*# title\nR1 a b 1\n",
        ".control\nR1 a b 1\n",
        "t\n* # no\n** #no\n* .control\n",
        "t\nR1 a b 1 $ .control\n",
    ],
)
def test_sees_no_command_where_none_runs(deck: str) -> None:
    assert not parsed(deck).has_control_block


def test_cards_inside_a_control_block_are_commands() -> None:
    netlist = parsed("t\n.control\ntran 1u 1m\nR1 a b 1\n.endc\n.op\n")
    assert [a.kind for a in netlist.analyses] == ["op"]
    assert netlist.elements == ()


def test_analyses_and_measures() -> None:
    netlist = parsed(
        "t\n.AC DEC 10 1\n+ 1k\n.meas ac BW when vdb(out)=-3\n"
        ".measure tran t1 max v(a)\n.four 1k v(a)\n.meas\n"
    )
    assert [(a.kind, a.line, a.text.split()) for a in netlist.analyses] == [
        ("ac", 2, ["AC", "DEC", "10", "1", "1k"])
    ]
    assert [(m.name, m.analysis, m.line) for m in netlist.measures] == [("bw", "ac", 4), ("t1", "tran", 5)]
    assert netlist.measures[0].text == "meas ac BW when vdb(out)=-3"


def test_subcircuits_nest_and_scopes_follow() -> None:
    deck = (
        "t\n.subckt outer a b params: g=2 r='g*2'\n.macro inner p\nR1 p 0 1\n.eom\n"
        "X1 a inner\n.ends outer\nR2 a 0 1\n"
    )
    netlist = parsed(deck)
    outer, inner = netlist.subcircuits
    assert [port.text for port in outer.ports] == ["a", "b"]
    assert {name: value.text for name, value in outer.params.items()} == {"g": "2", "r": "'g*2'"}
    assert (outer.line, outer.end_line, inner.line, inner.end_line) == (2, 7, 3, 5)
    assert inner.path == ("outer", "inner")
    assert [(e.name, e.scope) for e in netlist.elements] == [
        ("R1", ("outer", "inner")),
        ("X1", ("outer",)),
        ("R2", ()),
    ]


def test_parameters_models_and_includes() -> None:
    netlist = parsed(
        "t\n.param a=1 b = {a * 2}\n+ c='a + b' d=(1+2)*3\n.model QN npn (bf=100)\n"
        ".inc 'x y.inc'\n.LIB \"m.lib\" TT\n.lib lone\n.endl\n"
    )
    assert [(p.name, p.value.text, p.line) for p in netlist.parameters] == [
        ("a", "1", 2),
        ("b", "{a * 2}", 2),
        ("c", "'a + b'", 3),
        ("d", "(1+2)*3", 3),
    ]
    assert [(m.name, m.type, m.line) for m in netlist.models] == [("QN", "npn", 4)]
    assert [(i.kind, i.path, i.section, i.line, i.column) for i in netlist.includes] == [
        ("include", "x y.inc", None, 5, 6),
        ("lib", "m.lib", "TT", 6, 6),
    ]


def test_text_behind_end_is_kept_and_read() -> None:
    netlist = parsed("t\nR1 a 0 1\n.end\nR2 a 0 1\n")
    assert netlist.end_line == 3
    assert [e.name for e in netlist.elements] == ["R1", "R2"]


def test_lines_of_a_file_without_line_feeds_end_in_cr() -> None:
    assert [e.line for e in parsed("t\rR1 a 0 1\rR2 a 0 1\r").elements] == [2, 3]


@pytest.mark.torture
@settings(max_examples=5_000, deadline=None)
@given(st.lists(LINES, max_size=40), st.binary(max_size=60), st.sampled_from(["\n", "\r\n", "\r", "\n\r"]))
def test_long_campaign_of_round_trips(lines: list[str], noise: bytes, ending: str) -> None:
    data = ending.join(lines).encode("gbk") + noise
    netlist = Netlist.parse(data)
    look_at_everything(netlist)
    assert netlist.to_bytes() == data
