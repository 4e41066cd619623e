"""All goals of all circuits that an edit touches: what is met, what was lost, by which lines."""

from __future__ import annotations

import asyncio
import math
import time
from pathlib import Path

from application.app import Application
from application.project.goals_watch import CircuitNow, GoalNow, GoalsSeen, Watched
from domain.circuit.changed_lines import changed_places
from domain.simulation.goals import DesignGoal

PART = "* shared part\nC1 out 0 100n\n"
HIGH = DesignGoal(metric="fc", expression="bandwidth(v(out))", unit="Hz", minimum=1400.0, maximum=1800.0)
GONE = DesignGoal(metric="side", expression="v(side)", unit="V", maximum=1.0)
HOT = DesignGoal(
    metric="hot", expression="bandwidth(v(out))", unit="Hz", minimum=1400.0, condition="at 125 degC"
)
CORNER = DesignGoal(
    metric="slow", expression="bandwidth(v(out))", unit="Hz", minimum=1.0, condition="slow corner"
)


def _deck(r1: str, reads: str = ".include part.inc") -> str:
    return (
        f"* filter\nV1 in 0 AC 1\n{reads}\nR1 in out {r1} tc1=5m\nR9 out 0 1meg\n.ac dec 30 10 100k\n.end\n"
    )


async def _project(app: Application, root: Path) -> tuple[Path, Path, Path]:
    """Two boards that share a part, and a circuit beside them."""
    _write(root / "part.inc", PART)
    boards = root / "a.cir", root / "b.cir"
    other = root / "other.cir"
    for board in boards:
        _write(board, _deck("1k"))
    _write(other, _deck("1k", "C1 out 0 100n"))
    await app.project.browse.open(root)
    for circuit in (*boards, other):
        await app.project.browse.ask_of(root, circuit, [HIGH])
    return (*boards, other)


async def test_a_shared_part_loses_goals_of_both_boards_and_names_its_line(
    app: Application, tmp_path: Path
) -> None:
    a, b, other = await _project(app, tmp_path)
    watch, seen = app.design.watch_goals, GoalsSeen()
    part = (tmp_path / "part.inc").resolve()
    standing = seen.take(await watch(tmp_path, None))
    assert (standing.met, standing.missed) == (3, ())

    # As it is being written: the disk still has the good part.
    edited = PART.replace("100n", "1u").encode()
    found = await watch(tmp_path, {part}, texts={part: edited}, first=b)
    assert [each.circuit for each in found.circuits] == [b, a]  # the one in front first, others untouched
    standing = seen.take(found)
    assert standing.met == 1
    assert {(each.circuit, each.file, each.lines) for each in standing.lost} == {
        (a, part, (2,)),
        (b, part, (2,)),
    }
    lost = standing.lost[0]
    assert math.isclose(lost.was, 1 / (2 * math.pi * 999.0 * 100e-9), rel_tol=0.01)
    assert math.isclose(lost.now.value, lost.was / 10, rel_tol=0.01)

    standing = seen.take(await watch(tmp_path, {part}))
    assert (standing.met, standing.missed) == (3, ())
    standing = seen.take(
        await watch(tmp_path, {other}, texts={other: b"* half\nR1 in\n.ac dec 30 10 1k\n.end\n"})
    )
    assert standing.met == 2
    assert [path for path, _ in standing.problems] == [other]
    await app.project.browse.ask_of(tmp_path, other, [])
    assert seen.take(await watch(tmp_path, {other})).problems == ()


async def test_conditions_are_set_lost_signals_are_their_goals_own_and_the_budget_is_kept(
    app: Application, tmp_path: Path
) -> None:
    a, _, other = await _project(app, tmp_path)
    await app.project.browse.ask_of(tmp_path, a, [HIGH, HOT, CORNER, GONE])
    found = await app.design.watch_goals(tmp_path, {a})
    goals = {each.goal.metric: each for each in found.circuits[0].goals}
    assert goals["fc"].is_met
    # 1 k at 27 degC is 1.49 k at 125 degC: 1.07 kHz.
    assert goals["hot"].is_met is False
    assert math.isclose(goals["hot"].value, goals["fc"].value / 1.49, rel_tol=0.01)
    assert goals["slow"].is_met is None
    assert goals["side"].is_met is False
    assert goals["side"].reason is not None
    assert math.isnan(goals["side"].value)

    few = await app.design.watch_goals(tmp_path, None, first=other, budget_s=0.0)
    assert ([each.circuit for each in few.circuits], few.left_out) == ([other], 2)


async def test_it_ends_at_once_when_it_is_stopped(app: Application, tmp_path: Path) -> None:
    a, _, _ = await _project(app, tmp_path)
    _write(a, _deck("1k").replace(".ac dec 30", ".ac dec 900000"))
    task = asyncio.ensure_future(app.design.watch_goals(tmp_path, {a}))
    await asyncio.sleep(1)
    task.cancel()
    began = time.monotonic()
    assert isinstance((await asyncio.gather(task, return_exceptions=True))[0], asyncio.CancelledError)
    assert time.monotonic() - began < 20


def test_what_was_met_once_is_lost_what_never_was_is_missed() -> None:
    path = Path("/p/a.cir")

    def look(value: float, text: bytes) -> Watched:
        now = GoalNow(goal=HIGH, value=value, is_met=HIGH.is_met_by(value))
        return Watched(circuits=(CircuitNow(circuit=path, goals=(now,), texts={path: text}),))

    seen = GoalsSeen()
    assert [each.is_lost for each in seen.take(look(1e3, b"a\nb\n")).missed] == [False]
    assert seen.take(look(1.5e3, b"a\nc\nd\ne\n")).met == 1
    assert seen.take(look(1e3, b"a\nc\nd\nx\n")).lost[0].lines == (4,)
    assert seen.take(look(1e3, b"y\nc\nd\nx\n")).lost[0].lines == (1, 4)
    assert seen.take(Watched(gone=(path,))).missed == ()


def test_changed_places() -> None:
    assert changed_places(b"a\nb\nc\n", b"a\nb\nc\n") == ()
    assert changed_places(b"a\nb\nc\n", b"a\nc\n") == (2,)
    assert changed_places(b"a\nb\nc\n", b"a\nb\nx\nc\n") == (3,)
    assert changed_places(b"a\nb\nc\n", b"a\nx\ny\n") == (2, 3)
    assert changed_places(b"", b"x\n") == (1,)
    many = b"".join(b"%d\n" % number for number in range(100_000))
    assert changed_places(b"first\n" + many, b"first\n" + many[::-1]) == (2,)


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
