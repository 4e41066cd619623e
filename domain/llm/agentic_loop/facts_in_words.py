"""Statements in words that results prove wrong: "all transistors are saturated", "it has settled".

Read from results in the form that the program's tools give them: regions of devices, shapes of waveforms,
failed runs of a study, samples that passed, shares of the variance, and the values of a quantity before and
behind the last change. Of an answer's clauses only those are judged that state something of the present:
what is wished, supposed, asked or told of before is left alone, and so is what no result tells.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from domain.circuit.figures_in_text import TextFigure, figures_in, plain
from domain.circuit.said_figures import is_rounding, is_thought
from shared.late_patterns import late_pattern

_MOST_READ = 8_000
_MOST_RESULTS = 100_000
_MOST_CLAUSES = 300
_LONGEST = 90
_SAME_SHARE = 0.02
"""A quantity that moved by less has not changed."""
_NEARLY_SAME = 0.1
_RATIO_SLACK = 0.2
_NEARLY_TOP = 0.8
"""A share of the variance this near to the largest is as large, in words."""

_CLAUSE_END = late_pattern(
    r"[。！!？?；;\n|，,：:（()）]|\.(?=\s|$)|\s-+\s|\b(?:but|while|whereas|although|though)\b|但是?"
    r"|而(?!且)|虽然|尽管"
)
_NOT_OF_NOW = late_pattern(
    r"\b(?:if|unless|until|before|when|would|could|should|shall|will|may|might|must|can|cannot|needs?"
    r"|want\w*|avoid"
    r"|prevent\w*|make sure|ensure|whether|so that|goal|target|expect\w*|predict\w*|earlier|previous\w*"
    r"|originally"
    r"|initially|at first|nearly|almost|close to|edge|was|were|had been|used to|to (?:be|get|keep|bring"
    r"|reach|let"
    r"|see|read)|suppos\w+|assum\w+|in theory|ideal\w*|typical\w*|usual\w*|generally|please|let(?:'s| me))\b"
    r"|如果|若|假如|假设|希望|应|需|必须|要(?![求的])|将|会|可能|能否|是否|才能|以便|使|让|避免|防止"
    r"|确保|保证|之前|原来|原先|起初|最初"
    r"|预计|预期|接近|几乎|差点|建议|请|理论|理想|通常|一般|目标|时$|的时候"
)
_TO_BEFORE = late_pattern(
    r"\b(?:than|as|compared (?:to|with)) (?:before|originally|earlier|previously)\b|\b(?:it|they"
    r"|what) (?:was|were)\b"
    r"|(?:[比较为到了])?(?:原来|之前|原先|修改前|改前)的?",
    re.IGNORECASE,
)
"""What compares with the state before."""
_AND = late_pattern(r"\band\b|并且?|、", re.IGNORECASE)
_NOT = late_pattern(
    r"\b(?:not|never|no|none|nor|neither|without|hardly|barely|yet to|out of|leaves?|left|no longer"
    r"|un\w+)\b|n['’]t\b"
    r"|不|没|未|尚|无|非(?!常)|退出|脱离|离开",
    re.IGNORECASE,
)
_ALL = late_pattern(r"\b(?:all|every|each|both|everything)\b|所有|全部|全都?|各|每|均|都|两管", re.IGNORECASE)
_REST = late_pattern(
    r"\b(?:others?|rest|remaining|except|apart from|but|besides|only)\b|其余|其他|其它|除|另|只有|仅",
    re.IGNORECASE,
)


# --- what results state ---------------------------------------------------------------------------------

_DEVICE = late_pattern(
    r"^(?P<name>\S+) (?P<kind>npn|pnp|[np]mos|[np]jf|[np]mf|diode) (?P<region>[A-Za-z ]+):(?P<rest>[^\n]*)",
    re.MULTILINE | re.IGNORECASE,
)
_SHAPE = late_pattern(
    r"^(?P<signal>\S+) over (?P<what>time: (?:constant|from)[^\n]*)|has (?P<not>not) settled by the end",
    re.MULTILINE,
)
_STIMULUS = late_pattern(r"\b(?:sin|pulse|pwl|sffm|am|exp)\s*\(\s*[-+.\d{]", re.IGNORECASE)
_NETLIST = late_pattern(r"^[ \t]*\.tran\b", re.MULTILINE | re.IGNORECASE)
_OWN_PERIOD = late_pattern(r"\b(?:frequency|period)\([^=\n]*\) = \d")
_RUNS = late_pattern(r"^\S+ of \S+: (?P<runs>\d+) runs, (?P<failed>\d+) failed", re.MULTILINE)
_YIELD = late_pattern(r"^yield \S+ \((?P<good>\d+) of (?P<all>\d+)\)", re.MULTILINE)
_SHARES = late_pattern(r"^ *(?:variance from|alone:) (?P<rest>[^\n]+)", re.MULTILINE)
_SHARE = late_pattern(r"(?P<part>[A-Za-z]\w*) [±+]?-?(?P<value>\d[\d.]*(?:e[-+]?\d+)?)")
_GIVEN = late_pattern(
    r"^[ \t-]*(?:Goals \([^)]*\):)?[ \t]*(?:met |MISSED )?(?P<label>[A-Za-z_][^=\n;<>≥≤|]{0,70}?)\s*="
    r"\s*(?P<value>[-+]?\d[^;\n]{0,30})",
    re.MULTILINE,
)
_OF_DEVICE = late_pattern(r"\b(?P<label>[A-Za-z]{1,3}) (?P<value>-?\d[\d.]*(?:e[-+]?\d+)? [A-Za-zμ]+)")
_PERIOD = late_pattern(r"; period (?P<period>[^(;\n]+?) \((?P<frequency>[^,;)\n]+)")
_DELIVER = late_pattern(
    r"^sources deliver (?P<power>[^:\n]+): (?P<name>\S+) \S+ \S+ (?P<current>[^,\n]+)$", re.MULTILINE
)

QUANTITIES: tuple[tuple[str, str], ...] = (
    (
        r"gain|dcgain|peak|av|a_?v|a_?db|adb",
        r"(?<!unity[- ])\bgain\b(?! margin|[- ]bandwidth)|(?<!单位)增益(?![裕余带])|放大倍数",
    ),
    (r"bw|bandwidth\w*", r"(?<!gain[- ])\bbandwidth\b(?! product)|(?<!增益)带宽"),
    (r"lower|f_?l(?:ow)?", r"\blower (?:corner|cut-?off)\b|下限(?:截止)?频率|低频截止"),
    (
        r"f_?c|f_?3_?db|cut_?off\w*|corner\w*",
        r"(?<!lower )(?:\bcut-?off\b|\bcorner\b)|(?<![下上]限)(?<!低频)截止|转折",
    ),
    (r"ugf|unity\w*|gbw", r"\bunity[- ]gain\b|\bcross-?over\b|\bUGF\b|单位增益|穿越频率"),
    (r"pm|phase_?margin", r"\bphase margin\b|相位[裕余][度量]"),
    (r"gm|gain_?margin", r"\bgain margin\b|增益[裕余][度量]"),
    (r"t_?r|t_?rise|rise_?time", r"\brise ?time\b|上升时间"),
    (r"t_?f|t_?fall|fall_?time", r"\bfall ?time\b|下降时间"),
    (r"t_?s|settling\w*", r"\bsettling time\b|建立时间|调整时间|稳定时间"),
    (r"slew\w*|sr", r"\bslew rate\b|压摆率|转换速率"),
    (r"v_?pp|pp|\w*ripple\w*|v\w*_pp", r"\bripple\b|\bswing\b|\bpeak[- ]to[- ]peak\b|纹波|摆幅|峰峰"),
    (r"\w*overshoot\w*", r"\bovershoot\b|过冲|超调"),
    (r"thd\w*|distortion", r"\bTHD\b|\bdistortion\b|失真"),
    (r"eff\w*|eta", r"\befficiency\b|效率"),
    (r"period", r"\bperiod\b|周期"),
    (
        r"f_?osc|freq\w*|f_?0|f",
        r"(?<!cutoff )(?<!corner )(?<!switching )(?<!gain )\bfrequency\b|(?<![止折关征振益限])频率|振荡频率",
    ),
    (r"v_?out\w*|vo", r"\boutput voltage\b|输出电压"),
    (r"v_?ref\w*", r"\breference voltage\b|基准电压"),
    (r"i_?q|quiescent\w*", r"\bquiescent current\b|静态电流"),
    (r"psrr\w*", r"\bPSRR\b|电源抑制"),
    (r"cmrr\w*", r"\bCMRR\b|共模抑制"),
    (r"en|[io]n|\w*noise\w*", r"\bnoise\b|噪声"),
    (r"yield", r"\byield\b|良率|合格率"),
    (r"ic", r"\bcollector current\b|集电极电流|\bIC\b"),
    (r"vce", r"\bVCE\b|\bcollector-emitter\b|集射"),
    (r"id", r"\bdrain current\b|漏极?电流"),
    (r"vds", r"\bVDS\b|漏源"),
    (r"p", r"\bdissipat\w+|耗散|管耗"),
    (r"(?:max|peak)_i", r"\bpeak (?:\w+ )?current\b|峰值电流|电流峰值"),
    (r"(?:avg|mean)_v", r"\b(?:average|mean) (?:output )?voltage\b|平均(?:输出)?电压"),
    (r"supply_power", r"\b(?:supply|total) power\b|\bpower consumption\b|总功耗|电源功[耗率]"),
    (r"supply_current", r"\bsupply current\b|\bcurrent consumption\b|电源电流|耗电"),
)
"""What results call a quantity, and how answers say it."""

Value = tuple[str, float]
"""Unit and value; "" where no unit is told."""


def _row_of(name: str) -> int | None:
    return next((row for row, (own, _) in enumerate(QUANTITIES) if re.fullmatch(own, name)), None)


def quantities_of(result: str) -> dict[int, list[Value]]:
    """The values of each quantity (its row among those known) in one result."""
    flat = plain(result)
    found: dict[int, list[Value]] = {}

    def keep(label: str, written: str) -> None:
        words = re.findall(r"[a-z_]\w*", label.lower())
        # The outermost function names the quantity; db() only says how it is told.
        word = next((each for each in words if each not in ("db", "abs", "mag")), "")
        if len(words) > 1 and words[1] in ("i", "v") and word in ("max", "peak", "avg", "mean"):
            word = f"{word}_{words[1]}"
        row = _row_of(word)
        if row is None:
            return
        figure = next(figures_in(written), None)
        bare = re.match(r"[-+]?\d[\d.]*(?:e[-+]?\d+)?", written)
        if figure is not None and figure.start <= 1:
            found.setdefault(row, []).append((figure.unit, abs(figure.value)))
        elif bare is not None:
            found.setdefault(row, []).append(("", abs(float(bare[0].rstrip(".")))))

    for line in flat.split("\n"):
        for part in line.split(";"):
            if (given := _GIVEN.match(part)) is not None and "->" not in part:
                keep(given["label"], given["value"])
    devices = [each for each in _DEVICE.finditer(flat) if each["kind"].lower() != "diode"]
    if len(devices) == 1:
        for given in _OF_DEVICE.finditer(devices[0]["rest"]):
            keep("transconductance" if given["label"] == "gm" else given["label"], given["value"])
    for samples in _YIELD.finditer(flat):
        keep("yield", f"{100 * int(samples['good']) / max(int(samples['all']), 1):.6g} %")
    for shape in _PERIOD.finditer(flat):
        keep("period", shape["period"])
        keep("frequency", shape["frequency"])
    if (supply := _DELIVER.search(flat)) is not None:
        keep("supply_power", supply["power"])
        keep("supply_current", supply["current"])
    return found


@dataclass(slots=True)
class _Facts:
    """What the newest results state."""

    regions: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Kind and region by device, in lower case."""
    settled: dict[str, bool] = field(default_factory=dict)
    """By signal; "" is one whose name is not told."""
    is_periodic: bool | None = None
    is_undriven: bool = False
    """No source drives it: what is periodic oscillates."""
    runs: tuple[int, int] | None = None
    """Runs of the newest study, and how many failed."""
    passed: tuple[int, int] | None = None
    """Samples of the newest study that kept its goals, of how many."""
    shares: dict[str, float] = field(default_factory=dict)
    verdicts: dict[int, bool] = field(default_factory=dict)
    """Whether the goal of a quantity (its row) is met."""
    counts: set[int] = field(default_factory=set)
    """Whole numbers of the results."""
    rows: dict[str, set[float]] = field(default_factory=dict)
    """What the newest results give of each corner or device, by its name in lower case."""
    others: set[float] = field(default_factory=set)
    """What they give elsewhere."""

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
                facts.regions = {
                    each["name"].lower(): (each["kind"].lower(), each["region"].strip().lower())
                    for each in _DEVICE.finditer(flat)
                }
            for verdict in _VERDICT.finditer(flat):
                row = _row_of(verdict["metric"].lower())
                if row is not None:
                    facts.verdicts.setdefault(row, verdict["how"] == "met")
            facts._read_rows(plain(flat))
            if not facts.settled:
                facts._read_shapes(flat)
            facts.counts |= {int(each) for each in _INTEGER.findall(flat)}
            for study in _RUNS.finditer(flat):
                facts.runs = facts.runs or (int(study["runs"]), int(study["failed"]))
            for samples in _YIELD.finditer(flat):
                facts.passed = facts.passed or (int(samples["good"]), int(samples["all"]))
            if not facts.shares and (shares := _SHARES.search(flat)) is not None:
                facts.shares = {
                    each["part"].lower(): float(each["value"]) for each in _SHARE.finditer(shares["rest"])
                }
            measured_period |= _OWN_PERIOD.search(flat) is not None
            has_netlist |= _NETLIST.search(flat) is not None
            has_stimulus |= _STIMULUS.search(flat) is not None
        facts.is_undriven = not has_stimulus and (measured_period or has_netlist)
        return facts

    def _read_rows(self, flat: str) -> None:
        rows = [*_ROW.finditer(flat), *_DEVICE.finditer(flat)]
        for row in rows:
            name = (row.groupdict().get("label") or row["name"]).lower()
            if name in self.rows:  # of an older result
                self.others |= _numbers(row["rest"])
            else:
                self.rows[name] = _numbers(row["rest"])
        for row in sorted(rows, key=lambda each: -each.start()):
            flat = flat[: row.start()] + flat[row.end() :]
        if rows:  # statistics are of all rows
            flat = _OF_ALL_ROWS.sub("", flat)
        self.others |= _numbers(flat)

    def _read_shapes(self, flat: str) -> None:
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
_FIELD_EFFECT = late_pattern(r"\b(?:mos\w*|j?fets?)\b|场效应", re.IGNORECASE)
_SETTLED = late_pattern(
    r"\b(?:(?:has|have|is|are|fully|well|now|already|completely) )+(?:settled|steady|stable)\b|\bsettled\b"
    r"|\b(?:in|reached|reaches|at) (?:a |its |the )?steady[- ]state\b"
    r"|已经?(?:完全)?(?:达到|进入)?(?:稳定|稳态)|(?:达到|进入|处于)了?稳态|稳定在|稳定下来|(?:没有?|未"
    r"|尚未|还没有?|不)(?:达到|进入)?(?:稳定|稳态)",
    re.IGNORECASE,
)
_OSCILLATES = late_pattern(
    r"\boscillat(?:es|ing|ion|e)\b|振荡(?!器|电路|频率)|起振(?!很|较|慢|时间|条件|过程|需|前)", re.IGNORECASE
)
_ALL_RAN = late_pattern(
    r"\b(?:converged?|succeed(?:s|ed)?|success(?:ful(?:ly)?)?|completed?|finished|ran(?: through| fine)?"
    r"|went through)\b"
    r"|成功|收敛|完成|通过仿真",
    re.IGNORECASE,
)
_NONE_FAILED = late_pattern(
    r"\b(?:no|none|zero|0|without(?: any| a)?)\b.{0,20}\bfail\w*|\bnone\b.{0,16}\bfail|\bdid not fail"
    r"|(?:没有|无|未)[^，。]{0,8}(?:失败|不收敛)|(?:失败|不收敛)[^，。]{0,4}(?:0|零) ?次",
    re.IGNORECASE,
)
_COUNT = late_pattern(
    r"(?<![\d.])(?P<count>\d{2,6})(?: (?:\w+[- ]){0,2}(?:runs?|samples?|trials?|simulations?|iterations?)\b"
    r"|\s?次(?:[^，。；,;]{0,6}?(?:运行|仿真|模拟|蒙特卡洛|迭代|抽样|中))|\s?个?(?:样本|样品))"
    r"|(?:样本|样品|次|其)?中(?:只?有)?\s?(?P<other>\d{2,6}) ?[个次]",
    re.IGNORECASE,
)
_INTEGER = late_pattern(r"(?<![\w.+-])\d{2,6}(?![\w.]|\.\d)")
_OF_ALL_ROWS = late_pattern(r"^\w+ \[[^\]\n]{1,8}\]: [^\n]*", re.MULTILINE)
_VERDICT = late_pattern(r"\b(?P<how>met|MISSED) (?P<metric>[A-Za-z]\w*) = ")
_ROW = late_pattern(r"^\d+: (?P<label>[A-Za-z]\w*) -> (?P<rest>[^\n]+)", re.MULTILINE)
_SAMPLES = late_pattern(
    r"\b(?:samples?|runs?|trials?|simulations?|units?|points?)\b|样本|样品|次|仿真|运行", re.IGNORECASE
)
_PASS = late_pattern(
    r"\b(?:pass(?:es|ed)?|meets?|met|within|inside|stay(?:s|ed)?|lie|satisf\w+|in spec)\b|合格|达标|满足"
    r"|通过|落在",
    re.IGNORECASE,
)
_MEETS = late_pattern(
    r"\b(?:meets?|met|satisf(?:y|ies|ied)|in spec|within (?:the )?(?:spec|limit|goal)\w*|fulfils?"
    r"|passes)\b|满足|达标|合格|符合",
    re.IGNORECASE,
)
_DOMINATES = late_pattern(
    r"\bdominat\w*|\bmatters? most\b|\bmost (?:important|critical|influential|sensitive)\b|\b(?:largest"
    r"|biggest|greatest|main|chief|strongest)\b|\b(?:mostly|mainly|chiefly|primarily|nearly all"
    r"|almost all|most of)\b|主导|主要|(?:贡献|影响|占比|作用|灵敏度)[^，。]{0,3}最[大高多]"
    r"|最[大主敏][^，。]{0,3}(?:贡献|影响|因素|来源|感)"
    r"|绝大部分|几乎全部",
    re.IGNORECASE,
)
_LEAST = late_pattern(
    r"\b(?:least|smallest|little|hardly|negligible|minor)\b|最小|很小|可忽略|几乎(?:没有|不)", re.IGNORECASE
)
_BOUND = late_pattern(
    r"\b(?:above|below|within|under|over|at least|at most|between|inside|range|limit)\b"
    r"|以上|以下|以内|之内|范围|高于|低于|大于|小于|超过|不到|左右",
    re.IGNORECASE,
)
_SAME = late_pattern(
    r"\b(?:unchanged|unaffected|identical|constant)\b|\b(?:stay|remain)(?:s|ed)?\b"
    r"|\b(?:the )?same\b(?! time)|\bno change\b"
    r"|\b(?:does|did|has|have)(?: not|n['’]t) (?:change|move|shift)|\b(?:is|was) kept\b|\bkeeps?\b"
    r"|不变|没有?变|未变|未改变|无变化|保持|维持|不受影响|相同|一样|仍(?:然|旧)?[为是]",
    re.IGNORECASE,
)
_NEARLY = late_pattern(
    r"\b(?:almost|nearly|practically|essentially|roughly|about|virtually|basically|largely|approximately)\b"
    r"|基本|几乎|大致|约|大体|差不多|略",
    re.IGNORECASE,
)
_MOVED = late_pattern(
    r"\b(?:rose|rises|risen|grew|grown|increase[sd]?|went up|higher|wider|larger|raised|fell|falls"
    r"|fallen|dropped|drops"
    r"|decrease[sd]?|went down|lower|narrower|smaller|shrank|reduced|shrunk|than before|as before"
    r"|of what it was"
    r"|of its (?:old|former|previous|original)|of the (?:old|former|previous|original)|compared|now|became)\b"
    r"|原来|原先|之前|以前|先前|修改前|改前|[升增降减]|提高|变[大小宽窄高低]|缩[小短]",
    re.IGNORECASE,
)
_FACTORS: tuple[tuple[re.Pattern[str], float], ...] = (
    (
        late_pattern(
            r"\b(?:doubled|doubles|twice)\b|翻了?一?[倍番]|(?:原来|之前)的?(?:两|二|2) ?倍|加倍",
            re.IGNORECASE,
        ),
        2.0,
    ),
    (late_pattern(r"\b(?:halved|halves|half)\b|一半|减半|二分之一|对半", re.IGNORECASE), 0.5),
    (late_pattern(r"\b(?:tripled|three times)\b|(?:原来|之前)的?三倍", re.IGNORECASE), 3.0),
    (late_pattern(r"\b(?:a|one) third\b(?! of the (?:range|limit))|三分之一", re.IGNORECASE), 1 / 3),
    (late_pattern(r"\b(?:a|one) quarter\b|四分之一", re.IGNORECASE), 0.25),
    (
        late_pattern(
            r"\b(?:an? |one )?order of magnitude\b|一个数量级|十倍|ten ?times|tenfold", re.IGNORECASE
        ),
        10.0,
    ),
)
_BY_ITSELF = late_pattern(
    r"\b(?:doubled|doubles|halved|halves|tripled)\b|翻了?一?[倍番]|减半|加倍", re.IGNORECASE
)
_UP = late_pattern(
    r"\b(?:rose|rises|grew|increase[sd]?|went up|climbed)\b|上升|升[至到]|升高|提高|提升|增[大加至到]"
    r"|变[大宽高]",
    re.IGNORECASE,
)
_DOWN = late_pattern(
    r"\b(?:fell|falls|dropped|drops|decrease[sd]?|went down|shrank|sank|declined)\b|下降|降[至到]|降低"
    r"|减[小少至到]|变[小窄低]|缩[小短]",
    re.IGNORECASE,
)
_OLD = late_pattern(
    r"\b(?:before|previous\w*|earlier|old|original\w*)\b|原|之前|先前|旧|改前|调前", re.IGNORECASE
)
_PART = late_pattern(r"\b[A-Z][A-Za-z]{0,3}\d\w{0,3}\b")
_LINK = late_pattern(
    r"\s*(?:\([^()]{0,20}\))?\s*(?:(?:now|only|just|about|around|roughly|some|approximately|at|is|are"
    r"|was|of|to|reaches|reached|becomes"
    r"|came out|comes? to|equals?|measures|it|has|have|risen|rises?|rose|fallen|falls?|fell|improved?"
    r"|improves|dropped|drops|up|down"
    r"|increased|increases|decreased|decreases|a|the)\s*|现在?|目前|已经?|约|大约|为|是|达到|到|至|了"
    r"|提高|升|降|增大|减小|增加|改善"
    r"|下降|上升|的|仅|只有|即|[=:~≈|])*\s*"
)
_DIFFERS = late_pattern(
    r"\s*(?:too|more|less|higher|lower|above|below|over|under|short|off|away|worse|better|wider|narrower"
    r"|larger|smaller|beyond"
    r"|per|/|以上|以下|以内|的?(?:差|余量|裕量|偏))",
    re.IGNORECASE,
)
_ARRIVES = late_pattern(
    r"(?:\bfrom|从|由)\s?(?P<start>[^。；;\n]{1,40}?)\s?(?:\bto\b|->|→|到|至|为|成)(?: (?:about"
    r"|some))?[约\s]*$",
    re.IGNORECASE,
)


