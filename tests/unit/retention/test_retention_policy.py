"""Which results go under which rules."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from domain.simulation.retention import RetentionPolicy, StoredResult, to_be_removed

NOW = datetime(2026, 1, 31, tzinfo=UTC)


def result(age_days: int, size: int = 10, **more: Any) -> StoredResult:
    return StoredResult(
        result_id=f"r{age_days:03}",
        created=NOW - timedelta(days=age_days),
        size=size,
        is_finished=more.pop("is_finished", True),
        **more,
    )


def removed(results: list[StoredResult], **policy: Any) -> list[str]:
    chosen = to_be_removed(results, RetentionPolicy(**policy), NOW)
    return [f"{item.result_id} {reason}" for item, reason in chosen]


DAYS = [result(age) for age in (1, 2, 3, 4, 5)]


def test_keep_alone_leaves_the_newest() -> None:
    assert removed(DAYS, keep=3) == ["r005 count", "r004 count"]
    assert len(removed(DAYS, keep=0)) == 5
    assert removed(DAYS, keep=9) == []


def test_age_and_size_take_the_oldest_and_keep_protects_from_them() -> None:
    assert removed(DAYS, older_than=timedelta(days=4)) == ["r005 age", "r004 age"]
    assert removed(DAYS, max_bytes=25) == ["r005 size", "r004 size", "r003 size"]
    assert removed(DAYS, max_bytes=0, keep=4) == ["r005 size"]
    assert removed(DAYS, older_than=timedelta(0), keep=2) == ["r005 age", "r004 age", "r003 age"]


def test_what_is_protected_counts_but_stays() -> None:
    results = [
        result(9, 100, is_pinned=True),
        result(8, 100, is_referenced=True),
        result(7, 100, is_running=True, is_finished=False),
        result(6, 1),
        result(5, 1),
    ]
    assert removed(results, max_bytes=300) == ["r006 size", "r005 size"]
    assert removed(results, keep=0) == ["r006 count", "r005 count"]
    assert removed(results, older_than=timedelta(0)) == ["r006 age", "r005 age"]


def test_leftovers_of_killed_runs_always_go() -> None:
    results = [result(1, is_finished=False), result(2, is_finished=False, is_running=True), result(3)]
    assert removed(results) == ["r001 unfinished"]
