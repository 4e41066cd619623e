"""What is typed at a checkpoint: 40 texts written before the rules that read them, and many since."""

from __future__ import annotations

import json
import math
from functools import cache
from typing import NamedTuple

import pytest

from domain.design.catalogue import understand
from domain.design.checkpoint_intent import CheckpointIntent, intent_from_model, read_checkpoint_text
from domain.simulation.goals import DesignGoal
from tests.ground.cases import for_each

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
"""The text, what is meant by it (either of two where people differ), and where. Written before the rules."""

SECOND_HELD_OUT: tuple[tuple[str, str, At], ...] = (
    ("sure, keep optimizing", "optimize", MISSED),
    ("next iteration please", "continue", MISSED),
    ("alright, continue with the design", "continue", MISSED),
    ("let it run once more", "continue", MISSED),
    ("can you improve it any further?", "optimize question", MET),
    ("great! accept.", "accept", MET),
    ("we'll take it", "accept", MET),
    ("I want to accept this design", "accept", MET),
    ("please end here", "stop", MET),
    ("I'd like to stop", "stop", MET),
    ("undo the last round please", "undo", MET),
    ("please roll back", "undo", MET),
    ("could you go back to round 1?", "go_back", MET),
    ("load the second round again", "go_back unclear instruction", MET),
    ("cutoff = 10.5k", "goals", MET),
    ("please lower the cutoff frequency to 8 kHz", "goals", MET),
    ("passband gain within 0.1 dB", "goals", MET),
    ("continue but lower the noise", "instruction", MET),
    ("change C1 to 2.2n", "instruction", MET),
    ("use fewer components", "instruction", MET),
    ("Make R1 and R2 equal", "instruction", MET),
    ("why is the attenuation only 19 dB", "question", MET),
    ("can the cutoff be changed later?", "question", MET),
    ("what would you do next", "question", MET),
    ("sounds interesting", "unclear", MET),
    ("好，再优化一轮", "optimize", MISSED),
    ("接着来一轮", "continue", MISSED),
    ("继续，别停", "continue", MISSED),
    ("很满意，接受", "accept", MET),
    ("没问题，就这样", "accept unclear", MET),
    ("停下来", "stop", MISSED),
    ("我想撤销", "undo", MET),
    ("帮我退回第一轮", "go_back", MET),
    ("截止频率调到 9 kHz", "goals", MET),
    ("峰值要小于 0.3 dB", "goals", MET),
    ("目标改一改", "goals", MET),
    ("R2 改成 4.7k，其余保持不变", "instruction", MET),
    ("接受之前先把 C1 换成标准值", "instruction", MET),
    ("为什么峰值是 0", "question", MET),
    ("这个滤波器能带 1k 负载吗", "question", MET),
)
"""As above; written when the rules were done, which were not changed for it."""


THIRD_HELD_OUT: tuple[tuple[str, str, At], ...] = (
    ("Why did the phase margin drop?", "question", MISSED),
    ("does the output clip at 2 V input?", "question", MISSED),
    ("tell me which resistor sets the gain", "question", MISSED),
    ("Explain the role of C1", "question", MET),
    ("increase C3 to 47u", "instruction", MISSED),
    ("use a Darlington pair at the output", "instruction", MISSED),
    ("Double R1 and halve C1", "instruction", MISSED),
    ("try a bigger emitter resistor", "instruction", MISSED),
    ("proceed but don't touch the bias network", "instruction", MISSED),
    ("yes, but lower the noise first", "instruction goals", MISSED),
    ("fine, continue with a smaller C2", "instruction", MISSED),
    ("carry on", "continue optimize", MISSED),
    ("yes, try again", "continue optimize", MISSED),
    ("Perfect, accept", "accept", MET),
    ("OK, keep this design", "accept", MET),
    ("we're done, it is good enough", "accept", MISSED),
    ("quit", "stop", MISSED),
    ("please stop now", "stop", MISSED),
    ("undo", "undo", MISSED),
    ("revert what you just did", "undo", MISSED),
    ("take me back to round 1", "go_back", MISSED),
    ("gain >= 25 dB", "goals", MISSED),
    ("relax the ripple limit to 1 dB", "goals", MISSED),
    ("do you know a good joke?", "question unclear", MISSED),
    ("为什么第三轮反而变差了", "question", MISSED),
    ("C1 起什么作用？", "question", MISSED),
    ("能不能解释一下这个结果", "question", MISSED),
    ("R5 改为 22k", "instruction", MISSED),
    ("在基极串一个 100 欧的电阻", "instruction", MISSED),
    ("把电容都换成 E6 系列", "instruction", MISSED),
    ("发射极电阻加大一倍", "instruction", MISSED),
    ("可以继续，但保持 Rc 不变", "instruction", MISSED),
    ("下一轮，注意功耗", "instruction continue", MISSED),
    ("继续优化", "continue optimize", MISSED),
    ("很好，接受", "accept", MET),
    ("达标了，就用它吧", "accept", MET),
    ("不做了", "stop", MISSED),
    ("撤销这一轮", "undo", MISSED),
    ("退到第一轮的电路", "go_back", MISSED),
    ("截止频率放宽到 12 kHz", "goals", MISSED),
)
"""As above; forty more, beside which these were written, had shown what the rules lacked."""


AMPLIFIER = understand("common emitter amplifier, gain 40 dB, bandwidth 20 kHz, supply 12 V").goals

FOURTH_HELD_OUT: tuple[tuple[str, str, At], ...] = (
    ("looks good enough, let's wrap it up", "accept", MET),
    ("Fine by me, we can keep this one", "accept", MET),
    ("once more please", "continue optimize", MISSED),
    ("Have another go, but without adding parts", "continue instruction optimize", MISSED),
    ("go on, though keep the supply current where it is", "continue instruction optimize", MISSED),
    ("why has the phase margin dropped compared with the round before?", "question", MET),
    ("is a bigger electrolytic the reason the bandwidth moved", "question", MET),
    ("swap R3 for 4.7k and see what happens", "instruction", MET),
    ("use a 2N3904 for the transistor", "instruction", MET),
    ("The gain should rather be 30 dB", "goals", MET),
    ("I'd be happy with 8 kHz of bandwidth instead", "goals", MET),
    ("drop the requirement on input impedance", "goals", MET),
    ("throw that last change away", "undo", MET),
    ("take me back to how it was in round 2", "go_back", MET),
    ("the first version was better, return to it", "go_back", MET),
    ("what's for lunch today?", "question unclear", MET),
    ("could you explain what CE does here", "question", MET),
    ("I give up, leave it", "stop", MET),
    ("halt here", "stop", MET),
    ("sort out that convergence problem first", "fix instruction", FAILED),
    ("就这样吧，可以交差了", "accept", MET),
    ("我觉得没问题了，定稿", "accept", MET),
    ("再来一轮看看", "continue optimize", MISSED),
    ("接着调，不过别再加元件了", "continue instruction optimize", MISSED),
    ("继续优化，但是静态电流不要超过5mA", "continue goals instruction optimize", MISSED),
    ("为什么这一轮增益反而低了", "question", MET),
    ("R2是干什么用的", "question", MET),
    ("把发射极电容换成100u试一下", "instruction", MET),
    ("输出那边加个缓冲级", "instruction", MET),
    ("增益改成36dB吧", "goals", MET),
    ("带宽放宽到15kHz也行", "goals", MET),
    ("输入阻抗那条不用管了", "goals", MET),
    ("刚才那步不要了，退回去", "undo", MET),
    ("还是回到第一轮的电路", "go_back", MET),
    ("你好啊，今天天气不错", "question unclear", MET),
    ("先别做了，我去吃饭", "stop unclear", MET),
    ("算了不搞了", "stop", MET),
    ("先把那个报错解决掉", "fix instruction", FAILED),
    ("这个结果能接受吗？", "question", MET),
    ("how do I accept this?", "question", MET),
)
"""Of an amplifier with a gain in the fourth round. At first sight 31 of them were read as meant."""

FIFTH_HELD_OUT: tuple[tuple[str, str, At], ...] = (
    ("that'll do nicely, take it", "accept", MET),
    ("Happy with this result, finalise it", "accept", MET),
    ("keep at it", "continue optimize", MISSED),
    ("let's see another iteration", "continue optimize", MISSED),
    ("squeeze a bit more out of it", "continue instruction optimize", MISSED),
    ("run it again, only with smaller capacitors", "instruction", MET),
    ("does the input capacitor matter here", "question", MET),
    ("How come the cutoff moved?", "question", MET),
    ("which part should I buy for C2", "question", MET),
    ("R5 to 3.3k please", "instruction", MET),
    ("try a JFET at the input", "instruction", MET),
    ("put a snubber across the switch", "instruction", MET),
    ("gain of 26 dB is enough for me", "goals", MET),
    ("remove the bandwidth goal", "goals", MET),
    ("let me rewrite the targets", "goals", MET),
    ("I don't like what you just did, undo it", "undo", MET),
    ("go back one round", "go_back undo", MET),
    ("round 1 again", "go_back unclear", MET),
    ("that's all for today, stop", "stop", MET),
    ("forget about it", "stop unclear", MET),
    ("挺满意的，就按这个定", "accept", MET),
    ("OK，可以了，接受吧", "accept", MET),
    ("再跑一轮试试看", "continue optimize", MISSED),
    ("还能再优化吗？能的话继续", "continue optimize question", MISSED),
    ("接着来，但Q1别换", "instruction", MET),
    ("下限频率为什么变高了？", "question", MET),
    ("Q1的静态电流是多少", "question", MET),
    ("讲一下这个电路的工作原理", "question", MET),
    ("给Re并一个10u的电容", "instruction", MET),
    ("电源改成9V", "goals instruction", MET),
    ("偏置电阻都调大一点", "instruction", MET),
    ("增益要求降到30dB", "goals", MET),
    ("我要改指标", "goals", MET),
    ("撤销上一轮的改动", "undo", MET),
    ("回到第2轮", "go_back", MET),
    ("中午吃什么好", "question unclear", MET),
    ("到此为止吧，不做了", "stop", MET),
    ("仿真怎么又失败了，修一下", "fix question", FAILED),
    ("如果接受了还能改吗", "question", MET),
    ("can I still change it after accepting?", "question", MET),
)
"""As above; 33 at first sight, behind what the fourth had shown."""


