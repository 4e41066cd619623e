"""How well a text meets what somebody typed to find it."""

from __future__ import annotations

from rapidfuzz import fuzz
from rapidfuzz.distance import LCSseq

WHOLE = 1
"""First figure of the worst score of a text that has what was typed whole."""
_SHORTEST_WITH_SLIP = 4
_ALIKE = 74.0
"""Per cent: one slip in four letters, two in eight."""


def score_of(wanted: str, text: str) -> tuple[int, float] | None:
    """How well `wanted` is met, smaller is better; None when it is not.

    Best where the text begins with it, then where it has it whole, then with its letters in their order
    (the longest common subsequence is all of it), last with a slip: letters exchanged, one wrong or missing.
    """
    if not wanted:
        return (0, 0)
    low, text = wanted.casefold(), text.casefold()
    place = text.find(low)
    if place >= 0:
        return (0 if place == 0 else 1, place)
    if LCSseq.similarity(low, text) == len(low):
        return (2, -fuzz.partial_ratio(low, text))
    if len(low) < _SHORTEST_WITH_SLIP:
        return None
    ratio = fuzz.partial_ratio if len(text) > len(low) else fuzz.ratio
    alike = ratio(low, text, score_cutoff=_ALIKE)
    return (3, -alike) if alike else None
