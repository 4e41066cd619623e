"""What a circuit offers for a study."""

from __future__ import annotations

from pathlib import Path

import pytest

from application.app import Application


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
