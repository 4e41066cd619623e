"""Multiple-feedback stages with parts that can be bought, the op-amp's finite bandwidth included.

Inner node x: from the input, to the inverting input n, back from the output and to ground; one part from n
to the output. With 1/A(s) = 1/A0 + s / (2 pi GBW):

    low-pass   R1 in-x, R2 x-out, R3 x-n, C1 n-out, C2 x-0:  w0**2 = 1/(R2 R3 C1 C2), gain R2/R1,
               w0/Q = (1/R1 + 1/R2 + 1/R3) / C2
    high-pass  C1 in-x, C2 x-out, C3 x-n, R1 n-out, R2 x-0:  w0**2 = 1/(R1 R2 C2 C3), gain C1/C2,
               w0/Q = (C1 + C2 + C3) / (R1 C2 C3)

A first-order stage is an inverting amplifier with R2 || C1 (low-pass) or R1 + C1 (high-pass).
Source: Kugelstadt, "Active Filter Design Techniques", Texas Instruments, SLOD006B chapter 16, sections 16.3.2
and 16.4.2.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from itertools import product

import numpy as np

from domain.circuit.preferred_values import SeriesName, best_pair, nearest, neighbours, values_between
from domain.design.deck import Deck, spice
from domain.design.opamp import OPEN_LOOP_GAIN
from domain.design.prototypes import FilterKind
from domain.design.supplies import Rails
from shared.message import msg

_R_LIMITS = (300.0, 5e6)
_C_LIMITS = (10e-12, 47e-6)
_PREFERRED_OHM = 10e3
_FAR = 0.08
"""A stage that misses its pole or gain by more cannot be built."""
_ROUNDS = 4

Parts = Mapping[str, float]


def size_stage(
    kind: FilterKind, hz: float, q: float | None, *, gain: float, gbw_hz: float, resistors: SeriesName
) -> Parts | None:
    """R1, R2, C1 (and R3, C2, C3) of the stage nearest to a pole (pair) and gain; None without any."""
    if q is None:
        return _first_order(kind, hz, gain, resistors)
    aim = (2 * math.pi * hz, q, gain)
    found = []
    for exact in _low_pass(aim, gbw_hz) if kind == "lowpass" else _high_pass(aim, gbw_hz):
        names = [name for name in exact if name[0] == "R"]
        if all(_R_LIMITS[0] <= exact[name] <= _R_LIMITS[1] for name in names):
            for values in product(*(neighbours(exact[name], resistors) for name in names)):
                parts = {**exact, **dict(zip(names, values, strict=True))}
                found.append((_cost(kind, parts, aim, gbw_hz), tuple(parts.items())))
    best = min(found, default=(math.inf, ()))
    return dict(best[1]) if best[0] < _FAR * max(1.0, q) else None


def _low_pass(aim: tuple[float, float, float], gbw_hz: float) -> Iterator[dict[str, float]]:
    """C2 / C1 just above its least value 4 Q**2 (1 + gain): there the pole depends least on the parts."""
    omega, q, gain = aim
    least = 4 * q * q * (1 + gain)
    middle = min(max(1 / (omega * _PREFERRED_OHM), 100e-12), 1e-6) / math.sqrt(least)
    centre = min(max(middle, _C_LIMITS[0]), _C_LIMITS[1] / least / 2)
    for c1 in values_between(max(centre / 5, _C_LIMITS[0]), centre * 5, "E12"):
        for c2 in values_between(least * 1.001 * c1, least * 2.5 * c1, "E12"):
            if c2 > _C_LIMITS[1]:
                continue
            capacitors = {"C1": c1, "C2": c2}

            def solved(w: float, quality: float, given: Parts = capacitors) -> dict[str, float] | None:
                half = 1 / (2 * w * quality * given["C1"])
                root = half * half - (1 + gain) / (w * w * given["C1"] * given["C2"])
                if root < 0:
                    return None
                r2 = half + math.sqrt(root)
                r3 = 1 / (w * w * r2 * given["C1"] * given["C2"])
                return {"R1": r2 / gain, "R2": r2, "R3": r3, **given}

            yield from _corrected("lowpass", aim, gbw_hz, solved)


def _high_pass(aim: tuple[float, float, float], gbw_hz: float) -> Iterator[dict[str, float]]:
    """C1 = C3, and the feedback capacitor that makes the gain."""
    omega, _, gain = aim
    middle = min(max(1 / (omega * _PREFERRED_OHM), 100e-12), 1e-6)
    for c1 in values_between(max(middle / 5, _C_LIMITS[0]), min(5 * middle, _C_LIMITS[1]), "E12"):
        c2 = nearest(c1 / gain, "E24")
        if c2 < _C_LIMITS[0]:
            continue
        capacitors = {"C1": c1, "C2": c2, "C3": c1}

        def solved(w: float, quality: float, given: Parts = capacitors) -> dict[str, float]:
            one, two = given["C1"], given["C2"]
            r1 = quality * (2 * one + two) / (w * one * two)
            return {"R1": r1, "R2": 1 / (w * w * r1 * one * two), **given}

        yield from _corrected("highpass", aim, gbw_hz, solved)


def _corrected(
    kind: FilterKind,
    aim: tuple[float, float, float],
    gbw_hz: float,
    solved: Callable[[float, float], dict[str, float] | None],
) -> Iterator[dict[str, float]]:
    """Parts that put the pole where it shall be, aiming beside it by as much as the op-amp pulls it away."""
    omega, q, _ = aim
    w, quality = omega, q
    parts = None
    for _ in range(_ROUNDS):
        parts = solved(w, quality)
        pole = None if parts is None else _pole(kind, parts, gbw_hz)
        if pole is None:
            return
        w, quality = w * omega / pole[0], quality * q / pole[1]
    if parts is not None:
        yield parts


def _pole(kind: FilterKind, parts: Parts, gbw_hz: float) -> tuple[float, float] | None:
    """(omega, Q) of the dominant pair: the roots of Y(s) with the op-amp's 1/A(s), None without one."""
    slow = np.array([1 / (2 * math.pi * gbw_hz), 1 / OPEN_LOOP_GAIN])
    if kind == "lowpass":
        r1, r2, r3, c1, c2 = (parts[name] for name in ("R1", "R2", "R3", "C1", "C2"))
        behind = np.array([c1 * r3, 0.0])  # of the inner node's voltage: s C1 R3 + (1 + s C1 R3) / A
        inner = np.polyadd(behind, np.polymul(slow, [c1 * r3, 1.0]))
        whole = np.polymul(inner, [c2, 1 / r1 + 1 / r2 + 1 / r3])
        whole = np.polyadd(np.polysub(whole, slow / r3), [1 / r2])
    else:
        r1, r2, c1, c2, c3 = (parts[name] for name in ("R1", "R2", "C1", "C2", "C3"))
        inner = np.polyadd([1.0], np.polymul(slow, [r1 * c3, 1.0]))  # over s R1 C3
        whole = np.polymul(inner, [c1 + c2 + c3, 1 / r2])
        whole = np.polysub(whole, np.polymul(slow, [r1 * c3 * c3, 0.0, 0.0]))
        whole = np.polyadd(whole, [r1 * c3 * c2, 0.0, 0.0])
    pairs = [root for root in np.roots(whole) if root.imag > 0 and root.real < 0]
    if not pairs:
        return None
    pole = min(pairs, key=abs)
    return float(abs(pole)), float(abs(pole) / (-2 * pole.real))


