"""What is said of the kept cases of a circuit that were simulated beside a run."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from application.goal_checks.case_runs import CaseRun
from application.goal_checks.goal_now import GoalNow
from presentation.figures import number
from presentation.goal_margins import beside_limit, limit_in_figures
from presentation.goal_words import name_of
from shared.message import Message, msg

_MOST_NAMED = 3


def verdict_of_case(run: CaseRun, translate: Callable[[Message], str]) -> Message:
    """``Case hot: 1 of 2 goals missed: fc 1.51 kHz (≥ 1.6 kHz)``: the line of one case."""
    name = run.case.name
    if run.problem is not None:
        return msg("Case {name}: not judged: {reason}", name=name, reason=run.problem)
    missed, count = run.missed, len(run.judged)
    if not missed:
        return msg("Case {name}: {count} {count:goal|goals} met", name=name, count=count)
    named = [translate(_missed(each)) for each in missed[:_MOST_NAMED]]
    if len(missed) > _MOST_NAMED:
        named.append("…")
    return msg(
        "Case {name}: {missed} of {count} {count:goal|goals} missed: {goals}",
        name=name, missed=len(missed), count=count, goals=translate(msg("; ")).join(named),
    )  # fmt: skip


def verdict_in_short(runs: Sequence[CaseRun]) -> Message | None:
    """What is missed in them, for the status bar; None where all is met: the lines beside the run say so, and
    what a pull tells of the same run is to stay there."""
    bad = [run.case.name for run in runs if run.missed]
    if bad:
        return msg(
            "Goals missed in {count} of {total} {total:case|cases}: {names}",
            count=len(bad), total=len(runs), names=", ".join(bad),
        )  # fmt: skip
    open_ones = [run.case.name for run in runs if run.problem is not None]
    if open_ones:
        return msg("{count} of {total} {total:case|cases} not judged: {names}",
                   count=len(open_ones), total=len(runs), names=", ".join(open_ones))  # fmt: skip
    return None


def _missed(now: GoalNow) -> Message:
    goal = now.goal
    if math.isnan(now.value):
        reason = now.reason or msg("not measured")
        return msg("{goal}: {reason}", goal=name_of(goal), reason=reason)
    value, digits = beside_limit(goal, now.value, lambda each, count: number(each, goal.unit, count))
    limit = limit_in_figures(goal, goal.unit, digits)
    return msg("{goal} {value} ({limit})", goal=name_of(goal), value=value, limit=limit)
