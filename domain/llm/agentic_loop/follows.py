"""What follows from known figures: differences, ratios, and what their units give together."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from domain.circuit.figures_in_text import TextFigure
from domain.circuit.said_figures import ROUGHLY, SIGHT, is_rounding, sentence_before

Given = tuple[str, float]
"""Unit and value, SI."""

_MOST_DERIVED_FROM = 30
_MOST_BY_LAW = 16
_LEAST, _MOST = 1e-30, 1e30
"""No circuit has a figure beyond them; two such would be no number any more."""

_DIMENSIONS = {
    (1, 0, 0): "V", (0, 1, 0): "A", (1, 1, 0): "W", (1, -1, 0): "Ohm", (-1, 1, 0): "S",
    (-1, 1, 1): "F", (1, -1, 1): "H", (0, 0, 1): "s", (0, 0, 0): "1",
}  # fmt: skip
"""Volts, amperes and seconds in each unit."""
_OF_UNIT = {unit: dimensions for dimensions, unit in _DIMENSIONS.items()} | {"Hz": (0, 0, -1)}
_OF_EDGE = 2.2
"""Time constants from 10 % to 90 %."""


def values_of(figures: Iterable[TextFigure]) -> list[Given]:
    """Units and sizes of figures."""
    return [(figure.unit, abs(figure.value)) for figure in figures]


def is_rough(flat: str, figure: TextFigure) -> bool:
    """Whether "about" stands before a figure."""
    before = sentence_before(flat, figure.start)
    return ROUGHLY.search(before[-SIGHT:].rstrip("+-± ").lower()) is not None


def is_one_of(flat: str, figure: TextFigure, values: Iterable[Given]) -> bool:
    """Whether a figure of a text is a rounding of one of the values of its unit."""
    rough = is_rough(flat, figure)
    return any(
        is_rounding(figure, value, is_rough=rough) for unit, value in values if unit == figure.unit and value
    )


def derived(backed: Sequence[Given], asked: Sequence[Given] = ()) -> list[Given]:
    """What two figures of one unit give: their difference, and their ratio in every form."""
    base = _usual([*backed, *asked][:_MOST_DERIVED_FROM])
    found: list[Given] = []
    for place, (unit, one) in enumerate(base):
        for other_unit, other in base[place + 1 :]:
            if unit != other_unit:
                continue
            if unit == "degC":
                found.append((unit, abs(one - other)))
                continue
            high, low = max(one, other), min(one, other)
            found += [
                (unit, high - low),
                ("1", high / low),
                ("1", low / high),
                ("%", 100 * (high / low - 1)),
                ("%", 100 * (1 - low / high)),
            ]
            found.append(("%", 100 * low / high))
            if unit != "dB":
                found.append(("dB", 20 * math.log10(high / low)))
    return found


def _usual(figures: Iterable[Given]) -> list[Given]:
    """Those that can be reckoned with: no zero, none that is not of this world."""
    return [each for each in figures if _LEAST < abs(each[1]) < _MOST]


def by_law(said: Sequence[Given]) -> Iterator[Given]:
    """What two figures give: their sum, their product and quotient in the unit that these have.

    Of a time constant also the edge and the corner frequency, of a product of time constants their root;
    squares over or times a resistance are powers; resistors in parallel and capacitors in series.
    """
    few = _usual(list(dict.fromkeys(said))[-_MOST_BY_LAW:])
    for unit, one in few:
        alike = [other for same, other in few if same == unit]
        yield from ((unit, each) for other in alike for each in (one + other, abs(one - other)) if each)
    for unit, one in few:
        if unit in ("s", "Hz", "S", "Ohm"):
            yield {"s": "Hz", "Hz": "s", "S": "Ohm", "Ohm": "S"}[unit], 1 / one
        for same, other in few:
            if unit == same and unit in ("Ohm", "F"):
                yield unit, one * other / (one + other)
            if unit == "dB" and same == "Hz" and one < 200:
                yield "Hz", 10 ** (one / 20) * other
            if unit not in _OF_UNIT or same not in _OF_UNIT:
                continue
            yield from _in_unit(unit, one, same, other)
            yield from _in_unit(unit, one, same, 1 / other, -1)
            if unit in ("V", "A") and same == "Ohm":
                power = -1 if unit == "V" else 1
                yield from _in_unit(unit, one * one, same, other**power, power, of_first=2)


def _in_unit(
    unit: str, one: float, same: str, other: float, power: int = 1, *, of_first: int = 1
) -> Iterator[Given]:
    """What the product of two powers is, or its root, where that has a unit."""
    is_root, forms = _forms(unit, of_first, same, power)
    if forms:
        value = math.sqrt(one * other) if is_root else one * other
        for told, factor, is_inverse in forms:
            yield told, factor / value if is_inverse else factor * value


@lru_cache(maxsize=1024)
def _forms(unit: str, one: int, same: str, other: int) -> tuple[bool, Sequence[tuple[str, float, bool]]]:
    """Of a product of powers of two units: whether its root is meant; unit, factor, of its inverse or not."""
    product = zip(_OF_UNIT[unit], _OF_UNIT[same], strict=True)
    dimensions = tuple(one * first + other * second for first, second in product)
    is_root = any(dimensions) and all(each % 2 == 0 for each in dimensions)  # L·C, L/C
    volts, amperes, times = (each // 2 for each in dimensions) if is_root else dimensions
    named = {unit, same}
    if (volts, amperes) == (0, 0) and abs(times) == 1:
        is_inverse = times < 0
        if named & {"Hz", "s"}:
            return is_root, (("s", 1.0, is_inverse), ("Hz", 1.0, not is_inverse))
        edge = () if is_root else (("s", _OF_EDGE, is_inverse),)  # of a time constant
        return is_root, (("s", 1.0, is_inverse), ("Hz", 1 / (2 * math.pi), not is_inverse), *edge)
    found = _DIMENSIONS.get((volts, amperes, times))
    if found is None and "Hz" in named and (turned := _DIMENSIONS.get((-volts, -amperes, -times))):
        return is_root, ((turned, 1 / (2 * math.pi), True),)  # of a capacitor with a resistor
    if found is None or not any(dimensions):
        return is_root, (("1", 1.0, False),) if not any(dimensions) and len(named) > 1 else ()
    if found in ("S", "Ohm") and "Hz" in named:  # of a reactance
        reactance = ((found, 2 * math.pi, False), ("Ohm", 1 / (2 * math.pi), True))
        return is_root, ((found, 1.0, False), *reactance)
    of_rate = ((found, 1 / (2 * math.pi), False),) if found == "H" and "Hz" in named else ()
    return is_root, ((found, 1.0, False), *of_rate)
