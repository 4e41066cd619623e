"""What is typed at a checkpoint, read by the rules: 40 texts written before the rules, and those they grew with."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from domain.design.catalogue import understand
from domain.design.checkpoint_intent import CheckpointIntent, read_checkpoint_text
from domain.simulation.goals import DesignGoal

GOALS = understand("2nd-order Butterworth low-pass filter, cut-off 10 kHz").goals


class At(NamedTuple):
    """A checkpoint; as it is here after the third round, with its goals met."""

    goals: tuple[DesignGoal, ...] = GOALS
    goals_met: bool = True
    has_failed: bool = False
    can_undo: bool = True
    rounds: int = 3

    def read(self, text: str) -> CheckpointIntent:
        return read_checkpoint_text(text, **self._asdict())


MET = At()
MISSED = At(goals_met=False)
FAILED = At(goals_met=False, has_failed=True)

HELD_OUT: tuple[tuple[str, str, At], ...] = (
    ("continue please", "continue", MISSED),
    ("one more round, would you?", "continue", MISSED),
    ("optimise it a bit more", "optimize", MET),
    ("keep going, just swap the op-amp for a cheaper one", "instruction", MET),
    ("Alright, let's take this one.", "accept", MET),
    ("I'm happy with that, accept it", "accept", MET),
    ("don't finish yet", "continue unclear", MET),
    ("how far is the cutoff from its limit", "question", MET),
    ("why did the peaking get worse after round 2?", "question", MISSED),
    ("does 'stop' throw the file away?", "question", MET),
    ("can you use 1 % resistors instead?", "instruction", MET),
    ("could we lower the cutoff to 9 kHz?", "goals", MET),
    ("cut-off 11.5 kHz please", "goals", MET),
    ("peaking max 0.3 dB", "goals", MET),
    ("let me edit the goals", "goals", MISSED),
    ("back to the first round", "go_back", MET),
    ("please revert to round 2", "go_back", MISSED),
    ("undo this round", "undo", MET),
    ("stop here, thanks", "stop", MISSED),
    ("fix the simulation error", "fix", FAILED),
    ("what a lovely day", "unclear question", MET),
    ("C2 should be 4.7 nF", "instruction", MISSED),
    ("再来一轮看看", "continue", MISSED),
    ("接着优化吧", "optimize", MET),
    ("继续，不过电阻都用 E24 系列", "instruction", MISSED),
    ("可以，就这样定了", "accept", MET),
    ("先不要接受，我再看看", "continue unclear", MET),
    ("这个相位裕度够不够？", "question", MET),
    ("为什么第二轮变差了", "question", MISSED),
    ("把截止频率降到 8 kHz", "goals", MET),
    ("通带峰值放宽到 1 dB", "goals", MISSED),
    ("我想改一下目标", "goals", MISSED),
    ("退回到第二轮", "go_back", MET),
    ("把刚才那轮撤销掉", "undo", MET),
    ("先停在这里吧", "stop", MISSED),
    ("别停，接着来", "continue", MISSED),
    ("修一下报错", "fix", FAILED),
    ("今天天气真好", "unclear", MET),
    ("能不能换一个噪声更低的运放？", "instruction", MISSED),
    ("“接受设计”是什么意思", "question", MET),
)
"""The text, what a person means by it (either of two where people differ), and where. Written before the rules."""


def test_held_out_texts_are_read_as_meant_and_none_ends_a_design_unasked() -> None:
    assert len(HELD_OUT) == 40
    wrong = []
    for text, meant, at in HELD_OUT:
        kind = at.read(text).kind
        if kind not in meant.split():
            wrong.append((text, kind))
            assert kind not in {"accept", "stop", "undo"}, text
    assert len(wrong) <= 4, wrong
