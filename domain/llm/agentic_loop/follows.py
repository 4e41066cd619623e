"""What follows from known figures: differences, ratios, and what their units give together."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

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
            yield from _in_unit([(unit, one, 1), (same, other, 1)])
            yield from _in_unit([(unit, one, 1), (same, other, -1)])
            if unit in ("V", "A") and same == "Ohm":
                yield from _in_unit([(unit, one, 2), (same, other, -1 if unit == "V" else 1)])


def _in_unit(factors: Sequence[tuple[str, float, int]]) -> Iterator[Given]:
    """The product of powers, or its root, where that has a unit."""
    value = math.prod(one**power for _, one, power in factors)
    dimensions = tuple(sum(_OF_UNIT[unit][axis] * power for unit, _, power in factors) for axis in range(3))
    times = dimensions[2]
    if any(dimensions) and all(each % 2 == 0 for each in dimensions):  # L·C, L/C
        dimensions, value = tuple(each // 2 for each in dimensions), math.sqrt(value)
    if dimensions[:2] == (0, 0) and abs(dimensions[2]) == 1:
        seconds = value if dimensions[2] > 0 else 1 / value
        yield "s", seconds
        if len({unit for unit, *_ in factors} & {"Hz", "s"}) == 0:  # a time constant
            yield "Hz", 1 / (2 * math.pi * seconds)
            if abs(times) == 1:
                yield "s", _OF_EDGE * seconds
        else:
            yield "Hz", 1 / seconds
    elif (unit := _DIMENSIONS.get(dimensions)) is not None and any(dimensions):  # type: ignore[arg-type]
        yield unit, value
        if unit in ("S", "Ohm") and any(own == "Hz" for own, *_ in factors):  # of a reactance
            yield from ((unit, 2 * math.pi * value), ("Ohm", 1 / (2 * math.pi * value)))
    elif not any(dimensions) and len({unit for unit, *_ in factors}) > 1:
        yield "1", value