def _cost(kind: FilterKind, parts: Parts, aim: tuple[float, float, float], gbw_hz: float) -> float:
    """Distance from the wanted pole and gain; parts far from 10 kilohm lose a tie."""
    pole = _pole(kind, parts, gbw_hz)
    if pole is None:
        return math.inf
    omega, q, gain = aim
    made = parts["R2"] / parts["R1"] if kind == "lowpass" else parts["C1"] / parts["C2"]
    error = abs(math.log(pole[0] / omega)) * max(1.0, q) + abs(math.log(pole[1] / q))
    return error + abs(math.log(made / gain)) + 1e-3 * abs(math.log10(parts["R2"] / _PREFERRED_OHM))


def _first_order(kind: FilterKind, hz: float, gain: float, name: SeriesName) -> Parts:
    omega = 2 * math.pi * hz
    middle = min(max(1 / (omega * _PREFERRED_OHM), 100e-12), 1e-6)
    c1, with_c = best_pair(
        values_between(middle / 4, middle * 4, "E12"),
        lambda c: 1 / (omega * c),
        name,
        lambda c, r: abs(math.log(r * c * omega)) + 2e-3 * abs(math.log10(c / middle)),
    )
    if kind == "lowpass":
        return {"R1": nearest(with_c / gain, name), "R2": with_c, "C1": c1}
    return {"R1": with_c, "R2": nearest(with_c * gain, name), "C1": c1}


def in_deck(name: str, number: int) -> str:
    """Name of R1, C2 ... of a stage in the netlist: R<number>a, C<number>b."""
    return f"{name[0]}{number}{'abc'[int(name[1]) - 1]}"


def write_stage(
    deck: Deck,
    kind: FilterKind,
    number: int,
    parts: Parts,
    nodes: tuple[str, str],
    *,
    opamp: str,
    rails: Rails,
) -> None:
    """Stage `number` between two nodes."""
    n, (entry, leaving) = number, nodes

    def part(name: str, one: str, two: str) -> str:
        element = in_deck(name, n)
        return f"{element} {one} {two} {spice(parts[element])}"

    x, inverting = f"x{n}", f"n{n}"
    if in_deck("C2", n) not in parts and kind == "lowpass":
        deck.part(part("R1", entry, inverting), msg("sets the gain of the stage"))
        deck.part(part("R2", inverting, leaving), msg("sets the pole of the stage"))
        deck.part(part("C1", inverting, leaving), msg("sets the pole of the stage"))
    elif in_deck("C2", n) not in parts:
        deck.part(part("R1", entry, x), msg("sets the pole of the stage"))
        deck.part(part("C1", x, inverting), msg("sets the pole of the stage"))
        deck.part(part("R2", inverting, leaving), msg("sets the gain of the stage"))
    else:
        in_line, across = ("R", "C") if kind == "lowpass" else ("C", "R")
        deck.part(part(f"{in_line}1", entry, x), msg("sets the gain of the stage"))
        deck.part(part(f"{in_line}2", x, leaving), msg("feedback to the inner node"))
        deck.part(part(f"{in_line}3", x, inverting), msg("sets f0 and Q of the stage"))
        deck.part(part(f"{across}1", inverting, leaving), msg("feedback to the inverting input"))
        deck.part(part(f"{across}2", x, rails.ground), msg("sets f0 and Q of the stage"))
    deck.part(
        f"X{n} {rails.ground} {inverting} vcc {rails.low} {leaving} {opamp}",
        rails.op_amp_at_ground,
    )
