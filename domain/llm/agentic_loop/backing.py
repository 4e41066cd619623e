"""Which figures of an answer stand in nothing that was measured, read or asked for: in any language.

A figure counts when it has a unit ("19.8 dB", "150 kHz") or is the value of a part ("R1 = 2.2k"). Backing are
the results of the turn's tools and of earlier turns, what the calls that succeeded were given, and the data
that went with the message. The user's own words back a figure only where something of that unit was measured
or read: "500 Hz, the goal is met" behind no run repeats the wish. What is proposed, estimated or computed is
not doubted, nor what follows from two figures that are backed: a sum, a difference, a ratio, a share,
what Ohm's law or R·C makes of them, or a bound that a measured value keeps.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from itertools import combinations, islice, permutations

from domain.circuit.figures_in_text import TextFigure, figures_in, figures_in_words, plain, without_code
from domain.circuit.said_figures import (
    SIGHT,
    is_bound,
    is_by_hand,
    is_convention,
    is_rounding,
    is_thought,
    is_worked_out,
    sentence_before,
)
from domain.llm.agentic_loop.follows import Given, by_law, derived, is_one_of, is_rough, values_of
from domain.llm.agentic_loop.formulas import reckoned
from domain.llm.agentic_loop.known import MOST_BY_LAW, MOST_DERIVED_FROM, MOST_FIGURES, Backing, Known
from domain.llm.agentic_loop.margins import Margins
from domain.llm.agentic_loop.pairs import came_from, pairs_in, shares_of_bare_pairs
from domain.llm.agentic_loop.part_values import changed_parts, values_of_parts, wrong_parts
from domain.llm.agentic_loop.quantities import Quantities, named_quantity, row_of
from domain.llm.agentic_loop.weighing import Weighing, doubts
from shared.late_patterns import late_pattern

_MOST_READ = 8_000
_MOST_WEIGHED = 12
"""An answer with more figures that stand in nothing is asked about as it is."""
_MEASURED_SO = 3
"""So many digits tell of a measurement."""

_ASKED = late_pattern(
    r"(?:\b(?:at|@|your|goal|target|limit|required?|requirement|requested|asked(?: for)?|wanted"
    r"|instead of|against|misses"
    r"|missed|not reach|short of|wish)\b|@|在|要求|目标|指标|规定|需要|限值|上限|下限|达不到|未达到?"
    r"|没有?达到|离|距|相比)"
    r"(?:[^,，;；.。\n]{0,12}?[<>≤≥=:：]|[^,，;；.。\n\d]{0,8})\s*[(（]?$"
)
_CONDITION = late_pattern(
    r"\s*(?:处|时|下(?!降)|的(?:要求|目标|指标|上限|下限)|you (?:asked|need|want|allow)|(?:goal|target"
    r"|limit)\b)"
)
_PROMISES = late_pattern(
    r"\b(?:I['’]ll|I will|I can|let me|shall I|should I)\b|我(?:会|将|再|来|可以)|要我|是否需要|需要我"
)
"""What is told as done next."""
_MIDDLE = late_pattern(
    r"\b(?:centred?|centered?|middle|midpoint|mean|average|around)\b|中心|平均|中点"
    r"|中间"
)
_RMS = late_pattern(r"\W*(?:\brms\b|\beffective\b|\bpeak\b|\bamplitude\b|有效值|峰值?|幅度|振幅)")
_OF_SINE = (math.sqrt(0.5), math.sqrt(2), math.sqrt(0.125), math.sqrt(8))
"""Between peak, effective value and peak to peak."""
_CAME_FROM = late_pattern(r"(?:\b(?:from|was)|从|由|原来是?|原为)\s?(?:about |约)?$", re.IGNORECASE)
_SHARE_SO = late_pattern(
    r"(?<![\d.])(?P<share>\d{1,3}(?:\.\d+)?) ?%[\s,，(（]*(?:i\.e\.|that is|or|so|=|≈|即|也就是|合|约)"
    r"[\s,约≈±]*(?:about )?±?$"
)
_LAG = late_pattern(
    r"\bphase (?:shift|lag|lead)|\b(?:lags?|lagging|leads|leading)\b|相移|滞后|超前", re.IGNORECASE
)
_POWER = late_pattern(r"\b(?:power|reflect\w+)\b|功率|反射", re.IGNORECASE)
_JUNCTION = late_pattern(r"\b(?:emitter|V_?BE|diode)\b|发射极|射极|二极管", re.IGNORECASE)
_JUNCTION_DROPS = (0.6, 0.65, 0.7)
_PUT = late_pattern(r"(?<!可)取|(?:换|改|调|设)(?:成|为|到|至)")
_OFFERED = late_pattern(r"方案|推荐|备选|选项|考虑|不妨|下一步|接下来|建议|要不要|是否|如何")
_TOTAL = late_pattern(r"\b(?:total|together|sum|altogether|combined)\b|共|合计|总[共和计]|加起来")
_COMPARED = late_pattern(
    r"\b(?:more|less|higher|lower|above|below|over|under|off|away|apart|difference|slower|faster|by)\b"
    r"|[高低大小多少差]"
)
_MARGIN = late_pattern(
    r"\b(?:margins?|reserve|spare|headroom|room|left|short|under|over|above|below|beyond|closer|off|too|miss\w*|error"
    r"|by|within)\b|[余裕]量|超|差|偏|[高低多少大小]|够|误差|剩"
)
_OF_EDGES = late_pattern(
    r"\b(?:points?|edges?|swings?|peaks?|valley|between|from|cut-?offs?|pass-?band)\b|点|边|峰|谷|通带|最[大小]|摆动",
    re.IGNORECASE,
)
_OF_LOSSES = late_pattern(r"\b(?:los[st]\w*|loss\w*|dissipat\w+|wasted)\b|损[耗失]|耗散", re.IGNORECASE)
_EFFICIENCY = late_pattern(r"\befficien\w+|η|效率", re.IGNORECASE)
_MOST_NEAR = 12
_FACTOR = late_pattern(
    r"(?<![\w.])(?P<factor>[1-9]\d*(?:\.\d+)?|0?\.\d+)(?: ?(?:x|times|倍"
    r"|V/V)(?![a-z]))?[^\w\n]{0,4}(?:i\.e\.|or|即|也就是|约|about)?[\s(,≈=]*$"
)
_SHARE_OF = late_pattern(r" (?:of|below|above|under|over|less|more|higher|lower)\b| ?的")
_OF_WHAT_IT_WAS = late_pattern(r"原(?:来|先)的\W{0,3}约?$|\bconfidence\b[^.;\n]*$|置信[^。；\n]*$")
"""A share of what a quantity was, or an end of what it may be."""
_OF_WHAT_IT_WAS_BEHIND = late_pattern(r" of (?:the |its )?(?:original|old|former|previous|initial)\b")
_OF_COURSE = late_pattern(
    r"\b(?:drop\w*|fall\w*|fell|rises?|rose|grow\w*|chang\w+|var\w+|regulation|lower|higher|less|more)\b"
    r"|[降升增减低高变]|调整率"
)
_OF_LIMIT = late_pattern(
    r" of (?:the |your |its )?(?:limit|allow\w+|requirement|target|goal|budget|maximum)\b"
)
_OF_LIMIT_ZH = late_pattern(r"(?:要求|限值|指标|目标|上限|允许值)的\W{0,3}(?:约|大约)?$")
_AS_LIMIT = late_pattern(r"\s?(?:的(?:限值|上限|下限|要求|指标)|(?:limit|goal|target|requirement)\b)")
_EACH = late_pattern(r"\b(?:each|per|every)\b|每")
_HALF = late_pattern(r"\b(?:half|halved|twice|double)|一半|减半|两倍|加倍")
_ASKS = late_pattern(r"^[^.!。！\n]*[?？]")
_TOLD_AS_FOUND = late_pattern(
    r"\b(?:simulat(?:ed|ion)|measured|ngspice|verified|ran|results?|now|met|meets)\b|仿真|实测|测得|测量"
    r"|结果|运行|现在|达标|满足|[改调换设](?:成|为|到|至)",
    re.IGNORECASE,
)
"""Words of an answer that tells what a circuit does, though nothing was read or run."""
_BY_HAND_ONLY = late_pattern(
    r"\b(?:nothing (?:has been|was) (?:simulated|run)|not (?:yet )?(?:been )?simulated|run nothing"
    r"|(?:did not|didn't|have not|haven't) (?:run|simulate)"
    r"|(?:no|without a) simulation|simulation would|by hand|estimates?)\b|[没未](?:有|做"
    r"|经)*(?:仿真|运行|跑)|手算|估算|推算",
    re.IGNORECASE,
)
"""An answer that nothing was measured for says so itself."""
_OFFERS_RUN = late_pattern(
    r"[^.!?。！？\n]*\b(?:shall I|should I|want me to|I(?: can|['’]ll| will)|let me)\b[^.!?。！？\n]{0,24}"
    r"\b(?:run|simulate)\b(?:[^.!?。！？\n]|\.(?=\w))*\b(?:confirm|exact|verify|check|be sure)[^!?。！？\n]*"
    r"|[^。！？\n]*(?:确认|验证|核实|核对|准确)[^。！？\n]{0,16}我[^。！？\n]{0,8}(?:跑|运行|仿真)[^。！？\n]*"
    r"|[^。！？\n]*我[^。！？\n]{0,8}(?:跑|运行|仿真)[^。！？\n]{0,16}(?:确认|验证|核实|核对)[^。！？\n]*",
    re.IGNORECASE,
)
"""A run is offered that is to tell whether the figures hold."""
_TOLD_AS_RUN = late_pattern(
    r"\b(?:simulat\w+|measured|ngspice|verified|confirmed|checked|ran|results?|now|met|meets|passes|within"
    r"|shows?|showed|gave|reads?|found|(?:came|comes|turned) out)\b"
    r"|仿真|实测|测得|测量|显示|得到|得出|跑出|结果|验证|确认|运行|达标|满足|符合|✅|✓",
    re.IGNORECASE,
)
_FAILED_RUN = late_pattern(r"\S+: failed\b")
_DENIED = late_pattern(
    r"\b(?:not|never|nothing|haven't|hasn't)\b[^.\n]{0,24}|[没未][^。\n]{0,8}", re.IGNORECASE
)
_GENERAL = late_pattern(
    r"\b(?:correspond\w*|typical\w*|typ|usual\w*|common\w*|general\w*|data ?sheet|rule of thumb"
    r"|for example|such as|often|ordinary|rated)\b|\d-bit\b"
    r"|对应|典型|通常|往往|一般|常见|常用|手册|数据表|经验|例如|比如|额定(?:功率|电流|耐压)"
)
_AT_POINT = late_pattern(
    r"(?:\b(?:at|for|with)\b|@|在|[，,、(（]|^)\s?[^\d，,;；、(（]{0,12}-?\d[^，,;；、]{0,12}?"
    r"(?:时(?:的?(?:电流|电压|输出|增益|频率|效率|值))?(?:为|是|只?有|约)?|:|=|\b(?:it is|it['’]s|is)\b"
    r"|,)\s*$",
    re.IGNORECASE,
)
"""A point of a sweep, and nothing but words that say that it has what follows."""
_ROW_NEAR = 0.7
_CLAUSE_END = late_pattern(r"[，、;；。\n]|,(?!\d)|\.(?=\s)")
_SENTENCE_END = late_pattern(r"[!?。！？;；\n]|\.(?=\s|$)")


def unbacked_figures(text: str, backing: Backing) -> tuple[str, ...]:
    """The figures of an answer that stand in nothing, as they are written, each once; () for none."""
    flat = plain(without_code(text[:_MOST_READ])).replace("**", "  ")
    figures = [figure for figure in islice(figures_in(flat), MOST_FIGURES) if figure.value]
    figures += islice(figures_in_words(flat), MOST_FIGURES)
    parts = list(islice(values_of_parts(flat), MOST_FIGURES))
    if not figures and not parts:
        return ()
    known = Known(backing)
    if not known.has_any and not _TOLD_AS_FOUND.search(_DENIED.sub(" ", flat)):
        return ()  # of no circuit: knowledge, or worked out
    if _is_of_no_run(flat, backing.measured):
        figures = []
    judged = Judged(flat, figures, parts, known, backing)
    doubted = {each.start: text[each.start : each.end].strip() for each in judged.doubted()}
    for start, end in judged.strange_parts():
        doubted.setdefault(start, text[start:end].strip())
    doubted |= {start: flat[start:end].strip() for start, end in judged.unknown_parts()}
    return tuple(dict.fromkeys(doubted[start] for start in sorted(doubted)))


def _is_of_no_run(flat: str, measured: Sequence[str] | None) -> bool:
    """Whether nothing was measured, and the answer says so, or offers the run and tells of none."""
    if measured is None or not all(_FAILED_RUN.match(each) for each in measured):
        return False
    rest, offers = _OFFERS_RUN.subn(" ", flat)
    return _BY_HAND_ONLY.search(flat) is not None or bool(
        offers and not _TOLD_AS_RUN.search(_DENIED.sub(" ", rest))
    )


class Judged:
    """An answer's figures, those that stand in something, and what follows from these."""

    def __init__(
        self,
        flat: str,
        figures: list[TextFigure],
        parts: list[tuple[int, int, float, str]],
        known: Known,
        backing: Backing,
    ) -> None:
        self._flat, self._figures, self._parts, self._known = flat, figures, parts, known
        self._backing = backing
        self._asked = values_of(known.asked)
        self._margins = Margins(backing.results, backing.words)
        self._quantities = Quantities(backing.results)
        named = {figure.start: self._quantities.told_of(flat, figure) for figure in figures}
        self._named = {start: those for start, those in named.items() if those[1]}
        self._strange = {figure.start for figure in figures if self._is_strange(figure)}
        results = {each.result for each in reckoned(flat, figures) if each.is_right}
        self._results = [figure for figure in figures if figure.start in results]
        self._backed = [
            figure
            for figure in figures
            if figure.start in results or self._is_told(figure, is_strange=figure.start in self._strange)
        ]
        self._said = [each for figure in self._backed for each in known.exactly(figure)]
        self._said += values_of(self._backed)
        self._said += [(unit, value) for _, _, value, unit in parts if known.has_value(value)]
        self._following = self._what_follows()
        self._own = self._with_quantities_of_their_own()
        self._reckon()

    def _is_strange(self, figure: TextFigure) -> bool:
        """Whether what it names has another value, and it is not what was asked for either."""
        told = self._named.get(figure.start)
        if told is None or is_one_of(self._flat, figure, [(figure.unit, value) for value in told[1]]):
            return False
        if self._known.is_measured(figure):
            return False  # what a result has under a name of its own may be told under one of the trade
        before, after = self._flat[: figure.start][-SIGHT:], self._flat[figure.end :][:SIGHT]
        if figure.unit == "%" and any(
            found is not None
            for found in (
                _OF_WHAT_IT_WAS.search(before),
                _OF_WHAT_IT_WAS_BEHIND.match(after),
                _OF_LIMIT.match(after),
            )
        ):
            return False
        is_told_as_asked = _CAME_FROM.search(before) or _is_wish(before, after)
        return not (is_told_as_asked and is_one_of(self._flat, figure, self._asked))

    def _is_told(self, figure: TextFigure, *, is_strange: bool) -> bool:
        """Whether it stands in a result, or in what is known besides."""
        values = self._named.get(figure.start, (0, ()))[1]
        if not is_strange and self._known.has(figure, is_rough(self._flat, figure), named=values):
            return True
        after = self._flat[figure.end :][:SIGHT].lower()
        is_limit = _AS_LIMIT.match(after) and any(unit == figure.unit for unit, _ in self._asked)
        if is_limit and not is_one_of(self._flat, figure, self._asked):
            return False  # of limits those count that were set
        return self._known.keeps(figure, sentence_before(self._flat, figure.start)[-SIGHT:].lower())

    def _what_follows(self) -> list[Given]:
        """From what is said, asked for and written in the circuit."""
        known, said = self._known, self._said
        bounds = list(islice(known.bounds(), MOST_DERIVED_FROM))
        following = [*derived(said, self._asked), *known.of_lines(self._asked), *bounds]
        # Of many values some two have nearly every share: those count that stand near, or have one name.
        following = [each for each in following if each[0] != "%"]
        following += [
            (unit, abs(value - bound))
            for unit, value in (*said, *known.named())
            for same, bound in bounds
            if same == unit
        ]
        following += [each for powers in known.powers for each in derived(powers) if each[0] == "W"]
        old, new = changed_parts(self._backing.results)
        changed = [("", each[name]) for name in old for each in (old, new) if name in new]
        return [*following, *derived(changed, ())]

    def _with_quantities_of_their_own(self) -> dict[int, int]:
        """Where the quantity begins that a figure is told of, of those that stand in nothing."""
        begins = {pair.second.start: pair.first for pair in pairs_in(self._flat, self._figures)}
        return {
            figure.start: start
            for figure in self._figures
            if figure not in self._backed
            and not (figure.start in begins and is_one_of(self._flat, begins[figure.start], self._following))
            and (start := _measured_from(self._flat, figure, self._named.get(figure.start), self._asked))
            is not None
        }

    def _among(self, values: Sequence[Given]) -> list[Given]:
        """Those of the figures that are one of these, but for such as are told of a quantity of their own."""
        free = (each for each in self._figures if each.start not in self._own)
        return values_of(each for each in free if is_one_of(self._flat, each, values))

    def _reckon(self) -> None:
        """What follows from what followed: by laws, as shares, as differences."""
        known = self._known
        self._said += self._among(self._following)
        loads = [
            ("A", value / ohms)
            for unit, value in (*self._said, *known.newest())
            if unit == "V"
            for ohms in known.resistances()
        ]
        self._said += self._among(loads)
        self._following += loads
        self._said += values_of(
            each for each in self._figures if is_worked_out(sentence_before(self._flat, each.start))
        )
        for turn in range(2):
            more = [*by_law(self._said), *(() if turn else by_law(known.newest()))]
            follows = [
                each
                for each in self._figures
                if each not in self._backed
                and each.start not in self._own
                and is_one_of(self._flat, each, more)
            ]
            self._backed += follows
            self._said += values_of(follows)
        backed = values_of(self._backed)
        self._following += [each for each in derived(backed, self._asked) if each[0] != "%"]
        self._compared = [
            *derived(backed, ()),
            *known.differences(self._said),
            *known.off_sources(),
            *(each for alike in known.alike() for each in derived(alike, ())),
        ]
        self._following += [
            (unit, abs(one - other))
            for unit, one in self._said
            for same, other in self._asked
            if unit == same
        ]
        self._off_one = [("%", 100 * abs(ratio - 1)) for ratio in known.ratios()]
        self._of_circuit = known.of_neighbors()
        self._edges = list(known.edges())

    def doubted(self) -> list[TextFigure]:
        """The figures that stand in nothing and are told as what the circuit does.

        Where nobody names a quantity that has another value, what the figure may come from is weighed, too.
        """
        doubted = [each for each in self._figures if self.is_doubtful(each)]
        sure = {
            each.start
            for each in doubted
            if each.start in self._strange
            or self._is_off_its_row(each)
            or self._quantities.is_unmeasured(self._flat, each)
        }
        if not 0 < len(doubted) - len(sure) <= _MOST_WEIGHED:
            return doubted
        weighing = Weighing(self._flat, self._figures, self._parts, self._known)
        return [each for each in doubted if each.start in sure or doubts(self.features(each, weighing))]

    def _is_off_its_row(self, figure: TextFigure) -> bool:
        """Whether the one row of a study that is named right before it has another value of that unit."""
        before = sentence_before(self._flat, figure.start)
        told = _AT_POINT.search(before)
        own = [] if told is None else self._margins.measured_at(told[0], figure.unit)
        return len(own) == 1 and _ROW_NEAR <= figure.value / own[0] <= 1 / _ROW_NEAR and figure.digits > 1

    def features(self, figure: TextFigure, weighing: Weighing) -> dict[str, float]:
        """What is weighed of a figure."""
        flat = self._flat
        follows = any(
            is_one_of(flat, figure, values) for values in (self._following, self._compared, self._of_circuit)
        )
        named = self._named.get(figure.start, (0, ()))[1]
        return weighing.features(figure, named, is_rough=is_rough(flat, figure), follows=follows)

    def is_known(self, figure: TextFigure) -> bool:
        """Whether it is a rounding of something measured, read or asked for."""
        rough = is_rough(self._flat, figure)
        return self._known.has(figure, rough) or is_one_of(self._flat, figure, self._asked)

    def is_told(self, figure: TextFigure) -> bool:
        """Whether it is told as what the circuit does, not as thought, usual, asked or promised."""
        flat = self._flat
        before, after = sentence_before(flat, figure.start), flat[figure.end : figure.end + SIGHT]
        # "the gain rises to 40 dB" proposes nothing: what counts are the words before its name.
        mood = sentence_before(flat, self._own[figure.start]) if figure.start in self._own else before
        return not (
            is_convention(figure, before, after)
            or is_thought(mood, after)
            or is_by_hand(flat, figure.start)
            or _GENERAL.search(f"{before} {_CLAUSE_END.split(after[:40], maxsplit=1)[0]}".lower())
            or _ASKS.match(after)
        )

    def is_named_otherwise(self, figure: TextFigure) -> bool:
        """Whether what it is told of has another value."""
        return figure.start in self._strange

    def is_doubtful(self, figure: TextFigure) -> bool:
        """Whether it stands in nothing, follows from nothing, and is told as what the circuit does."""
        if figure in self._backed or figure.unit == "?":
            return False
        flat = self._flat
        before, after = sentence_before(flat, figure.start), flat[figure.end : figure.end + SIGHT]
        return self.is_told(figure) and not (
            self._is_as_asked(figure, before, after) or self._is_reckoned(figure, before, after)
        )

    def _is_as_asked(self, figure: TextFigure, before: str, after: str) -> bool:
        is_wanted = _is_wish(before, after) or _PROMISES.search(before) or is_bound(before)
        is_share = figure.unit == "%" and figure.start not in self._own
        return bool(is_wanted or is_share) and is_one_of(self._flat, figure, self._asked)

    def _is_reckoned(self, figure: TextFigure, before: str, after: str) -> bool:
        """Whether it follows from what stands in something, by words and units that let it."""
        flat, known, is_named = self._flat, self._known, figure.start in self._own
        near = f"{before[-24:]} {after[:16]}"
        return bool(
            _is_part_of(flat, figure, [*self._said, *known.named()], before, after, is_named=is_named)
            or (figure.unit == "%" and _SHARE_OF.match(after) and is_one_of(flat, figure, self._off_one))
            or (_COMPARED.search(near) and is_one_of(flat, figure, self._compared))
            or (figure.unit == "%" and not is_named and _is_share(flat, figure, self._figures, known))
            or (figure.unit == "dB" and _is_in_decibels(figure, before))
            or (not is_named and is_one_of(flat, figure, self._following))
            or (not is_named and is_one_of(flat, figure, self._of_circuit))
            or (_OF_EDGES.search(f"{before} {after}") and is_one_of(flat, figure, self._edges))
            or (_OF_LOSSES.search(f"{before} {after}") and is_one_of(flat, figure, self._known.losses()))
            or (_MARGIN.search(near.lower()) and is_one_of(flat, figure, self._margins.to_limits))
            or is_one_of(flat, figure, self._of_its_row(figure))
            or is_one_of(flat, figure, self._by_rule(figure, before, after))
        )

    def _by_rule(self, figure: TextFigure, before: str, after: str) -> Iterator[Given]:
        """What a rule of the trade makes of what is known, where the words name it."""
        if (told := _SHARE_SO.search(before)) is not None:  # "1.155 %, i.e. 121 mV"
            yield from ((unit, value * float(told["share"]) / 100) for unit, value in self._said)
        if figure.unit == "deg" and _LAG.search(f"{before} {after}"):  # of one pole
            rates = [value for unit, value in (*self._asked, *self._said) if unit == "Hz"][-MOST_BY_LAW:]
            yield from (("deg", math.degrees(math.atan2(*pair))) for pair in permutations(rates, 2))
        if figure.unit == "%" and _POWER.search(f"{before} {after}"):
            yield from (("%", 100 * 10 ** (-value / 10)) for unit, value in self._said if unit == "dB")
        if figure.unit == "V" and _JUNCTION.search(before):  # one junction below what is reckoned beside it
            begin = figure.start - len(before)
            beside = [each.value for each in self._results if begin <= each.start < figure.start]
            yield from (("V", each - drop) for each in beside for drop in _JUNCTION_DROPS)

    def _of_its_row(self, figure: TextFigure) -> Iterator[Given]:
        """What the row gives together that its sentence, or its line of a table, names."""
        flat = self._flat
        begin = figure.start - len(sentence_before(flat, figure.start))
        sentence = _SENTENCE_END.split(flat[begin:], maxsplit=1)[0]
        return self._margins.of_rows(sentence, figure.start - begin, self._asked, self._known.loads())

    def strange_parts(self) -> Iterator[tuple[int, int]]:
        """Places of values that a part does not have."""
        for start, end in wrong_parts(self._flat, (*self._backing.results, *self._backing.words)):
            # "RG 换成 806 Ω，增益 49.7": told as done where nothing else proposes it.
            before, after = sentence_before(self._flat, start), self._flat[end : end + SIGHT]
            before = before if _OFFERED.search(before) else _PUT.sub("为", before)
            if not (
                is_thought(before, after)
                or _ASKS.match(after)
                or is_by_hand(self._flat, start)
                or self._is_worked_out(start, before)
            ):
                yield start, end

    def _is_worked_out(self, start: int, before: str) -> bool:
        """Whether a part's value follows from what its sentence gives first: "1 kΩ, 500 Hz: 318 nF"."""
        own = next((each for each in self._figures if each.start == start), None)
        given = values_of(each for each in self._figures if start - len(before) <= each.start < start)
        return own is not None and is_one_of(self._flat, own, by_law(given))

    def unknown_parts(self) -> Iterator[tuple[int, int]]:
        """Places of parts' values that no circuit has."""
        for start, end, value, _ in self._parts:
            before, after = sentence_before(self._flat, start), self._flat[end : end + SIGHT]
            is_operand = self._flat[max(0, start - 2) : start].strip()[-1:] in ("*", "/", "^")
            is_known = self._known.has_value(value) or is_operand
            if not (is_known or is_thought(before, after) or _ASKS.match(after)):
                yield start, end


