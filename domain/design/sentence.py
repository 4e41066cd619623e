"""A sentence as its numbers: what an engineer wrote, in Chinese or English, with every quantity found.

Hides spelling: full-width and Chinese digits, `kHz` / `KHZ` / `千赫`, `4k7`, `3V3`, ranges, arrows,
bounds ("at least", "不超过") and tolerances. It knows units, not circuits.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from domain.design.numbers_in_words import GAIN_OF, in_figures

Dimension = Literal["Hz", "V", "A", "Ohm", "F", "H", "s", "dB", "%", "W", "x", "degC", "ppm/K", "none"]
Bound = Literal["at_least", "at_most"]
Link = Literal["arrow", "span", "to"]

_PREFIXES = {
    "f": 1e-15, "femto": 1e-15, "飞": 1e-15,
    "p": 1e-12, "n": 1e-9, "u": 1e-6, "μ": 1e-6, "m": 1e-3, "k": 1e3, "meg": 1e6, "g": 1e9, "t": 1e12,
    "pico": 1e-12, "nano": 1e-9, "micro": 1e-6, "milli": 1e-3, "kilo": 1e3, "mega": 1e6, "giga": 1e9,
    "皮": 1e-12, "纳": 1e-9, "奈": 1e-9, "微": 1e-6, "毫": 1e-3, "千": 1e3, "万": 1e4, "兆": 1e6, "吉": 1e9,
}  # fmt: skip

_BASES: tuple[tuple[str, Dimension, float], ...] = (
    (r"(?:times|v/v|x|倍(?!频))", "x", 1.0),
    (r"v/na", "Ohm", 1e9),
    (r"v/[uμ]a", "Ohm", 1e6),
    (r"v/ma", "Ohm", 1e3),
    (r"v/a", "Ohm", 1.0),
    (r"(?:hertz|hz|赫兹|赫)", "Hz", 1.0),
    (r"(?:rad/s(?:ec)?|弧度每秒|弧度/秒)", "Hz", 1 / (2 * math.pi)),
    (r"(?:volts?|vdc|vac|vpp|vp-p|vrms|vp(?:e?a?k)?|v|伏特|伏)", "V", 1.0),
    (r"(?:amperes?|amps?|a|安培|安)", "A", 1.0),
    (r"(?:ohms?|Ω|ω|欧姆|欧|r)", "Ohm", 1.0),
    (r"(?:farads?|f|法拉|法)", "F", 1.0),
    (r"(?:henr(?:y|ys|ies)|h|亨利|亨)", "H", 1.0),
    (r"(?:seconds?|secs?|s|秒)", "s", 1.0),
    (r"(?:minutes?|分钟)", "s", 60.0),
    (r"(?:hours?|小时)", "s", 3600.0),
    (r"(?:decibels?|db|分贝)", "dB", 1.0),
    (r"(?:%|per\s?cent)", "%", 0.01),
    (r"(?:watts?|w|瓦特|瓦)", "W", 1.0),
    (r"(?:°c|摄氏度)", "degC", 1.0),
    (r"ppm(?:\s?(?:/|per |每)\s?(?:°?[ck]|度|摄氏度|开))?", "ppm/K", 1.0),
)
_PREFIX = r"(?:f(?=\s?f)|femto|pico|nano|micro|milli|kilo|mega|giga|meg|[pnuμmkgt飞皮纳奈微毫千万兆吉])"
_NUMBER = r"(?:\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)(?:e[-+]?\d+|\s?x\s?10\^?[-+]?\d+)?"
_END = r"(?:(?<=[\u4e00-\u9fff])|(?![a-z0-9]))"  # 75欧T型
_BASE = "(?:(?:" + "|".join(base for base, _, _ in _BASES) + rf"){_END}|(?<=\S)v(?=_?(?:in|out){_END}))"
_MENTION = re.compile(
    rf"(?P<sign>[-+](?=[\d.]))?(?P<number>{_NUMBER})"
    r"(?:(?P<infix>[kmrnpuμv])(?P<decimals>\d+)(?!\d|\.\d))?"
    rf"(?:(?P<unit>[\s-]?(?P<prefix>{_PREFIX})?[\s]?{_BASE})|(?P<bare>\s?(?:meg|[kmgnpuμ千万兆皮]){_END}))?",
    re.IGNORECASE,
)
_ATTACHED_WORDS = re.compile(r"(?:^|[^a-z])(?:v_?in|v_?out|i_?out|v_?o|i_?o|fc|fsw|fs|f0|q|pm|at|to)$", re.I)
_VALUES_OF = re.compile(
    r"(?:^|[^a-z])(?:gbw?p?|bw|v_?(?:cc|dd|ee|s|z|f)|r_?l|c_?l|[zr]_?in|z_?0|f_?[or]|a_?v|gain|vpp|id|ic)$",
    re.I,
)
"""What only a figure with a unit or a scale is written to: `GBW4M`, but not IC1."""
_CLEAR_UNIT = re.compile(r"[\s-]?(?:[a-zμ]{2,}|[kmuμnp]?[Ωω%°安伏欧赫瓦秒])", re.IGNORECASE)
"""No ending of a part's name: `CMRR80dB`, but `BC547B`."""
_ORDER = re.compile(r"(?:order|poles?|阶数)\s*(?:=|:|of|is|为|是)?\s*$", re.IGNORECASE)
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)(?![a-z])", re.IGNORECASE)
_NOT_A_VALUE = re.compile(
    r"[\s-]*(?:order|pole|阶|极点)|[\s-]*(?:li-?ion |lithium )?(?:cells?|batter(?:y|ies)|锂电|电[池芯])|"
    r"\s?(?:单片机|mcus?(?![a-z]))|[a-z]|\s[ap]\.?m\.?(?![a-z])|\s?(?:o'clock|:\d|点[钟半整])",
    re.IGNORECASE,
)

