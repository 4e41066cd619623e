"""Which stored results may go: a rule on plain facts, without looking at a disk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from domain.simulation.request import DEFAULT_RUN_BYTES, LEAST_RUN_BYTES, MOST_RUN_BYTES
from shared.message import msg
from shared.setting import setting

RemovalReason = Literal["unfinished", "count", "age", "size"]
"""``unfinished``: left by a run that was killed. ``count``: beyond the newest that are kept."""


Origin = Literal["here", "elsewhere", "unknown"]
"""Who computed stored data: this installation, another one (or they were changed), or nobody can tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredResult:
    """One result's folder."""

    result_id: str
    created: datetime
    size: int
    """Bytes of all its files."""
    is_finished: bool
    """It has a ``result.json``."""
    is_running: bool = False
    """A live process is still writing it."""
    is_pinned: bool = False
    is_referenced: bool = False
    """A conversation or a design names it."""
    origin: Origin = "unknown"

    @property
    def is_protected(self) -> bool:
        """It is never removed, whatever is asked for."""
        return self.is_running or self.is_pinned or self.is_referenced


@dataclass(frozen=True, slots=True, kw_only=True)
class CutOff:
    """What a process that was killed had under way."""

    result_id: str
    circuit: str
    """The name of its file."""
    kind: str
    """Of the study, as the command line calls it; "" = one run."""
    is_kept: bool
    """Its runs so far are a stopped study now; of others nothing is left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionPolicy:
    """What is kept."""

    keep: int | None = None
    """The newest so many always stay; given alone, all others go."""
    older_than: timedelta | None = None
    """Results of this age and more go."""
    max_bytes: int | None = None
    """The oldest go until all together are no larger; what is protected counts, too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultSettings:
    """The settings ``results``: how much room results may take."""

    # fmt: off
    max_bytes: int | None = setting(5 * 2**30, msg("Space for results"), bounds=(0, None), unit="bytes",
        option="--max-size",
        help=msg("Per project: after each run the oldest results are removed until the rest fit; null = no "
                 "limit."))
    keep: int = setting(20, msg("Results to keep"), bounds=(0, None), option="--keep",
        help=msg("The newest results of a project stay, whatever their size."))
    run_bytes: int = setting(DEFAULT_RUN_BYTES, msg("Space for one run"), unit="bytes",
        bounds=(LEAST_RUN_BYTES, MOST_RUN_BYTES),
        help=msg("A run that writes more is stopped; what it has written is kept."))
    # fmt: on

    @property
    def policy(self) -> RetentionPolicy:
        # Without a limit of size nothing is removed by itself: `keep` alone would remove all others.
        return RetentionPolicy(keep=self.keep, max_bytes=2**62 if self.max_bytes is None else self.max_bytes)


def to_be_removed(
    results: Sequence[StoredResult], policy: RetentionPolicy, now: datetime
) -> list[tuple[StoredResult, RemovalReason]]:
    """The results a policy removes, with the reason, the oldest first; leftovers of killed runs always."""
    newest_first = sorted(results, key=lambda result: (result.created, result.result_id), reverse=True)
    reasons: dict[str, RemovalReason] = {
        result.result_id: "unfinished"
        for result in newest_first
        if not result.is_finished and not result.is_protected
    }
    finished = [result for result in newest_first if result.is_finished]
    open_ones = [result for result in finished[policy.keep or 0 :] if not result.is_protected]
    for result in open_ones:
        if policy.older_than is not None and now - result.created >= policy.older_than:
            reasons[result.result_id] = "age"
        elif policy.keep is not None and policy.older_than is None and policy.max_bytes is None:
            reasons[result.result_id] = "count"
    if policy.max_bytes is not None:
        total = sum(result.size for result in results if result.result_id not in reasons)
        for result in reversed(open_ones):
            if total <= policy.max_bytes:
                break
            if result.result_id not in reasons:
                reasons[result.result_id] = "size"
                total -= result.size
    return [
        (result, reasons[result.result_id])
        for result in reversed(newest_first)
        if result.result_id in reasons
    ]