def _is_in_decibels(figure: TextFigure, before: str) -> bool:
    """Whether it is a factor right before it, told anew: "≈ 96, i.e. 39.6 dB"."""
    told = _FACTOR.search(before)
    factor = 0.0 if told is None else float(told["factor"])
    return 0 < factor < math.inf and is_rounding(figure, abs(20 * math.log10(factor)), is_rough=True)


def _is_wish(before: str, after: str) -> bool:
    """Whether a figure is told as what was asked, or as a condition: "at 1 kHz", "goal: 60 %"."""
    return _ASKED.search(before[-40:].lower()) is not None or _CONDITION.match(after.lower()) is not None


def _is_part_of(
    flat: str,
    figure: TextFigure,
    said: Sequence[Given],
    before: str,
    after: str,
    *,
    is_named: bool,
) -> bool:
    """Whether a figure is the half, the double, the middle or an equal part of others, and told so."""
    near, own = before[-SIGHT:].lower(), [value for unit, value in said if unit == figure.unit]
    inverse = {"s": "Hz", "Hz": "s"}.get(figure.unit)
    of_rates = [1 / value for unit, value in said if unit == inverse and value]
    found: list[float] = []
    if _HALF.search(f"{near} {after[:12].lower()}"):
        found += [factor * value for value in (*own, *of_rates) for factor in (0.5, 2.0)]
    if not is_named and (_RMS.search(near) or _RMS.match(after[:24].lower())):
        found += [factor * value for value in own for factor in (0.5, 2.0, *_OF_SINE)]
    if _TOTAL.search(near[-24:]):
        found += [factor * value for value in own for factor in (2, 3, 4)]
        found += [one + other for one, other in combinations(own[:MOST_BY_LAW], 2)]
    if _MIDDLE.search(near) or _MIDDLE.match(after[:16].lower().lstrip(" -(")) or "average" in after[:16]:
        found += [(one + other) / 2 for one, other in combinations(own[:MOST_BY_LAW], 2)]
    if _EACH.search(near[-24:]) or _EACH.match(after[:8].lower()):
        found += [value / count for value in (*own, *of_rates) for count in range(2, 21)]
    return is_one_of(flat, figure, [(figure.unit, value) for value in found])


