"""A change of a design in a person's words, beside its goals: "use E12 resistors", "改成单电源".

What one of our families knows of its circuits is read as in a request; goals are read first (`goal_change`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from domain.design import catalogue
from domain.design.checkpoint_asides import without_denied
from domain.design.designer import DesignIntent
from domain.design.goal_change import (
    clauses_of,
    goals_changed_by,
    is_by_unit_alone,
    is_told_of_another,
    states_what_is_to_be,
    words_of,
)
from domain.design.sentence import read_sentence
from domain.simulation.goals import DesignGoal
from shared.errors import CircuitError
from shared.message import Message

_PART_OF_NETLIST = re.compile(r"(?<![a-z0-9])[rclqdmxuvj]\d{1,3}(?![a-z0-9])", re.IGNORECASE)
"""By its name a part is changed in the netlist, not the design that chose it."""
_SAYS_NO_FIGURE = re.compile(
    r"(?:please|thanks|thank you|instead|now|then|ok(?:ay)?|just|谢谢|麻烦了?|请)[.!。！]?|"
    r"(?:(?:it|that|this)(?: is|['’]s) )?(?:much |far |a bit )?too "
    r"(?:noisy|loud|slow|high|low|big|small|much|little)|"
    r"太[吵高低大小慢快多少]了?",
    re.IGNORECASE,
)
_INPUT_TO = re.compile(
    r"^(?P<what>\D*(?<![a-z])(?:input|v_?in|supply|battery)(?: voltage)?"
    r"(?: (?:goes|can go|may go|can be|rises|will be|is|gets))?) (?:up |down )?to(?=\s?[-+±]?\d)",
    re.IGNORECASE,
)
"""Of what is changed the figure behind "to" is its own: no conversion to an output."""


_MEASURED = re.compile(
    r"thd|distortion|失真|(?<![a-z])noise(?! figure)|噪声|噪音|overshoot|过冲|超调|(?:phase|gain) margin|"
    r"(?:相位|增益)裕[度量]|peak (?:inductor )?current|峰值(?:电感)?电流|电感峰值电流|temperature drift|温漂|"
    r"power (?:consumption|dissipation|draw)|功耗|耗电|(?:lower|low-frequency) (?:corner|cut-?off)|"
    r"下限(?:截止)?频率|低频截止(?:频率)?|slew rate|压摆率|settling time|(?:建立|稳定|上升)时间|rise time|"
    r"(?:in|out)put (?:impedance|resistance)|输[入出](?:阻抗|电阻)|cmrr|psrr|(?:共模|电源)抑制",
    re.IGNORECASE,
)
"""Quantities that many circuits are measured by, and that have words of other quantities in their names."""


def asks_for_another_figure(text: str, intent: DesignIntent) -> bool:
    """Whether a sentence gives a figure to a quantity that neither the goals of a design nor its family know.

    "THD below 0.1 %" is no tolerance, and "output noise below 1 mV" no output.
    """
    for clause in clauses_of(text):
        figures = read_sentence(clause).mentions
        found = _MEASURED.search(clause)
        if found is None or not any(each.start >= found.start() for each in figures):
            continue
        words = [*map(words_of, intent.goals), *catalogue.words_of_quantities(intent)]
        if not any(_is_most_of(found[0], each) for each in words):
            return True
    return False


def _is_most_of(name: str, words: str) -> bool:
    """Whether words stand for what is named, and not for a part of the name only."""
    found = max((len(each[0]) for each in re.finditer(words, name, re.IGNORECASE)), default=0)
    return 2 * found > len(name)


def design_changed_by(text: str, intent: DesignIntent) -> tuple[DesignIntent, tuple[Message, ...]] | None:
    """The design with all that a sentence changes of it, at least one of it no goal, and what has to be told
    of that: nothing where it is so already. None when it is a question, or says anything else too.

    Raises CircuitError for a demand that cannot be.
    """
    text = without_denied(text)
    if not intent.family or not states_what_is_to_be(text) or _PART_OF_NETLIST.search(text):
        return None
    if asks_for_another_figure(text, intent):
        return None
    clauses = [each for each in clauses_of(text) if not _SAYS_NO_FIGURE.fullmatch(each)]
    found = _in_turn(clauses, intent)
    if found is None and len(clauses) > 1 and all(re.search(r"\d", each) for each in clauses):
        return catalogue.demanded(intent, text)  # "from 9 V and 12 V"
    return found


def is_all_goals(text: str, intent: DesignIntent, goals: Sequence[DesignGoal]) -> bool:
    """Whether the change of goals that was read in a text is all it says, surely. Raises CircuitError where
    it names two ways at once."""
    try:
        chooses = catalogue.chooses_otherwise(intent, text)
    except CircuitError as error:
        if error.error_type != "missing_goal":
            raise
        chooses = False  # a figure that lacks another is one of a goal, which has that
    return not (is_by_unit_alone(text, intent.goals, goals) or chooses)


def changes_netlist(text: str) -> bool:
    """Whether a sentence gives a part of the netlist another value, by its name: "set C1 to 33u"."""
    return (
        states_what_is_to_be(text)
        and _PART_OF_NETLIST.search(text) is not None
        and bool(read_sentence(text).mentions)
    )


def beside_parts(text: str) -> str:
    """What a sentence says in clauses that name no part."""
    return ", ".join(each for each in clauses_of(text) if not _PART_OF_NETLIST.search(each))


def _in_turn(clauses: Sequence[str], intent: DesignIntent) -> tuple[DesignIntent, tuple[Message, ...]] | None:
    """One clause after the other; None where one changes nothing."""
    told: tuple[Message, ...] = ()
    is_demand = False
    for clause in clauses:
        goals = goals_changed_by(clause, intent.goals)
        is_sure = goals is not None and is_all_goals(clause, intent, goals)
        demanded = None if is_sure else catalogue.demanded(intent, _INPUT_TO.sub(r"\g<what> of", clause))
        if goals is not None and demanded is None and not is_told_of_another(clause, intent.goals, goals):
            intent = catalogue.follow(intent, goals)
            continue
        if demanded is None:
            return None
        intent, told, is_demand = demanded[0], (*told, *demanded[1]), True
    return (intent, told) if is_demand else None
