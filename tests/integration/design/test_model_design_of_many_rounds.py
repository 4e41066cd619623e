"""A design by a model of many rounds: what is kept of it stays small, and grows in step with the rounds."""

from __future__ import annotations

import sqlite3
import sys
import threading
from itertools import count
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from application.workflow.designing import Answer, Question
from tests.fakes.designing_model import Reply, Request, amplifier
from tests.integration.context.test_message_data import known_share
from tests.integration.design.test_design_by_model import Bench

LARGEST_DATABASE = 10_000_000
LARGEST_ROW = 20_000
MOST_GROWTH = 1.1
"""Of the calls a round takes, from the third of ten to the last."""
_OWN = tuple(
    str(Path(__file__).parents[3] / layer) for layer in ("application", "domain", "infrastructure", "shared")
)
LEAST_KNOWN = 0.7
"""Of the tokens of all requests, those that stand at the beginning of an earlier one, too."""


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("rounds", [10, pytest.param(200, marks=pytest.mark.torture)])
async def test_what_is_kept_of_many_rounds_stays_small(rounds: int, tmp_path: Path) -> None:
    bench = Bench(tmp_path / "project", tmp_path / "home")
    private = bench.root / ".circuit_ai"
    value = 200

    transcript: list[int] = []
    databases: list[int] = []
    rows: list[int] = []
    used: list[float] = []
    """Calls of the product's own functions before each checkpoint, in all threads: no clock, no load of the
    machine changes them."""
    calls = count()

    def counts(frame: FrameType, event: str, _arg: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(_OWN):
            next(calls)

    def measure() -> None:  # on the server's thread, between two rounds
        (session,) = (private / "conversations").glob("*.jsonl")
        transcript.append(session.stat().st_size)
        databases.append(sum(path.stat().st_size for path in private.glob("checkpoints.sqlite*")))
        rows.append(_largest_row(private / "checkpoints.sqlite"))

    def improves(request: Request) -> Reply:
        nonlocal value
        if request.answers:
            return Reply("A little more.")
        measure()
        before, value = value, value + 1
        change = {"path": "amp.cir", "search": f"Rc vcc c {before}", "replace": f"Rc vcc c {value}"}
        return Reply(calls=[("patch_file", change)])

    def designs(request: Request) -> Reply:
        calls = (
            [] if request.answers else [("rewrite_file", {"path": "amp.cir", "content": amplifier("200")})]
        )
        return Reply("Small." if request.answers else "", calls)

    bench.model.acts |= {"design": designs, "optimize": improves}

    def decide(question: Question) -> Answer:
        used.append(next(calls))
        return "continue" if question.round_number < rounds else "stop"

    threading.setprofile(counts)
    sys.setprofile(counts)
    try:
        done = await bench.design(decide=decide, max_iterations=rounds)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    assert done.rounds == rounds
    part = max(rounds // 10, 3)
    first_calls, last_calls = _per_round(used[2 : part + 3]), _per_round(used[-part - 1 :])
    share = known_share([each.body for each in bench.exchanges[:60]])
    print(
        f"{share:.1%} of the tokens known; {rounds} rounds:"
        f" database at most {max(databases)} bytes, row at most {max(rows)} bytes,"
        f" transcript {transcript[-1]} bytes, {(transcript[-1] - transcript[0]) // (rounds - 1)} a round;"
        f" {first_calls:.0f} calls a round first, {last_calls:.0f} at last"
    )
    if rounds == 10:  # of more rounds each request is longer; that figure is printed
        assert last_calls < MOST_GROWTH * first_calls, "a late round does what an early one does"
    assert share >= LEAST_KNOWN
    assert max(databases) < LARGEST_DATABASE
    assert max(rows) < LARGEST_ROW
    half = len(transcript) // 2
    first, second = transcript[half] - transcript[0], transcript[2 * half - 1] - transcript[half - 1]
    assert second < 1.1 * first, "the transcript grows in step with the rounds"
    assert databases[-1] < 2 * max(databases[: half + 1]), "the database does not grow with them"


def _per_round(used: list[float]) -> float:
    return (used[-1] - used[0]) / (len(used) - 1)


def _largest_row(path: Path) -> int:
    with sqlite3.connect(path) as database:
        sizes: list[Any] = [
            database.execute(f"select max(length({column})) from {table}").fetchone()[0]
            for table, column in (("checkpoints", "checkpoint"), ("writes", "value"))
        ]
    database.close()
    return max(size or 0 for size in sizes)
