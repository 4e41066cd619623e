"""What is offered at a place of a netlist, and what is not."""

from __future__ import annotations

from pathlib import Path

from domain.circuit.circuit_names import CircuitNames
from domain.circuit.completion import Completion, Facts, complete
from domain.circuit.dependencies import SourceFile, SourceRefusal, resolve_dependencies
from domain.circuit.model_library import LibraryModel
from domain.circuit.netlist import Netlist
from tests.ground.cases import for_each

PATH = Path("/p/a.cir")
LIBRARY = """.subckt amp inp inn out gain=10 bw=1meg
E1 out 0 inp inn {gain}
.ends
.model fast d(is=1e-12)
"""
TEXT = """R1 is the title
.include amp.lib
.param rval=1k w2={rval*2}
.func twice(x) {2*x}
V1 in 0 1
R1 in mid {rval}
C10 mid out2 1n
X1 in mid out2 amp gain=5
D1 mid 0 fast
Q1 out2 in 0 qn
.model qn npn(bf=100)
.subckt stage a b
R1 a inner 1k
.ends stage
"""
MODEL = LibraryModel(
    name="2N3904",
    title="NPN small-signal transistor",
    pins="collector base emitter",
    figures="",
    source="",
    text=".model 2N3904 npn",
)


class Reader:
    def read(self, reference: str, *, including_file: Path) -> SourceFile | SourceRefusal:
        if reference == "amp.lib":
            return SourceFile(path=including_file.with_name(reference), data=LIBRARY.encode())
        return SourceRefusal(path=Path(reference), reason="missing")

    def find(self, name: str) -> Path | None:
        return None


def facts_of(text: str) -> Facts:
    netlist = Netlist.parse(text.encode(), path=PATH)
    names = CircuitNames(resolve_dependencies(netlist, Reader()))
    return Facts(names=names, file=PATH, library=(MODEL,))


def offered(line: str, text: str = TEXT) -> Completion:
    """What is offered at the end of a line more."""
    whole = text + line
    return complete(whole, len(whole), facts_of(text))


@for_each(("line", "first", "among", "not_among"), [
    ("R", "R2", "", "C11"),
    ("", "R2", "C1", "a"),
    (".tr", ".tran", "", ".ac"),
    (".", ".op", ".meas", ""),
    ("R2 ", "0", "mid", "inner"),
    ("R2 m", "mid", "", "in"),
    ("R2 in mid ", "rval", "w2", "mid"),
    ("R2 in mid {", "rval", "twice", "mid"),
    ("R2 in mid {w2 + rv", "rval", "", "w2"),
    ("R2 in mid 1k ", "ac=", "tc1=", "rval"),
    ("C2 in mid 1", "", "", "mid"),
    ("D2 in mid f", "fast", "", "qn"),
    ("Q2 in mid 0 ", "qn", "2N3904", "fast"),
    ("M1 in mid 0 0 ", "0", "mid", "qn"),
    ("X2 in mid 0 ", "amp", "stage", "gain="),
    ("X2 in mid 0 amp ", "gain=", "bw=", "amp"),
    ("X2 in mid 0 amp gain={", "rval", "", "bw="),
    ("V2 in 0 ", "PULSE", "DC", "mid"),
    ("V2 in 0 pu", "PULSE", "", "SIN"),
    ("F1 in 0 ", "V1", "", "R1"),
    ("B1 in 0 ", "V=", "I=", "rval"),
    ("B1 in 0 V={v(", "0", "out2", "rval"),
    ("B1 in 0 V=tw", "twice", "", "v("),
    (".meas ", "tran", "ac", "MAX"),
    (".meas tran top ", "MAX", "WHEN", "v(mid)"),
    (".meas tran top MAX ", "v(in)", "FROM=", "MAX"),
    (".meas tran top MAX v(", "0", "mid", "V1"),
    (".save v(mid) i(", "V1", "X1", "mid"),
    (".ic ", "v(in)", "v(mid)", "v(0)"),
    (".dc ", "R1", "V1", "mid"),
    (".ac ", "dec", "lin", ""),
    (".model x n", "npn", "nmos", "pnp"),
    (".options rel", "reltol", "", "gmin"),
    (".step param ", "rval", "", "mid"),
    (".include 2n", "2N3904.lib", "", ""),
    ("R2 in\n* remark\n+ m", "mid", "", "in"),
    ("R2 in mid {rval} $ ", "", "", "rval"),
    ("* R2 ", "", "", "in"),
    (".control\nplot ", "", "", "in"),
    (".endl ", "", "", "in"),
])  # fmt: skip
def test_candidates(line: str, first: str, among: str, not_among: str) -> None:
    texts = [candidate.text for candidate in offered(line).candidates]
    assert (texts[0] if texts else "") == first, texts[:8]
    assert not among or among in texts, texts
    assert not_among == "" or not_among not in texts, texts


def test_a_subcircuit_has_nodes_of_its_own() -> None:
    at = TEXT.index(".ends stage")
    text = TEXT[:at] + "R2 \n" + TEXT[at:]
    found = complete(text, at + 3, facts_of(text))
    assert [each.text for each in found.candidates] == ["0", "a", "b", "inner"]
    piece = text[text.index(".subckt stage") :]  # a piece of the text gives the same
    first = text.count("\n", 0, text.index(".subckt stage")) + 1
    assert (
        complete(piece, piece.index("R2 ") + 3, facts_of(text), first_line=first).candidates
        == found.candidates
    )


def test_what_stands_there_is_not_offered_and_the_title_is_no_card() -> None:
    assert offered("R2 in mid").candidates == ()
    assert complete("R", 1, Facts()).candidates == ()
    assert complete("R", 1, Facts(has_title=False)).candidates[0].insert == "R1 <n1> <n2> <1k>"


def test_a_model_of_the_library_comes_with_its_include() -> None:
    line = "Q2 in mid 0 2n"
    (model,) = offered(line).candidates
    assert (model.insert, model.include) == ("2N3904", ".include 2N3904.lib")
    (again,) = offered(line, TEXT + ".include 2N3904.lib\n").candidates
    assert again.include == ""
    assert offered(line).start == len(TEXT) + len(line) - 2
