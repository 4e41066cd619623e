"""What calls changed in a circuit, value by value, and what an answer says of it: that, and nothing else.

"I set C1 to 2 F" behind a change to 1.5 F, "R1 was left alone" behind one of R1, "only the dead time was
changed" behind one of two things. Read from the differences that changes give, not from words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from domain.circuit.figures_in_text import TextFigure, plain
from domain.circuit.said_figures import SIGHT, is_rounding, is_thought, sentence_before
from domain.llm.agentic_loop.part_values import written
from domain.llm.agentic_loop.rows import with_bare
from shared.late_patterns import late_pattern

_MOST_READ = 40_000
_MOST_LINES = 400
_NEAR = 20
_MOST_ADDED = 6
_LONGEST = 90
_TOKEN = late_pattern(r"[^\s()=,{}]+")
_NUMBER = late_pattern(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?[a-zA-Z]*")
_DIRECTIVES = (".param", ".model", ".options", ".option", ".subckt", ".temp", ".ic")


@dataclass(frozen=True, slots=True)
class Edit:
    """One value that a change put in, took out or replaced."""

    name: str
    """Of the part, model or parameter, in lower case."""
    old: float | None
    new: float | None


@dataclass(frozen=True, slots=True)
class Edits:
    """All that was changed in a conversation, and the numbers that were written."""

    made: tuple[Edit, ...] = ()
    put: frozenset[float] = frozenset()
    is_whole: bool = False
    """A file was written anew: what stayed the same in it is not known."""

    @property
    def names(self) -> frozenset[str]:
        """What has another value than it had first."""
        first: dict[str, float | None] = {}
        last: dict[str, float | None] = {}
        for each in self.made:
            first.setdefault(each.name, each.old)
            last[each.name] = each.new
        return frozenset(name for name in last if first[name] != last[name])

    def newest(self, name: str) -> float | None:
        """The value that was put in last."""
        return next((each.new for each in reversed(self.made) if each.name == name), None)

    def with_call(self, given: Mapping[str, Any], result: str) -> Edits:
        """These, and those of one more call that changed a file."""
        flat = plain(result[:_MOST_READ])
        lines = [line for line in flat.split("\n") if line[:1] in "+-" and line[:3] not in ("+++", "---")]
        is_whole = self.is_whole or not isinstance(given.get("search"), str)
        if not lines and isinstance(given.get("search"), str):
            lines = [f"-{line}" for line in plain(given["search"]).split("\n")]
            lines += [f"+{line}" for line in plain(str(given.get("replace", ""))).split("\n")]
        old, new = (_values_of(line[1:] for line in lines if line[0] == sign) for sign in "-+")
        made = tuple(
            Edit(name.partition("#")[0], old.get(name), new.get(name))
            for name in dict.fromkeys((*old, *new))
            if old.get(name) != new.get(name)
        )
        told = " ".join(line for line in lines if line[0] == "+")
        if not lines or is_whole:
            told = f"{told} {flat} {plain(str(dict(given))[:_MOST_READ])}"
        put = {value for each in _NUMBER.finditer(told) if (value := written(each[0])) is not None}
        return Edits((*self.made, *made), self.put | put, is_whole)


def _values_of(lines: Iterator[str]) -> dict[str, float]:
    """The numbers of cards by name: those of a part behind its nodes, those of parameters by their own."""
    found: dict[str, float] = {}
    for line, _ in zip(lines, range(_MOST_LINES), strict=False):
        tokens = list(_TOKEN.finditer(line.partition(";")[0]))
        if not tokens or tokens[0][0].startswith("*"):
            continue
        head = tokens[0][0].lower()
        if head.startswith(".") and head not in _DIRECTIVES:
            continue
        for place, token in enumerate(tokens[1:], start=1):
            if (value := written(token[0])) is None or not _NUMBER.fullmatch(token[0]):
                continue
            is_named = line[: token.start()].rstrip().endswith("=")
            if is_named:
                before = tokens[place - 1][0].lower()
                found[before if head.startswith(".") else f"{head}#{before}"] = value
            elif place > 2 and not head.startswith("."):
                found[f"{head}#{place}"] = value
    return found


# --- what answers say -----------------------------------------------------------------------------------

_CLAUSE_END = late_pattern(
    r"[，；。！!？?;\n|:：]|(?<!\d),|,(?!\d)|\.(?=\s|$)|\b(?:and|but|while|so)\b|但是?|同时|而且?"
)
_SENTENCE_END = late_pattern(r"[。！!？?；;\n]|\.(?=\s|$)")
_WORD = late_pattern(r"[A-Za-z]\w*")
_NAME = r"(?<![\w.])(?P<name>[A-Za-z][A-Za-z]?\w{0,5})(?![\w.])"
_KEPT = late_pattern(
    rf"{_NAME}(?: (?:itself|alone))? ?(?:\b(?:(?:was|were|is|are|has been|have been) )?(?:left|kept|not "
    r"(?:changed|touched|altered)|unchanged|untouched)\b|\b(?:stays?|stayed|remains?|remained)\b"
    r"(?= (?:at|as|the|un|what)\b)"
    r"|[^，。；,;\w]{0,2}(?:的值)?(?:并|都|均)?(?:没有?|未|不)(?:被)?(?:再)?(?:[改变更]?动|改|变)(?!善)"
    r"|(?:仍然?|还是?)?(?:保持|维持|沿用)(?!不了))"
    rf"|\b(?:left|leaving|kept|keeping|keep|(?:did not|didn't|without) (?:change|touch|changing|touching))"
    r" (?:the )?(?:(?:resistor|capacitor|inductor) )?(?P<kept>[A-Za-z][A-Za-z]?\w{0,5})(?![\w.])"
    r"|(?:没有?|未)(?:改|动|更改|修改)(?P<zh>[A-Za-z]\w{0,5})(?!\w)",
    re.IGNORECASE,
)
_ONLY = late_pattern(
    r"\b(?:only|just|nothing but|alone)\b|[只仅](?!有|要|能|剩|是|差|为)|唯一(?:的)?(?:改动|修改|变化)"
)
_DEED = late_pattern(
    r"\b(?:chang\w+|modif\w+|edit\w*|replac\w+|swapp\w+|set|adjust\w*|rais\w+|increas\w+|lower\w+|reduc\w+"
    r"|decreas\w+|enlarg\w+|doubl\w+|halv\w+|touch\w*)\b|[改换调动]|减[小到]|增[大加到]|加[大到长]|缩短|延长",
    re.IGNORECASE,
)
_SUPPOSES = late_pattern(
    r"\b(?:if|would|could|should|may|might|can|will|shall|suggest\w*|recommend\w*|propos\w+|let me|you|next"
    r"|try|must|need\w*|to (?:get|reach|meet|bring|keep|be)|i'd|i'll|sweep\w*|swept|helps?|enough)\b"
    r"|如果|若|假如|建议|可以?|可能|应|需|估计|预计|[未没]有?仿真|下一步|接下来|不妨|考虑|或者|将(?!\s?[A-Z])|会|要(?![求的])|请|[您你]|扫描|改善|就[能可够]|[?？]",
    re.IGNORECASE,
)
_WE = late_pattern(
    r"\b(?:I|we)(?:['’]ve| have)?(?: (?:now|then|also|just|therefore|simply|only|finally))* "
    r"(?P<verb>set|changed|put|replaced|raised|increased|lowered|reduced|decreased|enlarged|doubled|halved"
    r"|swapped)\b[^.;\n]{0,60}?\b(?:to|with|by)\b (?:about )?$"
    r"|(?:把|将)[^，。；,;\n]{1,40}?(?:(?P<set>改[为成]|[设换]成?[为成]|[换调设]到)"
    r"|(?:减小?|增大?|加大?|提高|降低?|调|增加)[到至为])\s?(?:了)?(?:约)?$",
    re.IGNORECASE,
)
"""Right before the value that something got."""
_PARTS = r"(?<![\w.])(?:[RCLQMDVIX][A-Z]{0,3}\d\w{0,2}|[RCL][A-Z]{1,2})(?![\w.])"
_BECAME = late_pattern(
    rf"(?P<names>{_PARTS}(?:\s?(?:,|、|/|和|与|及|\band\b)\s?{_PARTS}){{0,3}})\s?"
    r"(?:(?:也|都|均|则|再|又|同时|分别|一并|一起)+\s?)?(?:[由从][^，。；,;]{1,16}?)?"
    r"(?:已经?)?(?:改[为成到]|换[为成到]|调到|减小?到|增大?到|加大?到|增加到|[加减增降][大小]?[至为])\s?$"
    r"|(?P<both>两|三|四|\bboth\b|\ball three\b|\ball four\b)[^，。；,;\d]{0,16}?"
    r"(?:[都均][^，。；,;\d]{0,4}?[改换][为成]了?"
    r"|\b(?:were|are now|have been|got)\b[^.;,\d]{0,20}?\b(?:to|by|with)\b)\s?$"
)
"""Right before the value that parts got."""
_COUNTS = {"两": 2, "三": 3, "四": 4, "both": 2, "all three": 3, "all four": 4}
_KEEPS = late_pattern(
    r"(?:\b(?:kept|keeping|left|stayed with|stays with|retained)\b"
    r"(?: (?:the|it|at|its|my|your|original|old))*"
    r"|保持|保留|维持|沿用|仍[用取为是])\s?(?:了|原来的|原有的|在)?\s?$",
    re.IGNORECASE,
)
"""Right before the value that something still has."""
_NOW = late_pattern(
    rf"(?P<name>{_PARTS}) (?:is|equals|=) (?:now )?$|(?P<zh>{_PARTS})\s?(?:现在?|目前)(?:[为是])?\s?$"
)
_LISTED = late_pattern(
    r"^[-*\s\d.)、]*`?(?P<name>[A-Za-z]\w{1,7})`?\s?[:：]\s?(?P<old>[^,，;；|\n]{1,16}?)\s?(?:->|→|=>)\s?(?P<new>[^,，;；|\n(（]{1,16})",
    re.MULTILINE,
)
"""A line that tells what something was and became."""
_HEADS = late_pattern(
    r"[改换调]动|修改|更改|调整|\bchang\w+|\bedits?\b|\bmodif\w+|\badjust\w+", re.IGNORECASE
)
_IN_FILE = late_pattern(r"\bnow\b|\bin (?:the file|\w+\.cir)\b|现|目前", re.IGNORECASE)
_PART_UNITS = ("Ohm", "F", "H", "")


def wrong_acts(text: str, edits: Edits) -> Iterator[str]:
    """The clauses of an answer, in plain form, that tell of changes otherwise than they were made."""
    if not edits.made:
        return
    at = 0
    for end in (*_CLAUSE_END.finditer(text), None):
        begin, at_end = at, end.start() if end else len(text)
        clause = text[begin:at_end]
        at = end.end() if end else at
        if not clause.strip() or (end and end[0] in "?？"):
            continue
        rest = text[begin:]
        sentence = f"{sentence_before(text, begin)}{_SENTENCE_END.split(rest, maxsplit=1)[0]}"
        if _SUPPOSES.search(clause):
            continue
        figures = with_bare(clause)
        if (
            _is_wrongly_kept(clause, figures, edits)
            or _is_wrongly_alone(clause, sentence, edits)
            or any(_is_wrong_value(text, begin, each, edits) for each in figures)
        ):
            yield clause.strip()[-_LONGEST:]
    if not edits.is_whole:
        yield from _listed_but_not_made(text, edits)


def _listed_but_not_made(text: str, edits: Edits) -> Iterator[str]:
    """Lines of a list of changes that tell of one that was never made."""
    names = {each.name for each in edits.made}
    for told in _LISTED.finditer(text):
        head = next(
            (
                line
                for line in reversed(text[: told.start()].split("\n"))
                if line.rstrip().endswith((":", "："))
            ),
            "",
        )
        if told["name"].lower() in names or not _HEADS.search(head) or _SUPPOSES.search(head):
            continue
        old, new = (next(iter(with_bare(told[each])), None) for each in ("old", "new"))
        are_of_parts = all(each is not None and each.unit in _PART_UNITS for each in (old, new))
        if new is not None and are_of_parts and not any(_is(new, value) for value in edits.put):
            yield told[0].strip()[-_LONGEST:]


def _is_wrongly_kept(clause: str, figures: Sequence[TextFigure], edits: Edits) -> bool:
    """Whether something is told to be as it was that was changed."""
    for told in _KEPT.finditer(clause):
        name = (told["name"] or told["kept"] or told["zh"]).lower()
        if edits.is_whole or name not in edits.names:
            continue
        newest = edits.newest(name)
        # "RS stays at 120 Ω": as it was put in
        if newest is None or not any(is_rounding(each, newest, is_rough=False) for each in figures):
            return True
    return False


def _is_wrongly_alone(clause: str, sentence: str, edits: Edits) -> bool:
    """Whether what a sentence names is told to be all that was changed, and more was."""
    told, deed = _ONLY.search(clause), _DEED.search(clause)
    if told is None or deed is None or edits.is_whole or abs(deed.start() - told.start()) > _NEAR:
        return False
    words = {word.lower() for word in _WORD.findall(sentence)}
    figures = with_bare(sentence)
    new = {name: edits.newest(name) for name in edits.names}
    named = {
        name
        for name, value in new.items()
        if name in words
        or (value is not None and any(is_rounding(each, value, is_rough=False) for each in figures))
    }
    return bool(named) and any(name not in named for name in new)


def _is_wrong_value(text: str, begin: int, figure: TextFigure, edits: Edits) -> bool:
    """Whether a figure of a clause is told to be what something got, has now or still has, and isn't."""
    before = sentence_before(text, begin + figure.start)
    if _is_wrongly_put(text, begin, figure, edits):
        return True
    is_exact = figure.digits > 1 or "." in figure.text or figure.unit in _PART_UNITS
    if edits.is_whole or not is_exact:
        return False
    new = {name: edits.newest(name) for name in edits.names}
    if _KEEPS.search(before):
        was = any(_is(figure, each.old) for each in edits.made if each.name in new)
        return was and not any(_is(figure, value) for value in edits.put)
    now = _NOW.search(before)
    if now is not None and _IN_FILE.search(before + text[begin + figure.end :][:SIGHT]):
        name = (now["name"] or now["zh"]).lower()
        return new.get(name) is not None and not _is(figure, new[name])
    return _SUPPOSES.search(before) is None and _became_otherwise(before, figure, new)