@pytest.mark.parametrize(
    ("texts", "goals"),
    [
        (HELD_OUT, GOALS),
        (SECOND_HELD_OUT, GOALS),
        (THIRD_HELD_OUT, GOALS),
        (FOURTH_HELD_OUT, AMPLIFIER),
        (FIFTH_HELD_OUT, AMPLIFIER),
    ],
    ids=["first", "second", "third", "fourth", "fifth"],
)
def test_held_out_texts_are_read_as_meant_and_none_ends_a_design_unasked(
    texts: tuple[tuple[str, str, At], ...],
    goals: tuple[DesignGoal, ...],
) -> None:
    assert len(texts) == 40
    wrong = []
    for text, meant, at in texts:
        kind = at._replace(goals=goals, rounds=at.rounds + (goals is AMPLIFIER)).read(text).kind
        if kind not in meant.split():
            wrong.append((text, kind))
            assert kind not in {"accept", "stop", "undo"}, text
    assert len(wrong) <= 4, wrong


def bound(
    metric: str, unit: str, *, minimum: float | None = None, maximum: float | None = None
) -> DesignGoal:
    return DesignGoal(metric=metric, expression=metric, unit=unit, minimum=minimum, maximum=maximum)


MIXED_AMPLIFIER = (
    bound("gain", "dB", minimum=24.0),
    bound("bandwidth", "Hz", minimum=150e3),
    bound("supply_current", "A", maximum=2e-3),
)
FIVE_MORE_SETS: dict[str, str] = {
    "question": """
        why is the gain only 18 dB?
        hm, bandwidth dropped since last round... because of C2?
        Error: no such model QMOD2 on line 12 - what does that mean??
        could you tell me what vce is right now
        增益怎么才18dB啊
        带宽掉下来是不是C2的原因?
        报错 no such model QMOD2 是啥意思
        vce现在多少V
        is the phase margin even ok with that load?
        howcome the current went up
        don't change anything, just explain what you did in round 2
        does it still clip if I drive it with 50mV?
        这个负载下相位裕度够吗
        为啥电流变大了
        先别改,说说第2轮你都动了啥
        输入50mV会不会削顶?
        explain the table pls, what's 'margin'?
        R2 is 12k?? that seems way too high no?
        what would happen to the gain if RL were 1k
        whats the difference between this one and round 1
        表里这个裕量是什么意思
        R2取12k是不是太大了
        RL换成1k的话增益会变成多少
        跟第1轮比有什么区别
        any chance the ripple comes from L1?
        so which of the goals is the one that fails
        is the sim with the real opamp model or the ideal one
        before I say yes: how much does it drift with temp?
        纹波是不是L1引起的
        到底是哪个指标没过
        仿真用的是真实运放模型还是理想的
        在我确认之前,先说下温漂有多大
        wheres the bottleneck now, bandwidth or noise?
        i dont get why R3 matters
        compare round 1 with round 2 for me
        which of these resistors burns the most power?
        现在瓶颈是带宽还是噪声
        没看懂R3有啥用
        帮我比较下第1轮和第2轮
        哪个电阻功耗最大
    """,
    "instruction": """
        set RC to 4k7 pls
        pls lower the bias current a bit, Q1 runs hot
        go on but leave RE alone
        ok carry on, just don't touch the output cap
        swap the 2n2222 for a bc547
        no not yet, try again with a bigger RE
        把RC换成4.7k
        麻烦把偏置电流调小一点,Q1太烫了
        继续吧,不过RE别动
        接着优化,但是输出电容不要改
        三极管换bc547
        还不行,RE再大一点试试
        add a 100n decoupling cap at vcc
        RE bypass: make it 47u instead of 10u
        continue, but prioritise bandwidth over gain
        next round please - E24 values only
        I dont like the 1 meg in the bias divider, use something smaller
        VCC那边加个100n的去耦
        旁路电容10u改47u
        继续,优先保证带宽,增益其次
        下一轮只用E24的阻值
        偏置分压那个1M太大了,换小点
        try a cascode instead
        Make C1 and C2 both 22uF.
        ok but keep the supply at 5V and continue
        proceed w/o changing the topology
        increse RC by 20% and reduce R2 to 8k2
        改成cascode试试
        C1 C2都用22uF
        供电保持5V,其他的继续调
        继续做,拓扑不要变
        RC加大20%,R2减到8k2
        cap C3 is way overkill, go with something around 1u
        drop R7 completely, it does nothing
        sure, continue, but i only have 1/4W resistors here
        keep iterating; no exotic parts tho
        R1 should be higher imho
        C3没必要那么大,1u左右就行
        R7没用,直接去掉
        可以继续,但我手上只有0.25W的电阻
        接着迭代,别用太偏门的料
        R1我感觉应该大一些
        lets put a zener on the output
        C2 100p -> 220p
        yes go on, though please don't change the transistor
        another iteration but with lower power consumption
        the emitter resistor looks too small, double it
        输出端加个稳压管
        C2从100p改到220p
        嗯继续,但三极管型号别换
        再来一轮,功耗低点
        发射极电阻太小了,翻一倍
    """,
    "accept": """
        looks good to me, ship it
        fine, I'll take this one
        行,就这样吧
        可以了,这版我收下
        good enough
        yes accept it, i know the current is slightly over
        差不多了,就用这个
        接受,电流超一点点没事
        perfect thanks, done
        I'm happy with that result
        完美,谢谢,搞定了
        这个结果我很满意
        alright that's a keeper
        meets my needs, approve
        这版不错,就定它
        满足需求了,通过
        ok I'm done, accept as is
        great result, let's keep it
        好了,接受吧,就这样
        效果不错,保留
    """,
    "question unclear": """
        what's the weather in Graz tomorrow
        tell me a joke
        明天天气怎么样
        讲个笑话听听
        who won the match yesterday?
        can you write me a cover letter
        昨晚球赛谁赢了
        帮我写封求职信
        how do I cook rice
        lol ok whatever, what's your name
        米饭怎么煮
        你叫什么名字
        do you speak spanish
        i'm bored
        你会说英语吗
        好无聊啊
        whats 17 times 23
        my cat is sleeping on the keyboard
        17乘23等于几
        我家猫睡在键盘上
    """,
    "goals": """
        gain should be at least 26 dB, bw > 200k
        change the target: Iq below 1.5mA
        增益至少26dB,带宽大于200kHz
        指标改一下:静态电流小于1.5mA
        new spec: gain 30dB +-1, fc 100kHz, supply 9V
        pls relax the current limit to 3 mA
        新指标:gain 30dB±1,fc 100k,供电9V
        电流上限放宽到3mA吧
        thd < 1% @ 1kHz, and keep gain >= 20
        forget the bandwidth goal, I only care about noise < 10uV
        THD要小于1%@1kHz,增益保持20以上
        带宽不管了,只要噪声低于10uV
        actually i need 40 dB, not 26
        bandwidth needs to be 1 MHz min
        其实我需要40dB,不是26
        带宽最低要到1MHz
        supply current max 1 mA from now on
        gain 30 dB would be enough
        以后供电电流最大1mA
        增益30dB就够了
    """,
    "continue optimize": """
        keep going
        one more round then
        继续
        再来一轮
        yep go ahead
        optimise further
        好的,往下做
        再优化优化
        mach weiter, sorry: continue
        not there yet, do another iteration
        嗯,继续
        还差一点,再跑一次
        let it run again pls
        continue till it's there
        再跑一遍看看
        没到指标就接着跑
        go for it
        nope, next try
        来吧,下一轮
        不行,再试
    """,
    "undo go_back": """
        undo that last change
        撤销刚才那步
        go back one round
        退回上一轮
        revert, the previous version was better
        恢复到上一版,之前那个更好
        scrap that, back to what we had before
        算了,还是用之前的版本吧
        please undo what you did in this round
        把这一轮做的都撤销
    """,
    "stop": """
        stop here, that's enough for today
        先停一下
        cancel, quit the design
        不做了,结束吧
        pause for now, i'll be back after lunch
        暂停,午饭后再说
        enough, end it
        够了,结束
        i have to leave, stop it please
        我得走了,停吧
    """,
    "fix instruction": """
        doAnalyses: TRAN: Timestep too small; time = 1e-9 ... fix that
        Timestep too small,帮忙修一下
        Warning: singular matrix: check node n3 -> please repair
        singular matrix 节点n3,请修复
        got 'unknown subckt: x1 in out lm358' can u repair it
        提示unknown subckt lm358,修一下
        simulation aborted: gmin stepping failed. please look into it
        仿真中断了gmin stepping failed,麻烦处理下
    """,
}  # fmt: skip
"""Five sets of forty, a line a text: the errors are those of a failed round, what is accepted met its goals.
At first sight 38, 33, 32, 28 and 31 of them were read as meant, each behind what those before had shown."""


SIXTH_SET = {
    "accept": """
        嗯，这样可以了，就按这个定稿吧
        行吧，凑合用
        ship it
        fine, take it even though the gain is a bit short
    """,
    "continue optimize": """
        再往下跑两轮看看
        keep at it
        looks better, one more pass please
    """,
    "instruction": """
        把发射极旁路电容加大到 220u 再试
        增益够了，带宽再往上提一提
        Q1 换成 2N3904
        别动 RC，其他随便调
        继续，不过电源别超过 9 V
        swap R3 for a 4k7
        go on but don't touch the bias network
        add a 10 pF Miller cap between collector and base of Q2
        try a cascode instead
        less gain, more bandwidth
    """,
    "question": """
        为什么相位裕度这么差？
        你用的是什么模型？
        现在静态电流是多少？
        今天午饭吃啥好呢
        what would happen if I doubled the tail current?
        is -3 dB point measured at the output or at the base?
        why did you lower RC?
        who won the world cup in 2018?
    """,
    "undo": """
        刚才那步越改越糟，退回去
        nah, that made it worse, revert
    """,
    "go_back": """
        回到第二版
        第一轮的结果比这个好，用第一轮的
        can you take me back to how it was in round 1
    """,
    "goals": """
        目标改成增益 35 dB，带宽不低于 200 kHz
        输出阻抗也要小于 100 欧
        功耗那条不要了
        loosen the bandwidth target to 50 kHz
        I also want the supply current under 2 mA
        forget the noise requirement
    """,
    "stop": """
        先到这里，明天再弄
        that's enough for today
    """,
    "fix instruction": """
        仿真报的那个收敛错误你处理一下
        the simulator choked on a missing model, sort that out
    """,
}  # fmt: skip
"""Forty more; 35 were read as meant at first sight."""


def test_more_sets_are_read_as_meant() -> None:
    read = []
    for meant, texts in (*FIVE_MORE_SETS.items(), *SIXTH_SET.items()):
        at = MET if meant == "accept" else FAILED if meant.startswith("fix") else MISSED
        at = at._replace(goals=MIXED_AMPLIFIER)
        read += [(text.strip(), meant, at.read(text).kind) for text in texts.strip().splitlines()]
    assert len(read) == 240
    assert [row for row in read if row[2] not in row[1].split()] == []
    asked = [at.read(text).goals for text in FIVE_MORE_SETS["goals"].strip().splitlines()]
    assert [goals[0].minimum for goals in asked if goals is not None and goals[0] != MIXED_AMPLIFIER[0]] == [
        26.0, 26.0, 40.0, 40.0, 30.0, 30.0,
    ]  # fmt: skip
    assert not MISSED.read("it gets late, stop it please").is_sure  # asked about before it ends anything


