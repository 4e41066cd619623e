"""Which family a sentence means, and the circuits we know by name but cannot design yet.

A circuit that sounds like one of ours (a notch, a buck-boost, a multiple-feedback filter) is
refused by name rather than answered with something else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from domain.design.designer import DesignIntent
from domain.design.families.buck import Buck
from domain.design.families.family import CircuitFamily, Claim
from domain.design.families.filter_requests import (
    FILTER_WORDS,
    LETS_HIGHS_THROUGH,
    LETS_LOWS_THROUGH,
    order_of,
)
from domain.design.families.first_order import FirstOrder
from domain.design.families.sallen_key import SallenKey
from domain.design.goal_words import with_words
from domain.design.sentence import Sentence, read_sentence
from shared.errors import CircuitError
from shared.message import Message, msg

FAMILIES: Mapping[str, CircuitFamily] = MappingProxyType(
    {"first_order": FirstOrder(), "sallen_key": SallenKey(), "buck": Buck()}
)
"""Every family by its key."""

_NEGATION = (
    r"(?:\bnot?\b|\bwithout\b|\bno\b|instead of|rather than|不要|不用|"
    r"而不是|不是|非)(?:\s+(?:an?|the|any|use|using))?\s*(?:使用|采用|"
    r"用)?\s*$"
)

_NOT_KNOWN: tuple[tuple[str, Message], ...] = (
    (
        r"notch|band[\s-]?(?:stop|reject)|陷波|带阻",
        msg("The built-in designer cannot design a notch or band-stop filter yet."),
    ),
    (
        r"band[\s-]?pass|(?<![a-z])bpf?(?![a-z])|带通",
        msg("The built-in designer cannot design a band-pass filter yet."),
    ),
    (r"all[\s-]?pass|全通", msg("The built-in designer cannot design an all-pass filter yet.")),
    (
        r"buck[\s/-]*boost|升降压|降升压|inverting (?:converter|regulator)",
        msg("The built-in designer cannot design a buck-boost converter yet."),
    ),
    (
        r"(?<!buck)(?<!buck[ -])boost|step(?:ping)?[\s-]?up|升压",
        msg("The built-in designer cannot design a boost converter yet."),
    ),
    (
        r"fly[\s-]?back|反激|forward converter|正激|sepic|"
        r"(?<![a-z])[cć]uk|zeta converter|half[\s-]?bridge|半桥|"
        r"full[\s-]?bridge|全桥|"
        r"(?<![a-z])llc(?![a-z])|push[\s-]?pull|推挽|isolated|隔离|(?<![a-z])pfc(?![a-z])",
        msg("The built-in designer cannot design an isolated or multi-switch converter yet."),
    ),
    (
        r"(?<![a-z])ldo(?![a-z])|linear regulator|linear power|线性稳压|"
        r"线性电源|低压差|zener|齐纳|稳压管|(?<![a-z])lm?78\d\d|lm317|"
        r"charge[\s-]?pump|电荷泵",
        msg("The built-in designer cannot design a linear regulator or charge pump yet."),
    ),
    (
        r"multiple[\s-]?feedback|(?<![a-z])mfb(?![a-z])|多重反馈|多路(?:负)?反馈|无限增益",
        msg("The built-in designer cannot design a multiple-feedback filter yet."),
    ),
    (
        r"state[\s-]?variable|状态变量|bi[\s-]?quad|双二阶|双2阶|"
        r"(?<![a-z])khn(?![a-z])|tow[\s-]?thomas|twin[\s-]?t(?![a-z])|"
        r"双\s?t(?![a-z])|"
        r"gyrator|回转器|switched[\s-]?capacitor|开关电容|"
        r"(?<![a-z])gm-?c(?![a-z])|inverting (?:active )?(?:low|high|"
        r"filter)|反相",
        msg(
            "The built-in designer cannot design a state-variable, biquad, switched-capacitor or "
            "inverting filter yet."
        ),
    ),
    (
        r"ellipt|cauer|椭圆|考尔|inverse[\s-]?cheb|"
        r"cheb\w*[\s-]?(?:type[\s-]?)?(?:ii|2)(?![a-z\d])|反切比雪夫|"
        r"切比雪夫\s?(?:ii|2|二)\s?型|"
        r"legendre|勒让德|gaussian|高斯|linkwitz|papoulis",
        msg(
            "The built-in designer cannot design an elliptic, inverse Chebyshev, Legendre, Gaussian "
            "or Linkwitz-Riley response yet."
        ),
    ),
    (
        r"(?<![a-z])r?-?l-?c(?![a-z]).{0,20}(?:filter|滤波|low|high|pass|低通|高通|ladder|梯形)|"
        r"(?:low|high)[\s-]?pass\s*\(?(?:r?-?lc)(?![a-z])|ladder|梯形|"
        r"(?<![a-z])(?:pi|π|t)[\s-]?(?:section|network|型)|crystal|晶体|"
        r"晶振|"
        r"(?<![a-z])saw\s?(?:filter|滤波)|声表|microstrip|微带",
        msg("The built-in designer cannot design an LC, RLC, ladder or crystal filter yet."),
    ),
    (
        r"(?<![a-z])[fi]ir(?![a-z])|digital filter|数字滤波|dsp",
        msg("The built-in designer cannot design a digital filter yet."),
    ),
    (
        r"oscillat|振荡|震荡|colpitts|hartley|wien|(?<![a-z])pll(?![a-z])|"
        r"锁相|(?<![a-z])vco(?![a-z])|phase[\s-]?lock|(?:ne|lm)\s?555|"
        r"555\s?(?:timer|定时|电路|芯片|振荡|oscil|astable)|"
        r"loop filter|环路滤波",
        msg("The built-in designer cannot design an oscillator or phase-locked loop yet."),
    ),
    (
        r"common[\s-](?:emitter|source|base|gate|collector|drain)|"
        r"共(?:射|源|基|栅|集|漏)|instrumentation|仪表放大|仪用|"
        r"difference amplifier|"
        r"差分放大|power amplifier|功率放大|功放|audio amplifier|"
        r"trans[\s-]?impedance|跨阻|comparator|比较器|schmitt|施密特|"
        r"integrator|积分(?:器|电路)|differentiator|微分(?:器|电路)|mixer|混频|"
        r"(?<!运算)(?<!运)放大器|(?<!operational )(?<!op )(?<!op-)amplifier",
        msg("The built-in designer cannot design an amplifier, comparator, integrator or mixer yet."),
    ),
    (
        r"(?<![a-z])mains(?![a-z])|市电|阻容降压|(?:220|110|230|120|380|"
        r"240)\s?v\s?ac|ac\s?(?:220|110|230|120|240)|交流|变压器|"
        r"(?<!dc )(?<!dc-)transformer|"
        r"(?<!同步)(?<!二极管)(?<!肖特基)(?<!非同步)整流(?!管|二极管)|ac[\s/-]dc",
        msg("The built-in designer cannot design a mains or AC supply yet."),
    ),
    (
        r"constant[\s-]current|恒流|led driver|led\s?驱动|(?<!usb )(?<!car )charger|充电",
        msg("The built-in designer cannot design a current source, LED driver or charger yet."),
    ),
    (
        r"multi[\s-]?phase|多相|(?:two|dual|multiple|双路|两路|多路)\s*outputs?|双路输出|两路输出|多路输出",
        msg("The built-in designer cannot design a multi-phase or multi-output converter yet."),
    ),
)


LONGEST_REQUEST = 2000
"""Characters. A sentence states a circuit in far fewer; the patterns' cost grows faster than the length."""


