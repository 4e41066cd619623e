"""What results give by name ("gain = 40 dB", "bw [Hz]: min 84120"), and how answers say those names.

Quantities of the trade are known by their words in English and Chinese, others by the name in the result.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from math import log10

from domain.circuit.figures_in_text import TextFigure, figures_in, plain, unit_name
from shared.late_patterns import late_pattern

MOST_READ = 8_000
"""Characters of an answer, or of one result, that are read."""

CLAUSE_END = late_pattern(
    r"[。！!？?；;\n|，,：:（()）]|\.(?=\s|$)|\s-+\s|\b(?:but|while|whereas|although|though)\b|但是?"
    r"|而(?!且)|虽然|尽管"
)
YIELD = late_pattern(r"^yield \S+ \((?P<good>\d{1,9}) of (?P<all>\d{1,9})\)", re.MULTILINE)
DEVICE = late_pattern(
    r"^(?P<name>\S+) (?P<kind>npn|pnp|[np]mos|[np]jf|[np]mf|diode) (?P<region>[A-Za-z ]+):(?P<rest>[^\n]*)",
    re.MULTILINE | re.IGNORECASE,
)
_GIVEN = late_pattern(
    r"^[ \t-]*+(?:Goals \([^)]*\):[ \t]*)?(?:met |MISSED )?(?P<label>[A-Za-z_][^=\n;<>≥≤|]{0,70}?)\s*="
    r"\s*(?P<value>[-+]?\d[^;\n]{0,30})",
    re.MULTILINE,
)
_OF_DEVICE = late_pattern(r"\b(?P<label>[A-Za-z]{1,3}) (?P<value>-?\d+(?:\.\d*)?(?:e[-+]?\d+)? [A-Za-zμ]+)")
_PERIOD = late_pattern(r"; period (?P<period>[^(;\n]+?) \((?P<frequency>[^,;)\n]+)")
_DELIVER = late_pattern(r"^sources deliver (?P<power>[^:\n]+): (?P<each>[^\n]+)$", re.MULTILINE)
_NAMED = late_pattern(
    r"(?P<name>[A-Za-z_][\w ]{0,24}?)"
    r"(?:\((?:[^()\n]|\((?:[^()\n]|\((?:[^()\n]|\([^()\n]{0,40}+\)){0,60}+\)){0,80}+\)){0,100}+\))?"
    r"\s*=\s*(?P<number>[-+]?\d+(?:\.\d*)?(?:e[-+]?\d+)?)",
    re.IGNORECASE,
)
_OWN_NAME = late_pattern(r"[A-Za-z][A-Za-z_]\w*|[A-Za-z]\d{1,2}\w*")
_STATISTICS = late_pattern(r"^(?P<name>\w+) \[(?P<unit>[^\]\n]{1,8})\]:(?P<rest>[^\n]*)", re.MULTILINE)
_STATISTIC = late_pattern(
    r"(?:min|max|mean|median|nominal|sigma|rss|to) (?P<number>[-+]?\d+(?:\.\d*)?(?:e[-+]?\d+)?)",
    re.IGNORECASE,
)
_STUDY = late_pattern(rf"{_STATISTICS.pattern}|^\S+ of \S+: \d+ runs, ", re.MULTILINE)
_POWER = late_pattern(
    r"avg\((?:(?P<square>v\((?P<node>\w*out\w*)\)\*v\((?P=node)\)/[\d.]+\w*)|-?v\(\w+\)\*-?i\(v(?:in|cc"
    r"|dd|s)\w*\))[^)]*\)",
    re.IGNORECASE,
)
"""Of what a load takes, and of what the supply gives."""
_SUPPLIED = late_pattern(r"-?(?:avg|mean|abs)?\(?-?i\(v(?:cc|dd|in|p|s|bat)\w*\)\)?", re.IGNORECASE)
_PEAK_GAIN = late_pattern(r"(?:max|peak)\((?:db|abs|mag)\(v\(", re.IGNORECASE)
_MEASURED = late_pattern(
    r"'(?:metric|name)': '(?P<metric>\w+)', '(?:expression|expr)': '(?P<own>[^']+)'"
    r"|'(?P<name>\w+)': '(?P<expression>[-\w+*/ ]*\([^']*)'"
)
"""In what calls were given: which expression a name stands for."""
_ENDS = late_pattern(r"\b(?:min|max) ([-+]?\d+(?:\.\d*)?(?:e[-+]?\d+)?)")

_APART = late_pattern(
    r"\d|[|+*/^]|\w-\w*$|\b(?:at|for|by|per|with|when|than|over|above|below|under|within|between|goal\w*"
    r"|targets?|limits?|spec\w*|requir\w+|miss\w*|short|allowed|ask\w*|want\w*|need\w*|only if|vs|versus"
    r"|against|difference|margins?|ratio|times|factor|change\w*|error|via|using|after|before|and|or|due"
    r"|because|since|into|across|through|not|no|n't|sigma|spread)\b"
    r"|[在当时按经比较高低于过以与和及或差每目标要求限值余裕量倍因若后前内外个点处由于]|改为|换成|设为|调到|离|距|变化|误差|标准差",
    re.IGNORECASE,
)
"""Words between a name and a figure behind it that make the figure one of something else."""
_NAME_BEHIND = late_pattern(
    r" (?:of (?:the |its )?)?(?:(?:output|voltage|total) )?| ?的(?:输出)?", re.IGNORECASE
)
_THAN = late_pattern(r"\bthan\b|\bvs\b|比", re.IGNORECASE)
_FROM_FIGURE = late_pattern(
    r"(?:\bwithin )?±\s?[\d.]+ ?%(?: ?以内)?"
    r"|(?<=从|由)\s?[\d.]+\s?[a-zA-ZΩ°%]{0,4}|\bfrom [\d.]+\s?[a-zA-ZΩ°%]{0,4}"
)
"""What a quantity had before is no other one's."""
_OPERATOR = late_pattern(r"[\w)] ?[-+*/] ?$")
_WORDS_BEHIND = late_pattern(r"[^|\n]{0,24}?[^\W\d_][^|\n]{0,40}\|")
_OPERATES = late_pattern(r" ?[*/+^] ?[\w(√]| - [\d.]+ ?\w{1,3} ?[*/]")
DIFFERS = late_pattern(
    r"\s*(?:too|more|less|higher|lower|high\b|low\b|above|below|over|under|short|off|away|worse|better|wider|narrower"
    r"|larger|smaller|beyond"
    r"|per|/|以上|以下|以内|的?(?:差|余量|裕量|偏))",
    re.IGNORECASE,
)
QUANTITIES: tuple[tuple[str, str], ...] = (
    (
        r"gain|dcgain|peak|av|a_?v|a_?db|adb",
        r"(?<!unity[- ])\bgain\b(?! margin|[- ]bandwidth)|(?<!单位)增益(?![裕余带])|放大倍数",
    ),
    (r"bw|bandwidth\w*", r"(?<!gain[- ])\bbandwidth\b(?! product)|(?<!增益)带宽"),
    (r"lower|lowcut|f_?l(?:ow)?", r"\blower (?:corner|cut-?off)\b|下限(?:截止)?频率|低频截止"),
    (r"upper|highcut|f_?h(?:igh)?", r"\bupper (?:corner|cut-?off)\b|上限(?:截止)?频率|高频截止"),
    (
        r"f_?c|f_?3_?db|cut_?off\w*|corner\w*",
        r"\bfc\b|(?<!lower )(?<!upper )(?:\bcut-?off\b|(?<!every )(?<!each )(?<!any )(?<!worst )(?<!process )"
        r"(?<!slow )(?<!fast )(?<!one )\bcorner\b(?! [\[\d(]))|(?<![下上]限)(?<!低频)截止(?:频率)?"
        r"|转折(?:频率)?",
    ),
    (r"ugf|unity\w*|gbw", r"\bunity[- ]gain\b|\bcross-?over\b|\bUGF\b|单位增益|穿越频率"),
    (r"pm|phase_?margin", r"\bPM\b|\bphase margin\b|相位[裕余][度量]"),
    (r"gm|gain_?margin", r"\bgain margin\b|增益[裕余][度量]"),
    (r"t_?r|t_?rise|rise_?time", r"\brise ?time\b|上升时间"),
    (r"t_?f|t_?fall|fall_?time", r"\bfall ?time\b|下降时间"),
    (r"t_?s|settling\w*", r"\bsettling time\b|建立时间|调整时间|稳定时间"),
    (r"slew\w*|sr", r"\bslew rate\b|压摆率|转换速率"),
    (
        r"pp_i|i_?\w*ripple|ripple_?i\w*",
        r"\bripple current\b|\b(?:current|inductor|IL) ripple\b|电流纹波|纹波电流",
    ),
    (
        r"v_?pp|pp|pp_v|rip|\w*ripple\w*|v\w*_pp",
        r"(?<!current )(?<!inductor )(?<!IL )\bripple\b(?! current)|\bswing\b|\bpeak[- ]to[- ]peak\b"
        r"|(?<!电流)纹波(?!电流)|摆幅|峰峰值?",
    ),
    (r"\w*_?rms|rms_\w+", r"\brms\b(?! noise)|\beffective value\b|有效值"),
    (r"\w*overshoot\w*", r"\bovershoot\b|过冲|超调"),
    (r"thd\w*|distortion", r"\bTHD\b|\bdistortion\b|失真"),
    (r"eff\w*|eta", r"\befficiency\b|效率"),
    (r"period", r"\bperiod\b|周期"),
    (
        r"f_?osc|freq\w*|f_?0|f|(?:x|arg)max",
        r"(?<!cutoff )(?<!corner )(?<!switching )(?<!gain )\bfrequency\b|(?<![止折关征振益限])频率|振荡频率",
    ),
    (r"v_?out\w*|vo", r"\bVout\b|(?<!average )(?<!mean )\boutput voltage\b|(?<!平均)输出电压"),
    (r"v_?ref\w*", r"\bVref\b|\breference voltage\b|基准电压"),
    (r"i_?q|quiescent\w*", r"\bIq\b|\bquiescent current\b|静态电流"),
    (r"psrr\w*", r"\bPSRR\b|电源抑制"),
    (r"cmrr\w*", r"\bCMRR\b|共模抑制"),
    (r"en|[io]n|\w*noise\w*", r"\bnoise\b(?! figure)|噪声(?!系数)"),
    (r"nf\w*|noise_?figure", r"\bnoise figure\b|(?<!\d )(?<!\d)(?-i:\bNF\b)|噪声系数"),
    (r"\w*drop_?out\w*", r"\bdrop-?out\b|压差"),
    (r"v_?os\w*|\w*offset\w*", r"\boffset\b|失调"),
    (r"t_?pd\w*|t_?d|\w*delay\w*", r"\b(?:propagation )?delay\b|延迟|延时"),
    (r"\w*peaking\w*", r"\bpeaking\b|谐振峰|尖峰"),
    (r"q|q_?factor|quality\w*", r"\bQ\b(?! ?=? ?[a-z])|\bquality factor\b|品质因数"),
    (r"z_?t|\w*transimp\w*", r"\btransimpedance\b(?! amp)|跨阻(?!放大)"),
    (r"\w*hyst\w*", r"\bhysteresis\b|回差|迟滞"),
    (r"\w*droop\w*|\w*undershoot\w*", r"\bdroop\b|\bundershoot\b|跌落"),
    (r"f_?notch|notch\w*", r"\bnotch(?: frequency)?\b(?! depth)|陷波(?:频率|点)"),
    (r"depth|att\d*\w?|\w*atten\w*", r"\battenuation\b|\bdepth\b|衰减|深度"),
    (r"\w*ampl\w*", r"\bamplitude\b|幅度|振幅"),
    (
        r"z_?in?|r_?in|input_(?:imp|res)\w*",
        r"\binput (?:impedance|resistance)\b|\bZin\b|输入(?:阻抗|电阻)",
    ),
    (
        r"z_?o(?:ut)?|r_?o(?:ut)?|output_(?:imp|res)\w*",
        r"\boutput (?:impedance|resistance)\b|\bZout\b|输出(?:阻抗|电阻)",
    ),
    (r"yield", r"\byield\b|良率|合格率"),
    (r"ic", r"\bcollector current\b|集电极电流|(?<!the )(?-i:\bIC\b)"),
    (r"p_?in|input_power", r"\binput power\b|\bP_?in\b|输入功率"),
    (r"p_?out|output_power", r"\boutput power\b|\bP_?out\b|输出功率"),
    (r"diode_id", r"\b(?:zener|diode|LED)(?:['’]s)? current\b|(?:稳压管|二极管|LED) ?的?电流"),
    (r"vce", r"\bVCE\b|\bcollector-emitter\b|集射"),
    (r"id", r"\bdrain current\b|漏极电流"),
    (r"vds", r"\bVDS\b|漏源"),
    (r"p", r"(?<!total )(?<!power )\bdissipat\w+|(?<!总)耗散|管耗"),
    (r"(?:max|peak|min)_i", r"\bpeak (?:\w+ )?current\b|峰值电流|电流峰值"),
    (
        r"(?:avg|mean)_v",
        r"\b(?:average|mean) (?:output(?: voltage)?|voltage)\b|平均(?:输出)?电压"
        r"|输出平均值",
    ),
    (r"supply_power", r"\b(?:supply|total) power\b|\bpower consumption\b|总功耗|电源功[耗率]"),
    (
        r"supply_current|i_?dd|i_?cc|i_?vdd|i_?vcc|i_?supply",
        r"\bsupply current\b|\bcurrent consumption\b|\btotal (?:supply )?current\b|电源电流|耗电|总电流",
    ),
)
"""What results call a quantity, and how answers say it."""