PLAIN_TEXTS: dict[tuple[str, At], str] = {
    ("continue", MISSED): (
        "next iteration|yep go for another one|行，下一步|let it iterate once more|"
        "sure, proceed with round 4|没问题，继续|okay do the next one|fine, run another|"
        "好的，来下一轮|别停，接着跑|keep it rolling|another loop please|ok then, continue|继续迭代|"
        "再做一轮|do it once more|you can go ahead|right, next|接着来一轮|好，往下做|iterate|proceed|"
        "advance|cycle again|loop again|roll on|step forward|next cycle|go to the next round|"
        "start round 4|on to the next|let it go on|keep iterating|once again|run the next round|迭代|"
        "再迭代|推进|接着来|下一轮|继续迭代|往下|再走一轮|下一步|跑下一轮|再循环一次|继续下去|接着跑|"
        "再算一轮"
    ),
    ("accept", MET): (
        "good enough for me|ship it|差不多了，就用这个版本|可以，定稿|that'll do|accepted, thanks|"
        "接受这个结果|挺好的，保存吧|great, I'm taking that|perfect - done|嗯，就它吧|"
        "excellent, finalize|that's the circuit I want|很好，完成|这版可以，收下了|"
        "nice, keep this version|approved by me|满意，就这样|验收通过|keep it|save it|commit it|"
        "finalize it|sign off|approve|approved|adopt it|freeze it|lock it in|take this version|"
        "we're done|that's the one|i'll keep this|looks final|采用|保存|拍板|敲定|就这版|可以了|"
        "行，就它|就用这一轮|定下来|没问题就这样|通过了|这个可以"
    ),
    ("go_back", MISSED): (
        "I'd rather have round 2 back|第二轮更好，换回去|restore round 1|回到第 1 轮重新来|"
        "put me back at the second round|还是第一轮的好，回去吧|switch back to round 2|"
        "return to the first version|切回第二轮|用第一轮那个|jump back to the 2nd round|"
        "还是用第二轮的版本|恢复到第一轮"
    ),
    ("undo", MISSED): (
        "scrap the last change|刚才那步不要了|take that change back|撤回上一步|no, undo that|"
        "roll that change back please|刚改的不好，撤掉|revert your last edit|把刚才的修改撤销|"
        "that was a bad change, undo|改错了，撤回"
    ),
    ("question", MISSED): (
        "what does the Q of the second stage come to?|which resistor dominates the cutoff error|"
        "C1 为什么取这个值？|截止频率离目标还差多少|这个滤波器的噪声大概多少|"
        "why is the cutoff below 10 kHz?|how sensitive is it to the capacitors|为什么第三轮比第二轮差|"
        "这个电路的输入阻抗多大？|换成 5% 的电阻会怎么样|what's the current through R1?|"
        "explain why C2 got bigger|how did you choose R3|R1 上的电流有多大|为什么截止频率偏低|"
        "what did you change in this round?|how much noise does it have|why E96?|这一轮改了什么|"
        "功耗是多少|what is the attenuation at 50 kHz?|which part did you change?|"
        "tell me how the Q is set|50 kHz 处衰减多少？"
    ),
    ("question", MET): (
        "is 0.5 dB of peaking audible at all?|does it still work at 3.3 V supply?|"
        "what would happen with 5% parts?|can it drive a 600 ohm load?|is the op-amp fast enough?|"
        "do I need a faster op-amp?|需要更快的运放吗"
    ),
    ("instruction", MISSED): (
        "swap the caps for NP0 1 nF ones|use a TL072 instead of the ideal op amp|"
        "double R1 and halve C1|把运放换成 TL072|电容统一用 10nF，电阻跟着调|R2 加大一倍试试|"
        "carry on, but leave R1 alone|replace C1 by 2.2 nF|add a buffer at the output|"
        "please use only E12 values|继续，但电容别动|C2 改成 4.7nF|输出加一级跟随器|电阻只用 E24 的|"
        "raise the supply to 12 V|keep C1 at 1 nF and retune the rest|电源提高到 12V|"
        "C1 保持 1nF，其他的重新调|go on but use E12 parts|make C1 1.5 nF|remove the buffer|"
        "try a different topology|继续，用 5% 的电阻|C1 换成 1.5nF|去掉缓冲级|"
        "continue but don't touch the capacitors|lower R2 by 10 %|split it into two stages|"
        "use ±5 V supplies|继续，R1 固定为 10k|R2 减小 10%|用 ±5V 供电"
    ),
    ("goals", MISSED): (
        "the cutoff may be anywhere from 9 to 11 kHz|never mind the peaking|"
        "截止频率放宽到 8–12 kHz 就行|100 kHz 处还要衰减 40 dB 以上|峰值那项去掉吧|"
        "set the cutoff goal to 12 kHz|peaking below 1 dB is fine|目标截止频率改到 12 kHz|"
        "峰值 1 dB 以内就行|cutoff should be 8 kHz now|allow up to 1 dB peaking|截止频率改成 8 kHz|"
        "峰值允许到 1 dB|new cutoff: 15 kHz|relax the peaking limit to 2 dB|新的截止频率：15 kHz|"
        "峰值放宽到 2 dB|I want 20 kHz instead|the peaking must stay below 0.1 dB|"
        "我要 20 kHz 的截止频率|峰值必须小于 0.1 dB"
    ),
    ("stop", MISSED): (
        "that's it for today|abort the design|今天先到这儿|不做了|cancel, I have to leave|"
        "let's leave it for now|先不弄了，改天再说|stop for now|先停下来|exit|退出吧|suspend|close it|"
        "finish here|stop working on it|halt it|stop the run here|please stop|enough|leave off here|"
        "先暂停|停一会|先停在这|别跑了|不跑了|停止吧|先这样|结束设计|终止|别继续了"
    ),
    ("fix", FAILED): (
        "sort out the convergence problem|先把那个报错解决掉|the netlist has an error, repair it|"
        "仿真报错了，修一下|it doesn't converge, please fix|仿真不收敛，解决一下|"
        "please repair the simulation|cure it|remedy it|troubleshoot it|find the bug|make it simulate|"
        "fix that error|correct the netlist|get it to converge|solve the error|repair the circuit|"
        "排查一下|搞好它|改好它|修好它|把错误改掉|让它能仿真|让它收敛|解决报错|修复网表|把问题修了"
    ),
    ("continue optimize", MISSED): (
        "keep at it until the goals are met|继续跑，直到达标为止|yes please go on until it meets the spec"
    ),
    ("optimize instruction", MET): (
        "再精细一点，截止频率再准一些|improve the cutoff accuracy|a tad more accuracy would be nice|"
        "再调准一些|make the cutoff more exact"
    ),
    ("unclear question", MET): ("你好厉害"),
    ("optimize", MET): (
        "tighten it up further|see if you can improve it|tighten it|tweak it|hone it|enhance it|"
        "fine-tune it|make it tighter|optimise again|push it further|squeeze it|do a bit better|"
        "提升一下|打磨一下|收紧一点|再抠一抠|调得更准|再精确一点|优化下|再提高一点|改善一下|"
        "做得更好些"
    ),
    ("accept", MISSED): (
        "I'll take it as it is|use this one even though it misses|虽然没达标，也先用着|"
        "go with this one despite the miss|不达标也接受|we can live with that, accept|先接受这个吧"
    ),
    ("undo go_back", MISSED): (
        "go back one round|rewind|back out|unwind it|step back|go one step back|"
        "previous version please|restore the previous|revert to before|undo round 3|退回|返回上一步|"
        "退回去|还原|撤掉这轮|恢复上一版|改回上一版|撤销第三轮|回到上一步|取消上一步"
    ),
    ("optimize continue", MET): ("再优化一轮"),
    ("go_back accept", MISSED): ("就用第 2 轮的结果"),
    ("optimize instruction goals", MISSED): ("try to get the cutoff closer to 10 kHz"),
    ("go_back instruction", MISSED): ("round 1 was better"),
    ("instruction goals", MISSED): ("I'd prefer a Chebyshev response|用切比雪夫响应吧"),
    ("optimize instruction question", MET): ("能不能再准一点|can it be made a bit more precise?"),
    ("question instruction", MISSED): ("换个大点的电容行不行？"),
    ("optimize instruction goals", MET): ("get the peaking down a little"),
    ("optimize question", MET): ("还能更好吗，再优化看看"),
}
"""Short texts and single words for each choice, and how engineers put the rest."""


def test_plain_texts_are_read_as_meant() -> None:
    read = [
        (text, meant, at.read(text).kind)
        for (meant, at), texts in PLAIN_TEXTS.items()
        for text in texts.split("|")
    ]
    assert [row for row in read if row[2] not in row[1].split()] == []
    assert MISSED.read("start round 7").kind == "unclear"  # no such round is next