_AT_MOST_BEFORE = re.compile(
    r"(?:(?:no|(?:not|n['’]t|never)(?: \w+){0,5}) (?:more|greater|higher|larger) than|"
    r"(?:not|n['’]t|never|nothing|nowhere)(?: \w+){0,5} (?:above|over|beyond)|"
    r"(?:not|n['’]t|never|without) (?:to )?exceed(?:s|ing)?|at most|"
    r"(?<!no )(?<!not )(?:less|"
    r"smaller|lower) than|(?<!not )(?:below|under)|within|up to|"
    r"max(?:imum)?(?: of)?|<=?|≤|⩽|≦|[不别勿][要许可准应宜]?(?:超过|大于|高于|多于)|不得超过|"
    r"不能超过|小于等于|低于等于|(?<![不别勿])(?<!不[要能得许可准应宜])(?:小于|低于|少于)|最大|最多|最高|控制在|限制在)[\s:=为是约]*$",
    re.IGNORECASE,
)
_REACHES = re.compile(
    r"(?:band ?width|response|flat|good|useful|usable|works?|working|clean|passes|gain|"
    r"amplif\w+)[^\d,;.]{0,12}"
    r"(?:up )?to[\s:=]*$",
    re.IGNORECASE,
)
"""A frequency behind it is the least that is reached: "bandwidth up to 10 MHz"."""
_AT_LEAST_BEFORE = re.compile(
    r"(?:(?:no|not) (?:less|lower|smaller) than|not (?:below|under)|at least|"
    r"(?<!no )(?<!not )(?:more|greater|"
    r"better|higher|larger) than|"
    r"(?<!not )(?:above|over)|(?<!not )(?<!not to )(?<!n['’]t )(?<!never )(?<!without )exceed(?:s|ing)?|"
    r"min(?:imum)?(?: of)?|(?<!-)>=?|≥|⩾|≧|(?:[不别勿][要许可准应宜]?|不能|不得)(?:少于|小于|低于)|至少|"
    r"大于等于|(?<![不别勿])(?<!不[得能要许可准应宜])(?:大于|超过|高于)|最少|最小|最低)[\s:=为是约要有衰减]*$",
    re.IGNORECASE,
)
_AT_MOST_AFTER = re.compile(r"\s*(?:or less|or below|max(?:imum)?\b|以下|以内|之内|内)", re.IGNORECASE)
_AT_LEAST_AFTER = re.compile(r"\s*(?:or more|or better|min(?:imum)?\b|以上)", re.IGNORECASE)
_NEGATED = re.compile(r"not|n['’]t|never", re.IGNORECASE)
_UNWANTED = re.compile(
    r"(?:not|n['’]t|never) (?:want|like|accept|need|have|use|take)(?: [a-z]+){1,5} (?:less|lower|smaller|"
    r"more|higher|greater|below|above)"
    r"(?: than)?[\s:=]*$",
    re.IGNORECASE,
)
"""`I don't want a phase margin lower than 65 degrees` asks for at least that."""
_SOFT_BEFORE = re.compile(r"(?:up to|better than|within|good to|down to|f_?min)[\s:=]*$", re.IGNORECASE)
_AND_UP = re.compile(r"\s*(?:以上|起|and (?:up|above)|upwards?|up(?![a-z ]*to))", re.IGNORECASE)
"""Behind a frequency from which on something works: no bound of that frequency."""
_ON_FROM = re.compile(r"(?:^|[,;。、(]|\d[a-z]+|\band\b|倍|[伏安欧])\s*(?:>=?|≥|⩾|≧)[\s:=]*$", re.IGNORECASE)
"""As one of a list of figures, "9 V, 10 mA, ≥100 Hz": where a band begins."""
_SOFT_AFTER = re.compile(r"\s*(?:or better)", re.IGNORECASE)
_PLUS_MINUS = re.compile(r"±\s*$")
_PEAK_TO_PEAK = r"peak[\s-]?to[\s-]?peak|(?<![a-z])v?p-?p(?![a-z])|峰-?峰值?"
_PEAK_TO_PEAK_BEFORE = re.compile(
    rf"(?:{_PEAK_TO_PEAK})(?:电压|幅度)?\s*(?:of|is|=|:|为|是|约)?\s*$", re.IGNORECASE
)
_PEAK_TO_PEAK_AFTER = re.compile(
    r"^[^\d,;。、]*?(?:peak[\s-]?to[\s-]?peak|vp-?p(?![a-z])|v\s?p-?p(?![a-z])|峰-?峰)", re.IGNORECASE
)

