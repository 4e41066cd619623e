"""Currents and powers of elements as measurements of studies: what each run needs of them it saves."""

from __future__ import annotations

from pathlib import Path

import pytest

from application.app import Application
from application.optimization.optimizing import OptimizeRequest
from domain.studies.study_spec import read_study_spec
from tests.integration.studies.conftest import Study

DECK = """divider with a transistor
.model qn npn(bf=100)
.param load=2k
.options reltol=1e-7
V1 in 0 10
R1 in out 1k
R2 out 0 {load}
X1 out in pair
.subckt pair a v
RB v b 1meg
Q1 v b a qn
.ends
C1 out 0 1n
.op
.end
"""


async def test_powers_and_currents_follow_the_values_of_each_run(study: Study) -> None:
    result = await study(
        "sweep",
        DECK,
        parameters=[{"name": "R2", "values": ["1k", "2k", "4k"]}],
        measure={
            "vout": "v(out)", "taken": "p(r2)", "drawn": "i(r1)", "ic": "ic(x1.q1)", "supply": "-p(v1)",
            "pin": "i(x1,v)", "rest": "p(r1)+p(r2)+p(x1)+p(v1)",
        },
    )  # fmt: skip
    assert [row.state for row in result.rows] == ["ok"] * 3
    for row, ohms in zip(result.rows, (1e3, 2e3, 4e3), strict=True):
        found = row.metrics
        assert found["taken"] == pytest.approx(found["vout"] ** 2 / ohms, rel=1e-6)
        assert found["drawn"] == pytest.approx((10 - found["vout"]) / 1e3, rel=1e-6)
        assert found["supply"] == pytest.approx(10 * (found["drawn"] + found["pin"]), rel=1e-6)
        assert found["ic"] > 0
        assert found["rest"] == pytest.approx(0, abs=1e-9)


async def test_a_value_found_for_a_power_is_proved_by_a_run_of_its_own(
    app: Application, tmp_path: Path
) -> None:
    circuit = tmp_path / "deck.cir"
    circuit.write_text("divider\nV1 in 0 10\nR1 in out 1k\nR2 out 0 1500\n.op\n.end\n")
    spec = {
        "parameters": [{"name": "R2", "min": 1500, "max": 9000}],
        "measure": {"taken": "p(r2)"},
        "goals": [{"metric": "taken", "target": 0.021, "tolerance": "1%"}],
        "budget": 200,
    }
    result = await app.design.optimize(OptimizeRequest(circuit=circuit, spec=read_study_spec(spec)))
    best = result.best
    assert best is not None
    assert best.is_verified
    ohms = best.parameters["R2"]
    assert best.metrics["taken"] == pytest.approx((10 / (1e3 + ohms)) ** 2 * ohms, rel=1e-6)
    assert all(verdict.met for verdict in best.verdicts)
