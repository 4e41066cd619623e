"""Four sets of forty texts typed at the checkpoint of a common-emitter stage whose goals a model read."""

from __future__ import annotations

import pytest

from domain.design.checkpoint_intent import CheckpointIntent
from domain.design.checkpoint_reading import CheckpointReader
from domain.simulation.goals import DesignGoal
from infrastructure.persistence.known_texts import checkpoint_texts


def goal(metric: str, unit: str, **bounds: float) -> DesignGoal:
    return DesignGoal(metric=metric, expression=metric, unit=unit, **bounds)  # type: ignore[arg-type]


AMPLIFIER = (
    goal("gain", "dB", minimum=39.0, maximum=41.0, target=40.0),
    goal("bandwidth", "Hz", minimum=100e3),
    goal("supply_current", "A", maximum=10e-3),
)
QUIET = (*AMPLIFIER, goal("noise", "V", maximum=10e-9))
FILTER = (
    goal("cutoff", "Hz", minimum=980.0, maximum=1020.0, target=1000.0),
    goal("ripple", "1", maximum=0.01),
)
TEXTS = {
    "question": """
        why is the gain only 31 dB, i thought Rc=4.7k would give me 40?
        hmm what's limiting the bandwidth here
        is q1 still in the active region at -40C
        which of the caps sets the lower corner??
        Can you tell me what changed between round 2 and this one
        为啥增益掉了3个dB啊
        现在这个相位裕度够不够用？
        R3换成15k会怎样
        C2 是干嘛用的，能不能不要
        上一轮跟这一轮到底改了哪几个值
        does the 0.1uF actually do anything?
        How come THD got worse when gain went up...
        I wonder whether the emitter degeneration is what eats our headroom
        so round 3 was better than round 4, right?
        would a cascode help
        这个失真是削顶造成的还是交越？
        增益和带宽是不是没法同时满足啊
        能解释下Q2为什么会饱和不
        换成MOS管会不会好一点……
        输出阻抗现在多少
        what would happen if i drop the load to 50 ohm
        not sure i get it - why did you pick 3.3k for Rc?
        explain the peaking at 2 MHz pls
        are these numbers at 27C or at room temp
        Any idea why the dc point drifts between runs
        这曲线怎么在10k那儿有个尖
        你是怎么算出来R4要22k的
        低温下还能满足吗
        是不是C3太大导致启动慢
        为什么仿真结果跟我手算的差这么多？
        is 4.7k really the best value for Rc, or did you just guess
        how far are we from the 40 dB
        so the Miller cap kills the bandwidth, correct?
        could the transistor be too slow for this
        what does lower_corner mean
        是不是电源太低所以削顶了
        为何带宽比第一轮还窄
        这个电路能用在音频上吗
        R1跟R2的比例是怎么定的
        输入加到100mV会不会失真
    """,
    "instruction": """
        bump RE to 220 ohm pls
        swap the 2N3904 for a BC547 and rerun
        I'd rather have the bypass cap at 47u
        the input resistor looks too small, make it 10k or so
        把C1加大一倍试试
        Rload 改 8Ω，别的先不动
        静态电流太大了，降一半吧
        三极管换成S8050
        try moving the pole down, something like 3x bigger C3
        put a 100 ohm in series with the output
        Vcc should be 15V, not 12
        get rid of R7, it's useless
        hm not happy w/ the ripple, add another LC stage
        RE旁边并个100uF的电容
        把反馈电阻调小点，大概20k左右
        供电换成单电源5V
        我觉得输入耦合电容太小了，改成10uF
        gain stage 再加一级buffer
        lower the collector current to about 1mA, that should help
        Make C4 twice as big.
        Could you replace the divider with a current source?
        you forgot the source impedance, put 600R at the input
        r5 -> 56k
        R4 用 18k 看看
        帮我在输出端串个220Ω
        这个管子太慢，用个高频的，比如2SC3356
        电源电压提到 15V
        去掉C5，没啥用
        R2 is way too big, try 22k
        can we move to a 5V supply and see
        add 10nF across the feedback resistor
        Q1 should be biased at mid-rail
        drop C2, I don't see the point
        偏置电阻改成33k/10k
        不要用电解电容
        C3太小了吧，换1uF
        把Q1换成达林顿
        负载按 4 欧算
        ok go on, but don't touch the bias network
        keep going... just leave the supply at 9V
        fine so far, carry on but use E24 values only
        继续吧，不过偏置别动了
        接着调，但电阻只能用E24系列的
        可以，再来一轮，这次优先保带宽
        proceed, only make sure that C1 stays below 10u
        sure go ahead but slowly, change one thing at a time
        next round please, and prioritise noise this time
        先这样继续，别再动R1 R2了
        嗯，往下走，但是C的值要买得到的
        go on吧，注意功耗
        continue pls but no inductors
        ok another round, this time concentrate on the phase margin
        yes do it, as long as the bom stays under 10 parts
        那就继续优化，但尽量别增加器件
        好的 下一轮 重点看噪声
        按你说的来，只是R1别小于10k
        ok do another one but keep the current gain stage as is
        go ahead, only please no exotic parts
        alright next, and try not to make the supply current worse
        行，继续，电流别再涨了就行
        再来一次，这次只动电容
        可以的，接着来，不过要用常见的型号
    """,
    "accept": """
        good enough, ship it
        yep that's what I wanted, we're done here
        I can live with 38.6 dB. take it.
        行了就这样吧
        差不多了，这版我要了
        没问题，收工
        looks great, lets freeze this
        OK I'm happy with this one
        that'll do nicely thx
        OK 就用这一版
        满意，定稿
        虽然带宽差一点点，但能接受，就它吧
        perfect, save it and stop here
        Fine by me. Accept.
        not ideal but ok, i'll take this version
        达标了就到这吧，不改了
        这结果我认了
        good，就这个版本，结束
        Nice, this one's a keeper. Done.
        that's close enough for a breadboard, accept it
        yes, use this version for the pcb
        就这样，挺好的，存吧
        我觉得OK了，定了
        指标都到了，收了
    """,
    "question unclear": """
        whats the weather like in Munich tomorrow
        lol my scope just died
        今天食堂的红烧肉不错
        你会写verilog吗
        do you know a good restaurant near the office
        gotta run, meeting in 5 min
        周末去爬山吗
        帮我写个周报
        who won the match yesterday
        can you help me install kicad on my mac
        哈哈今天有点困
        推荐本模电的书
        brb, coffee
        my son turns 5 in 3 days
        今天几号了
        听说台积电又涨价了
    """,
    "goals": """
        forget 40 dB, 36 is plenty
        my boss says the supply current has to stay below 5 mA as well
        bandwidth should be at least 200k instead of 100k, rest as before
        增益不用40了，36dB就够
        再加一条：功耗不能超过50mW
        带宽改成至少500kHz，其他指标不变
        actually the noise limit is 20 nV/rtHz not 10
        we need phase margin > 60° too, everything else stays
        截止频率1k±5%就行，不用那么准
        老板说还要满足纹波小于10mV
        relax the ripple to 5%
        let's say gain 20 dB min, 24 max, and Zin above 47k
        噪声放宽到15nV
        输入阻抗也得大于1M，另外增益改为26dB
        no need for 100k bandwidth, 50k will do
        change of plan: gain 30 dB, bandwidth 1 MHz
        带宽用不着100k，50k就可以
        还有个要求：相位裕度得有45度以上
    """,
}
"""By what is meant. What goes on with a condition is an instruction."""
OF_QUIET, OF_FILTER = ("noise limit", "噪声放宽"), ("截止频率", "relax the ripple")