_RMS = re.compile(r".{0,4}?(?<![a-z])v?\s?rms(?![a-z])|.{0,4}?\s?有效值", re.IGNORECASE)

_ARROW = re.compile(
    r"\s*[)）]?\s*(?:dc|_?in(?:put)?|直流|输入|电池|锂电|电源|供电)?\s*(?:->|=>|→|产生|生成|得到|转换?[成为到至]?|"
    r"(?:[就想]?要)?变换?[成为到至]?|(?:[就想]?要)?(?:降|升)[压高低]?[到至成为]?|弄[成到]|into|(?:step(?:ped|"
    r"ping)?[- ])?down to|"
    r"converted to|输入.{0,3}转)\s*",
    re.IGNORECASE,
)
_SPAN = re.compile(r"\s*(?:-|~|\.\.\.?|…)\s*")
_AND = re.compile(r"\s*(?:and|和|与|、)\s*", re.IGNORECASE)
_TO = re.compile(r"[\s-]*(?:dc|_?in(?:put)?)?\s*(?:to|到|至)[\s-]*(?:dc)?\s*", re.IGNORECASE)

_SIGNAL_TO = re.compile(
    r"(?:[^\d,;。]{0,12}(?:to|into|到|至|成|为|->)|[^\d]{0,16}(?:need|want|require|get|make it|要|"
    r"需要|放大|变)[^\d,;。]{0,12})\s*",
    re.IGNORECASE,
)
_CURRENT_TO = re.compile(
    r"\s*(?:of (?:input )?current |的?(?:输入)?(?:光)?电流)?(?:gives?|to|into|->|"
    r"(?:转换?|变换?)?[成为到]|对应|"
    r"(?: ?(?:and|,|but) )?(?:i(?:['’]d like| want| need)|"
    r"should (?:give|become|read)|(?:我?想?要|需要)(?:得到|输出)?))\s?(?:an? )?",
    re.IGNORECASE,
)
_PER = re.compile(r"\s*(?:per|for (?:each|every))\s*", re.IGNORECASE)
"""Between a voltage and a current: "1 V per 10 uA"."""
_PART_BEFORE = re.compile(r"(?<![a-z])(?:with|using)(?: an?)? ?$", re.IGNORECASE)
"""In front of a bare `1k` that is a resistor."""
_PARTS_COUNTED = re.compile(
    r"\d\s?x?\s?(?:[a-z]{1,4}\d{2,}|\d[a-z]\d{3,}|op[\s-]?amps?|opamps?|transistors?|bjts?|mosfets?|n?mos(?![a-z])|npns?|"
    r"resistors?|capacitors?|caps(?![a-z])|diodes?)(?![a-z])",
    re.IGNORECASE,
)
"""`2x BC550`, `3 x op amp`: how many parts, and no gain."""
_PARTS: tuple[tuple[re.Pattern[str], Dimension], ...] = (
    (re.compile(r"[\s-]?(?:caps?|capacitors?)(?![a-z])|的?电容", re.IGNORECASE), "F"),
    (re.compile(r"[\s-]?resistors?(?![a-z])|的?电阻", re.IGNORECASE), "Ohm"),
    (re.compile(r"[\s-]?(?:inductors?|coils?)(?![a-z])|的?电感", re.IGNORECASE), "H"),
)
"""Behind a bare `10n`: what it is the value of."""
_FREQUENCY_AFTER = re.compile(r"\s*(?:band|cut|corner|freq|带宽|截止)", re.IGNORECASE)
_HALF_POWER = re.compile(r"[-+]?3(?:\.0+)?\s?(?:db|分贝)", re.IGNORECASE)
_FREQUENCY_BEHIND = re.compile(
    r"\s*(?:(?:low|upp|high)(?:er)? )?(?:end|freq|corner|point|cut-?off|bandwidth|edge)|"
    r"\s*(?:[上下]限)?(?:频率|带宽|截止|点)",
    re.IGNORECASE,
)
_HERTZ_BEFORE = re.compile(
    r"\d\s?(?:[kMG]|meg|千|兆)?(?:hz|赫兹?)[\s,]*[(（]?(?:at |point )?$", re.IGNORECASE
)
_HERTZ_BEHIND = re.compile(r"[^\d,;。]{0,24}\d[\d.]*\s?(?:[kMG]|meg|千|兆)?(?:hz|赫)", re.IGNORECASE)
_BESIDE = re.compile(r"\s*(?:and|with|,|/|\+|和|与|、|加)\s*", re.IGNORECASE)
_COMMA = re.compile(r"\s*[,、/]")
_A_LIST = 4
"""Figures that are a list: what stands beside each other in it is not of one part."""
_BETWEEN = re.compile(r"(?:between|介于|在)\s*$", re.IGNORECASE)