Value = tuple[str, float]
"""Unit and value; "" where no unit is told."""
Row = int | str
"""Which of `QUANTITIES`, or the name in the result of one that is none of them."""


@lru_cache(maxsize=512)
def row_of(name: str) -> Row:
    """The quantity that a result calls so."""
    return next((row for row, (own, _) in enumerate(QUANTITIES) if re.fullmatch(own, name)), name)


_BY_ITSELF = frozenset(
    map(row_of, ("thd", "pm", "gain_margin", "psrr", "cmrr", "noise", "nf", "slew", "settling"))
)
"""What has to be measured: it follows from no other quantity."""
_TELLS = late_pattern(
    r"(?: (?:of|at|is|was|remains|stays|now|only|just|about|the|output|1 ?kHz|comes to|reaches)|[ :=|]"
    r"|只?有|仅|为|是|约){0,8}",
    re.IGNORECASE,
)
_LESS_IS_BETTER = late_pattern(
    r"tr|trise|tf|tfall|ts|settling|tpd|delay|en|[io]n|\w*noise\w*|nf|thd|distortion|\w*ripple\w*"
    r"|\w*dropout\w*"
    r"|vos|offset|\w*overshoot\w*|\w*droop\w*"
)
_MORE_IS_BETTER = late_pattern(r"bw|bandwidth|pm|phase_?margin|eff|eta|psrr|cmrr|yield|slew")


