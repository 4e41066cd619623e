"""Answers that were cut off, claim what was not done, or leave out what was wanted; and phases of a turn."""

from __future__ import annotations

import random

import pytest

from domain.llm.agent_limits import AgentLimits
from domain.llm.agentic_loop.claims import Doubts
from domain.llm.agentic_loop.policy import (
    ENDS,
    PHASES,
    Ask,
    End,
    IllegalTransitionError,
    PhaseMachine,
    Seam,
    next_move,
    next_nudge,
)
from tests.ground.cases import for_each
from tests.unit.agentic_loop.turns import answered, did, said, turn

PATCH = answered(did("patch_file", {"path": "a.cir"}, version="v2"))
READ = answered(did("read_file", {"path": "a.cir"}))


@pytest.mark.parametrize("finish", ["length", "cut"])
def test_a_cut_answer_is_gone_on_with_five_times(finish: str) -> None:
    for count in range(5):
        move = next_move(turn(READ, said("half", finish, continuations=count)), AgentLimits())
        assert isinstance(move, Ask)
        assert move.continues == "m"
    for last in (said("half", finish, continuations=5), said("half", finish, continuations=1, is_stuck=True)):
        end = next_move(turn(READ, last), AgentLimits())
        assert isinstance(end, End)
        assert end.reason == finish


@for_each(
    ("before", "more", "joined"),
    [
        ("Hello wor", "ld, this", "Hello world, this"),
        ("Hello wor", "world, this", "Hello world, this"),
        ("The gain is 40 dB and the band", "The gain is 40 dB and the bandwidth is 1 MHz.",
         "The gain is 40 dB and the bandwidth is 1 MHz."),
        ("R1 in out 1k\nC1 out 0", " 1u\n.end", "R1 in out 1k\nC1 out 0 1u\n.end"),
        ("R1 in out 1k\nC1 out 0", "C1 out 0 1u\n.end", "R1 in out 1k\nC1 out 0 1u\n.end"),
        ("R1 in out 1k\n", "R1 in", "R1 in out 1k\nR1 in"),
        ("R1 in out 1k\nC12 in out 4", "C12 in out 47u\n.end", "R1 in out 1k\nC12 in out 47u\n.end"),
        ("增益为四十分贝，带宽为", "带宽为四十", "增益为四十分贝，带宽为带宽为四十"),
        ("增益为四十分贝，带宽为", "四十分贝，带宽为一兆赫", "增益为四十分贝，带宽为一兆赫"),
        ("a ruled line --------------", "-------------- and more", "a ruled line " + "-" * 28 + " and more"),
        ("```spice\nR1 a b 1k\n", "```spice\nC1 b 0 1u\n```\n", "```spice\nR1 a b 1k\nC1 b 0 1u\n```\n"),
        ("It is 10", "100 V", "It is 10100 V"),
        ("whole", "", "whole"),
    ],
)  # fmt: skip
def test_parts_join_without_a_seam_however_they_arrive(before: str, more: str, joined: str) -> None:
    for seed in range(8):
        rng, seam, text, rest = random.Random(seed), Seam(before), before, more
        while rest:
            length = rng.randint(1, 7)
            text, rest = text + seam.take(rest[:length]), rest[length:]
        assert text + seam.end() == joined


def test_any_text_cut_anywhere_is_whole_again() -> None:
    """Whatever the model repeats of the end - nothing, or at least a line - it stands there once."""
    rng = random.Random(7)
    lines = [
        f"{number}: the {rng.choice(('gain', 'pole', 'noise'))} is {rng.random():.6f}\n"
        for number in range(40)
    ]
    text = "".join(lines)
    for _ in range(300):
        at = rng.randint(20, len(text) - 20)
        start = at - rng.choice((0, rng.randint(20, at)))
        seam, more = Seam(text[:at]), text[start:]
        assert text[:at] + seam.take(more[:5]) + seam.take(more[5:]) + seam.end() == text, (at, start)
    longer = text * 9
    seam = Seam(longer[:-9])
    again = "".join(seam.take(longer[at : at + 50]) for at in range(0, len(longer), 50)) + seam.end()
    assert again == longer[-9:]  # all of it once more, however long it is


def test_figures_without_backing_are_asked_about_once_and_never_argued_about() -> None:
    claim = said("The gain is 12.3 dB now.")
    asked = next_move(turn(claim), AgentLimits(), doubts=Doubts(figures=("12.3 dB",)))
    assert isinstance(asked, Ask)
    assert "12.3 dB" in asked.note
    ended = End(reason="completed")
    assert (
        next_move(turn(claim, said("It is 12.3 dB.")), AgentLimits(), doubts=Doubts(figures=("12.3 dB",)))
        == ended
    )
    assert next_move(turn(claim, PATCH, claim), AgentLimits(), doubts=Doubts(figures=("12.3 dB",))) == ended
    assert next_move(turn(claim), AgentLimits()) == ended


def test_an_open_task_list_is_gone_on_with_while_it_gets_shorter() -> None:
    first = said("- [x] read\n- [ ] lower R1\n- [ ] simulate")
    asked = next_nudge(turn(READ, first))
    assert asked is not None
    assert asked.about == {"lower R1", "simulate"}
    second = said("- [x] read\n- [x] lower R1\n- [ ] simulate")
    assert next_nudge(turn(READ, first, PATCH, second)) is not None
    assert next_nudge(turn(READ, first, first)) is None  # the same list again: it stands
    assert next_nudge(turn(READ, said("- [ ] a\n- [ ] b"))) is None  # a plan, not begun
    assert next_nudge(turn(READ, said("- [x] a\n- [ ] b\nShall I go on?"))) is None
    assert next_nudge(turn(said("- [x] a\n- [ ] b"))) is None  # no work in this turn


def test_a_summary_that_was_wanted_is_asked_for_once() -> None:
    for question in ("Read a.cir and summarize it", "读一下 a.cir，总结内容"):
        asked = next_nudge(turn(READ, said("Done."), question=question))
        assert asked is not None
        assert asked.kind == "summary"
        assert next_nudge(turn(READ, said("Done."), said("Done."), question=question)) is None
    assert next_nudge(turn(READ, said("Done."), question="Read it, no summary")) is None
    assert next_nudge(turn(said("好的。"), question="以后请总结")) is None  # no tool was used
    assert (
        next_nudge(
            turn(
                READ,
                said("一个 RC 低通滤波器，截止频率 159 赫兹，由两个元件构成，没有负载。"),
                question="总结",
            )
        )
        is None
    )


def test_phases_follow_each_other_as_drawn_and_in_no_other_way() -> None:
    machine = PhaseMachine()
    for phase in (
        "preparing", "calling", "streaming", "parsing", "waiting", "executing", "executing", "aggregating",
        "calling", "streaming", "parsing", "complete", "idle",
    ):  # fmt: skip
        machine.enter(phase)  # type: ignore[arg-type]
        assert machine.phase == phase
    for phase in PHASES:
        if phase != "preparing":
            with pytest.raises(IllegalTransitionError):
                machine.enter(phase)
            assert machine.phase == "idle"
    for end in ENDS:
        machine = PhaseMachine()
        machine.enter("preparing")
        if end == "complete":
            machine.enter("calling")
        machine.enter(end)
        assert [phase for phase in PHASES if machine.may_enter(phase)] == ["idle"]