_SCALE = re.compile(r"\d\s?(meg|[kKMGnpuμ兆千皮])$")
_MEANT_BY_SCALE: dict[str, frozenset[Dimension]] = {
    **dict.fromkeys(("k", "m", "meg", "g", "千", "兆"), frozenset({"Hz", "Ohm"})),
    **dict.fromkeys(("n", "u", "μ"), frozenset({"F", "H"})),
    **dict.fromkeys(("p", "皮"), frozenset({"F"})),
}
"""A scale alone, as the trade writes it."""
_LARGEST = 1e30
"""Of any quantity in its unit; its square is a number too."""
_LARGEST_DB = 1e3
_OF_LOADS = frozenset(("a", "w", "安", "瓦"))
"""Ends of units."""
_UNIT_WRITTEN = r"(?:\s?[kKmMnpuμ千毫微]?(?:[a-zA-ZΩ]{1,4}|[安伏欧赫瓦倍%]))?(?![a-zA-Z])"
_WAS = rf"\d[\d.]*(?P<was_unit>{_UNIT_WRITTEN})"
_NOW = rf"(?P<now>[-+]?\d[\d.]*)(?P<unit>{_UNIT_WRITTEN})"
_TAKEN_BACK = tuple(
    re.compile(each, re.IGNORECASE)
    for each in (
        rf"(?<![a-z])(?:(?:changed|revised|updated)|(?P<moved>raised|increased|bumped|lowered|reduced)) "
        rf"from {_WAS} to {_NOW}",
        rf"(?<![a-z])from {_WAS} to {_NOW}(?= (?:is|has|needs|was|will) (?:to )?(?:be )?"
        r"(?:raised|increased|changed|lowered|reduced))",
        rf"从\s?{_WAS}(?:需?要|得|想)?(?:改|换|(?P<moved>加大?|增加|增大|提高?|减小?|降低?|升高?))[到成为至]\s?{_NOW}",
        rf"{_WAS}[,;.?!… -]{{0,4}}"
        r"(?:no[,:]|sorry,?|er,|wait,|scratch that,?|correction[,:]?|actually,?|make that)"
        rf"(?: (?:make (?:it|that)|rather|better))? {_NOW}",
        rf"{_WAS}[,，?？!！.…]{{0,4}}(?:哦|噢)?(?:不对|不+,|不，|算了|说错了|更正)[,，]?(?:改[成为]?|换成?|还是|应该是|是)?\s?{_NOW}",
        rf"{_WAS}\s?(?:的话)?(?:太[小大低高多少]|不行|不够)(?:了|的话)?[,，]?\s?(?:那?就|改|还是)?(?:取|用|成)?\s?{_NOW}",
        rf"{_WAS} (?:is|was|would be) too (?:small|big|large|much|little|low|high|many)[,;]? (?:so )?"
        rf"(?:take|use|make (?:it|that)|go for) {_NOW}",
        rf"{_WAS}\s?(?:-|~|〜|to|or|到|至|或者?)\s?\d[\d.]*{_UNIT_WRITTEN}"
        r"(?P<between>[^\d,;，；。]{0,10})[,;，；。]?\s?"
        r"(?:let['’]s (?:say|use|take)|call it|figure|assume|design (?:it )?(?:at|for)|take|按|取|就按|以)\s?"
        rf"{_NOW}"
        r"(?=[\s,;.)，；。）]|$|算|计|设计)",
    )
)
"""A figure and the one that was said in its place; `moved`: words of a conversion, too."""
LONGEST_REQUEST = 2000
"""Characters. A sentence states a circuit in far fewer; the patterns' cost grows faster than the length."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """A quantity somewhere in a sentence."""

    value: float
    """SI; the lower end when it is a range. Percent as a fraction."""
    dimension: Dimension
    """``none`` when no unit was written."""
    start: int
    end: int
    text: str
    upper: float | None = None
    """Upper end of a range."""
    bound: Bound | None = None
    is_soft: bool = False
    """Whether the bound is one of words that mean the good side of any quantity: "up to", "or better"."""
    is_tolerance: bool = False
    """Written with ± before it."""
    is_peak_to_peak: bool = False
    is_rms: bool = False

    @property
    def may_be(self) -> frozenset[Dimension]:
        """The units a number may have been meant in whose writer left the unit out: `switch at 500k`."""
        scale = _SCALE.search(self.text) if self.dimension == "none" else None
        return _MEANT_BY_SCALE.get(scale[1].lower(), frozenset()) if scale else frozenset()

    @property
    def middle(self) -> float:
        """The value, or the middle of a range."""
        return self.value if self.upper is None else (self.value + self.upper) / 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A sentence in plain characters, and the quantities in it, in order."""

    text: str
    """Normalised: half-width, Chinese numerals before units as digits."""
    mentions: tuple[Mention, ...]
    links: tuple[tuple[int, Link], ...]
    """(index, kind): how mention `index` is joined to the next one."""
    language: Literal["en", "zh"]
    unlikely: Callable[[Mention, str], float | None] | None = field(default=None, compare=False, repr=False)
    """What is learnt of where figures belong: how unlikely it is that one is a quantity ("": none), in nats;
    None of a quantity of which nothing is known."""

    def has(self, pattern: str) -> bool:
        """Whether a regular expression occurs, whatever the letter case."""
        return _occurs(pattern, self.text)

    def of(self, dimension: Dimension) -> tuple[Mention, ...]:
        """The mentions with this unit."""
        return tuple(m for m in self.mentions if m.dimension == dimension)