def wrong_words(text: str, results: Sequence[str], earlier: Sequence[str] = ()) -> tuple[str, ...]:
    """The clauses of an answer, in plain form and without code, that results prove wrong; () for none.

    `results` are those of the circuit as it is, the newest last; `earlier` those of before its last change.
    """
    facts = _Facts.of(results)
    now = [found for each in reversed(results[-40:]) if (found := quantities_of(each[:_MOST_READ]))]
    before = [found for each in reversed(earlier[-40:]) if (found := quantities_of(each[:_MOST_READ]))]
    wrong: dict[str, None] = {}
    for clause in _clauses(text[:_MOST_READ]):
        if _is_moved_wrong_way(clause) or (
            not _NOT_OF_NOW.search(_TO_BEFORE.sub(" ", clause))
            and (
                (not _TO_BEFORE.search(clause) and _is_false_fact(clause, facts))
                or any(_is_false_change(part, now, before) for part in _AND.split(clause))
            )
        ):
            wrong[clause.strip()[-_LONGEST:]] = None
    return tuple(wrong)


def _clauses(text: str) -> Iterator[str]:
    at = 0
    for count, end in enumerate((*_CLAUSE_END.finditer(text), None)):
        if count >= _MOST_CLAUSES:
            return
        clause = text[at : end.start() if end else len(text)]
        at = end.end() if end else at
        if clause.strip() and not (end and end[0] in "?？"):
            yield clause


