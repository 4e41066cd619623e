"""Elements that the user wants left as they are, from what was said in a conversation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath

from domain.circuit.netlist import NETLIST_SUFFIXES, Netlist
from domain.circuit.numbers import parse_number
from shared.late_patterns import late_pattern

_NAME = r"(?:[RCLQMDVIJXEGFHB][A-Za-z0-9_]{0,7})"
_AND = r"(?:,\s*(?:and|or|nor)\b|,|、|，|/|&|\band\b|\bor\b|\bnor\b|和|与|或|及)"
_PART = rf"(?<![A-Za-z0-9_]){_NAME}(?![A-Za-z0-9_])"
_NAMES = rf"{_PART}(?:\s*+{_AND}\s*+{_PART}){{0,60}}+"
"""A list of parts may have thousands: it is not gone through again from each of them."""
_KIND = (
    r"(?:the\s+|both\s+){0,2}(?:(?:values?|resistances?|capacitances?|inductances?)\s+of\s+)?(?:the\s+)?"
    r"(?:(?:resistor|capacitor|inductor|transistor|diode|source|supply|part|element|component)s?\s+)?"
)
_OF_IT = r"(?!\s*['’]s\s+(?!values?\b|resistance|capacitance|inductance))(?!\s+(?:current|voltage|power)\b)"
"""Behind a name: not what flows through it or stands across it."""
_OF_IT_ZH = (
    r"(?!\s*(?:两端|两侧|上的|中的|支路|电流|电压|功耗|功率|的(?!(?:阻|容|电阻|电容|电感|参数|元件)?值)))"
)
_FIGURE = r"\d+(?:\.\d+)?(?:e[-+]?\d+)?\s*(?:meg|[fpnumkgtµμ])?(?:ohms?|Ω|欧姆?|[FHVA])?(?![A-Za-z0-9%]|\.\d)"
_NO_BOUND = (
    r"(?!\s*(?:or\s+(?:less|more|below|above|lower|higher)|to\b|-\s*\d|~|±|以[上下内]|左右|到|至|max|min))"
)
_VALUE = rf"(?P<value{{}}>{_FIGURE}){_NO_BOUND}"
_AS_IT_IS = (
    r"as[\s-]+(?:is|it|they)\b|unchanged|untouched|unmodified|fixed|alone|constant|intact|where\b|in\s+place"
    r"|the\s+(?:same|way)\b|like\s+(?:that|this|it)\b"
)
_NOT = r"(?:don['’]?t|do\s+not|never|without|not\s+to|must\s+not|mustn['’]t|should\s+not|cannot|can['’]t)"
_DO = r"(?:touch|chang|modify|alter|mov|replac|adjust|vary|tun|edit|remov|delet|swap|resiz|tweak)(?:e|ing|y)?"
_NOT_ZH = r"(?:请?别|不要|不能|不可以?|不许|不准|不得|请?勿|禁止|切勿)(?:再|去|随便|随意){0,2}"
_DO_ZH = r"(?:改动|改变|修改|调整|更改|更换|变动|变更|替换|删除?|动|变|调|换|碰|改)"
_LOCKING = late_pattern(
    rf"\b{_NOT}\s+(?:mess\s+with|{_DO})\s+{_KIND}(?P<a>{_NAMES}){_OF_IT}"
    rf"|\b(?:keep|leave|hold)(?:ing)?\s+{_KIND}(?P<b>{_NAMES})(?:['’]s\s+value)?\s*"
    rf"(?:(?:at|=|to)?\s*{_VALUE.format(1)}|(?=(?:exactly\s+)?(?:{_AS_IT_IS}))|(?=[.,;!\n]|$))"
    rf"|\b(?:lock|freeze|pin)\s+{_KIND}(?P<c>{_NAMES}){_OF_IT}(?:\s+(?:at|to)\s+{_VALUE.format(2)})?"
    rf"|\bfix\s+{_KIND}(?P<d>{_NAMES})\s+(?:at|to)\s+{_VALUE.format(3)}"
    rf"|\b(?:hands\s+off|stay\s+away\s+from|no\s+changes?\s+to|not\s+(?:at\s+)?all)\s+{_KIND}(?P<e>{_NAMES}){_OF_IT}"
    rf"|\b(?P<f>{_NAMES})\s+(?:must|should|has\s+to|have\s+to|shall|is\s+to|are\s+to|will|can|may)\s*"
    rf"(?:(?:not|n?['’]t)\s+(?:be\s+)?{_DO}d?\b|(?:stay|remain)\b(?!\s+(?:below|above|under|over|within|between))"
    rf"(?:\s+at\s+{_VALUE.format(4)})?)"
    rf"|\b(?P<g>{_NAMES})\s+(?:stays?|remains?|is|are)\s+(?:at\s+{_VALUE.format(5)}|(?:{_AS_IT_IS})|off[\s-]limits|locked)"
    rf"|\bwith\s+{_KIND}(?P<h>{_NAMES})\s+(?:fixed|unchanged|untouched|locked|held|kept)"
    rf"(?:\s+(?:at|to)\s+{_VALUE.format(6)})?"
    rf"|{_NOT_ZH}(?:{_DO_ZH}|把)\s*(?:电阻|电容|电感|晶体管|元件)?\s*(?P<i>{_NAMES}){_OF_IT_ZH}"
    rf"|(?:保持|固定|锁定|锁住|保留)\s*(?:电阻|电容|电感|晶体管|元件)?\s*(?P<j>{_NAMES}){_OF_IT_ZH}"
    rf"(?:的值)?(?:\s*(?:为|在|=)?\s*{_VALUE.format(7)}|(?!\s*(?:大于|小于|低于|高于|不超过|在|为|[<>≤≥])))"
    rf"|(?P<k>{_NAMES})\s*(?:的?(?:阻|容|电阻|电容|电感|参数)?值)?\s*(?:也|都|一直|仍然?|必须|要|就|请|先){{0,4}}"
    rf"(?:(?:保持|维持|固定|锁定|锁死)(?:不变|不动|原样|现状)|不变(?!的话)|不动(?!的话)|{_NOT_ZH}{_DO_ZH}|保留(?!在)"
    rf"|(?:保持|维持|固定|锁定)(?:为|在|成)?\s*(?:原值|{_VALUE.format(8)})|固定(?!\s*(?:电容|电阻|偏置|在|为))|锁定|锁住)",
    re.IGNORECASE,
)
_QUESTION = late_pattern(
    r"^\W*(?:why|what|which|when|how|who|is|are|was|were|does|do\s+(?:you|we|I)|did|has|have)\b"
    r"|(?:吗|呢|多少|怎样|怎么|如何|会不会|是不是|要不要|为什么|为何|什么)|[?？]",
    re.IGNORECASE,
)
_POLITE = late_pattern(
    r"^\W*(?:(?:can|could|would|will)\s+you|please|请|麻烦|能不能|能否|可不可以|可以请)", re.IGNORECASE
)
_BLANKS = late_pattern(r"\s+")
_SENTENCE = late_pattern(r"[^.!?。！？；;\n]+(?:\.(?=\d)[^.!?。！？；;\n]*)*[.!?。！？；;\n]?")
_FREEING = late_pattern(
    rf"\b(?:may|can|could|should)\s+(?:now\s+|again\s+)?(?:change|touch|alter|modify)\s+(?:the\s+)?(?P<a>{_NAMES})"
    rf"|\b(?:unlock|free|release)\s+(?P<b>{_NAMES})"
    rf"|\b(?P<c>{_NAMES})\s+(?:may|can)\s+(?:now\s+|again\s+)?(?:be\s+changed|change)"
    rf"|\b(?P<f>{_NAMES})\s+(?:is|are)\s+(?:now\s+)?(?:free|released|unlocked|no\s+longer\s+(?:locked|fixed))"
    rf"|(?:^|[.!?;,:\n]|\b(?:please|now|then|and|so|ok|okay|just))\s*"
    rf"(?:change|set|make|put|increase|decrease|raise|lower|reduce|replace)\s+(?:the\s+)?(?P<g>{_NAMES})"
    rf"|(?:可以|能)(?:改|动|调整)\s*(?P<d>{_NAMES})|(?:解锁|放开)\s*(?P<h>{_NAMES})"
    rf"|(?P<e>{_NAMES})\s*(?:现在|又|也)?(?:可以|能)(?:改|动|变|调)"
    rf"|[把将]?\s*(?P<i>{_NAMES})\s*(?:改[成为到]|换[成为]|调[成为到]|增大|减小|取|设为)",
    re.IGNORECASE,
)


_FILE = late_pattern(
    r"(?:\b(?:in|of|from|inside)\s+(?:the\s+)?(?:file\s+)?)?"
    rf"([A-Za-z0-9_./\\-]+(?:{'|'.join(map(re.escape, sorted(NETLIST_SUFFIXES, reverse=True)))}))"
    r"(?![A-Za-z0-9_]|\.\w)(?:\s*(?:文件)?(?:里面?|中|内)?的?)",
    re.IGNORECASE,
)
"""A netlist's name in a sentence, with what says that something is in it."""
_SAID_IN_ONE = late_pattern(r"(?<=[!?;。！？；\n])|(?<=\.)(?=\s)")

