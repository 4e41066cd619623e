"""How a text typed at a checkpoint is read: words by what they do, joined by a small grammar.

Knows spellings (full width, traditional characters, inflections, typos of one letter) and how words join
("take" + "that change" + "back" takes back), not what is meant by a sentence.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from domain.design.checkpoint_vocabulary import CHINESE, ENGLISH, Role

COUNTED = -2
"""Of a number of rounds, which names none of them."""


class Phrase(NamedTuple):
    """A piece of the text."""

    role: Role
    number: int = 0
    """Of a round; 0: none is named, -1: the one before the last; or `COUNTED`."""
    is_typo: bool = False


_START, _END = "(?:^|(?<=pause ))", "(?=pause|concede|but|if|$)"
_JOINED: tuple[tuple[Role, str], ...] = (
    ("tell", "(wants|it)* look (?=quantity|own|part|goal|numbered)"),
    ("filler", "until (not|it|goal|met|quantity|yes|own|deed)+ until?(?!value|quantity)"),
    (
        "filler",
        "(goal|it|quantity|own)* not* met (goal|it|until)* "
        "(?=pause|concede|but|accept|continue|pick|stop|enough|done|$)",
    ),
    ("filler", "not goal (?=continue)"),
    ("filler", f"not (edit|change|do|deed|continue) it {_END}"),
    ("stop", "(stop|enough|done|accept|it) later+"),
    ("filler", "(wants|if|do|more|back|continue)* later+ (more|continue|do|it)*"),
    ("filler", f"{_START} (not|enough) (edit|change|deed|more)+ it* {_END}"),
    ("not", "not glad (it|own)*"),
    ("error", "(continue|it|own)+ error"),
    ("back", "(do|pick|change|edit|hand|wants)* back (it|before|deed|round|own)* numbered (it|own)*"),
    ("back", f"(do|hand|pick|wants) it+ numbered {_END}"),
    ("back", f"(pick|but|change)+ numbered but? {_END}"),
    ("filler", "numbered (own|it|deed)+"),
    ("back", f"(do|hand|pick|wants|part) numbered (more|back|it)+ {_END}"),
    ("filler", f"(do|it|deed|edit|change|more)* worse (deed|edit|change|it|more)* {_END}"),
    ("undo", f"throw (it|deed|edit|change|round|numbered|former|throw|back)+ {_END}"),
    ("undo", f"stop (it|deed|before|round)* (deed|edit|change|former) (it|deed|round|edit)* {_END}"),
    ("undo", f"(deed|it|edit|former|numbered)* (deed|edit|former) (throw|not|stop) {_END}"),
    ("undo", "(deed|it|edit|former)* undo (it|deed|edit|change|round|before|back)*"),
    ("undo", f"(do|pick|change|edit|fix) (it|deed|edit|change)+ back (it|deed)* before* {_END}"),
    ("undo", f"(edit|change|do|fix)+ back {_END}"),
    ("undo", f"(pick|wants|back)+ (it|deed)* before (it|round|deed|before)* {_END}"),
    ("undo", f"it* (before|deed|former) (it|round|deed)* (better|yes|glad)+ {_END}"),
    ("undo", f"{_START} (before|former) it* {_END}"),
    ("accept", f"(pick|accept|glad) it+ own? {_END}"),
    ("accept", f"{_START} (accept|it)* (pick|accept|it wants) {_END}"),
    ("accept", f"pick it+ (do|done|accept) {_END}"),
    ("stop", f"enough (continue|do|more|round|optimize)+ {_END}"),
    ("continue", "(wants|look)+ (continue|more (round|it)?)+"),
    ("yes", "glad"),
    ("quantity", "better before"),
    ("filler", "before (stop|accept|done)"),
    ("filler", "(stop|accept|done) before (?=more|continue|optimize|do)"),
    ("continue", "(do|hand|pick|continue|more|optimize)* counted (more|round)*"),
    ("continue", "(do|hand|pick|continue) (it|round|continue)* more (it|round|continue|do)*"),
    ("continue", f"continue counted? tell it* {_END}"),
    ("continue", "(do|pick) it* continue"),
    ("continue", "more (round|do|continue|it)+"),
    ("continue", "more (?=pause|concede|but|if|stop|$)"),
    ("continue", "continue (do|more|round|it|deed)+"),
    ("optimize", "own* (pick|do|continue|more)* optimize (it|own|more|better|round|deed|do|optimize)*"),
    ("optimize", f"{_START} (do|change|edit|continue|more|back)* it? better (it|more|own|do)* {_END}"),
    ("stop", "stop it+"),
    ("fix", "fix (it|own)+"),
    ("done", "done it+"),
)
"""What several of them say together, in this order. Only a round's number is kept of what is joined."""
_ALONE: Mapping[Role, Role] = {
    "before": "if", "throw": "change", "hand": "tell", "better": "quantity", "worse": "quantity",
    "met": "quantity", "until": "if", "own": "part", "it": "filler", "deed": "filler", "more": "filler",
    "do": "filler", "later": "filler", "look": "filler",
}  # fmt: skip
"""What they are where they join nothing."""

