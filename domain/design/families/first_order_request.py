"""What a first-order filter must do, read from a sentence."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Literal

from domain.design.deck import spice
from domain.design.families.filter_requests import (
    COMMON_SLOTS,
    PASS_BAND_LOSS,
    PEAKING,
    FilterKind,
    FilterRequest,
    cutoff_goal,
    peaking_goal,
)
from domain.design.goals import DesignGoal
from domain.design.sentence import Mention
from domain.design.understanding import Filled, Slot, impossible, missing_goal
from domain.design.values import SeriesName, with_unit
from shared.message import Message, msg

Parts = Literal["rc", "rl"]
_HIGH = 100.0
"""Times the cut-off: there a first-order high-pass is within 0.0005 dB of its level."""
FIRST_ORDER_SLOTS = (
    *COMMON_SLOTS,
    PASS_BAND_LOSS,
    PEAKING,
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
        words=(
            r"load(?: (?:resistance|impedance|resistor))?|(?<![a-z])r_load(?![a-z])|负载|"
            # "RL = 1k" is the load, the RL of "RL low-pass, 75 ohm" the kind of circuit
            r"(?<![a-z])r_?l(?![a-z])(?=\s*(?:=|:|is(?![a-z])|of(?![a-z])|为|是|取)?\s*\d)"
        ),
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

    def seen_resistance(self, resistor: float) -> float:
        """What the reactive part sees (ohm), source and load included."""
        if self.has_series_resistor:
            return parallel(self.source_ohm + resistor, self.load_ohm)
        return self.source_ohm + parallel(resistor, self.load_ohm)

    def cutoff_of(self, resistor: float, reactance: float) -> float:
        """Cut-off (Hz) of given parts."""
        seen = self.seen_resistance(resistor)
        if self.parts == "rc":
            return 1 / (2 * math.pi * seen * reactance)
        return seen / (2 * math.pi * reactance)


def refuse_gain(filled: Filled) -> None:
    """Raises CircuitError when gain is asked of a passive filter."""
    gain = filled.values.get("gain")
    if gain is not None and gain.value > (0.0 if gain.dimension == "dB" else 1.0):
        raise impossible(
            msg("An RC or RL filter is passive: it has no gain of {gain}.", gain=gain.text),
            msg(
                "Ask for an active filter, for example: Sallen-Key low-pass, order 2, cut-off 1 kHz, gain 2."
            ),
        )


def read_first_order(
    request: FilterRequest, filled: Filled, parts: Parts
) -> tuple[FirstOrderRequirement, list[Message]]:
    """Requirement and assumptions. Raises CircuitError."""
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
        wanted = draft.cutoff_of(draft.resistor_ohm, draft.reactance)
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


def first_order_goals(
    request: FilterRequest, filled: Filled, requirement: FirstOrderRequirement, *, is_stated: bool
) -> tuple[DesignGoal, ...]:
    """Everything that is measured on the result."""
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
    peaking_db = filled.value("peaking_db")
    if peaking_db is not None:
        high = f"gain(v(out),{spice(_HIGH * wanted)})"
        level = reference if request.kind == "lowpass" else high
        goals.append(peaking_goal(level, peaking_db, stated=True))
    return tuple(goals)


def parallel(first: float, second: float | None) -> float:
    """Resistance of two resistors side by side (ohm); None = no second one."""
    return first if second is None else first * second / (first + second)
