"""First-order RC and RL low-pass and high-pass filters, with source and load resistance.

The reactive part sees one resistance X; the cut-off (-3.0103 dB) is

    f_c = 1 / (2 pi X C)        f_c = X / (2 pi L)

with X = (Rs + R) || Rl when R stands in series, X = Rs + R || Rl when R stands across the output;
far from the cut-off |H / H_pass| = 1 / sqrt(1 + (f / f_c)**2) (low-pass; f_c / f for a high-pass).
Source: Sedra, Smith, "Microelectronic Circuits", 7th ed., section 1.6 and appendix E (single time
constant networks).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, cast

from domain.design.deck import Deck, Say, spice
from domain.design.designer import DesignIntent, Proposal
from domain.design.families.changed_goals import aim_of, changed, ratio_of
from domain.design.families.family import NOT_MINE, Claim
from domain.design.families.filter_requests import (
    FILTER_WORDS,
    GOAL_WORDS,
    LABELS,
    filter_kind,
    frequencies_in,
    order_of,
    read_filter,
)
from domain.design.families.first_order_request import (
    FIRST_ORDER_SLOTS,
    FirstOrderRequirement,
    Parts,
    first_order_goals,
    parallel,
    read_first_order,
    refuse_gain,
)
from domain.design.goals import DesignGoal, GoalVerdict
from domain.design.sentence import Sentence
from domain.design.understanding import impossible, left_out
from domain.design.values import SeriesName, at_most, best_pair, nearest, values_between, with_unit
from shared.errors import CircuitError
from shared.message import Message, msg

_RC_WORDS = r"(?<![a-z])r-?c(?![a-z])|阻容"
_RL_WORDS = (
    r"(?<![a-z])(?:r-?l|l-?r)(?![a-z_]|\s*[=:]|\s*(?:is|为|是)|"
    r"\s*\d)|阻感|(?:电感|inductor).{0,6}(?:电阻|resistor).{0,8}滤波"
)
_FIRST_ORDER = (
    r"first[\s-]*order|1st[\s-]*order|1\s*阶|single[\s-]*pole|"
    r"one[\s-]*pole|1[\s-]*pole|单极点|simple|简单|无源|passive"
)
_ACTIVE_WORDS = (
    r"(?<![a-z])active|有源|op[\s-]?amp|运放|运算放大器|sallen|萨伦|"
    r"chebyshev|切比雪夫|butterworth|巴特沃|bessel|贝塞尔|贝赛尔"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sizing:
    resistor: float
    reactances: tuple[float, ...]
    """One part, or two in parallel (C) or in series (L)."""


class FirstOrder:
    """Family of RC and RL filters of order one."""

    key = "first_order"
    name = msg("first-order RC or RL low-pass and high-pass filters")
    examples: Mapping[str, str] = {
        "en": "RC low-pass filter with a cut-off of 1 kHz",
        "zh": "截止频率为1kHz的一阶RC低通滤波器",
    }
    labels: Mapping[str, Message] = LABELS
    goal_words: Mapping[str, str] = GOAL_WORDS

    def names_in(self, sentence: Sentence) -> Iterable[tuple[int, int]]:
        """Nowhere: the circuits known by name but not designed are told apart by `claim` alone."""
        del sentence
        return ()

    def claim(self, sentence: Sentence) -> Claim:
        """RC, RL, "first order", "passive"; or a filter without any other word (then it is assumed)."""
        order = order_of(sentence)
        named = sentence.has(_RC_WORDS) or sentence.has(_RL_WORDS)
        is_filter = sentence.has(FILTER_WORDS)
        if order not in (None, 1) or not (is_filter or (named and sentence.has("time constant|时间常数"))):
            return NOT_MINE
        if named:
            return Claim(score=1.0)
        if sentence.has(_ACTIVE_WORDS):
            return NOT_MINE
        if sentence.has(_FIRST_ORDER) or order == 1:
            return Claim(score=0.9, assumptions=(msg("RC or RL was not said: an RC filter is designed."),))
        if filter_kind(sentence) is None:
            return NOT_MINE
        return Claim(
            score=0.5,
            assumptions=(msg("No order or kind of circuit was said: a first-order RC filter is designed."),),
        )

    def understand(self, sentence: Sentence, claim: Claim) -> DesignIntent:
        """Requirement, goals and assumptions of a sentence."""
        request, filled = read_filter(sentence, FIRST_ORDER_SLOTS)
        refuse_gain(filled)
        parts: Parts = "rl" if sentence.has(_RL_WORDS) and not sentence.has(_RC_WORDS) else "rc"
        if parts == "rc" and "inductor" in filled.values and "capacitor" not in filled.values:
            parts = "rl"
        requirement, notes = read_first_order(request, filled, parts)
        goals = first_order_goals(
            request, filled, requirement, is_stated="cutoff" in filled.values or "tau" in filled.values
        )
        if not request.tolerance_is_stated:
            notes.append(
                msg(
                    "No tolerance was said: the cut-off may be off by {percent} %.",
                    percent=f"{100 * request.tolerance:g}",
                )
            )
        return DesignIntent(
            family=self.key,
            parameters=asdict(requirement),
            goals=goals,
            assumptions=(*claim.assumptions, *request.assumptions, *notes, *left_out(filled.unused)),
            language=sentence.language,
        )

    def propose(self, intent: DesignIntent, say: Say) -> Proposal:
        """R and C (or L) with preferred values that come nearest."""
        return _proposal(intent, 1.0, say)

    def follow(self, intent: DesignIntent, goals: Sequence[DesignGoal]) -> DesignIntent:
        """A changed cut-off, with its tolerance."""
        parameters = dict(intent.parameters)
        for old, new in changed(intent.goals, goals):
            ratio, aim = ratio_of(old, new), aim_of(new)
            if new.metric == "cutoff" and ratio is not None and aim is not None:
                low, high = new.minimum or 0.0, math.inf if new.maximum is None else new.maximum
                sized = parameters["cutoff_hz"] * ratio
                parameters["cutoff_hz"] = sized if low <= sized <= high else aim
                parameters["lowest_cutoff_hz"] = low or aim
                parameters["highest_cutoff_hz"] = high if math.isfinite(high) else aim
        return replace(intent, parameters=parameters, goals=tuple(goals))

    def revise(
        self, intent: DesignIntent, previous: Proposal, verdicts: Sequence[GoalVerdict], say: Say
    ) -> Proposal | None:
        """Shift the aimed cut-off by the measured ratio and choose parts again."""
        scale = float(previous.tuning["scale"])
        for verdict in verdicts:
            if verdict.goal.metric == "cutoff" and not verdict.met and verdict.measured.value > 0:
                scale *= float(intent.parameters["cutoff_hz"]) / verdict.measured.value
        if not 0.2 < scale < 5.0:
            return None
        proposal = _proposal(intent, scale, say)
        return None if proposal.values == previous.values else proposal


def _resistor_for(requirement: FirstOrderRequirement, cutoff: float, reactance: float) -> float:
    """The R that gives `cutoff` with a given C or L; not positive when there is none."""
    omega = 2 * math.pi * cutoff
    seen = 1 / (omega * reactance) if requirement.parts == "rc" else omega * reactance
    load = requirement.load_ohm
    if not requirement.has_series_resistor:
        seen -= requirement.source_ohm
    if load is not None:
        if not 0 < seen < load:
            return 0.0
        seen = 1 / (1 / seen - 1 / load)
    return seen - requirement.source_ohm if requirement.has_series_resistor else seen


def size(requirement: FirstOrderRequirement, scale: float = 1.0) -> _Sizing:
    """Preferred parts for `cutoff_hz * scale`. Raises CircuitError when no parts in range do it."""
    aim = requirement.cutoff_hz * scale
    if requirement.resistor_ohm is not None:
        sizing = _size_around_resistor(requirement, requirement.resistor_ohm, aim)
    else:
        sizing = _size_freely(requirement, aim)
    reached = math.nan if sizing is None else requirement.cutoff_of(sizing.resistor, sum(sizing.reactances))
    is_kept = requirement.lowest_cutoff_hz <= reached / scale <= requirement.highest_cutoff_hz
    if sizing is None or not is_kept:
        raise _out_of_reach(requirement, reached)
    return sizing


def _size_freely(requirement: FirstOrderRequirement, aim: float) -> _Sizing | None:
    fixed = requirement.reactance
    candidates = (fixed,) if fixed is not None else values_between(*requirement.reactance_limits, "E12")
    preferred = _preferred_resistance(requirement)
    lowest, highest = requirement.resistor_limits

    def cost(reactance: float, resistor: float) -> float:
        reached = requirement.cutoff_of(resistor, reactance)
        is_bought = lowest * 0.999 <= resistor <= highest * 1.001
        is_kept = (
            requirement.lowest_cutoff_hz
            <= reached * requirement.cutoff_hz / aim
            <= requirement.highest_cutoff_hz
        )
        return (
            abs(math.log(reached / aim))
            + 0.004 * abs(math.log10(resistor / preferred))
            + _awkwardness(requirement.parts, reactance)
            + (0.0 if is_bought else 100.0)
            + (0.0 if is_kept else 1.0)
        )

    def resistor_for(reactance: float) -> float:
        return _resistor_for(requirement, aim, reactance)

    try:
        reactance, resistor = best_pair(candidates, resistor_for, requirement.resistor_series, cost)
    except ValueError:
        return None
    return _Sizing(resistor=resistor, reactances=(reactance,)) if cost(reactance, resistor) < 50 else None


def _preferred_resistance(requirement: FirstOrderRequirement) -> float:
    """High against the source, low against the load, else 10 k (RC) or 1 k (RL)."""
    preferred = 10e3 if requirement.parts == "rc" else 1e3
    if requirement.load_ohm is not None:
        preferred = min(preferred, requirement.load_ohm / 20)
    return max(preferred, 20 * requirement.source_ohm)


def _awkwardness(parts: Parts, reactance: float) -> float:
    """Cost of a part that is large to buy or lost among strays."""
    small, large = (100e-12, 1e-6) if parts == "rc" else (10e-6, 0.1)
    return 0.008 * (max(0.0, math.log10(small / reactance)) + max(0.0, math.log10(reactance / large)))


def _size_around_resistor(requirement: FirstOrderRequirement, resistor: float, aim: float) -> _Sizing | None:
    """C or L for a given R: one part of E12 or E24 when near enough, else two."""
    if requirement.reactance is not None:
        return _Sizing(resistor=resistor, reactances=(requirement.reactance,))
    seen = requirement.seen_resistance(resistor)
    exact = 1 / (2 * math.pi * seen * aim) if requirement.parts == "rc" else seen / (2 * math.pi * aim)
    low, high = requirement.reactance_limits
    if not low * 0.9 <= exact <= high * 1.1:
        return None
    room = 0.6 * math.log(requirement.highest_cutoff_hz / requirement.lowest_cutoff_hz) / 2
    names: tuple[SeriesName, ...] = ("E12", "E24")
    for name in names:
        single = nearest(exact, name)
        if abs(math.log(single / exact)) <= room:
            return _Sizing(resistor=resistor, reactances=(single,))
    main = at_most(exact, "E24")
    if exact - main < 1e-6 * exact:
        return _Sizing(resistor=resistor, reactances=(main,))
    return _Sizing(resistor=resistor, reactances=(main, nearest(exact - main, "E24")))


def _out_of_reach(requirement: FirstOrderRequirement, reached: float) -> CircuitError:
    if requirement.resistor_ohm is not None and requirement.reactance is not None:
        return impossible(
            msg(
                "The given part values make a cut-off of {reached}, not {wanted}.",
                reached=with_unit(reached, "Hz"),
                wanted=with_unit(requirement.cutoff_hz, "Hz"),
            ),
            msg("Leave out one of the part values or the cut-off, or correct them."),
        )
    return impossible(
        msg(
            "No preferred part values in the allowed range give a cut-off of {wanted}.",
            wanted=with_unit(requirement.cutoff_hz, "Hz"),
        ),
        msg("Widen the range of the part values or the tolerance, or change source and load resistance."),
    )


def _proposal(intent: DesignIntent, scale: float, say: Say) -> Proposal:
    requirement = _restore(intent.parameters)
    sizing = size(requirement, scale)
    reached = requirement.cutoff_of(sizing.resistor, sum(sizing.reactances))
    letter = "C" if requirement.parts == "rc" else "L"
    values = {"R1": sizing.resistor} | {
        f"{letter}{number}": value for number, value in enumerate(sizing.reactances, start=1)
    }
    named = with_unit(intent.goals[0].target or requirement.cutoff_hz, "Hz", 3)
    word = f"{requirement.parts}_{requirement.kind}_{named}"
    return Proposal(
        file_stem=word.replace(" ", "").replace(".", "p"),
        netlist=_render(requirement, sizing, intent.goals, say),
        values=values,
        tuning={"scale": scale},
        notes=(
            msg(
                "The chosen parts give a cut-off of {reached} and a pass-band gain of {gain} dB.",
                reached=with_unit(reached, "Hz"),
                gain=f"{20 * math.log10(_pass_gain(requirement, sizing.resistor)):.2f}",
            ),
        ),
    )


def _restore(parameters: Mapping[str, Any]) -> FirstOrderRequirement:
    """The requirement from an intent's plain JSON types."""
    values = dict(parameters)
    for name in ("resistor_limits", "reactance_limits"):
        values[name] = cast(tuple[float, float], tuple(values[name]))
    return FirstOrderRequirement(**values)


