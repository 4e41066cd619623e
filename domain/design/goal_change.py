"""A change of goals in a person's words: "cutoff to 12 kHz", "纹波放宽到 2 mV"."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache

from domain.design.goal_scaling import goals_scaled_by, scales
from domain.design.sentence import Bound, Dimension, Mention, Sentence, read_sentence
from domain.design.understanding import Slot, fill_slots
from domain.simulation.goals import DesignGoal
from shared.errors import CircuitError

_QUESTION = re.compile(
    r"[?？]\s*$"
    r"|^\s*(?:so |and |but |hmm,? |ok,? )*(?:what|why|how|which|where|who|is|are|does|do|did|can|could)"
    r"(?:'s)?\b|吗|什么|为什么|为啥|怎么|多少|哪"
)
_CENTER, _QUALITY = "center", "quality"
_WIDTH = r"band[\s-]?width|(?<![a-z])bw|width|通?带宽度?|宽度?"
_TO = (
    r"should be|of|to|is|be|at|least|most|under|below|over|above|about|around|"
    r"=|:|为|是|到|成|改|设|调|约|不超过|不低于|至少|最多"
)
_WISHED = (
    r"(?:(?:should be |to be )?(?:a bit |much |a little )?(?:narrower|wider|smaller|larger)"
    r"|[要得再更应该]{0,3}(?:窄|宽|小|大)(?:得多|一?[点些])?)[,，]?"
)
"""What is wished of a width in front of its figure: "带宽要窄一点，100 Hz"."""
_WIDTH_BEFORE = re.compile(rf"(?:{_WIDTH})\s*(?:{_WISHED}\s*)?(?:(?:{_TO})\s*)*$", re.IGNORECASE)
_WIDTH_BEHIND = re.compile(rf"\s*(?:wide|of (?:{_WIDTH})|的?(?:{_WIDTH}))", re.IGNORECASE)
_GAIN = "gain"
"""A factor, which people also give in decibels."""
_WISH = re.compile(
    r"^\s*(?:please\s+)?(?:can|could|would|will)\s+(?:you|we)\s+(?:please\s+|kindly\s+|also\s+)*"
    r"(?!see|expect|know|tell|say|explain|trust|show|live|drive|measure|use|accept|be\b)"
    r"|^\s*(?:请问)?(?:你|您|我们)?(?:能不能|可不可以|能否|可否|可以|能)(?:请|帮我|麻烦)?(?:把|将)"
    r".*(?:改|设|调|降|升|提高|放宽|收紧|限制|换)"
)
"""A wish that is put as a question."""
_ASKS = re.compile(r"\b(?:what|why|how|which|whether)\b|什么|为什么|怎么|多少|哪")
_RELATIVE = re.compile(
    r"\b(?:by|up|down)\s(?:about\s|another\s)?[-+]?[\d.]"
    r"|[\d.]\s?[a-zμΩ%]{0,4}\s(?:higher|lower|more|less|better|up|down)\b"
    r"|(?:提高|增加|增大|升高|加大|加宽|调高|降低|减少|减小|下降|调低|缩小|上调|下调|高出|"
    r"再高|再低|再大|再小|再升|再降)(?:了|约|大约)?\s?[-+]?[\d.]",
    re.IGNORECASE,
)
"""A figure by which something changes; it is not the one that is then asked for."""
_SPREAD = (
    r"[\s,(]*(?:within|give or take|(?:with )?(?:a )?tolerance(?: of)?"
    r"|(?:允许|容许)?(?:误差|偏差|容差|公差)(?:为|是|在|不超过)?)\s*±?\s*"
)
"""What makes the share behind a figure its tolerance, as ± does."""
SPREAD = re.compile(rf"(?:{_SPREAD}|\s*±\s*)[\d.]+\s?[%\w]*", re.IGNORECASE)
DOT = r"(?<!\bmin)(?<!\bmax)(?<!\bapprox)(?<=[a-z0-9%])\.(?=\s|$)"
_CLAUSE_END = re.compile(rf"[,，;；。!！]|{DOT}")
_CLAUSE = re.compile(rf"[,;。!]|{DOT}|\band\b|并且|而且|同时", re.IGNORECASE)
_GOAL = r"(?:目标|要求|指标|限制|goal|requirement|target|spec|limit|)"
_THIS = r"的?(?:这个|这项|那个|那项)?"
_WITHOUT = (
    r"(?:不要|不用管|不用|不管|不必管|去掉|删掉|删除|取消|忽略|不考虑|不再要求|不作要求|不做要求|"
    r"不要求|不考核|不再考核|无所谓)"
)
_NO_MATTER = (
    r"(?:(?:does not|doesn't|do not|don't|no longer) (?:really )?matters?(?: to (?:me|us))?|"
    r"(?:is|are)(?: not|n't| no longer) (?:important|needed|required|relevant))(?: any ?more)?"
)
_GIVE_UP = r"(?:forget|ignore|disregard|never mind|waive|give up on|don't care about) "
_DROP = r"(?:drop|scratch|scrap|remove|delete|skip|lose|get rid of) "
_SPEC = r"(?:goal|requirement|target|spec(?:ification)?|limit|constraint)"
_QUANTITIES = (
    r"noise|噪声|噪音|底噪",
    r"ripple|纹波",
    r"thd|distortion|失真",
    r"phase|margin|相位|裕度",
    r"impedance|resistance|(?<![a-z])[zr]_?(?:in|out)(?![a-z])|阻抗|电阻",
    r"power|dissipation|功耗|功率",
    r"efficiency|效率",
    r"overshoot|过冲",
    r"slew|压摆|转换速率",
    r"swing|摆幅",
    r"offset|失调",
    r"(?:collector|emitter|base|drain|gate|bias|load|led)\scurrent|[集发基漏栅]电?极电?流|偏置电流|负载电流",
    r"suppl(?:y|ies)(?!\scurrent)|rails?(?![a-z-])|batter(?:y|ies)|供电|(?<!开关)电源(?!电流|抑制)|电池"
    r"|(?:run(?:s|ning)?|power(?:s|ed)?)(?:\sit)?\s(?:on|off|from|by|with)(?![a-z])|±\s?[\d.]+\s?v(?![a-z])",
    r"loads?(?![a-z]|[\s-](?:current|regulation))|负载(?!电流|调整)",
    r"(?:resistor|capacitor|inductor|component|part|diode)s?(?![a-z])|元件|(?<![a-z0-9])[rcl]\d{0,2}(?![a-z0-9])(?=\s*(?:=|:|to|is|of|at)?\s*\d)",
)
"""What a figure may be of that is none of the goals, each in the words of both languages."""
_NAMES = (
    r"bandwi?d?th|带宽|频带",
    r"cut-?off|corner(?: frequency)?|截止(?:频率)?|转折(?:频率)?",
    r"attenuation|rejection|suppression|衰减|抑制",
    r"gain|amplification|增益|放大倍数",
    r"output voltage|v_?out|输出电压|输出(?=\s?(?:电压|精度|[改调设变换要到]|\d))"
    r"|output(?=\s?精度|\s(?:should|must|has|needs|to|at|is|now|=|\d))",
    r"(?:supply|quiescent|total) current|静态电流|供电电流|电源电流|总电流|耗电",
)
"""What a goal that a model named is called besides, likewise."""
_ANY = "|".join((*_QUANTITIES, *_NAMES))
_MORE_OR_LESS = re.compile(
    r"^\W*(?:(?:and|but|also|then|please|with|try to|can you)\s+|并且?|而且|再|也|同时|请|把){0,3}"
    rf"(?:(?:lower|reduce|less|decrease|improve|increase|raise|cut|minimi[sz]e|maximi[sz]e|better|higher|more)"
    rf"\s(?:the\s|its\s)?(?:{_ANY})|(?:降低|减小|减少|提高|改善|增大)(?:{_ANY})"
    rf"|(?:the\s)?(?:{_ANY})(?:[也要再尽量能更]{{0,3}}(?:低|小|少|高|大|好)(?:一?[点些]|$)|\s(?:lower|smaller|higher|better)\b))",
    re.IGNORECASE,
)
"""A wish for a quantity that says no figure."""
_COMPARED = re.compile(
    r"\b(?:an?|the)\s(?:small|larg|bigg|low|high|fast|slow|wid|narrow|strong|weak)er\s[a-z]+$|"
    r"^\W*(?:and\s|but\s|with\s)?(?:more|less|higher|lower|bigger|smaller|faster|slower)\s[a-z]+(?:\s[a-z]+)?$|[更再][大小高低快慢][的一些]",
    re.IGNORECASE,
)
"""The same of a part: "a smaller inductor"."""
_MADE_MORE = re.compile(
    r"^\W*(?:(?:and|but|also|then|please|can you|could you)\s+){0,3}"
    r"(?:make|get|keep|have|want|need)\s(?:it|this|that)"
    r"\s(?:(?:a bit|a little|much|even|slightly|somewhat|more|less|way)\s){0,2}[a-z]+$",
    re.IGNORECASE,
)
"""The same of the circuit: "make it steeper"."""
_REPLACED = re.compile(r"\b(?:replace|swap|exchange|substitute)[^\d,;.]*\sby\s", re.IGNORECASE)
"""What stands behind it is no difference."""
_OF_TOLERANCE = re.compile(r"tolerance|accuracy|precision|误差|容差|公差|偏差|精度", re.IGNORECASE)
_PLACE_BEFORE = re.compile(r"(?:\bat|@|在)\s*$", re.IGNORECASE)
_PLACE_BEHIND = re.compile(r"\s*(?:处|时|这里|[那这]儿|那[里边]|的地方)")
_PLACE_OF_ITSELF = re.compile(
    r"(?:cent(?:er|re)|cut-?off|corner|frequency|peak|f_?[0c]|中心|截止|转折|频率|峰)\S{0,2}\s*"
    r"(?:should be|is|to be|be|stays?|to|放|定|设|改|调|应该?|要)*\s*(?:\bat|@|在)\s*$",
    re.IGNORECASE,
)
"""Before a frequency that a goal itself is to be at."""
_FACTOR_BEFORE = re.compile(
    r"(?:gain|amplification|attenuat\w+|增益|放大倍数|衰减|幅度)[^,;，；]{0,28}$", re.IGNORECASE
)
"""Before a bare number that is a gain."""
_ATTENUATION_BEHIND = re.compile(
    r"\s*(?:[的这那个]{1,3})?(?:attenuation|rejection|suppression|衰减|抑制)", re.IGNORECASE
)
_REASON = re.compile(
    r"(?:there's|there is|there are|it's|it is|because|since|we have|as"
    r"|th(?:is|at)(?:'s)? (?:one )?(?:runs?|goes|feeds|is|only|was)|(?:we|they|i) (?:are|run|only|never|just)"
    r"|不再?(?:考核|要求|看)了?$|就?(?:不用|别|不必)管(?:它|这个|那个)?了?$|反正|因为|毕竟|后面|后级|随便|无所谓)",
    re.IGNORECASE,
)
"""How what is said begins of why a goal is given up."""
_OF_IT = re.compile(
    r"(?:(?:please|now|ok(?:ay)?,?|rather|no,?) )*"
    r"(?:(?:make|set|change|turn|put|have) (?:it|that|this) (?:to |into |at )?|"
    r"(?:请|那就?|把它|还是)*(?:改[成为到]|换成|调[到成]|设[为成]|变成|做成))"
    r"[-+]?[\d.]+\s?[a-zμΩ]{1,4}(?: (?:please|instead|then|now))?[.!。]?",
    re.IGNORECASE,
)
"""A figure of which only its unit is said: that of what the circuit is asked for, where one has a target."""
_BARE_WORDS = 2
_LONGEST = 2_000
"""Characters; who says more says more than a change of goals."""
_DIMENSIONS: Mapping[str, tuple[Dimension, ...]] = {
    "Hz": ("Hz",),
    "V": ("V",),
    "A": ("A",),
    "Ohm": ("Ohm",),
    "F": ("F",),
    "H": ("H",),
    "s": ("s",),
    "W": ("W",),
    "dB": ("dB", "x"),
    "deg": ("none",),
    "1": ("%", "x", "none"),
    "": ("none", "x"),
}


def goals_changed_by(text: str, goals: Sequence[DesignGoal]) -> tuple[DesignGoal, ...] | None:
    """The goals with those that a sentence changes; None when it is a question, or not wholly such a change.

    Each figure has to belong to a goal, by its name or because only one goal has such a unit: what is half
    understood is not carried out. A bare figure keeps the kind of the goal (a target its tolerance, a limit
    its side); words of a bound make it that bound, a tolerance behind it ("± 5 %", "within 10 Hz") makes it
    a target with that one.
    """
    if len(text) > _LONGEST or is_question(text):
        return None
    if any(map(scales, _clauses(text))):
        return _with_scales(text, goals)
    sentence = read_sentence(text)
    if _RELATIVE.search(sentence.text):
        return None
    if _wishes_without_figure(sentence.text):
        return None
    changed = _with_tolerance_alone(sentence, goals) or _with_figures(sentence, goals)
    is_other = any(not new.is_same_demand(old) for new, old in zip(changed, goals, strict=False))
    return changed if is_other else None


def _with_scales(text: str, goals: Sequence[DesignGoal]) -> tuple[DesignGoal, ...] | None:
    """The goals with all that the clauses of a sentence change, some of them by how much."""
    changed, others = tuple(goals), []
    for clause in _clauses(text):
        if not scales(clause):
            others.append(clause)
        elif (scaled := goals_scaled_by(clause, changed, words_of)) is not None:
            changed = scaled
        else:
            return None
    rest = "，".join(others)
    return changed if not rest or is_repeated(rest, changed) else goals_changed_by(rest, changed)


def _clauses(text: str) -> list[str]:
    return [clause for each in _CLAUSE_END.split(text) if (clause := each.strip())]


def is_repeated(text: str, goals: Sequence[DesignGoal]) -> bool:
    """Whether a sentence asks for what the goals say already."""
    if len(text) > _LONGEST or is_question(text):
        return False
    sentence = read_sentence(text)
    if not sentence.mentions or _RELATIVE.search(sentence.text) or _wishes_without_figure(sentence.text):
        return False
    found = _with_tolerance_alone(sentence, goals) or _with_figures(sentence, goals)
    return bool(found) and all(new.is_same_demand(old) for new, old in zip(found, goals, strict=False))


def clauses_not_read(text: str, goals: Sequence[DesignGoal]) -> tuple[str, ...]:
    """The clauses that keep a sentence from being a change of goals, where others of it are one; else ()."""
    if len(text) > _LONGEST:
        return ()
    for clauses in (
        _clauses(text),
        clauses_of(text),
    ):  # "gain 50 and less hum" is two where no comma parts it
        unread = tuple(each for each in clauses if goals_changed_by(each, goals) is None)
        if len(unread) < len(clauses):
            return tuple(each for each in unread if re.search(r"\d", each)) or unread
    return ()


def is_by_unit_alone(text: str, before: Sequence[DesignGoal], after: Sequence[DesignGoal]) -> bool:
    """Whether a figure was given to a proposal of ours that the text does not name."""
    return any(
        not old.stated and not old.is_same_demand(new) and not re.search(words_of(old), text, re.IGNORECASE)
        for old, new in zip(before, after, strict=False)
    )


def is_told_of_another(text: str, before: Sequence[DesignGoal], after: Sequence[DesignGoal]) -> bool:
    """Whether such a figure stands in more words than its own, none of them of the proposal's name: "it clips
    at 5 V", "it has to deliver 3 A"."""
    moved = (old for old, new in zip(before, after, strict=False) if not old.is_same_demand(new))
    words = set(re.findall(r"[a-z]+", text.lower()))
    is_named = any(not words.isdisjoint(goal.metric.split("_")) for goal in moved)
    return is_by_unit_alone(text, before, after) and len(text.split()) > _BARE_WORDS and not is_named