def _is_share(flat: str, figure: TextFigure, figures: Sequence[TextFigure], known: Known) -> bool:
    """Whether a percentage follows from figures near it, from the user's, or from those of one name.

    "2 % of the output" follows from one near it and any with a name; an efficiency from powers of one result.
    """
    if any(size == figure for _, size, _ in shares_of_bare_pairs(flat, [figure])):
        return True  # it is held against the two
    end = flat.find("\n", figure.end)
    near = [
        each
        for each in figures
        if each.unit != "%"
        and figure.start - 3 * SIGHT
        <= each.start
        < min(end if end >= 0 else len(flat), figure.end + 2 * SIGHT)
    ]
    near = sorted(near, key=lambda each: abs(each.start - figure.start))[:_MOST_NEAR]
    before = sentence_before(flat, figure.start)
    said = f"{before}{_SENTENCE_END.split(flat[figure.end : figure.end + SIGHT])[0]}"
    if _EFFICIENCY.search(re.split(r"[,，(（]", before)[-1]) and any(
        len(powers) > 1 for powers in known.powers
    ):
        near = [each for each in near if each.unit == "W"]
        shares = [share for powers in [*known.powers, values_of(near)] for share in derived(powers, ())]
        return is_one_of(flat, figure, shares)
    values = values_of(near)
    asked = values_of(known.asked)[:_MOST_NEAR]
    shares = derived([*values, *asked], ())
    shares += [
        share for each in values for source in known.sources() for share in derived([each, source], ())
    ]
    if _OF_COURSE.search(f"{before[-40:]} {flat[figure.end :][:SIGHT]}"):
        shares += known.shares_of_courses()
    if _OF_LIMIT.match(flat, figure.end) or _OF_LIMIT_ZH.search(before):
        shares += [
            ("%", 100 * value / end) for unit, value in values for same, end in asked if same == unit and end
        ]
    shares += [("%", 100 * abs(ratio - 1)) for ratio in known.ratios()]
    shares += [share for judged in known.judged for share in derived(judged, ())]
    row = named_quantity(said)
    for name, alike in known.of_one_name():
        if (row is not None and row_of(name) == row) or any(
            is_rounding(each, value, is_rough=True)
            for each in near
            for unit, value in alike
            if unit == each.unit
        ):
            shares += derived([*alike, *asked], ())
    if _SHARE_OF.match(flat[figure.end : figure.end + 8]) or flat[: figure.start].rstrip().endswith("的"):
        named = list(known.named())
        for each in values:
            shares += [share for other in named for share in derived([each, other], ())]
    is_small = figure.digits < _MEASURED_SO
    return any(
        is_rounding(figure, share, is_rough=is_small or is_rough(flat, figure))
        for unit, share in shares
        if unit == "%" and share
    )