ENGINEERS: dict[tuple[str, At], str] = {
    ("2nd-order Butterworth low-pass filter, cut-off 10 kHz", FAILED): """
        fix: netlist is broken, repair | the simulator reports an error, please fix | 仿真报错，麻烦修复
        fix: it crashed, fix it please | please solve the convergence issue | 麻烦解决一下收敛问题
    """,
    ("2nd-order Butterworth low-pass filter, cut-off 10 kHz", MET): """
        go_back 1: give me round 1 again
        goals 40: I also need at least 40 dB at 100 kHz | 另外100kHz处衰减不能低于40dB
        accept instruction: accept, then also plot the phase margin
        unclear question: who won the football last night | 晚上吃什么 | my cat is sitting on the keyboard
        unclear question: 下雨了，没带伞 | btw do you speak french | 你觉得中国队能赢吗 | do you like jazz?
        unclear question: 讲个笑话吧 | my dog ate my homework
        go_back 2: 就用第二轮那个版本
        question: how does this compare to round 1? | explain the trade-off between C1 and C2
        question: can I see the bode plot | 讲讲C1和C2怎么折中
        question: what about the temperature coefficient of R1 | would 1 % resistors be good enough?
        question: 1%的电阻够用吗 | is 0.5 dB peaking a problem? | how many parts are in it now
        question: what's your recommendation | tell me the actual cutoff | 你有什么建议 | 实际截止频率是多少
        question: explain the warning in the last run | what do you suggest | how many rounds did you need
        accept stop: 好了好了，收工 | hold the design as is and finish
        accept: great stuff, lock it | 不错不错，接受了 | accepted with thanks | 通过，谢谢
        accept: I take this design | good, we can stop and keep it | that looks great, let's finish
        accept: 看着不错，完成 | no further changes, accept | 不用再改了，接受 | that's perfect, keep this
        stop: that's all for today folks | quit for today | 今天到此为止
        question instruction: What if I use 5% resistors | 换5%的电阻行吗 | shouldn't C2 be larger?
        question instruction: C2是不是该大一点
        instruction: use 5% resistors | R2 looks odd, use 8.2k | swap C1 and C2 please | C1C2对调一下
        instruction: R1 to 12k and C1 to 1n5 | please use only parts from E12 | R1改12k，C1改1.5n
        instruction: connect C2 to ground | C2接地 | don't use values below 1k | could you split R1 in two?
        instruction: 别用1k以下的阻值 | R1 and R2 should have the same value | R1和R2要取一样的值
        instruction: replace all resistors with E24 values | 电阻全部换成E24系列
        unclear: no wait, let me think | 等等，让我想想 | lol | 哈哈 | 肚子饿了 | good morning
        unclear: nice weather outside | 外面天气不错
        goals 12000: cutoff 12k, peaking max 0.2dB | 截止12k，峰值不超过0.2dB
        question unclear: what's the capital of France | tell me about your weekend
        question unclear: where can I buy concert tickets
        instruction optimize question goals: could we have less peaking?
        goals 0.3: peaking <= 0.3 dB
        unclear question instruction: can you write me a poem | 帮我订张机票
        instruction question: maybe a smaller C2 would do | what about a Sallen-Key instead?
        goals 8000: could you make the cutoff 8k | 截止频率挪到8k
        goals 6: the passband gain should be 6 dB
        goals 0.1: peaking no more than 0.1 dB please
        goals 9000: cutoff 9 kHz instead of 10 | 截止频率改9kHz
        goals 7000: lower cutoff please, 7 kHz | 截止频率低一点，7kHz
        question continue: is it worth another round?
        goals 11000: cutoff at 11 kHz please | 截止频率定在11kHz
    """,
    ("2nd-order Butterworth low-pass filter, cut-off 10 kHz", MISSED): """
        stop accept: lets call it a day | that will do for today, stop
        stop: 今天先到这儿 | enough for now, i'll continue tomorrow | 歇会儿，明天接着弄 | nevermind, stop
        stop: stop. that's enough | 就到这吧，不弄了 | I have to go, stop please | 有事先走了，停吧
        continue optimize: let's do another two rounds | do another three iterations
        instruction: Next, but freeze C1 | 下一轮，只调R和C | proceed using E24 values | 用E24的值继续
        instruction: continue but prefer standard values | 继续，尽量用标称值
        instruction: next round with 5 % tolerance please | 下一轮电阻用5%精度
        instruction: go on but make C1 a standard value | 继续，C1取标准值 | next, but with C2 fixed at 10n
        instruction: 下一轮C2固定10n | go on but stick to 0603 parts | 继续吧，封装都用0603
        goals: ditch the passband gain requirement | 通带增益这个要求去掉
        continue: sounds good, next round | 听起来不错，下一轮 | onwards and upwards | carry on then
        continue: 那就继续吧
        goals instruction: relax the cutoff tolerance
        optimize: see if you can optimize it | 看能不能再优化一下
        go_back 2: roll back to round 2 | go back to version 2 please | 退回到第二版
        undo: hmm no, undo this | 不对，撤销 | reverse the last step | 把最后一步撤回来
        goals 20: attenuation of 20 dB is enough | 衰减20dB就够了
        go_back 1: can you restore the first round | 麻烦恢复第一轮
    """,
    ("common-emitter amplifier, gain 20 dB, supply 12 V", FAILED): """
        fix instruction: ngspice complains about a singular matrix, get that fixed | 奇异矩阵的报错修一下
        fix: fix the netlist error please | 网表出错了，修复一下
    """,
    ("common-emitter amplifier, gain 20 dB, supply 12 V", MET): """
        instruction: try 4k7 for R2 | R2换4k7试试 | 整体OK，就是R3功耗偏大，换个功率大点的
        instruction: could you swap Q1 for a BC547B | can you add an emitter degeneration resistor?
        instruction: 把Q1的集电极电阻加大 | make the coupling caps 10x bigger | maybe use a two-stage design
        instruction: 耦合电容加大十倍 | 试试两级结构 | I want to see it with 2N3904 | 三极管换成2N3904试一下
        instruction: yes but the bias point should be at mid supply | 静态工作点放到电源一半
        instruction: I would prefer a PNP version | 继续优化，元件数别增加 | 改用PNP管
        instruction: I think the emitter resistor should be bypassed | 发射极电阻应该加旁路电容
        instruction: use a bigger coupling capacitor at the input | reduce the number of parts
        instruction: 输入耦合电容换大一点的 | RE should be 220 ohms | RE应该是220欧
        instruction: please avoid electrolytic capacitors | lower the quiescent current
        instruction: I need the output ac coupled | 输出要交流耦合 | remove the emitter bypass capacitor
        instruction: 发射极旁路电容去掉
        question: wheres the pole of that output stage? | could you explain how Q1 is biased
        question: Q1的静态工作点怎么定的 | 为啥不用JFET | what's the input range of this amp
        question: does R3 matter at all | R3到底有没有用 | ok but first tell me why R5 is so small
        question: R5为啥取这么小，先说清楚再往下做 | I wonder what the output impedance is | 输出阻抗有多大
        question: any risk of saturation in Q1? | Q1会饱和吗 | I don't understand why C1 is so big
        question: list the changes since round 1 | 列出和第一轮相比的改动 | what would a second stage bring?
        instruction goals: 增益再加3个dB | set the supply to 15 V | drop the supply to 9 V | 电源降到9V
        goals 50000: i also want the input impedance above 50k
        goals instruction: 静态电流也要小于5mA | also limit the supply current to 5 mA
        question instruction: why not use a jfet here
        accept: yes, this is the version I want | 就它了，存下来 | yep that's the one | 嗯就是它，接受
        accept: deal, accept it | looks fine to me. accept | 看着可以，接受吧 | I accept, thanks a lot
        instruction optimize: try to get the output swing a bit larger | 输出摆幅再大一点
        instruction optimize: improve further but keep the parts count | 静态电流再降一点
        instruction question: could the stage be biased with less current? | 元件数能不能少几个
    """,
    ("common-emitter amplifier, gain 20 dB, supply 12 V", MISSED): """
        undo go_back: the one before was better | 上一版更好，退回去 | go back one version | 退一版
        undo go_back: 还是换回原来的吧
        instruction: bump the bias current to 2 mA | OK but I only have BC337 transistors
        instruction: 行，不过我只有BC337 | continue, but Q2 must stay | 继续，但Q2不能换
        goals: drop the bandwith goal, don't care about it
        continue: no need to stop, carry on | next one please | 下一个 | just continue | 直接继续 | 接着干
        continue: and again | 再来
        undo: oops that made it worse, undo please | 这轮白改了，撤了吧 | nope, revert | 不行，改回去
        undo: take back what you just did | 刚刚那一步退掉 | discard what you changed | 刚才改得不好，撤销
        undo: nah, put it back | that change was no good, revert | undo that last step please
        undo: 刚才那一步撤掉吧
        optimize continue: 我不满意，继续调
        go_back 2: let's return to what we had in the second round | 恢复第二轮的参数 | load round 2 again
        go_back 2: please restore the second version | 调回第二版 | return to the state of round 2
        go_back 2: restore the circuit of round 2 | 退回第二轮那个电路
        go_back 1: 还是第一轮的参数靠谱，换回去 | round 1 please | bring back round 1
        go_back 1: I liked the first version better | 我更喜欢第一版 | 回到最开始那一轮
        go_back 1: take me back to round one | 带我回第一轮
        question: compare it with the first round | 和第一轮比一比 | show me what changed
        question: what did you actually change | 你都改了哪些地方
        stop: stop the design please
        continue optimize: ok keep working on it
    """,
    ("buck converter 12 V to 5 V, 2 A, ripple below 50 mV, efficiency at least 90 %", FAILED): """
        fix instruction: sort out that convergence error first | spice says timestep too small, please fix
        fix instruction: timestep error again, please solve it
        fix: 报错了，先搞定它 | the sim bombed, can you repair it | 仿真又崩了，修修
        fix: clean up that netlist error | fix whatever is broken
        question fix instruction: 时间步长太小报错怎么办
        fix question: 哪里坏了修哪里
    """,
    ("buck converter 12 V to 5 V, 2 A, ripple below 50 mV, efficiency at least 90 %", MET): """
        instruction: looks good, but the ripple is still a bit high for me | L1 = 33u, rest untouched
        instruction: use a schottky for D1 | D1换成肖特基 | L1用33uH，其余不动
        instruction: I'd go with this but the caps are huge | go ahead but stay with ceramic caps only
        instruction: 继续可以，不过只能用陶瓷电容 | change D1 to an SS34 | 不要电解电容，其他没意见
        instruction: add a snubber across D1 | D1两端并个RC吸收 | Try with L1 at 47uH | L1取47uH试试
        instruction: use two 10uF in parallel for the output cap | 输出电容用两个10uF并联
        instruction: can you raise the switching frequency to 500 kHz | change the load to 10 ohm and rerun
        instruction: 负载换成10欧再跑一遍 | halve the inductor | 电感减半 | can we try a larger inductor?
        instruction: can you add soft start? | use thicker wire for L1 | 能加个软启动吗 | L1 22uH, Cout 47uF
        instruction: L1用22uH，输出电容47uF
        accept: ship it | 收货 | ripple's fine now, we can go with this | 纹波达标了，这版就这么定
        accept: all specs green, wrap up | 这版满足要求，收了 | perfect, thank you, accept
        accept: 完美，谢谢，接受 | I'm satisfied, save it | OK I'm taking this version
        accept: very nice, we take that | 非常好，我们就用这个 | excellent, accepted | 很棒，接受
        accept: we accept this result | 这个结果我们接受
        question: 这效率怎么算出来的 | so the inductor saturates or not? | 电感会不会饱和？
        question: give me a list of the parts | 列一下元件清单 | how much current does the led draw
        question: why 33 uH and not 22? | 电感为什么是33uH | how hot does D1 get? | D1温升多少
        question: does efficiency drop at light load? | 轻载时效率会掉吗 | which goal is missed by how much
        question: does C2 need to be low ESR?
        goals 0.02: can we get it down to 20 mV ripple? | 纹波别超过20mV | lower the ripple spec to 20 mV
        goals 0.02: 纹波指标收紧到20mV
        optimize instruction: squeeze out a bit more efficiency | 再优化优化，纹波还能更小
        optimize instruction: 不着急收，再优化下效率
        instruction optimize question: 效率能不能再高一点
        goals 0.93: efficiency > 93% | 效率做到93%以上
        goals 0.92: min efficiency 92 percent | 效率最低92% | efficiency of at least 0.92
        goals 0.03: ripple 30mVpp max | ripple needs to be under 30 mV | 纹波要低于30mV
        optimize instruction goals: please improve the efficiency by a couple of percent
        goals 12: we need 12 V out, not 5 | 输出要12V，不是5V
        question instruction: can the inductor be smaller? | 电感可以更小吗
        goals 5.1: vout 5.1
        instruction question: why don't you use a smaller inductor? | 开关频率提到500k行不行
        instruction question: can you simulate it with 3 A load | 3A负载下仿真一下看看
        goals 0.94: increase the efficiency target to 94 % | 效率目标提高到94%
        goals 0.95: I need 95 % efficiency | 效率我要95% | tighten the efficiency goal to 95%
        stop: let's stop here for now | 先停在这儿吧，谢谢
        goals 5.2: output should be 5.2 V | 输出电压改为5.2V
        goals 0.91: make the efficiency goal 91 %
        goals 0.025: ripple max 25mV, efficiency min 88%
        stop accept: ok that's it, end the session
        goals 0.04: ripple limit 40 mV | 纹波上限40mV
    """,
    ("buck converter 12 V to 5 V, 2 A, ripple below 50 mV, efficiency at least 90 %", MISSED): """
        continue: three more rounds please | ok one last round then we stop | 跑吧 | go | contineu pls
        continue: don't stop yet, I want to see the next one | 别停，我还想看下一轮 | good progress, go on
        continue: 有进步，继续
        instruction optimize: can you lower the ripple? | less ripple pls
        instruction optimize: continue, only optimize for efficiency now | 纹波再小点
        continue optimize: 再跑两轮 | alright keep pushing | go for two more | keep at it, you're close
        continue optimize: 继续加油，快达标了 | 4 more rounds | 再跑四轮 | run another couple of rounds
        continue optimize: 再多来两轮
        instruction optimize continue: 还不行，纹波太大了
        goals 0.08: 纹波放到80mV也行
        instruction: 指标先别动，电感换成22uH的 | Continue with a lower switching frequency
        instruction: 开关频率提到500k，继续 | continue with the smallest inductor possible
        instruction: 优化的时候别动电感 | yes go, but no electrolytics
        instruction: make the ripple smaller and continue | carry on without changing L1 | 把纹波降低再继续
        instruction: L1别动，接着来 | continue but watch the inductor peak current | 继续，注意电感峰值电流
        instruction: continue but swap L1 for a 15uH part | 继续，L1改用15uH的
        instruction: continue with an LM2596 instead | 换LM2596继续
        instruction: next round: double the output capacitance
        instruction continue optimize: yeah nah, ripple still too big
        question: what limits the efficiency right now | which round had the lowest ripple
        question: how did round 1 do on ripple? | 第一轮的纹波是多少来着 | where does the ripple come from?
        question: 纹波主要来自哪里 | what's eating the efficiency | 效率损失在哪 | did the last change help?
        question: 上次改动有帮助吗 | why did it fail in this round | 这轮怎么又没过
        question: what's the theoretical limit | how far are we from the goals? | 离目标还有多远
        question: is the ripple measured peak to peak? | 差多少没达标
        question: what is the difference to the last round | 和上一轮有啥区别
        goals 0.1: please relax the ripple to 100mV | I can accept 100 mV ripple | 纹波100mV我能接受
        instruction goals: Go on but limit the inductor current to 3 A | 继续，电感电流别超过3A
        goals 0.85: efficiency can be 85% | 效率85%就够了
        go_back 1: round 1 had the better ripple, take that | 第一轮纹波更小，用第一轮的 | revert to round 1
        go_back 1: please go back to the first iteration | 回第一轮
        undo go_back unclear instruction: undo the last two changes
        undo: take that back pls | the last change was a mistake, undo it | 上一步改错了，撤销它
        undo: throw that last change out | undo please, the ripple got worse | 纹波反而大了，撤销
        goals 0.07: the ripple limit can be 70 mV | 纹波限制放到70mV
        optimize: ok let it optimize | 让它自己优化吧 | optimise the values further please | 参数再优化优化
        goals: let's revise the specs | 指标得改一改 | skip the inductor ripple goal
        go_back 2: give me the version from round 2 | 恢复到第2轮的版本
        continue optimize unclear: two more then I'll decide
        stop: I think we should stop here | 我觉得可以停了
        continue optimize instruction goals: continue until ripple is below 50 mV | 跑到纹波低于50mV为止
        goals 0.06: ripple 60 mV is tolerable
    """,
    ("Wien bridge oscillator 1 kHz, THD below 1 %", FAILED): """
        fix: it doesn't converge, do something | 不收敛，想想办法
    """,
    ("Wien bridge oscillator 1 kHz, THD below 1 %", MET): """
        question: any idea why the startup takes that long | 能起振吗？余量有多大
        question: why does the oscillator need two seconds to start? | 启动要多长时间
        question: will it start at -40 degrees? | 零下40度能启动吗 | how stable is the amplitude over supply
        question: do we really need R7 | R7真的有必要吗 | are these values realistic | 这些值现实吗
        question: what sets the frequency | 频率由什么决定 | who decides the tolerance
        accept: 行了行了，就它吧 | nice work! accepted. | we have a winner | 干得漂亮，就这个了
        accept: okay that's good enough, take it | this is it, accept | 就这个方案，接受了
        goals: 失真降到0.5%以下 | add a goal: settling below 2 ms | 加一条指标：建立时间小于2ms
        goals 1200: the frequency should rather be 1.2 kHz and leave the rest
        instruction: happy with everything except the start-up time | I'd rather have a Colpitts
        instruction: can you use a different topology | try 100n for C4 | C4试试100n | R7 1k -> 2k2
        instruction: R7从1k改2.2k | make R3 adjustable | R3做成可调的 | I don't want a crystal, use RC only
        instruction: add hysteresis
        goals 1500: 频率改成1.5k，其他保持不变 | set frequency to 1.5 kHz | 频率设成1.5kHz
        goals 2000: make that 2 kHz | now I want 2 kHz | 现在要2kHz
        goals 0.001: thd has to be below 0.1% | THD必须小于0.1%
        goals 3: amplitude 3 V peak please | 幅度要3V
        instruction goals: frequency 10 % lower
        goals 800: please change the frequency to 800 Hz | 频率请改到800Hz
        goals 440: frequency should be 440 Hz | 频率要440Hz
    """,
    ("Wien bridge oscillator 1 kHz, THD below 1 %", MISSED): """
        continue optimize instruction: not happy with the THD, have another go
        go_back 2: hmm round two had less distortion, go back there | the second round was the best, use it
        go_back 2: 第二轮最好，就用它
        optimize: still off by a lot, keep tuning | 没事，接着优化 | 再优化到达标为止
        optimize: keep optimizing, we have time | 时间还多，继续优化 | we're not done, optimize more
        optimize: 没完呢，再优化 | fine tune the values | 把各个值微调一下 | do your best to optimize it
        optimize: 尽力优化吧
        stop: I'm out, stop it here | 不玩了，停 | abort, something's off | 别折腾了，到此为止吧
        stop: that's enough, quit | 够了，退出 | no more rounds please | 不用再跑了 | abort please
        stop: stop it, I've seen enough | 行了不跑了，停下
        goals: loosen the distortion spec | 把失真那条放宽点 | 频率误差控制在0.5%以内 | edit the goals
        goals: 编辑目标 | we can forget the distortion goal | 失真那条就不管了
        optimize continue: 离指标还差得远，再优化几轮 | keep optimising until it hits the target
        continue optimize: getting there, another pass please | 照这个思路再来两轮 | pls run 3 more
        continue optimize: continue for five rounds | 再跑五轮 | have another crack at it
        continue optimize: I'd give it two more rounds
        continue: 下一轮走起 | 再来一把 | give it one more shot before we stop | 停之前再跑一轮
        continue: not there yet, continue | 还差一点，继续 | 再给它两轮看看 | let's try once more
        continue: 再试一轮吧 | alright, one more time | 好，再来一次
        continue unclear: 冲冲冲
        goals unclear instruction question: frequency tolerance of 1 % is ok
        stop unclear: cancel everything and stop | 全部取消，停
        goals 0.02: distortion under 2% is good enough for me | 失真2%以内就可以接受
        goals unclear instruction: amplitude doesn't matter
        goals 0.03: distortion isn't that important, 3 % is fine
        continue optimize unclear: 再努努力
        accept: not perfect but I accept it | 不完美，但我接受
        undo: please cancel the last modification | 取消最后一次修改
        question: why has the frequency dropped | 频率为什么往下掉
        go_back 1: use version 1 instead | 改用第一版
        instruction undo: undo what you did to R3
        optimize instruction: please optimise for minimum distortion
        optimize instruction goals: 以失真最小为目标优化
    """,
    ("LDO regulator 5 V to 3.3 V, 500 mA, ripple rejection at least 60 dB at 1 kHz", FAILED): """
        fix question: 仿真停在一半了，看看哪里错了修好
    """,
    ("LDO regulator 5 V to 3.3 V, 500 mA, ripple rejection at least 60 dB at 1 kHz", MET): """
        goals 70: psrr >= 70 dB @ 1k
        question: does it stay in regulation at 1 A? | 输出电容的ESR取多少合适？
        question: 先别接受，帮我看看相位裕度是多少 | 这个电路在80度还能工作吗
        question: What's the worst case over temperature? | 高温下最差是多少 | 我想看看相位裕度
        question: is the phase margin measured at full load | i dont think this is stable, is it?
        question: 这个稳定性我不太放心，相位裕度还有多少？ | what happens at no load | 空载会怎样
        question: would it be better with a MOSFET? | 用MOS管会更好吗 | what's C3 for
        question: can it survive a short at the output | 输出短路会烧吗 | where is the dominant pole
        question: 主极点在哪 | 带10nF负载时稳定吗
        go_back accept: just keep round 2 and finish
        accept: that's it, im happy, lets keep it | 先这么着，接受吧 | looks right, approve
        accept: 嗯，接受当前结果 | I accept the design | 我接受这个设计 | ok great, finalize it
        accept: yes, take this as the final one | great, that's what I wanted | very good, take it
        accept: 非常满意，就它了
        question instruction: is there any way to get rid of the overshoot? | 过冲有没有办法消掉
        question instruction: plot the transient response please | would you use a bipolar or a mosfet here?
        question instruction: could you check the stability at 10 nF load
        instruction question: don't accept this yet, first check 85 degrees | 负载调到1A看看还稳不稳
        instruction question: would you put the compensation cap somewhere else?
        goals 3: Vout must be 3.0 V now | 输出改成3.0V
        instruction: 把补偿电容挪到输出端去 | the output cap should be a tantalum | Cin 4.7u, Cout 22u
        instruction: 输入电容4.7u，输出电容22u | increase the loop gain
        instruction: please replace the zener by a TL431 | 稳压管换成TL431
        instruction: compensate it for 1 nF load capacitance | move the pole to 1 MHz | 把极点移到1MHz
        instruction: use an NPN Darlington as pass device | 调整管用达林顿
        instruction: insert a diode at the input for reverse protection | 输入加个防反接二极管
        accept question: could you please accept the current version
        instruction goals optimize: I'd like a bigger phase margin
        instruction optimize goals: 相位裕度想再大一些
        goals 0.15: dropout max 150 mV | 压差最大150mV
        goals: new requirement: overshoot below 5 % | 新增要求：过冲小于5%
        goals: phase margin of at least 60 degrees | 相位裕度不低于60度
        goals 1.8: vout 1.8 V | 输出1.8V
    """,
    ("LDO regulator 5 V to 3.3 V, 500 mA, ripple rejection at least 60 dB at 1 kHz", MISSED): """
        continue: 老样子继续 | ok next | 嗯，接着往下跑吧 | 嗯嗯继续吧别管我 | let's keep iterating
        continue: 不停，继续跑 | proceed to the next iteration | 进入下一次迭代
        continue: yes please do another iteration | 好的，请再迭代一轮 | give me another iteration
        continue: please proceed with the next round
        question instruction: would a bigger output cap help?
        go_back 2: 第三轮不如第二轮，回第二轮吧 | use the round 2 circuit | 用第二轮的电路
        continue optimize: keep it going for a while | please go one step further
        accept: I can live with the missing margin, accept it | accept the design as it is | 没达标也接受吧
        goals instruction: forget about the line regulation | 线性调整率不用管了
        goals instruction: no phase margin requirement please
        goals instruction: go ahead, but the output must not exceed 3.4 V
        undo: undo, that killed the phase margin | 相位裕度被你搞没了，撤回
        instruction: don't touch the feedback network, just continue | 反馈网络别碰，接着跑
        goals: remove the dropout spec | 压差指标不要了
        question: does the second version draw more current? | 第二版的电流是不是更大
        question: why is the goal for dropout not met | 压差指标为啥没过 | why is there overshoot?
        question: 为什么会有过冲
        optimize instruction: improve the phase margin | 相位裕度再提高些
        optimize: try to improve it | 想办法再优化一点
    """,
    ("inverting amplifier with gain of 10, bandwidth 100 kHz", FAILED): """
        fix: correct the simulation error | error in the netlist, please correct | please repair the netlist
        fix instruction: 网表有错，改一下
    """,
    ("inverting amplifier with gain of 10, bandwidth 100 kHz", MET): """
        instruction question optimize: could it be made quieter?
        instruction: 可以是可以，就是运放太贵了，换个便宜的 | 满意，但是把电阻都取成E24的标称值再定
        instruction: Rf 22k instead of 10k | put in a 10R series resistor at the output
        instruction: 反馈电阻22k，别用10k | 输出串个10欧电阻 | 电源改成正负15V
        instruction: fine, but use a rail-to-rail opamp | 可以，但要用轨到轨运放
        instruction: the gain is spot on but the bandwidth suffers, raise it | set Rf=33k
        instruction: can you get rid of R6 | R3: 15k | Rload = 50
        instruction: put a 100 ohm resistor in series with the output | 输出端串一个100欧电阻
        instruction: how about a JFET input stage | fine so far, now use real op-amp models
        goals 15: gain of 15 would be better | 增益要15倍 | gain must be at least 15 | 增益不能小于15
        instruction optimize: 能把噪声再压一压吗 | not bad, but see if you can do better on the noise
        instruction optimize: 增益正好，带宽差点，提上去
        question: is this realistic with a TL081? | how come gain is negative?? | 增益为啥是负的
        question: remind me what the goals were | is there a reason for 82k | 为什么选82k
        question: is this good enough for audio? | 这个用在音频上够用吗 | which op amp did you assume?
        unclear instruction question continue: the gain looks wrong to me
        goals 30: I need a higher gain, say 30
        instruction goals: double the gain | 增益翻倍
        accept: we'll go with this one | fine by me, finish it | 没问题了，完成吧 | good enough, done
        accept: this one's good, keep it | okay let's go with this design | 行，就按这版来 | done, I like it
        goals 12: gain goal to 12 | 增益目标改12 | gain between 8 and 12 | 增益8到12之间
        goals 200000: change the bandwidth goal to 200 kHz | 带宽目标改成200k
        goals 150000: bandwidth 150 kHz or more | 带宽至少150k
        instruction question: R6能不能省掉
        goals 250000: bandwidth at least 250k | 带宽要到250k以上
        question instruction: is there something cheaper than this opamp? | 有没有比这个更便宜的运放
        question instruction: couldn't we use a smaller Cin?
        goals 20: gain 20 instead of 10 | 增益改成20倍
    """,
    ("inverting amplifier with gain of 10, bandwidth 100 kHz", MISSED): """
        instruction optimize: 别停，再往下压一压噪声
        continue optimize: run it for two more iterations | go on til all specs are met
        continue optimize: 接着跑，跑到指标全过为止 | 再给我两轮的机会 | proceed for a few more rounds
        continue optimize: 再多跑几轮
        continue optimize instruction: do five more passes and then show me
        optimize: almost. tighten things up a little more | continue 优化吧
        optimize: hmm, could be better. Optimize again | 效果一般，再优化 | could you tweak it a little more
        instruction: Proceed, R4 stays at 1k | R4保持1k不变，继续 | go on, just no values above 1 Meg
        instruction: proceed, but with a single supply | 接着做，但要单电源供电
        instruction: keep going and reduce the noise | 接着跑，顺便把噪声降下来
        instruction: ok continue, and use metal film resistors
        instruction: ok go on but replace the op-amp by an OPA211 | 继续，但运放换成OPA211
        continue: 再多试几轮看看效果 | run it once more | okay, onto the next round | 好，下一轮吧
        optimize instruction: optimize it for lower noise | 朝着低噪声的方向再优化
        stop: ok stop now please | 好了停吧 | please terminate | end it please | 结束吧
        question: are all goals met? | 指标都过了吗 | what was the gain in round 1
        question: was round 2 better than round 1? | 第二轮比第一轮好吗
        question: is it possible that the op-amp limits the bandwidth? | 带宽是不是被运放限制了
        undo: undo it, R2 was better before | I don't like this change, undo it | 这次改得我不喜欢，撤掉
        undo: no good, undo | 不好，撤销吧
        instruction unclear continue optimize: the noise is too high
        go_back 1: go back to how it was in round 1
        goals: I'd like to change the bandwidth goal | 我想调一下带宽指标 | goals need an update
        goals: let me change the targets
        goals instruction unclear: the input resistance is not important
    """,
}
"""Sets of forty, each written before it was read once; of 40 were read at first
sight: 35, 28, 30, 34, 25, 35, 36, 31, 36, 37, 38, 36, 36, 34, 34, 36, 35, 38, 38, 38 and 38."""