def better_way(row: Row) -> int:
    """1 where more of a quantity is better, -1 where less is, 0 where it depends."""
    names = QUANTITIES[row][0].split("|") if isinstance(row, int) else [row]
    plain_names = [re.sub(r"\\w[*+]|_\?|\?", "", name) for name in names]
    if any(_LESS_IS_BETTER.fullmatch(name) for name in plain_names):
        return -1
    return 1 if any(_MORE_IS_BETTER.fullmatch(name) for name in plain_names) else 0


def row_of_label(label: str) -> Row | None:
    """The quantity that a result calls so, or that an expression measures."""
    words = re.findall(r"[a-z_]\w*", label.lower())
    if _PEAK_GAIN.match(label.strip()):
        return row_of("gain")
    if _SUPPLIED.fullmatch(label.strip()):
        return row_of("supply_current")
    # The outermost function names the quantity; db() only says how it is told.
    word = next((each for each in words if each not in ("db", "abs", "mag")), "")
    if (
        len(words) > 1
        and words[1] in ("i", "v")
        and word in ("max", "min", "peak", "avg", "mean", "pp", "rms")
    ):
        word = f"{word}_{words[1]}"
    row = row_of(word)
    if isinstance(row, str) and (len(words) > 1 or not _OWN_NAME.fullmatch(label.strip())):
        return label.strip().lower() if "(" in label else None
    return row


