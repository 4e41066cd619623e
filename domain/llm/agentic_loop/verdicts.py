"""Verdicts of an answer - met, missed, the only one that fails, the worst corner - against the facts.

A clause that judges is read as: which limits (the quantity or the bound that it names, or all), where (the
rows of a study, the circuit that it names), and whether they are told to be kept. Both states of a circuit
that was changed are looked at where the words may tell of either.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from domain.circuit.figures_in_text import TextFigure, figures_in
from domain.circuit.said_figures import is_rounding
from domain.llm.agentic_loop.facts_by_row import rows_named
from domain.llm.agentic_loop.limits import Fact, Facts, Limit, facts_of, in_unit, limits_in
from domain.llm.agentic_loop.pairs import pairs_in
from domain.llm.agentic_loop.quantities import DIFFERS, better_way, places_named, row_of
from domain.llm.agentic_loop.quantities import Row as QuantityName
from domain.llm.agentic_loop.rows import Row, Table
from shared.late_patterns import late_pattern

_MOST_CLAUSES = 300
_MOST_BACK = 12
"""Clauses that one goes on with."""
_MOST_STATES = 6
"""Of before the last change."""
_SENTENCE_END = late_pattern(r"[。！!？?；;\n]|\.(?=\s|$)")
_CLAUSE_END = late_pattern(
    r"[，:：|()（）]|(?<!\d),|,(?!\d{3}\b)|\s-+\s|\b(?:but|while|whereas|although|though|so|and(?! ?-?\d))\b"
    r"|但是?|而(?!且)"
    r"|虽然|尽管|所以|因此|不过"
)
_MEETS = late_pattern(
    r"\b(?:meets?|met|satisf(?:y|ies|ied)|fulfil(?:l?s|led)?|(?<!-)pass(?:es|ed)?|in spec|within|inside"
    r"|kept|keeps?|holds?|respected"
    r"|ok(?:ay)?|fine|all right|compl(?:y|ies|iant)|suffic(?:es|ient)|enough|acceptable)\b|[✓✔✅]"
    r"|满足|达标|合格(?!率)|符合|达到(?:了)?(?:目标|指标|要求)|以内|之内|范围内|足够|够用|够了|没问题|通过",
    re.IGNORECASE,
)
_MISSES = late_pattern(
    r"\b(?:miss(?:es|ed)?|violat(?:es?|ed)|fail(?:s|ed)?|out of (?:spec|limits?|range|the window)|outside"
    r"|too (?:high|low|slow|large|small|much|long|short|weak)|(?:is|are|was|were) (?:broken|exceeded)|breaks"
    r"|leaves? (?:the|its|your)"
    r"|insufficient|unacceptable|breaks? (?:the|its|your))\b|[✗✘❌]"
    r"|超标|超限|超差|未达|达不到|没有?达|没有?满足|不足|不够(?![^\s，。,;；:：\d])|违反|超出范围|之外|以外",
    re.IGNORECASE,
)
_ABOVE = late_pattern(
    r"\b(?:exceed(?:s|ed|ing)?|above|over|beyond|(?:more|greater|higher|larger|longer) than)\b|>|超[过出]"
    r"|高于|大于",
    re.IGNORECASE,
)
_BELOW = late_pattern(
    r"\b(?:below|under|short of|(?:less|lower|smaller|shorter) than)\b|<|低于|小于|(?<![达得])不到",
    re.IGNORECASE,
)
_OF_LIMIT = late_pattern(
    r"\b(?:limits?|goals?|targets?|spec\w*|requir\w+|allow\w+|maximum|minimum|bounds?)\b|限值|上限|下限"
    r"|要求|指标"
    r"|目标|规定",
    re.IGNORECASE,
)
_ASKED = r"(?:limits?|goals?|targets?|spec\w*|requirements?|conditions?|criteria)"
_EVERYTHING = late_pattern(
    rf"\b(?:everything|(?:both|all|every)(?: of)?(?: the| your| its)?(?: \w+)? {_ASKED}|(?:the"
    rf"|your) (?:spec\w*|requirements)"
    r"|(?:both|all)(?: of (?:them|it|these))? (?:are |is |were )?(?:now )?(?:met|kept|satisfied"
    r"|fulfilled|respected|fine|ok(?:ay)?))\b"
    r"|(?:两|三|四|五|六|各|所有|全部|几)[项个条](?:指标|要求|目标|参数)?[^，。里中只仅]{0,20}(?:都|均"
    r"|全部|同时)"
    r"|要求(?:全部|都|均)|全部(?:要求|指标|合格|达标|满足)|^\W*(?:都|均|全都?)(?:合格|达标|满足要求"
    r"|符合要求|满足)\W*$",
    re.IGNORECASE,
)
_ALL_BUT = late_pattern(
    r"\b(?:all|everything|every\w*)\b.{0,24}\b(?:but|except(?: for)?|apart from|besides)\b"
    r"|除了?(?=[^，。]{1,14}(?:外|以外|之外))",
    re.IGNORECASE,
)
_ONLY = late_pattern(r"\b(?:only|the (?:only|single|one))\b|只有|仅有?(?![\d约])|唯一", re.IGNORECASE)
_ONLY_SO_MUCH = late_pattern(
    r"\b(?:only|just|仅|只有?)\s?(?:about |some |from |between |at |约)?-?\d"
    r"|\bonly (?:by|a|an|slightly|just)\b",
    re.IGNORECASE,
)
_TROUBLE = late_pattern(r"\b(?:problems?|troubles?|needs? work)\b|问题", re.IGNORECASE)
_PARTLY = late_pattern(
    r"\b(?:only|all but|except\w*|apart from|else|rest|others?|remaining|most|\w+ (?:out )?of (?:the |\d"
    r"|its )?(?:\w+ )?(?:corners"
    r"|runs|points|samples|two"
    r"|three|four|five|six|seven|eight|nine|\d+))\b"
    r"|只有|仅|除|[一二三四五六七八九\d] ?[个项组]中|大多|部分|其余|其他|其它",
    re.IGNORECASE,
)
_SUPPOSED = late_pattern(
    r"\b(?:if|would|should|could|might|may|must|can|cannot|will|shall|suggest\w*|recommend\w*|propos\w+"
    r"|wants?"
    r"|to (?:be|get|keep|bring|meet|reach|stay|see|pass|satisfy|make)|until|unless|whether|so that"
    r"|expect\w*|nearly|almost"
    r"|close to|typical\w*|let(?:'s| me)|try|let|I'd|I'll|check)\b"
    r"|如果|若|假设|建议|可以(?!接受|满足|达到|做到|保证)|可能|能否|是否|应该?(?!力)|预计|希望|需要?|必须|将|会(?!议)|不能"
    r"|断言|才能|使|让|为了|接近|几乎"
    r"|差点|理论|典型|要(?![求的])|想|请|核对|检查",
    re.IGNORECASE,
)
_OF_OLD = late_pattern(
    r"\b(?:before|originally|initially|previous\w*|earlier|at first|old|original|was|were|had|used to)\b"
    r"|原(?:[来先始本有值]|电路|设计|方案|样)|之前|改前|起初|最初|以前|修改前|本来",
    re.IGNORECASE,
)
_SURELY_OLD = late_pattern(
    r"\b(?:originally|initially|at first|before (?:the|that|this|my) (?:change|edit|fix)\w*)\b|改前"
    r"|修改前|原来|原先|起初",
    re.IGNORECASE,
)
_APPENDED = late_pattern(
    r"\s*(?:(?:just|still|only|well|slightly|clearly|barely|safely|far|and|so|which is|i\.e\.) )*"
    r"(?:below|above|under|over|within|inside|outside|beyond|short|more than|less than)\b"
    r"|\s*(?:[仍还刚略远]\w?)?(?:低于|高于|超过|小于|大于|在)",
    re.IGNORECASE,
)
"""A clause that begins so has no verb of its own."""
_OF_BOTH = late_pattern(r"\b(?:before and after|both before)\b|前后", re.IGNORECASE)
_RUN = late_pattern(r"\brun #?\d|第 ?[一二三四五\d] ?[次轮]", re.IGNORECASE)
_STATISTICAL = late_pattern(
    r"\b(?:yield|rss|sigma|statistic\w*|samples?|units?|boards?|mean|average|most)\b|σ|均方根|统计"
    r"|合格率|良率|样本|大多|平均"
    r"|\d+ ?[只个次台]",
    re.IGNORECASE,
)
_OF_ENDS = late_pattern(
    r"\b(?:worst|extremes?|toleranc\w+|always|never|any)\b|最坏|极端|任何|公差|容差"
    r"|\d ?% (?:的)?(?:parts|元件|电容|电阻|器件)|(?:全部|都|均)(?:落|保持)?在|保证"
    r"|\ball (?:of them |\d+ )?(?:lie|fall|stay|are)? ?(?:within|inside|between)\b|\bguarantee",
    re.IGNORECASE,
)
_NOMINAL = late_pattern(r"\b(?:nominal\w*|room)\b|标称|室温|常温", re.IGNORECASE)
_SUPERLATIVE = late_pattern(
    r"(?P<high>\b(?:highest|largest|greatest|maximum|biggest|longest|peaks)\b|最[高大长])"
    r"|(?P<low>\b(?:lowest|smallest|minimum|shortest)\b|最[低小短])|(?P<worst>\bworst\b|最[差坏])"
    r"|(?P<best>\bbest\b|最[好佳优])",
    re.IGNORECASE,
)
_DENIES = late_pattern(
    r"\b(?:not(?! only)|never|no|none|neither|nor|nothing|without|hardly)\b|n['’]t\b|不|没|未|无(?!论)",
    re.IGNORECASE,
)
_BUT = late_pattern(r"[\s，,；;。.]*(?:但是?|不过|只是|\b(?:but|however|yet)\b)", re.IGNORECASE)
_IN_SIGHT = 80
_COARSE = 3
"""Digits with which a figure may be told for one nearby."""
_SAME_END = 0.02
"""A share of a course: nearer to its end is at its end."""
_ADVERBS = late_pattern(
    r"\b(?:just|still|only|slightly|well|always|also|clearly|safely|which is|is|and)\b|[也都均仍已就只]"
    r"|稍微?|略微?"
    r"|明显|远|依然",
    re.IGNORECASE,
)
_DIFFERENCE = late_pattern(
    r"(?:\bby|差|[余裕]量|\bmargin)\W{0,4}(?:about |of |only |只?有?|约)?$", re.IGNORECASE
)
_MOST_BESIDE = 3
"""Letters of a clause that goes on with the one before it, beside its verdict and the usual words."""
_OF_KIND = 3.0
"""A figure so many times off a bound is of something else."""
_NEAR_AIM = 0.4
_CAME_FROM = late_pattern(r"(?:\b(?:from|was|than)|从|由|原来|比)\s?(?:about |约)?$", re.IGNORECASE)


@dataclass(slots=True)
class _Clause:
    """One clause, and what it says together with those before it in its sentence."""

    text: str
    sentence: str
    before: str
    """Of its sentence."""
    figures: list[TextFigure]
    names: list[QuantityName]
    """The quantities that it names."""
    rows: list[Row] | None
    """Those of a study that it, or one before it, names; None where none does."""
    own_rows: list[Row] | None
    is_aside: bool = False
    """It stands in brackets."""
    earlier: _Clause | None = None
    """The one before it in its sentence."""
    is_restricted: bool = False
    """What is told right behind it tells what it is not so for."""

    @property
    def is_all_but(self) -> bool:
        """ "All goals but this one": what it names is excepted from what the sentence tells."""
        return _ALL_BUT.search(f"{self.before} but") is not None

    @property
    def is_exception(self) -> bool:
        """Whether what it names is told to be the only one, or the only one that is not."""
        is_only = self.own_rows is not None or not _ONLY_SO_MUCH.search(self.text)
        return (is_only and _ONLY.search(self.text) is not None) or self.is_all_but

    def is_told_by(self, lead: str) -> bool:
        """Whether it is an aside that begins so: "(was 26.3 dB, missed)" tells of that figure."""
        return self.is_aside and _CAME_FROM.fullmatch(lead.lstrip()) is not None

    @property
    def supposed_with(self) -> Iterator[_Clause]:
        """It, and what it is but the end of: "it would leave 29 dB, just below the limit"."""
        each: _Clause | None = self
        while each is not None:
            yield each
            each = each.earlier if _APPENDED.match(each.text) else None

    @property
    def is_of_old(self) -> bool:
        """Whether it, or one before it in its sentence, may tell of the circuit as it was."""
        each: _Clause | None = self
        while each is not None:
            if _OF_OLD.search(each.text):
                return True
            each = each.earlier
        return False

    @property
    def subject(self) -> Iterator[_Clause]:
        """It, and where it names nothing itself those that it goes on with."""
        each = self
        for _ in range(_MOST_BACK):
            yield each
            if each.names or each.earlier is None or (each is not self and each.figures):
                break
            each = each.earlier


@dataclass(slots=True)
class _State:
    """A circuit as it is, or was: what was measured of it, and which facts each limit is of."""

    facts: Facts
    limits: list[Limit]
    judged: dict[int, list[Fact]] = field(default_factory=dict)
    """By the place of the limit."""
    of_rows: dict[int, list[Fact]] = field(default_factory=dict)
    """The same of what was studied twice: sure only where a row is named."""

    @classmethod
    def of(cls, facts: Facts, limits: list[Limit], *, is_one: bool = False) -> _State:
        unsure = facts.studied_twice | (facts.unsure if is_one else set())
        told = {place: found for place, each in enumerate(limits) if (found := facts.of(each, limits))}
        own = {
            place: found
            for place, found in told.items()
            if unsure.isdisjoint(fact.quantity for fact in found)
        }
        of_rows = {
            place: rows
            for place, found in told.items()
            if place not in own and (rows := [each for each in found if each.row is not None])
        }
        # A limit that no name ties to a quantity is of the one whose values it was found to be of.
        limits = [
            replace(each, quantity=own[place][0].quantity) if each.quantity is None and place in own else each
            for place, each in enumerate(limits)
        ]
        return cls(facts, limits, own, of_rows)

    def of_limit(self, place: int, *, is_of_rows: bool) -> Sequence[Fact]:
        """What a limit is held against."""
        own = self.judged.get(place, [])
        return own or (self.of_rows.get(place, []) if is_of_rows else own)

    def has(self, figure: TextFigure) -> bool:
        """Whether a figure is one of the values that were measured."""
        values = [value for each in self.facts.found if (value := in_unit(each, figure.unit)) is not None]
        return any(is_rounding(figure, each, is_rough=figure.digits <= _COARSE) for each in values)


Meant = tuple[int, Limit]


def wrong_verdicts(
    flat: str, results: Sequence[str], earlier: Sequence[str], words: Sequence[str]
) -> Iterator[str]:
    """The clauses of an answer, in plain form and without code, whose verdict the facts prove wrong."""
    limits = limits_in(words, (*earlier, *results))
    now = _State.of(facts_of(results), limits, is_one=True)
    before = _states_before(earlier, limits)
    if not (limits or before or now.facts.rows):
        return
    told = [_clauses(flat, limits, Table(state.facts.rows)) for state in (now, *before)]
    for clause, *others in zip(*told, strict=True):
        if any(_SUPPOSED.search(each.text) for each in clause.supposed_with):
            continue
        if before and (_OF_BOTH.search(clause.sentence) or _RUN.search(clause.sentence)):
            continue
        own: list[tuple[_Clause, _State]] = [(clause, now)]
        old = list(zip(others, before, strict=True))
        named = [(each, state) for each, state in old if each.rows is not None]
        if named and clause.rows is None:
            # of a study of the circuit as it was: what is known of it in the end counts
            own = named if _is_wrong(*named[-1]) else []
        elif before and clause.sentence.lstrip().startswith("|"):
            continue  # it may tell of both states
        elif old and _SURELY_OLD.search(clause.text):
            own = old
        elif clause.is_of_old:
            if old and not any(_is_wrong(each, state) for each, state in old):
                continue
            own += old
        if {_is_wrong(each, state) for each, state in own} - {None} == {True}:
            yield clause.text


def _states_before(earlier: Sequence[str], limits: list[Limit]) -> list[_State]:
    """What was known after each result of the circuit as it was."""
    states = [_State.of(facts_of(earlier[: end + 1]), limits) for end in range(len(earlier))[-_MOST_STATES:]]
    return states if any(each.judged for each in states) else []


def _clauses(flat: str, limits: Sequence[Limit], table: Table) -> Iterator[_Clause]:
    names = {each.quantity for each in limits if isinstance(each.quantity, str)}
    columns = {name for row in table.rows for name, _ in row.columns}
    names |= {name for name in columns if isinstance(row_of(name), str)}
    count = begin = 0
    for stop in (*_SENTENCE_END.finditer(flat), None):
        sentence = flat[begin : stop.start() if stop else len(flat)]
        at, opened = 0, ""
        last = outer = None
        for end in (*_CLAUSE_END.finditer(sentence), None):
            text = sentence[at : end.start() if end else len(sentence)]
            if text.strip() and not (stop and stop[0] in "?？") and count < _MOST_CLAUSES:
                own_rows = rows_named(text, table)
                places = sorted(places_named(text, names), key=lambda each: each[1])
                last = _Clause(
                    text=text,
                    sentence=sentence,
                    before=sentence[:at],
                    figures=list(figures_in(text)),
                    names=[row for row, *_ in places],
                    rows=own_rows or (last.rows if last else None),
                    own_rows=own_rows,
                    is_aside=opened in ("(", "（"),
                    earlier=None if opened == "|" else last,
                    is_restricted=_is_restricted(flat[begin + at + len(text) :][:_IN_SIGHT]),
                )
                yield last
                count += 1
            opened = end[0] if end else ""
            if opened in ("(", "（"):
                outer = last
            elif opened in (")", "）"):
                last = outer  # what follows an aside goes on with what stands before it
            at = end.end() if end else at
        begin = stop.end() if stop else begin


def _is_restricted(behind: str) -> bool:
    but = _BUT.match(behind)
    return but is not None and _MISSES.search(behind, but.end()) is not None


# --- which limits a clause judges, and how -----------------------------------------------------------------


def _polarity(text: str) -> bool | None:
    """Whether a clause tells that something is kept; None where it does not judge, or judges both ways."""
    if _ONLY.search(text) and _TROUBLE.search(text):
        return False
    meets, misses = list(_MEETS.finditer(text)), list(_MISSES.finditer(text))
    if bool(meets) == bool(misses) or len(misses) > 1:
        return None
    found = (meets or misses)[0]
    return bool(meets) != (_DENIES.search(text[: found.start()]) is not None)


def _named_by(clause: _Clause, state: _State) -> list[Meant]:
    """The limits that a clause names: by their quantity, by their bound, or by what was measured."""
    limits = list(enumerate(state.limits))
    cited = [each for each in limits if _cites(clause, each[1])]
    if clause.names:
        named = [each for each in limits if each[1].quantity in clause.names]
        both = [each for each in named if each in cited]
        return both or named or [each for each in cited if each[1].quantity is None]
    if cited:
        return cited
    told = [
        (place, limit)
        for place, limit in limits
        if any(
            is_rounding(figure, fact.value, is_rough=False)
            for figure in clause.figures
            if figure.unit == limit.unit and figure.digits > 1
            for fact in state.judged.get(place, ())
        )
    ]
    return told if len(told) == 1 else []


_OF_TIME = late_pattern(
    r"\btoo (?:slow|fast|long|short|late|early)\b|[太过](?:慢|快|长|短|迟|早)", re.IGNORECASE
)
_TIMES = ("s", "Hz", "V/s", "A/s")
_GOES_ON = late_pattern(
    r"\b(?:which|it|that|this|these|they|both|all|is|are|was|were|has|have|been|does|do|did|not|no"
    r"|longer|still|also|now|well"
    r"|just|so|and|only|clearly|barely|easily|safely|even|the|your|our|its|of|as|by|you|asked|for"
    r"|allow\w*|far|much|too"
    r"|long|high|low|large|small|what|n't|limits?|goals?|targets?|spec\w*|require\w*|both|window|range)\b"
    r"|[也都均仍已就只的了它这该亦]|已经|依然|还是|要求|指标|目标|上限|下限|规定|规格|范围|全部|完全"
    r"|正好|刚好|勉强|因此|所以",
    re.IGNORECASE,
)
"""What a clause may hold beside its verdict that goes on with what stands before it."""


def _meant_by(clause: _Clause, state: _State) -> list[Meant]:
    """The limits that a clause, or what it goes on with, names."""
    rest = _MISSES.sub("", _MEETS.sub("", clause.text))
    rest = re.sub(r"[-±\d.]+ ?[a-zA-ZΩ°%]{0,4}", "", rest)
    if len(re.sub(r"\W", "", _GOES_ON.sub("", rest))) > _MOST_BESIDE and not clause.own_rows:
        return _named_by(clause, state)
    meant = next((found for each in clause.subject if (found := _named_by(each, state))), [])
    if _OF_TIME.search(clause.text):
        meant = [each for each in meant if each[1].unit in _TIMES]
    if clause.figures and not _named_by(clause, state):  # its figures are of something else
        return [each for each in meant if _cites(clause, each[1])]
    return meant


def _cites(clause: _Clause, limit: Limit) -> bool:
    if limit.off is not None and any(
        (each.unit, each.value) == limit.off and (each.text.startswith("±") or "within" in clause.text)
        for each in clause.figures
    ):
        return True
    return bool(_bounds_in(clause, limit))


def _bounds_in(clause: _Clause, limit: Limit) -> set[int]:
    """Where the ends of a limit are told: of figures that are nearly one, the nearest."""
    found = set()
    for end in limit.bounds:
        near = [
            each
            for each in clause.figures
            if each.unit == limit.unit
            and is_rounding(each, end, is_rough=False)
            and not _DIFFERENCE.search(clause.text[: each.start])
        ]
        if near:
            found.add(min(near, key=lambda each: (abs(each.value - end), -each.start)).start)
    return found


def _is_wrong(clause: _Clause, state: _State) -> bool | None:
    """Whether what a clause tells is wrong; None where it gives no verdict, or nothing tells."""
    if _is_wrong_extreme(clause, state):
        return True
    if (is_kept := _polarity(clause.text)) is None:
        return _is_on_other_side(clause, state)
    meant = _meant_by(clause, state)
    if clause.is_exception:
        return _is_wrong_exception(clause, state, meant, is_kept=is_kept)
    is_of_all = _EVERYTHING.search(clause.text) is not None
    tells_part = clause.is_restricted or _PARTLY.search(_ONLY_SO_MUCH.sub(" ", clause.sentence)) is not None
    is_partly = tells_part and (not meant or is_of_all)
    if is_partly or (len(meant) > 1 and not is_kept):
        return None
    is_of_all = is_of_all and not _named_by(clause, state)
    if is_of_all or (not meant and clause.own_rows is not None and not clause.names):
        return _is_wrong_of_all(clause, state, is_kept=is_kept)
    return _any_of(_is_wrong_of(clause, state, each, is_kept=is_kept) for each in meant)


def _any_of(told: Iterable[bool | None]) -> bool | None:
    """Whether one is wrong; None where none is, and not all are known."""
    all_told = list(told)
    return True if True in all_told else (None if None in all_told or not all_told else False)


def _is_wrong_of_all(clause: _Clause, state: _State, *, is_kept: bool) -> bool | None:
    told = [_is_wrong_there(clause, state, each, is_kept=is_kept) for each in enumerate(state.limits)]
    if is_kept:
        return True if True in told else None
    return True if told and all(told) else None


def _is_wrong_exception(clause: _Clause, state: _State, meant: list[Meant], *, is_kept: bool) -> bool | None:
    """Where one limit, or one row, is told to be the only one that is kept, or is missed."""
    is_kept = is_kept and not clause.is_all_but
    if clause.own_rows is not None and state.facts.rows:
        those = meant or list(enumerate(state.limits))
        others = [row for row in state.facts.rows if row not in clause.own_rows]
        kept = [_keep(clause.own_rows, state, those), _keep(others, state, those)]
        if None in kept[0] or None in kept[1] or not kept[0] or not kept[1]:
            return None
        if is_kept:
            # Of two things that were varied, the rows of another value may pass but in part.
            is_sure = len(state.judged) == len(state.limits) and len(_varied(state.facts.rows)) == 1
            return False in kept[0] or (True in kept[1] and is_sure)
        return True in kept[0] or False in kept[1]
    if not meant:
        return None
    told = [_is_wrong_there(clause, state, each, is_kept=is_kept) for each in meant]
    rest = [
        _is_wrong_there(clause, state, (place, limit), is_kept=not is_kept)
        for place, limit in enumerate(state.limits)
        if (place, limit) not in meant
    ]
    return _any_of([*told, *rest])


def _varied(rows: Sequence[Row]) -> set[str]:
    return {name for row in rows for name, *_ in row.varied}


def _keep(rows: Sequence[Row], state: _State, those: Sequence[Meant]) -> list[bool | None]:
    """Of each row whether it keeps some limits; None where nothing tells."""
    found: list[bool | None] = []
    for row in rows:
        kept = [
            limit.is_kept_by(fact.value)
            for place, limit in those
            for fact in state.judged.get(place, ())
            if fact.row == row
        ]
        found.append(all(kept) if kept else None)
    return found


def _is_on_other_side(clause: _Clause, state: _State) -> bool | None:
    """Whether something is told to be above or below its bound that isn't."""
    sides = [*_ABOVE.finditer(clause.text), *_BELOW.finditer(clause.text)]
    meant = _named_by(clause, state)
    if not meant and not clause.figures:  # "the skew exceeds its limit"
        meant = _meant_by(clause, state)
    if len(sides) != 1 or len(meant) != 1 or (clause.is_aside and clause.text.find(sides[0][0]) < 2):
        return None
    found, limit = sides[0], meant[0][1]
    lead, rest = clause.text[: found.start()], clause.text[found.end() :]
    is_cited = any(each >= found.end() for each in _bounds_in(clause, limit))
    is_adverb = found[0].isascii() and not found[0].lower().startswith("exceed")
    is_off = is_adverb and any(
        not lead[each.end :].strip() for each in clause.figures if each.end <= len(lead)
    )
    if is_off or _OF_LIMIT.search(lead) or not (is_cited or _OF_LIMIT.search(rest)):
        return None
    if not _ADVERBS.sub("", lead).strip() and not (clause.earlier and clause.earlier.figures):
        return None
    is_denied = _DENIES.search(lead) is not None
    is_above = (_ABOVE.match(found[0]) is not None) != is_denied
    if limit.low is not None and limit.high is not None:
        is_upper = any(is_rounding(each, limit.high, is_rough=False) for each in clause.figures)
        if is_denied or is_above != is_upper:
            return None
        return _is_wrong_of(clause, state, meant[0], is_kept=False)
    return _is_wrong_of(clause, state, meant[0], is_kept=is_above == (limit.low is not None))


