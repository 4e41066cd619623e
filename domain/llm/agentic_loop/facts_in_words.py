"""Statements in words that results prove wrong: "all transistors are saturated", "it has settled".

Read from results in the form that the program's tools give them: regions of devices, shapes of waveforms,
failed runs of a study, samples that passed, shares of the variance, and the values of a quantity before and
behind the last change. Of an answer's clauses only those are judged that state something of the present:
what is wished, supposed, asked or told of before is left alone, and so is what no result tells.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from domain.circuit.figures_in_text import figures_in
from domain.llm.agentic_loop.changes import NOT, TO_BEFORE, is_false_change
from domain.llm.agentic_loop.quantities import (
    CLAUSE_END,
    DEVICE,
    MOST_READ,
    YIELD,
    Row,
    named_quantity,
    quantities_of,
    row_of,
)
from domain.llm.agentic_loop.rows import RUN
from shared.late_patterns import late_pattern

_MOST_RESULTS = 100_000
_MOST_CLAUSES = 300
_LONGEST = 90
_MOST_EARLIER = 40
_GAIN_SLACK = 0.1
"""Of a transistor, with which its current gain may be told otherwise."""
_NEARLY_TOP = 0.8
"""A share of the variance this near to the largest is as large, in words."""

_NOT_OF_NOW = late_pattern(
    r"\b(?:if|unless|until|before|when|would|could|should|shall|will|may|might|must|can|cannot|needs?"
    r"|want\w*|avoid"
    r"|prevent\w*|make sure|ensure|whether|so that|goal|target|expect\w*|predict\w*|earlier|previous\w*"
    r"|original(?:ly)?"
    r"|initially|at first|nearly|almost|close to|edge|was|were|had been|used to|to (?:be|get|keep|bring"
    r"|reach|let"
    r"|see|read)|suppos\w+|assum\w+|in theory|ideal\w*|typical\w*|usual\w*|generally|please|let(?:'s| me))\b"
    r"|如果|若|假如|假设|希望|应|需|必须|要(?![求的])|将|会|可能|能否|是否|才能|以便|使|让|避免|防止"
    r"|确保|保证|之前|原来|原先|原(?=设计|电路|方案|始|有)|起初|最初"
    r"|预计|预期|接近|几乎|差点|建议|请|理论|理想|通常|一般|目标|时$|的时候"
)
_PROPOSES = late_pattern(
    r"建议|下一步|推荐|可以考虑|\b(?:suggest\w*|recommend\w*|propos\w+|next step|I['’]d|consider)\b",
    re.IGNORECASE,
)
"""The rest of the sentence is of what isn't yet."""
_NEARLY_ALL = late_pattern(r"\b(?:almost|nearly) (?=entirely|all|exclusively|only)", re.IGNORECASE)
_PASSIVE = late_pattern(
    r"\b(?:was|were|had been) (?=(?:halved|doubled|tripled|reduced|raised|lowered|increased|decreased"
    r"|improved|kept|simulated|run|tested|checked|swept|verified)\b)",
    re.IGNORECASE,
)
_OF_GOAL = late_pattern(
    r"\b(?:meets?|met|reach\w*|miss(?:es|ed)?|fulfil\w*|satisf\w*)\b.{0,12}?\b(?:goals?|targets?)\b"
    r"|(?:达到|满足|符合)了?(?:目标|要求)",
    re.IGNORECASE,
)
_AND = late_pattern(r"\band\b|并且?|、", re.IGNORECASE)
_ALL = late_pattern(
    r"\b(?:all|every|each|both|everything)\b|所有|全部|全都?|各|每|均|都"
    r"|两管",
    re.IGNORECASE,
)
_REST = late_pattern(
    r"\b(?:others?|rest|remaining|except|apart from|but|besides|only)\b|其余|其他|其它|除|另|只有|仅",
    re.IGNORECASE,
)


# --- what results state ---------------------------------------------------------------------------------