@lru_cache(maxsize=128)
def quantities_of(result: str) -> Mapping[Row, list[Value]]:
    """The values of each quantity (its row among those known) in one result. Kept: to be read only."""
    flat = plain(result)
    found: dict[Row, list[Value]] = {}

    def keep(label: str, written: str) -> None:
        if (power := _POWER.fullmatch(label.strip())) is not None:
            label = "output_power" if power["square"] else "input_power"
            written = f"{written.split(maxsplit=1)[0]} W"
        if (row := row_of_label(label)) is None:
            return  # of a function or a device: not what answers call it
        figure = next(figures_in(written), None)
        bare = re.match(r"[-+]?\d+(?:\.\d*)?(?:e[-+]?\d+)?", written)
        if figure is not None and figure.start <= 1:
            found.setdefault(row, []).append((figure.unit, abs(figure.value)))
        elif bare is not None:
            found.setdefault(row, []).append(("", abs(float(bare[0].rstrip(".")))))

    for line in flat.split("\n"):
        for part in line.split(";"):
            if (given := _GIVEN.match(part)) is not None and "->" not in part:
                keep(given["label"], given["value"])
    for device in DEVICE.finditer(flat):
        for given in _OF_DEVICE.finditer(device["rest"]):
            if device["kind"].lower() == "diode":
                keep(f"diode_{given['label']}", given["value"])
                continue
            keep("transconductance" if given["label"] == "gm" else given["label"], given["value"])
    for samples in YIELD.finditer(flat):
        keep("yield", f"{100 * int(samples['good']) / max(int(samples['all']), 1):.6g} %")
    for shape in _PERIOD.finditer(flat):
        keep("period", shape["period"])
        keep("frequency", shape["frequency"])
    for name, values in named_figures(flat).items() if _STUDY.search(flat) else ():
        found.setdefault(row_of(name), []).extend((unit, abs(value)) for unit, value in values)
    if (supply := _DELIVER.search(flat)) is not None:
        keep("supply_power", supply["power"])
        for source in supply["each"].split(","):
            keep("supply_current", source.split(" V ")[-1])
    return found


