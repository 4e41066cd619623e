"""Sallen-Key low-pass and high-pass filters of order 1 to 10: Butterworth, Chebyshev, Bessel.

A filter of order n is a cascade of n // 2 Sallen-Key stages and, for odd n, a buffered RC, in order
of rising Q. Poles: `domain.design.prototypes`; parts of a stage: `domain.design.sallen_key_stage`.
The op-amp's gain-bandwidth product is chosen at 100 * gain * Q * f of the most demanding stage
(Texas Instruments, "Op Amps for Everyone", SLOD006B, chapter 16).

"Cut-off" is the -3 dB frequency for every response, unless the sentence says ripple edge (Chebyshev)
or gives a Q (order 2: then it is the natural frequency f0, where the gain is Q).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from domain.circuit.preferred_values import with_unit
from domain.design.deck import Deck, Say, spice
from domain.design.designer import DesignIntent, Proposal
from domain.design.engine.changed_goals import aim_of, changed, ratio_of, tolerance_of
from domain.design.engine.family import NOT_MINE, Claim
from domain.design.families import sallen_key_goals as goals_of
from domain.design.families.filter_requests import (
    FILTER_WORDS,
    GOAL_WORDS,
    LABELS,
    FilterKind,
    filter_kind,
    frequencies_in,
    order_of,
)
from domain.design.families.sallen_key_request import SallenKeyRequirement, read_sallen_key
from domain.design.opamp import GBW_CLASSES_HZ, OpAmp, write_subcircuit, write_supplies
from domain.design.prototypes import Section
from domain.design.sallen_key_stage import Stage, size_stage
from domain.design.sentence import Sentence
from domain.design.understanding import impossible
from domain.simulation.goals import DesignGoal, GoalVerdict
from shared.message import Message, msg

_NAMED = r"sallen|萨伦|赛伦|萨林|sk\s?(?:滤波|filter|结构)|压控电压源|vcvs"
_RESPONSES = (
    r"butterworth|巴特沃|巴特沃思|cheb[iy]|tscheby|切比雪夫|契比雪夫|bessel|贝塞尔|"
    r"贝赛尔|maximally flat|最大平坦|最平坦"
)
_ACTIVE = r"(?<![a-z])active|有源|op[\s-]?amp|operational amplifier|运放|运算放大器"
_PASSIVE = r"passive|无源|(?<![a-z])r-?[cl](?![a-z])|阻容"
_GBW_RULE = 100.0
_GBW_RULE_HIGH_PASS = 500.0
"""A high-pass shall still pass well above its cut-off."""
_GBW_FLOOR = 15.0
"""Below this multiple of gain * Q * f a stage can no longer be corrected by choosing other parts."""


class SallenKey:
    """Family of active filters of order 1 to 10."""

    key = "sallen_key"
    name = msg("Sallen-Key low-pass and high-pass filters of order 1 to 10 (Butterworth, Chebyshev, Bessel)")
    examples: Mapping[str, str] = {
        "en": "4th-order Butterworth low-pass filter, cut-off 1 kHz",
        "zh": "截止频率为1kHz的二阶巴特沃斯低通滤波器",
    }
    labels: Mapping[str, Message] = LABELS
    goal_words: Mapping[str, str] = GOAL_WORDS

    def names_in(self, sentence: Sentence) -> Iterable[tuple[int, int]]:
        """Nowhere: the circuits known by name but not designed are told apart by `claim` alone."""
        del sentence
        return ()

    def claim(self, sentence: Sentence) -> Claim:
        """By name; an active filter, a response, an order above one, or a demand that needs one."""
        if sentence.has(_NAMED):
            return Claim(score=1.0)
        if not sentence.has(FILTER_WORDS) or sentence.has(_PASSIVE):
            return NOT_MINE
        assumed = (msg("The circuit was not named: an active Sallen-Key filter is designed."),)
        order = order_of(sentence)
        if sentence.has(_ACTIVE) or sentence.has(_RESPONSES) or (order is not None and order > 1):
            return Claim(score=0.8, assumptions=assumed)
        has_gain = sentence.has(r"(?<![a-z])gain|增益|放大\S{0,3}倍") or sentence.has(
            r"(?<![a-z])q\s*(?:=|:|of|is|为|值)"
        )
        if (
            filter_kind(sentence) is not None
            and order is None
            and (has_gain or _asks_for_attenuation(sentence) or sentence.has(_LIMITED_TOP))
        ):
            return Claim(score=0.7, assumptions=assumed)
        return NOT_MINE

    def understand(self, sentence: Sentence, claim: Claim) -> DesignIntent:
        """Requirement, goals and assumptions of a sentence."""
        requirement, notes, unused = read_sallen_key(sentence)
        return DesignIntent(
            family=self.key,
            parameters=asdict(requirement),
            goals=goals_of.goals(requirement),
            assumptions=(*claim.assumptions, *notes, *unused),
            language=sentence.language,
        )

    def propose(self, intent: DesignIntent, say: Say) -> Proposal:
        """Stages by design equations, preferred values, an op-amp that is fast enough."""
        requirement = SallenKeyRequirement(**intent.parameters)
        return _proposal(intent, requirement, _Tuning(gbw_hz=_gain_bandwidth(requirement)), say)

    def follow(self, intent: DesignIntent, goals: Sequence[DesignGoal]) -> DesignIntent:
        """A changed cut-off, gain, ripple or Q; our own other proposals follow it."""
        requirement = before = SallenKeyRequirement(**intent.parameters)
        for old, new in changed(intent.goals, goals):
            requirement = _asked_for(requirement, old, new)
        if requirement == before:
            return replace(intent, goals=tuple(goals))
        untouched = {goal.metric for goal in intent.goals if not goal.stated and goal in goals}
        anew = {goal.metric: goal for goal in goals_of.goals(requirement) if goal.metric in untouched}
        followed = tuple(anew.get(goal.metric, goal) for goal in goals)
        return replace(intent, parameters=asdict(requirement), goals=followed)

    def revise(
        self, intent: DesignIntent, previous: Proposal, verdicts: Sequence[GoalVerdict], say: Say
    ) -> Proposal | None:
        """Shift the aimed cut-off by the measured ratio, lower the ripple, take a faster op-amp."""
        requirement = SallenKeyRequirement(**intent.parameters)
        tuning = _corrected(requirement, _Tuning(**previous.tuning), verdicts)
        if tuning is None:
            return None
        proposal = _proposal(intent, requirement, tuning, say)
        return None if proposal.netlist == previous.netlist else proposal


def _asked_for(requirement: SallenKeyRequirement, old: DesignGoal, new: DesignGoal) -> SallenKeyRequirement:
    """The requirement with one changed goal taken up; goals that size nothing leave it as it is."""
    aim, ratio = aim_of(new), ratio_of(old, new)
    match new.metric:
        case "cutoff" if ratio is not None:
            return replace(
                requirement,
                cutoff_hz=requirement.cutoff_hz * ratio,
                wanted_hz=requirement.wanted_hz * ratio,
                stated_hz=None if requirement.stated_hz is None else requirement.stated_hz * ratio,
                tolerance=tolerance_of(new) or requirement.tolerance,
            )
        case "passband_gain" if aim is not None and old.target is not None:
            gain = requirement.gain * 10 ** ((aim - old.target) / 20)
            return replace(requirement, gain=gain, gain_is_stated=True)
        case "ripple" if new.maximum is not None and new.maximum > 0:
            return replace(requirement, ripple_db=new.maximum, ripple_is_stated=True)
        case "q" if aim is not None and aim > 0:
            return replace(requirement, q=aim)
        case _:
            return requirement


_LIMITED_TOP = (
    r"(?:peak(?:ing)?|ripple|峰值|尖峰|纹波|波纹)[^,;，；。]{0,14}\d\s?(?:db|分贝)|"
    r"\d\s?(?:db|分贝)\s*(?:of )?(?:pass[\s-]?band )?(?:peak|ripple|纹波|波纹)"
)
"""A limit on a peak or a ripple: only a filter of a higher order has one."""


def _asks_for_attenuation(sentence: Sentence) -> bool:
    return any(abs(m.value) > 3.1 for m in sentence.of("dB")) and not sentence.has(
        "passband loss|通带衰减|插入?损耗"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tuning:
    """What is changed from round to round."""

    gbw_hz: float
    scale: float = 1.0
    """Aimed cut-off over the wanted one."""
    ripple_scale: float = 1.0


def _gain_bandwidth(requirement: SallenKeyRequirement) -> float:
    """The op-amp to use; raises CircuitError when none is fast enough."""
    demand = max(
        frequency * gain * max(section.q or 0.5, 0.5)
        for section, frequency, gain in _stage_aims(requirement, requirement.cutoff_hz, 1.0)
    )
    fastest = requirement.gbw_hz or GBW_CLASSES_HZ[-1]
    if demand * _GBW_FLOOR > fastest:
        raise impossible(
            msg(
                "This filter needs an op-amp with a gain-bandwidth product of at least {needed}; "
                "{available} is available.",
                needed=with_unit(demand * _GBW_FLOOR, "Hz", 2),
                available=with_unit(fastest, "Hz"),
            ),
            msg("Lower the cut-off frequency, the gain or the order, or allow a faster op-amp."),
        )
    if requirement.gbw_hz is not None:
        return requirement.gbw_hz
    rule = _GBW_RULE if requirement.kind == "lowpass" else _GBW_RULE_HIGH_PASS
    return next((gbw for gbw in GBW_CLASSES_HZ if gbw >= rule * demand), GBW_CLASSES_HZ[-1])


def _stage_aims(
    requirement: SallenKeyRequirement, cutoff_hz: float, ripple_scale: float
) -> list[tuple[Section, float, float]]:
    """(section, pole frequency in Hz, gain) of each stage, by rising Q.

    The gain is made by the stage of lowest Q as long as it is at most 5, else by all stages alike.
    """
    sections = goals_of.sections(requirement, ripple_scale)
    count = len(sections)
    total = requirement.gain
    gains = [total, *[1.0] * (count - 1)] if total <= 5 else [total ** (1 / count)] * count
    return [
        (
            section,
            cutoff_hz * section.frequency if requirement.kind == "lowpass" else cutoff_hz / section.frequency,
            gain,
        )
        for section, gain in zip(sections, gains, strict=True)
    ]


def _size(requirement: SallenKeyRequirement, tuning: _Tuning) -> tuple[Stage, ...]:
    stages = []
    for section, frequency, gain in _stage_aims(
        requirement, requirement.cutoff_hz * tuning.scale, tuning.ripple_scale
    ):
        stage = size_stage(
            requirement.kind,
            frequency,
            section.q,
            gain=gain,
            gbw_hz=tuning.gbw_hz,
            resistors=requirement.resistor_series,
        )
        if stage is None:
            raise impossible(
                msg(
                    "No buildable resistors and capacitors make a stage with f0 = {frequency} and Q = {q}.",
                    frequency=with_unit(frequency, "Hz"),
                    q=f"{section.q or 0:.3g}",
                ),
                msg("Change the cut-off frequency, lower the order or the ripple, or allow a faster op-amp."),
            )
        stages.append(stage)
    return tuple(stages)


def _corrected(
    requirement: SallenKeyRequirement, tuning: _Tuning, verdicts: Sequence[GoalVerdict]
) -> _Tuning | None:
    """The next tuning after measured misses; None when nothing is left to change."""
    missed = {v.goal.metric: v for v in verdicts if not v.met}
    scale, ripple_scale, gbw_hz = tuning.scale, tuning.ripple_scale, tuning.gbw_hz
    cutoff = missed.pop("cutoff", None)
    if cutoff is not None and cutoff.measured.value > 0 and cutoff.goal.target:
        scale *= cutoff.goal.target / cutoff.measured.value
    ripple = missed.pop("ripple", None)
    if ripple is not None and ripple.measured.value > 0 and ripple.goal.maximum:
        ripple_scale = max(0.5, 0.97 * ripple_scale * ripple.goal.maximum / ripple.measured.value)
    if missed and requirement.gbw_hz is None:
        gbw_hz = next((gbw for gbw in GBW_CLASSES_HZ if gbw > gbw_hz), gbw_hz)
    changed = _Tuning(gbw_hz=gbw_hz, scale=scale, ripple_scale=ripple_scale)
    is_sane = math.isfinite(scale) and 0.5 < scale < 2.0
    return changed if is_sane and changed != tuning else None


def _proposal(intent: DesignIntent, requirement: SallenKeyRequirement, tuning: _Tuning, say: Say) -> Proposal:
    stages = _size(requirement, tuning)
    named = intent.parameters["stated_hz"] or requirement.cutoff_hz
    stem = f"sallen_key_{requirement.kind}_order{requirement.order}_{with_unit(named, 'Hz', 3)}"
    return Proposal(
        file_stem=stem.replace(" ", "").replace(".", "p"),
        netlist=_render(requirement, stages, tuning, intent.goals, say),
        values=_values(stages),
        tuning=asdict(tuning),
        notes=(
            msg(
                "Op-amps with a gain-bandwidth product of {gbw} are assumed; a slower one shifts the "
                "cut-off.",
                gbw=with_unit(tuning.gbw_hz, "Hz"),
            ),
        ),
    )


def _values(stages: Sequence[Stage]) -> dict[str, float]:
    values: dict[str, float] = {}
    for number, stage in enumerate(stages, start=1):
        parts = {
            f"R{number}a": stage.r1,
            f"R{number}b": stage.r2,
            f"C{number}a": stage.c1,
            f"C{number}b": stage.c2,
            f"R{number}f": stage.r_feedback,
            f"R{number}g": stage.r_ground,
        }
        values |= {name: value for name, value in parts.items() if value is not None}
    return values


def _render(
    requirement: SallenKeyRequirement,
    stages: Sequence[Stage],
    tuning: _Tuning,
    goals: Sequence[DesignGoal],
    say: Say,
) -> str:
    named = requirement.stated_hz or requirement.cutoff_hz
    kind = "low-pass" if requirement.kind == "lowpass" else "high-pass"
    response = requirement.response.capitalize() if requirement.q is None else f"Q = {requirement.q:g}"
    deck = Deck(
        f"Sallen-Key {kind} filter, order {requirement.order}, {response}, {with_unit(named, 'Hz')}", say
    )
    deck.note(goals_of.cutoff_definition(requirement))
    deck.goals(goals)
    deck.rule()
    amplitude = min(1.0, 0.4 * requirement.supply_v / requirement.gain)
    deck.part(
        f"Vin in 0 DC 0 AC 1 SIN(0 {spice(amplitude)} {spice(named)})",
        msg("input: 1 V for .ac, a sine at the cut-off for .tran"),
    )
    write_supplies(deck, requirement.supply_v)
    entry = "in"
    for number, stage in enumerate(stages, start=1):
        leaving = "out" if number == len(stages) else f"s{number}"
        _render_stage(deck, requirement.kind, stage, number=number, entry=entry, leaving=leaving)
        entry = leaving
    deck.rule()
    deck.note(msg("Op-amp macro model: one pole, limited output; slew rate and offset are not modelled."))
    write_subcircuit(deck, OpAmp(gbw_hz=tuning.gbw_hz, supply_v=requirement.supply_v))
    deck.rule()
    deck.cards(_sweep(requirement, named, goals))
    return deck.text()


def _sweep(requirement: SallenKeyRequirement, named: float, goals: Sequence[DesignGoal]) -> str:
    """Two decades to either side; a high-pass's ends in its pass band, before the op-amps give out."""
    edges = [named, *frequencies_in(goals)]
    stop = 100 * max(edges)
    if requirement.kind == "highpass":
        stop = 2 * goals_of.pass_band_multiple(requirement) * requirement.wanted_hz
    return f".ac dec 200 {spice(min(edges) / 100)} {spice(stop)}"


