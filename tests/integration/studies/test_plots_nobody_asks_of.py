"""Analyses beside the one that is measured do not fail a study."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import bootstrap
from application.app import Application
from application.studies.studying import StudyRequest
from domain.studies.study_spec import read_study_spec


@pytest.fixture
async def app() -> AsyncIterator[Application]:
    application = bootstrap.build(environment=os.environ)
    yield application
    await application.close()


async def test_pole_zero_and_the_like_beside_ac(app: Application, tmp_path: Path) -> None:
    deck = tmp_path / "f.cir"
    deck.write_text(
        "f\nV1 in 0 dc 0 ac 1\nR1 in out 1k\nC1 out 0 1u\n.ac dec 10 1 100k\n.pz in 0 out 0 vol pz\n"
        ".tf v(out) v1\n.sens v(out)\n.end\n"
    )
    spec = read_study_spec({
        "parameters": [{"name": "R1", "values": ["1k", "2k"]}],
        "measure": {"bw": "bandwidth(v(out))"},
    })  # fmt: skip
    result = await app.simulation.study(StudyRequest(kind="sweep", circuit=deck, spec=spec))
    assert result.failed == 0, [row.reason for row in result.rows]
    assert [row.metrics["bw"] for row in result.rows] == pytest.approx([159.15, 79.58], rel=2e-3)
