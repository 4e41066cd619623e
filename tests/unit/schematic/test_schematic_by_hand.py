"""Parts moved by hand: the circuit stays the one that is shown, wherever a part is put; searches find."""

from __future__ import annotations

import random

import pytest

from domain.circuit.netlist import Netlist
from domain.circuit.schematic.drawing import FIRST, arranged, draw, moved
from domain.circuit.schematic.finding import find
from domain.circuit.schematic.judging import faults_of
from domain.circuit.schematic.placing import Place
from domain.circuit.schematic.reading_back import differences
from domain.circuit.schematic.symbols import Sides
from domain.circuit.schematic.value_places import checked, place_of
from domain.circuit.translation import translate
from shared.errors import UserInputError
from tests.fakes.schematic_circuits import GOLDEN
from tests.unit.schematic.test_schematic_reading_back import circuit_of


@pytest.mark.parametrize("name", ["common emitter", "differential pair"])
def test_a_moved_part_leaves_the_others_and_the_circuit_as_they_are(name: str) -> None:
    text = next(
        value for key, value in GOLDEN.items() if name.split(maxsplit=1)[0] in key.lower().replace("-", " ")
    )
    page, block = next(circuit_of(text.encode()))
    drawing = draw(page, effort=FIRST)
    rng = random.Random(5)
    done, refused = 0, 0
    for _ in range(24):
        symbol = rng.choice(drawing.symbols)
        by = (rng.randint(-7, 7), rng.randint(-7, 7))
        try:
            found = moved(page, drawing, symbol.element, by)
        except UserInputError:
            refused += 1
            continue
        done += 1
        key = symbol.element.lower()
        assert differences(block, found) == []
        assert not faults_of(found)
        assert (found.places[key].x, found.places[key].y) == (
            drawing.places[key].x + by[0], drawing.places[key].y + by[1],
        )  # fmt: skip
        assert {k: v for k, v in found.places.items() if k != key} == {
            k: v for k, v in drawing.places.items() if k != key
        }
        drawing = found
    assert done
    assert refused
    # As it is kept, without the sides of boxes, it comes back; far apart, or of another circuit, it does not.
    kept = {key: place._replace(sides=Sides()) for key, place in drawing.places.items()}
    again = arranged(page, kept)
    assert again is not None
    assert again.places == drawing.places
    assert arranged(page, kept | {next(iter(kept)): Place(10**9, 0, False, 0, True, Sides())}) is None
    assert arranged(page, {"zz": Place(0, 0, False, 0, True, Sides())}) is None
    with pytest.raises(UserInputError, match="cannot stand there"):
        moved(page, drawing, drawing.symbols[0].element, (10**7, 0))


def test_names_come_first_in_a_search_and_values_are_found_where_they_stand() -> None:
    text = (
        "t\nV1 in 0 1\nR1 in out 1k\nR10 out 0 1k ; 电阻\nR2 out 0\n+ 4.7k\nQ1 out in 0 n1\n.model n1 npn\n"
    )
    page, _ = next(circuit_of(text.encode()))
    drawing = draw(page, effort=FIRST)
    assert [each.element for each in find(drawing, " r1 ")] == ["R1", "R10"]
    assert find(drawing, "OUT")[0].net == "out"
    assert find(drawing, "  ") == ()
    assert find(drawing, "no such") == ()
    by_name = {each.element: each for each in drawing.symbols}
    for name, value in (("R1", "1k"), ("R2", "4.7k"), ("Q1", "n1")):
        place = place_of(by_name[name], text)
        assert place is not None
        assert text.encode()[place.start : place.end] == value.encode()
    shifted = "电路\r\n\n" + text
    assert place_of(by_name["R1"], shifted) is None
    assert place_of(by_name["R1"], "") is None
    assert checked(by_name["R1"], "4µ") == "4u"
    assert checked(by_name["Q1"], "2N3904") == "2N3904"
    for name, wrong in (("R1", "n1"), ("R1", "1k\nR9 a b 1"), ("Q1", ""), ("Q1", "a b"), ("Q1", "a;b")):
        with pytest.raises(UserInputError):
            checked(by_name[name], wrong)


def test_the_value_of_a_part_that_was_translated_is_found_in_the_text_of_its_author() -> None:
    text = "* step-up.asc\nV1 in 0 5 Rser=1\nL1 in out 15µ\nC1 out 0 1u Rser=1u\nR1 out 0 1\n.op\n.end\n"
    netlist = Netlist.parse(text.encode())
    translated = translate(netlist, "ltspice")
    page, _ = next(circuit_of(translated.netlist.to_bytes()))
    by_name = {each.element: each for each in draw(page, effort=FIRST).symbols}
    for name, value in (("V1", "5"), ("L1", "15µ"), ("C1", "1u"), ("R1", "1")):
        place = place_of(by_name[name], text)
        assert place is not None
        assert text.encode()[place.start : place.end].decode() == value