def _is(figure: TextFigure, value: float | None) -> bool:
    return value is not None and is_rounding(figure, abs(value), is_rough=False)


def _became_otherwise(before: str, figure: TextFigure, new: Mapping[str, float | None]) -> bool:
    """Whether parts are told to have got a value, and one of them, or of so many, was not changed."""
    told = _BECAME.search(before)
    if told is None:
        return False
    if told["both"]:
        got_it = [name for name, value in new.items() if _is(figure, value)]
        return 0 < len(got_it) < _COUNTS[told["both"].lower()]
    return not {name.lower() for name in re.findall(_PARTS, told["names"])} <= new.keys()


def _is_wrongly_put(text: str, begin: int, figure: TextFigure, edits: Edits) -> bool:
    """Whether a value is told to have been put in, and no call was given it."""
    before = sentence_before(text, begin + figure.start)
    told = _WE.search(before)
    behind = text[begin + figure.end :][:SIGHT]
    if told is None or (is_thought(before, behind) if told["verb"] else _SUPPOSES.search(before)):
        return False
    is_any_unit = told["set"] is not None or (told["verb"] or "").lower() in ("set", "put")
    if figure.unit not in _PART_UNITS and not is_any_unit:
        return False
    newest = sorted({abs(each.new) for each in edits.made if each.new})[:_MOST_ADDED]
    sums = (one + other for one, other in combinations(newest, 2))  # "the divider from 900 kΩ to 9 MΩ"
    return not any(is_rounding(figure, abs(value), is_rough=False) for value in (*edits.put, *sums))