def states_what_is_to_be(text: str) -> bool:
    """Whether a sentence may change a design by what it says: no question, and no figure to change by."""
    if len(text) > _LONGEST or is_question(text):
        return False
    sentence = read_sentence(text)
    plain = _REPLACED.sub(" with ", sentence.text)
    return not (_RELATIVE.search(plain) or _wishes_without_figure(plain))


def clauses_of(text: str) -> tuple[str, ...]:
    """The parts of a sentence that may each change something: "less ripple, 50 mV at most" is one."""
    found: list[str] = []
    begun = ""
    for clause in filter(None, (each.strip() for each in _CLAUSE.split(text))):
        whole = f"{begun}, {clause}" if begun else clause
        has_figure = re.search(r"\d", whole) is not None
        is_wish = not has_figure and any(
            each.search(whole) for each in (_MORE_OR_LESS, _COMPARED, _MADE_MORE)
        )
        begun = whole if is_wish else ""
        if not is_wish:
            found.append(whole)
    return (*found, begun) if begun else tuple(found)


def _with_figures(sentence: Sentence, goals: Sequence[DesignGoal]) -> tuple[DesignGoal, ...]:
    """The goals with the figures of a sentence; () when not each of these belongs to one of them."""
    is_of_it = _OF_IT.fullmatch(sentence.text) is not None
    rivals = [goal for goal in goals if _centre(goal) is not None or not is_of_it]
    slots = [_slot(goal, rivals) for goal in goals if _DIMENSIONS.get(goal.unit)]
    figures, spreads = _with_spreads(sentence)
    width = next((each for each in figures if _is_width(sentence, each, goals)), None)
    figures = [each for each in figures if each is not width]
    placed = [
        each
        for each in figures
        if _is_place(sentence, each, figures) or _is_known_place(sentence, each, figures, goals)
    ]
    if any(not any(_is_measured_at(goal, each.value) for goal in goals) for each in placed):
        return ()
    try:
        filled = fill_slots(sentence, slots, [each for each in figures if each not in placed])
    except CircuitError:  # too many figures that may mean the same: not wholly understood
        return ()
    is_whole = bool(filled.values or width) and not filled.unused
    if not is_whole or any(
        _is_of_another(goal, filled.values.get(goal.metric), sentence.text) for goal in goals
    ):
        return ()
    changed = tuple(
        goal
        if (mention := filled.values.get(goal.metric)) is None
        else _with(goal, mention, spreads.get(mention.start), sentence.text)
        for goal in goals
    )
    return changed if width is None else _with_width(changed, width, spreads.get(width.start), sentence.text)