def _is_false_fact(clause: str, facts: _Facts) -> bool:
    is_denied = _NOT.search(clause) is not None
    return any(check(clause, facts, is_denied) for check in _CHECKS)


def _is_wrong_rest(clause: str, facts: _Facts, is_denied: bool) -> bool:
    """Whether it has settled or oscillates, or not."""
    states = {state for name, state in facts.settled.items() if name and name in clause.lower()}
    states = states or set(facts.settled.values())
    said = _SETTLED.search(clause)
    if said is not None and states == {is_denied or _NOT.search(said[0]) is not None}:
        return True
    if facts.is_periodic is None or not _OSCILLATES.search(clause):
        return False
    if is_denied:
        return facts.is_periodic and facts.is_undriven
    return not facts.is_periodic and set(facts.settled.values()) == {True}


def _is_wrong_of_runs(clause: str, facts: _Facts, is_denied: bool) -> bool:
    """Whether all runs of a study are said to have worked, or all samples to have passed."""
    is_of_all = (
        not is_denied
        and _ALL.search(clause) is not None
        and _SAMPLES.search(clause) is not None
        and not _REST.search(clause)
    )
    if facts.runs is not None and facts.runs[1]:
        return _NONE_FAILED.search(clause) is not None or (is_of_all and _ALL_RAN.search(clause) is not None)
    has_missed = facts.passed is not None and facts.passed[0] < facts.passed[1]
    return has_missed and is_of_all and _PASS.search(clause) is not None


