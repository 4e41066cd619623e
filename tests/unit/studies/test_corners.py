"""Corners: lists, matrices, processes, and the library sections they choose."""

from __future__ import annotations

from pathlib import Path

import pytest

from domain.circuit.dependencies import DependencyTree, resolve_dependencies
from domain.circuit.netlist import Netlist
from domain.studies.corners import (
    Corner,
    Process,
    Setting,
    process_corners,
    supply_of,
    usual_corners,
    with_process,
)
from domain.studies.study_spec import read_study_spec
from shared.errors import UserInputError
from tests.fakes.memory_sources import MemorySources


def corners(node: object, **more: object) -> tuple[Corner, ...]:
    return read_study_spec({"corners": node, **more}).corners.corners


def settings(corner: Corner) -> dict[str, float]:
    return {item.name: item.at(10.0) for item in corner.all_settings}


def test_a_matrix_is_every_combination() -> None:
    found = corners({"process": ["TT", "SS"], "voltage": {"vdd": [1.62, 1.98]}, "temp": [-40, 125]})
    assert len(found) == 8
    assert found[0].name == "TT_vdd=1.62_-40C"
    assert settings(found[-1]) == {"vdd": 1.98, "temp": 125}


def test_a_list_takes_names_objects_and_anything_the_circuit_has() -> None:
    tt, hot, low = corners(
        ["TT", {"name": "hot", "process": "SS", "temp": "125", "Rload": "2k"}, {"voltage": "-10%"}]
    )
    assert tt.process == Process(name="TT", sections=(("", "TT"),))
    assert (hot.name, settings(hot)) == ("hot", {"Rload": 2000, "temp": 125})
    assert low.settings == (Setting(name="", value=0.9, is_factor=True),)


def test_a_library_is_named_as_on_its_card_and_values_in_an_object() -> None:
    [corner] = corners([{"lib": "models.lib ss", "params": {"vdd": "1.62"}, "temperature": 125}])
    assert corner.process is not None
    assert corner.process.sections == (("models.lib", "ss"),)
    assert settings(corner) == {"vdd": 1.62, "temp": 125}


def test_processes_are_defined_by_model_parameters() -> None:
    found = corners(["FF"], processes={"ff": {"nch.vto": 0.4, "set": {"pch.vto": -0.4}}})
    assert found[0].process is not None
    assert found[0].process.sections == ()
    assert settings(found[0]) == {"nch.vto": 0.4, "pch.vto": -0.4}


def test_a_corner_wins_over_its_process() -> None:
    found = corners([{"process": "FF", "x": 5}], processes={"FF": {"x": 1, "y": 2}})
    assert settings(found[0]) == {"x": 5, "y": 2}


def test_corners_of_one_name_are_told_apart() -> None:
    assert [corner.name for corner in corners(["TT", "TT", {"name": "TT", "temp": 1}])] == [
        "TT",
        "TT#2",
        "TT#3",
    ]


def test_a_matrix_beyond_reason_is_refused() -> None:
    with pytest.raises(UserInputError, match="makes 1000000 corners"):
        corners({"temp": list(range(1000)), "x": list(range(1000))})


LIB = b"* models\n.lib tt\n.param a=1\n.endl\n.lib FF\n.param a=2\n.endl\n"
DECK = b"t\n.lib models.lib tt\n.LIB 'other.lib' TT\nR1 a 0 1k\n.end\n"


def tree() -> DependencyTree:
    folder = Path("/project")
    sources = MemorySources({folder / "models.lib": LIB, folder / "other.lib": b"*\n.lib tt\n.endl\n"})
    return resolve_dependencies(Netlist.parse(DECK, path=folder / "deck.cir"), sources)


def test_a_process_changes_the_sections_of_the_libraries_that_have_it() -> None:
    found = with_process(tree(), Process(name="ff", sections=(("", "ff"),)))[0].to_bytes()
    assert found == DECK.replace(b"models.lib tt", b"models.lib FF")
    both = with_process(tree(), Process(name="tt", sections=(("", "TT"),)))[0].to_bytes()
    assert both == DECK.replace(b"' TT", b"' tt"), "as the library writes it"
    one = Process(name="x", sections=(("models.lib", "FF"),))
    assert with_process(tree(), one)[0].to_bytes() == DECK.replace(b"models.lib tt", b"models.lib FF")


