"""What goals are called: words for the quantities we design for, a goal in few words for plots."""

from __future__ import annotations

import re
from collections.abc import Callable

from domain.circuit.numbers import parse_number
from domain.simulation.goal_conditions import runs_of
from domain.simulation.goals import DesignGoal, GoalVerdict
from presentation.figures import number
from presentation.goal_margins import limit_text, shown, typeset
from presentation.translation import GivenName
from shared.message import Message, msg

_LONGEST_CONDITION = 40
_SHORTEST_WORD = 3
_WORD = re.compile(rf"[a-z]{{{_SHORTEST_WORD},}}|[A-Z]{{2,4}}|at|by|in|of|on|or|to|up")
_AT_A_FREQUENCY = frozenset(("attenuation", "passband_loss"))
_FREQUENCY = re.compile(r"gain\([^(),]*\([^()]*\),([^()]+)\)")


def name_of(goal: DesignGoal, *, is_simulated: bool = True) -> Message:
    """``Corner, −3 dB``, with the condition it has to hold under: ``vout (at 85 degC)``.

    A name that is none of ours (a person's, a model's) stays as it is; words in snake case are set apart.
    In a window of the other language it is called by what is measured, where that has a name.
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
    known = _own_name(goal)
    if known is None:
        said = msg("{name}", name=_set_apart(goal.metric))
        return GivenName(said.template, said.params, _measured_name(goal.expression))
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


def _own_name(goal: DesignGoal) -> Message | None:
    """What we call a goal: a gain by its frequency, a figure that is asked twice by what is measured."""
    figure = _NUMBERED.sub("", goal.metric)
    if figure == "gain" and (frequency := _frequency_in(goal.expression)) is not None:
        return msg("Gain at {frequency}", frequency=typeset(number(frequency, "Hz")))
    known = _known_name(goal.metric)
    if known is None and figure != goal.metric and (base := _known_name(figure)) is not None:
        return _measured_name(goal.expression) or base
    return known


_NUMBERED = re.compile(r"_\d+$")
_FIGURES = {
    "gain_margin": msg("Gain margin"), "ugf": msg("Unity-gain frequency"),
    "lower_cutoff": msg("Lower cut-off"),
    "upper_cutoff": msg("Upper cut-off"), "dc_gain": msg("DC gain"), "group_delay": msg("Group delay"),
    "phase": msg("Phase"), "input_impedance": msg("Input impedance"), "rise_time": msg("Rise time"),
    "fall_time": msg("Fall time"), "settling_time": msg("Settling time"), "slew_rate": msg("Slew rate"),
    "thd": msg("Total harmonic distortion"), "noise": msg("Total noise"),
    "input_noise": msg("Input-referred noise"),
    "collector_current": msg("Collector current"), "drain_current": msg("Drain current"),
    "collector_emitter": msg("Collector-emitter voltage"), "collector_voltage": msg("Collector voltage"),
    "inductor_peak": msg("Peak inductor current"),
}  # fmt: skip
"""What the figures are called that the built-in model reads of a circuit which is there."""
_QUANTITIES = {
    "bandwidth": msg("Bandwidth"), "lowcut": msg("Lower cut-off"), "highcut": msg("Upper cut-off"),
    "ugf": msg("Unity-gain frequency"), "q": msg("Quality factor Q"), "phase_margin": msg("Phase margin"),
    "gain_margin": msg("Gain margin"), "dcgain": msg("DC gain"), "gain": msg("Gain"),
    "peak": msg("Peak gain"), "rise_time": msg("Rise time"), "fall_time": msg("Fall time"),
    "settling_time": msg("Settling time"),
    "overshoot": msg("Overshoot"), "slew_rate": msg("Slew rate"), "frequency": msg("Frequency"),
    "period": msg("Period"), "duty": msg("Duty cycle"), "thd": msg("Total harmonic distortion"),
    "thdn": msg("THD+N"), "snr": msg("Signal-to-noise ratio"), "sinad": msg("SINAD"),
    "enob": msg("Effective number of bits"), "sfdr": msg("Spurious-free dynamic range"),
    "harmonic": msg("Harmonic amplitude"),
    "ripple": msg("Ripple"), "noise_total": msg("Total noise"), "avg": msg("Average"),
    "rms": msg("RMS value"), "pp": msg("Peak-to-peak value"), "max": msg("Maximum"), "min": msg("Minimum"),
}  # fmt: skip
_SIMPLE = re.compile(
    r"(?P<outer>db\()?(?P<function>\w+)\((?P<inner>(?:db|mag)\()?(?P<signal>(?:[vi]\([\w.#:+-]+\)|[io]noise\w*))\)?"
    r"(?:,(?P<first>[^(),]+))?(?:,[^()]*)?\)\)?",
    re.IGNORECASE,
)
_SIGNAL = re.compile(r"([vi])\(([\w.#:+-]+)\)", re.IGNORECASE)


def _measured_name(expression: str) -> Message | None:
    """``Rise time of v(out)``; None for what has no short name."""
    text = "".join(expression.split())
    if (alone := _SIGNAL.fullmatch(text)) is not None:
        voltage, current = (
            msg("Voltage at {node}", node=alone[2]),
            msg("Current through {part}", part=alone[2]),
        )
        return voltage if alone[1].lower() == "v" else current
    if (found := _SIMPLE.fullmatch(text)) is None:
        return None
    function, signal, first = found["function"].lower(), found["signal"], found["first"]
    is_gain = function == "gain" or (function == "at" and found["inner"] is not None)
    if is_gain and first is not None:
        frequency = _number_or_none(first)
        at = "" if frequency is None else typeset(number(frequency, "Hz"))
        return msg("Gain at {frequency}", frequency=at) if at else None
    quantity = _QUANTITIES.get(function)
    if quantity is None or "noise" in signal:
        return quantity
    return msg("{quantity} of {signal}", quantity=quantity, signal=signal)


def _known_name(metric: str) -> Message | None:
    # Late: the catalogue brings numpy, and most commands never name a goal.
    from domain.design.catalogue import FAMILIES

    labels = (family.labels[metric] for family in FAMILIES.values() if metric in family.labels)
    return next(labels, _FIGURES.get(metric))


def limit_words(translate: Callable[[Message], str], goal: DesignGoal) -> str:
    """``Corner, −3 dB 10 kHz ±2 %``."""
    return f"{translate(name_of(goal))} {translate(shown(limit_text(goal)))}"


def _set_apart(name: str) -> str:
    """``lower_corner_frequency`` as words; symbols (``f_c``, ``v_out``, ``gain_10k``) stay."""
    words = name.split("_")
    if len(words) == 1 or not all(_WORD.fullmatch(word) for word in words):
        return name
    told = " ".join(words)
    return told[0].upper() + told[1:] if max(map(len, words)) > _SHORTEST_WORD else name


def _frequency_in(expression: str) -> float | None:
    found = _FREQUENCY.search(expression)
    if found is None:
        return None
    return _number_or_none(found[1])


def _number_or_none(text: str) -> float | None:
    try:
        return parse_number(text)
    except ValueError:
        return None
