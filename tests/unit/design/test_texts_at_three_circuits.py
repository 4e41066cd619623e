"""Eighty texts typed at the checkpoints of a filter, an amplifier and a converter, by what is meant."""

from __future__ import annotations

import pytest

from domain.design.checkpoint_intent import CheckpointIntent, read_checkpoint_text
from domain.simulation.goals import DesignGoal


def goal(metric: str, unit: str, expression: str = "", **bounds: float) -> DesignGoal:
    return DesignGoal(metric=metric, expression=expression or metric, unit=unit, **bounds)  # type: ignore[arg-type]


CIRCUITS = {
    "filter": (
        (
            goal("cutoff", "Hz", minimum=980.0, maximum=1020.0, target=1000.0),
            goal("passband_gain", "dB", minimum=-0.26, maximum=0.26, target=0.0),
            goal("attenuation", "dB", "-db(gain(v(out), 3k))", minimum=17.0),
        ),
        3,
    ),
    "amplifier": (
        (
            goal("gain", "dB", minimum=39.0, maximum=41.0, target=40.0),
            goal("bandwidth", "Hz", minimum=100e3),
            goal("supply_current", "A", maximum=10e-3),
        ),
        4,
    ),
    "buck": (
        (
            goal("output_voltage", "V", minimum=4.95, maximum=5.05, target=5.0),
            goal("ripple", "V", maximum=50e-3),
            goal("efficiency", "1", minimum=0.88),
        ),
        2,
    ),
}
"""Their goals, and how many rounds there were."""

TEXTS = {
    ("amplifier", "accept"): """
        good enough for me, lock it in
        这个增益够用了，收工
    """,
    ("amplifier", "continue"): """
        再来一轮
        还差一点点，接着调
        嗯，继续优化
        next
    """,
    ("amplifier", "go_back 2"): """
        round 2 was nicer, take that one
    """,
    ("amplifier", "go_back 3"): """
        还是第三轮的好，用第三轮
    """,
    ("amplifier", "instruction"): """
        could you bias Q1 a bit hotter, 8 mA or thereabouts
        Ce 换成 220u 再跑一遍看看
        slap an emitter follower on the end, the 100k load isn't realistic
        Re 里留 47 欧不旁路
        split Re into 47 + 430 and bypass only the big one
        给Q1加个发射极退化，100欧
        把电源降到9V
    """,
    ("amplifier", "question"): """
        where do the missing 2.4 dB go
        集电极电压现在多少，会不会饱和
        what's q1's beta in the model you're using?
        为什么带宽有240k这么高
        what does Ce do to the low end
        lol nice work
    """,
    ("amplifier", "undo"): """
        ugh, that made it worse, roll it back
        撤回上一步
    """,
    ("buck", "accept"): """
        that'll do, ship it
        可以了，不用再调了，就用这版
        4.93 is close enough, take it
        OK 就这样定了
    """,
    ("buck", "continue"): """
        keep at it
        go ahead and tweak it further
    """,
    ("buck", "instruction"): """
        double up the output caps
        电感加到 47uH 吧，纹波电流太大
        别用肖特基了，D1 换同步整流
        move the switching freq to 250k please
        加个RC吸收，10欧+1n
        Put a second 47u ceramic in parallel with Cout, ESR is killing us
    """,
    ("buck", "question"): """
        DCM or CCM at this load?
        效率这个数包含驱动损耗吗
        is the diode the main loss here
        输出电压为啥低了70mV？
        tell me the inductor peak current
    """,
    ("buck", "stop"): """
        forget it, we'll do this another day
    """,
    ("buck", "undo"): """
        no no no put it back how it was
    """,
    ("filter", "accept"): """
        行，就它了
        perfect, thanks, we're done
    """,
    ("filter", "continue"): """
        nah not there yet, again please
        one more go
        not quite, give it another spin
        没到位，再调调
    """,
    ("filter", "go_back 1"): """
        退到第1轮那版
    """,
    ("filter", "go_back 2"): """
        can we go back to iteration 2
    """,
    ("filter", "instruction"): """
        bring R1 down a touch, say 5%
        两个电容都取 10n，电阻你自己算
        use E12 for the resistors from now on
        R2 looks off, try 12k
        C1和C2换成一样大的
        run it with a real opamp, say TL072
    """,
    ("filter", "question"): """
        how come the cutoff landed 34 Hz high?
        R1 R2 为什么不相等啊
        哈哈厉害，辛苦了
        would 1% parts be enough for this
        Sallen-Key 跟 MFB 哪个更适合
    """,
    ("filter", "stop"): """
        停吧，今天先到这儿
    """,
    ("filter", "undo"): """
        刚才那步撤了吧
    """,
}
CHANGES = (
    ("filter", "1.05k for the corner is fine by me", "cutoff", (1029.0, 1071.0)),
    ("filter", "cutoff 1.2kHz now, marketing again", "cutoff", (1176.0, 1224.0)),
    ("filter", "截止频率误差可以放到 5%", "cutoff", (950.0, 1050.0)),
    ("filter", "±5% on the corner is plenty", "cutoff", (950.0, 1050.0)),
    ("filter", "3kHz 处衰减 20dB 以上才行", "attenuation", (20.0, None)),
    ("filter", "at 3 kHz I need 25 dB of attenuation", "attenuation", (25.0, None)),
    ("amplifier", "37 dB would do actually", "gain", (36.0, 38.0)),
    ("amplifier", "let's say 42 dB gain", "gain", (41.0, 43.0)),
    ("amplifier", "带宽放宽到 80k 吧", "bandwidth", (80e3, None)),
    ("amplifier", "电流别超过 5 毫安", "supply_current", (None, 5e-3)),
    ("buck", "ripple has to be under 20mV, customer changed his mind", "ripple", (None, 20e-3)),
    ("buck", "output should be 3.3 V instead, sorry", "output_voltage", (3.267, 3.333)),
    ("buck", "ripple 100mV 也能接受，放宽", "ripple", (None, 0.1)),
    ("buck", "效率要 92% 以上", "efficiency", (0.92, None)),
    ("buck", "I only need 85 percent efficiency", "efficiency", (0.85, None)),
)