@lru_cache(maxsize=2048)
def _occurs(pattern: str, text: str) -> bool:
    """Kept: families ask the same of a sentence, five times each on the average."""
    return in_any_case(pattern).search(text) is not None


@lru_cache(maxsize=8192)
def in_any_case(pattern: str) -> re.Pattern[str]:
    """A regular expression for any letter case. The families have more of them than Python itself keeps: each
    sentence would compile most of them anew, which takes longer than all the rest."""
    return re.compile(pattern, re.IGNORECASE)


def last_said(text: str) -> str:
    """The text without the figures that were taken back: "raised from 2 A to 4 A" and "2 A, no, 4 A" ask for
    4 A. What goes from one value to another may be what the circuit is for; of a load it never is."""
    for pattern in _TAKEN_BACK:
        text = pattern.sub(_last_of_two, text)
    return text


def _last_of_two(match: re.Match[str]) -> str:
    was, now = (match[name].strip()[-1:].lower() for name in ("was_unit", "unit"))
    is_conversion = match.groupdict().get("moved") is not None and now not in _OF_LOADS
    return (
        match[0]
        if is_conversion or was not in ("", now)
        else (f"{match['now']}{match['unit']}{match.groupdict().get('between') or ''}")
    )


def read_sentence(text: str) -> Sentence:
    """Normalise a text and find its quantities."""
    language: Literal["en", "zh"] = "zh" if re.search(r"[\u4e00-\u9fff]", text) else "en"
    plain = in_figures(text)
    mentions = [_with_context(plain, m) for m in _beside_parts(plain, _find_mentions(plain))]
    merged, links = _link(plain, mentions)
    return Sentence(text=plain, mentions=merged, links=links, language=language)


