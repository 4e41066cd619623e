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
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, cast

from domain.design.deck import Deck, Say, spice
from domain.design.designer import DesignIntent, Proposal
from domain.design.families.family import NOT_MINE, Claim
from domain.design.families.filter_requests import (
    COMMON_SLOTS,
    FILTER_WORDS,
    PASS_BAND_LOSS,
    FilterKind,
    FilterRequest,
    cutoff_goal,
    filter_kind,
    frequencies_in,
    order_of,
    read_filter,
)
from domain.design.goals import DesignGoal, GoalVerdict
from domain.design.sentence import Mention, Sentence
from domain.design.understanding import Filled, Slot, impossible, left_out, missing_goal
from domain.design.values import SeriesName, at_most, best_pair, nearest, values_between, with_unit
from shared.errors import CircuitError
from shared.message import Message, msg

Parts = Literal["rc", "rl"]

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

_SLOTS = (
    *COMMON_SLOTS,
    PASS_BAND_LOSS,
    Slot(
        name="loss_hz",
        dimensions=("Hz",),
        words=r"pass[\s-]?band (?:edge )?(?:up to|to|at)|通带(?:内)?到",
        before=r"(?:pass[\s-]?band|insertion) (?:loss|attenuation)[^,;]*?(?:at|@)",
        takes_bare=False,
    ),
    Slot(
        name="tau",
        dimensions=("s",),
        words=r"time[\s-]?constant|tau|τ|时间常数|时常数|rc\s*=",
        takes_rest=True,
    ),
    Slot(
        name="source",
        dimensions=("Ohm",),
        words=(
            r"(?:source|generator)(?: (?:resistance|impedance))?|"
            r"signal generator|driven (?:by|from)|driver|"
            r"(?<![a-z])r_?s(?![a-z])|信号源|源(?:电阻|阻抗|内阻)|内阻"
        ),
    ),
    Slot(
        name="load",
        dimensions=("Ohm",),
        words=r"load(?: (?:resistance|impedance|resistor))?|(?<![a-z])r_?l(?:oad)?(?![a-z])|负载",
    ),
    Slot(
        name="resistor",
        dimensions=("Ohm",),
        words=(
            r"(?<![a-z])r\d?(?![a-z])|(?<!load )resistor|"
            r"(?<!source )(?<!load )(?<!generator )resistance|"
            r"(?<!负载)(?<!源)电阻|阻值"
        ),
        takes_rest=True,
    ),
    Slot(
        name="capacitor",
        dimensions=("F",),
        words=r"(?<![a-z])c\d?(?![a-z])|capacitor|capacitance|cap(?![a-z])|电容|容值",
        takes_rest=True,
    ),
    Slot(
        name="inductor",
        dimensions=("H",),
        words=r"(?<![a-z])l\d?(?![a-z])|inductor|inductance|电感",
        takes_rest=True,
    ),
    Slot(name="gain", dimensions=("x", "dB"), words=r"(?<![a-z])gain|增益|放大倍数|放大", takes_bare=True),
)