_SHAPE = late_pattern(
    r"^(?P<signal>\S+) over (?P<what>time: (?:constant|from)[^\n]*)|has (?P<not>not) settled by the end",
    re.MULTILINE,
)
_EXTREME = late_pattern(
    r"^(?P<what>max|avg)\(v\((?P<signal>\w+)\)(?:,[^=()\n]*)?\) = (?P<value>\d+(?:\.\d*)?)", re.MULTILINE
)
_OVERSHOOT = 1.1
_AT_REST = late_pattern(r"^pp\((?P<signal>v\(\w+\)),[^=\n]*\) = 0 V", re.MULTILINE)
_STIMULUS = late_pattern(r"\b(?:sin|pulse|pwl|sffm|am|exp)\s*\(\s*[-+.\d{]", re.IGNORECASE)
_NETLIST = late_pattern(r"^[ \t]*\.tran\b", re.MULTILINE | re.IGNORECASE)
_OWN_PERIOD = late_pattern(r"\b(?:frequency|period)\([^=\n]*\) = \d")
_RUNS = late_pattern(r"^\S+ of \S+: (?P<runs>\d{1,9}) runs, (?P<failed>\d{1,9}) failed", re.MULTILINE)
_SHARES = late_pattern(
    r"(?:^(?P<of>\w+) \[[^\]\n]{1,8}\]:[^\n]*\n)?^ *(?:variance from|alone:) (?P<rest>[^\n]+)", re.MULTILINE
)
_SHARE = late_pattern(r"\b(?P<part>[A-Za-z]\w*) [±+]?-?(?P<value>\d+(?:\.\d*)?(?:e[-+]?\d+)?)")


@dataclass(slots=True)
class _Facts:
    """What the newest results state."""

    regions: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Kind and region by device, in lower case."""
    current_gains: dict[str, float] = field(default_factory=dict)
    """Collector over base current, by device."""
    settled: dict[str, bool] = field(default_factory=dict)
    """By signal; "" is one whose name is not told."""
    is_periodic: bool | None = None
    is_all_met: bool = False
    """No run of the newest study missed a goal."""
    has_overshoot: bool = False
    """A voltage's largest value is far above its mean."""
    is_undriven: bool = False
    """No source drives it: what is periodic oscillates."""
    runs: tuple[int, int] | None = None
    """Runs of the newest study, and how many failed."""
    passed: tuple[int, int] | None = None
    """Samples of the newest study that kept its goals, of how many."""
    shares: dict[str, float] = field(default_factory=dict)
    """Of the newest study's first quantity."""
    shares_of: dict[Row, dict[str, float]] = field(default_factory=dict)
    """The same by quantity."""
    verdicts: dict[Row, bool] = field(default_factory=dict)
    """Whether the goal of a quantity (its row) is met."""
    counts: set[int] = field(default_factory=set)
    """Whole numbers of the results without studies."""
    studied: set[int] = field(default_factory=set)
    """Those of studies."""
    subject: str = ""
    """The device that the clauses so far speak of."""
    row: Row | None = None
    """The quantity that was named last in the sentence."""
    admits: bool = False
    """The answer says of something that it was missed."""
    few: set[int] = field(default_factory=set)
    """How many runs the studies had."""
    of_all: dict[int, set[int]] = field(default_factory=dict)
    """How many of so many samples any study says were good, bad or failed."""

    @classmethod
    def of(cls, results: Sequence[str]) -> _Facts:
        facts = cls()
        room = _MOST_RESULTS
        measured_period = has_netlist = has_stimulus = False
        for text in reversed(results):
            if room <= 0:
                break
            flat = text[:room]
            room -= len(text)
            if not facts.regions:
                facts.current_gains = {
                    each["name"].lower(): abs(currents[0] / currents[1])
                    for each in DEVICE.finditer(flat)
                    if len(currents := [figure.value for figure in islice(figures_in(each["rest"]), 2)]) > 1
                    and each["kind"].lower() in ("npn", "pnp")
                    and each["region"].strip().lower() == "active"
                    and currents[1]
                }
                facts.regions = {
                    each["name"].lower(): (each["kind"].lower(), each["region"].strip().lower())
                    for each in DEVICE.finditer(flat)
                }
            for verdict in _VERDICT.finditer(flat):
                facts.verdicts.setdefault(row_of(verdict["metric"].lower()), verdict["how"] == "met")
            extremes = {
                (each["what"], each["signal"]): float(each["value"]) for each in _EXTREME.finditer(flat)
            }
            facts.has_overshoot |= any(
                value > _OVERSHOOT * mean > 0
                for (what, signal), value in extremes.items()
                if what == "max" and (mean := extremes.get(("avg", signal), 0.0))
            )
            if not facts.settled:
                facts._read_shapes(flat)
            counts = {int(each) for each in _INTEGER.findall(flat)}
            if _RUNS.search(flat) or YIELD.search(flat):
                facts.studied |= counts
            else:
                facts.counts |= counts
            for study in _RUNS.finditer(flat):
                facts.is_all_met |= facts.runs is None and "\ngoals met: yes" in flat
                facts.runs = facts.runs or (int(study["runs"]), int(study["failed"]))
                facts.few.add(int(study["runs"]))
            facts._count(flat)
            for samples in YIELD.finditer(flat):
                facts.passed = facts.passed or (int(samples["good"]), int(samples["all"]))
                facts.studied.add(int(samples["all"]) - int(samples["good"]))
            for shares in _SHARES.finditer(flat):
                own = {each["part"].lower(): float(each["value"]) for each in _SHARE.finditer(shares["rest"])}
                facts.shares = facts.shares or own
                facts.shares_of.setdefault(row_of((shares["of"] or "").lower()), own)
            if _OWN_PERIOD.search(flat) is not None:
                measured_period = True
                facts.is_periodic = facts.is_periodic is not False
            has_netlist |= _NETLIST.search(flat) is not None
            has_stimulus |= _STIMULUS.search(flat) is not None
        facts.is_undriven = not has_stimulus and (measured_period or has_netlist)
        return facts

    def take_counts(self, earlier: Sequence[str]) -> None:
        """How many runs there were may be told of studies of the circuit as it was."""
        for text in earlier[-_MOST_EARLIER:]:
            for pattern in (_RUNS, YIELD):
                for found in pattern.finditer(text[:MOST_READ]):
                    counts = {int(each) for each in found.groups() if each is not None and each.isdigit()}
                    if known := self.studied or self.counts:
                        known |= counts
                    self.few |= counts if self.few else set()
            self._count(text[:MOST_READ])

    def _count(self, flat: str) -> None:
        """What a study tells of its samples."""
        yields = [(int(each["good"]), int(each["all"])) for each in YIELD.finditer(flat)]
        for runs in _RUNS.finditer(flat) if yields else ():
            count, failed = int(runs["runs"]), int(runs["failed"])
            self.of_all.setdefault(count, set()).update((count, failed, count - failed))
            for good, among in yields:
                self.of_all[count] |= {good, among - good, count - good}
                self.of_all.setdefault(among, set()).update((good, among - good, among))

    def _read_shapes(self, flat: str) -> None:
        self.settled.update((each["signal"].lower(), True) for each in _AT_REST.finditer(flat))
        for shape in _SHAPE.finditer(flat):
            words = shape["what"] or ""
            if shape["not"] or "NOT SETTLED" in words:
                self.settled[(shape["signal"] or "").lower()] = False
            elif "; settled (" in words or "time: constant" in words:
                self.settled[shape["signal"].lower()] = True
            if words:
                self.is_periodic = bool(self.is_periodic) or "; period " in words


