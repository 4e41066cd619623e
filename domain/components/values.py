"""Resistors, capacitors and inductors of the E-series as components: a value and the series that has it."""

from __future__ import annotations

from domain.circuit.figures import with_unit
from domain.circuit.numbers import format_number
from domain.circuit.preferred_values import SeriesName, is_preferred, neighbours
from domain.components.component import Component
from domain.components.query import ComponentQuery

PASSIVE = ("resistor", "capacitor", "inductor")
UNITS = {"resistor": "Ohm", "capacitor": "F", "inductor": "H"}
LETTERS = {"resistor": "R", "capacitor": "C", "inductor": "L"}
SERIES: tuple[SeriesName, ...] = ("E6", "E12", "E24", "E48", "E96", "E192")
_USUAL = {"resistor": (1e3, 1e4, 1e5), "capacitor": (1e-9, 1e-7, 1e-5), "inductor": (1e-6, 1e-5, 1e-3)}
_RANGE = (1e-15, 1e12)


def coarsest_series(value: float) -> SeriesName | None:
    """The series with the fewest values that has this one; None for a value that none has."""
    if not _RANGE[0] <= value <= _RANGE[1]:
        return None
    return next((name for name in SERIES if is_preferred(value, name)), None)


def values_for(query: ComponentQuery) -> tuple[Component, ...]:
    """The values a query for passive parts means: the value itself where a series up to E24 has it, else with
    its neighbors in E24 and E96."""
    kinds = [kind for kind in PASSIVE if not query.kinds or kind in query.kinds]
    if query.words or query.conditions or not kinds:
        return ()
    if query.value is None:
        return tuple(_component(kind, value) for kind in kinds for value in _USUAL[kind] if query.kinds)
    if not _RANGE[0] <= query.value <= _RANGE[1]:
        return ()
    return tuple(_component(kind, value) for kind in kinds for value in _near(query.value))


def _near(value: float) -> list[float]:
    if coarsest_series(value) in ("E6", "E12", "E24"):
        return [value]
    near = {*neighbours(value, "E96"), *neighbours(value, "E24")}
    if coarsest_series(value) is not None:
        near.add(value)
    return sorted(near, key=lambda each: abs(each / value - 1))


def _component(kind: str, value: float) -> Component:
    series = coarsest_series(value)
    return Component(
        name=format_number(value),
        kind=kind,
        title=f"{with_unit(value, UNITS[kind], 6)}, {series}",
        card="value",
        ports=("1", "2"),
        roles=(),
        figures={"value": value},
        file="",
        letter=LETTERS[kind],
    )
