"""Lines that were checked before and had no finding: at a keystroke nearly all are those of the last time.

What a line was checked against (names in sight, models) is part of what is remembered: where that is another
one the line is looked at again. Only that nothing was found is kept: no finding is told at a former place.
"""

from __future__ import annotations

from collections.abc import Hashable

_MOST = 60_000
"""Lines that are kept, of all circuits together (some 10 MB); then they are learned anew."""


class SoundLines:
    """Those of one check; threads may share them."""

    def __init__(self) -> None:
        self._known: dict[Hashable, set[Hashable]] = {}

    def among(self, surroundings: Hashable) -> set[Hashable]:
        """The lines that are sound in these surroundings, to be looked up and added to."""
        if sum(map(len, self._known.values())) > _MOST:
            self._known = {}
        return self._known.setdefault(surroundings, set())
