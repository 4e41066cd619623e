"""Studies as the command line does them: the whole application, real ngspice in confined workers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

import bootstrap
from application.app import Application
from application.studies.studying import StudyRequest
from domain.studies.study import StudyResult
from domain.studies.study_spec import StudyKind, read_study_spec

Study = Callable[..., Awaitable[StudyResult]]


@pytest.fixture
async def app() -> AsyncIterator[Application]:
    application = bootstrap.build()
    application.program.events.bind()
    yield application
    await application.close()


@pytest.fixture
def study(app: Application, tmp_path: Path) -> Study:
    """Do a study of a deck: ``await study("sweep", DECK, parameters=[...], measure={...})``."""

    async def run(kind: StudyKind, deck: str, workers: int | None = None, **spec: Any) -> StudyResult:
        circuit = tmp_path / "deck.cir"
        circuit.write_text(deck)
        return await app.simulation.study(
            StudyRequest(circuit=circuit, kind=kind, spec=read_study_spec(spec), workers=workers)
        )

    return run
