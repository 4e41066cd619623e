"""The change of goals in a text that is known to change some, whatever it says of why.

What comes of it is shown before it is carried out; so clauses without figures may be left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from domain.design.goal_change import DOT, goals_changed_by, goals_left_by, words_of
from domain.simulation.goals import DesignGoal

_PART = re.compile(
    rf"[,，;；。!！:：?？]|{DOT}|\s[-–—]+\s|\b(?:because|since|as|so|but)\b|因为|所以|不过|但是?",
    re.IGNORECASE,
)
"""Where another thing is said."""
_LIKED = re.compile(
    r"\b(?:would|will)\s(?:do|be|suffice)\b(?:\s(?:fine|enough|plenty|ok|okay))?"
    r"|\b(?:is|are|'s)\s(?:fine|enough|plenty|ok|okay|good|sufficient|acceptable)\b"
    r"(?:\s(?:for|by|with)\s(?:me|us))?"
    r"|[就也都]?(?:够了?|够用|行了?|可以了?|能接受|[好成]了?|算合格|算过关)[吧啦呀啊]?$|[吧啦呀啊呗哈]$",
    re.IGNORECASE,
)
"""That a figure is liked."""
_DISLIKED = re.compile(
    r"\btoo\s[a-z]+|太[松严紧高低大小宽窄多少难]|^(?:不用|不必|不要|用不着|不需要|没必要|而?不是|no\sneed|not?\b)",
    re.IGNORECASE,
)
"""That it is not wanted."""
_GIVEN_UP = re.compile(
    r"\b(?:forget|ignore|disregard|never\smind|waive|give\sup|don'?t\scare|do\snot\scare|drop|scratch|scrap"
    r"|remove|delete|skip|lose|get\srid|no\sneed"
    r"|(?:not|don'?t|doesn'?t|no\slonger)\s(?:\w+\s)?(?:need|matter|require|important|relevant)\w*)\b"
    r"|不要|不用|不管|不必|去掉|删|取消|忽略|不考虑|不再|不作|不做|无所谓|不限|放弃|拿掉|划掉|不重要|别管",
    re.IGNORECASE,
)
"""That a goal is given up."""
_RANGE = re.compile(
    r"(?<!from\s)(?<!change\s)(?<![\w.])(?P<low>\d+(?:\.\d+)?)\s?(?:\bto\b|到|至|~)\s?(?P<high>\d+(?:\.\d+)?)",
    re.IGNORECASE,
)
_WITHIN = re.compile(r"\bwithin\s([\d.]+\s?%)\sof\s([\d.]+\s?[a-z]*)", re.IGNORECASE)


def goals_meant_by(text: str, goals: Sequence[DesignGoal]) -> tuple[DesignGoal, ...] | None:
    """The goals as `text` changes them; None where a figure is not understood, or none of them is left."""
    text = _WITHIN.sub(r"\2 ± \1", _RANGE.sub(_as_range, text))
    if whole := goals_left_by(text, goals) or goals_changed_by(text, goals):
        return whole
    new = tuple(goals)
    for clause in filter(None, (each.strip() for each in _PART.split(text))):
        if re.search(r"\d", clause) and not _DISLIKED.search(clause):
            changed = goals_changed_by(_LIKED.sub("", clause), new)
            if changed is None:  # a demand that is not understood is not lost by carrying out another
                return None
            new = changed
        elif _GIVEN_UP.search(clause):
            named = [goal for goal in new if re.search(words_of(goal), clause, re.IGNORECASE)]
            new = tuple(goal for goal in new if len(named) != 1 or goal is not named[0])
    return new if new and new != tuple(goals) else None


def _as_range(found: re.Match[str]) -> str:
    low, high = float(found["low"]), float(found["high"])
    return f"{found['low']} - {found['high']}" if low < high else found[0]
