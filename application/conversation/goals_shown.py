"""How the goals of a circuit stood when the user asked (`/goals`), as a line of the transcript.

The line is no message: no model sees it. A later one of the same key stands for the first, at its place.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from application.design.plain_state import goal_to_plain, verdict_to_plain
from application.design.story import goals_from_plain, verdicts_from_plain, whole
from domain.llm.transcript import Json, message_id_of
from domain.simulation.goals import DesignGoal, GoalVerdict

_log = logging.getLogger(__name__)
EVENT = "goals"


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalsNow:
    """How the goals of a circuit stand by its newest run, because the user asked."""

    key: str
    path: str
    """Of the circuit, relative to the project."""
    verdicts: tuple[GoalVerdict, ...] = ()
    """Of all its goals; what was not measured has NaN."""
    run: int = 0
    """Number of the run; 0 = the circuit has none of its own that ended well."""
    is_older: bool = False
    """The circuit was another then."""
    before: tuple[DesignGoal, ...] | None = None
    """The goals that stood before the user changed them with it; None: it only shows them."""
    is_undone: bool = False
    """That change was taken back."""
    after: str = ""
    """Id of the message behind which it stands; "" = before all, or not known yet."""
    row: str = ""
    """Id of the message or the call behind which it came, while a turn was under way; "" = at rest."""
    is_ours: bool = True
    """Of a conversation that was written here; nothing is done from one of others. Not kept."""


def goals_event(shown: GoalsNow) -> dict[str, Any]:
    """Its line of the transcript."""
    from domain.llm.messages import now  # with LangChain: who only reads has no need of it

    return {
        "event": EVENT,
        "card_id": shown.key,
        "path": shown.path,
        "verdicts": [_plain(verdict) for verdict in shown.verdicts],
        "run": shown.run,
        "older": shown.is_older,
        "before": None if shown.before is None else [goal_to_plain(goal) for goal in shown.before],
        "undone": shown.is_undone,
        "after": shown.after,
        "row": shown.row,
        "timestamp": now(),
    }


def _plain(verdict: GoalVerdict) -> dict[str, Any]:
    value = verdict.measured.value  # JSON has no infinity; as a text it is read like any number
    return verdict_to_plain(verdict) | ({"value": str(value)} if math.isinf(value) else {})


def goals_in(events: Sequence[Json]) -> tuple[GoalsNow, ...]:
    """Those of a transcript's lines whose message stands; what nobody can read is left out."""
    found: dict[str, GoalsNow] = {}
    stand = {"", *map(message_id_of, events)}
    for event in events:
        if event.get("event") != EVENT:
            continue
        key, path, after, row = (event.get(name) for name in ("card_id", "path", "after", "row"))
        if not (isinstance(key, str) and isinstance(path, str) and isinstance(after, str)):
            _log.warning("A line about goals is not shown: it names no card, circuit or place.")
            continue
        if not _is_in_project(path):
            _log.warning("A line about goals is not shown: its circuit is not one of the project.")
            continue
        row = row if isinstance(row, str) else ""
        after, row = (found[key].after, found[key].row) if key in found else (after, row)
        if after in stand:
            before = event.get("before")
            found[key] = GoalsNow(
                key=key,
                path=path,
                verdicts=verdicts_from_plain(event.get("verdicts")),
                run=whole(event.get("run")),
                is_older=event.get("older") is True,
                before=goals_from_plain(before) if isinstance(before, list) else None,
                is_undone=event.get("undone") is True,
                after=after,
                row=row,
            )
    return tuple(found.values())


def _is_in_project(path: str) -> bool:
    place = PurePosixPath(path)
    return place.name != "" and "\0" not in path and not (place.is_absolute() or ".." in place.parts)


def last_message(events: Sequence[Mapping[str, Any]]) -> str:
    """Id of the message behind which a line stands that is written now."""
    return next((found for event in reversed(events) if (found := message_id_of(event))), "")
