"""Changes of goals by how much: "double the gain", "截止频率提高一倍", "ripple down by 20 %"."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from domain.design.sentence import read_sentence
from domain.simulation.goals import DesignGoal

_UP = (
    r"提高|提升|增大|增加|加大|升高|加高|调高|调大|扩大|加宽|上调|抬高|[高大宽]|increas\w*|rais\w+|(?:go )?up"
)
_DOWN = r"降低|减小|减少|缩小|调低|调小|压低|下调|[减降低小]|decreas\w*|reduc\w+|lower\w*|cut|down"
_BY = r"(?:了|约|大约|\s|by|about|another)*"
_FIGURE = r"(?P<figure>\d+(?:\.\d+)?)\s?"
_SCALES: tuple[tuple[re.Pattern[str], Callable[[float], float]], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), factor)
    for pattern, factor in (
        (rf"(?:{_UP}){_BY}1\s?倍|翻了?[1一]?[倍番]|加倍|\bdoubl\w+|\btwice\b", lambda _: 2.0),
        (
            rf"[减砍]半|(?:{_DOWN}){_BY}(?:到|为)?(?:原来的)?[1一]半|"
            r"\bhalv\w+|\b(?:by|in) half\b|\bhalf(?= (?:of )?(?:the|its)\b)",
            lambda _: 0.5,
        ),
        (rf"(?:{_UP})(?:到|至|为){_BY}(?:原来的)?{_FIGURE}倍", lambda figure: figure),
        (rf"(?:{_UP}){_BY}{_FIGURE}%", lambda figure: 1 + figure / 100),
        (rf"{_FIGURE}%\s?(?:higher|more|larger|wider)", lambda figure: 1 + figure / 100),
        (rf"(?:{_DOWN}){_BY}{_FIGURE}%", lambda figure: 1 - figure / 100),
        (rf"{_FIGURE}%\s?(?:lower|less|smaller)", lambda figure: 1 - figure / 100),
        (rf"(?:{_UP})(?P<between>.*)\bby\s{_FIGURE}%", lambda figure: 1 + figure / 100),
        (rf"(?:{_DOWN})(?P<between>.*)\bby\s{_FIGURE}%", lambda figure: 1 - figure / 100),
    )
)
_BESIDE = re.compile(
    r"请|帮我|麻烦|把|将|给我|再|要|想|希望|能不能|可以|的|要求|目标|指标|限制|吧|了|些|上限|下限|为|原来|"
    r"频率|输出|电压|通带|值|大小|幅度|"
    r"\b(?:please|can|could|you|we|i|want|to|the|its|it|make|set|goal|limit|frequency|output|voltage|value|"
    r"and|as|high|low|wide|large|much|by|about|in)\b|\W",
    re.IGNORECASE,
)
"""What may stand beside a goal's name and its change."""


def scales(text: str) -> bool:
    """Whether a clause says by how much something is to change."""
    plain = read_sentence(text).text
    return any(pattern.search(plain) for pattern, _ in _SCALES)


def goals_scaled_by(
    text: str, goals: Sequence[DesignGoal], words_of: Callable[[DesignGoal], str]
) -> tuple[DesignGoal, ...] | None:
    """The goals with the one that a sentence scales; None when it says anything else.

    `words_of` names a goal, as a regular expression for any letter case.
    """
    plain = read_sentence(text).text
    for pattern, scale in _SCALES:
        if (found := pattern.search(plain)) is None:
            continue
        said = found.groupdict()
        factor = scale(float(said.get("figure") or 0.0))
        rest = " ".join((plain[: found.start()], said.get("between") or "", plain[found.end() :]))
        goal = _named(rest, goals, words_of)
        if goal is None or factor <= 0 or (said.get("figure") and _is_share(goal)):
            return None
        if _BESIDE.sub("", re.sub(words_of(goal), "", rest, flags=re.IGNORECASE)):
            return None
        scaled = replace(_scaled(goal, factor), stated=True, words=" ".join(text.split())[:60])
        return tuple(scaled if each is goal else each for each in goals)
    return None


def _named(
    text: str, goals: Sequence[DesignGoal], words_of: Callable[[DesignGoal], str]
) -> DesignGoal | None:
    """The goal whose name comes last: of "output ripple" that is the ripple."""
    ends = [
        max((found.end() for found in re.finditer(words_of(goal), text, re.IGNORECASE)), default=0)
        for goal in goals
    ]
    last = max(ends, default=0)
    return goals[ends.index(last)] if last and ends.count(last) == 1 else None


def _is_share(goal: DesignGoal) -> bool:
    """A share of one: its percents are added, not multiplied."""
    bounds = [each for each in (goal.minimum, goal.maximum) if each is not None]
    return goal.unit in ("", "1", "%") and bool(bounds) and max(map(abs, bounds)) <= 1


def _scaled(goal: DesignGoal, factor: float) -> DesignGoal:
    """In decibels the factor is a sum."""

    def other(value: float | None) -> float | None:
        if value is None:
            return None
        scaled = value + 20 * math.log10(factor) if goal.unit == "dB" else value * factor
        return float(f"{scaled:.6g}")

    minimum, maximum = other(goal.minimum), other(goal.maximum)
    return replace(goal, target=other(goal.target), minimum=minimum, maximum=maximum)
