"""Comparisons of an answer that its own figures or the results prove wrong: "98 kHz, below 90 kHz".

Read are comparisons with a figure behind them ("exceeds 20 mV", "低于 90 kHz") and changes in percent.
Left of them stands a figure of the same unit, or the name of a quantity whose values results give. What is
wished, asked or supposed is no claim. Sentences that are not understood are left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, pairwise

from domain.circuit.figures_in_text import TextFigure, figures_in, plain, without_code
from domain.circuit.said_figures import ROUGHLY, SIGHT, is_rounding, is_thought, sentence_before
from domain.llm.agentic_loop.changes import NOT, turned_pairs
from domain.llm.agentic_loop.claims import told_of_before
from domain.llm.agentic_loop.conditions import Measured
from domain.llm.agentic_loop.facts_by_row import wrong_rows
from domain.llm.agentic_loop.facts_in_words import wrong_words
from domain.llm.agentic_loop.formulas import reckoned
from domain.llm.agentic_loop.pairs import wrong_sizes
from domain.llm.agentic_loop.part_values import wrong_ways
from domain.llm.agentic_loop.quantities import (
    QUANTITIES,
    named_figures,
    named_quantity,
    spreads_of,
)
from domain.llm.agentic_loop.verdicts import wrong_verdicts
from shared.late_patterns import late_pattern

_MOST_READ = 8_000
_MOST_FIGURES = 120
_MOST_RESULTS = 100_000
_LONGEST = 90
_MOST_VALUES = 40
_OFF_FACTOR = 0.15
_NEAR = 32
_EQUAL = 2e-3
"""Values nearer to each other than this (a share) are neither above nor below."""

_COMPARES = late_pattern(
    r"(?P<not>\bnot |n['’]t |\bnever |\bno |不|未|没有?|并非|[不未没]有?(?:满足|达到"
    r"|符合)[\s*]*)?\s?(?:(?P<above>\b(?:above|over"
    r"|exceed(?:s|ed|ing)?|beyond"
    r"|(?:more|greater|larger|higher|longer|faster) than)\b|>|超过|超出|高于|大于|多于|长于)"
    r"|(?P<below>\b(?:below|under|(?:less|smaller|lower|shorter) than)\b|<|低于|小于|少于|短于"
    r"|(?<![达得])不到"
    r"|不足))(?!=)"
    r"\s?(?:(?:the|its|your|a|an|of|limit|allowed|required|upper|lower|bound|target|goal|就|了|其|您|你"
    r"|要求|允许|规定|上限|下限|限值"
    r"|的|为|值|是)\s?){0,4}[(（]?$"
)
_SUPPOSES = late_pattern(
    r"\b(?:must|should|shall|has to|have to|needs?|requires?|required|would|could|may|might|if|unless"
    r"|until|can|cannot"
    r"|wants?|whether|to (?:be|stay|keep|get|bring|remain)|so that|goal is|limit is|asked)\b"
    r"|必须|应|需|要求|如果|若|希望|目标|为了|才能|可以|将|会|预计|是否|使|以便|要(?![求的])"
)
_EACH = late_pattern(
    r"\b(?:all|every|each|any|always|never|stays?|remains?|throughout)\b|\bat (?:most|worst)\b|都|均"
    r"|始终|所有|任何|每|最大|最坏|最多",
    re.IGNORECASE,
)
_CHANGES = late_pattern(
    r"(?:\b(?:(?P<up>rose|grew|increased|raised|higher)|fell|dropped|shrank|sank|decreased|lowered"
    r"|reduced|lower)"
    r"\b[^,.;]{0,24}?\bby (?:about |some |roughly |nearly )?"
    r"|(?:(?P<more>上升|提高|增加|增大)|下降|降低|减小|减少|缩短)(?:了|约|大约|近){0,2}\s?)$"
)
_CLAUSE_START = late_pattern(r"[;；。!?！？\n]|\.\s|, (?:but|while|so)\b")
_OF_CHANGE = late_pattern(
    r"(?:\b(?:chang\w+|var(?:y|ies|iation)|differ\w*|mov(?:es|ed)|shift\w*|drift\w*"
    r"|spread\w*) (?:is |are |by )?"
    r"|变化|变动|差别|相差|漂移|波动)(?:only |仅|只|都|均)*\s*$",
    re.IGNORECASE,
)
"""What is compared is how much something changes."""
_OF_MARGIN = late_pattern(
    r"\b(?:reserve|margin|headroom|spare|left|improve\w*)\b|裕量|余量|改善|提高|增加|减小|降低|变化|差",
    re.IGNORECASE,
)
"""What stands left of it is how far something is from something else, or what is compared is a change."""
_OF_GOAL = late_pattern(
    r"[(（]\s?(?:goal|target|limit|spec|required?|目标|要求|指标|上限|下限)\W{0,3}$", re.IGNORECASE
)
_MISSED = late_pattern(r"[✗✘❌×]|\bmiss\w*|\bfail\w*|未|不", re.IGNORECASE)
_SAME_THING = late_pattern(
    r",? ?\b(?:but|and|so) (?:it|this|that|they|which)\b|[,，]?(?:但|不过|却)(?:它|其)?仍?", re.IGNORECASE
)
"""What is told behind it is told of what was named last."""
_OF_OLD = late_pattern(
    r"[(（][^()（）]{0,40}(?:\b(?:was|were|before|from|earlier|previously|originally|initially)\b"
    r"|原|之?前|此前|从)[^()（）]{0,60}[)）]|,\s(?:down|up) from [^,;]{1,30}(?=,)",
    re.IGNORECASE,
)
"""An aside of what a figure was before: what follows goes on with what stands before it."""
_OVER = late_pattern(r"\bover\b")
_SAMPLES = late_pattern(r"\b(?:samples?|runs?|trials?|units?)\b|样本|样品|样机")


def contradictions(
    text: str,
    results: Sequence[str],
    earlier: Sequence[str] = (),
    words: Sequence[str] = (),
    conditions: Sequence[Measured] = (),
) -> tuple[str, ...]:
    """The comparisons of an answer that are wrong, as they are written; () for none. Linear in the text.

    `results` are those of the circuit as it is, the newest last; `earlier` those of before its last change;
    `words` are the user's, which may set limits that no goal of the program has; `conditions` are both with
    what stood in the circuit.
    """
    flat = plain(without_code(text[:_MOST_READ]))
    figures = list(islice(figures_in(flat), _MOST_FIGURES))
    measured = list(_measured(results))  # the newest first
    ever = [*measured, *_measured(earlier)]
    found: dict[str, None] = {}
    for place, figure in enumerate(figures):
        before = sentence_before(flat, figure.start)
        if (changes := _CHANGES.search(before.lower())) is not None:
            said = _clause_of(before, changes)
            if not (_SUPPOSES.search(said.lower()) or is_thought(said, "")) and _is_no_change(
                ever, f"{said}{changes[0]}", figure, has_risen=bool(changes["up"] or changes["more"])
            ):
                found[f"{said}{flat[figure.start - len(changes[0]) : figure.end]}".strip()[-_LONGEST:]] = None
            continue
        compares = _COMPARES.search(before[-SIGHT:].lower())
        if compares is None:
            continue
        said = _clause_of(before, compares)
        if _OVER.search(compares[0]) and _BETWEEN.match(flat, figure.end):
            continue  # "over 3-4.2 V"
        own = re.split(r"[,，:：]", said)[-1]
        if _SUPPOSES.search((own if named_quantity(own) is not None else said).lower()) or is_thought(
            said, ""
        ):
            continue
        behind = _CLAUSE_START.split(flat[figure.end :][:SIGHT])[0]
        is_above = (compares["above"] is not None) != bool(compares["not"])
        before_it = _one_compared(figures[:place], flat, figure)
        if not (
            _is_wrong_to(before_it, flat, figure, is_above=is_above)
            or _is_wrong_by(
                measured, said, figure, is_above=is_above, is_of_each=_EACH.search(own + behind) is not None
            )
        ):
            continue
        clause = f"{said}{flat[figure.start - len(compares[0]) : figure.end]}".strip()
        found[clause[-_LONGEST:]] = None
    told = (
        *wrong_words(flat, results, earlier),
        *wrong_rows(flat, results, earlier, conditions),
        *_wrong_factors(flat),
        *(clause.strip()[-_LONGEST:] for clause in turned_pairs(flat, figures)),
        *(clause[-_LONGEST:] for clause in wrong_sizes(flat, figures)),
        *(clause[-_LONGEST:] for clause in _wrong_targets(flat, figures, words)),
        *(clause[-_LONGEST:] for clause in _wrong_sides(flat, figures, words)),
        *(clause[-_LONGEST:] for clause in _wrong_within(flat, figures)),
        *(clause[-_LONGEST:] for clause in _wrong_offs(flat, figures)),
        *(clause[-_LONGEST:] for clause in _wrong_against(flat, figures)),
        *(clause[-_LONGEST:] for clause in _outside_asked(flat, figures, words)),
        *(clause[-_LONGEST:] for clause in _wrong_times(flat, figures, words)),
        *(flat[each.start : each.end] for each in reckoned(flat, figures) if not each.is_right),
        *(clause[-_LONGEST:] for clause in _wrong_ranges(flat, figures, results)),
        *(clause[-_LONGEST:] for clause in wrong_ways(flat, (*earlier, *results))),
        *(clause.strip()[-_LONGEST:] for clause in wrong_verdicts(flat, results, earlier, words)),
    )
    if told and earlier and (end := told_of_before(flat)):
        # What comes before the change may be of the state before.
        passage = flat[:end]
        of_old = (*wrong_words(passage, earlier), *wrong_rows(passage, earlier))
        told = tuple(each for each in told if each not in passage or each in of_old)
    return tuple(dict.fromkeys((*found, *told)))


_FACTOR = late_pattern(r"\bfactor of (?P<factor>\d+(?:\.\d+)?)\b(?P<rest>[^.;\n]{0,8}\([^()\n]{3,40}\))")


def _wrong_factors(flat: str) -> Iterator[str]:
    """ "a factor of 2.6 (44.7 ps to 69.9 ps)"."""
    for each in _FACTOR.finditer(flat):
        pair = list(figures_in(each["rest"]))
        if len(pair) == 2 and pair[0].unit == pair[1].unit and pair[0].value and pair[1].value:
            ratio = max(pair[0].value / pair[1].value, pair[1].value / pair[0].value)
            if abs(ratio - (factor := float(each["factor"]))) > _OFF_FACTOR * factor:
                yield each[0]


_REACHES = late_pattern(
    r"(?:达到|\b(?:reach(?:es|ed)?|hits?|achiev(?:es|ed))\b|(?P<meets>满足|符合|\b(?:meets?|met"
    r"|satisf(?:ies|ied))\b))"
    r"[^\d,，。;；\n]{0,20}$",
    re.IGNORECASE,
)
_OFF_TARGET = 0.08
_WITHIN = late_pattern(r"\s?±\s?(?P<share>\d+(?:\.\d+)?) ?%")
_TO_TARGET = late_pattern(
    r"比(?:目标|要求|设计|标称)[^,，。;；\d]{0,3}(?:偏?(?:(?P<below>低|小)|高|大))"
    r"|\b(?:(?P<under>below|under|lower than|short of)|above|over|higher than) (?:the "
    r"|your )?(?P<one>[\d.]+ ?\w{1,4} )?"
    r"(?:target|nominal)\b(?! \w* ?of)",
    re.IGNORECASE,
)


_WITHIN_OF = late_pattern(
    r"\bwithin (?:±|the )?\s?(?P<share>\d+(?:\.\d+)?) ?% (?:of|around) (?:the )?(?:\w+ )?"
    r"|(?P<zh>在|满足|符合|仍?处于)\s?$",
    re.IGNORECASE,
)
_AND_SO = late_pattern(r"[,，]\s?(?:因此|所以)?(?:就|也|仍|都|均)?已经?(?:满足|符合)")
_TIMES = late_pattern(
    r"(?:要求|目标|规定|指标)值?的\s?(?P<zh>\d+(?:\.\d*)?|两|三|四|五)\s?倍"
    r"|\b(?P<en>twice|(?:\d+(?:\.\d*)?|two|three|four|five)(?= times\b))(?: times)? (?:of )?"
    r"(?:the |your |what )?"
    r"(?:requirement|required\b|goal|target|limit|minimum|you asked)",
    re.IGNORECASE,
)
_COUNTS = {
    "两": 2.0,
    "三": 3.0,
    "四": 4.0,
    "五": 5.0,
    "twice": 2.0,
    "two": 2.0,
    "three": 3.0,
    "four": 4.0,
    "five": 5.0,
}
_OFF_TIMES = 0.2


def _wrong_times(flat: str, figures: Sequence[TextFigure], words: Sequence[str]) -> Iterator[str]:
    """Where a figure is told to be so many times what was asked, and is not: "three times the goal"."""
    for told in _TIMES.finditer(flat):
        said = (told["zh"] or told["en"]).lower()
        times = _COUNTS.get(said) or float(said)
        before = [each for each in figures if each.end <= told.start() and each.unit not in ("%", "1")]
        if not before or _CLAUSE_START.search(flat[before[-1].end : told.start()]):
            continue
        asked = {
            each.value
            for text in words[-3:]
            for each in figures_in(plain(text))
            if each.unit == before[-1].unit
        }
        if asked and not any(
            abs(before[-1].value / each / times - 1) <= _OFF_TIMES for each in asked if each * times
        ):
            yield flat[before[-1].start : told.end()]


_SHARE_BEHIND = late_pattern(r"\s?(?:的\s?)?±\s?(?P<share>\d+(?:\.\d+)?) ?%")


def _wrong_within(flat: str, figures: Sequence[TextFigure]) -> Iterator[str]:
    """Where a figure is told to be nearer to another than it is.

    "10.6 kHz is within ±3 % of 10 kHz", "within 5.1 V ±5 %, at most 5.365 V".
    """
    same = [each for each in figures if each.unit != "%"]
    for one, aim in (*pairwise(same), *((other, one) for one, other in pairwise(same))):
        first, second = min(one, aim, key=_start_of), max(one, aim, key=_start_of)
        between = flat[first.end : second.start]
        before = flat[max(0, aim.start - SIGHT) : aim.start]
        told = _WITHIN_OF.search(between if first is one else before)
        if one.unit != aim.unit or told is None or _CLAUSE_START.search(between) or not aim.value:
            continue
        if first is one and re.search(r"[,，)）]", between[: told.start()]) and not _AND_SO.match(between):
            continue  # of something else
        if first is aim and not _EXTREME.search(between):
            continue
        share = _SHARE_BEHIND.match(flat, aim.end) if told["zh"] else told
        if share is None or NOT.search(between) or _SUPPOSES.search(between.lower()):
            continue
        if abs(one.value / aim.value - 1) > float(share["share"]) / 100 + one.step / 2 / aim.value:
            yield flat[first.start : second.end]


_KEPT_WITHIN = late_pattern(
    r"\b(?:within|inside|meets?|met)\b[^.;\n]{0,30}?±\s?(?P<en>\d+(?:\.\d+)?) ?%"
    r"|±\s?(?P<zh>\d+(?:\.\d+)?) ?%[^。；;\n]{0,3}(?:以内|之内|范围内)"
    r"|(?:满足|符合)[^。；;\n]{0,12}?±\s?(?P<met>\d+(?:\.\d+)?) ?%",
    re.IGNORECASE,
)
_IS_PLACE = late_pattern(r"(?:\b(?:at|with|for)|@|在|当)\s?-?$", re.IGNORECASE)
"""What follows is where something was measured."""
_UNDER = late_pattern(r"\b(?:with|for)\s?-?$", re.IGNORECASE)
_PARTLY = late_pattern(
    r"\b(?:only|just|most|but|except|almost|barely)\b|只有|仅|大部分|大多|部分|但", re.IGNORECASE
)
_OF_KIND = 0.5
"""Figures so far from another are of something else."""


def _outside_asked(flat: str, figures: Sequence[TextFigure], words: Sequence[str]) -> Iterator[str]:
    """Where figures are told to be as near as was asked, and are not: "within ±1 %: 1.24 V to 1.28 V"."""
    aims: dict[float, TextFigure] = {}
    for text in map(plain, words[-3:]):
        for aim, share in pairwise(figures_in(text)):
            if share.unit == "%" and share.text.startswith("±") and aim.unit != "%":
                aims[share.value] = aim
    for told in _KEPT_WITHIN.finditer(flat):
        allowed = float(told["en"] or told["zh"] or told["met"])
        own, said = aims.get(allowed), f"{sentence_before(flat, told.start())}{told[0]}"
        if own is None or NOT.search(said) or _SUPPOSES.search(said.lower()) or _PARTLY.search(said):
            continue
        begin = told.start() - len(sentence_before(flat, told.start()))
        end = told.end() + len(re.split(r"[。！!\n]|\.(?=\s|$)", flat[told.end() :])[0])
        for each in figures:
            off = abs(each.value / own.value - 1)
            is_behind = told.end() <= each.start < end
            is_before = begin <= each.start < told.start() and _EACH.search(said) is not None
            is_beside = (is_behind or is_before) and each.unit == own.unit
            is_beside = is_beside and not _IS_PLACE.search(flat[: each.start][-_NEAR:])
            if is_beside and allowed / 100 + each.step / 2 / own.value < off < _OF_KIND:
                yield flat[min(told.start(), each.start) : max(told.end(), each.end)]
                break


_THEN_SHARE = late_pattern(
    r"[\s,(]*(?:which is|that is|i\.e\.|is|or|only|just|about|still|and thus|\s)*", re.IGNORECASE
)
_OFF_FROM = late_pattern(
    r"\s?(?:below|above|under|over|(?:lower|higher|less|more) than|short of|off|(?:away )?from)\s?"
    r"(?:the |your )?",
    re.IGNORECASE,
)
_AGAINST = late_pattern(r"[\s,(]*[比较]\s?")
_BY = late_pattern(r"\s?[低高大小慢快多少](?:[了约出]|大约)*\s?")


def _wrong_offs(flat: str, figures: Sequence[TextFigure]) -> Iterator[str]:
    """Where the percentage between two figures that are told is another: "0.995 ms, 4.5 % below 1 ms"."""
    for one, second, third in zip(figures, figures[1:], figures[2:], strict=False):
        first, last = flat[one.end : second.start], flat[second.end : third.start]
        if second.unit == "%" and _THEN_SHARE.fullmatch(first) and _OFF_FROM.fullmatch(last):
            share, aim = second, third
        elif third.unit == "%" and _AGAINST.fullmatch(first) and _BY.fullmatch(last):
            share, aim = third, second
        else:
            continue
        if one.unit != aim.unit or one.unit in ("%", "dB") or not aim.value:
            continue
        off = 100 * abs(one.value / aim.value - 1)
        slack = share.step / 2 + 50 * (one.step + (aim.step if aim.digits > 2 else 0.0)) / aim.value
        if abs(off - share.value) > slack and not is_rounding(share, off, is_rough=True):
            yield flat[one.start : third.end]


_LOWER = late_pattern(r"\s?(?:还|要|略|稍)?(?:(?P<less>低|小|少|短)|[高大多长])")


def _wrong_against(flat: str, figures: Sequence[TextFigure]) -> Iterator[str]:
    """ "10.251 dB, 比 10.2 dB 低"."""
    for one, other in pairwise(figures):
        told = _LOWER.match(flat, other.end)
        if told is None or one.unit != other.unit or not _AGAINST.fullmatch(flat, one.end, other.start):
            continue
        if _is_on_wrong_side(one.value, other.value, is_above=told["less"] is None):
            yield flat[one.start : told.end()]


def _start_of(figure: TextFigure) -> int:
    return figure.start


_EXTREME = late_pattern(
    r"(?:最[高大低小]值?|\b(?:at most|at least|up to|maximum|minimum|highest|lowest|max|min|peaks? at))"
    r"\W{0,3}(?:只?[有为是])?\W?$",
    re.IGNORECASE,
)


def _wrong_sides(flat: str, figures: Sequence[TextFigure], words: Sequence[str]) -> Iterator[str]:
    """Where a figure is told to be above the one target of its unit and is below, or the other way round."""
    asked = [figure for text in map(plain, words[-3:]) for figure in figures_in(text) if figure.unit != "%"]
    for told in _TO_TARGET.finditer(flat):
        before = [each for each in figures if each.end <= told.start() and each.unit not in ("%", "1")]
        if not before or _CLAUSE_START.search(flat[before[-1].end : told.start()]) or NOT.search(told[0]):
            continue
        if told["one"] is None:
            targets = {each.value for each in asked if each.unit == before[-1].unit}
        else:
            targets = {each.value for each in figures_in(told["one"]) if each.unit == before[-1].unit}
        if len(targets) == 1 and _is_on_wrong_side(
            before[-1].value, targets.pop(), is_above=not (told["below"] or told["under"])
        ):
            yield flat[before[-1].start : told.end()]


def _wrong_targets(flat: str, figures: Sequence[TextFigure], words: Sequence[str]) -> Iterator[str]:
    """Where a figure is told to reach one that was asked for, and is well off it: "16.7 mA, meets 20 mA"."""
    asked = [
        (figure, text[: figure.start][-24:].lower(), text[figure.end :][:12])
        for text in map(plain, words[-3:])
        for figure in figures_in(text)
    ]
    for one, target in pairwise(figures):
        if one.unit != target.unit or one.unit == "dB" or not target.value:
            continue
        before = sentence_before(flat, target.start)
        said = before[-(target.start - one.end) :] if one.end < target.start else ""
        reaches = _REACHES.search(said)
        if (
            reaches is None
            or len(said) > SIGHT
            or _CLAUSE_START.search(said)
            or re.search(r"[)）]", said)  # the one stands in an aside
            or NOT.search(said)
            or _SUPPOSES.search(said[: reaches.start()].lower())
        ):
            continue
        for wish, lead, behind in asked:
            if wish.unit != target.unit or not is_rounding(target, wish.value, is_rough=False):
                continue
            off = one.value / target.value - 1
            if (limit := next(reversed([*_LIMIT.finditer(lead)]), None)) is not None:
                if _is_on_wrong_side(one.value, target.value, is_above=not limit["most"]):
                    yield flat[one.start : target.end]
                break
            is_about = ROUGHLY.search(lead) is not None or "左右" in behind[:4]
            if (within := _WITHIN.match(behind)) is not None:
                if abs(off) > float(within["share"]) / 100 + one.step / 2 / target.value:
                    yield flat[one.start : target.end]
                break
            is_short = off < -_OFF_TARGET and (is_about or not reaches["meets"])
            if is_short or (is_about and off > _OFF_TARGET):
                yield flat[one.start : target.end]
            break


_BETWEEN = late_pattern(r"\s?(?:-|~|至|到|和|与|\bto\b|\band\b|\.\.\.?|…)\s?")
_SUBRANGE = late_pattern(r"[^.;\n]{0,24}\b(?:from|between|for|over) -?\d[^.;\n]{0,12}(?:to|and|-|~)\s?-?\d")
"""The course is told of a part of what was varied."""
_IS_OFF = late_pattern(r"(?:[低高差偏多少]|\bby|\boff)\s?(?:about |约)?$", re.IGNORECASE)
"""What follows is how far something is off."""
_LIKELY = late_pattern(
    r"\brss\b|\bsigma\b|\bstatistic\w*|\btypical\w*|[σ𝜎]|均方根|统计|方和根", re.IGNORECASE
)
"""It is told of no end."""
_OUTSIDE = late_pattern(
    r"\b(?:outside|beyond|out of|except|but|most|nearly|almost|some|only)\b|\d of (?:the )?\d"
    r"|只|仅|超出|之外|以外|大多|大部分|几乎|不"
    r"|未|没",
    re.IGNORECASE,
)


def _wrong_ranges(flat: str, figures: Sequence[TextFigure], results: Sequence[str]) -> Iterator[str]:
    """Where all of a study is said to lie in a range, and does not: "all runs within 970 to 1030 Hz"."""
    studied = next(
        (found for each in reversed(results) if (found := spreads_of(plain(each[:_MOST_READ])))), {}
    )
    for one, other in pairwise(figures):
        if (
            one.unit != other.unit
            or other.value <= one.value
            or not _BETWEEN.fullmatch(flat[one.end : other.start])
        ):
            continue
        ends = [values for unit, values in studied.values() if unit == one.unit]
        before = sentence_before(flat, one.start)
        if _IS_OFF.search(before.rstrip("约 ")) or _SUBRANGE.match(flat, other.end):
            continue
        sentence = f"{before}{_CLAUSE_START.split(flat[other.end : other.end + SIGHT])[0]}"
        if (
            len(ends) != 1
            or not _EACH.search(sentence)
            or _OUTSIDE.search(sentence)
            or _LIKELY.search(sentence)
            or NOT.search(sentence)
            or _SUPPOSES.search(sentence.lower())
        ):
            continue
        low, high = one.step / 2 + _EQUAL * one.value, other.step / 2 + _EQUAL * other.value
        if min(ends[0]) < one.value - low or max(ends[0]) > other.value + high:
            yield flat[one.start : other.end]


_LIMIT = late_pattern(
    r"(?P<least>(?:不[要得能可应]|别|勿)\s?(?:再)?(?:低于|小于|少于)|\b(?:not|never) (?:\w+ )?(?:below"
    r"|under|less than))"
    r"|(?P<most>(?:不[要得能可应]|别|勿)\s?(?:再)?(?:超过|超出|高于|大于)|\b(?:not"
    r"|never) (?:\w+ )?(?:above|over|more than)"
    r"|\b(?:at most|no more than|below|under|less than|max(?:imum)?|within|up to"
    r"|not exceed(?:ing)?)\b|<=?|≤|不超过|小于|低于"
    r"|以内|不大于|最多|至多)"
    r"|(?P<no_less>\b(?:at least|above|over|more than|min(?:imum)?|no less than|greater than)\b|>=?|≥"
    r"|至少|大于|高于|不低于|不小于|以上)"
)


def _clause_of(before: str, end: re.Match[str]) -> str:
    """The words of a clause before what stands at its end."""
    start = max((each.end() for each in _CLAUSE_START.finditer(before[:-1])), default=0)
    return before[start : len(before) - len(end[0])].rstrip() + " "


def _of_named(
    measured: Sequence[Mapping[str, Sequence[tuple[str, float]]]], said: str, unit: str = ""
) -> Iterator[list[float]]:
    """The values of the one quantity that a clause names, by result, the newest first."""
    names = [own for own, words in QUANTITIES if re.search(words, said, re.IGNORECASE)]
    if not names and unit and _SAMPLES.search(said):  # those of a study that measured one thing
        studied = {name for name, given in next(iter(measured), {}).items() if len(given) > 1}
        names = [re.escape(name) for name in studied]
    if len(names) != 1:
        return
    for values in measured:
        those = [
            value
            for name, given in values.items()
            if re.fullmatch(names[0], name)
            for own, value in given
            if own == unit or (not unit and own != "dB")
        ]
        if those:
            yield those


def _is_no_change(
    measured: Sequence[Mapping[str, Sequence[tuple[str, float]]]],
    said: str,
    figure: TextFigure,
    *,
    has_risen: bool,
) -> bool:
    """Whether a change is that of no two values of the quantity that the clause names."""
    if figure.unit != "%":
        given = sorted({v for those in _of_named(measured, said, figure.unit) for v in those})[:_MOST_VALUES]
        sizes = [high - low for place, low in enumerate(given) for high in given[place + 1 :]]
        return any(size > _EQUAL * figure.value for size in sizes) and not any(
            is_rounding(figure, size, is_rough=True) or abs(figure.value - size) <= figure.step
            for size in sizes
        )
    values = sorted({abs(value) for those in _of_named(measured, said) for value in those if value})[
        :_MOST_VALUES
    ]
    shares = [
        100 * (high / low - 1 if has_risen else 1 - low / high)
        for place, low in enumerate(values)
        for high in values[place + 1 :]
    ]
    return any(share > 1 for share in shares) and not any(
        is_rounding(figure, share, is_rough=True) for share in shares
    )


def _one_compared(before: Sequence[TextFigure], flat: str, other: TextFigure) -> TextFigure | None:
    """The figure that another is compared with: the last one before it that is not what it was before."""
    begin = max(0, other.start - 2 * SIGHT)
    asides = [each.span() for each in _OF_OLD.finditer(flat, begin, other.start)]
    return next(
        (each for each in reversed(before) if not any(low <= each.start < high for low, high in asides)), None
    )


def _is_wrong_to(  # noqa: PLR0911
    one: TextFigure | None, flat: str, other: TextFigure, *, is_above: bool
) -> bool:
    """Whether the figure right before it in its clause is told to be on the wrong side of another."""
    if one is None or one.unit != other.unit:
        return False
    between = _SAME_THING.sub(" ", _OF_OLD.sub(" ", flat[one.end : other.start]))
    if _CLAUSE_START.search(between) or len(between) > SIGHT:
        return False
    compares = _COMPARES.search(between.lower())
    if compares is None:
        return False
    lead = between[: compares.start()].strip()
    is_place = len(lead.split()) > 2 and _UNDER.search(flat[: one.start][-_NEAR:])
    if is_place or _OF_MARGIN.search(lead):
        return False  # "with 5 V on the gate the drop stays below 50 mV"
    # "76 mV (goal < 60 mV)" tells what is asked, "19 us above 200 us" a difference
    is_adverb = not re.search(r"exceed|超过|超出|不足", compares[0].lower())
    is_told_missed = lead.endswith("(") and _MISSED.search(lead) is not None  # "92 mV ✗ (< 50 mV)"
    if (
        is_told_missed
        or _OF_GOAL.search(lead)
        or (is_adverb and not lead and between[:1] == " " and compares[0].isascii())
    ):
        return False
    if re.search(
        r"(?:\bby|高出?|低|超出|多|少|(?<![压温误偏])差)\s?(?:about |some |约)?$",
        flat[max(0, one.start - 14) : one.start],
    ):
        return False
    return _is_on_wrong_side(one.value, other.value, is_above=is_above)


def _is_wrong_by(
    measured: Sequence[Mapping[str, Sequence[tuple[str, float]]]],
    said: str,
    figure: TextFigure,
    *,
    is_above: bool,
    is_of_each: bool,
) -> bool:
    """Whether a quantity that the clause names has a value on the other side of the figure."""
    if _OF_CHANGE.search(said):
        return False
    stated = list(figures_in(said))
    newest = next(_of_named(measured, said, figure.unit), None)
    if newest is None or any(each.unit == figure.unit for each in stated):
        return False
    wrong = [
        _is_on_wrong_side(abs(value), figure.value, is_above=is_above)
        and not is_rounding(figure, abs(value), is_rough=bool(ROUGHLY.search(said.rstrip("+-± ").lower())))
        for value in newest
    ]
    return any(wrong) if (is_of_each or _EACH.search(said)) and not stated else all(wrong)


def _is_on_wrong_side(value: float, bound: float, *, is_above: bool) -> bool:
    slack = _EQUAL * abs(bound)
    return value < bound - slack if is_above else value > bound + slack


def _measured(results: Sequence[str]) -> Iterator[Mapping[str, Sequence[tuple[str, float]]]]:
    """The values by name in each result, with their units ("" where none is told)."""
    room = _MOST_RESULTS
    for text in reversed(results):
        if room <= 0:
            return
        found = named_figures(plain(text[:room]))
        room -= len(text)
        if found:
            yield found
