"""Values that change under a slider, on a circuit that stays loaded."""

from __future__ import annotations

import asyncio
import math
from dataclasses import replace
from pathlib import Path

import pytest

from application.app import Application
from application.optimization.tuning import TuneRequest
from domain.studies.study_spec import read_study_spec
from shared.errors import CircuitError, UserInputError

RC = "rc\n.param cload=1n\nV1 in 0 AC 1\nR1 in out 1k\nC1 out 0 {cload}\n.ac dec 20 1 1g\n.end\n"


def request(folder: Path, deck: str = RC) -> TuneRequest:
    circuit = folder / "deck.cir"
    circuit.write_text(deck)
    spec = read_study_spec({
        "parameters": [{"name": "R1"}, {"name": "cload"}], "measure": {"bw": "bandwidth(v(out))"}
    })  # fmt: skip
    return TuneRequest(circuit=circuit, spec=spec)


def cutoff(r: float, c: float) -> float:
    return 1 / (2 * math.pi * r * c)


async def test_of_two_hundred_quick_changes_the_last_is_shown(app: Application, tmp_path: Path) -> None:
    async with app.design.tune(request(tmp_path)) as tuning:
        assert tuning.nominals == {"R1": 1000, "cload": 1e-9}
        changes = [{"R1": 1000.0 + number} for number in range(200)]
        points = await asyncio.gather(*(tuning.evaluate(values) for values in changes))
        shown = [point for point in points if point is not None]
        assert points[-1] is shown[-1] is not None
        assert 1 <= len(shown) < 200, "what was overtaken while it waited is not simulated"
        for point in shown:
            assert point.metrics["bw"] == pytest.approx(cutoff(point.values["R1"], 1e-9), rel=1e-3)


async def test_curves_follow_where_nothing_is_measured(app: Application, tmp_path: Path) -> None:
    asked = request(tmp_path)
    async with app.design.tune(replace(asked, spec=replace(asked.spec, measures={}))) as tuning:
        point = await tuning.evaluate({"R1": 2000.0})
        assert point is not None
        assert (point.state, dict(point.metrics)) == ("ok", {})
        frequency, curve = (point.plots[0].vectors[name].data for name in ("frequency", "v(out)"))
        assert abs(curve[-1]) == pytest.approx(cutoff(2e3, 1e-9) / frequency[-1].real, rel=1e-3)


async def test_changes_one_by_one_are_all_done_and_independent(app: Application, tmp_path: Path) -> None:
    async with app.design.tune(request(tmp_path)) as tuning:
        for number in range(60):
            values = {"R1": 500.0 + 50 * number} if number % 2 else {"cload": 1e-9 * (1 + number)}
            point = await tuning.evaluate(values)
            assert point is not None
            wanted = {"R1": 1000, "cload": 1e-9, **values}
            assert point.values == wanted
            assert point.metrics["bw"] == pytest.approx(cutoff(*wanted.values()), rel=1e-3)
            assert point.units == {"bw": "Hz"}
            assert "v(out)" in point.plots[0].vectors


async def test_a_bad_value_costs_one_point_only(app: Application, tmp_path: Path) -> None:
    deck = RC.replace(".param cload=1n", ".param cload=1n n={1/(cload-2n)}")
    async with app.design.tune(request(tmp_path, deck)) as tuning:
        failed = await tuning.evaluate({"cload": 2e-9})
        assert failed is not None
        assert failed.state == "ok" or math.isnan(failed.metrics["bw"])
        good = await tuning.evaluate({"cload": 1e-9})
        assert good is not None
        assert good.metrics["bw"] == pytest.approx(cutoff(1e3, 1e-9), rel=1e-3)


async def test_a_change_that_is_given_up_does_not_block_the_next(app: Application, tmp_path: Path) -> None:
    async with app.design.tune(request(tmp_path)) as tuning:
        first = asyncio.ensure_future(tuning.evaluate({"R1": 1.0}))
        second = asyncio.ensure_future(tuning.evaluate({"R1": 2.0}))
        await asyncio.sleep(0)
        second.cancel()
        first.cancel()
        await asyncio.gather(first, second, return_exceptions=True)
        point = await tuning.evaluate({"R1": 2000.0})
        assert point is not None
        assert point.metrics["bw"] == pytest.approx(cutoff(2e3, 1e-9), rel=1e-3)


async def test_what_cannot_be_tuned_is_refused(app: Application, tmp_path: Path) -> None:
    async with app.design.tune(request(tmp_path)) as tuning:
        for values in ({"R2": 1.0}, {"R1": math.nan}):
            with pytest.raises(UserInputError):
                await tuning.evaluate(values)
    with pytest.raises(CircuitError):
        async with app.design.tune(
            request(tmp_path, RC.replace("R1 in out 1k", "R1 in out 1k\nD1 out 0 none"))
        ):
            pass
