"""Buck (step-down) converters with a diode or a synchronous rectifier, at a fixed duty.

Equations: `domain.design.buck_power_stage`. The netlist switches for real; it starts in its steady
state (`uic`, with the values also as `.ic`), runs until a start from elsewhere would have died out,
and saves whole periods only. There is no controller: the duty is the one for the nominal input.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from domain.circuit.preferred_values import at_least, nearest, with_unit
from domain.design.buck_power_stage import (
    Losses,
    capacitance_for,
    current_ripple,
    duty_continuous,
    duty_discontinuous,
    inductance_for,
    overshoot_capacitance,
    settling_time,
    voltage_ripple,
)
from domain.design.deck import Deck, Say, spice
from domain.design.designer import DesignIntent, Proposal
from domain.design.engine.changed_goals import aim_of, changed, tolerance_of
from domain.design.engine.family import NOT_MINE, Claim
from domain.design.families.buck_request import BuckRequirement, read_buck
from domain.design.sentence import Sentence
from domain.design.understanding import impossible
from domain.simulation.goals import DesignGoal, GoalVerdict
from shared.message import Message, msg

_NAMED = r"(?<![a-z])buck(?![a-z])|step(?:ping|s|ped)?[\s-]?down|降压|降圧"
_LOWERED = r"降(?:低)?(?:到|至|为|成)"
_CONVERTER = (
    r"dc[\s/-]*(?:to[\s-])?dc|converter|转换器|变换器|变换电路|转换电路|"
    r"switch(?:ing|ed)?[\s-]*(?:mode|regulator|power|supply)|"
    r"开关(?:电源|稳压)|smps|power supply|电源"
)
_SUPPLY = (
    rf"{_LOWERED}|rails?(?![a-z])|output|(?<![a-z])v_?out(?![a-z])|输出|(?<![a-z])suppl(?:y|ies)|供电|母线|"
    r"(?:from|out of) (?:an?|the)?\s?\d|(?:batter(?:y|ies)|电池)|由.{0,8}得到|从.{0,8}(?:得到|产生)"
)
"""Words of a supply: two voltages and a current with one of them can only mean a converter."""
_VT = 0.02585
_EMISSION = 1.05
_SAVED_PERIODS = 16
_SHORTEST_ON_TIME_S = 15e-9
_PUSHES = 6
_MOST_PERIODS = 2000
_EDGES_IN_ON_TIME = 50
_STEPS_IN_ON_TIME = 4
"""A short on-time needs edges and steps shorter than it: the switches change at a time point."""
_LEAST_ESR = 0.5e-3
_DEAD_TIME = 0.01
"""Of the period, twice in each."""
_BODY_DIODE_V = 0.7
_LOAD_STEP = 0.5
"""Of the load current: taking it away shall lift the output by no more than `_OVERSHOOT`."""
_OVERSHOOT = 0.05
_DEFAULT_ESR = 5e-3


class Buck:
    """Family of step-down switching converters."""

    key = "buck"
    name = msg("buck (step-down) converters with diode or synchronous rectifier")
    examples: Mapping[str, str] = {
        "en": "buck converter 12 V to 5 V, 2 A, 300 kHz, ripple below 30 mV",
        "zh": "12V转5V、2A的降压电路，开关频率300kHz，纹波小于30mV",
    }
    labels: Mapping[str, Message] = {
        "vout": msg("Output voltage"),
        "ripple": msg("Ripple"),
        "inductor_ripple": msg("Inductor ripple current"),
        "efficiency": msg("Efficiency"),
    }
    goal_words: Mapping[str, str] = {
        "vout": r"v_?out|output voltage|\boutput\b|输出电压|输出",
        "ripple": r"ripple|纹波",
        "inductor_ripple": r"inductor(?: ripple)?(?: current)?|ripple current|电感(?:纹波)?电流|电感纹波",
        "efficiency": r"efficien\w*|效率",
    }

    def names_in(self, sentence: Sentence) -> Iterable[tuple[int, int]]:
        """Nowhere: the circuits known by name but not designed are told apart by `claim` alone."""
        del sentence
        return ()

    def claim(self, sentence: Sentence) -> Claim:
        """Buck or step-down by name, or a DC-DC converter between two voltages."""
        if sentence.has(_NAMED):
            return Claim(score=1.0)
        assumed = (msg("The kind of converter was not named: a buck converter is designed."),)
        if sentence.has(_CONVERTER) and len(sentence.of("V")) >= 2 and not sentence.has("filter|滤波"):
            return Claim(score=0.8, assumptions=assumed)
        has_load = bool(sentence.of("A") or sentence.of("W") or sentence.has(r"load|负载"))
        is_supply = len(sentence.of("V")) >= 2 and has_load
        is_another = sentence.has(r"filter|滤波|op[\s-]?amp|运放")
        if is_supply and not is_another and (_is_linked(sentence) or sentence.has(_SUPPLY)):
            return Claim(score=0.6, assumptions=assumed)
        return NOT_MINE

    def understand(self, sentence: Sentence, claim: Claim) -> DesignIntent:
        """Requirement, goals and assumptions of a sentence."""
        requirement, notes, unused = read_buck(sentence)
        return DesignIntent(
            family=self.key,
            parameters=asdict(requirement),
            goals=_goals(requirement),
            assumptions=(*claim.assumptions, *notes, *unused),
            language=sentence.language,
        )

    def propose(self, intent: DesignIntent, say: Say) -> Proposal:
        """Duty, L and C by the power-stage equations."""
        return _proposal(intent, _Tuning(), say)

    def follow(self, intent: DesignIntent, goals: Sequence[DesignGoal]) -> DesignIntent:
        """A changed output, ripple or efficiency."""
        parameters = dict(intent.parameters)
        for _, new in changed(intent.goals, goals):
            aim, most, least = aim_of(new), new.maximum, new.minimum
            match new.metric:
                case "vout" if aim is not None and aim > 0:
                    tolerance = tolerance_of(new) or parameters["tolerance"]
                    parameters |= {"vout": aim, "tolerance": tolerance, "tolerance_is_stated": True}
                case "ripple" if most is not None and most > 0:
                    parameters |= {"ripple_v": most, "ripple_is_stated": True}
                case "inductor_ripple" if most is not None and most > 0:
                    parameters |= {"inductor_ripple_a": most, "inductor_ripple_is_stated": True}
                case "efficiency" if least is not None:
                    parameters["efficiency"] = least
        return replace(intent, parameters=parameters, goals=tuple(goals))

    def revise(
        self, intent: DesignIntent, previous: Proposal, verdicts: Sequence[GoalVerdict], say: Say
    ) -> Proposal | None:
        """Correct the duty by the error of the output, C and L by the excess of the ripples."""
        tuning = _Tuning(**previous.tuning)
        for _ in range(_PUSHES):
            # A small correction may round to the same preferred values: push on until they change.
            corrected = _corrected(tuning, verdicts, intent.parameters["vin"])
            if corrected is None:
                return None
            tuning = corrected
            proposal = _proposal(intent, tuning, say)
            if proposal.netlist != previous.netlist:
                return proposal
        return None


def _is_linked(sentence: Sentence) -> bool:
    """`12 V -> 5 V`, `12V转5V`: two voltages in one expression."""
    return any(sentence.mentions[i].dimension == "V" for i, _ in sentence.links)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tuning:
    """What is changed from round to round."""

    duty_shift: float = 0.0
    capacitance_scale: float = 1.0
    inductance_scale: float = 1.0
    loss_scale: float = 1.0
    """Of the on-resistances and the winding, where they are ours to choose."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _PowerStage:
    """A sized converter."""

    losses: Losses
    duty: float
    inductance: float
    capacitance: float
    esr: float
    ripple_a: float
    is_continuous: bool