def test_what_engineers_type_at_several_circuits_is_read_as_meant() -> None:
    wrong, count = [], 0
    for (wish, at), lines in ENGINEERS.items():
        here = at._replace(goals=goals_of(wish))
        for line in lines.strip().splitlines():
            meant, texts = line.strip().split(": ", 1)
            *kinds, figure = meant.split() if meant[-1].isdigit() else [*meant.split(), ""]
            for text in texts.split(" | "):
                read, count = here.read(text), count + 1
                if read.kind not in kinds or (figure and not says(read, float(figure))):
                    wrong.append((text, meant, read.kind, read.goals))
    assert count == 837
    assert wrong == []


@cache
def goals_of(wish: str) -> tuple[DesignGoal, ...]:
    return understand(wish).goals


def says(read: CheckpointIntent, figure: float) -> bool:
    """Whether a read text has a round, or where its goals are changed one of their bounds, of that figure."""
    if read.kind != "goals" or read.goals is None:
        return read.round_number == figure or read.kind != "go_back"
    bounds = [abs(each) for goal in read.goals for each in (goal.minimum, goal.maximum, goal.target) if each]
    return any(math.isclose(each, figure, rel_tol=1e-6) for each in bounds)


READ: dict[str, tuple[tuple[str, At], ...]] = {
    "continue": (
        ("continue", MET), ("go on", MISSED), ("Next!", MET), ("another round please", MISSED),
        ("contiune", MISSED), ("ok, go ahead", MISSED), ("no, keep going", MISSED), ("don't stop", MISSED),
        ("don't accept yet", MET), ("ok", MISSED), ("can you run it again?", MISSED), ("run again", MISSED),
        ("继续", MET), ("继续吧，谢谢", MISSED), ("再来", MISSED), ("先别停", MISSED),
        ("先别停，继续", MISSED), ("好的，下一轮", MISSED), ("繼續", MISSED), ("再跑一次", MISSED),
        ("好", MISSED), ("请 continue", MISSED), ("那就继续跑下一轮吧", MISSED),
        ("I guess another iteration wouldn't hurt", MET), ("let's see one more", MET),
        ("give it another shot", MET), ("you may proceed", MET), ("press on", MET), ("再试一下吧", MET),
        ("往下走", MET), ("多跑几轮", MET), ("ok go", MISSED), ("ok let's do one more round then", MET),
        ("fine, carry on", MET), ("keep at it please", MISSED), ("can we have another attempt?", MISSED),
        ("yes, continue", MISSED), ("继续进行下一轮", MISSED), ("嗯，接着", MISSED),
        ("好，再试一轮", MISSED), ("麻烦再迭代一次", MISSED),
    ),
    "optimize": (
        ("optimize", MET), ("Optimise further, please.", MET), ("make it better", MET), ("optmize it", MET),
        ("could you improve it a bit more?", MET), ("don't stop, optimize", MET), ("优化", MET),
        ("再优化一下好吗？", MET), ("继续优化", MET), ("请帮我再优化优化", MET), ("optimize 一下", MET),
        ("don't give up, keep optimizing", MISSED),
        ("could you optimize the component values a bit further?", MET), ("再优化一点点", MET),
    ),
    "fix": (
        ("fix it", FAILED), ("please fix the error", FAILED), ("repair the convergence problem", FAILED),
        ("修复错误", FAILED), ("帮我解决一下这个问题", FAILED), ("把报错修好再继续", FAILED),
        ("yes", FAILED), ("the simulation crashed, please repair", FAILED), ("没仿真成功，修一下", FAILED),
        ("please fix this failure", FAILED),
    ),
    "accept": (
        ("that'll do, thanks", MET), ("yes this is what I wanted", MET), ("满意，保存这个版本", MET),
        ("accept", MISSED), ("Accept!", MET), ("yes", MET), ("looks good to me", MET), ("acept", MET),
        ("perfect, accept the design", MET), ("done", MET), ("接受", MISSED), ("好的，接受设计", MET),
        ("好", MET), ("就用这个吧", MET), ("没问题，采纳", MET), ("accept 吧", MET), ("ACCEPT", MET),
        ("I accept the result as it is", MET), ("this one is fine, let's finish", MET),
        ("good job, I'll take this version", MET), ("就它吧", MET), ("满意，收下了", MET),
        ("没达标也无所谓，接受", MISSED), ("I approve", MET), ("all good, accept", MET),
        ("great, that's the one", MET), ("I'm satisfied with this", MET), ("接受当前设计", MET),
        ("很好，就这样吧", MET), ("设计可以了，我接受", MET), ("行，就用这一版", MET),
    ),
    "stop": (
        ("stop", MET), ("Please stop now.", MISSED), ("cancel", MISSED), ("that's enough", MISSED),
        ("停", MISSED), ("停止吧", MISSED), ("算了，不做了", MISSED), ("到此为止", MET),
        ("end the design here", MISSED), ("停止优化", MISSED), ("no thanks, stop", MET),
        ("please abort the run", MET), ("let's call it a day", MET), ("退出", MET),
        ("we can stop now", MET), ("stop please, this goes nowhere", MET), ("停止设计吧", MISSED),
        ("不用再跑了，停", MISSED), ("终止", MISSED),
    ),
    "undo": (
        ("undo", MET), ("revert that please", MISSED), ("take it back", MISSED), ("撤销", MET),
        ("撤回这一轮", MISSED), ("麻烦撤销刚才的修改", MISSED), ("undo round 3", MET), ("go back", MISSED),
        ("undo 一下", MET), ("can you undo that?", MET), ("I changed my mind, undo", MET),
        ("put it back the way it was", MET), ("undo your last change please", MET),
        ("撤销上一轮的改动", MET), ("把这一轮还原", MET),
    ),
    "go_back": (
        ("back to round 1", MET), ("回到第 1 轮", MET), ("go back to the second round please", MISSED),
        ("退回第一轮", MISSED), ("restore round 2", MET), ("回到上一轮", MISSED), ("回到最初的版本", MET),
        ("let's go back to version 1", MISSED), ("恢复到第二版", MISSED),
        ("return to the original design", MET), ("round 1 looked nicer, restore it", MET),
        ("go with round 2", MET), ("第二轮的结果更好，回到那一轮", MET), ("还是第一轮好，退回去", MET),
        ("return to iteration 1", MET), ("take me back to the second design", MET),
        ("回到第一轮的设计", MET), ("恢复成第 2 轮", MET),
    ),
    "goals": (
        ("I want the input impedance above 10k", MET),
        ("cutoff 12 kHz", MET), ("12 kHz please", MET), ("截止频率改为 12 kHz", MISSED),
        ("go on with a cutoff of 12 kHz", MISSED), ("继续，截止频率改成 12k", MISSED),
        ("change goals", MET), ("修改目标", MISSED), ("I want to change the goals", MISSED),
        ("change the target of the cutoff", MISSED), ("峰值不超过 0.2 dB", MET),
        ("no more than 0.3 dB peaking", MET), ("can you set the cutoff to 12 kHz?", MET),
        ("把指标放宽一点", MISSED), ("tighten the peaking to 0.2 dB", MET),
        ("attenuation at least 20 dB", MET), ("the cutoff should be 9.5 kHz", MET),
        ("raise the corner frequency to 15k", MET), ("带宽提高到 15 kHz", MET), ("阻带衰减至少 25 dB", MET),
        ("set the cutoff to 11 kHz", MET), ("attenuation of 25 dB or better", MET),
        ("relax the peaking to 1 dB", MET), ("new goal: peaking below 0.1 dB", MET),
        ("modify the targets", MET), ("截止频率要 11 kHz", MET), ("衰减改成不低于 20 dB", MET),
        ("调整一下设计目标", MET),
    ),
    "instruction": (
        ("go on, but with E12 values", MET), ("继续，但是用 E12", MET),
        ("继续，但是用 E12 系列的电阻", MISSED), ("accept, but first change R1 to 1k", MET),
        ("接受，不过把 R1 换成 1k", MET), ("make it nicer", MET), ("use E96 resistors", MET),
        ("change R1 to 2k and simulate", MET), ("don't touch R1", MISSED), ("R1 不要动", MISSED),
        ("电阻别超过 100k", MISSED), ("keep the cutoff at 10 kHz but lower the noise", MET),
        ("try a Chebyshev response instead", MISSED), ("换个便宜点的运放", MET), ("增大 C1", MISSED),
        ("cutoff to 12 kHz and use E12 values", MET), ("截止频率改成 12 kHz，并且用 E24 的电阻", MET),
        ("stop the oscillation", MISSED), ("optimize R1 and R2 only", MISSED),
        ("undo the change of R1", MISSED), ("could you add a buffer at the output?", MET),
        ("how about smaller capacitors?", MET), ("要不换成贝塞尔", MISSED),
        ("accept it if the peaking is below 0.1 dB", MET), ("如果相位裕度够 60 度就接受", MET),
        ("What is the ripple? Then use a bigger capacitor.", MET), ("stop, use 1% parts", MISSED),
        ("优化一下噪声", MISSED), ("continue mit E24 values", MISSED), ("fix the ripple", MISSED),
        ("please continue, only with smaller inductors", MISSED), ("用 1% 精度的电阻", MET),
        ("make the resistors bigger", MET), ("R2 = 10k", MET), ("swap R1 and R2", MET),
        ("use a TL072", MET), ("go ahead but leave the capacitors alone", MET),
        ("next round: only standard values", MET), ("less gain in the second stage please", MET),
        ("电容换成 C0G 的", MET), ("R1 用 10k", MET), ("运放型号改为 OPA2134，其他不变", MET),
        ("node 3 is floating, add a resistor", FAILED), ("use only E24 resistors and C0G capacitors", MET),
        ("replace the op-amp with an LM358", MET), ("continue, but keep R1 fixed", MET),
        ("ok but make it cheaper", MET), ("set C1 to 10 nF and rerun", MET),
        ("add a comment line to the netlist", MET),
        ("把 C1 改为 10nF", MET), ("所有电阻用 1% 的", MET), ("继续，但不要改运放", MET),
        ("接受，但是文件名改成 filter2", MET), ("加一级缓冲", MET), ("功耗再低一些", MET),
    ),
    "question": (
        ("what does 'accept' mean?", MET), ("why?", MISSED), ("why is that?", MET),
        ("should I accept?", MET), ("accept?", MET), ("should we stop?", MISSED), ("is it stable?", MET),
        ("how many rounds are left?", MISSED), ("explain the peaking", MET), ("tell me a joke", MET),
        ("what's the weather like?", MET), ("what happens if I stop here?", MISSED),
        ("can I undo it later?", MET), ("show me round 1 and round 2", MISSED), ("为什么没达标？", MISSED),
        ("能接受吗？", MET), ("要不要停？", MISSED), ("“撤销”会删除文件吗", MET), ("解释一下峰值", MET),
        ("R1 为什么这么大", MISSED), ("把 R1 改成多少合适", MISSED), ("相位裕度是多少", MET),
        ("I don't understand the attenuation", MISSED), ("你是谁", MET), ("中午吃什么", MET),
        ("哪一轮最好", MISSED), ("i wonder whether the ripple matters", MISSED),
        ("what would accepting do", MET), ("can you stop it?", MISSED), ("which parts did you change", MET),
        ("is 4 of 4 the best we can get?", MET), ("will it oscillate with a capacitive load?", MET),
        ("what's your name", MET), ("Do you recommend accepting?", MET), ("为啥衰减只有 19 dB", MET),
        ("下一步你打算怎么做", MET), ("能说说这一轮改了什么吗", MET), ("接受的话文件会保存在哪里", MET),
        ("继续的话大概还要几轮", MET), ("我不太明白峰值是什么", MET), ("why did it fail?", FAILED),
        ("what's the phase margin?", MET), ("how sensitive is it to resistor tolerance", MET),
        ("is the op-amp fast enough?", MET), ("and if I stop, is the file kept?", MET),
        ("why not accept it?", MET), ("should I continue or accept?", MET), ("这电路稳定吗", MET),
        ("为什么不能再优化了", MET), ("衰减的余量有多少", MET), ("停止以后还能继续吗", MET),
        ("R1 和 R2 的作用是什么", MET), ("what does the error mean?", FAILED),
    ),
    "unclear": (
        ("", MET), ("hello", MET), ("你好", MET), ("thanks", MET), ("谢谢", MET), ("123", MET),
        ("10k", MET), ("no", MET), ("不", MISSED), ("not good", MET), ("不行", MET), ("asdfgh", MET),
        ("😀", MET), ("...", MET), ("I had pizza for lunch", MET), ("完成", MISSED), ("stop and undo", MET),
        ("back to round 9", MET), ("don't continue", MISSED), ("不要继续了", MISSED), ("round", MET),
        ("accept or stop", MET), ("'accept'", MET), ("I will never accept this", MET), ("他说可以", MET),
        ("the button says accept", MET), ("undo round 1", MET), ("I accept that life is hard", MET),
        ("全部撤销然后停止", MET), ("brb coffee", MET), ("哈哈哈", MET), ("hahaha", MET),
        ("I'll be back in five minutes", MET), ("我饿了", MET), ("呃", MET),
    ),
}  # fmt: skip
"""What is meant, and the texts that mean it."""
NEVER_ENDS = (
    "it is good but not good enough", "I can't accept it", "not accept", "接受不了", "没法接受",
    "cancel the offset", "停一下，我有个问题", "取消 C3", "通过调 R1 来提高", "finish the layout",
    "give up on R1", "stop it from oscillating", "quit joking", "完成度多少", "结束后告诉我", "不要撤销",
    "take back the last two rounds", "restore the file", "exept", "we accept 5 % tolerance",
    "stopband 40 dB", "停止时间改为 5 ms", "looks good. Continue!", "accept, or maybe not",
    "don't you accept?", "yes or no", "wait", "等一下", "暂时别撤销", "never stop",
)  # fmt: skip
"""Texts near to an end of the design, or to an undo, that are none."""