def _pass_gain(requirement: FirstOrderRequirement, resistor: float) -> float:
    load = requirement.load_ohm
    if requirement.has_series_resistor:
        return 1.0 if load is None else load / (load + requirement.source_ohm + resistor)
    across = parallel(resistor, load)
    return across / (across + requirement.source_ohm)


def _render(
    requirement: FirstOrderRequirement, sizing: _Sizing, goals: Sequence[DesignGoal], say: Say
) -> str:
    cutoff = goals[0].target or requirement.cutoff_hz
    kind = "low-pass" if requirement.kind == "lowpass" else "high-pass"
    deck = Deck(
        f"First-order {requirement.parts.upper()} {kind} filter, cut-off {with_unit(cutoff, 'Hz')}", say
    )
    if requirement.parts == "rc":
        deck.note(msg("Cut-off f = 1 / (2 pi X C), X = the resistance the capacitor sees."))
    else:
        deck.note(msg("Cut-off f = X / (2 pi L), X = the resistance the inductor sees."))
    deck.goals(goals)
    deck.rule()
    deck.part(
        f"Vin in 0 DC 0 AC 1 SIN(0 1 {spice(cutoff)})",
        msg("input: 1 V for .ac, a sine at the cut-off for .tran"),
    )
    entry = "in"
    if requirement.source_ohm:
        deck.part(f"Rsource in src {spice(requirement.source_ohm)}", msg("source resistance"))
        entry = "src"
    resistor_nodes, reactive_nodes = (f"{entry} out", "out 0")
    if not requirement.has_series_resistor:
        resistor_nodes, reactive_nodes = reactive_nodes, resistor_nodes
    deck.part(f"R1 {resistor_nodes} {spice(sizing.resistor)}", msg("sets the cut-off"))
    _render_reactances(deck, requirement, sizing.reactances, reactive_nodes.split())
    if requirement.load_ohm is not None:
        deck.part(f"Rload out 0 {spice(requirement.load_ohm)}", msg("load"))
    deck.rule()
    edges = [cutoff, *frequencies_in(goals)]
    deck.cards(f".ac dec 100 {spice(min(edges) / 1000)} {spice(max(edges) * 1000)}")
    return deck.text()


def _render_reactances(
    deck: Deck, requirement: FirstOrderRequirement, parts: Sequence[float], nodes: Sequence[str]
) -> None:
    """Two capacitors stand in parallel, two inductors in series."""
    first, last = nodes
    if requirement.parts == "rc":
        for number, value in enumerate(parts, start=1):
            deck.part(f"C{number} {first} {last} {spice(value)}", msg("sets the cut-off with R1"))
        return
    chain = [first, *(f"l{number}" for number in range(1, len(parts))), last]
    for number, value in enumerate(parts, start=1):
        deck.part(
            f"L{number} {chain[number - 1]} {chain[number]} {spice(value)}", msg("sets the cut-off with R1")
        )