def _goals(requirement: BuckRequirement) -> tuple[DesignGoal, ...]:
    goals = [
        DesignGoal(
            metric="vout",
            expression="avg(v(out))",
            unit="V",
            minimum=requirement.vout * (1 - requirement.tolerance),
            maximum=requirement.vout * (1 + requirement.tolerance),
            target=requirement.vout,
        ),
        DesignGoal(
            metric="ripple",
            expression="pp(v(out))",
            unit="V",
            maximum=requirement.ripple_v,
            stated=requirement.ripple_is_stated,
        ),
    ]
    if requirement.inductance is None or requirement.inductor_ripple_is_stated:
        goals.append(
            DesignGoal(
                metric="inductor_ripple",
                expression="pp(i(l1))",
                unit="A",
                maximum=requirement.inductor_ripple_a
                * (1.0 if requirement.inductor_ripple_is_stated else 4 / 3),
                stated=requirement.inductor_ripple_is_stated,
            )
        )
    if requirement.efficiency is not None:
        goals.append(
            DesignGoal(
                metric="efficiency",
                expression="avg(v(out)*i(vload))/avg(-v(in)*i(vin))",
                unit="1",
                minimum=requirement.efficiency,
            )
        )
    return tuple(goals)


def size(requirement: BuckRequirement, tuning: _Tuning) -> _PowerStage:
    """Losses, duty, L and C. Raises CircuitError when the demands leave nothing to build."""
    losses = _losses(requirement, tuning)
    _check_duty(requirement, losses)
    ripple_a = requirement.inductor_ripple_a / tuning.inductance_scale
    for _ in range(12):
        stage = _stage(requirement, tuning, losses, ripple_a)
        if stage is not None:
            return stage
        if requirement.inductance is not None:
            break
        ripple_a *= 0.75
    raise impossible(
        msg(
            "No output filter keeps the ripple below {ripple} with the given parts.",
            ripple=with_unit(requirement.ripple_v, "V"),
        ),
        msg("Allow more ripple, raise the switching frequency, or leave L, C and ESR open."),
    )


