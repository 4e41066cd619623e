"""Eighty texts typed at checkpoints that neither the rules nor the known texts were made from."""

from __future__ import annotations

import pytest

from domain.design.checkpoint_reading import CheckpointReader
from domain.design.likeness import KnownTexts
from infrastructure.persistence.known_texts import FOLDER, checkpoint_texts
from tests.unit.design.test_texts_at_three_circuits import CIRCUITS

TEXTS = {
    ("amplifier", "accept"): """
        就这版了,可以定稿
        fine by me, freeze it
    """,
    ("amplifier", "continue"): """
        行,接着优化
        嗯嗯 next round
    """,
    ("amplifier", "go_back"): """
        回到第2轮那个电路,后面的都走偏了
        go back to rnd 2, the one with 39.6 dB
    """,
    ("amplifier", "goals"): """
        Supply current can go up to 15 mA, the customer just confirmed.
        also need an input impedance of at least 2k2
        增益改46dB,公差还是±1
        bandwith min 200k now pls
        the current limit is off the table, we run it from mains anyway
        噪声也管一下,等效输入噪声不能超过5uV rms
    """,
    ("amplifier", "instruction"): """
        pls bypass only part of the emitter resistor, leave 22 ohm un-bypassed
        接着调,不过晶体管必须用S8050,仓库里就剩这个
        put a cascode on top, the miller cap is eating my bandwidth
        would you mind replacing the collector resistor by an active load?
        把Ic调到2mA左右再仿一次
    """,
    ("amplifier", "question"): """
        why is the gain 1.3 dB lower than your hand calc?
        how much headroom do we have at the collector
        带宽卡在哪儿了?是米勒电容还是信号源内阻?
        这个gain是带负载仿的还是空载?
        Could you explain where the 9 mA actually goes?
        失真有多少?1Vpp输出的时候
        温度到85度静态工作点会飘多少
    """,
    ("amplifier", "undo"): """
        nope that made it worse, revert the last round
        上一轮撤销,改完反而自激了,无语
    """,
    ("buck", "accept"): """
        good enough, ship it
        可以了,就用这个电路,收工
    """,
    ("buck", "continue"): """
        继续跑呗
        not there yet. keep crunching
    """,
    ("buck", "goals"): """
        forget about the efficiency spec, its just a bench supply
        ripple has to be under 20mV pp, marketing changed their mind again...
        输出改成3.3V,精度1%不变
        Efficiency at least 92 %, otherwise the thermal guys will kill me.
        纹波放到80mV也行
        output精度要收紧,5V正负0.5%
    """,
    ("buck", "instruction"): """
        bump the inductor to 33uH and rerun
        Could you add a second 22 µF ceramic in parallel with the output cap, please?
        续流二极管换成同步整流MOS吧,二极管太烫了
        run it at 500k instead of 300k, the coil can be smaller then
        输出电容换成两颗47uF的MLCC并联
        继续优化,但是控制芯片别换,layout都画好了
    """,
    ("buck", "question"): """
        Is the efficiency number including the diode's reverse recovery or not?
        现在纹波里ESR占多少啊
        请问电感会不会饱和?峰值电流是多少?
        what load current was the 91% measured at
        hows the load step look, any ringing?
        占空比现在多少,离100%还远不远
    """,
    ("buck", "stop"): """
        算了算了,这项目客户砍了,别设计了,结果也不要
    """,
    ("buck", "unclear"): """
        anyone know if the canteen still has schnitzel today
        中午吃啥,楼下猪脚饭去不去
    """,
    ("buck", "undo"): """
        oops, undo that last one
    """,
    ("filter", "accept"): """
        That meets everything I need. We'll take this one, thank you.
        指标都过了,我确认采用,谢谢
    """,
    ("filter", "continue"): """
        k next
        Weiter bitte, just carry on optimizing
    """,
    ("filter", "go_back"): """
        the first round was actually the nicest, take me back to that
        还是第一轮的参数顺眼,退到第一轮
    """,
    ("filter", "goals"): """
        lets tighten cutoff to +-1 percent
        3kHz衰减要求提到20dB以上
        通带增益放宽到正负半个dB吧
        shift fc to 1.2k, same tolerance in percent
        截止频率误差放宽到±5%
        3k那个衰减指标去掉,不考核了
    """,
    ("filter", "instruction"): """
        swap the opamp for a TL072, the LM358 crossover is driving me nuts
        keep going but stick to E24 resistors and E6 caps, thats what we have in the drawer
        别用Sallen-Key了,改成MFB结构
        电容统一用10nF的C0G,电阻你自己配
        go on, but dont touch R1 and R2, those are already on the pcb
        后级加个缓冲,负载才1k,带不动
        麻烦把运放供电改为单电源5V,中点偏置用两个100k分压
    """,
    ("filter", "question"): """
        whats the Q of the second stage rn
        为啥3k那里才衰减16dB,二阶不应该有19吗
        did you include component tolerances in that cutoff or is it nominal?
        is the opamp GBW any issue here? i mean 1k is nothing but still
        你现在这个Q值是怎么选的?为什么不用Butterworth
    """,
    ("filter", "stop"): """
        scrap the whole thing, we buy a filter module. end here, i dont want this circuit
    """,
    ("filter", "unclear"): """
        兄弟你们那边今天下雨没
        my scope probe broke again, third one this month lol
    """,
    ("filter", "undo"): """
        刚才那一轮不要了,退回去
    """,
}
ENDING = {"accept", "stop", "undo", "go_back"}


def test_what_is_typed_is_read_as_meant_and_nothing_is_ended_unasked() -> None:
    reader, wrong = CheckpointReader(checkpoint_texts()), []
    for (circuit, kind), lines in TEXTS.items():
        goals, rounds = CIRCUITS[circuit]
        for text in filter(None, map(str.strip, lines.splitlines())):
            read = reader(text, goals=goals, goals_met=False, has_failed=False, can_undo=True, rounds=rounds)
            as_meant = {"continue": {"continue", "optimize"}, "unclear": {"unclear", "question"}}
            if read.kind not in as_meant.get(kind, {kind}):
                wrong.append((text, kind, read.kind))
                assert read.kind not in ENDING or not read.is_sure, text
    assert len(wrong) <= 4, wrong


@pytest.mark.parametrize("language", ["en", "zh"])
def test_each_known_text_has_a_kind_and_stands_there_once(language: str) -> None:
    lines = (FOLDER / f"checkpoint.{language}.tsv").read_text(encoding="utf-8").splitlines()
    kinds, texts = zip(*(line.split("\t") for line in lines), strict=True)

    assert set(kinds) == {
        "instruction", "question", "goals", "continue", "accept", "undo", "go_back", "stop", "unclear",
    }  # fmt: skip
    assert len({text.lower() for text in texts}) == len(texts)
    fresh = {line.strip() for block in TEXTS.values() for line in block.splitlines()}
    assert fresh.isdisjoint(texts)


def test_a_text_is_like_those_with_its_words_and_nothing_is_like_nothing() -> None:
    fruit = (("fruit", text) for text in ("an apple", "a pear"))
    known = KnownTexts([*fruit, ("part", "R1 is 4k7"), ("part", "two coils")])

    assert known.likeness("one more apple").kind == "fruit"
    assert known.likeness("C2").kind == "part"  # as an element, not by its letters
    assert known.likeness("").lead == pytest.approx(known.likeness("xyz").lead)


def test_one_kind_alone_says_nothing() -> None:
    with pytest.raises(ValueError, match="two kinds"):
        KnownTexts([("fruit", "an apple")])