def _is_width(sentence: Sentence, mention: Mention, goals: Sequence[DesignGoal]) -> bool:
    """Whether a frequency is how wide a band is, of which the goals ask the center and Q."""
    if mention.dimension != "Hz" or not {_CENTER, _QUALITY} <= {goal.metric for goal in goals}:
        return False
    before, behind = sentence.text[: mention.start], sentence.text[mention.end :]
    return bool(_WIDTH_BEFORE.search(before) or _WIDTH_BEHIND.match(behind))


def _with_width(
    goals: Sequence[DesignGoal], width: Mention, spread: Mention | None, text: str
) -> tuple[DesignGoal, ...]:
    """The goals with the Q that a band of this width has around its center: the wider, the lower."""
    center = next((_centre(goal) for goal in goals if goal.metric == _CENTER), None)
    if not center or width.value <= 0:
        return ()
    sides: dict[Bound | None, Bound | None] = {"at_least": "at_most", "at_most": "at_least"}
    said = replace(
        width,
        value=center / (width.upper or width.value),
        upper=None if width.upper is None else center / width.value,
        bound=sides.get(width.bound),
        dimension="none",
    )
    if spread is not None and spread.dimension != "%":
        spread = replace(spread, value=spread.value / width.value, dimension="%")
    return tuple(_with(goal, said, spread, text) if goal.metric == _QUALITY else goal for goal in goals)