def _losses(requirement: BuckRequirement, tuning: _Tuning) -> Losses:
    """Parts that lose about one per cent each of the output power, unless they are given."""
    one_percent = 0.01 * requirement.vout / requirement.iout
    chosen = nearest(min(max(one_percent * tuning.loss_scale, 1e-3), 1.0), "E6")
    is_diode = requirement.rectifier == "diode"
    drop = requirement.diode_v or (0.4 if requirement.vin_highest <= 60 else 0.7)
    return Losses(
        switch_ohm=requirement.switch_ohm or chosen,
        winding_ohm=requirement.winding_ohm or chosen,
        diode_v=drop if is_diode else 2 * _DEAD_TIME * _BODY_DIODE_V,
        rectifier_ohm=0.0 if is_diode else requirement.switch_ohm or chosen,
    )


def _check_duty(requirement: BuckRequirement, losses: Losses) -> None:
    highest = duty_continuous(requirement.at(requirement.vin_lowest), losses)
    if not 0 < highest <= 0.95:
        raise impossible(
            msg(
                "{vout} V from {vin} V leaves no room for the losses: the switch would have to be on "
                "{percent} % of the time.",
                vout=f"{requirement.vout:g}",
                vin=f"{requirement.vin_lowest:g}",
                percent=f"{100 * min(abs(highest), 1.0):.0f}",
            ),
            msg("Raise the input voltage, lower the output voltage, or use a linear regulator."),
        )
    lowest = duty_continuous(requirement.at(requirement.vin_highest), losses)
    if lowest / requirement.fsw < _SHORTEST_ON_TIME_S:
        raise impossible(
            msg(
                "The switch would be on for only {time}, shorter than real switches can be.",
                time=with_unit(lowest / requirement.fsw, "s", 3),
            ),
            msg("Lower the switching frequency or the input voltage."),
        )


def _stage(
    requirement: BuckRequirement, tuning: _Tuning, losses: Losses, ripple_a: float
) -> _PowerStage | None:
    """A power stage with about this inductor ripple, None when the output ripple cannot be kept with it."""
    hardest, nominal = requirement.at(requirement.vin_highest), requirement.at(requirement.vin)
    duty = duty_continuous(hardest, losses)
    inductance = requirement.inductance or at_least(
        1.02 * inductance_for(hardest, duty, ripple_a, losses), "E12"
    )
    ripple_a = current_ripple(hardest, duty, inductance, losses)
    esr = _esr(requirement, ripple_a)
    capacitance = None if esr is None else _capacitance(requirement, tuning, inductance, ripple_a, esr)
    if esr is None or capacitance is None:
        return None
    duty = duty_continuous(nominal, losses)
    at_nominal = current_ripple(nominal, duty, inductance, losses)
    is_continuous = requirement.rectifier == "synchronous" or at_nominal < 2 * requirement.iout
    if not is_continuous:
        duty = duty_discontinuous(nominal, inductance, losses)
        at_nominal = (nominal.vin - nominal.vout) * duty / (inductance * nominal.fsw)
    return _PowerStage(
        losses=losses,
        duty=min(max(duty + tuning.duty_shift, 0.005), 0.98),
        inductance=inductance,
        capacitance=capacitance,
        esr=esr,
        ripple_a=at_nominal,
        is_continuous=is_continuous,
    )


