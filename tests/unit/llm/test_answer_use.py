"""What answers took: totals, and why a provider had to read again."""

import pytest

from domain.llm.costs import Cost, RequestFacts, facts_in, total_of, uses_of, work_of
from shared.ulid import new_ulid

FIRST = {"system": "a", "tools": "b", "history": "c", "seconds": 2.0, "first_s": 0.5}


def answered(number, *, prompt, cached, model="m", time="2026-01-01T10:00:00+00:00", **request):
    extra = {
        "usage": {"prompt_tokens": prompt, "completion_tokens": 10, "cached_tokens": cached},
        "provider": "zhipu",
        "model": model,
        "timestamp": time,
        "request": FIRST | request,
        "cost": {"amounts": {"CNY": 0.5}, "unknown_answers": 0},
    }
    return {"id": f"A{number}", "type": "assistant", "content": "x", "additional_kwargs": extra}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({}, "context"),
        ({"model": "other"}, "model"),
        ({"tools": "z"}, "tools"),
        ({"system": "z"}, "system"),
        ({"history": "z"}, "history"),
        ({"time": "2026-01-01T10:06:00+00:00"}, "pause"),
        ({"tools": "z", "time": "2026-01-01T10:06:00+00:00"}, "tools"),
    ],
)
def test_the_change_that_broke_the_prefix_is_named(change, reason):
    before = answered(1, prompt=1000, cached=800)
    [_, use] = uses_of([before, answered(2, prompt=1200, cached=100, **change)])
    assert use.cache_break == reason
    [_, use] = uses_of([before, answered(2, prompt=1200, cached=700, **change)])
    assert use.cache_break == ""


def test_a_provider_that_tells_of_no_cache_is_not_judged():
    assert [use.cache_break for use in uses_of([answered(n, prompt=1000, cached=0) for n in range(3)])] == [
        ""
    ] * 3


def test_totals():
    uses = uses_of([answered(n, prompt=1000, cached=900, retries=1) for n in range(4)])
    total = total_of(uses)
    assert (total.answers, total.usage.prompt_tokens, total.usage.cached_tokens) == (4, 4000, 3600)
    assert (total.seconds, total.retries, total.cost.amounts) == (8.0, 4, {"CNY": 2.0})
    assert total.to_plain()["cached_share"] == 0.9
    assert (total.recovered, total.first_s) == (4, 0.5)
    assert total_of(()).to_plain()["cached_share"] is None
    [built_in] = uses_of([answered(1, prompt=0, cached=0) | {"additional_kwargs": {"provider": "builtin"}}])
    assert total_of((built_in,)).answers == 0


def test_work_beside_the_answers():
    def called(number, error="", seconds=0.5):
        extra = {"error_type": error, "seconds": seconds, "timestamp": f"2026-01-0{number}T10:00:00+00:00"}
        return {"id": str(number), "type": "tool", "status": "error" if error else "success",
                "content": "", "additional_kwargs": extra}  # fmt: skip

    messages = [called(1), called(2, "stopped"), called(3, "no_file"), called(4, seconds="x")]
    turns = [{"event": "turn", "turn_id": new_ulid(), "state": "ended", "stop_reason": reason}
             for reason in ("completed", "error")]  # fmt: skip
    assert work_of(turns, messages).to_plain() == {
        "turns": 2, "failed_turns": 1, "calls": 4, "failed_calls": 1, "call_s": 1.5
    }  # fmt: skip
    assert work_of([], messages, "2026-01-03").calls == 2


def test_facts_come_back_and_damaged_ones_are_none_or_without_the_damage():
    facts = RequestFacts(first_s=0.25, seconds=3.5, retries=2, saved=Cost(amounts={"USD": 0.1}), tools="t")
    assert facts_in({"request": facts.to_plain()}) == facts
    for damaged in (
        None,
        [],
        {},
        {"seconds": "1"},
        {"seconds": -1},
        {"seconds": float("nan")},
        {"seconds": True},
    ):
        assert facts_in({"request": damaged}) is None
    odd = {"seconds": 1, "first_s": [], "retries": "many", "saved": 3, "tools": 7, "system": "x" * 99}
    assert facts_in({"request": odd}) == RequestFacts(seconds=1.0)
    later = facts + RequestFacts(first_s=9.0, seconds=1.0, tools="u")
    assert (later.first_s, later.seconds, later.retries, later.tools) == (0.25, 4.5, 2, "u")
