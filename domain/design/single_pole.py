"""RC and RL filters of one pole between source and load: cut-off, pass-band gain, parts that can be bought.

The reactive part sees one resistance X; the cut-off (-3.0103 dB) is

    f_c = 1 / (2 pi X C)        f_c = X / (2 pi L)

with X = (Rs + R) || Rl when R stands in series, X = Rs + R || Rl when R stands across the output.
Source: Sedra, Smith, "Microelectronic Circuits", 7th ed., section 1.6 and appendix E (single time
constant networks).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from domain.circuit.figures import told_apart, with_unit
from domain.circuit.preferred_values import SeriesName, at_most, best_pair, nearest, values_between
from domain.design.understanding import impossible
from shared.errors import CircuitError
from shared.message import msg

Parts = Literal["rc", "rl"]
R_LIMITS = (1.0, 10e6)
C_LIMITS = (10e-12, 100e-6)
L_LIMITS = (1e-6, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstOrderRequirement:
    """What a first-order filter must do. SI units."""

    kind: Literal["lowpass", "highpass"]
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
    resistor_limits: tuple[float, float] = R_LIMITS
    reactance_limits: tuple[float, float] = C_LIMITS
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

    def pass_gain(self, resistor: float) -> float:
        """Gain far inside the pass band."""
        if self.has_series_resistor:
            return (
                1.0 if self.load_ohm is None else self.load_ohm / (self.load_ohm + self.source_ohm + resistor)
            )
        across = parallel(resistor, self.load_ohm)
        return across / (across + self.source_ohm)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizing:
    """The parts of a filter, SI units."""

    resistor: float
    reactances: tuple[float, ...]
    """One part, or two in parallel (C) or in series (L)."""


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


def size(requirement: FirstOrderRequirement, scale: float = 1.0) -> Sizing:
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


def _size_freely(requirement: FirstOrderRequirement, aim: float) -> Sizing | None:
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
    return Sizing(resistor=resistor, reactances=(reactance,)) if cost(reactance, resistor) < 50 else None


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


def _size_around_resistor(requirement: FirstOrderRequirement, resistor: float, aim: float) -> Sizing | None:
    """C or L for a given R: one part of E12 or E24 when near enough, else two."""
    if requirement.reactance is not None:
        return Sizing(resistor=resistor, reactances=(requirement.reactance,))
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
            return Sizing(resistor=resistor, reactances=(single,))
    main = at_most(exact, "E24")
    if exact - main < 1e-6 * exact:
        return Sizing(resistor=resistor, reactances=(main,))
    return Sizing(resistor=resistor, reactances=(main, nearest(exact - main, "E24")))


def _out_of_reach(requirement: FirstOrderRequirement, reached: float) -> CircuitError:
    if requirement.resistor_ohm is not None and requirement.reactance is not None:
        given, wanted = told_apart("Hz", reached, requirement.cutoff_hz)
        return impossible(
            msg(
                "The given part values result in a cut-off of {reached}, not {wanted}.",
                reached=given,
                wanted=wanted,
            ),
            msg("Omit one of the part values or the cut-off, or correct them."),
        )
    return impossible(
        msg(
            "No standard part values in the allowed range give a cut-off of {wanted}.",
            wanted=with_unit(requirement.cutoff_hz, "Hz"),
        ),
        msg("Widen the range of the part values or the tolerance, or change source and load resistance."),
    )


Limit = tuple[float | None, float | None]
"""(decibels, frequency in Hz), None for what was not said."""


def kept_cutoffs(
    kind: str, wanted: float | None, tolerance: float, stop: Limit, passing: Limit
) -> tuple[float, float]:
    """The cut-offs (Hz) that keep the tolerance, an attenuation and a pass-band loss.

    |H|**2 = 1 / (1 + (f / f_c)**2). Raises CircuitError when there is none.
    """
    low, high = (0.0, math.inf) if wanted is None else (wanted * (1 - tolerance), wanted * (1 + tolerance))
    for (decibels, hertz), is_stop in ((stop, True), (passing, False)):
        if decibels and hertz:
            ratio = math.sqrt(10 ** (decibels / 10) - 1)
            bound = hertz / ratio if kind == "lowpass" else hertz * ratio
            is_upper = (kind == "lowpass") == is_stop
            low, high = (low, min(high, bound)) if is_upper else (max(low, bound), high)
    if low > high:
        above, below = told_apart("Hz", low, high)
        raise impossible(
            msg(
                "A first-order filter cannot do this: its slope is only 20 dB per decade, so the "
                "cut-off would have to be below {high} and above {low} at once.",
                high=below,
                low=above,
            ),
            msg(
                "Move the frequencies apart, or ask for a higher order, for example: Sallen-Key "
                "low-pass, order 4, cut-off 1 kHz."
            ),
        )
    return low, high


def aim_between(low: float, high: float, wanted: float | None, tolerance: float) -> float | None:
    """Where to aim inside the window, a little off its ends; None for a window without ends."""
    if wanted is not None:
        middle = math.sqrt(low * high)
        return min(max(wanted, min(low * 1.01, middle)), max(high * 0.99, middle))
    if math.isfinite(high):
        return math.sqrt(low * high) if low > 0 else high / (1 + tolerance)
    return low * (1 + tolerance) if low > 0 else None


def parallel(first: float, second: float | None) -> float:
    """Resistance of two resistors side by side (ohm); None = no second one."""
    return first if second is None else first * second / (first + second)
