"""Preferred component values: the E-series of IEC 60063, and choosing values that can be bought.

All values are SI numbers (ohm, farad, henry); a series is named as on the box: E6 ... E192.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Literal

SeriesName = Literal["E3", "E6", "E12", "E24", "E48", "E96", "E192"]

_E24 = (
    1.0, 1.1, 1.2, 1.3, 1.5, 1.6, 1.8, 2.0, 2.2, 2.4, 2.7, 3.0,
    3.3, 3.6, 3.9, 4.3, 4.7, 5.1, 5.6, 6.2, 6.8, 7.5, 8.2, 9.1,
)  # fmt: skip


_LEAST_OHM = 1.0
"""From it on a value is a resistance: nobody designs with a farad or a henry."""
_stock: ContextVar[tuple[SeriesName, bool] | None] = ContextVar("stock", default=None)


@contextmanager
def chosen_from(name: SeriesName | None, *, is_for_all: bool = False) -> Iterator[None]:
    """Within it resistances are chosen from this series, whichever a caller names (None: as it names).

    `is_for_all`: capacitances and inductances too, where the caller's own series has more values.
    """
    before = _stock.set(None if name is None else (name, is_for_all))
    try:
        yield
    finally:
        _stock.reset(before)


def _in_stock(value: float, name: SeriesName) -> SeriesName:
    stock = _stock.get()
    if stock is None:
        return name
    limit, is_for_all = stock
    is_coarser = int(limit[1:]) < int(name[1:])
    return limit if value >= _LEAST_OHM or (is_for_all and is_coarser) else name


@cache
def series(name: SeriesName) -> tuple[float, ...]:
    """The mantissas of a series, ascending, 1.0 <= mantissa < 10.

    E3 to E24 are historical roundings and part of each other; E48 to E192 are 10**(i/n) rounded to
    three digits, with the one exception 9.20 in E192. Source: IEC 60063:2015, tables 1 and 2.
    """
    count = int(name[1:])
    if count <= 24:
        return _E24[:: 24 // count]
    rounded = (round(10 ** (index / count), 2) for index in range(count))
    return tuple(9.2 if mantissa == 9.19 else mantissa for mantissa in rounded)


def _decade(value: float) -> int:
    """Exponent of the decade `value` lies in, safe against log10 falling just short of an integer."""
    if not (value > 0 and math.isfinite(value)):
        raise ValueError(f"a component value must be positive and finite, not {value}")
    return math.floor(math.log10(value) + 1e-12)


def _value(mantissa: float, decade: int) -> float:
    return float(f"{mantissa:.2f}e{decade}")


@cache
def _decade_values(name: SeriesName, decade: int) -> tuple[float, ...]:
    """The values of one decade, with the last before it and the first after it."""
    mantissas = series(name)
    inside = [_value(mantissa, decade) for mantissa in mantissas]
    return (_value(mantissas[-1], decade - 1), *inside, _value(mantissas[0], decade + 1))


def neighbours(value: float, name: SeriesName) -> tuple[float, float]:
    """The preferred values at or below and at or above `value` (twice the same when it is one)."""
    candidates = _decade_values(_in_stock(value, name), _decade(value))
    slack = 1e-9 * value
    below = candidates[bisect_right(candidates, value + slack) - 1]
    above = candidates[bisect_left(candidates, value - slack)]
    return below, above


def nearest(value: float, name: SeriesName) -> float:
    """The preferred value with the smallest relative (logarithmic) distance."""
    below, above = neighbours(value, name)
    return below if value * value <= below * above else above


def at_least(value: float, name: SeriesName) -> float:
    """The smallest preferred value not below `value`."""
    return neighbours(value, name)[1]


def at_most(value: float, name: SeriesName) -> float:
    """The largest preferred value not above `value`."""
    return neighbours(value, name)[0]


def is_preferred(value: float, name: SeriesName) -> bool:
    """Whether `value` is a member of the series."""
    return math.isclose(nearest(value, name), value, rel_tol=1e-6)


def values_between(low: float, high: float, name: SeriesName) -> tuple[float, ...]:
    """All preferred values from `low` to `high`, ends included, ascending.

    Of a coarser series that they are `chosen_from` instead the nearest one where none lies between them.
    """
    wanted, name = name, _in_stock(low, name)
    decades = range(_decade(low) - 1, _decade(high) + 2)
    slack = 1e-9
    found = tuple(
        value
        for decade in decades
        for mantissa in series(name)
        if low * (1 - slack) <= (value := _value(mantissa, decade)) <= high * (1 + slack)
    )
    return found if found or name == wanted else (nearest(math.sqrt(low * high), name),)


def zener_voltages(low: float, high: float) -> tuple[float, ...]:
    """The voltages of Zener diodes from `low` to `high`: E24, whichever resistors there are."""
    with chosen_from(None):
        return values_between(low, high, "E24")


def best_pair(
    firsts: Iterable[float],
    second_for: Callable[[float], float],
    name: SeriesName,
    cost: Callable[[float, float], float],
) -> tuple[float, float]:
    """The pair (first, second) of least cost; the second is a neighbour of its exact value in `name`.

    `second_for(first)` gives the exact second value, not positive where there is none.
    Raises ValueError when no first has a second.
    """
    pairs = [
        (first, second)
        for first in firsts
        if (exact := second_for(first)) > 0
        for second in neighbours(exact, name)
    ]
    return min(pairs, key=lambda pair: cost(*pair))