def read(circuit: str, text: str) -> CheckpointIntent:
    goals, rounds = CIRCUITS[circuit]
    return read_checkpoint_text(
        text, goals=goals, goals_met=False, has_failed=False, can_undo=True, rounds=rounds
    )


@pytest.mark.parametrize(("circuit", "kind"), TEXTS)
def test_a_text_is_read_as_meant(circuit: str, kind: str) -> None:
    kind, _, number = kind.partition(" ")
    also = {"question": {"question", "unclear"}, "continue": {"continue", "optimize"}}.get(kind, {kind})
    for text in filter(None, map(str.strip, TEXTS[circuit, f"{kind} {number}".strip()].splitlines())):
        found = read(circuit, text)
        assert found.kind in also, (text, found)
        assert found.round_number == int(number or 0), (text, found)


@pytest.mark.parametrize(("circuit", "text", "metric", "bounds"), CHANGES)
def test_one_goal_is_changed_as_meant(
    circuit: str, text: str, metric: str, bounds: tuple[float | None, float | None]
) -> None:
    found = read(circuit, text)
    assert found.kind == "goals"
    assert found.goals is not None
    changed = [new for new, old in zip(found.goals, CIRCUITS[circuit][0], strict=True) if new != old]
    assert [new.metric for new in changed] == [metric]
    assert (changed[0].minimum, changed[0].maximum) == pytest.approx(bounds)


@pytest.mark.parametrize(
    ("circuit", "text"),
    [("filter", "at 5 kHz I need 25 dB of attenuation"), ("amplifier", "42 dB at 50 kHz")],
)
def test_a_figure_at_another_frequency_changes_no_goal_unasked(circuit: str, text: str) -> None:
    assert read(circuit, text).goals is None