def is_meant(text: str, kind: str, at: At) -> bool:
    return at.read(text).kind == kind


def test_texts_of_every_kind_are_read_as_meant() -> None:
    rows = [(text, kind, at) for kind, told in READ.items() for text, at in told]
    assert len(rows) >= 120
    assert [row for row in rows if not is_meant(*row)] == []
    assert all(at.read(f"  {text}\n").text == text.strip() for text, _, at in rows)


def test_what_is_near_to_an_end_ends_nothing() -> None:
    read = {text: MET.read(text).kind for text in NEVER_ENDS}
    assert {text: kind for text, kind in read.items() if kind in {"accept", "stop", "undo", "go_back"}} == {}


@pytest.mark.parametrize("more", [", but use E12 values", "，但是 R1 换成 1k", ". And replace C1 by 10 nF."])
def test_a_change_behind_any_choice_is_an_instruction(more: str) -> None:
    choices = ("continue", "optimize", "fix", "accept", "stop", "undo", "go_back")
    read = [
        (text, at.read(text.rstrip(".!！") + more))
        for kind in choices
        for text, at in READ[kind]
        if "?" not in text
    ]
    assert [(text, intent.kind) for text, intent in read if intent.kind != "instruction"] == []


@pytest.mark.parametrize("behind", [" banana", "，香蕉", " R1", " 47k", " 'x'"])
def test_a_word_more_never_ends_a_design_or_takes_something_away(behind: str) -> None:
    read = [
        (text, at.read(text.rstrip(".!") + behind).kind)
        for kind in ("accept", "stop", "undo", "go_back")
        for text, at in READ[kind]
    ]
    assert [row for row in read if row[1] in {"accept", "stop", "undo", "go_back"}] == []


