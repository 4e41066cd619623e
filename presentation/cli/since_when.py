"""`since-when FILE`: the edit that lost a goal, taken out again when asked."""

from __future__ import annotations

import argparse
from pathlib import Path

from application.app import Application
from presentation.cli.asked_goals import goal_of, root_of
from presentation.json_output import Output
from shared.message import msg


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """FILE [--goal METRIC] [--undo]."""
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument("--goal", metavar="METRIC", default="")
    parser.add_argument("--undo", action="store_true")


async def run(args: argparse.Namespace, app: Application, out: Output) -> int:
    """The edit since which the goal is missed; with --undo it is taken out, and later ones stay."""
    circuit = args.file.resolve()
    root = root_of(circuit)
    goal = await goal_of(circuit, args.goal, app)
    culprit = await app.design.since_when(root, circuit, goal)
    undone = await app.design.take_edit_back(root, culprit) if args.undo else None
    edit = culprit.edit
    if out.as_json:
        out.json(
            {
                "ok": True,
                "path": root / culprit.place,
                "line": culprit.line,
                "operation": edit.op_id or None,
                "tool": edit.tool or None,
                "created": edit.created or None,
                "was": culprit.was,
                "became": culprit.became,
                "metric": goal.metric,
                "value_before": culprit.value_before,
                "value_after": culprit.value_after,
                "runs": culprit.runs,
                "states": culprit.states,
                "undo": None if undone is None else undone.op_id,
            }
        )
        return 0
    from presentation.culprit_words import in_words

    out.say(in_words(culprit))
    if undone is not None:
        name = Path(culprit.place).name
        out.say(
            msg("The edit of line {line} in {name} was undone; later edits stay.",
                line=culprit.line, name=name)
        )  # fmt: skip
    return 0