# --- what answers say -----------------------------------------------------------------------------------

_REGIONS = {
    "saturation": late_pattern(r"\bsaturat(?:ed|ion)\b|饱和", re.IGNORECASE),
    "triode": late_pattern(r"\b(?:triode|ohmic|linear region)\b|线性区|三极管区|可变电阻区", re.IGNORECASE),
    "active": late_pattern(r"\b(?:forward[- ])?active\b|放大区|放大状态|线性区", re.IGNORECASE),
    "off": late_pattern(
        r"\b(?:cut[- ]?off|switched off|turned off|is off|are off)\b|截止(?!频)|关断", re.IGNORECASE
    ),
}
_SENTENCE_END = late_pattern(r"[。！!？?；;\n]|\.(?=\s)")
_WORD = late_pattern(r"[a-z]\w*")
_RUN_NAMED = late_pattern(r"\brun #?(\d{1,9})\b|第 ?(\d{1,9}) ?[次轮](?:运行|仿真)", re.IGNORECASE)
_IS_IN = late_pattern(
    r"\b(?:is|it|works?|working|operat\w+|runs|enters?|entered|stays?)\b|工作在|处于|进入"
    r"|仍在",
    re.IGNORECASE,
)
_ELSEWHERE = late_pattern(
    r"\bthere\b|\b(?:at|when|for|below|above) [^,;:]{0,16}\d|此时|这时|时$", re.IGNORECASE
)
"""Told of another point than the one that was computed."""
_FIELD_EFFECT = late_pattern(r"\b(?:mos\w*|j?fets?)\b|场效应", re.IGNORECASE)
_SETTLED = late_pattern(
    r"\b(?:(?:has|have|is|are|fully|well|now|already|completely) )+(?:settled|steady|stable)\b"
    r"|\bsettled\b|\bnever settles?\b|\b(?:does|did) not settle\b"
    r"|\b(?:in|reached|reaches|at) (?:a |its |the )?steady[- ]state\b"
    r"|已经?(?:完全)?(?:达到|进入)?(?:稳定|稳态)|(?:达到|进入|处于)了?稳态|稳定在|稳定下来|(?:没有?|未"
    r"|尚未|还没有?|不)(?:达到|进入)?(?:稳定|稳态)",
    re.IGNORECASE,
)
_CURRENT_GAIN = late_pattern(
    r"(?:\bcurrent gain\b|\bbeta\b|β|\bh_?FE\b|电流(?:增益|放大倍数"
    r"|放大系数))\D{0,10}(?P<value>\d{1,4}(?:\.\d+)?)(?![\d.])(?! ?(?:dB|%|°))",
    re.IGNORECASE,
)
_UNSETTLED = late_pattern(
    r"\b(?:still|keeps?) (?:growing|rising|drifting|settling|oscillating|ringing|building up|changing"
    r"|increasing|decaying"
    r"|falling)\b"
    r"|(?:仍然?|还)在(?:增[长大加]|上升|变化|爬升|下降|漂移|衰减)",
    re.IGNORECASE,
)
_OF_POINT = late_pattern(
    r"\b(?:operating|bias|quiescent|equilibrium) point\b|\bdc\b|工作点|平衡点|亚稳|不代表", re.IGNORECASE
)
"""Told of the point that is computed before a run."""
_NO_OVERSHOOT = late_pattern(
    r"\b(?:no|without(?: any)?|zero) (?:\w+ )?overshoot\b|\bmonoton\w+|(?:没有|无)[^，。]{0,4}(?:过冲"
    r"|超调)|单调",
    re.IGNORECASE,
)
_FLAT = late_pattern(
    r"\b(?:stays?|remains?|sits|is stuck) (?:flat|constant|at (?:zero|0 ?V|a constant|dc))"
    r"|一直[为是在]?(?:零|0 ?V)|没有?输出|停振|不再?[起振]振?荡|\bstop(?:s|ped)? oscillating\b",
    re.IGNORECASE,
)
_OSCILLATES = late_pattern(
    r"\bstarts?(?: up)?\b(?= *$)|\boscillat(?:es|ing|ion|e)\b|振荡(?!器|电路|频率)|起振(?!很|较|慢"
    r"|时间|条件|过程|需|前)",
    re.IGNORECASE,
)
_ALL_RAN = late_pattern(
    r"\b(?:converged?|succeed(?:s|ed)?|success(?:ful(?:ly)?)?|completed?|finished|ran(?: through| fine)?"
    r"|went through)\b"
    r"|成功|收敛|完成|通过仿真",
    re.IGNORECASE,
)
_THAT_RAN = late_pattern(
    r"\b(?:that|which) (?:ran(?: to the end)?|converged|worked|finished|succeeded)\b|成功的|收敛的"
)
_NONE_FAILED = late_pattern(
    r"\b(?:no|none|zero|0|without(?: any| a)?)\b.{0,20}\bfail\w*|\bnone\b.{0,16}\bfail|\bdid not fail"
    r"|(?:没有|无|未)[^，。]{0,8}(?:失败|不收敛)|(?:失败|不收敛)[^，。]{0,4}(?:0|零) ?次",
    re.IGNORECASE,
)
_COUNT = late_pattern(
    r"(?<![\d.])(?<!\brun )(?<!\bruns )"
    r"(?P<count>\d{2,6})(?: (?:\w+[- ]){0,2}(?:runs?|samples?|trials?|simulations?|iterations?"
    r"|corners?)\b"
    r"|\s?次(?=[^，。；,;]{0,6}?(?:运行|仿真|模拟|蒙特卡洛|迭代|抽样|中))|\s?个?(?:样本|样品))"
    r"|(?:跑|运行|仿真|模拟|迭代|优化|蒙特卡洛|抽样)(?:分析)?了?\s?(?P<zh>\d{2,6}) ?次"
    r"|(?:样本|样品|次|其)?中(?:只?有)?\s?(?P<other>\d{2,6}) ?[个次]",
    re.IGNORECASE,
)
_FAILED_SO_MANY = late_pattern(r"\d ?[个次]不(?:合格|达标|满足)")
_FEW = {
    word: count
    for count, words in {
        2: "two both 两 二 2", 3: "three 三 3", 4: "four 四 4", 5: "five 五 5", 6: "six 六 6",
        7: "seven 七 7", 8: "eight 八 8", 9: "nine 九 9", 10: "ten 十 10", 11: "eleven 十一 11",
        12: "twelve 十二 12", 16: "sixteen 十六 16", 20: "twenty 二十 20",
    }.items()
    for word in words.split()
}  # fmt: skip
_ENGLISH = "|".join(word for word in _FEW if word.isascii())
_CHINESE = "|".join(sorted((word for word in _FEW if not (word.isascii() and word.isalpha())), key=len)[::-1])
_FEW_OF = late_pattern(
    rf"\ball (?:of the )?(?P<english>{_ENGLISH}) (?:(?:\w+ )?(?:corners?"
    r"|runs|samples|simulations|loads?|steps)|\w+ points?)\b"
    rf"|\b(?:ran|run|simulated|tested|checked|swept|over|across"
    rf"|at) (?P<ran>{_ENGLISH}) (?:process )?corners\b"
    rf"|(?:全部|所有)?(?<![\d零一二三四五六七八九十百])(?P<chinese>{_CHINESE})"
    r"\s?(?:个|组)(?:工艺|负载|温度|扫描|仿真|电压|频率)?(?:角(?!度)|点|组合|样本)",
    re.IGNORECASE,
)
"""How many rows a study is said to have had."""
_INTEGER = late_pattern(r"(?<![\w.+-])\d{2,6}(?![\w.]|\.\d)")
_VERDICT = late_pattern(r"\b(?P<how>met|MISSED) (?P<metric>[A-Za-z]\w*) = ")
_SAMPLES = late_pattern(
    r"\b(?:samples?|runs?|trials?|simulations?|units?|points?)\b|样本|样品|次|仿真|运行", re.IGNORECASE
)
_THINGS = r"(?:samples?|runs?|trials?|units?|boards?|devices?|circuits?|pads?|parts?|points?)"
_PIECES = r"[个只块台套件片次组]"
_SO_MANY = late_pattern(
    rf"(?P<passed>\d{{1,9}}) ?{_PIECES}?(?:样本|样品)?(?:均|都)?(?:合格|达标|满足|通过)"
    rf"|(?P<failed>\d{{1,9}}) ?{_PIECES}?(?:样本|样品)?(?:均|都)?(?:不合格|不达标|不满足|超出|失效)"
    rf"|(?P<en>\d{{1,9}}) (?:(?:out )?of (?:the )?\d+ )?(?:{_THINGS} )?"
    r"(?:pass(?:ed)?|meet|met|(?:are|were|lie|fall|stay|stayed) (?:inside|within|good))\b"
    rf"|(?P<missed>\d{{1,9}}) (?:(?:out )?of (?:the )?\d+ )?(?:{_THINGS} )?"
    r"(?:fail(?:ed)?|miss(?:ed)?|(?:fall|fell|are|were|lie) (?:outside|out of))\b",
    re.IGNORECASE,
)
"""How many are told to have kept their goals, or not."""
_OF_SO_MANY = late_pattern(
    rf"(?<![\d.])(?P<some>\d{{1,7}}) ?(?:(?:out )?of (?:the |all )?|/)(?P<all>\d{{1,7}})"
    r"(?![\d.]*\d|\.\d| ?[%A-Za-zΩ]{0,2}\d)"
    rf"|(?<![\d.])(?P<whole>\d{{1,7}}) ?{_PIECES}?(?:样本|样品)?[中里](?:只?有)? ?"
    r"(?P<part>\d{1,7})(?![\d.])"
)
"""So many of all samples."""
_PASS = late_pattern(
    r"\b(?:pass(?:es|ed)?|meets?|met|within|inside|stay(?:s|ed)?|lie|satisf\w+|in spec)\b|合格|达标|满足"
    r"|通过|落在",
    re.IGNORECASE,
)
_MEETS = late_pattern(
    r"\b(?:meets?|met|satisf(?:y|ies|ied)|in spec|within (?:the )?(?:spec|limit|goal)\w*|fulfils?"
    r"|passes)\b|满足|达标|合格|符合|达到(?:了)?(?:目标|指标|要求)|达成",
    re.IGNORECASE,
)
ALL_GOALS = late_pattern(
    r"\b(?:already )?(?:meets?|met|kept|satisfie[sd]) everything\b|"
    r"\b(?:all|both|every)\b.{0,24}\b(?:goals?|specs?|requirements?|limits?|targets?)\b.{0,16}\b(?:met"
    r"|kept|hold|satisfied|fulfilled|ok)\b"
    r"|\b(?:meets?|keeps?|satisf(?:y|ies)|fulfils?)\b.{0,8}\b(?:all|both|every)\b"
    r"|(?:两|三|四|各|所有|全部)[项个]?(?:指标|要求|目标)?[^，。里中只仅]{0,4}(?:均|都"
    r"|全部)?(?:已经?)?(?:满足|达标|符合|合格|达到)",
    re.IGNORECASE,
)
_VIOLATED = late_pattern(
    r"\b(?:limit|goal|target|spec)\w*\b.{0,24}\b(?:is|was|gets?) (?:violated|exceeded|missed|broken)\b"
    r"|\b(?:violates?|exceeds?|misses|breaks) (?:the|your) (?:limit|goal|target|spec)|超出(?:了)?(?:上限"
    r"|限值|指标)|(?:未|没有?)达标",
    re.IGNORECASE,
)
_ADMITS = late_pattern(
    r"(?:没有?|未|不|没能)(?:能|有)?(?:达|满足|符合)|\bnot (?:yet )?(?:met|reached|there)\b|\bmiss(?:es|ed)\b"
    r"|\b(?:is|are)(?: still)? not\b|\bshort of\b|\bexceed(?:s|ed|ing)\b|超[过出]|还差",
    re.IGNORECASE,
)
_VERDICT_ONLY = late_pattern(
    r"\W*(?:全部|均|都|已经?)*(?:达标|满足要求|合格|goals? met|met|passed|pass|in spec)\W*", re.IGNORECASE
)
_DOMINATES = late_pattern(
    r"\bdominat\w*|\bcaused (?:almost |nearly )?(?:entirely|mostly|mainly|only)\b"
    r"|\b(?:matters?|contributes?)(?: the)? most\b"
    r"|\bmost (?:important|critical|influential|sensitive)\b|\b(?:largest"
    r"|biggest|greatest|main|chief|strongest)\b|\b(?:mostly|mainly|chiefly|primarily|nearly all"
    r"|almost all|most of|(?:spreads?|varies|moves|shifts|drives|decides|determines)\b.{0,40}\bmost)\b"
    r"|主导|主要|(?:贡献|影响|占比|作用|灵敏度)[^，。]{0,3}最[大高多]"
    r"|最[大主敏][^，。]{0,3}(?:贡献|影响|因素|来源|感)"
    r"|绝大部分|几乎全部",
    re.IGNORECASE,
)
_LEAST = late_pattern(
    r"\b(?:least|smallest|little|hardly|negligible|minor)\b|最小|很小|可忽略|几乎(?:没有|不)", re.IGNORECASE
)
_KINDS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("r", late_pattern(r"\bresistors?\b|电阻", re.IGNORECASE)),
    ("c", late_pattern(r"\bcapacitors?\b|电容", re.IGNORECASE)),
    ("l", late_pattern(r"\binductors?\b|\bcoils?\b|电感", re.IGNORECASE)),
)
_OWN_WORD = late_pattern(r"(?<![A-Za-z])[A-Z]\w{1,7}(?![a-z])")
_ABBREVIATED = 3
"""Letters of a word by which a part is called behind its own: VREF."""


