"""Sallen-Key stages with parts that can be bought, the op-amp's finite bandwidth included.

With P = R1 R2 C1 C2 and an amplifier K(s) = K0 / (1 + s tau), the denominators are

    low-pass   (1 + s tau) (1 + s (R1 C2 + R2 C2 + R1 C1) + s**2 P) - s R1 C1 K0
    high-pass  (1 + s tau) (1 + s (R1 C1 + R1 C2 + R2 C2) + s**2 P) - s R2 C2 K0

(R1, C1 stand nearer the input; the feedback part is C1 of a low-pass, R1 of a high-pass). For
tau = 0 they are the equations of Karki, "Analysis of the Sallen-Key Architecture", TI SLOA024B.

The resistors are first solved for exactly, aiming beside the wanted pole by as much as the op-amp
pulls it away; then the preferred values nearest to the pole are chosen. The op-amp's gain-bandwidth product
is chosen at 100 * gain * Q * f of the most demanding stage (Texas Instruments, "Op Amps for Everyone",
SLOD006B, chapter 16).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TypeVar

from domain.circuit.figures import told_apart, with_unit
from domain.circuit.preferred_values import SeriesName, nearest, neighbours, values_between
from domain.design.deck import Deck, spice
from domain.design.opamp import GBW_CLASSES_HZ, closed_loop
from domain.design.prototypes import FilterKind, Section
from domain.design.supplies import Rails
from domain.design.understanding import impossible
from shared.message import msg

_R_LIMITS = (300.0, 3e6)
_C_LIMITS = (10e-12, 47e-6)
_PREFERRED_OHM = 10e3
_HIGH_PASS_RATIOS = (0.47, 0.68, 1.0, 1.5, 2.2)
_GBW_RULE: Mapping[FilterKind, float] = {"lowpass": 100.0, "highpass": 500.0}
"""A high-pass shall still pass well above its cut-off."""
_GBW_FLOOR = 15.0
"""Below this multiple of gain * Q * f a stage can no longer be corrected by choosing other parts."""
_FIRST_STAGE_GAIN = 5.0
"""A gain up to this is made by the stage of lowest Q, a larger one by all stages alike."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """The parts of one stage; a first-order stage has R1 and C1 only."""

    frequency_hz: float
    """The pole frequency that was aimed at."""
    q: float | None
    r1: float
    c1: float
    r2: float | None = None
    c2: float | None = None
    gain: float = 1.0
    """What the gain resistors make: 1 + r_feedback / r_ground."""
    r_feedback: float | None = None
    r_ground: float | None = None

    def parts(self, number: int) -> dict[str, float]:
        """The element values by name, as stage `number` of a cascade."""
        named = {"Ra": self.r1, "Rb": self.r2, "Ca": self.c1, "Cb": self.c2, "Rf": self.r_feedback,
                 "Rg": self.r_ground}  # fmt: skip
        return {f"{name[0]}{number}{name[1]}": value for name, value in named.items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Aim:
    kind: FilterKind
    omega: float
    q: float
    gain: float
    gbw_hz: float


Made = TypeVar("Made")
Demand = tuple[Section, float, float]
"""A stage to be made: section of the prototype, pole frequency (Hz), gain."""


def demands(kind: FilterKind, sections: Sequence[Section], cutoff_hz: float, gain: float) -> list[Demand]:
    """The stages of a filter, by rising Q."""
    count = len(sections)
    each = gain ** (1 / count)
    gains = [gain, *[1.0] * (count - 1)] if gain <= _FIRST_STAGE_GAIN else [each] * count
    frequencies = [
        cutoff_hz * section.frequency if kind == "lowpass" else cutoff_hz / section.frequency
        for section in sections
    ]
    return list(zip(sections, frequencies, gains, strict=True))


def gain_bandwidth(
    kind: FilterKind, stages: Sequence[Demand], given: float | None = None, times: float = 1.0
) -> float:
    """The op-amp to use (Hz), `times` faster than the rule asks. Raises CircuitError when none will do."""
    demand = max(frequency * gain * max(section.q or 0.5, 0.5) for section, frequency, gain in stages)
    fastest = given or GBW_CLASSES_HZ[-1]
    if demand * _GBW_FLOOR > fastest:
        needed, available = told_apart("Hz", demand * _GBW_FLOOR, fastest, digits=3)
        raise impossible(
            msg(
                "This filter needs an op-amp with a gain-bandwidth product of at least {needed}; only "
                "{available} is available.",
                needed=needed,
                available=available,
            ),
            msg("Lower the cut-off frequency, the gain or the order, or allow a faster op-amp."),
        )
    if given is not None:
        return given
    least = next((gbw for gbw in GBW_CLASSES_HZ if gbw >= _GBW_RULE[kind] * demand), fastest)
    return next((gbw for gbw in GBW_CLASSES_HZ if gbw >= times * least), fastest)


def size_stages(
    kind: FilterKind,
    stages: Sequence[Demand],
    gbw_hz: float,
    resistors: SeriesName,
    size: Callable[..., Made | None],
) -> list[Made]:
    """The parts of each stage, found by `size`. Raises CircuitError when no parts in range make one."""
    found = []
    for section, frequency, gain in stages:
        stage = size(kind, frequency, section.q, gain=gain, gbw_hz=gbw_hz, resistors=resistors)
        if stage is None:
            raise impossible(
                msg(
                    "No standard resistors and capacitors give a stage with f0 = {frequency} and Q = {q}.",
                    frequency=with_unit(frequency, "Hz"),
                    q=f"{section.q or 0:.3g}",
                ),
                msg("Change the cut-off frequency, lower the order or the ripple, or allow a faster op-amp."),
            )
        found.append(stage)
    return found


def write_stage(
    deck: Deck,
    kind: FilterKind,
    number: int,
    parts: Mapping[str, float],
    nodes: tuple[str, str],
    *,
    opamp: str,
    rails: Rails,
) -> None:
    """Stage `number` between two nodes; without a second capacitor a buffered RC."""
    n, (entry, leaving) = number, nodes
    value = {name: spice(parts[name]) for name in parts}
    across, along = ("C", "R") if kind == "lowpass" else ("R", "C")
    if f"C{n}b" in parts:
        role = msg("sets f0 and Q of the stage")
        deck.part(f"{along}{n}a {entry} a{n} {value[f'{along}{n}a']}", role)
        deck.part(f"{along}{n}b a{n} p{n} {value[f'{along}{n}b']}", role)
        back = f"{across}{n}a a{n} {leaving} {value[f'{across}{n}a']}"
        deck.part(back, msg("feedback: raises the gain near f0"))
        deck.part(f"{across}{n}b p{n} {rails.ground} {value[f'{across}{n}b']}", role)
    else:
        role = msg("sets the pole of the stage")
        deck.part(f"{along}{n}a {entry} p{n} {value[f'{along}{n}a']}", role)
        deck.part(f"{across}{n}a p{n} {rails.ground} {value[f'{across}{n}a']}", role)
    if f"R{n}f" not in parts:
        deck.part(f"X{n} p{n} {leaving} vcc {rails.low} {leaving} {opamp}", msg("op-amp as a follower"))
        return
    deck.part(f"X{n} p{n} g{n} vcc {rails.low} {leaving} {opamp}", msg("op-amp with gain"))
    deck.part(f"R{n}f {leaving} g{n} {value[f'R{n}f']}", msg("sets the gain of the stage"))
    deck.part(f"R{n}g g{n} {rails.ground} {value[f'R{n}g']}", msg("sets the gain of the stage"))


def size_stage(
    kind: FilterKind,
    frequency_hz: float,
    q: float | None,
    *,
    gain: float,
    gbw_hz: float,
    resistors: SeriesName,
) -> Stage | None:
    """The stage nearest to a pole (pair) and gain; None when no parts in range come near."""
    actual, feedback, ground = _gain_resistors(gain, resistors)
    if q is None:
        r1, c1 = _first_order(frequency_hz, resistors)
        return Stage(
            frequency_hz=frequency_hz, q=None, r1=r1, c1=c1, gain=actual, r_feedback=feedback, r_ground=ground
        )
    aim = _Aim(kind=kind, omega=2 * math.pi * frequency_hz, q=q, gain=actual, gbw_hz=gbw_hz)
    best = min(
        ((_cost(aim, *parts), parts) for parts in _candidates(aim, resistors)),
        default=None,
        key=lambda p: p[0],
    )
    if best is None or best[0] > 1.0:
        return None
    r1, r2, c1, c2 = best[1]
    return Stage(
        frequency_hz=frequency_hz,
        q=q,
        r1=r1,
        r2=r2,
        c1=c1,
        c2=c2,
        gain=actual,
        r_feedback=feedback,
        r_ground=ground,
    )


def _gain_resistors(gain: float, name: SeriesName) -> tuple[float, float | None, float | None]:
    """1 + feedback / ground nearest to `gain`, around 10 kilohm."""
    if gain <= 1.0 + 1e-9:
        return 1.0, None, None
    grounds = values_between(4.7e3, 22e3, name)
    pairs = ((nearest((gain - 1) * ground, name), ground) for ground in grounds)
    feedback, ground = min(
        pairs, key=lambda p: abs(1 + p[0] / p[1] - gain) / gain + 1e-4 * abs(math.log10(p[1] / 10e3))
    )
    return 1 + feedback / ground, feedback, ground


def _first_order(frequency_hz: float, name: SeriesName) -> tuple[float, float]:
    omega = 2 * math.pi * frequency_hz
    middle = _capacitance_for(omega)
    capacitors = values_between(max(middle / 10, _C_LIMITS[0]), min(middle * 10, _C_LIMITS[1]), "E12")
    pairs = ((nearest(1 / (omega * c), name), c) for c in capacitors)
    return min(
        pairs, key=lambda p: abs(math.log(p[0] * p[1] * omega)) + 2e-3 * abs(math.log10(p[1] / middle))
    )


def _capacitance_for(omega: float) -> float:
    """A capacitor that goes with about 10 kilohm, but is not lost among strays nor too large."""
    return min(max(1 / (omega * _PREFERRED_OHM), 100e-12), 1e-6)


def _candidates(aim: _Aim, name: SeriesName) -> Iterator[tuple[float, float, float, float]]:
    low, high = _R_LIMITS
    for c1, c2 in _capacitor_pairs(aim):
        for exact in _exact_resistors(aim, c1, c2):
            if all(low <= r <= high for r in exact):
                for r1, r2 in product(neighbours(exact[0], name), neighbours(exact[1], name)):
                    yield r1, r2, c1, c2


def _capacitor_pairs(aim: _Aim) -> Iterator[tuple[float, float]]:
    """Preferred pairs; for a low-pass just above the least C1 / C2 that has a solution (there the pole
    depends least on the parts)."""
    ratios: tuple[float, ...]
    if aim.kind == "highpass":
        ratios = _HIGH_PASS_RATIOS
    else:
        least = 1 / (aim.gain - 1 + 1 / (4 * aim.q**2))
        ratios = values_between(least * 1.001, least * 4, "E12")
    middle = _capacitance_for(aim.omega)
    # A high Q spreads the two resistors by 4 Q**2: more capacitors must be tried to keep both buildable.
    reach = 3.3 if aim.q < 8 else 10.0
    for ratio in ratios:
        centre = min(max(middle / math.sqrt(ratio), _C_LIMITS[0]), _C_LIMITS[1])
        for c2 in values_between(centre / reach, centre * reach, "E12"):
            c1 = nearest(ratio * c2, "E12")
            if all(_C_LIMITS[0] <= c <= _C_LIMITS[1] for c in (c1, c2)):
                yield c1, c2


def _exact_resistors(aim: _Aim, c1: float, c2: float) -> list[tuple[float, float]]:
    """Resistor pairs that put the pole where it shall be, the op-amp's pull included."""
    solutions = []
    for branch in (-1.0, 1.0):
        omega, q = aim.omega, aim.q
        pair: tuple[float, float] | None = None
        for _ in range(5):
            pair = _solve(aim, (omega, q), (c1, c2), branch=branch)
            pole = None if pair is None else _pole(aim, *pair, c1, c2)
            if pole is None:
                pair = None
                break
            omega *= aim.omega / pole[0]
            q *= aim.q / pole[1]
        if pair is not None and pair not in solutions:
            solutions.append(pair)
    return solutions


