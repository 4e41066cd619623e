"""What a change would do, by real ngspice: goals and curves of all that reads the files, before and after."""

from __future__ import annotations

import asyncio
import math
from pathlib import Path

import pytest

from application.app import Application
from application.goal_checks.previewing import ChangePreview, PreviewChange
from domain.llm.tools.confirmation_card import CallOnCard
from domain.llm.tools.effect import ComputedEffect
from domain.simulation.goals import DesignGoal
from presentation.preview_words import lines_of, takes_about
from presentation.translation import Translator

PART = "* shared part\nC1 out 0 100n\n"
FC = DesignGoal(metric="fc", expression="bandwidth(v(out))", unit="Hz", minimum=1400.0, maximum=1800.0)
DC = DesignGoal(metric="dc", expression="db(dcgain(v(out)))", unit="dB", minimum=-1.0)
HOT = DesignGoal(
    metric="hot", expression="bandwidth(v(out))", unit="Hz", minimum=1000.0, condition="at 125 degC"
)


def _deck(r1: str = "1k", reads: str = ".include part.inc", more: str = "") -> str:
    return (
        f"* filter\nV1 in 0 AC 1\n{reads}\nR1 in out {r1} tc1=5m\nR9 out 0 1meg\n{more}"
        ".ac dec 30 10 100k\n.end\n"
    )


def _names(change: ChangePreview) -> list[str]:
    return [each.circuit.name for each in change.circuits]


def _all_in(root: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}


_ENGLISH = Translator("en")


def _said(change: ChangePreview) -> list[str]:
    return [
        f"{line.tone}: {_ENGLISH(line.text)}".replace("\N{NO-BREAK SPACE}", " ") for line in lines_of(change)
    ]


@pytest.fixture
async def root(app: Application, tmp_path: Path) -> Path:
    (tmp_path / "part.inc").write_text(PART)
    (tmp_path / "note.txt").write_text("nothing")
    for name in ("a.cir", "b.cir"):
        (tmp_path / name).write_text(_deck())
    (tmp_path / "plain.cir").write_text(_deck(reads="C1 out 0 100n"))
    await app.project.browse.open(tmp_path)
    await app.project.browse.ask_of(tmp_path, tmp_path / "a.cir", [FC, DC, HOT])
    return tmp_path


async def test_goals_and_curves_before_and_after_and_the_project_as_it_was(
    app: Application, root: Path
) -> None:
    before = _all_in(root)
    preview, a, part = app.design.preview_change, root / "a.cir", root / "part.inc"

    # A shared part: the circuit that is meant comes first, one without goals only where it is meant.
    found = await preview(root, {part: PART.replace("100n", "1u").encode()})
    assert found is not None
    assert _names(found) == ["a.cir"]
    fc, dc, hot = found.circuits[0].goals
    assert (fc.is_lost, dc.is_lost, hot.is_lost) == (True, False, True)
    assert fc.before is not None
    assert math.isclose(fc.before.value, 1 / (2 * math.pi * 999.0 * 100e-9), rel_tol=0.01)
    assert math.isclose(fc.after.value, fc.before.value / 10, rel_tol=0.01)
    assert math.isclose(hot.after.value, fc.after.value / 1.49, rel_tol=0.01)  # 1 k is 1.49 k at 125 degC
    assert [plot.analysis for plot in found.circuits[0].after] == ["ac"]
    one, other = (
        plots[0].vectors["v(out)"].data for plots in (found.circuits[0].before, found.circuits[0].after)
    )
    assert abs(one[0]) == pytest.approx(abs(other[0]), rel=1e-2)
    assert abs(one[-1]) == pytest.approx(10 * abs(other[-1]), rel=1e-2)
    assert _said(found) == [
        "head: a.cir:",  # it only reads what is changed
        "missed: fc 1.593 kHz → 159.9 Hz ✗ lost (1.4 kHz … 1.8 kHz)",
        "missed: hot (at 125 degC) 1.07 kHz → 107.9 Hz ✗ lost (≥ 1 kHz)",
        "met: dc −0.009 dB → −0.026 dB ✓",
    ]
    both = await preview(root, {part: PART.encode() + b"R8 out 0 1k\n"}, circuits=[root / "b.cir"])
    assert both is not None
    assert _names(both) == ["b.cir", "a.cir"]
    assert both.circuits[0].goals == ()
    assert [each.name for each in both.circuits[0].figures] == ["db(dcgain(v(out)))", "bandwidth(v(out))"]
    gain = both.circuits[0].figures[0]
    assert gain.before is not None
    assert gain.after is not None
    assert (gain.before.value, gain.after.value) == pytest.approx((0.0, -6.02), abs=0.02)

    # Several files at once, one of them new; an unsaved text counts as what there is.
    then = {a: _deck(reads=".include new.inc").encode(), root / "new.inc": b"* new\nC1 out 0 50n\n"}
    new = await preview(root, then, now={a: _deck("2k").encode()})
    assert new is not None
    fc = new.circuits[0].goals[0]
    assert fc.before is not None
    assert fc.after.value / fc.before.value == pytest.approx(4.0, rel=0.01)

    # What makes it fail says so; what mends it too; what concerns no circuit says nothing.
    gone = await preview(root, {part: None})
    assert gone is not None
    assert gone.circuits[0].problem is not None
    assert "part.inc" in _said(gone)[1]
    assert await preview(root, {root / "plain.cir": None}, circuits=[root / "plain.cir"]) is None
    broken = _deck(more="R5 out 0 {nope}\n").encode()
    worse = await preview(root, {a: broken})
    assert worse is not None
    assert _said(worse)[0].startswith("problem: does not simulate any more: ")
    mended = await preview(root, {a: _deck().encode()}, now={a: broken})
    assert mended is not None
    assert _said(mended)[0] == "met: simulates again"
    assert mended.circuits[0].goals[0].after.is_met
    assert await preview(root, {root / "note.txt": b"x", root / "deep.inc": b"* x\n"}, circuits=[a]) is None
    remark = await preview(root, {part: PART.encode() + b"* x\n"}, circuits=[root / "plain.cir"])
    assert remark is not None
    assert _said(remark) == ["head: a.cir:", "plain: no result changes"]
    assert remark.circuits[0].is_same
    assert not found.circuits[0].is_same
    assert _all_in(root) == before