def wrong_words(text: str, results: Sequence[str], earlier: Sequence[str] = ()) -> tuple[str, ...]:
    """The clauses of an answer, in plain form and without code, that results prove wrong; () for none.

    `results` are those of the circuit as it is, the newest last; `earlier` those of before its last change.
    """
    facts = _Facts.of(results)
    facts.take_counts(earlier)
    now = [found for each in reversed(results[-40:]) if (found := quantities_of(each[:MOST_READ]))]
    states = [
        *now,
        *(found for each in reversed(earlier[-40:]) if (found := quantities_of(each[:MOST_READ]))),
    ]
    newest = next((run["run"] for each in reversed(results) if (run := RUN.search(each))), None)
    of_now, of_runs = facts, dict[str, _Facts]()
    facts.admits = _ADMITS.search(text[:MOST_READ]) is not None
    wrong: dict[str, None] = {}
    devices: set[str] = set()
    at = 0
    is_proposed = False
    for clause in _clauses(text[:MOST_READ]):
        begin = text.find(clause, at)
        if _SENTENCE_END.search(text, at, begin):
            of_now.row, is_proposed = None, False
        if earlier and text[text.rfind("\n", 0, begin) + 1 :].lstrip().startswith("|"):
            at = begin + len(clause)
            continue  # a table may tell of both states
        facts = of_now
        number = _of_one_run(text, begin) if earlier else None
        if number is not None and number != newest:  # of before the last change: by what it gave
            if number not in of_runs:
                of_runs[number] = _Facts.of(
                    [each for each in (*earlier, *results) if _is_of_run(each, number)]
                )
                of_runs[number].admits = of_now.admits
            facts = of_runs[number]
        is_proposed = is_proposed or _PROPOSES.search(clause) is not None
        at = begin + len(clause)
        row = named_quantity(clause, {*facts.verdicts, *facts.shares_of})
        facts.row = row if row is not None else facts.row
        # "M6 has little overdrive, it is in triode": the device named last is meant.
        devices = {each for each in _WORD.findall(clause.lower()) if each in facts.regions} or devices
        facts.subject = next(iter(devices)) if len(devices) == 1 else ""
        if (
            not is_proposed
            and not _NOT_OF_NOW.search(
                _OF_GOAL.sub(" ", TO_BEFORE.sub(" ", _PASSIVE.sub("", _NEARLY_ALL.sub("", clause))))
            )
            and (
                (not TO_BEFORE.search(clause) and _is_false_fact(clause, facts))
                or (
                    facts is of_now
                    and any(is_false_change(part, states, len(now), facts.row) for part in _AND.split(clause))
                )
            )
        ):
            wrong[clause.strip()[-_LONGEST:]] = None
    return tuple(wrong)