@lru_cache(maxsize=256)
def named_figures(flat: str) -> Mapping[str, Sequence[tuple[str, float]]]:
    """What a result (in plain form) gives by name ("gain = 40 dB", "bw [Hz]: min 84120"): unit and value, SI.

    Numbers whose unit is nowhere told are left out. Kept: to be read only.
    """
    found: dict[str, list[tuple[str, float]]] = {}
    units: dict[str, str] = {}
    for each in _STATISTICS.finditer(flat):
        name, unit = each["name"].lower(), unit_name(each["unit"])
        units[name] = unit
        found[name] = [(unit, float(value["number"])) for value in _STATISTIC.finditer(each["rest"])]
    at = {figure.start: figure for figure in figures_in(flat)}
    for each in _NAMED.finditer(flat):
        name = each["name"].strip().lower().rpartition(" ")[2]
        start = each.start("number")
        figure = at.get(start) or at.get(start + 1)
        if figure is not None:
            found.setdefault(name, []).append((figure.unit, figure.value))
        elif name in units:
            found[name].append((units[name], float(each["number"])))
    return found


def column_units(flat: str) -> dict[str, str]:
    """The unit of what a study measured, by name."""
    return {each["name"].lower(): unit_name(each["unit"]) for each in _STATISTICS.finditer(flat)}


def spreads_of(flat: str) -> dict[str, tuple[str, list[float]]]:
    """Unit, least and largest value of what the studies of a result (in plain form) measured."""
    return {
        each["name"].lower(): (unit_name(each["unit"]), [float(end) for end in ends])
        for each in _STATISTICS.finditer(flat)
        if len(ends := _ENDS.findall(each["rest"])) == 2
    }


_NAMES = [late_pattern(words, re.IGNORECASE) for _, words in QUANTITIES]


def named_quantity(clause: str, names: Collection[Row] = ()) -> Row | None:
    """The one quantity that a clause names: of the trade, or by its name in a result."""
    rows = [row for row, *_ in places_named(clause, names)]
    return rows[0] if len(set(rows)) == 1 else None


def quantities_named(text: str) -> set[Row]:
    """All quantities of the trade that a text names."""
    return {row for row, *_ in places_named(text, ())}


def places_named(text: str, names: Collection[Row]) -> Iterator[tuple[Row, int, int]]:
    """Where a text names quantities: which one, from where to where."""
    yield from _of_the_trade(text)
    if own := [name for name in names if isinstance(name, str) and name not in ("a", "i")]:
        written = rf"(?<![A-Za-z0-9_])(?:{'|'.join(map(re.escape, own))})(?![A-Za-z0-9_])"
        found = re.finditer(written, text, re.IGNORECASE)
        yield from ((each[0].lower(), each.start(), each.end()) for each in found)


@lru_cache(1024)  # of an answer, each clause is looked at from every figure in it
def _of_the_trade(text: str) -> tuple[tuple[int, int, int], ...]:
    return tuple(
        (row, each.start(), each.end()) for row, words in enumerate(_NAMES) for each in words.finditer(text)
    )


