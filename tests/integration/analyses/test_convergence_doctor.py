"""Ten circuits that do not converge as written: the cause is named, a remedy tried in a copy converges."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest

from application.app import Application
from application.simulation.simulating import SimulationRequest
from domain.simulation.convergence import has_trouble

CORPUS = Path(__file__).parents[2] / "corpus" / "convergence"
CAUSES = {
    "parallel_sources": "voltage-source-loop",
    "switch_sawtooth": "ideal-switch",
    "table_astable": "steep-source",
    "current_into_capacitor": "current-source-without-path",
    "inductor_across_source": "inductor-loop",
    "tight_tolerances": "tolerances-too-tight",
    "sign_schmitt": "discontinuous-source",
    "bare_multivibrator": "no-charge-storage",
    "zener_on_source": "no-series-resistance",
    "square_root_source": "out-of-range-function",
}
GUESSED = {"current_into_capacitor", "inductor_across_source"}
"""Without an operating point, where ngspice 39 goes on from a guess instead of failing."""


def test_half_of_them_are_from_public_sources() -> None:
    decks = sorted(CORPUS.glob("*.cir"))
    assert {deck.stem for deck in decks} == set(CAUSES)
    assert sum("* Source:" in deck.read_text() for deck in decks) >= 5


async def test_causes_are_named_and_remedies_converge(app: Application, tmp_path: Path) -> None:
    named, mended, table = 0, 0, []
    for name, cause in CAUSES.items():
        circuit = tmp_path / f"{name}.cir"
        await asyncio.to_thread(shutil.copy, CORPUS / circuit.name, circuit)
        before = await asyncio.to_thread(circuit.read_bytes)
        plain = await app.simulation.run(SimulationRequest(circuit=circuit))
        assert has_trouble(plain.issues), name
        assert plain.ok == (name in GUESSED), name
        diagnosis = await app.simulation.analyze_convergence(circuit)
        assert diagnosis.cause is not None
        named += diagnosis.cause.code == cause
        proposal = diagnosis.proposal
        if proposal is not None:
            mended += await _converges(app, proposal.remedy.netlist.to_bytes(), tmp_path)
            assert proposal.diff.startswith("---")
        assert await asyncio.to_thread(circuit.read_bytes) == before
        table.append(f"{name:24} {diagnosis.cause.code:28} {proposal.remedy.code if proposal else '-'}")
    print("\n".join(table))
    assert named >= 8, table
    assert mended >= 6, table


async def _converges(app: Application, deck: bytes, folder: Path) -> bool:
    """Simulated once more as a file of its own."""
    mended = folder / "mended.cir"
    await asyncio.to_thread(mended.write_bytes, deck)
    result = await app.simulation.run(SimulationRequest(circuit=mended))
    return result.ok and not has_trouble(result.issues)


async def test_a_circuit_that_converges_has_no_cause(app: Application, tmp_path: Path) -> None:
    circuit = tmp_path / "good.cir"
    await asyncio.to_thread(circuit.write_text, "rc\nV1 a 0 1\nR1 a 0 1k\n.op\n.end\n")
    diagnosis = await app.simulation.analyze_convergence(circuit)
    assert (diagnosis.cause, diagnosis.trials) == (None, ())


async def test_nothing_of_the_trials_is_kept(app: Application, tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / ".circuit_ai").mkdir(parents=True)
    circuit = project / "loop.cir"
    await asyncio.to_thread(shutil.copy, CORPUS / "parallel_sources.cir", circuit)
    await app.simulation.analyze_convergence(circuit)
    left = await asyncio.to_thread(lambda: [path for path in project.rglob("*") if path.is_file()])
    assert left == [circuit]


@pytest.mark.parametrize(
    ("deck", "cause"),
    [
        ("x\nV1 a 0 1\nB1 b 0 V=v(b)*v(b)+1+v(a)\nR1 b 0 1k\n.op\n.end\n", "algebraic-loop"),
        ("x\nV1 a 0 5\nC1 a b 1u\nC2 b 0 1u\nD1 b c dm\nC3 c 0 1n\n.model dm d\n.op\n.end\n", "no-dc-path"),
    ],
)
async def test_other_causes(deck: str, cause: str, app: Application, tmp_path: Path) -> None:
    circuit = tmp_path / "x.cir"
    await asyncio.to_thread(circuit.write_text, deck)
    diagnosis = await app.simulation.analyze_convergence(circuit)
    assert diagnosis.cause is not None
    assert diagnosis.cause.code == cause


async def test_every_part_without_direct_current_gets_its_path(app: Application, tmp_path: Path) -> None:
    circuit = tmp_path / "x.cir"
    deck = "x\nV1 a 0 1\nC1 a b 1n\nC2 b 0 1n\nC3 b c 1n\nR1 c d 1k\nC4 d 0 1n\n.op\n.end\n"
    await asyncio.to_thread(circuit.write_text, deck)
    diagnosis = await app.simulation.analyze_convergence(circuit)
    assert diagnosis.cause is not None
    assert (diagnosis.cause.code, set(diagnosis.cause.nodes)) == ("no-dc-path", {"b", "c", "d"})
    assert diagnosis.proposal is not None
    assert diagnosis.proposal.remedy.code == "path-to-ground"


async def test_all_loops_are_opened_at_once(app: Application, tmp_path: Path) -> None:
    circuit = tmp_path / "x.cir"
    deck = (
        "x\nV1 1 0 SIN(0 10 1k)\nR1 1 2 10\nL1 2 4 10m\nL2 2 4 50m\nL3 2 4 25m\nR2 4 0 10\n"
        ".tran 10u 5m\n.end\n"
    )
    await asyncio.to_thread(circuit.write_text, deck)
    diagnosis = await app.simulation.analyze_convergence(circuit)
    assert diagnosis.proposal is not None
    assert diagnosis.proposal.remedy.code == "series-resistance"
