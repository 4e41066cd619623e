"""Which goal of a circuit a command means."""

from __future__ import annotations

from pathlib import Path

from application.app import Application
from domain.simulation.goals import DesignGoal
from shared.errors import UserInputError
from shared.message import msg
from shared.paths import project_root_of


def root_of(circuit: Path) -> Path:
    root = project_root_of(circuit)
    if root is None:
        raise UserInputError(
            msg("{path} is in no project.", path=circuit),
            advice=msg("A study or a run of the circuit makes its folder one."),
            file=circuit,
        )
    return root


async def goal_of(circuit: Path, metric: str, app: Application) -> DesignGoal:
    """The named goal, or the first; of those that hold without a condition."""
    goals = await app.project.browse.goals(root_of(circuit), circuit)
    plain = [goal for goal in goals if not goal.condition]
    found = next((goal for goal in plain if not metric or goal.metric.lower() == metric.lower()), None)
    if found is None:
        names = ", ".join(goal.metric for goal in plain) or "–"
        raise UserInputError(
            msg(
                "{path} has no goal {name}; it has: {names}.",
                path=circuit.name,
                name=metric or "–",
                names=names,
            ),
            advice=msg("Name one of them."),
            file=circuit,
        )
    return found