# --- what the facts say ------------------------------------------------------------------------------------


def _is_wrong_of(clause: _Clause, state: _State, meant: Meant, *, is_kept: bool) -> bool | None:
    """By the figure that the clause gives itself, else by the facts."""
    limit = meant[1]
    for each in clause.subject:
        if own := _own_figures(each, limit):
            own = own if each is clause else own[-1:]
            kept = [limit.is_kept_by(one.value, one.step / 2 if is_kept else -one.step / 2) for one in own]
            is_wrong = not all(kept) if is_kept else all(kept)
            is_cited = bool(_bounds_in(clause, limit))
            if each is not clause and _OF_OLD.search(each.text) and not (is_wrong and is_cited):
                return None
            if is_wrong or all(state.has(one) for one in own):
                return is_wrong
            break
    return _is_wrong_there(clause, state, meant, is_kept=is_kept)


def _own_figures(clause: _Clause, limit: Limit) -> list[TextFigure]:
    """The figures of a clause that may be of what is limited: no bound, no condition, no difference."""
    bounds = _bounds_in(clause, limit)
    starts = {each.first.start for each in pairs_in(clause.text, clause.figures)}
    varied = {abs(value) for row in clause.rows or () for _, value, _ in row.varied}
    others = (*limit.at, limit.aim or 0.0, *varied, *([limit.off[1]] if limit.off else []))
    return [
        each
        for each in clause.figures
        if each.unit == limit.unit
        and each.start not in bounds | starts
        and not (_CAME_FROM.search(lead := clause.text[: each.start]) and not clause.is_told_by(lead))
        and not any(is_rounding(each, other, is_rough=False) for other in others)
        and not DIFFERS.match(clause.text, each.end)
        and not _DIFFERENCE.search(clause.text[: each.start])
        and _is_of_kind(each.value, limit)
    ]