_TAGS = (
    "would you please", "would you", "could you", "will you", "can you", "won't you", "shall we", "right",
    "okay", "ok", "please", "好不好", "行不行", "可以吗", "可以嗎", "好吗", "好嗎", "行吗", "成吗", "吧",
)  # fmt: skip

_ENGLISH_NUMBERS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10,
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8,
    "ninth": 9, "tenth": 10, "initial": 1, "original": 1, "previous": -1, "last": -1, "preceding": -1,
}  # fmt: skip
_NUMBERS = {
    **_ENGLISH_NUMBERS,
    "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "十": 10,
}  # fmt: skip
_COUNTED = "|".join(_ENGLISH_NUMBERS)
_ROUND = re.compile(
    r"(?:round|rnd|iteration|version)\s?(?:no\.?\s?|number\s?|nr\.?\s?|#\s?)?(?P<behind>\d{1,4}|"
    rf"(?:{_COUNTED}))\b"
    rf"|(?P<before>\d{{1,4}}(?:st|nd|rd|th)|(?:{_COUNTED}))\s"
    r"(?:round|iteration|version|design|circuit|attempt|state|result|one)\b"
    rf"|(?P<count>(?:\d{{1,3}}|{_COUNTED})\s(?:more(?=$|[,.;!?]|\s(?:please|pls|then|and)\b)|"
    r"(?:more\s)?(?:rounds|iterations|passes|loops|cycles|tries|attempts|turns|goes|steps)(?:\smore)?)|(?:\d{1,3}|[二两三四五六七八九十])\s?[轮次遍](?!谐))"
    r"|第\s?(?P<han>\d{1,4}|[一二三四五六七八九十两])\s?(?:轮|輪|版|次|回)"
    r"|(?P<former>(?:上|前)(?:一)?个?(?:轮|輪|版|次))"
    r"|(?P<start>square one|the (?:very )?(?:beginning|start)(?![\w-])|"
    r"最初的?|最开始的?|一开始的?|原来的?|原始的?)(?:那轮|那版|版本|设计|电路)?"
)
_VALUE = re.compile(
    r"[-+±]?\d[\d.,]{0,20}\s?(?:%|°c|[pnuμmkgt]?(?:ohms?|hz|db|v|a|f|h|s|w|ω)(?![a-z0-9])|meg|[kmgnpuμr]\d{0,2}(?![a-z0-9]))?"
    r"(?:\s?(?:欧姆|欧|伏|安|赫兹|赫|法|亨|秒|毫秒|微秒|分贝|瓦|倍|千欧))?"
)
_PERCENT = re.compile(r"百分之\s?(?:\d[\d.]{0,20}|[零〇一二两三四五六七八九十百点]{1,8})")
_DESIGNATOR = re.compile(
    r"(?:[rclqmdvixu]_?\d{1,3}[a-z]?|(?:r[cefblsgd]|rin|rout|rload|rsense|rfb|rser|cload|cfb|lout|c[cefls]|cin|cout|vcc|vdd)\d{0,2}"
    r"|(?:[a-z]{2,4}\d{2,5}|\d[a-z]\d{3,4})[a-z]{0,2})(?![a-z0-9])"
)
_WORD = re.compile(r"[a-z][a-z'0-9]*(?:-[a-z0-9']+)*")
_QUOTED = re.compile(
    r"\"[^\"]{1,300}\"|“[^”]{1,300}”|‘[^’]{1,300}’|「[^」]{1,300}」|『[^』]{1,300}』|`[^`]{1,300}`"
    r"|(?<![\w])'[^'\n]{1,300}'(?![\w])"
)
_QUOTE = "\u0001"
"""Where a quotation stood."""
_ASKED = re.compile(r"([\u3400-\u9fff])[不没]\1")
"""A_NOT_A: "稳不稳"."""
_HAN = re.compile(r"[\u3400-\u9fff]")
_LENGTH_OF_ASKED = 3
_PAUSES = frozenset(",;.:、。!?\n")
_BLANK = re.compile(r"(?<![a-z]) | (?![a-z])")
_ENDINGS = (
    ("s", ""),
    ("es", ""),
    ("ing", ""),
    ("ing", "e"),
    ("ed", ""),
    ("ed", "e"),
    ("ise", "ize"),
    ("ising", "ize"),
    ("isation", "ization"),
)
_FINAL: frozenset[Role] = frozenset(("accept", "stop", "undo", "done", "throw"))
_MOST_WORDS = 8
_LEAST_FOR_TYPOS = 5
_COMMANDS: tuple[Role, ...] = ("continue", "optimize", "accept", "undo")


