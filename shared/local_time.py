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


def clock_time(created: str) -> str:
    """``14:02`` in local time of an ISO time; "" when it can't be read. The day too when it is another."""
    time = local_time(created)
    if time is None:
        return ""
    today = datetime.now(UTC).astimezone().date()
    return time.strftime("%H:%M" if time.date() == today else "%Y-%m-%d %H:%M")