def goals_left_by(text: str, goals: Sequence[DesignGoal]) -> tuple[DesignGoal, ...] | None:
    """The goals without those that a sentence gives up ("带宽不要了", "forget the ripple"), the others as its
    other clauses change them; None when it gives none up, or says anything else. () when none is left.
    """
    if len(text) > _LONGEST or is_question(text):
        return None
    left, others = tuple(goals), []
    for clause in _clauses(text):
        if len(left) < len(goals) and _REASON.match(clause) and not re.search(r"\d", clause):
            continue
        gone = [
            goal
            for goal in left
            if any(_gives_up(clause, name) for name in (words_of(goal), re.escape(goal.metric)))
        ]
        left = tuple(goal for goal in left if goal not in gone)
        if not gone:
            others.append(clause)
    if len(left) == len(goals):
        return None
    return goals_changed_by("，".join(others), left) if others else left


def _gives_up(clause: str, name: str) -> bool:
    place = r"(?:\d+\s?k?(?:hz)?处?的?(?:[这那][个项条])?)?"
    behind = (
        rf"[把对那就而且也]*(?:[这那][个项条])?{place}(?:{name}){_THIS}{_GOAL}[就先都也]?{_WITHOUT}[了吧啦]*"
    )
    before = rf"[就先也请]*{_WITHOUT}[掉对]?(?:{name}){_THIS}{_GOAL}[了吧啦]*"
    english = rf"(?:and |please |just |you can )*{_GIVE_UP}(?:about )?(?:the )?(?:{name})(?: {_GOAL})?"
    dropped = rf"(?:please |just )*{_DROP}(?:the )?(?:{name}) {_SPEC}(?: altogether| entirely| completely)?"
    no_matter = rf"(?:the )?(?:{name})(?: {_GOAL})? {_NO_MATTER}"
    forms = (behind, before, english, no_matter, dropped)
    return any(re.fullmatch(each, clause, re.IGNORECASE) for each in forms)


