"""What all filters are asked for: kind, cut-off, tolerance, attenuation at a frequency, part values."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from domain.circuit.numbers import parse_number
from domain.circuit.preferred_values import SeriesName, with_unit
from domain.design.sentence import Mention, Sentence
from domain.design.understanding import Filled, Slot, fill_slots, impossible, missing_goal
from domain.simulation.goals import DesignGoal
from shared.message import Message, msg

FilterKind = Literal["lowpass", "highpass"]

LETS_LOWS_THROUGH = r"low[\s-]?pass|(?<![a-z])lpf?(?![a-z])|high[\s-]?cut|低通|高频滤除|高切"
LETS_HIGHS_THROUGH = r"high[\s-]?pass|(?<![a-z])hpf?(?![a-z])|low[\s-]?cut|高通|低频滤除|低切"
FILTER_WORDS = rf"{LETS_LOWS_THROUGH}|{LETS_HIGHS_THROUGH}|filter|滤波"

DEFAULT_TOLERANCE = 0.05
LABELS: Mapping[str, Message] = {
    "cutoff": msg("Corner, −3 dB"),
    "passband_gain": msg("Passband gain"),
    "peaking": msg("Peaking"),
    "ripple": msg("Ripple"),
    "q": msg("Quality factor Q"),
    "attenuation": msg("Attenuation"),
    "passband_loss": msg("Passband loss"),
}
"""What the goals of filters are called."""
GOAL_WORDS: Mapping[str, str] = {
    "cutoff": r"cut-?\s?off|corner|\bfc\b|-?3\s?db|bandwidth|截止|转折|拐角|带宽",
    "passband_gain": r"pass-?band gain|\bgain\b|通带增益|增益|放大倍数",
    "peaking": r"peaking|尖峰|峰化",
    "ripple": r"ripple|纹波",
    "q": r"\bq\b|quality factor|品质因数",
    "attenuation": r"attenuation|rejection|stop-?band|衰减|抑制",
    "passband_loss": r"pass-?band loss|insertion loss|通带损耗|插入损耗",
}
"""By which words a person names a goal of a filter to change it."""
_BAND_BEFORE = re.compile(
    r"(?:pass[\s-]?band|stop[\s-]?band|bandwidth|通带|阻带|带宽|频带)[^,;。]{0,12}$", re.IGNORECASE
)

_CUTOFF_WORDS = (
    r"cut[\s-]?off|cutting|corner|break (?:frequency|point)|(?<![a-z])f_?c(?![a-z])|"
    r"(?<![a-z])f_?0(?!\d)|f_?3db|"
    r"-?3(?:\.01)?\s?db|bandwidth|带宽|截止|转折|拐点|拐角|passband edge|通带(?:边缘|频率|截止)|ripple edge|"
    r"(?<![a-z])f_?p(?:ass)?(?![a-z])|natural frequency|自然频率|特征频率|固有频率|极点频率|pole frequency"
)
_STOP_BEFORE = (
    r"(?:attenuat\w*|rejects?|rejection|suppress\w*|down|loss|衰减|"
    r"抑制|db)\s*(?:of \S+\s?db\s*)?(?:(?:at|beyond|above|below|"
    r"from|by|for)(?![a-z])|@|在)|stop[\s-]?band(?: edge|"
    r" frequency| starts?| begins?)*(?: at| from)?|阻带(?:起始|截止|"
    r"边缘)?(?:频率)?"
)
_STOP_AFTER = (
    r"(?:(?:处|时|以上|以外|以下|外)\s*[,:]?|的|\s)*(?:衰减|抑制|at least|to be|"
    r"is|are|down by|down|attenuat\w*(?: by| of)?|by|"
    r"rejects?|rejection|不少于|不小于|不低于|至少|大于等于|大于|超过|达到|达|为|要|有|>=?|"
    r"≥|\s)*-?\d+(?:\.\d+)?\s?(?:db|分贝)(?!\s*(?:ripple|纹波))"
)
_LOSS_WORDS = (
    r"(?:pass[\s-]?band|insertion) (?:loss|attenuation)|"
    r"(?<![a-z])a_?p(?:ass)?(?![a-z])|"
    r"通带(?:内)?(?:的)?(?:最大)?(?:允许)?(?:损耗|衰减|损失)|插入?损耗?"
)
_ATTENUATION_WORDS = (
    r"(?<!band )(?<!band)attenuat\w*|reject\w*|suppress\w*|"
    r"(?<!通带)(?<!通带内)(?<!通带最大)(?<!通带内最大)(?<!通带允许)(?<!通带最大允许)衰减|抑制|"
    r"(?<![a-z])down(?![a-z])|阻带|stop[\s-]?band|"
    r"(?<![a-z])a_?s(?:top)?(?=\s*[=:≥>])"
)
_THREE_DB_MARK = re.compile(
    r"\(?-?\b3(?:\.0\d?)?\s?db\)?[\s-]*(?:cut|band|corner|freq|point|edge|截止|带宽|转折|频率|点)|"
    r"(?:cut[\s-]?off|bandwidth|corner|截止频率|转折频率|带宽|"
    r"截止)(?: frequency)?\s*\(?\s*-?3(?:\.0\d?)?\s?db\)?"
    r"|hz\s*[,(]?\s*-3(?:\.0\d?)?\s?db|-3(?:\.0\d?)?\s?db\s*(?:at|"
    r"@|in|=|:|处|在)|(?:处|at \S+\s?k?hz:?)\s*-3(?:\.0\d?)?\s?db",
    re.IGNORECASE,
)

_SLOPE = re.compile(
    r"(?P<before>\d+(?:\.\d+)?)\s?(?:db|分贝)\s*(?:/|per|每|an?)\s*(?:(?P<decade>dec|十倍频)|oct|倍频)"
    r"|每(?P<tenfold>十)?倍频程?\s*(?:衰减|下降)?\s*-?(?P<behind>\d+(?:\.\d+)?)\s?(?:db|分贝)",
    re.IGNORECASE,
)

COMMON_SLOTS = (
    Slot(
        name="cutoff",
        dimensions=("Hz",),
        words=_CUTOFF_WORDS,
        weak=r"(?<![a-z])at(?![a-z])|@|在",
        takes_rest=True,
    ),
    Slot(
        name="attenuation_hz",
        dimensions=("Hz",),
        words=r"stop[\s-]?band (?:edge|frequency)|阻带(?:频率|边缘)|(?<![a-z])f_?s(?:top)?(?![a-z])",
        before=_STOP_BEFORE,
        after=_STOP_AFTER,
        weak=r"(?<![a-z])(?:at|beyond|above|below|from)(?![a-z])|@|在",
    ),
    Slot(
        name="attenuation_db", dimensions=("dB",), words=_ATTENUATION_WORDS, takes_bare=False, takes_rest=True
    ),
    Slot(
        name="tolerance",
        dimensions=("%",),
        words=r"tolerance|toleranz|accura\w*|error|误差|偏差|容差|精度|公差|允差",
        before=r"±|\+/?-|正负|within|以内",
        takes_rest=True,
    ),
    Slot(name="resistor_grade", dimensions=("%",), words=r"resistors?|电阻", takes_bare=False),
)
PEAKING = Slot(
    name="peaking_db",
    dimensions=("dB",),
    words=r"(?<![a-z])peak(?:ing|s)?(?![a-z])|峰值|尖峰|峰化|凸峰|鼓包",
    takes_bare=False,
)
"""How far the response may stand above its pass-band level."""
PASS_BAND_LOSS = Slot(name="loss_db", dimensions=("dB",), words=_LOSS_WORDS, takes_bare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterRequest:
    """The part of a request every filter shares."""

    kind: FilterKind
    cutoff_hz: float | None
    tolerance: float
    """Allowed relative deviation of the cut-off."""
    tolerance_is_stated: bool
    attenuation_db: float | None
    attenuation_hz: float | None
    resistor_series: SeriesName
    says_minus_3_db: bool
    assumptions: tuple[Message, ...]


def filter_kind(sentence: Sentence) -> FilterKind | None:
    """Low-pass or high-pass, None when the sentence says neither or both."""
    is_low, is_high = sentence.has(LETS_LOWS_THROUGH), sentence.has(LETS_HIGHS_THROUGH)
    if is_low == is_high:
        return None
    return "lowpass" if is_low else "highpass"


def order_of(sentence: Sentence) -> int | None:
    """The order a sentence states (`4th order`, `second-order`, `3阶`, `two-pole`, `24 dB/octave`).

    Raises CircuitError for one that is not whole.
    """
    if slope := _SLOPE.search(sentence.text):
        decibels = float(slope["before"] or slope["behind"])
        return max(1, round(decibels / (20 if slope["decade"] or slope["tenfold"] else 6)))
    ordinals = [
        "first",
        "second",
        "third",
        "fourth",
        "fifth",
        "sixth",
        "seventh",
        "eighth",
        "ninth",
        "tenth",
        "eleventh",
        "twelfth",
    ]
    cardinals = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    digits = re.search(
        r"(\d+(?:\.\d+)?)\s*(?:st|nd|rd|th)?[\s-]*(?:order|poles?(?![a-z])|阶|"
        r"极点)|(?:order|阶数)\s*(?:n\s*)?(?:=|:|of|is|为|是)?\s*(\d+(?:\.\d+)?)|"
        r"(?<![a-z])n\s*=\s*(\d+(?:\.\d+)?)",
        sentence.text,
        re.IGNORECASE,
    )
    if digits:
        order = float(next(group for group in digits.groups() if group))
        if order != int(order):
            raise impossible(
                msg("A filter has a whole number of poles, not {order}.", order=f"{order:g}"),
                msg("Ask for an order such as 2 or 4."),
            )
        return int(order)
    for words, tail in ((ordinals, r"[\s-]*order"), (cardinals, r"[\s-]*poles?")):
        for number, word in enumerate(words, start=1):
            if sentence.has(rf"\b{word}{tail}"):
                return number
    return None


def read_filter(sentence: Sentence, slots: Sequence[Slot]) -> tuple[FilterRequest, Filled]:
    """The common part of a filter request and all filled slots. Raises CircuitError."""
    mentions = [m for m in sentence.mentions if not _defines_something_else(sentence, m)]
    bands = [m for m in mentions if m.is_tolerance and m.dimension == "Hz"]
    if not any(m.dimension == "dB" for m in mentions):
        slots = [slot for slot in slots if slot.name != "attenuation_hz"]
    filled = fill_slots(sentence, slots, [m for m in mentions if m not in bands])
    assumptions: list[Message] = []
    kind = filter_kind(sentence)
    if kind is None:
        kind = "lowpass"
        assumptions.append(msg("Low-pass or high-pass was not said: a low-pass is designed."))
    cutoff = _edge_of(sentence, filled.values.get("cutoff"), is_upper=kind == "lowpass")
    if cutoff is None:
        cutoff = _only_scaled_number(sentence, filled)
    attenuation_db, attenuation_hz = _attenuation(sentence, filled, kind, cutoff)
    is_three_db = attenuation_db is not None and abs(attenuation_db - 3.0) < 0.02
    if is_three_db and cutoff in (None, attenuation_hz):
        cutoff, attenuation_db, attenuation_hz = attenuation_hz, None, None
    if cutoff is None and attenuation_db is None:
        cutoff = _edge_of(sentence, filled.values.get("attenuation_hz"), is_upper=kind == "lowpass")
    if attenuation_db is not None and cutoff is None and abs(attenuation_db - 3.0) < 0.02:
        cutoff, attenuation_db, attenuation_hz = attenuation_hz, None, None
    if cutoff is not None and cutoff <= 0:
        raise impossible(
            msg("A cut-off frequency of {value} is not possible.", value=with_unit(cutoff, "Hz")),
            msg("Give a frequency above zero, for example 1 kHz."),
        )
    tolerance = filled.value("tolerance")
    if tolerance is None and bands and cutoff:
        tolerance = bands[0].value / cutoff
    if tolerance is not None and not 0 < tolerance < 1:
        raise impossible(
            msg("A tolerance of {percent} % is not possible.", percent=f"{100 * tolerance:g}"),
            msg("Give a tolerance between 0 and 100 %, for example 5 %."),
        )
    request = FilterRequest(
        kind=kind,
        cutoff_hz=cutoff,
        tolerance=DEFAULT_TOLERANCE if tolerance is None else tolerance,
        tolerance_is_stated=tolerance is not None,
        attenuation_db=attenuation_db,
        attenuation_hz=attenuation_hz,
        resistor_series=_resistor_series(sentence, filled),
        says_minus_3_db=_THREE_DB_MARK.search(sentence.text) is not None,
        assumptions=tuple(assumptions),
    )
    return request, filled


def _defines_something_else(sentence: Sentence, mention: Mention) -> bool:
    """Decibels that ask for no attenuation: the 3 dB of "-3 dB frequency", the 40 dB of "40 dB/decade"."""
    if any(m.start() - 1 <= mention.start < m.end() for m in _SLOPE.finditer(sentence.text)):
        return True
    return (
        mention.dimension == "dB"
        and math.isclose(abs(mention.value), 3.0, abs_tol=0.02)
        and any(
            m.start() - 1 <= mention.start and mention.end <= m.end()
            for m in _THREE_DB_MARK.finditer(sentence.text)
        )
    )


def _only_scaled_number(sentence: Sentence, filled: Filled) -> float | None:
    """The 3.4k of "low-pass, order 5, 3.4k": the one number with a prefix and no unit that nothing names."""
    taken = set(filled.values.values())
    bare = [m for m in sentence.of("none") if m not in taken and re.search(r"[kM]$|meg$|千|兆", m.text)]
    has_frequency = bool(sentence.of("Hz") or sentence.of("s") or sentence.of("F") or sentence.of("H"))
    return bare[0].value if len(bare) == 1 and not has_frequency else None


def _edge_of(sentence: Sentence, mention: Mention | None, *, is_upper: bool) -> float | None:
    """A frequency; of a band ("pass band 0-3.4 kHz") the end next to the cut-off, of another range its
    middle."""
    if mention is None or mention.upper is None:
        return None if mention is None else mention.value
    if mention.value == 0 or _BAND_BEFORE.search(sentence.text[: mention.start]):
        return mention.upper if is_upper else mention.value
    return mention.middle


def _attenuation(
    sentence: Sentence, filled: Filled, kind: FilterKind, cutoff: float | None
) -> tuple[float | None, float | None]:
    decibels = filled.value("attenuation_db")
    frequency = _edge_of(sentence, filled.values.get("attenuation_hz"), is_upper=kind == "highpass")
    if decibels is None:
        return None, None
    decibels = abs(decibels)
    if frequency is None:
        raise missing_goal(
            msg(
                "An attenuation of {decibels} dB is asked for, but not at which frequency.",
                decibels=f"{decibels:g}",
            ),
            msg(
                "Add the frequency, for example: at least {decibels} dB at 10 kHz.", decibels=f"{decibels:g}"
            ),
        )
    is_inside = cutoff is not None and (frequency <= cutoff if kind == "lowpass" else frequency >= cutoff)
    if is_inside and decibels > 3.0103:
        raise impossible(
            msg(
                "{decibels} dB of attenuation at {frequency} lies inside the pass band (cut-off {cutoff}).",
                decibels=f"{decibels:g}",
                frequency=with_unit(frequency, "Hz"),
                cutoff=with_unit(cutoff or 0.0, "Hz"),
            ),
            msg(
                "A low-pass attenuates above its cut-off, a high-pass below: change one of the two "
                "frequencies."
            ),
        )
    return decibels, frequency


def _resistor_series(sentence: Sentence, filled: Filled) -> SeriesName:
    named = re.search(r"(?<![a-z0-9])E(6|12|24|48|96|192)(?!\d)", sentence.text, re.IGNORECASE)
    if named:
        names: dict[str, SeriesName] = {
            "6": "E6", "12": "E12", "24": "E24", "48": "E48", "96": "E96", "192": "E192",
        }  # fmt: skip
        return names[named[1]]
    grade = filled.value("resistor_grade")
    if grade is None or 0.005 <= grade < 0.02:
        return "E96"
    return "E24" if grade >= 0.02 else "E192"


def cutoff_goal(kind: FilterKind, cutoff_hz: float, tolerance: float, *, stated: bool) -> DesignGoal:
    """The -3.0103 dB frequency within a tolerance (`highcut`, relative to DC; `lowcut` for a high-pass)."""
    return DesignGoal(
        metric="cutoff",
        expression=f"{'highcut' if kind == 'lowpass' else 'lowcut'}(v(out))",
        unit="Hz",
        minimum=cutoff_hz * (1 - tolerance),
        maximum=cutoff_hz * (1 + tolerance),
        target=cutoff_hz,
        stated=stated,
    )


def peaking_goal(reference: str, peaking_db: float, *, stated: bool) -> DesignGoal:
    """The top of the response over its pass-band level `reference`. Raises CircuitError for no limit."""
    if not peaking_db > 0:
        raise impossible(
            msg("A peak of at most {peaking} dB cannot be kept.", peaking=f"{peaking_db:g}"),
            msg("Give a limit above 0 dB, for example 0.1 dB."),
        )
    return DesignGoal(
        metric="peaking",
        expression=f"db(peak(v(out))/{reference})",
        unit="dB",
        maximum=peaking_db,
        stated=stated,
    )


def frequencies_in(goals: Sequence[DesignGoal]) -> list[float]:
    """The frequencies at which goals measure a gain: a sweep must reach beyond them."""
    found = (match for goal in goals for match in re.finditer(r"gain\(v\(out\),([^)]+)\)", goal.expression))
    return [parse_number(match[1]) for match in found]
