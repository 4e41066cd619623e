"""What a stored result shows, through the composed application, and the column file behind it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest

import application.simulation.waveforms
from application.app import Application
from application.simulation.simulating import SimulationRequest
from bootstrap import build
from infrastructure.waveforms.column_file import column_path
from shared.errors import UserInputError

_DECK = "rc\nV1 in 0 SIN(0 1 1k)\nR1 in out 1k\nC1 out 0 100n\n.tran 1u 100m 0 1u\n.end\n"


@pytest.fixture
async def app() -> AsyncIterator[Application]:
    found = build()
    found.program.events.bind()
    yield found
    await found.close()


@pytest.fixture
async def result(app: Application, tmp_path: Path) -> Path:
    circuit = tmp_path / "rc.cir"
    circuit.write_text(_DECK)
    done = await app.simulation.run(SimulationRequest(circuit=circuit))
    assert done.ok
    return done.result_path


async def ended(app: Application) -> None:
    while tasks := [handle for handle in app.program.tasks.handles if handle.kind == "column-file"]:
        await tasks[0].wait()


async def test_a_large_result_that_was_shown_gets_a_column_file_behind_it(
    app: Application, result: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(application.simulation.waveforms, "WORTH_COLUMNS_BYTES", 1_000_000)
    shown = await app.simulation.waveforms(result)
    again = await app.simulation.waveforms(result)  # two at a time are one task
    await ended(app)
    assert column_path(result.parent / "ngspice.raw").exists()
    source = await app.simulation.waveforms.open(result)
    with source:
        assert source.has_columns  # type: ignore[attr-defined]
        (outline,) = source.outlines
        assert outline.points > 100_000
        found = source.window("v(out)", 0.0, 100e-3, 500)
    data = shown.plots[0].vectors["v(out)"].data
    assert (found.low.min(), found.high.max()) == (data.min(), data.max())
    assert np.array_equal((await app.simulation.waveforms(result)).plots[0].vectors["v(out)"].data, data)
    assert again.plots[0].points == len(data)
    measured = await app.simulation.measure(result, ["rms(v(in))"])
    assert measured["rms(v(in))"].value == pytest.approx(0.5**0.5, rel=1e-4)  # type: ignore[union-attr]
    await ended(app)


async def test_a_small_result_and_a_bare_raw_file_get_none(
    app: Application, result: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await app.simulation.waveforms(result)
    await ended(app)
    raw = result.parent / "ngspice.raw"
    assert not column_path(raw).exists()
    monkeypatch.setattr(application.simulation.waveforms, "WORTH_COLUMNS_BYTES", 1_000_000)
    own = tmp_path / "own.raw"
    own.write_bytes(raw.read_bytes())
    await app.simulation.waveforms(own)
    await ended(app)
    assert not column_path(own).exists()


async def test_closing_the_application_ends_the_work_soon(
    app: Application, result: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(application.simulation.waveforms, "WORTH_COLUMNS_BYTES", 1_000_000)
    work = asyncio.create_task(app.simulation.waveforms.prepare(result))
    await asyncio.sleep(0)
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    await app.close()
    assert [path for path in result.parent.iterdir() if path.suffix == ".tmp"] == []


async def test_no_result(app: Application, tmp_path: Path) -> None:
    with pytest.raises(UserInputError):
        await app.simulation.waveforms.open(tmp_path / "nix.raw")