@cache
def _words() -> Mapping[str, str]:
    # Late: the families load numpy, which a command that only reads what was meant does not need.
    from domain.design.catalogue import FAMILIES

    found: dict[str, str] = {}
    for family in FAMILIES.values():
        found = {**family.goal_words, **found}
    return found


def _wishes_without_figure(text: str) -> bool:
    """Whether a clause behind a figure wants more or less of something and gives none: "and less noise"."""
    _first, *rest = re.split(r"(?<=\d)", text, maxsplit=1)
    return any(
        not re.search(r"\d", clause) and _MORE_OR_LESS.search(clause)
        for clause in (_CLAUSE.split(rest[0])[1:] if rest else ())
    )


def is_question(text: str) -> bool:
    """Whether a sentence asks for an answer; "can you set the cutoff to 12 kHz?" is a wish."""
    lowered = text.lower()
    is_wish = _WISH.search(lowered) is not None and _ASKS.search(lowered) is None
    return not is_wish and _QUESTION.search(lowered) is not None


def words_of(goal: DesignGoal) -> str:
    """The words that name a goal, as a regular expression for any letter case."""
    if (known := _words().get(goal.metric)) is not None:
        return known
    return "|".join((name_of(goal), *_quantities_of(goal, _NAMES + _QUANTITIES)))


