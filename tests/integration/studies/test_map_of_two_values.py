"""A map of two values: its figures are those of bare ngspice, its borders those of the formula."""

from __future__ import annotations

import asyncio
import math
import re
import subprocess
from pathlib import Path

import pytest

from domain.studies.study import StudyResult
from presentation.study_map import plane_of
from shared.errors import UserInputError
from tests.integration.studies.conftest import Study

DECK = "low-pass\nV1 in 0 AC 1\nR1 in out 1k\nC1 out 0 100n\n{more}.ac dec 40 10 1meg\n.end\n"
BW = {"bw": "bandwidth(v(out))"}
BOTH = {**BW, "level": "at(db(v(out)), 1k)"}
BARE = (
    "t\nV1 in 0 AC 1\nR1 in out {r}\nC1 out 0 {c}\n.control\nac dec 40 10 1meg\nlet db = vdb(out)\n"
    "meas ac bw when db=-3.0103\nmeas ac level find db at=1k\n.endc\n.end\n"
)


async def bare(folder: Path, resistance: float, capacitance: float) -> list[float]:
    """Bandwidth and level at 1 kHz as ngspice alone finds them."""
    deck = folder / "bare.cir"
    deck.write_text(BARE.format(r=repr(resistance), c=repr(capacitance)))
    done = await asyncio.to_thread(
        subprocess.run, ["ngspice", "-b", deck.name], cwd=folder, capture_output=True, text=True, check=False
    )
    return [float(value) for value in re.findall(r"(?:bw|level)\s+=\s+(\S+)", done.stdout)]


async def test_its_figures_are_those_of_bare_ngspice_and_its_borders_those_of_the_formula(
    study: Study, tmp_path: Path
) -> None:
    parameters = [{"name": "R1"}, {"name": "C1", "min": "33n", "max": "300n", "scale": "log"}]
    result: StudyResult = await study(
        "map", DECK.format(more=""), parameters=parameters, measure=BOTH, goals=["1k <= bw <= 3k"],
        time_limit=60,
    )  # fmt: skip
    assert result.ok
    assert result.failed == 0
    assert result.nominal is not None
    assert result.nominal.parameters == {"R1": 1e3, "C1": 1e-7}
    assert result.nominal.metrics["bw"] == pytest.approx(1591.5, rel=1e-3)
    plane = result.plane
    assert plane is not None
    assert plane.nodes == 65
    for row in result.rows[:: len(result.rows) // 5]:
        alone = await bare(tmp_path, row.parameters["R1"], row.parameters["C1"])
        assert row.metrics["level"] == pytest.approx(alone[1], rel=1e-5)
        assert row.metrics["bw"] == pytest.approx(alone[0], rel=5e-4)  # between two points of its axis
        assert row.goals_met is (1e3 <= row.metrics["bw"] <= 3e3)
    best = next(row for row in result.rows if row.run == plane.best_run)
    assert best.metrics["bw"] == pytest.approx(2e3, rel=0.05)

    from application.studies.documents import stored_document
    from application.studies.under_way import so_far

    content = plane_of(so_far(result, "map", stored_document(result)), {"r1": 1e3, "C1": 1e-7})
    assert content is not None
    assert [border.name.replace("\u00a0", " ") for border in content.borders] == ["bw ≥ 1 kHz", "bw ≤ 3 kHz"]
    (x, y) = plane.axes
    for border, bound in zip(content.borders, (1e3, 3e3), strict=True):
        (line,) = border.lines
        for across, up in line:
            product = x.low * (x.high / x.low) ** across * y.low * (y.high / y.low) ** up
            assert 1 / (2 * math.pi * product) == pytest.approx(bound, rel=0.01)
    assert content.present == pytest.approx((x.share(1e3), y.share(1e-7)))
    share = sum(row.goals_met is True for row in result.rows[:81]) / 81
    assert plane.share_met == pytest.approx(share, abs=0.1)


async def test_without_time_the_first_grid_is_all_there_is(study: Study) -> None:
    parameters = [{"name": "R1"}, {"name": "C1"}]
    result = await study(
        "map", DECK.format(more=""), parameters=parameters, measure=BW, goals=["bw >= 1k"], time_limit=1e-3
    )
    assert len(result.rows) == 81
    assert result.plane is not None
    assert result.plane.nodes == 9


async def test_what_makes_no_map_is_said(study: Study) -> None:
    two = [{"name": "R1"}, {"name": "C1"}]
    for spec, said in (
        ({"parameters": two, "measure": BW}, "goals are missing"),
        ({"measure": BW, "goals": ["bw >= 1k"]}, "parameters are missing"),
        ({"parameters": [{"name": "*"}], "measure": BW, "goals": ["bw >= 1k"]}, "must be two for a map, not"),
        ({"parameters": [two[0], {"name": "C1", "values": ["1n"]}], "measure": BW, "goals": ["bw >= 1k"]},
         "is a list of values"),
    ):  # fmt: skip
        with pytest.raises(UserInputError, match=said):
            await study("map", DECK.format(more="R9 out 0 1meg\n"), **spec)