_IN_BRACES = re.compile(r"\{([^{}]*)\}|'([^']*)'")
_WORD = re.compile(r"[A-Za-z_]\w*")


def said_about(said: Iterable[str], place: str, *, is_main: bool) -> list[str]:
    """What was said that concerns a file, by its place in the project.

    A sentence that locks elements means the files it names; without one the main circuit and what that
    includes (`is_main`). One that frees them without a file's name frees them in each.
    """
    name = PurePosixPath(place).name.lower()

    def concerns(sentence: str) -> bool:
        named = [PurePosixPath(found[1]).name.lower() for found in _FILE.finditer(sentence)]
        return name in named if named else is_main or not _LOCKING.search(sentence)

    return [
        " ".join(_FILE.sub(" ", each) for each in _SAID_IN_ONE.split(text) if concerns(each)) for text in said
    ]


def speaks_of_locks(said: Iterable[str]) -> bool:
    """Whether any element was locked at all."""
    return any(map(_LOCKING.search, map(_without_questions, said)))


def locked_in(said: Sequence[str], circuit: str, netlist: bytes) -> tuple[str, ...]:
    """Those of the main circuit, of its place in the project and its content."""
    concerning = said_about(said, circuit, is_main=True)
    if not speaks_of_locks(concerning):
        return ()
    return locked_elements(concerning, (each.name for each in Netlist.parse(netlist).elements))


