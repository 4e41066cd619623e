"""Elements that the user wants left as they are, from what was said in a conversation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from domain.circuit.cards import assignments_of
from domain.circuit.netlist import NETLIST_SUFFIXES, Netlist
from domain.circuit.numbers import parse_number
from domain.circuit.placed import Placed
from shared.late_patterns import late_pattern

if TYPE_CHECKING:
    from domain.circuit.dependencies import DependencyTree

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
    r"(?<![A-Za-z0-9_./\\-])"
    rf"([A-Za-z0-9_./\\-]+(?:{'|'.join(map(re.escape, sorted(NETLIST_SUFFIXES, reverse=True)))}))"
    r"(?![A-Za-z0-9_]|\.\w)(?:\s*(?:文件)?(?:里面?|中|内)?的?)",
    re.IGNORECASE,
)
"""A netlist's name in a sentence, with what says that something is in it.

A long word (pasted data) is gone through once, not again from each of its letters.
"""
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
    return _locked_changes(said, _placed(old), _placed(new))


def locked_changes_of_circuit(
    said: Sequence[str], before: DependencyTree, after: DependencyTree
) -> tuple[str, ...]:
    """The like of a circuit with all it includes: elements lean on what stands in other files, too."""
    return _locked_changes(said, before.expanded, after.expanded) if speaks_of_locks(said) else ()


def _placed(netlist: Netlist) -> Sequence[Placed]:
    return [Placed(netlist, statement, ()) for statement in netlist.statements]


def _locked_changes(
    said: Sequence[str], before: Sequence[Placed], after: Sequence[Placed]
) -> tuple[str, ...]:
    old, new = _Cards(before), _Cards(after)
    names = {path[-1]: placed.statement.text.split()[0] for path, placed in old.elements.items()}
    locked = _locked(said, names)
    changed = dict.fromkeys(
        path[-1] for path in old.elements if path[-1] in locked and old.made_of(path) != new.made_of(path)
    )
    given = {
        path[-1]: placed.netlist.element_with(placed.statement, frozenset())
        for path, placed in new.elements.items()
        if path[-1] in changed
    }
    values = {name: each.value.text for name, each in given.items() if each.value is not None}
    return tuple(
        names[name]
        for name in changed
        if not (value := locked[name])
        or name in new.altered
        or _number(values.get(name, "")) != _number(value)
    )


def _number(text: str) -> float | None:
    try:
        return parse_number(
            re.sub(r"\s|[Ωµμ]|欧姆?", lambda found: {"µ": "u", "μ": "u"}.get(found[0], ""), text)
        )
    except ValueError:
        return None


class _Cards:
    """The elements of a circuit, and what each is made of: its card, and all that this leans on."""

    def __init__(self, circuit: Sequence[Placed]) -> None:
        self.elements: dict[tuple[str, ...], Placed] = {}
        """By scope and name."""
        self.altered: dict[str, list[str]] = {}
        """Commands of `.control` that give an element, a model or a parameter another value."""
        self._definitions: dict[tuple[str, str], list[str]] = {}
        """Of parameters, functions and models by kind and name, those of all scopes."""
        self._conditions: list[str] = []
        """Of all `.if`."""
        self._left = _MOST_FOLLOWED
        self._calls: dict[str, set[str]] = {}
        """What the calls of a subcircuit give it, by its name."""
        for placed in circuit:
            self._take(placed)

    def _take(self, placed: Placed) -> None:
        statement, text = placed.statement, _spaced(placed.statement.text)
        if statement.kind == "element":
            self.elements[*placed.scope, text.partition(" ")[0].lower()] = placed
            if statement.keyword == "x":
                given = " ".join(map("=".join, _GIVEN.findall(text))).lower()
                for word in text.lower().split()[1:]:
                    self._calls.setdefault(word, set()).add(given)
        elif statement.kind == "control":
            if found := _ALTERS.match(text):
                self.altered.setdefault(found["name"].rpartition(".")[2].lower(), []).append(text.lower())
        elif statement.keyword in ("param", "csparam"):
            for pair in assignments_of(statement):
                self._define("name", pair.name, pair.value.text)
        elif statement.keyword in ("func", "model"):
            kind = "model" if statement.keyword == "model" else "name"
            name = re.split(r"[\s(]", f"{text} ", maxsplit=2)[1]
            self._define(kind, name, text)
        elif statement.keyword == "subckt":
            for name, value in _GIVEN.findall(text):
                self._define("name", name, value)
        elif statement.keyword in ("if", "elseif"):
            self._conditions.append(text)

    def _define(self, kind: str, name: str, text: str) -> None:
        self._definitions.setdefault((kind, name.lower()), []).append(_spaced(text).lower())

    def made_of(self, path: tuple[str, ...]) -> tuple[str, ...]:
        """All texts that decide what an element is; () for one that is not there."""
        placed = self.elements.get(path)
        if placed is None:
            return ()
        text = _spaced(placed.statement.text).lower()
        words = dict.fromkeys(_names_in(text, everywhere=placed.statement.keyword == "b"))
        leans_on = {("name", word) for word in words} | {("model", word) for word in text.split()[1:]}
        parts = [text, *self.altered.get(path[-1], ())]
        for block in path[:-1]:
            parts += sorted(self._calls.get(block, ["not called"]))
        if placed.statement.branches:
            parts += [*(str(branch.arm) for branch in placed.statement.branches), *self._conditions]
        seen: set[tuple[str, str]] = set()
        waiting = sorted(leans_on)
        while waiting and self._left > 0:
            self._left -= 1
            kind, name = key = waiting.pop()
            if key in seen:
                continue
            seen.add(key)
            for definition in self._definitions.get(key, ()):
                parts.append(f"{name}={definition}")
                further = _names_in(definition, everywhere=kind == "name")
                waiting += (("name", word) for word in further)
            if key in self._definitions:
                parts += self.altered.get(name, ())
        return tuple(parts)


_MOST_FOLLOWED = 500_000
"""Names that are followed in one circuit: thousands of elements may lean on thousands of parameters each."""
_GIVEN = late_pattern(r"(\w+)\s*=\s*(\{[^{}]*\}|'[^']*'|\S+)")
_ALTERS = late_pattern(r"(?:\*#\s*)?alter\w*\s+@?(?P<name>[\w.]+)", re.IGNORECASE)


def _spaced(text: str) -> str:
    return " ".join(text.split())


def _names_in(text: str, *, everywhere: bool) -> list[str]:
    """The names that an expression reads: in braces and quotes, or in all of the text."""
    expressions = [text] if everywhere else ["".join(part) for part in _IN_BRACES.findall(text)]
    return [word for each in expressions for word in _WORD.findall(each)]


def _named(found: re.Match[str], known: Mapping[str, str]) -> list[str]:
    group = next(text for key, text in found.groupdict().items() if text and key[:5] != "value")
    return [name.lower() for name in re.findall(_NAME, group, re.IGNORECASE) if name.lower() in known]