def plain(text: str) -> str:
    """In half-width characters and small letters, with single blanks and straight apostrophes."""
    joined = unicodedata.normalize("NFKC", text.replace("“", '"').replace("”", '"')).lower()
    return " ".join(joined.replace("’", "'").replace("‘", "'").replace("…", "...").split())


def phrases(text: str) -> tuple[Phrase, ...]:
    """The phrases of a text in the form of `plain`, in order; linear in its length."""
    found = [each for each in _phrases(_QUOTED.sub(f" {_QUOTE} ", text)) if each.role != "filler"]
    names = "".join(map(_name_of, found))
    for role, rule in _joins():
        if rule.search(names):
            found = _joined(found, names, role, rule)
            names = "".join(map(_name_of, found))
    return tuple(each._replace(role=_ALONE.get(each.role, each.role)) for each in found)


def _joined(found: Sequence[Phrase], names: str, role: Role, rule: re.Pattern[str]) -> list[Phrase]:
    joined: list[Phrase] = []
    done = 0
    for match in rule.finditer(names):
        start, end = names.count(" ", 0, match.start()), names.count(" ", 0, match.end())
        span = found[start:end]
        joined += found[done:start]
        if role != "filler":
            joined.append(Phrase(role, is_typo=any(each.is_typo for each in span)))
        joined += [each for each in span if each.number]
        done = end
    return [*joined, *found[done:]]


def _name_of(phrase: Phrase) -> str:
    name = {0: phrase.role, COUNTED: "counted", -1: "former"}.get(phrase.number, "numbered")
    return f"{name} "


@cache
def _english() -> Mapping[tuple[str, ...], Role]:
    """Phrases by their words; of one in two roles the later role counts."""
    return {
        tuple(_WORD.findall(phrase)): role for role, listed in ENGLISH.items() for phrase in listed.split("|")
    }


@cache
def _chinese() -> Mapping[str, Role]:
    return {phrase: role for role, listed in CHINESE.items() for phrase in listed.split("|")}


@cache
def _longest_chinese() -> int:
    return max(map(len, _chinese()))


@cache
def _joins() -> tuple[tuple[Role, re.Pattern[str]], ...]:
    """`_JOINED` for a text in which each phrase is a word with a blank behind it."""
    return tuple(
        (role, re.compile(r"(?<!\S)" + re.sub(r"[a-z]+ ?", _named, _BLANK.sub("", rule))))
        for role, rule in _JOINED
    )


def _named(word: re.Match[str]) -> str:
    return f"(?:{word[0].strip()} )"


def without_tag(sentence: str) -> str | None:
    """A sentence without the polite question at its end (", would you", "好吗"); None when it has none."""
    for tag in _TAGS:
        if sentence.endswith(tag):
            rest = sentence[: -len(tag)]
            if tag in {"好吗", "好嗎"} and (rest[-1:] in "更会较多" or "比" in rest):
                return None  # "这样会更好吗" asks
            is_apart = not tag.isascii() or rest[-1:] in {",", " "}
            if is_apart and rest.strip(" ,"):
                return rest.strip(" ,")
    return None