def test_an_unknown_section_lists_those_there_are() -> None:
    with pytest.raises(UserInputError) as error:
        with_process(tree(), Process(name="ss", sections=(("", "ss"),)))
    assert "tt, FF" in str(error.value.advice)
    with pytest.raises(UserInputError, match=r"other\.lib"):
        with_process(tree(), Process(name="ff", sections=(("other.lib", "ff"),)))


def test_the_usual_corners_are_those_the_libraries_have() -> None:
    assert [corner.name for corner in usual_corners(tree())] == ["TT", "FF"]
    bare = resolve_dependencies(Netlist.parse(b"t\nR1 a 0 1k\n"), MemorySources({}))
    with pytest.raises(UserInputError) as error:
        usual_corners(bare)
    assert "corners" in str(error.value.advice)
    with pytest.raises(UserInputError, match=r"has no \.lib line"):
        with_process(bare, Process(name="ff", sections=(("", "ff"),)))


def test_a_corner_is_the_section_that_differs_in_the_corner_alone() -> None:
    folder = Path("/project")
    sections = ("mos_tt", "mos_ss", "mos_sf", "mos_ss_mm", "slow")
    library = "".join(f".lib {name}\n.endl\n" for name in sections)
    resistors = b"*\n.lib typical\n.endl\n.lib slow\n.endl\n"
    sources = MemorySources({folder / "m.lib": f"*\n{library}".encode(), folder / "r.lib": resistors})
    deck = b"t\n.lib m.lib mos_tt\n.lib r.lib typical\n.end\n"
    found = resolve_dependencies(Netlist.parse(deck, path=folder / "deck.cir"), sources)
    assert process_corners(found) == ("TT", "SS", "SF")
    for name in ("SS", "慢角"):
        slow, _ = with_process(found, Process(name=name, sections=(("", name),)))
        assert slow.to_bytes() == deck.replace(b"mos_tt", b"mos_ss").replace(b"typical", b"slow")


def test_a_section_picked_in_an_included_file_is_that_of_the_corner() -> None:
    folder = Path("/project")
    models = b"* set\n.lib models.lib tt\n.lib own\n.lib other.lib tt\n.endl\n"
    files = {folder / "set.inc": models, folder / "other.lib": b"*\n.lib tt\n.endl\n.lib FF\n.endl\n"}
    sources = MemorySources({folder / "models.lib": LIB, **files})
    deck = b"t\n.include set.inc\nR1 a 0 1k\n.end\n"
    found = resolve_dependencies(Netlist.parse(deck, path=folder / "deck.cir"), sources)
    assert process_corners(found) == ("TT", "FF")
    root, texts = with_process(found, Process(name="FF", sections=(("", "FF"),)))
    assert root is found.root, "the main file stays"
    assert texts == {folder / "set.inc": models.replace(b"models.lib tt", b"models.lib FF")}
    with pytest.raises(UserInputError) as error:
        with_process(found, Process(name="ss", sections=(("", "ss"),)))
    assert "tt, FF" in str(error.value.advice)


@pytest.mark.parametrize(
    ("deck", "supply"),
    [
        ("t\n.param vdd=1.8\nV1 a 0 {vdd}\nV2 b 0 1\n", "vdd"),
        ("t\nVin a 0 1\nVCC b 0 12\n", "VCC"),
        ("t\nVs a 0 5\nR1 a 0 1\n", "Vs"),
        ("t\nVbat a 0 5\nR1 a 0 1\n", "Vbat"),
    ],
)
def test_the_supply_is_found(deck: str, supply: str) -> None:
    assert supply_of(Netlist.parse(deck.encode())) == supply


def test_two_supplies_have_to_be_named() -> None:
    with pytest.raises(UserInputError, match="vdd, vcc"):
        supply_of(Netlist.parse(b"t\n.param vdd=1 vcc=2\n"))
