"""Files that circuits of others include: from folders above, lost ones, with a byte-order mark."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from application.app import Application
from application.simulation.checking import CheckCircuit
from application.simulation.simulating import SimulationRequest
from infrastructure.persistence.source_files import SourceReaderFactory

DECK = "x\n.include parts.inc\nV1 a 0 2\nX1 a half\n.op\n.meas op v find v(a)\n.end\n"
PARTS = ".subckt half a\nR1 a 0 1k\n.ends\n"


@pytest.fixture
def deck(tmp_path: Path) -> Path:
    (tmp_path / "lab/.circuit_ai").mkdir(parents=True)
    (tmp_path / "lab/one/two").mkdir(parents=True)
    (tmp_path / "lab/one/two/deck.cir").write_text(DECK)
    return tmp_path / "lab/one/two/deck.cir"


async def test_what_they_include_is_found_and_said(app: Application, deck: Path) -> None:
    check = CheckCircuit(sources=SourceReaderFactory())
    lost = await check(deck)
    assert [(d.severity, d.code) for d in lost.diagnostics][:1] == [("error", "include-missing")]
    await asyncio.to_thread((deck.parents[2] / "parts.inc").write_text, PARTS)
    (note,) = (await check(deck)).diagnostics
    assert (note.severity, note.code, note.line) == ("info", "include-above", 2)
    assert f"from the folder {deck.parents[2]}" in str(note.message)
    result = await app.simulation.run(SimulationRequest(circuit=deck))
    assert result.ok, [str(issue.message) for issue in result.issues]
    assert result.metrics["v"].value == 2
    await asyncio.to_thread((deck.parent / "parts.inc").write_text, PARTS)
    assert not (await check(deck)).diagnostics


async def test_a_name_of_windows_is_found_and_said(app: Application, deck: Path) -> None:
    folder = deck.parent / "Models"
    await asyncio.to_thread(folder.mkdir)
    await asyncio.to_thread((folder / "Parts.inc").write_text, PARTS)
    await asyncio.to_thread(deck.write_text, DECK.replace("parts.inc", "models\\PARTS.INC"))
    (note,) = (await CheckCircuit(sources=SourceReaderFactory())(deck)).diagnostics
    assert (note.severity, note.code, note.line) == ("info", "include-otherwise", 2)
    assert "is the file Parts.inc here" in str(note.message)
    result = await app.simulation.run(SimulationRequest(circuit=deck))
    assert result.ok, [str(issue.message) for issue in result.issues]
    assert result.metrics["v"].value == 2
    await asyncio.to_thread((folder / "PARTS.inc").write_text, "* another")  # which one is meant?
    lost = await CheckCircuit(sources=SourceReaderFactory())(deck)
    assert [(d.severity, d.code) for d in lost.diagnostics][:1] == [("error", "include-missing")]


async def test_a_template_is_called_one(app: Application, deck: Path) -> None:
    template = DECK.replace("parts.inc", "../../../work/${CELL}_lpe.spi")
    await asyncio.to_thread(deck.write_text, template)
    result = await app.simulation.run(SimulationRequest(circuit=deck))
    told = next(issue for issue in result.issues if issue.severity == "error")
    assert (told.file, told.line) == (deck, 2)
    assert "${CELL} is a placeholder" in str(told.message)
    assert told.advice is None


async def test_a_lost_file_of_another_machine_has_its_place(app: Application, deck: Path) -> None:
    lost = DECK.replace(".include parts.inc", '* models\n.include "C:\\tools\\models\\Nmos.mod"')
    await asyncio.to_thread(deck.write_text, lost)
    result = await app.simulation.run(SimulationRequest(circuit=deck))
    told = next(issue for issue in result.issues if issue.code == "missing-include")
    assert (told.file, told.line) == (deck, 3)
    # ngspice leaves the file that names it at that line, and finds nothing of what stands behind it
    await asyncio.to_thread((deck.parent / "parts.inc").write_text, ".include gone.inc\n.model d1n d\n")
    await asyncio.to_thread(deck.write_text, "t\n.include parts.inc\nV1 a 0 1\nD1 a 0 d1n\n.op\n.end\n")
    result = await app.simulation.run(SimulationRequest(circuit=deck))
    assert {issue.code for issue in result.issues} == {"missing-include"}


async def test_a_library_that_begins_with_a_byte_order_mark_is_read(app: Application, deck: Path) -> None:
    library = "\ufeff.lib typical\n" + PARTS + ".endl\n"
    await asyncio.to_thread((deck.parent / "m.lib").write_text, library, encoding="utf-8")
    text = DECK.replace(".include parts.inc", ".lib m.lib typical")
    await asyncio.to_thread(deck.write_text, text)
    assert not (await CheckCircuit(sources=SourceReaderFactory())(deck)).diagnostics
    result = await app.simulation.run(SimulationRequest(circuit=deck))
    assert result.ok, [str(issue.message) for issue in result.issues]
    assert result.metrics["v"].value == 2