def _beside_parts(text: str, mentions: list[Mention]) -> list[Mention]:
    """`1k and 100 nF`: what has a scale only, beside a capacitor or a coil, is the resistor."""
    parts = {"F", "H"}
    resistors = {
        bare.start
        for pair in pairwise(mentions)
        for bare, other in (pair, pair[::-1])
        if "Ohm" in bare.may_be
        and other.dimension in parts
        and _BESIDE.fullmatch(text[pair[0].end : pair[1].start])
        and (len(mentions) < _A_LIST or not _COMMA.match(text, pair[0].end))
    }
    return [replace(each, dimension="Ohm") if each.start in resistors else each for each in mentions]


def _find_mentions(text: str) -> list[Mention]:
    mentions = []
    position = 0
    while match := _MENTION.search(text, position):
        mention = _mention(text, match)
        position = match.end() if mention else match.start("number") + _digits_at(text, match.start("number"))
        if mention:
            mentions.append(mention)
    return mentions


def _digits_at(text: str, start: int) -> int:
    found = re.match(r"[\d.]+", text[start:])
    return len(found[0]) if found else 1


def _mention(text: str, match: re.Match[str]) -> Mention | None:
    before, after = text[: match.start()], text[match.end() :]
    has_unit = bool(match["unit"] or (match["infix"] and match["infix"] in "vV"))
    if _is_part_of_a_word(before, match, has_unit) or _ORDINAL.match(text[match.start("number") :]):
        return None
    if _PARTS_COUNTED.match(text, match.start("number")):
        return None
    if not has_unit and (_NOT_A_VALUE.match(after) or _ORDER.search(before)):
        return None
    is_negative = match["sign"] == "-" and not re.search(r"[a-z0-9_)%]$", before, re.IGNORECASE)
    dimension, factor = _unit(match)
    if dimension == "dB" and _HALF_POWER.match(match[0]) and _is_half_power(before, after, is_negative):
        return None  # -3 dB bandwidth: where, and no gain
    if dimension == "x" and _PREFIXES.get((match["prefix"] or "k").lower(), 1.0) < 1:
        return None  # 2 mV/V: what a bridge gives of its supply
    if match["bare"]:
        dimension = next((unit for part, unit in _PARTS if part.match(after)), dimension)
    if match["bare"] and _PART_BEFORE.search(before) and not _FREQUENCY_AFTER.match(after):
        dimension = "Ohm" if match["bare"].strip() in "kKM" else dimension
    if dimension == "A" and GAIN_OF.search(before) and re.match(r"\s*amp", match["unit"], re.IGNORECASE):
        dimension, factor = "x", 1.0  # a gain of 2 amp: the amplifier
    value = within_measure((-1.0 if is_negative else 1.0) * _number(match) * factor, dimension)
    return Mention(
        value=float(f"{value:.12g}"),
        dimension=dimension,
        start=match.start() if is_negative else match.start("number"),
        end=match.end(),
        text=text[match.start() if is_negative else match.start("number") : match.end()].strip(),
    )


def _is_half_power(before: str, after: str, is_negative: bool) -> bool:
    """Whether 3 dB say where a band ends: "-3 dB bandwidth", "to 50 kHz (-3 dB)", "-3 dB sits at 10 kHz"."""
    if _FREQUENCY_BEHIND.match(after):
        return True
    return is_negative and bool(_HERTZ_BEFORE.search(before) or _HERTZ_BEHIND.match(after))


def within_measure(value: float, dimension: Dimension = "none") -> float:
    """A number of maybe hundreds of digits as one to reckon with, which is refused all the same."""
    largest = _LARGEST_DB if dimension == "dB" else _LARGEST
    return max(-largest, min(largest, value))