def _is_wrong_verdict(clause: str, facts: _Facts, is_denied: bool) -> bool:
    """Whether the goal of one quantity is said to be met, or not."""
    row = _named(clause) if facts.verdicts else None
    return row is not None and facts.verdicts.get(row) is is_denied and _MEETS.search(clause) is not None


def _is_wrong_cause(clause: str, facts: _Facts, is_denied: bool) -> bool:
    """Whether a part is said to matter most that doesn't."""
    if not facts.shares or is_denied or not _DOMINATES.search(clause) or _LEAST.search(clause):
        return False
    named = {each.lower() for each in _PART.findall(clause)} & set(facts.shares)
    top = max(facts.shares.values())
    return bool(named) and all(facts.shares[each] < _NEARLY_TOP * top for each in named)


def _numbers(text: str) -> set[float]:
    """Figures and bare numbers of a text in plain form, SI, without their signs."""
    figures = list(figures_in(text))
    at = {figure.start for figure in figures}
    return {abs(figure.value) for figure in figures} | {
        float(each[0])
        for each in re.finditer(r"(?<![\w.])\d+(?:\.\d+)?(?:e[-+]?\d{1,3})?(?![\w.])", text)
        if each.start() not in at
    }


def _is_of_other_row(clause: str, facts: _Facts, _is_denied: bool) -> bool:
    """Whether a clause gives one corner or device what another has, and nothing else."""
    words = set(re.findall(r"[a-z]\w*", clause.lower()))
    named = [name for name in facts.rows if name in words]
    if len(named) != 1 or len(facts.rows) < 2:
        return False

    def stands_in(values: set[float], figure: TextFigure) -> bool:
        return any(is_rounding(figure, value, is_rough=False) for value in values)

    return any(
        figure.digits > 1
        and not stands_in(facts.rows[named[0]] | facts.others, figure)
        and any(stands_in(values, figure) for values in facts.rows.values())
        for figure in figures_in(clause)
    )


