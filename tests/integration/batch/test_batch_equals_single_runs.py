"""The circuits of the corpus, all in one batch on one guest, give what single runs give: plots, names, units
and issues. The guest loads one after the other, so nothing may be left of the circuits before."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from application.simulation.prepared_circuit import PreparedCircuit, prepare_circuit
from domain.simulation.batch import BatchCircuit, RunOutcome
from domain.simulation.waveform import Plot
from domain.studies.variation import plan_variation
from infrastructure.ngspice.runner import NgspiceRunner
from infrastructure.persistence.source_files import SourceReaderFactory
from infrastructure.waveforms.raw_file import read_raw
from tests.integration.batch.conftest import MakeBatch, batch_of, outcomes_of

CORPUS = Path(__file__).parents[2] / "corpus/netlists/good"
DECKS = sorted(
    path
    for path in CORPUS.rglob("*")
    if path.suffix in (".cir", ".sp", ".net", ".spice", ".ckt")
    and path.name != "control_only.cir"  # its analyses are commands, which a batch leaves out
)


def prepared(path: Path) -> tuple[PreparedCircuit, BatchCircuit]:
    circuit = prepare_circuit(SourceReaderFactory(), path)
    tree, varied = plan_variation(circuit.tree, ())
    return circuit, replace(circuit, netlist=tree.root, tree=tree).batch_circuit(varied)


NGSPICE_PLOT = re.compile(r" \([a-z]+\d+\)$")
"""Behind the names of what a single run of a circuit with commands has; a batch leaves the commands out."""


async def compare(
    decks: Sequence[Path], make_batch: MakeBatch, single_runner: NgspiceRunner, folder: Path
) -> None:
    pairs = await asyncio.to_thread(lambda: [prepared(path) for path in decks])
    rows: list[tuple[int, tuple[float, ...]]] = [(index, ()) for index in range(len(pairs))]
    found = await outcomes_of(make_batch(), batch_of([one for _, one in pairs], rows), workers=1)
    for number, (circuit, _) in enumerate(pairs):
        output = folder / str(number)
        output.mkdir()
        job = replace(circuit.job(output, timeout_s=30), has_control_block=False)
        run = await single_runner.run(job)
        ours, name = found[number], circuit.circuit.name
        assert (ours.state == "ok") == (run.status == "ok"), (name, ours.issues, run.issues)
        assert {issue.code for issue in ours.issues} == {issue.code for issue in run.issues}, name
        if ours.state == "ok":
            same(ours, await asyncio.to_thread(read_raw, run.raw_paths[0]), name, set(job.saved_beside))


def same(ours: RunOutcome, theirs: Sequence[Plot], deck: str, beside: Collection[str]) -> None:
    """`beside`: what a single run saves in addition, to tell the currents of elements; a batch does not."""
    waiting = list(theirs)
    for plot in ours.plots:
        other = next(candidate for candidate in waiting if candidate.analysis == plot.analysis)
        waiting.remove(other)
        name = NGSPICE_PLOT.sub("", other.name)
        assert (plot.name, plot.axis_name) == (name, other.axis_name), deck
        assert plot.vectors.keys() == other.vectors.keys() - beside, deck
        for name, vector in plot.vectors.items():
            expected = other.vectors[name]
            assert vector.unit == expected.unit, (deck, name)
            scale = float(np.nanmax(np.abs(expected.data), initial=0.0))
            atol = max(1e-9 * scale, 1e-15)
            np.testing.assert_allclose(vector.data, expected.data, 1e-9, atol, err_msg=f"{deck} {name}")
    assert not waiting, deck


@pytest.mark.parametrize("part", range(3))
async def test_a_sample_of_the_corpus(
    part: int, make_batch: MakeBatch, single_runner: NgspiceRunner, folder: Path
) -> None:
    await compare(DECKS[part::9], make_batch, single_runner, folder)


@pytest.mark.torture
@pytest.mark.timeout(300)
async def test_the_whole_corpus(make_batch: MakeBatch, single_runner: NgspiceRunner, folder: Path) -> None:
    await compare(DECKS, make_batch, single_runner, folder)