def _of_one_run(text: str, place: int) -> str | None:
    """The number of the one run that the sentence at a place names."""
    begin = max((end.end() for end in _SENTENCE_END.finditer(text, 0, place + 1)), default=0)
    end = _SENTENCE_END.search(text, place)
    runs = {
        each[1] or each[2] for each in _RUN_NAMED.finditer(text, begin, end.start() if end else len(text))
    }
    return runs.pop() if len(runs) == 1 else None


def _is_of_run(result: str, number: str) -> bool:
    run = RUN.search(result)
    return run is not None and run["run"] == number


def _clauses(text: str) -> Iterator[str]:
    at = 0
    for count, end in enumerate((*CLAUSE_END.finditer(text), None)):
        if count >= _MOST_CLAUSES:
            return
        clause = text[at : end.start() if end else len(text)]
        at = end.end() if end else at
        if clause.strip() and not (end and end[0] in "?？"):
            yield clause


def _is_false_fact(clause: str, facts: _Facts) -> bool:
    is_denied = NOT.search(clause) is not None
    return any(check(clause, facts, is_denied) for check in _CHECKS)


def _is_wrong_rest(clause: str, facts: _Facts, is_denied: bool) -> bool:  # noqa: PLR0911
    """Whether it has settled or oscillates, or not."""
    if _OF_POINT.search(clause):
        return False
    states = {state for name, state in facts.settled.items() if name and name in clause.lower()}
    states = states or set(facts.settled.values())
    if states == {True} and not is_denied and _UNSETTLED.search(clause):
        return True
    if facts.is_periodic and not is_denied and _FLAT.search(clause):
        return True
    said = _SETTLED.search(clause)
    if said is not None and states == {is_denied or NOT.search(said[0]) is not None}:
        return True
    if facts.is_periodic is None or not _OSCILLATES.search(clause):
        return False
    if is_denied:
        return facts.is_periodic and facts.is_undriven
    return not facts.is_periodic and set(facts.settled.values()) == {True}