def _render_stage(
    deck: Deck, kind: FilterKind, stage: Stage, *, number: int, entry: str, leaving: str
) -> None:
    n = number
    deck.rule()
    frequency = with_unit(stage.frequency_hz, "Hz")
    if stage.q is None:
        deck.note(msg("Stage {number}: first order, f0 = {frequency}", number=n, frequency=frequency))
    else:
        deck.note(
            msg(
                "Stage {number}: f0 = {frequency}, Q = {q}", number=n, frequency=frequency, q=f"{stage.q:.4g}"
            )
        )
    r1, c1 = spice(stage.r1), spice(stage.c1)
    if stage.r2 is None or stage.c2 is None:
        first, second = (f"R{n}a {entry} p{n} {r1}", f"C{n}a p{n} 0 {c1}")
        if kind == "highpass":
            first, second = f"C{n}a {entry} p{n} {c1}", f"R{n}a p{n} 0 {r1}"
        deck.part(first, msg("sets the pole of the stage"))
        deck.part(second, msg("sets the pole of the stage"))
    else:
        r2, c2 = spice(stage.r2), spice(stage.c2)
        if kind == "lowpass":
            deck.part(f"R{n}a {entry} a{n} {r1}", msg("sets f0 and Q of the stage"))
            deck.part(f"R{n}b a{n} p{n} {r2}", msg("sets f0 and Q of the stage"))
            deck.part(f"C{n}a a{n} {leaving} {c1}", msg("feedback: raises the gain near f0"))
            deck.part(f"C{n}b p{n} 0 {c2}", msg("sets f0 and Q of the stage"))
        else:
            deck.part(f"C{n}a {entry} a{n} {c1}", msg("sets f0 and Q of the stage"))
            deck.part(f"C{n}b a{n} p{n} {c2}", msg("sets f0 and Q of the stage"))
            deck.part(f"R{n}a a{n} {leaving} {r1}", msg("feedback: raises the gain near f0"))
            deck.part(f"R{n}b p{n} 0 {r2}", msg("sets f0 and Q of the stage"))
    if stage.r_feedback is None or stage.r_ground is None:
        deck.part(f"X{n} p{n} {leaving} vcc vee {leaving} opamp", msg("op-amp as a follower"))
        return
    deck.part(f"X{n} p{n} g{n} vcc vee {leaving} opamp", msg("op-amp with gain"))
    deck.part(f"R{n}f {leaving} g{n} {spice(stage.r_feedback)}", msg("sets the gain of the stage"))
    deck.part(f"R{n}g g{n} 0 {spice(stage.r_ground)}", msg("sets the gain of the stage"))
