"""What a search looks for, and whether a line has it; what a sentence about a project asks for.

Texts are compared folded: letter case does not count, and the two Unicode spellings of an accented
letter are one. A pattern sees the lines as they are.

A sentence asks for names, files, words of circuit design in both languages: a question in Chinese is answered
by an English data sheet and the other way round, so a word of the field brings its other spellings along.
"""

from __future__ import annotations

import re
import unicodedata
import warnings
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

from shared.late_patterns import late_pattern

Scope = Literal["code", "docs", "all"]
SearchType = Literal["all", "name", "content", "regex", "symbol"]
"""all: symbols, names and contents; the others one of these."""
MatchType = Literal["symbol", "name", "exact", "regex", "words", "ranked"]
"""words: a line with all words of the query; ranked: a part of a file with most of them."""

_LONGEST_LINE = 2000
"""Characters of a line that a pattern sees."""
_PATTERN = re.compile(r"/(.+)/i?", re.DOTALL)
_WORD = re.compile(r"[^\W_][\w.#$@+\-]*|\S+")
_QUOTED_OR_WORD = re.compile(r'["“]([^"“”]+)["”]|(\S+)')
_CJK = re.compile(r"[\u2e80-\u2fdf\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_CJK_RUN = re.compile(f"{_CJK.pattern}+")
_TRIMMED = " \t\r\n.,;:!?\"'()。，；：！？“”（）、"


@dataclass(frozen=True)
class SearchQuery:
    """One search."""

    text: str
    kind: SearchType = "all"
    scope: Scope = "all"
    suffixes: tuple[str, ...] = ()
    """Lower case with their dot; only files that end so. () = all."""
    is_case_sensitive: bool = False
    most: int = 10
    """Matches to return."""

    @cached_property
    def pattern(self) -> re.Pattern[str] | None:
        """The regular expression, None for plain text. Raises what `pattern_of` raises."""
        if self.kind == "regex":
            return compiled(self.text, is_case_sensitive=self.is_case_sensitive)
        return pattern_of(self.text) if self.kind == "all" else None

    @cached_property
    def wanted(self) -> str:
        return self._shape(self.text.strip())

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Its words, folded; Chinese characters as their pairs, since nothing parts those words."""
        return words_of(self.text)

    def in_name(self, name: str) -> bool:
        """Whether a file's name has it."""
        if self.pattern is not None:
            return self.pattern.search(name) is not None
        return self.wanted in self._shape(name)

    def may_be_in(self, text: str) -> bool:
        """Whether one of the text's lines can have it; False is certain."""
        return self.pattern is not None or self.wanted in self._shape(text)

    def lines(self, lines: Sequence[str]) -> Iterator[tuple[int, str, MatchType]]:
        """Places that have it: position in `lines`, the line (a piece of a long one), "exact" or "regex"."""
        pattern = self.pattern
        if pattern is not None:
            for position, line in enumerate(lines):
                if pattern.search(line[:_LONGEST_LINE]):
                    yield position, line, "regex"
            return
        for position, line in enumerate(lines):
            place = self._shape(line).find(self.wanted)
            if place >= 0:
                yield position, around(line, place), "exact"

    def lines_with_words(self, lines: Sequence[str]) -> Iterator[tuple[int, str, MatchType]]:
        """Lines with all of several blank-separated words."""
        words = fold(self.text).split()
        if len(words) < 2 or self.pattern is not None:
            return
        for position, line in enumerate(lines):
            folded = fold(line)
            if all(word in folded for word in words):
                yield position, line, "words"

    def best_line(self, lines: Sequence[str]) -> tuple[int, int]:
        """The line with most of the words: its position, and how many of them the lines have together.

        Of several the first that is no heading: what stands below one says more.
        """
        folded = [fold(line) for line in lines]
        there = [word for word in self.words if any(word in line for line in folded)]
        counts = [
            (sum(word in line for word in there), not line.lstrip().startswith("#")) for line in folded
        ] or [(0, True)]
        return counts.index(max(counts)), len(there)

    def _shape(self, text: str) -> str:
        return unicodedata.normalize("NFC", text) if self.is_case_sensitive else fold(text)


def fold(text: str) -> str:
    """`text` as it is compared: composed, letter case folded (µ and μ are one too)."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFC", text).casefold()


def words_of(text: str) -> tuple[str, ...]:
    """The folded words of a text, each once; runs of Chinese characters as their pairs."""
    found: dict[str, None] = {}
    for word in (item.strip(_TRIMMED) for item in _WORD.findall(fold(text))):
        for run in _CJK_RUN.findall(word):
            found.update(dict.fromkeys([run[i : i + 2] for i in range(len(run) - 1)] or [run]))
        for rest in _CJK_RUN.split(word):
            if rest.strip(_TRIMMED):
                found[rest.strip(_TRIMMED)] = None
    return tuple(found)


def quoted_words(text: str) -> tuple[str, ...]:
    """The folded words of a text, each once, as blanks part them; what stands in quotes is one."""
    found = ((quoted or word).strip() for quoted, word in _QUOTED_OR_WORD.findall(fold(text)))
    return tuple(dict.fromkeys(word for word in found if word.strip('"')))


def spread(text: str, filler: str) -> str:
    """`text` with `filler` behind each Chinese character."""
    return text if text.isascii() else _CJK.sub(lambda match: match[0] + filler, text)


def pattern_of(query: str) -> re.Pattern[str] | None:
    """The pattern of a query written ``/like this/``, None for plain text. Raises what `compiled` raises."""
    match = _PATTERN.fullmatch(query.strip())
    return None if match is None else compiled(match[1], is_case_sensitive=False)


def compiled(pattern: str, *, is_case_sensitive: bool) -> re.Pattern[str]:
    """A regular expression. Raises re.error, RecursionError, OverflowError."""
    with warnings.catch_warnings():  # "[[" may mean something else in a later Python
        warnings.simplefilter("ignore")
        return re.compile(pattern, 0 if is_case_sensitive else re.IGNORECASE)


def around(line: str, position: int, most: int = 200) -> str:
    """The piece of a very long line that shows the place."""
    return line if len(line) <= most else line[max(position - most // 4, 0) :]


_K = 60.0
"""Cormack, Clarke and Büttcher, "Reciprocal rank fusion outperforms Condorcet ...", SIGIR 2009."""


def reciprocal_rank_fusion(rankings: Iterable[Sequence[Hashable]]) -> dict[Hashable, float]:
    """The score of each item: the sum of 1 / (60 + rank) over the rankings it is in, ranks from 1.

    The best first; of equal ones the one that came first. An item counts once a ranking, at its best rank.
    """
    scores: dict[Hashable, float] = {}
    for ranking in rankings:
        for rank, item in enumerate(dict.fromkeys(ranking), start=1):
            scores[item] = scores.get(item, 0.0) + 1.0 / (_K + rank)
    return dict(sorted(scores.items(), key=lambda pair: -pair[1]))


_TERMS = (
    "gain 增益 放大倍数",
    "bandwidth 带宽",
    "cutoff cut-off corner 截止 转折",
    "low-pass lowpass 低通",
    "high-pass highpass 高通",
    "band-pass bandpass 带通",
    "notch 陷波 带阻",
    "filter 滤波",
    "op-amp opamp 运放 运算放大器",
    "oscillator osc 振荡",
    "comparator 比较器",
    "hysteresis schmitt 迟滞 滞回 施密特",
    "threshold 阈值 门限",
    "regulator regulated regulation ldo 稳压",
    "reference bandgap 基准",
    "buck-boost 升降压",
    "buck step-down 降压",
    "boost step-up 升压",
    "flyback 反激",
    "forward 正激",
    "push-pull 推挽",
    "half-bridge 半桥",
    "full-bridge h-bridge 全桥",
    "three-phase 3-phase 三相",
    "photovoltaic solar 光伏 太阳能",
    "under-voltage uvlo 欠压",
    "open-circuit 开路",
    "converg gmin 收敛",
    "multiplexer mux 多路 复用器",
    "latch flip-flop 锁存 触发器",
    "integrator 积分",
    "differentiator 微分",
    "summing adder 加法",
    "follower 跟随",
    "cascode 共源共栅",
    "common-emitter 共射",
    "common-source 共源",
    "charge-pump 电荷泵",
    "sample-and-hold 采样保持",
    "phase-locked pll 锁相",
    "voltage-controlled vco 压控",
    "current-source 电流源 恒流",
    "doubler multiplier 倍压 倍增",
    "emission emc emi 电磁兼容 传导",
    "driver 驱动",
    "discharge 放电",
    "inrush surge 浪涌",
    "converter 变换器 转换器",
    "inverter inv 逆变 反相器",
    "hot-swap hotswap 热插拔",
    "rectifier 整流",
    "bridge 电桥 桥式",
    "transformer trafo xfmer xfmr 变压器",
    "coupling 耦合",
    "zener dz 齐纳 稳压管",
    "led 发光二极管",
    "relay 继电器",
    "motor 电机 马达",
    "battery 电池",
    "charg 充电",
    "sensor 传感器",
    "thermistor ntc 热敏",
    "photodiode 光电二极管",
    "transimpedance tia 跨阻",
    "instrumentation 仪表",
    "crystal xtal 晶振 晶体",
    "ground 接地 地线",
    "load 负载",
    "efficiency 效率",
    "ripple 纹波",
    "noise 噪声",
    "distortion thd 失真",
    "temperature thermal 温度",
    "tolerance 容差 公差",
    "accuracy 精度",
    "offset 失调",
    "bias quiescent 偏置 静态",
    "feedback 反馈",
    "loop 环路",
    "compensation 补偿",
    "phase 相位",
    "margin 裕度 余量",
    "impedance 阻抗",
    "slew 压摆",
    "settling 建立时间 稳定时间",
    "overshoot 过冲 超调",
    "delay 延迟 延时",
    "duty 占空比",
    "switching 开关",
    "dead-time deadtime 死区",
    "soft-start 软启动",
    "snubber 吸收 缓冲电路",
    "protection protect 保护",
    "short-circuit short 短路",
    "clamp 钳位",
    "overcurrent 过流",
    "overvoltage 过压",
    "mirror 镜像 电流镜",
    "differential 差分",
    "common-mode 共模",
    "matching 匹配",
    "attenuation attenuator 衰减",
    "divider 分压",
    "mixer 混频",
    "antenna 天线",
    "audio 音频",
    "speaker 扬声器 喇叭",
    "headphone 耳机",
    "tone treble bass 音调 高音 低音",
    "isolation 隔离",
    "leak 漏电",
    "breakdown 击穿",
    "saturation 饱和",
    "parasitic esr 寄生",
    "layout pcb 布局 布线",
    "datasheet 手册 规格书",
    "specification spec requirement 规格 指标 要求",
    "measurement measured measure 测量 实测",
    "subcircuit subckt 子电路",
    "simulation simulate 仿真",
    "revision changelog 修订 版本",
    "cost price 成本 价格",
    "supplier vendor 供应商 厂家",
    "clock 时钟",
    "pulse 脉冲",
    "square 方波",
    "sine 正弦",
    "triangle sawtooth 三角波 锯齿",
    "startup start-up 启动 起振",
    "shutdown 关断",
    "sampling sample 采样",
    "quality q-factor 品质因数",
    "resonance resonant 谐振",
    "wien 文氏",
    "colpitts 考毕兹 科尔皮兹",
    "hartley 哈特利 哈特莱",
    "schottky 肖特基",
    "darlington 达林顿",
    "butterworth 巴特沃斯",
    "chebyshev 切比雪夫",
    "bessel 贝塞尔",
    "miller 米勒 密勒",
    "lamp fluorescent cfl 灯 荧光灯",
    "memristor 忆阻",
    "superconduct 超导",
    "transmission-line tline 传输线",
    "varactor varicap 变容",
    "thyristor scr triac 晶闸管 可控硅",
    "varistor mov 压敏",
    "fuse 保险丝 熔断",
    "buzzer 蜂鸣器",
    "solenoid 电磁阀",
    "heat-sink 散热",
    "astable multivibrator 多谐 非稳态",
    "monostable one-shot 单稳",
    "bistable 双稳",
    "timer 定时",
    "all-pass 全通",
    "memory sram 存储",
    "adc analog-to-digital 模数",
    "dac digital-to-analog 数模",
    "envelope 包络",
    "modulator modulation 调制",
    "demodulator detector 解调 检波",
    "equalizer 均衡",
    "preamp pre-amplifier 前置 前放",
    "level-shifter 电平转换 电平移位",
    "nand 与非",
    "nor 或非",
    "xor 异或",
    "counter 计数",
    "shift-register 移位",
    "ring-oscillator 环形振荡",
    "reverse 反向 反接",
    "ambient 环境温度",
    "sweep 扫描",
    "creepage clearance 爬电 间隙",
    "calibration 校准 标定",
    "burn-in 老化",
    "residual 残余 剩余",
    "interval period 间隔 周期",
    "deliver 交付 交货",
    "why reason 为什么 原因",
)
"""Each line: spellings of one thing, English and Chinese."""
_COMMON = (
    "resistor resistance 电阻",
    "capacitor capacitance 电容",
    "inductor inductance choke 电感",
    "supply vcc vdd 电源 供电",
    "input 输入",
    "output 输出",
    "voltage 电压",
    "current 电流",
    "power 功率 功耗",
    "frequency 频率",
    "parameter param 参数",
    "model 模型",
    "limit 限制 限流 限幅",
    "test 测试",
    "stage 级",
    "rise 上升",
    "fall 下降",
    "error 误差",
    "collector 集电极",
    "emitter 发射极",
    "base 基极",
    "gate 栅极",
    "drain 漏极",
    "source 源极",
    "winding coil 线圈 绕组",
    "transistor bjt 三极管 晶体管",
    "diode 二极管",
    "mosfet mos 场效应管",
    "amplifier amp 放大器",
)
"""Words for what every circuit has: netlists hardly ever spell them out, so they decide little."""

_STOP_WORDS = """
    large wide big
    a an and are as at be been but by can could do does did for from had has have how i if in into is it
    its me my no not of on or our please should so that the their them then there these they this to up
    us use used was we were what when where which who will with would you your about all any just only
    tell show give say says many much file files project circuit netlist value values set make get let
    want need
"""
_STOP = frozenset(_STOP_WORDS.split())
_STOP_CHINESE = late_pattern(
    "是多少|多少|多长时间|多久|多长|多大|多高|多快|何时|什么时候|几次|一次|什么|怎么|怎样|如何|哪个|哪些|哪里|为何|请问|请|一下|这个|那个|我们|你们|的|了|吗|呢|吧|是|在|里|有|和|与|把|被|用|"
    "给|我|你|它|几|个|应该|可以|需要|告诉|看看|文件|项目|电路|其中|关于|说明|写着|规定"
)
_NAME = late_pattern(
    r"[A-Za-z_]\w*(?:-\w+)*(?:[./][\w\-]+)+|[A-Za-z]+[0-9_]\w*|[0-9]+[A-Za-z]+[0-9]\w*", re.ASCII
)
_CAPITALS = late_pattern(r"(?<![A-Za-z0-9_])[A-Z]{2,}(?![A-Za-z0-9_])")
_PROPER = late_pattern(r"(?<=[a-z0-9,;:)] )[A-Z][a-z]\w*", re.ASCII)
"""A word with a capital inside a sentence: an identifier (Iin), a person, a kind of circuit (Hartley)."""
_LATIN_IN_CHINESE = late_pattern(r"[A-Za-z]{2,}")
_TYPE_NUMBER = late_pattern(
    r"(?:(?<=\bthe )|(?<=\ba )|(?<=\ban )|(?<=[一-鿿])|(?<=[一-鿿] ))\d{3,4}"
    r"(?![\w.%]| ?(?:[kmunpg]?(?:hz|[vawfhωs])|ohms?|db)\b)"
)
"""What a part is called for short: the 741, a 555."""
_CHINESE = late_pattern("[\u4e00-\u9fff]")
_AFTER_NODE = late_pattern(r"(?:node|net|pin|节点|网络|引脚)\s*([\w]+)|\b[vi]\(\s*([\w.+\-]+)\s*[,)]")
_LATIN = late_pattern(r"[a-z0-9_]")
_ENDINGS = ("ing", "ed", "s")


@dataclass(frozen=True, slots=True)
class Term:
    """One thing that is asked for."""

    spellings: tuple[str, ...]
    """Folded; any of them stands for it."""
    weight: float
    is_name: bool = False
    """Of an element, a node, a model, a subcircuit, a parameter or a file."""


_UNIT_BEHIND = late_pattern(r"(?<=\d)\s+(?:[pnuµmkMG]?(?:Hz|V|A|W|F|H|s|Ohm|Ω)|dB|MEG|meg)(?![A-Za-z\d_])")
"""The unit of a figure names nothing: half of all circuits have a "kHz"."""


@lru_cache(maxsize=16)
def terms_of(text: str) -> tuple[Term, ...]:
    """The things a sentence asks for, each once; none for one that has only small words."""
    text = _UNIT_BEHIND.sub(" ", text)
    folded = fold(text)
    found: dict[tuple[str, ...], Term] = {}
    covered: set[str] = set()
    for names, weight in ((_names(text), 3.0), (_proper_words(text), 2.0)):
        for name in names:
            covered.update(words_of(name))
            covered.add(name)
            found.setdefault((name,), Term((name,), weight, is_name=True))
    rest = folded
    for spellings, weight in (*_COMPOUNDS, *_GROUPS):
        for spelling in spellings:
            if _stands_in(spelling, rest):
                found.setdefault(spellings, Term(spellings, weight))
                covered.add(spelling)
                if not spelling.isascii() or not spelling.isalnum():
                    covered.update(words_of(spelling))
                    rest = rest.replace(spelling, " ")
    rest = _STOP_CHINESE.sub(" ", rest)
    for word in words_of(rest):
        stem = _stem(word)
        is_short = word.isascii() and len(word) < 3
        if is_short or word in _STOP or word in covered or stem in covered or word.isdigit():
            continue
        if any(stem in spellings for spellings in found):
            continue
        weight = 1.0 if word.isascii() else 0.6
        found.setdefault((stem,), Term((stem,), weight))
    return tuple(found.values())


def _names(text: str) -> Iterator[str]:
    """What looks like a name: with figures or dots in it, in capitals, behind the word node."""
    for match in _CAPITALS.finditer(text):
        yield fold(match[0])
    folded = fold(text)
    yield from _TYPE_NUMBER.findall(folded)
    for match in _NAME.finditer(folded):
        yield match[0].strip(".-/")
    for match in _AFTER_NODE.finditer(folded):
        if (name := match[1] or match[2]) not in _STOP:
            yield name


def _proper_words(text: str) -> Iterator[str]:
    """Words that are none of the language's: with a capital inside a sentence, Latin ones in Chinese."""
    words = _LATIN_IN_CHINESE if _CHINESE.search(text) else _PROPER
    for match in words.finditer(text):
        word = fold(match[0])
        if word not in _STOP and not any(_stem(word) in spellings for spellings, _ in _GROUPS):
            yield word


def _stands_in(spelling: str, text: str) -> bool:
    """Chinese words stand anywhere, English ones as words, in the plural too."""
    if not spelling.isascii():
        return spelling in text
    at = text.find(spelling)
    while at >= 0:
        end = at + len(spelling)
        behind = text[end : end + 1] if text[end : end + 1] != "s" else text[end + 1 : end + 2]
        if not _LATIN.match(text[at - 1 : at]) and not _LATIN.match(behind):
            return True
        at = text.find(spelling, at + 1)
    return False


@lru_cache(maxsize=4096)
def _stem(word: str) -> str:
    """An English word without its ending, so that it is found in its other forms."""
    if not word.isascii():
        return word
    ending = next((each for each in _ENDINGS if word.endswith(each) and len(word) - len(each) >= 4), "")
    return word.removesuffix(ending)


def _groups() -> tuple[tuple[tuple[str, ...], float], ...]:
    """The words with their weights; those that have another one inside come before it."""
    weighted = [(line, 1.5) for line in _TERMS] + [(line, 0.4) for line in _COMMON]
    weighted.sort(key=lambda each: -max(len(word) for word in each[0].split() if not word.isascii()))
    return tuple((_spellings(line), weight) for line, weight in weighted)


def _spellings(line: str) -> tuple[str, ...]:
    """Those of a line; a word with a hyphen is also written with a blank, and in one."""
    forms = ((word, word.replace("-", " "), word.replace("-", "")) for word in line.split())
    return tuple(dict.fromkeys(form for each in forms for form in each))


_GROUPS = _groups()
_COMPOUNDS = tuple(group for group in _GROUPS if any("-" in spelling for spelling in group[0]))
"""They are read first: a buck-boost is neither a buck nor a boost converter."""
