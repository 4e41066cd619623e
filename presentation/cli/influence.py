"""`influence FILE`: how far each value moves a goal."""

from __future__ import annotations

import argparse
import math
from pathlib import Path

from application.app import Application
from domain.simulation.goals import DesignGoal
from presentation.cli.asked_goals import goal_of
from presentation.json_output import Output
from shared.errors import UserInputError
from shared.message import msg

_USUAL_BUDGET_S = 60.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """FILE [--goal METRIC | --measure EXPR] [--budget S]."""
    parser.add_argument("file", type=Path, metavar="FILE")
    asked = parser.add_mutually_exclusive_group()
    asked.add_argument("--goal", metavar="METRIC", default="")
    asked.add_argument("--measure", metavar="EXPR", default="")
    parser.add_argument("--budget", type=float, default=_USUAL_BUDGET_S, metavar="S")


async def run(args: argparse.Namespace, app: Application, out: Output) -> int:
    """A row for each value, the strongest first; nothing is stored."""
    from application.optimization.influencing import InfluenceRequest
    from domain.studies.influence import placed_values

    circuit = args.file.resolve()
    if not args.budget > 0:
        raise UserInputError(msg("--budget must be more than 0 seconds."))
    if args.measure:
        goal = DesignGoal(metric=args.measure, expression=args.measure, unit="")
    else:
        goal = await goal_of(circuit, args.goal, app)
    opened = await app.project.edit.read(circuit)
    values = placed_values(opened.content.text.encode())
    request = InfluenceRequest(circuit=circuit, goal=goal, values=values, budget_s=args.budget)
    found = await app.design.influence(request)
    ordered = sorted(found.found, key=lambda each: -abs(each.percent) if math.isfinite(each.percent) else 0.0)
    if out.as_json:
        rows = [{"name": each.name, "line": each.line, "percent": each.percent} for each in ordered]
        out.json({"ok": True, "metric": goal.metric, "runs": found.runs, "left_out": found.left_out,
                  "influences": rows})  # fmt: skip
        return 0
    out.say(
        msg("{goal} for 1 % more of each value, {runs} {runs:run|runs}:", goal=goal.metric, runs=found.runs)
    )
    for each in ordered:
        told = "-" if math.isnan(each.percent) else f"{each.percent:+.4g} %"
        out.row(f"{circuit.name}:{each.line:<5} {each.name:<12} {told}")
    if found.left_out:
        out.note(msg("{count} more {count:value|values} would take too long.", count=found.left_out))
    return 0
