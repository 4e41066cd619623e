"""What a turn did to the goals of circuits: those that were met before its changes and are not any more.

The model may say so or not; the program measures and tells.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Collection, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from application.ports.project import ABSENT, FOLDER
from domain.design.round_table import asked, value_beside_limit
from domain.simulation.result import Quantity
from shared.errors import CircuitAIError
from shared.message import Message, msg
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from application.goal_checks.goal_now import GoalNow
    from application.ports.project import ProjectFiles
    from application.project.goals_watch import Watched, WatchGoals

_logger = logging.getLogger(__name__)
_BUDGET_S = 10.0
"""For the circuits as they are, and again for what they were."""
_MOST_NAMED = 3


async def lost_goals(watch: WatchGoals, project: ProjectFiles, calls: Collection[str]) -> Message | None:
    """What to tell of goals that the changes of these calls lost; None when they lost none.

    The circuits are measured as they are, then those that miss a goal as they were before the first of the
    calls. What cannot be measured is not told: a run of the circuit says why.
    """
    before = await off_loop(_before, project, calls)
    if not before:
        return None
    try:
        now = await watch(project.root, before.keys(), budget_s=_BUDGET_S)
        if not any(goal.is_met is False for each in now.circuits for goal in each.goals):
            return None
        texts = {path: data for path, data in before.items() if data is not None}
        was = await watch(project.root, texts.keys(), texts=texts, budget_s=_BUDGET_S)
    except CircuitAIError as error:  # no simulator, say: the answer stands without it
        _logger.info("The goals behind a turn could not be measured: %s", error)
        return None
    found = list(_lost(was, now))
    if not found:
        return None
    named = "; ".join(found[:_MOST_NAMED]) + ("; …" if len(found) > _MOST_NAMED else "")
    return msg(
        "The changes of this turn lost {count} {count:goal that was|goals that were} met before: {goals}.",
        count=len(found), goals=named,
    )  # fmt: skip


def _before(project: ProjectFiles, calls: Collection[str]) -> dict[Path, bytes | None]:
    """What each file held before the first of the calls; None for one that was not there, or is not kept."""
    found: dict[Path, bytes | None] = {}
    for record in project.operations.list(among=calls):
        for change in record.changes if record.state == "done" else ():
            path = project.root / change.path
            if path in found or FOLDER in (change.before, change.after):
                continue
            found[path] = None
            if change.before != ABSENT:
                try:
                    found[path] = project.read_object(change.before)
                except CircuitAIError as error:
                    _logger.info("%s is not compared: %s", change.path, error)
    return found


def _lost(was: Watched, now: Watched) -> Iterator[str]:
    met = {(each.circuit, goal.goal): goal for each in was.circuits for goal in each.goals if goal.is_met}
    for each in now.circuits:
        for goal in each.goals:
            former = met.get((each.circuit, goal.goal))
            if goal.is_met is False and former is not None:
                yield f"{each.circuit.name}: {_in_words(former, goal)}"


def _in_words(was: GoalNow, now: GoalNow) -> str:
    """``fc = 159 Hz (≥ 1 kHz), 1.59 kHz before``."""
    goal = now.goal
    shown = partial(value_beside_limit, goal)
    value, digits = shown(Quantity(value=now.value, unit=goal.unit))
    before, _ = shown(Quantity(value=was.value, unit=goal.unit))
    measured = goal.metric if math.isnan(now.value) else f"{goal.metric} = {value}"
    return f"{measured} ({asked(goal, digits)}; {before})"
