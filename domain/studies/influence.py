"""Which values of a circuit may be moved to see what they do to a goal, and on which line each stands."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from domain.circuit.netlist import Netlist
from domain.circuit.numbers import parse_number

SHARE = 0.01
"""By what a value is moved, up and down."""
NEGLIGIBLE = 1e-3
"""A line that moves a goal by less than this share of what the strongest does matters to it no more."""
_WITH_VALUE = "rclvi"
_PARTS = "rcl"
_NOT_VALUES = frozenset({"ic", "temp", "dtemp", "noisy", "off", "m", "nf"})
"""Parameters of a line that are no quantity of the part, or counted in whole ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedValue:
    """A value that is written as a number."""

    name: str
    """As studies take it: ``R1``, ``M1.w``, a `.param`."""
    line: int
    """From 1."""
    value: float
    is_part: bool = False
    """It is that of a resistor, capacitor or inductor, which is bought in values of a series."""
    is_given: bool = False
    """It is what the circuit is loaded with, a condition that it has to work in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Influence:
    """What one value does to the goal."""

    name: str
    line: int
    percent: float
    """Of the measured quantity for one percent of the value; NaN: it could not be measured there."""
    slope: float = math.nan
    """How the quantity changes with the logarithm of the value, in its unit: a hundred times what one percent
    does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Influences:
    """What the values of a circuit do to one goal."""

    found: tuple[Influence, ...]
    runs: int
    left_out: int = 0
    """Values that the time did not suffice for."""

    @property
    def strongest(self) -> float:
        """The largest, without its sign; 0 when nothing moves the goal."""
        return max((abs(each.percent) for each in self.found if math.isfinite(each.percent)), default=0.0)

    def share(self, influence: Influence) -> float:
        """From -1 to 1, of the strongest; 0 for one that is negligible, NaN for one that is not known."""
        if not math.isfinite(influence.percent):
            return math.nan
        most = self.strongest
        share = influence.percent / most if most > 0 else 0.0
        return share if abs(share) >= NEGLIGIBLE else 0.0


def placed_values(data: bytes) -> tuple[PlacedValue, ...]:
    """The numbers of a netlist's top level that are not 0, by their lines.

    Those whose name stands for two of them (an element and a `.param`) are left out.
    """
    found = list(_placed(data, Netlist.parse(data)))
    names = Counter(each.name.lower() for each in found)
    known = (each for each in found if names[each.name.lower()] == 1)
    return tuple(sorted(known, key=lambda each: each.line))


def _placed(data: bytes, netlist: Netlist) -> Iterator[PlacedValue]:
    for element in netlist.elements:
        if element.scope:
            continue
        line = element.statement.line
        if element.value is not None and element.letter in _WITH_VALUE:
            value = _number(element.value.text)
            if value:
                is_part = element.letter in _PARTS
                yield PlacedValue(name=element.name, line=line, value=value, is_part=is_part)
        for key, field in element.params.items():
            value = _number(field.text)
            if value and key not in _NOT_VALUES:
                yield PlacedValue(name=f"{element.name}.{key}", line=line, value=value)
    for parameter in netlist.parameters:
        value = _number(parameter.value.text)
        if value and not parameter.scope:
            line = data.count(b"\n", 0, parameter.value.spans[0][0]) + 1
            yield PlacedValue(name=parameter.name, line=line, value=value)


def _number(text: str) -> float | None:
    try:
        value = parse_number(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