def locked_elements(said: Iterable[str], elements: Iterable[str]) -> tuple[str, ...]:
    """Those of a circuit's `elements` that what was said, oldest first, forbids to change.

    What says later that one may be changed, or orders it, frees it. A question does neither.
    """
    known = {name.lower(): name for name in elements}
    return tuple(known[name] for name in _locked(said, known))


def _locked(said: Iterable[str], known: Mapping[str, str]) -> dict[str, str]:
    """The names in lower case, with the value they were to be kept at ("" for the one they have)."""
    locked: dict[str, str] = {}
    for text in map(_without_questions, said):
        forbidden = [*_LOCKING.finditer(text)]
        for found in forbidden:
            value = next((text for key, text in found.groupdict().items() if key[:5] == "value" and text), "")
            locked |= dict.fromkeys(_named(found, known), value)
        for found in _FREEING.finditer(text):
            if not any(found.start() < each.end() and each.start() < found.end() for each in forbidden):
                for name in _named(found, known):
                    locked.pop(name, None)
    return locked


def _without_questions(text: str) -> str:
    """What is asked is no order, unless it is a polite one.

    No run of blanks is left: it would be gone through from each of them.
    """

    def kept(found: re.Match[str]) -> str:
        is_question = _QUESTION.search(found[0]) is not None and _POLITE.search(found[0]) is None
        return "" if is_question else found[0]

    return _SENTENCE.sub(kept, _BLANKS.sub(lambda found: "\n" if "\n" in found[0] else " ", text))


def locked_changes(
    said: Sequence[str], before: bytes, after: bytes, *, has_title: bool = True
) -> tuple[str, ...]:
    """The elements of a file that are to stay as they are (`locked_elements`), and are others in `after`.

    One that is to be kept at a value may be given just that. `has_title`: see `Netlist.parse`.
    """
    if not speaks_of_locks(said):
        return ()
    old, new = (Netlist.parse(data, has_title=has_title) for data in (before, after))
    cards = _cards(new)
    changed = {path[-1].lower(): path[-1] for path, card in _cards(old).items() if cards.get(path) != card}
    given = {each.name.lower(): each.value.text for each in new.elements if each.value is not None}
    return tuple(
        changed[name]
        for name, value in _locked(said, changed).items()
        if not value or _number(given.get(name, "")) != _number(value)
    )


def _number(text: str) -> float | None:
    try:
        return parse_number(
            re.sub(r"\s|[Ωµμ]|欧姆?", lambda found: {"µ": "u", "μ": "u"}.get(found[0], ""), text)
        )
    except ValueError:
        return None


def _cards(netlist: Netlist) -> Mapping[tuple[str, ...], str]:
    """By scope and name: an element's card with the parameters that stand in it."""
    values = {each.name.lower(): each.value.text for each in netlist.parameters}
    found = {}
    for element in netlist.elements:
        card = " ".join(element.statement.text.split()).lower()
        used = {word for part in _IN_BRACES.findall(card) for word in _WORD.findall("".join(part))}
        parameters = [f"{name}={values[name]}" for name in sorted(used & values.keys())]
        place = (*(scope.lower() for scope in element.scope), element.name)
        found[place] = " ".join([card, *parameters])
    return found


def _named(found: re.Match[str], known: Mapping[str, str]) -> list[str]:
    group = next(text for key, text in found.groupdict().items() if text and key[:5] != "value")
    return [name.lower() for name in re.findall(_NAME, group, re.IGNORECASE) if name.lower() in known]