def _is_wrong_count(clause: str, facts: _Facts, is_denied: bool) -> bool:
    """Whether a clause tells how many runs or samples there were, and no result has that number."""
    if is_denied or not facts.counts:
        return False
    pairs = [each for each in (facts.runs, facts.passed) if each is not None]
    known = facts.counts | {abs(one - other) for one, other in pairs}
    return any(int(found["count"] or found["other"]) not in known for found in _COUNT.finditer(clause))


def _is_wrong_region(clause: str, facts: _Facts, is_denied: bool) -> bool:
    """Whether devices are said to be in a region in which they aren't."""
    names = [each for each in re.findall(r"[a-z]\w*", clause.lower()) if each in facts.regions]
    those = [facts.regions[each] for each in names]
    if not names and _ALL.search(clause) and not _REST.search(clause):
        those = [each for each in facts.regions.values() if each[0] != "diode"]
        if _FIELD_EFFECT.search(clause):
            those = [each for each in those if each[0] not in ("npn", "pnp")]
    for kind, region in () if is_denied else those:
        unlike = "triode" if kind in ("npn", "pnp") else "active"
        said = {name for name, words in _REGIONS.items() if name != unlike and words.search(clause)}
        if kind != "diode" and len(said) == 1 and region in _REGIONS and region not in said:
            return True
    return False


