"""Amplifiers sized to tight targets: what the search promises, and against other methods."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from application.app import Application
from application.optimization.tuning import TuneRequest
from domain.studies.search_space import search_space
from tests.sizing.compare import Bench, compare, ours
from tests.sizing.problems import AMPLIFIERS


async def test_an_op_amp_with_eight_parameters_meets_four_narrow_bands(
    app: Application, tmp_path: Path
) -> None:
    case = AMPLIFIERS["two-stage"]
    circuit = tmp_path / "amplifier.cir"
    circuit.write_text(case.deck("level 1"))
    bands = {"gain": (78.1, 78.6), "ugf": (36.1e6, 38.3e6), "pm": (73, 76), "supply": (0.49e-3, 0.52e-3)}
    async with app.design.tune(TuneRequest(circuit=circuit, spec=case.spec)) as live:
        space = search_space(case.spec.parameters)
        bench = Bench(live, asyncio.get_running_loop(), space, dict(live.nominals))
        count = await asyncio.to_thread(ours, bench, bands, 1)
    assert count is not None
    assert count <= 60, "one simulation a parameter, and a few more"


@pytest.mark.torture
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(
    ("amplifier", "models", "least_share", "most_median"),
    [
        ("two-stage", "level 1", 0.9, 25),
        ("two-stage", "BSIM4", 0.9, 25),
        ("one-stage", "level 1", 0.9, 20),
        ("one-stage", "BSIM4", 0.9, 25),
        ("folded", "level 1", 0.75, 25),
        ("folded", "BSIM4", 0.75, 120),
    ],
)
async def test_tight_targets_take_few_simulations(
    app: Application, amplifier: str, models: str, least_share: float, most_median: float
) -> None:
    found = await compare(app, amplifier, models, targets=30, seeds=3)
    mine = found.pop("ours")
    assert mine.share >= least_share
    assert mine.median <= most_median
    for other in found.values():
        assert mine.share >= other.share
        assert mine.median < other.median
