"""Joining rankings that were made by different measures."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

_K = 60.0
"""Cormack, Clarke and Büttcher, "Reciprocal rank fusion outperforms Condorcet ...", SIGIR 2009."""


def reciprocal_rank_fusion(rankings: Iterable[Sequence[Hashable]]) -> dict[Hashable, float]:
    """The score of each item: the sum of 1 / (60 + rank) over the rankings it is in, ranks from 1.

    The best first; of equal ones the one that came first. An item counts once a ranking, at its best rank.
    """
    scores: dict[Hashable, float] = {}
    for ranking in rankings:
        for rank, item in enumerate(dict.fromkeys(ranking), start=1):
            scores[item] = scores.get(item, 0.0) + 1.0 / (_K + rank)
    return dict(sorted(scores.items(), key=lambda pair: -pair[1]))