def understand(text: str) -> DesignIntent:
    """Family, requirement and goals of a request. Raises CircuitError (see `Designer.understand`)."""
    if len(text) > LONGEST_REQUEST:
        raise _unknown(
            msg(
                "The request has {count} characters; the built-in designer reads at most {most}.",
                count=len(text),
                most=LONGEST_REQUEST,
            ),
            "en",
        )
    sentence = read_sentence(text)
    family, claim = choose_family(sentence)
    intent = family.understand(sentence, claim)
    return replace(intent, goals=with_words(intent.goals, sentence))


def choose_family(sentence: Sentence) -> tuple[CircuitFamily, Claim]:
    """The family that claims a sentence. Raises CircuitError ("unknown_circuit") naming what is known."""
    for pattern, refusal in _NOT_KNOWN:
        if _says(sentence, pattern):
            raise _unknown(refusal, sentence.language)
    if sentence.has(LETS_LOWS_THROUGH) and sentence.has(LETS_HIGHS_THROUGH):
        raise _unknown(
            msg("The request names a low-pass and a high-pass: only one filter is designed at a time."),
            sentence.language,
        )
    claims = sorted(
        ((family.claim(sentence), family) for family in FAMILIES.values()), key=lambda pair: -pair[0].score
    )
    best, family = claims[0]
    if best.score <= 0:
        raise _unclaimed(sentence)
    if len(claims) > 1 and claims[1][0].score == best.score:
        raise _unknown(
            msg("The request names more than one circuit: ask for one at a time."), sentence.language
        )
    return family, best


def _says(sentence: Sentence, pattern: str) -> bool:
    """Whether a circuit is named, and not only to rule it out ("no op amp", "不要带通")."""
    return any(
        not re.search(_NEGATION, sentence.text[: match.start()], re.IGNORECASE)
        for match in re.finditer(pattern, sentence.text, re.IGNORECASE)
    )


def _unclaimed(sentence: Sentence) -> CircuitError:
    order = order_of(sentence)
    if sentence.has(FILTER_WORDS) and order is not None and order > 1:
        return _unknown(
            msg(
                "A passive filter of order {order} is not known; of that order only active Sallen-Key "
                "filters are.",
                order=order,
            ),
            sentence.language,
        )
    return _unknown(
        msg("The request does not name a circuit the built-in designer knows."), sentence.language
    )


def _unknown(message: Message, language: str) -> CircuitError:
    examples = " | ".join(family.examples[language] for family in FAMILIES.values())
    return CircuitError(
        message,
        advice=msg(
            "It designs: first-order RC or RL low-pass and high-pass filters; Sallen-Key low-pass "
            "and high-pass filters of "
            "order 1 to 10 (Butterworth, Chebyshev, Bessel); buck converters. For example: "
            "{examples}. Other circuits need a language model: choose one below the message box of the "
            "window, or on the command line by `chat` and `providers`.",
            examples=examples,
        ),
        error_type="unknown_circuit",
    )