def _is_of_kind(value: float, limit: Limit) -> bool:
    if limit.aim:
        return abs(value / limit.aim - 1) <= _NEAR_AIM
    return any(end and 1 / _OF_KIND <= value / abs(end) <= _OF_KIND for end in limit.bounds)


def _is_wrong_there(clause: _Clause, state: _State, meant: Meant, *, is_kept: bool) -> bool | None:
    """Whether the facts of a limit are otherwise where a clause tells of."""
    told = state.of_limit(meant[0], is_of_rows=clause.own_rows is not None)
    groups = [each for each in _in_scope(clause, told) if each]
    if not groups:
        return None
    missed = [any(not meant[1].is_kept_by(each.value) for each in group) for group in groups]
    return all(missed) if is_kept else not any(missed)


def _in_scope(clause: _Clause, facts: Sequence[Fact]) -> list[list[Fact]]:
    """The facts that a clause tells of: of each of what it may tell of."""
    rows = [each for each in facts if each.row is not None]
    plain = [each for each in facts if each.row is None and not each.statistic]
    spread = [each for each in facts if each.statistic]
    if clause.rows is not None:
        return [[each for each in rows if any(each.row == row for row in clause.rows)]]
    if spread and _STATISTICAL.search(clause.sentence):
        return []
    if _OF_ENDS.search(clause.sentence):
        plain = [each for each in plain if not any(each.age > other.age for other in facts)]
    if rows and all(each.age > rows[0].age for each in plain):
        return [] if _NOMINAL.search(clause.sentence) else [rows]
    if spread and _OF_ENDS.search(clause.sentence):
        return [spread]
    facts = plain or [each for each in spread if each.statistic == "nominal"]
    files = {each.file for each in facts if each.file}
    named = {each for each in files if each.partition(".")[0] in clause.sentence.lower()}
    if len(named) == 1:
        return [[each for each in facts if each.file in named]]
    return [[each for each in facts if each.file == file] for file in files or {""}]


