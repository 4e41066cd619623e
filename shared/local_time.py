"""A moment in the time of the place the user is at, whoever wrote it down.

A file of another machine may have any time of change, a record of another program any date: not every one
of them is a date of the calendar Python knows (the years 1 to 9999).
"""

from __future__ import annotations

from datetime import UTC, datetime


def local_time(moment: str | float) -> datetime | None:
    """The local time of an ISO 8601 text or of seconds since 1970; None when it is no date there is."""
    try:
        if isinstance(moment, str):
            return datetime.fromisoformat(moment).astimezone()
        return datetime.fromtimestamp(moment, UTC).astimezone()
    except (ValueError, OverflowError, OSError):
        return None