def _is_part_of_a_word(before: str, match: re.Match[str], has_unit: bool) -> bool:
    """The 1 of R1, the 96 of E96, the 072 of TL072; but not the 12 of Vin12V."""
    if not before or not re.match(r"[a-z0-9_.^]", before[-1], re.IGNORECASE):
        return False
    if match["sign"]:
        return not (has_unit or before[-1].isdigit())
    if _ATTACHED_WORDS.search(before) is not None:
        return False
    if (
        match["unit"]
        and _CLEAR_UNIT.fullmatch(match["unit"])
        and re.search(r"[a-z]{2}$", before, re.IGNORECASE)
    ):
        return False
    return not ((has_unit or match["bare"]) and _VALUES_OF.search(before))


def _number(match: re.Match[str]) -> float:
    digits = match["number"]
    if match["decimals"] and digits.isdigit():  # 4k7, but not 1.5k7
        digits += "." + match["decimals"]
    return _value(digits)


def _value(digits: str) -> float:
    return float(re.sub(r"\s?x\s?10\^?", "e", digits.lower().replace(",", "")))


def _unit(match: re.Match[str]) -> tuple[Dimension, float]:
    infix = match["infix"]
    if infix and infix in "vV":
        return "V", 1.0
    infix_factor = 1.0 if not infix or infix in "rR" else _PREFIXES.get(infix.lower(), 1.0)
    if infix == "M":
        infix_factor = 1e6
    if not match["unit"]:
        if infix and infix in "rR":
            return "Ohm", 1.0
        bare = (match["bare"] or "").strip()
        return "none", infix_factor * (1e6 if bare == "M" else _PREFIXES.get(bare.lower(), 1.0))
    spelled = match["unit"].lstrip(" -")
    prefix = match["prefix"] or ""
    base = spelled[len(prefix) :].strip()
    for pattern, dimension, factor in _BASES:
        if re.fullmatch(pattern, base, re.IGNORECASE):
            return dimension, factor * infix_factor * _prefix_factor(prefix, base, dimension)
    raise AssertionError(spelled)


def _prefix_factor(prefix: str, base: str, dimension: Dimension) -> float:
    """m and M: mega for hertz and ohm when it can be, milli for everything else (500MA is 500 mA)."""
    if prefix in ("m", "M") and dimension in ("Hz", "Ohm"):
        is_milli = prefix == "m" and not (dimension == "Hz" and base.startswith("h"))
        return 1e-3 if is_milli else 1e6
    return _PREFIXES.get(prefix.lower(), 1.0)


def _with_context(text: str, mention: Mention) -> Mention:
    before, after = text[: mention.start], text[mention.end :]
    bound: Bound | None = None
    is_reach = mention.dimension == "Hz" and _REACHES.search(before) is not None
    below = _AT_MOST_BEFORE.search(before)
    if not is_reach and (below or _AT_MOST_AFTER.match(after)):
        bound = "at_most"
    elif _AT_LEAST_BEFORE.search(before) or _AT_LEAST_AFTER.match(after):
        bound = "at_least"
    if bound is not None and not (below and _NEGATED.match(below[0])) and _UNWANTED.search(before):
        bound = "at_least" if bound == "at_most" else "at_most"
    is_peak_to_peak = mention.dimension == "V" and (
        _PEAK_TO_PEAK_BEFORE.search(before)
        or _PEAK_TO_PEAK_AFTER.search(text[mention.end - 3 : mention.end + 20])
    )
    is_rms = mention.dimension == "V" and _RMS.match(text[mention.end - 4 :]) is not None
    return replace(
        mention, bound=bound,
        is_soft=bool(
            _SOFT_BEFORE.search(before)
            or _SOFT_AFTER.match(after)
            or (
                "Hz" in (mention.dimension, *mention.may_be)
                and (_AND_UP.match(after) or _ON_FROM.search(before))
            )
        ),
        is_tolerance=bool(_PLUS_MINUS.search(before)),
        is_peak_to_peak=bool(is_peak_to_peak), is_rms=is_rms,
    )  # fmt: skip


def _link(text: str, mentions: list[Mention]) -> tuple[tuple[Mention, ...], tuple[tuple[int, Link], ...]]:
    """Join neighbours written as a range into one mention; note arrows and an undecided "to"."""
    merged: list[Mention] = []
    links: list[tuple[int, Link]] = []
    for mention in mentions:
        kind: Link | None = None
        if merged:
            is_between = _BETWEEN.search(text[: merged[-1].start]) is not None
            between = text[merged[-1].end : mention.start].removesuffix("+")
            kind = _link_kind(between, merged[-1], mention, is_between=is_between)
        if kind is None:
            merged.append(mention)
            continue
        left = _with_unit_of(merged[-1], mention, kind)
        if _is_range(text, left, mention, kind):
            merged[-1] = replace(
                left, upper=mention.value, end=mention.end, text=text[left.start : mention.end], bound=None
            )
            continue
        merged[-1] = left
        links.append((len(merged) - 1, kind))
        merged.append(mention)
    return _with_gain(text, *_with_resistance(text, merged, links))