def _is_wrong_extreme(clause: _Clause, state: _State) -> bool:
    """Where a row is told to be the highest, lowest or worst of a study, and another is."""
    told = {each.lastgroup for each in _SUPERLATIVE.finditer(clause.text)}
    columns = {row_of(name) for row in state.facts.rows for name, _ in row.columns}
    names = set(clause.names) or (columns if len(columns) == 1 else set())
    if len(told) != 1 or clause.own_rows is None or len(names) != 1 or _DENIES.search(clause.text):
        return False
    quantity = next(iter(names))
    if quantity in state.facts.studied_twice:
        return False
    facts = [each for each in state.facts.found if each.quantity == quantity and each.row is not None]
    way = _way_of(next(iter(told)) or "", quantity, state)
    inside = [way * each.value for each in facts if each.row in clause.own_rows]
    outside = [way * each.value for each in facts if each.row not in clause.own_rows]
    if not way or not inside or not outside:
        return False
    span = max(*inside, *outside) - min(*inside, *outside)
    return max(outside) - max(inside) > _SAME_END * span


def _way_of(told: str, quantity: QuantityName, state: _State) -> int:
    """1 where the one with the most is meant, -1 where the least; 0 where that is not sure."""
    if told in ("high", "low"):
        return 1 if told == "high" else -1
    limits = [each for each in state.limits if each.quantity == quantity]
    ways = {1 if each.low is not None else -1 for each in limits if (each.low is None) != (each.high is None)}
    good = ways.pop() if len(ways) == 1 else better_way(quantity)
    return good if told == "best" else -good
