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
    values = _measured(intent, plots)
    told = read_raw(folder / "round.raw")
    own = {goal.expression: evaluate(goal.expression, told).value for goal in intent.goals}
    if _different(intent, own, values):
        # The bench reads straight lines: of a sharp resonance or a steep edge it needs more points.
        values = _measured(intent, bench.run_all(bench.finer(netlist), folder, "finer"))
    assert not (different := _different(intent, own, values)), (different, netlist)
    return [
        GoalVerdict(
            goal=goal,
            measured=Quantity(value=values[goal.expression], unit=goal.unit),
            met=goal.is_met_by(values[goal.expression]),
        )
        for goal in intent.goals
    ]


def _measured(intent: DesignIntent, plots: list[bench.Data]) -> dict[str, float]:
    return {
        goal.expression: bench.evaluate(goal.expression, bench.plot_for(goal.expression, plots))
        for goal in intent.goals
    }


def _different(
    intent: DesignIntent, own: dict[str, float], values: dict[str, float]
) -> list[tuple[str, float, float]]:
    """Goals measured differently: expression, the program's value, the bench's."""
    found = []
    for goal in intent.goals:
        mine, value = own[goal.expression], values[goal.expression]
        near = _ALIKE if goal.unit == "dB" else 1e-4 if goal.expression.startswith("thd(") else 1e-9
        if not math.isclose(mine, value, rel_tol=_ALIKE, abs_tol=near):
            found.append((goal.expression, mine, value))
    return found


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