def _is_wrong_rise(clause: str, facts: _Facts, _: bool) -> bool:
    """Whether no overshoot is said to be, where the largest value is well above the mean."""
    return facts.has_overshoot and _NO_OVERSHOOT.search(clause) is not None


def _is_wrong_of_runs(clause: str, facts: _Facts, is_denied: bool) -> bool:
    """Whether all runs of a study are said to have worked, or all samples to have passed."""
    is_of_all = (
        not is_denied
        and _ALL.search(clause) is not None
        and _SAMPLES.search(clause) is not None
        and not _REST.search(clause)
        and not _THAT_RAN.search(clause)
    )
    if facts.runs is not None and facts.runs[1]:
        is_none = _NONE_FAILED.search(clause) is not None and not _THAT_RAN.search(clause)
        return is_none or (is_of_all and _ALL_RAN.search(clause) is not None)
    for told in _OF_SO_MANY.finditer(clause):
        some, among = int(told["some"] or told["part"]), int(told["all"] or told["whole"])
        if among in facts.of_all and some not in facts.of_all[among]:
            return True
    if facts.passed is not None:
        good, bad = facts.passed[0], facts.passed[1] - facts.passed[0]
        for told in _SO_MANY.finditer(clause):
            count = int(told["passed"] or told["en"] or told["failed"] or told["missed"])
            is_good = told["passed"] or told["en"]
            if good != bad and count == (bad if is_good else good):
                return True
    has_missed = facts.passed is not None and facts.passed[0] < facts.passed[1]
    # "within 175.1° … 184.7° in all samples" tells of an own range
    units = [figure.unit for figure in figures_in(clause)]
    is_own = len(units) > len(set(units))
    return has_missed and is_of_all and not is_own and _PASS.search(clause) is not None