def test_goals_and_rounds_are_told_with_the_kind() -> None:
    cutoff = MET.read("cutoff 12 kHz").goals
    assert cutoff is not None
    assert cutoff[0].target == 12e3
    assert cutoff[1:] == GOALS[1:]
    assert MET.read("change the goals").goals is None
    numbers = {
        "back to round 1": 1,
        "回到第二轮": 2,
        "go back to the second round": 2,
        "回到上一轮": 2,
        "退回最初的版本": 1,
    }
    assert {text: MET.read(text).round_number for text in numbers} == numbers
    assert not MET.read("back to the previous round").is_sure
    assert MET._replace(rounds=1).read("back to the previous round").kind == "undo"


STAGE = At(
    goals=(
        DesignGoal(metric="gain", expression="at(db(v(out)), 10k)", unit="dB", minimum=20.0),
        DesignGoal(metric="带宽", expression="highcut(v(out))", unit="Hz", minimum=5e5),
    ),
    goals_met=False,
)


@for_each(
    ("text", "bounds"),
    [
        ("把增益目标改成 30 dB，带宽不要了", {"gain": (30.0, None)}),
        ("不用管带宽", {"gain": (20.0, None)}),
        ("带宽的要求去掉吧", {"gain": (20.0, None)}),
        ("forget the gain", {"带宽": (5e5, None)}),
        ("增益在 18 到 25 dB 之间", {"gain": (18.0, 25.0), "带宽": (5e5, None)}),
        ("增益不要了，带宽也不要了", None),  # none would be left: the dialog is opened
        ("失真要低于百分之一", None),
    ],
)
def test_goals_are_given_up_and_bounded_in_words(
    text: str, bounds: dict[str, tuple[float | None, float | None]] | None
) -> None:
    meant = STAGE.read(text)
    assert meant.kind == "goals"
    assert meant.is_sure is (bounds is not None)
    left = (
        None if meant.goals is None else {each.metric: (each.minimum, each.maximum) for each in meant.goals}
    )
    assert left == bounds


