"""What is drawn is the circuit: read back from the geometry alone; and nothing lies over anything."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from domain.circuit.dependencies import SourceFile, SourceRefusal, resolve_dependencies
from domain.circuit.hierarchy import Block, Circuit, read_circuit
from domain.circuit.netlist import Netlist
from domain.circuit.schematic.display import Dot, Drawing
from domain.circuit.schematic.drawing import FIRST, Effort, draw
from domain.circuit.schematic.judging import faults_of
from domain.circuit.schematic.parts import Page, page_of
from domain.circuit.schematic.reading_back import differences, left_out
from domain.design.catalogue import FAMILIES, propose, understand
from tests.fakes.schematic_circuits import GOLDEN
from tests.ground.campaign import campaigns

ROOT = Path(__file__).parents[3]
SHORT = Effort(starts=1, moves=150)


class Beside:
    """A reader that sees all files below a folder, whatever way they are named."""

    def read(self, reference: str, *, including_file: Path) -> SourceFile | SourceRefusal:
        for folder in (including_file.parent, ROOT / "resources" / "spice_models"):
            if (folder / reference).is_file():
                return SourceFile(path=folder / reference, data=(folder / reference).read_bytes())
        return SourceRefusal(path=Path(reference), reason="missing")

    def find(self, name: str) -> Path | None:
        return None


def circuit_of(data: bytes, path: Path | None = None) -> Iterator[tuple[Page, Block]]:
    """All pages of a circuit that have something on them."""
    netlist = Netlist.parse(data, path=path or ROOT / "circuit.cir")
    tree = resolve_dependencies(netlist, Beside())
    circuit: Circuit = read_circuit(tree)
    for block in circuit.top.walk():
        scope = ".".join(reversed([each.name for each in block.lineage if each.subcircuit is not None]))
        page = page_of(tree, circuit, scope)
        if (
            page is not None
            and page.parts
            and (block.subcircuit is None or block is circuit_block(circuit, scope))
        ):
            yield page, block


def circuit_block(circuit: Circuit, scope: str) -> Block | None:
    block: Block | None = circuit.top
    for name in filter(None, scope.lower().split(".")):
        block = block.blocks.get(name) if block is not None else None
    return block


def wrong_in(data: bytes, path: Path | None = None, effort: Effort = FIRST) -> list[str]:
    """What is not as it should be in the drawings of a circuit's pages."""
    found: list[str] = []
    for page, block in circuit_of(data, path):
        drawing = draw(page, effort=effort)
        told = [*differences(block, drawing), *left_out(block, drawing), *faults_of(drawing)]
        found += [f"{page.scope or 'top'}: {each}" for each in told]
    return found


def corpus() -> list[Path]:
    files = sorted((ROOT / "tests/corpus/netlists").rglob("*.cir")) + sorted(
        (ROOT / "resources/examples").rglob("*.cir")
    )
    return [path for path in files if path.stat().st_size < 100_000]


@pytest.mark.timeout(120)
def test_corpus_examples_and_families_are_read_back_from_their_drawings() -> None:
    """A sample of the corpus, all examples, an eighth of the families; the whole is a campaign."""
    wrong = {
        str(path.relative_to(ROOT)): told
        for path in [*corpus()[::12], *(path for path in corpus() if "examples" in path.parts)]
        if (told := wrong_in(path.read_bytes(), path))
    }
    for name, family in [*FAMILIES.items()][::8]:
        deck = propose(understand(family.examples["en"]), str).netlist
        if told := wrong_in(deck.encode()):
            wrong[name] = told
    assert wrong == {}


@pytest.mark.torture
@pytest.mark.timeout(3600)
def test_all_of_them_as_first_drawn_and_with_a_search() -> None:
    texts = {str(path): (path.read_bytes(), path) for path in corpus()}
    for name, family in FAMILIES.items():
        texts[name] = (propose(understand(family.examples["en"]), str).netlist.encode(), None)
    for effort in (FIRST, SHORT):
        wrong = {name: told for name, text in texts.items() if (told := wrong_in(*text, effort))}
        assert wrong == {}, effort


def mesh(rng: random.Random) -> bytes:
    """Anything that can be connected, with slips: loose ends, shorts, elements on one node."""
    nodes = ["0", "vcc", "in", "out", *(f"n{at}" for at in range(rng.randrange(1, 14)))]
    lines = ["mesh", "VCC vcc 0 12", "VIN in 0 SIN(0 1 1k)"]
    kinds = {"R": 2, "C": 2, "L": 2, "D": 2, "V": 2, "I": 2, "Q": 3, "M": 4, "J": 3, "E": 4, "G": 4, "S": 4,
             "X": 3, "T": 4, "B": 2}  # fmt: skip
    tails = {"D": "dm", "Q": "qn", "M": "mp", "J": "jn", "E": "1e5", "G": "1m", "S": "sw", "X": "thing",
             "T": "z0=50 td=1n", "B": "V=v(in)*2"}  # fmt: skip
    for number in range(rng.randrange(1, 22)):
        kind = rng.choice([*kinds])
        ends = " ".join(rng.choice(nodes) for _ in range(kinds[kind]))
        lines.append(f"{kind}{number} {ends} {tails.get(kind, '1k')}")
    lines += [".model dm d", ".model qn npn", ".model mp pmos", ".model jn njf", ".model sw sw"]
    lines += [".subckt thing a b c", "R1 a b 1", "R2 b c 1", ".ends", ".end"]
    return "\n".join(lines).encode()


@campaigns(fast=8, whole=1_500)
def test_any_mesh_is_read_back(campaign) -> None:
    for rng in campaign.cases():
        data = mesh(rng)
        told = wrong_in(data)
        assert told == [], data.decode()


def test_pins_of_two_nets_do_not_meet_at_their_ends() -> None:
    """Ends of leads without bodies over each other: that was a short which nothing told of."""
    assert wrong_in(mesh(random.Random(40))) == []


def test_the_reader_sees_a_missing_dot_a_moved_wire_and_a_short() -> None:
    """The judge itself: drawings that were damaged are not taken for the circuit."""
    (page, block), *_ = circuit_of(GOLDEN["common_emitter"].encode())
    drawing = draw(page, effort=FIRST)
    assert differences(block, drawing) == []
    assert differences(block, damaged(drawing, dots=())) != []
    assert differences(block, damaged(drawing, wires=drawing.wires[1:])) != []
    first, other = drawing.wires[0], next(w for w in drawing.wires if w.net != drawing.wires[0].net)
    (x1, y1), (x2, y2) = first.points[0], other.points[0]
    short = first._replace(points=((x1, y1), (x2, y1), (x2, y2)))
    assert differences(block, damaged(drawing, wires=(*drawing.wires, short))) != []
    joined = drawing.symbols[0].pins[0]._replace(at=drawing.symbols[1].pins[1].at)
    symbol = drawing.symbols[0]._replace(pins=(joined, *drawing.symbols[0].pins[1:]))
    met = damaged(drawing, symbols=(symbol, *drawing.symbols[1:]))
    assert "pin on pin" in {fault.kind for fault in faults_of(met)}
    every = [Dot(wire.net, wire.points[0]) for wire in drawing.wires]
    assert differences(block, damaged(drawing, dots=(*drawing.dots, *every))) == []


def damaged(drawing: Drawing, **parts: object) -> Drawing:
    from dataclasses import replace

    return replace(drawing, **parts)  # type: ignore[arg-type]
