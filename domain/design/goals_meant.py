"""The change of goals in a text that is known to change some, whatever it says of why.

What comes of it is shown before it is carried out; so clauses without figures may be left out.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import replace

from domain.design.goal_change import DOT, goals_changed_by, goals_left_by, is_by_unit_alone, words_of
from domain.design.sentence import read_sentence
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
_REFERRED = re.compile(r"/[vi]\([^()]*\)")
"""The input that an output is held against, which is 1 in an AC analysis of most circuits."""
_DECIBELS = re.compile(r"db\((?P<of>.*)\)")
_PLACE = re.compile(r",[^(),]*")


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


def goals_beside(
    text: str, goals: Sequence[DesignGoal], further: Sequence[DesignGoal]
) -> tuple[DesignGoal, ...]:
    """The goals that stand with those that `text` asks `further`, as it was read by itself.

    One of the same quantity takes the place of that which stood, under its name; another one comes behind
    them, under a name of its own.
    """
    changed = None if any(map(_places, further)) else goals_changed_by(text, goals)
    if changed and not (is_by_unit_alone(text, goals, changed) or _is_other_end(goals, changed, further)):
        return changed
    found = list(goals)
    for goal in further:
        same = next((place for place, each in enumerate(found) if _is_same_quantity(goal, each)), None)
        if same is not None:
            found[same] = replace(goal, metric=found[same].metric)
            continue
        names = (goal.metric if number == 1 else f"{goal.metric}_{number}" for number in itertools.count(1))
        taken = {each.metric.lower() for each in found}
        found.append(replace(goal, metric=next(name for name in names if name.lower() not in taken)))
    return tuple(found)


def _is_other_end(
    before: Sequence[DesignGoal], after: Sequence[DesignGoal], further: Sequence[DesignGoal]
) -> bool:
    """Whether one end of a band would be changed by what was read as the other one."""
    changed = {_end(new) for old, new in zip(before, after, strict=True) if new != old}
    return any(end and changed & ({"lowcut", "highcut"} - {end}) for end in map(_end, further))


def _end(goal: DesignGoal) -> str:
    """The one end of a band that a goal measures; "" for neither, or both."""
    ends = [end for end in ("lowcut", "highcut") if end in goal.expression]
    return ends[0] if len(ends) == 1 else ""


def _is_same_quantity(goal: DesignGoal, other: DesignGoal) -> bool:
    """Whether both are of what one expression measures, or of what one name does, at the same place."""
    if goal.condition != other.condition:
        return False
    is_same_place = _places(goal) == _places(other)
    if _measured(goal) == _measured(other) and is_same_place:
        return True
    return goal.metric.lower() == other.metric.lower() and (is_same_place or not _places(goal))


def _measured(goal: DesignGoal) -> str:
    """What a goal measures without where, in decibels or not."""
    plain = _REFERRED.sub("", "".join(goal.expression.lower().split()))
    return _PLACE.sub("", found["of"] if (found := _DECIBELS.fullmatch(plain)) else plain)


def _places(goal: DesignGoal) -> tuple[float, ...]:
    """The frequency at which a gain is measured; when a curve has settled, in parts of a second, is none."""
    spaced = re.sub(r"([(),])", r" \1 ", goal.expression)
    return tuple(mention.value for mention in read_sentence(spaced).mentions if mention.value >= 1)


def _as_range(found: re.Match[str]) -> str:
    low, high = float(found["low"]), float(found["high"])
    return f"{found['low']} - {found['high']}" if low < high else found[0]