_CHECKS = (
    _is_wrong_region,
    _is_wrong_rest,
    _is_wrong_of_runs,
    _is_wrong_verdict,
    _is_wrong_cause,
    _is_of_other_row,
    _is_wrong_count,
)


def _named(clause: str) -> int | None:
    """The row of the one quantity that a clause names."""
    rows = [row for row, (_, words) in enumerate(QUANTITIES) if re.search(words, clause, re.IGNORECASE)]
    return rows[0] if len(rows) == 1 else None


def _is_false_change(
    clause: str, now: Sequence[Mapping[int, list[Value]]], before: Sequence[Mapping[int, list[Value]]]
) -> bool:
    """Whether a quantity is said to have stayed, doubled, risen ... and no two of its values did."""
    row = _named(clause)
    new = [] if row is None else next((found[row] for found in now if row in found), [])
    if row is None or len(new) != 1 or _BOUND.search(clause):
        return False
    unit, one = new[0]
    others = [value for found in before for own, value in found.get(row, ()) if own == unit and value]
    if not others or not one:
        return False
    if _SAME.search(clause):
        slack = _NEARLY_SAME if _NEARLY.search(clause) else _SAME_SHARE
        return all(abs(one - other) > slack * max(one, other) for other in others)
    if _NOT.search(clause):
        return False
    return _is_wrong_factor(clause, unit, [one / other for other in others]) or _is_wrong_way(
        clause, [one / other for other in others]
    )


