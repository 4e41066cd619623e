"""Factors that were asked in decibels: their goals are told, measured and changed in decibels too."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from domain.design.engine.declaration import Family
from domain.design.sentence import Sentence
from domain.simulation.goals import DesignGoal, GoalVerdict

IN_DB = "in_db"
"""Parameter that lists the quantities whose factor was said in decibels."""
_SAME, _SAID_AGAIN = 1e-6, 0.01


def said_in_decibels(family: Family, sentence: Sentence, values: Mapping[str, Any]) -> list[str]:
    """The names of the factors whose value a sentence gives in decibels, and not as a factor too."""
    ratios = [10 ** (each.middle / 20) for each in sentence.of("dB")]
    plain = [abs(each.middle) for each in (*sentence.of("x"), *sentence.of("none"))]

    def is_among(value: float, said: Sequence[float], within: float) -> bool:
        return any(math.isclose(abs(value), each, rel_tol=within) for each in said)

    return [
        name
        for name in _factors_of(family)
        if values.get(name)
        and is_among(values[name], ratios, _SAME)
        and not is_among(values[name], plain, _SAID_AGAIN)
    ]


def with_shares(family: Family, sentence: Sentence) -> Sentence:
    """A tolerance in decibels ("40 dB ± 1 dB") as a share, where decibels are a factor's alone."""
    has_others = any("dB" in each.dimensions and "x" not in each.dimensions for each in family.quantities)
    if has_others or not _factors_of(family):
        return sentence
    mentions = tuple(
        replace(each, value=10 ** (abs(each.value) / 20) - 1, dimension="%")
        if each.is_tolerance and each.dimension == "dB"
        else each
        for each in sentence.mentions
    )
    return replace(sentence, mentions=mentions)


def _factors_of(family: Family) -> list[str]:
    return [each.name for each in family.quantities if {"x", "dB"} <= set(each.dimensions)]


def in_decibels(goal: DesignGoal) -> DesignGoal:
    """The goal of a factor in decibels, of which there is no sign; one that has no size stays."""
    bounds = [each for each in (goal.minimum, goal.maximum, goal.target) if each is not None]
    if not bounds or 0.0 in bounds or min(bounds) * max(bounds) < 0:
        return goal
    low, high, target = (_decibels(each) for each in (goal.minimum, goal.maximum, goal.target))
    if bounds[0] < 0:
        low, high = high, low
    if target is not None and low is not None and high is not None:
        width = min(high - target, target - low)  # as far to either side
        target = round(target, 9)
        low, high = target - width, target + width
    expression = f"db({goal.expression})"
    return replace(goal, unit="dB", expression=expression, minimum=low, maximum=high, target=target)


def as_factor(verdict: GoalVerdict) -> GoalVerdict:
    """A verdict in decibels as one of the factor."""
    goal = verdict.goal
    return replace(
        verdict,
        goal=replace(
            goal,
            unit="1",
            minimum=_factor(goal.minimum),
            maximum=_factor(goal.maximum),
            target=_factor(goal.target),
        ),
        measured=replace(verdict.measured, value=10 ** (verdict.measured.value / 20), unit="1"),
    )


def _decibels(factor: float | None) -> float | None:
    return None if factor is None else 20 * math.log10(abs(factor))


def _factor(decibels: float | None) -> float | None:
    return None if decibels is None else 10 ** (decibels / 20)
