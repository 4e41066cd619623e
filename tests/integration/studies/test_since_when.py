"""Who broke it: the guilty edit in histories of a hundred edits, by hand's and by operations."""

from __future__ import annotations

import asyncio
import hashlib
import random
from datetime import UTC, datetime
from pathlib import Path

import pytest

from application.app import Application
from application.goal_checks.since_when import Run
from domain.simulation.goals import DesignGoal
from domain.studies.halving import first_bad
from shared.errors import CircuitError, UserInputError
from tests.ground.campaign import Campaign, campaigns

GOAL = DesignGoal(metric="fc", expression="bandwidth(v(out))", unit="Hz", minimum=1400.0, maximum=1800.0)
EDITS = 100


GOOD_PART = "* shared\nC1 out 0 100n\n"


def _deck(r1: str, notes: dict[int, int]) -> str:
    lines = "".join(f"Rn{place} side{place} 0 {value}\n" for place, value in sorted(notes.items()))
    return f"* filter\nV1 in 0 AC 1\n.include part.inc\nR1 in out {r1}\n{lines}.ac dec 30 10 100k\n.end\n"


def _searched(count: int, guilty: int) -> tuple[int | None, int]:
    """What is found where all before `guilty` are good, and how many were looked at."""
    search, looked = first_bad(count), 0
    try:
        place = next(search)
        while True:
            looked += 1
            place = search.send(place < guilty)
    except StopIteration as end:
        return end.value, looked


def test_first_bad_looks_at_few() -> None:
    for count in (1, 2, 3, 7, 100, 1000):
        for guilty in range(1, count):
            found, looked = _searched(count, guilty)
            assert found == guilty
            assert looked <= 2 * count.bit_length()
        assert _searched(count, 0)[0] is None


@pytest.mark.timeout(1200)
@campaigns(fast=1, whole=20)
async def test_the_guilty_edit_is_found_and_only_it_is_taken_back(
    app: Application, tmp_path: Path, campaign: Campaign
) -> None:
    for draw in campaign.cases():
        case = campaign.case or 0
        await _one_history(app, _folder(tmp_path / str(case)), draw, is_in_part=case % 3 == 0)


async def _one_history(app: Application, root: Path, draw: random.Random, *, is_in_part: bool) -> None:
    """A hundred edits, half of them by hand and run; one of them, in the circuit or in what it includes,
    loses the goal."""
    circuit, part = root / "rc.cir", root / "part.inc"
    notes, r1 = dict.fromkeys(range(40), 1000), "1k"
    _write(part, GOOD_PART)
    _write(circuit, _deck(r1, notes))
    await app.project.browse.open(root)
    guilty = draw.randrange(5, EDITS - 5)
    runs: list[Run] = []
    op_id = ""
    for number in range(EDITS):
        path, text = circuit, ""
        if number == guilty and is_in_part:
            path, text = part, GOOD_PART.replace("100n", "1u")
        elif number == guilty:
            r1 = "7.7k"
        else:
            notes[draw.randrange(40)] = draw.randrange(100, 10_000)
        text = text or _deck(r1, notes)
        if draw.random() < 0.5 and path == circuit:
            await asyncio.to_thread(app.project.edit.save, path, text, encoding="utf-8")
            now = datetime.now(UTC).isoformat(timespec="milliseconds")
            runs.append(Run(created=now, sha256=_digest(path)))
        else:
            record = await app.project.operations.rewrite(
                root, {path: text.encode()}, expected={path: _digest(path)}, tool="patch_file"
            )
            op_id = record.op_id if number == guilty else op_id

    culprit = await app.design.since_when(root, circuit, GOAL, runs)
    assert culprit.runs <= 2 * EDITS.bit_length() + 1  # the text as it is now, too
    assert culprit.states > EDITS - 5
    assert culprit.value_before == pytest.approx(1591.5, rel=0.02)
    assert not GOAL.is_met_by(culprit.value_after)
    assert culprit.edit.op_id == op_id
    if is_in_part:
        assert (culprit.line, culprit.was, culprit.became) == (2, "C1 out 0 100n", "C1 out 0 1u")
    else:
        assert (culprit.line, culprit.was, culprit.became) == (4, "R1 in out 1k", "R1 in out 7.7k")

    await app.design.take_edit_back(root, culprit)
    assert _text(part) == GOOD_PART
    assert _text(circuit) == _deck("1k", notes)  # every other edit is still there
    with pytest.raises(CircuitError) as met:
        await app.design.since_when(root, circuit, GOAL)
    assert met.value.error_type == "goal_met"
    await app.project.operations.undo(root)
    assert (await app.design.since_when(root, circuit, GOAL, runs)).runs


async def test_what_was_never_met_and_what_overlaps_is_said(app: Application, tmp_path: Path) -> None:
    root = _folder(tmp_path / "p")
    circuit = root / "rc.cir"
    _write(root / "part.inc", GOOD_PART)
    _write(circuit, _deck("9k", {}))
    await app.project.browse.open(root)
    with pytest.raises(CircuitError) as never:
        await app.design.since_when(root, circuit, GOAL)
    assert never.value.error_type == "never_met"
    with pytest.raises(UserInputError):
        await app.design.since_when(root, tmp_path / "other.cir", GOAL)
    for r1 in ("1k", "7.7k", "8k"):
        await app.project.operations.rewrite(
            root, {circuit: _deck(r1, {}).encode()}, expected={circuit: _digest(circuit)}, tool="patch_file"
        )
    culprit = await app.design.since_when(root, circuit, GOAL)
    assert culprit.became == "R1 in out 7.7k"
    with pytest.raises(CircuitError) as overlap:
        await app.design.take_edit_back(root, culprit)
    assert overlap.value.error_type == "edits_overlap"
    assert _text(circuit) == _deck("8k", {})


async def test_of_an_edit_of_many_lines_the_one_that_lost_the_goal_is_told_and_taken_back(
    app: Application, tmp_path: Path
) -> None:
    root = _folder(tmp_path / "p")
    circuit, notes = root / "rc.cir", dict.fromkeys(range(4), 1000)
    _write(root / "part.inc", GOOD_PART)
    _write(circuit, _deck("1k", notes).replace("AC 1", "AC 2"))
    await app.project.browse.open(root)
    wanted = {
        root / "part.inc": GOOD_PART.replace("shared", "common"),
        circuit: _deck("7.7k", {**notes, 0: 5}),
    }
    await app.project.operations.rewrite(
        root,
        {path: text.encode() for path, text in wanted.items()},
        expected={path: _digest(path) for path in wanted},
        tool="rewrite_file",
    )
    culprit = await app.design.since_when(root, circuit, GOAL)
    assert (culprit.place, culprit.line) == ("rc.cir", 4)
    assert (culprit.was, culprit.became) == ("R1 in out 1k", "R1 in out 7.7k")
    assert GOAL.is_met_by(culprit.value_before)
    await app.design.take_edit_back(root, culprit)
    assert _text(circuit) == wanted[circuit].replace("7.7k", "1k")
    assert _text(root / "part.inc") == wanted[root / "part.inc"]


def _folder(path: Path) -> Path:
    path.mkdir()
    return path


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