def _is_wrong_factor(clause: str, unit: str, ratios: Sequence[float]) -> bool:
    factors = [factor for words, factor in _FACTORS if words.search(clause)]
    if len(factors) != 1 or unit in ("dB", "deg", "degC"):
        return False
    if not (_MOVED.search(clause) or _BY_ITSELF.search(clause)):
        return False
    is_inverse = factors[0] > 2 and _DOWN.search(clause) is not None
    factor = 1 / factors[0] if is_inverse else factors[0]
    return not any(abs(ratio / factor - 1) <= _RATIO_SLACK for ratio in ratios)


def _is_wrong_way(clause: str, ratios: Sequence[float]) -> bool:
    up, down = _UP.search(clause) is not None, _DOWN.search(clause) is not None
    if up == down or is_thought(clause, "") or re.search(r"\bby\b|\bthan\b|比", clause):
        return False
    return all(ratio < 1 - _SAME_SHARE if up else ratio > 1 + _SAME_SHARE for ratio in ratios)


def _is_moved_wrong_way(clause: str) -> bool:
    """ "rose from 7.6 V to 5.5 V": the figures of a clause that tells a way go the other."""
    up, down = _UP.search(clause) is not None, _DOWN.search(clause) is not None
    if up == down:
        return False
    figures = list(figures_in(clause))
    for first, second in pairwise(figures):
        leads = re.search(r"(?:\bfrom|从|由)\s?(?:about |约)?$", clause[: first.start], re.IGNORECASE)
        between = clause[first.end : second.start]
        if (
            leads is not None
            and first.unit == second.unit
            and len(between) < 24
            and re.search(r"\bto\b|->|→|到|至|为|成", between)
            and first.value > 0
            and second.value > 0
            and first.value != second.value
        ):
            return (second.value < first.value) == up
    return False