def name_of(goal: DesignGoal) -> str:
    """Its own name, likewise."""
    return re.escape(goal.metric).replace("_", r"[\s_]?")


def _quantities_of(goal: DesignGoal, known: Sequence[str] = _QUANTITIES) -> tuple[str, ...]:
    name = goal.metric.replace("_", " ")
    return tuple(words for words in known if re.search(words, name, re.IGNORECASE))


def _is_place(sentence: Sentence, mention: Mention, figures: Sequence[Mention]) -> bool:
    """Whether a frequency only says where the figure beside it is measured: "20 dB at 3 kHz", "3 kHz 处"."""
    text = sentence.text
    begin = max((found.end() for found in _CLAUSE.finditer(text, 0, mention.start)), default=0)
    end = found.start() if (found := _CLAUSE.search(text, mention.end)) else len(text)
    is_own = _PLACE_OF_ITSELF.search(text[begin : mention.start]) is not None
    others = [
        each
        for each in figures
        if begin <= each.start < end
        and each is not mention
        and (
            each.dimension not in ("Hz", "none")
            or (each.dimension == "none" and not is_own and _FACTOR_BEFORE.search(text[begin : each.start]))
        )
    ]
    is_frequency = mention.dimension == "Hz" or (mention.dimension == "none" and mention.value >= 1e3)
    return is_frequency and bool(others) and _is_told_as_place(text, mention)