@for_each(
    ("text", "kind"),
    [
        ("可以了，就这样吧", "accept"),
        ("算了，用回第一轮的", "go_back"),
        ("带宽不要超过 1 MHz", "goals"),
        ("不要增益太大的管子", "instruction"),
        ("带宽不要了，R1 换成 1k", "instruction"),
    ],
)
def test_what_is_near_to_giving_up_a_goal_gives_up_none(text: str, kind: str) -> None:
    meant = STAGE.read(text)
    assert (meant.kind, len(meant.goals or STAGE.goals)) == (kind, 2)


@for_each(
    ("text", "kind"),
    [
        ("the cutoff should be 12 kHz ± 5 %", "goals"),
        ("cutoff 12 kHz, tolerance 2 %", "goals"),
        ("截止频率改为 12 kHz，误差不超过 5%", "goals"),
        ("use resistors with a tolerance of 1 %", "instruction"),
        ("R1 = 12k ± 1 %", "instruction"),
    ],
)
def test_a_goal_is_changed_with_its_tolerance_and_a_part_is_not_one(text: str, kind: str) -> None:
    meant = MET.read(text)
    assert (meant.kind, meant.is_sure, meant.goals is not None) == (kind, True, kind == "goals")


def test_what_a_checkpoint_does_not_have_is_unclear() -> None:
    for text in ("undo", "撤回这一轮", "go back"):
        assert is_meant(text, "unclear", MET._replace(can_undo=False))
    for text in ("back to round 3", "back to round 12", "回到第 9999 轮"):
        assert is_meant(text, "unclear", MET)
    assert is_meant("fix the error", "instruction", MET)  # whoever designs may know which one


def test_doubtful_texts_ask_before_they_are_carried_out() -> None:
    doubtful = (("ok", MET), ("好", MISSED), ("acept", MET), ("contiune", MISSED), ("done", MET),
                ("accept?", MET),
                ("don't accept yet", MET), ("how about E12 values?", MET), ("再跑三轮", MISSED),
                ("design a buck converter 12 V to 5 V 2 A", MET), ("停止优化", MISSED))  # fmt: skip
    assert [text for text, at in doubtful if at.read(text).is_sure] == []
    plain = (
        "accept",
        "stop",
        "undo",
        "继续",
        "optimize",
        "use E12 resistors",
        "why?",
        "cutoff 12 kHz",
        "回到第一轮",
    )
    assert [text for text in plain if not MET.read(text).is_sure] == []


@for_each(
    ("text", "kind"),
    [
        ("accept " * 200_000, "instruction"),
        ("accept" * 200_000, "instruction"),
        ("((((\"'" * 100_000, "instruction"),
        ("'" * 500_000, "instruction"),
        ("1 kHz " * 100_000, "instruction"),
        ("R1 in out 1k\n" * 10_000, "instruction"),
        ("接受" * 300_000, "instruction"),
        ("blah " * 1000 + "why is that?", "question"),
        ("1 V 2 A 3 kHz " * 28, "unclear"),
    ],
)
def test_a_text_of_any_length_is_read_and_a_long_one_chooses_nothing(text: str, kind: str) -> None:
    intent = MET.read(text)
    assert intent.kind == kind
    assert intent.text == text.strip()


def answered(**entries: object) -> str:
    return json.dumps({"intent": "unclear", "confidence": 0.9, "instruction": "", "question": ""} | entries)


OPTIONS = ("continue", "optimize", "goals", "accept", "undo", "stop", "go_back")


@for_each(
    ("answer", "kind"),
    [
        (answered(intent="accept"), "accept"),
        (f"```json\n{answered(intent='continue')}\n```", "continue"),
        (f"<think>{{maybe}}</think>Here it is: {answered(intent='question')} Hope it helps.", "question"),
        ("{'intent': 'Optimise', 'confidence': 0.8,}", "optimize"),
        (answered(intent="go-back"), None),  # to which round?
        (answered(intent="fix"), None),  # this checkpoint has no such choice
        (answered(intent="dance"), None),
        (answered(intent=["accept"]), None),
        ('{"intent": "accept"', None),
        ("accept", None),
        ("", None),
        ("[1, 2]", None),
        ("{" * 100_000, None),
        ("{}" * 100_000, None),
    ],
)
def test_an_answer_of_a_model_is_read_tolerantly_or_not_at_all(answer: str, kind: str | None) -> None:
    read = intent_from_model(answer, OPTIONS, MET.read("mmh, whatever"))
    assert (None if read is None else read.kind) == kind
    assert read is None or read.text == "mmh, whatever"


def test_a_model_ends_nothing_that_the_rules_read_otherwise() -> None:
    assert intent_from_model(answered(question="What?"), OPTIONS, STAGE.read("THD 小于 1%")) is None
    for text in ("use E12 resistors", "why?", "continue", "how about E12 values?", "cutoff 12 kHz"):
        for kind in ("accept", "stop", "undo"):
            assert intent_from_model(answered(intent=kind), OPTIONS, MET.read(text)) is None
    meant = intent_from_model(answered(intent="stop"), OPTIONS, MET.read("ok"))
    assert meant is not None
    assert (meant.kind, meant.is_sure) == ("stop", True)
    goals = intent_from_model(answered(intent="goals", confidence=0.2), OPTIONS, MET.read("cutoff 12 kHz"))
    assert goals is not None
    assert (goals.goals, goals.is_sure) == (MET.read("cutoff 12 kHz").goals, False)
    back = intent_from_model(
        answered(intent="unclear", question=" Which part? "), OPTIONS, MET.read("make it so")
    )
    assert back is not None
    assert back.asks_back == "Which part?"


def test_goals_in_degrees_and_goals_that_do_not_matter_are_changed_in_words() -> None:
    opamp = understand("two-stage op-amp, gain 60 dB, GBW 1 MHz, phase margin 60°").goals
    for text in ("相位裕度 50 度就够了", "a phase margin of 50 degrees is enough", "phase margin 50°"):
        read = At(goals=opamp, goals_met=False).read(text)
        assert read.goals is not None, text
        assert {goal.metric: goal.minimum for goal in read.goals}["phase_margin"] == 50, text
    read = At(goals=opamp, goals_met=False).read(
        "tighten the GBW to at least 5 MHz and the phase margin to 65 deg"
    )
    assert read.goals is not None
    assert [goal.minimum for goal in read.goals if goal.metric != "gain_db"] == [5e6, 65]
    read = At(goals=opamp, goals_met=False).read("the phase margin doesn't matter to me any more")
    assert read.goals is not None
    assert "phase_margin" not in {goal.metric for goal in read.goals}


def test_a_reason_beside_a_choice_and_a_change_that_is_told_of_leave_the_choice() -> None:
    for text in ("Let's take it, good enough for the demo board", "take it, good enough for a prototype"):
        assert (MISSED.read(text).kind, MISSED.read(text).is_sure) == ("accept", False), text
    for text in (
        "that last change made things worse, revert it",
        "your latest edit broke the response, undo it",
    ):
        assert MISSED.read(text).kind == "undo", text
    assert MISSED.read("change R1 to 1k, the bias is off").kind == "instruction"
    assert MISSED.read("截止频率再压一压，目标改成9kHz").kind == "goals"
