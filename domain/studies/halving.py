"""Which of many states is the first that is bad, by looking at few of them."""

from __future__ import annotations

from collections.abc import Generator


def first_bad(count: int) -> Generator[int, bool, int | None]:
    """The place of a state that is bad and follows a good one, among `count` of which the last is bad.

    Yields the place of a state that has to be looked at, and takes whether it is good. First steps back
    that double, then halving: the newest states are looked at first, and of 100 at most 14. None when none
    of those looked at on the way back to the first is good.
    """
    bad, step = count - 1, 1
    good = -1
    while bad > 0:
        place = max(count - 1 - step, 0)
        if (yield place):
            good = place
            break
        bad, step = place, 2 * step
    if good < 0:
        return None
    while bad - good > 1:
        middle = (good + bad) // 2
        if (yield middle):
            good = middle
        else:
            bad = middle
    return bad