def expressions_in(results: Sequence[str]) -> dict[str, str]:
    """Which expression a name stands for, in what calls were given."""
    return {
        given["metric"] or given["name"]: given["own"] or given["expression"]
        for each in results
        if each.startswith("{")
        for given in _MEASURED.finditer(each[:MOST_READ])
    }


def _same_in(results: Sequence[str]) -> Iterator[tuple[Row, Row]]:
    """The quantities that are one, since a call named an expression: "fc" is bandwidth(v(out))."""
    for name, expression in expressions_in(results).items():
        row, other = row_of(name.lower()), row_of_label(expression)
        if other is not None and other != row:
            yield row, other


class Quantities:
    """What results call by a name, for figures that answers give of it."""

    def __init__(self, results: Sequence[str]) -> None:
        self._values: dict[Row, list[Value]] = {}
        for each in results[-80:]:
            for row, values in quantities_of(each[:MOST_READ]).items():
                self._values.setdefault(row, []).extend(values)
        for row, other in _same_in(results[-80:]):
            together = [*self._values.get(row, ()), *self._values.get(other, ())]
            self._values[row] = self._values[other] = list(dict.fromkeys(together))

    def told_of(self, flat: str, figure: TextFigure) -> tuple[int, list[float]]:
        """The values of the quantity named next to a figure, in its unit, and where name or figure begin.

        Empty where none does, or the figure is a difference ("0.8 dB too high").
        """
        row, start = self._named_next_to(flat, figure)
        if row is None:
            return 0, []
        before = flat[max(0, figure.start - 60) : figure.start]
        clause = before[
            max((end.end() for end in CLAUSE_END.finditer(before) if end[0] not in "(（"), default=0) :
        ]
        rows = (
            {row, *(each for each, *_ in places_named(clause, self._values))}
            if _THAN.search(clause)
            else {row}
        )
        return start, [value for each in rows for value in self._of_unit(each, figure.unit)]

    def is_unmeasured(self, flat: str, figure: TextFigure) -> bool:
        """Whether the quantity named next to it follows from no other, and no result has it."""
        begin = max(0, figure.start - 60)
        places = [each for each in places_named(flat[begin : figure.start], ()) if each[0] in _BY_ITSELF]
        row, _, end = max(places, key=lambda each: each[2], default=(None, 0, 0))
        is_told = _TELLS.fullmatch(flat, begin + end, figure.start) is not None
        return row is not None and row not in self._values and is_told

    def _named_next_to(self, flat: str, figure: TextFigure) -> tuple[Row | None, int]:
        """The quantity that is named next to a figure, and where name or figure begin."""
        behind = _NAME_BEHIND.match(flat, figure.end)
        named = [(begin, row) for row, begin, _ in places_named(flat[figure.end :][:40], self._values)]
        own = {row for begin, row in named if behind is not None and begin == len(behind[0])}
        if len(own) == 1:
            return own.pop(), figure.start
        start = max(0, figure.start - 60)
        before = flat[start : figure.start]
        ends = [end.end() for end in CLAUSE_END.finditer(before) if end[0] not in "|(（：:"]
        at = max(ends, default=0)
        if _WORDS_BEHIND.match(flat, figure.end):  # "| fc | 100 kHz 衰减 |": a head of its own
            at = max(at, before.rfind("|") + 1)
        found = [(end, begin, row) for row, begin, end in places_named(before[at:], self._values)]
        if not found or DIFFERS.match(flat[figure.end : figure.end + 24]):
            return None, 0
        end, begin, row = max(found, key=lambda each: each[:2])
        if _OPERATOR.search(before[: at + begin]) or _OPERATES.match(flat, figure.end):
            return None, 0  # of a formula
        if _APART.search(_FROM_FIGURE.sub(" ", before[at + end :])):
            return None, 0
        return row, start + at + begin

    def _of_unit(self, row: Row, unit: str) -> list[float]:
        values = self._values.get(row, ())
        if unit == "%":
            return [100 * value if own != "%" else value for own, value in values if own in ("", "%", "1")]
        known = [value for own, value in values if own == unit]
        if unit == "dB" and not known:
            known = [abs(20 * log10(value)) for own, value in values if own in ("", "1") and value]
        return known
