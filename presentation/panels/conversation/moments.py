"""Times of messages, as they are stored and as people read them."""

from __future__ import annotations

from datetime import UTC, datetime

from shared.local_time import local_time


def now() -> str:
    """ISO 8601, UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def clock_time(created: str) -> str:
    """``14:02`` in local time of an ISO time; "" when it can't be read. The day too when it is another."""
    time = local_time(created)
    if time is None:
        return ""
    today = datetime.now(UTC).astimezone().date()
    return time.strftime("%H:%M" if time.date() == today else "%Y-%m-%d %H:%M")
