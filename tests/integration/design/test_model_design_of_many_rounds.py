"""A design by a model of many rounds: what is kept of it stays small, and grows in step with the rounds."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest

from application.workflow.designing import Answer, Question
from tests.fakes.designing_model import Reply, Request, amplifier
from tests.integration.context.test_message_data import known_share
from tests.integration.design.test_design_by_model import Bench

LARGEST_DATABASE = 10_000_000
LARGEST_ROW = 20_000
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
    """Seconds of processor time of this process at each checkpoint: the design's, and the server's in it."""

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
        used.append(time.process_time())
        return "continue" if question.round_number < rounds else "stop"

    done = await bench.design(decide=decide, max_iterations=rounds)
    assert done.rounds == rounds
    share = known_share([each.body for each in bench.exchanges[:60]])
    print(
        f"{share:.1%} of the tokens known; {rounds} rounds:"
        f" database at most {max(databases)} bytes, row at most {max(rows)} bytes,"
        f" transcript {transcript[-1]} bytes, {(transcript[-1] - transcript[0]) // (rounds - 1)} a round;"
        f" processor {_per_round(used[2:7]):.0f} ms a round first, {_per_round(used[-5:]):.0f} ms at last"
    )
    assert share >= LEAST_KNOWN
    assert max(databases) < LARGEST_DATABASE
    assert max(rows) < LARGEST_ROW
    half = len(transcript) // 2
    first, second = transcript[half] - transcript[0], transcript[2 * half - 1] - transcript[half - 1]
    assert second < 1.1 * first, "the transcript grows in step with the rounds"
    assert databases[-1] < 2 * max(databases[: half + 1]), "the database does not grow with them"


def _per_round(used: list[float]) -> float:
    return 1000 * (used[-1] - used[0]) / (len(used) - 1)


def _largest_row(path: Path) -> int:
    with sqlite3.connect(path) as database:
        sizes: list[Any] = [
            database.execute(f"select max(length({column})) from {table}").fetchone()[0]
            for table, column in (("checkpoints", "checkpoint"), ("writes", "value"))
        ]
    database.close()
    return max(size or 0 for size in sizes)
