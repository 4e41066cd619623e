"""kill -9 in the middle of effects: each is wholly there or wholly not, and going on doubles none."""

import collections
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.ground.campaign import campaigns
from tests.integration.operations.effects_driver import ABSENT, EXPECTED, SERIES

ROOT = Path(__file__).resolve().parents[3]


def run(*arguments):
    done = subprocess.run(
        [sys.executable, "-m", "tests.integration.operations.effects_driver", *map(str, arguments)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return list(zip(lines[::2], lines[1::2], strict=True))


def effective(records):
    """The effects the log vouches for, in order, under the names of the series."""
    names = []
    for op_id, undoes, state, *_ in records:
        assert state != "intent", records
        if state in ("done", "undone"):
            names.append(f"undo of {undoes}" if undoes else op_id)
    return names


def check(after_kill, after_all):
    """The oracle: the files are a version of the series, and the log says exactly which."""
    happened = effective(after_kill["records"])
    assert happened == [name for name, _, _ in SERIES[: len(happened)]]
    assert after_kill["files"] == EXPECTED[len(happened)]
    assert effective(after_all["records"]) == [name for name, _, _ in SERIES]
    assert after_all["files"] == EXPECTED[-1]
    chain = {}
    for _, _, state, path, before, after in after_all["records"]:
        if state in ("done", "undone"):
            assert chain.get(path, before) == before
            chain[path] = after
    assert {path: after for path, after in chain.items() if after != ABSENT} == EXPECTED[-1]
    return len(happened)


STRIDE = 8


@campaigns(fast=1, whole=STRIDE, parts=2)
@pytest.mark.timeout(500)
def test_dying_before_or_after_a_step_to_the_disk(campaign, tmp_path):
    """The whole campaign dies at every moment there is."""
    for rng in campaign.cases():
        first = rng.randrange(STRIDE) if campaign.count == 1 else campaign.case
        counts = [check(*case) for case in run("steps", tmp_path, first + 1, STRIDE)]
        assert counts == sorted(counts)
        assert counts[-1] == len(SERIES)
        assert len(counts) > 100 / STRIDE


@campaigns(fast=1, whole=20, parts=4)
@pytest.mark.timeout(500)
def test_being_killed_at_random_times(campaign, tmp_path, capsys):
    counts = [
        check(*case)
        for rng in campaign.cases()
        for case in run("times", tmp_path, rng.randrange(1 << 30), 20)
    ]
    spread = [counts.count(number) for number in range(len(SERIES) + 1)]
    with capsys.disabled():
        print(f"\n  killed after 0..{len(SERIES)} effects: {spread} ", end="")
    assert len(counts) >= 20


@campaigns(fast=1, whole=20, parts=4)
@pytest.mark.timeout(3000)
def test_random_sequences_of_operations_undos_edits_and_kills(campaign, tmp_path, capsys):
    """Against a model of the files, in the driver: byte for byte, and no outside edit is ever run over."""
    totals = collections.Counter()
    for rng in campaign.cases():
        done = subprocess.run(
            [
                sys.executable,
                *("-m", "tests.integration.operations.sequences_driver", tmp_path),
                *(str(rng.randrange(1 << 30)), "12" if campaign.count == 1 else "50"),
            ],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
            timeout=500,
        )
        assert done.returncode == 0, done.stderr
        totals.update(json.loads(done.stdout))
    with capsys.disabled():
        print(f"\n  {dict(sorted(totals.items()))} ", end="")
    assert totals["killed"] > 5
    assert totals["outside edits"] > 5
