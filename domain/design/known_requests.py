"""What known requests teach of a new one: which circuit its words speak for, and where its figures belong."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from itertools import pairwise

from domain.design import placing
from domain.design.learnt import Weights
from domain.design.likeness import features
from domain.design.sentence import Sentence
from domain.design.understanding import Slot

NO_REQUEST = "-"
"""The kind of what asks for no circuit that can be designed."""
_SCALE = 4.0
_STEM = 5
"""Letters by which forms of a word are one."""
_LONG_WORD = re.compile(rf"[a-z]{{{_STEM},}}")
_WORD = re.compile(r"[a-z']{3,}")
_EMPTY = frozenset(
    ("the", "and", "for", "with", "from", "that", "need", "want", "please", "should", "this", "have", "into")
)
_LONGEST = 600
"""Characters in which words are looked for that stand apart."""
_LETTERS = re.compile(r"[a-z]{3,}")
_BETWEEN_WORDS = (
    r"[小大低高少多]于|不?超过|以[上下内]|要求|[的了是在把被给做要我你想请帮那这]|"
    r"一?[个款种]|(?<![应通专作使])用"
)
_APART = re.compile(rf"[^\u4e00-\u9fff]+|{_BETWEEN_WORDS}")
_EDGES = re.compile(rf"^(?:{_BETWEEN_WORDS})+|(?:{_BETWEEN_WORDS}|一)+$")
_LONGEST_QUOTED = 10
"""Characters between little words; a part of them is told with all of them: Chinese has no blanks."""
_HYPHENATED = re.compile(r"(?<![\w-])[a-z]+(?:-[a-z]+)+(?![\w-])")
_PART = 4
_RUN = re.compile(r"[\u4e00-\u9fff]{3,}")
_RULED_OUT = re.compile(
    r"(?:\b(?:not|no|without|never|neither|nor|instead of|rather than|other than|except|avoid\w*|forget|"
    r"skip)\b|"
    r"n['’]t\b|不(?:是|要|用|想|带|必|需|能|准|许|喜欢|打算|考虑|做|采用|使用)|别|没有?|无需|而非|并非|禁用|避免)"
    r"(?!\s*(?:more|less|lower|higher|greater|above|below|exceed|over|under|later|than|超|低于|高于|大于|"
    r"小于|少于))"
)
"""What is behind it is not wanted, where it is no bound of a figure."""
_OUT_OF_IT = re.compile(r"[,;。、:()\n.!?（），；：！？]|\bbut\b|但|而是|\bjust\b|\bonly\b|要|只")
_REACH, _SHORT_REACH = 32, 12
"""Characters behind a negation that it is of: in English, in Chinese."""
_CHINESE = re.compile(r"[\u4e00-\u9fff]+")
_ASKS = re.compile(
    r"(?<![a-z])(?:why|explain|is it true|is (?:that|this) (?:normal|right|ok|safe|the)|should i worry|"
    r"what(?:'s| is| does| are) (?:the )?(?:difference|reason|meaning|mean)|difference between|"
    r"which is better|just (?:asking|curious)|for sale|selling|wts|wtb|anybody|who (?:first|invented)|"
    r"how come|does anyone)(?![a-z])|"
    r"为什么|为啥|什么原因|怎么回事|(?:正常|安全|对|要紧|可以|能行)吗|对不对|什么区别|怎么推|怎么理解|啥意思|什么意思|"
    r"随便问|到底|咋选|怎么选|哪个好|[出收]一台|转让|感觉",
)
"""Of a question, or of something for sale: nobody wants a circuit made."""
_CLAUSE = re.compile(r"[,;:!?](?!\d)|\.\s|[，；。、！？：\n]|\band\b|\bbut\b|但")
_FALLS = re.compile(
    r"(?<![a-z])(?:below|under|falls?|fell|drops?|dropped|sinks?|down to|less than|goes down)(?![a-z])|<|"
    r"低于|小于|[跌降掉]|以下|变暗|暗到|下限"
)
_RISES = re.compile(
    r"(?<![a-z])(?:above|over|past|exceeds?|rises?|rising|climb\w*|more than|reaches|goes up)(?![a-z])|>|"
    r"超过|高于|大于|高过|[升涨]|以上|过(?=\s?\d)|亮到|上限"
)
_OUT_LOW = re.compile(
    r"(?<![a-z])low(?![a-z]|er|[\s-](?:pass|side|power|cost|imped|noise|volt))|"
    r"(?:输出|[变为翻跳拉出成到就])低(?!于|压|通|频|端)|低电平"
)
_OUT_HIGH = re.compile(
    r"(?<![a-z])high(?![a-z]|er|[\s-](?:pass|side|power|cost|imped|z(?![a-z])|volt))|"
    r"(?:输出|[变为翻跳拉出成到就])高(?!于|压|通|频|端|过)|高电平"
)
"""Of an input that passes a threshold, and of the output then."""
_TOLD = re.compile(r"[a-z]{3,}(?: [a-z]{3,})?|[\u4e00-\u9fff]{3}|[\u4e00-\u9fff] [\u4e00-\u9fff]")
"""A feature that is a word to show."""


class KnownRequests:
    """What `scripts/learn_requests.py` found in ``resources/known_texts/request.*.tsv``."""

    def __init__(self, kinds: Weights, figures: Weights) -> None:
        self._kinds = kinds
        self._figures = figures

    def likely(self, text: str, sentence: Sentence, by_rules: Set[str]) -> dict[str, float]:
        """By kind (the key of a family, `NO_REQUEST`) how likely it is, as the logarithm. `sentence`:
        the text as it was read; `by_rules`: what the rules find in it."""
        found = kind_features(text, sentence, by_rules)
        scale = weight_of(len(found))
        scores = self._kinds.scores([""], self._kinds.classes)
        for kind, nats in self._kinds.scores(found, self._kinds.classes).items():
            scores[kind] += scale * nats
        return placing.normalised(scores)

    def knows(self, kind: str) -> bool:
        """Whether something was learnt of a kind."""
        return kind in self._kinds.classes

    def telling(self, text: str, kind: str, most: int) -> list[str]:
        """The words of `text` that speak for a kind more than for any other, the clearest first."""
        found: list[tuple[float, str]] = []
        for feature in _of_words(_without_ruled_out(text)[0]):
            weights = dict(self._kinds.of(feature))
            mine = weights.pop(kind, 0.0)
            if mine > max(weights.values(), default=0.0) and _TOLD.fullmatch(feature):
                found.append((mine, feature))
        wholes = {part: whole for whole in _HYPHENATED.findall(text.lower()) for part in whole.split("-")}
        runs = [run for run in _APART.split(text) if len(run) >= 2]
        words: list[str] = []
        for _, feature in sorted(found, key=lambda each: (-each[0], each[1])):
            word = wholes.get(feature, feature).replace(" ", " " if feature.isascii() else "")
            if not word.isascii():
                word = _EDGES.sub("", word)
            if len(word) < 2:
                continue
            place = len(words)
            while other := next((each for each in words if _joined(text, word, each)), ""):
                place, word = words.index(other), _joined(text, word, other)
                words.remove(other)
            words.insert(place, word)
        return list(dict.fromkeys(_whole(word, runs) for word in words))[:most]

    def placed(self, sentence: Sentence, family: str, slots: Sequence[Slot]) -> Sentence:
        """The sentence with what its words say of where figures belong, read as a request for a family."""
        return placing.placed(sentence, self._figures, family, slots)


def _whole(word: str, runs: Sequence[str]) -> str:
    """All of the characters between little words that a word is a part of, where they are few or few are
    lacking; of one that runs into a little word ("失真小" of 失真小于) what stands before it."""
    for run in runs:
        if word in run and min(len(run) - _LONGEST_QUOTED, len(run) - len(word) - 2) <= 0:
            return run
    return next((run for run in runs if run in word), word)


def _joined(text: str, one: str, other: str) -> str:
    """Of two words of which one holds the other, the Chinese one that is longer or the English one that was
    there; two pieces of a Chinese word that overlap in the text, as one; "" for any others."""
    for left, right in ((one, other), (other, one)):
        if right.replace("-", " ") in left.replace("-", " "):
            return other if left.isascii() else left
        for common in range(min(len(left), len(right)) - 1, 0, -1):
            whole = left + right[common:]
            if not whole.isascii() and left.endswith(right[:common]) and whole in text:
                return whole
    return ""


def is_question(text: str) -> bool:
    """Or something for sale: nobody wants a circuit made."""
    return _ASKS.search(text.lower()) is not None


def kind_features(text: str, sentence: Sentence, by_rules: Set[str]) -> set[str]:
    """What is looked at to tell which circuit is meant."""
    wanted, ruled_out = _without_ruled_out(text)
    low = text.lower()
    asked = {"!asks"} if is_question(text) else set()
    return {
        *_of_words(wanted), *ruled_out, *asked, *_of_sides(low), *_of_figures(sentence), *by_rules
    }  # fmt: skip


def _of_words(text: str) -> set[str]:
    low = text.lower()
    words = [word for word in _WORD.findall(low[:_LONGEST]) if word not in _EMPTY]
    return {
        *features(text),
        *(f"~{word[:_STEM]}" for word in _LONG_WORD.findall(low)),
        *(f"%{each}" for word in _LETTERS.findall(low) for each in _parts(word)),
        *(f"{word}..{other}" for place, word in enumerate(words) for other in words[place + 2 : place + 4]),
        *(run[place : place + 3] for run in _RUN.findall(low) for place in range(len(run) - 2)),
    }


def _of_sides(text: str) -> Iterator[str]:
    """Whether an output goes where its input goes: "high above 3 V", "low below 2 V" do, "low above" not."""
    sides = 0
    for clause in _CLAUSE.split(text[:_LONGEST]):
        falls, low = _FALLS.search(clause) is not None, _OUT_LOW.search(clause) is not None
        is_moved, is_told = falls or _RISES.search(clause), low != (_OUT_HIGH.search(clause) is not None)
        if is_moved and is_told:
            sides += 1 if falls == low else -1
    if sides:
        yield "!alike" if sides > 0 else "!turned"


def _without_ruled_out(text: str) -> tuple[str, set[str]]:
    """The text without what stands behind its negations, and the words of that: "not folded" speaks against
    what "folded" speaks for."""
    low, wanted, ruled_out = text.lower(), "", set()
    at = 0
    for found in _RULED_OUT.finditer(low):
        is_chinese = _CHINESE.match(found[0]) is not None
        reach = low[found.end() : found.end() + (_SHORT_REACH if is_chinese else _REACH)]
        reach = _OUT_OF_IT.split(reach, maxsplit=1)[0]
        wanted += text[at : max(found.end(), at)] + " "
        at = max(at, found.end() + len(reach))
        ruled_out |= {f"¬{word[: _STEM + 1]}" for word in _LETTERS.findall(reach)}
        for run in _CHINESE.findall(reach):
            ruled_out |= {f"¬{run[start : start + n]}" for n in (2, 3) for start in range(len(run) - n + 1)}
    return wanted + text[at:], ruled_out


def _parts(word: str) -> Iterator[str]:
    """Of a word with its ends marked: misspelt and put together it has most of them still."""
    marked = f"_{word}_"
    return (marked[place : place + _PART] for place in range(len(marked) - _PART + 1))


def _of_figures(sentence: Sentence) -> Iterator[str]:
    """Units, how often each occurs, sizes, signs, and which of two is the larger."""
    for dimension, number in Counter(each.dimension for each in sentence.mentions).items():
        alike = [each for each in sentence.mentions if each.dimension == dimension]
        yield f"{min(number, 4)}x{dimension}"
        for one, other in pairwise(alike):
            yield f"{dimension}{'<' if abs(one.middle) < abs(other.middle) else '>='}"
            yield f"{number}x{dimension}{'<' if abs(one.middle) < abs(other.middle) else '>='}"
        for each in alike:
            size = abs(each.middle)
            yield f"{dimension}{'-' if each.value < 0 else ''}e{round(math.log10(size)) if size else 0}"
            if each.value < 0:
                yield f"-{dimension}"
            if each.upper is not None:
                yield f"..{dimension}"


def weight_of(number: int) -> float:
    """What each of a number of features counts: a long text does not speak louder than a short one."""
    return _SCALE / math.sqrt(max(number, 1))