def _is_wrong_verdict(clause: str, facts: _Facts, is_denied: bool) -> bool:
    """Whether the goal of one quantity is said to be met, or not."""
    if facts.is_all_met and not is_denied and _VIOLATED.search(clause):
        return True
    if not facts.verdicts:
        return False
    row = named_quantity(clause, facts.verdicts)
    if row is None and facts.row not in facts.verdicts and _VERDICT_ONLY.fullmatch(clause) and not is_denied:
        return not facts.admits and not all(facts.verdicts.values())
    if row is None and not _ALL.search(clause):
        row = facts.row  # "THD fell to 2.4 %, so the goal is met"
    if row is None and not is_denied and ALL_GOALS.search(clause) and not _REST.search(clause):
        return not facts.admits and not all(facts.verdicts.values())
    return row is not None and facts.verdicts.get(row) is is_denied and _MEETS.search(clause) is not None


def _is_wrong_cause(clause: str, facts: _Facts, is_denied: bool) -> bool:
    """Whether a part is said to matter most that doesn't."""
    if not facts.shares or is_denied or not _DOMINATES.search(clause) or _LEAST.search(clause):
        return False
    shares = facts.shares if facts.row is None else facts.shares_of.get(facts.row, facts.shares)
    named = {each.lower() for each in _OWN_WORD.findall(clause)} & set(shares)
    if not named:  # "the reference" is VREF
        words = [each for each in _WORD.findall(clause.lower()) if len(each) > _ABBREVIATED]
        named = {
            name for name in shares for each in words if name.rstrip("0123456789")[1:] == each[:_ABBREVIATED]
        }
    if named:
        top = max(shares.values())
        return all(shares[each] < _NEARLY_TOP * top for each in named)
    of_kinds: dict[str, float] = {}
    for part, share in shares.items():
        of_kinds[part[0]] = of_kinds.get(part[0], 0.0) + share
    kinds = {kind for kind, words in _KINDS if words.search(clause)} & set(of_kinds)
    return len(kinds) == 1 and of_kinds[kinds.pop()] < _NEARLY_TOP * max(of_kinds.values())