def _measured_from(
    flat: str,
    figure: TextFigure,
    named: tuple[int, list[float]] | None,
    asked: Sequence[Given],
) -> int | None:
    """Where words begin that tell a figure as measured which follows from none of its own values.

    It may follow from others by chance: with some dozen values nearly every figure does. None: no such words.
    """
    if named is not None:
        start, values = named
        given = [(figure.unit, value) for value in values]
        more = derived(given, asked)
        if figure.unit == "%":  # a share of shares is one by chance
            percents = [value for unit, value in (*given, *asked) if unit == "%"]
            more = [("%", abs(one - other)) for one, other in combinations(percents, 2)]
        return None if is_one_of(flat, figure, [*given, *more]) else start
    before = sentence_before(flat, figure.start)
    came = None if figure.unit == "%" else came_from(before)
    return None if came is None else figure.start - len(before) + came


def figures_not_in(text: str, originals: Sequence[str]) -> tuple[str, ...]:
    """The figures of a text that stand in none of the others, not even rounded; nothing may be derived."""
    flat = plain(text)
    known = Known(Backing(results=originals))
    strange = {
        figure.start: text[figure.start : figure.end].strip()
        for figure in islice(figures_in(flat), MOST_FIGURES)
        if figure.value and not known.has(figure, is_rough=False)
    }
    strange |= {
        start: flat[start:end].strip()
        for start, end, value, _ in islice(values_of_parts(flat), MOST_FIGURES)
        if not known.has_value(value)
    }
    return tuple(dict.fromkeys(strange[start] for start in sorted(strange)))
