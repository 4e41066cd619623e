"""`schematic` as scripts use it: pictures, figures, what cannot be drawn."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

import bootstrap
from application.project.window_state import CircuitView, ProjectMemory
from domain.circuit.schematic.drawing import moved
from tests.fakes.schematic_circuits import GOLDEN
from tests.integration.cli.conftest import Cli

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def circuit(tmp_path: Path) -> Path:
    path = tmp_path / "ce.cir"
    path.write_text(GOLDEN["common_emitter"])
    return path


def test_a_picture_has_every_element_and_the_figures_say_so(cli: Cli, circuit: Path, tmp_path: Path) -> None:
    target = tmp_path / "ce.svg"
    done = cli("schematic", circuit, "-o", target, "--json")
    assert done.exit_code == 0
    told = done.document
    assert (told["elements"], told["nets"], told["path"], told["format"]) == (11, 7, str(target), "svg")
    assert told["crossings"] == 0
    assert told["undrawn"] == []
    root = ElementTree.fromstring(target.read_text())
    drawn = {group.get("data-element") for group in root.iter(f"{SVG}g")} - {None}
    assert drawn == {"VIN", "C1", "R1", "R2", "RC", "RE", "CE", "Q1", "C2", "RL"}
    texts = {text.text for text in root.iter(f"{SVG}text")}
    assert {"Common emitter", "VCC: vcc = 12", "Q1", "BC547", "3.3k", "out"} <= texts


def test_a_picture_is_replaced_when_asked_for_alone_and_is_the_same_again(cli: Cli, tmp_path: Path) -> None:
    circuit, target = tmp_path / "rc.cir", tmp_path / "rc.svg"
    circuit.write_text(GOLDEN["rc_low_pass"])
    assert cli("schematic", circuit, "-o", target).exit_code == 0
    before = target.read_bytes()
    again = cli("schematic", circuit, "-o", target)
    assert again.exit_code == 2
    assert "--force" in again.stderr
    assert cli("schematic", circuit, "-o", target, "--force").exit_code == 0
    assert target.read_bytes() == before


def test_symbols_theme_and_forms(cli: Cli, tmp_path: Path) -> None:
    circuit = tmp_path / "rc.cir"
    circuit.write_text(GOLDEN["rc_low_pass"])
    for number, options in enumerate((("--symbols", "us"), ("--theme", "dark"), ())):
        assert cli("schematic", circuit, "-o", tmp_path / f"{number}.svg", *options).exit_code == 0
    pictures = {(tmp_path / f"{number}.svg").read_text() for number in range(3)}
    assert len(pictures) == 3
    for form, start in (("png", b"\x89PNG"), ("pdf", b"%PDF")):
        done = cli("schematic", circuit, "-o", tmp_path / f"x.{form}")
        assert done.exit_code == 0, done.stderr
        assert (tmp_path / f"x.{form}").read_bytes().startswith(start)


def test_a_page_of_a_subcircuit(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "buffered.cir"
    path.write_text(
        "buffered\nV1 in 0 AC 1\nX1 in out opamp2p\nR1 out 0 1k\n"
        ".subckt opamp2p inp out\nRin inp 0 1meg\nE1 p 0 inp out 1e5\nR1 p out 1k\nC1 out 0 1n\n.ends\n"
        ".op\n.end\n"
    )
    top = cli("schematic", path, "-o", tmp_path / "top.svg", "--json").document
    assert top["subcircuits"] == ["opamp2p"]
    done = cli("schematic", path, "-o", tmp_path / "in.svg", "--subcircuit", "OPAMP2P", "--json").document
    assert done["elements"] > 3
    assert 'data-element="inp"' in (tmp_path / "in.svg").read_text()


def test_what_cannot_be_is_told_with_advice(cli: Cli, circuit: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty.cir"
    empty.write_text("nothing\n.op\n.end\n")
    torn = tmp_path / "torn.cir"
    torn.write_text("torn\nR1 a\n.end\n")
    cases = {
        ("schematic", tmp_path / "no.cir", "-o", tmp_path / "x.svg"): "file_not_found",
        ("schematic", empty, "-o", tmp_path / "x.svg"): "nothing_to_draw",
        ("schematic", torn, "-o", tmp_path / "x.svg"): "nothing_to_draw",
        ("schematic", circuit, "-o", tmp_path / "x.svg", "--subcircuit", "u"): "unknown_subcircuit",
        ("schematic", circuit, "-o", tmp_path / "x.gif"): "bad_usage",
    }
    for arguments, error_type in cases.items():
        done = cli(*arguments, "--json")
        assert done.exit_code == 2
        (error,) = done.document["errors"]
        assert (error["error_type"], bool(error["advice"])) == (error_type, True)
    assert cli("schematic", torn, "-o", tmp_path / "x.svg", "--json").document["errors"][0]["line"] == 2
    half = tmp_path / "half.cir"
    half.write_text("half\nR1 a\nR2 a b 1k\nR3 b 0 1k\n.end\n")
    done = cli("schematic", half, "-o", tmp_path / "half.svg", LANG="zh_CN.UTF-8")
    assert done.exit_code == 0
    assert "第 2 行无法绘制" in done.stderr
    assert 'data-element="R3"' in (tmp_path / "half.svg").read_text()


def test_parts_stand_where_the_window_put_them(cli: Cli, circuit: Path, tmp_path: Path) -> None:
    app = bootstrap.build()
    page = app.simulation.schematic.pages(circuit).page
    drawing = app.simulation.schematic.draw(page)
    found = moved(page, drawing, "RL", (3, 0))
    kept = {key: (at.x, at.y, at.turn, at.flip, at.upright) for key, at in found.places.items()}
    (circuit.parent / ".circuit_ai").mkdir()
    memory = ProjectMemory(views={"ce.cir": CircuitView(schematic={"": kept})})
    app.program.window_state.save(app.program.window_state.load().with_memory(circuit.parent, memory))
    wire = {
        name: cli("schematic", circuit, "-o", tmp_path / f"{name}.svg", "--json", *options).document["wire"]
        for name, options in (("by-hand", ()), ("tidy", ("--tidy",)))
    }
    assert wire == {"by-hand": found.score.wire, "tidy": drawing.score.wire}
    assert found.score.wire > drawing.score.wire


def test_a_page_that_nobody_could_read_is_refused(cli: Cli, tmp_path: Path) -> None:
    rungs = "".join(f"R{n} n{n} n{n + 1} 1k\nC{n} n{n + 1} 0 1n\n" for n in range(400))
    (tmp_path / "ladder.cir").write_text(f"ladder\nV1 n0 0 1\n{rungs}.op\n.end\n")
    refused = cli("schematic", tmp_path / "ladder.cir", "-o", tmp_path / "x.svg", "--json")
    assert (refused.exit_code, refused.document["errors"][0]["error_type"]) == (2, "too_large")
    assert "801 elements" in refused.document["errors"][0]["message"]