_R_LIMITS = (1.0, 10e6)
_C_LIMITS = (10e-12, 100e-6)
_L_LIMITS = (1e-6, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstOrderRequirement:
    """What a first-order filter must do. SI units."""

    kind: FilterKind
    parts: Parts
    cutoff_hz: float
    """What is aimed at."""
    lowest_cutoff_hz: float
    """Between these two, every goal is kept."""
    highest_cutoff_hz: float
    resistor_series: SeriesName = "E96"
    resistor_ohm: float | None = None
    reactance: float | None = None
    """C (F) or L (H) when it is given."""
    resistor_limits: tuple[float, float] = _R_LIMITS
    reactance_limits: tuple[float, float] = _C_LIMITS
    source_ohm: float = 0.0
    load_ohm: float | None = None

    @property
    def has_series_resistor(self) -> bool:
        """R between input and output (RC low-pass, RL high-pass), else across the output."""
        return (self.parts == "rc") == (self.kind == "lowpass")


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
        request, filled = read_filter(sentence, _SLOTS)
        _refuse_gain(filled)
        parts: Parts = "rl" if sentence.has(_RL_WORDS) and not sentence.has(_RC_WORDS) else "rc"
        if parts == "rc" and "inductor" in filled.values and "capacitor" not in filled.values:
            parts = "rl"
        requirement, notes = _requirement(request, filled, parts)
        goals = _goals(
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


def _refuse_gain(filled: Filled) -> None:
    gain = filled.values.get("gain")
    if gain is not None and gain.value > (0.0 if gain.dimension == "dB" else 1.0):
        raise impossible(
            msg("An RC or RL filter is passive: it has no gain of {gain}.", gain=gain.text),
            msg(
                "Ask for an active filter, for example: Sallen-Key low-pass, order 2, cut-off 1 kHz, gain 2."
            ),
        )


def _requirement(
    request: FilterRequest, filled: Filled, parts: Parts
) -> tuple[FirstOrderRequirement, list[Message]]:
    notes: list[Message] = []
    reactive = filled.values.get("capacitor" if parts == "rc" else "inductor")
    resistor = filled.values.get("resistor")
    limits = _C_LIMITS if parts == "rc" else _L_LIMITS
    draft = FirstOrderRequirement(
        kind=request.kind,
        parts=parts,
        cutoff_hz=math.nan,
        lowest_cutoff_hz=0.0,
        highest_cutoff_hz=math.inf,
        resistor_series=request.resistor_series,
        resistor_ohm=_fixed(resistor),
        reactance=_fixed(reactive),
        resistor_limits=_limits(resistor, _R_LIMITS),
        reactance_limits=_limits(reactive, limits),
        source_ohm=filled.value("source") or 0.0,
        load_ohm=filled.value("load"),
    )
    _refuse_negative(draft)
    wanted = _wanted_cutoff(request, filled)
    if wanted is None and draft.resistor_ohm is not None and draft.reactance is not None:
        wanted = _cutoff(draft, draft.resistor_ohm, draft.reactance)
        notes.append(
            msg("The cut-off follows from the given values: {frequency}.", frequency=with_unit(wanted, "Hz"))
        )
    low, high = _window(request, filled, wanted)
    target = _target(wanted, low, high, request.tolerance)
    if target is None:
        raise missing_goal(
            msg("The request does not say the cut-off frequency."),
            msg("Add it, for example: cut-off 1 kHz."),
        )
    if wanted is None:
        low, high = max(low, target * (1 - request.tolerance)), min(high, target * (1 + request.tolerance))
        notes.append(
            msg(
                "The cut-off was not said: {frequency} keeps the other goals.",
                frequency=with_unit(target, "Hz"),
            )
        )
    values = asdict(draft) | {"cutoff_hz": target, "lowest_cutoff_hz": low, "highest_cutoff_hz": high}
    return FirstOrderRequirement(**values), notes


def _fixed(mention: Mention | None) -> float | None:
    return (
        None if mention is None or mention.upper is not None or mention.bound is not None else mention.value
    )


def _limits(mention: Mention | None, default: tuple[float, float]) -> tuple[float, float]:
    if mention is None or _fixed(mention) is not None:
        return default
    if mention.upper is not None:
        return mention.value, mention.upper
    return (default[0], mention.value) if mention.bound == "at_most" else (mention.value, default[1])


def _refuse_negative(draft: FirstOrderRequirement) -> None:
    given = (
        draft.resistor_ohm,
        draft.reactance,
        draft.load_ohm,
        *draft.resistor_limits,
        *draft.reactance_limits,
    )
    if any(value is not None and value <= 0 for value in given) or draft.source_ohm < 0:
        raise impossible(
            msg("Resistance, capacitance and inductance must be above zero."),
            msg("Check the signs and units of the given part values."),
        )


def _wanted_cutoff(request: FilterRequest, filled: Filled) -> float | None:
    tau = filled.value("tau")
    if request.cutoff_hz is not None or tau is None:
        return request.cutoff_hz
    if tau <= 0:
        raise impossible(
            msg("A time constant of {value} is not possible.", value=with_unit(tau, "s")),
            msg("Give a time constant above zero, for example 1 ms."),
        )
    return 1 / (2 * math.pi * tau)


def _window(request: FilterRequest, filled: Filled, wanted: float | None) -> tuple[float, float]:
    """The cut-offs that keep the tolerance and every attenuation; raises when there is none."""
    low = 0.0 if wanted is None else wanted * (1 - request.tolerance)
    high = math.inf if wanted is None else wanted * (1 + request.tolerance)
    bounds: list[tuple[float, bool]] = []
    is_low_pass = request.kind == "lowpass"
    if request.attenuation_db and request.attenuation_hz:
        ratio = math.sqrt(10 ** (request.attenuation_db / 10) - 1)
        bounds.append(
            (request.attenuation_hz / ratio if is_low_pass else request.attenuation_hz * ratio, is_low_pass)
        )
    loss_db, loss_hz = filled.value("loss_db"), filled.value("loss_hz")
    if loss_db and loss_hz:
        ratio = math.sqrt(10 ** (abs(loss_db) / 10) - 1)
        bounds.append((loss_hz / ratio if is_low_pass else loss_hz * ratio, not is_low_pass))
    for bound, is_upper in bounds:
        low, high = (low, min(high, bound)) if is_upper else (max(low, bound), high)
    if low > high:
        raise impossible(
            msg(
                "A first-order filter cannot do this: it falls by only 20 dB per decade, so the cut-off "
                "would have to be "
                "below {high} and above {low} at once.",
                high=with_unit(high, "Hz"),
                low=with_unit(low, "Hz"),
            ),
            msg(
                "Move the frequencies apart, or ask for a higher order, for example: Sallen-Key "
                "low-pass, order 4, cut-off 1 kHz."
            ),
        )
    return low, high


def _target(wanted: float | None, low: float, high: float, tolerance: float) -> float | None:
    """Where to aim inside the window, a little off its ends."""
    if wanted is not None:
        middle = math.sqrt(low * high)
        return min(max(wanted, min(low * 1.01, middle)), max(high * 0.99, middle))
    if math.isfinite(high):
        return math.sqrt(low * high) if low > 0 else high / (1 + tolerance)
    return low * (1 + tolerance) if low > 0 else None


def _goals(
    request: FilterRequest, filled: Filled, requirement: FirstOrderRequirement, *, is_stated: bool
) -> tuple[DesignGoal, ...]:
    wanted = _wanted_cutoff(request, filled) or requirement.cutoff_hz
    goals = [cutoff_goal(request.kind, wanted, request.tolerance, stated=is_stated)]
    reference = "dcgain(v(out))" if request.kind == "lowpass" else "peak(v(out))"
    if request.attenuation_db and request.attenuation_hz:
        goals.append(
            DesignGoal(
                metric="attenuation",
                expression=f"db(gain(v(out),{spice(request.attenuation_hz)})/{reference})",
                unit="dB",
                maximum=-request.attenuation_db,
            )
        )
    loss_db, loss_hz = filled.value("loss_db"), filled.value("loss_hz")
    if loss_db:
        measured = f"gain(v(out),{spice(loss_hz)})/{reference}" if loss_hz else reference
        goals.append(
            DesignGoal(metric="passband_loss", expression=f"db({measured})", unit="dB", minimum=-abs(loss_db))
        )
    return tuple(goals)


def _parallel(first: float, second: float | None) -> float:
    return first if second is None else first * second / (first + second)


def _seen_resistance(requirement: FirstOrderRequirement, resistor: float) -> float:
    if requirement.has_series_resistor:
        return _parallel(requirement.source_ohm + resistor, requirement.load_ohm)
    return requirement.source_ohm + _parallel(resistor, requirement.load_ohm)


def _cutoff(requirement: FirstOrderRequirement, resistor: float, reactance: float) -> float:
    """Cut-off (Hz) of given parts, source and load included."""
    seen = _seen_resistance(requirement, resistor)
    if requirement.parts == "rc":
        return 1 / (2 * math.pi * seen * reactance)
    return seen / (2 * math.pi * reactance)


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
    reached = math.nan if sizing is None else _cutoff(requirement, sizing.resistor, sum(sizing.reactances))
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
        reached = _cutoff(requirement, resistor, reactance)
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
    seen = _seen_resistance(requirement, resistor)
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
    reached = _cutoff(requirement, sizing.resistor, sum(sizing.reactances))
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
    across = _parallel(resistor, load)
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