def _is_known_place(
    sentence: Sentence, mention: Mention, figures: Sequence[Mention], goals: Sequence[DesignGoal]
) -> bool:
    """Whether a frequency is where a goal is measured already, and another clause has the figure: "20 kHz
    处的衰减不够，要 28 dB"."""
    has_other = any(each.dimension not in ("Hz", "none") for each in figures)
    is_told = mention.dimension == "Hz" and has_other and _is_told_as_place(sentence.text, mention)
    return is_told and any(_is_measured_at(goal, mention.value) for goal in goals)


def _is_told_as_place(text: str, mention: Mention) -> bool:
    found = _PLACE_BEFORE.search(text[: mention.start]) or _PLACE_BEHIND.match(text, mention.end)
    return (found or _ATTENUATION_BEHIND.match(text, mention.end)) is not None


def _is_measured_at(goal: DesignGoal, frequency: float) -> bool:
    """Whether a frequency stands in what a goal measures."""
    found = read_sentence(f"{goal.metric.replace('_', ' ')} {goal.expression.replace(',', ' , ')}").mentions
    return any(math.isclose(each.value, frequency, rel_tol=1e-6) for each in found)


def _with_tolerance_alone(sentence: Sentence, goals: Sequence[DesignGoal]) -> tuple[DesignGoal, ...]:
    """The goals, that one of them which a sentence names with another tolerance around the same target.

    "误差可以放到 5%", "cutoff tolerance to 5 %"; without a name it is that of the only goal with a target.
    () when it says anything else.
    """
    is_told = any(each.is_tolerance for each in sentence.mentions) or _OF_TOLERANCE.search(sentence.text)
    if len(sentence.mentions) != 1 or not is_told:
        return ()
    (spread,), centred = sentence.mentions, [goal for goal in goals if _centre(goal) is not None]
    named = [goal for goal in centred if re.search(words_of(goal), sentence.text, re.IGNORECASE)]
    (goal, *others) = named or centred or (None,)
    centre = None if goal is None else _centre(goal)
    is_spread = goal is not None and spread.dimension in ("%", *_DIMENSIONS.get(goal.unit, ()))
    if goal is None or centre is None or others or not is_spread or spread.upper is not None:
        return ()
    size = abs(spread.value * centre if spread.dimension == "%" else spread.value)
    words = " ".join(sentence.text.split())[:60]
    wider = replace(
        goal, minimum=centre - size, maximum=centre + size, target=centre, stated=True, words=words
    )
    return tuple(wider if each is goal else each for each in goals)


def _is_of_another(goal: DesignGoal, mention: Mention | None, text: str) -> bool:
    """Whether a figure that only its unit gives to a goal is called another quantity's: "ripple to 5 %"."""
    if mention is None:
        return False
    start = max((found.end() for found in _CLAUSE.finditer(text, 0, mention.start)), default=0)
    end = found.start() if (found := _CLAUSE.search(text, mention.end)) else len(text)
    clause, own = text[start:end], _quantities_of(goal)
    others = [
        found.span()
        for words in _QUANTITIES
        if words not in own
        for found in re.finditer(words, clause, re.IGNORECASE)
    ]
    named = (found.span() for found in re.finditer(words_of(goal), clause, re.IGNORECASE))
    is_named = any(not any(a <= begin and finish <= b for a, b in others) for begin, finish in named)
    return bool(others) and not is_named


