"""Names of files and folders from the kind of a circuit, in English or Chinese.

Without its figures: they change with its goals, and a name stays.
"""

from __future__ import annotations

import itertools
import re

_NO_NAME = re.compile(r"[^a-z0-9]+")
_LONGEST = 40
_WORDS = {
    word: name
    for name, words in {
        "common_emitter": "共发射极 共射极 共射", "common_base": "共基极 共基",
        "common_collector": "共集电极 共集",
        "common_source": "共源", "emitter_follower": "射极跟随器 射随器", "differential": "差分 差动",
        "instrumentation": "仪表", "transimpedance": "跨阻", "power": "功率", "audio": "音频",
        "pre": "前置",
        "amplifier": "放大器 放大电路 放大", "opamp": "运算放大器 运放", "inverting": "反相",
        "inverter": "反相器 逆变器",
        "noninverting": "同相", "follower": "跟随器", "buffer": "缓冲器 缓冲", "push_pull": "推挽",
        "class_a": "甲类", "class_b": "乙类", "class_ab": "甲乙类", "current_mirror": "电流镜 镜像电流源",
        "current_source": "恒流源 电流源", "bandgap": "带隙", "reference": "基准源 基准", "bias": "偏置",
        "single_stage": "单级", "two_stage": "两级 二级", "cascode": "共源共栅 共射共基",
        "lowpass": "低通", "highpass": "高通", "bandpass": "带通", "bandstop": "带阻",
        "notch": "陷波器 陷波",
        "allpass": "全通", "filter": "滤波器 滤波电路 滤波", "active": "有源", "passive": "无源",
        "butterworth": "巴特沃斯 巴特沃兹", "chebyshev": "切比雪夫", "bessel": "贝塞尔", "elliptic": "椭圆",
        "first_order": "一阶", "second_order": "二阶", "third_order": "三阶", "fourth_order": "四阶",
        "oscillator": "振荡器 振荡电路", "wien_bridge": "文氏桥 文氏电桥", "colpitts": "考毕兹 科尔皮兹",
        "hartley": "哈特莱", "crystal": "晶体", "multivibrator": "多谐振荡器", "ring": "环形",
        "buck": "降压", "boost": "升压", "buck_boost": "升降压", "flyback": "反激", "forward": "正激",
        "converter": "变换器 转换器 变换电路", "supply": "电源",
        "regulator": "稳压器 稳压电源 稳压电路 稳压",
        "linear": "线性", "rectifier": "整流器 整流电路 整流", "bridge": "桥式", "half_wave": "半波",
        "full_wave": "全波",
        "doubler": "倍压", "divider": "分压器 分压电路 分压", "attenuator": "衰减器", "matching": "匹配",
        "comparator": "比较器", "schmitt_trigger": "施密特触发器 施密特", "integrator": "积分器 积分电路",
        "differentiator": "微分器 微分电路", "adder": "加法器 加法电路", "multiplier": "乘法器",
        "mixer": "混频器",
        "sample_hold": "采样保持", "nand": "与非门", "nor": "或非门", "driver": "驱动器 驱动电路 驱动",
        "led": "发光二极管", "photodiode": "光电二极管", "transistor": "晶体管 三极管",
        "mosfet": "场效应管",
        "sensor": "传感器", "switch": "开关", "square_wave": "方波", "sine": "正弦波", "generator": "发生器",
        "monostable": "单稳态", "charge_pump": "电荷泵", "level_shifter": "电平转换", "snubber": "吸收电路",
    }.items()
    for word in words.split()
}  # fmt: skip
_KNOWN = re.compile("|".join(sorted(_WORDS, key=len, reverse=True)))
_ENGLISH = frozenset(name.replace("_", "") for name in _WORDS.values()) | {
    "amp",
    "preamp",
    "preamplifier",
    "stage",
    "timer",
    "astable",
    "trigger",
}
_FIGURE = re.compile(
    r"(?<![A-Za-z0-9])[±+-]?\d+(?:\.\d+)?\s*(?:[kKmMuµμnpGT]?(?:Hz|VA?|A|W|[Oo]hms?|Ω|F|H|s|dB)|%|°|[Vv]pp)(?![A-Za-z0-9])"
)
_CLAUSE = re.compile(
    r"[,;:!?，；：。！？、]|\.(?!\d)|的|\b(?:with|of|at|from|for|to|that|which|and|having|whose)\b",
    re.IGNORECASE,
)
_OPENING = re.compile(
    r"^(?:[^\x00-\x7f]*(?:做|设计|搭)[一1][个款种](?=\S)|"
    r"\s|请|帮我|给我|我|想要?|需要|要|来|设计|做|搭|画|出|[一1]?[个款种](?=\S)|把|能|"
    r"\b(?:i|we|please|design|build|make|me|need|want|would|like|a|an|the|my|simple)\b)+",
    re.IGNORECASE,
)


def file_stem(kind: str) -> str:
    """``Common-emitter amplifier`` and ``共射放大器`` are common_emitter_amplifier; "circuit" for no word."""
    english = _KNOWN.sub(lambda found: f" {_WORDS[found[0]]} ", _FIGURE.sub(" ", kind))
    return _NO_NAME.sub("_", english.lower()).strip("_")[:_LONGEST].strip("_") or "circuit"


def kind_named(sentence: str) -> str:
    """What a wish calls its circuit: ``Buck converter`` of "Buck converter 12 V to 5 V".

    "" where it has no word for a kind.
    """
    for clause in _CLAUSE.split(_FIGURE.sub(",", sentence)):
        words = _OPENING.sub("", clause).split()
        last = next((count for count in range(1, len(words) + 1) if _has_kind(words[-count:])), 0)
        if last:  # what stands behind it is the name of a figure
            return " ".join(words[: len(words) + 1 - last])
    return ""


def _has_kind(words: list[str]) -> bool:
    plain = re.findall(r"[a-z]+", " ".join(words).lower())
    joined = {*plain, *map("".join, itertools.pairwise(plain))}
    return bool(_KNOWN.search("".join(words)) or joined & _ENGLISH)
