"""The values a search may choose from: bounded parameters, continuous or of a list, as a unit cube.

Each parameter is one edge of the cube, from 0 (its least value) to 1 (its greatest), on its own scale.
A place on the cube becomes values that can really be written into a netlist: a member of its E-series or
list, a multiple of its step, or a number of six significant digits. What is simulated is what is written.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from domain.circuit.preferred_values import values_between
from domain.studies.spec_reader import spec_error
from domain.studies.study_spec import Range, StudyParameter
from shared.message import msg

DIGITS = 6
"""Significant digits of a continuous value."""
_MOST_CHOICES = 1_000_000

Values = tuple[float, ...]
"""One value for each parameter of a space, in its order, SI."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dimension:
    """One parameter of a search."""

    name: str
    low: float
    high: float
    is_log: bool = False
    choices: tuple[float, ...] = ()
    """The only values there are, ascending; empty = every value between the bounds."""

    @property
    def step(self) -> float:
        """How far two neighbouring choices are apart on the cube; 0 for a continuous parameter."""
        return 1 / (len(self.choices) - 1) if len(self.choices) > 1 else 0.0

    @property
    def is_fixed(self) -> bool:
        return len(self.choices) == 1 or self.low == self.high

    def value_at(self, place: float) -> float:
        """The value at a place from 0 to 1 (places outside count as the nearest end)."""
        place = min(max(place, 0.0), 1.0)
        if self.choices:
            return self.choices[round(place * (len(self.choices) - 1))]
        if self.is_log:
            value = self.low * (self.high / self.low) ** place
        else:
            value = self.low + (self.high - self.low) * place
        return min(max(float(f"{value:.{DIGITS}g}"), self.low), self.high)

    def place_of(self, value: float) -> float:
        """Where a value lies, that of the nearest choice; the middle for NaN."""
        if math.isnan(value) or self.is_fixed:
            return 0.5
        value = min(max(value, self.low), self.high)
        if self.choices:
            nearest = min(range(len(self.choices)), key=lambda index: abs(self.choices[index] - value))
            return nearest * self.step
        if self.is_log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSpace:
    """All parameters of a search."""

    dimensions: tuple[Dimension, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Of the parameters, in order."""
        return tuple(dimension.name for dimension in self.dimensions)

    @property
    def free(self) -> tuple[Dimension, ...]:
        """The parameters with a choice: the edges of the cube."""
        return tuple(dimension for dimension in self.dimensions if not dimension.is_fixed)

    @property
    def combinations(self) -> int | None:
        """How many points there are; None when a parameter is continuous."""
        if any(not dimension.choices for dimension in self.free):
            return None
        return math.prod(len(dimension.choices) for dimension in self.free)

    def values_at(self, places: Sequence[float]) -> Values:
        """The values at a point of the cube (a place for each free parameter)."""
        following = iter(places)
        return tuple(
            dimension.value_at(0.5 if dimension.is_fixed else next(following))
            for dimension in self.dimensions
        )

    def places_of(self, values: Mapping[str, float]) -> list[float]:
        """The point of the cube nearest to some values by name; the middle where there is none."""
        return [dimension.place_of(values.get(dimension.name, math.nan)) for dimension in self.free]

    def has(self, values: Values) -> bool:
        """Whether a search may choose these values."""
        return self.values_at(self.places_of(dict(zip(self.names, values, strict=True)))) == values

    def combination(self, number: int) -> Values:
        """One of the `combinations`, counted from 0; the last parameter changes fastest."""
        places: list[float] = []
        for dimension in reversed(self.free):
            number, index = divmod(number, len(dimension.choices))
            places.append(index * dimension.step)
        return self.values_at(places[::-1])


def search_space(parameters: Sequence[StudyParameter]) -> SearchSpace:
    """The space of parameters with a range or a list of values.

    Raises UserInputError ("bad_spec") for one whose range holds no value.
    """
    return SearchSpace(dimensions=tuple(map(_dimension, parameters)))


def _dimension(parameter: StudyParameter) -> Dimension:
    if parameter.values:
        choices = tuple(sorted(set(parameter.values)))
    else:
        assert parameter.range is not None, "only parameters with something to choose are searched"
        choices = _choices(parameter.name, parameter.range)
    if choices:
        return Dimension(name=parameter.name, low=choices[0], high=choices[-1], choices=choices)
    span = parameter.range
    assert span is not None
    return Dimension(name=parameter.name, low=span.minimum, high=span.maximum, is_log=span.scale == "log")


def _choices(name: str, span: Range) -> tuple[float, ...]:
    """The values of an E-series or of a grid; `points` are those of a sweep and mean nothing here."""
    if span.scale != "lin" and span.scale != "log":  # noqa: PLR1714 - mypy narrows this form only
        found = values_between(span.minimum, span.maximum, span.scale)
        if not found:
            raise spec_error(
                name,
                msg("has no value of {scale} between {low} and {high}",
                    scale=span.scale, low=span.minimum, high=span.maximum),
            )  # fmt: skip
        return found
    if span.step is None or span.minimum == span.maximum:
        return ()
    count = math.floor((span.maximum - span.minimum) / span.step * (1 + 1e-12) + 1e-9) + 1
    if count > _MOST_CHOICES:
        return ()  # finer than what is written anyway
    return tuple(float(f"{span.minimum + index * span.step:.12g}") for index in range(count))
