"""Circuits simulated by the whole application, in real ngspice, confined."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

import bootstrap
from application.app import Application
from application.simulation.simulating import SimulationRequest
from domain.simulation.result import SimulationResult
from domain.simulation.waveform import Plot
from infrastructure.waveforms.raw_file import read_raw

Simulate = Callable[..., Awaitable[SimulationResult]]


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[Application]:
    home = {"CIRCUIT_DESIGN_AI_HOME": str(tmp_path / "user"), "HOME": str(tmp_path)}
    application = bootstrap.build(environment={**os.environ, **home})
    yield application
    await application.close()


@pytest.fixture
def simulate(app: Application, tmp_path: Path) -> Simulate:
    """Simulate a deck (text or bytes) written to a file of the test."""

    async def run(deck: str | bytes, **wanted: Any) -> SimulationResult:
        circuit = tmp_path / "deck.cir"
        data = deck if isinstance(deck, bytes) else deck.encode()
        await asyncio.to_thread(circuit.write_bytes, data)
        return await app.simulation.run(SimulationRequest(circuit=circuit, **wanted))

    return run


async def plots_of(result: SimulationResult) -> list[Plot]:
    assert result.ok, [str(issue.message) for issue in result.issues]
    parts = [await asyncio.to_thread(read_raw, path) for path in result.run.raw_paths]
    return [plot for part in parts for plot in part]