def _slot(goal: DesignGoal, goals: Sequence[DesignGoal]) -> Slot:
    is_only = goal in goals and goal.unit != "deg" and sum(other.unit == goal.unit for other in goals) == 1
    dimensions = _DIMENSIONS[goal.unit]
    if goal.metric == _GAIN:
        dimensions = (*dimensions, "dB")
    return Slot(
        name=goal.metric, dimensions=dimensions, words=words_of(goal), takes_rest=is_only, takes_bare=True
    )


def _with_spreads(sentence: Sentence) -> tuple[list[Mention], dict[int, Mention]]:
    """The figures of a sentence, and by where such a figure begins the tolerance that stands behind it."""
    figures: list[Mention] = []
    spreads: dict[int, Mention] = {}
    for mention in sentence.mentions:
        last = figures[-1] if figures else None
        is_alike = last is not None and mention.dimension in ("%", last.dimension)
        between = "" if last is None else sentence.text[last.end : mention.start]
        is_told = mention.is_tolerance or re.fullmatch(_SPREAD, between, re.IGNORECASE) is not None
        if last is not None and is_alike and is_told and last.bound is None:
            spreads[last.start] = mention
        else:
            figures.append(mention)
    return figures, spreads


def _with(goal: DesignGoal, mention: Mention, spread: Mention | None, text: str) -> DesignGoal:
    """The goal with another figure. A goal that is asked as a loss below zero keeps its sign."""
    asked = [bound for bound in (goal.minimum, goal.maximum, goal.target) if bound is not None]
    is_ratio = goal.unit != "dB" and mention.dimension == "dB"
    is_factor = goal.unit == "dB" and mention.value > 0 and _is_factor(goal, mention)

    def as_asked(figure: float) -> float:
        return 20 * math.log10(figure) if is_factor else 10 ** (figure / 20) if is_ratio else figure

    said = as_asked(mention.value)
    sign = -1.0 if asked and max(asked) < 0 < said else 1.0
    value = sign * said
    minimum: float | None
    maximum: float | None
    target: float | None = None
    if mention.upper is not None:
        minimum, maximum = sorted((value, sign * as_asked(mention.upper)))
    elif spread is not None:
        is_share = spread.dimension == "%" != mention.dimension
        size = abs(spread.value * mention.value if is_share else spread.value)
        ends = (sign * as_asked(mention.value - size), sign * as_asked(mention.value + size))
        minimum, maximum = sorted(ends)
        target = value
    elif mention.bound is not None:
        is_least = (mention.bound == "at_least") == (sign > 0)
        minimum, maximum = (value, None) if is_least else (None, value)
    elif (centre := _centre(goal)) is not None:
        target = None if goal.target is None else value
        minimum, maximum = (
            None if bound is None else _moved(bound, centre, value, goal.unit)
            for bound in (goal.minimum, goal.maximum)
        )
    else:
        minimum = None if goal.minimum is None else value
        maximum = None if goal.maximum is None else value
    words = " ".join(text.split())[:60]
    return replace(goal, minimum=minimum, maximum=maximum, target=target, stated=True, words=words)


def _is_factor(goal: DesignGoal, mention: Mention) -> bool:
    """Whether a figure is no decibels: a gain without a unit, unless this one was asked in decibels."""
    is_gain = _GAIN in goal.metric and not re.search(r"db|分贝", goal.words, re.IGNORECASE)
    return mention.dimension == "x" or (mention.dimension == "none" and is_gain)


def _centre(goal: DesignGoal) -> float | None:
    """The target, or the middle between two bounds; None where a single bound is asked for."""
    if goal.target is not None:
        return goal.target
    if goal.minimum is None or goal.maximum is None:
        return None
    return (goal.minimum + goal.maximum) / 2


def _moved(bound: float, centre: float, value: float, unit: str) -> float:
    """A bound around another centre: as far in proportion; in dB, and across zero, as far as before."""
    if unit == "dB" or centre * value <= 0:
        return bound + value - centre
    return bound * value / centre
