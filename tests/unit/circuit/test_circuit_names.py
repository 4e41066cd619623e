"""Names of a circuit: which places mean the same, over files and subcircuits; giving one another name."""

from __future__ import annotations

from pathlib import Path

from domain.circuit.circuit_names import CardCache, CircuitNames
from domain.circuit.dependencies import SourceFile, SourceRefusal, resolve_dependencies
from domain.circuit.netlist import Netlist
from domain.circuit.renaming import refusal, renamed
from tests.ground.cases import for_each

PATH = Path("/p/top.cir")
PART = """.subckt amp inp OUT gain=10
R1 inp out {rload*gain}
.param local=2
B1 out 0 V={v(inp)*local}
.model nch.1 nmos level=1
.model nch.2 nmos level=1
M1 out inp 0 0 NCH w=1u
Rg vdd out 1k
.ends amp
"""
TEXT = """out and gain are in the title
.include part.lib
.global vdd
.param rload=1k gain=3
.func twice(x) {2*x*gain}
V1 in GND 1
R1 in Out {twice(rload)}
+ tc1=0
X1 in out amp gain={gain}
R2 out 0 1k $ out
B2 b 0 I=i(v1)+v(x1.out)
.ic v(OUT)=1
.dc V1 0 {gain} 1
.save out @m.x1.m1[id] i(V1)
.meas dc m1 find v(out,in) at=1
.end
"""


class Reader:
    def read(self, reference: str, *, including_file: Path) -> SourceFile | SourceRefusal:
        return SourceFile(path=including_file.with_name(reference), data=PART.encode())

    def find(self, name: str) -> Path | None:
        return None


def names_of(text: str = TEXT, cache: CardCache | None = None) -> CircuitNames:
    netlist = Netlist.parse(text.encode(), path=PATH)
    return CircuitNames(resolve_dependencies(netlist, Reader()), cache)


def places(at: str, names: CircuitNames, *, inside: bool = False) -> list[str]:
    """Where the name at the end of a piece of text stands: ``7:6``, ``part:2:8`` in the other file."""
    text, file = (PART, PATH.with_name("part.lib")) if inside else (TEXT, PATH)
    place = names.at(file, text.index(at) + len(at))
    if place is None:
        return []
    found = names.places(names.meaning(place))
    return [f"{'' if p.file == PATH else 'part:'}{p.line}:{p.column}" for p in found]


@for_each(("at", "inside", "expected"), [
    ("R1 in Ou", False, "7:7 9:7 10:4 12:7 14:7 15:20"),
    (".subckt amp inp OU", True, "part:1:17 part:2:8 part:4:4 part:7:4 part:8:8 11:21"),
    ("\nV1 i", False, "6:4 7:4 9:4 15:24"),
    ("\nV", False, "6:1 11:12 13:5 14:26"),
    ("\nM", True, "part:7:1 14:17"),
    ("R1 inp out {rl", True, "part:2:13 4:8 7:18"),
    ("rload*ga", True, "part:1:21 part:2:19 9:15"),
    (".param rload=1k ga", False, "4:17 5:21 9:21 13:11"),
    ("B1 out 0 V={v(inp)*lo", True, "part:3:8 part:4:20"),
    ("R2 out 0 1", False, ""),
    ("{tw", False, "5:7 7:12"),
    ("0 0 N", True, "part:5:8 part:6:8 part:7:16"),
    ("X1 in out a", False, "part:1:9 part:9:7 9:11"),
    ("Rg vd", True, "3:9 part:8:4"),
    ("out and ga", False, ""),
    ("$ ou", False, ""),
])  # fmt: skip
def test_places_of_a_name(at: str, inside: bool, expected: str) -> None:
    names = names_of()
    assert sorted(places(at, names, inside=inside)) == sorted(expected.split())


def test_definitions_are_found_from_each_use() -> None:
    names = names_of()
    for at, line in (("R1 in Out {twice(rl", 4), ("X1 in out am", 1), (".dc V", 6), ("R2 o", 7)):
        place = names.at(PATH, TEXT.index(at) + len(at))
        assert place is not None
        definition = names.definition(names.meaning(place))
        assert definition is not None
        assert definition.line == line


def test_a_card_that_was_read_is_not_read_again_and_others_are_forgotten() -> None:
    cache = CardCache()
    names_of(cache=cache)
    before = dict(cache.names)
    names_of(TEXT.replace("R2 out 0 1k", "R2 out b 2k"), cache)
    assert before.keys() ^ cache.names.keys() == {"R2 out 0 1k", "R2 out b 2k"}
    kept = before.keys() & cache.names.keys()
    assert all(cache.names[card] is before[card] for card in kept)
    names_of(TEXT + ".model inp npn\n", cache)  # another model: lines may be read otherwise
    assert cache.names["X1 in out amp gain={gain}"] is not before["X1 in out amp gain={gain}"]


@for_each(("at", "new", "says"), [
    ("R1 in Ou", "vout", ""),
    ("R1 in Ou", "OUT", ""),
    ("R1 in Ou", "b", "There is a b already: the two would become one."),
    ("R1 in Ou", "vdd", "There is a vdd already: the two would become one."),
    ("R1 in Ou", "0", "Ground is always 0 and cannot be renamed, nor can another node become it."),
    ("V1 in GN", "x", "Ground is always 0 and cannot be renamed, nor can another node become it."),
    ("R1 in Ou", "a b", "A name is plain ASCII, without blanks, brackets, quotes and =."),
    ("R1 in Ou", "Ω", "A name is plain ASCII, without blanks, brackets, quotes and =."),
    ("\nV", "R9", "The first letter says what kind of element it is: the name has to begin with V."),
    ("\nV", "Vin", ""),
    ("\nR", "R2", "There is a R2 already: the two would become one."),
    (".param rl", "local", "There is a local already: the two would become one."),
    (".param rl", "gain", "There is a gain already: the two would become one."),
    (".param rl", "2r", "A name is made of letters, digits and _, and does not begin with a digit."),
    (".param rl", "", "Type the new name."),
    (".param rl", "r_load", ""),
    ("X1 in out am", "stage", ""),
])  # fmt: skip
def test_what_a_name_cannot_become(at: str, new: str, says: str) -> None:
    names = names_of()
    place = names.at(PATH, TEXT.index(at) + len(at))
    assert place is not None
    meaning = names.meaning(place)
    found = refusal(meaning, new, [(names, names.places(meaning))])
    assert ("" if found is None else str(found)) == says


def test_bins_of_a_model_keep_their_numbers() -> None:
    names = names_of()
    place = names.at(PATH.with_name("part.lib"), PART.index("NCH"))
    assert place is not None
    found = names.places(names.meaning(place))
    assert [renamed(each, "fast") for each in found] == ["fast.1", "fast.2", "fast"]
    spans = [each.card.raw[each.name.start : each.name.end] for each in found]
    assert spans == ["nch.1", "nch.2", "NCH"]
