"""Yields estimated in idle time: the first runs of the same Monte Carlo, within a budget."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from application.app import Application
from application.studies.idle_yield import LEAST_RUNS, MOST_RUNS
from application.studies.studying import StudyRequest
from domain.studies.study_spec import read_study_spec
from infrastructure.power import is_on_battery
from presentation.yield_words import in_full, in_short, too_slow

DECK = """* divider whose load is drawn by the simulator too
.param load=agauss(1meg, 1k, 1)
V1 in 0 DC 10
R1 in out 1k
R2 out 0 1k
Rload out 0 {load}
.op
.end
"""
SPEC = {
    "parameters": [{"name": "R1", "tolerance": "5%"}, {"name": "R2", "tolerance": "5%"}],
    "measure": {"vout": "v(out)"},
    "goals": ["vout >= 4.85", "vout <= 9"],
    "seed": 7,
    "corners": {"temp": [-40, 27]},
    "at_corners": True,
}


@pytest.mark.timeout(240)
async def test_its_runs_are_the_first_of_the_same_monte_carlo(app: Application, tmp_path: Path) -> None:
    circuit = tmp_path / "divider.cir"
    _write(circuit, DECK)
    found = await app.simulation.idle_yield(circuit, SPEC)
    assert LEAST_RUNS <= found.runs <= MOST_RUNS
    assert not found.is_too_slow
    plain = {key: value for key, value in SPEC.items() if key not in ("corners", "at_corners")}
    spec = read_study_spec({**plain, "runs": found.runs})
    study = await app.simulation.study(StudyRequest(circuit=circuit, kind="montecarlo", spec=spec))
    lower, upper = found.goals
    assert [each.passed for each in study.yields.values()] == [lower.share.passed, upper.share.passed]
    assert lower.share.interval == next(iter(study.yields.values())).interval
    least = min(study.rows, key=lambda row: row.metrics["vout"])
    assert lower.worst == least.parameters
    assert upper.worst is None
    assert 0 < lower.share.passed < found.runs
    words = str(in_short(lower))
    share = round(100 * lower.share.value)
    assert words.startswith(f"{share} % ± ")
    assert str(in_short(upper)).startswith("≥ 9")
    assert f"{lower.share.passed} of {found.runs} runs meet the goal" in str(in_full(found, lower)[0])

    # A machine that others keep busy is no slow circuit: the budget is one of the processor.
    crowded = replace(app.simulation.idle_yield, crowding=lambda: 1e6)
    assert (await crowded(circuit, SPEC, budget_s=1e-3)).runs >= found.runs

    # Where runs take too long for the budget it is said after the first of them.
    alone = replace(app.simulation.idle_yield, crowding=lambda: 1.0)
    slow = await alone(circuit, SPEC, budget_s=1e-6)
    assert slow.is_too_slow
    assert slow.runs == 1
    assert str(too_slow(slow)).startswith("Yield not estimated: a run takes ")


def test_a_battery_is_told_from_mains(tmp_path: Path) -> None:
    assert not is_on_battery(tmp_path / "none")
    for name, properties in (
        ("BAT0", {"type": "Battery", "status": "Discharging"}),
        ("AC", {"type": "Mains", "online": "0"}),
    ):
        (tmp_path / name).mkdir()
        for key, text in properties.items():
            (tmp_path / name / key).write_text(f"{text}\n")
    assert is_on_battery(tmp_path)
    (tmp_path / "AC" / "online").write_text("1\n")
    assert not is_on_battery(tmp_path)


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
