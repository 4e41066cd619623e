"""Drives the built-in designer through its rounds with the bench's own measurements, without the graph.

What the program itself would measure on the same data must be what the bench measures: else a circuit that
meets its goals is told as missing them, or the other way round.
"""

from __future__ import annotations

import asyncio
import math
from pathlib import Path

from domain.design import catalogue
from domain.design.designer import DesignIntent, Proposal
from domain.simulation.expressions import evaluate
from domain.simulation.goals import GoalVerdict
from domain.simulation.result import Quantity
from infrastructure.waveforms.raw_file import read_raw
from tests.integration.design import bench

ROUNDS = 6
_ALIKE = 0.01
"""As near are the two readings of one sweep, by other interpolations."""


def verdicts(intent: DesignIntent, netlist: str, folder: Path) -> list[GoalVerdict]:
    """Run a netlist and judge every goal."""
    plots = bench.run_all(netlist, folder, "round")
    values = [
        (goal, bench.evaluate(goal.expression, bench.plot_for(goal.expression, plots)))
        for goal in intent.goals
    ]
    told = read_raw(folder / "round.raw")
    for goal, value in values:
        own = evaluate(goal.expression, told).value
        near = _ALIKE if goal.unit == "dB" else 1e-9
        assert math.isclose(own, value, rel_tol=_ALIKE, abs_tol=near), (goal.expression, own, value, netlist)
    return [
        GoalVerdict(goal=goal, measured=Quantity(value=value, unit=goal.unit), met=goal.is_met_by(value))
        for goal, value in values
    ]


async def rounds(text: str, folder: Path) -> tuple[DesignIntent, Proposal, list[GoalVerdict], int]:
    """Intent, last proposal, its verdicts and how many rounds it took."""
    intent = catalogue.understand(text)
    proposal = catalogue.propose(intent, str)
    for count in range(1, ROUNDS + 1):
        judged = await asyncio.to_thread(verdicts, intent, proposal.netlist, folder)
        if all(verdict.met for verdict in judged) or count == ROUNDS:
            break
        revised = catalogue.revise(intent, proposal, judged, str)
        if revised is None:
            break
        proposal = revised
    return intent, proposal, judged, count
