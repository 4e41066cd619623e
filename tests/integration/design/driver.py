"""Drives the built-in designer through its rounds with the bench's own measurements, without the graph."""

from __future__ import annotations

from pathlib import Path

from domain.design import catalogue
from domain.design.designer import DesignIntent, Proposal
from domain.simulation.goals import GoalVerdict
from domain.simulation.result import Quantity
from tests.integration.design import bench

ROUNDS = 6


def verdicts(intent: DesignIntent, netlist: str, folder: Path) -> list[GoalVerdict]:
    """Run a netlist and judge every goal."""
    plots = bench.run_all(netlist, folder, "round")
    values = [
        (goal, bench.evaluate(goal.expression, bench.plot_for(goal.expression, plots)))
        for goal in intent.goals
    ]
    return [
        GoalVerdict(goal=goal, measured=Quantity(value=value, unit=goal.unit), met=goal.is_met_by(value))
        for goal, value in values
    ]


async def rounds(text: str, folder: Path) -> tuple[DesignIntent, Proposal, list[GoalVerdict], int]:
    """Intent, last proposal, its verdicts and how many rounds it took."""
    intent = catalogue.understand(text)
    proposal = catalogue.propose(intent, str)
    for count in range(1, ROUNDS + 1):
        judged = verdicts(intent, proposal.netlist, folder)
        if all(verdict.met for verdict in judged) or count == ROUNDS:
            break
        revised = catalogue.revise(intent, proposal, judged, str)
        if revised is None:
            break
        proposal = revised
    return intent, proposal, judged, count
