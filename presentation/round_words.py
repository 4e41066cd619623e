"""What a round of a design changed, in words."""

from __future__ import annotations

from application.design.rounds import DesignRound
from shared.message import Message, msg

_MOST_CHANGES = 4
_SPACE = "\u00a0"


def change_of(each: DesignRound, before: DesignRound | None) -> Message:
    """``R3, R4 4.7k → 5.1k, C3 10n → 8.2n``; else how many lines are others."""
    if not each.number and not each.changed_lines:
        return msg("The existing circuit")
    if before is None:
        return msg("Initial design")
    if each.changes:
        told = [
            f"{', '.join(change.names)}{_SPACE}{change.before}{_SPACE}→{_SPACE}{change.after}"
            for change in each.changes[:_MOST_CHANGES]
        ]
        listed = ", ".join(told)
        if len(each.changes) > _MOST_CHANGES:
            return msg("{changes} and {count} more", changes=listed, count=len(each.changes) - _MOST_CHANGES)
        return msg("{changes}", changes=listed)
    if not each.changed_lines:
        return msg("Nothing changed")
    return msg("{count} {count:line|lines} changed", count=each.changed_lines)