def _esr(requirement: BuckRequirement, ripple_a: float) -> float | None:
    """The given series resistance, or one (several ceramics in parallel if need be) that drops at most half
    the allowed ripple; None when the given or least possible one drops too much."""
    allowed = requirement.ripple_v / ripple_a
    if requirement.esr is not None:
        return requirement.esr if requirement.esr <= 0.85 * allowed else None
    if 0.4 * allowed < _LEAST_ESR:
        return None
    if allowed * 0.4 >= _DEFAULT_ESR:
        return _DEFAULT_ESR
    return _DEFAULT_ESR / math.ceil(_DEFAULT_ESR / (0.4 * allowed))


def _capacitance(
    requirement: BuckRequirement, tuning: _Tuning, inductance: float, ripple_a: float, esr: float
) -> float | None:
    """The smallest E6 value that keeps the ripple with a margin, puts the filter a decade below fsw and
    takes half the load away without much overshoot."""
    if requirement.capacitance is not None:
        given = requirement.capacitance
        is_kept = voltage_ripple(ripple_a, given, esr, requirement.fsw) <= requirement.ripple_v
        return given if is_kept else None
    allowed = 0.85 * requirement.ripple_v / tuning.capacitance_scale
    if esr * ripple_a > allowed:
        return None
    slow_enough = 1 / ((2 * math.pi * requirement.fsw / 10) ** 2 * inductance)
    for_load_step = overshoot_capacitance(
        inductance, _LOAD_STEP * requirement.iout, requirement.vout, _OVERSHOOT * requirement.vout
    )
    least = max(capacitance_for(ripple_a, allowed, requirement.fsw), slow_enough, for_load_step)
    capacitance = at_least(least, "E6")
    for _ in range(30):
        if voltage_ripple(ripple_a, capacitance, esr, requirement.fsw) <= allowed:
            return capacitance
        capacitance = at_least(1.1 * capacitance, "E6")
    return None


def _corrected(tuning: _Tuning, verdicts: Sequence[GoalVerdict], vin: float) -> _Tuning | None:
    """The next tuning after measured misses; None when nothing is left to change."""
    changed = tuning
    for verdict in verdicts:
        measured, goal = verdict.measured.value, verdict.goal
        if verdict.met or not math.isfinite(measured):
            continue
        if goal.metric == "vout" and goal.target:
            changed = replace(changed, duty_shift=changed.duty_shift + (goal.target - measured) / vin)
        elif goal.metric == "ripple" and goal.maximum:
            changed = replace(
                changed, capacitance_scale=changed.capacitance_scale * 1.1 * measured / goal.maximum
            )
        elif goal.metric == "inductor_ripple" and goal.maximum:
            changed = replace(
                changed, inductance_scale=changed.inductance_scale * 1.05 * measured / goal.maximum
            )
        elif goal.metric == "efficiency":
            changed = replace(changed, loss_scale=changed.loss_scale * 0.5)
    return changed if changed != tuning and abs(changed.duty_shift) < 0.5 else None


def _proposal(intent: DesignIntent, tuning: _Tuning, say: Say) -> Proposal:
    requirement = BuckRequirement(**intent.parameters)
    stage = size(requirement, tuning)
    notes = [
        msg(
            "Duty {duty} %, inductor ripple {ripple} peak to peak.",
            duty=f"{100 * stage.duty:.1f}",
            ripple=with_unit(stage.ripple_a, "A", 3),
        )
    ]
    if not stage.is_continuous:
        notes.append(msg("The inductor current stops in every period (discontinuous conduction)."))
    if requirement.efficiency is not None:
        notes.append(
            msg("The efficiency counts conduction losses only; gate and switching losses come on top.")
        )
    stem = f"buck_{requirement.vin:g}V_{requirement.vout:g}V_{requirement.iout:g}A".replace(".", "p")
    return Proposal(
        file_stem=stem,
        netlist=_render(requirement, stage, intent.goals, say),
        values={
            "L1": stage.inductance,
            "C1": stage.capacitance,
            "Resr": stage.esr,
            "Rload": requirement.vout / requirement.iout,
        },
        tuning=asdict(tuning),
        notes=tuple(notes),
    )


