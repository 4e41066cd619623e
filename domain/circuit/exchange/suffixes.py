"""What the name of a file of another program says."""

from __future__ import annotations

import re

from shared.late_patterns import late_pattern

_TOUCHSTONE = late_pattern(r"\.s(?P<ports>\d{1,2})p$", re.IGNORECASE)


def ports_of(name: str) -> int | None:
    """How many ports a Touchstone file has: 2 of ``amp.s2p``; None for another file."""
    match = _TOUCHSTONE.search(name)
    return None if match is None else int(match["ports"])