def _phrases(text: str) -> Iterator[Phrase]:
    position = 0
    while position < len(text):
        letter = text[position]
        named = None if _is_inside_a_word(text, position) else _ROUND.match(text, position)
        if named is not None:
            yield Phrase("round", _number_of(named))
            position = named.end()
        elif letter.isascii() and letter.isalpha():
            position, phrase = _english_phrase(text, position)
            yield phrase
        elif letter.isdecimal() and (named := _DESIGNATOR.match(text, position)):  # "2N3904"
            position = named.end()
            yield Phrase("part")
        elif letter.isdecimal() or (letter in "+-±" and text[position + 1 : position + 2].isdecimal()):
            value = _VALUE.match(text, position)
            position = value.end() if value is not None else position + 1
            yield Phrase("value")
        elif percent := _PERCENT.match(text, position):
            position = percent.end()
            yield Phrase("value")
        elif _HAN.match(letter):
            position, phrase = _chinese_phrase(text, position)
            yield phrase
        else:
            position += 1
            if letter == _QUOTE:
                yield Phrase("quote")
            elif letter in _PAUSES:
                yield Phrase("pause")
            elif letter.isalpha() or unicodedata.category(letter) in {"Sm", "Sc"}:
                yield Phrase("other")


def _is_inside_a_word(text: str, position: int) -> bool:
    before = text[position - 1 : position]
    return text[position].isascii() and before.isascii() and before.isalnum()


def _number_of(found: re.Match[str]) -> int:
    if found["count"]:
        return COUNTED
    if found["former"]:
        return -1
    if found["start"]:
        return 1
    word = found["behind"] or found["before"] or found["han"]
    digits = word.rstrip("stndrh")
    return int(digits) if digits.isdecimal() else _NUMBERS[word]


def _english_phrase(text: str, position: int) -> tuple[int, Phrase]:
    if named := _DESIGNATOR.match(text, position):
        return named.end(), Phrase("part")
    words: list[str] = []
    ends: list[int] = []
    at = position
    while len(words) < _MOST_WORDS and (word := _WORD.match(text, at)):
        words.append(word[0])
        ends.append(word.end())
        at = word.end()
        if text[at : at + 1] != " ":
            break
        at += 1
    for count in range(len(words), 0, -1):
        role = _english().get(tuple(words[:count])) or (_inflected(words[0]) if count == 1 else None)
        if role is not None:
            return ends[count - 1], Phrase(role)
    return ends[0], _misspelled(words[0])


def _inflected(word: str) -> Role | None:
    """The role of a word by its stem; nobody ends a design by one that is only like such a word."""
    for ending, stem in _ENDINGS:
        if word.endswith(ending) and (role := _english().get((word[: -len(ending)] + stem,))):
            return None if role in _FINAL else role
    return None


def _misspelled(word: str) -> Phrase:
    """A checkpoint's own word with one wrong letter; anything else is not known. Inflections are no typos."""
    if len(word) >= _LEAST_FOR_TYPOS:
        for known, role in _english().items():
            if role not in _COMMANDS or len(known) != 1 or len(known[0]) < _LEAST_FOR_TYPOS:
                continue
            if not word.startswith(known[0]) and _is_near(word, known[0]):
                return Phrase(role, is_typo=True)
    return Phrase("other")


def _is_near(word: str, known: str) -> bool:
    """Whether one letter is wrong, missing or too many, or two neighbours are exchanged."""
    if abs(len(word) - len(known)) > 1:
        return False
    same = next((n for n, (a, b) in enumerate(zip(word, known, strict=False)) if a != b), None)
    if same is None:
        return True
    rest, other = word[same:], known[same:]
    return (
        rest[1:] == other[1:]
        or rest[1:] == other
        or rest == other[1:]
        or (rest[:2] == other[1::-1] and rest[2:] == other[2:])
    )


def _chinese_phrase(text: str, position: int) -> tuple[int, Phrase]:
    known = _chinese()
    for length in range(min(_longest_chinese(), len(text) - position), 0, -1):
        role = known.get(text[position : position + length])
        if role is not None:
            return position + length, Phrase(role)
        if length == _LENGTH_OF_ASKED and _ASKED.match(text, position):
            return position + length, Phrase("asks")
    return position + 1, Phrase("other")
