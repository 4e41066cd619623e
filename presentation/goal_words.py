"""What goals are called: words for the quantities we design for, a goal in few words for plots."""

from __future__ import annotations

import re
from collections.abc import Callable

from domain.circuit.numbers import parse_number
from domain.simulation.goal_conditions import runs_of
from domain.simulation.goals import DesignGoal, GoalVerdict
from presentation.figures import number
from presentation.goal_margins import limit_text, typeset
from shared.message import Message, msg

_LONGEST_CONDITION = 40
_SHORTEST_WORD = 3
_WORD = re.compile(rf"[a-z]{{{_SHORTEST_WORD},}}")
_AT_A_FREQUENCY = frozenset(("attenuation", "passband_loss"))
_FREQUENCY = re.compile(r"gain\([^(),]*\([^()]*\),([^()]+)\)")


def name_of(goal: DesignGoal, *, is_simulated: bool = True) -> Message:
    """``Corner, −3 dB``, with the condition it has to hold under: ``vout (at 85 degC)``.

    A name that is none of ours (a person's, a model's) stays as it is; words in snake case are set apart.
    `is_simulated`: False where what is shown beside it was not simulated in its condition.
    """
    name, condition = _name_of(goal), _condition_of(goal)
    if not condition:
        return name
    if not is_simulated or runs_of(goal) is None:
        return msg("{name} ({condition}: not simulated)", name=name, condition=condition)
    return msg("{name} ({condition})", name=name, condition=condition)


def name_of_judged(verdict: GoalVerdict) -> Message:
    """Its name, with the run that counted: ``vout (SS: judged at SS)``."""
    goal, at = verdict.goal, verdict.judged_at
    if at and not verdict.lacking:
        return msg(
            "{name} ({condition}: judged at {settings})",
            name=_name_of(goal),
            condition=_condition_of(goal),
            settings=at,
        )
    if at:
        return msg(
            "{name} ({condition}: judged at {settings}, without {corners})",
            name=_name_of(goal),
            condition=_condition_of(goal),
            settings=at,
            corners=verdict.lacking,
        )
    return name_of(goal, is_simulated=not verdict.lacking)


def _condition_of(goal: DesignGoal) -> str:
    if len(goal.condition) <= _LONGEST_CONDITION:
        return goal.condition
    return goal.condition[: _LONGEST_CONDITION - 1].rstrip() + "…"


def _name_of(goal: DesignGoal) -> Message:
    known = _known_name(goal.metric)
    if known is None:
        return msg("{name}", name=_set_apart(goal.metric))
    if goal.metric not in _AT_A_FREQUENCY:
        return known
    frequency = _frequency_in(goal.expression)
    if frequency is None:
        return known
    at = typeset(number(frequency, "Hz"))
    # What is measured is the gain against that of the pass band: -40 dB, where 40 dB of loss are asked for.
    if (goal.minimum or goal.maximum or 0.0) < 0:
        return msg("Rel. gain at {frequency}", frequency=at)
    return msg("Attenuation at {frequency}", frequency=at)


def _known_name(metric: str) -> Message | None:
    # Late: the catalogue brings numpy, and most commands never name a goal.
    from domain.design.catalogue import FAMILIES

    return next((family.labels[metric] for family in FAMILIES.values() if metric in family.labels), None)


def limit_words(translate: Callable[[Message], str], goal: DesignGoal) -> str:
    """``Corner, −3 dB 10 kHz ±2 %``."""
    return f"{translate(name_of(goal))} {limit_text(goal)}"


def _set_apart(name: str) -> str:
    """``lower_corner_frequency`` as words; symbols (``f_c``, ``v_out``, ``gain_10k``) stay."""
    words = name.split("_")
    if len(words) == 1 or not all(_WORD.fullmatch(word) for word in words):
        return name
    return " ".join(words).capitalize() if max(map(len, words)) > _SHORTEST_WORD else name


def _frequency_in(expression: str) -> float | None:
    found = _FREQUENCY.search(expression)
    if found is None:
        return None
    try:
        return parse_number(found[1])
    except ValueError:
        return None