def read(text: str, *, is_met: bool = False) -> CheckpointIntent:
    goals = (
        QUIET
        if any(each in text for each in OF_QUIET)
        else FILTER
        if any(each in text for each in OF_FILTER)
        else AMPLIFIER
    )
    return CheckpointReader(checkpoint_texts())(
        text, goals=goals, goals_met=is_met, has_failed=False, can_undo=True, rounds=4
    )


def test_what_is_typed_at_an_amplifier_is_read_as_meant_and_ends_nothing() -> None:
    wrong = []
    for kinds, lines in TEXTS.items():
        for text in filter(None, map(str.strip, lines.splitlines())):
            kind = read(text, is_met=kinds == "accept").kind
            if kind not in kinds.split():
                wrong.append((text, kind))
                assert kinds == "accept" or kind not in {"accept", "stop", "undo"}, text
    assert len(wrong) <= 4, wrong


@pytest.mark.parametrize(
    ("text", "metric", "bounds"),
    [
        ("forget 40 dB, 36 is plenty", "gain", (35.0, 37.0)),
        ("带宽用不着100k，50k就可以", "bandwidth", (50e3, None)),
        ("no need for 100k bandwidth, 50k will do", "bandwidth", (50e3, None)),
        ("噪声放宽到15nV", "noise", (None, 15e-9)),
        ("截止频率1k±5%就行，不用那么准", "cutoff", (950.0, 1050.0)),
    ],
)
def test_a_figure_that_is_given_up_leaves_the_one_that_is_asked(
    text: str, metric: str, bounds: tuple[float | None, float | None]
) -> None:
    found = read(text)
    changed = next(each for each in found.goals or () if each.metric == metric)

    assert found.kind == "goals"
    assert found.is_sure
    assert (changed.minimum, changed.maximum) == pytest.approx(bounds)


@pytest.mark.parametrize(
    "text",
    [
        "let's say gain 20 dB min, 24 max, and Zin above 47k",
        "THD below 1 %, gain 30 dB",
        "还有个要求：相位裕度得有45度以上",
        "输入阻抗也得大于1M，另外增益改为26dB",
    ],
)
def test_a_figure_of_what_is_no_goal_changes_none(text: str) -> None:
    found = read(text)

    assert (found.kind, found.goals, found.is_sure) == ("goals", None, False)


def test_a_current_of_a_part_is_not_that_of_the_supply() -> None:
    assert read("lower the collector current to about 1mA, that should help").kind == "instruction"
    changed = read("supply current below 5 mA").goals
    assert changed is not None
    assert changed[2].maximum == 5e-3
