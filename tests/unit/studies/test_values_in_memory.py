"""What is read of a circuit whose values were set in memory is what was set."""

from domain.circuit.dependencies import DependencyTree, resolve_dependencies
from domain.circuit.hierarchy import read_circuit
from domain.circuit.measure_cards import without_measures
from domain.circuit.netlist import Netlist
from domain.circuit.parameters import resolve_parameters
from domain.simulation.convergence import option_values
from domain.studies.variation import plan_variation, with_values
from tests.fakes.memory_sources import FOLDER, MemorySources

DECK = """t
.lib m.lib tt
.include part.inc
.param load=1k twice={2*load}
V1 a 0 1
R1 a b {load}
R2 b 0
+ 5k
D1 b 0 dm
X1 b part
.meas op m1 find v(b)
.op
.end
"""
FILES = {
    "m.lib": ".lib ss\n.model dm d(is=9f)\n.endl\n.lib tt\n.model dm d(is=1f)\n.endl\n",
    "part.inc": "* comment\n.subckt part p\nR9 p 0 7k\n.ends\n",
}


def read() -> DependencyTree:
    return resolve_dependencies(Netlist.parse(DECK.encode(), path=FOLDER / "d.cir"), MemorySources(FILES))


def values_of(tree: DependencyTree) -> dict[str, str]:
    """The values of all elements and what stands on the cards of models."""
    blocks = list(read_circuit(tree).top.walk())
    found = {p.element.key: p.element.value.text for b in blocks for p in b.elements if p.element.value}
    return found | {name: card.statement.text for b in blocks for name, card in b.models.items()}


def test_values_set_in_memory_are_those_that_are_read() -> None:
    tree = read()
    before = values_of(tree)
    changed = with_values(tree, {"load": "3k", "R2": "8k", "x1.r9": "9k", "dm.is": "5p", "temp": "85"})
    assert resolve_parameters(changed)["twice"] == 6000
    expected = {**before, "r2": "8k", "r9": "9k", "dm": ".model dm d(is=5p)"}
    assert values_of(changed) == expected
    assert option_values(changed) == {"temp": 85}
    assert changed.changed == {FOLDER / "m.lib", FOLDER / "part.inc"}
    again = with_values(changed, {"r2": "1k"})  # from what was changed already
    assert values_of(again) == {**expected, "r2": "1k"}
    assert values_of(tree) == before
    assert resolve_parameters(tree)["twice"] == 2000


def test_what_became_a_comment_is_not_read_and_what_was_added_is() -> None:
    tree = read()
    bare = without_measures(tree)
    assert {p.statement.keyword for p in tree.expanded} - {p.statement.keyword for p in bare.expanded} == {
        "meas"
    }
    varied, (quantity,) = plan_variation(tree, ["x1.r9"])
    assert values_of(varied)["r9"] == f"{{{quantity.targets[0]}}}"
    assert resolve_parameters(varied)[quantity.targets[0]] == 7000


def test_of_the_file_nothing_changes_but_the_value() -> None:
    for written in (DECK, DECK.rstrip("\n"), DECK.replace("\n", "\r\n"), DECK.replace(".end\n", "")):
        data = written.encode()
        tree = resolve_dependencies(Netlist.parse(data, path=FOLDER / "d.cir"), MemorySources(FILES))
        assert with_values(tree, {"load": "3k"}).root.to_bytes() == data.replace(b"load=1k", b"load=3k")
        hot = with_values(tree, {"temp": "85"}).root.to_bytes()
        card = b".options temp=85" + (b"\r\n" if b"\r\n" in data else b"\n")
        assert hot == (data.replace(b".end", card + b".end") if b".end" in data else data + card)
