"""Four sets of forty texts typed at the checkpoints of a filter, an amplifier and a converter."""

from __future__ import annotations

import pytest

from domain.design.checkpoint_intent import CheckpointIntent
from domain.design.checkpoint_reading import CheckpointReader
from domain.simulation.goals import DesignGoal
from infrastructure.persistence.known_texts import checkpoint_texts


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
        行，就用这版了
        yup happy with this one, lets go with it
        good enough for me, lock it in
        这个增益够用了，收工
    """,
    ("amplifier", "continue"): """
        yep keep going
        嗯 接着优化吧
        hmm not great yet. carry on
        没啥意见，你接着来
        再来一轮
        还差一点点，接着调
        嗯，继续优化
        next
    """,
    ("amplifier", "go_back 2"): """
        go back to round 2, liked that one better
        算了，退到第二轮吧
        round 2 was nicer, take that one
    """,
    ("amplifier", "go_back 3"): """
        还是第三轮的好，用第三轮
    """,
    ("amplifier", "instruction"): """
        go on but dont touch Re, its already soldered on my board
        给Re并一个100uF的旁路电容
        接着优化，不过Q1别动，就用现在这个管子
        Set Rc to 4.7k and rerun.
        split Re in two and bypass only the lower one
        Vcc改用15V的
        could you bias Q1 a bit hotter, 8 mA or thereabouts
        Ce 换成 220u 再跑一遍看看
        slap an emitter follower on the end, the 100k load isn't realistic
        Re 里留 47 欧不旁路
        split Re into 47 + 430 and bypass only the big one
        给Q1加个发射极退化，100欧
        把电源降到9V
    """,
    ("amplifier", "question"): """
        whats the collector current of Q1 right now
        增益差的这2.4dB主要卡在哪儿？
        Just curious, how much swing do I get at the output before it clips?
        Q1现在Vce有多少，饱和没？
        where do the missing 2.4 dB go
        集电极电压现在多少，会不会饱和
        what's q1's beta in the model you're using?
        为什么带宽有240k这么高
        what does Ce do to the low end
        lol nice work
    """,
    ("amplifier", "stop"): """
        不搞了，这个电路也不要，结束吧
    """,
    ("amplifier", "undo"): """
        nah that last round made it worse, undo it
        最后这一轮改坏了，撤销掉吧
        ugh, that made it worse, roll it back
        撤回上一步
    """,
    ("buck", "accept"): """
        4.93 is fine for me. We're done, ship it
        先这样吧，这个电路我要了
        OK 就按这个定稿
        that'll do, ship it
        可以了，不用再调了，就用这版
        4.93 is close enough, take it
        OK 就这样定了
    """,
    ("buck", "continue"): """
        继续
        ok next round
        再迭代一次呗
        keep at it
        go ahead and tweak it further
    """,
    ("buck", "instruction"): """
        L1 up to 47uH please
        put a second cap in parallel w/ Cout, 10u ceramic
        D1换成肖特基吧，压降小点
        开关频率提到200k，其他先不变
        keep going but hold the switching freq at 100k, and no changes to M1 either
        Cout加大到220uF，旁边再并个1uF的小陶瓷
        麻烦给M1加个RC snubber，谢谢
        double up the output caps
        电感加到 47uH 吧，纹波电流太大
        别用肖特基了，D1 换同步整流
        move the switching freq to 250k please
        加个RC吸收，10欧+1n
        Put a second 47u ceramic in parallel with Cout, ESR is killing us
    """,
    ("buck", "question"): """
        is that 31mV pk-pk or rms?
        hmm, does the 90 % include the gate drive losses
        这个电感满载的时候会不会饱和？
        what did you change in the last round exactly
        cheers, thats a neat tool btw
        现在是CCM还是DCM
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
        revert the last round plz, it was better b4
        no no no put it back how it was
    """,
    ("filter", "accept"): """
        good enough, i'll take it
        Accept. Being 3% off doesn't matter for a prototype.
        可以了，就它吧，不用再调了
        行，就它了
        perfect, thanks, we're done
    """,
    ("filter", "continue"): """
        getting there, one more round pls
        还差一点点，再跑一轮看看
        looks like it's converging, let it run another one
        nah not there yet, again please
        one more go
        not quite, give it another spin
        没到位，再调调
    """,
    ("filter", "go_back 1"): """
        还是第一轮的好，退回第一轮
        take me back to what we had in rnd 1
        退到第1轮那版
    """,
    ("filter", "go_back 2"): """
        can we go back to iteration 2
    """,
    ("filter", "instruction"): """
        swap R1 for a 10k and leave the rest alone
        From here on only use E24 values for the resistors, I don't have anything else in the drawer.
        把C1和C2都换成10nF的
        raise R2 a bit, like 3%, that shuold pull the cutoff down
        could you please make all the caps 10 times smaller and the resistors 10 times bigger
        R1 R2 取一样的值
        继续可以，但电容只能用E12系列的
        bring R1 down a touch, say 5%
        两个电容都取 10n，电阻你自己算
        use E12 for the resistors from now on
        R2 looks off, try 12k
        C1和C2换成一样大的
        run it with a real opamp, say TL072
    """,
    ("filter", "question"): """
        why is the cutoff stil off by 3 percent?
        现在Q值是多少啊
        哈哈 今天这边热死了，空调还坏了
        did u model the opamp as ideal or with finite GBW?
        截止频率为啥老是偏高
        你估计还要几轮才能达标？
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
        刚才那轮不算，撤回
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
    ("filter", "cutoff should be 1200 Hz not 1k, same 2% tolerance", "cutoff", (1176.0, 1224.0)),
    ("filter", "3kHz处的衰减改成至少20dB吧，17太松了", "attenuation", (20.0, None)),
    ("filter", "通带增益收紧到±0.1dB", "passband_gain", (-0.1, 0.1)),
    ("amplifier", "supply current limit -> 8000 uA pls", "supply_current", (None, 8e-3)),
    ("amplifier", "带宽放宽到50k就够了，用不着那么高", "bandwidth", (50e3, None)),
    (
        "buck",
        "ripple needs to be under 20mv, not 50. customer changed their mind again",
        "ripple",
        (None, 0.02),
    ),
    ("buck", "输出电压改成3.3V，精度还是±1%", "output_voltage", (3.267, 3.333)),
    ("buck", "输出电压目标改5.1V哈，±1%不变", "output_voltage", (5.049, 5.151)),
    ("buck", "效率要求降到85%就行", "efficiency", (0.85, None)),
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
    return CheckpointReader(checkpoint_texts())(
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
    ("text", "metric"),
    [
        ("效率那个指标不要了，不用管它", "efficiency"),
        ("drop the ripple requirement altogether, there's an LDO after this anyway", "ripple"),
        ("效率不管了", "efficiency"),
    ],
)
def test_a_goal_is_given_up(text: str, metric: str) -> None:
    goals = read("buck", text).goals
    assert goals is not None
    assert {each.metric for each in CIRCUITS["buck"][0]} - {each.metric for each in goals} == {metric}


@pytest.mark.parametrize(
    ("circuit", "text"),
    [("filter", "at 5 kHz I need 25 dB of attenuation"), ("amplifier", "42 dB at 50 kHz")],
)
def test_a_figure_at_another_frequency_changes_no_goal_unasked(circuit: str, text: str) -> None:
    assert read(circuit, text).goals is None