def _is_wrong_count(clause: str, facts: _Facts, is_denied: bool) -> bool:
    """Whether a clause tells how many runs or samples there were, and no result has that number."""
    if (is_denied and not _FAILED_SO_MANY.search(clause)) or not facts.counts | facts.studied | facts.few:
        return False
    pairs = [each for each in (facts.runs, facts.passed) if each is not None]
    known = (facts.studied or facts.counts) | {abs(one - other) for one, other in pairs}
    measured = {figure.start for figure in figures_in(clause)}
    if any(
        int(found[found.lastgroup or ""]) not in (facts.few if "corner" in found[0] else known)
        for found in _COUNT.finditer(clause)
        if found.start(found.lastgroup or "") not in measured
    ):
        return True
    if _REST.search(clause):
        return False
    few = facts.few | {abs(one - other) for one, other in pairs} | {each for pair in pairs for each in pair}
    return bool(few) and any(
        _FEW[(found["english"] or found["ran"] or found["chinese"]).lower()] not in few
        for found in _FEW_OF.finditer(clause)
    )


def _is_wrong_region(clause: str, facts: _Facts, is_denied: bool) -> bool:
    """Whether devices are said to be in a region in which they aren't."""
    if _ELSEWHERE.search(clause):
        return False
    names = [each for each in _WORD.findall(clause.lower()) if each in facts.regions]
    if not names and facts.subject and not _ALL.search(clause) and _IS_IN.search(clause):
        names = [facts.subject]
    those = [facts.regions[each] for each in names]
    if not names and _ALL.search(clause) and not _REST.search(clause):
        those = [each for each in facts.regions.values() if each[0] != "diode"]
        if _FIELD_EFFECT.search(clause):
            those = [each for each in those if each[0] not in ("npn", "pnp")]
    for kind, region in those:
        unlike = "triode" if kind in ("npn", "pnp") else "active"
        said = {name for name, words in _REGIONS.items() if name != unlike and words.search(clause)}
        if kind != "diode" and len(said) == 1 and region in _REGIONS and (region in said) is is_denied:
            return not is_denied or (bool(names) and len(NOT.findall(clause)) == 1)
    return False


def _is_wrong_current_gain(clause: str, facts: _Facts, is_denied: bool) -> bool:
    """Whether the ratio of collector and base current is told otherwise than the operating point has it."""
    told = _CURRENT_GAIN.search(clause)
    if told is None or is_denied or not facts.current_gains:
        return False
    names = [each for each in re.findall(r"[a-z]\w*", clause.lower()) if each in facts.current_gains]
    those = [facts.current_gains[each] for each in names] or list(facts.current_gains.values())
    return not any(abs(float(told["value"]) - each) <= _GAIN_SLACK * each for each in those)


_CHECKS = (
    _is_wrong_current_gain,
    _is_wrong_region,
    _is_wrong_rest,
    _is_wrong_rise,
    _is_wrong_of_runs,
    _is_wrong_verdict,
    _is_wrong_cause,
    _is_wrong_count,
)