def _solve(
    aim: _Aim, pole: tuple[float, float], capacitors: tuple[float, float], *, branch: float
) -> tuple[float, float] | None:
    """R1 and R2 for an ideal op-amp: a quadratic in R1 once R2 = 1 / (omega**2 R1 C1 C2) is put in."""
    (omega, q), (c1, c2) = pole, capacitors
    area = 1 / (omega**2 * c1 * c2)
    if aim.kind == "lowpass":
        a, c = c2 + c1 * (1 - aim.gain), area * c2
    else:
        a, c = c1 + c2, area * c2 * (1 - aim.gain)
    b = -1 / (q * omega)
    if abs(a) < 1e-9 * (c1 + c2):
        r1 = -c / b
    else:
        discriminant = b * b - 4 * a * c
        if discriminant < 0:
            return None
        r1 = (-b + branch * math.sqrt(discriminant)) / (2 * a)
    if r1 <= 0 or not math.isfinite(r1) or area / r1 > 1e12:
        return None
    return r1, area / r1


def _pole(aim: _Aim, r1: float, r2: float, c1: float, c2: float) -> tuple[float, float] | None:
    """(omega, Q) of the dominant pair of a real stage, by Newton's method from the ideal pole."""
    k0, tau = closed_loop(aim.gain, aim.gbw_hz)
    area = r1 * r2 * c1 * c2
    if aim.kind == "lowpass":
        drain, back = r1 * c2 + r2 * c2 + r1 * c1, r1 * c1 * k0
    else:
        drain, back = r1 * c1 + r1 * c2 + r2 * c2, r2 * c2 * k0
    d1, d2, d3 = drain - back + tau, area + tau * drain, tau * area
    s = aim.omega * complex(-1 / (2 * aim.q), math.sqrt(max(1 - 1 / (4 * aim.q**2), 1e-6)))
    for _ in range(30):
        step = (1 + s * (d1 + s * (d2 + s * d3))) / (d1 + s * (2 * d2 + 3 * s * d3))
        s -= step
        if abs(step) < 1e-12 * abs(s):
            break
    else:
        return None
    is_near = 0.3 * aim.omega < abs(s) < 3 * aim.omega
    if not is_near or s.real >= 0 or s.imag <= 0:
        return None
    return abs(s), abs(s) / (-2 * s.real)


def _cost(aim: _Aim, r1: float, r2: float, c1: float, c2: float) -> float:
    """Distance of the real pole from the wanted one; parts far from 10 kilohm lose a tie."""
    pole = _pole(aim, r1, r2, c1, c2)
    if pole is None:
        return math.inf
    # At the pole frequency the gain is Q, so a shift of the frequency counts the more the higher Q is.
    error = abs(math.log(pole[0] / aim.omega)) * max(1.0, aim.q) + abs(math.log(pole[1] / aim.q))
    return error + 1e-3 * abs(math.log10(math.sqrt(r1 * r2) / _PREFERRED_OHM))