def _render(requirement: BuckRequirement, stage: _PowerStage, goals: Sequence[DesignGoal], say: Say) -> str:
    deck = Deck(
        f"Buck converter {requirement.vin:g} V to {requirement.vout:g} V, {requirement.iout:g} A, "
        f"{with_unit(requirement.fsw, 'Hz')}, {requirement.rectifier} rectifier",
        say,
    )
    deck.goals(goals)
    deck.rule()
    deck.part(f"Vin in 0 DC {spice(requirement.vin)} AC 1", msg("input voltage"))
    _render_switches(deck, requirement, stage)
    deck.part(
        f"L1 sw lx {spice(stage.inductance)} IC={spice(_valley(requirement, stage))}",
        msg("inductor; starts at the valley of its current"),
    )
    deck.part(f"Rdcr lx out {spice(stage.losses.winding_ohm)}", msg("winding resistance of L1"))
    deck.part(
        f"C1 out esr {spice(stage.capacitance)} IC={spice(requirement.vout)}",
        msg("output capacitor, already charged"),
    )
    deck.part(f"Resr esr 0 {spice(stage.esr)}", msg("series resistance of C1"))
    load = requirement.vout / requirement.iout
    if requirement.efficiency is None:
        deck.part(f"Rload out 0 {spice(load)}", msg("load"))
    else:
        deck.part(f"Rload out ld {spice(load)}", msg("load"))
        deck.part("Vload ld 0 DC 0", msg("measures the load current"))
    deck.rule()
    _render_models(deck, requirement, stage)
    deck.rule()
    deck.part(f".ic v(out)={spice(requirement.vout)}", msg("start of a .tran without uic"))
    deck.cards(_transient(requirement, stage, load))
    return deck.text()


def _valley(requirement: BuckRequirement, stage: _PowerStage) -> float:
    if not stage.is_continuous:
        return 0.0
    return requirement.iout - stage.ripple_a / 2


def _render_switches(deck: Deck, requirement: BuckRequirement, stage: _PowerStage) -> None:
    period = 1 / requirement.fsw
    on_time = stage.duty * period
    edge = min(period / 200, on_time / _EDGES_IN_ON_TIME)
    deck.part(
        f"Vgate gate 0 DC 0 {_pulse(0.0, max(on_time - edge, edge / 10), edge, period)}",
        msg("gate drive: fixed duty of {duty} %", duty=f"{100 * stage.duty:.2f}"),
    )
    deck.part("S1 in sw gate 0 highside", msg("high-side switch"))
    if requirement.rectifier == "diode":
        deck.part("D1 0 sw freewheel", msg("free-wheeling diode"))
        return
    dead = _DEAD_TIME * period
    low_time = max(period - on_time - 2 * dead - edge, edge / 10)
    deck.part(
        f"Vgatelow gatelow 0 DC 0 {_pulse(on_time + dead, low_time, edge, period)}",
        msg("low-side gate drive with dead time"),
    )
    deck.part("S2 sw 0 gatelow 0 lowside", msg("synchronous rectifier"))
    deck.part("D1 0 sw freewheel", msg("body diode: conducts in the dead time"))


def _pulse(delay: float, width: float, edge: float, period: float) -> str:
    return f"PULSE(0 1 {spice(delay)} {spice(edge)} {spice(edge)} {spice(width)} {spice(period)})"


def _render_models(deck: Deck, requirement: BuckRequirement, stage: _PowerStage) -> None:
    losses = stage.losses
    deck.cards(f".model highside SW(VT=0.5 VH=0 RON={spice(losses.switch_ohm)} ROFF=1Meg)")
    if requirement.rectifier == "synchronous":
        deck.cards(f".model lowside SW(VT=0.5 VH=0 RON={spice(losses.rectifier_ohm)} ROFF=1Meg)")
    drop = losses.diode_v if requirement.rectifier == "diode" else _BODY_DIODE_V
    resistive = 0.1 * drop
    saturation = requirement.iout * math.exp(-(drop - resistive) / (_EMISSION * _VT))
    deck.cards(
        f".model freewheel D(IS={spice(saturation)} N={_EMISSION} RS={spice(resistive / requirement.iout)} "
        f"CJO={spice(50e-12 * max(requirement.iout, 0.2))})"
    )


def _transient(requirement: BuckRequirement, stage: _PowerStage, load: float) -> str:
    """`.tran` over whole periods: first all that a cold start needs to die out, then those saved."""
    period = 1 / requirement.fsw
    losses = stage.losses
    series = losses.winding_ohm + stage.esr + losses.switch_ohm * stage.duty
    series += losses.rectifier_ohm * (1 - stage.duty)
    constant = settling_time(stage.inductance, stage.capacitance, load, series)
    settle = min(max(math.ceil(9 * constant / period), 60), _MOST_PERIODS)
    stop = (settle + _SAVED_PERIODS) * period
    step = min(period / 60, stage.duty * period / _STEPS_IN_ON_TIME)
    return f".tran {spice(period / 100)} {spice(stop)} {spice(settle * period)} {spice(step)} uic"
