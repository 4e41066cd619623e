"""What is said of goals that were measured in idle time."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

from application.project.goals_watch import MissedGoal, Standing
from presentation.goal_margins import limit_text, shown
from presentation.goal_words import name_of
from presentation.study_figures import shown as shown_value
from shared.message import Message, msg


def in_short(
    standing: Standing, front: Path | None = None, cut: Callable[[str], str] = str
) -> Message | None:
    """``12 met, 1 lost by line 7``; None where there are no goals.

    A line of another file than the one in front stands with that file's name, cut by `cut`.
    """
    lost, missed = standing.lost, standing.missed
    places = {(each.file, each.lines) for each in lost}
    if len(places) == 1 and len(lost[0].lines) == 1:
        named = {"met": standing.met, "lost": len(lost), "line": lost[0].lines[0]}
        if lost[0].file is None or lost[0].file == front:
            return msg("{met} met, {lost} lost by line {line}", **named)
        return msg("{met} met, {lost} lost by line {line} of {file}", file=cut(lost[0].file.name), **named)
    if lost:
        return msg("{met} met, {lost} lost", met=standing.met, lost=len(lost))
    if missed:
        return msg("{met} met, {missed} missed", met=standing.met, missed=len(missed))
    if standing.met:
        return msg("{met} {met:goal|goals} met", met=standing.met)
    return msg("Goals not measured") if standing.problems or standing.not_judged else None


def in_full(standing: Standing) -> list[Message]:
    """A line for every goal that is missed, and what was not measured."""
    lines = [of_missed(each) for each in standing.missed]
    lines += [
        msg("{name}: not measured. {reason}", name=path.name, reason=reason)
        for path, reason in standing.problems
    ]
    if standing.not_judged:
        lines.append(
            msg("{count} {count:goal needs|goals need} a run in other conditions.", count=standing.not_judged)
        )
    if standing.left_out:
        lines.append(
            msg("{count} more {count:circuit|circuits} would take too long.", count=standing.left_out)
        )
    return lines


def of_missed(missed: MissedGoal) -> Message:
    """``rc.cir: Corner, -3 dB 159 Hz (>= 1 kHz), lost by line 7``."""
    goal = missed.now.goal
    told = msg(
        "{name}: {goal} {value} ({limit})",
        name=missed.circuit.name,
        goal=name_of(goal),
        value="–" if math.isnan(missed.now.value) else shown_value(missed.now.value, goal.unit),
        limit=shown(limit_text(goal)),
    )
    if not missed.is_lost:
        return told
    if missed.file is None or not missed.lines:
        return msg("{told}, lost", told=told)
    named = {"told": told, "file": missed.file.name}
    if len(missed.lines) == 1:
        return msg("{told}, lost by line {line} of {file}", line=missed.lines[0], **named)
    return msg(
        "{told}, lost by one of {count} changes from line {line} of {file}",
        count=len(missed.lines), line=missed.lines[0], **named,
    )  # fmt: skip