class Quantities:
    """What results call by a name, for figures that answers give of it."""

    def __init__(self, results: Sequence[str]) -> None:
        self._values: dict[int, list[Value]] = {}
        for each in results[-80:]:
            for row, values in quantities_of(each[:_MOST_READ]).items():
                self._values.setdefault(row, []).extend(values)

    def told_before(self, flat: str, figure: TextFigure) -> tuple[int, list[float]]:
        """The values of the quantity named right before a figure, in its unit, and where the name begins.

        Empty where none does, or the figure is a difference ("0.8 dB too high").
        """
        start = max(0, figure.start - 60)
        before = flat[start : figure.start]
        ends = [end.end() for end in _CLAUSE_END.finditer(before) if end[0] not in "|(（：:"]
        at = max(ends, default=0)
        found = [
            (each.end(), each.start(), row)
            for row, (_, words) in enumerate(QUANTITIES)
            for each in re.finditer(words, before[at:], re.IGNORECASE)
        ]
        if not found or _DIFFERS.match(flat[figure.end : figure.end + 24]):
            return 0, []
        end, begin, row = max(found)
        if not _LINK.fullmatch(before[at + end :]):
            return 0, []
        values = self._values.get(row, ())
        if figure.unit == "%":
            known = [100 * value if unit == "" else value for unit, value in values if unit in ("", "%", "1")]
        else:
            known = [value for unit, value in values if unit == figure.unit]
        return start + at + begin, known


def came_from(before: str) -> int | None:
    """Where "from 42 dB to" begins that stands right before a figure."""
    found = _ARRIVES.search(before)
    return None if found is None or not any(figures_in(found["start"])) else found.start()