async def test_a_long_run_is_said_and_done_only_when_it_is_wanted_and_ends_at_once(
    app: Application, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, then = root / "a.cir", {root / "a.cir": _deck("2k").encode()}
    monkeypatch.setattr("application.goal_checks.previewing.QUICK_S", 0.0)
    slow = await app.design.preview_change(root, then)
    assert slow is not None
    assert slow.circuits[0].after == ()
    assert slow.circuits[0].slow_s is not None
    assert "A run takes about" in str(takes_about(slow))
    wanted = await app.design.preview_change(root, then, is_wanted=True)
    assert wanted is not None
    assert takes_about(wanted) is None
    assert wanted.circuits[0].goals[0].is_lost

    endless = {a: _deck().replace(".ac dec 30", ".ac dec 9000000").encode()}
    task = asyncio.ensure_future(app.design.preview_change(root, endless, is_wanted=True))
    files = _all_in(root)
    await asyncio.sleep(0.3)
    assert _all_in(root) == files  # a kill now leaves nothing in the project
    task.cancel()
    assert isinstance((await asyncio.gather(task, return_exceptions=True))[0], asyncio.CancelledError)
    monkeypatch.setattr("application.goal_checks.previewing._PATIENCE_S", 0.3)
    cut = await PreviewChange.__call__(app.design.preview_change, root, endless)
    assert cut is not None
    assert cut.circuits[0].slow_s is not None


async def test_calls_that_wait_for_a_permission_are_carried_out_on_copies(
    app: Application, root: Path
) -> None:
    def call(tool: str, **arguments: object) -> CallOnCard:
        effect = ComputedEffect(effect="change")
        return CallOnCard(call_id=tool, tool=tool, effect=effect, reasons=(), arguments=arguments)

    (root / "crlf.cir").write_bytes(_deck().replace("\n", "\r\n").encode())
    calls = [
        call("rewrite_file", path="plain.cir", content=_deck("3k")),
        call("patch_file", path="plain.cir", search="3k", replace="4k"),
        call("patch_file", path="crlf.cir", search="1k tc1=5m\nR9", replace="5k\nR9"),
        call("patch_file", path="a.cir", search="not there", replace="x"),
        call("rewrite_file", path="../outside.cir", content="x"),
        call("rewrite_file", path="deep/new.cir", content="* new\n"),
        call("delete_file", path="part.inc"),
        call("run_simulation", path="a.cir"),
    ]
    found = await app.project.proposed(root, calls)
    assert {path.relative_to(root).as_posix(): data for path, data in found.items()} == {
        "plain.cir": _deck("4k").encode(),
        "crlf.cir": _deck().replace("1k tc1=5m", "5k").replace("\n", "\r\n").encode(),
        "deep/new.cir": b"* new\n",
        "part.inc": None,
    }
    assert (root / "plain.cir").read_text() == _deck(reads="C1 out 0 100n")
    assert not (root / "deep").exists()
