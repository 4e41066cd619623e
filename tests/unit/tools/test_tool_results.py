"""Results: stored without loss, cut to size; and the estimate of tokens."""

from __future__ import annotations

import json
import math

import pytest

from domain.llm.tokens import LineBudget, count_tokens, head_and_tail
from domain.llm.tools.result import (
    ToolResult,
    cut_middle,
    failure,
    failure_of,
    fitted,
    result_from_plain,
    result_to_plain,
)
from shared.errors import CircuitError, EnvironmentProblem
from shared.message import msg


def test_a_result_survives_the_log() -> None:
    result = ToolResult(
        success=True,
        content="Changed 放大器.cir",
        summary=msg("Changed {path} (+{added} −{removed} lines).", path="放大器.cir", added=3, removed=1),
        suggestions=(msg("{reason}", reason=msg("The query is empty.")),),
        result={"values": [1.5, None, {"a": "b"}]},
        seen_versions={"放大器.cir": "0" * 64},
    )
    stored = json.dumps(result_to_plain(result))
    assert result_from_plain(json.loads(stored)) == result


def test_failures_say_what_where_and_what_to_do() -> None:
    error = CircuitError(
        msg("The query is empty."), advice=msg("Give a text to search for."), line=4, error_type="odd"
    )
    result = failure_of(error)
    assert result.content == "Error (odd): The query is empty.\n(line 4)\nGive a text to search for."
    assert (result.error_type, result.result, result.is_environment) == ("odd", {"line": 4}, False)
    assert failure_of(EnvironmentProblem(msg("The query is empty."))).is_environment
    assert result_from_plain(result_to_plain(result)) == result


def test_numbers_json_does_not_have_become_null() -> None:
    result = failure("x", msg("The query is empty."), result={"a": math.nan, "b": (math.inf, 1)})
    assert result_to_plain(result)["result"] == {"a": None, "b": [None, 1]}


@pytest.mark.parametrize("size", [0, 10, 4999, 5000, 5001, 100_000])
def test_contents_are_cut_in_the_middle(size: int) -> None:
    text = "".join(str(n % 10) for n in range(size))
    cut = cut_middle(text)
    assert len(cut) <= 5000
    if size <= 5000:
        assert cut == text
    else:
        assert cut.startswith(text[:3000])
        assert cut.endswith(text[-1500:])


def test_head_and_tail_share_the_budget() -> None:
    lines = ["word " * 8 + "end"] * 100  # ten tokens each with its line end
    assert head_and_tail(lines, tokens=2000, characters=9999) == (100, 0)
    assert head_and_tail(lines, tokens=500, characters=9999) == (30, 15)
    assert head_and_tail(lines, tokens=9999, characters=440) == (6, 3)
    assert head_and_tail(["y" * 10_000, "z"], tokens=10, characters=100)[0] == 1


def test_a_line_costs_its_end_too() -> None:
    budget = LineBudget(tokens=10, characters=1000)
    assert sum(budget.takes("a") for _ in range(50)) == 5


@pytest.mark.parametrize("text", ["滤波器" * 3000, "a滤" * 4000, "R1 in out 1k\n" * 900, "é" * 6000])
def test_contents_of_any_script_are_within_the_tokens(text: str) -> None:
    cut = cut_middle(text)
    assert count_tokens(cut) <= 2000
    assert len(cut) <= 5000
    assert len(cut) > 1900
    assert cut[:50] == text[:50]
    assert cut[-50:] == text[-50:]
    assert cut_middle(text[:1500]) == text[:1500]


def test_structured_results_are_within_the_tokens_and_say_what_is_missing() -> None:
    rows = [{"name": f"r{n}", "value": n / 3} for n in range(5000)]
    cut = fitted(
        {
            "ok": True,
            "rows": rows,
            "note": "short",
            "deep": {"texts": {f"k{n}": "好" * 300 for n in range(99)}},
        }
    )
    assert count_tokens(json.dumps(cut, ensure_ascii=False)) <= 2000
    assert cut["shortened"] == ["deep", "rows"]
    assert (cut["ok"], cut["note"]) == (True, "short")
    assert cut["rows"] == rows[: len(cut["rows"])]
    assert len(cut["rows"]) > 5
    small = {"rows": rows[:10], "ok": True}
    assert fitted(small) == small
    many = fitted({f"key {n} {'x' * 90}": n for n in range(500)})
    assert count_tokens(json.dumps(many)) <= 2000
