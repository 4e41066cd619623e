"""What a circuit offers for a study."""

from __future__ import annotations

from pathlib import Path

import pytest

from application.app import Application
from domain.studies.setup import fitting


@pytest.mark.parametrize(
    ("sources", "supplies"),
    [
        ("Vin in 0 DC 0 AC 1", ()),  # ten percent of nothing is no corner
        ("Vin in 0 DC 0 AC 1\nVB b 0 5", ("VB",)),
        (".param vdd=3.3 none=0\nVA a 0 {none}\nVP in 0 {vdd}", ("vdd", "VP")),
    ],
)
async def test_a_source_of_no_volts_is_no_supply(
    app: Application, tmp_path: Path, sources: str, supplies: tuple[str, ...]
) -> None:
    circuit = tmp_path / "rc.cir"
    text = f"* RC\n{sources}\nR1 in out 1k\nC1 out 0 1n\n.ac dec 5 1k 1meg\n.end\n"
    circuit.write_bytes(text.encode())
    assert (await app.simulation.study_offer(circuit)).supplies == supplies


async def test_values_of_a_part_that_is_included_are_offered_by_their_names(
    app: Application, tmp_path: Path
) -> None:
    circuit = tmp_path / "bench.cir"
    circuit.write_text("* bench\n.include part.inc\nV1 in 0 AC 1\nR1 in a 1k\n.ac dec 5 1k 1meg\n.end\n")
    (tmp_path / "part.inc").write_text("R7 a b 2k\nC7 b 0 1n\n.subckt deep x y\nR9 x y 1\n.ends\n")
    offer = await app.simulation.study_offer(circuit)
    assert {each.name: each.value for each in offer.adjustables if each.name[0] in "RC"} == {
        "R1": 1e3, "R7": 2e3, "C7": 1e-9,
    }  # fmt: skip
    assert [each.name for each in fitting("R*", offer)] == ["R1"]
    assert [each.name for each in fitting("r7", offer)] == ["R7"]
