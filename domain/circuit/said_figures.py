"""What a text says of a figure: measured, or proposed, predicted, computed; and whether it rounds a value.

English and Chinese words are read; what they do not tell is taken as said.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from domain.circuit.figures_in_text import TextFigure, figures_in
from shared.late_patterns import late_pattern

SIGHT = 80
"""How far before a figure the words are read that belong to it."""
_SENTENCE_ENDS = late_pattern(
    r"[!?。！？;；\n]|(?<!i\.e)(?<!e\.g)(?<!vs)(?<!typ)(?<!approx)\.(?=\s|$)|\s[-•]\s(?![\d.])"
)
_COARSEST = 0.03
"""A rounding may be this far off (a share); "about" lets it be `_ABOUT`."""
_ABOUT = 0.06
_ABOUT_LOGARITHMIC = 2.0
"""The same in dB, degrees and per cent, where a share of a large value would be too much."""
_LOGARITHMIC = ("dB", "deg", "degC", "%")
_TABLE_DIGITS = 5e-5
"""A model has read figures that were rounded already."""
ROUGHLY = late_pattern(
    r"(?:\babout|\baround|\broughly|\bnearly|\balmost|\bapprox\w*\.?|\bsome|~|≈|约为?|大约|大概|近似?"
    r"|接近|差不多|将近)\s*$"
)


ABOVE = late_pattern(
    r"(?:\bmore than|\bover|\babove|\bat least|\bexceed\w*|\bgreater than|\blarger than|\bhigher than|>=?|≥"
    r"|超过|超出|高于|大于|多于|不低于|至少)\s*(?:the |its |your |a )?(?:limit of |allowed |required )?$"
)
BELOW = late_pattern(
    r"(?:\bless than|\bunder|\bbelow|\bat most|\blower than|\bsmaller than|\bwithin|<=?|≤"
    r"|低于|小于|不到|不足|少于|至多|不超过)\s*(?:the |its |your |a )?(?:limit of |allowed |required )?$"
)
"""Right before a figure: it is a bound."""


def is_worked_out(before: str) -> bool:
    """Whether a figure stands behind a formula: "5.61 V / 150 = "."""
    return _CALCULATION.search(before[-SIGHT:]) is not None


def is_bound(before: str) -> bool:
    """Whether words right before a figure make it a bound."""
    near = before[-SIGHT:].lower()
    return ABOVE.search(near) is not None or BELOW.search(near) is not None


def is_rounding(figure: TextFigure, value: float, *, is_rough: bool) -> bool:
    """Whether a figure is a value rounded, or cut off, to the digits it was written with."""
    off = abs(figure.value - value)
    slack = _TABLE_DIGITS * value
    if off <= slack:
        return True
    coarsest = 0.5 if figure.unit in _LOGARITHMIC else (_COARSEST if figure.digits > 1 else 0.16) * value
    nearest = min(figure.step / 2 * (1 + 1e-9), coarsest)
    if is_rough:
        about = _ABOUT * value
        nearest = max(nearest, min(about, _ABOUT_LOGARITHMIC) if figure.unit in _LOGARITHMIC else about)
    is_cut = figure.digits >= 3 and figure.value < value and off < 0.999 * figure.step
    return off <= nearest + slack or (is_cut and off <= 0.01 * value)


# --- what says nothing that was measured ----------------------------------------------------------------

_HALF_POWER = late_pattern(r"^[\s-]*(?:point|band|corner|cut|freq|点|带宽|截止|频率|转折|处|衰减点)")
_ANGLES = late_pattern(r"shift|lag|lead|cross|per pole|相移|滞后|超前|反相|穿越|每个极点")
_EACH_BY = late_pattern(r"(?:每个?|每变化|\beach|\bevery|\bper)\s?[±+-]?\s?$")
_EDGES = late_pattern(r"rise|fall|edge|settl|delay|duty|上升|下降|边沿|建立|延迟|占空")
_NETWORKS = late_pattern(r"phase[- ]shift|wien|移相|文氏")
_THERMAL = late_pattern(r"\bvt\b|v_t|\bic\b|\bkt\b|thermal|\bgm\b|热电压|跨导")
_CLAUSES = late_pattern(r"[,;:，；：。、]")
_OF_PARTS = late_pattern(
    r"toleranc|resistor|capacitor|inductor|parts|series|spread|公差|精度|容差|误差|电阻|电容|电感|器件"
    r"|元件|系列|离散"
)


def is_convention(figure: TextFigure, before: str, after: str) -> bool:  # noqa: PLR0911
    """The figures of the trade: the −3 dB point, 180° of phase, 1 % parts."""
    near = f"{before[-24:]} {after[:24]}".lower()
    match figure.unit:
        case "dB":
            return round(figure.value, 2) in (3.0, 3.01) and (
                before.endswith("-") or figure.text.startswith("-") or bool(_HALF_POWER.match(after.lower()))
            )
        case "deg":
            return figure.value in (180.0, 360.0) or (figure.value % 45 == 0 and bool(_ANGLES.search(near)))
        case "%":
            if figure.value in (10.0, 20.0, 50.0, 80.0, 90.0) and _EDGES.search(near):
                return True
            beside = f"{_CLAUSES.split(before[-24:])[-1]} {_CLAUSES.split(after[:24])[0]}".lower()
            is_of_part = _OF_PARTS.search(beside) or _EACH_BY.search(before.lower())
            return figure.value == 100.0 or (figure.value <= 20 and bool(is_of_part))
        case "1":  # three RC sections, a Wien bridge
            return figure.value in (3.0, 29.0) and _NETWORKS.search(before.lower()) is not None
        case "degC":
            return figure.value in (25.0, 27.0)
        case "V":  # kT/q
            return 25.0 <= round(1e3 * figure.value, 2) <= 26.0 and _THERMAL.search(near) is not None
        case _:
            return False


Mood = Literal["said", "noun", "soft", "hard"]

_WORDS = late_pattern(
    r"(?P<hard>(?:\bnot|n['’]t|\bnever) (?:yet )?(?:been )?(?:simulated|run|tried|tested|checked"
    r"|verified)\b|[没未](?:有|曾)?(?:仿真|运行|验证|测试)过?|\bif\b|\bwhether\b|是否|\bwould\b|\bassum\w+|\bsuppos\w+"
    r"|\bprovided\b|若|如果|假如|假设|倘若|预计|预期"
    r"|估计|估算)"
    r"|(?P<reset>\bbut\b|\bhowever\b|\bwhereas\b|\balthough\b|\bthough\b|\byet\b|\bnow\b|\bcurrently\b"
    r"|\bmeasured\b"
    r"|\bsimulat\w+|\bonly\b|\bstill\b|\bactual\w*|\binstead of\b|但是?|却|然而|不过|虽然|尽管"
    r"|目前|现在|当前|实测|测得|本轮|这一?轮|上一?轮|仿真(?!时间|时长|步长|长度|次数)|只有|仅|实际|仍"
    r"|\bfrom\s*$|从\s*$)"
    # a way, or something behind a change, is told in the mood of its sentence
    r"|(?P<kept>(?:从|由)[^,，。;；\n]{1,20}?(?:[升降增减]|提高|提升|加大|缩小|改善"
    r"|变)[大小加低高]?(?:了|到|至|为|成)"
    r"|(?:改[为成用]|[调换设][成到至为]|增大|增加|提高|降低|减小|加大|缩小)[^,，。;；\n]{0,20}?(?:之"
    r"|以)?后(?=\s?[,，:：])"
    r"|(?<=[差益宽波率流压度耗间真声幅])(?:增大|增加|提高|提升|降低|减小|降到|升到|加大|缩小))"
    r"|(?P<did>\b(?:I|i|we)(?:'ve| have)?(?: (?:now|also|then))* (?:set|put|cut)\b)"
    r"|(?P<noun>\bby calculation\b|\bon paper\b|\brules? of thumb\b|\b(?:hand|rough) estimate\b"
    r"|\bformula (?:gives|predicts|says)\b|\bby (?:the |a |its )?(?:\w+ )?formula\b"
    r"|\bexpected\b|\bpredicted\b|\bestimated\b|\btheor\w+|\bideal\w*|\bnominal\w*"
    r"|\bcalculated\b"
    r"|\bcomputed\b|理论|理想|计算|算得|推算|推得|反推|标称)"
    r"|(?P<soft>\bshould\b|(?<!no )\b(?:needs|requires|(?:asks|calls) for)\b"
    r"|\b(?:you|we|I) need\b|\bneeds? to be\b|\bcould\b|\bwill\b|\bmay\b|\bmight\b"
    r"|\bcan\b|'ll\b"
    r"|\b(?:i|you|we|it|that)['’]d\b|\bperhaps\b|\bmaybe\b|或许|也许|\bexpect\b|\bpredict\b|\bestimate\b"
    r"|\btry\b|\btrying\b|\bpropose\b|\bsuggest\b|\brecommend\b|\baim\w*\b|\blet\b|\bbecomes?\b|\bso that\b"
    r"|\bin order\b|\bto (?:reach|get|meet|bring|give|obtain|achieve|keep|lower|raise|set|make|push|move|have"
    r"|yield|land)\b|(?<!\bthe )(?<!\ban )(?<!\ba )(?<!\bthis )"
    r"(?<!\bwere )(?<!\bwas )(?<!\bis )(?<!\bare )(?<!\bbeen )\b(?:increase|decrease|reduce|raise|set|change"
    r"|use|choose|make|adjust|add|pick|replace|move|bring|push|trim|tune|scale|enlarge|halve|double)\b"
    r"|需要|(?<![必所])需[降升减增提加改调]"
    r"|^\W*(?:fix|option|alternative|remedy) [a-d1-4]\b|^\W*(?:方案|办法|选项)\s?[一二三四A-D1-4]"
    r"|^\W*lower\b|\band lower\b|\bthen lower\b"
    r"|(?<![响效反相对供适])应(?![用力])|(?<!已)将|(?<![机社])会|可(?![见知靠])|建议|尝试|试着|打算"
    # what a clause begins with is asked for; behind its subject it is told
    r"|(?:^|(?<=[,:，、：(（*]))[\s*-]*(?:[再先请或并]|然后)?(?:改[为成用]|调[到至]|调整(?!时间)|换[成为]"
    r"|设[为置成]|增[大加]"
    r"|提[高升]|降低|减小|降到|升到|加大|缩小)|选[用择取]|取|瞄准|下一轮|下一步|以便"
    r"|使|从而|为了|想要|希望|期望|把)"
    r"|(?P<past>(?<!为)了|已(?:[^，。；,;\n]{0,12}?(?:改[为成用]|[调换设]成?[到至为]|换成|设置|增大|增加"
    r"|提高|降低|减小|加大|缩小))?|下降|上升|\b(?:was|were|had|got|went|fell|rose|dropped|reached"
    r"|increased|decreased|came|improved|raised|lowered)\b)"
    r"|(?P<fact>\b(?:is|are|reads?|measures|reaches|stays?|remains?|has|shows?|equals|lies|sits)\b"
    r"|(?<!因)为(?!了))"
    r"|(?P<clause>[,:，、：()（）])"
)
_SAY = late_pattern(r"[,(]\s?say,? (?:about |some |around )?$")
_SUPPOSED_PART = late_pattern(r"^[^\w\n]*with (?:an? |the |\w+ )[^,.;\n]{0,24}$")
_WOULD = late_pattern(r"^(?:[^.;。；\n]|\.(?=\d)){0,80}(?:\b(?:would|could|might)\b|['’]d\b)")
"""With a part that is not there something would be: "With a 10 mΩ MOSFET the loss would be ..."."""
_NEEDS = late_pattern(r"\bneeds? (?:about |roughly |some |around )?$")
_AFTER = late_pattern(
    r"^(?:[^.,;。，；\n]|\.(?=\d)){0,30}\b(?:would|could|might)\b|"
    r"^, (?:would|could|might)\b|^\s*(?:(?:is|are)\s+)?(?:expected|achievable|feasible|possible|reachable)\b"
    r"|^\s*(?:should|would|could|can|may|might|will) (?:then )?"
    r"(?:be (?:possible|achievable|enough|feasible|reach\w*|obtained|met)|result|follow)"
    r"|^\s*,?\s*(?:I |we )?(?:would )?(?:estimate|guess|expect|assume|suppose)\b"
    r"|^[^.,;\n]{0,12}\bis the (?:nearest|closest|next) |^[^，。,;\n]{0,6}是?最(?:接近|近)的(?:标准|系列)"
    r"|^[^.;\n]{0,12}\b(?:by calculation|calculated|by hand|in theory)\b"
    r"|^\s*(?:looks|seems) (?:right|good|reasonable)\b|^\s*(?:type|part|device|diode|transistor|capacitor"
    r"|inductor|rating)s? (?:is|are) (?:sufficient"
    r"|enough|suitable|adequate)\b|^[^，。,;]{0,6}(?:就?足够|即可)"
    r"|^\s*(?:needs?|requires?|calls for|takes)\b|^\s*(?:需要|则需)"
    r"|^[^.,;\n]{0,24}\bha(?:s|ve) not (?:yet )?been (?:simulated|measured|verified|checked|tested|run)\b"
    r"|^\s*(?:or so )?(?:is|are) (?:realistic|usual|typical|common)\b"
    r"|^\s*(?:左右|上下)?(?:也许|或许|大概[能会可]|可能)|^\s*(?:左右)?(?:即可|为宜|可行|应该可以|应可|是可能的|有望)"
)
_BY_HAND = late_pattern(
    r"(?:\bby hand\b|\bon paper\b|\brules? of thumb\b|\b(?:hand )?calculat\w+\b|\bin theory\b|\bcomputed\b"
    r"|手算|计算|估算|推算|反推)[^。.;；\n]{0,24}?[:：]"
    r"(?![^\n]*(?:simulat|measured|实测|仿真))",
    re.IGNORECASE,
)
"""What it opens is computed to the end of the sentence."""
_CAME_OF_IT = late_pattern(r"(?<![然今以随最])后[，,：:][^。；;]*$")
_PROPOSED = late_pattern(r"将|会|应|可|预计|估计|建议|若|如果|假如|需|要|期望|希望|目标")
"""What is told behind a change: "改为 3.9n 后，衰减提高到 43 dB"."""
_CALCULATION = late_pattern(
    r"[\w)πΩ]\s*(?:[*/√^+÷‖∥]|-(?=\s))\s*[\w(√π][^=≈]{0,60}(?:=|≈|\bgives\b|得"
    r"|为)\s*$"
)


_BY_HAND_ASIDE = late_pattern(
    r"[^\n]{0,160}[(（][^()（）\n]{0,24}(?:\bestimat\w+|\bnot simulated|\bby hand|估算|估计|未仿真"
    r"|手算)[^()（）\n]{0,24}[)）][.。]?\s*(?:\n|$)"
    r"|[^\n]{0,160}\bI (?:have not|haven't|did not|didn't) (?:simulate[d]?|run|tr(?:y|ied)|check(?:ed)?)"
    r" (?:that|this|it|them|these)\b"
    r"|[^\n]{0,160}(?:这一?点|这个?值|这些|以上|这)(?:还|尚|并)?[没未](?:有|经)?(?:做|经)?(?:仿真|验证|跑)"
    r"|[^\n]{0,160}(?:这些?(?:都|只)?是(?:粗略)?估算|均为估算"
    r"|(?:数值|数字|结果)?(?:都|均|全)(?:是|为|系)?(?:粗略)?(?:推算|估算|手算|计算)(?:的|值|得)"
    r"|\b(?:these are|(?:this|that) is an?) (?:rough |hand )?estimates?\b)",
    re.IGNORECASE,
)


def is_thought(before: str, after: str) -> bool:
    """Whether a figure is proposed, predicted or computed rather than said of the round.

    The words before it in its sentence are read in order. "if" lasts until a word of the present, "should"
    until something is told as a fact, "the expected gain is" within its clause.
    """
    is_supposed = _SUPPOSED_PART.match(before.lower()) and _WOULD.match(after.lower())
    if is_supposed or _SAY.search(before.lower()):
        return True
    if _NEEDS.search(before.lower()) and re.match(r"\s*(?:more|less)\b", after.lower()):
        return True
    if _CALCULATION.search(before[-SIGHT:]) or _AFTER.match(after.lower()):
        return True
    if _CAME_OF_IT.search(before) and not _PROPOSED.search(before):
        return False
    mood: Mood = "said"
    for found in _WORDS.finditer(before.lower()):
        match found.lastgroup:
            case "hard":
                mood = "hard"
            case "reset":
                mood = "said"
            case "noun" | "soft" as kind if mood != "hard":
                mood = "noun" if kind == "noun" else "soft"
            case "past" | "did" if mood != "hard":
                mood = "said"
            case "fact" if mood == "soft":
                mood = "said"
            case "clause" if mood == "noun":
                mood = "soft"
            case _:
                pass
    return mood != "said"


def is_by_hand(flat: str, end: int) -> bool:
    """Whether a figure stands behind words that open a calculation, or before an aside that tells one.

    "By hand: f0 = ...", "... 7.7 V (estimated, not simulated)", "... These are estimates."
    """
    return (
        _BY_HAND_ASIDE.match(flat, end) is not None
        or _BY_HAND.search(flat, flat.rfind("\n", 0, end) + 1, end) is not None
    )


def sentence_before(flat: str, end: int) -> str:
    """The words of a figure's sentence before it."""
    start = max(0, end - 4 * SIGHT)
    text = flat[start:end]
    last = max((found.end() for found in _SENTENCE_ENDS.finditer(text)), default=0)
    return text[last:]


def marked(text: str, doubtful: Iterable[str], mark: str) -> str:
    """The comment with `mark` behind each figure that is doubtful."""
    those, parts, place = frozenset(doubtful), [], 0
    for figure in figures_in(text):
        if text[figure.start : figure.end].strip() in those:
            parts += [text[place : figure.end].rstrip(), mark]
            place = figure.end
    return "".join((*parts, text[place:]))