def _with_resistance(
    text: str, mentions: list[Mention], links: list[tuple[int, Link]]
) -> tuple[list[Mention], list[tuple[int, Link]]]:
    """`1 mA to 1 V` says a transimpedance: one mention of their ratio."""
    for index, (first, second) in enumerate(pairwise(mentions)):
        between = text[first.end : second.start]
        is_inverse = (first.dimension, second.dimension) == ("V", "A") and _PER.fullmatch(between) is not None
        current, voltage = (second, first) if is_inverse else (first, second)
        is_pair = (current.dimension, voltage.dimension) == ("A", "V") and current.value > 0
        if is_pair and (is_inverse or _CURRENT_TO.fullmatch(between)):
            ratio = float(f"{abs(voltage.value) / current.value:.12g}")
            whole = text[first.start : second.end]
            ohms = replace(first, value=ratio, upper=None, dimension="Ohm", end=second.end, text=whole)
            kept = [(at - (at > index), kind) for at, kind in links if at not in (index, index + 1)]
            return [*mentions[:index], ohms, *mentions[index + 2 :]], kept
    return mentions, links


def _with_gain(
    text: str, mentions: list[Mention], links: list[tuple[int, Link]]
) -> tuple[tuple[Mention, ...], tuple[tuple[int, Link], ...]]:
    """`0-10 mV to 0-5 V` says a gain: one mention of their ratio."""
    for index, (low, high) in enumerate(pairwise(mentions)):
        between = text[low.end : high.start]
        is_signal = all(each.dimension == "V" and each.value == 0 and each.upper for each in (low, high))
        if is_signal and _SIGNAL_TO.fullmatch(between):
            ratio = float(f"{(high.upper or 0) / (low.upper or 1):.12g}")
            if ratio < 1:  # scaled down: from one to the other
                ends = [replace(each, value=each.upper or 0.0, upper=None) for each in (low, high)]
                kept = [(at, kind) for at, kind in links if at != index]
                return (*mentions[:index], *ends, *mentions[index + 2 :]), (*kept, (index, "arrow"))
            whole = text[low.start : high.end]
            gain = replace(low, value=ratio, upper=None, dimension="x", end=high.end, text=whole)
            kept = [(at - (at > index), kind) for at, kind in links if at != index]
            return (*mentions[:index], gain, *mentions[index + 2 :]), tuple(kept)
    return tuple(mentions), tuple(links)


def _link_kind(between: str, left: Mention, right: Mention, *, is_between: bool) -> Link | None:
    if left.dimension not in (right.dimension, "none") or right.is_tolerance:
        return None
    if is_between and _AND.fullmatch(between):
        return "span"
    kinds: tuple[tuple[Link, re.Pattern[str]], ...] = (("arrow", _ARROW), ("to", _TO), ("span", _SPAN))
    return next((kind for kind, pattern in kinds if pattern.fullmatch(between)), None)


def _with_unit_of(left: Mention, right: Mention, kind: Link) -> Mention:
    """`24 -> 3.3 V` and `1-2 kHz`: the first number takes the second one's unit."""
    if left.dimension != "none" or right.dimension == "none":
        return left
    written = re.match(_NUMBER, right.text, re.IGNORECASE)
    scale = right.value / number if written and (number := _value(written[0])) else 1.0
    is_plain = re.fullmatch(r"-?[\d.,]+", left.text) is not None
    value = left.value * scale if is_plain and kind != "arrow" else left.value
    return replace(left, dimension=right.dimension, value=within_measure(value, right.dimension))


def _is_range(text: str, left: Mention, right: Mention, kind: Link) -> bool:
    if kind == "arrow" or left.upper is not None or right.value <= left.value:
        return False
    if kind == "span" or left.value == 0 or (left.value == -right.value and left.text[:1] == "-"):
        return True
    around = text[max(0, left.start - 24) : left.start] + "|" + text[right.end : right.end + 12]
    return (
        re.search(r"input|输入|range|范围|between|from|vin|供电|supply|电源", around, re.IGNORECASE)
        is not None
    )
