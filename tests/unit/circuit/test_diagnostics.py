"""Diagnostics: every planted fault is found on its line, and right netlists are left in peace."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.circuit.dependencies import resolve_dependencies
from domain.circuit.diagnostics import CODES, Diagnostic, diagnose
from domain.circuit.netlist import LIBRARY_SUFFIXES, Netlist
from tests.fakes.memory_sources import FOLDER, FolderSources, MemorySources
from tests.ground.cases import for_each

CORPUS = Path(__file__).resolve().parents[2] / "corpus" / "netlists"
GOOD = sorted(p for p in (CORPUS / "good").rglob("*") if p.suffix in LIBRARY_SUFFIXES | {".cir"})
MANIFEST = json.loads((CORPUS / "bad" / "manifest.json").read_text(encoding="utf-8"))


def check(text: str | bytes, files: dict[str, str] | None = None, name: str = "d.cir") -> list[Diagnostic]:
    path = FOLDER / name
    data = text if isinstance(text, bytes) else text.encode()
    netlist = Netlist.parse(data, path=path, has_title=path.suffix not in LIBRARY_SUFFIXES)
    return list(diagnose(netlist, resolve_dependencies(netlist, MemorySources(files))))


def loud(found: list[Diagnostic]) -> list[tuple[str, str, int]]:
    return [(d.severity, d.code, d.line) for d in found if d.severity != "info"]


def check_file(path: Path) -> list[Diagnostic]:
    netlist = Netlist.parse(path.read_bytes(), path=path, has_title=path.suffix not in LIBRARY_SUFFIXES)
    return list(diagnose(netlist, resolve_dependencies(netlist, FolderSources())))


@for_each("path", GOOD)
def test_right_netlists_are_left_in_peace(path: Path) -> None:
    assert loud(check_file(path)) == []


@for_each("entry", MANIFEST)
def test_faults_are_found_on_their_line(entry: dict) -> None:  # type: ignore[type-arg]
    folder = CORPUS / "bad"
    expected = [
        (e["severity"], e["code"], e["line"], folder / e.get("file", entry["file"]))
        for e in entry["expected"]
    ]
    found = check_file(folder / entry["file"])
    assert [(d.severity, d.code, d.line, d.file) for d in found if d.severity != "info"] == expected


def test_the_corpus_shows_every_code() -> None:
    shown = {e["code"] for entry in MANIFEST for e in entry["expected"]}
    hints = {"inductor-loop", "non-ascii-name", "unused-subcircuit", "include-refused", "library-model",
             "include-above", "include-otherwise"}  # fmt: skip
    assert shown | hints == CODES.keys()


HEAD = "t\nV1 a 0 DC 1\nR1 a b 1k\nR2 b 0 1k\n.op\n"


@pytest.mark.parametrize(
    ("cards", "expected"),
    [
        ("L1 b 0 1u\nL2 b 0 1u\n", [("info", "inductor-loop", 7)]),
        (
            ".subckt s p\nD1 p 0 nomodel\nR1 p 0 {nope}\n.ends\n",
            [
                ("info", "unused-subcircuit", 6),
                ("info", "undefined-model", 7),
                ("info", "undefined-parameter", 8),
            ],
        ),
        ("R3 b 节 1\nR4 节 0 1\n", [("info", "non-ascii-name", 6), ("info", "non-ascii-name", 7)]),
        ("D1 b 0 dm\n.model dm D\n.model dm D\n", [("info", "duplicate-model", 8)]),
        ("X1 b s\n.subckt s p\nR1 p 0 1k\n.ends other\n", [("info", "ends-name", 9)]),
    ],
)
def test_hints(cards: str, expected: list[tuple[str, str, int]]) -> None:
    assert [(d.severity, d.code, d.line) for d in check(HEAD + cards)] == expected


@for_each(
    "cards",
    [
        "R3 b 0 10m\n",
        "R3 b 0 2Meg\n",
        "R3 b 0 2MEG\n",
        "L1 b c 10M\nR3 c 0 1\n",
        "C1 b 0 10f\n",
        "C1 b 0 10pF\n",
        "C1 b 0 0.1uF\n",
        "H1 c 0 V1 2\nR3 c 0 1\n",
        "G1 c 0 c 0 1m\nC1 b c 1n\n",
        "B1 c 0 I=v(c)*1m\nC1 b c 1n\n",
        "V2 c 0 1\n",
        "E1 c 0 b 0 2\n",
        "X1 b nc s\n.subckt s p n\nR1 p 0 1k\n.ends\n",
        "R3 b z 1k\n.print op v(z)\n",
        "R3 b z 1k\nB1 y 0 V=v(z)\nR4 y 0 1\n",
        "C1 b z 1n\n.ic v(z)=0\n",
        "C1 b z 1n\n.options rshunt=1e9\n",
        ".if (1==1)\nR3 b 0 1\n.else\nR3 b 0 2\n.endif\n",
        ".param q=1\n.if (q>0)\nV3 a 0 1\n.else\nV4 a 0 1\n.endif\n",
        "A1 b o g1\nR3 o 0 1k\n.model g1 gain(gain=2)\n",
        ".model nch.1 nmos\n.model nch.2 nmos\nM1 a b 0 0 nch w=1u l=1u\n",
        "B1 o 0 V=5*pi*temper + time\nR3 o 0 1k\n",
        '.param s="text"\n',
        "X1 b 0 s m=3\n.subckt s p q\nR1 p q 1k\n.ends\n",
        "V3 c 0 PWL(0 0 1u 1) r=0 td=1u\nR3 c 0 1\n",
        "V3 c 0 DC 0 AC 1 0 DISTOF1 1 0\nR3 c 0 1\n",
        "I3 b 0 {2*3}\n",
        "T1 b 0 c 0 z0=50 td=1n\nR3 c 0 1k\n",
        "Q1 a b 0 0 qn\n.model qn npn\n",
        ".global vdd\nV5 vdd 0 1\nR5 vdd 0 1\n",
        ".subckt s p PARAMS: r=1k\n.param q={r*2}\nR1 p 0 {q}\n.ends\nX1 b s r=2k\n",
        ".func f(x) {x*2}\nR3 b 0 {f(2)}\n",
        ".param f(x)={x*2}\nR3 b 0 {f(2)}\n",
        ".param r=agauss(1k,0.1,3)\nR3 b 0 {r}\n",
        "R3 b 0 r = 'v(b) > 0 ? 1k : 2k'\n",
        ".subckt cap p q\nC1 p q 1n\n.ends\nX1 b 0 cap\n",
        ".end\n",
        ".END\n\n* bye\n",
        "R.x-1 b 0 1k\n",
        "C1 b 0 c='1n*v(b)'\n",
        # femto is meant among picofarads
        "C3 b 0 70.00F\nC4 b 0 3F\nC5 b 0 2p\n",
        # the fifth node of a transistor is its temperature
        "Q1 a b 0 0 t qn\n.model qn npn(level=4)\n",
        # inside it the nodes of an instance get controlled currents and control others
        ".subckt m 1 3\nV1 5 0 0\nF1 0 3 V1 0.7\nE1 1 5 3 0 0.7\n.ends\n"
        "X1 d y m\nR8 d 0 1k\nO1 y 0 z 0 lm\nX2 c z m\nR9 c 0 1k\n.model lm ltra(r=1 l=1n c=1p len=1)\n",
    ],
)
def test_no_false_alarm(cards: str) -> None:
    assert loud(check(HEAD + cards)) == []


@for_each(
    ("deck", "expected"),
    [
        ("t\nV1 a 0 SIN(0 1 1k)\nL1 a 0 1m\n.tran 1u 1m\n", []),
        ("t\nV1 a 0 SINE(0 1 1k)\nL1 a 0 1m\n.tran 1u 1m\n", []),
        ("t\nV1 a 0 PULSE(-1 1 0 1n 1n 1u 2u)\nL1 a 0 1m\n.tran 1u 1m\n", [("warning", "source-loop", 3)]),
        ("t\nV1 a 0 5\nL1 a 0 1m\n.tran 1u 1m uic\n", []),
        ("t\nV1 a 0 5\nV2 b 0 5\nL1 a b 1m\nR1 a 0 1\n.op\n", []),
        ("t\nL1 a 0 1m\nV1 a 0 5\n.op\n", [("warning", "source-loop", 3)]),
        ("t\nV1 a 0 1\nR1 a 0 1\nH1 a 0 V1 1\n.op\n", []),
        ("t\nV1 a 0 1\nVS s 0 0\nRS s a 1\nH1 a 0 VS 1\n.op\n", [("error", "source-loop", 5)]),
        ("t\nI1 0 a 1u\nC1 a 0 1n\n.tran 1u 1m uic\n", []),
        ("t\nI1 0 a 1u\nC1 a 0 1n\n.tran 1u 1m\n", [("warning", "no-dc-path", 2)]),
        ("t\nV1 a 0 1\nR1 a 0 1\nG1 0 n a 0 1\n.op\n", [("error", "no-dc-path", 4)]),
        ("t\nV1 a 0 1\nR1 a 0 1\nV2 n m 1\n.op\n", [("error", "no-dc-path", 4)]),
        ("t\nB1 x 0 I=V(y)\nC1 x 0 1\nB2 y 0 I=-V(x)\nC2 y 0 1\n.op\n", []),
    ],
)
def test_loops_and_paths_depend_on_the_start(deck: str, expected: list[tuple[str, str, int]]) -> None:
    assert loud(check(deck)) == expected


@for_each(
    ("cards", "lines"),
    [
        (".ac dec 10 1 10M\n", [6]),
        (".ac dec 10 1M 100M\n", [6, 6]),
        (".ac dec 10 1M 1G\n", [6]),
        (".ac dec 10 1M 100k\n", []),
        (".ac dec 10 1m 100k\n", []),
        (".ac dec 10 1m 10m\n", []),
        ("R3 b 0 {10M}\n", [6]),
        (".param rl=1M\n", [6]),
        (".param rise=1M\n", []),
        (".noise v(b) V1 dec 5 1 1M\n", [6]),
        ("R3 b 0\n+ 1\n", []),
        ("R3 b 0\n* x\n+ 1M\n", [8]),
    ],
)
def test_mega_trap(cards: str, lines: list[int]) -> None:
    assert [d.line for d in check(HEAD + cards) if d.code == "mega-trap"] == lines


def test_capitals_only_decks_know_what_m_is() -> None:
    deck = "T\nV1 A 0 DC 1\nR1 A B 10M\nR2 B 0 {}\n.OP\n.END\n"
    assert loud(check(deck.format("1MEG"))) == []
    assert loud(check(deck.format("1K"))) == [("warning", "mega-trap", 3)]


@pytest.mark.parametrize("name", ["x.lib", "x.inc", "x.mod", "x.sub"])
@pytest.mark.parametrize(
    "text",
    [
        ".subckt amp a b\nR1 a b 1k\n.ends\n",
        "* models\n.model d1 D(IS=1e-14)\n",
        ".lib tt\n.param x=1\n.endl tt\n.lib ff\n.param x=2\n.endl\n",
        "R1 in out 1k\n",
        ".subckt s p\nD1 p 0 elsewhere\nX1 p other\n.ends\n",
        ".param a=1\n.func f(x) {x}\n",
        "",
    ],
)
def test_libraries_are_no_decks(name: str, text: str) -> None:
    assert loud(check(text, name=name)) == []


def test_a_library_with_a_fault_is_told() -> None:
    assert loud(check(".subckt s p\nR1 p 0 1k\n", name="x.lib")) == [("error", "unclosed-subckt", 1)]
    assert loud(check("* only definitions\n.model d1 D\n.subckt s p\nR1 p 0 1\n.ends\n")) == []


def test_a_missing_file_does_not_make_everything_undefined() -> None:
    deck = "t\n.include gone.lib\nV1 a 0 1\nD1 a 0 dfast\nX1 a 0 amp\nR1 a 0 {rx}\n.op\n"
    found = check(deck)
    assert loud(found) == [("error", "include-missing", 2)]
    # Of a file's name no result has anything: it may be as its owner likes.
    assert {d.code for d in check(deck.replace("gone", "库/gone"))} == {d.code for d in found}
    assert {d.code for d in found} >= {"undefined-model", "undefined-subcircuit", "undefined-parameter"}


def test_faults_in_included_files_are_told_there() -> None:
    files = {"x.inc": "* part\nR1 a b 1k\n\nD1 b 0 nope\n"}
    found = check("t\nV1 a 0 1\n.include x.inc\n.op\n", files)
    assert [(d.file, d.line, d.column, d.code) for d in found] == [
        (FOLDER / "x.inc", 4, 8, "undefined-model")
    ]


def test_what_is_odd_about_the_values_of_a_library_is_told_once() -> None:
    values = "".join(f"R{number} a 0 1M\n" for number in range(5))
    found = check(
        f"t\nV1 a 0 1\n{values}.include x.inc\n.op\n",
        {"x.inc": "* part\nC1 a 0 1F\n" + values.replace("R", "Ri")},
    )
    traps = [(str(d.file).endswith(".inc"), d.line, d.code) for d in found]
    own = [(False, line, "mega-trap") for line in range(3, 8)]
    assert traps == [*own, (True, 2, "farad-trap"), (True, 3, "mega-trap")]
    assert "4 more lines" in str(found[-1].message)
    unused = ".subckt part 1 2\nR1 1 2 {top}\nR2 1 2 {low}\n.ends\n"  # its maker left them to be set
    (told,) = check("t\nV1 a 0 1\nR1 a 0 1\n.include x.inc\n.op\n", {"x.inc": "* part\n" + unused})
    assert (told.severity, told.line, told.code) == ("info", 3, "undefined-parameter")
    assert "1 more line" in str(told.message)


def test_near_names_are_offered() -> None:
    (found,) = check("t\nV1 a 0 1\nD1 a 0 1N4184\n.model 1N4148 D\n.op\n")
    assert "1N4148" in str(found.message)


@given(st.binary(max_size=300))
def test_never_fails_on_any_bytes(data: bytes) -> None:
    for found in check(b"t\n" + data):
        assert found.code in CODES
        assert found.line >= 1


CARDS = st.sampled_from(
    [
        "R1 a b",
        "R1",
        "+ 1k",
        ".subckt s a",
        ".ends",
        ".ends s",
        "X1 a s",
        "X1",
        "V1 a 0 1",
        "L1 a 0",
        "E1 a 0 value={v(q)}",
        ".param x={y}",
        ".param y={x}",
        ".lib a",
        ".lib a b",
        ".endl",
        ".if (x)",
        ".else",
        ".endif",
        "K1 L1 L2",
        "M1 a b c d m",
        "Q1 a b c",
        ".model m",
        ".model m nmos",
        "B1 a 0 V=",
        "A1 [a m",
        "D1 a 0 1N1",
        ".ac dec",
        ".tran",
        ".end",
        ".control",
        ".endc",
        "*# x",
        "E1 a 0 poly(9) b",
        "S1 a b c",
        "{",
        "'",
        ".func f(",
        ".global",
        ".ic v(a)=1",
        "T1 a b c d",
        "U1 a b c u",
    ]
)


@given(st.lists(CARDS, max_size=14))
def test_never_fails_on_torn_decks(cards: list[str]) -> None:
    for found in check("\n".join(["t", *cards])):
        assert 1 <= found.line <= len(cards) + 1
        assert str(found.message)


@for_each(
    ("cards", "expected"),
    [
        ("X1 b 0 ampp\n.subckt amp p q\nR1 p q 1\n.ends\n", [("error", "undefined-subcircuit", 6)]),
        ("X1 b 0 gone\nR8 b c 1\n", [("error", "undefined-subcircuit", 6), ("warning", "floating-node", 7)]),
        ("R8 b c 1\nX1 b c\n", [("error", "undefined-subcircuit", 7)]),  # the name was forgotten
        ("X1 b 0 s g=gx\n.subckt s p q g=1\nR1 p q {g}\n.ends\n", [("error", "undefined-parameter", 6)]),
        ("R3 b 0 1k rmx\n", [("error", "undefined-model", 6)]),
        ("R3 b 0 rmx l=1u w=1u\n", [("error", "undefined-model", 6)]),
        ("R3 b 0 r=rx\n", [("error", "undefined-parameter", 6)]),
        (".ac dec {n} 1 1k\n", [("error", "undefined-parameter", 6)]),
        (".model dm\nD1 b 0 dm\n", [("error", "model-type", 6)]),
        (".else\n", [("error", "stray-directive", 6)]),
        (".endl\n", [("error", "stray-directive", 6)]),
        ("plot v(b)\n", [("error", "unknown-element", 6)]),
        ("Print b 0 1 0 m\n.model m cpl\n", []),  # a coupled line may be called so
        ("A1 [b] %v c m\nR3 c 0 1\n.model m d_cosim(x=1)\n", [("error", "model-type", 8)]),
        (".param top=3\n.dc V1 0 top 0.1\n", [("error", "bad-analysis", 7)]),
        (".param wx=3\n.dc wx 0 3 0.1\n", [("error", "undefined-source", 7)]),
        (
            "X1 b c s\nR3 c 0 1\nE1 d 0 X1.p 0 2\nR4 d 0 1\n.subckt s p q\nR1 p q 1\n.ends\n",
            [("error", "foreign-form", 8)],
        ),
        ("X1 b c s\nR3 c 0 1\nE1 d 0 X1.m 0 2\nR4 d 0 1\n.subckt s p q\nR1 p m 1\nR2 m q 1\n.ends\n", []),
        ("N1 b 0 s\n.subckt s p q\nR1 p q 1\n.ends\n", [("error", "undefined-model", 6)]),
        ("L1 b 0 flux=1m*tanh(x)\n", [("error", "foreign-form", 6)]),
        ("V2 b c PWL file=points.txt\nR3 c 0 1\n", [("error", "foreign-form", 6)]),
        ("E1 c 0 OPAMP b c\nR3 c 0 1\n", [("error", "foreign-form", 6)]),
        ("U1 and(2) hi lo a b c gate io\n", [("error", "foreign-form", 6)]),
        ("U1 b 0 0 rc l=1m\n.model rc urc\n", []),
        (".tran 1n 1u START=0\n", [("error", "foreign-form", 6)]),
        (
            "R3 b 0 ${load}\nE1 c 0 b 0 =${gain}\nR4 c 0 1\n",
            [("warning", "missing-value", 6), ("error", "foreign-form", 7)],
        ),
        (".model q npn\n.model p ako:q npn\nQ1 b b 0 p\n", [("error", "model-type", 7)]),
        (".model n nmos(level=9 vth0=0.5)\nM1 b b 0 0 n\n", [("warning", "model-level", 6)]),
        (".meas op p=param('a*b')\n", [("error", "foreign-form", 6)]),
        ("G1 c 0 VCR PWL(1) b 0 0 1 1 2\nR3 c 0 1\n", [("error", "foreign-form", 6)]),
        (".tran $STEP $END\n", [("error", "bad-analysis", 6)]),
        (".ac dec 10 1 100M\n", [("error", "mega-trap", 6)]),
        ("R3 b 0 {(1+2}\n", [("error", "unclosed-bracket", 6)]),
        ("R3 b 0 1k)\n", [("warning", "unclosed-bracket", 6)]),
        ("E3 c 0 b 0 {(1+2}\nR3 c 0 1\n", [("error", "unclosed-bracket", 6)]),
        (".model dm D(IS=1f\nD1 b 0 dm\n", []),  # ngspice takes it as it is meant
        (
            ".subckt s p q\nX1 p q t\n.ends\n.subckt t p q\nX1 p q s\n.ends\nX1 b 0 s\n",
            [("error", "recursive-subcircuit", 7), ("error", "recursive-subcircuit", 10)],
        ),
        (
            "X1 a b s g=1 h=2\n.subckt s p q g=1\nR1 p q {g}\n.ends\n",
            [("warning", "unknown-subcircuit-parameter", 6)],
        ),
        ("R3 b 0 0x10\n", [("warning", "number-tail", 6)]),
        ("R3 b 0 1kk\nR4 b 0 2kmeg\n", [("warning", "number-tail", 6), ("warning", "number-tail", 7)]),
        ("R3 b 0 2nn\nR4 b 0 1kohm tnom=300mK\n", []),  # read as it is meant
        (".pre_osdi a.osdi\n", [("error", "unknown-element", 6)]),
        # tried: `on` and `off` are nodes to ngspice like others, but for `off` on the line of a Q
        ("S3 b 0 on off sw1 on\nR3 on off 1\nR4 off 0 1\nD1 on off dm off\n.model sw1 sw\n.model dm d\n", []),
        ("Q1 a off 0 qn\nR3 off b 1\n.model qn npn\n", [("error", "too-few-nodes", 6)]),
    ],
)
def test_further_faults(cards: str, expected: list[tuple[str, str, int]]) -> None:
    assert loud(check(HEAD + cards)) == expected


@pytest.mark.parametrize(
    ("behind", "severity"),
    [("", "info"), (".end\n", "info"), ("R9 b 0 1k\n.end\n", "warning"), (".tran 1n 1u\n", "error")],
)
def test_a_control_block_that_the_file_ends_takes_what_stands_behind_it(behind: str, severity: str) -> None:
    found = check(f"{HEAD}.control\nrun\nplot v(b)\n{behind}")
    assert [d.severity for d in found if d.code == "unclosed-control"] == [severity]


@for_each(
    ("cards", "refused"),
    [
        ("D3 b 0 dm 8\n", 1),
        ("D3 b 0 dm 8\nD4 b 0 dm 2\n", 2),
        ("D3 b 0 dm 8\nD4 b 0 dm\n", 0),
        ("D3 b 0 dm 8 off\nD4 b 0 dm area=2\n", 0),
        ("D3 b 0 dm area 8 ic 0.5\nX4 b s\n.subckt s c\nD4 c 0 dm\n.ends\n", 0),
        ("D3 b 0 dm 8\n.subckt s c\nD4 c 0 dm\n.ends\n", 1),
        ("D3 b 0 dm 8 27\nD4 b 0 dm\n", 1),
        ("D3 b 0 dm off 8\nD4 b 0 dm\n", 1),
    ],
)
def test_a_bare_area_needs_another_diode_that_keeps_the_model(cards: str, refused: int) -> None:
    """As ngspice 39 does: it takes the number for the name of the model that is used."""
    found = check(f"{HEAD}.model dm d\n{cards}.end\n")
    assert [d.code for d in found if d.severity != "info"] == ["bad-value"] * refused


@pytest.mark.parametrize(("use", "severity"), [("", "info"), ("X1 a s\n", "warning")])
def test_a_warning_within_a_subcircuit_that_nobody_uses_is_a_hint(use: str, severity: str) -> None:
    found = check(f"{HEAD}{use}.subckt s c\nL1 c 0 0.0.8nH\n.ends\n")
    assert [d.severity for d in found if d.code == "number-tail"] == [severity]


@for_each(("use", "severity"), [("", "info"), ("X1 a u\n", "error")])
def test_a_parenthesis_ngspice_never_reads_is_a_hint(use: str, severity: str) -> None:
    deck = f"t\nV1 a 0 1\nR0 a 0 1k\n{use}.subckt u 1\nR1 1 0 {{limit(1, (2)}}\n.ends\n.op\n.end\n"
    found = [each for each in check(deck) if each.code == "unclosed-bracket"]
    assert [each.severity for each in found] == [severity]
    assert str(found[0].message) == "“(” is not closed. Add “)”."


def test_a_bracket_that_a_library_never_closes_is_told_once() -> None:
    part = ".subckt u{0} 1 2\nR1 1 2 {{limit(1, (2)}}\nR2 1 2 {{limit(1, (3)}}\n.ends\n"
    library = "* parts\n" + "".join(map(part.format, range(3)))
    for use, severity in (("R1 a 0 1\n", "info"), ("X1 a 0 u1\n", "error")):
        found = check(f"t\nV1 a 0 1\n{use}.include x.lib\n.op\n", {"x.lib": library})
        told = [each for each in found if each.severity == severity and each.code == "unclosed-bracket"]
        assert len(told) == 1
    (told_once,) = check("t\nV1 a 0 1\nR1 a 0 1\n.include x.lib\n.op\n", {"x.lib": library})
    assert str(told_once.message).endswith("The like on 5 more lines of this file.")


def test_include_levels_are_limited() -> None:
    files = {f"{i}.inc": f".include {i + 1}.inc\n" for i in range(40)}
    found = check("t\nV1 a 0 1\nR1 a 0 1\n.include 0.inc\n.op\n", files)
    assert [(d.code, d.line) for d in found] == [("include-cycle", 1)]


@pytest.mark.parametrize(
    ("cards", "words"),
    [
        ("V2 c 0 2 * volts at the gate\nR3 c 0 1\n", "* begins a comment in the first column only"),
        ("V2 gnd 0 0\n", "gnd is node 0 in ngspice. Remove this source"),
        (".tran 0 0 0\n", "covers no time"),
        ("Eop c 0 a b MAX=10 MIN=-10 1k\nR3 c 0 1\n", "which only HSPICE knows"),
        ("B3 c 0 V=if(V(a)>0,1,2)\nR3 c 0 1\n", "condition ? value"),
    ],
)
def test_an_error_says_what_to_do(cards: str, words: str) -> None:
    (error,) = (each for each in check(HEAD + cards) if each.severity == "error")
    assert words in str(error.message)


REFUSED_BY_NGSPICE = [
    ("B3 c 0 V=if(V(a)>0,1,2)\nR3 c 0 1\n", "undefined-function", 6),
    ("B3 c 0 V=V(a)*int(2.5)\nR3 c 0 1\n", "undefined-function", 6),
    ("B3 c 0 V=kelvin*V(a)\nR3 c 0 1\n", "undefined-parameter", 6),
    ("B3 c 0 V=@r1[i]*2\nR3 c 0 1\n", "bad-expression", 6),
    (".param q=1 p='{q}*2'\nR3 b 0 {p}\n", "bad-expression", 6),
    (".param q=1\n+ p={q}*2\nR3 b 0 {p}\n", "bad-expression", 7),
    (".param q=1, p=2\nR3 b 0 {p+q}\n", "bad-expression", 6),
    ("R3 b 0 2*3\n", "bad-value", 6),
    (".param q=1\nV3 c 0 q*2\nR3 c 0 1\n", "bad-value", 7),
    (".param q=1\nV3 c 0 dc 1 ac q\nR3 c 0 1\n", "bad-value", 7),
    (".param q=1\nM3 a a 0 0 nm w=2*q l=1u\n.model nm nmos\n", "bad-value", 7),
    (".param q=1f\nD3 a 0 dm\n.model dm d(is=q)\n", "bad-value", 8),
    ("D3 a 0 dm\n.model dm d is=qq n=1\n", "undefined-parameter", 7),
    ("M3 a a 0 0 nm w=wid l=1u\n.model nm nmos\n", "undefined-parameter", 6),
    ("E3 c 0 a 0 amount\nR3 c 0 1\n", "undefined-parameter", 6),
    ("L3 b c 1u\nR3 c 0 1\nF3 0 d L3 1\nR4 d 0 1\n", "undefined-source", 8),
]


@for_each(("cards", "code", "line"), REFUSED_BY_NGSPICE)
def test_what_ngspice_refuses_without_braces_or_definition(cards: str, code: str, line: int) -> None:
    assert loud(check(HEAD + cards)) == [("error", code, line)]


@for_each(
    "cards",
    [
        ".param q=1 , p={max(1,2)}\nR3 b 0 {p+q}\n",
        ".param q=1\nX3 b 0 s r={q},c={2}\n.subckt s x y r=1 c=1\nR1 x y {r+c}\n.ends\n",
        ".param q=1\nM3 a a 0 0 nm w=q l={q*2}\n.model nm nmos(vto=q kp=1u)\n",
        ".param q=1\nE3 c 0 a 0 q\nR3 c 0 r=q*2\n",
        "B3 c 0 V=pi*u(V(a))+ddt(V(a))+pwl(V(a),0,0,1,1)\nR3 c 0 1\n",
        "V3 入 0 1\nR3 入 中  1k\nR4 中  0 1k ; 输入\n",
        "R3 b 0 {10Ω}\n",
        ".param q=1n\nC3 b 0 Q=q\nE3 c 0 value = q\nR3 c 0 1\n",
        "B3 u:freq 0 I=V(a)\nR3 u:freq 0 1\n",
        "V3 c 0 SINE(0 1 1k) AC 1\nR3 c 0 1\n",  # LTspice's word, which ngspice takes too
    ],
)
def test_what_ngspice_takes_is_left_in_peace(cards: str) -> None:
    assert loud(check(HEAD + cards)) == []


def test_the_greek_mu_is_no_micro_sign() -> None:
    found = check(HEAD + "C3 b 0 10µ\nC4 b 0\n+ 10μF\n")
    assert [(d.code, d.line, d.column) for d in found] == [("number-tail", 8, 3)]


def test_a_misspelt_analysis_is_one_fault() -> None:
    assert loud(check("t\nV1 a 0 1\nR1 a 0 1\n.trna 1u 1m\n")) == [("error", "unknown-directive", 4)]


def test_ngspice_refuses_param_as_title() -> None:
    assert loud(check(".param a=1\nV1 a 0 1\nR1 a 0 1\n.op\n")) == [("error", "title-is-card", 1)]


def test_a_binary_file_is_one_fault() -> None:
    assert loud(check(bytes(range(256)) * 40)) == [("error", "encoding", 1)]


def test_depth_is_borne() -> None:
    nested = "".join(f".subckt s{i} x y\n" for i in range(100)) + ".ends\n" * 100
    assert loud(check(HEAD + nested)) == []
    deep = "R3 b 0 {" + "(" * 2000 + "1" + ")" * 2000 + "}\n"
    assert loud(check(HEAD + deep)) == [("error", "bad-expression", 6)]


@pytest.mark.parametrize(
    "deck",
    [
        "t\nV1 a 0 1\nR1 a 0 1\n.param x=2\n.csparam x={x}\n.op\n",
        "t\nV1 a 0 1\nR1 a 0 1\n.op\n\x1a\n",
        "t\nV1 a 0 1\nR1 a 0 {1+{2}}\n.op\n",
        "t\nV1 a 0 1\nD1 a 0 d\n.model d d(is=agauss(1f,0.1f,3))\n.op\n",
        "t\nV1 a b 1\nR1 a b 1\nA1 [a] [d] in\n.model in adc_bridge\n.op\n",
        "t\nV1 a 0 1\nX1 a s\n.subckt s 1\nR1 1 0 1k tc=1m,2u\nR2 1 0 rm 1k\n.model rm r\n.ends\n.op\n",
        "t\nA1 [c] d\nA2 c e buf\n.model d d_source(input_file=x)\n.model buf d_buffer\n.tran 1n 1u\n",
    ],
)
def test_what_ngspice_runs_is_no_error(deck: str) -> None:
    assert [code for severity, code, _ in loud(check(deck)) if severity == "error"] == []


def test_a_second_model_and_a_second_sweep_that_leads_nowhere_are_warnings() -> None:
    assert loud(check(HEAD + "D1 b 0 d\n.model d d(is=1f)\n.model d d(is=2f)\n")) == [
        ("warning", "duplicate-model", 8)
    ]
    corners = "".join(
        f".lib {name}\n.model d d(is={size}f)\n.endl\n" for name, size in (("tt", 1), ("ss", 2))
    )
    assert loud(check(corners, name="x.lib")) == [], "sections of a library are not read together"
    twice = "t\nV1 a 0 1\nV2 b 0 1\nR1 a b 1\n.dc V1 0 1 0.5 V2 0 1 -1\n"
    assert loud(check(twice)) == [("warning", "bad-analysis", 5)]


def test_verilog_a_devices_need_their_library_loaded() -> None:
    deck = HEAD + "N1 b 0 res\n.model res resistor_va(r=1k)\n"
    assert loud(check(deck)) == [("error", "osdi-missing", 6)]
    assert loud(check(deck + ".control\npre_osdi res.osdi\n.endc\n")) == []


@for_each(
    ("card", "expected"),
    [
        (".sens objfunc={v(b)} param=R1:R", [("error", "foreign-form", 6)]),
        (".dc dec V1 1 100 10", [("error", "foreign-form", 6)]),
        (".dc param r 1 100 10", [("error", "foreign-form", 6)]),
        ("YADC adc1 b 0 simple R=1T", [("error", "foreign-form", 6)]),
        ("C3 b 0 Q=1n*time", [("error", "foreign-form", 6)]),
        ("E3 b 0 VALUE = 5V*SQRT(V(a))", [("error", "foreign-form", 6)]),
        ("V3 b 0 wavefile=in.wav", [("error", "foreign-form", 6)]),
        ("K1 L1 L2 1 TX39-20_25C", [("error", "foreign-form", 6)]),
        (".meas tran e error v(b) file=old.prn comp_function=l1norm", [("error", "foreign-form", 6)]),
        ("E3 b 0 a 0 laplace=exp(-s)", [("error", "foreign-form", 6)]),
        ("R3=1 b=0 10", [("warning", "missing-plus", 6)]),
    ],
)
def test_a_card_of_another_program_is_named_as_such(card: str, expected: list[tuple[str, str, int]]) -> None:
    found = loud(check(HEAD + card + "\n"))
    assert [item for item in found if item[1] in ("foreign-form", "missing-plus")] == expected
    assert not [
        item for item in found if item[2] == 6 and item not in expected and "foreign" in expected[0][1]
    ]


def test_the_lossy_line_of_ngspice_is_no_device_of_xyce() -> None:
    found = loud(check(HEAD + "Yor a 0 b 0 line len=1\n.model line txl r=1 l=1n c=1p length=1\n"))
    assert not [item for item in found if item[1] == "foreign-form"]


@pytest.mark.parametrize(
    ("cards", "expected"),
    [
        ("Q1 a b 0 t\n.model t npn level=6\n", [("error", "model-level", 7)]),
        ("Q1 a b 0 t\n.model t npn level=4\n", []),
        ("Q1 a b 0 t\n.model t npn level=504\n", [("warning", "model-level", 7)]),
        ("M1 a b 0 0 n w=1u l=1u\n.model n nmos\n+ level=45\n", [("error", "model-level", 7)]),
        ("M1 a b 0 0 n w=50u l=1u\n.model n.1 nmos level=8 lmin=1u lmax=2u wmin=1u wmax=9u\n",
         [("error", "no-bin", 6)]),
        ("M1 a b 0 0 n w=5u l=1u\n.model n.1 nmos level=8 lmin=1u lmax=2u wmin=1u wmax=9u\n", []),
        (".option scale=1u\nM1 a b 0 0 n w=5 l=1\n.model n.1 nmos level=8 lmin=1u lmax=2u wmin=1u wmax=9u\n",
         []),
    ],
)  # fmt: skip
def test_levels_and_bins_of_models(cards: str, expected: list[tuple[str, str, int]]) -> None:
    assert loud(check(HEAD + cards)) == expected


@pytest.mark.parametrize(
    ("cards", "severity"),
    [
        (".ac dec 5 1k 1Meg\n", "info"),
        (".ac dec 5 1k 1Meg\n.tran 1n 1u\n", "warning"),
        ("D1 m 0 dm\n.model dm d\n.ac dec 5 1k 1Meg\nC3 n m 1n\nC4 n 0 1n\n", "warning"),
    ],
)
def test_an_operating_point_nobody_needs_is_no_matter_for_a_warning(cards: str, severity: str) -> None:
    found = check("t\nV1 a 0 AC 1\nC1 a m 1n\nC2 m 0 1n\n" + cards)
    assert [d.severity for d in found if d.code == "no-dc-path"] == [severity]


def test_a_block_on_the_title_line_is_not_read() -> None:
    found = check(".control\nrun\n.endc\nV1 a 0 1\nR1 a 0 1k\n.op\n")
    assert ("error", "title-is-card", 1) in loud(found)


def test_an_include_on_the_title_line_is_read_nevertheless() -> None:
    found = check(".include gone.lib\nV1 a 0 1\nR1 a 0 1k\n.op\n")
    assert ("error", "include-missing", 1) in loud(found)
