"""The edit that lost a goal, in one line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from application.project.undoing import VALUES_TOOL
from presentation.goal_words import name_of
from presentation.study_figures import shown
from shared.local_time import local_time
from shared.message import Message, msg

if TYPE_CHECKING:
    from application.goal_checks.since_when import Culprit


def in_words(culprit: Culprit) -> Message:
    """The answer in one line."""
    unit = culprit.goal.unit
    when = local_time(culprit.edit.created) if culprit.edit.created else None
    who = msg("an edit by hand")
    if culprit.edit.op_id:
        who = msg("an operation ({tool})", tool=culprit.edit.tool)
        if culprit.edit.tool == VALUES_TOOL:
            who = msg("values applied in the window")
    time = "" if when is None else f" ({when:%Y-%m-%d %H:%M})"
    return msg(
        "{name}:{line}, {who}{time}: “{was}” became “{became}”; {goal} went from {before} to {after}.",
        name=Path(culprit.place).name,
        line=culprit.line,
        who=who,
        time=time,
        was=culprit.was or "–",
        became=culprit.became or "–",
        goal=name_of(culprit.goal),
        before=shown(culprit.value_before, unit),
        after=shown(culprit.value_after, unit),
    )
